//! The course `old-town`: random trips through the streets of the scenario with this name.
//!
//! Streets, junctions, signs and houses are those of the shipped scenario and are the same for all seeds. The
//! trips depend on the seed. Start and destination are on different lanes, at least 200 m apart, and
//! connected by a route.

use super::draft::{Draft, Trip};
use super::{Course, Ends, Kind};
use roadwright_geometry::DVec2;
use roadwright_geometry::math::Stream;
use roadwright_scenario::lane_graph::{LaneGraph, LaneletIndex, LaneletKind};
use roadwright_scenario::{Edit, Place, RoadClass, Scenario, file};
use roadwright_simulation::Ground;
use std::sync::{Arc, OnceLock};

const TOWN: &str = include_str!("../../../../scenarios/old-town.scenario.json");
/// Number of agents in a run.
const AGENTS: usize = 60;
/// Time limit, s. It is about twice the duration of a trip.
const TIME: f64 = 180.0;
/// Minimum straight-line distance between start and destination, m.
const TRIP: f64 = 200.0;
/// Minimum distance between starts on the same lane, m.
const APART: f64 = 18.0;
/// Minimum distance between starts and the ends of their lanes, m.
const FROM_END: f64 = 12.0;
/// Minimum length of lanes for starts and destinations, m.
const SHORTEST: f64 = 40.0;
/// Maximum number of attempts to find a trip.
const DRAWS: usize = 10_000;

/// The town's streets and lanelets, which are the same for all seeds.
struct Town {
    scenario: Scenario,
    ground: Arc<Ground>,
    /// Lanelets for starts and destinations. Each of them can be reached from all others.
    lanelets: Vec<LaneletIndex>,
}

pub(super) fn course() -> Course {
    Course {
        name: "old-town".into(),
        doc: "60 vehicles drive through the streets of an old town, each on a random trip; they \
              have 3 minutes."
            .into(),
        vehicle: "car",
        driver: "idm",
        fitness: "crash_and_speed",
        ends: Ends::after(TIME),
        kind: Kind::OldTown,
    }
}

/// Returns the ground that all runs share.
pub(super) fn ground() -> Arc<Ground> {
    town().ground.clone()
}

pub(super) fn draft(seed: u64) -> Draft {
    let town = town();
    let mut draft = Draft::of(town.scenario.clone());
    draft.set_seed(seed);
    let mut stream = Stream::new(seed, "trips", 0);
    let mut taken: Vec<(LaneletIndex, f64)> = Vec::new();
    for _ in 0..DRAWS {
        if taken.len() == AGENTS {
            break;
        }
        let (from, to) = (town.somewhere(&mut stream), town.somewhere(&mut stream));
        let is_crowded =
            |&(lanelet, s): &(LaneletIndex, f64)| lanelet == from.0 && (s - from.1).abs() < APART;
        let is_short = (town.position(from.0, from.1) - town.position(to.0, to.1)).length() < TRIP;
        if is_short || taken.iter().any(is_crowded) {
            continue;
        }
        let Some((start, destination)) = town.place(from.0, from.1).zip(town.place(to.0, to.1))
        else {
            continue;
        };
        taken.push(from);
        draft.trip(Trip {
            start,
            starts_by_middle: false,
            via: Vec::new(),
            destination,
            speed: 0.0,
        });
    }
    draft
}

/// Returns the town, which is created once and shared by all runs.
fn town() -> &'static Town {
    static TOWN_ONCE: OnceLock<Town> = OnceLock::new();
    TOWN_ONCE.get_or_init(|| {
        let mut scenario = file::from_text(TOWN).expect("the shipped scenario is sound");
        let agents: Vec<_> = scenario.agents().keys().copied().collect();
        for id in agents {
            let gone = scenario.apply(Edit::Agent(id, None));
            gone.expect("no object needs an agent");
        }
        let ground = Ground::new(&scenario);
        // The streets of the main component are all connected, so every random trip has a route.
        let main = ground.graph().main_component().iter().copied();
        let lanelets = main.filter(|&id| is_place(&scenario, ground.graph(), id));
        let lanelets = lanelets.collect();
        Town {
            scenario,
            ground,
            lanelets,
        }
    })
}

/// Whether trips may begin and end on a lanelet: it must be long enough and part of a public
/// street.
fn is_place(scenario: &Scenario, graph: &LaneGraph, id: LaneletIndex) -> bool {
    let lanelet = graph.lanelet(id);
    let road = lanelet
        .road()
        .and_then(|road| scenario.network().road(road));
    let is_street = road.is_some_and(|road| road.class != RoadClass::Service);
    is_street && lanelet.length() > SHORTEST
}

impl Town {
    fn somewhere(&self, stream: &mut Stream) -> (LaneletIndex, f64) {
        let id = self.lanelets[stream.next_index(self.lanelets.len())];
        let length = self.ground.graph().lanelet(id).length();
        (id, stream.next_in(FROM_END, length - FROM_END))
    }

    fn position(&self, id: LaneletIndex, s: f64) -> DVec2 {
        self.ground.graph().line(id).position(s)
    }

    /// Converts a position on a lanelet to a place on its road.
    fn place(&self, id: LaneletIndex, s: f64) -> Option<Place> {
        let lanelet = self.ground.graph().lanelet(id);
        let (from, to) = lanelet.road_span;
        // Places are measured along the road. A lanelet may lead in the opposite direction, and in bends its
        // length differs from that of the road.
        match lanelet.kind {
            LaneletKind::Lane { road, lane, .. } => Some(Place::lane(
                road,
                lane,
                from + (to - from) * s / lanelet.length(),
            )),
            LaneletKind::Connection { .. } => None,
        }
    }
}
