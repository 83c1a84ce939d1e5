//! Planning on open ground (all ground off the lanes) with maps of cells.
//!
//! | part | contents |
//! | --- | --- |
//! | `cell.rs`, `cost.rs` | cells, directions, costs of steps |
//! | `ground.rs`, `item.rs`, `item_index.rs`, `profile.rs` | [`OpenGround`]: items on the ground, and tiles of cells for each profile |
//! | `shape.rs`, `raster.rs`, `paint.rs` | shapes and painted layers, added to tiles as integers that can be subtracted again |
//! | `space.rs`, `grid.rs` | the interface of maps for searches; bounded maps in one array |
//! | `search.rs`, `queue.rs` | Dijkstra's algorithm and A*, which can be interrupted and continued |
//! | `grid_path.rs` | [`GridPath`]: finds the cheapest path, or proves that there is none |
//! | `flow_field.rs` | [`FlowField`]: the cost to one goal from every cell |
//! | `pose_field.rs` | [`PoseField`]: the cost from every pose, with turning radius and reverse |
//! | `incremental.rs` | [`IncrementalPath`]: D* Lite, which repairs its last plan |
//! | `tile_space.rs` | the unbounded map in the form that searches read |
//! | `drivable` | [`DrivableSearch`]: Hybrid A*, which finds paths that a vehicle can drive |
//! | `hybrid.rs`, `goal_costs.rs` | [`HybridPath`]: learning searches of bounded size; a search from the goal that guides them |
//! | `reach.rs`, `gap.rs` | [`Reachability`]: whether there is a path and, if not, the reason |
//! | `inquiry.rs` | [`Inquiry`]: answers a single request for a path |
//! | `explain.rs` | [`PathCosts`]: the cost of a path, layer by layer; the cells that a search expands |
//! | `export.rs` | [`CellMap`]: a part of a map as text and as colours |
//! | `moving_ai.rs` | maps and problems of the Moving AI benchmarks |
//! | `samples.rs` | maps generated from seeds |

mod cell;
mod cost;
mod drivable;
mod explain;
mod export;
mod flow_field;
mod gap;
mod goal_costs;
mod grid;
mod grid_path;
mod ground;
mod hybrid;
mod incremental;
mod inquiry;
mod item;
mod item_index;
pub mod moving_ai;
mod paint;
mod pose_field;
mod profile;
mod queue;
mod raster;
mod reach;
pub mod samples;
mod search;
mod shape;
mod space;
mod tile_space;

pub use cell::{Cell, CellDistance, CellSize, Direction, NodeIndex};
pub use cost::{
    CARRIAGEWAY, Corners, LARGEST_FACTOR, PLAIN, Rules, SMALLEST_FACTOR, StepCosts, clamp_factor,
};
pub use drivable::{
    DrivablePath, DrivablePiece, DrivableProblems, DrivableProgress, DrivableSearch,
    DrivableSettings, DrivableTrailer, DrivableTrip, DrivableVehicle, DrivenPose, DrivenRun,
    LONGEST_TRIP, Towed,
};
pub use explain::{ExplainedPlan, LayerCost, PathCosts};
pub use export::{CellMap, Mark};
pub use flow_field::FlowField;
pub use gap::Gap;
pub use goal_costs::GoalCosts;
pub use grid::{GridError, GridMap, MOST_CELLS, TILE};
pub use grid_path::{GridAnswer, GridPath, Guide};
pub use ground::{
    Change, FittingSize, OpenGround, ProfileId, Reading, Stamp, TILE_MEMORY, WALL, Window,
    fitting_cell_size,
};
pub use hybrid::{
    Avoiding, Disagreement, Driving, HybridMemory, HybridParameters, HybridPath, HybridPlan,
    PlanEnd, Trip,
};
pub use incremental::{FactorChange, IncrementalPath, Restart};
pub use inquiry::{Answer, Answered, FoundPath, Inquiry};
pub use item::{Item, ItemId, Mobility, Owner, PaintedBlock, Role, VehiclePaint};
pub use paint::Paint;
pub use pose_field::{
    Gear, MOST_POSE_EDGE, Move, PoseField, PoseFieldError, PoseState, Reverse, Steering,
};
pub use profile::{
    Body, Effect, Growth, Heights, Layer, LayerEffect, Measure, ObstacleCosts, Occupied, Profile,
};
pub use reach::{Reachability, Reason, Verdict, WalledIn};
pub use search::{CellPath, DistanceEstimate, Estimate, NoEstimate, Progress, Search};
pub use shape::{Bounds, Circle, Shape, ShapeError, Teardrop};
pub use space::{Space, Step, for_each_step};
pub use tile_space::{Reader, Spot, SpotError, TileCache, TileSpace};
