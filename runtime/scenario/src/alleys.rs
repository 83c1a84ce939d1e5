//! Alleys: stretches of two-way roads that are too narrow for two vehicles side by side.
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
//! Alleys are derived from the lanes and never stored. Because vehicles drive in the middle of
//! their lanes, the distance between the centres of two opposite lanes determines whether they can
//! pass. It has to be at least [`ABREAST`] plus the distances by which the vehicles extend towards
//! each other: half their widths, and more where their fronts swing out in a bend. If two cars fit
//! side by side but a bus and a car do not, or only two buses do not, the stretch is an alley only
//! for those vehicles ([`Passing`]). An alley for two cars is inside one for a bus and a car, which
//! is inside one for two buses. A piece shorter than `PLACE` between an alley and the end of its
//! lane, or between two alleys, belongs to the alley, because no vehicle could wait there. On a
//! road that is narrow over its whole length, vehicles therefore wait at the stop line before it.
//!
//! In a bend, the front of a car swings out to one side only. If two cars do not fit on the centre
//! lines of their lanes but do fit on the carriageway, with [`ABREAST`] between them and [`EDGE`]
//! to each edge, the stretch is a [`TightPlace`] and not an alley: cars move over and slow down
//! there.

use crate::junction::{ABREAST, Body};
use crate::lane_graph::{LaneGraph, Lanelet, LaneletIndex, copied, runs};
use roadwright_geometry::DVec2;
use roadwright_geometry::centre_line::CentreLine;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Range;

/// Minimum length of a waiting place, m: two cars and the gap between them.
const PLACE: f64 = 15.0;
/// Tolerance for the required distance between lanes, m. It allows for the error of centre lines,
/// which are approximated by chords.
const TOLERANCE: f64 = 0.03;
/// Distance between a car that moves over and the edge of its lane, m.
pub const EDGE: f64 = 0.2;
/// Minimum distance between a tight place and each end of its lane, m. Vehicles move over and back within
/// this distance.
const TIGHT_ROOM: f64 = 15.0;
/// Distance before and after a point over which the bend at the point is measured, m.
const BEND_REACH: f64 = 2.0;
/// Swing-out below which a vehicle counts as driving straight, m.
const NO_SWING: f64 = 0.005;

/// The part of a lanelet that one direction of an alley occupies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AlleyDirection {
    /// The lanelet.
    pub lanelet: LaneletIndex,
    /// Start along the lanelet, m. It is 0 if vehicles wait before the lanelet.
    pub from: f64,
    /// End along the lanelet, m. It is the length of the lanelet if there is no waiting place after the
    /// alley.
    pub to: f64,
}

/// Vehicles that can pass each other in an alley. A vehicle counts as long if it exceeds a car in any
/// dimension or tows a trailer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Passing {
    /// No two vehicles can pass each other.
    Nobody,
    /// Cars can pass each other, but a long vehicle cannot pass any vehicle.
    Cars,
    /// Any two vehicles can pass each other unless both are long.
    NotTwoLong,
}

impl Passing {
    const ALL: [Self; 3] = [Self::Nobody, Self::Cars, Self::NotTwoLong];

    /// Whether two vehicles cannot pass each other and therefore have to take turns. The arguments
    /// state whether each vehicle is long.
    pub fn holds_up(self, one: bool, other: bool) -> bool {
        match self {
            Self::Nobody => true,
            Self::Cars => one || other,
            Self::NotTwoLong => one && other,
        }
    }

    /// Whether there is any kind of vehicle that the given vehicle cannot pass. `is_long` states
    /// whether the given vehicle is long.
    pub fn holds_up_any(self, is_long: bool) -> bool {
        match self {
            Self::Nobody | Self::Cars => true,
            Self::NotTwoLong => is_long,
        }
    }

    /// Returns the smallest pair of bodies that cannot pass each other.
    fn bodies(self) -> [Body; 2] {
        match self {
            Self::Nobody => [Body::CAR; 2],
            Self::Cars => [Body::CAR, Body::LONG],
            Self::NotTwoLong => [Body::LONG; 2],
        }
    }
}

