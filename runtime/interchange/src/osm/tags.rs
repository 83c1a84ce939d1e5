//! Road properties from the tags of a way.
//!
//! Tags have the meanings given on the OpenStreetMap wiki, on the page of each key: Key:highway, Key:access,
//! Key:oneway, Key:lanes, Key:layer, Key:maxspeed, Key:placement, Key:turn.

use super::bus_lanes::{self, BusLanes};
use super::change_lanes::{self, ChangeLanes};
use super::elements::Tags;
use super::lane_counts::{self, LaneCounts};
use super::lane_lists::Direction;
use super::placement::{self, Placement};
use super::ranks::Rank;
use super::turn_lanes::{self, TurnLanes};
use roadwright_scenario::{CrossSection, LaneType, RoadAccess, RoadClass};
use std::collections::BTreeSet;

/// Properties of the road that a drivable way becomes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct WayStyle {
    pub(super) name: String,
    pub(super) class: RoadClass,
    /// Rank of a main street; `None` for other roads.
    pub(super) rank: Option<Rank>,
    pub(super) layer: i8,
    /// Access to the road. Never `No`, because ways without access are left out.
    pub(super) access: RoadAccess,
    /// Speed limit, m/s.
    pub(super) speed_limit: f64,
    pub(super) section: CrossSection,
    /// The arrows on the lanes of the road.
    pub(super) turn_lanes: TurnLanes,
    /// Bus lanes of the road; empty if all lanes are for buses.
    pub(super) bus_lanes: BusLanes,
    /// Permitted lane changes.
    pub(super) change_lanes: ChangeLanes,
    /// Position of the way's line across its lanes; `None` for the usual position.
    pub(super) placement: Option<Placement>,
    /// Warnings about lane tags that are ignored or changed.
    pub(super) notes: BTreeSet<&'static str>,
    /// Whether the road is one-way against the order of the way's nodes.
    pub(super) reversed: bool,
}

/// Returns the properties of a way, or the reason why motor vehicles do not use it.
pub(super) fn style(tags: &Tags) -> Result<WayStyle, String> {
    let get = |key: &str| tags.get(key).map(String::as_str);
    let highway = get("highway").unwrap_or_default();
    let Some((class, lane_width)) = class_of(highway) else {
        return Err(format!("highway={highway}: not for motor vehicles"));
    };
    // The nodes of a square run along its edge, so a street with these nodes would be a ring.
    if get("area") == Some("yes") {
        return Err("area=yes: an area, not a street".into());
    }
    let (users, access) = users(tags)?;
    let direction = direction(tags);
    let mut notes = Vec::new();
    let counts = lane_counts::read(tags, class, direction, &mut notes);
    let bus_lanes = match users {
        Users::All => bus_lanes::read(tags, direction, &counts, &mut notes),
        Users::BusOnly => BusLanes::default(),
    };
    let section = section(&counts, lane_width, direction, users);
    let (turn_lanes, wrong_arrows) = turn_lanes::read(tags, &section);
    let (change_lanes, wrong_changes) = change_lanes::read(tags, &section);
    notes.extend(wrong_arrows);
    notes.extend(wrong_changes);
    let (placement, wrong_placement) = placement::read(tags, direction, &section);
    notes.extend(wrong_placement);
    Ok(WayStyle {
        name: get("name").unwrap_or_default().to_owned(),
        class,
        rank: Rank::of(highway),
        layer: layer(tags),
        access,
        speed_limit: speed_limit(get("maxspeed")).unwrap_or(class.default_speed_limit()),
        section,
        turn_lanes,
        bus_lanes,
        change_lanes,
        placement,
        notes: notes.into_iter().collect(),
        reversed: direction == Direction::Against,
    })
}

