//! The row of the timeline along the bottom of the map. It keeps its height in points, whereas other tiles keep
//! their share of the window.

use super::Pane;
use crate::panel::PanelId;
use egui_tiles::{Container, LinearDir, Tile, TileId, Tree};

/// The pane of the timeline.
pub(super) const TIMELINE: Pane = Pane::Panel(PanelId::Timeline);
/// Minimum height of the timeline, points.
const LEAST: f32 = 80.0;
/// Maximum height of the timeline, as a share of its column.
const MOST: f32 = 0.6;

/// The row of the timeline after its height was set.
pub(super) struct BottomRow {
    column: TileId,
    tile: TileId,
    /// Height of the column, points.
    whole: f32,
    /// Share of the column's height that the row was given.
    given: f32,
}

/// Whether a tile is the timeline or contains it.
pub(super) fn holds_timeline(tree: &Tree<Pane>, tile: TileId) -> bool {
    match tree.tiles.get(tile) {
        Some(Tile::Pane(pane)) => *pane == TIMELINE,
        Some(Tile::Container(container)) => container
            .children()
            .any(|child| holds_timeline(tree, *child)),
        None => false,
    }
}

/// Whether the timeline is visible: open, and the active tab of its group.
pub(super) fn is_shown(tree: &Tree<Pane>) -> bool {
    let Some(mut tile) = tree.tiles.find_pane(&TIMELINE) else {
        return false;
    };
    while let Some(parent) = tree.tiles.parent_of(tile) {
        if let Some(Tile::Container(Container::Tabs(tabs))) = tree.tiles.get(parent)
            && tabs.active.is_some_and(|active| active != tile)
        {
            return false;
        }
        tile = parent;
    }
    true
}

/// Gives the row of the timeline a height in points. Returns `None` if the timeline is closed, or
/// if the user has moved it elsewhere.
pub(super) fn give_height(tree: &mut Tree<Pane>, height: f32) -> Option<BottomRow> {
    let map = tree.tiles.find_pane(&Pane::Map)?;
    let column = tree.tiles.parent_of(map)?;
    // A new column has no rectangle yet, but it has the place where the map was.
    let rect = tree.tiles.rect(column).or(tree.tiles.rect(map))?;
    let Some(Tile::Container(Container::Linear(linear))) = tree.tiles.get(column) else {
        return None;
    };
    if linear.dir != LinearDir::Vertical {
        return None;
    }
    let is_row = |tile: &TileId| holds_timeline(tree, *tile);
    let tile = linear.children.iter().copied().find(is_row)?;
    let others = linear.children.iter().filter(|child| **child != tile);
    let others: f32 = others.map(|child| linear.shares[*child]).sum();
    let whole = rect.height();
    let height = height.clamp(LEAST, (MOST * whole).max(LEAST));
    let given = others * height / (whole - height).max(1.0);
    if let Some(Tile::Container(Container::Linear(linear))) = tree.tiles.get_mut(column) {
        linear.shares.set_share(tile, given);
    }
    Some(BottomRow {
        column,
        tile,
        whole,
        given,
    })
}

impl BottomRow {
    /// Returns the height that the user has given to the row by dragging its border, points; `None` if the
    /// border was not dragged.
    pub(super) fn dragged(&self, tree: &Tree<Pane>) -> Option<f32> {
        let Some(Tile::Container(Container::Linear(linear))) = tree.tiles.get(self.column) else {
            return None;
        };
        // The row may have been closed or moved meanwhile.
        let is_child = linear.children.contains(&self.tile);
        let share = linear.shares[self.tile];
        if !is_child || share == self.given {
            return None;
        }
        let others = linear.children.iter().filter(|child| **child != self.tile);
        let others: f32 = others.map(|child| linear.shares[*child]).sum();
        let sum = others + share;
        (sum > 0.0).then(|| self.whole * share / sum)
    }
}