/// A stretch that is too narrow for two vehicles side by side.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Alley {
    /// Both directions.
    pub directions: [AlleyDirection; 2],
    /// Vehicles that can pass each other in the alley.
    pub passing: Passing,
    /// Smallest distance between the centres of the two lanes, m.
    pub distance: f64,
    /// Distance between the lane centres that two vehicles would need to pass each other, m.
    pub wanted: f64,
}

/// A stretch on which two cars fit side by side only if they move towards the edges of the road.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TightPlace {
    /// Both directions.
    pub directions: [AlleyDirection; 2],
    /// Offset of cars from the centre line, for each direction, m, positive to the left.
    pub offsets: [f64; 2],
}

/// One of the two directions of an alley.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct AlleySide {
    /// Index of the alley in its lane graph.
    pub alley: u32,
    /// Whether this is the second of the two directions.
    pub is_second: bool,
}

impl AlleySide {
    /// Returns both directions of an alley.
    pub fn both(alley: u32) -> [Self; 2] {
        [false, true].map(|is_second| Self { alley, is_second })
    }

    /// Returns the other direction of the same alley.
    #[must_use]
    pub fn opposite(self) -> Self {
        Self {
            is_second: !self.is_second,
            ..self
        }
    }
}

/// Alleys and tight places of one lane section.
#[derive(Debug, Clone, Default)]
struct SectionPlaces {
    alleys: Vec<Alley>,
    tight: Vec<TightPlace>,
}

/// One direction of a tight place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TightStretch {
    /// Start along the lanelet, m.
    pub from: f64,
    /// End along the lanelet, m.
    pub to: f64,
    /// Offset of cars from the centre line, m, positive to the left.
    pub offset: f64,
    /// The same stretch on the lanelet of the opposite direction.
    pub opposite: AlleyDirection,
}

/// All alleys and tight places of a lane graph.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Alleys {
    list: Vec<Alley>,
    tight: Vec<TightPlace>,
    sides: ByLanelet<AlleySide>,
    tight_stretches: ByLanelet<TightStretch>,
}

/// An item on a lanelet, starting at the distance `from` along it, m.
struct Placed<T> {
    lanelet: LaneletIndex,
    from: f64,
    place: T,
}

/// Items of all lanelets, sorted by lanelet and in driving order.
#[derive(Debug, Clone, PartialEq)]
struct ByLanelet<T> {
    places: BTreeMap<LaneletIndex, Vec<T>>,
    /// Whether each lanelet has items. Empty if no lanelet has any.
    marked: Vec<bool>,
}

impl<T> Default for ByLanelet<T> {
    fn default() -> Self {
        Self {
            places: BTreeMap::new(),
            marked: Vec::new(),
        }
    }
}

impl<T> ByLanelet<T> {
    /// Sorts places by lanelet and position. `lanelets` is the number of lanelets of the graph.
    fn new(mut all: Vec<Placed<T>>, lanelets: usize) -> Self {
        let mut sorted = Self::default();
        if all.is_empty() {
            return sorted;
        }
        sorted.marked = vec![false; lanelets];
        all.sort_by(|a, b| a.from.total_cmp(&b.from));
        for Placed { lanelet, place, .. } in all {
            sorted.marked[lanelet.index()] = true;
            sorted.places.entry(lanelet).or_default().push(place);
        }
        sorted
    }

    /// Whether a lanelet has places. O(1).
    #[inline]
    fn has(&self, lanelet: LaneletIndex) -> bool {
        self.marked.get(lanelet.index()) == Some(&true)
    }

    /// Returns the places on a lanelet. O(log lanelets with places).
    #[inline]
    fn on(&self, lanelet: LaneletIndex) -> &[T] {
        if !self.has(lanelet) {
            return &[];
        }
        self.places.get(&lanelet).map_or(&[], Vec::as_slice)
    }
}

impl Alleys {
    /// Finds the alleys of a lane graph: those for two cars and, with `has_wide`, those for longer vehicles.
    /// O(points of two-way roads).
    pub fn of(graph: &LaneGraph, has_wide: bool) -> Self {
        Self::build(graph, has_wide, |_| None)
    }

