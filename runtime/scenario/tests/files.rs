//! Scenario files: their format, and the messages for invalid files.

use crate::common::*;
use proptest::prelude::*;
use roadwright_scenario::file::{self, from_text, to_text};
use roadwright_scenario::operation::draw;
use roadwright_scenario::*;

fn sample() -> Scenario {
    let mut scenario = crossroads();
    scenario
        .apply(Edit::Agent(AgentId(1), Some(Box::new(west_to_east()))))
        .unwrap();
    scenario
        .apply(Edit::Obstacle(
            ObstacleId(3),
            Some(Box::new(crate_at(20.0, 20.0))),
        ))
        .unwrap();
    let pond = Box::new(pond_at(60.0, 60.0));
    let edit = Edit::Land(LandId(2), Some(pond));
    scenario.apply(edit).unwrap();
    scenario
}

fn refused(text: &str) -> String {
    let error = from_text(text).expect_err("must be refused");
    format!("{}:{} {error}", error.line, error.column)
}

#[test]
fn only_what_hangs_has_a_base_in_its_file() {
    let mut scenario = sample();
    let standing = to_text(&scenario);
    assert!(!standing.contains("\"base\""));
    let gate = Obstacle {
        base: 2.5.into(),
        height: 3.0.into(),
        ..crate_at(20.0, 20.0)
    };
    let edit = Edit::Obstacle(ObstacleId(3), Some(Box::new(gate)));
    scenario.apply(edit).unwrap();
    let text = to_text(&scenario);
    assert!(text.contains("\"base\": 2.5, \"height\": 3.0"), "{text}");
    assert!(from_text(&text).unwrap() == scenario);
    let below = refused(&text.replace("\"base\": 2.5", "\"base\": -0.1"));
    assert!(below.contains("expected 0 to 10,000 m"), "{below}");
    // The default is 0, which means that the obstacle stands on the ground.
    let zero = text.replace("\"base\": 2.5", "\"base\": 0.0");
    let scenario = from_text(&zero).unwrap();
    assert!(!to_text(&scenario).contains("\"base\""));
}

#[test]
fn painted_layers_are_written_only_if_there_are_some() {
    let mut scenario = sample();
    let plain = to_text(&scenario);
    assert!(!plain.contains("\"paint\""));
    let mut layer = PaintLayer::new("Shrubs", PaintCost::Adds(32));
    layer.vehicles.insert("bus".into(), PaintCost::Blocks);
    layer.paint(
        [glam::DVec2::new(0.0, 0.5), glam::DVec2::new(3.0, 0.5)],
        1.0,
    );
    let edit = Edit::Paint(PaintId(4), Some(Box::new(layer)));
    let inverse = scenario.apply(edit).unwrap();
    let text = to_text(&scenario);
    let line = "\"4\": {\"name\": \"Shrubs\", \"cell\": 1.0, \"cost\": 32, \"vehicles\": {\"bus\": \"blocks\"}, \
                \"cells\": [[";
    assert!(text.contains(line), "{text}");
    assert!(from_text(&text).unwrap() == scenario);
    for (from, to, expected) in [
        ("\"cost\": 32", "\"cost\": 1e9", "paint"),
        ("\"cost\": 32", "\"cost\": 65536", "65536 is out of range"),
        ("\"cell\": 1.0", "\"cell\": 1000.0", "0.1 to 64 m"),
        (
            "\"cells\": [[",
            "\"cells\": [[9, 4, 3], [",
            "ends before it starts",
        ),
        (
            "\"cells\": [[",
            "\"cells\": [[0, 2000000000, 2000000000], [",
            "coordinates",
        ),
    ] {
        let error = refused(&text.replace(from, to));
        assert!(error.contains(expected), "{to}: {error}");
    }
    // Undo leaves no traces.
    scenario.apply(inverse).unwrap();
    assert_eq!(to_text(&scenario), plain);
}

#[test]
fn a_file_of_version_1_still_opens() {
    // Never regenerate this file. It represents files that users already have.
    let text = include_str!("files/version-1.scenario.json");
    let scenario = from_text(text).unwrap();
    assert_eq!(scenario.network().road_count(), 4);
    assert_eq!(scenario.agents().len(), 1);
}

