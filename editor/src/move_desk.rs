//! The subject that carries out the actions of the Moves panel.

use crate::context::Context;
use crate::jobs::{Job, MovesOutcome};
use crate::live::{ClipEnd, ClipRows, LivePicture};
use crate::model::Tone;
use crate::moves::{
    BuildOrder, ClipOrigin, ClipSource, GraphEdit, MovesAction, NotAdded, ShownLibrary, TooLarge,
    UseError, UsedLibrary, recording, use_edit,
};
use crate::panel::PanelId;
use crate::workshop::slug;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Longest name of a library, in characters.
const LONGEST_NAME: usize = 60;
/// Folder of libraries, relative to the scenario.
const FOLDER: &str = "moves";

/// The subject for clips and libraries of moves.
#[derive(Default)]
pub(crate) struct MoveDesk {
    /// Number of the last clip taken, and number of the document whose run it belongs to.
    taken: (u64, u64),
}

impl MoveDesk {
    /// Carries out an action.
    pub(crate) fn act(&mut self, cx: &mut Context, action: MovesAction) {
        let bench = &mut cx.model.moves;
        match action {
            MovesAction::Rate(rate) => bench.rate_hz = rate,
            MovesAction::Name(name) => bench.name = name.chars().take(LONGEST_NAME).collect(),
            MovesAction::Rename(number, name) => {
                if let Err(why) = bench.rename(number, &name) {
                    cx.say(Tone::Refused, &why.to_string());
                }
            }
            MovesAction::Trim(number, trim) => {
                if let Some(clip) = bench.clips.get_mut(number) {
                    clip.set_trim(trim);
                    bench.touch();
                }
            }
            MovesAction::Mirror(number, is_mirrored) => {
                if let Some(clip) = bench.clips.get_mut(number) {
                    clip.is_mirrored = is_mirrored;
                    bench.touch();
                }
            }
            MovesAction::Remove(number) => {
                if number < bench.clips.len() {
                    bench.clips.remove(number);
                    bench.hovered = None;
                    bench.touch();
                }
                if bench.clips.is_empty() {
                    bench.source = None;
                }
            }
            MovesAction::Clear => {
                bench.clips.clear();
                (bench.source, bench.hovered) = (None, None);
                bench.touch();
            }
            MovesAction::Hover(number) => bench.hovered = number,
            MovesAction::Rules(rules) => {
                bench.rules = rules;
                bench.touch();
            }
            MovesAction::Build => build(cx),
            MovesAction::Draw(edit) => {
                if let Err(why) = bench.draw(edit) {
                    cx.say(Tone::Refused, &why.to_string());
                }
            }
            MovesAction::UndoDrawing => {
                if bench.drawn.undo() {
                    bench.touch();
                }
            }
            MovesAction::RedoDrawing => {
                if bench.drawn.redo() {
                    bench.touch();
                }
            }
            MovesAction::Show(shown) => bench.shown = shown,
            MovesAction::Execution(execution) => bench.execution = execution,
            MovesAction::Use => use_library(cx),
            MovesAction::View(view) => bench.view = view,
        }
    }

    /// Takes the last recorded clip from the run.
    pub(crate) fn look(&mut self, cx: &mut Context) {
        let epoch = cx.epoch;
        let live: Option<&LivePicture> = cx.model.live.as_deref();
        let Some((number, rows)) = live.and_then(|live| live.recorded.clone()) else {
            return;
        };
        // The run of another document numbers its clips from the beginning.
        if self.taken == (epoch, number) {
            return;
        }
        self.taken = (epoch, number);
        add(cx, &rows);
    }

