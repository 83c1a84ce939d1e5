//! Tests of `roadwright vehicle` as users run it.

use crate::common::roadwright;
use serde_json::Value;
use std::path::Path;
use std::process::Output;

fn call(arguments: &[&str]) -> Output {
    roadwright(Path::new("."), arguments)
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn json(arguments: &[&str]) -> Value {
    let output = call(arguments);
    assert_eq!(code(&output), 0, "{arguments:?}: {}", stderr(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn vehicles_are_listed_shown_checked_and_measured() {
    let list = json(&["vehicle", "list", "--json"]);
    let ids: Vec<_> = list["vehicles"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["id"])
        .collect();
    assert!(ids.len() >= 6, "{ids:?}");
    let shown = call(&["vehicle", "show", "enviro-400"]);
    let text = String::from_utf8(shown.stdout).unwrap();
    assert!(text.contains("level dynamic_one_track: available") && text.contains("top speed 27.8"));
    // Reverse and the top gear reach the engine's limit; the gear between shifts before it.
    let gear = |name: &str| {
        let row = text.lines().find(|line| line.starts_with(name)).unwrap();
        row.split_whitespace().skip(2).take(2).collect::<Vec<_>>()
    };
    assert_eq!(gear("R "), ["-7.98", "2600"]);
    assert_eq!(gear("2 "), ["15.19", "2200"]);
    assert_eq!(gear("3 "), ["27.83", "2600"]);
    // The key of the vehicle type names the same vehicle.
    assert_eq!(
        call(&["vehicle", "show", "enviro_400"]).stdout,
        text.as_bytes()
    );
    let shown = call(&["vehicle", "show", "semi-trailer-tractor"]);
    let text = String::from_utf8(shown.stdout).unwrap();
    assert!(
        text.contains("unavailable, because the file has no wheels.friction"),
        "{text}"
    );
    for id in [
        "willys-mb",
        "enviro-400",
        "bmw-320i",
        "ford-escort",
        "vw-vanagon",
    ] {
        let (first, again) = (
            json(&["vehicle", "test", id, "--json"]),
            json(&["vehicle", "test", id, "--json"]),
        );
        assert_eq!(first, again);
        let manoeuvres = first["manoeuvres"].as_array().unwrap();
        assert_eq!(manoeuvres.len(), 18);
        for one in manoeuvres {
            // Values with a limit keep to it, and inapplicable ones have neither value nor verdict.
            assert_ne!(one["pass"], false, "{id}: {one}");
            assert_eq!(
                one["applies"] == true,
                one["value"].is_number(),
                "{id}: {one}"
            );
            assert!(
                one["applies"] == true || one["pass"].is_null(),
                "{id}: {one}"
            );
        }
        let passed = manoeuvres.iter().filter(|one| one["pass"] == true).count();
        assert!(passed >= 6, "{id}: {passed}");
    }
}

#[test]
fn wheels_are_asked_for_whatever_the_file_says() {
    let hash = |wheels: &[&str]| {
        let call = ["vehicle", "test", "soapbox-kart", "--json"];
        let report = json(&[&call, wheels].concat());
        report["hash"].as_str().unwrap().to_owned()
    };
    // The vehicle's file specifies rays.
    assert_eq!(hash(&[]), hash(&["--wheels", "ray"]));
    assert_ne!(hash(&[]), hash(&["--wheels", "sphere"]));
    let shown = call(&["vehicle", "show", "t-28"]);
    assert!(String::from_utf8(shown.stdout).unwrap().contains("spheres"));
    assert_eq!(
        code(&call(&["vehicle", "test", "t-28", "--wheels", "square"])),
        2
    );
}

#[test]
fn a_vehicle_that_does_not_keep_to_its_limits_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mine.vehicle.json");
    let path = file.to_str().unwrap();
    let mut vehicle = json(&["vehicle", "show", "willys-mb", "--json"]);
    vehicle["limits"]["side_slope"] = 0.3.into();
    std::fs::write(&file, vehicle.to_string()).unwrap();
    assert_eq!(code(&call(&["vehicle", "check", path])), 0);
    assert_eq!(code(&call(&["vehicle", "test", path, "--json"])), 0);
    // A slope steeper than the vehicle can stand.
    vehicle["limits"]["side_slope"] = 1.2.into();
    std::fs::write(&file, vehicle.to_string()).unwrap();
    assert_eq!(code(&call(&["vehicle", "test", path])), 1);
    vehicle["limits"]["looping"] = 1.0.into();
    std::fs::write(&file, vehicle.to_string()).unwrap();
    let output = call(&["vehicle", "test", path]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("limits.looping: unknown manoeuvre"));
    vehicle["limits"] = serde_json::json!({});
    vehicle["performance"]["max_speed"] = 60.0.into();
    std::fs::write(&file, vehicle.to_string()).unwrap();
    assert_eq!(code(&call(&["vehicle", "check", path])), 1);
    vehicle["body"]["mass"] = (-5.0).into();
    std::fs::write(&file, vehicle.to_string()).unwrap();
    let output = call(&["vehicle", "check", path]);
    assert_eq!(code(&output), 2);
    assert!(
        stderr(&output).contains("body.mass: -5 is out of range"),
        "{}",
        stderr(&output)
    );
    let output = call(&["vehicle", "test", "batmobile"]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("or one of articulated-bus, bmw-320i"));
}

/// Returns the names of the files in a folder that have the given extension, sorted.
fn names(folder: &Path, ending: &str) -> Vec<String> {
    let files = std::fs::read_dir(folder).unwrap();
    let paths = files.map(|file| file.unwrap().path());
    let such = paths.filter(|path| path.extension().is_some_and(|found| found == ending));
    let mut names: Vec<String> = such
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn manoeuvres_are_drawn_into_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let plots = folder.path().join("made/here");
    let at = plots.to_str().unwrap();
    let output = call(&["vehicle", "test", "willys-mb", "--json", "--plots", at]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    // The document is the same with pictures and without.
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found, json(&["vehicle", "test", "willys-mb", "--json"]));
    let manoeuvres = found["manoeuvres"].as_array().unwrap().iter();
    let applies = manoeuvres.filter(|one| one["applies"] == true);
    let mut expected: Vec<_> = applies.map(|one| one["name"].as_str().unwrap()).collect();
    expected.sort_unstable();
    assert_eq!(names(&plots, "svg"), expected);
    assert_eq!(names(&plots, "csv"), expected);
    for name in expected {
        let read = |ending: &str| {
            let file = plots.join(format!("{name}.{ending}"));
            assert!(stderr(&output).contains(&format!("{name}.svg")), "{name}");
            std::fs::read_to_string(file).unwrap()
        };
        let (picture, table) = (read("svg"), read("csv"));
        assert!(
            picture.contains("Willys MB") && picture.contains(name),
            "{name}"
        );
        assert!(
            picture.contains("polyline") && !picture.contains("NaN"),
            "{name}"
        );
        assert!(
            table.starts_with("line,x,y\n") && table.lines().count() > 20,
            "{name}"
        );
        for line in table.lines().skip(1) {
            let numbers = line.rsplit(',').take(2);
            let all = numbers.map(|number| number.parse::<f64>().unwrap());
            assert!(all.into_iter().all(f64::is_finite), "{name}: {line}");
        }
    }
    // In text output the pictures are listed below the table; existing files are overwritten.
    std::fs::write(plots.join("gap.svg"), "old").unwrap();
    let output = call(&["vehicle", "test", "willys-mb", "--plots", at]);
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(
        said.contains("pass acceleration") && said.contains("gap.svg"),
        "{said}"
    );
    let gap = std::fs::read_to_string(plots.join("gap.svg")).unwrap();
    assert!(gap.starts_with("<svg"));
}

#[test]
fn pictures_that_cannot_be_written_or_do_not_exist_are_told() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("file"), "").unwrap();
    for place in ["file", "file/inside"] {
        let plots = folder.path().join(place);
        let plots = plots.to_str().unwrap();
        let output = call(&["vehicle", "test", "willys-mb", "--plots", plots]);
        assert_eq!(code(&output), 2);
        assert!(output.stdout.is_empty(), "nothing was driven");
        let said = stderr(&output);
        assert!(said.contains("--plots") && said.contains(plots), "{said}");
    }
    // A folder is in the picture's place.
    std::fs::create_dir_all(folder.path().join("full/braking.svg/x")).unwrap();
    let full = folder.path().join("full");
    let output = call(&[
        "vehicle",
        "test",
        "bmw-320i",
        "--plots",
        full.to_str().unwrap(),
    ]);
    assert_eq!(code(&output), 2);
    assert!(
        stderr(&output).contains("braking.svg"),
        "{}",
        stderr(&output)
    );
    let none = folder.path().join("none");
    let none = none.to_str().unwrap();
    let output = call(&["vehicle", "test", "semi-trailer-tractor", "--plots", none]);
    assert_eq!(code(&output), 0);
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("no manoeuvre applies"), "{said}");
    assert_eq!(names(Path::new(none), "svg"), Vec::<String>::new());
}

