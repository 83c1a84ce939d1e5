//! Tests of all ways in which plugins can fail, and of the messages to the user.

use crate::common::{Bench, CHAOS, c_plugin, compile, root, run, shipped, wait_until};
use roadwright_agent::{ModuleKind, Slot};
use roadwright_extension::{FileState, Health, Trust, inspect_bytes};
use roadwright_scenario::{Edit, Scenario, Stack};
use roadwright_simulation::{RunOptions, World};
use roadwright_testing::plugin_library;

/// Returns the scenario `old-town`, whose stacks all use the chaos plugin in the given mode.
fn chaotic(mode: f64) -> Scenario {
    let mut scenario = shipped("old-town");
    let stacks: Vec<(String, Stack)> = scenario.stacks().clone().into_iter().collect();
    for (name, mut stack) in stacks {
        stack.controller = roadwright_scenario::ModuleSetting::new(CHAOS).with("mode", mode);
        scenario
            .apply(Edit::Stack(name, Some(Box::new(stack))))
            .unwrap();
    }
    scenario
}

fn chaos_world(bench: &Bench, mode: f64) -> World {
    let options = RunOptions::default();
    World::new(&chaotic(mode), &bench.host().registry(), &options).unwrap()
}

fn chaos_bench() -> Bench {
    let bench = Bench::new();
    bench.put_file("chaos.so", &plugin_library("rw_chaos"));
    let said = bench.said();
    assert!(said.contains("Chaos 1.0.0 loaded"), "{said}");
    bench
}

/// Puts a file that is rejected into the plugin folder. Returns the message to the user.
fn refused(library: &std::path::Path) -> String {
    let bench = Bench::new();
    bench.put_file("x.so", library);
    let files = bench.host().files();
    assert!(
        matches!(files[0].state, FileState::Rejected(_)),
        "{:?}",
        files[0].state
    );
    bench.said()
}

#[test]
fn a_library_without_our_symbols_is_not_ours() {
    let folder = tempfile::tempdir().unwrap();
    let said = refused(&c_plugin(folder.path(), "a", &["NO_INFO"], &["-lm"]));
    assert!(said.contains("rw_plugin_info_v1 not exported"), "{said}");
    assert!(said.contains("extern \"C\""), "{said}");
    let said = refused(&c_plugin(folder.path(), "b", &["NO_MAIN"], &["-lm"]));
    assert!(said.contains("rw_plugin_main_v1 not exported"), "{said}");
}

#[test]
fn another_major_version_is_refused_without_running_it() {
    let folder = tempfile::tempdir().unwrap();
    // The library would crash if it were loaded.
    let definitions = ["MAJOR=2", "CRASH_AT_LOAD"];
    let said = refused(&c_plugin(folder.path(), "a", &definitions, &["-lm"]));
    let expected = "Built for plugin ABI 2, but this Roadwright uses 1; rebuild with SDK 1.x";
    assert!(
        said.to_lowercase().contains(&expected.to_lowercase()),
        "{said}"
    );
}

#[test]
fn a_plugin_that_needs_a_newer_host_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let said = refused(&c_plugin(folder.path(), "a", &["MIN_MINOR=6"], &["-lm"]));
    assert!(
        said.contains("needs ABI 1.6, but this host has 1.5; update Roadwright"),
        "{said}"
    );
}

#[test]
fn a_library_for_another_computer_is_named() {
    let mut bytes = std::fs::read(plugin_library("pure_pursuit")).unwrap();
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        eprintln!("skipped: the library is made for x86-64 Linux");
        return;
    }
    assert!(bytes.starts_with(b"\x7fELF"));
    // e_machine: aarch64.
    bytes[18..20].copy_from_slice(&183u16.to_le_bytes());
    let bench = Bench::new();
    bench.put("x.so", &bytes);
    let said = bench.said();
    assert!(
        said.contains("aarch64 Linux library, but this computer needs x86-64 Linux"),
        "{said}"
    );
}

#[test]
fn missing_symbols_come_with_a_hint() {
    let folder = tempfile::tempdir().unwrap();
    let said = refused(&c_plugin(folder.path(), "a", &["MISSING_SYMBOL"], &[]));
    assert!(said.contains("a_function_that_nobody_defines"), "{said}");
    // Without `-lm`. The missing symbol is detected when the library is opened, not at the first call.
    let flags = ["-fno-builtin", "-nodefaultlibs", "-Wl,--as-needed", "-lc"];
    let said = refused(&c_plugin(folder.path(), "b", &["NEEDS_LIBM"], &flags));
    assert!(said.contains("link with -lm"), "{said}");
}

