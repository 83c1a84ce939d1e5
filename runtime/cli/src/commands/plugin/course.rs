//! Course of the smoke drive, with a straight, bends in both directions, a turn at a junction, and a car that
//! stands on the route.

use roadwright_agent::{
    Controller, Logic, Lookahead, ModuleEntry, ModuleInfo, ParameterSet, Registry, Step,
};
use roadwright_control::laws::pursuit_steering;
use roadwright_geometry::{Pose, ReferenceLine, Segment};
use roadwright_plugin_api::{ControllerInput, ControllerOutput};
use roadwright_scenario::operation::draw::{self, RoadStyle};
use roadwright_scenario::{
    Agent, AgentId, CrossSection, Edit, ModuleSetting, Place, RoadClass, RoadId, Scenario, Slot,
    Stack,
};
use std::f64::consts::FRAC_PI_2;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The tested agent.
pub(super) const DRIVER: AgentId = AgentId(1);
/// The standing agent.
pub(super) const STANDER: AgentId = AgentId(2);
/// Width of a lane, m.
pub(super) const LANE: f64 = 3.5;
/// Module of the standing agent.
const STANDING: &str = "standing";
/// The controller for comparison. It also drives when a module of another kind is tested.
pub(super) const BUILT_IN: &str = "idm";

/// Position of the standing car.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// On the driver's lane, 40 m before its goal.
    Ahead,
    /// On the other lane, where it blocks no traffic.
    Aside,
}

/// Creates the roads, with a route of at most 400 m, and two cars. The first car drives with the modules of a
/// stack, and the second one does not move.
///
/// # Errors
/// If the scenario cannot be created.
pub(super) fn course(driver: Stack, standing: Standing) -> anyhow::Result<Scenario> {
    let mut scenario = Scenario::new("Smoke drive");
    add_roads(&mut scenario)?;
    let stander = Stack::with_controller(STANDING);
    for (name, mut stack) in [("driver", driver.clone()), (STANDING, stander)] {
        // The standing car is scored by the same fitness.
        stack.fitness = driver.fitness.clone();
        scenario.apply(Edit::Stack(name.into(), Some(Box::new(stack))))?;
    }
    let (first, last) = (RoadId(1), RoadId(2));
    let goal = |s: f64| Place::lane(last, -1, s);
    let (place, destination) = match standing {
        Standing::Ahead => (Place::lane(last, -1, 90.0), goal(146.0)),
        Standing::Aside => (Place::lane(first, 1, 150.0), Place::lane(first, 1, 10.0)),
    };
    let start = Place::lane(first, -1, 6.0);
    for (id, stack, start, destination) in [
        (DRIVER, "driver", start, goal(130.0)),
        (STANDER, STANDING, place, destination),
    ] {
        let agent = Agent {
            name: String::new(),
            vehicle: "car".into(),
            stack: stack.into(),
            dynamics: None,
            start,
            via: Vec::new(),
            destination: Some(destination),
            depart: 0.0.into(),
            repeat: None.into(),
            speed: 0.0.into(),
        };
        scenario.apply(Edit::Agent(id, Some(Box::new(agent))))?;
    }
    Ok(scenario)
}

/// Adds a road with bends, and a straight road across its end.
fn add_roads(scenario: &mut Scenario) -> anyhow::Result<()> {
    let bend = |radius: f64| Segment::Arc {
        length: FRAC_PI_2 * radius.abs(),
        curvature: radius.recip(),
    };
    let straight = |length: f64| Segment::Line { length };
    let north = Pose {
        heading: FRAC_PI_2,
        ..Pose::default()
    };
    let winding = vec![
        straight(70.0),
        bend(40.0),
        straight(10.0),
        bend(-30.0),
        straight(40.0),
    ];
    let winding = ReferenceLine::new(north, winding)?;
    let end = winding.end().position;
    let west = ReferenceLine::straight(end, glam::DVec2::new(end.x - 150.0, end.y))?;
    let east = ReferenceLine::straight(end, glam::DVec2::new(end.x + 70.0, end.y))?;
    for line in [winding, west, east] {
        let edit = draw::road(scenario, &line, &style())?;
        scenario.apply(edit)?;
    }
    Ok(())
}

/// Returns the style of the streets.
pub(super) fn style() -> RoadStyle {
    RoadStyle {
        name: String::new(),
        class: RoadClass::Collector,
        layer: 0,
        speed_limit: RoadClass::Collector.default_speed_limit(),
        section: CrossSection::driving(1, 1, LANE),
    }
}

/// Returns a stack of built-in modules in which one slot has another module.
pub(super) fn stack_with(slot: Slot, module: &str) -> Stack {
    let mut stack = Stack::with_controller(BUILT_IN);
    for setting in stack.settings_mut(slot) {
        *setting = ModuleSetting::new(module);
    }
    stack
}

/// A controller that keeps its car standing until it is released.
struct Stand(Arc<AtomicBool>);

impl Stand {
    const INFO: ModuleInfo = ModuleInfo {
        id: STANDING,
        name: "Standing",
        doc: "Holds the vehicle at a standstill until it is released.",
    };
}

/// Adds the controller of the standing car. Returns the switch that releases it.
pub(super) fn register(registry: &mut Registry) -> Arc<AtomicBool> {
    let may_go = Arc::new(AtomicBool::new(false));
    let shared = may_go.clone();
    registry.add(ModuleEntry::<dyn Controller>::new(
        Stand::INFO,
        &[],
        move || Box::new(Stand(shared.clone())),
    ));
    may_go
}

impl Logic for Stand {}

impl Controller for Stand {
    fn step(
        &self,
        _: &ParameterSet,
        _: &Step<'_>,
        inputs: &[ControllerInput],
        outputs: &mut [ControllerOutput],
    ) {
        let may_go = self.0.load(Ordering::Relaxed);
        for (input, output) in inputs.iter().zip(outputs) {
            output.acceleration = if may_go {
                0.5 * (input.road_speed - input.speed)
            } else {
                -1.0
            };
            let (distance, angle) = (input.waypoint_distance, input.waypoint_angle);
            output.steering = pursuit_steering(input.wheelbase, distance, angle);
        }
    }

    fn lookahead(&self, _: &ParameterSet) -> Lookahead {
        Lookahead {
            time: 0.6,
            distance: 4.5,
        }
    }
}
