//! Tests that bundles contain everything they need, are equal for equal input, and are rejected if they do
//! not match their manifest.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use proptest::prelude::*;
use roadwright_bundle::{Available, Bundle, BundleError, Extras, Need, NeedKind, Placement};
use roadwright_extension::{Host, HostOptions, ISOLATED_MEMORY, Trust, Wanted};
use roadwright_scenario::{Edit, ModuleSetting, MoveLibrary, Scenario, Slot, file};
use roadwright_simulation::builtin_modules;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{Cursor, Read, Write};
use std::path::{Path, PathBuf};
use zip::write::SimpleFileOptions;

/// Returns the modules that are available with the given script folders.
fn available(cache: &Path, scripts: &[PathBuf]) -> Available {
    let host = Host::open(HostOptions {
        plugins: Vec::new(),
        scripts: scripts.to_vec(),
        cache: cache.to_owned(),
        helper: Vec::new(),
        trust: Trust::Hashes(BTreeSet::new()),
        wanted: Wanted::Ids(BTreeSet::new()),
        isolated: BTreeSet::new(),
        isolated_memory: ISOLATED_MEMORY,
        watch: false,
        builtin: builtin_modules(),
    });
    Available::new(&builtin_modules(), &host, scripts)
}

/// Returns a scenario whose stack `idm` uses other modules.
fn scenario_with(behaviour: &str, controller: &str) -> Scenario {
    let mut scenario = Scenario::new("Test");
    let mut stack = scenario.stacks()["idm"].clone();
    stack.settings_mut(Slot::Behaviour)[0] = ModuleSetting::new(behaviour);
    stack.settings_mut(Slot::Controller)[0] = ModuleSetting::new(controller);
    let edit = Edit::Stack("idm".into(), Some(Box::new(stack)));
    scenario.apply(edit).unwrap();
    scenario
}

fn unzip(bytes: &[u8]) -> BTreeMap<String, Vec<u8>> {
    let mut zip = zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
    let mut files = BTreeMap::new();
    for index in 0..zip.len() {
        let mut entry = zip.by_index(index).unwrap();
        let path = entry.name().unwrap().into_owned();
        let mut content = Vec::new();
        entry.read_to_end(&mut content).unwrap();
        files.insert(path, content);
    }
    files
}

