//! Recorded step cycles, and the derivation of gaits from them.

use super::{Gait, SAMPLES};
use glam::DVec3;
use roadwright_geometry::DVec2;
use roadwright_geometry::math::{atan2, cos, wrap_angle};
use std::f64::consts::TAU;

/// Minimum number of frames in a cycle.
const LEAST_FRAMES: usize = 8;
/// Minimum distance that the hips travel in a cycle, m.
const LEAST_DISTANCE: f64 = 0.2;
/// Minimum duration of a cycle, s.
const SHORTEST: f64 = 0.2;
/// Maximum duration of a cycle, s.
const LONGEST: f64 = 5.0;
/// Height above a foot's lowest position from which the foot counts as off the ground, as a
/// fraction of the range of its heights.
const DOWN: f64 = 0.12;
/// Minimum lift of a foot, m.
const LEAST_LIFT: f64 = 0.01;

/// Positions of the joints in one frame, m, with x and y on the ground and z upwards.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Frame {
    /// The hips, which are the root joint.
    pub hips: DVec3,
    /// The left and the right foot.
    pub feet: [DVec3; 2],
    /// The left and the right shoulder.
    pub shoulders: [DVec3; 2],
}

/// Reason why frames are not a valid step cycle.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum CycleError {
    /// There are too few frames.
    #[error(
        "the recording has {0} frames; expected one cycle of two steps with at least {LEAST_FRAMES} frames"
    )]
    Short(usize),
    /// The duration is not plausible.
    #[error(
        "the recording takes {0:.2} s; expected one cycle of two steps, which takes {SHORTEST} to {LONGEST} s"
    )]
    Duration(f64),
    /// The hips do not move forward far enough.
    #[error(
        "the hips move by {0:.2} m; expected a cycle that moves forward by at least \
         {LEAST_DISTANCE} m (check the scale and the hip joint)"
    )]
    Standing(f64),
    /// A foot is always on the ground or never on the ground.
    #[error(
        "the {0} foot is never both on the ground and in the air; check the foot joints, and that \
         the recording contains a whole cycle"
    )]
    NoStep(&'static str),
    /// A value is not finite.
    #[error("frame {0} has a position that is not a number")]
    NotFinite(usize),
}

/// A step cycle, split into the motion of a base point, which moves straight at constant speed, and
/// the motion relative to this point.
#[derive(Debug, Clone, PartialEq)]
pub struct Cycle {
    /// Duration, s.
    pub duration: f64,
    /// Distance that the base point travels, m.
    pub distance: f64,
    /// Positions of the joints relative to the base point (ahead, to the left and up), m. The last
    /// frame is left out, because it repeats the first.
    pub frames: Vec<Frame>,
}

/// Steps of one foot in a cycle.
struct Steps {
    /// Index of the first frame in which the foot is on the ground. `standing` is the number of
    /// such frames.
    landed: usize,
    standing: usize,
    lowest: f64,
    highest: f64,
}

impl Cycle {
    /// Splits a recorded cycle into the motion of a base point and the motion relative to it. In
    /// the recording, a person walks approximately straight ahead, and the last frame repeats the
    /// pose of the first frame farther ahead. `frame_time` is in seconds.
    ///
    /// # Errors
    /// If the frames are not one cycle of steps.
    pub fn factored(frames: &[Frame], frame_time: f64) -> Result<Self, CycleError> {
        if frames.len() < LEAST_FRAMES {
            return Err(CycleError::Short(frames.len()));
        }
        let is_finite = |frame: &Frame| {
            let joints = frame.feet.iter().chain(&frame.shoulders);
            frame.hips.is_finite() && joints.clone().all(|joint| joint.is_finite())
        };
        if let Some(at) = frames.iter().position(|frame| !is_finite(frame)) {
            return Err(CycleError::NotFinite(at));
        }
        let steps = frames.len() - 1;
        let duration = frame_time * steps as f64;
        if !(SHORTEST..=LONGEST).contains(&duration) {
            return Err(CycleError::Duration(duration));
        }
        // As in [Kuffner 1998], section 7.2, the path leads from the projection of the root in the
        // first frame to that in the last frame.
        let from = frames[0].hips.truncate();
        let along = frames[steps].hips.truncate() - from;
        let distance = along.length();
        if distance < LEAST_DISTANCE {
            return Err(CycleError::Standing(distance));
        }
        let ahead = along / distance;
        let relative = |at: usize, joint: DVec3| {
            let base = from + along * (at as f64 / steps as f64);
            let offset: DVec2 = joint.truncate() - base;
            DVec3::new(offset.dot(ahead), ahead.perp_dot(offset), joint.z)
        };
        let frames = frames[..steps].iter().enumerate();
        let frames = frames.map(|(at, frame)| Frame {
            hips: relative(at, frame.hips),
            feet: frame.feet.map(|foot| relative(at, foot)),
            shoulders: frame.shoulders.map(|shoulder| relative(at, shoulder)),
        });
        Ok(Self {
            duration,
            distance,
            frames: frames.collect(),
        })
    }

