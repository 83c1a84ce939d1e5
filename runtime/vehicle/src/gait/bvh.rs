//! Reads motion capture recordings in the Biovision Hierarchy format (BVH).
//!
//! Only the positions of five joints are used: hips, feet and shoulders. All joints are read,
//! because the rotation of a joint moves the joints below it.

use super::cycle::Frame;
use glam::{DMat3, DVec3};
use roadwright_geometry::math::{cos, sin};
use std::fmt;
use std::str::FromStr;

/// Maximum number of joints.
const MOST_JOINTS: usize = 1000;
/// Maximum depth of the hierarchy.
const MOST_DEPTH: usize = 100;
/// Maximum number of frames.
const MOST_FRAMES: usize = 100_000;
/// Maximum number of values over all frames.
const MOST_VALUES: usize = 20_000_000;
/// Height of the hips above which the unit of the file is assumed to be centimetres, in the unit of
/// the file.
const CENTIMETRES_FROM: f64 = 10.0;

/// A joint that a step cycle needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The hips.
    Hips,
    /// The left foot.
    LeftFoot,
    /// The right foot.
    RightFoot,
    /// The left shoulder.
    LeftShoulder,
    /// The right shoulder.
    RightShoulder,
}

impl Role {
    /// All roles.
    pub const ALL: [Self; 5] = [
        Self::Hips,
        Self::LeftFoot,
        Self::RightFoot,
        Self::LeftShoulder,
        Self::RightShoulder,
    ];

    /// Name of the role, as in `--joint left_foot=NAME`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Hips => "hips",
            Self::LeftFoot => "left_foot",
            Self::RightFoot => "right_foot",
            Self::LeftShoulder => "left_shoulder",
            Self::RightShoulder => "right_shoulder",
        }
    }

    /// Common names of the joint, in lower case and without separators.
    fn usual(self) -> &'static [&'static str] {
        match self {
            Self::Hips => &["hips", "hip", "pelvis", "root"],
            Self::LeftFoot => &["leftfoot", "lfoot", "footl", "leftankle", "lankle"],
            Self::RightFoot => &["rightfoot", "rfoot", "footr", "rightankle", "rankle"],
            Self::LeftShoulder => &[
                "leftarm",
                "leftuparm",
                "lshoulder",
                "leftshoulder",
                "upperarml",
                "lupperarm",
            ],
            Self::RightShoulder => &[
                "rightarm",
                "rightuparm",
                "rshoulder",
                "rightshoulder",
                "upperarmr",
                "rupperarm",
            ],
        }
    }
}

impl FromStr for Role {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|role| role.name() == text);
        found.ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            format!("\"{text}\" is not a joint of a cycle; use one of {names}")
        })
    }
}

/// A joint of a recording, assigned to a role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedJoint {
    /// The role.
    pub role: Role,
    /// Name of the joint in the file.
    pub joint: String,
}

/// Reason why a text cannot be read as a recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BvhError {
    /// Line number, starting at 1; 0 if the error concerns the whole text.
    pub line: usize,
    /// The reason, in words for the user.
    pub reason: String,
}

impl fmt::Display for BvhError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.reason),
            line => write!(f, "line {line}: {}", self.reason),
        }
    }
}

impl std::error::Error for BvhError {}

/// A value that each frame contains for a joint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Channel {
    /// Position along an axis.
    Position(usize),
    /// Rotation about an axis.
    Rotation(usize),
}

#[derive(Debug, Clone)]
struct Joint {
    name: String,
    parent: Option<usize>,
    offset: DVec3,
    channels: Vec<Channel>,
}

/// A motion recording.
#[derive(Debug, Clone)]
pub struct Bvh {
    joints: Vec<Joint>,
    /// Time between consecutive frames, s.
    pub frame_time: f64,
    /// Number of values per frame.
    width: usize,
    values: Vec<f64>,
}

/// A word of the text, and its line.
#[derive(Clone, Copy)]
struct Word<'a> {
    text: &'a str,
    line: usize,
}

