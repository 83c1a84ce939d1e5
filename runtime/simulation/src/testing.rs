//! A small world for unit tests: hand-drawn roads with hand-placed cars, without modules.

#[path = "../../ground/src/testing.rs"]
mod drawn;

pub(crate) use drawn::{draw_street, equip, put_post, street};

use crate::agents::{AgentRow, Agents};
use crate::clock::Clock;
use crate::dynamics::{Bodies, Dynamics};
use crate::perception::View;
use crate::records::{AgentIndex, Identity, LanePosition, Motion, Phase};
use crate::route::{Goal, Leg, Route, Routes, Travel};
use crate::traffic::{Claims, Index, People, SignalStates};
use crate::vehicle_type::VehicleTypes;
use roadwright_geometry::DVec2;
use roadwright_ground::Ground;
use roadwright_scenario::lane_graph::{LaneletIndex, NO_LANELET};
use roadwright_scenario::operation::draw::RoadStyle;
use roadwright_scenario::{
    CrossSection, DynamicsLevel, Edit, JunctionRules, Node, Obstacle, ObstacleId, Scenario,
};
use std::sync::Arc;

/// Endpoints of a straight road, and its numbers of forward and backward lanes.
pub(crate) type Straight = ((f64, f64), (f64, f64), usize, usize);

/// Two streets of 200 m that cross in the middle.
const CROSSING: [Straight; 2] = [
    ((-100.0, 0.0), (100.0, 0.0), 1, 1),
    ((0.0, -100.0), (0.0, 100.0), 1, 1),
];

/// A test world: roads with cars.
pub(crate) struct Stand {
    pub(crate) ground: Arc<Ground>,
    pub(crate) types: VehicleTypes,
    pub(crate) routes: Routes,
    pub(crate) index: Index,
    pub(crate) agents: Agents,
    pub(crate) dynamics: Dynamics,
    pub(crate) claims: Claims,
    pub(crate) signals: SignalStates,
    pub(crate) people: People,
}

/// Clock with steps of 0.1 s.
pub(crate) fn clock(step: u64) -> Clock {
    Clock {
        dt: 0.1,
        seed: 1,
        begins_at: 12.0,
        step,
    }
}

/// Creates a scenario with straight roads of the given lane width (m), and with rules for their
/// junctions.
fn drawn_roads(width: f64, roads: &[Straight], rules: &JunctionRules) -> Scenario {
    let mut scenario = Scenario::new("stand");
    for &(from, to, forward, backward) in roads {
        let style = RoadStyle {
            section: CrossSection::driving(forward, backward, width),
            ..street(forward, backward)
        };
        draw_street(&mut scenario, from, to, &style);
    }
    let network = scenario.network();
    let crossings = network
        .nodes()
        .filter(|(id, _)| network.ends_at(*id).len() > 2);
    let edits: Vec<Edit> = crossings
        .map(|(id, node)| {
            let rules = rules.clone();
            Edit::Node(
                id,
                Some(Node {
                    rules,
                    ..node.clone()
                }),
            )
        })
        .collect();
    scenario.apply(Edit::Batch(edits)).unwrap();
    scenario
}

impl Stand {
    /// Creates straight roads without cars.
    pub(crate) fn on(roads: &[Straight]) -> Self {
        Self::ruled(roads, &JunctionRules::default())
    }

    /// Creates straight roads without cars, with rules for their junctions. Roads are numbered from
    /// 1.
    pub(crate) fn ruled(roads: &[Straight], rules: &JunctionRules) -> Self {
        Self::with_lanes(3.25, roads, rules)
    }

    /// Like `ruled`, with a lane width in metres.
    pub(crate) fn with_lanes(width: f64, roads: &[Straight], rules: &JunctionRules) -> Self {
        Self::of(&drawn_roads(width, roads, rules))
    }

    /// Like `crossing`, but with obstacles, which are numbered from 1.
    pub(crate) fn crossing_among(obstacles: Vec<Obstacle>) -> Self {
        let mut scenario = drawn_roads(3.25, &CROSSING, &JunctionRules::default());
        for (number, obstacle) in (1..).zip(obstacles) {
            let edit = Edit::Obstacle(ObstacleId(number), Some(Box::new(obstacle)));
            scenario.apply(edit).unwrap();
        }
        Self::of(&scenario)
    }

