//! Default docking of the panels, and their width beside the map.

use super::Pane;
use crate::panel::{Dock, PanelId};
use egui_tiles::{Container, Linear, LinearDir, Tile, TileId, Tiles, Tree};

/// Minimum width of the panels beside the map, points. At this width, a row has room for a name and
/// a value.
const LEAST_SIDE: f32 = 300.0;

/// Creates the default layout of the panels.
pub(super) fn first_tree() -> Tree<Pane> {
    let mut tiles = Tiles::default();
    let map = tiles.insert_pane(Pane::Map);
    let [upper, lower] = [Dock::Upper, Dock::Lower].map(|dock| {
        let panels = PanelId::docked(dock);
        panels
            .map(|panel| tiles.insert_pane(Pane::Panel(panel)))
            .collect::<Vec<TileId>>()
    });
    let upper = tiles.insert_tab_tile(upper);
    let lower = tiles.insert_tab_tile(lower);
    let mut side = Linear::new(LinearDir::Vertical, vec![upper, lower]);
    // The Inspector is long, and the lists below it scroll. The map takes most of the window.
    side.shares.set_share(upper, 2.6);
    side.shares.set_share(lower, 1.0);
    let side = tiles.insert_container(Container::Linear(side));
    let mut all = Linear::new(LinearDir::Horizontal, vec![map, side]);
    all.shares.set_share(map, 2.75);
    all.shares.set_share(side, 1.0);
    let root = tiles.insert_container(Container::Linear(all));
    Tree::new(egui::Id::unique("panels"), root, tiles)
}

/// The column beside the map after it was widened. In a narrow window, it is wider than its share of the
/// window.
pub(super) struct Widened {
    row: TileId,
    side: TileId,
    own: f32,
    given: f32,
}

/// Widens the column beside the map to its minimum, if the panels are still in one column. Returns `None` if
/// it is already wide enough.
pub(super) fn widen_side(tree: &mut Tree<Pane>, width: f32) -> Option<Widened> {
    let row = tree.root()?;
    let is_map = |id: TileId| holds_map(&tree.tiles, id);
    let Some(Tile::Container(Container::Linear(all))) = tree.tiles.get(row) else {
        return None;
    };
    let [a, b] = all.children[..] else {
        return None;
    };
    let (map, side) = match (is_map(a), is_map(b)) {
        (true, false) => (a, b),
        (false, true) => (b, a),
        _ => return None,
    };
    let (own, others) = (all.shares[side], all.shares[map]);
    // At most 55 % of the window, because the user mainly works on the map.
    let least = LEAST_SIDE.min(0.55 * width);
    if all.dir != LinearDir::Horizontal || own * width >= least * (own + others) {
        return None;
    }
    let given = others * least / (width - least);
    set_share(tree, row, side, given);
    Some(Widened {
        row,
        side,
        own,
        given,
    })
}

/// Whether a tile is the map or contains it.
fn holds_map(tiles: &Tiles<Pane>, id: TileId) -> bool {
    match tiles.get(id) {
        Some(Tile::Pane(pane)) => *pane == Pane::Map,
        Some(Tile::Container(container)) => {
            container.children().any(|child| holds_map(tiles, *child))
        }
        None => false,
    }
}

impl Widened {
    /// Restores the original share of the column, unless the user has dragged the border meanwhile. The
    /// column therefore has its original share when the window becomes wider again.
    pub(super) fn restore(self, tree: &mut Tree<Pane>) {
        if let Some(Tile::Container(Container::Linear(all))) = tree.tiles.get(self.row)
            && all.shares[self.side] == self.given
        {
            set_share(tree, self.row, self.side, self.own);
        }
    }
}

fn set_share(tree: &mut Tree<Pane>, row: TileId, side: TileId, share: f32) {
    if let Some(Tile::Container(Container::Linear(all))) = tree.tiles.get_mut(row) {
        all.shares.set_share(side, share);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;

    fn share_of_side(tree: &Tree<Pane>) -> f32 {
        let Some(Tile::Container(Container::Linear(all))) = tree.tiles.get(tree.root().unwrap())
        else {
            panic!("the panels stand beside the map at first");
        };
        let [map, side] = all.children[..] else {
            panic!("{all:?}");
        };
        all.shares[side] / (all.shares[map] + all.shares[side])
    }

    #[test]
    fn the_panels_have_room_in_narrow_windows_and_their_share_in_wide_ones() {
        let mut tree = first_tree();
        let before = share_of_side(&tree);
        assert!(widen_side(&mut tree, 2000.0).is_none());
        for (width, side) in [(960.0, 300.0), (576.0, 300.0), (400.0, 220.0)] {
            let widened = widen_side(&mut tree, width).unwrap();
            assert!(
                (share_of_side(&tree) * width - side).abs() < 0.01,
                "{width}"
            );
            widened.restore(&mut tree);
            assert!((share_of_side(&tree) - before).abs() < 1e-6);
        }
    }
}
