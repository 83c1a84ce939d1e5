//! Tests of the vehicle files that are rejected, and of the use of vehicle files by scenarios.

use roadwright_scenario::check::{self, Code};
use roadwright_scenario::vehicle_file::{SHIPPED, VehicleFile, hash};
use roadwright_scenario::{
    Agent, AgentId, DynamicsLevel, Edit, Place, Scenario, VehicleType, file,
};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

fn vehicles() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/vehicles")
}

fn willys() -> String {
    std::fs::read_to_string(vehicles().join("willys-mb.vehicle.json")).unwrap()
}

/// Returns the error for the jeep with a different value at a JSON pointer.
fn refused(pointer: &str, value: Value) -> String {
    let mut changed: Value = serde_json::from_str(&willys()).unwrap();
    *changed.pointer_mut(pointer).unwrap() = value;
    VehicleFile::from_text(&changed.to_string())
        .unwrap_err()
        .to_string()
}

#[test]
fn bad_numbers_are_refused_with_key_and_reason() {
    let cases = [
        (
            "/body/mass",
            json!(-1000.0),
            "body.mass: -1000 is out of range",
        ),
        ("/body/mass", json!("heavy"), "body.mass: "),
        (
            "/body/mass_box",
            json!([1.0, 0.0, 1.0]),
            "body.mass_box: 0 is out of range",
        ),
        (
            "/body/mass_box",
            json!([0.01, 0.01, 0.01]),
            "body.yaw_inertia: 79.2 is implausible",
        ),
        (
            "/wheels/radius",
            json!(0.0),
            "wheels.radius: 0 is out of range",
        ),
        (
            "/wheels/positions",
            json!([]),
            "wheels.positions: a vehicle with 0 wheels is not supported",
        ),
        (
            "/wheels/friction",
            json!(-0.5),
            "wheels.friction: -0.5 is out of range",
        ),
        (
            "/steering/wheels",
            json!([2, 9]),
            "steering.wheels: there is no wheel 9",
        ),
        (
            "/steering/wheels",
            json!([0, 1, 2, 3]),
            "steering.wheels: expected at least one",
        ),
        (
            "/steering/wheels",
            json!([0, 1]),
            "steering.wheels: the steered wheels are -2.45 m",
        ),
        (
            "/engine/torque_curve_rpm_nm",
            json!([]),
            "engine.torque_curve_rpm_nm: the curve has no points",
        ),
        (
            "/engine/torque_curve_rpm_nm",
            json!([[600.0, 100.0], [600.0, 120.0]]),
            "engine.torque_curve_rpm_nm: point 1 does not have a higher rpm than point 0",
        ),
        (
            "/engine/torque_curve_rpm_nm/1/1",
            json!(-3.0),
            "engine.torque_curve_rpm_nm: point 1: -3 is out of range",
        ),
        (
            "/gearbox/gears/1/ratio",
            json!(0.0),
            "gearbox.gears.1.ratio: 0 drives no wheels",
        ),
        (
            "/gearbox/gears/2/ratio",
            json!(9.0),
            "gearbox.gears.2.ratio: list the forward gears",
        ),
        (
            "/gearbox/gears/2/wheels",
            json!(5),
            "gearbox.gears.2.wheels: 5 is out of range: expected 1 to 4 driven wheels",
        ),
        (
            "/gearbox/gears",
            json!([]),
            "gearbox.gears: expected at least one forward gear",
        ),
        (
            "/gearbox/final_drive",
            json!(0.0),
            "gearbox.final_drive: 0 is out of range",
        ),
        (
            "/gearbox/efficiency",
            json!(1.7),
            "gearbox.efficiency: 1.7 is out of range",
        ),
        (
            "/gearbox/efficiency",
            json!(0.0),
            "gearbox.efficiency: expected more than 0",
        ),
        (
            "/gearbox/down_rpm",
            json!(4000.0),
            "gearbox.down_rpm: expected less than up_rpm",
        ),
        (
            "/brakes/hand_wheels",
            json!([4]),
            "brakes.hand_wheels: there is no wheel 4",
        ),
        ("/format", json!("roadwright-scenario"), "format: expected"),
        ("/version", json!(2), "version: 2 is not supported"),
    ];
    for (pointer, value, words) in cases {
        let message = refused(pointer, value);
        assert!(message.starts_with(words), "{pointer}: {message}");
    }
    // Positive control: the unchanged file is read.
    assert!(VehicleFile::from_text(&willys()).is_ok());
}

