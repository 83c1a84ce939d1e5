//! Vehicles and pedestrians of a frame, as instances of their figures.

use super::instances::{Instances, instance};
use super::mesh::Ink;
use super::skid_marks::SkidMarks;
use crate::camera::Camera;
use egui::Color32;
use roadwright_agent::Indicator;
use roadwright_geometry::{DVec2, Pose, unit};
use roadwright_render::figure::{self, Figure};
use roadwright_render::hint;
use roadwright_render::hint::Hint;
use roadwright_scenario::BodyKind;
use roadwright_simulation::{PersonFigure, PersonRecord};
use std::collections::BTreeMap;

/// A vehicle as drawn on the map.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VehicleDot {
    /// Pose of the centre of its body.
    pub body: Pose,
    /// Length of its body, m.
    pub length: f64,
    /// Width of its body, m.
    pub width: f64,
    /// Agent of the vehicle, which determines the colour.
    pub agent: u64,
    /// Colour that replaces the colour of the agent.
    pub color: Option<Color32>,
    /// State of its indicators.
    pub indicator: Indicator,
    /// Whether its brake lamps are lit.
    pub brakes: bool,
    /// Whether it is a trailer.
    pub is_trailer: bool,
    /// Whether it has tracks.
    pub has_tracks: bool,
    /// Whether it is a vehicle or a character. The heading of a character is the heading of its
    /// shoulders.
    pub body_kind: BodyKind,
}

/// The moving parts of a run.
#[derive(Clone, Copy, Default)]
pub struct Moving<'a> {
    /// Vehicles and trailers.
    pub vehicles: &'a [VehicleDot],
    /// The pedestrians of the run.
    pub people: &'a [PersonRecord],
    /// Feet and shoulders of the pedestrians, in the same order.
    pub people_figures: &'a [PersonFigure],
    /// Hints such as steered wheels, leaning roofs and signs.
    pub hints: &'a [Hint],
    /// Skid marks, if they are shown.
    pub skid_marks: Option<&'a SkidMarks>,
    /// Vehicles below decks with their hints, by layer.
    pub covered: Option<&'a BTreeMap<i8, CoveredVehicles>>,
}

/// Vehicles of one layer that are below decks of higher layers.
#[derive(Debug, Clone, Default)]
pub struct CoveredVehicles {
    /// Vehicles and trailers.
    pub vehicles: Vec<VehicleDot>,
    /// Hints about the state of these vehicles.
    pub hints: Vec<Hint>,
}

/// Returns the vehicles in view that are below decks, by layer.
pub(super) fn covered(
    moving: &Moving<'_>,
    camera: &Camera,
    low: DVec2,
    high: DVec2,
) -> BTreeMap<i8, Vec<(Figure, Instances)>> {
    let layers = moving.covered.into_iter().flatten().map(|(layer, own)| {
        let moving = Moving {
            vehicles: &own.vehicles,
            hints: &own.hints,
            ..Moving::default()
        };
        (*layer, instances(&moving, camera, low, high))
    });
    layers.filter(|(_, figures)| !figures.is_empty()).collect()
}

