//! The bodies of the fuzz targets.
//!
//! A reader may reject any input. Accepted input must be the same after it is written and read again, and a
//! world created from it must run for a few steps. A panic, a duration of more than ten seconds, or memory
//! use above the limit is a finding.

pub mod made_up;

use roadwright_bundle::Bundle;
use roadwright_interchange::osm::{self, ImportOptions};
use roadwright_scenario::check::check;
use roadwright_scenario::vehicle_file::{FileReference, VehicleFile};
use roadwright_scenario::{DynamicsLevel, Edit, Scenario, VehicleType, file};
use roadwright_simulation::{
    Ending, Ground, RunOptions, SavedWorld, Session, World, builtin_modules,
};
use roadwright_training::experiment::Results;
use roadwright_training::genetic::{Experiment, Record};
use roadwright_vehicle::gait::{Bvh, Cycle};
use std::io::{Cursor, Write};
use std::sync::{Arc, OnceLock};

/// Number of steps that are driven. They are enough for agents to spawn, plan and reach a junction.
const STEPS: u32 = 20;

/// Tests a scenario file.
pub fn scenario(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes)
        && let Ok(scenario) = file::from_text(text)
    {
        hold(&scenario);
    }
}

/// Tests an extract of OpenStreetMap as XML. Other inputs are left to the PBF target.
pub fn osm_xml(bytes: &[u8]) {
    if bytes.contains(&b'<') {
        import(bytes);
    }
}

/// Tests an extract of OpenStreetMap as PBF.
pub fn osm_pbf(bytes: &[u8]) {
    import(bytes);
}

fn import(bytes: &[u8]) {
    let Ok(elements) = osm::read(bytes) else {
        return;
    };
    if let Ok((scenario, _)) = osm::import(&elements, &ImportOptions::default()) {
        hold(&scenario);
    }
}

/// Tests recorded motion. A gait computed from it must be within the ranges allowed for vehicle types.
pub fn bvh(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes)
        && let Ok(bvh) = Bvh::from_text(text)
        && let Ok(frames) = bvh.cycle_frames(&[], None)
        && let Ok(cycle) = Cycle::factored(&frames, bvh.frame_time)
        && let Ok(gait) = cycle.gait()
    {
        assert!((0.0..=1.0).contains(&gait.duty));
        assert!(gait.swing.iter().all(|share| (0.0..=1.0).contains(share)));
    }
}

/// Tests a behaviour script. Compiling it tries every handler.
pub fn script(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        let _ = roadwright_extension::script::compile("fuzz.rhai", text, None);
    }
}

/// Tests a compiled plugin.
pub fn plugin_file(bytes: &[u8]) {
    let _ = roadwright_extension::inspect_bytes(bytes);
}

/// Small scenario with junctions, flows and agents. Other inputs are inserted into it.
const AROUND: &str = include_str!("../../scenarios/crossroads.scenario.json");

fn around() -> Scenario {
    file::from_text(AROUND).expect("a shipped scenario is read")
}

fn one_thread() -> RunOptions {
    RunOptions {
        threads: 1,
        ..RunOptions::default()
    }
}

/// Tests a save with changed parts ([`made_up::changed`]) and a correct checksum by restoring and driving it.
pub fn save(bytes: &[u8]) {
    static SAVED: OnceLock<(Scenario, Arc<Ground>, Vec<u8>)> = OnceLock::new();
    let (scenario, ground, saved) = SAVED.get_or_init(|| {
        let scenario = around();
        let world = World::new(&scenario, &builtin_modules(), &one_thread());
        let mut world = world.expect("a shipped scenario runs");
        (0..1500).for_each(|_| world.step());
        let saved = world.save().expect("built-in modules can be saved");
        let ground = world.ground().clone();
        (scenario, ground, saved.to_bytes())
    });
    let changed = made_up::changed(saved, bytes).expect("the input is a saved world");
    let Ok(changed) = SavedWorld::from_bytes(&changed) else {
        return;
    };
    let restored = World::restore(
        ground.clone(),
        scenario,
        &builtin_modules(),
        &one_thread(),
        &changed,
    );
    if let Ok((mut world, _)) = restored {
        (0..STEPS).for_each(|_| world.step());
        let _ = (world.snapshot(), world.summary(), world.save_inexact());
    }
}

