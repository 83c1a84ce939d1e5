//! Tests of signals at a crossing, with artificial arrivals.

use super::{Arrival, SignalStates, Wish};
use crate::clock::Clock;
use crate::modules::SignalControllers;
use crate::testing::{Stand, clock};
use glam::DVec2;
use roadwright_agent::{
    Logic, ModuleEntry, ModuleInfo, ParameterSet, Registry, SignalController, SignalView,
};
use roadwright_geometry::math::mix64;
use roadwright_ground::Ground;
use roadwright_scenario::junction::{LONGEST_WAIT, Light};
use roadwright_scenario::{
    Connection, ConnectionIndex, Control, JunctionIndex, JunctionRules, SignalControllerSetting,
    SignalMode, SignalPlan,
};

/// A crossing with actuated signals, and the connections straight across from the west and from the
/// south.
fn crossing() -> (Stand, [Connection; 2]) {
    crossing_with(SignalPlan {
        mode: SignalMode::Actuated,
        ..SignalPlan::default()
    })
}

fn crossing_with(plan: SignalPlan) -> (Stand, [Connection; 2]) {
    let stand = Stand::crossing_of(&JunctionRules {
        control: Some(Control::Signals),
        plan: Some(plan),
        ..JunctionRules::default()
    });
    let path = |direction| {
        let across = stand.straight(direction)[1];
        stand.ground.contested(across).expect("it has signals")
    };
    let paths = [path(DVec2::X), path(DVec2::Y)];
    (stand, paths)
}

/// Advances the signals by a step, without modules.
fn update(states: &mut SignalStates, clock: &Clock, ground: &Ground, comes: &[Arrival]) {
    let faults = states.update(
        clock,
        ground,
        Some(comes),
        &mut SignalControllers::default(),
        &[],
    );
    assert_eq!(faults, []);
}

fn arrival(path: Connection, distance: f64, has_room: bool) -> Arrival {
    Arrival {
        path,
        distance,
        speed: 10.0,
        has_room,
    }
}

/// Number of steps of 0.1 s until a connection shows a light; `None` if it never shows it. The
/// given arrivals apply in each step.
fn steps_until(
    states: &mut SignalStates,
    ground: &Ground,
    path: Connection,
    light: Light,
    comes: impl Fn(u64) -> Vec<Arrival>,
) -> Option<u64> {
    (0..2000).find(|&step| {
        update(states, &clock(step), ground, &comes(step));
        states.light(ground, path) == light
    })
}

#[test]
fn by_demand_a_stage_stays_until_somebody_waits_for_another() {
    let (stand, [east, north]) = crossing();
    let begins = || SignalStates::new(&stand.ground);
    let ground = &*stand.ground;
    // No vehicle waits, so the stage stays, whether or not vehicles approach it.
    assert_eq!(
        steps_until(&mut begins(), ground, north, Light::Green, |_| vec![]),
        None
    );
    let busy = |_| vec![arrival(east, 10.0, true)];
    assert_eq!(
        steps_until(&mut begins(), ground, north, Light::Green, busy),
        None
    );
    // A vehicle waits and no vehicle approaches with green, so the stage ends after the minimum
    // green of 6 s, followed by amber and red.
    let waits = |_| vec![arrival(north, 0.0, true)];
    let steps = steps_until(&mut begins(), ground, north, Light::Green, waits);
    assert!((90..=130).contains(&steps.unwrap()), "{steps:?}");
    // Vehicles keep approaching with green, so the stage ends after the maximum green of 50 s.
    let both = |_| vec![arrival(north, 0.0, true), arrival(east, 10.0, true)];
    let steps = steps_until(&mut begins(), ground, north, Light::Green, both);
    assert!((530..=580).contains(&steps.unwrap()), "{steps:?}");
    // Vehicles that are 4 s away or have no room beyond do not extend the green.
    for other in [arrival(east, 40.0, true), arrival(east, 5.0, false)] {
        let both = |_| vec![arrival(north, 0.0, true), other];
        let steps = steps_until(&mut begins(), ground, north, Light::Green, both);
        assert!((90..=130).contains(&steps.unwrap()), "{steps:?}");
    }
    // The street that loses green shows amber, then red, before the other street gets green.
    let mut states = begins();
    let amber = steps_until(&mut states, ground, east, Light::Amber, waits).unwrap();
    assert!((59..=61).contains(&amber), "{amber}");
    let light_at = |states: &mut SignalStates, step| {
        update(states, &clock(step), ground, &[]);
        states.light(ground, east)
    };
    let after: Vec<Light> = (amber + 1..amber + 40)
        .map(|s| light_at(&mut states, s))
        .collect();
    let red = after.iter().position(|light| *light == Light::Red);
    assert!((29..=35).contains(&red.unwrap()), "{after:?}");
}

