//! Maps instances of a saved world to those of the restored world, and finds the modules that start
//! fresh.
//!
//! A world may be restored with other modules than those in the save. Such a run branches off from
//! the original run. Agents keep modules that were chosen for them individually, and otherwise get
//! the current modules of their stacks. An instance that no agent uses any more is not recreated,
//! so its module need not exist.

use super::pool::Pools;
use super::saving::SavedInstance;
use super::{Modules, SavedMembership};
use crate::agents::{Agents, Census};
use crate::options::SimulationError;
use crate::records::{Instances, SaveError};
use roadwright_agent::Slot;
use roadwright_scenario::ModuleSetting;
use serde::{Deserialize, Serialize};

/// Stacks of a saved world: their names, and the numbers of their instances.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct SavedStacks(Vec<(String, Instances)>);

/// The instances of open-ground planners in a saved world.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct SavedGroundPlanners {
    /// Instances by stack, in the order of the stacks.
    stacks: Vec<u16>,
    /// Instances of agents, by index.
    agents: Vec<u16>,
}

impl SavedGroundPlanners {
    /// Adds these instances to the saved instances of stacks and agents, which do not include the
    /// slot of open-ground planners.
    pub(crate) fn put(&self, stacks: Option<&mut SavedStacks>, agents: &mut Agents) {
        let slot = Slot::GroundPlanner;
        for ((_, stack), instance) in stacks.into_iter().flat_map(|s| &mut s.0).zip(&self.stacks) {
            stack.set(slot, *instance);
        }
        for (who, instance) in agents.identity.iter_mut().zip(&self.agents) {
            who.modules.set(slot, *instance);
        }
    }
}

/// A module or a part of the scenario that starts fresh instead of resuming from a saved world.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Anew {
    /// Name of the module's slot, or `scenario`.
    pub(crate) slot: String,
    /// Id of the module, or several ids if the slot takes several modules. For a part of the
    /// scenario, the name of the part that differs.
    pub(crate) module: String,
    /// Reason why the module or part starts fresh.
    pub(crate) why: String,
}

/// Mapping of the saved instances of a slot.
struct SlotSuccession {
    slot: Slot,
    /// New number of each instance by its saved number; `None` if no agent uses it any more.
    numbers: Vec<Option<u16>>,
    /// For each stack, the number of its saved instance if the setting of the stack has changed.
    left: Vec<Option<u16>>,
}

/// Mapping of the saved instances of a world.
pub(crate) struct Succession {
    slots: Vec<SlotSuccession>,
    /// Modules that start fresh because the modules of their stacks have changed.
    pub(crate) anew: Vec<Anew>,
}

impl Succession {
    /// New numbers of the saved instances of a slot.
    pub(super) fn numbers(&self, slot: Slot) -> &[Option<u16>] {
        let all = self.slots.iter().find(|one| one.slot == slot);
        all.map_or(&[], |one| &one.numbers)
    }

    /// Maps the instances of an agent in a saved world to current ones. `stack` is the index of the
    /// agent's stack.
    fn of_agent(&self, stack: usize, mut modules: Instances, stacks: &[Instances]) -> Instances {
        for one in &self.slots {
            let was = modules.of(one.slot);
            let has_left = one.left.get(stack) == Some(&Some(was));
            let now = match stacks.get(stack) {
                Some(stack) if has_left => Some(stack.of(one.slot)),
                _ => one.number(was),
            };
            // An invalid number is kept here and detected later, when all indices are checked.
            if let Some(now) = now {
                modules.set(one.slot, now);
            }
        }
        modules
    }

    /// Returns the saved notifications with instances renumbered for the restored world. Instances
    /// that start fresh have not been notified of any agents.
    pub(super) fn told(&self, mut saved: SavedMembership) -> SavedMembership {
        for one in &self.slots {
            saved.renumber(one.slot, |was| one.number(was).unwrap_or(u16::MAX));
        }
        saved
    }
}

impl SlotSuccession {
    fn number(&self, was: u16) -> Option<u16> {
        self.numbers.get(was as usize).copied().flatten()
    }
}

impl Modules {
    /// Returns the names and instances of the stacks, for a save.
    pub(crate) fn saved_stacks(&self) -> SavedStacks {
        let names = self.names.iter().cloned();
        SavedStacks(names.zip(self.stacks.iter().copied()).collect())
    }

    /// Returns the instances of the open-ground planners, for a save.
    pub(crate) fn saved_ground_planners(&self, agents: Census<'_>) -> SavedGroundPlanners {
        let slot = Slot::GroundPlanner;
        SavedGroundPlanners {
            stacks: self.stacks.iter().map(|stack| stack.of(slot)).collect(),
            agents: agents
                .identity
                .iter()
                .map(|who| who.modules.of(slot))
                .collect(),
        }
    }

