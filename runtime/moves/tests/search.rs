//! The search of route trees: its rules, and the comparison with a plain search.

use proptest::prelude::*;
use roadwright_geometry::math::Stream;
use roadwright_geometry::{DVec2, Pose};
use roadwright_moves::{
    Bounded, BranchOutcome, Convex, Heuristic, HeuristicGoal, Library, MoveNumber, Mover, Phase,
    Placement, Plan, PlanEnd, Played, Preset, Question, StateNumber, Stop, Surroundings, SweepKind,
    Track, plan, plan_plainly, plan_with_tree,
};
use std::sync::LazyLock;

static FIVE: LazyLock<Library> = LazyLock::new(|| library(Preset::Five));
static SEVEN: LazyLock<Library> = LazyLock::new(|| library(Preset::Seven));
static LARGE: LazyLock<Library> = LazyLock::new(|| library(Preset::Large));

fn library(preset: Preset) -> Library {
    let recorded = preset.record();
    recorded
        .graph
        .library(&recorded.clips, SweepKind::Exact)
        .unwrap()
}

const GOAL: DVec2 = DVec2::new(0.0, 100_000.0);
const NORTH: f64 = std::f64::consts::FRAC_PI_2;

fn bounded(horizon: u32, limit: u32) -> Bounded {
    Bounded {
        horizon,
        limit,
        stop: Stop::AtLimit,
        phase: Phase::Masks,
    }
}

fn ask<'a>(around: &'a Surroundings, bounded: Bounded) -> Question<'a> {
    Question {
        place: Placement::of(Pose::new(0.0, 0.0, NORTH)),
        state: StateNumber(0),
        goals: &[GOAL],
        reach: 0.0,
        around,
        bounded,
        heuristic: None,
    }
}

#[test]
fn horizons_have_the_depths_that_the_source_prints() {
    let around = Surroundings::of(Vec::new());
    for (frames, depth) in [
        (24, 1),
        (49, 2),
        (74, 3),
        (99, 4),
        (124, 5),
        (149, 6),
        (299, 12),
    ] {
        let answer = plan(&FIVE, &ask(&around, bounded(frames, 50_000)));
        assert_eq!(answer.moves.len(), depth, "{frames}");
        assert_eq!(answer.end, PlanEnd::Horizon);
    }
    // A move that ends exactly at the horizon counts as crossing it.
    assert_eq!(
        plan(&FIVE, &ask(&around, bounded(25, 50_000))).moves.len(),
        1
    );
    assert_eq!(
        plan(&FIVE, &ask(&around, bounded(26, 50_000))).moves.len(),
        2
    );
}

#[test]
fn a_whole_tree_has_the_nodes_of_the_source() {
    let around = Surroundings::of(Vec::new());
    for (frames, nodes) in [(24, 5), (49, 30), (74, 155), (99, 780), (124, 3905)] {
        let answer = plan(&FIVE, &ask(&around, bounded(frames, 1_000_000)));
        assert_eq!((answer.nodes, answer.tested), (nodes, nodes), "{frames}");
    }
}

#[test]
fn the_limit_counts_nodes_put_into_the_list() {
    let around = Surroundings::of(Vec::new());
    let answer = plan(&FIVE, &ask(&around, bounded(299, 1000)));
    // The last expansion goes beyond the limit, as in the source.
    assert_eq!(answer.nodes, 1000);
    assert!(answer.tested < 300, "{}", answer.tested);
    // Nodes that collide are counted as well.
    let walls = Surroundings::of(vec![Convex::line(
        DVec2::new(-50.0, 5.0),
        DVec2::new(50.0, 5.0),
    )]);
    let answer = plan(&FIVE, &ask(&walls, bounded(299, 1000)));
    assert_eq!((answer.nodes, answer.tested), (5, 5));
    assert!(matches!(answer.end, PlanEnd::NoPath { obstacle: Some(_) }));
    assert!(answer.moves.is_empty());
}

#[test]
fn a_recorded_tree_has_each_branch_once_and_the_tested_ones_first() {
    let around = Surroundings::of(vec![Convex::line(
        DVec2::new(-50.0, 60.0),
        DVec2::new(5.0, 60.0),
    )]);
    let question = ask(&around, bounded(99, 300));
    let (answer, tree) = plan_with_tree(&FIVE, &question);
    assert_eq!(answer, plan(&FIVE, &question));
    assert_eq!(tree.branches.len(), answer.nodes as usize);
    let (tested, rest) = tree.branches.split_at(answer.tested as usize);
    let count = |outcome| tested.iter().filter(|one| one.outcome == outcome).count();
    let counts = [BranchOutcome::Free, BranchOutcome::Blocked].map(count);
    assert!(counts[0] > 0 && counts[1] > 0, "{counts:?}");
    assert_eq!(counts[0] + counts[1], tested.len());
    assert!(!rest.is_empty());
    assert!(
        rest.iter()
            .all(|one| one.outcome == BranchOutcome::Untested)
    );
    // The first branches begin where the vehicle is.
    assert_eq!(tree.branches[0].place, question.place);
}

