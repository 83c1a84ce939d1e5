//! Forged results and records with matching hashes. `verify` must detect them with its default settings.

use crate::common::roadwright;
use roadwright_training::RunRow;
use roadwright_training::experiment::{Results, Stop, Stopped};
use roadwright_training::genetic::Record;
use serde_json::Value;
use std::path::Path;
use std::process::Output;

/// Command whose runs can be repeated in well under a second, because the pole falls immediately.
const RUN: &str = "bench run pendulum --use controller=idm --runs 30 --out rows.json";

fn call(folder: &Path, words: &str) -> Output {
    let words: Vec<&str> = words.split(' ').collect();
    roadwright(folder, &words)
}

fn told(output: &Output) -> String {
    let (out, err) = (&output.stdout, &output.stderr);
    format!(
        "{}{}",
        String::from_utf8_lossy(out),
        String::from_utf8_lossy(err)
    )
}

/// Creates a folder that contains results.
fn with_results(words: &str) -> (tempfile::TempDir, Results) {
    let folder = tempfile::tempdir().unwrap();
    let output = call(folder.path(), words);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    let text = std::fs::read_to_string(folder.path().join("rows.json")).unwrap();
    let results = Results::parse(&text).unwrap();
    (folder, results)
}

/// Returns exit code and output of `verify` for results with a correct hash.
fn verify(folder: &Path, results: &Results) -> (Option<i32>, String) {
    // The hash is always correct, because a forger can compute it.
    std::fs::write(folder.join("forged.json"), results.to_text()).unwrap();
    let output = call(folder, "bench verify forged.json");
    (output.status.code(), told(&output))
}

type Forge = fn(&mut Results);

#[test]
fn each_field_that_a_verdict_reads_is_found_when_it_is_forged() {
    let (folder, honest) = with_results(RUN);
    let (code, said) = verify(folder.path(), &honest);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("30 of 30 rows repeated"), "{said}");
    assert!(said.contains("reproduced bit for bit"), "{said}");
    for field in ["machine", "first_seed, stop", "level"] {
        assert!(said.contains(&format!("not checked: {field} (")), "{said}");
    }
    let forgeries: [(&str, Forge); 24] = [
        ("course", |r| r.head.course = "parking".into()),
        ("course_hash", |r| {
            r.head.course_hash = "0123456789abcdef".into()
        }),
        ("course_hash left out", |r| r.head.course_hash.clear()),
        ("is_own", |r| r.head.is_own = true),
        ("scenario_hash", |r| {
            r.head.scenario_hash = "0123456789abcdef".into();
        }),
        ("setup: another driver", |r| {
            for setting in r.head.setup.modules.values_mut().flatten() {
                setting.module = "pole_balance".into();
            }
        }),
        ("setup: another time step", |r| r.head.setup.dt = Some(0.05)),
        ("setup: another vehicle", |r| {
            r.head.setup.vehicle = Some("enviro_400".into());
        }),
        ("modules", |r| r.head.modules.push("controller x 1".into())),
        ("fitness", |r| r.head.fitness = "comfort".into()),
        ("lower_is_better", |r| {
            r.head.lower_is_better = !r.head.lower_is_better;
        }),
        ("first_seed", |r| {
            r.head.first_seed += 100;
            r.rows.iter_mut().for_each(|row| row.seed += 100);
        }),
        ("stop: more runs", |r| {
            r.head.stop = Stop::Runs { runs: 10_000 }
        }),
        ("stop: a rule that watches", |r| {
            r.head.stop = Stop::StandardError {
                at_most: 1e-6,
                min_runs: 5,
                max_runs: 1000,
            };
        }),
        ("level of a rule that reads it", |r| {
            r.head.stop = Stop::Width {
                at_most: 1e-6,
                min_runs: 5,
                max_runs: 1000,
            };
            r.head.level = 0.5;
        }),
        ("roadwright", |r| r.head.roadwright = "9.9.9".into()),
        ("stopped", |r| r.stopped = Some(Stopped::Reached)),
        ("stopped left out", |r| r.stopped = None),
        ("the best prefix", |r| r.rows.truncate(5)),
        ("no rows", |r| r.rows.clear()),
        ("a row beyond the end", |r| {
            let last = r.rows[29].clone();
            r.rows.push(RunRow { seed: 31, ..last });
        }),
        ("drives and completed", |r| {
            let row = &mut r.rows[3];
            row.ends = [(roadwright_training::End::Time, 1)].into();
            row.completed = row.ends.keys().filter(|end| end.is_complete()).count();
        }),
        ("time of a row", |r| r.rows[3].time *= 0.99),
        ("a row marked as failed", |r| {
            r.rows[3] = RunRow::failed(
                r.rows[3].seed,
                "com.example.x failed at 0.2 s (panic)".into(),
            );
        }),
    ];
    for (name, forge) in forgeries {
        let mut forged = honest.clone();
        forge(&mut forged);
        assert_ne!(forged, honest, "{name}");
        let (code, said) = verify(folder.path(), &forged);
        assert!(matches!(code, Some(1 | 2)), "{name}: {code:?} {said}");
    }
    // The seal detects every change after sealing.
    let text = honest.to_text();
    let machine = format!("\"machine\": \"{}\"", honest.machine);
    let edited = text.replacen(&machine, "\"machine\": \"a better one\"", 1);
    assert_ne!(edited, text);
    std::fs::write(folder.path().join("rows.json"), edited).unwrap();
    for (words, expected) in [("verify rows.json", 1), ("compare rows.json rows.json", 2)] {
        let output = call(folder.path(), &format!("bench {words}"));
        assert_eq!(output.status.code(), Some(expected), "{}", told(&output));
        assert!(told(&output).contains("seal"), "{}", told(&output));
    }
}

