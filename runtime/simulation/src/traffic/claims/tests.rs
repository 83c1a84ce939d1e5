//! Tests of junctions with hand-placed cars.

mod lights;
mod order;
mod room;

use super::Given;
use super::situation::EXIT_GAP;
use crate::agents::ClaimColumns;
use crate::clock::Clock;
use crate::fixed::Fixed;
use crate::modules::SignalControllers;
use crate::records::{AgentIndex, Refusal};
use crate::route::place_to_wait;
use crate::testing::Stand;
use crate::traffic::Lanes;
use roadwright_geometry::{DVec2, Pose};
use roadwright_scenario::junction::Light;
use roadwright_scenario::lane_graph::{LaneletIndex, NO_LANELET};
use roadwright_scenario::{Control, JunctionRules, RoadId, SignalMode, SignalPlan};

impl Stand {
    /// Places a car at the given distance before the junction, m. Its route leads straight on.
    fn comes(&mut self, id: u64, direction: DVec2, before: f64, speed: f64) -> AgentIndex {
        let lanelets = self.straight(direction);
        let s = self.ground.length(lanelets[0]) - before;
        self.car(id, &lanelets, s, speed)
    }

    /// Makes junctions decide, if a decision is due.
    fn decide(&mut self, clock: &Clock) {
        self.look();
        let given = Given {
            clock,
            fixed: Fixed {
                ground: &self.ground,
                types: &self.types,
            },
            routes: &self.routes,
            index: &self.index,
            signals: &self.signals,
        };
        let agents = &mut ClaimColumns::of(&mut self.agents);
        self.claims.update(given, agents, &mut self.people);
    }

    /// Takes a step in which junctions decide even if it is not on the beat.
    fn step(&mut self, step: u64) {
        let clock = crate::testing::clock(step);
        self.claims.is_overdue = true;
        self.decide(&clock);
        let modules = &mut SignalControllers::default();
        let arrivals = self.claims.arrivals();
        self.signals
            .update(&clock, &self.ground, arrivals, modules, &[]);
    }

    /// Advances the signals to a step, without vehicles.
    fn wait_until(&mut self, step: u64) {
        let clock = crate::testing::clock(step - 1);
        let modules = &mut SignalControllers::default();
        self.signals
            .update(&clock, &self.ground, Some(&[]), modules, &[]);
    }

    fn is_let_in(&self, agent: AgentIndex) -> bool {
        self.agents.claim[agent.index()].granted_to == 2
    }

    /// Moves a car to a distance beyond the start of its last lanelet.
    fn drive_out(&mut self, agent: AgentIndex, beyond: f64) {
        let index = agent.index();
        let route = self.routes.get(self.agents.progress[index].route);
        self.agents.position[index].lanelet = route.lanelets[2];
        self.agents.position[index].s = beyond;
        self.agents.progress[index].at = 2;
    }

    /// Fills the exit up to the junction with a queue of stationary cars. Their ids start at 100.
    fn fill_exit(&mut self, direction: DVec2) {
        let exit = self.straight(direction)[2];
        let length = self.ground.length(exit);
        let space = self.types.get(0).length + EXIT_GAP;
        let count = (length / space) as u64;
        for number in 0..count {
            let standing = self.comes(100 + number, direction, 1.0, 0.0);
            self.drive_out(standing, length - space * (number as f64 + 0.5));
        }
    }

    /// The direction of the street that has green.
    fn street_with_green(&self) -> DVec2 {
        let has_green = |direction: &DVec2| {
            let connection = self.straight(*direction)[1];
            let path = self.ground.contested(connection).unwrap();
            self.signals.light(&self.ground, path) == Light::Green
        };
        [DVec2::X, DVec2::Y].into_iter().find(has_green).unwrap()
    }

    /// Position along its connection where a car has to wait inside the junction, m.
    fn wall(&self, agent: AgentIndex) -> Option<f32> {
        let claim = &self.agents.claim[agent.index()];
        (claim.wall_at > 0).then_some(claim.wall_s)
    }

    fn refused(&self, agent: AgentIndex) -> Refusal {
        self.agents.claim[agent.index()].refused
    }

    /// Moves a car onto its connection, with its rear axle at `s`, m.
    fn drive_in(&mut self, agent: AgentIndex, s: f64) {
        let index = agent.index();
        let route = self.routes.get(self.agents.progress[index].route);
        self.agents.position[index].lanelet = route.lanelets[1];
        self.agents.position[index].s = s;
        self.agents.progress[index].at = 1;
    }

    /// Puts a car off the lanes, with its rear axle at `pose`.
    fn put_off_lanes(&mut self, agent: AgentIndex, pose: Pose) {
        let index = agent.index();
        self.agents.position[index].lanelet = NO_LANELET;
        self.agents.motion[index].pose = pose;
    }
}

fn ruled(control: Control) -> Stand {
    Stand::crossing_of(&JunctionRules {
        control: Some(control),
        ..JunctionRules::default()
    })
}

/// Like `two_crossings`, but with rules for the junctions.
fn two_crossings_of(apart: f64, rules: &JunctionRules) -> (Stand, [LaneletIndex; 5]) {
    let roads = [
        ((-100.0, 0.0), (0.0, 0.0), 1, 1),
        ((0.0, 0.0), (apart, 0.0), 1, 1),
        ((apart, 0.0), (apart + 100.0, 0.0), 1, 1),
        ((0.0, -100.0), (0.0, 100.0), 1, 1),
        ((apart, -100.0), (apart, 100.0), 1, 1),
    ];
    let stand = Stand::ruled(&roads, rules);
    let graph = stand.ground.graph();
    let lane = |road: u32| {
        let mut lanes = graph.lanes_of(RoadId(road));
        let heads_east = |id: &LaneletIndex| graph.line(*id).heading(0.0).abs() < 0.1;
        let all = lanes.find_map(|(_, pieces)| pieces.iter().copied().find(heads_east));
        all.unwrap()
    };
    let (approach, between, exit) = (lane(1), lane(2), lane(3));
    let across = |from, to| {
        let mut connections = graph.successors(from).iter().copied();
        let connection = connections.find(|&connection| graph.successors(connection).contains(&to));
        connection.unwrap()
    };
    let connections = [across(approach, between), across(between, exit)];
    (
        stand,
        [approach, connections[0], between, connections[1], exit],
    )
}

fn granted_to(stand: &Stand, agent: AgentIndex) -> u32 {
    stand.agents.claim[agent.index()].granted_to
}

/// The lanelets straight ahead from a road with a single entry.
fn straight_on(stand: &Stand, road: u32) -> Vec<LaneletIndex> {
    let graph = stand.ground.graph();
    let lanes = graph.lanes_of(RoadId(road)).flat_map(|(_, pieces)| pieces);
    let mut starts = lanes
        .copied()
        .filter(|&id| graph.predecessors(id).is_empty());
    let mut lanelets = vec![starts.next().unwrap()];
    let heading = graph.line(lanelets[0]).heading(0.0);
    let is_straight = |to: &&LaneletIndex| {
        let line = graph.line(**to);
        (line.heading(line.length()) - heading).abs() < 0.5
    };
    while let Some(&next) = graph
        .successors(lanelets[lanelets.len() - 1])
        .iter()
        .find(is_straight)
    {
        lanelets.push(next);
    }
    lanelets
}
