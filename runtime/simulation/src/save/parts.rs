//! Parts of a save, each with its own version.
//!
//! This table is the only place that defines parts. Other parts can be neither written nor read. If
//! the content of a part or the meaning of its numbers changes, only the version of that part is
//! increased, and the comment on the part states the change. A part is read only in its current
//! version.
//!
//! Parts that start at version 17 or above date from a time when all parts shared one version. A
//! new part starts at version 1 and is read with [`super::SavedWorld::get_if_any`], because older
//! saves do not have it.

/// A part of a save: its name and its version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Part {
    // Private, so that only the table can create parts.
    name: &'static str,
    version: u16,
}

impl Part {
    /// Name in saves.
    pub(super) fn name(self) -> &'static str {
        self.name
    }

    /// Version of the part. It is the only version that is written and read.
    pub(super) fn version(self) -> u16 {
        self.version
    }

    /// Part with the given name.
    pub(super) fn named(name: &str) -> Option<Self> {
        ALL.iter().copied().find(|part| part.name == name)
    }
}

macro_rules! parts {
    ($($(#[$about:meta])* $part:ident $name:literal $version:literal;)*) => {
        $($(#[$about])* pub(super) const $part: Part = Part { name: $name, version: $version };)*

        /// All parts.
        pub(super) const ALL: &[Part] = &[$($part),*];
    };
}

parts! {
    /// The clock, and counts of updates and replanned routes.
    COUNTERS "counters" 17;
    /// Columns of agents. Version 2: dynamics levels. 10: vehicles that follow another vehicle at a
    /// sign check for traffic themselves. 18: lateral offsets requested by behaviours.
    AGENTS "agents" 18;
    /// Per-agent statistics for fitness functions.
    ACCOUNTS "accounts" 17;
    /// Deviations of agents from their paths, for fitness functions.
    DEVIATIONS "deviations" 1;
    /// Pedal positions set by controllers.
    PEDALS "pedals" 17;
    /// Routes. 18: paths of pushed trailers. 19: commanded speeds of drivers.
    ROUTES "routes" 19;
    /// States of dynamics levels. Version 8: level `rigid`. 9: rotating wheels, towed trailers, a
    /// level with sliding. 11: lanes can be too steep. 12: spherical wheels. 13: trailers as rigid
    /// bodies. 15: bodies are extrapolated within their strides. 16, 17: state of level `lane` in
    /// single precision. 18: the front leads the rear axle in lane changes. 19: characters.
    DYNAMICS "dynamics" 19;
    /// Uncoupled trailers.
    STANDING "standing" 17;
    /// Agents waiting to be spawned. Version 14: directions take turns in alleys.
    DEPARTURES "departures" 17;
    /// Vehicles that have been stationary for more than a minute, by cause.
    STANDING_COUNTS "standing_counts" 1;
    /// Number of random trips requested and created.
    POPULATION "population" 17;
    /// Progress of flows.
    FLOWS "flows" 17;
    /// Number of vehicles added by scripts.
    SPAWNED "spawned" 17;
    /// Tickets and claims at junctions, and statistics of right of way. Version 8: number of rings
    /// of full lanes. 9: tickets contain the positions where their holders stand. 10: vehicles that
    /// follow another vehicle at a sign check for traffic themselves. 14: directions take turns in
    /// alleys. 15: junctions decide on the beat. 18: alleys of trailers are included, so the
    /// numbers of alleys differ.
    CLAIMS "claims" 18;
    /// States of signals. Version 5: actuated signals.
    SIGNALS "signals" 17;
    /// Current contacts.
    CONTACTS "contacts" 17;
    /// Expected delays on lanelets.
    DELAYS "delays" 17;
    /// Times at which agents left places in junctions.
    ENCROACHMENT "encroachment" 17;
    /// Pedestrians.
    PEOPLE "people" 17;
    /// Step phases of pedestrians, from which their feet are computed.
    PEOPLE_STEPS "people_steps" 1;
    /// Agents under manual control.
    HANDS "hands" 17;
    /// Agents under manual control whose users have chosen the full steering lock.
    FULL_LOCKS "full_locks" 1;
    /// Messages that have not been read.
    MAIL "mail" 17;
    /// Groups of agents.
    GROUPS "groups" 17;
    /// Number of collisions that behaviours have been notified of.
    TOLD_COLLISIONS "told_collisions" 17;
    /// Last lines of the log, and faults.
    LOG "log" 17;
    /// Result rows of agents.
    FINISHED "finished" 17;
    /// Instances of modules, and their states.
    MODULES "modules" 17;
    /// Notifications about agents that modules have received.
    MEMBERSHIP "membership" 17;
    /// Replaced modules.
    SWAPS "swaps" 17;
    /// Module failures.
    FAILURES "failures" 1;
    /// Names of stacks, and their instances.
    STACKS "stacks" 1;
    /// Open-ground planners of stacks and agents.
    GROUND_PLANNERS "ground_planners" 1;
    /// Plans of agents off the lanes. Version 2: paths of pushed trailers.
    GROUND_PLANS "ground_plans" 2;
    /// Searches of agents off the lanes for drivable paths. Version 2: number of corrections at the
    /// goal. 3: trailers.
    DRIVES "drives" 3;
    /// Searches of agents off the lanes that modules carry out.
    MODULE_SEARCHES "module_searches" 1;
    /// Courses of characters around each other. Version 2: courses to the goal, and the distance
    /// walked on them. Version 3: waiting times, and requests for joint plans.
    WALKS "walks" 3;
    /// Searches from the goals of agents off the lanes, stored as numbers of expanded cells.
    GOAL_COSTS "goal_costs" 1;
    /// Moves of agents with move trees. Version 2: libraries of vehicle types, statistics of
    /// libraries.
    MOVE_TREES "move_trees" 2;
    /// Modules that override those of the stacks.
    OVERRIDES "overrides" 1;
    /// Properties of the scenario and options that affect the rest of the run.
    ORIGIN "origin" 1;
    /// Modules or modes that controlled each signal programme.
    DECIDERS "deciders" 1;
    /// Modules that did not resume from the state of a save.
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
