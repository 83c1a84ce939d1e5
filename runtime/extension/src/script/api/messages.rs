//! Script functions for groups, messages to other agents, log lines and map markers.

use super::Registrar;
use super::values::{Outcome, fail, id_of, number, short};
use crate::script::agent::{Agent, Mail};
use crate::script::budget::charge;
use rhai::{Array, Dynamic, Map};
use roadwright_agent::{Datum, Effect, Letter};
use roadwright_geometry::DVec2;

/// Maximum number of entries in a message.
const MOST_DATA: usize = 16;
/// Cost of sending a message, in operations.
const LETTER: u64 = 100;

/// Cost of each entry of a message when it is read as a map, in operations.
const ENTRY: u64 = 4;
/// Cost of a log line, in operations. It is high because the logged value may be a large array.
const NOTE: u64 = 100;

/// Registers the functions for groups.
pub(super) fn groups(api: &mut Registrar) {
    call!(
        api,
        "join",
        "agent.join(group: string)",
        "Joins a group, such as \"taxi\"; there are at most 256 groups.",
        |a: &mut Agent, group: &str| a.ask(Effect::Join(short(group)))
    );
    call!(
        api,
        "quit",
        "agent.quit(group: string)",
        "Leaves a group. An agent that is removed leaves all its groups.",
        |a: &mut Agent, group: &str| a.ask(Effect::Quit(short(group)))
    );
    call!(
        api,
        "members",
        "agent.members(group: string) -> array",
        "Other members of a group, ordered by id, at most 64.",
        |a: &mut Agent, group: &str| -> Outcome<Array> {
            let (members, work) = a.members(group);
            charge(work)?;
            Ok(members.into_iter().map(Dynamic::from).collect())
        }
    );
}

/// Registers the functions that send messages to an agent, to a group, or to all agents nearby.
pub(super) fn letters(api: &mut Registrar) {
    call!(
        api,
        "send",
        "agent.send(other, topic: string, value)",
        "Sends another agent a message that contains a number, or a map of up to 16 numbers and strings. It is delivered at the next call of that agent's behaviour.",
        |a: &mut Agent, other: Dynamic, topic: &str, value: Dynamic| -> Outcome<()> {
            send(a, &other, letter(topic, value)?)
        }
    );
    call!(
        api,
        "send",
        "agent.send(other, topic: string)",
        "Sends another agent a message without a value.",
        |a: &mut Agent, other: Dynamic, topic: &str| {
            send(a, &other, letter(topic, Dynamic::from(0.0))?)
        }
    );
    call!(
        api,
        "send_group",
        "agent.send_group(group: string, topic: string, value)",
        "Sends a message to all other members of a group, with a number or a map.",
        |a: &mut Agent, group: &str, topic: &str, value: Dynamic| -> Outcome<()> {
            a.ask(Effect::SendGroup {
                group: short(group),
                letter: letter(topic, value)?,
            });
            Ok(())
        }
    );
    call!(
        api,
        "broadcast",
        "agent.broadcast(radius: float, topic: string, value)",
        "Sends a message to all agents within `radius` metres, with a number or a map.",
        |a: &mut Agent, radius: Dynamic, topic: &str, value: Dynamic| -> Outcome<()> {
            broadcast(a, number(&radius)?, letter(topic, value)?);
            Ok(())
        }
    );
    call!(
        api,
        "broadcast",
        "agent.broadcast(radius: float, topic: string)",
        "Sends a message without a value to all agents within `radius` metres.",
        |a: &mut Agent, radius: Dynamic, topic: &str| -> Outcome<()> {
            broadcast(a, number(&radius)?, letter(topic, Dynamic::from(0.0))?);
            Ok(())
        }
    );
}

/// Registers the functions for log lines and map markers, which users see.
pub(super) fn notes(api: &mut Registrar) {
    call!(
        api,
        "log",
        "agent.log(text)",
        "Writes a line to the log of the run.",
        |a: &mut Agent, text: Dynamic| -> Outcome<bool> {
            charge(NOTE)?;
            Ok(a.ask(Effect::Log(short(&text.to_string()))))
        }
    );
    call!(
        api,
        "mark",
        "agent.mark(text: string)",
        "Shows text beside the agent for a second.",
        |a: &mut Agent, text: &str| a.ask(Effect::Mark {
            at: None,
            text: short(text)
        })
    );
    call!(
        api,
        "mark",
        "agent.mark(x: float, y: float, text: string)",
        "Shows text at (x, y) for a second.",
        |a: &mut Agent, x: Dynamic, y: Dynamic, text: &str| -> Outcome<()> {
            a.ask(Effect::Mark {
                at: Some(DVec2::new(number(&x)?, number(&y)?)),
                text: short(text),
            });
            Ok(())
        }
    );
}

/// Registers the properties of a message.
pub(super) fn properties(api: &mut Registrar) {
    properties! { api, message: Mail;
        "from" -> "int", "Id of the sender."
            => message.from;
        "topic" -> "string", "Topic of the message."
            => message.topic.clone();
        "value" -> "float", "Number sent with the message."
            => message.value;
        "data" -> "map", "Further values sent with the message, by name."
            => entries_of(message);
    }
}

fn entries_of(message: &Mail) -> Outcome<Map> {
    charge(ENTRY * message.data.len() as u64)?;
    let entries = message.data.iter().map(|(key, datum)| {
        let value = match datum {
            Datum::Number(number) => Dynamic::from(*number),
            Datum::Text(text) => Dynamic::from(text.clone()),
        };
        (key.as_str().into(), value)
    });
    Ok(entries.collect())
}

/// Creates the contents of a message: a number, or a map of numbers and strings.
pub(super) fn letter(topic: &str, value: Dynamic) -> Outcome<Letter> {
    // Topics of the host begin with a control character.
    if topic.chars().any(char::is_control) {
        return fail("a topic must not contain control characters".into());
    }
    charge(LETTER)?;
    let mut letter = Letter {
        topic: short(topic),
        ..Letter::default()
    };
    // A map is checked first, because `number` would report it as an error.
    let Some(map) = value.read_lock::<Map>() else {
        letter.value = number(&value)?;
        return Ok(letter);
    };
    if map.len() > MOST_DATA {
        return fail(format!(
            "a message has at most {MOST_DATA} entries, not {}",
            map.len()
        ));
    }
    for (key, value) in map.iter() {
        // Texts are kept, and everything else must be a number. Messages contain nothing else, so that
        // objects of a script cannot leave it.
        let datum = match value.clone().into_string() {
            Ok(text) => Datum::Text(short(&text)),
            Err(_) => Datum::Number(number(value)?),
        };
        letter.data.insert(short(key), datum);
    }
    Ok(letter)
}

fn send(agent: &Agent, to: &Dynamic, letter: Letter) -> Outcome<()> {
    agent.ask(Effect::Send {
        // A negative number becomes an id that no agent has, and the world treats it like that of a removed
        // agent.
        to: id_of(to)? as u64,
        letter,
    });
    Ok(())
}

pub(super) fn broadcast(agent: &Agent, radius: f64, letter: Letter) {
    agent.ask(Effect::Broadcast {
        // Clamped, because the cost of a broadcast grows with its area.
        radius: radius.clamp(0.0, 2000.0),
        letter,
    });
}
