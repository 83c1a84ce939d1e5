//! Paths made of arcs and straight lines.

use super::surface::Arc;
use super::trailer::DrivableTrailer;
use super::vehicle::Placement;
use roadwright_geometry::Pose;

/// An arc or a straight line, driven in one gear.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DrivablePiece {
    /// Curvature, 1/m, positive to the left.
    pub curvature: f64,
    /// Length, m; negative in reverse.
    pub length: f64,
}

impl DrivablePiece {
    /// Gear of the piece: Gear: 1 forwards, -1 in reverse.
    pub fn gear(&self) -> i8 {
        if self.length < 0.0 { -1 } else { 1 }
    }
}

/// A pose on a path, with the gear that is engaged there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DrivenPose {
    /// Pose of the rear axle.
    pub pose: Pose,
    /// Gear: 1 forwards, -1 in reverse.
    pub gear: i8,
    /// Hitch angle, from the heading of the trailer to the heading of the vehicle, rad; 0 without a
    /// trailer.
    pub hitch: f64,
}

/// Part of a path that is driven in one gear.
#[derive(Debug, Clone, PartialEq)]
pub struct DrivenRun {
    /// Gear: 1 forwards, -1 in reverse.
    pub gear: i8,
    /// Distance between the poses along the path, m.
    pub spacing: f64,
    /// Poses of the rear axle from the start of the run to its end.
    pub poses: Vec<Pose>,
    /// Hitch angle at each pose, from the heading of the trailer to the heading of the vehicle,
    /// rad; 0 without a trailer.
    pub hitches: Vec<f64>,
}

/// A trailer on a path.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Towed {
    /// Dimensions of the trailer.
    pub trailer: DrivableTrailer,
    /// Hitch angle at the start of the path, from the heading of the trailer to the heading of the
    /// vehicle, rad.
    pub hitch: f64,
}

/// A path that a vehicle can drive. Vehicle and trailer are clear of obstacles on it, and no bend is tighter than the
/// vehicle can steer.
#[derive(Debug, Clone, PartialEq)]
pub struct DrivablePath {
    /// Pose of the rear axle at the start of the path.
    pub start: Pose,
    /// Pieces of the path in driving order.
    pub pieces: Vec<DrivablePiece>,
    /// Cost, m of forward driving on plain ground.
    pub cost: f64,
    /// Distance between the footprint and obstacles, m.
    pub margin: f64,
    /// The towed trailer; `None` without a trailer.
    pub towed: Option<Towed>,
}

impl DrivablePath {
    /// Hitch angle at the start of the path, rad; 0 without a trailer.
    fn first_hitch(&self) -> f64 {
        self.towed.map_or(0.0, |towed| towed.hitch)
    }

    /// Hitch angle after part of a piece, rad; 0 without a trailer.
    fn hitch_after(&self, hitch: f64, curvature: f64, length: f64) -> f64 {
        let arc = Arc { curvature, length };
        self.towed
            .map_or(0.0, |towed| towed.trailer.hitch_after(hitch, arc))
    }

    /// Returns the length of the path, m.
    pub fn length(&self) -> f64 {
        self.pieces.iter().map(|piece| piece.length.abs()).sum()
    }

    /// Number of changes between forwards and reverse.
    pub fn gear_changes(&self) -> usize {
        let pairs = self.pieces.windows(2);
        pairs
            .filter(|pair| pair[0].gear() != pair[1].gear())
            .count()
    }

    /// Pose of the rear axle at the end of the path.
    pub fn end(&self) -> Pose {
        let start = Placement::of(self.start);
        let end = self
            .pieces
            .iter()
            .fold(start, |at, piece| at.moved(piece.curvature, piece.length));
        end.pose()
    }

    /// Returns poses at most `step` metres apart. A pose at which the gear changes occurs twice, once in each gear.
    pub fn poses(&self, step: f64) -> Vec<DrivenPose> {
        let mut at = Placement::of(self.start);
        let mut hitch = self.first_hitch();
        let mut poses: Vec<DrivenPose> = Vec::new();
        for piece in &self.pieces {
            let gear = piece.gear();
            if poses.last().is_none_or(|last| last.gear != gear) {
                let pose = at.pose();
                poses.push(DrivenPose { pose, gear, hitch });
            }
            let count = (piece.length.abs() / step).ceil().max(1.0) as u32;
            for number in 1..=count {
                let share = f64::from(number) / f64::from(count);
                let pose = at.moved(piece.curvature, share * piece.length).pose();
                hitch = self.hitch_after(hitch, piece.curvature, piece.length / f64::from(count));
                poses.push(DrivenPose { pose, gear, hitch });
            }
            at = at.moved(piece.curvature, piece.length);
        }
        if poses.is_empty() {
            let pose = self.start;
            poses.push(DrivenPose {
                pose,
                gear: 1,
                hitch,
            });
        }
        poses
    }

    /// Divides the path into runs, each in one gear, with poses at equal distances of at most `step` metres. Runs that
    /// are shorter than a millimetre are left out.
    pub fn runs(&self, step: f64) -> Vec<DrivenRun> {
        let mut at = Placement::of(self.start);
        let mut hitch = self.first_hitch();
        let mut runs = Vec::new();
        for pieces in self.pieces.chunk_by(|a, b| a.gear() == b.gear()) {
            let gear = pieces.first().map_or(1, DrivablePiece::gear);
            let length: f64 = pieces.iter().map(|piece| piece.length.abs()).sum();
            let count = (length / step).ceil().max(1.0) as u32;
            let spacing = length / f64::from(count);
            let mut poses = vec![at.pose()];
            let mut hitches = vec![hitch];
            let (mut next, mut before) = (1, 0.0);
            for piece in pieces {
                let end = before + piece.length.abs();
                let mut driven = 0.0;
                while next < count && f64::from(next) * spacing <= end {
                    let along = f64::from(gear) * (f64::from(next) * spacing - before);
                    poses.push(at.moved(piece.curvature, along).pose());
                    hitch = self.hitch_after(hitch, piece.curvature, along - driven);
                    hitches.push(hitch);
                    driven = along;
                    next += 1;
                }
                at = at.moved(piece.curvature, piece.length);
                hitch = self.hitch_after(hitch, piece.curvature, piece.length - driven);
                before = end;
            }
            poses.push(at.pose());
            hitches.push(hitch);
            if length > 1e-3 {
                runs.push(DrivenRun {
                    gear,
                    spacing,
                    poses,
                    hitches,
                });
            }
        }
        runs
    }

    /// Returns the same path without pieces of zero length. Consecutive pieces of the same curvature and gear
    /// are joined.
    pub(super) fn tidied(mut self) -> Self {
        self.pieces.retain(|piece| piece.length.abs() > 1e-9);
        self.pieces.dedup_by(|next, before| {
            let continues = next.curvature == before.curvature && next.gear() == before.gear();
            if continues {
                before.length += next.length;
            }
            continues
        });
        self
    }
}
