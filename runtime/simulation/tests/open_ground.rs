//! Tests of agents off the lanes: they plan paths around obstacles, and report if there is no path.

use crate::common::{draw_street, restored, street};
use glam::DVec2;
use roadwright_agent::Slot;
use roadwright_scenario::{
    Agent, AgentId, Edit, Land, LandId, LandUse, ModuleSetting, Obstacle, ObstacleId, PaintCost,
    PaintId, PaintLayer, Place, Scenario, Shape, Stack, VehicleType,
};
use roadwright_simulation::{
    Disagreement, Ground, GroundQuestion, ModuleOverrides, NoPathKind, PathStatus, RunOptions,
    World, builtin_modules,
};

const CONTROLLERS: [&str; 4] = ["idm", "pursuit", "fuzzy_driver", "fuzzy_mechanic"];
const PLANNERS: [&str; 5] = [
    "hybrid_fuzzy_path",
    "grid_path",
    "flow_field",
    "incremental_path",
    "drivable_path",
];

/// A wall, given by its centre and its size, m.
#[derive(Clone, Copy)]
struct Wall {
    x: f64,
    y: f64,
    along_x: f64,
    along_y: f64,
}

fn wall(x: f64, y: f64, along_x: f64, along_y: f64) -> Wall {
    Wall {
        x,
        y,
        along_x,
        along_y,
    }
}

/// Creates a wall along y at x = 0 with a gap in its middle.
fn with_gap(length: f64, gap: f64) -> Vec<Wall> {
    let half = 0.5 * (length - gap);
    let middle = 0.5 * (gap + half);
    vec![wall(0.0, -middle, 1.0, half), wall(0.0, middle, 1.0, half)]
}

/// Creates a room of 141 m by 41 m around the whole scene.
fn room() -> Vec<Wall> {
    vec![
        wall(-70.0, 0.0, 1.0, 41.0),
        wall(70.0, 0.0, 1.0, 41.0),
        wall(0.0, 20.0, 141.0, 1.0),
        wall(0.0, -20.0, 141.0, 1.0),
    ]
}

fn jeep(stack: &str, start: Place, destination: Place) -> Agent {
    Agent {
        name: "jeep".into(),
        vehicle: "willys_mb".into(),
        stack: stack.into(),
        start,
        via: Vec::new(),
        destination: Some(destination),
        depart: 0.0.into(),
        speed: 0.0.into(),
        dynamics: None,
        repeat: None.into(),
    }
}

fn field(walls: &[Wall], controller: &str, start: Place, destination: Place) -> Scenario {
    let mut scenario = Scenario::new("field");
    for (number, wall) in (1..).zip(walls) {
        let obstacle = Obstacle {
            name: "wall".into(),
            shape: Shape::Box {
                x: wall.x.into(),
                y: wall.y.into(),
                heading: 0.0.into(),
                length: wall.along_x.into(),
                width: wall.along_y.into(),
            },
            base: 0.0.into(),
            height: 3.0.into(),
            mass: None.into(),
        };
        let edit = Edit::Obstacle(ObstacleId(number), Some(Box::new(obstacle)));
        scenario.apply(edit).unwrap();
    }
    let stack = Stack::with_controller(controller);
    let edit = Edit::Stack(controller.into(), Some(Box::new(stack)));
    scenario.apply(edit).unwrap();
    let agent = jeep(controller, start, destination);
    let edit = Edit::Agent(AgentId(1), Some(Box::new(agent)));
    scenario.apply(edit).unwrap();
    scenario
}

fn across(walls: &[Wall], controller: &str) -> Scenario {
    let ends = (
        Place::ground(-60.0, 0.0, 0.0),
        Place::ground(60.0, 0.0, 0.0),
    );
    field(walls, controller, ends.0, ends.1)
}

fn planner(id: &str) -> RunOptions {
    let mut modules = ModuleOverrides::default();
    modules.set(Slot::GroundPlanner, vec![id.into()]).unwrap();
    RunOptions {
        modules,
        ..RunOptions::default()
    }
}

fn run(world: &mut World, seconds: f64) {
    let end = world.time() + seconds;
    while world.time() < end && !world.is_over() {
        world.step();
    }
}

/// Runs until the agent arrives. Contacts fail the test. Returns the distance driven, m.
fn arrives(scenario: &Scenario, options: &RunOptions, what: &str) -> f64 {
    let mut world = World::new(scenario, &builtin_modules(), options).unwrap();
    run(&mut world, 150.0);
    let summary = world.summary();
    assert_eq!(summary.agents.arrived, 1, "{what}: {:?}", summary.no_path);
    assert!(summary.collisions.is_empty(), "{what}");
    world.drives()[0].distance
}

#[test]
fn controllers_drive_round_a_wall_and_through_a_gap() {
    for controller in CONTROLLERS {
        let options = RunOptions::default();
        let cases = [
            ("wall of 60 m", vec![wall(0.0, 0.0, 1.0, 60.0)], 160.0),
            ("gap of 6 m", with_gap(110.0, 6.0), 130.0),
            // The jeep is 1.57 m wide, so its side is 0.785 m from its centre line.
            ("beside a wall", vec![wall(-60.0, 1.385, 20.0, 1.0)], 130.0),
        ];
        for (what, walls, most) in cases {
            let driven = arrives(&across(&walls, controller), &options, what);
            assert!(driven < most, "{controller}, {what}: {driven} m");
        }
    }
}