/// Tests a bundle, or the manifest of a bundle with correct checksums.
pub fn bundle(bytes: &[u8]) {
    let read = match bytes.starts_with(b"PK") {
        true => Bundle::from_bytes(bytes),
        false => Bundle::from_bytes(&around_manifest(bytes)),
    };
    if let Ok(bundle) = read {
        let again = bundle.to_bytes().expect("what was read is written");
        let again = Bundle::from_bytes(&again).expect("what was written is read");
        assert!(bundle == again, "what was written is read the same");
    }
}

/// Returns an archive with the given manifest, and with a scenario and a script that the manifest may list.
fn around_manifest(manifest: &[u8]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options =
        zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    for (name, contents) in [
        ("manifest.json", manifest),
        ("crossroads.scenario.json", AROUND.as_bytes()),
        ("scripts/still.rhai", b"fn behave(agent) {}\n"),
    ] {
        let begun = archive.start_file(name, options);
        begun.expect("the name is valid in an archive");
        archive.write_all(contents).expect("memory can be written");
    }
    let finished = archive.finish().expect("memory can be written");
    finished.into_inner()
}

/// Tests a vehicle file. An accepted vehicle drives at every level for which it has data.
pub fn vehicle(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let Ok(vehicle) = VehicleFile::from_text(text) else {
        return;
    };
    let again = VehicleFile::from_text(&vehicle.to_text()).expect("what was written is read");
    assert!(vehicle == again, "what was written is read the same");
    let mut scenario = around();
    let kind = VehicleType {
        file: Some(Arc::new(FileReference {
            path: "vehicles/fuzz.vehicle.json".into(),
            hash: String::new(),
            was: None,
            vehicle: vehicle.clone(),
        })),
        ..vehicle.vehicle_type()
    };
    for key in scenario.vehicle_types().clone().into_keys() {
        let edit = Edit::VehicleType(key, Some(Box::new(kind.clone())));
        if scenario.apply(edit).is_err() {
            return;
        }
    }
    for level in DynamicsLevel::FOR_VEHICLES {
        let options = RunOptions {
            dynamics: Some(level),
            ..one_thread()
        };
        if let Ok(mut world) = World::new(&scenario, &builtin_modules(), &options) {
            (0..STEPS).for_each(|_| world.step());
        }
    }
}

/// Tests a training experiment.
pub fn experiment(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes)
        && let Ok(experiment) = Experiment::from_text(text)
    {
        let again = Experiment::from_text(&experiment.to_text());
        let again = again.expect("what was written is read");
        assert!(experiment == again, "what was written is read the same");
    }
}

/// Tests a training record. Records with a wrong hash are sealed again first.
pub fn record(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let _ = Record::from_text(text);
    if let Ok(mut record) = serde_json::from_str::<Record>(text) {
        let sealed = record.to_text();
        if let Ok(again) = Record::from_text(&sealed) {
            assert!(record == again, "what was written is read the same");
        }
    }
}

/// Tests results of an experiment.
pub fn results(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes)
        && let Ok(results) = Results::parse(text)
    {
        let _ = results.check_hash();
        let text = serde_json::to_string(&results).expect("results are plain data");
        let again = Results::parse(&text).expect("what was written is read");
        assert!(results == again, "what was written is read the same");
    }
}

/// Writes, reads, checks and drives a scenario that a reader has accepted.
fn hold(scenario: &Scenario) {
    let text = file::to_text(scenario);
    let again = file::from_text(&text).expect("what was written is read");
    assert!(*scenario == again, "what was written is read the same");
    let _ = check(scenario);
    let options = RunOptions {
        threads: 1,
        ..RunOptions::default()
    };
    if let Ok(world) = World::new(scenario, &builtin_modules(), &options) {
        let time = f64::from(STEPS) * scenario.settings().dt;
        Session::new(world).run(Ending::AtTime(time), &mut [], |_| true);
    }
}
