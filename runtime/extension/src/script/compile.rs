//! Compiles the text of a script into functions that can be called, or reports an error with its position.

use super::api::{interface, parameter};
use super::budget::{OPERATIONS, begin_call, limit};
use super::check::unknown_names;
use super::copies::{charge_copies, cost_of_constant};
use super::members::mistakes;
use super::signal_logic::DECIDE;
use super::tokens::too_many_parameters;
use crate::lock::locked;
use crate::native::backend::{intern, intern_parameters, printable};
use rhai::module_resolvers::DummyModuleResolver;
use rhai::packages::{Package, StandardPackage};
use rhai::{
    AST, ASTNode, Engine, EvalAltResult, Expr, Module, OptimizationLevel, Position, Scope, Stmt,
};
use roadwright_agent::{ModuleKind, ParameterInfo};
use roadwright_files::read_text;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex};
use thiserror::Error;

/// Maximum depth of nested imports.
// This also ends circular imports.
const IMPORT_DEPTH: usize = 4;
/// Maximum size of a script, bytes.
pub const LONGEST_SCRIPT: u64 = 256 * 1024;
/// Fixed seed of Rhai's hashing, so that runs do not differ.
const HASHING: [u64; 4] = [0x526f_6164, 0x7772_6967, 0x6874_2e31, 0x2e30_0000];

/// Number of characters of a line that are shown in an error. It is slightly more than the usual line length
/// in an editor.
const SHOWN: usize = 120;
/// Number of characters that are shown before the position of the error.
const SHOWN_BEFORE: usize = 80;

/// An error in a script with its position.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub struct ScriptError {
    /// Name of the file.
    pub file: String,
    /// Line, from 1; 0 if it is not known.
    pub line: usize,
    /// Column, from 1; 0 if it is not known.
    pub column: usize,
    /// Description of the mistake.
    pub message: String,
    /// Line of the script.
    pub line_text: String,
}

impl std::fmt::Display for ScriptError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.line == 0 {
            return write!(f, "{}: {}", self.file, self.message);
        }
        let (shown, caret) = self.excerpt();
        write!(
            f,
            "{}:{}:{}: {}\n    {shown}\n    {}^",
            self.file,
            self.line,
            self.column,
            self.message,
            " ".repeat(caret)
        )
    }
}

impl ScriptError {
    /// Returns the line, truncated around the column if it is long, and the number of characters before the
    /// column in the returned text. A script can be a single line of 256 KiB.
    fn excerpt(&self) -> (String, usize) {
        let column = self.column.saturating_sub(1);
        let length = self.line_text.chars().count();
        if length <= SHOWN {
            return (self.line_text.clone(), column);
        }
        let first = column
            .saturating_sub(SHOWN_BEFORE)
            .min(length.saturating_sub(SHOWN));
        let cut = |is_cut: bool| if is_cut { "…" } else { "" };
        let before = cut(first > 0);
        let text: String = self.line_text.chars().skip(first).take(SHOWN).collect();
        let shown = format!("{before}{text}{}", cut(first + SHOWN < length));
        (shown, column - first + before.chars().count())
    }

    /// Returns the same error, with its line taken from another version of the text.
    pub(super) fn in_text(self, text: &str) -> Self {
        let at = match (self.line, u16::try_from(self.column)) {
            (0, _) | (_, Err(_)) => return self,
            (line, Ok(column)) => u16::try_from(line).map(|line| Position::new(line, column)),
        };
        match at {
            Ok(at) => Self::at(&self.file, text, at, self.message),
            Err(_) => self,
        }
    }

    pub(super) fn at(file: &str, text: &str, position: Position, message: String) -> Self {
        let line = position.line().unwrap_or(0);
        let source = line.checked_sub(1).and_then(|at| text.lines().nth(at));
        Self {
            file: file.to_owned(),
            line,
            column: position.position().unwrap_or(usize::from(line > 0)),
            message,
            // Tabs and terminal control characters become one character each, so that the caret is below the
            // column.
            line_text: printable(source.unwrap_or_default()),
        }
    }
}

/// Parameters that a script declares when its top level runs.
#[derive(Debug, Clone, Default)]
pub(super) struct Parameters(Arc<Mutex<Vec<ParameterInfo>>>);