#[test]
fn straight_ahead_is_best_on_free_ground() {
    let around = Surroundings::of(Vec::new());
    let answer = plan(&FIVE, &ask(&around, bounded(149, 15_000)));
    let names: Vec<&str> = answer
        .moves
        .iter()
        .map(|&one| FIVE.get(one).name.as_str())
        .collect();
    assert_eq!(names, ["straight"; 6]);
}

#[test]
fn the_latest_free_node_wins_if_the_limit_comes_first() {
    let around = Surroundings::of(Vec::new());
    let answer = plan(&SEVEN, &ask(&around, bounded(299, 50)));
    assert_eq!(answer.end, PlanEnd::Limit);
    assert!(!answer.moves.is_empty() && answer.moves.len() < 12);
}

#[test]
fn a_blocked_corridor_is_driven_to_its_end() {
    // Walls on both sides, and one across the track after 75 m.
    let line = |from: [f64; 2], to: [f64; 2]| Convex::line(DVec2::from(from), DVec2::from(to));
    let around = Surroundings::of(vec![
        line([-3.0, -10.0], [-3.0, 75.0]),
        line([3.0, -10.0], [3.0, 75.0]),
        line([-3.0, 75.0], [3.0, 75.0]),
    ]);
    let answer = plan(&FIVE, &ask(&around, bounded(149, 15_000)));
    assert_eq!(answer.end, PlanEnd::Blocked);
    assert_eq!(answer.moves.len(), 2);
}

/// Creates random walls, posts and cars around the start.
fn surroundings(seed: u64) -> Surroundings {
    let mut draw = Stream::new(seed, "surroundings", 0);
    let mut point = |reach: f64| {
        DVec2::new(
            draw.next_in(-reach, reach),
            draw.next_in(-10.0, 1.5 * reach),
        )
    };
    let mut fixed = Vec::new();
    for _ in 0..25 {
        let from = point(60.0);
        fixed.push(Convex::line(from, from + 0.2 * point(60.0)));
        let from = point(60.0);
        let edges = [
            DVec2::new(0.5, 0.0),
            DVec2::new(0.5, 0.5),
            DVec2::new(0.0, 0.5),
        ];
        let [b, c, d] = edges.map(|edge| from + edge);
        fixed.push(Convex::quadrilateral([from, b, c, d]));
    }
    let movers = (0..10).map(|_| {
        let from = point(60.0);
        let edges = [
            DVec2::new(4.0, 1.0),
            DVec2::new(3.5, 2.8),
            DVec2::new(-0.5, 1.8),
        ];
        let [b, c, d] = edges.map(|edge| from + edge);
        Mover {
            outline: Convex::quadrilateral([from, b, c, d]),
            velocity: 0.3 * point(60.0),
        }
    });
    let movers = movers.collect();
    let mut around = Surroundings::of(fixed);
    around.set_movers(movers);
    around
}

/// Returns the parts of a plan that have to be bit-identical.
fn essence(plan: &Plan) -> (Plan, u32) {
    (plan.clone(), plan.tested)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn the_plan_is_that_of_a_plain_search(
        seed in 0u64..1_000_000,
        horizon in 20u32..160,
        limit in 20u32..1500,
        which in 0usize..3,
    ) {
        let around = surroundings(seed);
        let (library, states) = match which {
            0 => (&*FIVE, 1),
            1 => (&*SEVEN, 1),
            _ => (&*LARGE, 7),
        };
        for (stop, phase) in [
            (Stop::AtLimit, Phase::Masks),
            (Stop::AtLeaf, Phase::Masks),
            (Stop::AtLimit, Phase::Broad),
        ] {
            // Some goals are near, so that moves pass them.
            let near = DVec2::new((seed % 40) as f64 - 20.0, 60.0);
            let (goals, reach) = match seed % 3 {
                0 => (vec![near], 6.0),
                1 => (vec![near, DVec2::new(0.0, 120.0), GOAL], 6.0),
                _ => (vec![GOAL], 0.0),
            };
            let question = Question {
                state: StateNumber((seed % states) as u16),
                goals: &goals,
                reach,
                ..ask(&around, Bounded { stop, phase, ..bounded(horizon, limit) })
            };
            let fast = plan(library, &question);
            let plain = plan_plainly(library, &question);
            prop_assert_eq!(essence(&fast), essence(&plain));
        }
    }

    #[test]
    fn the_first_free_leaf_is_the_best(seed in 0u64..1_000_000, horizon in 20u32..130) {
        let around = surroundings(seed);
        let long = plan(&SEVEN, &ask(&around, bounded(horizon, 6000)));
        let short = Bounded { stop: Stop::AtLeaf, ..bounded(horizon, 6000) };
        let short = plan(&SEVEN, &ask(&around, short));
        prop_assert_eq!(&long.moves, &short.moves);
        prop_assert_eq!(long.nodes_to_leaf, short.nodes_to_leaf);
        prop_assert!(short.nodes <= long.nodes);
    }

    #[test]
    fn the_heuristic_with_detours_gives_the_same_plan(
        seed in 0u64..1_000_000,
        horizon in 20u32..130,
        is_large: bool,
    ) {
        let around = surroundings(seed);
        let library = if is_large { &*LARGE } else { &*FIVE };
        let near = [DVec2::new((seed % 40) as f64 - 20.0, 60.0)];
        let (goals, reach) = match seed % 2 {
            0 => (&near[..], 6.0),
            _ => (&[GOAL][..], 0.0),
        };
        let goal = HeuristicGoal { place: goals[0], reach };
        let heuristic = Heuristic::of(&around, library, horizon, goal);
        let bounded = Bounded { stop: Stop::AtLeaf, ..bounded(horizon, 1_000_000) };
        let state = match is_large {
            true => StateNumber((seed % 7) as u16),
            false => StateNumber(0),
        };
        let plain = Question { state, goals, reach, ..ask(&around, bounded) };
        let guided = Question { heuristic: heuristic.as_ref(), ..plain };
        prop_assert!(guided.heuristic.is_some());
        let [plain, guided] = [plain, guided].map(|question| plan(library, &question));
        prop_assert_eq!(plain.f, guided.f);
        prop_assert_eq!(plain.end, guided.end);
        prop_assert_eq!(plain.moves.len(), guided.moves.len());
        // The moves may differ where several routes are equally good.
    }

    #[test]
    fn plans_touch_nothing_and_follow_the_graph(seed in 0u64..1_000_000) {
        let around = surroundings(seed);
        let question = ask(&around, bounded(149, 3000));
        let answer = plan(&LARGE, &question);
        let mut state = question.state;
        for &number in &answer.moves {
            let one = LARGE.get(number);
            prop_assert_eq!(one.from, state);
            state = one.to;
        }
    }
}

