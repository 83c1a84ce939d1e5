//! Forests at small scales, drawn in a single colour instead of individual trees.
//!
//! A forest of 100 km² has a million trees. Where their crowns are smaller than a few pixels, the
//! area is filled with the mean colour and cover of the trees, so that zooming changes neither. At
//! intermediate scales, the trees appear one after another, and the fill replaces the missing ones.

use crate::canvas::Canvas;
use crate::land::{TREE, Tree, crown};
use crate::palette::rgb;
use glam::DVec2;
use roadwright_geometry::math::mix64;
use roadwright_geometry::polygon;
use roadwright_scenario::Forest;
use std::collections::BTreeMap;
use std::sync::{LazyLock, Mutex, PoisonError};
use tiny_skia::Color;

/// Sizes of a forest's [grain](crate::land::grain), in pixels, between which its trees appear gradually.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sizes {
    /// Size at or below which no trees are drawn.
    pub none: f64,
    /// Size at or above which all trees are drawn.
    pub all: f64,
    /// Number of trees in view up to which all of them are drawn at any size.
    pub few: usize,
}

/// Sizes for a renderer that can draw tens of thousands of trees per frame.
pub const SMALLEST: Sizes = Sizes {
    none: 2.0,
    all: 3.0,
    few: 20_000,
};
/// Sizes for a renderer that can draw only a few thousand trees per frame.
pub const SMALLEST_IN_SOFTWARE: Sizes = Sizes {
    none: 6.0,
    all: 8.0,
    few: 3_000,
};

/// Edge length of a sampled part of a forest, in cells with at most one tree each. The number of
/// trees varies by about 1 % between samples of this size.
const CELLS: usize = 96;
/// Number of sampled points along each side of the sample.
const PLACES: usize = 160;
/// Half the edge length of a tree's picture, pixels.
const HALF_PICTURE: u32 = 48;
/// Half the edge length of a tree's picture, in crown radii. The shadow extends to 1.42 crown radii.
const REACH: f64 = 1.5;

/// Returns the share of a forest's trees that are drawn, 0 to 1. It falls gradually as the grain
/// becomes smaller in pixels, and as the number of trees of all forests in view grows.
pub fn share_of_trees(grain: f64, in_view: usize, sizes: Sizes) -> f64 {
    let by_size = (grain - sizes.none) / (sizes.all - sizes.none);
    let by_number = 2.0 - in_view as f64 / sizes.few as f64;
    by_size.max(by_number).clamp(0.0, 1.0)
}

/// Returns the expected number of a forest's trees in a view, from its density and the overlap of
/// its bounding box with the view.
pub fn expected_trees(forest: &Forest, low: DVec2, high: DVec2) -> usize {
    let Some((least, most)) = polygon::bounds(&forest.area) else {
        return 0;
    };
    let seen = (most.min(high) - least.max(low)).max(DVec2::ZERO);
    let whole = (most - least).element_product().max(1e-9);
    let share = seen.element_product() / whole;
    let density = (forest.density / 1e4).min(forest.cell().powi(-2));
    (share * density * polygon::signed_area(&forest.area).abs()) as usize
}

/// Returns the fill colour between the drawn trees. Its alpha is chosen so that the fill and the drawn share
/// of the trees, `shown`, cover as much as [`color`] does without trees.
pub fn between_trees(mut color: Color, shown: f64) -> Color {
    // Solves (1 - fill) (1 - shown cover) = 1 - cover for the fill.
    let cover = color.alpha();
    let left = 1.0 - shown as f32 * cover;
    let fill = 1.0 - (1.0 - cover) / left.max(1e-6);
    color.set_alpha(fill.clamp(0.0, 1.0));
    color
}

/// Maximum number of cached colours of forests. When it is exceeded, the cache is cleared.
const MOST_KEPT: usize = 1024;

/// The properties of a forest that affect its colour, and the theme.
type Key = ([u64; 4], bool);