#[test]
fn what_is_no_number_or_no_json_is_refused_with_its_line() {
    for (from, to) in [
        ("\"mass\": 1000.0", "\"mass\": NaN"),
        ("\"mass\": 1000.0", "\"mass\": 1e999"),
        ("\"mass\": 1000.0", "\"mas\": 1000.0"),
        ("\"mass\": 1000.0", "\"mass\": 1000.0, \"mass\": 2.0"),
    ] {
        let text = willys().replacen(from, to, 1);
        assert_ne!(text, willys());
        let error = VehicleFile::from_text(&text).unwrap_err();
        assert_eq!(error.line, 6, "{to}: {error}");
    }
    assert!(VehicleFile::from_text("").is_err());
    assert!(VehicleFile::from_text("[]").is_err());
}

#[test]
fn a_wheel_inside_a_wheel_is_refused() {
    let message = refused("/wheels/positions/3", json!([1.35, 0.5, -0.495]));
    assert!(
        message.starts_with("wheels.positions.3: wheel 3 is inside wheel 2: 0.18 m apart"),
        "{message}"
    );
}

#[test]
fn the_shipped_ones_are_vehicles_and_have_what_their_levels_need() {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(vehicles()).unwrap() {
        let path = entry.unwrap().path();
        let vehicle = VehicleFile::load(&path).unwrap();
        let kind = vehicle.vehicle_type();
        // The contents of a file also work as an embedded vehicle type.
        let mut scenario = Scenario::new("one");
        let edit = Edit::VehicleType("it".into(), Some(Box::new(kind)));
        scenario.apply(edit).unwrap();
        assert!(vehicle.missing(DynamicsLevel::OneTrack).is_empty());
        let slips = vehicle.missing(DynamicsLevel::DynamicOneTrack);
        let name = path.to_string_lossy();
        let is_kinematic = ["semi-trailer", "sliding-racer"]
            .iter()
            .any(|kind| name.contains(kind));
        assert_eq!(slips.is_empty(), !is_kinematic, "{slips:?}");
        let lacks = vehicle.missing(DynamicsLevel::Rigid);
        let is_sprung = vehicle.suspension.is_some();
        assert_eq!(lacks.contains(&"suspension"), !is_sprung, "{lacks:?}");
        assert_eq!(lacks.is_empty(), is_sprung, "{lacks:?}");
        let slides = vehicle.missing(DynamicsLevel::Sliding).is_empty();
        assert_eq!(slides, vehicle.sliding.is_some());
        names.push(format!("vehicles/{}", path.file_name().unwrap().display()));
    }
    names.sort();
    // All files in the folder ship with the program.
    let shipped: Vec<_> = SHIPPED.iter().map(|vehicle| vehicle.path).collect();
    assert_eq!(names, shipped);
}

#[test]
fn the_jeep_and_the_bus_have_the_dimensions_of_the_inline_ones() {
    for (name, inline) in [
        ("willys-mb", VehicleType::willys_mb()),
        ("enviro-400", VehicleType::enviro_400()),
    ] {
        let path = vehicles().join(format!("{name}.vehicle.json"));
        let kind = VehicleFile::load(&path).unwrap().vehicle_type();
        let dimensions = |kind: &VehicleType| {
            [
                *kind.length,
                *kind.width,
                *kind.height,
                *kind.wheelbase,
                *kind.rear_overhang,
                *kind.mass,
            ]
        };
        for (a, b) in dimensions(&kind).into_iter().zip(dimensions(&inline)) {
            assert!((a - b).abs() < 1e-9, "{name}: {a} {b}");
        }
    }
}

