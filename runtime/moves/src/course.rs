//! Courses: corridors between walls. Cars drive along lines at constant speed and do not react to the vehicle.

use crate::body::Convex;
use crate::surroundings::Mover;
use roadwright_geometry::math::{Stream, sin_cos, tan};
use roadwright_geometry::{DVec2, Pose, heading_of, left_of, unit};
use std::f64::consts::FRAC_PI_2;

/// North coordinate of the goal, m, as in the source. The goal is on the axis of the track.
const GOAL: f64 = 100_000.0;
/// Length of the corridor before the start and after the finish, m.
const RUN_OUT: f64 = 80.0;
/// Minimum distance between the start and the cars, m.
const CLEAR: f64 = 25.0;
/// Maximum lateral offset of the start from the centre line, m.
const START_RANGE: f64 = 1.0;

/// A car that drives along a line at constant speed.
#[derive(Debug, Clone, PartialEq)]
pub struct CarLine {
    /// Points of the line.
    pub line: Vec<DVec2>,
    /// Speed, m/s.
    pub speed: f64,
    /// Initial distance along the line, m.
    pub phase: f64,
    /// Length and width of the car, m.
    pub size: DVec2,
    /// Angle between the body and the direction of motion, rad, positive to the left.
    pub tilt: f64,
    /// Behaviour at the end of the line.
    pub end: LineEnd,
}

/// Behaviour of a car at the end of its line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LineEnd {
    /// It jumps back to the beginning of the line.
    Returns,
    /// It leaves, and no car replaces it.
    Leaves {
        /// Initial distance to the next car on the line, m.
        gap: f64,
    },
}

impl CarLine {
    /// Whether the car is on its line at the given time, s.
    pub fn is_present(&self, time: f64) -> bool {
        self.end == LineEnd::Returns || self.phase + self.speed * time < self.length()
    }

    /// Moves the car along its line by a fraction of a length. This is the length of the line or,
    /// if cars that leave are not replaced, the gap to the next car.
    fn advance(&mut self, share: f64) {
        let whole = match self.end {
            LineEnd::Returns => self.length(),
            LineEnd::Leaves { gap } => gap,
        };
        self.phase += share * whole;
    }

    /// Length of the line, m.
    pub(crate) fn length(&self) -> f64 {
        self.line
            .windows(2)
            .map(|pair| (pair[1] - pair[0]).length())
            .sum()
    }

    /// Returns the car at the given time, s.
    pub fn at(&self, time: f64) -> Mover {
        let lengths: Vec<f64> = self
            .line
            .windows(2)
            .map(|pair| (pair[1] - pair[0]).length())
            .collect();
        let mut along = (self.phase + self.speed * time).rem_euclid(self.length());
        let mut piece = 0;
        while piece + 1 < lengths.len() && along >= lengths[piece] {
            along -= lengths[piece];
            piece += 1;
        }
        let direction = (self.line[piece + 1] - self.line[piece]) / lengths[piece];
        let centre = self.line[piece] + direction * along;
        let (sin, cos) = sin_cos(self.tilt);
        let forward = direction.rotate(DVec2::new(cos, sin)) * (0.5 * self.size.x);
        let left = left_of(forward.normalize()) * (0.5 * self.size.y);
        Mover {
            outline: Convex::quadrilateral([
                centre + forward + left,
                centre - forward + left,
                centre - forward - left,
                centre + forward - left,
            ]),
            velocity: direction * self.speed,
        }
    }
}

/// A corridor with cars, from a start to a finish line.
#[derive(Debug, Clone, PartialEq)]
pub struct Course {
    /// Name of the course.
    pub name: String,
    /// Walls of the corridor.
    pub walls: Vec<Convex>,
    /// Cars that drive in the corridor.
    pub cars: Vec<CarLine>,
    /// Pose of the middle of the rear axle at the start.
    pub start: Pose,
    /// North coordinate at which the run ends, m.
    pub finish: f64,
    /// Goal towards which the vehicle plans, m.
    pub goal: DVec2,
    /// Maximum duration of a run, s.
    pub seconds: f64,
    /// Sharp corners of the centre line, where skids are recorded.
    pub sharp: Vec<DVec2>,
    /// Corners of the centre line, including its ends beyond start and finish.
    pub centre: Vec<DVec2>,
    /// Positions to which the racer of the scenario drives, in this order. The last one is its
    /// destination.
    pub goals: Vec<DVec2>,
}

