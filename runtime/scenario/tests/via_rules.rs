//! Checks that via restrictions are preserved, and that invalid ones result in findings.

use crate::common::{applied, draw, street};
use roadwright_scenario::check::{Code, check};
use roadwright_scenario::junction::layout;
use roadwright_scenario::lane_graph::LaneGraph;
use roadwright_scenario::operation::draw::{RoadStyle, split};
use roadwright_scenario::operation::{deleted, reversed};
use roadwright_scenario::*;

/// Creates two one-way streets, `apart` metres apart, and a cross street. Road 1 comes from the
/// west and continues as road 2. Road 3 is the cross street and continues as road 6. Road 4 comes
/// from the east and continues as road 5. `rule` applies to the route from road 1 over road 3 to
/// another road.
fn streets(apart: f64, rule: Option<(RestrictionKind, u32)>) -> Scenario {
    let mut scenario = Scenario::new("streets");
    let one_way = RoadStyle {
        section: CrossSection::driving(1, 0, 3.25),
        ..street("one-way")
    };
    draw(&mut scenario, (-150.0, 0.0), (0.0, 0.0), &one_way);
    draw(&mut scenario, (0.0, 0.0), (150.0, 0.0), &one_way);
    draw(&mut scenario, (0.0, 0.0), (0.0, apart), &street("across"));
    draw(&mut scenario, (150.0, apart), (0.0, apart), &one_way);
    draw(&mut scenario, (0.0, apart), (-150.0, apart), &one_way);
    draw(
        &mut scenario,
        (0.0, apart),
        (0.0, apart + 100.0),
        &street("on"),
    );
    let mut node = scenario.network().node(first(&scenario)).unwrap().clone();
    node.rules.via_restrictions = rule
        .into_iter()
        .map(|(kind, to)| ViaRestriction {
            kind,
            from: RoadId(1),
            via: vec![RoadId(3)],
            to: RoadId(to),
        })
        .collect();
    let id = first(&scenario);
    applied(&scenario, Edit::Node(id, Some(node)))
}

/// Returns the node where road 3 begins.
fn first(scenario: &Scenario) -> NodeId {
    scenario.network().road(RoadId(3)).unwrap().from
}

fn graph(scenario: &Scenario) -> LaneGraph {
    let layout = layout(scenario.network(), scenario.about());
    LaneGraph::new(scenario, &layout)
}

/// Whether a route along lanelets that obeys the restrictions leads from road 1 to another road.
fn leads(scenario: &Scenario, to: u32) -> bool {
    let graph = graph(scenario);
    let (_, ids) = graph.lanes_of(RoadId(1)).next().unwrap();
    let start = *ids.last().unwrap();
    let mut open = vec![(start, graph.followed_on(start))];
    let mut seen = std::collections::BTreeSet::new();
    while let Some((id, followed)) = open.pop() {
        if !seen.insert((id, followed.clone())) {
            continue;
        }
        if graph.lanelet(id).road() == Some(RoadId(to)) {
            return true;
        }
        for &next in graph.successors(id) {
            let after = graph.followed_onto(&followed, id, next);
            open.extend(after.map(|after| (next, after)));
        }
    }
    false
}

fn is_dangling(scenario: &Scenario) -> bool {
    let findings = check(scenario);
    findings
        .iter()
        .any(|finding| finding.code == Code::DanglingRestriction)
}

