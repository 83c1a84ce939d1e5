//! Benchmark courses on the command line: `bench list`, `run`, `verify`, `compare`.
#![cfg(unix)]

use crate::common::{command, roadwright};
use roadwright_simulation::{SteeringLock, builtin_modules};
use roadwright_testing::is_slow;
use roadwright_training::{ControlChange, Course, PersonTry, Setup};
use serde_json::Value;
use std::path::Path;
use std::process::Output;

fn bench(folder: &Path, words: &str) -> Output {
    let words: Vec<&str> = std::iter::once("bench").chain(words.split(' ')).collect();
    roadwright(folder, &words)
}

fn json(folder: &Path, words: &str) -> Value {
    let output = bench(folder, &format!("{words} --json"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{words}: {said}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_person_needs_a_display_and_a_course_with_a_world() {
    let folder = tempfile::tempdir().unwrap();
    let drive = |course: &str| {
        let words = ["bench", "run", course, "--drive"];
        let mut command = command(folder.path(), &words);
        for name in ["DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET"] {
            command.env_remove(name);
        }
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{course}: {said}");
        said
    };
    assert!(drive("forest").contains("There is no display"));
    assert!(drive("cornered").contains("There is no display"));
    assert!(drive("parking").contains("cannot be driven manually"));
    let both = bench(folder.path(), "run forest --drive --runs 3");
    assert_eq!(both.status.code(), Some(2));
}

#[test]
fn a_persons_try_is_verified() {
    let folder = tempfile::tempdir().unwrap();
    let course = Course::named("forest").unwrap();
    let change = |step, pedals, steering| ControlChange {
        step,
        pedals,
        steering,
        lock: SteeringLock::Limited,
    };
    let controls = vec![change(1, 1.0, 0.0), change(150, -0.5, 0.25)];
    let (setup, modules) = (Setup::default(), builtin_modules());
    let own = PersonTry::drive(&course, &setup, &modules, 5, controls).unwrap();
    let path = folder.path().join("forest-5-1.try.json");
    std::fs::write(&path, own.to_text()).unwrap();
    let verified = json(folder.path(), "verify forest-5-1.try.json");
    assert_eq!(verified["controls"], 2);
    assert_eq!(verified["wrong"].as_array().unwrap().len(), 0);
    assert_eq!(verified["found"]["hash"], own.row.hash.as_str());
    // A better time has been written into the file.
    let mut forged = own.clone();
    forged.row.time *= 0.5;
    std::fs::write(&path, forged.to_text()).unwrap();
    let output = bench(folder.path(), "verify forest-5-1.try.json");
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stdout).contains("wrong: the result in the file is"));
    std::fs::write(&path, "{\"format\": \"roadwright-try\", \"version\": 1}").unwrap();
    let output = bench(folder.path(), "verify forest-5-1.try.json");
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn open_ground_is_judged_by_seeds() {
    let folder = tempfile::tempdir().unwrap();
    let run = |threads: &str| {
        let words = [
            "bench",
            "open-ground",
            "--course",
            "maze",
            "--seeds",
            "2",
            "--first-seed",
            "1",
        ];
        let words = [&words[..], &["--threads", threads, "--pass", "0", "--json"]].concat();
        let output = roadwright(folder.path(), &words);
        assert!(output.status.success(), "{output:?}");
        serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap()
    };
    let report = run("1");
    assert_eq!(report, run("2"));
    let maze = &report[0];
    assert_eq!(
        (&maze["course"], &maze["drives"]),
        (&"maze".into(), &2.into())
    );
    for row in maze["rows"].as_array().unwrap() {
        // Each seed passes or has a reason.
        assert_eq!(row["passed"] == true, row.get("reasons").is_none(), "{row}");
    }
    // Other courses are refused, with the names of the valid ones.
    let refused = roadwright(
        folder.path(),
        &["bench", "open-ground", "--course", "arena"],
    );
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(said.contains("drives only maze, office"), "{said}");
    assert_eq!(refused.status.code(), Some(2), "{said}");
}

#[test]
fn courses_are_listed_and_driven_with_error_bars() {
    let folder = tempfile::tempdir().unwrap();
    let list = json(folder.path(), "list");
    let names: Vec<&str> = (list.as_array().unwrap().iter())
        .map(|course| course["name"].as_str().unwrap())
        .collect();
    let expected = [
        "obstacle-stream",
        "arena",
        "old-town",
        "forest",
        "parking",
        "pendulum",
        "trailer-reverse",
        "follow-path",
        "park-parallel",
        "park-perpendicular",
        "park-trailer",
        "maze",
        "office",
        "obstacle-town",
        "hill-country-drive",
        "long-straight",
        "cornered",
        "cornered-cars",
        "sharp-corners",
        "final",
        "final-dense",
    ];
    assert_eq!(names, expected);
    let run = "run arena --use controller=pursuit --runs 6 --threads";
    let one = json(folder.path(), &format!("{run} 1"));
    let three = json(folder.path(), &format!("{run} 3"));
    assert_eq!(one, three, "threads change nothing");
    assert_eq!((&one["runs"], &one["completed"]), (&6.into(), &6.into()));
    let fitness = &one["fitness"];
    let number = |value: &Value| value.as_f64().unwrap();
    let (low, high) = (
        number(&fitness["interval"][0]),
        number(&fitness["interval"][1]),
    );
    assert!(low < number(&fitness["mean"]) && number(&fitness["mean"]) < high);
    assert!(
        (number(&fitness["standard_error"]) * 6.0_f64.sqrt()
            - number(&fitness["standard_deviation"]))
        .abs()
            < 1e-9
    );
    assert_eq!(
        (&fitness["method"], &fitness["level"]),
        (&"student_t".into(), &0.95.into())
    );
    assert_eq!(one["hash"].as_str().unwrap().len(), 16);
    assert_eq!(
        (&one["fitness_module"], &one["lower_is_better"]),
        (&"arena_score".into(), &false.into())
    );
    // Other seeds give other runs.
    let other = json(folder.path(), &format!("{run} 2 --seed 7"));
    assert_ne!(other["hash"], one["hash"]);
    let single = bench(folder.path(), "run arena --runs 1");
    assert!(String::from_utf8_lossy(&single.stdout).contains("n = 1: no interval"));
}

#[test]
fn a_track_is_driven_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let run = "run cornered --runs 1 --out track.json";
    let found = json(folder.path(), run);
    // A contact would end the drive.
    assert_eq!(
        (&found["drives"], &found["completed"]),
        (&1.into(), &1.into()),
        "{found}"
    );
    json(folder.path(), "verify track.json --all");
    // A driver that heads straight for the finish touches a wall.
    let straight = json(
        folder.path(),
        "run cornered --use ground_planner=straight --runs 1",
    );
    assert_eq!(
        (&straight["drives"], &straight["completed"]),
        (&1.into(), &0.into()),
        "{straight}"
    );
}

#[test]
fn the_forest_is_driven_at_any_level_with_any_vehicle_and_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let mut hashes = std::collections::BTreeSet::new();
    for vehicle in ["willys_mb", "enviro_400"] {
        for level in ["one_track", "dynamic_one_track"] {
            let run = format!("run forest --vehicle {vehicle} --dynamics {level} --runs 4");
            let found = json(folder.path(), &run);
            assert_eq!(found["fitness_module"], "forest_score");
            assert_eq!(found, json(folder.path(), &format!("{run} --threads 1")));
            hashes.insert(found["hash"].to_string());
        }
    }
    assert_eq!(hashes.len(), 4, "each drives otherwise");
    let drawn = bench(folder.path(), "run forest --runs 5 --plots here/plots");
    assert_eq!(drawn.status.code(), Some(0));
    let plots = folder.path().join("here/plots");
    let table = std::fs::read_to_string(plots.join("forest-forest_score.csv")).unwrap();
    assert_eq!(
        table.lines().count(),
        1 + 4,
        "no error bar, no point: {table}"
    );
    assert!(plots.join("forest-forest_score.svg").exists());
}

