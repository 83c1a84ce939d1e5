//! Options of the tools, kept between sessions.

use super::MapPart;
use roadwright_scenario::operation::draw::RoadStyle;
use roadwright_scenario::{
    CrossSection, LandUse, LaneType, ObjectId, PaintId, Place, RoadClass, Scenario, Stack,
};
use roadwright_simulation::PopulateFrom;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// A cross-section for new roads, with class and speed limit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RoadPreset {
    /// Name shown in the list of presets.
    pub name: String,
    /// Importance of the road.
    pub class: RoadClass,
    /// Speed limit, m/s.
    pub speed_limit: f64,
    /// Lanes of the road.
    pub section: CrossSection,
}

impl RoadPreset {
    fn new(name: &str, class: RoadClass, section: CrossSection) -> Self {
        Self {
            name: name.into(),
            class,
            speed_limit: class.default_speed_limit(),
            section,
        }
    }
}

/// Name of the default preset without pavements, for streets whose surroundings do not matter.
pub const PLAIN_STREET: &str = "1+1 without pavements";

/// Returns the default presets. The first one is a town street. Roads outside towns have no
/// pavements.
pub fn standard_presets() -> Vec<RoadPreset> {
    use LaneType::{Biking, Bus, Parking, Shoulder, Sidewalk};
    use RoadClass::{Arterial, Collector, Motorway, Ramp, Residential};
    let driving = CrossSection::driving;
    vec![
        RoadPreset::new(
            "Street 1+1",
            Residential,
            driving(1, 1, 3.25).with_border(Sidewalk, 2.5),
        ),
        RoadPreset::new(
            "Avenue 2+2",
            Arterial,
            driving(2, 2, 3.25).with_border(Sidewalk, 3.0),
        ),
        RoadPreset::new(
            "1+1 with parking",
            Residential,
            driving(1, 1, 3.0)
                .with_border(Parking, 2.2)
                .with_border(Sidewalk, 2.5),
        ),
        RoadPreset::new(
            "1+1 with cycle lanes",
            Collector,
            driving(1, 1, 3.25)
                .with_border(Biking, 1.8)
                .with_border(Sidewalk, 2.5),
        ),
        RoadPreset::new(
            "1+1 with bus lanes",
            Arterial,
            driving(1, 1, 3.25)
                .with_border(Bus, 3.25)
                .with_border(Sidewalk, 3.0),
        ),
        RoadPreset::new("One-way, 1 lane", Residential, driving(1, 0, 3.5)),
        RoadPreset::new("One-way, 2 lanes", Collector, driving(2, 0, 3.25)),
        RoadPreset::new("One-way, 3 lanes", Motorway, driving(3, 0, 3.5)),
        RoadPreset::new("Slip road", Ramp, driving(1, 0, 3.6)),
        RoadPreset::new(PLAIN_STREET, Residential, driving(1, 1, 3.25)),
        RoadPreset::new(
            "Rural road 1+1",
            Arterial,
            driving(1, 1, 3.5).with_border(Shoulder, 1.5),
        ),
    ]
}

/// Returns the default presets of earlier versions, in which streets had no pavements.
fn presets_without_pavements() -> Vec<RoadPreset> {
    use LaneType::{Biking, Bus, Parking, Sidewalk};
    use RoadClass::{Arterial, Collector, Motorway, Ramp, Residential};
    let driving = CrossSection::driving;
    vec![
        RoadPreset::new("Street 1+1", Residential, driving(1, 1, 3.25)),
        RoadPreset::new("One-way, 1 lane", Residential, driving(1, 0, 3.5)),
        RoadPreset::new("One-way, 2 lanes", Collector, driving(2, 0, 3.25)),
        RoadPreset::new("One-way, 3 lanes", Motorway, driving(3, 0, 3.5)),
        RoadPreset::new("Slip road", Ramp, driving(1, 0, 3.6)),
        RoadPreset::new("Avenue 2+2", Arterial, driving(2, 2, 3.25)),
        RoadPreset::new(
            "1+1 with pavements",
            Residential,
            driving(1, 1, 3.25).with_border(Sidewalk, 2.5),
        ),
        RoadPreset::new(
            "2+2 with pavements",
            Arterial,
            driving(2, 2, 3.25).with_border(Sidewalk, 3.0),
        ),
        RoadPreset::new(
            "1+1 with parking",
            Residential,
            driving(1, 1, 3.0).with_border(Parking, 2.2),
        ),
        RoadPreset::new(
            "1+1 with cycle lanes",
            Collector,
            driving(1, 1, 3.25).with_border(Biking, 1.8),
        ),
        RoadPreset::new(
            "1+1 with bus lanes",
            Arterial,
            driving(1, 1, 3.25).with_border(Bus, 3.25),
        ),
    ]
}

