//! Contacts of moves with walls, posts and crossing cars.

use proptest::prelude::*;
use roadwright_geometry::math::Stream;
use roadwright_geometry::{DVec2, Pose};
use roadwright_moves::{
    BodyOutline, Convex, Frame, Mover, Phase, Placement, Surroundings, Sweep, SweepKind, Trial,
};

const CAR: BodyOutline = BodyOutline {
    front: 2.7,
    rear: 0.7,
    half_width: 0.8,
    centre_of_gravity: 1.0,
};

/// Returns a straight move of a second at 20 m/s.
fn straight() -> Vec<Frame> {
    (0..26)
        .map(|frame| Frame {
            pose: Pose::new(0.8 * f64::from(frame), 0.0, 0.0),
            forward: 20.0,
            ..Frame::default()
        })
        .collect()
}

/// Returns a left turn of 1.2 rad in one second, at 15 m/s.
fn turn() -> Vec<Frame> {
    let mut pose = Pose::new(0.0, 0.0, 0.0);
    (0..26)
        .map(|_| {
            let now = pose;
            pose.heading += 1.2 / 25.0;
            pose.position += 0.6 * pose.forward();
            Frame {
                pose: now,
                forward: 15.0,
                yaw_rate: 1.2,
                ..Frame::default()
            }
        })
        .collect()
}

fn square(middle: DVec2, half: f64) -> Convex {
    Convex::quadrilateral([
        middle + DVec2::new(half, half),
        middle + DVec2::new(-half, half),
        middle + DVec2::new(-half, -half),
        middle + DVec2::new(half, -half),
    ])
}

/// Whether a move from a place hits nothing. Both tests have to agree.
fn is_free(sweep: &Sweep, place: Placement, around: &Surroundings) -> bool {
    let trial = Trial {
        sweep,
        place,
        begin: 0,
        period: 0.04,
    };
    let free = around.is_free(&trial, Phase::Broad);
    assert_eq!(free, around.is_free(&trial, Phase::Exact));
    assert_eq!(free, around.is_free(&trial, Phase::Masks));
    assert_eq!(free, around.first_hit(&trial).is_none());
    free
}

const KINDS: [SweepKind; 2] = [SweepKind::Exact, SweepKind::Source];

#[test]
fn a_wall_across_the_middle_of_a_straight_move_is_hit_although_both_ends_are_free() {
    let place = Placement::of(Pose::new(100.0, 50.0, 2.0));
    for kind in KINDS {
        let sweep = Sweep::of(&straight(), &CAR, kind);
        let across = |ahead: f64| {
            let ends = [DVec2::new(ahead, -3.0), DVec2::new(ahead, 3.0)];
            let [from, to] = ends.map(|end| place.point(end));
            Surroundings::of(vec![Convex::line(from, to)])
        };
        assert!(!is_free(&sweep, place, &across(11.0)), "{kind:?}");
        // Behind the car, and beyond its front at the end.
        assert!(is_free(&sweep, place, &across(-0.71)), "{kind:?}");
        assert!(is_free(&sweep, place, &across(20.0 + 2.71)), "{kind:?}");
        assert!(!is_free(&sweep, place, &across(20.0 + 2.69)), "{kind:?}");
    }
}

#[test]
fn a_post_wholly_inside_the_outline_counts() {
    let sweep = Sweep::of(&straight(), &CAR, SweepKind::Exact);
    let source = Sweep::of(&straight(), &CAR, SweepKind::Source);
    for ahead in [0.0, 1.0, 10.0, 21.0] {
        let post = Surroundings::of(vec![square(DVec2::new(ahead, 0.0), 0.1)]);
        assert!(!is_free(&sweep, Placement::ORIGIN, &post), "{ahead}");
        // The source compares only the sides of the car, so it misses the post.
        assert!(is_free(&source, Placement::ORIGIN, &post), "{ahead}");
    }
    let beside = Surroundings::of(vec![square(DVec2::new(10.0, 0.91), 0.1)]);
    assert!(is_free(&sweep, Placement::ORIGIN, &beside));
}

