//! Signal heads: their positions, and the lights that they show.
//!
//! ```text
//!     pavement    [ green amber red ]      The red lamp is the farthest along the road, so that its
//!     kerb --------------------------      position shows the state as well as its colour.
//!     stop line |  -> driving
//! ```

use crate::painter::Painter;
use crate::palette::{LAMP_OFF, SIGNAL_BOX, SIGNAL_LAMPS, faded, rgb};
use glam::DVec2;
use roadwright_geometry::Pose;
use roadwright_scenario::junction::{Arm, ArmEnd, Junction, Layout, Light, Sign};
use roadwright_scenario::{DrivingSide, RoadId, Scenario};
use roadwright_simulation::SignalHead;
use std::collections::BTreeMap;

/// Half the length and half the width of a signal head, m.
const HALF: (f64, f64) = (1.1, 0.45);
/// Distance between the carriageway and the middle of the first signal head, m.
const BESIDE: f64 = 0.9;
/// Distance between signal heads, m.
const APART: f64 = 1.1;
/// Distance between lamps, m.
const LAMP_STEP: f64 = 0.66;
/// Radius of a lamp, m.
const LAMP: f64 = 0.27;
/// Radius of a lamp's glow, m.
const GLOW: f64 = 0.75;
/// Minimum half-size of a head, pixels.
const LEAST: f64 = 2.5;

/// The signal heads beside a stop line.
#[derive(Debug, Clone, PartialEq)]
pub struct Heads {
    /// The road that ends at the stop line.
    pub road: RoadId,
    /// Ids of the lanes that lead to the stop line, starting with the lane nearest to the heads.
    pub lanes: Vec<i8>,
    /// Pose of the middle of the first head, in the driving direction.
    pub first: Pose,
    /// Position of the other heads relative to the first one: 1 for left, -1 for right.
    outward: f64,
}

impl Heads {
    /// Returns a head for each different light, in the order of lanes. If there are no lights, returns a
    /// single dark head.
    pub fn shown(&self, light: impl Fn(i8) -> Option<Light>) -> Vec<(Pose, Option<Light>)> {
        let mut lights: Vec<Option<Light>> = Vec::new();
        for light in self.lanes.iter().map(|&lane| light(lane)) {
            if !lights.contains(&light) {
                lights.push(light);
            }
        }
        let place = |(i, light): (usize, Option<Light>)| {
            let at = self.first.point(0.0, self.outward * APART * i as f64);
            let heading = self.first.heading;
            (
                Pose {
                    position: at,
                    heading,
                },
                light,
            )
        };
        lights.into_iter().enumerate().map(place).collect()
    }
}

/// Returns the heads of all approaches of a junction that have signals and room for waiting vehicles.
pub fn heads(scenario: &Scenario, layout: &Layout, junction: &Junction) -> Vec<Heads> {
    let side = scenario.about().driving_side;
    let network = scenario.network();
    let has_room = |arm: &ArmEnd| layout.room_before(network, arm.road, arm.end).fits_car(0.0);
    let signalled = junction.arms.iter();
    let signalled = signalled.filter(|arm| arm.sign == Sign::Signal && has_room(arm));
    let of_arm = signalled.filter_map(|end| {
        let road = scenario.network().road(end.road)?;
        let arm = Arm::new(end.road, road, end.end);
        // Sorted from left to right in the driving direction.
        let mut lanes: Vec<i8> = arm
            .entering_lanes(end.trim, side)
            .iter()
            .map(|lane| lane.id)
            .collect();
        // As seen from the junction towards the arm, vehicles arrive on the left in right-hand traffic.
        let (edge, outward) = match side {
            DrivingSide::Right => {
                lanes.reverse();
                (arm.left_edge(end.trim), -1.0)
            }
            DrivingSide::Left => (arm.right_edge(end.trim), 1.0),
        };
        let kerb = edge.reversed();
        let first = Pose {
            position: kerb.point(0.0, outward * BESIDE),
            heading: kerb.heading,
        };
        (!lanes.is_empty()).then_some(Heads {
            road: end.road,
            lanes,
            first,
            outward,
        })
    });
    of_arm.collect()
}

/// Returns the heads that are lit, with their lights.
pub fn lit(scenario: &Scenario, layout: &Layout, signals: &[SignalHead]) -> Vec<(Pose, Light)> {
    let lights: BTreeMap<(RoadId, i8), Light> = signals
        .iter()
        .map(|head| ((head.road, head.lane), head.light))
        .collect();
    // The signals of each junction are consecutive.
    let junctions = signals
        .chunk_by(|a, b| a.node == b.node)
        .filter_map(|lanes| layout.junction_at(lanes[0].node));
    let heads = junctions.flat_map(|junction| heads(scenario, layout, junction));
    heads
        .flat_map(|heads| heads.shown(|lane| lights.get(&(heads.road, lane)).copied()))
        .filter_map(|(head, light)| Some((head, light?)))
        .collect()
}

