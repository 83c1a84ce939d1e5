//! The scripted sliding car. It is brought up to a speed and then driven by steering and acceleration.

use crate::frame::{Frame, FrameCommand, Gear};
use crate::sliding_car::{CarState, SlidingCar};
use roadwright_geometry::Pose;
use roadwright_geometry::math::wrap_angle;
use roadwright_scenario::vehicle_file::VehicleFile;

/// A turn counts as steady after this number of frames.
const SETTLING: u32 = 300;
/// Steering rate per yaw rate error, rad/s per rad/s.
const STEERING_GAIN: f64 = 0.5;
/// Acceleration per speed error, 1/s.
const SPEED_GAIN: f64 = 4.0;

/// Controls that are held for a number of frames.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Hold {
    /// Duration of the hold, frames.
    pub(super) frames: u32,
    /// Steering angle, rad.
    pub(super) steering: f64,
    /// Acceleration, m/s^2.
    pub(super) acceleration: f64,
}

impl Hold {
    fn command(&self) -> FrameCommand {
        FrameCommand {
            steering: self.steering,
            acceleration: self.acceleration,
            ..FrameCommand::default()
        }
    }
}

/// The sliding car, recorded at `rate` Hz.
#[derive(Debug, Clone)]
pub(super) struct ScriptedCar {
    car: SlidingCar,
    rate: f64,
}

impl ScriptedCar {
    /// Creates the car of a vehicle file, recorded at `rate` Hz; `None` if the file has no sliding car.
    pub(super) fn of_file(file: &VehicleFile, rate: f64) -> Option<Self> {
        Some(Self {
            car: SlidingCar::of_file(file)?,
            rate,
        })
    }

    /// Returns the state of the car after it has followed a command for one frame.
    fn after(&self, now: &CarState, command: FrameCommand) -> CarState {
        self.car.after(now, command, 1.0 / self.rate)
    }

    /// Returns the frames of the car in a steady turn at the given speed (m/s) and yaw rate
    /// (rad/s). The clip begins at the origin, facing east.
    pub(super) fn steady(&self, speed: f64, yaw_rate: f64, frames: u32) -> Vec<Frame> {
        let mut now = self.car.begin(speed);
        let mut steering = 0.0;
        let mut recorded = Vec::new();
        for number in 0..=SETTLING + frames {
            steering += STEERING_GAIN * (yaw_rate - now.yaw_rate()) / self.rate;
            let frame = self.car.frame(&now, FrameCommand::default());
            let command = FrameCommand {
                steering,
                // In a turn, slip reduces the speed along the body axis, so the acceleration compensates for it.
                acceleration: SPEED_GAIN * (speed - frame.forward) - frame.sideways * yaw_rate,
                ..FrameCommand::default()
            };
            if number >= SETTLING {
                recorded.push(Frame { command, ..frame });
            }
            now = self.after(&now, command);
        }
        from_origin(&recorded)
    }

    /// Returns the frames of the car during the given holds. The car is driving straight ahead at
    /// `speed` m/s when the first hold begins.
    pub(super) fn drive(&self, speed: f64, holds: &[Hold]) -> Vec<Frame> {
        self.drive_in(Gear::Forwards, speed, holds)
    }

    /// Returns the frames of the car during the given holds, driven in the given gear.
    pub(super) fn drive_in(&self, gear: Gear, speed: f64, holds: &[Hold]) -> Vec<Frame> {
        let mut now = self.car.begin(speed);
        let mut frames = Vec::new();
        let mut command = FrameCommand::default();
        for hold in holds {
            command = FrameCommand {
                gear,
                ..hold.command()
            };
            for _ in 0..hold.frames {
                frames.push(self.car.frame(&now, command));
                now = self.after(&now, command);
            }
        }
        frames.push(self.car.frame(&now, command));
        frames
    }
}

/// Moves frames so that the first one is at the origin and faces east.
fn from_origin(frames: &[Frame]) -> Vec<Frame> {
    let origin = frames[0].placement();
    let heading = frames[0].pose.heading;
    let moved = frames.iter().map(|frame| Frame {
        pose: Pose {
            position: origin.to_local(frame.pose.position),
            heading: wrap_angle(frame.pose.heading - heading),
        },
        ..*frame
    });
    moved.collect()
}

/// State at the end of a manoeuvre, when the car drives straight ahead without slip.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Goal {
    /// Change of heading, rad.
    pub(super) turn: f64,
    /// Speed at the end, m/s.
    pub(super) speed: f64,
}

/// Shape of a manoeuvre: three holds, followed by a short hold with straight wheels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Shape {
    /// Initial speed, m/s.
    pub(super) speed: f64,
    /// Durations of the three holds, frames.
    pub(super) holds: [u32; 3],
    /// Duration of the last hold, frames.
    pub(super) straight: u32,
}

/// Three steering angles, rad, and the acceleration, m/s^2.
type Controls = [f64; 4];
/// Deviation from the goal at the end of a manoeuvre: heading, yaw rate, lateral speed and speed.
type Miss = [f64; 4];

