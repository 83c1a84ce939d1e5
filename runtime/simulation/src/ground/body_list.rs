//! The bodies of obstacles and trees, made of a scenario; after an edit those that it has left are taken over.

use super::obstacles::{Body, Owner, Stature, bodies_of};
use glam::DVec2;
use roadwright_scenario::{Forest, ForestId, Obstacle, ObstacleId, Scenario};
use std::ops::Range;
use std::sync::Arc;

/// Stands for a body that is not there any more.
const GONE: u32 = u32::MAX;

/// Bodies by their numbers: those of obstacles first, by id, then trees.
#[derive(Default)]
pub(super) struct BodyList {
    pub(super) bodies: Vec<(Owner, Body)>,
    /// Those of obstacles, which come first, in the same order. Trees are too many for that: they are
    /// all alike but for their radius.
    pub(super) statures: Vec<Arc<Stature>>,
}

/// What an edit has made of the bodies.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// For each body of before its number now, or [`GONE`]. Those that stay keep their order.
    numbers: Vec<u32>,
    /// The bodies that were not there before, by growing number.
    pub(super) added: Vec<u32>,
    /// Boxes around all that are gone or added.
    pub(super) boxes: Vec<(DVec2, DVec2)>,
}

impl Changes {
    /// The number now of a body of before; `None` if it is gone.
    #[inline]
    pub(super) fn number(&self, before: u32) -> Option<u32> {
        let number = self.numbers[before as usize];
        (number != GONE).then_some(number)
    }

    /// Notes that bodies of before are gone. Each of before is noted as gone or as kept, in their order.
    fn lose(&mut self, before: &BodyList, range: Range<usize>) {
        let lost = &before.bodies[range];
        self.numbers.resize(self.numbers.len() + lost.len(), GONE);
        self.boxes
            .extend(lost.iter().map(|(_, body)| body.bounds()));
    }

    /// Notes the bodies of a list from a number on.
    fn gain(&mut self, list: &BodyList, first: usize) {
        let gained = &list.bodies[first..];
        self.added.extend(first as u32..list.bodies.len() as u32);
        self.boxes
            .extend(gained.iter().map(|(_, body)| body.bounds()));
    }
}

/// What bodies are made of.
#[derive(Clone, Copy)]
enum Source<'a> {
    Obstacle(ObstacleId, &'a Obstacle),
    Forest(ForestId, &'a Forest),
}

impl Source<'_> {
    /// Of its bodies the one that comes first in the order of owners.
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
    /// All bodies of a scenario.
    pub(super) fn new(scenario: &Scenario) -> Self {
        let mut list = Self::default();
        for source in sources(scenario) {
            list.make(source);
        }
        list
    }

    /// The bodies after an edit from `old`, whose bodies these are, to `new`. O(bodies).
    pub(super) fn after_edit(&self, old: &Scenario, new: &Scenario) -> (Self, Changes) {
        let mut list = Self::default();
        let mut changes = Changes::default();
        // Both go by growing id: nothing is looked up.
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
            // What had no bodies is made again: there may be room for a forest now that had no trees.
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

    /// The bodies from a number on up to the first one whose owner does not pass a test.
    fn range(&self, begin: usize, passes: impl Fn(Owner) -> bool) -> Range<usize> {
        let rest = self.bodies[begin..].iter();
        let count = rest.take_while(|(owner, _)| passes(*owner)).count();
        begin..begin + count
    }

    /// Adds bodies of before as they were.
    fn copy(&mut self, before: &Self, range: Range<usize>) {
        self.bodies.extend_from_slice(&before.bodies[range.clone()]);
        let statures = range.start.min(before.statures.len())..range.end.min(before.statures.len());
        self.statures.extend_from_slice(&before.statures[statures]);
    }

    /// Adds the bodies of a source.
    fn make(&mut self, source: Source<'_>) {
        match source {
            Source::Obstacle(id, obstacle) => {
                let bodies = bodies_of(&obstacle.shape);
                // An obstacle with notches is of several bodies, which would fall apart: it stays where it is. So does
                // one that hangs, because nothing says what holds it.
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

/// What the bodies of a scenario are made of, in their order.
fn sources(scenario: &Scenario) -> impl Iterator<Item = Source<'_>> {
    let obstacles = scenario.obstacles().iter();
    let obstacles = obstacles.map(|(&id, obstacle)| Source::Obstacle(id, obstacle));
    let forests = scenario.planted();
    obstacles.chain(forests.map(|(id, forest)| Source::Forest(id, forest)))
}
