//! Agents that plan on open ground: they get around walls and out of pockets, and report if there is no path.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use roadwright_geometry::oriented_box::OrientedBox;
use roadwright_geometry::{DVec2, Pose};
use roadwright_planning::open_ground::{
    Body, CellSize, Heights, HybridParameters, HybridPath, Item, ItemId, Mobility, OpenGround,
    Owner, PlanEnd, Profile, ProfileId, Reachability, Reason, Role, Shape, Spot, SpotError,
    Teardrop, Trip, Verdict,
};

const JEEP: Body = Body {
    length: 3.34,
    width: 1.57,
    height: 1.59,
    ground_clearance: 0.2,
};

/// A ground with walls, and a jeep on it.
struct World {
    ground: OpenGround,
    profile: ProfileId,
}

impl World {
    /// Creates a world with the given walls. Each wall is its centre and its lengths along x and y.
    fn new(walls: &[[f64; 4]]) -> Self {
        let mut ground = OpenGround::new();
        let profile = ground.add_profile(Profile::new(JEEP, CellSize::WAY_POINTS));
        let mut world = Self { ground, profile };
        for wall in walls {
            world.wall(*wall);
        }
        world
    }

    fn wall(&mut self, [x, y, length, width]: [f64; 4]) -> ItemId {
        let shape = Shape::Box(OrientedBox::new(Pose::new(x, y, 0.0), length, width));
        let item = Item::obstacle(shape, Heights::up_to(3.0));
        self.ground.insert(item).unwrap()
    }

    fn trip(&self, from: [f64; 2], to: [f64; 2]) -> Trip {
        Trip {
            profile: self.profile,
            owner: Some(Owner(1)),
            from: Spot::at(Pose::new(from[0], from[1], 0.0)),
            to: Spot::anyhow(DVec2::from(to)),
        }
    }

    fn verdict(&mut self, trip: Trip) -> Verdict {
        self.verdict_in_turns(trip, 10_000)
    }

    fn verdict_in_turns(&mut self, trip: Trip, budget: u64) -> Verdict {
        let mut searches = Reachability::new(&mut self.ground, trip);
        for _ in 0..1_000_000 {
            match searches.advance(&mut self.ground, budget) {
                Verdict::Searching => {}
                verdict => return verdict,
            }
        }
        Verdict::Searching
    }
}

/// Result of a drive to the goal.
#[derive(Debug)]
struct Drive {
    length: f64,
    plans: u32,
    most_expanded: u64,
}

/// Drives `steps` cells along each plan and then plans again, until the goal is reached.
fn drive(world: &mut World, trip: Trip, budget: u64, steps: usize) -> Option<Drive> {
    let mut planner = HybridPath::new(HybridParameters {
        budget,
        ..HybridParameters::default()
    });
    let mut trip = trip;
    let mut drive = Drive {
        length: 0.0,
        plans: 0,
        most_expanded: 0,
    };
    for _ in 0..20_000 {
        let plan = planner.plan(&mut world.ground, &trip, 0.0);
        drive.plans += 1;
        drive.most_expanded = drive.most_expanded.max(plan.expanded);
        let driven = &plan.points[..plan.points.len().min(steps.saturating_add(1))];
        drive.length += driven
            .windows(2)
            .map(|pair| (pair[1] - pair[0]).length())
            .sum::<f64>();
        let last = *driven.last()?;
        if plan.end == PlanEnd::Goal && driven.len() == plan.points.len() {
            return Some(drive);
        }
        trip.from = Spot::anyhow(last);
    }
    None
}

/// Creates a pocket that opens towards the west, 60 m deep and 60 m wide.
fn pocket() -> World {
    World::new(&[
        [30.0, 0.0, 1.0, 61.0],
        [0.0, 30.0, 61.0, 1.0],
        [0.0, -30.0, 61.0, 1.0],
    ])
}

#[test]
fn plans_lead_round_walls() {
    for width in [20.0, 60.0] {
        let mut world = World::new(&[[0.0, 0.0, 1.0, width]]);
        let trip = world.trip([-60.0, 0.0], [60.0, 0.0]);
        assert_eq!(world.verdict(trip), Verdict::Reachable);
        let drive = drive(&mut world, trip, 4000, 5).unwrap();
        let straight = DVec2::new(60.0, 0.5 * width + 2.0).length() * 2.0;
        assert!(drive.length < 1.1 * straight, "{drive:?}");
    }
}

#[test]
fn agents_get_out_of_a_pocket_with_ten_times_as_many_cells_as_a_plan_may_expand() {
    // There are 3,500 cells within the pocket.
    for (budget, steps) in [(350, usize::MAX), (350, 4), (350, 1)] {
        let mut world = pocket();
        let trip = world.trip([20.0, 0.0], [60.0, 0.0]);
        let free = drive(&mut world, trip, u64::MAX, usize::MAX).unwrap();
        let drive = drive(&mut world, trip, budget, steps).unwrap();
        println!(
            "{budget} cells, {steps} steps of each plan: {:.0} m in {} plans; without a limit {:.0} m",
            drive.length, drive.plans, free.length
        );
        assert!(drive.most_expanded <= 2 * budget, "{drive:?}");
        assert!(drive.length < 12.0 * free.length, "{drive:?}");
    }
}

