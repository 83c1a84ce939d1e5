//! Shortcuts in a path that has been found.
//!
//! A shortcut is a Reeds-Shepp curve between two poses of the path. It replaces the path between them if it
//! costs less and touches nothing. A smoothed path is therefore as safe as the original, and no bend is
//! tighter than the vehicle can steer.

use super::super::ground::OpenGround;
use super::path::{DrivablePath, DrivablePiece};
use super::search::{Direction, DrivableSettings};
use super::shot::{PlainPiece, Rates, Shot, Shots, Target};
use super::surface::{Arc, Surface};
use super::vehicle::{DrivableVehicle, Placement};

/// Length of the pieces into which a path is cut, m. Shortcuts begin and end at the cuts.
const PIECE: f64 = 2.5;
/// Numbers of pieces that one shortcut replaces, in the order of the attempts.
const SPANS: [usize; 5] = [24, 12, 6, 3, 2];
/// Radii of shortcuts, as multiples of the vehicle's turning radius. Wide bends are tried first, because the
/// vehicle is faster in them.
const RADII: [f64; 2] = [2.0, 1.0];
/// Number of passes over the path.
const PASSES: usize = 2;

/// Inputs for smoothing a path.
pub(super) struct Smoother<'a> {
    pub(super) surface: &'a mut Surface,
    pub(super) ground: &'a mut OpenGround,
    pub(super) vehicle: &'a DrivableVehicle,
    pub(super) settings: &'a DrivableSettings,
    pub(super) margin: f64,
    /// Gear at the start of the path; 0 if either gear may be used.
    pub(super) gear: i8,
}

/// A piece, with its cost regardless of the gear.
#[derive(Debug, Clone, Copy)]
struct Costed {
    piece: DrivablePiece,
    from: Placement,
    plain: f64,
}

impl Smoother<'_> {
    pub(super) fn smooth(&mut self, path: DrivablePath) -> DrivablePath {
        let mut path = path;
        for _ in 0..PASSES {
            let before = path.pieces.clone();
            path = self.pass(path);
            if path.pieces == before {
                break;
            }
        }
        let parts = self.costed(&path);
        path.cost = self.cost(&parts, self.gear, 0);
        path
    }

    fn pass(&mut self, mut path: DrivablePath) -> DrivablePath {
        let parts = self.costed(&path);
        let mut pieces: Vec<DrivablePiece> = Vec::new();
        let mut at = 0;
        while at < parts.len() {
            let before = pieces.last().map_or(self.gear, DrivablePiece::gear);
            let found = SPANS.into_iter().find_map(|span| {
                let end = (at + span).min(parts.len());
                let replaced = &parts[at..end];
                (replaced.len() > 1).then_some(())?;
                let after = parts.get(end).map_or(0, |part| part.piece.gear());
                let to = match parts.get(end) {
                    Some(next) => next.from,
                    None => end_of(replaced.last()?),
                };
                self.shortcut(replaced, to, [before, after])
                    .map(|shot| (shot, end))
            });
            match found {
                Some((shot, end)) => {
                    let own = shot.pieces().iter();
                    pieces.extend(own.map(|arc| DrivablePiece {
                        curvature: arc.curvature,
                        length: arc.length,
                    }));
                    at = end;
                }
                None => {
                    pieces.push(parts[at].piece);
                    at += 1;
                }
            }
        }
        path.pieces = pieces;
        path.tidied()
    }

    /// Returns a cheaper curve to replace the given pieces; `None` if there is none.
    fn shortcut(&mut self, replaced: &[Costed], to: Placement, gears: [i8; 2]) -> Option<Shot> {
        let from = replaced.first()?.from;
        let is_one = replaced.iter().all(|part| {
            let (first, own) = (&replaced[0].piece, &part.piece);
            own.curvature == first.curvature && own.gear() == first.gear()
        });
        if is_one {
            return None;
        }
        let cost = self.cost(replaced, gears[0], gears[1]);
        let target = Target {
            position: to.position,
            heading: Some(to.heading),
        };
        let rates = self.rates(gears);
        RADII.into_iter().find_map(|times| {
            let radius = times * self.vehicle.radius();
            let shots = Shots::new(&from, &target, radius, &rates);
            let scale = f64::from(self.surface.smallest_factor) / 16.0;
            let shot = *shots.iter().next()?;
            if shot.cost * scale >= cost {
                return None;
            }
            let mut at = from;
            let mut room = self.surface.room(&self.vehicle.outline(at, self.margin))?;
            for arc in shot.pieces() {
                (at, room) = self
                    .surface
                    .sweep(self.vehicle, self.margin, at, room, *arc)?;
            }
            let new = self.shot_cost(from, &shot, &rates);
            (new < cost - 1e-6).then_some(shot)
        })
    }

    fn shot_cost(&mut self, from: Placement, shot: &Shot, rates: &Rates) -> f64 {
        let mut at = from;
        let mut costs = [PlainPiece::default(); 5];
        for (arc, cost) in shot.pieces().iter().zip(&mut costs) {
            *cost = PlainPiece {
                length: arc.length,
                plain: self.surface.cost(self.ground, self.vehicle, at, *arc),
            };
            at = at.moved(arc.curvature, arc.length);
        }
        rates.of(costs[..shot.pieces().len()].iter().copied())
    }

    fn rates(&self, [before, after]: [i8; 2]) -> Rates {
        Rates {
            settings: *self.settings,
            direction: Direction::FromStart,
            before,
            after,
            reverses: self.vehicle.reverses,
        }
    }

    fn cost(&self, parts: &[Costed], before: i8, after: i8) -> f64 {
        let rates = self.rates([before, after]);
        rates.of(parts.iter().map(|part| PlainPiece {
            length: part.piece.length,
            plain: part.plain,
        }))
    }

    /// Cuts a path into short pieces with their costs.
    fn costed(&mut self, path: &DrivablePath) -> Vec<Costed> {
        let mut at = Placement::of(path.start);
        let mut parts = Vec::new();
        for piece in &path.pieces {
            let count = (piece.length.abs() / PIECE).ceil().max(1.0);
            let length = piece.length / count;
            let arc = Arc {
                curvature: piece.curvature,
                length,
            };
            for number in 0..count as u32 {
                let from = at.moved(piece.curvature, f64::from(number) * length);
                parts.push(Costed {
                    piece: DrivablePiece { length, ..*piece },
                    from,
                    plain: self.surface.cost(self.ground, self.vehicle, from, arc),
                });
            }
            at = at.moved(piece.curvature, piece.length);
        }
        parts
    }
}

fn end_of(part: &Costed) -> Placement {
    part.from.moved(part.piece.curvature, part.piece.length)
}
