//! Bodies of the obstacles and trees of a scenario. After an edit, bodies that it does not affect
//! are reused.

use super::obstacles::{Body, Owner, Stature, bodies_of};
use glam::DVec2;
use roadwright_scenario::{Forest, ForestId, Obstacle, ObstacleId, Scenario};
use std::ops::Range;
use std::sync::Arc;

/// Marks a body that no longer exists.
const GONE: u32 = u32::MAX;

/// Bodies by number: those of obstacles, ordered by obstacle id, followed by trees.
#[derive(Default)]
pub(super) struct BodyList {
    pub(super) bodies: Vec<(Owner, Body)>,
    /// Statures of the obstacle bodies, in the same order. Trees have no statures, because there
    /// are too many of them and they differ only in radius.
    pub(super) statures: Vec<Arc<Stature>>,
}

/// Difference between the bodies before and after an edit.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// New number of each old body, or [`GONE`]. Bodies that are kept stay in the same order.
    numbers: Vec<u32>,
    /// Numbers of the added bodies, in ascending order.
    pub(super) added: Vec<u32>,
    /// Bounding boxes of all removed and added bodies.
    pub(super) boxes: Vec<(DVec2, DVec2)>,
}

impl Changes {
    /// Returns the new number of an old body; `None` if it was removed.
    #[inline]
    pub(super) fn number(&self, before: u32) -> Option<u32> {
        let number = self.numbers[before as usize];
        (number != GONE).then_some(number)
    }

    /// Records the removal of old bodies. Every old body has to be recorded exactly once, in order,
    /// either as removed or as kept.
    fn lose(&mut self, before: &BodyList, range: Range<usize>) {
        let lost = &before.bodies[range];
        self.numbers.resize(self.numbers.len() + lost.len(), GONE);
        self.boxes
            .extend(lost.iter().map(|(_, body)| body.bounds()));
    }

    /// Records all bodies of `list` from number `first` onwards as added.
    fn gain(&mut self, list: &BodyList, first: usize) {
        let gained = &list.bodies[first..];
        self.added.extend(first as u32..list.bodies.len() as u32);
        self.boxes
            .extend(gained.iter().map(|(_, body)| body.bounds()));
    }
}

/// The obstacle or forest that a body was made from.
#[derive(Clone, Copy)]
enum Source<'a> {
    Obstacle(ObstacleId, &'a Obstacle),
    Forest(ForestId, &'a Forest),
}

impl Source<'_> {
    /// Returns the owner of the first body made from this source.
    fn first(&self) -> Owner {
        match *self {
            Self::Obstacle(id, _) => Owner::Obstacle(id),
            Self::Forest(id, _) => Owner::Tree(id, 0),
        }
    }

    fn owns(&self, owner: Owner) -> bool {
        match (self, owner) {
            (Self::Obstacle(id, _), Owner::Obstacle(of)) => *id == of,
            (Self::Forest(id, _), Owner::Tree(of, _)) => *id == of,
            _ => false,
        }
    }
}

impl BodyList {
    /// Creates the bodies of all obstacles and trees of a scenario.
    pub(super) fn new(scenario: &Scenario) -> Self {
        let mut list = Self::default();
        for source in sources(scenario) {
            list.make(source);
        }
        list
    }

    /// Returns the bodies for the edited scenario `new`, and the changes. `old` is the scenario
    /// that `self` was built from. O(bodies).
    pub(super) fn after_edit(&self, old: &Scenario, new: &Scenario) -> (Self, Changes) {
        let mut list = Self::default();
        let mut changes = Changes::default();
        // Both lists are sorted by id, so no look-ups are needed.
        let mut befores = old.obstacles().iter().peekable();
        let mut is_in_old = |source: Source<'_>| match source {
            Source::Obstacle(id, obstacle) => {
                while befores.next_if(|(before, _)| **before < id).is_some() {}
                befores.peek() == Some(&(&id, obstacle))
            }
            Source::Forest(id, forest) => old.forests().get(&id) == Some(forest),
        };
        let mut begin = 0;
        for source in sources(new) {
            let gone = self.range(begin, |owner| owner < source.first());
            let before = self.range(gone.end, |owner| source.owns(owner));
            changes.lose(self, gone);
            begin = before.end;
            // A source without bodies is built again, because a forest that had no trees may now
            // have room for some.
            if is_in_old(source) && !before.is_empty() {
                let first = list.bodies.len() as u32;
                changes.numbers.extend(first..first + before.len() as u32);
                list.copy(self, before);
            } else {
                changes.lose(self, before);
                let first = list.bodies.len();
                list.make(source);
                changes.gain(&list, first);
            }
        }
        changes.lose(self, begin..self.bodies.len());
        (list, changes)
    }

    /// Returns the range of bodies from `begin` up to the first body whose owner does not pass the
    /// test.
    fn range(&self, begin: usize, passes: impl Fn(Owner) -> bool) -> Range<usize> {
        let rest = self.bodies[begin..].iter();
        let count = rest.take_while(|(owner, _)| passes(*owner)).count();
        begin..begin + count
    }

    /// Appends old bodies unchanged.
    fn copy(&mut self, before: &Self, range: Range<usize>) {
        self.bodies.extend_from_slice(&before.bodies[range.clone()]);
        let statures = range.start.min(before.statures.len())..range.end.min(before.statures.len());
        self.statures.extend_from_slice(&before.statures[statures]);
    }

    /// Appends the bodies made from a source.
    fn make(&mut self, source: Source<'_>) {
        match source {
            Source::Obstacle(id, obstacle) => {
                let bodies = bodies_of(&obstacle.shape);
                // An obstacle with notches consists of several bodies, which would fall apart, so
                // it cannot be moved. A hanging obstacle cannot be moved either, because its
                // support is unknown.
                let is_loose = bodies.len() == 1 && !obstacle.hangs();
                let mass = obstacle.mass.filter(|_| is_loose);
                let span = obstacle.vertical_span();
                let stature = |_: &Body| Arc::new(Stature::new(span, mass));
                self.statures.extend(bodies.iter().map(stature));
                let owner = Owner::Obstacle(id);
                self.bodies
                    .extend(bodies.into_iter().map(|body| (owner, body)));
            }
            Source::Forest(id, forest) => {
                let radius = forest.trunk_radius;
                let trees = forest.trees().into_iter().zip(0..);
                self.bodies.extend(trees.map(|(centre, number)| {
                    (
                        Owner::Tree(id, number),
                        Body::Disc {
                            centre,
                            radius: radius.get(),
                        },
                    )
                }));
            }
        }
    }
}

/// Returns the obstacles and forests of a scenario, in the order of their bodies.
fn sources(scenario: &Scenario) -> impl Iterator<Item = Source<'_>> {
    let obstacles = scenario.obstacles().iter();
    let obstacles = obstacles.map(|(&id, obstacle)| Source::Obstacle(id, obstacle));
    let forests = scenario.planted();
    obstacles.chain(forests.map(|(id, forest)| Source::Forest(id, forest)))
}
