//! The path dialog: the typed path, and the contents of its folder.

use super::widgets;
use crate::experiment::ExperimentFile;
use crate::folder_list::{self, FolderList, FolderRow};
use crate::model::{Action, Dialog, Model, Next, Purpose};
use crate::paths::{bundle_path, moves_path, scenario_path, vehicle_path};
use egui::text::{CCursor, CCursorRange};
use egui::{Id, Key, Modifiers, Response, RichText, Role, ScrollArea, Ui, WidgetInfo};
use std::path::{Path, PathBuf};

/// Width of the dialog, points.
const WIDTH: f32 = 560.0;
/// Height of the list, points. It is smaller in a short window.
const LIST_HEIGHT: f32 = 240.0;
/// Height of the rest of the dialog, points.
const AROUND_LIST: f32 = 260.0;

/// Returns title, button and hint of the path dialog.
fn words_of(purpose: Purpose) -> (&'static str, &'static str, &'static str) {
    match purpose {
        Purpose::Open => (
            "Open scenario",
            "Open",
            "path to a .scenario.json or .rwz file",
        ),
        Purpose::Results => (
            "Export results",
            "Export",
            "folder for timeline.csv, timeline.png and trips.csv",
        ),
        Purpose::Comparison => (
            "Export comparison",
            "Export",
            "folder for figures.csv, trips.csv and timeline.csv",
        ),
        Purpose::OpenVehicle => ("Open vehicle", "Open", "path to a .vehicle.json file"),
        Purpose::CompareVehicle => (
            "Compare with vehicle",
            "Compare",
            "path to a .vehicle.json file",
        ),
        Purpose::SaveVehicle => ("Save vehicle", "Save", "path to a .vehicle.json file"),
        Purpose::UseVehicle => (
            "Save vehicle beside the scenario",
            "Save and use",
            "path to a .vehicle.json file below the scenario's folder",
        ),
        Purpose::OpenClips => (
            "Open clips",
            "Open",
            "path to a .clips.json or .moves.json file",
        ),
        Purpose::SaveMoves => (
            "Save moves",
            "Save",
            "path to a .moves.json file; its clips are written beside it",
        ),
        Purpose::Drive => ("Save the drive", "Export", "path to a .csv file"),
        Purpose::Share => ("Share scenario", "Export", "path to a .rwz file"),
        Purpose::Save => ("Save scenario", "Save", "path to a .scenario.json file"),
        Purpose::Import => (
            "Import OpenStreetMap",
            "Import",
            "path to an .osm or .osm.pbf file",
        ),
        Purpose::Picture => ("Export picture", "Export", "path to a .png file"),
        Purpose::Experiment(ExperimentFile::Open) => (
            "Open experiment",
            "Open",
            "path to an .experiment.json file",
        ),
        Purpose::Experiment(ExperimentFile::Results) => (
            "Open results",
            "Open",
            "path to a file written by bench run --out",
        ),
        Purpose::Experiment(ExperimentFile::Save) => (
            "Save experiment",
            "Save",
            "path to an .experiment.json file",
        ),
        Purpose::Experiment(ExperimentFile::Record) => (
            "Save training record",
            "Save",
            "path to a .training.json file",
        ),
        Purpose::Background => ("Background picture", "Place", "path to a .png or .jpg file"),
    }
}

/// Effect of a click on a row.
enum Choice {
    /// Puts the path into the text field.
    Type(String),
    /// Accepts the path.
    Take(PathBuf),
}

