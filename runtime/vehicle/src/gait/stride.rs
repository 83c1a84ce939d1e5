//! The feet of a moving character.

use super::{Gait, GaitTable, sampled};
use roadwright_geometry::math::{sin, wrap_angle};
use roadwright_geometry::{DVec2, Pose, left_of, unit};
use serde::{Deserialize, Serialize};

/// Speed of a foot around the base point in a turn on the spot, divided by the turn rate, m.
const TURN_ARM: f64 = 0.16;
/// Rotation of the body per stride (two steps) during a turn on the spot, rad.
const TURN: f64 = 1.5;
/// Foot speed below which a character counts as standing, m/s.
const STANDING: f64 = 0.04;
/// Cadence with which a stopping character places its feet side by side, 1/s.
const SETTLING: f64 = 0.9;
/// Maximum distance from its neutral position at which a foot of a standing character stays in
/// place, m.
const NEAR: f64 = 0.06;
/// Maximum rotation relative to the body at which a foot of a standing character stays in place,
/// rad.
const TURNED: f64 = 0.3;
/// Maximum distance between the base point and a foot on the ground, m. A foot farther away is
/// lifted, because the leg cannot reach farther.
const REACH: f64 = 0.62;
/// Maximum body rotation that is assumed when a foot's landing position is predicted, rad.
const MOST_TURN: f64 = 0.9;
/// Fraction of the swing until which a foot fully follows changes of its landing position.
const AIMING: f64 = 0.7;
/// Fraction of the swing after which a foot keeps its landing position.
const AIMED: f64 = 0.9;
/// Half the distance between the shoulders, m.
const SHOULDERS: f64 = 0.2;

/// Motion of the base point of a character.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct BaseMotion {
    /// Position and heading.
    pub pose: Pose,
    /// Speed along the heading, m/s.
    pub speed: f64,
    /// Speed to the left, m/s.
    pub sideways: f64,
    /// Turn rate, rad/s, positive to the left.
    pub turn_rate: f64,
}

impl BaseMotion {
    /// Speed of the feet over the ground, m/s.
    fn pace(&self) -> f64 {
        DVec2::new(self.speed, self.sideways).length() + TURN_ARM * self.turn_rate.abs()
    }

    /// Pose after `time` seconds, assuming that the motion does not change.
    fn after(&self, time: f64) -> Pose {
        let turn = (self.turn_rate * time).clamp(-MOST_TURN, MOST_TURN);
        let half = 0.5 * turn;
        let chord = if half.abs() < 1e-6 {
            1.0
        } else {
            sin(half) / half
        };
        let ahead = unit(self.pose.heading + half);
        let moved = ahead * self.speed + left_of(ahead) * self.sideways;
        Pose {
            position: self.pose.position + moved * (time * chord),
            heading: wrap_angle(self.pose.heading + turn),
        }
    }
}

/// A foot, with its position on the ground or the position where it was lifted.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct Foot {
    place: DVec2,
    heading: f64,
    /// Phase at which the foot was lifted; negative while it is on the ground.
    lifted_at: f64,
    /// Pose at which the foot will land.
    aim: Pose,
}

impl Foot {
    fn is_down(&self) -> bool {
        self.lifted_at < 0.0
    }

    /// Creates a foot on the ground.
    fn standing(at: Pose) -> Self {
        Self {
            place: at.position,
            heading: at.heading,
            lifted_at: -1.0,
            aim: at,
        }
    }

    /// Creates a foot on its path from one footprint to the next. `lifted_at` is the phase at which it was
    /// lifted, negative while it is on the ground.
    pub(super) fn between(place: Pose, aim: Pose, lifted_at: f64) -> Self {
        Self {
            lifted_at,
            aim,
            ..Self::standing(place)
        }
    }

    /// Completed fraction of the swing at a phase.
    fn share(&self, phase: f64) -> f64 {
        ((phase - self.lifted_at) / (1.0 - self.lifted_at).max(1e-6)).clamp(0.0, 1.0)
    }

    /// Adjusts the aim of the foot to a new landing position. Shortly before landing, the foot
    /// keeps its aim, so that it does not slide.
    fn follow(&mut self, landing: Pose, phase: f64) {
        let share = ((AIMED - self.share(phase)) / (AIMED - AIMING)).clamp(0.0, 1.0);
        self.aim.position += (landing.position - self.aim.position) * share;
        let turn = wrap_angle(landing.heading - self.aim.heading);
        self.aim.heading = wrap_angle(self.aim.heading + share * turn);
    }
}

