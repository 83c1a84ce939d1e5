//! Tests of bridges and tunnels.

use roadwright_geometry::{DVec2, Pose, ReferenceLine};
use roadwright_render::{Bridges, Picture, SpanKind, map};
use roadwright_scenario::junction::layout;
use roadwright_scenario::operation::draw::{self, RoadStyle};
use roadwright_scenario::*;
use roadwright_simulation::{RunOptions, World, builtin_modules};
use tiny_skia::PremultipliedColorU8;

fn add(scenario: &mut Scenario, from: DVec2, to: DVec2, layer: i8) -> RoadId {
    let line = ReferenceLine::straight(from, to).unwrap();
    let style = RoadStyle {
        name: String::new(),
        class: RoadClass::Collector,
        layer,
        speed_limit: 50.0 / 3.6,
        section: CrossSection::driving(1, 1, 3.25).with_border(LaneType::Sidewalk, 2.0),
    };
    let edit = draw::road(scenario, &line, &style).unwrap();
    scenario.apply(edit).unwrap();
    scenario.network().roads().map(|(id, _)| id).max().unwrap()
}

/// Creates a road to the east, crossed by a road on the given layer.
fn crossing(layer: i8) -> (Scenario, RoadId, RoadId) {
    let mut scenario = Scenario::new("crossing");
    let ground = add(
        &mut scenario,
        DVec2::new(-100.0, 0.0),
        DVec2::new(100.0, 0.0),
        0,
    );
    let other = add(
        &mut scenario,
        DVec2::new(0.0, -100.0),
        DVec2::new(0.0, 100.0),
        layer,
    );
    (scenario, ground, other)
}

fn bridges(scenario: &Scenario) -> Bridges {
    Bridges::of(scenario, &layout(scenario.network(), scenario.about()))
}

#[test]
fn a_deck_reaches_ten_metres_beyond_what_it_passes_over() {
    let (scenario, ground, over) = crossing(1);
    let bridges = bridges(&scenario);
    assert_eq!(bridges.of_road(ground).count(), 0);
    let decks: Vec<_> = bridges.of_road(over).collect();
    assert_eq!(decks.len(), 1);
    // The road below is 10.5 m wide, and the deck extends 10 m beyond it at both ends.
    let (from, to) = (decks[0].from - 100.0, decks[0].to - 100.0);
    assert!((from + 15.25).abs() < 0.1, "{from}");
    assert!((to - 15.25).abs() < 0.1, "{to}");
    assert!(bridges.covers(DVec2::new(0.0, 5.0), 0));
    assert!(!bridges.covers(DVec2::new(0.0, 5.0), 1));
    assert!(!bridges.covers(DVec2::new(0.0, 20.0), 0));
    assert!(!bridges.covers(DVec2::new(8.0, 5.0), 0));
}

#[test]
fn a_road_over_water_has_a_deck_and_other_roads_have_none() {
    let mut scenario = Scenario::new("river");
    let over = add(
        &mut scenario,
        DVec2::new(-100.0, 0.0),
        DVec2::new(100.0, 0.0),
        0,
    );
    let beside = add(
        &mut scenario,
        DVec2::new(60.0, 100.0),
        DVec2::new(60.0, 30.0),
        0,
    );
    let corner = |x: f64, y: f64| DVec2::new(x, y);
    let river = Land {
        name: String::new(),
        outline: vec![
            corner(-10.0, -80.0),
            corner(10.0, -80.0),
            corner(10.0, 80.0),
            corner(-10.0, 80.0),
        ]
        .into(),
        usage: LandUse::Water,
        holes: Vec::new().into(),
    };
    let edit = Edit::Land(LandId(1), Some(Box::new(river)));
    scenario.apply(edit).unwrap();
    let bridges = bridges(&scenario);
    let deck = bridges.of_road(over).next().unwrap();
    assert_eq!(deck.kind, SpanKind::Deck);
    assert!((deck.from - 80.0).abs() < 0.1 && (deck.to - 120.0).abs() < 0.1);
    assert_eq!(bridges.of_road(beside).count(), 0);
}