/// Returns the class and usual lane width (m) for a value of `highway`; `None` if motor vehicles do
/// not use such ways.
fn class_of(highway: &str) -> Option<(RoadClass, f64)> {
    Some(match highway {
        // These are the usual widths for each class, because `width` is rarely tagged, and often means the
        // whole carriageway including parked cars.
        "motorway" => (RoadClass::Motorway, 3.5),
        "motorway_link" | "trunk_link" => (RoadClass::Ramp, 3.5),
        "trunk" | "primary" | "primary_link" => (RoadClass::Arterial, 3.25),
        "secondary" | "secondary_link" => (RoadClass::Arterial, 3.25),
        "tertiary" | "tertiary_link" => (RoadClass::Collector, 3.0),
        "unclassified" | "residential" | "living_street" | "road" => (RoadClass::Residential, 3.0),
        "busway" | "bus_guideway" => (RoadClass::Collector, 3.25),
        "service" => (RoadClass::Service, 2.5),
        _ => return None,
    })
}

/// Motor vehicles that may use a way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Users {
    All,
    BusOnly,
}

/// Returns which motor vehicles may use a way, and on which trips.
fn users(tags: &Tags) -> Result<(Users, RoadAccess), String> {
    let get = |key: &str| tags.get(key).map(String::as_str);
    let bus = ["bus", "psv"]
        .iter()
        .any(|k| matches!(get(k), Some("yes" | "designated" | "official")));
    let busway = matches!(get("highway"), Some("busway" | "bus_guideway"));
    // Keys form a hierarchy (Key:access): a car is a motor vehicle, which is a vehicle. The most specific key
    // applies, so a way with access=no and motor_vehicle=yes is open.
    let general = ["motorcar", "motor_vehicle", "vehicle", "access"]
        .iter()
        .find_map(|k| get(k));
    let access = general.map_or(RoadAccess::All, road_access);
    match access {
        RoadAccess::No if bus => Ok((Users::BusOnly, RoadAccess::All)),
        // Access tags on a busway, whatever their values, are meant for cars.
        _ if busway => Ok((Users::BusOnly, RoadAccess::All)),
        RoadAccess::No => Err("closed to motor vehicles by its access tags".into()),
        access => Ok((Users::All, access)),
    }
}

/// Returns the access for a tag value. If there are several values (`customers;delivery`), the least
/// restrictive one is used.
fn road_access(value: &str) -> RoadAccess {
    let access = |value: &str| match value.trim() {
        "destination" => RoadAccess::Destination,
        "customers" => RoadAccess::Customers,
        "delivery" => RoadAccess::Delivery,
        "permit" | "residents" => RoadAccess::Permit,
        // Closed to the public, for various reasons.
        "private" | "employees" | "staff" | "military" | "emergency" | "agricultural"
        | "forestry" => RoadAccess::Private,
        "no" => RoadAccess::No,
        // `yes`, `permissive`, `designated`, and undocumented values.
        _ => RoadAccess::All,
    };
    value.split(';').map(access).min().unwrap_or_default()
}

/// Returns the driving direction of a way.
fn direction(tags: &Tags) -> Direction {
    let get = |key: &str| tags.get(key).map(String::as_str);
    // Key:oneway lists `yes`, `no` and `-1`; the others are older spellings. Without the tag, roundabouts,
    // motorways and their slip roads are assumed to be one-way.
    match get("oneway") {
        Some("yes" | "true" | "1") => Direction::Along,
        Some("-1" | "reverse") => Direction::Against,
        Some("no" | "false" | "0") => Direction::Both,
        _ => {
            let round = matches!(get("junction"), Some("roundabout" | "circular"));
            let motorway = matches!(get("highway"), Some("motorway" | "motorway_link"));
            if round || motorway {
                Direction::Along
            } else {
                Direction::Both
            }
        }
    }
}

/// Returns the lanes of a way, before some of them are turned into bus lanes.
fn section(counts: &LaneCounts, width: f64, direction: Direction, users: Users) -> CrossSection {
    let mut section = CrossSection::driving(counts.along, counts.against, width);
    let lanes = section.forward.iter_mut();
    let for_buses = lanes.filter(|_| users == Users::BusOnly);
    for_buses.for_each(|lane| lane.0 = LaneType::Bus);
    if users == Users::BusOnly || direction != Direction::Both {
        // Lanes against a one-way road are bus lanes.
        section
            .backward
            .iter_mut()
            .for_each(|lane| lane.0 = LaneType::Bus);
    }
    if counts.middle > 0 {
        // One half on either side, so that the line of the way stays in the middle.
        let half = (LaneType::PaintedMedian, 0.5 * width * counts.middle as f64);
        section.forward.insert(0, half);
        section.backward.insert(0, half);
    }
    section
}

