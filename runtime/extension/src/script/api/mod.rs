//! The API for scripts. The same list registers and documents it, so that every function is documented and
//! every documented function exists.
//!
//! Each file registers the items of a subject. The order of the calls in [`register`] is the order of
//! `docs/script-api.md`.

use super::agent::{Agent, Mail, Memory, Other};
use super::signal::Signal;
use rhai::{FuncRegistration, Module, RhaiNativeFunc, Shared};
use serde::Serialize;
use std::sync::LazyLock;

/// Kind of an item of the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ApiKind {
    /// A function that the script defines and the host calls.
    Event,
    /// A read-only property.
    Property,
    /// A writable property.
    Setting,
    /// A method of an object.
    Method,
    /// A function that does not belong to an object.
    Function,
}

/// An item of the script API.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ApiItem {
    /// The object of the item: `agent`, `other`, `message`, `signal`, or empty.
    pub owner: &'static str,
    /// Kind of the item.
    pub kind: ApiKind,
    /// Name of the item.
    pub name: &'static str,
    /// Signature with types.
    pub signature: &'static str,
    /// Description with units, in one sentence.
    pub doc: &'static str,
}

/// Registers items and documents them.
struct Registrar {
    module: Module,
    items: Vec<ApiItem>,
    owner: &'static str,
}

impl Registrar {
    fn function<A: 'static, const N: usize, const X: bool, R, const F: bool>(
        &mut self,
        name: &str,
        call: impl RhaiNativeFunc<A, N, X, R, F> + Send + Sync + 'static,
    ) where
        R: Clone + Send + Sync + 'static,
    {
        FuncRegistration::new(name).set_into_module(&mut self.module, call);
    }

    fn getter<A: 'static, const N: usize, const X: bool, R, const F: bool>(
        &mut self,
        name: &str,
        get: impl RhaiNativeFunc<A, N, X, R, F> + Send + Sync + 'static,
    ) where
        R: Clone + Send + Sync + 'static,
    {
        FuncRegistration::new_getter(name).set_into_module(&mut self.module, get);
    }

    fn setter<A: 'static, const N: usize, const X: bool, const F: bool>(
        &mut self,
        name: &str,
        set: impl RhaiNativeFunc<A, N, X, (), F> + Send + Sync + 'static,
    ) {
        FuncRegistration::new_setter(name).set_into_module(&mut self.module, set);
    }

    fn indexer<
        A: 'static,
        B: 'static,
        const X: bool,
        const Y: bool,
        R,
        const F: bool,
        const G: bool,
    >(
        &mut self,
        get: impl RhaiNativeFunc<A, 2, X, R, F> + Send + Sync + 'static,
        set: impl RhaiNativeFunc<B, 3, Y, (), G> + Send + Sync + 'static,
    ) where
        R: Clone + Send + Sync + 'static,
    {
        FuncRegistration::new_index_getter().set_into_module(&mut self.module, get);
        FuncRegistration::new_index_setter().set_into_module(&mut self.module, set);
    }

    fn note(
        &mut self,
        kind: ApiKind,
        name: &'static str,
        signature: &'static str,
        doc: &'static str,
    ) {
        // Overloads are documented only once.
        let known = |item: &ApiItem| item.owner == self.owner && item.signature == signature;
        if !self.items.iter().any(known) {
            self.items.push(ApiItem {
                owner: self.owner,
                kind,
                name,
                signature,
                doc,
            });
        }
    }
}

/// Defines read-only properties by a table with rows of the form `"name" -> "type", "doc" => value;`. In the
/// signature and in the value, the object has the same name as in scripts.
macro_rules! properties {
    ($api:ident, $object:ident: $type:ty;
     $($name:literal -> $result:literal, $doc:literal => $value:expr;)*) => {$(
        $api.getter($name, |$object: &mut $type| $value);
        let signature = concat!(stringify!($object), ".", $name, " -> ", $result);
        $api.note($crate::script::api::ApiKind::Property, $name, signature, $doc);
    )*};
}

