//! The rows of batches.
//!
//! Records about agents are `repr(C)` structures of doubles in SI units with at most 128 bytes, so that the
//! same bytes can be handed to a built-in, a compiled plugin or a script. Angles are radians,
//! positive to the left; distances are metres. Where a row has nothing to say (no leader, no
//! obstacle, no stop) the distance is [`NOTHING`].

/// The distance that stands for "there is none", m. Finite, so that arithmetic stays finite.
pub const NOTHING: f64 = 1.0e6;

/// What a controller is told about one agent.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ControllerInput {
    /// Own speed, m/s.
    pub speed: f64,
    /// Speed that the limit, the bends ahead and, on slippery ground, the way to the next stop allow here,
    /// m/s.
    pub road_speed: f64,
    /// Distance between the axles, m.
    pub wheelbase: f64,
    /// Length over all, m.
    pub length: f64,
    /// Distance to the next way-point, m, from the middle of the rear axle.
    pub waypoint_distance: f64,
    /// Angle to the next way-point against the heading, rad.
    pub waypoint_angle: f64,
    /// Distance to the nearest point of the nearest obstacle ahead, m, from the front.
    pub obstacle_distance: f64,
    /// Angle to that point against the heading, rad.
    pub obstacle_angle: f64,
    /// How fast that obstacle comes closer, m/s.
    pub obstacle_closing_speed: f64,
    /// Free space to the leader in the lane, m, bumper to bumper.
    pub leader_gap: f64,
    /// Speed of the leader, m/s.
    pub leader_speed: f64,
    /// Distance from the front to where one must stand, m: a stop line or the end of the way.
    pub stop_distance: f64,
    /// Distance of the rear axle to the left of the lane's centre, m.
    pub lane_offset: f64,
    /// Own heading against the lane's, rad.
    pub heading_error: f64,
    /// Curvature of the way at the way-point, 1/m.
    pub path_curvature: f64,
    /// Angle of the front wheels, rad.
    pub steering: f64,
}

/// What a controller wants.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ControllerOutput {
    /// Acceleration, m/s^2; negative brakes.
    pub acceleration: f64,
    /// Angle of the front wheels, rad.
    pub steering: f64,
}

/// What a vehicle can do now: what a controller that drives by pedals is told beside its
/// [`ControllerInput`]. Accelerations are along the way that it is to drive.
///
/// Between no pedal and a whole one the acceleration is taken to be linear, which [`DriveInput::acceleration`]
/// and [`DriveInput::pedals`] do. That is exact where a vehicle has no engine, and at the speed and in
/// the gear of this moment where it has one.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct DriveInput {
    /// Acceleration that the whole throttle gives in the gear that is in, m/s^2, as far as the engine
    /// goes; tyres may hold less ([`DriveInput::grip`]). Air, rolling and slope are taken off.
    pub full_throttle: f64,
    /// Acceleration without any pedal, m/s^2.
    pub coasting: f64,
    /// Acceleration that the whole foot brake gives, m/s^2; less than [`DriveInput::coasting`].
    pub full_brake: f64,
    /// The most that the tyres pass on to the ground here, m/s^2; [`NOTHING`] if there is no end to it.
    pub grip: f64,
    /// Of gravity, m/s^2: less than 0 uphill. It is part of the first three.
    pub slope: f64,
    /// Acceleration in the last step, m/s^2.
    pub acceleration: f64,
    /// Throttle in the last step, 0 to 1; 0 where there is no engine.
    pub throttle: f64,
    /// Foot brake in the last step, 0 to 1; 0 where there is no engine.
    pub brake: f64,
    /// Speed of the engine, rpm; 0 where there is none, as of the next two.
    pub rpm: f64,
    /// The engine turns no slower than this; below it the clutch slips, rpm.
    pub idle_rpm: f64,
    /// The engine turns no faster than this, rpm.
    pub limit_rpm: f64,
    /// The gear that is in: 1 is the first one forwards, -1 the one backwards; 0 without a gearbox.
    pub gear: f64,
    /// How many gears there are the way that it is to drive; 0 without a gearbox.
    pub gears: f64,
}

impl DriveInput {
    /// The acceleration that pedals, 0 to 1, give, m/s^2, as far as the tyres hold.
    pub fn acceleration(&self, throttle: f64, brake: f64) -> f64 {
        let pushed = throttle * (self.full_throttle - self.coasting);
        let braked = brake * (self.coasting - self.full_brake);
        self.coasting + pushed - braked
    }

