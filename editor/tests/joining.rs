//! Draws random strokes with the road tool. Each end must join what the label at the pointer states. Ends on asphalt
//! must join, and all other ends must not.

use crate::scenarios::street;
use roadwright_editor::document::Document;
use roadwright_editor::route_source::RouteSource;
use roadwright_editor::scene::Scene;
use roadwright_editor::tools::{
    Effect, HandleShape, MapPart, Mark, Modifiers, Pointer, Tool, ToolContext, ToolEvent, ToolKind,
    ToolOptions,
};
use roadwright_geometry::math::Stream;
use roadwright_geometry::{DVec2, Pose, ReferenceLine, Segment, polygon, unit};
use roadwright_scenario::check::{Code, check};
use roadwright_scenario::file::{from_text, to_text};
use roadwright_scenario::junction::layout;
use roadwright_scenario::lane_graph::LaneGraph;
use roadwright_scenario::operation::Objects;
use roadwright_scenario::operation::draw::{self, RoadStyle};
use roadwright_scenario::{CrossSection, LaneType, NodeId, Road, RoadId, Scenario};
use roadwright_testing::{scaled, seed};
use std::collections::{BTreeMap, BTreeSet};

/// Number of strokes of each kind in a nightly run.
const STROKES: u64 = 2_000;
/// Number of strokes that are drawn on the same roads.
const STROKES_ON_A_MAP: u64 = 25;

/// Creates a random network on three layers, with one-way, wide and curved roads, each with its own
/// name.
fn network(stream: &mut Stream) -> Scenario {
    let mut scenario = Scenario::new("strokes");
    for number in 0..9 {
        let section = match stream.next_index(4) {
            0 => CrossSection::driving(1, 1, 3.25),
            1 => CrossSection::driving(2, 0, 3.5),
            2 => CrossSection::driving(3, 3, 3.5).with_border(LaneType::Biking, 2.0),
            _ => CrossSection::driving(1, 1, 3.0)
                .with_border(LaneType::Parking, 2.0)
                .with_border(LaneType::Sidewalk, 2.0),
        };
        let style = RoadStyle {
            name: format!("Street {number}"),
            layer: stream.next_index(3) as i8,
            section,
            ..street("")
        };
        let position = DVec2::new(stream.next_in(-300.0, 300.0), stream.next_in(-300.0, 300.0));
        let heading = stream.next_in(-3.1, 3.1);
        let length = stream.next_in(150.0, 500.0);
        let segment = match stream.next_index(2) {
            0 => Segment::Line { length },
            _ => Segment::Arc {
                length,
                curvature: stream.next_in(-0.012, 0.012),
            },
        };
        let pose = Pose { position, heading };
        let Ok(line) = ReferenceLine::new(pose, vec![segment]) else {
            continue;
        };
        if let Ok(edit) = draw::road(&scenario, &line, &style) {
            scenario.apply(edit).unwrap();
        }
    }
    scenario
}

/// Returns the edges of the asphalt of a road. They are computed here independently of the rule
/// under test.
fn asphalt(road: &Road, s: f64) -> Option<(f64, f64)> {
    let section = road.section_at(s);
    let bands = road.lane_bands(section, s);
    let mut edges: Option<(f64, f64)> = None;
    for (lane, band) in section.lanes.iter().zip(bands) {
        let counts = !matches!(
            lane.kind,
            LaneType::Sidewalk | LaneType::Shoulder | LaneType::Median | LaneType::PaintedMedian
        );
        if counts {
            let (low, high) = (
                band.centre - 0.5 * band.width,
                band.centre + 0.5 * band.width,
            );
            let (right, left) = edges.unwrap_or((low, high));
            edges = Some((right.min(low), left.max(high)));
        }
    }
    edges
}

/// Returns the distance of a point from the asphalt of a road, found by sampling, m; 0 on the
/// asphalt.
fn distance(road: &Road, point: DVec2) -> f64 {
    let mut best = f64::INFINITY;
    let count = (road.length() / 0.25).ceil().max(1.0) as u32;
    for i in 0..=count {
        let s = road.length() * f64::from(i) / f64::from(count);
        let Some((right, left)) = asphalt(road, s) else {
            continue;
        };
        let pose = road.reference_line.pose(s);
        let local = pose.to_local(point);
        let across = (local.y - left).max(right - local.y).max(0.0);
        best = best.min(DVec2::new(across, local.x).length());
    }
    best
}

