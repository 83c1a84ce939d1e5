//! Tests of control and right of way.

use super::*;

#[test]
fn control_follows_from_the_roads_unless_it_is_decided() {
    let equal = ruled(&CROSS, RIGHT, |_, _| ());
    assert_eq!(equal.control, Control::Uncontrolled);
    // Roads 1 and 3 are in line and of a higher class, so they have priority.
    let avenue = ruled(&CROSS, RIGHT, |roads, _| {
        roads[0].class = RoadClass::Arterial;
        roads[2].class = RoadClass::Arterial;
    });
    assert_eq!(avenue.control, Control::Priority);
    let expected = [Sign::None, Sign::Yield, Sign::None, Sign::Yield];
    assert_eq!(signs(&avenue), expected);
    // A single arm of a higher class continues in the opposite arm.
    let ending = ruled(&CROSS, RIGHT, |roads, _| {
        roads[0].class = RoadClass::Arterial
    });
    assert_eq!(signs(&ending), expected);
    // A setting by the user takes precedence. It may also name the major roads.
    let decided = ruled(&CROSS, RIGHT, |_, rules| {
        rules.control = Some(Control::Stop);
        rules.major = vec![RoadId(1), RoadId(2)];
    });
    let expected = [Sign::None, Sign::None, Sign::Stop, Sign::Stop];
    assert_eq!(signs(&decided), expected);
    let lit = ruled(&CROSS, RIGHT, |_, rules| {
        rules.control = Some(Control::Signals)
    });
    assert_eq!(signs(&lit), [Sign::Signal; 4]);
    // At a T-junction of main streets, the through road has priority. At a T-junction of
    // residential streets, no road has priority.
    let t = |class: RoadClass| {
        ruled(&[0.0, 180.0, 270.0], RIGHT, |roads, _| {
            roads.iter_mut().for_each(|road| road.class = class);
        })
    };
    assert_eq!(
        signs(&t(RoadClass::Collector)),
        [Sign::None, Sign::None, Sign::Yield]
    );
    assert_eq!(t(RoadClass::Residential).control, Control::Uncontrolled);
}

#[test]
fn who_gives_way_follows_the_rules_in_their_order() {
    for side in [DrivingSide::Right, DrivingSide::Left] {
        // Road 1 is in the east, 2 in the north, 3 in the west, and 4 in the south.
        let equal = ruled(&CROSS, side, |_, _| ());
        let conflicts = Conflicts::of(&equal);
        let right = RightOfWay::of(&equal, &conflicts);
        let (from_south, from_east) = (path(&equal, 4, 2), path(&equal, 1, 3));
        // In right-hand traffic, the east is to the right of vehicles from the south.
        let nearer = side == DrivingSide::Right;
        assert_eq!(right.gives_way(from_south, from_east), nearer);
        assert_eq!(right.gives_way(from_east, from_south), !nearer);
        // The road reached by turning across oncoming traffic.
        let far = if nearer { 3 } else { 1 };
        let (turning, oncoming) = (path(&equal, 4, far), path(&equal, 2, 4));
        assert!(right.gives_way(turning, oncoming) && !right.gives_way(oncoming, turning));
        // Under any control, no two connections yield to each other.
        for control in Control::ALL {
            let junction = ruled(&CROSS, side, |_, rules| rules.control = Some(control));
            let conflicts = Conflicts::of(&junction);
            let right = RightOfWay::of(&junction, &conflicts);
            for conflict in conflicts.list() {
                let (a, b) = conflict.paths;
                assert!(
                    !(right.gives_way(a, b) && right.gives_way(b, a)),
                    "{control:?}"
                );
            }
            let anybody =
                ConnectionIndex::up_to(junction.paths.len()).any(|p| right.gives_way_to_any(p));
            let in_turns = matches!(control, Control::AllWayStop | Control::Zipper);
            assert_eq!(anybody, !in_turns, "{control:?}");
        }
        // A sign takes precedence over the driving side.
        let signed = ruled(&CROSS, side, |_, rules| {
            rules.control = Some(Control::Priority);
            rules.major = vec![RoadId(2), RoadId(4)];
        });
        let right = RightOfWay::of(&signed, &Conflicts::of(&signed));
        assert!(right.gives_way(path(&signed, 1, 3), path(&signed, 4, 2)));
        assert!(right.gives_way(path(&signed, 3, 1), path(&signed, 4, 2)));
    }
}

