//! Tests of turns from lane to lane.

use super::*;

#[test]
fn a_dead_end_has_no_u_turn_on_a_narrow_road() {
    // A U-turn requires the turning radius of a car.
    let narrow = junction_of(&[two_way(0.0)], RIGHT);
    assert!(narrow.paths.is_empty() && narrow.arms[0].trim == 0.0);
    let wide = junction_of(
        &[arm(0.0, 100.0, CrossSection::driving(1, 1, 10.0), RIGHT)],
        RIGHT,
    );
    assert_eq!(wide.paths[0].turn, Turn::UTurn);
    let place = wide.polygon();
    for point in wide.paths[0].curve.as_ref().unwrap().sample(0.1, 0.0) {
        assert!(
            polygon::distance(&place, point) < 1e-6,
            "vehicles turn on the road, not beyond it"
        );
    }
}

#[test]
fn a_crossroads_of_single_lanes_has_twelve_links() {
    let roads = [0.0, 90.0, 180.0, 270.0].map(two_way);
    let junction = junction_of(&roads, RIGHT);
    assert_eq!(junction.paths.len(), 12);
    let count = |turn| junction.paths.iter().filter(|p| p.turn == turn).count();
    assert_eq!(
        (count(Turn::Left), count(Turn::Straight), count(Turn::Right)),
        (4, 4, 4)
    );
    assert!(junction.flags().is_empty());
}

#[test]
fn two_lanes_turn_from_their_own_side() {
    let two = |bearing| arm(bearing, 100.0, CrossSection::driving(2, 2, 3.5), RIGHT);
    let junction = junction_of(&[0.0, 90.0, 180.0, 270.0].map(two), RIGHT);
    let normal = |turn| {
        junction
            .paths
            .iter()
            .filter(move |p| p.turn == turn && p.kind == LinkKind::Normal)
    };
    // Lanes -1 and +1 are nearest to the middle of the road, and lanes -2 and +2 to the kerb.
    assert!(normal(Turn::Left).all(|p| p.from.lane.abs() == 1 && p.to.lane.abs() == 1));
    assert!(normal(Turn::Right).all(|p| p.from.lane.abs() == 2 && p.to.lane.abs() == 2));
    assert!(normal(Turn::Straight).all(|p| p.from.lane.abs() == p.to.lane.abs()));
    assert_eq!(normal(Turn::Straight).count(), 8);
}

/// Turn arrows of two adjacent lanes. The left lane comes first.
type OfLanes<'a> = [&'a [Turn]; 2];

/// Returns the turns of the lanes of road 1, from left to right, at a crossroads with two lanes in
/// each direction and the given arrows.
fn turns_with(arrows: OfLanes<'_>, side: DrivingSide) -> (Vec<Vec<Turn>>, Vec<Flag>) {
    let mut roads = [0.0, 90.0, 180.0, 270.0]
        .map(|bearing| arm(bearing, 100.0, CrossSection::driving(2, 2, 3.5), side));
    // The roads begin at the junction, so the entering lanes run against the direction of the road.
    // To list them from left to right as their drivers see them, the list starts at the right.
    let lanes = &mut roads[0].lane_sections[0].lanes;
    let entering = lanes.iter_mut().rev().filter(|lane| !lane.is_forward(side));
    let mut ids = Vec::new();
    for (lane, turns) in entering.zip(arrows) {
        lane.turns = turns.iter().copied().collect();
        ids.push(lane.id);
    }
    let junction = junction_of(&roads, side);
    let of_lane = |id: i8| {
        let own = junction.paths.iter();
        let own = own.filter(|path| path.from.road == RoadId(1) && path.from.lane == id);
        own.map(|path| path.turn)
            .collect::<Turns>()
            .iter()
            .collect()
    };
    (ids.into_iter().map(of_lane).collect(), junction.flags())
}

