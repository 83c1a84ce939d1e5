//! Which modules there are, and instances of them for a stack.

use crate::module::{Behaviour, Controller, Fitness, Logic, Module, ModuleInfo, Planner};
use crate::parameter::{ParameterError, ParameterInfo, ParameterSet};
use crate::signals::SignalController;
use roadwright_scenario::{ModuleKind, ModuleSetting, Slot};
use std::sync::Arc;
use thiserror::Error;

/// Why a stack cannot have a module.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum ModuleError {
    /// No module of that id fits the slot.
    #[error("stack \"{stack}\": no {slot} is called \"{module}\"; there are: {known}")]
    Unknown {
        /// The stack.
        stack: String,
        /// The slot.
        slot: Slot,
        /// The id asked for.
        module: String,
        /// The ids there are.
        known: String,
    },
    /// Agents have made too many modules of their own.
    #[error("more than {most} different settings of {slot} modules are in use")]
    TooMany {
        /// The slot.
        slot: Slot,
        /// How many there may be.
        most: usize,
    },
    /// No module of that id decides about signals.
    #[error("no signal_controller is called \"{module}\"; there are: {known}")]
    UnknownSignalController {
        /// The id asked for.
        module: String,
        /// The ids there are.
        known: String,
    },
    /// A parameter of a controller of signals cannot be set.
    #[error("signal_controller \"{module}\": {error}")]
    OfSignalController {
        /// The module.
        module: String,
        /// What is wrong.
        error: ParameterError,
    },
    /// A slot names a module twice.
    #[error("stack \"{stack}\": {slot} \"{module}\" is there twice")]
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
        /// What is wrong.
        error: ParameterError,
    },
}

/// A module to choose.
pub struct ModuleEntry<L: ?Sized> {
    /// What it says about itself.
    pub info: ModuleInfo,
    /// Its parameters.
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
    /// A module by what makes its logic.
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

    /// An instance at its defaults.
    pub fn make(&self) -> Module<L> {
        Module {
            info: self.info,
            parameters: ParameterSet::new(self.parameters),
            logic: (self.make)(),
        }
    }
}

/// A logic that can be chosen for the slots of its kind.
pub trait Choosable: Logic {
    /// Its kind.
    const KIND: ModuleKind;

    /// The modules of the kind.
    fn entries(registry: &Registry) -> &Vec<ModuleEntry<Self>>;

    /// The modules of the kind, to be added to.
    fn entries_mut(registry: &mut Registry) -> &mut Vec<ModuleEntry<Self>>;
}

// A kind of module is one line below: its list, what a registry says about it, and how generic code
// finds it. A kind that is forgotten somewhere does not compile.
macro_rules! declare_registry {
    ($($kind:ident $field:ident;)*) => {
        /// The modules to choose from, by kind.
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
            /// What the modules of a kind say about themselves, with their parameters.
            pub fn infos(&self, kind: ModuleKind) -> Vec<(ModuleInfo, &'static [ParameterInfo])> {
                match kind { $(ModuleKind::$kind => infos(&self.$field)),* }
            }
        }
    };
}

declare_registry! {
    Planner planners;
    Behaviour behaviours;
    Controller controllers;
    Fitness fitnesses;
    SignalController signal_controllers;
}

fn infos<L: ?Sized>(entries: &[ModuleEntry<L>]) -> Vec<(ModuleInfo, &'static [ParameterInfo])> {
    entries.iter().map(|e| (e.info, e.parameters)).collect()
}

impl Registry {
    /// Adds a module. Of two with the same id the first one counts.
    pub fn add<L: Choosable + ?Sized>(&mut self, entry: ModuleEntry<L>) {
        L::entries_mut(self).push(entry);
    }

    /// The modules of a kind, in the order in which they were added.
    pub fn of<L: Choosable + ?Sized>(&self) -> &[ModuleEntry<L>] {
        L::entries(self)
    }

    /// The controller of signals of a setting, with its parameters set.
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
        for (key, &value) in &setting.parameters {
            let set = module.parameters.set(key, value);
            set.map_err(|error| ModuleError::OfSignalController {
                module: setting.module.clone(),
                error,
            })?;
        }
        Ok(module)
    }

    /// The module of a setting, with its parameters set. Stack and slot are for the message.
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
        // The message lists what there is: a misspelt id is seen at once.
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

/// Sets the parameters of a running module as a setting says; those that it does not name get
/// their defaults.
///
/// # Errors
/// If there is no such parameter or a value is out of range; nothing is changed then.
pub fn set_parameters<L: ?Sized>(
    module: &mut Module<L>,
    stack: &str,
    slot: Slot,
    setting: &ModuleSetting,
) -> Result<(), ModuleError> {
    // Set on a fresh list that replaces the old one at the end: an error changes nothing, and what the
    // setting does not name is at its default and not where it was before.
    let mut parameters = ParameterSet::new(module.parameters.infos());
    for (key, &value) in &setting.parameters {
        parameters
            .set(key, value)
            .map_err(|error| ModuleError::Parameter {
                stack: stack.into(),
                slot,
                module: setting.module.clone(),
                error,
            })?;
    }
    module.parameters = parameters;
    Ok(())
}
