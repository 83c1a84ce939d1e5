//! Finds crossings between the edges of rings.

use crate::polygon;
use glam::DVec2;
use std::ops::ControlFlow;

/// An edge of a ring, given by its two corners.
pub type Edge = (DVec2, DVec2);

/// Calls `visit` for every pair of edges of the rings that cross in their interiors. Edges that
/// only touch, such as neighbours, are ignored.
///
/// The search sweeps along x, because an edge that begins to the right of another edge's end cannot
/// meet that edge. Every comparison decrements `left`. Returns whether `left` was sufficient. O(n
/// log n) for outlines of objects. O(n^2) for edges that all overlap, unless `left` runs out first.
pub fn for_each_crossing<'a>(
    rings: impl IntoIterator<Item = &'a [DVec2]>,
    left: &mut usize,
    mut visit: impl FnMut(Edge, Edge) -> ControlFlow<()>,
) -> bool {
    let mut edges: Vec<Edge> = rings.into_iter().flat_map(polygon::edges).collect();
    let low = |edge: &Edge| edge.0.x.min(edge.1.x);
    edges.sort_by(|a, b| low(a).total_cmp(&low(b)));
    for (index, edge) in edges.iter().enumerate() {
        let end = edge.0.x.max(edge.1.x);
        for other in &edges[index + 1..] {
            if low(other) > end {
                break;
            }
            let Some(rest) = left.checked_sub(1) else {
                return false;
            };
            *left = rest;
            if cross(*edge, *other) && visit(*edge, *other).is_break() {
                return true;
            }
        }
    }
    true
}

/// Whether two edges cross in their interiors.
fn cross((a, b): Edge, (c, d): Edge) -> bool {
    let side = |p: DVec2, q: DVec2, r: DVec2| (q - p).perp_dot(r - p);
    side(a, b, c) * side(a, b, d) < 0.0 && side(c, d, a) * side(c, d, b) < 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(rings: &[Vec<DVec2>], mut left: usize) -> (usize, bool) {
        let mut found = 0;
        let rings = rings.iter().map(Vec::as_slice);
        let whole = for_each_crossing(rings, &mut left, |_, _| {
            found += 1;
            ControlFlow::Continue(())
        });
        (found, whole)
    }

    fn ring(points: &[(f64, f64)]) -> Vec<DVec2> {
        points.iter().copied().map(DVec2::from).collect()
    }

    #[test]
    fn crossings_are_found_and_touching_is_none() {
        let square = ring(&[(0.0, 0.0), (4.0, 0.0), (4.0, 4.0), (0.0, 4.0)]);
        assert_eq!(count(std::slice::from_ref(&square), 100), (0, true));
        let bow_tie = ring(&[(0.0, 0.0), (4.0, 4.0), (4.0, 0.0), (0.0, 4.0)]);
        assert_eq!(count(&[bow_tie], 100), (1, true));
        // One hole touches the outline at a corner, and another one crosses it.
        let touching = ring(&[(0.0, 2.0), (1.0, 1.0), (1.0, 3.0)]);
        assert_eq!(count(&[square.clone(), touching], 100), (0, true));
        let across = ring(&[(-1.0, 2.0), (1.0, 1.0), (1.0, 3.0)]);
        assert_eq!(count(&[square, across], 100), (2, true));
    }

    #[test]
    fn what_would_take_too_long_is_given_up() {
        let comb: Vec<DVec2> = (0..1000u32)
            .map(|i| DVec2::new(f64::from(i % 2) * 100.0, f64::from(i)))
            .collect();
        assert!(!count(std::slice::from_ref(&comb), 10_000).1);
        assert!(count(&[comb], 1_000_000).1);
    }
}