/// Returns the mean colour of the trees of a forest, by day or by night. Its alpha is the cover of
/// the trees. Takes about 10 ms the first time, and is cached for forests with the same density,
/// spacing and seed.
pub fn color(forest: &Forest, dark: bool) -> Color {
    static KEPT: Mutex<BTreeMap<Key, Color>> = Mutex::new(BTreeMap::new());
    let numbers = [forest.density.get(), forest.spacing.get(), forest.cell()].map(f64::to_bits);
    let key = ([numbers[0], numbers[1], numbers[2], forest.seed], dark);
    let kept = || KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(color) = kept().get(&key) {
        return *color;
    }
    let color = sampled(forest, dark);
    let mut kept = kept();
    if kept.len() >= MOST_KEPT {
        kept.clear();
    }
    kept.insert(key, color);
    color
}

fn sampled(forest: &Forest, dark: bool) -> Color {
    let (side, trunks) = forest.sample(CELLS);
    let mean_crown = crown(forest);
    let trees: Vec<Tree> = trunks
        .into_iter()
        .map(|at| Tree::new(at, mean_crown))
        .collect();
    let grid = Grid::new(&trees, side, 2.0 * mean_crown);
    let step = side / PLACES as f64;
    let mut sum = [0.0f64; 4];
    for place in 0..PLACES * PLACES {
        let cell = DVec2::new((place % PLACES) as f64, (place / PLACES) as f64);
        // Jittered within each square, because trees are also placed in cells. Without jitter, the two grids
        // would interfere.
        let at = (cell + jitter(place)) * step;
        let seen = grid.near(at).fold([0.0f32; 4], |below, tree| {
            let own = PICTURES.of(tree, at, dark);
            over(own, below)
        });
        for (sum, one) in sum.iter_mut().zip(seen) {
            *sum += f64::from(one);
        }
    }
    let [red, green, blue, alpha] = sum.map(|sum| (sum / (PLACES * PLACES) as f64) as f32);
    let straight = |color: f32| (color / alpha.max(1e-6)).clamp(0.0, 1.0);
    Color::from_rgba(
        straight(red),
        straight(green),
        straight(blue),
        alpha.clamp(0.0, 1.0),
    )
    .unwrap_or(Color::TRANSPARENT)
}

/// Returns a pseudo-random point in the unit square, which depends only on `place`.
fn jitter(place: usize) -> DVec2 {
    let number = mix64(place as u64);
    let unit = |bits: u64| (bits & 0xFFFF) as f64 / 65_536.0;
    DVec2::new(unit(number), unit(number >> 16))
}

/// Draws a colour over another one. Both are premultiplied.
fn over(above: [f32; 4], below: [f32; 4]) -> [f32; 4] {
    let left = 1.0 - above[3];
    std::array::from_fn(|i| above[i] + left * below[i])
}

/// Trees grouped by square, in drawing order.
struct Grid<'a> {
    trees: &'a [Tree],
    squares: Vec<Vec<u32>>,
    across: usize,
    width: f64,
}

impl<'a> Grid<'a> {
    fn new(trees: &'a [Tree], side: f64, width: f64) -> Self {
        // In a sparse forest the squares are larger, so that there are no more squares than cells
        // in the sample.
        let width = width.max(side / CELLS as f64);
        let across = (side / width) as usize + 1;
        let mut squares = vec![Vec::new(); across * across];
        let index = |coordinate: f64| ((coordinate / width) as usize).min(across - 1);
        for (number, tree) in (0u32..).zip(trees) {
            squares[index(tree.at.y) * across + index(tree.at.x)].push(number);
        }
        Self {
            trees,
            squares,
            across,
            width,
        }
    }

    /// Returns the trees in the nine squares around a point, in order.
    fn near(&self, at: DVec2) -> impl Iterator<Item = &Tree> {
        let (x, y) = ((at.x / self.width) as usize, (at.y / self.width) as usize);
        let around = |middle: usize| middle.saturating_sub(1)..(middle + 2).min(self.across);
        let mut numbers: Vec<u32> = around(y)
            .flat_map(|row| around(x).map(move |column| row * self.across + column))
            .flat_map(|square| &self.squares[square])
            .copied()
            .collect();
        numbers.sort_unstable();
        numbers
            .into_iter()
            .map(|number| &self.trees[number as usize])
    }
}

