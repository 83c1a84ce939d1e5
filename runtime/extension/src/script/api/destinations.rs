//! Destinations that replace the destinations set in the scenario.

use super::values::{Outcome, fail, id_of, number};
use super::{ROUTE, Registrar};
use crate::script::agent::Agent;
use crate::script::budget::charge;
use rhai::{Array, Dynamic};

/// Registers the functions for driving to a position, and for following or fleeing from another
/// agent.
pub(super) fn destinations(api: &mut Registrar) {
    call!(
        api,
        "go_to",
        "agent.go_to(x: float, y: float)",
        "Drives to the lane nearest to (x, y), m, instead of the agent's destination, or over open ground to \
         (x, y) itself if no lane is within 25 m; from the end of a path or from open ground it \
         returns to a lane first. If there is no route, on_no_route is called.",
        |a: &mut Agent, x: Dynamic, y: Dynamic| -> Outcome<()> {
            charge(ROUTE)?;
            a.go_to(number(&x)?, number(&y)?);
            Ok(())
        }
    );
    call!(
        api,
        "go_to",
        "agent.go_to(place: array)",
        "Same as go_to(x, y), for an array [x, y] such as the result of agent.place().",
        |a: &mut Agent, place: Array| -> Outcome<()> {
            charge(ROUTE)?;
            let [x, y, ..] = place.as_slice() else {
                return fail("go_to: expected a position as an array [x, y]".into());
            };
            a.go_to(number(x)?, number(y)?);
            Ok(())
        }
    );
    call!(
        api,
        "follow",
        "agent.follow(other)",
        "Follows another agent, given as an object or by its id.",
        |a: &mut Agent, other: Dynamic| -> Outcome<()> {
            a.follow(id_of(&other)?);
            Ok(())
        }
    );
    call!(
        api,
        "flee",
        "agent.flee(other)",
        "Drives away from another agent, given as an object or by its id.",
        |a: &mut Agent, other: Dynamic| -> Outcome<()> {
            a.flee(id_of(&other)?);
            Ok(())
        }
    );
}
