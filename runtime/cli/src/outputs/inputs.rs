//! The files that a command reads, which no result may replace.

use crate::arguments::ExtensionFlags;
use crate::extensions;
use roadwright_scenario::Scenario;
use std::path::{Path, PathBuf};

/// Set of files that a command reads.
#[derive(Debug, Default)]
pub(crate) struct Inputs {
    /// A description of each file, with an article, and its path.
    files: Vec<(String, PathBuf)>,
}

impl Inputs {
    /// Returns the inputs of a command that reads no files.
    pub(crate) fn none() -> Self {
        Self::default()
    }

    /// Adds a file. `what` describes it, for example "the saved world".
    pub(crate) fn file(mut self, what: &str, path: &Path) -> Self {
        self.files.push((what.to_owned(), path.to_owned()));
        self
    }

    /// Adds several files with the same description.
    pub(crate) fn files_of<'a>(
        self,
        what: &str,
        paths: impl IntoIterator<Item = &'a PathBuf>,
    ) -> Self {
        let paths = paths.into_iter();
        paths.fold(self, |all, path| all.file(what, path))
    }

    /// Adds a scenario with the vehicle files that it names.
    pub(crate) fn scenario(self, path: &Path, scenario: &Scenario) -> Self {
        let folder = path.parent().unwrap_or(Path::new(""));
        let types = scenario.vehicle_types().values();
        let vehicles = types.filter_map(|kind| kind.file.as_ref());
        let with_scenario = self.file("the scenario", path);
        vehicles.fold(with_scenario, |all, file| {
            all.file("a vehicle file of the scenario", &folder.join(&file.path))
        })
    }

    /// Adds the scripts and plugins in the folders given by flags and in the folders beside a scenario.
    pub(crate) fn extensions(self, flags: &ExtensionFlags, beside: Option<&Path>) -> Self {
        let options = extensions::options(flags, beside);
        let scripts = below(&options.scripts, &["rhai"]);
        let plugins = below(&options.plugins, &["so", "dylib", "dll"]);
        let with_scripts = self.files_of("a script", &scripts);
        with_scripts.files_of("a plugin", &plugins)
    }

    pub(super) fn files(self) -> Vec<(String, PathBuf)> {
        self.files
    }
}

/// Returns the files in some folders that have one of the given extensions. Unreadable folders are
/// skipped.
fn below(folders: &[PathBuf], endings: &[&str]) -> Vec<PathBuf> {
    let entries = folders.iter().flat_map(std::fs::read_dir);
    let paths = entries.flatten().flatten().map(|entry| entry.path());
    let has_ending = |path: &PathBuf| {
        let ending = path.extension().and_then(|ending| ending.to_str());
        ending.is_some_and(|ending| endings.contains(&ending))
    };
    paths.filter(has_ending).collect()
}
