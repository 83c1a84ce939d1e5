//! Medians: areas between lanes. They are raised where they are wide enough.
//!
//! ```text
//!     ------ lane -------------------------
//!                     __..--''''''''''''''|     Lines run along both sides. The part between
//!     - - - - - - - <  (:::::: raised ::::|     them is raised, with a kerb at a small distance from each
//!                     ''--..______________|     line, where at least half a metre remains between kerbs.
//!     ------ lane -------------------------
//! ```
//!
//! Medians without any wide part are raised over their whole width.

use crate::painter::{Painter, Pass};
use crate::palette::{KERB, MEDIAN, RAIL, SIDEWALK, rgb};
use crate::road::{KERB_WIDTH, MIN_KERB_SCALE, Stretch};
use crate::verge;
use glam::DVec2;
use roadwright_geometry::{Pose, unit};
use roadwright_scenario::junction::{Junction, Layout, Splitter};
use roadwright_scenario::{Lane, LaneType, RoadClass, RoadEnd, Scenario};
use std::f64::consts::FRAC_PI_2;
use std::ops::Range;

/// Distance between kerbs and lines where there is room for both, m.
const BESIDE_LINE: f64 = 0.35;
/// Width above which a median has room for both kerbs and lines, m.
const ROOM_FOR_LINES: f64 = 1.2;
/// Minimum distance between the kerbs of a raised part, m.
const LEAST_RAISED: f64 = 0.5;
/// Distance by which a surface overlaps the adjacent one so that no seam is visible, m.
const OVER_SEAM: f64 = 0.3;
/// Length over which the kerbs of a median narrow to those of the island in which it continues, m.
const TAPER: f64 = 6.0;
/// Number of pieces in which a taper is drawn.
const TAPER_PIECES: usize = 6;
/// Maximum distance between the cut of an arm and the start of an island that continues a median, m.
const AT_CUT: f64 = 0.5;
/// Number of corners of a round end.
const ROUND: usize = 8;

/// Returns groups of adjacent median lanes, as ranges of indices in the lanes of a section.
fn medians(lanes: &[Lane]) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for (place, _) in lanes
        .iter()
        .enumerate()
        .filter(|(_, lane)| lane.kind == LaneType::Median)
    {
        match found.last_mut() {
            Some(last) if last.end == place => last.end = place + 1,
            _ => found.push(place..place + 1),
        }
    }
    found
}

/// Whether a line runs along a side of the median with the given index among the lanes of a stretch.
pub(crate) fn has_line(stretch: &Stretch<'_>, place: usize) -> bool {
    Median::all_of(stretch).any(|median| median.inset > 0.0 && median.places.contains(&place))
}

/// Lateral positions of the kerbs of a median or an island on a road, m.
#[derive(Clone, Copy)]
struct Kerbs {
    left: f64,
    right: f64,
}

impl Kerbs {
    fn width(self) -> f64 {
        self.left - self.right
    }

    fn middle(self) -> f64 {
        0.5 * (self.left + self.right)
    }
}

/// The place where a median continues in the splitter island of a roundabout, which is often narrower.
struct Seam {
    /// Distance of the arm's cut along the road, m.
    s: f64,
    /// Kerbs of the island at the cut.
    kerbs: Kerbs,
}

impl Seam {
    /// Returns the seam at an end of a road; `None` if no raised splitter island begins there.
    fn at(layout: &Layout, stretch: &Stretch<'_>, end: RoadEnd) -> Option<Self> {
        let road = stretch.road;
        let node = match end {
            RoadEnd::Start => road.from,
            RoadEnd::End => road.to,
        };
        let junction = layout.junctions.get(*layout.junction_of.get(&node)?)?;
        let is_here = |id, its_end| (id, its_end) == (stretch.id, end);
        let mut islands = junction.splitters().iter();
        let island = islands.find(|island| is_here(island.road, island.end))?;
        let mut arms = junction.arms.iter();
        let arm = arms.find(|arm| is_here(arm.road, arm.end))?;
        let s = match end {
            RoadEnd::Start => arm.trim,
            RoadEnd::End => road.length() - arm.trim,
        };
        let cut = road.reference_line.pose(s);
        let [one, other] =
            [island.raised.first()?, island.raised.last()?].map(|p| cut.to_local(*p));
        let is_at_cut = one.x.abs().max(other.x.abs()) < AT_CUT;
        is_at_cut.then_some(Self {
            s,
            kerbs: Kerbs {
                left: one.y.max(other.y),
                right: one.y.min(other.y),
            },
        })
    }

