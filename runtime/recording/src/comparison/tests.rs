//! Comparisons of known runs.

use super::*;
use roadwright_scenario::Edit;
use std::sync::Arc;

fn trip(agent: u64, seconds: f64, ended: f64) -> Trip {
    Trip {
        agent,
        stack: "idm".into(),
        status: Status::Arrived,
        started: ended - seconds,
        ended,
        distance: 100.0,
        standing: 2.0,
        contacts: 0,
        places: None,
    }
}

fn run(seconds: u32, trips: Vec<Trip>) -> RunResults {
    let row = |second: u32| TimeRow {
        time: f64::from(second),
        driving: 2,
        mean_speed: 5.0 + f64::from(second),
        arrived: trips
            .iter()
            .filter(|trip| trip.ended <= f64::from(second))
            .count(),
        ..TimeRow::default()
    };
    RunResults {
        rows: (0..=seconds).map(row).collect(),
        trips: trips.clone(),
        ..RunResults::default()
    }
}

fn figure(comparison: &Comparison, name: &str) -> Figure {
    let mut figures = comparison.figures.iter();
    figures.find(|figure| figure.name == name).unwrap().clone()
}

#[test]
fn runs_are_compared_up_to_the_end_of_the_shorter_one() {
    let a = run(20, vec![trip(1, 10.0, 10.0), trip(2, 8.0, 19.0)]);
    let b = run(12, vec![trip(1, 7.0, 7.0), trip(3, 5.0, 5.0)]);
    let comparison = Comparison::new(&a, &b);
    assert_eq!(comparison.until, 12.0);
    // In the first run, agent 2 has not arrived by that time.
    let arrived = figure(&comparison, "Arrived");
    assert_eq!((arrived.a, arrived.b), (Some(1.0), Some(2.0)));
    assert_eq!(arrived.better(), Some(Better::B));
    let time = figure(&comparison, "Mean trip time");
    assert_eq!(
        (time.a, time.b, time.difference()),
        (Some(10.0), Some(6.0), Some(-4.0))
    );
    assert_eq!(time.better(), Some(Better::B));
    // Only agent 1 has arrived in both runs.
    let same = figure(&comparison, "The same trips");
    assert_eq!((same.a, same.b), (Some(10.0), Some(7.0)));
    // Rows beyond the end of the shorter run are ignored, so only the speeds from 0 to 12 s count.
    let speed = figure(&comparison, "Mean speed");
    assert_eq!(
        (speed.a, speed.b, speed.better()),
        (Some(11.0), Some(11.0), None)
    );
    assert_eq!(comparison.trips.len(), 2);
    let other = Comparison::new(&b, &a);
    assert_eq!(figure(&other, "Mean trip time").better(), Some(Better::A));
}

#[test]
fn nothing_is_better_where_nobody_has_arrived() {
    let comparison = Comparison::new(&run(5, Vec::new()), &run(5, vec![trip(1, 2.0, 3.0)]));
    let time = figure(&comparison, "Mean trip time");
    assert_eq!((time.a, time.better()), (None, None));
    assert_eq!(time.in_words(time.a), "–");
    assert_eq!(figure(&comparison, "Contacts").better(), None);
}

#[test]
fn trips_are_matched_one_by_one_and_the_largest_difference_comes_first() {
    let a = run(
        99,
        vec![
            trip(1, 10.0, 10.0),
            trip(2, 9.0, 20.0),
            trip(1, 30.0, 60.0),
            trip(5, 4.0, 9.0),
        ],
    );
    let mut refused = trip(5, 0.0, 9.0);
    refused.status = Status::Refused;
    let b = run(
        99,
        vec![
            trip(1, 11.0, 11.0),
            trip(2, 2.0, 20.0),
            trip(1, 60.0, 90.0),
            refused,
        ],
    );
    let comparison = Comparison::new(&a, &b);
    let seen: Vec<_> = comparison
        .trips
        .iter()
        .map(|pair| (pair.agent, pair.number, pair.difference()))
        .collect();
    let expected = [
        (1, 2, Some(30.0)),
        (2, 1, Some(-7.0)),
        (1, 1, Some(1.0)),
        (5, 1, None),
    ];
    assert_eq!(seen, expected);
    assert!(comparison.trips[0].name().ends_with("trip 2"));
    let [figures, trips, timeline] = comparison.tables(["a, slow", "b"], [&a, &b]);
    assert!(figures.1.contains("run,,\"a, slow\",b,,"), "{}", figures.1);
    assert!(
        trips
            .1
            .contains("1,2,idm,arrived,arrived,30.000,60.000,30.000"),
        "{}",
        trips.1
    );
    assert!(
        trips.1.contains("5,1,idm,arrived,refused,4.000,0.000,,"),
        "{}",
        trips.1
    );
    assert_eq!(timeline.1.lines().count(), 101);
    // Every line has as many cells as the header of its table.
    for (name, text) in [figures, trips, timeline] {
        let plain = text.replace("\"a, slow\"", "a");
        let cells: Vec<usize> = plain.lines().map(|line| line.split(',').count()).collect();
        assert!(
            cells.windows(2).all(|pair| pair[0] == pair[1]),
            "{name}: {cells:?}"
        );
    }
}

#[test]
fn scenarios_differ_in_what_drives_and_not_in_the_order_of_lists() {
    let text = include_str!("../../../../scenarios/old-town.scenario.json");
    let town = roadwright_scenario::file::from_text(text).unwrap();
    let mut other = town.clone();
    assert!(changes(&town, &other).is_empty());
    let order = roadwright_scenario::ListOrder {
        stacks: vec!["pursuit".into()],
        ..Default::default()
    };
    other.apply(Edit::Order(Box::new(order))).unwrap();
    assert!(changes(&town, &other).is_empty());
    let agent = *other.agents().keys().next().unwrap();
    other.apply(Edit::Agent(agent, None)).unwrap();
    let (id, road) = other.network().roads().next().unwrap();
    let mut road = road.clone();
    road.speed_limit *= 0.5;
    other.apply(Edit::Road(id, Some(Box::new(road)))).unwrap();
    let mut settings = other.settings();
    settings.seed += 1;
    other.apply(Edit::Settings(settings)).unwrap();
    let lines = changes(&town, &other).join("; ");
    for part in ["roads: 1 changed", "agents: 1 gone", "seed"] {
        assert!(lines.contains(part), "{lines}");
    }
    let a = RunResults {
        scenario: Arc::new(town),
        ..run(3, Vec::new())
    };
    let b = RunResults {
        scenario: Arc::new(other),
        ..run(3, Vec::new())
    };
    assert_eq!(Comparison::new(&a, &b).changes.len(), 3);
}
