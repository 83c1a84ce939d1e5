//! Checks that the ends of strokes join the roads on whose carriageway they are released.

use crate::common::{crossroads, draw, street, west_to_east};
use roadwright_geometry::alignment::Alignment;
use roadwright_geometry::{DVec2, ReferenceLine};
use roadwright_scenario::check::{Code, check, repair};
use roadwright_scenario::junction::layout;
use roadwright_scenario::operation::draw::{
    self, Catch, Joint, LayerChange, LayeredStyle, RoadStyle, StrokeEnd, Surroundings, guided,
    joined_road, stroke_ends,
};
use roadwright_scenario::*;

fn xy(x: f64, y: f64) -> DVec2 {
    DVec2::new(x, y)
}

/// Creates a street along the x axis, from -100 to 100 m, with a half-width of 3.25 m.
fn one_street() -> Scenario {
    let mut scenario = Scenario::new("one street");
    draw(
        &mut scenario,
        (-100.0, 0.0),
        (100.0, 0.0),
        &street("Mill Street"),
    );
    scenario
}

/// Returns the joints of the ends of a stroke that is drawn with a reach of 1 m.
fn ends(scenario: &Scenario, trace: &[DVec2], style: &RoadStyle) -> [StrokeEnd; 2] {
    ends_by(scenario, trace, style, Catch::within(1.0))
}

fn ends_by(
    scenario: &Scenario,
    trace: &[DVec2],
    style: &RoadStyle,
    catch: Catch,
) -> [StrokeEnd; 2] {
    let around = Surroundings {
        scenario,
        layout: &layout(scenario.network(), scenario.about()),
        boxes: &RoadBoxes::new(scenario.network()),
        is_hidden: &|_| false,
    };
    stroke_ends(&around, trace, style, [style.layer; 2], [catch, catch])
}

/// Draws a stroke of straight legs, of which only one remains between its joints.
fn stroke(scenario: &mut Scenario, trace: &[DVec2], style: &RoadStyle) {
    let ends = ends(scenario, trace, style);
    let points = guided(trace, &ends);
    let line = ReferenceLine::straight(points[0], points[points.len() - 1]).unwrap();
    let edit = joined_road(scenario, &line, style, &ends).unwrap();
    scenario.apply(edit).unwrap();
}

#[track_caller]
fn is_joined_at(end: &StrokeEnd, x: f64) {
    assert!(
        matches!(
            end.joint,
            Joint::Road {
                road: RoadId(1),
                ..
            }
        ),
        "{end:?}"
    );
    assert!((end.at - xy(x, 0.0)).length() < 1e-6, "{end:?}");
}

#[test]
fn a_stroke_goes_on_in_its_own_direction_to_the_reference_line() {
    let scenario = one_street();
    // The stroke moves one metre along the street for every two metres across it.
    let [start, end] = ends(&scenario, &[xy(0.0, 43.0), xy(20.0, 3.0)], &street(""));
    assert_eq!(start.joint, Joint::Free);
    is_joined_at(&end, 21.5);
    let [start, _] = ends(&scenario, &[xy(20.0, 3.0), xy(0.0, 43.0)], &street(""));
    is_joined_at(&start, 21.5);
}

#[test]
fn a_stroke_released_beyond_the_reference_line_is_cut_back_to_it() {
    let scenario = one_street();
    let trace = [xy(0.0, 43.0), xy(20.0, 3.0), xy(23.0, -3.0)];
    let ends = ends(&scenario, &trace, &street(""));
    is_joined_at(&ends[1], 21.5);
    let points = guided(&trace, &ends);
    assert_eq!(points.len(), 3);
    assert!((points[2] - xy(21.5, 0.0)).length() < 1e-6);
}

#[test]
fn a_stroke_that_would_miss_the_reference_line_takes_the_nearest_point() {
    let scenario = one_street();
    let [_, end] = ends(&scenario, &[xy(-30.0, 5.0), xy(20.0, 2.5)], &street(""));
    is_joined_at(&end, 20.0);
}

