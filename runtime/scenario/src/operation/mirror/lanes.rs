//! Mirroring of the lanes of a road.

use crate::driving_side::DrivingSide;
use crate::road::{Lane, LaneChange, LaneSection, Poly3, Road};
use crate::turn::{Turn, Turns};

/// Absolute value below which a coefficient counts as a rounding error, m.
const ROUNDING: f64 = 1e-12;
/// Maximum distance between the starts of two polynomials that count as the same point, m.
const SAME_PLACE: f64 = 1e-9;

/// Whether mirroring a road reverses its direction. This is the case if all its vehicle lanes have
/// the same direction.
pub(super) fn is_turned(road: &Road, side: DrivingSide) -> bool {
    let lanes = road.lane_sections.iter().flat_map(|section| &section.lanes);
    let mut directions = lanes
        .filter(|lane| lane.kind.is_drivable())
        .map(|lane| lane.is_forward(side));
    match directions.next() {
        Some(first) => directions.all(|direction| direction == first),
        None => false,
    }
}

/// Whether all lanes of a road move to their exact mirrored positions, as for one-way roads and
/// paths.
fn is_plain_image(road: &Road, side: DrivingSide) -> bool {
    is_turned(road, side) || !road.is_drivable()
}

/// Returns the road with its lanes mirrored and its line unchanged.
pub(super) fn mirrored(road: &Road, side: DrivingSide) -> Road {
    let mut image = road.clone();
    if is_plain_image(road, side) {
        image.lane_offset.iter_mut().for_each(negate);
    } else {
        image.lane_offset = offset_of_two_way(road);
    }
    for (section, old) in image.lane_sections.iter_mut().zip(&road.lane_sections) {
        if is_plain_image(road, side) {
            for lane in &mut section.lanes {
                lane.id = -lane.id;
                // Arrows are removed, because they refer to the junction at the other end.
                lane.turns = Turns::NONE;
            }
        } else {
            mirror_arrows(section, side);
            let core = Core::of(old);
            let lanes = section.lanes.iter_mut();
            lanes.for_each(|lane| lane.id = core.name_after(lane.id));
        }
        section.lanes.sort_by_key(|lane| -lane.id);
    }
    image
}

/// Returns the id that a lane at distance `s` has after mirroring.
pub(super) fn name_after(road: &Road, s: f64, lane: i8, side: DrivingSide) -> i8 {
    if is_plain_image(road, side) {
        -lane
    } else {
        Core::of(road.section_at(s)).name_after(lane)
    }
}

/// The vehicle lanes of a road and the lanes between them, as the number of lanes on each side of
/// the reference line.
///
/// ```text
///   parking 3 | 2 drive | 1 drive | -1 drive | -2 pavement      left 2, right 1
///   mirrored:
///   pavement 3 | 2 drive | 1 drive | -1 drive | -2 parking
/// ```
struct Core {
    left: i8,
    right: i8,
}

impl Core {
    fn of(section: &LaneSection) -> Self {
        let drivable = |lane: &&Lane| lane.kind.is_drivable();
        let ids = || section.lanes.iter().filter(drivable).map(|lane| lane.id);
        Self {
            left: ids().max().unwrap_or(0).max(0),
            right: -ids().min().unwrap_or(0).min(0),
        }
    }

    /// Returns the id of a lane after mirroring: lanes of the core keep their ids, and lanes
    /// outside it change sides.
    fn name_after(&self, lane: i8) -> i8 {
        if lane > self.left {
            -self.right - (lane - self.left)
        } else if lane < -self.right {
            self.left + (-lane - self.right)
        } else {
            lane
        }
    }
}