/// The road tool with a document.
struct Hand {
    document: Document,
    scene: Scene,
    selection: Objects,
    routes: RouteSource,
    options: ToolOptions,
    scale: f64,
}

/// The result of a drawn stroke.
struct Drawn {
    after: Scenario,
    label: String,
}

impl Hand {
    fn new(scenario: Scenario) -> Self {
        let document = Document::new(scenario);
        let scene = Scene::new(document.scenario().clone(), document.revision());
        let mut options = ToolOptions::default();
        crate::common::plain_streets(&mut options);
        Self {
            document,
            scene,
            selection: Objects::new(),
            routes: RouteSource::default(),
            options,
            scale: 0.3,
        }
    }

    /// Returns the context of the tool, with the given options.
    fn context<'a>(&'a self, options: &'a ToolOptions) -> ToolContext<'a> {
        ToolContext {
            scenario: self.document.scenario(),
            scene: &self.scene,
            selection: &self.selection,
            options,
            scale: self.scale,
            routes: &self.routes,
            taken: &[],
        }
    }

    /// Drags along straight legs. Returns `None` if the tool refuses the stroke.
    fn drag(&mut self, points: &[DVec2], modifiers: Modifiers) -> Option<Drawn> {
        let mut tool = ToolKind::Road.tool();
        let before = to_text(self.document.scenario());
        let mut effects = Vec::new();
        let mut label = String::new();
        {
            let context = self.context(&self.options);
            let pointer = |at: DVec2| Pointer { at, modifiers };
            tool.event(ToolEvent::Press(pointer(points[0])), &context);
            for pair in points.windows(2) {
                let steps = ((pair[1] - pair[0]).length() / (8.0 * self.scale)).ceil();
                let steps = steps.max(2.0) as u32;
                for i in 1..=steps {
                    let at = pair[0].lerp(pair[1], f64::from(i) / f64::from(steps));
                    tool.event(ToolEvent::Drag(pointer(at)), &context);
                }
            }
            for mark in tool.marks(&context) {
                if let Mark::Label { text, .. } = mark {
                    label = text;
                }
            }
            let last = points[points.len() - 1];
            effects.extend(tool.event(ToolEvent::Release(pointer(last)), &context));
        }
        let mut is_drawn = false;
        for effect in effects {
            if let Effect::Apply(label, edit) = effect {
                self.document.apply(&label, edit).unwrap();
                is_drawn = true;
            }
        }
        if !is_drawn {
            return None;
        }
        let after = Scenario::clone(self.document.scenario());
        // Undo restores the file byte for byte.
        assert!(self.document.undo().is_some());
        assert_eq!(to_text(self.document.scenario()), before);
        Some(Drawn { after, label })
    }
}

/// Returns the first and last node of the road that a stroke added.
fn new_ends(before: &Scenario, after: &Scenario) -> [NodeId; 2] {
    let first = before.network().next_road_id();
    // The pieces of the new road have the lowest new ids, in order. They have no name.
    let new = after.network().roads().filter(|(id, _)| *id >= first);
    let pieces: Vec<&Road> = new
        .map(|(_, road)| road)
        .filter(|road| road.name.is_empty())
        .collect();
    [pieces[0].from, pieces[pieces.len() - 1].to]
}

/// Returns the names of the other roads at a node.
fn others(after: &Scenario, node: NodeId) -> BTreeSet<String> {
    let network = after.network();
    let ends = network.ends_at(node).into_iter();
    let names = ends.map(|(road, _)| network.road(road).unwrap().name.clone());
    names.filter(|name| !name.is_empty()).collect()
}

fn random_point(stream: &mut Stream) -> DVec2 {
    DVec2::new(stream.next_in(-350.0, 350.0), stream.next_in(-350.0, 350.0))
}

/// Returns a stroke with a bend that starts at some distance and ends at `end`.
fn stroke_to(stream: &mut Stream, end: DVec2, scale: f64) -> Vec<DVec2> {
    let length = stream.next_in(40.0, 120.0) + 30.0 * scale;
    let heading = stream.next_in(-3.1, 3.1);
    let middle = end - 0.5 * length * unit(heading);
    let start = middle - 0.5 * length * unit(heading + stream.next_in(-0.7, 0.7));
    vec![start, middle, end]
}

