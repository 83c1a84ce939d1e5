//! Road surfaces and junctions.
//!
//! ```text
//!   junction |<- stretch: section 0 ->|<- section 1 ->| junction      roads are drawn by stretches
//!
//!   :::::::::::::::::   pavement      all pavements of a layer, then all kerbs, then all
//!   =================   kerb          carriageways, then lanes: where two roads meet, no pavement
//!   .................   carriageway   or kerb of one lies on the carriageway of the other
//!   =================   kerb
//!   :::::::::::::::::   pavement
//! ```
//!
//! Adjacent surfaces share the corners of their cuts. A line across each cut in the colour of the surface
//! closes the hairline gap that two soft edges would leave.

use crate::gore;
use crate::painter::{Painter, Pass};
use crate::palette::{ASPHALT, BUS_LANE, CASING, CYCLE_LANE, KERB, PARKING, PAVING, SIDEWALK, rgb};
use glam::DVec2;
use roadwright_scenario::junction::{Junction, Layout};
use roadwright_scenario::{LaneSection, LaneType, Road, RoadClass, RoadId, Scenario};
use std::ops::Range;

/// Width of a kerb, m.
pub(crate) const KERB_WIDTH: f64 = 0.15;
/// Minimum scale for kerbs, pixels per metre. At smaller scales, pavements touch the carriageway.
pub(crate) const MIN_KERB_SCALE: f64 = 1.25;
/// Width of the rim of a paved area, m.
const RIM: f64 = 0.12;
/// Minimum width of a pavement that is drawn, m.
const MIN_PAVEMENT: f64 = 0.05;
/// Width of the line that closes a cut, pixels.
const SEAM: f32 = 2.0;

/// A part of a road with the same lanes, between its junctions.
pub(crate) struct Stretch<'a> {
    pub(crate) id: RoadId,
    pub(crate) road: &'a Road,
    pub(crate) section: &'a LaneSection,
    /// Distances along the road at which the stretch is sampled for drawing, m.
    pub(crate) distances: Vec<f64>,
}

impl Stretch<'_> {
    /// Returns the start and end of the stretch, in metres along the road.
    pub(crate) fn range(&self) -> (f64, f64) {
        let last = self.distances[self.distances.len() - 1];
        (self.distances[0], last)
    }

    /// Returns the line at a lateral position that may change along the road.
    pub(crate) fn line(&self, lateral: impl Fn(f64) -> f64) -> Vec<DVec2> {
        self.part(self.range(), lateral)
    }

    /// Returns the part of a [`line`](Self::line) between two distances along the road. It is empty if the
    /// stretch does not overlap this range.
    pub(crate) fn part(&self, (from, to): (f64, f64), lateral: impl Fn(f64) -> f64) -> Vec<DVec2> {
        if to - from < 1e-6 {
            return Vec::new();
        }
        let inner = self.distances.iter().copied();
        let inner = inner.filter(|s| *s > from + 1e-6 && *s < to - 1e-6);
        let all = std::iter::once(from).chain(inner).chain([to]);
        all.map(|s| self.road.reference_line.point(s, lateral(s)))
            .collect()
    }

    /// Like [`part`](Self::part), with additional points at the given distances along the road, at which the
    /// lateral position may have kinks.
    pub(crate) fn part_through(
        &self,
        range: Range<f64>,
        kinks: impl Iterator<Item = f64>,
        lateral: impl Fn(f64) -> f64,
    ) -> Vec<DVec2> {
        let mut ends: Vec<f64> = kinks.filter(|s| range.contains(s)).collect();
        ends.extend([range.start, range.end]);
        ends.sort_by(f64::total_cmp);
        let pieces = ends.windows(2);
        pieces
            .flat_map(|ends| self.part((ends[0], ends[1]), &lateral))
            .collect()
    }

    /// Returns the surface between two lateral positions.
    fn band(&self, left: impl Fn(f64) -> f64, right: impl Fn(f64) -> f64) -> Vec<DVec2> {
        let mut points = self.line(left);
        points.extend(self.line(right).into_iter().rev());
        points
    }

    /// Returns the lateral positions of both edges of a pavement; `None` if there is none on that side.
    fn pavement(&self, is_left: bool) -> Option<(Edge<'_>, Edge<'_>)> {
        let at = move |s: f64| {
            let (outer, inner) = (self.road.edges(s), self.road.carriageway(s));
            if is_left {
                (outer.1, inner.1)
            } else {
                (outer.0, inner.0)
            }
        };
        let (from, to) = self.range();
        let is_there = |s: f64| (at(s).0 - at(s).1).abs() > MIN_PAVEMENT;
        (is_there(from + 1e-6) || is_there(to - 1e-6)).then(|| {
            let outer: Edge<'_> = Box::new(move |s| at(s).0);
            let inner: Edge<'_> = Box::new(move |s| at(s).1);
            (outer, inner)
        })
    }

    /// Closes the cuts at both ends of a band.
    fn seams(
        &self,
        canvas: &mut impl Painter,
        left: impl Fn(f64) -> f64,
        right: impl Fn(f64) -> f64,
        hex: u32,
    ) {
        let (from, to) = self.range();
        // The line ends half a pixel before both edges of the surface, because the edges are also soft.
        let inset = 0.5 / canvas.scale();
        for s in [from, to] {
            let (left, right) = (left(s), right(s));
            let inward = (right - left).signum() * inset.min(0.5 * (right - left).abs());
            let across = [left + inward, right - inward];
            let points = across.map(|t| self.road.reference_line.point(s, t));
            canvas.line(&points, 0.0, SEAM, rgb(hex));
        }
    }
}

