//! The map as triangles and instances: tiles that are made once, and vehicles and trees selected by position
//! and scale. The crate above draws them.

pub mod groves;
pub mod heat;
pub mod instances;
pub mod mesh;
pub mod objects;
pub mod pushed;
pub mod skid_marks;
pub mod tiles;
