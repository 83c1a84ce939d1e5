//! Drawn roads and posts for unit tests of this crate and the simulation.

#[path = "../../simulation/tests/common/equip.rs"]
mod equip;

use roadwright_geometry::{DVec2, ReferenceLine};
use roadwright_scenario::operation::draw::{self, RoadStyle};
use roadwright_scenario::{CrossSection, Edit, Obstacle, RoadClass, Scenario, Shape, file};
use std::path::PathBuf;

/// Adds the vehicle types and stacks of the shipped crossroads to a scenario.
pub(crate) fn equip(scenario: &mut Scenario) {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let shipped = file::load(&folder.join("crossroads.scenario.json")).unwrap();
    equip::equip_as(scenario, &shipped);
}

/// Returns the style of a residential street with the given numbers of lanes.
pub(crate) fn street(forward: usize, backward: usize) -> RoadStyle {
    RoadStyle {
        name: String::new(),
        class: RoadClass::Residential,
        layer: 0,
        speed_limit: 14.0,
        section: CrossSection::driving(forward, backward, 3.25),
    }
}

/// Draws a straight road between two points.
pub(crate) fn draw_street(
    scenario: &mut Scenario,
    from: impl Into<DVec2>,
    to: impl Into<DVec2>,
    style: &RoadStyle,
) {
    let line = ReferenceLine::straight(from.into(), to.into());
    let edit = draw::road(scenario, &line.unwrap(), style).unwrap();
    scenario.apply(edit).unwrap();
}

/// Adds a fixed post.
pub(crate) fn put_post(scenario: &mut Scenario, shape: Shape) {
    let post = Obstacle {
        name: "post".into(),
        shape,
        base: 0.0.into(),
        height: 2.0.into(),
        mass: None.into(),
    };
    let edit = Edit::Obstacle(scenario.next_obstacle_id(), Some(Box::new(post)));
    scenario.apply(edit).unwrap();
}
