//! Lengths, distances and offsets of polylines.

use crate::polygon::closest_on_segment;
use glam::DVec2;

/// Returns the length, m.
pub fn length(points: &[DVec2]) -> f64 {
    points.windows(2).map(|w| (w[1] - w[0]).length()).sum()
}

/// Returns the distance to a point, m; infinite for fewer than two points.
pub fn distance(points: &[DVec2], point: DVec2) -> f64 {
    points
        .windows(2)
        .map(|w| (closest_on_segment(w[0], w[1], point) - point).length_squared())
        .fold(f64::INFINITY, f64::min)
        .sqrt()
}

/// Cuts a polyline into nearly straight stretches, and returns the indices of the cuts, including
/// the ends. Each stretch deviates from the points between its ends by at most `miss`, and is no
/// longer than `longest` unless two neighbours are farther apart. O(points of a stretch) for each
/// point.
pub fn cuts(points: &[DVec2], miss: f64, longest: f64) -> Vec<usize> {
    let mut kept: Vec<usize> = (!points.is_empty()).then_some(0).into_iter().collect();
    let mut from = 0;
    for to in 2..points.len() {
        let (a, b) = (points[from], points[to]);
        let is_missed = |p: &DVec2| (closest_on_segment(a, b, *p) - *p).length() > miss;
        // Cuts are never made between adjacent points, so there is a point between the two.
        if (b - a).length() > longest || points[from + 1..to].iter().any(is_missed) {
            from = to - 1;
            kept.push(from);
        }
    }
    if points.len() > 1 {
        kept.push(points.len() - 1);
    }
    kept
}

/// Returns a vector to the left at each point. The vectors have unit length on straights and are
/// longer at bends, so that a polyline shifted by `d` times these vectors is parallel to the
/// original at distance `d`. No vector is longer than `limit`.
///
/// Needs at least two points, because a single point has no direction.
pub fn mitres(points: &[DVec2], limit: f64) -> Vec<DVec2> {
    let Some(last) = points.len().checked_sub(1).filter(|last| *last > 0) else {
        return vec![DVec2::ZERO; points.len()];
    };
    let direction = |i: usize| (points[i + 1] - points[i]).normalize_or_zero();
    (0..=last)
        .map(|i| {
            let before = direction(i.saturating_sub(1).min(last - 1));
            let after = direction(i.min(last - 1));
            // The bisector, scaled so that its component perpendicular to each side is 1. Where the
            // line turns straight back, there is no bisector, so the normal of one side is used.
            let normal = (before + after).perp().normalize_or(before.perp());
            normal / normal.dot(after.perp()).max(1.0 / limit)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shifted_corner_keeps_its_distance() {
        let corner = [(0.0, 0.0), (10.0, 0.0), (10.0, 10.0)].map(DVec2::from);
        let shifted: Vec<DVec2> = corner
            .iter()
            .zip(mitres(&corner, 4.0))
            .map(|(p, n)| *p + 2.0 * n)
            .collect();
        assert!((shifted[1] - DVec2::new(8.0, 2.0)).length() < 1e-12);
        assert!((distance(&shifted, DVec2::new(5.0, 0.0)) - 2.0).abs() < 1e-12);
        assert!((length(&corner) - 20.0).abs() < 1e-12);
    }

    #[test]
    fn a_chain_is_cut_where_it_bends_and_where_it_is_long() {
        let mut chain: Vec<DVec2> = (0..50).map(|i| DVec2::new(f64::from(i), 0.0)).collect();
        assert_eq!(cuts(&chain, 0.1, f64::INFINITY), [0, 49]);
        assert_eq!(cuts(&chain, 0.1, 20.0), [0, 20, 40, 49]);
        // No cut is made between adjacent points.
        assert_eq!(cuts(&chain[..2], 0.1, 0.5), [0, 1]);
        chain.extend((1..50).map(|i| DVec2::new(49.0, f64::from(i))));
        assert_eq!(cuts(&chain, 0.1, f64::INFINITY), [0, 49, 98]);
        assert_eq!(cuts(&chain[..1], 0.1, 1.0), [0]);
        assert!(cuts(&[], 0.1, 1.0).is_empty());
    }

    #[test]
    fn a_sharp_corner_is_cut_off_at_the_limit() {
        let spike = [(0.0, 0.0), (10.0, 0.0), (0.0, 0.1)].map(DVec2::from);
        assert!(
            mitres(&spike, 2.5)
                .iter()
                .all(|n| n.length() <= 2.5 + 1e-12)
        );
        assert_eq!(mitres(&spike[..1], 2.5), [DVec2::ZERO]);
    }
}
