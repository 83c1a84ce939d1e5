//! The map as egui shapes, for renderers that do not support our pipelines.

use super::instances::{UnitShape, parts};
use super::mesh::{Batch, Mesh};
use super::paint::{Figures, Frame, Part};
use crate::camera::Camera;
use crate::map_view::MapView;
use egui::epaint::Vertex;
use egui::{Color32, Pos2, Rect, Shape, Vec2, pos2};
use roadwright_render::figure::Figure;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// Returns the shapes of a frame: the part below names, and the part above them.
pub(super) fn shapes(rect: Rect, camera: &Camera, frame: &Frame) -> [Vec<Shape>; 2] {
    // A forest has many pieces with the same figure.
    let mut units: HashMap<Figure, UnitShape> = HashMap::new();
    let mut figure = |figures: Figures<'_>| {
        let unit = units.entry(figures.figure);
        let unit = unit.or_insert_with(|| UnitShape::new(figures.figure, frame.ink));
        instances(rect, camera, &figures, unit)
    };
    let mut below = Vec::new();
    for part in frame.below() {
        match part {
            Part::Meshes(list, meshes) => {
                add_batches(&mut below, rect, camera, meshes, |layer, pass| {
                    frame.strength(list, layer, pass)
                });
            }
            Part::Figures(figures) => below.push(figure(figures)),
        }
    }
    [below, frame.figures_above().map(figure).collect()]
}

/// Adds the batches of all meshes, ordered by layer and pass. With another order, the kerb of one
/// tile would be drawn over a road of the next. Each has an opacity, and batches with opacity 0 are
/// left out.
fn add_batches(
    shapes: &mut Vec<Shape>,
    rect: Rect,
    camera: &Camera,
    meshes: &[Arc<Mesh>],
    strength: impl Fn(i8, u8) -> f32,
) {
    let keys: BTreeSet<(i8, u8)> = meshes
        .iter()
        .flat_map(|mesh| mesh.batches.iter().map(|batch| batch.key))
        .filter(|key| strength(key.0, key.1) > 0.0)
        .collect();
    for key in keys {
        let strength = strength(key.0, key.1);
        for mesh in meshes {
            let batches = mesh.batches.iter().filter(|batch| batch.key == key);
            shapes.extend(batches.map(|batch| shape(rect, camera, mesh, batch, strength)));
        }
    }
}

fn shape(rect: Rect, camera: &Camera, mesh: &Mesh, batch: &Batch, strength: f32) -> Shape {
    let origin = camera.screen(rect, mesh.origin);
    let scale = (1.0 / camera.scale) as f32;
    let range = batch.indices.start as usize..batch.indices.end as usize;
    let used = &mesh.indices[range];
    // Only the vertices of this batch are copied, because a mesh contains the vertices of all
    // passes.
    let (first, last) = used
        .iter()
        .fold((u32::MAX, 0), |(low, high), &i| (low.min(i), high.max(i)));
    let mut out = egui::Mesh::default();
    if used.is_empty() {
        return Shape::Noop;
    }
    out.vertices = mesh.vertices[first as usize..=last as usize]
        .iter()
        .map(|v| {
            let f = |i: usize| f32::from_bits(v[i]);
            let [r, g, b, a] = v[4].to_ne_bytes();
            let color = Color32::from_rgba_premultiplied(r, g, b, a);
            Vertex {
                // On the screen, y points down.
                pos: origin + Vec2::new(f(0) * scale + f(2), -(f(1) * scale + f(3))),
                uv: egui::epaint::WHITE_UV,
                color: faded(color, strength),
            }
        })
        .collect();
    out.indices = used.iter().map(|i| i - first).collect();
    Shape::mesh(out)
}

/// Returns a premultiplied colour with reduced opacity.
fn faded(color: Color32, strength: f32) -> Color32 {
    // Most colours are not faded and must not be changed by rounding.
    if strength < 1.0 {
        let [r, g, b, a] = color.to_array();
        let byte = |c: u8| (f32::from(c) * strength).round() as u8;
        Color32::from_rgba_premultiplied(byte(r), byte(g), byte(b), byte(a))
    } else {
        color
    }
}

fn instances(rect: Rect, camera: &Camera, figures: &Figures<'_>, unit: &UnitShape) -> Shape {
    let all = figures.all;
    let origin = camera.screen(rect, all.origin);
    let scale = (1.0 / camera.scale) as f32;
    let mut out = egui::Mesh::default();
    for one in &all.list[..figures.count] {
        let (place, front, half_width, color) = parts(one);
        let length = Vec2::from(front).length();
        // The vector to the front gives the direction and half the length. Rotated to the left and scaled, it
        // gives half the width.
        let left = [
            -front[1] / length.max(1e-9) * half_width,
            front[0] / length.max(1e-9) * half_width,
        ];
        let first = out.vertices.len() as u32;
        out.vertices.extend(unit.corners.iter().map(|corner| {
            let (x, y) = (f32::from_bits(corner[0]), f32::from_bits(corner[1]));
            let shift = |i: usize| half_width * f32::from_bits(corner[2 + i]);
            let at = |i: usize| place[i] + x * front[i] + y * left[i] + shift(i);
            let own = corner[4].to_ne_bytes();
            let [r, g, b, a] = if own[3] == 0 { color } else { own };
            let pos: Pos2 = pos2(origin.x + at(0) * scale, origin.y - at(1) * scale);
            Vertex {
                pos,
                uv: egui::epaint::WHITE_UV,
                color: Color32::from_rgba_premultiplied(r, g, b, a),
            }
        }));
        out.indices.extend(unit.indices.iter().map(|i| first + i));
    }
    Shape::mesh(out)
}