    /// Finds the alleys of an edited lane graph. The result equals that of [`of`](Self::of), but the alleys
    /// of copied lanelets are reused. `copies` contains the earlier lanelet that each lanelet is a copy of,
    /// as in [`LaneGraph::after_edit`]. `has_wide` must not have changed. O(lanelets + points of two-way
    /// roads that are not copies).
    pub fn after_edit(&self, graph: &LaneGraph, has_wide: bool, copies: &[LaneletIndex]) -> Self {
        Self::build(graph, has_wide, |section| {
            // Roads are copied whole, so the distances between their lanelets stay the same.
            let copy = copied(copies, section.start)?;
            Some(self.moved(copy, section))
        })
    }

    /// Returns the places of an earlier section that starts at lanelet `copy`, mapped to the lanelets of `section`.
    fn moved(&self, copy: LaneletIndex, section: &Range<LaneletIndex>) -> SectionPlaces {
        let count = section.end.number() - section.start.number();
        let before = copy..LaneletIndex::new(copy.number() + count);
        let moved = |directions: [AlleyDirection; 2]| {
            directions.map(|direction| AlleyDirection {
                lanelet: LaneletIndex::new(
                    direction.lanelet.number() - copy.number() + section.start.number(),
                ),
                ..direction
            })
        };
        let first_sides = LaneletIndex::within(before.clone()).flat_map(|lanelet| self.on(lanelet));
        let mut numbers: Vec<u32> = first_sides
            .filter(|side| !side.is_second)
            .map(|side| side.alley)
            .collect();
        numbers.sort_unstable();
        let alleys = numbers.iter().map(|&number| {
            let alley = &self.list[number as usize];
            Alley {
                directions: moved(alley.directions),
                ..*alley
            }
        });
        let first_of = |place: &TightPlace| place.directions[0].lanelet;
        let start = self
            .tight
            .partition_point(|place| first_of(place) < before.start);
        let tight = self.tight[start..].iter();
        let tight = tight.take_while(|place| first_of(place) < before.end);
        SectionPlaces {
            alleys: alleys.collect(),
            tight: tight
                .map(|place| TightPlace {
                    directions: moved(place.directions),
                    ..*place
                })
                .collect(),
        }
    }

    /// Finds the places of all lane sections, reusing `known` results where available.
    fn build(
        graph: &LaneGraph,
        has_wide: bool,
        known: impl Fn(&Range<LaneletIndex>) -> Option<SectionPlaces>,
    ) -> Self {
        let kinds = match has_wide {
            true => &Passing::ALL[..],
            false => &Passing::ALL[..1],
        };
        let mut alleys = Self::default();
        let is_lane = |section: &Range<LaneletIndex>| !graph.lanelet(section.start).is_connection();
        for section in runs(graph.lanelets(), Lanelet::section).filter(is_lane) {
            let found = known(&section).or_else(|| {
                let (one, other) = opposite_lanes(graph, section)?;
                let pair = [one, other].map(|id| (id, graph.lanelet(id).width));
                let lanes = Lanes::new(graph.line(one), graph.line(other), pair);
                let mut places = SectionPlaces::default();
                for &kind in kinds {
                    between(&lanes, kind, &mut places);
                }
                Some(places)
            });
            let SectionPlaces {
                alleys: narrow,
                tight,
            } = found.unwrap_or_default();
            alleys.list.extend(narrow);
            alleys.tight.extend(tight);
        }
        alleys.list_places(graph.lanelets().len());
        alleys
    }

    /// Lists the alley sides and tight stretches of each lanelet. `lanelets` is the number of
    /// lanelets.
    fn list_places(&mut self, lanelets: usize) {
        let alleys = (0..).zip(&self.list);
        let sides = alleys.flat_map(|(number, alley)| {
            let directions = alley.directions.into_iter();
            let sides = directions.zip(AlleySide::both(number));
            sides.map(|(direction, side)| Placed {
                lanelet: direction.lanelet,
                from: direction.from,
                place: side,
            })
        });
        let stretches = self.tight.iter().flat_map(|place| {
            [0, 1].map(|side| {
                let (own, opposite) = (place.directions[side], place.directions[1 - side]);
                Placed {
                    lanelet: own.lanelet,
                    from: own.from,
                    place: TightStretch {
                        from: own.from,
                        to: own.to,
                        offset: place.offsets[side],
                        opposite,
                    },
                }
            })
        });
        self.sides = ByLanelet::new(sides.collect(), lanelets);
        self.tight_stretches = ByLanelet::new(stretches.collect(), lanelets);
    }

