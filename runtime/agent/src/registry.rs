//! The available modules, and instances of them for a stack.

use crate::ground_planner::GroundPlanner;
use crate::module::{Behaviour, Controller, Fitness, Logic, Module, ModuleInfo, Planner};
use crate::parameter::{ParameterError, ParameterInfo, ParameterSet};
use crate::signals::SignalController;
use roadwright_scenario::{ModuleKind, ModuleSetting, Slot};
use std::sync::Arc;
use thiserror::Error;

/// Reason why a module cannot be used in a stack.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum ModuleError {
    /// No module with that id fits the slot.
    #[error("stack \"{stack}\": no {slot} is called \"{module}\"; expected one of: {known}")]
    Unknown {
        /// The stack.
        stack: String,
        /// The slot.
        slot: Slot,
        /// The requested id.
        module: String,
        /// The known ids, separated by commas.
        known: String,
    },
    /// Agents use too many different settings of a module.
    #[error("more than {most} different {slot} module settings are in use")]
    TooMany {
        /// The slot.
        slot: Slot,
        /// Maximum number of settings.
        most: usize,
    },
    /// No signal controller has that id.
    #[error("no signal_controller is called \"{module}\"; expected one of: {known}")]
    UnknownSignalController {
        /// The requested id.
        module: String,
        /// The known ids, separated by commas.
        known: String,
    },
    /// A parameter of a signal controller cannot be set.
    #[error("signal_controller \"{module}\": {error}")]
    OfSignalController {
        /// The module.
        module: String,
        /// The problem with the parameter.
        error: ParameterError,
    },
    /// A slot names a module twice.
    #[error("stack \"{stack}\": {slot} \"{module}\" is listed twice")]
    Twice {
        /// The stack.
        stack: String,
        /// The slot.
        slot: Slot,
        /// The module.
        module: String,
    },
    /// A parameter cannot be set.
    #[error("stack \"{stack}\", {slot} \"{module}\": {error}")]
    Parameter {
        /// The stack.
        stack: String,
        /// The slot.
        slot: Slot,
        /// The module.
        module: String,
        /// The problem with the parameter.
        error: ParameterError,
    },
}

/// A module that can be chosen.
pub struct ModuleEntry<L: ?Sized> {
    /// Description of the module.
    pub info: ModuleInfo,
    /// Parameters of the module.
    pub parameters: &'static [ParameterInfo],
    make: Arc<dyn Fn() -> Box<L> + Send + Sync>,
}

impl<L: ?Sized> Clone for ModuleEntry<L> {
    fn clone(&self) -> Self {
        Self {
            make: self.make.clone(),
            ..*self
        }
    }
}

impl<L: ?Sized> ModuleEntry<L> {
    /// Creates an entry from a function that makes the logic.
    pub fn new(
        info: ModuleInfo,
        parameters: &'static [ParameterInfo],
        make: impl Fn() -> Box<L> + Send + Sync + 'static,
    ) -> Self {
        Self {
            info,
            parameters,
            make: Arc::new(make),
        }
    }

    /// Creates an instance with default parameters.
    pub fn make(&self) -> Module<L> {
        Module {
            info: self.info,
            parameters: ParameterSet::new(self.parameters),
            logic: (self.make)(),
        }
    }
}

/// A logic that can be chosen for slots of its kind.
pub trait Choosable: Logic {
    /// Module kind of this logic.
    const KIND: ModuleKind;

    /// Returns the modules of this kind.
    fn entries(registry: &Registry) -> &Vec<ModuleEntry<Self>>;

    /// Returns the modules of this kind, for modification.
    fn entries_mut(registry: &mut Registry) -> &mut Vec<ModuleEntry<Self>>;
}

// Each line below declares a kind of module: its list, its entry in a registry, and the access for
// generic code. If a kind is missing in one of these places, the code does not compile.
macro_rules! declare_registry {
    ($($kind:ident $field:ident;)*) => {
        /// The available modules, by kind.
        #[derive(Clone, Default)]
        pub struct Registry {
            $($field: Vec<ModuleEntry<dyn $kind>>,)*
        }

        $(impl Choosable for dyn $kind {
            const KIND: ModuleKind = ModuleKind::$kind;

            fn entries(registry: &Registry) -> &Vec<ModuleEntry<Self>> {
                &registry.$field
            }

            fn entries_mut(registry: &mut Registry) -> &mut Vec<ModuleEntry<Self>> {
                &mut registry.$field
            }
        })*

        impl Registry {
            /// Returns the descriptions of the modules of the given kind, with their parameters.
            pub fn infos(&self, kind: ModuleKind) -> Vec<(ModuleInfo, &'static [ParameterInfo])> {
                match kind { $(ModuleKind::$kind => infos(&self.$field)),* }
            }
        }
    };
}