/// Creates a corridor that is 6 m wide, with a left bend and a right bend.
fn corridor() -> Vec<Wall> {
    vec![
        wall(-29.75, -3.25, 70.5, 0.5),
        wall(-33.0, 3.25, 64.0, 0.5),
        wall(-1.25, 12.75, 0.5, 19.5),
        wall(5.25, 6.25, 0.5, 19.5),
        wall(31.75, 22.75, 66.5, 0.5),
        wall(35.0, 16.25, 60.0, 0.5),
    ]
}

/// Returns the scenario with a fuzzy driver that is calibrated to the jeep. Without calibration,
/// its minimum turning radius is 25 m.
fn calibrated(scenario: Scenario) -> Scenario {
    let mut scenario = scenario;
    let mut stack = Stack::with_controller("fuzzy_driver");
    stack.controller = stack.controller.with("route_steering_gain", 8.0);
    let edit = Edit::Stack("fuzzy_driver".into(), Some(Box::new(stack)));
    scenario.apply(edit).unwrap();
    scenario
}

#[test]
fn controllers_drive_round_the_bends_of_a_corridor() {
    for controller in ["idm", "pursuit", "fuzzy_driver"] {
        let ends = (
            Place::ground(-50.0, 0.0, 0.0),
            Place::ground(50.0, 19.5, 0.0),
        );
        let scenario = calibrated(field(&corridor(), controller, ends.0, ends.1));
        let driven = arrives(&scenario, &RunOptions::default(), controller);
        assert!(driven < 130.0, "{controller}: {driven} m");
    }
}

#[test]
fn a_vehicle_is_braked_before_a_wall_that_appears_ahead() {
    for controller in CONTROLLERS {
        let ends = (Place::ground(0.0, 0.0, 0.0), Place::ground(200.0, 0.0, 0.0));
        let free = field(&[], controller, ends.0, ends.1);
        let mut world = World::new(&free, &builtin_modules(), &RunOptions::default()).unwrap();
        run(&mut world, 8.0);
        let middle = world.snapshot().vehicles[0].body.position;
        let walls = [wall(middle.x + 11.0, middle.y, 1.0, 40.0)];
        let blocked = field(&walls, controller, ends.0, ends.1);
        world.update(&free, &blocked, &builtin_modules()).unwrap();
        run(&mut world, 90.0);
        let summary = world.summary();
        assert!(summary.collisions.is_empty(), "{controller}");
        assert_eq!(summary.agents.arrived, 1, "{controller}");
    }
}

#[test]
fn every_planner_finds_a_path_round_a_wall() {
    for id in PLANNERS {
        let scenario = across(&[wall(0.0, 0.0, 1.0, 60.0)], "idm");
        let driven = arrives(&scenario, &planner(id), id);
        assert!(driven < 160.0, "{id}: {driven} m");
    }
}

#[test]
fn without_a_planner_an_agent_stands_before_the_wall() {
    let scenario = across(&[wall(0.0, 0.0, 1.0, 20.0)], "idm");
    let mut world = World::new(&scenario, &builtin_modules(), &planner("straight")).unwrap();
    run(&mut world, 60.0);
    assert_eq!(world.summary().agents.arrived, 0);
    assert_eq!(world.path_status(1), None);
}

#[test]
fn a_goal_behind_is_reached_by_turning_or_in_reverse() {
    for controller in CONTROLLERS {
        let ends = (Place::ground(0.0, 0.0, 0.0), Place::ground(-40.0, 0.0, 0.0));
        let scenario = field(&[], controller, ends.0, ends.1);
        let driven = arrives(&scenario, &RunOptions::default(), controller);
        assert!(driven < 120.0, "{controller}: {driven} m");
    }
}

fn no_path(scenario: &Scenario) -> (NoPathKind, Option<f64>) {
    let mut world = World::new(scenario, &builtin_modules(), &RunOptions::default()).unwrap();
    run(&mut world, 30.0);
    let Some(PathStatus::NoPath(why)) = world.path_status(1) else {
        panic!("{:?}", world.path_status(1));
    };
    let summary = world.summary();
    assert_eq!(summary.no_path[0].agent, 1);
    assert_eq!(summary.no_path[0].text, why.text);
    // The vehicle waits at its start.
    assert!(world.drives()[0].distance < 15.0);
    assert!(world.snapshot().vehicles[0].speed < 0.1);
    (why.kind, why.gap.map(|gap| gap.width))
}

#[test]
fn an_agent_without_a_path_says_why() {
    CONTROLLERS
        .iter()
        .for_each(|controller| says_why(controller));
}

fn says_why(controller: &str) {
    let mut walls = with_gap(40.0, 1.9);
    walls.extend(room());
    let mut narrow = across(&walls, controller);
    let mut wide = narrow.vehicle_types()["willys_mb"].clone();
    wide.width = 2.2.into();
    let edit = Edit::VehicleType("willys_mb".into(), Some(Box::new(wide)));
    narrow.apply(edit).unwrap();
    let (kind, gap) = no_path(&narrow);
    assert!(matches!(
        kind,
        NoPathKind::StartWalledIn | NoPathKind::GoalWalledIn
    ));
    let gap = gap.unwrap();
    assert!((gap - 1.9).abs() < 0.05, "{gap}");

    let house = across(&[wall(60.0, 0.0, 10.0, 10.0)], controller);
    assert_eq!(no_path(&house), (NoPathKind::GoalBlocked, None));

    let cell = [
        wall(-70.0, 0.0, 1.0, 21.0),
        wall(-50.0, 0.0, 1.0, 21.0),
        wall(-60.0, 10.0, 21.0, 1.0),
        wall(-60.0, -10.0, 21.0, 1.0),
    ];
    assert_eq!(
        no_path(&across(&cell, controller)),
        (NoPathKind::StartWalledIn, None)
    );
}