#[test]
fn wide_gaps_are_found_and_narrow_ones_named() {
    // A wall of 110 m with a gap of 6 m.
    let mut world = World::new(&[[0.0, 29.0, 1.0, 52.0], [0.0, -29.0, 1.0, 52.0]]);
    let trip = world.trip([-60.0, 0.0], [60.0, 0.0]);
    assert_eq!(world.verdict(trip), Verdict::Reachable);
    let drive = drive(&mut world, trip, 4000, 5).unwrap();
    assert!(drive.length < 130.0, "{drive:?}");
    // A room with a door that is slightly too narrow or just wide enough.
    for (door, is_open) in [(1.2, false), (1.5, false), (1.6, true), (3.0, true)] {
        let wing = 0.5 * (40.0 - door);
        let mut world = World::new(&[
            [20.0, 0.0, 1.0, 41.0],
            [0.0, 20.0, 41.0, 1.0],
            [0.0, -20.0, 41.0, 1.0],
            [-20.0, 0.5 * (wing + door), 1.0, wing],
            [-20.0, -0.5 * (wing + door), 1.0, wing],
        ]);
        let out = world.trip([0.0, 0.0], [-80.0, 3.0]);
        let back = world.trip([-80.0, 3.0], [0.0, 0.0]);
        for trip in [out, back] {
            match world.verdict(trip) {
                Verdict::Reachable => assert!(is_open, "{door}"),
                Verdict::NoPath(Reason::StartWalledIn(walls) | Reason::GoalWalledIn(walls)) => {
                    assert!(!is_open, "{door}");
                    let gap = walls.gap.expect("a gap");
                    assert!((gap.width - door).abs() < 1e-9, "{gap:?}");
                    assert!((gap.at - DVec2::new(-20.0, 0.0)).length() < 0.51, "{gap:?}");
                    assert!((walls.needed - 1.57).abs() < 1e-12);
                }
                other => panic!("{other:?}"),
            }
        }
    }
}

#[test]
fn goals_in_houses_and_agents_in_rooms_have_no_path() {
    let mut world = World::new(&[[60.0, 0.0, 10.0, 10.0]]);
    let trip = world.trip([0.0, 0.0], [60.0, 0.0]);
    let verdict = world.verdict(trip);
    assert_eq!(verdict, Verdict::NoPath(Reason::Goal(SpotError::Blocked)));
    // A room without a door, whose walls are thinner than the finest cells.
    let mut world = World::new(&[
        [5.0, 0.0, 0.1, 10.1],
        [-5.0, 0.0, 0.1, 10.1],
        [0.0, 5.0, 10.1, 0.1],
        [0.0, -5.0, 10.1, 0.1],
    ]);
    let trip = world.trip([0.0, 0.0], [60.0, 0.0]);
    let Verdict::NoPath(reason) = world.verdict(trip) else {
        panic!("there is a path");
    };
    assert_eq!(reason.to_string(), "the start is walled in");
    let back = world.trip([60.0, 0.0], [0.0, 0.0]);
    let Verdict::NoPath(reason) = world.verdict(back) else {
        panic!("there is a path");
    };
    assert_eq!(reason.to_string(), "the goal is walled in");
}

#[test]
fn verdicts_do_not_depend_on_the_size_of_the_portions() {
    let mut verdicts = Vec::new();
    for budget in [7, 512, 1_000_000] {
        let mut world = pocket();
        // The pocket is closed, and the goal is inside.
        world.wall([-30.0, 0.0, 1.0, 61.0]);
        let trip = world.trip([-100.0, 0.0], [0.0, 0.0]);
        verdicts.push(world.verdict_in_turns(trip, budget));
    }
    assert!(matches!(
        verdicts[0],
        Verdict::NoPath(Reason::GoalWalledIn(_))
    ));
    assert!(verdicts.iter().all(|verdict| *verdict == verdicts[0]));
}

#[test]
fn an_agent_beside_a_wall_drives_off_and_gets_to_a_goal_beside_one() {
    // 0.1 m between the side of the jeep and the wall.
    let beside = 0.5 + 0.5 * 1.57 + 0.1;
    let mut world = World::new(&[[0.0, 0.0, 40.0, 1.0]]);
    let trip = world.trip([0.0, beside], [0.0, -beside]);
    assert_eq!(world.verdict(trip), Verdict::Reachable);
    assert!(drive(&mut world, trip, 4000, usize::MAX).is_some());
    // An agent that overlaps the wall slightly, as after a touch, can also drive off. A large overlap is
    // reported.
    let touching = world.trip([0.0, beside - 0.2], [0.0, -beside]);
    assert_eq!(world.verdict(touching), Verdict::Reachable);
    let inside = world.trip([0.0, beside - 0.5], [0.0, -beside]);
    let verdict = world.verdict(inside);
    assert_eq!(verdict, Verdict::NoPath(Reason::Start(SpotError::Blocked)));
}

