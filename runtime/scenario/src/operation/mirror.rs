//! Mirrors objects.
//!
//! The exact mirror image of a network has the other driving side. To keep the scenario's driving
//! side, lanes are not simply mirrored:
//!
//! - The carriageway of a two-way road is at its mirrored position, but its lanes keep their order: two lanes
//!   towards a junction and one away from it stay that way. Anything outside the carriageway (pavements,
//!   parking) changes sides.
//! - A one-way road is mirrored lane by lane and its direction is reversed. The carriageways of a motorway
//!   swap places, entry slip roads become exits, and rings keep the correct direction. Trips that can no
//!   longer be driven are also reversed.

mod lanes;
mod rules;
mod trips;

use super::roads::{fitted, with_end_at};
use super::{Objects, OperationError, motion};
use crate::agents::Place;
use crate::edit::Edit;
use crate::ids::{NodeId, ObjectId, RoadId};
use crate::network::Node;
use crate::objects::Shape;
use crate::road::{Road, RoadEnd};
use crate::scenario::Scenario;
use glam::DVec2;
use roadwright_geometry::math::wrap_angle;
use roadwright_geometry::{Pose, ReferenceLine, polygon};
use std::collections::{BTreeMap, BTreeSet};
use std::f64::consts::PI;

/// A mirror line on the map.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Mirror {
    /// Left and right are swapped at the line with this x, m.
    LeftRight(f64),
    /// Top and bottom are swapped at the line with this y, m.
    UpDown(f64),
}

impl Mirror {
    /// Returns the mirrored point.
    pub fn point(self, p: DVec2) -> DVec2 {
        match self {
            Self::LeftRight(x) => DVec2::new(2.0 * x - p.x, p.y),
            Self::UpDown(y) => DVec2::new(p.x, 2.0 * y - p.y),
        }
    }

    /// Returns the mirrored heading, rad.
    pub fn heading(self, heading: f64) -> f64 {
        match self {
            Self::LeftRight(_) => wrap_angle(PI - heading),
            Self::UpDown(_) => wrap_angle(-heading),
        }
    }

    fn line(self, line: &ReferenceLine) -> Result<ReferenceLine, OperationError> {
        let start = line.start();
        Ok(line.mirrored(Pose {
            position: self.point(start.position),
            heading: self.heading(start.heading),
        })?)
    }

    /// Returns the corners of the mirror image of an outline, in the original winding direction.
    fn ring(self, points: &[DVec2]) -> Vec<DVec2> {
        points.iter().rev().map(|p| self.point(*p)).collect()
    }

    fn shape(self, shape: &Shape) -> Shape {
        let mut mirrored = shape.clone();
        match &mut mirrored {
            Shape::Circle { x, y, .. } => {
                (**x, **y) = self.point(DVec2::new(x.get(), y.get())).into()
            }
            Shape::Box { x, y, heading, .. } => {
                (**x, **y) = self.point(DVec2::new(x.get(), y.get())).into();
                *heading = self.heading(heading.get()).into();
            }
            Shape::Polygon { points } => *points = self.ring(points).into(),
        }
        mirrored
    }
}

/// The edit that mirrors objects, and its side effects.
#[derive(Debug, Clone, PartialEq)]
pub struct Mirrored {
    /// The edit. It is empty if none of the objects can be mirrored.
    pub edit: Edit,
    /// Nodes whose rules were dropped because they would be wrong after mirroring: rules for single
    /// turns in signal stages, and rules for a lane whose direction is reversed.
    pub changed_rules: BTreeSet<NodeId>,
}

/// Returns the centre of the bounding box of the objects that would be mirrored, m; `None` if all
/// of them only move with other objects, as an agent on a lane moves with its road.
pub fn middle(scenario: &Scenario, objects: &Objects) -> Option<DVec2> {
    let nodes = motion::moved_nodes(scenario, objects);
    let network = scenario.network();
    let mut points: Vec<DVec2> = Vec::new();
    points.extend(
        nodes
            .iter()
            .filter_map(|id| Some(network.node(*id)?.position())),
    );
    for (_, road) in network.roads() {
        if nodes.contains(&road.from) && nodes.contains(&road.to) {
            points.extend(<[DVec2; 2]>::from(road.reference_line.bounds(0.0)));
        }
    }
    points.extend(objects.iter().flat_map(|object| outline(scenario, *object)));
    let (low, high) = polygon::bounds(&points)?;
    Some(0.5 * (low + high))
}

/// Returns the corners or positions of an object on the ground; empty for nodes, roads and places
/// on lanes.
fn outline(scenario: &Scenario, object: ObjectId) -> Vec<DVec2> {
    let ground = |place: &Place| match place {
        Place::Ground(ground) => Some(ground.position()),
        Place::Lane(_) => None,
    };
    let found = match object {
        ObjectId::Node(_) | ObjectId::Road(_) => None,
        ObjectId::Obstacle(id) => scenario.obstacles.get(&id).map(|o| o.shape.outline()),
        ObjectId::Forest(id) => scenario.forests.get(&id).map(|f| f.area.to_vec()),
        ObjectId::Land(id) => scenario.land.get(&id).map(|l| l.outline.to_vec()),
        ObjectId::PointOfInterest(id) => {
            let point = scenario.points_of_interest.get(&id);
            point.map(|point| vec![point.position()])
        }
        ObjectId::Agent(id) => {
            let agent = scenario.agents.get(&id);
            agent.map(|agent| agent.places().filter_map(ground).collect())
        }
        ObjectId::Flow(id) => {
            let flow = scenario.flows.get(&id);
            flow.map(|flow| flow.places().into_iter().filter_map(ground).collect())
        }
    };
    found.unwrap_or_default()
}

