//! Junctions from real towns whose outlines are hard to get right. Their edges must not have ledges, and
//! there must be no slivers of asphalt or ground. Each has a picture, `tests/ledges/NAME.png`, which is
//! rewritten if `UPDATE_SNAPSHOTS=1` is set.

use i_overlay::core::fill_rule::FillRule;
use i_overlay::core::overlay_rule::OverlayRule;
use i_overlay::float::single::SingleFloatOverlay;
use i_overlay::mesh::outline::offset::OutlineOffset;
use i_overlay::mesh::style::{LineJoin, OutlineStyle};
use roadwright_geometry::fillet::{FilletOptions, fillet};
use roadwright_geometry::math::wrap_angle;
use roadwright_geometry::{DVec2, Pose, ReferenceLine, Segment, heading_of, polygon, unit};
use roadwright_render::{Picture, map};
use roadwright_scenario::junction::layout;
use roadwright_scenario::operation::draw::{self, RoadStyle};
use roadwright_scenario::*;
use std::f64::consts::{FRAC_PI_2, TAU};
use std::path::PathBuf;

type Shapes = Vec<Vec<Vec<[f64; 2]>>>;

/// Tolerance of arcs, m.
const TOLERANCE: f64 = 1e-3;
/// Largest permitted change of direction at a point of an edge, rad.
const MOST_KINK: f64 = 30.0 * TAU / 360.0;
/// Distance below which points of an edge count as the same point, m. Seams are not more accurate than this.
const POINT: f64 = 0.03;
/// Half the width of a sliver of ground, and half the width of a sliver of asphalt, m.
const GROUND: f64 = 0.55;
const ASPHALT: f64 = 0.9;
/// Area below which slivers are ignored, m^2. Smaller slivers are seams or tips of noses.
const SPECK: f64 = 0.25;

/// A part of a town that a test builds.
struct Place {
    scenario: Scenario,
    side: DrivingSide,
}

impl Place {
    fn new(side: DrivingSide) -> Self {
        let mut scenario = Scenario::new("place");
        let about = About {
            driving_side: side,
            ..scenario.about().clone()
        };
        scenario.apply(Edit::About(Box::new(about))).unwrap();
        Self { scenario, side }
    }

    fn line(&mut self, line: &ReferenceLine, style: &RoadStyle) {
        let edit = draw::road(&self.scenario, line, style).unwrap();
        self.scenario.apply(edit).unwrap();
    }

    /// Adds a road through points, with bends of 15 m.
    fn road(&mut self, points: &[(f64, f64)], style: &RoadStyle) {
        let points: Vec<DVec2> = points.iter().map(|&p| DVec2::from(p)).collect();
        let options = FilletOptions {
            radius: 15.0,
            miss: 1e3,
        };
        self.line(&fillet(&points, options).unwrap(), style);
    }

    /// Adds a ring of one-way roads with nodes at the given bearings, in degrees counter-clockwise.
    fn ring(&mut self, centre: (f64, f64), radius: f64, bearings: &[f64], style: &RoadStyle) {
        let turn = match self.side {
            DrivingSide::Right => 1.0,
            DrivingSide::Left => -1.0,
        };
        for (i, from) in bearings.iter().enumerate() {
            let before = bearings[(i + bearings.len() - 1) % bearings.len()];
            let after = bearings[(i + 1) % bearings.len()];
            let to = if turn > 0.0 { after } else { before };
            let sweep = (turn * (to - from)).rem_euclid(360.0).to_radians();
            let start = Pose {
                position: DVec2::from(centre) + radius * unit(from.to_radians()),
                heading: from.to_radians() + turn * FRAC_PI_2,
            };
            let bend = Segment::Arc {
                length: radius * sweep,
                curvature: turn / radius,
            };
            self.line(&ReferenceLine::new(start, vec![bend]).unwrap(), style);
        }
    }
}

fn style(class: RoadClass, forward: usize, backward: usize, width: f64) -> RoadStyle {
    RoadStyle {
        name: String::new(),
        class,
        layer: 0,
        speed_limit: 30.0 / 3.6,
        section: CrossSection::driving(forward, backward, width),
    }
}