    /// Throttle and brake, 0 to 1, that give an acceleration, m/s^2, or the most there is of it. One that
    /// is not finite is the whole brake.
    pub fn pedals(&self, acceleration: f64) -> (f64, f64) {
        if !acceleration.is_finite() {
            return (0.0, 1.0);
        }
        // An engine that gives nothing at its limit is asked for all: its gearbox shifts then.
        let share = |wanted: f64, whole: f64| {
            if wanted < whole {
                (wanted / whole).max(0.0)
            } else {
                1.0
            }
        };
        let more = acceleration - self.coasting;
        if more > 0.0 {
            (share(more, self.full_throttle - self.coasting), 0.0)
        } else if more < 0.0 {
            (0.0, share(-more, self.coasting - self.full_brake))
        } else {
            (0.0, 0.0)
        }
    }
}

/// The row of a controller that drives by pedals.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct PedalsInput {
    /// What every controller is told.
    pub seen: ControllerInput,
    /// What its vehicle can do now.
    pub drive: DriveInput,
}

/// What a controller that drives by pedals does with them.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct PedalsOutput {
    /// Throttle, 0 to 1: what share of its torque the engine gives.
    pub throttle: f64,
    /// Foot brake, 0 to 1.
    pub brake: f64,
    /// Hand brake: on if it is more than 0.5.
    pub hand_brake: f64,
    /// Gear, from 1 for the first one the way that it is to drive; 0 leaves that to the gearbox.
    pub gear: f64,
    /// Angle of the front wheels, rad.
    pub steering: f64,
}

impl PedalsOutput {
    /// The pedals that give what an acceleration and an angle of the wheels ask for.
    pub fn of(command: ControllerOutput, drive: &DriveInput) -> Self {
        let (throttle, brake) = drive.pedals(command.acceleration);
        Self {
            throttle,
            brake,
            steering: command.steering,
            ..Self::default()
        }
    }
}

/// What a behaviour is told about one agent.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct BehaviourInput {
    /// Own speed, m/s.
    pub speed: f64,
    /// Speed that the road allows, m/s.
    pub road_speed: f64,
    /// Lane changes that the route asks for: 1 to the left, -1 to the right, 0 none.
    pub lane_change_needed: f64,
    /// Distance to the end of the lane, or to the place beside the goal where that lies on a lane to change
    /// to, m.
    pub lane_remaining: f64,
    /// Free space ahead in the lane to change to, m.
    pub target_gap_ahead: f64,
    /// Speed of the vehicle ahead there, m/s.
    pub target_speed_ahead: f64,
    /// Free space behind in the lane to change to, m.
    pub target_gap_behind: f64,
    /// Speed of the vehicle behind there, m/s.
    pub target_speed_behind: f64,
    /// Free space to the leader, m.
    pub leader_gap: f64,
    /// Speed of the leader, m/s.
    pub leader_speed: f64,
    /// How long the agent has been standing, s.
    pub waiting: f64,
    /// Distance to the next junction on the way, m.
    pub junction_distance: f64,
    /// How the way leads through it: 1 to the left, -1 to the right, 2 back, 0 straight on.
    pub junction_turn: f64,
    /// Straight distance to the next goal, m.
    pub goal_distance: f64,
    /// 1 if there is a lane to the left that one can change to, else 0.
    pub lane_left: f64,
    /// 1 if there is a lane to the right that one can change to, else 0.
    pub lane_right: f64,
}

/// What a behaviour wants.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BehaviourOutput {
    /// Lane change to begin now: 1 to the left, -1 to the right, 0 none. One that the way does not
    /// ask for is made if there is room and the goals can be reached from there.
    pub lane_change: f64,
    /// Factor on the speed that the road allows, 0 to 2.
    pub speed_factor: f64,
    /// Highest speed, m/s; [`NOTHING`] for as fast as the road allows.
    pub top_speed: f64,
}

impl Default for BehaviourOutput {
    fn default() -> Self {
        Self {
            lane_change: 0.0,
            speed_factor: 1.0,
            top_speed: NOTHING,
        }
    }
}

