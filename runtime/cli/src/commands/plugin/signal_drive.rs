//! Test of a signal controller by `roadwright plugin check` at a crossing with traffic on both streets,
//! compared with actuated control.

use super::course::{BUILT_IN, style};
use anyhow::Context;
use glam::DVec2;
use roadwright_agent::Registry;
use roadwright_geometry::ReferenceLine;
use roadwright_scenario::operation::draw;
use roadwright_scenario::{
    Control, Edit, Flow, Place, RoadId, Scenario, SignalControllerSetting, SignalPlan, Stack,
};
use roadwright_simulation::{Ending, RunOptions, Session, Status, World};
use serde::{Deserialize, Serialize};

/// Name of the mode of actuated control.
const BY_DEMAND: &str = "actuated";
/// Simulated time, s.
const SECONDS: f64 = 600.0;
/// Demand on each street, vehicles/h.
const RATES: [f64; 2] = [500.0, 250.0];
/// Distance from the ends of the streets to the crossing, m.
const ARM: f64 = 300.0;
/// Minimum number of arrivals relative to actuated control. With fewer arrivals, the controller delays
/// traffic too much.
const LEAST_SHARE: f64 = 0.8;

/// Result of a signal controller.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct SignalDrive {
    /// The tested module.
    module: String,
    /// Number of arrived vehicles.
    arrived: u64,
    /// Mean travel time, s.
    mean_time: f64,
    /// Longest wait at the crossing, s.
    longest_wait: f64,
    /// Faults of the module, if any.
    trouble: Option<String>,
}

/// Creates two crossing streets with signals that a module controls.
fn crossing(module: &str) -> anyhow::Result<Scenario> {
    let mut scenario = Scenario::new("Signals");
    let stack = Stack::with_controller(BUILT_IN);
    scenario.apply(Edit::Stack(BUILT_IN.into(), Some(Box::new(stack))))?;
    let style = style();
    let centre = DVec2::ZERO;
    let mut roads = Vec::new();
    for (from, to) in [
        (DVec2::new(-ARM, 0.0), centre),
        (centre, DVec2::new(ARM, 0.0)),
        (DVec2::new(0.0, -ARM), centre),
        (centre, DVec2::new(0.0, ARM)),
    ] {
        roads.push(scenario.network().next_road_id());
        let line = ReferenceLine::straight(from, to)?;
        scenario.apply(draw::road(&scenario, &line, &style)?)?;
    }
    let node = scenario.network().road(roads[0]).context("no street")?.to;
    let mut middle = scenario
        .network()
        .node(node)
        .context("no crossing")?
        .clone();
    middle.rules.control = Some(Control::Signals);
    middle.rules.plan = Some(SignalPlan {
        controller: Some(SignalControllerSetting::new(module)),
        ..SignalPlan::default()
    });
    scenario.apply(Edit::Node(node, Some(middle)))?;
    for (street, rate) in RATES.into_iter().enumerate() {
        let lane = |road: RoadId, s| Place::lane(road, -1, s);
        let flow = Flow {
            vehicle: "car".into(),
            stack: BUILT_IN.into(),
            dynamics: None,
            origin: lane(roads[2 * street], 10.0),
            destination: lane(roads[2 * street + 1], ARM - 20.0),
            rate_per_hour: rate.into(),
            begin: 0.0.into(),
            end: SECONDS.into(),
        };
        let id = scenario.next_flow_id();
        scenario.apply(Edit::Flow(id, Some(Box::new(flow))))?;
    }
    Ok(scenario)
}

/// Simulates the crossing with a module that controls its signals.
fn drive(modules: &Registry, module: &str) -> anyhow::Result<SignalDrive> {
    let scenario = crossing(module)?;
    let world = World::new(&scenario, modules, &RunOptions::default())?;
    let mut session = Session::new(world);
    session.run(Ending::AtTime(SECONDS), &mut [], |_| true);
    let world = session.world();
    let arrived = world.finished().filter(|row| row.status == Status::Arrived);
    let times: Vec<f64> = arrived.map(|row| row.ended - row.started).collect();
    let faults: u64 = world.faults().values().sum();
    let first = world.faults().keys().next();
    Ok(SignalDrive {
        module: module.to_owned(),
        arrived: times.len() as u64,
        mean_time: times.iter().sum::<f64>() / (times.len() as f64).max(1.0),
        longest_wait: world.summary().law.longest_wait,
        trouble: first.map(|first| format!("{faults} faults; the first: {first}")),
    })
}

/// Tests a module, and tests actuated control for comparison.
pub(super) fn beside_demand(modules: &Registry, module: &str) -> anyhow::Result<[SignalDrive; 2]> {
    Ok([drive(modules, module)?, drive(modules, BY_DEMAND)?])
}

impl SignalDrive {
    /// Returns the reason why the signal controller is not acceptable, if there is one.
    pub(super) fn problem(&self, by_demand: &Self) -> Option<String> {
        let mut problems = Vec::new();
        problems.extend(self.trouble.clone());
        if (self.arrived as f64) < LEAST_SHARE * by_demand.arrived as f64 {
            problems.push(format!(
                "{} vehicles arrive, compared with {} under actuated control",
                self.arrived, by_demand.arrived
            ));
        }
        (!problems.is_empty()).then(|| problems.join("; "))
    }

    /// Returns all figures, each followed by that of actuated control in brackets.
    pub(super) fn numbers(&self, by_demand: &Self) -> String {
        format!(
            "{} vehicles arrive in {SECONDS} s ({} {}), after {:.1} s on average ({:.1}); the \
             longest wait is {:.0} s ({:.0})",
            self.arrived,
            by_demand.module,
            by_demand.arrived,
            self.mean_time,
            by_demand.mean_time,
            self.longest_wait,
            by_demand.longest_wait,
        )
    }
}