#[test]
fn a_level_that_the_rule_reads_is_found_when_it_is_forged() {
    let run = "bench run pendulum --use controller=idm --until-width 0.4 --min-runs 5 --max-runs 200 \
               --out rows.json";
    let (folder, honest) = with_results(run);
    assert_eq!(honest.stopped, Some(Stopped::Reached));
    let (code, said) = verify(folder.path(), &honest);
    assert_eq!(code, Some(0), "{said}");
    assert!(!said.contains("not checked: level"), "{said}");
    let mut forged = honest.clone();
    forged.head.level = 0.5;
    let (code, said) = verify(folder.path(), &forged);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("the stopping rule ends with row"), "{said}");
}

#[test]
fn one_forged_row_of_30_and_20_of_30_are_found() {
    let (folder, honest) = with_results(RUN);
    for count in [1, 20] {
        let mut forged = honest.clone();
        for row in &mut forged.rows[7..7 + count] {
            row.fitness = row.fitness.map(|fitness| fitness - 1.0);
        }
        std::fs::write(folder.path().join("forged.json"), forged.to_text()).unwrap();
        let output = call(folder.path(), "bench verify forged.json --json");
        assert_eq!(output.status.code(), Some(1), "{}", told(&output));
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        let different = found["different"].as_array().unwrap();
        assert_eq!(
            (different.len(), &found["hash_fits"]),
            (count, &true.into())
        );
        assert_eq!(different[0]["written"]["seed"], 8);
    }
}

#[test]
fn a_sample_is_repeated_by_its_seed_and_says_what_may_escape() {
    let (folder, _) = with_results(RUN);
    let verify = |more: &str| {
        let output = call(
            folder.path(),
            &format!("bench verify rows.json --json {more}"),
        );
        assert_eq!(output.status.code(), Some(0), "{}", told(&output));
        serde_json::from_slice::<Value>(&output.stdout).unwrap()
    };
    let drawn = verify("--rows 5");
    assert_eq!(drawn["seeds"].as_array().unwrap().len(), 5);
    let single = drawn["single_escapes"].as_f64().unwrap();
    assert!((single - 25.0 / 30.0).abs() < 1e-12, "{single}");
    let again = verify(&format!("--rows 5 --seed {}", drawn["seed"]));
    assert_eq!(again["seeds"], drawn["seeds"]);
    let output = call(folder.path(), "bench verify rows.json --rows 5 --seed 3");
    let said = told(&output);
    for expected in [
        "5 of 30 rows repeated",
        "--seed 3 --rows 5",
        "probability that a single forged item escapes detection: 83.3 %",
    ] {
        assert!(said.contains(expected), "{said}");
    }
}

#[test]
fn a_comparison_is_verified_with_what_it_compared_with() {
    let folder = tempfile::tempdir().unwrap();
    let run = |controller: &str, more: &str| {
        let words = format!("bench run pendulum --use controller={controller} {more}");
        let output = call(folder.path(), &words);
        assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    };
    run("idm", "--runs 40 --out idm.json");
    run("pursuit", "--runs 40 --out pursuit.json");
    run(
        "pole_balance",
        "--until-difference idm.json --min-runs 5 --out rows.json",
    );
    for (more, code, expected) in [
        ("", 2, "specify them with --against"),
        (" --against idm.json", 0, "reproduced bit for bit"),
        (
            " --against pursuit.json",
            1,
            "compares with results whose hash is",
        ),
    ] {
        let output = call(folder.path(), &format!("bench verify rows.json{more}"));
        assert_eq!(output.status.code(), Some(code), "{}", told(&output));
        assert!(told(&output).contains(expected), "{}", told(&output));
    }
}

