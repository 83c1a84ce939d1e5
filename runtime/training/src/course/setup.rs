//! Options for running a course.

use super::{Course, CourseError};
use roadwright_scenario::{DynamicsLevel, ModuleSetting, Slot, Stack};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Vehicles, drivers and fitness functions that replace those of a course.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setup {
    /// Key of the vehicle type of all drivers.
    pub vehicle: Option<String>,
    /// Dynamics level of the bodies.
    pub dynamics: Option<DynamicsLevel>,
    /// Time step, s.
    pub dt: Option<f64>,
    /// The drivers. If there are fewer drivers than agents, they are assigned at random by the
    /// seed, and the numbers of agents per driver differ by at most one.
    pub drivers: Vec<Stack>,
    /// Modules that replace the modules of all drivers, by the name of the slot. If a driver
    /// already has the module, the driver's parameters for it are kept.
    pub modules: BTreeMap<String, Vec<ModuleSetting>>,
    /// Fitness modules. The first one scores the drive.
    pub fitness: Option<Vec<ModuleSetting>>,
}

impl Setup {
    /// Creates a setup with one driver.
    pub fn with_driver(driver: Stack) -> Self {
        Self {
            drivers: vec![driver],
            ..Self::default()
        }
    }

    /// Returns the id of the fitness module that scores a drive on a course.
    pub(crate) fn first_fitness(&self, course: &Course) -> String {
        let first = self.fitness.as_ref().and_then(|settings| settings.first());
        first.map_or_else(|| course.fitness.into(), |setting| setting.module.clone())
    }

    /// Returns a copy of a stack with the modules and fitness functions of this setup.
    pub(super) fn dress(&self, course: &Course, stack: &Stack) -> Result<Stack, CourseError> {
        let wrong = |what| CourseError::Setup {
            course: course.name.clone(),
            what,
        };
        let mut dressed = stack.clone();
        for (name, settings) in &self.modules {
            let slot = Slot::from_name(name)
                .ok_or_else(|| wrong("its setup refers to an unknown slot"))?;
            let own = stack.settings(slot);
            // A module that the stack already has keeps its parameters, because setups select modules without
            // resetting parameters.
            let tuned = settings.iter().map(|setting| {
                let known = own.iter().find(|own| own.module == setting.module);
                known.unwrap_or(setting).clone()
            });
            if !dressed.set(slot, tuned.collect()) {
                return Err(wrong("its setup has too many or too few modules in a slot"));
            }
        }
        if dressed.ground_planner.is_none() {
            dressed.ground_planner = course.ground_planner();
        }
        dressed.fitness.0 = match &self.fitness {
            Some(settings) if settings.is_empty() => {
                return Err(wrong("without a fitness there is nothing to measure"));
            }
            Some(settings) => settings.clone(),
            None => vec![ModuleSetting::new(course.fitness)],
        };
        Ok(dressed)
    }
}
