//! Green waves in a network: the routes that they follow, and the edits for them.

use roadwright_scenario::green_wave::{Along, Corridor, NoWave, Street};
use roadwright_scenario::junction::{Conflicts, Layout, Signals, layout, signal_plans};
use roadwright_scenario::operation::signals::with_offsets;
use roadwright_scenario::*;
use std::collections::BTreeSet;
use std::path::Path;

/// The signals of the avenue, from west to east.
const NODES: [u32; 4] = [5, 8, 11, 14];
/// Speed of the wave, m/s: 50 km/h.
const SPEED: f64 = 50.0 / 3.6;

fn avenue() -> Scenario {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    file::load(&folder.join("signal-corridor.scenario.json")).unwrap()
}

fn nodes(ids: &[u32]) -> BTreeSet<ObjectId> {
    ids.iter().map(|&id| ObjectId::Node(NodeId(id))).collect()
}

fn roads(ids: &[u32]) -> BTreeSet<ObjectId> {
    ids.iter().map(|&id| ObjectId::Road(RoadId(id))).collect()
}

fn corridor(scenario: &Scenario, chosen: &BTreeSet<ObjectId>) -> Result<Corridor, NoWave> {
    let layout = layout(scenario.network(), scenario.about());
    let street = Street::through(scenario.network(), &layout, chosen)?;
    Corridor::new(&street, &layout, &signals(scenario, &layout))
}

fn signals(scenario: &Scenario, layout: &Layout) -> Vec<Option<Signals>> {
    let conflicts: Vec<_> = layout.junctions.iter().map(|j| Conflicts::of(j)).collect();
    let own = |i: usize| Signals::of(&layout.junctions[i], &conflicts[i]);
    signal_plans(scenario.network(), layout, own, |i| &conflicts[i]).signals
}

fn with_plan(scenario: &mut Scenario, id: u32, change: impl FnOnce(&mut SignalPlan)) {
    let mut node = scenario.network().node(NodeId(id)).unwrap().clone();
    change(node.rules.plan.get_or_insert_default());
    scenario.apply(Edit::Node(NodeId(id), Some(node))).unwrap();
}

fn ids(corridor: &Corridor) -> Vec<u32> {
    corridor
        .signals
        .iter()
        .map(|signal| signal.node.0)
        .collect()
}

#[test]
fn the_ends_of_an_avenue_are_enough_to_find_what_lies_between() {
    let scenario = avenue();
    let chosen = [
        nodes(&NODES),
        nodes(&[14, 5]),
        roads(&[4, 7, 10]),
        roads(&[1, 7, 10]),
    ];
    for chosen in chosen {
        let found = corridor(&scenario, &chosen).unwrap();
        assert_eq!(ids(&found), NODES, "{chosen:?}");
        let places: Vec<f64> = found.signals.iter().map(|signal| signal.at).collect();
        assert_eq!(places, [0.0, 220.0, 400.0, 620.0]);
        let offsets: Vec<f64> = found.signals.iter().map(|signal| signal.offset).collect();
        assert_eq!(offsets, [0.0, 16.0, 29.0, 45.0]);
        assert!((found.cycle - 70.0).abs() < 1e-9 && (found.free_speed - 13.89).abs() < 1e-9);
        assert!(found.is_open(Along::Forward) && found.is_open(Along::Backward));
    }
    // A cross street is not part of the corridor.
    let across = corridor(&scenario, &roads(&[2, 3]));
    assert_eq!(across, Err(NoWave::TooFew));
    let one = corridor(&scenario, &nodes(&[5]));
    assert_eq!(one, Err(NoWave::TooFew));
}

