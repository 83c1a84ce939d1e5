use super::*;
use roadwright_geometry::DVec2;
use roadwright_scenario::{ModuleSetting, Shape};

fn setup(controller: &str) -> Setup {
    Setup::with_driver(Stack::with_controller(controller))
}

#[test]
fn a_course_is_made_of_its_seed() {
    for course in Course::all() {
        let of = |seed| course.scenario(seed, &setup("fuzzy_driver")).unwrap();
        assert_eq!(of(5), of(5), "{}", course.name);
        assert_ne!(of(5), of(6), "{}", course.name);
        assert_eq!(Course::named(&course.name).unwrap(), course);
    }
    let error = Course::named("jungle").unwrap_err().to_string();
    assert!(
        error.contains("obstacle-stream") && error.contains("arena"),
        "{error}"
    );
}

#[test]
fn the_arena_begins_on_its_circle_and_leads_to_its_middle() {
    let course = Course::named("arena").unwrap();
    let mut headings = Vec::new();
    for seed in 0..20 {
        let scenario = course.scenario(seed, &setup("fuzzy_driver")).unwrap();
        let [agent] = &scenario.agents().values().collect::<Vec<_>>()[..] else {
            panic!("one agent");
        };
        let pose = scenario.pose_of(&agent.start).unwrap();
        assert!((pose.position.length() - 300.0).abs() < 1e-9);
        headings.push(pose.heading);
        let goal = scenario.pose_of(&agent.destination.unwrap()).unwrap();
        assert_eq!(goal.position, DVec2::ZERO);
        let clear = scenario.obstacles().values();
        assert!(
            clear
                .map(|o| o.shape.distance(DVec2::ZERO))
                .fold(f64::MAX, f64::min)
                > 8.0
        );
    }
    headings.sort_by(f64::total_cmp);
    assert!(headings[0] < -1.0 && headings[19] > 1.0, "{headings:?}");
    assert_eq!((course.ends.time, course.ends.mileage), (180.0, None));
}

#[test]
fn nobody_comes_to_the_end_of_the_stream() {
    let course = Course::named("obstacle-stream").unwrap();
    let scenario = course.scenario(3, &setup("fuzzy_driver")).unwrap();
    assert_eq!(scenario.agents().len(), 40);
    for agent in scenario.agents().values() {
        let places: Vec<DVec2> = agent
            .places()
            .map(|place| scenario.pose_of(place).unwrap().position)
            .collect();
        let length: f64 = places
            .windows(2)
            .map(|pair| (pair[1] - pair[0]).length())
            .sum();
        let fastest = scenario.vehicle_types().values().map(|v| v.max_speed.get());
        assert!(length >= fastest.fold(0.0, f64::max) * course.ends.time);
        for place in &places {
            let mut shapes = scenario.obstacles().values();
            assert!(shapes.all(|o| o.shape.distance(*place) >= 8.0));
        }
    }
    assert_eq!((course.ends.time, course.ends.mileage), (60.0, Some(300.0)));
}

#[test]
fn a_setup_chooses_vehicles_drivers_and_fitness() {
    let course = Course::named("obstacle-stream").unwrap();
    let drivers = ["fuzzy_driver", "pursuit"].map(Stack::with_controller);
    let setup = Setup {
        vehicle: Some("car".into()),
        drivers: drivers.to_vec(),
        fitness: Some(vec![ModuleSetting::new("comfort")]),
        ..Setup::default()
    };
    let scenario = course.scenario(1, &setup).unwrap();
    for driver in ["driver_0", "driver_1"] {
        let of_driver = scenario.agents().values().filter(|a| a.stack == driver);
        assert_eq!(of_driver.count(), 20);
        assert_eq!(scenario.stacks()[driver].fitness.0[0].module, "comfort");
    }
    assert!(scenario.agents().values().all(|a| a.vehicle == "car"));
    let wrong = Setup {
        vehicle: Some("tank".into()),
        ..Setup::default()
    };
    let error = course.scenario(1, &wrong).unwrap_err().to_string();
    assert!(
        error.contains("tank") && error.contains("willys_mb"),
        "{error}"
    );
}

#[test]
fn a_scenario_of_ones_own_is_a_course() {
    let path = "../../scenarios/obstacle-field.scenario.json";
    let own = roadwright_scenario::file::load(path.as_ref()).unwrap();
    let course = Course::own("mine", own.clone());
    assert_eq!(course.ends.time, 120.0);
    let as_it_is = course.scenario(9, &Setup::default()).unwrap();
    assert_eq!(
        (as_it_is.settings().seed, as_it_is.agents()),
        (9, own.agents())
    );
    let other = course.scenario(9, &setup("pursuit")).unwrap();
    assert!(other.agents().values().all(|a| a.stack == "driver_0"));
    assert_eq!(other.stacks()["driver_0"].controller.module, "pursuit");
}

