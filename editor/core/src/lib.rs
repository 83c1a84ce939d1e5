//! The core of the Roadwright editor: its state and logic, without a window.
//!
//! It contains the document (scenario, history, file) and its derived data, the tools, the running
//! simulation, experiments, the vehicle workshop, settings and commands. Keyboard, pointer and text input
//! arrive as types of this crate, so it is independent of the library that draws the frame.
//!
//! ```
//! use roadwright_editor_core::document::Document;
//! use roadwright_scenario::Scenario;
//!
//! let document = Document::new(Scenario::new("Town"));
//! assert!(!document.is_dirty());
//! ```

pub mod autosave;
pub mod camera;
pub mod command;
pub mod damaged;
pub mod document;
pub mod experiment;
pub mod extensions;
pub mod gamepad;
pub mod import_report;
pub mod input;
pub mod kind_edits;
pub mod live;
pub mod lookout;
pub mod map;
pub mod moves;
pub mod panel;
pub mod race;
pub mod route_source;
pub mod scene;
pub mod settings;
pub mod shipped;
pub mod tools;
mod trusted_folders;
pub mod worker;
pub mod workshop;