impl Shape {
    fn frames(&self) -> u32 {
        self.holds.iter().sum::<u32>() + self.straight
    }

    fn holds(&self, controls: &Controls) -> [Hold; 4] {
        let acceleration = controls[3];
        let hold = |frames, steering| Hold {
            frames,
            steering,
            acceleration,
        };
        [
            hold(self.holds[0], controls[0]),
            hold(self.holds[1], controls[1]),
            hold(self.holds[2], controls[2]),
            hold(self.straight, 0.0),
        ]
    }
}

/// Maximum number of steps of Newton's method.
const ROUNDS: u32 = 60;
/// Deviation below which Newton's method stops.
const CLOSE: f64 = 1e-6;
/// Maximum number of times that a step is halved.
const HALVINGS: i32 = 10;
/// Change of a control for numerical derivatives.
const DIFFERENCE: f64 = 1e-5;
/// Continuation step, rad: the solver approaches the goal's heading change in increments of this size.
const GROWTH: f64 = 0.05;
/// Initial steering angles for the smallest heading change, rad.
const FIRST: [f64; 3] = [0.05, 0.02, -0.05];

impl ScriptedCar {
    /// Returns the frames of a manoeuvre that reaches the given goal. The steering angles and the
    /// acceleration are found by a damped Newton method. The heading change is increased step by
    /// step, and each solution starts from the previous one.
    pub(super) fn manoeuvre(&self, shape: &Shape, goal: &Goal) -> Vec<Frame> {
        let count = (goal.turn / GROWTH).ceil().max(1.0) as u32;
        let seconds = f64::from(shape.frames()) / self.rate;
        let [first, second, third] = FIRST;
        let mut controls = [first, second, third, (goal.speed - shape.speed) / seconds];
        for number in 1..=count {
            let part = Goal {
                turn: goal.turn * f64::from(number) / f64::from(count),
                ..*goal
            };
            controls = self.solved(shape, &part, controls);
        }
        self.drive(shape.speed, &shape.holds(&controls))
    }

    /// Finds the controls of a manoeuvre, starting from a guess.
    fn solved(&self, shape: &Shape, goal: &Goal, guess: Controls) -> Controls {
        let mut controls = guess;
        let mut miss = self.miss(shape, goal, &controls);
        for _ in 0..ROUNDS {
            if size(&miss) < CLOSE {
                break;
            }
            let Some(step) = self.newton_step(shape, goal, &controls, &miss) else {
                break;
            };
            // The step is halved until the deviation is smaller.
            let mut better = None;
            let mut share = 1.0;
            for _ in 0..HALVINGS {
                let tried: Controls = std::array::from_fn(|i| controls[i] - share * step[i]);
                let missed = self.miss(shape, goal, &tried);
                if size(&missed) < size(&miss) {
                    better = Some((tried, missed));
                    break;
                }
                share *= 0.5;
            }
            let Some(found) = better else {
                break;
            };
            (controls, miss) = found;
        }
        controls
    }

    fn miss(&self, shape: &Shape, goal: &Goal, controls: &Controls) -> Miss {
        let frames = self.drive(shape.speed, &shape.holds(controls));
        let end = frames[frames.len() - 1];
        [
            crate::clips::turned(&frames) - goal.turn,
            end.yaw_rate,
            end.sideways,
            end.forward - goal.speed,
        ]
    }

    fn newton_step(
        &self,
        shape: &Shape,
        goal: &Goal,
        controls: &Controls,
        miss: &Miss,
    ) -> Option<Controls> {
        let mut rows = [[0.0; 5]; 4];
        for column in 0..4 {
            let mut moved = *controls;
            moved[column] += DIFFERENCE;
            let there = self.miss(shape, goal, &moved);
            for (number, row) in rows.iter_mut().enumerate() {
                row[column] = (there[number] - miss[number]) / DIFFERENCE;
                row[4] = miss[number];
            }
        }
        solve(rows)
    }
}

fn size(miss: &Miss) -> f64 {
    miss.iter().map(|value| value * value).sum::<f64>().sqrt()
}

/// Solves four linear equations by elimination with pivoting; `None` if they have no unique solution.
fn solve(mut rows: [[f64; 5]; 4]) -> Option<Controls> {
    for column in 0..4 {
        let size = |row: usize| rows[row][column].abs();
        let pivot = (column..4).max_by(|&a, &b| size(a).total_cmp(&size(b)))?;
        rows.swap(column, pivot);
        let own = rows[column];
        if own[column].abs() < 1e-12 {
            return None;
        }
        for (number, row) in rows.iter_mut().enumerate() {
            if number != column {
                let share = row[column] / own[column];
                for (value, own) in row.iter_mut().zip(own).skip(column) {
                    *value -= share * own;
                }
            }
        }
    }
    Some(std::array::from_fn(|i| rows[i][4] / rows[i][i]))
}
