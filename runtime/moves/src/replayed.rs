//! Drives along moves by the model of the vehicle: the recorded commands, corrected by the clip follower.

use crate::follower::{FollowError, follow};
use crate::frame::{Frame, FrameCommand, Weights, distance};
use crate::library::{Library, MoveFrame, MoveNumber, StateNumber};
use crate::placement::Placement;
use crate::played::{Ending, Played};
use crate::search::{Bounded, Question, plan};
use crate::sliding_car::{CarState, SlidingCar};
use crate::surroundings::{Phase, Surroundings, Trial};
use crate::sweep::Sweep;
use roadwright_geometry::math::Stream;
use roadwright_geometry::{DVec2, unit};
use std::f64::consts::PI;

/// Number of commands per frame. With 25 frames a second they are 0.02 s apart.
const COMMANDS: u32 = 2;
/// If the motions of a vehicle and its frame differ by more than this, a more similar frame is
/// searched for.
const UNLIKE: f64 = 0.5;
/// Deceleration of a vehicle without a free move, m/s^2.
const BRAKING: f64 = 6.0;
/// Speed below which a braking vehicle is considered stationary, m/s.
const STANDS: f64 = 0.1;

/// A vehicle that is driven by its own model.
#[derive(Debug, Clone)]
pub(crate) struct Driven<'a> {
    car: &'a SlidingCar,
    now: CarState,
}

impl Driven<'_> {
    fn motion(&self) -> Frame {
        self.car.frame(&self.now, FrameCommand::default())
    }

    /// Drives for one frame of `period` seconds. `command` gets the motion and the fraction of the frame that has
    /// passed.
    fn drive(&mut self, period: f64, command: impl Fn(&Frame, f64) -> FrameCommand) {
        for number in 0..COMMANDS {
            let share = f64::from(number) / f64::from(COMMANDS);
            let wanted = command(&self.motion(), share);
            let dt = period / f64::from(COMMANDS);
            self.now = self.car.after(&self.now, wanted, dt);
        }
    }
}

impl<'a> Played<'a> {
    /// Converts a drive made by [`Played::new`] so that the vehicle is driven by its own model. The
    /// vehicle begins with the motion at the start of the moves that leave its state.
    pub fn replayed(mut self, car: &'a SlidingCar) -> Self {
        let first = self.library.moves_from(self.state).next();
        let begin = first.map_or_else(Frame::default, |number| {
            self.library.get(number).frame_at(&self.place, 0)
        });
        self.driven = Some(Driven {
            car,
            now: car.at(&begin),
        });
        self
    }

    /// Drives the next move to its end, or brakes if there is no free move. Returns the ending if the drive
    /// ends during the move.
    pub(crate) fn replay(&mut self) -> Option<Ending> {
        let library = self.library;
        let Some(number) = self.ahead.pop() else {
            return self.brake();
        };
        self.made.push(number);
        let mut at = MoveFrame { number, frame: 0 };
        let mut place = self.place;
        while at.frame < library.get(at.number).length() {
            let now = self.driven.as_ref()?.motion();
            let clip = library.get(at.number).frame_at(&place, at.frame as usize);
            let error = FollowError::of(&now, &clip);
            let figures = &mut self.figures;
            figures.worst_distance = figures.worst_distance.max(error.distance());
            figures.worst_heading = figures.worst_heading.max(error.heading.abs());
            if error.is_large() {
                figures.corrections += 1;
                if distance(&now, &clip, &Weights::default()) > UNLIKE {
                    at = library.most_similar(&now, &Weights::default());
                }
                let there = now.placement();
                place = library.get(at.number).place_for(at.frame as usize, &there);
            }
            let ending = self.drive_frame(|car, now, share| {
                let clip = library
                    .get(at.number)
                    .motion_at(&place, at.frame as usize, share);
                follow(now, &clip, car.wheelbase())
            });
            if ending.is_some() {
                return ending;
            }
            at.frame += 1;
        }
        self.state = library.get(at.number).to;
        self.place = self.driven.as_ref()?.motion().placement();
        None
    }

    /// Brakes for one frame. Once the vehicle has stopped, finds the recorded frame that is most similar to its
    /// motion, and continues from the start state of that frame's move. Returns the ending if the drive ends.
    fn brake(&mut self) -> Option<Ending> {
        let ending = self.drive_frame(|_, now, _| FrameCommand {
            steering: now.wheels,
            acceleration: -BRAKING,
            ..FrameCommand::default()
        });
        let now = self.driven.as_ref()?.motion();
        self.place = now.placement();
        let at = self.library.most_similar(&now, &Weights::default());
        if now.forward.abs() < STANDS {
            self.state = self.library.get(at.number).from;
        }
        ending
    }

    /// Drives the vehicle for one frame, and tests it for contacts. Returns the ending if the drive ends.
    fn drive_frame(
        &mut self,
        command: impl Fn(&SlidingCar, &Frame, f64) -> FrameCommand,
    ) -> Option<Ending> {
        let period = 1.0 / self.library.rate();
        let movers = self.course.movers(self.time());
        let driven = self.driven.as_mut()?;
        let before = driven.motion();
        let car = driven.car;
        driven.drive(period, |now, share| command(car, now, share));
        let after = driven.motion();
        self.around.set_movers(movers);
        let sweep = Sweep::between(&[before, after], self.library.body(), 0);
        let trial = Trial {
            sweep: &sweep,
            place: before.placement(),
            begin: 0,
            period,
        };
        if !self.around.is_free(&trial, Phase::Masks) {
            return Some(Ending::Crash);
        }
        self.reach(&after, after.pose.position)
    }
}

