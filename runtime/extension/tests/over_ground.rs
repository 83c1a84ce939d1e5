//! Scripts that send vehicles from roads onto open ground and back, along paths, and into bays behind houses.

use crate::common::{Bench, run};
use crate::modules;
use crate::scenarios::{draw, street, west_to_east};
use roadwright_geometry::DVec2;
use roadwright_scenario::operation::draw::RoadStyle;
use roadwright_scenario::{
    Agent, AgentId, CrossSection, Edit, ModuleSetting, Obstacle, ObstacleId, Place, RoadId,
    Scenario, Shape, Stack,
};
use roadwright_simulation::{RunOptions, World};

/// A street of 500 m to the east with a row of houses south of it, and a jeep that a script drives.
struct Village {
    /// Keeps the host of the script.
    _bench: Bench,
    world: World,
}

impl Village {
    fn new(script: &str, start: Place) -> Self {
        let bench = Bench::new();
        bench.put_script("errand.rhai", script);
        let said = bench.said();
        assert!(said.contains("version 1 loaded"), "{said}");
        let mut scenario = Scenario::new("village");
        let style = RoadStyle {
            section: CrossSection::driving(1, 1, 3.25),
            ..street("road")
        };
        draw(&mut scenario, (0.0, 0.0), (500.0, 0.0), &style);
        for (id, x) in (1..).zip([110.0, 170.0, 230.0, 290.0, 350.0]) {
            let house = Obstacle {
                name: "house".into(),
                shape: Shape::Box {
                    x: x.into(),
                    y: (-25.0).into(),
                    heading: 0.0.into(),
                    length: 36.0.into(),
                    width: 12.0.into(),
                },
                base: 0.0.into(),
                height: 6.0.into(),
                mass: None.into(),
            };
            let edit = Edit::Obstacle(ObstacleId(id), Some(Box::new(house)));
            scenario.apply(edit).unwrap();
        }
        let mut behaviour = ModuleSetting::new("errand.rhai");
        behaviour.rate_hz = Some(10.0).into();
        let stack = Stack {
            behaviour,
            ..Stack::with_controller("pursuit")
        };
        let agent = Agent {
            vehicle: "willys_mb".into(),
            stack: "errand".into(),
            start,
            destination: Some(Place::lane(RoadId(1), -1, 490.0)),
            ..west_to_east()
        };
        for edit in [
            Edit::Stack("errand".into(), Some(Box::new(stack))),
            Edit::Agent(AgentId(1), Some(Box::new(agent))),
        ] {
            scenario.apply(edit).unwrap();
        }
        let mut registry = bench.host().registry();
        modules::add_to(&mut registry);
        let world = World::new(&scenario, &registry, &RunOptions::default()).unwrap();
        Self {
            _bench: bench,
            world,
        }
    }

    /// Runs for a time and returns the log. There must be no contacts and no faults.
    fn log_after(&mut self, seconds: f64) -> String {
        run(&mut self.world, seconds);
        let faults = self.world.faults();
        assert!(faults.is_empty(), "{faults:?}");
        let lines = self.world.log();
        let log: String = lines.map(|line| format!("{}\n", line.text)).collect();
        let contacts = self.world.summary().collisions.len();
        assert_eq!(contacts, 0, "{log}");
        log
    }
}

/// Returns a script that drives to two places, one after the other, and logs where it arrives.
fn goes_to(first: &str, second: &str) -> String {
    format!(
        "fn behave(agent) {{ if agent.once(\"out\", true) {{ agent.go_to({first}); }} }}
         fn on_arrive(agent) {{
             agent.log(`at ${{agent.x.round()}} ${{agent.y.round()}}`);
             if agent.once(\"back\", true) {{ agent.go_to({second}); }}
         }}
         fn on_no_route(agent) {{ agent.log(\"no route\"); }}"
    )
}

/// Returns the positions of arrivals in a log of `goes_to`.
fn arrivals(log: &str) -> Vec<DVec2> {
    let lines = log.lines().filter_map(|line| line.strip_prefix("at "));
    let number = |text: Option<&str>| text.unwrap().parse::<f64>().unwrap();
    lines
        .map(|line| {
            let mut numbers = line.split(' ');
            DVec2::new(number(numbers.next()), number(numbers.next()))
        })
        .collect()
}

fn is_near(place: DVec2, x: f64, y: f64) -> bool {
    (place - DVec2::new(x, y)).length() < 9.0
}

#[test]
fn go_to_leads_from_the_road_behind_the_houses_and_back_onto_the_road() {
    let script = goes_to("[230.0, -60.0]", "[450.0, -1.6]");
    let mut village = Village::new(&script, Place::lane(RoadId(1), -1, 40.0));
    let log = village.log_after(150.0);
    let found = arrivals(&log);
    assert!(found.len() >= 2, "{log}");
    assert!(is_near(found[0], 230.0, -60.0), "{log}");
    assert!(is_near(found[1], 450.0, -1.6), "{log}");
    assert!(!log.contains("no route"), "{log}");
}

#[test]
fn go_to_leads_from_a_field_onto_the_road_and_back_into_the_field() {
    let script = goes_to("[250.0, -1.6]", "[400.0, -60.0]");
    let mut village = Village::new(&script, Place::ground(60.0, -60.0, 0.0));
    let log = village.log_after(150.0);
    let found = arrivals(&log);
    assert!(found.len() >= 2, "{log}");
    assert!(is_near(found[1], 400.0, -60.0), "{log}");
}

#[test]
fn a_path_through_a_house_is_driven_around_it_in_both_directions() {
    for (start, path, end) in [
        (
            Place::ground(170.0, -60.0, 1.57),
            "[[170.0, -45.0, 4.0], [170.0, -9.0, 4.0]]",
            (170.0, -9.0),
        ),
        (
            Place::lane(RoadId(1), -1, 150.0),
            "[[170.0, -9.0, 4.0], [170.0, -45.0, 4.0], [170.0, -60.0, 4.0]]",
            (170.0, -60.0),
        ),
    ] {
        let script = format!(
            "fn behave(agent) {{ if agent.once(\"out\", true) {{ agent.drive_path({path}); }} }}
             fn on_arrive(agent) {{
                 if agent.once(\"there\", true) {{ agent.log(`at ${{agent.x.round()}} ${{agent.y.round()}}`); }}
             }}"
        );
        let mut village = Village::new(&script, start);
        let log = village.log_after(90.0);
        let found = arrivals(&log);
        assert!(
            !found.is_empty() && is_near(found[0], end.0, end.1),
            "{log}"
        );
    }
}

#[test]
fn a_bay_behind_a_house_is_reached_around_it() {
    for start in [
        Place::lane(RoadId(1), -1, 150.0),
        Place::ground(110.0, -55.0, 0.0),
    ] {
        let script = "fn behave(agent) {
            if agent.once(\"out\", true) { agent.park(170.0, -36.0, 0.0); }
        }
        fn on_arrive(agent) {
            if agent.once(\"there\", true) { agent.log(`at ${agent.x.round()} ${agent.y.round()}`); }
        }";
        let mut village = Village::new(script, start);
        let log = village.log_after(90.0);
        let found = arrivals(&log);
        assert!(
            !found.is_empty() && is_near(found[0], 170.0, -36.0),
            "{log}"
        );
    }
}
