//! What is known of one agent, one record per concern.

use super::{Instances, RouteId, are_short_counts};
use roadwright_agent::Indicator;
use roadwright_geometry::Pose;
use roadwright_plugin_api::{ControllerOutput, DriveInput, NOTHING, PedalsOutput};
use roadwright_scenario::DynamicsLevel;
use roadwright_scenario::lane_graph::{LaneletIndex, NO_LANELET};
use roadwright_vehicle::{PedalCommand, Pedals};
use serde::{Deserialize, Serialize};

/// Where an agent is in its life, as the columns hold it.
///
/// ```text
/// Free -> Planning -> Driving <-> AtGoal -> Gone -> Told -> Free
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[repr(u8)]
pub(crate) enum Phase {
    /// The index is free.
    #[default]
    Free,
    /// It has a place on the road, and waits for a route.
    Planning,
    /// It drives.
    Driving,
    /// It has come to its last goal, and waits there for what its behaviour wants next.
    AtGoal,
    /// It has left the road; its modules have not been told yet.
    Gone,
    /// Its modules have been told: the index is free after the next step boundary.
    Told,
}

// One record per concern and not one per agent: each is a column (`agents/mod.rs`), and a stage
// reads the columns that it needs. Sums of scores are kept in single precision, to save room.

/// Who an agent is.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Identity {
    /// Id for people and random streams.
    pub(crate) id: u64,
    /// Its modules; those of its stack unless it has chosen others.
    pub(crate) modules: Instances,
    /// Index of the vehicle type.
    pub(crate) vehicle_type: u16,
    /// Index of the stack.
    pub(crate) stack: u16,
    pub(crate) phase: Phase,
    /// With which model its body moves.
    pub(crate) level: DynamicsLevel,
}

/// Farther from the origin nobody is, m: a hundred times as far as files may put something.
pub(crate) const FARTHEST: f64 = 1e9;

/// How an agent's body moves.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Motion {
    /// Pose of the middle of the rear axle, as its level left it: ask [`Bodies::pose`], which
    /// knows of levels that do not make poses.
    ///
    /// [`Bodies::pose`]: crate::dynamics::Bodies::pose
    pub(crate) pose: Pose,
    /// Height of the same, m.
    pub(crate) z: f64,
    /// Speed, m/s; negative backwards.
    pub(crate) speed: f64,
    /// rad/s.
    pub(crate) yaw_rate: f64,
    /// Along the vehicle, in the last step, m/s^2.
    pub(crate) acceleration: f64,
}

impl Motion {
    /// Whether a body may move so: all of it is a number, and its place within reach.
    pub(crate) fn is_sound(&self) -> bool {
        let place = self.pose.position.abs().max_element().max(self.z.abs());
        let others = [
            self.pose.heading,
            self.speed,
            self.yaw_rate,
            self.acceleration,
        ];
        place <= FARTHEST && others.iter().all(|value| value.is_finite())
    }
}

/// Where an agent is on the lanes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct LanePosition {
    /// Lanelet that it follows; [`NO_LANELET`] off the lanes.
    pub(crate) lanelet: LaneletIndex,
    /// Lanelet that it is leaving sideways, or [`NO_LANELET`].
    pub(crate) leaving: LaneletIndex,
    /// Place of the rear axle along the lanelet, or along its path over open ground, m.
    pub(crate) s: f64,
    /// Place of the rear axle to the left of the same, m.
    pub(crate) t: f64,
}

/// A place on a lane.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct LaneSpot {
    pub(crate) lanelet: LaneletIndex,
    /// Distance along the lanelet, m.
    pub(crate) s: f64,
}

impl Default for LanePosition {
    fn default() -> Self {
        Self {
            lanelet: NO_LANELET,
            leaving: NO_LANELET,
            s: 0.0,
            t: 0.0,
        }
    }
}

impl LanePosition {
    #[inline]
    pub(crate) fn is_on_lane(&self) -> bool {
        self.lanelet != NO_LANELET
    }

