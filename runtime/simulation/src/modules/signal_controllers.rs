//! Modules that control signals: one instance for each programme whose plan names a module.

use super::saving::{SavedInstance, SavedModule};
use super::succession::Anew;
use crate::clock::Clock;
use crate::options::SimulationError;
use crate::records::ModuleFailures;
use crate::summary::{ModuleRecord, SwapRecord};
use roadwright_agent::{
    Module, ModuleError, ModuleKind, Rate, Registry, SignalController, SignalView, StepBoundary,
};
use roadwright_ground::Ground;
use roadwright_scenario::{ModuleSetting, Scenario, SignalControllerSetting};
use serde::{Deserialize, Serialize};

/// Update rate, Hz. It is low because signals change on the scale of seconds.
const RATE: f64 = 1.0;

/// Module or mode that controls a programme, in saved form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Decider {
    /// Id of a module, or name of a mode.
    name: String,
    is_module: bool,
}

/// Deciders of all programmes: those in a save, and those of the restored world.
#[derive(Clone, Copy)]
pub(crate) struct DeciderChange<'a> {
    pub(crate) was: &'a [Decider],
    pub(crate) now: &'a [Decider],
}

/// A module that controls one programme.
struct Running {
    setting: ModuleSetting,
    module: Module<dyn SignalController>,
}

/// Modules that control signals, by programme.
#[derive(Default)]
pub(crate) struct SignalControllers {
    running: Vec<Option<Running>>,
}

/// Reasons why modules named by signal plans cannot run.
pub(super) fn unfit(
    scenario: &Scenario,
    registry: &Registry,
) -> impl Iterator<Item = SimulationError> {
    let plans = scenario.network().nodes();
    let plans = plans.filter_map(|(id, node)| Some((id, node.rules.plan.as_ref()?)));
    plans.filter_map(|(id, plan)| {
        let made = Running::new(plan.controller.as_ref()?, registry);
        let error = made.err()?.to_string();
        Some(SimulationError::SignalController { node: id.0, error })
    })
}

impl SignalControllers {
    /// Creates the modules named in the signal plans of a ground.
    ///
    /// # Errors
    /// If a module does not exist or a parameter cannot be set.
    pub(crate) fn new(ground: &Ground, registry: &Registry) -> Result<Self, SimulationError> {
        let programmes = ground.programmes().enumerate();
        let running = programmes.map(|(group, programme)| {
            let setting = programme.controller.as_ref();
            let running = setting
                .map(|setting| Running::new(setting, registry))
                .transpose();
            running.map_err(|error| SimulationError::SignalController {
                node: node_of(ground, group),
                error: error.to_string(),
            })
        });
        Ok(Self {
            running: running.collect::<Result<_, _>>()?,
        })
    }

    /// Keeps the modules of unchanged signals and creates the others. Programmes whose module
    /// cannot be created use actuated control. Returns the errors by module.
    pub(crate) fn take_over(
        &mut self,
        before: &Ground,
        after: &Ground,
        registry: &Registry,
    ) -> Vec<(String, String)> {
        let mut faults = Vec::new();
        let mut old = std::mem::take(&mut self.running);
        for (group, programme) in after.programmes().enumerate() {
            // A module is kept only if its signals are unchanged, because its memory refers to
            // their stages.
            let known = before.group_like(after, group);
            let kept = known.and_then(|known| old.get_mut(known)?.take());
            let made = programme.controller.as_ref().and_then(|setting| {
                kept.or_else(|| match Running::new(setting, registry) {
                    Ok(running) => Some(running),
                    Err(error) => {
                        let text = format!("signals of node {}: {error}", node_of(after, group));
                        faults.push((setting.module.clone(), text));
                        None
                    }
                })
            });
            self.running.push(made);
        }
        faults
    }

    /// Whether a module controls a programme.
    pub(crate) fn has(&self, group: usize) -> bool {
        self.running.get(group).is_some_and(Option::is_some)
    }

    /// Whether the module of a programme reads the approaching traffic.
    pub(crate) fn look_at_facts(&self, group: usize) -> bool {
        let running = self.running.get(group).and_then(Option::as_ref);
        running.is_some_and(|running| running.module.logic.wants_facts())
    }

    /// Whether modules that read the approaching traffic are updated in this step.
    pub(crate) fn are_due(&self, clock: &Clock) -> bool {
        Rate::new(RATE, clock.dt).is_due(clock.step, 0) && self.running.iter().any(Option::is_some)
    }

    /// Calls the module that controls a programme.
    pub(crate) fn decide(
        &mut self,
        group: usize,
        view: &SignalView<'_>,
    ) -> Result<Option<u32>, String> {
        let Some(Some(running)) = self.running.get_mut(group) else {
            return Ok(None);
        };
        let module = &mut running.module;
        module.logic.decide(&module.parameters, view)
    }