#[test]
fn what_an_edit_changes_closes_with_amber_and_red() {
    let (stand, [east, north]) = crossing();
    let mut states = SignalStates::new(&stand.ground);
    update(&mut states, &clock(0), &stand.ground, &[]);
    assert_eq!(states.light(&stand.ground, east), Light::Green);
    // Unchanged signals continue.
    let (same, _) = crossing();
    states.take_over(&stand.ground, &same.ground, 0.1);
    assert_eq!(states.light(&same.ground, east), Light::Green);
    // Changed signals close and restart.
    let other = Stand::crossing_of(&JunctionRules {
        control: Some(Control::Signals),
        ..JunctionRules::default()
    });
    states.take_over(&same.ground, &other.ground, 0.1);
    let lights =
        |states: &SignalStates| [east, north].map(|path| states.light(&other.ground, path));
    assert_eq!(lights(&states), [Light::Amber; 2]);
    let mut seen = vec![lights(&states)];
    for step in 1..200 {
        update(&mut states, &clock(step), &other.ground, &[]);
        if seen.last() != Some(&lights(&states)) {
            seen.push(lights(&states));
        }
    }
    assert_eq!(seen[1], [Light::Red; 2]);
    assert_eq!(seen[2], [Light::Green, Light::Red]);
}

#[test]
fn red_and_amber_are_shown_before_green_and_after_an_edit() {
    let plan = |mode, red_amber| SignalPlan {
        mode,
        red_amber,
        ..SignalPlan::default()
    };
    for mode in [SignalMode::Fixed, SignalMode::Actuated] {
        let (before, [east, north]) = crossing_with(plan(mode, None.into()));
        let (stand, _) = crossing_with(plan(mode, Some(2.0).into()));
        let ground = &*stand.ground;
        let mut states = SignalStates::new(&before.ground);
        states.take_over(&before.ground, ground, 0.0);
        let mut seen: Vec<([Light; 2], u32)> = Vec::new();
        for step in 0..600 {
            update(
                &mut states,
                &clock(step),
                ground,
                &[arrival(north, 0.0, true)],
            );
            let now = [east, north].map(|path| states.light(ground, path));
            match seen.last_mut() {
                Some((last, steps)) if *last == now => *steps += 1,
                _ => seen.push((now, 1)),
            }
        }
        let lights: Vec<[Light; 2]> = seen.iter().map(|(lights, _)| *lights).collect();
        // If there is a red-and-amber phase, the all-red phase is shorter by its duration, or is
        // left out.
        let expected = [
            [Light::Amber; 2],
            [Light::Red; 2],
            [Light::RedAmber, Light::Red],
            [Light::Green, Light::Red],
            [Light::Amber, Light::Red],
            [Light::Red, Light::RedAmber],
            [Light::Red, Light::Green],
        ];
        let place = |wanted| lights.iter().position(|now| now == wanted);
        let places: Vec<usize> = expected.iter().filter_map(place).collect();
        assert!(places.len() == 7 && places.is_sorted(), "{mode:?} {seen:?}");
        for at in [2, 5] {
            let (_, steps) = seen[places[at]];
            assert!((19..=21).contains(&steps), "{mode:?} {seen:?}");
        }
    }
}

/// Module with random answers: none, faults, the current stage, or stages that do not exist.
struct Nonsense(u64);

impl Logic for Nonsense {}

impl SignalController for Nonsense {
    fn decide(&mut self, _: &ParameterSet, _: &SignalView<'_>) -> Result<Option<u32>, String> {
        self.0 = mix64(self.0.wrapping_add(1));
        match self.0 % 7 {
            0 => Err("no".into()),
            1 => Ok(None),
            2 => Ok(Some(u32::MAX)),
            _ => Ok(Some((self.0 >> 8) as u32 % 4)),
        }
    }

    fn wants_facts(&self) -> bool {
        false
    }
}

/// A module that never gives green to another stage.
struct Selfish;

impl Logic for Selfish {}

impl SignalController for Selfish {
    fn decide(&mut self, _: &ParameterSet, _: &SignalView<'_>) -> Result<Option<u32>, String> {
        Ok(None)
    }
}