    /// Whether it is on a lane and not between two.
    #[inline]
    pub(crate) fn may_change_lane(&self) -> bool {
        self.is_on_lane() && self.leaving == NO_LANELET
    }
}

/// Where an agent is on its route. Its verbs are in `route/progress.rs`.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Progress {
    pub(crate) route: RouteId,
    /// Index in the route of the lanelet that it is on.
    pub(crate) at: u32,
    /// Number of goals reached.
    pub(crate) reached: u32,
    /// Index in the route of the lanelet of the next goal; 0 if that is off the lanes.
    pub(crate) goal_at: u32,
    // Index 0 for none is unambiguous where it matters: `Progress::reach_goals` asks the route itself
    // once the agent is at or beyond this index.
    /// Questions for another route since it last moved that gave none or the same.
    pub(crate) attempts: u8,
    /// Whether its behaviour is asked before it leaves the road at its last goal.
    pub(crate) holds_arrival: bool,
    /// Whether its behaviour has given it other goals than the scenario.
    pub(crate) has_own_goals: bool,
    /// Step in which its route was last planned.
    pub(crate) planned_at: u64,
    /// How long it has been standing, s.
    pub(crate) standing: f64,
    /// How long it has been waiting for a gap in the lane that its route asks for, s; below 0 where there
    /// is a gap, and somebody who has been let into a junction counts on the room.
    pub(crate) seeking: f32,
}

/// What an agent has asked for and been granted at junctions.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Claim {
    /// Connections of the route before this index may be entered.
    pub(crate) granted_to: u32,
    // Nothing at index 0 is ever asked for: the agent begins there, and asks for what lies ahead.
    /// Index in the route of the connection that is asked for; 0 for none.
    pub(crate) asked_for: u32,
    /// The step of asking, and [`u32::MAX`] for all that are later than that: 497 days at 0.01 s, after which
    /// those who ask go in the order of their ids.
    asked_at: u32,
    /// One more than the index in the route of the connection on which it has to wait for another who
    /// passes first; 0 for none.
    pub(crate) wall_at: u32,
    /// Where on that connection, m.
    pub(crate) wall_s: f32,
    /// Why it was not let in, in the last step.
    pub(crate) refused: Refusal,
    /// Whether its controller was held back from driving over the place where it has to stand.
    pub(crate) is_held: bool,
}

impl Claim {
    /// Asks for the connection at an index of the route, in a step. Who has done so before keeps its place
    /// in the order.
    pub(crate) fn ask(&mut self, at: u32, step: u64) {
        if self.asked_for != at {
            self.asked_for = at;
            self.asked_at = u32::try_from(step).unwrap_or(u32::MAX);
        }
    }

    /// The step of asking.
    pub(crate) fn asked_since(&self) -> u64 {
        u64::from(self.asked_at)
    }
}

/// Why an agent is not let into a junction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Refusal {
    /// It has not asked, or it was let in.
    #[default]
    None,
    /// Another vehicle is before it.
    NotFirst,
    /// Its signal is not green.
    Red,
    /// It has to stop at the stop line first.
    Stop,
    /// Somebody with the right of way comes.
    GivesWay,
    /// It follows another one at a sign, and looks for itself.
    Looks,
    /// Others are in its way, or have waited for longer.
    Occupied,
    /// There is no room beyond.
    NoRoom,
    /// People on foot cross, or want to.
    People,
    /// The junction is about to be changed.
    Closed,
    /// Somebody comes through an alley, or has waited for it for longer.
    Alley,
    /// Somebody off the lanes is in the junction, on its way.
    OffLanes,
}

/// What the behaviour of an agent wants until it wants something else.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Wish {
    /// Factor on the speed that the road allows.
    pub(crate) speed_factor: f64,
    /// Highest speed, m/s.
    pub(crate) top_speed: f64,
    /// Least braking, m/s^2; 0 for none.
    pub(crate) braking: f64,
    /// How it signals.
    pub(crate) indicator: Indicator,
    /// Whether it drives into junctions without having been let in.
    pub(crate) ignores_law: bool,
    /// Lateral wish: distance to the left of the middle of its lane, m.
    pub(crate) lane_offset: f32,
}

