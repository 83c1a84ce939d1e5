//! Objects beside roads: yards, houses, posts, trees.

use crate::figure::Figure;
use crate::palette::{
    BLOCK, CROWNS, FOREST, LOOSE, OUTLINE, ROOF_EDGE, ROOF_LINE, ROOF_THING, ROOFS, SHADOW,
    SHADOW_OPACITY, faded, one_of,
};
use crate::{Painter, Pass};
use glam::DVec2;
use roadwright_geometry::math::mix64;
use roadwright_geometry::polygon;
use roadwright_scenario::{Forest, Obstacle, ObstacleId, Scenario, Shape};
use roadwright_simulation::LooseRecord;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// Minimum number of corners of a polygon.
const LEAST_CORNERS: usize = 3;

/// Minimum height of a fixed obstacle that is drawn as a house, m.
const HOUSE_HEIGHT: f64 = 2.5;
/// Minimum area of a fixed obstacle that is drawn as a house, m^2.
const HOUSE_AREA: f64 = 20.0;
/// Width of the yard around a house, m.
const YARD: f64 = 5.0;
/// Width of the soft edge around a yard, m.
const YARD_EDGE: f64 = 2.0;
/// Opacity of objects that hang above the ground, 0 to 1.
const HANGING: f32 = 0.45;
/// Lengths of dashes and gaps along the edges of objects that hang above the ground, m.
const DASHES: (f64, f64) = (0.8, 0.6);
/// Width of a parapet, m.
const PARAPET: f64 = 0.55;
/// Minimum area of a roof on which objects are drawn, m^2.
const LARGE_ROOF: f64 = 120.0;

/// Scales between which obstacles fade in, pixels per metre. Below the first they are invisible, and above
/// the second they are fully visible.
const HOUSES: (f64, f64) = (0.25, 0.4);
/// Scales between which parapets and objects on roofs fade in, pixels per metre. Below the first they are
/// invisible, and above the second they are fully visible.
const PARAPETS: (f64, f64) = (1.25, 1.8);
/// Limits for roofs whose parapets are drawn as areas: maximum number of corners, and minimum length of an
/// edge, m. Other parapets are drawn as lines, because their inner edges would cross.
const PLAIN: (usize, f64) = (12, 1.2);

/// Visibility of the parts of houses at a scale.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Detail {
    /// Opacity of obstacles, shadows and yards, 0 to 1. They fade at small scales.
    pub strength: f32,
    /// Opacity of parapets and objects on roofs, 0 to 1. They belong to [`Pass::Kerb`].
    pub parapets: f32,
}

impl Detail {
    /// Returns the visibility at a scale in pixels per metre; `None` if obstacles are invisible.
    pub fn at(scale: f64) -> Option<Self> {
        let share = |(from, to): (f64, f64)| ((scale - from) / (to - from)).clamp(0.0, 1.0) as f32;
        let strength = share(HOUSES);
        (strength > 0.0).then_some(Self {
            strength,
            parapets: share(PARAPETS),
        })
    }

    /// Returns the opacity of obstacles in a drawing pass.
    pub fn of_pass(self, pass: Pass) -> f32 {
        match pass {
            Pass::Kerb => self.parapets,
            _ => self.strength,
        }
    }
}

/// Draws the yards around houses, below all land.
pub fn yards<'a>(
    painter: &mut impl Painter,
    obstacles: impl Iterator<Item = &'a Obstacle>,
    detail: Detail,
) {
    painter.begin(Pass::Ground);
    for obstacle in obstacles.filter(|obstacle| is_house(obstacle)) {
        let ring = polygon::tidy_ring(&obstacle.shape.outline());
        // The yard surrounds the convex hull, because the space between the wings of a house is part of the
        // yard.
        let ring = if ring.len() > 4 {
            polygon::convex_hull(&ring)
        } else {
            ring
        };
        let color = faded(BLOCK, detail.strength);
        painter.soft_polygon(&grown(&ring, YARD), YARD_EDGE, color);
    }
}

/// Draws the floors of forests, below roads.
pub fn floors(painter: &mut impl Painter, scenario: &Scenario) {
    painter.begin(Pass::Paving);
    for forest in scenario.forests().values() {
        painter.soft_polygon(&forest.area, 1.0, faded(FOREST, 0.8));
    }
}

