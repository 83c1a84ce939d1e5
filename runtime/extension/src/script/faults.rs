//! Finds run-time errors of a script that its first call does not reveal: in branches that are not
//! taken, and when neighbours that the script reads are missing.
//!
//! Handlers are called in two consistent situations, with and without other vehicles on the road.
//! Then each branch of each `if` is taken once, regardless of its condition (`branches.rs`). A
//! forced branch may contradict the guard in its condition. Therefore, an error counts only if no
//! value of the same type could avoid it. Values that may be missing, such as a leader or an entry
//! of the memory, are searched for in the text (`missing.rs`).

use super::branches::{Choice, choices, with_choices};
use super::compile::{Compiled, ScriptError, compile_unplayed, runtime_error};
use super::missing::missing;
use super::rehearsal::{Company, Stage, handlers};
use super::signal_logic::DECIDE;
use rhai::{Dynamic, EvalAltResult};
use std::path::Path;

/// Maximum number of branches that are taken. For a very large script, all branches could require thousands
/// of calls.
const MOST_BRANCHES: usize = 400;

/// Prefixes of messages about values of the wrong type or unknown words. These errors occur regardless of
/// conditions.
const CERTAIN: [&str; 2] = ["expected a number", "expected an agent or its id"];
/// Fragments of messages about values of the wrong type or unknown words.
const CERTAIN_WITHIN: [&str; 3] = [
    "there is no indicator",
    "there is no slot",
    "there is no side",
];

/// Returns the run-time errors of a script that compiles, in text order. Calls its handlers and discards
/// their effects. `folder` contains its imports.
pub fn faults(compiled: &Compiled, folder: Option<&Path>) -> Vec<ScriptError> {
    let mut found = Vec::new();
    for company in [Company::Others, Company::Nobody] {
        play(compiled, company, |_| true, &mut found);
    }
    for plan in choices(&compiled.ast).into_iter().take(MOST_BRANCHES) {
        take_branch(compiled, &plan, folder, &mut found);
    }
    found.extend(missing(compiled));
    found.sort_by_key(|error| (error.line, error.column));
    // A position has one mistake, and the first one found comes from the most natural call.
    found.dedup_by_key(|error| (error.line, error.column));
    found
}

/// Calls the handlers of a script with the branches of a plan taken, and records errors that the
/// plan cannot have caused.
fn take_branch(
    compiled: &Compiled,
    plan: &[Choice],
    folder: Option<&Path>,
    found: &mut Vec<ScriptError>,
) {
    let text = with_choices(&compiled.text, plan);
    let version = text.and_then(|text| compile_unplayed(&compiled.file, &text, folder).ok());
    if let Some(version) = version {
        let mut own = Vec::new();
        play(
            &version,
            Company::Others,
            |e| is_certain(innermost(e)),
            &mut own,
        );
        // Errors quote the author's text, and not the version with the forced branch.
        let shown = |error: ScriptError| error.in_text(&compiled.text);
        found.extend(own.into_iter().map(shown));
    }
}

/// Calls all handlers of a script in order, for an agent in a given situation, and records the
/// errors that `counts` accepts.
fn play(
    compiled: &Compiled,
    company: Company,
    counts: impl Fn(&EvalAltResult) -> bool,
    found: &mut Vec<ScriptError>,
) {
    let (file, text, ast) = (&compiled.file, &compiled.text, &compiled.ast);
    let stage = Stage::in_company(compiled, company);
    for event in handlers(compiled) {
        if !stage.may_be_called(event) {
            continue;
        }
        match stage.call_for(compiled, event) {
            Err(error) if counts(&error) => found.push(runtime_error(file, text, ast, &error)),
            Err(_) => {}
            Ok(answer) if event == DECIDE => found.extend(wrong_answer(compiled, &answer)),
            Ok(_) => {}
        }
    }
}

/// Returns an error at the position of the function if a signal script returned an invalid answer.
fn wrong_answer(compiled: &Compiled, answer: &Dynamic) -> Option<ScriptError> {
    if answer.is_unit() || answer.is_int() {
        return None;
    }
    let function = compiled.ast.shared_lib().get_script_fn(DECIDE, 1)?;
    let message = format!(
        "{DECIDE} must return a stage, or () to keep the current one, not {}",
        answer.type_name()
    );
    let at = function.body.start_position();
    Some(ScriptError::at(&compiled.file, &compiled.text, at, message))
}

fn innermost(error: &EvalAltResult) -> &EvalAltResult {
    match error {
        EvalAltResult::ErrorInFunctionCall(_, _, inner, _) => innermost(inner),
        other => other,
    }
}

/// Whether an error depends only on types, and not on values. An error about `()` does not count, because the
/// condition may rule out that value.
fn is_certain(error: &EvalAltResult) -> bool {
    let about_nothing = error.to_string().contains("()");
    match error {
        EvalAltResult::ErrorFunctionNotFound(..)
        | EvalAltResult::ErrorMismatchDataType(..)
        | EvalAltResult::ErrorDotExpr(..)
        | EvalAltResult::ErrorPropertyNotFound(..) => !about_nothing,
        EvalAltResult::ErrorRuntime(text, _) => {
            let text = text.to_string();
            let begins = CERTAIN.iter().any(|words| text.starts_with(words));
            let holds = CERTAIN_WITHIN.iter().any(|words| text.contains(words));
            !about_nothing && (begins || holds)
        }
        _ => false,
    }
}
