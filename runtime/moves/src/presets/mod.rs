//! The move trees of [Adam 2007], recorded from a scripted sliding car.
//!
//! The 5- and 7-branch trees (figure 4.1) have one state and moves of 25 frames, with speeds that jump
//! between moves. The large tree (figure 4.4) has seven states, and its moves fit together. The clips of the
//! source were recorded by hand and the source prints neither speeds nor angles, so these values were chosen
//! for this program.

mod car;

use crate::body::BodyOutline;
use crate::clips::{Clip, ClipFile, ClipGround, RecordedVehicle};
use crate::frame::{Frame, Gear};
use crate::graph::{MoveEntry, MoveFile};
use car::{Goal, Hold, ScriptedCar, Shape};
use roadwright_scenario::vehicle_file::{SHIPPED, VehicleFile};
use std::f64::consts::FRAC_PI_2;

/// Frame rate of the source, Hz.
pub const RATE: f64 = 25.0;
/// Name of the recorded vehicle.
const VEHICLE: &str = "sliding-racer";

/// A move tree that ships with the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preset {
    /// Five moves in one state.
    Five,
    /// Seven moves in one state.
    Seven,
    /// Seven states from standstill to fast, with turns and skids.
    Large,
    /// The large tree, with skids that turn by several angles.
    LargeAngles,
    /// The large tree without skids, for comparison.
    LargeWithoutSkids,
    /// The large tree with a lower top speed, from which the car can stop within a horizon of 49
    /// frames. It does not ship with the program.
    LargeSlow,
    /// Short moves from standstill to standstill, forwards and in reverse: section 5.7.
    Shunting,
}

/// A recorded move tree: the clips and their graph.
#[derive(Debug, Clone, PartialEq)]
pub struct Recorded {
    /// Recorded clips of the tree.
    pub clips: ClipFile,
    /// Move graph that refers to the clips.
    pub graph: MoveFile,
}

impl Preset {
    /// The presets that ship with the program.
    pub const ALL: [Self; 6] = [
        Self::Five,
        Self::Seven,
        Self::Large,
        Self::LargeAngles,
        Self::LargeWithoutSkids,
        Self::Shunting,
    ];

    /// Name of the preset in file names and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Five => "five",
            Self::Seven => "seven",
            Self::Large => "large",
            Self::LargeAngles => "large-angles",
            Self::LargeWithoutSkids => "large-without-skids",
            Self::LargeSlow => "large-slow",
            Self::Shunting => "shunting",
        }
    }

    /// Records the clips from the sliding car. The result is the same on every machine.
    ///
    /// # Panics
    /// Never: the vehicle ships with the program.
    pub fn record(self) -> Recorded {
        let shipped = SHIPPED.iter().find(|one| one.name == VEHICLE);
        let text = shipped
            .expect("the sliding racer ships with the program")
            .text;
        let file = VehicleFile::from_text(text).expect("shipped vehicles are valid");
        let car = ScriptedCar::of_file(&file, RATE)
            .expect("the shipped sliding racer supports the sliding level");
        let moves = match self {
            Self::Five => small(&car, &SMALL[..3]),
            Self::Seven => small(&car, &SMALL),
            Self::Large => large(&car, &QUICK, &SKIDS),
            Self::LargeAngles => large(&car, &QUICK, &SKIDS_OF_SEVERAL_ANGLES),
            Self::LargeWithoutSkids => large(&car, &QUICK, &[]),
            Self::LargeSlow => large(&car, &SLOW, &SKIDS),
            Self::Shunting => shunting(&car),
        };
        let states = match self {
            Self::Five | Self::Seven => vec!["Drive".to_owned()],
            Self::Large | Self::LargeAngles | Self::LargeWithoutSkids | Self::LargeSlow => {
                STATES.map(str::to_owned).to_vec()
            }
            Self::Shunting => vec![STATES[STOP].to_owned()],
        };
        let clips = ClipFile {
            rate: RATE,
            vehicle: RecordedVehicle {
                name: VEHICLE.to_owned(),
                hash: roadwright_scenario::vehicle_file::hash(text),
            },
            body: BodyOutline::of_file(&file),
            ground: ClipGround::default(),
            clips: moves
                .iter()
                .map(|one| Clip {
                    name: one.name.clone(),
                    frames: one.frames.iter().map(crate::clips::rounded).collect(),
                })
                .collect(),
        };
        let graph = MoveFile {
            clips: format!("{}.clips.json", self.name()),
            clips_hash: clips.hash(),
            threshold: match self {
                Self::Five | Self::Seven => None,
                Self::Large
                | Self::LargeAngles
                | Self::LargeWithoutSkids
                | Self::LargeSlow
                | Self::Shunting => Some(0.5),
            },
            start: states[0].clone(),
            moves: moves
                .iter()
                .map(|one| MoveEntry {
                    clip: one.name.clone(),
                    first: 0,
                    last: one.frames.len() as u32 - 1,
                    from: states[one.from].clone(),
                    to: states[one.to].clone(),
                })
                .collect(),
            states,
        };
        Recorded { clips, graph }
    }
}