/// Checks that both roads are at the same height where a ramp leaves a road of another layer.
#[test]
fn roads_that_join_have_no_deck_over_each_other() {
    let mut scenario = Scenario::new("ramp");
    add(
        &mut scenario,
        DVec2::new(-100.0, 0.0),
        DVec2::new(100.0, 0.0),
        0,
    );
    let ramp = add(
        &mut scenario,
        DVec2::new(0.0, 0.0),
        DVec2::new(100.0, 40.0),
        0,
    );
    let mut raised = scenario.network().road(ramp).unwrap().clone();
    raised.layer = 1;
    scenario
        .apply(Edit::Road(ramp, Some(Box::new(raised))))
        .unwrap();
    assert!(bridges(&scenario).of_road(ramp).next().is_none());
}

#[test]
fn a_road_below_the_ground_is_a_tunnel_where_another_lies_over_it() {
    let (scenario, ground, tunnel) = crossing(-1);
    let bridges = bridges(&scenario);
    // The road on the ground hides the vehicles in the tunnel, but is not a bridge.
    let kinds: Vec<_> = bridges.of_road(ground).map(|span| span.kind).collect();
    assert_eq!(kinds, [SpanKind::Roof]);
    assert!(bridges.covers(DVec2::ZERO, -1));
    let covered: Vec<_> = bridges.of_road(tunnel).collect();
    assert_eq!(covered.len(), 1);
    assert_eq!(covered[0].layer, 0);
    let length = covered[0].to - covered[0].from;
    assert!((length - 10.5).abs() < 0.1, "{length}");
}

/// Draws a car at the crossing from above, and returns the picture.
fn picture_of_car(layer: i8, start: Pose) -> Vec<u8> {
    let (mut scenario, ground, _) = crossing(layer);
    let at = scenario
        .network()
        .road(ground)
        .unwrap()
        .reference_line
        .start();
    let s = (start.position - at.position).length();
    let on_lane = |s: f64| {
        Place::Lane(LanePlace {
            road: ground,
            lane: -1,
            s: s.into(),
        })
    };
    let agent = Agent {
        name: String::new(),
        vehicle: "car".into(),
        stack: "idm".into(),
        dynamics: None,
        start: on_lane(s),
        via: Vec::new(),
        destination: Some(on_lane(190.0)),
        depart: 0.0.into(),
        repeat: None.into(),
        speed: 0.0.into(),
    };
    scenario
        .apply(Edit::Agent(AgentId(1), Some(Box::new(agent))))
        .unwrap();
    let mut world = World::new(&scenario, &builtin_modules(), &RunOptions::default()).unwrap();
    world.step();
    let picture = Picture {
        size: (300, 300),
        view: Some((DVec2::splat(-15.0), DVec2::splat(15.0))),
        furnished: false,
        ..Picture::default()
    };
    map(&scenario, Some(&world.snapshot()), &picture).unwrap()
}

/// Returns the number of pixels that differ visibly. The soft edges of a deck that is drawn once
/// more differ slightly.
fn pixels_that_differ(one: &[u8], other: &[u8]) -> usize {
    let decode = |png: &[u8]| tiny_skia::Pixmap::decode_png(png).unwrap();
    let (one, other) = (decode(one), decode(other));
    let pairs = one.pixels().iter().zip(other.pixels());
    let differ = |(a, b): &(&PremultipliedColorU8, &PremultipliedColorU8)| {
        let by = |a: u8, b: u8| a.abs_diff(b) > 40;
        by(a.red(), b.red()) || by(a.green(), b.green()) || by(a.blue(), b.blue())
    };
    pairs.filter(differ).count()
}

#[test]
fn a_deck_hides_the_vehicles_below_it() {
    let under = Pose {
        position: DVec2::ZERO,
        heading: 0.0,
    };
    let far = Pose {
        position: DVec2::new(-60.0, 0.0),
        heading: 0.0,
    };
    // A bridge over the car hides it.
    let hidden = pixels_that_differ(&picture_of_car(1, under), &picture_of_car(1, far));
    // Positive control: the car is visible above a tunnel.
    let shown = pixels_that_differ(&picture_of_car(-1, under), &picture_of_car(-1, far));
    assert!(shown > 400, "{shown}");
    assert_eq!(hidden, 0);
}
