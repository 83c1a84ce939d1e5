//! Joins the ends of roads to nodes and roads at the pointer.

use super::{LAYERS, Modifiers, ToolContext};
use roadwright_geometry::DVec2;
use roadwright_scenario::operation::draw::{
    self, Catch, Joint, StrokeEnd, Surroundings, joined_end, stroke_ends,
};
use roadwright_scenario::{Edit, ObjectId, RoadBox, RoadBoxes, RoadEnd, RoadId, Scenario};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Returns the rule that decides where the end of a road snaps to nodes and roads. Ctrl suspends
/// snapping.
pub(super) fn catch(modifiers: Modifiers, context: &ToolContext<'_>) -> Catch {
    let options = context.options.snap;
    Catch {
        reach: context.reach(),
        nodes: options.nodes && !modifiers.ctrl,
        roads: options.roads && !modifiers.ctrl,
    }
}

/// Returns the node or road to which each end of a new road connects. `trace` is the pointer's
/// path, in drawing order. `layers` and `catch` give the layer and snapping rule of each end.
pub(super) fn ends(
    trace: &[DVec2],
    layers: [i8; 2],
    catch: [Catch; 2],
    context: &ToolContext<'_>,
) -> [StrokeEnd; 2] {
    let style = context.options.road_style(layers[0]);
    with_surroundings(context, |around| {
        stroke_ends(around, trace, &style, layers, catch)
    })
}

/// Returns the topmost layer on which a road's end at `point` would join a node or a road; `None` if it would join
/// nothing.
pub(super) fn caught_layer(point: DVec2, catch: Catch, context: &ToolContext<'_>) -> Option<i8> {
    with_surroundings(context, |around| {
        draw::caught_layers(around, point, catch).last().copied()
    })
}

/// Calls a function with the objects that a stroke can join.
fn with_surroundings<T>(context: &ToolContext<'_>, read: impl FnOnce(&Surroundings<'_>) -> T) -> T {
    let boxes = boxes(context.scenario, context);
    read(&Surroundings {
        scenario: context.scenario,
        layout: &context.scene.layout,
        boxes: &boxes,
        is_hidden: &|road| {
            context
                .options
                .is_hidden(context.scenario, ObjectId::Road(road))
        },
    })
}

/// Describes the road above or below an end that joins nothing, and names the key that makes the
/// end join it; `None` if there is no such road.
pub(super) fn passing_word(
    end: &StrokeEnd,
    layer: i8,
    catch: Catch,
    context: &ToolContext<'_>,
) -> Option<String> {
    if end.is_joined() {
        return None;
    }
    let (other, name) = with_surroundings(context, |around| {
        let others = draw::caught_layers(around, end.at, catch).into_iter();
        let others = others.filter(|other| *other != layer && LAYERS.contains(other));
        // Prefers the lower of two equally near layers.
        let other = others.min_by_key(|other| (other.abs_diff(layer), *other))?;
        let style = context.options.road_style(other);
        let [found, _] = stroke_ends(around, &[end.at], &style, [other; 2], [catch; 2]);
        Some((other, joined_name(&found, context.scenario)?))
    })?;
    let (verb, key) = match other < layer {
        true => ("over", "Page Down"),
        false => ("under", "Page Up"),
    };
    let presses = match other.abs_diff(layer) {
        1 => key.to_owned(),
        count => format!("{count} times {key}"),
    };
    Some(format!("passes {verb} {name} ({presses}: join)"))
}

/// Returns the bounding boxes of the roads of a scenario. The scene may belong to another revision,
/// so boxes are added for roads that differ.
fn boxes<'a>(scenario: &Scenario, context: &ToolContext<'a>) -> Cow<'a, RoadBoxes> {
    let scene: &'a _ = context.scene;
    if std::ptr::eq(scenario, &*scene.scenario) {
        return Cow::Borrowed(&scene.boxes);
    }
    let network = scenario.network();
    let differing = network.differing_roads(scene.scenario.network());
    if differing.is_empty() {
        return Cow::Borrowed(&scene.boxes);
    }
    let changed = differing.into_iter();
    let changed = changed.filter_map(|id| Some(RoadBox::of(id, network.road(id)?)));
    let changed: BTreeMap<RoadId, RoadBox> = changed.map(|one| (one.road, one)).collect();
    let same = scene.boxes.iter();
    let same = same.filter(|one| !changed.contains_key(&one.road));
    Cow::Owned(RoadBoxes::of(same.chain(changed.values()).copied()))
}

/// Describes the joint of an end for the label at the pointer; `None` if the end joins nothing.
pub(super) fn word(end: &StrokeEnd, scenario: &Scenario) -> Option<String> {
    match &end.joint {
        Joint::Free => None,
        Joint::Road { road, .. } => Some(format!("joins {}", name(*road, scenario))),
        Joint::SlipRoad(slip) => {
            let host = name(slip.host(), scenario);
            Some(format!("joins {host} as a slip road"))
        }
        Joint::Node(node) => {
            let ends = scenario.network().ends_at(*node);
            Some(match ends[..] {
                [(road, _)] => format!("joins the end of {}", name(road, scenario)),
                [(road, _), _] => format!("joins {}", name(road, scenario)),
                _ => "joins the junction".into(),
            })
        }
    }
}

/// Returns the name of the road or junction that an end joins; `None` if it joins nothing.
pub(super) fn joined_name(end: &StrokeEnd, scenario: &Scenario) -> Option<String> {
    match &end.joint {
        Joint::Free => None,
        Joint::Road { road, .. } => Some(name(*road, scenario)),
        Joint::SlipRoad(slip) => Some(name(slip.host(), scenario)),
        Joint::Node(node) => Some(match scenario.network().ends_at(*node)[..] {
            [(road, _)] | [(road, _), _] => name(road, scenario),
            _ => node.to_string(),
        }),
    }
}

/// Returns the name of a road, or its number if it is unnamed.
pub(super) fn name(id: RoadId, scenario: &Scenario) -> String {
    let road = scenario.network().road(id);
    let named = road.filter(|road| !road.name.is_empty());
    named.map_or_else(|| id.to_string(), |road| road.name.clone())
}

/// An edit that moves the end of a road and joins it to a node or road at its new position.
pub(super) struct JoinedMove {
    /// The edit, relative to the scenario before the move.
    pub(super) edit: Edit,
    /// Position of the joint, m.
    pub(super) at: DVec2,
    /// Description of the node or road that the end joins.
    pub(super) word: String,
}

/// Returns the edit that joins an end of a road after another edit has moved the end. `None` if another road shares
/// the end, or if there is nothing to join.
pub(super) fn joined_move(
    base: &Arc<Scenario>,
    moved: &Edit,
    road: RoadId,
    end: RoadEnd,
    catch: Catch,
    context: &ToolContext<'_>,
) -> Option<JoinedMove> {
    let mut after = Scenario::clone(base);
    after.apply(moved.clone()).ok()?;
    let boxes = boxes(&after, context);
    let around = Surroundings {
        scenario: &after,
        layout: &context.scene.layout,
        boxes: &boxes,
        is_hidden: &|road| context.options.is_hidden(&after, ObjectId::Road(road)),
    };
    let target = draw::end_target(&around, road, end, catch)?;
    let word = word(&target, &after)?;
    let join = joined_end(&around, road, end, catch).ok().flatten()?;
    Some(JoinedMove {
        edit: Edit::Batch(vec![moved.clone(), join]),
        at: target.at,
        word,
    })
}