/// A clip with the states in which it starts and ends.
struct Scripted {
    name: String,
    from: usize,
    to: usize,
    frames: Vec<Frame>,
}

/// A move of a small tree. A turn represents two moves, one to the left and one to the right.
struct SmallTurn {
    name: &'static str,
    /// Speed, m/s.
    speed: f64,
    /// Yaw rate, rad/s.
    turn: f64,
}

/// Moves of the small trees. The 5-branch tree uses the first three.
const SMALL: [SmallTurn; 4] = [
    small_turn("straight", 30.0, 0.0),
    small_turn("wide", 22.0, 0.45),
    small_turn("tight", 14.0, 0.95),
    small_turn("sharp", 11.0, 1.4),
];
/// Duration of the moves of the small trees, frames.
const SECOND: u32 = 25;

const fn small_turn(name: &'static str, speed: f64, turn: f64) -> SmallTurn {
    SmallTurn { name, speed, turn }
}

fn small(car: &ScriptedCar, turns: &[SmallTurn]) -> Vec<Scripted> {
    let mut all = Vec::new();
    for one in turns {
        let frames = car.steady(one.speed, one.turn, SECOND);
        let sides = if one.turn == 0.0 {
            Sides::One
        } else {
            Sides::Both
        };
        pair(&mut all, one.name, Ends::AT_ONE, frames, sides);
    }
    all
}

/// Indices of the states in which a clip starts and ends.
#[derive(Debug, Clone, Copy)]
struct Ends {
    from: usize,
    to: usize,
}

impl Ends {
    /// The clip starts and ends in the only state.
    const AT_ONE: Self = Self { from: 0, to: 0 };
}

/// Whether a clip is recorded for one side or for both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sides {
    One,
    Both,
}

/// Adds a clip and, for a turn, its mirror image. The sliding car is symmetric, so recording with opposite
/// steering would give exactly this image.
fn pair(all: &mut Vec<Scripted>, name: &str, ends: Ends, frames: Vec<Frame>, sides: Sides) {
    let Ends { from, to } = ends;
    let mut add = |name: String, frames: Vec<Frame>| {
        all.push(Scripted {
            name,
            from,
            to,
            frames,
        });
    };
    if sides == Sides::One {
        add(name.to_owned(), frames);
        return;
    }
    let mirrored = frames.iter().map(Frame::mirrored).collect();
    add(format!("{name} left"), frames);
    add(format!("{name} right"), mirrored);
}

/// States of the large tree, slowest first. Their speeds are equally spaced.
const STATES: [&str; 7] = ["Stop", "sm1", "sm2", "Medium", "mf1", "mf2", "Fast"];
const STOP: usize = 0;
const MEDIUM: usize = 3;
const MF1: usize = 4;
const MF2: usize = 5;
const FAST: usize = 6;

/// Speeds and turns of a large tree.
struct Pace {
    /// Speed of the fastest state, m/s.
    top: f64,
    /// Duration of braking from a state to the next slower one, frames.
    braking: u32,
    turns: [LargeTurn; 7],
}

impl Pace {
    /// Speed of a state, m/s.
    fn speed(&self, state: usize) -> f64 {
        self.top * state as f64 / FAST as f64
    }
}

