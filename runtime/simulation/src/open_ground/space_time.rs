//! Search for a walk among moving characters: where to walk, and when to wait.
//!
//! For each cell around a character, the search knows when another character is too close. A state
//! of the search is a cell together with an interval in which the cell is free. The search reaches
//! each state as early as possible ([Phillips 2011]). Thus it finds the earliest arrival, including
//! waits, without a node for each time slot.

use super::walking::{Apart, Moment};
use roadwright_geometry::DVec2;
use roadwright_planning::open_ground::{Cell, CellSize, GridMap};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// Number of words that store the time slots of a cell.
const WORDS: usize = 5;
/// Number of time slots of a search.
pub(super) const SLOTS: u32 = WORDS as u32 * u128::BITS;
/// Duration of a slot, s.
pub(super) const SLOT: f64 = 0.1;
/// Duration of a slot, ms.
const SLOT_MS: u32 = 100;
/// Maximum number of states that a search expands.
const MOST: u32 = 20_000;
/// A cell with at least this cost factor counts as too close to obstacles for the usual clearance.
const NEAR_OBSTACLES: u32 = 32;
/// Cost factor of a cell without obstacles near it.
const PLAIN: u32 = 16;
/// Relative increase of a step's duration divided by the relative increase of the cost factor that
/// causes it.
const SLOWER: f64 = 0.25;
/// Offsets of the adjacent cells.
const BESIDE: [(i32, i32); 8] = [
    (1, 0),
    (0, 1),
    (-1, 0),
    (0, -1),
    (1, 1),
    (-1, 1),
    (-1, -1),
    (1, -1),
];
/// Steps to cells without the usual clearance take longer by this factor. A character close to an
/// obstacle therefore moves away from the obstacle first.
const TIGHT: f64 = 2.0;
/// Cells fewer than this many columns and rows from the start or the target are open even without
/// the usual clearance.
const AT_START: u32 = 3;
/// Maximum number of steps that are joined into a straight line.
const LONGEST_CHORD: usize = 12;

/// Set of time slots, with one bit per slot.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Slots([u128; WORDS]);

impl Slots {
    const NONE: Self = Self([0; WORDS]);
    const ALL: Self = Self([u128::MAX; WORDS]);

    fn has(&self, slot: u32) -> bool {
        let word = self.0[(slot / u128::BITS) as usize];
        word >> (slot % u128::BITS) & 1 == 1
    }

    /// Adds the slots of `other` to this set.
    fn add(&mut self, other: &Self) {
        for (word, other) in self.0.iter_mut().zip(other.0) {
            *word |= other;
        }
    }

    fn insert(&mut self, slot: u32) {
        self.0[(slot / u128::BITS) as usize] |= 1 << (slot % u128::BITS);
    }

    /// Returns the first slot at or after `slot` that is in the set or, if `is_in` is false, not in
    /// the set; `SLOTS` if there is none.
    fn next(&self, slot: u32, is_in: bool) -> u32 {
        let mut from = slot;
        while from < SLOTS {
            let word = self.0[(from / u128::BITS) as usize];
            let word = if is_in { word } else { !word } >> (from % u128::BITS);
            if word != 0 {
                return from + word.trailing_zeros();
            }
            from = (from / u128::BITS + 1) * u128::BITS;
        }
        SLOTS
    }

    /// Returns the first slot of the free interval that contains `slot`, which must be free.
    fn begin(&self, slot: u32) -> u32 {
        let mut at = slot;
        loop {
            let (word, bit) = ((at / u128::BITS) as usize, at % u128::BITS);
            // The slots up to this one, with this one in the highest bit.
            let free = (self.0[word] << (u128::BITS - 1 - bit))
                .leading_zeros()
                .min(bit + 1);
            at = at + 1 - free;
            if free < bit + 1 || at == 0 || self.has(at - 1) {
                return at;
            }
            at -= 1;
        }
    }
}

