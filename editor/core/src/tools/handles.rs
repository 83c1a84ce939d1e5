//! Handles of the selected object, and the edits that dragging them makes.

use super::bays::{place_in_bay, stack_for_bay};
use super::{HandleShape, ToolContext};
use roadwright_geometry::alignment::Alignment;
use roadwright_geometry::{DVec2, GeometryError, heading_of, polygon, unit};
use roadwright_scenario::operation::{Motion, Objects, moved, reshaped};
use roadwright_scenario::{
    Agent, AgentId, Edit, FlowId, ForestId, LandId, ObjectId, ObstacleId, Place, RoadId, Scenario,
    Shape,
};

/// The property that a handle changes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum HandleKind {
    /// A point of intersection (or an end) of a road.
    RoadPoint(RoadId, usize),
    /// The radius at a point of intersection.
    RoadRadius(RoadId, usize),
    /// A corner of a box or polygon, or the radius of a circle. A box has four corners.
    ObstacleCorner(ObstacleId, usize),
    /// A corner of a forest.
    ForestCorner(ForestId, usize),
    /// A corner of an area of land, counted along its outline first and then along its holes.
    LandCorner(LandId, usize),
    /// Start position of an agent.
    Start(AgentId),
    /// The destination of an agent.
    Destination(AgentId),
    /// A waypoint of an agent.
    WayPoint(AgentId, usize),
    /// Inserts a waypoint at this index, midway between two places of an agent's trip.
    NewWayPoint(AgentId, usize),
    /// The origin of a flow.
    Origin(FlowId),
    /// The destination of a flow.
    FlowDestination(FlowId),
    /// Rotates the selection about the centre of its bounding box.
    Turn,
}

/// A handle of the selection, which the user can drag to change a property.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Handle {
    /// The property that dragging the handle changes.
    pub kind: HandleKind,
    /// Position of the handle, m.
    pub at: DVec2,
}

impl Handle {
    /// Returns the shape of the handle on the map.
    pub fn shape(&self) -> HandleShape {
        match self.kind {
            HandleKind::RoadPoint(..)
            | HandleKind::ObstacleCorner(..)
            | HandleKind::ForestCorner(..)
            | HandleKind::LandCorner(..) => HandleShape::Square,
            HandleKind::RoadRadius(..) => HandleShape::Diamond,
            HandleKind::Destination(_) | HandleKind::FlowDestination(_) => HandleShape::Flag,
            HandleKind::NewWayPoint(..) => HandleShape::Plus,
            HandleKind::Start(_)
            | HandleKind::WayPoint(..)
            | HandleKind::Origin(_)
            | HandleKind::Turn => HandleShape::Circle,
        }
    }

    /// Returns the status line text about dragging the handle.
    pub fn hint(&self) -> &'static str {
        match self.kind {
            HandleKind::RoadPoint(..) => "Drag: move this point. Alt+click: remove it.",
            HandleKind::RoadRadius(..) => "Drag: change the radius of this curve.",
            HandleKind::ObstacleCorner(..) => "Drag: change the size.",
            HandleKind::ForestCorner(..) => "Drag: move this corner.",
            HandleKind::LandCorner(..) => "Drag: move this corner. Alt+click: remove it.",
            HandleKind::Start(_) => "Drag: move the start.",
            HandleKind::Destination(_) => "Drag: move the destination.",
            HandleKind::WayPoint(..) => "Drag: move this waypoint. Alt+click: remove it.",
            HandleKind::NewWayPoint(..) => "Drag: add a waypoint.",
            HandleKind::Origin(_) => "Drag: move the origin.",
            HandleKind::FlowDestination(_) => "Drag: move the destination.",
            HandleKind::Turn => "Drag: rotate.",
        }
    }
}

