//! Tests that restore saved worlds with other modules. The modules start fresh, which is reported
//! and makes the run a branch.

use crate::common::shipped;
use roadwright_agent::Slot;
use roadwright_scenario::operation::signals;
use roadwright_scenario::{Edit, ModuleSetting, Scenario};
use roadwright_simulation::{
    Ground, ModuleOverrides, RunOptions, SaveError, SavedWorld, World, builtin_modules,
};

fn using(slot: Slot, ids: &[&str]) -> RunOptions {
    let mut modules = ModuleOverrides::default();
    let ids = ids.iter().map(|id| (*id).to_owned()).collect();
    assert_eq!(modules.set(slot, ids), Ok(None));
    RunOptions {
        modules,
        ..RunOptions::default()
    }
}

fn run(world: &mut World, seconds: f64) {
    let end = world.time() + seconds;
    while world.time() + world.dt() / 2.0 < end {
        world.step();
    }
}

/// Creates a world and runs it for a number of seconds.
fn after(scenario: &Scenario, options: &RunOptions, seconds: f64) -> World {
    let mut world = World::new(scenario, &builtin_modules(), options).unwrap();
    run(&mut world, seconds);
    assert!(world.counts().active > 0);
    world
}

fn restore(
    scenario: &Scenario,
    options: &RunOptions,
    saved: &SavedWorld,
) -> Result<(World, Vec<String>), SaveError> {
    let ground = Ground::new(scenario);
    World::restore(ground, scenario, &builtin_modules(), options, saved)
}

/// Returns the modules that a world reports as started fresh: slot, module and reason.
fn fresh(world: &World) -> Vec<(String, String, String)> {
    let all = world.summary().started_fresh.into_iter();
    all.map(|one| (one.slot, one.module, one.why)).collect()
}

fn told(slot: &str, module: &str, why: &str) -> (String, String, String) {
    (slot.into(), module.into(), why.into())
}

#[test]
fn another_module_drives_on_and_is_told() {
    let scenario = shipped("crossroads");
    let mut whole = after(&scenario, &RunOptions::default(), 20.0);
    let saved = whole.save().unwrap();
    let pursuit = using(Slot::Controller, &["pursuit"]);
    let (mut world, notes) = restore(&scenario, &pursuit, &saved).unwrap();
    let expected = ["fuzzy_driver", "idm"].map(|old| {
        let why = format!("starts fresh and replaces {old}");
        told("controller", "pursuit", &why)
    });
    assert_eq!(fresh(&world), expected);
    let texts = expected.map(|(slot, module, why)| format!("{slot} {module}: {why}"));
    assert_eq!(notes, texts);
    let at = world.summary().started_fresh[0].clone();
    assert_eq!((at.step, at.time), (whole.steps(), whole.time()));
    // Agents that were already driving also use the new module, as later agents do.
    let of_all = |world: &World| {
        let agents = world.snapshot().vehicles.into_iter();
        agents.map(|one| one.agent).collect::<Vec<_>>()
    };
    assert_eq!(of_all(&world), of_all(&whole));
    run(&mut world, 1.0);
    run(&mut whole, 1.0);
    assert_eq!(
        of_all(&world),
        of_all(&whole),
        "no agent was spawned meanwhile"
    );
    assert_ne!(world.snapshot().hash(), whole.snapshot().hash());
    // The branch is a normal run: it can be repeated and resumed.
    let (mut again, _) = restore(&scenario, &pursuit, &saved).unwrap();
    run(&mut again, 1.0);
    assert_eq!(world.state_hash(), again.state_hash());
    run(&mut world, 20.0);
    assert!(world.faults().is_empty(), "{:?}", world.faults());
    assert!(world.collisions().is_empty());
}

#[test]
fn what_took_the_place_of_modules_holds_on_and_stays_known() {
    let scenario = shipped("crossroads");
    let saved = after(&scenario, &RunOptions::default(), 8.0).save();
    let pursuit = using(Slot::Controller, &["pursuit"]);
    let (mut branch, notes) = restore(&scenario, &pursuit, &saved.unwrap()).unwrap();
    assert!(!notes.is_empty());
    run(&mut branch, 2.0);
    let saved = branch.save().unwrap();
    // The overrides of the saved run need not be repeated, and repeating them changes nothing.
    for options in [RunOptions::default(), pursuit] {
        let (mut world, notes) = restore(&scenario, &options, &saved).unwrap();
        assert_eq!(notes, [""; 0]);
        assert_eq!(fresh(&world), fresh(&branch));
        assert_eq!(world.state_hash(), branch.state_hash());
        let (mut whole, _) = restore(&scenario, &options, &saved).unwrap();
        run(&mut world, 10.0);
        run(&mut whole, 10.0);
        assert_eq!(world.summary(), whole.summary());
    }
    // A third module replaces the second.
    let idm = using(Slot::Controller, &["idm"]);
    let (world, notes) = restore(&scenario, &idm, &saved).unwrap();
    assert_eq!(notes, ["controller idm: starts fresh and replaces pursuit"]);
    assert_eq!(fresh(&world).len(), fresh(&branch).len() + 1);
}

