//! Tests of roundabouts.

use super::*;

/// Creates a junction of a street in the east with a one-way road that follows an arc from the
/// south to the north.
fn street_at_an_arc(radius: f64, is_ring: bool) -> Junction {
    let quarter = |start: Pose| {
        let bend = Segment::Arc {
            length: radius * std::f64::consts::FRAC_PI_2,
            curvature: 1.0 / radius,
        };
        ReferenceLine::new(start, vec![bend]).unwrap()
    };
    let one_way = |line: ReferenceLine| Road {
        reference_line: line,
        ..arm(0.0, 10.0, CrossSection::driving(1, 0, 3.5), RIGHT)
    };
    let node = Pose::new(0.0, 0.0, 90f64.to_radians());
    let [before, after] = [quarter(Pose::new(-radius, -radius, 0.0)), quarter(node)].map(one_way);
    let street = two_way(0.0);
    let arms = vec![
        Arm::new(RoadId(1), &street, RoadEnd::Start),
        Arm::new(RoadId(2), &after, RoadEnd::Start),
        Arm::new(RoadId(3), &before, RoadEnd::End),
    ];
    let site = Site {
        is_ring: &|road| is_ring && road != RoadId(1),
        ..site(RIGHT)
    };
    build(&site, arms)
}

#[test]
fn a_ring_stays_round_through_its_junctions() {
    for is_ring in [true, false] {
        let junction = street_at_an_arc(18.0, is_ring);
        let through = &junction.paths[path(&junction, 3, 2).index()];
        let curve = through.curve.as_ref().unwrap();
        assert!((curve.max_curvature() * 18.0 - 1.0).abs() < 1e-6);
    }
}

#[test]
fn corners_are_wider_where_a_street_meets_a_ring() {
    // The radius is 11 m, or three quarters of the radius of a smaller ring. An ordinary right angle keeps
    // its radius.
    for (radius, corner) in [(18.0, 11.0), (12.0, 9.0)] {
        let wanted = |is_ring| {
            let junction = street_at_an_arc(radius, is_ring);
            let radii = junction.corners.iter().map(|corner| corner.wanted_radius);
            radii.fold(0.0, f64::max)
        };
        assert!(wanted(true) >= corner && wanted(true) < 1.5 * corner);
        assert!(wanted(false) < wanted(true));
    }
}

#[test]
fn a_ring_stays_a_ring_and_goes_first() {
    for (sense, side) in [(1.0, DrivingSide::Right), (-1.0, DrivingSide::Left)] {
        for radius in [6.5, 15.0, 40.0] {
            let network = ring(radius, 4, sense, side);
            let layout = layout(&network, side);
            assert_eq!(
                layout.rings,
                (0..4).map(RoadId).collect(),
                "radius {radius}"
            );
            // None of the roads of the ring is absorbed, and the ring has priority at each of its nodes.
            assert!(
                layout.internal.is_empty(),
                "radius {radius}: {:?}",
                layout.internal
            );
            for node in 0..4 {
                let junction = &layout.junctions[layout.junction_of[&NodeId(node)]];
                assert_eq!(junction.control, Control::Roundabout);
                for end in &junction.arms {
                    let expected = if end.road.0 >= 100 {
                        Sign::Yield
                    } else {
                        Sign::None
                    };
                    assert_eq!(end.sign, expected);
                }
            }
        }
        // A ring that is driven in the wrong direction is not a roundabout, and neither is a block
        // of streets.
        let wrong = ring(15.0, 4, -sense, side);
        assert!(layout(&wrong, side).rings.is_empty());
    }
}

/// Creates a ring with a crossroads on its first arm, `distance` metres beyond the ring.
fn ring_beside_crossroads(distance: f64) -> crate::RoadNetwork {
    let mut network = ring(13.0, 4, 1.0, RIGHT);
    let arm = network.road(RoadId(100)).unwrap().clone();
    let middle = DVec2::new(13.0 + distance, 0.0);
    let ends = [
        (100, DVec2::new(93.0, 0.0)),
        (200, DVec2::new(middle.x, 70.0)),
        (201, DVec2::new(middle.x, -70.0)),
    ];
    network.put_node(NodeId(202), crate::Node::at(middle));
    let between = (NodeId(0), DVec2::new(13.0, 0.0), NodeId(202), middle);
    let beyond = ends.map(|(id, end)| (NodeId(202), middle, NodeId(id), end));
    for (id, (from, start, to, end)) in (100..)
        .step_by(100)
        .zip([between].into_iter().chain(beyond))
    {
        network.put_node(to, crate::Node::at(end));
        network.put_road(
            RoadId(id),
            Road {
                from,
                to,
                reference_line: ReferenceLine::straight(start, end).unwrap(),
                ..arm.clone()
            },
        );
    }
    network
}

#[test]
fn a_ring_and_the_crossroads_beside_it_are_two_junctions() {
    for distance in [8.0, 14.0, 20.0, 40.0] {
        let network = ring_beside_crossroads(distance);
        let layout = layout(&network, RIGHT);
        assert!(
            layout.internal.is_empty(),
            "{distance} m: {:?}",
            layout.internal
        );
        let of_node = |node| &layout.junctions[layout.junction_of[&NodeId(node)]];
        assert_eq!(of_node(0).control, Control::Roundabout);
        assert_eq!((of_node(0).arms.len(), of_node(202).arms.len()), (3, 4));
        for (node, expected) in [(0, 3), (202, 12)] {
            let driven = of_node(node)
                .paths
                .iter()
                .filter(|path| path.curve.is_some());
            assert_eq!(driven.count(), expected, "{distance} m, node {node}");
        }
    }
    // An equally short road between crossroads is absorbed.
    let mut network = ring_beside_crossroads(8.0);
    network.remove_road(RoadId(3));
    assert!(!layout(&network, RIGHT).internal.is_empty());
}