fn layer(tags: &Tags) -> i8 {
    let get = |key: &str| tags.get(key).map(String::as_str);
    let tagged = get("layer").and_then(|value| value.trim().parse::<f64>().ok());
    let is = |key: &str| get(key).is_some_and(|value| value != "no");
    // A bridge without a layer is placed above the ground, so that it is not cut where it crosses the road
    // below. A passage through a building stays at street level.
    match tagged {
        Some(layer) => layer.clamp(-10.0, 10.0) as i8,
        None if is("bridge") => 1,
        None if is("tunnel") && get("tunnel") != Some("building_passage") => -1,
        None => 0,
    }
}

/// Parses a value of `maxspeed`. Returns m/s, or `None` if the value contains no number.
fn speed_limit(value: Option<&str>) -> Option<f64> {
    // Upper limit for any tagged speed.
    Some(tagged_speed(value?.trim())?.min(100.0))
}

fn tagged_speed(value: &str) -> Option<f64> {
    let number = |text: &str| {
        text.trim()
            .parse::<f64>()
            .ok()
            .filter(|v| *v >= 1.0 && *v <= 300.0)
    };
    // Numbers without a unit are in km/h (Key:maxspeed). Values such as IE:urban and `none` have no number,
    // so the default of the class applies.
    if let Some(mph) = value.strip_suffix("mph") {
        return Some(number(mph)? * 0.44704);
    }
    if let Some(knots) = value.strip_suffix("knots") {
        return Some(number(knots)? * 0.514_444);
    }
    // Walking pace: 6 km/h.
    if value == "walk" {
        return Some(6.0 / 3.6);
    }
    Some(number(value.strip_suffix("km/h").unwrap_or(value))? / 3.6)
}

#[cfg(test)]
mod tests {
    use super::*;
    use roadwright_scenario::DrivingSide;

    fn style_of(tags: &[(&str, &str)]) -> Result<WayStyle, String> {
        style(
            &tags
                .iter()
                .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
                .collect(),
        )
    }

    #[test]
    fn lanes_follow_their_tags() {
        let lanes = |tags: &[(&str, &str)]| {
            let mut all = vec![("highway", "secondary")];
            all.extend(tags);
            let section = style_of(&all).unwrap().section;
            (section.forward.len(), section.backward.len())
        };
        assert_eq!(lanes(&[]), (1, 1));
        assert_eq!(lanes(&[("oneway", "yes")]), (1, 0));
        assert_eq!(lanes(&[("oneway", "-1"), ("lanes", "3")]), (3, 0));
        assert_eq!(lanes(&[("lanes", "3")]), (2, 1));
        assert_eq!(lanes(&[("lanes", "3"), ("lanes:backward", "2")]), (1, 2));
        assert_eq!(lanes(&[("lanes", "1")]), (1, 1));
        assert_eq!(lanes(&[("lanes", "many")]), (1, 1));
        assert_eq!(lanes(&[("junction", "roundabout")]), (1, 0));
    }