fn zip_up(files: &BTreeMap<String, Vec<u8>>) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (path, bytes) in files {
        writer
            .start_file(path.as_str(), SimpleFileOptions::default())
            .unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// Returns the error of a bundle whose files have been changed.
fn error_after(change: impl FnOnce(&mut BTreeMap<String, Vec<u8>>)) -> String {
    let scenario = Scenario::new("Test");
    let pack = Bundle::pack(
        &scenario,
        "test",
        None,
        &Available::default(),
        Extras::default(),
    );
    let mut files = unzip(&pack.unwrap().to_bytes().unwrap());
    // A bundle packed by another program is also accepted.
    Bundle::from_bytes(&zip_up(&files)).unwrap();
    change(&mut files);
    Bundle::from_bytes(&zip_up(&files)).unwrap_err().to_string()
}

#[test]
fn scripts_travel_with_what_they_import_and_nothing_else_does() {
    let folder = tempfile::tempdir().unwrap();
    let scripts = folder.path().join("scripts");
    std::fs::create_dir_all(scripts.join("deep")).unwrap();
    let write = |name: &str, text: &str| std::fs::write(scripts.join(name), text).unwrap();
    write(
        "mine.rhai",
        "import \"tools\" as tools;\nfn on_step(agent) {}\n",
    );
    write("tools.rhai", "fn half(x) { x / 2 }\n");
    write("deep/other.rhai", "fn on_step(agent) {}\n");
    std::fs::write(folder.path().join("secret.txt"), "mine").unwrap();
    let at_hand = available(folder.path(), &[scripts]);
    let scenario = scenario_with("mine.rhai", "idm");
    let bundle = Bundle::pack(
        &scenario,
        "test",
        Some(folder.path()),
        &at_hand,
        Extras::default(),
    );
    let bundle = Bundle::from_bytes(&bundle.unwrap().to_bytes().unwrap()).unwrap();
    let paths: Vec<&str> = bundle.files().keys().map(String::as_str).collect();
    assert_eq!(
        paths,
        [
            "scripts/mine.rhai",
            "scripts/tools.rhai",
            "test.scenario.json"
        ]
    );
    assert!(
        bundle
            .lacks(&Available::default())
            .iter()
            .all(|lack| lack.need.id != "mine.rhai")
    );
}

#[test]
fn a_shipped_scenario_comes_back_with_its_scripts_and_equal_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let scenario = file::load(&shipped.join("rush-hour.scenario.json")).unwrap();
    let at_hand = available(folder.path(), &[]);
    let pack = || {
        let bundle = Bundle::pack(
            &scenario,
            "rush-hour",
            Some(&shipped),
            &at_hand,
            Extras::default(),
        );
        bundle.unwrap().to_bytes().unwrap()
    };
    let bytes = pack();
    assert_eq!(bytes, pack());
    let bundle = Bundle::from_bytes(&bytes).unwrap();
    assert!(bundle.files().contains_key("scripts/ambulance.rhai"));
    assert!(bundle.lacks(&at_hand).is_empty());
    let path = bundle.unpack(&folder.path().join("a/b")).unwrap();
    assert_eq!(file::load(&path).unwrap(), scenario);
    assert!(folder.path().join("a/b/scripts/ambulance.rhai").is_file());
    // Unpacking into the same folder again does not overwrite existing files.
    std::fs::write(&path, "my work").unwrap();
    let again = bundle.unpack(&folder.path().join("a/b"));
    assert!(matches!(again, Err(BundleError::Occupied(_))), "{again:?}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "my work");
    // An empty folder is accepted.
    std::fs::create_dir(folder.path().join("empty")).unwrap();
    bundle.unpack(&folder.path().join("empty")).unwrap();
    let left = std::fs::read_dir(folder.path()).unwrap().flatten();
    let names: Vec<_> = left.map(|entry| entry.file_name()).collect();
    assert!(
        names
            .iter()
            .all(|name| !name.to_string_lossy().starts_with(".unpacking"))
    );
}

#[test]
fn vehicle_files_travel() {
    let folder = tempfile::tempdir().unwrap();
    let vehicles = folder.path().join("vehicles");
    std::fs::create_dir(&vehicles).unwrap();
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/vehicles");
    let name = "bmw-320i.vehicle.json";
    std::fs::copy(shipped.join(name), vehicles.join(name)).unwrap();
    let path = folder.path().join("a.scenario.json");
    let text = file::to_text(&Scenario::new("Test"));
    let entry = format!("\"vehicle_types\": {{\n    \"bmw\": {{\"file\": \"vehicles/{name}\"}},");
    std::fs::write(&path, text.replacen("\"vehicle_types\": {", &entry, 1)).unwrap();
    let scenario = file::load(&path).unwrap();
    let at_hand = Available::default();
    let bundle = Bundle::pack(
        &scenario,
        "a",
        Some(folder.path()),
        &at_hand,
        Extras::default(),
    );
    let bundle = Bundle::from_bytes(&bundle.unwrap().to_bytes().unwrap()).unwrap();
    let place = format!("vehicles/{name}");
    assert!(bundle.files().contains_key(&place));
    let unpacked = bundle.unpack(&folder.path().join("out")).unwrap();
    assert_eq!(
        file::load(&unpacked).unwrap().vehicle_types(),
        scenario.vehicle_types()
    );
}

#[test]
fn libraries_of_moves_travel() {
    let folder = tempfile::tempdir().unwrap();
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/moves");
    for name in ["five.moves.json", "five.clips.json"] {
        std::fs::copy(shipped.join(name), folder.path().join(name)).unwrap();
    }
    let path = folder.path().join("a.scenario.json");
    let mut scenario = Scenario::new("Test");
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    let mut kind = scenario.vehicle_types()["car"].clone();
    let library = MoveLibrary::new(
        "five.moves.json",
        &read("five.moves.json"),
        &read("five.clips.json"),
    );
    kind.move_libraries = vec![library];
    let edit = Edit::VehicleType("car".into(), Some(Box::new(kind)));
    scenario.apply(edit).unwrap();
    file::save(&scenario, &path).unwrap();
    let pack = |extras| {
        Bundle::pack(
            &scenario,
            "a",
            Some(folder.path()),
            &Available::default(),
            extras,
        )
    };
    let bytes = pack(Extras::default()).unwrap().to_bytes().unwrap();
    let bundle = Bundle::from_bytes(&bytes).unwrap();
    assert_eq!(
        bundle.files()["five.clips.json"],
        read("five.clips.json").into_bytes()
    );
    let unpacked = bundle.unpack(&folder.path().join("out")).unwrap();
    assert_eq!(file::load(&unpacked).unwrap(), scenario);
    let error = error_after(|files| {
        files.insert("a.moves.json".into(), b"{\"format\": \"other\"}".to_vec());
    });
    assert!(error.contains("a.moves.json"), "{error}");
}

#[test]
fn what_is_needed_and_not_here_is_told_with_its_name_and_hash() {
    let scenario = scenario_with("gone.rhai", "my_driver");
    let folder = tempfile::tempdir().unwrap();
    let at_hand = available(folder.path(), &[]);
    let bundle = Bundle::pack(&scenario, "test", None, &at_hand, Extras::default()).unwrap();
    let mut files = unzip(&bundle.to_bytes().unwrap());
    let manifest = String::from_utf8(files["manifest.json"].clone()).unwrap();
    // The manifest is that of a machine that has the plugin.
    let hash = "ab".repeat(32);
    let known = manifest.replace(
        "\"id\": \"my_driver\"",
        &format!("\"id\": \"my_driver\", \"version\": \"1.2\", \"hash\": \"{hash}\""),
    );
    files.insert("manifest.json".into(), known.into_bytes());
    let bundle = Bundle::from_bytes(&zip_up(&files)).unwrap();
    let lacks = bundle.lacks(&at_hand);
    let needs: Vec<&Need> = lacks.iter().map(|lack| &lack.need).collect();
    assert_eq!(needs.len(), 2, "{needs:?}");
    assert_eq!(
        (needs[0].kind, needs[0].id.as_str()),
        (NeedKind::Script, "gone.rhai")
    );
    let text = lacks[1].to_string();
    assert!(
        text.contains("my_driver 1.2") && text.contains(&hash),
        "{text}"
    );
    // A scenario without external modules lacks nothing.
    let plain = Bundle::pack(&Scenario::new("x"), "x", None, &at_hand, Extras::default());
    assert!(plain.unwrap().lacks(&at_hand).is_empty());
}

#[test]
fn bundles_that_are_not_what_they_say_are_refused() {
    let wrong = [
        (
            error_after(|files| drop(files.remove("manifest.json"))),
            "manifest.json is missing",
        ),
        (
            error_after(|files| drop(files.insert("evil.so".into(), b"\x7fELF".to_vec()))),
            "is not listed in the manifest",
        ),
        (
            error_after(|files| files.get_mut("test.scenario.json").unwrap().push(b' ')),
            "does not match the manifest",
        ),
        (
            error_after(|files| drop(files.remove("test.scenario.json"))),
            "but missing",
        ),
        (
            error_after(|files| {
                let text = String::from_utf8(files["manifest.json"].clone()).unwrap();
                let newer = text.replacen("\"version\": 1", "\"version\": 2", 1);
                files.insert("manifest.json".into(), newer.into_bytes());
            }),
            "update Roadwright",
        ),
        (
            error_after(|files| drop(files.insert("manifest.json".into(), b"[]".to_vec()))),
            "manifest.json",
        ),
    ];
    for (error, expected) in wrong {
        assert!(error.contains(expected), "{error}");
    }
    for bytes in [&b""[..], b"PK", &[0; 1000]] {
        assert!(Bundle::from_bytes(bytes).is_err());
    }
}

#[test]
fn native_code_is_refused_even_if_the_manifest_names_it() {
    let error = error_after(|files| {
        let code = b"\x7fELF".to_vec();
        let hash = blake3::hash(&code).to_hex();
        let text = String::from_utf8(files["manifest.json"].clone()).unwrap();
        let entry =
            format!("\"files\": {{ \"plugins/a.so\": {{\"bytes\": 4, \"blake3\": \"{hash}\"}},");
        let text = text.replacen("\"files\": {", &entry, 1);
        files.insert("manifest.json".into(), text.into_bytes());
        files.insert("plugins/a.so".into(), code);
    });
    assert!(
        error.contains("not a file type that bundles can contain"),
        "{error}"
    );
}

#[test]
fn names_that_are_no_names_are_refused() {
    for name in ["", "../up", "a/b", "a\\b", "x\n"] {
        let packed = Bundle::pack(
            &Scenario::new("x"),
            name,
            None,
            &Available::default(),
            Extras::default(),
        );
        // With an empty name, the file name is only the extension, which makes it a hidden file.
        // This is harmless.
        assert_eq!(packed.is_err(), !name.is_empty(), "{name:?}");
    }
}

#[test]
fn a_picture_travels_with_its_placement_and_not_without() {
    let placement = Placement {
        picture: "background.png".into(),
        low: [1.5, -2.0],
        metres_per_pixel: 0.25,
        opacity: 0.5,
    };
    assert_eq!(
        Placement::from_bytes(&placement.to_bytes()).unwrap(),
        placement
    );
    let extras = Extras::default().with_background(&placement, b"picture".to_vec());
    let folder = tempfile::tempdir().unwrap();
    let scenario = Scenario::new("x");
    let bundle = Bundle::pack(&scenario, "x", None, &Available::default(), extras.clone()).unwrap();
    let bundle = Bundle::from_bytes(&bundle.to_bytes().unwrap()).unwrap();
    bundle.unpack(&folder.path().join("x")).unwrap();
    assert_eq!(Extras::beside(&folder.path().join("x")), extras);
    std::fs::remove_file(folder.path().join("x/background.json")).unwrap();
    assert_eq!(Extras::beside(&folder.path().join("x")), Extras::default());
    for wrong in [
        Placement {
            picture: "../x.png".into(),
            ..placement.clone()
        },
        Placement {
            metres_per_pixel: 0.0,
            ..placement.clone()
        },
        Placement {
            low: [1e300, 0.0],
            ..placement.clone()
        },
        Placement {
            opacity: 2.0,
            ..placement.clone()
        },
    ] {
        assert!(
            Placement::from_bytes(&wrong.to_bytes()).is_err(),
            "{wrong:?}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_bundle_with_other_bytes_is_refused_or_is_the_same(
        at in prop::collection::vec((0_usize..100_000, any::<u8>()), 1..10),
    ) {
        let scenario = Scenario::new("Test");
        let pack = Bundle::pack(&scenario, "test", None, &Available::default(), Extras::default());
        let mut bytes = pack.unwrap().to_bytes().unwrap();
        for (place, byte) in at {
            let place = place % bytes.len();
            bytes[place] = byte;
        }
        if let Ok(bundle) = Bundle::from_bytes(&bytes) {
            prop_assert_eq!(bundle.scenario(), &scenario);
        }
    }
}
