//! Stacks: the modules of one kind of agent, by slot. Each slot is declared in one line of this file.

use crate::named::named;
use crate::quantity::{OptionalQuantity, Rate, Validate, at};
use crate::unique_map::UniqueMap;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

/// Calls a macro with the table of slots, in the order in which a step calls them. Everything that
/// has one part per slot is generated from this table: the fields of [`Stack`], [`Slot`], and the
/// pools of a world.
///
/// The columns are name, title, field (which is also the key in files), kind of the modules, number
/// of modules, default modules, default rate in Hz, and purpose. The rates of planner and
/// controller are from [Gerdelan 2011], section 8.2.
#[macro_export]
macro_rules! for_each_slot {
    ($callback:ident) => {
        $callback! {
            Planner "Planner" planner Planner One ["route"] 6.0 "Finds a route.";
            Behaviour "Behaviour" behaviour Behaviour One ["lane_keeper"] 4.0 "Chooses lanes and speeds.";
            GroundPlanner "Ground planner" ground_planner GroundPlanner Optional [] 6.0 "Finds paths off the lanes; `hybrid_fuzzy_path` if absent.";
            Controller "Controller" controller Controller One ["idm"] 30.0 "Steers and accelerates.";
            Fitness "Fitness" fitness Fitness Many ["safe_arrival"] 1.0 "Rates the driving.";
        }
    };
}

named! {
    /// Kind of a module, which determines the rows that the module receives and returns. A slot is
    /// a position in a stack for modules of one kind.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum ModuleKind {
        /// Finds routes through the lanes.
        Planner = "planner",
        /// Chooses lanes and speeds, and requests effects.
        Behaviour = "behaviour",
        /// Finds paths off the lanes. All modules of this kind are built in.
        GroundPlanner = "ground_planner",
        /// Steers and accelerates.
        Controller = "controller",
        /// Scores driving.
        Fitness = "fitness",
        /// Selects the next stage of traffic signals. It is named by a signal plan rather than a
        /// stack.
        SignalController = "signal_controller",
    }
}

impl ModuleKind {
    /// Returns the kind with the given name; `None` if no kind has this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

impl fmt::Display for ModuleKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Number of modules that a slot takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HowMany {
    /// Exactly one.
    One,
    /// At most one.
    Optional,
    /// Any number.
    Many,
}

impl HowMany {
    /// Whether the slot can hold `count` modules.
    pub fn fits(self, count: usize) -> bool {
        match self {
            Self::One => count == 1,
            Self::Optional => count <= 1,
            Self::Many => true,
        }
    }
}

impl fmt::Display for HowMany {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::One => "exactly one module",
            Self::Optional => "at most one module",
            Self::Many => "any number of modules",
        })
    }
}

/// One module in a stack.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModuleSetting {
    /// Id of the module, such as `idm`.
    pub module: String,
    /// Calls per second, Hz; defaults to the rate of its slot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_hz: OptionalQuantity<Rate>,
    /// Parameters that differ from their defaults, by key. In files, a table is a list of rows. Here, each
    /// cell is a separate value with the key `key[row][column]`.
    #[serde(
        default,
        skip_serializing_if = "BTreeMap::is_empty",
        with = "crate::parameter_values"
    )]
    #[schemars(schema_with = "crate::parameter_values::schema")]
    pub parameters: UniqueMap<String, f64>,
}

impl ModuleSetting {
    /// Creates a setting for a module with its default parameters and rate.
    pub fn new(module: &str) -> Self {
        Self {
            module: module.into(),
            rate_hz: None.into(),
            parameters: UniqueMap::EMPTY,
        }
    }

    /// Returns the setting with one parameter changed.
    pub fn with(mut self, key: &str, value: f64) -> Self {
        self.parameters.insert(key.into(), value);
        self
    }
}

/// The modules of a slot that takes any number of modules. In files, this is one module or a list of modules.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ModuleSettings(pub Vec<ModuleSetting>);

impl From<ModuleSetting> for ModuleSettings {
    fn from(setting: ModuleSetting) -> Self {
        Self(vec![setting])
    }
}

impl Serialize for ModuleSettings {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0[..] {
            // A single fitness module is written without brackets, as in hand-written files.
            [one] => one.serialize(serializer),
            list => list.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for ModuleSettings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneOrList;

        impl<'de> Visitor<'de> for OneOrList {
            type Value = ModuleSettings;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a module, or a list of modules")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                ModuleSetting::deserialize(MapAccessDeserializer::new(map)).map(Into::into)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(list)).map(ModuleSettings)
            }
        }

        // Not `untagged`, because its errors would only say "did not match any variant" without the
        // invalid key.
        deserializer.deserialize_any(OneOrList)
    }
}

impl JsonSchema for ModuleSettings {
    fn schema_name() -> Cow<'static, str> {
        "ModuleSettings".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let one = generator.subschema_for::<ModuleSetting>();
        let list = generator.subschema_for::<Vec<ModuleSetting>>();
        json_schema!({
            "description": "Modules of a slot that takes any number of modules: one module, or a list of modules.",
            "anyOf": [one, list]
        })
    }
}