#[test]
fn a_crash_while_loading_costs_only_the_trial_process() {
    let folder = tempfile::tempdir().unwrap();
    let said = refused(&c_plugin(folder.path(), "a", &["CRASH_AT_LOAD"], &["-lm"]));
    assert!(
        said.contains("Crashed while loading (SIGSEGV). Not loaded."),
        "{said}"
    );
}

#[test]
fn a_panic_falls_back_restarts_three_times_and_is_taken_out() {
    let bench = chaos_bench();
    let mut world = chaos_world(&bench, 1.0);
    run(&mut world, 12.0);
    let swaps = world.swaps();
    assert_eq!(swaps.len(), 4, "{swaps:?}");
    let first = &swaps[0].note;
    assert!(first.contains("panicked at"), "{first}");
    assert!(first.contains("lib.rs:"), "{first}");
    assert!(first.contains("index out of bounds"), "{first}");
    assert!(first.contains("fallback used for"), "{first}");
    assert!(first.contains("restart 1 of 3"), "{first}");
    assert!(swaps[3].note.contains("idm drives"), "{}", swaps[3].note);
    assert_eq!((swaps[3].from.len(), swaps[3].to.as_str()), (64, ""));
    // Vehicles were driven throughout.
    assert!(world.summary().distance_driven > 50.0);
    assert_eq!(bench.row(CHAOS).lamp, Health::Faulted);
    // The plugin stays disabled until a reload, and the run keeps naming it.
    bench.host().rescan();
    let out_since = |world: &World| {
        let modules = world.modules();
        assert_eq!(modules.len(), 1, "{modules:?}");
        modules[0].out_since
    };
    assert!(out_since(&world).is_some());
    bench.host().reload(CHAOS);
    world.step();
    assert_eq!(out_since(&world), None);
}

#[test]
fn an_exception_is_caught_by_the_guard_of_the_header() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("throws.cpp");
    let text = std::fs::read_to_string(root().join("plugins/potential_field/potential_field.cpp"));
    // Thrown in the trial step, so it is refused without a crash.
    let text = text.unwrap().replace(
        "    for (uint32_t row = 0;",
        "    if (batch->count > 0) throw 42;\n    for (uint32_t row = 0;",
    );
    std::fs::write(&source, text).unwrap();
    let library = folder.path().join("throws.so");
    if compile(&source, &library, &[]).is_some() {
        let said = refused(&library);
        assert!(said.contains("not a std::exception"), "{said}");
    }
}

#[test]
fn unusable_numbers_are_replaced_row_by_row_and_too_many_take_the_plugin_out() {
    for (mode, words) in [
        (2.0, "NaN acceleration"),
        (3.0, "infinite steering"),
        (4.0, "an acceleration outside"),
        (17.0, "a steering angle outside"),
    ] {
        let bench = chaos_bench();
        let mut world = chaos_world(&bench, mode);
        run(&mut world, 3.0);
        let said = bench.said();
        assert!(
            said.contains(&format!("controller returned {words}")),
            "{said}"
        );
        assert!(said.contains("for agent "), "{said}");
        assert!(said.contains("input saved to"), "{said}");
        let notes: Vec<_> = world.swaps().iter().map(|swap| &swap.note).collect();
        assert!(
            notes[0].contains("invalid answers for 10 steps"),
            "{notes:?}"
        );
        assert!(notes[0].contains(words), "{notes:?}");
        assert!(world.summary().distance_driven > 10.0);
    }
}

#[test]
fn a_few_unusable_numbers_are_only_replaced() {
    let bench = chaos_bench();
    let mut world = chaos_world(&bench, 6.0);
    run(&mut world, 60.0);
    assert!(world.swaps().is_empty(), "{:?}", world.swaps());
    assert!(bench.row(CHAOS).faults > 0);
    assert!(
        world
            .snapshot()
            .vehicles
            .iter()
            .all(|v| v.speed.is_finite())
    );
}

#[test]
fn a_slow_plugin_is_used_and_shown_as_slow() {
    let bench = chaos_bench();
    let mut world = chaos_world(&bench, 13.0);
    run(&mut world, 2.0);
    let row = bench.row(CHAOS);
    assert!(row.mean_us > 5.0 && row.faults == 0, "{row:?}");
    assert_eq!(world.modules().len(), 1);
}