#[test]
fn an_agent_that_waits_drives_on_when_an_obstacle_is_taken_away() {
    CONTROLLERS
        .iter()
        .for_each(|controller| drives_on(controller));
}

fn drives_on(controller: &str) {
    let mut walls = with_gap(40.0, 0.0);
    walls.extend(room());
    let old = across(&walls, controller);
    let mut world = World::new(&old, &builtin_modules(), &RunOptions::default()).unwrap();
    run(&mut world, 20.0);
    let status = world.path_status(1);
    assert!(
        matches!(status, Some(PathStatus::NoPath(_))),
        "{controller}"
    );
    let mut new = old.clone();
    new.apply(Edit::Obstacle(ObstacleId(1), None)).unwrap();
    world.update(&old, &new, &builtin_modules()).unwrap();
    run(&mut world, 60.0);
    assert_eq!(world.summary().agents.arrived, 1, "{controller}");
    assert!(world.summary().collisions.is_empty(), "{controller}");
}

/// Creates agents whose paths cross between walls.
fn crowd() -> Scenario {
    let mut walls = with_gap(60.0, 8.0);
    walls.push(wall(-30.0, 0.0, 1.0, 10.0));
    let mut scenario = across(&walls, "idm");
    for number in 2..8u32 {
        let side = if number % 2 == 0 { 1.0 } else { -1.0 };
        let y = f64::from(number) * 6.0 - 27.0;
        let heading = if side > 0.0 { 0.0 } else { 3.1 };
        let agent = jeep(
            "idm",
            Place::ground(-60.0 * side, y, heading),
            Place::ground(60.0 * side, -y, 0.0),
        );
        let edit = Edit::Agent(AgentId(number), Some(Box::new(agent)));
        scenario.apply(edit).unwrap();
    }
    scenario
}

#[test]
fn plans_are_the_same_with_any_number_of_threads_and_after_a_save() {
    let scenario = crowd();
    for id in PLANNERS {
        let options = planner(id);
        let mut whole = World::new(&scenario, &builtin_modules(), &options).unwrap();
        for moment in [3.0, 4.3] {
            run(&mut whole, moment);
            let two = RunOptions {
                threads: 2,
                ..options.clone()
            };
            let mut again = restored(&whole, &scenario, &two);
            assert_eq!(again.state_hash(), whole.state_hash(), "{id}, {moment}");
            for step in 0..400 {
                whole.step();
                again.step();
                assert_eq!(again.state_hash(), whole.state_hash(), "{id}, step {step}");
            }
        }
    }
}

#[test]
fn a_planner_is_replaced_while_agents_drive() {
    let with = |id: &str| {
        let mut scenario = across(&[wall(0.0, 0.0, 1.0, 60.0)], "idm");
        let stack = Stack {
            ground_planner: Some(ModuleSetting::new(id)),
            ..Stack::with_controller("idm")
        };
        let edit = Edit::Stack("idm".into(), Some(Box::new(stack)));
        scenario.apply(edit).unwrap();
        scenario
    };
    let mut now = with("straight");
    let mut world = World::new(&now, &builtin_modules(), &RunOptions::default()).unwrap();
    for id in PLANNERS {
        run(&mut world, 4.0);
        let next = with(id);
        world.update(&now, &next, &builtin_modules()).unwrap();
        now = next;
    }
    run(&mut world, 60.0);
    assert_eq!(world.summary().agents.arrived, 1);
    assert!(world.summary().collisions.is_empty());
}

#[test]
fn a_destination_beside_a_street_is_reached_by_the_street() {
    CONTROLLERS
        .iter()
        .for_each(|controller| follows_street(controller));
}

fn follows_street(controller: &str) {
    let places = (
        Place::ground(-200.0, -1.6, 0.0),
        Place::ground(14.0, 180.0, 0.0),
    );
    let houses = [
        wall(-100.0, 60.0, 120.0, 60.0),
        wall(-60.0, 140.0, 60.0, 60.0),
    ];
    let mut scenario = field(&houses, controller, places.0, places.1);
    let corner = DVec2::ZERO;
    let style = street(1, 1);
    draw_street(&mut scenario, DVec2::new(-200.0, 0.0), corner, &style);
    draw_street(&mut scenario, corner, DVec2::new(0.0, 200.0), &style);
    let mut agent = scenario.agents()[&AgentId(1)].clone();
    let road = scenario.network().roads().next().unwrap().0;
    agent.start = Place::Lane(roadwright_scenario::LanePlace {
        road,
        lane: -1,
        s: 10.0.into(),
    });
    let edit = Edit::Agent(AgentId(1), Some(Box::new(agent)));
    scenario.apply(edit).unwrap();
    let mut world = World::new(&scenario, &builtin_modules(), &RunOptions::default()).unwrap();
    let mut on_lane = 0.0;
    while world.time() < 120.0 && !world.is_over() {
        world.step();
        for vehicle in world.snapshot().vehicles {
            on_lane += vehicle.speed * world.dt() * f64::from(u8::from(vehicle.lane.is_some()));
        }
    }
    let summary = world.summary();
    assert_eq!(summary.agents.arrived, 1, "{controller}");
    assert!(summary.collisions.is_empty(), "{controller}");
    assert!(on_lane > 250.0, "{controller}: {on_lane} m");
}

