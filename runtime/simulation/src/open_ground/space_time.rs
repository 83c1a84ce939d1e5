//! Search for a walk among moving characters: where to walk, and when to wait.
//!
//! For each cell around a character, the search knows the times at which another character is too close. A
//! state of the search is a cell in one of its free intervals, reached as early as possible (safe interval
//! path planning). So the search finds the earliest arrival, including waits, without a node for each moment.

use super::walking::Moment;
use roadwright_geometry::DVec2;
use roadwright_planning::open_ground::{Cell, CellSize, GridMap};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// Number of time slots of a search.
pub(super) const SLOTS: u32 = u128::BITS;
/// Duration of a slot, s.
pub(super) const SLOT: f64 = 0.1;
/// Duration of a slot, ms.
const SLOT_MS: u32 = 100;
/// Maximum number of states that a search expands.
const MOST: u32 = 2500;
/// Cost factor from which a cell counts as too close to obstacles for the usual clearance.
const NEAR_OBSTACLES: u32 = 32;
/// Distance from the start within which all free cells are open, in cells.
const AT_START: u32 = 3;
/// Maximum number of steps that are joined to a straight line.
const LONGEST_CHORD: usize = 12;

/// A map of cells with the times at which they are occupied.
pub(super) struct SpaceTime {
    map: GridMap,
    columns: u32,
    size: CellSize,
    /// Time slots in which another character is too near, for each cell.
    taken: Vec<u128>,
    /// Time of the first slot, s.
    begin: f64,
    /// Speed, m/s.
    speed: f64,
}

/// Clearance from obstacles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Room {
    /// The usual clearance.
    Usual,
    /// No clearance beyond the character's outline.
    Narrow,
}

/// Start and target of a search, with the clearance.
#[derive(Clone, Copy)]
struct Query {
    start: Cell,
    target: Cell,
    room: Room,
}

/// A state: a cell, the time of arrival (ms), and the state before it.
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
    /// Whether the walk ends at the target. Otherwise, it ends at the nearest place where the character can
    /// stay.
    pub(super) arrives: bool,
}

impl SpaceTime {
    /// Creates a search over a map without other characters.
    pub(super) fn new(map: GridMap, size: CellSize, begin: f64, speed: f64) -> Self {
        Self {
            taken: vec![0; map.area() as usize],
            columns: map.columns(),
            map,
            size,
            begin,
            speed,
        }
    }

    /// Marks the cells within `reach` metres of a character as occupied. `place` returns the position of the
    /// character at a time.
    pub(super) fn take(&mut self, reach: f64, place: impl Fn(f64) -> DVec2) {
        let mut slot = 0;
        while slot < SLOTS {
            let at = place(self.begin + (f64::from(slot) + 0.5) * SLOT);
            let mut mask = 1u128 << slot;
            slot += 1;
            // All slots in which the character stands are entered at once.
            while slot < SLOTS && place(self.begin + (f64::from(slot) + 0.5) * SLOT) == at {
                mask |= 1u128 << slot;
                slot += 1;
            }
            self.take_around(at, reach, mask);
        }
    }