/// Creates a one-way street that starts at a sharp angle where three others meet, and reaches the
/// next street after 15 m. The arms of both ends form a single junction, as at College Green and
/// Grafton Street, Dublin.
fn college_green() -> Place {
    let mut place = Place::new(DrivingSide::Left);
    let bus = |forward: usize, backward: usize| {
        let lanes = |count| vec![(LaneType::Bus, 3.25); count];
        RoadStyle {
            section: CrossSection {
                forward: lanes(forward),
                backward: lanes(backward),
            },
            ..style(RoadClass::Arterial, 1, 1, 3.25)
        }
    };
    let (meeting, west) = ((0.0, 0.0), (-11.4, -9.9));
    place.road(&[(20.0, 76.0), (6.0, 23.0), meeting], &bus(2, 1));
    place.road(&[meeting, west], &bus(1, 0));
    let two = style(RoadClass::Arterial, 2, 0, 3.25);
    place.road(&[west, (-27.0, -15.5), (-81.0, -20.0)], &two);
    let service = style(RoadClass::Service, 1, 1, 2.5);
    place.road(&[meeting, (22.0, -0.8), (60.0, -3.5)], &service);
    let south = style(RoadClass::Arterial, 1, 1, 3.25);
    place.road(
        &[meeting, (-0.1, -6.0), (5.0, -25.0), (12.0, -90.0)],
        &south,
    );
    place
}

/// Creates a street that splits into two carriageways for 40 m, twice in a row, with a side street
/// in between. This results in three junctions near each other, as in Borough, London.
fn sausage_links() -> Place {
    let mut place = Place::new(DrivingSide::Left);
    let street = style(RoadClass::Collector, 1, 1, 3.25);
    let half = style(RoadClass::Collector, 1, 0, 3.25);
    place.road(&[(-90.0, 4.0), (-46.0, 0.0)], &street);
    for (from, to) in [(-46.0, 0.0), (0.0, 48.0)] {
        let (a, b) = (from + 12.0, to - 12.0);
        place.road(&[(from, 0.0), (a, 3.4), (b, 3.4), (to, 0.0)], &half);
        place.road(&[(to, 0.0), (b, -3.4), (a, -3.4), (from, 0.0)], &half);
    }
    place.road(&[(48.0, 0.0), (92.0, -5.0)], &street);
    let side = style(RoadClass::Residential, 1, 1, 3.0);
    place.road(&[(0.0, 0.0), (-8.0, 60.0)], &side);
    place
}

/// Creates two rings with a radius of 11 m side by side, which share the roads between them, as in
/// Perth.
fn peanut() -> Place {
    let mut place = Place::new(DrivingSide::Left);
    let ring = style(RoadClass::Residential, 1, 0, 4.5);
    let street = style(RoadClass::Residential, 1, 1, 3.2);
    let centres = [(-15.0, 0.0), (15.0, 0.0)];
    let bearings = [[45.0, 110.0, 180.0, 315.0], [0.0, 135.0, 225.0, 290.0]];
    for (centre, bearings) in centres.into_iter().zip(&bearings) {
        place.ring(centre, 11.0, bearings, &ring);
    }
    let on = |i: usize, bearing: f64, radius: f64| {
        (DVec2::from(centres[i]) + radius * unit(bearing.to_radians())).into()
    };
    // Between the rings, there is one road in each direction.
    place.road(&[on(0, 45.0, 11.0), on(1, 135.0, 11.0)], &ring);
    place.road(&[on(1, 225.0, 11.0), on(0, 315.0, 11.0)], &ring);
    for (i, bearing) in [(0, 110.0), (0, 180.0), (1, 0.0), (1, 290.0)] {
        place.road(&[on(i, bearing, 80.0), on(i, bearing, 11.0)], &street);
    }
    place
}

