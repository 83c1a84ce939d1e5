//! Obstacles and other vehicles around agents, in the form that move trees test for contacts.

use crate::dynamics::Bodies;
use crate::records::AgentIndex;
use crate::vehicle_type::VehicleTypes;
use roadwright_geometry::math::{cos, sin_cos};
use roadwright_geometry::oriented_box::OrientedBox;
use roadwright_geometry::{DVec2, left_of};
use roadwright_ground::{Ground, Owner};
use roadwright_moves::{Convex, Heuristic, HeuristicGoal, Library, Mover, Surroundings};
use roadwright_planning::open_ground::{Body, Circle, Heights, Shape};
use roadwright_scenario::ObstacleId;
use std::collections::BTreeMap;
use std::f64::consts::{FRAC_PI_4, FRAC_PI_8};
use std::sync::Arc;

/// Fixed obstacles of a ground for each vehicle type. They are derived data, which a restored world
/// recomputes.
#[derive(Default)]
pub(super) struct Around {
    ground: Option<Arc<Ground>>,
    by_type: BTreeMap<u16, OfType>,
}

struct OfType {
    fixed: Surroundings,
    /// Loose obstacles in their initial positions.
    loose: Vec<(ObstacleId, Vec<Convex>)>,
    /// Heuristics computed so far, the oldest one first; `None` if a heuristic could not be
    /// computed.
    heuristics: Vec<(HeuristicKey, Option<Heuristic>)>,
}

/// The agent whose surrounding obstacles are collected.
pub(super) struct Viewer<'a> {
    pub(super) agent: AgentIndex,
    pub(super) bodies: Bodies<'a>,
    pub(super) types: &'a VehicleTypes,
    /// Distance beyond which stationary bodies are left out, m.
    pub(super) reach: f64,
    /// Duration of the plan, s.
    pub(super) seconds: f64,
}

impl Around {
    /// Returns the current obstacles and bodies around an agent, and the heuristic for its search
    /// if one is requested.
    pub(super) fn of(
        &mut self,
        ground: &Arc<Ground>,
        viewer: &Viewer<'_>,
        asked: Option<&AskedHeuristic<'_>>,
    ) -> Scene<'_> {
        let is_same = |known: &Arc<Ground>| Arc::ptr_eq(known, ground);
        if !self.ground.as_ref().is_some_and(is_same) {
            self.ground = Some(ground.clone());
            self.by_type.clear();
        }
        let number = viewer.bodies.agents.identity[viewer.agent.index()].vehicle_type;
        let own = self
            .by_type
            .entry(number)
            .or_insert_with(|| OfType::new(ground, viewer.types.ground_body(number)));
        let mut movers = viewer.movers();
        movers.extend(own.loose_bodies(viewer));
        own.fixed.set_movers(movers);
        let number = asked.map(|asked| own.prepare(asked));
        Scene {
            around: &own.fixed,
            heuristic: number.and_then(|number| own.heuristics[number].1.as_ref()),
        }
    }
}

/// Obstacles and bodies around an agent, and the heuristic of its search.
pub(super) struct Scene<'a> {
    pub(super) around: &'a Surroundings,
    pub(super) heuristic: Option<&'a Heuristic>,
}

/// Parameters of the heuristic that a search needs.
pub(super) struct AskedHeuristic<'a> {
    pub(super) library: &'a Library,
    /// Hash of the library.
    pub(super) hash: &'a str,
    /// Horizon of the search, in frames.
    pub(super) horizon: u32,
    pub(super) goal: HeuristicGoal,
}

/// Key that identifies a heuristic among those of a vehicle type.
#[derive(PartialEq)]
struct HeuristicKey {
    hash: String,
    horizon: u32,
    goal: HeuristicGoal,
}

/// Maximum number of heuristics that are kept for a vehicle type. The oldest one is replaced by a
/// new one.
const MOST_HEURISTICS: usize = 16;

impl OfType {
    fn new(ground: &Ground, body: Body) -> Self {
        let (mut fixed, mut loose) = (Vec::new(), Vec::new());
        ground.obstacles().for_each_upright(|upright| {
            if !is_in_the_way(upright.heights, body) {
                return;
            }
            let outlines = outlines(&upright.shape);
            match upright.owner {
                Owner::Obstacle(id) if upright.is_loose => loose.push((id, outlines)),
                Owner::Obstacle(_) | Owner::Tree(..) => fixed.extend(outlines),
            }
        });
        Self {
            fixed: Surroundings::of(fixed),
            loose,
            heuristics: Vec::new(),
        }
    }

