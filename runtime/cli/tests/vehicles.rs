//! `roadwright vehicle`, as its users call it.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod common;

use common::roadwright;
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
    assert!(text.contains("level dynamic_one_track: served") && text.contains("top speed 27.8"));
    let shown = call(&["vehicle", "show", "semi-trailer-tractor"]);
    let text = String::from_utf8(shown.stdout).unwrap();
    assert!(
        text.contains("not served, the file has no wheels.friction"),
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
            // What has a limit keeps to it, and what does not apply has neither value nor verdict.
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
    // Its file has rays.
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
    // Steeper than it can stand.
    vehicle["limits"]["side_slope"] = 1.2.into();
    std::fs::write(&file, vehicle.to_string()).unwrap();
    assert_eq!(code(&call(&["vehicle", "test", path])), 1);
    vehicle["limits"]["looping"] = 1.0.into();
    std::fs::write(&file, vehicle.to_string()).unwrap();
    let output = call(&["vehicle", "test", path]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("limits.looping: there is no such manoeuvre"));
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