/// Pace of the racer. From state to state, it slows down by 4 m/s. It brakes at 7.1 m/s^2 of the 8
/// m/s^2 that its brakes can provide, so a plan that has to stop from the highest speed needs less
/// than 3.5 s.
const QUICK: Pace = Pace {
    top: 24.0,
    braking: 14,
    turns: TURNS,
};
/// Pace for a horizon of 49 frames. A second of such a plan remains after its first move. The car
/// brakes at 6.5 m/s^2, so within the distance covered by the rest of the plan it can stop from the
/// highest speed.
const SLOW: Pace = Pace {
    top: 14.0,
    braking: 9,
    turns: SLOW_TURNS,
};

/// A turn at a state of the large tree.
struct LargeTurn {
    name: &'static str,
    level: usize,
    /// Change of heading, rad.
    turn: f64,
    /// Durations of the three holds, frames.
    holds: [u32; 3],
    /// Duration of the last hold, with straight wheels, frames. The wheels must be straight at its
    /// end, because moves are joined by speeds alone, and a vehicle whose wheels are still turned
    /// would turn too far in the next clip.
    straight: u32,
}

const TURNS: [LargeTurn; 7] = [
    turn("medium slight", MEDIUM, 0.2, [8, 8, 6, 3]),
    turn("medium wide", MEDIUM, 0.5, [10, 10, 8, 3]),
    turn("medium tight", MEDIUM, 1.0, [12, 12, 10, 3]),
    turn("medium sharp", MEDIUM, FRAC_PI_2, [16, 14, 10, 3]),
    turn("fast slight", FAST, 0.1, [8, 8, 6, 3]),
    turn("fast wide", FAST, 0.35, [10, 10, 8, 4]),
    turn("fast tight", FAST, 0.8, [12, 12, 10, 4]),
];

/// Turns at lower speeds.
const SLOW_TURNS: [LargeTurn; 7] = [
    turn("medium slight", MEDIUM, 0.2, [8, 8, 6, 3]),
    turn("medium wide", MEDIUM, 0.5, [10, 10, 8, 3]),
    turn("medium tight", MEDIUM, 0.85, [12, 12, 10, 3]),
    turn("medium sharp", MEDIUM, 1.2, [16, 14, 10, 3]),
    turn("fast slight", FAST, 0.16, [8, 8, 6, 3]),
    turn("fast wide", FAST, 0.55, [10, 10, 8, 4]),
    turn("fast tight", FAST, 1.0, [12, 12, 10, 4]),
];

/// Creates a turn. `frames` are the durations of the three holds and of the last hold.
const fn turn(name: &'static str, level: usize, turn: f64, frames: [u32; 4]) -> LargeTurn {
    let [first, second, third, straight] = frames;
    LargeTurn {
        name,
        level,
        turn,
        holds: [first, second, third],
        straight,
    }
}

/// Duration of the last hold of a skid, with straight wheels, frames.
const STRAIGHT: u32 = 3;
/// Durations of the holds of a skid of up to [`WIDEST`] rad, frames.
const SKID: [u32; 3] = [20, 16, 12];
/// Durations of the holds of a wider skid, frames.
const WIDE_SKID: [u32; 3] = [30, 16, 14];
/// Maximum change of heading for which [`SKID`] is used, rad.
const WIDEST: f64 = 1.6;

/// A skid from the fastest state.
struct Skid {
    /// Change of heading, rad.
    turn: f64,
    /// State at the end.
    to: usize,
}

const SKIDS: [Skid; 1] = [skid(FRAC_PI_2, MEDIUM)];
/// Skids by several angles. The smaller the angle, the less speed is lost.
const SKIDS_OF_SEVERAL_ANGLES: [Skid; 4] = [
    skid(0.94, MF2),
    skid(1.26, MF1),
    skid(FRAC_PI_2, MEDIUM),
    skid(1.95, MEDIUM),
];

const fn skid(turn: f64, to: usize) -> Skid {
    Skid { turn, to }
}