#[test]
fn odd_but_harmless_plugins_are_borne() {
    // Much memory, a flood of log lines, leaked threads.
    for mode in [11.0, 12.0, 14.0] {
        let bench = chaos_bench();
        let mut world = chaos_world(&bench, mode);
        (0..12).for_each(|_| world.step());
        assert!(world.swaps().is_empty());
        assert!(bench.row(CHAOS).log.len() <= 200);
    }
    // A panic in drop, when the world is dropped.
    let bench = chaos_bench();
    let mut world = chaos_world(&bench, 15.0);
    (0..4).for_each(|_| world.step());
    drop(world);
    assert_eq!(bench.row(CHAOS).lamp, Health::Good);
}

#[test]
fn crashes_and_hangs_in_isolated_mode_cost_only_answers() {
    for (mode, words) in [
        (7.0, "crashed (SIGSEGV)"),
        (8.0, "crashed (SIG"),
        (9.0, "did not answer for 2 s"),
        (10.0, "crashed (exit code 0)"),
    ] {
        let bench = Bench::with(|options| {
            options.isolated.insert(CHAOS.into());
        });
        bench.put_file("chaos.so", &plugin_library("rw_chaos"));
        let mut world = chaos_world(&bench, mode);
        assert_eq!(bench.row(CHAOS).tier, "isolated");
        run(&mut world, 1.0);
        let notes: Vec<_> = world.swaps().iter().map(|s| s.note.clone()).collect();
        assert!(notes[0].contains(words), "{notes:?}");
        assert!(notes.last().unwrap().contains("idm drives"), "{notes:?}");
        assert!(world.counts().active > 0);
    }
}

#[test]
fn a_native_hang_is_seen_from_outside() {
    let bench = chaos_bench();
    let watch = bench.host().watch_calls();
    let mut world = chaos_world(&bench, 9.0);
    // The thread never returns.
    std::thread::spawn(move || world.step());
    wait_until("the hang is seen", || !watch.hangs().is_empty());
    let hang = &watch.hangs()[0];
    assert_eq!(hang.module, CHAOS);
    assert!(hang.milliseconds >= 2000);
    assert!(watch.is_news(hang) && !watch.is_news(hang));
}

#[test]
fn half_a_file_is_waited_for_while_the_old_version_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let one = std::fs::read(c_plugin(folder.path(), "one", &[], &["-lm"])).unwrap();
    let two = c_plugin(folder.path(), "two", &["VERSION=\"2.0.0\""], &["-lm"]);
    let two = std::fs::read(two).unwrap();
    let bench = Bench::with(|options| options.watch = true);
    bench.put("probe.so", &one);
    let path = bench.plugins().join("probe.so");
    let other = bench.plugins().join("other.so");
    // A slow writer: half the file, a pause, the rest.
    std::fs::write(&other, &two[..two.len() / 2]).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(600));
    let said = bench.said();
    assert!(
        said.contains("other.so: Waiting until the file is complete"),
        "{said}"
    );
    assert!(!said.contains("truncated"), "{said}");
    std::fs::remove_file(&path).unwrap();
    std::fs::write(&other, &two).unwrap();
    wait_until("the finished file is taken", || {
        bench.row("org.roadwright.probe").version == "2.0.0"
    });
}

#[test]
fn a_removed_file_goes_on_until_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let mut bench = Bench::new();
    bench.put_file("probe.so", &c_plugin(folder.path(), "a", &[], &["-lm"]));
    let scenario = shipped("old-town");
    let id = "org.roadwright.probe";
    let mut world = bench.world(&scenario, Slot::Controller, id, RunOptions::default());
    run(&mut world, 1.0);
    std::fs::remove_file(bench.plugins().join("probe.so")).unwrap();
    bench.host().rescan();
    assert!(
        bench
            .said()
            .contains("File removed; the loaded version keeps running")
    );
    assert_eq!(bench.host().files()[0].state, FileState::Orphaned);
    run(&mut world, 1.0);
    assert_eq!(world.modules().len(), 1);
    // After a restart, the file is missing.
    bench.open(|_| ());
    assert!(bench.host().modules().iter().all(|row| row.id != id));
}