#[test]
fn nobody_drives_the_way_that_is_forbidden() {
    use RestrictionKind::{No, Only};
    // The streets are far apart in the first case. In the second case, they are so close together
    // that everything is one junction, in which U-turns are impossible anyway.
    let is_inside = |apart| {
        let scenario = streets(apart, None);
        let layout = layout(scenario.network(), scenario.about());
        layout.internal.contains(&RoadId(3))
    };
    assert!(!is_inside(90.0) && is_inside(14.0));
    let reached = |apart, rule| [5, 6].map(|to| leads(&streets(apart, rule), to));
    assert_eq!(reached(90.0, None), [true, true]);
    assert_eq!(reached(90.0, Some((No, 5))), [false, true]);
    assert_eq!(reached(90.0, Some((No, 6))), [true, false]);
    assert_eq!(reached(90.0, Some((Only, 5))), [true, false]);
    assert_eq!(reached(90.0, Some((Only, 6))), [false, true]);
    assert_eq!(reached(14.0, None), [false, true]);
    assert_eq!(reached(14.0, Some((No, 6))), [false, false]);
    assert_eq!(reached(14.0, Some((Only, 6))), [false, true]);
    assert_eq!(reached(14.0, Some((Only, 5))), [false, false]);
}

#[test]
fn it_stays_when_roads_are_cut_and_turned_and_what_is_lost_is_told() {
    let scenario = streets(90.0, Some((RestrictionKind::No, 5)));
    assert!(!is_dangling(&scenario));
    for (road, s) in [(1, 60.0), (3, 45.0), (5, 60.0)] {
        let cut = applied(&scenario, split(&scenario, RoadId(road), s).unwrap());
        assert_eq!(cut.network().road_count(), 7);
        assert!(!is_dangling(&cut), "{road}");
        // The part at the start of road 1 keeps the id.
        if road != 1 {
            assert!(!leads(&cut, 5), "{road}");
        }
        let rule = &cut
            .network()
            .node(first(&scenario))
            .unwrap()
            .rules
            .via_restrictions[0];
        assert!(rule.roads(cut.network(), first(&scenario)).is_some());
    }
    let turned = applied(&scenario, reversed(&scenario, RoadId(3)).unwrap());
    let id = turned.network().road(RoadId(3)).unwrap().to;
    assert_eq!(
        turned
            .network()
            .node(id)
            .unwrap()
            .rules
            .via_restrictions
            .len(),
        1
    );
    assert!(!is_dangling(&turned) && !leads(&turned, 5));
    let gone = applied(
        &scenario,
        deleted(&scenario, &[ObjectId::Road(RoadId(3))].into()),
    );
    let rules = gone
        .network()
        .nodes()
        .map(|(_, node)| node.rules.via_restrictions.len());
    assert_eq!(rules.sum::<usize>(), 0);
    // Roads that do not meet are reported and have no effect.
    let mut wrong = scenario.clone();
    let mut node = wrong.network().node(first(&scenario)).unwrap().clone();
    node.rules.via_restrictions[0].to = RoadId(2);
    wrong
        .apply(Edit::Node(first(&scenario), Some(node)))
        .unwrap();
    assert!(is_dangling(&wrong) && leads(&wrong, 5));
}

#[test]
fn files_keep_it_and_say_what_is_wrong() {
    let scenario = streets(90.0, Some((RestrictionKind::No, 5)));
    let text = file::to_text(&scenario);
    let rule = "\"via_restrictions\": [{\"kind\": \"no\", \"from\": 1, \"via\": [3], \"to\": 5}]";
    assert!(
        text.contains(rule),
        "{}",
        &text[text.find("via_restrictions").unwrap()..][..90]
    );
    assert!(file::from_text(&text).unwrap() == scenario);
    for wrong in [
        "[]",
        "3",
        "[\"3\"]",
        "[-1]",
        "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17]",
    ] {
        let text = text.replace("\"via\": [3]", &format!("\"via\": {wrong}"));
        let error = file::from_text(&text).unwrap_err();
        assert!(error.line > 0, "{wrong}: {error}");
    }
    // Roads that do not exist and repetitions of a road are accepted when reading, but reported and
    // harmless.
    for absurd in ["[99999]", "[3,3,3,3]", "[1]", "[5]"] {
        let text = text.replace("\"via\": [3]", &format!("\"via\": {absurd}"));
        let read = file::from_text(&text).unwrap();
        let _ = (graph(&read), check(&read));
    }
}