fn large(car: &ScriptedCar, pace: &Pace, skids: &[Skid]) -> Vec<Scripted> {
    let mut all = Vec::new();
    for (from, name) in STATES.iter().enumerate() {
        let mut straight = |word: &str, to: usize| {
            let frames = if to < from { pace.braking } else { SECOND };
            let speeds = [from, to].map(|state| pace.speed(state));
            all.push(Scripted {
                name: format!("{name} {word}"),
                from,
                to,
                frames: change_of_speed(car, speeds, frames),
            });
        };
        if from < FAST {
            straight("gain", from + 1);
        }
        straight("hold", from);
        if from > STOP {
            straight("lose", from - 1);
        }
    }
    for one in &pace.turns {
        let speed = pace.speed(one.level);
        let shape = Shape {
            speed,
            holds: one.holds,
            straight: one.straight,
        };
        let goal = Goal {
            turn: one.turn,
            speed,
        };
        let ends = Ends {
            from: one.level,
            to: one.level,
        };
        let frames = car.manoeuvre(&shape, &goal);
        pair(&mut all, one.name, ends, frames, Sides::Both);
    }
    let stopped = Ends {
        from: STOP,
        to: STOP,
    };
    let frames = car.drive(0.0, &OFF_AND_ROUND);
    pair(&mut all, "stop turn", stopped, frames, Sides::Both);
    for one in skids {
        let name = if skids.len() == 1 {
            "skid".to_owned()
        } else {
            format!("skid {:.0}", one.turn.to_degrees())
        };
        let shape = Shape {
            speed: pace.top,
            holds: if one.turn > WIDEST { WIDE_SKID } else { SKID },
            straight: STRAIGHT,
        };
        let goal = Goal {
            turn: one.turn,
            speed: pace.speed(one.to),
        };
        let ends = Ends {
            from: FAST,
            to: one.to,
        };
        let frames = car.manoeuvre(&shape, &goal);
        pair(&mut all, &name, ends, frames, Sides::Both);
    }
    all
}

/// Drives off from standstill, turns round and stops.
const OFF_AND_ROUND: [Hold; 3] = [
    hold(20, 0.55, 4.0),
    hold(10, 0.55, 0.0),
    hold(25, 0.0, -6.0),
];

/// Short moves from standstill, straight ahead or near full steering lock. The wheels are straight
/// again before the next move.
const SHUNTS: [(&str, Sides, [Hold; 3]); 4] = [
    (
        "short",
        Sides::One,
        [hold(10, 0.0, 2.0), hold(4, 0.0, 0.0), hold(11, 0.0, -4.0)],
    ),
    (
        "straight",
        Sides::One,
        [hold(15, 0.0, 3.0), hold(10, 0.0, 0.0), hold(15, 0.0, -4.0)],
    ),
    (
        "slight",
        Sides::Both,
        [hold(12, 0.6, 2.0), hold(8, 0.6, 0.0), hold(20, 0.0, -2.0)],
    ),
    (
        "turn",
        Sides::Both,
        [hold(15, 0.6, 3.0), hold(20, 0.6, 0.0), hold(20, 0.0, -3.0)],
    ),
];

/// Returns the moves from standstill to standstill, forwards and in reverse.
fn shunting(car: &ScriptedCar) -> Vec<Scripted> {
    let mut all = Vec::new();
    for (gear, word) in [(Gear::Forwards, "forwards"), (Gear::Reverse, "reverse")] {
        for (name, sides, holds) in SHUNTS {
            let frames = car.drive_in(gear, 0.0, &holds);
            pair(
                &mut all,
                &format!("{word} {name}"),
                Ends::AT_ONE,
                frames,
                sides,
            );
        }
    }
    all
}

const fn hold(frames: u32, steering: f64, acceleration: f64) -> Hold {
    Hold {
        frames,
        steering,
        acceleration,
    }
}

/// Returns a straight drive between two speeds, m/s. The acceleration is found by bisection.
fn change_of_speed(car: &ScriptedCar, [from, to]: [f64; 2], frames: u32) -> Vec<Frame> {
    let drive = |acceleration: f64| car.drive(from, &[hold(frames, 0.0, acceleration)]);
    let (mut low, mut high) = (-10.0, 10.0);
    for _ in 0..50 {
        let middle = 0.5 * (low + high);
        let reached = drive(middle).last().map_or(0.0, |end| end.forward);
        if reached < to {
            low = middle;
        } else {
            high = middle;
        }
    }
    drive(high)
}