/// A map of cells with the times at which they are occupied.
pub(super) struct SpaceTime {
    map: GridMap,
    columns: u32,
    size: CellSize,
    /// For each cell, the time slots in which another character is too close.
    taken: Vec<Slots>,
    /// Walking time from each cell to the target without other characters, ms.
    left: Vec<u32>,
    /// Time of the first slot, s.
    begin: f64,
    /// Walking speed, m/s.
    speed: f64,
}

/// Clearance from obstacles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Room {
    /// The usual clearance.
    Usual,
    /// Only the character's own outline, without additional clearance.
    Narrow,
}

/// Start, target and clearance of a search.
#[derive(Clone, Copy)]
struct Query {
    start: Cell,
    target: Cell,
    room: Room,
}

/// A state of the search: a cell, the time of arrival (ms), and the previous state.
#[derive(Clone, Copy)]
struct State {
    cell: Cell,
    time: u32,
    before: u32,
}

/// A walk that a search has found.
pub(super) struct FoundWalk {
    /// Positions and times, beginning with the character's position.
    pub(super) moments: Vec<Moment>,
    /// Whether the walk ends at the target. Otherwise, it ends at the nearest place where the
    /// character can stay.
    pub(super) arrives: bool,
}

impl SpaceTime {
    /// Creates a search over a map without other characters.
    pub(super) fn new(map: GridMap, size: CellSize, begin: f64, speed: f64) -> Self {
        Self {
            taken: vec![Slots::NONE; map.area() as usize],
            left: Vec::new(),
            columns: map.columns(),
            map,
            size,
            begin,
            speed,
        }
    }

    /// Marks the cells that are too near to a character as occupied. `place` returns the position
    /// of the character at a given time (s), or `None` once it has left.
    pub(super) fn take(&mut self, apart: Apart, place: impl Fn(f64) -> Option<DVec2>) {
        let mut slot = 0;
        let at = |slot: u32| place(self.begin + (f64::from(slot) + 0.5) * SLOT);
        let mut runs = Vec::new();
        while slot < SLOTS {
            let here = at(slot);
            let mut mask = Slots::NONE;
            mask.insert(slot);
            slot += 1;
            // All slots during which the character stands still are entered at once.
            while slot < SLOTS && at(slot) == here {
                mask.insert(slot);
                slot += 1;
            }
            if let Some(here) = here {
                runs.push((here, mask));
            }
        }
        for (here, mask) in runs {
            self.take_around(here, apart, &mask);
        }
    }

    fn take_around(&mut self, at: DVec2, apart: Apart, mask: &Slots) {
        let Some(middle) = self.size.cell_of(at) else {
            return;
        };
        let cells = (apart.reach() / self.size.metres()).ceil() as i32;
        for y in -cells..=cells {
            for x in -cells..=cells {
                let cell = Cell::new(middle.x + x, middle.y + y);
                let is_near = apart.is_near(self.size.centre(cell) - at);
                if let Some(index) = self.index_of(cell).filter(|_| is_near) {
                    self.taken[index].add(mask);
                }
            }
        }
    }

    /// Index of a cell in `taken`; `None` off the map.
    fn index_of(&self, cell: Cell) -> Option<usize> {
        self.map.index_of(cell)?;
        let origin = self.map.origin();
        let (x, y) = (cell.x.abs_diff(origin.x), cell.y.abs_diff(origin.y));
        Some((y * self.columns + x) as usize)
    }

    fn taken(&self, cell: Cell) -> Slots {
        self.index_of(cell)
            .map_or(Slots::ALL, |index| self.taken[index])
    }

    fn is_open(&self, cell: Cell, query: &Query) -> bool {
        if self.map.index_of(cell).is_none() {
            return false;
        }
        let factor = self.map.factor_at(cell);
        let is_near = |other: Cell| {
            let away = cell.distance(other);
            away.columns.max(away.rows) < AT_START
        };
        let is_usual = || factor < NEAR_OBSTACLES || is_near(query.start) || is_near(query.target);
        factor > 0 && (query.room == Room::Narrow || is_usual())
    }