    /// Returns all tight places, in ascending order of road.
    pub fn tight(&self) -> &[TightPlace] {
        &self.tight
    }

    /// Returns the tight places on a lanelet, in driving order. O(log lanelets with tight places).
    #[inline]
    pub fn tight_on(&self, lanelet: LaneletIndex) -> &[TightStretch] {
        self.tight_stretches.on(lanelet)
    }

    /// Whether there are no alleys.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns all alleys, in ascending order of road.
    pub fn list(&self) -> &[Alley] {
        &self.list
    }

    /// Whether a lanelet has alleys. O(1).
    #[inline]
    pub fn are_on(&self, lanelet: LaneletIndex) -> bool {
        self.sides.has(lanelet)
    }

    /// Returns the alley directions on a lanelet, in driving order. O(log lanelets with alleys).
    #[inline]
    pub fn on(&self, lanelet: LaneletIndex) -> &[AlleySide] {
        self.sides.on(lanelet)
    }

    /// Returns the vehicles that can pass each other in an alley.
    #[inline]
    pub fn passing(&self, side: AlleySide) -> Passing {
        self.list[side.alley as usize].passing
    }

    /// Returns the part of a lanelet that an alley side occupies.
    #[inline]
    pub fn direction(&self, side: AlleySide) -> AlleyDirection {
        self.list[side.alley as usize].directions[usize::from(side.is_second)]
    }
}

/// Returns the two closest lanes of opposite directions in a lane section; `None` if all lanes have
/// the same direction. Traffic on the first lane drives in the direction of increasing s.
fn opposite_lanes(
    graph: &LaneGraph,
    section: Range<LaneletIndex>,
) -> Option<(LaneletIndex, LaneletIndex)> {
    let (along, against): (Vec<_>, Vec<_>) =
        LaneletIndex::within(section).partition(|&id| is_forward(graph.lanelet(id)));
    let middle = |id: LaneletIndex| {
        let line = graph.line(id);
        line.position(0.5 * line.length())
    };
    let pairs = along
        .iter()
        .flat_map(|&a| against.iter().map(move |&b| (a, b)));
    pairs.min_by(|&(a, b), &(c, d)| {
        let distance = |a, b| middle(a).distance_squared(middle(b));
        distance(a, b).total_cmp(&distance(c, d))
    })
}

fn is_forward(lanelet: &Lanelet) -> bool {
    lanelet.road_span.1 > lanelet.road_span.0
}

/// A stretch where two lanelets are too close to each other, in the driving direction of the first
/// lanelet. Positions are distances from the start of each lanelet, m.
#[derive(Clone, Copy)]
struct Narrow {
    own: (f64, f64),
    /// Positions on the second lanelet that are alongside the start and the end of the stretch.
    beside: (f64, f64),
    distance: f64,
    wanted: f64,
}

