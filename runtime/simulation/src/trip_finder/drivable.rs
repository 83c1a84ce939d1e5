//! Plans trips along drivable paths, for `TripFinder`.

use super::{LegKind, TripAnswer, TripFinder, TripLeg, TripPlan, TripQuestion, spot};
use crate::open_ground::{STRAIGHT, only_trailer, settings_for};
use crate::planned_route::TripEnd;
use crate::vehicle_type::train;
use roadwright_agent::GroundSearch;
use roadwright_geometry::math::tan;
use roadwright_geometry::{Pose, heading_of};
use roadwright_planning::open_ground::{
    Answer, DrivablePath, DrivableProgress, DrivableSearch, DrivableTrip, DrivableVehicle, Inquiry,
    ProfileId, Trip,
};
use roadwright_scenario::VehicleType;
use std::f64::consts::TAU;

/// Spacing of the poses of a path, m.
const STEP: f64 = 0.5;
/// Number of poses that are expanded between two calls of `goes_on`.
const PORTION: u64 = 10_000;
/// Radius of planned bends, as a multiple of the vehicle's minimum turning radius.
const EASE: f64 = 1.15;
/// Assumed forward speed for computing the time of a path, m/s.
const FORWARDS: f64 = 8.0;
/// Assumed reverse speed for computing the time of a path, m/s.
const REVERSE: f64 = 2.5;
/// Cost units per metre of plain ground.
const UNITS: f64 = 100.0;

impl TripFinder {
    /// Plans a trip along a drivable path.
    pub(super) fn drivable(
        &mut self,
        question: &TripQuestion<'_>,
        mut goes_on: impl FnMut() -> bool,
    ) -> TripAnswer {
        let profile = self.profile(question);
        let vehicle = question.vehicle;
        // A search over cells comes first, because it is fast and gives a reason if there is no
        // path at all.
        let inquiry = Inquiry {
            trip: Trip {
                profile,
                owner: None,
                from: spot(vehicle, &question.from),
                to: spot(vehicle, &question.to),
            },
            search: GroundSearch::Whole { is_guided: true },
            rules: (&question.planning).into(),
            most: question.most,
        };
        let answered = self.map.answer(&inquiry, &mut goes_on);
        self.expanded += answered.expanded;
        match answered.answer {
            Answer::NoPath(reason) => return TripAnswer::NoPath(reason.to_string()),
            Answer::Undecided => return TripAnswer::Undecided,
            Answer::Found(_) | Answer::InTheWay(_) => {}
        }
        let Some(from) = self.start(question, profile) else {
            return TripAnswer::NoPath("the vehicle touches an obstacle at the start".into());
        };
        let trip = DrivableTrip {
            profile,
            owner: None,
            vehicle: drivable(vehicle),
            from,
            gear: 0,
            to: question.to.position,
            heading: question.to.heading,
            hitch: 0.0,
            hitch_at_end: STRAIGHT,
        };
        let settings = settings_for(&question.planning, question.planning.tracking_margin);
        let mut search = DrivableSearch::new(&mut self.map, trip, settings);
        let progress = loop {
            let left = (question.most).saturating_sub(self.expanded + search.expanded());
            match search.advance(&mut self.map, left.min(PORTION)) {
                DrivableProgress::Searching if left > 0 && goes_on() => {}
                progress => break progress,
            }
        };
        self.expanded += search.expanded();
        let progress = match progress {
            DrivableProgress::Searching => search.settle(&mut self.map),
            progress => progress,
        };
        let reason = match progress {
            DrivableProgress::Searching => return TripAnswer::Undecided,
            DrivableProgress::Found => match search.path() {
                Some(path) => return TripAnswer::Found(plan(question, path)),
                None => return TripAnswer::Undecided,
            },
            DrivableProgress::StartBlocked => "the vehicle touches an obstacle at the start",
            DrivableProgress::GoalBlocked => "the vehicle would touch an obstacle at the goal",
            DrivableProgress::TooFar => "start and goal are more than 1,000 m apart",
            DrivableProgress::NoPath => {
                "the open ground is connected, but the search found no path that the vehicle can \
                 drive"
            }
        };
        let trailers = train(vehicle).trailers().len();
        TripAnswer::NoPath(match trailers {
            0 | 1 => reason.into(),
            count => {
                format!("{reason}; a vehicle with {count} trailers can only be driven forwards")
            }
        })
    }

    /// Returns the pose of the rear axle at the start. If the start has no heading, several
    /// headings are tried, starting with the heading towards the goal, and the first free pose is
    /// returned. `None` if no pose is free.
    fn start(&self, question: &TripQuestion<'_>, profile: ProfileId) -> Option<Pose> {
        let TripEnd { position, heading } = question.from;
        if let Some(heading) = heading {
            return Some(Pose { position, heading });
        }
        let vehicle = drivable(question.vehicle);
        let ahead = heading_of(question.to.position - position);
        let bodies = (0..16).map(|number| Pose {
            position,
            heading: ahead + f64::from(number) * TAU / 16.0,
        });
        let mut axles = bodies.map(|body| vehicle.rear_axle(body));
        axles.find(|axle| {
            let footprint = vehicle.footprint(*axle, 0.0);
            self.map.is_free(profile, None, &footprint)
        })
    }
}

fn drivable(vehicle: &VehicleType) -> DrivableVehicle {
    let train = train(vehicle);
    DrivableVehicle {
        length: vehicle.length.get(),
        width: vehicle.width.get(),
        centre: vehicle.body_centre(),
        curvature: tan(vehicle.max_steering.get()) / (EASE * vehicle.wheelbase.get()),
        reverses: train.trailers().len() < 2,
        trailer: only_trailer(&train),
    }
}

fn plan(question: &TripQuestion<'_>, path: &DrivablePath) -> TripPlan {
    let most = question.vehicle.max_speed.get();
    let times = path.pieces.iter().map(|piece| {
        let speed = if piece.gear() > 0 { FORWARDS } else { REVERSE };
        piece.length.abs() / speed.min(most)
    });
    let changes = path.gear_changes() as f64 * question.planning.gear_change;
    let poses = path.poses(STEP);
    TripPlan {
        legs: vec![TripLeg {
            kind: LegKind::Ground,
            poses: poses.iter().map(|at| at.pose).collect(),
            gears: poses.iter().map(|at| at.gear).collect(),
            length: path.length(),
            time: times.sum::<f64>() + changes,
        }],
        cost: (path.cost * UNITS).round() as u64,
    }
}