/// A question to a planner: the way from one place to another. Strips are lanes and connecting
/// paths as numbered by the host.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct PlannerInput {
    /// Strip on which the agent is.
    pub strip: u32,
    /// Strip of the destination.
    pub goal_strip: u32,
    /// Distance along the strip, m.
    pub s: f64,
    /// Distance of the destination along its strip, m.
    pub goal_s: f64,
    /// 1 if the vehicle may use bus lanes, else 0.
    pub bus: u32,
    /// 1 if the lane may be changed on the first strip, else 0.
    pub may_change_first: u32,
}

/// Where a planner has put its answer: a range of the shared route buffer.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct PlannerOutput {
    /// First entry.
    pub start: u32,
    /// Number of strips, the starting one included; 0 if there is no way.
    pub count: u32,
    /// Expected travel time, s.
    pub travel_time: f64,
}

/// What a fitness is told about one agent's drive so far.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct FitnessInput {
    /// Mean squared penetration of obstacles and vehicles, m^2.
    pub crash_rating: f64,
    /// Mean speed, m/s.
    pub mean_speed: f64,
    /// Mean speed that road, bends and vehicle allowed, whatever a behaviour wished, m/s.
    pub mean_road_speed: f64,
    /// Distance driven, m.
    pub distance: f64,
    /// Time driven, s.
    pub time: f64,
    /// Mean squared acceleration along the way, (m/s^2)^2.
    pub mean_squared_acceleration: f64,
    /// Mean squared jerk along the way, (m/s^3)^2.
    pub mean_squared_jerk: f64,
    /// Mean squared lateral acceleration, (m/s^2)^2.
    pub mean_squared_lateral_acceleration: f64,
}

/// What a fitness says: lower is better unless the module says otherwise.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct FitnessOutput {
    /// The score.
    pub score: f64,
}

/// Stages of the signals in a [`SignalInput`]: no plan has more.
pub const SIGNAL_STAGES: usize = 32;
/// Most movements in a [`SignalInput`]: those of roads with larger numbers are left out.
pub const SIGNAL_MOVEMENTS: usize = 48;

/// One stage of some signals.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SignalStage {
    /// Green where times are fixed, s.
    pub green: f64,
    /// Shortest green, s; the host keeps it.
    pub min: f64,
    /// Longest green while others wait, where signals go by demand, s.
    pub max: f64,
    /// How long the first of those who have green in it has been standing, s.
    pub longest_wait: f64,
    /// How many of them stand before the line or creep, within 150 m.
    pub queue: u32,
    /// How many of them have passed the detectors since the stage that is shown began.
    pub arrivals: u32,
    /// 1 if somebody waits for it or has called it, else 0.
    pub is_called: u32,
    /// Zero.
    pub reserved: u32,
}

/// The vehicles that come to some signals from one road and turn in one way.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SignalMovement {
    /// Id of the road that they come from.
    pub road: u32,
    /// Where they turn: 1 to the left, -1 to the right, 2 back, 0 straight on.
    pub turn: i32,
    /// The stages in which they have green: bit 0 for the first one.
    pub stages: u32,
    /// How many stand before the line or creep, within 150 m.
    pub queue: u32,
    /// How many have passed the detectors since the stage that is shown began.
    pub arrivals: u32,
    /// Zero.
    pub reserved: u32,
    /// How long the first of them has been standing, s.
    pub longest_wait: f64,
}

/// What a controller of signals is told about the signals of one programme, while a stage is shown that may
/// end. Larger than the rows of agents, and rarer: there is one a second for each programme.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SignalInput {
    /// The smallest node of the signals.
    pub node: u32,
    /// The stage that is shown, from 0.
    pub stage: u32,
    /// The stage that fixed times would show now, or be changing to.
    pub planned: u32,
    /// How many stages there are.
    pub stage_count: u32,
    /// How many movements there are.
    pub movement_count: u32,
    /// 1 if vehicles that have green come near, else 0.
    pub is_extended: u32,
    /// How long the stage has been shown, s.
    pub elapsed: f64,
    /// For how long somebody has been waiting for another stage while this one was shown, s; -1 if nobody
    /// waits.
    pub opposed_for: f64,
    /// The stages; those beyond [`SignalInput::stage_count`] are zero.
    pub stages: [SignalStage; SIGNAL_STAGES],
    /// The movements by road and turn; those beyond [`SignalInput::movement_count`] are zero.
    pub movements: [SignalMovement; SIGNAL_MOVEMENTS],
}