pub(super) fn ui(
    context: &egui::Context,
    model: &Model,
    purpose: Purpose,
    then: &Option<Next>,
    text: &mut String,
    actions: &mut Vec<Action>,
) {
    let (folder, _) = folder_list::split(text.trim_start());
    if folder != model.folder.wanted {
        actions.push(Action::ListFolder(folder));
    }
    let (title, button, hint) = words_of(purpose);
    let response = widgets::modal(context, "path").show(context, |ui| {
        ui.set_width(WIDTH);
        ui.heading(title);
        ui.add_space(4.0);
        let response = edit(ui, text, hint, &model.folder.list, purpose.endings());
        let entered = response.lost_focus() && ui.input(|i| i.key_pressed(Key::Enter));
        let mut chosen = entered.then(|| Choice::Take(PathBuf::from(text.trim())));
        ui.add_space(4.0);
        if let Some(choice) = list(ui, model, purpose, text) {
            chosen = Some(choice);
        }
        let typed = PathBuf::from(text.trim());
        let is_empty = text.trim().is_empty();
        warning_about(ui, purpose, &typed, is_empty);
        ui.add_space(8.0);
        ui.horizontal(|ui| {
            let is_ready = !is_empty && !is_impossible(purpose, &typed);
            if widgets::primary_if(ui, is_ready, button).clicked() {
                chosen = Some(Choice::Take(typed));
            }
            let hint = "Use the file dialog of the desktop.";
            if ui.button("Browse…").on_hover_text(hint).clicked() {
                actions.push(Action::Browse(purpose, then.clone()));
            }
            if ui.button("Cancel").clicked() {
                actions.push(Action::Show(Dialog::None));
            }
        });
        match chosen {
            Some(Choice::Take(path)) if path.as_os_str().is_empty() => {}
            // A folder cannot be opened as a file, so it is entered.
            Some(Choice::Take(path)) if path.is_dir() && !purpose.endings().is_empty() => {
                type_path(ui, response.id, text, within(&path, ""));
            }
            // The dialog stays open with the path, so that it can be corrected.
            Some(Choice::Take(path)) if is_impossible(purpose, &path) => {
                type_path(ui, response.id, text, path.display().to_string());
            }
            Some(Choice::Take(path)) => actions.push(Action::Path(path, purpose, then.clone())),
            Some(Choice::Type(path)) => type_path(ui, response.id, text, path),
            None => {}
        }
    });
    if response.should_close() {
        actions.push(Action::Show(Dialog::None));
    }
}

/// Shows the text field. Tab completes the common beginning of matching names.
fn edit(
    ui: &mut Ui,
    text: &mut String,
    hint: &str,
    list: &FolderList,
    endings: &[&str],
) -> Response {
    let id = Id::unique("path text");
    let is_typing = ui.memory(|memory| memory.has_focus(id));
    let completes = is_typing && ui.input_mut(|i| i.consume_key(Modifiers::NONE, Key::Tab));
    if completes && let Some(longer) = completed(text, list, endings) {
        type_path(ui, id, text, longer);
    }
    let edit = egui::TextEdit::singleline(text)
        .id(id)
        .hint_text(hint)
        .lock_focus(true)
        .desired_width(f32::INFINITY);
    let response = ui.add(edit);
    response.widget_info(|| WidgetInfo::labeled(Role::TextInput, true, "Path"));
    // The field has the focus from the start. It does not take the focus back in the frame in which Enter
    // removes it; otherwise Enter would be lost.
    if !response.has_focus() && !response.lost_focus() {
        response.request_focus();
        // Typed text replaces a suggested name.
        if !text.contains(std::path::is_separator) {
            let end = CCursor::new(text.chars().count());
            select(ui, id, CCursorRange::two(CCursor::new(0), end));
        }
    }
    response
}

/// Puts a path into the text field, with the cursor at its end.
fn type_path(ui: &Ui, id: Id, text: &mut String, path: String) {
    *text = path;
    let end = CCursor::new(text.chars().count());
    select(ui, id, CCursorRange::one(end));
}

fn select(ui: &Ui, id: Id, range: CCursorRange) {
    let mut state = egui::TextEdit::load_state(ui.ctx(), id).unwrap_or_default();
    state.cursor.set_char_range(Some(range));
    state.store(ui.ctx(), id);
}

/// Returns the path of an entry of a folder as text. With an empty name, this is the path of the folder with
/// a separator at its end.
fn within(folder: &Path, name: &str) -> String {
    folder.join(name).display().to_string()
}

