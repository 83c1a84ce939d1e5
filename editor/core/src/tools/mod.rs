//! Tools: state machines that turn pointer events into edits. Tests can run them without a window.

mod bays;
mod brush;
mod corners;
mod flow;
mod forest;
pub mod handles;
mod join;
mod land;
mod measure;
mod obstacle;
mod options;
mod outline;
mod overlay;
mod paint;
mod place;
mod ribbon;
mod road;
mod roundabout;
mod select;
mod snap;
mod stroke_layers;
mod terrain;
mod trip;
mod trip_handles;
pub mod turns;
mod vehicle;

pub use options::{
    BayKind, BayOptions, ForestOptions, LAYERS, ObstacleKind, ObstacleOptions, PLAIN_STREET,
    PaintOptions, PaintShape, RandomTripOptions, RoadPreset, SnapOptions, StackChoice, TerrainMode,
    TerrainOptions, ToolOptions, TripGround, standard_presets,
};
pub use paint::new_paint_layer;
pub use ribbon::{ribbon, road_ribbon};
pub use roadwright_scenario::{MapPart, layers};
pub use select::{named, outline_of};
pub use snap::{Snap, SnapKind, grid_spacing, snap};

pub use crate::input::Modifiers;
use crate::route_source::RouteSource;
use crate::scene::Scene;
use roadwright_geometry::DVec2;
use roadwright_scenario::junction::LaneEnd;
use roadwright_scenario::operation::{Objects, groups};
use roadwright_scenario::{Edit, LaneType, ObjectId, Place, Scenario};
use roadwright_simulation::{DrawnStop, RouteFinder};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The kinds of tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolKind {
    /// Selects, moves, rotates and reshapes objects.
    Select,
    /// Draws roads.
    Road,
    /// Draws roundabouts.
    Roundabout,
    /// Places obstacles.
    Obstacle,
    /// Paints forests.
    Forest,
    /// Draws land: parks, water, and other uses of the ground.
    Land,
    /// Paints ground with costs for planners.
    Paint,
    /// Places points of interest.
    Place,
    /// Shapes the ground.
    Terrain,
    /// Places vehicles with their destinations.
    Vehicle,
    /// Draws flows of vehicles.
    Flow,
    /// Measures distances.
    Measure,
    /// Places the background picture.
    Overlay,
}

impl ToolKind {
    /// All tools in the order of the tool bar.
    pub const ALL: [Self; 13] = [
        Self::Select,
        Self::Road,
        Self::Roundabout,
        Self::Obstacle,
        Self::Forest,
        Self::Land,
        Self::Place,
        Self::Terrain,
        Self::Vehicle,
        Self::Flow,
        Self::Measure,
        Self::Overlay,
        Self::Paint,
    ];

    /// Returns the name shown on the screen.
    pub fn name(self) -> &'static str {
        match self {
            Self::Select => "Select",
            Self::Road => "Road",
            Self::Roundabout => "Roundabout",
            Self::Obstacle => "Obstacle",
            Self::Forest => "Forest",
            Self::Land => "Land",
            Self::Paint => "Paint",
            Self::Place => "Place",
            Self::Terrain => "Terrain",
            Self::Vehicle => "Vehicle",
            Self::Flow => "Flow",
            Self::Measure => "Measure",
            Self::Overlay => "Picture",
        }
    }

    /// Describes the purpose of the tool in one sentence.
    pub fn hint(self) -> &'static str {
        match self {
            Self::Select => "Select, move, rotate and reshape objects.",
            Self::Road => "Draw a road: drag freehand, or click point by point.",
            Self::Roundabout => "Draw a roundabout: drag from its centre to its ring.",
            Self::Obstacle => "Place a box, circle or polygon as an obstacle.",
            Self::Forest => "Paint trees with a brush, or erase them.",
            Self::Land => "Draw a park, water or a district on the ground.",
            Self::Paint => {
                "Paint or erase ground that vehicles off the lanes avoid or do not enter."
            }
            Self::Place => "Name a place for scripts, or draw parking bays.",
            Self::Terrain => "Raise, lower, smooth or flatten the ground.",
            Self::Vehicle => "Place a vehicle: drag from its start to its destination.",
            Self::Flow => "Draw a flow: drag from its origin to its destination.",
            Self::Measure => "Measure distances and angles.",
            Self::Overlay => "Place and scale the background picture.",
        }
    }

    /// Creates a tool of this kind.
    pub fn tool(self) -> Box<dyn Tool> {
        match self {
            Self::Select => Box::new(select::Select::default()),
            Self::Road => Box::new(road::RoadTool::default()),
            Self::Roundabout => Box::new(roundabout::RoundaboutTool::default()),
            Self::Obstacle => Box::new(obstacle::ObstacleTool::default()),
            Self::Forest => Box::new(forest::ForestTool::default()),
            Self::Land => Box::new(land::LandTool::default()),
            Self::Paint => Box::new(paint::PaintTool::default()),
            Self::Place => Box::new(place::PlaceTool::default()),
            Self::Terrain => Box::new(terrain::TerrainTool::default()),
            Self::Vehicle => Box::new(vehicle::VehicleTool::default()),
            Self::Flow => Box::new(flow::FlowTool::default()),
            Self::Measure => Box::new(measure::Measure::default()),
            Self::Overlay => Box::new(overlay::OverlayTool::default()),
        }
    }
}

