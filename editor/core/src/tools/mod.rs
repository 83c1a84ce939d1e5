//! Tools: state machines that turn pointer events into edits. None of them knows the window, so
//! each can be driven by a test.

mod corners;
mod flow;
mod forest;
pub mod handles;
mod land;
mod measure;
mod obstacle;
mod options;
mod overlay;
mod place;
mod ribbon;
mod road;
mod roundabout;
mod select;
mod snap;
mod terrain;
mod trip;
pub mod turns;
mod vehicle;

pub use options::{
    ForestOptions, ObstacleKind, ObstacleOptions, RandomTripOptions, RoadPreset, SnapOptions,
    TerrainMode, TerrainOptions, ToolOptions, standard_presets,
};
pub use ribbon::ribbon;
pub use roadwright_scenario::{MapPart, layers};
pub use select::{named, outline_of};
pub use snap::{Snap, SnapKind, grid_spacing, snap};

pub use crate::input::Modifiers;
use crate::scene::Scene;
use roadwright_geometry::DVec2;
use roadwright_scenario::junction::LaneEnd;
use roadwright_scenario::operation::{Objects, groups};
use roadwright_scenario::{Edit, LaneType, ObjectId, Scenario};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Which tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolKind {
    /// Selects, moves, turns and reshapes.
    Select,
    /// Draws roads.
    Road,
    /// Draws roundabouts.
    Roundabout,
    /// Places obstacles.
    Obstacle,
    /// Paints forests.
    Forest,
    /// Draws land: parks, waters, what the ground is used for.
    Land,
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
    pub const ALL: [Self; 12] = [
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
    ];

    /// Name on the screen.
    pub fn name(self) -> &'static str {
        match self {
            Self::Select => "Select",
            Self::Road => "Road",
            Self::Roundabout => "Roundabout",
            Self::Obstacle => "Obstacle",
            Self::Forest => "Forest",
            Self::Land => "Land",
            Self::Place => "Place",
            Self::Terrain => "Terrain",
            Self::Vehicle => "Vehicle",
            Self::Flow => "Flow",
            Self::Measure => "Measure",
            Self::Overlay => "Picture",
        }
    }

    /// What it is for, in one sentence.
    pub fn hint(self) -> &'static str {
        match self {
            Self::Select => "Select, move, turn and reshape what is there.",
            Self::Road => "Draw a road: drag freehand, or click point by point.",
            Self::Roundabout => "Drag from the middle of a roundabout to its ring.",
            Self::Obstacle => "Place a box, circle or polygon that stands in the way.",
            Self::Forest => "Paint trees with a brush, or erase them.",
            Self::Land => "Draw a park, water or a quarter: what lies on the ground.",
            Self::Place => "Give a place a name for scripts, or draw a parking bay.",
            Self::Terrain => "Raise, lower, smooth or flatten the ground.",
            Self::Vehicle => "Drag from where a vehicle starts to where it goes.",
            Self::Flow => "Drag from where traffic comes from to where it goes.",
            Self::Measure => "Measure distances and angles.",
            Self::Overlay => "Place and scale the background picture.",
        }
    }

    /// A new tool of this kind.
    pub fn tool(self) -> Box<dyn Tool> {
        match self {
            Self::Select => Box::new(select::Select::default()),
            Self::Road => Box::new(road::RoadTool::default()),
            Self::Roundabout => Box::new(roundabout::RoundaboutTool::default()),
            Self::Obstacle => Box::new(obstacle::ObstacleTool::default()),
            Self::Forest => Box::new(forest::ForestTool::default()),
            Self::Land => Box::new(land::LandTool::default()),
            Self::Place => Box::new(place::PlaceTool::default()),
            Self::Terrain => Box::new(terrain::TerrainTool::default()),
            Self::Vehicle => Box::new(vehicle::VehicleTool::default()),
            Self::Flow => Box::new(flow::FlowTool::default()),
            Self::Measure => Box::new(measure::Measure::default()),
            Self::Overlay => Box::new(overlay::OverlayTool::default()),
        }
    }
}

/// Where the pointer is in the world.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Pointer {
    /// World point, m.
    pub at: DVec2,
    /// Keys that are held.
    pub modifiers: Modifiers,
}

impl Pointer {
    /// At a point, without any key held.
    pub fn at(x: f64, y: f64) -> Self {
        Self {
            at: DVec2::new(x, y),
            modifiers: Modifiers::default(),
        }
    }
}

/// What happens to a tool. A press is followed by drags and a release, or by a click if the
/// pointer stays within a few pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ToolEvent {
    /// The pointer moves with no button held.
    Move(Pointer),
    /// The left button goes down.
    Press(Pointer),
    /// The pointer moves with the left button held.
    Drag(Pointer),
    /// The left button goes up after a drag.
    Release(Pointer),
    /// The left button goes up where it went down.
    Click(Pointer),
    /// The second click of two at the same place; its [`Click`](Self::Click) came before.
    DoubleClick(Pointer),
    /// Enter: finish.
    Enter,
    /// Backspace: take back the last point.
    Backspace,
    /// Escape: take back the stroke.
    Escape,
    /// A typed character of a number.
    Type(char),
}

