//! Carries out the actions of the workshop.

use crate::app::Editor;
use crate::document::Document;
use crate::model::{Dialog, Purpose, Tone};
use crate::panel::PanelId;
use crate::workshop::slug;
use crate::workshop::{Bench, Ground, Kept, Rival, Source, Trial, WorkshopAction, track};
use roadwright_geometry::DVec2;
use roadwright_scenario::vehicle_file::{EXTENSION, FileReference, SHIPPED, VehicleFile, hash};
use roadwright_scenario::{Edit, VehicleType};
use roadwright_vehicle::sheet::file_of_type;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Width of the map section around the vehicle when the test track opens, m.
const SEEN: f64 = 24.0;

/// Background work of the workshop.
#[derive(Default)]
pub(crate) struct Shop {
    trial: Trial,
    /// The vehicle on the test track.
    on_track: Option<Arc<VehicleFile>>,
}

impl Editor {
    /// Carries out an action of the workshop.
    pub(crate) fn workshop(&mut self, action: WorkshopAction) {
        match action {
            WorkshopAction::Open(source) => self.open_vehicle(source),
            WorkshopAction::Compare(source) => self.compare_with(source),
            WorkshopAction::Change(label, file) => {
                if let Some(bench) = &mut self.model.workshop.bench {
                    bench.change(&label, *file);
                }
            }
            WorkshopAction::Commit(label) => self.on_bench(|bench| bench.commit_gesture(&label)),
            WorkshopAction::Undo => self.on_bench(Bench::undo),
            WorkshopAction::Redo => self.on_bench(Bench::redo),
            WorkshopAction::Test => self.start_trial(),
            WorkshopAction::StopTest => self.shop.trial.stop(),
            WorkshopAction::Drive(ground) => self.enter_track(ground),
            WorkshopAction::LeaveTrack => self.leave_track(),
            WorkshopAction::Use => self.use_vehicle(),
        }
    }

    /// Updates the state of the trials.
    pub(crate) fn look_at_workshop(&mut self) {
        self.model.workshop.trial = self.shop.trial.state();
    }

    /// Applies a change that may alter the numbers, which restarts the test track.
    fn on_bench(&mut self, change: impl FnOnce(&mut Bench)) {
        let Some(bench) = &mut self.model.workshop.bench else {
            return;
        };
        change(bench);
        // A refused change, or one without effect, does not interrupt the drive on the track.
        let is_other = self.shop.on_track.as_ref() != Some(&bench.file);
        if let Some(ground) = self.model.workshop.track.filter(|_| is_other) {
            self.enter_track(ground);
        }
    }

    /// Whether an individual is shown in place of the document, which has to be left first.
    fn is_kept_by_individual(&mut self) -> bool {
        let is_showing = self.is_showing();
        if is_showing {
            self.say(
                Tone::Refused,
                "An individual is shown. Go back to the scenario first.",
            );
        }
        is_showing
    }

    fn find_vehicle(&self, source: &Source) -> Result<VehicleFile, String> {
        match source {
            Source::Shipped(name) => {
                let mut shipped = SHIPPED.iter();
                let found = shipped.find(|one| one.name == *name);
                let found =
                    found.ok_or_else(|| format!("No vehicle {name} ships with Roadwright."))?;
                VehicleFile::from_text(found.text).map_err(|error| error.to_string())
            }
            Source::Type(key) => {
                // Of the user's document, because on the test track the shown document is the track.
                let kind = self.own_document().scenario().vehicle_types().get(key);
                let kind = kind.ok_or_else(|| format!("Vehicle type {key} no longer exists."))?;
                let file = file_of_type(kind);
                // A type without a file may have any size, so wheels and springs may not fit it.
                file.checked().map_err(|error| {
                    format!("Vehicle type {key} cannot be written to a file: {error}.")
                })?;
                Ok(file)
            }
            Source::Unchanged => {
                let bench = self.model.workshop.bench.as_ref();
                let bench = bench.ok_or("The workshop has no vehicle.")?;
                Ok((*bench.base).clone())
            }
            Source::File(path) => VehicleFile::load(path).map_err(|error| error.to_string()),
        }
    }

    fn open_vehicle(&mut self, source: Source) {
        match self.find_vehicle(&source) {
            Ok(file) => {
                let mut bench = Bench::new(source, file);
                bench.kept = self.kept_of(&bench);
                self.put_on_bench(bench);
            }
            Err(why) => self.say(Tone::Refused, &why),
        }
    }

    /// The file of a vehicle type, if it has one.
    fn kept_of(&self, bench: &Bench) -> Option<Kept> {
        let Source::Type(key) = &bench.source else {
            return None;
        };
        let own = self.own_document();
        // With the hash known to the scenario, which tells the version of the file that the numbers on the
        // bench belong to.
        let reference = own.scenario().vehicle_types().get(key)?.file.clone()?;
        Some(Kept {
            path: own.path()?.parent()?.join(&reference.path),
            hash: reference.hash.clone(),
            file: bench.file.clone(),
        })
    }

    /// Shows another vehicle and brings the panel to the front.
    pub(crate) fn put_on_bench(&mut self, bench: Bench) {
        // Dropping the old trial stops it, because it tests another vehicle.
        self.shop.trial = Trial::default();
        self.model.workshop.bench = Some(bench);
        self.view.panels.bring_to_front(PanelId::Workshop);
        // If the test track is open, the new vehicle drives there.
        self.on_bench(|_| ());
    }

