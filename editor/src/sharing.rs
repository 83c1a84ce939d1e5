//! Bundles in the window: sharing a scenario as one file, and opening bundles.
//!
//! The contents of a bundle, the sources of its data, and missing modules are shown first. Nothing is written
//! or run before the user chooses where to unpack it.

use crate::context::Context;
use crate::jobs::{BundleOutcome, Job};
use crate::model::{Action, Dialog, Next, OpenBundle, Purpose, Tone};
use crate::module_actions::ModuleHost;
use crate::paths::bundle_path;
use crate::requests::BundleAction;
use crate::tools::{RoadPreset, standard_presets};
use roadwright_bundle::{Bundle, ENDING, Extras, PRESETS};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Carries out a request about bundles. `modules` provides everything that scenarios can use.
pub(crate) fn act(cx: &mut Context, modules: &ModuleHost, action: BundleAction) {
    match action {
        BundleAction::Share(path) => share(cx, modules, &path),
        BundleAction::Open(path) => {
            // The document stays open until the bundle is unpacked.
            let job = Job::bundle(path, cx.wake());
            cx.jobs.push(job);
        }
        BundleAction::Unpack { folder, presets } => unpack(cx, folder, presets),
    }
}

/// Handles the outcome of a job.
pub(crate) fn take(cx: &mut Context, modules: &ModuleHost, outcome: BundleOutcome) {
    match outcome {
        BundleOutcome::Read(path, Ok(bundle)) => take_bundle(cx, modules, path, *bundle),
        BundleOutcome::Unpacked(Ok(scenario)) => {
            cx.model.bundle = None;
            // Opened like any other file, with confirmation about unsaved changes.
            cx.then(Action::Leave(Next::Open(scenario)));
        }
        BundleOutcome::Read(_, Err(error)) | BundleOutcome::Unpacked(Err(error)) => {
            cx.say(Tone::Failed, &error);
        }
    }
}

/// Writes the scenario and all its files to one file.
fn share(cx: &mut Context, modules: &ModuleHost, path: &Path) {
    let path = bundle_path(path);
    let document = &cx.model.document;
    // The gesture in progress is left out, as in a saved file.
    let scenario = document.base().clone();
    let folder = document.path().and_then(Path::parent).map(Path::to_owned);
    // The title becomes a file name in the bundle.
    let title: String = document.title().chars().map(in_name).collect();
    let available = modules.available();
    let extras = extras(cx);
    let pack = move || {
        let folder = folder.as_deref();
        let bundle = Bundle::pack(&scenario, &title, folder, &available, extras);
        let bytes = bundle.and_then(|bundle| bundle.to_bytes());
        bytes.map_err(|error| error.to_string())
    };
    let job = Job::write_bundle(pack, path, cx.wake());
    cx.jobs.push(job);
}

/// Returns the user's own presets, and the background picture with its placement.
fn extras(cx: &Context) -> Extras {
    let mut extras = Extras::default();
    let presets = &cx.model.settings.tools.presets;
    // The default presets need not be shared, because every installation has them.
    if *presets != standard_presets()
        && let Ok(json) = serde_json::to_vec_pretty(presets)
    {
        extras = extras.with_presets(json);
    }
    if let Some(background) = &cx.model.background {
        let (placement, picture) = background.packed();
        extras = extras.with_background(&placement, picture.to_vec());
    }
    extras
}

/// Shows a loaded bundle.
fn take_bundle(cx: &mut Context, modules: &ModuleHost, path: PathBuf, bundle: Bundle) {
    let text = path.display().to_string();
    let folder = text[..text.len() - ENDING.len()].to_owned();
    let own = &cx.model.settings.tools.presets;
    let presets = bundle.files().get(PRESETS);
    let presets = presets.and_then(|json| serde_json::from_slice(json).ok());
    let mut presets: Vec<RoadPreset> = presets.unwrap_or_default();
    // Filtered before the dialog opens, so that it offers no presets if none are new.
    presets.retain(|preset| !own.contains(preset));
    // A bundle from another user must not fill the list.
    presets.truncate(MOST_PRESETS);
    let lacks = bundle.lacks(&modules.available());
    cx.model.bundle = Some(Arc::new(OpenBundle {
        path,
        bundle,
        lacks,
        presets,
    }));
    cx.model.dialog = Dialog::Bundle {
        folder,
        presets: false,
    };
}

/// Unpacks the shown bundle.
fn unpack(cx: &mut Context, folder: PathBuf, presets: bool) {
    let Some(bundle) = cx.model.bundle.clone() else {
        return;
    };
    if presets {
        let own = &mut cx.model.settings.tools.presets;
        own.extend(bundle.presets.iter().cloned());
    }
    let job = Job::unpack(bundle, folder, cx.wake());
    cx.jobs.push(job);
}

/// Looks for a background picture beside the opened scenario.
pub(crate) fn look_for_background(cx: &mut Context) {
    let folder = cx.model.document.path().and_then(Path::parent);
    if let Some(folder) = folder.map(Path::to_owned)
        && folder.join(roadwright_bundle::PLACEMENT).exists()
    {
        let job = Job::background_beside(folder, cx.wake());
        cx.jobs.push(job);
    }
}

/// Opens a file that was dropped into the window. Its extension determines how it is opened.
pub(crate) fn look_at_dropped_files(cx: &mut Context) {
    let dropped = cx.egui.input(|input| {
        let files = input.raw.dropped_files.iter();
        let mut paths = files.map(|file| file.path().to_owned());
        // Only the first of several files is opened, because there is only one document at a time.
        paths.next()
    });
    let Some(path) = dropped else {
        return;
    };
    match purpose_of(&path) {
        Some(purpose) => cx.then(Action::Path(path, purpose, None)),
        None => {
            let text = format!(
                "{} cannot be opened; drop a scenario, a bundle (.rwz), a map extract (.osm, .pbf) or a \
                 picture.",
                path.display()
            );
            cx.say(Tone::Refused, &text);
        }
    }
}

/// Maximum number of presets taken from a bundle.
const MOST_PRESETS: usize = 100;

/// Replaces a character by `-` if some systems forbid it in file names.
fn in_name(letter: char) -> char {
    match letter {
        '/' | '\\' | ':' | '*' | '?' | '"' | '<' | '>' | '|' => '-',
        letter if letter.is_control() => '-',
        letter => letter,
    }
}

/// Returns the purpose for which a file is opened; `None` if the editor cannot open it.
fn purpose_of(path: &Path) -> Option<Purpose> {
    let ending = path.extension()?.to_string_lossy().to_lowercase();
    match ending.as_str() {
        "json" | "rwz" => Some(Purpose::Open),
        "osm" | "pbf" | "xml" => Some(Purpose::Import),
        "png" | "jpg" | "jpeg" => Some(Purpose::Background),
        _ => None,
    }
}