/// Shape of a random corridor. It begins and ends heading north.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Corridor {
    /// Length of the centre line from the start to the finish, m.
    pub length: f64,
    /// Number of corners.
    pub corners: u32,
    /// Maximum angle between an inner stretch and north, rad. The minimum is half of this value. The first
    /// and last stretch lead north.
    pub sharpness: f64,
    /// Distance between the walls, m.
    pub width: f64,
    /// Seed of the lengths and angles of stretches.
    pub seed: u64,
}

/// Cars in a corridor.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Traffic {
    /// Number of cars between the start and the finish.
    pub count: u32,
    /// Number of lines of cars side by side.
    pub lines: u32,
    /// Distance from the outer lines to the walls, m.
    pub margin: f64,
    /// Speed of the cars, m/s.
    pub speed: f64,
    /// Angle between the bodies and their direction of motion, rad. It alternates between lines.
    pub tilt: f64,
}

/// Radius of the bends of the innermost line of cars, m.
const BEND: f64 = 4.0;
/// Maximum change of direction between two pieces of a bend, rad.
const BEND_PIECE: f64 = 0.05;

/// Length and width of the cars, m. The sliding racer has the same size.
const CAR: DVec2 = DVec2::new(3.4, 1.6);

impl Corridor {
    /// Corners of the centre line, including the stretches before the start and after the finish. The start is the
    /// second corner, and the finish is the last but one.
    pub fn centre_line(&self) -> Vec<DVec2> {
        let mut draw = Stream::new(self.seed, "corridor", 0);
        let count = self.corners + 1;
        let weights: Vec<f64> = (0..count).map(|_| draw.next_in(0.75, 1.25)).collect();
        let whole: f64 = weights.iter().sum();
        let mut side = if draw.next_unit() < 0.5 { -1.0 } else { 1.0 };
        let mut line = vec![DVec2::new(0.0, -RUN_OUT), DVec2::ZERO];
        let mut place = DVec2::ZERO;
        for (stretch, weight) in weights.iter().enumerate() {
            let is_end = stretch == 0 || stretch + 1 == weights.len();
            let angle = if is_end {
                0.0
            } else {
                // Leads back towards the axis, so that the corridor stays near it.
                side = if place.x > 10.0 {
                    1.0
                } else if place.x < -10.0 {
                    -1.0
                } else {
                    -side
                };
                side * self.sharpness * draw.next_in(0.5, 1.0)
            };
            place += unit(FRAC_PI_2 + angle) * (self.length * weight / whole);
            line.push(place);
        }
        line.push(place + DVec2::new(0.0, RUN_OUT));
        line
    }

    /// Returns the reason why the walls of the corridor would cross each other; `None` if they do
    /// not.
    pub fn misfit(&self) -> Option<String> {
        too_tight(&self.centre_line(), self.width)
    }

    /// Converts the corridor to a course.
    pub fn course(&self, name: &str, traffic: Option<&Traffic>, seconds: f64) -> Course {
        let line = self.centre_line();
        let widths = vec![self.width; line.len()];
        let cars = traffic.map_or(Vec::new(), |traffic| self.cars(&line, traffic));
        walled(name, &line, &widths, cars, seconds)
    }

    fn cars(&self, line: &[DVec2], traffic: &Traffic) -> Vec<CarLine> {
        let Traffic {
            count,
            lines,
            margin,
            speed,
            tilt,
        } = *traffic;
        let room = self.width - 2.0 * margin;
        let whole = self.length + 2.0 * RUN_OUT;
        let share = whole / self.length;
        let count = (f64::from(count) * share).round() as u32;
        let all = (0..lines).map(|number| {
            let across = if lines == 1 {
                0.5
            } else {
                f64::from(number) / f64::from(lines - 1)
            };
            let far = room * across;
            rounded(&beside(line, far - 0.5 * room), [room - far, far])
        });
        let all: Vec<Vec<DVec2>> = all.collect();
        (0..count)
            .map(|number| {
                let which = number % lines;
                let line = all[which as usize].clone();
                let own: f64 = line
                    .windows(2)
                    .map(|pair| (pair[1] - pair[0]).length())
                    .sum();
                CarLine {
                    line,
                    speed,
                    phase: own * f64::from(number) / f64::from(count.max(1)),
                    size: CAR,
                    tilt: if which % 2 == 0 { tilt } else { -tilt },
                    end: LineEnd::Returns,
                }
            })
            .collect()
    }
}

/// A straight stretch of a drawn corridor.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stretch {
    /// Length of the stretch, m.
    pub length: f64,
    /// Angle between the stretch and north, rad, positive to the left.
    pub angle: f64,
    /// Distance between the walls at the end of the stretch, m.
    pub width: f64,
}

