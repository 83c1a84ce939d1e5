//! Paths for saving files; missing extensions are added.

use crate::experiment::ENDING;
use roadwright_bundle::ENDING as BUNDLE;
use roadwright_scenario::MOVES_ENDING;
use roadwright_scenario::vehicle_file::EXTENSION;
use std::path::{Path, PathBuf};

/// Returns the path for saving a scenario. The extension of scenarios is added unless the path ends with
/// `.json`.
pub(crate) fn scenario_path(path: &Path) -> PathBuf {
    if path.to_string_lossy().ends_with(".json") {
        path.to_owned()
    } else {
        PathBuf::from(format!("{}.scenario.json", path.display()))
    }
}

/// Whether a path has the extension of bundles.
pub(crate) fn is_bundle(path: &Path) -> bool {
    path.to_string_lossy().to_lowercase().ends_with(BUNDLE)
}

/// Returns the path for writing a bundle, with the extension of bundles.
pub(crate) fn bundle_path(path: &Path) -> PathBuf {
    if is_bundle(path) {
        path.to_owned()
    } else {
        PathBuf::from(format!("{}{BUNDLE}", path.display()))
    }
}

/// Whether a path has the extension of experiments.
pub(crate) fn is_experiment(path: &Path) -> bool {
    path.to_string_lossy().ends_with(ENDING)
}

/// Returns the path for saving an experiment. The extension of experiments is added unless the path ends with
/// `.json`.
pub(crate) fn experiment_path(path: &Path) -> PathBuf {
    if path.to_string_lossy().ends_with(".json") {
        path.to_owned()
    } else {
        PathBuf::from(format!("{}{ENDING}", path.display()))
    }
}

/// Returns the path for saving a graph of moves, with the extension of such files.
pub(crate) fn moves_path(path: &Path) -> PathBuf {
    let text = path.to_string_lossy();
    if text.ends_with(MOVES_ENDING) {
        path.to_owned()
    } else {
        PathBuf::from(format!("{}{MOVES_ENDING}", text.trim_end_matches(".json")))
    }
}

/// Returns the path for saving a vehicle file, with the extension of vehicle files.
pub(crate) fn vehicle_path(path: &Path) -> PathBuf {
    let text = path.to_string_lossy();
    if text.ends_with(EXTENSION) {
        path.to_owned()
    } else {
        // "jeep" and "jeep.json" both become jeep.vehicle.json.
        PathBuf::from(format!("{}{EXTENSION}", text.trim_end_matches(".json")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_files() {
        let path = |text: &str| vehicle_path(Path::new(text)).display().to_string();
        assert_eq!(path("a/jeep"), "a/jeep.vehicle.json");
        assert_eq!(path("jeep.json"), "jeep.vehicle.json");
        assert_eq!(path("jeep.vehicle.json"), "jeep.vehicle.json");
    }
}
