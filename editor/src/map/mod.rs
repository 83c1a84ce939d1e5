//! Drawing the map at city scale: tiles of triangles that are built once and stay on the GPU,
//! vehicles and trees as instances, chosen by place and by scale.

mod gpu;
mod groves;
mod heat;
mod instances;
mod mesh;
mod moving;
mod objects;
mod paint;
mod pushed;
mod shapes;
mod skid_marks;
mod terrain;
mod tiles;

pub(crate) use gpu::set_up as set_up_gpu;
pub use instances::{Instance, Instances};
pub use mesh::{Batch, Ink, Level, Mesh, MeshBuilder, Vertex};
pub use moving::{Moving, VehicleDot};
pub use objects::Objects;
pub use paint::MapPainter;
pub use skid_marks::SkidMarks;
pub use terrain::TerrainImage;
pub use tiles::{TileId, Tiles};
