//! The route through a network that a green wave follows.

use super::NoWave;
use crate::ids::{NodeId, ObjectId, RoadId};
use crate::junction::Layout;
use crate::junction_rules::Control;
use crate::network::RoadNetwork;
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of junctions with signals on one route.
pub const MAX_STOPS: usize = 32;
/// Minimum speed that the search assumes for a road, m/s.
const LEAST_SPEED: f64 = 1.0;
/// Factor by which the search multiplies the length of selected roads, so that the route follows
/// them where possible.
const CHOSEN: f64 = 1e-3;

/// A junction on a route.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stop {
    /// Index of the junction in the layout.
    pub junction: usize,
    /// The road on which traffic arrives; `None` at the first junction.
    pub before: Option<RoadId>,
    /// The road on which traffic leaves; `None` at the last junction.
    pub after: Option<RoadId>,
    /// Distance along the roads from the first junction, m. In a merged junction, it is measured to the
    /// middle.
    pub at: f64,
}

/// A route from junction to junction that passes each at most once, and begins and ends at junctions with
/// signals.
#[derive(Debug, Clone, PartialEq)]
pub struct Street {
    /// All junctions on the street, in order.
    pub stops: Vec<Stop>,
    /// Travel time along the street at the speed limits, s.
    time: f64,
}

/// A road from one junction to another.
#[derive(Clone, Copy)]
struct Link {
    road: RoadId,
    to: usize,
    length: f64,
}

impl Street {
    /// Finds the route through the selected junctions with signals: those at selected nodes and those at both
    /// ends of selected roads. The route begins at the end whose junction has the smaller node id.
    /// O(junctions * roads log roads).
    ///
    /// # Errors
    /// If fewer than two or more than [`MAX_STOPS`] of the junctions have signals, or if no route leads
    /// through all of them.
    pub fn through(
        network: &RoadNetwork,
        layout: &Layout,
        chosen: &BTreeSet<ObjectId>,
    ) -> Result<Self, NoWave> {
        let stops = with_signals(network, layout, chosen);
        match stops.len() {
            0 | 1 => return Err(NoWave::TooFew),
            count if count > MAX_STOPS => return Err(NoWave::TooMany(count)),
            _ => {}
        }
        let map = Map::new(network, layout, chosen);
        // The junction farthest from an arbitrary junction is one end of the route. The junction
        // farthest from that end is the other end.
        let some = stops.first().copied().ok_or(NoWave::TooFew)?;
        let end = map.order(some, &stops)?.last().copied().unwrap_or(some);
        let mut order = map.order(end, &stops)?;
        if order.last() < order.first() {
            order.reverse();
        }
        map.street(&order)
    }

    /// Returns the mean speed along the street when driving at the speed limits, m/s.
    pub(super) fn free_speed(&self) -> f64 {
        let length = self.stops.last().map_or(0.0, |stop| stop.at);
        (length / self.time.max(1e-9)).max(LEAST_SPEED)
    }
}

/// Returns the junctions with signals that are selected or at the ends of selected roads.
fn with_signals(
    network: &RoadNetwork,
    layout: &Layout,
    chosen: &BTreeSet<ObjectId>,
) -> BTreeSet<usize> {
    let nodes = chosen.iter().flat_map(|object| match *object {
        ObjectId::Node(id) => vec![id],
        ObjectId::Road(id) => {
            let road = network.road(id);
            road.map(|road| vec![road.from, road.to])
                .unwrap_or_default()
        }
        _ => Vec::new(),
    });
    let junctions = nodes.filter_map(|node| layout.junction_of.get(&node).copied());
    let has_signals = |index: &usize| {
        let junction = &layout.junctions[*index];
        junction.control == Control::Signals && junction.plan.mode.rules()
    };
    junctions.filter(has_signals).collect()
}

/// Junctions and the roads between them.
struct Map<'a> {
    network: &'a RoadNetwork,
    layout: &'a Layout,
    chosen: &'a BTreeSet<ObjectId>,
    links: BTreeMap<usize, Vec<Link>>,
}

