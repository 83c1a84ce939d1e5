//! Things of which there are many alike: vehicles and trees.

use super::mesh::{Ink, vertex};
use roadwright_geometry::DVec2;
use roadwright_render::figure::{Figure, Part};

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

/// The numbers of an instance.
pub fn parts(instance: &Instance) -> ([f32; 2], [f32; 2], f32, [u8; 4]) {
    let f = |i: usize| f32::from_bits(instance[i]);
    ([f(0), f(1)], [f(2), f(3)], f(4), instance[5].to_ne_bytes())
}

/// A figure in the frame of an instance: corners in half lengths and half widths with a colour of
/// their own (alpha 0: the instance's) and a shift that does not turn, in half widths; and triangles.
pub struct UnitShape {
    /// Its corners.
    pub corners: Vec<super::mesh::Vertex>,
    /// Its triangles, three corners each.
    pub indices: Vec<u32>,
}

/// As good as transparent: colours without alpha are those of the instance.
const FADED_OUT: [u8; 4] = [0, 0, 0, 1];

impl UnitShape {
    /// The triangles of a figure. What is not of the instance's own colour is shown by `ink`.
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
        // Triangles from the middle: every corner is seen from there.
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
        // A glow of ten corners with as many outside of it, and a disc of ten.
        assert_eq!(shape.corners.len(), (1 + 10 + 10) + (1 + 10));
        assert_eq!(shape.indices.len(), 3 * (10 + 20 + 10));
        let last = shape.corners.len() as u32;
        assert!(shape.indices.iter().all(|&i| i < last));
    }
}
