//! The select tool, which selects, moves, rotates and reshapes objects.

use super::handles::{
    Handle, HandleKind, dragged, handles, selection_box, turned, with_point, without_corner,
    without_point, without_way_point,
};
use super::trip::{lane_strip, on_taken_lane};
use super::trip_handles::{stop_of, trip_of, with_stop};
use super::turns::{self, LaneTurn, turns_at};
use super::{
    DrawnTrip, Effect, Fill, HandleShape, LaneRule, Mark, Pointer, Tone, Tool, ToolContext,
    ToolEvent, join, snap,
};
use roadwright_geometry::DVec2;
use roadwright_geometry::alignment::Alignment;
use roadwright_scenario::operation::{Motion, Objects, moved};
use roadwright_scenario::{
    Edit, ObjectId, Place, PointOfInterest, Road, RoadEnd, RoadId, Scenario,
};
use roadwright_simulation::DrawnStop;
use std::sync::Arc;

/// Purpose of the drag in progress.
enum Drag {
    /// Moves the selection.
    Move(Objects),
    /// Drags a handle. The offset between pointer and handle is kept, so that the handle does not jump.
    Handle(Handle, DVec2),
    /// Rotates the selection about a point.
    Turn(DVec2),
    /// Selects the objects in the box.
    Box,
}

struct Stroke {
    drag: Drag,
    start: DVec2,
    now: DVec2,
    /// The scenario before the drag.
    base: Arc<Scenario>,
    /// The selection before the drag. A box may extend it.
    before: Objects,
    adds: bool,
    /// Position where a dragged road end would join another road, m, and a description of the
    /// joint. `None` if the end joins nothing.
    joins: Option<(DVec2, String)>,
    /// Rule for choosing the lane of a dragged stop.
    lanes: LaneRule,
}

/// A dragged stop of a trip.
struct DraggedStop {
    handle: HandleKind,
    /// The edit that moves the stop to the place under the pointer.
    edit: Edit,
    trip: DrawnTrip,
    /// Index of the stop.
    stop: usize,
}

impl Stroke {
    /// Returns the dragged stop of a trip; `None` if something else is dragged.
    fn stop(&self, context: &ToolContext<'_>) -> Option<DraggedStop> {
        let Drag::Handle(handle, _) = &self.drag else {
            return None;
        };
        let edit = dragged(handle, self.now, &self.base, context)?;
        let trip = trip_of(handle.kind, &edit, self.now, self.lanes)?;
        Some(DraggedStop {
            handle: handle.kind,
            stop: stop_of(handle.kind, &edit)?,
            edit,
            trip,
        })
    }
}

/// Selects objects with clicks and boxes, and moves, rotates or reshapes them with drags.
#[derive(Default)]
pub(super) struct Select {
    hover: Option<ObjectId>,
    hot: Option<Handle>,
    /// The connection of the selected junction that is under the pointer.
    hot_turn: Option<LaneTurn>,
    press: Option<Pointer>,
    stroke: Option<Stroke>,
    /// Position of the last click and the objects under it, used to cycle through overlapping objects.
    last: Option<(DVec2, Vec<ObjectId>, usize)>,
    /// Position of the last click on connections, the connections there, and the number already
    /// explained.
    last_turns: Option<(DVec2, Vec<LaneTurn>, usize)>,
}

impl Select {
    fn handle_at(&self, point: DVec2, context: &ToolContext<'_>) -> Option<Handle> {
        let reach = context.reach();
        handles(context)
            .into_iter()
            .map(|handle| ((handle.at - point).length(), handle))
            .filter(|(distance, _)| *distance < reach)
            .min_by(|a, b| a.0.total_cmp(&b.0))
            .map(|(_, handle)| handle)
    }

