//! Data of one agent, with one record per concern.

use super::{Instances, RouteId, are_short_counts};
use roadwright_agent::Indicator;
use roadwright_geometry::Pose;
use roadwright_plugin_api::{ControllerOutput, DriveInput, NOTHING, PedalsOutput};
use roadwright_scenario::DynamicsLevel;
use roadwright_scenario::lane_graph::{LaneletIndex, NO_LANELET};
use roadwright_vehicle::{PedalCommand, Pedals};
use serde::{Deserialize, Serialize};

/// Phase of an agent's life, as stored in the columns.
///
/// ```text
/// Free -> Planning -> Driving <-> AtGoal -> Gone -> Told -> Free
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[repr(u8)]
pub(crate) enum Phase {
    /// The agent index is free.
    #[default]
    Free,
    /// The agent has a place on the road and waits for a route.
    Planning,
    /// The agent drives.
    Driving,
    /// The agent is at its last goal and waits for its behaviour to choose a new one.
    AtGoal,
    /// The agent has left the road, but its modules have not been notified yet.
    Gone,
    /// The agent's modules have been notified of its departure. The index becomes free at the next step
    /// boundary.
    Told,
}

// Each concern has its own record and its own column (`agents/mod.rs`), so that a stage reads only
// the columns that it needs. Sums for scores are stored in single precision to save memory.

/// Identity of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Identity {
    /// Agent id, which is shown to users and selects the random streams.
    pub(crate) id: u64,
    /// Module instances of the agent. They are those of its stack, unless the agent has chosen others.
    pub(crate) modules: Instances,
    /// Index of the vehicle type.
    pub(crate) vehicle_type: u16,
    /// Index of the stack.
    pub(crate) stack: u16,
    pub(crate) phase: Phase,
    /// Level of dynamics of the agent's body.
    pub(crate) level: DynamicsLevel,
}

/// Maximum distance of an agent from the origin, m: a hundred times the limit for positions in files.
pub(crate) const FARTHEST: f64 = 1e9;

/// Motion of an agent's body at the end of a step.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Motion {
    /// Pose of the centre of the rear axle, as stored by its level. Use [`Bodies::pose`] instead,
    /// because some levels do not compute poses.
    ///
    /// [`Bodies::pose`]: crate::dynamics::Bodies::pose
    pub(crate) pose: Pose,
    /// Height of the centre of the rear axle, m.
    pub(crate) z: f64,
    /// Speed, m/s; negative in reverse.
    pub(crate) speed: f64,
    /// Yaw rate, rad/s.
    pub(crate) yaw_rate: f64,
    /// Acceleration along the vehicle in the last step, m/s^2.
    pub(crate) acceleration: f64,
}

impl Motion {
    /// Whether the motion is valid: all values are finite, and the place is within range.
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

/// Position of an agent on the lanes or on its path.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct LanePosition {
    /// Lanelet that the agent follows; [`NO_LANELET`] off the lanes.
    pub(crate) lanelet: LaneletIndex,
    /// Lanelet that the agent is leaving sideways, or [`NO_LANELET`].
    pub(crate) leaving: LaneletIndex,
    /// Position of the rear axle along the lanelet, or along its path over open ground, m.
    pub(crate) s: f64,
    /// Offset of the rear axle to the left of the centre line or path, m.
    pub(crate) t: f64,
}

/// A place on a lanelet.
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

    /// Whether the agent is on a single lane, so that it may begin a lane change.
    #[inline]
    pub(crate) fn may_change_lane(&self) -> bool {
        self.is_on_lane() && self.leaving == NO_LANELET
    }
}

/// Progress of an agent on its route. Its methods are in `route/progress.rs`.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Progress {
    pub(crate) route: RouteId,
    /// Index in the route of the agent's current lanelet.
    pub(crate) at: u32,
    /// Number of goals reached.
    pub(crate) reached: u32,
    /// Index in the route of the lanelet with the next goal; 0 if the goal is off the lanes.
    pub(crate) goal_at: u32,
    // The value 0 is unambiguous, because `Progress::reach_goals` checks the route itself once the
    // agent has reached this index.
    /// Number of failed attempts to replan since the agent last moved. An attempt fails if it finds
    /// no route or only the current one.
    pub(crate) attempts: u8,
    /// Whether the behaviour is called at the last goal before the agent is removed.
    pub(crate) holds_arrival: bool,
    /// Whether the agent's goals were set by its behaviour rather than the scenario.
    pub(crate) has_own_goals: bool,
    /// Step in which the agent's route was last planned.
    pub(crate) planned_at: u64,
    /// Time since the agent stopped, s.
    pub(crate) standing: f64,
    /// Time for which the agent has been waiting for a gap in the lane required by its route, s.
    /// Negative if there is a gap, but the space is reserved for a vehicle that was admitted to a
    /// junction.
    pub(crate) seeking: f32,
}

/// Requests and grants of an agent at junctions.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Claim {
    /// The connections before this route index are granted, so that the agent may enter them.
    pub(crate) granted_to: u32,
    // Index 0 is never requested, because the agent starts there and only requests connections
    // ahead of it.
    /// Index in the route of the requested connection; 0 for none.
    pub(crate) asked_for: u32,
    /// Step of the request. [`u32::MAX`] also stands for all later steps (after 497 days at 0.01
    /// s), whose requests are ordered by id.
    asked_at: u32,
    /// Route index, plus one, of the connection where the agent has to let another vehicle pass
    /// first; 0 for none.
    pub(crate) wall_at: u32,
    /// Position along the connection where the agent waits for that vehicle to pass, m.
    pub(crate) wall_s: f32,
    /// Reason why the agent was not admitted in the last step.
    pub(crate) refused: Refusal,
    /// Whether the host, and not the agent's controller, keeps the agent from passing a place where
    /// it has to stop.
    pub(crate) is_held: bool,
}

