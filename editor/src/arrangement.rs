//! Operations that align, distribute or mirror objects.

use roadwright_geometry::DVec2;

/// An operation that aligns or distributes objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrangement {
    /// Aligns western edges.
    West,
    /// Aligns eastern edges.
    East,
    /// Aligns southern edges.
    South,
    /// Aligns northern edges.
    North,
    /// Distributes centres evenly from west to east.
    SpreadEast,
    /// Distributes centres evenly from south to north.
    SpreadNorth,
}

impl Arrangement {
    /// All arrangements, in the order of menus.
    pub const ALL: [Self; 6] = [
        Self::West,
        Self::East,
        Self::South,
        Self::North,
        Self::SpreadEast,
        Self::SpreadNorth,
    ];

    /// Returns the name in menus and in the history.
    pub fn title(self) -> &'static str {
        match self {
            Self::West => "Align west edges",
            Self::East => "Align east edges",
            Self::South => "Align south edges",
            Self::North => "Align north edges",
            Self::SpreadEast => "Distribute from west to east",
            Self::SpreadNorth => "Distribute from south to north",
        }
    }

    /// Returns the displacement of each bounding box, m.
    pub(crate) fn shifts(self, boxes: &[(DVec2, DVec2)]) -> Vec<DVec2> {
        let low = |axis: usize| {
            boxes
                .iter()
                .map(|b| b.0[axis])
                .fold(f64::INFINITY, f64::min)
        };
        let high = |axis: usize| {
            boxes
                .iter()
                .map(|b| b.1[axis])
                .fold(f64::NEG_INFINITY, f64::max)
        };
        let to = |axis: usize, by: f64| {
            if axis == 0 {
                DVec2::new(by, 0.0)
            } else {
                DVec2::new(0.0, by)
            }
        };
        let low_edges = |axis: usize| {
            let line = low(axis);
            boxes.iter().map(|b| to(axis, line - b.0[axis])).collect()
        };
        let high_edges = |axis: usize| {
            let line = high(axis);
            boxes.iter().map(|b| to(axis, line - b.1[axis])).collect()
        };
        match self {
            Self::West => low_edges(0),
            Self::East => high_edges(0),
            Self::South => low_edges(1),
            Self::North => high_edges(1),
            Self::SpreadEast => spread(boxes, 0, to),
            Self::SpreadNorth => spread(boxes, 1, to),
        }
    }
}

/// Returns the displacements that space the centres evenly between the first and the last.
fn spread(boxes: &[(DVec2, DVec2)], axis: usize, to: impl Fn(usize, f64) -> DVec2) -> Vec<DVec2> {
    let middle = |i: usize| 0.5 * (boxes[i].0[axis] + boxes[i].1[axis]);
    let mut order: Vec<usize> = (0..boxes.len()).collect();
    order.sort_by(|a, b| middle(*a).total_cmp(&middle(*b)));
    let (Some(first), Some(last)) = (order.first(), order.last()) else {
        return Vec::new();
    };
    let (start, end) = (middle(*first), middle(*last));
    // There are n - 1 gaps between n centres. The bound avoids a division by zero for a single box.
    let gaps = (boxes.len().max(2) - 1) as f64;
    let mut shifts = vec![DVec2::ZERO; boxes.len()];
    for (place, index) in order.iter().enumerate() {
        let goal = start + (end - start) * place as f64 / gaps;
        shifts[*index] = to(axis, goal - middle(*index));
    }
    shifts
}

/// Direction in which a selection is mirrored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MirrorAxis {
    /// Exchanges left and right.
    LeftRight,
    /// Exchanges top and bottom.
    UpDown,
}