#[test]
fn who_follows_at_a_sign_takes_the_time_of_the_handbook() {
    for side in [DrivingSide::Right, DrivingSide::Left] {
        let follow_up = |control: Control, from: u32, to: u32| {
            let junction = ruled(&CROSS, side, |_, rules| {
                rules.control = Some(control);
                rules.major = vec![RoadId(1), RoadId(3)];
            });
            let right = RightOfWay::of(&junction, &Conflicts::of(&junction));
            right.follow_up(path(&junction, from, to))
        };
        let (near, far) = match side {
            DrivingSide::Right => (1, 3),
            DrivingSide::Left => (3, 1),
        };
        for control in [Control::Priority, Control::Stop] {
            assert_eq!(follow_up(control, 4, near), 3.3);
            assert_eq!(follow_up(control, 4, 2), 4.0);
            assert_eq!(follow_up(control, 4, far), 3.5);
            assert_eq!(follow_up(control, 1, 3), 0.0);
        }
        assert_eq!(follow_up(Control::Signals, 4, 2), 0.0);
        assert_eq!(follow_up(Control::Roundabout, 4, 2), 0.0);
    }
}

#[test]
fn nodes_of_one_junction_decide_together() {
    // Two nodes 4 m apart become one junction. Roads 10 and 11 end at the first node, roads 12 and
    // 13 at the second.
    let places = [
        (0.0, 0.0),
        (4.0, 0.0),
        (-90.0, 0.0),
        (0.0, 90.0),
        (94.0, 0.0),
        (4.0, -90.0),
    ];
    let streets = [(1, 0, 1), (10, 2, 0), (11, 3, 0), (12, 4, 1), (13, 5, 1)];
    let network = network_of(
        &places,
        3.5,
        &streets.map(|(id, from, to)| (id, from, to, (1, 1))),
    );
    let decided = |rules: [JunctionRules; 2]| {
        let mut network = network.clone();
        for (id, rules) in (0..).zip(rules) {
            let node = network.node(NodeId(id)).unwrap().clone();
            network.put_node(NodeId(id), crate::Node { rules, ..node });
        }
        let layout = layout(&network, RIGHT);
        let junction = layout.junctions[layout.junction_of[&NodeId(0)]].clone();
        assert_eq!(junction.nodes.len(), 2);
        junction
    };
    let rules = |control: Option<Control>, major: &[u32]| JunctionRules {
        control,
        major: major.iter().copied().map(RoadId).collect(),
        ..JunctionRules::default()
    };
    let give_way = || rules(Some(Control::Priority), &[10]);
    // Signals at any node control the whole junction.
    let lit = decided([give_way(), rules(Some(Control::Signals), &[])]);
    assert_eq!(lit.control, Control::Signals);
    // The major roads of nodes with the same control are combined.
    let both = decided([give_way(), rules(Some(Control::Priority), &[12])]);
    assert_eq!(
        signs(&both),
        [Sign::None, Sign::Yield, Sign::None, Sign::Yield]
    );
}

#[test]
fn major_roads_alone_are_a_decision() {
    let junction = ruled(&CROSS, RIGHT, |roads, rules| {
        roads[0].class = RoadClass::Arterial;
        roads[2].class = RoadClass::Arterial;
        rules.major = vec![RoadId(2), RoadId(4)];
    });
    let expected = [Sign::Yield, Sign::None, Sign::Yield, Sign::None];
    assert_eq!(signs(&junction), expected);
}