/// A training run that takes milliseconds.
const EXPERIMENT: &str = r#"{
  "format": "roadwright-experiment",
  "version": 1,
  "course": "pendulum",
  "stack": "pole_balance",
  "genes": ["pole_balance.*"],
  "seeds": {"train": [1, 50], "validate": [101, 102], "test": [201, 204]},
  "operators": {"n": 3},
  "runs": 2,
  "stop": {"generations": 4}
}
"#;

/// Creates a folder with a training record.
fn with_record() -> (tempfile::TempDir, Record) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("x.experiment.json"), EXPERIMENT).unwrap();
    let output = call(
        folder.path(),
        "train x.experiment.json --out r.json --quiet",
    );
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    let text = std::fs::read_to_string(folder.path().join("r.json")).unwrap();
    (folder, Record::from_text(&text).unwrap())
}

#[test]
fn each_field_of_a_record_that_is_compared_or_applied_is_found_when_it_is_forged() {
    let (folder, honest) = with_record();
    let verify = |record: &Record| {
        let text = record.clone().to_text();
        std::fs::write(folder.path().join("forged.json"), text).unwrap();
        let output = call(folder.path(), "train verify forged.json");
        (output.status.code(), told(&output))
    };
    let (code, said) = verify(&honest);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("4 of 4 generations repeated"), "{said}");
    type Forge = fn(&mut Record);
    let forgeries: [(&str, Forge); 21] = [
        ("course", |r| r.experiment.course = Some("parking".into())),
        ("vehicle", |r| {
            r.experiment.vehicle = Some("enviro_400".into())
        }),
        ("test seeds", |r| r.experiment.seeds.test = [301, 304]),
        ("fewer test seeds", |r| r.experiment.seeds.test[1] -= 1),
        ("training seeds", |r| r.experiment.seeds.train = [11, 60]),
        ("seed of breeding", |r| r.experiment.seed += 1),
        ("stop", |r| r.experiment.stop.generations = 9),
        ("genes", |r| r.genes[0].push('x')),
        ("course_hash", |r| r.course_hash = "0123456789abcdef".into()),
        ("roadwright", |r| r.roadwright = "9.9.9".into()),
        ("a generation cut off", |r| {
            r.generations.pop();
        }),
        ("a score", |r| {
            r.generations[2][1].judgement.scores[0] -= 0.5;
        }),
        ("drives of an individual", |r| {
            r.generations[3][1].judgement.drives += 1;
        }),
        ("genes of an individual", |r| {
            let genes = r.generations[3][0].genes.clone();
            r.generations[3][1].genes = genes;
        }),
        ("champion: held-out score", |r| {
            *champion(r).held_out[2].as_mut().unwrap() -= 0.5;
        }),
        ("champion: score of the start", |r| {
            *champion(r).start[0].as_mut().unwrap() += 0.5;
        }),
        ("champion: genes", |r| {
            let own = champion(r).genes.clone();
            let mut all = r.generations.iter().flatten();
            let other = all.find(|judged| judged.genes != own).unwrap();
            champion(r).genes = other.genes.clone();
        }),
        ("champion: preset", |r| {
            let values = champion(r).preset.values_mut().next().unwrap();
            *values.values_mut().next().unwrap() += 1.0;
        }),
        ("champion: changes", |r| {
            champion(r).changes[0].1 = "7".into()
        }),
        ("champion: manners left out", |r| champion(r).manners = None),
        ("modules", |r| {
            r.modules = Some(vec!["controller x 1".into()]);
        }),
    ];
    for (name, forge) in forgeries {
        let mut forged = honest.clone();
        forge(&mut forged);
        assert_ne!(forged, honest, "{name}");
        let (code, said) = verify(&forged);
        assert!(matches!(code, Some(1 | 2)), "{name}: {code:?} {said}");
    }
    let mut without = honest.clone();
    without.champion = None;
    assert_eq!(verify(&without).0, Some(1));
}