/// Returns the figures of vehicles and pedestrians in view, from the bottom up: skid marks, bodies,
/// pedestrians, lamps, signs.
pub(super) fn instances(
    moving: &Moving<'_>,
    camera: &Camera,
    low: DVec2,
    high: DVec2,
) -> Vec<(Figure, Instances)> {
    // The centre of a long vehicle may be outside the view while its end is still inside.
    let margin = DVec2::splat(20.0 + 20.0 * camera.scale);
    let (low, high) = (low - margin, high + margin);
    let empty = || Instances {
        id: 0,
        origin: camera.centre,
        low,
        high,
        list: Vec::new(),
    };
    // Ordered by figure, which is the drawing order.
    let mut lists: BTreeMap<Figure, Instances> = BTreeMap::new();
    let is_seen =
        |v: &&VehicleDot| v.body.position.cmpge(low).all() && v.body.position.cmple(high).all();
    if let Some(marks) = moving.skid_marks {
        let list = marks.instances(camera, low, high);
        if !list.is_empty() {
            lists.entry(Figure::SkidMark).or_insert_with(empty).list = list;
        }
    }
    if let Some((half_depth, half_width)) = figure::person_size(camera.scale) {
        let on_foot = |v: &&VehicleDot| v.body_kind == BodyKind::Character;
        for one in moving.vehicles.iter().filter(is_seen).filter(on_foot) {
            let color = one.color.map_or_else(
                || Ink::Light.bytes(figure::person_color(one.agent)),
                |color| color.to_array(),
            );
            let place = one.body.position - camera.centre;
            let one = instance(place, half_depth * one.body.forward(), half_width, color);
            let list = lists.entry(Figure::Person).or_insert_with(empty);
            list.list.push(one);
        }
    }
    let has_wheels = |v: &&VehicleDot| v.body_kind == BodyKind::Vehicle;
    for vehicle in moving.vehicles.iter().filter(is_seen).filter(has_wheels) {
        // At small scales, vehicles are enlarged; otherwise a town would look empty.
        let grow = if vehicle.is_trailer {
            1.0
        } else {
            figure::enlargement(vehicle.length, camera.scale)
        };
        let forward = vehicle.body.forward();
        let front = 0.5 * vehicle.length * grow * forward;
        let half_width = 0.5 * vehicle.width * grow;
        // Relative to the centre of the view, because the graphics card uses single precision.
        let place = vehicle.body.position - camera.centre;
        let body = if vehicle.is_trailer {
            Figure::of_trailer(camera.scale)
        } else if vehicle.has_tracks {
            Figure::of_tracked(camera.scale)
        } else {
            Figure::of_vehicle(vehicle.length, camera.scale)
        };
        let one = instance(place, front, half_width, color_of(vehicle, body));
        lists.entry(body).or_insert_with(empty).list.push(one);
        for (lamp, (ahead, left)) in figure::lit_lamps(vehicle.indicator, vehicle.brakes) {
            let side = half_width * forward.perp();
            let at = place + f64::from(ahead) * front + f64::from(left) * side;
            let reach = figure::GLOW * grow;
            let one = instance(at, reach * forward, reach, [0; 4]);
            lists.entry(lamp).or_insert_with(empty).list.push(one);
        }
    }
    if let Some((half_depth, half_width)) = figure::person_size(camera.scale) {
        let is_seen = |(p, _): &(&PersonRecord, &PersonFigure)| {
            p.position.cmpge(low).all() && p.position.cmple(high).all()
        };
        let people = moving.people.iter().zip(moving.people_figures);
        for (person, figure) in people.filter(is_seen) {
            let color = Ink::Light.bytes(figure::person_color(person.id));
            let front = half_depth * unit(hint::heading_of_shoulders(figure));
            let one = instance(person.position - camera.centre, front, half_width, color);
            let list = lists.entry(Figure::Person).or_insert_with(empty);
            list.list.push(one);
        }
    }
    let is_seen = |hint: &&Hint| hint.at.cmpge(low).all() && hint.at.cmple(high).all();
    for hint in moving.hints.iter().filter(is_seen) {
        let color = Ink::Light.bytes(hint.color);
        let one = instance(hint.at - camera.centre, hint.front, hint.half_width, color);
        let list = lists.entry(hint.figure).or_insert_with(empty);
        list.list.push(one);
    }
    lists.into_iter().collect()
}

fn color_of(vehicle: &VehicleDot, body: Figure) -> [u8; 4] {
    let own = || Ink::Light.bytes(figure::body_color(vehicle.agent, vehicle.length, body));
    vehicle.color.map_or_else(own, |color| color.to_array())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vehicle(x: f64, brakes: bool) -> VehicleDot {
        VehicleDot {
            body: Pose {
                position: DVec2::new(x, 0.0),
                heading: 0.0,
            },
            length: 4.5,
            width: 1.8,
            agent: 1,
            color: None,
            indicator: Indicator::Off,
            brakes,
            is_trailer: false,
            has_tracks: false,
            body_kind: BodyKind::Vehicle,
        }
    }

    #[test]
    fn only_vehicles_in_view_are_drawn_and_lamps_lie_on_top() {
        let camera = Camera {
            centre: DVec2::ZERO,
            scale: 0.05,
        };
        let (low, high) = (DVec2::splat(-30.0), DVec2::splat(30.0));
        let all = [vehicle(0.0, true), vehicle(10.0, false), vehicle(1e4, true)];
        let moving = Moving {
            vehicles: &all,
            ..Moving::default()
        };
        let lists = instances(&moving, &camera, low, high);
        let counts: Vec<(Figure, usize)> =
            lists.iter().map(|(f, all)| (*f, all.list.len())).collect();
        assert_eq!(counts, [(Figure::Car, 2), (Figure::BrakeLamp, 2)]);
    }

    #[test]
    fn wheels_lie_below_bodies_and_signs_above_them() {
        let camera = Camera {
            centre: DVec2::ZERO,
            scale: 0.05,
        };
        let (low, high) = (DVec2::splat(-30.0), DVec2::splat(30.0));
        let hint = |figure: Figure, x: f64| Hint {
            figure,
            at: DVec2::new(x, 0.0),
            front: DVec2::X,
            half_width: 0.1,
            color: figure::person_color(1),
        };
        let hints = [
            hint(Figure::TippedSign, 0.0),
            hint(Figure::CarRoof, 0.0),
            hint(Figure::Wheel, 1.0),
            hint(Figure::StuckSign, 1e4),
        ];
        let moving = Moving {
            vehicles: &[vehicle(0.0, true)],
            hints: &hints,
            ..Moving::default()
        };
        let order: Vec<Figure> = instances(&moving, &camera, low, high)
            .into_iter()
            .map(|(figure, _)| figure)
            .collect();
        let expected = [
            Figure::Wheel,
            Figure::Car,
            Figure::CarRoof,
            Figure::BrakeLamp,
            Figure::TippedSign,
        ];
        assert_eq!(order, expected);
    }
}