    fn of(scenario: &Scenario) -> Self {
        let ground = Ground::new(scenario);
        Self {
            types: VehicleTypes::new(scenario),
            routes: Routes::default(),
            index: Index::new(ground.graph().lanelets().len()),
            agents: Agents::default(),
            dynamics: Dynamics::default(),
            claims: Claims::new(ground.junction_count()),
            signals: SignalStates::new(&ground),
            people: People::default(),
            ground,
        }
    }

    /// Creates two streets of 200 m that cross in the middle.
    pub(crate) fn crossing() -> Self {
        Self::crossing_of(&JunctionRules::default())
    }

    /// Like `crossing`, but with the given rules at the junction.
    pub(crate) fn crossing_of(rules: &JunctionRules) -> Self {
        Self::ruled(&CROSSING, rules)
    }

    /// Lanelets of the route straight across the junction in the given direction.
    pub(crate) fn straight(&self, direction: DVec2) -> [LaneletIndex; 3] {
        let graph = self.ground.graph();
        let crosses = |id: &LaneletIndex| {
            let line = graph.line(*id);
            let chord = line.position(line.length()) - line.position(0.0);
            graph.lanelet(*id).is_connection() && chord.normalize().dot(direction) > 0.99
        };
        let across = (graph.indices()).find(crosses);
        let across = across.expect("a connection straight across");
        [
            graph.predecessors(across)[0],
            across,
            graph.successors(across)[0],
        ]
    }

    /// Lanelets of a road from right to left, all of which must have the same direction.
    pub(crate) fn lanes_from_the_right(&self) -> Vec<LaneletIndex> {
        let graph = self.ground.graph();
        let all = graph.indices();
        let mut right = all
            .clone()
            .find(|&id| graph.lanelet(id).right == NO_LANELET);
        let mut lanes = Vec::new();
        while let Some(lane) = right {
            lanes.push(lane);
            let left = graph.lanelet(lane).left;
            right = (left != NO_LANELET).then_some(left);
        }
        lanes
    }

    /// Adds a car at the given distance along the first of the lanelets. Its goal is at the end of the last
    /// lanelet.
    pub(crate) fn car(
        &mut self,
        id: u64,
        lanelets: &[LaneletIndex],
        s: f64,
        speed: f64,
    ) -> AgentIndex {
        let last = lanelets[lanelets.len() - 1];
        let end = lanelets.len() as u32 - 1;
        let goal = Goal::Lane {
            lanelet: last,
            s: self.ground.length(last) - 1.0,
        };
        let route = Route {
            goals: [goal].into(),
            legs: [Leg::Lanes { end }].into(),
            lanelets: lanelets.into(),
        };
        let mut row = AgentRow {
            identity: Identity {
                id,
                phase: Phase::Driving,
                ..Identity::default()
            },
            motion: Motion {
                pose: self.ground.line(lanelets[0]).pose(s),
                speed,
                ..Motion::default()
            },
            position: LanePosition {
                lanelet: lanelets[0],
                s,
                ..LanePosition::default()
            },
            ..AgentRow::default()
        };
        let mut travel = Travel {
            routes: &mut self.routes,
            progress: &mut row.progress,
            claim: &mut row.claim,
        };
        travel.plan(route);
        let agent = self.agents.insert(row);
        self.dynamics.insert(agent, DynamicsLevel::OneTrack);
        agent
    }

    /// Updates the position index.
    pub(crate) fn look(&mut self) {
        let bodies = Bodies {
            ground: &self.ground,
            agents: self.agents.lent(),
            dynamics: &self.dynamics,
        };
        self.index.rebuild(&bodies, &self.types);
    }

    /// Inputs of perception, in the state of the last call of `look`.
    pub(crate) fn view(&self) -> View<'_> {
        View {
            ground: &self.ground,
            types: &self.types,
            agents: self.agents.lent(),
            routes: &self.routes,
            index: &self.index,
            dynamics: &self.dynamics,
            claims: None,
        }
    }
}
