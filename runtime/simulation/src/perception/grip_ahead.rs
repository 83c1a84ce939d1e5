//! Adaptation of speed to the grip of the ground ahead.
//!
//! The controller input has no field for grip. Instead, low grip reduces the allowed speed: in
//! bends where the tyres would slip, and wherever the vehicle could not brake in time for its
//! leader or the next stop. On dry ground, none of this is computed.

use super::{OPEN_GROUND_SPEED, Stretch, View};
use crate::records::AgentIndex;
use roadwright_ground::{COUNTED_ON, PROFILE_BRAKING};
use roadwright_plugin_api::ControllerInput;

/// Drivers rely on at most this deceleration, even if there is more grip, m/s^2.
const FIRM: f64 = 4.0;
/// Drivers rely on at least this deceleration, m/s^2. Without this minimum, stopping distances
/// could be infinite.
const LEAST: f64 = 0.1;
/// Spacing of the samples of the ground ahead, m.
const SAMPLE: f64 = 3.0;
/// Maximum distance of a sample, m.
const FARTHEST: f64 = 400.0;
/// Reaction time of drivers before they brake, s.
const REACTION: f64 = 0.5;
/// Gap to a stationary leader, m. It is slightly larger than the gap that controllers leave.
const GAP: f64 = 2.5;
/// Gap to a stop line, m. It is slightly larger than the gap that controllers leave.
const STOP_GAP: f64 = 0.7;
/// Minimum speed in a bend, however low the grip is, m/s.
const SLOWEST: f64 = 1.0;

/// A sampled place on the route ahead.
struct Sample {
    /// Distance from the rear axle, m.
    distance: f64,
    /// Distance to the next sample, m.
    length: f64,
    /// Speed allowed by road and bend, m/s.
    speed: f64,
    /// Deceleration that a driver relies on, m/s^2.
    braking: f64,
}