    /// Recreates the saved instances that are still in use, in the order of the save and including
    /// the choices of individual agents. Then it creates the current instances of the stacks.
    /// Agents get the new numbers. `was` is `None` for worlds from earlier versions, which did not
    /// record the stacks; all their agents keep their instances.
    pub(crate) fn restore_instances(
        &mut self,
        saved: &[SavedInstance],
        was: Option<&SavedStacks>,
        agents: &mut Agents,
    ) -> Result<Succession, SaveError> {
        let was = was.map_or(&[][..], |stacks| &stacks.0);
        let names = was.iter().map(|(name, _)| name);
        if !was.is_empty() && !names.eq(self.names.iter()) {
            return Err(SaveError::OtherStacks);
        }
        self.pools = Pools::new();
        let mut succession = Succession {
            slots: Vec::new(),
            anew: Vec::new(),
        };
        let settings = SavedInstance::settings_by_slot(saved)?;
        for (slot, saved) in Slot::ALL.into_iter().zip(&settings) {
            let left = self.left_instances(slot, was, saved);
            let stays = |number: u16| stays(slot, number, was, &left, agents.census());
            let mut numbers = Vec::new();
            for (number, setting) in (0u16..).zip(saved) {
                // An instance that is still the one of its stack is created even if no agent uses
                // it, so that the instances of an exact copy have the same numbers as in the
                // original world.
                let is_left = left.contains(&Some(number));
                let made = (!is_left || stays(number))
                    .then(|| self.instance_of(slot, "saved", setting))
                    .transpose();
                numbers.push(made.map_err(SimulationError::from)?);
            }
            succession.slots.push(SlotSuccession {
                slot,
                numbers,
                left,
            });
        }
        let names = self.names.iter().cloned();
        let stacks: Vec<_> = names.zip(self.settings.iter().cloned()).collect();
        self.stacks = self.instances_of(&stacks).map_err(SimulationError::from)?;
        for (slot, saved) in Slot::ALL.into_iter().zip(&settings) {
            self.succeed(slot, saved, &mut succession);
        }
        for who in agents.identity.iter_mut().filter(|who| who.is_known()) {
            who.modules = succession.of_agent(who.stack as usize, who.modules, &self.stacks);
            // Saves from before the introduction of open-ground planners do not contain instances
            // of them.
            let slot = Slot::GroundPlanner;
            if who.modules.of(slot) == Instances::NONE.of(slot)
                && let Some(stack) = self.stacks.get(who.stack as usize)
            {
                who.modules.set(slot, stack.of(slot));
            }
        }
        Ok(succession)
    }

    /// Returns the saved instance of each stack whose settings have changed since the save.
    fn left_instances(
        &self,
        slot: Slot,
        was: &[(String, Instances)],
        saved: &[Vec<ModuleSetting>],
    ) -> Vec<Option<u16>> {
        let pairs = was.iter().zip(&self.settings);
        pairs
            .map(|((_, had), now)| {
                let number = had.of(slot);
                let settings = saved.get(number as usize)?;
                (settings != now.settings(slot)).then_some(number)
            })
            .collect()
    }

    /// Replaces saved instances that no agent uses any more by the current instances of their
    /// stacks if they differ only in parameters or rates. Records all modules that start fresh.
    fn succeed(&self, slot: Slot, saved: &[Vec<ModuleSetting>], succession: &mut Succession) {
        let Some(one) = succession.slots.iter_mut().find(|one| one.slot == slot) else {
            return;
        };
        for (stack, left) in one.left.iter().enumerate() {
            let Some(left) = *left else { continue };
            let now = self.stacks[stack].of(slot);
            let (old, new) = (&saved[left as usize], self.settings[stack].settings(slot));
            let is_free = !one.numbers.contains(&Some(now));
            let place = &mut one.numbers[left as usize];
            if ids(old) == ids(new) && (is_free && place.is_none() || *place == Some(now)) {
                *place = Some(now);
            }
            let anew = anew(slot, old, new, *place == Some(now));
            if !succession.anew.contains(&anew) {
                succession.anew.push(anew);
            }
        }
    }
}

/// Whether any agent still uses a saved instance that at least one stack no longer uses.
fn stays(
    slot: Slot,
    number: u16,
    was: &[(String, Instances)],
    left: &[Option<u16>],
    agents: Census<'_>,
) -> bool {
    let is_left_by = |stack: usize| left.get(stack) == Some(&Some(number));
    let mut stacks = was.iter().enumerate();
    let mut known = agents.identity.iter().filter(|who| who.is_known());
    stacks.any(|(stack, (_, had))| had.of(slot) == number && !is_left_by(stack))
        || known.any(|who| who.modules.of(slot) == number && !is_left_by(who.stack as usize))
}

/// Ids of the modules in the given settings.
fn ids(settings: &[ModuleSetting]) -> Vec<&str> {
    let ids = settings.iter().map(|setting| setting.module.as_str());
    ids.collect()
}

/// Creates the report about a stack whose settings for a slot differ from the saved ones.
fn anew(slot: Slot, old: &[ModuleSetting], new: &[ModuleSetting], remembers: bool) -> Anew {
    let name = |settings: &[ModuleSetting]| match settings.is_empty() {
        true => "none".to_owned(),
        false => ids(settings).join(", "),
    };
    let is_same = ids(old) == ids(new);
    let why = match (is_same, remembers) {
        (true, true) => "has different parameters or a different rate than in the save".into(),
        (true, false) => {
            "starts fresh, because it was saved with different parameters or a different rate"
                .into()
        }
        (false, _) if new.is_empty() => format!("replaces {}", name(old)),
        (false, _) => format!("starts fresh and replaces {}", name(old)),
    };
    Anew {
        slot: slot.name().into(),
        module: name(new),
        why,
    }
}
