//! Controllers steer and accelerate.

use crate::agents::{Agents, Command};
use crate::clock::Clock;
use crate::modules::{Modules, Rota, Rows};
use crate::perception::Surroundings;
use roadwright_agent::Step;
use roadwright_plugin_api::{ControllerInput, ControllerOutput};

/// What the stage keeps between steps.
#[derive(Default)]
pub(crate) struct Controlling {
    rota: Rota,
    pub(crate) rows: Rows<ControllerInput, ControllerOutput>,
    /// Speed that the road allowed, for each row.
    road_speeds: Vec<f64>,
}

/// Asks the controllers about the agents whose turn it is.
pub(crate) fn control(
    clock: &Clock,
    modules: &Modules,
    helpers: Option<&rayon::ThreadPool>,
    stage: &mut Controlling,
    surroundings: Surroundings<'_>,
    agents: &mut Agents,
) {
    let pool = &modules.pools.controller;
    stage.rota.update(pool, agents);
    for (number, instance) in pool.instances.iter().enumerate() {
        let due = stage.rota.due(number, clock.step);
        if due.0.is_empty() {
            continue;
        }
        let (module, step) = (instance.module(), clock.moment(instance.rate));
        let lookahead = module.lookahead();
        let seen = surroundings.with(agents);
        let road_speeds = stage.rows.ask(
            helpers,
            module.logic.asks_whole(),
            due,
            |agent| seen.allowed_input(agent, lookahead),
            |(indices, ids), inputs, outputs| {
                let rows = indices.iter().zip(inputs.iter_mut());
                let allowed = rows.map(|(&agent, input)| seen.apply_wish(agent, input));
                let allowed: Vec<f64> = allowed.collect();
                let step = Step {
                    indices,
                    ids,
                    ..step
                };
                module.step(&step, inputs, outputs);
                allowed
            },
        );
        stage.road_speeds.clear();
        stage.road_speeds.extend(road_speeds.iter().flatten());
        let rows = stage.rows.outputs.iter().zip(&stage.road_speeds);
        for (&agent, (output, road_speed)) in due.0.iter().zip(rows) {
            agents.command[agent as usize] = Command::from(*output);
            let statistics = &mut agents.statistics[agent as usize];
            statistics.road_speed_sum += road_speed;
            statistics.samples += 1;
        }
    }
}
