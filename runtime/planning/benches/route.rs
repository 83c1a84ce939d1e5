//! Routes between random places.
//!
//! `cargo bench -p roadwright-planning --bench route -- [FILE] [PAIRS]` plans between seeded pairs of lanes
//! (1,000 on old-town by default). It prints the CPU time per route and a fingerprint of all routes as one line
//! of JSON, and compares every travel time with that of a plain Dijkstra search. The plain search ignores
//! restrictions with via ways, restricted roads and the room that lane changes need. Where these matter, some
//! routes take longer than in the plain search, but none may take less time.

use cpu_time::ProcessTime;
use petgraph::algo::dijkstra;
use petgraph::graph::DiGraph;
use roadwright_agent::{PlannerView, Step};
use roadwright_geometry::math::Stream;
use roadwright_planning::RoutePlanner;
use roadwright_plugin_api::{PlannerInput, PlannerOutput};
use roadwright_scenario::file;
use roadwright_scenario::junction::{Turn, layout};
use roadwright_scenario::lane_graph::{LaneGraph, LaneletIndex, LaneletKind, NO_LANELET};
use std::path::PathBuf;

/// Position of the goals on their lanes, m. It leaves enough room to change to the goal's lane.
const GOAL_S: f64 = 20.0;

fn main() {
    // Cargo adds the argument `--bench`.
    let mut words = std::env::args().skip(1).filter(|word| word != "--bench");
    let shipped = "../../scenarios/old-town.scenario.json";
    let shipped = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(shipped);
    let path = words.next().map_or(shipped, PathBuf::from);
    let pairs = words.next().map_or(1000, |n| n.parse().expect("a number"));
    let scenario = file::load(&path).expect("a scenario");
    let layout = layout(scenario.network(), scenario.about().driving_side);
    let graph = LaneGraph::new(&scenario, &layout);
    let lanes: &[LaneletIndex] = graph.main_component();
    let mut stream = Stream::new(1, "route bench", 0);
    let mut lane = || lanes[stream.next_in(0.0, lanes.len() as f64) as usize];
    let questions: Vec<PlannerInput> = (0..pairs)
        .map(|_| PlannerInput {
            lanelet: lane().number(),
            goal_lanelet: lane().number(),
            goal_s: GOAL_S,
            may_change_first: 1,
            ..PlannerInput::default()
        })
        .collect();
    let module = RoutePlanner::entry().make();
    let view = PlannerView {
        graph: &graph,
        delays: &[],
    };
    let (mut routes, mut answers) = (Vec::new(), vec![PlannerOutput::default(); pairs]);
    let cpu = ProcessTime::now();
    module.step(
        &Step::default(),
        &view,
        &questions[..1],
        &mut routes,
        &mut answers[..1],
    );
    let first = cpu.elapsed().as_secs_f64();
    routes.clear();
    let cpu = ProcessTime::now();
    module.step(
        &Step::default(),
        &view,
        &questions,
        &mut routes,
        &mut answers,
    );
    let spent = cpu.elapsed().as_secs_f64();
    let (least, most, longer) = compare(&graph, &questions, &answers);
    println!(
        "{{\"pairs\": {pairs}, \"lanelets\": {}, \"ms_per_route\": {:.4}, \"landmarks_ms\": {:.1}, \
         \"routes\": \"{:016x}\", \"longer_than_dijkstra\": {longer}, \"at_most_longer_s\": {most:.3}}}",
        graph.lanelets().len(),
        1e3 * spent / pairs as f64,
        1e3 * first,
        fingerprint(&routes),
    );
    assert!(
        least > -SAME,
        "a route is faster than the fastest possible one: {least} s"
    );
}

/// Fingerprint of all routes (FNV-1a), which shows whether another version finds the same ones.
fn fingerprint(routes: &[LaneletIndex]) -> u64 {
    let bytes = routes.iter().flat_map(|id| id.number().to_le_bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Largest difference between times that count as equal, s.
const SAME: f64 = 1e-6;

/// Compares travel times with those of Dijkstra's algorithm. Returns the smallest and the largest excess, s,
/// and the number of routes that take longer.
fn compare(
    graph: &LaneGraph,
    questions: &[PlannerInput],
    answers: &[PlannerOutput],
) -> (f64, f64, usize) {
    let mut plain = DiGraph::<(), f64>::new();
    for _ in graph.lanelets() {
        plain.add_node(());
    }
    for (id, lanelet) in graph.numbered() {
        let turning = match lanelet.kind {
            LaneletKind::Connection { turn, .. } => match turn {
                Turn::Straight => 0.0,
                Turn::Left | Turn::Right => 1.5,
                Turn::UTurn => 6.0,
            },
            LaneletKind::Lane { .. } => 0.0,
        };
        let through = lanelet.free_time(lanelet.length()) + turning;
        let change = if lanelet.length() < 25.0 { 13.0 } else { 3.0 };
        let ahead = graph.successors(id).iter().map(|&next| (next, through));
        let aside = [lanelet.left, lanelet.right].map(|next| (next, change));
        for (next, cost) in ahead.chain(aside) {
            if next != NO_LANELET
                && graph.lanelet(next).access == roadwright_scenario::LaneAccess::All
            {
                plain.add_edge(id.number().into(), next.number().into(), cost);
            }
        }
    }
    let (mut least, mut most, mut longer) = (0.0f64, 0.0f64, 0);
    for (question, answer) in questions.iter().zip(answers) {
        if question.lanelet == question.goal_lanelet {
            continue;
        }
        let goal = question.goal_lanelet.into();
        let times = dijkstra(&plain, question.lanelet.into(), Some(goal), |e| *e.weight());
        let expected = times.get(&goal).copied().unwrap_or(0.0)
            + graph
                .lanelet(question.goal_lanelet.into())
                .free_time(GOAL_S);
        let more = answer.travel_time - expected;
        (least, most) = (least.min(more), most.max(more));
        longer += usize::from(more > SAME);
    }
    (least, most, longer)
}
