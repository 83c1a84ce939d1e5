//! Names of parking bays in pictures.

use roadwright_geometry::DVec2;
use roadwright_render::{Picture, map};
use roadwright_scenario::*;

/// Pixels per metre of the picture.
const SCALE: f64 = 20.0;
/// Half the width and height of the picture, m.
const HALF: f64 = 10.0;

/// Returns the picture of a bay that heads east, with its middle in the middle of the picture.
fn picture(name: &str) -> tiny_skia::Pixmap {
    let mut scenario = Scenario::new("bays");
    let bay = PointOfInterest {
        name: name.into(),
        x: 0.0.into(),
        y: 0.0.into(),
        heading: Some(0.0).into(),
    };
    let edit = Edit::PointOfInterest(PointOfInterestId(1), Some(Box::new(bay)));
    scenario.apply(edit).unwrap();
    let size = (2.0 * HALF * SCALE) as u32;
    let picture = Picture {
        size: (size, size),
        view: Some((DVec2::splat(-HALF), DVec2::splat(HALF))),
        furnished: false,
        ..Picture::default()
    };
    let png = map(&scenario, None, &picture).unwrap();
    tiny_skia::Pixmap::decode_png(&png).unwrap()
}

/// Returns the places at which two pictures differ, m.
fn differences(one: &tiny_skia::Pixmap, other: &tiny_skia::Pixmap) -> Vec<DVec2> {
    let pairs = one.pixels().iter().zip(other.pixels()).enumerate();
    let width = one.width() as usize;
    pairs
        .filter(|(_, (one, other))| one != other)
        .map(|(at, _)| {
            let pixel = DVec2::new((at % width) as f64, (at / width) as f64);
            DVec2::new(pixel.x / SCALE - HALF, HALF - pixel.y / SCALE)
        })
        .collect()
}

#[test]
fn the_name_of_a_bay_is_written_into_it_behind_its_arrow() {
    let written = differences(&picture("Bay 1"), &picture(""));
    assert!(written.len() > 50, "{}", written.len());
    for place in written {
        let is_inside = place.x.abs() < 0.5 * BAY.0 && place.y.abs() < 0.5 * BAY.1;
        assert!(is_inside && place.x < 0.9, "{place}");
    }
    // A name that is too long is left out.
    let long = differences(
        &picture("A bay for visitors of the town hall"),
        &picture(""),
    );
    assert_eq!(long, []);
}
