//! The menu bar and the playback controls.

use crate::command::{Command, Command as C};
use crate::command_button::command_button;
use crate::icons::{self, PlaySign};
use crate::model::{Action, Model, Next, SPEEDS};
use crate::panel::{MenuPlace, PanelId};
use crate::settings::{Heat, Settings};
use crate::tools::{MapPart, Tone};
use egui::{Align, Checkbox, Label, Layout, Rect, RichText, Role, Sense, Ui, WidgetInfo, vec2};
use std::collections::BTreeSet;

/// Minimum width of the menu bar for the clock to show the number of vehicles, points. In narrower
/// bars, only the hint of the clock shows the number, to leave room for the scenario's name.
const ROOM_FOR_COUNTS: f32 = 360.0;

/// Share of the requested speed below which the actual speed is shown.
const SLOW: f64 = 0.9;

/// Minimum margin between a menu and the lower edge of the window, points.
const MENU_MARGIN: f32 = 12.0;

use Line::{Do, Panels, Recent, Submenu};

/// Lines of a menu in groups that are separated by rules.
type Groups = &'static [&'static [Line]];

/// A line of a menu.
#[derive(Clone, Copy)]
enum Line {
    /// A single command.
    Do(C),
    /// The commands of the panels that belong to this place.
    Panels(MenuPlace),
    /// The most recently opened or saved files.
    Recent,
    /// Commands in a submenu of this name, so that the menu fits into the smallest window.
    Submenu(&'static str, &'static [C]),
}

const FILE: Groups = &[
    &[Do(C::New), Do(C::Open), Recent, Do(C::Save), Do(C::SaveAs)],
    &[
        Do(C::Import),
        Panels(MenuPlace::Import),
        Do(C::ExportPicture),
        Do(C::Share),
    ],
    &[Do(C::Welcome), Do(C::Quit)],
];
const EDIT: Groups = &[
    &[Do(C::Undo), Do(C::Redo)],
    &[
        Do(C::Cut),
        Do(C::Copy),
        Do(C::Paste),
        Do(C::Duplicate),
        Do(C::Delete),
        Do(C::SelectAll),
        Do(C::SelectSimilar),
    ],
    &[
        Do(C::Group),
        Do(C::Ungroup),
        Submenu(
            "Mirror and turn",
            &[
                C::MirrorLeftRight,
                C::MirrorUpDown,
                C::TurnLeft,
                C::TurnRight,
            ],
        ),
    ],
    &[
        Do(C::SplitRoad),
        Do(C::MergeRoads),
        Do(C::MergeJunctions),
        Do(C::PartJunctions),
        Do(C::AddTurnLanes),
        Do(C::TurnIntoRoundabout),
        Do(C::ReverseRoad),
        Do(C::SimplifyRoad),
    ],
];
const SIMULATION: Groups = &[
    &[
        Do(C::PlayPause),
        Do(C::StepOnce),
        Do(C::LookBack),
        Do(C::Reset),
    ],
    &[Do(C::Faster), Do(C::Slower)],
    &[
        Do(C::Drive),
        Do(C::FullLock),
        Do(C::RecordClip),
        Do(C::RaceAgain),
        Do(C::Uncouple),
        Do(C::Couple),
    ],
    &[
        Panels(MenuPlace::Run),
        Do(C::KeepRun),
        Panels(MenuPlace::Runs),
    ],
    &[Panels(MenuPlace::Studies)],
];
const HELP: Groups = &[&[Do(C::Palette), Do(C::Keys), Do(C::Welcome)]];

pub(super) fn ui(ui: &mut Ui, model: &Model, actions: &mut Vec<Action>) {
    egui::MenuBar::new().ui(ui, |ui| {
        menu(ui, "File", model, actions, FILE);
        menu(ui, "Edit", model, actions, EDIT);
        ui.menu_button("View", |ui| rolling(ui, |ui| view(ui, model, actions)));
        menu(ui, "Simulation", model, actions, SIMULATION);
        menu(ui, "Help", model, actions, HELP);
        ui.separator();
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            play(ui, model, actions);
            // Added last, so that it takes the remaining room.
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                ui.add(Label::new(model.title()).truncate());
            });
        });
    });
}

fn view(ui: &mut Ui, model: &Model, actions: &mut Vec<Action>) {
    let places = [C::FrameAll, C::FrameSelection, C::Follow, C::Search];
    items(ui, model, actions, &places);
    ui.separator();
    let settings = &model.settings;
    tick(ui, model, actions, C::ToggleGrid, settings.grid);
    tick(
        ui,
        model,
        actions,
        C::ToggleGridSnap,
        settings.tools.snap.grid,
    );
    tick(ui, model, actions, C::ToggleMinimap, settings.minimap);
    toggles(ui, model, actions);
    ui.menu_button("Lock", |ui| {
        parts(ui, model, "Lock", |s| &mut s.tools.locks, actions)
    });
    ui.menu_button("Hide", |ui| {
        parts(ui, model, "Hide", |s| &mut s.tools.hidden, actions);
        ui.separator();
        items(ui, model, actions, &[C::ShowHidden]);
    });
    // Submenus keep the menu short enough for the smallest window at the normal font size.
    ui.menu_button("Heat map", |ui| heat(ui, model, actions));
    ui.menu_button("Open ground", |ui| open_ground(ui, model, actions));
    ui.separator();
    let window = [C::ToggleTheme, C::Larger, C::Smaller, C::ResetPanels];
    items(ui, model, actions, &window);
}

