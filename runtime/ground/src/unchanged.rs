//! Finds the parts of the ground that an edit leaves unchanged.

use roadwright_scenario::{Custom, Road, RoadId, Scenario};
use std::sync::Arc;

/// Parts of the ground that an edit leaves unchanged. They are shared with the old ground.
pub(super) struct Unchanged {
    /// Whether all inputs of the lanelets and of the right of way at junctions are unchanged.
    pub(super) lanes: bool,
    pub(super) obstacles: bool,
    /// Whether vehicle sizes are unchanged. They determine which lanes obstacles obstruct.
    pub(super) sizes: bool,
    /// Whether the terrain heights, and the setting that slopes affect vehicles, are unchanged.
    terrain: bool,
    pub(super) grip: bool,
    /// Whether the areas of land are unchanged.
    land: bool,
    /// Whether the layers of painted ground are unchanged.
    paint: bool,
    /// Whether the named places are unchanged.
    pub(super) places: bool,
}

impl Unchanged {
    /// Compares a scenario before and after an edit. O(differences).
    pub(super) fn between(old: &Scenario, new: &Scenario) -> Self {
        let changed = old.network().differing_roads(new.network());
        let custom = |scenario: &Scenario| Custom::from(scenario.about());
        let (before, after) = (old.settings(), new.settings());
        Self {
            // With buses and trailers, more connections are contested and alleys are longer.
            lanes: custom(old) == custom(new)
                && has_same_lanes(old, new, &changed)
                && old.has_wide_vehicles() == new.has_wide_vehicles(),
            obstacles: has_same_obstacles(old, new),
            sizes: old.vehicle_types() == new.vehicle_types(),
            terrain: old.terrain() == new.terrain() && before.slopes == after.slopes,
            grip: before.grip == after.grip,
            land: std::ptr::eq(old.land(), new.land()) || old.land() == new.land(),
            paint: std::ptr::eq(old.paint(), new.paint()) || old.paint() == new.paint(),
            places: has_same_places(old, new, &changed),
        }
    }

    /// Whether everything except named places is unchanged.
    pub(super) fn is_all_but_places(&self) -> bool {
        self.lanes
            && self.obstacles
            && self.sizes
            && self.terrain
            && self.grip
            && self.land
            && self.paint
    }
}

/// Returns the old shared value if it is unchanged, otherwise a new one.
pub(super) fn kept_or<T>(stays: bool, before: &Arc<T>, make: impl FnOnce() -> T) -> Arc<T> {
    if stays {
        before.clone()
    } else {
        Arc::new(make())
    }
}

/// Whether all inputs of the lanelets are unchanged. Street names may differ.
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

/// Whether all named places are the same.
fn has_same_places(old: &Scenario, new: &Scenario, changed: &[RoadId]) -> bool {
    let is_same = |before: &Road, after: &Road| {
        (&before.name, &before.reference_line) == (&after.name, &after.reference_line)
    };
    old.points_of_interest() == new.points_of_interest() && all_roads(old, new, changed, is_same)
}

/// Whether all of the roads exist in both scenarios and are equal in both.
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

/// Whether two scenarios have the same obstacles and forests. After edits of anything else, both
/// scenarios share these lists.
fn has_same_obstacles(old: &Scenario, new: &Scenario) -> bool {
    let (a, b) = (old.obstacles(), new.obstacles());
    (std::ptr::eq(a, b) || a == b) && old.forests() == new.forests()
}