/// Returns the factor for enlarging signal heads at small scales. `scale` is in pixels per metre.
fn enlargement(scale: f64) -> f64 {
    (LEAST / (HALF.0 * scale)).max(1.0)
}

/// Returns the position and radius of the lamp of a light in a head, m. For red and amber together,
/// returns the red lamp. `scale` is in pixels per metre.
pub fn lamp(head: Pose, light: Light, scale: f64) -> (DVec2, f64) {
    let grow = enlargement(scale);
    let ahead = match light {
        Light::Red | Light::RedAmber => LAMP_STEP,
        Light::Amber => 0.0,
        Light::Green => -LAMP_STEP,
    };
    (head.point(grow * ahead, 0.0), grow * LAMP)
}

/// Returns the colour of a lit lamp.
pub fn lamp_color(light: Light) -> u32 {
    match light {
        Light::Red | Light::RedAmber => SIGNAL_LAMPS[0],
        Light::Amber => SIGNAL_LAMPS[1],
        Light::Green => SIGNAL_LAMPS[2],
    }
}

/// Draws a head with its lamps. A lit lamp glows.
pub(crate) fn draw(painter: &mut impl Painter, head: Pose, lit: Option<Light>) {
    let scale = painter.scale();
    let grow = enlargement(scale);
    let corner = |x: f64, y: f64| head.point(x * grow * HALF.0, y * grow * HALF.1);
    let housing = [
        corner(1.0, 1.0),
        corner(-1.0, 1.0),
        corner(-1.0, -1.0),
        corner(1.0, -1.0),
    ];
    painter.polygon(&housing, rgb(SIGNAL_BOX));
    for light in [Light::Red, Light::Amber, Light::Green] {
        let (at, radius) = lamp(head, light, scale);
        if lit.is_some_and(|lit| lit.lamps().contains(&light)) {
            let hex = lamp_color(light);
            painter.circle(at, GLOW * grow, 0.0, faded(hex, 0.3));
            painter.circle(at, 1.1 * radius, 1.0, rgb(hex));
        } else {
            painter.circle(at, radius, 0.5, rgb(LAMP_OFF));
        }
    }
}

/// Draws the heads of a junction with all lamps off, for maps without a run.
pub(crate) fn draw_off(
    painter: &mut impl Painter,
    scenario: &Scenario,
    layout: &Layout,
    junction: &Junction,
) {
    for heads in heads(scenario, layout, junction) {
        draw(painter, heads.first, None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn beside_a_road() -> Heads {
        Heads {
            road: RoadId(1),
            lanes: vec![-3, -2, -1],
            first: Pose::new(0.0, -10.0, 0.0),
            outward: -1.0,
        }
    }

    #[test]
    fn lanes_that_show_the_same_share_a_head() {
        let heads = beside_a_road();
        let all_red = heads.shown(|_| Some(Light::Red));
        assert_eq!(all_red, [(heads.first, Some(Light::Red))]);
        let left_waits =
            heads.shown(|lane| Some(if lane == -1 { Light::Red } else { Light::Green }));
        assert_eq!(left_waits.len(), 2);
        // The second head stands farther from the road.
        assert!(left_waits[1].0.position.y < left_waits[0].0.position.y);
        assert_eq!(heads.shown(|_| None).len(), 1);
    }

    #[test]
    fn red_and_amber_light_two_lamps() {
        let lit = |light: Light| light.lamps().to_vec();
        assert_eq!(lit(Light::RedAmber), [Light::Red, Light::Amber]);
        for light in [Light::Red, Light::Amber, Light::Green] {
            assert_eq!(lit(light), [light]);
        }
    }

    #[test]
    fn red_is_the_farthest_along_the_road_and_lamps_are_never_too_small_to_see() {
        let head = Pose::new(5.0, 3.0, 0.0);
        let x = |light| lamp(head, light, 20.0).0.x;
        assert!(x(Light::Red) > x(Light::Amber) && x(Light::Amber) > x(Light::Green));
        for scale in [0.5, 2.0, 20.0] {
            let (_, radius) = lamp(head, Light::Red, scale);
            assert!(radius * scale > 0.6, "{radius} m at {scale} px/m");
        }
    }
}
