//! Roundabouts whose arms the data split around islands.

use crate::osm::imported;
use roadwright_interchange::osm::{ImportSummary, read};
use roadwright_scenario::junction::{ConnectingPath, Junction, Layout, Turn, layout};
use roadwright_scenario::{Control, RoadId, Scenario};
use roadwright_testing::SplitRoundabout;

fn import(roundabout: SplitRoundabout) -> (Scenario, ImportSummary, Layout) {
    let (scenario, summary) = imported(&read(roundabout.osm().as_bytes()).unwrap());
    let layout = layout(scenario.network(), scenario.about());
    (scenario, summary, layout)
}

fn joined_arms(summary: &ImportSummary) -> usize {
    let mut warnings = summary.warnings.iter();
    let joined = warnings.find(|warning| warning.reason.contains("split around an island"));
    joined.map_or(0, |warning| warning.count)
}

fn mini(layout: &Layout) -> &Junction {
    let mut junctions = layout.junctions.iter();
    junctions
        .find(|junction| junction.control == Control::MiniRoundabout)
        .unwrap()
}

const MINI: SplitRoundabout = SplitRoundabout {
    ring: None,
    fork: 30.0,
    more: "",
};

#[test]
fn a_mini_roundabout_with_split_arms_has_one_entry_and_one_exit_for_each() {
    let (_, summary, layout) = import(MINI);
    assert_eq!((summary.mini_roundabouts, joined_arms(&summary)), (1, 3));
    let mini = mini(&layout);
    assert_eq!((mini.arms.len(), mini.nodes.len()), (3, 1));
    assert!(mini.flags().is_empty(), "{:?}", mini.flags());
    let back = |path: &&ConnectingPath| path.turn == Turn::UTurn;
    assert_eq!(mini.paths.iter().filter(back).count(), 3);
    assert_eq!(mini.paths.len(), 9);
    for path in &mini.paths {
        let length = path.curve.as_ref().unwrap().length();
        assert!(length < 60.0, "{length} m");
    }
}

#[test]
fn turning_round_can_be_forbidden() {
    let (_, summary, layout) = import(SplitRoundabout {
        more: "<relation id=\"1\"><member type=\"way\" ref=\"12\" role=\"from\"/>\
               <member type=\"node\" ref=\"1\" role=\"via\"/><member type=\"way\" ref=\"13\" role=\"to\"/>\
               <tag k=\"type\" v=\"restriction\"/><tag k=\"restriction\" v=\"no_u_turn\"/></relation>",
        ..MINI
    });
    assert_eq!(summary.restrictions, 1);
    assert_eq!(mini(&layout).paths.len(), 8);
}

#[test]
fn signs_and_crossings_of_split_arms_stay() {
    // The first arm has a crossing over its entry and one over its exit, which are one crossing.
    // The arm is long enough for it.
    let long = SplitRoundabout { fork: 58.0, ..MINI };
    let text = long.osm();
    let with_crossing = |text: String, node: &str| {
        let at = text.find(&format!("<node id=\"{node}\"")).unwrap();
        let end = at + text[at..].find('>').unwrap() + 1;
        let tag = "<tag k=\"highway\" v=\"crossing\"/>";
        [&text[..end], tag, &text[end..]].concat()
    };
    let text = with_crossing(with_crossing(text, "12"), "13");
    let (scenario, summary) = imported(&read(text.as_bytes()).unwrap());
    assert_eq!((summary.crossings, summary.crossings_unassigned), (1, 0));
    let layout = layout(scenario.network(), scenario.about());
    assert_eq!(mini(&layout).crossings.len(), 1);
}

#[test]
fn a_split_arm_that_meets_a_ring_in_one_node_is_joined() {
    let (_, summary, layout) = import(SplitRoundabout {
        ring: Some(15.0),
        ..MINI
    });
    assert_eq!(joined_arms(&summary), 3);
    let on_ring = layout.junctions.iter();
    let on_ring: Vec<_> = on_ring
        .filter(|junction| junction.control == Control::Roundabout && junction.is_crossing())
        .collect();
    assert_eq!(on_ring.len(), 3);
    for junction in on_ring {
        // From the arm into the ring, and from the ring into the arm and along the ring.
        assert_eq!((junction.arms.len(), junction.paths.len()), (3, 3));
    }
}

#[test]
fn no_path_leads_from_an_entry_into_the_exit_beside_it() {
    // These arms are too long to be joined.
    let (_, summary, layout) = import(SplitRoundabout {
        ring: Some(15.0),
        fork: 90.0,
        ..MINI
    });
    assert_eq!(joined_arms(&summary), 0);
    let is_ring = |road: RoadId| layout.rings.contains(&road);
    let mut seen = 0;
    for junction in &layout.junctions {
        if junction.control != Control::Roundabout || junction.arms.len() != 4 {
            continue;
        }
        seen += 1;
        let mut paths = junction.paths.iter();
        assert!(
            paths.all(|path| is_ring(path.from.road) || is_ring(path.to.road)),
            "{:?}",
            junction.paths
        );
        assert_eq!(junction.paths.len(), 3);
    }
    assert_eq!(seen, 3);
}
