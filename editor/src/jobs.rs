//! Background jobs that run once: reading, writing, importing, and asking for a path.

use crate::background::{self, Picked};
use crate::clock::now;
use crate::damaged::Damaged;
use crate::document::Document;
use crate::experiment::{ExperimentFile, OpenResults, Shown};
use crate::model::{Next, OpenBundle, Purpose};
use crate::moves::{BuildOrder, BuiltLibrary, DrawnGraph, TooLarge};
use crate::paths::moves_path;
use crate::race::{KeptTry, ReadyRace};
use crate::worker::Share;
use roadwright_bundle::{Bundle, Placement};
use roadwright_interchange::osm;
use roadwright_moves::{ClipFile, MoveFile, MoveFileError};
use roadwright_render::{Picture, timeline};
use roadwright_scenario::file::FileError;
use roadwright_scenario::vehicle_file::{LARGEST, VehicleFile};
use roadwright_scenario::{CLIPS_ENDING, MOVES_ENDING, Scenario, file};
use roadwright_simulation::{
    Snapshot, VehicleRecord, heat_as_csv, time_rows_as_csv, trace_columns, trips_as_csv,
};
use roadwright_training::experiment::RunPaths;
use roadwright_training::genetic::Experiment;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// Shortest time in which a user can close a file dialog. A dialog that closes earlier means that
/// the desktop has no file dialog.
const NO_PERSON: Duration = Duration::from_millis(300);

/// Outcome of a job.
pub(crate) enum Outcome {
    /// Outcome of a document or path job.
    Document(DocumentOutcome),
    /// A background picture was read, with its placement if known.
    Background(Result<(Picked, Option<Placement>), String>),
    /// A picture, a bundle or tables were written, or writing failed.
    Written(PathBuf, Result<(), String>),
    /// Outcome of a bundle job.
    Bundle(BundleOutcome),
    /// Outcome of an experiment job.
    Experiment(ExperimentOutcome),
    /// Outcome of a vehicle file job.
    Vehicle(VehicleOutcome),
    /// Outcome of a job of the Moves panel.
    Moves(MovesOutcome),
    /// Outcome of a job of a race.
    Race(RaceOutcome),
}

/// Outcome of a job of a race.
pub(crate) enum RaceOutcome {
    /// A course is ready to be driven. Contains the earlier attempts.
    Ready(Result<Box<(ReadyRace, Vec<KeptTry>)>, String>),
    /// An attempt was written to a file.
    Kept(Result<Box<KeptTry>, String>),
}

/// Loaded clips, and the graph if a graph file was opened. The graph may be too large to be drawn
/// by hand.
pub(crate) struct ReadMoves {
    pub(crate) clips: ClipFile,
    pub(crate) graph: Option<Result<DrawnGraph, TooLarge>>,
}

/// Outcome of a job of the Moves panel.
pub(crate) enum MovesOutcome {
    /// A library was built.
    Built(Box<BuiltLibrary>),
    /// A clip file was read, or a graph with its clips.
    Read(PathBuf, Result<Box<ReadMoves>, String>),
}

impl From<DocumentOutcome> for Outcome {
    fn from(outcome: DocumentOutcome) -> Self {
        Self::Document(outcome)
    }
}

impl From<BundleOutcome> for Outcome {
    fn from(outcome: BundleOutcome) -> Self {
        Self::Bundle(outcome)
    }
}

impl From<VehicleOutcome> for Outcome {
    fn from(outcome: VehicleOutcome) -> Self {
        Self::Vehicle(outcome)
    }
}

/// Outcome of a document or path job.
pub(crate) enum DocumentOutcome {
    /// A scenario was read, or its file has an error.
    Opened(PathBuf, Result<Box<Scenario>, Box<Damaged>>),
    /// A map extract was imported, with a summary of its omissions.
    Imported(PathBuf, Result<Box<(Scenario, osm::ImportSummary)>, String>),
    /// A state of a document was written.
    Saved(PathBuf, DocumentState, Option<Next>, Result<(), String>),
    /// The file dialog was closed, with or without a path.
    Browsed(Purpose, Option<Next>, Option<PathBuf>),
    /// The desktop has no file dialog.
    NoDialog,
}

