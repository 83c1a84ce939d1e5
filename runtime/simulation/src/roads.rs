//! The road network as the step needs it: lanelets, speeds in bends, and which paths conflict.

use roadwright_geometry::math::wrap_angle;
use roadwright_scenario::Scenario;
use roadwright_scenario::junction::{ConnectingPath, Layout, layout};
use roadwright_scenario::lane_graph::{LaneGraph, Lanelet, LaneletId, LaneletKind};

/// Comfortable lateral acceleration in bends, m/s^2.
const LATERAL_ACCELERATION: f64 = 2.5;
/// Braking that speed profiles are planned with, m/s^2.
pub(crate) const PROFILE_BRAKING: f64 = 1.8;
/// Slowest speed that a bend asks for, m/s.
const SLOWEST_BEND: f64 = 2.0;
/// Paths whose centre lines come closer than this cannot be driven at once, m: the width of a
/// wide car or narrow bus and a margin.
const CLEARANCE: f64 = 2.6;

/// Everything about roads that does not change during a run.
pub(crate) struct Roads {
    pub(crate) graph: LaneGraph,
    /// Speed that the road allows at each point of each lanelet's centre line, m/s.
    profiles: Vec<Vec<f32>>,
    /// Conflicts of each junction.
    conflicts: Vec<Conflicts>,
}

/// Which paths of a junction conflict.
#[derive(Debug, Clone, Default)]
struct Conflicts {
    paths: usize,
    /// Row by row: path i conflicts with path j.
    table: Vec<bool>,
    /// Whether a path conflicts with any other.
    any: Vec<bool>,
}

impl Roads {
    pub(crate) fn new(scenario: &Scenario) -> Self {
        let layout = layout(scenario.network(), scenario.about().driving_side);
        let graph = LaneGraph::new(scenario, &layout);
        let profiles = graph.lanelets().iter().map(speed_profile).collect();
        let conflicts = conflicts(&graph, &layout);
        Self {
            graph,
            profiles,
            conflicts,
        }
    }

    #[inline]
    pub(crate) fn lanelet(&self, id: LaneletId) -> &Lanelet {
        self.graph.lanelet(id)
    }

    /// Speed that limit and bends allow at `s` of a lanelet, m/s.
    #[inline]
    pub(crate) fn road_speed(&self, id: LaneletId, s: f64) -> f64 {
        let profile = &self.profiles[id as usize];
        let last = profile.len() - 1;
        let share = s / self.lanelet(id).length() * last as f64;
        f64::from(profile[(share.max(0.0) as usize).min(last)])
    }

    /// Junction and path of a connection that others conflict with.
    #[inline]
    pub(crate) fn contested(&self, id: LaneletId) -> Option<(u32, u32)> {
        match self.lanelet(id).kind {
            LaneletKind::Connection { junction, path, .. } => {
                let contested = self.conflicts[junction as usize].any[path as usize];
                contested.then_some((junction, path))
            }
            LaneletKind::Lane { .. } => None,
        }
    }

    /// Whether two paths of a junction conflict.
    #[inline]
    pub(crate) fn in_conflict(&self, junction: u32, a: u32, b: u32) -> bool {
        let conflicts = &self.conflicts[junction as usize];
        conflicts.table[a as usize * conflicts.paths + b as usize]
    }

    pub(crate) fn junction_count(&self) -> usize {
        self.conflicts.len()
    }
}

/// Speed at each point: the limit, less in bends, less before bends so that gentle braking does.
fn speed_profile(lanelet: &Lanelet) -> Vec<f32> {
    let points = lanelet.line.points().len();
    let spacing = lanelet.length() / (points - 1) as f64;
    let heading = |i: usize| lanelet.line.heading(i as f64 * spacing);
    let mut speeds: Vec<f64> = (0..points)
        .map(|i| {
            // Over about six metres, so that a vertex of a traced line does not count as a bend.
            let reach = ((3.0 / spacing) as usize).max(1);
            let (from, to) = (i.saturating_sub(reach), (i + reach).min(points - 1));
            let turn = wrap_angle(heading(to) - heading(from)).abs();
            let curvature = turn / ((to - from) as f64 * spacing).max(1e-9);
            let bend = (LATERAL_ACCELERATION / curvature.max(1e-6)).sqrt();
            lanelet.speed_limit.min(bend.max(SLOWEST_BEND))
        })
        .collect();
    for i in (0..points - 1).rev() {
        let reachable = (speeds[i + 1] * speeds[i + 1] + 2.0 * PROFILE_BRAKING * spacing).sqrt();
        speeds[i] = speeds[i].min(reachable);
    }
    speeds.into_iter().map(|speed| speed as f32).collect()
}

fn conflicts(graph: &LaneGraph, layout: &Layout) -> Vec<Conflicts> {
    let mut lanelets: Vec<Vec<Option<&Lanelet>>> = layout
        .junctions
        .iter()
        .map(|junction| vec![None; junction.paths.len()])
        .collect();
    for lanelet in graph.lanelets() {
        if let LaneletKind::Connection { junction, path, .. } = lanelet.kind {
            lanelets[junction as usize][path as usize] = Some(lanelet);
        }
    }
    layout
        .junctions
        .iter()
        .zip(&lanelets)
        .map(|(junction, lanelets)| junction_conflicts(&junction.paths, lanelets))
        .collect()
}

fn junction_conflicts(paths: &[ConnectingPath], lanelets: &[Option<&Lanelet>]) -> Conflicts {
    let n = paths.len();
    let mut table = vec![false; n * n];
    for i in 0..n {
        for j in 0..i {
            // From one lane, vehicles follow each other; into one lane they must take turns.
            let conflict = if paths[i].from == paths[j].from {
                false
            } else if paths[i].to == paths[j].to {
                true
            } else {
                match (lanelets[i], lanelets[j]) {
                    (Some(a), Some(b)) => too_close(a, b),
                    _ => false,
                }
            };
            table[i * n + j] = conflict;
            table[j * n + i] = conflict;
        }
    }
    let any = (0..n)
        .map(|i| table[i * n..(i + 1) * n].contains(&true))
        .collect();
    Conflicts {
        paths: n,
        table,
        any,
    }
}

/// Whether two centre lines come closer than the clearance. Points are about a metre apart, which
/// the clearance is lengthened for.
fn too_close(a: &Lanelet, b: &Lanelet) -> bool {
    let limit = CLEARANCE * CLEARANCE + 0.25;
    a.line.points().iter().any(|p| {
        b.line
            .points()
            .iter()
            .any(|q| (*p - *q).length_squared() < limit)
    })
}