#[test]
fn the_carriageway_of_a_one_way_road_catches_on_both_sides_of_its_line() {
    let mut scenario = Scenario::new("one way");
    let wide = RoadStyle {
        section: CrossSection::driving(3, 0, 3.5),
        ..street("")
    };
    draw(&mut scenario, (-100.0, 0.0), (100.0, 0.0), &wide);
    // All lanes are to the right of the line, as in many imports.
    let mut road = scenario.network().road(RoadId(1)).unwrap().clone();
    road.lane_offset.clear();
    scenario
        .apply(Edit::Road(RoadId(1), Some(Box::new(road))))
        .unwrap();
    let end = |y: f64| {
        let [_, end] = ends(
            &scenario,
            &[xy(10.0, 60.0_f64.copysign(y)), xy(10.0, y)],
            &street(""),
        );
        end
    };
    is_joined_at(&end(-10.4), 10.0);
    is_joined_at(&end(-0.1), 10.0);
    assert_eq!(end(-10.6).joint, Joint::Free);
    assert_eq!(end(0.1).joint, Joint::Free);
}

#[test]
fn pavements_and_verges_catch_nothing() {
    let mut scenario = Scenario::new("pavements");
    let paved = RoadStyle {
        section: CrossSection::driving(1, 1, 3.0).with_border(LaneType::Sidewalk, 2.0),
        ..street("")
    };
    draw(&mut scenario, (-100.0, 0.0), (100.0, 0.0), &paved);
    let end = |y: f64| ends(&scenario, &[xy(0.0, 60.0), xy(0.0, y)], &street(""))[1].clone();
    assert_eq!(end(3.1).joint, Joint::Free);
    is_joined_at(&end(2.9), 0.0);
}

#[test]
fn only_roads_on_the_layer_of_the_stroke_are_joined() {
    let scenario = one_street();
    let above = RoadStyle {
        layer: 1,
        ..street("")
    };
    let [_, end] = ends(&scenario, &[xy(0.0, 60.0), xy(0.0, 0.0)], &above);
    assert_eq!(end.joint, Joint::Free);
    // The free end of a road on another layer is not joined either, unless the road is drawn
    // exactly from it.
    let trace = [xy(100.0, 0.0), xy(200.0, 0.0)];
    let [start, _] = ends(&scenario, &trace, &above);
    assert_eq!(start.joint, Joint::Free);
    let line = ReferenceLine::straight(trace[0], trace[1]).unwrap();
    let [start, _] = draw::exact_ends(&scenario, &line, &above);
    assert!(matches!(start.joint, Joint::Node(_)));
    // A node is not joined if a street on another layer passes below it.
    let mut crossed = scenario.clone();
    draw(&mut crossed, (0.0, 0.0), (0.0, 90.0), &street(""));
    let [_, end] = ends(&crossed, &[xy(60.0, 60.0), xy(0.0, 0.0)], &above);
    assert_eq!(end.joint, Joint::Free);
    let edit = draw::road(
        &crossed,
        &ReferenceLine::straight(xy(60.0, 60.0), xy(0.0, 0.0)).unwrap(),
        &above,
    );
    crossed.apply(edit.unwrap()).unwrap();
    let network = crossed.network();
    let (_, new) = network.roads().last().unwrap();
    assert_eq!(network.ends_at(new.to).len(), 1);
}