#[test]
fn figures_of_the_source_are_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    // The tables of move trees take longer than all others.
    let starts = if is_slow() { 2 } else { 0 };
    let words = format!("reproduce --out made --runs 6 --seeds 2 --starts {starts}");
    let parts = json(folder.path(), &words);
    let of: Vec<&str> = (parts.as_array().unwrap().iter())
        .map(|part| part["of"].as_str().unwrap())
        .collect();
    let mut expected = vec![
        "figure 9.3",
        "table 10.3",
        "figure 10.7",
        "figure 10.9",
        "figure 10.10",
        "figure 10.11",
        "figure 10.12",
        "table 10.4",
        "figure 12.5",
        "table 4.1 of [Adam 2007]",
        "table 4.2 of [Adam 2007]",
        "table 4.3 of [Adam 2007]",
        "table 4.4 of [Adam 2007]",
        "table 4.5 of [Adam 2007]",
        "table 4.6 of [Adam 2007]",
        "table 4.7 of [Adam 2007]",
        "table 4.8 of [Adam 2007]",
    ];
    if starts == 0 {
        expected.retain(|name| !name.ends_with("[Adam 2007]"));
    }
    assert_eq!(of, expected);
    let made = folder.path().join("made");
    for part in parts.as_array().unwrap() {
        let Some(name) = part["figure"]["name"].as_str() else {
            continue;
        };
        for ending in ["svg", "csv"] {
            assert!(made.join(format!("{name}.{ending}")).exists(), "{name}");
        }
    }
    let report = std::fs::read_to_string(made.join("report.md")).unwrap();
    for name in expected {
        assert!(report.contains(&format!("## {name}\n")), "{name}");
    }
    // The result does not depend on threads.
    let words = format!("{} --threads 1", words.replace("made", "again"));
    let again = json(folder.path(), &words);
    assert_eq!(again, parts);
    for words in [
        "reproduce --out x --runs 1",
        "reproduce --out x --seeds 1",
        "reproduce",
    ] {
        let output = bench(folder.path(), words);
        assert_eq!(output.status.code(), Some(2), "{words}");
    }
}

