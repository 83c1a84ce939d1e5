use super::super::cell::CellSize;
use super::super::ground::{OpenGround, ProfileId, WALL};
use super::super::item::Item;
use super::super::profile::{Body, Profile};
use super::super::samples::{self, BoxWorld};
use super::super::shape::Shape;
use super::exhaustive::least_cost;
use super::*;
use proptest::prelude::*;
use roadwright_geometry::math::{Stream, sin_cos, wrap_angle};
use roadwright_geometry::oriented_box::OrientedBox;
use roadwright_geometry::{DVec2, Pose};
use std::f64::consts::{PI, TAU};

/// Car with a length of 4.5 m and a turning radius of 5 m.
const CAR: DrivableVehicle = DrivableVehicle {
    length: 4.5,
    width: 1.8,
    centre: 1.35,
    curvature: 0.2,
    reverses: true,
    trailer: None,
};

/// Car with a caravan of 5.5 m.
const TOWING: DrivableVehicle = DrivableVehicle {
    trailer: Some(DrivableTrailer {
        coupling: -1.0,
        to_axle: 4.0,
        centre: -3.95,
        length: 5.5,
        width: 2.2,
        lock: 1.3,
    }),
    ..PLANNED_CAR
};

/// Maximum hitch angle at the end of a path, rad.
const STRAIGHT: f64 = 0.08;

/// Maximum number of expansions in these tests.
const MOST: u64 = 200_000;

fn profile_for(ground: &mut OpenGround, vehicle: &DrivableVehicle) -> ProfileId {
    let body = Body {
        length: vehicle.length,
        width: vehicle.width,
        height: 1.5,
        ground_clearance: 0.15,
    };
    ground.add_profile(Profile::new(body, CellSize::HEADINGS))
}

fn ground_with(shapes: impl IntoIterator<Item = Shape>) -> (OpenGround, ProfileId) {
    let mut ground = OpenGround::new();
    let profile = profile_for(&mut ground, &CAR);
    for shape in shapes {
        ground.insert(Item::obstacle(shape, WALL)).unwrap();
    }
    (ground, profile)
}

fn block(x: f64, y: f64, length: f64, width: f64) -> Shape {
    Shape::Box(OrientedBox::new(Pose::new(x, y, 0.0), length, width))
}

fn trip(profile: ProfileId, from: Pose, to: Pose) -> DrivableTrip {
    DrivableTrip {
        profile,
        owner: None,
        vehicle: CAR,
        from,
        gear: 1,
        to: to.position,
        heading: Some(to.heading),
        hitch: 0.0,
        hitch_at_end: STRAIGHT,
    }
}

fn find(ground: &mut OpenGround, trip: DrivableTrip) -> Result<DrivablePath, DrivableProgress> {
    let mut search = DrivableSearch::new(ground, trip, DrivableSettings::default());
    match search.advance(ground, MOST) {
        DrivableProgress::Found => Ok(search.path().unwrap().clone()),
        other => Err(other),
    }
}

/// Checks every 5 cm that the exact footprints of vehicle and trailer are free, that no bend is too tight, and that the
/// trailer does not jackknife. Also checks that the path reaches the goal.
fn check(ground: &OpenGround, trip: &DrivableTrip, path: &DrivablePath) {
    for piece in &path.pieces {
        assert!(piece.curvature.abs() <= trip.vehicle.curvature + 1e-12);
        assert!(trip.vehicle.reverses || piece.gear() > 0);
    }
    let mut before: Option<DrivenPose> = None;
    for at in path.poses(0.05) {
        let body = trip.vehicle.footprint(at.pose, 0.0);
        assert!(ground.is_free(trip.profile, trip.owner, &body), "{at:?}");
        if let Some(trailer) = &trip.vehicle.trailer {
            let body = trailer.footprint(at.pose, at.hitch, -1e-6);
            assert!(ground.is_free(trip.profile, trip.owner, &body), "{at:?}");
            let most = match at.gear < 0 {
                true => trailer.jackknife(trip.vehicle.curvature),
                false => trailer.widest(),
            };
            assert!(
                at.hitch.abs() <= most.max(trip.hitch.abs()) + 1e-6,
                "{at:?}"
            );
        } else {
            assert_eq!(at.hitch, 0.0);
        }
        if let Some(before) = before {
            assert!((at.pose.position - before.pose.position).length() < 0.05 + 1e-9);
        }
        before = Some(at);
    }
    assert_eq!(path.start, trip.from);
    let end = path.end();
    let pushed = path.towed.is_some() && path.pieces.last().is_some_and(|last| last.gear() < 0);
    let (off, turned) = if pushed { (0.1, 0.03) } else { (1e-6, 1e-6) };
    assert!((end.position - trip.to).length() < off, "{end:?}");
    if let Some(heading) = trip.heading {
        assert!(wrap_angle(end.heading - heading).abs() < turned);
        let last = path.poses(1.0).last().unwrap().hitch;
        assert!(last.abs() <= trip.hitch_at_end + 1e-6, "{last}");
    }
}

