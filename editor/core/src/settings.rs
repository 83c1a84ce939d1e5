//! Settings kept between sessions, such as keys, theme, tool options and recent files.

use crate::command::KeyMap;
use crate::tools::ToolOptions;
use roadwright_files::{MEBIBYTE, read_text};
use roadwright_simulation::{SteeringLock, TimeRow};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Number of recent files kept.
const RECENT: usize = 10;

/// Quantity that colours the lanes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Heat {
    /// No heat map.
    #[default]
    None,
    /// Total time that vehicles spent at each place.
    Traffic,
    /// Mean speed as a share of the limit.
    Speed,
    /// Share of time that vehicles are stopped.
    Congestion,
    /// Number of collisions.
    Collisions,
}

impl Heat {
    /// All quantities, in the order of lists.
    pub const ALL: [Self; 5] = [
        Self::None,
        Self::Traffic,
        Self::Speed,
        Self::Congestion,
        Self::Collisions,
    ];

    /// Returns the name shown on the screen.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "No heat map",
            Self::Traffic => "Traffic",
            Self::Speed => "Speed",
            Self::Congestion => "Congestion",
            Self::Collisions => "Collisions",
        }
    }
}

/// A curve of the results of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunCurve {
    /// Cumulative number of arrivals.
    Arrived,
    /// Mean speed of the driving vehicles.
    #[default]
    MeanSpeed,
    /// Number of standing vehicles.
    Stopped,
    /// Cumulative number of contacts.
    Contacts,
    /// Cumulative number of module faults.
    Faults,
}

impl RunCurve {
    /// All curves, in the order of lists.
    pub const ALL: [Self; 5] = [
        Self::Arrived,
        Self::MeanSpeed,
        Self::Stopped,
        Self::Contacts,
        Self::Faults,
    ];

    /// Returns the name on the screen, with the unit.
    pub fn title(self) -> &'static str {
        match self {
            Self::Arrived => "Arrived",
            Self::MeanSpeed => "Mean speed, m/s",
            Self::Stopped => "Stopped",
            Self::Contacts => "Contacts",
            Self::Faults => "Faults",
        }
    }

    /// Returns the value of the curve in a row of the results.
    pub fn value(self, row: &TimeRow) -> f64 {
        match self {
            Self::Arrived => row.arrived as f64,
            Self::MeanSpeed => row.mean_speed,
            Self::Stopped => row.queue as f64,
            Self::Contacts => row.contacts as f64,
            Self::Faults => row.faults as f64,
        }
    }
}

/// The timeline below the map.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TimelineView {
    /// Whether the timeline opens when a run is played. False once the user has closed it.
    pub opens: bool,
    /// Height of the timeline with its tab, points.
    pub height: f32,
    /// The curve that the timeline shows.
    pub curve: RunCurve,
}

impl Default for TimelineView {
    fn default() -> Self {
        Self {
            opens: true,
            height: 200.0,
            curve: RunCurve::default(),
        }
    }
}

/// Overlays of open ground.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct GroundView {
    /// Whether painted layers are shown.
    pub painted: bool,
    /// Whether the map shows the watched vehicle's deviations from its plan, and all vehicles
    /// without a path.
    pub plan: bool,
    /// Whether the cell costs of the watched vehicle are shown.
    pub costs: bool,
    /// Whether the forecasts of moving vehicles are shown.
    pub forecasts: bool,
    /// Whether the watched vehicle's search is shown.
    pub search: bool,
    /// Number of search cells to show; `None` for all. Not kept between sessions.
    #[serde(skip)]
    pub search_step: Option<u32>,
}

impl GroundView {
    /// Returns the number of cells to show, for a search that has expanded `expanded` cells.
    pub fn shown_cells(self, expanded: usize) -> usize {
        self.search_step
            .map_or(expanded, |step| expanded.min(step as usize))
    }

    /// Whether any shown overlay needs data from the run.
    pub fn asks(self) -> bool {
        self.plan || self.costs || self.forecasts || self.search
    }
}

impl Default for GroundView {
    fn default() -> Self {
        Self {
            painted: true,
            plan: true,
            costs: false,
            forecasts: false,
            search: false,
            search_step: None,
        }
    }
}

/// Settings kept between sessions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// Whether the dark theme is used.
    pub dark: bool,
    /// Scale of the interface; 1 is the default of the system.
    pub zoom: f32,
    /// Whether the grid is shown.
    pub grid: bool,
    /// Whether the minimap is shown.
    pub minimap: bool,
    /// Whether street names are shown.
    pub names: bool,
    /// Whether problems are marked on the map.
    pub problems: bool,
    /// Whether the map shows skid marks.
    pub skid_marks: bool,
    /// Whether the map shows rigid bodies as the solver sees them.
    pub rigid_bodies: bool,
    /// Whether manually driven vehicles turn their wheels fully at any speed.
    pub full_lock: bool,
    /// Quantity that the heat map shows.
    pub heat: Heat,
    /// Overlays of open ground.
    pub open_ground: GroundView,
    /// Settings of the timeline below the map.
    pub timeline: TimelineView,
    /// Key bindings of the commands.
    pub keys: KeyMap,
    /// Options of the tools.
    pub tools: ToolOptions,
    /// Opened and saved files, newest first.
    pub recent: Vec<PathBuf>,
    /// Whether the welcome panel is shown at startup.
    pub welcome: bool,
    /// Hashes of the plugins that are allowed to run.
    pub trusted_plugins: BTreeSet<String>,
    /// Folders whose plugins may run regardless of their hashes, provided that no other user can write to
    /// them.
    pub trusted_folders: BTreeSet<PathBuf>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            dark: false,
            zoom: 1.0,
            grid: true,
            minimap: true,
            names: true,
            problems: true,
            skid_marks: true,
            rigid_bodies: false,
            full_lock: false,
            heat: Heat::None,
            open_ground: GroundView::default(),
            timeline: TimelineView::default(),
            keys: KeyMap::default(),
            tools: ToolOptions::default(),
            recent: Vec::new(),
            welcome: true,
            trusted_plugins: BTreeSet::new(),
            trusted_folders: BTreeSet::new(),
        }
    }
}

