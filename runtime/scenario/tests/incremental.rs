//! Checks that incremental updates after an edit equal results computed from scratch.

use crate::common::*;
use proptest::prelude::*;
use roadwright_geometry::centre_line::LineSpan;
use roadwright_geometry::math::Stream;
use roadwright_geometry::{DVec2, ReferenceLine};
use roadwright_scenario::junction::{
    JunctionShape, JunctionShapes, Layout, layout, layout_after_edit,
};
use roadwright_scenario::lane_graph::{Before, LaneGraph, Lanelet, NO_LANELET};
use roadwright_scenario::operation::draw::{self, RoadStyle};
use roadwright_scenario::*;
use std::path::PathBuf;
use std::sync::Arc;

fn shipped(name: &str) -> Scenario {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    file::load(&folder.join(format!("{name}.scenario.json"))).unwrap()
}

fn laid_out(scenario: &Scenario) -> Layout {
    layout(scenario.network(), scenario.about().driving_side)
}

/// Draws a straight road if there is room for it. A line that just misses a node may be rejected.
fn try_to_draw(scenario: &mut Scenario, from: DVec2, to: DVec2, style: &RoadStyle) {
    let line = ReferenceLine::straight(from, to).unwrap();
    if let Ok(edit) = draw::road(scenario, &line, style) {
        scenario.apply(edit).unwrap();
    }
}

/// Number of roads above which a change deletes a road rather than drawing one. Otherwise, roads
/// that cross all other roads would make the network so large that building it from scratch would
/// dominate the running time.
const MANY_ROADS: usize = 150;

/// Changes the roads. The change is selected by three numbers, and may have no effect.
fn change(scenario: &mut Scenario, kind: u8, which: usize, size: f64) {
    let roads: Vec<RoadId> = scenario.network().roads().map(|(id, _)| id).collect();
    let nodes: Vec<NodeId> = scenario.network().nodes().map(|(id, _)| id).collect();
    let (road, node) = (roads[which % roads.len()], nodes[which % nodes.len()]);
    let at = scenario.network().node(node).unwrap().position();
    let draws = matches!(kind, 2 | 3 | 9..);
    let kind = match draws && roads.len() > MANY_ROADS {
        true => 0,
        false => kind,
    };
    match kind {
        0 => drop(scenario.apply(Edit::Road(road, None))),
        1 => {
            let mut wider = scenario.network().road(road).unwrap().clone();
            for section in &mut wider.lane_sections {
                for lane in &mut section.lanes {
                    lane.width[0].a = ((lane.width[0].a + size).max(1.0)).into();
                }
            }
            drop(scenario.apply(Edit::Road(road, Some(Box::new(wider)))));
        }
        2 => {
            // A short street beside a junction, so that junctions are merged.
            let end = at + DVec2::new(10.0 + 15.0 * size, 25.0 * size);
            try_to_draw(scenario, at, end, &street("short"));
        }
        3 => {
            let to = nodes[(which * 7 + 3) % nodes.len()];
            let to = scenario.network().node(to).unwrap().position();
            if (to - at).length() > 5.0 {
                try_to_draw(scenario, at, to, &street("across"));
            }
        }
        4 => {
            let mut lit = scenario.network().node(node).unwrap().clone();
            lit.rules.control = match lit.rules.control {
                None => Some(Control::Signals),
                Some(_) => None,
            };
            drop(scenario.apply(Edit::Node(node, Some(lit))));
        }
        5 => {
            let mut other = scenario.network().road(road).unwrap().clone();
            other.access = RoadAccess::ALL[which % RoadAccess::ALL.len()];
            drop(scenario.apply(Edit::Road(road, Some(Box::new(other)))));
        }
        6 => {
            let mut crossed = scenario.network().node(node).unwrap().clone();
            crossed.rules.crossings = match crossed.rules.crossings[..] {
                [] => {
                    let ends = scenario.network().ends_at(node).into_iter();
                    ends.map(|(road, _)| CrossingRule::over(road)).collect()
                }
                _ => Vec::new(),
            };
            drop(scenario.apply(Edit::Node(node, Some(crossed))));
        }
        7 => {
            let mut other = scenario.network().node(node).unwrap().clone();
            let ends = scenario.network().ends_at(node);
            let (Some(first), Some(last)) = (ends.first(), ends.last()) else {
                return;
            };
            let (first, last) = (first.0, last.0);
            let radius = other.rules.corner(first, last).is_none();
            let radius = radius.then_some(0.5 + 12.0 * size.abs());
            other.rules.set_corner(first, last, radius);
            let lane = |road| RoadLane { road, lane: -1 };
            let turn = LaneTurn {
                from: lane(first),
                to: lane(last),
            };
            match which % 3 {
                0 => other.rules.turns.add(turn),
                1 => other.rules.turns.remove(turn),
                _ => other.rules.turns.forget(turn),
            }
            drop(scenario.apply(Edit::Node(node, Some(other))));
        }
        8 => {
            // The junctions at both ends of a road are merged, whether that is possible or not, or split
            // again.
            let mut merged = scenario.network().node(node).unwrap().clone();
            let ends = scenario.network().ends_at(node);
            let named = ends.iter().skip(which % 2).map(|(road, _)| *road);
            let mut named: Vec<RoadId> = named.collect();
            named.dedup();
            match merged.rules.internal_roads[..] {
                [] => merged.rules.internal_roads = named,
                _ => merged.rules.internal_roads.clear(),
            }
            drop(scenario.apply(Edit::Node(node, Some(merged))));
        }
        _ => {
            let style = RoadStyle {
                section: CrossSection::driving(2, 1, 3.25),
                ..street("avenue")
            };
            let far = at + DVec2::new(200.0 * size, 120.0);
            try_to_draw(scenario, at - DVec2::new(80.0, 60.0), far, &style);
        }
    }
}