/// Returns a folder with the jeep's file, and with a scenario whose vehicle type `jeep` is the
/// given entry.
fn folder(entry: &Value) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("vehicles")).unwrap();
    std::fs::write(folder.path().join("vehicles/jeep.vehicle.json"), willys()).unwrap();
    let mut text: Value = serde_json::from_str(&file::to_text(&Scenario::new("one"))).unwrap();
    text["vehicle_types"]["jeep"] = entry.clone();
    let path = folder.path().join("one.scenario.json");
    std::fs::write(&path, serde_json::to_string_pretty(&text).unwrap()).unwrap();
    (folder, path)
}

const FILE: &str = "vehicles/jeep.vehicle.json";

#[test]
fn a_vehicle_type_can_stand_in_a_file_of_its_own() {
    let (folder, path) = folder(&json!({ "file": FILE }));
    let scenario = file::load(&path).unwrap();
    let kind = &scenario.vehicle_types()["jeep"];
    assert_eq!(kind.wheelbase, 1.10 + 1.35);
    let reference = kind.file.as_ref().unwrap();
    assert_eq!(
        (&*reference.path, &*reference.hash),
        (FILE, &*hash(&willys()))
    );
    // If a scenario is saved beside the file, it refers to the file with its hash. Elsewhere, it
    // contains the whole vehicle.
    file::save(&scenario, &path).unwrap();
    let saved = std::fs::read_to_string(&path).unwrap();
    let line = format!(
        "\"jeep\": {{\"file\": \"{FILE}\", \"hash\": \"{}\"}}",
        hash(&willys())
    );
    assert!(saved.contains(&line), "{saved}");
    assert_eq!(file::load(&path).unwrap(), scenario);
    let other = tempfile::tempdir().unwrap();
    let elsewhere = other.path().join("two.scenario.json");
    file::save(&scenario, &elsewhere).unwrap();
    assert_eq!(file::load(&elsewhere).unwrap(), scenario);
    assert_eq!(
        file::from_text(&file::to_text(&scenario)).unwrap(),
        scenario
    );
    // If a file has changed since the scenario was saved, its current contents are used, and the
    // change is detected.
    let heavier = willys().replacen("1000.0", "1200.0", 1);
    std::fs::write(folder.path().join(FILE), heavier).unwrap();
    let changed = file::load(&path).unwrap();
    let kind = &changed.vehicle_types()["jeep"];
    assert_eq!(kind.mass, 1240.0);
    assert_eq!(kind.file.as_ref().unwrap().was, Some(hash(&willys())));
    // The check reports the change at the agent that drives the vehicle.
    let told = |scenario: &Scenario| {
        let mut driven = scenario.clone();
        let agent = Agent {
            vehicle: "jeep".into(),
            stack: "idm".into(),
            start: Place::ground(0.0, 0.0, 0.0),
            via: Vec::new(),
            destination: Some(Place::ground(50.0, 0.0, 0.0)),
            ..crate::common::west_to_east()
        };
        let edit = Edit::Agent(AgentId(1), Some(Box::new(agent)));
        driven.apply(edit).unwrap();
        let findings = check::check(&driven);
        let codes = findings.iter().map(|finding| finding.code);
        codes
            .filter(|code| *code == Code::VehicleFileChanged)
            .count()
    };
    assert_eq!((told(&scenario), told(&changed)), (0, 1));
}

#[test]
fn what_a_file_says_is_not_edited_in_the_scenario() {
    let (_folder, path) = folder(&json!({ "file": FILE }));
    let mut scenario = file::load(&path).unwrap();
    let mut kind = scenario.vehicle_types()["jeep"].clone();
    kind.max_speed = 99.0.into();
    let edit = |kind: &VehicleType| Edit::VehicleType("jeep".into(), Some(Box::new(kind.clone())));
    let error = scenario.apply(edit(&kind)).unwrap_err().to_string();
    assert!(
        error.contains(FILE) && error.contains("change the file"),
        "{error}"
    );
    kind.file = None;
    scenario.apply(edit(&kind)).unwrap();
}