#[test]
fn the_inner_side_of_a_turn_is_swept_within_five_centimetres() {
    let frames = turn();
    let sweep = Sweep::of(&frames, &CAR, SweepKind::Exact);
    // The front right corner goes farthest outwards, and the middle of the rear axle is the innermost point.
    let middle = Placement::of(frames[13].pose);
    for (left, free) in [(0.74, false), (0.87, true)] {
        let post = Surroundings::of(vec![square(middle.point(DVec2::new(0.0, left)), 0.005)]);
        assert_eq!(is_free(&sweep, Placement::ORIGIN, &post), free, "{left}");
    }
}

fn crossing(from: DVec2, velocity: DVec2) -> Surroundings {
    let mut around = Surroundings::of(Vec::new());
    around.set_movers(vec![Mover {
        outline: square(from, 0.5),
        velocity,
    }]);
    around
}

#[test]
fn a_car_that_crosses_between_two_frames_is_hit_and_one_that_crosses_before_or_after_is_not() {
    for frames in [straight(), turn()] {
        let sweep = Sweep::of(&frames, &CAR, SweepKind::Exact);
        // The other car passes in front of the nose of the car at frame 12.5 at 60 m/s, in less than two
        // frames.
        let place = Placement::of(frames[12].pose);
        let at = place.point(DVec2::new(2.4, 0.0));
        let velocity = place.forward.perp() * 60.0;
        for (early, free) in [(0.0, false), (0.15, true), (-0.25, true)] {
            let from = at - velocity * (0.5 - early);
            let around = crossing(from, velocity);
            assert_eq!(is_free(&sweep, Placement::ORIGIN, &around), free, "{early}");
        }
    }
}

#[test]
fn a_car_ahead_at_the_same_speed_is_no_obstacle_and_a_slower_one_is() {
    let sweep = Sweep::of(&straight(), &CAR, SweepKind::Exact);
    for (speed, free) in [(20.0, true), (19.9, true), (10.0, false), (0.0, false)] {
        let around = crossing(DVec2::new(4.0, 0.0), DVec2::new(speed, 0.0));
        assert_eq!(is_free(&sweep, Placement::ORIGIN, &around), free, "{speed}");
    }
}

#[test]
fn moves_that_begin_later_meet_cars_where_they_are_then() {
    let sweep = Sweep::of(&straight(), &CAR, SweepKind::Exact);
    let around = crossing(DVec2::new(-30.0, 0.0), DVec2::new(20.0, 0.0));
    for (begin, free) in [(0, true), (38, false), (100, true)] {
        let trial = Trial {
            sweep: &sweep,
            place: Placement::ORIGIN,
            begin,
            period: 0.04,
        };
        // The other car is far behind, beside the tail, or far ahead.
        assert_eq!(around.is_free(&trial, Phase::Broad), free, "{begin}");
        assert_eq!(around.is_free(&trial, Phase::Exact), free, "{begin}");
        assert_eq!(around.is_free(&trial, Phase::Masks), free, "{begin}");
    }
}

proptest! {
    #[test]
    fn all_tests_agree_among_random_walls_and_posts(seed in 0u64..1_000_000) {
        let mut draw = Stream::new(seed, "walls", 0);
        let mut point = |reach: f64| DVec2::new(draw.next_in(-reach, reach), draw.next_in(-reach, reach));
        let fixed = (0..12).map(|number| match number % 2 {
            0 => {
                let from = point(40.0);
                Convex::line(from, from + point(30.0))
            }
            _ => square(point(40.0), 0.5 + 0.01 * point(40.0).x),
        });
        let around = Surroundings::of(fixed.collect());
        let sweeps = [straight(), turn()]
            .map(|frames| KINDS.map(|kind| Sweep::of(&frames, &CAR, kind)));
        let mut counts = [0; 2];
        for number in 0..40 {
            let at = point(40.0);
            let place = Placement::of(Pose::new(at.x, at.y, point(3.0).x));
            let sweep = &sweeps[number % 2][number / 2 % 2];
            counts[usize::from(is_free(sweep, place, &around))] += 1;
        }
        // Moves of 20 m on a square of 80 m: some are free, and some are not.
        prop_assert!(counts[0] > 0 && counts[1] > 0, "{:?}", counts);
    }
}