/// State of a character's steps.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Stride {
    /// Phase of the left foot, 0 to 1, with 0 at its landing. The right foot is half a cycle behind.
    phase: f64,
    /// The left and the right foot.
    feet: [Foot; 2],
    /// Whether the feet already have positions.
    has_feet: bool,
}

/// A foot for drawing.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct FootPose {
    /// Position of the middle of the foot, m.
    pub place: DVec2,
    /// Heading, rad.
    pub heading: f64,
    /// Height above the ground, m; 0 while the foot is on the ground.
    pub height: f64,
    /// Whether the foot is on the ground.
    pub is_down: bool,
}

/// Feet and shoulders of a character for drawing.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Figure {
    /// The left and the right foot.
    pub feet: [FootPose; 2],
    /// The left and the right shoulder, m.
    pub shoulders: [DVec2; 2],
}

/// Cadence and duty of a character at its current motion.
#[derive(Debug, Clone, Copy)]
struct Rhythm {
    /// Cycles per second.
    rate: f64,
    /// Fraction of the cycle during which a foot is on the ground.
    duty: f64,
    half_width: f64,
}

impl Stride {
    /// Creates a stride with the given phase of the left foot.
    pub(super) fn of_feet(phase: f64, feet: [Foot; 2]) -> Self {
        Self {
            phase,
            feet,
            has_feet: true,
        }
    }

    /// Phase of the left foot in its cycle, 0 to 1.
    pub fn phase(&self) -> f64 {
        self.phase
    }

    /// Advances the stride by `dt` seconds. `base` is the motion of the body at the end of the step.
    pub fn advance(&mut self, table: &GaitTable, base: &BaseMotion, dt: f64) {
        if !self.has_feet {
            self.stand(table, base);
        }
        let rhythm = self.rhythm(table, base);
        if rhythm.rate == 0.0 {
            return;
        }
        let before = self.phase;
        let after = before + rhythm.rate * dt;
        self.phase = after - after.floor();
        for (side, half) in [(0, 0.0), (1, 0.5)] {
            let from = fraction(before + half);
            let now = fraction(after + half);
            let wrapped = now < from;
            let foot = self.feet[side];
            if foot.is_down() {
                // A foot that has just landed stays on the ground until at least the next step.
                let is_far = (foot.place - base.pose.position).length() > REACH;
                let other = self.feet[1 - side].is_down();
                if !wrapped && (now >= rhythm.duty || is_far && other && now > 0.1) {
                    self.feet[side].lifted_at = now.max(1e-6);
                    self.feet[side].aim = landing(base, rhythm, side, now);
                }
            } else if wrapped {
                self.feet[side] = Foot::standing(foot.aim);
            } else {
                self.feet[side].follow(landing(base, rhythm, side, now), now);
            }
        }
    }

    /// Computes the feet and shoulders for the given motion of the base point. At the end of a
    /// step, this is the motion that was passed to [`Self::advance`].
    pub fn figure(&self, table: &GaitTable, base: &BaseMotion) -> Figure {
        let mut own = *self;
        if !own.has_feet {
            own.stand(table, base);
        }
        let gait = table.gait(base.pace());
        let heading = base.pose.heading + GaitTable::twist(&gait, own.phase) * own.effort(base);
        let shoulders = Pose {
            heading,
            ..base.pose
        };
        Figure {
            feet: [0, 1].map(|side| own.foot(&gait, side)),
            shoulders: [SHOULDERS, -SHOULDERS].map(|left| shoulders.point(0.0, left)),
        }
    }

    /// Amplitude factor of upper-body movements; 0 for a standing character.
    fn effort(&self, base: &BaseMotion) -> f64 {
        (base.pace() / 0.4).min(1.0)
    }

    fn foot(&self, gait: &Gait, side: usize) -> FootPose {
        let foot = self.feet[side];
        if foot.is_down() {
            return FootPose {
                place: foot.place,
                heading: foot.heading,
                height: 0.0,
                is_down: true,
            };
        }
        let share = foot.share(self.phase_of(side));
        let moved = sampled(&gait.swing, share);
        FootPose {
            place: foot.place + (foot.aim.position - foot.place) * moved,
            heading: wrap_angle(foot.heading + wrap_angle(foot.aim.heading - foot.heading) * moved),
            height: gait.lift * sampled(&gait.height, share),
            is_down: false,
        }
    }

    fn phase_of(&self, side: usize) -> f64 {
        fraction(self.phase + 0.5 * side as f64)
    }