#[test]
fn signals_and_restrictions_of_version_1_become_rules_of_junctions() {
    let text = include_str!("files/version-1.scenario.json").replace(
        "\"5\": {\"x\": 0.0, \"y\": 0.0}",
        "\"5\": {\"x\": 0.0, \"y\": 0.0, \"signals\": true, \
         \"restrictions\": [{\"kind\": \"no\", \"from\": 1, \"to\": 3}]}",
    );
    let scenario = from_text(&text).unwrap();
    let rules = |id: u32| &scenario.network().node(NodeId(id)).unwrap().rules;
    assert_eq!(rules(5).control, Some(Control::Signals));
    assert_eq!(rules(5).restrictions.len(), 1);
    assert!(rules(1).is_empty());
    let written = to_text(&scenario);
    assert!(written.contains("\"junctions\": {\n    \"5\": {\"control\": \"signals\""));
    assert!(from_text(&written).unwrap() == scenario);
    // Errors are still reported with their positions.
    let wrong = text.replace("\"signals\": true", "\"signals\": 7");
    let error = from_text(&wrong).unwrap_err().to_string();
    assert!(
        error.contains("nodes.5.signals: expected true or false"),
        "{error}"
    );
}

#[test]
fn the_examples_of_the_documentation_are_read() {
    let page = include_str!("../../../docs/junctions.md");
    let sections = page.split("```json\n").skip(1);
    let sections = sections.map(|block| block.split("```").next().unwrap());
    let read = |section: &str| {
        let text = format!(
            "{{\"format\": \"roadwright-scenario\", \"version\": 2, \
             \"about\": {{\"name\": \"example\", \"driving_side\": \"right\"}}, \
             \"settings\": {{\"dt\": 0.01, \"seed\": 1, \"duration\": 60.0}}, \
             \"nodes\": {{\"5\": {{\"x\": 0, \"y\": 0}}, \"9\": {{\"x\": 50, \"y\": 0}}, \
             \"12\": {{\"x\": 90, \"y\": 0}}, \"14\": {{\"x\": 130, \"y\": 0}}}}, {section}}}"
        );
        from_text(&text).unwrap()
    };
    let scenarios: Vec<Scenario> = sections.map(read).collect();
    let [scripted, whole] = &scenarios[..] else {
        panic!("{} examples", scenarios.len());
    };
    let plan_of = |scenario: &Scenario| {
        let node = scenario.network().node(NodeId(9)).unwrap();
        node.rules.plan.clone().unwrap()
    };
    let controller = plan_of(scripted).controller.unwrap();
    assert_eq!(controller.module, "longest_queue.rhai");
    assert_eq!(controller.parameters["longest"], 30.0);
    let rules = |id: u32| &whole.network().node(NodeId(id)).unwrap().rules;
    assert_eq!(rules(5).major, [RoadId(1), RoadId(4)]);
    assert_eq!(plan_of(whole).cycle, Some(80.0));
    assert_eq!(rules(12).restrictions[0].kind, RestrictionKind::No);
    assert_eq!(rules(12).turns.add[0].to.lane, -2);
    assert_eq!(rules(5).corner(RoadId(4), RoadId(1)), Some(9.0));
    let over: Vec<_> = rules(14)
        .crossings
        .iter()
        .map(|rule| (rule.road.0, *rule.people))
        .collect();
    assert_eq!(over, [(3, None), (8, Some(120.0))]);
    // Everything that is read is also written.
    let again = from_text(&to_text(scripted)).unwrap();
    assert_eq!(plan_of(&again), plan_of(scripted));
}

#[test]
fn rules_of_a_junction_without_a_node_are_refused() {
    let text = to_text(&sample());
    let at = text.find("\"roads\"").unwrap();
    let section = "\"junctions\": {\n    \"77\": {\"control\": \"stop\"}\n  },\n  ";
    let error = from_text(&format!("{}{section}{}", &text[..at], &text[at..])).unwrap_err();
    assert_eq!(error.key, "junctions.77");
    assert!(
        error.line > 0 && error.message.contains("no node"),
        "{error:?}"
    );
    let wild = section.replace("77", "1").replace("stop", "anarchy");
    let error = from_text(&format!("{}{wild}{}", &text[..at], &text[at..])).unwrap_err();
    assert!(
        error.to_string().contains("unknown value \"anarchy\""),
        "{error}"
    );
}

