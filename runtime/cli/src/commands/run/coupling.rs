//! Trailers that are uncoupled and coupled at given times.

use crate::arguments::RunScenario;
use crate::terminal::say;
use roadwright_simulation::{CarriedOut, CouplingOrder, Session};

/// Passes the coupling orders of the command line to a session.
pub(super) fn order(arguments: &RunScenario, session: &mut Session) {
    for &(agent, time, from) in &arguments.uncouple {
        session.order(time, agent, CouplingOrder::Uncouple(from));
    }
    for &(agent, time) in &arguments.couple {
        session.order(time, agent, CouplingOrder::Couple);
    }
}

/// Reports the results, or only failures if `quiet` is set. Returns whether all orders were carried out.
pub(super) fn tell(session: &Session, quiet: bool) -> bool {
    let all = session.carried_out();
    for one in &all {
        if !quiet || !is_done(one) {
            say!("{}", told(one));
        }
    }
    all.iter().all(is_done)
}

fn is_done(one: &CarriedOut) -> bool {
    matches!(one.result, Some(Ok(_)))
}

fn told(one: &CarriedOut) -> String {
    let verb = match one.order {
        CouplingOrder::Uncouple(_) => "uncouple",
        CouplingOrder::Couple => "couple",
    };
    let came = match &one.result {
        Some(Ok(1)) => format!("{verb}d 1 trailer"),
        Some(Ok(count)) => format!("{verb}d {count} trailers"),
        Some(Err(why)) => format!("cannot {verb}: {why}"),
        None => format!("cannot {verb}: the run ended before that"),
    };
    format!("agent {} at {:.2} s: {came}", one.agent, one.time)
}
