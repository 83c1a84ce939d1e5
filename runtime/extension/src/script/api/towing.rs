//! Trailers: uncoupling and coupling.

use super::Registrar;
use super::values::{Outcome, fail};
use crate::script::agent::Agent;
use roadwright_agent::Effect;

/// Registers the commands for the agent's trailers.
pub(super) fn verbs(api: &mut Registrar) {
    call!(
        api,
        "uncouple",
        "agent.uncouple()",
        "Uncouples the last trailer, which stays where it is with its brakes on and may block \
         traffic. Only at walking speed (1.4 m/s) or below. The result is logged, and `trailers` \
         is the number that remain.",
        |a: &mut Agent| a.ask(Effect::Uncouple(None))
    );
    call!(
        api,
        "uncouple",
        "agent.uncouple(trailer: int)",
        "Uncouples this trailer and all behind it, as uncouple() does; 1 is the first trailer behind the vehicle.",
        |a: &mut Agent, trailer: i64| -> Outcome<()> {
            match u8::try_from(trailer) {
                Ok(trailer) if trailer > 0 => {
                    a.ask(Effect::Uncouple(Some(trailer)));
                    Ok(())
                }
                _ => fail(format!(
                    "uncouple: there is no trailer {trailer}; trailers are numbered from 1 at the \
                     front"
                )),
            }
        }
    );
    call!(
        api,
        "couple",
        "agent.couple()",
        "Couples the trailers that stand at the free coupling of its vehicle or of its last trailer: the next trailer in its vehicle file or, if it tows nothing, trailers of another vehicle with an equally high coupling. They must be within 0.5 m and 45 degrees. Only at walking speed (1.4 m/s) or below. The result is logged, and `trailers` is the number in tow.",
        |a: &mut Agent| a.ask(Effect::Couple)
    );
}