/// A corridor defined stretch by stretch from the start to the finish. It begins heading north.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DrawnCorridor {
    /// Distance between the walls at the start, m.
    pub width: f64,
    /// Stretches of the corridor.
    pub stretches: &'static [Stretch],
}

/// Rows of oncoming cars in a part of a drawn corridor. Cars leave at the end of their rows and are
/// not replaced, because no plan could foresee where a new car appears.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rows {
    /// Index of the stretch on which the cars drive. The stretch must lead north.
    pub stretch: usize,
    /// Number of rows side by side, at least two.
    pub count: u32,
    /// Distance from the outer rows to the walls, m.
    pub margin: f64,
    /// Distance between the centres of consecutive cars in a row, m.
    pub gap: f64,
    /// Speed of the cars, m/s.
    pub speed: f64,
}

/// Phase difference between neighbouring rows, as a fraction of the gap. The golden ratio spreads the phases evenly.
const SHIFT: f64 = 0.618;

/// A corner of a drawn corridor counts as sharp if the direction changes by more than this, rad.
const SHARP: f64 = 1.2;

impl DrawnCorridor {
    /// Corners of the centre line, including the stretches before the start and after the finish.
    fn centre_line(&self) -> Vec<DVec2> {
        let mut line = vec![DVec2::new(0.0, -RUN_OUT), DVec2::ZERO];
        let mut place = DVec2::ZERO;
        for stretch in self.stretches {
            place += unit(FRAC_PI_2 + stretch.angle) * stretch.length;
            line.push(place);
        }
        let last = self.stretches.last().map_or(0.0, |stretch| stretch.angle);
        line.push(place + unit(FRAC_PI_2 + last) * RUN_OUT);
        line
    }

    /// Converts the corridor to a course.
    pub fn course(&self, name: &str, rows: Option<&Rows>, seconds: f64) -> Course {
        let line = self.centre_line();
        let mut widths = vec![self.width; 2];
        widths.extend(self.stretches.iter().map(|stretch| stretch.width));
        widths.push(widths[widths.len() - 1]);
        let cars = rows.map_or(Vec::new(), |rows| rows.cars(&line, &widths));
        let course = walled(name, &line, &widths, cars, seconds);
        let turn = |number: &usize| {
            let [before, after] = [0, 1].map(|next| self.stretches[number + next].angle);
            (after - before).abs() >= SHARP
        };
        let corners = (0..self.stretches.len().saturating_sub(1)).filter(turn);
        Course {
            sharp: corners.map(|number| line[number + 2]).collect(),
            ..course
        }
    }
}

impl Rows {
    fn cars(&self, line: &[DVec2], widths: &[f64]) -> Vec<CarLine> {
        let (south, north) = (line[self.stretch + 1], line[self.stretch + 2]);
        let room = widths[self.stretch + 1].min(widths[self.stretch + 2]) - 2.0 * self.margin;
        let whole = (north - south).length();
        let count = (whole / self.gap).floor() as u32;
        let gap = whole / f64::from(count);
        let rows = (0..self.count).flat_map(|row| {
            let across = f64::from(row) / f64::from(self.count - 1) - 0.5;
            let aside = DVec2::new(room * across, 0.0);
            let shift = (SHIFT * f64::from(row)).fract();
            (0..count).map(move |number| CarLine {
                line: vec![north + aside, south + aside],
                speed: self.speed,
                phase: (f64::from(number) + shift) * gap,
                size: CAR,
                tilt: 0.0,
                end: LineEnd::Leaves { gap },
            })
        });
        rows.collect()
    }
}

/// Creates a course between walls along both sides of a centre line, with another wall behind the start. `widths` has
/// the width at each corner of the line.
fn walled(name: &str, line: &[DVec2], widths: &[f64], cars: Vec<CarLine>, seconds: f64) -> Course {
    let mut walls = Vec::new();
    for side in [0.5, -0.5] {
        let wall = beside_by(line, |corner| side * widths[corner]);
        walls.extend(wall.windows(2).map(|pair| Convex::line(pair[0], pair[1])));
    }
    let (first, half) = (line[0], 0.5 * widths[0]);
    walls.push(Convex::line(
        first + DVec2::new(-half, 0.0),
        first + DVec2::new(half, 0.0),
    ));
    Course {
        name: name.to_owned(),
        walls,
        cars,
        start: Pose {
            position: line[1],
            heading: FRAC_PI_2,
        },
        finish: line[line.len() - 2].y,
        goals: vec![line[line.len() - 2]],
        centre: line.to_vec(),
        goal: DVec2::new(0.0, GOAL),
        seconds,
        sharp: Vec::new(),
    }
}

