//! Compares two runs by key figures, by the trips of each agent, and by the differences between
//! their scenarios.

use crate::results::RunResults;
use roadwright_scenario::{DrivingSide, RoadNetwork, Scenario};
use roadwright_simulation::{Status, TimeRow, Trip, agent_name};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The better of two runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// The first run.
    A,
    /// The second run.
    B,
}

/// Whether high or low values of a figure are better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wish {
    Larger,
    Smaller,
}

/// A key figure of two runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// Key of the figure in `figures.csv`. The key stays the same if the name of the figure
    /// changes.
    key: &'static str,
    /// Name of the figure.
    pub name: &'static str,
    /// Unit; empty for plain numbers.
    pub unit: &'static str,
    /// Explanation of the figure.
    pub hint: &'static str,
    /// Value in the first run; `None` if the figure has no value there.
    pub a: Option<f64>,
    /// Value in the second run; `None` if the figure has no value there.
    pub b: Option<f64>,
    wish: Wish,
}

impl Figure {
    /// The second value minus the first; `None` if one of them is missing.
    pub fn difference(&self) -> Option<f64> {
        Some(self.b? - self.a?)
    }

    /// The better run; `None` if both are equal or one of them has no value.
    pub fn better(&self) -> Option<Better> {
        let difference = self.difference().filter(|difference| *difference != 0.0)?;
        let is_larger_better = self.wish == Wish::Larger;
        Some(if (difference > 0.0) == is_larger_better {
            Better::B
        } else {
            Better::A
        })
    }

    /// Formats a value. Returns a dash if there is none.
    pub fn in_words(&self, value: Option<f64>) -> String {
        // Figures without a unit are counts and have no decimals.
        let decimals = if self.unit.is_empty() { 0 } else { 2 };
        value.map_or_else(|| "–".into(), |value| format!("{value:.decimals$}"))
    }
}

/// The same trip of an agent in both runs.
#[derive(Debug, Clone, PartialEq)]
pub struct TripPair {
    /// The agent.
    pub agent: u64,
    /// Number of the trip, starting at 1. Agents that repeat their trip have several trips.
    pub number: usize,
    /// The trip in the first run; `None` if it has not ended by the end of the comparison.
    pub a: Option<Trip>,
    /// The trip in the second run; `None` if it has not ended by the end of the comparison.
    pub b: Option<Trip>,
}

impl TripPair {
    /// Additional time that the trip takes in the second run, s; `None` unless the agent has
    /// arrived in both runs.
    pub fn difference(&self) -> Option<f64> {
        Some(arrived(self.b.as_ref())?.seconds() - arrived(self.a.as_ref())?.seconds())
    }

    /// The trip in the second run or, if it did not end there, in the first run.
    pub fn any(&self) -> Option<&Trip> {
        self.b.as_ref().or(self.a.as_ref())
    }

    /// Name of the agent, followed by the number of the trip from the second trip on.
    pub fn name(&self) -> String {
        let name = agent_name(self.agent);
        match self.number {
            1 => name,
            more => format!("{name}, trip {more}"),
        }
    }
}

fn arrived(trip: Option<&Trip>) -> Option<&Trip> {
    trip.filter(|trip| trip.status == Status::Arrived)
}

/// A comparison of two runs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Comparison {
    /// End of the period for which figures and trips are compared, s. This is the length of the
    /// shorter run.
    pub until: f64,
    /// Key figures of both runs.
    pub figures: Vec<Figure>,
    /// All trips that have ended in at least one of the runs. Trips with the largest difference
    /// come first. Trips that have not arrived in both runs have no difference and come last.
    pub trips: Vec<TripPair>,
    /// Differences between the scenarios of the two runs that affect driving. Empty if there are
    /// none.
    pub changes: Vec<String>,
}

impl Comparison {
    /// Compares two runs up to the end of the shorter one.
    pub fn new(a: &RunResults, b: &RunResults) -> Self {
        let until = a.seconds().min(b.seconds());
        let trips = pairs(ended(a, until), ended(b, until));
        Self {
            until,
            figures: figures(a, b, until, &trips),
            changes: changes(&a.scenario, &b.scenario),
            trips,
        }
    }