/// Returns the handles of the selection: the handles of a single selected object, and a handle that
/// rotates all selected objects that have a direction.
pub fn handles(context: &ToolContext<'_>) -> Vec<Handle> {
    let mut all = Vec::new();
    let mut add = |kind, at| all.push(Handle { kind, at });
    if context.selection.len() == 1
        && let Some(object) = context.selection.first()
    {
        object_handles(context.scenario, *object, &mut add);
    }
    let turns = context.selection.iter().any(|object| {
        !matches!(
            object,
            ObjectId::Node(_) | ObjectId::Agent(_) | ObjectId::Flow(_)
        )
    });
    if let Some((low, high)) = selection_box(context).filter(|_| turns) {
        let above = DVec2::new(0.5 * (low.x + high.x), high.y + 28.0 * context.scale);
        add(HandleKind::Turn, above);
    }
    all
}

/// Maximum number of corners for which a forest or an area of land has handles. Painted areas have
/// many more corners, which are too close together to grab.
const MOST_CORNERS: usize = 200;

fn object_handles(scenario: &Scenario, object: ObjectId, add: &mut impl FnMut(HandleKind, DVec2)) {
    let at = |place: &Place| Some(scenario.pose_of(place)?.position);
    match object {
        ObjectId::Road(id) => {
            if let Some(road) = scenario.network().road(id) {
                road_handles(id, &road.reference_line, add);
            }
        }
        ObjectId::Obstacle(id) => {
            if let Some(obstacle) = scenario.obstacles().get(&id) {
                obstacle_handles(id, &obstacle.shape, add);
            }
        }
        ObjectId::Forest(id) => {
            let forest = scenario.forests().get(&id);
            if let Some(forest) = forest.filter(|f| f.area.len() <= MOST_CORNERS) {
                for (i, corner) in forest.area.iter().enumerate() {
                    add(HandleKind::ForestCorner(id, i), *corner);
                }
            }
        }
        ObjectId::Land(id) => {
            let land = scenario.land().get(&id);
            if let Some(land) = land.filter(|land| land.corners() <= MOST_CORNERS) {
                for (i, corner) in land.rings().flatten().enumerate() {
                    add(HandleKind::LandCorner(id, i), *corner);
                }
            }
        }
        ObjectId::Agent(id) => {
            if let Some(agent) = scenario.agents().get(&id) {
                if let Some(start) = at(&agent.start) {
                    add(HandleKind::Start(id), start);
                }
                if let Some(goal) = agent.destination.as_ref().and_then(at) {
                    add(HandleKind::Destination(id), goal);
                    way_point_handles(id, agent, at, add);
                }
            }
        }
        ObjectId::Flow(id) => {
            if let Some(flow) = scenario.flows().get(&id) {
                if let Some(origin) = at(&flow.origin) {
                    add(HandleKind::Origin(id), origin);
                }
                if let Some(goal) = at(&flow.destination) {
                    add(HandleKind::FlowDestination(id), goal);
                }
            }
        }
        ObjectId::Node(_) | ObjectId::PointOfInterest(_) => {}
    }
}

/// Returns the handles of an agent's waypoints, and the handles between its stops that insert new
/// waypoints.
fn way_point_handles(
    id: AgentId,
    agent: &Agent,
    at: impl Fn(&Place) -> Option<DVec2>,
    add: &mut impl FnMut(HandleKind, DVec2),
) {
    for (i, via) in agent.via.iter().enumerate() {
        if let Some(point) = at(via) {
            add(HandleKind::WayPoint(id, i), point);
        }
    }
    let stops: Vec<&Place> = agent.places().collect();
    for (i, leg) in stops.windows(2).enumerate() {
        if let (Some(from), Some(to)) = (at(leg[0]), at(leg[1])) {
            add(HandleKind::NewWayPoint(id, i), 0.5 * (from + to));
        }
    }
}

fn obstacle_handles(id: ObstacleId, shape: &Shape, add: &mut impl FnMut(HandleKind, DVec2)) {
    match shape {
        // The easternmost point of the circle sets its radius.
        Shape::Circle { x, y, radius } => {
            let at = DVec2::new(*x + *radius, y.get());
            add(HandleKind::ObstacleCorner(id, 0), at);
        }
        Shape::Box { .. } | Shape::Polygon { .. } => {
            for (i, corner) in shape.outline().into_iter().enumerate() {
                add(HandleKind::ObstacleCorner(id, i), corner);
            }
        }
    }
}