#[test]
fn a_ramp_joins_roads_of_two_layers_and_crosses_only_those_of_its_own() {
    //            bridge  lane  bridge
    //              |      |      |
    //        .-----+--x---+------o      The ramp climbs from the street to the second bridge. It changes its
    //       /      |      |      |      layer at x, so it passes below the first bridge and over the lane.
    //   ---o-------+-------------+---
    let mut scenario = one_street();
    let above = RoadStyle {
        layer: 1,
        ..street("")
    };
    draw(&mut scenario, (60.0, -90.0), (60.0, 90.0), &above);
    draw(&mut scenario, (20.0, -90.0), (20.0, 90.0), &above);
    draw(&mut scenario, (40.0, 10.0), (40.0, 90.0), &street("lane"));
    let roads = scenario.network().road_count();
    let trace = [xy(0.0, 0.0), xy(0.0, 40.0), xy(60.0, 40.0)];
    let around = Surroundings {
        scenario: &scenario,
        layout: &layout(scenario.network(), scenario.about()),
        boxes: &RoadBoxes::new(scenario.network()),
        is_hidden: &|_| false,
    };
    let ends = stroke_ends(
        &around,
        &trace,
        &street(""),
        [0, 1],
        [Catch::within(1.0); 2],
    );
    assert!(ends.iter().all(StrokeEnd::is_joined));
    let corners = Alignment::polygon(&trace, 10.0, 0.0);
    let line = corners.unwrap().line().unwrap();
    // The end is before the ground lane at x = 40 m and beyond the bridge at x = 20 m.
    let s = line.length() - 30.0;
    let changes = [LayerChange { s, layer: 1 }];
    let style = street("");
    let layered = LayeredStyle {
        style: &style,
        changes: &changes,
    };
    let edit = draw::layered_road(&scenario, &line, &layered, &ends).unwrap();
    let mut after = scenario.clone();
    after.apply(edit).unwrap();
    let network = after.network();
    // The street and the bridge at x = 60 m are cut, and the ramp consists of two pieces.
    assert_eq!(network.road_count(), roads + 4);
    let first = scenario.network().next_road_id();
    let new = network.roads().filter(|(id, _)| *id >= first);
    let ramp: Vec<&Road> = new.take(2).map(|(_, road)| road).collect();
    assert_eq!([ramp[0].layer, ramp[1].layer], [0, 1]);
    assert_eq!(ramp[0].to, ramp[1].from);
    assert_eq!(network.ends_at(ramp[0].from).len(), 3);
    assert_eq!(network.ends_at(ramp[0].to).len(), 2);
    assert_eq!(network.ends_at(ramp[1].to).len(), 3);
    assert!((ramp[1].length() - 30.0).abs() < 1e-6);
    // Without the change of layer, the line meets the ground lane and only its start is joined.
    let ends = stroke_ends(&around, &trace, &style, [0; 2], [Catch::within(1.0); 2]);
    assert_eq!(ends[1].joint, Joint::Free);
    let mut flat = scenario.clone();
    flat.apply(joined_road(&scenario, &line, &style, &ends).unwrap())
        .unwrap();
    assert_eq!(flat.network().road_count(), roads + 4);
    // A change at an end needs no additional node.
    let changes = [LayerChange { s: 0.0, layer: 1 }];
    let layered = LayeredStyle {
        style: &style,
        changes: &changes,
    };
    let ends = stroke_ends(&around, &trace, &style, [0, 1], [Catch::within(1.0); 2]);
    let mut steep = scenario.clone();
    steep
        .apply(draw::layered_road(&scenario, &line, &layered, &ends).unwrap())
        .unwrap();
    // The road crosses the bridge at x = 20 m, which it joins.
    let new = steep.network().roads().filter(|(id, _)| *id >= first);
    let layers: Vec<i8> = new.take(2).map(|(_, road)| road.layer).collect();
    assert_eq!(layers, [1, 1]);
}

#[test]
fn the_topmost_road_decides_about_the_layer_of_a_stroke() {
    let mut scenario = one_street();
    let above = RoadStyle {
        layer: 2,
        ..street("")
    };
    draw(&mut scenario, (0.0, -90.0), (0.0, 90.0), &above);
    let layer = |point: DVec2, catch: Catch, hides: &dyn Fn(RoadId) -> bool| {
        let around = Surroundings {
            scenario: &scenario,
            layout: &layout(scenario.network(), scenario.about()),
            boxes: &RoadBoxes::new(scenario.network()),
            is_hidden: hides,
        };
        draw::caught_layers(&around, point, catch).last().copied()
    };
    let catch = Catch::within(1.0);
    let all = |_: RoadId| false;
    assert_eq!(layer(xy(0.0, 0.0), catch, &all), Some(2));
    assert_eq!(layer(xy(50.0, 0.0), catch, &all), Some(0));
    assert_eq!(layer(xy(50.0, 50.0), catch, &all), None);
    assert_eq!(layer(xy(0.0, 0.0), Catch::NOTHING, &all), None);
    let bridge = scenario.network().roads().last().unwrap().0;
    assert_eq!(layer(xy(0.0, 0.0), catch, &|id| id == bridge), Some(0));
}