/// Calls `each` for strokes on changing networks.
fn for_strokes(number: u64, mut each: impl FnMut(&mut Stream, &mut Hand)) {
    let seed = seed(0).wrapping_add(number);
    let strokes = scaled(STROKES);
    for map in 0..strokes.div_ceil(STROKES_ON_A_MAP) {
        let mut stream = Stream::new(seed, "strokes", map);
        let mut hand = Hand::new(network(&mut stream));
        for _ in 0..STROKES_ON_A_MAP.min(strokes - map * STROKES_ON_A_MAP) {
            let share = stream.next_unit();
            hand.scale = 0.03 * roadwright_geometry::math::exp(share * 5.586);
            hand.options.layer = Some(stream.next_index(3) as i8);
            each(&mut stream, &mut hand);
        }
    }
}

/// Whether the stroke has created no piece of road shorter than a metre.
fn has_no_new_slivers(before: &Scenario, after: &Scenario) -> bool {
    let mut roads = after.network().roads();
    roads.all(|(id, road)| road.length() >= 1.0 - 1e-6 || before.network().road(id).is_some())
}

#[test]
fn strokes_that_end_on_asphalt_join_that_road_or_its_node() {
    let (mut joined, mut refused, mut unconnected) = (0u32, 0u32, 0u32);
    let mut codes: BTreeMap<&str, u32> = BTreeMap::new();
    for_strokes(1, |stream, hand| {
        let before = hand.document.scenario().clone();
        let layer = hand.options.layer.unwrap();
        let network = before.network();
        let own: Vec<RoadId> = network
            .roads()
            .filter(|(_, road)| road.layer == layer)
            .map(|(id, _)| id)
            .collect();
        if own.is_empty() {
            return;
        }
        let road = network.road(own[stream.next_index(own.len())]).unwrap();
        let s = stream.next_in(0.0, road.length());
        let (right, left) = asphalt(road, s).unwrap();
        let end = road
            .reference_line
            .point(s, stream.next_in(right + 0.01, left - 0.01));
        let points = stroke_to(stream, end, hand.scale);
        let Some(drawn) = hand.drag(&points, Modifiers::default()) else {
            refused += 1;
            return;
        };
        joined += 1;
        let context = format!(
            "{points:?} layer {layer} scale {} {}",
            hand.scale, drawn.label
        );
        let [_, node] = new_ends(&before, &drawn.after);
        let at = drawn.after.network().node(node).unwrap().position();
        let met = others(&drawn.after, node);
        assert!(!met.is_empty(), "loose: {context}");
        // A joined node takes precedence; otherwise, one of the roads below the pointer must be joined.
        let near: Option<(f64, NodeId)> = network
            .nodes()
            .map(|(id, node)| ((node.position() - end).length(), id))
            .filter(|(far, id)| {
                let ends = network.ends_at(*id);
                let on_layer = |road: RoadId| network.road(road).unwrap().layer == layer;
                *far <= 10.0 * hand.scale && ends.iter().any(|(road, _)| on_layer(*road))
            })
            .min_by(|a, b| a.0.total_cmp(&b.0));
        if let Some((_, expected)) = near {
            assert_eq!(node, expected, "{context}");
        } else if network.node(node).is_none() {
            let below: BTreeSet<String> = network
                .roads()
                .filter(|(_, road)| road.layer == layer && distance(road, end) < 0.2)
                .map(|(_, road)| road.name.clone())
                .collect();
            assert!(
                met.iter().any(|name| below.contains(name)),
                "{met:?} {below:?} {context}"
            );
        } else {
            // The node must belong to the road below. The end lies inside the node's junction, or would lead into it.
            assert!((at - end).length() < 60.0, "{context}");
        }
        // The label at the pointer must have named the node.
        let named = met.iter().any(|name| drawn.label.contains(name.as_str()));
        assert!(
            named || drawn.label.contains("joins the junction"),
            "{met:?} {context}"
        );
        assert!(has_no_new_slivers(&before, &drawn.after), "{context}");
        let after = check(&drawn.after);
        let known: BTreeSet<Code> = check(&before).iter().map(|finding| finding.code).collect();
        for finding in after
            .iter()
            .filter(|finding| !known.contains(&finding.code))
        {
            *codes.entry(finding.code.name()).or_default() += 1;
        }
        let loose = after
            .iter()
            .filter(|finding| finding.code == Code::EndsOnRoad);
        let start = points[0];
        let at_end =
            loose.filter(|finding| (finding.place - end).length() < 0.5 * (start - end).length());
        assert_eq!(
            at_end.filter(|f| (f.place - at).length() < 1.0).count(),
            0,
            "{context}"
        );
        // A new two-way street must have a connection into the road that it joins.
        if network.node(node).is_none() {
            let derived = layout(drawn.after.network(), drawn.after.about());
            let graph = LaneGraph::new(&drawn.after, &derived);
            let junction = derived.junction_at(node).unwrap();
            let is_new = |road: RoadId| drawn.after.network().road(road).unwrap().name.is_empty();
            let mut paths = junction.paths.iter();
            let leads = paths.any(|path| is_new(path.from.road) && !is_new(path.to.road));
            assert!(!graph.lanelets().is_empty());
            unconnected += u32::from(!leads);
        }
    });
    println!("{joined} joined, {refused} refused, new findings {codes:?}");
    assert!(joined > 5 * refused, "{joined} joined, {refused} refused");
    // Where the roads on both sides are too short, the junction is merged with the next one, and its connections
    // begin beyond it.
    assert!(
        20 * unconnected <= joined,
        "{unconnected} of {joined} have no path at the joint"
    );
}

