//! Drives along moves by the model of the vehicle.

use roadwright_moves::{
    Bounded, FreeDrive, FreeGround, Library, Phase, Preset, Route, SlidingCar, Stop, SweepKind,
};
use roadwright_scenario::vehicle_file::{SHIPPED, VehicleFile};

fn library(preset: Preset) -> Library {
    let recorded = preset.record();
    recorded
        .graph
        .library(&recorded.clips, SweepKind::Exact)
        .unwrap()
}

fn racer() -> SlidingCar {
    let shipped = SHIPPED.iter().find(|one| one.name == "sliding-racer");
    let file = VehicleFile::from_text(shipped.unwrap().text).unwrap();
    SlidingCar::of_file(&file).unwrap()
}

const BOUNDED: Bounded = Bounded {
    horizon: 200,
    limit: 2000,
    stop: Stop::AtLeaf,
    phase: Phase::Masks,
};

fn drives(preset: Preset, route: Route, count: u64) -> Vec<FreeDrive> {
    let (library, car) = (library(preset), racer());
    let ground = FreeGround {
        library: &library,
        car: &car,
        length: 100.0,
        route,
        bounded: BOUNDED,
    };
    (0..count).map(|seed| ground.drive(seed)).collect()
}

fn close(drives: &[FreeDrive]) -> usize {
    drives.iter().filter(|one| !one.end.is_large()).count()
}

#[test]
fn routes_of_the_large_tree_are_followed_within_half_a_metre() {
    for route in [Route::Planned, Route::Random] {
        let drives = drives(Preset::Large, route, 100);
        let close = close(&drives);
        assert!(close >= 95, "{route:?}: {close} of 100");
    }
    let library = library(Preset::Large);
    let skids = |one: &&FreeDrive| {
        let mut moves = one.moves.iter();
        moves.any(|&number| library.get(number).name.starts_with("skid"))
    };
    let drives = drives(Preset::Large, Route::Random, 100);
    let skidding: Vec<FreeDrive> = drives.iter().filter(skids).cloned().collect();
    assert!(skidding.len() >= 5, "{}", skidding.len());
    assert_eq!(close(&skidding), skidding.len());
}

#[test]
fn small_trees_cannot_be_followed_because_their_speeds_jump() {
    for preset in [Preset::Five, Preset::Seven] {
        let drives = drives(preset, Route::Random, 50);
        let close = close(&drives);
        assert!(close < 25, "{}: {close} of 50", preset.name());
    }
}
