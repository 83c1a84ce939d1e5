//! What of the ground an edit leaves as it was.

use roadwright_scenario::{Custom, Road, RoadId, Scenario};
use std::sync::Arc;

/// Which parts of the ground an edit leaves as they were: those are shared with the ground before.
pub(super) struct Unchanged {
    /// All that lanelets and what rules at junctions are made of.
    pub(super) lanes: bool,
    pub(super) obstacles: bool,
    /// How large vehicles are: which lanes obstacles reach depends on it.
    pub(super) sizes: bool,
    /// Heights, and whether slopes act.
    terrain: bool,
    pub(super) grip: bool,
    /// Areas of land.
    land: bool,
    /// All that has a name, and where it is.
    pub(super) places: bool,
}

impl Unchanged {
    /// What an edit from one scenario to another leaves. O(what differs).
    pub(super) fn between(old: &Scenario, new: &Scenario) -> Self {
        let changed = old.network().differing_roads(new.network());
        let custom = |scenario: &Scenario| Custom::from(scenario.about());
        let (before, after) = (old.settings(), new.settings());
        Self {
            // Where buses drive, others have to ask, and alleys are longer.
            lanes: custom(old) == custom(new)
                && has_same_lanes(old, new, &changed)
                && old.has_long_vehicles() == new.has_long_vehicles(),
            obstacles: has_same_obstacles(old, new),
            sizes: old.vehicle_types() == new.vehicle_types(),
            terrain: old.terrain() == new.terrain() && before.slopes == after.slopes,
            grip: before.grip == after.grip,
            land: std::ptr::eq(old.land(), new.land()) || old.land() == new.land(),
            places: has_same_places(old, new, &changed),
        }
    }

    /// Whether the whole ground but places with names is as it was.
    pub(super) fn is_all_but_places(&self) -> bool {
        self.lanes && self.obstacles && self.sizes && self.terrain && self.grip && self.land
    }
}

/// What there was before, shared, if it stays; what is made in its place if not.
pub(super) fn kept_or<T>(stays: bool, before: &Arc<T>, make: impl FnOnce() -> T) -> Arc<T> {
    if stays {
        before.clone()
    } else {
        Arc::new(make())
    }
}

/// Whether all that the lanelets are made of is the same: street names may differ.
fn has_same_lanes(old: &Scenario, new: &Scenario, changed: &[RoadId]) -> bool {
    let (a, b) = (old.network(), new.network());
    let is_same = |before: &Road, after: &Road| {
        let name = after.name.clone();
        *after
            == Road {
                name,
                ..before.clone()
            }
    };
    a.nodes().eq(b.nodes()) && all_roads(old, new, changed, is_same)
}

/// Whether all that has a name is where it was.
fn has_same_places(old: &Scenario, new: &Scenario, changed: &[RoadId]) -> bool {
    let is_same = |before: &Road, after: &Road| {
        (&before.name, &before.reference_line) == (&after.name, &after.reference_line)
    };
    old.points_of_interest() == new.points_of_interest() && all_roads(old, new, changed, is_same)
}

/// Whether some roads are in two scenarios and alike in both.
fn all_roads(
    old: &Scenario,
    new: &Scenario,
    roads: &[RoadId],
    are_alike: impl Fn(&Road, &Road) -> bool,
) -> bool {
    roads.iter().all(|&id| {
        let pair = old.network().road(id).zip(new.network().road(id));
        pair.is_some_and(|(before, after)| are_alike(before, after))
    })
}

/// Whether two scenarios have the same obstacles and forests; an edit of anything else shares the former.
fn has_same_obstacles(old: &Scenario, new: &Scenario) -> bool {
    let (a, b) = (old.obstacles(), new.obstacles());
    (std::ptr::eq(a, b) || a == b) && old.forests() == new.forests()
}