#[test]
fn a_road_that_could_not_be_internal_becomes_so() {
    let mut scenario = Scenario::new("near");
    let street = street("Street");
    draw(&mut scenario, (-120.0, 0.0), (160.0, 0.0), &street);
    draw(&mut scenario, (0.0, -100.0), (0.0, 100.0), &street);
    draw(&mut scenario, (40.0, -100.0), (40.0, 100.0), &street);
    let network = scenario.network();
    let crossings = network.nodes().map(|(id, _)| id);
    let crossings: Vec<NodeId> = crossings
        .filter(|&id| network.ends_at(id).len() == 4)
        .collect();
    let edit = operation::merged_junctions(&scenario, &crossings.iter().copied().collect());
    scenario.apply(edit.unwrap()).unwrap();
    // Two mini roundabouts each have an island, so they stay separate. A single mini roundabout may
    // be part of a merged junction.
    let mut layout = laid_out(&scenario);
    for (node, control) in [
        (0, Some(Control::MiniRoundabout)),
        (1, Some(Control::MiniRoundabout)),
        (1, None),
        (1, Some(Control::MiniRoundabout)),
        (0, None),
    ] {
        let old = scenario.clone();
        let mut changed = scenario.network().node(crossings[node]).unwrap().clone();
        changed.rules.control = control;
        scenario
            .apply(Edit::Node(crossings[node], Some(changed)))
            .unwrap();
        let side = scenario.about().driving_side;
        layout = layout_after_edit(old.network(), &layout, scenario.network(), side);
        assert_eq!(layout, laid_out(&scenario), "{node} {control:?}");
    }
}

/// Returns the properties of a lanelet, except for the storage position of its points.
fn facts(lanelet: &Lanelet) -> impl PartialEq + std::fmt::Debug + use<> {
    let LineSpan { spacing, count, .. } = lanelet.line_span();
    (
        (
            lanelet.kind,
            spacing,
            count,
            lanelet.width,
            lanelet.road_span,
        ),
        (lanelet.left, lanelet.right, lanelet.beside),
        (
            lanelet.access,
            lanelet.road_access,
            lanelet.layer,
            lanelet.speed_limit,
        ),
    )
}

/// Compares all query results of two graphs.
fn assert_same(graph: &LaneGraph, fresh: &LaneGraph) {
    let all = |graph: &LaneGraph| graph.lanelets().iter().map(facts).collect::<Vec<_>>();
    assert_eq!(all(graph), all(fresh));
    for id in graph.indices() {
        assert_eq!(graph.line(id).poses(), fresh.line(id).poses());
        assert_eq!(graph.line(id).heading(1.0), fresh.line(id).heading(1.0));
        assert_eq!(graph.successors(id), fresh.successors(id));
        assert_eq!(graph.predecessors(id), fresh.predecessors(id));
    }
}