/// Draws a pose in a square at which the car is free with its margin.
fn free_pose(
    ground: &OpenGround,
    profile: ProfileId,
    edge: f64,
    stream: &mut Stream,
) -> Option<Pose> {
    (0..1000).find_map(|_| {
        let place = DVec2::new(stream.next_in(0.0, edge), stream.next_in(0.0, edge));
        let heading = stream.next_in(-PI, PI);
        let pose = Pose {
            position: place,
            heading,
        };
        let body = CAR.footprint(pose, 0.3);
        ground.is_free(profile, None, &body).then_some(pose)
    })
}

/// Creates a walled square, a fraction of which is covered by obstacles, and a trip in it.
fn random_trip(edge: f64, share: f64, seed: u64) -> Option<(OpenGround, DrivableTrip)> {
    let mut stream = Stream::new(seed, "drivable", 0);
    let BoxWorld { boxes, .. } = samples::tilted_boxes(edge, share, 1.0..5.0, &mut stream);
    let shapes = boxes.into_iter().chain(samples::walls_around(edge));
    let (ground, profile) = ground_with(shapes.map(|shape| Shape::Box(shape.outline)));
    let from = free_pose(&ground, profile, edge, &mut stream)?;
    let to = free_pose(&ground, profile, edge, &mut stream)?;
    Some((ground, trip(profile, from, to)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn every_path_is_clear_for_the_footprint_and_within_the_steering(
        seed in 0u64..1_000_000, share in 0.0..0.35f64, edge in 15.0..45.0f64,
        any_heading in any::<bool>(), reverses in any::<bool>(),
    ) {
        if let Some((mut ground, mut trip)) = random_trip(edge, share, seed) {
            trip.heading = trip.heading.filter(|_| !any_heading);
            trip.vehicle.reverses = reverses;
            let mut search = DrivableSearch::new(&mut ground, trip, DrivableSettings::default());
            search.advance(&mut ground, 3000);
            if let Some(path) = search.path() {
                check(&ground, &trip, path);
            }
        }
    }
}

/// Creates a square with obstacles, and a trip across it for a car with a caravan.
fn random_towing_trip(edge: f64, share: f64, seed: u64) -> Option<(OpenGround, DrivableTrip)> {
    let (ground, mut trip) = random_trip(edge, share, seed)?;
    let mut stream = Stream::new(seed, "towing", 0);
    trip.vehicle = TOWING;
    trip.hitch = stream.next_in(-0.6, 0.6);
    trip.hitch_at_end = STRAIGHT;
    trip.gear = [0, 1][stream.next_index(2)];
    Some((ground, trip))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn every_path_with_a_trailer_is_clear_for_both_footprints_and_never_jackknifes(
        seed in 0u64..1_000_000, share in 0.0..0.25f64, edge in 30.0..60.0f64,
        any_heading in any::<bool>(), reverses in any::<bool>(),
    ) {
        if let Some((mut ground, mut trip)) = random_towing_trip(edge, share, seed) {
            trip.heading = trip.heading.filter(|_| !any_heading);
            trip.vehicle.reverses = reverses;
            let mut search = DrivableSearch::new(&mut ground, trip, DrivableSettings::default());
            search.advance(&mut ground, 2000);
            if let Some(path) = search.path() {
                check(&ground, &trip, path);
            }
        }
    }
}

#[test]
fn trips_with_a_trailer_over_open_ground_have_paths() {
    // Seeds for which a path is found after at most a few hundred poses.
    for seed in [2, 18] {
        let (mut ground, trip) = random_towing_trip(60.0, 0.05, seed).unwrap();
        for reverses in [true, false] {
            let mut trip = trip;
            trip.vehicle.reverses = reverses;
            let mut search = DrivableSearch::new(&mut ground, trip, DrivableSettings::default());
            search.advance(&mut ground, 20_000);
            check(&ground, &trip, search.path().unwrap());
        }
    }
}

#[test]
fn a_trailer_swings_as_its_model_does() {
    let trailer = TOWING.trailer.unwrap();
    // On a long bend, the hitch angle settles where sin h + c k cos h = k d.
    let curvature = 0.1;
    let path = |length: f64, hitch: f64| DrivablePath {
        start: Pose::default(),
        pieces: vec![DrivablePiece { curvature, length }],
        cost: 0.0,
        margin: 0.0,
        towed: Some(Towed { trailer, hitch }),
    };
    let last = |path: &DrivablePath, step: f64| path.poses(step).last().unwrap().hitch;
    let settled = last(&path(60.0, 0.0), 0.25);
    let (sin, cos) = sin_cos(settled);
    let turned = sin + trailer.coupling * curvature * cos;
    assert!(
        (turned - curvature * trailer.to_axle).abs() < 1e-6,
        "{settled}"
    );
    // The result does not depend on the step, and runs and poses agree.
    let there = path(8.0, 0.2);
    assert!((last(&there, 0.05) - last(&there, 1.0)).abs() < 1e-6);
    let run = &there.runs(0.3)[0];
    assert_eq!(run.hitches.len(), run.poses.len());
    assert!((run.hitches.last().unwrap() - last(&there, 0.1)).abs() < 1e-6);
    // Moves forwards are undone in reverse.
    let mut back = path(-8.0, last(&there, 0.05));
    back.start = there.end();
    assert!(
        (last(&back, 0.05) - 0.2).abs() < 1e-5,
        "{}",
        last(&back, 0.05)
    );
}

/// Costs of the paths that both searches find; `None` for a search that finds no path.
fn compared(seed: u64) -> Option<[Option<f64>; 2]> {
    const EDGE: f64 = 20.0;
    let share = 0.1 + 0.3 * (seed % 10) as f64 / 9.0;
    let (mut ground, mut trip) = random_trip(EDGE, share, seed)?;
    trip.gear = 1;
    let settings = DrivableSettings::default();
    let found = find(&mut ground, trip).ok();
    if let Some(path) = &found {
        check(&ground, &trip, path);
    }
    let least = least_cost(&mut ground, &trip, &settings, 0.3, EDGE);
    Some([found.map(|path| path.cost), least])
}

/// Reads a number from an environment variable. The default is `usual`.
fn number_of(key: &str, usual: u64) -> u64 {
    let value = std::env::var(key).ok().and_then(|value| value.parse().ok());
    value.unwrap_or(usual)
}

/// Compares the planner with the exhaustive search on several maps. Returns the number of maps on which both
/// find a path, the number on which only the exhaustive search finds one, and the mean and maximum ratio of
/// the costs.
fn compare(seeds: std::ops::Range<u64>) -> (u32, u32, f64, f64) {
    let (mut both, mut missed, mut sum, mut worst) = (0, 0, 0.0, 0.0f64);
    for seed in seeds {
        match compared(seed) {
            Some([Some(found), Some(least)]) => {
                both += 1;
                sum += found / least.max(1.0);
                worst = worst.max(found / least.max(1.0));
                if found / least > 1.15 {
                    println!("{seed}: {found:.2} {least:.2}");
                }
            }
            Some([None, Some(_)]) => {
                println!("{seed}: missed");
                missed += 1;
            }
            Some([_, None]) | None => {}
        }
    }
    (both, missed, sum / f64::from(both.max(1)), worst)
}

#[test]
fn costs_are_close_to_those_of_an_exhaustive_search() {
    let (both, missed, mean, worst) = compare(0..3);
    assert!(both >= 2 && missed == 0, "{both} {missed}");
    assert!(mean <= 1.05 && worst <= 1.25, "{mean} {worst}");
}

#[test]
#[ignore = "slow; set DRIVABLE_FIRST and DRIVABLE_MAPS to choose the maps"]
fn costs_of_many_maps_are_close_to_those_of_an_exhaustive_search() {
    let first = number_of("DRIVABLE_FIRST", 0);
    let maps = number_of("DRIVABLE_MAPS", 1000);
    let (both, missed, mean, worst) = compare(first..first + maps);
    println!("both {both}, missed {missed}, mean {mean}, worst {worst}");
    assert!(f64::from(missed) <= 0.01 * f64::from(both + missed));
    assert!(mean <= 1.05 && worst <= 1.25, "{mean} {worst}");
}

/// A street 7 m wide with parked cars and a kerb on the right, and the pose in the bay between two of the cars.
fn bay(gap: f64) -> (OpenGround, ProfileId, Pose) {
    let beside = 0.5 * (gap + 4.5);
    let shapes = [
        block(-beside, -1.1, 4.5, 1.8),
        block(beside, -1.1, 4.5, 1.8),
        block(0.0, -2.65, 40.0, 0.8),
        block(0.0, 7.5, 40.0, 0.8),
    ];
    let (ground, profile) = ground_with(shapes);
    let centre = Pose::new(0.0, -1.1, 0.0);
    (ground, profile, PLANNED_CAR.rear_axle(centre))
}

/// Car of scenarios, with the radius of its planned bends: 1.15 times its turning radius.
const PLANNED_CAR: DrivableVehicle = DrivableVehicle {
    centre: 1.3,
    curvature: 1.0 / 4.44,
    ..CAR
};

/// Maximum number of expansions for a trip into or out of a bay.
const MOST_FOR_BAY: u64 = 20_000;

/// Searches with margins from 0.3 m to 0.15 m, and returns the path with the number of expansions.
fn manoeuvre(ground: &mut OpenGround, trip: DrivableTrip) -> Option<(DrivablePath, u64)> {
    let settings = DrivableSettings {
        margins: [0.3, 0.15, 0.15],
        ..DrivableSettings::default()
    };
    let mut search = DrivableSearch::new(ground, trip, settings);
    search.advance(ground, MOST_FOR_BAY);
    let path = search.path()?.clone();
    println!(
        "{} expanded, margin {}, length {:.1}, {} changes, cost {:.1}",
        search.expanded(),
        path.margin,
        path.length(),
        path.gear_changes(),
        path.cost,
    );
    Some((path, search.expanded()))
}

#[test]
fn a_bay_of_6_5_m_is_entered_from_both_sides_of_the_street_and_left_forwards() {
    let (mut ground, profile, parked) = bay(6.5);
    let vehicle = PLANNED_CAR;
    let on_road = [
        Pose::new(-12.0, 1.7, 0.0),
        Pose::new(-5.0, 2.2, 0.1),
        Pose::new(12.0, 4.9, PI),
        Pose::new(-9.0, 4.9, PI),
    ];
    for from in on_road {
        let trip = DrivableTrip {
            vehicle,
            ..trip(profile, from, parked)
        };
        let found = manoeuvre(&mut ground, trip);
        let (path, _) = found.unwrap_or_else(|| panic!("no path from {from:?}"));
        check(&ground, &trip, &path);
        assert!(path.margin >= 0.15, "{from:?}");
    }
    for to in [Pose::new(18.0, 1.7, 0.0), Pose::new(-15.0, 4.9, PI)] {
        let trip = DrivableTrip {
            vehicle,
            gear: 0,
            ..trip(profile, parked, to)
        };
        let found = manoeuvre(&mut ground, trip);
        let (path, _) = found.unwrap_or_else(|| panic!("no path to {to:?}"));
        check(&ground, &trip, &path);
        assert!(path.margin >= 0.15, "{to:?}");
    }
}

#[test]
fn a_perpendicular_bay_is_entered_in_either_direction() {
    let shapes = [
        block(-2.5, -2.5, 1.8, 4.5),
        block(2.5, -2.5, 1.8, 4.5),
        block(0.0, -5.25, 40.0, 0.5),
        block(0.0, 6.75, 40.0, 0.5),
    ];
    let (mut ground, profile) = ground_with(shapes);
    let vehicle = PLANNED_CAR;
    let bays =
        [0.5 * PI, -0.5 * PI].map(|heading| PLANNED_CAR.rear_axle(Pose::new(0.0, -2.5, heading)));
    for parked in bays {
        for from in [Pose::new(-9.0, 3.0, 0.0), Pose::new(8.0, 3.5, PI)] {
            let trip = DrivableTrip {
                vehicle,
                ..trip(profile, from, parked)
            };
            let found = manoeuvre(&mut ground, trip);
            let (path, _) = found.unwrap_or_else(|| panic!("no path from {from:?} to {parked:?}"));
            check(&ground, &trip, &path);
            assert!(path.margin >= 0.15, "{from:?}");
        }
    }
}

#[test]
fn a_bay_that_is_too_short_is_not_entered() {
    let (mut ground, profile, parked) = bay(4.9);
    let settings = DrivableSettings {
        margins: [0.15, 0.15, 0.15],
        ..DrivableSettings::default()
    };
    let trip = trip(profile, Pose::new(-12.0, 1.7, 0.0), parked);
    let mut search = DrivableSearch::new(&mut ground, trip, settings);
    assert_eq!(search.advance(&mut ground, MOST), DrivableProgress::NoPath);
    assert!(search.path().is_none());
}

#[test]
fn the_heading_at_the_goal_is_reached() {
    let (mut ground, profile) = ground_with([block(10.0, 0.0, 2.0, 20.0)]);
    for number in 0..8 {
        let heading = f64::from(number) * TAU / 8.0;
        let trip = trip(profile, Pose::default(), Pose::new(25.0, 3.0, heading));
        let path = find(&mut ground, trip).unwrap();
        check(&ground, &trip, &path);
    }
}

#[test]
fn portions_of_a_search_give_the_same_path_as_one_run() {
    let (mut ground, trip) = (0..)
        .filter_map(|seed| random_trip(40.0, 0.25, seed))
        .find(|(ground, trip)| {
            let mut search =
                DrivableSearch::new(&mut ground.clone(), *trip, DrivableSettings::default());
            search.advance(&mut ground.clone(), 20_000) == DrivableProgress::Found
                && search.expanded() > 200
        })
        .unwrap();
    let whole = find(&mut ground, trip).unwrap();
    let mut search = DrivableSearch::new(&mut ground, trip, DrivableSettings::default());
    let mut portions = 0;
    while search.advance(&mut ground, 17) == DrivableProgress::Searching {
        portions += 1;
    }
    assert!(portions > 5, "{portions}");
    assert_eq!(search.path(), Some(&whole));
}

#[test]
fn runs_of_a_path_have_one_gear_and_even_poses() {
    let pieces = [(0.2, 1.03), (0.0, 0.41), (-0.2, -0.7), (0.2, 0.0004)];
    let path = DrivablePath {
        start: Pose::new(3.0, -2.0, 0.7),
        pieces: pieces
            .map(|(curvature, length)| DrivablePiece { curvature, length })
            .to_vec(),
        cost: 0.0,
        margin: 0.3,
        towed: None,
    };
    let runs = path.runs(0.25);
    let gears: Vec<i8> = runs.iter().map(|run| run.gear).collect();
    // The last piece is shorter than a millimetre.
    assert_eq!(gears, [1, -1]);
    assert!((runs[0].spacing - 0.24).abs() < 1e-12);
    assert_eq!(runs[0].poses.len(), 7);
    assert_eq!(runs[0].poses[6], runs[1].poses[0]);
    for run in &runs {
        for pair in run.poses.windows(2) {
            let chord = pair[1].position - pair[0].position;
            // A chord of an arc is slightly shorter.
            assert!((chord.length() - run.spacing).abs() < 1e-3, "{run:?}");
            let ahead = chord.dot(pair[0].forward());
            assert_eq!(ahead > 0.0, run.gear > 0, "{run:?}");
        }
    }
    let end = path.end();
    let last = runs[1].poses.last().unwrap();
    assert!((last.position - end.position).length() < 1e-3);
}

#[test]
fn only_changes_near_the_trip_outdate_a_search() {
    let (mut ground, profile) = ground_with([]);
    let trip = trip(profile, Pose::default(), Pose::new(30.0, 0.0, 0.0));
    let search = DrivableSearch::new(&mut ground, trip, DrivableSettings::default());
    assert!(!search.is_outdated(&mut ground));
    let far = Item::obstacle(block(900.0, 0.0, 2.0, 2.0), WALL);
    ground.insert(far).unwrap();
    assert!(!search.is_outdated(&mut ground));
    ground
        .insert(Item::obstacle(block(15.0, 0.0, 2.0, 2.0), WALL))
        .unwrap();
    assert!(search.is_outdated(&mut ground));
}

#[test]
fn trips_without_a_path_are_told_apart() {
    let around = samples::walls_around(20.0).map(|wall| Shape::Box(wall.outline));
    let (mut ground, profile) = ground_with(around);
    let inside = Pose::new(10.0, 10.0, 0.0);
    let cases = [
        (Pose::new(50.0, 10.0, 0.0), DrivableProgress::NoPath),
        (Pose::new(20.5, 10.0, 0.0), DrivableProgress::GoalBlocked),
        (Pose::new(2000.0, 10.0, 0.0), DrivableProgress::TooFar),
        (Pose::new(f64::NAN, 10.0, 0.0), DrivableProgress::TooFar),
        (
            Pose::new(15.0, 10.0, f64::INFINITY),
            DrivableProgress::TooFar,
        ),
    ];
    for (to, expected) in cases {
        assert_eq!(find(&mut ground, trip(profile, inside, to)), Err(expected));
    }
    let blocked = trip(profile, Pose::new(0.0, 10.0, 0.0), inside);
    assert_eq!(
        find(&mut ground, blocked),
        Err(DrivableProgress::StartBlocked)
    );
}

#[test]
fn polygons_and_circles_are_kept_clear_of() {
    let corners = [(8.0, -6.0), (12.0, -6.0), (12.0, 6.0), (8.0, 6.0)].map(DVec2::from);
    let circle = super::super::shape::Circle {
        centre: DVec2::new(10.0, 9.5),
        radius: 2.0,
    };
    let shapes = [Shape::polygon(&corners), Shape::Circle(circle)];
    let (mut ground, profile) = ground_with(shapes);
    let trip = trip(profile, Pose::default(), Pose::new(20.0, 0.0, 0.0));
    let path = find(&mut ground, trip).unwrap();
    check(&ground, &trip, &path);
    assert!(path.length() > 21.0);
}

#[test]
fn a_path_costs_more_where_the_ground_does() {
    use super::super::profile::Layer;
    let (mut ground, profile) = ground_with([]);
    let trip = trip(profile, Pose::default(), Pose::new(40.0, 0.0, 0.0));
    let straight = find(&mut ground, trip).unwrap();
    assert!((straight.cost - 40.0).abs() < 1e-6);
    let marsh = Item::area(block(20.0, 0.0, 8.0, 16.0), Layer::Water, 160);
    ground.insert(marsh).unwrap();
    let around = find(&mut ground, trip).unwrap();
    assert!(around.length() > 41.0 && around.cost < 60.0, "{around:?}");
}

#[test]
#[ignore = "slow measurement; set DRIVABLE_MAPS to choose the number of maps"]
fn figures_on_maps_with_rectangles() {
    let body = Body {
        length: 3.34,
        width: 1.57,
        height: 1.59,
        ground_clearance: 0.2,
    };
    let jeep = DrivableVehicle {
        length: body.length,
        width: body.width,
        centre: 1.1,
        curvature: 0.25,
        reverses: true,
        trailer: None,
    };
    let (mut times, mut expanded, mut direct, mut failed) = (Vec::new(), Vec::new(), 0, 0);
    for map in 0..number_of("DRIVABLE_MAPS", 20) {
        let mut problems = DrivableProblems::new(body, jeep, 1000 + map).unwrap();
        for _ in 0..10 {
            let trip = problems.draw().unwrap();
            let ground = problems.ground();
            let begun = cpu_time::ProcessTime::now();
            let mut search = DrivableSearch::new(ground, trip, DrivableSettings::default());
            let progress = search.advance(ground, 100_000);
            let time = begun.elapsed().as_secs_f64() * 1e3;
            if search.is_direct() {
                direct += 1;
                continue;
            }
            if progress != DrivableProgress::Found {
                failed += 1;
                println!("map {map}: {progress:?}, {} expanded", search.expanded());
            }
            times.push(time);
            expanded.push(search.expanded());
        }
    }
    times.sort_by(f64::total_cmp);
    expanded.sort_unstable();
    let at = |share: f64| ((times.len() - 1) as f64 * share) as usize;
    println!("{} problems, {direct} direct, {failed} failed", times.len());
    for share in [0.5, 0.9, 0.99, 1.0] {
        let at = at(share);
        println!("{share}: {:.2} ms, {} expanded", times[at], expanded[at]);
    }
    assert!(f64::from(failed) <= 0.01 * times.len() as f64);
}
