//! The one loop that steps a world, and observers who look after each step.

use crate::world::World;

/// Looks at a world and never changes it: recorders, statistics, printers.
pub trait Observer {
    /// Looks at the world as it is before the first step that is observed.
    fn begin(&mut self, _: &World) {}

    /// Looks at the world after a step.
    fn after_step(&mut self, world: &World);
}

/// What ends a run; times are simulated ones, s.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Ending {
    /// The time.
    AtTime(f64),
    /// The arrival of the last agent, or the time.
    WhenOver(f64),
}

/// A world that is run.
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
}

impl Session {
    /// A session that begins with a world as it is.
    pub fn new(world: World) -> Self {
        Self { world }
    }

    /// The world.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// The world, to be edited between two steps.
    pub fn world_mut(&mut self) -> &mut World {
        &mut self.world
    }

    /// Takes one step and lets the observers look.
    pub fn step(&mut self, observers: &mut [&mut dyn Observer]) {
        self.world.step();
        for observer in observers {
            observer.after_step(&self.world);
        }
    }

    /// Takes steps until the end, or until `goes_on`, asked before each step, says no. Returns how
    /// many.
    pub fn run(
        &mut self,
        ending: Ending,
        observers: &mut [&mut dyn Observer],
        mut goes_on: impl FnMut(&World) -> bool,
    ) -> u64 {
        let (Ending::AtTime(time) | Ending::WhenOver(time)) = ending;
        // Counted in steps, so that a run to 10 s takes as many steps as two runs to 5 and to 10 s.
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