/// Maximum size of a settings file in bytes. Recent files and key bindings take a few kilobytes.
const LARGEST: u64 = MEBIBYTE;

impl Settings {
    /// Returns the maximum angle of the front wheels of manually driven vehicles.
    pub fn steering_lock(&self) -> SteeringLock {
        match self.full_lock {
            true => SteeringLock::Full,
            false => SteeringLock::Limited,
        }
    }

    /// Reads the settings; values that cannot be read are replaced by defaults.
    pub fn load(folder: &Path) -> Self {
        // A missing or damaged file must not prevent the program from starting, so it counts as
        // empty.
        let text = read_text(&file(folder), LARGEST).unwrap_or_default();
        let mut settings = Self::read(&text);
        // The file may be edited by hand or come from another version. A user could not repair an unreadable
        // interface.
        settings.zoom = settings.zoom.clamp(0.5, 3.0);
        settings.timeline.height = settings.timeline.height.clamp(80.0, 2000.0);
        // The road tool needs at least one preset.
        if settings.tools.presets.is_empty() {
            settings.tools.presets = crate::tools::standard_presets();
        }
        settings.tools.renew_presets();
        settings
    }

    /// Reads each value separately; otherwise one unknown value, such as a tool of a later version, would
    /// discard all others.
    fn read(text: &str) -> Self {
        let Ok(Value::Object(values)) = serde_json::from_str(text) else {
            return Self::default();
        };
        let mut kept = Map::new();
        for (name, value) in values {
            kept.insert(name.clone(), value);
            if Self::deserialize(&Value::Object(kept.clone())).is_err() {
                kept.remove(&name);
            }
        }
        Self::deserialize(&Value::Object(kept)).unwrap_or_default()
    }

    /// Writes the settings.
    ///
    /// # Errors
    /// If the folder cannot be written to.
    pub fn save(&self, folder: &Path) -> std::io::Result<()> {
        std::fs::create_dir_all(folder)?;
        let text = serde_json::to_string_pretty(self)?;
        roadwright_files::write(&file(folder), text.as_bytes())
    }

    /// Adds a file to the front of the recent files.
    pub fn remember(&mut self, path: &Path) {
        // Lists each file only once.
        self.recent.retain(|known| known != path);
        self.recent.insert(0, path.to_owned());
        self.recent.truncate(RECENT);
    }
}

fn file(folder: &Path) -> PathBuf {
    folder.join("settings.json")
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;
    use crate::command::Command;

    #[test]
    fn settings_come_back_and_damage_is_forgiven() {
        let folder = tempfile::tempdir().unwrap();
        let mut settings = Settings {
            dark: true,
            ..Settings::default()
        };
        settings.remember(Path::new("/a"));
        settings.remember(Path::new("/b"));
        settings.remember(Path::new("/a"));
        settings.save(folder.path()).unwrap();
        assert_eq!(Settings::load(folder.path()), settings);
        assert_eq!(settings.recent.len(), 2);
        std::fs::write(folder.path().join("settings.json"), "{ broken").unwrap();
        assert_eq!(Settings::load(folder.path()), Settings::default());
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_in_the_place_of_the_settings_does_not_hang_the_start() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = file(folder.path());
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        let (told, loaded) = std::sync::mpsc::channel();
        let folder_path = folder.path().to_owned();
        // In its own thread, so that a hang does not block the test.
        std::thread::spawn(move || {
            let _ = told.send(Settings::load(&folder_path));
        });
        let patience = std::time::Duration::from_secs(60);
        let settings = loaded
            .recv_timeout(patience)
            .expect("the pipe is waited for");
        assert_eq!(settings, Settings::default());
    }

    #[test]
    fn what_another_version_wrote_takes_nothing_else_with_it() {
        let text = r#"{
            "dark": true, "heat": "sound", "warp": 9, "recent": ["/a"],
            "keys": {"save": "Ctrl+T", "fly": "F9"}
        }"#;
        let settings = Settings::read(text);
        assert!(settings.dark);
        assert_eq!(settings.heat, Heat::None);
        assert_eq!(settings.recent, [PathBuf::from("/a")]);
        assert_eq!(settings.keys.text(Command::Save), "Ctrl+T");
        assert_eq!(settings.keys.text(Command::Open), "Ctrl+O");
        for none in ["", "[]", "7", "{", r#"{"dark": 1}"#] {
            assert_eq!(Settings::read(none), Settings::default(), "{none}");
        }
    }
}
