//! All routes of a world; equal routes are stored once.

use super::{GroundPath, Leg, PlannedPath, Road, Route};
use crate::records::{RouteId, are_distinct};
use roadwright_ground::Ground;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::hash::Hasher;
use std::sync::OnceLock;

/// Maximum total length of the paths over open ground in a save, m. Lines of this length take about 500 MB.
const MOST_PATH_METRES: f64 = 2e7;

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
struct Stored {
    route: Route,
    hash: u64,
    /// Number of agents that use the route; 0 for a free entry.
    users: u32,
    #[serde(skip)]
    roads: Roads,
}

/// Roads of a route, computed when they are first needed.
#[derive(Debug, Clone, Default)]
struct Roads(OnceLock<Box<[Road]>>);

/// Roads are derived from the route, so equal routes have equal roads.
impl PartialEq for Roads {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// Number of times that lanes may have changed in this world. It is ignored in comparisons, because
/// it only shows which derived data has to be recomputed.
#[derive(Debug, Clone, Default)]
struct RoadsVersion(u64);

impl PartialEq for RoadsVersion {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// The routes of all agents.
///
/// Agents of a flow have equal routes of hundreds of lanelets. Each route is stored only once, so
/// an agent stores an index, and switching to another route copies nothing.
///
/// Only the methods of [`Travel`](super::Travel) take and release routes, so that each driving
/// agent is counted as a user of exactly one route.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Routes {
    stored: Vec<Stored>,
    free: Vec<u32>,
    /// Indices by hash; only used for look-ups and never iterated.
    #[serde(skip)]
    by_hash: HashMap<u64, Vec<u32>>,
    /// Number of routes with goals both on lanes and off the lanes.
    #[serde(skip)]
    leaving_lanes: u32,
    #[serde(skip)]
    roads_version: RoadsVersion,
}

impl Routes {
    /// Route with the given id.
    #[inline]
    pub(crate) fn get(&self, id: RouteId) -> &Route {
        &self.stored[id.0 as usize].route
    }

    /// Hash of the whole route.
    pub(crate) fn hash_of(&self, id: RouteId) -> u64 {
        self.stored[id.0 as usize].hash
    }

    /// Roads of a route, in order. The first call is O(lanelets), later ones are O(1).
    pub(crate) fn roads_of(&self, id: RouteId, ground: &Ground) -> &[Road] {
        let Stored { route, roads, .. } = &self.stored[id.0 as usize];
        roads.0.get_or_init(|| route.roads(ground))
    }

    /// Number that changes whenever lanes may have changed.
    pub(crate) fn roads_version(&self) -> u64 {
        self.roads_version.0
    }

    /// Forgets the roads of all routes, because lengths of lanes may have changed.
    pub(crate) fn forget_roads(&mut self) {
        self.roads_version.0 += 1;
        for stored in &mut self.stored {
            stored.roads = Roads::default();
        }
    }

    /// Whether any route leads from lanes to a goal off the lanes.
    pub(crate) fn any_leaves_lanes(&self) -> bool {
        self.leaving_lanes > 0
    }

    /// Adds a user to a route, and stores the route if it is new. Returns the id of the route.
    pub(super) fn take(&mut self, route: Route) -> RouteId {
        let hash = hash(&route);
        let same = self.by_hash.get(&hash).into_iter().flatten();
        // Different routes may have the same hash, so routes are compared. The first equal one is
        // used.
        let known = same
            .copied()
            .find(|&at| self.stored[at as usize].route == route);
        if let Some(at) = known {
            self.stored[at as usize].users += 1;
            return RouteId(at);
        }
        self.leaving_lanes += u32::from(route.leaves_lanes());
        let stored = Stored {
            route,
            hash,
            users: 1,
            roads: Roads::default(),
        };
        // The index of a route depends on the agents that left earlier. No results depend on it,
        // because the state hash uses the hash of the route itself.
        let at = match self.free.pop() {
            Some(at) => {
                self.stored[at as usize] = stored;
                at
            }
            None => {
                self.stored.push(stored);
                self.stored.len() as u32 - 1
            }
        };
        self.by_hash.entry(hash).or_default().push(at);
        RouteId(at)
    }

    /// Removes a user from a route.
    pub(super) fn release(&mut self, id: RouteId) {
        let stored = &mut self.stored[id.0 as usize];
        stored.users -= 1;
        if stored.users > 0 {
            return;
        }
        let hash = stored.hash;
        self.leaving_lanes -= u32::from(stored.route.leaves_lanes());
        *stored = Stored::default();
        self.free.push(id.0);
        if let Some(same) = self.by_hash.get_mut(&hash) {
            same.retain(|&at| at != id.0);
            if same.is_empty() {
                self.by_hash.remove(&hash);
            }
        }
    }

    /// Whether a route exists.
    pub(crate) fn has(&self, id: RouteId) -> bool {
        self.stored
            .get(id.0 as usize)
            .is_some_and(|stored| stored.users > 0)
    }