/// Returns the input of a search that starts in the state Fast. Goals are reached within 5 m.
fn towards<'a>(around: &'a Surroundings, goals: &'a [DVec2]) -> Question<'a> {
    Question {
        goals,
        reach: 5.0,
        state: StateNumber(6),
        ..ask(
            around,
            Bounded {
                stop: Stop::AtLeaf,
                ..bounded(400, 20_000)
            },
        )
    }
}

/// Returns the smallest distance from a place to a plan of the large tree, m.
fn nearest(goals: &[DVec2], place: DVec2) -> f64 {
    let around = Surroundings::of(Vec::new());
    let plan = plan(&LARGE, &towards(&around, goals));
    assert_eq!(plan.end, PlanEnd::Horizon);
    let mut begin = Placement::of(Pose::new(0.0, 0.0, NORTH));
    let mut nearest = f64::INFINITY;
    for number in plan.moves {
        let one = LARGE.get(number);
        for frame in 0..one.frames.len() {
            let there = one.frame_at(&begin, frame).pose.position;
            nearest = nearest.min((there - place).length());
        }
        begin = begin.then(&one.placement(one.frames.len() - 1));
    }
    nearest
}

#[test]
fn goals_move_on_once_they_are_passed() {
    // The first goal is beside the line to the second one.
    let goals = [DVec2::new(25.0, 80.0), DVec2::new(0.0, 160.0)];
    assert!(nearest(&goals, goals[0]) < 5.0);
    assert!(nearest(&goals, goals[1]) < 5.0);
    assert!(nearest(&goals[1..], goals[0]) > 10.0);
    // A plain search finds the same plan.
    let around = Surroundings::of(Vec::new());
    let question = towards(&around, &goals);
    assert_eq!(
        plan(&LARGE, &question).moves,
        plan_plainly(&LARGE, &question).moves
    );
}

/// The first moves of a drive on the cornered track.
struct FirstMoves {
    made: Vec<MoveNumber>,
    /// f of each plan.
    f: Vec<f64>,
    /// Nodes of all plans until their first leaf.
    nodes: u64,
}

fn first_moves(library: &Library, frames: u32, detours: bool) -> FirstMoves {
    let course = Track::Cornered.course().with_seed(3);
    let bounded = Bounded {
        stop: Stop::AtLeaf,
        ..bounded(frames, 1_000_000)
    };
    let mut played = Played::new(library, &course, StateNumber(0), bounded);
    if detours {
        played = played.with_detours();
    }
    let mut f = Vec::new();
    for _ in 0..12 {
        f.push(played.plan().f);
        assert_eq!(played.play(), None);
    }
    FirstMoves {
        made: played.made,
        f,
        nodes: played.figures.nodes,
    }
}

#[test]
fn the_heuristic_with_detours_halves_the_nodes_on_the_cornered_track() {
    let plain = first_moves(&LARGE, 200, false);
    let guided = first_moves(&LARGE, 200, true);
    assert_eq!(plain.made, guided.made);
    assert_eq!(plain.f, guided.f);
    assert!(2 * guided.nodes <= plain.nodes);
    println!("{} {}", plain.nodes, guided.nodes);
}