impl Default for SignalInput {
    fn default() -> Self {
        Self {
            node: 0,
            stage: 0,
            planned: 0,
            stage_count: 0,
            movement_count: 0,
            is_extended: 0,
            elapsed: 0.0,
            opposed_for: -1.0,
            stages: [SignalStage::default(); SIGNAL_STAGES],
            movements: [SignalMovement::default(); SIGNAL_MOVEMENTS],
        }
    }
}

impl SignalInput {
    /// The stages that there are.
    pub fn stages(&self) -> &[SignalStage] {
        &self.stages[..(self.stage_count as usize).min(SIGNAL_STAGES)]
    }

    /// The movements that there are.
    pub fn movements(&self) -> &[SignalMovement] {
        &self.movements[..(self.movement_count as usize).min(SIGNAL_MOVEMENTS)]
    }
}

/// What a controller of signals wants.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignalOutput {
    /// The stage that is to come; [`KEEP_STAGE`], or the one that is shown, keeps that.
    pub next: i32,
    /// Zero.
    pub reserved: u32,
}

/// Stands for no other stage in [`SignalOutput::next`].
pub const KEEP_STAGE: i32 = -1;

impl Default for SignalOutput {
    fn default() -> Self {
        Self {
            next: KEEP_STAGE,
            reserved: 0,
        }
    }
}

/// Largest size of a record about an agent, bytes.
pub const MAX_RECORD: usize = 128;

// Compiled plugins count on these sizes, as on the order of fields in a row.
const _: () = {
    use core::mem::offset_of;
    assert!(size_of::<ControllerInput>() == 128);
    assert!(size_of::<ControllerOutput>() == 16);
    assert!(size_of::<DriveInput>() == 104);
    assert!(offset_of!(DriveInput, gears) == 96);
    assert!(size_of::<PedalsInput>() == 232);
    assert!(size_of::<PedalsOutput>() == 40);
    assert!(size_of::<BehaviourInput>() == 128);
    assert!(size_of::<PlannerInput>() == 32);
    assert!(size_of::<PlannerOutput>() == 16);
    assert!(size_of::<FitnessInput>() == 64);
    assert!(size_of::<FitnessOutput>() == 8);
    assert!(size_of::<SignalStage>() == 48);
    assert!(size_of::<SignalMovement>() == 32);
    assert!(offset_of!(SignalInput, stages) == 40);
    assert!(offset_of!(SignalInput, movements) == 1576);
    assert!(size_of::<SignalInput>() == 3112);
    assert!(size_of::<SignalOutput>() == 8);
};

#[cfg(test)]
mod tests {
    use super::*;

    fn drive() -> DriveInput {
        DriveInput {
            full_throttle: 2.0,
            coasting: -0.5,
            full_brake: -8.0,
            ..DriveInput::default()
        }
    }

    #[test]
    fn pedals_and_accelerations_are_two_words_for_one_thing() {
        for part in 0..=100 {
            let wanted = -8.0 + 10.0 * f64::from(part) / 100.0;
            let (throttle, brake) = drive().pedals(wanted);
            assert!((0.0..=1.0).contains(&throttle) && (0.0..=1.0).contains(&brake));
            assert!(throttle == 0.0 || brake == 0.0, "{throttle} {brake}");
            let given = drive().acceleration(throttle, brake);
            assert!((given - wanted).abs() < 1e-12, "{wanted} {given}");
        }
        assert_eq!(drive().pedals(-0.5), (0.0, 0.0));
        assert_eq!(drive().pedals(50.0), (1.0, 0.0));
        assert_eq!(drive().pedals(-50.0), (0.0, 1.0));
    }

    #[test]
    fn what_is_no_number_is_the_whole_brake() {
        for wanted in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(drive().pedals(wanted), (0.0, 1.0));
        }
        // At the limit of its engine the throttle gives nothing, and a vehicle without brakes has none.
        let spent = DriveInput {
            full_throttle: -0.5,
            full_brake: -0.5,
            ..drive()
        };
        assert_eq!(spent.pedals(1.0), (1.0, 0.0));
        assert_eq!(spent.pedals(-1.0), (0.0, 1.0));
    }
}
