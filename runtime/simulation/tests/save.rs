//! Tests that saved worlds resume exactly.

use crate::common::{all_shipped, has_scripts, shipped};
use crate::random_steps::Random;
use proptest::prelude::*;
use roadwright_scenario::{DynamicsLevel, Scenario};
use roadwright_simulation::{Ground, RunOptions, SaveError, SavedWorld, World, builtin_modules};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::OnceLock;

fn run(world: &mut World, steps: u64) {
    (0..steps).for_each(|_| world.step());
}

fn restore(scenario: &Scenario, saved: &SavedWorld, threads: usize) -> Result<World, SaveError> {
    let options = RunOptions {
        threads,
        ..RunOptions::default()
    };
    let ground = Ground::new(scenario);
    let (world, notes) = World::restore(ground, scenario, &builtin_modules(), &options, saved)?;
    assert!(notes.is_empty(), "{notes:?}");
    Ok(world)
}

#[test]
fn going_on_equals_an_uninterrupted_run() {
    // At these moments, agents wait, drive, change lanes, arrive, or have just left.
    for (name, populate, moments) in [
        ("crossroads", 0, [1, 137, 1999, 3001]),
        ("figure-eight", 0, [2, 640, 2411, 4000]),
        ("obstacle-field", 0, [1, 333, 1777, 2500]),
        ("old-town", 60, [1, 97, 1201, 2003]),
    ] {
        let scenario = shipped(name);
        let options = RunOptions {
            populate,
            ..RunOptions::default()
        };
        let mut whole = World::new(&scenario, &builtin_modules(), &options).unwrap();
        let mut saves = Vec::new();
        for moment in moments {
            let steps = moment - whole.steps();
            run(&mut whole, steps);
            let bytes = whole.save().unwrap().to_bytes();
            saves.push((bytes, whole.state_hash()));
        }
        run(&mut whole, 700);
        let end = whole.steps();
        for (number, (bytes, hash)) in saves.into_iter().enumerate() {
            let saved = SavedWorld::from_bytes(&bytes).unwrap();
            // Many worlds are restored from one save, with different numbers of threads.
            let mut world = restore(&scenario, &saved, 1 + number % 2).unwrap();
            let again = restore(&scenario, &saved, 1).unwrap();
            assert_eq!(
                (world.state_hash(), again.state_hash()),
                (hash, hash),
                "{name}"
            );
            let steps = end - world.steps();
            run(&mut world, steps);
            assert_eq!(
                world.state_hash(),
                whole.state_hash(),
                "{name}, moment {number}"
            );
            assert_eq!(world.summary(), whole.summary(), "{name}, moment {number}");
        }
    }
}

/// Returns the hashes of all snapshots over a number of steps.
fn seen(world: &mut World, steps: u64) -> Vec<u64> {
    let step = |_| {
        world.step();
        world.snapshot().hash()
    };
    (0..steps).map(step).collect()
}

#[test]
fn every_shipped_scenario_goes_on_from_a_random_step() {
    let mut random = Random::from_environment();
    let (mut driven, mut with_scripts) = (0, Vec::new());
    for (number, name) in all_shipped().iter().enumerate() {
        let scenario = shipped(name);
        if has_scripts(&scenario) {
            with_scripts.push(name.clone());
            continue;
        }
        let threads = 1 + number % 2;
        let options = RunOptions {
            threads,
            ..RunOptions::default()
        };
        let mut whole = World::new(&scenario, &builtin_modules(), &options).unwrap();
        let (first, later) = random.moments(whole.dt());
        run(&mut whole, first);
        let bytes = whole.save().unwrap().to_bytes();
        let hash = whole.state_hash();
        let pictures = seen(&mut whole, later);
        // Many worlds are restored from one save, with the same number of threads and with another
        // one.
        let saved = SavedWorld::from_bytes(&bytes).unwrap();
        for threads in [threads, 3 - threads] {
            let said =
                format!("{name}, step {first} and {later} more, {threads} threads, {random}");
            let mut world = restore(&scenario, &saved, threads).unwrap();
            assert_eq!(world.state_hash(), hash, "{said}");
            assert!(seen(&mut world, later) == pictures, "{said}");
            assert_eq!(world.state_hash(), whole.state_hash(), "{said}");
            assert_eq!(world.summary(), whole.summary(), "{said}");
        }
        driven += 1;
    }
    // `runtime/extension/tests/save.rs` covers these scenarios.
    assert_eq!(
        with_scripts,
        ["car-park", "chase", "convoy", "rush-hour", "trailer-yard"]
    );
    assert!(driven >= 14);
}

#[test]
fn what_a_run_was_asked_for_holds_on() {
    let scenario = shipped("old-town");
    let asked = RunOptions {
        dt: Some(0.1),
        populate: 150,
        dynamics: Some(DynamicsLevel::Lane),
        pedestrians: Some(300.0),
        ..RunOptions::default()
    };
    let mut whole = World::new(&scenario, &builtin_modules(), &asked).unwrap();
    run(&mut whole, 20);
    // Many agents have not been spawned yet.
    assert!(whole.counts().waiting > 10, "{:?}", whole.counts());
    let saved = whole.save().unwrap();
    run(&mut whole, 900);
    let mut again = restore(&scenario, &saved, 2).unwrap();
    run(&mut again, 900);
    assert_eq!(again.summary(), whole.summary());
    // Options given on restore override the save, and are reported.
    let other = RunOptions {
        dynamics: Some(DynamicsLevel::OneTrack),
        pedestrians: Some(0.0),
        ..RunOptions::default()
    };
    let ground = Ground::new(&scenario);
    let restored = World::restore(ground, &scenario, &builtin_modules(), &other, &saved);
    let (mut branch, notes) = restored.unwrap();
    assert_eq!(
        notes,
        [
            "scenario dynamics: agents that spawn from now on use another level",
            "scenario pedestrians: pedestrians arrive at another rate from now on"
        ]
    );
    assert_eq!(branch.summary().started_fresh.len(), 2);
    run(&mut branch, 900);
    assert_ne!(branch.state_hash(), whole.state_hash());
}

