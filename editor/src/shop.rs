//! The subject that carries out the actions of the workshop.

use crate::context::Context;
use crate::document::Document;
use crate::jobs::{BenchPlace, Job, VehicleOutcome, VehicleUse};
use crate::model::{Dialog, Purpose, Tone};
use crate::panel::PanelId;
use crate::paths::vehicle_path;
use crate::requests::PlayingAction;
use crate::workshop::slug;
use crate::workshop::{Bench, Ground, Kept, Rival, Source, Trial, WorkshopAction, track};
use roadwright_geometry::DVec2;
use roadwright_scenario::vehicle_file::{EXTENSION, FileReference, SHIPPED, VehicleFile, hash};
use roadwright_scenario::{BodyKind, Edit, VehicleType};
use roadwright_vehicle::sheet::file_of_type;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Width of the part of the map shown around the vehicle when the test track opens, m.
const SEEN: f64 = 24.0;

/// Background work of the workshop.
#[derive(Default)]
pub(crate) struct Shop {
    trial: Trial,
    /// The vehicle on the test track.
    on_track: Option<Arc<VehicleFile>>,
}

impl Shop {
    /// Carries out an action of the workshop.
    pub(crate) fn act(&mut self, cx: &mut Context, action: WorkshopAction) {
        match action {
            WorkshopAction::Open(source) => self.open_vehicle(cx, source),
            WorkshopAction::Compare(source) => self.compare_with(cx, source),
            WorkshopAction::Change(label, file) => {
                if let Some(bench) = &mut cx.model.workshop.bench {
                    bench.change(&label, *file);
                }
            }
            WorkshopAction::Commit(label) => {
                self.on_bench(cx, |bench| bench.commit_gesture(&label))
            }
            WorkshopAction::Undo => self.on_bench(cx, Bench::undo),
            WorkshopAction::Redo => self.on_bench(cx, Bench::redo),
            WorkshopAction::Test => self.start_trial(cx),
            WorkshopAction::StopTest => self.trial.stop(),
            WorkshopAction::Drive(ground) => self.enter_track(cx, ground),
            WorkshopAction::LeaveTrack => cx.leave_track(),
            WorkshopAction::Use => self.use_vehicle(cx),
        }
    }

    /// Handles the outcome of a job.
    pub(crate) fn take(&mut self, cx: &mut Context, outcome: VehicleOutcome) {
        match outcome {
            VehicleOutcome::Read(path, BenchPlace::Beside, Ok((file, _))) => {
                cx.model.workshop.rival = Some(Rival::new(Source::File(path), *file));
            }
            VehicleOutcome::Read(path, BenchPlace::OnBench, Ok((file, text))) => {
                self.put_on_bench(cx, Bench::from_path(path, *file, &text));
            }
            VehicleOutcome::Saved(path, file, uses, Ok(())) => {
                self.note_vehicle_saved(cx, path, file, uses);
            }
            VehicleOutcome::Read(.., Err(error)) | VehicleOutcome::Saved(.., Err(error)) => {
                cx.say(Tone::Failed, &error);
            }
        }
    }

    /// Updates the state of the trials.
    pub(crate) fn look(&mut self, cx: &mut Context) {
        cx.model.workshop.trial = self.trial.state();
    }

    /// Applies a change to the vehicle on the bench. If its values change, the test track restarts.
    fn on_bench(&mut self, cx: &mut Context, change: impl FnOnce(&mut Bench)) {
        let Some(bench) = &mut cx.model.workshop.bench else {
            return;
        };
        change(bench);
        // A refused change or one without effect does not interrupt the drive on the track.
        let is_other = self.on_track.as_ref() != Some(&bench.file);
        if let Some(ground) = cx.model.workshop.track.filter(|_| is_other) {
            self.enter_track(cx, ground);
        }
    }

    /// Returns whether an individual is shown in place of the document. If so, asks the user to go back to
    /// the scenario first.
    fn is_kept_by_individual(&mut self, cx: &mut Context) -> bool {
        let is_showing = cx.is_showing();
        if is_showing {
            cx.say(
                Tone::Refused,
                "An individual is displayed. Return to the scenario first.",
            );
        }
        is_showing
    }

