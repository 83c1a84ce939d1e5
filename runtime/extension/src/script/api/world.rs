//! The world apart from the agent: other vehicles, places, random numbers.

use super::values::{Outcome, fail, number, short};
use super::{ROUTE, Registrar};
use crate::script::agent::Agent;
use crate::script::budget::charge;
use rhai::{Array, Dynamic};
use roadwright_agent::Effect;
use roadwright_geometry::DVec2;

/// Cost of an unknown place name in operations. It is high because the name is compared with all known names
/// to make a suggestion.
const MISSED_PLACE: u64 = 2000;

/// Registers the function that spawns vehicles.
pub(super) fn vehicles(api: &mut Registrar) {
    call!(
        api,
        "add_vehicle",
        "agent.add_vehicle(vehicle: string, stack: string, x: float, y: float, goal_x: float, goal_y: float)",
        "Spawns another vehicle on the lane nearest to (x, y), m, with the destination (goal_x, \
         goal_y); at most 100,000 per run.",
        |a: &mut Agent,
         vehicle: &str,
         stack: &str,
         x: Dynamic,
         y: Dynamic,
         goal_x: Dynamic,
         goal_y: Dynamic|
         -> Outcome<()> {
            charge(ROUTE)?;
            a.ask(Effect::Spawn {
                vehicle: short(vehicle),
                stack: short(stack),
                from: DVec2::new(number(&x)?, number(&y)?),
                to: DVec2::new(number(&goal_x)?, number(&goal_y)?),
            });
            Ok(())
        }
    );
}

/// Registers the function that makes a pedestrian arrive at a crossing.
pub(super) fn people(api: &mut Registrar) {
    call!(
        api,
        "call_pedestrian",
        "agent.call_pedestrian(node: int)",
        "Makes a pedestrian arrive at a crossing of the junction at this \
         node, on the side with fewer arrivals so far. A fault is logged if there is no crossing.",
        |a: &mut Agent, node: i64| -> Outcome<()> {
            charge(ROUTE)?;
            let Ok(node) = u32::try_from(node) else {
                return fail(format!("{node} is not a node; nodes are numbered from 0"));
            };
            a.ask(Effect::CallPedestrian { node });
            Ok(())
        }
    );
}

/// Registers random and named places, and distances to them.
pub(super) fn places(api: &mut Registrar) {
    call!(
        api,
        "random_place",
        "agent.random_place() -> array",
        "A random position [x, y] in the middle of a lane, m.",
        |a: &mut Agent| -> Array {
            let place = a.random_place();
            vec![place.x.into(), place.y.into()]
        }
    );
    call!(
        api,
        "place",
        "agent.place(name: string) -> array",
        "Position of the point of interest with this name, otherwise the middle of the street with \
         this name: [x, y] in m, or [x, y, heading] if the point has a heading.",
        |a: &mut Agent, name: &str| -> Outcome<Array> {
            let place = a.place_named(name);
            if place.is_err() {
                charge(MISSED_PLACE)?;
            }
            let place = place.or_else(fail)?;
            let at = [place.position.x, place.position.y];
            // Two or three numbers. With a heading they are valid input for `park`, which rejects a position
            // without a heading.
            let numbers = at.into_iter().chain(place.heading);
            Ok(numbers.map(Dynamic::from).collect())
        }
    );
    call!(
        api,
        "is_within",
        "agent.is_within(x: float, y: float, radius: float) -> bool",
        "Whether the agent is within `radius` metres of the position (x, y).",
        |a: &mut Agent, x: Dynamic, y: Dynamic, radius: Dynamic| -> Outcome<bool> {
            let place = DVec2::new(number(&x)?, number(&y)?);
            Ok((a.place() - place).length() <= number(&radius)?)
        }
    );
}

/// Registers `once` and `every`, which remember conditions by name.
pub(super) fn conditions(api: &mut Registrar) {
    call!(
        api,
        "once",
        "agent.once(name: string, condition: bool) -> bool",
        "Returns true the first time the condition holds for this name, and false at all other \
         times; at most 64 names.",
        |a: &mut Agent, name: &str, holds: bool| a.once(name, holds).or_else(fail)
    );
    call!(
        api,
        "every",
        "agent.every(name: string, seconds: float) -> bool",
        "Returns true at most once every `seconds` seconds, starting with the first call. Each \
         name is a separate timer; at most 64 names.",
        |a: &mut Agent, name: &str, seconds: Dynamic| -> Outcome<bool> {
            a.every(name, number(&seconds)?).or_else(fail)
        }
    );
}

/// Registers the functions for random numbers.
pub(super) fn chance(api: &mut Registrar) {
    call!(
        api,
        "rand",
        "agent.rand() -> float",
        "A random number from 0 to 1 that depends only on the run, the agent and the step.",
        |a: &mut Agent| a.random()
    );
    call!(
        api,
        "rand",
        "agent.rand(low: float, high: float) -> float",
        "A random number from low to high.",
        |a: &mut Agent, low: Dynamic, high: Dynamic| -> Outcome<f64> {
            let (low, high) = (number(&low)?, number(&high)?);
            Ok(low + (high - low) * a.random())
        }
    );
}