#[test]
fn on_free_ground_the_speed_is_kept() {
    let ends = (Place::ground(0.0, 0.0, 0.0), Place::ground(400.0, 0.0, 0.0));
    let scenario = field(&[], "fuzzy_driver", ends.0, ends.1);
    let mut world = World::new(&scenario, &builtin_modules(), &RunOptions::default()).unwrap();
    let mut speeds = Vec::new();
    while world.time() < 120.0 && !world.is_over() {
        world.step();
        let snapshot = world.snapshot();
        let Some(jeep) = snapshot.vehicle(1) else {
            break;
        };
        // Measured after the start, and before the vehicle brakes for the goal.
        if (100.0..340.0).contains(&jeep.pose.position.x) {
            speeds.push(jeep.speed);
        }
    }
    let slowest = speeds.iter().copied().fold(f64::INFINITY, f64::min);
    let fastest = speeds.iter().copied().fold(0.0, f64::max);
    assert!(speeds.len() > 100);
    assert!(
        fastest - slowest < 0.02 * fastest,
        "{slowest} to {fastest} m/s"
    );
}

/// Paint between the start and the destination of [`across`], from one wall of the room to the opposite wall.
fn painted(cost: PaintCost, jeeps: Option<PaintCost>) -> PaintLayer {
    let mut layer = PaintLayer::new("shrubs", cost);
    layer
        .vehicles
        .extend(jeeps.map(|cost| ("willys_mb".to_owned(), cost)));
    layer.paint([DVec2::new(0.0, -40.0), DVec2::new(0.0, 40.0)], 5.0);
    layer
}

fn with_paint(scenario: &Scenario, layer: Option<PaintLayer>) -> Scenario {
    let mut scenario = scenario.clone();
    let edit = Edit::Paint(PaintId(1), layer.map(Box::new));
    scenario.apply(edit).unwrap();
    scenario
}

#[test]
fn paint_that_blocks_a_vehicle_type_stops_it_until_it_is_erased() {
    let free = across(&room(), "pursuit");
    // The paint blocks all vehicles except jeeps, which may drive across it.
    let open = painted(PaintCost::Blocks, Some(PaintCost::Adds(40)));
    let mut world = World::new(
        &with_paint(&free, Some(open)),
        &builtin_modules(),
        &RunOptions::default(),
    )
    .unwrap();
    run(&mut world, 60.0);
    assert_eq!(world.summary().agents.arrived, 1);

    let closed = painted(PaintCost::Adds(40), Some(PaintCost::Blocks));
    let stopped = with_paint(&free, Some(closed.clone()));
    let mut world = World::new(&stopped, &builtin_modules(), &RunOptions::default()).unwrap();
    run(&mut world, 20.0);
    let status = world.path_status(1);
    assert!(matches!(status, Some(PathStatus::NoPath(_))), "{status:?}");
    // A gap in the paint opens, so the agent searches again and drives on.
    let mut gate = closed;
    gate.erase([DVec2::new(-9.0, 10.0), DVec2::new(9.0, 10.0)], 4.0);
    let opened = with_paint(&free, Some(gate));
    world.update(&stopped, &opened, &builtin_modules()).unwrap();
    run(&mut world, 60.0);
    assert_eq!(world.summary().agents.arrived, 1);
}

#[test]
fn paint_before_a_driving_vehicle_makes_it_drive_round() {
    let free = across(&[], "pursuit");
    let mut world = World::new(&free, &builtin_modules(), &RunOptions::default()).unwrap();
    run(&mut world, 4.0);
    let layer = PaintLayer {
        cells: {
            let mut layer = painted(PaintCost::Blocks, None);
            layer.erase([DVec2::new(0.0, 15.0), DVec2::new(0.0, 60.0)], 6.0);
            layer.cells
        },
        ..painted(PaintCost::Blocks, None)
    };
    let edited = with_paint(&free, Some(layer.clone()));
    world.update(&free, &edited, &builtin_modules()).unwrap();
    while world.time() < 60.0 && !world.is_over() {
        world.step();
        for vehicle in world.snapshot().vehicles {
            assert!(!layer.contains(vehicle.body.position), "{}", world.time());
        }
    }
    assert_eq!(world.summary().agents.arrived, 1);
}

#[test]
fn a_save_is_not_restored_on_ground_with_other_paint() {
    let free = across(&[], "pursuit");
    let plain = Ground::new(&free);
    let shrubs = with_paint(&free, Some(painted(PaintCost::Adds(16), None)));
    let other = with_paint(&free, Some(painted(PaintCost::Adds(17), None)));
    let hashes = [
        plain.hash(),
        Ground::new(&shrubs).hash(),
        Ground::new(&other).hash(),
    ];
    assert_ne!(hashes[0], hashes[1]);
    assert_ne!(hashes[1], hashes[2]);
    // An empty list of layers is the same as no paint.
    let none = with_paint(&shrubs, None);
    assert_eq!(Ground::new(&none).hash(), hashes[0]);
}

