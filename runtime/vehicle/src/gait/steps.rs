//! The steps of a person who walks along a straight line at constant speed and sometimes stops.
//!
//! Nothing has to be computed while the person walks. The strides follow from the line, the
//! position where the walk began and the feet at that moment, so a crowd costs nothing until it is
//! drawn.

use super::stride::{BaseMotion, Figure, Foot, Stride};
use super::{Gait, GaitTable, sampled};
use roadwright_geometry::Pose;
use serde::{Deserialize, Serialize};

/// Duration of the step by which a person who has stopped places one foot beside the other, s.
const SETTLES: f64 = 0.45;
/// Maximum distance from its neutral position at which a foot of a standing person stays in place,
/// m.
const NEAR: f64 = 0.06;

/// Maximum initial phase of the foot on the ground when a stopped person walks on. It leaves the
/// other foot enough time to swing.
const LATEST: f64 = 0.38;

/// Steps of one person on a line. Positions are in metres along the line.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct LineSteps {
    /// Position at which the walk began.
    from: f64,
    /// Positions of the left and the right foot when the walk began.
    feet: [f64; 2],
    /// Phase of the left foot when the walk began, 0 to 1.
    phase: f64,
    /// Time at which the person stopped, s; `None` while walking.
    since: Option<f64>,
}

/// A person's position on a line at one moment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OnLine {
    /// Position along the line, m.
    pub along: f64,
    /// Time, s, on the clock of [`LineSteps::halt`].
    pub time: f64,
}

/// The gait in which people walk along lines.
#[derive(Debug, Clone, PartialEq)]
pub struct LineGait {
    table: GaitTable,
    walking: Gait,
    speed: f64,
    /// Length of a stride (two steps), m.
    stride: f64,
    /// Fraction of the cycle during which a foot is on the ground.
    duty: f64,
}

impl LineGait {
    /// Creates the gait of people who walk at a speed in m/s, which has to be positive.
    pub fn new(table: GaitTable, speed: f64) -> Self {
        Self {
            walking: table.gait(speed),
            stride: table.stride(speed),
            duty: table.duty(speed),
            table,
            speed,
        }
    }

    fn half_width(&self) -> f64 {
        self.walking.half_width
    }
}

/// A foot between two footprints, with positions along the line.
#[derive(Debug, Clone, Copy)]
struct Track {
    /// Position of the foot on the ground, or where the foot was lifted.
    place: f64,
    /// Position where the foot will land.
    aim: f64,
    /// Phase at which the foot was lifted; negative while it is on the ground.
    lifted_at: f64,
    /// Phase of the foot in its cycle, 0 to 1.
    phase: f64,
}

impl Track {
    fn is_down(&self) -> bool {
        self.lifted_at < 0.0
    }

    fn standing(place: f64) -> Self {
        Self {
            place,
            aim: place,
            lifted_at: -1.0,
            phase: 0.0,
        }
    }

    /// Completed fraction of the foot's swing.
    fn share(&self) -> f64 {
        (self.phase - self.lifted_at) / (1.0 - self.lifted_at).max(1e-6)
    }

    fn position(&self, gait: &Gait) -> f64 {
        match self.is_down() {
            true => self.place,
            false => self.place + (self.aim - self.place) * sampled(&gait.swing, self.share()),
        }
    }
}

impl LineSteps {
    /// Creates a person who stands at a position and starts to walk there.
    pub fn begin(along: f64, gait: &LineGait) -> Self {
        Self {
            from: along,
            feet: [along; 2],
            phase: 0.5 * gait.duty,
            since: None,
        }
    }

    /// Whether loaded steps are valid. No position may be farther than `farthest` metres away.
    pub fn is_sound(&self, farthest: f64) -> bool {
        let [left, right] = self.feet;
        let mut places = [self.from, left, right].into_iter();
        places.all(|place| place.abs() <= farthest)
            && (0.0..=1.0).contains(&self.phase)
            && self.since.is_none_or(f64::is_finite)
    }

    /// Whether the person stands.
    #[inline]
    pub fn stands(&self) -> bool {
        self.since.is_some()
    }

    /// Makes a walking person stop at `time`, s. Has no effect if the person already stands.
    #[inline]
    pub fn halt(&mut self, time: f64) {
        if self.since.is_none() {
            self.since = Some(time);
        }
    }