#[test]
fn the_wave_of_an_avenue_is_distance_by_speed_and_as_wide_as_its_green() {
    let mut scenario = avenue();
    let before = scenario.clone();
    let found = corridor(&scenario, &nodes(&NODES)).unwrap();
    let wave = found.wave(SPEED);
    // The signals are identical, and the distances of 220, 400 and 620 m are driven at 50 km/h.
    for (offset, distance) in wave.iter().zip([0.0, 220.0, 400.0, 620.0]) {
        assert!((offset - distance / SPEED).abs() < 1e-9, "{wave:?}");
    }
    let green = found.signals[0].green(Along::Forward)[0].length;
    assert!((20.0..50.0).contains(&green), "{green}");
    let layout = layout(scenario.network(), scenario.about());
    let all = found.signals.iter().zip(&wave);
    let all = all.map(|(signal, offset)| {
        let junction = layout.junctions[signal.junction].as_ref();
        (junction, *offset, None)
    });
    let undo = scenario.apply(with_offsets(&scenario, all)).unwrap();
    let made = corridor(&scenario, &nodes(&NODES)).unwrap();
    let band = made.band(Along::Forward, SPEED).unwrap();
    assert!((band.width - green).abs() < 1e-6, "{band:?}");
    // The rest of the plan is unchanged, and undo restores everything.
    let node = scenario.network().node(NodeId(8)).unwrap();
    assert_eq!(node.rules.plan.as_ref().unwrap().cycle, Some(70.0));
    scenario.apply(undo).unwrap();
    assert!(scenario == before);
}

#[test]
fn without_a_common_clock_there_is_no_wave_and_it_is_said_why() {
    let mut scenario = avenue();
    with_plan(&mut scenario, 8, |plan| plan.cycle = Some(60.0).into());
    let Err(refused) = corridor(&scenario, &nodes(&NODES)) else {
        panic!("two cycles keep no step");
    };
    let text = refused.to_string();
    assert!(
        text.contains("node 8: 60.0 s") && text.contains("node 5: 70.0 s"),
        "{text}"
    );
    // The same applies to a junction that is between the selected ones.
    with_plan(&mut scenario, 8, |plan| plan.mode = SignalMode::Actuated);
    let refused = corridor(&scenario, &nodes(&[5, 14]));
    assert_eq!(refused, Err(NoWave::ByDemand(NodeId(8))));
    // Signals that are off do not stop any vehicle.
    with_plan(&mut scenario, 8, |plan| plan.mode = SignalMode::Off);
    assert_eq!(
        ids(&corridor(&scenario, &nodes(&[5, 14])).unwrap()),
        [5, 11, 14]
    );
}

#[test]
fn what_lies_on_no_one_way_has_no_wave() {
    let mut scenario = avenue();
    // Signals at the end of a cross street. A route from there to both ends of the avenue would
    // pass node 8 twice.
    let mut node = scenario.network().node(NodeId(7)).unwrap().clone();
    node.rules.control = Some(Control::Signals);
    node.rules.plan = Some(SignalPlan {
        cycle: Some(70.0).into(),
        ..SignalPlan::default()
    });
    scenario.apply(Edit::Node(NodeId(7), Some(node))).unwrap();
    let refused = corridor(&scenario, &nodes(&[5, 7, 14]));
    assert_eq!(refused, Err(NoWave::NotOneWay));
}

#[test]
fn on_a_one_way_street_forward_is_where_one_drives() {
    let mut scenario = avenue();
    // Only lanes to the west remain.
    for id in [4, 7, 10] {
        let mut road = scenario.network().road(RoadId(id)).unwrap().clone();
        for section in &mut road.lane_sections {
            section.lanes.retain(|lane| lane.id > 0);
        }
        scenario
            .apply(Edit::Road(RoadId(id), Some(Box::new(road))))
            .unwrap();
    }
    let found = corridor(&scenario, &nodes(&NODES)).unwrap();
    assert_eq!(ids(&found), [14, 11, 8, 5]);
    assert!(found.is_open(Along::Forward) && !found.is_open(Along::Backward));
    let wave = found.with_offsets(&found.wave(SPEED));
    let greens = wave.signals.iter();
    let greens = greens.map(|signal| signal.green(Along::Forward)[0].length);
    let shortest = greens.fold(f64::INFINITY, f64::min);
    let band = wave.band(Along::Forward, SPEED).unwrap();
    assert!(
        (band.width - shortest).abs() < 1e-6 && shortest > 5.0,
        "{band:?}"
    );
}