struct Words<'a> {
    words: Box<dyn Iterator<Item = Word<'a>> + 'a>,
    line: usize,
}

impl<'a> Words<'a> {
    fn new(text: &'a str) -> Self {
        let lines = (1..).zip(text.lines());
        let words = lines
            .flat_map(|(line, text)| text.split_whitespace().map(move |text| Word { text, line }));
        Self {
            words: Box::new(words),
            line: 1,
        }
    }

    fn fail<T>(&self, reason: impl Into<String>) -> Result<T, BvhError> {
        Err(BvhError {
            line: self.line,
            reason: reason.into(),
        })
    }

    fn next(&mut self, expected: &str) -> Result<&'a str, BvhError> {
        match self.words.next() {
            Some(word) => {
                self.line = word.line;
                Ok(word.text)
            }
            None => self.fail(format!("the file ends unexpectedly; expected {expected}")),
        }
    }

    fn expect(&mut self, word: &str) -> Result<(), BvhError> {
        let found = self.next(&format!("\"{word}\""))?;
        match found.eq_ignore_ascii_case(word) {
            true => Ok(()),
            false => self.fail(format!("found \"{found}\"; expected \"{word}\"")),
        }
    }

    fn number(&mut self, what: &str) -> Result<f64, BvhError> {
        let text = self.next(what)?;
        match text.parse::<f64>() {
            Ok(value) if value.abs() < 1e9 => Ok(value),
            _ => self.fail(format!(
                "\"{text}\" is not a number below 1e9; expected {what}"
            )),
        }
    }

    fn count(&mut self, what: &str, most: usize) -> Result<usize, BvhError> {
        let text = self.next(what)?;
        match text.parse::<usize>() {
            Ok(value) if value <= most => Ok(value),
            _ => self.fail(format!(
                "\"{text}\" is not a whole number up to {most}; expected {what}"
            )),
        }
    }

    fn point(&mut self) -> Result<DVec3, BvhError> {
        let x = self.number("an offset along x")?;
        let y = self.number("an offset along y")?;
        let z = self.number("an offset along z")?;
        Ok(DVec3::new(x, y, z))
    }
}

impl Bvh {
    /// Reads a recording. Memory and time are proportional to the length of the text.
    ///
    /// # Errors
    /// If the text does not have the format. The error contains the line and the reason.
    pub fn from_text(text: &str) -> Result<Self, BvhError> {
        let mut words = Words::new(text);
        words.expect("HIERARCHY")?;
        words.expect("ROOT")?;
        let joints = joints(&mut words)?;
        words.expect("MOTION")?;
        words.expect("Frames:")?;
        let frames = words.count("the number of frames", MOST_FRAMES)?;
        words.expect("Frame")?;
        words.expect("Time:")?;
        let frame_time = words.number("the time of a frame")?;
        if frame_time <= 0.0 {
            return words.fail("the time of a frame is not positive");
        }
        let width: usize = joints.iter().map(|joint| joint.channels.len()).sum();
        if frames * width > MOST_VALUES {
            return words.fail(format!(
                "{frames} frames of {width} values are too many; cut one cycle of two steps from the recording"
            ));
        }
        let mut values = Vec::new();
        for _ in 0..frames * width {
            values.push(words.number("a value of a frame")?);
        }
        Ok(Self {
            joints,
            frame_time,
            width,
            values,
        })
    }

    /// Number of frames.
    pub fn frames(&self) -> usize {
        self.values.len() / self.width.max(1)
    }

    /// Names of the joints, starting at the root.
    pub fn joints(&self) -> impl Iterator<Item = &str> {
        self.joints.iter().map(|joint| joint.name.as_str())
    }

