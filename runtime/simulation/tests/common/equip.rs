//! Copies vehicles and stacks between scenarios, for the tests in this folder and for unit tests.

use roadwright_scenario::{Edit, Scenario};

/// Adds the vehicle types and stacks of another scenario.
pub(crate) fn equip_as(scenario: &mut Scenario, other: &Scenario) {
    for (key, vehicle) in other.vehicle_types() {
        let edit = Edit::VehicleType(key.clone(), Some(Box::new(vehicle.clone())));
        scenario.apply(edit).unwrap();
    }
    for (key, stack) in other.stacks() {
        let edit = Edit::Stack(key.clone(), Some(Box::new(stack.clone())));
        scenario.apply(edit).unwrap();
    }
}
