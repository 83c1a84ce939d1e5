//! Which instances of a saved world go on in a restored one, and which modules begin anew.
//!
//! A world may be restored with other modules than it was saved with: that is a branch. What an agent has
//! chosen for itself stays its own; where it had the modules of its stack, it gets those that its stack
//! has now. An instance that all have left is not made again, so its module need not be there any more.

use super::pool::Pools;
use super::saving::SavedInstance;
use super::{Modules, SavedMembership};
use crate::agents::{Agents, Census};
use crate::options::SimulationError;
use crate::records::{Instances, SaveError};
use roadwright_agent::Slot;
use roadwright_scenario::ModuleSetting;
use serde::{Deserialize, Serialize};

/// The stacks of a saved world: their names, and the numbers of their instances.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct SavedStacks(Vec<(String, Instances)>);

/// The planners for open ground of a saved world.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct SavedGroundPlanners {
    /// Instances of stacks, in their order.
    stacks: Vec<u16>,
    /// Instances of agents, by index.
    agents: Vec<u16>,
}

impl SavedGroundPlanners {
    /// Puts the instances where those of other slots are.
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

/// A module, or a part of the scenario, that does not go on where a saved world was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Anew {
    /// Name of its slot, or `scenario`.
    pub(crate) slot: String,
    /// Its id, several for a slot that takes several, or what is another in the scenario.
    pub(crate) module: String,
    /// Why.
    pub(crate) why: String,
}

/// What becomes of the saved instances of a slot.
struct SlotSuccession {
    slot: Slot,
    /// The number that each has now, by the one that it had; `None` if all have left it.
    numbers: Vec<Option<u16>>,
    /// By stack, the instance that its agents have left: its number in the save.
    left: Vec<Option<u16>>,
}

/// What becomes of the saved instances of a world.
pub(crate) struct Succession {
    slots: Vec<SlotSuccession>,
    /// What began anew because stacks have other modules now.
    pub(crate) anew: Vec<Anew>,
}

impl Succession {
    /// The numbers that the saved instances of a slot have now.
    pub(super) fn numbers(&self, slot: Slot) -> &[Option<u16>] {
        let all = self.slots.iter().find(|one| one.slot == slot);
        all.map_or(&[], |one| &one.numbers)
    }

    /// The instances that an agent of a stack has now.
    fn of_agent(&self, stack: usize, mut modules: Instances, stacks: &[Instances]) -> Instances {
        for one in &self.slots {
            let was = modules.of(one.slot);
            let has_left = one.left.get(stack) == Some(&Some(was));
            let now = match stacks.get(stack) {
                Some(stack) if has_left => Some(stack.of(one.slot)),
                _ => one.number(was),
            };
            // One that points nowhere is kept, and found where all indices are checked.
            if let Some(now) = now {
                modules.set(one.slot, now);
            }
        }
        modules
    }

    /// What modules have been told, with the numbers of now: those that begin anew know nobody.
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
    /// The stacks, for a save.
    pub(crate) fn saved_stacks(&self) -> SavedStacks {
        let names = self.names.iter().cloned();
        SavedStacks(names.zip(self.stacks.iter().copied()).collect())
    }

    /// The planners for open ground, for a save.
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

    /// Makes the saved instances again that somebody goes on with, in the order in which they were saved,
    /// also those that agents chose for themselves and no stack names; and those that stacks have now.
    /// Agents get the numbers of theirs. `was` is not known of worlds that were saved before it was kept:
    /// there all agents go on with what they had.
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
                // An instance that nobody ever leaves is made even if nobody has it: so the numbers of
                // an exact copy are those of the original.
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
            // Worlds that were saved before there were planners for open ground do not know theirs.
            let slot = Slot::GroundPlanner;
            if who.modules.of(slot) == Instances::NONE.of(slot)
                && let Some(stack) = self.stacks.get(who.stack as usize)
            {
                who.modules.set(slot, stack.of(slot));
            }
        }
        Ok(succession)
    }

    /// By stack, the saved instance that has other settings than the stack has now.
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

    /// Lets the instances that stacks have now succeed those that all have left, where modules are the same
    /// and only parameters or rates are others; tells which begin anew.
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

/// Whether somebody goes on with a saved instance that agents of some stacks have left.
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

/// The modules of some settings.
fn ids(settings: &[ModuleSetting]) -> Vec<&str> {
    let ids = settings.iter().map(|setting| setting.module.as_str());
    ids.collect()
}

/// What is told of a stack whose slot has other settings than it was saved with.
fn anew(slot: Slot, old: &[ModuleSetting], new: &[ModuleSetting], remembers: bool) -> Anew {
    let name = |settings: &[ModuleSetting]| match settings.is_empty() {
        true => "none".to_owned(),
        false => ids(settings).join(", "),
    };
    let is_same = ids(old) == ids(new);
    let why = match (is_same, remembers) {
        (true, true) => "has other parameters, or another rate, than it was saved with".into(),
        (true, false) => "starts fresh: it was saved with other parameters, or another rate".into(),
        (false, _) if new.is_empty() => format!("takes the place of {}", name(old)),
        (false, _) => format!("starts fresh in the place of {}", name(old)),
    };
    Anew {
        slot: slot.name().into(),
        module: name(new),
        why,
    }
}