#[test]
fn results_go_on_are_verified_and_a_changed_row_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let run = "run arena --use controller=pursuit --runs 8 --out rows.json";
    let first = json(folder.path(), run);
    let path = folder.path().join("rows.json");
    let text = std::fs::read_to_string(&path).unwrap();
    let table = std::fs::read_to_string(folder.path().join("rows.csv")).unwrap();
    assert_eq!(table.lines().count(), 9);
    // The results are complete, so the same call changes nothing. A call that asks for more is a
    // different experiment.
    assert_eq!(json(folder.path(), run), first);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    let more = bench(folder.path(), &run.replace("--runs 8", "--runs 9"));
    assert_eq!(more.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&more.stderr).contains("stopping rule"));
    let verified = json(folder.path(), "verify rows.json");
    assert_eq!(
        (
            verified["seeds"].as_array().unwrap().len(),
            &verified["hash_fits"]
        ),
        (8, &true.into())
    );
    // Changes a single digit of one fitness.
    let at = text.find("\"seed\":5").unwrap();
    let at = at + text[at..].find("\"fitness\":").unwrap() + 12;
    let digit = if &text[at..=at] == "7" { "3" } else { "7" };
    let changed = format!("{}{digit}{}", &text[..at], &text[at + 1..]);
    std::fs::write(&path, changed).unwrap();
    let output = bench(folder.path(), "verify rows.json --all --json");
    assert_eq!(output.status.code(), Some(1));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["hash_fits"], false);
    let different = found["different"].as_array().unwrap();
    assert_eq!(
        (different.len(), &different[0]["written"]["seed"]),
        (1, &5.into())
    );
    // The changed file can be neither resumed nor compared.
    for words in [run, "compare rows.json rows.json"] {
        let output = bench(folder.path(), words);
        assert_eq!(output.status.code(), Some(2), "{words}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("changed"));
    }
}

