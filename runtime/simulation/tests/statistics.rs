//! Tests that compare the statistics of a run with its summary, with those for other numbers of
//! threads, and with unobserved runs.

use roadwright_scenario::operation;
use roadwright_scenario::{ObjectId, Scenario, file};
use roadwright_simulation::{
    Ending, Observer, RunOptions, Session, Statistics, Status, World, builtin_modules,
    time_rows_as_csv, trips_as_csv,
};
use std::path::Path;

fn scenario(name: &str) -> Scenario {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    file::load(&folder.join(format!("{name}.scenario.json"))).unwrap()
}

fn run(scenario: &Scenario, threads: usize, seconds: f64) -> (Statistics, Session) {
    let options = RunOptions {
        threads,
        populate: 20,
        ..RunOptions::default()
    };
    let world = World::new(scenario, &builtin_modules(), &options).unwrap();
    let (mut session, mut statistics) = (Session::new(world), Statistics::default());
    session.run(Ending::AtTime(seconds), &mut [&mut statistics], |_| true);
    (statistics, session)
}

#[test]
fn rows_come_each_second_and_end_as_the_summary_says() {
    let (statistics, session) = run(&scenario("crossroads"), 1, 90.0);
    let rows = statistics.rows();
    assert_eq!(rows.len(), 91);
    for (second, row) in rows.iter().enumerate() {
        assert!((row.time - second as f64).abs() < 0.05, "{row:?}");
        assert!(row.queue <= row.driving && row.mean_speed >= 0.0, "{row:?}");
    }
    assert!(rows.windows(2).all(|w| w[0].arrived <= w[1].arrived));
    let (world, last) = (session.world(), rows.last().unwrap());
    let counts = world.counts();
    assert!(
        counts.arrived > 0,
        "no agent has arrived, so this test shows nothing"
    );
    assert_eq!(
        (last.arrived, last.driving),
        (counts.arrived, counts.active)
    );
    assert_eq!(last.contacts, world.collisions().len());
    let arrived = statistics
        .trips()
        .iter()
        .filter(|t| t.status == Status::Arrived);
    assert_eq!(arrived.clone().count(), counts.arrived);
    for trip in arrived {
        assert!(trip.ended > trip.started && trip.distance > 0.0, "{trip:?}");
        assert!(trip.standing <= trip.seconds() + 1.0, "{trip:?}");
        let (first, last) = trip.places.unwrap();
        assert!(first.distance(last) <= trip.distance + 30.0, "{trip:?}");
    }
}

#[test]
fn the_last_trip_of_a_run_that_ends_within_a_second_is_listed() {
    let shipped = scenario("crossroads");
    let agents = shipped.agents().keys().map(|id| ObjectId::Agent(*id));
    let flows = shipped.flows().keys().map(|id| ObjectId::Flow(*id));
    let traffic = agents.chain(flows).collect();
    let mut quiet = shipped.clone();
    quiet.apply(operation::deleted(&shipped, &traffic)).unwrap();
    let mut within = 0;
    for populate in 1..=4 {
        let options = RunOptions {
            populate,
            ..RunOptions::default()
        };
        let world = World::new(&quiet, &builtin_modules(), &options).unwrap();
        let (mut session, mut statistics) = (Session::new(world), Statistics::default());
        session.run(Ending::WhenOver(600.0), &mut [&mut statistics], |_| true);
        let world = session.world();
        assert!(world.is_over(), "not all vehicles have arrived");
        assert_eq!(statistics.trips().len(), world.finished().count());
        within += usize::from((world.time() - world.time().round()).abs() > 0.05);
    }
    assert!(
        within > 0,
        "all runs end at whole seconds: the test shows nothing"
    );
}

#[test]
fn they_are_the_same_on_any_number_of_threads_and_change_nothing() {
    let scenario = scenario("old-town");
    let (one, session) = run(&scenario, 1, 20.0);
    let (three, _) = run(&scenario, 3, 20.0);
    assert_eq!(one.rows(), three.rows());
    assert_eq!(one.trips(), three.trips());
    let options = RunOptions {
        populate: 20,
        ..RunOptions::default()
    };
    let mut alone = World::new(&scenario, &builtin_modules(), &options).unwrap();
    while alone.steps() < session.world().steps() {
        alone.step();
    }
    assert_eq!(alone.state_hash(), session.world().state_hash());
}

#[test]
fn they_begin_anew_with_another_run() {
    let scenario = scenario("crossroads");
    let (mut statistics, _) = run(&scenario, 1, 30.0);
    let options = RunOptions::default();
    let world = World::new(&scenario, &builtin_modules(), &options).unwrap();
    statistics.begin(&world);
    assert_eq!(statistics.rows().len(), 1);
    assert!(statistics.trips().is_empty());
}

#[test]
fn tables_have_a_column_for_each_title() {
    let (statistics, _) = run(&scenario("crossroads"), 1, 60.0);
    for table in [
        time_rows_as_csv(statistics.rows()),
        trips_as_csv(statistics.trips()),
    ] {
        let mut lines = table.lines();
        let columns = lines.next().unwrap().split(',').count();
        assert!(lines.clone().count() > 5, "{table}");
        assert!(
            lines.all(|line| line.split(',').count() == columns),
            "{table}"
        );
    }
}
