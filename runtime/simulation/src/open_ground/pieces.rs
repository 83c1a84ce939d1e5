//! Cuts large areas into pieces, each of which lies in few tiles of a map.

use roadwright_geometry::{DVec2, polygon};

/// Edge length of the grid squares into which areas are cut, m. Smaller squares make each piece
/// faster to draw, but there are more of them.
const SQUARE: f64 = 64.0;
/// Maximum number of squares per area. Larger areas are cut into larger squares.
const MOST_SQUARES: f64 = 10_000.0;

/// Cuts an area with holes into pieces. Cuts run along multiples of the edge length. No cell has
/// its centre on a cut, so each cell lies in exactly one piece. O(corners log squares + squares).
pub(super) fn cut(rings: &[&[DVec2]]) -> Vec<Vec<DVec2>> {
    let ring = joined(rings);
    let Some((low, high)) = polygon::bounds(&ring) else {
        return Vec::new();
    };
    let size = high - low;
    let mut square = SQUARE;
    while (size.x / square) * (size.y / square) > MOST_SQUARES {
        square *= 2.0;
    }
    let mut pieces = Vec::new();
    halve(ring, square, &mut pieces);
    pieces
}

/// Returns a single ring for an area with holes. Each hole is joined to the outline by a line that is
/// traversed twice. The even-odd rule then cuts out the hole and ignores the line.
fn joined(rings: &[&[DVec2]]) -> Vec<DVec2> {
    let Some((outline, holes)) = rings.split_first() else {
        return Vec::new();
    };
    let mut ring = outline.to_vec();
    let gate = outline.first().copied();
    for hole in holes.iter().filter(|hole| hole.len() >= 3) {
        ring.extend(gate);
        ring.extend(hole.iter());
        ring.extend(hole.first());
    }
    if rings.len() > 1 {
        ring.extend(gate);
    }
    ring
}

/// Cuts a ring in two, recursively, until each part lies in one square.
fn halve(ring: Vec<DVec2>, square: f64, pieces: &mut Vec<Vec<DVec2>>) {
    let Some((low, high)) = polygon::bounds(&ring) else {
        return;
    };
    let first = (low / square).floor();
    let last = (high / square).ceil();
    let squares = last - first;
    if squares.x <= 1.0 && squares.y <= 1.0 {
        if ring.len() >= 3 && polygon::signed_area(&ring) != 0.0 {
            pieces.push(ring);
        }
        return;
    }
    let along_x = squares.x >= squares.y;
    let axis = if along_x { DVec2::X } else { DVec2::Y };
    let at = ((first + (0.5 * squares).floor()) * square).dot(axis);
    let [below, above] = [-1.0, 1.0].map(|side| half(&ring, axis, at, side));
    halve(below, square, pieces);
    halve(above, square, pieces);
}

/// Returns the part of a ring on one side of a line. The line is perpendicular to `axis` and crosses it at
/// `at`.
fn half(ring: &[DVec2], axis: DVec2, at: f64, side: f64) -> Vec<DVec2> {
    let beyond = |point: DVec2| side * (point.dot(axis) - at);
    let mut part = Vec::new();
    for (a, b) in polygon::edges(ring) {
        let (from, to) = (beyond(a), beyond(b));
        if from >= 0.0 {
            part.push(a);
        }
        if from * to < 0.0 {
            let crossing = a.lerp(b, from / (from - to));
            // Placed exactly on the line, so that the next cut also finds it there.
            part.push(crossing - axis * crossing.dot(axis) + axis * at);
        }
    }
    part
}

#[cfg(test)]
mod tests {
    use super::*;

    fn square(half: f64, middle: DVec2) -> Vec<DVec2> {
        let corners = [(-half, -half), (half, -half), (half, half), (-half, half)];
        corners.map(|corner| middle + DVec2::from(corner)).to_vec()
    }

    #[test]
    fn every_point_of_an_area_lies_in_one_piece_and_none_beside_it() {
        let outline = square(150.0, DVec2::new(10.0, -20.0));
        let lake = square(70.0, DVec2::new(30.0, 0.0));
        let pond = square(20.0, DVec2::new(-90.0, -120.0));
        let pieces = cut(&[&outline, &lake, &pond]);
        assert!((20..60).contains(&pieces.len()), "{}", pieces.len());
        for x in -200..200 {
            for y in -200..200 {
                let point = DVec2::new(f64::from(x) + 0.5, f64::from(y) + 0.5);
                let found = pieces
                    .iter()
                    .filter(|piece| polygon::contains(piece, point));
                let is_inside = polygon::contains(&outline, point)
                    && !polygon::contains(&lake, point)
                    && !polygon::contains(&pond, point);
                assert_eq!(found.count(), usize::from(is_inside), "{point}");
            }
        }
    }

    #[test]
    fn pieces_of_a_sea_are_larger_and_not_many() {
        let sea = square(1e5, DVec2::ZERO);
        let pieces = cut(&[&sea]);
        assert!((2_000..=10_500).contains(&pieces.len()), "{}", pieces.len());
        assert!(cut(&[]).is_empty());
        assert!(cut(&[&[]]).is_empty());
    }
}