    /// Narrows the kerbs of a median at a distance along the road, m. At the cut they meet those of the island.
    fn narrowed(&self, kerbs: Kerbs, s: f64) -> Kerbs {
        let near = (1.0 - (s - self.s).abs() / TAPER).max(0.0);
        let share = near * near * (3.0 - 2.0 * near);
        let moved = |own: f64, other: f64| own + share * (other - own);
        Kerbs {
            left: kerbs.left.min(moved(kerbs.left, self.kerbs.left)),
            right: kerbs.right.max(moved(kerbs.right, self.kerbs.right)),
        }
    }

    /// Returns the distances along the road that a drawing of the taper needs, m.
    fn kinks(&self) -> impl Iterator<Item = f64> {
        let at = self.s;
        let pieces = TAPER_PIECES as i32;
        (-pieces..=pieces).map(move |i| at + TAPER * f64::from(i) / f64::from(pieces))
    }
}

/// A median of a stretch of road.
struct Median<'s, 'a> {
    stretch: &'s Stretch<'a>,
    places: Range<usize>,
    /// Distance between the median's sides and its kerbs, m.
    inset: f64,
    /// Seams with splitter islands.
    seams: Vec<Seam>,
}

impl<'s, 'a> Median<'s, 'a> {
    fn all_of(stretch: &'s Stretch<'a>) -> impl Iterator<Item = Self> {
        let places = medians(&stretch.section.lanes).into_iter();
        places.map(move |places| {
            let mut median = Self {
                stretch,
                places,
                inset: 0.0,
                seams: Vec::new(),
            };
            let widths = stretch.distances.iter().map(|&s| median.width(s));
            if widths.fold(0.0, f64::max) >= ROOM_FOR_LINES {
                median.inset = BESIDE_LINE;
            }
            median
        })
    }

    /// Adds the seams with the splitter islands at the ends of the road.
    fn joined(mut self, layout: &Layout) -> Self {
        let ends = [RoadEnd::Start, RoadEnd::End].into_iter();
        let seams = ends.filter_map(|end| Seam::at(layout, self.stretch, end));
        let is_own = |seam: &Seam| {
            let kerbs = self.kerbs(seam.s);
            (kerbs.right..=kerbs.left).contains(&seam.kerbs.middle())
        };
        self.seams = seams.filter(is_own).collect();
        self
    }

    /// Returns the kerbs at a distance along the road, m.
    fn kerbs(&self, s: f64) -> Kerbs {
        let bands = self.stretch.road.lane_bands(self.stretch.section, s);
        let (left, right) = (bands[self.places.start], bands[self.places.end - 1]);
        let kerbs = Kerbs {
            left: left.centre + 0.5 * left.width - self.inset,
            right: right.centre - 0.5 * right.width + self.inset,
        };
        let seams = self.seams.iter();
        seams.fold(kerbs, |kerbs, seam| seam.narrowed(kerbs, s))
    }

    /// Returns the width between the median's kerbs, m.
    fn width(&self, s: f64) -> f64 {
        self.kerbs(s).width()
    }

    /// Returns the raised part as a range along the road, m. It is a single piece from the first to the last
    /// position that is wide enough.
    fn raised(&self) -> Option<(f64, f64)> {
        // If there is no room for lines, the whole width is raised even if it is narrow.
        let least = if self.inset > 0.0 { LEAST_RAISED } else { 0.01 };
        let is_wide = |s: &f64| self.width(*s) >= least;
        let distances = &self.stretch.distances;
        let first = distances.iter().position(&is_wide)?;
        let last = distances.iter().rposition(&is_wide)?;
        let border = |outside: Option<&f64>, inside: f64| {
            let Some(&(mut outside)) = outside else {
                return inside;
            };
            let mut inside = inside;
            for _ in 0..16 {
                let middle = 0.5 * (outside + inside);
                match is_wide(&middle) {
                    true => inside = middle,
                    false => outside = middle,
                }
            }
            inside
        };
        let before = first.checked_sub(1).and_then(|i| distances.get(i));
        let from = border(before, distances[first]);
        let to = border(distances.get(last + 1), distances[last]);
        (from < to).then_some((from, to))
    }