/// Pictures of a tree by day and by night, for each colour of the crown.
static PICTURES: LazyLock<Pictures> = LazyLock::new(Pictures::new);

struct Pictures {
    /// Pictures, each with its theme (night or day) and the colour of its crown.
    all: Vec<(bool, u32, Vec<[f32; 4]>)>,
}

impl Pictures {
    fn new() -> Self {
        let tones = crate::palette::CROWNS;
        let both = [false, true].into_iter();
        let all = both.flat_map(|dark| tones.map(|tone| (dark, tone, picture(tone, dark))));
        Self { all: all.collect() }
    }

    /// Returns the colour of a tree's picture at a point, m; transparent outside the picture.
    fn of(&self, tree: &Tree, at: DVec2, dark: bool) -> [f32; 4] {
        let offset = (at - tree.at) / (tree.crown * REACH);
        let half = f64::from(HALF_PICTURE);
        let pixel = (DVec2::new(offset.x, -offset.y) + 1.0) * half;
        let side = 2 * HALF_PICTURE as usize;
        let is_inside =
            pixel.cmpge(DVec2::ZERO).all() && pixel.cmplt(DVec2::splat(2.0 * half)).all();
        let picture = self.all.iter();
        let mut picture = picture.filter(|(night, tone, _)| (*night, *tone) == (dark, tree.color));
        match picture.next() {
            Some((.., pixels)) if is_inside => pixels[pixel.y as usize * side + pixel.x as usize],
            _ => [0.0; 4],
        }
    }
}