/// State of the pointer.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Pointer {
    /// Position in the world, m.
    pub at: DVec2,
    /// Held modifier keys.
    pub modifiers: Modifiers,
}

impl Pointer {
    /// Creates a pointer at a point, without modifier keys.
    pub fn at(x: f64, y: f64) -> Self {
        Self {
            at: DVec2::new(x, y),
            modifiers: Modifiers::default(),
        }
    }
}

/// Input events of a tool. A press is followed by drags and a release, or by a click if the pointer stays
/// within a few pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ToolEvent {
    /// The pointer moves with no button held.
    Move(Pointer),
    /// The left button goes down.
    Press(Pointer),
    /// The pointer moves with the left button held.
    Drag(Pointer),
    /// The left button is released after a drag.
    Release(Pointer),
    /// The left button is released where it was pressed.
    Click(Pointer),
    /// The second of two clicks at the same place. It is sent after the [`Click`](Self::Click) of the second
    /// press.
    DoubleClick(Pointer),
    /// Enter: finishes the stroke.
    Enter,
    /// Backspace: removes the last point.
    Backspace,
    /// Escape: cancels the stroke.
    Escape,
    /// A typed character of a length or an angle.
    Type(char),
    /// The layer in the options has changed.
    Layer,
}

impl ToolEvent {
    /// Returns the position of the pointer, if the event has one.
    pub fn pointer(self) -> Option<Pointer> {
        match self {
            Self::Move(pointer)
            | Self::Press(pointer)
            | Self::Drag(pointer)
            | Self::Release(pointer)
            | Self::Click(pointer)
            | Self::DoubleClick(pointer) => Some(pointer),
            Self::Enter | Self::Backspace | Self::Escape | Self::Type(_) | Self::Layer => None,
        }
    }
}

// The events of a gesture:
//
//   Press     the tool stores the position
//   Drag      Preview   an edit of the scenario before the gesture; each one replaces the previous
//   Drag      Preview   one, so errors do not add up and the history contains only the last one
//   Release   Commit    adds one step to the history
//   Escape    Abort     discards the gesture instead

/// An effect that a tool requests.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Applies an edit as a step of the history.
    Apply(String, Edit),
    /// Replaces the state of the gesture in progress. The edit applies to the document before the
    /// gesture.
    Preview(String, Edit),
    /// Ends the gesture and keeps its last state.
    Commit,
    /// Cancels the gesture.
    Abort,
    /// Selects these objects.
    Select(Objects),
    /// Explains the connection between two lanes through the selected junction.
    Explain(LaneEnd, LaneEnd),
    /// Moves the background picture by this vector, m.
    MoveOverlay(DVec2),
    /// Scales the background picture about its lower left corner.
    ScaleOverlay(f64),
    /// Sets the measured line, m.
    Measured(Vec<DVec2>),
    /// Reports why the requested change is impossible.
    Refuse(String),
}

/// Context that tools can read.
#[derive(Clone, Copy)]
pub struct ToolContext<'a> {
    /// The current scenario, including the gesture in progress.
    pub scenario: &'a Arc<Scenario>,
    /// Data derived from the scenario, possibly from its previous revision.
    pub scene: &'a Scene,
    /// The selected objects.
    pub selection: &'a Objects,
    /// Options of the tools.
    pub options: &'a ToolOptions,
    /// Metres per screen point.
    pub scale: f64,
    /// Routes between places of the scenario.
    pub routes: &'a RouteSource,
    /// Stops of the trip being drawn, on the lanes that the last route search chose. The ends of
    /// that search may be up to 10 m away from the current ones.
    pub taken: &'a [Place],
}

impl ToolContext<'_> {
    /// Returns the distance within which the pointer snaps and picks, m.
    pub fn reach(&self) -> f64 {
        10.0 * self.scale
    }

    /// Returns the pickable objects under a point, topmost first.
    pub fn pick(&self, point: DVec2, reach: f64) -> Vec<ObjectId> {
        let mut found = self.scene.pick(point, reach);
        found.retain(|object| !self.options.is_kept_away(self.scenario, *object));
        found
    }

    /// Returns the objects that a click on an object selects: the object itself, and the pickable
    /// members of its group.
    pub fn whole(&self, object: ObjectId) -> Objects {
        let mut all = groups::with_groups(self.scenario, &Objects::from([object]));
        let is_kept = |other: &ObjectId| self.options.is_kept_away(self.scenario, *other);
        all.retain(|other| *other == object || !is_kept(other));
        all
    }

    /// Returns the pickable objects entirely inside a box.
    pub fn inside(&self, low: DVec2, high: DVec2) -> Vec<ObjectId> {
        let mut found = self.scene.inside(low, high);
        found.retain(|object| !self.options.is_kept_away(self.scenario, *object));
        found
    }
}

