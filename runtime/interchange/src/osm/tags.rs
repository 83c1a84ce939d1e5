//! Road properties from the tags of a way.
//!
//! The meaning of tags is that in the OpenStreetMap wiki, on the page of each key: Key:highway, Key:access,
//! Key:oneway, Key:lanes, Key:layer, Key:maxspeed, Key:turn.

use super::change_lanes::{self, ChangeLanes};
use super::elements::Tags;
use super::turn_lanes::{self, TurnLanes};
use roadwright_scenario::{CrossSection, LaneType, RoadAccess, RoadClass};

/// Properties of the road that a drivable way becomes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct WayStyle {
    pub(super) name: String,
    pub(super) class: RoadClass,
    pub(super) layer: i8,
    /// Access to the road. Never `No`, because such ways are left out.
    pub(super) access: RoadAccess,
    /// Speed limit, m/s.
    pub(super) speed_limit: f64,
    pub(super) section: CrossSection,
    /// The arrows on its lanes.
    pub(super) turn_lanes: TurnLanes,
    /// Whether the way has arrows that do not match the number of its lanes.
    pub(super) has_wrong_arrows: bool,
    /// Permitted lane changes.
    pub(super) change_lanes: ChangeLanes,
    /// Reason why some of its lane change tags are ignored; `None` if all are used.
    pub(super) wrong_changes: Option<&'static str>,
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
    // The nodes of a square run around it, so a street with these nodes would be a ring.
    if get("area") == Some("yes") {
        return Err("area=yes: an area, not a street".into());
    }
    let (users, access) = users(tags)?;
    let direction = direction(tags);
    let section = section(tags, class, lane_width, direction, users);
    let (turn_lanes, has_wrong_arrows) = turn_lanes::read(tags, &section);
    let (change_lanes, wrong_changes) = change_lanes::read(tags, &section);
    Ok(WayStyle {
        name: get("name").unwrap_or_default().to_owned(),
        class,
        layer: layer(tags),
        access,
        speed_limit: speed_limit(get("maxspeed")).unwrap_or(class.default_speed_limit()),
        section,
        turn_lanes,
        has_wrong_arrows,
        change_lanes,
        wrong_changes,
        reversed: direction == Direction::Against,
    })
}