/// The ground on which a trip begins and ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TripGround {
    /// Start and destination are on lanes.
    Lanes,
    /// The start or the destination, or both, are off the lanes.
    OpenGround,
}

impl TripGround {
    /// Returns the ground for a trip between the given places.
    pub fn of<'a>(places: impl IntoIterator<Item = &'a Place>) -> Self {
        let mut places = places.into_iter();
        if places.any(|place| matches!(place, Place::Ground(_))) {
            Self::OpenGround
        } else {
            Self::Lanes
        }
    }
}

/// Stack of new agents and flows.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", from = "StoredStack")]
pub enum StackChoice {
    /// A stack that suits the trip.
    #[default]
    Automatic,
    /// The stack with this key, chosen by the user.
    Chosen(String),
}

/// A stack in the settings. Older versions stored only the key, which was `idm` unless the user had
/// chosen another one.
#[derive(Deserialize)]
#[serde(untagged)]
enum StoredStack {
    Chosen { chosen: String },
    Key(String),
}

impl From<StoredStack> for StackChoice {
    fn from(stored: StoredStack) -> Self {
        match stored {
            StoredStack::Chosen { chosen } => Self::Chosen(chosen),
            StoredStack::Key(key) if key == "automatic" || key == PREFERRED_STACK => {
                Self::Automatic
            }
            StoredStack::Key(key) => Self::Chosen(key),
        }
    }
}

/// Key of the stack that the automatic choice prefers if it suits the trip.
const PREFERRED_STACK: &str = "idm";

impl StackChoice {
    /// Returns the key of the stack for a trip, or the missing key as an error.
    ///
    /// The automatic choice is `idm`, or the first stack of the list if there is no `idm`. Off the
    /// lanes, stacks that steer around obstacles are preferred.
    ///
    /// # Errors
    /// If the scenario does not have the chosen stack, or has none at all.
    pub fn key(&self, scenario: &Scenario, ground: TripGround) -> Result<String, String> {
        let stacks = scenario.stacks();
        let Self::Automatic = self else {
            let Self::Chosen(key) = self else {
                return Err(String::new());
            };
            let is_there = stacks.contains_key(key);
            return if is_there {
                Ok(key.clone())
            } else {
                Err(key.clone())
            };
        };
        let suits = |stack: &Stack| ground == TripGround::Lanes || stack.steers_around_obstacles();
        let preferred = stacks.get_key_value(PREFERRED_STACK);
        let listed = || preferred.into_iter().chain(scenario.listed_stacks());
        let suited = listed().find(|(_, stack)| suits(stack));
        let chosen = suited.or_else(|| listed().next());
        chosen
            .map(|(key, _)| key.clone())
            .ok_or_else(|| PREFERRED_STACK.to_owned())
    }
}

/// Shape of new obstacles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ObstacleKind {
    /// A rectangle.
    Box,
    /// A disc.
    Circle,
    /// A polygon with clicked corners.
    Polygon,
}

/// Options for new obstacles.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ObstacleOptions {
    /// Shape of the obstacle.
    pub kind: ObstacleKind,
    /// Height of the obstacle, m.
    pub height: f64,
    /// Whether the obstacle can be pushed.
    pub loose: bool,
    /// Mass of a loose obstacle, kg.
    pub mass: f64,
}

/// Options of the forest brush.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ForestOptions {
    /// Radius of the brush, m.
    pub radius: f64,
    /// Trees per hectare.
    pub density: f64,
    /// Minimum distance between trunks, m.
    pub spacing: f64,
    /// Seed of the tree positions.
    pub seed: u64,
    /// Whether the brush removes trees.
    pub erase: bool,
}

