//! Skid marks that sliding wheels leave on the ground. They are only drawn and are not part of the simulated
//! world.

use super::instances::{Instance, instance};
use super::mesh::Ink;
use crate::camera::Camera;
use roadwright_geometry::DVec2;
use roadwright_render::hint::WHEEL_WIDTH;
use roadwright_render::palette::{RIM, faded};
use roadwright_simulation::{Snapshot, VehicleRecord, WheelRecord};
use std::collections::{BTreeMap, VecDeque};

/// Lifetime of a mark, in seconds of the run.
const KEPT: f64 = 30.0;
/// Maximum number of pieces; the oldest are dropped first.
const MOST: usize = 20_000;
/// Minimum length of a piece, m.
const SHORTEST: f64 = 0.1;
/// Maximum length of a piece, m. A wheel that moved farther between two pictures has jumped.
const LONGEST: f64 = 10.0;
/// Maximum time between two pictures, s. If more time passes, the wheel positions in the two
/// pictures are not joined by a piece.
const BREAK: f64 = 1.0;
/// Opacity of a mark.
const OPACITY: f32 = 0.45;
/// Largest scale at which marks are drawn, in metres per pixel. Marks are about 0.2 m wide.
const FARTHEST: f64 = 0.5;

/// A piece of a mark.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Piece {
    /// Time when the mark was left, s.
    time: f64,
    middle: DVec2,
    /// Vector from the middle of the piece to its end, m.
    half: DVec2,
    half_width: f64,
}

/// Skid marks of the last 30 s of a run.
#[derive(Debug, Clone, Default)]
pub struct SkidMarks {
    /// Pieces of marks, oldest first.
    pieces: VecDeque<Piece>,
    /// Ends of marks that may continue, by agent and wheel number.
    ends: BTreeMap<(u64, usize), DVec2>,
    /// Time of the last picture, s.
    time: f64,
}

impl SkidMarks {
    /// Updates the marks from a picture of the run. A picture from an earlier time (after a reset or rewind)
    /// clears them first.
    pub fn follow(&mut self, snapshot: &Snapshot) {
        let time = snapshot.time;
        if time < self.time {
            self.clear();
        } else if time - self.time > BREAK {
            self.ends.clear();
        }
        if time == self.time {
            return;
        }
        self.time = time;
        while self.pieces.front().is_some_and(|p| p.time < time - KEPT) {
            self.pieces.pop_front();
        }
        let before = std::mem::take(&mut self.ends);
        for one in &snapshot.mechanics {
            if one.wheels.iter().any(WheelRecord::slides) {
                let vehicles = &snapshot.vehicles;
                let place = vehicles.binary_search_by_key(&one.agent, |vehicle| vehicle.agent);
                if let Ok(place) = place {
                    self.add(&vehicles[place], &one.wheels, &before);
                }
            }
        }
    }

    /// Extends the marks of one vehicle from their last ends.
    fn add(
        &mut self,
        vehicle: &VehicleRecord,
        wheels: &[WheelRecord],
        before: &BTreeMap<(u64, usize), DVec2>,
    ) {
        let sliding = wheels
            .iter()
            .enumerate()
            .filter(|(_, wheel)| wheel.slides());
        for (number, wheel) in sliding {
            let key = (vehicle.agent, number);
            let at = vehicle.pose.point(wheel.place.x, wheel.place.y);
            let from = before.get(&key).copied().unwrap_or(at);
            let distance = at.distance(from);
            if distance < SHORTEST {
                self.ends.insert(key, from);
                continue;
            }
            self.ends.insert(key, at);
            if distance <= LONGEST {
                self.push(Piece {
                    time: self.time,
                    middle: 0.5 * (from + at),
                    half: 0.5 * (at - from),
                    half_width: WHEEL_WIDTH * wheel.radius,
                });
            }
        }
    }

    fn push(&mut self, piece: Piece) {
        if self.pieces.len() == MOST {
            self.pieces.pop_front();
        }
        self.pieces.push_back(piece);
    }

    /// Clears all marks.
    pub fn clear(&mut self) {
        self.pieces.clear();
        self.ends.clear();
        self.time = 0.0;
    }

    /// Returns the number of pieces.
    pub fn count(&self) -> usize {
        self.pieces.len()
    }