/// Outcome of a bundle job.
pub(crate) enum BundleOutcome {
    /// A bundle was read.
    Read(PathBuf, Result<Box<Bundle>, String>),
    /// A bundle was unpacked, with the path of its scenario.
    Unpacked(Result<PathBuf, String>),
}

/// Outcome of a vehicle file job.
pub(crate) enum VehicleOutcome {
    /// A vehicle file was parsed, with its source text, or could not be read.
    Read(
        PathBuf,
        BenchPlace,
        Result<(Box<VehicleFile>, String), String>,
    ),
    /// A vehicle file was written.
    Saved(PathBuf, Arc<VehicleFile>, VehicleUse, Result<(), String>),
}

/// Outcome of an experiment job.
pub(crate) enum ExperimentOutcome {
    /// An experiment and its scenario were read.
    Opened(PathBuf, Result<Box<OpenedExperiment>, String>),
    /// An experiment was written.
    Saved(PathBuf, Box<Experiment>, Result<(), String>),
    /// Results were read.
    Results(Result<Box<OpenResults>, String>),
    /// The runs of results were repeated.
    Runs(Shown, Result<Box<RunPaths>, String>),
    /// The world of an individual was created.
    World(Shown, Result<Box<Scenario>, String>),
}

/// An opened experiment.
pub(crate) struct OpenedExperiment {
    /// Contents of the experiment's file.
    pub(crate) experiment: Experiment,
    /// The scenario that the experiment names, with its file.
    pub(crate) scenario: Option<(PathBuf, Arc<Scenario>)>,
}

/// Purpose of loading a vehicle in the workshop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BenchPlace {
    /// The vehicle is put on the bench and edited.
    OnBench,
    /// The vehicle is compared with the vehicle on the bench.
    Beside,
}

/// Use of a vehicle file after it has been written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum VehicleUse {
    /// The file is only saved.
    None,
    /// A vehicle type of the scenario refers to the file.
    InScenario,
}

/// Id and state of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DocumentState {
    /// The number of the document.
    pub(crate) document: u64,
    /// The number of the state.
    pub(crate) state: u64,
}

impl DocumentState {
    /// Returns the current state of a document.
    pub(crate) fn of(document: &Document) -> Self {
        Self {
            document: document.id(),
            state: document.state(),
        }
    }
}

/// Length of a job. A long job gets a progress bar and a cancel button.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Length {
    Short,
    Long,
}

/// A job in progress.
pub(crate) struct Job {
    /// Label shown to the user.
    pub(crate) label: String,
    /// Whether the job gets a progress bar and a cancel button.
    pub(crate) is_long: bool,
    /// Whether the job saves the scenario.
    pub(crate) is_save: bool,
    share: Share,
    cancelled: Arc<AtomicBool>,
    outcome: Receiver<Outcome>,
}

/// Lets a running job report its progress and check whether it was cancelled.
pub(crate) struct Progress {
    share: Share,
    cancelled: Arc<AtomicBool>,
}

impl Progress {
    pub(crate) fn set(&self, share: f32) {
        self.share.set(share);
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }
}

/// Reads a clip file. The error names the file.
fn read_moves(path: &Path) -> Result<Box<ReadMoves>, String> {
    if !name(path).ends_with(MOVES_ENDING) {
        let clips = read_by(path, ClipFile::from_text)?;
        return Ok(Box::new(ReadMoves { clips, graph: None }));
    }
    let graph = read_by(path, MoveFile::from_text)?;
    let clips = read_by(&path.with_file_name(&graph.clips), ClipFile::from_text)?;
    Ok(Box::new(ReadMoves {
        graph: Some(DrawnGraph::of_file(&graph, &clips)),
        clips,
    }))
}

/// Reads a clip file or a graph file.
fn read_by<T>(
    path: &Path,
    read: impl FnOnce(&str) -> Result<T, MoveFileError>,
) -> Result<T, String> {
    let text = roadwright_files::read_text(path, roadwright_moves::LARGEST);
    let text = text.map_err(|error| format!("{}: {error}", path.display()))?;
    read(&text).map_err(|error| format!("{}: {error}", path.display()))
}