#[test]
fn the_experiment_in_a_record_obeys_the_rules_of_experiment_files() {
    let (folder, honest) = with_record();
    type Forge = fn(&mut Record);
    let forgeries: [(&str, Forge); 5] = [
        ("experiment.seeds: validate and test overlap", |r| {
            r.experiment.seeds.test = r.experiment.seeds.validate;
        }),
        (
            "experiment.seeds: validate: [200, 18446744073709551615]",
            |r| {
                r.experiment.seeds.validate = [200, u64::MAX];
            },
        ),
        ("experiment.seeds: test: [201, 1000000000201]", |r| {
            r.experiment.seeds.test[1] = 1_000_000_000_201;
        }),
        ("experiment.runs: 1000000000 is out of range", |r| {
            r.experiment.runs = 1_000_000_000;
        }),
        ("experiment.operators", |r| r.experiment.operators.n = 0),
    ];
    let scenario = crate::common::scenario("obstacle-field");
    std::fs::copy(scenario, folder.path().join("s.scenario.json")).unwrap();
    for (expected, forge) in forgeries {
        let mut forged = honest.clone();
        forge(&mut forged);
        std::fs::write(folder.path().join("forged.json"), forged.to_text()).unwrap();
        for words in [
            "train verify forged.json",
            "train compare forged.json",
            "train front forged.json",
            "train apply forged.json --to s.scenario.json --stack idm",
            "train x.experiment.json --resume --out forged.json",
        ] {
            let output = call(folder.path(), words);
            let said = told(&output);
            assert_eq!(output.status.code(), Some(2), "{words}: {said}");
            assert!(said.contains(expected), "{words}: {said}");
        }
    }
}

#[test]
fn an_older_version_written_into_a_file_does_not_break_its_seal() {
    let (folder, honest) = with_results(RUN);
    let text = honest.to_text();
    let write = |text: &str| std::fs::write(folder.path().join("edited.json"), text).unwrap();
    let edited = |version: &str| text.replacen("\"version\": 2", version, 1);
    for (version, expected) in [
        ("\"version\": 1", "version 1 files have none"),
        ("\"version\": 0", "does not exist"),
    ] {
        write(&edited(version).replacen("\"level\":0.95", "\"level\":0.5", 1));
        for words in [
            "bench compare rows.json edited.json",
            "bench compare edited.json rows.json",
            "bench verify edited.json",
        ] {
            let output = call(folder.path(), words);
            let said = told(&output);
            assert_eq!(output.status.code(), Some(2), "{words}: {said}");
            assert!(said.contains(expected), "{words}: {said}");
        }
    }
    // A genuine file of version 1 has no seal, and a comparison states what its hash does not cover.
    let seal = format!("\"seal\": \"{}\",\n", honest.seal);
    let first = edited("\"version\": 1").replacen(&seal, "", 1);
    assert!(!first.contains("seal"), "{first}");
    write(&first);
    let output = call(folder.path(), "bench compare rows.json edited.json");
    let said = told(&output);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(
        said.contains("edited.json: the hash of these older results covers the rows only"),
        "{said}"
    );
    let said = told(&call(folder.path(), "bench compare rows.json rows.json"));
    assert!(!said.contains("older results"), "{said}");
}