#[test]
fn references_that_lead_nowhere_or_out_of_the_folder_are_refused() {
    let said = |entry: Value| {
        let (_folder, path) = folder(&entry);
        file::load(&path).unwrap_err().to_string()
    };
    for (entry, words) in [
        (
            json!({ "file": "vehicles/none.vehicle.json" }),
            "there is no file",
        ),
        (
            json!({ "file": "../jeep.vehicle.json" }),
            "is outside the folder",
        ),
        (
            json!({ "file": "/etc/jeep.vehicle.json" }),
            "is outside the folder",
        ),
        (
            json!({ "file": "vehicles\\jeep.vehicle.json" }),
            "is outside the folder",
        ),
        (
            json!({ "file": "one.scenario.json" }),
            "is not a vehicle file",
        ),
        (json!({ "file": FILE, "length": 3.0 }), "length"),
        (
            json!({ "file": FILE, "move_libraries": [{ "file": "../a.moves.json" }] }),
            "move_libraries: file: \"../a.moves.json\" is outside the folder",
        ),
        (
            json!({ "file": FILE, "move_libraries": [{ "file": "a.json" }] }),
            "is not a move graph",
        ),
        (json!({ "hash": "00" }), "file"),
        (json!({}), "name"),
    ] {
        let message = said(entry.clone());
        assert!(message.contains("vehicle_types.jeep"), "{entry}: {message}");
        assert!(message.contains(words), "{entry}: {message}");
        assert!(message.contains("one.scenario.json:"), "{entry}: {message}");
    }
    let text = file::to_text(&Scenario::new("one"));
    let named = text.replacen(
        "\"car\": {",
        "\"jeep\": {\"file\":\"a.vehicle.json\"},\n    \"car\": {",
        1,
    );
    let error = file::from_text(&named).unwrap_err().to_string();
    assert!(error.contains("there is no file"), "{error}");
}

#[test]
fn libraries_of_moves_are_read_from_files_and_written_as_references() {
    let entry = json!({ "file": FILE, "move_libraries": [{ "file": "moves/jeep.moves.json" }] });
    let (folder, path) = folder(&entry);
    let missing = file::load(&path).unwrap_err().to_string();
    assert!(
        missing.contains("there is no file \"moves/jeep.moves.json\""),
        "{missing}"
    );
    let moves = folder.path().join("moves");
    std::fs::create_dir(&moves).unwrap();
    std::fs::write(
        moves.join("jeep.moves.json"),
        r#"{"clips": "jeep.clips.json"}"#,
    )
    .unwrap();
    let missing = file::load(&path).unwrap_err().to_string();
    assert!(
        missing.contains("there is no file \"moves/jeep.clips.json\""),
        "{missing}"
    );
    std::fs::write(moves.join("jeep.clips.json"), "{}").unwrap();
    let scenario = file::load(&path).unwrap();
    let library = scenario.vehicle_types()["jeep"].move_libraries[0].clone();
    assert_eq!((&*library.clips, library.hash.len()), ("{}", 16));
    // If the files exist, the scenario contains only the reference. Otherwise, it contains the
    // texts.
    let beside: Value = serde_json::from_str(&file::text_at(&scenario, &path)).unwrap();
    let written = &beside["vehicle_types"]["jeep"]["move_libraries"][0];
    assert_eq!(
        written,
        &json!({ "file": library.file, "hash": library.hash })
    );
    let alone = file::to_text(&scenario);
    assert_eq!(file::from_text(&alone).unwrap(), scenario);
    assert!(alone.contains("jeep.clips.json"));
    // A type that has no file may also have libraries.
    let mut kind = VehicleType::car();
    kind.move_libraries = vec![library.clone(), library];
    let edit = |kind: &VehicleType| Edit::VehicleType("car".into(), Some(Box::new(kind.clone())));
    let mut changed = scenario.clone();
    let error = changed.apply(edit(&kind)).unwrap_err().to_string();
    assert!(error.contains("is listed twice"), "{error}");
    kind.move_libraries.pop();
    changed.apply(edit(&kind)).unwrap();
    let again = file::from_text(&file::to_text(&changed)).unwrap();
    assert_eq!(again.vehicle_types()["car"], kind);
    let beside: Value = serde_json::from_str(&file::text_at(&changed, &path)).unwrap();
    assert!(beside["vehicle_types"]["car"]["move_libraries"][0]["moves"].is_null());
}

