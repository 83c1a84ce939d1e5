//! Clip files: `NAME.clips.json`.

use crate::body::BodyOutline;
use crate::frame::{Frame, FrameCommand, Gear, HeldPedals};
use crate::text::{MoveFileError, check_format, check_name, read};
use roadwright_geometry::math::wrap_angle;
use roadwright_geometry::{DVec2, Pose};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Value of the key `format`.
const FORMAT: &str = "roadwright-clips";
/// Maximum size of a clip file, bytes.
pub const LARGEST: u64 = 32 * 1024 * 1024;
/// Maximum number of frames in a clip, more than an hour at 25 Hz.
const MOST_FRAMES: usize = 100_000;
/// Maximum number of clips in a file.
const MOST_CLIPS: usize = 10_000;
/// Columns of a frame, in order.
pub const COLUMNS: [&str; 12] = [
    "x",
    "y",
    "heading",
    "forward",
    "sideways",
    "yaw_rate",
    "wheels",
    "steering",
    "acceleration",
    "throttle",
    "brake",
    "reverse",
];

/// Recorded clips of one vehicle on one kind of ground.
#[derive(Debug, Clone, PartialEq)]
pub struct ClipFile {
    /// Frame rate, Hz.
    pub rate: f64,
    /// The vehicle that was recorded.
    pub vehicle: RecordedVehicle,
    /// Outline of the vehicle.
    pub body: BodyOutline,
    /// The ground on which the clips were recorded.
    pub ground: ClipGround,
    /// The clips, with distinct names.
    pub clips: Vec<Clip>,
}

/// A recorded vehicle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedVehicle {
    /// Name of the vehicle file without the extension, or of the vehicle type.
    pub name: String,
    /// Hash of the vehicle file; empty if there is none.
    pub hash: String,
}

/// Ground and load of a recording.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClipGround {
    /// Grip relative to dry asphalt.
    pub grip: f64,
    /// Slope, m per m.
    pub slope: f64,
    /// Mass of the vehicle's load, kg.
    pub load: f64,
}

impl Default for ClipGround {
    fn default() -> Self {
        Self {
            grip: 1.0,
            slope: 0.0,
            load: 0.0,
        }
    }
}

/// A recorded stretch of driving.
#[derive(Debug, Clone, PartialEq)]
pub struct Clip {
    /// Name of the clip.
    pub name: String,
    /// Frames of the clip, one period apart.
    pub frames: Vec<Frame>,
}

impl Clip {
    /// Returns the clip mirrored left to right. " mirrored" is appended to its name.
    pub fn mirrored(&self) -> Self {
        Self {
            name: format!("{} mirrored", self.name),
            frames: self.frames.iter().map(Frame::mirrored).collect(),
        }
    }
}

/// Rounds a frame to the precision of clip files: 0.1 mm, 0.001 mrad, 0.1 mm/s.
pub fn rounded(frame: &Frame) -> Frame {
    let fine = |value: f64| decimal(value, 1e6);
    let coarse = |value: f64| decimal(value, 1e4);
    let Pose { position, heading } = frame.pose;
    Frame {
        pose: Pose {
            position: DVec2::new(coarse(position.x), coarse(position.y)),
            heading: fine(heading),
        },
        forward: coarse(frame.forward),
        sideways: coarse(frame.sideways),
        yaw_rate: fine(frame.yaw_rate),
        wheels: fine(frame.wheels),
        command: FrameCommand {
            steering: fine(frame.command.steering),
            acceleration: coarse(frame.command.acceleration),
            pedals: frame.command.pedals.map(|pedals| HeldPedals {
                throttle: coarse(pedals.throttle),
                brake: coarse(pedals.brake),
            }),
            gear: frame.command.gear,
        },
    }
}