// The life of a gesture:
//
//   Press     the tool notes where
//   Drag      Preview   an edit of the scenario as it was before the gesture: each one replaces the
//   Drag      Preview   one before, so errors do not add up, and the history sees the last one only
//   Release   Commit    one step of the history
//   Escape    Abort     or as if nothing had been

/// What a tool wants done.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// An edit that is a step of its own.
    Apply(String, Edit),
    /// The state of the gesture under way, computed from how the document was before it.
    Preview(String, Edit),
    /// The gesture ends with what was last shown.
    Commit,
    /// The gesture is taken back.
    Abort,
    /// These objects are selected from now on.
    Select(Objects),
    /// A way from lane to lane through the selected junction is to be explained.
    Explain(LaneEnd, LaneEnd),
    /// The background picture is moved by this much, m.
    MoveOverlay(DVec2),
    /// The background picture is stretched about its lower left corner.
    ScaleOverlay(f64),
    /// Something that could not be done, and why.
    Refuse(String),
}

/// What tools look at.
#[derive(Clone, Copy)]
pub struct ToolContext<'a> {
    /// The scenario as it is now, gesture included.
    pub scenario: &'a Arc<Scenario>,
    /// What was derived from it, perhaps a moment ago.
    pub scene: &'a Scene,
    /// What is selected.
    pub selection: &'a Objects,
    /// How tools are set.
    pub options: &'a ToolOptions,
    /// Metres per screen point.
    pub scale: f64,
}

impl ToolContext<'_> {
    /// Distance within which things are caught, m.
    pub fn reach(&self) -> f64 {
        10.0 * self.scale
    }

    /// Objects under a point that the mouse may take, the ones on top first.
    pub fn pick(&self, point: DVec2, reach: f64) -> Vec<ObjectId> {
        let mut found = self.scene.pick(point, reach);
        found.retain(|object| !self.options.is_kept_away(self.scenario, *object));
        found
    }

    /// What a click on an object means: it, with its group as far as the mouse may take it.
    pub fn whole(&self, object: ObjectId) -> Objects {
        let mut all = groups::with_groups(self.scenario, &Objects::from([object]));
        let is_kept = |other: &ObjectId| self.options.is_kept_away(self.scenario, *other);
        all.retain(|other| *other == object || !is_kept(other));
        all
    }

    /// Objects wholly in a box that the mouse may take.
    pub fn inside(&self, low: DVec2, high: DVec2) -> Vec<ObjectId> {
        let mut found = self.scene.inside(low, high);
        found.retain(|object| !self.options.is_kept_away(self.scenario, *object));
        found
    }
}

/// The weight of a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// What is being made or is selected.
    Accent,
    /// Under the pointer.
    Hover,
    /// Guides and measures.
    Guide,
    /// Allowed but tight.
    Warning,
    /// Refused, erased.
    Danger,
}

/// How an area is filled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fill {
    /// A lane of a road that is being drawn.
    Lane(LaneType),
    /// Lightly, in a tone.
    Tint(Tone),
}

/// The form of a handle says what it changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandleShape {
    /// A point that moves.
    Square,
    /// A radius.
    Diamond,
    /// An end, or a turn.
    Circle,
    /// A destination.
    Flag,
    /// A point that is not there yet, and would be added.
    Plus,
}

/// Something that a tool shows over the map.
#[derive(Debug, Clone, PartialEq)]
pub enum Mark {
    /// A line of some pixels.
    Line {
        /// World points, m.
        points: Vec<DVec2>,
        /// Weight.
        tone: Tone,
        /// Whether it is dashed.
        dashed: bool,
    },
    /// A filled area.
    Area {
        /// World points, m.
        points: Vec<DVec2>,
        /// How it is filled.
        fill: Fill,
    },
    /// A circle in the world.
    Circle {
        /// Centre, m.
        centre: DVec2,
        /// Radius, m.
        radius: f64,
        /// Weight.
        tone: Tone,
    },
    /// Something to take hold of.
    Handle {
        /// Place, m.
        at: DVec2,
        /// Form.
        shape: HandleShape,
        /// Whether the pointer is on it.
        hot: bool,
    },
    /// A word at a place, such as the kind of a snap.
    Label {
        /// Place, m.
        at: DVec2,
        /// Text, one or two lines.
        text: String,
        /// Weight.
        tone: Tone,
    },
}

impl Mark {
    /// A plain line.
    pub fn line(points: Vec<DVec2>, tone: Tone) -> Self {
        Self::Line {
            points,
            tone,
            dashed: false,
        }
    }

    /// A dashed line.
    pub fn dashes(points: Vec<DVec2>, tone: Tone) -> Self {
        Self::Line {
            points,
            tone,
            dashed: true,
        }
    }

    /// A word at a place.
    pub fn label(at: DVec2, text: impl Into<String>, tone: Tone) -> Self {
        Self::Label {
            at,
            text: text.into(),
            tone,
        }
    }
}

/// A tool.
pub trait Tool {
    /// Takes an event and says what to do.
    fn event(&mut self, event: ToolEvent, context: &ToolContext<'_>) -> Vec<Effect>;

    /// What to show over the map.
    fn marks(&self, context: &ToolContext<'_>) -> Vec<Mark>;

    /// What the mouse buttons do now, for the status line.
    fn status(&self, context: &ToolContext<'_>) -> String;

    /// Whether a stroke is under way, which Escape would take back.
    fn is_busy(&self) -> bool;
}
