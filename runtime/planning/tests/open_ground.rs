//! Planners on maps of cells. All of them find exactly the same costs.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use roadwright_geometry::math::Stream;
use roadwright_planning::open_ground::{
    Cell, Corners, FactorChange, FlowField, GridMap, GridPath, Guide, IncrementalPath, Rules,
    StepCosts, moving_ai, samples,
};
use std::path::PathBuf;

/// Returns all combinations of rules.
fn all_rules() -> impl Iterator<Item = Rules> {
    let corners = [Corners::Keep, Corners::Cut];
    corners
        .into_iter()
        .flat_map(|corners| StepCosts::ALL.map(|costs| Rules { costs, corners }))
}

/// Creates a map with obstacles and, if `is_hilly`, with many different factors.
fn random_map(seed: u64, is_hilly: bool) -> GridMap {
    let mut stream = Stream::new(seed, "map", 0);
    let (columns, rows) = (
        20 + stream.next_index(50) as u32,
        20 + stream.next_index(50) as u32,
    );
    let share = stream.next_in(0.1, 0.45);
    let mut map = samples::rectangles(columns, rows, share, 6, seed).unwrap();
    if is_hilly {
        for _ in 0..columns * rows / 2 {
            let cell = samples::any_cell(&map, &mut stream);
            if map.factor_at(cell) > 0 {
                let factor = [8, 12, 16, 40, 64, 900, 65_535][stream.next_index(7)];
                map.set(cell, factor);
            }
        }
    }
    map
}

/// Returns the sum of the costs of the steps of a path, computed independently.
fn cost_of(map: &GridMap, rules: Rules, cells: &[Cell]) -> u64 {
    let steps = cells.windows(2).map(|pair| {
        let (a, b) = (pair[0], pair[1]);
        let distance = a.distance(b);
        assert_eq!(distance.columns.max(distance.rows), 1, "{a:?} {b:?}");
        let is_diagonal = distance.columns == distance.rows;
        if is_diagonal && rules.corners == Corners::Keep {
            assert!(map.factor_at(Cell::new(a.x, b.y)) > 0);
            assert!(map.factor_at(Cell::new(b.x, a.y)) > 0);
        }
        let length = if is_diagonal {
            rules.costs.diagonal()
        } else {
            rules.costs.straight()
        };
        assert!(map.factor_at(a) > 0 && map.factor_at(b) > 0);
        length * u64::from(map.factor_at(a) + map.factor_at(b))
    });
    steps.sum()
}

#[test]
fn a_star_costs_as_much_as_dijkstra() {
    for seed in 0..60 {
        let mut map = random_map(seed, seed % 2 == 1);
        let mut stream = Stream::new(seed, "problems", 0);
        for rules in all_rules() {
            let mut dijkstra = GridPath::new(rules, Guide::Dijkstra);
            let mut a_star = GridPath::new(rules, Guide::AStar);
            for _ in 0..8 {
                let start = samples::free_cell(&map, &mut stream).unwrap();
                let goal = samples::free_cell(&map, &mut stream).unwrap();
                let plain = dijkstra.find(&mut map, start, goal);
                let led = a_star.find(&mut map, start, goal);
                assert_eq!(plain.cost(), led.cost(), "seed {seed}, {rules:?}");
                for answer in [&plain, &led] {
                    if let Some(path) = answer.path() {
                        assert_eq!(path.cells.first(), Some(&start));
                        assert_eq!(path.cells.last(), Some(&goal));
                        assert_eq!(cost_of(&map, rules, &path.cells), path.cost);
                    }
                }
            }
        }
    }
}

#[test]
fn flow_fields_by_sweeps_and_by_search_are_equal() {
    for seed in 0..20 {
        let mut map = random_map(seed, seed % 2 == 1);
        let mut stream = Stream::new(seed, "goals", 0);
        let goal = samples::free_cell(&map, &mut stream).unwrap();
        for rules in all_rules() {
            let mut swept = FlowField::by_sweeps(&mut map, rules, goal);
            let searched = FlowField::by_search(&mut map, rules, goal);
            assert_eq!(swept, searched);
            let mut planner = GridPath::new(rules, Guide::AStar);
            for _ in 0..10 {
                let start = samples::free_cell(&map, &mut stream).unwrap();
                let path = swept.path_from(start);
                let cost = path.as_ref().map(|path| path.cost);
                assert_eq!(cost, planner.find(&mut map, start, goal).cost());
                if let Some(path) = path {
                    assert_eq!(cost_of(&map, rules, &path.cells), path.cost);
                    assert_eq!(path.cells.last(), Some(&goal));
                }
            }
        }
    }
}

