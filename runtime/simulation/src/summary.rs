//! What came of a run.

use crate::dynamics::LooseCounts;
use crate::options::Population;
use crate::records::{Collision, ModuleFailures, PeopleCounts, are_countable};
use serde::{Deserialize, Serialize};

/// How many agents are in which state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct AgentCounts {
    /// Appeared so far.
    pub spawned: usize,
    /// Reached their destination.
    pub arrived: usize,
    /// Drive now.
    pub active: usize,
    /// Were taken off the road on their way: by an edit, or by their own behaviour.
    pub removed: usize,
    /// Have no way to their destination.
    pub refused: usize,
    /// Wait for their time or for a free place.
    pub waiting: usize,
    /// Those of them whose time has come, and who find no place.
    pub queued: usize,
}

/// Vehicles that get no farther, among those that drive now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct MishapCounts {
    /// Lie on a side or on the roof: rigid bodies that lean by more than 60 degrees.
    pub tipped_over: usize,
    /// Have been standing for two minutes or longer on their way, tipped over or not.
    pub stuck: usize,
}

/// Mean and spread over the drives of one run.
///
/// The drives of one run meet each other, so they are no independent observations and say nothing about the
/// error of the mean. Errors come from several runs with different seeds, as `bench run` makes them.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Statistic {
    /// Number of values.
    pub count: usize,
    /// Mean.
    pub mean: f64,
    /// Spread of the values: their standard deviation (n - 1).
    pub standard_deviation: f64,
    /// `standard_deviation` divided by the square root of `count`. Not the error of the mean, because the
    /// drives of one run depend on each other; kept for programs that read it.
    pub standard_error: f64,
}

impl Statistic {
    /// Mean and spread of values; all zero without any.
    pub fn of(values: &[f64]) -> Self {
        let count = values.len();
        if count == 0 {
            return Self::default();
        }
        let n = count as f64;
        let mean = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
        let standard_deviation = if count > 1 {
            (squares / (n - 1.0)).sqrt()
        } else {
            0.0
        };
        Self {
            count,
            mean,
            standard_deviation,
            standard_error: standard_deviation / n.sqrt(),
        }
    }
}

/// A module that is not built in.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ModuleRecord {
    /// Name of its slot.
    pub slot: &'static str,
    /// Its id.
    pub module: String,
    /// Version, hash and tier of its build; of the last one, if the module is out.
    pub build: String,
    /// Simulation time, s, from which the built-in module has driven in its place, because it failed; `None` if the
    /// module is in use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub out_since: Option<f64>,
}

impl ModuleRecord {
    /// The record of a module that is in use, or that was thrown out; `None` for what is built in.
    pub(crate) fn of(
        slot: &'static str,
        module: &str,
        build: String,
        failures: &ModuleFailures,
    ) -> Option<Self> {
        let is_out = build.is_empty();
        let failure = failures.of(module).filter(|_| is_out);
        let out_since = failure.and_then(|failure| failure.out_since);
        let build = failure.map_or(build, |failure| failure.build.clone());
        (!is_out || out_since.is_some()).then(|| Self {
            slot,
            module: module.to_owned(),
            build,
            out_since,
        })
    }
}

/// How often routes were planned again while agents drove, since they stood. The other reason, that a lane
/// change was not made in time, is counted by [`LawCounts::missed_turns`]: once for each other route that
/// was found, and not for each second in which one was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ReplanCounts {
    /// The agent had been standing for long.
    pub stuck: u64,
}

/// How the law of junctions was kept.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct LawCounts {
    /// Entered a junction while their signal was red.
    pub red_passed: u64,
    /// Entered from a stop sign without having been let in.
    pub stops_missed: u64,
    /// Entered a junction without having been let in, for whatever reason.
    pub breaches: u64,
    /// Times that the controller of a vehicle would have driven over the place where it has to stand, and
    /// the host braked in its stead.
    pub held_by_law: u64,
    /// Let in while they were not passed over any more: they had waited long enough, or nobody has the
    /// right of way there.
    pub let_in_by_lock: u64,
    /// The longest time for which anybody has waited for a junction, s.
    pub longest_wait: f64,
    /// Vehicles that had not got over to their lane in time, went on as their own lane goes, and took
    /// another way.
    pub missed_turns: u64,
    /// Rings of full lanes, where everybody waits for room on the next one, whose heads were let in
    /// together.
    pub rotations: u64,
    /// Vehicles in such rings that took another way, so that the others could move on.
    pub sent_round: u64,
    /// Such rings that had stood for a minute, and of which none could take another way; each once, for as
    /// long as it stands.
    pub gridlocks: u64,
}