/// Returns the maximum distance between consecutive points of a path, m.
fn longest_gap(path: &[DVec2]) -> f64 {
    let gaps = path.windows(2).map(|pair| (pair[1] - pair[0]).length());
    gaps.fold(0.0, f64::max)
}

#[test]
fn the_inspected_path_is_the_planned_one() {
    for id in PLANNERS {
        let scenario = across(&[wall(0.0, 0.0, 1.0, 60.0)], "pursuit");
        let mut world = World::new(&scenario, &builtin_modules(), &planner(id)).unwrap();
        run(&mut world, 3.0);
        let seen = world.inspect(1).unwrap();
        assert!(seen.path.len() > 20, "{id}");
        assert!(longest_gap(&seen.path) < 5.0, "{id}: {:?}", seen.path);
        let turns = seen.path.iter().any(|point| point.y.abs() > 29.0);
        assert!(turns, "{id}: it leads through the wall");
    }
    // The planner `straight` plans a line to the goal.
    let scenario = across(&[wall(0.0, 0.0, 1.0, 60.0)], "pursuit");
    let mut world = World::new(&scenario, &builtin_modules(), &planner("straight")).unwrap();
    run(&mut world, 1.0);
    assert_eq!(world.inspect(1).unwrap().path.len(), 2);
    assert_eq!(world.inspect_ground(1, &GroundQuestion::default()), None);
}

#[test]
fn an_inspection_of_the_ground_shows_what_the_planner_reads_and_changes_nothing() {
    let everything = GroundQuestion {
        cells: true,
        forecasts: true,
        search: true,
        other_path: vec![DVec2::new(-60.0, 0.0), DVec2::new(60.0, 0.0)],
    };
    for id in PLANNERS {
        let scenario = crowd();
        let mut looked_at = World::new(&scenario, &builtin_modules(), &planner(id)).unwrap();
        let mut alone = World::new(&scenario, &builtin_modules(), &planner(id)).unwrap();
        for _ in 0..120 {
            looked_at.step();
            alone.step();
            looked_at.inspect_ground(1, &everything);
        }
        assert_eq!(looked_at.state_hash(), alone.state_hash(), "{id}");
        let seen = looked_at.inspect_ground(1, &everything).unwrap();
        assert_eq!(seen.status, PathStatus::Found, "{id}");
        let cells = seen.cells.unwrap();
        assert_eq!(cells.factors.len() as u32, cells.columns * cells.rows);
        let at = |x: f64, y: f64| {
            let offset = (DVec2::new(x, y) - cells.origin) / cells.cell;
            cells.factors[offset.y as usize * cells.columns as usize + offset.x as usize]
        };
        // The wall at x = -30 is blocked, and so is the agent's own position.
        assert_eq!(at(-30.0, 2.5), 0, "{id}");
        let own = looked_at.snapshot().vehicle(1).unwrap().body.position;
        assert!(at(own.x, own.y) > 0, "{id}");
        assert!(!seen.forecasts.is_empty(), "{id}");
        let search = seen.search.unwrap();
        assert!(search.expanded.len() > 20, "{id}");
        assert!((search.expanded[0] - own).length() < 2.0, "{id}");
        assert!(search.path.len() > 20, "{id}");
        let both = seen.comparison.unwrap();
        // The straight line leads through a wall. The planned path leads around it.
        assert!(both.other.blocked > 0, "{id}");
        assert_eq!(both.planned.blocked, 0, "{id}");
        assert!((both.other.length - 120.0).abs() < 1e-9, "{id}");
        assert!(both.planned.time > 0.0, "{id}");
        // A path with headings may be so far away from walls that they add no cost.
        let least = both.planned.plain + u64::from(id != "drivable_path");
        assert!(both.planned.cost >= least, "{id}");
    }
}

/// A plan, with the disagreement that caused it.
#[derive(Debug, Clone, Copy)]
struct Replan {
    time: f64,
    why: Option<Disagreement>,
    /// Time at which the disagreement began, s.
    since: f64,
}

/// Returns the plans that the only agent makes in the first `seconds`.
fn plans_of(scenario: &Scenario, seconds: f64) -> Vec<Replan> {
    let registry = crate::modules::with_test_modules();
    let mut world = World::new(scenario, &registry, &RunOptions::default()).unwrap();
    let mut plans: Vec<Replan> = Vec::new();
    let (mut why, mut since) = (None, 0.0);
    while world.time() < seconds && !world.is_over() {
        world.step();
        let Some(seen) = world.inspect_ground(1, &GroundQuestion::default()) else {
            continue;
        };
        let Some(time) = seen.planned_at else {
            continue;
        };
        if plans.last().is_none_or(|last| last.time < time) {
            plans.push(Replan { time, why, since });
        }
        if why.is_none() || seen.disagreement.is_none() {
            since = world.time();
        }
        why = seen.disagreement;
    }
    plans
}

/// Makes the planner due only every 100 s.
fn rarely_due(scenario: Scenario, controller: &str) -> Scenario {
    let mut scenario = scenario;
    let planner = ModuleSetting {
        rate_hz: Some(0.01).into(),
        ..ModuleSetting::new("hybrid_fuzzy_path")
    };
    let stack = Stack {
        ground_planner: Some(planner),
        ..Stack::with_controller(controller)
    };
    let edit = Edit::Stack(controller.into(), Some(Box::new(stack)));
    scenario.apply(edit).unwrap();
    scenario
}

