//! Summary of a run.

use crate::dynamics::LooseCounts;
use crate::options::Population;
use crate::records::{Collision, ModuleFailures, PeopleCounts, are_countable};
use serde::{Deserialize, Serialize};

/// Number of agents in each state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct AgentCounts {
    /// Agents spawned so far.
    pub spawned: usize,
    /// Agents that reached their destination.
    pub arrived: usize,
    /// Agents that are currently driving.
    pub active: usize,
    /// Agents that were removed during their trip by an edit or by their own behaviour.
    pub removed: usize,
    /// Agents without a route to their destination.
    pub refused: usize,
    /// Agents that wait for their departure or for a free place.
    pub waiting: usize,
    /// Waiting agents that are due but have no free place.
    pub queued: usize,
}

/// Numbers of driving vehicles that cannot continue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct MishapCounts {
    /// Number of vehicles that lie on their side or roof: rigid bodies that lean by more than 60
    /// degrees.
    pub tipped_over: usize,
    /// Vehicles that have been stationary for at least two minutes without having reached their
    /// goal, whether or not they have tipped over.
    pub stuck: usize,
}

/// Number of vehicles that have been stationary for longer than a minute because of the same cause.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StandingCount {
    /// Cause at the root of the chain of waiting vehicles, see [`WaitChain::cause`](crate::WaitChain::cause).
    pub cause: String,
    /// Number of times that a vehicle has been stationary for longer than a minute.
    pub count: u64,
    /// Agent id of the first vehicle that was counted for this cause.
    pub agent: u64,
    /// Time when the first vehicle was counted, s: up to 5 s after it had been stationary for a
    /// minute.
    pub time: f64,
    /// Position of the first vehicle's front, m.
    pub at: [f64; 2],
}

/// Mean and standard deviation over the drives of one run.
///
/// The drives of one run interact, so they are not independent observations and do not show the error of the
/// mean. To estimate errors, compare several runs with different seeds, as `bench run` does.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Statistic {
    /// Number of values.
    pub count: usize,
    /// Arithmetic mean of the values.
    pub mean: f64,
    /// Standard deviation of the values (n - 1).
    pub standard_deviation: f64,
    /// `standard_deviation` divided by the square root of `count`. This is not the error of the
    /// mean, because the drives of one run depend on each other. It is kept for programs that read
    /// this key.
    pub standard_error: f64,
}

impl Statistic {
    /// Mean and standard deviation of values; all zero for an empty slice.
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

/// A plugin or script that agents use or have used.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ModuleRecord {
    /// Name of the module's slot.
    pub slot: &'static str,
    /// Id of the module.
    pub module: String,
    /// Version, hash and tier of the module's build, or of the last build if the module is no longer in use.
    pub build: String,
    /// Simulation time at which a built-in module replaced this module after a failure, s; `None` if the
    /// module is still in use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub out_since: Option<f64>,
}

impl ModuleRecord {
    /// Returns the record of a module that is in use or was removed after failures; `None` for a
    /// built-in module.
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

/// Number of replans of stationary agents. Replans after a missed lane change are in
/// [`LawCounts::missed_turns`], which counts each new route once and not each second in which a
/// route was requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ReplanCounts {
    /// Number of replans for agents that had been stationary for too long.
    pub stuck: u64,
}

/// Statistics of right of way at junctions.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct LawCounts {
    /// Number of entries into a junction at a red signal.
    pub red_passed: u64,
    /// Number of times that a vehicle passed a stop sign without a grant.
    pub stops_missed: u64,
    /// Number of entries into a junction without a grant.
    pub breaches: u64,
    /// Number of times that the host braked because the controller of a vehicle would have passed a place
    /// where it has to stop.
    pub held_by_law: u64,
    /// Number of times that a vehicle was admitted without having to yield, because it had waited
    /// long enough or because no vehicle had right of way at the junction.
    pub let_in_by_lock: u64,
    /// Longest time that a vehicle has waited at a junction, s.
    pub longest_wait: f64,
    /// Number of vehicles that failed to change lanes in time, continued on their own lane, and
    /// were rerouted.
    pub missed_turns: u64,
    /// Number of rings of full lanes that were resolved by admitting all front vehicles together.
    /// In such a ring, each front vehicle waits for room on the next lane.
    pub rotations: u64,
    /// Number of vehicles in rings of full lanes that were rerouted so that the others could continue.
    pub sent_round: u64,
    /// Number of rings of vehicles that were stationary for a minute, each waiting for the next
    /// one. This includes rings of full lanes in which no vehicle has an alternative route, and
    /// rings with other causes. Each ring is counted once, however long it lasts.
    pub gridlocks: u64,
}

impl LawCounts {
    /// Whether the counts are valid after being read from a save.
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

/// A module that was replaced while the world was running.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SwapRecord {
    /// Number of steps taken before the replacement.
    pub step: u64,
    /// Simulation time of the replacement, s.
    pub time: f64,
    /// Name of the slot.
    pub slot: &'static str,
    /// Id of the module.
    pub module: String,
    /// Hash of the old version; empty for a built-in module.
    pub from: String,
    /// Hash of the new version; empty for a built-in module.
    pub to: String,
    /// Note on the replacement, for users.
    pub note: String,
}

