//! Drawing the map at city scale. Triangles stay on the GPU, and vehicles and trees are instances selected by
//! position and scale.

mod gpu;
mod moving;
mod paint;
mod shapes;
mod terrain;

pub(crate) use gpu::set_up as set_up_gpu;
pub use moving::{CoveredVehicles, Moving, VehicleDot};
pub use paint::MapPainter;
pub use roadwright_editor_core::map::instances::{Instance, Instances};
pub use roadwright_editor_core::map::mesh::{Batch, Ink, Level, Mesh, MeshBuilder, Vertex};
pub use roadwright_editor_core::map::objects::Objects;
pub use roadwright_editor_core::map::skid_marks::SkidMarks;
pub use roadwright_editor_core::map::tiles::{TileId, Tiles};
use roadwright_editor_core::map::{
    groves, heat, instances, interim, mesh, objects, pushed, skid_marks, tiles,
};
pub use terrain::TerrainImage;