    #[test]
    fn buses_get_the_outer_lane_or_a_lane_against_the_street() {
        let kinds = |tags: &[(&str, &str)]| {
            let style = style_of(tags).unwrap();
            let mut lanes = style.section.lanes(DrivingSide::Right).1;
            style.bus_lanes.apply(&mut lanes, DrivingSide::Right);
            let lanes = lanes.lanes.iter();
            lanes.map(|lane| (lane.id, lane.kind)).collect::<Vec<_>>()
        };
        let one_way = [("highway", "primary"), ("oneway", "yes"), ("lanes", "3")];
        let with = |tag| [&one_way[..], &[tag]].concat();
        assert_eq!(
            kinds(&with(("lanes:psv", "1"))),
            [
                (-1, LaneType::Driving),
                (-2, LaneType::Driving),
                (-3, LaneType::Bus)
            ]
        );
        assert_eq!(
            kinds(&with(("busway:left", "opposite_lane"))),
            [
                (1, LaneType::Bus),
                (-1, LaneType::Driving),
                (-2, LaneType::Driving)
            ]
        );
        // If `lanes` is missing, the bus lane is added to the usual number of lanes.
        assert_eq!(
            kinds(&[
                ("highway", "primary"),
                ("oneway", "yes"),
                ("busway", "lane")
            ]),
            [(-1, LaneType::Driving), (-2, LaneType::Bus)]
        );
        let only = [
            ("highway", "service"),
            ("motor_vehicle", "no"),
            ("psv", "yes"),
        ];
        assert_eq!(kinds(&only), [(1, LaneType::Bus), (-1, LaneType::Bus)]);
    }

    #[test]
    fn a_centre_turn_lane_is_a_painted_median_of_its_width() {
        let tags = [
            ("highway", "secondary"),
            ("lanes", "5"),
            ("lanes:both_ways", "1"),
        ];
        let style = style_of(&tags).unwrap();
        for side in [DrivingSide::Right, DrivingSide::Left] {
            let (offset, lanes) = style.section.lanes(side);
            assert!(offset.is_empty());
            let median = lanes
                .lanes
                .iter()
                .filter(|l| l.kind == LaneType::PaintedMedian);
            let widths: Vec<_> = median.map(|l| (l.id, l.width[0].a.get())).collect();
            assert_eq!(widths, [(1, 1.625), (-1, 1.625)]);
            let driven = lanes.lanes.iter().filter(|l| l.kind == LaneType::Driving);
            assert_eq!(driven.map(|l| l.id).collect::<Vec<_>>(), [3, 2, -2, -3]);
        }
        assert_eq!(style.notes.len(), 1);
    }

    #[test]
    fn speeds_layers_and_closed_ways_are_read() {
        let speed = |value| {
            style_of(&[("highway", "primary"), ("maxspeed", value)])
                .unwrap()
                .speed_limit
        };
        assert!((speed("50") - 50.0 / 3.6).abs() < 1e-12);
        assert!((speed("30 mph") - 13.4112).abs() < 1e-9);
        assert_eq!(speed("IE:urban"), 50.0 / 3.6);
        let layer = |key, value| {
            style_of(&[("highway", "primary"), (key, value)])
                .unwrap()
                .layer
        };
        assert_eq!(
            (
                layer("bridge", "yes"),
                layer("tunnel", "yes"),
                layer("layer", "2")
            ),
            (1, -1, 2)
        );
        assert!(
            style_of(&[("highway", "footway")])
                .unwrap_err()
                .contains("footway")
        );
        assert!(style_of(&[("highway", "service"), ("access", "no")]).is_err());
    }

    #[test]
    fn access_goes_by_the_most_specific_key() {
        use RoadAccess::{All, Customers, Delivery, Destination, Permit, Private};
        let cases: [(&[(&str, &str)], _); 11] = [
            (&[], All),
            (&[("access", "private")], Private),
            (&[("access", "permissive")], All),
            (&[("vehicle", "destination")], Destination),
            (&[("access", "private"), ("motor_vehicle", "yes")], All),
            (&[("access", "yes"), ("motor_vehicle", "private")], Private),
            (
                &[("motor_vehicle", "no"), ("motorcar", "customers")],
                Customers,
            ),
            (&[("access", "delivery")], Delivery),
            (&[("access", "private;customers")], Customers),
            (&[("motor_vehicle", "residents")], Permit),
            (&[("access", "agricultural;forestry")], Private),
        ];
        for (tags, expected) in cases {
            let all = [&[("highway", "service")], tags].concat();
            assert_eq!(style_of(&all).unwrap().access, expected, "{tags:?}");
        }
        assert!(style_of(&[("highway", "service"), ("motorcar", "no")]).is_err());
    }
}
