//! Files of clips and graphs: a file that was written can be read again, and damage is reported.

use proptest::prelude::*;
use roadwright_moves::{ClipFile, MoveFile, Preset, SweepKind};
use std::sync::LazyLock;

static CLIPS: LazyLock<ClipFile> = LazyLock::new(|| Preset::Five.record().clips);
static TEXT: LazyLock<String> = LazyLock::new(|| CLIPS.to_text());
static GRAPH: LazyLock<MoveFile> = LazyLock::new(|| Preset::Five.record().graph);

#[test]
fn files_are_restored_unchanged() {
    for preset in Preset::ALL {
        let recorded = preset.record();
        let text = recorded.clips.to_text();
        let again = ClipFile::from_text(&text).unwrap();
        assert_eq!(again, recorded.clips);
        assert_eq!(again.to_text(), text);
        let text = recorded.graph.to_text();
        let graph = MoveFile::from_text(&text).unwrap();
        assert_eq!(graph, recorded.graph);
        assert!(graph.library(&again, SweepKind::Exact).is_ok());
    }
}

#[test]
fn states_without_a_way_out_are_found() {
    let graph = Preset::Large.record().graph;
    assert!(graph.dead_ends().is_empty() && graph.states_without_return().is_empty());
    // Nothing leaves Stop.
    let mut stuck = graph.clone();
    stuck.moves.retain(|one| one.from != "Stop");
    assert_eq!(stuck.dead_ends(), ["Stop"]);
    assert_eq!(stuck.states_without_return(), [""; 0]);
    // Nothing leads from Fast to slower states, so it can only be kept.
    let mut fast = graph;
    fast.moves
        .retain(|one| one.from != "Fast" || one.to == "Fast");
    assert!(fast.dead_ends().is_empty());
    assert_eq!(fast.states_without_return(), ["Fast"]);
}

#[test]
fn mirrored_clips_are_restored_unchanged() {
    let mut file = CLIPS.clone();
    let mirrored: Vec<_> = file.clips.iter().map(|clip| clip.mirrored()).collect();
    file.clips.extend(mirrored);
    let again = ClipFile::from_text(&file.to_text()).unwrap();
    assert_eq!(again, file);
}

/// Returns the text with `old`, which must occur, replaced by `new`.
fn with(text: &str, old: &str, new: &str) -> String {
    assert!(text.contains(old), "{old}");
    text.replacen(old, new, 1)
}

#[test]
fn damaged_clips_are_refused_with_key_and_reason() {
    let cases = [
        (
            "\"rate\": 25",
            "\"rate\": 0",
            "rate: 0 is outside 1 to 1000",
        ),
        ("\"rate\": 25", "\"rat\": 25", "rat"),
        ("roadwright-clips", "roadwright-moves", "format"),
        ("\"version\": 1", "\"version\": 2", "version"),
        ("\"x\",\"y\"", "\"y\",\"x\"", "columns"),
        (
            "\"name\": \"straight\"",
            "\"name\": \"wide left\"",
            "duplicate clip",
        ),
        (
            "\"half_width\":0.8",
            "\"half_width\":-0.8",
            "body.half_width",
        ),
        ("[0,0,0,30,", "[0,0,0,3000,", "clips[0].frames[0]: forward"),
        ("[0,0,0,30,", "[0,0,0,", "clips[0].frames[0]"),
        (",null,null,0]", ",0.5,null,0]", "throttle and brake"),
        (",null,null,0]", ",0.5,1.5,0]", "brake: 1.5"),
        (",null,null,0]", ",null,null,2]", "reverse: 2"),
    ];
    for (old, new, expected) in cases {
        let damaged = with(&TEXT, old, new);
        let error = ClipFile::from_text(&damaged).unwrap_err().to_string();
        assert!(error.contains(expected), "{new}: {error}");
    }
    let unfinished = &TEXT[..TEXT.len() / 2];
    let error = ClipFile::from_text(unfinished).unwrap_err();
    assert!(error.line > 10, "{error}");
}

#[test]
fn damaged_graphs_are_refused_with_key_and_reason() {
    let text = GRAPH.to_text();
    let cases = [
        (
            "\"start\": \"Drive\"",
            "\"start\": \"Park\"",
            "start: unknown state \"Park\"",
        ),
        ("\"from\":\"Drive\"", "\"from\":\"Park\"", "moves[0].from"),
        ("\"last\":25", "\"last\":0", "moves[0].last"),
        ("\"first\":0", "\"first\":-1", "moves[0].first"),
        ("five.clips.json", "../five.clips.json", "clips"),
        ("[\"Drive\"]", "[\"Drive\", \"Drive\"]", "states[1]"),
    ];
    for (old, new, expected) in cases {
        let error = MoveFile::from_text(&with(&text, old, new))
            .unwrap_err()
            .to_string();
        assert!(error.contains(expected), "{new}: {error}");
    }
    // Problems that show only when the clips are compared with the graph.
    let cases = [
        (
            "\"last\":25",
            "\"last\":26",
            "moves[0].last: clip \"straight\" has 26 frames",
        ),
        (
            "\"clip\":\"straight\"",
            "\"clip\":\"bent\"",
            "moves[0].clip",
        ),
        (
            "[\"Drive\"]",
            "[\"Drive\", \"Park\"]",
            "no move leaves state \"Park\"",
        ),
        (GRAPH.clips_hash.as_str(), "0000000000000000", "clips_hash"),
    ];
    for (old, new, expected) in cases {
        let graph = MoveFile::from_text(&with(&text, old, new)).unwrap();
        let error = graph
            .library(&CLIPS, SweepKind::Exact)
            .unwrap_err()
            .to_string();
        assert!(error.contains(expected), "{new}: {error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn no_damage_makes_the_readers_panic(
        at in 0.0..1.0f64,
        length in 0usize..40,
        put in "[\\x00-\\x7f]{0,12}",
        is_graph in any::<bool>(),
    ) {
        let graph = GRAPH.to_text();
        // The first 3,000 characters of the clip file contain most of its keys.
        let whole = if is_graph { graph.as_str() } else { &TEXT[..3000] };
        let begin = (at * whole.len() as f64) as usize;
        let end = (begin + length).min(whole.len());
        let damaged = format!("{}{put}{}", &whole[..begin], &whole[end..]);
        if is_graph {
            if let Ok(file) = MoveFile::from_text(&damaged) {
                let _ = file.library(&CLIPS, SweepKind::Exact);
            }
        } else {
            // A file that is cut off cannot be read, whatever else is changed.
            prop_assert!(ClipFile::from_text(&damaged).is_err());
        }
    }
}
