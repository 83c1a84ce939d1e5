//! Reeds-Shepp curves to the target of a search.

use super::search::{Direction, DrivableSettings};
use super::surface::Arc;
use super::vehicle::Placement;
use roadwright_geometry::math::{acos, atan2, wrap_angle};
use roadwright_geometry::reeds_shepp::{Bend, ReedsShepp};
use roadwright_geometry::{DVec2, Pose, left_of};

/// Maximum number of curves that are tried from one pose.
pub(super) const MOST_CURVES: usize = 6;

/// Pose at which a search ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Target {
    /// Position of the rear axle, m.
    pub(super) position: DVec2,
    /// Heading, rad; `None` for any heading.
    pub(super) heading: Option<f64>,
}

/// A curve to the target, and its cost over plain ground.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shot {
    pub(super) pieces: [Arc; 5],
    pub(super) count: usize,
    /// Cost including the penalties for reversing and gear changes, m.
    pub(super) cost: f64,
}

impl Shot {
    pub(super) fn pieces(&self) -> &[Arc] {
        &self.pieces[..self.count]
    }

    fn new(curve: &ReedsShepp, rates: &Rates) -> Self {
        let mut shot = Self {
            pieces: [Arc {
                curvature: 0.0,
                length: 0.0,
            }; 5],
            count: curve.pieces().len(),
            cost: 0.0,
        };
        let curvature = 1.0 / curve.radius();
        for (to, piece) in shot.pieces.iter_mut().zip(curve.pieces()) {
            *to = Arc {
                curvature: piece.bend.sign() * curvature,
                length: piece.length,
            };
        }
        shot.cost = rates.of(shot.pieces().iter().map(PlainPiece::from));
        shot
    }
}

/// A piece with its cost before penalties.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PlainPiece {
    /// Length, m; negative in reverse.
    pub(super) length: f64,
    /// Cost regardless of the gear, in metres of plain ground.
    pub(super) plain: f64,
}

impl From<&Arc> for PlainPiece {
    fn from(arc: &Arc) -> Self {
        Self {
            length: arc.length,
            plain: arc.length.abs(),
        }
    }
}

/// Penalties that determine the cost of a sequence of pieces on given ground.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rates {
    pub(super) settings: DrivableSettings,
    pub(super) direction: Direction,
    /// Gear that is engaged before the first piece; 0 if either gear may be used.
    pub(super) before: i8,
    pub(super) after: i8,
    /// Whether the vehicle may drive in reverse.
    pub(super) reverses: bool,
}

impl Rates {
    /// Cost of pieces with all penalties; infinite if the vehicle cannot drive the pieces.
    pub(super) fn of(&self, pieces: impl Iterator<Item = PlainPiece>) -> f64 {
        let (mut cost, mut gear) = (0.0, self.before);
        for PlainPiece { length, plain } in pieces {
            let own = self.direction.gear(length);
            if own < 0 && !self.reverses {
                return f64::INFINITY;
            }
            if gear != 0 && gear != own {
                cost += self.settings.gear_change;
            }
            cost += if own < 0 {
                self.settings.reverse * plain
            } else {
                plain
            };
            gear = own;
        }
        if self.after != 0 && gear != 0 && gear != self.after {
            cost += self.settings.gear_change;
        }
        cost
    }
}

/// The cheapest curves from a pose to the target, in ascending order of cost.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shots {
    shots: [Option<Shot>; MOST_CURVES],
}

impl Shots {
    pub(super) fn iter(&self) -> impl Iterator<Item = &Shot> {
        self.shots.iter().flatten()
    }

    /// Cost of the cheapest curve, m; infinite if there is no curve.
    pub(super) fn least(&self) -> f64 {
        self.shots[0].map_or(f64::INFINITY, |shot| shot.cost)
    }

    pub(super) fn new(from: &Placement, target: &Target, radius: f64, rates: &Rates) -> Self {
        let mut shots = Self {
            shots: [None; MOST_CURVES],
        };
        match target.heading {
            Some(heading) => {
                let to = Pose {
                    position: target.position,
                    heading,
                };
                ReedsShepp::for_each(from.pose(), to, radius, |curve| {
                    shots.add(Shot::new(&curve, rates));
                });
            }
            None => shots.add_to_point(from, target.position, radius, rates),
        }
        shots
    }

    fn add(&mut self, shot: Shot) {
        if !shot.cost.is_finite() {
            return;
        }
        let cost = |slot: &Option<Shot>| slot.map_or(f64::INFINITY, |shot| shot.cost);
        let at = self.shots.iter().position(|slot| shot.cost < cost(slot));
        if let Some(at) = at {
            self.shots[at..].rotate_right(1);
            self.shots[at] = Some(shot);
        }
    }

    /// Adds curves that consist of an arc and a straight line, for both sides and both gears.
    fn add_to_point(&mut self, from: &Placement, to: DVec2, radius: f64, rates: &Rates) {
        let offset = to - from.position;
        for gear in [1.0, -1.0] {
            let local = DVec2::new(
                gear * offset.dot(from.forward),
                offset.dot(left_of(from.forward)),
            );
            for (bend, side) in [(Bend::Left, 1.0), (Bend::Right, -1.0)] {
                // Vector from the centre of the turning circle to the point, mirrored to the left.
                let centre = DVec2::new(local.x, side * local.y - radius);
                let distance = centre.length();
                if distance < radius {
                    continue;
                }
                let straight = (distance * distance - radius * radius).sqrt();
                let angle = atan2(centre.y, centre.x) + std::f64::consts::FRAC_PI_2;
                let mut turn = wrap_angle(angle - acos(radius / distance));
                if turn < -1e-9 {
                    turn += std::f64::consts::TAU;
                }
                let pieces = [
                    Arc {
                        curvature: bend.sign() / radius,
                        length: gear * turn.max(0.0) * radius,
                    },
                    Arc {
                        curvature: 0.0,
                        length: gear * straight,
                    },
                ];
                let nothing = pieces[1];
                let mut shot = Shot {
                    pieces: [pieces[0], pieces[1], nothing, nothing, nothing],
                    count: 2,
                    cost: 0.0,
                };
                shot.cost = rates.of(shot.pieces().iter().map(PlainPiece::from));
                self.add(shot);
            }
        }
    }
}