impl Parameters {
    pub(super) fn add(
        &self,
        key: &str,
        min: f64,
        max: f64,
        default: f64,
        unit: &str,
        doc: &str,
    ) -> Result<(), String> {
        if !(min <= default && default <= max) {
            return Err(format!(
                "parameter {key}: the default {default} is outside the range {min} to {max}"
            ));
        }
        let mut list = locked(&self.0);
        if list.iter().any(|known| known.key == key) {
            return Err(format!("parameter {key} is declared twice"));
        }
        list.push(ParameterInfo::number(
            intern(key),
            intern(unit),
            (min, max),
            default,
            intern(doc),
        ));
        Ok(())
    }

    fn list(&self) -> Vec<ParameterInfo> {
        let list = locked(&self.0);
        list.clone()
    }
}

/// Handlers that a script defines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Handlers {
    pub(super) start: bool,
    pub(super) arrive: bool,
    pub(super) blocked: bool,
    pub(super) message: bool,
    pub(super) near: bool,
    pub(super) collision: bool,
    pub(super) no_route: bool,
    pub(super) stage: bool,
}

impl Handlers {
    fn of(script: &Compiled) -> Self {
        Self {
            start: script.has("on_start", 1),
            arrive: script.has("on_arrive", 1),
            blocked: script.has("on_blocked", 1),
            message: script.has("on_message", 2),
            near: script.has("on_near", 2),
            collision: script.has("on_collision", 2),
            no_route: script.has("on_no_route", 1),
            stage: script.has("on_stage", 3),
        }
    }
}

/// A compiled script.
pub struct Compiled {
    pub(super) engine: Engine,
    pub(super) ast: AST,
    pub(super) file: String,
    pub(super) text: String,
    pub(super) handlers: Handlers,
    /// Kind of the script: a behaviour, or a signal controller.
    pub(super) kind: ModuleKind,
    /// Whether the script may access signals that are not ahead of its agents.
    pub(super) looks_at_signals: bool,
    /// Parameters that the script declares.
    pub parameters: &'static [ParameterInfo],
    /// The first comment of the script, used as a description.
    pub doc: &'static str,
    /// Hash of the script's text and of all its imports.
    pub hash: String,
    /// Files that the script imports.
    pub imports: Vec<PathBuf>,
    modules: BTreeMap<String, rhai::Shared<Module>>,
}

/// Rhai's standard library. All engines share it, because it has thousands of functions.
pub(super) static STANDARD: LazyLock<StandardPackage> = LazyLock::new(|| {
    seed_hashing();
    StandardPackage::new()
});

/// Fixes the seed that Rhai uses to hash the names of functions, once per process. Functions that
/// were registered earlier are not found afterwards, so this function must be called before every
/// registration.
pub(super) fn seed_hashing() {
    // Fails if the seed is set already.
    let _ = rhai::config::hashing::set_hashing_seed(Some(HASHING));
}

/// Creates an engine with the limits and the API of scripts. It adds the parameters declared by a script to
/// `parameters`.
pub(super) fn engine(parameters: Parameters) -> Engine {
    seed_hashing();
    let mut engine = Engine::new_raw();
    STANDARD.register_into_engine(&mut engine);
    limit(&mut engine);
    charge_copies(&mut engine, BTreeMap::new());
    // The next higher level would call host functions at compile time.
    engine.set_optimization_level(OptimizationLevel::Simple);
    engine.set_module_resolver(DummyModuleResolver::new());
    engine.disable_symbol("eval");
    // Rhai's own function would block the simulation, and no limit would stop it.
    engine.register_fn("sleep", |_: i64| no_sleep());
    engine.register_fn("sleep", |_: f64| no_sleep());
    engine.register_global_module(interface());
    parameter(&mut engine, parameters);
    engine
}

fn no_sleep() -> Result<(), Box<EvalAltResult>> {
    Err("scripts cannot sleep; use agent.wait(seconds) to stop an agent".into())
}