fn road_handles(
    id: RoadId,
    line: &roadwright_geometry::ReferenceLine,
    add: &mut impl FnMut(HandleKind, DVec2),
) {
    let Some(alignment) = Alignment::of(line) else {
        add(HandleKind::RoadPoint(id, 0), line.start().position);
        add(HandleKind::RoadPoint(id, 1), line.end().position);
        return;
    };
    let points = alignment.points();
    // Lines traced from maps have hundreds of points, so only the ends get handles.
    let last = points.len() - 1;
    for (i, point) in points.iter().enumerate() {
        if i == 0 || i == last || last <= 40 {
            add(HandleKind::RoadPoint(id, i), point.position);
        }
        if i > 0 && i < last && last <= 40 && point.curvature() > 0.0 {
            add(HandleKind::RoadRadius(id, i), arc_middle(points, i));
        }
    }
}

/// Returns the approximate middle of the curve at an inner point.
fn arc_middle(points: &[roadwright_geometry::alignment::ControlPoint], i: usize) -> DVec2 {
    let here = points[i].position;
    let (u, v) = (
        (points[i - 1].position - here).normalize_or_zero(),
        (points[i + 1].position - here).normalize_or_zero(),
    );
    // The external distance of a circular curve, E = R (1 / cos(turn / 2) - 1):
    //
    //          here
    //          /|\
    //         / |E \         the tangents meet at `here` and turn by `turn`;
    //        /  |   \        the arc touches both and passes E below their meeting
    //       /.--+--. \
    //      /         \
    //
    // A turn of 90 degrees with a radius of 20 m misses the point by 8.3 m.
    let turn = std::f64::consts::PI - roadwright_geometry::math::acos(u.dot(v).clamp(-1.0, 1.0));
    let radius = 1.0 / points[i].curvature();
    // In a hairpin the tangents meet far outside, so the handle stays within 20 radii.
    let miss = radius / roadwright_geometry::math::cos(0.5 * turn).max(0.05) - radius;
    here + miss * (u + v).normalize_or_zero()
}

/// Returns the bounding box of the selection, m.
pub fn selection_box(context: &ToolContext<'_>) -> Option<(DVec2, DVec2)> {
    let corners: Vec<DVec2> = context
        .selection
        .iter()
        .filter_map(|object| context.scene.bounds_of(*object))
        .flat_map(|(low, high)| [low, high])
        .collect();
    polygon::bounds(&corners)
}

/// Returns the edit for dragging a handle to a point, based on the scenario before the drag; `None`
/// if it is impossible.
pub fn dragged(
    handle: &Handle,
    to: DVec2,
    base: &Scenario,
    context: &ToolContext<'_>,
) -> Option<Edit> {
    match handle.kind {
        HandleKind::RoadPoint(id, index) => road_point(base, id, index, to),
        HandleKind::RoadRadius(id, index) => road_radius(base, id, index, to),
        HandleKind::ObstacleCorner(id, index) => {
            let mut obstacle = base.obstacles().get(&id)?.clone();
            obstacle.shape = resized(&obstacle.shape, index, to);
            Some(Edit::Obstacle(id, Some(Box::new(obstacle))))
        }
        HandleKind::ForestCorner(id, index) => {
            let mut forest = base.forests().get(&id)?.clone();
            *forest.area.get_mut(index)? = to;
            Some(Edit::Forest(id, Some(Box::new(forest))))
        }
        HandleKind::LandCorner(id, index) => {
            let mut land = base.land().get(&id)?.clone();
            *land.rings_mut().flatten().nth(index)? = to;
            Some(Edit::Land(id, Some(Box::new(land))))
        }
        HandleKind::Start(id) => {
            let mut agent = base.agents().get(&id)?.clone();
            agent.start = place_of(&agent.vehicle, to, &agent.start, base, context);
            Some(Edit::Agent(id, Some(Box::new(agent))))
        }
        HandleKind::Destination(id) => {
            let mut agent = base.agents().get(&id)?.clone();
            let before = agent.destination.unwrap_or(agent.start);
            agent.destination = Some(place_of(&agent.vehicle, to, &before, base, context));
            let mut edits = Vec::new();
            if place_in_bay(to, &agent.vehicle, base).is_some() {
                let (stack, added) = stack_for_bay(&agent.stack, base);
                agent.stack = stack;
                edits.extend(added);
            }
            edits.push(Edit::Agent(id, Some(Box::new(agent))));
            Some(match edits.len() {
                1 => edits.remove(0),
                _ => Edit::Batch(edits),
            })
        }
        HandleKind::WayPoint(id, index) => {
            let mut agent = base.agents().get(&id)?.clone();
            let via = agent.via.get_mut(index)?;
            *via = place_of(&agent.vehicle, to, via, base, context);
            Some(Edit::Agent(id, Some(Box::new(agent))))
        }
        HandleKind::NewWayPoint(id, index) => {
            let mut agent = base.agents().get(&id)?.clone();
            let before = agent.places().nth(index)?;
            let via = place_of(&agent.vehicle, to, before, base, context);
            agent.via.insert(index, via);
            Some(Edit::Agent(id, Some(Box::new(agent))))
        }
        HandleKind::Origin(id) => {
            let mut flow = base.flows().get(&id)?.clone();
            flow.origin = place_of(&flow.vehicle, to, &flow.origin, base, context);
            Some(Edit::Flow(id, Some(Box::new(flow))))
        }
        HandleKind::FlowDestination(id) => {
            let mut flow = base.flows().get(&id)?.clone();
            flow.destination = place_of(&flow.vehicle, to, &flow.destination, base, context);
            Some(Edit::Flow(id, Some(Box::new(flow))))
        }
        HandleKind::Turn => None,
    }
}

