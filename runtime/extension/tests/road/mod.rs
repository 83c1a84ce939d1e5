//! A straight road with cars that a script drives, for tests.

use crate::common::{Bench, run};
use crate::modules;
use crate::scenarios::{draw, street, west_to_east};
use roadwright_scenario::operation::draw::RoadStyle;
use roadwright_scenario::{
    Agent, AgentId, CrossSection, Edit, ModuleSetting, Place, PointOfInterest, PointOfInterestId,
    RoadId, Scenario, Stack,
};
use roadwright_simulation::{RunOptions, Status, VehicleRecord, World};

/// A straight road of 1,000 m to the east with two lanes in each direction. Cars driven by a script with a
/// controller stand on the right lane, 20 m apart, the first one at 100 m.
pub(crate) struct Road {
    pub(crate) bench: Bench,
    pub(crate) scenario: Scenario,
    pub(crate) world: World,
}

impl Road {
    pub(crate) fn driven_by(script: &str, cars: u32, controller: &str) -> Self {
        Self::with_lanes(2, 2, script, cars, controller)
    }

    pub(crate) fn with_lanes(
        forward: usize,
        backward: usize,
        script: &str,
        cars: u32,
        controller: &str,
    ) -> Self {
        let bench = Bench::new();
        bench.put_script("wish.rhai", script);
        let said = bench.said();
        assert!(said.contains("version 1 loaded"), "{said}");
        let mut road = Scenario::new("road");
        let style = RoadStyle {
            section: CrossSection::driving(forward, backward, 3.25),
            ..street("road")
        };
        draw(&mut road, (0.0, 0.0), (500.0, 0.0), &style);
        draw(&mut road, (500.0, 0.0), (1000.0, 0.0), &style);
        let mut behaviour = ModuleSetting::new("wish.rhai");
        behaviour.rate_hz = Some(10.0).into();
        let stack = Stack {
            behaviour,
            ..Stack::with_controller(controller)
        };
        let edit = Edit::Stack("wish".into(), Some(Box::new(stack)));
        road.apply(edit).unwrap();
        for id in 0..cars {
            let agent = Agent {
                stack: "wish".into(),
                start: Place::lane(RoadId(1), -2, 100.0 - 20.0 * f64::from(id)),
                destination: Some(Place::lane(RoadId(2), -2, 450.0)),
                ..west_to_east()
            };
            let edit = Edit::Agent(AgentId(id + 1), Some(Box::new(agent)));
            road.apply(edit).unwrap();
        }
        let world = Self::world_of(&bench, &road);
        Self {
            bench,
            scenario: road,
            world,
        }
    }

    fn world_of(bench: &Bench, scenario: &Scenario) -> World {
        let mut registry = bench.host().registry();
        modules::add_to(&mut registry);
        World::new(scenario, &registry, &RunOptions::default()).unwrap()
    }

    /// Changes the scenario and restarts the run.
    pub(crate) fn edit(&mut self, edits: impl IntoIterator<Item = Edit>) {
        for edit in edits {
            self.scenario.apply(edit).unwrap();
        }
        self.world = Self::world_of(&self.bench, &self.scenario);
    }

    pub(crate) fn new(script: &str, cars: u32) -> Self {
        Self::driven_by(script, cars, "idm")
    }

    pub(crate) fn run(&mut self, seconds: f64) {
        run(&mut self.world, seconds);
        assert!(self.world.faults().is_empty(), "{:?}", self.world.faults());
    }

    #[track_caller]
    pub(crate) fn car(&self, id: u64) -> VehicleRecord {
        let vehicles = self.world.snapshot().vehicles;
        *vehicles.iter().find(|vehicle| vehicle.agent == id).unwrap()
    }

    pub(crate) fn log(&self) -> String {
        let lines = self.world.log();
        lines
            .map(|line| format!("{} {}\n", line.agent, line.text))
            .collect()
    }

    pub(crate) fn is_gone(&self, id: u64) -> Option<Status> {
        let mut finished = self.world.finished();
        finished
            .find(|drive| drive.id == id)
            .map(|drive| drive.status)
    }
}

/// Returns the edit that adds a point of interest.
pub(crate) fn point(id: u32, name: &str, x: f64, y: f64, heading: Option<f64>) -> Edit {
    let point = PointOfInterest {
        name: name.into(),
        x: x.into(),
        y: y.into(),
        heading: heading.into(),
    };
    Edit::PointOfInterest(PointOfInterestId(id), Some(Box::new(point)))
}
