//! Triangles from shapes in world coordinates, with soft edges one pixel wide.

use roadwright_geometry::{DVec2, polygon, polyline};
use roadwright_render::{Color, Painter, Pass, palette};

/// Level of detail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Roads as lines.
    Far,
    /// Surfaces, and lanes of special types.
    Middle,
    /// Kerbs, and markings that fade in.
    Close,
    /// Markings, arrows and stop lines.
    Near,
}

impl Level {
    /// Returns the level for a scale in metres per point.
    pub fn at(scale: f64) -> Self {
        if scale < 0.5 {
            Self::Near
        } else if scale < 0.8 {
            Self::Close
        } else if scale < 2.5 {
            Self::Middle
        } else {
            Self::Far
        }
    }

    /// Returns the number of pixels per metre at the closest zoom of this level.
    fn nearest(self) -> f64 {
        match self {
            Self::Far => 0.4,
            Self::Middle => 1.25,
            Self::Close => 2.0,
            Self::Near => f64::INFINITY,
        }
    }

    /// Returns the resolution for triangulating shapes, in pixels per metre.
    pub fn pixels_per_metre(self) -> f64 {
        match self {
            Self::Far => 0.2,
            Self::Middle => 1.0,
            Self::Close => 1.6,
            Self::Near => 5.0,
        }
    }
}

/// Converts colours of the map to colours of the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Ink {
    /// Leaves colours unchanged.
    Light,
    /// Darkens everything except road markings, for the dark theme.
    Dark,
}

impl Ink {
    /// Returns the converted colour as premultiplied bytes: red, green, blue and alpha.
    pub fn bytes(self, color: Color) -> [u8; 4] {
        let color = match self {
            Self::Light => color,
            Self::Dark => palette::by_night(color),
        };
        let alpha = color.alpha();
        let byte = |c: f32| (c * alpha * 255.0).round() as u8;
        [
            byte(color.red()),
            byte(color.green()),
            byte(color.blue()),
            (alpha * 255.0).round() as u8,
        ]
    }
}

/// One corner as plain words for the GPU: position in metres from the mesh's origin, shift in pixels, and
/// colour (premultiplied, one byte each, red first).
pub type Vertex = [u32; 5];

/// Packs a vertex.
pub fn vertex(place: [f32; 2], shift: [f32; 2], color: [u8; 4]) -> Vertex {
    [
        place[0].to_bits(),
        place[1].to_bits(),
        shift[0].to_bits(),
        shift[1].to_bits(),
        u32::from_ne_bytes(color),
    ]
}

/// Triangles drawn together: one layer and one pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch {
    /// Road layer and drawing pass. Batches with lower keys are drawn first.
    pub key: (i8, u8),
    /// Range of the batch in [`Mesh::indices`].
    pub indices: std::ops::Range<u32>,
}

/// Triangles in world coordinates.
#[derive(Debug, Clone, Default)]
pub struct Mesh {
    /// Number that is unique among all meshes.
    pub id: u64,
    /// World point that vertices are relative to, m.
    pub origin: DVec2,
    /// Corners of the triangles.
    pub vertices: Vec<Vertex>,
    /// Indices of corners, three for each triangle.
    pub indices: Vec<u32>,
    /// Batches, in drawing order.
    pub batches: Vec<Batch>,
}

/// Builds a mesh.
pub struct MeshBuilder {
    origin: DVec2,
    level: Level,
    ink: Ink,
    layer: i8,
    pass: u8,
    vertices: Vec<Vertex>,
    /// Triangles of each batch.
    batches: std::collections::BTreeMap<(i8, u8), Vec<u32>>,
    earcut: earcut::Earcut<f64>,
    triangles: Vec<u32>,
}

/// Longest mitre at a joint of a line, in half widths.
const MITRE: f64 = 2.5;
/// Largest distance between a curve and its chords when individual vehicles are visible, m.
const NEAR_TOLERANCE: f64 = 0.008;
/// Half the width of the soft edge, in pixels.
const SOFT: f64 = 0.5;

impl MeshBuilder {
    /// Creates a builder for a level, around a world point.
    pub fn new(origin: DVec2, level: Level, ink: Ink) -> Self {
        Self {
            origin,
            level,
            ink,
            layer: 0,
            pass: 0,
            vertices: Vec::new(),
            batches: std::collections::BTreeMap::new(),
            earcut: earcut::Earcut::new(),
            triangles: Vec::new(),
        }
    }

    /// Sets the layer for everything that is added afterwards.
    pub fn set_layer(&mut self, layer: i8) {
        self.layer = layer;
    }

