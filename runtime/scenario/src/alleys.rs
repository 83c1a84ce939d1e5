//! Alleys: stretches of two-way roads on which two cars do not fit side by side.
//!
//! ```text
//!   ------------------.                    .------------------
//!      <--  B          '------------------'      <--
//!                       hold           hold
//!      -->             .------------------.      -->  A
//!   ------------------'                    '------------------
//!                      |<---  an alley --->|
//! ```
//!
//! They follow from the lanes and are never stored. Cars drive in the middle of their lanes, so what
//! counts is the distance between the middles of two lanes that are driven against each other: it has to
//! be the width of a car, [`ABREAST`] and what the fronts swing out in a bend.
//! Where less than `PLACE` is left between an alley and the end of its lane, or between two alleys, nobody
//! could wait there for another one, so it belongs to the alley: who comes to a road that is narrow all
//! along waits at the stop line before it.

use crate::ids::RoadId;
use crate::junction::{ABREAST, Body};
use crate::lane_graph::{LaneGraph, Lanelet, LaneletId, LaneletKind};
use roadwright_geometry::DVec2;
use roadwright_geometry::centre_line::CentreLine;
use std::collections::BTreeMap;

/// Room that a place to wait needs, m: two cars and what is between them.
const PLACE: f64 = 15.0;
/// Lanes that are nearer by less than this are as wide as they should be, m: centre lines are chords.
const TOLERANCE: f64 = 0.02;
/// Half the length of the stretch by which a bend is measured, m.
const BEND_REACH: f64 = 2.0;

/// One direction of an alley: a part of a lanelet.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AlleyWay {
    /// The lanelet.
    pub lanelet: LaneletId,
    /// Where it begins along the lanelet, m; 0 where one waits before the lanelet.
    pub from: f64,
    /// Where it ends, m; the length of the lanelet where nobody finds a place on it behind the alley.
    pub to: f64,
}

/// A stretch on which two cars do not fit side by side.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Alley {
    /// Both directions.
    pub ways: [AlleyWay; 2],
    /// The least distance between the middles of both lanes, m.
    pub distance: f64,
    /// What there would have to be at that place, m.
    pub wanted: f64,
}

/// A direction of an alley: its number, and which of the two ways.
pub type AlleySide = (u32, bool);

/// All alleys of a lane graph.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Alleys {
    list: Vec<Alley>,
    /// The sides of each lanelet that has any, by growing `from`.
    of_lanelet: BTreeMap<LaneletId, Vec<AlleySide>>,
    /// Whether a lanelet has any; empty if there is none at all.
    marked: Vec<bool>,
}

impl Alleys {
    /// Finds the alleys of a lane graph. O(points of two-way roads).
    pub fn of(graph: &LaneGraph) -> Self {
        let mut alleys = Self::default();
        for (one, other) in opposite_lanes(graph) {
            for alley in between(graph, one, other) {
                let number = alleys.list.len() as u32;
                for (way, is_second) in alley.ways.iter().zip([false, true]) {
                    let sides = alleys.of_lanelet.entry(way.lanelet).or_default();
                    sides.push((number, is_second));
                }
                alleys.list.push(alley);
            }
        }
        let list = &alleys.list;
        let from = |&(number, is_second): &AlleySide| {
            list[number as usize].ways[usize::from(is_second)].from
        };
        for sides in alleys.of_lanelet.values_mut() {
            sides.sort_by(|a, b| from(a).total_cmp(&from(b)));
        }
        if !alleys.list.is_empty() {
            alleys.marked = vec![false; graph.lanelets().len()];
            for &lanelet in alleys.of_lanelet.keys() {
                alleys.marked[lanelet as usize] = true;
            }
        }
        alleys
    }

    /// Whether there is none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// All of them, by growing road.
    pub fn list(&self) -> &[Alley] {
        &self.list
    }

    /// Whether a lanelet has any. O(1).
    #[inline]
    pub fn are_on(&self, lanelet: LaneletId) -> bool {
        !self.marked.is_empty() && self.marked[lanelet as usize]
    }

    /// The sides of a lanelet, in the order in which one comes to them. O(log lanelets with alleys).
    #[inline]
    pub fn on(&self, lanelet: LaneletId) -> &[AlleySide] {
        if !self.are_on(lanelet) {
            return &[];
        }
        self.of_lanelet.get(&lanelet).map_or(&[], Vec::as_slice)
    }

    /// One direction of one of them.
    #[inline]
    pub fn way(&self, (number, is_second): AlleySide) -> AlleyWay {
        self.list[number as usize].ways[usize::from(is_second)]
    }
}

/// For each lane section of a two-way road the two lanes of opposite directions that are nearest to each
/// other, by growing road; the first is driven along the road.
fn opposite_lanes(graph: &LaneGraph) -> Vec<(LaneletId, LaneletId)> {
    // By road and section: lanelets along the road, and against it.
    let mut sections: BTreeMap<(RoadId, u16), [Vec<LaneletId>; 2]> = BTreeMap::new();
    for (id, lanelet) in (0..).zip(graph.lanelets()) {
        if let LaneletKind::Lane { road, section, .. } = lanelet.kind {
            let lanes = sections.entry((road, section)).or_default();
            lanes[usize::from(!is_forward(lanelet))].push(id);
        }
    }
    let middle = |id: LaneletId| {
        let line = graph.line(id);
        line.position(0.5 * line.length())
    };
    let nearest = |[along, against]: [Vec<LaneletId>; 2]| {
        let pairs = along
            .iter()
            .flat_map(|&a| against.iter().map(move |&b| (a, b)));
        pairs.min_by(|&(a, b), &(c, d)| {
            let distance = |a, b| middle(a).distance_squared(middle(b));
            distance(a, b).total_cmp(&distance(c, d))
        })
    };
    sections.into_values().filter_map(nearest).collect()
}