/// Compiles a script. `folder` contains its imports.
///
/// # Errors
/// If the script has a mistake, with the file, line and column of the first one, and the line itself.
pub fn compile(file: &str, text: &str, folder: Option<&Path>) -> Result<Compiled, ScriptError> {
    let mut compiled = compile_at_depth(file, text, folder, 0)?;
    let error = |message: &str| {
        let message = message.to_owned();
        Err(ScriptError::at(file, text, Position::NONE, message))
    };
    compiled.kind = match (compiled.has("behave", 1), compiled.has(DECIDE, 1)) {
        (true, false) => ModuleKind::Behaviour,
        (false, true) => ModuleKind::SignalController,
        (true, true) => {
            return error(
                "a script defines either behave (a behaviour) or decide (a signal controller), not both",
            );
        }
        (false, false) => {
            return error(
                "a script needs fn behave(agent), or fn decide(signal) for a signal controller",
            );
        }
    };
    super::rehearsal::try_out(&compiled)?;
    Ok(compiled)
}

/// Compiles a script that is known to be complete, without a trial call of its handlers.
///
/// # Errors
/// Same as for [`compile`].
pub(super) fn compile_unplayed(
    file: &str,
    text: &str,
    folder: Option<&Path>,
) -> Result<Compiled, ScriptError> {
    compile_at_depth(file, text, folder, 0)
}

fn compile_at_depth(
    file: &str,
    text: &str,
    folder: Option<&Path>,
    depth: usize,
) -> Result<Compiled, ScriptError> {
    let error =
        |position: Position, message: String| ScriptError::at(file, text, position, message);
    // The text may come from the editor, and not from a file of limited size.
    if text.len() as u64 > LONGEST_SCRIPT {
        let message = format!("a script can be at most {} KiB long", LONGEST_SCRIPT / 1024);
        return Err(error(Position::NONE, message));
    }
    let described = Parameters::default();
    // The script is compiled twice. The first time any name is accepted, because the definitions of the top
    // level are known only after it has run.
    let mut first = engine(described.clone());
    if let Some((position, message)) = too_many_parameters(&first, text) {
        return Err(error(position, message));
    }
    let ast = first
        .compile(text)
        .map_err(|e| error(e.position(), with_hint(&e.err_type().to_string())))?;
    let imported = import_all(&ast, folder, depth, text).map_err(|inner| match inner {
        (position, ImportError::Here(message)) => error(position, message),
        (_, ImportError::There(inner)) => *inner,
    })?;
    let modules = imported.modules;
    for (alias, module) in &modules {
        first.register_static_module(alias, module.clone());
    }
    // The top level runs once to define constants and parameters, with the budget of one call.
    let top = without_imports(&ast);
    let mut scope = Scope::new();
    begin_call();
    first
        .run_ast_with_scope(&mut scope, &top)
        .map_err(|e| runtime_error(file, text, &top, &e))?;
    let mut constants = Module::new();
    let mut costs = BTreeMap::new();
    let mut known = Scope::new();
    for (name, _, value) in scope.iter() {
        let cost = cost_of_constant(name, &value);
        let cost = cost.map_err(|e| runtime_error(file, text, &top, &e))?;
        costs.insert(name.to_owned(), cost);
        constants.set_var(name, value.clone());
        known.push_constant_dynamic(name, value);
    }
    // The second time, every name must be known. Parameters are collected in an unused list, because the
    // first run has declared them already.
    let mut engine = engine(Parameters::default());
    engine.register_global_module(constants.into());
    charge_copies(&mut engine, costs);
    for (alias, module) in &modules {
        engine.register_static_module(alias, module.clone());
    }
    engine.set_strict_variables(true);
    let ast = engine
        .compile_with_scope(&known, text)
        .map_err(|e| error(e.position(), with_hint(&e.err_type().to_string())))?;
    if let Some((position, message)) = unknown_names(&engine, &ast, modules.keys()) {
        return Err(error(position, message));
    }
    let parameters = described.list();
    if let Some((position, message)) = mistakes(&ast, &parameters) {
        return Err(error(position, message));
    }
    let mut compiled = Compiled {
        engine,
        ast,
        file: file.to_owned(),
        text: text.to_owned(),
        handlers: Handlers::default(),
        kind: ModuleKind::Behaviour,
        // Imported modules may look up signals as well.
        looks_at_signals: text.contains("signal(") || !modules.is_empty(),
        parameters: intern_parameters(parameters),
        doc: intern(&first_comment(text)),
        hash: imported.hash,
        imports: imported.files,
        modules,
    };
    compiled.handlers = Handlers::of(&compiled);
    compiled.looks_at_signals |= compiled.handlers.stage;
    Ok(compiled)
}