fn decimal(value: f64, scale: f64) -> f64 {
    let rounded = (value * scale).round() / scale;
    // Avoids negative zero.
    if rounded == 0.0 { 0.0 } else { rounded }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    format: String,
    version: u32,
    rate: f64,
    vehicle: RecordedVehicle,
    body: BodyOutline,
    #[serde(default)]
    ground: ClipGround,
    columns: Vec<String>,
    clips: Vec<DocumentClip>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DocumentClip {
    name: String,
    frames: Vec<FrameRow>,
}

/// Values of a frame, in the order of [`COLUMNS`].
#[derive(Deserialize)]
struct FrameRow(
    f64,
    f64,
    f64,
    f64,
    f64,
    f64,
    f64,
    f64,
    f64,
    Option<f64>,
    Option<f64>,
    u8,
);

impl ClipFile {
    /// Reads a clip file.
    ///
    /// # Errors
    /// If the text is not a valid clip file. The error names the key and the reason.
    pub fn from_text(text: &str) -> Result<Self, MoveFileError> {
        let document: Document = read(text)?;
        check_format(&document.format, document.version, FORMAT)?;
        if document.columns != COLUMNS {
            let reason = format!("the columns of this version are {}", COLUMNS.join(", "));
            return Err(MoveFileError::at("columns", reason));
        }
        let mut clips = Vec::new();
        for (number, clip) in document.clips.into_iter().enumerate() {
            let mut frames = Vec::with_capacity(clip.frames.len());
            for (row, frame) in clip.frames.iter().enumerate() {
                let key = || format!("clips[{number}].frames[{row}]");
                frames.push(frame_of(frame).map_err(|reason| MoveFileError::at(key(), reason))?);
            }
            clips.push(Clip {
                name: clip.name,
                frames,
            });
        }
        let file = Self {
            rate: document.rate,
            vehicle: document.vehicle,
            body: document.body,
            ground: document.ground,
            clips,
        };
        file.check()?;
        Ok(file)
    }

    /// Checks that all values are in range.
    ///
    /// # Errors
    /// If a value is out of range. The error names the key of the first one.
    pub fn check(&self) -> Result<(), MoveFileError> {
        let Self {
            rate,
            vehicle,
            body,
            ground,
            clips,
        } = self;
        within("rate", *rate, 1.0, 1000.0)?;
        check_name("vehicle.name", &vehicle.name)?;
        within("body.front", body.front, 0.1, 50.0)?;
        within("body.rear", body.rear, 0.0, 50.0)?;
        within("body.half_width", body.half_width, 0.1, 10.0)?;
        within(
            "body.centre_of_gravity",
            body.centre_of_gravity,
            -50.0,
            50.0,
        )?;
        within("ground.grip", ground.grip, 0.0, 10.0)?;
        within("ground.slope", ground.slope, -1.0, 1.0)?;
        within("ground.load", ground.load, 0.0, 1e6)?;
        if clips.len() > MOST_CLIPS {
            let reason = format!("there are more than {MOST_CLIPS} clips");
            return Err(MoveFileError::at("clips", reason));
        }
        let mut names = BTreeSet::new();
        for (number, clip) in clips.iter().enumerate() {
            check_name(&format!("clips[{number}].name"), &clip.name)?;
            if !names.insert(&clip.name) {
                let reason = format!("duplicate clip \"{}\"", clip.name);
                return Err(MoveFileError::at(format!("clips[{number}].name"), reason));
            }
            if !(2..=MOST_FRAMES).contains(&clip.frames.len()) {
                let reason = format!("a clip must have 2 to {MOST_FRAMES} frames");
                return Err(MoveFileError::at(format!("clips[{number}].frames"), reason));
            }
            for (row, frame) in clip.frames.iter().enumerate() {
                let key = || format!("clips[{number}].frames[{row}]");
                check_frame(frame).map_err(|reason| MoveFileError::at(key(), reason))?;
            }
        }
        Ok(())
    }

    /// Returns the file as text, with one line per frame.
    pub fn to_text(&self) -> String {
        let Self {
            rate,
            vehicle,
            body,
            ground,
            clips,
        } = self;
        let plain = |value: &dyn erased::Text| value.text();
        let mut text = format!(
            "{{\n  \"format\": \"{FORMAT}\",\n  \"version\": 1,\n  \"rate\": {},\n  \"vehicle\": {},\n  \
             \"body\": {},\n  \"ground\": {},\n  \"columns\": {},\n  \"clips\": [",
            plain(rate),
            plain(vehicle),
            plain(body),
            plain(ground),
            plain(&COLUMNS),
        );
        for (number, clip) in clips.iter().enumerate() {
            let comma = if number == 0 { "" } else { "," };
            let _ = write!(
                text,
                "{comma}\n    {{\"name\": {}, \"frames\": [",
                plain(&clip.name)
            );
            for (row, frame) in clip.frames.iter().enumerate() {
                let comma = if row == 0 { "" } else { "," };
                let _ = write!(text, "{comma}\n      {}", row_of(frame));
            }
            text.push_str("\n    ]}");
        }
        text.push_str("\n  ]\n}\n");
        text
    }

    /// Hash of the text of the file: XXH3, 16 hexadecimal digits.
    pub fn hash(&self) -> String {
        roadwright_scenario::vehicle_file::hash(&self.to_text())
    }

    /// Returns the clip with this name; `None` if there is none.
    pub fn clip(&self, name: &str) -> Option<&Clip> {
        self.clips.iter().find(|clip| clip.name == name)
    }
}

/// Serialisation of values as JSON.
mod erased {
    pub(super) trait Text {
        fn text(&self) -> String;
    }

    impl<T: serde::Serialize> Text for T {
        fn text(&self) -> String {
            // Serialising plain data without maps cannot fail.
            serde_json::to_string(self).unwrap_or_default()
        }
    }
}

fn within(key: &str, value: f64, low: f64, high: f64) -> Result<(), MoveFileError> {
    if (low..=high).contains(&value) {
        return Ok(());
    }
    let reason = format!("{value} is outside {low} to {high}");
    Err(MoveFileError::at(key, reason))
}

/// Maximum absolute value of each numeric column.
const RANGES: [f64; 9] = [1e6, 1e6, 7.0, 300.0, 300.0, 100.0, 2.0, 2.0, 1000.0];

fn check_frame(frame: &Frame) -> Result<(), String> {
    for ((value, range), column) in numbers(frame).into_iter().zip(RANGES).zip(COLUMNS) {
        if !(-range..=range).contains(&value) {
            return Err(format!("{column}: {value} is outside -{range} to {range}"));
        }
    }
    if let Some(HeldPedals { throttle, brake }) = frame.command.pedals {
        for (value, column) in [(throttle, "throttle"), (brake, "brake")] {
            if !(0.0..=1.0).contains(&value) {
                return Err(format!("{column}: {value} is outside 0 to 1"));
            }
        }
    }
    Ok(())
}

fn numbers(frame: &Frame) -> [f64; 9] {
    [
        frame.pose.position.x,
        frame.pose.position.y,
        frame.pose.heading,
        frame.forward,
        frame.sideways,
        frame.yaw_rate,
        frame.wheels,
        frame.command.steering,
        frame.command.acceleration,
    ]
}

fn row_of(frame: &Frame) -> String {
    let mut cells: Vec<String> = numbers(&rounded(frame))
        .iter()
        .map(f64::to_string)
        .collect();
    match rounded(frame).command.pedals {
        Some(HeldPedals { throttle, brake }) => {
            cells.extend([throttle.to_string(), brake.to_string()]);
        }
        None => cells.extend(["null".to_owned(), "null".to_owned()]),
    }
    let reverse = match frame.command.gear {
        Gear::Forwards => "0",
        Gear::Reverse => "1",
    };
    cells.push(reverse.to_owned());
    format!("[{}]", cells.join(","))
}

fn frame_of(row: &FrameRow) -> Result<Frame, String> {
    let pedals = match (row.9, row.10) {
        (Some(throttle), Some(brake)) => Some(HeldPedals { throttle, brake }),
        (None, None) => None,
        _ => return Err("throttle and brake must be given together".to_owned()),
    };
    let gear = match row.11 {
        0 => Gear::Forwards,
        1 => Gear::Reverse,
        other => return Err(format!("reverse: {other} is neither 0 nor 1")),
    };
    Ok(Frame {
        pose: Pose {
            position: DVec2::new(row.0, row.1),
            heading: row.2,
        },
        forward: row.3,
        sideways: row.4,
        yaw_rate: row.5,
        wheels: row.6,
        command: FrameCommand {
            steering: row.7,
            acceleration: row.8,
            pedals,
            gear,
        },
    })
}

/// Change of heading over a clip, rad. Whole turns are included.
pub fn turned(frames: &[Frame]) -> f64 {
    let pairs = frames.windows(2);
    let turns = pairs.map(|pair| wrap_angle(pair[1].pose.heading - pair[0].pose.heading));
    turns.sum()
}

/// Returns a file with clips of a car on plain ground, at 25 Hz.
#[cfg(test)]
pub(crate) fn file_of_car(clips: Vec<Clip>) -> ClipFile {
    ClipFile {
        rate: 25.0,
        vehicle: RecordedVehicle {
            name: "car".to_owned(),
            hash: String::new(),
        },
        body: BodyOutline {
            front: 2.7,
            rear: 0.7,
            half_width: 0.8,
            centre_of_gravity: 1.0,
        },
        ground: ClipGround::default(),
        clips,
    }
}
