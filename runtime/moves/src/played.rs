//! Drives along moves on a course. The vehicle follows the frames of its moves exactly, as in the source, or by its
//! own model (`replayed.rs`).
//!
//! At every transition point, a plan is made from the current positions of the cars. Their velocity is
//! assumed to be constant. If every move is blocked, a vehicle that follows frames exactly continues its last
//! plan, whereas a vehicle that is driven by its model brakes. Contacts are tested from frame to frame
//! against the actual motion of the cars.

use crate::course::Course;
use crate::heuristic::{Heuristic, HeuristicGoal};
use crate::library::{Library, MoveNumber, StateNumber};
use crate::placement::Placement;
use crate::replayed::Driven;
use crate::search::{Bounded, Plan, PlanEnd, Question, plan};
use crate::surroundings::{Mover, Phase, Surroundings, Trial};
use roadwright_geometry::DVec2;
use roadwright_geometry::math::atan2;

/// Reason why a drive ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The vehicle touched something.
    Crash,
    /// The vehicle crossed the finish line.
    Arrived,
    /// The maximum duration of the course has passed.
    TimeUp,
}

/// Figures of a drive.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct DriveFigures {
    /// Number of plans made.
    pub plans: u32,
    /// Number of plans without a free move.
    pub without_path: u32,
    /// Total number of nodes in all plans.
    pub nodes: u64,
    /// Maximum number of nodes in a plan.
    pub most_nodes: u32,
    /// Total number of nodes until the first free leaf was taken, over all plans. For plans without
    /// a free leaf, all nodes are included.
    pub nodes_to_leaf: u64,
    /// Longest uninterrupted skid, s: time with a slip of more than 20 degrees.
    pub longest_skid: f64,
    /// Longest uninterrupted skid near a sharp corner, s.
    pub longest_skid_at_corner: f64,
    /// Time spent near sharp corners, s.
    pub at_corner: f64,
    /// Maximum difference between the motions at a seam between moves, using the distance of section 3.4.
    pub worst_seam: f64,
    /// Number of times that the clip was moved to the vehicle's position because the vehicle was
    /// too far from it; 0 if frames are followed exactly.
    pub corrections: u32,
    /// Maximum distance from the clip, m.
    pub worst_distance: f64,
    /// Maximum difference between the headings of the vehicle and the clip, rad.
    pub worst_heading: f64,
}

/// A vehicle counts as skidding if its slip exceeds this, rad: 20 degrees.
const SKID: f64 = 0.349;
/// A vehicle counts as near a sharp corner within this distance of it, m.
const NEAR: f64 = 60.0;

/// A drive in progress.
pub struct Played<'a> {
    pub(crate) library: &'a Library,
    pub(crate) course: &'a Course,
    bounded: Bounded,
    pub(crate) around: Surroundings,
    /// Heuristic of the plans; `None` for the heuristic of the source.
    heuristic: Option<Heuristic>,
    /// Number of frames since the start.
    pub(crate) frame: u64,
    pub(crate) place: Placement,
    pub(crate) state: StateNumber,
    /// Remaining moves of the last plan. The next one is last in the list.
    pub(crate) ahead: Vec<MoveNumber>,
    /// The vehicle, if it is driven by its own model.
    pub(crate) driven: Option<Driven<'a>>,
    last: Option<MoveNumber>,
    skid: f64,
    /// Moves driven so far.
    pub made: Vec<MoveNumber>,
    /// Figures so far.
    pub figures: DriveFigures,
}

impl<'a> Played<'a> {
    /// Creates a drive that begins at the start of a course, in the given state.
    pub fn new(
        library: &'a Library,
        course: &'a Course,
        state: StateNumber,
        bounded: Bounded,
    ) -> Self {
        Self {
            library,
            course,
            bounded,
            around: Surroundings::of(course.walls.clone()),
            heuristic: None,
            frame: 0,
            place: Placement::of(course.start),
            state,
            ahead: Vec::new(),
            driven: None,
            last: None,
            skid: 0.0,
            made: Vec::new(),
            figures: DriveFigures::default(),
        }
    }

    /// Makes plans account for turning, gaining speed and the walls, using a [`Heuristic`].
    pub fn with_detours(mut self) -> Self {
        let goal = HeuristicGoal {
            place: self.course.goal,
            reach: 0.0,
        };
        self.heuristic = Heuristic::of(&self.around, self.library, self.bounded.horizon, goal);
        self
    }