#[test]
fn strokes_that_end_off_the_asphalt_or_with_ctrl_join_nothing() {
    let mut free = 0u32;
    for_strokes(2, |stream, hand| {
        let before = hand.document.scenario().clone();
        let layer = hand.options.layer.unwrap();
        let network = before.network();
        let ctrl = stream.next_index(4) == 0;
        let end = if stream.next_index(2) == 0 {
            // Below or above a road of any layer.
            let all: Vec<&Road> = network.roads().map(|(_, road)| road).collect();
            let road = all[stream.next_index(all.len())];
            road.reference_line
                .point(stream.next_in(0.0, road.length()), 0.5)
        } else {
            random_point(stream)
        };
        let reach = 10.0 * hand.scale;
        let is_near_node = network
            .nodes()
            .any(|(_, node)| (node.position() - end).length() <= reach);
        let is_near = network
            .roads()
            .any(|(_, road)| road.layer == layer && distance(road, end) <= reach + 0.5);
        let derived = layout(network, before.about());
        let is_in_junction = derived.junctions.iter().any(|junction| {
            let on_layer = |road: RoadId| network.road(road).unwrap().layer == layer;
            let arms = junction.arms.iter().any(|arm| on_layer(arm.road));
            arms && polygon::contains(&junction.polygon(), end)
        });
        if !ctrl && (is_near || is_near_node || is_in_junction) {
            return;
        }
        let modifiers = Modifiers {
            ctrl,
            ..Modifiers::default()
        };
        let points = stroke_to(stream, end, hand.scale);
        let Some(drawn) = hand.drag(&points, modifiers) else {
            return;
        };
        free += 1;
        let context = format!(
            "{points:?} layer {layer} scale {} {}",
            hand.scale, drawn.label
        );
        let [start, node] = new_ends(&before, &drawn.after);
        assert_eq!(drawn.after.network().ends_at(node).len(), 1, "{context}");
        if ctrl {
            assert_eq!(drawn.after.network().ends_at(start).len(), 1, "{context}");
        }
        assert!(!drawn.label.contains("joins"), "{context}");
        assert!(has_no_new_slivers(&before, &drawn.after), "{context}");
    });
    assert!(u64::from(free) > scaled(STROKES) / 4, "only {free} strokes");
}

/// Creates a street from west to east, and another one above it from south to north.
fn crossing_on_two_layers() -> Scenario {
    let mut scenario = Scenario::new("layers");
    let ends = [((-100.0, 0.0), (100.0, 0.0)), ((0.0, -100.0), (0.0, 100.0))];
    for (layer, (from, to)) in ends.into_iter().enumerate() {
        let style = RoadStyle {
            name: ["Mill Street", "High Bridge"][layer].into(),
            layer: layer as i8,
            ..street("")
        };
        let line = ReferenceLine::straight(DVec2::from(from), DVec2::from(to)).unwrap();
        scenario
            .apply(draw::road(&scenario, &line, &style).unwrap())
            .unwrap();
    }
    scenario
}

