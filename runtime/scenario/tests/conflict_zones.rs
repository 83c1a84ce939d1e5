//! Tests conflict zones by placing random bodies on random junctions.
//!
//! `ROADWRIGHT_SAMPLES=1000000 cargo test -p roadwright-scenario --test all conflict_zones` takes more
//! samples.

use crate::common::{Star, draw};
use roadwright_geometry::math::Stream;
use roadwright_geometry::oriented_box::OrientedBox;
use roadwright_geometry::{Pose, ReferenceLine};
use roadwright_scenario::ConnectionIndex;
use roadwright_scenario::junction::{Body, Conflicts, Interval, Junction, layout};
use roadwright_scenario::operation::draw::RoadStyle;
use roadwright_scenario::*;

/// Default number of placed bodies. A control test uses fewer.
const SAMPLES: usize = 60_000;
/// Number of samples per junction.
const PER_JUNCTION: usize = 2_000;
/// Overlap allowed between wide bodies in adjacent lanes, m. Bodies of ordinary size do not touch
/// at this overlap.
const BESIDE: f64 = 0.2;
/// Distance from the rear axle to the rear end of a car and of a bus, m.
const REAR: [f64; 2] = [0.95, 2.2];

/// Returns a junction with 2 to 9 arms, 5 to 355 degrees apart, 3 to 30 m wide.
fn random_junction(random: &mut Stream) -> Option<Junction> {
    let star = Star::random(random, 5.0);
    let (scenario, _) = star.plain();
    let layout = layout(scenario.network(), scenario.about());
    let mut junctions = layout.junctions.into_iter().map(|j| (*j).clone());
    junctions.find(|junction| junction.arms.len() == star.legs.len())
}

/// Returns the pose of a rear axle on a connection. Before the connection, the pose is in line with
/// its start.
fn pose(curve: &ReferenceLine, s: f64) -> Pose {
    let start = curve.start();
    if s >= 0.0 {
        return curve.pose(s);
    }
    Pose {
        position: start.point(s, 0.0),
        heading: start.heading,
    }
}

fn outline(body: Body, rear: f64, axle: Pose) -> OrientedBox {
    let middle = Pose {
        position: axle.point(0.5 * (body.front - rear), 0.0),
        heading: axle.heading,
    };
    OrientedBox::new(middle, body.front + rear, body.width)
}

/// Results for the bodies on one junction.
#[derive(Debug, Default)]
struct Tally {
    samples: usize,
    overlaps: usize,
    misses: usize,
    worst: String,
}

/// Places pairs of bodies on two connections. If the bodies overlap, both must be within the
/// intervals of the conflict. As a control, `shrunk` shortens these intervals at both ends, m.
fn throw(junction: &Junction, kind: usize, shrunk: f64, random: &mut Stream, tally: &mut Tally) {
    let body = [Body::CAR, Body::LONG][kind];
    let rear = REAR[kind];
    let conflicts = Conflicts::of_bodies(junction, body);
    let count = junction.paths.len();
    if count < 2 {
        return;
    }
    for _ in 0..PER_JUNCTION {
        let (a, b) = (random.next_index(count), random.next_index(count));
        let (one, other) = (&junction.paths[a], &junction.paths[b]);
        if a == b {
            continue;
        }
        let ends = |path: &roadwright_scenario::junction::ConnectingPath| {
            [path.from, path.to].map(|lane| (lane.road, lane.end))
        };
        let is_beside = ends(one).iter().any(|end| ends(other).contains(end));
        let ignored = match is_beside && one.to != other.to {
            true => BESIDE,
            false => 0.0,
        };
        let (Some(first), Some(second)) = (&one.curve, &other.curve) else {
            continue;
        };
        let [s, t] = [first, second].map(|path| random.next_in(-body.front, path.length()));
        tally.samples += 1;
        let boxes = [(first, s), (second, t)].map(|(path, s)| outline(body, rear, pose(path, s)));
        if boxes[0].penetration(&boxes[1]) <= ignored {
            continue;
        }
        tally.overlaps += 1;
        let is_in = |s: f64, place: Interval| {
            s + body.front >= place.from + shrunk && s - rear <= place.to - shrunk
        };
        let pair = (
            ConnectionIndex::from_index(a),
            ConnectionIndex::from_index(b),
        );
        // Vehicles from the same lane follow each other until the rear of the first vehicle has left the
        // other vehicle's connection.
        let follows = |path, other, s: f64| s - rear <= conflicts.parting(path, other) - shrunk;
        let is_behind = follows(pair.0, pair.1, s) && follows(pair.1, pair.0, t);
        let met = match one.from == other.from {
            true if is_behind => continue,
            true => conflicts.again(pair.0, pair.1),
            false => conflicts.between(pair.0, pair.1),
        };
        if !met.is_some_and(|(own, theirs)| is_in(s, own) && is_in(t, theirs)) {
            tally.misses += 1;
            tally.worst = format!("{one:?}\n{other:?}\n{s} and {t} of {met:?}");
        }
    }
}