/// Returns the folders, and the files with one of the endings, whose names start with the typed text.
fn fitting<'a>(
    list: &'a FolderList,
    name: &'a str,
    endings: &'a [&'a str],
) -> impl Iterator<Item = &'a FolderRow> {
    let begins = move |row: &&FolderRow| {
        let head = row.name.get(..name.len());
        head.is_some_and(|head| head.eq_ignore_ascii_case(name))
    };
    let ends =
        move |row: &&FolderRow| !row.is_file || endings.iter().any(|end| row.name.ends_with(end));
    list.rows.iter().filter(begins).filter(ends)
}

/// Completes the typed text to the common beginning of all matches; `None` if that adds nothing.
fn completed(text: &str, list: &FolderList, endings: &[&str]) -> Option<String> {
    let (folder, name) = folder_list::split(text);
    if folder != list.folder {
        return None;
    }
    let mut rows = fitting(list, name, endings);
    let first = rows.next()?;
    let mut common = first.name.clone();
    let mut is_only = true;
    for row in rows {
        is_only = false;
        let same = common.chars().zip(row.name.chars());
        let length: usize = same
            .take_while(|(a, b)| a == b)
            .map(|(a, _)| a.len_utf8())
            .sum();
        common.truncate(length);
    }
    if is_only && !first.is_file {
        common.push(std::path::MAIN_SEPARATOR);
    }
    let kept = &text[..text.len() - name.len()];
    (common.len() > name.len()).then(|| format!("{kept}{common}"))
}

/// Shows the contents of the folder, and the recent files until something is typed.
fn list(ui: &mut Ui, model: &Model, purpose: Purpose, text: &str) -> Option<Choice> {
    let (folder, name) = folder_list::split(text.trim_start());
    ui.label(RichText::new(format!("Folder {}", folder.display())).small());
    let room = ui.ctx().content_rect().height() - AROUND_LIST;
    let mut choice = None;
    let area = ScrollArea::vertical()
        .max_height(room.clamp(60.0, LIST_HEIGHT))
        .auto_shrink([false, false]);
    area.show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 1.0;
        if purpose == Purpose::Open && text.is_empty() {
            choice = recent(ui, model);
        }
        if let Some(parent) = folder.parent()
            && row(ui, "../").clicked()
        {
            choice = Some(Choice::Type(within(parent, "")));
        }
        let list = &model.folder.list;
        // The contents of another folder must not be shown under this path.
        if list.folder != folder {
            return;
        }
        if let Some(problem) = &list.problem {
            ui.label(problem);
        }
        for entry in fitting(list, name, purpose.endings()) {
            if let Some(made) = entry_row(ui, &folder, entry) {
                choice = Some(made);
            }
        }
        if list.left_out > 0 {
            ui.label(format!("and {} more", list.left_out));
        }
    });
    choice
}

/// Shows recently opened files.
fn recent(ui: &mut Ui, model: &Model) -> Option<Choice> {
    let mut choice = None;
    for path in &model.settings.recent {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let response = row(ui, &format!("{name}   recent"));
        let response = response.on_hover_text(path.display().to_string());
        if response.clicked() {
            choice = Some(Choice::Take(path.clone()));
        }
    }
    choice
}

/// Shows a row for a folder or a file. A click types its name, and a double-click on a file accepts
/// it.
fn entry_row(ui: &mut Ui, folder: &Path, entry: &FolderRow) -> Option<Choice> {
    let path = folder.join(&entry.name);
    if !entry.is_file {
        let clicked = row(ui, &format!("{}/", entry.name)).clicked();
        return clicked.then(|| Choice::Type(within(&path, "")));
    }
    let response = row(ui, &entry.name);
    if response.double_clicked() {
        return Some(Choice::Take(path));
    }
    let clicked = response.clicked();
    clicked.then(|| Choice::Type(path.display().to_string()))
}

/// Shows a row over the full width.
fn row(ui: &mut Ui, text: &str) -> Response {
    ui.with_layout(egui::Layout::top_down_justified(egui::Align::Min), |ui| {
        ui.add(egui::Button::selectable(false, text).truncate())
    })
    .inner
}

