//! The Roadwright editor: draw a world by click-and-drag and press play in the same window.
//!
//! The document (scenario, history, file) is separate from the view. Tools turn pointer events into edits and
//! are independent of the window. Panels, the map and keys read the [`model::Model`], change their own state,
//! and send [`model::Action`]s, which are carried out in one place after the frame. Derived data, checks, the
//! map's triangles, files and the simulation are handled in the background.

use roadwright_editor_core::lookout;
pub use roadwright_editor_core::{
    autosave, camera, command, damaged, document, experiment, extensions, gamepad, import_report,
    input, kind_edits, live, moves, panel, race, route_source, scene, settings, shipped, tools,
    worker, workshop,
};
pub use roadwright_recording::comparison;

mod actions;
mod afterimage;
mod app;
mod arrange;
pub mod arrangement;
pub mod background;
pub mod canvas;
mod clock;
mod command_button;
mod context;
mod coordinator_marks;
mod derived;
mod document_flow;
pub mod drawn_route;
mod edit_commands;
pub mod folder_list;
mod folder_reader;
mod ground_marks;
mod group_edits;
mod hand;
mod hidden_chip;
mod icons;
mod input_order;
mod jobs;
pub mod kept_runs;
mod keyboard;
mod labels;
mod laboratory;
mod left_document;
pub mod map;
pub mod map_view;
mod marks;
mod messages;
mod minimap;
pub mod model;
mod module_actions;
mod move_desk;
mod move_marks;
mod object_menu;
mod outcomes;
mod panels;
mod paths;
pub mod planned_routes;
mod playing;
mod problem_marks;
mod race_marks;
mod racing;
mod random_trips;
mod requests;
mod run_keeping;
mod selection;
mod selection_bar;
mod sharing;
mod shop;
mod showing;
mod theme;
pub mod tone;
mod vehicle_menu;
mod view;
mod view_actions;
mod window_keys;

pub use app::{Editor, Options};

/// Opens the window and returns when it is closed.
///
/// # Errors
/// If no display or no graphics device is available.
pub fn run(options: Options) -> eframe::Result {
    let native = eframe::NativeOptions {
        viewport: egui::ViewportBuilder::default()
            .with_title("Roadwright")
            .with_app_id("roadwright")
            .with_inner_size([1360.0, 860.0])
            .with_min_inner_size([720.0, 480.0]),
        renderer: eframe::Renderer::Wgpu,
        ..eframe::NativeOptions::default()
    };
    let create = move |cc: &eframe::CreationContext<'_>| {
        Ok(Box::new(Editor::new(cc, options)) as Box<dyn eframe::App>)
    };
    eframe::run_native("Roadwright", native, Box::new(create))
}
