//! Tests of `controller show lqr --vehicle V --speed S`.
#![cfg(unix)]

use crate::common::roadwright;
use serde_json::Value;
use std::process::Output;

fn show(words: &str) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let words: Vec<&str> = ["controller", "show", "lqr"]
        .into_iter()
        .chain(words.split(' '))
        .collect();
    roadwright(folder.path(), &words)
}

fn json(words: &str) -> Value {
    let output = show(&format!("{words} --json"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{words}: {said}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn count(value: &Value) -> usize {
    value.as_array().unwrap().len()
}

#[test]
fn gains_of_every_model_are_printed_forwards_and_in_reverse() {
    for (words, states) in [
        ("--vehicle car --speed 8", 3),
        ("--vehicle car --speed 8 --level dynamic_one_track", 5),
        (
            "--vehicle car --speed 4 --level dynamic_one_track --reverse",
            5,
        ),
        ("--vehicle sliding-racer --speed 12 --level sliding", 5),
        ("--vehicle escort-caravan --speed 1.5 --reverse", 4),
        ("--vehicle escort-caravan --speed 1.5", 3),
    ] {
        let found = json(words);
        assert_eq!(count(&found["states"]), states, "{words}");
        assert_eq!(count(&found["a"]), states, "{words}");
        assert_eq!(count(&found["gains"]), states, "{words}");
        let poles = found["poles"].as_array().unwrap();
        assert_eq!(poles.len(), states);
        assert!(
            poles
                .iter()
                .all(|pole| pole["size"].as_f64().unwrap() < 1.0)
        );
        assert!(found["horizon"].as_u64().unwrap() > 10, "{words}");
        let text = show(words);
        let text = String::from_utf8_lossy(&text.stdout);
        assert!(text.contains("The gains no longer change"), "{text}");
    }
}

#[test]
fn pairs_and_calls_that_make_no_sense_are_refused_in_words() {
    for (words, part) in [
        ("--vehicle car --speed 0", "is not stabilisable"),
        (
            "--vehicle escort-caravan --speed 0 --reverse",
            "is not stabilisable",
        ),
        ("--vehicle car --speed 200", "expected 0 to 100 m/s"),
        (
            "--vehicle car --speed 5 --level rigid",
            "lqr has models for",
        ),
        ("--vehicle nothing --speed 5", "unknown vehicle"),
        ("--vehicle car", "--speed"),
    ] {
        let output = show(words);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{words}: {said}");
        assert!(said.contains(part), "{words}: {said}");
    }
}
