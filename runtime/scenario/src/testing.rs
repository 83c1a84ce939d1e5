//! Streets for unit tests.

use crate::operation::draw::{self, RoadStyle};
use crate::{CrossSection, RoadClass, Scenario};
use roadwright_geometry::ReferenceLine;

/// Draws a residential street with one lane in each direction. The width of the lanes is in metres, and the
/// speed limit in m/s.
pub(crate) fn draw_street(
    scenario: &mut Scenario,
    line: &ReferenceLine,
    width: f64,
    speed_limit: f64,
) {
    let style = RoadStyle {
        name: String::new(),
        class: RoadClass::Residential,
        layer: 0,
        speed_limit,
        section: CrossSection::driving(1, 1, width),
    };
    let edit = draw::road(scenario, line, &style).unwrap();
    scenario.apply(edit).unwrap();
}