    /// Walking time from a cell to an adjacent one, ms. People walk more slowly near obstacles.
    fn duration(&self, from: Cell, to: Cell) -> u32 {
        let is_diagonal = from.x != to.x && from.y != to.y;
        let length = self.size.metres()
            * if is_diagonal {
                std::f64::consts::SQRT_2
            } else {
                1.0
            };
        let factor = |cell: Cell| f64::from(self.map.factor_at(cell)) / f64::from(PLAIN);
        let slower = 1.0 + SLOWER * (0.5 * (factor(from) + factor(to)) - 1.0).clamp(0.0, 3.0);
        let tight = match self.map.factor_at(to) >= NEAR_OBSTACLES {
            true => TIGHT,
            false => 1.0,
        };
        (1000.0 * length * slower * tight / self.speed).ceil() as u32
    }

    /// Lower bound of the time from a cell to the target, ms; `None` if it cannot be reached.
    fn estimate(&self, cell: Cell) -> Option<u32> {
        let left = *self.left.get(self.index_of(cell)?)?;
        (left < u32::MAX).then_some(left)
    }

    /// Computes the walking times from all cells to the target without other characters.
    fn estimate_all(&mut self, query: &Query) {
        let mut left = vec![u32::MAX; self.taken.len()];
        let mut open = BinaryHeap::new();
        if let Some(index) = self.index_of(query.target) {
            left[index] = 0;
            open.push(Reverse((0u32, key(query.target))));
        }
        while let Some(Reverse((time, (x, y)))) = open.pop() {
            let cell = Cell::new(x, y);
            if self.index_of(cell).is_none_or(|index| left[index] != time) {
                continue;
            }
            for next in self.beside(query, cell) {
                let reached = time + self.duration(next, cell);
                if let Some(index) = self.index_of(next).filter(|&at| reached < left[at]) {
                    left[index] = reached;
                    open.push(Reverse((reached, key(next))));
                }
            }
        }
        self.left = left;
    }

    /// Open cells adjacent to a cell.
    fn beside<'a>(&'a self, query: &'a Query, from: Cell) -> impl Iterator<Item = Cell> + 'a {
        BESIDE.into_iter().filter_map(move |(x, y)| {
            let cell = Cell::new(from.x + x, from.y + y);
            let is_open = |cell: Cell| self.is_open(cell, query);
            let is_diagonal = x != 0 && y != 0;
            let is_past_corner =
                || is_open(Cell::new(cell.x, from.y)) && is_open(Cell::new(from.x, cell.y));
            (is_open(cell) && (!is_diagonal || is_past_corner())).then_some(cell)
        })
    }

    /// Finds the walk with the earliest arrival from one place to another. The walk begins after `delay`
    /// seconds. `None` if the target cannot be reached even without other characters, or if there is neither a
    /// walk nor a place where the character can stay.
    pub(super) fn find(
        &mut self,
        from: DVec2,
        to: DVec2,
        delay: f64,
        room: Room,
    ) -> Option<FoundWalk> {
        let (start, target) = (self.size.cell_of(from)?, self.size.cell_of(to)?);
        let query = Query {
            start,
            target,
            room,
        };
        self.estimate_all(&query);
        let mut states = vec![State {
            cell: start,
            time: (1000.0 * delay.clamp(0.0, 3.0)) as u32,
            before: 0,
        }];
        let mut open = BinaryHeap::from([Reverse((self.estimate(start)?, 0u32))]);
        let mut reached: BTreeMap<(Cell2, u32), u32> = BTreeMap::new();
        let mut refuge: Option<(u32, u32, u32)> = None;
        let mut expanded = 0;
        while let Some(Reverse((_, number))) = open.pop() {
            let state = states[number as usize];
            let run = self.run(state);
            let known = reached.get(&(key(state.cell), run.from));
            if known.is_some_and(|&time| time < state.time) {
                continue;
            }
            if state.cell == target {
                return Some(self.walk(&query, &states, number, [from, to]));
            }
            if run.until >= SLOTS {
                let left = self.estimate(state.cell).unwrap_or(u32::MAX);
                let rank = (left, state.time, number);
                refuge = Some(refuge.map_or(rank, |best| best.min(rank)));
            }
            expanded += 1;
            if expanded > MOST {
                break;
            }
            self.expand(&query, state, run, |next| {
                let own = (key(next.cell), self.run(next).from);
                let best = reached.entry(own).or_insert(u32::MAX);
                let left = self.estimate(next.cell);
                if let Some(left) = left.filter(|_| next.time < *best) {
                    *best = next.time;
                    let rank = next.time + left;
                    open.push(Reverse((rank, states.len() as u32)));
                    states.push(State {
                        before: number,
                        ..next
                    });
                }
            });
        }
        refuge.map(|(_, _, number)| {
            let end = self.size.centre(states[number as usize].cell);
            let mut walk = self.walk(&query, &states, number, [from, end]);
            walk.arrives = false;
            walk
        })
    }

