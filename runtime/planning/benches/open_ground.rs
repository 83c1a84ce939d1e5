//! Planners on maps of cells.
//!
//! `cargo bench -p roadwright-planning --bench open_ground -- moving_ai FOLDER` solves the problems of the
//! Moving AI files in a folder. `-- edits [N] [CELLS] [SEED]` repairs a plan on 1000 x 1000 cells N times.
//! Each of these two benchmarks checks every answer and prints CPU times as one line of JSON. `-- agents [N]
//! [STEPS] [SEED]` lets N agents drive between posts and prints the CPU times of the steps. Forecasts move in
//! each step of 1/60 s, and each agent plans six times per second.

use cpu_time::ProcessTime;
use roadwright_geometry::math::Stream;
use roadwright_geometry::oriented_box::OrientedBox;
use roadwright_geometry::{DVec2, Pose, heading_of};
use roadwright_planning::open_ground::{
    Body, CellSize, Circle, FactorChange, GridPath, Guide, Heights, HybridParameters, HybridPath,
    HybridPlan, IncrementalPath, Item, ItemId, Layer, Mobility, OpenGround, Owner, PlanEnd,
    Profile, Role, Rules, Shape, Spot, Teardrop, Trip, moving_ai, samples,
};
use std::path::Path;

fn main() {
    // Cargo adds the argument `--bench`.
    let words: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| word != "--bench")
        .collect();
    let number = |at: usize, default: u64| {
        words
            .get(at)
            .map_or(default, |word| word.parse().expect("a number"))
    };
    match words.first().map(String::as_str) {
        Some("moving_ai") => moving_ai_problems(Path::new(words.get(1).expect("a folder"))),
        Some("agents") => agents(number(1, 100), number(2, 1200), number(3, 1)),
        _ => edits(number(1, 1000), number(2, 20), number(3, 1)),
    }
}

/// Sorted values.
struct Sorted(Vec<f64>);

impl Sorted {
    fn new(mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        Self(values)
    }

    fn at(&self, share: f64) -> f64 {
        self.0[((self.0.len() - 1) as f64 * share).round() as usize]
    }

    fn mean(&self) -> f64 {
        self.0.iter().sum::<f64>() / self.0.len() as f64
    }
}

fn moving_ai_problems(folder: &Path) {
    for name in ["Berlin_0_256", "maze512-8-0", "random512-10-0"] {
        let read =
            |ending: &str| std::fs::read(folder.join(format!("{name}{ending}"))).expect(name);
        let mut map = moving_ai::read_map(&read(".map")).expect("a map");
        let problems = moving_ai::read_problems(&read(".map.scen")).expect("problems");
        for guide in [Guide::AStar, Guide::Dijkstra] {
            let mut planner = GridPath::new(Rules::MOVING_AI, guide);
            let (mut times, mut expanded) = (Vec::new(), 0);
            for problem in &problems {
                let cpu = ProcessTime::now();
                let answer = planner.find(&mut map, problem.start, problem.goal);
                times.push(cpu.elapsed().as_secs_f64() * 1e3);
                expanded += planner.expanded();
                let path = answer.path().expect("a path");
                assert!(problem.is_optimal(path), "{problem:?}: {}", path.length());
            }
            let count = problems.len();
            let times = Sorted::new(times);
            println!(
                "{{\"map\": \"{name}\", \"guide\": \"{guide:?}\", \"problems\": {count}, \"optimal\": {count}, \
                 \"median_ms\": {:.3}, \"p99_ms\": {:.3}, \"max_ms\": {:.3}, \"expanded\": {expanded}, \
                 \"ns_per_expansion\": {:.1}}}",
                times.at(0.5),
                times.at(0.99),
                times.at(1.0),
                times.mean() * count as f64 * 1e6 / expanded as f64,
            );
        }
    }
}