/// Class and usual lane width (m) of the highways that motor vehicles use.
fn class_of(highway: &str) -> Option<(RoadClass, f64)> {
    Some(match highway {
        // Widths are the usual ones for the class, because `width` is rarely tagged, and then often means the
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

/// The motor vehicles that may use a way.
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
    // decides, so that access=no with motor_vehicle=yes is open.
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

/// Returns the access that a value stands for. Of several values (`customers;delivery`), the most open one is
/// used.
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

/// Driving directions of a way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Direction {
    Both,
    Along,
    Against,
}

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

/// Returns the lanes according to `lanes`, `lanes:forward`, `lanes:backward`, `lanes:psv` and the class.
fn section(
    tags: &Tags,
    class: RoadClass,
    width: f64,
    direction: Direction,
    users: Users,
) -> CrossSection {
    let (forward, backward) = lane_counts(tags, class, direction);
    let mut section = CrossSection::driving(forward, backward, width);
    if users == Users::BusOnly {
        for lane in section.forward.iter_mut().chain(&mut section.backward) {
            lane.0 = LaneType::Bus;
        }
    } else {
        add_bus_lanes(&mut section, tags, direction);
    }
    section
}

/// Reads a number of lanes from a tag; `None` if it is missing or absurd.
fn count(tags: &Tags, key: &str) -> Option<usize> {
    // `lanes=2;3` occurs where two stretches were joined, and either value is acceptable. Fractions such as
    // 1.5 are used for narrow two-way roads, and are rounded down.
    let value = tags.get(key)?.split(';').next()?.trim();
    let value = value.parse::<f64>().ok()?;
    (1.0..=12.0).contains(&value).then_some(value as usize)
}

/// Returns the numbers of lanes along and against the way.
///
/// | tags | along | against |
/// | --- | --- | --- |
/// | none | 1 | 1 |
/// | lanes=3 | 2 | 1 |
/// | lanes=3, lanes:backward=2 | 1 | 2 |
/// | lanes=3, oneway=yes | 3 | 0 |
fn lane_counts(tags: &Tags, class: RoadClass, direction: Direction) -> (usize, usize) {
    let count = |key| count(tags, key);
    let total = count("lanes");
    if direction != Direction::Both {
        let usual = if class == RoadClass::Motorway { 2 } else { 1 };
        return (total.or(count("lanes:forward")).unwrap_or(usual), 0);
    }
    // `lanes` counts both directions together (Key:lanes). On a two-way road with lanes=1 both directions
    // share the lane. The scenario has no such road, so it gets a lane in each direction.
    let all = total.unwrap_or(2).max(2);
    match (count("lanes:forward"), count("lanes:backward")) {
        (Some(f), Some(b)) => (f, b),
        (Some(f), None) => (f, all.saturating_sub(f).max(1)),
        (None, Some(b)) => (all.saturating_sub(b).max(1), b),
        (None, None) => (all.div_ceil(2), (all / 2).max(1)),
    }
}

/// Converts lanes to bus lanes according to `lanes:psv` and `lanes:bus`. `lanes` already includes them.
fn add_bus_lanes(section: &mut CrossSection, tags: &Tags, direction: Direction) {
    let count = |key| count(tags, key);
    // Without a direction in the key, a number is only unambiguous on a one-way road.
    let any = if direction == Direction::Both {
        None
    } else {
        count("lanes:psv").or(count("lanes:bus"))
    };
    let along = count("lanes:psv:forward")
        .or(count("lanes:bus:forward"))
        .or(any);
    let against = count("lanes:psv:backward").or(count("lanes:bus:backward"));
    reserve_for_buses(&mut section.forward, along);
    reserve_for_buses(&mut section.backward, against);
}

/// Makes the outermost lanes bus lanes, but keeps at least one for general traffic.
fn reserve_for_buses(lanes: &mut [(LaneType, f64)], count: Option<usize>) {
    let count = count.unwrap_or(0).min(lanes.len().saturating_sub(1));
    // Lanes are listed from the middle outwards, so the last ones are at the kerb, where bus stops are.
    let first = lanes.len() - count;
    for lane in &mut lanes[first..] {
        lane.0 = LaneType::Bus;
    }
}

fn layer(tags: &Tags) -> i8 {
    let get = |key: &str| tags.get(key).map(String::as_str);
    let tagged = get("layer").and_then(|value| value.trim().parse::<f64>().ok());
    let is = |key: &str| get(key).is_some_and(|value| value != "no");
    // A bridge without a layer is put above the ground, so that it is not cut where it crosses the road
    // below. A passage through a building stays at street level.
    match tagged {
        Some(layer) => layer.clamp(-10.0, 10.0) as i8,
        None if is("bridge") => 1,
        None if is("tunnel") && get("tunnel") != Some("building_passage") => -1,
        None => 0,
    }
}

/// Reads `maxspeed` in m/s; `None` if it has no number.
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
    fn buses_get_the_outer_lane() {
        let tags = [
            ("highway", "primary"),
            ("oneway", "yes"),
            ("lanes", "3"),
            ("lanes:psv", "1"),
        ];
        let section = style_of(&tags).unwrap().section;
        let kinds: Vec<_> = section.forward.iter().map(|lane| lane.0).collect();
        assert_eq!(kinds, [LaneType::Driving, LaneType::Driving, LaneType::Bus]);
        let only = [
            ("highway", "service"),
            ("motor_vehicle", "no"),
            ("psv", "yes"),
        ];
        assert!(
            style_of(&only)
                .unwrap()
                .section
                .forward
                .iter()
                .all(|l| l.0 == LaneType::Bus)
        );
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
