//! Times of searches for plans, printed as CPU times of one thread.
//!
//! `cargo bench -p roadwright-moves --bench plans` plans with 250,000 nodes among walls, without and with 40 cars, with
//! exact sweeps and with the sides of the car as in the source; drives
//! 100 m from a standing start through the 210 posts of the course `forest` with 200 seeds; and makes 1,000 plans with a
//! horizon of 49 frames at random places among these posts.

use cpu_time::ThreadTime;
use roadwright_geometry::math::Stream;
use roadwright_geometry::{DVec2, Pose};
use roadwright_moves::{
    Bounded, Convex, Course, Ending, Library, Phase, Placement, Played, Preset, Question,
    StateNumber, Stop, Surroundings, SweepKind, Track, plan,
};
use std::f64::consts::FRAC_PI_2;

fn main() {
    let recorded = Preset::Large.record();
    let with = |sweep| recorded.graph.library(&recorded.clips, sweep);
    let [library, of_source] =
        [SweepKind::Exact, SweepKind::Source].map(|sweep| with(sweep).expect("a valid preset"));
    let start = recorded.graph.start_state();
    large_plans("", &library, start);
    large_plans(", sides of the source", &of_source, start);
    forest(&library, start);
    agents(&library);
}

/// Prints the number, median, 99th percentile and maximum of times, ms.
fn print(what: &str, mut times: Vec<f64>) {
    times.sort_by(f64::total_cmp);
    let at = |share: f64| 1e3 * times[((times.len() - 1) as f64 * share).round() as usize];
    println!(
        "{what}: {} plans, median {:.2} ms, 99 % {:.2} ms, most {:.2} ms",
        times.len(),
        at(0.5),
        at(0.99),
        at(1.0)
    );
}

/// Drives a course, and returns the ending and the time of each plan with the number of its nodes.
fn drive(
    library: &Library,
    start: StateNumber,
    course: &Course,
    bounded: Bounded,
) -> (Ending, Vec<(f64, u32)>) {
    let mut played = Played::new(library, course, start, bounded);
    let mut times = Vec::new();
    loop {
        let before = ThreadTime::now();
        let plan = played.plan();
        times.push((before.elapsed().as_secs_f64(), plan.nodes));
        if let Some(ending) = played.play() {
            return (ending, times);
        }
    }
}

fn large_plans(what: &str, library: &Library, start: StateNumber) {
    const NODES: u32 = 250_000;
    let bounded = Bounded {
        horizon: 400,
        limit: NODES,
        stop: Stop::AtLimit,
        phase: Phase::Masks,
    };
    for (track, cars) in [(Track::Cornered, 0), (Track::CorneredCars, 40)] {
        let mut times = Vec::new();
        for seed in 1..=3 {
            let mut course = track.course().with_seed(seed);
            course.cars.truncate(cars);
            let driven = drive(library, start, &course, bounded).1.into_iter();
            // Only searches that reach the limit.
            times.extend(driven.filter(|one| one.1 >= NODES).map(|one| one.0));
        }
        let searched = format!("250,000 nodes among walls and {cars} cars{what}");
        print(&searched, times);
    }
}

/// The posts of the course `forest`: 21 columns and 10 rows, 10 m apart, each moved by up to 4 m along both axes.
fn posts(seed: u64) -> Vec<Convex> {
    let mut draw = Stream::new(seed, "posts", 0);
    let mut posts = Vec::new();
    for column in -10..=10 {
        for row in 1..=10 {
            let moved = DVec2::new(draw.next_in(-4.0, 4.0), draw.next_in(-4.0, 4.0));
            let place = DVec2::new(f64::from(column), f64::from(row)) * 10.0 + moved;
            let corner = |x: f64, y: f64| place + DVec2::new(x, y);
            posts.push(Convex::quadrilateral([
                corner(1.0, 1.0),
                corner(-1.0, 1.0),
                corner(-1.0, -1.0),
                corner(1.0, -1.0),
            ]));
        }
    }
    posts
}

fn forest(library: &Library, start: StateNumber) {
    const SEEDS: u64 = 200;
    for (horizon, limit) in [(49, 5_000), (200, 15_000), (400, 45_000)] {
        let bounded = Bounded {
            horizon,
            limit,
            stop: Stop::AtLeaf,
            phase: Phase::Masks,
        };
        let (mut arrived, mut crashed, mut times) = (0, 0, Vec::new());
        for seed in 1..=SEEDS {
            let course = Course {
                walls: posts(seed),
                cars: Vec::new(),
                start: Pose::new(0.0, 0.0, FRAC_PI_2),
                finish: 100.0,
                seconds: 60.0,
                ..Track::Cornered.course()
            };
            let (ending, plans) = drive(library, start, &course, bounded);
            arrived += u32::from(ending == Ending::Arrived);
            crashed += u32::from(ending == Ending::Crash);
            times.extend(plans.into_iter().map(|one| one.0));
        }
        print(
            &format!(
                "forest, {horizon} frames, {limit} nodes, {arrived} of {SEEDS} arrive, {crashed} crash"
            ),
            times,
        );
    }
}

/// Plans at random places among posts, in random states.
fn agents(library: &Library) {
    const AGENTS: u32 = 1_000;
    let around = Surroundings::of(posts(1));
    let mut draw = Stream::new(1, "agents", 0);
    let bounded = Bounded {
        horizon: 49,
        limit: 250_000,
        stop: Stop::AtLeaf,
        phase: Phase::Masks,
    };
    let mut times = Vec::new();
    let (mut nodes, mut with_plan) = (0u64, 0);
    for _ in 0..AGENTS {
        let place = DVec2::new(draw.next_in(-100.0, 100.0), draw.next_in(0.0, 110.0));
        let heading = draw.next_in(-3.0, 3.0);
        let states = library.states().len() as f64;
        let state = StateNumber(draw.next_in(0.0, states) as u16);
        let before = ThreadTime::now();
        let found = plan(
            library,
            &Question {
                place: Placement::of(Pose::new(place.x, place.y, heading)),
                state,
                goals: &[DVec2::new(0.0, 1e5)],
                reach: 0.0,
                around: &around,
                bounded,
                heuristic: None,
            },
        );
        times.push(before.elapsed().as_secs_f64());
        nodes += u64::from(found.nodes);
        with_plan += u32::from(!found.moves.is_empty());
    }
    let whole: f64 = times.iter().sum();
    print(
        &format!(
            "{AGENTS} agents, 49 frames, {:.3} s altogether, {with_plan} find a move, {} nodes",
            whole, nodes
        ),
        times,
    );
}