    fn start(&mut self, pointer: Pointer, context: &ToolContext<'_>) -> Vec<Effect> {
        // Uses the position of the press, because the first drag event comes a few points later.
        let start = self.press.map_or(pointer.at, |press| press.at);
        let mut effects = Vec::new();
        let modifiers = pointer.modifiers;
        // Shift+drag always draws a box; otherwise a crowded map would leave no free space to start
        // one.
        let handle = self.handle_at(start, context).filter(|_| !modifiers.shift);
        let under = context.pick(start, 0.6 * context.reach());
        let grabbed = under
            .iter()
            .find(|object| context.selection.contains(*object))
            .or(under
                .iter()
                // A forest or area of land may cover half of the map, so a drag that starts in one draws a
                // box unless it is selected.
                .find(|object| !matches!(object, ObjectId::Forest(_) | ObjectId::Land(_))))
            .copied();
        let drag = if let Some(handle) = handle {
            match (handle.kind, selection_box(context)) {
                (HandleKind::Turn, Some((low, high))) => Drag::Turn(0.5 * (low + high)),
                _ => Drag::Handle(handle, handle.at - start),
            }
        } else if let (Some(object), false) = (grabbed, modifiers.shift) {
            if context.selection.contains(&object) {
                Drag::Move(context.selection.clone())
            } else {
                let all = context.whole(object);
                effects.push(Effect::Select(all.clone()));
                Drag::Move(all)
            }
        } else {
            Drag::Box
        };
        self.stroke = Some(Stroke {
            drag,
            start,
            now: pointer.at,
            // Shared, not copied.
            base: context.scenario.clone(),
            before: context.selection.clone(),
            adds: modifiers.ctrl,
            joins: None,
            lanes: LaneRule::of(modifiers),
        });
        effects.extend(self.drag(pointer, context));
        effects
    }

    fn drag(&mut self, pointer: Pointer, context: &ToolContext<'_>) -> Vec<Effect> {
        let Some(stroke) = &mut self.stroke else {
            return Vec::new();
        };
        stroke.now = pointer.at;
        stroke.lanes = LaneRule::of(pointer.modifiers);
        let (mut edit, end) = match &stroke.drag {
            Drag::Move(objects) => {
                let shift = pointer.at - stroke.start;
                let edit = moved_on(&stroke.base, objects, shift, context);
                let edit = edit.map(|edit| (format!("Move {}", named(objects)), edit));
                let end = loose_end_of(objects, &stroke.base);
                (edit, end)
            }
            Drag::Handle(handle, offset) => {
                let to = snap(pointer.at + *offset, pointer.modifiers, context).at;
                // Snapping would attract points to the road's own line.
                let to = match handle.kind {
                    HandleKind::RoadPoint(..) | HandleKind::RoadRadius(..) => pointer.at + *offset,
                    // Places snap to the lane at the pointer; snapping to the middle of a road would put them
                    // on another lane.
                    HandleKind::Start(_)
                    | HandleKind::Destination(_)
                    | HandleKind::WayPoint(..)
                    | HandleKind::NewWayPoint(..)
                    | HandleKind::Origin(_)
                    | HandleKind::FlowDestination(_) => pointer.at,
                    _ => to,
                };
                let edit = dragged(handle, to, &stroke.base, context)
                    .map(|edit| (label(handle.kind).to_owned(), edit));
                (edit, end_of(handle.kind, &stroke.base))
            }
            Drag::Turn(centre) => (
                turned(
                    &stroke.base,
                    &stroke.before,
                    *centre,
                    stroke.start,
                    pointer.at,
                )
                .map(|edit| (format!("Rotate {}", named(&stroke.before)), edit)),
                None,
            ),
            Drag::Box => (None, None),
        };
        stroke.joins = None;
        // A preview with another label would begin a new history step, so the label stays the same.
        if let (Some((_, moved)), Some((road, end))) = (&mut edit, end) {
            let catch = join::catch(pointer.modifiers, context);
            let joined = join::joined_move(&stroke.base, moved, road, end, catch, context);
            if let Some(joined) = joined {
                *moved = joined.edit;
                stroke.joins = Some((joined.at, joined.word));
            }
        }
        edit.map(|(label, edit)| Effect::Preview(label, edit))
            .into_iter()
            .collect()
    }

