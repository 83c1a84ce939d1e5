//! Cost of copying values.
//!
//! Rhai counts reading a variable of any size as one operation, but reading may copy all of it. A script that
//! repeatedly appends its latest result to itself doubles it each time. Copies are therefore charged by size,
//! so that no call can create more data than its budget allows.

use super::budget::charge;
use rhai::{Array, Dynamic, Engine, EvalAltResult, FnPtr, ImmutableString, Map};
use std::collections::BTreeMap;

/// Maximum number of arguments that `curry` binds to a function pointer. It equals the limit of parameters.
const MOST_BOUND: usize = 64;
/// Maximum nesting depth of values. Copying or dropping deeper values would exhaust the stack.
const DEEPEST: usize = 64;
/// Maximum cost of a constant in operations. The largest array and the largest map together cost less.
const MOST_OF_CONSTANT: u64 = 32;

/// Number of cost units per operation. Copying a number costs one unit and takes about 3 ns, while an
/// operation takes 50 ns. A read does not always copy the value, so it is charged a quarter of the cost of a
/// copy.
const PARTS: u64 = 64;
/// Cost units of a reference-counted value, which is a string or a shared value.
const REFERENCE: u64 = 2;
/// Cost units of a map entry in addition to its value.
const ENTRY: u64 = 8;
/// Cost units of a value with a separate allocation, such as a host object, an array, or a bound argument.
const PLACE: u64 = 16;

/// A value that is too complex to be copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Excess {
    Bound,
    Depth,
}

impl From<Excess> for Box<EvalAltResult> {
    fn from(excess: Excess) -> Self {
        match excess {
            Excess::Bound => {
                format!(
                    "a function pointer can have at most {MOST_BOUND} bound arguments; pass an \
                         array or a map"
                )
            }
            Excess::Depth => format!("values can be nested at most {DEEPEST} levels deep"),
        }
        .into()
    }
}

/// Charges each read of a variable with the cost of copying its value. `constants` contains the costs of
/// constants that are outside all scopes.
pub(super) fn charge_copies(engine: &mut Engine, constants: BTreeMap<String, u64>) {
    #[allow(
        deprecated,
        reason = "Rhai marks interfaces that may change as deprecated"
    )]
    engine.on_var(move |name, _, context| {
        let cost = match context.scope().get(name) {
            Some(value) => cost_of_copy(value)?,
            None => constants.get(name).copied().unwrap_or(0),
        };
        if cost > 0 {
            charge(cost)?;
        }
        Ok(None)
    });
}

/// Returns the cost of reading a constant of a script, in operations.
///
/// # Errors
/// If the constant is too large, because any function of the script could read it in every operation.
pub(super) fn cost_of_constant(name: &str, value: &Dynamic) -> Result<u64, Box<EvalAltResult>> {
    let cost = cost_of_copy(value)?;
    if cost > MOST_OF_CONSTANT {
        return Err(format!("constant {name} is too large; make it smaller").into());
    }
    Ok(cost)
}

/// Returns the cost of copying a value, in operations beyond the read itself.
pub(super) fn cost_of_copy(value: &Dynamic) -> Result<u64, Box<EvalAltResult>> {
    // A value is locked while a method uses it, and has been charged before.
    if value.is_shared() && value.is_locked() {
        return Ok(0);
    }
    Ok(parts(value, 0)? / PARTS)
}

fn parts(value: &Dynamic, depth: usize) -> Result<u64, Excess> {
    if depth > DEEPEST {
        return Err(Excess::Depth);
    }
    let inside = |value: &Dynamic| parts(value, depth + 1);
    if let Some(array) = value.read_lock::<Array>() {
        let values = array.iter().map(inside).sum::<Result<u64, Excess>>()?;
        return Ok(PLACE + values);
    }
    if let Some(map) = value.read_lock::<Map>() {
        let values = map.values().map(inside).sum::<Result<u64, Excess>>()?;
        return Ok(PLACE + ENTRY * map.len() as u64 + values);
    }
    if let Some(function) = value.read_lock::<FnPtr>() {
        if function.curry().len() > MOST_BOUND {
            return Err(Excess::Bound);
        }
        let bound = function.curry().iter().map(|value| match value {
            // A closure shares the values that it captures, so only the nesting depth matters.
            shared if shared.is_shared() => {
                let is_free = !shared.is_locked();
                if is_free {
                    inside(shared)?;
                }
                Ok(PLACE)
            }
            value => Ok(PLACE + inside(value)?),
        });
        return Ok(PLACE + bound.sum::<Result<u64, Excess>>()?);
    }
    let is_plain = value.is_int() || value.is_float() || value.is_bool() || value.is_char();
    Ok(if is_plain || value.is_unit() {
        1
    } else if value.read_lock::<ImmutableString>().is_some() {
        REFERENCE
    } else {
        PLACE
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_cost_what_they_hold() {
        let engine = Engine::new();
        let of = |text: &str| {
            let value: Dynamic = engine.eval(text).unwrap();
            parts(&value, 0)
        };
        assert_eq!(of("7"), Ok(1));
        assert_eq!(of("\"a text\""), Ok(2));
        assert_eq!(of("[1, 2, \"three\"]"), Ok(16 + 4));
        assert_eq!(of("#{a: 1, b: [2]}"), Ok(16 + 2 * 8 + 1 + 17));
        assert_eq!(of("Fn(\"f\")"), Ok(16));
        assert_eq!(of("Fn(\"f\").curry(1, [2])"), Ok(16 + 17 + 16 + 17));
        // A captured value is shared, so a large array costs as much as a number.
        assert_eq!(of("let a = [0]; a.pad(200, 1); || a"), Ok(32));
        assert_eq!(
            of("let f = Fn(\"f\"); for i in 0..64 { f = f.curry(i) } f"),
            Ok(16 + 64 * 17)
        );
        assert_eq!(
            of("let f = Fn(\"f\"); for i in 0..65 { f = f.curry(i) } f"),
            Err(Excess::Bound)
        );
    }

    #[test]
    fn nesting_has_an_end() {
        let engine = Engine::new();
        let nested = |levels: usize| {
            let text = format!("let a = 1; for i in 0..{levels} {{ a = [a] }} a");
            parts(&engine.eval::<Dynamic>(&text).unwrap(), 0)
        };
        assert!(nested(64).is_ok());
        assert_eq!(nested(65), Err(Excess::Depth));
        let closures = |levels: usize| {
            let text =
                format!("let f = || 1; for i in 0..{levels} {{ let g = f; f = || g.call() }} f");
            parts(&engine.eval::<Dynamic>(&text).unwrap(), 0)
        };
        assert!(closures(20).is_ok());
        assert_eq!(closures(100), Err(Excess::Depth));
    }
}