#[test]
fn format_and_version_come_first_and_objects_have_a_line_each() {
    let text = to_text(&sample());
    assert!(text.starts_with("{\n  \"format\": \"roadwright-scenario\",\n  \"version\": 2,\n"));
    let roads = text
        .lines()
        .filter(|line| line.contains("\"reference_line\""))
        .count();
    assert_eq!(roads, 4);
}

#[test]
fn saving_is_atomic_and_loading_gives_the_same_scenario() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.scenario.json");
    file::save(&sample(), &path).unwrap();
    file::save(&sample(), &path).unwrap();
    assert!(file::load(&path).unwrap() == sample());
    let entries: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(entries.len(), 1, "no temporary file stays");
    let error = file::save(&sample(), &folder.path().join("missing/a.json")).unwrap_err();
    assert!(error.to_string().contains("missing/a.json"));
}

#[test]
fn wrong_values_are_refused_with_line_key_and_expectation() {
    let text = to_text(&sample());
    let line_of = |needle: &str| text.lines().position(|l| l.contains(needle)).unwrap() + 1;
    let changed = |from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        refused(&text.replacen(from, to, 1))
    };
    let message = changed("\"dt\": 0.01", "\"dt\": 0");
    assert!(
        message.contains("settings.dt: 0 is out of range: expected 0.0001 to 1 s"),
        "{message}"
    );
    assert!(
        message.starts_with(&format!("{}:", line_of("\"dt\""))),
        "{message}"
    );
    let message = changed("\"name\": \"East Street\"", "\"nmae\": \"East Street\"");
    assert!(
        message.contains("roads.1") && message.contains("unknown key \"nmae\", expected one of"),
        "{message}"
    );
    assert!(
        message.starts_with(&format!("{}:", line_of("East Street"))),
        "{message}"
    );
    let message = changed("\"x\": -100.0", "\"x\": 1e308");
    assert!(
        message.contains("1e308") || message.contains("out of range"),
        "{message}"
    );
    let message = changed("\"x\": -100.0", "\"x\": NaN");
    assert!(message.contains("expected value"), "{message}");
    let message = changed("\"x\": -100.0", "\"x\": \"here\"");
    assert!(
        message.contains("expected a number, found \"here\""),
        "{message}"
    );
    let message = changed("\"destination\": {\"road\"", "\"destination\": {\"street\"");
    assert!(
        message.contains("destination: expected a place: {"),
        "{message}"
    );
    let message = changed("\"length\": 100.0", "\"length\": 0.0");
    assert!(message.contains("segment 0 is 0 m long"), "{message}");
    let message = changed("\"length\": 100.0", "\"length\": 1e300");
    assert!(message.contains("segment 0"), "{message}");
    let message = changed("\"2\": {\"x\"", "\"1\": {\"x\"");
    assert!(message.contains("node 1 is given twice"), "{message}");
    let message = changed("\"from\": 1,", "\"from\": 77,");
    assert!(
        message.contains("road 1 ends at node 77, which does not exist"),
        "{message}"
    );
    assert!(
        message.starts_with(&format!("{}:", line_of("East Street"))),
        "{message}"
    );
    let message = changed("\"vehicle\": \"car\"", "\"vehicle\": \"boat\"");
    assert!(
        message.contains("agent 1 refers to vehicle type \"boat\""),
        "{message}"
    );
    let message = changed("\"version\": 2", "\"version\": 2000");
    assert!(message.contains("update Roadwright"), "{message}");
}

#[test]
fn broken_texts_are_refused() {
    assert!(refused("").contains("the file is empty"));
    assert!(refused("<!DOCTYPE html><html></html>").contains("expected value"));
    assert!(refused("[]").contains("expected an object, found a list"));
    assert!(refused("{\"format\": \"geojson\"}").contains("not a Roadwright scenario"));
    let text = to_text(&sample());
    for cut in (0..text.len() - 2).step_by(97) {
        assert!(from_text(&text[..cut]).is_err(), "cut at {cut}");
    }
}

#[test]
fn bytes_that_are_not_text_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.scenario.json");
    std::fs::write(&path, [0xFF, 0xFE, 0x00]).unwrap();
    let error = file::load(&path).unwrap_err().to_string();
    assert!(
        error.contains("a.scenario.json") && error.contains("not UTF-8"),
        "{error}"
    );
    assert!(file::load(folder.path()).is_err());
}