fn registry(seed: u64) -> Registry {
    let info = |id| ModuleInfo {
        id,
        name: id,
        doc: "",
    };
    let mut registry = Registry::default();
    let nonsense = move || Box::new(Nonsense(seed)) as Box<_>;
    registry.add(ModuleEntry::<dyn SignalController>::new(
        info("nonsense"),
        &[],
        nonsense,
    ));
    let selfish = || Box::new(Selfish) as Box<_>;
    registry.add(ModuleEntry::<dyn SignalController>::new(
        info("selfish"),
        &[],
        selfish,
    ));
    registry
}

/// Checks the lights of all connections every 0.1 s, and reports forbidden combinations and sequences.
struct Onlooker<'a> {
    ground: &'a Ground,
    junction: JunctionIndex,
    /// The last light of each connection, and the number of steps for which it has been shown.
    shown: Vec<(Light, u32)>,
    /// The last step in which each connection had green or amber.
    last_seen: Vec<i64>,
    step: i64,
    /// Number of steps with red and amber together before each green; 0 for none.
    red_amber: u32,
}

impl<'a> Onlooker<'a> {
    fn new(ground: &'a Ground, junction: JunctionIndex) -> Self {
        let paths = ground.law(junction).path_count();
        Self {
            ground,
            junction,
            shown: vec![(Light::Red, 1000); paths],
            last_seen: vec![-1000; paths],
            step: 0,
            red_amber: 0,
        }
    }

    fn see(&mut self, lights: &[Light]) -> Result<(), String> {
        self.step += 1;
        let bits = |path: usize| {
            let path = ConnectionIndex::from_index(path);
            self.ground
                .connection_gist(Connection::new(self.junction, path))
                .stages
        };
        let all = |wanted: Light| (0..lights.len()).filter(move |&path| lights[path] == wanted);
        // All connections with green must have green in a common stage.
        if all(Light::Green).fold(u32::MAX, |common, path| common & bits(path)) == 0 {
            return Err(format!(
                "green together: {:?}",
                all(Light::Green).collect::<Vec<_>>()
            ));
        }
        for (path, &light) in lights.iter().enumerate() {
            let (before, steps) = self.shown[path];
            let is_allowed = match (before, light) {
                (Light::Green, Light::Red) => false,
                (Light::Green, Light::Amber) => steps >= 60 - 1,
                (Light::Amber, Light::Red) => steps >= 30 - 1,
                (Light::Amber, Light::Green) => false,
                // The first lights of a run have no predecessor.
                (Light::Red, Light::Green) => self.red_amber == 0 || self.step == 1,
                (Light::RedAmber, Light::Green) => steps >= self.red_amber - 1,
                (Light::Red, Light::RedAmber) => self.red_amber > 0,
                (Light::RedAmber, after) => after == Light::RedAmber,
                (_, Light::RedAmber) => false,
                _ => true,
            };
            if !is_allowed {
                return Err(format!(
                    "path {path}: {before:?} for {steps} steps, then {light:?}"
                ));
            }
            // Connections that must not have green together with this one have been red for a
            // while.
            let begins = light == Light::Green && before.is_red();
            let close = (0..lights.len()).find(|&other| {
                bits(other) & bits(path) == 0 && self.step - self.last_seen[other] < 5
            });
            if let (true, Some(other)) = (begins, close) {
                return Err(format!("path {path} has green right after {other}"));
            }
            self.shown[path] = (light, if before == light { steps + 1 } else { 1 });
        }
        for (path, &light) in lights.iter().enumerate() {
            if !light.is_red() {
                self.last_seen[path] = self.step;
            }
        }
        Ok(())
    }
}

fn lights(states: &SignalStates, ground: &Ground, junction: JunctionIndex) -> Vec<Light> {
    let paths = ground.law(junction).path_count();
    ConnectionIndex::up_to(paths)
        .map(|path| states.light(ground, Connection::new(junction, path)))
        .collect()
}

