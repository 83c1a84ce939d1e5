//! The trees of the source, as recorded from the sliding car.

use roadwright_moves::{
    Frame, Library, Preset, RATE, SHIPPED, ShippedLibrary, SweepKind, Weights, distance, turned,
};

fn library(preset: Preset) -> Library {
    let recorded = preset.record();
    recorded
        .graph
        .library(&recorded.clips, SweepKind::Exact)
        .unwrap()
}

#[test]
fn small_trees_have_one_state_and_moves_of_25_frames() {
    for (preset, count) in [(Preset::Five, 5), (Preset::Seven, 7)] {
        let library = library(preset);
        assert_eq!(library.states().len(), 1);
        assert_eq!(library.moves().len(), count);
        assert_eq!(library.rate(), RATE);
        for one in library.moves() {
            assert_eq!(one.length(), 25);
            // Turns are steady, so a repeated move has no seam.
            let [first, last] = [one.frames[0], one.frames[25]];
            let apart = distance(&first, &last, &Weights::default());
            assert!(apart < 0.02, "{}: {apart}", one.name);
        }
    }
    // The larger tree has the moves of the smaller one and two sharper turns.
    let [five, seven] = [Preset::Five, Preset::Seven].map(library);
    assert_eq!(five.moves(), &seven.moves()[..5]);
    let sharpest = |library: &Library| {
        let turns = library.moves().iter().map(|one| turned(&one.frames).abs());
        turns.fold(0.0, f64::max)
    };
    assert!(sharpest(&seven) > sharpest(&five));
}

#[test]
fn moves_of_the_large_trees_fit_together() {
    for preset in [
        Preset::Large,
        Preset::LargeAngles,
        Preset::LargeWithoutSkids,
        Preset::LargeSlow,
    ] {
        let recorded = preset.record();
        let library = library(preset);
        assert_eq!(library.states()[0], recorded.graph.start);
        assert_eq!(library.states().len(), 7);
        assert_eq!(recorded.graph.bad_seams(&library), []);
        // The distance between frames says nothing about the wheels, but a vehicle that follows clips needs them to
        // fit.
        for one in library.moves() {
            let wheels = [0, one.frames.len() - 1].map(|frame| one.frames[frame].wheels);
            assert_eq!(wheels, [0.0; 2], "{}: {}", preset.name(), one.name);
        }
        // Moves lead to every state and away from it.
        for state in 0..7 {
            let ends = library.moves().iter();
            assert!(
                ends.clone()
                    .any(|one| one.from.0 == state && one.to.0 != state)
            );
            assert!(
                ends.clone()
                    .any(|one| one.to.0 == state && one.from.0 != state)
            );
        }
    }
}

#[test]
fn skids_slip_by_more_than_twenty_degrees() {
    for one in library(Preset::Large).moves() {
        if !one.name.starts_with("skid") {
            continue;
        }
        let steepest = roadwright_geometry::math::tan(20f64.to_radians());
        let slips = |frame: &&Frame| frame.sideways.abs() > steepest * frame.forward.abs();
        let count = one.frames.iter().filter(slips).count();
        assert!(count as f64 / RATE >= 0.3, "{}: {count}", one.name);
    }
}

#[test]
fn shipped_libraries_load_and_are_what_the_script_makes() {
    assert_eq!(SHIPPED.len(), Preset::ALL.len());
    for preset in Preset::ALL {
        let shipped = ShippedLibrary::named(preset.name()).unwrap();
        let recorded = preset.record();
        // After a change of the script: roadwright moves build --preset NAME --out scenarios/moves/NAME.moves.json
        assert_eq!(shipped.clips, recorded.clips.to_text(), "{}", preset.name());
        assert_eq!(shipped.moves, recorded.graph.to_text(), "{}", preset.name());
        let loaded = shipped.load().unwrap();
        assert_eq!(loaded.library.moves(), library(preset).moves());
        assert!(shipped.clips.len() < 200_000, "{}", preset.name());
    }
    assert!(ShippedLibrary::named("none").is_none());
}

#[test]
fn recording_again_gives_the_same_bytes() {
    for preset in Preset::ALL {
        assert_eq!(
            preset.record().clips.to_text(),
            preset.record().clips.to_text()
        );
    }
}

#[test]
fn shunting_moves_begin_and_end_at_rest_in_both_gears() {
    let library = library(Preset::Shunting);
    for one in library.moves() {
        let last = one.frames.len() - 1;
        for frame in [one.frames[0], one.frames[last]] {
            let motion = [frame.forward, frame.sideways, frame.yaw_rate, frame.wheels];
            assert_eq!(motion, [0.0; 4], "{}", one.name);
        }
        let ahead = one.placement(last).position.x;
        let is_reverse = one.name.starts_with("reverse");
        assert!(
            ahead.abs() > 0.3 && (ahead < 0.0) == is_reverse,
            "{}",
            one.name
        );
    }
    assert_eq!(library.moves().len(), 12);
}