#[test]
fn drivers_are_compared_on_the_same_courses() {
    let folder = tempfile::tempdir().unwrap();
    for controller in ["idm", "pursuit", "fuzzy_driver"] {
        json(
            folder.path(),
            &format!("run arena --use controller={controller} --runs 12 --out {controller}.json"),
        );
    }
    let found = json(
        folder.path(),
        "compare idm.json pursuit.json fuzzy_driver.json",
    );
    let comparisons = found["comparisons"].as_array().unwrap();
    assert_eq!(
        (comparisons.len(), &comparisons[0]["pairs"]),
        (2, &12.into())
    );
    assert_eq!(comparisons[0]["is_better"], true, "{found}");
    for comparison in comparisons {
        let number = |key: &str| comparison[key].as_f64().unwrap();
        assert!(number("p") <= number("p_holm") && number("p_holm") <= 1.0);
    }
    // The command also exists at the top level.
    let same = roadwright(
        folder.path(),
        &["compare", "idm.json", "idm.json", "--json"],
    );
    let same: Value = serde_json::from_slice(&same.stdout).unwrap();
    assert_eq!(
        (
            &same["comparisons"][0]["p"],
            &same["comparisons"][0]["is_better"]
        ),
        (&1.0.into(), &Value::Null)
    );
    json(
        folder.path(),
        "run arena --use fitness=crash_and_speed --runs 3 --out other.json",
    );
    let output = bench(folder.path(), "compare idm.json other.json");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("different fitnesses"));
}

#[test]
fn manoeuvres_are_driven_verified_and_refused_with_words() {
    let folder = tempfile::tempdir().unwrap();
    for (course, level) in [
        ("pendulum", 0.1),
        ("parking", 30.0),
        ("trailer-reverse", 40.0),
    ] {
        let run = format!("run {course} --dynamics one_track --runs 12 --out {course}.json");
        let found = json(folder.path(), &run);
        assert_eq!(
            (&found["runs"], &found["completed"]),
            (&12.into(), &12.into())
        );
        assert!(
            found["fitness"]["mean"].as_f64().unwrap() < level,
            "{found}"
        );
        assert_eq!(json(folder.path(), &format!("{run} --threads 1")), found);
        json(folder.path(), &format!("verify {course}.json --all"));
        let rigid = bench(folder.path(), &format!("run {course} --dynamics rigid"));
        assert_eq!(rigid.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&rigid.stderr).contains("one_track"));
    }
    let other = json(
        folder.path(),
        "run parking --use controller=pursuit --runs 3",
    );
    assert_eq!(other["completed"], 0);
}