    fn compare_with(&mut self, source: Option<Source>) {
        let Some(source) = source else {
            self.model.workshop.rival = None;
            return;
        };
        match self.find_vehicle(&source) {
            Ok(file) => self.model.workshop.rival = Some(Rival::new(source, file)),
            Err(why) => self.say(Tone::Refused, &why),
        }
    }

    /// Sets a vehicle from a file as the one to compare with.
    pub(crate) fn put_beside(&mut self, path: PathBuf, file: VehicleFile) {
        self.model.workshop.rival = Some(Rival::new(Source::File(path), file));
    }

    fn start_trial(&mut self) {
        let Some(bench) = &self.model.workshop.bench else {
            return;
        };
        let rival = self.model.workshop.rival.as_ref();
        let rival = rival.map(|rival| rival.file.clone());
        self.shop.trial = Trial::start(bench.file.clone(), rival, self.wake());
        self.look_at_workshop();
    }

    /// Shows the test track, and pauses the scenario.
    fn enter_track(&mut self, ground: Ground) {
        if self.is_kept_by_individual() {
            return;
        }
        let Some(bench) = &self.model.workshop.bench else {
            return;
        };
        let (file, base) = (bench.file.clone(), bench.file.name.clone());
        let scenario = match track::scenario(&file, ground) {
            Ok(scenario) => scenario,
            Err(error) => {
                self.say(Tone::Failed, &format!("{base} cannot be driven: {error}."));
                return;
            }
        };
        let track = Document::new(scenario);
        // When restarted with other numbers on the same ground, the view stays.
        let is_same_place = self.model.workshop.track == Some(ground);
        // A gesture in progress ends before the document is put aside.
        self.model.document.commit();
        self.stand_in(track);
        self.shop.on_track = Some(file);
        self.model.workshop.track = Some(ground);
        self.view.needs_frame = false;
        if !is_same_place {
            let middle = DVec2::new(0.5 * SEEN, 0.0);
            self.jump(middle - DVec2::splat(SEEN), middle + DVec2::splat(SEEN));
        }
        // The slider or button that led here would take the arrow keys.
        self.context.memory_mut(|memory| {
            if let Some(focused) = memory.focused() {
                memory.surrender_focus(focused);
            }
        });
        // After the document was replaced, which ends the run and the drive; otherwise `take_the_wheel` would
        // return the vehicle.
        self.model.watched = Some(u64::from(track::DRIVER.0));
        self.take_the_wheel();
    }

    /// Returns to the scenario with its history.
    pub(crate) fn leave_track(&mut self) {
        if self.model.workshop.track.take().is_some() {
            self.shop.on_track = None;
            self.end_waiting();
        }
    }

    /// Suggested path of a vehicle: where it came from, or beside the scenario.
    pub(crate) fn vehicle_suggestion(&self) -> String {
        let Some(bench) = &self.model.workshop.bench else {
            return String::new();
        };
        if let Some(kept) = &bench.kept {
            return kept.path.display().to_string();
        }
        let name = format!("{}{EXTENSION}", slug(&bench.file.name, '-'));
        let Some(folder) = self.own_document().path().and_then(Path::parent) else {
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

    /// Adds a vehicle type with the vehicle's file to the scenario. A vehicle without a file below the
    /// scenario's folder is saved there first.
    fn use_vehicle(&mut self) {
        if self.is_kept_by_individual() {
            return;
        }
        // Back to the document first, because the edit below applies to it.
        self.leave_track();
        let Some(bench) = &self.model.workshop.bench else {
            return;
        };
        let folder = self.model.document.path().and_then(Path::parent);
        let home = bench.home();
        let below = folder
            .zip(home)
            .and_then(|(folder, home)| below(folder, &home.path));
        // A file below the scenario is used as it is. Otherwise the user is asked where to save; then this is
        // called again and finds it there.
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
                self.model.dialog = Dialog::Path {
                    purpose: Purpose::UseVehicle,
                    text: self.vehicle_suggestion(),
                    then: None,
                };
                return;
            }
        };
        let key = bench.type_key(self.model.document.scenario());
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
        self.apply(&format!("Use vehicle {key}"), edit);
        self.say(
            Tone::Done,
            &format!("Added vehicle type {key} to the scenario."),
        );
    }

    /// Handles the end of saving a vehicle, which may then be used.
    pub(crate) fn note_vehicle_saved(&mut self, path: PathBuf, file: Arc<VehicleFile>, uses: bool) {
        self.say(Tone::Done, &format!("Wrote {}.", path.display()));
        let hash = hash(&file.to_text());
        if let Some(bench) = &mut self.model.workshop.bench {
            bench.note_saved(Kept { path, hash, file });
        }
        if uses {
            self.use_vehicle();
        }
    }
}

/// The path of a vehicle file, with its extension.
pub(crate) fn vehicle_path(path: &Path) -> PathBuf {
    let text = path.to_string_lossy();
    if text.ends_with(EXTENSION) {
        path.to_owned()
    } else {
        // "jeep" and "jeep.json" both become jeep.vehicle.json.
        PathBuf::from(format!("{}{EXTENSION}", text.trim_end_matches(".json")))
    }
}

/// The path from a folder to a file below it, with `/` between folders; `None` if it is not below.
fn below(folder: &Path, file: &Path) -> Option<String> {
    let folder = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    // Links and `..` are resolved, so that a path that only looks as if it were below does not pass.
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
    fn names_become_files() {
        let path = |text: &str| vehicle_path(Path::new(text)).display().to_string();
        assert_eq!(path("a/jeep"), "a/jeep.vehicle.json");
        assert_eq!(path("jeep.json"), "jeep.vehicle.json");
        assert_eq!(path("jeep.vehicle.json"), "jeep.vehicle.json");
    }

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