/// Writes files into a folder, which is created if missing.
fn write_all<const N: usize, T: AsRef<[u8]>>(
    folder: &Path,
    files: [(&str, T); N],
) -> Result<(), String> {
    let written = std::fs::create_dir_all(folder).and_then(|()| {
        let mut files = files.into_iter();
        files.try_for_each(|(name, content)| {
            roadwright_files::write(&folder.join(name), content.as_ref())
        })
    });
    written.map_err(|error| format!("{}: {error}", folder.display()))
}

impl Job {
    fn start<T: Into<Outcome>>(
        label: String,
        length: Length,
        wake: impl Fn() + Send + 'static,
        work: impl FnOnce(&Progress) -> Option<T> + Send + 'static,
    ) -> Self {
        let (sender, outcome) = channel();
        let share = Share::default();
        let cancelled = Arc::new(AtomicBool::new(false));
        let progress = Progress {
            share: share.clone(),
            cancelled: cancelled.clone(),
        };
        std::thread::spawn(move || {
            if let Some(outcome) = work(&progress) {
                // The receiver is gone if the job was cancelled.
                let _ = sender.send(outcome.into());
            }
            // Wakes the window even if the job was cancelled, because its progress bar has to disappear.
            wake();
        });
        Self {
            label,
            is_long: length == Length::Long,
            is_save: false,
            share,
            cancelled,
            outcome,
        }
    }

    /// Starts a short job in the background.
    pub(crate) fn beside(
        label: String,
        wake: impl Fn() + Send + 'static,
        work: impl FnOnce() -> Outcome + Send + 'static,
    ) -> Self {
        Self::start(label, Length::Short, wake, move |_| Some(work()))
    }

    /// Starts a long job, with a progress bar and a cancel button.
    pub(crate) fn long(
        label: String,
        wake: impl Fn() + Send + 'static,
        work: impl FnOnce(&Progress) -> Option<Outcome> + Send + 'static,
    ) -> Self {
        Self::start(label, Length::Long, wake, work)
    }

    /// Opens a scenario file.
    pub(crate) fn open(path: PathBuf, wake: impl Fn() + Send + 'static) -> Self {
        Self::start(
            format!("Opening {}", name(&path)),
            Length::Long,
            wake,
            move |_| {
                let read = file::load(&path).map(Box::new);
                let read = read.map_err(|error| Box::new(Damaged::look(&path, &error)));
                Some(DocumentOutcome::Opened(path, read))
            },
        )
    }

    /// Imports a map extract.
    pub(crate) fn import(path: PathBuf, wake: impl Fn() + Send + 'static) -> Self {
        Self::start(
            format!("Importing {}", name(&path)),
            Length::Long,
            wake,
            move |progress| {
                progress.set(0.1);
                let imported = osm::read_file(&path)
                    .map_err(|error| error.to_string())
                    .and_then(|data| {
                        progress.set(0.5);
                        // Reading cannot be interrupted, so cancellation is checked between its stages.
                        if progress.is_cancelled() {
                            return Err("cancelled".into());
                        }
                        let options = osm::ImportOptions {
                            name: name(&path),
                            ..osm::ImportOptions::default()
                        };
                        osm::import(&data, &options).map_err(|error| error.to_string())
                    });
                progress.set(0.95);
                if progress.is_cancelled() {
                    return None;
                }
                let imported = imported.map(Box::new);
                Some(DocumentOutcome::Imported(path, imported))
            },
        )
    }

    /// Saves a scenario.
    pub(crate) fn save(
        scenario: Arc<Scenario>,
        path: PathBuf,
        state: DocumentState,
        then: Option<Next>,
        wake: impl Fn() + Send + 'static,
    ) -> Self {
        let label = format!("Saving {}", name(&path));
        let job = Self::start(label, Length::Short, wake, move |_| {
            // This is the revision at the time of the request, because later edits are made to a copy.
            let saved = file::save(&scenario, &path).map_err(|error| error.to_string());
            Some(DocumentOutcome::Saved(path, state, then, saved))
        });
        Self {
            is_save: true,
            ..job
        }
    }

    /// Writes a picture of the map view.
    pub(crate) fn draw(
        scenario: Arc<Scenario>,
        snapshot: Option<Snapshot>,
        picture: Picture,
        path: PathBuf,
        wake: impl Fn() + Send + 'static,
    ) -> Self {
        Self::start(
            format!("Drawing {}", name(&path)),
            Length::Long,
            wake,
            move |_| {
                let drawn = roadwright_render::map(&scenario, snapshot.as_ref(), &picture)
                    .map_err(|error| error.to_string())
                    .and_then(|png| {
                        roadwright_files::write(&path, &png).map_err(|error| error.to_string())
                    });
                Some(Outcome::Written(path, drawn))
            },
        )
    }