#[test]
fn gaits_come_from_recorded_motion() {
    let root = crate::common::root();
    let walk = root.join("scenarios/gaits/walk.bvh");
    let walk = walk.to_str().unwrap();
    let shown = call(&["vehicle", "gait", walk]);
    assert_eq!(code(&shown), 0, "{}", stderr(&shown));
    let text = String::from_utf8(shown.stdout).unwrap();
    assert!(text.contains("speed           1.400 m/s"), "{text}");
    // The numbers of both cycles are the gaits of a vehicle type.
    let jog = root.join("scenarios/gaits/jog.bvh");
    let gait = |file: &str| json(&["vehicle", "gait", file, "--json"]);
    let mut person = json(&["vehicle", "show", "person", "--json"]);
    person["gaits"] = serde_json::json!({"walk": gait(walk), "jog": gait(jog.to_str().unwrap())});
    let read: roadwright_scenario::VehicleType = serde_json::from_value(person).unwrap();
    let edit = roadwright_scenario::Edit::VehicleType("person".into(), Some(Box::new(read)));
    roadwright_scenario::Scenario::new("gaits")
        .apply(edit)
        .unwrap();
    // Joints are mapped by name.
    let mapped = ["--joint", "left_foot=LeftLeg", "--scale", "1"];
    let output = call(&[&["vehicle", "gait", walk][..], &mapped[..]].concat());
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    for (wrong, words) in [
        (["--joint", "left_foot=Paw"], "there is no joint \"Paw\""),
        (["--joint", "tail=Paw"], "use one of hips"),
        (["--scale", "0"], "is not a length"),
    ] {
        let output = call(&[&["vehicle", "gait", walk][..], &wrong[..]].concat());
        assert_eq!(code(&output), 2, "{wrong:?}");
        assert!(stderr(&output).contains(words), "{}", stderr(&output));
    }
    let file = root.join("README.md");
    let output = call(&["vehicle", "gait", file.to_str().unwrap()]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("line 1"), "{}", stderr(&output));
}
