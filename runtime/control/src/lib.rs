//! Built-in controllers: fuzzy driving, car following, pursuit of a point on the way.

mod formulas;
pub mod fuzzy;
mod fuzzy_driver;
mod idm;
pub mod laws;
mod pursuit;

pub use formulas::formulas;
pub use fuzzy_driver::FuzzyDriver;
pub use idm::Idm;
pub use pursuit::Pursuit;

use roadwright_agent::Registry;

/// Adds the built-in controllers.
pub fn register(registry: &mut Registry) {
    registry.add(FuzzyDriver::entry());
    registry.add(Idm::entry());
    registry.add(Pursuit::entry());
}