#[test]
fn a_stopping_rule_that_cannot_be_is_told_once_and_another_one_in_words() {
    let (folder, honest) = with_results(RUN);
    let mut forged = honest;
    forged.head.stop = Stop::Runs { runs: 0 };
    let (code, said) = verify(folder.path(), &forged);
    assert_eq!(code, Some(2), "{said}");
    assert_eq!(
        said.matches("the number of runs, 0, is out of range")
            .count(),
        1,
        "{said}"
    );
    let output = call(folder.path(), &RUN.replace("--runs 30", "--runs 24"));
    let said = told(&output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(
        said.contains(
            "the stopping rule is 30 runs in the results, but 24 runs in this experiment"
        ),
        "{said}"
    );
}

#[test]
fn a_record_beside_other_files_is_verified_with_the_folder_of_its_experiment() {
    let folder = tempfile::tempdir().unwrap();
    let (made, kept) = (folder.path().join("made"), folder.path().join("kept"));
    std::fs::create_dir(&made).unwrap();
    std::fs::create_dir(&kept).unwrap();
    let scenario = std::fs::read_to_string(crate::common::scenario("obstacle-field")).unwrap();
    let short = scenario.replace("\"duration\": 120.0", "\"duration\": 4.0");
    assert_ne!(short, scenario);
    std::fs::write(made.join("s.scenario.json"), short).unwrap();
    let experiment = EXPERIMENT
        .replace(
            "\"course\": \"pendulum\"",
            "\"scenario\": \"s.scenario.json\"",
        )
        .replace("\"stack\": \"pole_balance\"", "\"stack\": \"fuzzy_driver\"")
        .replace("pole_balance.*", "fuzzy_driver.rule_avoid_*")
        .replace("\"generations\": 4", "\"generations\": 1");
    std::fs::write(made.join("x.experiment.json"), experiment).unwrap();
    let call = |words: &str, code: i32, expected: &str| {
        let output = call(folder.path(), words);
        let said = told(&output);
        assert_eq!(output.status.code(), Some(code), "{words}: {said}");
        assert!(said.contains(expected), "{words}: {said}");
    };
    call(
        "train made/x.experiment.json --out kept/r.json --quiet",
        0,
        "",
    );
    for verb in ["verify", "front"] {
        let words = format!("train {verb} kept/r.json");
        call(
            &words,
            2,
            "specify the folder of the experiment with --folder DIR",
        );
    }
    call(
        "train verify kept/r.json --folder made",
        0,
        "reproduced bit for bit",
    );
    call("train front kept/r.json --folder made", 0, "on the front");
}

fn champion(record: &mut Record) -> &mut roadwright_training::genetic::record::RecordedChampion {
    record.champion.as_mut().unwrap()
}

#[test]
fn a_champion_that_was_edited_is_neither_compared_nor_applied() {
    let (folder, honest) = with_record();
    let scenario = crate::common::scenario("obstacle-field");
    std::fs::copy(scenario, folder.path().join("s.scenario.json")).unwrap();
    let text = std::fs::read_to_string(folder.path().join("r.json")).unwrap();
    let score = honest.champion.as_ref().unwrap().held_out[0].unwrap();
    let edited = text.replacen(
        &format!("\"held_out\":[{score}"),
        &format!("\"held_out\":[{}", score - 1.0),
        1,
    );
    assert_ne!(edited, text);
    std::fs::write(folder.path().join("edited.json"), edited).unwrap();
    for words in [
        "train compare edited.json",
        "train compare r.json edited.json",
        "train apply edited.json --to s.scenario.json --stack idm",
        "train verify edited.json",
    ] {
        let output = call(folder.path(), words);
        assert_eq!(output.status.code(), Some(2), "{words}: {}", told(&output));
        assert!(
            told(&output).contains("damaged or changed"),
            "{}",
            told(&output)
        );
    }
    // The honest record passes.
    for words in ["train compare r.json", "train compare r.json r.json"] {
        let output = call(folder.path(), words);
        assert_eq!(output.status.code(), Some(0), "{words}: {}", told(&output));
    }
}

#[test]
fn a_signature_says_whose_results_they_are() {
    let (folder, honest) = with_results(RUN);
    let call = |words: &str, code: i32, expected: &str| {
        let output = call(folder.path(), words);
        let said = told(&output);
        assert_eq!(output.status.code(), Some(code), "{words}: {said}");
        assert!(said.contains(expected), "{words}: {said}");
    };
    call(
        "bench sign rows.json --key mine --new-key",
        0,
        "rows.json.minisig: signed",
    );
    call(
        "bench sign rows.json --key mine --new-key",
        2,
        "already exists",
    );
    call("bench sign rows.json --key mine", 0, "signed");
    call(
        "bench verify rows.json --signed-by mine.pub",
        0,
        "reproduced bit for bit",
    );
    // The signature also covers everything that repeated runs do not show.
    let mut other = honest;
    other.machine = "a better one".into();
    std::fs::write(folder.path().join("rows.json"), other.to_text()).unwrap();
    call("bench verify rows.json", 0, "reproduced bit for bit");
    call(
        "bench verify rows.json --signed-by mine.pub",
        1,
        "wrong: signature",
    );
    call("bench sign rows.json --key other --new-key", 0, "signed");
    call(
        "bench verify rows.json --signed-by mine.pub",
        1,
        "wrong: signature",
    );
    call(
        "bench verify rows.json --signed-by other.pub",
        0,
        "reproduced bit for bit",
    );
    std::fs::remove_file(folder.path().join("rows.json.minisig")).unwrap();
    call(
        "bench verify rows.json --signed-by other.pub",
        2,
        "rows.json.minisig",
    );
    call("bench verify rows.json --signed-by mine", 2, "public key");
}
