//! Route finder shared by tools and background workers, prepared for one scenario.

use roadwright_scenario::Scenario;
use roadwright_simulation::RouteFinder;
use std::sync::{Arc, Mutex, PoisonError};

/// A route finder shared by the tools and a background worker.
#[derive(Clone, Default)]
pub struct RouteSource(Arc<Mutex<Option<RouteFinder>>>);

impl RouteSource {
    /// Calls a function with the route finder of a scenario. Waits while another thread uses it.
    /// The first call prepares the scenario, which takes about a second for a city; later calls
    /// only apply changes made by edits.
    pub fn with<T>(&self, scenario: &Arc<Scenario>, find: impl FnOnce(&RouteFinder) -> T) -> T {
        let mut kept = self.0.lock().unwrap_or_else(|poisoned| {
            // A search that panicked may have left the finder partly updated.
            let mut kept = PoisonError::into_inner(poisoned);
            *kept = None;
            kept
        });
        self.0.clear_poison();
        let finder = match kept.take() {
            Some(mut finder) => {
                finder.follow(scenario.clone());
                finder
            }
            None => RouteFinder::new(scenario.clone()),
        };
        find(kept.insert(finder))
    }
}
