//! Drives along moves on courses.

use roadwright_moves::{
    Bounded, Corridor, Course, Ending, Library, MoveNumber, Phase, Played, Preset, StateNumber,
    Stop, SweepKind, Track, Traffic, Yard,
};

fn library(preset: Preset) -> Library {
    let recorded = preset.record();
    recorded
        .graph
        .library(&recorded.clips, SweepKind::Exact)
        .unwrap()
}

fn bounded(horizon: u32, limit: u32) -> Bounded {
    Bounded {
        horizon,
        limit,
        stop: Stop::AtLeaf,
        phase: Phase::Masks,
    }
}

const STRAIGHT: Corridor = Corridor {
    length: 300.0,
    corners: 0,
    sharpness: 0.0,
    width: 10.0,
    seed: 1,
};

fn drive(library: &Library, course: &Course, bounded: Bounded) -> (Ending, f64) {
    let mut played = Played::new(library, course, roadwright_moves::StateNumber(0), bounded);
    let ending = played.run();
    (ending, played.time())
}

#[test]
fn an_empty_straight_is_driven_at_full_speed() {
    let course = STRAIGHT.course("straight", None, 100.0);
    let (ending, time) = drive(&library(Preset::Five), &course, bounded(99, 2000));
    assert_eq!(ending, Ending::Arrived);
    // 300 m at 30 m/s.
    assert!((time - 10.0).abs() < 0.1, "{time}");
}

#[test]
fn a_wall_across_is_a_crash_and_a_time_limit_ends_the_drive() {
    let mut course = STRAIGHT.course("straight", None, 100.0);
    let across = [-6.0, 6.0].map(|x| roadwright_geometry::DVec2::new(x, 150.0));
    course
        .walls
        .push(roadwright_moves::Convex::line(across[0], across[1]));
    let library = library(Preset::Five);
    let (ending, time) = drive(&library, &course, bounded(99, 2000));
    assert_eq!(ending, Ending::Crash);
    assert!(time > 4.0, "{time}");
    let short = STRAIGHT.course("straight", None, 3.0);
    assert_eq!(
        drive(&library, &short, bounded(99, 2000)),
        (Ending::TimeUp, 3.0)
    );
}

#[test]
fn the_same_start_gives_the_same_drive() {
    for track in Track::ALL {
        let course = track.course().with_seed(7);
        let library = library(Preset::Seven);
        let [one, other] = [0, 1].map(|_| {
            let mut played = Played::new(
                &library,
                &course,
                roadwright_moves::StateNumber(0),
                bounded(74, 400),
            );
            (played.run(), played.time(), played.made, played.figures)
        });
        assert_eq!(one, other);
    }
}

#[test]
fn the_large_tree_keeps_its_seams() {
    let course = STRAIGHT.course("straight", None, 100.0);
    let recorded = Preset::Large.record();
    let library = library(Preset::Large);
    let mut played = Played::new(
        &library,
        &course,
        recorded.graph.start_state(),
        bounded(149, 4000),
    );
    assert_eq!(played.run(), Ending::Arrived);
    assert!(played.figures.worst_seam <= recorded.graph.threshold.unwrap());
}

#[test]
fn only_a_tree_that_can_stop_in_time_takes_corners_with_two_moves_ahead() {
    for (preset, arrive) in [(Preset::Large, 0), (Preset::LargeSlow, 4)] {
        let library = library(preset);
        let begin = preset.record().graph.start_state();
        let arrives = |&seed: &u64| {
            let course = Track::Cornered.course().with_seed(seed);
            let mut played = Played::new(&library, &course, begin, bounded(49, 45_000));
            let ending = played.run();
            assert!(played.figures.worst_seam <= 0.5);
            ending == Ending::Arrived
        };
        let count = (1..=5).filter(arrives).count();
        assert!(count >= arrive, "{}: {count}", preset.name());
        assert_eq!(count == 0, arrive == 0, "{}: {count}", preset.name());
    }
}