#[test]
#[cfg(target_arch = "x86_64")]
fn a_changed_floating_point_mode_is_corrected_and_told() {
    let folder = tempfile::tempdir().unwrap();
    let id = "org.roadwright.probe";
    for (name, definition) in [("a", "FAST_MATH_AT_LOAD"), ("b", "FAST_MATH_IN_STEP")] {
        let bench = Bench::new();
        bench.put_file(
            "x.so",
            &c_plugin(folder.path(), name, &[definition], &["-lm"]),
        );
        let scenario = shipped("old-town");
        let mut world = bench.world(&scenario, Slot::Controller, id, RunOptions::default());
        run(&mut world, 2.0);
        let said = bench.said();
        assert!(said.contains("changes the floating-point mode"), "{said}");
        // Denormal numbers still work here.
        assert!(std::hint::black_box(f64::MIN_POSITIVE) / std::hint::black_box(4.0) > 0.0);
    }
}

#[test]
fn of_two_files_with_the_same_id_the_first_counts() {
    let folder = tempfile::tempdir().unwrap();
    let bench = Bench::new();
    bench.put_file("a.so", &c_plugin(folder.path(), "a", &[], &["-lm"]));
    let second = c_plugin(folder.path(), "b", &["VERSION=\"9.0.0\""], &["-lm"]);
    bench.put_file("b.so", &second);
    let said = bench.said();
    assert!(said.contains("already provided by"), "{said}");
    assert_eq!(bench.row("org.roadwright.probe").version, "1.0.0");
    let files = bench.host().files();
    assert!(matches!(files[1].state, FileState::Shadowed(_)));
    assert_eq!(files[1].info.as_ref().unwrap().version, "9.0.0");
}

#[test]
fn state_of_another_schema_starts_fresh_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let bench = Bench::new();
    bench.put_file("a.so", &c_plugin(folder.path(), "a", &[], &["-lm"]));
    let scenario = shipped("old-town");
    let id = "org.roadwright.probe";
    let mut world = bench.world(&scenario, Slot::Controller, id, RunOptions::default());
    run(&mut world, 3.0);
    let second = ["SCHEMA=4", "VERSION=\"2.0.0\"", "OTHER_PARAMETER"];
    bench.put_file("a.so", &c_plugin(folder.path(), "b", &second, &["-lm"]));
    world.step();
    let note = &world.swaps()[0].note;
    assert!(
        note.contains("state of schema 1 is not supported"),
        "{note}"
    );
    assert!(note.contains("started fresh for"), "{note}");
    assert!(note.contains("gain was removed"), "{note}");
    assert!(note.contains("strength is new"), "{note}");
    // Its parameters can now be set by a live edit.
    assert_eq!(bench.row(id).parameters[0].key, "strength");
}

#[test]
fn a_faulty_new_build_goes_back_to_the_one_before() {
    let folder = tempfile::tempdir().unwrap();
    let bench = chaos_bench();
    let mut world = chaos_world(&bench, 0.0);
    run(&mut world, 2.0);
    // The same plugin in another build, which is then set to a mode that panics.
    let mut bytes = std::fs::read(plugin_library("rw_chaos")).unwrap();
    bytes.extend_from_slice(b"another build");
    bench.put("chaos.so", &bytes);
    world.step();
    assert_eq!(world.swaps().len(), 1);
    let faulty = chaotic(1.0);
    world
        .update(&chaotic(0.0), &faulty, &bench.host().registry())
        .unwrap();
    run(&mut world, 8.0);
    let notes: Vec<_> = world.swaps().iter().map(|s| s.note.clone()).collect();
    let back = notes
        .iter()
        .position(|note| note.contains("back to: Chaos 1.0.0"));
    assert!(back.is_some(), "{notes:?}");
    drop(folder);
}

#[test]
fn builds_that_nobody_has_allowed_do_not_run() {
    let library = plugin_library("pure_pursuit");
    let bench = Bench::with(|options| options.trust = Trust::Hashes(Default::default()));
    bench.put_file("p.so", &library);
    let file = &bench.host().files()[0];
    assert_eq!(file.state, FileState::NeedsPermission);
    assert!(
        bench
            .said()
            .contains(&format!("allow its hash {}", file.hash))
    );
    let row = bench.row("com.example.pure_pursuit");
    assert!(row.needs_permission && row.lamp == Health::Off);
    let controllers = || bench.host().registry().infos(ModuleKind::Controller).len();
    let built_in = controllers();
    bench.host().allow(&file.hash);
    assert_eq!(bench.row("com.example.pure_pursuit").lamp, Health::Good);
    assert_eq!(controllers(), built_in + 1);
    // On the command line, the first eight digits of a hash are enough.
    assert!(Trust::Hashes([file.hash[..8].to_owned()].into()).allows(&file.hash));
    assert!(!Trust::Hashes([file.hash[..7].to_owned()].into()).allows(&file.hash));
}

