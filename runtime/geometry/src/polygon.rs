//! Polygons in the plane: bounds, area, containment, convex hull and simplicity.

use glam::DVec2;

/// Returns the low and high corner of the smallest axis-parallel box around points; `None` if there
/// are no points.
pub fn bounds(points: &[DVec2]) -> Option<(DVec2, DVec2)> {
    let first = *points.first()?;
    Some(
        points
            .iter()
            .fold((first, first), |(low, high), &p| (low.min(p), high.max(p))),
    )
}

/// Returns the signed area, m^2, positive if the points are counter-clockwise.
pub fn signed_area(points: &[DVec2]) -> f64 {
    let Some(&origin) = points.first() else {
        return 0.0;
    };
    // Computed relative to one of the points. For a polygon far from the world's origin, the terms
    // would otherwise be many times larger than their sum, and digits would be lost.
    0.5 * edges(points)
        .map(|(a, b)| (a - origin).perp_dot(b - origin))
        .sum::<f64>()
}

/// Returns the centre of mass of the area; the mean of the points if the area vanishes.
pub fn centroid(points: &[DVec2]) -> DVec2 {
    let Some(&origin) = points.first() else {
        return DVec2::ZERO;
    };
    let area = signed_area(points);
    // A line or a point has no area, so the weights would vanish.
    if area.abs() < 1e-9 {
        return points.iter().sum::<DVec2>() / points.len() as f64;
    }
    let moment: DVec2 = edges(points)
        .map(|(a, b)| (a + b - 2.0 * origin) * (a - origin).perp_dot(b - origin))
        .sum();
    origin + moment / (6.0 * area)
}

/// Whether a point is inside (even-odd rule). O(n).
pub fn contains(points: &[DVec2], point: DVec2) -> bool {
    let Some(&last) = points.last() else {
        return false;
    };
    let (mut inside, mut a) = (false, last);
    for &b in points {
        // An edge counts if it crosses the ray from the point towards +x. The lower end belongs to
        // the edge but the upper end does not. A corner on the ray therefore counts once if the
        // outline crosses the ray there, and twice or not at all if the outline only touches the
        // ray.
        let crosses = (a.y > point.y) != (b.y > point.y)
            && point.x < (b.x - a.x) * (point.y - a.y) / (b.y - a.y) + a.x;
        inside ^= crosses;
        a = b;
    }
    inside
}

/// Returns the distance from a point to the polygon's area, m; 0 inside.
pub fn distance(points: &[DVec2], point: DVec2) -> f64 {
    if contains(points, point) {
        0.0
    } else {
        boundary_distance(points, point)
    }
}

/// Returns the distance from a point to the polygon's boundary, m. O(n).
pub fn boundary_distance(points: &[DVec2], point: DVec2) -> f64 {
    // The smallest distance is the root of the smallest squared distance, so one root is enough.
    edges(points)
        .map(|(a, b)| (closest_on_segment(a, b, point) - point).length_squared())
        .fold(f64::INFINITY, f64::min)
        .sqrt()
}

/// Returns the point of the straight segment from `a` to `b` closest to `point`.
#[inline]
pub fn closest_on_segment(a: DVec2, b: DVec2, point: DVec2) -> DVec2 {
    let chord = b - a;
    let squared = chord.length_squared();
    if squared == 0.0 {
        return a;
    }
    a + chord * ((point - a).dot(chord) / squared).clamp(0.0, 1.0)
}

/// Whether two straight segments cross or touch.
pub fn segments_cross(a: DVec2, b: DVec2, c: DVec2, d: DVec2) -> bool {
    let side = |p: DVec2, q: DVec2, r: DVec2| (q - p).perp_dot(r - p);
    let (c_side, d_side) = (side(a, b, c), side(a, b, d));
    let (a_side, b_side) = (side(c, d, a), side(c, d, b));
    // If both ends of one segment are strictly on one side of the other segment, the segments are
    // apart.
    let separate = |u: f64, v: f64| (u > 0.0 && v > 0.0) || (u < 0.0 && v < 0.0);
    if separate(c_side, d_side) || separate(a_side, b_side) {
        return false;
    }
    // Collinear segments touch only if their bounding boxes do.
    let (low, high) = (a.min(b), a.max(b));
    let (low2, high2) = (c.min(d), c.max(d));
    low.x <= high2.x && low2.x <= high.x && low.y <= high2.y && low2.y <= high.y
}

