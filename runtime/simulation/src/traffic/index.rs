//! Positions of vehicles by lanelet, and of all bodies in a grid.

use crate::agents::AgentsRef;
use crate::dynamics::Bodies;
use crate::records::{AgentIndex, LanePosition};
use crate::vehicle_type::VehicleTypes;
use glam::DVec2;
use roadwright_geometry::grid_index::GridIndex;
use roadwright_geometry::oriented_box::OrientedBox;
use roadwright_scenario::lane_graph::{LaneletIndex, NO_LANELET};

/// The position of a vehicle on a lanelet.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct LaneEntry {
    /// Position of the rear axle along the lanelet, m.
    pub(crate) s: f64,
    pub(crate) lanelet: LaneletIndex,
    pub(crate) agent: AgentIndex,
}

/// Size of a grid cell, m.
const CELL: f64 = 20.0;
/// Marks an entry that does not exist.
const ABSENT: u32 = u32::MAX;

/// Range of one lanelet's entries in the list of all entries.
#[derive(Debug, Clone, Copy, Default)]
struct Range {
    first: u32,
    count: u32,
}

// Example: three of many lanelets have vehicles.
//
//   occupied   4, 0, 2                               in the order of their first vehicle
//   ranges     4: (0, 2)   0: (2, 1)   2: (3, 2)     first entry and count
//   entries    [4, s 3.1] [4, s 20.5] [0, s 7.0] [2, s 1.2] [2, s 9.9]
//
// The vehicle ahead of another on its lanelet is the next entry, if this is on the same lanelet.
// The rearmost vehicle of a lanelet is the first of its range. Neither requires a search.

/// A body off the lanes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OffLane {
    pub(crate) body: OrientedBox,
    /// Road layers that the body is on (bit mask).
    pub(crate) layers: u32,
}

/// Vehicles by lanelet, from back to front, and in a grid.
#[derive(Default)]
pub(crate) struct Index {
    /// The vehicles of all lanelets, grouped by lanelet.
    entries: Vec<LaneEntry>,
    /// Entries of each lanelet.
    ranges: Vec<Range>,
    /// Lanelets with a vehicle.
    occupied: Vec<LaneletIndex>,
    /// One bit per lanelet, set if the lanelet is occupied. Most look-ups find an empty lanelet,
    /// and the bits of a whole city fit into the first-level cache.
    is_occupied: Vec<u64>,
    /// Index of each agent's entry on the lanelet that it follows.
    entry_of: Vec<u32>,
    /// Whether the grid contains the current positions.
    is_located: bool,
    /// Agent of each body in the grid.
    located: Vec<AgentIndex>,
    /// Number of each body in the grid within its agent: 0 for the vehicle, 1 for its first
    /// trailer.
    parts: Vec<u8>,
    /// Centres of the bodies.
    pub(crate) middles: Vec<DVec2>,
    grid: GridIndex,
    /// Number of driving agents.
    pub(crate) driving: usize,
    /// Whether any body is off the lanes. Otherwise, lane traffic does not have to search by
    /// position.
    pub(crate) any_off_lane: bool,
    /// Bodies off the lanes: vehicles with their trailers, and uncoupled trailers.
    pub(crate) off_lanes: Vec<OffLane>,
    /// Largest radius of a body in the grid, measured from its centre, m.
    pub(crate) largest: f64,
}

impl Index {
    pub(crate) fn new(lanelets: usize) -> Self {
        Self {
            ranges: vec![Range::default(); lanelets],
            is_occupied: vec![0; lanelets.div_ceil(64)],
            ..Self::default()
        }
    }

    /// Lists all agents on their current lanes. If any body is off the lanes, also lists them in the grid.
    /// O(agents), plus sorting on crowded lanelets.
    pub(crate) fn rebuild(&mut self, bodies: &Bodies<'_>, types: &VehicleTypes) {
        let agents = bodies.agents;
        self.clear(agents.capacity());
        for agent in agents.driving() {
            let position = &agents.position[agent.index()];
            // During a lane change, a body is on two lanes, and followers on both have to see it.
            // It is entered on both with its position s on the new lane. This is accurate enough,
            // because the lanes are side by side.
            lanelets_of(position).for_each(|lanelet| self.count(lanelet));
            self.driving += 1;
            self.any_off_lane |= !position.is_on_lane();
        }
        self.fill(agents);
        self.note_off_lanes(bodies, types);
        // On lanes, nearby vehicles are found from the order of vehicles. Off the lanes, bodies are
        // searched by position in every step.
        if self.any_off_lane {
            self.locate(bodies, types);
        }
    }

