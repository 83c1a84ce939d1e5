//! Checks how a script uses its arguments before it runs. Detects unknown members, read-only properties,
//! handlers with wrong parameters, and unknown words.
//!
//! Types are propagated from the parameters of handlers through variables, loops and calls of the script's
//! own functions. Unknown types are not reported.

use super::api::{ApiItem, ApiKind, api};
use super::check::{unknown_of, unknown_words};
use rhai::{AST, ASTNode, BinaryExpr, Expr, FnCallExpr, Position, Stmt};
use roadwright_agent::{ParameterInfo, Slot};
use std::collections::{BTreeMap, BTreeSet};

/// Known type of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Type {
    Agent,
    Other,
    Others,
    Message,
    Signal,
}

impl Type {
    /// Returns the name of the type as an owner of API items; `None` if the API has no items for
    /// it.
    fn owner(self) -> Option<&'static str> {
        match self {
            Self::Agent => Some("agent"),
            Self::Other => Some("other"),
            Self::Message => Some("message"),
            Self::Signal => Some("signal"),
            Self::Others => None,
        }
    }
}

/// Sides of a lane, as accepted by `prefer_lane`.
pub(super) const SIDES: [&str; 3] = ["left", "right", "any"];

/// A function of the script.
struct Function {
    name: String,
    parameters: Vec<String>,
    from: Position,
    to: Position,
    /// Known types of its variables; `None` for a variable with several types.
    types: BTreeMap<String, Option<Type>>,
}

/// A mistake and its position.
type Mistake = (Position, String);

struct Checker<'a> {
    functions: Vec<Function>,
    parameters: &'a [ParameterInfo],
    found: Vec<Mistake>,
    /// Whether a variable loses its known type if a value of unknown type is assigned to it.
    is_strict: bool,
    /// Whether mistakes are recorded in addition to types.
    is_last: bool,
}

/// Returns the first mistake of a script with known parameters; `None` if it has none.
pub(super) fn mistakes(ast: &AST, parameters: &[ParameterInfo]) -> Option<Mistake> {
    let functions = ast.iter_functions().filter_map(|f| {
        let definition = ast.shared_lib().get_script_fn(f.name, f.params.len())?;
        Some(Function {
            name: f.name.to_owned(),
            parameters: f.params.iter().map(|&p| p.to_owned()).collect(),
            from: definition.body.start_position(),
            to: definition.body.end_position(),
            types: BTreeMap::new(),
        })
    });
    let mut checker = Checker {
        functions: functions.collect(),
        parameters,
        found: Vec::new(),
        is_strict: false,
        is_last: false,
    };
    let mut called = BTreeSet::new();
    ast.walk(&mut |path| {
        if let Some(ASTNode::Stmt(Stmt::FnCall(call, _)) | ASTNode::Expr(Expr::FnCall(call, _))) =
            path.last()
        {
            called.insert(call.name.to_string());
        }
        true
    });
    checker.type_handlers(&called);
    // The first passes propagate types through nested calls, as deep as scripts usually have. The
    // next pass drops ambiguous types, and the last one records mistakes.
    for pass in 0..6 {
        checker.is_strict = pass >= 4;
        checker.is_last = pass == 5;
        ast.walk(&mut |path| {
            if let Some(node) = path.last() {
                checker.look(node);
            }
            true
        });
    }
    let mut found = checker.found;
    found.sort_by_key(|(at, _)| (at.line(), at.position()));
    found.into_iter().next()
}