/// Lateral position as a function of the distance along a road, m.
type Edge<'a> = Box<dyn Fn(f64) -> f64 + 'a>;

/// Returns all stretches of the given roads in order. The chords of a stretch deviate from its curve by at
/// most `tolerance` metres.
pub(crate) fn stretches<'a>(
    scenario: &'a Scenario,
    layout: &Layout,
    roads: &[RoadId],
    tolerance: f64,
) -> Vec<Stretch<'a>> {
    let mut stretches = Vec::new();
    // Only the parts outside junctions are included, because junctions are drawn from their outlines.
    for &id in roads {
        let Some(road) = scenario.network().road(id) else {
            continue;
        };
        let Some((from, to)) = layout.remaining(id, road) else {
            continue;
        };
        for (index, section) in road.lane_sections.iter().enumerate() {
            let (from, to) = (from.max(section.s.get()), to.min(road.section_end(index)));
            if to - from < 0.01 {
                continue;
            }
            stretches.push(Stretch {
                id,
                road,
                section,
                distances: distances(road, from, to, tolerance),
            });
        }
    }
    stretches
}

fn distances(road: &Road, from: f64, to: f64, tolerance: f64) -> Vec<f64> {
    let all = road.reference_line.sample_distances(tolerance, 8.0);
    let inner = all
        .into_iter()
        .filter(|s| *s > from + 1e-6 && *s < to - 1e-6);
    let mut distances: Vec<f64> = std::iter::once(from).chain(inner).chain([to]).collect();
    let varies = road.lane_offset.len() > 1
        || road
            .lane_sections
            .iter()
            .flat_map(|s| &s.lanes)
            .any(|lane| {
                lane.width
                    .iter()
                    .any(|w| w.b != 0.0 || w.c != 0.0 || w.d != 0.0)
            });
    // Lanes that taper or shift need more points than a straight reference line has.
    if varies {
        let count = ((to - from) / 2.0).ceil().clamp(1.0, 1e5) as usize;
        distances.extend((1..count).map(|i| from + (to - from) * i as f64 / count as f64));
        distances.sort_by(f64::total_cmp);
    }
    distances
}

/// Draws the surfaces of a layer: paved areas, pavements, kerbs, carriageways, and lanes.
pub(crate) fn draw(
    canvas: &mut impl Painter,
    scenario: &Scenario,
    stretches: &[Stretch<'_>],
    junctions: &[&Junction],
) {
    let is_paved = |junction: &Junction| {
        let mut roads = junction.arms.iter();
        roads.all(|arm| scenario.network().road(arm.road).is_some_and(is_paving))
    };
    let (paved, built): (Vec<&Junction>, Vec<&Junction>) =
        junctions.iter().partition(|junction| is_paved(junction));
    // Paths and squares are drawn first, because carriageways run through pedestrian areas and not under
    // them.
    paving(canvas, stretches, &paved);
    pavements(canvas, stretches, &built);
    kerbs(canvas, stretches, &built);
    canvas.begin(Pass::Surface);
    for stretch in carriageways(stretches) {
        let (left, right) = (
            |s| stretch.road.carriageway(s).1,
            |s| stretch.road.carriageway(s).0,
        );
        canvas.polygon(&stretch.band(left, right), rgb(ASPHALT));
        stretch.seams(canvas, left, right, ASPHALT);
    }
    for junction in &built {
        canvas.polygon(&junction.polygon_within(canvas.tolerance()), rgb(ASPHALT));
        for strip in junction.strips() {
            canvas.polygon(strip, rgb(ASPHALT));
        }
    }
    gore::surfaces(canvas, junctions);
    canvas.begin(Pass::Lane);
    for stretch in stretches {
        lanes(canvas, stretch);
    }
}

fn carriageways<'s, 'a>(
    stretches: &'s [Stretch<'a>],
) -> impl Iterator<Item = &'s Stretch<'a>> + use<'s, 'a> {
    stretches.iter().filter(|stretch| !is_paving(stretch.road))
}