#[test]
fn a_node_goes_first_inside_its_junction_and_beyond_it_the_road() {
    let mut scenario = one_street();
    draw(&mut scenario, (0.0, 0.0), (0.0, 90.0), &street(""));
    let end = |x: f64| ends(&scenario, &[xy(x, -60.0), xy(x, -2.0)], &street(""))[1].clone();
    assert!(matches!(end(2.0).joint, Joint::Node(_)), "{:?}", end(2.0));
    let beside = end(20.0);
    assert!(matches!(beside.joint, Joint::Road { .. }), "{beside:?}");
    assert!((beside.at - xy(20.0, 0.0)).length() < 1e-6, "{beside:?}");
}

#[test]
fn a_stroke_that_passes_over_a_road_crosses_it() {
    let mut scenario = one_street();
    stroke(&mut scenario, &[xy(0.0, 60.0), xy(0.0, -60.0)], &street(""));
    assert_eq!(scenario.network().road_count(), 4);
    assert!(check(&scenario).is_empty(), "{:?}", check(&scenario));
}

#[test]
fn with_joints_suspended_both_ends_are_free_even_on_a_reference_line() {
    let scenario = one_street();
    let trace = [xy(50.0, 0.0), xy(50.0, 60.0)];
    let ends = ends_by(&scenario, &trace, &street(""), Catch::NOTHING);
    let line = ReferenceLine::straight(trace[0], trace[1]).unwrap();
    let mut drawn = scenario.clone();
    drawn
        .apply(joined_road(&scenario, &line, &street(""), &ends).unwrap())
        .unwrap();
    assert_eq!(drawn.network().road_count(), 2);
    assert!(
        drawn
            .network()
            .nodes()
            .all(|(id, _)| drawn.network().ends_at(id).len() == 1)
    );
}

#[test]
fn a_loose_end_on_a_road_is_found_and_joined_by_its_repair() {
    for y in [2.9, -2.9] {
        let mut scenario = one_street();
        draw(
            &mut scenario,
            (10.0, 60.0),
            (10.0, y),
            &street("Side Street"),
        );
        // The stroke from below has crossed the line. The stroke from above has not.
        let roads = scenario.network().road_count();
        assert_eq!(roads, if y > 0.0 { 2 } else { 4 });
        let findings = check(&scenario);
        let loose: Vec<_> = findings
            .iter()
            .filter(|finding| finding.code == Code::EndsOnRoad)
            .collect();
        assert_eq!(loose.len(), 1, "{findings:?}");
        assert!((loose[0].place - xy(10.0, y)).length() < 1e-9);
        assert!(
            loose[0].message.contains("without joining it"),
            "{}",
            loose[0].message
        );
        let edit = repair(&scenario, loose[0]);
        let mut joined = scenario.clone();
        joined.apply(edit.unwrap()).unwrap();
        assert!(check(&joined).is_empty(), "{:?}", check(&joined));
        assert_eq!(joined.network().road_count(), 3);
        let network = joined.network();
        let middle = network
            .nodes()
            .find(|(id, _)| network.ends_at(*id).len() == 3);
        assert!((middle.unwrap().1.position() - xy(10.0, 0.0)).length() < 1e-6);
    }
}

#[test]
fn ends_on_other_layers_or_beside_the_asphalt_are_no_finding() {
    let mut scenario = one_street();
    let above = RoadStyle {
        layer: 1,
        ..street("")
    };
    draw(&mut scenario, (0.0, 60.0), (0.0, 2.0), &above);
    draw(&mut scenario, (40.0, 60.0), (40.0, 3.5), &street(""));
    assert!(check(&scenario).is_empty(), "{:?}", check(&scenario));
}

