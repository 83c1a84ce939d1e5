//! Tests of short roads between junctions, and of bends.

use super::*;

#[test]
fn a_road_between_two_bends_stays() {
    let z = |between: f64| {
        let nodes = [(-80.0, 0.0), (0.0, 0.0), (0.0, between), (80.0, between)];
        let network = network_of(&nodes, 3.0, &[0, 1, 2].map(|id| (id, id, id + 1, (1, 1))));
        layout(&network, RIGHT)
    };
    for between in [8.5, 12.0, 14.0] {
        let layout = z(between);
        assert!(layout.internal.is_empty(), "{between}");
        // Two successive right-angle bends, each of which can be driven.
        let paths = layout.junctions.iter().flat_map(|junction| &junction.paths);
        let curves: Vec<_> = paths.filter_map(|path| path.curve.as_ref()).collect();
        assert_eq!(curves.len(), 4, "{between}");
        for curve in curves {
            let turned = wrap_angle(curve.pose(curve.length()).heading - curve.start().heading);
            assert!(
                (turned.abs().to_degrees() - 90.0).abs() < 5.0,
                "{between}: {turned}"
            );
        }
    }
    // A sideways step of the road becomes one bend.
    assert!(!z(3.0).internal.is_empty());
}

/// Creates a street along the x axis through nodes at the given positions. It has `lanes` lanes in
/// each direction, and a branch of `length` metres from the origin to the south.
fn street_with_branch(at: &[f64], lanes: usize, length: f64) -> crate::RoadNetwork {
    let mut nodes: Vec<(f64, f64)> = at.iter().map(|&x| (x, 0.0)).collect();
    nodes.push((0.0, -length));
    let last = at.len() as u32;
    let origin = at.iter().position(|&x| x == 0.0).unwrap() as u32;
    let along = (0..last - 1).map(|id| (id, id, id + 1, (lanes, lanes)));
    let branch = (last, origin, last, (1, 1));
    let streets: Vec<Street> = along.chain([branch]).collect();
    network_of(&nodes, 3.0, &streets)
}

/// Returns the smallest radius of the paths through the junction at the origin, m.
fn sharpest_turn(layout: &Layout, origin: u32) -> f64 {
    let junction = layout.junction_at(NodeId(origin)).unwrap();
    let curves = junction.paths.iter().filter_map(|path| path.curve.as_ref());
    let radii = curves.map(|curve| 1.0 / curve.max_curvature());
    radii.fold(f64::INFINITY, f64::min)
}

#[test]
fn a_turn_may_take_all_of_a_road_that_only_goes_on() {
    // The street is split into two roads 6 m from the junction.
    let network = street_with_branch(&[-100.0, -6.0, 0.0, 100.0], 1, 80.0);
    let short = layout(&network, RIGHT);
    assert_eq!(short.internal, BTreeSet::from([RoadId(1)]));
    assert!(sharpest_turn(&short, 2) >= LEAST_RADIUS);
    // Rules at one of the nodes apply to the junction, so all of its nodes remain part of it.
    for node in [1, 2] {
        let mut ruled = network.clone();
        let mut place = ruled.node(NodeId(node)).unwrap().clone();
        place.rules.control = Some(Control::Signals);
        ruled.put_node(NodeId(node), place);
        let ruled = layout(&ruled, RIGHT);
        assert_eq!(ruled.internal, short.internal, "{node}");
        assert_eq!(
            ruled.junction_at(NodeId(2)).unwrap().control,
            Control::Signals
        );
    }
    // A split 40 m away does not matter.
    let far = layout(
        &street_with_branch(&[-100.0, -40.0, 0.0, 100.0], 1, 80.0),
        RIGHT,
    );
    assert!(far.internal.is_empty() && sharpest_turn(&far, 2) >= LEAST_RADIUS);
    // If another road joins there, whether through an edit or from the start, the junction may use
    // only half of the road.
    let joined = with_road_to(&network, NodeId(1), DVec2::new(-6.0, 60.0));
    lays_out_again_what_an_edit_reaches(&network, &joined);
}

#[test]
fn a_turn_may_take_more_of_a_dead_end() {
    let radius = |length| {
        let network = street_with_branch(&[-100.0, 0.0, 100.0], 3, length);
        let layout = layout(&network, RIGHT);
        let (start, end) = layout
            .remaining(RoadId(3), network.road(RoadId(3)).unwrap())
            .unwrap();
        assert!(end - start >= 4.0, "{length}: a car has room");
        sharpest_turn(&layout, 1)
    };
    assert!(radius(24.0) >= LEAST_RADIUS);
    // The rest of this road leaves no room for a turn.
    assert!(radius(13.5) < 2.0);
    // If the road does not end there, the junction may use only half of it.
    let network = street_with_branch(&[-100.0, 0.0, 100.0], 3, 24.0);
    let longer = with_road_to(&network, NodeId(3), DVec2::new(60.0, -24.0));
    let radius = sharpest_turn(&layout(&longer, RIGHT), 1);
    assert!(radius < LEAST_RADIUS, "{radius}");
    lays_out_again_what_an_edit_reaches(&network, &longer);
}

/// Returns the network with an additional straight road from a node to a point.
fn with_road_to(network: &crate::RoadNetwork, from: NodeId, to: DVec2) -> crate::RoadNetwork {
    let mut longer = network.clone();
    longer.put_node(NodeId(9), crate::Node::at(to));
    let mut road = arm(0.0, 1.0, CrossSection::driving(1, 1, 3.0), RIGHT);
    let start = network.node(from).unwrap().position();
    road.reference_line = ReferenceLine::straight(start, to).unwrap();
    (road.from, road.to) = (from, NodeId(9));
    longer.put_road(RoadId(9), road);
    longer
}

/// Checks that an edit and its undo give the same layouts as a layout from scratch.
fn lays_out_again_what_an_edit_reaches(network: &crate::RoadNetwork, edited: &crate::RoadNetwork) {
    for (before, after) in [(network, edited), (edited, network)] {
        let edited = layout_after_edit(before, &layout(before, RIGHT), after, RIGHT);
        assert_eq!(edited, layout(after, RIGHT));
    }
}

#[test]
fn no_connection_runs_back_where_carriageways_bend_that_a_short_link_joins() {
    // Two carriageways 11 m apart with a bend of 14 degrees, and a link between the bends that is
    // absorbed into their junction. If its arms are sorted by bearing, the arms between which the
    // carriageways bend are not neighbours.
    let (c, s) = (cos(14f64.to_radians()), sin(14f64.to_radians()));
    let nodes = [
        (-80.0, 0.0),
        (0.0, 0.0),
        (80.0 * c, -80.0 * s),
        (-80.0, 11.0),
        (0.0, 11.0),
        (80.0 * c, 11.0 - 80.0 * s),
    ];
    let streets = [(0, 1), (1, 2), (5, 4), (4, 3), (1, 4)];
    let one_way = |(id, (from, to))| (id, from, to, (2, 0));
    let streets: Vec<Street> = (0..).zip(streets).map(one_way).collect();
    let layout = layout(&network_of(&nodes, 3.0, &streets), RIGHT);
    let junction = &layout.junctions[layout.junction_of[&NodeId(1)]];
    assert_eq!(junction.nodes, [NodeId(1), NodeId(4)]);
    assert!(junction.paths.len() >= 4);
    for path in &junction.paths {
        let curve = path.curve.as_ref().unwrap();
        let eastward = path.from.road.0 < 2;
        assert_eq!(curve.start().forward().x > 0.0, eastward, "{path:?}");
    }
}