/// Colour role of a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// An object being drawn or selected.
    Accent,
    /// An object under the pointer.
    Hover,
    /// Guides and measurements.
    Guide,
    /// A warning, such as a radius that is allowed but tight.
    Warning,
    /// An error, a refusal, or an object to be erased.
    Danger,
}

/// Fill of an area.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fill {
    /// A lane of a road being drawn.
    Lane(LaneType),
    /// A light tint of a colour role.
    Tint(Tone),
}

/// Shape of a handle, which shows what it changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandleShape {
    /// A square, for a movable point.
    Square,
    /// A diamond, for a radius.
    Diamond,
    /// A circle, for an end or a rotation.
    Circle,
    /// A flag, for a destination.
    Flag,
    /// A plus sign, for a point that would be added.
    Plus,
}

/// An overlay that a tool shows over the map.
#[derive(Debug, Clone, PartialEq)]
pub enum Mark {
    /// A line with a width in pixels.
    Line {
        /// World points, m.
        points: Vec<DVec2>,
        /// Colour role of the line.
        tone: Tone,
        /// Whether the line is dashed.
        dashed: bool,
    },
    /// A filled area.
    Area {
        /// World points, m.
        points: Vec<DVec2>,
        /// Fill of the area.
        fill: Fill,
    },
    /// A circle in the world.
    Circle {
        /// Centre of the circle, m.
        centre: DVec2,
        /// Radius of the circle, m.
        radius: f64,
        /// Colour role of the circle.
        tone: Tone,
    },
    /// A handle that the user can drag.
    Handle {
        /// Position of the handle, m.
        at: DVec2,
        /// Shape of the handle.
        shape: HandleShape,
        /// Whether the pointer is on the handle.
        hot: bool,
    },
    /// A text label, such as the kind of a snap target.
    Label {
        /// Position of the label, m.
        at: DVec2,
        /// Text of the label, one or two lines.
        text: String,
        /// Colour role of the label.
        tone: Tone,
    },
}

impl Mark {
    /// Creates a solid line.
    pub fn line(points: Vec<DVec2>, tone: Tone) -> Self {
        Self::Line {
            points,
            tone,
            dashed: false,
        }
    }

    /// Creates a dashed line.
    pub fn dashes(points: Vec<DVec2>, tone: Tone) -> Self {
        Self::Line {
            points,
            tone,
            dashed: true,
        }
    }

    /// Creates a text label.
    pub fn label(at: DVec2, text: impl Into<String>, tone: Tone) -> Self {
        Self::Label {
            at,
            text: text.into(),
            tone,
        }
    }
}

/// A tool: a state machine that turns input events into effects.
pub trait Tool {
    /// Handles an event and returns its effects.
    fn event(&mut self, event: ToolEvent, context: &ToolContext<'_>) -> Vec<Effect>;

    /// Returns the overlays to show over the map.
    fn marks(&self, context: &ToolContext<'_>) -> Vec<Mark>;

    /// Returns the status line text, which describes the current functions of the mouse buttons.
    fn status(&self, context: &ToolContext<'_>) -> String;

    /// Whether a stroke is in progress, which Escape cancels.
    fn is_busy(&self) -> bool;

    /// Returns the layer of a road drawn at the pointer; `None` for tools that draw no roads.
    fn layer(&self, _: &ToolContext<'_>) -> Option<i8> {
        None
    }

    /// Returns the trip being drawn; `None` until both ends are known.
    fn trip(&self, _: &ToolContext<'_>) -> Option<DrawnTrip> {
        None
    }
}

/// A trip being drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct DrawnTrip {
    /// Key of the vehicle type.
    pub vehicle: String,
    /// Key of the stack.
    pub stack: String,
    /// Start, waypoints and destination.
    pub stops: Vec<DrawnStop>,
    /// Position of the pointer, m.
    pub pointer: DVec2,
}

impl DrawnTrip {
    /// Returns the places of the stops, on the lanes that suit the trip best.
    pub fn places(&self, context: &ToolContext<'_>) -> Vec<Place> {
        let pointed: Vec<Place> = self.stops.iter().map(DrawnStop::place).collect();
        let has_choice = self
            .stops
            .iter()
            .any(|stop| matches!(stop, DrawnStop::Pointed { .. }));
        if !has_choice || TripGround::of(&pointed) == TripGround::OpenGround {
            return pointed;
        }
        let choose =
            |finder: &RouteFinder| finder.choose_lanes(&self.vehicle, &self.stack, &self.stops);
        context.routes.with(context.scenario, choose).stops
    }
}

/// Rule for choosing the lanes of stops under the pointer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum LaneRule {
    /// The lanes with the quickest route.
    #[default]
    Quickest,
    /// The lanes under the pointer, while Alt is held.
    UnderPointer,
}

impl LaneRule {
    fn of(modifiers: Modifiers) -> Self {
        match modifiers.alt {
            true => Self::UnderPointer,
            false => Self::Quickest,
        }
    }

    /// Creates the stop of a trip at a place under the pointer.
    fn stop(self, place: Place, pointer: DVec2) -> DrawnStop {
        match self {
            Self::Quickest => DrawnStop::Pointed { place, pointer },
            Self::UnderPointer => DrawnStop::Fixed(place),
        }
    }
}
