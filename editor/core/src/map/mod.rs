//! The map as triangles and instances: tiles that are prepared in advance, and vehicles and trees
//! that are selected by position and scale. The editor crate draws them.

pub mod groves;
pub mod heat;
pub mod instances;
pub mod interim;
pub mod mesh;
pub mod objects;
pub mod pushed;
pub mod skid_marks;
pub mod tiles;