    /// Handles the outcome of a job.
    pub(crate) fn take(&mut self, cx: &mut Context, outcome: MovesOutcome) {
        match outcome {
            MovesOutcome::Built(built) => {
                let text = match &built.loaded {
                    Ok(_) => (
                        Tone::Done,
                        format!("Built {}: {}", built.name, built.summary()),
                    ),
                    Err(why) if built.built.graph.moves.is_empty() && !built.is_drawn => (
                        Tone::Refused,
                        format!(
                            "No moves remain. {} Record clips that return to earlier speeds, or raise the \
                             threshold. ({why}.)",
                            built.summary()
                        ),
                    ),
                    Err(why) => (Tone::Refused, format!("The library cannot be used: {why}.")),
                };
                let bench = &mut cx.model.moves;
                bench.is_building = false;
                let is_drawn = built.is_drawn;
                bench.built = Some(Arc::new(*built));
                bench.shown = match is_drawn {
                    true => ShownLibrary::Drawn,
                    false => ShownLibrary::Built,
                };
                cx.say(text.0, &text.1);
            }
            MovesOutcome::Read(path, Ok(read)) => {
                let name = name_of(&path, ".moves.json");
                let name = name_of(Path::new(&name), ".clips.json");
                let bench = &mut cx.model.moves;
                bench.open(&name, &read.clips);
                let drawn = read.graph.map(|graph| {
                    bench.draw(GraphEdit::Replace(graph?))?;
                    bench.shown = ShownLibrary::Drawn;
                    Ok::<(), TooLarge>(())
                });
                if let Some(Err(why)) = drawn {
                    let text = format!("Only the clips were opened. {why}");
                    cx.say(Tone::Refused, &text);
                }
                cx.view.panels.bring_to_front(PanelId::Moves);
            }
            MovesOutcome::Read(_, Err(error)) => cx.say(Tone::Failed, &error),
        }
    }
}

/// Returns the name of a file without its folder and extension.
fn name_of(path: &Path, ending: &str) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.strip_suffix(ending).unwrap_or(&name).to_owned()
}

/// Adds a recorded clip to the bench.
fn add(cx: &mut Context, rows: &ClipRows) {
    let kinds = cx.model.document.scenario().vehicle_types();
    let Some(kind) = kinds.get(&*rows.vehicle_type) else {
        cx.say(
            Tone::Refused,
            "The vehicle type of the recorded vehicle no longer exists.",
        );
        return;
    };
    let source = ClipSource::of_rows(kind, rows);
    let added = match recording(rows, source.body.centre_of_gravity) {
        Ok(recording) => {
            let origin = ClipOrigin {
                epoch: cx.epoch,
                vehicle_type: rows.vehicle_type.to_string(),
            };
            cx.model.moves.add(source, &recording, Some(origin))
        }
        Err(_) => Err(NotAdded::Short),
    };
    match added {
        Ok(name) => {
            let seconds = (rows.rows.len() - 1) as f64 / rows.rate_hz;
            let why = match rows.ended {
                None => "",
                Some(ClipEnd::Contact) => " The clip ends just before the vehicle hits something.",
                Some(ClipEnd::Gone) => " The clip ends where the vehicle was removed from the run.",
                Some(ClipEnd::Full) => " Clips are at most ten minutes long.",
            };
            cx.say(
                Tone::Done,
                &format!("Recorded {name}: {seconds:.1} s.{why}"),
            );
        }
        Err(NotAdded::Short) => cx.say(
            Tone::Refused,
            "The clip has fewer than two frames. Record a longer clip.",
        ),
        Err(NotAdded::Other { bench, clip }) => {
            let text = format!(
                "The clip ({clip}) does not match the clips in the Moves panel ({bench}). Save them, clear the \
                 list and record again."
            );
            cx.say(Tone::Refused, &text);
        }
    }
}

/// Starts building a library from the clips.
fn build(cx: &mut Context) {
    let bench = &mut cx.model.moves;
    if bench.is_building {
        return;
    }
    match bench.trimmed() {
        Ok(clips) => {
            let drawn = bench.drawn.graph();
            if bench.shown == ShownLibrary::Drawn
                && let Some(why) = drawn.cut_off(&clips)
            {
                cx.say(Tone::Refused, &why);
                return;
            }
            bench.is_building = true;
            let order = BuildOrder {
                revision: bench.revision,
                name: file_stem(&bench.name),
                clips,
                rules: bench.rules,
                drawn: (bench.shown == ShownLibrary::Drawn).then(|| drawn.clone()),
                placed: bench.placed(cx.epoch),
                scenario: cx.model.document.scenario().clone(),
            };
            let job = Job::build_moves(order, cx.wake());
            cx.jobs.push(job);
        }
        Err(why) => cx.say(Tone::Refused, &format!("{why}.")),
    }
}

