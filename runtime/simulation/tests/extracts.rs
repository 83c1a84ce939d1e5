//! Tests of difficult junctions, from OpenStreetMap and of our own making, on which cars drive random trips.

use roadwright_interchange::osm::{ImportOptions, import, read};
use roadwright_scenario::Scenario;
use roadwright_simulation::{
    Collision, Ending, JunctionWatch, RunOptions, Session, World, builtin_modules,
};
use roadwright_testing::{RingArm, near_crossings, ring};
use std::collections::BTreeMap;

/// Number of cars (`CARS`), and the time by which all of them must have arrived, s (`RUN`).
const CARS: usize = 80;
const RUN: f64 = 600.0;
/// Maximum time for which a car may stand without interruption, s.
const LONGEST_STOP: f64 = 120.0;
/// Depth below which a contact counts as a graze, m.
const GRAZE: f64 = 0.06;
/// Speed below which a car counts as standing, m/s.
const STANDING: f64 = 0.1;

fn imported(osm: &str) -> Scenario {
    let options = ImportOptions {
        name: "extract".into(),
        ..ImportOptions::default()
    };
    import(&read(osm.as_bytes()).unwrap(), &options).unwrap().0
}

/// Runs cars on random trips. Returns the problems that occurred, and the number of grazes.
fn faults(scenario: &Scenario, seed: u64) -> (Vec<String>, usize) {
    let options = RunOptions {
        seed: Some(seed),
        populate: CARS,
        verify: true,
        ..RunOptions::default()
    };
    let world = World::new(scenario, &builtin_modules(), &options).unwrap();
    let mut session = Session::new(world);
    let mut watch = JunctionWatch::default();
    let (mut since, mut longest): (BTreeMap<u64, f64>, f64) = (BTreeMap::new(), 0.0);
    let mut why: Vec<String> = Vec::new();
    for second in 1..=RUN as u32 {
        let until = f64::from(second);
        let ending = Ending::AtTime(until);
        session.run(ending, &mut [&mut watch], |_| true);
        for vehicle in &session.world().snapshot().vehicles {
            let begun = since.entry(vehicle.agent).or_insert(until);
            if vehicle.speed > STANDING {
                *begun = until;
            }
            let stood = until - *begun;
            longest = longest.max(stood);
            if stood > LONGEST_STOP && why.is_empty() {
                let chain = session.world().wait_chain(vehicle.agent).unwrap();
                let links = chain.links.iter();
                why = links
                    .map(|link| format!("{} {:?} {}", link.agent, link.lane, link.why()))
                    .collect();
            }
        }
    }
    let summary = session.world().summary();
    let mut wrong = Vec::new();
    let is_graze = |contact: &&Collision| contact.depth < GRAZE;
    let grazes = summary.collisions.iter().filter(is_graze).count();
    for contact in summary
        .collisions
        .iter()
        .filter(|contact| !is_graze(contact))
    {
        wrong.push(format!("{contact:?}"));
    }
    let (agents, law) = (&summary.agents, &summary.law);
    if agents.arrived != CARS {
        wrong.push(format!("{agents:?}"));
    }
    if (law.red_passed, law.gridlocks) != (0, 0) {
        wrong.push(format!("{law:?}"));
    }
    if longest > LONGEST_STOP {
        wrong.push(format!("a car stands for {longest} s: {why:?}"));
    }
    println!(
        "seed {seed}: longest stop {longest} s, {} contacts",
        summary.collisions.len()
    );
    for junction in watch.figures(session.world()) {
        let (wait, bound) = (junction.longest_wait, junction.bound);
        if wait > bound {
            wrong.push(format!(
                "{}: {wait} s, the bound is {bound} s",
                junction.node
            ));
        }
    }
    (wrong, grazes)
}

/// Runs cars with seeds 1 to 3, and expects that all arrive without touching anything.
fn assert_all_arrive(what: &str, osm: &str) {
    let scenario = imported(osm);
    for seed in 1..=3 {
        let (wrong, grazes) = faults(&scenario, seed);
        assert!(
            wrong.is_empty() && grazes == 0,
            "{what}, seed {seed}: {grazes} grazes, {wrong:#?}"
        );
    }
}

#[test]
fn nothing_touches_at_tight_rings() {
    let streets =
        |at: &[usize]| -> Vec<RingArm> { at.iter().copied().map(RingArm::Street).collect() };
    for (radius, at) in [
        (5.5, &[0, 8, 16][..]),
        (5.5, &[0, 7, 15]),
        // With one car at a time in the ring, the last arm depends on its turn.
        (5.5, &[0, 5, 13]),
        (5.5, &[0, 6, 12, 18]),
        (6.3, &[0, 7, 12, 15, 21]),
        (7.0, &[0, 6, 12, 18]),
    ] {
        assert_all_arrive(&format!("{radius} m, {at:?}"), &ring(radius, &streets(at)));
    }
}

/// Rings whose pieces are 1.3 to 10.5 m long, with entries beside exits.
#[test]
fn nothing_touches_at_rings_of_short_pieces() {
    use RingArm::{Entry, Exit, Street};
    for (radius, arms) in [
        (5.5, [Street(0), Street(7), Exit(12), Entry(13), Street(19)]),
        (5.0, [Street(0), Street(8), Exit(9), Entry(16), Street(17)]),
        (5.7, [Street(0), Exit(1), Entry(8), Street(9), Street(16)]),
    ] {
        assert_all_arrive(&format!("{radius} m, {arms:?}"), &ring(radius, &arms));
    }
}

#[test]
fn all_arrive_over_merged_junctions_with_arrows_for_the_farther_one() {
    for gap in [6.0, 9.0, 14.0] {
        assert_all_arrive(&format!("{gap} m"), &near_crossings(gap));
    }
}

mod real_data {
    use super::*;
    use roadwright_testing::data;

    #[test]
    #[ignore = "set ROADWRIGHT_TEST_DATA"]
    fn all_arrive_in_extracts_without_contacts_and_long_stops() {
        let files = std::fs::read_dir(data("osm2streets")).unwrap();
        let mut files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
        files.sort_unstable();
        let (mut wrong, mut grazes) = (BTreeMap::new(), 0);
        for file in files {
            println!("{}", file.display());
            let scenario = imported(&std::fs::read_to_string(&file).unwrap());
            for seed in 1..=3 {
                let (found, more) = faults(&scenario, seed);
                grazes += more;
                if !found.is_empty() {
                    wrong.insert((file.clone(), seed), found);
                }
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
        assert_eq!(grazes, 0);
    }
}