#[test]
fn a_driver_that_disagrees_with_its_plan_replans_in_the_next_step_but_not_more_often_than_allowed()
{
    let scenario = rarely_due(across(&[], "wayward"), "wayward");
    let plans = plans_of(&scenario, 20.0);
    // The agent drives in circles until a manoeuvre begins, and then completes the manoeuvre.
    assert!((5..80).contains(&plans.len()), "{plans:#?}");
    for pair in plans.windows(2) {
        let (before, next) = (pair[0], pair[1]);
        let pause = next.time - before.time;
        assert!(pause > 0.25 - 1e-9, "{before:?}, {next:?}");
        assert!(next.why.is_some(), "{before:?}, {next:?}");
    }
    // The second plan is made in the step after the first disagreement.
    let (first, second) = (plans[0], plans[1]);
    let due = second.since.max(first.time + 0.25);
    assert!(second.time < due + 0.03, "{first:?}, {second:?}");
    let behind = plans.iter().filter(|plan| {
        matches!(
            plan.why,
            Some(Disagreement::Behind | Disagreement::LeftPath)
        )
    });
    assert!(behind.count() > 1, "{plans:#?}");
}

#[test]
fn a_driver_that_follows_its_plan_keeps_it() {
    let scenario = rarely_due(across(&[], "pursuit"), "pursuit");
    let plans = plans_of(&scenario, 4.0);
    assert_eq!(plans.len(), 1, "{plans:?}");
}

/// Creates a yard with a wall, and an agent that plans with `drivable_path` and its parameters.
fn drivable(
    walls: &[Wall],
    controller: &str,
    ends: [Place; 2],
    setting: ModuleSetting,
) -> Scenario {
    let mut scenario = field(walls, controller, ends[0], ends[1]);
    let stack = Stack {
        ground_planner: Some(setting),
        ..Stack::with_controller(controller)
    };
    let edit = Edit::Stack(controller.into(), Some(Box::new(stack)));
    scenario.apply(edit).unwrap();
    scenario
}

fn drivable_with_heading() -> ModuleSetting {
    ModuleSetting::new("drivable_path").with("arrive", 1.0)
}

/// Runs for at most `seconds`. Returns the last pose of the vehicle, and the time at the end of the
/// run, s.
fn last_pose(world: &mut World, seconds: f64) -> (Option<roadwright_geometry::Pose>, f64) {
    let mut last = None;
    while !world.is_over() && world.time() < seconds {
        let vehicle = world.snapshot();
        last = vehicle.vehicle(1).map(|vehicle| vehicle.pose).or(last);
        world.step();
    }
    (last, world.time())
}

/// Controllers that follow paths.
const FOLLOWERS: [&str; 7] = [
    "lqr",
    "linear_mpc",
    "stanley",
    "pd_follower",
    "pursuit",
    "idm",
    "fuzzy_driver",
];

#[test]
fn a_destination_with_a_heading_is_reached_within_5_degrees() {
    for controller in FOLLOWERS {
        for heading in [0.0, 1.57, 3.1, -1.57] {
            let ends = [
                Place::ground(-30.0, 0.0, 0.0),
                Place::ground(20.0, 4.0, heading),
            ];
            let walls = [wall(0.0, 0.0, 1.0, 30.0)];
            let scenario = drivable(&walls, controller, ends, drivable_with_heading());
            let mut world =
                World::new(&scenario, &builtin_modules(), &RunOptions::default()).unwrap();
            let (last, time) = last_pose(&mut world, 120.0);
            let last = last.unwrap();
            let offset = last.position.distance(DVec2::new(20.0, 4.0));
            let turned = roadwright_geometry::math::wrap_angle(last.heading - heading);
            let what = format!(
                "{controller} {heading}: {offset:.3} m, {:.2} degrees, {time:.1} s",
                turned.to_degrees()
            );
            println!("{what}");
            assert_eq!(world.summary().agents.arrived, 1, "{what}");
            assert!(world.summary().collisions.is_empty(), "{what}");
            assert!(
                offset < 0.2 && turned.abs() < 5.0_f64.to_radians(),
                "{what}"
            );
        }
    }
}

/// Returns a bay of 6.5 m between two parked cars, with the kerbs of a street that is 7 m wide.
fn kerbside_bay() -> Vec<Wall> {
    vec![
        wall(-5.5, -4.7, 4.5, 1.8),
        wall(5.5, -4.7, 4.5, 1.8),
        wall(0.0, -6.2, 60.0, 0.5),
        wall(0.0, 3.75, 60.0, 0.5),
    ]
}

/// Creates a car that drives beside the kerb between two poses of its body with `drivable_path`.
fn at_kerb(controller: &str, from: Place, to: Place) -> Scenario {
    let ends = [from, to];
    let mut scenario = drivable(&kerbside_bay(), controller, ends, drivable_with_heading());
    let (&id, agent) = scenario.agents().iter().next().unwrap();
    let car = Agent {
        vehicle: "car".into(),
        ..agent.clone()
    };
    scenario
        .apply(Edit::Agent(id, Some(Box::new(car))))
        .unwrap();
    scenario
}