/// Kind of bay that a drag with the place tool adds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BayKind {
    /// One bay in the direction of the drag.
    #[default]
    Single,
    /// A row of bays along the drag.
    Parallel,
    /// A row of bays at right angles to the drag.
    Perpendicular,
    /// A row of bays at an angle to the drag.
    Angled,
}

impl BayKind {
    /// All kinds, in the order of the tool options.
    pub const ALL: [Self; 4] = [
        Self::Single,
        Self::Parallel,
        Self::Perpendicular,
        Self::Angled,
    ];

    /// Returns the name shown on the screen.
    pub fn name(self) -> &'static str {
        match self {
            Self::Single => "Single bay",
            Self::Parallel => "Parallel bays",
            Self::Perpendicular => "Perpendicular bays",
            Self::Angled => "Angled bays",
        }
    }
}

/// Options of parking bays.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct BayOptions {
    /// Kind of bay that a drag adds.
    pub kind: BayKind,
    /// Length of parallel bays, m.
    pub length: f64,
    /// Width of perpendicular and angled bays in rows, m.
    pub width: f64,
    /// Angle between angled bays and their row, degrees.
    pub angle_deg: f64,
}

/// Method of painting ground.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PaintShape {
    /// Strokes of a round brush.
    #[default]
    Brush,
    /// Areas, drawn corner by corner or freehand.
    Outline,
}

/// Options of the paint tool.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PaintOptions {
    /// Method of painting.
    #[serde(default)]
    pub shape: PaintShape,
    /// Radius of the brush, m.
    pub radius: f64,
    /// Whether the tool erases paint.
    pub erase: bool,
    /// Layer to paint on. The newest layer is used if the scenario does not contain it.
    pub layer: Option<PaintId>,
}

/// Function of the terrain brush.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TerrainMode {
    /// Raises the ground.
    Raise,
    /// Lowers the ground.
    Lower,
    /// Moves the ground towards the mean of its neighbours.
    Smooth,
    /// Moves the ground towards the height at the start of the stroke.
    Flatten,
}

/// Options of the terrain brush.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TerrainOptions {
    /// Function of the brush.
    pub mode: TerrainMode,
    /// Radius of the brush, m.
    pub radius: f64,
    /// Effect of a dab: when raising and lowering, the change of height in metres; when smoothing and
    /// flattening, the share of the remaining difference that is removed, in tenths.
    pub strength: f64,
    /// Softness of the edge, from 0 (hard) to 1 (soft up to the centre).
    pub falloff: f64,
}

/// Options of random trips.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RandomTripOptions {
    /// Number of trips added at a time.
    pub count: u32,
    /// Choice of starts and destinations.
    pub from: PopulateFrom,
    /// Whether the vehicles restart after arrival.
    pub repeats: bool,
}

/// Targets to which the pointer snaps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SnapOptions {
    /// Whether points snap to grid intersections.
    pub grid: bool,
    /// Whether points snap to nodes and road ends.
    pub nodes: bool,
    /// Whether points snap to roads.
    pub roads: bool,
    /// Whether directions snap to multiples of 15 degrees.
    pub angles: bool,
}

/// Layers on which roads can be drawn.
pub const LAYERS: std::ops::RangeInclusive<i8> = -5..=5;

/// Options of the tools.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolOptions {
    /// Cross-sections from which the user can choose for new roads.
    pub presets: Vec<RoadPreset>,
    /// Index of the selected cross-section.
    pub preset: usize,
    /// Layer chosen for the next stroke, or for the rest of the current stroke. If `None`, the
    /// stroke has the layer of the road at its start, or else layer 0. Reset after the stroke,
    /// because a stroke on a forgotten layer would not join the surrounding roads.
    #[serde(skip)]
    pub layer: Option<i8>,
    /// Radius of corners drawn by clicks, m.
    pub corner_radius: f64,
    /// Options for new obstacles.
    pub obstacle: ObstacleOptions,
    /// Options of the forest brush.
    pub forest: ForestOptions,
    /// Options of the paint tool.
    pub paint: PaintOptions,
    /// Options of parking bays.
    pub bays: BayOptions,
    /// Land use of new areas.
    pub land: LandUse,
    /// Options of the terrain brush.
    pub terrain: TerrainOptions,
    /// Vehicle type of new agents and flows.
    pub vehicle: String,
    /// Stack of new agents and flows.
    pub stack: StackChoice,
    /// Options of random trips.
    pub random: RandomTripOptions,
    /// Vehicles per hour of new flows.
    pub rate_per_hour: f64,
    /// Targets to which the pointer snaps.
    pub snap: SnapOptions,
    /// Parts of the map that are locked.
    pub locks: BTreeSet<MapPart>,
    /// Parts of the map that are hidden and therefore cannot be picked.
    pub hidden: BTreeSet<MapPart>,
}

