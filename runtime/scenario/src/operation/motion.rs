//! Moving and rotating objects.

use super::roads::{fitted, stretched_places, with_end_at};
use super::{Objects, OperationError};
use crate::agents::{GroundPlace, Place};
use crate::edit::Edit;
use crate::ids::{NodeId, ObjectId};
use crate::land::Land;
use crate::network::Node;
use crate::objects::{PointOfInterest, Shape};
use crate::road::RoadEnd;
use crate::scenario::Scenario;
use glam::DVec2;
use roadwright_geometry::math::{sin_cos, wrap_angle};
use roadwright_geometry::{Pose, ReferenceLine};
use std::collections::{BTreeMap, BTreeSet};

/// A rotation about a point, followed by a translation.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Motion {
    /// Centre of the rotation, m.
    pub centre: DVec2,
    /// Rotation, rad counter-clockwise.
    pub angle: f64,
    /// Translation, m.
    pub shift: DVec2,
}

impl Motion {
    /// Returns a translation.
    pub fn shift(shift: DVec2) -> Self {
        Self {
            shift,
            ..Self::default()
        }
    }

    /// Returns a rotation about a point by an angle in rad.
    pub fn turn(centre: DVec2, angle: f64) -> Self {
        Self {
            centre,
            angle,
            shift: DVec2::ZERO,
        }
    }

    /// Returns the moved point.
    pub fn point(&self, p: DVec2) -> DVec2 {
        if self.angle == 0.0 {
            // Avoids sine and cosine, so that moving by whole metres gives whole metres.
            return p + self.shift;
        }
        let (sin, cos) = sin_cos(self.angle);
        let q = p - self.centre;
        self.centre + DVec2::new(cos * q.x - sin * q.y, sin * q.x + cos * q.y) + self.shift
    }

    fn heading(&self, heading: f64) -> f64 {
        wrap_angle(heading + self.angle)
    }

    /// Returns the line after a rigid motion.
    pub(super) fn line(&self, line: &ReferenceLine) -> Result<ReferenceLine, OperationError> {
        let start = line.start();
        let moved = Pose {
            position: self.point(start.position),
            heading: self.heading(start.heading),
        };
        // Segments contain only lengths and curvatures, so moving the start moves the whole line rigidly.
        Ok(ReferenceLine::new(moved, line.segments().to_vec())?)
    }

    pub(super) fn shape(&self, shape: &Shape) -> Shape {
        let at = |x: f64, y: f64| self.point(DVec2::new(x, y));
        match *shape {
            Shape::Circle { x, y, radius } => {
                let p = at(x.get(), y.get());
                Shape::Circle {
                    x: p.x.into(),
                    y: p.y.into(),
                    radius,
                }
            }
            Shape::Box {
                x,
                y,
                heading,
                length,
                width,
            } => {
                let p = at(x.get(), y.get());
                Shape::Box {
                    x: p.x.into(),
                    y: p.y.into(),
                    heading: self.heading(heading.get()).into(),
                    length,
                    width,
                }
            }
            Shape::Polygon { ref points } => Shape::Polygon {
                points: points.iter().map(|p| self.point(*p)).collect(),
            },
        }
    }

    pub(super) fn land(&self, land: &Land) -> Land {
        let mut land = land.clone();
        let points = land.rings_mut().flatten();
        points.for_each(|p| *p = self.point(*p));
        land
    }

    pub(super) fn point_of_interest(&self, point: &PointOfInterest) -> PointOfInterest {
        let to = self.point(point.position());
        PointOfInterest {
            name: point.name.clone(),
            x: to.x.into(),
            y: to.y.into(),
            heading: point.heading.map(|heading| self.heading(heading)).into(),
        }
    }

    pub(super) fn ground(&self, place: GroundPlace) -> Place {
        let p = self.point(place.position());
        Place::ground(p.x, p.y, self.heading(place.heading.get()))
    }

    /// Moves a place on open ground. A place on a lane is moved with its road, so it is unchanged here.
    fn move_ground(&self, place: &mut Place) {
        if let Place::Ground(ground) = *place {
            *place = self.ground(ground);
        }
    }
}

