//! Bundles in the window: sharing a scenario as one file, and opening bundles.
//!
//! A bundle is shown first: its contents, the sources of its data, and what is missing here. Nothing is
//! written or run before the user chooses where to unpack it.

use crate::app::Editor;
use crate::jobs::Job;
use crate::model::{Dialog, Next, Purpose, Tone};
use crate::tools::{RoadPreset, standard_presets};
use roadwright_bundle::{Bundle, ENDING, Extras, Lack, PRESETS};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A bundle that was read but not unpacked yet.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenBundle {
    /// Its file.
    pub path: PathBuf,
    /// Its contents.
    pub bundle: Bundle,
    /// Modules and files that its scenario uses but are missing here.
    pub lacks: Vec<Lack>,
    /// Its road presets that the user does not have.
    pub presets: Vec<RoadPreset>,
}

/// Whether a path is that of a bundle.
pub(crate) fn is_bundle(path: &Path) -> bool {
    path.to_string_lossy().to_lowercase().ends_with(ENDING)
}

/// The path for writing a bundle, with the extension of bundles.
pub(crate) fn bundle_path(path: &Path) -> PathBuf {
    if is_bundle(path) {
        path.to_owned()
    } else {
        PathBuf::from(format!("{}{ENDING}", path.display()))
    }
}

impl Editor {
    /// Writes the scenario and all its files to one file.
    pub(crate) fn share(&mut self, path: PathBuf) {
        let path = bundle_path(&path);
        let document = &self.model.document;
        // Without the gesture in progress, as in a saved file.
        let scenario = document.base().clone();
        let folder = document.path().and_then(Path::parent).map(Path::to_owned);
        // The title becomes a file name in the bundle.
        let title: String = document.title().chars().map(in_name).collect();
        let available = self.extensions.available();
        let extras = self.extras();
        let pack = move || {
            let folder = folder.as_deref();
            let bundle = Bundle::pack(&scenario, &title, folder, &available, extras);
            let bytes = bundle.and_then(|bundle| bundle.to_bytes());
            bytes.map_err(|error| error.to_string())
        };
        let job = Job::write_bundle(pack, path, self.wake());
        self.flow.jobs.push(job);
    }

    /// The user's own presets, and the background picture with its placement.
    fn extras(&self) -> Extras {
        let mut extras = Extras::default();
        let presets = &self.model.settings.tools.presets;
        // The default presets exist everywhere.
        if *presets != standard_presets()
            && let Ok(json) = serde_json::to_vec_pretty(presets)
        {
            extras = extras.with_presets(json);
        }
        if let Some(background) = &self.model.background {
            let (placement, picture) = background.packed();
            extras = extras.with_background(&placement, picture.to_vec());
        }
        extras
    }

    /// Reads a bundle; the document stays until it is unpacked.
    pub(crate) fn open_bundle(&mut self, path: PathBuf) {
        let job = Job::bundle(path, self.wake());
        self.flow.jobs.push(job);
    }

    /// Shows a bundle that was read.
    pub(crate) fn take_bundle(&mut self, path: PathBuf, bundle: Bundle) {
        let text = path.display().to_string();
        let folder = text[..text.len() - ENDING.len()].to_owned();
        let own = &self.model.settings.tools.presets;
        let presets = bundle.files().get(PRESETS);
        let presets = presets.and_then(|json| serde_json::from_slice(json).ok());
        let mut presets: Vec<RoadPreset> = presets.unwrap_or_default();
        // Filtered before the dialog, so that a bundle without new presets offers none.
        presets.retain(|preset| !own.contains(preset));
        // A bundle from another user must not fill the list.
        presets.truncate(MOST_PRESETS);
        let lacks = bundle.lacks(&self.extensions.available());
        self.model.bundle = Some(Arc::new(OpenBundle {
            path,
            bundle,
            lacks,
            presets,
        }));
        self.model.dialog = Dialog::Bundle {
            folder,
            presets: false,
        };
    }

    /// Unpacks the shown bundle.
    pub(crate) fn unpack(&mut self, folder: PathBuf, presets: bool) {
        let Some(bundle) = self.model.bundle.clone() else {
            return;
        };
        if presets {
            let own = &mut self.model.settings.tools.presets;
            own.extend(bundle.presets.iter().cloned());
        }
        let job = Job::unpack(bundle, folder, self.wake());
        self.flow.jobs.push(job);
    }

    /// Opens the scenario of an unpacked bundle.
    pub(crate) fn open_unpacked(&mut self, scenario: PathBuf) {
        self.model.bundle = None;
        // As usual, with confirmation about unsaved changes.
        self.leave(Next::Open(scenario));
    }

    /// Looks for a background picture beside the opened scenario.
    pub(crate) fn look_for_background(&mut self) {
        let folder = self.model.document.path().and_then(Path::parent);
        if let Some(folder) = folder.map(Path::to_owned)
            && folder.join(roadwright_bundle::PLACEMENT).exists()
        {
            let job = Job::background_beside(folder, self.wake());
            self.flow.jobs.push(job);
        }
    }

    /// Opens a file dropped into the window, by its extension.
    pub(crate) fn look_at_dropped_files(&mut self) {
        let dropped = self.context.input(|input| {
            let files = input.raw.dropped_files.iter();
            let mut paths = files.map(|file| file.path().to_owned());
            // Only the first of several, because one document is open at a time.
            paths.next()
        });
        let Some(path) = dropped else {
            return;
        };
        match purpose_of(&path) {
            Some(purpose) => self.take_path(path, purpose, None),
            None => {
                let text = format!(
                    "{} cannot be opened; drop a scenario, a bundle (.rwz), a map extract (.osm, .pbf) or a \
                     picture.",
                    path.display()
                );
                self.say(Tone::Refused, &text);
            }
        }
    }
}

/// Maximum number of presets taken from a bundle.
const MOST_PRESETS: usize = 100;

/// Replaces characters that some system forbids in file names by `-`.
fn in_name(letter: char) -> char {
    match letter {
        '/' | '\\' | ':' | '*' | '?' | '"' | '<' | '>' | '|' => '-',
        letter if letter.is_control() => '-',
        letter => letter,
    }
}

/// How a file is opened.
fn purpose_of(path: &Path) -> Option<Purpose> {
    let ending = path.extension()?.to_string_lossy().to_lowercase();
    match ending.as_str() {
        "json" | "rwz" => Some(Purpose::Open),
        "osm" | "pbf" | "xml" => Some(Purpose::Import),
        "png" | "jpg" | "jpeg" => Some(Purpose::Background),
        _ => None,
    }
}
