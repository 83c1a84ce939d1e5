//! Drives along moves on courses.

use roadwright_moves::{
    Bounded, Corridor, Course, Ending, Library, Phase, Played, Preset, Stop, SweepKind, Track,
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
        phase: Phase::Broad,
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
