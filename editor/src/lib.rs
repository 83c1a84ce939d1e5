//! The Roadwright editor: draw a world by click-and-drag and press play in the same window.

pub mod camera;
pub mod document;
pub mod map;
pub mod scene;
pub mod tools;
pub mod worker;
