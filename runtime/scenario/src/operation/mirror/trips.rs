//! Trips after mirroring: unchanged, or reversed if one-way roads require it.

use super::Reflection;
use crate::agents::{Agent, LanePlace, Place};
use crate::edit::Edit;
use crate::ids::{NodeId, ObjectId};
use crate::operation::Objects;
use crate::road::{Road, RoadEnd};
use std::collections::BTreeSet;

impl Reflection<'_> {
    /// Returns the edits of agents and flows that are mirrored or whose roads are mirrored.
    pub(super) fn trips(&self, objects: &Objects) -> Vec<Edit> {
        let mut edits = Vec::new();
        for (&id, agent) in &self.scenario.agents {
            let places: Vec<Place> = agent.places().copied().collect();
            if let Some(places) = self.trip(&places, objects.contains(&ObjectId::Agent(id))) {
                let image = with_places(agent.clone(), places);
                edits.push(Edit::Agent(id, Some(Box::new(image))));
            }
        }
        for (&id, flow) in &self.scenario.flows {
            let places = flow.places().map(|place| *place);
            if let Some(places) = self.trip(&places, objects.contains(&ObjectId::Flow(id))) {
                let mut image = flow.clone();
                for (place, new) in image.places_mut().into_iter().zip(places) {
                    *place = new;
                }
                edits.push(Edit::Flow(id, Some(Box::new(image))));
            }
        }
        edits
    }

    /// Returns the places of a mirrored trip; `None` if they are unchanged.
    fn trip(&self, places: &[Place], is_chosen: bool) -> Option<Vec<Place>> {
        let image = |place: &Place| self.place(*place, is_chosen);
        let mut there: Vec<Place> = places.iter().map(image).collect();
        let on_mirrored =
            |place: &Place| matches!(place, Place::Lane(at) if self.roads.contains(&at.road));
        if !self.turned.is_empty() && places.iter().any(on_mirrored) && !self.can_drive(&there) {
            let back = there.iter().rev().map(|place| self.facing_back(*place));
            let back: Vec<Place> = back.collect();
            if self.can_drive(&back) {
                there = back;
            }
        }
        (there != places).then_some(there)
    }

    /// Returns a place after mirroring. A place on open ground changes only if its agent is mirrored.
    fn place(&self, place: Place, is_chosen: bool) -> Place {
        match place {
            Place::Ground(ground) if is_chosen => {
                let p = self.mirror.point(ground.position());
                Place::ground(p.x, p.y, self.mirror.heading(ground.heading.get()))
            }
            Place::Lane(at) if self.roads.contains(&at.road) => {
                let side = self.scenario.about().driving_side;
                let road = self.scenario.network().road(at.road);
                let lane =
                    road.map(|road| super::lanes::name_after(road, at.s.get(), at.lane, side));
                Place::lane(at.road, lane.unwrap_or(at.lane), at.s.get())
            }
            Place::Lane(at) => match self.stretched.get(&at.road) {
                // As when a road is bent by hand, the place keeps its relative position along the
                // road.
                Some((before, now)) => {
                    Place::lane(at.road, at.lane, (at.s * *now / before).clamp(0.0, *now))
                }
                None => place,
            },
            Place::Ground(_) => place,
        }
    }

    /// Returns the place for the reversed trip. It is on the other side of the road, if the road
    /// has a lane there.
    fn facing_back(&self, place: Place) -> Place {
        let Place::Lane(at) = place else {
            return place;
        };
        let side = self.scenario.about().driving_side;
        let is_opposite = |road: &Road| {
            let lane_driven = |lane: i8| {
                let lane = road
                    .lane(lane, at.s.get())
                    .filter(|lane| lane.kind.is_drivable());
                lane.map(|lane| lane.is_forward(side))
            };
            lane_driven(-at.lane).is_some_and(|other| lane_driven(at.lane) == Some(!other))
        };
        match self.road_after(at) {
            Some(road) if is_opposite(road) => Place::lane(at.road, -at.lane, at.s.get()),
            _ => place,
        }
    }

    /// Returns the road of a place as it is after mirroring.
    fn road_after(&self, at: LanePlace) -> Option<&Road> {
        let image = self.images.get(&at.road);
        image.or_else(|| self.scenario.network().road(at.road))
    }

    /// Whether roads lead from each place to the next one, given the directions of lanes. Open ground is
    /// always passable.
    fn can_drive(&self, places: &[Place]) -> bool {
        places.windows(2).all(|pair| match (pair[0], pair[1]) {
            (Place::Lane(from), Place::Lane(to)) => self.leads(from, to),
            _ => true,
        })
    }

    fn leads(&self, from: LanePlace, to: LanePlace) -> bool {
        let side = self.scenario.about().driving_side;
        let lane_driven = |at: LanePlace| {
            let road = self.road_after(at)?;
            Some((road, road.lane(at.lane, at.s.get())?.is_forward(side)))
        };
        let (Some((start, ahead)), Some((goal, arrives))) = (lane_driven(from), lane_driven(to))
        else {
            // The lane does not exist. This is reported elsewhere.
            return true;
        };
        let is_before = if ahead { from.s < to.s } else { from.s > to.s };
        if from.road == to.road && ahead == arrives && is_before {
            return true;
        }
        let end = |forward: bool| {
            if forward {
                RoadEnd::End
            } else {
                RoadEnd::Start
            }
        };
        // The node where the lane of the goal begins.
        self.is_reached(start.node_at(end(ahead)), goal.node_at(end(!arrives)))
    }

    /// Whether lanes lead from a node to another one.
    fn is_reached(&self, from: NodeId, to: NodeId) -> bool {
        let (network, side) = (self.scenario.network(), self.scenario.about().driving_side);
        let (mut seen, mut open) = (BTreeSet::from([from]), vec![from]);
        while let Some(node) = open.pop() {
            if node == to {
                return true;
            }
            for (id, end) in network.ends_at(node) {
                let image = self.images.get(&id).or_else(|| network.road(id));
                let Some(road) = image else { continue };
                let (lanes, far) = match end {
                    RoadEnd::Start => (road.lanes_forward(0.0, side), road.to),
                    RoadEnd::End => (road.lanes_backward(road.length(), side), road.from),
                };
                if lanes > 0 && seen.insert(far) {
                    open.push(far);
                }
            }
        }
        false
    }
}

/// Returns the agent with the given places as its trip. The number of places must be unchanged.
fn with_places(mut agent: Agent, places: Vec<Place>) -> Agent {
    for (place, new) in agent.places_mut().zip(places) {
        *place = new;
    }
    agent
}
