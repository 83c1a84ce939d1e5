//! The Roadwright editor: draw a world by click-and-drag and press play in the same window.
//!
//! The document (scenario, history, file) is apart from what is only seen. Tools turn pointer
//! events into edits and know no window; panels, the map and keys read the [`model::Model`], change
//! what they remember themselves, and send [`model::Action`]s, which are done in one place after
//! the frame. Derived data, checks, the
//! map's triangles, files and the simulation are worked on beside the frame.

mod actions;
mod app;
pub mod arrange;
pub mod autosave;
pub mod background;
pub mod camera;
pub mod canvas;
pub mod command;
pub mod comparison;
mod coordinator_marks;
pub mod damaged;
mod derived;
pub mod document;
mod document_flow;
mod edit_commands;
pub mod experiment;
pub mod extensions;
pub mod folder_list;
pub mod gamepad;
mod group_edits;
mod hand;
mod hidden_chip;
mod icons;
pub mod import_report;
mod jobs;
pub mod kept_runs;
mod keyboard;
pub mod kind_edits;
mod labels;
pub mod live;
mod lookout;
pub mod map;
mod marks;
mod minimap;
pub mod model;
mod module_actions;
pub mod panel;
mod panels;
mod planned_ways;
mod playing;
mod random_trips;
pub mod run_results;
pub mod scene;
mod selection;
pub mod settings;
pub mod sharing;
pub mod shipped;
mod theme;
pub mod tools;
mod trusted_folders;
mod view;
mod view_actions;
mod waiting;
pub mod worker;
pub mod workshop;

pub use app::{Editor, Options};

/// Opens the window and returns when it is closed.
///
/// # Errors
/// If there is no display or nothing to draw with.
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
