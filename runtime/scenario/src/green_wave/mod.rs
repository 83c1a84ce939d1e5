//! Green waves: signal offsets along a street that let a driver at a steady speed pass all signals
//! on green.
//!
//! ```text
//!   m |            /===/
//!     |  ==-----==/===/==-----        = green   - red
//!     |          /===/
//!     |  -----==/===/---==            the band: a vehicle inside it at one signal is inside it at every signal
//!     |        /===/
//!     +----------------------- s
//! ```
//!
//! [`Street`] finds the street in the network. [`Corridor`] contains its signals and their green
//! periods, computes the width of the [`Band`] in each direction, and finds the offsets of a green
//! wave.

mod street;

pub use street::{MAX_STOPS, Stop, Street};

use crate::ids::NodeId;
use crate::junction::{Junction, Layout, Signals};
use crate::junction_rules::SignalMode;
use crate::turn::Turn;
use crate::{RoadId, VehicleClass};
use thiserror::Error;

/// Difference below which two cycles count as equal, s.
const SAME_CYCLE: f64 = 1e-3;
/// Difference below which two times count as equal, s.
const MOMENT: f64 = 1e-9;

/// Reason why the selected signals cannot form a green wave.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum NoWave {
    /// Fewer than two junctions have signals.
    #[error("select two or more junctions with signals, or roads that lead from one to the next")]
    TooFew,
    /// More than [`MAX_STOPS`] junctions have signals.
    #[error("{0} junctions with signals are selected; a green wave can have at most {MAX_STOPS}")]
    TooMany(usize),
    /// No route passes through all selected junctions without passing a junction twice.
    #[error(
        "no route passes through each of the selected junctions once; select junctions along one \
         street"
    )]
    NotOneWay,
    /// Neither direction has a route between the first and the last junction.
    #[error(
        "no route leads from the first of these junctions to the last in either direction; select \
         junctions along one street"
    )]
    NotDrivable,
    /// The cycle of these signals depends on traffic, so they cannot be coordinated with others.
    #[error(
        "the signals of {0} are actuated or controlled by a module and are not coordinated with \
         others; set them to fixed in the node's Inspector"
    )]
    ByDemand(NodeId),
    /// The cycles differ, but a wave needs a common cycle.
    #[error(
        "the cycles differ ({}), so the signals cannot stay coordinated; set the same cycle for \
         all in the nodes' Inspectors, or adjust their stage times",
        told(.0)
    )]
    CyclesDiffer(Vec<(NodeId, f64)>),
}

fn told(cycles: &[(NodeId, f64)]) -> String {
    let all = cycles.iter();
    let all = all.map(|(node, cycle)| format!("{node}: {cycle:.1} s"));
    all.collect::<Vec<_>>().join(", ")
}

/// Direction along a corridor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Along {
    /// From the first signal to the last.
    Forward,
    /// From the last signal to the first.
    Backward,
}

/// A period that recurs in each cycle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Window {
    /// Start of the period, s after the start of a cycle.
    pub start: f64,
    /// Duration, s; at most one cycle.
    pub length: f64,
}

/// A signal along a corridor.
#[derive(Debug, Clone, PartialEq)]
pub struct WaveSignal {
    /// Junction of the signal, as an index in the layout.
    pub junction: usize,
    /// The first node of the junction.
    pub node: NodeId,
    /// Distance from the first signal, m.
    pub at: f64,
    /// Start of the signal's first cycle, s.
    pub offset: f64,
    /// Periods in which traffic along the corridor has green, relative to the start of the cycle:
    /// first forward, then backward. Empty if the corridor cannot be driven in that direction.
    pub greens: [Vec<Window>; 2],
}

impl WaveSignal {
    /// Returns the green periods of traffic in one direction of the corridor.
    pub fn green(&self, along: Along) -> &[Window] {
        &self.greens[along as usize]
    }

    /// Returns the longest green period of one direction, or the first one if several are equally
    /// long; `None` if the direction has no green.
    fn main_green(&self, along: Along) -> Option<Window> {
        let greens = self.green(along).iter().copied();
        greens.reduce(|best, other| {
            if other.length > best.length {
                other
            } else {
                best
            }
        })
    }
}

/// The period during which a driver who passes the first signal finds all other signals green.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Band {
    /// Start at the first signal of the direction, s, at least 0 and less than the cycle.
    pub start: f64,
    /// Width of the band, s; at most one cycle.
    pub width: f64,
}

/// Signals with a common cycle along a street.
#[derive(Debug, Clone, PartialEq)]
pub struct Corridor {
    /// The signals in order, at least two.
    pub signals: Vec<WaveSignal>,
    /// Common cycle, s.
    pub cycle: f64,
    /// Mean speed when driving at the speed limits, m/s: total length divided by total time.
    pub free_speed: f64,
}

