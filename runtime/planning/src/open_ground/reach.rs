//! Decides whether there is any path and, if not, why.
//!
//! Open ground is unbounded, so a search that finds no path would never end. However, if two
//! positions are not connected, at least one of them is in an enclosed area. Two searches therefore
//! alternate, one from the start and one from the goal, and one of them eventually runs out of
//! cells. The cells are then halved, because a gap may be wide enough for the body but too narrow
//! for the cells.

use super::cell::{CellSize, NodeIndex};
use super::cost::Rules;
use super::gap::{self, Gap, Passage};
use super::ground::{Change, OpenGround, ProfileId, Reading};
use super::hybrid::Trip;
use super::profile::{Growth, Measure, Occupied, Profile};
use super::search::{CellPath, DistanceEstimate, Progress, Search};
use super::space::Space;
use super::tile_space::{Reader, SpotError, TileCache};
use std::fmt;

/// Number of cells that one search expands before the other continues.
const TURN: u64 = 512;
/// Smallest cell size that is tried if the enclosed area is too large to be searched for its widest gap.
const FINER: CellSize = CellSize::FINEST_ROOM;

/// State of the search that decides whether there is a path.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Verdict {
    /// Not decided yet. Running out of budget does not give a verdict.
    Searching,
    /// There is a path.
    Reachable,
    /// There is no path.
    NoPath(Reason),
}

/// Reason why there is no path.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Reason {
    /// The agent overlaps an obstacle or is outside the world.
    Start(SpotError),
    /// The agent would overlap an obstacle at its goal, or the goal is outside the world.
    Goal(SpotError),
    /// The agent cannot leave an enclosed area.
    StartWalledIn(WalledIn),
    /// The goal is in an area that cannot be entered.
    GoalWalledIn(WalledIn),
}

/// An enclosed area without an exit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WalledIn {
    /// The widest gap that leads out of the area, which is too narrow; `None` if there is no gap.
    pub gap: Option<Gap>,
    /// Width that the body needs, m.
    pub needed: f64,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let spot = |error: &SpotError| match error {
            SpotError::Outside => "is not within 10,000 km of the origin",
            SpotError::Blocked => "is inside an obstacle",
        };
        let room = |room: &WalledIn, f: &mut fmt::Formatter<'_>| match room.gap {
            None => Ok(()),
            Some(gap) => write!(
                f,
                ": the widest gap, at ({:.1}, {:.1}), is {:.1} m, but the vehicle needs {:.1} m",
                gap.at.x, gap.at.y, gap.width, room.needed
            ),
        };
        match self {
            Self::Start(error) => write!(f, "the start {}", spot(error)),
            Self::Goal(error) => write!(f, "the goal {}", spot(error)),
            Self::StartWalledIn(walls) => {
                write!(f, "the start is walled in")?;
                room(walls, f)
            }
            Self::GoalWalledIn(walls) => {
                write!(f, "the goal is walled in")?;
                room(walls, f)
            }
        }
    }
}

/// Two alternating searches that decide whether there is a path.
///
/// They consider only stationary items. Obstacles are grown by half the width, or by the
/// circumscribed radius for bodies that turn in place.
///
/// ```
/// use roadwright_geometry::{DVec2, Pose, oriented_box::OrientedBox};
/// use roadwright_planning::open_ground::*;
///
/// let mut ground = OpenGround::new();
/// // A room of 20 m with a door of 1.9 m.
/// for (x, y, length, width) in [
///     (-10.0, 0.0, 1.0, 21.0), (10.0, 0.0, 1.0, 21.0), (0.0, -10.0, 21.0, 1.0),
///     (-5.725, 10.0, 9.55, 1.0), (5.725, 10.0, 9.55, 1.0),
/// ] {
///     let wall = Shape::Box(OrientedBox::new(Pose::new(x, y, 0.0), length, width));
///     ground.insert(Item::obstacle(wall, Heights::up_to(3.0)))?;
/// }
/// let bus = Body { length: 8.0, width: 2.2, height: 3.0, ground_clearance: 0.2 };
/// let trip = Trip {
///     profile: ground.add_profile(Profile::new(bus, CellSize::WAY_POINTS)),
///     owner: None,
///     from: Spot::at(Pose::new(0.0, 0.0, 0.0)),
///     to: Spot::anyhow(DVec2::new(0.0, 60.0)),
/// };
/// let mut searches = Reachability::new(&mut ground, trip);
/// let verdict = loop {
///     match searches.advance(&mut ground, 1000) {
///         Verdict::Searching => continue,
///         verdict => break verdict,
///     }
/// };
/// let Verdict::NoPath(reason) = verdict else { return Err("there is none".into()) };
/// assert_eq!(
///     reason.to_string(),
///     "the start is walled in: the widest gap, at (0.0, 10.5), is 1.9 m, but the vehicle needs 2.2 m",
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Reachability {
    trip: Trip,
    profile: ProfileId,
    cache: TileCache,
    forward: Side,
    backward: Side,
    verdict: Verdict,
    expanded: u64,
}