#[test]
fn generated_tracks_can_be_passed() {
    let recorded = Preset::Large.record();
    let library = library(Preset::Large);
    let mut count = 0;
    for seed in 1..=24 {
        let corridor = Corridor {
            length: 200.0 + 20.0 * (seed % 7) as f64,
            corners: (seed % 6) as u32,
            sharpness: 0.15 * (seed % 5) as f64,
            width: 14.0 + 2.0 * (seed % 4) as f64,
            seed,
        };
        if corridor.misfit().is_some() {
            continue;
        }
        count += 1;
        let course = corridor.course("generated", None, 120.0).with_seed(seed);
        let begin = recorded.graph.start_state();
        let mut played = Played::new(&library, &course, begin, bounded(200, 4000));
        assert_eq!(played.run(), Ending::Arrived, "{corridor:?}");
    }
    assert!(count >= 20, "{count}");
}

#[test]
fn tracks_become_scenarios_with_walls_outside_and_cars_on_their_lines() {
    let traffic = Traffic {
        count: 6,
        lines: 2,
        margin: 2.5,
        speed: 3.0,
        tilt: 0.0,
    };
    let course = STRAIGHT.course("straight", Some(&traffic), 100.0);
    let scenario = course.scenario("A track.", &Default::default()).unwrap();
    // The wall behind the start is left out, because cars come from there.
    assert_eq!(scenario.obstacles().len(), course.walls.len() - 1);
    // The inner sides of the walls are those of the course.
    for wall in scenario.obstacles().values() {
        let roadwright_scenario::Shape::Box { x, y, width, .. } = &wall.shape else {
            panic!("walls are boxes");
        };
        let inner = x.get().abs() - 0.5 * width.get();
        assert!((inner - 5.0).abs() < 1e-9, "{} {}", x.get(), y.get());
    }
    // A car leaves at the end of its line, and another car comes to the beginning at this moment.
    let (first, later): (Vec<_>, Vec<_>) = scenario
        .agents()
        .values()
        .filter(|agent| agent.vehicle == "track_car")
        .partition(|agent| agent.depart.get() == 0.0);
    assert_eq!(first.len(), course.cars.len());
    assert!(!later.is_empty());
    for agent in later {
        assert!(agent.depart.get() < 100.0);
        let roadwright_scenario::Place::Ground(place) = &agent.start else {
            panic!("cars start on the ground");
        };
        assert!((place.y.get() + 80.0).abs() < 3.0, "{}", place.y.get());
    }
}

/// Returns the library `shunting`, with all its moves or only those in the given gears.
fn shunting(gears: &[&str]) -> Library {
    let mut recorded = Preset::Shunting.record();
    let is_kept = |name: &str| gears.iter().any(|gear| name.starts_with(gear));
    recorded.graph.moves.retain(|one| is_kept(&one.clip));
    let kind = SweepKind::Exact;
    recorded.graph.library(&recorded.clips, kind).unwrap()
}

#[test]
fn only_reversing_moves_leave_a_dead_end_and_a_narrow_turn() {
    let both = shunting(&["forwards", "reverse"]);
    let forwards = shunting(&["forwards"]);
    let start = StateNumber(0);
    for yard in Yard::ALL {
        let course = yard.course();
        let drive = |library: &Library| {
            let limits = bounded(200, 20_000);
            let mut played = Played::new(library, &course, start, limits).with_detours();
            (played.run(), played.made)
        };
        let (ending, made) = drive(&both);
        assert_eq!(ending, Ending::Arrived, "{}", yard.name());
        let reverses = |&number: &MoveNumber| both.get(number).name.starts_with("reverse");
        assert!(made.iter().any(reverses), "{}", yard.name());
        for library in [&forwards, &library(Preset::Large)] {
            assert_ne!(drive(library).0, Ending::Arrived, "{}", yard.name());
        }
    }
}