declare_registry! {
    Planner planners;
    Behaviour behaviours;
    GroundPlanner ground_planners;
    Controller controllers;
    Fitness fitnesses;
    SignalController signal_controllers;
}

fn infos<L: ?Sized>(entries: &[ModuleEntry<L>]) -> Vec<(ModuleInfo, &'static [ParameterInfo])> {
    entries.iter().map(|e| (e.info, e.parameters)).collect()
}

impl Registry {
    /// Adds a module. If two modules have the same id, the first one is used.
    pub fn add<L: Choosable + ?Sized>(&mut self, entry: ModuleEntry<L>) {
        L::entries_mut(self).push(entry);
    }

    /// Returns the modules of the given kind, in the order in which they were added.
    pub fn of<L: Choosable + ?Sized>(&self) -> &[ModuleEntry<L>] {
        L::entries(self)
    }

    /// Creates the signal controller of a setting, with its parameters set.
    ///
    /// # Errors
    /// If there is no such module or a parameter cannot be set.
    pub fn signal_controller(
        &self,
        setting: &ModuleSetting,
    ) -> Result<Module<dyn SignalController>, ModuleError> {
        let entries = self.of::<dyn SignalController>();
        let entry = entries.iter().find(|entry| entry.info.id == setting.module);
        let known = entries.iter().map(|entry| entry.info.id);
        let entry = entry.ok_or_else(|| ModuleError::UnknownSignalController {
            module: setting.module.clone(),
            known: ["fixed", "actuated"]
                .into_iter()
                .chain(known)
                .collect::<Vec<_>>()
                .join(", "),
        })?;
        let mut module = entry.make();
        let values = setting.parameters.iter();
        let values = values.map(|(key, &value)| (key.as_str(), value));
        let set = module.parameters.set_all(values);
        set.map_err(|error| ModuleError::OfSignalController {
            module: setting.module.clone(),
            error,
        })?;
        Ok(module)
    }

    /// Creates the module of a setting, with its parameters set. Stack and slot are for error messages.
    ///
    /// # Errors
    /// If there is no such module or a parameter cannot be set.
    pub fn module<L: Choosable + ?Sized>(
        &self,
        stack: &str,
        slot: Slot,
        setting: &ModuleSetting,
    ) -> Result<Module<L>, ModuleError> {
        let entries = self.of::<L>();
        let entry = entries.iter().find(|entry| entry.info.id == setting.module);
        // The message lists the known ids, so that a typo is easy to spot.
        let entry = entry.ok_or_else(|| ModuleError::Unknown {
            stack: stack.into(),
            slot,
            module: setting.module.clone(),
            known: entries
                .iter()
                .map(|e| e.info.id)
                .collect::<Vec<_>>()
                .join(", "),
        })?;
        let mut module = entry.make();
        set_parameters(&mut module, stack, slot, setting)?;
        Ok(module)
    }
}

/// Sets the parameters of a running module from a setting. Parameters that the setting does not name are
/// reset to their defaults.
///
/// # Errors
/// If there is no such parameter or a value is out of range; in that case, nothing is changed.
pub fn set_parameters<L: ?Sized>(
    module: &mut Module<L>,
    stack: &str,
    slot: Slot,
    setting: &ModuleSetting,
) -> Result<(), ModuleError> {
    // The values are set on a new list that replaces the old one at the end. An error therefore
    // changes nothing, and parameters without a setting are reset to their defaults.
    let mut parameters = ParameterSet::new(module.parameters.infos());
    let values = setting.parameters.iter();
    parameters
        .set_all(values.map(|(key, &value)| (key.as_str(), value)))
        .map_err(|error| ModuleError::Parameter {
            stack: stack.into(),
            slot,
            module: setting.module.clone(),
            error,
        })?;
    module.parameters = parameters;
    Ok(())
}