#[test]
fn a_car_parks_beside_a_kerb_the_same_after_saves_and_leaves_forwards() {
    let parked = Place::ground(-1.3, -4.75, 0.0);
    let scenario = at_kerb("lqr", Place::ground(-12.0, -1.7, 0.0), parked);
    let mut whole = World::new(&scenario, &builtin_modules(), &RunOptions::default()).unwrap();
    let mut copies: Vec<World> = Vec::new();
    let mut step = 0;
    while !whole.is_over() && whole.time() < 90.0 {
        if step % 300 == 150 {
            copies.push(restored(&whole, &scenario, &RunOptions::default()));
        }
        whole.step();
        for copy in &mut copies {
            copy.step();
            assert_eq!(copy.snapshot().hash(), whole.snapshot().hash(), "{step}");
        }
        step += 1;
    }
    assert!(copies.len() > 2);
    assert_eq!(whole.summary().agents.arrived, 1);
    assert!(whole.summary().collisions.is_empty());
    let leaves = at_kerb("pursuit", parked, Place::ground(20.0, -1.7, 0.0));
    arrives(&leaves, &RunOptions::default(), "out of the bay");
}

#[test]
fn an_inspection_has_the_poses_and_gears_of_the_rest_of_a_path() {
    let goal = DVec2::new(-1.3, -4.75);
    let parked = Place::ground(goal.x, goal.y, 0.0);
    let scenario = at_kerb("lqr", Place::ground(-12.0, -1.7, 0.0), parked);
    let mut world = World::new(&scenario, &builtin_modules(), &RunOptions::default()).unwrap();
    let (mut changes, mut last_changes) = (0, usize::MAX);
    while !world.is_over() && world.time() < 90.0 {
        world.step();
        let Some(seen) = world.inspect_ground(1, &GroundQuestion::default()) else {
            continue;
        };
        let Some(end) = seen.poses.last() else {
            continue;
        };
        let pairs = seen.poses.windows(2);
        let now = pairs.filter(|pair| pair[0].gear != pair[1].gear).count();
        changes = changes.max(now);
        last_changes = now;
        let first = seen.poses[0].pose.position;
        let own = world.snapshot().vehicles[0].pose.position;
        assert!((first - own).length() < 1.0, "{first} {own}");
        assert!((end.pose.position - goal).length() < 0.3, "{end:?}");
        assert!(seen.poses.iter().all(|at| at.gear.abs() == 1));
    }
    // The vehicle parks in several moves, and the number of remaining moves decreases.
    assert!(
        changes >= 2 && last_changes == 0,
        "{changes} {last_changes}"
    );
}

#[test]
fn a_drivable_search_goes_on_after_a_save_in_its_midst() {
    let walls = [
        wall(0.0, 0.0, 1.0, 30.0),
        wall(-10.0, 10.0, 20.0, 1.0),
        wall(-10.0, -10.0, 20.0, 1.0),
    ];
    let ends = [Place::ground(-5.0, 0.0, 0.0), Place::ground(20.0, 0.0, 3.0)];
    let setting = drivable_with_heading().with("budget", 60.0);
    let scenario = drivable(&walls, "pursuit", ends, setting);
    let mut whole = World::new(&scenario, &builtin_modules(), &RunOptions::default()).unwrap();
    let mut copies: Vec<World> = Vec::new();
    for step in 0..600 {
        if [3, 7, 50, 300].contains(&step) {
            copies.push(restored(&whole, &scenario, &RunOptions::default()));
        }
        if step == 3 {
            assert_eq!(whole.path_status(1), Some(&PathStatus::Searching));
        }
        whole.step();
        for copy in &mut copies {
            copy.step();
            assert_eq!(copy.state_hash(), whole.state_hash(), "step {step}");
        }
    }
    assert_eq!(whole.path_status(1), Some(&PathStatus::Found));
}

#[test]
fn a_drivable_path_that_is_blocked_is_replaced_without_a_contact() {
    let ends = [
        Place::ground(-60.0, 0.0, 0.0),
        Place::ground(60.0, 0.0, 0.0),
    ];
    let before = drivable(&room(), "pursuit", ends, drivable_with_heading());
    let mut world = World::new(&before, &builtin_modules(), &RunOptions::default()).unwrap();
    run(&mut world, 6.0);
    let wall = field(&[wall(0.0, 0.0, 1.0, 20.0)], "pursuit", ends[0], ends[1]);
    let mut after = before.clone();
    let obstacle = wall.obstacles()[&ObstacleId(1)].clone();
    let edit = Edit::Obstacle(ObstacleId(99), Some(Box::new(obstacle)));
    after.apply(edit).unwrap();
    world.update(&before, &after, &builtin_modules()).unwrap();
    run(&mut world, 90.0);
    assert_eq!(world.summary().agents.arrived, 1);
    assert!(world.summary().collisions.is_empty());
}

#[test]
fn a_dead_end_is_left_in_reverse_along_a_drivable_path() {
    let walls = [
        wall(4.0, 0.0, 1.0, 5.0),
        wall(-4.0, 2.2, 16.0, 1.0),
        wall(-4.0, -2.2, 16.0, 1.0),
    ];
    let ends = [Place::ground(0.0, 0.0, 0.0), Place::ground(40.0, 0.0, 0.0)];
    let scenario = drivable(&walls, "pursuit", ends, ModuleSetting::new("drivable_path"));
    arrives(&scenario, &RunOptions::default(), "dead end");
}