    /// Id of the module of a programme.
    pub(crate) fn id(&self, group: usize) -> &str {
        let running = self.running.get(group).and_then(Option::as_ref);
        running.map_or("", |running| &running.setting.module)
    }

    /// Lets newer builds replace older ones.
    pub(super) fn pass_boundary(&mut self, clock: &Clock, swaps: &mut Vec<SwapRecord>) {
        // Signal controllers know no agents, so none are added or removed.
        let moment = StepBoundary {
            step: clock.step,
            time: clock.time(),
            capacity: 0,
            added: &[],
            removed: &[],
        };
        for running in self.running.iter_mut().flatten() {
            let module = &mut running.module;
            let swap = module
                .logic
                .at_step_boundary(&mut module.parameters, &moment);
            let Some(swap) = swap else { continue };
            module.info = swap.info;
            swaps.push(SwapRecord {
                step: moment.step,
                time: moment.time,
                slot: ModuleKind::SignalController.name(),
                module: running.setting.module.clone(),
                from: swap.from,
                to: swap.to,
                note: swap.note,
            });
        }
    }

    /// Records of external signal controllers, without duplicates.
    pub(super) fn record(&self, failures: &ModuleFailures, records: &mut Vec<ModuleRecord>) {
        let slot = ModuleKind::SignalController.name();
        for running in self.running.iter().flatten() {
            let build = running.module.logic.version();
            let record = ModuleRecord::of(slot, &running.setting.module, build, failures);
            records.extend(record.filter(|record| !records.contains(record)));
        }
    }

    /// Adds the failures of the signal controllers since the last
    /// [`SignalControllers::take_failures`].
    pub(super) fn add_failures(&self, time: f64, failures: &mut ModuleFailures) {
        for running in self.running.iter().flatten() {
            if let Some(failure) = running.module.logic.failure() {
                failures.add(&running.setting.module, time, failure);
            }
        }
    }

    /// Adds the failures of the signal controllers and resets the counts.
    pub(super) fn take_failures(&mut self, time: f64, failures: &mut ModuleFailures) {
        for running in self.running.iter_mut().flatten() {
            if let Some(failure) = running.module.logic.take_failure() {
                failures.add(&running.setting.module, time, failure);
            }
        }
    }

    /// Settings and states of the controllers, in the order of programmes.
    pub(super) fn saved(&self) -> impl Iterator<Item = SavedInstance> + '_ {
        let running = self.running.iter().flatten();
        running.map(|running| SavedInstance {
            slot: ModuleKind::SignalController.name().into(),
            modules: vec![SavedModule::of(&running.setting, &running.module)],
        })
    }

    /// Module or mode that controls each programme.
    pub(crate) fn deciders(&self, ground: &Ground) -> Vec<Decider> {
        let programmes = ground.programmes().zip(&self.running);
        programmes
            .map(|(programme, running)| match running {
                Some(running) => Decider {
                    name: running.setting.module.clone(),
                    is_module: true,
                },
                None => Decider {
                    name: programme.mode.name().into(),
                    is_module: false,
                },
            })
            .collect()
    }

    /// Restores the state of the modules. Modules that cannot be restored start fresh and are appended to
    /// `anew`.
    pub(super) fn load(
        &mut self,
        saved: &[SavedInstance],
        deciders: DeciderChange<'_>,
        anew: &mut Vec<Anew>,
    ) {
        let slot = ModuleKind::SignalController.name();
        // Only programmes with modules have saved instances, in the order of the programmes.
        let mut saved = saved.iter().filter(|instance| instance.slot == slot);
        let programmes = deciders.was.iter().zip(deciders.now);
        for ((was, now), running) in programmes.zip(&mut self.running) {
            let saved = (was.is_module.then(|| saved.next()).flatten())
                .and_then(|instance| instance.modules.first());
            let loaded = match (saved, running) {
                _ if was != now => Err(format!("starts fresh and replaces {}", was.name)),
                (Some(saved), Some(running)) => saved.load_into(&mut running.module),
                _ => Ok(()),
            };
            let Err(why) = loaded else { continue };
            let one = Anew {
                slot: slot.into(),
                module: now.name.clone(),
                why,
            };
            // Each reason is reported only once, even if it concerns many programmes.
            if !anew.contains(&one) {
                anew.push(one);
            }
        }
    }
}

impl Running {
    fn new(setting: &SignalControllerSetting, registry: &Registry) -> Result<Self, ModuleError> {
        let setting = setting.setting();
        let module = registry.signal_controller(&setting)?;
        Ok(Self { setting, module })
    }
}

/// Smallest node id of the signals that follow a programme.
pub(crate) fn node_of(ground: &Ground, group: usize) -> u32 {
    let junctions = ground.signal_group(group);
    let nodes = junctions.flat_map(|junction| ground.junction_nodes(junction));
    nodes.map(|node| node.0).min().unwrap_or(0)
}