impl Claim {
    /// Requests the connection at the given index of the route. An agent that has already requested this
    /// connection keeps its place in the order.
    pub(crate) fn ask(&mut self, at: u32, step: u64) {
        if self.asked_for != at {
            self.asked_for = at;
            self.asked_at = u32::try_from(step).unwrap_or(u32::MAX);
        }
    }

    /// Step of the request.
    pub(crate) fn asked_since(&self) -> u64 {
        u64::from(self.asked_at)
    }
}

/// Reasons why an agent is not admitted to a junction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Refusal {
    /// The agent has made no request, or was admitted.
    #[default]
    None,
    /// The agent is not the first vehicle in its lane.
    NotFirst,
    /// The signal is not green.
    Red,
    /// The agent first has to stop at the stop line.
    Stop,
    /// A vehicle with right of way approaches.
    GivesWay,
    /// The agent follows another vehicle at a sign, and first has to look for traffic itself.
    Looks,
    /// Other vehicles block the connection, or they have waited longer.
    Occupied,
    /// There is no room beyond the junction.
    NoRoom,
    /// Pedestrians are crossing or want to cross.
    People,
    /// The junction is closed because an edit is about to change it.
    Closed,
    /// Another vehicle is coming through an alley, or has waited longer to enter it.
    Alley,
    /// A vehicle off the lanes blocks the agent's connection in the junction.
    OffLanes,
}

/// Lasting request of an agent's behaviour.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Wish {
    /// Factor that is applied to the speed that the road allows.
    pub(crate) speed_factor: f64,
    /// Top speed that the behaviour allows, m/s.
    pub(crate) top_speed: f64,
    /// Minimum deceleration that the behaviour demands, m/s^2; 0 for none.
    pub(crate) braking: f64,
    /// Turn signal that the behaviour requests.
    pub(crate) indicator: Indicator,
    /// Whether the agent enters junctions without a grant.
    pub(crate) ignores_law: bool,
    /// Wanted lateral offset from the lane's centre line, m to the left.
    pub(crate) lane_offset: f32,
}

/// Guided lateral offset of an agent. It approaches the offset that the behaviour wants, as far as
/// space permits (`stages/aside.rs`).
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Aside {
    // Single precision resolves offsets of a micrometre.
    /// Current offset from the lane's centre line, m to the left.
    pub(crate) now: f32,
    /// Rate of change of the offset, m/s.
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

/// Output of an agent's controller.
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

/// Command for an agent's vehicle. If the controller uses pedals, it includes the pedal positions
/// that the command was derived from.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Order {
    /// The command. With pedals, its acceleration is the effect of the pedals, estimated when they
    /// were set.
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
    /// Creates the order from the output of a controller that uses pedals.
    pub(crate) fn of_pedals(output: &PedalsOutput, drive: &DriveInput) -> Self {
        let held = PedalCommand {
            pedals: Pedals {
                throttle: output.throttle,
                brake: output.brake,
            },
            hand_brake: output.hand_brake > 0.5,
            // The cast converts NaN to 0, which leaves the choice of gear to the gearbox.
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

    /// Like `of_pedals`, but with an explicit acceleration that replaces the effect of the pedals.
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
    /// Whether the statistics are valid after being read from a save.
    pub(crate) fn is_sound(&self) -> bool {
        are_short_counts([self.samples, self.steps, self.off_lane, self.uninvited])
    }
}

/// Statistics of an agent's drive.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Statistics {
    /// Simulation time at which the agent spawned, s.
    pub(crate) started: f64,
    /// Distance driven, m.
    pub(crate) distance: f64,
    /// Sum over the samples of the speed that the road allows, m/s.
    pub(crate) road_speed_sum: f64,
    /// Sum of squared accelerations over the steps, (m/s^2)^2.
    pub(crate) squared_acceleration: f64,
    pub(crate) squared_lateral_acceleration: f64,
    /// Number of controller updates.
    pub(crate) samples: u32,
    /// Number of steps driven.
    pub(crate) steps: u32,
    /// Sum of squared jerks over the samples, (m/s^3)^2.
    pub(crate) squared_jerk: f64,
    /// Acceleration at the last sample, m/s^2; infinite if the vehicle was stationary.
    pub(crate) sampled_acceleration: f32,
    /// Sums over the samples; see [`roadwright_agent::Conduct`] for their meanings.
    pub(crate) collision_exposure: f32,
    pub(crate) tailgating: f32,
    pub(crate) time_lost: f32,
    pub(crate) speeding: f32,
    pub(crate) off_lane: u32,
    pub(crate) uninvited: u32,
    pub(crate) above_limit: u32,
    /// Shortest post-encroachment time in a junction, s: the time from another vehicle's departure
    /// from a place until this vehicle's arrival there. 0 if there was no such encounter.
    pub(crate) least_post_encroachment: f32,
    /// Sum of the penetration depths over the steps, m. `squared_penetration` is the sum of their
    /// squares, m^2.
    pub(crate) penetration: f32,
    pub(crate) squared_penetration: f32,
}