    /// Reads a background picture.
    pub(crate) fn background(path: PathBuf, wake: impl Fn() + Send + 'static) -> Self {
        Self::start(
            format!("Reading {}", name(&path)),
            Length::Long,
            wake,
            move |_| {
                let read = background::read(&path);
                Some(Outcome::Background(read.map(|picked| (picked, None))))
            },
        )
    }

    /// Reads the background picture in the folder of a scenario.
    pub(crate) fn background_beside(folder: PathBuf, wake: impl Fn() + Send + 'static) -> Self {
        let label = "Reading background picture".to_owned();
        Self::start(label, Length::Short, wake, move |_| {
            let read = background::beside(&folder)?;
            Some(Outcome::Background(
                read.map(|(picked, at)| (picked, Some(at))),
            ))
        })
    }

    /// Writes a bundle.
    pub(crate) fn write_bundle(
        pack: impl FnOnce() -> Result<Vec<u8>, String> + Send + 'static,
        path: PathBuf,
        wake: impl Fn() + Send + 'static,
    ) -> Self {
        Self::start(
            format!("Packing {}", name(&path)),
            Length::Long,
            wake,
            move |_| {
                let written = pack().and_then(|bytes| {
                    let written = roadwright_files::write(&path, &bytes);
                    written.map_err(|error| format!("{}: {error}", path.display()))
                });
                Some(Outcome::Written(path, written))
            },
        )
    }

    /// Reads a bundle.
    pub(crate) fn bundle(path: PathBuf, wake: impl Fn() + Send + 'static) -> Self {
        Self::start(
            format!("Reading {}", name(&path)),
            Length::Long,
            wake,
            move |_| {
                let read = Bundle::read(&path);
                let read = read.map_err(|error| format!("{}: {error}", path.display()));
                Some(BundleOutcome::Read(path, read.map(Box::new)))
            },
        )
    }

    /// Writes the tables of a run and a picture of its curves into a folder.
    pub(crate) fn results(
        results: Arc<roadwright_recording::RunResults>,
        heat: Arc<crate::live::HeatCells>,
        folder: PathBuf,
        wake: impl Fn() + Send + 'static,
    ) -> Self {
        Self::start(
            format!("Writing {}", name(&folder)),
            Length::Short,
            wake,
            move |_| {
                let title = &results.scenario.about().name;
                let picture = timeline(title, &results.rows).map_err(|error| error.to_string());
                let tables = [
                    ("timeline.csv", time_rows_as_csv(&results.rows)),
                    ("trips.csv", trips_as_csv(&results.trips)),
                    ("heat.csv", heat_as_csv(heat.iter().copied())),
                ];
                let written = write_all(&folder, tables).and_then(|()| {
                    picture.and_then(|png| write_all(&folder, [("timeline.png", png)]))
                });
                Some(Outcome::Written(folder, written))
            },
        )
    }

    /// Writes a comparison of two named runs into a folder.
    pub(crate) fn comparison(
        runs: [Arc<roadwright_recording::RunResults>; 2],
        names: [String; 2],
        folder: PathBuf,
        wake: impl Fn() + Send + 'static,
    ) -> Self {
        let label = format!("Writing {}", name(&folder));
        Self::start(label, Length::Short, wake, move |_| {
            let [a, b] = [&*runs[0], &*runs[1]];
            let comparison = crate::comparison::Comparison::new(a, b);
            let tables = comparison.tables([&names[0], &names[1]], [a, b]);
            let written = write_all(&folder, tables);
            Some(Outcome::Written(folder, written))
        })
    }

