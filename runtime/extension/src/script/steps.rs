//! Stepping through a handler: it is run once, and each statement is noted with the values that
//! there are when it comes to it. Whoever looks can then go forwards and backwards.

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

/// Statements that are noted; a handler that takes more runs on unseen.
const MOST_STEPS: usize = 2_000;
/// A value is cut at this length, characters.
const LONGEST_VALUE: usize = 120;

/// A statement that a handler has come to, before it is run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ScriptStep {
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1.
    pub column: usize,
    /// In how many functions of the script it lies; 1 in the handler itself.
    pub depth: usize,
    /// The variables by name, as texts.
    pub values: BTreeMap<String, String>,
    /// What the agent remembers, by name.
    pub memory: BTreeMap<String, String>,
    /// What it wishes, for people.
    pub wishes: String,
}

/// A handler from its first statement to its end.
#[derive(Debug, Clone, PartialEq)]
pub struct Steps {
    /// The statements in the order in which they were run, 2,000 at most.
    pub steps: Vec<ScriptStep>,
    /// What came of it.
    pub outcome: Result<Rehearsal, ScriptError>,
}

/// Notes statements.
#[derive(Clone, Default)]
struct Recorder {
    steps: Arc<Mutex<Vec<ScriptStep>>>,
    /// Places of the expressions that are statements: Rhai tells of them as of any other.
    expressions: Arc<BTreeSet<(usize, usize)>>,
}

impl Recorder {
    /// Lets a script tell of each statement.
    fn of(compiled: &mut Compiled) -> Self {
        let mut expressions = BTreeSet::new();
        compiled.ast.walk(&mut |path| {
            // Only those: other statements are told of as statements.
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
            reason = "Rhai marks what may change so; its version is locked"
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
            // Rhai asks no more from here on: there are no break-points.
            return DebuggerCommand::Continue;
        }
        let (Some(line), Some(column)) = (at.line(), at.position()) else {
            return DebuggerCommand::StepInto;
        };
        let is_statement = match node {
            // The statements of a block come by themselves; `Noop` stands for beginnings and ends.
            ASTNode::Stmt(stmt) => !matches!(stmt, Stmt::Block(..) | Stmt::Noop(..)),
            _ => self.expressions.contains(&(line, column)),
        };
        if is_statement {
            steps.push(ScriptStep::new((line, column), context));
        }
        DebuggerCommand::StepInto
    }

    fn take(&self) -> Vec<ScriptStep> {
        std::mem::take(&mut *locked(&self.steps))
    }
}

impl ScriptStep {
    /// The variables and what the agent remembers, `memory.NAME`, by name.
    pub fn all_values(&self) -> BTreeMap<String, String> {
        let memory = self.memory.iter();
        let memory = memory.map(|(name, value)| (format!("memory.{name}"), value.clone()));
        self.values.clone().into_iter().chain(memory).collect()
    }

    fn new((line, column): (usize, usize), context: &EvalContext<'_, '_, '_, '_, '_, '_>) -> Self {
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
                    // The agent is shared with the handler, so what it remembers and wishes is
                    // copied as text at once.
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

/// A value, for people.
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

/// Runs one handler of a script and notes each statement.
///
/// # Errors
/// What is wrong with the script; what goes wrong in the handler is part of its steps.
pub fn step_through(
    (file, text): (&str, &str),
    folder: Option<&Path>,
    event: &str,
    subject: &Subject,
) -> Result<Steps, ScriptError> {
    // Anew, not the version that runs: the recorder is part of the engine, and slows each
    // statement.
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

    /// Lines of the statements that a handler comes to, with the variable `n` at each.
    fn walked(text: &str) -> Vec<(usize, Option<String>)> {
        let steps = step_through(("t.rhai", text), None, "behave", &Subject::MadeUp(1)).unwrap();
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