impl View<'_> {
    /// Lookahead distance that a driver needs to stop gently on the most slippery ground, m.
    #[inline]
    pub(super) fn horizon(&self, agent: AgentIndex, margin: f64) -> f64 {
        let speed = self.motion(agent).speed;
        if !self.ground.is_grip_known() {
            return speed * speed / (2.0 * PROFILE_BRAKING) + margin;
        }
        let counted_on =
            COUNTED_ON * self.ground.lowest_grip() * self.vehicle_type(agent).hardest();
        let braking = counted_on.clamp(LEAST, PROFILE_BRAKING);
        (speed * speed / (2.0 * braking) + margin).min(FARTHEST)
    }

    /// Lowers the allowed speed to match the grip in the bends ahead and on the road before them.
    pub(super) fn heed_bends(&self, agent: AgentIndex, horizon: f64, input: &mut ControllerInput) {
        if !self.ground.is_grip_known() {
            return;
        }
        // Reduction of the squared speed that braking can achieve up to here: twice the deceleration,
        // integrated over the distance.
        let mut lost = 0.0;
        for sample in self.samples(agent, horizon) {
            let reachable = (sample.speed * sample.speed + lost).sqrt();
            input.road_speed = input.road_speed.min(reachable);
            lost += 2.0 * sample.braking.min(PROFILE_BRAKING) * sample.length;
        }
    }

    /// Maximum speed from which a driver can still stop behind the leader or at the next stop, m/s;
    /// infinite on dry ground. Obstacles are not considered, because controllers pass them or stop.
    pub(super) fn halting_speed(&self, agent: AgentIndex, input: &ControllerInput) -> f64 {
        if !self.ground.is_grip_known() {
            return f64::INFINITY;
        }
        let ends = [
            (input.leader_gap - GAP, input.leader_speed),
            (input.stop_distance - STOP_GAP, 0.0),
        ];
        let safe = ends.map(|(gap, ahead)| self.safe_speed(agent, gap, ahead));
        safe.into_iter().fold(f64::INFINITY, f64::min)
    }

    /// Highest safe speed behind a vehicle `gap` metres ahead that drives at `ahead` m/s, after [Krauss
    /// 1998].
    fn safe_speed(&self, agent: AgentIndex, gap: f64, ahead: f64) -> f64 {
        if gap > FARTHEST {
            return f64::INFINITY;
        }
        let gap = gap.max(0.0);
        let lost = self.lost_over(agent, gap);
        let braking = if gap > 0.0 {
            lost / (2.0 * gap)
        } else {
            self.braking_here(agent)
        };
        let lag = braking * REACTION;
        (lag * lag + ahead.max(0.0) * ahead.max(0.0) + lost).sqrt() - lag
    }

    /// Reduction of the squared speed that braking can achieve over a distance ahead, m^2/s^2.
    fn lost_over(&self, agent: AgentIndex, stretch: f64) -> f64 {
        if !self.position(agent).is_on_lane() {
            return 2.0 * self.braking_here(agent) * stretch;
        }
        let (mut lost, mut end, mut braking) = (0.0, 0.0, LEAST);
        for sample in self.samples(agent, stretch) {
            let length = sample.length.min(stretch - sample.distance).max(0.0);
            (braking, end) = (sample.braking, sample.distance + length);
            lost += 2.0 * braking * length;
        }
        // Beyond the end of the route, or of a lane that the agent has to leave, the ground is
        // assumed to continue unchanged.
        lost + 2.0 * braking * (stretch - end).max(0.0)
    }

    /// Deceleration that a driver relies on at the vehicle's current position, m/s^2.
    fn braking_here(&self, agent: AgentIndex) -> f64 {
        let lanelet = self.position(agent).lanelet;
        let (pose, layers) = (self.pose(agent), self.ground.layers(lanelet));
        let grip = self.ground.grip_on(pose.position, layers);
        (COUNTED_ON * grip * self.vehicle_type(agent).hardest()).clamp(LEAST, FIRM)
    }

    /// Maximum speed of the vehicle off the roads on this ground, m/s.
    pub(super) fn open_ground_speed(&self, agent: AgentIndex) -> f64 {
        OPEN_GROUND_SPEED * self.open_ground_share(agent)
    }

    /// Factor by which speeds off the roads are reduced on low grip, so that braking distances stay
    /// the same.
    pub(super) fn open_ground_share(&self, agent: AgentIndex) -> f64 {
        if !self.ground.is_grip_known() {
            return 1.0;
        }
        (self.braking_here(agent) / PROFILE_BRAKING).min(1.0).sqrt()
    }

    /// Samples of the route ahead, up to the given distance, m.
    fn samples(&self, agent: AgentIndex, reach: f64) -> impl Iterator<Item = Sample> + '_ {
        let near = self
            .ahead(agent)
            .take_while(move |stretch| stretch.distance < reach);
        near.flat_map(move |stretch| {
            let start = (-stretch.distance).max(0.0);
            let count = ((stretch.length - start) / SAMPLE).ceil().max(0.0) as u32;
            (0..count).map(move |number| {
                let s = start + f64::from(number) * SAMPLE;
                self.sample_at(agent, &stretch, s)
            })
        })
        .take_while(move |sample| sample.distance < reach)
    }

    fn sample_at(&self, agent: AgentIndex, stretch: &Stretch, s: f64) -> Sample {
        let (ground, kind) = (self.ground, self.vehicle_type(agent));
        let pose = ground.line(stretch.lanelet).pose(s);
        let grip = ground.grip_on(pose.position, ground.layers_of(stretch.lanelet));
        let counted_on = COUNTED_ON * grip * kind.hardest();
        let bend = ground.curvature(stretch.lanelet, s).abs().max(1e-6);
        let bend = (counted_on / bend).sqrt().max(SLOWEST);
        Sample {
            distance: stretch.distance + s,
            length: SAMPLE.min(stretch.length - s),
            speed: ground.road_speed(stretch.lanelet, s).min(bend),
            braking: (counted_on - self.downhill(agent, pose)).clamp(LEAST, FIRM),
        }
    }

    /// Reduction of the achievable deceleration by a downhill slope at a place on the route, m/s^2.
    fn downhill(&self, agent: AgentIndex, pose: roadwright_geometry::Pose) -> f64 {
        let wheelbase = self.vehicle_type(agent).limits.wheelbase;
        let grade = self.ground.grade(pose, wheelbase);
        grade.map_or(0.0, |grade| grade.pull.max(0.0))
    }
}
