//! Who is where: vehicles by lanelet and by place, rebuilt every step.

use crate::agents::Agents;
use crate::vehicle_type::VehicleTypes;
use glam::DVec2;
use roadwright_geometry::grid_index::GridIndex;
use roadwright_scenario::lane_graph::{LaneletId, NO_LANELET};

/// A vehicle's place on a lanelet.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Entry {
    pub(crate) lanelet: LaneletId,
    pub(crate) agent: u32,
    /// Place of the rear axle, m.
    pub(crate) s: f64,
}

/// Side of a cell of the place index, m.
const CELL: f64 = 20.0;
const ABSENT: u32 = u32::MAX;

/// Vehicles in lanelet order and in a grid.
#[derive(Default)]
pub(crate) struct Index {
    /// Sorted by lanelet, then from back to front.
    entries: Vec<Entry>,
    /// First entry of each lanelet, or [`ABSENT`].
    first: Vec<u32>,
    /// Entry of each agent on its own lanelet.
    entry_of: Vec<u32>,
    /// Agents in the grid, by their number in it.
    pub(crate) located: Vec<u32>,
    /// Middles of their bodies.
    pub(crate) middles: Vec<DVec2>,
    pub(crate) grid: GridIndex,
    /// Whether any of them is off the lanes: only those are looked out for by lane traffic.
    pub(crate) any_off_lane: bool,
}

impl Index {
    pub(crate) fn new(lanelets: usize) -> Self {
        Self {
            first: vec![ABSENT; lanelets],
            ..Self::default()
        }
    }

    /// Notes where everybody is now. O(agents log agents).
    pub(crate) fn rebuild(&mut self, agents: &Agents, types: &VehicleTypes) {
        for entry in &self.entries {
            self.first[entry.lanelet as usize] = ABSENT;
        }
        self.entries.clear();
        self.located.clear();
        self.middles.clear();
        self.entry_of.clear();
        self.any_off_lane = false;
        self.entry_of.resize(agents.capacity(), ABSENT);
        for agent in agents.driving() {
            let position = &agents.position[agent as usize];
            for lanelet in [position.lanelet, position.leaving] {
                if lanelet != NO_LANELET {
                    self.entries.push(Entry {
                        lanelet,
                        agent,
                        s: position.s,
                    });
                }
            }
            self.any_off_lane |= !position.is_on_lane();
            self.located.push(agent);
            let vehicle_type = types.get(agents.identity[agent as usize].vehicle_type);
            let pose = &agents.motion[agent as usize].pose;
            self.middles.push(pose.point(vehicle_type.body_centre, 0.0));
        }
        self.entries.sort_unstable_by(|a, b| {
            a.lanelet
                .cmp(&b.lanelet)
                .then(a.s.total_cmp(&b.s))
                .then(a.agent.cmp(&b.agent))
        });
        for (place, entry) in self.entries.iter().enumerate().rev() {
            self.first[entry.lanelet as usize] = place as u32;
            if agents.position[entry.agent as usize].lanelet == entry.lanelet {
                self.entry_of[entry.agent as usize] = place as u32;
            }
        }
        self.grid.rebuild(&self.middles, CELL);
    }

    /// Vehicles on a lanelet from back to front.
    #[inline]
    pub(crate) fn on_lanelet(&self, lanelet: LaneletId) -> &[Entry] {
        let first = self.first[lanelet as usize];
        if first == ABSENT {
            return &[];
        }
        let rest = &self.entries[first as usize..];
        let count = rest
            .iter()
            .take_while(|entry| entry.lanelet == lanelet)
            .count();
        &rest[..count]
    }

    /// The hindmost vehicle on a lanelet.
    #[inline]
    pub(crate) fn hindmost(&self, lanelet: LaneletId) -> Option<Entry> {
        let first = self.first[lanelet as usize];
        (first != ABSENT).then(|| self.entries[first as usize])
    }

    /// The vehicle before an agent on its own lanelet.
    #[inline]
    pub(crate) fn ahead_on_lanelet(&self, agent: u32) -> Option<Entry> {
        let place = self.entry_of[agent as usize] as usize;
        let own = self.entries.get(place)?;
        let next = self.entries.get(place + 1)?;
        (next.lanelet == own.lanelet).then_some(*next)
    }
}