    /// Returns the positions of a cycle's joints in each frame. Joints that are not in `named` are
    /// found by their common names. `scale` is the length of a unit of the file, m. With `None`,
    /// the unit is assumed to be a metre, or a centimetre if the hips are more than 10 units high.
    ///
    /// # Errors
    ///
    /// If a joint is not found. The error contains the names of all joints.
    pub fn cycle_frames(
        &self,
        named: &[NamedJoint],
        scale: Option<f64>,
    ) -> Result<Vec<Frame>, BvhError> {
        let mut found = [0; Role::ALL.len()];
        for (to, role) in found.iter_mut().zip(Role::ALL) {
            *to = self.find(role, named)?;
        }
        let [hips, left_foot, right_foot, left_shoulder, right_shoulder] = found;
        let mut frames: Vec<Frame> = (0..self.frames())
            .map(|frame| {
                let places = self.places(frame);
                Frame {
                    hips: places[hips],
                    feet: [places[left_foot], places[right_foot]],
                    shoulders: [places[left_shoulder], places[right_shoulder]],
                }
            })
            .collect();
        let highest = frames.iter().map(|frame| frame.hips.z).fold(0.0, f64::max);
        let usual = if highest > CENTIMETRES_FROM {
            0.01
        } else {
            1.0
        };
        let scale = scale.unwrap_or(usual);
        for frame in &mut frames {
            let Frame {
                hips,
                feet,
                shoulders,
            } = frame;
            for joint in feet.iter_mut().chain(shoulders).chain([hips]) {
                *joint *= scale;
            }
        }
        Ok(frames)
    }

    fn find(&self, role: Role, named: &[NamedJoint]) -> Result<usize, BvhError> {
        let given = named.iter().find(|one| one.role == role);
        let position = |name: &str| self.joints.iter().position(|joint| joint.name == name);
        let found = match given {
            Some(given) => position(&given.joint),
            None => role.usual().iter().find_map(|usual| {
                let mut joints = self.joints.iter();
                joints.position(|joint| simple(&joint.name) == *usual)
            }),
        };
        found.ok_or_else(|| {
            let joints: Vec<&str> = self.joints().collect();
            let what = match given {
                Some(given) => format!("there is no joint \"{}\"", given.joint),
                None => format!(
                    "no joint has a common name for the {}",
                    role.name().replace('_', " ")
                ),
            };
            BvhError {
                line: 0,
                reason: format!(
                    "{what}; specify it with {}=NAME, where NAME is one of {}",
                    role.name(),
                    joints.join(", ")
                ),
            }
        })
    }

    /// Positions of all joints in a frame, with x and y on the ground and z upwards.
    fn places(&self, frame: usize) -> Vec<DVec3> {
        let mut values = self.values[frame * self.width..].iter().copied();
        let mut poses: Vec<(DMat3, DVec3)> = Vec::with_capacity(self.joints.len());
        for joint in &self.joints {
            let mut offset = joint.offset;
            let mut rotation = DMat3::IDENTITY;
            for channel in &joint.channels {
                let value = values.next().unwrap_or(0.0);
                match *channel {
                    Channel::Position(axis) => offset[axis] += value,
                    Channel::Rotation(axis) => rotation *= turned(axis, value.to_radians()),
                }
            }
            let (of_parent, place) = joint
                .parent
                .map_or((DMat3::IDENTITY, DVec3::ZERO), |parent| poses[parent]);
            poses.push((of_parent * rotation, place + of_parent * offset));
        }
        // In the file format, y points up and z points towards the viewer.
        let upright = |place: DVec3| DVec3::new(place.x, -place.z, place.y);
        poses.into_iter().map(|(_, place)| upright(place)).collect()
    }
}

