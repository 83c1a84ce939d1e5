//! Forests on the map: trees grouped in pieces, and a plain colour that replaces them at small scales.

use super::instances::{Instance, Instances, instance};
use super::mesh::{Ink, Level, Mesh, MeshBuilder};
use roadwright_geometry::{DVec2, polygon, unit};
use roadwright_render::canopy::{self, Sizes};
use roadwright_render::palette::rgb;
use roadwright_render::{Painter, land};
use roadwright_scenario::Forest;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Average number of trees in a piece of a forest. Pieces out of view are not drawn.
const PIECE: usize = 250;

/// A forest as triangles and instances.
#[derive(Debug, Clone, Default)]
pub struct Grove {
    /// Mean radius of the crowns, or less if they overlap, m. It determines when trees are drawn
    /// individually.
    grain: f64,
    /// Area of the forest in the average colour of its trees.
    canopy: Arc<Mesh>,
    /// Opacity of the canopy, 0 to 1.
    cover: f32,
    /// Trees of the forest. Each piece lists them in the order in which they appear while zooming in.
    pieces: Vec<Arc<Instances>>,
    /// Bounding box, m.
    low: DVec2,
    high: DVec2,
}

/// The parts of all forests that are drawn in a frame.
#[derive(Debug, Clone, Default)]
pub struct Shown {
    /// Pieces of forests, each with the number of trees to draw from the start of its list.
    pub trees: Vec<(Arc<Instances>, usize)>,
    /// Areas of forests whose trees are not all drawn, with an opacity from 0 to 1.
    pub canopies: Vec<(Arc<Mesh>, f32)>,
}

/// The part of the world shown in a frame.
#[derive(Debug, Clone, Copy)]
pub struct View {
    /// South-west corner of the view, m.
    pub low: DVec2,
    /// North-east corner of the view, m.
    pub high: DVec2,
    /// Points per metre.
    pub scale: f64,
    /// Sizes at which trees are drawn, in points.
    pub sizes: Sizes,
    /// Number of trees of all forests in the view.
    pub trees: usize,
}

impl Grove {
    /// Creates the trees of a forest, and the canopy that replaces them at small scales. O(area).
    pub fn new(forest: &Forest, ink: Ink) -> Self {
        let crown = land::crown(forest);
        let color = canopy::color(forest, ink == Ink::Dark);
        let (low, high) = polygon::bounds(&forest.area).unwrap_or_default();
        // The colour has already been converted by this ink.
        let mut builder = MeshBuilder::new(0.5 * (low + high), Level::Near, Ink::Light);
        builder.polygon(&forest.area, color);
        // Crowns extend beyond the edge of the forest.
        let reach = DVec2::splat(2.0 * crown);
        Self {
            grain: land::grain(forest),
            canopy: Arc::new(builder.finish()),
            cover: color.alpha(),
            pieces: pieces(forest, ink),
            low: low - reach,
            high: high + reach,
        }
    }

    /// Counts the trees in the pieces that a box touches.
    pub fn trees_within(&self, low: DVec2, high: DVec2) -> usize {
        let is_apart = |own_low: DVec2, own_high: DVec2| {
            own_low.cmpgt(high).any() || own_high.cmplt(low).any()
        };
        if is_apart(self.low, self.high) {
            return 0;
        }
        let pieces = self.pieces.iter();
        let within = pieces.filter(|piece| !is_apart(piece.low, piece.high));
        within.map(|piece| piece.list.len()).sum()
    }

    /// Adds the parts visible in a view.
    pub fn show(&self, view: &View, shown: &mut Shown) {
        let is_apart =
            |low: DVec2, high: DVec2| low.cmpgt(view.high).any() || high.cmplt(view.low).any();
        if is_apart(self.low, self.high) {
            return;
        }
        let share = canopy::share_of_trees(self.grain * view.scale, view.trees, view.sizes);
        if share < 1.0 {
            let whole = color_with(self.cover);
            let fill = canopy::between_trees(whole, share).alpha();
            // While no tree is drawn, the canopy has exactly its own opacity, which rounding must not change.
            let strength = match share > 0.0 {
                true => fill / self.cover.max(1e-6),
                false => 1.0,
            };
            shown.canopies.push((self.canopy.clone(), strength));
        }
        if share > 0.0 {
            let in_view = |piece: &&Arc<Instances>| !is_apart(piece.low, piece.high);
            let pieces = self.pieces.iter().filter(in_view);
            let count = |piece: &Arc<Instances>| (share * piece.list.len() as f64).round() as usize;
            let drawn = pieces.map(|piece| (piece.clone(), count(piece)));
            shown.trees.extend(drawn.filter(|(_, count)| *count > 0));
        }
    }
}

/// Returns an arbitrary colour with this opacity.
fn color_with(opacity: f32) -> roadwright_render::Color {
    let mut color = roadwright_render::Color::BLACK;
    color.set_alpha(opacity.clamp(0.0, 1.0));
    color
}

