//! Current acceleration and braking limits of a vehicle, for controllers that use pedals.

use super::View;
use crate::dynamics::{Level, of_level};
use crate::records::AgentIndex;
use roadwright_plugin_api::DriveInput;
use roadwright_scenario::DynamicsLevel;
use roadwright_vehicle::dynamic::GRAVITY;
use roadwright_vehicle::{DriveState, DriveTrain, Effort, Pedals};

impl View<'_> {
    /// Accelerations that an agent's vehicle can currently reach in its intended direction.
    pub(crate) fn drive(&self, agent: AgentIndex) -> DriveInput {
        let who = &self.agents.identity[agent.index()];
        let (motion, kind) = (self.motion(agent), self.vehicle_type(agent));
        let direction = if self.is_reversing(agent) { -1.0 } else { 1.0 };
        let (slope, load) = self.slope(agent, direction);
        let grip = self.grip(agent) * load;
        let hardest = of_level!(who.level, L => L::hardest(kind));
        let common = DriveInput {
            grip: hardest * grip,
            slope,
            acceleration: motion.acceleration * direction,
            ..DriveInput::default()
        };
        let along = motion.speed * direction;
        let train = self.types.drive_train(who.vehicle_type);
        if let Some((train, state)) = train.zip(self.drive_state(agent)) {
            return engine(train, &state, motion.speed, along, common);
        }
        let limits = &kind.limits;
        // As in the dynamics level: uphill, the limits of the engine in the vehicle file apply.
        let uphill = train.filter(|_| slope < 0.0 && who.level != DynamicsLevel::Rigid);
        let engine = uphill.map_or(limits.max_acceleration, |train| {
            train.strongest(along, direction < 0.0, load, self.grip(agent))
        });
        let given = |throttle: f64, brake: f64| {
            let pedals = Pedals { throttle, brake };
            let Effort { drive, brake } = Effort::of_pedals(pedals, engine, limits.max_braking);
            slope + drive - brake
        };
        DriveInput {
            full_throttle: given(1.0, 0.0),
            coasting: slope,
            full_brake: given(0.0, 1.0),
            ..common
        }
    }

    /// Drive-train state of an agent on levels that model a drive train. Before the first step,
    /// this is the state at rest.
    fn drive_state(&self, agent: AgentIndex) -> Option<DriveState> {
        of_level!(self.level(agent), L => L::drive_state(self.dynamics, agent))
    }

    /// Acceleration due to gravity in the agent's intended direction (m/s^2), and the fraction of
    /// its weight that acts perpendicular to the ground.
    fn slope(&self, agent: AgentIndex, direction: f64) -> (f64, f64) {
        let who = &self.agents.identity[agent.index()];
        if who.level == DynamicsLevel::Rigid {
            // Gravity acts on springs and wheels regardless of the settings for other levels.
            let model = self.types.rigid(who.vehicle_type);
            let car = self.dynamics.rigid.car(agent);
            let sine = car.map_or(0.0, |car| car.slope(model)).clamp(-1.0, 1.0);
            return (-GRAVITY * sine * direction, (1.0 - sine * sine).sqrt());
        }
        let wheelbase = self.vehicle_type(agent).limits.wheelbase;
        let grade = self.ground.grade(self.pose(agent), wheelbase);
        grade.map_or((0.0, 1.0), |grade| (grade.pull * direction, grade.load))
    }

    /// Grip of the ground below an agent relative to dry asphalt, as the mean of both axles.
    fn grip(&self, agent: AgentIndex) -> f64 {
        if !self.ground.has_grip() {
            return 1.0;
        }
        let pose = self.pose(agent);
        let layers = self.ground.layers(self.position(agent).lanelet);
        let front = pose.point(self.vehicle_type(agent).limits.wheelbase, 0.0);
        0.5 * (self.ground.grip_on(pose.position, layers) + self.ground.grip_on(front, layers))
    }
}

/// Adds the engine's limits to `common`. `speed` is measured along the body and `along` in the intended
/// direction, both in m/s.
fn engine(
    train: &DriveTrain,
    state: &DriveState,
    speed: f64,
    along: f64,
    common: DriveInput,
) -> DriveInput {
    let reading = train.reading(state, speed);
    let gear = state.shifting.gear_of(train);
    let engine = train.full_force(gear, speed).abs() / train.mass;
    let braking = train.foot_brake / train.mass;
    // Air drag and rolling resistance act against the motion.
    let resisted = (train.resistance(speed) / train.mass).copysign(along);
    let coasting = common.slope - resisted;
    let backwards = f64::from(u8::from(train.reverse.is_some()));
    DriveInput {
        full_throttle: coasting + engine,
        coasting,
        full_brake: coasting - braking,
        throttle: reading.throttle,
        brake: reading.brake,
        rpm: reading.rpm,
        idle_rpm: reading.idle_rpm,
        limit_rpm: reading.limit_rpm,
        gear: f64::from(reading.gear),
        gears: if reading.gear < 0 {
            backwards
        } else {
            train.gears.len() as f64
        },
        ..common
    }
}