/// Converts the name of a library to a file name without extension; a blank name gives the default
/// name.
fn file_stem(name: &str) -> String {
    match name.trim().is_empty() {
        true => "my-moves".to_owned(),
        false => slug(name, '-'),
    }
}

/// Assigns the shown library to the selected agents.
fn use_library(cx: &mut Context) {
    let Some(library) = cx.model.moves.library() else {
        cx.say(
            Tone::Refused,
            "Build a library first, or choose a shipped one.",
        );
        return;
    };
    if cx.waiting.is_some() {
        cx.say(Tone::Refused, "Return to the scenario first.");
        return;
    }
    let agents = cx.model.selected_agents();
    let document = &cx.model.document;
    let folder = document.path().and_then(Path::parent);
    let edit = use_edit(
        document.scenario(),
        &cx.model.modules.registry,
        &agents,
        &library,
        &free_path(folder, &library),
        cx.model.moves.execution,
    );
    match edit {
        Ok(edit) => {
            cx.apply(&format!("Use moves {}", library.name()), edit);
            let users = match agents.len() {
                1 => "1 agent drives".to_owned(),
                count => format!("{count} agents drive"),
            };
            cx.say_undoable(&format!(
                "{users} with moves from library {}.",
                library.name()
            ));
        }
        Err(why) => cx.say(Tone::Refused, &words_of(&why)),
    }
}

fn words_of(why: &UseError) -> String {
    match why {
        UseError::NoAgent => "First select the vehicles that should use the library.".to_owned(),
        UseError::Library(why) => format!("The library cannot be used: {why}."),
        UseError::OtherVehicle {
            agent,
            kind,
            recorded,
        } => format!(
            "Agent {} drives {kind}, but the clips were recorded with {recorded}, which has a different outline.",
            agent.0
        ),
        UseError::Level { agent, level } => format!(
            "Agent {} drives at the level {level}, which cannot drive these clips. Choose another level in the \
             Inspector.",
            agent.0
        ),
    }
}

/// Returns the first path for a library, relative to the scenario, that is unused or already
/// contains this library.
fn free_path(folder: Option<&Path>, library: &UsedLibrary) -> String {
    let name = library.name();
    let numbered = (2..).map(|number| format!("{name}-{number}"));
    let names = std::iter::once(name.to_owned()).chain(numbered);
    let mut paths = names.map(|name| format!("{FOLDER}/{name}.moves.json"));
    let text = match library {
        UsedLibrary::Own(built) => built.built.graph.to_text(),
        UsedLibrary::Shipped(shipped) => shipped.moves.to_owned(),
    };
    // An existing file would be read in place of the moves in the scenario.
    let is_free = |path: &String| {
        let there = folder.map(|folder| folder.join(path));
        let there = there.filter(|there| there.exists());
        let read = |there: &Path| roadwright_files::read_text(there, roadwright_moves::LARGEST);
        there.is_none_or(|there| read(&there).is_ok_and(|own| own == text))
    };
    paths.find(is_free).unwrap_or_default()
}

/// Suggests a path for the files of the library, in the folder `moves` beside the scenario. Without
/// a saved scenario, the path is only a file name.
pub(crate) fn suggestion(cx: &Context) -> String {
    let name = format!("{}.moves.json", file_stem(&cx.model.moves.name));
    let folder = cx.own_document().path().and_then(Path::parent);
    folder.map_or(name.clone(), |folder| {
        folder.join(FOLDER).join(&name).display().to_string()
    })
}

/// Writes the library and its clips.
pub(crate) fn save(cx: &mut Context, path: PathBuf) {
    let Some(built) = cx.model.moves.built.clone() else {
        cx.say(Tone::Refused, "Build a library first.");
        return;
    };
    let job = Job::save_moves(built, path, cx.wake());
    cx.jobs.push(job);
}