/// Returns the reason why the walls along a line would cross each other: a stretch is shorter than
/// the mitres at its ends. `None` if all stretches are long enough. The first and last stretch of
/// the line are not checked.
pub(crate) fn too_tight(line: &[DVec2], width: f64) -> Option<String> {
    let turn = |corner: usize| {
        let [before, after] = [corner - 1, corner].map(|i| heading_of(line[i + 1] - line[i]));
        roadwright_geometry::math::wrap_angle(after - before).abs()
    };
    (1..line.len().saturating_sub(2)).find_map(|stretch| {
        let length = (line[stretch + 1] - line[stretch]).length();
        let mitres = tan(0.5 * turn(stretch)) + tan(0.5 * turn(stretch + 1));
        let needed = 0.5 * width * mitres;
        (needed > length).then(|| {
            format!(
                "the walls cross each other at corner {stretch}: the stretch after it is {length:.1} m long, and its \
                 corners need {needed:.1} m; use a longer or narrower track, fewer corners, or less sharpness"
            )
        })
    })
}

/// Replaces the corners of a line by bends that are concentric with those of the lines beside it.
/// `inside` is the distance to the innermost line in bends to the left and to the right, m.
fn rounded(line: &[DVec2], inside: [f64; 2]) -> Vec<DVec2> {
    let mut bent = vec![line[0]];
    for three in line.windows(3) {
        let [before, after] = [three[1] - three[0], three[2] - three[1]];
        let turn = roadwright_geometry::math::wrap_angle(heading_of(after) - heading_of(before));
        let half = tan(0.5 * turn.abs());
        if half < 1e-6 {
            bent.push(three[1]);
            continue;
        }
        let (side, inside) = if turn > 0.0 {
            (1.0, inside[0])
        } else {
            (-1.0, inside[1])
        };
        // Distance from the corner to the ends of the bend, less than half of the stretches beside it.
        let most = 0.49 * before.length().min(after.length());
        let cut = ((BEND + inside) * half).min(most);
        let begin = three[1] - before.normalize() * cut;
        let centre = begin + left_of(before.normalize()) * (side * cut / half);
        let pieces = (turn.abs() / BEND_PIECE).ceil() as u32;
        bent.extend((0..=pieces).map(|piece| {
            let (sin, cos) = sin_cos(turn * f64::from(piece) / f64::from(pieces));
            centre + (begin - centre).rotate(DVec2::new(cos, sin))
        }));
    }
    bent.push(line[line.len() - 1]);
    bent
}

/// Returns a line `offset` metres to the left of another line, with mitred corners.
pub(crate) fn beside(line: &[DVec2], offset: f64) -> Vec<DVec2> {
    beside_by(line, |_| offset)
}

/// Returns a line to the left of another line, with mitred corners. `offset` returns the distance
/// at each corner, m.
fn beside_by(line: &[DVec2], offset: impl Fn(usize) -> f64) -> Vec<DVec2> {
    let direction = |i: usize| (line[i + 1] - line[i]).normalize();
    let last = line.len() - 1;
    (0..line.len())
        .map(|i| {
            let before = direction(i.max(1) - 1);
            let after = direction(i.min(last - 1));
            let half =
                0.5 * roadwright_geometry::math::wrap_angle(heading_of(after) - heading_of(before));
            // The point to the left of the corner, moved along the stretch by the length of the mitre.
            line[i] + left_of(before) * offset(i) - before * (offset(i) * tan(half))
        })
        .collect()
}

impl Course {
    /// Returns the course with a start and car positions drawn from a seed. The start is up to a
    /// metre beside the centre line. All cars are moved along their lines by the same fraction of
    /// the line's length or, if cars that leave are not replaced, of the gap between cars. Cars
    /// that would be too close to the start are removed.
    pub fn with_seed(&self, seed: u64) -> Self {
        let mut draw = Stream::new(seed, "move tree start", 0);
        let aside = draw.next_in(-START_RANGE, START_RANGE);
        let mut course = self.clone();
        course.start = self.start.shifted(aside);
        let share = draw.next_unit();
        for car in &mut course.cars {
            car.advance(share);
        }
        let start = course.start.position;
        course.cars.retain(|car| {
            let bounds = car.at(0.0).outline.bounds();
            (0.5 * (bounds.low + bounds.high) - start).length() > CLEAR
        });
        course
    }

