//! Trailers: let go and joined on.

use super::Registrar;
use super::values::{Outcome, fail};
use crate::script::agent::Agent;
use roadwright_agent::Effect;

/// What a script can do with its trailers.
pub(super) fn verbs(api: &mut Registrar) {
    call!(
        api,
        "uncouple",
        "agent.uncouple()",
        "Lets the last trailer go: it stands where it is with its brakes on, in the way of others. Not faster than a walk (1.4 m/s). What came of it is logged, and `trailers` says how many are left.",
        |a: &mut Agent| a.ask(Effect::Uncouple(None))
    );
    call!(
        api,
        "uncouple",
        "agent.uncouple(trailer: int)",
        "Lets this trailer and all behind it go, as uncouple(); 1 is the one behind the vehicle.",
        |a: &mut Agent, trailer: i64| -> Outcome<()> {
            match u8::try_from(trailer) {
                Ok(trailer) if trailer > 0 => {
                    a.ask(Effect::Uncouple(Some(trailer)));
                    Ok(())
                }
                _ => fail(format!(
                    "uncouple: {trailer} is no trailer; they are counted from 1 at the front"
                )),
            }
        }
    );
    call!(
        api,
        "couple",
        "agent.couple()",
        "Joins the trailers on that stand at the free coupling of its vehicle, or of its last trailer: what comes next in its vehicle file, or the trailers of another vehicle whose coupling is as high, if it tows nothing. They must stand within 0.5 m and 45 degrees. Not faster than a walk (1.4 m/s). What came of it is logged, and `trailers` says how many it tows.",
        |a: &mut Agent| a.ask(Effect::Couple)
    );
}
