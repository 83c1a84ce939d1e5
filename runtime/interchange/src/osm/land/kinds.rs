//! Kinds of areas, derived from their tags: buildings with a height, and land uses.

use super::super::elements::Tags;
use roadwright_scenario::LandUse;

/// Keys that are kept for outlines. Other keys, mostly for addresses, are dropped while reading.
const KEYS: [&str; 20] = [
    "aeroway",
    "amenity",
    "area",
    "building",
    "building:levels",
    "height",
    "highway",
    "landuse",
    "layer",
    "leisure",
    "location",
    "man_made",
    "name",
    "natural",
    "place",
    "railway",
    "tunnel",
    "type",
    "water",
    "waterway",
];

/// Whether a key is relevant for land.
pub(in super::super) fn matters(key: &str) -> bool {
    KEYS.binary_search(&key).is_ok()
}

/// Height of a storey, m.
const STOREY: f64 = 3.0;
/// Range of plausible heights, m: from a kiosk to the tallest building in the world.
const HEIGHTS: (f64, f64) = (2.0, 830.0);

/// Kind of an imported area.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Kind {
    /// A building with a height, m.
    Building(f64),
    /// Ground with a land use.
    Ground(LandUse),
}

/// Returns the kind of an area, or the reason why it is left out; `None` if the tags do not describe land.
pub(super) fn kind(tags: &Tags) -> Option<Result<Kind, &'static str>> {
    let value = |key: &str| tags.get(key).map(String::as_str).unwrap_or_default();
    let is_below = value("location") == "underground"
        || value("layer").parse::<f64>().is_ok_and(|layer| layer < 0.0)
        || !matches!(value("tunnel"), "" | "no");
    let found = match value("building") {
        "" | "no" => Kind::Ground(usage(tags)?),
        // A roof on posts covers other ground, which stays open.
        "roof" | "carport" | "canopy" => return Some(Err("roofs on posts (building=roof)")),
        building => Kind::Building(height(tags, building)),
    };
    Some(match (is_below, found) {
        (false, found) => Ok(found),
        (true, Kind::Building(_)) => Err("underground buildings"),
        (true, Kind::Ground(_)) => Err("underground land areas (water in tunnels and pipes)"),
    })
}

/// Returns the height of a building, m. It comes from the tagged height, the number of storeys, or
/// the usual value for the building's kind.
fn height(tags: &Tags, building: &str) -> f64 {
    let metres = tags.get("height").and_then(|text| metres(text));
    let storeys = || {
        let levels = tags.get("building:levels")?;
        // If there are several values or a range, the first one is used.
        let first = levels.split([';', '-', ',']).next()?;
        first.trim().parse::<f64>().ok()
    };
    let usual = || match building {
        "garage" | "garages" | "shed" | "hut" | "kiosk" | "cabin" | "service" | "greenhouse" => 3.0,
        "house" | "detached" | "semidetached_house" | "terrace" | "bungalow" | "farm" => 7.0,
        "apartments" | "hotel" | "office" | "commercial" | "university" | "hospital"
        | "dormitory" | "public" | "civic" | "government" => 13.0,
        "church" | "cathedral" | "stadium" | "train_station" => 16.0,
        _ => 8.0,
    };
    let found = metres.or_else(|| storeys().map(|levels| STOREY * levels));
    let known = found.filter(|height| height.is_finite() && *height > 0.0);
    known.unwrap_or_else(usual).clamp(HEIGHTS.0, HEIGHTS.1)
}

/// Parses a length such as `12`, `12.5 m`, `40 ft` or `40'`. Returns metres; `None` if the text is not a
/// length.
fn metres(text: &str) -> Option<f64> {
    let text = text.trim();
    let feet = text.strip_suffix("ft").or_else(|| text.strip_suffix('\''));
    let (number, unit) = match feet {
        Some(number) => (number, 0.3048),
        None => (text.strip_suffix('m').unwrap_or(text), 1.0),
    };
    number.trim().parse::<f64>().ok().map(|value| unit * value)
}

/// Returns the land use; `None` if the tags describe something else.
fn usage(tags: &Tags) -> Option<LandUse> {
    let value = |key: &str| tags.get(key).map(String::as_str).unwrap_or_default();
    // The actual cover overrides the intended use, so a pond in a park is water.
    covered(value("natural"), value("waterway"), value("water"))
        .or_else(|| of_leisure(value("leisure")))
        .or_else(|| paved(tags))
        .or_else(|| of_landuse(value("landuse")))
        .or_else(|| match value("amenity") {
            "university" | "college" | "school" | "kindergarten" | "hospital" | "prison" => {
                Some(LandUse::Commercial)
            }
            "grave_yard" => Some(LandUse::Grass),
            _ => None,
        })
}

