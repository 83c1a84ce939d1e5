//! Things of which there are many alike: vehicles and trees.

use super::mesh::{Ink, vertex};
use roadwright_geometry::DVec2;
use roadwright_render::palette;

/// One of many: place in metres from the origin, the vector to its front (half its length), half
/// its width, colour. Plain words for the GPU.
pub type Instance = [u32; 6];

/// Many alike.
#[derive(Debug, Clone, Default)]
pub struct Instances {
    /// Unlike that of any other list; 0 for one that changes every frame.
    pub id: u64,
    /// World point that places are measured from, m.
    pub origin: DVec2,
    /// Box around all of them, m.
    pub low: DVec2,
    /// Box around all of them, m.
    pub high: DVec2,
    /// The list.
    pub list: Vec<Instance>,
}

/// Puts an instance together.
pub(super) fn instance(place: DVec2, front: DVec2, half_width: f64, color: [u8; 4]) -> Instance {
    [
        (place.x as f32).to_bits(),
        (place.y as f32).to_bits(),
        (front.x as f32).to_bits(),
        (front.y as f32).to_bits(),
        (half_width as f32).to_bits(),
        u32::from_ne_bytes(color),
    ]
}

/// The numbers of an instance.
pub(super) fn parts(instance: &Instance) -> ([f32; 2], [f32; 2], f32, [u8; 4]) {
    let f = |i: usize| f32::from_bits(instance[i]);
    ([f(0), f(1)], [f(2), f(3)], f(4), instance[5].to_ne_bytes())
}

/// A shape in the frame of an instance: corners in half lengths and half widths with a colour of
/// their own (alpha 0: the instance's), and triangles.
pub(super) struct UnitShape {
    pub(super) corners: Vec<super::mesh::Vertex>,
    pub(super) indices: Vec<u32>,
}

impl UnitShape {
    fn fan(&mut self, ring: &[(f32, f32)], color: [u8; 4]) {
        let first = self.corners.len() as u32;
        self.corners
            .extend(ring.iter().map(|&(x, y)| vertex([x, y], [0.0; 2], color)));
        // All rings are convex: triangles from the first corner fill them.
        for i in 1..ring.len() as u32 - 1 {
            self.indices.extend([first, first + i, first + i + 1]);
        }
    }

    /// A car from above: outline, body, windscreen and rear window.
    pub(super) fn car() -> Self {
        let mut shape = Self {
            corners: Vec::new(),
            indices: Vec::new(),
        };
        let body = |grow: f32| {
            [
                (1.0, 0.62),
                (0.86, 0.98),
                (-0.92, 1.0),
                (-1.0, 0.7),
                (-1.0, -0.7),
                (-0.92, -1.0),
                (0.86, -0.98),
                (1.0, -0.62),
            ]
            .map(|(x, y)| (x * (1.0 + 0.45 * grow), y * (1.0 + grow)))
        };
        let glass = Ink::Light.bytes(palette::faded(palette::GLASS, 0.9));
        // From the bottom up: what comes later covers it. The outline is a slightly larger body.
        shape.fan(&body(0.16), glass);
        shape.fan(&body(0.0), [0; 4]);
        shape.fan(
            &[(0.55, 0.78), (0.2, 0.66), (0.2, -0.66), (0.55, -0.78)],
            glass,
        );
        shape.fan(
            &[(-0.75, 0.7), (-0.55, 0.6), (-0.55, -0.6), (-0.75, -0.7)],
            glass,
        );
        shape
    }

    /// A tree from above: a crown with a shadow and a trunk.
    pub(super) fn tree() -> Self {
        let mut shape = Self {
            corners: Vec::new(),
            indices: Vec::new(),
        };
        let circle = |radius: f32, x: f32, y: f32| -> Vec<(f32, f32)> {
            (0..12)
                .map(|i| {
                    let angle = std::f64::consts::TAU * f64::from(i) / 12.0;
                    let corner = roadwright_geometry::unit(angle);
                    (x + radius * corner.x as f32, y + radius * corner.y as f32)
                })
                .collect()
        };
        let shadow = Ink::Light.bytes(palette::faded(palette::OUTLINE, 0.2));
        // To the south-east, as all shadows on the map. Trees do not turn, so the frame of the
        // instance is that of the map.
        shape.fan(&circle(1.0, 0.28, -0.28), shadow);
        shape.fan(&circle(1.0, 0.0, 0.0), [0; 4]);
        let trunk = Ink::Light.bytes(palette::rgb(palette::TRUNK));
        shape.fan(&circle(0.14, 0.0, 0.0), trunk);
        shape
    }
}
