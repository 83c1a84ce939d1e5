//! The map as triangles and instances: tiles that are made in advance, and vehicles and trees selected by
//! position and scale. The editor crate draws them.

pub mod groves;
pub mod heat;
pub mod instances;
pub mod interim;
pub mod mesh;
pub mod objects;
pub mod pushed;
pub mod skid_marks;
pub mod tiles;
