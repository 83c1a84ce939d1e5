//! The loop that steps a world, and the observers that are called after each step.

use crate::coupling::{CouplingError, CouplingOrder};
use crate::stage::Stage;
use crate::world::World;

/// Watches a world without changing it, for example to record it, collect statistics or print.
pub trait Observer {
    /// Called before the first observed step.
    fn begin(&mut self, _: &World) {}

    /// Called when a stage of a step begins, so that the cost of each stage can be measured. A step
    /// begins with [`Stage::Boundary`], and its last stage ends with [`Observer::after_step`].
    fn at_stage(&mut self, _: Stage) {}

    /// Called after each step.
    fn after_step(&mut self, world: &World);
}

/// Condition that ends a run. Times are in simulated seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Ending {
    /// The run ends at this time, s.
    AtTime(f64),
    /// The run ends when the last agent has arrived, or at this time at the latest, s.
    WhenOver(f64),
}

/// A running world with its pending orders.
///
/// ```
/// use roadwright_scenario::Scenario;
/// use roadwright_simulation::{Ending, Observer, RunOptions, Session, World, builtin_modules};
///
/// struct Clock(f64);
/// impl Observer for Clock {
///     fn after_step(&mut self, world: &World) {
///         self.0 = world.time();
///     }
/// }
///
/// let scenario = Scenario::new("empty");
/// let world = World::new(&scenario, &builtin_modules(), &RunOptions::default())?;
/// let (mut session, mut clock) = (Session::new(world), Clock(0.0));
/// session.run(Ending::AtTime(1.0), &mut [&mut clock], |_| true);
/// assert!((clock.0 - 1.0).abs() < 1e-9);
/// # Ok::<(), roadwright_simulation::SimulationError>(())
/// ```
pub struct Session {
    world: World,
    /// Pending orders with their times (s), in descending order of time.
    orders: Vec<(f64, u64, CouplingOrder)>,
    carried_out: Vec<CarriedOut>,
}

/// Result of a coupling order.
#[derive(Debug, Clone, PartialEq)]
pub struct CarriedOut {
    /// Time at which the order was carried out or was due, s.
    pub time: f64,
    /// Id of the agent.
    pub agent: u64,
    /// The order that was carried out or was due.
    pub order: CouplingOrder,
    /// Number of trailers that were coupled or uncoupled, or an error. `None` if the run ended before the
    /// order was due.
    pub result: Option<Result<usize, CouplingError>>,
}

impl Session {
    /// Creates a session that starts in the current state of `world`.
    pub fn new(world: World) -> Self {
        Self {
            world,
            orders: Vec::new(),
            carried_out: Vec::new(),
        }
    }

    /// Returns the world that the session steps.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// The world, for edits between two steps.
    pub fn world_mut(&mut self) -> &mut World {
        &mut self.world
    }

    /// Schedules the coupling or uncoupling of an agent's trailers. The order is carried out before
    /// the first step that begins at or after `time`, in seconds.
    pub fn order(&mut self, time: f64, agent: u64, order: CouplingOrder) {
        self.orders.push((time, agent, order));
        // The list is sorted in reverse and the sort is stable, so of two orders at the same time,
        // the one given first comes last.
        let at = self.orders.len() - 1;
        let place = self.orders[..at].partition_point(|(other, ..)| *other > time);
        self.orders[place..].rotate_right(1);
    }

    /// Results of all orders that have been carried out, in order, followed by the orders that are not due
    /// yet.
    pub fn carried_out(&self) -> Vec<CarriedOut> {
        let waiting = self.orders.iter().rev();
        let waiting = waiting.map(|&(time, agent, order)| CarriedOut {
            time,
            agent,
            order,
            result: None,
        });
        self.carried_out.iter().cloned().chain(waiting).collect()
    }

    fn carry_out_orders(&mut self) {
        // Because of rounding, an order could be carried out one step late without this tolerance.
        while let Some((_, agent, order)) =
            (self.orders).pop_if(|(time, ..)| *time <= self.world.time() + 1e-9)
        {
            let result = self.world.carry_out(agent, order);
            self.carried_out.push(CarriedOut {
                time: self.world.time(),
                agent,
                order,
                result: Some(result),
            });
        }
    }

    /// Takes one step and calls the observers.
    pub fn step(&mut self, observers: &mut [&mut dyn Observer]) {
        self.carry_out_orders();
        self.world.step_watched(|stage| {
            for observer in observers.iter_mut() {
                observer.at_stage(stage);
            }
        });
        for observer in observers {
            observer.after_step(&self.world);
        }
    }

    /// Takes steps until the run ends, or until `goes_on` returns `false` before a step. Returns the number
    /// of steps.
    pub fn run(
        &mut self,
        ending: Ending,
        observers: &mut [&mut dyn Observer],
        mut goes_on: impl FnMut(&World) -> bool,
    ) -> u64 {
        let (Ending::AtTime(time) | Ending::WhenOver(time)) = ending;
        // The end is computed as a number of steps, so that a run to 10 s takes as many steps as a
        // run to 5 s that is continued to 10 s.
        let last = (time / self.world.dt()).round() as u64;
        for observer in observers.iter_mut() {
            observer.begin(&self.world);
        }
        let first = self.world.steps();
        while self.world.steps() < last {
            let is_over = matches!(ending, Ending::WhenOver(_)) && self.world.is_over();
            if is_over || !goes_on(&self.world) {
                break;
            }
            self.step(observers);
        }
        self.world.steps() - first
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtin_modules;
    use crate::options::RunOptions;
    use std::path::PathBuf;

    /// Test observer that records the stages it is notified of.
    #[derive(Default)]
    struct Ears {
        now: Vec<Stage>,
        steps: Vec<Vec<Stage>>,
    }

    impl Observer for Ears {
        fn at_stage(&mut self, stage: Stage) {
            self.now.push(stage);
        }

        fn after_step(&mut self, _: &World) {
            self.steps.push(std::mem::take(&mut self.now));
        }
    }

    #[test]
    fn observers_hear_the_stages_of_each_step_in_their_order() {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
        let file = folder.join("crossroads.scenario.json");
        let scenario = roadwright_scenario::file::load(&file).unwrap();
        let world = || World::new(&scenario, &builtin_modules(), &RunOptions::default()).unwrap();
        let (mut session, mut ears) = (Session::new(world()), Ears::default());
        session.run(Ending::AtTime(10.0), &mut [&mut ears], |_| true);
        let mut appearing = Stage::ALL.to_vec();
        // Routes of spawned agents are planned immediately.
        appearing.splice(2..2, [Stage::Plan, Stage::Appear]);
        assert_eq!(ears.steps.len(), 1000);
        let plain = ears.steps.iter().filter(|heard| **heard == Stage::ALL);
        let full = ears.steps.iter().filter(|heard| **heard == appearing);
        let (plain, full) = (plain.count(), full.count());
        assert!(
            plain > 900 && full > 0 && plain + full == 1000,
            "{plain}, {full}"
        );
        // A world that is stepped without an observer.
        let mut unheard = world();
        (0..1000).for_each(|_| unheard.step());
        assert_eq!(unheard.state_hash(), session.world().state_hash());
    }
}