    /// Writes a drive under manual control as a table.
    pub(crate) fn drive(
        drive: Arc<Vec<(f64, VehicleRecord)>>,
        path: PathBuf,
        wake: impl Fn() + Send + 'static,
    ) -> Self {
        Self::start(
            format!("Writing {}", name(&path)),
            Length::Short,
            wake,
            move |_| {
                let columns = trace_columns().map(str::to_owned);
                let rows = drive.iter().map(|(time, vehicle)| vehicle.trace_row(*time));
                // All cells are numbers or lane ids, so no cell needs quotes.
                let lines = std::iter::once(columns).chain(rows);
                let table: String = lines.map(|row| row.join(",") + "\n").collect();
                let written = roadwright_files::write(&path, table.as_bytes());
                let written = written.map_err(|error| format!("{}: {error}", path.display()));
                Some(Outcome::Written(path, written))
            },
        )
    }

    /// Reads a vehicle file.
    pub(crate) fn open_vehicle(
        path: PathBuf,
        place: BenchPlace,
        wake: impl Fn() + Send + 'static,
    ) -> Self {
        Self::start(
            format!("Reading {}", name(&path)),
            Length::Short,
            wake,
            move |_| {
                let read = roadwright_files::read_text(&path, LARGEST)
                    .map_err(|error| format!("{}: {error}", path.display()))
                    .and_then(|text| match VehicleFile::from_text(&text) {
                        Ok(file) => Ok((Box::new(file), text)),
                        Err(error) => {
                            let path = path.clone();
                            Err(FileError::Text { path, error }.to_string())
                        }
                    });
                Some(VehicleOutcome::Read(path, place, read))
            },
        )
    }

    /// Writes a vehicle file.
    pub(crate) fn save_vehicle(
        file: Arc<VehicleFile>,
        path: PathBuf,
        uses: VehicleUse,
        wake: impl Fn() + Send + 'static,
    ) -> Self {
        Self::start(
            format!("Saving {}", name(&path)),
            Length::Short,
            wake,
            move |_| {
                let saved = file.save(&path).map_err(|error| error.to_string());
                Some(VehicleOutcome::Saved(path, file, uses, saved))
            },
        )
    }

    /// Builds a library of moves from clips.
    pub(crate) fn build_moves(order: BuildOrder, wake: impl Fn() + Send + 'static) -> Self {
        Self::beside(format!("Building {}", order.name), wake, move || {
            let built = BuiltLibrary::build(order);
            Outcome::Moves(MovesOutcome::Built(Box::new(built)))
        })
    }

    /// Reads a clip file, or a graph and the clips beside it.
    pub(crate) fn open_clips(path: PathBuf, wake: impl Fn() + Send + 'static) -> Self {
        Self::beside(format!("Reading {}", name(&path)), wake, move || {
            let read = read_moves(&path);
            Outcome::Moves(MovesOutcome::Read(path, read))
        })
    }

    /// Writes a library: the graph to `path`, and the clips beside it.
    pub(crate) fn save_moves(
        built: Arc<BuiltLibrary>,
        path: PathBuf,
        wake: impl Fn() + Send + 'static,
    ) -> Self {
        Self::beside(format!("Saving {}", name(&path)), wake, move || {
            let path = moves_path(&path);
            let own = name(&path);
            let stem = own.strip_suffix(MOVES_ENDING).unwrap_or(&own);
            let clips = format!("{stem}{CLIPS_ENDING}");
            let graph = MoveFile {
                clips: clips.clone(),
                ..built.built.graph.clone()
            };
            let folder = path.parent().unwrap_or(Path::new("."));
            let files = [
                (clips.as_str(), built.clips.file.to_text()),
                (own.as_str(), graph.to_text()),
            ];
            let written = write_all(folder, files);
            Outcome::Written(path, written)
        })
    }

    /// Unpacks a bundle.
    pub(crate) fn unpack(
        bundle: Arc<OpenBundle>,
        folder: PathBuf,
        wake: impl Fn() + Send + 'static,
    ) -> Self {
        Self::start(
            format!("Unpacking into {}", name(&folder)),
            Length::Long,
            wake,
            move |_| {
                let unpacked = bundle.bundle.unpack(&folder);
                Some(BundleOutcome::Unpacked(
                    unpacked.map_err(|error| error.to_string()),
                ))
            },
        )
    }