impl ToolOptions {
    /// Whether an object is locked.
    pub fn is_locked(&self, scenario: &Scenario, object: ObjectId) -> bool {
        self.locks.iter().any(|part| part.holds(scenario, object))
    }

    /// Whether an object is hidden.
    pub fn is_hidden(&self, scenario: &Scenario, object: ObjectId) -> bool {
        self.hidden.iter().any(|part| part.holds(scenario, object))
    }

    /// Whether an object is locked or hidden and therefore cannot be picked.
    pub fn is_kept_away(&self, scenario: &Scenario, object: ObjectId) -> bool {
        self.is_locked(scenario, object) || self.is_hidden(scenario, object)
    }

    /// Whether a part of the map is hidden.
    pub fn hides(&self, part: MapPart) -> bool {
        self.hidden.contains(&part)
    }

    /// Whether the roads of a layer are hidden, either with all roads or separately.
    pub fn hides_layer(&self, layer: i8) -> bool {
        roadwright_scenario::hides_layer(&self.hidden, layer)
    }
}

impl Default for ToolOptions {
    fn default() -> Self {
        Self {
            presets: standard_presets(),
            preset: 0,
            layer: None,
            corner_radius: 15.0,
            obstacle: ObstacleOptions {
                kind: ObstacleKind::Box,
                height: 3.0,
                loose: false,
                mass: 80.0,
            },
            forest: ForestOptions {
                radius: 15.0,
                density: 250.0,
                spacing: 4.0,
                seed: 1,
                erase: false,
            },
            paint: PaintOptions {
                shape: PaintShape::Brush,
                radius: 8.0,
                erase: false,
                layer: None,
            },
            bays: BayOptions {
                kind: BayKind::Single,
                length: 6.0,
                width: 2.5,
                angle_deg: 60.0,
            },
            land: LandUse::Park,
            terrain: TerrainOptions {
                mode: TerrainMode::Raise,
                radius: 30.0,
                strength: 1.0,
                falloff: 0.8,
            },
            vehicle: "car".into(),
            stack: StackChoice::Automatic,
            random: RandomTripOptions {
                count: 20,
                from: PopulateFrom::Both,
                repeats: true,
            },
            rate_per_hour: 300.0,
            snap: SnapOptions {
                grid: false,
                nodes: true,
                roads: true,
                angles: true,
            },
            locks: BTreeSet::new(),
            hidden: BTreeSet::new(),
        }
    }
}

impl ToolOptions {
    /// Replaces the default presets of an older version if the user has not changed them. The
    /// selected cross-section is kept, unless it is the old default, which becomes the new one.
    pub(crate) fn renew_presets(&mut self) {
        let old = presets_without_pavements();
        if self.presets != old {
            return;
        }
        self.presets = standard_presets();
        let chosen = old.get(self.preset).filter(|_| self.preset > 0);
        let is_chosen = |preset: &RoadPreset| {
            chosen.is_some_and(|chosen| {
                preset.name == chosen.name || preset.section == chosen.section
            })
        };
        self.preset = self.presets.iter().position(is_chosen).unwrap_or(0);
    }

    /// Returns the selected cross-section.
    pub fn chosen(&self) -> RoadPreset {
        let first = || standard_presets().swap_remove(0);
        let chosen = self.presets.get(self.preset).or(self.presets.first());
        chosen.cloned().unwrap_or_else(first)
    }

    /// Returns the style of the next road, which starts on this layer.
    pub fn road_style(&self, layer: i8) -> RoadStyle {
        let preset = self.chosen();
        RoadStyle {
            name: String::new(),
            class: preset.class,
            layer,
            speed_limit: preset.speed_limit,
            section: preset.section,
        }
    }