    fn release(&mut self, pointer: Pointer, context: &ToolContext<'_>) -> Vec<Effect> {
        let Some(mut stroke) = self.stroke.take() else {
            return Vec::new();
        };
        stroke.lanes = LaneRule::of(pointer.modifiers);
        match stroke.drag {
            Drag::Box => {
                let (low, high) = (stroke.start.min(stroke.now), stroke.start.max(stroke.now));
                // The box may have been drawn in any direction.
                let inside = context.inside(low, high).into_iter();
                let mut chosen: Objects = inside.flat_map(|object| context.whole(object)).collect();
                if stroke.adds {
                    chosen.extend(stroke.before);
                }
                vec![Effect::Select(chosen)]
            }
            _ => {
                let stop = stroke
                    .stop(context)
                    .and_then(|stop| on_chosen_lane(stop, context));
                stop.into_iter().chain([Effect::Commit]).collect()
            }
        }
    }

    fn click(&mut self, pointer: Pointer, context: &ToolContext<'_>) -> Vec<Effect> {
        let handle = self.handle_at(pointer.at, context);
        let modifiers = pointer.modifiers;
        // Selects a single member of a group.
        let is_single = modifiers.ctrl && modifiers.alt;
        if let Some(handle) = handle.filter(|_| modifiers.alt && !is_single)
            && let Some(effect) = without(handle.kind, context.scenario)
        {
            return vec![effect];
        }
        if !modifiers.ctrl
            && let Some((from, to)) = self.next_turn(pointer.at, context)
        {
            return vec![Effect::Explain(from, to)];
        }
        let under = context.pick(pointer.at, 0.6 * context.reach());
        let index = match &self.last {
            // Another click at the same place selects the next object below.
            Some((at, list, index))
                // Only if the same objects are under the pointer; after an edit, selection starts
                // again at the top.
                if *list == under && (*at - pointer.at).length() < 0.5 * context.reach() =>
            {
                (index + 1) % under.len().max(1)
            }
            _ => 0,
        };
        let chosen = under.get(index).copied();
        self.last = Some((pointer.at, under, index));
        let adds = modifiers.ctrl && !is_single;
        let mut selection = if adds {
            context.selection.clone()
        } else {
            Objects::new()
        };
        if let Some(object) = chosen {
            let all = if is_single {
                Objects::from([object])
            } else {
                context.whole(object)
            };
            if adds && selection.contains(&object) {
                selection.retain(|other| !all.contains(other));
            } else {
                selection.extend(all);
            }
        }
        vec![Effect::Select(selection)]
    }

    /// Returns the connection selected by a click. Repeated clicks at the same place select the connections
    /// there one after another. Then this returns `None`, so that the object below them is selected.
    fn next_turn(&mut self, at: DVec2, context: &ToolContext<'_>) -> Option<LaneTurn> {
        let near = turns_at(at, context);
        let index = match &self.last_turns {
            Some((last, turns, index))
                if *turns == near && (*last - at).length() < 0.5 * context.reach() =>
            {
                index + 1
            }
            _ => 0,
        };
        let turn = near.get(index).copied();
        self.last_turns = turn.map(|_| (at, near, index));
        turn
    }

    fn double_click(&mut self, pointer: Pointer, context: &ToolContext<'_>) -> Vec<Effect> {
        let under = context.pick(pointer.at, 0.6 * context.reach());
        // Selects a single member of a group. A road also gets a point.
        if let Some(&top) = under.first()
            && !matches!(top, ObjectId::Road(_))
            && context.scenario.group_of(top).is_some()
        {
            self.last = None;
            return vec![Effect::Select(Objects::from([top]))];
        }
        let road = under.into_iter().find_map(|object| match object {
            ObjectId::Road(id) => Some(id),
            _ => None,
        });
        // The two clicks before this one have already cycled to the object below; the road is selected
        // regardless.
        let Some(id) = road else { return Vec::new() };
        self.last = None;
        let select = Effect::Select(Objects::from([ObjectId::Road(id)]));
        match with_point(
            context.scenario,
            id,
            pointer.at,
            context.options.corner_radius,
        ) {
            Ok(edit) => vec![select, Effect::Apply("Add point".into(), edit)],
            Err(_) => {
                let why = "Points cannot be added to this road's shape; simplify it first.";
                vec![select, Effect::Refuse(why.into())]
            }
        }
    }
}