#[test]
fn another_ground_is_an_error() {
    let scenario = shipped("crossroads");
    let world = World::new(&scenario, &builtin_modules(), &RunOptions::default()).unwrap();
    let saved = world.save().unwrap();
    let error = restore(&shipped("figure-eight"), &saved, 1).err().unwrap();
    assert_eq!(error, SaveError::OtherGround);
    assert!(error.to_string().contains("different roads"));
}

/// Returns the bytes of a save of a busy world.
fn busy() -> &'static [u8] {
    static BUSY: OnceLock<Vec<u8>> = OnceLock::new();
    BUSY.get_or_init(|| {
        let scenario = shipped("crossroads");
        let mut world = World::new(&scenario, &builtin_modules(), &RunOptions::default()).unwrap();
        run(&mut world, 2500);
        assert!(world.counts().active > 0);
        world.save().unwrap().to_bytes()
    })
}

/// Contents of a save without its checksum, for creating saves with wrong contents.
#[derive(Serialize, Deserialize)]
struct Frame {
    format: String,
    version: u16,
    program: String,
    ground: u64,
    inexact: Vec<String>,
    parts: BTreeMap<String, (u16, Vec<u8>)>,
}

/// Creates a save whose frame has been changed.
fn changed(bytes: &[u8], change: impl FnOnce(&mut Frame)) -> SavedWorld {
    let (frame, _) = bytes.split_last_chunk::<8>().unwrap();
    let mut frame: Frame = postcard::from_bytes(frame).unwrap();
    change(&mut frame);
    let mut bytes = postcard::to_allocvec(&frame).unwrap();
    let sum = twox_hash::XxHash3_64::oneshot(&bytes);
    bytes.extend(sum.to_le_bytes());
    SavedWorld::from_bytes(&bytes).unwrap()
}

#[test]
fn a_part_of_another_version_is_refused_by_name_and_the_others_are_not() {
    let scenario = shipped("crossroads");
    let refused = |saved: &SavedWorld| restore(&scenario, saved, 1).err();
    let mut names = Vec::new();
    let same = changed(busy(), |frame| names.extend(frame.parts.keys().cloned()));
    assert_eq!(refused(&same), None);
    assert!(names.len() > 20, "{names:?}");
    for name in names {
        let with = |change: fn(u16) -> u16| {
            let mut version = 0;
            let saved = changed(busy(), |frame| {
                let part = frame.parts.get_mut(&name).unwrap();
                (part.0, version) = (change(part.0), change(part.0));
            });
            (refused(&saved).unwrap(), version)
        };
        let part = || name.clone();
        let (error, version) = with(|version| version + 1);
        assert!(error.to_string().contains("written by a newer Roadwright"));
        assert!(
            error
                .to_string()
                .contains(&format!("\"{name}\" has version {version}"))
        );
        let newer = SaveError::Newer {
            part: part(),
            version,
        };
        assert_eq!(error, newer);
        let (error, version) = with(|version| version - 1);
        assert!(error.to_string().contains("by an older Roadwright"));
        let older = SaveError::Older {
            part: part(),
            version,
        };
        assert_eq!(error, older);
    }
}

#[test]
fn the_version_of_a_part_is_told_before_other_roads() {
    let saved = changed(busy(), |frame| {
        frame.parts.get_mut("claims").unwrap().0 -= 1;
        frame.ground += 1;
    });
    let error = restore(&shipped("crossroads"), &saved, 1).err().unwrap();
    assert!(matches!(error, SaveError::Older { part, .. } if part == "claims"));
}

#[test]
fn numbers_that_somebody_made_up_are_refused() {
    let scenario = shipped("crossroads");
    let mut world = World::new(&scenario, &builtin_modules(), &RunOptions::default()).unwrap();
    run(&mut world, 1000);
    // No agent has left yet, so the list of leaving agents is empty and is the end of the part.
    let counts = world.counts();
    assert!(
        counts.active > 1 && counts.arrived == 0,
        "move the moment: {counts:?}"
    );
    let bytes = world.save().unwrap().to_bytes();
    let refused = |list: &[u8]| {
        let saved = changed(&bytes, |frame| {
            let (_, bytes) = frame.parts.get_mut("membership").unwrap();
            assert_eq!(bytes.pop(), Some(0));
            bytes.extend(list);
        });
        restore(&scenario, &saved, 1).err()
    };
    assert_eq!(refused(&[0]), None);
    // This claims that agent 2^32 - 1 has left.
    let error = SaveError::Damaged("the record of a removed agent is invalid".into());
    assert_eq!(refused(&[1, 0xff, 0xff, 0xff, 0xff, 0x0f]), Some(error));
}

proptest! {
    #[test]
    fn damaged_saves_are_refused(
        damage in proptest::collection::vec((any::<prop::sample::Index>(), 1u8..), 0..6),
        cut in proptest::option::of(any::<prop::sample::Index>()),
    ) {
        let mut bytes = busy().to_vec();
        for (at, value) in damage {
            let at = at.index(bytes.len());
            bytes[at] ^= value;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        let is_sound = bytes == busy();
        prop_assert_eq!(SavedWorld::from_bytes(&bytes).is_ok(), is_sound);
    }
}