    fn find_vehicle(&self, cx: &Context, source: &Source) -> Result<VehicleFile, String> {
        match source {
            Source::Shipped(name) => {
                let mut shipped = SHIPPED.iter();
                let found = shipped.find(|one| one.name == *name);
                let found = found
                    .ok_or_else(|| format!("Roadwright does not ship a vehicle called {name}."))?;
                VehicleFile::from_text(found.text).map_err(|error| error.to_string())
            }
            Source::Type(key) => {
                // Uses the types of the user's document, because the test track may be shown in its place.
                let kind = cx.own_document().scenario().vehicle_types().get(key);
                let kind = kind.ok_or_else(|| format!("Vehicle type {key} no longer exists."))?;
                if kind.body == BodyKind::Character {
                    return Err(format!(
                        "{key} is a character. The workshop shows vehicles only."
                    ));
                }
                let file = file_of_type(kind);
                // The dimensions of a type without a file are not limited, so wheels and springs may not fit
                // it.
                file.checked().map_err(|error| {
                    format!("Vehicle type {key} cannot be written to a file: {error}.")
                })?;
                Ok(file)
            }
            Source::Unchanged => {
                let bench = cx.model.workshop.bench.as_ref();
                let bench = bench.ok_or("The workshop has no vehicle.")?;
                Ok((*bench.base).clone())
            }
            Source::File(path) => VehicleFile::load(path).map_err(|error| error.to_string()),
        }
    }

    fn open_vehicle(&mut self, cx: &mut Context, source: Source) {
        match self.find_vehicle(cx, &source) {
            Ok(file) => {
                let mut bench = Bench::new(source, file);
                bench.kept = self.kept_of(cx, &bench);
                self.put_on_bench(cx, bench);
            }
            Err(why) => cx.say(Tone::Refused, &why),
        }
    }

    /// Returns the vehicle file of the vehicle type on the bench; `None` if the type has no file,
    /// or if the vehicle is not a vehicle type of the scenario.
    fn kept_of(&self, cx: &Context, bench: &Bench) -> Option<Kept> {
        let Source::Type(key) = &bench.source else {
            return None;
        };
        let own = cx.own_document();
        // The hash in the scenario identifies the version of the file to which the numbers on the bench
        // belong.
        let reference = own.scenario().vehicle_types().get(key)?.file.clone()?;
        Some(Kept {
            path: own.path()?.parent()?.join(&reference.path),
            hash: reference.hash.clone(),
            file: bench.file.clone(),
        })
    }

    /// Puts another vehicle on the bench and brings the panel to the front.
    fn put_on_bench(&mut self, cx: &mut Context, bench: Bench) {
        // Dropping the old trial stops it, because it belongs to another vehicle.
        self.trial = Trial::default();
        cx.model.workshop.bench = Some(bench);
        cx.view.panels.bring_to_front(PanelId::Workshop);
        // If the test track is open, the new vehicle drives there.
        self.on_bench(cx, |_| ());
    }

    fn compare_with(&mut self, cx: &mut Context, source: Option<Source>) {
        let Some(source) = source else {
            cx.model.workshop.rival = None;
            return;
        };
        match self.find_vehicle(cx, &source) {
            Ok(file) => cx.model.workshop.rival = Some(Rival::new(source, file)),
            Err(why) => cx.say(Tone::Refused, &why),
        }
    }

    fn start_trial(&mut self, cx: &mut Context) {
        let Some(bench) = &cx.model.workshop.bench else {
            return;
        };
        let rival = cx.model.workshop.rival.as_ref();
        let rival = rival.map(|rival| rival.file.clone());
        self.trial = Trial::start(bench.file.clone(), rival, cx.wake());
        self.look(cx);
    }

    /// Shows the test track and sets the scenario aside.
    fn enter_track(&mut self, cx: &mut Context, ground: Ground) {
        if self.is_kept_by_individual(cx) {
            return;
        }
        let Some(bench) = &cx.model.workshop.bench else {
            return;
        };
        let (file, base) = (bench.file.clone(), bench.file.name.clone());
        let scenario = match track::scenario(&file, ground) {
            Ok(scenario) => scenario,
            Err(error) => {
                cx.say(Tone::Failed, &format!("{base} cannot be driven: {error}."));
                return;
            }
        };
        let track = Document::new(scenario);
        // When the track restarts with other numbers on the same ground, the view stays.
        let is_same_place = cx.model.workshop.track == Some(ground);
        // The gesture in progress ends before the document is set aside.
        cx.model.document.commit();
        cx.stand_in(track);
        self.on_track = Some(file);
        cx.model.workshop.track = Some(ground);
        cx.view.needs_frame = false;
        if !is_same_place {
            let middle = DVec2::new(0.5 * SEEN, 0.0);
            cx.jump(middle - DVec2::splat(SEEN), middle + DVec2::splat(SEEN));
        }
        // Otherwise, the slider or button that opened the track would receive the arrow keys.
        cx.egui.memory_mut(|memory| {
            if let Some(focused) = memory.focused() {
                memory.surrender_focus(focused);
            }
        });
        // This must follow the replacement of the document, which ends the run and the drive. Otherwise
        // `take_the_wheel` would return the vehicle.
        cx.model.watched = Some(u64::from(track::DRIVER.0));
        cx.then(PlayingAction::TakeTheWheel);
    }