fn covered(natural: &str, waterway: &str, water: &str) -> Option<LandUse> {
    match natural {
        "water" | "bay" | "strait" => return Some(LandUse::Water),
        "wood" => return Some(LandUse::Wood),
        "grassland" | "scrub" | "heath" | "wetland" | "fell" => return Some(LandUse::Grass),
        "sand" | "beach" | "shingle" | "bare_rock" | "scree" | "mud" => return Some(LandUse::Sand),
        _ => {}
    }
    match waterway {
        "riverbank" | "dock" | "canal_basin" => Some(LandUse::Water),
        _ if !water.is_empty() && waterway.is_empty() => Some(LandUse::Water),
        _ => None,
    }
}

fn of_leisure(leisure: &str) -> Option<LandUse> {
    match leisure {
        "park" | "garden" | "playground" | "dog_park" => Some(LandUse::Park),
        "pitch" | "track" => Some(LandUse::Pitch),
        "golf_course" | "sports_centre" | "stadium" | "common" => Some(LandUse::Grass),
        "swimming_pool" | "marina" => Some(LandUse::Water),
        _ => None,
    }
}

fn paved(tags: &Tags) -> Option<LandUse> {
    let is = |key: &str, value: &str| tags.get(key).is_some_and(|found| found == value);
    let any = |key: &str, all: &[&str]| all.iter().any(|value| is(key, value));
    let is_paved = any(
        "amenity",
        &["parking", "marketplace", "fuel", "bus_station"],
    ) || is("place", "square")
        || any("railway", &["platform"])
        || any("man_made", &["pier", "breakwater"])
        || any("aeroway", &["apron", "helipad"])
        || is("area", "yes") && any("highway", &["pedestrian", "footway", "service"]);
    is_paved.then_some(LandUse::Paved)
}

fn of_landuse(landuse: &str) -> Option<LandUse> {
    match landuse {
        "reservoir" | "basin" => Some(LandUse::Water),
        "forest" => Some(LandUse::Wood),
        "grass" | "meadow" | "village_green" | "recreation_ground" | "greenfield" | "farmland"
        | "orchard" | "vineyard" | "flowerbed" | "cemetery" | "allotments" | "farm" => {
            Some(LandUse::Grass)
        }
        "residential" => Some(LandUse::Residential),
        "commercial" | "retail" | "industrial" | "construction" | "brownfield" | "railway"
        | "education" | "institutional" | "religious" | "garages" | "port" | "depot" => {
            Some(LandUse::Commercial)
        }
        "quarry" | "landfill" => Some(LandUse::Sand),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tags(text: &str) -> Tags {
        let pairs = text.split_whitespace().filter_map(|pair| {
            let (key, value) = pair.split_once('=')?;
            Some((key.to_owned(), value.replace('_', " ").replace("~", "_")))
        });
        pairs.collect()
    }

    #[test]
    fn keys_are_in_order_for_the_search() {
        assert!(KEYS.is_sorted());
        assert!(matters("building:levels") && !matters("addr:street") && !matters("building:part"));
    }

    #[test]
    fn tags_tell_what_an_area_is() {
        use LandUse as U;
        let ground = |usage| Some(Ok(Kind::Ground(usage)));
        let building = |height| Some(Ok(Kind::Building(height)));
        for (text, expected) in [
            ("leisure=park name=Green", ground(U::Park)),
            ("natural=water landuse=grass", ground(U::Water)),
            ("waterway=riverbank", ground(U::Water)),
            ("landuse=residential", ground(U::Residential)),
            ("highway=pedestrian area=yes", ground(U::Paved)),
            ("highway=pedestrian", None),
            ("amenity=university", ground(U::Commercial)),
            ("amenity=bench", None),
            ("boundary=administrative", None),
            ("", None),
            ("building=yes", building(8.0)),
            ("building=yes height=12_m", building(12.0)),
            ("building=yes height=40'", building(0.3048 * 40.0)),
            ("building=yes building:levels=4", building(12.0)),
            ("building=yes building:levels=2;3", building(6.0)),
            ("building=yes height=tall building:levels=x", building(8.0)),
            ("building=yes height=-5", building(8.0)),
            ("building=yes height=1e9", building(830.0)),
            ("building=yes height=NaN", building(8.0)),
            ("building=garage", building(3.0)),
            ("building=no leisure=park", ground(U::Park)),
        ] {
            assert_eq!(kind(&tags(text)), expected, "{text}");
        }
        for text in [
            "building=roof",
            "building=yes layer=-1",
            "natural=water tunnel=culvert",
        ] {
            assert!(matches!(kind(&tags(text)), Some(Err(_))), "{text}");
        }
    }
}