fn is_forward(lanelet: &Lanelet) -> bool {
    lanelet.road_span.1 > lanelet.road_span.0
}

/// A stretch of two lanelets in the order of the first one, m from its start and from that of the second,
/// where they are too near to each other.
#[derive(Clone, Copy)]
struct Narrow {
    own: (f64, f64),
    /// The place beside the start, and beside the end.
    beside: (f64, f64),
    distance: f64,
    wanted: f64,
}

/// The alleys between two lanelets of opposite directions.
fn between(graph: &LaneGraph, one: LaneletId, other: LaneletId) -> Vec<Alley> {
    let lengths = [one, other].map(|id| graph.line(id).length());
    let mut narrows: Vec<Narrow> = Vec::new();
    for narrow in narrow_places(graph.line(one), graph.line(other)) {
        match narrows.last_mut() {
            // Two bodies stand between them, clear of both.
            Some(last) if narrow.own.0 - last.own.1 < PLACE + 2.0 * Body::CAR.front => {
                last.own.1 = narrow.own.1;
                last.beside.1 = narrow.beside.1;
                if narrow.distance - narrow.wanted < last.distance - last.wanted {
                    (last.distance, last.wanted) = (narrow.distance, narrow.wanted);
                }
            }
            _ => narrows.push(narrow),
        }
    }
    let alley = |narrow: Narrow| Alley {
        ways: [
            way((one, lengths[0]), narrow.own),
            // The second is driven the other way.
            way((other, lengths[1]), (narrow.beside.1, narrow.beside.0)),
        ],
        distance: narrow.distance,
        wanted: narrow.wanted,
    };
    let mut alleys: Vec<Alley> = narrows.into_iter().map(alley).collect();
    // Whether a piece before or behind is long enough is the same for both directions.
    for alley in &mut alleys {
        let [a, b] = &mut alley.ways;
        if a.from == 0.0 || b.to == lengths[1] {
            (a.from, b.to) = (0.0, lengths[1]);
        }
        if b.from == 0.0 || a.to == lengths[0] {
            (b.from, a.to) = (0.0, lengths[0]);
        }
    }
    alleys
}

/// A part of a lanelet with what a front reaches beyond it, up to the ends of the lanelet where no place to
/// wait is left.
fn way((lanelet, length): (LaneletId, f64), (from, to): (f64, f64)) -> AlleyWay {
    let (from, to) = (from - Body::CAR.front, to + Body::CAR.front);
    AlleyWay {
        lanelet,
        from: if from < PLACE { 0.0 } else { from },
        to: if length - to < PLACE { length } else { to },
    }
}

/// The stretches where two lines of opposite directions are too near to each other, by their points.
fn narrow_places(one: CentreLine<'_>, other: CentreLine<'_>) -> Vec<Narrow> {
    let (points, beside) = (one.points(), other.points());
    let spacing = |line: &CentreLine<'_>| line.length() / (line.points().len() - 1).max(1) as f64;
    let (step, step_beside) = (spacing(&one), spacing(&other));
    let mut narrows: Vec<Narrow> = Vec::new();
    let mut at = beside.len() - 1;
    let mut was_narrow = false;
    for (number, point) in points.iter().enumerate() {
        // Both are driven through once, from opposite ends: the nearest point only moves on.
        while at > 0 && point.distance_squared(beside[at - 1]) <= point.distance_squared(beside[at])
        {
            at -= 1;
        }
        let distance = distance_to_line(*point, beside, at);
        let (s, s_beside) = (number as f64 * step, at as f64 * step_beside);
        let wanted = wanted_distance(
            one.curvature(s, BEND_REACH),
            other.curvature(s_beside, BEND_REACH),
        );
        let is_narrow = distance < wanted - TOLERANCE;
        if is_narrow {
            match narrows.last_mut().filter(|_| was_narrow) {
                Some(last) => {
                    (last.own.1, last.beside.1) = (s, s_beside);
                    if distance - wanted < last.distance - last.wanted {
                        (last.distance, last.wanted) = (distance, wanted);
                    }
                }
                None => narrows.push(Narrow {
                    own: (s, s),
                    beside: (s_beside, s_beside),
                    distance,
                    wanted,
                }),
            }
        }
        was_narrow = is_narrow;
    }
    narrows
}

/// Distance from a point to the pieces of a line at one of its points, m.
fn distance_to_line(point: DVec2, line: &[DVec2], at: usize) -> f64 {
    let piece = |from: usize, to: usize| {
        let along = line[to] - line[from];
        let share = (point - line[from]).dot(along) / along.length_squared().max(1e-12);
        point.distance(line[from] + share.clamp(0.0, 1.0) * along)
    };
    let before = at.checked_sub(1).map(|before| piece(before, at));
    let after = (at + 1 < line.len()).then(|| piece(at, at + 1));
    let both = before.into_iter().chain(after);
    both.fold(point.distance(line[at]), f64::min)
}

/// How far the middles of two lanes have to be from each other, by how they bend there, m.
fn wanted_distance(one: f64, other: f64) -> f64 {
    // Of the two only the one on the inside of the bend swings towards the other.
    let swing = |curvature: f64| Body::CAR.swing_at(1.0 / curvature.abs().max(1e-9));
    Body::CAR.width + ABREAST + swing(one).max(swing(other))
}