/// Removes the point whose handle was clicked; `None` for handles that cannot be removed.
fn without(kind: HandleKind, scenario: &Scenario) -> Option<Effect> {
    match kind {
        HandleKind::RoadPoint(id, index) => Some(match without_point(scenario, id, index) {
            Some(edit) => Effect::Apply("Remove point".into(), edit),
            None => Effect::Refuse("The ends of a road cannot be removed.".into()),
        }),
        HandleKind::LandCorner(id, index) => Some(match without_corner(scenario, id, index) {
            Some(edit) => Effect::Apply("Remove corner".into(), edit),
            None => Effect::Refuse("An area needs at least three corners.".into()),
        }),
        HandleKind::WayPoint(id, index) => {
            let edit = without_way_point(scenario, id, index)?;
            Some(Effect::Apply("Remove waypoint".into(), edit))
        }
        _ => None,
    }
}

/// Returns the edit that moves objects. An agent on a lane is moved to the lane under the pointer.
fn moved_on(
    base: &Scenario,
    objects: &Objects,
    shift: DVec2,
    context: &ToolContext<'_>,
) -> Option<roadwright_scenario::Edit> {
    // Later edits of the batch override earlier ones, so everything is shifted first, and then
    // agents are placed on lanes.
    let mut edits = vec![moved(base, objects, &Motion::shift(shift)).ok()?];
    for object in objects {
        if let ObjectId::Agent(id) = object
            && let Some(agent) = base.agents().get(id)
            && let (Place::Lane(_), Some(pose)) = (agent.start, base.pose_of(&agent.start))
        {
            let handle = Handle {
                kind: HandleKind::Start(*id),
                at: pose.position,
            };
            // Relative to its old position, so that several agents keep their distances where the lanes allow
            // it.
            edits.extend(dragged(&handle, pose.position + shift, base, context));
        }
    }
    Some(roadwright_scenario::Edit::Batch(edits))
}

/// Returns the end of a road that a handle moves; `None` for other handles.
fn end_of(kind: HandleKind, base: &Scenario) -> Option<(RoadId, RoadEnd)> {
    let HandleKind::RoadPoint(id, index) = kind else {
        return None;
    };
    let road = base.network().road(id)?;
    let last = Alignment::of(&road.reference_line).map_or(1, |line| line.points().len() - 1);
    match index {
        0 => Some((id, RoadEnd::Start)),
        _ if index == last => Some((id, RoadEnd::End)),
        _ => None,
    }
}

/// Returns the end of a road at the selected node if no other road shares the node.
fn loose_end_of(objects: &Objects, base: &Scenario) -> Option<(RoadId, RoadEnd)> {
    let mut objects = objects.iter();
    let (Some(ObjectId::Node(node)), None) = (objects.next(), objects.next()) else {
        return None;
    };
    match base.network().ends_at(*node)[..] {
        [end] => Some(end),
        _ => None,
    }
}

/// Describes a set of objects for the history.
pub fn named(objects: &Objects) -> String {
    match objects.first() {
        Some(object) if objects.len() == 1 => object.to_string(),
        _ => format!("{} objects", objects.len()),
    }
}

fn label(kind: HandleKind) -> &'static str {
    match kind {
        HandleKind::RoadPoint(..) => "Bend road",
        HandleKind::RoadRadius(..) => "Change radius",
        HandleKind::ObstacleCorner(..) => "Resize obstacle",
        HandleKind::ForestCorner(..) => "Reshape forest",
        HandleKind::LandCorner(..) => "Reshape land",
        HandleKind::Start(_) => "Move start",
        HandleKind::Destination(_) | HandleKind::FlowDestination(_) => "Move destination",
        HandleKind::WayPoint(..) => "Move waypoint",
        HandleKind::NewWayPoint(..) => "Add waypoint",
        HandleKind::Origin(_) => "Move origin",
        HandleKind::Turn => "Rotate",
    }
}

