//! Explanations of what agents do at given times and what they wait for.

use crate::terminal::say;
use roadwright_plugin_api::NOTHING;
use roadwright_simulation::{Inspection, Observer, World};

/// Explains agents during the run.
pub(super) struct Explainer {
    /// Agents with the times (s) at which they are explained, latest time first.
    asked: Vec<(u64, f64)>,
}

impl Explainer {
    pub(super) fn new(asked: &[(u64, f64)]) -> Self {
        let mut asked = asked.to_vec();
        asked.sort_by(|a, b| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0)));
        Self { asked }
    }

    fn tell(&mut self, world: &World) {
        while let Some(&(agent, time)) = self.asked.last()
            // Time is a sum of steps, so without the margin an explanation could be a step late.
            && time <= world.time() + 1e-9
        {
            self.asked.pop();
            match world.inspect(agent) {
                Some(seen) => say!("{}", explained(&seen, world)),
                None => say!("agent {agent} is not driving at {time:.2} s"),
            }
        }
    }

    /// Reports the explanations that were requested for times after the end of the run.
    pub(super) fn finish(&self) {
        for (agent, time) in &self.asked {
            say!("agent {agent} at {time:.2} s: the run ended before that");
        }
    }
}

impl Observer for Explainer {
    fn begin(&mut self, world: &World) {
        self.tell(world);
    }

    fn after_step(&mut self, world: &World) {
        self.tell(world);
    }
}

/// Describes an agent in one line.
fn explained(seen: &Inspection, world: &World) -> String {
    let input = &seen.input;
    let vehicles = world.snapshot().vehicles;
    let record = vehicles.iter().find(|vehicle| vehicle.agent == seen.agent);
    let place = record.map_or(String::new(), |vehicle| {
        let at = vehicle.pose.position;
        match vehicle.lane {
            Some((road, lane)) => format!(" on {road} lane {lane}, {:.1} m along", vehicle.s),
            None => format!(" at ({:.1}, {:.1}) m", at.x, at.y),
        }
    });
    let mut text = format!(
        "agent {} at {:.2} s:{place}; {:.1} of {:.1} m/s, {} wants {:+.2} m/s^2",
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