/// Finds the alleys of one kind, and the tight places, between two lanelets of opposite directions.
fn between(lanes: &Lanes<'_>, passing: Passing, places: &mut SectionPlaces) {
    let [one, other] = [&lanes.one, &lanes.other].map(|lane| lane.id);
    let lengths = [lanes.one.line.length(), lanes.other.line.length()];
    let bodies = passing.bodies();
    let front = bodies[0].front.max(bodies[1].front);
    let mut narrows: Vec<Narrow> = Vec::new();
    for narrow in lanes.narrow_places(bodies) {
        if passing == Passing::Nobody
            && let Some(place) = lanes.tight_place(&narrow, front)
        {
            places.tight.push(place);
            continue;
        }
        match narrows.last_mut() {
            // A vehicle that waits between two alleys must be clear of both.
            Some(last) if narrow.own.0 - last.own.1 < PLACE + 2.0 * front => {
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
        directions: [
            direction(one, lengths[0], narrow.own.0, narrow.own.1, front),
            // The second lanelet is driven in the opposite direction.
            direction(other, lengths[1], narrow.beside.1, narrow.beside.0, front),
        ],
        passing,
        distance: narrow.distance,
        wanted: narrow.wanted,
    };
    let mut alleys: Vec<Alley> = narrows.into_iter().map(alley).collect();
    // If the piece before or after the alley is too short to wait on in one direction, it is
    // treated as too short in the other direction as well.
    for alley in &mut alleys {
        let [a, b] = &mut alley.directions;
        if a.from == 0.0 || b.to == lengths[1] {
            (a.from, b.to) = (0.0, lengths[1]);
        }
        if b.from == 0.0 || a.to == lengths[0] {
            (b.from, a.to) = (0.0, lengths[0]);
        }
    }
    places.alleys.append(&mut alleys);
}

/// Returns a part of a lanelet, extended at both ends by `front`, which is the distance from a vehicle's rear
/// axle to its front. If there is no room for a waiting place beyond an end, the part extends to the end of
/// the lanelet.
fn direction(lanelet: LaneletIndex, length: f64, from: f64, to: f64, front: f64) -> AlleyDirection {
    let (from, to) = (from - front, to + front);
    AlleyDirection {
        lanelet,
        from: if from < PLACE { 0.0 } else { from },
        to: if length - to < PLACE { length } else { to },
    }
}

/// A lane with its curvature at sampled points.
struct Lane<'a> {
    id: LaneletIndex,
    line: CentreLine<'a>,
    /// Mean width, m.
    width: f64,
    /// Distance between consecutive points, m.
    step: f64,
    /// Absolute curvature at each point, 1/m.
    bends: Vec<f64>,
    /// Largest absolute curvature of the lane, 1/m.
    tightest: f64,
}

impl<'a> Lane<'a> {
    fn new(line: CentreLine<'a>, id: LaneletIndex, width: f64) -> Self {
        let count = line.count();
        let step = line.length() / (count - 1).max(1) as f64;
        let bends: Vec<f64> = line.curvatures(BEND_REACH).map(f64::abs).collect();
        Self {
            id,
            line,
            width,
            step,
            tightest: bends.iter().copied().fold(0.0, f64::max),
            bends,
        }
    }

    /// Returns the possible positions of the rear axle while the body covers `point`, as a range of
    /// point indices.
    fn below(&self, point: usize, body: Body) -> Range<usize> {
        let points = |length: f64| (length / self.step).ceil() as usize;
        let first = point.saturating_sub(points(body.front));
        first..(point + points(body.rear) + 1).min(self.bends.len())
    }

    /// Returns the largest curvature of the lane over the possible positions of a body that covers
    /// `point`, 1/m.
    fn bend_below(&self, point: usize, body: Body) -> f64 {
        let bends = self.bends[self.below(point, body)].iter();
        bends.copied().fold(0.0, f64::max)
    }

    /// Returns a point of the centre line and the direction of the line at this point.
    fn tangent(&self, point: usize) -> (DVec2, DVec2) {
        let last = self.line.count() - 1;
        let (before, after) = (point.saturating_sub(1), (point + 1).min(last));
        let along = self.point(after) - self.point(before);
        (self.point(point), along.normalize_or_zero())
    }

    fn point(&self, number: usize) -> DVec2 {
        self.line.poses()[number].position
    }
}

/// The position on the second of two opposite lanes that is alongside a point of the first lane.
struct Beside {
    /// Index of the nearest point of the second lane.
    point: usize,
    /// Distance to the second lane, m.
    distance: f64,
}

/// Distances between two lane centres that are certainly large enough for two bodies side by side.
struct Enough {
    /// Distance that suffices on a straight street, m.
    straight: f64,
    /// Distance that suffices in the tightest bend of the lanes, m.
    in_bend: f64,
}

impl Enough {
    /// Computes the distances for two bodies. `bend` gives the largest curvature under a body, 1/m.
    fn of(bodies: [Body; 2], bend: impl Fn(Body) -> f64) -> Self {
        let [one, other] = bodies;
        let swing = |body: Body| body.swing_at(1.0 / bend(body).max(1e-9));
        let swing = f64::max(swing(one), swing(other));
        let straight = 0.5 * (one.width + other.width) + ABREAST;
        Self {
            straight,
            in_bend: match swing < NO_SWING {
                true => f64::NEG_INFINITY,
                false => straight + 2.0 * swing,
            },
        }
    }

    fn is_met_by(&self, distance: f64) -> bool {
        distance >= self.in_bend
    }
}

/// Two opposite lanes, with the positions on the second lane that are alongside each point of the
/// first.
struct Lanes<'a> {
    one: Lane<'a>,
    other: Lane<'a>,
    /// For each point of the first lane, the position on the second lane that is alongside it.
    beside: Vec<Beside>,
}

