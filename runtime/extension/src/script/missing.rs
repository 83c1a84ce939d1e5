//! Detection of values that may be missing but are used without a check.

use super::compile::{Compiled, ScriptError};
use rhai::{ASTFlags, ASTNode, BinaryExpr, Expr, Position, Stmt};
use std::collections::BTreeSet;

/// Members of agents that may be `()`, each with a description of when this is the case.
const MAYBE: [(&str, &str); 3] = [
    ("leader", "no vehicle is ahead"),
    ("follower", "no vehicle follows"),
    ("find", "no agent with this id is driving"),
];
/// Numeric members that a script can also use to check whether there is a leader.
const OF_LEADER: [&str; 2] = ["leader_gap", "leader_speed"];

/// Returns the uses of values that may be missing and that the script has not checked before.
pub(super) fn missing(compiled: &Compiled) -> Vec<ScriptError> {
    let mut finder = Finder::default();
    compiled.ast.walk(&mut |path| {
        if let Some(node) = path.last() {
            finder.look(node);
        }
        true
    });
    let mut found = Vec::new();
    for (name, at) in &finder.used {
        let is_asked = finder.asked.iter().any(|(asked, place)| {
            let is_of_leader = *name == "leader" && OF_LEADER.contains(&asked.as_str());
            (asked.as_str() == *name || is_of_leader) && order(*place) <= order(*at)
        });
        let why = MAYBE.iter().find(|(known, _)| known == name);
        if let Some((_, why)) = why.filter(|_| !is_asked) {
            let what = format!("{name} is () if {why}; compare it with () first, or use ?.");
            found.push((*at, what));
        }
    }
    // An imported module may set any memory.
    if compiled.imports.is_empty() && !finder.remembers_any {
        for (name, at) in &finder.counted {
            if !finder.remembered.contains(name) {
                let what = format!(
                    "memory.{name} is () here, because nothing else sets it; set it in on_start, \
                     or use memory.{name} ?? 0"
                );
                found.push((*at, what));
            }
        }
    }
    let error = |(at, what)| ScriptError::at(&compiled.file, &compiled.text, at, what);
    found.into_iter().map(error).collect()
}

fn order(at: Position) -> (Option<usize>, Option<usize>) {
    (at.line(), at.position())
}

#[derive(Default)]
struct Finder {
    /// Uses of values that may be missing, as members with their positions.
    used: Vec<(&'static str, Position)>,
    /// Members that the script compares or assigns to a variable, with their positions. They include numbers
    /// that depend on the leader.
    asked: Vec<(String, Position)>,
    /// Names in the memory to which the script assigns a value.
    remembered: BTreeSet<String>,
    /// Whether the script may assign a value to any name in the memory, because it uses an index.
    remembers_any: bool,
    /// Names in the memory that are incremented or decremented.
    counted: Vec<(String, Position)>,
}

impl Finder {
    fn look(&mut self, node: &ASTNode<'_>) {
        match node {
            ASTNode::Expr(Expr::Dot(parts, flags, at)) => self.look_at_member(parts, *flags, *at),
            ASTNode::Expr(Expr::FnCall(call, at)) | ASTNode::Stmt(Stmt::FnCall(call, at)) => {
                if matches!(call.name.as_str(), "==" | "!=" | "??") {
                    let names = call.args.iter().filter_map(last_member);
                    self.asked.extend(names.map(|(name, _)| (name, *at)));
                }
            }
            ASTNode::Expr(Expr::Coalesce(list, at)) => {
                let names = list.iter().filter_map(last_member);
                self.asked.extend(names.map(|(name, _)| (name, *at)));
            }
            ASTNode::Expr(Expr::Property(property, at)) => {
                let name = property.2.as_str();
                if OF_LEADER.contains(&name) {
                    self.asked.push((name.to_owned(), *at));
                }
            }
            ASTNode::Stmt(Stmt::Assignment(parts)) => {
                self.look_at_assignment(parts.0.is_op_assignment(), &parts.1.lhs);
                self.note_variable(&parts.1);
            }
            ASTNode::Stmt(Stmt::Var(parts, _, at)) => {
                // A variable that holds the value is compared under its own name, which is not tracked here.
                if let Some((name, _)) = last_member(&parts.1) {
                    self.asked.push((name, *at));
                }
            }
            _ => {}
        }
    }

    /// Checks the use of a member of a value that may be missing, such as `agent.leader.speed`. The operator
    /// `?.` includes the check.
    fn look_at_member(&mut self, parts: &BinaryExpr, flags: ASTFlags, at: Position) {
        if flags.contains(ASTFlags::NEGATED) {
            return;
        }
        let Some((name, place)) = own_name(&parts.lhs) else {
            return;
        };
        if let Some((known, _)) = MAYBE.iter().find(|(known, _)| *known == name) {
            let at = if place.is_none() { at } else { place };
            self.used.push((*known, at));
        }
    }

    fn note_variable(&mut self, parts: &BinaryExpr) {
        if let (Expr::Variable(..), Some((name, at))) = (&parts.lhs, last_member(&parts.rhs)) {
            self.asked.push((name, at));
        }
    }

    fn look_at_assignment(&mut self, counts: bool, target: &Expr) {
        match in_memory(target) {
            Some(Remembered::Name(name, at)) if counts => self.counted.push((name, at)),
            Some(Remembered::Name(name, _)) => {
                self.remembered.insert(name);
            }
            Some(Remembered::Any) => self.remembers_any = true,
            None => {}
        }
    }
}

/// The part of a memory that an assignment sets.
enum Remembered {
    Name(String, Position),
    Any,
}

/// Returns the part of the memory that an assignment to `target` sets, such as `name` for
/// `agent.memory.name`; `None` if `target` is not in a memory.
fn in_memory(target: &Expr) -> Option<Remembered> {
    match target {
        Expr::Dot(parts, ..) => {
            let is_memory = own_name(&parts.lhs).is_some_and(|(name, _)| name == "memory");
            match &parts.rhs {
                Expr::Property(property, at) if is_memory => {
                    Some(Remembered::Name(property.2.to_string(), *at))
                }
                rest => in_memory(rest),
            }
        }
        Expr::Index(parts, ..) => {
            let is_memory = last_member(&parts.lhs).is_some_and(|(name, _)| name == "memory");
            is_memory.then_some(Remembered::Any)
        }
        _ => None,
    }
}

/// Returns the name of a property or of a called method, with its position; `None` for other expressions.
fn own_name(expression: &Expr) -> Option<(String, Position)> {
    match expression {
        Expr::Property(property, at) => Some((property.2.to_string(), *at)),
        Expr::MethodCall(call, at) => Some((call.name.to_string(), *at)),
        _ => None,
    }
}

/// Returns the last member of a chain, with its position: `leader` for `agent.leader`.
fn last_member(expression: &Expr) -> Option<(String, Position)> {
    match expression {
        Expr::Dot(parts, ..) => last_member(&parts.rhs).or_else(|| last_member(&parts.lhs)),
        other => own_name(other),
    }
}
