//! Tests of the carriageways, kerbs and pavements of junctions, compared with a polygon library and
//! with each other.

use crate::common::draw;
use i_overlay::core::fill_rule::FillRule;
use i_overlay::core::overlay_rule::OverlayRule;
use i_overlay::float::single::SingleFloatOverlay;
use i_overlay::mesh::outline::offset::OutlineOffset;
use i_overlay::mesh::style::{LineJoin, OutlineStyle};
use roadwright_geometry::{DVec2, polygon};
use roadwright_scenario::junction::{Junction, Layout, layout};
use roadwright_scenario::operation::draw::RoadStyle;
use roadwright_scenario::*;
use std::path::PathBuf;

type Shapes = Vec<Vec<Vec<[f64; 2]>>>;

const TOLERANCE: f64 = 1e-3;

fn street(class: RoadClass, lanes: usize, pavement: f64) -> RoadStyle {
    let section = CrossSection::driving(lanes, lanes, 3.25);
    let with_pavement = section.clone().with_border(LaneType::Sidewalk, pavement);
    RoadStyle {
        name: String::new(),
        class,
        layer: 0,
        speed_limit: 50.0 / 3.6,
        section: if pavement > 0.0 {
            with_pavement
        } else {
            section
        },
    }
}

/// Creates straight roads of 100 m that start at a common centre.
fn star(arms: &[(f64, RoadStyle)]) -> Scenario {
    let mut scenario = Scenario::new("star");
    for (bearing, style) in arms {
        let far = roadwright_geometry::unit(bearing.to_radians()) * 100.0;
        draw(&mut scenario, far, (0.0, 0.0), style);
    }
    scenario
}

fn laid_out(scenario: &Scenario) -> Layout {
    layout(scenario.network(), scenario.about().driving_side)
}

fn crossing(layout: &Layout) -> &Junction {
    layout
        .junctions
        .iter()
        .find(|junction| junction.arms.len() > 2)
        .unwrap()
}

fn ring(points: &[DVec2]) -> Vec<Vec<[f64; 2]>> {
    vec![points.iter().map(|p| p.to_array()).collect()]
}

fn combined(a: &Shapes, rule: OverlayRule, b: &Shapes) -> Shapes {
    a.overlay(b, rule, FillRule::NonZero)
}

fn union(shapes: Vec<Vec<Vec<[f64; 2]>>>) -> Shapes {
    let none: Shapes = Vec::new();
    combined(&shapes, OverlayRule::Union, &none)
}

fn grown(shapes: &Shapes, by: f64) -> Shapes {
    let style = OutlineStyle::new(by).line_join(LineJoin::Round(0.02));
    shapes.outline(&style)
}

fn area(shapes: &Shapes) -> f64 {
    let rings = shapes.iter().flatten();
    rings
        .map(|ring| {
            let points: Vec<DVec2> = ring.iter().map(|p| DVec2::from_array(*p)).collect();
            polygon::signed_area(&points)
        })
        .sum::<f64>()
        .abs()
}

/// Returns the surface of a road between two lateral positions, from one distance to another.
fn band(road: &Road, from: f64, to: f64, right: f64, left: f64) -> Vec<Vec<[f64; 2]>> {
    let at = |s: f64, t: f64| road.reference_line.point(s, t);
    ring(&[at(from, right), at(to, right), at(to, left), at(from, left)])
}

/// Returns the carriageways and pavements as drawn.
fn drawn(scenario: &Scenario, layout: &Layout) -> (Shapes, Shapes) {
    let (mut carriageways, mut pavements) = (Vec::new(), Vec::new());
    for (id, road) in scenario.network().roads() {
        let Some((from, to)) = layout.remaining(id, road) else {
            continue;
        };
        let (outer, inner) = (road.edges(from), road.carriageway(from));
        carriageways.push(band(road, from, to, inner.0, inner.1));
        pavements.push(band(road, from, to, outer.0, inner.0));
        pavements.push(band(road, from, to, inner.1, outer.1));
    }
    for junction in &layout.junctions {
        carriageways.push(ring(&junction.polygon_within(TOLERANCE)));
        for border in junction.borders() {
            pavements.push(ring(&border.pavement_polygon(TOLERANCE)));
        }
    }
    (union(carriageways), union(pavements))
}

