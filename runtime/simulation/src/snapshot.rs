//! Snapshots of a world for renderers, recorders and tests: plain records of vehicles, trailers and
//! pedestrians.

mod rigid_shape;

pub use rigid_shape::Lying;

use crate::agents::Status;
use crate::records::{LooseRecord, PersonRecord, RigidShape};
use roadwright_agent::Indicator;
use roadwright_geometry::{DVec2, Pose};
use roadwright_scenario::{BodyKind, RoadId};
use roadwright_vehicle::gait::Figure;
use roadwright_vehicle::{DriveReading, Pedals};
use std::hash::Hasher;
use std::sync::Arc;

/// Height, pitch and roll of a rigid body.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Attitude {
    /// Height of the body's centre of gravity, m.
    pub height: f64,
    /// Pitch angle, rad, positive if the front is raised.
    pub pitch: f64,
    /// Roll angle, rad, -pi to pi, positive if the left side is raised. Beyond a right angle, the body lies
    /// on its roof.
    pub roll: f64,
}

/// Reasons why a vehicle cannot continue; all `false` if it can.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Mishap {
    /// Whether the vehicle lies on its side or roof. This is the case for a rigid body that leans
    /// by more than 60 degrees.
    pub tipped_over: bool,
    /// Whether the vehicle has been stationary for at least two minutes without having reached its
    /// goal, whether or not it has tipped over.
    pub stuck: bool,
}

impl Mishap {
    /// Description of the mishap for users; `None` if there is none.
    pub fn words(self) -> Option<&'static str> {
        match (self.tipped_over, self.stuck) {
            (true, _) => Some("tipped over"),
            (false, true) => Some("stuck"),
            (false, false) => None,
        }
    }
}

/// State of one vehicle.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct VehicleRecord {
    /// Id of the agent.
    pub agent: u64,
    /// Pose of the centre of the rear axle.
    pub pose: Pose,
    /// Pose of the centre of the body.
    pub body: Pose,
    /// Overall length, m.
    pub length: f64,
    /// Overall width, m.
    pub width: f64,
    /// Whether the vehicle runs on tracks.
    pub has_tracks: bool,
    /// Whether the body is a vehicle or a character on foot.
    pub body_kind: BodyKind,
    /// Speed, m/s.
    pub speed: f64,
    /// Angle of the front wheels, rad.
    pub steering: f64,
    /// Commanded acceleration, m/s^2.
    pub acceleration: f64,
    /// Road and lane that the vehicle follows, if any.
    pub lane: Option<(RoadId, i8)>,
    /// Distance along the lanelet that the vehicle follows, m.
    pub s: f64,
    /// Lateral offset from the lanelet's centre line, m to the left.
    pub t: f64,
    /// Turn signal set by the agent's behaviour or, if it has set none, the signal for the next
    /// turn or lane change.
    pub indicator: Indicator,
    /// Whether the vehicle's brake lamps are lit.
    pub brakes: bool,
    /// Status of the agent's drive.
    pub status: Status,
    /// Orientation and height at the end of the step; `None` on levels without heights.
    pub attitude: Option<Attitude>,
    /// Reasons why the vehicle cannot continue, if any.
    pub mishap: Mishap,
    /// Lateral speed of the vehicle's centre of gravity, m/s to the left; `None` on levels without side slip.
    pub sideways: Option<f64>,
    /// Yaw rate according to the vehicle's level of dynamics, rad/s, positive to the left.
    pub yaw_rate: Option<f64>,
    /// Pedal positions set by the driver; `None` while an acceleration is commanded.
    pub pedals: Option<Pedals>,
    /// Commanded angle of the front wheels, rad, positive to the left; `None` on levels that do not steer.
    pub steering_command: Option<f64>,
    /// Whether the driver intends to reverse; `None` on levels that cannot reverse.
    pub is_reversing: Option<bool>,
}