    /// Collects the bodies off the lanes. O(agents) if there are any.
    fn note_off_lanes(&mut self, bodies: &Bodies<'_>, types: &VehicleTypes) {
        self.off_lanes.clear();
        let standing = bodies.dynamics.standing.footprints(types);
        let off_lane = |(body, layers)| OffLane { body, layers };
        self.off_lanes.extend(standing.map(off_lane));
        if !self.any_off_lane {
            return;
        }
        let agents = bodies.agents;
        for agent in agents.driving() {
            let position = &agents.position[agent.index()];
            if position.is_on_lane() {
                continue;
            }
            let layers = bodies.ground.layers(position.lanelet);
            let body = types.get(agents.identity[agent.index()].vehicle_type);
            let vehicle = body.covered(bodies.pose(agent));
            let trailers = bodies.trailer_boxes(agent, types).into_iter();
            let all = std::iter::once(vehicle).chain(trailers);
            self.off_lanes
                .extend(all.map(|body| off_lane((body, layers))));
        }
    }

    /// Lists all agents in the grid at their current positions, unless this has already been done. O(agents).
    pub(crate) fn locate(&mut self, bodies: &Bodies<'_>, types: &VehicleTypes) {
        if self.is_located {
            return;
        }
        self.is_located = true;
        self.largest = 0.0;
        self.located.clear();
        self.parts.clear();
        self.middles.clear();
        for agent in bodies.agents.driving() {
            let vehicle_type = types.get(bodies.agents.identity[agent.index()].vehicle_type);
            self.located.push(agent);
            let pose = bodies.pose(agent);
            self.middles.push(pose.point(vehicle_type.body_centre, 0.0));
            self.parts.push(0);
            self.largest = self.largest.max(vehicle_type.radius);
            if vehicle_type.tows {
                for (part, body) in (1u8..).zip(bodies.trailer_boxes(agent, types)) {
                    self.located.push(agent);
                    self.parts.push(part);
                    self.middles.push(body.centre);
                    self.largest = self.largest.max(body.radius());
                }
            }
        }
        self.grid.rebuild(&self.middles, CELL);
    }

    /// Frees the memory of the grid, which is rebuilt when it is next needed.
    pub(crate) fn forget_places(&mut self) {
        self.is_located = false;
        self.located = Vec::new();
        self.parts = Vec::new();
        self.middles = Vec::new();
        self.grid = GridIndex::new();
    }

    /// Calls `visit` with the number and centre of each body near a position. All bodies within
    /// `reach` metres are visited, and possibly others.
    #[inline]
    pub(crate) fn for_each_near(&self, place: DVec2, reach: f64, visit: impl FnMut(u32, DVec2)) {
        debug_assert!(self.is_located, "the grid has not been built");
        self.grid.for_each_within(place, reach, visit);
    }

    /// Radius of the circle around a body in the grid, m.
    pub(crate) fn radius(&self, number: usize, bodies: &Bodies<'_>, types: &VehicleTypes) -> f64 {
        let agent = self.located[number];
        let kind = bodies.agents.identity[agent.index()].vehicle_type;
        match self.parts[number].checked_sub(1) {
            Some(trailer) => types.train(kind).trailers()[usize::from(trailer)].radius(),
            None => types.get(kind).radius,
        }
    }