    /// Derives the gait of the cycle.
    ///
    /// # Errors
    /// If a foot is never lifted or never on the ground.
    pub fn gait(&self) -> Result<Gait, CycleError> {
        let left = self.steps(0).ok_or(CycleError::NoStep("left"))?;
        let right = self.steps(1).ok_or(CycleError::NoStep("right"))?;
        let count = self.frames.len() as f64;
        let both = [(0, &left), (1, &right)];
        let mean = |of: &dyn Fn(usize, &Steps) -> f64| {
            0.5 * (of(both[0].0, both[0].1) + of(both[1].0, both[1].1))
        };
        let curves = both.map(|(side, steps)| self.swing(side, steps));
        let curve = |of: &dyn Fn(&[[f64; 2]; SAMPLES]) -> [f64; SAMPLES]| {
            let [a, b] = [of(&curves[0]), of(&curves[1])];
            std::array::from_fn(|at| 0.5 * (a[at] + b[at]))
        };
        let twist = self.frames.iter().enumerate().map(|(at, frame)| {
            let across = frame.shoulders[0] - frame.shoulders[1];
            let turned = wrap_angle(atan2(across.y, across.x) - 0.25 * TAU);
            let phase = (at as f64 - left.landed as f64) / count;
            2.0 * turned * cos(TAU * phase) / count
        });
        Ok(Gait {
            speed: self.distance / self.duration,
            duration: self.duration,
            duty: mean(&|_, steps| steps.standing as f64 / count),
            half_width: mean(&|side, steps| {
                let middle = (steps.landed + steps.standing / 2) % self.frames.len();
                self.frames[middle].feet[side].y.abs()
            }),
            lift: mean(&|_, steps| steps.highest - steps.lowest),
            swing: curve(&|samples| samples.map(|[moved, _]| moved)),
            height: curve(&|samples| samples.map(|[_, height]| height)),
            twist: twist.sum(),
        })
    }

    /// Finds the longest period in which a foot is on the ground; `None` if the foot is always or
    /// never on the ground.
    fn steps(&self, side: usize) -> Option<Steps> {
        let heights = self.frames.iter().map(|frame| frame.feet[side].z);
        let lowest = heights.clone().fold(f64::INFINITY, f64::min);
        let highest = heights.fold(f64::NEG_INFINITY, f64::max);
        if highest - lowest < LEAST_LIFT {
            return None;
        }
        let count = self.frames.len();
        let limit = lowest + DOWN * (highest - lowest);
        let is_down = |at: usize| self.frames[at % count].feet[side].z <= limit;
        let landings = (0..count).filter(|&at| is_down(at) && !is_down(at + count - 1));
        let longest = landings.map(|at| {
            let standing = (at..at + count).take_while(|&at| is_down(at)).count();
            (standing, at)
        });
        // If several periods are equally long, the earliest one is used.
        let (standing, landed) =
            longest.max_by_key(|(standing, at)| (*standing, std::cmp::Reverse(*at)))?;
        Some(Steps {
            landed,
            standing,
            lowest,
            highest,
        })
    }