/// Edits a map at random while the start moves along its path or jumps, and compares the costs of D* Lite
/// with those of A*.
fn incremental_is_exact(seed: u64, edits: usize) {
    let rules = all_rules().nth(seed as usize % 4).unwrap();
    let is_hilly = seed.is_multiple_of(3);
    let mut stream = Stream::new(seed, "edits", 0);
    let map = random_map(seed, is_hilly);
    let mut goal = samples::free_cell(&map, &mut stream).unwrap();
    let mut start = samples::free_cell(&map, &mut stream).unwrap();
    let mut incremental = IncrementalPath::new(map, rules, goal);
    let mut a_star = GridPath::new(rules, Guide::AStar);
    for edit in 0..edits {
        let count = 1 + stream.next_index(4);
        let changes: Vec<FactorChange> = (0..count)
            .map(|_| FactorChange {
                cell: samples::any_cell(incremental.map(), &mut stream),
                factor: match stream.next_index(4) {
                    0 | 1 => 0,
                    2 => 16,
                    _ if is_hilly => [8, 12, 40, 65_535][stream.next_index(4)],
                    _ => 16,
                },
            })
            .collect();
        incremental.change(&changes);
        if stream.next_index(100) == 0 {
            goal = samples::any_cell(incremental.map(), &mut stream);
            incremental.set_goal(goal);
        }
        let answer = incremental.plan(start);
        let mut map = incremental.map().clone();
        let expected = a_star.find(&mut map, start, goal);
        assert_eq!(answer.cost(), expected.cost(), "seed {seed}, edit {edit}");
        if let Some(path) = answer.path() {
            assert_eq!(cost_of(&map, rules, &path.cells), path.cost);
            assert_eq!(path.cells.first(), Some(&start));
            assert_eq!(path.cells.last(), Some(&goal));
        }
        start = match (answer.path(), stream.next_index(20)) {
            (_, 0) | (None, _) => samples::any_cell(&map, &mut stream),
            // Along the path, sometimes by several cells at once.
            (Some(path), step) => path.cells[(step / 5).min(path.cells.len() - 1)],
        };
    }
}

#[test]
fn d_star_lite_equals_a_star_after_each_edit() {
    for seed in 0..20 {
        incremental_is_exact(seed, 50);
    }
}

#[test]
#[ignore = "ten times the edits of the ordinary test"]
fn d_star_lite_equals_a_star_after_each_of_many_edits() {
    for seed in 1000..1040 {
        incremental_is_exact(seed, 250);
    }
}

/// Tests that need data from outside the repository.
mod real_data {
    use super::*;

    #[test]
    #[ignore = "set ROADWRIGHT_TEST_DATA"]
    fn problems_of_moving_ai_are_solved_optimally() {
        let folder = std::env::var_os("ROADWRIGHT_TEST_DATA").expect("ROADWRIGHT_TEST_DATA");
        let folder = PathBuf::from(folder).join("movingai");
        let mut solved = 0;
        for name in ["Berlin_0_256", "maze512-8-0", "random512-10-0"] {
            let read =
                |ending: &str| std::fs::read(folder.join(format!("{name}{ending}"))).unwrap();
            let mut map = moving_ai::read_map(&read(".map")).unwrap();
            let problems = moving_ai::read_problems(&read(".map.scen")).unwrap();
            let mut planner = GridPath::new(Rules::MOVING_AI, Guide::AStar);
            for problem in problems {
                let answer = planner.find(&mut map, problem.start, problem.goal);
                let path = answer.path().expect("a path");
                assert!(problem.is_optimal(path), "{problem:?}: {}", path.length());
                solved += 1;
            }
        }
        assert_eq!(solved, 8690);
    }
}
