//! Feet and shoulders of pedestrians on crossings. Pedestrians look like the characters off the
//! lanes.

use super::People;
use crate::clock::Clock;
use roadwright_geometry::Pose;
use roadwright_ground::Ground;
use roadwright_scenario::junction::WALKING_SPEED;
use roadwright_vehicle::gait::{Figure, GaitTable, LineGait, LineSteps, OnLine};
use serde::{Deserialize, Serialize};
use std::sync::LazyLock;

/// The gait of all pedestrians.
pub(super) static GAIT: LazyLock<LineGait> =
    LazyLock::new(|| LineGait::new(GaitTable::default(), WALKING_SPEED));

/// Steps of all pedestrians, in saved form.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct SavedSteps {
    at_crossings: Vec<LineSteps>,
    /// Positions along the path (m) and steps of each pedestrian whose crossing was removed.
    strays: Vec<(f64, LineSteps)>,
}

impl People {
    /// Computes the feet and shoulders of all pedestrians, in the order of [`People::records`].
    /// This is done only on request, so steps without a snapshot cost nothing.
    pub(crate) fn figures(&self, ground: &Ground, clock: &Clock) -> Vec<Figure> {
        let sites = ground.crossings().sites();
        let time = clock.time();
        let walkers = (0..self.id.len()).map(|person| {
            let site = &sites[self.crossing[person] as usize];
            let along = self.along[person];
            let heading = self.heading(person, site);
            let here = Pose {
                position: self.place(person, site),
                heading,
            };
            let line = Pose {
                position: here.point(-along, 0.0),
                heading,
            };
            let at = OnLine { along, time };
            (self.id[person], self.steps[person].figure(at, line, &GAIT))
        });
        let strays = self.strays.iter().map(|stray| stray.figure(time));
        let mut all: Vec<(u64, Figure)> = walkers.chain(strays).collect();
        all.sort_by_key(|(id, _)| *id);
        all.into_iter().map(|(_, figure)| figure).collect()
    }

    /// The steps in saved form.
    pub(crate) fn saved_steps(&self) -> SavedSteps {
        SavedSteps {
            at_crossings: self.steps.clone(),
            strays: self.strays.iter().map(|stray| stray.steps()).collect(),
        }
    }

    /// Restores the steps. Saves of earlier versions contain none, and their pedestrians begin to
    /// walk where they are.
    pub(crate) fn restore_steps(&mut self, saved: Option<SavedSteps>) {
        let Some(saved) = saved else {
            let begin = |along: &f64| LineSteps::begin(*along, &GAIT);
            self.steps = self.along.iter().map(begin).collect();
            return;
        };
        self.steps = saved.at_crossings;
        for (stray, (along, steps)) in self.strays.iter_mut().zip(saved.strays) {
            *stray = stray.clone().with_steps(along, steps);
        }
    }
}