#[test]
fn a_road_of_a_million_points_loads() {
    let mut scenario = Scenario::new("long");
    let points: Vec<_> = (0..1_000_000)
        .map(|i| {
            let x = f64::from(i);
            glam::DVec2::new(x, 3.0 * roadwright_geometry::math::sin(0.01 * x))
        })
        .collect();
    let options = roadwright_geometry::fillet::FilletOptions {
        radius: 50.0,
        miss: 0.1,
    };
    let line = roadwright_geometry::fillet::fillet(&points, options).unwrap();
    let edit = draw::road(&scenario, &line, &street("endless")).unwrap();
    scenario.apply(edit).unwrap();
    let back = from_text(&to_text(&scenario)).unwrap();
    assert!(back == scenario);
    let findings = check::check(&back);
    assert!(findings.is_empty(), "{findings:#?}");
}

#[test]
fn the_shipped_schema_is_the_current_one() {
    // Renew with: cargo run -- check --schema > docs/scenario.schema.json
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/scenario.schema.json"
    );
    let shipped = std::fs::read_to_string(path).unwrap();
    assert!(
        shipped == file::schema(),
        "docs/scenario.schema.json is out of date"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn damaged_files_are_read_or_refused(
        at in any::<prop::sample::Index>(), with in "[0-9eE+.,:\\[\\]{}\"a-z -]{0,4}", cut in 0usize..4,
    ) {
        let text = to_text(&sample());
        let start = at.index(text.len());
        let end = (start + cut).min(text.len());
        let damaged = format!("{}{with}{}", &text[..start], &text[end..]);
        if let Ok(scenario) = from_text(&damaged) {
            // Every scenario that can be read can be checked and written again.
            let _ = check::check(&scenario);
            prop_assert!(from_text(&to_text(&scenario)).is_ok());
        }
    }
}

#[test]
fn the_order_of_lists_is_in_the_file_only_where_there_is_one() {
    let plain = sample();
    assert!(!to_text(&plain).contains("\"order\""));
    let example = include_str!("../../../docs/scenario-file.md");
    let line = example
        .lines()
        .find(|line| line.starts_with("\"order\""))
        .unwrap();
    let with = |section: &str| {
        let text = to_text(&plain);
        let end = text.trim_end().strip_suffix('}').unwrap().trim_end();
        format!("{end},\n  {section}\n}}\n")
    };
    let ordered = from_text(&with(line)).unwrap();
    let names = |listed: Vec<(&String, &Stack)>| -> Vec<String> {
        listed.into_iter().map(|(name, _)| name.clone()).collect()
    };
    let stacks = names(ordered.listed_stacks());
    assert_eq!(stacks[..2], ["pursuit", "idm"]);
    assert_eq!(stacks.len(), ordered.stacks().len());
    assert_eq!(ordered.listed_vehicle_types()[0].0, "willys_mb");
    let text = to_text(&ordered);
    assert_eq!(from_text(&text).unwrap(), ordered);
    // The scenario runs in the same way. Only the list differs.
    assert_eq!(ordered.stacks(), plain.stacks());
    // Names that do not exist are ignored. A name that is given twice is an error, and so is an
    // unknown list.
    let gone = from_text(&with(r#""order": {"stacks": ["nobody", "pursuit"]}"#)).unwrap();
    assert_eq!(names(gone.listed_stacks())[0], "pursuit");
    let twice = refused(&with(r#""order": {"stacks": ["idm", "pursuit", "idm"]}"#));
    assert!(
        twice.contains("order: ") && twice.contains("\"idm\" is listed twice"),
        "{twice}"
    );
    let unknown = refused(&with(r#""order": {"agents": [1]}"#));
    assert!(unknown.contains("agents"), "{unknown}");
    // A broken file keeps its list order unless the order itself is invalid.
    let broken = with(line).replacen("\"obstacles\": {", "\"obstacles\": {\"7\": {},", 1);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("broken.scenario.json");
    std::fs::write(&path, broken).unwrap();
    let salvaged = file::salvage(&path).unwrap();
    assert_eq!(salvaged.scenario.list_order(), ordered.list_order());
    assert_eq!(salvaged.left_out.len(), 1);
}
