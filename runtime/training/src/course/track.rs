//! The tracks of [Adam 2007] as courses: a racer drives between walls, some of them with other cars.
//!
//! The seed determines the lateral position of the start and the phase of the cars, as in `bench move-trees`. The racer
//! is the only vehicle under test. The other cars keep their own drivers, which hold their speed and ignore everything
//! else, and are not scored.

use super::draft::Draft;
use super::{Course, End, Ends, Kind};
use roadwright_moves::{Racer, Track};
use roadwright_scenario::ModuleSetting;

/// Vehicle type of the racer in the scenarios of tracks.
pub(super) const VEHICLE: &str = "racer";

pub(super) fn course(track: Track) -> Course {
    let fitness = match has_arrival(track) {
        true => Course::ARRIVAL_FITNESS,
        false => Course::GENERAL_FITNESS,
    };
    Course {
        name: track.name().into(),
        doc: doc(track).into(),
        vehicle: VEHICLE,
        driver: "idm",
        fitness,
        ends: Ends {
            contact: true,
            ..Ends::after(track.course().seconds)
        },
        kind: Kind::Track(track),
    }
}

fn doc(track: Track) -> &'static str {
    match track {
        Track::LongStraight => {
            "A racer drives along a 4 km straight among slow cars; it must survive for two minutes."
        }
        Track::Cornered => {
            "A racer drives through ten corners between walls; it has three minutes."
        }
        Track::CorneredCars => {
            "A racer drives through ten corners among slow cars; it has three minutes."
        }
        Track::SharpCorners => {
            "A racer drives along straights and through right-angle corners between walls; it has \
             three minutes."
        }
        Track::Final => {
            "A racer drives through corners, past rows of oncoming cars and around a right-angle \
             corner; it has three minutes."
        }
        Track::FinalDense => "Same as final, with twice as many cars at half the spacing.",
    }
}

/// Whether a racer can reach the finish within the time limit of the track.
pub(super) fn has_arrival(track: Track) -> bool {
    track != Track::LongStraight
}

/// Returns the planner of the racer, unless a setup names another one.
pub(super) fn planner() -> ModuleSetting {
    Racer::default().planner
}

/// Creates the track with the start and the cars of a seed. The racer is the first agent.
pub(super) fn draft(course: &Course, track: Track, seed: u64) -> Draft {
    let drawn = track.course().with_seed(seed);
    let scenario = drawn.scenario(&course.doc, &Racer::default());
    let mut draft = Draft::of_result(&course.name, scenario);
    draft.set_seed(seed);
    draft
}

impl Course {
    /// Whether this is a track on which a racer plans with a move tree.
    pub fn is_track(&self) -> bool {
        matches!(self.kind, Kind::Track(_))
    }

    /// Returns how a drive ends if its time runs out.
    pub(crate) fn end_of_time(&self) -> End {
        match self.kind {
            Kind::Track(track) if !has_arrival(track) => End::Held,
            _ => End::Time,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::course::Setup;
    use roadwright_scenario::{AgentId, Scenario, Stack};

    fn scenario(name: &str, seed: u64, setup: &Setup) -> Scenario {
        Course::named(name).unwrap().scenario(seed, setup).unwrap()
    }

    #[test]
    fn the_seed_draws_the_start_and_the_cars() {
        let [one, other] = [1, 2].map(|seed| scenario("cornered-cars", seed, &Setup::default()));
        let start = |scenario: &Scenario, id| {
            let agent = &scenario.agents()[&AgentId(id)];
            scenario.pose_of(&agent.start).unwrap().position
        };
        assert_eq!(one.obstacles(), other.obstacles());
        assert_ne!(start(&one, 1), start(&other, 1));
        assert_ne!(start(&one, 2), start(&other, 2));
    }

    #[test]
    fn cars_keep_their_drivers_and_vehicles() {
        let setup = Setup {
            vehicle: Some("car".into()),
            drivers: vec![Stack::with_controller("pursuit")],
            ..Setup::default()
        };
        for name in ["cornered-cars", "final"] {
            let [own, other] =
                [Setup::default(), setup.clone()].map(|setup| scenario(name, 3, &setup));
            assert!(own.agents().len() > 10, "{name}");
            for (id, agent) in other.agents() {
                if *id == AgentId(1) {
                    assert_eq!((&*agent.vehicle, &*agent.stack), ("car", "driver_0"));
                    continue;
                }
                assert_eq!(*agent, own.agents()[id], "{name}");
                let stack = &other.stacks()[&agent.stack];
                assert_eq!(stack.controller.module, "constant_speed", "{name}");
            }
            let driver = &other.stacks()["driver_0"];
            assert_eq!(driver.controller.module, "pursuit");
            // Without another planner, every driver gets the move tree.
            assert_eq!(driver.ground_planner, Some(planner()));
        }
    }
}