#[test]
fn whatever_anybody_asks_for_nobody_gets_a_short_green_or_one_that_others_have() {
    for mode in [SignalMode::Actuated, SignalMode::Fixed] {
        for (seed, red_amber) in (0..8).map(|seed| (seed, [0.0, 1.0, 2.0][seed as usize % 3])) {
            let is_fixed = mode == SignalMode::Fixed;
            let nonsense = (!is_fixed).then(|| SignalControllerSetting::new("nonsense"));
            let (stand, paths) = crossing_with(SignalPlan {
                mode,
                controller: nonsense,
                red_amber: Some(red_amber).into(),
                ..SignalPlan::default()
            });
            let ground = &*stand.ground;
            let mut controllers = SignalControllers::new(ground, &registry(seed)).unwrap();
            let mut states = SignalStates::new(ground);
            let mut onlooker = Onlooker::new(ground, paths[0].junction);
            onlooker.red_amber = (10.0 * red_amber) as u32;
            let (mut changes, mut before) = (0, Vec::new());
            let node = ground.junction_nodes(paths[0].junction)[0].0;
            for step in 0..6000 {
                let dice = mix64(seed ^ mix64(step));
                let comes = arrival(
                    paths[(dice % 2) as usize],
                    (dice >> 8) as f64 % 60.0,
                    !dice.is_multiple_of(3),
                );
                if dice.is_multiple_of(97) {
                    let wish = match dice % 3 {
                        0 => Wish::Call,
                        _ => Wish::Hold(step as f64 * 0.1 + (dice % 10) as f64),
                    };
                    // Some of the stages do not exist.
                    let _ = states.ask(ground, node, (dice >> 16) as u32 % 3, dice % 5, wish);
                }
                states.update(&clock(step), ground, Some(&[comes]), &mut controllers, &[]);
                let now = lights(&states, ground, paths[0].junction);
                onlooker
                    .see(&now)
                    .unwrap_or_else(|why| panic!("{mode:?} {seed} {step}: {why}"));
                changes += u32::from(now != before);
                before = now;
            }
            assert!(changes > 40, "{mode:?} {seed}: only {changes} changes");
        }
    }
}

#[test]
fn the_onlooker_sees_what_is_wrong() {
    let (stand, [east, north]) = crossing();
    let ground = &*stand.ground;
    let count = ground.law(east.junction).path_count();
    let of = |pairs: &[(Connection, Light)]| {
        let mut lights = vec![Light::Red; count];
        pairs
            .iter()
            .for_each(|(path, light)| lights[path.number.index()] = *light);
        lights
    };
    let sees_with = |sequence: &[(Vec<Light>, usize)], red_amber| {
        let mut onlooker = Onlooker::new(ground, east.junction);
        onlooker.red_amber = red_amber;
        let each = sequence
            .iter()
            .flat_map(|(lights, steps)| std::iter::repeat_n(lights, *steps));
        each.into_iter()
            .map(|lights| onlooker.see(lights))
            .find(Result::is_err)
    };
    let sees = |sequence: &[(Vec<Light>, usize)]| sees_with(sequence, 0);
    let ready = |steps| [(of(&[(north, Light::RedAmber)]), steps)];
    let green = of(&[(east, Light::Green)]);
    let amber = of(&[(east, Light::Amber)]);
    let other = of(&[(north, Light::Green)]);
    let red = of(&[]);
    let sound = [
        (green.clone(), 60),
        (amber.clone(), 30),
        (red.clone(), 10),
        (other.clone(), 60),
    ];
    assert_eq!(sees(&sound), None);
    // The same test with a required red-and-amber phase, which must not be missing or too short.
    let (before, after) = sound.split_at(3);
    let with = |ready: &[(Vec<Light>, usize)]| [before, ready, after].concat();
    assert_eq!(sees_with(&with(&ready(10)), 10), None);
    for wrong in [
        with(&[]),
        with(&ready(5)),
        with(&[ready(10), [before[2].clone()]].concat()),
    ] {
        assert!(sees_with(&wrong, 10).is_some(), "{wrong:?}");
    }
    assert!(sees(&with(&ready(10))).is_some());
    for wrong in [
        vec![(of(&[(east, Light::Green), (north, Light::Green)]), 1)],
        vec![(green.clone(), 30), (amber.clone(), 30)],
        vec![(green.clone(), 60), (red, 10)],
        vec![(green.clone(), 60), (amber.clone(), 10), (other.clone(), 1)],
        vec![(green, 60), (amber, 30), (other, 1)],
    ] {
        assert!(sees(&wrong).is_some(), "{wrong:?}");
    }
}