/// Draws obstacles at the positions to which they have been pushed in a run.
pub fn where_pushed<'a>(
    obstacles: impl Iterator<Item = (&'a ObstacleId, &'a Obstacle)>,
    pushed: &[LooseRecord],
) -> BTreeMap<ObstacleId, Cow<'a, Obstacle>> {
    let mut all: BTreeMap<ObstacleId, Cow<'a, Obstacle>> = obstacles
        .map(|(id, obstacle)| (*id, Cow::Borrowed(obstacle)))
        .collect();
    for record in pushed {
        // A tipped obstacle that is seen edge-on has no outline, so it is drawn at its original
        // position.
        if let Some(obstacle) = all
            .get_mut(&record.obstacle)
            .filter(|_| record.outline.len() >= LEAST_CORNERS)
        {
            obstacle.to_mut().shape = Shape::Polygon {
                points: record.outline.clone().into(),
            };
        }
    }
    all
}

/// Draws obstacles with their shadows, unless they are invisible at the painter's scale.
pub fn obstacles<'a>(
    painter: &mut impl Painter,
    obstacles: impl IntoIterator<Item = (&'a ObstacleId, &'a Obstacle)> + Clone,
) {
    let Some(detail) = Detail::at(painter.nearest_scale()) else {
        return;
    };
    painter.begin(Pass::Ground);
    let all = obstacles.clone().into_iter();
    all.for_each(|(_, obstacle)| shadow(painter, obstacle, detail.strength));
    for (id, obstacle) in obstacles {
        painter.begin(Pass::Paving);
        let outline = obstacle.shape.outline();
        if obstacle.hangs() {
            hanging(painter, &outline, detail.strength);
        } else if is_house(obstacle) {
            house(painter, *id, &outline, detail);
        } else {
            let color = if obstacle.mass.is_some() {
                LOOSE
            } else {
                ROOF_LINE
            };
            painter.polygon(&outline, faded(color, detail.strength));
            painter.edge(&outline, 0.0, 1.0, faded(OUTLINE, 0.8 * detail.strength));
        }
    }
}

/// Draws an object that hangs above the ground. Objects below it remain visible.
fn hanging(painter: &mut impl Painter, outline: &[DVec2], strength: f32) {
    painter.polygon(outline, faded(ROOF_LINE, HANGING * strength));
    let mut edge = outline.to_vec();
    edge.extend(outline.first());
    painter.dashed_line(
        &edge,
        0.15,
        1.5,
        Some(DASHES),
        faded(OUTLINE, 0.8 * strength),
    );
}

fn is_house(obstacle: &Obstacle) -> bool {
    let area = || polygon::signed_area(&obstacle.shape.outline()).abs();
    !obstacle.hangs()
        && obstacle.mass.is_none()
        && obstacle.height >= HOUSE_HEIGHT
        && area() >= HOUSE_AREA
}

/// Returns a ring whose edges are moved outwards. Sharp corners are cut off.
fn grown(ring: &[DVec2], by: f64) -> Vec<DVec2> {
    let mitres = polygon::outward_mitres(ring, 1.5);
    ring.iter().zip(mitres).map(|(p, n)| *p + by * n).collect()
}

/// Draws a soft shadow, with light from the north-west. The shadow is no longer than for a house 20
/// m high, so that the shadow of a tower does not hide a street.
fn shadow(painter: &mut impl Painter, obstacle: &Obstacle, strength: f32) {
    let height = obstacle.height.min(20.0);
    let outline = obstacle.shape.outline();
    let cast = DVec2::new(0.22, -0.22) * height;
    let fade = 0.3 + 0.08 * height;
    // The shadow is the area that the shape sweeps from its foot to the end of its shadow, reduced so that
    // sunlit walls have no shadow. For a concave shape, only the shadow of the roof is drawn, because the
    // area swept by its hull would darken sunlit yards.
    let begin = DVec2::new(0.22, -0.22) * obstacle.base.min(height);
    let foot = begin + (cast - begin).clamp_length_max(fade);
    let swept: Vec<DVec2> = outline
        .iter()
        .flat_map(|p| [*p + foot, *p + cast])
        .collect();
    let hull = polygon::convex_hull(&outline);
    let area = |ring: &[DVec2]| polygon::signed_area(ring).abs();
    let ring = if area(&hull) < 1.05 * area(&outline) {
        polygon::convex_hull(&swept)
    } else {
        outline.iter().map(|p| *p + cast).collect()
    };
    painter.soft_polygon(&ring, fade, faded(SHADOW, SHADOW_OPACITY * strength));
}