    /// Returns a round end from the left kerb to the right one, beyond the distance `s` along the road,
    /// towards the given end of the road.
    fn nose(&self, s: f64, end: RoadEnd) -> Vec<DVec2> {
        let kerbs = self.kerbs(s);
        let line = &self.stretch.road.reference_line;
        let at = line.offset_pose(s, kerbs.middle());
        let (outward, start) = match end {
            RoadEnd::Start => (at.reversed().heading, -FRAC_PI_2),
            RoadEnd::End => (at.heading, FRAC_PI_2),
        };
        let turn = -2.0 * start / ROUND as f64;
        let corner =
            |i: usize| at.position + 0.5 * kerbs.width() * unit(outward + start + turn * i as f64);
        (0..=ROUND).map(corner).collect()
    }

    fn draw(&self, painter: &mut impl Painter) {
        let Some((from, to)) = self.raised() else {
            return;
        };
        let (low, high) = self.stretch.range();
        let (left, right) = (|s| self.kerbs(s).left, |s| self.kerbs(s).right);
        // A median that is wide up to its end continues in the next section or in the island of a roundabout.
        let (ends_before, ends_behind) = (from > low + 1e-6, to < high - 1e-6);
        let near = if ends_before {
            self.nose(from, RoadEnd::Start)
        } else {
            self.over_seam(from, -OVER_SEAM)
        };
        let far = if ends_behind {
            self.nose(to, RoadEnd::End)
        } else {
            self.over_seam(to, OVER_SEAM)
        };
        let kinks = || self.seams.iter().flat_map(Seam::kinks);
        let (left, right) = (
            self.stretch.part_through(from..to, kinks(), left),
            self.stretch.part_through(from..to, kinks(), right),
        );
        let is_motorway = self.stretch.road.class == RoadClass::Motorway;
        if painter.scale() >= MIN_KERB_SCALE && !is_motorway {
            let mut kerb = |line: &[DVec2]| painter.line(line, 2.0 * KERB_WIDTH, 2.0, rgb(KERB));
            kerb(&left);
            kerb(&right);
            for (_, end) in [(ends_before, &near), (ends_behind, &far)]
                .iter()
                .filter(|(ends, _)| *ends)
            {
                kerb(end);
            }
        }
        // The outline runs along the left kerb, around the far end, back along the right kerb, and around the
        // near end.
        let mut surface = left;
        surface.extend(far);
        surface.extend(right.into_iter().rev());
        surface.extend(near.into_iter().rev());
        painter.polygon(&surface, rgb(MEDIAN));
        if is_motorway {
            self.draw_rails(painter, from..to);
        }
    }

    /// Draws the guard rails along a range: one beside each carriageway, or one for both in a narrow median.
    fn draw_rails(&self, painter: &mut impl Painter, range: Range<f64>) {
        let beside = |s: f64, share: f64| {
            let kerbs = self.kerbs(s);
            let half = 0.5 * kerbs.width();
            let apart = (half - verge::BEFORE_RAIL).max(0.0);
            let apart = if apart < verge::BEFORE_RAIL {
                0.0
            } else {
                apart
            };
            kerbs.middle() + share * apart
        };
        for share in [1.0, -1.0] {
            let line = self
                .stretch
                .part((range.start, range.end), |s| beside(s, share));
            painter.line(&line, verge::RAIL_WIDTH, 1.0, rgb(RAIL));
        }
    }

    /// Returns the left and right corner slightly beyond a distance along the road.
    fn over_seam(&self, s: f64, beyond: f64) -> Vec<DVec2> {
        let Kerbs { left, right } = self.kerbs(s);
        let at = |lateral| {
            self.stretch
                .road
                .reference_line
                .offset_pose(s, lateral)
                .point(beyond, 0.0)
        };
        vec![at(left), at(right)]
    }
}