#[test]
fn a_policy_that_lets_nobody_else_go_is_overruled() {
    let (stand, [_, north]) = crossing_with(SignalPlan {
        controller: Some(SignalControllerSetting::new("selfish")),
        mode: SignalMode::Actuated,
        ..SignalPlan::default()
    });
    let ground = &*stand.ground;
    let mut controllers = SignalControllers::new(ground, &registry(1)).unwrap();
    let mut states = SignalStates::new(ground);
    let waits = [arrival(north, 0.0, true)];
    let green = (0..2000).find(|&step| {
        states.update(&clock(step), ground, Some(&waits), &mut controllers, &[]);
        states.light(ground, north) == Light::Green
    });
    // The maximum green of 50 s is followed by amber and red.
    assert!((500..=600).contains(&green.unwrap()), "{green:?}");
    assert!(green.unwrap() < (LONGEST_WAIT * 10.0) as u64);
    // An unknown module must cause an error, not a default.
    let wrong = SignalControllers::new(ground, &Registry::default());
    let said = wrong.err().unwrap().to_string();
    assert!(
        said.contains("\"selfish\"; expected one of: fixed, actuated"),
        "{said}"
    );
}

#[test]
fn a_stage_that_is_called_comes_next_and_one_that_is_held_stays_up_to_the_bound() {
    let (stand, [east, north]) = crossing();
    let ground = &*stand.ground;
    let node = ground.junction_nodes(east.junction)[0].0;
    let stage = |path| ground.connection_gist(path).stages.trailing_zeros();
    let first = |states: &mut SignalStates, from: u64, (path, light), comes: &[Arrival]| {
        (from..from + 3000).find(|&step| {
            update(states, &clock(step), ground, comes);
            states.light(ground, path) == light
        })
    };
    // The stage is called while no other stage is wanted, so it changes after the minimum green of
    // 6 s.
    let mut states = SignalStates::new(ground);
    states
        .ask(ground, node, stage(north), 7, Wish::Call)
        .unwrap();
    let amber = first(&mut states, 0, (east, Light::Amber), &[]).unwrap();
    assert!((59..=61).contains(&amber), "{amber}");
    let green = first(&mut states, amber, (north, Light::Green), &[]).unwrap();
    // The call has been fulfilled and no other stage is wanted, so the stage stays.
    assert_eq!(first(&mut states, green, (north, Light::Amber), &[]), None);
    // While another vehicle waits, a hold of 30 s lasts for 30 s, and a hold without an end lasts
    // for 120 s.
    let waits = [arrival(north, 0.0, true)];
    for (seconds, from, to) in [(30.0, 299, 302), (1e9, 1199, 1203)] {
        let mut states = SignalStates::new(ground);
        let wish = Wish::Hold(seconds);
        states.ask(ground, node, stage(east), 7, wish).unwrap();
        let amber = first(&mut states, 0, (east, Light::Amber), &waits).unwrap();
        assert!((from..=to).contains(&amber), "{seconds}: {amber}");
    }
    // After the release, the stage ends immediately.
    let mut states = SignalStates::new(ground);
    states
        .ask(ground, node, stage(east), 7, Wish::Hold(1e9))
        .unwrap();
    assert!((0..200).all(|step| {
        update(&mut states, &clock(step), ground, &waits);
        states.light(ground, east) == Light::Green
    }));
    states.release(ground, node, 7).unwrap();
    assert_eq!(
        first(&mut states, 200, (east, Light::Amber), &waits),
        Some(200)
    );
    // Requests for stages and signals that do not exist.
    for ((node, stage), said) in [
        ((node, 9), "stages 0 to 1, not 9"),
        ((999, 0), "no signals at node 999"),
    ] {
        let told = states.ask(ground, node, stage, 7, Wish::Call).unwrap_err();
        assert!(told.contains(said), "{told}");
    }
}

#[test]
fn fixed_times_leave_the_clock_for_a_hold_and_come_back_to_it() {
    let (stand, [east, _]) = crossing_with(SignalPlan::default());
    let ground = &*stand.ground;
    let node = ground.junction_nodes(east.junction)[0].0;
    let stage = ground.connection_gist(east).stages.trailing_zeros();
    let run = |hold: Option<f64>| -> Vec<Vec<Light>> {
        let mut states = SignalStates::new(ground);
        if let Some(until) = hold {
            states
                .ask(ground, node, stage, 1, Wish::Hold(until))
                .unwrap();
        }
        let shown = (0..4000).map(|step| {
            update(&mut states, &clock(step), ground, &[]);
            lights(&states, ground, east.junction)
        });
        shown.collect()
    };
    let (alone, held) = (run(None), run(Some(45.0)));
    assert!((0..449).all(|step| held[step][east.number.index()] == Light::Green));
    assert!((0..449).any(|step| alone[step][east.number.index()] == Light::Red));
    // Three cycles later, both show the same lights again in every step.
    assert_eq!(alone[1800..], held[1800..]);
}
