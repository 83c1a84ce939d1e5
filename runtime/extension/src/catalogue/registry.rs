//! The available modules and their health.

use super::{Catalogue, FileState, KnownFile, ModuleRow};
use crate::native::{
    AsController, AsFitness, AsGroundPlanner, AsPlanner, AsSignals, Kind, Native, PluginEntry,
};
use roadwright_agent::{Choosable, ModuleEntry, ModuleKind, Registry};
use std::sync::Arc;

impl Catalogue {
    /// Returns all modules: built-ins, plugins and scripts.
    pub(crate) fn registry(&self) -> Registry {
        let mut registry = self.options.builtin.clone();
        let cells: Vec<Arc<PluginEntry>> = self.plugins().cells.values().cloned().collect();
        for cell in cells {
            match cell.kind {
                ModuleKind::Planner => self.enter::<AsPlanner>(&mut registry, cell),
                ModuleKind::Controller => self.enter::<AsController>(&mut registry, cell),
                ModuleKind::Fitness => self.enter::<AsFitness>(&mut registry, cell),
                ModuleKind::SignalController => self.enter::<AsSignals>(&mut registry, cell),
                ModuleKind::GroundPlanner => self.enter::<AsGroundPlanner>(&mut registry, cell),
                ModuleKind::Behaviour => {}
            }
        }
        self.scripts.enter(&mut registry);
        registry
    }

    fn enter<K: Kind>(&self, registry: &mut Registry, cell: Arc<PluginEntry>)
    where
        Native<K>: IntoLogic<K::Logic>,
    {
        // A module that may not run or is quarantined is not available to new runs. Runs that already use it
        // continue with its fallback.
        if !cell.has_been_active() {
            return;
        }
        let builtin = self.options.builtin.clone();
        let (info, parameters) = (cell.module_info(), cell.parameters());
        registry.add(ModuleEntry::<K::Logic>::new(info, parameters, move || {
            let fallback = K::fallback(&builtin).expect("every kind has a built-in module");
            Native::<K>::new(cell.clone(), fallback).into_logic()
        }));
    }

    /// Returns the rows of all plugins.
    pub(crate) fn plugin_rows(&self) -> Vec<ModuleRow> {
        let plugins = self.plugins();
        let row = |cell: &Arc<PluginEntry>| {
            let of_module = |file: &&KnownFile| {
                let inspected = file.inspected.as_ref();
                inspected.is_some_and(|inspected| inspected.info.id == cell.id)
            };
            let files = plugins.known.iter().filter(|(_, file)| of_module(file));
            let file = files.min_by_key(|(_, file)| match file.state {
                FileState::Active => 0,
                FileState::NeedsPermission | FileState::Rejected(_) => 1,
                _ => 2,
            });
            cell.row(file.map(|(path, file)| (path.clone(), file.state.clone())))
        };
        plugins.cells.values().map(row).collect()
    }
}

/// Converts the logic type shared by all kinds into the logic of one kind.
pub(crate) trait IntoLogic<L: Choosable + ?Sized> {
    fn into_logic(self) -> Box<L>;
}

impl IntoLogic<dyn roadwright_agent::Controller> for Native<AsController> {
    fn into_logic(self) -> Box<dyn roadwright_agent::Controller> {
        Box::new(self)
    }
}

impl IntoLogic<dyn roadwright_agent::Fitness> for Native<AsFitness> {
    fn into_logic(self) -> Box<dyn roadwright_agent::Fitness> {
        Box::new(self)
    }
}

impl IntoLogic<dyn roadwright_agent::Planner> for Native<AsPlanner> {
    fn into_logic(self) -> Box<dyn roadwright_agent::Planner> {
        Box::new(self)
    }
}

impl IntoLogic<dyn roadwright_agent::GroundPlanner> for Native<AsGroundPlanner> {
    fn into_logic(self) -> Box<dyn roadwright_agent::GroundPlanner> {
        Box::new(self)
    }
}

impl IntoLogic<dyn roadwright_agent::SignalController> for Native<AsSignals> {
    fn into_logic(self) -> Box<dyn roadwright_agent::SignalController> {
        Box::new(self)
    }
}
