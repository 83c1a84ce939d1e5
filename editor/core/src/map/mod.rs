//! The map as triangles and instances: tiles that are made once, vehicles and trees that are chosen by
//! place and by scale. Whatever draws them stands above this crate.

pub mod groves;
pub mod heat;
pub mod instances;
pub mod mesh;
pub mod objects;
pub mod pushed;
pub mod skid_marks;
pub mod tiles;
