//! Figures drawn many times: vehicles and trees.

use super::mesh::{Ink, vertex};
use roadwright_geometry::DVec2;
use roadwright_render::figure::{Figure, Part};

/// One copy of a figure, packed into 32-bit words for the GPU: position in metres from the origin, vector to
/// its front (half its length), half its width, and colour.
pub type Instance = [u32; 6];

/// Many copies of a figure.
#[derive(Debug, Clone, Default)]
pub struct Instances {
    /// Number that is unique among all lists; 0 for a list that changes every frame.
    pub id: u64,
    /// World point that positions are relative to, m.
    pub origin: DVec2,
    /// South-west corner of the bounding box, m.
    pub low: DVec2,
    /// North-east corner of the bounding box, m.
    pub high: DVec2,
    /// The copies of the figure, each packed for the GPU.
    pub list: Vec<Instance>,
}

/// Packs an instance.
pub fn instance(place: DVec2, front: DVec2, half_width: f64, color: [u8; 4]) -> Instance {
    [
        (place.x as f32).to_bits(),
        (place.y as f32).to_bits(),
        (front.x as f32).to_bits(),
        (front.y as f32).to_bits(),
        (half_width as f32).to_bits(),
        u32::from_ne_bytes(color),
    ]
}

/// Unpacks an instance.
pub fn parts(instance: &Instance) -> ([f32; 2], [f32; 2], f32, [u8; 4]) {
    let f = |i: usize| f32::from_bits(instance[i]);
    ([f(0), f(1)], [f(2), f(3)], f(4), instance[5].to_ne_bytes())
}

/// A figure in the frame of an instance. Corners are given in half lengths and half widths. Each has a colour
/// (alpha 0 stands for the colour of the instance) and a shift in half widths that does not rotate.
pub struct UnitShape {
    /// Corners of the figure.
    pub corners: Vec<super::mesh::Vertex>,
    /// Triangles of the figure, three corners each.
    pub indices: Vec<u32>,
}

/// Colour of transparent corners. Its alpha is 1, because 0 stands for the colour of the instance.
const FADED_OUT: [u8; 4] = [0, 0, 0, 1];

impl UnitShape {
    /// Triangulates a figure. `ink` converts all colours except the instance's own colour.
    pub fn new(figure: Figure, ink: Ink) -> Self {
        let mut shape = Self {
            corners: Vec::new(),
            indices: Vec::new(),
        };
        for part in figure.parts() {
            shape.add(&part, ink);
        }
        shape
    }

    fn add(&mut self, part: &Part, ink: Ink) {
        let color = part.color.map_or([0; 4], |color| ink.bytes(color));
        let shift = [part.shift.0, part.shift.1];
        let first = self.corners.len() as u32;
        let n = part.ring.len() as u32;
        // A fan around the centre, from which every corner is visible.
        let sum = part.ring.iter().fold((0.0, 0.0), |sum, corner| {
            (sum.0 + corner.0, sum.1 + corner.1)
        });
        let middle = [sum.0 / n as f32, sum.1 / n as f32];
        self.corners.push(vertex(middle, shift, color));
        for &(x, y) in &part.ring {
            self.corners.push(vertex([x, y], shift, color));
        }
        let ring = |i: u32| first + 1 + i % n;
        for i in 0..n {
            self.indices.extend([first, ring(i), ring(i + 1)]);
        }
        if let Some(fade) = &part.fade {
            let outer = |i: u32| first + 1 + n + i % n;
            for &(x, y) in fade {
                self.corners.push(vertex([x, y], shift, FADED_OUT));
            }
            for i in 0..n {
                let quad = [ring(i), outer(i), outer(i + 1), ring(i + 1)];
                self.indices
                    .extend([quad[0], quad[1], quad[2], quad[0], quad[2], quad[3]]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_that_fades_is_a_fan_with_a_rim() {
        let shape = UnitShape::new(Figure::BrakeLamp, Ink::Light);
        // A glow with ten inner and ten outer corners, and a disc with ten.
        assert_eq!(shape.corners.len(), (1 + 10 + 10) + (1 + 10));
        assert_eq!(shape.indices.len(), 3 * (10 + 20 + 10));
        let last = shape.corners.len() as u32;
        assert!(shape.indices.iter().all(|&i| i < last));
    }
}