/// Shows the submenu of recent files.
fn recent(ui: &mut Ui, model: &Model, actions: &mut Vec<Action>) {
    ui.add_enabled_ui(!model.settings.recent.is_empty(), |ui| {
        ui.menu_button("Open recent", |ui| {
            for path in &model.settings.recent {
                let name = path.file_name().unwrap_or(path.as_os_str());
                let row = ui.button(name.to_string_lossy());
                if row.on_hover_text(path.display().to_string()).clicked() {
                    actions.push(Action::Leave(Next::Open(path.clone())));
                    ui.close();
                }
            }
        });
    });
}

fn menu(ui: &mut Ui, name: &str, model: &Model, actions: &mut Vec<Action>, groups: Groups) {
    ui.menu_button(name, |ui| {
        rolling(ui, |ui| {
            for (i, group) in groups.iter().enumerate() {
                if i > 0 {
                    ui.separator();
                }
                for line in *group {
                    match *line {
                        Do(command) => item(ui, model, actions, command),
                        Recent => recent(ui, model, actions),
                        Submenu(name, commands) => {
                            ui.menu_button(name, |ui| items(ui, model, actions, commands));
                        }
                        Panels(place) => {
                            for panel in PanelId::at(place) {
                                item(ui, model, actions, C::Panel(panel));
                            }
                        }
                    }
                }
            }
        });
    });
}

/// Shows the contents of a menu. They scroll if the window is not high enough for them, for example
/// because of a large font.
fn rolling(ui: &mut Ui, content: impl FnOnce(&mut Ui)) {
    let room = ui.ctx().content_rect().bottom() - ui.cursor().top() - MENU_MARGIN;
    // Otherwise menus would end at the default height of areas, 400 points.
    ui.set_max_height(room);
    egui::ScrollArea::vertical()
        .max_height(room)
        .show(ui, |ui| {
            ui.with_layout(Layout::top_down_justified(Align::Min), content)
        });
}

fn items(ui: &mut Ui, model: &Model, actions: &mut Vec<Action>, commands: &[Command]) {
    for command in commands {
        item(ui, model, actions, *command);
    }
}

fn item(ui: &mut Ui, model: &Model, actions: &mut Vec<Action>, command: Command) {
    let button = command_button(model, command);
    if ui.add(button).on_hover_text(command.hint()).clicked() {
        actions.push(Action::Do(command));
        ui.close();
    }
}

/// Shows a command that switches a setting. It is ticked while the setting is on.
fn tick(ui: &mut Ui, model: &Model, actions: &mut Vec<Action>, command: Command, is_on: bool) {
    let mut now = is_on;
    let key = RichText::new(model.settings.keys.label(command)).weak();
    let text = (command.title(), egui::Atom::grow(), key);
    let shown = ui.add(Checkbox::new(&mut now, text));
    if shown.on_hover_text(command.hint()).changed() {
        actions.push(Action::Do(command));
    }
}

fn toggles(ui: &mut Ui, model: &Model, actions: &mut Vec<Action>) {
    // This is copied only while the menu is open, because otherwise the closure does not run.
    let mut settings = model.settings.clone();
    ui.checkbox(&mut settings.names, "Street names");
    ui.checkbox(&mut settings.problems, "Problems on the map");
    ui.checkbox(&mut settings.skid_marks, "Skid marks");
    ui.checkbox(&mut settings.rigid_bodies, "Rigid bodies");
    ui.checkbox(&mut settings.welcome, "Welcome at startup");
    if settings != model.settings {
        actions.push(Action::Settings(Box::new(settings)));
    }
}

/// Shows check boxes for the parts of the map: the kinds of objects and, if there are several
/// layers, the layers. A part is ticked if the given set of the settings contains it.
fn parts(
    ui: &mut Ui,
    model: &Model,
    verb: &str,
    set: impl Fn(&mut Settings) -> &mut BTreeSet<MapPart>,
    actions: &mut Vec<Action>,
) {
    let mut settings = model.settings.clone();
    let chosen = set(&mut settings);
    for part in MapPart::all(model.document.scenario()) {
        let mut on = chosen.contains(&part);
        if ui
            .checkbox(&mut on, format!("{verb} {}", part.name()))
            .changed()
        {
            if on {
                chosen.insert(part);
            } else {
                chosen.remove(&part);
            }
        }
    }
    if settings != model.settings {
        actions.push(Action::Settings(Box::new(settings)));
    }
}

fn heat(ui: &mut Ui, model: &Model, actions: &mut Vec<Action>) {
    for kind in Heat::ALL {
        if ui.radio(model.settings.heat == kind, kind.name()).clicked() {
            let mut settings = model.settings.clone();
            settings.heat = kind;
            actions.push(Action::Settings(Box::new(settings)));
            ui.close();
        }
    }
}