#[cfg(unix)]
#[test]
fn a_link_out_of_the_folder_is_refused() {
    let (folder, path) = folder(&json!({ "file": "away.vehicle.json" }));
    let outside = vehicles()
        .canonicalize()
        .unwrap()
        .join("willys-mb.vehicle.json");
    let link =
        |target: &Path| std::os::unix::fs::symlink(target, folder.path().join("away.vehicle.json"));
    link(&outside).unwrap();
    let message = file::load(&path).unwrap_err().to_string();
    assert!(message.contains("through a link"), "{message}");
    // A link that stays inside the folder is followed.
    std::fs::remove_file(folder.path().join("away.vehicle.json")).unwrap();
    link(&folder.path().join(FILE)).unwrap();
    assert!(file::load(&path).is_ok());
}

#[test]
fn the_file_of_a_vehicle_that_is_wrong_is_named_with_its_line() {
    let (folder, path) = folder(&json!({ "file": FILE }));
    let wrong = willys().replacen("\"mass\": 1000.0", "\"mass\": -1.0", 1);
    std::fs::write(folder.path().join(FILE), wrong).unwrap();
    let message = file::load(&path).unwrap_err().to_string();
    assert!(
        message.contains("vehicles/jeep.vehicle.json:6: body.mass: -1"),
        "{message}"
    );
}

#[test]
fn the_shipped_schema_of_vehicles_is_the_current_one() {
    // `roadwright vehicle check --schema > docs/vehicle.schema.json` renews it.
    let shipped = include_str!("../../../docs/vehicle.schema.json");
    assert_eq!(shipped, VehicleFile::schema());
}

/// Returns the error for the articulated bus with a different value at a JSON pointer.
fn refused_train(pointer: &str, value: Value) -> String {
    let text = std::fs::read_to_string(vehicles().join("articulated-bus.vehicle.json")).unwrap();
    let mut changed: Value = serde_json::from_str(&text).unwrap();
    *changed.pointer_mut(pointer).unwrap() = value;
    VehicleFile::from_text(&changed.to_string())
        .unwrap_err()
        .to_string()
}

#[test]
fn bad_trailers_are_refused_with_key_and_reason() {
    let one = json!({"length": 5.0, "width": 2.0, "height": 2.0, "mass": 500.0,
        "coupling_to_axle": 3.0, "front": -0.5});
    let with = |key: &str, value: Value| {
        let mut trailer = one.clone();
        trailer[key] = value;
        trailer
    };
    let cases = [
        (
            "/trailers/0/mass",
            json!(-1.0),
            "trailers[0].mass: -1 is out of range",
        ),
        (
            "/trailers/0/coupling_to_axle",
            json!(0.0),
            "coupling_to_axle: 0 is out of range",
        ),
        (
            "/trailers/0/lock",
            json!(3.0),
            "trailers[0].lock: 3 is out of range",
        ),
        (
            "/trailers/0/coupling_to_axle",
            json!(12.0),
            "trailers.0.coupling_to_axle: the axle, at -12 m, is not under the body, which is from -7.49 to -0.3 m",
        ),
        (
            "/trailers/0/front",
            json!(-5.0),
            "is not under the body, which is from",
        ),
        (
            "/trailers/0",
            with("centre", json!(0.5)),
            "trailers.0.centre: the centre of gravity is at 0.5 m; it must be between -5.5 and -0.5",
        ),
        (
            "/trailers/0",
            with("centre_height", json!(2.0)),
            "trailers.0.centre_height: 2 m is not below the top of the body, which is at 2 m",
        ),
        (
            "/trailers/0",
            with("ground_clearance", json!(0.0)),
            "ground_clearance: 0 is out of range",
        ),
        (
            "/trailers/0",
            with("joint", json!("string")),
            "joint: unknown value \"string\", expected \"universal\" or \"ball\"",
        ),
        ("/articulation", Value::Null, "articulation: "),
        (
            "/trailers",
            Value::Array(vec![one.clone(); 9]),
            "trailers: 9 trailers are too many; expected at most 8",
        ),
    ];
    for (pointer, value, expected) in cases {
        let message = refused_train(pointer, value.clone());
        assert!(message.contains(expected), "{pointer} {value}: {message}");
    }
    // As a control, eight trailers are valid.
    let text = std::fs::read_to_string(vehicles().join("articulated-bus.vehicle.json")).unwrap();
    let mut changed: Value = serde_json::from_str(&text).unwrap();
    changed["trailers"] = Value::Array(vec![one; 8]);
    let train = VehicleFile::from_text(&changed.to_string()).unwrap();
    assert_eq!((train.trailers.len(), train.towed_mass()), (8, 4000.0));
    assert_eq!(train.trailers[0].next_coupling(), -5.5);
}

