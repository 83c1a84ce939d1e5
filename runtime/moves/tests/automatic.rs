//! Graphs that are built automatically from ten minutes of driving: [Adam 2007], sections 5.1 and
//! 5.2.

use roadwright_geometry::math::Stream;
use roadwright_geometry::{DVec2, Pose, heading_of};
use roadwright_moves::{
    Bounded, BuildRules, Built, Clip, ClipFile, Ending, Frame, FrameCommand, Phase, Played, Preset,
    RATE, Ring, SlidingCar, StateRule, Stop, SweepKind, Track, build, unpruned_size,
};
use roadwright_scenario::vehicle_file::{SHIPPED, VehicleFile};
use std::sync::LazyLock;

/// Number of frames of ten minutes.
const TEN_MINUTES: u32 = 15_000;
/// Number of frames after which the driver chooses another speed: three seconds.
const MOOD: u32 = 75;
/// Number of frames after which the driver stops: a minute.
const STOP: u32 = 1500;
/// Number of frames between two corrections of the steering: a fifth of a second.
const REACTION: u32 = 5;
/// Distance from a corner below which the driver aims at the next one, m.
const LOOKS: f64 = 16.0;

static DRIVE: LazyLock<ClipFile> = LazyLock::new(ten_minutes);

fn racer() -> SlidingCar {
    let shipped = SHIPPED.iter().find(|one| one.name == "sliding-racer");
    let file = VehicleFile::from_text(shipped.unwrap().text).unwrap();
    SlidingCar::of_file(&file).unwrap()
}

/// Records ten minutes of a scripted driver on laps of a closed track. The driver holds a speed for
/// three seconds, corrects the steering five times a second, weaves, and stops once a minute. The
/// drive and its mirror image are the clips.
fn ten_minutes() -> ClipFile {
    let car = racer();
    let ring = Ring {
        length: 400.0,
        corners: 6,
        sharpness: 0.6,
        width: 20.0,
        laps: 1,
        seed: 2,
    };
    let corners = ring.corners();
    let start = 0.5 * (corners[0] + corners[5]);
    let mut now = car.at(&Frame {
        pose: Pose {
            position: start,
            heading: heading_of(corners[0] - start),
        },
        ..Frame::default()
    });
    let mut draw = Stream::new(1, "hand", 0);
    let (mut next, mut speed) = (0, 0.0);
    let mut aside = DVec2::ZERO;
    let mut command = FrameCommand::default();
    let mut frames = Vec::new();
    for number in 0..TEN_MINUTES {
        let motion = car.frame(&now, command);
        if number % MOOD == 0 {
            speed = draw.next_in(4.0, 14.0);
            aside = DVec2::new(draw.next_in(-4.0, 4.0), draw.next_in(-4.0, 4.0));
        }
        if number % STOP < 50 && number > STOP {
            speed = 0.0;
        }
        if (corners[next] - motion.pose.position).length() < LOOKS {
            next = (next + 1) % corners.len();
        }
        if number % REACTION == 0 {
            let seen = motion.placement().to_local(corners[next] + aside);
            let curvature = 2.0 * seen.y / seen.length_squared().min(LOOKS * LOOKS);
            command.steering = (car.wheelbase() * curvature).clamp(-0.4, 0.4);
        }
        command.acceleration = (speed - motion.forward).clamp(-6.0, 4.0);
        frames.push(Frame { command, ..motion });
        now = car.after(&now, command, 1.0 / RATE);
    }
    let mirrored = frames.iter().map(Frame::mirrored).collect();
    let clip = |name: &str, frames: Vec<Frame>| Clip {
        name: name.to_owned(),
        frames,
    };
    ClipFile {
        clips: vec![clip("hand", frames), clip("mirrored", mirrored)],
        ..Preset::Five.record().clips
    }
}

fn built() -> Built {
    let rules = BuildRules {
        kc: 24,
        states: StateRule::Similar,
        ..BuildRules::default()
    };
    build(&DRIVE, "hand.clips.json", &rules)
}

#[test]
fn ten_minutes_of_driving_become_a_graph_that_takes_the_cornered_track() {
    let built = built();
    let library = built.graph.library(&DRIVE, SweepKind::Exact).unwrap();
    assert_eq!(built.graph.bad_seams(&library), []);
    for seed in 1..=3 {
        let course = Track::Cornered.course().with_seed(seed);
        let bounded = Bounded {
            horizon: 200,
            limit: 5000,
            stop: Stop::AtLeaf,
            phase: Phase::Masks,
        };
        let mut played = Played::new(&library, &course, built.graph.start_state(), bounded);
        assert_eq!(played.run(), Ending::Arrived, "{seed}: {}", played.time());
    }
}

#[test]
fn merged_states_and_pruning_make_a_small_graph_of_a_long_drive() {
    let built = built();
    // The first two minutes, so that the comparison does not take long.
    let mut part = DRIVE.clone();
    part.clips.truncate(1);
    part.clips[0].frames.truncate(3000);
    let rules = |kc, ks| BuildRules {
        kc,
        ks,
        ..BuildRules::default()
    };
    let [both, no_kc, no_ks] =
        [(5, 9), (0, 9), (5, 0)].map(|(kc, ks)| unpruned_size(&part, &rules(kc, ks)));
    assert!(
        no_kc.transitions > 2 * both.transitions,
        "{no_kc:?} {both:?}"
    );
    assert!(no_ks.transitions > both.transitions, "{no_ks:?} {both:?}");
    println!(
        "{both:?}, without kc {no_kc:?}, without ks {no_ks:?}, merged: {} states, {} moves of {}",
        built.graph.states.len(),
        built.graph.moves.len(),
        built.graph.moves.len() + built.removed.len()
    );
    // The whole drive has far fewer moves than its first two minutes.
    assert!(both.moves > 3 * built.graph.moves.len() as u64);
}