    /// Returns the finished mesh.
    pub fn finish(self) -> Mesh {
        use std::sync::atomic::{AtomicU64, Ordering};
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let mut indices = Vec::new();
        let mut batches = Vec::with_capacity(self.batches.len());
        for (key, list) in self.batches {
            let from = indices.len() as u32;
            indices.extend(list);
            batches.push(Batch {
                key,
                indices: from..indices.len() as u32,
            });
        }
        Mesh {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            origin: self.origin,
            vertices: self.vertices,
            indices,
            batches,
        }
    }

    fn put(&mut self, place: DVec2, shift: DVec2, color: [u8; 4]) -> u32 {
        // The GPU computes in single precision. Its resolution is 1 m at 10,000 km from the origin,
        // but 0.03 mm within 500 m of the middle of a tile.
        let local = place - self.origin;
        self.vertices.push(vertex(
            [local.x as f32, local.y as f32],
            [shift.x as f32, shift.y as f32],
            color,
        ));
        self.vertices.len() as u32 - 1
    }

    fn triangle(&mut self, a: u32, b: u32, c: u32) {
        let key = (self.layer, self.pass);
        self.batches.entry(key).or_default().extend([a, b, c]);
    }

    fn quad(&mut self, a: u32, b: u32, c: u32, d: u32) {
        self.triangle(a, b, c);
        self.triangle(a, c, d);
    }

    /// Triangulates a ring whose corners are already in the mesh.
    fn fill(&mut self, ring: &[DVec2], corners: &[u32]) {
        let mut triangles = std::mem::take(&mut self.triangles);
        let places = ring.iter().map(|p| (*p - self.origin).to_array());
        self.earcut.earcut(places, &[], &mut triangles);
        for corner in triangles.as_chunks::<3>().0 {
            let [a, b, c] = corner.map(|i| corners[i as usize]);
            self.triangle(a, b, c);
        }
        self.triangles = triangles;
    }

    /// Adds a band between two rings with equal numbers of corners.
    fn rim(&mut self, inner: &[u32], outer: &[u32]) {
        for i in 0..inner.len() {
            let j = (i + 1) % inner.len();
            self.quad(inner[i], outer[i], outer[j], inner[j]);
        }
    }

    /// Adds a band between two lines with equal numbers of points, widened by some pixels on both sides, with
    /// a colour in premultiplied bytes.
    pub fn band(&mut self, left: &[DVec2], right: &[DVec2], pixels: f64, color: [u8; 4]) {
        let mut before: Option<[u32; 4]> = None;
        for (&l, &r) in left.iter().zip(right) {
            let out = (l - r).normalize_or_zero();
            // The outer corners are transparent, as for lines.
            let (inner, outer) = ((pixels - SOFT) * out, (pixels + SOFT) * out);
            let row = [
                self.put(l, outer, [0; 4]),
                self.put(l, inner, color),
                self.put(r, -inner, color),
                self.put(r, -outer, [0; 4]),
            ];
            if let Some(last) = before {
                for i in 0..3 {
                    self.quad(last[i], last[i + 1], row[i + 1], row[i]);
                }
            }
            before = Some(row);
        }
    }

    /// Adds a line whose width in pixels is the same at any scale.
    pub fn pixel_line(&mut self, points: &[DVec2], pixels: f64, color: Color) {
        self.stroke(points, 0.0, 0.5 * pixels, color);
    }

    /// Adds a band around a polyline with soft edges. Half its width is given in metres, plus some pixels.
    fn stroke(&mut self, points: &[DVec2], half: f64, pixels: f64, color: Color) {
        let mut distinct: Vec<DVec2> = Vec::with_capacity(points.len());
        for &p in points {
            if distinct
                .last()
                // Points closer than 0.1 mm give no direction.
                .is_none_or(|last| (*last - p).length_squared() > 1e-8)
            {
                distinct.push(p);
            }
        }
        if distinct.len() < 2 {
            return;
        }
        let color = self.ink.bytes(color);
        let normals = polyline::mitres(&distinct, MITRE);
        let mut before: Option<[u32; 4]> = None;
        for (&p, &n) in distinct.iter().zip(&normals) {
            let inner = (pixels - SOFT).max(0.0);
            let outer = pixels + SOFT;
            // A row of four corners across the line. The outer two are transparent, which makes the
            // edges soft:
            //
            //   0 . . . 1 ========= + ========= 2 . . . 3
            //     soft         solid, with p in the middle
            let row = [
                self.put(p + half * n, outer * n, [0; 4]),
                self.put(p + half * n, inner * n, color),
                self.put(p - half * n, -inner * n, color),
                self.put(p - half * n, -outer * n, [0; 4]),
            ];
            if let Some(last) = before {
                for i in 0..3 {
                    self.quad(last[i], last[i + 1], row[i + 1], row[i]);
                }
            }
            before = Some(row);
        }
    }