/// Conversion between the modules of a slot and a list, which works for any number of modules.
trait SlotSettings: Sized {
    /// Converts a list of modules; `None` if the slot does not take this number of modules.
    fn from_list(list: Vec<ModuleSetting>) -> Option<Self>;
    fn as_slice(&self) -> &[ModuleSetting];
    fn as_slice_mut(&mut self) -> &mut [ModuleSetting];
    /// Whether files may leave the slot out.
    fn is_absent(&self) -> bool {
        false
    }
}

impl SlotSettings for ModuleSetting {
    fn from_list(mut list: Vec<ModuleSetting>) -> Option<Self> {
        let last = list.pop()?;
        list.is_empty().then_some(last)
    }

    fn as_slice(&self) -> &[ModuleSetting] {
        std::slice::from_ref(self)
    }

    fn as_slice_mut(&mut self) -> &mut [ModuleSetting] {
        std::slice::from_mut(self)
    }
}

impl SlotSettings for Option<ModuleSetting> {
    fn from_list(mut list: Vec<ModuleSetting>) -> Option<Self> {
        let last = list.pop();
        list.is_empty().then_some(last)
    }

    fn as_slice(&self) -> &[ModuleSetting] {
        Option::as_slice(self)
    }

    fn as_slice_mut(&mut self) -> &mut [ModuleSetting] {
        self.as_mut_slice()
    }

    fn is_absent(&self) -> bool {
        self.is_none()
    }
}

impl SlotSettings for ModuleSettings {
    fn from_list(list: Vec<ModuleSetting>) -> Option<Self> {
        Some(Self(list))
    }

    fn as_slice(&self) -> &[ModuleSetting] {
        &self.0
    }

    fn as_slice_mut(&mut self) -> &mut [ModuleSetting] {
        &mut self.0
    }
}

/// Expands to the type of a slot's field in [`Stack`], given the number of modules that the slot
/// takes.
macro_rules! settings_type {
    (One) => { ModuleSetting };
    (Optional) => { Option<ModuleSetting> };
    (Many) => { ModuleSettings };
}

macro_rules! declare_slots {
    ($($slot:ident $title:literal $field:ident $kind:ident $count:ident $modules:tt $rate:literal $doc:literal;)*) => {
        /// A slot for modules in a stack.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Slot {
            $(#[doc = $doc] $slot),*
        }

        impl Slot {
            /// All slots, in the order in which a step calls their modules.
            pub const ALL: [Self; Self::COUNT] = [$(Self::$slot),*];

            /// Number of slots.
            pub const COUNT: usize = [$(stringify!($slot)),*].len();

            /// Returns the name in files and on the command line.
            pub fn name(self) -> &'static str {
                match self { $(Self::$slot => stringify!($field)),* }
            }

            /// Title for display.
            pub fn title(self) -> &'static str {
                match self { $(Self::$slot => $title),* }
            }

            /// Returns the kind of the slot's modules.
            pub fn kind(self) -> ModuleKind {
                match self { $(Self::$slot => ModuleKind::$kind),* }
            }

            /// Returns the number of modules that the slot takes.
            pub fn how_many(self) -> HowMany {
                match self { $(Self::$slot => HowMany::$count),* }
            }

            /// Returns the default rate of the slot's modules, Hz.
            pub fn default_rate_hz(self) -> f64 {
                match self { $(Self::$slot => $rate),* }
            }
        }

        /// The modules of one kind of agent, by slot.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct Stack {
            $(
                #[doc = $doc]
                #[serde(skip_serializing_if = "SlotSettings::is_absent")]
                pub $field: settings_type!($count),
            )*
        }

        impl Default for Stack {
            /// Returns the default modules of all slots.
            fn default() -> Self {
                Self {$(
                    $field: {
                        let modules: &[&str] = &$modules;
                        let list = modules.iter().map(|id| ModuleSetting::new(id)).collect();
                        SlotSettings::from_list(list).expect("the defaults of a slot fit it")
                    },
                )*}
            }
        }

        impl Stack {
            /// Returns the modules of a slot.
            pub fn settings(&self, slot: Slot) -> &[ModuleSetting] {
                match slot { $(Slot::$slot => self.$field.as_slice()),* }
            }

            /// Returns the modules of a slot, as a mutable slice.
            pub fn settings_mut(&mut self, slot: Slot) -> &mut [ModuleSetting] {
                match slot { $(Slot::$slot => self.$field.as_slice_mut()),* }
            }

            /// Sets the modules of a slot. Returns `false` and changes nothing if the slot does not take this
            /// number of modules.
            #[must_use]
            pub fn set(&mut self, slot: Slot, list: Vec<ModuleSetting>) -> bool {
                match slot {
                    $(Slot::$slot => match SlotSettings::from_list(list) {
                        Some(settings) => {
                            self.$field = settings;
                            true
                        }
                        None => false,
                    }),*
                }
            }
        }
    };
}

for_each_slot!(declare_slots);