    /// Returns the pieces of marks inside a box of the world, as instances. The box is given in
    /// metres.
    pub fn instances(&self, camera: &Camera, low: DVec2, high: DVec2) -> Vec<Instance> {
        if camera.scale > FARTHEST {
            return Vec::new();
        }
        let color = Ink::Light.bytes(faded(RIM, OPACITY));
        let is_seen = |p: &&Piece| p.middle.cmpge(low).all() && p.middle.cmple(high).all();
        let one = |p: &Piece| instance(p.middle - camera.centre, p.half, p.half_width, color);
        self.pieces.iter().filter(is_seen).map(one).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use roadwright_geometry::Pose;
    use roadwright_simulation::MechanicsRecord;

    fn vehicle(agent: u64, x: f64) -> VehicleRecord {
        let pose = Pose {
            position: DVec2::new(x, 0.0),
            heading: 0.0,
        };
        VehicleRecord {
            agent,
            pose,
            body: pose,
            length: 4.0,
            width: 1.8,
            speed: 10.0,
            ..VehicleRecord::default()
        }
    }

    /// Creates a snapshot of a vehicle that has a wheel on each side. The left wheel slides with
    /// the given slip ratio.
    fn picture(time: f64, x: f64, slip_ratio: f64) -> Snapshot {
        let wheel = |side: f64, slip_ratio: f64| WheelRecord {
            place: DVec2::new(2.0, side),
            radius: 0.3,
            load: 3000.0,
            slip_ratio,
            ..WheelRecord::default()
        };
        Snapshot {
            time,
            vehicles: vec![vehicle(3, 0.0), vehicle(7, x)],
            mechanics: vec![MechanicsRecord {
                agent: 7,
                drive: None,
                wheels: vec![wheel(0.8, slip_ratio), wheel(-0.8, 0.05)],
                shape: None,
            }],
            ..Snapshot::default()
        }
    }

    #[test]
    fn a_sliding_wheel_leaves_a_streak_where_it_was_and_a_rolling_one_none() {
        let mut marks = SkidMarks::default();
        for (i, slip) in [0.1, -1.0, -1.0, -1.0, 0.1, -1.0].into_iter().enumerate() {
            marks.follow(&picture(0.1 + 0.1 * i as f64, i as f64, slip));
        }
        // Pieces between the second, third and fourth picture; the last mark has only just started.
        assert_eq!(marks.count(), 2);
        let first = marks.pieces[0];
        assert_eq!(first.middle, DVec2::new(3.5, 0.8));
        assert_eq!(first.half, DVec2::new(0.5, 0.0));
        let camera = Camera {
            centre: DVec2::ZERO,
            scale: 0.05,
        };
        let seen = |x: f64, camera| {
            let (low, high) = (DVec2::new(x - 0.6, -5.0), DVec2::new(x + 0.4, 5.0));
            marks.instances(camera, low, high).len()
        };
        assert_eq!((seen(3.5, &camera), seen(50.0, &camera)), (1, 0));
        let far = Camera {
            scale: 1.0,
            ..camera
        };
        assert_eq!(seen(3.5, &far), 0);
    }

    #[test]
    fn streaks_end_with_their_time_and_with_the_run() {
        let mut marks = SkidMarks::default();
        let slide = |marks: &mut SkidMarks, from: f64| {
            marks.follow(&picture(from, 0.0, -1.0));
            marks.follow(&picture(from + 0.1, 1.0, -1.0));
        };
        slide(&mut marks, 1.0);
        assert_eq!(marks.count(), 1);
        // A pause adds no second piece, and a wheel that jumps leaves no mark.
        marks.follow(&picture(1.1, 1.0, -1.0));
        marks.follow(&picture(1.2, 400.0, -1.0));
        assert_eq!(marks.count(), 1);
        marks.follow(&picture(31.0, 400.0, 0.0));
        assert_eq!(marks.count(), 1);
        marks.follow(&picture(31.2, 400.0, 0.0));
        assert_eq!(marks.count(), 0);
        slide(&mut marks, 40.0);
        assert_eq!(marks.count(), 1);
        // After a rewind or a reset.
        marks.follow(&picture(39.0, 1.0, -1.0));
        assert_eq!(marks.count(), 0);
    }

    #[test]
    fn the_oldest_of_too_many_pieces_go_first() {
        let mut marks = SkidMarks::default();
        for i in 0..=MOST + 500 {
            marks.follow(&picture(1.0 + 1e-4 * i as f64, i as f64, -1.0));
        }
        assert_eq!(marks.count(), MOST);
        assert_eq!(marks.pieces[0].middle.x, 2.0 + 500.5);
    }

    #[test]
    fn an_agent_without_a_vehicle_and_a_wheel_in_the_air_leave_nothing() {
        let mut marks = SkidMarks::default();
        for i in 1..5 {
            let mut picture = picture(f64::from(i), f64::from(i), -1.0);
            picture.mechanics[0].wheels[0].load = 0.0;
            marks.follow(&picture);
            picture.time += 0.5;
            picture.mechanics[0].agent = 99;
            picture.mechanics[0].wheels[0].load = 1.0;
            marks.follow(&picture);
        }
        assert_eq!(marks.count(), 0);
    }
}
