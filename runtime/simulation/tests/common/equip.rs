//! Vehicles and stacks of one scenario for another, for the tests in this folder and those beside the code.

use roadwright_scenario::{Edit, Scenario};

/// Gives a scenario the vehicle types and stacks of another one.
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