impl Slot {
    /// Returns the module of an optional slot if the stack does not name one; `None` if the slot
    /// remains empty.
    pub fn module_if_absent(self) -> Option<&'static str> {
        match self {
            Self::GroundPlanner => Some("hybrid_fuzzy_path"),
            Self::Planner | Self::Behaviour | Self::Controller | Self::Fitness => None,
        }
    }

    /// Returns the slot with the given name; `None` if no slot has this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|slot| slot.name() == name)
    }
}

impl fmt::Display for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The ground planner that leads straight to the goal.
const STRAIGHT: &str = "straight";

impl Stack {
    /// Whether vehicles off the lanes plan paths around obstacles. The ground planner `straight` does not.
    pub fn steers_around_obstacles(&self) -> bool {
        let planner = self.settings(Slot::GroundPlanner);
        planner.iter().all(|setting| setting.module != STRAIGHT)
    }

    /// Creates a stack of built-in modules with the given controller.
    pub fn with_controller(controller: &str) -> Self {
        Self {
            controller: ModuleSetting::new(controller),
            ..Self::default()
        }
    }

    /// Creates a stack for characters: `grid_path` plans their paths, and `pd_follower` follows
    /// them with the lookahead of [Kuffner 1998].
    pub fn on_foot() -> Self {
        Self {
            controller: ModuleSetting::new("pd_follower").with("lookahead_time", 0.0),
            ground_planner: Some(ModuleSetting::new("grid_path")),
            ..Self::default()
        }
    }
}

impl Validate for ModuleSetting {
    fn validate(&self) -> Result<(), String> {
        at("rate_hz", self.rate_hz.check())?;
        match self.parameters.iter().find(|(_, value)| !value.is_finite()) {
            Some((key, value)) => Err(format!("parameters.{key}: {value} is not a finite number")),
            None => Ok(()),
        }
    }
}

impl Validate for Stack {
    fn validate(&self) -> Result<(), String> {
        Slot::ALL.into_iter().try_for_each(|slot| {
            let mut settings = self.settings(slot).iter();
            settings.try_for_each(|setting| at(slot.name(), setting.validate()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FITNESS: &str = r#""planner": {"module": "route"}, "behaviour": {"module": "b"}, "controller": {"module": "c"}, "fitness""#;

    fn stack(fitness: &str) -> Result<Stack, serde_json::Error> {
        serde_json::from_str(&format!("{{{FITNESS}: {fitness}}}"))
    }

    #[test]
    fn any_number_of_modules_come_back() {
        for (text, expected) in [
            (r#"{"module":"a"}"#, vec!["a"]),
            (r#"[{"module":"a"},{"module":"b"}]"#, vec!["a", "b"]),
            ("[]", vec![]),
        ] {
            let stack = stack(text).unwrap();
            let ids: Vec<&str> = stack.fitness.0.iter().map(|s| s.module.as_str()).collect();
            assert_eq!(ids, expected);
            assert_eq!(serde_json::to_string(&stack.fitness).unwrap(), text);
        }
    }

    #[test]
    fn a_wrong_list_says_what_is_expected() {
        let error = stack("3").unwrap_err().to_string();
        assert!(error.contains("a module, or a list of modules"), "{error}");
        let error = stack(r#"[{"modul": "a"}]"#).unwrap_err().to_string();
        assert!(error.contains("unknown field `modul`"), "{error}");
    }

    #[test]
    fn a_parameter_stands_once() {
        let twice = r#"{"module": "a", "parameters": {"x": 1, "x": 2}}"#;
        let error = stack(twice).unwrap_err().to_string();
        assert!(error.contains("x is given twice"), "{error}");
    }

    #[test]
    fn a_slot_that_may_be_empty_takes_one_or_none() {
        let list = |count| vec![ModuleSetting::new("x"); count];
        let made = |count| Option::<ModuleSetting>::from_list(list(count));
        assert_eq!(made(0), Some(None));
        assert_eq!(made(1), Some(Some(ModuleSetting::new("x"))));
        assert_eq!(made(2), None);
        for count in 0..3 {
            assert_eq!(HowMany::Optional.fits(count), made(count).is_some());
            let Some(mut slot) = made(count) else {
                continue;
            };
            assert_eq!(SlotSettings::as_slice(&slot), list(count));
            assert_eq!(slot.as_slice_mut().len(), count);
            assert_eq!(slot.is_absent(), count == 0);
        }
    }

    #[test]
    fn a_slot_takes_as_many_as_it_says() {
        for slot in Slot::ALL {
            for count in 0..4 {
                let mut stack = Stack::default();
                let list = vec![ModuleSetting::new("x"); count];
                let fits = stack.set(slot, list.clone());
                assert_eq!(fits, slot.how_many().fits(count), "{slot} {count}");
                assert_eq!(stack.settings(slot) == list, fits, "{slot} {count}");
            }
            assert!(slot.how_many().fits(Stack::default().settings(slot).len()));
            assert_eq!(Slot::from_name(slot.name()), Some(slot));
        }
    }
}