/// Returns the edit that rotates the selection.
pub fn turned(
    base: &Scenario,
    objects: &Objects,
    centre: DVec2,
    from: DVec2,
    to: DVec2,
) -> Option<Edit> {
    let angle = heading_of(to - centre) - heading_of(from - centre);
    moved(base, objects, &Motion::turn(centre, angle)).ok()
}

fn road_point(base: &Scenario, id: RoadId, index: usize, to: DVec2) -> Option<Edit> {
    let road = base.network().road(id)?;
    let Some(mut alignment) = Alignment::of(&road.reference_line) else {
        // Other kinds of lines have no points of intersection, so the node at this end is moved.
        let node = if index == 0 { road.from } else { road.to };
        let node = ObjectId::Node(node);
        let from = if index == 0 {
            road.reference_line.start()
        } else {
            road.reference_line.end()
        };
        let motion = Motion::shift(to - from.position);
        return moved(base, &Objects::from([node]), &motion).ok();
    };
    alignment.move_point(index, to);
    reshaped(base, id, alignment.line().ok()?).ok()
}

fn road_radius(base: &Scenario, id: RoadId, index: usize, to: DVec2) -> Option<Edit> {
    let road = base.network().road(id)?;
    let mut alignment = Alignment::of(&road.reference_line)?;
    let points = alignment.points();
    let here = points[index].position;
    let (u, v) = (
        (points[index - 1].position - here).normalize_or_zero(),
        (points[index + 1].position - here).normalize_or_zero(),
    );
    let half =
        0.5 * (std::f64::consts::PI - roadwright_geometry::math::acos(u.dot(v).clamp(-1.0, 1.0)));
    // Inverts the formula above: R = E cos / (1 - cos), where E is the pointer's distance along the
    // bisector.
    let miss = (to - here).dot((u + v).normalize_or_zero()).max(0.05);
    let cosine = roadwright_geometry::math::cos(half).max(0.05);
    let radius = (miss * cosine / (1.0 - cosine).max(1e-6)).clamp(2.0, 5000.0);
    alignment.set_radius(index, radius);
    reshaped(base, id, alignment.line().ok()?).ok()
}