impl Checker<'_> {
    /// Assigns types to the parameters of handlers, and checks their names.
    fn type_handlers(&mut self, called: &BTreeSet<String>) {
        let events = || api().iter().filter(|item| item.kind == ApiKind::Event);
        let names: Vec<&'static str> = events().map(|item| item.name).collect();
        let mut wrong = Vec::new();
        for function in &mut self.functions {
            let Some(event) = events().find(|event| event.name == function.name) else {
                // A function that the script calls itself is not treated as a handler.
                if function.name.starts_with("on_") && !called.contains(&function.name) {
                    let known = names.iter().copied();
                    let words = unknown_words("handler", &function.name, known);
                    wrong.push((function.from, format!("the host never calls the {words}")));
                }
                continue;
            };
            let wanted = parameters_of(event.signature);
            if wanted.len() != function.parameters.len() {
                let text = format!(
                    "{} with {} parameters would never be called; write {}",
                    function.name,
                    function.parameters.len(),
                    event.signature
                );
                wrong.push((function.from, text));
                continue;
            }
            for (name, kind) in function.parameters.iter().zip(wanted) {
                let found = match kind {
                    "agent" => Type::Agent,
                    "message" => Type::Message,
                    "signal" => Type::Signal,
                    // The other object may not be a vehicle.
                    "other" => Type::Other,
                    // A number.
                    _ => continue,
                };
                function.types.insert(name.clone(), Some(found));
            }
        }
        self.found.extend(wrong);
    }

    fn note(&mut self, at: Position, text: String) {
        if self.is_last {
            self.found.push((at, text));
        }
    }

    /// Returns the index of the function that contains a position; `None` if the position is at the top
    /// level.
    fn function_at(&self, at: Position) -> Option<usize> {
        let place = |at: Position| (at.line(), at.position());
        let mut functions = self.functions.iter();
        functions.position(|f| place(f.from) <= place(at) && place(at) <= place(f.to))
    }

    fn look(&mut self, node: &ASTNode<'_>) {
        match node {
            ASTNode::Stmt(Stmt::Var(parts, _, at)) => {
                let found = self.type_of(&parts.1);
                self.know(*at, parts.0.as_str(), found);
            }
            ASTNode::Stmt(Stmt::For(parts, at)) => {
                let list = self.type_of(&parts.2.expr);
                let found = list.filter(|list| *list == Type::Others);
                self.know(*at, parts.0.as_str(), found.map(|_| Type::Other));
            }
            ASTNode::Stmt(Stmt::Assignment(parts)) => self.look_at_assignment(&parts.1),
            ASTNode::Stmt(Stmt::FnCall(call, _)) | ASTNode::Expr(Expr::FnCall(call, _)) => {
                self.pass_types(call);
            }
            ASTNode::Expr(Expr::Dot(parts, ..)) => {
                if let Some(owner) = self.type_of(&parts.lhs) {
                    self.look_at_member(owner, &parts.rhs);
                }
            }
            _ => {}
        }
    }

    /// Records the type of a variable.
    fn know(&mut self, at: Position, name: &str, found: Option<Type>) {
        if let Some(function) = self.function_at(at) {
            let is_strict = self.is_strict;
            note_type(&mut self.functions[function].types, name, found, is_strict);
        }
    }

    /// Passes the known argument types of a call on to the script function that is called.
    fn pass_types(&mut self, call: &FnCallExpr) {
        if call.op_token.is_some() || !call.namespace.is_empty() {
            return;
        }
        let types: Vec<Option<Type>> = call.args.iter().map(|arg| self.type_of(arg)).collect();
        let callee = self
            .functions
            .iter_mut()
            .find(|f| f.name == call.name.as_str() && f.parameters.len() == types.len());
        let Some(callee) = callee else { return };
        for (name, found) in callee.parameters.clone().iter().zip(types) {
            note_type(&mut callee.types, name, found, self.is_strict);
        }
    }

    /// Returns the type of an expression's value; `None` if it is not known.
    fn type_of(&self, expression: &Expr) -> Option<Type> {
        match expression {
            Expr::Variable(variable, _, at) => {
                let function = self.function_at(*at)?;
                let types = &self.functions[function].types;
                types.get(variable.1.as_str()).copied().flatten()
            }
            Expr::Dot(parts, ..) => {
                let owner = self.type_of(&parts.lhs)?;
                type_after(owner, &parts.rhs)
            }
            Expr::Index(parts, ..) => match self.type_of(&parts.lhs)? {
                Type::Others => Some(Type::Other),
                _ => None,
            },
            _ => None,
        }
    }

    fn look_at_assignment(&mut self, parts: &BinaryExpr) {
        if let Expr::Variable(variable, _, at) = &parts.lhs {
            let found = self.type_of(&parts.rhs);
            self.know(*at, variable.1.as_str(), found);
        }
        let Expr::Dot(target, ..) = &parts.lhs else {
            return;
        };
        let (Some(owner), Expr::Property(property, at)) = (self.type_of(&target.lhs), &target.rhs)
        else {
            return;
        };
        let Some(owner) = owner.owner() else { return };
        let name = property.2.as_str();
        let is_read_only = |item: &&ApiItem| {
            item.owner == owner && item.name == name && item.kind == ApiKind::Property
        };
        if api().iter().any(|item| is_read_only(&item)) {
            self.note(*at, format!("{owner}.{name} is read-only"));
        }
    }

    /// Checks the first member of a chain. The following ones are checked with its result type.
    fn look_at_member(&mut self, owner: Type, member: &Expr) {
        let Some(name) = owner.owner() else { return };
        let of_owner = || api().iter().filter(|item| item.owner == name);
        let first = match member {
            Expr::Dot(parts, ..) | Expr::Index(parts, ..) => &parts.lhs,
            other => other,
        };
        match first {
            Expr::Property(property, at) => {
                let wanted = property.2.as_str();
                let properties = of_owner().filter(|item| item.kind != ApiKind::Method);
                let mut names = properties.map(|item| item.name);
                if !names.clone().any(|known| known == wanted) {
                    let text = unknown_of(name, "property", wanted, &mut names);
                    self.note(*at, text);
                }
            }
            Expr::MethodCall(call, at) => {
                let wanted = call.name.as_str();
                let methods = of_owner().filter(|item| item.kind == ApiKind::Method);
                let mut names = methods.map(|item| item.name);
                let is_own = self.functions.iter().any(|f| f.name == wanted);
                let is_known = names.clone().any(|known| known == wanted);
                if is_known {
                    self.look_at_words(call, *at);
                } else if !is_own && wanted != "type_of" && wanted != "to_string" {
                    let text = unknown_of(name, "function", wanted, &mut names);
                    self.note(*at, text);
                }
            }
            _ => {}
        }
        // The result and its members.
        if let Expr::Dot(parts, ..) = member
            && let Some(next) = type_after(owner, &parts.lhs)
        {
            self.look_at_member(next, &parts.rhs);
        }
    }

    /// Checks string literals that must be known words.
    fn look_at_words(&mut self, call: &FnCallExpr, at: Position) {
        let word = |number: usize| match call.args.get(number) {
            Some(Expr::StringConstant(word, _)) => Some(word.as_str()),
            _ => None,
        };
        let text = match (call.name.as_str(), word(0)) {
            ("set_parameter" | "use_module", Some(slot)) => Slot::from_name(slot)
                .is_none()
                .then(|| unknown_words("slot", slot, Slot::ALL.iter().map(|s| s.name()))),
            ("prefer_lane", Some(side)) => {
                (!SIDES.contains(&side)).then(|| unknown_words("side", side, SIDES.into_iter()))
            }
            ("parameter", Some(key)) => {
                let own = self.parameters.iter().map(|info| info.key);
                let is_known = own.clone().any(|known| known == key);
                (!is_known).then(|| unknown_words("parameter", key, own))
            }
            _ => None,
        };
        if let Some(text) = text {
            self.note(at, format!("there is no {text}"));
        }
    }
}

