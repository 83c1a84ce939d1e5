//! Clips on the bench.

use crate::live::ClipRows;
use roadwright_geometry::math::atan2;
use roadwright_moves::{
    BodyOutline, Clip, ClipFile, ClipGround, Frame, Placement, RecordError, RecordedVehicle,
    Recording,
};
use roadwright_scenario::VehicleType;
use roadwright_scenario::vehicle_file::EXTENSION;
use roadwright_simulation::trace_columns;
use roadwright_vehicle::sheet::file_of_type;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Maximum difference in ground grip between clips on the bench.
const OTHER_GRIP: f64 = 0.05;
/// Maximum difference in ground slope between clips on the bench, as rise over run.
const OTHER_SLOPE: f64 = 0.03;
/// Speed below which slip is not counted, m/s. In tight turns at low speed, the centre of gravity
/// moves sideways although no tyre slips.
const SLOW: f64 = 5.0;

/// Properties shared by all clips on the bench.
#[derive(Debug, Clone, PartialEq)]
pub struct ClipSource {
    /// Frame rate, Hz.
    pub rate: f64,
    /// The recorded vehicle.
    pub vehicle: RecordedVehicle,
    /// Outline of the vehicle.
    pub body: BodyOutline,
    /// The ground on which the clips were driven.
    pub ground: ClipGround,
}

impl ClipSource {
    /// Returns the properties of clips of a vehicle type, with the ground taken from a recording.
    pub fn of_rows(kind: &VehicleType, rows: &ClipRows) -> Self {
        let file = kind.file.as_ref();
        let name = file.and_then(|file| {
            let name = file.path.rsplit('/').next()?;
            name.strip_suffix(EXTENSION)
        });
        Self {
            rate: rows.rate_hz,
            vehicle: RecordedVehicle {
                name: name.unwrap_or(&rows.vehicle_type).to_owned(),
                hash: file.map(|file| file.hash.clone()).unwrap_or_default(),
            },
            body: BodyOutline::of_file(&file_of_type(kind)),
            ground: ClipGround {
                grip: rows.grip,
                slope: rows.slope,
                load: 0.0,
            },
        }
    }

    /// Returns the properties of the clips in a file.
    pub fn of_file(file: &ClipFile) -> Self {
        Self {
            rate: file.rate,
            vehicle: file.vehicle.clone(),
            body: file.body,
            ground: file.ground,
        }
    }

    /// Whether clips with the properties of `self` and of `other` can share a file.
    pub fn fits(&self, other: &Self) -> bool {
        let (one, two) = (&self.ground, &other.ground);
        self.rate == other.rate
            && self.vehicle == other.vehicle
            && self.body == other.body
            && (one.grip - two.grip).abs() <= OTHER_GRIP
            && (one.slope - two.slope).abs() <= OTHER_SLOPE
    }

    /// Describes vehicle, frame rate and ground.
    pub fn words(&self) -> String {
        let Self {
            rate,
            vehicle,
            ground,
            ..
        } = self;
        let slope = 100.0 * ground.slope;
        format!(
            "{}, {rate:.0} frames a second, grip {:.2}, slope {slope:.0} %",
            vehicle.name, ground.grip
        )
    }
}

/// Returns the name of the mirror image of a clip.
pub(super) fn mirrored(name: &str) -> String {
    format!("{name} mirrored")
}

/// The clips of a bench as a file, with the number of frames trimmed from the start of each.
#[derive(Debug, Clone, PartialEq)]
pub struct TrimmedClips {
    /// The clips, trimmed and including mirror images.
    pub file: ClipFile,
    places: BTreeMap<String, ClipPlace>,
}

/// A clip in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ClipPlace {
    index: usize,
    /// Number of frames trimmed from the start of the clip.
    before: u32,
}

/// Kept frames of a clip.
#[derive(Clone, Copy)]
pub(super) struct KeptFrames<'a> {
    pub(super) frames: &'a [Frame],
    /// Number of frames trimmed before the kept ones.
    pub(super) before: u32,
}

impl TrimmedClips {
    /// Wraps the clips of a file, none of which is trimmed.
    pub fn whole(file: ClipFile) -> Self {
        Self::of(file, &BTreeMap::new())
    }

    /// Wraps the clips of a file. `before` is the number of frames trimmed from the start of each
    /// clip, by name.
    pub(super) fn of(file: ClipFile, before: &BTreeMap<String, u32>) -> Self {
        let places = file.clips.iter().enumerate().map(|(index, clip)| {
            let before = before.get(&clip.name).copied().unwrap_or_default();
            (clip.name.clone(), ClipPlace { index, before })
        });
        Self {
            places: places.collect(),
            file,
        }
    }