/// The search from the start or from the goal.
#[derive(Debug, Clone, Default)]
struct Side {
    search: Search,
    origin: Option<NodeIndex>,
}

/// End of the trip from which a search starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    Start,
    Goal,
}

impl Reachability {
    /// Starts the searches for a trip.
    pub fn new(ground: &mut OpenGround, trip: Trip) -> Self {
        let profile = ground.profile(trip.profile);
        let decisive = Profile {
            growth: match profile.growth {
                Growth::Footprint(_) => Growth::HalfWidth,
                other => other,
            },
            room: 0.0,
            measure: Measure::Outline,
            occupied: Occupied::Anything,
            ..profile.clone()
        };
        let profile = ground.add_profile(decisive);
        let mut searches = Self {
            trip,
            profile,
            cache: TileCache::new(ground, reader(&trip, profile)),
            forward: Side::default(),
            backward: Side::default(),
            verdict: Verdict::Searching,
            expanded: 0,
        };
        searches.begin(ground, profile);
        searches
    }

    /// Starts both searches with the cells of a profile.
    fn begin(&mut self, ground: &mut OpenGround, profile: ProfileId) {
        self.profile = profile;
        self.cache = TileCache::new(ground, reader(&self.trip, profile));
        let mut space = self.cache.space(ground);
        let start = match space.open(self.trip.from) {
            Ok(node) => node,
            Err(error) => {
                self.verdict = Verdict::NoPath(Reason::Start(error));
                return;
            }
        };
        let goal = match space.open(self.trip.to) {
            Ok(node) => node,
            Err(error) => {
                self.verdict = Verdict::NoPath(Reason::Goal(error));
                return;
            }
        };
        for (side, origin, other) in [
            (&mut self.forward, start, goal),
            (&mut self.backward, goal, start),
        ] {
            let estimate = toward(&mut space, other);
            let rules = Rules::default();
            side.search
                .begin(&mut space, rules, &estimate, origin, Some(other));
            side.origin = Some(origin);
        }
        self.verdict = Verdict::Searching;
    }

    /// Expands at most `budget` more cells in both searches together. The verdict is valid until
    /// [`Self::is_outdated`] returns `true`.
    pub fn advance(&mut self, ground: &mut OpenGround, budget: u64) -> Verdict {
        let mut left = budget;
        while self.verdict == Verdict::Searching && left > 0 {
            let turn = left.min(TURN);
            left -= turn;
            let first = self.advance_side(ground, Origin::Start, turn.div_ceil(2));
            self.conclude(ground, Origin::Start, first);
            if self.verdict == Verdict::Searching && turn > 1 {
                let second = self.advance_side(ground, Origin::Goal, turn / 2);
                self.conclude(ground, Origin::Goal, second);
            }
        }
        self.verdict
    }