/// Creates a ring with a radius of 25 m whose exit to the south-west diverges slowly, as in Leeds.
fn slow_exit() -> Place {
    let mut place = Place::new(DrivingSide::Left);
    let ring = style(RoadClass::Arterial, 2, 0, 3.5);
    let bearings = [20.0, 110.0, 200.0, 235.0, 300.0];
    place.ring((0.0, 0.0), 25.0, &bearings, &ring);
    let on = |bearing: f64, radius: f64| (radius * unit(f64::to_radians(bearing))).into();
    let street = style(RoadClass::Arterial, 1, 1, 3.5);
    for bearing in [20.0, 110.0, 300.0] {
        place.road(&[on(bearing, 100.0), on(bearing, 25.0)], &street);
    }
    let half = style(RoadClass::Arterial, 1, 0, 3.5);
    // The ring is clockwise, so the exit at 235 degrees heads west.
    place.road(&[on(235.0, 25.0), (-32.0, -23.0), (-100.0, -40.0)], &half);
    place.road(&[(-100.0, -32.0), (-40.0, -14.0), on(200.0, 25.0)], &half);
    place
}

fn ring(points: impl IntoIterator<Item = DVec2>) -> Vec<Vec<[f64; 2]>> {
    vec![points.into_iter().map(|p| p.to_array()).collect()]
}

fn overlay(a: &Shapes, rule: OverlayRule, b: &Shapes) -> Shapes {
    a.overlay(b, rule, FillRule::NonZero)
}

fn grown(shapes: &Shapes, by: f64) -> Shapes {
    let style = OutlineStyle::new(by).line_join(LineJoin::Round(0.02));
    shapes.outline(&style)
}

/// Returns the area of all carriageways and junctions.
fn asphalt(scenario: &Scenario) -> Shapes {
    let layout = layout(scenario.network(), scenario.about());
    let mut shapes = Vec::new();
    for (id, road) in scenario.network().roads() {
        let Some((from, to)) = layout.remaining(id, road) else {
            continue;
        };
        let count = ((to - from) / 0.5).ceil().max(1.0) as usize;
        let places = (0..=count).map(|i| from + (to - from) * i as f64 / count as f64);
        let edge = |is_left: bool, s: f64| {
            let (right, left) = road.carriageway(s);
            road.reference_line
                .point(s, if is_left { left } else { right })
        };
        let right = places.clone().map(|s| edge(false, s));
        let left = places.rev().map(|s| edge(true, s));
        shapes.push(ring(right.chain(left)));
    }
    let junctions = layout.junctions.iter();
    shapes.extend(junctions.map(|junction| ring(junction.polygon_within(TOLERANCE))));
    let none: Shapes = Vec::new();
    // Seams are up to a micrometre wide.
    grown(&overlay(&shapes, OverlayRule::Union, &none), 1e-4)
}

/// Returns points at which edges change direction sharply, with the angles in degrees.
fn kinks(shapes: &Shapes) -> Vec<(DVec2, f64)> {
    let mut found = Vec::new();
    for ring in shapes.iter().flatten() {
        let mut points: Vec<DVec2> = ring.iter().map(|p| DVec2::from_array(*p)).collect();
        points.dedup_by(|a, b| (*a - *b).length() < POINT);
        let count = points.len();
        for i in 0..count {
            let (a, b, c) = (points[i], points[(i + 1) % count], points[(i + 2) % count]);
            if (b - a).length() < POINT || (c - b).length() < POINT {
                continue;
            }
            let turn = wrap_angle(heading_of(c - b) - heading_of(b - a));
            if turn.abs() > MOST_KINK {
                found.push((b, turn.to_degrees()));
            }
        }
    }
    found
}

/// Returns the middles and areas of pieces that are large enough to matter.
fn pieces(shapes: &Shapes) -> Vec<(DVec2, f64)> {
    let rings = shapes.iter().filter_map(|shape| shape.first());
    let sized = rings.map(|ring| {
        let points: Vec<DVec2> = ring.iter().map(|p| DVec2::from_array(*p)).collect();
        let middle = points.iter().sum::<DVec2>() / points.len() as f64;
        (middle, polygon::signed_area(&points).abs())
    });
    sized.filter(|(_, area)| *area > SPECK).collect()
}

