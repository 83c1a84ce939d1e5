//! Draws egui's triangles on the CPU, so that no graphics driver is needed and pictures are the same
//! everywhere.

use egui::epaint::{ClippedPrimitive, Primitive, Vertex};
use egui::{Color32, ColorImage, FullOutput, ImageData, Rect, TextureId, TexturesDelta};
use egui_kittest::TestRenderer;
use image::{Rgba, RgbaImage};
use std::collections::HashMap;

#[derive(Default)]
pub(crate) struct Rasterizer {
    textures: HashMap<TextureId, ColorImage>,
}

impl Rasterizer {
    fn sample(texture: &ColorImage, u: f32, v: f32) -> [f32; 4] {
        let [width, height] = texture.size;
        let (x, y) = (u * width as f32 - 0.5, v * height as f32 - 0.5);
        let (x0, y0) = (x.floor(), y.floor());
        let (fx, fy) = (x - x0, y - y0);
        let texel = |x: f32, y: f32| {
            let x = (x.max(0.0) as usize).min(width - 1);
            let y = (y.max(0.0) as usize).min(height - 1);
            texture.pixels[y * width + x].to_array().map(f32::from)
        };
        let (a, b) = (texel(x0, y0), texel(x0 + 1.0, y0));
        let (c, d) = (texel(x0, y0 + 1.0), texel(x0 + 1.0, y0 + 1.0));
        std::array::from_fn(|i| {
            let top = a[i] + (b[i] - a[i]) * fx;
            let bottom = c[i] + (d[i] - c[i]) * fx;
            top + (bottom - top) * fy
        })
    }

    fn triangle(
        image: &mut RgbaImage,
        texture: &ColorImage,
        clip: Rect,
        t: [&Vertex; 3],
        scale: f32,
    ) {
        let p = t.map(|v| v.pos * scale);
        let area = (p[1] - p[0]).x * (p[2] - p[0]).y - (p[1] - p[0]).y * (p[2] - p[0]).x;
        if area == 0.0 || !area.is_finite() {
            return;
        }
        let low = p[0].min(p[1]).min(p[2]).max(clip.min * scale);
        let high = p[0].max(p[1]).max(p[2]).min(clip.max * scale);
        let (width, height) = (image.width() as f32, image.height() as f32);
        let columns = low.x.floor().max(0.0) as u32..high.x.ceil().clamp(0.0, width) as u32;
        let rows = low.y.floor().max(0.0) as u32..high.y.ceil().clamp(0.0, height) as u32;
        let inside = Rect::from_min_max(clip.min * scale, clip.max * scale);
        for y in rows {
            for x in columns.clone() {
                let at = egui::pos2(x as f32 + 0.5, y as f32 + 0.5);
                if !inside.contains(at) {
                    continue;
                }
                let edge = |a: egui::Pos2, b: egui::Pos2| {
                    ((b - a).x * (at - a).y - (b - a).y * (at - a).x) / area
                };
                let weights = [edge(p[1], p[2]), edge(p[2], p[0]), edge(p[0], p[1])];
                if weights.iter().any(|w| *w < 0.0) {
                    continue;
                }
                let mix = |of: &dyn Fn(&Vertex) -> f32| -> f32 {
                    (0..3).map(|i| weights[i] * of(t[i])).sum()
                };
                let texel = Self::sample(texture, mix(&|v| v.uv.x), mix(&|v| v.uv.y));
                let source: [f32; 4] = std::array::from_fn(|i| {
                    mix(&|v| f32::from(v.color.to_array()[i])) * texel[i] / 255.0
                });
                let pixel = image.get_pixel_mut(x, y);
                let keep = 1.0 - source[3] / 255.0;
                *pixel = Rgba(std::array::from_fn(|i| {
                    (source[i] + f32::from(pixel.0[i]) * keep)
                        .round()
                        .clamp(0.0, 255.0) as u8
                }));
            }
        }
    }

    fn primitive(&self, image: &mut RgbaImage, primitive: &ClippedPrimitive, scale: f32) {
        let Primitive::Mesh(mesh) = &primitive.primitive else {
            return;
        };
        let Some(texture) = self.textures.get(&mesh.texture_id) else {
            return;
        };
        for corner in mesh.indices.as_chunks::<3>().0 {
            let t = corner.map(|i| &mesh.vertices[i as usize]);
            Self::triangle(image, texture, primitive.clip_rect, t, scale);
        }
    }
}

impl TestRenderer for Rasterizer {
    fn handle_delta(&mut self, delta: &mut TexturesDelta) {
        let changes = std::mem::take(&mut delta.set).into_iter();
        for (id, change) in changes.flat_map(|(id, list)| list.into_iter().map(move |c| (id, c))) {
            let ImageData::Color(new) = &change.image;
            match change.pos {
                None => {
                    self.textures.insert(id, new.as_ref().clone());
                }
                Some([left, top]) => {
                    let Some(texture) = self.textures.get_mut(&id) else {
                        continue;
                    };
                    let width = texture.size[0];
                    for (row, line) in new.pixels.chunks(new.size[0]).enumerate() {
                        let start = (top + row) * width + left;
                        texture.pixels[start..start + line.len()].copy_from_slice(line);
                    }
                }
            }
        }
        let gone = std::mem::take(&mut delta.free);
        self.textures.retain(|id, _| !gone.contains(id));
    }

    fn render(
        &mut self,
        context: &egui::Context,
        output: &FullOutput,
    ) -> Result<RgbaImage, String> {
        let scale = output.pixels_per_point;
        let size = context.content_rect().size() * scale;
        let background = Color32::from_gray(40).to_array();
        let mut image = RgbaImage::from_pixel(
            size.x.round() as u32,
            size.y.round() as u32,
            Rgba(background),
        );
        for primitive in context.tessellate(output.shapes.clone(), scale) {
            self.primitive(&mut image, &primitive, scale);
        }
        Ok(image)
    }
}
