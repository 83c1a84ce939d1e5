//! The forest tool, which paints and erases forests with a round brush.

use super::brush::{self, Brush};
use super::{Effect, Mark, ToolContext};
use i_overlay::core::fill_rule::FillRule;
use i_overlay::core::overlay_rule::OverlayRule;
use i_overlay::float::single::SingleFloatOverlay;
use roadwright_geometry::{DVec2, polygon, unit};
use roadwright_scenario::{Edit, Forest, ForestId, Scenario};
use std::collections::BTreeMap;
use std::sync::Arc;

type Ring = Vec<[f64; 2]>;

/// Number of corners of the polygon that stands for the brush's circle.
const CORNERS: usize = 20;
/// Smoothing tolerance, m. A corner closer than this to the line through its neighbours is dropped.
const SMOOTHING: f64 = 0.3;
/// Smallest region that is kept, m^2.
const LEAST_AREA: f64 = 4.0;

/// A stroke in progress.
pub(super) struct Stroke {
    last: DVec2,
    /// The scenario before the stroke.
    base: Arc<Scenario>,
    /// Forests touched by the stroke, with their current regions.
    regions: BTreeMap<ForestId, Vec<Ring>>,
    /// The painted forest; `None` while erasing.
    painted: Option<ForestId>,
}

/// Paints forests, or erases parts of them.
pub(super) type ForestTool = Brush<Stroke>;

impl brush::Stroke for Stroke {
    fn begin(at: DVec2, context: &ToolContext<'_>) -> Result<Self, String> {
        let options = context.options.forest;
        let base = context.scenario.clone();
        // A stroke that starts in a forest with the same settings extends it. Otherwise every stroke would
        // add a forest, and trees would overlap where forests do.
        let alike = |forest: &Forest| {
            forest.density == options.density
                && forest.spacing == options.spacing
                && forest.seed == options.seed
        };
        let near = |forest: &Forest| polygon::distance(&forest.area, at) < options.radius;
        let mut regions = BTreeMap::new();
        let painted = (!options.erase).then(|| {
            let known = base.forests().iter().find(|(_, f)| alike(f) && near(f));
            if let Some((&id, forest)) = known {
                regions.insert(id, vec![ring(&forest.area)]);
                return id;
            }
            let id = base.next_forest_id();
            regions.insert(id, Vec::new());
            id
        });
        // The eraser can reach any forest; the edit leaves out untouched forests.
        if options.erase {
            for (&id, forest) in base.forests() {
                regions.insert(id, vec![ring(&forest.area)]);
            }
        }
        Ok(Self {
            last: at,
            base,
            regions,
            painted,
        })
    }

    fn dab(&mut self, at: DVec2, context: &ToolContext<'_>) -> Vec<Effect> {
        let brush = capsule(self.last, at, context.options.forest.radius);
        self.last = at;
        let (rule, label) = match self.painted {
            Some(_) => (OverlayRule::Union, "Paint forest"),
            None => (OverlayRule::Difference, "Erase trees"),
        };
        for region in self.regions.values_mut().filter(|r| near(r, &brush)) {
            *region = combined(region, &brush, rule);
        }
        vec![Effect::Preview(label.into(), self.edit(context))]
    }

    fn marks(at: DVec2, context: &ToolContext<'_>) -> Vec<Mark> {
        let options = context.options.forest;
        vec![brush::circle(at, options.radius, options.erase)]
    }

    fn status(context: &ToolContext<'_>) -> String {
        let options = context.options.forest;
        if options.erase {
            return format!(
                "Drag: remove trees within {:.0} m. [ and ]: brush size.",
                options.radius
            );
        }
        format!(
            "Drag: plant {:.0} trees per hectare within {:.0} m. [ and ]: brush size.",
            options.density, options.radius
        )
    }
}

impl Stroke {
    fn edit(&self, context: &ToolContext<'_>) -> Edit {
        let options = context.options.forest;
        let mut edits = Vec::new();
        // Pieces that are cut off get ids above all ids of the scenario and of the painted forest,
        // which does not exist in the scenario before the stroke.
        let painted = self.painted.map_or(0, |id| id.0.saturating_add(1));
        let mut next = self.base.next_forest_id().0.max(painted);
        for (&id, region) in &self.regions {
            let before = self.base.forests().get(&id);
            let areas: Vec<Vec<DVec2>> = region.iter().map(points).collect();
            if before.is_some_and(|forest| areas.len() == 1 && areas[0] == *forest.area) {
                continue;
            }
            let template = before.cloned().unwrap_or(Forest {
                area: Vec::new().into(),
                density: options.density.into(),
                spacing: options.spacing.into(),
                trunk_radius: 0.2.into(),
                seed: options.seed,
            });
            if areas.is_empty() && before.is_some() {
                edits.push(Edit::Forest(id, None));
            }
            for (i, area) in areas.into_iter().enumerate() {
                // Pieces that are cut off become separate forests.
                let id = if i == 0 { id } else { ForestId(next) };
                next += u32::from(i > 0);
                let forest = Forest {
                    area: area.into(),
                    ..template.clone()
                };
                edits.push(Edit::Forest(id, Some(Box::new(forest))));
            }
        }
        Edit::Batch(edits)
    }
}

fn ring(points: &[DVec2]) -> Ring {
    points.iter().map(|p| [p.x, p.y]).collect()
}

fn points(ring: &Ring) -> Vec<DVec2> {
    ring.iter().map(|p| DVec2::from_array(*p)).collect()
}

