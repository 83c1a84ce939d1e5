//! Detection of unknown names in a script before it runs.

use rhai::{AST, ASTNode, Engine, Expr, Position, Stmt};
use std::collections::BTreeSet;
use std::sync::OnceLock;

/// Functions that Rhai itself handles.
const KEYWORDS: [&str; 11] = [
    "print",
    "debug",
    "type_of",
    "Fn",
    "call",
    "curry",
    "is_def_var",
    "is_def_fn",
    "is_shared",
    "abs",
    "parameter",
];

/// Returns the names of all native functions.
fn native_functions(engine: &Engine) -> &'static BTreeSet<String> {
    static NAMES: OnceLock<BTreeSet<String>> = OnceLock::new();
    NAMES.get_or_init(|| {
        let json = engine.gen_fn_metadata_to_json(true).unwrap_or_default();
        let document: serde_json::Value = serde_json::from_str(&json).unwrap_or_default();
        let mut names = BTreeSet::new();
        let mut open = vec![&document];
        while let Some(value) = open.pop() {
            if let Some(functions) = value["functions"].as_array() {
                let found = functions.iter().filter_map(|f| f["name"].as_str());
                names.extend(found.map(str::to_owned));
            }
            if let Some(modules) = value["modules"].as_object() {
                open.extend(modules.values());
            }
        }
        names.extend(KEYWORDS.map(str::to_owned));
        // It is registered only in order to be rejected. Here it is detected before the script runs.
        names.remove("sleep");
        names
    })
}

/// Returns the first unknown name, as its position and a message; `None` if all names are known.
pub(super) fn unknown_names<'a>(
    engine: &Engine,
    ast: &AST,
    modules: impl Iterator<Item = &'a String>,
) -> Option<(Position, String)> {
    let native = native_functions(engine);
    let own: BTreeSet<&str> = ast.iter_functions().map(|f| f.name).collect();
    let modules: BTreeSet<&String> = modules.collect();
    let mut found: Option<(Position, String)> = None;
    // Nodes are not always visited in the order of the text, but authors expect the first mistake in reading
    // order.
    let mut note = |position: Position, message: String| {
        let is_first = found.as_ref().is_none_or(|(at, _)| {
            (position.line(), position.position()) < (at.line(), at.position())
        });
        if is_first {
            found = Some((position, message));
        }
    };
    ast.walk(&mut |path| {
        match path.last() {
            Some(
                ASTNode::Expr(Expr::FnCall(call, position))
                | ASTNode::Stmt(Stmt::FnCall(call, position)),
            ) if call.namespace.is_empty() => {
                let name = call.name.as_str();
                if call.op_token.is_none() && !native.contains(name) && !own.contains(name) {
                    let known = own.iter().copied().chain(native.iter().map(String::as_str));
                    note(*position, unknown("function", name, known));
                }
            }
            Some(
                ASTNode::Expr(Expr::FnCall(call, position))
                | ASTNode::Stmt(Stmt::FnCall(call, position)),
            ) => {
                let root = call.namespace.root();
                // `global` is the module in which the engine keeps the constants of the script.
                if root != "global" && !modules.iter().any(|module| *module == root) {
                    note(*position, format!("unknown import \"{root}\""));
                }
            }
            _ => {}
        }
        true
    });
    found
}

/// Describes an unknown member of an owner, with a suggestion.
pub(super) fn unknown_of(
    owner: &str,
    what: &str,
    name: &str,
    known: &mut dyn Iterator<Item = &'static str>,
) -> String {
    format!("{owner} has no {}", unknown_words(what, name, known))
}

fn unknown<'a>(what: &str, name: &str, known: impl Iterator<Item = &'a str>) -> String {
    format!("there is no {}", unknown_words(what, name, known))
}

/// Describes an unknown word, with a suggestion.
pub(super) fn unknown_words<'a>(
    what: &str,
    name: &str,
    known: impl Iterator<Item = &'a str>,
) -> String {
    let close = known
        .map(|known| (strsim::damerau_levenshtein(known, name), known))
        // One change is allowed in words of at least three letters, and two in words of at least six. With
        // more changes, short words would resemble everything.
        .filter(|(distance, known)| *distance <= 2.min(known.len() / 3))
        .min();
    match close {
        Some((_, close)) => format!("{what} \"{name}\"; did you mean \"{close}\"?"),
        None => format!("{what} \"{name}\""),
    }
}