#[test]
fn plain_crossings_are_the_closing_of_their_carriageways() {
    // The carriageway with rounded corners is the union of the roads, expanded by the corner radius
    // and then shrunk by it. Expanding it further by the width of the pavement adds the pavement.
    let cross = [0.0, 90.0, 180.0, 270.0];
    for (class, lanes, radius) in [
        (RoadClass::Residential, 1, 4.5),
        (RoadClass::Collector, 1, 6.0),
        (RoadClass::Arterial, 2, 8.0),
    ] {
        for bearings in [&cross[..], &cross[..3]] {
            let pavement = 2.5;
            let style = street(class, lanes, pavement);
            let arms: Vec<_> = bearings.iter().map(|&b| (b, style.clone())).collect();
            let scenario = star(&arms);
            let layout = laid_out(&scenario);
            let roads = scenario.network().roads().map(|(_, road)| {
                let (right, left) = road.carriageway(0.0);
                band(road, 0.0, road.length(), right, left)
            });
            // Arms end in the middle, so half of the crossing is not included in them.
            let half = 3.25 * lanes as f64;
            let middle = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)];
            let middle = ring(&middle.map(|(x, y)| DVec2::new(half * x, half * y)));
            let plain = union(roads.chain([middle]).collect());
            let closed = grown(&grown(&plain, radius), -radius);
            let paved = combined(&grown(&closed, pavement), OverlayRule::Difference, &closed);
            let view = [(-60.0, -60.0), (60.0, -60.0), (60.0, 60.0), (-60.0, 60.0)];
            let view: Shapes = vec![ring(&view.map(DVec2::from))];
            let seen = |shapes: &Shapes| combined(shapes, OverlayRule::Intersect, &view);
            let (carriageways, pavements) = drawn(&scenario, &layout);
            for (what, ours, theirs, unrounded) in [
                ("carriageway", &carriageways, &closed, &plain),
                ("pavement", &pavements, &paved, &Vec::new()),
            ] {
                let (ours, theirs) = (seen(ours), seen(theirs));
                let apart = area(&combined(&ours, OverlayRule::Xor, &theirs));
                let share = apart / area(&theirs);
                assert!(
                    share < 0.005,
                    "{class:?}, {}: {what} {share}",
                    bearings.len()
                );
                // The tolerance is strict: even the corners alone have a larger area.
                let corners = area(&combined(&theirs, OverlayRule::Xor, &seen(unrounded)));
                assert!(corners > 0.005 * area(&theirs), "{what} {corners}");
            }
        }
    }
}

#[test]
fn pavements_lie_beside_carriageways_and_share_their_corners_with_roads() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let mut seen = 0;
    for name in [
        "old-town",
        "crossroads",
        "roundabouts",
        "all-junctions",
        "all-junctions-left",
        "rush-hour",
    ] {
        let scenario = file::load(&folder.join(format!("{name}.scenario.json"))).unwrap();
        for junction in &laid_out(&scenario).junctions {
            let outline = junction.polygon_within(TOLERANCE);
            for arm in &junction.arms {
                let road = scenario.network().road(arm.road).unwrap();
                let s = match arm.end {
                    RoadEnd::Start => arm.trim,
                    RoadEnd::End => road.length() - arm.trim,
                };
                let (right, left) = road.carriageway(s);
                let (first, second) = match arm.end {
                    RoadEnd::Start => (left, right),
                    RoadEnd::End => (right, left),
                };
                for (cut, t) in [(arm.left_cut, first), (arm.right_cut, second)] {
                    assert!((road.reference_line.point(s, t) - cut).length() < 1e-6);
                    assert!(
                        outline.is_empty() || outline.iter().any(|p| (*p - cut).length() < 1e-6),
                        "{name} {}",
                        junction.nodes[0]
                    );
                }
            }
            for border in junction.borders() {
                let pavement = border.pavement_polygon(TOLERANCE);
                if pavement.is_empty() {
                    continue;
                }
                seen += 1;
                assert!(polygon::is_simple(&pavement) && polygon::signed_area(&pavement) > 0.0);
                let (a, b) = (vec![ring(&pavement)], vec![ring(&outline)]);
                let shared = area(&combined(&a, OverlayRule::Intersect, &b));
                assert!(shared < 0.01, "{name} {}: {shared} m^2", junction.nodes[0]);
                // The kerb is between carriageway and pavement.
                for point in border.kerb_line(TOLERANCE) {
                    assert!(polygon::boundary_distance(&pavement, point) < 1e-6);
                }
            }
        }
    }
    assert!(seen > 150, "{seen} pavements");
}