fn hold(name: &str, changes: Vec<(u8, usize, f64)>) {
    let mut scenario = shipped(name);
    let mut before = laid_out(&scenario);
    let mut graph = LaneGraph::new(&scenario, &before);
    for (kind, which, size) in changes {
        let old = scenario.clone();
        change(&mut scenario, kind, which, size);
        let side = scenario.about().driving_side;
        let after = layout_after_edit(old.network(), &before, scenario.network(), side);
        assert_eq!(after, laid_out(&scenario), "{name}: {kind} {which} {size}");
        let known = Before {
            network: old.network(),
            layout: &before,
            graph: &graph,
        };
        let (next, _) = LaneGraph::after_edit(&scenario, &after, known);
        assert_same(&next, &LaneGraph::new(&scenario, &after));
        (before, graph) = (after, next);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn roads_after_edits_are_those_made_from_nothing(
        changes in proptest::collection::vec((0u8..10, 0usize..500, -1.0..1.0f64), 1..6),
        name in proptest::sample::select(&["old-town", "crossroads", "rush-hour"][..]),
    ) {
        hold(name, changes);
    }
}

/// Returns `count` random changes.
fn random_changes(count: u64) -> impl Iterator<Item = (u8, usize, f64)> {
    let mut stream = Stream::new(roadwright_testing::seed(61), "edits", 0);
    (0..count).map(move |_| {
        let (kind, which) = (stream.next_index(10) as u8, stream.next_index(500));
        (kind, which, stream.next_in(-1.0, 1.0))
    })
}

#[test]
fn shapes_kept_over_many_edits_give_what_each_junction_gives_alone() {
    let mut scenario = shipped("crossroads");
    let mut layout = laid_out(&scenario);
    // The shapes of junctions are kept, as they are in a running world.
    let (shapes, mut held) = (JunctionShapes::default(), Vec::new());
    let (mut shared, mut compared) = (0, 0);
    for (kind, which, size) in random_changes(roadwright_testing::scaled(1_000)) {
        let old = scenario.clone();
        change(&mut scenario, kind, which, size);
        let side = scenario.about().driving_side;
        let next = layout_after_edit(old.network(), &layout, scenario.network(), side);
        let kept: Vec<_> = next
            .junctions
            .iter()
            .map(|one| shapes.shape_of(one))
            .collect();
        let known = layout.shared_by(&next);
        for ((junction, shape), known) in next.junctions.iter().zip(&kept).zip(known) {
            if known.is_some() {
                continue;
            }
            let alone = JunctionShape::of(junction);
            assert_eq!(
                shape.conflicts(),
                alone.conflicts(),
                "{kind} {which} {size}"
            );
            assert_eq!(shape.setbacks_of_cars(), alone.setbacks_of_cars());
            compared += 1;
        }
        shared += usize::from(shapes.count() < next.junctions.len());
        layout = next;
        drop(std::mem::replace(&mut held, kept));
        shapes.forget_unused();
        assert!(shapes.count() <= held.len());
    }
    assert!(compared > 50 && shared > 5, "{compared} {shared}");
}

#[test]
fn many_edits_one_after_another_end_where_building_anew_does() {
    let changes = random_changes(roadwright_testing::scaled(1_000));
    hold("crossroads", changes.collect());
}

#[test]
fn what_an_edit_does_not_reach_is_shared() {
    let mut scenario = shipped("old-town");
    let before = laid_out(&scenario);
    let graph = LaneGraph::new(&scenario, &before);
    let old = scenario.clone();
    change(&mut scenario, 1, 20, 0.2);
    let side = scenario.about().driving_side;
    let after = layout_after_edit(old.network(), &before, scenario.network(), side);
    let shared = after.junctions.iter();
    let shared = shared.filter(|new| before.junctions.iter().any(|old| Arc::ptr_eq(old, new)));
    let shared = shared.count();
    assert!(shared > after.junctions.len() * 3 / 4, "{shared}");
    assert!(shared < after.junctions.len(), "the edit changed nothing");
    let known = Before {
        network: old.network(),
        layout: &before,
        graph: &graph,
    };
    let (next, copies) = LaneGraph::after_edit(&scenario, &after, known);
    let copied = copies.iter().filter(|&&copy| copy != NO_LANELET).count();
    assert!(copied > next.lanelets().len() * 3 / 4, "{copied}");
    assert!(copied < next.lanelets().len(), "the edit changed nothing");
    // Pieces of lane are matched by their identity.
    let found = graph.counterparts(&next);
    for (id, &copy) in next.indices().zip(&copies) {
        assert!(copy == NO_LANELET || found[copy.index()] == id);
    }
    assert!(found.iter().all(|&id| id != NO_LANELET));
}

#[test]
fn a_street_between_two_nodes_of_a_merged_junction_lies_within_it() {
    // A street of 36 m cuts off a corner, as slip roads in towns do.
    let mut scenario = Scenario::new("corner");
    let style = street("Street");
    let (p, q, r) = ((0.0, 0.0), (-12.0, -28.0), (-21.0, 6.5));
    for (from, to) in [
        (q, p),
        (p, r),
        (q, r),
        ((-60.0, -140.0), q),
        ((150.0, -40.0), p),
        (r, (-160.0, 45.0)),
    ] {
        draw(&mut scenario, from, to, &style);
    }
    let plain = laid_out(&scenario);
    assert_eq!((plain.junctions.len(), plain.internal.len()), (6, 0));
    // The two streets of the corner are merged into one junction, so that the paths through it run along the
    // third street.
    let corner = scenario.network().road(RoadId(1)).unwrap().to;
    let mut merged = scenario.network().node(corner).unwrap().clone();
    merged.rules.internal_roads = vec![RoadId(1), RoadId(2)];
    let old = scenario.clone();
    scenario.apply(Edit::Node(corner, Some(merged))).unwrap();
    let layout = laid_out(&scenario);
    let all: Vec<RoadId> = layout.internal.iter().copied().collect();
    assert_eq!(all, [RoadId(1), RoadId(2), RoadId(3)]);
    assert_eq!(layout.junctions.len(), 4);
    // An edit gives the same result when it is applied and when it is undone.
    let side = scenario.about().driving_side;
    let there = layout_after_edit(old.network(), &plain, scenario.network(), side);
    assert_eq!(there, layout);
    let back = layout_after_edit(scenario.network(), &there, old.network(), side);
    assert_eq!(back, plain);
}
