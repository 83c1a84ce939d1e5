//! Named places: points of interest and streets.

use roadwright_agent::NamedPlace;
use roadwright_scenario::Scenario;
use std::collections::BTreeMap;
use std::hash::Hasher;

/// Returns the named places, by name. A name shared by several points of interest refers to the
/// first one. A street name refers to the middle of the longest road with that name, unless a point
/// of interest has the same name.
pub(super) fn named_places(scenario: &Scenario) -> BTreeMap<String, NamedPlace> {
    let mut places = BTreeMap::new();
    for point in scenario.points_of_interest().values() {
        let place = NamedPlace {
            position: point.position(),
            heading: point.heading.get(),
        };
        // If two places have the same name, the first one is kept. Points of interest precede
        // streets.
        places.entry(point.name.clone()).or_insert(place);
    }
    let mut streets: BTreeMap<&str, (f64, NamedPlace)> = BTreeMap::new();
    for (_, road) in scenario.network().roads() {
        let (name, line) = (road.name.as_str(), &road.reference_line);
        let length = line.length();
        let is_longest = streets.get(name).is_none_or(|(known, _)| length > *known);
        if !name.is_empty() && is_longest {
            let middle = NamedPlace {
                position: line.point(0.5 * length, 0.0),
                heading: None,
            };
            streets.insert(name, (length, middle));
        }
    }
    for (name, (_, middle)) in streets {
        places.entry(name.to_owned()).or_insert(middle);
    }
    places
}

/// Adds points of interest to a hash. Streets are lanes, which are already hashed.
pub(super) fn hash(places: &BTreeMap<String, NamedPlace>, hasher: &mut impl Hasher) {
    for (name, place) in places {
        hasher.write(name.as_bytes());
        for value in [place.position.x, place.position.y] {
            hasher.write_u64(value.to_bits());
        }
        hasher.write_u64(place.heading.map_or(0, f64::to_bits));
    }
}