    /// Returns the tables of a comparison, each with its file name and text.
    pub fn tables(&self, names: [&str; 2], runs: [&RunResults; 2]) -> [(&'static str, String); 3] {
        [
            ("figures.csv", self.figures_as_csv(names)),
            ("trips.csv", self.trips_as_csv()),
            ("timeline.csv", timeline_as_csv(runs)),
        ]
    }

    fn figures_as_csv(&self, [a, b]: [&str; 2]) -> String {
        let mut text = String::from("figure,unit,a,b,difference,better\n");
        let mut line = |cells: [String; 6]| {
            text += &cells.map(|cell| quoted(&cell)).join(",");
            text.push('\n');
        };
        let number =
            |value: Option<f64>| value.map_or(String::new(), |value| format!("{value:.4}"));
        line(["run", "", a, b, "", ""].map(str::to_owned));
        let until = format!("{:.3}", self.until);
        line(["until", "s", &until, &until, "", ""].map(str::to_owned));
        for figure in &self.figures {
            let better = match figure.better() {
                Some(Better::A) => "a",
                Some(Better::B) => "b",
                None => "",
            };
            line([
                figure.key.to_owned(),
                figure.unit.to_owned(),
                number(figure.a),
                number(figure.b),
                number(figure.difference()),
                better.to_owned(),
            ]);
        }
        text
    }

    fn trips_as_csv(&self) -> String {
        let mut text = String::from(
            "agent,trip,stack,a_status,b_status,a_seconds_s,b_seconds_s,difference_s,a_standing_s,b_standing_s\n",
        );
        let status = |trip: &Option<Trip>| {
            let status = trip.as_ref().map(|trip| format!("{:?}", trip.status));
            status.unwrap_or_default().to_lowercase()
        };
        let of = |trip: &Option<Trip>, value: fn(&Trip) -> f64| {
            let value = trip.as_ref().map(value);
            value.map_or(String::new(), |value| format!("{value:.3}"))
        };
        for pair in &self.trips {
            let stack = pair.any().map_or("", |trip| trip.stack.as_str());
            let difference = pair.difference();
            let written = writeln!(
                text,
                "{},{},{},{},{},{},{},{},{},{}",
                pair.agent,
                pair.number,
                quoted(stack),
                status(&pair.a),
                status(&pair.b),
                of(&pair.a, Trip::seconds),
                of(&pair.b, Trip::seconds),
                difference.map_or(String::new(), |difference| format!("{difference:.3}")),
                of(&pair.a, |trip| trip.standing),
                of(&pair.b, |trip| trip.standing),
            );
            written.expect("writing to a String cannot fail");
        }
        text
    }
}

/// Quotes a field of a CSV table if necessary.
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

fn timeline_as_csv([a, b]: [&RunResults; 2]) -> String {
    let mut text = String::from("time_s");
    for name in [
        "arrived",
        "mean_speed_mps",
        "queue",
        "waiting",
        "contacts",
        "faults",
    ] {
        let _ = write!(text, ",a_{name},b_{name}");
    }
    text.push('\n');
    // Rows of the two runs are matched by whole seconds.
    let second = |row: &TimeRow| row.time.round() as u64;
    let by_time = |run: &RunResults| -> BTreeMap<u64, TimeRow> {
        run.rows.iter().map(|row| (second(row), *row)).collect()
    };
    let (a, b) = (by_time(a), by_time(b));
    let mut times: Vec<u64> = a.keys().chain(b.keys()).copied().collect();
    times.sort_unstable();
    times.dedup();
    let values: [fn(&TimeRow) -> String; 6] = [
        |row| row.arrived.to_string(),
        |row| format!("{:.4}", row.mean_speed),
        |row| row.queue.to_string(),
        |row| row.waiting.to_string(),
        |row| row.contacts.to_string(),
        |row| row.faults.to_string(),
    ];
    for time in times {
        text += &time.to_string();
        for value in values {
            for run in [&a, &b] {
                text.push(',');
                text += &run.get(&time).map(value).unwrap_or_default();
            }
        }
        text.push('\n');
    }
    text
}

/// Returns the trips that have ended by the given time.
fn ended(run: &RunResults, until: f64) -> impl Iterator<Item = &Trip> {
    run.trips.iter().filter(move |trip| trip.ended <= until)
}

/// Returns pairs of trips of the same agents, in the order in which each agent drove them.
fn pairs<'a>(
    a: impl Iterator<Item = &'a Trip>,
    b: impl Iterator<Item = &'a Trip>,
) -> Vec<TripPair> {
    /// Selects the field of a pair in which a trip is stored.
    type Side = fn(&mut TripPair) -> &mut Option<Trip>;
    let mut all: BTreeMap<(u64, usize), TripPair> = BTreeMap::new();
    let mut put = |trip: &Trip, counts: &mut BTreeMap<u64, usize>, side: Side| {
        let number = counts.entry(trip.agent).or_default();
        *number += 1;
        let pair = all
            .entry((trip.agent, *number))
            .or_insert_with(|| TripPair {
                agent: trip.agent,
                number: *number,
                a: None,
                b: None,
            });
        *side(pair) = Some(trip.clone());
    };
    let mut counts = BTreeMap::new();
    a.for_each(|trip| put(trip, &mut counts, |pair| &mut pair.a));
    let mut counts = BTreeMap::new();
    b.for_each(|trip| put(trip, &mut counts, |pair| &mut pair.b));
    let mut pairs: Vec<TripPair> = all.into_values().collect();
    // Pairs without a difference come last. Because the sort is stable, pairs with equal differences keep the
    // order of agents.
    let size = |pair: &TripPair| pair.difference().map_or(-1.0, f64::abs);
    pairs.sort_by(|x, y| size(y).total_cmp(&size(x)));
    pairs
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0u32);
    for value in values {
        sum += value;
        count += 1;
    }
    (count > 0).then(|| sum / f64::from(count))
}