impl<'a> Lanes<'a> {
    fn new(one: CentreLine<'a>, other: CentreLine<'a>, lanes: [(LaneletIndex, f64); 2]) -> Self {
        let line: Vec<DVec2> = other.points().collect();
        let mut point = line.len() - 1;
        let beside = one.points().map(|here| {
            // Each lane is traversed only once, from opposite ends, so the nearest point only moves forwards.
            let square = |i: usize| here.distance_squared(line[i]);
            while point > 0 && square(point - 1) <= square(point) {
                point -= 1;
            }
            let distance = distance_to_line(here, &line, point);
            Beside { point, distance }
        });
        let beside = beside.collect();
        Self {
            one: Lane::new(one, lanes[0].0, lanes[0].1),
            other: Lane::new(other, lanes[1].0, lanes[1].1),
            beside,
        }
    }

    /// Returns the stretches where two bodies do not fit side by side, as ranges of points of the
    /// first lane.
    fn narrow_places(&self, bodies: [Body; 2]) -> Vec<Narrow> {
        let mut narrows: Vec<Narrow> = Vec::new();
        let mut was_narrow = false;
        let tightest = f64::max(self.one.tightest, self.other.tightest);
        // Most streets are wide enough even for their tightest bend. For them, the curvature at
        // each point does not have to be computed.
        let enough = Enough::of(bodies, |_| tightest);
        for (number, &Beside { point, distance }) in self.beside.iter().enumerate() {
            let wanted = match enough.is_met_by(distance) {
                true => enough.straight,
                false => self.wanted_distance(number, bodies),
            };
            let (s, s_beside) = (
                number as f64 * self.one.step,
                point as f64 * self.other.step,
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

    /// Returns the tight place at a narrow stretch for two cars; `None` if the cars do not fit side by side even
    /// after moving over. `front` is the distance from a car's rear axle to its front, m.
    fn tight_place(&self, narrow: &Narrow, front: f64) -> Option<TightPlace> {
        let lengths = [self.one.line.length(), self.other.line.length()];
        let directions = [
            (self.one.id, narrow.own.0, narrow.own.1),
            // The second lane is driven in the opposite direction.
            (self.other.id, narrow.beside.1, narrow.beside.0),
        ];
        let directions = directions.map(|(lanelet, from, to)| AlleyDirection {
            lanelet,
            from: from - front,
            to: to + front,
        });
        let mut pairs = directions.iter().zip(lengths);
        if pairs.any(|(place, length)| place.from < TIGHT_ROOM || place.to > length - TIGHT_ROOM) {
            return None;
        }
        let numbers = (narrow.own.0 / self.one.step).round() as usize
            ..=(narrow.own.1 / self.one.step).round() as usize;
        let [mut one, mut other] = [f64::INFINITY; 2];
        for number in numbers {
            let rooms = self.outer_rooms(number);
            (one, other) = (one.min(rooms[0]), other.min(rooms[1]));
        }
        let (one, other) = (one.max(0.0), other.max(0.0));
        let missing = narrow.wanted - narrow.distance;
        if missing > one + other {
            return None;
        }
        let share = missing / (one + other);
        let outwards = -f64::signum(self.other_is_left());
        Some(TightPlace {
            directions,
            offsets: [one, other].map(|room| outwards * share * room),
        })
    }

    /// Returns the distances by which the cars on the two lanes can move apart at a point of the
    /// first lane, m. A distance is negative if the car is already too close to the edge.
    fn outer_rooms(&self, number: usize) -> [f64; 2] {
        let Beside { point, distance } = self.beside[number];
        let between = self.other.point(point) - self.one.point(number);
        let room = |lane: &Lane<'_>, point: usize, outwards: DVec2| {
            let half = 0.5 * lane.width.min(distance);
            half - reach_beside(lane, point, Body::CAR, outwards) - EDGE
        };
        [
            room(&self.one, number, -between),
            room(&self.other, point, between),
        ]
    }

    /// Returns a positive number if each lane is to the left of the other in its own driving
    /// direction, and a negative one otherwise.
    fn other_is_left(&self) -> f64 {
        let number = self.beside.len() / 2;
        let (here, forward) = self.one.tangent(number);
        let there = self.other.point(self.beside[number].point);
        forward.perp_dot(there - here)
    }

    /// Returns the required distance between the lane centres at a point of the first lane, m. It
    /// suffices for either assignment of the two bodies to the lanes. It is exact where the bodies
    /// may not fit; where they certainly fit, it is only the distance for a straight street.
    fn wanted_distance(&self, number: usize, bodies: [Body; 2]) -> f64 {
        let [one, other] = bodies;
        let Beside { point, distance } = self.beside[number];
        let bend = |body: Body| {
            f64::max(
                self.one.bend_below(number, body),
                self.other.bend_below(point, body),
            )
        };
        let enough = Enough::of(bodies, bend);
        // Nearly all lanes are straight, or far enough apart for any bend.
        if enough.is_met_by(distance) {
            return enough.straight;
        }
        let between = self.other.point(point) - self.one.point(number);
        let beside = |one: Body, other: Body| {
            reach_beside(&self.one, number, one, between)
                + reach_beside(&self.other, point, other, -between)
        };
        let widest = match one == other {
            true => beside(one, other),
            false => beside(one, other).max(beside(other, one)),
        };
        ABREAST + widest
    }
}

/// Returns the distance from a point to the two segments of a line that meet at the line's point
/// number `at`, m.
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

/// Returns how far a body extends to one side of a point of a line while its rear axle follows the
/// line, m. `towards` selects the side.
///
/// ```text
///                   .--------.
///       ----o------|--- .----'------     The side of the body is a straight line. Where it intersects the
///     rear axle    |'--'  point          normal of the point gives the distance, for each axle position.
/// ```
fn reach_beside(lane: &Lane<'_>, point: usize, body: Body, towards: DVec2) -> f64 {
    let (place, forward) = lane.tangent(point);
    // Returns the normal of a direction that points to the given side.
    let across = |direction: DVec2, side: DVec2| match direction.perp().dot(side) < 0.0 {
        true => -direction.perp(),
        false => direction.perp(),
    };
    let normal = across(forward, towards);
    let mut reach = 0.5 * body.width;
    for axle in lane.below(point, body) {
        let (axle, ahead) = lane.tangent(axle);
        let corner = axle + 0.5 * body.width * across(ahead, normal) - place;
        let along = -corner.dot(forward) / ahead.dot(forward).max(0.1);
        // Axle positions are sampled one step apart, so a front that stops just short of the point
        // still counts as reaching it.
        if (-body.rear..=body.front + lane.step).contains(&along) {
            reach = reach.max((corner + along.min(body.front) * ahead).dot(normal));
        }
    }
    reach
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::junction::layout;
    use crate::scenario::Scenario;
    use crate::testing::draw_street;
    use proptest::prelude::*;
    use roadwright_geometry::{Pose, ReferenceLine, Segment};

    /// Creates a street with lanes of a given width and alternating bends to the left and right.
    fn street(width: f64, bends: &[(f64, f64)]) -> LaneGraph {
        let mut segments = vec![Segment::Line { length: 60.0 }];
        for (i, &(radius, angle)) in bends.iter().enumerate() {
            let sign = if i % 2 == 0 { 1.0 } else { -1.0 };
            segments.push(Segment::Arc {
                length: radius * angle,
                curvature: sign / radius,
            });
            segments.push(Segment::Line { length: 60.0 });
        }
        let line = ReferenceLine::new(Pose::new(0.0, 0.0, 0.0), segments).unwrap();
        let mut scenario = Scenario::new("street");
        draw_street(&mut scenario, &line, width, 8.0);
        let layout = layout(scenario.network(), scenario.about());
        LaneGraph::new(&scenario, &layout)
    }

    fn kinds(graph: &LaneGraph, has_wide: bool) -> Vec<Passing> {
        let alleys = Alleys::of(graph, has_wide);
        alleys.list().iter().map(|alley| alley.passing).collect()
    }

    #[test]
    fn who_fits_beside_whom_follows_from_widths_and_bends() {
        use Passing::{Cars, Nobody, NotTwoLong};
        // The required widths are 1.9 + 0.3, 0.5 (1.9 + 2.55) + 0.3, and 2.55 + 0.3 m.
        for (width, wanted) in [
            (2.9, &[][..]),
            (2.8, &[NotTwoLong]),
            (2.54, &[NotTwoLong]),
            (2.45, &[Cars, NotTwoLong]),
            (2.15, &[Nobody, Cars, NotTwoLong]),
        ] {
            assert_eq!(kinds(&street(width, &[]), true), wanted, "{width} m");
            let cars: Vec<Passing> = wanted
                .iter()
                .copied()
                .filter(|&kind| kind == Nobody)
                .collect();
            assert_eq!(kinds(&street(width, &[]), false), cars, "{width} m");
        }
        // The front of a bus is 8 m ahead of its rear axle, so it swings out by 1.2 m in a bend
        // with a radius of 25 m.
        assert_eq!(
            kinds(&street(3.3, &[(25.0, 1.5)]), true),
            [Cars, NotTwoLong]
        );
        assert_eq!(kinds(&street(3.3, &[(400.0, 0.5)]), true), []);
        // Lanes of 2.3 m are alleys for cars in bends with a radius below about 60 m.
        assert_eq!(kinds(&street(2.3, &[(30.0, 1.5)]), false), [Nobody]);
        assert_eq!(kinds(&street(2.3, &[(90.0, 1.0)]), false), []);
        // In a bend that is only 1 m long, the bus hardly turns, so it hardly swings out, however
        // tight the bend is.
        assert_eq!(kinds(&street(3.3, &[(25.0, 0.04)]), true), []);
    }

    #[test]
    fn cars_move_over_in_bends_where_the_carriageway_is_wide_enough() {
        for (width, radius) in [(2.8, 10.0), (2.7, 12.0), (2.6, 16.0)] {
            let graph = street(width, &[(radius, 1.5)]);
            let places = Alleys::of(&graph, false);
            assert!(places.list().is_empty(), "{width} m, {radius} m");
            assert!(!places.tight().is_empty(), "{width} m, {radius} m");
            for place in places.tight() {
                // Both cars move to the right. Their offsets add up to the missing width.
                assert!(place.offsets.iter().all(|&offset| offset <= 0.0));
                let sum: f64 = place.offsets.iter().sum();
                assert!((-0.8..-TOLERANCE).contains(&sum), "{sum}");
                for direction in place.directions {
                    let mut listed = places.tight_on(direction.lanelet).iter();
                    assert!(listed.any(|stretch| stretch.from == direction.from));
                }
            }
        }
        // No vehicle has to move over if the lanes or the bend are wide enough.
        let places = Alleys::of(&street(3.0, &[(10.0, 1.5), (60.0, 1.0)]), false);
        assert!(places.tight().is_empty() && places.list().is_empty());
    }

    #[test]
    fn who_waits_for_whom() {
        for (one, other, held_up) in [
            (false, false, [true, false, false]),
            (false, true, [true, true, false]),
            (true, true, [true, true, true]),
        ] {
            assert_eq!(Passing::ALL.map(|kind| kind.holds_up(one, other)), held_up);
            assert_eq!(Passing::ALL.map(|kind| kind.holds_up(other, one)), held_up);
        }
    }

    proptest! {
        /// Checks that alleys are nested. Vehicles rely on this. They acquire two alleys at once
        /// only if one contains the other, because they do not wait within an alley for a smaller
        /// one in it.
        #[test]
        fn an_alley_lies_within_those_of_longer_vehicles(
            width in 1.8..3.4f64,
            bends in prop::collection::vec((8.0..80.0f64, 0.1..1.2f64), 0..4),
        ) {
            let graph = street(width, &bends);
            let alleys = Alleys::of(&graph, true);
            let of = |kind: Passing| alleys.list().iter().filter(move |alley| alley.passing == kind);
            for (inner, outer) in [(Passing::Nobody, Passing::Cars), (Passing::Cars, Passing::NotTwoLong)] {
                for small in of(inner) {
                    let holds = |large: &&Alley| {
                        let mut pairs = small.directions.iter().zip(&large.directions);
                        pairs.all(|(a, b)| a.lanelet == b.lanelet && b.from <= a.from && b.to >= a.to)
                    };
                    prop_assert!(of(outer).any(|large| holds(&large)), "{small:?}");
                }
            }
        }
    }
}
