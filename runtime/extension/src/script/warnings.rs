//! Warnings about scripts that run but are probably wrong, because of unknown words or implausible numbers.

use super::check::unknown_words;
use super::compile::{Compiled, ScriptError};
use rhai::{ASTNode, Expr, FnCallExpr, Position, Stmt};
use roadwright_agent::{ModuleKind, ParameterInfo, Registry, Slot};
use roadwright_scenario::Scenario;
use roadwright_scenario::junction::Light;
use std::collections::BTreeSet;

/// Numeric arguments that have a range: function, index of the argument, range, and unit.
const RANGES: [(&str, usize, f64, f64, &str); 10] = [
    // The longest time for which a green can be held.
    ("hold", 1, 0.0, 120.0, "seconds"),
    // A day. Larger values are probably in milliseconds.
    ("wait", 0, 0.0, 86_400.0, "seconds"),
    ("brake", 0, 0.0, 20.0, "m/s^2"),
    ("every", 1, 0.0, 86_400.0, "seconds"),
    ("nearby", 0, 0.0, 2_000.0, "m"),
    ("broadcast", 0, 0.0, 2_000.0, "m"),
    ("road_speed_within", 0, 0.0, 200.0, "m"),
    (
        "park",
        2,
        // Slightly more than a full turn; larger numbers are probably degrees.
        -7.0,
        7.0,
        "radians; convert degrees with degrees.to_radians()",
    ),
    ("pull_over", 0, -20.0, 20.0, "m"),
    ("pass", 0, -20.0, 20.0, "m"),
];

/// Numeric settings that have a range.
const SETTINGS: [(&str, f64, f64, &str); 3] = [
    ("speed_factor", 0.0, 2.0, "a multiple of the allowed speed"),
    ("desired_speed", 0.0, 100.0, "m/s; 100 m/s are 360 km/h"),
    ("lane_offset", -5.0, 5.0, "m; no lane is wider than 10 m"),
];
/// Value of the desired speed if the script does not request a speed.
const NO_WISH: f64 = 1_000_000.0;

/// The environment in which a script is checked.
pub struct Surroundings<'a> {
    /// Modules that a script can choose.
    pub registry: &'a Registry,
    /// Ids of plugins that may not run yet. Nothing else is known about them.
    pub plugins: &'a [String],
    /// Texts of the other scripts in the script's folder, whose messages the script can receive.
    pub others: &'a [String],
    /// Names in the scenario for which the script is written; `None` if the scenario is not known.
    pub scenario: Option<&'a ScenarioNames>,
}

/// Names in a scenario that scripts use as string literals.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ScenarioNames {
    /// Keys of the vehicle types.
    pub vehicles: BTreeSet<String>,
    /// Names of the stacks.
    pub stacks: BTreeSet<String>,
    /// Names of points of interest and streets; `None` if they are not known.
    pub places: Option<BTreeSet<String>>,
}

impl ScenarioNames {
    /// Collects the names of a scenario.
    pub fn of(scenario: &Scenario) -> Self {
        let points = scenario.points_of_interest().values();
        let points = points.map(|point| point.name.clone());
        let streets = scenario
            .network()
            .roads()
            .map(|(_, road)| road.name.clone());
        Self {
            vehicles: scenario.vehicle_types().keys().cloned().collect(),
            stacks: scenario.stacks().keys().cloned().collect(),
            places: Some(
                points
                    .chain(streets)
                    .filter(|name| !name.is_empty())
                    .collect(),
            ),
        }
    }

    /// Returns the union of two sets of names.
    #[must_use]
    pub fn with(mut self, other: Self) -> Self {
        self.vehicles.extend(other.vehicles);
        self.stacks.extend(other.stacks);
        self.places = match (self.places, other.places) {
            (Some(own), Some(others)) => Some(own.into_iter().chain(others).collect()),
            (own, others) => own.or(others),
        };
        self
    }
}

/// Returns the warnings, in text order.
pub fn warnings(compiled: &Compiled, surroundings: &Surroundings<'_>) -> Vec<ScriptError> {
    let mut finder = Finder {
        registry: surroundings.registry,
        plugins: surroundings.plugins,
        scenario: surroundings.scenario,
        lights: BTreeSet::new(),
        found: Vec::new(),
        heard: Vec::new(),
        // `honk` sends this topic, although it does not appear in the text.
        sent: Some(BTreeSet::from([super::api::HORN.to_owned()])),
    };
    compiled.ast.walk(&mut |path| {
        if let Some(node) = path.last() {
            finder.look(node);
        }
        true
    });
    for other in surroundings.others {
        finder.note_sent_by(other);
    }
    finder.look_at_topics();
    let mut found = finder.found;
    // Topics were checked last, but authors read from top to bottom.
    found.sort_by_key(|(at, _)| (at.line(), at.position()));
    let warning = |(at, text)| ScriptError::at(&compiled.file, &compiled.text, at, text);
    found.into_iter().map(warning).collect()
}