    /// Adds the vehicle to the scenario as a vehicle type with a file. If the file is not below the
    /// scenario's folder, it is saved there first.
    fn use_vehicle(&mut self, cx: &mut Context) {
        if self.is_kept_by_individual(cx) {
            return;
        }
        // Returns to the document first, because the edit below applies to it.
        cx.leave_track();
        let Some(bench) = &cx.model.workshop.bench else {
            return;
        };
        let folder = cx.model.document.path().and_then(Path::parent);
        let home = bench.home();
        let below = folder
            .zip(home)
            .and_then(|(folder, home)| below(folder, &home.path));
        // A file below the scenario is used as it is. Otherwise, the user is asked where to save the file.
        // After saving, this function is called again and finds the file there.
        let (path, hash) = match (folder, below, home) {
            (_, Some(path), Some(home)) => (path, home.hash.clone()),
            // Without a folder, the scenario stores the contents of the file.
            (None, ..) => {
                let name = slug(&bench.file.name, '-');
                (
                    format!("vehicles/{name}{EXTENSION}"),
                    hash(&bench.file.to_text()),
                )
            }
            _ => {
                cx.model.dialog = Dialog::Path {
                    purpose: Purpose::UseVehicle,
                    text: vehicle_suggestion(cx),
                    then: None,
                };
                return;
            }
        };
        let key = bench.type_key(cx.model.document.scenario());
        let vehicle = (*bench.file).clone();
        let kind = VehicleType {
            file: Some(Arc::new(FileReference {
                path,
                hash,
                was: None,
                vehicle: vehicle.clone(),
            })),
            ..vehicle.vehicle_type()
        };
        let edit = Edit::VehicleType(key.clone(), Some(Box::new(kind)));
        cx.apply(&format!("Use vehicle {key}"), edit);
        cx.say(
            Tone::Done,
            &format!("Added vehicle type {key} to the scenario."),
        );
    }

    /// Handles the outcome of saving a vehicle file, and uses the file in the scenario if
    /// requested.
    fn note_vehicle_saved(
        &mut self,
        cx: &mut Context,
        path: PathBuf,
        file: Arc<VehicleFile>,
        uses: VehicleUse,
    ) {
        cx.say(Tone::Done, &format!("Wrote {}.", path.display()));
        let hash = hash(&file.to_text());
        if let Some(bench) = &mut cx.model.workshop.bench {
            bench.note_saved(Kept { path, hash, file });
        }
        if uses == VehicleUse::InScenario {
            self.use_vehicle(cx);
        }
    }
}

/// Returns the suggested path of a vehicle file: the path of the file from which it was read, or a
/// path in the folder of the scenario.
pub(crate) fn vehicle_suggestion(cx: &Context) -> String {
    let Some(bench) = &cx.model.workshop.bench else {
        return String::new();
    };
    if let Some(kept) = &bench.kept {
        return kept.path.display().to_string();
    }
    let name = format!("{}{EXTENSION}", slug(&bench.file.name, '-'));
    let Some(folder) = cx.own_document().path().and_then(Path::parent) else {
        return name;
    };
    let vehicles = folder.join("vehicles");
    let folder = if vehicles.is_dir() {
        vehicles
    } else {
        folder.to_owned()
    };
    folder.join(name).display().to_string()
}

/// Writes the vehicle on the bench to a file.
pub(crate) fn save_vehicle(cx: &mut Context, path: &Path, uses: VehicleUse) {
    if let Some(bench) = &cx.model.workshop.bench {
        let (file, path) = (bench.file.clone(), vehicle_path(path));
        let job = Job::save_vehicle(file, path, uses, cx.wake());
        cx.jobs.push(job);
    }
}

/// Returns the path from a folder to a file below it, with `/` between folders; `None` if the file is
/// elsewhere.
fn below(folder: &Path, file: &Path) -> Option<String> {
    let folder = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    // Links and `..` are resolved, so that a path that only appears to be below the folder is refused.
    let (folder, file) = (folder.canonicalize().ok()?, file.canonicalize().ok()?);
    let path = file.strip_prefix(folder).ok()?;
    let parts = path.iter().map(|part| part.to_str());
    // Scenario files move between systems, so they use one separator.
    Some(parts.collect::<Option<Vec<_>>>()?.join("/"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;

    #[test]
    fn only_files_below_the_folder_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("town/vehicles");
        std::fs::create_dir_all(&inner).unwrap();
        std::fs::write(inner.join("a.vehicle.json"), "").unwrap();
        let town = folder.path().join("town");
        let found = below(&town, &inner.join("a.vehicle.json"));
        assert_eq!(found.as_deref(), Some("vehicles/a.vehicle.json"));
        std::fs::write(folder.path().join("b.vehicle.json"), "").unwrap();
        assert_eq!(below(&town, &town.join("../b.vehicle.json")), None);
    }
}
