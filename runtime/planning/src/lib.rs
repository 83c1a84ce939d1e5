//! Built-in planners and behaviours: the route through the lanes, and when to change lanes.

mod costs;
mod lane_keeper;
mod route;

pub use lane_keeper::LaneKeeper;
pub use route::RoutePlanner;

use roadwright_agent::Registry;

/// Adds the built-in planners and behaviours.
pub fn register(registry: &mut Registry) {
    registry.add(RoutePlanner::entry());
    registry.add(LaneKeeper::entry());
}