/// Draws paths and squares, with a thin rim.
fn paving(canvas: &mut impl Painter, stretches: &[Stretch<'_>], junctions: &[&Junction]) {
    let tolerance = canvas.tolerance();
    let paths = || stretches.iter().filter(|stretch| is_paving(stretch.road));
    canvas.begin(Pass::Ground);
    for stretch in paths() {
        for side in [
            stretch.line(|s| stretch.road.edges(s).1),
            stretch.line(|s| stretch.road.edges(s).0),
        ] {
            canvas.line(&side, 2.0 * RIM, 1.5, rgb(CASING));
        }
    }
    for junction in junctions {
        let area = junction.polygon_within(tolerance);
        canvas.edge(&area, 2.0 * RIM, 1.5, rgb(CASING));
    }
    canvas.begin(Pass::Paving);
    for stretch in paths() {
        let (left, right) = (|s| stretch.road.edges(s).1, |s| stretch.road.edges(s).0);
        canvas.polygon(&stretch.band(left, right), rgb(PAVING));
        stretch.seams(canvas, left, right, PAVING);
    }
    for junction in junctions {
        canvas.polygon(&junction.polygon_within(tolerance), rgb(PAVING));
    }
}

/// Draws pavements beside carriageways and around the corners of junctions.
fn pavements(canvas: &mut impl Painter, stretches: &[Stretch<'_>], junctions: &[&Junction]) {
    canvas.begin(Pass::Pavement);
    let tolerance = canvas.tolerance();
    for stretch in carriageways(stretches) {
        for (outer, inner) in [true, false]
            .map(|left| stretch.pavement(left))
            .iter()
            .flatten()
        {
            canvas.polygon(&stretch.band(inner, outer), rgb(SIDEWALK));
            stretch.seams(canvas, inner, outer, SIDEWALK);
        }
    }
    for border in junctions.iter().flat_map(|junction| junction.borders()) {
        canvas.polygon(&border.pavement_polygon(tolerance), rgb(SIDEWALK));
    }
}

/// Draws kerbs between pavements and carriageways. They are drawn at twice their visible width, because
/// carriageways cover their inner halves. At small scales, they have the colour of the pavement and only
/// close the hairline gap.
fn kerbs(canvas: &mut impl Painter, stretches: &[Stretch<'_>], junctions: &[&Junction]) {
    canvas.begin(Pass::Kerb);
    let (color, least) = if canvas.scale() >= MIN_KERB_SCALE {
        (rgb(KERB), 2.0)
    } else {
        (rgb(SIDEWALK), SEAM)
    };
    let tolerance = canvas.tolerance();
    let mut before: Option<(RoadId, [Option<DVec2>; 2])> = None;
    for stretch in carriageways(stretches) {
        let mut ends = [None, None];
        for (side, end) in [true, false].into_iter().zip(&mut ends) {
            let Some((_, inner)) = stretch.pavement(side) else {
                continue;
            };
            let mut line = stretch.line(inner);
            *end = line.last().copied();
            // Where a lane ends at the kerb, the kerb steps inwards or outwards by the lane's width.
            let last = before.filter(|(id, _)| *id == stretch.id);
            if let Some(last) = last.and_then(|(_, ends)| ends[usize::from(!side)]) {
                line.insert(0, last);
            }
            canvas.line(&line, 2.0 * KERB_WIDTH, least, color);
        }
        before = Some((stretch.id, ends));
    }
    for border in junctions.iter().flat_map(|junction| junction.borders()) {
        let line = border.kerb_line(tolerance);
        canvas.line(&line, 2.0 * KERB_WIDTH, least, color);
    }
}

/// Whether a road is for pedestrians.
fn is_paving(road: &Road) -> bool {
    road.class == RoadClass::Path || !road.is_drivable()
}

/// Draws lanes that differ from plain carriageway.
fn lanes(canvas: &mut impl Painter, stretch: &Stretch<'_>) {
    let carriageway = |lane: &roadwright_scenario::Lane| lane.kind != LaneType::Sidewalk;
    let own = &stretch.section.lanes;
    let first = own.iter().position(carriageway).unwrap_or(own.len());
    let last = own.iter().rposition(carriageway).unwrap_or(0);
    let is_outside = |place: usize| place < first || place > last;
    for (place, lane) in own.iter().enumerate() {
        let color = match lane.kind {
            // Medians are drawn with the islands of roundabouts.
            LaneType::Driving | LaneType::Shoulder | LaneType::Median | LaneType::PaintedMedian => {
                continue;
            }
            LaneType::Bus => BUS_LANE,
            LaneType::Biking => CYCLE_LANE,
            LaneType::Parking => PARKING,
            // Pavements beside the carriageway are drawn together with it.
            LaneType::Sidewalk if is_outside(place) || is_paving(stretch.road) => continue,
            LaneType::Sidewalk => SIDEWALK,
        };
        let lane_at = |s: f64| stretch.road.lane_bands(stretch.section, s)[place];
        let left = |s: f64| lane_at(s).centre + 0.5 * lane_at(s).width;
        let right = |s: f64| lane_at(s).centre - 0.5 * lane_at(s).width;
        let is_raised = lane.kind == LaneType::Sidewalk;
        if is_raised && canvas.scale() >= MIN_KERB_SCALE {
            for side in [stretch.line(left), stretch.line(right)] {
                canvas.line(&side, 2.0 * KERB_WIDTH, 2.0, rgb(KERB));
            }
        }
        canvas.polygon(&stretch.band(left, right), rgb(color));
        stretch.seams(canvas, left, right, color);
    }
}