    fn dashes(
        &mut self,
        points: &[DVec2],
        half: f64,
        pixels: f64,
        [on, off]: [f64; 2],
        color: Color,
    ) {
        let mut piece: Vec<DVec2> = Vec::new();
        // The rest of a dash continues past a corner.
        let (mut drawing, mut left) = (true, on);
        for pair in points.windows(2) {
            let (mut a, b) = (pair[0], pair[1]);
            loop {
                if drawing && piece.is_empty() {
                    piece.push(a);
                }
                let step = (b - a).length();
                if step < left {
                    left -= step;
                    if drawing {
                        piece.push(b);
                    }
                    break;
                }
                a += (b - a) * (left / step.max(1e-12));
                if drawing {
                    piece.push(a);
                    self.stroke(&piece, half, pixels, color);
                    piece.clear();
                }
                drawing = !drawing;
                left = if drawing { on } else { off };
            }
        }
        self.stroke(&piece, half, pixels, color);
    }
}

impl Painter for MeshBuilder {
    fn scale(&self) -> f64 {
        self.level.pixels_per_metre()
    }

    fn nearest_scale(&self) -> f64 {
        self.level.nearest()
    }

    fn tolerance(&self) -> f64 {
        // At closer zooms than the nominal scale of this level.
        match self.level {
            Level::Near => NEAR_TOLERANCE,
            _ => 0.15 / self.scale(),
        }
    }

    fn begin(&mut self, pass: Pass) {
        self.pass = pass as u8;
    }

    fn polygon(&mut self, points: &[DVec2], color: Color) {
        let ring = polygon::tidy_ring(points);
        if ring.len() < 3 {
            return;
        }
        let color = self.ink.bytes(color);
        let normals = polygon::outward_mitres(&ring, MITRE);
        let inner: Vec<u32> = ring
            .iter()
            .zip(&normals)
            .map(|(&p, &n)| self.put(p, -SOFT * n, color))
            .collect();
        self.fill(&ring, &inner);
        let outer: Vec<u32> = ring
            .iter()
            .zip(&normals)
            .map(|(&p, &n)| self.put(p, SOFT * n, [0; 4]))
            .collect();
        self.rim(&inner, &outer);
    }

    fn area(&mut self, rings: &[&[DVec2]], color: Color) {
        let rings: Vec<Vec<DVec2>> = rings.iter().map(|ring| polygon::tidy_ring(ring)).collect();
        if rings.first().is_none_or(|outline| outline.len() < 3) {
            return;
        }
        let color = self.ink.bytes(color);
        let (mut places, mut corners, mut starts) = (Vec::new(), Vec::new(), Vec::new());
        for (number, ring) in rings.iter().enumerate().filter(|(_, ring)| ring.len() > 2) {
            if number > 0 {
                starts.push(places.len() as u32);
            }
            // The outer side of a hole's outline faces into the area.
            let side = if number > 0 { -SOFT } else { SOFT };
            let normals = polygon::outward_mitres(ring, MITRE);
            let edge = |builder: &mut Self, shift: f64, color| -> Vec<u32> {
                let both = ring.iter().zip(&normals);
                both.map(|(&p, &n)| builder.put(p, shift * n, color))
                    .collect()
            };
            let inner = edge(self, -side, color);
            let outer = edge(self, side, [0; 4]);
            self.rim(&inner, &outer);
            places.extend(ring.iter().map(|p| (*p - self.origin).to_array()));
            corners.extend(inner);
        }
        let mut triangles = std::mem::take(&mut self.triangles);
        self.earcut.earcut(places, &starts, &mut triangles);
        for corner in triangles.as_chunks::<3>().0 {
            let [a, b, c] = corner.map(|i| corners[i as usize]);
            self.triangle(a, b, c);
        }
        self.triangles = triangles;
    }

    fn soft_polygon(&mut self, points: &[DVec2], fade: f64, color: Color) {
        let ring = polygon::tidy_ring(points);
        if ring.len() < 3 {
            return;
        }
        let color = self.ink.bytes(color);
        let inner: Vec<u32> = ring
            .iter()
            .map(|&p| self.put(p, DVec2::ZERO, color))
            .collect();
        self.fill(&ring, &inner);
        let normals = polygon::outward_mitres(&ring, MITRE);
        let outer: Vec<u32> = ring
            .iter()
            .zip(&normals)
            .map(|(&p, &n)| self.put(p + fade * n, DVec2::ZERO, [0; 4]))
            .collect();
        self.rim(&inner, &outer);
    }