    /// Places both feet in their neutral positions.
    fn stand(&mut self, table: &GaitTable, base: &BaseMotion) {
        let half_width = table.half_width(0.0);
        self.feet = [half_width, -half_width].map(|left| {
            Foot::standing(Pose {
                position: base.pose.point(0.0, left),
                ..base.pose
            })
        });
        // Both feet are on the ground, and the right foot is the next to be lifted.
        self.phase = 0.05;
        self.has_feet = true;
    }

    fn rhythm(&self, table: &GaitTable, base: &BaseMotion) -> Rhythm {
        let pace = base.pace();
        let mut rate = (pace / table.stride(pace)).max(base.turn_rate.abs() / TURN);
        let (duty, half_width) = (table.duty(pace), table.half_width(pace));
        if pace < STANDING {
            rate = match self.has_settled(base, half_width) {
                true => 0.0,
                false => SETTLING,
            };
        }
        Rhythm {
            rate,
            duty,
            half_width,
        }
    }

    /// Whether a standing character has both feet on the ground and in their neutral positions.
    fn has_settled(&self, base: &BaseMotion, half_width: f64) -> bool {
        let sides = self.feet.iter().zip([half_width, -half_width]);
        let mut is_settled = sides.map(|(foot, left)| {
            let away = (foot.place - base.pose.point(0.0, left)).length();
            let turned = wrap_angle(foot.heading - base.pose.heading).abs();
            foot.is_down() && away <= NEAR && turned <= TURNED
        });
        is_settled.all(|settled| settled)
    }
}

/// Predicts where a foot at the given phase will land: the expected position of the hips in the
/// middle of the foot's next stance.
fn landing(base: &BaseMotion, rhythm: Rhythm, side: usize, phase: f64) -> Pose {
    let cycles = (1.0 - phase) + 0.5 * rhythm.duty;
    let pose = base.after(cycles / rhythm.rate.max(1e-3));
    let left = if side == 0 {
        rhythm.half_width
    } else {
        -rhythm.half_width
    };
    Pose {
        position: pose.point(0.0, left),
        heading: pose.heading,
    }
}