/// Returns the edit that adds a point of intersection to a road at the clicked position.
///
/// # Errors
/// If the road has no points of intersection.
pub fn with_point(
    base: &Scenario,
    id: RoadId,
    at: DVec2,
    radius: f64,
) -> Result<Edit, GeometryError> {
    let road = base.network().road(id).ok_or(GeometryError::Empty)?;
    let mut alignment = Alignment::of(&road.reference_line).ok_or(GeometryError::NoJoin)?;
    let points: Vec<DVec2> = alignment.points().iter().map(|p| p.position).collect();
    let leg = points
        .windows(2)
        .enumerate()
        .min_by(|a, b| {
            let distance =
                |w: &[DVec2]| (polygon::closest_on_segment(w[0], w[1], at) - at).length_squared();
            distance(a.1).total_cmp(&distance(b.1))
        })
        .map_or(0, |(i, _)| i);
    let on_leg = polygon::closest_on_segment(points[leg], points[leg + 1], at);
    alignment.insert(leg + 1, on_leg, radius);
    // A point on a straight would not change it, so the point is moved aside by a visible 2 m.
    let aside = (points[leg + 1] - points[leg]).perp().normalize_or_zero();
    alignment.move_point(leg + 1, on_leg + 2.0 * aside);
    reshaped(base, id, alignment.line()?).map_err(|_| GeometryError::NoJoin)
}

/// Returns the edit that removes a waypoint of an agent.
pub fn without_way_point(base: &Scenario, id: AgentId, index: usize) -> Option<Edit> {
    let mut agent = base.agents().get(&id)?.clone();
    if index >= agent.via.len() {
        return None;
    }
    agent.via.remove(index);
    Some(Edit::Agent(id, Some(Box::new(agent))))
}

/// Returns the edit that removes a point of intersection; `None` if it cannot be removed.
pub fn without_point(base: &Scenario, id: RoadId, index: usize) -> Option<Edit> {
    let road = base.network().road(id)?;
    let mut alignment = Alignment::of(&road.reference_line)?;
    if index == 0 || index + 1 >= alignment.points().len() {
        return None;
    }
    alignment.remove(index);
    reshaped(base, id, alignment.line().ok()?).ok()
}

/// Returns the edit that removes a corner of an area of land; `None` for a ring with only three
/// corners.
pub fn without_corner(base: &Scenario, id: LandId, index: usize) -> Option<Edit> {
    let mut land = base.land().get(&id)?.clone();
    let mut before = 0;
    for ring in land.rings_mut() {
        if index < before + ring.len() {
            (ring.len() > 3).then(|| ring.remove(index - before))?;
            break;
        }
        before += ring.len();
    }
    Some(Edit::Land(id, Some(Box::new(land))))
}

fn resized(shape: &Shape, index: usize, to: DVec2) -> Shape {
    match shape {
        &Shape::Circle { x, y, .. } => Shape::Circle {
            x,
            y,
            radius: ((to - DVec2::new(x.get(), y.get())).length().max(0.1)).into(),
        },
        &Shape::Box { heading, .. } => {
            // The opposite corner stays in place.
            let opposite = shape.outline()[(index + 2) % 4];
            let (forward, middle) = (unit(heading.get()), 0.5 * (opposite + to));
            let diagonal = to - opposite;
            Shape::Box {
                x: middle.x.into(),
                y: middle.y.into(),
                heading,
                length: diagonal.dot(forward).abs().max(0.1).into(),
                width: diagonal.dot(forward.perp()).abs().max(0.1).into(),
            }
        }
        Shape::Polygon { points } => {
            let mut points = points.clone();
            if let Some(point) = points.get_mut(index) {
                *point = to;
            }
            Shape::Polygon { points }
        }
    }
}

/// Returns the place of a vehicle at a point: in the bay there, on the lane there, or else on open ground with the
/// previous heading. `vehicle` is the key of its type.
pub fn place_of(
    vehicle: &str,
    point: DVec2,
    before: &Place,
    base: &Scenario,
    context: &ToolContext<'_>,
) -> Place {
    if let Some(place) = place_in_bay(point, vehicle, base) {
        return place;
    }
    let lane = context.scene.lane_at(point, 0.3 * context.reach());
    // The scene may belong to another revision than `base`, so a lane of a road that does not exist in `base`
    // is ignored.
    if let Some(lane) = lane.filter(|lane| base.network().road(lane.road).is_some()) {
        return Place::Lane(lane);
    }
    let heading = base.pose_of(before).map_or(0.0, |pose| pose.heading);
    Place::ground(point.x, point.y, heading)
}