    /// Makes a standing person walk on. Has no effect if the person walks.
    pub fn go_on(&mut self, at: OnLine, gait: &LineGait) {
        if self.since.is_none() {
            return;
        }
        let tracks = self.tracks(at, gait);
        let feet = tracks.map(|track| track.position(&gait.walking));
        // The foot in the air moves first; if both are on the ground, the rear foot does. The other
        // foot stays on the ground.
        let first = match tracks.iter().position(|track| !track.is_down()) {
            Some(raised) => raised,
            None => usize::from(feet[1] < feet[0]),
        };
        // The phase at which the standing foot of a walking person would be at this position.
        let ahead = (feet[1 - first] - at.along) / gait.stride;
        let low = (gait.duty - 0.5).max(0.0) + 0.02;
        let standing = (0.5 * gait.duty - ahead).clamp(low, LATEST.max(low));
        let left = match first {
            0 => standing + 0.5,
            _ => standing,
        };
        *self = Self {
            from: at.along,
            feet,
            phase: left - left.floor(),
            since: None,
        };
    }

    /// Returns the feet and shoulders of the person. `line` is the pose at position 0 of the line.
    pub fn figure(&self, at: OnLine, line: Pose, gait: &LineGait) -> Figure {
        let tracks = self.tracks(at, gait);
        let half_width = gait.half_width();
        let foot = |track: Track, left: f64| {
            let pose = |along: f64| Pose {
                position: line.point(along, left),
                heading: line.heading,
            };
            Foot::between(pose(track.place), pose(track.aim), track.lifted_at)
        };
        let [left, right] = tracks;
        // The right foot is half a cycle behind. If only one foot moves, its phase is used.
        let phase = match left.is_down() && !right.is_down() {
            true => right.phase + 0.5,
            false => left.phase,
        };
        let feet = [foot(left, half_width), foot(right, -half_width)];
        let base = BaseMotion {
            pose: Pose {
                position: line.point(at.along, 0.0),
                heading: line.heading,
            },
            speed: if self.stands() { 0.0 } else { gait.speed },
            ..BaseMotion::default()
        };
        Stride::of_feet(phase - phase.floor(), feet).figure(&gait.table, &base)
    }

    /// Returns the left and the right foot at a position and time.
    fn tracks(&self, at: OnLine, gait: &LineGait) -> [Track; 2] {
        let walking = [0, 1].map(|side| self.walking_track(side, at.along, gait));
        match self.since {
            None => walking,
            Some(since) => settled(walking, at, at.time - since, gait),
        }
    }

    /// Returns a foot of a person who has walked to a position without stopping.
    fn walking_track(&self, side: usize, along: f64, gait: &LineGait) -> Track {
        let first = self.phase + 0.5 * side as f64;
        let first = first - first.floor();
        let cycles = first + (along - self.from) / gait.stride;
        let count = cycles.floor();
        let phase = cycles - count;
        // In the middle of its stance, a foot is below the body.
        let footprint = |cycle: f64| match cycle > 0.0 {
            true => self.from + (cycle + 0.5 * gait.duty - first) * gait.stride,
            false => self.feet[side],
        };
        let lifted_at = match count > 0.0 {
            true => gait.duty,
            false => gait.duty.max(first),
        };
        Track {
            place: footprint(count),
            aim: footprint(count + 1.0),
            lifted_at: if phase < lifted_at { -1.0 } else { lifted_at },
            phase,
        }
    }
}

/// Returns the feet of a person who has stood for `stood` seconds. First, the foot that was in the
/// air or behind is placed in its neutral position, then the other foot.
fn settled(walking: [Track; 2], at: OnLine, stood: f64, gait: &LineGait) -> [Track; 2] {
    let places = walking.map(|track| track.position(&gait.walking));
    let raised = walking.iter().position(|track| !track.is_down());
    let first = raised.unwrap_or(usize::from(places[1] < places[0]));
    let mut tracks = places.map(Track::standing);
    let mut begins = 0.0;
    for side in [first, 1 - first] {
        let is_near = (places[side] - at.along).abs() <= NEAR;
        if is_near && raised != Some(side) {
            continue;
        }
        let share = (stood - begins) / SETTLES;
        if share >= 1.0 {
            tracks[side] = Track::standing(at.along);
        } else if share >= 0.0 {
            tracks[side] = Track {
                place: places[side],
                aim: at.along,
                lifted_at: 0.0,
                phase: share,
            };
        }
        begins += SETTLES;
    }
    tracks
}

#[cfg(test)]
mod tests {
    use super::*;
    use roadwright_geometry::DVec2;

    const SPEED: f64 = 1.2;
    const DT: f64 = 1.0 / 60.0;
    /// Height below which a foot counts as on the ground, m.
    const DOWN: f64 = 0.005;

    fn gait() -> LineGait {
        LineGait::new(GaitTable::default(), SPEED)
    }