/// Draws a roof in one of several tones. It has a light parapet if the scale is large enough.
fn house(painter: &mut impl Painter, id: ObstacleId, outline: &[DVec2], detail: Detail) {
    let ring = polygon::tidy_ring(outline);
    let number = u64::from(id.0);
    let tone = one_of(&ROOFS, number);
    let parapets = detail.parapets;
    let is_near = Detail::at(painter.scale()).is_some_and(|detail| detail.parapets >= 1.0);
    // Parapets that fade in are drawn on top of the plain roof. Once they are fully visible, they hide the
    // plain roof.
    if parapets < 1.0 || !is_near {
        painter.polygon(&ring, faded(tone, detail.strength));
    }
    if parapets <= 0.0 {
        return;
    }
    painter.begin(Pass::Kerb);
    let is_plain =
        ring.len() <= PLAIN.0 && polygon::edges(&ring).all(|(a, b)| (b - a).length() >= PLAIN.1);
    let roof = if is_plain {
        painter.polygon(&ring, faded(ROOF_EDGE, parapets));
        painter.edge(&ring, 0.0, 1.0, faded(ROOF_LINE, parapets));
        let roof = grown(&ring, -PARAPET);
        painter.polygon(&roof, faded(tone, parapets));
        roof
    } else {
        painter.polygon(&ring, faded(tone, parapets));
        for wall in walls(&ring) {
            painter.line(&wall, PARAPET, 1.0, faded(ROOF_EDGE, parapets));
        }
        ring.clone()
    };
    if polygon::signed_area(&ring) > LARGE_ROOF {
        for thing in roof_things(&roof, number) {
            painter.soft_polygon(
                &thing.map(|p| p + DVec2::new(0.2, -0.2)),
                0.4,
                faded(SHADOW, 0.18 * parapets),
            );
            painter.polygon(&thing, faded(ROOF_THING, parapets));
        }
    }
}

/// Returns the edges of a roof as lines. The two edges that connect the outer ring to a courtyard coincide
/// and are left out.
fn walls(ring: &[DVec2]) -> Vec<Vec<DVec2>> {
    let bits = |p: DVec2| [p.x.to_bits(), p.y.to_bits()];
    let all: BTreeSet<_> = polygon::edges(ring)
        .map(|(a, b)| (bits(a), bits(b)))
        .collect();
    let mut walls: Vec<Vec<DVec2>> = Vec::new();
    for (a, b) in polygon::edges(ring) {
        if all.contains(&(bits(b), bits(a))) {
            continue;
        }
        match walls.last_mut() {
            Some(wall) if wall.last() == Some(&a) => wall.push(b),
            _ => walls.push(vec![a, b]),
        }
    }
    walls
}

/// Returns boxes that stand for skylights and machinery on a roof: up to five, parallel to its
/// longest side. Boxes that do not fit are dropped.
fn roof_things(roof: &[DVec2], number: u64) -> Vec<[DVec2; 4]> {
    let longest = polygon::edges(roof).max_by(|a, b| {
        let length = |edge: &(DVec2, DVec2)| (edge.1 - edge.0).length_squared();
        length(a).total_cmp(&length(b))
    });
    let along = longest.map_or(DVec2::X, |(a, b)| (b - a).normalize_or(DVec2::X));
    let middle = polygon::centroid(roof);
    let (low, high) = polygon::bounds(roof).unwrap_or_default();
    let reach = 0.5 * (high - low);
    let share = |k: u64| (mix64(number ^ (k << 32)) >> 11) as f64 / (1u64 << 53) as f64 - 0.5;
    (0..5)
        .filter_map(|k| {
            let at = middle + 1.4 * DVec2::new(share(3 * k) * reach.x, share(3 * k + 1) * reach.y);
            let (half, depth) = (0.9 + 1.2 * (share(3 * k + 2) + 0.5), 0.8);
            let corner = |x: f64, y: f64| at + x * half * along + y * depth * along.perp();
            let ring = [
                corner(1.0, 1.0),
                corner(-1.0, 1.0),
                corner(-1.0, -1.0),
                corner(1.0, -1.0),
            ];
            let fits = |p: &DVec2| {
                polygon::contains(roof, *p) && polygon::boundary_distance(roof, *p) > 0.8
            };
            ring.iter().all(fits).then_some(ring)
        })
        .collect()
}

/// Returns the trees of a forest, which are similar but not identical.
pub fn planted(forest: &Forest) -> impl Iterator<Item = Tree> {
    let crown = crown(forest);
    let all = forest.trees().into_iter();
    all.map(move |at| Tree::new(at, crown))
}

/// Returns the trees of a forest as positions, crown radii, directions and colours.
pub fn trees(forest: &Forest) -> impl Iterator<Item = (DVec2, f64, f64, u32)> {
    planted(forest).map(|tree| (tree.at, tree.crown, tree.turn, tree.color))
}

