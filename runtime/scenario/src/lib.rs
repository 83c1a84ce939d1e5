//! Scenarios: road graph, obstacles, terrain and agents, with edits, files and checks.
//!
//! Roads and lanes follow the terms of [OpenDRIVE 1.8]. A road's reference line runs from node to node.
//! Junctions are derived by [`junction`] and never stored.
//!
//! Terms: a [`Road`] has [`Lane`]s in [`LaneSection`]s, as they are drawn and saved. A *lanelet* is a
//! directed piece of lane or a connection through a junction, as it is driven ([`lane_graph`]). A [`Place`]
//! is a start, waypoint or destination of agents. All changes are [`Edit`]s, which have an inverse, and
//! [`History`] keeps the inverses. [`file`](mod@file) reads and writes scenarios, and [`check`] reports
//! problems. docs/glossary.md lists all terms.
//!
//! ```
//! use roadwright_geometry::{DVec2, ReferenceLine};
//! use roadwright_scenario::lane_graph::LaneGraph;
//! use roadwright_scenario::{CrossSection, DrivingSide, Edit, Node, NodeId, Road, RoadAccess};
//! use roadwright_scenario::{RoadClass, RoadId, Scenario, junction};
//!
//! let mut scenario = Scenario::new("one street");
//! let ends = [DVec2::ZERO, DVec2::new(200.0, 0.0)];
//! for (id, end) in (1..).zip(ends) {
//!     scenario.apply(Edit::Node(NodeId(id), Some(Node::at(end))))?;
//! }
//! let (lane_offset, lanes) = CrossSection::driving(1, 1, 3.5).lanes(DrivingSide::Right);
//! let road = Road {
//!     from: NodeId(1),
//!     to: NodeId(2),
//!     name: "Main Street".into(),
//!     class: RoadClass::Residential,
//!     layer: 0,
//!     access: RoadAccess::All,
//!     speed_limit: (50.0 / 3.6).into(),
//!     reference_line: ReferenceLine::straight(ends[0], ends[1])?,
//!     lane_offset,
//!     lane_sections: vec![lanes],
//! };
//! let undo = scenario.apply(Edit::Road(RoadId(1), Some(Box::new(road))))?;
//! let layout = junction::layout(scenario.network(), DrivingSide::Right);
//! assert_eq!(LaneGraph::new(&scenario, &layout).lanelets().len(), 2);
//! scenario.apply(undo)?;
//! assert_eq!(scenario.network().roads().count(), 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod access;
mod agents;
pub mod alleys;
mod body_kind;
pub mod check;
mod country;
mod defaults;
mod driving_side;
mod dynamics;
mod edit;
pub mod file;
mod gait;
pub mod green_wave;
mod grip;
mod grip_map;
mod group;
mod history;
mod ids;
mod index;
mod json_text;
pub mod junction;
mod junction_rules;
mod land;
pub mod lane_graph;
mod lane_rules;
mod lane_type;
mod list_order;
mod map_part;
mod move_library;
mod named;
mod network;
mod objects;
mod off_road;
pub mod operation;
mod paint;
mod parameter_values;
pub mod quantity;
mod restriction;
mod road;
mod road_boxes;
mod scenario;
mod stack;
#[cfg(test)]
mod testing;
mod turn;
mod unique_map;
pub mod vehicle_file;
mod vehicle_type;
mod vertical_span;
mod via_rules;
mod week_times;

pub use access::{LaneAccess, RoadAccess, TripPart, VehicleClass};
pub use agents::{Agent, Flow, GroundPlace, LanePlace, Place};
pub use body_kind::BodyKind;
pub use country::{Custom, RoadLaw};
pub use driving_side::DrivingSide;
pub use dynamics::{DynamicsLevel, LevelTraits, VehiclePart};
pub use edit::{Edit, EditError, MAX_ROAD_ENDS};
pub use gait::{GAIT_SAMPLES, GaitNumbers, Gaits};
pub use grip::GroundGrip;
pub use grip_map::GripMap;
pub use group::Group;
pub use history::History;
pub use ids::{
    AgentId, FlowId, ForestId, GroupId, LandId, NodeId, ObjectId, ObstacleId, PaintId,
    PointOfInterestId, RoadId,
};
pub use index::{Connection, ConnectionIndex, JunctionIndex, LaneletIndex};
pub use junction_rules::{
    Control, CornerRule, CrossingRule, JunctionRules, LaneTurn, MAX_STAGES, Movement, RoadLane,
    SignalControllerSetting, SignalMode, SignalPlan, SignalStage, TurnRules,
};
pub use land::{Land, LandUse, MAX_LAND_CORNERS};
pub use lane_type::LaneType;
pub use list_order::ListOrder;
pub use map_part::{MapPart, NoSuchPart, hides_layer, layers};
pub use move_library::{CLIPS_ENDING, MOVES_ENDING, MoveLibrary};
pub use network::{Node, RoadNetwork};
pub use objects::{BAY, Forest, Obstacle, PointOfInterest, Shape};
pub use off_road::OffRoad;
pub use paint::{
    CellBlock, CellRun, MAX_PAINT_CORNERS, MAX_PAINT_RUNS, PaintCost, PaintLayer, PaintedCells,
};
pub use parameter_values::{TableShape, cell_key, parse_cell_key};
pub use restriction::{Restriction, RestrictionKind, TimedRestriction, ViaRestriction};
pub use road::{
    CrossSection, Lane, LaneBand, LaneChange, LaneDirection, LaneSection, Poly3, Road, RoadClass,
    RoadEnd,
};
pub use road_boxes::{RoadBox, RoadBoxes};
pub use scenario::{About, GeoOrigin, Scenario, Settings};
pub use stack::{HowMany, ModuleKind, ModuleSetting, ModuleSettings, Slot, Stack};
pub use unique_map::UniqueMap;
pub use vehicle_type::VehicleType;
pub use vertical_span::VerticalSpan;
pub use via_rules::{Followed, ViaRules};
pub use week_times::{Moment, WeekTimes, Weekday};
