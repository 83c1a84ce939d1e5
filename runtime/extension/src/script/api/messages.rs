//! Messages between agents, groups, the log and marks.

use super::Registrar;
use super::values::{Outcome, fail, id_of, number, short};
use crate::script::agent::{Agent, Mail};
use crate::script::budget::charge;
use rhai::{Array, Dynamic, Map};
use roadwright_agent::{Datum, Effect, Letter};
use roadwright_geometry::DVec2;

/// Entries of a message.
const MOST_DATA: usize = 16;
/// What a letter counts for, in operations.
const LETTER: u64 = 100;

/// Cost of one entry of a letter that is read as a map, in operations.
const ENTRY: u64 = 4;
/// Cost of a line of the log, in operations; the value that is written may be a large array.
const NOTE: u64 = 100;

/// Membership of groups.
pub(super) fn groups(api: &mut Registrar) {
    call!(
        api,
        "join",
        "agent.join(group: string)",
        "Becomes a member of a group, such as \"taxi\"; there are 256 groups at most.",
        |a: &mut Agent, group: &str| a.ask(Effect::Join(short(group)))
    );
    call!(
        api,
        "quit",
        "agent.quit(group: string)",
        "Leaves a group. An agent that leaves the road leaves all its groups.",
        |a: &mut Agent, group: &str| a.ask(Effect::Quit(short(group)))
    );
    call!(
        api,
        "members",
        "agent.members(group: string) -> array",
        "The other members of a group in the order of their ids, 64 at most.",
        |a: &mut Agent, group: &str| -> Outcome<Array> {
            let (members, work) = a.members(group);
            charge(work)?;
            Ok(members.into_iter().map(Dynamic::from).collect())
        }
    );
}

/// Letters to one agent, to a group, to everybody near.
pub(super) fn letters(api: &mut Registrar) {
    call!(
        api,
        "send",
        "agent.send(other, topic: string, value)",
        "Sends a message to another agent, with a number or a map of up to 16 numbers and texts; it arrives the next time the other agent's behaviour is called.",
        |a: &mut Agent, other: Dynamic, topic: &str, value: Dynamic| -> Outcome<()> {
            send(a, &other, letter(topic, value)?)
        }
    );
    call!(
        api,
        "send",
        "agent.send(other, topic: string)",
        "The same without a number.",
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
        "Sends a message to everybody within a distance, m, with a number or a map.",
        |a: &mut Agent, radius: Dynamic, topic: &str, value: Dynamic| -> Outcome<()> {
            broadcast(a, number(&radius)?, letter(topic, value)?);
            Ok(())
        }
    );
    call!(
        api,
        "broadcast",
        "agent.broadcast(radius: float, topic: string)",
        "The same without a number.",
        |a: &mut Agent, radius: Dynamic, topic: &str| -> Outcome<()> {
            broadcast(a, number(&radius)?, letter(topic, Dynamic::from(0.0))?);
            Ok(())
        }
    );
}

/// What people see of it: lines of the log and marks on the map.
pub(super) fn notes(api: &mut Registrar) {
    call!(
        api,
        "log",
        "agent.log(text)",
        "Writes a line to the run's log.",
        |a: &mut Agent, text: Dynamic| -> Outcome<bool> {
            charge(NOTE)?;
            Ok(a.ask(Effect::Log(short(&text.to_string()))))
        }
    );
    call!(
        api,
        "mark",
        "agent.mark(text: string)",
        "Shows a text at the agent for a second.",
        |a: &mut Agent, text: &str| a.ask(Effect::Mark {
            at: None,
            text: short(text)
        })
    );
    call!(
        api,
        "mark",
        "agent.mark(x: float, y: float, text: string)",
        "Shows a text at a place for a second.",
        |a: &mut Agent, x: Dynamic, y: Dynamic, text: &str| -> Outcome<()> {
            a.ask(Effect::Mark {
                at: Some(DVec2::new(number(&x)?, number(&y)?)),
                text: short(text),
            });
            Ok(())
        }
    );
}

/// What can be read of a message.
pub(super) fn properties(api: &mut Registrar) {
    properties! { api, message: Mail;
        "from" -> "int", "Id of the sender."
            => message.from;
        "topic" -> "string", "What it is about."
            => message.topic.clone();
        "value" -> "float", "The number that goes with it."
            => message.value;
        "data" -> "map", "What else goes with it, by name."
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

/// What is told: a number, or a map of numbers and texts.
pub(super) fn letter(topic: &str, value: Dynamic) -> Outcome<Letter> {
    // Those of the host begin with one.
    if topic.chars().any(char::is_control) {
        return fail("a topic has no control characters".into());
    }
    charge(LETTER)?;
    let mut letter = Letter {
        topic: short(topic),
        ..Letter::default()
    };
    // A map is asked for first: `number` would call it a mistake.
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
        // Texts stay texts, all else must be a number: letters hold nothing else, so that no object
        // of a script gets out of it.
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
        // A negative number becomes an id that nobody has: the world then treats it as one who has
        // left.
        to: id_of(to)? as u64,
        letter,
    });
    Ok(())
}

pub(super) fn broadcast(agent: &Agent, radius: f64, letter: Letter) {
    agent.ask(Effect::Broadcast {
        // Whoever is farther away is not looked for: the work of a broadcast grows with the area.
        radius: radius.clamp(0.0, 2000.0),
        letter,
    });
}