impl LawCounts {
    /// Whether a save can have these counts.
    pub(crate) fn are_sound(&self) -> bool {
        are_countable([
            self.red_passed,
            self.stops_missed,
            self.breaches,
            self.held_by_law,
            self.let_in_by_lock,
            self.missed_turns,
            self.rotations,
            self.sent_round,
            self.gridlocks,
        ])
    }
}

/// A module that was replaced while the world ran.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SwapRecord {
    /// Steps taken before.
    pub step: u64,
    /// Simulation time, s.
    pub time: f64,
    /// Name of the slot.
    pub slot: &'static str,
    /// Id of the module.
    pub module: String,
    /// Hash of the old version; empty for a built-in.
    pub from: String,
    /// Hash of the new version; empty for a built-in.
    pub to: String,
    /// What happened, for people.
    pub note: String,
}

/// A module that did not go on where it was when a saved world was restored. From then on the run is a
/// branch: it is not the one that was saved, and cannot be had without the save.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FreshStart {
    /// Steps taken before.
    pub step: u64,
    /// Simulation time, s.
    pub time: f64,
    /// Name of the slot; `scenario` for what is no module: `vehicle types`, `flows`, `dynamics`, `pedestrians`.
    pub slot: String,
    /// Id of the module, or of several where a slot has several; `none` for a slot that is empty now. Else
    /// what is another in the scenario or the options.
    pub module: String,
    /// What happened, for people.
    pub why: String,
}

/// What one fitness says about agents of one stack.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FitnessSummary {
    /// Id of the fitness.
    pub module: String,
    /// Its scores of all agents of the stack that drove, in its own unit.
    #[serde(flatten)]
    pub score: Statistic,
}

/// What came of the agents of one stack.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StackSummary {
    /// Its name.
    pub stack: String,
    /// How many have driven or drive.
    pub spawned: usize,
    /// How many have reached their destination.
    pub arrived: usize,
    /// Time from start to destination of those, s.
    pub travel_time: Statistic,
    /// Distance that each agent has driven, m.
    pub distance: Statistic,
    /// By each fitness that any of them had, in the order of their ids. Scores of different
    /// fitnesses are never put together.
    pub fitness: Vec<FitnessSummary>,
}

/// The outcome of a run so far.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// Hash over the state of all agents, 16 hexadecimal digits.
    pub state_hash: String,
    /// Steps taken.
    pub steps: u64,
    /// Simulated time, s.
    pub sim_seconds: f64,
    /// Agents by state.
    pub agents: AgentCounts,
    /// Random trips that were asked for and made, if any were.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub population: Option<Population>,
    /// Sum over the steps of the agents that drove.
    pub agent_updates: u64,
    /// Bodies that began to overlap.
    pub collisions: Vec<Collision>,
    /// Sum over all agents, m.
    pub distance_driven: f64,
    /// Routes that were planned again.
    pub replans: ReplanCounts,
    /// How the law of junctions was kept.
    pub law: LawCounts,
    /// What became of people on foot, if any have come.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub people: Option<PeopleCounts>,
    /// How many loose obstacles have been pushed, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loose: Option<LooseCounts>,
    /// Vehicles that get no farther.
    pub mishaps: MishapCounts,
    /// Agents off the lanes that have no path to their goal.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub no_path: Vec<AgentWithoutPath>,
    /// Time from start to destination of those who arrived, s.
    pub travel_time: Statistic,
    /// The same by stack, with what its agents' fitnesses say.
    pub stacks: Vec<StackSummary>,
    /// Builds of the modules from outside that are in use.
    pub modules: Vec<ModuleRecord>,
    /// Modules that were replaced during the run.
    pub swaps: Vec<SwapRecord>,
    /// Modules that did not go on where they were when the world was restored from a save.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub started_fresh: Vec<FreshStart>,
}

/// An agent that waits because there is no path to its goal.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AgentWithoutPath {
    /// Its id.
    pub agent: u64,
    /// Kind of the reason: `start_blocked`, `goal_blocked`, `start_walled_in` or `goal_walled_in`.
    pub reason: &'static str,
    /// The reason for users.
    pub text: String,
    /// Width of the widest gap that leads on, m; `None` if there is none.
    pub gap: Option<f64>,
    /// Its middle, m.
    pub at: Option<[f64; 2]>,
    /// Width that the vehicle needs, m; `None` without a gap.
    pub needed: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spread_is_that_of_a_sample() {
        let s = Statistic::of(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]);
        assert_eq!((s.count, s.mean), (8, 5.0));
        assert!((s.standard_deviation - (32.0f64 / 7.0).sqrt()).abs() < 1e-12);
        assert_eq!(Statistic::of(&[]), Statistic::default());
        assert_eq!(Statistic::of(&[3.0]).standard_error, 0.0);
    }
}
