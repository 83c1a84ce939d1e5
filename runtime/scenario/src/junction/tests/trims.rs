//! Tests of the trims of arms, and of the corners between them.

use super::*;

#[test]
fn trims_are_those_of_the_corner_formula() {
    // The trim is t = (b + a cos) / sin plus the fillet r cot(phi / 2), for a = b = 3.5. Streets
    // have r = 4.5 g(phi), but at acute corners the path around the corner needs a larger radius.
    for (angle, radius) in [
        (90.0f64, Some(4.5)),
        (120.0, Some(4.5 * 1.375)),
        (60.0, None),
    ] {
        let roads = [two_way(0.0), two_way(angle), two_way(angle + 140.0)];
        let junction = junction_of(&roads, RIGHT);
        let phi = angle.to_radians();
        let meeting = 3.5 * (1.0 + cos(phi)) / sin(phi);
        let arm = |road| {
            let mut arms = junction.arms.iter();
            arms.position(|arm| arm.road == RoadId(road)).unwrap()
        };
        let corner = &junction.corners[arm(1)];
        assert!(
            radius.is_none_or(|radius| (corner.radius - radius).abs() < 1e-9),
            "{corner:?}"
        );
        let expected = meeting + corner.radius / tan(0.5 * phi);
        assert!((corner.foot - expected).abs() < 1e-5, "{angle}: {corner:?}");
        assert!(junction.arms[arm(1)].trim >= corner.foot - 1e-6);
        // A turning vehicle has the width of the lane available in addition to the radius of the
        // kerb. The total is never less than a car needs.
        let around = path(&junction, 1, 2).index();
        let least = junction.paths[around].min_radius();
        assert!(least > 4.49, "{angle}: {least}");
    }
}

#[test]
fn a_gore_is_capped() {
    // Below 35 degrees, the corner formula would give extreme results. Arms of 100 m that diverge
    // at such a small angle would be used up.
    let junction = junction_of(&[two_way(0.0), two_way(5.0), two_way(180.0)], RIGHT);
    assert!(
        junction.arms.iter().all(|arm| arm.trim <= 25.0),
        "{junction:?}"
    );
}

#[test]
fn a_gore_reaches_as_far_as_its_arms_lie_on_each_other() {
    let one_way = |bearing, length| arm(bearing, length, CrossSection::driving(2, 0, 3.5), RIGHT);
    for degrees in [5.0f64, 8.0, 10.0, 15.0, 25.0] {
        let roads = [one_way(0.0, 200.0), one_way(degrees, 200.0), two_way(180.0)];
        let junction = junction_of(&roads, RIGHT);
        // Two lanes, each 7 m wide and centred on its line, have diverged at a distance of 3.5 / tan(half the
        // angle).
        let parted = 3.5 / tan(0.5 * degrees.to_radians());
        for road in [1, 2] {
            let mut arms = junction.arms.iter();
            let trim = arms.find(|arm| arm.road == RoadId(road)).unwrap().trim;
            assert!(
                trim >= parted - 1e-6 && trim < parted + 15.0,
                "{degrees}: {trim}"
            );
        }
    }
}

#[test]
fn a_gore_reaches_as_far_as_its_arms_change_places() {
    // The lanes of the first arm are 3.5 to 10.5 m to the left of its line. The second arm starts
    // at the node, passes below these lanes, and comes out to their left.
    let mut aside = arm(0.0, 200.0, CrossSection::driving(2, 0, 3.5), RIGHT);
    for offset in &mut aside.lane_offset {
        offset.a += 7.0;
    }
    let under = arm(15.0, 200.0, CrossSection::driving(1, 0, 3.5), RIGHT);
    let junction = junction_of(&[aside, under, two_way(180.0)], RIGHT);
    // The second arm has fully crossed the lanes where its right edge has reached their left edge.
    let angle = 15f64.to_radians();
    let out = (10.5 + 1.75 / cos(angle)) / tan(angle);
    for arm in junction.arms.iter().filter(|arm| arm.road != RoadId(3)) {
        assert!(
            arm.trim > out - 1.0 && arm.trim < out + 12.0,
            "{out}: {arm:?}"
        );
    }
}

#[test]
fn arms_in_line_taper() {
    // The corner formula divides by sin(180 degrees).
    let wide = arm(178.0, 100.0, CrossSection::driving(2, 2, 3.5), RIGHT);
    let junction = junction_of(&[two_way(0.0), wide], RIGHT);
    assert!(
        junction
            .arms
            .iter()
            .all(|arm| arm.trim > 1.0 && arm.trim < 40.0)
    );
    assert!(!junction.paths.is_empty());
}

#[test]
fn two_equal_arms_in_line_are_no_junction() {
    // Two roads that continue each other and have the same cross-section need no junction area.
    let junction = junction_of(&[two_way(0.0), two_way(180.0)], RIGHT);
    assert!(junction.arms.iter().all(|arm| arm.trim == 0.0) && junction.outline().is_empty());
    assert_eq!(junction.paths.len(), 2);
    assert!(junction.paths.iter().all(|path| path.curve.is_none()));
}

#[test]
fn a_narrow_pavement_and_one_as_wide_as_the_corner_meet_beside_the_carriageway() {
    let arms = |lanes: &[f64]| -> Vec<_> { lanes.iter().map(|&width| (1, 0, width)).collect() };
    for (gaps, lanes) in [
        (
            vec![0.454, 0.542, 0.497, 0.961, 0.561, 0.687],
            arms(&[2.75, 3.424, 3.988, 2.75, 2.75, 2.75]),
        ),
        (
            vec![0.582, 0.502, 0.320, 0.261, 0.656],
            arms(&[2.75, 3.798, 3.402, 2.75, 2.75]),
        ),
    ] {
        let junction = junction_of(&random_roads(&gaps, &lanes, RIGHT), RIGHT);
        // The pavements of the two roads are 0.6 and 3.4 m wide in the first case, and 2.5 and 0.5 m in the
        // second.
        let wide = junction.arms.iter().position(|arm| arm.road == RoadId(2));
        let border = &junction.borders()[wide.unwrap()];
        for tolerance in [0.05, 0.01, 0.001] {
            let pavement = border.pavement_polygon(tolerance);
            assert!(polygon::is_simple(&pavement), "{tolerance}: {pavement:?}");
            assert!(polygon::signed_area(&pavement) > 1.0);
            // No part of the pavement is on the carriageway.
            let carriageway = junction.polygon_within(tolerance);
            for point in &pavement {
                let depth = polygon::boundary_distance(&carriageway, *point);
                assert!(!polygon::contains(&carriageway, *point) || depth < 0.01);
            }
        }
    }
}

#[test]
fn a_taper_has_the_length_of_the_road_with_more_lanes_whichever_comes_first() {
    let gaps = [0.705, 0.704, 0.15];
    let lanes = [(2, 0, 3.86), (1, 1, 3.75), (2, 1, 3.57)];
    let roads = random_roads(&gaps, &lanes, RIGHT);
    let right = junction_of(&roads, RIGHT);
    let left = junction_of(
        &roads.iter().map(mirrored).collect::<Vec<_>>(),
        DrivingSide::Left,
    );
    for arm in &right.arms {
        let same = |other: &&ArmEnd| other.road == arm.road;
        let other = left.arms.iter().find(same).unwrap();
        assert!((arm.trim - other.trim).abs() < 1e-5, "{:?}", arm.road);
    }
}