#[test]
fn drives_of_the_stream_are_logged_every_10_m_and_the_log_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let run =
        "run obstacle-stream --use controller=pursuit --until-se 1e-9 --min-runs 2 --max-runs";
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    json(
        folder.path(),
        &format!("{run} 2 --log marks.csv --out whole.json"),
    );
    let whole = read("marks.csv");
    let mut rows = whole.lines();
    assert_eq!(
        rows.next(),
        Some("seed,agent,driver,distance_m,time_s,fitness")
    );
    let mut marks = std::collections::BTreeMap::new();
    for row in rows {
        let cells: Vec<f64> = row.split(',').map(|cell| cell.parse().unwrap()).collect();
        let [seed, agent, _, distance, time, fitness] = cells[..] else {
            panic!("{row}");
        };
        assert!(
            (10.0..305.0).contains(&distance) && time > 0.0 && fitness >= 0.0,
            "{row}"
        );
        let own: &mut Vec<f64> = marks.entry((seed as u64, agent as u64)).or_default();
        assert!(
            own.last().is_none_or(|last| distance >= last + 5.0),
            "{row}"
        );
        own.push(distance);
    }
    assert_eq!(marks.len(), 80, "40 drives of 2 runs");
    // Pursuit completes all runs, so there is an entry for every 10 m of 300 m.
    assert!(marks.values().all(|own| own.len() == 30), "{marks:?}");
    // Log entries of a run that the results do not contain are dropped; these results contain both
    // runs.
    std::fs::write(
        folder.path().join("marks.csv"),
        format!("{whole}3,1,0,10,1,0\n"),
    )
    .unwrap();
    json(
        folder.path(),
        &format!("{run} 2 --log marks.csv --out whole.json"),
    );
    assert_eq!(read("marks.csv"), whole);
    // The names of the results and of their table are reserved, whether the files exist or not.
    for (log, out) in [
        ("whole.json", "whole.json"),
        ("whole.csv", "whole.json"),
        ("./new.csv", "new.json"),
    ] {
        let refused = bench(folder.path(), &format!("{run} 2 --log {log} --out {out}"));
        assert_eq!(refused.status.code(), Some(2));
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        let is_slip = said.contains("is already used for") || said.contains("the extension of");
        assert!(said.starts_with("error: --log: ") && is_slip, "{said}");
    }
    assert!(!folder.path().join("new.csv").exists());
    std::fs::write(folder.path().join("marks.csv"), "a,b\n").unwrap();
    let no_log = bench(
        folder.path(),
        &format!("{run} 2 --log marks.csv --out whole.json"),
    );
    assert_eq!(no_log.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&no_log.stderr).contains("not a mileage log"));
}

#[test]
fn courses_are_told_apart_by_what_they_are_and_not_by_their_drivers() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    let scenario = crate::common::scenario("obstacle-field");
    let text = std::fs::read_to_string(scenario).unwrap();
    std::fs::write(place("a.scenario.json"), &text).unwrap();
    // With another stack for all agents and another file name, it is still the same course.
    let driven = text.replace("\"stack\": \"fuzzy_driver\"", "\"stack\": \"pursuit\"");
    assert_ne!(driven, text);
    std::fs::write(place("b.scenario.json"), driven).unwrap();
    // With another obstacle, it is a different course.
    let moved = text.replacen("\"x\": 160.0", "\"x\": 150.0", 1);
    assert_ne!(moved, text);
    std::fs::write(place("c.scenario.json"), moved).unwrap();
    for name in ["a", "b", "c"] {
        json(
            folder.path(),
            &format!("run {name}.scenario.json --runs 2 --out {name}.json"),
        );
    }
    let found = json(folder.path(), "compare a.json b.json");
    assert_eq!(found["comparisons"][0]["pairs"], 2);
    let output = bench(folder.path(), "compare a.json c.json");
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        said.contains("different courses") && said.contains("c.scenario.json"),
        "{said}"
    );
}

#[test]
fn a_rule_stops_when_a_driver_is_known_to_be_better() {
    let folder = tempfile::tempdir().unwrap();
    json(
        folder.path(),
        "run arena --use controller=idm --runs 60 --out idm.json",
    );
    let run = "run arena --use controller=pursuit --until-difference idm.json --min-runs 5";
    let found = json(folder.path(), run);
    let runs = found["runs"].as_u64().unwrap();
    assert!((5..60).contains(&runs), "{runs}");
    assert_eq!(found["stopped"], "reached");
    let difference = &found["difference"];
    assert_eq!(difference["is_better"], true);
    assert!(
        difference["interval"][0].as_f64().unwrap() > 0.0,
        "{difference}"
    );
    // The experiment resumes where it was interrupted, and no difference is found between a driver
    // and itself.
    let again = format!("{run} --out pursuit.json --threads 1");
    assert_eq!(json(folder.path(), &again), found);
    assert_eq!(json(folder.path(), &again), found);
    json(folder.path(), "verify pursuit.json --against idm.json");
    let same = run.replace("pursuit", "idm");
    let same = json(folder.path(), &same);
    assert_eq!(
        (&same["runs"], &same["stopped"]),
        (&60.into(), &"runs".into())
    );
    assert!(same["difference"]["is_better"].is_null());
    for (words, expected) in [
        (
            "run arena --until-difference idm.json --seed 58",
            "they have 3",
        ),
        (
            "run forest --until-difference idm.json",
            "different courses",
        ),
        (
            "run arena --use fitness=comfort --until-difference idm.json",
            "different fitnesses",
        ),
        ("run arena --until-difference none.json", "none.json"),
        (
            "run arena --until-difference idm.json --runs 3",
            "cannot be used with",
        ),
    ] {
        let output = bench(folder.path(), words);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{words}: {said}");
        assert!(said.contains(expected), "{words}: {said}");
    }
}

