//! Paths made of arcs and straight lines.

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
    /// Gear of the piece: 1 forwards, -1 in reverse.
    pub fn gear(&self) -> i8 {
        if self.length < 0.0 { -1 } else { 1 }
    }
}

/// A pose on a path, with the gear that is engaged there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DrivenPose {
    /// Pose of the rear axle.
    pub pose: Pose,
    /// 1 forwards, -1 in reverse.
    pub gear: i8,
}

/// A path that a vehicle can drive. It is clear of obstacles, and no bend is tighter than the vehicle can steer.
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
}

impl DrivablePath {
    /// Length, m.
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
        let mut poses: Vec<DrivenPose> = Vec::new();
        for piece in &self.pieces {
            let gear = piece.gear();
            if poses.last().is_none_or(|last| last.gear != gear) {
                let pose = at.pose();
                poses.push(DrivenPose { pose, gear });
            }
            let count = (piece.length.abs() / step).ceil().max(1.0) as u32;
            for number in 1..=count {
                let share = f64::from(number) / f64::from(count);
                let pose = at.moved(piece.curvature, share * piece.length).pose();
                poses.push(DrivenPose { pose, gear });
            }
            at = at.moved(piece.curvature, piece.length);
        }
        if poses.is_empty() {
            let pose = self.start;
            poses.push(DrivenPose { pose, gear: 1 });
        }
        poses
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
