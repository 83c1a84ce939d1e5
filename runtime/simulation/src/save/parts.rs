//! The parts of a save, each with a version of its own.
//!
//! A part is named here and nowhere else: what is not in the table can be neither written nor read. Who
//! changes what a part holds, or what numbers in it mean, raises the version of that part alone, and says
//! beside it what has changed. No part is read in another version than its own.
//!
//! Up to 17 all parts were raised together; so those that there were then begin with it, whatever was
//! changed. A part that is new begins with 1, and is read by [`super::SavedWorld::get_if_any`]: saves of
//! before do not have it.

/// A part of a save: its name, and the version in which it is written and read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Part {
    // Private, so that there are no other parts than those of the table.
    name: &'static str,
    version: u16,
}

impl Part {
    /// Its name in saves.
    pub(super) fn name(self) -> &'static str {
        self.name
    }

    /// The version in which it is written and read.
    pub(super) fn version(self) -> u16 {
        self.version
    }

    /// The part of a name.
    pub(super) fn named(name: &str) -> Option<Self> {
        ALL.iter().copied().find(|part| part.name == name)
    }
}

macro_rules! parts {
    ($($(#[$about:meta])* $part:ident $name:literal $version:literal;)*) => {
        $($(#[$about])* pub(super) const $part: Part = Part { name: $name, version: $version };)*

        /// All of them.
        pub(super) const ALL: &[Part] = &[$($part),*];
    };
}

parts! {
    /// The clock, and counts of updates and of routes that were planned again.
    COUNTERS "counters" 17;
    /// The columns of agents. 2: they have levels of dynamics. 10: who follows at a sign looks for itself.
    /// 18: behaviours have lateral wishes.
    AGENTS "agents" 18;
    /// What fitnesses count of a drive.
    ACCOUNTS "accounts" 17;
    /// Deviations of agents from their paths, kept with accounts.
    DEVIATIONS "deviations" 1;
    /// The pedals that controllers press.
    PEDALS "pedals" 17;
    /// The routes.
    ROUTES "routes" 17;
    /// What levels of dynamics keep. 8: rigid bodies are a level. 9: wheels turn, trailers are towed, and a
    /// level slides. 11: lanes can be too steep. 12: wheels can be spheres. 13: trailers are rigid bodies.
    /// 15: bodies roll within their strides. 16, 17: what the level of lanes keeps is in single precision.
    /// 18: fronts lead when lanes are changed.
    DYNAMICS "dynamics" 18;
    /// Trailers that stand alone.
    STANDING "standing" 17;
    /// Who waits to appear. 14: alleys are driven in turns.
    DEPARTURES "departures" 17;
    /// How many random trips were asked for and made.
    POPULATION "population" 17;
    /// How far flows have come.
    FLOWS "flows" 17;
    /// How many vehicles scripts have added.
    SPAWNED "spawned" 17;
    /// Tickets and claims at junctions, and how the law was kept. 8: rings of full lanes are counted. 9:
    /// tickets know where their holders stand. 10: who follows at a sign looks for itself. 14: alleys are
    /// driven in turns. 15: junctions decide on the beat.
    CLAIMS "claims" 17;
    /// What signals show. 5: there are signals by demand.
    SIGNALS "signals" 17;
    /// Who touches whom.
    CONTACTS "contacts" 17;
    /// How long lanelets take.
    DELAYS "delays" 17;
    /// Who has left which place in a junction.
    ENCROACHMENT "encroachment" 17;
    /// Who walks.
    PEOPLE "people" 17;
    /// Whom people have in hand.
    HANDS "hands" 17;
    /// Letters on their way.
    MAIL "mail" 17;
    /// Groups of agents.
    GROUPS "groups" 17;
    /// How many collisions behaviours have been told.
    TOLD_COLLISIONS "told_collisions" 17;
    /// The last lines of the log, and faults.
    LOG "log" 17;
    /// The rows that agents have left behind.
    FINISHED "finished" 17;
    /// The instances of modules, and what they keep.
    MODULES "modules" 17;
    /// What modules have been told of agents.
    MEMBERSHIP "membership" 17;
    /// Modules that were replaced.
    SWAPS "swaps" 17;
    /// Failures of modules.
    FAILURES "failures" 1;
    /// The names of stacks, and their instances.
    STACKS "stacks" 1;
    /// Modules that the run had in the place of those of its stacks.
    OVERRIDES "overrides" 1;
    /// What the scenario and the options were, as far as it matters for what is to come.
    ORIGIN "origin" 1;
    /// Who decided about each programme of signals.
    DECIDERS "deciders" 1;
    /// Modules that did not go on where a save was.
    FRESH "fresh" 1;
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_part_has_a_name_of_its_own() {
        let names: BTreeSet<_> = ALL.iter().map(|part| part.name).collect();
        assert_eq!(names.len(), ALL.len());
        assert_eq!(Part::named("claims"), Some(CLAIMS));
        assert_eq!(Part::named("claim"), None);
    }
}