fn fraction(value: f64) -> f64 {
    value - value.floor()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    const DT: f64 = 1.0 / 60.0;
    /// Number of time steps before the leg length is checked.
    const STARTED: u32 = 60;
    /// Height below which a foot counts as on the ground, m.
    const DOWN: f64 = 0.005;

    /// Measurements of a walk.
    #[derive(Debug, Default)]
    struct Seen {
        /// Maximum distance that a foot slid while it was on the ground, m.
        slide: f64,
        /// Maximum distance between the base point and a foot on the ground, m.
        reach: f64,
        /// Number of landings.
        steps: u32,
        /// Maximum distance that a foot moved in a time step, m.
        fastest: f64,
    }

    /// Walks with a motion (speed, lateral speed, turn rate) that depends on the time in s.
    fn walk(seconds: f64, motion: impl Fn(f64) -> [f64; 3]) -> Seen {
        let table = GaitTable::default();
        let mut stride = Stride::default();
        let mut base = BaseMotion::default();
        let mut seen = Seen::default();
        // The feet get their positions in the first step.
        stride.advance(&table, &base, DT);
        let mut before = stride.figure(&table, &base).feet;
        let mut stood = before.map(|foot| foot.place);
        for step in 1..=(seconds / DT) as u32 {
            let [speed, sideways, turn_rate] = motion(DT * f64::from(step));
            base = BaseMotion {
                speed,
                sideways,
                turn_rate,
                ..base
            };
            base.pose = base.after(DT);
            stride.advance(&table, &base, DT);
            let now = stride.figure(&table, &base).feet;
            for side in [0, 1] {
                let (was, is) = (before[side], now[side]);
                seen.fastest = seen.fastest.max((is.place - was.place).length());
                seen.steps += u32::from(is.is_down && !was.is_down);
                if was.height > DOWN || is.height > DOWN {
                    stood[side] = is.place;
                    continue;
                }
                seen.slide = seen.slide.max((is.place - stood[side]).length());
                // If a walk begins at full speed, the feet lag behind at first.
                if step > STARTED {
                    seen.reach = seen.reach.max((is.place - base.pose.position).length());
                }
            }
            before = now;
        }
        seen
    }

    /// Asserts that no foot slides by more than 2 cm, and that every leg is long enough.
    fn assert_walks(name: &str, seen: &Seen) {
        assert!(seen.slide <= 0.02, "{name}: {seen:?}");
        assert!(seen.reach <= REACH + 0.1, "{name}: {seen:?}");
        // A swinging foot is at most four times as fast as a jogger.
        assert!(seen.fastest <= 4.0 * 3.5 * DT + 0.12, "{name}: {seen:?}");
    }

    #[test]
    fn standing_feet_do_not_slide_at_any_speed_in_any_bend() {
        for tenths in 2..=30 {
            let speed = 0.1 * f64::from(tenths);
            for radius in [f64::INFINITY, 20.0, 5.0, 2.0, 1.0, -1.0] {
                let seen = walk(12.0, |_| [speed, 0.0, speed / radius]);
                assert_walks(&format!("{speed} m/s, {radius} m"), &seen);
                assert!(seen.steps >= 8, "{speed} m/s, {radius} m: {seen:?}");
            }
        }
    }

    #[test]
    fn standing_feet_do_not_slide_in_starts_stops_and_blends() {
        let ramp =
            |time: f64, from: f64, to: f64| from + (to - from) * (time / 1.5).clamp(0.0, 1.0);
        for (from, to) in [
            (0.0, 0.3),
            (0.0, 1.4),
            (0.0, 2.6),
            (1.4, 2.6),
            (2.6, 0.0),
            (1.4, 0.0),
            (2.6, 1.0),
        ] {
            for radius in [f64::INFINITY, 3.0, 1.0] {
                let seen = walk(8.0, |time| {
                    let speed = ramp(time - 2.0, from, to);
                    [speed, 0.0, speed / radius]
                });
                assert_walks(&format!("{from} to {to} m/s, {radius} m"), &seen);
            }
        }
        // The speed oscillates between standing and jogging.
        let seen = walk(40.0, |time| {
            let speed = 1.3 - 1.3 * roadwright_geometry::math::cos(0.5 * time);
            [speed, 0.0, 0.6 * sin(1.3 * time)]
        });
        assert_walks("waves", &seen);
    }

    #[test]
    fn standing_feet_do_not_slide_on_the_spot_and_in_side_steps() {
        for rate in [0.3, 1.0, 2.0, 3.5] {
            let seen = walk(2.0 * PI / rate, |_| [0.0, 0.0, rate]);
            assert_walks(&format!("turn at {rate} rad/s"), &seen);
            assert!(seen.steps >= 4, "{rate}: {seen:?}");
        }
        for sideways in [-0.5, 0.2, 0.4] {
            let seen = walk(6.0, |_| [0.0, sideways, 0.0]);
            assert_walks(&format!("side step at {sideways} m/s"), &seen);
            assert!(seen.steps >= 4, "{sideways}: {seen:?}");
        }
    }

    #[test]
    fn a_character_that_stops_puts_its_feet_side_by_side_and_rests() {
        let table = GaitTable::default();
        for stop in 0..40 {
            let mut stride = Stride::default();
            let mut base = BaseMotion {
                speed: 1.4,
                ..BaseMotion::default()
            };
            for step in 0..600 {
                if step > 200 + stop {
                    base.speed = 0.0;
                }
                base.pose = base.after(DT);
                stride.advance(&table, &base, DT);
            }
            let figure = stride.figure(&table, &base);
            for (foot, left) in figure.feet.iter().zip([0.09, -0.09]) {
                assert!(foot.is_down, "{stop}");
                let away = (foot.place - base.pose.point(0.0, left)).length();
                assert!(away <= NEAR, "{stop}: {away}");
            }
            let rested = stride;
            stride.advance(&table, &base, DT);
            assert_eq!(stride, rested);
        }
    }

    #[test]
    fn feet_alternate_and_land_ahead_of_the_body() {
        let table = GaitTable::default();
        let mut stride = Stride::default();
        let mut base = BaseMotion {
            speed: 1.4,
            ..BaseMotion::default()
        };
        let mut landings = Vec::new();
        let mut before = stride.figure(&table, &base).feet;
        for _ in 0..600 {
            base.pose = base.after(DT);
            stride.advance(&table, &base, DT);
            let now = stride.figure(&table, &base).feet;
            for side in [0, 1] {
                if now[side].is_down && !before[side].is_down {
                    landings.push((side, now[side].place.x - base.pose.position.x));
                }
            }
            before = now;
        }
        assert!(landings.windows(2).all(|pair| pair[0].0 != pair[1].0));
        // A foot is on the ground for 0.62 of a stride of 1.45 m, half of it behind the hips.
        for (_, ahead) in &landings[2..] {
            assert!((ahead - 0.5 * 0.62 * 1.449).abs() < 0.05, "{ahead}");
        }
    }
}
