//! Budget of a script call. It is counted in operations and never measured in time, so that the result does
//! not depend on the load of the machine. Calls whose work grows with the size of their arguments are charged
//! for this work.

use super::agent::Other;
use super::compile::STANDARD;
use super::copies::cost_of_copy;
use rhai::packages::Package;
use rhai::{
    Array, Dynamic, Engine, EvalAltResult, FLOAT, FnPtr, INT, ImmutableString, Map,
    NativeCallContext, Position,
};
use std::any::TypeId;
use std::cell::Cell;
use std::sync::OnceLock;

/// Maximum number of operations per call.
// This is about a millisecond for a slow call. With a time limit, a busy machine and an idle one would stop
// different scripts, and the same run would give another result.
pub(super) const OPERATIONS: u64 = 20_000;
/// Cost of an array element in calls that process all elements, in operations. An operation takes about 0.05 us, and a
/// comparison of elements 0.2 us.
const ELEMENT: u64 = 4;
/// Cost of a map entry in calls that process all entries, in operations.
const ENTRY: u64 = 8;
/// Number of bytes per operation, for calls that process all bytes of a text.
const BYTES: u64 = 4;

/// Number of operations between two checks of the additional charges.
// The check runs for every operation, but usually it costs only a division by a constant.
const LOOK: u64 = 64;

thread_local! {
    /// Operations that were charged to the current call in addition to Rhai's own count.
    static CHARGED: Cell<u64> = const { Cell::new(0) };
}

/// Resets the count for a new call.
pub(super) fn begin_call() {
    // The counter is thread-local and needs no lock, because a call stays on its thread.
    CHARGED.set(0);
}

/// Charges the current call for work in addition to its single operation.
///
/// # Errors
/// If the budget is exceeded, which a script cannot catch.
pub(super) fn charge(operations: u64) -> Result<(), Box<EvalAltResult>> {
    let charged = CHARGED.get().saturating_add(operations);
    CHARGED.set(charged);
    if charged > OPERATIONS {
        return Err(EvalAltResult::ErrorTooManyOperations(Position::NONE).into());
    }
    Ok(())
}

/// Returns the operations that were charged to the current call in addition to Rhai's own count.
#[cfg(test)]
pub(super) fn charged() -> u64 {
    CHARGED.get()
}

/// Sets the limits of an engine for scripts, and makes it charge for expensive functions.
pub(super) fn limit(engine: &mut Engine) {
    limit_sizes(engine);
    engine.set_max_operations(OPERATIONS);
    // Recursion and nesting use the stack of a thread, and its overflow would end the process.
    engine.set_max_call_levels(16);
    engine.set_max_variables(128);
    engine.set_max_functions(64);
    engine.set_max_modules(16);
    engine.on_progress(|operations| {
        // Each charge is checked when it is made. Here, the sum of the charges and Rhai's own count
        // is checked at intervals.
        if operations % LOOK != 0 || operations + CHARGED.get() <= OPERATIONS {
            return None;
        }
        Some(Dynamic::UNIT)
    });
    charge_for_sizes(engine);
}

/// Arguments of a native function.
type Arguments<'a> = [&'a mut Dynamic];

fn limit_sizes(engine: &mut Engine) {
    engine.set_max_expr_depths(32, 32);
    engine.set_max_string_size(1024);
    engine.set_max_array_size(256);
    engine.set_max_map_size(64);
}