    /// Simulates `steps` time steps in which a person walks along a line, except in those for which
    /// `stands` returns `true`. Returns the figure after each step with the position of the body
    /// along the line.
    fn walk(steps: u32, stands: impl Fn(u32) -> bool) -> Vec<(f64, Figure)> {
        let gait = gait();
        let line = Pose::new(3.0, -2.0, 0.7);
        let mut person = LineSteps::begin(-2.4, &gait);
        let mut at = OnLine {
            along: -2.4,
            time: 0.0,
        };
        let mut seen = Vec::new();
        for step in 0..steps {
            if stands(step) {
                person.halt(at.time);
            } else {
                person.go_on(at, &gait);
                at.along += SPEED * DT;
            }
            at.time += DT;
            seen.push((at.along, person.figure(at, line, &gait)));
        }
        seen
    }

    /// Asserts that no foot on the ground slides, that legs are long enough, and that feet do not jump.
    fn assert_walks(name: &str, seen: &[(f64, Figure)]) {
        let line = Pose::new(3.0, -2.0, 0.7);
        for pair in seen.windows(2) {
            let [(_, was), (along, is)] = [pair[0], pair[1]];
            for (before, now) in was.feet.iter().zip(&is.feet) {
                let moved = (now.place - before.place).length();
                if before.height < DOWN && now.height < DOWN {
                    assert!(moved < 0.005, "{name}, {along} m: {moved}");
                }
                // A swinging foot is at most six times as fast as the person.
                assert!(moved <= 6.0 * SPEED * DT, "{name}, {along} m: {moved}");
                let reach = (now.place - line.point(along, 0.0)).length();
                assert!(reach < 0.72, "{name}, {along} m: {reach}");
            }
        }
    }

    #[test]
    fn feet_stay_on_the_ground_in_a_walk_and_in_stops_of_any_length_at_any_time() {
        assert_walks("walk", &walk(600, |_| false));
        for begins in 30..100 {
            for lasts in [1, 5, 17, 26, 30, 43, 55, 90] {
                let stands = |step: u32| (begins..begins + lasts).contains(&step);
                let name = format!("stop of {lasts} from {begins}");
                assert_walks(&name, &walk(begins + lasts + 150, stands));
            }
            let halting = |step: u32| (begins..begins + 90).contains(&step) && step % 20 < 11;
            assert_walks(&format!("halting from {begins}"), &walk(330, halting));
        }
    }

    #[test]
    fn a_person_who_waits_stands_with_both_feet_side_by_side() {
        let line = Pose::new(3.0, -2.0, 0.7);
        for begins in 30..100 {
            let seen = walk(begins + 70, |step| step >= begins);
            let (along, figure) = seen[seen.len() - 1];
            for (foot, left) in figure.feet.iter().zip([0.09, -0.09]) {
                let away = (foot.place - line.point(along, left)).length();
                assert!(foot.is_down && away <= NEAR + 0.01, "{begins}: {away}");
            }
            assert_eq!(figure, seen[seen.len() - 2].1);
        }
    }

    /// Compares the footprints with those of a character whose stride is advanced in each step.
    #[test]
    fn strides_are_those_of_a_character_that_walks_straight_ahead() {
        let table = GaitTable::default();
        let mut stride = Stride::default();
        let mut base = BaseMotion {
            speed: SPEED,
            ..BaseMotion::default()
        };
        let gait = gait();
        let person = LineSteps::begin(0.0, &gait);
        let at = |along: f64| OnLine { along, time: 0.0 };
        let mut footprints = [Vec::new(), Vec::new()];
        let mut note = |feet: [super::super::FootPose; 2], list: usize| {
            for foot in feet.iter().filter(|foot| foot.is_down) {
                let place: DVec2 = foot.place;
                if footprints[list].last() != Some(&place) && !footprints[list].contains(&place) {
                    footprints[list].push(place);
                }
            }
        };
        for _ in 0..900 {
            base.pose.position.x += SPEED * DT;
            stride.advance(&table, &base, DT);
            note(stride.figure(&table, &base).feet, 0);
            let figure = person.figure(at(base.pose.position.x), Pose::default(), &gait);
            note(figure.feet, 1);
        }
        let steps = |list: &[DVec2]| -> Vec<f64> {
            let mut along: Vec<f64> = list.iter().map(|place| place.x).collect();
            along.sort_by(f64::total_cmp);
            along
                .windows(2)
                .skip(6)
                .map(|pair| pair[1] - pair[0])
                .collect()
        };
        let [character, person] = [&footprints[0], &footprints[1]].map(|list| steps(list));
        assert!(person.len() > 15 && character.len().abs_diff(person.len()) <= 1);
        for step in character.iter().chain(&person) {
            assert!((step - 0.5 * gait.stride).abs() < 0.01, "{step}");
        }
    }
}