    fn edge(&mut self, points: &[DVec2], width: f64, least: f32, color: Color) {
        let mut closed = points.to_vec();
        closed.extend(points.first().copied());
        // Adds one segment more than needed to close the line, so that the last joint has a mitre
        // like the others.
        closed.extend(points.get(1).copied());
        self.line(&closed, width, least, color);
    }

    fn dashed_line(
        &mut self,
        points: &[DVec2],
        width: f64,
        least: f32,
        dash: Option<(f64, f64)>,
        color: Color,
    ) {
        // If the line is narrower than the minimum, pixels are added at the scale of this level.
        let missing = (f64::from(least) - width * self.scale()).max(0.0);
        let (half, pixels) = (0.5 * width, 0.5 * missing);
        match dash {
            None => self.stroke(points, half, pixels, color),
            Some((on, off)) => self.dashes(points, half, pixels, [on, off], color),
        }
    }

    fn circle(&mut self, centre: DVec2, radius: f64, least: f32, color: Color) {
        let radius = radius.max(f64::from(least) / self.scale());
        // With twenty corners, the chords of a circle of 1 m radius are off by 12 mm.
        let corner = |i: usize| {
            let angle = std::f64::consts::TAU * i as f64 / 20.0;
            centre + radius * roadwright_geometry::unit(angle)
        };
        let ring: Vec<DVec2> = (0..20).map(corner).collect();
        self.polygon(&ring, color);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use roadwright_render::palette::rgb;

    #[test]
    fn a_square_is_two_triangles_with_a_soft_edge() {
        let mut builder = MeshBuilder::new(DVec2::new(1e6, 0.0), Level::Near, Ink::Light);
        let square = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)];
        let square = square.map(|(x, y)| DVec2::new(1e6 + x, y));
        builder.polygon(&square, rgb(0x112233));
        let mesh = builder.finish();
        assert_eq!(mesh.vertices.len(), 8);
        assert_eq!(mesh.indices.len(), 3 * (2 + 8));
        assert!(
            mesh.vertices
                .iter()
                .all(|v| f32::from_bits(v[0]).abs() <= 1.0)
        );
    }

    #[test]
    fn a_hole_in_an_area_is_not_filled() {
        let mut builder = MeshBuilder::new(DVec2::ZERO, Level::Near, Ink::Light);
        let ring = |half: f64| {
            let corners = [(-half, -half), (half, -half), (half, half), (-half, half)];
            corners.map(DVec2::from)
        };
        builder.area(&[&ring(10.0), &ring(4.0)], rgb(0x112233));
        let mesh = builder.finish();
        let place = |i: u32| {
            let vertex = mesh.vertices[i as usize];
            DVec2::new(
                f64::from(f32::from_bits(vertex[0])),
                f64::from(f32::from_bits(vertex[1])),
            )
        };
        let areas = mesh.indices.as_chunks::<3>().0.iter().map(|corner| {
            let [a, b, c] = corner.map(place);
            0.5 * (b - a).perp_dot(c - a).abs()
        });
        assert!((areas.sum::<f64>() - (400.0 - 64.0)).abs() < 1e-6);
    }

    #[test]
    fn passes_are_batches_in_order() {
        let mut builder = MeshBuilder::new(DVec2::ZERO, Level::Near, Ink::Light);
        let line = [DVec2::ZERO, DVec2::X];
        builder.set_layer(1);
        builder.begin(Pass::Kerb);
        builder.line(&line, 1.0, 1.0, rgb(0));
        builder.set_layer(0);
        builder.begin(Pass::Marking);
        builder.line(&line, 1.0, 1.0, rgb(0));
        builder.begin(Pass::Kerb);
        builder.line(&line, 1.0, 1.0, rgb(0));
        let keys: Vec<(i8, u8)> = builder.finish().batches.iter().map(|b| b.key).collect();
        assert_eq!(
            keys,
            [
                (0, Pass::Kerb as u8),
                (0, Pass::Marking as u8),
                (1, Pass::Kerb as u8)
            ]
        );
    }

    #[test]
    fn dashes_cover_their_share() {
        let mut builder = MeshBuilder::new(DVec2::ZERO, Level::Near, Ink::Light);
        let line: Vec<DVec2> = (0..=100).map(|i| DVec2::new(f64::from(i), 0.0)).collect();
        builder.dashed_line(&line, 0.2, 0.0, Some((2.0, 4.0)), rgb(0));
        // 17 dashes start within 100 m; each is one to three quads long.
        let rows = builder.finish().vertices.len() / 4;
        assert!((2 * 16..=4 * 17).contains(&rows), "{rows}");
    }
}