/// Makes an engine charge for calls of library functions whose work grows with their arguments. The charge is
/// made before the call.
fn charge_for_sizes(engine: &mut Engine) {
    let (array, map) = (TypeId::of::<Array>(), TypeId::of::<Map>());
    let text = TypeId::of::<ImmutableString>();
    let (int, letter) = (TypeId::of::<INT>(), TypeId::of::<char>());
    let all: [(&'static str, &[TypeId]); 45] = [
        ("dedup", &[array]),
        ("sort", &[array]),
        ("reverse", &[array]),
        ("==", &[array, array]),
        ("!=", &[array, array]),
        ("+", &[array, array]),
        ("+=", &[array, array]),
        ("append", &[array, array]),
        ("extract", &[array, int, int]),
        ("extract", &[array, int]),
        ("chop", &[array, int]),
        ("shift", &[array]),
        ("to_string", &[array]),
        ("to_string", &[map]),
        ("to_json", &[map]),
        ("==", &[map, map]),
        ("!=", &[map, map]),
        ("+", &[map, map]),
        ("+=", &[map, map]),
        ("mixin", &[map, map]),
        ("fill_with", &[map, map]),
        ("keys", &[map]),
        ("pad", &[text, int, letter]),
        ("pad", &[text, int, text]),
        ("crop", &[text, int, int]),
        ("replace", &[text, text, text]),
        ("replace", &[text, text, letter]),
        ("replace", &[text, letter, text]),
        ("replace", &[text, letter, letter]),
        ("split", &[text]),
        ("split", &[text, text]),
        ("split", &[text, letter]),
        ("split", &[text, text, int]),
        ("split", &[text, letter, int]),
        ("split_rev", &[text, text]),
        ("split_rev", &[text, letter]),
        ("split_rev", &[text, text, int]),
        ("split_rev", &[text, letter, int]),
        ("to_chars", &[text]),
        ("to_debug", &[array]),
        ("to_debug", &[map]),
        ("values", &[map]),
        ("sort_desc", &[array]),
        ("order", &[array]),
        ("order_desc", &[array]),
    ];
    let plain = [
        int,
        TypeId::of::<FLOAT>(),
        letter,
        text,
        TypeId::of::<bool>(),
        array,
        map,
        TypeId::of::<FnPtr>(),
        TypeId::of::<Other>(),
    ];
    let of_values = plain.into_iter().flat_map(|value| {
        [
            ("contains", vec![array, value]),
            ("index_of", vec![array, value]),
            ("index_of", vec![array, value, int]),
            ("pad", vec![array, int, value]),
            ("insert", vec![array, int, value]),
        ]
    });
    // Registered for each type, because a function for any type would slow down every look-up.
    let all = all.into_iter().map(|(name, types)| (name, types.to_vec()));
    for (name, types) in all.chain(of_values) {
        engine.register_raw_fn(name, &types, move |context, args: &mut Arguments<'_>| {
            charge(size_of_args(name, args)?)?;
            call_unlimited(name, &context, args)
        });
    }
}

/// Returns the work of a call with these arguments, in operations.
fn size_of_args(name: &str, args: &Arguments<'_>) -> Result<u64, Box<EvalAltResult>> {
    if let ("pad", [_, length, filling]) = (name, args) {
        // The length is the number of elements or characters, each of which is a copy.
        let length = length.as_int().unwrap_or(0).clamp(0, 1024) as u64;
        return Ok(length * (1 + cost_of_copy(filling)?));
    }
    let sizes = args.iter().map(|value| {
        if let Some(array) = value.read_lock::<Array>() {
            array.len() as u64 * ELEMENT
        } else if let Some(map) = value.read_lock::<Map>() {
            map.len() as u64 * ENTRY
        } else if let Some(text) = value.read_lock::<ImmutableString>() {
            text.len() as u64 / BYTES
        } else {
            0
        }
    });
    Ok(sizes.sum())
}

/// Calls the library's own function through an engine without charges.
fn call_unlimited(
    name: &str,
    context: &NativeCallContext<'_>,
    args: &mut Arguments<'_>,
) -> Result<Dynamic, Box<EvalAltResult>> {
    // If it were called by name through the script's engine, the charging function would be found again.
    static PLAIN: OnceLock<Engine> = OnceLock::new();
    let plain = PLAIN.get_or_init(|| {
        let mut engine = Engine::new_raw();
        STANDARD.register_into_engine(&mut engine);
        limit_sizes(&mut engine);
        engine
    });
    let reads = [
        "contains",
        "index_of",
        "==",
        "!=",
        "+",
        "keys",
        "values",
        "split",
        "split_rev",
        "order",
        "order_desc",
    ];
    let changes = !reads.contains(&name) && !name.starts_with("to_");
    if changes && args[0].is_read_only() {
        let at = context.call_position();
        return Err(EvalAltResult::ErrorNonPureMethodCallOnConstant(name.into(), at).into());
    }
    let global = context.global_runtime_state();
    let at = context.call_position();
    NativeCallContext::new_with_all_fields(plain, name, None, global, at)
        .call_native_fn_raw(name, true, args)
}