/// Returns pieces of ground and asphalt that are too narrow to be built.
fn slivers(asphalt: &Shapes) -> [Vec<(DVec2, f64)>; 2] {
    let closed = grown(&grown(asphalt, GROUND), -GROUND);
    let opened = grown(&grown(asphalt, -ASPHALT), ASPHALT);
    [
        pieces(&overlay(&closed, OverlayRule::Difference, asphalt)),
        pieces(&overlay(asphalt, OverlayRule::Difference, &opened)),
    ]
}

fn assert_well_built(name: &str, place: &Place) {
    let asphalt = asphalt(&place.scenario);
    let (kinks, [ground, narrow]) = (kinks(&asphalt), slivers(&asphalt));
    assert!(kinks.is_empty(), "{name}: the edge turns at {kinks:?}");
    assert!(ground.is_empty(), "{name}: slivers of ground at {ground:?}");
    assert!(
        narrow.is_empty(),
        "{name}: slivers of asphalt at {narrow:?}"
    );
}

/// Compares the middle of a place with its stored picture.
fn assert_looks_as_before(name: &str, place: &Place) {
    let picture = Picture {
        size: (480, 360),
        view: Some((DVec2::new(-60.0, -45.0), DVec2::new(60.0, 45.0))),
        furnished: false,
        ..Picture::default()
    };
    let png = map(&place.scenario, None, &picture).unwrap();
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/ledges");
    let file = folder.join(format!("{name}.png"));
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::create_dir_all(folder).unwrap();
        std::fs::write(&file, &png).unwrap();
    }
    let read = |bytes: &[u8]| tiny_skia::Pixmap::decode_png(bytes).unwrap();
    let (kept, drawn) = (read(&std::fs::read(&file).unwrap()), read(&png));
    let differs = |a: &tiny_skia::PremultipliedColorU8, b: &tiny_skia::PremultipliedColorU8| {
        let apart = [
            a.red().abs_diff(b.red()),
            a.green().abs_diff(b.green()),
            a.blue().abs_diff(b.blue()),
        ];
        apart.into_iter().any(|by| by > 16)
    };
    let pairs = kept.pixels().iter().zip(drawn.pixels());
    let count = pairs.filter(|(a, b)| differs(a, b)).count();
    // A dozen pixels correspond to a corner that has moved by about 10 cm.
    assert!(
        count < 12,
        "{name}: {count} pixels differ from {}; if that was meant, UPDATE_SNAPSHOTS=1",
        file.display()
    );
}

#[test]
fn named_places_have_no_ledges_and_no_slivers() {
    for (name, place) in [
        ("college_green", college_green()),
        ("sausage_links", sausage_links()),
        ("peanut", peanut()),
        ("slow_exit", slow_exit()),
    ] {
        assert_looks_as_before(name, &place);
        assert_well_built(name, &place);
    }
}

#[test]
fn ledges_and_slivers_are_found() {
    let square = |(x, y): (f64, f64), (w, h): (f64, f64)| {
        let corner = DVec2::new(x, y);
        let at = |a: f64, b: f64| corner + DVec2::new(a, b);
        ring([at(0.0, 0.0), at(w, 0.0), at(w, h), at(0.0, h)])
    };
    let none: Shapes = Vec::new();
    let union = |shapes: Shapes| overlay(&shapes, OverlayRule::Union, &none);
    let plain = union(vec![square((0.0, 0.0), (40.0, 7.0))]);
    assert_eq!(kinks(&plain).len(), 4);
    let ledge = union(vec![
        square((0.0, 0.0), (40.0, 7.0)),
        square((10.0, 7.0), (12.0, 5.5)),
    ]);
    assert_eq!(kinks(&ledge).len(), 8);
    let gap = union(vec![
        square((0.0, 0.0), (40.0, 7.0)),
        square((0.0, 8.0), (40.0, 7.0)),
    ]);
    assert_eq!(slivers(&gap)[0].len(), 1);
    let spur = union(vec![
        square((0.0, 0.0), (40.0, 7.0)),
        square((10.0, 7.0), (1.0, 6.0)),
    ]);
    assert!(!slivers(&spur)[1].is_empty());
}