#[test]
fn agents_keep_their_places_when_a_loose_end_is_joined() {
    let mut scenario = one_street();
    draw(&mut scenario, (10.0, 60.0), (10.0, 2.0), &street(""));
    for (key, kind) in crossroads().vehicle_types() {
        let edit = Edit::VehicleType(key.clone(), Some(Box::new(kind.clone())));
        scenario.apply(edit).unwrap();
    }
    let agent = west_to_east();
    let flow = Flow {
        vehicle: agent.vehicle,
        stack: agent.stack,
        dynamics: None,
        origin: Place::lane(RoadId(2), -1, 20.0),
        destination: Place::lane(RoadId(1), -1, 150.0),
        rate_per_hour: 100.0.into(),
        begin: 0.0.into(),
        end: 60.0.into(),
    };
    scenario
        .apply(Edit::Flow(FlowId(1), Some(Box::new(flow))))
        .unwrap();
    let pose = |scenario: &Scenario, place: &Place| scenario.pose_of(place).unwrap().position;
    let before = scenario.flows()[&FlowId(1)].clone();
    let findings = check(&scenario);
    let loose = findings
        .iter()
        .find(|finding| finding.code == Code::EndsOnRoad);
    let mut joined = scenario.clone();
    joined
        .apply(repair(&scenario, loose.unwrap()).unwrap())
        .unwrap();
    let after = joined.flows()[&FlowId(1)].clone();
    let destination = pose(&scenario, &before.destination) - pose(&joined, &after.destination);
    assert!(destination.length() < 1e-6);
    // The street is two metres longer now, and the origin keeps its relative position.
    let origin = pose(&scenario, &before.origin) - pose(&joined, &after.origin);
    assert!(origin.length() < 1.0, "{origin}");
}

/// Returns the kinds of the lanes of a road at one end, from left to right.
fn kinds(road: &Road, end: RoadEnd) -> Vec<LaneType> {
    let section = match end {
        RoadEnd::Start => &road.lane_sections[0],
        RoadEnd::End => &road.lane_sections[road.lane_sections.len() - 1],
    };
    section.lanes.iter().map(|lane| lane.kind).collect()
}

#[test]
fn a_street_that_is_drawn_to_a_ring_widens_and_paves_it() {
    let mut scenario = Scenario::new("ring");
    let edit = draw::roundabout(&scenario, DVec2::ZERO, 15.0, 0).unwrap();
    scenario.apply(edit).unwrap();
    let mut style = street("");
    style.section = CrossSection::driving(1, 1, 3.25).with_border(LaneType::Sidewalk, 2.5);
    let first = scenario.network().next_road_id();
    for out in [DVec2::X, DVec2::Y, DVec2::NEG_X, DVec2::NEG_Y] {
        // Drawn towards the ring and away from it in turn.
        let mut trace = vec![90.0 * out, 16.0 * out];
        if out.y != 0.0 {
            trace.reverse();
        }
        let ends = ends(&scenario, &trace, &style);
        assert_eq!(ends.iter().filter(|end| end.is_joined()).count(), 1);
        let points = guided(&trace, &ends);
        let line = ReferenceLine::straight(points[0], points[points.len() - 1]).unwrap();
        let layered = LayeredStyle::plain(&style);
        let edit = draw::layered_road(&scenario, &line, &layered, &ends).unwrap();
        let inverse = scenario.clone().apply(edit.clone()).unwrap();
        let mut after = scenario.clone();
        after.apply(edit).unwrap();
        let mut undone = after.clone();
        undone.apply(inverse).unwrap();
        assert_eq!(undone, scenario);
        scenario = after;
    }
    let layout = layout(scenario.network(), scenario.about());
    assert!(layout.rings.len() >= 4);
    for id in &layout.rings {
        let ring = scenario.network().road(*id).unwrap();
        let kinds = kinds(ring, RoadEnd::Start);
        let of_kind = |kind| kinds.iter().filter(|one| **one == kind).count();
        assert_eq!(
            (of_kind(LaneType::Driving), of_kind(LaneType::Sidewalk)),
            (1, 1)
        );
    }
    let all = scenario.network().roads();
    let streets: Vec<&Road> = all
        .filter(|(id, _)| *id >= first && !layout.rings.contains(id))
        .map(|(_, road)| road)
        .collect();
    assert_eq!(streets.len(), 4);
    for road in streets {
        let start = road.reference_line.start().position.length();
        let (at_ring, far) = match start < 50.0 {
            true => (RoadEnd::Start, RoadEnd::End),
            false => (RoadEnd::End, RoadEnd::Start),
        };
        use LaneType::{Driving, Median, Sidewalk};
        assert_eq!(
            kinds(road, at_ring),
            [Sidewalk, Driving, Median, Median, Driving, Sidewalk]
        );
        assert_eq!(kinds(road, far), [Sidewalk, Driving, Driving, Sidewalk]);
    }
    let splitters: usize = layout
        .junctions
        .iter()
        .map(|one| one.splitters().len())
        .sum();
    assert_eq!(splitters, 4);
}