/// Computes the figures of two runs up to the given time.
fn figures(a: &RunResults, b: &RunResults, until: f64, pairs: &[TripPair]) -> Vec<Figure> {
    let rows = |run: &RunResults| -> Vec<TimeRow> {
        let rows = run.rows.iter();
        rows.take_while(|row| row.time <= until + 1e-9)
            .copied()
            .collect()
    };
    let rows = [rows(a), rows(b)];
    let runs = [a, b];
    let last = |of: fn(&TimeRow) -> f64| [0, 1].map(|i: usize| rows[i].last().map(of));
    let over_time = |of: fn(&TimeRow) -> f64| [0, 1].map(|i: usize| mean(rows[i].iter().map(of)));
    let of_trips = |of: fn(&Trip) -> f64| {
        let done = |run: &RunResults| {
            let trips = ended(run, until).filter_map(|trip| arrived(Some(trip)));
            mean(trips.map(of))
        };
        runs.map(done)
    };
    let speed = [0, 1].map(|i: usize| speed_of(&rows[i]));
    let both = pairs.iter().filter(|pair| pair.difference().is_some());
    let in_both = |of: fn(&TripPair) -> Option<&Trip>| {
        let trips = both.clone().filter_map(of);
        mean(trips.map(Trip::seconds))
    };
    let in_both = [
        in_both(|pair| pair.a.as_ref()),
        in_both(|pair| pair.b.as_ref()),
    ];
    use Wish::{Larger, Smaller};
    let figure = |key, name, unit, hint, [a, b]: [Option<f64>; 2], wish| Figure {
        key,
        name,
        unit,
        hint,
        a,
        b,
        wish,
    };
    vec![
        figure(
            "arrived",
            "Arrived",
            "",
            "Number of agents that have arrived.",
            last(|row| row.arrived as f64),
            Larger,
        ),
        figure(
            "mean trip time",
            "Mean trip time",
            "s",
            "Mean over all completed trips.",
            of_trips(Trip::seconds),
            Smaller,
        ),
        figure(
            "the same trips",
            "The same trips",
            "s",
            "Mean time of the trips completed in both runs. Trips completed in only one of them do \
             not count.",
            in_both,
            Smaller,
        ),
        figure(
            "mean speed",
            "Mean speed",
            "m/s",
            "Mean over all vehicles and the whole run.",
            speed,
            Larger,
        ),
        figure(
            "standing a trip",
            "Queueing per trip",
            "s",
            "Mean queueing time of the completed trips.",
            of_trips(|trip| trip.standing),
            Smaller,
        ),
        figure(
            "queue",
            "Queue",
            "vehicles",
            "Number of vehicles slower than 1 m/s, averaged over time.",
            over_time(|row| row.queue as f64),
            Smaller,
        ),
        figure(
            "waiting",
            "Waiting",
            "agents",
            "Number of agents waiting for a free place to start, averaged over time.",
            over_time(|row| row.waiting as f64),
            Smaller,
        ),
        figure(
            "without a way",
            "Without a route",
            "",
            "Number of agents without a route to their destination.",
            last(|row| row.refused as f64),
            Smaller,
        ),
        figure(
            "contacts",
            "Contacts",
            "",
            "Number of vehicle contacts.",
            last(|row| row.contacts as f64),
            Smaller,
        ),
        figure(
            "faults",
            "Faults",
            "",
            "Number of module faults.",
            last(|row| row.faults as f64),
            Smaller,
        ),
    ]
}