/// Lateral target that an agent is guided along; it approaches the lateral wish of its behaviour as far as that
/// can be granted (`stages/aside.rs`).
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Aside {
    // Single precision is enough: a micrometre beside the lane.
    /// Distance to the left of the middle of its lane, m.
    pub(crate) now: f32,
    /// Change of the same, m/s.
    pub(crate) rate: f32,
}

impl Default for Wish {
    fn default() -> Self {
        Self {
            speed_factor: 1.0,
            top_speed: NOTHING,
            braking: 0.0,
            indicator: Indicator::Off,
            ignores_law: false,
            lane_offset: 0.0,
        }
    }
}

/// What the controller of an agent wants.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Command {
    /// Acceleration, m/s^2.
    pub(crate) acceleration: f64,
    /// Angle of the front wheels, rad.
    pub(crate) steering: f64,
}

impl From<ControllerOutput> for Command {
    fn from(output: ControllerOutput) -> Self {
        Self {
            acceleration: output.acceleration,
            steering: output.steering,
        }
    }
}

/// What an agent is to do from now on: a command, and the pedals that it stands for, if it is given by
/// pedals.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Order {
    /// Of pedals the acceleration is what they were taken to give when they were pressed.
    pub(crate) command: Command,
    pub(crate) pedals: Option<PedalCommand>,
}

impl From<ControllerOutput> for Order {
    fn from(output: ControllerOutput) -> Self {
        Self {
            command: output.into(),
            pedals: None,
        }
    }
}

impl Order {
    /// What a controller that drives by pedals has answered about a vehicle.
    pub(crate) fn of_pedals(output: &PedalsOutput, drive: &DriveInput) -> Self {
        let held = PedalCommand {
            pedals: Pedals {
                throttle: output.throttle,
                brake: output.brake,
            },
            hand_brake: output.hand_brake > 0.5,
            // What is no number is 0, and leaves it to the gearbox.
            gear: output.gear as u8,
        };
        let held = held.checked();
        Self {
            command: Command {
                acceleration: drive.acceleration(held.pedals.throttle, held.pedals.brake),
                steering: output.steering,
            },
            pedals: Some(held),
        }
    }

    /// The same with an acceleration of its own, which goes before pedals.
    pub(crate) fn with_acceleration(self, acceleration: f64) -> Self {
        Self {
            command: Command {
                acceleration,
                ..self.command
            },
            pedals: None,
        }
    }
}

impl Statistics {
    /// Whether a save can have these counts.
    pub(crate) fn is_sound(&self) -> bool {
        are_short_counts([self.samples, self.steps, self.off_lane, self.uninvited])
    }
}

/// What is counted while an agent drives.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Statistics {
    /// When it appeared, s.
    pub(crate) started: f64,
    /// m.
    pub(crate) distance: f64,
    /// Sum over the samples of the speed that the road allowed, m/s.
    pub(crate) road_speed_sum: f64,
    /// Sums over the steps.
    pub(crate) squared_acceleration: f64,
    pub(crate) squared_lateral_acceleration: f64,
    /// Questions to its controller.
    pub(crate) samples: u32,
    /// Steps driven.
    pub(crate) steps: u32,
    /// Sum over the samples, (m/s^3)^2.
    pub(crate) squared_jerk: f64,
    /// Acceleration at the last sample, m/s^2; infinite if it stood.
    pub(crate) sampled_acceleration: f32,
    /// Sums over the samples; what they mean stands at [`roadwright_agent::Conduct`].
    pub(crate) collision_exposure: f32,
    pub(crate) tailgating: f32,
    pub(crate) time_lost: f32,
    pub(crate) speeding: f32,
    pub(crate) off_lane: u32,
    pub(crate) uninvited: u32,
    pub(crate) above_limit: u32,
    /// Least time between another's leaving a place in a junction and the own coming there, s; 0 if
    /// nobody was there.
    pub(crate) least_post_encroachment: f32,
    /// Sums over the steps, m and m^2.
    pub(crate) penetration: f32,
    pub(crate) squared_penetration: f32,
}