/// Returns the edit that mirrors objects.
///
/// As in [`moved`](super::moved), the nodes of a road are mirrored with it. A road between two
/// mirrored nodes is mirrored even if it is not selected. If only one end of a road is at such a
/// node, the other end stays.
///
/// # Errors
/// If a road cannot take the resulting shape.
pub fn mirrored(
    scenario: &Scenario,
    objects: &Objects,
    mirror: Mirror,
) -> Result<Mirrored, OperationError> {
    let nodes = motion::moved_nodes(scenario, objects);
    let mut reflection = Reflection {
        scenario,
        mirror,
        roads: BTreeSet::new(),
        images: BTreeMap::new(),
        turned: BTreeSet::new(),
        stretched: BTreeMap::new(),
    };
    let roads = reflection.roads(&nodes)?;
    let (mut edits, changed_rules) = reflection.nodes(&nodes);
    edits.extend(roads);
    edits.extend(
        objects
            .iter()
            .filter_map(|object| reflection.thing(*object)),
    );
    edits.extend(reflection.trips(objects));
    Ok(Mirrored {
        edit: Edit::Batch(edits),
        changed_rules,
    })
}

/// A mirror image that is being assembled.
struct Reflection<'a> {
    scenario: &'a Scenario,
    mirror: Mirror,
    /// Roads that are mirrored completely.
    roads: BTreeSet<RoadId>,
    /// Mirror images of these roads.
    images: BTreeMap<RoadId, Road>,
    /// The mirrored roads whose direction is reversed.
    turned: BTreeSet<RoadId>,
    /// Roads with only one mirrored end, each with its length before and after, m.
    stretched: BTreeMap<RoadId, (f64, f64)>,
}

impl Reflection<'_> {
    /// Returns the edits of the roads at mirrored nodes.
    fn roads(&mut self, nodes: &BTreeSet<NodeId>) -> Result<Vec<Edit>, OperationError> {
        let side = self.scenario.about().driving_side;
        let mut edits = Vec::new();
        for (id, road) in self.scenario.network().roads() {
            let (from, to) = (nodes.contains(&road.from), nodes.contains(&road.to));
            let image = match (from, to) {
                (false, false) => continue,
                (true, true) => {
                    self.roads.insert(id);
                    if lanes::is_turned(road, side) {
                        self.turned.insert(id);
                    }
                    let mut image = lanes::mirrored(road, side);
                    image.reference_line = self.mirror.line(&road.reference_line)?;
                    self.images.insert(id, image.clone());
                    image
                }
                (is_start, _) => {
                    let end = match is_start {
                        true => RoadEnd::Start,
                        false => RoadEnd::End,
                    };
                    let to = |p| self.mirror.point(p);
                    let line = with_end_at(&road.reference_line, end, to)?;
                    self.stretched.insert(id, (road.length(), line.length()));
                    fitted(road, line)
                }
            };
            edits.push(Edit::Road(id, Some(Box::new(image))));
        }
        Ok(edits)
    }

    /// Returns the edits of the nodes, and the nodes whose rules were dropped.
    fn nodes(&self, nodes: &BTreeSet<NodeId>) -> (Vec<Edit>, BTreeSet<NodeId>) {
        let mut changed = BTreeSet::new();
        let edit = |&id: &NodeId| {
            let node = self.scenario.network().node(id)?;
            let (rules, is_whole) = rules::mirrored(self, id, &node.rules);
            if !is_whole {
                changed.insert(id);
            }
            let (x, y) = self.mirror.point(node.position()).into();
            Some(Edit::Node(
                id,
                Some(Node {
                    x: x.into(),
                    y: y.into(),
                    rules,
                }),
            ))
        };
        (nodes.iter().filter_map(edit).collect(), changed)
    }

    /// Returns the edit of an object that has its own position; `None` for other objects.
    fn thing(&self, object: ObjectId) -> Option<Edit> {
        let (scenario, mirror) = (self.scenario, self.mirror);
        match object {
            ObjectId::Obstacle(id) => {
                let mut obstacle = scenario.obstacles.get(&id)?.clone();
                obstacle.shape = mirror.shape(&obstacle.shape);
                Some(Edit::Obstacle(id, Some(Box::new(obstacle))))
            }
            ObjectId::Forest(id) => {
                let mut forest = scenario.forests.get(&id)?.clone();
                forest.area = mirror.ring(&forest.area).into();
                Some(Edit::Forest(id, Some(Box::new(forest))))
            }
            ObjectId::Land(id) => {
                let mut land = scenario.land.get(&id)?.clone();
                land.rings_mut().for_each(|ring| *ring = mirror.ring(ring));
                Some(Edit::Land(id, Some(Box::new(land))))
            }
            ObjectId::PointOfInterest(id) => {
                let mut point = scenario.points_of_interest.get(&id)?.clone();
                (*point.x, *point.y) = mirror.point(point.position()).into();
                point.heading = point.heading.map(|heading| mirror.heading(heading)).into();
                Some(Edit::PointOfInterest(id, Some(Box::new(point))))
            }
            // Nodes and roads are handled earlier, and agents and flows after all roads.
            ObjectId::Node(_) | ObjectId::Road(_) | ObjectId::Agent(_) | ObjectId::Flow(_) => None,
        }
    }
}