    /// Returns the bodies in the grid by number, each as its agent and its number within the agent.
    pub(crate) fn bodies(&self) -> impl Iterator<Item = (AgentIndex, u8)> + '_ {
        self.located.iter().copied().zip(self.parts.iter().copied())
    }

    /// Returns the agent of a body in the grid, and the number of the body within its agent: 0 for
    /// the vehicle, 1 for its first trailer.
    pub(crate) fn body(&self, number: u32) -> (AgentIndex, u8) {
        (self.located[number as usize], self.parts[number as usize])
    }

    /// The entries of all lanelets, grouped by lanelet.
    pub(crate) fn entries(&self) -> &[LaneEntry] {
        &self.entries
    }

    fn clear(&mut self, capacity: usize) {
        // Only lanelets that had a vehicle are cleared. A city has many thousands of lanelets, most
        // of which are empty.
        for &lanelet in &self.occupied {
            self.ranges[lanelet.index()] = Range::default();
            self.is_occupied[lanelet.index() / 64] = 0;
        }
        self.occupied.clear();
        self.entry_of.clear();
        self.entry_of.resize(capacity, ABSENT);
        self.driving = 0;
        self.any_off_lane = false;
        self.is_located = false;
    }

    fn count(&mut self, lanelet: LaneletIndex) {
        let range = &mut self.ranges[lanelet.index()];
        if range.count == 0 {
            self.occupied.push(lanelet);
            self.is_occupied[lanelet.index() / 64] |= 1 << (lanelet.index() % 64);
        }
        range.count += 1;
    }

    /// Groups the entries by lanelet, from back to front.
    fn fill(&mut self, agents: AgentsRef<'_>) {
        // This is a counting sort. The vehicles of each lanelet have been counted, so each lanelet
        // first gets a range of entries, and then each entry is put into its range. The order of
        // the ranges is that of the first vehicles and has no meaning.
        let mut first = 0;
        for &lanelet in &self.occupied {
            let range = &mut self.ranges[lanelet.index()];
            (range.first, first) = (first, first + range.count);
            // The count is increased again while the range is filled.
            range.count = 0;
        }
        self.entries.resize(first as usize, LaneEntry::default());
        // Indices are visited in reverse order. The vehicles of a flow are ordered from front to
        // back by index, so no entry has to be shifted.
        for agent in agents.driving().rev() {
            let position = &agents.position[agent.index()];
            let s = position.s;
            for lanelet in lanelets_of(position) {
                self.enter(LaneEntry { s, lanelet, agent }, agents);
            }
        }
        // Only the entry on the lanelet that an agent follows is recorded, not the one on a lanelet
        // that it is leaving.
        for (place, entry) in (0u32..).zip(&self.entries) {
            if agents.position[entry.agent.index()].lanelet == entry.lanelet {
                self.entry_of[entry.agent.index()] = place;
            }
        }
    }

    /// Inserts an entry among the other entries of its lanelet.
    #[inline]
    fn enter(&mut self, entry: LaneEntry, agents: AgentsRef<'_>) {
        let range = &mut self.ranges[entry.lanelet.index()];
        let start = range.first as usize;
        let mut at = start + range.count as usize;
        range.count += 1;
        // Few vehicles share a lanelet, so the entries of vehicles ahead are shifted one by one.
        while at > start && is_behind(&entry, &self.entries[at - 1], agents) {
            self.entries[at] = self.entries[at - 1];
            at -= 1;
        }
        self.entries[at] = entry;
    }

    /// Vehicles on a lanelet from back to front.
    #[inline]
    pub(crate) fn on_lanelet(&self, lanelet: LaneletIndex) -> &[LaneEntry] {
        if self.is_occupied[lanelet.index() / 64] & 1 << (lanelet.index() % 64) == 0 {
            return &[];
        }
        let range = self.ranges[lanelet.index()];
        &self.entries[range.first as usize..(range.first + range.count) as usize]
    }

    /// The rearmost vehicle on a lanelet.
    #[inline]
    pub(crate) fn hindmost(&self, lanelet: LaneletIndex) -> Option<LaneEntry> {
        self.on_lanelet(lanelet).first().copied()
    }

    /// The vehicle ahead of an agent on its own lanelet.
    #[inline]
    pub(crate) fn ahead_on_lanelet(&self, agent: AgentIndex) -> Option<LaneEntry> {
        self.all_ahead_on_lanelet(agent).next().copied()
    }

    /// The vehicles ahead of an agent on its own lanelet, nearest first.
    #[inline]
    pub(crate) fn all_ahead_on_lanelet(
        &self,
        agent: AgentIndex,
    ) -> impl Iterator<Item = &LaneEntry> {
        let place = self.entry_of[agent.index()] as usize;
        let own = self.entries.get(place).map(|entry| entry.lanelet);
        let ahead = self.entries.iter().skip(place.saturating_add(1));
        ahead.take_while(move |entry| Some(entry.lanelet) == own)
    }

    /// Memory used for all agents, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        size_of::<LaneEntry>() * self.entries.len()
            + size_of::<u32>() * (self.entry_of.len() + self.located.len() + self.occupied.len())
            + size_of::<DVec2>() * self.middles.len()
            + self.parts.len()
            // The grid stores id, cell and position of each body.
            + 24 * self.middles.len()
    }
}