/// Converts a name to lower case, without separators and without a prefix such as `mixamorig:`.
fn simple(name: &str) -> String {
    let name = name.rsplit(':').next().unwrap_or(name);
    let letters = name.chars().filter(|letter| letter.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

/// Returns the rotation matrix for an axis and an angle in rad.
fn turned(axis: usize, angle: f64) -> DMat3 {
    let (s, c) = (sin(angle), cos(angle));
    let columns = match axis {
        0 => [[1.0, 0.0, 0.0], [0.0, c, s], [0.0, -s, c]],
        1 => [[c, 0.0, -s], [0.0, 1.0, 0.0], [s, 0.0, c]],
        _ => [[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]],
    };
    DMat3::from_cols_array_2d(&columns)
}

/// Reads the joints of the hierarchy. Parents come before their children.
fn joints(words: &mut Words<'_>) -> Result<Vec<Joint>, BvhError> {
    let mut joints: Vec<Joint> = Vec::new();
    // Joints whose braces are open; `None` for an end site.
    let mut open: Vec<Option<usize>> = Vec::new();
    begin(words, &mut joints, &mut open)?;
    while let Some(&current) = open.last() {
        let word = words.next("\"OFFSET\", \"CHANNELS\", \"JOINT\", \"End\" or \"}\"")?;
        match (word.to_ascii_uppercase().as_str(), current) {
            ("OFFSET", Some(joint)) => joints[joint].offset = words.point()?,
            ("OFFSET", None) => {
                words.point()?;
            }
            ("CHANNELS", Some(joint)) => joints[joint].channels = channels(words)?,
            ("JOINT", Some(_)) => begin(words, &mut joints, &mut open)?,
            ("END", Some(_)) => {
                words.expect("Site")?;
                words.expect("{")?;
                open.push(None);
            }
            ("}", _) => {
                open.pop();
            }
            _ => return words.fail(format!("unexpected \"{word}\" in the hierarchy")),
        }
    }
    Ok(joints)
}

fn begin(
    words: &mut Words<'_>,
    joints: &mut Vec<Joint>,
    open: &mut Vec<Option<usize>>,
) -> Result<(), BvhError> {
    let name = words.next("the name of a joint")?.to_owned();
    words.expect("{")?;
    if joints.len() >= MOST_JOINTS || open.len() >= MOST_DEPTH {
        return words.fail(format!(
            "the hierarchy has more than {MOST_JOINTS} joints or is deeper than {MOST_DEPTH}"
        ));
    }
    let parent = open.last().copied().flatten();
    joints.push(Joint {
        name,
        parent,
        offset: DVec3::ZERO,
        channels: Vec::new(),
    });
    open.push(Some(joints.len() - 1));
    Ok(())
}

fn channels(words: &mut Words<'_>) -> Result<Vec<Channel>, BvhError> {
    let count = words.count("the number of channels", 6)?;
    let mut channels = Vec::new();
    for _ in 0..count {
        let name = words.next("a channel")?;
        let lower = name.to_ascii_lowercase();
        let axis = ["x", "y", "z"]
            .iter()
            .position(|axis| lower.starts_with(axis));
        channels.push(match (axis, lower.get(1..)) {
            (Some(axis), Some("position")) => Channel::Position(axis),
            (Some(axis), Some("rotation")) => Channel::Rotation(axis),
            _ => {
                return words.fail(format!(
                    "\"{name}\" is not a channel; expected Xposition, Yrotation and so on"
                ));
            }
        });
    }
    Ok(channels)
}

#[cfg(test)]
mod tests {
    use super::super::{Cycle, Gait};
    use super::*;
    use proptest::prelude::*;

    const SHIPPED: [&str; 2] = [
        include_str!("../../../../scenarios/gaits/walk.bvh"),
        include_str!("../../../../scenarios/gaits/jog.bvh"),
    ];

    fn gait_of(text: &str) -> Gait {
        let bvh = Bvh::from_text(text).unwrap();
        let frames = bvh.cycle_frames(&[], None).unwrap();
        Cycle::factored(&frames, bvh.frame_time)
            .unwrap()
            .gait()
            .unwrap()
    }

    #[test]
    fn shipped_recordings_have_the_shipped_gaits() {
        for (text, expected) in SHIPPED.into_iter().zip([Gait::walk(), Gait::jog()]) {
            let gait = gait_of(text);
            assert!((gait.speed - expected.speed).abs() < 0.01, "{gait:?}");
            assert!((gait.duration - expected.duration).abs() < 0.01, "{gait:?}");
            assert!((gait.duty - expected.duty).abs() < 0.08, "{gait:?}");
            assert!(
                (gait.half_width - expected.half_width).abs() < 0.01,
                "{gait:?}"
            );
            assert!((gait.lift - expected.lift).abs() < 0.03, "{gait:?}");
            assert!((gait.twist - expected.twist).abs() < 0.03, "{gait:?}");
        }
    }

    #[test]
    fn joints_are_mapped_by_name() {
        let renamed = SHIPPED[0].replace("LeftFoot", "Foot-A");
        let bvh = Bvh::from_text(&renamed).unwrap();
        let error = bvh.cycle_frames(&[], None).unwrap_err();
        assert!(error.reason.contains("left foot"), "{error}");
        assert!(error.reason.contains("Foot-A"), "{error}");
        let named = |joint: &str| NamedJoint {
            role: "left_foot".parse().unwrap(),
            joint: joint.into(),
        };
        assert!(bvh.cycle_frames(&[named("Foot-A")], None).is_ok());
        let error = bvh.cycle_frames(&[named("Foot-B")], None).unwrap_err();
        assert!(error.reason.contains("\"Foot-B\""), "{error}");
        assert!("foot".parse::<Role>().is_err());
    }

    #[test]
    fn rotations_move_the_joints_below() {
        let text = "HIERARCHY ROOT a { OFFSET 0 1 0 CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation \
                    Yrotation JOINT b { OFFSET 0 -1 0 CHANNELS 1 Zrotation End Site { OFFSET 0 -1 0 } } } \
                    MOTION Frames: 1 Frame Time: 0.5 2 3 4 90 0 0 0";
        let bvh = Bvh::from_text(text).unwrap();
        assert_eq!(bvh.joints().collect::<Vec<_>>(), ["a", "b"]);
        let places = bvh.places(0);
        assert!((places[0] - DVec3::new(2.0, -4.0, 4.0)).length() < 1e-12);
        // A quarter turn to the left about the axis towards the viewer moves the child joint to the
        // right.
        assert!((places[1] - DVec3::new(3.0, -4.0, 4.0)).length() < 1e-12);
    }

    #[test]
    fn errors_name_the_line_and_what_was_expected() {
        let line = |from: &str, to: &str| {
            let error = Bvh::from_text(&SHIPPED[0].replacen(from, to, 1)).unwrap_err();
            assert!(error.line > 0, "{error}");
            error.to_string()
        };
        assert!(line("HIERARCHY", "hello").contains("expected \"HIERARCHY\""));
        assert!(line("Xposition", "Wposition").contains("not a channel"));
        assert!(line("OFFSET", "OFSET").contains("unexpected"));
        assert!(line("Frames:", "Frames").contains("expected \"Frames:\""));
        let cut = &SHIPPED[0][..SHIPPED[0].len() - 40];
        assert!(
            Bvh::from_text(cut)
                .unwrap_err()
                .reason
                .contains("ends unexpectedly")
        );
        assert!(Bvh::from_text("").unwrap_err().reason.contains("HIERARCHY"));
    }

    proptest! {
        /// Checks that nothing panics, whatever is removed from a recording or inserted into it.
        #[test]
        fn damaged_recordings_are_refused_or_read(
            at in 0usize..6000,
            cut in 0usize..40,
            put in "[ {}A-Za-z0-9.\\-\n]{0,12}",
        ) {
            let text = SHIPPED[0];
            let from = at.min(text.len());
            let to = (from + cut).min(text.len());
            let damaged = format!("{}{put}{}", &text[..from], &text[to..]);
            if let Ok(bvh) = Bvh::from_text(&damaged)
                && let Ok(frames) = bvh.cycle_frames(&[], None)
                && let Ok(cycle) = Cycle::factored(&frames, bvh.frame_time)
            {
                let _ = cycle.gait();
            }
        }

        #[test]
        fn any_text_is_refused_or_read(text in "(HIERARCHY|ROOT|JOINT|End Site|OFFSET|CHANNELS|MOTION|[{}]|[0-9.e+-]{1,6}|\\s){0,60}") {
            let _ = Bvh::from_text(&text);
        }
    }
}