impl Tool for Select {
    fn event(&mut self, event: ToolEvent, context: &ToolContext<'_>) -> Vec<Effect> {
        match event {
            ToolEvent::Move(pointer) => {
                self.hot = self.handle_at(pointer.at, context);
                let under = context.pick(pointer.at, 0.6 * context.reach());
                self.hover = under.first().copied();
                self.hot_turn = turns_at(pointer.at, context).first().copied();
                Vec::new()
            }
            ToolEvent::Press(pointer) => {
                self.press = Some(pointer);
                Vec::new()
            }
            ToolEvent::Drag(pointer) if self.stroke.is_none() => self.start(pointer, context),
            ToolEvent::Drag(pointer) => self.drag(pointer, context),
            ToolEvent::Release(pointer) => self.release(pointer, context),
            ToolEvent::Click(pointer) => self.click(pointer, context),
            ToolEvent::DoubleClick(pointer) => self.double_click(pointer, context),
            ToolEvent::Escape if self.stroke.take().is_some() => vec![Effect::Abort],
            ToolEvent::Escape => vec![Effect::Select(Objects::new())],
            ToolEvent::Enter | ToolEvent::Backspace | ToolEvent::Type(_) | ToolEvent::Layer => {
                Vec::new()
            }
        }
    }

    fn marks(&self, context: &ToolContext<'_>) -> Vec<Mark> {
        let mut marks = Vec::new();
        if let Some(stroke) = &self.stroke {
            if let Drag::Box = stroke.drag {
                let (a, b) = (stroke.start, stroke.now);
                let corners = vec![a, DVec2::new(b.x, a.y), b, DVec2::new(a.x, b.y)];
                marks.push(Mark::Area {
                    points: corners,
                    fill: Fill::Tint(Tone::Accent),
                });
            }
            if let Some((at, word)) = &stroke.joins {
                marks.push(Mark::Handle {
                    at: *at,
                    shape: HandleShape::Circle,
                    hot: true,
                });
                marks.push(Mark::label(*at, word.clone(), Tone::Guide));
            }
            if let Some(DraggedStop { trip, stop, .. }) = stroke.stop(context)
                && let Some(Place::Lane(own)) = trip.stops.get(stop).map(DrawnStop::place)
            {
                let lane = on_taken_lane(own, context.taken.get(stop));
                marks.extend(lane_strip(&lane, context));
            }
            return marks;
        }
        let turn = self.hot_turn.and_then(|turn| turns::mark(turn, context));
        if let Some(turn) = turn {
            marks.push(turn);
        } else if let Some(object) = self.hover.filter(|o| !context.selection.contains(o)) {
            marks.extend(outline_of(object, context, Tone::Hover));
        }
        if let [ObjectId::Road(id)] = context.selection.iter().collect::<Vec<_>>()[..]
            && let Some(road) = context.scenario.network().road(*id)
            && let Some(alignment) = Alignment::of(&road.reference_line)
            && alignment.points().len() > 2
        {
            let legs = alignment.points().iter().map(|p| p.position).collect();
            marks.push(Mark::dashes(legs, Tone::Guide));
        }
        let all = handles(context);
        marks.extend(all.into_iter().map(|handle| Mark::Handle {
            at: handle.at,
            shape: handle.shape(),
            hot: self.hot.is_some_and(|hot| hot.kind == handle.kind),
        }));
        marks
    }

    fn status(&self, context: &ToolContext<'_>) -> String {
        if let Some(handle) = self.hot {
            return handle.hint().into();
        }
        if self.hot_turn.is_some() {
            return "Click: explain this connection. Click again: next connection here, then the object below."
                .into();
        }
        if context.selection.is_empty() {
            return "Click: select. Drag on empty ground or Shift+drag: select the objects in a rectangle. Double-click a road: add a point.".into();
        }
        let mut selection = context.selection.iter();
        if selection.any(|object| context.scenario.group_of(*object).is_some()) {
            return "Drag: move. Ctrl+click: add or remove. Ctrl+Alt+click: single member. Delete: delete.".into();
        }
        "Drag: move. Ctrl+click: add or remove. Click again: object below. Delete: delete.".into()
    }

    fn is_busy(&self) -> bool {
        self.stroke.is_some()
    }

    fn trip(&self, context: &ToolContext<'_>) -> Option<DrawnTrip> {
        let stop = self.stroke.as_ref()?.stop(context)?;
        Some(stop.trip)
    }
}