#[test]
fn a_block_of_one_way_streets_is_no_roundabout() {
    let corners = [(0.0, 0.0), (60.0, 0.0), (60.0, 60.0), (0.0, 60.0)];
    let network = network_of(
        &corners,
        3.5,
        &[0, 1, 2, 3].map(|id| (id, id, (id + 1) % 4, (1, 0))),
    );
    assert!(layout(&network, RIGHT).rings.is_empty());
}

#[test]
fn an_edit_of_a_ring_reaches_all_around_it() {
    let side = DrivingSide::Right;
    let network = ring(25.0, 5, 1.0, side);
    let before = layout(&network, side);
    let mut edited = network.clone();
    let mut road = network.road(RoadId(2)).unwrap().clone();
    let (lane_offset, lanes) = CrossSection::driving(1, 1, 4.0).lanes(side);
    (road.lane_offset, road.lane_sections) = (lane_offset, vec![lanes]);
    edited.put_road(RoadId(2), road);
    let after = layout_after_edit(&network, &before, &edited, side);
    assert!(after == layout(&edited, side) && after.rings.is_empty());
    let back = layout_after_edit(&edited, &after, &network, side);
    assert!(back == before && !back.rings.is_empty());
}

#[test]
fn short_pieces_of_a_ring_are_absorbed_and_its_order_stays() {
    // The pieces of the ring are 5.1 m long, which is shorter than a car and its gap.
    for (sense, side) in [(1.0, DrivingSide::Right), (-1.0, DrivingSide::Left)] {
        let network = ring(6.5, 8, sense, side);
        let layout = layout(&network, side);
        assert_eq!(layout.rings.len(), 8);
        assert!(!layout.internal.is_empty());
        assert!(layout.internal.iter().all(|road| road.0 < 8));
        let mut merged = 0;
        for junction in &layout.junctions {
            // At most 30 % of the ring, which is two pieces, is inside one junction.
            assert!(junction.nodes.len() <= 3, "{:?}", junction.nodes);
            if junction.control != Control::Roundabout || junction.nodes.len() < 2 {
                continue;
            }
            merged += 1;
            let ring = |road: RoadId| road.0 < 8;
            // Along the ring, the arms are in the order of their numbers, apart from the step from
            // 7 to 0.
            let position = |road: RoadId| (road.0 - 100 + 8 - junction.nodes[0].0) % 8;
            let wraps = junction.nodes.contains(&NodeId(0)) && junction.nodes.contains(&NodeId(7));
            let right_of_way = RightOfWay::of(junction, &Conflicts::of(junction));
            for (own, path) in junction.numbered_paths() {
                let is_between_arms = !ring(path.from.road) && !ring(path.to.road);
                assert!(
                    wraps || !is_between_arms || position(path.from.road) < position(path.to.road),
                    "{path:?}"
                );
                for (other, entry) in junction.numbered_paths() {
                    let both_enter = !ring(path.from.road) && !ring(entry.from.road);
                    let into_ring = ring(path.to.road) && ring(entry.to.road);
                    if !wraps && both_enter && into_ring && path.from.road != entry.from.road {
                        let is_later = position(path.from.road) > position(entry.from.road);
                        assert_eq!(right_of_way.gives_way(own, other), is_later);
                    }
                }
            }
        }
        assert!(merged >= 2, "{merged}");
    }
}

#[test]
fn no_path_leads_against_the_ring_between_roads_at_one_node() {
    // One road ends at a node of the ring and another begins there, at 20 degrees to either side.
    for (sense, side) in [(1.0, DrivingSide::Right), (-1.0, DrivingSide::Left)] {
        let mut network = ring(15.0, 4, sense, side);
        let arm = network.road(RoadId(100)).unwrap().clone();
        let node = DVec2::new(15.0, 0.0);
        network.remove_road(RoadId(100));
        // Vehicles leave the ring before they join it.
        for (id, offset, is_exit) in [(200, -20.0, true), (201, 20.0, false)] {
            let far = node + unit((sense * offset).to_radians()) * 70.0;
            network.put_node(NodeId(id), crate::Node::at(far));
            let (lane_offset, lanes) = CrossSection::driving(1, 0, 4.0).lanes(side);
            let (from, to, start, end) = match is_exit {
                true => (NodeId(0), NodeId(id), node, far),
                false => (NodeId(id), NodeId(0), far, node),
            };
            network.put_road(
                RoadId(id),
                Road {
                    from,
                    to,
                    reference_line: ReferenceLine::straight(start, end).unwrap(),
                    lane_offset,
                    lane_sections: vec![lanes],
                    ..arm.clone()
                },
            );
        }
        let layout = layout(&network, side);
        let junction = layout.junction_at(NodeId(0)).unwrap();
        let mut pairs: Vec<(u32, u32)> = junction
            .paths
            .iter()
            .map(|path| (path.from.road.0, path.to.road.0))
            .collect();
        pairs.sort_unstable();
        assert_eq!(pairs, [(3, 0), (3, 200), (201, 0)], "{side:?}");
    }
}