/// Creates a goal on an island in a moat. Crossing the water costs as much as a detour of several hundred
/// metres.
fn moat(start: Place) -> Scenario {
    let mut scenario = field(&[], "pursuit", start, Place::ground(0.0, 0.0, 0.0));
    let strips = [
        (-25.0, 20.0, 25.0, 25.0),
        (-25.0, -25.0, 25.0, -20.0),
        (20.0, -20.0, 25.0, 20.0),
        (-25.0, -20.0, -20.0, 20.0),
    ];
    for (number, (west, south, east, north)) in (1..).zip(strips) {
        let corners = [(west, south), (east, south), (east, north), (west, north)];
        let land = Land {
            name: String::new(),
            usage: LandUse::Water,
            outline: corners.map(DVec2::from).into_iter().collect(),
            holes: Vec::new().into(),
        };
        let edit = Edit::Land(LandId(number), Some(Box::new(land)));
        scenario.apply(edit).unwrap();
    }
    scenario
}

#[test]
fn an_agent_does_not_drive_round_a_moat_for_ever() {
    // The agent searches for a dry path until it knows that there is none, or crosses the water
    // earlier. This depends on small differences, so the mean over several starts is compared. The
    // straight path is about 70 m long.
    let starts = [(-70.0, 0.0), (-70.0, 3.0), (-72.0, 0.0)];
    let driven = starts.map(|(x, y)| {
        let scenario = moat(Place::ground(x, y, 0.0));
        arrives(&scenario, &RunOptions::default(), "moat")
    });
    let mean = driven.iter().sum::<f64>() / driven.len() as f64;
    assert!(mean < 350.0, "{driven:?} m");
}

#[test]
fn a_search_from_the_goal_continues_after_a_save() {
    let scenario = moat(Place::ground(-70.0, 0.0, 0.0));
    let options = RunOptions::default();
    let mut whole = World::new(&scenario, &builtin_modules(), &options).unwrap();
    for moment in 1..8 {
        run(&mut whole, 1.0);
        let mut again = restored(&whole, &scenario, &options);
        for step in 0..120 {
            assert_eq!(
                again.state_hash(),
                whole.state_hash(),
                "{moment} s, step {step}"
            );
            whole.step();
            again.step();
        }
    }
}

#[test]
fn a_vehicle_turns_its_wheels_at_a_change_of_gear_instead_of_creeping() {
    for controller in ["idm", "pursuit", "fuzzy_driver"] {
        let scenario = field(
            &[wall(6.0, 0.0, 1.0, 30.0)],
            controller,
            Place::ground(0.0, 0.0, 0.0),
            Place::ground(-40.0, 0.0, 0.0),
        );
        let options = RunOptions::default();
        let mut world = World::new(&scenario, &builtin_modules(), &options).unwrap();
        let mut slow = 0.0;
        while world.time() < 60.0 && !world.is_over() {
            world.step();
            let snapshot = world.snapshot();
            let speed = snapshot.vehicle(1).map_or(1.0, |vehicle| vehicle.speed);
            if speed.abs() < 0.4 {
                slow += world.dt();
            }
        }
        assert_eq!(world.summary().agents.arrived, 1, "{controller}");
        // Turning the wheels from lock to lock takes 1.4 s.
        assert!(slow < 6.0, "{controller}: {slow} s at a walking pace");
    }
}

/// Regression test: the guard braked a vehicle to a stop for the vehicle that came up behind it,
/// which then ran into it.
#[test]
fn a_vehicle_does_not_brake_for_the_vehicle_behind_it() {
    let (start, goal) = (
        Place::ground(-90.0, 0.0, 0.0),
        Place::ground(100.0, 0.0, 0.0),
    );
    let mut scenario = field(&[], "pursuit", start, goal);
    let mut straight = Stack::with_controller("pursuit");
    straight.ground_planner = Some(ModuleSetting::new("straight"));
    let edit = Edit::Stack("straight".into(), Some(Box::new(straight)));
    scenario.apply(edit).unwrap();
    for (id, x, max_speed, stack) in [(1, -90.0, 3.0, "pursuit"), (2, -96.0, 3.4, "straight")] {
        let kind = VehicleType {
            max_speed: max_speed.into(),
            ..VehicleType::willys_mb()
        };
        let name = format!("jeep_{id}");
        let edit = Edit::VehicleType(name.clone(), Some(Box::new(kind)));
        scenario.apply(edit).unwrap();
        let agent = Agent {
            vehicle: name,
            ..jeep(
                stack,
                Place::ground(x, 0.0, 0.0),
                Place::ground(100.0, 0.0, 0.0),
            )
        };
        let edit = Edit::Agent(AgentId(id), Some(Box::new(agent)));
        scenario.apply(edit).unwrap();
    }
    let options = RunOptions::default();
    let mut world = World::new(&scenario, &builtin_modules(), &options).unwrap();
    let mut before = 0.0;
    while world.time() < 6.0 {
        world.step();
        let speed = world.snapshot().vehicle(1).unwrap().speed;
        assert!(speed >= before, "at {} s: {speed} m/s", world.time());
        before = speed;
    }
    let gap = |id| world.snapshot().vehicle(id).unwrap().pose.position.x;
    assert!(gap(1) - gap(2) < 4.5, "the follower has come near");
}