fn open_ground(ui: &mut Ui, model: &Model, actions: &mut Vec<Action>) {
    let mut settings = model.settings.clone();
    let view = &mut settings.open_ground;
    for (is_on, name, hint) in [
        (&mut view.painted, "Painted layers", "Show painted ground."),
        (
            &mut view.plan,
            "Plans",
            "Show which vehicles have no path, and where the watched vehicle deviates from its plan.",
        ),
        (
            &mut view.costs,
            "Costs",
            "Show the costs of cells around the watched vehicle.",
        ),
        (
            &mut view.forecasts,
            "Forecasts",
            "Show where moving vehicles are expected.",
        ),
        (
            &mut view.search,
            "Search",
            "Show which cells the search of the watched vehicle expands, and in which order.",
        ),
    ] {
        ui.checkbox(is_on, name).on_hover_text(hint);
    }
    if settings != model.settings {
        actions.push(Action::Settings(Box::new(settings)));
    }
}

/// Shows the playback buttons, from right to left.
fn play(ui: &mut Ui, model: &Model, actions: &mut Vec<Action>) {
    speed(ui, model, actions);
    let (sign, name) = if model.is_playing() {
        (PlaySign::Pause, "Pause")
    } else {
        (PlaySign::Play, "Play")
    };
    // From right to left, as the layout runs.
    for (sign, name, command) in [
        (PlaySign::Step, "Step", Command::StepOnce),
        (sign, name, Command::PlayPause),
        (PlaySign::Reset, "Reset", Command::Reset),
    ] {
        if button(ui, model, sign, name, command) {
            actions.push(Action::Do(command));
        }
    }
    ui.separator();
    let (time, counts) = clock(model);
    if ui.available_width() < ROOM_FOR_COUNTS {
        ui.label(time).on_hover_text(counts);
    } else {
        ui.label(format!("{time}   {counts}"));
    }
}

/// Formats the time of the run and its number of vehicles.
fn clock(model: &Model) -> (String, String) {
    let Some(live) = &model.live else {
        return ("not started".into(), String::new());
    };
    let time = live.snapshot.time;
    let counts = live.counts;
    let state = if live.timeline.at.is_some() {
        "past"
    } else if live.is_over {
        "over"
    } else if live.is_playing {
        "running"
    } else {
        "paused"
    };
    let refused = match counts.refused {
        0 => String::new(),
        n => format!(", {n} without a route"),
    };
    let time = format!(
        "{state}   {:02}:{:04.1}",
        (time / 60.0).floor(),
        time % 60.0
    );
    let counts = format!(
        "{} driving, {} arrived{refused}",
        counts.active, counts.arrived
    );
    (time, counts)
}

fn button(ui: &mut Ui, model: &Model, sign: PlaySign, name: &str, command: Command) -> bool {
    let (rect, response) = ui.allocate_exact_size(vec2(32.0, 24.0), Sense::click());
    let label = name.to_owned();
    response.widget_info(move || WidgetInfo::labeled(Role::Button, true, &label));
    let visuals = ui.style().interact(&response);
    let is_play = matches!(sign, PlaySign::Play | PlaySign::Pause);
    let fill = if is_play {
        model.theme().tone(Tone::Accent)
    } else {
        visuals.weak_bg_fill
    };
    let color = if is_play {
        model.theme().handle()
    } else {
        visuals.text_color()
    };
    ui.painter().rect_filled(rect, 5.0, fill);
    if response.hovered() || response.has_focus() {
        ui.painter()
            .rect_stroke(rect, 5.0, visuals.fg_stroke, egui::StrokeKind::Inside);
    }
    let icon = Rect::from_center_size(rect.center(), vec2(13.0, 13.0));
    icons::play(ui.painter(), icon, sign, color);
    let key = model.settings.keys.label(command);
    response
        .on_hover_text(format!("{} ({key})", command.hint()))
        .clicked()
}

fn speed(ui: &mut Ui, model: &Model, actions: &mut Vec<Action>) {
    let text = |speed: f64| {
        if speed.is_finite() {
            format!("{speed}x")
        } else {
            "max".into()
        }
    };
    let all: Vec<(f64, String)> = SPEEDS.iter().map(|s| (*s, text(*s))).collect();
    ui.scope(|ui| {
        ui.spacing_mut().combo_width = 64.0;
        if let Some(speed) = super::widgets::choice(ui, "Speed", &model.speed, &all) {
            actions.push(Action::Speed(speed));
        }
    });
    if let Some(live) = model.live.as_ref().filter(|live| live.is_playing) {
        pace(ui, live.pace, model.speed);
    }
}

/// Shows the actual speed of the simulation if it differs from the requested one.
fn pace(ui: &mut Ui, pace: f64, wanted: f64) {
    if !wanted.is_finite() {
        let hint = "Simulated seconds per second.";
        ui.label(format!("now {pace:.1}x")).on_hover_text(hint);
    } else if pace > 0.0 && pace < SLOW * wanted {
        let hint = "Simulated seconds per second. This machine cannot run faster here.";
        ui.label(format!("only {pace:.1}x")).on_hover_text(hint);
    }
}
