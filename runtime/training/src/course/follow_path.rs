//! The course `follow-path`, which measures how closely a controller keeps to its lane.
//!
//! Two cars drive on the road of the shipped scenario `figure-eight`, one in each direction, at 8 m/s with a
//! time step of 10 ms. They start on their lanes, and the first 10 s are not measured. The drive ends one lap
//! later. It is the same for all seeds.

use super::draft::{Draft, Trip};
use super::{Course, Ends, Kind};
use roadwright_scenario::{DynamicsLevel, Edit, Place, RoadId, Settings, file};

const EIGHT: &str = include_str!("../../../../scenarios/figure-eight.scenario.json");
/// Speed limit, m/s.
const SPEED: f64 = 8.0;
/// Length of a lap along the reference line, m. It has two straights and two loops. A lap on a lane has the
/// same length, because the loops turn in opposite directions.
const LAP: f64 = 606.55;
/// Time before the measured lap, s. The fitness `path_error` leaves it out.
const BEFORE: f64 = 10.0;
/// Time step, s.
const TIME_STEP: f64 = 0.01;

pub(super) fn course() -> Course {
    Course {
        name: "follow-path".into(),
        doc: "Two cars follow the lanes of a figure of eight at 8 m/s, one in each direction, for 10 s and a lap."
            .into(),
        vehicle: "car",
        driver: "lqr",
        fitness: "path_error",
        ends: Ends::after(BEFORE + LAP / SPEED),
        kind: Kind::FollowPath,
    }
}

pub(super) fn draft(seed: u64) -> Draft {
    let scenario = file::from_text(EIGHT).expect("the shipped scenario is sound");
    let mut draft = Draft::of(scenario);
    let agents: Vec<_> = draft.scenario.agents().keys().copied().collect();
    for agent in agents {
        draft.apply(Edit::Agent(agent, None));
    }
    let roads = draft.scenario.network().roads();
    let roads: Vec<_> = roads.map(|(id, road)| (id, road.clone())).collect();
    for (id, mut road) in roads {
        road.speed_limit = SPEED.into();
        draft.apply(Edit::Road(id, Some(Box::new(road))));
    }
    draft.apply(Edit::Settings(Settings {
        dt: TIME_STEP.into(),
        seed,
        duration: (BEFORE + LAP / SPEED).into(),
        dynamics: DynamicsLevel::OneTrack,
        ..draft.scenario.settings()
    }));
    for lane in [-1, 1] {
        let place = |road: u32, s: f64| Place::lane(RoadId(road), lane, s);
        // The route has two laps, so that no vehicle arrives before its time is up.
        let (bridge, below) = (place(3, 40.0), place(1, 40.0));
        draft.trip(Trip {
            start: place(1, 30.0),
            starts_by_middle: false,
            via: vec![bridge, below, bridge, below],
            destination: bridge,
            speed: SPEED,
        });
    }
    draft
}