impl Corridor {
    /// Creates the corridor of a street. `signals` contains the signals of all junctions of the
    /// layout. Only those along the street are used. Forward is the direction of the street, unless
    /// only the opposite direction can be driven.
    ///
    /// # Errors
    /// If one of the signals is actuated, if their cycles differ, or if the street cannot be driven
    /// in either direction.
    pub fn new(
        street: &Street,
        layout: &Layout,
        signals: &[Option<Signals>],
    ) -> Result<Self, NoWave> {
        let along_street = street.stops.iter().filter_map(|stop| {
            let own = signals.get(stop.junction)?.as_ref()?;
            Some((stop, layout.junctions.get(stop.junction)?.as_ref(), own))
        });
        let (mut all, mut cycles) = (Vec::new(), Vec::new());
        for (stop, junction, own) in along_street {
            let node = junction.nodes[0];
            if own.programme.mode != SignalMode::Fixed || own.programme.controller.is_some() {
                return Err(NoWave::ByDemand(node));
            }
            cycles.push((node, own.programme.cycle()));
            let green = |from, to| windows(junction, own, from, to);
            all.push(WaveSignal {
                junction: stop.junction,
                node,
                at: stop.at,
                offset: own.programme.offset,
                greens: [
                    green(stop.before, stop.after),
                    green(stop.after, stop.before),
                ],
            });
        }
        let [(_, cycle), _, ..] = cycles[..] else {
            return Err(NoWave::TooFew);
        };
        if cycles
            .iter()
            .any(|(_, other)| (other - cycle).abs() > SAME_CYCLE)
        {
            return Err(NoWave::CyclesDiffer(cycles));
        }
        let corridor = Self {
            signals: all,
            cycle,
            free_speed: street.free_speed(),
        };
        match (
            corridor.is_open(Along::Forward),
            corridor.is_open(Along::Backward),
        ) {
            (true, _) => Ok(corridor),
            (false, true) => Ok(corridor.turned()),
            (false, false) => Err(NoWave::NotDrivable),
        }
    }

    /// Returns the distance from the first signal to the last, m.
    pub fn length(&self) -> f64 {
        self.signals.last().map_or(0.0, |last| last.at)
    }

    /// Whether a direction can be driven from end to end.
    pub fn is_open(&self, along: Along) -> bool {
        self.signals
            .iter()
            .all(|signal| !signal.green(along).is_empty())
    }

    /// Returns the corridor with its directions swapped.
    pub fn turned(&self) -> Self {
        let length = self.length();
        let turned = |signal: &WaveSignal| {
            let [forward, backward] = signal.greens.clone();
            WaveSignal {
                at: length - signal.at,
                greens: [backward, forward],
                ..signal.clone()
            }
        };
        Self {
            signals: self.signals.iter().rev().map(turned).collect(),
            ..self.clone()
        }
    }

    /// Returns the travel time from the first signal of a direction to `signal`, s. `speed` is in
    /// m/s.
    pub fn travel_time(&self, signal: &WaveSignal, along: Along, speed: f64) -> f64 {
        let distance = match along {
            Along::Forward => signal.at,
            Along::Backward => self.length() - signal.at,
        };
        distance / speed
    }

    /// Returns the widest band of a direction at the given speed, m/s; `None` if there is none. O(signals *
    /// greens).
    pub fn band(&self, along: Along, speed: f64) -> Option<Band> {
        let mut open = vec![Window {
            start: 0.0,
            length: self.cycle,
        }];
        for signal in &self.signals {
            // Offset relative to a driver who passes the first signal at time 0.
            let seen = signal.offset - self.travel_time(signal, along, speed);
            let greens = signal.green(along).iter().map(|green| Window {
                start: (seen + green.start).rem_euclid(self.cycle),
                ..*green
            });
            let greens: Vec<Window> = greens.collect();
            open = self.common(&open, &greens);
        }
        let widest = open.into_iter();
        let widest = widest.reduce(|best, other| {
            if other.length > best.length {
                other
            } else {
                best
            }
        })?;
        Some(Band {
            start: widest.start,
            width: widest.length,
        })
    }

    /// Returns the intersection of two lists of windows.
    fn common(&self, some: &[Window], others: &[Window]) -> Vec<Window> {
        let pairs = some
            .iter()
            .flat_map(|a| others.iter().map(move |b| (*a, *b)));
        pairs.flat_map(|(a, b)| self.overlap(a, b)).collect()
    }

