//! Tests of the cost map that open-ground planners receive, after many edits.

use crate::common::shipped;
use glam::DVec2;
use roadwright_agent::{
    GroundAnswer, GroundPlanner, GroundPlanning, Logic, Module, ModuleEntry, ModuleInfo, Needs,
    ParameterSet, Registry, Searcher, Slot, Step, Views,
};
use roadwright_geometry::math::Stream;
use roadwright_plugin_api::{GridData, GroundPlannerInput, PlanPose};
use roadwright_scenario::{
    AgentId, Edit, Obstacle, ObstacleId, PaintCost, PaintId, PaintLayer, Place, Scenario, Shape,
};
use roadwright_simulation::{ModuleOverrides, RunOptions, World, builtin_modules};
use roadwright_testing::{scaled, seed};
use std::sync::{Arc, Mutex};

const INFO: ModuleInfo = ModuleInfo {
    id: "reader",
    name: "Reader",
    doc: "Finds no path and keeps its maps.",
};
/// Size of the cells, m.
const CELL: f64 = 0.5;
/// Largest distance of an edit from the middle of the trip, m.
const REACH: f64 = 60.0;
/// Number of edits between two comparisons.
const BETWEEN: u64 = 50;

type Maps = Arc<Mutex<Vec<(GridData, Vec<u16>)>>>;

struct Reader {
    usual: Module<dyn GroundPlanner>,
    maps: Maps,
}

impl Logic for Reader {}

impl GroundPlanner for Reader {
    fn planning(&self, _: &ParameterSet) -> GroundPlanning {
        GroundPlanning {
            searcher: Searcher::Module { grid: Some(CELL) },
            ..self.usual.planning()
        }
    }

    fn needs(&self) -> Option<Needs> {
        Some(Needs {
            grid: Some(CELL),
            ..Needs::default()
        })
    }

    fn search(
        &self,
        _: &Step<'_>,
        views: &Views<'_>,
        input: &GroundPlannerInput,
        _: &mut Vec<PlanPose>,
    ) -> GroundAnswer {
        let grid = views.grids[input.grid as usize];
        let first = grid.first as usize;
        let cells = &views.cells[first..first + (grid.columns * grid.rows) as usize];
        self.maps.lock().unwrap().push((grid, cells.to_vec()));
        GroundAnswer::NoPath {
            reason: None,
            expanded: 1,
        }
    }
}

fn registry(maps: &Maps) -> Registry {
    let mut registry = builtin_modules();
    let entries = registry.of::<dyn GroundPlanner>();
    let usual = entries
        .iter()
        .find(|entry| entry.info.id == "drivable_path");
    let (usual, maps) = (usual.unwrap().clone(), maps.clone());
    registry.add(ModuleEntry::<dyn GroundPlanner>::new(
        INFO,
        &[],
        move || {
            Box::new(Reader {
                usual: usual.make(),
                maps: maps.clone(),
            })
        },
    ));
    registry
}

/// Creates a field with a vehicle that has its goal on the other side.
fn field() -> Scenario {
    let mut scenario = shipped("obstacle-field");
    let obstacles = scenario.obstacles().keys().copied();
    let mut edits: Vec<Edit> = obstacles.map(|id| Edit::Obstacle(id, None)).collect();
    for (&id, agent) in scenario.agents() {
        let mut agent = agent.clone();
        agent.start = Place::ground(-30.0, 0.0, 0.0);
        agent.destination = Some(Place::ground(30.0, 0.0, 0.0));
        agent.depart = 0.0.into();
        let own = (id == AgentId(1)).then(|| Box::new(agent));
        edits.push(Edit::Agent(id, own));
    }
    scenario.apply(Edit::Batch(edits)).unwrap();
    scenario
}