macro_rules! set {
    ($api:ident, $name:literal, $signature:literal, $doc:literal, $get:expr, $set:expr) => {
        $api.getter($name, $get);
        $api.setter($name, $set);
        $api.note(
            $crate::script::api::ApiKind::Setting,
            $name,
            $signature,
            $doc,
        );
    };
}

macro_rules! call {
    ($api:ident, $name:literal, $signature:literal, $doc:literal, $call:expr) => {
        $api.function($name, $call);
        $api.note(
            $crate::script::api::ApiKind::Method,
            $name,
            $signature,
            $doc,
        );
    };
}

// Declared after the macros, because macros are only visible in the text below them.
mod destinations;
mod general;
mod messages;
mod modules;
mod others;
mod paths;
mod road;
mod signals;
mod state;
mod towing;
mod values;
mod wants;
mod world;

pub(super) use general::parameter;
pub(super) use wants::HORN;

/// Cost of a route in operations. The search takes place after the call, outside the budget.
const ROUTE: u64 = 500;

/// The whole API, as a module for engines and as a list. It is the same for all scripts and is created once
/// per process, because its creation would dominate the compilation of a short script.
static INTERFACE: LazyLock<(Shared<Module>, Vec<ApiItem>)> = LazyLock::new(register);

fn register() -> (Shared<Module>, Vec<ApiItem>) {
    super::compile::seed_hashing();
    let mut module = Module::new();
    module.set_custom_type::<Agent>("Agent");
    module.set_custom_type::<Other>("Other");
    module.set_custom_type::<Mail>("Message");
    module.set_custom_type::<Memory>("Memory");
    module.set_custom_type::<Signal>("Signal");
    let mut api = Registrar {
        module,
        items: Vec::new(),
        owner: "",
    };
    general::events(&mut api);
    general::functions(&mut api);
    api.owner = "agent";
    register_agent(&mut api);
    api.owner = "other";
    others::properties(&mut api);
    api.owner = "message";
    messages::properties(&mut api);
    api.owner = "signal";
    signals::properties(&mut api);
    signals::requests(&mut api);
    signals::deciding(&mut api);
    (api.module.into(), api.items)
}

fn register_agent(api: &mut Registrar) {
    state::properties(api);
    road::lane(api);
    road::ahead(api);
    signals::of_agent(api);
    wants::speed(api);
    wants::standing(api);
    towing::verbs(api);
    wants::signals(api);
    wants::lane(api);
    wants::lane_offset(api);
    paths::free_paths(api);
    paths::parking(api);
    paths::passing(api);
    world::vehicles(api);
    world::people(api);
    world::places(api);
    world::conditions(api);
    messages::groups(api);
    wants::waiting(api);
    wants::lane_changes(api);
    destinations::destinations(api);
    others::finding(api);
    world::chance(api);
    modules::modules(api);
    messages::letters(api);
    messages::notes(api);
}

/// Returns the whole API as a module for engines.
pub(super) fn interface() -> Shared<Module> {
    INTERFACE.0.clone()
}

/// Returns all items of the API.
pub fn api() -> &'static [ApiItem] {
    &INTERFACE.1
}

/// Returns the API as a documentation page.
pub fn api_markdown() -> String {
    let mut page = String::from(
        "# Script API\n\n\
         Generated by `roadwright script api --markdown`.\n\
         Units are metres, seconds and radians; angles are positive to the left.\n\
         Rhai's own operators, arithmetic, strings, arrays and object maps are also available.\n",
    );
    for (owner, title) in [
        ("", "Functions of the script, and general functions"),
        ("agent", "agent"),
        ("other", "other: another agent"),
        ("message", "message"),
        ("signal", "signal: the signals of a node"),
    ] {
        page += &format!("\n## {title}\n\n| | |\n| --- | --- |\n");
        for item in api().iter().filter(|item| item.owner == owner) {
            page += &format!("| `{}` | {} |\n", item.signature, item.doc);
        }
    }
    page
}
