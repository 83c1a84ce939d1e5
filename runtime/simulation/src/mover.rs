//! The moving state of agents: one plain record each, in an array.

use crate::world::Places;
use roadwright_plugin_api::{ControllerOutput, NOTHING};
use roadwright_scenario::lane_graph::{LaneletId, NO_LANELET};
use roadwright_vehicle::OneTrackState;

/// Where an agent is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Status {
    /// Its time has not come, or its place is taken.
    Waiting,
    /// It drives.
    Active,
    /// It has reached its destination and is gone.
    Arrived,
    /// It cannot get to its destination and never appeared.
    Refused,
    /// It was taken out while it drove or waited, by an edit of the scenario.
    Removed,
}

/// One agent as the step sees it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Mover {
    /// Id for people and random streams.
    pub(crate) id: u64,
    pub(crate) status: Status,
    /// Index of the vehicle type.
    pub(crate) kind: u16,
    /// Index of the stack.
    pub(crate) stack: u16,
    /// Its modules; those of its stack unless it has chosen others.
    pub(crate) modules: Places,
    pub(crate) state: OneTrackState,
    pub(crate) command: ControllerOutput,
    /// Lanelet that it follows; [`NO_LANELET`] off the lanes.
    pub(crate) lanelet: LaneletId,
    /// Lanelet that it is leaving sideways, or [`NO_LANELET`].
    pub(crate) shadow: LaneletId,
    /// Place of the rear axle along and to the left of the lanelet, m.
    pub(crate) s: f64,
    pub(crate) t: f64,
    /// Index of the lanelet in the agent's path.
    pub(crate) cursor: u32,
    /// Connections in the path before this index may be entered.
    pub(crate) granted_to: u32,
    /// Index in the path of the connection that is asked for, and the step of asking.
    pub(crate) asked_for: u32,
    pub(crate) asked_at: u64,
    /// Number of goals reached.
    pub(crate) goals_reached: u32,
    /// Factor on the speed that the road allows, from the behaviour.
    pub(crate) speed_factor: f64,
    /// Highest speed that its behaviour wants, m/s.
    pub(crate) top_speed: f64,
    /// Whether its behaviour is asked before it leaves the road at its last goal.
    pub(crate) holds_arrival: bool,
    /// Whether it has come to its last goal and waits there.
    pub(crate) has_arrived: bool,
    /// Whether its script has given it other goals than the scenario.
    pub(crate) has_own_goals: bool,
    /// How long it has been standing, s.
    pub(crate) waiting: f64,
    /// Step in which its way was last planned.
    pub(crate) planned_at: u64,
    /// Statistics of the drive.
    pub(crate) drive: Drive,
}

/// What is counted while an agent drives.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Drive {
    pub(crate) started: f64,
    pub(crate) ended: f64,
    pub(crate) distance: f64,
    pub(crate) squared_penetration: f64,
    pub(crate) road_speed_sum: f64,
    /// Along the way, m/s^2: in the last step, and squared sums of it, of its change and of the
    /// lateral one.
    pub(crate) acceleration: f64,
    pub(crate) squared_acceleration: f64,
    pub(crate) squared_jerk: f64,
    pub(crate) squared_lateral_acceleration: f64,
    pub(crate) samples: u64,
    pub(crate) steps: u64,
}

impl Mover {
    pub(crate) fn new(id: u64, kind: u16, stack: u16, modules: Places) -> Self {
        Self {
            id,
            status: Status::Waiting,
            kind,
            stack,
            modules,
            state: OneTrackState::default(),
            command: ControllerOutput::default(),
            lanelet: NO_LANELET,
            shadow: NO_LANELET,
            s: 0.0,
            t: 0.0,
            cursor: 0,
            granted_to: 0,
            asked_for: 0,
            asked_at: 0,
            goals_reached: 0,
            speed_factor: 1.0,
            top_speed: NOTHING,
            holds_arrival: false,
            has_arrived: false,
            has_own_goals: false,
            waiting: 0.0,
            planned_at: 0,
            drive: Drive::default(),
        }
    }

    pub(crate) fn is_active(&self) -> bool {
        self.status == Status::Active
    }

    pub(crate) fn on_lane(&self) -> bool {
        self.lanelet != NO_LANELET
    }

    /// Whether it is on a lane and not between two.
    pub(crate) fn may_change_lane(&self) -> bool {
        self.on_lane() && self.shadow == NO_LANELET
    }

    /// Feeds all of the state to a hash, bit by bit.
    pub(crate) fn hash(&self, hasher: &mut impl std::hash::Hasher) {
        let pose = self.state.pose;
        for value in [
            pose.position.x,
            pose.position.y,
            pose.heading,
            self.state.speed,
            self.state.steering,
            self.command.acceleration,
            self.command.steering,
            self.s,
            self.t,
            self.speed_factor,
            self.waiting,
            self.drive.started,
            self.drive.ended,
            self.drive.distance,
            self.drive.squared_penetration,
            self.drive.road_speed_sum,
        ] {
            hasher.write_u64(value.to_bits());
        }
        hasher.write_u64(self.id);
        hasher.write_u8(self.status as u8);
        for value in [
            self.lanelet,
            self.shadow,
            self.cursor,
            self.granted_to,
            self.goals_reached,
        ] {
            hasher.write_u32(value);
        }
        hasher.write_u64(self.drive.samples);
        hasher.write_u64(self.drive.steps);
    }
}