/// Adds, moves, enlarges or removes an obstacle, or paints. Nothing touches the vehicle.
fn random_edit(draws: &mut Stream, scenario: &Scenario) -> Edit {
    let mut place = || loop {
        let [x, y] = [(); 2].map(|()| draws.next_in(-REACH, REACH));
        if (x + 30.0).abs() > 8.0 || y.abs() > 8.0 {
            break DVec2::new(x, y);
        }
    };
    let (at, to) = (place(), place());
    if draws.next_index(4) == 0 {
        let id = PaintId(1 + draws.next_index(3) as u32);
        let costs = [PaintCost::Adds(9), PaintCost::Adds(40), PaintCost::Blocks];
        let cost = costs[draws.next_index(3)];
        let old = scenario.paint().get(&id).cloned();
        let mut layer = old.unwrap_or_else(|| PaintLayer::new("", cost));
        match draws.next_index(4) {
            0 => layer.erase([at, to], 6.0),
            _ => layer.paint([at, at + 0.2 * (to - at)], 2.0),
        }
        return Edit::Paint(id, Some(Box::new(layer)));
    }
    let id = ObstacleId(1 + draws.next_index(60) as u32);
    if scenario.obstacles().contains_key(&id) && draws.next_index(3) == 0 {
        return Edit::Obstacle(id, None);
    }
    let size = draws.next_in(0.5, 6.0);
    let shape = match draws.next_index(2) {
        0 => Shape::Circle {
            x: at.x.into(),
            y: at.y.into(),
            radius: (0.5 * size).into(),
        },
        _ => Shape::Box {
            x: at.x.into(),
            y: at.y.into(),
            heading: draws.next_in(0.0, 3.0).into(),
            length: (2.0 * size).into(),
            width: size.into(),
        },
    };
    let obstacle = Obstacle {
        name: "body".into(),
        shape,
        base: 0.0.into(),
        height: 2.0.into(),
        mass: None.into(),
    };
    Edit::Obstacle(id, Some(Box::new(obstacle)))
}

#[test]
fn a_map_after_random_edits_equals_one_that_is_built_anew() {
    let maps = Maps::default();
    let registry = registry(&maps);
    let mut modules = ModuleOverrides::default();
    modules
        .set(Slot::GroundPlanner, vec![INFO.id.into()])
        .unwrap();
    let options = RunOptions {
        modules,
        ..RunOptions::default()
    };
    // The map that a planner receives in the next question of a world.
    let read = |world: &mut World| {
        maps.lock().unwrap().clear();
        for _ in 0..5 {
            world.step();
            if let Some(map) = maps.lock().unwrap().pop() {
                return Some(map);
            }
        }
        None
    };
    let mut scenario = field();
    let mut world = World::new(&scenario, &registry, &options).unwrap();
    read(&mut world).unwrap();
    let mut draws = Stream::new(seed(5), "edits of maps", 0);
    let (mut questions, mut compared, mut blocked) = (0, 0, 0);
    for number in 1..=scaled(10_000) {
        let before = scenario.clone();
        scenario.apply(random_edit(&mut draws, &before)).unwrap();
        world.update(&before, &scenario, &registry).unwrap();
        // Not every edit changes the map within the bounds. If it does not, the planner gets no
        // other map.
        let found = read(&mut world);
        questions += u64::from(found.is_some());
        let Some(found) = found.filter(|_| number % BETWEEN == 0) else {
            continue;
        };
        let mut anew = World::new(&scenario, &registry, &options).unwrap();
        let expected = read(&mut anew).unwrap();
        assert_eq!(found.0, expected.0, "after {number} edits");
        assert!(found.1 == expected.1, "after {number} edits");
        compared += 1;
        blocked += found.1.iter().filter(|cell| **cell == 0).count() as u64;
    }
    println!("{questions} maps, {compared} compared, {blocked} blocked cells");
    assert!(questions > scaled(10_000) / 2 && compared > scaled(10_000) / BETWEEN / 3);
    assert!(blocked > 1000 * compared);
}
