//! Which modules there are, and instances of them for a stack.

use crate::module::{Behaviour, Controller, Fitness, Module, Planner, Slot};
use crate::parameter::ParameterError;
use roadwright_scenario::{ModuleSetting, Stack};
use thiserror::Error;

/// Why a stack cannot be put together.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum ModuleError {
    /// No module of that id fits the slot.
    #[error("stack \"{stack}\": no {slot} is called \"{module}\"; there are: {known}")]
    Unknown {
        /// The stack.
        stack: String,
        /// The slot's name.
        slot: &'static str,
        /// The id asked for.
        module: String,
        /// The ids there are.
        known: String,
    },
    /// A parameter cannot be set.
    #[error("stack \"{stack}\", {slot} \"{module}\": {error}")]
    Parameter {
        /// The stack.
        stack: String,
        /// The slot's name.
        slot: &'static str,
        /// The module.
        module: String,
        /// What is wrong.
        error: ParameterError,
    },
}

/// Makes a module at its defaults.
type Make<M> = fn() -> Box<M>;

/// The modules to choose from, by slot.
#[derive(Clone, Default)]
pub struct Registry {
    planners: Vec<Make<dyn Planner>>,
    behaviours: Vec<Make<dyn Behaviour>>,
    controllers: Vec<Make<dyn Controller>>,
    fitnesses: Vec<Make<dyn Fitness>>,
}

/// The modules of one stack.
pub struct Modules {
    /// Finds the way.
    pub planner: Box<dyn Planner>,
    /// Chooses lanes and the mood.
    pub behaviour: Box<dyn Behaviour>,
    /// Steers and accelerates.
    pub controller: Box<dyn Controller>,
    /// Rates the driving.
    pub fitness: Box<dyn Fitness>,
}

impl Registry {
    /// Adds a planner.
    pub fn add_planner(&mut self, make: Make<dyn Planner>) {
        self.planners.push(make);
    }

    /// Adds a behaviour.
    pub fn add_behaviour(&mut self, make: Make<dyn Behaviour>) {
        self.behaviours.push(make);
    }

    /// Adds a controller.
    pub fn add_controller(&mut self, make: Make<dyn Controller>) {
        self.controllers.push(make);
    }

    /// Adds a fitness.
    pub fn add_fitness(&mut self, make: Make<dyn Fitness>) {
        self.fitnesses.push(make);
    }

    /// All controllers at their defaults.
    pub fn controllers(&self) -> impl Iterator<Item = Box<dyn Controller>> + '_ {
        self.controllers.iter().map(|make| make())
    }

    /// The modules of a stack, with its parameters.
    ///
    /// # Errors
    /// If a module is unknown or a parameter cannot be set.
    pub fn modules(&self, name: &str, stack: &Stack) -> Result<Modules, ModuleError> {
        Ok(Modules {
            planner: make(&self.planners, name, Slot::Planner, &stack.planner)?,
            behaviour: make(&self.behaviours, name, Slot::Behaviour, &stack.behaviour)?,
            controller: make(&self.controllers, name, Slot::Controller, &stack.controller)?,
            fitness: make(&self.fitnesses, name, Slot::Fitness, &stack.fitness)?,
        })
    }
}

fn make<M: Module + ?Sized>(
    makers: &[Make<M>],
    stack: &str,
    slot: Slot,
    setting: &ModuleSetting,
) -> Result<Box<M>, ModuleError> {
    let all: Vec<_> = makers.iter().map(|make| make()).collect();
    let known: Vec<_> = all.iter().map(|module| module.info().id).collect();
    let found = all
        .into_iter()
        .find(|module| module.info().id == setting.module);
    let mut module = found.ok_or_else(|| ModuleError::Unknown {
        stack: stack.into(),
        slot: slot.name(),
        module: setting.module.clone(),
        known: known.join(", "),
    })?;
    for (key, &value) in &setting.parameters {
        module
            .parameters_mut()
            .set(key, value)
            .map_err(|error| ModuleError::Parameter {
                stack: stack.into(),
                slot: slot.name(),
                module: setting.module.clone(),
                error,
            })?;
    }
    Ok(module)
}