#[test]
fn the_far_side_of_a_t_is_straight() {
    let main = street(RoadClass::Collector, 1, 2.0);
    let side = street(RoadClass::Residential, 1, 2.0);
    let scenario = star(&[(0.0, main.clone()), (180.0, main), (270.0, side)]);
    let layout = laid_out(&scenario);
    let outline = crossing(&layout).polygon();
    let top = outline.iter().map(|p| p.y).fold(f64::MIN, f64::max);
    assert!(
        (top - 3.25).abs() < 1e-9,
        "the carriageway ends at the edge of the through road: {top}"
    );
    let far = outline.iter().filter(|p| p.y > 0.0);
    assert!(far.clone().count() >= 2 && far.clone().all(|p| (p.y - 3.25).abs() < 1e-9));
}

#[test]
fn a_dead_end_is_a_half_circle_with_its_pavement() {
    let scenario = star(&[(0.0, street(RoadClass::Residential, 1, 2.0))]);
    let layout = laid_out(&scenario);
    for junction in &layout.junctions {
        let area = polygon::signed_area(&junction.polygon_within(1e-4));
        let half_circle = 0.5 * std::f64::consts::PI * 3.25f64.powi(2);
        assert!((area - half_circle).abs() < 1e-2, "{area}");
        let pavement = junction.borders()[0].pavement_polygon(1e-4);
        let band = 0.5 * std::f64::consts::PI * (5.25f64.powi(2) - 3.25f64.powi(2));
        assert!((polygon::signed_area(&pavement) - band).abs() < 2e-2);
        // Vehicles drive up to the end of the road, and the half circle is beyond it.
        assert_eq!(junction.arms[0].trim, 0.0);
    }
}

#[test]
fn an_arm_without_a_pavement_ends_its_neighbours_at_45_degrees() {
    let main = street(RoadClass::Collector, 1, 2.0);
    let alley = street(RoadClass::Residential, 1, 0.0);
    let scenario = star(&[(0.0, main.clone()), (180.0, main), (270.0, alley)]);
    let layout = laid_out(&scenario);
    let junction = crossing(&layout);
    let alley = junction
        .arms
        .iter()
        .position(|arm| arm.left_cut.y < -5.0)
        .unwrap();
    // The terms are 3.25 m to the edge, 4.5 m for the arc, and 2 m for the cut.
    let last = -(3.25 + 4.5 + 2.0);
    for border in [alley, (alley + 2) % 3] {
        let points = junction.borders()[border].pavement_polygon(TOLERANCE);
        let lowest = points.iter().map(|p| p.y).fold(f64::MAX, f64::min);
        assert!((lowest - last).abs() < 1e-6, "{lowest}");
        let tip = points.iter().find(|p| (p.y - last).abs() < 1e-6).unwrap();
        assert!(
            (tip.x.abs() - 3.25).abs() < 1e-6,
            "at the edge of the carriageway: {tip}"
        );
        assert!(
            points
                .iter()
                .any(|p| (p.y - last - 2.0).abs() < 1e-6 && (p.x.abs() - 5.25).abs() < 1e-6)
        );
    }
}

#[test]
fn a_junction_far_from_the_origin_is_the_same() {
    let styles = [
        (10.0, street(RoadClass::Collector, 2, 2.5)),
        (95.0, street(RoadClass::Residential, 1, 1.5)),
        (188.0, street(RoadClass::Collector, 2, 2.5)),
        (300.0, street(RoadClass::Residential, 1, 0.0)),
    ];
    let near = star(&styles);
    let mut far = Scenario::new("far");
    let shift = DVec2::new(1e5, -2e5);
    for (bearing, style) in &styles {
        let from = roadwright_geometry::unit(bearing.to_radians()) * 100.0 + shift;
        draw(&mut far, from, shift, style);
    }
    let (near, far) = (laid_out(&near), laid_out(&far));
    let (near, far) = (crossing(&near), crossing(&far));
    let shapes = |junction: &Junction| -> Vec<Vec<DVec2>> {
        let borders = junction.borders().iter();
        let pavements = borders.map(|border| border.pavement_polygon(0.01));
        pavements.chain([junction.polygon()]).collect()
    };
    for (a, b) in shapes(near).into_iter().zip(shapes(far)) {
        assert_eq!(a.len(), b.len());
        for (p, q) in a.iter().zip(&b) {
            assert!((*p + shift - *q).length() < 1e-5);
        }
    }
}