/// Mean speed of all vehicles, m/s; `None` if there were no vehicles. Every second that a vehicle
/// drives has the same weight.
fn speed_of(rows: &[TimeRow]) -> Option<f64> {
    let driving: usize = rows.iter().map(|row| row.driving).sum();
    let all: f64 = rows
        .iter()
        .map(|row| row.mean_speed * row.driving as f64)
        .sum();
    (driving > 0).then(|| all / driving as f64)
}

/// Returns the differences between scenarios that affect a run, one line for each kind.
fn changes(a: &Scenario, b: &Scenario) -> Vec<String> {
    // Two revisions of a document share nearly all parts.
    if std::ptr::eq(a, b) {
        return Vec::new();
    }
    let mut lines = Vec::new();
    let side = |scenario: &Scenario| scenario.about().driving_side == DrivingSide::Left;
    if side(a) != side(b) || a.about().country != b.about().country {
        lines.push("driving side or country".into());
    }
    if a.settings() != b.settings() {
        lines.push(settings_in_words(a, b));
    }
    let has_same_terrain = match (a.shared_terrain(), b.shared_terrain()) {
        (Some(a), Some(b)) => std::sync::Arc::ptr_eq(&a, &b) || a == b,
        (None, None) => true,
        _ => false,
    };
    if !has_same_terrain {
        lines.push("terrain".into());
    }
    lines.extend(roads(a.network(), b.network()));
    lines.extend(of_maps("junctions", &nodes(a), &nodes(b)));
    // Maps at the same address are identical.
    if !std::ptr::eq(a.obstacles(), b.obstacles()) {
        lines.extend(of_maps("obstacles", a.obstacles(), b.obstacles()));
    }
    lines.extend(of_maps("forests", a.forests(), b.forests()));
    let places = (a.points_of_interest(), b.points_of_interest());
    lines.extend(of_maps("places", places.0, places.1));
    let types = (a.vehicle_types(), b.vehicle_types());
    lines.extend(of_maps("vehicle types", types.0, types.1));
    lines.extend(of_maps("stacks", a.stacks(), b.stacks()));
    lines.extend(of_maps("agents", a.agents(), b.agents()));
    lines.extend(of_maps("flows", a.flows(), b.flows()));
    lines
}

fn settings_in_words(a: &Scenario, b: &Scenario) -> String {
    let (a, b) = (a.settings(), b.settings());
    if a.seed != b.seed {
        format!("settings (seed {} and {})", a.seed, b.seed)
    } else {
        "settings".into()
    }
}

fn nodes(
    scenario: &Scenario,
) -> BTreeMap<roadwright_scenario::NodeId, &roadwright_scenario::JunctionRules> {
    let nodes = scenario.network().nodes();
    nodes.map(|(id, node)| (id, &node.rules)).collect()
}

fn roads(a: &RoadNetwork, b: &RoadNetwork) -> Option<String> {
    let has = |network: &RoadNetwork, id| network.road(id).is_some();
    let added = b.roads().filter(|(id, _)| !has(a, *id)).count();
    let gone = a.roads().filter(|(id, _)| !has(b, *id)).count();
    let is_other = |id| match (a.shared_road(id), b.shared_road(id)) {
        (Some(a), Some(b)) => !std::sync::Arc::ptr_eq(a, b) && a != b,
        _ => false,
    };
    let changed = a.roads().filter(|(id, _)| is_other(*id)).count();
    in_words("roads", [changed, added, gone])
}

fn of_maps<K: Ord, V: PartialEq>(
    kind: &str,
    a: &BTreeMap<K, V>,
    b: &BTreeMap<K, V>,
) -> Option<String> {
    let added = b.keys().filter(|key| !a.contains_key(key)).count();
    let gone = a.keys().filter(|key| !b.contains_key(key)).count();
    let is_other = |(key, value): &(&K, &V)| b.get(key).is_some_and(|other| other != *value);
    in_words(kind, [a.iter().filter(is_other).count(), added, gone])
}

fn in_words(kind: &str, counts: [usize; 3]) -> Option<String> {
    let words = counts.into_iter().zip(["changed", "more", "gone"]);
    let parts: Vec<String> = words
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    (!parts.is_empty()).then(|| format!("{kind}: {}", parts.join(", ")))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests;
