//! Planners on maps of cells.
//!
//! `cargo bench -p roadwright-planning --bench open_ground -- moving_ai FOLDER` solves the problems of the
//! Moving AI files in a folder, and `-- edits [N] [CELLS] [SEED]` repairs a plan on 1000 x 1000 cells N times.
//! Both hold each answer to what it has to be, and print CPU times as one line of JSON.

use cpu_time::ProcessTime;
use roadwright_geometry::math::Stream;
use roadwright_planning::open_ground::{
    FactorChange, GridPath, Guide, IncrementalPath, Rules, moving_ai, samples,
};
use std::path::Path;

fn main() {
    // Cargo adds `--bench`.
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
        _ => edits(number(1, 1000), number(2, 20), number(3, 1)),
    }
}

/// Some values in order.
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
    let mut start = samples::free_cell(&map, &mut stream).expect("a free cell");
    let goal = samples::free_cell(&map, &mut stream).expect("a free cell");
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