struct Finder<'a> {
    registry: &'a Registry,
    plugins: &'a [String],
    scenario: Option<&'a ScenarioNames>,
    /// Variables that contain the aspect of a signal.
    lights: BTreeSet<String>,
    found: Vec<(Position, String)>,
    /// Topics that the script compares received messages with, and their positions.
    heard: Vec<(Position, String)>,
    /// Topics that are sent; `None` if they cannot be determined.
    sent: Option<BTreeSet<String>>,
}

impl Finder<'_> {
    fn look(&mut self, node: &ASTNode<'_>) {
        match node {
            ASTNode::Expr(Expr::MethodCall(call, at)) => {
                self.note_topic(call);
                self.look_at_call(call, *at);
            }
            ASTNode::Expr(Expr::FnCall(call, at)) | ASTNode::Stmt(Stmt::FnCall(call, at)) => {
                self.look_at_comparison(call, *at);
                self.look_at_name(call, *at);
            }
            ASTNode::Stmt(Stmt::Var(parts, ..)) => {
                if matches!(member(&parts.1), Some("signal" | "state")) {
                    self.lights.insert(parts.0.as_str().to_owned());
                }
            }
            ASTNode::Stmt(Stmt::Assignment(parts)) => {
                // Only literal numbers are checked. Computed values are known at run time and clamped then.
                if let (Expr::Dot(target, ..), Some(value)) = (&parts.1.lhs, number(&parts.1.rhs))
                    && let Expr::Property(property, at) = &target.rhs
                {
                    self.look_at_setting(property.2.as_str(), value, *at);
                }
            }
            _ => {}
        }
    }

    fn look_at_setting(&mut self, name: &str, value: f64, at: Position) {
        let setting = SETTINGS.iter().find(|setting| setting.0 == name);
        if let Some((_, min, max, unit)) = setting
            && !(*min..=*max).contains(&value)
            && !(name == "desired_speed" && value >= NO_WISH)
        {
            let text = format!("{name} = {value} is outside the range {min} to {max} ({unit})");
            self.found.push((at, text));
        }
    }

    fn look_at_call(&mut self, call: &FnCallExpr, at: Position) {
        let name = call.name.as_str();
        for (_, argument, min, max, unit) in RANGES.iter().filter(|range| range.0 == name) {
            let value = call.args.get(*argument).and_then(number);
            if let Some(value) = value.filter(|value| !(*min..=*max).contains(value)) {
                let text = format!("{name}: {value} is outside the range {min} to {max} ({unit})");
                self.found.push((at, text));
            }
        }
        self.look_at_names(call, at);
        let slot = call.args.first().and_then(word).and_then(Slot::from_name);
        let second = call.args.get(1).and_then(word);
        match (name, slot, second) {
            ("use_module", Some(slot), Some(id)) => self.look_at_module(slot.kind(), id, at),
            ("set_parameter", Some(slot), Some(key)) => {
                let value = call.args.get(2).and_then(number);
                self.look_at_parameter(slot.kind(), key, value, at);
            }
            _ => {}
        }
    }

    /// Checks names of the scenario in a call.
    fn look_at_names(&mut self, call: &FnCallExpr, at: Position) {
        let Some(scenario) = self.scenario else {
            return;
        };
        let argument = |number: usize| call.args.get(number).and_then(word);
        match call.name.as_str() {
            "add_vehicle" => {
                self.look_up("vehicle type", argument(0), Some(&scenario.vehicles), at);
                self.look_up("stack", argument(1), Some(&scenario.stacks), at);
            }
            "place" => {
                let what = "point of interest or street";
                self.look_up(what, argument(0), scenario.places.as_ref(), at);
            }
            _ => {}
        }
    }

    fn look_up(
        &mut self,
        what: &str,
        name: Option<&str>,
        known: Option<&BTreeSet<String>>,
        at: Position,
    ) {
        let (Some(name), Some(known)) = (name, known) else {
            return;
        };
        if !known.contains(name) {
            let words = unknown_words(what, name, known.iter().map(String::as_str));
            self.found
                .push((at, format!("the scenario has no {words}")));
        }
    }

    /// Checks comparisons with names, such as `agent.signal == "yellow"` or `other.vehicle == "carr"`.
    fn look_at_name(&mut self, call: &FnCallExpr, at: Position) {
        if !matches!(call.name.as_str(), "==" | "!=") {
            return;
        }
        let Some(name) = call.args.iter().find_map(word) else {
            return;
        };
        let scenario = self.scenario;
        for argument in &call.args {
            let variable = match argument {
                Expr::Variable(parts, ..) => self.lights.contains(parts.1.as_str()),
                _ => false,
            };
            match member(argument) {
                Some("signal" | "state") => self.look_at_light(name, at),
                _ if variable => self.look_at_light(name, at),
                Some("vehicle") => {
                    let known = scenario.map(|scenario| &scenario.vehicles);
                    self.look_up("vehicle type", Some(name), known, at);
                }
                Some("stack") => {
                    let known = scenario.map(|scenario| &scenario.stacks);
                    self.look_up("stack", Some(name), known, at);
                }
                _ => {}
            }
        }
    }

    fn look_at_light(&mut self, name: &str, at: Position) {
        let known = Light::ALL.map(Light::name);
        if name != "none" && !known.contains(&name) {
            let words = unknown_words("light", name, known.into_iter());
            let known = known.join(", ");
            let text = format!("no signal shows a {words}; expected one of: {known}, none");
            self.found.push((at, text));
        }
    }

    fn look_at_module(&mut self, kind: ModuleKind, id: &str, at: Position) {
        let infos = self.registry.infos(kind);
        let ids = infos.iter().map(|(info, _)| info.id);
        let is_plugin = self.plugins.iter().any(|known| known == id);
        if !is_plugin && !ids.clone().any(|known| known == id) {
            let text = format!("there is no {}", unknown_words(kind.name(), id, ids));
            self.found.push((at, text));
        }
    }

    fn look_at_parameter(&mut self, kind: ModuleKind, key: &str, value: Option<f64>, at: Position) {
        let infos = self.registry.infos(kind);
        let all = || infos.iter().flat_map(|(_, parameters)| *parameters);
        let named: Vec<&ParameterInfo> = all().filter(|info| info.key == key).collect();
        // A plugin that is not loaded may have the parameter.
        if named.is_empty() && !self.plugins.is_empty() {
            return;
        }
        if named.is_empty() {
            let keys = all().map(|info| info.key);
            let what = format!("{} with a parameter", kind.name());
            let text = format!("there is no {}", unknown_words(&what, key, keys));
            self.found.push((at, text));
            return;
        }
        let Some(value) = value else { return };
        // Several modules may have a parameter with this key, and it is enough if one of them accepts the
        // value.
        if !named
            .iter()
            .any(|info| (info.min..=info.max).contains(&value))
        {
            // The message has the range of the first module. All of them would have rejected the value.
            let range = named[0];
            let text = format!(
                "{key} = {value} is outside the range {} to {}",
                range.min, range.max
            );
            self.found.push((at, text));
        }
    }

    /// Checks comparisons with topics, such as `message.topic == "name"`.
    fn look_at_comparison(&mut self, call: &FnCallExpr, at: Position) {
        if !matches!(call.name.as_str(), "==" | "!=") {
            return;
        }
        let is_topic = |expression: &Expr| {
            matches!(expression, Expr::Dot(parts, ..)
                if matches!(&parts.rhs, Expr::Property(property, _) if property.2.as_str() == "topic"))
        };
        if call.args.iter().any(is_topic)
            && let Some(topic) = call.args.iter().find_map(word)
        {
            self.heard.push((at, topic.to_owned()));
        }
    }

    /// Records the topics that another script sends.
    fn note_sent_by(&mut self, text: &str) {
        // An engine without our functions is enough, because parsing a text does not look them up.
        let Ok(ast) = rhai::Engine::new_raw().compile(text) else {
            // A script with errors may send anything after they are corrected.
            self.sent = None;
            return;
        };
        ast.walk(&mut |path| {
            if let Some(ASTNode::Expr(Expr::MethodCall(call, _))) = path.last() {
                self.note_topic(call);
            }
            true
        });
    }

    /// Records the topic of a sent message.
    fn note_topic(&mut self, call: &FnCallExpr) {
        let topic = match call.name.as_str() {
            "send" | "send_group" | "broadcast" => call.args.get(1),
            _ => None,
        };
        let Some(topic) = topic else { return };
        match (word(topic), &mut self.sent) {
            (Some(topic), Some(sent)) => {
                sent.insert(topic.to_owned());
            }
            (Some(_), None) => {}
            (None, _) => self.sent = None,
        }
    }

    fn look_at_topics(&mut self) {
        let Some(sent) = &self.sent else { return };
        for (at, topic) in std::mem::take(&mut self.heard) {
            if !sent.contains(&topic) {
                let words = unknown_words("topic", &topic, sent.iter().map(String::as_str));
                let text = format!("no script in this folder sends a message with the {words}");
                self.found.push((at, text));
            }
        }
    }
}

/// Returns the last member of a chain, such as `signal` for `agent.signal`.
fn member(expression: &Expr) -> Option<&str> {
    match expression {
        Expr::Dot(parts, ..) => member(&parts.rhs),
        Expr::Property(property, _) => Some(property.2.as_str()),
        Expr::MethodCall(call, _) => Some(call.name.as_str()),
        _ => None,
    }
}

/// Returns the text of a string literal; `None` for other expressions.
fn word(expression: &Expr) -> Option<&str> {
    match expression {
        Expr::StringConstant(word, _) => Some(word.as_str()),
        _ => None,
    }
}

/// Returns the value of a numeric literal; `None` for other expressions.
fn number(expression: &Expr) -> Option<f64> {
    match expression {
        Expr::FloatConstant(value, _) => Some(**value),
        Expr::IntegerConstant(value, _) => Some(*value as f64),
        _ => None,
    }
}
