//! Assembles rings of nodes from ways, simplifies the rings, and combines polygons.

use glam::DVec2;
use i_overlay::core::fill_rule::FillRule;
use i_overlay::core::overlay_rule::OverlayRule;
use i_overlay::float::single::SingleFloatOverlay;
use roadwright_geometry::crossings::for_each_crossing;
use roadwright_geometry::polygon;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// A polygon, which consists of its outline (counter-clockwise) and its holes (clockwise).
pub(super) type Shape = Vec<Vec<DVec2>>;

/// Maximum number of self-crossings of an outline that are repaired.
const MOST_CROSSINGS: usize = 100;

/// Joins ways into rings, in which the first node is not repeated at the end. Also returns the number of ways
/// that are left over, because an extract may contain only part of an outline.
///
/// Ways are joined in their order. If three ways meet at a node, the first one that fits is used.
pub(super) fn joined(ways: &[&[i64]]) -> (Vec<Vec<i64>>, usize) {
    let mut by_end: BTreeMap<i64, Vec<usize>> = BTreeMap::new();
    let is_closed = |way: &[i64]| way.len() > 3 && way.first() == way.last();
    for (index, way) in ways.iter().enumerate() {
        if let (Some(&first), Some(&last), false) = (way.first(), way.last(), is_closed(way)) {
            by_end.entry(first).or_default().push(index);
            by_end.entry(last).or_default().push(index);
        }
    }
    // Ways are popped from the back, so the list is reversed to use the first way first.
    by_end.values_mut().for_each(|list| list.reverse());
    let (mut rings, mut lost) = (Vec::new(), 0);
    let mut used = vec![false; ways.len()];
    for (index, way) in ways.iter().enumerate() {
        if std::mem::replace(&mut used[index], true) {
            continue;
        }
        let mut ring = way.to_vec();
        let mut parts = 1;
        while ring.len() > 1 && ring.first() != ring.last() {
            let end = ring[ring.len() - 1];
            let list = by_end.entry(end).or_default();
            let next = std::iter::from_fn(|| list.pop()).find(|next| !used[*next]);
            let Some(next) = next else { break };
            used[next] = true;
            parts += 1;
            if ways[next].first() == Some(&end) {
                ring.extend(&ways[next][1..]);
            } else {
                ring.extend(ways[next].iter().rev().skip(1));
            }
        }
        if ring.len() > 3 && ring.first() == ring.last() {
            ring.pop();
            rings.push(ring);
        } else {
            lost += parts;
        }
    }
    (rings, lost)
}

/// Simplifies a ring with an error of at most `tolerance`, m. Fixed corners, such as those shared with
/// neighbours, are kept so that adjacent walls stay adjacent. Each corner that is checked decrements `left`.
/// Once `left` is 0, all remaining corners are kept.
pub(super) fn simplified(
    ring: &[DVec2],
    must_stay: impl Fn(usize) -> bool,
    tolerance: f64,
    left: &mut usize,
) -> Vec<DVec2> {
    let count = ring.len();
    if count <= 4 {
        return ring.to_vec();
    }
    // Split at two corners that are far apart, so that neither half can vanish.
    let far = (1..count).max_by(|&a, &b| {
        let distance = |i: usize| (ring[i] - ring[0]).length_squared();
        distance(a).total_cmp(&distance(b))
    });
    let mut stays: Vec<bool> = (0..count).map(must_stay).collect();
    stays[0] = true;
    stays[far.unwrap_or(0)] = true;
    let fixed: Vec<usize> = (0..count).filter(|i| stays[*i]).chain([count]).collect();
    // Simplifies the polyline between two fixed corners, farthest corner first [Douglas 1973].
    let mut open: Vec<(usize, usize)> = fixed.windows(2).map(|pair| (pair[0], pair[1])).collect();
    while let Some((from, to)) = open.pop() {
        let Some(rest) = left.checked_sub(to - from) else {
            stays[from..to].fill(true);
            continue;
        };
        *left = rest;
        let (a, b) = (ring[from], ring[to % count]);
        let miss = |i: &usize| (polygon::closest_on_segment(a, b, ring[*i]) - ring[*i]).length();
        let worst = (from + 1..to).max_by(|i, j| miss(i).total_cmp(&miss(j)));
        if let Some(worst) = worst.filter(|worst| miss(worst) > tolerance) {
            stays[worst] = true;
            open.extend([(from, worst), (worst, to)]);
        }
    }
    let kept = (0..count).filter(|i| stays[*i]);
    kept.map(|i| ring[i]).collect()
}