/// Converts a run-time error of a script to an error with a position.
pub(super) fn runtime_error(
    file: &str,
    text: &str,
    ast: &AST,
    error: &EvalAltResult,
) -> ScriptError {
    let mut inner = error;
    // The author needs the position of the failure and not the position of the call.
    while let EvalAltResult::ErrorInFunctionCall(_, _, deeper, _) = inner {
        inner = deeper;
    }
    let mut position = inner.position();
    let message = match inner {
        EvalAltResult::ErrorTerminated(..) | EvalAltResult::ErrorTooManyOperations(_) => {
            if position.is_none() {
                position = first_loop(ast);
            }
            format!("more than {OPERATIONS} operations in one call: is there an endless loop?")
        }
        EvalAltResult::ErrorRuntime(value, _) => value.to_string(),
        other => {
            let text = other.to_string();
            // The position is reported separately, so it is removed from the message.
            let end = text.rfind(" (line ").unwrap_or(text.len());
            with_hint(&text[..end])
        }
    };
    ScriptError::at(file, text, position, message)
}

/// Adds a hint to Rhai's message for common misunderstandings.
fn with_hint(text: &str) -> String {
    let hint = if text.contains("is a reserved keyword") {
        let word = text.split('\'').nth(1).unwrap_or_default();
        let items = super::api::api();
        let close = items
            .iter()
            .map(|item| item.name)
            .min_by_key(|name| strsim::damerau_levenshtein(name, word));
        let close = close.filter(|name| strsim::damerau_levenshtein(name, word) <= 2);
        match close {
            Some(close) => format!("; did you mean \"{close}\"?"),
            None => "; choose another name".to_owned(),
        }
    } else if text.contains("Cannot modify constant") {
        "; store values that change in agent.memory".to_owned()
    } else if text.starts_with("Function not found") && text.contains("()") {
        "; () is a missing value: provide a default for a value that was never set with \
         agent.memory.name ?? 0, and check for a missing agent by comparing with ()"
            .to_owned()
    } else if text.contains("for type '()'") {
        "; () is a missing agent or a value that was never set: compare with () first".to_owned()
    } else {
        String::new()
    };
    format!("{text}{hint}")
}

/// Returns the position of the first loop. Loops without a body are preferred, because Rhai reports no
/// position inside them.
fn first_loop(ast: &AST) -> Position {
    let (mut empty, mut any) = (Position::NONE, Position::NONE);
    ast.walk(&mut |path| {
        if let Some(ASTNode::Stmt(Stmt::While(flow, at) | Stmt::Do(flow, _, at))) = path.last() {
            any = any.or_else(*at);
            if flow.body.is_empty() {
                empty = empty.or_else(*at);
            }
        }
        true
    });
    empty.or_else(any)
}

impl Compiled {
    /// Whether the script has a function with this name and number of parameters.
    pub(super) fn has(&self, name: &str, arguments: usize) -> bool {
        let mut functions = self.ast.iter_functions();
        functions.any(|f| f.name == name && f.params.len() == arguments)
    }