    /// Returns the index of the requested heuristic, and computes the heuristic if it is new.
    fn prepare(&mut self, asked: &AskedHeuristic<'_>) -> usize {
        let is_asked = |key: &HeuristicKey| {
            key.hash == asked.hash && key.horizon == asked.horizon && key.goal == asked.goal
        };
        let known = self.heuristics.iter().position(|(key, _)| is_asked(key));
        known.unwrap_or_else(|| {
            if self.heuristics.len() == MOST_HEURISTICS {
                self.heuristics.remove(0);
            }
            let &AskedHeuristic {
                library,
                hash,
                horizon,
                goal,
            } = asked;
            let key = HeuristicKey {
                hash: hash.to_owned(),
                horizon,
                goal,
            };
            let made = Heuristic::of(&self.fixed, library, horizon, goal);
            self.heuristics.push((key, made));
            self.heuristics.len() - 1
        })
    }

    /// Loose obstacles at their current positions.
    fn loose_bodies(&self, viewer: &Viewer<'_>) -> Vec<Mover> {
        let Bodies {
            ground, dynamics, ..
        } = viewer.bodies;
        let mut pushed = BTreeMap::new();
        for (number, shape) in dynamics.rigid.displaced().shapes() {
            if let Some(kind) = ground.obstacles().loose(number) {
                pushed.insert(kind.id, outlines(&shape));
            }
        }
        let now = self.loose.iter().flat_map(|(id, outlines)| {
            let outlines = pushed.get(id).unwrap_or(outlines);
            outlines.iter().map(|outline| Mover {
                outline: *outline,
                velocity: DVec2::ZERO,
            })
        });
        now.collect()
    }
}

/// Whether a vehicle cannot drive over or pass under an obstacle.
pub(super) fn is_in_the_way(heights: Heights, body: Body) -> bool {
    heights.top > body.ground_clearance && heights.base < body.height
}

impl Viewer<'_> {
    /// All other bodies that may come near the agent within the duration of a plan.
    fn movers(&self) -> Vec<Mover> {
        let own = self.bodies.pose(self.agent).position;
        let mut movers = Vec::new();
        let mut add = |body: &OrientedBox, velocity: DVec2| {
            let size = body.half_length + body.half_width;
            let near = self.reach + size + velocity.length() * self.seconds;
            if (body.centre - own).length_squared() < near * near {
                movers.push(Mover {
                    outline: rectangle(body),
                    velocity,
                });
            }
        };
        for agent in self.bodies.agents.driving() {
            if agent == self.agent {
                continue;
            }
            let kind = self.bodies.agents.identity[agent.index()].vehicle_type;
            let speed = self.bodies.agents.motion[agent.index()].speed;
            let [sideways, _] = self.bodies.slip(agent, self.types.get(kind));
            let trailers = self.types.train(kind).trailers().len() as u8;
            for part in 0..=trailers {
                let body = self.bodies.body(agent, part, self.types);
                let drift = if part == 0 { sideways } else { 0.0 };
                let velocity = body.forward * speed + left_of(body.forward) * drift;
                add(&body, velocity);
            }
        }
        for train in self.bodies.dynamics.standing.iter() {
            for (_, body) in train.bodies(self.types) {
                add(&body, DVec2::ZERO);
            }
        }
        movers
    }
}

fn rectangle(body: &OrientedBox) -> Convex {
    let along = body.forward * body.half_length;
    let across = left_of(body.forward) * body.half_width;
    Convex::quadrilateral([
        body.centre + along + across,
        body.centre - along + across,
        body.centre - along - across,
        body.centre + along - across,
    ])
}

/// Outlines of a shape: a circle as the octagon around it, a polygon as its edges.
pub(super) fn outlines(shape: &Shape) -> Vec<Convex> {
    match shape {
        Shape::Box(body) => vec![rectangle(body)],
        Shape::Circle(circle) => vec![octagon(circle)],
        Shape::Polygon(corners) => {
            let next = corners.iter().cycle().skip(1);
            let edges = corners.iter().zip(next);
            edges.map(|(&from, &to)| Convex::line(from, to)).collect()
        }
        // Forecasts are not obstacles.
        Shape::Teardrop(_) => Vec::new(),
    }
}

fn octagon(circle: &Circle) -> Convex {
    let radius = circle.radius / cos(FRAC_PI_8);
    Convex::hull(std::array::from_fn(|corner| {
        let (sin, cos) = sin_cos(FRAC_PI_4 * corner as f64);
        circle.centre + DVec2::new(cos, sin) * radius
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_octagon_contains_its_circle() {
        let circle = Circle {
            centre: DVec2::new(3.0, -2.0),
            radius: 1.5,
        };
        let outline = octagon(&circle);
        for degree in 0..360 {
            let (sin, cos) = sin_cos(f64::from(degree).to_radians());
            let point = circle.centre + DVec2::new(cos, sin) * 1.4999;
            assert!(outline.meets(&Convex::line(point, point)), "{degree}");
        }
    }
}