/// State of a wheel, on levels that model wheels.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct WheelRecord {
    /// Position relative to the centre of the rear axle while the vehicle is on level ground:
    /// forward and left, m.
    pub place: DVec2,
    /// Radius of the wheel, m.
    pub radius: f64,
    /// Steering angle relative to the body, rad, positive to the left.
    pub steering: f64,
    /// Compression of the wheel's spring relative to its rest position, m; negative in rebound.
    pub travel: f64,
    /// Wheel load on the ground, N; 0 in the air.
    pub load: f64,
    /// Difference between the wheel's circumferential speed and the ground speed, divided by the
    /// larger of the two: -1 for a locked wheel, 1 for a wheel that spins under a stationary
    /// vehicle.
    pub slip_ratio: f64,
    /// Angle between the wheel's heading and its direction of motion, rad. Positive if the wheel
    /// drifts to the left.
    pub slip_angle: f64,
    /// Rotational speed, rad/s; positive forwards.
    pub spin: f64,
}

impl WheelRecord {
    /// Slip ratio beyond which a wheel slides.
    pub const SLIDING_RATIO: f64 = 0.2;
    /// Slip angle beyond which a wheel slides, rad: 8.6 degrees.
    pub const SLIDING_ANGLE: f64 = 0.15;

    /// Whether the wheel is on the ground and slides instead of rolling. It slides if its slip
    /// exceeds the value for the maximum force of tyres on asphalt: a slip ratio of 0.1 to 0.2, or
    /// a slip angle of 6 to 9 degrees.
    pub fn slides(&self) -> bool {
        let is_beyond = self.slip_ratio.abs() > Self::SLIDING_RATIO
            || self.slip_angle.abs() > Self::SLIDING_ANGLE;
        self.load > 0.0 && is_beyond
    }
}

/// Engine and wheels of a vehicle at the end of the step.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MechanicsRecord {
    /// Id of the agent.
    pub agent: u64,
    /// Dashboard readings, if the vehicle has a drive train that its level uses.
    pub drive: Option<DriveReading>,
    /// Wheels in the order of the vehicle file; empty on levels without wheels.
    pub wheels: Vec<WheelRecord>,
    /// Shape of the vehicle in the rigid-body solver, with the same number of wheels; `None` on
    /// levels other than `rigid`.
    pub shape: Option<Arc<RigidShape>>,
}

/// Feet and shoulders of a character on foot.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CharacterRecord {
    /// Id of the agent.
    pub agent: u64,
    /// Feet and shoulders of the character.
    pub figure: Figure,
}

/// A towed or uncoupled trailer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrailerRecord {
    /// Id of the agent that tows the trailer.
    pub agent: u64,
    /// Number of the trailer, starting at 1 directly behind the vehicle.
    pub number: u8,
    /// Pose of the centre of the trailer's body.
    pub body: Pose,
    /// Length of the trailer's body, m.
    pub length: f64,
    /// Width of the trailer's body, m.
    pub width: f64,
    /// Position of the coupling at the front of the trailer, m.
    pub coupling: DVec2,
    /// Angle between the trailer's heading and that of the body that tows it, rad, positive to the
    /// left.
    pub angle: f64,
    /// Orientation of the trailer's body in space, at level `rigid`.
    pub attitude: Option<Attitude>,
}

/// An uncoupled trailer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StandingTrailer {
    /// Number of the train, starting at 1. Trailers that were uncoupled together have the same number.
    pub train: u32,
    /// Record of the trailer, as if it were still towed by the agent that uncoupled it. The angle
    /// is 0 for the front trailer.
    pub trailer: TrailerRecord,
}

/// Visible state of the world at one moment.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Snapshot {
    /// Simulation time, s.
    pub time: f64,
    /// Number of steps so far.
    pub step: u64,
    /// Driving vehicles, in the order of their ids.
    pub vehicles: Vec<VehicleRecord>,
    /// Engines and wheels of vehicles on levels that model them, in the order of agent ids.
    pub mechanics: Vec<MechanicsRecord>,
    /// Feet and shoulders of characters, in the order of agent ids.
    pub characters: Vec<CharacterRecord>,
    /// Towed trailers, in the order of the ids of their agents and from front to back.
    pub trailers: Vec<TrailerRecord>,
    /// Uncoupled trailers in the order in which they were uncoupled, and from front to back within
    /// a train.
    pub standing: Vec<StandingTrailer>,
    /// Pedestrians, in the order of their numbers.
    pub people: Vec<PersonRecord>,
    /// Feet and shoulders of the pedestrians, in the order of `people`.
    pub people_figures: Vec<Figure>,
    /// Loose obstacles that have been pushed, in the order of their ids.
    pub loose: Vec<LooseRecord>,
}

