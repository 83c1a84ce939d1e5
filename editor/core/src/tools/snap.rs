//! Snapping of the pointer to nodes, roads and the grid. Ends of roads have their own rule, in `join`.

use super::{Modifiers, Pointer, ToolContext};
use roadwright_geometry::DVec2;
use roadwright_scenario::ObjectId;

/// Kind of target to which a point snapped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SnapKind {
    /// The point did not snap.
    Free,
    /// A node: a junction or the end of a road.
    Node,
    /// A point on a road.
    Road,
    /// A grid intersection.
    Grid,
}

/// A snapped point and its target.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Snap {
    /// The snapped point, m.
    pub at: DVec2,
    /// Kind of target to which the point has snapped.
    pub kind: SnapKind,
}

/// Returns the spacing of the grid at a scale: 1, 2 or 5 times a power of ten, at least 12 points.
pub fn grid_spacing(scale: f64) -> f64 {
    let least = 12.0 * scale;
    let mut decade = 0.01;
    loop {
        for step in [1.0, 2.0, 5.0] {
            // The second condition ends the search for a NaN scale.
            if decade * step >= least || decade > 1e6 {
                return decade * step;
            }
        }
        decade *= 10.0;
    }
}

/// Snaps a point only to the grid. Other snap targets are ignored because roads would attract objects placed
/// beside them.
pub(super) fn snap_to_grid(pointer: Pointer, context: &ToolContext<'_>) -> DVec2 {
    if context.options.snap.grid {
        let caught = snap(pointer.at, pointer.modifiers, context);
        if caught.kind == SnapKind::Grid {
            return caught.at;
        }
    }
    pointer.at
}

/// Snaps a point to nodes, or else to roads, or else to the grid. Ctrl suspends snapping.
pub fn snap(point: DVec2, modifiers: Modifiers, context: &ToolContext<'_>) -> Snap {
    let free = Snap {
        at: point,
        kind: SnapKind::Free,
    };
    if modifiers.ctrl {
        return free;
    }
    let options = context.options.snap;
    let is_hidden = |object| context.options.is_hidden(context.scenario, object);
    // Nodes come first, because a node lies on its roads and would never be found otherwise.
    if options.nodes
        && let Some((id, at)) = context.scene.nearest_node(point, context.reach())
        && !is_hidden(ObjectId::Node(id))
    {
        return Snap {
            at,
            kind: SnapKind::Node,
        };
    }
    if options.roads
        && let Some((id, _, at)) = context.scene.nearest_on_road(point, context.reach())
        && !is_hidden(ObjectId::Road(id))
    {
        return Snap {
            at,
            kind: SnapKind::Road,
        };
    }
    if options.grid {
        let step = grid_spacing(context.scale);
        return Snap {
            at: (point / step).round() * step,
            kind: SnapKind::Grid,
        };
    }
    free
}

/// Returns the grid intersection nearest to a point, if the grid is a snap target.
pub(super) fn on_grid(point: DVec2, context: &ToolContext<'_>) -> Option<DVec2> {
    let step = grid_spacing(context.scale);
    let is_on = context.options.snap.grid;
    is_on.then(|| (point / step).round() * step)
}

/// Returns the direction from `from` to `to`. If it is within 3 degrees of a step of 15 degrees relative to
/// `reference`, it is rotated to that step.
pub(super) fn angle_step(from: DVec2, to: DVec2, reference: f64) -> DVec2 {
    let step = std::f64::consts::PI / 12.0;
    let offset = to - from;
    let angle = roadwright_geometry::heading_of(offset) - reference;
    let snapped = (angle / step).round() * step;
    // About 3 degrees, which is a fifth of a step, so that other angles remain possible.
    if (angle - snapped).abs() > 0.05 {
        return to;
    }
    from + offset.length() * roadwright_geometry::unit(reference + snapped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_are_round_numbers() {
        assert_eq!(grid_spacing(0.05), 1.0);
        assert_eq!(grid_spacing(0.1), 2.0);
        assert_eq!(grid_spacing(1.0), 20.0);
    }

    #[test]
    fn angles_are_caught_only_close_to_a_step() {
        let caught = angle_step(DVec2::ZERO, DVec2::new(10.0, 0.2), 0.0);
        assert!(caught.y.abs() < 1e-12);
        let free = angle_step(DVec2::ZERO, DVec2::new(10.0, 1.3), 0.0);
        assert_eq!(free.y, 1.3);
    }
}