    /// Returns the minimum radius of freehand strokes, m. It is the minimum for the road's class,
    /// or larger if the road's inner edge would otherwise fold over.
    pub fn min_radius(&self) -> f64 {
        let preset = self.chosen();
        let by_class: f64 = match preset.class {
            RoadClass::Path | RoadClass::Service => 6.0,
            RoadClass::Residential => 8.0,
            RoadClass::Collector => 12.0,
            RoadClass::Arterial => 20.0,
            RoadClass::Ramp => 40.0,
            RoadClass::Motorway => 120.0,
        };
        let half = |lanes: &[(LaneType, f64)]| lanes.iter().map(|lane| lane.1).sum::<f64>();
        // Half the width, with the reference line in the middle. The line's radius must exceed it,
        // because the wider side would otherwise fold in a bend.
        let width = half(&preset.section.forward).max(half(&preset.section.backward));
        by_class.max(width + 1.0)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;
    use roadwright_scenario::{Edit, ModuleSetting};

    #[test]
    fn unchanged_old_presets_are_replaced_and_changed_ones_are_kept() {
        let mut options = ToolOptions {
            presets: presets_without_pavements(),
            ..ToolOptions::default()
        };
        options.renew_presets();
        assert_eq!(options, ToolOptions::default());
        let name = |options: &ToolOptions| options.chosen().name;
        let slip = |preset: &RoadPreset| preset.name == "Slip road";
        options.presets = presets_without_pavements();
        options.preset = options.presets.iter().position(slip).unwrap();
        options.renew_presets();
        assert_eq!(name(&options), "Slip road");
        // The same cross-section now has another name.
        options.presets = presets_without_pavements();
        options.preset = 6;
        options.renew_presets();
        assert_eq!(name(&options), "Street 1+1");
        let mut own = presets_without_pavements();
        own.swap(0, 1);
        options.presets = own.clone();
        options.renew_presets();
        assert_eq!(options.presets, own);
    }

    #[test]
    fn every_preset_has_its_own_name_and_the_first_one_has_pavements() {
        let presets = standard_presets();
        let names: BTreeSet<&str> = presets.iter().map(|preset| preset.name.as_str()).collect();
        assert_eq!(names.len(), presets.len());
        let sides = [&presets[0].section.forward, &presets[0].section.backward];
        for side in sides {
            let kinds: Vec<LaneType> = side.iter().map(|(kind, _)| *kind).collect();
            assert_eq!(kinds, [LaneType::Driving, LaneType::Sidewalk]);
        }
        assert!(names.contains(PLAIN_STREET));
    }

    #[test]
    fn stacks_come_back_from_settings_of_any_version() {
        let read = |text: &str| serde_json::from_str::<StackChoice>(text).unwrap();
        let chosen = |key: &str| StackChoice::Chosen(key.into());
        assert_eq!(read("\"idm\""), StackChoice::Automatic);
        assert_eq!(read("\"pursuit\""), chosen("pursuit"));
        for choice in [StackChoice::Automatic, chosen("idm"), chosen("automatic")] {
            let text = serde_json::to_string(&choice).unwrap();
            assert_eq!(read(&text), choice);
        }
    }

    #[test]
    fn automatic_trips_off_the_lanes_steer_around_obstacles() {
        let mut scenario = Scenario::new("stacks");
        let key = |scenario: &Scenario, ground| StackChoice::Automatic.key(scenario, ground);
        assert_eq!(key(&scenario, TripGround::OpenGround).unwrap(), "idm");
        let mut blind = scenario.stacks()["idm"].clone();
        let straight = vec![ModuleSetting::new("straight")];
        assert!(blind.set(roadwright_scenario::Slot::GroundPlanner, straight));
        let edit = Edit::Stack("idm".into(), Some(Box::new(blind)));
        scenario.apply(edit).unwrap();
        assert_eq!(key(&scenario, TripGround::Lanes).unwrap(), "idm");
        let other = key(&scenario, TripGround::OpenGround).unwrap();
        assert!(scenario.stacks()[&other].steers_around_obstacles());
        let none = StackChoice::Chosen("none".into());
        assert_eq!(none.key(&scenario, TripGround::Lanes), Err("none".into()));
    }
}