/// Whether no two edges except neighbours cross. O(n^2).
pub fn is_simple(points: &[DVec2]) -> bool {
    let n = points.len();
    if n < 3 {
        return false;
    }
    for i in 0..n {
        for j in i + 2..n {
            // The last edge is a neighbour of the first.
            if i == 0 && j == n - 1 {
                continue;
            }
            let (a, b) = (points[i], points[i + 1]);
            if segments_cross(a, b, points[j], points[(j + 1) % n]) {
                return false;
            }
        }
    }
    true
}

/// Returns the convex hull, counter-clockwise, without collinear points, by the monotone chain of
/// [Andrew 1979]. O(n log n).
pub fn convex_hull(points: &[DVec2]) -> Vec<DVec2> {
    let mut sorted: Vec<_> = points.to_vec();
    sorted.sort_by(|a, b| a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)));
    sorted.dedup();
    if sorted.len() < 3 {
        return sorted;
    }
    // Builds one half of the hull from sorted points. Points at which the chain turns right or runs
    // straight are not on the hull. The last point of each half is the first point of the other
    // half.
    let half = |points: &mut dyn Iterator<Item = DVec2>| {
        let mut chain: Vec<DVec2> = Vec::new();
        for point in points {
            while let [.., a, b] = chain[..] {
                if (b - a).perp_dot(point - b) > 0.0 {
                    break;
                }
                chain.pop();
            }
            chain.push(point);
        }
        chain.pop();
        chain
    };
    let mut hull = half(&mut sorted.iter().copied());
    hull.extend(half(&mut sorted.iter().rev().copied()));
    hull
}

/// Returns an outward vector for each corner of a counter-clockwise ring. Moving each corner by `d`
/// times its vector moves every edge outward by `d`. No vector is longer than `limit`.
pub fn outward_mitres(ring: &[DVec2], limit: f64) -> Vec<DVec2> {
    let n = ring.len();
    (0..n)
        .map(|i| {
            let before = (ring[i] - ring[(i + n - 1) % n]).normalize_or_zero();
            let after = (ring[(i + 1) % n] - ring[i]).normalize_or_zero();
            let outward = |d: DVec2| DVec2::new(d.y, -d.x);
            let normal = outward(before + after).normalize_or(outward(before));
            // The sharper the corner, the longer the vector, up to the limit, so that both edges move by the
            // same distance.
            normal / normal.dot(outward(after)).max(1.0 / limit)
        })
        .collect()
}

/// Normalises a ring for drawing: counter-clockwise, without equal neighbours, and without
/// repeating the first point at the end. Fewer than three points may remain.
pub fn tidy_ring(points: &[DVec2]) -> Vec<DVec2> {
    const EQUAL: f64 = 1e-8;
    let mut ring: Vec<DVec2> = points.to_vec();
    ring.dedup_by(|a, b| (*a - *b).length_squared() <= EQUAL);
    // If a ring repeated its first point at the end, it would have an edge without a direction.
    while ring.len() > 1 && (ring[0] - ring[ring.len() - 1]).length_squared() <= EQUAL {
        ring.pop();
    }
    if signed_area(&ring) < 0.0 {
        ring.reverse();
    }
    ring
}

/// Returns the edges as pairs of points, including the closing edge.
pub fn edges(points: &[DVec2]) -> impl Iterator<Item = (DVec2, DVec2)> + '_ {
    // The closing edge comes first, so that a single pass without an index is enough.
    let mut from = points.last().copied().unwrap_or_default();
    points
        .iter()
        .map(move |&to| (std::mem::replace(&mut from, to), to))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn square() -> Vec<DVec2> {
        [(0.0, 0.0), (4.0, 0.0), (4.0, 4.0), (0.0, 4.0)]
            .map(DVec2::from)
            .to_vec()
    }

    #[test]
    fn a_square_has_its_area_centre_and_inside() {
        assert_eq!(signed_area(&square()), 16.0);
        assert_eq!(centroid(&square()), DVec2::splat(2.0));
        assert!(contains(&square(), DVec2::splat(1.0)));
        assert!(!contains(&square(), DVec2::new(5.0, 1.0)));
        assert_eq!(distance(&square(), DVec2::new(7.0, 1.0)), 3.0);
        assert_eq!(boundary_distance(&square(), DVec2::splat(1.0)), 1.0);
    }

    #[test]
    fn a_bow_tie_is_not_simple() {
        let bow: Vec<_> = [(0.0, 0.0), (4.0, 4.0), (4.0, 0.0), (0.0, 4.0)]
            .map(DVec2::from)
            .into();
        assert!(is_simple(&square()) && !is_simple(&bow));
    }

    #[test]
    fn the_hull_drops_inner_and_collinear_points() {
        let mut points = square();
        points.extend([DVec2::splat(2.0), DVec2::new(2.0, 0.0)]);
        assert_eq!(convex_hull(&points), square());
    }
}