/// Draws a tree with a crown of one metre on a transparent background.
fn picture(tone: u32, dark: bool) -> Vec<[f32; 4]> {
    let side = 2 * HALF_PICTURE;
    let reach = DVec2::splat(REACH);
    let Ok(mut canvas) = Canvas::new((side, side), -reach, reach) else {
        return vec![[0.0; 4]; (side * side) as usize];
    };
    canvas.set_dark(dark);
    let color = canvas.shown(rgb(tone));
    canvas.figure(&TREE.parts(), DVec2::ZERO, DVec2::X, 1.0, color);
    canvas.premultiplied()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;
    use crate::Picture;
    use crate::land::grain;
    use roadwright_geometry::unit;
    use roadwright_scenario::{Edit, ForestId, Scenario};

    fn forest(density: f64, spacing: f64) -> Forest {
        let corner = |x: f64, y: f64| 500.0 * DVec2::new(x, y);
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
            seed: 7,
        }
    }

    /// Returns the mean colour in the middle of a forest in which all trees are drawn, with crowns
    /// of 12 pixels.
    fn drawn(forest: &Forest, dark: bool) -> [f32; 4] {
        let pixels = 1200.0;
        let half = 0.5 * pixels * crown(forest) / 12.0;
        let mut canvas =
            Canvas::new((1200, 1200), DVec2::splat(-half), DVec2::splat(half)).unwrap();
        canvas.set_dark(dark);
        for tree in crate::land::planted(forest) {
            if tree.at.abs().max_element() < half + 6.0 {
                let color = canvas.shown(rgb(tree.color));
                canvas.figure(
                    &TREE.parts(),
                    tree.at,
                    tree.crown * unit(tree.turn),
                    tree.crown,
                    color,
                );
            }
        }
        let pixels = canvas.premultiplied();
        let count = pixels.len() as f64;
        let sum = pixels.iter().fold([0.0f64; 4], |sum, pixel| {
            std::array::from_fn(|i| sum[i] + f64::from(pixel[i]))
        });
        sum.map(|sum| (sum / count) as f32)
    }

    #[test]
    fn the_mean_is_that_of_trees_drawn_one_by_one() {
        for (density, spacing, dark) in [
            (400.0, 3.0, false),
            (1000.0, 4.0, true),
            (150.0, 6.0, false),
            (60.0, 9.0, false),
            (2000.0, 1.2, false),
        ] {
            let forest = forest(density, spacing);
            let color = color(&forest, dark);
            let premultiplied =
                [color.red(), color.green(), color.blue()].map(|c| c * color.alpha());
            let [red, green, blue, alpha] = drawn(&forest, dark);
            let said = format!("{density} per hectare, {spacing} m: {color:?}, drawn {alpha}");
            assert!((color.alpha() - alpha).abs() < 0.03, "{said}");
            for (mean, drawn) in premultiplied.into_iter().zip([red, green, blue]) {
                assert!((mean - drawn).abs() < 0.02, "{said}: {mean} for {drawn}");
            }
        }
    }

    /// Returns the mean colour (0 to 255) of a picture of a forest whose grain has a given size in
    /// pixels.
    fn mean_of_picture(forest: &Forest, grain_pixels: f64, dark: bool) -> [f64; 3] {
        let mut scenario = Scenario::new("forest");
        let edit = Edit::Forest(ForestId(1), Some(Box::new(forest.clone())));
        scenario.apply(edit).unwrap();
        let half = DVec2::splat(200.0 * grain(forest) / grain_pixels);
        let picture = Picture {
            size: (400, 400),
            view: Some((-half, half)),
            furnished: false,
            dark,
            ..Picture::default()
        };
        let canvas = crate::map::drawn(&scenario, None, &picture).unwrap();
        let pixels = canvas.premultiplied();
        let count = pixels.len() as f64;
        let sum = pixels.iter().fold([0.0; 3], |sum, pixel| {
            std::array::from_fn(|i| sum[i] + f64::from(pixel[i]))
        });
        sum.map(|sum| 255.0 * sum / count)
    }

    #[test]
    fn nothing_jumps_where_trees_begin_to_be_drawn() {
        let Sizes { none, all, .. } = SMALLEST;
        for (density, spacing, dark) in
            [(400.0, 3.0, false), (900.0, 3.0, true), (60.0, 8.0, false)]
        {
            let forest = forest(density, spacing);
            let sizes = [
                0.9 * none,
                none,
                0.7 * none + 0.3 * all,
                0.5 * (none + all),
                all,
                1.2 * all,
            ];
            let means = sizes.map(|size| mean_of_picture(&forest, size, dark));
            for (mean, size) in means.iter().zip(sizes) {
                for (color, first) in mean.iter().zip(means[0]) {
                    // A difference of 2 out of 255 is invisible.
                    assert!(
                        (color - first).abs() < 2.0,
                        "{density} at {size}: {means:?}"
                    );
                }
            }
            // Control: the measure can distinguish a forest from bare ground, whose colour is very
            // different.
            let bare = mean_of_picture(&self::forest(0.0, spacing), none, dark);
            let apart = means[0].iter().zip(bare).map(|(a, b)| (a - b).abs());
            assert!(apart.fold(0.0, f64::max) > 6.0, "{means:?} {bare:?}");
        }
    }

    #[test]
    fn what_is_missing_between_trees_is_filled() {
        let mut color = rgb(0x6B9E5B);
        color.set_alpha(0.7);
        assert_eq!(between_trees(color, 0.0).alpha(), 0.7);
        assert!(between_trees(color, 1.0).alpha() < 1e-6);
        for shown in [0.2, 0.5, 0.9] {
            let fill = between_trees(color, shown).alpha();
            let cover = 1.0 - (1.0 - fill) * (1.0 - 0.7 * shown as f32);
            assert!((cover - 0.7).abs() < 1e-5, "{cover} at {shown}");
        }
        /// A number of trees in view for which not all trees are drawn at every size.
        const MANY: usize = 1_000_000;
        assert_eq!(share_of_trees(1.9, MANY, SMALLEST), 0.0);
        assert_eq!(share_of_trees(2.5, MANY, SMALLEST), 0.5);
        assert_eq!(share_of_trees(3.1, MANY, SMALLEST), 1.0);
        // If there are few trees, they are drawn however small they are.
        assert_eq!(share_of_trees(0.1, SMALLEST.few, SMALLEST), 1.0);
        assert_eq!(share_of_trees(0.1, SMALLEST.few * 3 / 2, SMALLEST), 0.5);
    }
}