impl Snapshot {
    /// Towed trailers, followed by uncoupled trailers.
    pub fn all_trailers(&self) -> impl Iterator<Item = &TrailerRecord> {
        let standing = self.standing.iter().map(|standing| &standing.trailer);
        self.trailers.iter().chain(standing)
    }

    /// Pedestrians with their feet and shoulders.
    pub fn people_on_foot(&self) -> impl Iterator<Item = (&PersonRecord, &Figure)> {
        self.people.iter().zip(&self.people_figures)
    }

    /// The vehicle of an agent; `None` if it does not drive.
    pub fn vehicle(&self, agent: u64) -> Option<&VehicleRecord> {
        let place = self.vehicles.binary_search_by_key(&agent, |one| one.agent);
        place.ok().map(|place| &self.vehicles[place])
    }

    /// Engine and wheels of an agent; `None` on levels that model neither.
    pub fn mechanics_of(&self, agent: u64) -> Option<&MechanicsRecord> {
        let place = self.mechanics.binary_search_by_key(&agent, |one| one.agent);
        place.ok().map(|place| &self.mechanics[place])
    }

    /// Returns the feet and shoulders of an agent; `None` if the agent is not a character.
    pub fn character(&self, agent: u64) -> Option<&CharacterRecord> {
        let place = self
            .characters
            .binary_search_by_key(&agent, |one| one.agent);
        place.ok().map(|place| &self.characters[place])
    }

    /// Hash of the step and everything visible: the exact bits of id, x, y, heading and speed of
    /// each vehicle in the order of ids, then trailers, the number and position of each pedestrian,
    /// and loose obstacles. Two runs that look the same in a step have the same hash, regardless of
    /// how their data is stored.
    pub fn hash(&self) -> u64 {
        // Only visible values are hashed. A change of data structures may change the state hash,
        // but must never change this one.
        let mut vehicles: Vec<&VehicleRecord> = self.vehicles.iter().collect();
        vehicles.sort_unstable_by_key(|vehicle| vehicle.agent);
        let mut hasher = twox_hash::XxHash3_64::with_seed(0);
        hasher.write_u64(self.step);
        for vehicle in vehicles {
            let VehicleRecord { pose, speed, .. } = *vehicle;
            hasher.write_u64(vehicle.agent);
            for value in [pose.position.x, pose.position.y, pose.heading, speed] {
                hasher.write_u64(value.to_bits());
            }
        }
        for trailer in self.all_trailers() {
            let Pose { position, heading } = trailer.body;
            for value in [position.x, position.y, heading] {
                hasher.write_u64(value.to_bits());
            }
        }
        for person in &self.people {
            hasher.write_u64(person.id);
            hasher.write_u64(person.position.x.to_bits());
            hasher.write_u64(person.position.y.to_bits());
        }
        for record in &self.loose {
            hasher.write_u32(record.obstacle.0);
            for point in &record.outline {
                hasher.write_u64(point.x.to_bits());
                hasher.write_u64(point.y.to_bits());
            }
        }
        hasher.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_sees_what_is_seen_and_not_the_order() {
        let vehicle = |agent, x, speed| VehicleRecord {
            agent,
            pose: Pose {
                position: glam::DVec2::new(x, 1.0),
                heading: 0.5,
            },
            speed,
            ..VehicleRecord::default()
        };
        let hash = |vehicles: Vec<VehicleRecord>| {
            let snapshot = Snapshot {
                vehicles,
                ..Snapshot::default()
            };
            snapshot.hash()
        };
        let (a, b) = (vehicle(1, 2.0, 3.0), vehicle(2, 4.0, 5.0));
        assert_eq!(hash(vec![a, b]), hash(vec![b, a]));
        for other in [
            vehicle(3, 2.0, 3.0),
            vehicle(1, 2.5, 3.0),
            vehicle(1, 2.0, 3.5),
        ] {
            assert_ne!(hash(vec![a, b]), hash(vec![other, b]));
        }
    }
}