    fn take_around(&mut self, at: DVec2, reach: f64, mask: u128) {
        let Some(middle) = self.size.cell_of(at) else {
            return;
        };
        let cells = (reach / self.size.metres()).ceil() as i32;
        for y in -cells..=cells {
            for x in -cells..=cells {
                let cell = Cell::new(middle.x + x, middle.y + y);
                let is_near = (self.size.centre(cell) - at).length() < reach;
                if let Some(index) = self.index_of(cell).filter(|_| is_near) {
                    self.taken[index] |= mask;
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

    fn taken(&self, cell: Cell) -> u128 {
        self.index_of(cell)
            .map_or(u128::MAX, |index| self.taken[index])
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

    /// Time to walk from a cell to one beside it, ms.
    fn duration(&self, is_diagonal: bool) -> u32 {
        let length = self.size.metres()
            * if is_diagonal {
                std::f64::consts::SQRT_2
            } else {
                1.0
            };
        (1000.0 * length / self.speed).ceil() as u32
    }

    /// Lower bound of the time from a cell to the target, ms.
    fn estimate(&self, cell: Cell, target: Cell) -> u32 {
        let away = cell.distance(target);
        let (long, short) = (away.columns.max(away.rows), away.columns.min(away.rows));
        // Rounded down, because steps are rounded up.
        (long - short) * (self.duration(false) - 1) + short * (self.duration(true) - 1)
    }

    /// Finds the walk with the earliest arrival from one place to another. The walk begins after `delay`
    /// seconds. `None` if there is neither a walk nor a place where the character can stay.
    pub(super) fn find(&self, from: DVec2, to: DVec2, delay: f64, room: Room) -> Option<FoundWalk> {
        let (start, target) = (self.size.cell_of(from)?, self.size.cell_of(to)?);
        let query = Query {
            start,
            target,
            room,
        };
        let mut states = vec![State {
            cell: start,
            time: (1000.0 * delay.clamp(0.0, 3.0)) as u32,
            before: 0,
        }];
        let mut open = BinaryHeap::from([Reverse((self.estimate(start, target), 0u32))]);
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
                let rank = (self.estimate(state.cell, target), state.time, number);
                refuge = Some(refuge.map_or(rank, |best| best.min(rank)));
            }
            expanded += 1;
            if expanded > MOST {
                break;
            }
            self.expand(&query, state, run, |next| {
                let own = (key(next.cell), self.run(next).from);
                let best = reached.entry(own).or_insert(u32::MAX);
                if next.time < *best {
                    *best = next.time;
                    let rank = next.time + self.estimate(next.cell, target);
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

    /// The free interval of a state. A character that begins too close to another one leaves within a second.
    fn run(&self, state: State) -> Run {
        let slot = (state.time / SLOT_MS).min(SLOTS - 1);
        let taken = self.taken(state.cell);
        if taken >> slot & 1 == 1 {
            return Run {
                from: slot,
                until: (slot + 10).min(SLOTS - 1),
            };
        }
        let before = (taken << (SLOTS - 1 - slot)).leading_zeros().min(slot + 1);
        let free = (taken >> slot).trailing_zeros();
        Run {
            from: slot + 1 - before,
            until: (slot + free).min(SLOTS),
        }
    }

    /// Calls `visit` with the earliest arrivals in the free intervals of the cells beside a state.
    fn expand(&self, query: &Query, state: State, run: Run, mut visit: impl FnMut(State)) {
        let latest = if run.until >= SLOTS {
            SLOTS * SLOT_MS
        } else {
            run.until * SLOT_MS
        };
        for (x, y) in [
            (1, 0),
            (0, 1),
            (-1, 0),
            (0, -1),
            (1, 1),
            (-1, 1),
            (-1, -1),
            (1, -1),
        ] {
            let cell = Cell::new(state.cell.x + x, state.cell.y + y);
            let is_diagonal = x != 0 && y != 0;
            let beside = [
                Cell::new(cell.x, state.cell.y),
                Cell::new(state.cell.x, cell.y),
            ];
            let is_open = |cell: &Cell| self.is_open(*cell, query);
            if !is_open(&cell) || is_diagonal && !beside.iter().all(is_open) {
                continue;
            }
            let duration = self.duration(is_diagonal);
            let taken = self.taken(cell);
            let mut time = state.time + duration;
            while time < (latest + duration).min(SLOTS * SLOT_MS) {
                let slot = time / SLOT_MS;
                if taken >> slot & 1 == 0 {
                    visit(State {
                        cell,
                        time,
                        before: 0,
                    });
                    // The next free interval begins after the next taken slot.
                    let free = (taken >> slot).trailing_zeros();
                    if slot + free >= SLOTS {
                        break;
                    }
                    time = (slot + free) * SLOT_MS;
                }
                let slot = time / SLOT_MS;
                let busy = (!(taken >> slot)).trailing_zeros();
                time = (slot + busy.max(1)) * SLOT_MS;
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
            let departs = b.time - self.duration(a.cell.x != b.cell.x && a.cell.y != b.cell.y);
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

    /// Joins steps into straight lines whose cells are free at the same times.
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
                && self.is_free(query, moments[at], moments[end + 1])
            {
                end += 1;
            }
            joined.push(moments[end]);
            at = end;
        }
        joined
    }

    fn is_free(&self, query: &Query, a: Moment, b: Moment) -> bool {
        let length = (b.place - a.place).length();
        let steps = (2.0 * length / self.size.metres()).ceil().max(1.0) as u32;
        (0..=steps).all(|step| {
            let share = f64::from(step) / f64::from(steps);
            let Some(cell) = self.size.cell_of(a.place.lerp(b.place, share)) else {
                return false;
            };
            let time = a.time + share * (b.time - a.time) - self.begin;
            let slot = ((time / SLOT).floor().max(0.0) as u32).min(SLOTS - 1);
            step == 0 || self.is_open(cell, query) && self.taken(cell) >> slot & 1 == 0
        })
    }
}

/// Free interval of a cell, in slots; the end is excluded.
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

    /// A corridor of 3 rows and 60 columns with walls around it, and a niche of 3 x 3 cells at its middle.
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
        let search = corridor();
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
        search.take(0.65, other);
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
        search.take(0.65, |_| DVec2::new(8.0, 0.4));
        let (from, to) = (DVec2::new(1.0, 0.4), DVec2::new(11.0, 0.4));
        let found = search.find(from, to, 0.0, Room::Narrow).unwrap();
        assert!(!found.arrives);
        let end = found.moments.last().unwrap().place;
        assert!(end.x < 8.0 - 0.6 && end.x > 5.0, "{end}");
    }
}