/// Completes the drag of a stop by placing it on the lane that suits the trip best; `None` if the
/// dragged position is kept.
fn on_chosen_lane(dragged: DraggedStop, context: &ToolContext<'_>) -> Option<Effect> {
    let DraggedStop {
        handle,
        mut edit,
        trip,
        stop,
    } = dragged;
    let place = *trip.places(context).get(stop)?;
    if place == trip.stops.get(stop)?.place() {
        return None;
    }
    with_stop(&mut edit, stop, place);
    Some(Effect::Preview(label(handle).into(), edit))
}

/// Returns the outline of an object to show hovering or selection; empty if the object does not
/// exist.
pub fn outline_of(object: ObjectId, context: &ToolContext<'_>, tone: Tone) -> Vec<Mark> {
    let scenario = &**context.scenario;
    let outline = match object {
        ObjectId::Node(id) => scenario.network().node(id).map(|node| {
            vec![Mark::Circle {
                centre: node.position(),
                radius: 7.0 * context.scale,
                tone,
            }]
        }),
        ObjectId::Road(id) => {
            let road = scenario.network().road(id);
            road.map(|road| vec![closed(road_edges(road, context.scale), tone)])
        }
        ObjectId::Obstacle(id) => {
            let obstacle = scenario.obstacles().get(&id);
            obstacle.map(|obstacle| vec![closed(obstacle.shape.outline(), tone)])
        }
        ObjectId::Forest(id) => {
            let forest = scenario.forests().get(&id);
            forest.map(|forest| vec![closed(forest.area.clone().into_inner(), tone)])
        }
        ObjectId::Land(id) => scenario.land().get(&id).map(|land| {
            let rings = land.rings().cloned();
            rings.map(|ring| closed(ring, tone)).collect()
        }),
        ObjectId::PointOfInterest(id) => {
            let point = scenario.points_of_interest().get(&id);
            point.map(|point| vec![place_mark(point, context.scale, tone)])
        }
        ObjectId::Agent(id) => scenario.agents().get(&id).map(|agent| {
            let places: Vec<Place> = agent.places().copied().collect();
            trip_marks(scenario, &places, context, tone)
        }),
        ObjectId::Flow(id) => scenario
            .flows()
            .get(&id)
            .map(|flow| trip_marks(scenario, &[flow.origin, flow.destination], context, tone)),
    };
    outline.unwrap_or_default()
}

fn closed(mut points: Vec<DVec2>, tone: Tone) -> Mark {
    points.extend(points.first().copied());
    Mark::line(points, tone)
}

/// Returns both edges of a road as one polyline: forward along the left edge and back along the
/// right edge.
fn road_edges(road: &Road, scale: f64) -> Vec<DVec2> {
    // An error of a quarter of a point is invisible, as is any error below 5 cm.
    let tolerance = (0.25 * scale).max(0.05);
    let distances = road.reference_line.sample_distances(tolerance, 8.0);
    let left = |&s: &f64| road.reference_line.point(s, road.edges(s).1);
    let right = |&s: &f64| road.reference_line.point(s, road.edges(s).0);
    let (there, back) = (distances.iter(), distances.iter().rev());
    there.map(left).chain(back.map(right)).collect()
}

/// Returns the mark of a point of interest: the outline of a bay, or otherwise a circle around its
/// pin.
fn place_mark(point: &PointOfInterest, scale: f64, tone: Tone) -> Mark {
    match roadwright_render::bay(point) {
        Some(corners) => closed(corners.to_vec(), tone),
        None => Mark::Circle {
            centre: point.position(),
            radius: (10.0 * scale).max(1.4),
            tone,
        },
    }
}

fn trip_marks(
    scenario: &Scenario,
    places: &[Place],
    context: &ToolContext<'_>,
    tone: Tone,
) -> Vec<Mark> {
    let points: Vec<DVec2> = places
        .iter()
        .filter_map(|place| Some(scenario.pose_of(place)?.position))
        .collect();
    let mut marks: Vec<Mark> = points
        .first()
        .map(|start| Mark::Circle {
            centre: *start,
            radius: (12.0 * context.scale).max(3.0),
            tone,
        })
        .into_iter()
        .collect();
    if points.len() > 1 {
        if let Some(goal) = points.last() {
            marks.push(Mark::Handle {
                at: *goal,
                shape: HandleShape::Flag,
                hot: false,
            });
        }
        marks.push(Mark::dashes(points, tone));
    }
    marks
}