fn edits(count: u64, cells: u64, seed: u64) {
    let map = samples::rectangles(1000, 1000, 0.15, 40, seed).expect("a map");
    let mut stream = Stream::new(seed, "edits", 0);
    let [mut start, goal] = samples::far_cells(&map).expect("free cells");
    let rules = Rules::default();
    let mut scratch = map.clone();
    let mut a_star = GridPath::new(rules, Guide::AStar);
    let mut incremental = IncrementalPath::new(map, rules, goal);
    let first = incremental.plan(start);
    println!(
        "first: cost {:?}, expanded {}",
        first.cost(),
        incremental.expanded()
    );
    let (mut ratios, mut own, mut others) = (Vec::new(), Vec::new(), Vec::new());
    let (mut own_times, mut other_times, mut unsolved) = (Vec::new(), Vec::new(), 0);
    let mut path = first.path().cloned();
    for _ in 0..count {
        if let Some(next) = path.as_ref().and_then(|path| path.cells.get(1)) {
            start = *next;
        }
        if start == goal {
            start = samples::free_cell(&scratch, &mut stream).expect("a free cell");
        }
        let changes: Vec<FactorChange> = (0..cells)
            .map(|_| {
                let cell = samples::any_cell(&scratch, &mut stream);
                let factor = if scratch.factor_at(cell) == 0 { 16 } else { 0 };
                FactorChange { cell, factor }
            })
            .filter(|change| change.cell != start && change.cell != goal)
            .collect();
        let cpu = ProcessTime::now();
        incremental.change(&changes);
        let answer = incremental.plan(start);
        own_times.push(cpu.elapsed().as_secs_f64() * 1e3);
        let cpu = ProcessTime::now();
        for change in &changes {
            scratch.set(change.cell, change.factor);
        }
        let expected = a_star.find(&mut scratch, start, goal);
        other_times.push(cpu.elapsed().as_secs_f64() * 1e3);
        assert_eq!(answer.cost(), expected.cost());
        unsolved += u64::from(answer.cost().is_none());
        ratios.push(incremental.expanded() as f64 / a_star.expanded().max(1) as f64);
        own.push(incremental.expanded() as f64);
        others.push(a_star.expanded() as f64);
        path = answer.path().cloned();
    }
    let [ratios, own, others, own_times, other_times] =
        [ratios, own, others, own_times, other_times].map(Sorted::new);
    println!(
        "{{\"seed\": {seed}, \"edits\": {count}, \"unsolved\": {unsolved}, \
         \"d_star_lite\": {{\"mean\": {:.1}, \"p99\": {}, \"max\": {}, \"mean_ms\": {:.3}, \"p99_ms\": {:.3}}}, \
         \"a_star\": {{\"mean\": {:.1}, \"p99\": {}, \"mean_ms\": {:.3}}}, \"ratio_of_means\": {:.4}, \"p99_ratio\": {:.3}}}",
        own.mean(),
        own.at(0.99),
        own.at(1.0),
        own_times.mean(),
        own_times.at(0.99),
        others.mean(),
        others.at(0.99),
        other_times.mean(),
        own.mean() / others.mean(),
        ratios.at(0.99),
    );
}

/// Edge length of the square in which agents drive, m.
const FIELD: f64 = 400.0;
/// Speed of agents, m/s.
const SPEED: f64 = 8.0;
/// Number of steps between two plans of an agent.
const PAUSE: u64 = 10;

/// An agent that follows its plan from point to point.
struct Agent {
    planner: HybridPath,
    plan: Option<HybridPlan>,
    next: usize,
    pose: Pose,
    goal: DVec2,
    body: ItemId,
    forecast: ItemId,
}

/// The body of an agent and the ground ahead of it.
fn own_items(owner: Owner, pose: Pose) -> [Item; 2] {
    let body = Item {
        mobility: Mobility::Moves,
        owner: Some(owner),
        ..Item::obstacle(
            Shape::Box(OrientedBox::new(pose, 3.34, 1.57)),
            Heights::up_to(1.59),
        )
    };
    let drop = Teardrop {
        pose,
        length: 3.0 * SPEED,
        half_width: 0.8,
    };
    let forecast = Item {
        shape: Shape::Teardrop(drop),
        role: Role::Forecast(64),
        layer: Layer::Forecast,
        ..body.clone()
    };
    [body, forecast]
}

