//! Stepping through a handler. The handler runs once, and each statement is recorded with the current values.
//! The user can then step forwards and backwards.

use super::agent::{Agent, Mail, Other};
use super::compile::{Compiled, ScriptError, compile};
use super::rehearsal::{Rehearsal, Subject, rehearse};
use crate::lock::locked;
use rhai::debugger::DebuggerCommand;
use rhai::{ASTNode, Dynamic, EvalContext, Position, Stmt};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex};

/// Maximum number of recorded statements. The rest of the handler runs without recording.
const MOST_STEPS: usize = 2_000;
/// Maximum length of a value, in characters.
const LONGEST_VALUE: usize = 120;

/// A statement that a handler has reached but not executed yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ScriptStep {
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1.
    pub column: usize,
    /// Call depth, which is 1 in the handler itself.
    pub depth: usize,
    /// Values of variables as text, by name.
    pub values: BTreeMap<String, String>,
    /// Memory of the agent, by name.
    pub memory: BTreeMap<String, String>,
    /// Lasting requests for the agent, as text.
    pub wishes: String,
}

/// The recorded run of a handler.
#[derive(Debug, Clone, PartialEq)]
pub struct Steps {
    /// Statements that were reached, in order, at most 2,000.
    pub steps: Vec<ScriptStep>,
    /// Result of the handler.
    pub outcome: Result<Rehearsal, ScriptError>,
}

/// Records the statements that a handler reaches.
#[derive(Clone, Default)]
struct Recorder {
    steps: Arc<Mutex<Vec<ScriptStep>>>,
    /// Positions of the expressions that are statements. Rhai reports them like any other expression.
    expressions: Arc<BTreeSet<(usize, usize)>>,
}

impl Recorder {
    /// Creates a recorder, and makes a script report each statement to it.
    fn of(compiled: &mut Compiled) -> Self {
        let mut expressions = BTreeSet::new();
        compiled.ast.walk(&mut |path| {
            // Only expressions are listed, because other statements are reported as such.
            if let Some(ASTNode::Stmt(Stmt::Expr(expression))) = path.last() {
                let at = expression.position();
                expressions.extend(at.line().zip(at.position()));
            }
            true
        });
        let all = Self {
            steps: Arc::default(),
            expressions: Arc::new(expressions),
        };
        let recorder = all.clone();
        #[expect(
            deprecated,
            reason = "Rhai marks interfaces that may change as deprecated; its version is locked"
        )]
        compiled.engine.register_debugger(
            |_, debugger| debugger,
            move |context, _, node, _, position| Ok(recorder.note(&context, &node, position)),
        );
        all
    }

    fn note(
        &self,
        context: &EvalContext<'_, '_, '_, '_, '_, '_>,
        node: &ASTNode<'_>,
        at: Position,
    ) -> DebuggerCommand {
        let mut steps = locked(&self.steps);
        if steps.len() == MOST_STEPS {
            // From here on Rhai does not stop any more, because there are no breakpoints.
            return DebuggerCommand::Continue;
        }
        let (Some(line), Some(column)) = (at.line(), at.position()) else {
            return DebuggerCommand::StepInto;
        };
        let is_statement = match node {
            // The statements of a block are reported individually; `Noop` marks beginnings and ends.
            ASTNode::Stmt(stmt) => !matches!(stmt, Stmt::Block(..) | Stmt::Noop(..)),
            _ => self.expressions.contains(&(line, column)),
        };
        if is_statement {
            steps.push(ScriptStep::new(line, column, context));
        }
        DebuggerCommand::StepInto
    }

    fn take(&self) -> Vec<ScriptStep> {
        std::mem::take(&mut *locked(&self.steps))
    }
}

impl ScriptStep {
    /// Returns the variables by name, and the memory by names of the form `memory.NAME`.
    pub fn all_values(&self) -> BTreeMap<String, String> {
        let memory = self.memory.iter();
        let memory = memory.map(|(name, value)| (format!("memory.{name}"), value.clone()));
        self.values.clone().into_iter().chain(memory).collect()
    }

    fn new(line: usize, column: usize, context: &EvalContext<'_, '_, '_, '_, '_, '_>) -> Self {
        let mut step = Self {
            line,
            column,
            depth: context.call_level(),
            values: BTreeMap::new(),
            memory: BTreeMap::new(),
            wishes: String::new(),
        };
        for (name, _, value) in context.scope().iter() {
            match value.read_lock::<Agent>() {
                Some(agent) => {
                    let content = agent.content();
                    let memory = content.memory.iter();
                    step.memory = memory
                        .map(|(key, value)| (key.to_string(), shown(value)))
                        .collect();
                    // Memory and wishes are copied as text immediately, because the handler continues to
                    // change the agent.
                    step.wishes = content.wants.to_string();
                }
                None => {
                    step.values.insert(name.to_owned(), shown(&value));
                }
            }
        }
        step
    }
}

/// Formats a value for display.
fn shown(value: &Dynamic) -> String {
    let text = if let Some(other) = value.read_lock::<Other>() {
        format!("agent {}, {:.1} m away", other.facts.id, other.distance)
    } else if let Some(mail) = value.read_lock::<Mail>() {
        format!("\"{}\" from {}", mail.topic, mail.from)
    } else {
        value.to_string()
    };
    if text.chars().count() <= LONGEST_VALUE {
        return text;
    }
    let cut: String = text.chars().take(LONGEST_VALUE).collect();
    format!("{cut}...")
}

/// Runs a handler of a script and records each statement.
///
/// # Errors
/// If the script has a mistake. Errors in the handler are part of the recorded steps.
pub fn step_through(
    file: &str,
    text: &str,
    folder: Option<&Path>,
    event: &str,
    subject: &Subject,
) -> Result<Steps, ScriptError> {
    // Compiled separately, because the recorder belongs to the engine and slows down every statement.
    let mut compiled = compile(file, text, folder)?;
    let recorder = Recorder::of(&mut compiled);
    let outcome = rehearse(&compiled, event, subject);
    Ok(Steps {
        steps: recorder.take(),
        outcome,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
    use super::*;

    /// Returns the lines of the statements that a handler reaches, with the variable `n` at each.
    fn walked(text: &str) -> Vec<(usize, Option<String>)> {
        let steps = step_through("t.rhai", text, None, "behave", &Subject::MadeUp(1)).unwrap();
        let all = steps.steps.into_iter();
        all.map(|step| (step.line, step.values.get("n").cloned()))
            .collect()
    }

    #[test]
    fn each_statement_is_noted_once_before_it_is_run() {
        let text = "fn behave(agent) {\n let n = agent.x + 1.0;\n agent.memory.seen = 3;\n n += 2.0;\n agent.stop();\n}";
        let lines: Vec<usize> = walked(text).into_iter().map(|(line, _)| line).collect();
        assert_eq!(lines, [2, 3, 4, 5]);
        let values: Vec<_> = walked(text).into_iter().map(|(_, n)| n).collect();
        let known = |n: &str| Some(n.to_owned());
        assert_eq!(values, [None, known("1.0"), known("1.0"), known("3.0")]);
    }

    #[test]
    fn loops_and_functions_of_the_script_are_walked_through() {
        let text = "fn behave(agent) {\n let n = 0;\n for i in 0..3 {\n  n += i;\n }\n n = twice(n);\n agent.memory.n = n;\n}\nfn twice(v) {\n v * 2\n}";
        let lines: Vec<usize> = walked(text).into_iter().map(|(line, _)| line).collect();
        assert_eq!(lines, [2, 3, 4, 4, 4, 6, 10, 7]);
    }
}