#[test]
fn slots_that_take_several_or_none_are_told_as_well() {
    let scenario = shipped("figure-eight");
    let saved = after(&scenario, &RunOptions::default(), 5.0).save();
    let saved = saved.unwrap();
    for (ids, module, why) in [
        (
            &["comfort", "safety"][..],
            "comfort, safety",
            "starts fresh and replaces crash_and_speed",
        ),
        (&[], "none", "replaces crash_and_speed"),
    ] {
        let options = using(Slot::Fitness, ids);
        let (mut world, _) = restore(&scenario, &options, &saved).unwrap();
        assert_eq!(fresh(&world), [told("fitness", module, why)]);
        run(&mut world, 2.0);
        let stacks = world.summary().stacks;
        let fitnesses = stacks.iter().flat_map(|stack| &stack.fitness);
        let scored = fitnesses.filter(|one| one.score.count > 0);
        let scored: Vec<_> = scored.map(|one| one.module.as_str()).collect();
        assert!(scored.iter().all(|one| ids.contains(one)), "{scored:?}");
        assert_eq!(scored.is_empty(), ids.is_empty());
    }
}

/// Creates a scenario whose stack `idm` uses the given setting for its controller.
fn with_idm(scenario: &Scenario, setting: ModuleSetting) -> Scenario {
    let mut changed = scenario.clone();
    let mut stack = scenario.stacks()["idm"].clone();
    assert!(stack.set(Slot::Controller, vec![setting]));
    changed
        .apply(Edit::Stack("idm".into(), Some(Box::new(stack))))
        .unwrap();
    changed
}

#[test]
fn a_stack_of_the_scenario_that_was_changed_is_told() {
    let scenario = shipped("crossroads");
    let saved = after(&scenario, &RunOptions::default(), 8.0).save();
    let saved = saved.unwrap();
    // The same module with other parameters keeps its memory.
    let mut setting = ModuleSetting::new("idm");
    setting.parameters.insert("headway".into(), 2.5);
    let (world, _) = restore(
        &with_idm(&scenario, setting),
        &RunOptions::default(),
        &saved,
    )
    .unwrap();
    let why = "has different parameters or a different rate than in the save";
    assert_eq!(fresh(&world), [told("controller", "idm", why)]);
    // Another module starts fresh.
    let changed = with_idm(&scenario, ModuleSetting::new("pursuit"));
    let (mut world, _) = restore(&changed, &RunOptions::default(), &saved).unwrap();
    let why = "starts fresh and replaces idm";
    assert_eq!(fresh(&world), [told("controller", "pursuit", why)]);
    run(&mut world, 5.0);
    // Stacks are identified by their names.
    let mut more = scenario.clone();
    let stack = scenario.stacks()["idm"].clone();
    more.apply(Edit::Stack("added".into(), Some(Box::new(stack))))
        .unwrap();
    let error = restore(&more, &RunOptions::default(), &saved).err();
    assert_eq!(error, Some(SaveError::OtherStacks));
}

#[test]
fn who_decides_about_signals_is_no_ground() {
    let scenario = shipped("signal-corridor");
    let saved = after(&scenario, &RunOptions::default(), 20.0).save();
    let saved = saved.unwrap();
    let (world, notes) = restore(&scenario, &RunOptions::default(), &saved).unwrap();
    assert!(notes.is_empty() && fresh(&world).is_empty());
    let mut fixed = scenario.clone();
    fixed
        .apply(signals::controlled_by(&scenario, "fixed"))
        .unwrap();
    let mut by_demand = scenario.clone();
    by_demand
        .apply(signals::controlled_by(&scenario, "actuated"))
        .unwrap();
    let mut branches = 0;
    for (changed, now, was) in [
        (fixed, "fixed", "actuated"),
        (by_demand, "actuated", "fixed"),
    ] {
        let (mut world, _) = restore(&changed, &RunOptions::default(), &saved).unwrap();
        let why = format!("starts fresh and replaces {was}");
        let fresh = fresh(&world);
        branches += fresh.len();
        assert!(
            fresh
                .iter()
                .all(|one| *one == told("signal_controller", now, &why))
        );
        run(&mut world, 5.0);
    }
    assert_eq!(branches, 1, "the signals were of one kind");
}