#[test]
fn a_stroke_begins_on_the_topmost_layer_that_it_catches() {
    let mut hand = Hand::new(crossing_on_two_layers());
    let label = |hand: &mut Hand, from: (f64, f64), to: (f64, f64)| {
        let points = [DVec2::from(from), DVec2::from(to)];
        let drawn = hand.drag(&points, Modifiers::default()).unwrap();
        let first = hand.document.scenario().network().next_road_id();
        let new = drawn.after.network().road(first).unwrap().layer;
        (new, drawn.label)
    };
    // A stroke from the bridge is on layer 1, even where the bridge lies over the street, and
    // passes over the street.
    let (layer, words) = label(&mut hand, (0.0, 50.0), (60.0, 0.0));
    assert_eq!(layer, 1);
    assert!(words.contains("Layer 1"), "{words}");
    let passes = "passes over Mill Street (Page Down: join)";
    assert!(words.contains(passes), "{words}");
    assert_eq!(label(&mut hand, (0.0, 0.0), (60.0, 60.0)).0, 1);
    // A stroke from the street or from open ground is on layer 0.
    let (layer, words) = label(&mut hand, (60.0, 0.0), (0.0, 60.0));
    assert_eq!(layer, 0);
    let passes = "passes under High Bridge (Page Up: join)";
    assert!(words.contains(passes), "{words}");
    assert!(!words.contains("Layer"), "{words}");
    let (layer, words) = label(&mut hand, (60.0, 60.0), (60.0, 0.0));
    assert_eq!(layer, 0);
    assert!(words.contains("joins Mill Street"), "{words}");
    // A layer chosen beforehand overrides this, and a road on a hidden layer is not joined.
    hand.options.layer = Some(3);
    let (layer, words) = label(&mut hand, (60.0, 60.0), (60.0, 0.0));
    assert_eq!(layer, 3);
    let passes = "passes over Mill Street (3 times Page Down: join)";
    assert!(words.contains(passes), "{words}");
    hand.options.layer = None;
    hand.options.hidden.insert(MapPart::Layer(1));
    assert_eq!(label(&mut hand, (0.0, 50.0), (60.0, 60.0)).0, 0);
}

/// Returns the positions of the diamonds that mark where a stroke crosses roads of its layer.
fn crossings(tool: &dyn Tool, context: &ToolContext<'_>) -> Vec<DVec2> {
    let marks = tool.marks(context).into_iter();
    let diamonds = marks.filter_map(|mark| match mark {
        Mark::Handle { at, shape, .. } => (shape == HandleShape::Diamond).then_some(at),
        _ => None,
    });
    diamonds.collect()
}

#[test]
fn crossings_are_shown_on_the_layer_of_each_leg() {
    let mut hand = Hand::new(crossing_on_two_layers());
    hand.options.layer = Some(0);
    let mut tool = ToolKind::Road.tool();
    let mut shown = Vec::new();
    // Clicks at the left of the bridge, and the pointer right of it; then with Page Up.
    for layer in [Some(0), Some(1)] {
        let context = hand.context(&hand.options);
        tool.event(ToolEvent::Click(Pointer::at(-90.0, 60.0)), &context);
        tool.event(ToolEvent::Click(Pointer::at(-40.0, 60.0)), &context);
        tool.event(ToolEvent::Move(Pointer::at(60.0, 60.0)), &context);
        let chosen = ToolOptions {
            layer,
            ..hand.options.clone()
        };
        let context = hand.context(&chosen);
        tool.event(ToolEvent::Layer, &context);
        shown.push(crossings(&*tool, &context));
        tool.event(ToolEvent::Escape, &context);
    }
    // Only the leg on layer 1 is marked where it crosses the bridge.
    assert_eq!(shown[0], []);
    assert_eq!(shown[1].len(), 1);
    assert!((shown[1][0] - DVec2::new(0.0, 60.0)).length() < 51.0);
}