    /// Returns the cars at the given time, s.
    pub fn movers(&self, time: f64) -> Vec<Mover> {
        let present = self.cars.iter().filter(|car| car.is_present(time));
        present.map(|car| car.at(time)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CORRIDOR: Corridor = Corridor {
        length: 600.0,
        corners: 8,
        sharpness: 1.0,
        width: 14.0,
        seed: 3,
    };

    #[test]
    fn walls_keep_their_distance_from_the_centre_line() {
        let line = CORRIDOR.centre_line();
        for (i, point) in beside(&line, 7.0).into_iter().enumerate() {
            // The mitred corners have the same distance from both stretches.
            for from in [i.saturating_sub(1), i.min(line.len() - 2)] {
                let along = (line[from + 1] - line[from]).normalize();
                let far = along.perp_dot(point - line[from]);
                assert!((far - 7.0).abs() < 1e-9, "{i} {far}");
            }
        }
    }

    #[test]
    fn the_same_corridor_is_drawn_again_and_has_its_length() {
        let line = CORRIDOR.centre_line();
        assert_eq!(line, CORRIDOR.centre_line());
        let inner: f64 = line[1..line.len() - 1]
            .windows(2)
            .map(|pair| (pair[1] - pair[0]).length())
            .sum();
        assert!((inner - 600.0).abs() < 1e-9);
        assert_eq!(line.len(), 8 + 4);
    }

    #[test]
    fn cars_keep_their_speed_and_begin_anew() {
        let car = CarLine {
            line: vec![DVec2::ZERO, DVec2::new(0.0, 100.0), DVec2::new(50.0, 100.0)],
            speed: 10.0,
            phase: 95.0,
            size: CAR,
            tilt: 0.0,
            end: LineEnd::Returns,
        };
        let middle = |time: f64| {
            let bounds = car.at(time).outline.bounds();
            0.5 * (bounds.low + bounds.high)
        };
        assert!((middle(0.0) - DVec2::new(0.0, 95.0)).length() < 1e-12);
        assert!((middle(1.0) - DVec2::new(5.0, 100.0)).length() < 1e-12);
        assert!((middle(6.5) - DVec2::new(0.0, 10.0)).length() < 1e-12);
        assert_eq!(car.at(1.0).velocity, DVec2::new(10.0, 0.0));
        assert!(car.is_present(6.5));
    }

    #[test]
    fn cars_turn_in_bends_beside_each_other() {
        let corner = [DVec2::ZERO, DVec2::new(0.0, 50.0), DVec2::new(-50.0, 50.0)];
        let [inner, outer] =
            [2.0, -3.0].map(|left| rounded(&beside(&corner, left), [2.0 - left, 3.0 + left]));
        let centre = DVec2::new(-2.0 - BEND, 48.0 - BEND);
        for (line, radius) in [(inner, BEND), (outer, BEND + 5.0)] {
            for point in &line[1..line.len() - 1] {
                assert!(
                    ((*point - centre).length() - radius).abs() < 1e-9,
                    "{point}"
                );
            }
            for three in line.windows(3) {
                let [before, after] = [three[1] - three[0], three[2] - three[1]];
                let turn = before.angle_to(after).abs();
                assert!(turn <= BEND_PIECE + 1e-9, "{turn}");
            }
        }
        // A straight line keeps its points.
        let straight = [DVec2::ZERO, DVec2::new(0.0, 10.0), DVec2::new(0.0, 30.0)];
        assert_eq!(rounded(&straight, [1.0; 2]), straight);
    }

    #[test]
    fn cars_that_leave_do_not_appear_again() {
        let car = CarLine {
            line: vec![DVec2::ZERO, DVec2::new(0.0, 100.0)],
            speed: 10.0,
            phase: 70.0,
            size: CAR,
            tilt: 0.0,
            end: LineEnd::Leaves { gap: 20.0 },
        };
        assert!(car.is_present(2.9) && !car.is_present(3.1));
        // From any start, no car of the final track appears during a drive.
        let course = crate::Track::FinalDense.course();
        for seed in 1..=5 {
            let course = course.with_seed(seed);
            let counts: Vec<usize> = (0..=60)
                .map(|second| course.movers(f64::from(second)).len())
                .collect();
            assert!(counts.is_sorted_by(|a, b| a >= b), "{counts:?}");
            assert!(counts[0] > 100 && counts[60] < counts[0], "{counts:?}");
        }
    }
}