/// Returns the mean radius of the crowns of a forest, m. If the density permits natural sizes,
/// crowns nearly touch, so that the trees look like a forest.
pub fn crown(forest: &Forest) -> f64 {
    (0.45 * forest.spacing).clamp(0.8, 3.5)
}

/// Returns the size that determines whether the trees of a forest are drawn individually, m. It is
/// the mean radius of their crowns, or less if the crowns overlap. Because of this, a picture never
/// contains more than one tree per circle of this size.
pub fn grain(forest: &Forest) -> f64 {
    crown(forest).min(0.45 * forest.cell())
}

/// A tree as it is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tree {
    /// Position of the tree, m.
    pub at: DVec2,
    /// Radius of the tree's crown, m.
    pub crown: f64,
    /// Rotation of the tree's figure, rad.
    pub turn: f64,
    /// Colour of the tree's crown, 0xRRGGBB.
    pub color: u32,
    /// Rank of the tree when the trees of the forest appear one by one while the user zooms in: the
    /// fraction of the trees that appear earlier, 0 to 1.
    pub order: f64,
}

impl Tree {
    /// Creates the tree at a position in a forest with a given mean crown radius, m.
    pub(crate) fn new(at: DVec2, crown: f64) -> Self {
        let number = mix64(at.x.to_bits() ^ at.y.to_bits().rotate_left(32));
        let unit = |bits: u64| (bits >> 40) as f64 / (1u64 << 24) as f64;
        Self {
            at,
            crown: crown * (0.7 + 0.6 * unit(number)),
            turn: std::f64::consts::TAU * (number & 0xFFFF) as f64 / 65_536.0,
            color: one_of(&CROWNS, number),
            order: unit(mix64(number)),
        }
    }
}

/// Figure used to draw all trees.
pub const TREE: Figure = Figure::Tree;

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;
    use roadwright_geometry::Pose;
    use roadwright_geometry::oriented_box::OrientedBox;

    #[test]
    fn the_cut_to_a_courtyard_is_no_wall() {
        let square = |half: f64| {
            let corners = [(-half, -half), (half, -half), (half, half), (-half, half)];
            corners.map(DVec2::from).to_vec()
        };
        let whole = square(10.0);
        assert_eq!(
            walls(&whole)
                .iter()
                .map(|wall| wall.len() - 1)
                .sum::<usize>(),
            4
        );
        // Around the house, out to the yard, around the yard in the opposite direction, and back.
        let mut ring = whole.clone();
        let mut yard = square(3.0);
        yard.reverse();
        ring.push(whole[0]);
        ring.extend(&yard[3..]);
        ring.extend(&yard[..=3]);
        let edges = walls(&ring);
        assert_eq!(edges.iter().map(|wall| wall.len() - 1).sum::<usize>(), 8);
    }

    #[test]
    fn houses_and_their_parapets_come_gently() {
        assert_eq!(Detail::at(0.25), None);
        assert_eq!(Detail::at(f64::NAN), None);
        let at = |scale: f64| Detail::at(scale).unwrap();
        let steps = (26..400).map(|i| f64::from(i) / 100.0);
        let mut before = Detail {
            strength: 0.0,
            parapets: 0.0,
        };
        for scale in steps {
            let now = at(scale);
            // The scale changes by less here than with one step of the mouse wheel, so nothing appears
            // suddenly.
            assert!((0.0..0.07).contains(&(now.strength - before.strength)));
            assert!((0.0..0.03).contains(&(now.parapets - before.parapets)));
            before = now;
        }
        assert_eq!((before.strength, before.parapets), (1.0, 1.0));
        assert_eq!(at(1.2).parapets, 0.0);
    }

    #[test]
    fn things_on_a_roof_stay_on_it_and_are_the_same_every_time() {
        let pose = Pose {
            position: DVec2::new(40.0, -7.0),
            heading: 0.4,
        };
        let roof = OrientedBox::new(pose, 30.0, 14.0).corners();
        let mut all = 0;
        for number in 0..50 {
            let things = roof_things(&roof, number);
            assert!(
                things
                    .iter()
                    .flatten()
                    .all(|p| polygon::contains(&roof, *p))
            );
            assert_eq!(things, roof_things(&roof, number));
            all += things.len();
        }
        assert!(all > 50, "{all} on 50 roofs");
        // A roof that is too narrow has no objects on it.
        let narrow = OrientedBox::new(pose, 30.0, 1.5).corners();
        assert!(roof_things(&narrow, 3).is_empty());
    }
}
