//! Pedestrian crossings of all junctions, and the connections that lead over them.

use roadwright_scenario::junction::{
    Covered, Crossing, Interval, Junction, Layout, SignalPlans, Taken,
};
use roadwright_scenario::{ConnectionIndex, JunctionIndex, RoadNetwork};
use std::hash::Hasher;
use std::ops::Range;

/// A crossing of a junction.
#[derive(Debug)]
pub struct CrossingSite {
    /// The junction.
    pub junction: JunctionIndex,
    /// Position and size of the crossing.
    pub crossing: Crossing,
    /// Stages in which pedestrians walk, as a bit mask; `None` if they cross as at a zebra
    /// crossing.
    pub walk_stages: Option<u32>,
    /// Layer of the crossed road, as a bit.
    pub layers: u32,
}

/// Crossings of all junctions, in the order of junctions and arms.
#[derive(Debug, Default)]
pub struct Crossings {
    sites: Vec<CrossingSite>,
    /// Index of the first crossing of each junction, followed by the number of crossings.
    firsts: Vec<u32>,
}

impl Crossings {
    pub(super) fn new(network: &RoadNetwork, layout: &Layout, plans: &SignalPlans) -> Self {
        let mut crossings = Self {
            firsts: vec![0],
            ..Self::default()
        };
        let numbers = JunctionIndex::up_to(layout.junctions.len());
        for (number, junction) in numbers.zip(&layout.junctions) {
            let greens = plans.signals[number.index()].as_ref();
            for crossing in &junction.crossings {
                // If no stage shows red to all vehicles that drive over it, the crossing works like
                // a zebra crossing.
                let stages = greens.map(|own| junction.walk_stages(crossing, &own.greens));
                let road = network.road(crossing.road);
                let layer = road.map_or(0, |road| i32::from(road.layer));
                crossings.sites.push(CrossingSite {
                    // Same encoding as the layers of lanelets.
                    layers: 1 << layer.rem_euclid(32),
                    junction: number,
                    crossing: crossing.clone(),
                    walk_stages: stages.filter(|bits| *bits != 0),
                });
            }
            crossings.firsts.push(crossings.sites.len() as u32);
        }
        crossings
    }

    /// Adds the crossings to a hash; adds nothing if there are none.
    pub(super) fn hash(&self, hasher: &mut impl Hasher) {
        for site in &self.sites {
            let Crossing {
                right_kerb: kerb,
                length,
                width,
                ..
            } = site.crossing;
            let place = [
                kerb.position.x,
                kerb.position.y,
                kerb.heading,
                length,
                width,
            ];
            for value in place {
                hasher.write_u64(value.to_bits());
            }
            hasher.write_u32(site.walk_stages.unwrap_or(0));
        }
    }

    /// Returns all crossings.
    #[inline]
    pub fn sites(&self) -> &[CrossingSite] {
        &self.sites
    }

    /// Returns the indices of a junction's crossings.
    #[inline]
    pub fn of_junction(&self, junction: JunctionIndex) -> Range<u32> {
        let junction = junction.index();
        self.firsts[junction]..self.firsts[junction + 1]
    }
}

impl CrossingSite {
    /// Returns the part of the crossing that a vehicle on a connection covers; `None` if the
    /// connection does not lead over the crossing.
    #[inline]
    pub fn taken(&self, path: ConnectionIndex, is_long: bool) -> Option<Taken> {
        let Covered { car, long, .. } = *self.covered(path)?;
        Some(if is_long { long } else { car })
    }

    /// Returns the part of the crossing that a car on a connection covers; `None` if the connection
    /// does not lead over the crossing.
    #[inline]
    pub fn taken_by_car(&self, path: ConnectionIndex) -> Option<Taken> {
        Some(self.covered(path)?.car)
    }

    fn covered(&self, path: ConnectionIndex) -> Option<&Covered> {
        let covered = &self.crossing.covered;
        let found = covered.binary_search_by_key(&path, |covered| covered.path);
        Some(&covered[found.ok()?])
    }

    /// Converts an interval of the crossing to distances from the right or the left kerb, m.
    #[inline]
    pub fn seen_from(&self, place: Interval, is_from_right: bool) -> Interval {
        let length = self.crossing.length;
        if is_from_right {
            return place;
        }
        // Seen from the other kerb, the order is reversed: the end comes first.
        Interval {
            from: length - place.to,
            to: length - place.from,
        }
    }

    /// Returns the stretches of the crossing, in the order in which pedestrians who start at the
    /// right or the left kerb walk over them.
    pub fn stretches(&self, is_from_right: bool) -> Vec<Interval> {
        let stretches = self.crossing.stretches();
        let mut all: Vec<_> = stretches
            .map(|stretch| self.seen_from(stretch, is_from_right))
            .collect();
        if !is_from_right {
            all.reverse();
        }
        all
    }
}

/// Whether a connection of a junction leads over a pedestrian crossing.
pub(super) fn is_crossed(junction: &Junction, path: ConnectionIndex) -> bool {
    let mut covered = junction.crossings.iter().flat_map(|c| &c.covered);
    covered.any(|covered| covered.path == path)
}