/// Returns the outline of the area within a radius of a line segment.
fn capsule(from: DVec2, to: DVec2, radius: f64) -> Ring {
    let circle = |centre: DVec2| {
        (0..CORNERS).map(move |i| {
            let angle = std::f64::consts::TAU * i as f64 / CORNERS as f64;
            centre + radius * unit(angle)
        })
    };
    // Two discs and the area between them form their convex hull.
    let all: Vec<DVec2> = circle(from).chain(circle(to)).collect();
    ring(&polygon::convex_hull(&all))
}

/// Whether the brush can reach any of the regions.
fn near(regions: &[Ring], brush: &Ring) -> bool {
    let reach = |ring: &Ring| polygon::bounds(&points(ring)).unwrap_or_default();
    let (low, high) = reach(brush);
    regions.is_empty()
        || regions
            .iter()
            .map(reach)
            .any(|(a, b)| !(a.cmpgt(high).any() || b.cmplt(low).any()))
}

/// Returns the regions after applying the brush. Each is a ring without holes, because a cut opens
/// each hole to the outside.
fn combined(regions: &[Ring], brush: &Ring, rule: OverlayRule) -> Vec<Ring> {
    let shapes = if regions.is_empty() {
        match rule {
            OverlayRule::Union => vec![vec![brush.clone()]],
            _ => Vec::new(),
        }
    } else {
        regions
            .to_vec()
            // A ring with a cut follows the cut twice, and by the even-odd rule both passes cancel out.
            .overlay(&vec![brush.clone()], rule, FillRule::EvenOdd)
    };
    shapes
        .into_iter()
        .map(|shape| {
            let mut rings = shape.into_iter();
            let outer = rings.next().unwrap_or_default();
            simplified(&rings.fold(outer, opened))
        })
        .filter(|ring| ring.len() >= 3 && polygon::signed_area(&points(ring)).abs() > LEAST_AREA)
        .collect()
}

/// Merges a ring and its hole into one ring, with a cut between their nearest corners.
fn opened(outer: Ring, hole: Ring) -> Ring {
    let distance = |a: &[f64; 2], b: &[f64; 2]| (a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2);
    //   outer  +----------------+
    //          |    +----+      |
    //        i *----* j  |      |    the outer ring to i, over to j, around the hole,
    //          |    +----+      |    back to i, and the rest of the outer ring
    //          +----------------+
    let mut best = (f64::INFINITY, 0, 0);
    for (i, a) in outer.iter().enumerate() {
        for (j, b) in hole.iter().enumerate() {
            let d = distance(a, b);
            if d < best.0 {
                best = (d, i, j);
            }
        }
    }
    let (_, i, j) = best;
    if hole.is_empty() || outer.is_empty() {
        return outer;
    }
    let mut ring = outer[..=i].to_vec();
    ring.extend(hole[j..].iter().chain(&hole[..=j]));
    ring.extend(&outer[i..]);
    ring
}

/// Returns the ring without corners that hardly change its direction.
fn simplified(ring: &Ring) -> Ring {
    let all = points(ring);
    let n = all.len();
    // A shape with so few corners is intentional.
    if n < 8 {
        return ring.clone();
    }
    let mut kept: Vec<DVec2> = Vec::with_capacity(n);
    for i in 0..n {
        let before = kept.last().copied().unwrap_or(all[n - 1]);
        let after = all[(i + 1) % n];
        let on = polygon::closest_on_segment(before, after, all[i]);
        // Measured from the last corner kept, so that a row of many small bends adds up to a corner.
        if (on - all[i]).length() > SMOOTHING || i == 0 {
            kept.push(all[i]);
        }
    }
    self::ring(&kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn area(regions: &[Ring]) -> f64 {
        regions
            .iter()
            .map(|r| polygon::signed_area(&points(r)).abs())
            .sum()
    }

    #[test]
    fn a_stroke_paints_one_region_as_wide_as_the_brush() {
        let mut regions = Vec::new();
        for i in 0..20 {
            let (a, b) = (
                DVec2::new(f64::from(i) * 3.0, 0.0),
                DVec2::new(f64::from(i + 1) * 3.0, 0.0),
            );
            regions = combined(&regions, &capsule(a, b, 10.0), OverlayRule::Union);
        }
        assert_eq!(regions.len(), 1);
        let expected = 60.0 * 20.0 + std::f64::consts::PI * 100.0;
        assert!(
            (area(&regions) - expected).abs() < 0.05 * expected,
            "{}",
            area(&regions)
        );
        assert!(regions[0].len() < 60, "{}", regions[0].len());
    }

    #[test]
    fn erasing_across_cuts_a_region_in_two() {
        let whole = vec![capsule(DVec2::ZERO, DVec2::new(100.0, 0.0), 10.0)];
        let cut = capsule(DVec2::new(50.0, -30.0), DVec2::new(50.0, 30.0), 5.0);
        assert_eq!(combined(&whole, &cut, OverlayRule::Difference).len(), 2);
    }

    #[test]
    fn a_clearing_is_opened_to_the_outside() {
        let whole = vec![capsule(DVec2::ZERO, DVec2::ZERO, 50.0)];
        let cut = capsule(DVec2::ZERO, DVec2::ZERO, 10.0);
        let rest = combined(&whole, &cut, OverlayRule::Difference);
        assert_eq!(rest.len(), 1);
        assert!(!polygon::contains(&points(&rest[0]), DVec2::new(1.0, 2.0)));
        assert!(polygon::contains(&points(&rest[0]), DVec2::new(30.0, 2.0)));
    }
}