/// Returns the edit that moves objects.
///
/// The nodes of a moved road also move. If only one end of a road is at a moved node, the other end
/// stays, and the road is bent as locally as its shape allows. Places on lanes move with their
/// road, and places on open ground move with their agent.
///
/// # Errors
/// If a road cannot take the resulting shape.
pub fn moved(
    scenario: &Scenario,
    objects: &Objects,
    motion: &Motion,
) -> Result<Edit, OperationError> {
    let mut edits = Vec::new();
    let nodes = moved_nodes(scenario, objects);
    for &id in &nodes {
        if let Some(node) = scenario.network().node(id) {
            let p = motion.point(node.position());
            let node = Node {
                x: p.x.into(),
                y: p.y.into(),
                ..node.clone()
            };
            edits.push(Edit::Node(id, Some(node)));
        }
    }
    let mut lengths = BTreeMap::new();
    for (id, road) in scenario.network().roads() {
        let (from, to) = (nodes.contains(&road.from), nodes.contains(&road.to));
        if !from && !to {
            continue;
        }
        // Road B moves together with its nodes n and m. A and C each follow with one end:
        //
        //   o---A---n===B===m---C---o        A, C: bent        B: moved rigidly
        //
        // A road between two moved nodes is moved rigidly even if it is not selected.
        let with_end = |end| with_end_at(&road.reference_line, end, |p| motion.point(p));
        let line = match (from, to) {
            (true, true) => motion.line(&road.reference_line)?,
            (true, false) => with_end(RoadEnd::Start)?,
            _ => with_end(RoadEnd::End)?,
        };
        // The length of a bent road changes, but places on the road keep their relative position.
        lengths.insert(id, (road.length(), line.length()));
        edits.push(Edit::Road(id, Some(Box::new(fitted(road, line)))));
    }
    edits.extend(stretched_places(scenario, &lengths));
    for object in objects {
        edits.extend(moved_thing(scenario, *object, motion));
    }
    Ok(Edit::Batch(edits))
}

pub(super) fn moved_nodes(scenario: &Scenario, objects: &Objects) -> BTreeSet<NodeId> {
    let mut nodes = BTreeSet::new();
    for object in objects {
        match *object {
            ObjectId::Node(id) => {
                nodes.insert(id);
            }
            ObjectId::Road(id) => {
                if let Some(road) = scenario.network().road(id) {
                    nodes.extend([road.from, road.to]);
                }
            }
            _ => {}
        }
    }
    nodes
}

fn moved_thing(scenario: &Scenario, object: ObjectId, motion: &Motion) -> Option<Edit> {
    match object {
        ObjectId::Node(_) | ObjectId::Road(_) => None,
        ObjectId::Obstacle(id) => {
            let mut obstacle = scenario.obstacles().get(&id)?.clone();
            obstacle.shape = motion.shape(&obstacle.shape);
            Some(Edit::Obstacle(id, Some(Box::new(obstacle))))
        }
        ObjectId::Forest(id) => {
            let mut forest = scenario.forests().get(&id)?.clone();
            forest.area.iter_mut().for_each(|p| *p = motion.point(*p));
            Some(Edit::Forest(id, Some(Box::new(forest))))
        }
        ObjectId::Land(id) => {
            let land = motion.land(scenario.land().get(&id)?);
            Some(Edit::Land(id, Some(Box::new(land))))
        }
        ObjectId::PointOfInterest(id) => {
            let point = motion.point_of_interest(scenario.points_of_interest().get(&id)?);
            Some(Edit::PointOfInterest(id, Some(Box::new(point))))
        }
        ObjectId::Agent(id) => {
            let before = scenario.agents().get(&id)?;
            let mut agent = before.clone();
            agent
                .places_mut()
                .for_each(|place| motion.move_ground(place));
            (agent != *before).then(|| Edit::Agent(id, Some(Box::new(agent))))
        }
        ObjectId::Flow(id) => {
            let before = scenario.flows().get(&id)?;
            let mut flow = before.clone();
            for place in flow.places_mut() {
                motion.move_ground(place);
            }
            (flow != *before).then(|| Edit::Flow(id, Some(Box::new(flow))))
        }
    }
}
