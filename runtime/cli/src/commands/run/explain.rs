//! Explanations of the actions of agents at given times, and of their waits.

use crate::agent_times::ExplainedAgent;
use crate::terminal::say;
use roadwright_plugin_api::NOTHING;
use roadwright_simulation::{Inspection, Observer, WaitChain, WaitLink, World};
use serde::Serialize;

/// Explains agents during the run.
pub(super) struct Explainer {
    /// Agents to explain, each with a time, latest first. Agents without a time are explained at
    /// the end of the run.
    asked: Vec<ExplainedAgent>,
    /// Whether explanations are printed as text.
    prints: bool,
    explanations: Vec<Explanation>,
}

/// The action of an agent at a given time, and the chain of vehicles that it waits for.
#[derive(Debug, Serialize)]
pub(super) struct Explanation {
    agent: u64,
    /// Simulated time of the explanation, s.
    time: f64,
    /// The description printed without `--json`.
    text: String,
    /// Reason, in one word, why the last vehicle of the chain is stationary: `deadlock` if that
    /// vehicle waits for another vehicle of the chain, `controller` if only its own controller
    /// stops it.
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<&'static str>,
    /// The agent, the vehicle that it waits for, and so on; empty if the agent does not drive.
    chain: Vec<Link>,
    /// Ids of the vehicles that wait for each other in a ring.
    deadlock: Vec<u64>,
}

/// A vehicle in a chain of waiting vehicles.
#[derive(Debug, Serialize)]
struct Link {
    agent: u64,
    /// Position of the vehicle's front, m.
    at: [f64; 2],
    road: Option<u32>,
    lane: Option<i8>,
    /// Speed of the vehicle, m/s.
    speed: f64,
    /// Time at which the vehicle came to a stop, s; `null` while it drives.
    since: Option<f64>,
    /// Reason why the vehicle has to stop, in one word; `null` if there is none.
    cause: Option<&'static str>,
    /// The reason why the vehicle has to stop, as text; `null` if there is none.
    waits_for: Option<String>,
    /// Position where the vehicle has to stop, m.
    stops_at: Option<[f64; 2]>,
    /// Ids of the agents that the vehicle waits for.
    agents: Vec<u64>,
}

impl Explainer {
    pub(super) fn new(asked: &[ExplainedAgent], prints: bool) -> Self {
        let mut asked = asked.to_vec();
        let time = |asked: &ExplainedAgent| asked.time.unwrap_or(f64::INFINITY);
        asked.sort_by(|a, b| time(b).total_cmp(&time(a)).then(b.agent.cmp(&a.agent)));
        Self {
            asked,
            prints,
            explanations: Vec::new(),
        }
    }

    fn explain_due(&mut self, world: &World) {
        while let Some(asked) = self.asked.last()
            // Time is a sum of steps, so without the margin an explanation could be a step late.
            && asked.time.is_some_and(|time| time <= world.time() + 1e-9)
        {
            let agent = asked.agent;
            self.asked.pop();
            self.explain(agent, world);
        }
    }

    fn explain(&mut self, agent: u64, world: &World) {
        let explanation = Explanation::of(agent, world);
        if self.prints {
            say!("{}", explanation.text);
        }
        self.explanations.push(explanation);
    }

    /// Explains the agents without a given time, and returns all explanations. Reports agents whose
    /// time was not reached. Must be called at the end of the run.
    pub(super) fn finish(mut self, world: &World) -> Vec<Explanation> {
        for ExplainedAgent { agent, time } in std::mem::take(&mut self.asked) {
            match time {
                None => self.explain(agent, world),
                Some(time) => say!("agent {agent} at {time:.2} s: the run ended before that"),
            }
        }
        self.explanations
    }
}

impl Observer for Explainer {
    fn begin(&mut self, world: &World) {
        self.explain_due(world);
    }

    fn after_step(&mut self, world: &World) {
        self.explain_due(world);
    }
}

impl Explanation {
    fn of(agent: u64, world: &World) -> Self {
        let time = world.time();
        let found = world.inspect(agent).zip(world.wait_chain(agent));
        let Some((seen, chain)) = found else {
            return Self {
                agent,
                time,
                text: format!("agent {agent} is not driving at {time:.2} s"),
                cause: None,
                chain: Vec::new(),
                deadlock: Vec::new(),
            };
        };
        let deadlocked = chain.deadlocked().iter();
        Self {
            agent,
            time,
            text: format!("{}{}", described(&seen, world), waiting(&chain)),
            cause: Some(chain.cause()),
            deadlock: deadlocked.map(|link| link.agent).collect(),
            chain: chain.links.into_iter().map(Link::from).collect(),
        }
    }
}

impl From<WaitLink> for Link {
    fn from(link: WaitLink) -> Self {
        let stop = link.stop.as_ref();
        Self {
            agent: link.agent,
            at: link.at.to_array(),
            road: link.lane.map(|(road, _)| road.0),
            lane: link.lane.map(|(_, lane)| lane),
            speed: link.speed,
            since: link.since,
            cause: stop.map(|stop| stop.reason.name()),
            waits_for: stop.map(|stop| stop.reason.to_string()),
            stops_at: stop.map(|stop| stop.at.to_array()),
            agents: stop.map_or(Vec::new(), |stop| stop.reason.agents().to_vec()),
        }
    }
}

/// Describes an agent in one line.
fn described(seen: &Inspection, world: &World) -> String {
    let input = &seen.input;
    let vehicles = world.snapshot().vehicles;
    let record = vehicles.iter().find(|vehicle| vehicle.agent == seen.agent);
    let place = record.map_or(String::new(), |vehicle| {
        let at = vehicle.pose.position;
        match vehicle.lane {
            Some((road, lane)) => {
                format!(" on {road} lane {lane}, {:.1} m from its start", vehicle.s)
            }
            None => format!(" at ({:.1}, {:.1}) m", at.x, at.y),
        }
    });
    let mut text = format!(
        "agent {} at {:.2} s:{place}; speed {:.1} m/s, allowed {:.1} m/s; {} requests {:+.2} m/s^2",
        seen.agent,
        world.time(),
        input.speed,
        input.road_speed,
        seen.controller,
        seen.command.acceleration
    );
    for (name, distance) in [
        ("leader", input.leader_gap),
        ("obstacle", input.obstacle_distance),
        ("has to stop", input.stop_distance),
    ] {
        if distance < NOTHING {
            text += &format!("; {name} in {distance:.1} m");
        }
    }
    if let Some(waits) = &seen.waits {
        text += &format!("; waits for {waits}");
    }
    text
}

/// Describes the chain of vehicles that a stationary agent waits for, one line per vehicle; empty
/// if the agent drives.
fn waiting(chain: &WaitChain) -> String {
    if !chain.begins_standing() {
        return String::new();
    }
    let mut text: String = chain.links.iter().map(link_line).collect();
    let members: Vec<String> = (chain.deadlocked().iter())
        .map(|link| link.agent.to_string())
        .collect();
    if !members.is_empty() {
        let members = members.join(", ");
        text += &format!("\n  deadlock: agents {members} wait for each other");
    }
    text
}

fn link_line(link: &WaitLink) -> String {
    let place = match link.lane {
        Some((road, lane)) => format!(" on {road} lane {lane}"),
        None => String::new(),
    };
    let since = match link.since {
        Some(since) => format!("stationary since {since:.1} s"),
        None => format!("drives at {:.1} m/s", link.speed),
    };
    let at = link.at;
    format!(
        "\n  agent {}{place} at ({:.1}, {:.1}) m, {since}: {}",
        link.agent,
        at.x,
        at.y,
        link.why()
    )
}