#[test]
fn modules_of_a_setup_go_before_those_of_stacks_and_have_to_fit() {
    let course = Course::named("arena").unwrap();
    let with = |slot: &str, modules: &[&str]| {
        let settings = modules.iter().map(|id| ModuleSetting::new(id)).collect();
        let tuned = ModuleSetting::new("fuzzy_driver").with("avoid_steering_gain", 2.5);
        let driver = Stack {
            controller: tuned,
            ..Stack::default()
        };
        Setup {
            modules: [(slot.to_owned(), settings)].into(),
            ..Setup::with_driver(driver)
        }
    };
    let controller = |setup: &Setup| {
        let scenario = course.scenario(1, setup).unwrap();
        scenario.stacks()["driver_0"].controller.clone()
    };
    assert_eq!(controller(&with("controller", &["idm"])).module, "idm");
    // The same module keeps its parameters, because selecting modules does not reset them.
    let same = controller(&with("controller", &["fuzzy_driver"]));
    assert_eq!(same.parameters["avoid_steering_gain"], 2.5);
    for (slot, modules) in [
        ("wheels", &["a"][..]),
        ("controller", &[]),
        ("planner", &["a", "b"]),
    ] {
        let error = course.scenario(1, &with(slot, modules)).unwrap_err();
        assert!(matches!(error, CourseError::Setup { .. }), "{error}");
    }
}

#[test]
fn the_forest_has_210_posts_and_a_start_that_is_clear() {
    let course = Course::named("forest").unwrap();
    for vehicle in ["willys_mb", "enviro_400"] {
        for seed in 0..50 {
            let setup = Setup {
                vehicle: Some(vehicle.into()),
                ..setup("fuzzy_mechanic")
            };
            let scenario = course.scenario(seed, &setup).unwrap();
            let [agent] = &scenario.agents().values().collect::<Vec<_>>()[..] else {
                panic!("one agent");
            };
            let kind = &scenario.vehicle_types()[vehicle];
            let start = scenario.pose_of(&agent.start).unwrap();
            let middle = start.point(kind.body_centre(), 0.0);
            assert!(middle.length() < 1e-9 && start.heading == 0.0);
            let goal = scenario.pose_of(&agent.destination.unwrap()).unwrap();
            assert_eq!(goal.position, DVec2::new(120.0, 0.0));
            assert_eq!(scenario.obstacles().len(), 210);
            for (number, post) in scenario.obstacles().values().enumerate() {
                let Shape::Box {
                    x,
                    y,
                    length,
                    width,
                    ..
                } = post.shape
                else {
                    panic!("posts are boxes");
                };
                assert_eq!(
                    [length, width, post.height].map(|size| size.get()),
                    [2.0, 2.0, 10.0]
                );
                assert_eq!(post.mass, Some(1000.0));
                let (row, column) = (number / 21, number % 21);
                let lattice = DVec2::new(10.0 * (row + 1) as f64, 10.0 * column as f64 - 100.0);
                let moved = (DVec2::new(x.get(), y.get()) - lattice).abs();
                assert!(moved.x <= 4.0 && moved.y <= 4.0, "{number}: {moved}");
            }
            // Even the longest vehicle starts clear of all posts.
            let front = start.point(kind.front(), 0.0);
            let clear = scenario.obstacles().values();
            assert!(
                clear
                    .map(|o| o.shape.distance(front))
                    .fold(f64::MAX, f64::min)
                    > 0.0
            );
        }
    }
}

#[test]
fn paths_lead_to_the_goals_of_courses_without_lanes() {
    let without_lanes = || Course::all().into_iter().filter(Course::is_on_open_ground);
    assert_eq!(without_lanes().count(), 4);
    for course in without_lanes() {
        for seed in 1..=2 {
            let scenario = course.scenario(seed, &Setup::default()).unwrap();
            let free = course.free_times(&scenario);
            assert!(!free.is_empty(), "{} {seed}", course.name);
            assert_eq!(
                free.len(),
                scenario.agents().len(),
                "{} {seed}",
                course.name
            );
            // The first trip leads around an obstacle.
            let (first, time) = free[0];
            let agent = &scenario.agents()[&first];
            let speed = scenario.vehicle_types()[&agent.vehicle]
                .max_speed
                .get()
                .min(8.0);
            let from = scenario.pose_of(&agent.start).unwrap().position;
            let to = scenario
                .pose_of(&agent.destination.unwrap())
                .unwrap()
                .position;
            assert!(
                time * speed > 1.4 * (to - from).length(),
                "{} {seed}",
                course.name
            );
        }
    }
}