    /// Free interval of a state. If the character begins too close to another one, it has one
    /// second to leave the cell, and the interval is this second.
    fn run(&self, state: State) -> Run {
        let slot = (state.time / SLOT_MS).min(SLOTS - 1);
        let taken = self.taken(state.cell);
        if taken.has(slot) {
            return Run {
                from: slot,
                until: (slot + 10).min(SLOTS - 1),
            };
        }
        Run {
            from: taken.begin(slot),
            until: taken.next(slot, true),
        }
    }

    /// Calls `visit` with the earliest arrivals in the free intervals of the adjacent cells.
    fn expand(&self, query: &Query, state: State, run: Run, mut visit: impl FnMut(State)) {
        let latest = run.until * SLOT_MS;
        for cell in self.beside(query, state.cell) {
            let duration = self.duration(state.cell, cell);
            let taken = self.taken(cell);
            let mut time = state.time + duration;
            while time < (latest + duration).min(SLOTS * SLOT_MS) {
                let slot = time / SLOT_MS;
                if !taken.has(slot) {
                    visit(State {
                        cell,
                        time,
                        before: 0,
                    });
                    // The next free interval begins after the next taken slot.
                    time = taken.next(slot, true) * SLOT_MS;
                    if time >= SLOTS * SLOT_MS {
                        break;
                    }
                }
                time = taken.next(time / SLOT_MS, false) * SLOT_MS;
            }
        }
    }

    fn walk(&self, query: &Query, states: &[State], last: u32, ends: [DVec2; 2]) -> FoundWalk {
        let [from, to] = ends;
        let mut chain = vec![states[last as usize]];
        let mut at = last;
        while at != 0 {
            at = states[at as usize].before;
            chain.push(states[at as usize]);
        }
        chain.reverse();
        let time = |ms: u32| self.begin + f64::from(ms) / 1000.0;
        let mut moments = vec![Moment {
            place: from,
            time: self.begin,
        }];
        for pair in chain.windows(2) {
            let [a, b] = [pair[0], pair[1]];
            let departs = b.time - self.duration(a.cell, b.cell);
            let before = moments[moments.len() - 1];
            if departs > a.time || a.time > 0 && moments.len() == 1 {
                moments.push(Moment {
                    time: time(departs),
                    ..before
                });
            }
            moments.push(Moment {
                place: self.size.centre(b.cell),
                time: time(b.time),
            });
        }
        if moments.len() > 1
            && let Some(last) = moments.last_mut()
        {
            last.place = to;
        }
        FoundWalk {
            moments: self.straightened(query, &moments),
            arrives: true,
        }
    }

    /// Joins consecutive steps into straight lines. Every cell on such a line is free when the
    /// character reaches it.
    fn straightened(&self, query: &Query, moments: &[Moment]) -> Vec<Moment> {
        let mut joined = vec![moments[0]];
        let mut at = 0;
        while at + 1 < moments.len() {
            let waits = |at: usize| moments[at + 1].place == moments[at].place;
            let mut end = at + 1;
            while !waits(at)
                && end + 1 < moments.len()
                && end < at + LONGEST_CHORD
                && !waits(end)
                && self.is_free(query, &moments[at..=end + 1])
            {
                end += 1;
            }
            joined.push(moments[end]);
            at = end;
        }
        joined
    }