/// Whether a file that is to be read does not exist.
fn is_missing(purpose: Purpose, path: &Path) -> bool {
    let is_read = matches!(
        purpose,
        Purpose::Open
            | Purpose::Import
            | Purpose::Background
            | Purpose::Experiment(ExperimentFile::Open | ExperimentFile::Results)
            | Purpose::OpenVehicle
            | Purpose::CompareVehicle
            | Purpose::OpenClips
    );
    is_read && !path.exists()
}

/// Whether a file is to be written into a folder that does not exist.
fn lacks_folder(purpose: Purpose, path: &Path) -> bool {
    let is_written = matches!(
        purpose,
        Purpose::Save
            | Purpose::SaveVehicle
            | Purpose::UseVehicle
            | Purpose::SaveMoves
            | Purpose::Share
            | Purpose::Picture
            | Purpose::Drive
            | Purpose::Experiment(ExperimentFile::Save | ExperimentFile::Record)
    );
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    is_written && folder.is_some_and(|folder| !folder.is_dir())
}

/// Whether a file cannot be read or written.
fn is_impossible(purpose: Purpose, path: &Path) -> bool {
    is_missing(purpose, path) || lacks_folder(purpose, path)
}

/// Warns about a file that would be overwritten or does not exist, and about a missing folder.
fn warning_about(ui: &mut Ui, purpose: Purpose, typed: &Path, is_empty: bool) {
    let text = match purpose {
        // Saving adds the extension of scenarios.
        Purpose::Save if scenario_path(typed).exists() => "This file exists and will be replaced.",
        Purpose::SaveVehicle | Purpose::UseVehicle if vehicle_path(typed).exists() => {
            "This file exists and will be replaced."
        }
        Purpose::SaveMoves if moves_path(typed).exists() => {
            "This file exists and will be replaced."
        }
        Purpose::Share if bundle_path(typed).exists() => "This file exists and will be replaced.",
        Purpose::Picture
        | Purpose::Drive
        | Purpose::Experiment(ExperimentFile::Save | ExperimentFile::Record)
            if typed.exists() =>
        {
            "This file exists and will be replaced."
        }
        _ if !is_empty && is_missing(purpose, typed) => "This file does not exist.",
        _ if !is_empty && lacks_folder(purpose, typed) => "This folder does not exist.",
        _ => return,
    };
    ui.label(RichText::new(text).small());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn towns() -> FolderList {
        let row = |name: &str, is_file| FolderRow {
            is_file,
            name: name.into(),
        };
        FolderList {
            folder: "/towns".into(),
            rows: vec![
                row("old", false),
                row("old-town.json", true),
                row("old-tower.json", true),
                row("picture.png", true),
                row("quarter", false),
            ],
            ..FolderList::default()
        }
    }

    #[test]
    fn a_typed_beginning_goes_on_as_far_as_names_agree() {
        let go_on = |text: &str| completed(text, &towns(), &[".json"]);
        assert_eq!(go_on("/towns/old-"), Some("/towns/old-tow".into()));
        assert_eq!(
            go_on("/towns/old-town"),
            Some("/towns/old-town.json".into())
        );
        assert_eq!(go_on("/towns/q"), Some("/towns/quarter/".into()));
        // No common beginning, no match, or a path in another folder.
        assert_eq!(go_on("/towns/old"), None);
        assert_eq!(go_on("/towns/pic"), None);
        assert_eq!(go_on("/other/q"), None);
    }

    #[test]
    fn files_that_do_not_fit_are_left_out() {
        let names = |name: &'static str, endings: &'static [&'static str]| -> Vec<String> {
            let list = towns();
            let rows = fitting(&list, name, endings);
            rows.map(|row| row.name.clone()).collect()
        };
        assert_eq!(names("", &[".png"]), ["old", "picture.png", "quarter"]);
        assert_eq!(
            names("OLD-", &[".json"]),
            ["old-town.json", "old-tower.json"]
        );
        assert_eq!(names("", &[]), ["old", "quarter"]);
        // Completion does not cut characters of several bytes.
        assert_eq!(names("ö", &[".json"]), Vec::<String>::new());
    }
}