fn agents(count: u64, steps: u64, seed: u64) {
    let jeep = Body {
        length: 3.34,
        width: 1.57,
        height: 1.59,
        ground_clearance: 0.2,
    };
    let mut ground = OpenGround::new();
    let profile = ground.add_profile(Profile::new(jeep, CellSize::WAY_POINTS));
    let mut stream = Stream::new(seed, "agents", 0);
    let place =
        |stream: &mut Stream| DVec2::new(stream.next_in(0.0, FIELD), stream.next_in(0.0, FIELD));
    for _ in 0..400 {
        let circle = Circle {
            centre: place(&mut stream),
            radius: stream.next_in(0.5, 4.0),
        };
        let post = Item::obstacle(Shape::Circle(circle), Heights::up_to(3.0));
        ground.insert(post).expect("a post");
    }
    let mut agents: Vec<Agent> = (0..count)
        .map(|id| {
            let at = place(&mut stream);
            let pose = Pose::new(at.x, at.y, 0.0);
            let [body, forecast] = own_items(Owner(id), pose);
            Agent {
                planner: HybridPath::new(HybridParameters::default()),
                plan: None,
                next: 0,
                pose,
                goal: place(&mut stream),
                body: ground.insert(body).expect("a body"),
                forecast: ground.insert(forecast).expect("a forecast"),
            }
        })
        .collect();
    let (mut times, mut plans, mut expanded, mut arrived, mut nowhere) = (Vec::new(), 0, 0, 0, 0);
    for step in 0..steps {
        let cpu = ProcessTime::now();
        for (id, agent) in (0..).zip(&mut agents) {
            let [body, forecast] = own_items(Owner(id), agent.pose);
            ground.replace(agent.body, body).expect("a body");
            ground
                .replace(agent.forecast, forecast)
                .expect("a forecast");
        }
        for (id, agent) in (0..).zip(&mut agents) {
            if (step + id) % PAUSE != 0 {
                continue;
            }
            let trip = Trip {
                profile,
                owner: Some(Owner(id)),
                from: Spot::at(agent.pose),
                to: Spot::anyhow(agent.goal),
            };
            let plan = agent.planner.plan(&mut ground, &trip, step as f64 / 60.0);
            plans += 1;
            expanded += plan.expanded;
            match plan.end {
                PlanEnd::Goal | PlanEnd::Budget => {}
                // The random position is inside a post, or too close to other bodies.
                _ => {
                    nowhere += 1;
                    agent.goal = place(&mut stream);
                }
            }
            agent.next = 1;
            agent.plan = Some(plan);
        }
        times.push(cpu.elapsed().as_secs_f64() * 1e3);
        for agent in &mut agents {
            let Some(plan) = &agent.plan else { continue };
            let Some(target) = plan.points.get(agent.next).copied() else {
                if plan.end == PlanEnd::Goal {
                    arrived += 1;
                    agent.goal = place(&mut stream);
                }
                continue;
            };
            let ahead = target - agent.pose.position;
            let reach = SPEED / 60.0;
            if ahead.length() <= reach {
                agent.pose.position = target;
                agent.next += 1;
            } else {
                agent.pose.heading = heading_of(ahead);
                agent.pose.position += ahead.normalize() * reach;
            }
        }
    }
    let times = Sorted::new(times);
    println!(
        "{{\"seed\": {seed}, \"agents\": {count}, \"steps\": {steps}, \"plans\": {plans}, \"arrived\": {arrived}, \"nowhere\": {nowhere}, \
         \"expanded_per_plan\": {:.0}, \"mean_ms\": {:.3}, \"median_ms\": {:.3}, \"p999_ms\": {:.3}}}",
        expanded as f64 / f64::from(plans),
        times.mean(),
        times.at(0.5),
        times.at(0.999),
    );
}
