//! Tests of the forest with bodies that collide.

use roadwright_scenario::{DynamicsLevel, Stack};
use roadwright_simulation::builtin_modules;
use roadwright_training::{Course, End, Measured, Setup, UNSEEN_SEED, measure};

fn run(vehicle: &str, controller: &str, dynamics: DynamicsLevel, seed: u64) -> Measured {
    let course = Course::named("forest").unwrap();
    let setup = Setup {
        vehicle: Some(vehicle.into()),
        dynamics: Some(dynamics),
        ..Setup::with_driver(Stack::with_controller(controller))
    };
    measure(&course, &setup, &builtin_modules(), seed).unwrap()
}

#[test]
fn the_jeep_finds_its_way_and_a_run_is_its_seed_bit_by_bit() {
    for seed in UNSEEN_SEED..UNSEEN_SEED + 4 {
        let measured = run("willys_mb", "fuzzy_mechanic", DynamicsLevel::Rigid, seed);
        let drive = &measured.drives[0];
        assert_eq!(drive.end, End::Arrived, "{seed}");
        // The drive is 114 m long at no more than 8 m/s, and equation 12.2 is its duration.
        assert!((14.0..60.0).contains(&drive.time), "{drive:?}");
        assert!((measured.row.fitness.unwrap() - drive.time).abs() < 1e-9);
    }
    let of = |seed| run("willys_mb", "fuzzy_mechanic", DynamicsLevel::Rigid, seed);
    assert_eq!(of(UNSEEN_SEED), of(UNSEEN_SEED));
}

#[test]
fn the_bus_ploughs_through_where_touching_would_end_it() {
    // The pursuit controller ignores posts. At level `rigid`, a bus knocks them over. At a planar level, its
    // drive ends at the first post.
    let felled = run("enviro_400", "pursuit", DynamicsLevel::Rigid, UNSEEN_SEED);
    assert_eq!(felled.drives[0].end, End::Arrived);
    let struck = run(
        "enviro_400",
        "pursuit",
        DynamicsLevel::OneTrack,
        UNSEEN_SEED,
    );
    assert_eq!(struck.drives[0].end, End::Struck);
    assert!(struck.row.fitness > Some(100.0) && felled.row.fitness < Some(30.0));
    // The cost of driving fast. It is not reported at levels at which bodies neither lean nor fall.
    let price = felled.handling.unwrap();
    assert!(price.felled >= 3, "{price:?}");
    assert!((0.0..1.775).contains(&price.roll_margin), "{price:?}");
    assert_eq!(struck.handling, None);
    let careful = run(
        "willys_mb",
        "fuzzy_mechanic",
        DynamicsLevel::Rigid,
        UNSEEN_SEED,
    );
    assert!(careful.handling.unwrap().felled < price.felled);
}

#[test]
fn who_stands_before_a_post_is_stuck_and_never_struck() {
    for seed in UNSEEN_SEED..UNSEEN_SEED + 3 {
        let measured = run("willys_mb", "idm", DynamicsLevel::Rigid, seed);
        assert_eq!(measured.drives[0].end, End::Stuck, "{seed}");
        assert!(measured.drives[0].time >= 12.0);
    }
}