    /// Returns the text of the script.
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// Returns the leading comment of a script.
fn first_comment(text: &str) -> String {
    let lines = text.lines().map(str::trim);
    let comment = lines.take_while(|line| line.starts_with("//"));
    let words: Vec<&str> = comment
        .map(|line| line.trim_start_matches('/').trim())
        .collect();
    words.join(" ")
}

/// Returns name, alias and position of the imports at the top level.
fn imports_of(ast: &AST) -> Vec<(Result<String, String>, String, Position)> {
    let statements = ast.statements().iter();
    let imports = statements.filter_map(|statement| match statement {
        Stmt::Import(parts, position) => Some((&parts.0, parts.1.as_str(), *position)),
        _ => None,
    });
    imports
        .map(|(name, alias, position)| {
            let name = match name {
                Expr::StringConstant(name, _) => Ok(name.to_string()),
                _ => Err("the name of an import must be a string literal".to_owned()),
            };
            let alias = match (&name, alias) {
                (Ok(name), "") => name.rsplit('/').next().unwrap_or_default().to_owned(),
                (_, alias) => alias.to_owned(),
            };
            (name, alias, position)
        })
        .collect()
}

fn without_imports(ast: &AST) -> AST {
    // Import statements are removed, because imports are registered with the engine. A remaining
    // statement would call the resolver, which finds no files.
    let kept = ast.statements().iter();
    let kept = kept.filter(|statement| !matches!(statement, Stmt::Import(..)));
    AST::new(kept.cloned().collect::<Vec<_>>(), ast.shared_lib().clone())
}

enum ImportError {
    /// The import statement is wrong.
    Here(String),
    /// The imported script is wrong.
    There(Box<ScriptError>),
}

/// Direct and indirect imports of a script.
struct Imported {
    files: Vec<PathBuf>,
    modules: BTreeMap<String, rhai::Shared<Module>>,
    /// Hash of the script's text and of all its imports, because a change of an import also changes the
    /// script.
    hash: String,
}

/// Compiles the imports of a script. Errors have the position of the `import` statement.
fn import_all(
    ast: &AST,
    folder: Option<&Path>,
    depth: usize,
    text: &str,
) -> Result<Imported, (Position, ImportError)> {
    let mut hasher = blake3::Hasher::new();
    hasher.update(text.as_bytes());
    let mut files = Vec::new();
    let mut modules: BTreeMap<String, rhai::Shared<Module>> = BTreeMap::new();
    for (name, alias, position) in imports_of(ast) {
        let here = |message: String| (position, ImportError::Here(message));
        let name = name.map_err(here)?;
        let (path, imported) = import(&name, folder, depth).map_err(|error| (position, error))?;
        // The imports of an import are registered with its engine and must also be registered with this one.
        let top = without_imports(&imported.ast);
        begin_call();
        let module = Module::eval_ast_as_new(Scope::new(), &top, &imported.engine)
            .map_err(|error| here(error.to_string()))?;
        hasher.update(imported.hash.as_bytes());
        files.extend(imported.imports);
        for (alias, module) in imported.modules {
            modules.entry(alias).or_insert(module);
        }
        files.push(path);
        modules.insert(alias, module.into());
    }
    Ok(Imported {
        files,
        modules,
        hash: hasher.finalize().to_hex().to_string(),
    })
}

/// Compiles a script from the script folder. Other folders are refused.
fn import(
    name: &str,
    folder: Option<&Path>,
    depth: usize,
) -> Result<(PathBuf, Compiled), ImportError> {
    let here = |message: String| Err(ImportError::Here(message));
    let is_sound = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_/".contains(c);
    if name.is_empty() || name.len() > 128 || !name.chars().all(is_sound) {
        return here(format!(
            "\"{name}\": import names consist of lower-case letters, digits, _ and /"
        ));
    }
    if depth >= IMPORT_DEPTH {
        return here(format!(
            "imports are nested more than {IMPORT_DEPTH} levels deep"
        ));
    }
    // A name that begins with a slash passes the test above but leads out of the folder. The last check,
    // which uses the real path, detects that.
    let Some(folder) = folder else {
        return here(format!(
            "\"{name}\": this script has no folder to import from"
        ));
    };
    let file = format!("{name}.rhai");
    let path = folder.join(&file);
    let is_link = |path: &Path| {
        let meta = std::fs::symlink_metadata(path);
        meta.is_ok_and(|meta| meta.file_type().is_symlink())
    };
    // A link could lead out of the folder, to a file that the user did not want scripts to read.
    let folders_above = path.ancestors().take_while(|at| *at != folder);
    if folders_above.into_iter().any(is_link) {
        return here(format!("\"{name}\": links are not followed"));
    }
    let (Ok(root), Ok(real)) = (folder.canonicalize(), path.canonicalize()) else {
        return here(format!("there is no script {}", path.display()));
    };
    if !real.starts_with(&root) {
        return here(format!("\"{name}\" is outside the script folder"));
    }
    let text = match read_text(&real, LONGEST_SCRIPT) {
        Ok(text) => text,
        Err(error) => return here(format!("cannot read {}: {error}", path.display())),
    };
    let compiled = compile_at_depth(&file, &text, Some(folder), depth + 1);
    let compiled = compiled.map_err(|error| ImportError::There(Box::new(error)))?;
    Ok((path, compiled))
}
