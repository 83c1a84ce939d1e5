//! The distance matrix of clips: how similar each frame is to each other frame ([Adam 2007], section 3.4), in
//! cells that a display can show.

use crate::build::FrameNumber;
use crate::clips::ClipFile;
use crate::frame::{Frame, Weights, distance};

/// Distances between the frames of all clips. The clips follow each other along both axes, and each cell covers
/// the same number of frames.
#[derive(Debug, Clone, PartialEq)]
pub struct DistanceMatrix {
    side: usize,
    /// Number of frames per cell, along either axis.
    frames_per_cell: usize,
    /// Smallest distance in each cell, row by row.
    cells: Vec<f32>,
    /// First frame of each clip, counted over all clips, and the number of all frames.
    starts: Vec<usize>,
}

/// A cell of a distance matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct MatrixCell {
    /// Index of the cell along the axis for the first frames of transitions.
    pub from: usize,
    /// Index of the cell along the axis for the last frames of transitions.
    pub to: usize,
}

impl DistanceMatrix {
    /// Computes the matrix of clips, with at most `most` cells along each axis. The cost grows with the square of
    /// the number of frames.
    pub fn of(clips: &ClipFile, weights: &Weights, most: usize) -> Self {
        let mut starts = vec![0];
        let mut frames: Vec<&Frame> = Vec::new();
        for clip in &clips.clips {
            frames.extend(&clip.frames);
            starts.push(frames.len());
        }
        let frames_per_cell = frames.len().div_ceil(most.max(1)).max(1);
        let side = frames.len().div_ceil(frames_per_cell);
        let mut cells = vec![f32::INFINITY; side * side];
        for (row, one) in frames.iter().enumerate() {
            let cells = &mut cells[row / frames_per_cell * side..][..side];
            for (column, other) in frames.iter().enumerate() {
                let cell = &mut cells[column / frames_per_cell];
                *cell = cell.min(distance(one, other, weights) as f32);
            }
        }
        Self {
            side,
            frames_per_cell,
            cells,
            starts,
        }
    }

    /// Number of cells along each axis.
    pub fn side(&self) -> usize {
        self.side
    }

    /// Smallest distance between the frames of a cell.
    ///
    /// # Panics
    /// If there is no such cell.
    pub fn at(&self, cell: MatrixCell) -> f32 {
        self.cells[cell.from * self.side + cell.to]
    }

    /// Returns the cell of a pair of frames.
    pub fn cell(&self, from: FrameNumber, to: FrameNumber) -> MatrixCell {
        let place = |at: FrameNumber| (self.starts[at.clip] + at.frame) / self.frames_per_cell;
        MatrixCell {
            from: place(from),
            to: place(to),
        }
    }

    /// Cells at which clips begin, along either axis. The first one is 0.
    pub fn clip_starts(&self) -> impl Iterator<Item = usize> + '_ {
        let clips = self.starts.len() - 1;
        let starts = self.starts.iter().take(clips);
        starts.map(|start| start / self.frames_per_cell)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clips::Clip;
    use crate::clips::file_of_car as file;

    fn clip(name: &str, speeds: &[f64]) -> Clip {
        let frame = |&forward| Frame {
            forward,
            ..Frame::default()
        };
        Clip {
            name: name.to_owned(),
            frames: speeds.iter().map(frame).collect(),
        }
    }

    #[test]
    fn cells_have_the_smallest_distance_of_their_frames() {
        let clips = file(vec![clip("a", &[1.0, 2.0, 4.0]), clip("b", &[8.0, 4.5])]);
        let whole = DistanceMatrix::of(&clips, &Weights::default(), 100);
        assert_eq!(whole.side(), 5);
        assert_eq!(whole.clip_starts().collect::<Vec<_>>(), [0, 3]);
        let at = |clip, frame| FrameNumber { clip, frame };
        assert_eq!(whole.at(whole.cell(at(0, 0), at(1, 0))), 7.0);
        assert_eq!(whole.at(whole.cell(at(1, 1), at(0, 2))), 0.5);
        // Two frames per cell: 1 and 2, 4 and 8, 4.5.
        let coarse = DistanceMatrix::of(&clips, &Weights::default(), 3);
        assert_eq!(coarse.side(), 3);
        let rows = [[0.0, 2.0, 2.5], [2.0, 0.0, 0.5], [2.5, 0.5, 0.0]];
        for (from, row) in rows.iter().enumerate() {
            for (to, &expected) in row.iter().enumerate() {
                assert_eq!(coarse.at(MatrixCell { from, to }), expected, "{from} {to}");
            }
        }
        assert_eq!(
            coarse.cell(at(0, 2), at(1, 1)),
            MatrixCell { from: 1, to: 2 }
        );
        let none = DistanceMatrix::of(&file(Vec::new()), &Weights::default(), 3);
        assert_eq!((none.side(), none.clip_starts().count()), (0, 0));
    }
}