/// Records the type of a variable. A variable with several types, or with an unknown one, becomes unknown.
fn note_type(
    types: &mut BTreeMap<String, Option<Type>>,
    name: &str,
    found: Option<Type>,
    is_strict: bool,
) {
    // In the first passes unknown may mean not known yet, so known types are kept. Strict passes treat it as
    // another type, so that nothing is reported about the variable.
    match (types.get(name), found) {
        (None, Some(found)) => {
            types.insert(name.to_owned(), Some(found));
        }
        (Some(Some(known)), found)
            if found.is_some_and(|f| f != *known) || is_strict && found.is_none() =>
        {
            types.insert(name.to_owned(), None);
        }
        _ => {}
    }
}

/// Returns the parameters of `fn name(a, b)`.
fn parameters_of(signature: &'static str) -> Vec<&'static str> {
    let inner = signature.split_once('(').map_or("", |(_, rest)| rest);
    let inner = inner.trim_end_matches(')');
    inner.split(", ").filter(|part| !part.is_empty()).collect()
}

/// Returns the type of a member of `owner`; `None` if it is not known.
fn type_after(owner: Type, member: &Expr) -> Option<Type> {
    let name = match member {
        Expr::Property(property, _) => property.2.as_str(),
        // The property with the same name is a string.
        Expr::MethodCall(call, _) if call.name == "signal" => {
            return (owner == Type::Agent).then_some(Type::Signal);
        }
        Expr::MethodCall(call, _) => call.name.as_str(),
        // A chain continues with the result of its first member.
        Expr::Dot(parts, ..) => return type_after(type_after(owner, &parts.lhs)?, &parts.rhs),
        _ => return None,
    };
    match (owner, name) {
        (Type::Agent, "leader" | "follower" | "find") => Some(Type::Other),
        (Type::Agent, "nearby" | "members") => Some(Type::Others),
        _ => None,
    }
}