impl<'a> Map<'a> {
    fn new(network: &'a RoadNetwork, layout: &'a Layout, chosen: &'a BTreeSet<ObjectId>) -> Self {
        let mut links: BTreeMap<usize, Vec<Link>> = BTreeMap::new();
        for (id, road) in network.roads() {
            let at = |node: NodeId| layout.junction_of.get(&node).copied();
            let (Some(from), Some(to)) = (at(road.from), at(road.to)) else {
                continue;
            };
            if from == to || layout.internal.contains(&id) || !road.is_drivable() {
                continue;
            }
            for (own, other) in [(from, to), (to, from)] {
                links.entry(own).or_default().push(Link {
                    road: id,
                    to: other,
                    length: road.length(),
                });
            }
        }
        Self {
            network,
            layout,
            chosen,
            links,
        }
    }

    /// Returns the distance of each reachable junction from a start, together with the previous junction on
    /// the route and the link from there.
    fn reached(&self, start: usize) -> BTreeMap<usize, (f64, Option<(usize, Link)>)> {
        let mut found = BTreeMap::new();
        // Distances are not negative, so their bits have the same order as the numbers.
        let mut open: BTreeMap<(u64, usize), Option<(usize, Link)>> = BTreeMap::new();
        open.insert((0.0_f64.to_bits(), start), None);
        while let Some(((bits, junction), by)) = open.pop_first() {
            if found.contains_key(&junction) {
                continue;
            }
            let distance = f64::from_bits(bits);
            found.insert(junction, (distance, by));
            for link in self.links.get(&junction).into_iter().flatten() {
                let is_chosen = self.chosen.contains(&ObjectId::Road(link.road));
                let length = if is_chosen {
                    CHOSEN * link.length
                } else {
                    link.length
                };
                let next = ((distance + length).to_bits(), link.to);
                open.entry(next).or_insert(Some((junction, *link)));
            }
        }
        found
    }

    /// Orders junctions by their distance from a start.
    fn order(&self, start: usize, stops: &BTreeSet<usize>) -> Result<Vec<usize>, NoWave> {
        let found = self.reached(start);
        let distance = |stop: &usize| Some((found.get(stop)?.0.to_bits(), *stop));
        let all: Option<Vec<_>> = stops.iter().map(distance).collect();
        let mut all = all.ok_or(NoWave::NotOneWay)?;
        all.sort_unstable();
        Ok(all.into_iter().map(|(_, stop)| stop).collect())
    }

    /// Returns the route that visits the junctions in the given order.
    fn street(&self, order: &[usize]) -> Result<Street, NoWave> {
        let mut links: Vec<(usize, Link)> = Vec::new();
        for pair in order.windows(2) {
            let found = self.reached(pair[0]);
            let (mut at, mut back) = (pair[1], Vec::new());
            while let Some((_, Some((before, link)))) = found.get(&at) {
                back.push((*before, *link));
                at = *before;
            }
            links.extend(back.into_iter().rev());
        }
        let mut passed: BTreeSet<usize> = order.first().copied().into_iter().collect();
        if !links.iter().all(|(_, link)| passed.insert(link.to)) {
            return Err(NoWave::NotOneWay);
        }
        Ok(self.measured(&links))
    }

    fn measured(&self, links: &[(usize, Link)]) -> Street {
        let (mut stops, mut at, mut time) = (Vec::new(), 0.0, 0.0);
        for (i, (from, link)) in links.iter().enumerate() {
            let before = i.checked_sub(1).map(|i| links[i].1.road);
            let within = self.within(*from, before, link.road);
            stops.push(Stop {
                junction: *from,
                before,
                after: Some(link.road),
                at: at + 0.5 * within,
            });
            let limit = self.network.road(link.road);
            let limit = limit.map_or(LEAST_SPEED, |road| road.speed_limit.max(LEAST_SPEED));
            time += (within + link.length) / limit;
            at += within + link.length;
        }
        stops.extend(links.last().map(|(_, link)| Stop {
            junction: link.to,
            before: Some(link.road),
            after: None,
            at,
        }));
        Street { stops, time }
    }

    /// Returns the distance inside a merged junction from the end of one road to the end of
    /// another, m.
    fn within(&self, junction: usize, before: Option<RoadId>, after: RoadId) -> f64 {
        let nodes = &self.layout.junctions[junction].nodes;
        let position = |road: RoadId| {
            let road = self.network.road(road)?;
            let own = [road.from, road.to];
            let node = own.into_iter().find(|node| nodes.contains(node))?;
            Some(self.network.node(node)?.position())
        };
        let ends = before.and_then(position).zip(position(after));
        ends.map_or(0.0, |(a, b)| (b - a).length())
    }
}