    /// Samples the progress and height of a foot during its swing at equally spaced times.
    fn swing(&self, side: usize, steps: &Steps) -> [[f64; 2]; SAMPLES] {
        let count = self.frames.len();
        let first = steps.landed + steps.standing - 1;
        let flight = count - steps.standing + 1;
        // Distance of the foot in a frame ahead of the base point's position at the start of the cycle.
        let place = |at: usize| {
            let moved = self.distance * at as f64 / count as f64;
            self.frames[at % count].feet[side].x + moved
        };
        let (from, to) = (place(first), place(first + flight));
        let height = |at: usize| {
            let height = self.frames[at % count].feet[side].z - steps.lowest;
            height / (steps.highest - steps.lowest)
        };
        let between = |of: &dyn Fn(usize) -> f64, at: f64| {
            let before = at.floor() as usize;
            let share = at - before as f64;
            let (a, b) = (of(first + before), of(first + (before + 1).min(flight)));
            a + share * (b - a)
        };
        let progress = |at: usize| ((place(at) - from) / (to - from).max(1e-3)).clamp(0.0, 1.0);
        let mut reached: f64 = 0.0;
        std::array::from_fn(|sample| {
            let share = sample as f64 / (SAMPLES - 1) as f64;
            let at = share * flight as f64;
            reached = reached.max(between(&progress, at));
            match sample {
                0 => [0.0, 0.0],
                last if last + 1 == SAMPLES => [1.0, 0.0],
                _ => [reached, between(&height, at)],
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use roadwright_geometry::math::sin;

    /// Creates the frames of a step cycle at a heading by sampling a gait.
    pub(crate) fn recorded(speed: f64, duty: f64, heading: f64) -> Vec<Frame> {
        let (duration, count): (f64, usize) = (1.0, 60);
        let stride = speed * duration;
        let ahead = roadwright_geometry::unit(heading);
        let left = roadwright_geometry::left_of(ahead);
        let foot = |phase: f64, side: f64| {
            let cycles = phase.floor();
            let within = phase - cycles;
            let air = ((within - duty) / (1.0 - duty)).clamp(0.0, 1.0);
            let moved = air * air * (3.0 - 2.0 * air);
            let along = stride * (cycles + 0.5 * duty + moved);
            let up = 0.1 * sin(0.5 * TAU * air);
            (ahead * along + left * side).extend(0.05 + up)
        };
        (0..=count)
            .map(|at| {
                let phase = at as f64 / count as f64;
                let base = ahead * (stride * phase);
                let twist = heading + 0.2 * cos(TAU * phase);
                let across = roadwright_geometry::left_of(roadwright_geometry::unit(twist)) * 0.2;
                Frame {
                    hips: (base + left * 0.02 * sin(TAU * phase)).extend(0.95),
                    feet: [
                        foot(phase, 0.1),
                        foot(phase + 0.5, -0.1) - (ahead * 0.5 * stride).extend(0.0),
                    ],
                    shoulders: [(base + across).extend(1.4), (base - across).extend(1.4)],
                }
            })
            .collect()
    }

    #[test]
    fn a_recorded_cycle_gives_back_the_gait_from_which_it_was_made() {
        for heading in [0.0, 2.0, -1.0] {
            let cycle = Cycle::factored(&recorded(1.3, 0.6, heading), 1.0 / 60.0).unwrap();
            assert!((cycle.distance - 1.3).abs() < 1e-9);
            let gait = cycle.gait().unwrap();
            assert!((gait.speed - 1.3).abs() < 1e-9, "{gait:?}");
            assert!((gait.duty - 0.6).abs() < 0.08, "{gait:?}");
            assert!((gait.half_width - 0.1).abs() < 1e-6, "{gait:?}");
            assert!((gait.lift - 0.1).abs() < 0.002, "{gait:?}");
            assert!((gait.twist - 0.2).abs() < 0.01, "{gait:?}");
            assert!((gait.swing[SAMPLES / 2] - 0.5).abs() < 0.08, "{gait:?}");
            assert!(gait.height[SAMPLES / 2] > 0.9, "{gait:?}");
        }
    }

    #[test]
    fn frames_without_steps_are_refused() {
        let frames = recorded(1.3, 0.6, 0.0);
        let short = Cycle::factored(&frames[..4], 1.0 / 60.0).unwrap_err();
        assert_eq!(short, CycleError::Short(4));
        let slow = Cycle::factored(&frames, 1.0).unwrap_err();
        assert!(slow.to_string().contains("60.00 s"), "{slow}");
        let still = vec![frames[0]; 30];
        let still = Cycle::factored(&still, 1.0 / 30.0).unwrap_err();
        assert_eq!(still, CycleError::Standing(0.0));
        let mut gliding = frames.clone();
        for frame in &mut gliding {
            frame.feet[1].z = 0.0;
        }
        let gliding = Cycle::factored(&gliding, 1.0 / 60.0).unwrap();
        assert_eq!(gliding.gait(), Err(CycleError::NoStep("right")));
        let mut broken = frames;
        broken[7].hips.x = f64::NAN;
        let broken = Cycle::factored(&broken, 1.0 / 60.0).unwrap_err();
        assert_eq!(broken, CycleError::NotFinite(7));
    }
}