/// Returns the lanelets that contain an entry of the agent.
#[inline]
fn lanelets_of(position: &LanePosition) -> impl Iterator<Item = LaneletIndex> {
    let lanelets = [position.lanelet, position.leaving];
    lanelets.into_iter().filter(|&id| id != NO_LANELET)
}

/// Whether the first vehicle is behind the second one on a lanelet. At the same position, the
/// vehicle with the smaller id is behind.
fn is_behind(a: &LaneEntry, b: &LaneEntry, agents: AgentsRef<'_>) -> bool {
    let id = |entry: &LaneEntry| agents.identity[entry.agent.index()].id;
    a.s.total_cmp(&b.s).then_with(|| id(a).cmp(&id(b))).is_lt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::{AgentRow, Agents};
    use crate::dynamics::Dynamics;
    use crate::records::{Identity, LanePosition, Phase};
    use proptest::prelude::*;
    use roadwright_ground::Ground;
    use roadwright_scenario::{DynamicsLevel, Scenario};

    fn agents(places: &[(LaneletIndex, LaneletIndex, f64)]) -> Agents {
        let mut agents = Agents::default();
        for (id, &(lanelet, leaving, s)) in (1u64..).zip(places) {
            agents.insert(AgentRow {
                identity: Identity {
                    id,
                    phase: Phase::Driving,
                    ..Identity::default()
                },
                position: LanePosition {
                    lanelet,
                    leaving,
                    s,
                    t: 0.0,
                },
                ..AgentRow::default()
            });
        }
        agents
    }

    proptest! {
        #[test]
        fn lanelets_hold_their_vehicles_from_back_to_front(
            places in proptest::collection::vec((0u32..6, 0u32..8, 0.0..50.0f64), 0..40),
        ) {
            // The leaving lanelets 6 and 7 mean that no lanelet is being left.
            let places: Vec<_> = places
                .into_iter()
                .map(|(on, leaving, s)| {
                    let is_none = leaving > 5 || leaving == on;
                    let leaving = if is_none { NO_LANELET } else { LaneletIndex::new(leaving) };
                    (LaneletIndex::new(on), leaving, s)
                })
                .collect();
            let types = VehicleTypes::new(&Scenario::new("types"));
            let all = agents(&places);
            let mut index = Index::new(6);
            // Built twice, so that data left over from the first time would show.
            let ground = Ground::new(&Scenario::new("ground"));
            let mut dynamics = Dynamics::default();
            dynamics.grow(DynamicsLevel::OneTrack, 40);
            for agents in [&agents(&places[..places.len() / 2]), &all] {
                let bodies = Bodies { ground: &ground, agents: agents.lent(), dynamics: &dynamics };
                index.rebuild(&bodies, &types);
            }
            for lanelet in LaneletIndex::up_to(6) {
                let here = index.on_lanelet(lanelet);
                let is_here = |p: &&(LaneletIndex, LaneletIndex, f64)| p.0 == lanelet || p.1 == lanelet;
                prop_assert_eq!(here.len(), places.iter().filter(is_here).count());
                prop_assert!(here.windows(2).all(|pair| pair[0].s <= pair[1].s));
                prop_assert_eq!(index.hindmost(lanelet), here.first().copied());
                for (at, entry) in here.iter().enumerate() {
                    if places[entry.agent.index()].0 == lanelet {
                        let next = here.get(at + 1).copied();
                        prop_assert_eq!(index.ahead_on_lanelet(entry.agent), next);
                    }
                }
            }
        }
    }
}