    /// Time since the start, s.
    pub fn time(&self) -> f64 {
        self.frame as f64 / self.library.rate()
    }

    /// Current placement of the vehicle.
    pub fn place(&self) -> Placement {
        self.place
    }

    /// Makes a plan from the vehicle's current position.
    pub fn plan(&mut self) -> Plan {
        self.around.set_movers(self.course.movers(self.time()));
        let question = Question {
            place: self.place,
            state: self.state,
            goals: &[self.course.goal],
            reach: 0.0,
            around: &self.around,
            bounded: self.bounded,
            heuristic: self.heuristic.as_ref(),
        };
        let plan = plan(self.library, &question);
        let figures = &mut self.figures;
        figures.plans += 1;
        figures.nodes += u64::from(plan.nodes);
        figures.most_nodes = figures.most_nodes.max(plan.nodes);
        figures.nodes_to_leaf += u64::from(plan.nodes_to_leaf.unwrap_or(plan.nodes));
        if matches!(plan.end, PlanEnd::NoPath { .. }) {
            figures.without_path += 1;
            if self.driven.is_some() {
                // A vehicle that is driven by its model brakes.
                self.ahead.clear();
            }
        } else {
            self.ahead = plan.moves.iter().rev().copied().collect();
        }
        plan
    }

    /// Drives the next move to its end. Returns the ending if the drive ends during the move.
    pub fn play(&mut self) -> Option<Ending> {
        if self.driven.is_some() {
            return self.replay();
        }
        let library = self.library;
        // If there is no plan at all, the first move that leaves the state is used.
        let first = || library.moves_from(self.state).next();
        let number = self.ahead.pop().or_else(first)?;
        let one = library.get(number);
        if let Some(last) = self.last {
            let end = library.get(last).frames.last();
            let seam = end.map_or(0.0, |end| {
                crate::frame::distance(end, &one.frames[0], &Default::default())
            });
            self.figures.worst_seam = self.figures.worst_seam.max(seam);
        }
        self.made.push(number);
        for frame in 0..one.frames.len() - 1 {
            let now = self.time();
            let begun = frame as f64 / library.rate();
            // A trial uses times from the beginning of the move, so cars are moved back to where they were at
            // that time.
            let movers = self.course.movers(now).into_iter().map(|mover| Mover {
                outline: mover.outline.shifted(mover.velocity * -begun),
                ..mover
            });
            self.around.set_movers(movers.collect());
            let trial = Trial {
                sweep: library.step_of(number, frame),
                place: self.place,
                begin: 0,
                period: 1.0 / library.rate(),
            };
            if !self.around.is_free(&trial, Phase::Masks) {
                return Some(Ending::Crash);
            }
            let there = self.place.then(&one.placement(frame + 1));
            if let Some(ending) = self.reach(&one.frames[frame + 1], there.position) {
                return Some(ending);
            }
        }
        self.place = self.place.then(&one.placement(one.frames.len() - 1));
        self.state = one.to;
        self.last = Some(number);
        None
    }

    /// Records a driven frame that ends at a position. Returns the ending if the drive ends there.
    pub(crate) fn reach(&mut self, frame: &crate::frame::Frame, place: DVec2) -> Option<Ending> {
        self.frame += 1;
        self.watch(frame, place);
        if place.y >= self.course.finish {
            return Some(Ending::Arrived);
        }
        (self.time() >= self.course.seconds).then_some(Ending::TimeUp)
    }

    fn watch(&mut self, frame: &crate::frame::Frame, place: DVec2) {
        let period = 1.0 / self.library.rate();
        let mut corners = self.course.sharp.iter();
        let is_near = corners.any(|corner| (*corner - place).length() < NEAR);
        let slips =
            frame.forward.abs() > 1.0 && atan2(frame.sideways, frame.forward.abs()).abs() > SKID;
        self.skid = if slips { self.skid + period } else { 0.0 };
        let figures = &mut self.figures;
        figures.longest_skid = figures.longest_skid.max(self.skid);
        if is_near {
            figures.longest_skid_at_corner = figures.longest_skid_at_corner.max(self.skid);
            figures.at_corner += period;
        }
    }

    /// Drives until the drive ends, and returns how it ended.
    pub fn run(&mut self) -> Ending {
        loop {
            self.plan();
            if let Some(ending) = self.play() {
                return ending;
            }
        }
    }
}