#[test]
fn axles_springs_and_brakes_of_trailers_are_read_and_checked() {
    let text = std::fs::read_to_string(vehicles().join("articulated-bus.vehicle.json")).unwrap();
    let bus: Value = serde_json::from_str(&text).unwrap();
    let with = |keys: Value| {
        let mut changed = bus.clone();
        for (key, value) in keys.as_object().unwrap() {
            changed["trailers"][0][key] = value.clone();
        }
        VehicleFile::from_text(&changed.to_string())
    };
    let all = json!({
        "axles": [-3.5, -4.68], "track": 2.1, "brakes": 30000.0,
        "wheels": {"radius": 0.5, "mass": 70.0, "friction": 0.7, "cornering_stiffness": 6.0},
        "suspension": {"spring": 200000.0, "damping": 12000.0, "anti_sway": 60000.0},
    });
    let read = with(all).unwrap();
    let trailer = &read.trailers[0];
    assert_eq!(trailer.axles(), [-3.5, -4.68]);
    assert_eq!(
        (*trailer.track, *trailer.brakes),
        (Some(2.1), Some(30_000.0))
    );
    assert_eq!(trailer.wheels.unwrap().radius, Some(0.5));
    assert_eq!(trailer.suspension.as_ref().unwrap().anti_sway, 60_000.0);
    // The file is written as it was read: a trailer whose file does not name axles has one axle,
    // and the axle is not written.
    let again = VehicleFile::from_text(&serde_json::to_string(&read).unwrap()).unwrap();
    assert_eq!(again, read);
    let plain = VehicleFile::from_text(&text).unwrap();
    assert_eq!(plain.trailers[0].axles(), [-4.09]);
    let written = serde_json::to_string(&plain.trailers[0]).unwrap();
    assert!(
        !written.contains("axles") && !written.contains("brakes"),
        "{written}"
    );
    for (keys, expected) in [
        (
            json!({"axles": [-4.09, -9.0]}),
            "trailers.0.axles.1: -9 m is not under the body, which is from -7.49 to -0.3 m",
        ),
        (
            json!({"axles": [-4.68, -3.5]}),
            "trailers.0.axles.1: -3.5 m follows -4.68 m; list the axles from front to back",
        ),
        (
            json!({"axles": [-3.9, -4.28]}),
            "at least 0.96 m (the diameter of a wheel) apart",
        ),
        (
            json!({"axles": [-4.0, -5.5]}),
            "trailers.0.coupling_to_axle: 4.09 m is not the distance to the centre of the axles, which is 4.75 m",
        ),
        (
            json!({"axles": vec![-4.09; 9]}),
            "trailers.0.axles: 9 axles are too many; expected at most 8",
        ),
        (json!({"axles": ["front"]}), "axles"),
        (
            json!({"track": 2.6}),
            "trailers.0.track: 2.6 m is wider than the body, which is 2.55 m wide",
        ),
        (json!({"track": 0.0}), "track: 0 is out of range"),
        (json!({"brakes": -1.0}), "brakes: -1 is out of range"),
        (
            json!({"wheels": {"radius": 0.0}}),
            "radius: 0 is out of range",
        ),
        (
            json!({"wheels": {"friction": 9.0}}),
            "friction: 9 is out of range",
        ),
        (
            json!({"wheels": {"positions": []}}),
            "trailers[0].wheels.positions: unknown key \"positions\"",
        ),
        (
            json!({"suspension": {"spring": 0.0, "damping": 1.0}}),
            "a trailer without springs lies on the ground",
        ),
        (
            json!({"suspension": {"damping": 1.0}}),
            "the key \"spring\" is missing",
        ),
    ] {
        let message = with(keys.clone()).unwrap_err().to_string();
        assert!(message.contains(expected), "{keys}: {message}");
    }
}
