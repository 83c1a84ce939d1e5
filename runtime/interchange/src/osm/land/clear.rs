//! Keeps lanes clear of buildings.

use super::rings::{Shape, without};
use glam::DVec2;
use roadwright_geometry::centre_line::CentreLine;
use roadwright_geometry::grid_index::GridIndex;
use roadwright_geometry::{polygon, polyline, unit};
use roadwright_scenario::junction::U_TURN_RADIUS;
use roadwright_scenario::lane_graph::LaneGraph;

/// Minimum distance between buildings and the edge of a lane, m. It leaves room for mirrors and
/// doors.
const BESIDE_LANE: f64 = 0.3;
/// Minimum distance between buildings and the middle of a lane, m. At this distance, no vehicle in the lane,
/// not even a bus, treats the building as an obstacle on its path.
const BESIDE_MIDDLE: f64 = 2.7;
/// Additional clearance where a lane bends more tightly than a car can turn, as a fraction of the difference
/// between the radii. Cars swing wide there. At a right angle, the fraction would be 0.41.
const WIDE: f64 = 0.5;
/// Largest deviation of a stretch that still counts as straight, m.
const BENT: f64 = 0.05;
/// Maximum length of a stretch, m.
const LONGEST: f64 = 20.0;
/// Number of corners of the circles that are cut out at the ends of stretches.
const CORNERS: usize = 16;

/// A straight stretch of the middle of a lane, with the required clearance from buildings, m.
#[derive(Clone, Copy)]
struct Stretch {
    from: DVec2,
    to: DVec2,
    clearance: f64,
}

/// All lanes, indexed by position.
pub(super) struct Lanes {
    stretches: Vec<Stretch>,
    middles: GridIndex,
    /// Largest clearance of any stretch, m.
    reach: f64,
}

impl Lanes {
    /// Creates the index of the lanes of a graph, including those on bridges and in tunnels.
    pub(super) fn new(graph: &LaneGraph) -> Self {
        let mut stretches = Vec::new();
        for (id, lanelet) in graph.numbered() {
            let line = graph.line(id);
            let beside = (0.5 * lanelet.width + BESIDE_LANE).max(BESIDE_MIDDLE);
            let clearance = beside + WIDE * (U_TURN_RADIUS - tightest_radius(line)).max(0.0) + BENT;
            let points: Vec<DVec2> = line.points().collect();
            let pairs = straight(&points).into_iter();
            stretches.extend(pairs.map(|(from, to)| Stretch {
                from,
                to,
                clearance,
            }));
        }
        let middle = |stretch: &Stretch| 0.5 * (stretch.from + stretch.to);
        let reach =
            |stretch: &Stretch| 0.5 * (stretch.to - stretch.from).length() + stretch.clearance;
        let reach = stretches.iter().map(reach).fold(0.0, f64::max);
        let places: Vec<DVec2> = stretches.iter().map(middle).collect();
        let mut middles = GridIndex::new();
        middles.rebuild(&places, 20.0);
        Self {
            stretches,
            middles,
            reach,
        }
    }

    /// Returns what remains of a building that is too close to lanes; `None` if it is far enough away.
    pub(super) fn cleared(&self, shape: &Shape) -> Option<Vec<Shape>> {
        let (low, high) = polygon::bounds(&shape[0])?;
        let (centre, half) = (0.5 * (low + high), 0.5 * (high - low));
        let mut near = Vec::new();
        self.middles
            .for_each_within(centre, half.length() + self.reach, |index, _| {
                near.push(index)
            });
        // Sorted by lane instead of by cell.
        near.sort_unstable();
        let stretches = near.iter().map(|index| self.stretches[*index as usize]);
        let covers: Vec<Vec<DVec2>> = stretches
            .filter(|stretch| stretch.reaches(shape, low, high))
            .map(|stretch| stretch.cover())
            .collect();
        (!covers.is_empty()).then(|| without(shape, &covers))
    }
}

/// Returns the radius of the tightest bend of a line, m.
fn tightest_radius(line: CentreLine<'_>) -> f64 {
    let places = (0..=line.length().ceil() as usize).map(|i| i as f64);
    let bends = places.map(|s| line.curvature(s, 1.0).abs());
    1.0 / bends.fold(0.0, f64::max).max(1e-9)
}

/// Simplifies a line to a few straight stretches, because cutting along them is much faster than
/// along one stretch per metre.
fn straight(points: &[DVec2]) -> Vec<(DVec2, DVec2)> {
    let cuts = polyline::cuts(points, BENT, LONGEST);
    let pairs = cuts.windows(2);
    pairs
        .map(|pair| (points[pair[0]], points[pair[1]]))
        .collect()
}

impl Stretch {
    /// Whether a building with the given box is too close.
    fn reaches(&self, shape: &Shape, low: DVec2, high: DVec2) -> bool {
        let (least, most) = (self.from.min(self.to), self.from.max(self.to));
        if (least - self.clearance).cmpgt(high).any() || (most + self.clearance).cmplt(low).any() {
            return false;
        }
        let inside = shape
            .iter()
            .filter(|ring| polygon::contains(ring, self.from));
        inside.count() % 2 == 1
            || shape
                .iter()
                .flat_map(|ring| polygon::edges(ring))
                .any(|(a, b)| {
                    polygon::segments_cross(a, b, self.from, self.to)
                        || self.is_near(a)
                        || distance(a, b, self.from) < self.clearance
                        || distance(a, b, self.to) < self.clearance
                })
    }

    fn is_near(&self, point: DVec2) -> bool {
        distance(self.from, self.to, point) < self.clearance
    }

    /// Returns the area that has to be clear, as a counter-clockwise ring: the stadium of all points within
    /// the clearance of the stretch.
    fn cover(&self) -> Vec<DVec2> {
        let step = std::f64::consts::TAU / CORNERS as f64;
        // The corners are placed so that the polygon contains the round end.
        let radius = self.clearance / roadwright_geometry::math::cos(0.5 * step);
        let circle = |centre: DVec2| {
            (0..CORNERS).map(move |i| centre + radius * unit(step * (i as f64 + 0.5)))
        };
        let all: Vec<DVec2> = circle(self.from).chain(circle(self.to)).collect();
        polygon::convex_hull(&all)
    }
}

fn distance(a: DVec2, b: DVec2, point: DVec2) -> f64 {
    (polygon::closest_on_segment(a, b, point) - point).length()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn straight_stretches_follow_their_line() {
        let line: Vec<DVec2> = (0..=50).map(|i| DVec2::new(f64::from(i), 0.0)).collect();
        assert_eq!(straight(&line).len(), 3);
        let bend: Vec<DVec2> = (0..=40).map(|i| 12.0 * unit(f64::from(i) * 0.04)).collect();
        let pieces = straight(&bend);
        assert!(pieces.len() > 3 && pieces.len() < 20, "{}", pieces.len());
        assert!(pieces.windows(2).all(|pair| pair[0].1 == pair[1].0));
        let miss = |p: &DVec2| {
            let all = pieces.iter().map(|(a, b)| distance(*a, *b, *p));
            all.fold(f64::INFINITY, f64::min)
        };
        assert!(bend.iter().all(|p| miss(p) <= BENT));
        assert!(straight(&line[..1]).is_empty());
    }
}