#[test]
fn a_change_of_the_layer_renews_the_label_of_a_pointer_that_stands_still() {
    let hand = Hand::new(crossing_on_two_layers());
    let mut tool = ToolKind::Road.tool();
    let mut label = |event: ToolEvent, layer: i8| {
        let options = ToolOptions {
            layer: Some(layer),
            ..hand.options.clone()
        };
        let context = hand.context(&options);
        tool.event(event, &context);
        let labels = tool.marks(&context).into_iter();
        let mut labels = labels.filter_map(|mark| match mark {
            Mark::Label { text, .. } => Some(text),
            _ => None,
        });
        labels.next().unwrap_or_default()
    };
    let words = label(ToolEvent::Move(Pointer::at(60.0, 0.0)), 1);
    assert!(words.contains("passes over Mill Street"), "{words}");
    let words = label(ToolEvent::Layer, 0);
    assert!(words.contains("joins Mill Street"), "{words}");
    // The same applies to a chain of clicks.
    label(ToolEvent::Click(Pointer::at(60.0, 60.0)), 1);
    let words = label(ToolEvent::Move(Pointer::at(60.0, 0.0)), 1);
    assert!(words.contains("passes over Mill Street"), "{words}");
    let words = label(ToolEvent::Layer, 0);
    assert!(words.contains("joins Mill Street"), "{words}");
}

#[test]
fn a_roundabout_is_drawn_on_the_layer_of_the_road_at_its_centre() {
    let mut hand = Hand::new(crossing_on_two_layers());
    let scenario = hand.document.scenario().clone();
    let mut drawn = |at: DVec2, layer: Option<i8>| {
        hand.options.layer = layer;
        let context = hand.context(&hand.options);
        let mut tool = ToolKind::Roundabout.tool();
        tool.event(ToolEvent::Press(Pointer::at(at.x, at.y)), &context);
        let effects = tool.event(ToolEvent::Click(Pointer::at(at.x, at.y)), &context);
        let [Effect::Apply(_, edit)] = &effects[..] else {
            panic!("{effects:?}");
        };
        let mut after = Scenario::clone(&scenario);
        after.apply(edit.clone()).unwrap();
        let new = after.network().roads();
        let new = new.filter(|(id, _)| *id >= scenario.network().next_road_id());
        let layers: BTreeSet<i8> = new.map(|(_, road)| road.layer).collect();
        layers
    };
    let of = |layer: i8| BTreeSet::from([layer]);
    assert_eq!(drawn(DVec2::new(0.0, 50.0), None), of(1));
    assert_eq!(drawn(DVec2::new(50.0, 0.0), None), of(0));
    assert_eq!(drawn(DVec2::new(50.0, 60.0), None), of(0));
    assert_eq!(drawn(DVec2::new(50.0, 60.0), Some(2)), of(2));
}

#[test]
fn strokes_to_the_roads_of_shipped_scenarios_join_them() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../scenarios");
    for name in ["crossroads", "linden-street", "station-road"] {
        let text = std::fs::read_to_string(format!("{folder}/{name}.scenario.json")).unwrap();
        let mut hand = Hand::new(from_text(&text).unwrap());
        let mut stream = Stream::new(seed(3), name, 0);
        let before = hand.document.scenario().clone();
        let mut tried = 0;
        while tried < scaled(200) {
            tried += 1;
            let roads: Vec<(RoadId, &Road)> = before.network().roads().collect();
            let (_, road) = roads[stream.next_index(roads.len())];
            let s = stream.next_in(0.0, road.length());
            let Some((right, left)) = asphalt(road, s) else {
                continue;
            };
            hand.options.layer = Some(road.layer);
            hand.scale = [0.05, 0.3, 1.0][stream.next_index(3)];
            let end = road
                .reference_line
                .point(s, stream.next_in(right + 0.01, left - 0.01));
            let points = stroke_to(&mut stream, end, hand.scale);
            let Some(drawn) = hand.drag(&points, Modifiers::default()) else {
                continue;
            };
            assert!(
                drawn.label.contains("joins"),
                "{name} {points:?} {}",
                drawn.label
            );
            let first = before.network().next_road_id();
            let new: Vec<&Road> = drawn
                .after
                .network()
                .roads()
                .filter(|(id, _)| *id >= first)
                .map(|(_, road)| road)
                .collect();
            let ends_joined = new.iter().any(|road| {
                let node = drawn.after.network().node(road.to).unwrap().position();
                drawn.after.network().ends_at(road.to).len() > 1 && (node - end).length() < 60.0
            });
            assert!(ends_joined, "{name} {points:?}");
        }
    }
}