#[test]
fn a_plugin_that_killed_the_program_is_kept_out_at_the_next_start() {
    let mut bench = chaos_bench();
    // A crash leaves the mark of the trial behind without a lock.
    let marks = bench.folder.path().join("cache/marks");
    let mut world = chaos_world(&bench, 0.0);
    world.step();
    let mark = std::fs::read_dir(&marks).unwrap().flatten();
    let mark = mark
        .map(|entry| entry.path())
        .find(|path| path.extension().is_some_and(|ending| ending == "trial"))
        .unwrap();
    let kept = std::fs::read(&mark).unwrap();
    drop(world);
    bench.host = None;
    std::fs::write(marks.join("999999-x.trial"), kept).unwrap();
    bench.open(|_| ());
    let said = bench.said();
    assert!(said.contains("Quarantined"), "{said}");
    assert!(said.contains("--isolate"), "{said}");
    let command = format!("`roadwright plugin retry {CHAOS}`");
    assert!(said.contains(&command), "{said}");
    assert!(matches!(
        bench.host().files()[0].state,
        FileState::Rejected(_)
    ));
    // A retry.
    bench.host().reload(CHAOS);
    assert_eq!(bench.host().files()[0].state, FileState::Active);
    // A successful trial leaves nothing behind.
    let mut world = chaos_world(&bench, 0.0);
    run(&mut world, 2.0);
    assert_eq!(
        std::fs::read_dir(&marks)
            .unwrap()
            .flatten()
            .filter(|e| e.path().is_file())
            .count(),
        0
    );
}

#[test]
fn strange_files_are_refused_with_a_reason() {
    let bench = Bench::new();
    std::fs::create_dir(bench.plugins().join("folder.so")).unwrap();
    bench.put("empty.so", b"");
    bench.put("text.so", b"this is not a library");
    std::fs::copy(
        plugin_library("pure_pursuit"),
        bench.plugins().join("gr\u{fc}n \u{1f697}.so"),
    )
    .unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink("loop.so", bench.plugins().join("loop.so")).unwrap();
    bench.host().rescan();
    let files = bench.host().files();
    let state = |name: &str| {
        let mut files = files.iter();
        let file = files.find(|file| file.path.ends_with(name));
        file.map(|file| format!("{:?}", file.state))
            .unwrap_or_default()
    };
    assert!(
        state("folder.so").contains("it is a folder, not a file"),
        "{}",
        state("folder.so")
    );
    assert!(
        state("loop.so").contains("cannot read"),
        "{}",
        state("loop.so")
    );
    assert_eq!(state("gr\u{fc}n \u{1f697}.so"), "Active");
    // If files were watched, the host would wait for the plugins first.
    assert!(
        state("empty.so").contains("it is empty"),
        "{}",
        state("empty.so")
    );
    assert!(
        state("text.so").contains("not a shared library"),
        "{}",
        state("text.so")
    );
}

#[test]
fn cutting_a_library_anywhere_never_loads_it() {
    let whole = std::fs::read(plugin_library("pure_pursuit")).unwrap();
    for length in (0..whole.len()).step_by(4096) {
        let cut = inspect_bytes(&whole[..length]);
        assert!(cut.is_err(), "cut at {length}: {cut:?}");
    }
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(64))]

    #[test]
    fn damaged_libraries_never_kill_the_host(
        from in 0.0..1.0f64, length in 1usize..200_000, fill in proptest::prelude::any::<u8>(),
    ) {
        let mut bytes = std::fs::read(plugin_library("pure_pursuit")).unwrap();
        let from = (from * bytes.len() as f64) as usize;
        let to = (from + length).min(bytes.len());
        bytes[from..to].fill(fill);
        // The result does not matter, as long as inspection does not crash.
        let _ = inspect_bytes(&bytes);
    }
}

#[test]
fn damaged_libraries_that_look_sound_die_in_the_trial() {
    let whole = std::fs::read(plugin_library("pure_pursuit")).unwrap();
    let bench = Bench::new();
    // Overwrites machine code, which the headers do not reveal.
    for at in 1..8 {
        let mut bytes = whole.clone();
        let from = whole.len() * at / 16;
        bytes[from..from + 60_000].fill(0);
        bench.put(&format!("x{at}.so"), &bytes);
    }
    // Every module that is still active can be called.
    let ids: Vec<_> = bench
        .host()
        .files()
        .iter()
        .map(|f| f.state.clone())
        .collect();
    assert_eq!(ids.len(), 7, "{ids:?}");
}