/// Whether rings cross themselves or each other rarely enough to be passed to [`combined`]. Each comparison
/// of edges decrements `left`.
pub(super) fn is_tame(rings: &[Vec<DVec2>], left: &mut usize) -> bool {
    let mut count = 0;
    let all = rings.iter().map(Vec::as_slice);
    let whole = for_each_crossing(all, left, |_, _| {
        count += 1;
        if count > MOST_CROSSINGS {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    });
    whole && count <= MOST_CROSSINGS
}

/// Converts rings to polygons inside a window, by the even-odd rule.
pub(super) fn inside(rings: &[Vec<DVec2>], window: &[DVec2]) -> Vec<Shape> {
    combined(
        rings,
        &[window.to_vec()],
        OverlayRule::Intersect,
        FillRule::EvenOdd,
    )
}

/// Subtracts counter-clockwise rings from a polygon.
pub(super) fn without(shape: &[Vec<DVec2>], covers: &[Vec<DVec2>]) -> Vec<Shape> {
    combined(shape, covers, OverlayRule::Difference, FillRule::NonZero)
}

fn combined(
    shape: &[Vec<DVec2>],
    other: &[Vec<DVec2>],
    rule: OverlayRule,
    fill: FillRule,
) -> Vec<Shape> {
    let plain = |rings: &[Vec<DVec2>]| -> Vec<Vec<[f64; 2]>> {
        let ring = |ring: &Vec<DVec2>| ring.iter().map(DVec2::to_array).collect();
        rings.iter().map(ring).collect()
    };
    let shapes = plain(shape).overlay(&plain(other), rule, fill);
    shapes
        .into_iter()
        .map(|shape| {
            let rings = shape.into_iter().enumerate();
            let rings = rings.filter_map(|(index, ring)| {
                let ring: Vec<DVec2> = ring.into_iter().map(DVec2::from_array).collect();
                let mut ring = polygon::tidy_ring(&rounded(&ring));
                if index > 0 {
                    ring.reverse();
                }
                (ring.len() > 2).then_some(ring)
            });
            rings.collect()
        })
        .filter(|shape: &Shape| !shape.is_empty())
        .collect()
}

/// Rounds coordinates to millimetres, which is more precise than any survey.
pub(super) fn rounded(ring: &[DVec2]) -> Vec<DVec2> {
    ring.iter().map(|p| (*p * 1e3).round() / 1e3).collect()
}

/// Returns the area of a polygon without its holes, m^2.
pub(super) fn area(shape: &Shape) -> f64 {
    shape.iter().map(|ring| polygon::signed_area(ring)).sum()
}

/// Converts a polygon with holes to a single ring, by a cut from each hole to the nearest corner.
pub(super) fn opened(shape: Shape) -> Vec<DVec2> {
    let mut rings = shape.into_iter();
    let outer = rings.next().unwrap_or_default();
    rings.fold(outer, |outer, hole| {
        let mut best = (f64::INFINITY, 0, 0);
        for (i, a) in outer.iter().enumerate() {
            for (j, b) in hole.iter().enumerate() {
                let distance = (*a - *b).length_squared();
                if distance < best.0 {
                    best = (distance, i, j);
                }
            }
        }
        let (_, i, j) = best;
        let mut ring = outer[..=i].to_vec();
        ring.extend(hole[j..].iter().chain(&hole[..=j]));
        ring.extend(&outer[i..]);
        ring
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn square(half: f64) -> Vec<DVec2> {
        let corners = [(-half, -half), (half, -half), (half, half), (-half, half)];
        corners.map(DVec2::from).to_vec()
    }

    #[test]
    fn ways_are_joined_whichever_way_they_run() {
        let whole = joined(&[&[1, 2, 3], &[5, 4, 3], &[5, 6, 1]]);
        assert_eq!(whole, (vec![vec![1, 2, 3, 4, 5, 6]], 0));
        // A closed way is a ring by itself. Ways that do not close are left over.
        let some = joined(&[&[1, 2, 3, 1], &[7, 8], &[8, 9], &[4, 5, 6, 4]]);
        assert_eq!(some, (vec![vec![1, 2, 3], vec![4, 5, 6]], 2));
        assert_eq!(joined(&[&[], &[1], &[1, 1], &[2, 3, 2]]).0.len(), 0);
        // Two rings that touch at a node.
        let touching = joined(&[&[1, 2, 3], &[3, 4, 1], &[3, 5, 6], &[6, 7, 3]]);
        assert_eq!((touching.0.len(), touching.1), (2, 0));
    }

    #[test]
    fn corners_that_hardly_bend_go_and_shared_ones_stay() {
        let mut ring = square(10.0);
        ring.insert(1, DVec2::new(0.0, -10.05));
        assert_eq!(simplified(&ring, |_| false, 0.2, &mut 1000).len(), 4);
        assert_eq!(simplified(&ring, |i| i == 1, 0.2, &mut 1000).len(), 5);
        assert_eq!(simplified(&ring, |_| false, 0.01, &mut 1000).len(), 5);
        assert_eq!(simplified(&ring, |_| false, 0.2, &mut 0).len(), 5);
    }

    #[test]
    fn a_courtyard_is_opened_and_keeps_its_area() {
        let mut shape = vec![square(10.0), square(3.0)];
        shape[1].reverse();
        let ring = opened(shape.clone());
        assert!((polygon::signed_area(&ring) - area(&shape)).abs() < 1e-9);
        assert!(!polygon::contains(&ring, DVec2::new(0.5, 0.7)));
        assert!(polygon::contains(&ring, DVec2::new(5.0, 0.7)));
    }

    #[test]
    fn a_bow_tie_is_mended_and_a_thicket_is_none() {
        let tie = vec![vec![
            DVec2::ZERO,
            DVec2::new(4.0, 4.0),
            DVec2::new(4.0, 0.0),
            DVec2::new(0.0, 4.0),
        ]];
        assert!(is_tame(&tie, &mut 1000));
        assert!(!is_tame(&tie, &mut 1));
        let parts = inside(&tie, &square(100.0));
        assert_eq!(parts.len(), 2);
        assert!((parts.iter().map(area).sum::<f64>() - 8.0).abs() < 1e-3);
    }
}