fn thrown(samples: usize, shrunk: f64) -> Tally {
    let mut tally = Tally::default();
    let mut number = 0;
    while tally.samples < samples {
        let mut random = Stream::new(1, "conflict zones", number);
        number += 1;
        let Some(junction) = random_junction(&mut random) else {
            continue;
        };
        for kind in [0, 1] {
            throw(&junction, kind, shrunk, &mut random, &mut tally);
        }
    }
    tally
}

#[test]
fn bodies_that_overlap_are_where_their_ways_meet() {
    let wanted = std::env::var("ROADWRIGHT_SAMPLES").ok();
    let samples = wanted.map_or(SAMPLES, |text| text.parse().unwrap());
    let tally = thrown(samples, 0.0);
    println!(
        "{} samples, {} overlaps, {} misses",
        tally.samples, tally.overlaps, tally.misses
    );
    assert!(tally.overlaps > samples / 100, "{tally:?}");
    assert_eq!(tally.misses, 0, "{tally:?}");
}

#[test]
fn places_that_are_a_metre_too_short_are_found_out() {
    let tally = thrown(SAMPLES / 2, 1.0);
    assert!(tally.misses > 5, "{tally:?}");
}

#[test]
fn connections_merge_cross_or_graze() {
    use roadwright_scenario::junction::{Meeting, Turn};
    let mut scenario = Scenario::new("wide");
    let style = |name| RoadStyle {
        section: CrossSection::driving(2, 2, 3.25),
        ..crate::common::street(name)
    };
    draw(&mut scenario, (-100.0, 0.0), (100.0, 0.0), &style("East"));
    draw(&mut scenario, (0.0, -100.0), (0.0, 100.0), &style("North"));
    let layout = layout(scenario.network(), scenario.about());
    let junction = layout.junctions.iter().find(|j| j.arms.len() == 4).unwrap();
    let conflicts = Conflicts::of(junction);
    let mut seen = std::collections::BTreeMap::new();
    let numbered = || junction.numbered_paths();
    for (a, one) in numbered() {
        for (b, other) in numbered().take(a.index()) {
            let kind = Meeting::of(one, other);
            if let Some(conflict) = conflicts.list().iter().find(|c| c.paths == (a, b)) {
                assert_eq!(
                    conflict.is_merge,
                    kind == Meeting::Merge,
                    "{one:?} {other:?}"
                );
                assert_ne!(kind, Meeting::Diverge);
                let turns = [one.turn.min(other.turn), one.turn.max(other.turn)];
                seen.entry(kind).or_insert_with(Vec::new).push(turns);
            }
        }
    }
    // Two vehicles that go straight on may cross. Two vehicles that turn left past each other only
    // touch.
    assert!(seen[&Meeting::Cross].contains(&[Turn::Straight, Turn::Straight]));
    assert!(
        seen[&Meeting::Graze]
            .iter()
            .all(|turns| turns.contains(&Turn::Left))
    );
    assert!(seen[&Meeting::Merge].len() > 3);
    assert!(!seen[&Meeting::Merge].contains(&[Turn::Straight, Turn::Straight]));
}