/// Draws all raised islands: medians, the splitter islands that continue them, the islands of
/// merged junctions, and refuges at pedestrian crossings.
pub(crate) fn raised(
    painter: &mut impl Painter,
    scenario: &Scenario,
    layout: &Layout,
    stretches: &[Stretch<'_>],
    junctions: &[&Junction],
) {
    painter.begin(Pass::Lane);
    for median in stretches.iter().flat_map(Median::all_of) {
        median.joined(layout).draw(painter);
    }
    for junction in junctions {
        for island in junction
            .splitters()
            .iter()
            .filter(|island| !island.raised.is_empty())
        {
            splitter(painter, island, comes_to(scenario, junction, island));
        }
        for island in junction.traffic_islands() {
            if painter.scale() >= MIN_KERB_SCALE {
                painter.edge(island, 2.0 * KERB_WIDTH, 2.0, rgb(KERB));
            }
            painter.polygon(island, rgb(MEDIAN));
        }
        for refuge in refuges(junction) {
            painter.polygon(&refuge, rgb(SIDEWALK));
        }
    }
}

/// Whether a median of the same arm continues in a splitter island, so that the two form a single island.
pub(crate) fn comes_to(scenario: &Scenario, junction: &Junction, island: &Splitter) -> bool {
    let mut arms = junction.arms.iter();
    let arm = arms.find(|arm| (arm.road, arm.end) == (island.road, island.end));
    let road = scenario.network().road(island.road);
    arm.zip(road).is_some_and(|(arm, road)| {
        let s = match arm.end {
            RoadEnd::Start => arm.trim + 1e-6,
            RoadEnd::End => road.length() - arm.trim - 1e-6,
        };
        let mut lanes = road.section_at(s).lanes.iter();
        lanes.any(|lane| lane.kind == LaneType::Median)
    })
}

/// Draws the raised part of a splitter island, whose outline begins and ends at the cut of the arm.
fn splitter(painter: &mut impl Painter, island: &Splitter, goes_on: bool) {
    let outline = &island.raised;
    let mut surface = outline.clone();
    let (first, last) = (outline[0], outline[outline.len() - 1]);
    if goes_on {
        let out = (first - last).perp().normalize_or_zero();
        // The outline is counter-clockwise, so the outside is to the right.
        surface.extend([last, first].map(|corner| corner - OVER_SEAM * out));
    }
    if painter.scale() >= MIN_KERB_SCALE {
        match goes_on {
            true => painter.line(outline, 2.0 * KERB_WIDTH, 2.0, rgb(KERB)),
            false => painter.edge(outline, 2.0 * KERB_WIDTH, 2.0, rgb(KERB)),
        }
    }
    painter.polygon(&surface, rgb(MEDIAN));
}

/// Returns the refuges in the middle of crossings, over the whole width of medians.
fn refuges(junction: &Junction) -> impl Iterator<Item = [DVec2; 4]> + '_ {
    junction.crossings.iter().flat_map(|crossing| {
        crossing.islands.iter().map(|island| {
            let (half, inset) = (0.5 * crossing.width, BESIDE_LINE - KERB_WIDTH);
            let (from, to) = (island.from + inset, island.to - inset);
            let corners = [(-half, from), (half, from), (half, to), (-half, to)];
            let at: &Pose = &crossing.right_kerb;
            corners.map(|(along, across)| at.point(along, across))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::road;
    use roadwright_scenario::{RoadId, file, junction};
    use std::path::Path;

    #[test]
    fn medians_side_by_side_are_one() {
        use LaneType::{Driving, Median};
        let lanes = |kinds: &[LaneType]| -> Vec<Lane> {
            let number = |(i, &kind): (usize, &LaneType)| Lane::new(5 - i as i8, kind, 2.0);
            kinds.iter().enumerate().map(number).collect()
        };
        assert_eq!(
            medians(&lanes(&[Driving, Median, Median, Driving])),
            vec![Range { start: 1, end: 3 }]
        );
        assert_eq!(medians(&lanes(&[Median, Driving, Median])), [0..1, 2..3]);
        assert!(medians(&lanes(&[Driving, Driving])).is_empty());
    }

    #[test]
    fn medians_narrow_to_the_islands_in_which_they_continue() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
        let scenario = file::load(&folder.join("roundabouts.scenario.json")).expect("a scenario");
        let layout = junction::layout(scenario.network(), scenario.about());
        let roads: Vec<RoadId> = scenario.network().roads().map(|(id, _)| id).collect();
        let stretches = road::stretches(&scenario, &layout, &roads, 0.1);
        let (mut seams, mut narrowest) = (0, f64::INFINITY);
        for median in stretches.iter().flat_map(Median::all_of) {
            let distances = &median.stretch.distances;
            let before: Vec<f64> = distances.iter().map(|&s| median.width(s)).collect();
            let joined = median.joined(&layout);
            for seam in &joined.seams {
                let kerbs = joined.kerbs(seam.s);
                assert!((kerbs.left - seam.kerbs.left).abs() < 0.2);
                assert!((kerbs.right - seam.kerbs.right).abs() < 0.2);
                seams += 1;
                narrowest = narrowest.min(kerbs.width());
            }
            for (&s, before) in joined.stretch.distances.iter().zip(before) {
                assert!(joined.width(s) <= before + 1e-9);
                let is_far = joined.seams.iter().all(|seam| (seam.s - s).abs() > TAPER);
                assert!(!is_far || (joined.width(s) - before).abs() < 1e-9);
            }
        }
        assert!(seams >= 13, "{seams}");
        assert!(narrowest < 3.0, "{narrowest}");
    }
}