    /// Whether the straight line between the first and last step is free, and no closer to
    /// obstacles than the steps.
    fn is_free(&self, query: &Query, steps: &[Moment]) -> bool {
        let (Some(a), Some(b)) = (steps.first(), steps.last()) else {
            return false;
        };
        let factor = |place: DVec2| {
            let cell = self.size.cell_of(place)?;
            (self.map.index_of(cell).is_some()).then(|| self.map.factor_at(cell))
        };
        let most = steps.iter().filter_map(|step| factor(step.place)).max();
        let length = (b.place - a.place).length();
        let count = (2.0 * length / self.size.metres()).ceil().max(1.0) as u32;
        (0..=count).all(|step| {
            let share = f64::from(step) / f64::from(count);
            let place = a.place.lerp(b.place, share);
            let Some(cell) = self.size.cell_of(place) else {
                return false;
            };
            let time = a.time + share * (b.time - a.time) - self.begin;
            let slot = ((time / SLOT).floor().max(0.0) as u32).min(SLOTS - 1);
            let is_clear = || self.is_open(cell, query) && factor(place) <= most;
            step == 0 || is_clear() && !self.taken(cell).has(slot)
        })
    }
}

/// Free interval of a cell, in slots. The end is excluded.
#[derive(Clone, Copy)]
struct Run {
    from: u32,
    until: u32,
}

/// Sort key of a cell: column, then row.
type Cell2 = (i32, i32);

fn key(cell: Cell) -> Cell2 {
    (cell.x, cell.y)
}

#[cfg(test)]
mod tests {
    use super::*;

    const REACH: Apart = Apart {
        distance: 0.65,
        beside: 0.0,
    };

    /// Creates a corridor of 3 rows and 60 columns with walls around it, and a niche of 3 x 3 cells
    /// at its middle.
    fn corridor() -> SpaceTime {
        let size = CellSize::new(0.2).unwrap();
        let mut map = GridMap::new(Cell::new(0, 0), 60, 8).unwrap();
        for x in 0..60 {
            for y in 0..8 {
                let is_inside = (1..4).contains(&y) || (28..31).contains(&x) && (4..7).contains(&y);
                if !is_inside {
                    map.set(Cell::new(x, y), 0);
                }
            }
        }
        SpaceTime::new(map, size, 0.0, 1.4)
    }

    #[test]
    fn without_others_the_walk_is_straight() {
        let mut search = corridor();
        let [from, to] = [DVec2::new(1.0, 0.4), DVec2::new(9.0, 0.4)];
        let found = search.find(from, to, 0.0, Room::Usual).unwrap();
        assert!(found.arrives);
        let time = found.moments.last().unwrap().time;
        assert!((time - 8.0 / 1.4).abs() < 0.1, "{time}");
    }

    #[test]
    fn one_steps_into_the_niche_until_the_other_has_passed() {
        let mut search = corridor();
        let other = |time: f64| DVec2::new(11.0 - 1.2 * time, 0.4);
        search.take(REACH, |time| Some(other(time)));
        let [from, to] = [DVec2::new(1.0, 0.4), DVec2::new(11.0, 0.4)];
        let found = search.find(from, to, 0.0, Room::Usual).unwrap();
        assert!(found.arrives);
        assert!(found.moments.iter().any(|moment| moment.place.y > 0.85));
        for pair in found.moments.windows(2) {
            for share in [0.0, 0.25, 0.5, 0.75, 1.0] {
                let place = pair[0].place.lerp(pair[1].place, share);
                let time = pair[0].time + share * (pair[1].time - pair[0].time);
                assert!((place - other(time)).length() > 0.45, "{place} at {time}");
            }
        }
    }

    #[test]
    fn where_nobody_can_pass_one_stays_out_of_the_other_s_way() {
        let mut search = corridor();
        search.take(REACH, |_| Some(DVec2::new(8.0, 0.4)));
        let (from, to) = (DVec2::new(1.0, 0.4), DVec2::new(11.0, 0.4));
        let found = search.find(from, to, 0.0, Room::Narrow).unwrap();
        assert!(!found.arrives);
        let end = found.moments.last().unwrap().place;
        assert!(end.x < 8.0 - 0.6 && end.x > 5.0, "{end}");
    }
}
