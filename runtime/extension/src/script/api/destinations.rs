//! Destinations instead of those of the scenario.

use super::values::{Outcome, fail, id_of, number};
use super::{ROUTE, Registrar};
use crate::script::agent::Agent;
use crate::script::budget::charge;
use rhai::{Array, Dynamic};

/// Places to drive to, and agents to chase or to flee.
pub(super) fn destinations(api: &mut Registrar) {
    call!(
        api,
        "go_to",
        "agent.go_to(x: float, y: float)",
        "Drives to the lane nearest to a place, m, instead of its destination; from the end of a path by the lane that is close. If no route leads there, on_no_route is called.",
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
        "The same with a place [x, y], such as agent.place() gives.",
        |a: &mut Agent, place: Array| -> Outcome<()> {
            charge(ROUTE)?;
            let [x, y, ..] = place.as_slice() else {
                return fail("go_to: a place is an array [x, y]".into());
            };
            a.go_to(number(x)?, number(y)?);
            Ok(())
        }
    );
    call!(
        api,
        "follow",
        "agent.follow(other)",
        "Drives to where another agent is, given by itself or its id, wherever it goes.",
        |a: &mut Agent, other: Dynamic| -> Outcome<()> {
            a.follow(id_of(&other)?);
            Ok(())
        }
    );
    call!(
        api,
        "flee",
        "agent.flee(other)",
        "Drives along the roads that lead away from another agent, given by itself or its id.",
        |a: &mut Agent, other: Dynamic| -> Outcome<()> {
            a.flee(id_of(&other)?);
            Ok(())
        }
    );
}
