//! The row of `bench planners` for many agents that plan while they drive.

use super::stop_watch::StopWatch;
use anyhow::Context;
use roadwright_geometry::DVec2;
use roadwright_geometry::math::Stream;
use roadwright_scenario::{
    Agent, AgentId, Edit, Obstacle, ObstacleId, Place, Scenario, Settings, Shape, Stack,
};
use roadwright_simulation::{RunOptions, Session, Stage, World, builtin_modules};
use serde::Serialize;
use std::f64::consts::PI;

/// Number of agents.
const AGENTS: u32 = 100;
/// Number of boxes that stand on the ground.
const BOXES: u32 = 150;
/// Edge length of the area, m.
const EDGE: f64 = 500.0;
/// Minimum straight-line distance of a trip, m.
const LEAST_TRIP: f64 = 200.0;
/// Minimum distance between a start or goal and the middle of a box, m.
const FREE: f64 = 11.0;
/// Minimum distance between two starts or two goals, m.
const APART: f64 = 9.0;
/// Maximum number of random places that are tried.
const MOST_DRAWS: u32 = 100_000;
/// Length of a step, s.
const DT: f64 = 1.0 / 60.0;
/// Maximum simulated time, s. No trip takes less time than this.
const SECONDS: f64 = 20.0;
/// Number of problems from which the maximum time is simulated. With fewer problems, the time is
/// proportionally shorter.
const USUAL_PROBLEMS: f64 = 1000.0;
/// Shortest simulated time, s.
const LEAST_SECONDS: f64 = 1.0;
/// Target for the mean time of a step, ms.
pub(super) const AIM_MEAN: f64 = 2.0;
/// Target for the 99.9th percentile of the time of a step, ms.
pub(super) const AIM_P999: f64 = 6.0;

/// CPU times of the steps of many agents that plan six times a second.
#[derive(Debug, Serialize)]
pub(super) struct Crowd {
    pub(super) agents: u32,
    pub(super) steps: usize,
    /// Mean time of planning per step, including forecasts and the update of changed tiles, ms.
    pub(super) mean_ms: f64,
    pub(super) p999_ms: f64,
    /// Mean time of a whole step, ms.
    pub(super) step_mean_ms: f64,
    pub(super) step_p999_ms: f64,
    /// Number of agents that have had a contact.
    pub(super) contacts: usize,
}

/// Drives the agents and measures each step. The planning time covers the stages Behave and Collide, in which paths are
/// planned and the map is updated. The behaviours have nothing to decide here, so they hardly add to it.
pub(super) fn measure(seed: u64, problems: u32) -> anyhow::Result<Crowd> {
    let share = (f64::from(problems) / USUAL_PROBLEMS).min(1.0);
    let seconds = (share * SECONDS).max(LEAST_SECONDS);
    let scenario = scenario(seed)?;
    let world = World::new(&scenario, &builtin_modules(), &RunOptions::default())?;
    let mut session = Session::new(world);
    let mut watch = StopWatch::new(|stage| matches!(stage, Stage::Behave | Stage::Collide));
    watch.run(&mut session, seconds, |_| ())?;
    let world = session.world();
    let (planning, whole) = (&watch.counted, &watch.whole);
    let mut touched: Vec<u64> = world
        .summary()
        .collisions
        .iter()
        .map(|contact| contact.agent)
        .collect();
    touched.sort_unstable();
    touched.dedup();
    Ok(Crowd {
        agents: AGENTS,
        steps: watch.steps,
        mean_ms: planning.mean(),
        p999_ms: planning.quantile(0.999),
        step_mean_ms: whole.mean(),
        step_p999_ms: whole.quantile(0.999),
        contacts: touched.len(),
    })
}

/// Creates a scenario with boxes at random headings on open ground, and jeeps with random trips.
fn scenario(seed: u64) -> anyhow::Result<Scenario> {
    let mut scenario = Scenario::new("crowd");
    let settings = Settings {
        dt: DT.into(),
        seed,
        duration: SECONDS.into(),
        ..scenario.settings()
    };
    scenario.apply(Edit::Settings(settings))?;
    scenario.apply(Edit::Stack(
        "jeep".into(),
        Some(Box::new(Stack::with_controller("idm"))),
    ))?;
    let mut stream = Stream::new(seed, "crowd", 0);
    let anywhere =
        |stream: &mut Stream| DVec2::new(stream.next_in(0.0, EDGE), stream.next_in(0.0, EDGE));
    let mut boxes = Vec::new();
    for id in 1..=BOXES {
        let middle = anywhere(&mut stream);
        boxes.push(middle);
        let shape = Shape::Box {
            x: middle.x.into(),
            y: middle.y.into(),
            heading: stream.next_in(-PI, PI).into(),
            length: stream.next_in(2.0, 12.0).into(),
            width: stream.next_in(2.0, 12.0).into(),
        };
        let obstacle = Obstacle {
            name: String::new(),
            shape,
            base: 0.0.into(),
            height: 3.0.into(),
            mass: None.into(),
        };
        scenario.apply(Edit::Obstacle(ObstacleId(id), Some(Box::new(obstacle))))?;
    }
    let (mut starts, mut goals): (Vec<DVec2>, Vec<DVec2>) = (Vec::new(), Vec::new());
    let is_clear = |place: DVec2, least: f64, others: &[DVec2]| {
        others.iter().all(|other| (*other - place).length() > least)
    };
    for _ in 0..MOST_DRAWS {
        if starts.len() as u32 == AGENTS {
            break;
        }
        let (start, goal) = (anywhere(&mut stream), anywhere(&mut stream));
        let fits = is_clear(start, FREE, &boxes)
            && is_clear(goal, FREE, &boxes)
            && is_clear(start, APART, &starts)
            && is_clear(goal, APART, &goals);
        if fits && (goal - start).length() > LEAST_TRIP {
            starts.push(start);
            goals.push(goal);
            let agent = Agent {
                name: String::new(),
                vehicle: "willys_mb".into(),
                stack: "jeep".into(),
                start: Place::ground(start.x, start.y, stream.next_in(-PI, PI)),
                via: Vec::new(),
                destination: Some(Place::ground(goal.x, goal.y, 0.0)),
                depart: 0.0.into(),
                speed: 0.0.into(),
                dynamics: None,
                repeat: None.into(),
            };
            let id = AgentId(starts.len() as u32);
            scenario.apply(Edit::Agent(id, Some(Box::new(agent))))?;
        }
    }
    (starts.len() as u32 == AGENTS)
        .then_some(scenario)
        .context("the area has too few free positions")
}