#[test]
fn a_rule_that_watches_stops_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    let run = "run obstacle-stream --use controller=pursuit";
    let watched = json(
        folder.path(),
        &format!("{run} --until-se 0.02 --min-runs 4 --max-runs 50"),
    );
    let number = |key: &str| watched["fitness"][key].as_f64().unwrap();
    assert!(number("standard_error") <= 0.02);
    assert_eq!(
        (&watched["stopped"], &watched["fitness"]["method"]),
        (&"reached".into(), &"asymptotic_sequence".into())
    );
    let never = json(
        folder.path(),
        &format!("{run} --until-width 1e-9 --min-runs 4 --max-runs 5"),
    );
    assert_eq!(
        (&never["stopped"], &never["runs"]),
        (&"runs".into(), &5.into())
    );
}

#[test]
fn a_scenario_of_ones_own_is_a_course() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = crate::common::scenario("obstacle-field");
    std::fs::copy(&scenario, folder.path().join("mine.scenario.json")).unwrap();
    let run =
        "run mine.scenario.json --use controller=pursuit --vehicle car --runs 2 --out own.json";
    let own = json(folder.path(), run);
    assert_eq!(
        (&own["drives"], &own["completed"]),
        (&12.into(), &12.into())
    );
    json(folder.path(), "verify own.json --all");
    // The scenario has changed since, so its results belong to another course.
    let text = std::fs::read_to_string(scenario).unwrap();
    let text = text.replacen("\"x\": 160.0", "\"x\": 150.0", 1);
    std::fs::write(folder.path().join("mine.scenario.json"), text).unwrap();
    let output = bench(folder.path(), "verify own.json");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("the course's content"));
}

#[test]
fn absurd_calls_end_with_two_and_say_why() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("empty.json"), "").unwrap();
    for (words, expected) in [
        ("run nowhere", "obstacle-stream"),
        ("run missing.scenario.json", "missing.scenario.json"),
        ("run arena --runs 0", "1 to 1000000"),
        ("run arena --until-se -1", "unexpected argument"),
        ("run arena --until-se=-1", "positive number"),
        ("run arena --until-se=NaN", "positive number"),
        ("run arena --until-width=0", "positive number"),
        ("run arena --runs 3 --until-se 1", "cannot be used with"),
        (
            "run arena --until-se 1 --min-runs 9 --max-runs 3",
            "must be at least 2 and not exceed the maximum",
        ),
        ("run arena --level 1", "more than 0 and less than 1"),
        ("run arena --vehicle tank", "willys_mb"),
        ("run arena --use wheels=4", "planner"),
        ("run arena --use controller=none", "exactly one"),
        ("run arena --use controller=nobody", "nobody"),
        ("run arena --use fitness=none", "nothing to measure"),
        ("run arena --dt 7", "time step"),
        ("run arena --threads 0", "--threads"),
        (
            "run arena --seed 18446744073709551615",
            "fewer than 30 seeds",
        ),
        ("run arena --out empty.json", "empty.json"),
        (
            "run arena --runs 1 --out no/such/folder.json",
            "folder.json",
        ),
        ("verify missing.json", "missing.json"),
        ("verify empty.json", "cannot be read as results"),
        ("compare empty.json", "required"),
        ("compare missing.json empty.json", "missing.json"),
    ] {
        let output = bench(folder.path(), words);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{words}: {said}");
        assert!(said.contains(expected), "{words}: {said}");
    }
}