    /// Returns the kept frames of a clip; `None` if there is no clip with this name.
    pub(super) fn kept(&self, name: &str) -> Option<KeptFrames<'_>> {
        let place = self.places.get(name)?;
        Some(KeptFrames {
            frames: &self.file.clips[place.index].frames,
            before: place.before,
        })
    }
}

/// Range of frames that a clip keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trim {
    /// Index of the first frame.
    pub first: usize,
    /// Index of the last frame, after the first.
    pub last: usize,
}

/// A clip on the bench.
#[derive(Debug, Clone, PartialEq)]
pub struct BenchClip {
    /// Name of the clip.
    pub name: String,
    /// All recorded frames, at least two, at the positions where they were driven.
    pub frames: Arc<[Frame]>,
    /// The kept frames.
    pub trim: Trim,
    /// Whether the mirror image is used too.
    pub is_mirrored: bool,
    /// Run in which the clip was recorded; `None` for clips from files, whose place is unknown.
    pub origin: Option<ClipOrigin>,
}

/// The run in which a clip was recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClipOrigin {
    /// Number of the document in the window.
    pub epoch: u64,
    /// Key of the vehicle type.
    pub vehicle_type: String,
}

impl BenchClip {
    /// Creates a clip that keeps all its frames.
    pub fn new(name: &str, frames: &[Frame]) -> Self {
        Self {
            name: name.to_owned(),
            frames: frames.into(),
            trim: Trim {
                first: 0,
                last: frames.len() - 1,
            },
            is_mirrored: false,
            origin: None,
        }
    }

    /// Sets the kept frames. At least two are kept.
    pub fn set_trim(&mut self, trim: Trim) {
        let last = self.frames.len() - 1;
        let first = trim.first.min(last - 1);
        self.trim = Trim {
            first,
            last: trim.last.clamp(first + 1, last),
        };
    }

    /// Returns the kept frames.
    pub fn kept(&self) -> &[Frame] {
        &self.frames[self.trim.first..=self.trim.last]
    }

    /// Returns the first and last kept frames.
    pub fn ends(&self) -> [&Frame; 2] {
        [&self.frames[self.trim.first], &self.frames[self.trim.last]]
    }

    /// Returns the placements of the vehicle at every `step`-th kept frame, and at the last one.
    pub fn ghost(&self, step: usize) -> impl Iterator<Item = Placement> + '_ {
        let kept = self.kept();
        let last = kept.len() - 1;
        let frames = (0..last).step_by(step.max(1)).chain([last]);
        frames.map(|frame| Placement::of(kept[frame].pose))
    }

    /// Converts the kept frames to a clip that begins at the origin. `rate` is in Hz.
    pub(super) fn cut(&self, rate: f64) -> Clip {
        let recording = Recording {
            agent: 0,
            begin: 0.0,
            rate,
            frames: self.frames.to_vec(),
        };
        let Trim { first, last } = self.trim;
        let time = |frame: usize| frame as f64 / rate;
        let clip = recording.clip(&self.name, time(first), time(last));
        // The kept frames are within the recording.
        clip.unwrap_or_else(|_| Clip {
            name: self.name.clone(),
            frames: self.kept().to_vec(),
        })
    }
}

/// Reads the frames of recorded rows, in the same way as from a trace.
///
/// # Errors
/// If there are fewer than two rows.
pub fn recording(rows: &ClipRows, centre_of_gravity: f64) -> Result<Recording, RecordError> {
    let columns = trace_columns().map(str::to_owned);
    let lines = rows
        .rows
        .iter()
        .map(|(time, vehicle)| vehicle.trace_row(*time));
    let table: String = std::iter::once(columns)
        .chain(lines)
        .map(|row| row.join(",") + "\n")
        .collect();
    let mut recording = Recording::of_trace(&table, Some(rows.agent), centre_of_gravity)?;
    // The table contains rounded times.
    recording.rate = rows.rate_hz;
    Ok(recording)
}

/// Returns the largest slip angle of the vehicle in the given frames, rad: the angle between
/// heading and direction of travel.
pub fn largest_slip(frames: &[Frame]) -> f64 {
    let slips = frames.iter().map(|frame| {
        let (forward, sideways) = (frame.forward.abs(), frame.sideways.abs());
        match forward + sideways > SLOW {
            true => atan2(sideways, forward),
            false => 0.0,
        }
    });
    slips.fold(0.0, f64::max)
}
