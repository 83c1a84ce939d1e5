//! Panels that are closed by default. They open below the map, where there is more width.

use super::{Pane, bottom};
use egui_tiles::{Container, Linear, LinearDir, Tile, TileId, Tree};

/// Share of the column that the map keeps when a panel is opened below the map.
const MAP: f32 = 1.2;

/// Opens a panel below the map, in a new tile or among the tabs of a panel opened earlier. If the user has
/// put the map among tabs, the panel joins those tabs.
pub(super) fn open_below_map(tree: &mut Tree<Pane>, pane: Pane) {
    let map = tree.tiles.find_pane(&Pane::Map);
    let (None, Some(map)) = (tree.tiles.find_pane(&pane), map) else {
        return;
    };
    let is_timeline = pane == bottom::TIMELINE;
    let pane = tree.tiles.insert_pane(pane);
    let Some(parent) = tree.tiles.parent_of(map) else {
        tree.root = Some(column(tree, map, pane));
        return;
    };
    let Some(Tile::Container(container)) = tree.tiles.get(parent) else {
        return;
    };
    match container {
        Container::Tabs(_) | Container::Grid(_) => {
            tree.move_tile_to_container(pane, parent, usize::MAX, false);
        }
        Container::Linear(column) if column.dir == LinearDir::Vertical => {
            let tabs = tabs_below(tree, column, map).filter(|_| !is_timeline);
            match tabs {
                Some(tabs) => tree.move_tile_to_container(pane, tabs, usize::MAX, false),
                None if is_timeline => insert(tree, parent, pane, Place::Last),
                None => insert(tree, parent, pane, Place::After(map)),
            }
        }
        Container::Linear(_) => put_in_column(tree, parent, map, pane),
    }
}

/// Replaces the map in a row by a column with the map and a panel below it.
fn put_in_column(tree: &mut Tree<Pane>, row: TileId, map: TileId, pane: TileId) {
    let column = column(tree, map, pane);
    if let Some(Tile::Container(Container::Linear(row))) = tree.tiles.get_mut(row) {
        // The column takes the place and the share of the map.
        let share = row.shares[map];
        for child in row.children.iter_mut().filter(|child| **child == map) {
            *child = column;
        }
        row.shares.set_share(column, share);
    }
}

/// Returns the tabs in the column of the map that an opened panel joins. The timeline is not high
/// enough for other panels.
fn tabs_below(tree: &Tree<Pane>, column: &Linear, map: TileId) -> Option<TileId> {
    let is_tabs = |id: &TileId| {
        let tile = tree.tiles.get(*id);
        matches!(tile, Some(Tile::Container(Container::Tabs(_))))
            && !bottom::holds_timeline(tree, *id)
    };
    let mut others = column.children.iter().copied().filter(|id| *id != map);
    others.find(is_tabs)
}

/// Place of new tabs in a column.
enum Place {
    /// Below a tile.
    After(TileId),
    /// At the bottom.
    Last,
}

/// Inserts a panel into a column, as a new group of tabs.
fn insert(tree: &mut Tree<Pane>, column: TileId, pane: TileId, place: Place) {
    let tabs = tree.tiles.insert_tab_tile(vec![pane]);
    if let Some(Tile::Container(Container::Linear(column))) = tree.tiles.get_mut(column) {
        let end = column.children.len();
        let at = match place {
            Place::After(tile) => {
                column.shares.set_share(tabs, column.shares[tile] / MAP);
                let known = column.children.iter().position(|child| *child == tile);
                known.map_or(end, |known| known + 1)
            }
            Place::Last => end,
        };
        column.children.insert(at, tabs);
    }
}

/// Puts a panel below the map in a new column.
fn column(tree: &mut Tree<Pane>, map: TileId, pane: TileId) -> TileId {
    let tabs = tree.tiles.insert_tab_tile(vec![pane]);
    let mut column = Linear::new(LinearDir::Vertical, vec![map, tabs]);
    column.shares.set_share(map, MAP);
    tree.tiles.insert_container(Container::Linear(column))
}