/// Method of choosing the moves of a drive on free ground.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Route {
    /// Plans to a goal far away in a random direction.
    Planned,
    /// Random choice among the moves that leave each state.
    Random,
}

/// Drives on free ground: routes from random states, driven by the model of the vehicle without replanning.
#[derive(Debug, Clone, Copy)]
pub struct FreeGround<'a> {
    /// Library that contains the moves.
    pub library: &'a Library,
    /// Model of the vehicle.
    pub car: &'a SlidingCar,
    /// Length of each drive, m.
    pub length: f64,
    /// Method of choosing moves.
    pub route: Route,
    /// Limits of the plans.
    pub bounded: Bounded,
}

/// A drive on free ground.
#[derive(Debug, Clone, PartialEq)]
pub struct FreeDrive {
    /// Moves of the route.
    pub moves: Vec<MoveNumber>,
    /// Deviation at the end of the drive.
    pub end: FollowError,
    /// Maximum distance from the route, m.
    pub worst_distance: f64,
    /// Maximum difference between the headings of the vehicle and the route, rad.
    pub worst_heading: f64,
}

/// Distance to the goal of a plan, m.
const FAR_AWAY: f64 = 100_000.0;
/// Maximum number of moves on a route, so that a drive ends even if its moves do not advance.
const MOST_MOVES: usize = 1000;

impl FreeGround<'_> {
    /// Draws a route from a seed and drives along it.
    pub fn drive(&self, seed: u64) -> FreeDrive {
        let mut draw = Stream::new(seed, "move tree free ground", 0);
        let place = Placement {
            position: DVec2::new(draw.next_in(-1000.0, 1000.0), draw.next_in(-1000.0, 1000.0)),
            forward: unit(draw.next_in(-PI, PI)),
        };
        let states = self.library.states().len() as f64;
        let state = StateNumber(draw.next_in(0.0, states).floor().min(states - 1.0) as u16);
        let moves = self.moves(place, state, &mut draw);
        self.follow(place, moves)
    }

    /// Chooses consecutive moves from a state that are together at least as long as the drive.
    fn moves(&self, place: Placement, state: StateNumber, draw: &mut Stream) -> Vec<MoveNumber> {
        let around = Surroundings::of(Vec::new());
        let goal = place.position + unit(draw.next_in(-PI, PI)) * FAR_AWAY;
        let (mut place, mut state) = (place, state);
        let (mut moves, mut driven) = (Vec::new(), 0.0);
        while driven < self.length && moves.len() < MOST_MOVES {
            let next = match self.route {
                Route::Planned => {
                    let question = Question {
                        place,
                        state,
                        goals: &[goal],
                        reach: 0.0,
                        around: &around,
                        bounded: self.bounded,
                        heuristic: None,
                    };
                    plan(self.library, &question).moves
                }
                Route::Random => {
                    let count = self.library.moves_from(state).count() as f64;
                    let choice = draw.next_in(0.0, count).floor().min(count - 1.0) as usize;
                    self.library
                        .moves_from(state)
                        .nth(choice)
                        .into_iter()
                        .collect()
                }
            };
            for &number in &next {
                let one = self.library.get(number);
                driven += length(&one.frames);
                place = place.then(&one.placement(one.frames.len() - 1));
                state = one.to;
            }
            moves.extend(next);
        }
        moves
    }

    /// Drives along moves until the route has the length of the drive.
    fn follow(&self, place: Placement, moves: Vec<MoveNumber>) -> FreeDrive {
        let library = self.library;
        let period = 1.0 / library.rate();
        let mut place = place;
        let begin = library.get(moves[0]).frame_at(&place, 0);
        let mut driven = Driven {
            car: self.car,
            now: self.car.at(&begin),
        };
        let mut drive = FreeDrive {
            moves: Vec::new(),
            end: FollowError::default(),
            worst_distance: 0.0,
            worst_heading: 0.0,
        };
        let mut gone = 0.0;
        for &number in &moves {
            let one = library.get(number);
            drive.moves.push(number);
            for frame in 0..one.length() as usize {
                let car = self.car;
                driven.drive(period, |now, share| {
                    follow(now, &one.motion_at(&place, frame, share), car.wheelbase())
                });
                gone += length(&one.frames[frame..=frame + 1]);
                drive.end = FollowError::of(&driven.motion(), &one.frame_at(&place, frame + 1));
                drive.worst_distance = drive.worst_distance.max(drive.end.distance());
                drive.worst_heading = drive.worst_heading.max(drive.end.heading.abs());
                if gone >= self.length {
                    return drive;
                }
            }
            place = place.then(&one.placement(one.frames.len() - 1));
        }
        drive
    }
}

/// Length of the path along frames, m.
fn length(frames: &[Frame]) -> f64 {
    let pairs = frames.windows(2);
    pairs
        .map(|pair| (pair[1].pose.position - pair[0].pose.position).length())
        .sum()
}