    fn overlap(&self, a: Window, b: Window) -> Vec<Window> {
        // A window of the whole cycle does not change the other window. Intersecting with it would split the
        // other window at the start of the cycle.
        if a.length >= self.cycle - MOMENT {
            return vec![b];
        }
        if b.length >= self.cycle - MOMENT {
            return vec![a];
        }
        let shift = (b.start - a.start).rem_euclid(self.cycle);
        // The first window that begins at or after the start of `a`, and the one before it.
        let both = [shift, shift - self.cycle].map(|start| {
            let from = start.max(0.0);
            let to = (start + b.length).min(a.length);
            Window {
                start: (a.start + from).rem_euclid(self.cycle),
                length: to - from,
            }
        });
        let is_long = |window: &Window| window.length > MOMENT;
        both.into_iter().filter(is_long).collect()
    }

    /// Returns the offsets for a forward wave at a speed in m/s. A driver who starts at the beginning of the
    /// first signal's longest green arrives at each other signal when its longest green begins. The first
    /// signal keeps its offset. The other offsets are less than a cycle. The band is as wide as the shortest
    /// of these greens.
    pub fn wave(&self, speed: f64) -> Vec<f64> {
        let along = Along::Forward;
        let mains = self.signals.iter().map(|signal| {
            let green = signal.main_green(along);
            green.map_or(0.0, |green| green.start)
        });
        let mains: Vec<f64> = mains.collect();
        let (Some(first), Some(first_start)) = (self.signals.first(), mains.first()) else {
            return Vec::new();
        };
        let begins = first.offset + first_start;
        let others = self.signals.iter().zip(&mains).skip(1);
        let others = others.map(|(signal, start)| {
            let arrives = begins + self.travel_time(signal, along, speed);
            (arrives - start).rem_euclid(self.cycle)
        });
        std::iter::once(first.offset).chain(others).collect()
    }

    /// Returns the corridor with other offsets: one per signal, in seconds.
    pub fn with_offsets(&self, offsets: &[f64]) -> Self {
        let mut other = self.clone();
        for (signal, offset) in other.signals.iter_mut().zip(offsets) {
            signal.offset = *offset;
        }
        other
    }
}

/// Returns the periods, relative to the start of the cycle, in which traffic from one road into
/// another has green. If one of the roads is missing, the road that continues straight on, if any,
/// is used instead.
fn windows(
    junction: &Junction,
    signals: &Signals,
    from: Option<RoadId>,
    to: Option<RoadId>,
) -> Vec<Window> {
    let paths = (0..).zip(&junction.paths).filter(|(_, path)| {
        let is_meant = |road: Option<RoadId>, own: RoadId| road.is_none_or(|road| road == own);
        let follows = is_meant(from, path.from.road) && is_meant(to, path.to.road);
        follows && path.turn != Turn::UTurn && path.access.admits(VehicleClass::Car)
    });
    let mut paths: Vec<(usize, Turn)> = paths.map(|(number, path)| (number, path.turn)).collect();
    let is_straight = |(_, turn): &(usize, Turn)| *turn == Turn::Straight;
    if (from.is_none() || to.is_none()) && paths.iter().any(is_straight) {
        paths.retain(is_straight);
    }
    let has_green = |stage: usize| paths.iter().any(|&(path, _)| signals.greens[stage][path]);
    let keeps_green = |stage: usize, next: usize| {
        let mut paths = paths.iter();
        paths.any(|&(path, _)| signals.greens[stage][path] && signals.greens[next][path])
    };
    let programme = &signals.programme;
    let (mut start, mut all) = (0.0, Vec::new());
    for stage in 0..programme.stages.len() {
        let whole = programme.duration(stage);
        if has_green(stage) {
            // Paths that keep their green are not affected by a change of stage.
            let length = if keeps_green(stage, programme.next(stage)) {
                whole
            } else {
                programme.stages[stage].green
            };
            all.push(Window { start, length });
        }
        start += whole;
    }
    joined(all, start)
}

/// Joins consecutive windows, including windows that meet at the end of the cycle.
fn joined(windows: Vec<Window>, cycle: f64) -> Vec<Window> {
    let mut all: Vec<Window> = Vec::new();
    for window in windows {
        match all.last_mut() {
            Some(last) if (last.start + last.length - window.start).abs() < MOMENT => {
                last.length += window.length;
            }
            _ => all.push(window),
        }
    }
    if let [first, .., last] = all[..]
        && first.start < MOMENT
        && (last.start + last.length - cycle).abs() < MOMENT
    {
        all.pop();
        all[0] = Window {
            start: last.start,
            length: last.length + first.length,
        };
    }
    all
}

#[cfg(test)]
mod tests;