#[cfg(test)]
mod tests {
    use super::super::docking::{first_tree, widen_side};
    use super::*;
    use crate::panel::PanelId;
    use egui_tiles::Tiles;

    const EXPERIMENT: Pane = Pane::Panel(PanelId::Experiment);
    const HISTORY: Pane = Pane::Panel(PanelId::History);

    fn count(tree: &Tree<Pane>, pane: Pane) -> usize {
        let is_own = |tile: &&Tile<Pane>| matches!(tile, Tile::Pane(own) if *own == pane);
        tree.tiles.tiles().filter(is_own).count()
    }

    #[test]
    fn a_panel_is_opened_once_and_the_others_keep_their_room() {
        let mut tree = first_tree();
        open_below_map(&mut tree, EXPERIMENT);
        open_below_map(&mut tree, EXPERIMENT);
        assert_eq!(count(&tree, EXPERIMENT), 1);
        assert_eq!(count(&tree, Pane::Map), 1);
        // A narrow window still has room for the side.
        assert!(widen_side(&mut tree, 576.0).is_some());
    }

    #[test]
    fn a_panel_is_opened_wherever_the_map_has_been_put() {
        let mut tiles = Tiles::default();
        let map = tiles.insert_pane(Pane::Map);
        let mut alone = Tree::new(egui::Id::unique("alone"), map, tiles);
        open_below_map(&mut alone, EXPERIMENT);
        assert_eq!(count(&alone, EXPERIMENT), 1);
        assert!(alone.root() != Some(map));
        let mut tiles = Tiles::default();
        let map = tiles.insert_pane(Pane::Map);
        let history = tiles.insert_pane(HISTORY);
        let tabs = tiles.insert_tab_tile(vec![map, history]);
        let mut among = Tree::new(egui::Id::unique("among"), tabs, tiles);
        open_below_map(&mut among, EXPERIMENT);
        let experiment = among.tiles.find_pane(&EXPERIMENT);
        assert_eq!(
            experiment.and_then(|id| among.tiles.parent_of(id)),
            Some(tabs)
        );
        // A second panel joins the first below the map.
        let mut tree = first_tree();
        open_below_map(&mut tree, EXPERIMENT);
        let first = tree.tiles.find_pane(&EXPERIMENT);
        let below = first.and_then(|id| tree.tiles.parent_of(id));
        if let Some(history) = tree.tiles.find_pane(&HISTORY) {
            tree.remove_recursively(history);
        }
        open_below_map(&mut tree, HISTORY);
        let second = tree.tiles.find_pane(&HISTORY);
        assert_eq!(second.and_then(|id| tree.tiles.parent_of(id)), below);
    }

    #[test]
    fn the_timeline_stays_at_the_bottom_and_no_panel_joins_it() {
        let mut tree = first_tree();
        open_below_map(&mut tree, bottom::TIMELINE);
        open_below_map(&mut tree, EXPERIMENT);
        let tabs = |tree: &Tree<Pane>, pane: Pane| {
            let pane = tree.tiles.find_pane(&pane);
            pane.and_then(|pane| tree.tiles.parent_of(pane))
        };
        let (timeline, experiment) = (tabs(&tree, bottom::TIMELINE), tabs(&tree, EXPERIMENT));
        let column = timeline.and_then(|tabs| tree.tiles.parent_of(tabs));
        let column = column.and_then(|column| tree.tiles.get_container(column));
        let children: Vec<TileId> = column
            .into_iter()
            .flat_map(|c| c.children().copied())
            .collect();
        let map = tree.tiles.find_pane(&Pane::Map);
        let expected: Vec<TileId> = [map, experiment, timeline].into_iter().flatten().collect();
        assert_eq!(expected.len(), 3);
        assert_eq!(children, expected);
    }
}