    /// Whether the stored number of users is correct for every route. `users` yields the route of each agent.
    pub(crate) fn have_users(&self, users: impl Iterator<Item = RouteId>) -> bool {
        let mut counts = vec![0u32; self.stored.len()];
        for id in users {
            let Some(count) = counts.get_mut(id.0 as usize) else {
                return false;
            };
            *count += 1;
        }
        let stored = self.stored.iter().map(|stored| stored.users);
        stored.eq(counts)
    }

    /// Builds the lines of all paths over open ground after loading. If a waypoint is not finite or the total
    /// length is too large, returns `false` and builds none.
    pub(crate) fn build_paths(&mut self) -> bool {
        let routes = self.stored.iter_mut().map(|stored| &mut stored.route);
        let legs = routes.flat_map(|route| &mut route.legs);
        let mut paths: Vec<&mut GroundPath> = legs
            .flat_map(|leg| match leg {
                Leg::Path(path) => vec![&mut **path],
                Leg::Planned(planned) | Leg::Exact(planned, _) => {
                    let PlannedPath { path, towed, .. } = &mut **planned;
                    std::iter::once(path).chain(towed).collect()
                }
                Leg::Lanes { .. } | Leg::Straight => Vec::new(),
            })
            .collect();
        let lengths = paths.iter().map(|path| path.checked_length());
        let total: Option<f64> = lengths.sum();
        let is_sound = total.is_some_and(|total| total <= MOST_PATH_METRES);
        if is_sound {
            paths.iter_mut().for_each(|path| path.build());
        }
        is_sound
    }

    /// Whether all routes are valid in a network of `lanelets` lanelets, and the free list contains
    /// each free entry exactly once.
    pub(crate) fn are_sound(&self, lanelets: usize) -> bool {
        let is_free = |at: &u32| self.stored.get(*at as usize).is_some_and(|s| s.users == 0);
        self.free.iter().all(is_free)
            && are_distinct(&self.free)
            && self
                .stored
                .iter()
                .all(|stored| stored.route.is_sound(lanelets))
    }

    /// Number of routes in use.
    #[cfg(test)]
    pub(crate) fn count(&self) -> usize {
        self.stored.len() - self.free.len()
    }

    /// Rebuilds the look-up by hash and the count of routes that leave the lanes, after loading.
    pub(crate) fn index_hashes(&mut self) {
        self.by_hash.clear();
        let used = self.stored.iter().filter(|stored| stored.users > 0);
        let leaving = used.filter(|stored| stored.route.leaves_lanes());
        self.leaving_lanes = leaving.count() as u32;
        for (at, stored) in (0u32..).zip(&self.stored) {
            if stored.users > 0 {
                self.by_hash.entry(stored.hash).or_default().push(at);
            }
        }
    }
}

fn hash(route: &Route) -> u64 {
    // Only the lanelets are hashed, because they are the largest part of a route. Goals and legs are compared
    // when hashes match.
    let mut hasher = twox_hash::XxHash3_64::with_seed(0);
    hasher.write_usize(route.lanelets.len());
    for &lanelet in &*route.lanelets {
        hasher.write_u32(lanelet.number());
    }
    let mut rest = crate::hash::StateHasher::new();
    rest.add(&(&route.goals, &route.legs));
    hasher.write_u64(rest.finish());
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use roadwright_scenario::LaneletIndex;

    fn route(lanelets: &[u32]) -> Route {
        Route {
            lanelets: lanelets.iter().copied().map(LaneletIndex::new).collect(),
            ..Route::default()
        }
    }

    #[test]
    fn equal_routes_are_stored_once() {
        let mut routes = Routes::default();
        let a = routes.take(route(&[1, 2, 3]));
        let b = routes.take(route(&[1, 2, 3]));
        let c = routes.take(route(&[1, 2]));
        assert_eq!((a, routes.count()), (b, 2));
        routes.release(a);
        assert_eq!(routes.get(b).lanelet(2), Some(LaneletIndex::new(3)));
        routes.release(b);
        assert_eq!(routes.count(), 1);
        // The free entry is reused.
        assert_eq!(routes.take(route(&[9])), a);
        assert_eq!(routes.get(c).lanelet(1), Some(LaneletIndex::new(2)));
    }

    #[test]
    fn each_route_has_the_users_that_there_are() {
        let mut routes = Routes::default();
        let a = routes.take(route(&[1, 2]));
        routes.take(route(&[1, 2]));
        let b = routes.take(route(&[3]));
        let have = |routes: &Routes, users: &[RouteId]| routes.have_users(users.iter().copied());
        assert!(have(&routes, &[a, b, a]));
        assert!(!have(&routes, &[a, b]));
        assert!(!have(&routes, &[a, a, b, b]));
        assert!(!have(&routes, &[a, a, b, RouteId(7)]));
        routes.release(b);
        assert!(have(&routes, &[a, a]));
    }
}