#[test]
fn an_obstacle_that_is_taken_away_makes_a_verdict_outdated() {
    let mut world = pocket();
    let lid = world.wall([-30.0, 0.0, 1.0, 61.0]);
    let trip = world.trip([0.0, 0.0], [60.0, 0.0]);
    let mut searches = Reachability::new(&mut world.ground, trip);
    while searches.advance(&mut world.ground, 1000) == Verdict::Searching {}
    assert!(matches!(
        searches.verdict(),
        Verdict::NoPath(Reason::StartWalledIn(_))
    ));
    // A wall elsewhere changes nothing.
    world.wall([500.0, 0.0, 1.0, 1.0]);
    assert!(!searches.is_outdated(&world.ground));
    world.ground.remove(lid);
    assert!(searches.is_outdated(&world.ground));
    assert_eq!(world.verdict(trip), Verdict::Reachable);
}

#[test]
fn nothing_is_learned_from_what_moves_and_all_is_dropped_when_walls_fall() {
    let mut world = pocket();
    let trip = world.trip([20.0, 0.0], [60.0, 0.0]);
    let parameters = HybridParameters {
        budget: 300,
        ..HybridParameters::default()
    };
    let mut plain = HybridPath::new(parameters);
    plain.plan(&mut world.ground, &trip, 0.0);
    assert!(plain.learned_tiles() > 0);
    let drop = Teardrop {
        pose: Pose::new(10.0, 5.0, 0.3),
        length: 20.0,
        half_width: 1.0,
    };
    let forecast = Item {
        role: Role::Forecast(400),
        mobility: Mobility::Moves,
        owner: Some(Owner(2)),
        ..Item::obstacle(Shape::Teardrop(drop), Heights::up_to(1.0))
    };
    world.ground.insert(forecast).unwrap();
    let mut disturbed = HybridPath::new(parameters);
    disturbed.plan(&mut world.ground, &trip, 0.0);
    assert!(disturbed.memory().knows_as_much_as(plain.memory()));
    let wall = world.wall([200.0, 0.0, 1.0, 1.0]);
    world.ground.remove(wall);
    plain.plan(&mut world.ground, &trip, 1.0);
    assert!(plain.learned_tiles() > 0);
}

#[test]
fn memory_that_is_saved_goes_on_to_the_same_plans() {
    let parameters = HybridParameters {
        budget: 300,
        ..HybridParameters::default()
    };
    let mut world = pocket();
    let mut trip = world.trip([20.0, 0.0], [60.0, 0.0]);
    let mut first = HybridPath::new(parameters);
    for at in 0..20 {
        let plan = first.plan(&mut world.ground, &trip, f64::from(at));
        trip.from = Spot::anyhow(*plan.points.last().unwrap());
    }
    let mut second = HybridPath::new(parameters);
    second.restore(first.memory().clone());
    world.ground.drop_tiles();
    let again = second.plan(&mut world.ground, &trip, 20.0);
    assert_eq!(first.plan(&mut world.ground, &trip, 20.0), again);
}

#[test]
fn way_points_move_ahead_with_speed_and_stay_in_sight() {
    let mut world = World::new(&[[0.0, 0.0, 1.0, 40.0]]);
    let trip = world.trip([-60.0, 0.0], [60.0, 0.0]);
    let mut planner = HybridPath::new(HybridParameters::default());
    let plan = planner.plan(&mut world.ground, &trip, 0.0);
    let mut at = |speed| {
        let point = planner.way_point(&mut world.ground, &trip, &plan, speed);
        (point.unwrap() - trip.from.position).length()
    };
    assert!(at(0.0) <= 8.1 && at(0.0) > 5.0);
    assert!(at(10.0) > 20.0 && at(10.0) <= 28.1);
    // The waypoint is not beyond the wall, however fast the agent drives.
    assert!(at(100.0) < 70.0);
}

#[test]
fn spots_that_are_nowhere_are_answered_in_words() {
    let mut world = World::new(&[]);
    for x in [f64::NAN, f64::INFINITY, 1e9] {
        let trip = world.trip([0.0, 0.0], [x, 0.0]);
        let Verdict::NoPath(reason) = world.verdict(trip) else {
            panic!("{x}");
        };
        let words = "the goal is not within 10,000 km of the origin";
        assert_eq!(reason.to_string(), words);
        let mut planner = HybridPath::new(HybridParameters::default());
        let plan = planner.plan(&mut world.ground, &trip, 0.0);
        assert_eq!(plan.end, PlanEnd::Spot(SpotError::Outside));
    }
}
