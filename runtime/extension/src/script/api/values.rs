//! Conversion of script values, with messages for values of the wrong type.

use crate::script::agent::Other;
use rhai::{Dynamic, EvalAltResult, ImmutableString, Position};
use roadwright_agent::Slot;

pub(super) type Outcome<T> = Result<T, Box<EvalAltResult>>;

pub(super) fn fail<T>(message: String) -> Outcome<T> {
    Err(EvalAltResult::ErrorRuntime(message.into(), Position::NONE).into())
}

/// Converts a number, which may be an integer or a float.
pub(super) fn number(value: &Dynamic) -> Outcome<f64> {
    // NaN and infinity are rejected here, so that wishes and effects never contain them.
    if let Ok(number) = value.as_float() {
        return if number.is_finite() {
            Ok(number)
        } else {
            fail(format!("{number} is not a finite number"))
        };
    }
    match value.as_int() {
        Ok(number) => Ok(number as f64),
        Err(found) => fail(format!("expected a number, found {found}")),
    }
}

/// Converts an agent, or the id of an agent.
pub(super) fn id_of(value: &Dynamic) -> Outcome<i64> {
    if let Some(other) = value.read_lock::<Other>() {
        return Ok(other.facts.id as i64);
    }
    match value.as_int() {
        Ok(id) => Ok(id),
        Err(found) => fail(format!("expected an agent or its id, found {found}")),
    }
}

pub(super) fn slot_of(name: &str) -> Outcome<Slot> {
    match Slot::from_name(name) {
        Some(slot) => Ok(slot),
        None => fail(format!(
            "there is no slot \"{name}\"; expected one of: {}",
            Slot::ALL.map(Slot::name).join(", ")
        )),
    }
}

pub(super) fn turn_name(turn: f64) -> ImmutableString {
    match turn as i64 {
        1 => "left",
        -1 => "right",
        2 => "back",
        _ => "straight",
    }
    .into()
}

/// Returns the first 200 characters of a string.
pub(super) fn short(text: &str) -> String {
    text.chars().take(200).collect()
}
