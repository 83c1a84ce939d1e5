//! Script functions for the parameters of the script, and for modules and parameters in the agent's
//! other slots.

use super::Registrar;
use super::values::{Outcome, fail, number, slot_of};
use crate::script::agent::Agent;
use crate::script::budget::charge;
use rhai::Dynamic;
use roadwright_agent::{Effect, Slot};

/// Cost of replacing the module of a single agent, in operations.
const MODULE: u64 = 300;

/// Registers the functions that read the parameters of the script, set parameters of modules in other slots,
/// and replace modules.
pub(super) fn modules(api: &mut Registrar) {
    call!(
        api,
        "parameter",
        "agent.parameter(key: string) -> float",
        "Value of a parameter that the script declares.",
        |a: &mut Agent, key: &str| parameter_of(a, key)
    );
    call!(
        api,
        "set_parameter",
        "agent.set_parameter(slot: string, key: string, value: float)",
        "Sets a parameter of the agent's planner, controller or fitness, for this agent only.",
        |a: &mut Agent, slot: &str, key: &str, value: Dynamic| -> Outcome<()> {
            let slot = slot_of(slot)?;
            if slot == Slot::Behaviour {
                return fail(
                    "a script cannot set its own parameters; set them in its stack".into(),
                );
            }
            charge(MODULE)?;
            a.ask(Effect::SetParameter {
                slot,
                key: key.into(),
                value: number(&value)?,
            });
            Ok(())
        }
    );
    call!(
        api,
        "use_module",
        "agent.use_module(slot: string, id: string)",
        "Uses another module in a slot, for this agent only; another behaviour begins with an empty memory.",
        |a: &mut Agent, slot: &str, id: &str| -> Outcome<()> {
            charge(MODULE)?;
            a.ask(Effect::UseModule {
                slot: slot_of(slot)?,
                module: id.into(),
            });
            Ok(())
        }
    );
}

/// Returns a parameter of the script itself.
pub(super) fn parameter_of(agent: &Agent, key: &str) -> Outcome<f64> {
    let content = agent.content();
    let found = content.parameters.iter().find(|(known, _)| *known == key);
    match found {
        Some((_, value)) => Ok(*value),
        None => fail(format!("no parameter is called \"{key}\"")),
    }
}