/// A module that did not resume its state when a saved world was restored. From the restore onwards, the run
/// is a branch: it differs from the saved run and cannot be reproduced without the save.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FreshStart {
    /// Number of steps taken before the restore.
    pub step: u64,
    /// Simulation time of the restore, s.
    pub time: f64,
    /// Name of the slot, or `scenario` for a part of the scenario or options: `vehicle types`, `flows`,
    /// `dynamics`, `pedestrians`.
    pub slot: String,
    /// Id of the module, or several ids if the slot has several modules; `none` if the slot is empty after
    /// the restore. For `scenario`, the part of the scenario or options that differs.
    pub module: String,
    /// Reason why the state was not resumed, for users.
    pub why: String,
}

/// Scores of one fitness function for the agents of one stack.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FitnessSummary {
    /// Id of the fitness function.
    pub module: String,
    /// Scores of all agents of the stack that have driven, in the unit of the fitness function.
    #[serde(flatten)]
    pub score: Statistic,
}

/// Results of the agents of one stack.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StackSummary {
    /// Name of the stack.
    pub stack: String,
    /// Number of agents that have driven or are driving.
    pub spawned: usize,
    /// Number of agents that have reached their destination.
    pub arrived: usize,
    /// Travel time of the agents that arrived, s.
    pub travel_time: Statistic,
    /// Distance driven by each agent, m.
    pub distance: Statistic,
    /// Scores of each fitness function that any of the agents had, in the order of their ids.
    /// Scores of different functions are never combined.
    pub fitness: Vec<FitnessSummary>,
}

/// Results of a run so far.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// Hash of the state of all agents, 16 hexadecimal digits.
    pub state_hash: String,
    /// Number of steps taken.
    pub steps: u64,
    /// Simulated time, s.
    pub sim_seconds: f64,
    /// Number of agents by state.
    pub agents: AgentCounts,
    /// Statistics of random trips, if any were requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub population: Option<Population>,
    /// Number of driving agents, summed over the steps.
    pub agent_updates: u64,
    /// All collisions, each of which is a pair of bodies that began to overlap.
    pub collisions: Vec<Collision>,
    /// Total distance of all agents, m.
    pub distance_driven: f64,
    /// Numbers of replanned routes.
    pub replans: ReplanCounts,
    /// Statistics of right of way at junctions.
    pub law: LawCounts,
    /// Statistics of pedestrians, if there were any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub people: Option<PeopleCounts>,
    /// Statistics of loose obstacles, if any have been pushed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loose: Option<LooseCounts>,
    /// Numbers of vehicles that cannot continue.
    pub mishaps: MishapCounts,
    /// Numbers of vehicles that have been stationary for more than a minute for reasons other than
    /// a red light, by cause.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub standing: Vec<StandingCount>,
    /// Agents off the lanes that have no path to their goal.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub no_path: Vec<AgentWithoutPath>,
    /// Libraries of recorded moves that agents have used.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub move_trees: Vec<MoveTreeRecord>,
    /// Travel time of the agents that arrived, s.
    pub travel_time: Statistic,
    /// Results by stack, with the scores of its agents.
    pub stacks: Vec<StackSummary>,
    /// External modules in use, with their builds.
    pub modules: Vec<ModuleRecord>,
    /// Modules that were replaced during the run.
    pub swaps: Vec<SwapRecord>,
    /// Modules that did not resume their state when the world was restored from a save.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub started_fresh: Vec<FreshStart>,
}

/// A library of recorded moves that agents have used.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MoveTreeRecord {
    /// Name of a library that ships with the program, or path of the move graph.
    pub library: String,
    /// Hash of the library's move graph.
    pub hash: String,
    /// Number of plans made.
    pub plans: u64,
    /// Number of plans that found every move blocked.
    pub without_path: u64,
    /// Number of moves begun.
    pub moves: u64,
    /// Number of times that a followed clip was moved to the pose of its vehicle, because the
    /// vehicle was more than 0.5 m or 5 degrees away from it.
    pub corrections: u64,
    /// Maximum distance between a vehicle and the clip that it follows, m; 0 if clips are played.
    pub worst_distance: f64,
    /// Maximum difference between the headings of a vehicle and the clip that it follows, rad.
    pub worst_heading: f64,
}

/// An agent that waits because there is no path to its goal.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AgentWithoutPath {
    /// Id of the agent.
    pub agent: u64,
    /// Kind of the reason: `start_blocked`, `goal_blocked`, `start_walled_in` or `goal_walled_in`.
    pub reason: &'static str,
    /// The reason as a message for users.
    pub text: String,
    /// Width of the widest gap on a possible path, which is too narrow, m; `None` if there is no
    /// gap.
    pub gap: Option<f64>,
    /// Centre of the gap, m.
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
