//! Built-in planners and behaviours, which find routes through the lanes and decide when to change lanes.
//!
//! | part | contents |
//! | --- | --- |
//! | `route.rs` | [`RoutePlanner`]: the fastest route, by A* over lanelets |
//! | `costs.rs` | costs of driving along lanelets, and lower bounds by landmarks that guide the search |
//! | `route_queue.rs` | the queue of that search |
//! | `islands.rs` | connected areas of restricted roads |
//! | `lane_keeper.rs` | [`LaneKeeper`]: changes lanes if the route requires it and the gap allows it |
//! | `ground_planners.rs` | the modules that find paths off the lanes |
//! | `open_ground` | [`open_ground`]: maps of cells, and planners that find paths over them |
//!
//! # Terms
//!
//! - **lanelet**: a directed ribbon of one lane: a piece of a lane, or a **connection** through a
//!   junction. Routes are made of lanelets.
//! - **route**: a list of lanelets. A pair of consecutive lanelets that are side by side is a lane change.
//! - **delay**: the expected additional time on a lanelet caused by queues, s.
//! - **landmark**: a lanelet at the edge of the network with known distances to and from all others.
//! - **gap**: free length in the target lane, ahead of the vehicle and behind it, m.
//!
//! # Example
//!
//! ```
//! use roadwright_agent::{PlannerView, Step};
//! use roadwright_planning::RoutePlanner;
//! use roadwright_plugin_api::{PlannerInput, PlannerOutput};
//! use roadwright_scenario::{Place, file, junction::layout, lane_graph::LaneGraph};
//!
//! let scenario = file::load("../../scenarios/figure-eight.scenario.json".as_ref())?;
//! let layout = layout(scenario.network(), scenario.about().driving_side);
//! let graph = LaneGraph::new(&scenario, &layout);
//! let agent = scenario.agents().values().next().ok_or("no agent")?;
//! let (Place::Lane(start), Some(Place::Lane(end))) = (agent.start, agent.destination) else {
//!     return Err("not on lanes".into());
//! };
//! let (from, to) = (graph.locate(&start).ok_or("no lane")?, graph.locate(&end).ok_or("no lane")?);
//!
//! let question = PlannerInput {
//!     lanelet: from.0.number(),
//!     s: from.1,
//!     goal_lanelet: to.0.number(),
//!     goal_s: to.1,
//!     bus: 0,
//!     may_change_first: 1,
//! };
//! let (mut lanelets, mut outputs) = (Vec::new(), [PlannerOutput::default()]);
//! let view = PlannerView { graph: &graph, delays: &[] };
//! let planner = RoutePlanner::entry().make();
//! planner.step(&Step::default(), &view, &[question], &mut lanelets, &mut outputs);
//! assert_eq!((lanelets.first(), lanelets.last()), (Some(&from.0), Some(&to.0)));
//! assert!(outputs[0].travel_time > 0.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod costs;
mod ground_planners;
mod islands;
mod lane_changes;
mod lane_keeper;
pub mod open_ground;
mod route;
mod route_queue;

pub use ground_planners::uses_map;
pub use lane_keeper::LaneKeeper;
pub use route::RoutePlanner;

use roadwright_agent::Registry;

/// Adds the built-in planners and behaviours.
pub fn register(registry: &mut Registry) {
    registry.add(RoutePlanner::entry());
    registry.add(LaneKeeper::entry());
    for entry in ground_planners::entries() {
        registry.add(entry);
    }
}
