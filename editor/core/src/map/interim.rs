//! The newest land and obstacles, until the workers have drawn their tiles.
//!
//! An edit of land or obstacles needs neither the junctions nor the roads of the scene, so the few
//! tiles that it changes are triangulated immediately. These triangles replace those of the workers
//! until the map shows the edit.

use super::mesh::{Ink, Level, Mesh};
use super::objects;
use super::tiles::{self, Contents, TileId, Tiles};
use crate::scene::Scene;
use roadwright_geometry::{DVec2, polygon};
use roadwright_scenario::{Land, LandId, Obstacle, ObstacleId, Scenario};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Maximum number of changed objects that are drawn immediately. Only pasting or importing a large
/// part of a map changes more.
const MOST_OBJECTS: usize = 64;
/// Maximum number of objects in a tile that is drawn immediately.
const MOST_IN_TILE: usize = 4000;

/// Inputs of interim tiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InterimKey {
    /// Revision of the document.
    pub document: u64,
    /// Revision of the scene from which the tiles were made.
    pub tiles: u64,
    /// Revision of the scene that the map shows.
    pub drawn: u64,
    /// Level of detail.
    pub level: Level,
    /// Colour scheme in which the tiles are drawn.
    pub ink: Ink,
}

/// A scene and its tiles.
#[derive(Debug, Clone, Copy)]
pub struct Sorted<'a> {
    /// The scene whose objects are sorted into tiles.
    pub scene: &'a Scene,
    /// The tiles into which the scene is sorted.
    pub tiles: &'a Tiles,
}

/// Tiles that differ from the workers' tiles.
#[derive(Debug, Default)]
pub struct Interim {
    /// Inputs of the tiles; `None` before the first edit.
    pub key: Option<InterimKey>,
    /// Land and yards, and fixed obstacles of the tiles that differ.
    pub tiles: BTreeMap<TileId, [Arc<Mesh>; 2]>,
    /// Loose obstacles at rest; `None` if they do not differ.
    pub loose: Option<Arc<Mesh>>,
}

impl Interim {
    /// Draws the tiles of `scenario` whose land or obstacles differ from the scene on the map
    /// (`drawn`) or from the sorted scene, whose tiles may not have been drawn yet. O(objects in
    /// the three scenarios).
    pub fn between(
        drawn: &Scene,
        Sorted {
            scene: sorted,
            tiles,
        }: Sorted<'_>,
        scenario: &Scenario,
        key: InterimKey,
    ) -> Self {
        let none = Self {
            key: Some(key),
            ..Self::default()
        };
        let old = [&*drawn.scenario, &*sorted.scenario];
        let obstacles = old.map(|old| differing(old.obstacles(), scenario.obstacles()));
        let obstacles: BTreeSet<ObstacleId> = obstacles.into_iter().flatten().collect();
        let land = old.map(|old| differing(old.land(), scenario.land()));
        let land: BTreeSet<LandId> = land.into_iter().flatten().collect();
        if obstacles.len() + land.len() > MOST_OBJECTS {
            return none;
        }
        let mut changed: BTreeSet<TileId> = BTreeSet::new();
        let versions = [old[0], old[1], scenario];
        for scenario in versions {
            let of_obstacles = obstacles.iter().filter_map(|id| tile_of(scenario, *id));
            changed.extend(of_obstacles);
            changed.extend(land.iter().filter_map(|id| tile_of_land(scenario, *id)));
        }
        let of_tile = |id: TileId| {
            let (own_obstacles, own_land) = tiles.get(id).map_or_else(Default::default, |tile| {
                let contents = tile.contents();
                (contents.obstacles, contents.land)
            });
            let all: BTreeSet<ObstacleId> =
                own_obstacles.iter().chain(&obstacles).copied().collect();
            let is_here = |one: &ObstacleId| tile_of(scenario, *one) == Some(id);
            let own: Vec<ObstacleId> = all.into_iter().filter(is_here).collect();
            let all: BTreeSet<LandId> = own_land.iter().chain(&land).copied().collect();
            let is_here = |one: &LandId| tile_of_land(scenario, *one) == Some(id);
            let own_land: Vec<LandId> = all.into_iter().filter(is_here).collect();
            (own, own_land)
        };
        let mut interim = none;
        for id in changed {
            let (obstacles, land) = of_tile(id);
            if obstacles.len() + land.len() > MOST_IN_TILE {
                continue;
            }
            let contents = Contents {
                obstacles: &obstacles,
                land: &land,
            };
            let middle = tiles::middle(id);
            let meshes = [
                tiles::ground_of(scenario, contents, middle, key.level, key.ink),
                tiles::obstacles_of(scenario, contents, middle, key.level, key.ink),
            ];
            interim.tiles.insert(id, meshes.map(Arc::new));
        }
        let is_loose = |scenario: &Scenario, id: &ObstacleId| {
            let obstacle = scenario.obstacles().get(id);
            obstacle.is_some_and(|one| one.mass.get().is_some())
        };
        let has_loose = |id: &ObstacleId| versions.iter().any(|one| is_loose(one, id));
        if obstacles.iter().any(has_loose) {
            let (origin, all) = (objects::origin(scenario), objects::all_loose(scenario));
            interim.loose = Some(Arc::new(objects::loose(origin, key.ink, all, &[])));
        }
        interim
    }
}

/// Returns the keys of the entries that differ or exist in only one map, in ascending order.
fn differing<K: Ord + Copy, V: PartialEq>(a: &BTreeMap<K, V>, b: &BTreeMap<K, V>) -> Vec<K> {
    let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
    let mut found = Vec::new();
    loop {
        match (a.peek().copied(), b.peek().copied()) {
            (Some((key, one)), Some((other_key, other))) if key == other_key => {
                if one != other {
                    found.push(*key);
                }
                a.next();
                b.next();
            }
            (Some((key, _)), Some((other_key, _))) if key < other_key => {
                found.push(*key);
                a.next();
            }
            (_, Some((key, _))) => {
                found.push(*key);
                b.next();
            }
            (Some((key, _)), None) => {
                found.push(*key);
                a.next();
            }
            (None, None) => return found,
        }
    }
}

/// Returns the tile of a fixed obstacle.
fn tile_of(scenario: &Scenario, id: ObstacleId) -> Option<TileId> {
    let obstacle: &Obstacle = scenario.obstacles().get(&id)?;
    let is_fixed = obstacle.mass.get().is_none();
    let (low, high) = polygon::bounds(&obstacle.shape.outline()).filter(|_| is_fixed)?;
    Some(tiles::tile_of(middle(low, high)))
}

fn tile_of_land(scenario: &Scenario, id: LandId) -> Option<TileId> {
    let land: &Land = scenario.land().get(&id)?;
    let (low, high) = polygon::bounds(&land.outline)?;
    Some(tiles::tile_of(middle(low, high)))
}

fn middle(low: DVec2, high: DVec2) -> DVec2 {
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::differing;
    use std::collections::BTreeMap;

    #[test]
    fn entries_differ_if_they_are_new_gone_or_changed() {
        let a = BTreeMap::from([(1, 'a'), (2, 'b'), (4, 'd'), (9, 'x')]);
        let b = BTreeMap::from([(2, 'b'), (3, 'c'), (4, 'e'), (10, 'y')]);
        assert_eq!(differing(&a, &b), [1, 3, 4, 9, 10]);
        assert_eq!(differing(&b, &a), [1, 3, 4, 9, 10]);
        assert!(differing(&a, &a).is_empty());
        assert_eq!(differing(&a, &BTreeMap::new()), [1, 2, 4, 9]);
    }
}
