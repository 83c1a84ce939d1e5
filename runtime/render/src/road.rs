//! Road surfaces and junctions.
//!
//! ```text
//!   junction |<- stretch: section 0 ->|<- section 1 ->| junction      roads are drawn by stretches
//!
//!   kerb  =================     all kerbs of a layer, then all surfaces, then lanes: where two
//!         .................     roads meet, no kerb of one lies on the surface of the other
//!   kerb  =================
//! ```

use crate::painter::{Painter, Pass};
use crate::palette::{ASPHALT, BUS_LANE, CYCLE_LANE, KERB, MEDIAN, PARKING, PAVING, SIDEWALK, rgb};
use glam::DVec2;
use roadwright_scenario::junction::{Junction, Layout};
use roadwright_scenario::{LaneSection, LaneType, Road, RoadClass, RoadId, Scenario};

/// Largest distance between a curve and what is drawn, pixels.
const TOLERANCE: f64 = 0.25;
/// Width of the kerb around a surface, m.
const KERB_WIDTH: f64 = 0.7;

/// A stretch of road with one set of lanes, between its junctions.
pub(crate) struct Stretch<'a> {
    pub(crate) road: &'a Road,
    pub(crate) section: &'a LaneSection,
    /// Distances along the road at which it is drawn.
    pub(crate) distances: Vec<f64>,
}

impl Stretch<'_> {
    /// The line at a lateral place that may change along the way.
    pub(crate) fn line(&self, lateral: impl Fn(f64) -> f64) -> Vec<DVec2> {
        let point = |&s: &f64| self.road.reference_line.point(s, lateral(s));
        self.distances.iter().map(point).collect()
    }

    /// The surface between two lateral places.
    fn band(&self, left: impl Fn(f64) -> f64, right: impl Fn(f64) -> f64) -> Vec<DVec2> {
        let mut points = self.line(left);
        points.extend(self.line(right).into_iter().rev());
        points
    }
}

/// All stretches of some roads, in their order, for a picture of `scale` pixels per metre.
pub(crate) fn stretches<'a>(
    scenario: &'a Scenario,
    layout: &Layout,
    roads: &[RoadId],
    scale: f64,
) -> Vec<Stretch<'a>> {
    let mut stretches = Vec::new();
    // Only what junctions leave of a road: their surfaces are drawn from their outlines.
    for &id in roads {
        let Some(road) = scenario.network().road(id) else {
            continue;
        };
        let Some((from, to)) = layout.remaining(id, road) else {
            continue;
        };
        for (index, section) in road.lane_sections.iter().enumerate() {
            let (from, to) = (from.max(section.s), to.min(road.section_end(index)));
            if to - from < 0.01 {
                continue;
            }
            stretches.push(Stretch {
                road,
                section,
                distances: distances(road, from, to, scale),
            });
        }
    }
    stretches
}

fn distances(road: &Road, from: f64, to: f64, scale: f64) -> Vec<f64> {
    let all = road.reference_line.sample_distances(TOLERANCE / scale, 8.0);
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
    // Tapers and shifts of lanes show between the points of a straight reference line.
    if varies {
        let count = ((to - from) / 2.0).ceil().clamp(1.0, 1e5) as usize;
        distances.extend((1..count).map(|i| from + (to - from) * i as f64 / count as f64));
        distances.sort_by(f64::total_cmp);
    }
    distances
}

/// Kerbs and surfaces of a layer: kerbs first, so that no kerb crosses a surface.
pub(crate) fn draw(canvas: &mut impl Painter, stretches: &[Stretch<'_>], junctions: &[&Junction]) {
    let areas: Vec<Vec<DVec2>> = junctions
        .iter()
        .map(|junction| junction.polygon())
        .collect();
    // Paving first: carriageways run through pedestrian areas, not under them.
    for (pass, kerb, surface) in [
        (PAVING, Pass::PavingKerb, Pass::Paving),
        (ASPHALT, Pass::Kerb, Pass::Surface),
    ] {
        canvas.begin(kerb);
        let chosen = || {
            stretches
                .iter()
                .filter(move |s| surface_color(s.road) == pass)
        };
        let areas = if pass == ASPHALT {
            areas.as_slice()
        } else {
            &[]
        };
        kerbs(canvas, chosen(), areas);
        canvas.begin(surface);
        let surfaces = chosen().map(|s| s.band(|x| s.road.edges(x).1, |x| s.road.edges(x).0));
        for surface in surfaces.chain(areas.iter().cloned()) {
            canvas.polygon(&surface, rgb(pass));
            // Closes the hairline between neighbouring anti-aliased surfaces.
            canvas.edge(&surface, 0.0, 0.6, rgb(pass));
        }
    }
    canvas.begin(Pass::Lane);
    for stretch in stretches {
        lanes(canvas, stretch);
    }
}

/// The kerbs of stretches and junctions. They are twice as wide as they show: surfaces cover their
/// inner halves.
fn kerbs<'a, 's: 'a>(
    canvas: &mut impl Painter,
    stretches: impl Iterator<Item = &'a Stretch<'s>>,
    junctions: &[Vec<DVec2>],
) {
    for area in junctions {
        canvas.edge(area, KERB_WIDTH, 1.5, rgb(KERB));
    }
    for stretch in stretches {
        // Along the sides only: a kerb across the end would show where layers meet.
        for side in [
            stretch.line(|s| stretch.road.edges(s).1),
            stretch.line(|s| stretch.road.edges(s).0),
        ] {
            canvas.line(&side, KERB_WIDTH, 1.5, None, rgb(KERB));
        }
    }
}

fn surface_color(road: &Road) -> u32 {
    if road.class == RoadClass::Path || !road.is_drivable() {
        PAVING
    } else {
        ASPHALT
    }
}

/// Lanes that are not plain carriageway.
fn lanes(canvas: &mut impl Painter, stretch: &Stretch<'_>) {
    for (place, lane) in stretch.section.lanes.iter().enumerate() {
        let color = match lane.kind {
            LaneType::Driving | LaneType::Shoulder => continue,
            LaneType::Bus => BUS_LANE,
            LaneType::Biking => CYCLE_LANE,
            LaneType::Parking => PARKING,
            LaneType::Sidewalk if surface_color(stretch.road) == PAVING => PAVING,
            LaneType::Sidewalk => SIDEWALK,
            LaneType::Median => MEDIAN,
        };
        let lane = |s: f64| stretch.road.lane_bands(stretch.section, s)[place];
        let band = stretch.band(
            |s| lane(s).centre + 0.5 * lane(s).width,
            |s| lane(s).centre - 0.5 * lane(s).width,
        );
        canvas.polygon(&band, rgb(color));
        canvas.edge(&band, 0.0, 0.6, rgb(color));
    }
}