/// Returns the lane offset that puts the core of a two-way road at its mirrored position.
///
/// If the core extends from -R to L around the offset o, the image extends from -(o + L) to R - o.
/// The lanes keep their order, so the new offset is R - o - L.
fn offset_of_two_way(road: &Road) -> Vec<Poly3> {
    let mut starts: Vec<f64> = road.lane_offset.iter().map(|poly| poly.s.get()).collect();
    for section in &road.lane_sections {
        let widths = section.lanes.iter().flat_map(|lane| &lane.width);
        starts.extend(widths.map(|poly| section.s + poly.s));
        starts.push(section.s.get());
    }
    starts.sort_by(f64::total_cmp);
    starts.dedup_by(|later, first| *later - *first < SAME_PLACE);
    let mut offset: Vec<Poly3> = Vec::new();
    for s in starts {
        let poly = offset_from(road, s);
        // A piece that merely continues the previous one is left out. Otherwise, each mirroring
        // would add more pieces.
        let continued = offset.last().map(|last| last.rebased(s));
        if !continued.is_some_and(|before| is_same(&before, &poly)) {
            offset.push(Poly3 {
                s: s.into(),
                ..poly
            });
        }
    }
    match offset[..] {
        [only] if is_same(&only, &Poly3::default()) => Vec::new(),
        _ => offset,
    }
}

/// Returns the new offset from `s` until the next polynomial of the road begins.
fn offset_from(road: &Road, s: f64) -> Poly3 {
    let section = road.section_at(s + SAME_PLACE);
    let core = Core::of(section);
    let mut sum = Poly3::default();
    add(&mut sum, -1.0, &active(&road.lane_offset, s));
    for lane in &section.lanes {
        let sign = match lane.id {
            id if (1..=core.left).contains(&id) => -1.0,
            id if (-core.right..0).contains(&id) => 1.0,
            _ => continue,
        };
        add(&mut sum, sign, &active(&lane.width, s - section.s));
    }
    sum
}

/// Returns the polynomial of a list that applies at `s`, rebased to `s`.
fn active(list: &[Poly3], s: f64) -> Poly3 {
    let index = list.partition_point(|poly| poly.s <= s + SAME_PLACE);
    let found = list.get(index.saturating_sub(1));
    found.map_or(Poly3::default(), |poly| poly.rebased(s))
}

fn add(sum: &mut Poly3, factor: f64, other: &Poly3) {
    sum.a += factor * other.a;
    sum.b += factor * other.b;
    sum.c += factor * other.c;
    sum.d += factor * other.d;
}

fn negate(poly: &mut Poly3) {
    // Avoids -0.0, which would appear in files.
    let negative = |value: f64| if value == 0.0 { 0.0 } else { -value };
    poly.a = negative(poly.a.get()).into();
    poly.b = negative(poly.b.get()).into();
    poly.c = negative(poly.c.get()).into();
    poly.d = negative(poly.d.get()).into();
}

fn is_same(a: &Poly3, b: &Poly3) -> bool {
    let pairs = [(a.a, b.a), (a.b, b.b), (a.c, b.c), (a.d, b.d)];
    pairs.iter().all(|(x, y)| (*x - *y).abs() < ROUNDING)
}

/// Mirrors arrows and lane change markings: left turns become right turns, and within each
/// direction, the markings of the leftmost lane move to the rightmost lane.
fn mirror_arrows(section: &mut LaneSection, side: DrivingSide) {
    for is_forward in [true, false] {
        let mut lanes: Vec<&mut Lane> = section
            .lanes
            .iter_mut()
            .filter(|lane| lane.kind.is_drivable() && lane.is_forward(side) == is_forward)
            .collect();
        let said = lanes.iter().map(|lane| (lane.turns, lane.lane_change));
        let said: Vec<(Turns, LaneChange)> = said.collect();
        for (lane, (turns, change)) in lanes.iter_mut().zip(said.iter().rev()) {
            lane.turns = turns.iter().map(mirrored_turn).collect();
            lane.lane_change = change.mirrored();
        }
    }
}

fn mirrored_turn(turn: Turn) -> Turn {
    match turn {
        Turn::Left => Turn::Right,
        Turn::Right => Turn::Left,
        Turn::Straight | Turn::UTurn => turn,
    }
}

/// Returns the lane of the same direction that has the same position, counted from the other side.
pub(super) fn opposite(section: &LaneSection, lane: i8, side: DrivingSide) -> i8 {
    let Some(own) = section.lanes.iter().find(|other| other.id == lane) else {
        return lane;
    };
    let same: Vec<i8> = section
        .lanes
        .iter()
        .filter(|other| other.kind.is_drivable())
        .filter(|other| other.is_forward(side) == own.is_forward(side))
        .map(|other| other.id)
        .collect();
    let place = same.iter().position(|id| *id == lane);
    place.map_or(lane, |place| same[same.len() - 1 - place])
}
