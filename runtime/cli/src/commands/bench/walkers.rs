//! The row of `bench planners` for many characters that follow their paths.

use super::stop_watch::StopWatch;
use crate::commands::plan::Times;
use roadwright_scenario::{
    Agent, AgentId, DynamicsLevel, Edit, Place, Scenario, Settings, Stack, VehicleType,
};
use roadwright_simulation::{RunOptions, Session, Stage, World, builtin_modules};
use serde::Serialize;

/// Number of characters.
const WALKERS: u32 = 1000;
/// Number of characters side by side.
const ABREAST: u32 = 25;
/// Distance between two characters, m. It is so large that they do not avoid each other.
const APART: f64 = 12.0;
/// Length of the characters' trips, m.
const TRIP: f64 = 60.0;
/// Length of a step, s.
const DT: f64 = 1.0 / 60.0;
/// Maximum simulated time, s.
const SECONDS: f64 = 20.0;
/// Number of problems from which the maximum time is simulated. With fewer problems, the time is
/// proportionally shorter.
const USUAL_PROBLEMS: f64 = 1000.0;
/// Shortest simulated time, s.
const LEAST_SECONDS: f64 = 1.0;
/// Target for the mean time of a step, ms.
pub(super) const AIM_MEAN: f64 = 2.0;

/// CPU times of the steps of many characters, without planning.
#[derive(Debug, Serialize)]
pub(super) struct Walkers {
    pub(super) characters: u32,
    pub(super) steps: usize,
    /// Mean time of controllers and motion per step, ms.
    pub(super) following_ms: f64,
    /// Mean time for the feet per step, ms. It is the time of a whole snapshot, which computes the feet of all
    /// characters.
    pub(super) feet_ms: f64,
    /// Mean time of a whole step, with planning and contacts but without feet, ms.
    pub(super) step_ms: f64,
    /// Number of characters that have feet in the last snapshot.
    pub(super) with_feet: usize,
}

impl Walkers {
    /// Returns the mean time of following and feet together, ms.
    pub(super) fn mean(&self) -> f64 {
        self.following_ms + self.feet_ms
    }
}

/// Simulates the characters and measures each step. Planning runs in the stage of behaviours, and
/// map updates in the stage of contacts, so these stages are not counted.
pub(super) fn measure(seed: u64, problems: u32) -> anyhow::Result<Walkers> {
    let share = (f64::from(problems) / USUAL_PROBLEMS).min(1.0);
    let seconds = (share * SECONDS).max(LEAST_SECONDS);
    let world = World::new(&scenario(seed)?, &builtin_modules(), &RunOptions::default())?;
    let mut session = Session::new(world);
    let mut watch =
        StopWatch::new(|stage| !matches!(stage, Stage::Plan | Stage::Behave | Stage::Collide));
    let mut feet = Times::default();
    let mut with_feet = 0;
    watch.run(&mut session, seconds, |world| {
        let snapshot = feet.measure(|| world.snapshot());
        with_feet = snapshot.characters.len();
    })?;
    Ok(Walkers {
        characters: WALKERS,
        steps: watch.steps,
        following_ms: watch.counted.mean(),
        feet_ms: feet.mean(),
        step_ms: watch.whole.mean(),
        with_feet,
    })
}

/// Creates a scenario in which people walk across open ground, side by side and behind each other.
fn scenario(seed: u64) -> anyhow::Result<Scenario> {
    let mut scenario = Scenario::new("walkers");
    let settings = Settings {
        dt: DT.into(),
        seed,
        duration: SECONDS.into(),
        ..scenario.settings()
    };
    scenario.apply(Edit::Settings(settings))?;
    let person = Box::new(VehicleType::person());
    scenario.apply(Edit::VehicleType("person".into(), Some(person)))?;
    let stack = Box::new(Stack::on_foot());
    scenario.apply(Edit::Stack("on_foot".into(), Some(stack)))?;
    for number in 0..WALKERS {
        let x = f64::from(number / ABREAST) * APART;
        let y = f64::from(number % ABREAST) * APART;
        let agent = Agent {
            name: String::new(),
            vehicle: "person".into(),
            stack: "on_foot".into(),
            start: Place::ground(x, y, 0.0),
            via: Vec::new(),
            destination: Some(Place::ground(x + TRIP, y, 0.0)),
            depart: 0.0.into(),
            speed: 0.0.into(),
            dynamics: Some(DynamicsLevel::Walker),
            repeat: None.into(),
        };
        let id = AgentId(number + 1);
        scenario.apply(Edit::Agent(id, Some(Box::new(agent))))?;
    }
    Ok(scenario)
}