    /// Asks for a path with the system's dialog.
    pub(crate) fn browse(
        purpose: Purpose,
        suggestion: &str,
        then: Option<Next>,
        wake: impl Fn() + Send + 'static,
    ) -> Self {
        let suggestion = suggestion.to_owned();
        Self::start("Choosing a file".into(), Length::Short, wake, move |_| {
            // The system's dialog blocks only this thread, so the window continues to draw.
            let begun = now();
            let dialog = rfd::FileDialog::new();
            let fitting = purpose.extensions();
            let chosen = match purpose {
                Purpose::Open => dialog
                    .set_title("Open scenario or bundle")
                    .add_filter("Roadwright scenario or bundle", &fitting)
                    .pick_file(),
                Purpose::Comparison => dialog.set_title("Export comparison").pick_folder(),
                Purpose::Results => dialog.set_title("Export results").pick_folder(),
                Purpose::OpenVehicle | Purpose::CompareVehicle => dialog
                    .set_title("Open vehicle")
                    .add_filter("Roadwright vehicle", &fitting)
                    .pick_file(),
                Purpose::SaveVehicle | Purpose::UseVehicle => dialog
                    .set_title("Save vehicle")
                    .add_filter("Roadwright vehicle", &fitting)
                    .set_file_name(suggestion)
                    .save_file(),
                Purpose::OpenClips => dialog
                    .set_title("Open clips")
                    .add_filter("Driving clips", &fitting)
                    .pick_file(),
                Purpose::SaveMoves => dialog
                    .set_title("Save moves")
                    .add_filter("Move library", &fitting)
                    .set_file_name(suggestion)
                    .save_file(),
                Purpose::Drive => dialog
                    .set_title("Save the drive")
                    .add_filter("Table", &fitting)
                    .set_file_name(suggestion)
                    .save_file(),
                Purpose::Share => dialog
                    .set_title("Share scenario")
                    .add_filter("Roadwright bundle", &fitting)
                    .set_file_name(suggestion)
                    .save_file(),
                Purpose::Save => dialog
                    .add_filter("Roadwright scenario", &fitting)
                    .set_title("Save scenario")
                    .set_file_name(suggestion)
                    .save_file(),
                Purpose::Import => dialog
                    .set_title("Import map extract")
                    .add_filter("OpenStreetMap", &fitting)
                    .pick_file(),
                Purpose::Experiment(ExperimentFile::Open) => dialog
                    .set_title("Open experiment")
                    .add_filter("Roadwright experiment", &fitting)
                    .pick_file(),
                Purpose::Experiment(ExperimentFile::Results) => dialog
                    .set_title("Open results")
                    .add_filter("Benchmark results", &fitting)
                    .pick_file(),
                Purpose::Experiment(ExperimentFile::Save) => dialog
                    .set_title("Save experiment")
                    .add_filter("Roadwright experiment", &fitting)
                    .set_file_name(suggestion)
                    .save_file(),
                Purpose::Experiment(ExperimentFile::Record) => dialog
                    .set_title("Save training record")
                    .add_filter("Roadwright training", &fitting)
                    .set_file_name(suggestion)
                    .save_file(),
                Purpose::Picture => dialog
                    .set_title("Export picture")
                    .set_file_name(suggestion)
                    .save_file(),
                Purpose::Background => dialog
                    .set_title("Choose background picture")
                    .add_filter("Picture", &fitting)
                    .pick_file(),
            };
            if chosen.is_none() && begun.elapsed() < NO_PERSON {
                return Some(DocumentOutcome::NoDialog);
            }
            Some(DocumentOutcome::Browsed(purpose, then, chosen))
        })
    }

    /// Returns the progress of the job, 0 to 1; `None` if it is unknown.
    pub(crate) fn share(&self) -> Option<f32> {
        let share = self.share.get();
        (share > 0.0).then_some(share)
    }

    /// Cancels the job and discards its outcome.
    pub(crate) fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Takes the outcome if the job has finished. An error means that the job ended without an outcome.
    pub(crate) fn take(&self) -> Option<Result<Outcome, ()>> {
        match self.outcome.try_recv() {
            Ok(outcome) => Some(Ok(outcome)),
            Err(std::sync::mpsc::TryRecvError::Empty) => None,
            // The job was cancelled or panicked, so there will be no outcome.
            Err(std::sync::mpsc::TryRecvError::Disconnected) => Some(Err(())),
        }
    }
}

fn name(path: &Path) -> String {
    path.file_name().map_or_else(
        || path.display().to_string(),
        |n| n.to_string_lossy().into(),
    )
}