#[test]
fn lanes_with_arrows_turn_as_those_say() {
    use Turn::{Left, Right, Straight, UTurn};
    // (arrows of the left lane and of the right lane, resulting turns)
    let cases: [(OfLanes, OfLanes); 5] = [
        ([&[], &[]], [&[Left, Straight], &[Straight, Right]]),
        ([&[Left], &[]], [&[Left], &[Straight, Right]]),
        ([&[Left], &[Straight, Right]], [&[Left], &[Straight, Right]]),
        ([&[Left, Straight], &[Right]], [&[Left, Straight], &[Right]]),
        // An arrow for a turn that does not exist is ignored.
        ([&[UTurn], &[Right]], [&[Left, Straight], &[Right]]),
    ];
    for side in [DrivingSide::Right, DrivingSide::Left] {
        for (arrows, expected) in cases {
            let (turns, flags) = turns_with(arrows, side);
            assert_eq!(turns, expected, "{side:?} {arrows:?}");
            let to_nowhere = |flag: &&Flag| matches!(flag, Flag::NoSuchTurn(_, UTurn));
            let told = flags.iter().filter(to_nowhere).count();
            assert_eq!(told, usize::from(arrows[0] == [UTurn]), "{arrows:?}");
        }
    }
}

#[test]
fn a_narrowing_road_merges_its_lanes() {
    let wide = arm(180.0, 100.0, CrossSection::driving(2, 2, 3.5), RIGHT);
    let junction = junction_of(&[two_way(0.0), wide], RIGHT);
    // Two lanes become one, and one lane becomes two.
    assert_eq!(junction.paths.len(), 4);
    assert!(junction.flags().is_empty(), "{:?}", junction.flags());
}

#[test]
fn forbidden_turns_have_no_path() {
    let roads = [0.0, 90.0, 180.0].map(two_way);
    let site = Site {
        allows: &|from, to| {
            let is_forbidden = from.0 == RoadId(1) && to.0 == RoadId(2);
            (!is_forbidden).then_some(LaneAccess::All)
        },
        ..site(RIGHT)
    };
    let junction = build(&site, arms_of(&roads));
    let has = |from, to| {
        junction
            .paths
            .iter()
            .any(|p| p.from.road == RoadId(from) && p.to.road == RoadId(to))
    };
    assert!(!has(1, 2) && has(1, 3) && has(2, 1));
}

#[test]
fn arrows_for_the_far_node_of_a_merged_junction_keep_the_turns_at_the_near_one() {
    let turns = |nodes: u32| {
        let two = |bearing| arm(bearing, 100.0, CrossSection::driving(2, 2, 3.5), RIGHT);
        let mut roads = CROSS.map(two);
        for lane in &mut roads[0].lane_sections[0].lanes {
            // Vehicles enter on lanes 1 and 2; the arrows show no turn to the right.
            lane.turns = match lane.id {
                1 => [Turn::Left, Turn::Straight].into_iter().collect(),
                2 => [Turn::Straight].into_iter().collect(),
                _ => Turns::NONE,
            };
        }
        let site = Site {
            nodes: (0..nodes).map(NodeId).collect(),
            ..site(RIGHT)
        };
        let junction = build(&site, arms_of(&roads));
        let own = junction
            .paths
            .iter()
            .filter(|path| path.from.road == RoadId(1));
        let own = own.filter(|path| path.kind == LinkKind::Normal);
        let mut turns: Vec<_> = own.map(|path| (path.from.lane, path.turn)).collect();
        turns.sort_unstable();
        turns
    };
    let mut all = vec![
        (1, Turn::Left),
        (1, Turn::Straight),
        (2, Turn::Straight),
        (2, Turn::Right),
    ];
    all.sort_unstable();
    let mut shown = all.clone();
    shown.retain(|(_, turn)| *turn != Turn::Right);
    assert_eq!(turns(1), shown);
    assert_eq!(turns(2), all);
}