    fn advance_side(&mut self, ground: &mut OpenGround, from: Origin, budget: u64) -> Progress {
        let mut space = self.cache.space(ground);
        let (side, other) = match from {
            Origin::Start => (&mut self.forward, &self.backward),
            Origin::Goal => (&mut self.backward, &self.forward),
        };
        let Some(target) = other.origin else {
            return Progress::Exhausted;
        };
        let estimate = toward(&mut space, target);
        let before = side.search.closed().len();
        let progress = side.search.advance(&mut space, &estimate, budget);
        let new = &side.search.closed()[before..];
        self.expanded += new.len() as u64;
        // A cell that both searches have expanded connects start and goal.
        if new.iter().any(|node| other.search.is_closed(*node)) {
            return Progress::Found;
        }
        progress
    }

    fn conclude(&mut self, ground: &mut OpenGround, from: Origin, progress: Progress) {
        match progress {
            Progress::Searching => {}
            Progress::Found => self.verdict = Verdict::Reachable,
            Progress::Exhausted => self.look_closer(ground, from),
        }
    }

    /// Halves the cells after a search has run out of cells, or decides the verdict.
    fn look_closer(&mut self, ground: &mut OpenGround, from: Origin) {
        let profile = ground.profile(self.profile).clone();
        let needed = 2.0 * profile.growth_radius();
        let finer = profile.cell.halved();
        if profile.cell > CellSize::FINEST
            && let Some(cell) = finer
        {
            let finer = ground.add_profile(Profile { cell, ..profile });
            self.begin(ground, finer);
            return;
        }
        let gap = match self.widest(ground, from, needed) {
            // All gaps are wide enough for the body, but the cells are too coarse for them.
            Passage::Wide => {
                self.verdict = Verdict::Reachable;
                return;
            }
            Passage::Unknown => {
                if profile.cell > FINER
                    && let Some(cell) = finer
                {
                    let finer = ground.add_profile(Profile { cell, ..profile });
                    self.begin(ground, finer);
                    return;
                }
                None
            }
            Passage::Closed => None,
            Passage::Narrowest(gap) => Some(gap),
        };
        let walls = WalledIn { gap, needed };
        self.verdict = Verdict::NoPath(match from {
            Origin::Start => Reason::StartWalledIn(walls),
            Origin::Goal => Reason::GoalWalledIn(walls),
        });
    }

    /// Finds the widest path out of the area in which a search has run out of cells. Searches from
    /// the inside, because the ground outside may be unbounded.
    fn widest(&self, ground: &OpenGround, from: Origin, needed: f64) -> Passage {
        let reader = reader(&self.trip, self.profile);
        let (start, goal) = (self.trip.from.position, self.trip.to.position);
        match from {
            Origin::Start => gap::widest(ground, &reader, start, goal, needed),
            Origin::Goal => gap::widest(ground, &reader, goal, start, needed),
        }
    }

    /// Returns the verdict so far.
    pub fn verdict(&self) -> Verdict {
        self.verdict
    }

    /// Number of cells expanded so far by both searches, at all cell sizes.
    pub fn expanded(&self) -> u64 {
        self.expanded
    }

    /// Size of the cells of the searches.
    pub fn cell_size(&self) -> CellSize {
        self.cache.cell_size()
    }

    /// Whether a stationary item was added, removed or moved in the tiles that the searches have
    /// read, so that they have to start again.
    pub fn is_outdated(&self, ground: &OpenGround) -> bool {
        self.cache.change(ground) != Change::Unchanged
    }

    /// Returns the path that the search from the start has found, as centres of cells; `None` if it
    /// has not reached the goal.
    pub fn path(&mut self, ground: &mut OpenGround) -> Option<CellPath> {
        let goal = self.backward.origin?;
        let mut space = self.cache.space(ground);
        self.forward.search.path_to(&mut space, goal)
    }
}

fn reader(trip: &Trip, profile: ProfileId) -> Reader {
    Reader {
        profile,
        owner: trip.owner,
        reading: Reading::Standing,
    }
}

fn toward(space: &mut impl Space, target: NodeIndex) -> DistanceEstimate {
    DistanceEstimate {
        goal: space.cell(target),
        rules: Rules::default(),
        smallest_factor: space.smallest_factor(),
    }
}