/// Groups the trees of a forest by squares of its bounding box.
fn pieces(forest: &Forest, ink: Ink) -> Vec<Arc<Instances>> {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let (low, high) = polygon::bounds(&forest.area).unwrap_or_default();
    let trees: Vec<land::Tree> = land::planted(forest).collect();
    let wanted = (trees.len() / PIECE).max(1) as f64;
    let width = ((high - low).element_product() / wanted).sqrt().max(1.0);
    // A long, thin forest gets one row of squares, and there are never more squares than trees.
    let count = ((high - low) / width)
        .ceil()
        .clamp(DVec2::ONE, DVec2::splat(2.0 * wanted));
    let (columns, rows) = (count.x as usize, count.y as usize);
    let mut squares: Vec<Vec<land::Tree>> = vec![Vec::new(); columns * rows];
    for tree in trees {
        let square =
            ((tree.at - low) / (high - low).max(DVec2::splat(1e-9)) * count).max(DVec2::ZERO);
        let (x, y) = (square.x as usize, square.y as usize);
        squares[y.min(rows - 1) * columns + x.min(columns - 1)].push(tree);
    }
    let filled = squares.into_iter().filter(|trees| !trees.is_empty());
    filled
        .map(|mut trees| {
            trees.sort_by(|a, b| a.order.total_cmp(&b.order));
            let places = trees.iter().map(|tree| tree.at);
            let (low, high) = places
                .fold((DVec2::INFINITY, DVec2::NEG_INFINITY), |(low, high), at| {
                    (low.min(at), high.max(at))
                });
            let origin = 0.5 * (low + high);
            let list = trees.iter().map(|tree| of_tree(tree, origin, ink));
            let reach = 2.0 * land::crown(forest);
            Arc::new(Instances {
                id: NEXT.fetch_add(1, Ordering::Relaxed),
                origin,
                low: low - reach,
                high: high + reach,
                list: list.collect(),
            })
        })
        .collect()
}

fn of_tree(tree: &land::Tree, origin: DVec2, ink: Ink) -> Instance {
    let front = tree.crown * unit(tree.turn);
    instance(
        tree.at - origin,
        front,
        tree.crown,
        ink.bytes(rgb(tree.color)),
    )
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;

    fn forest(side: f64, density: f64, spacing: f64) -> Forest {
        let half = 0.5 * side;
        let corner = |x: f64, y: f64| DVec2::new(x, y) * half;
        Forest {
            area: vec![
                corner(-1.0, -1.0),
                corner(1.0, -1.0),
                corner(1.0, 1.0),
                corner(-1.0, 1.0),
            ]
            .into(),
            density: density.into(),
            spacing: spacing.into(),
            trunk_radius: 0.2.into(),
            seed: 3,
        }
    }

    /// Returns the parts of a grove that are drawn if its middle is in the middle of a window of
    /// 1,600 x 1,000 points.
    fn shown(grove: &Grove, scale: f64, sizes: Sizes) -> Shown {
        let half = DVec2::new(800.0, 500.0) / scale;
        let view = View {
            low: -half,
            high: half,
            scale,
            sizes,
            trees: grove.trees_within(-half, half),
        };
        let mut shown = Shown::default();
        grove.show(&view, &mut shown);
        shown
    }

    fn trees(shown: &Shown) -> usize {
        shown.trees.iter().map(|(_, count)| count).sum()
    }

    #[test]
    fn a_frame_draws_few_trees_at_any_zoom() {
        for (side, density, spacing) in [
            (10_000.0, 400.0, 3.0),
            (1_000.0, 10_000.0, 1.0),
            (100.0, 100_000.0, 0.1),
        ] {
            let grove = Grove::new(&forest(side, density, spacing), Ink::Light);
            let all: usize = grove.pieces.iter().map(|piece| piece.list.len()).sum();
            assert!(all > 50_000, "{all} trees");
            for (sizes, most) in [
                (canopy::SMALLEST, 60_000),
                (canopy::SMALLEST_IN_SOFTWARE, 10_000),
            ] {
                let mut seen = 0;
                for step in 0..160 {
                    let scale = 0.01 * 1.08f64.powi(step);
                    let shown = shown(&grove, scale, sizes);
                    let count = trees(&shown);
                    assert!(count < most, "{side} m at {scale}: {count}");
                    assert!(count > 0 || !shown.canopies.is_empty(), "a hole at {scale}");
                    seen += usize::from(count > 0);
                }
                assert!(seen > 10, "no trees at all");
            }
        }
    }

    #[test]
    fn trees_come_one_after_the_other_as_the_colour_goes() {
        let grove = Grove::new(&forest(400.0, 400.0, 3.0), Ink::Dark);
        let at = |size: f64| {
            let sizes = Sizes {
                few: 1,
                ..canopy::SMALLEST
            };
            let shown = shown(&grove, size / grove.grain, sizes);
            let strength = shown
                .canopies
                .first()
                .map_or(0.0, |(_, strength)| *strength);
            (trees(&shown), strength)
        };
        let all: usize = grove.pieces.iter().map(|piece| piece.list.len()).sum();
        assert_eq!(at(1.9), (0, 1.0));
        // All of them are within the view.
        let (half, between) = at(2.5);
        assert!(half.abs_diff(all / 2) < all / 50, "{half} of {all}");
        assert!(between > 0.2 && between < 0.9, "{between}");
        assert_eq!(at(3.0), (all, 0.0));
    }
}
