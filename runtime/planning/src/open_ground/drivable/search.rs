//! Hybrid A*: a search over poses on cells, headings and gears, with exact checks of the footprint.

use super::super::ground::{Change, OpenGround, ProfileId, Reading};
use super::super::item::Owner;
use super::super::shape::Bounds;
use super::estimate::Estimate;
use super::path::Towed;
use super::path::{DrivablePath, DrivablePiece};
use super::push::TowedShots;
use super::shot::{PlainPiece, Rates, Shots, Target};
use super::smooth::Smoother;
use super::states::States;
use super::surface::{Arc, Roomy, Surface};
use super::trailer::{Combination, Deviation, DrivableTrailer};
use super::vehicle::{DrivableVehicle, Placement};
use roadwright_geometry::{DVec2, MAX_COORDINATE, Pose};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::f64::consts::TAU;

/// Maximum distance between start and destination, m.
pub const LONGEST_TRIP: f64 = 1000.0;
/// Number of headings that the search distinguishes.
const HEADINGS: u32 = 72;
/// Numbers of expansions after which an attempt raises the weight of the estimate, each with the factor by
/// which the configured weight is multiplied. Low weights find short paths, and high weights make long
/// searches end in time.
const HURRIES: [(u64, f64); 2] = [(1500, 2.0), (6000, 4.0)];
/// Margin of the searched area around start and goal, as a fraction of the distance between them.
const BEYOND: f64 = 0.3;
/// Minimum margin of the searched area around start and goal, m.
const LEAST_BEYOND: f64 = 40.0;
/// Length of a step near obstacles or the target, in cells.
const SHORT_STEP: f64 = 1.5;
/// Length of a step far from obstacles and the target, m.
const LONG_STEP: f64 = 2.5;
/// Minimum clearance around the vehicle for long steps, m.
const ROOM_FOR_LONG: f64 = 0.75;
/// Minimum distance to the target for long steps, in turning radii.
const FAR: f64 = 2.5;
/// Length of a step with a trailer, m: forwards and in reverse.
const STEP_TOWING: [f64; 2] = [1.75, 1.0];
/// Maximum distance to the target at which curves to the target are tried from every pose of a vehicle with a
/// trailer, m.
const NEAR_TOWING: f64 = 30.0;
/// Number of expansions charged for the curves from one pose if there is a trailer, because each
/// curve has to be simulated.
const CURVES_TOWING: u64 = 4;
/// Curvatures of steps, as fractions of the maximum curvature.
const SHARES: [f64; 5] = [0.0, 0.5, -0.5, 1.0, -1.0];
/// Clearance below which the search also tries shunts, m. A shunt is a step up to the next obstacle or
/// halfway to it.
const NARROW: f64 = 0.5;
/// Maximum length of a shunt, in turning radii.
const LONGEST_SHUNT: f64 = 0.6;
/// Minimum length of a shunt, m.
const LEAST_SHUNT: f64 = 0.1;
/// Curvatures of shunts, as fractions of the maximum curvature.
const SHUNT_SHARES: [f64; 3] = [1.0, -1.0, 0.0];
/// Maximum distance to the target at which a curve to the target is tried from every pose, in turning radii.
const NEAR: f64 = 3.0;
/// Maximum distance to the target at which the estimate includes the cost of a final curve, in turning radii.
const ESTIMATED: f64 = 8.0;
/// Beyond [`NEAR`], curves to the target are tried only from every n-th pose, where n is the distance to the target in
/// turning radii divided by this value.
const RADII_PER_POSE: f64 = 1.0;
/// Tolerance of the result: the search ends when no other path can be cheaper by more than this fraction of
/// the cost.
const SLACK: f64 = 0.05;
/// Distance between start and destination up to which a search that has found a path looks thoroughly for a cheaper
/// one, m.
const SHORT_TRIP: f64 = 40.0;
/// Minimum number of expansions after the first path of a short trip.
const LEAST_IMPROVING: u64 = 12_000;
/// Number of expansions after the first path of a short and of a longer trip, as a fraction of the expansions before it.
const IMPROVING: [f64; 2] = [1.0, 0.25];
/// Minimum saving for which an expanded state is reopened after the first path has been found, as a cost in
/// m.
const SAVING: f64 = 0.25;
/// Number of hitch angles that the search distinguishes, from one lock to the other.
const HITCHES: u32 = 16;
/// Units of cost per metre in the queue.
const UNITS: f64 = 256.0;
/// Number of cells expanded for the estimate that count as one expansion of the search.
const CELLS_PER_EXPANSION: u64 = 32;

/// Start, destination and vehicle of a search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DrivableTrip {
    /// Profile of the map. Obstacles must be grown by half of the vehicle's width.
    pub profile: ProfileId,
    /// The agent. The search ignores its own items.
    pub owner: Option<Owner>,
    /// Footprint and turning circle of the vehicle.
    pub vehicle: DrivableVehicle,
    /// Pose of the rear axle at the start.
    pub from: Pose,
    /// Gear at the start: 1 forwards, -1 in reverse, 0 if either gear can be engaged at no cost.
    pub gear: i8,
    /// Position of the rear axle at the destination, m.
    pub to: DVec2,
    /// Heading at the destination, rad; `None` for any heading.
    pub heading: Option<f64>,
    /// Hitch angle at the start, from the heading of the trailer to the heading of the vehicle,
    /// rad; 0 without a trailer.
    pub hitch: f64,
    /// Maximum hitch angle at a destination with a heading, rad. A vehicle that pushes its trailer to such a
    /// destination stops within 0.1 m and 0.03 rad of the pose.
    pub hitch_at_end: f64,
}

/// Costs and margins of a search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DrivableSettings {
    /// Cost of a metre in reverse, in metres of forward driving; at least 1.
    pub reverse: f64,
    /// Cost of a change between forwards and reverse, in metres of forward driving.
    pub gear_change: f64,
    /// Clearances to try, m, the preferred one first. The search uses the first clearance at which start and
    /// destination are free.
    pub margins: [f64; 3],
    /// Weight of the estimated cost. Larger weights find a path sooner, but the path may cost more.
    pub weight: f64,
}

impl Default for DrivableSettings {
    fn default() -> Self {
        Self {
            reverse: 2.0,
            gear_change: 8.0,
            margins: [0.3, 0.15, 0.02],
            weight: 2.0,
        }
    }
}

/// State of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DrivableProgress {
    /// The search has not finished.
    Searching,
    /// A path has been found.
    Found,
    /// The vehicle overlaps an obstacle at its start.
    StartBlocked,
    /// The vehicle would overlap an obstacle at its destination.
    GoalBlocked,
    /// The destination is farther away than [`LONGEST_TRIP`], or off the map.
    TooFar,
    /// All states were searched. There is no path at this resolution within the area around start and destination.
    NoPath,
}

/// End of the trip at which a search begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    FromStart,
    FromGoal,
}

impl Direction {
    /// Returns the gear in which the vehicle drives a piece of the search, given the signed length of the piece.
    #[inline]
    pub(super) fn gear(self, length: f64) -> i8 {
        match (self, length < 0.0) {
            (Self::FromStart, false) | (Self::FromGoal, true) => 1,
            (Self::FromStart, true) | (Self::FromGoal, false) => -1,
        }
    }

    /// Returns the sign of the lengths of pieces that the vehicle drives in a gear.
    fn sign(self, gear: i8) -> f64 {
        match self {
            Self::FromStart => f64::from(gear),
            Self::FromGoal => -f64::from(gear),
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Node {
    at: Placement,
    /// Cost from the root, m.
    cost: f64,
    /// Estimated cost to the target, m.
    ahead: f64,
    /// Piece that leads to the node.
    piece: Arc,
    room: f64,
    /// Hitch angle, rad; 0 without a trailer.
    hitch: f64,
    parent: u32,
    state: u64,
    /// Gear in which the vehicle drives the piece; 0 at a root where either gear can be engaged.
    gear: i8,
    is_closed: bool,
    /// Whether the estimate includes curves to the target.
    is_refined: bool,
}

impl Node {
    /// Returns the placement of the vehicle and its trailer.
    fn combination(&self) -> Combination {
        Combination {
            vehicle: self.at,
            hitch: self.hitch,
        }
    }
}

/// Best complete path so far.
#[derive(Debug, Clone)]
struct Best {
    cost: f64,
    node: u32,
    /// The curve from the node to the target.
    curve: Vec<Arc>,
}

/// A search for a path that a vehicle can drive. Each call of `advance` continues it.
///
/// ```
/// use roadwright_geometry::{DVec2, Pose};
/// use roadwright_planning::open_ground::*;
///
/// let mut ground = OpenGround::new();
/// let body = Body { length: 4.5, width: 1.8, height: 1.5, ground_clearance: 0.15 };
/// let profile = ground.add_profile(Profile::new(body, CellSize::HEADINGS));
/// let vehicle = DrivableVehicle {
///     length: 4.5,
///     width: 1.8,
///     centre: 1.3,
///     curvature: 0.2,
///     reverses: true,
///     trailer: None,
/// };
/// let trip = DrivableTrip {
///     profile,
///     owner: None,
///     vehicle,
///     from: Pose::new(0.0, 0.0, 0.0),
///     gear: 1,
///     to: DVec2::new(0.0, 12.0),
///     heading: Some(3.0),
///     hitch: 0.0,
///     hitch_at_end: 0.0,
/// };
/// let mut search = DrivableSearch::new(&mut ground, trip, DrivableSettings::default());
/// assert_eq!(search.advance(&mut ground, 1000), DrivableProgress::Found);
/// let path = search.path().unwrap();
/// assert!((path.end().position - trip.to).length() < 1e-9);
/// ```
#[derive(Debug, Clone)]
pub struct DrivableSearch {
    trip: DrivableTrip,
    settings: DrivableSettings,
    progress: DrivableProgress,
    tree: Option<Tree>,
    attempt: Attempt,
    /// Number of expansions in earlier attempts.
    before: u64,
    path: Option<DrivablePath>,
    is_direct: bool,
}

/// Clearance and resolution of an attempt. If an attempt finds no path, the next one uses finer states, and the one
/// after that uses the next clearance.
#[derive(Debug, Clone, Copy)]
struct Attempt {
    /// Index of the clearance. The index after the last clearance represents a clearance of 0.
    margin: usize,
    is_fine: bool,
}

impl Attempt {
    fn next(self) -> Self {
        Self {
            margin: self.margin + usize::from(self.is_fine),
            is_fine: !self.is_fine,
        }
    }
}

/// Search tree of the current attempt.
#[derive(Debug, Clone)]
struct Tree {
    surface: Surface,
    estimate: Estimate,
    direction: Direction,
    target: Target,
    margin: f64,
    nodes: Vec<Node>,
    states: States,
    queue: BinaryHeap<Reverse<u64>>,
    best: Option<Best>,
    since_shot: u32,
    poses_expanded: u64,
    /// Resolution of cells and headings, as a multiple of the default resolution.
    fineness: u32,
    /// Weight of the estimate.
    weight: f64,
    /// Number of times that the weight was raised.
    hurries: usize,
    /// Number of expansions at which the search for a cheaper path ends; `None` before the first path.
    improves_until: Option<u64>,
    gear_change: f64,
    /// Largest hitch angle that is distinguished, rad; `None` without a trailer.
    widest: Option<f64>,
    /// Whether no chain of cells connects the root with the target.
    is_unreachable: bool,
}

impl DrivableSearch {
    /// Begins a search for a trip.
    pub fn new(ground: &mut OpenGround, trip: DrivableTrip, settings: DrivableSettings) -> Self {
        let mut search = Self {
            trip,
            settings,
            progress: DrivableProgress::Searching,
            tree: None,
            attempt: Attempt {
                margin: 0,
                is_fine: false,
            },
            before: 0,
            path: None,
            is_direct: false,
        };
        search.begin(ground);
        search
    }

    /// Begins the current attempt, or the next attempt that can succeed. Returns `false` if none is left.
    fn begin(&mut self, ground: &mut OpenGround) -> bool {
        match Tree::new(ground, &self.trip, &self.settings, self.attempt) {
            Ok((tree, attempt)) => {
                (self.tree, self.attempt) = (Some(tree), attempt);
                true
            }
            Err(progress) => {
                self.progress = progress;
                false
            }
        }
    }

    /// Expands up to `budget` more poses and returns the state of the search.
    pub fn advance(&mut self, ground: &mut OpenGround, budget: u64) -> DrivableProgress {
        let until = self.expanded().saturating_add(budget);
        while self.progress == DrivableProgress::Searching && self.expanded() < until {
            let Some(tree) = &mut self.tree else { break };
            let mut run = Expansion {
                tree,
                ground: &mut *ground,
                trip: &self.trip,
                settings: &self.settings,
            };
            match run.until(until - self.before) {
                DrivableProgress::Searching => {}
                DrivableProgress::Found => {
                    (self.path, self.is_direct) = found(run);
                    self.progress = DrivableProgress::Found;
                }
                DrivableProgress::StartBlocked
                | DrivableProgress::GoalBlocked
                | DrivableProgress::TooFar
                | DrivableProgress::NoPath => self.try_again(ground),
            }
        }
        self.progress
    }

    /// Ends a search that has found a path but still looks for a cheaper one. Returns the state of the search, which is
    /// unchanged if there is no path yet.
    pub fn settle(&mut self, ground: &mut OpenGround) -> DrivableProgress {
        if self.progress == DrivableProgress::Searching
            && let Some(tree) = self.tree.as_mut().filter(|tree| tree.best.is_some())
        {
            let run = Expansion {
                tree,
                ground,
                trip: &self.trip,
                settings: &self.settings,
            };
            (self.path, self.is_direct) = found(run);
            self.progress = DrivableProgress::Found;
        }
        self.progress
    }

    /// Begins the next attempt; does nothing if none is left.
    fn try_again(&mut self, ground: &mut OpenGround) {
        let tree = self.tree.as_ref();
        // An attempt counts as at least one expansion, so that budgets also limit the number of attempts.
        self.before = self.expanded() + 1;
        let is_unreachable = tree.is_some_and(|tree| tree.is_unreachable);
        if is_unreachable {
            // Finer states would not help.
            self.attempt.is_fine = true;
        }
        self.attempt = self.attempt.next();
        let kept = self.tree.take();
        if !self.begin(ground) {
            self.tree = kept;
            // The tree is kept because it contains the search area. Its expansions have already been counted.
            if let Some(tree) = &mut self.tree {
                tree.poses_expanded = 0;
                tree.estimate.forget_work();
            }
        }
    }

    /// State of the search.
    pub fn progress(&self) -> DrivableProgress {
        self.progress
    }

    /// Returns the path that was found; `None` before that.
    pub fn path(&self) -> Option<&DrivablePath> {
        self.path.as_ref()
    }

    /// Number of expansions so far. Every 32 cells expanded for the estimate count as one expansion.
    pub fn expanded(&self) -> u64 {
        self.before + self.tree.as_ref().map_or(0, Tree::work)
    }

    /// Whether the path is a single curve from start to destination.
    pub fn is_direct(&self) -> bool {
        self.is_direct
    }

    /// Whether the map has changed within the search area, so that the search must start again.
    pub fn is_outdated(&self, ground: &mut OpenGround) -> bool {
        let smallest_factor = ground.smallest_factor(self.trip.profile).min(16);
        self.tree.as_ref().is_some_and(|tree| {
            let Surface { stamp, bounds, .. } = tree.surface;
            let change = ground.change_for(self.trip.owner, stamp, &bounds, Reading::Standing);
            change != Change::Unchanged || tree.surface.smallest_factor != smallest_factor
        })
    }
}

/// Returns the path of a search, and whether it is a single curve from start to destination.
fn found(mut run: Expansion<'_>) -> (Option<DrivablePath>, bool) {
    let is_direct = run.tree.best.as_ref().is_some_and(|best| best.node == 0);
    (run.path(), is_direct)
}

/// Rectangle to which a search is confined.
fn area(from: DVec2, to: DVec2) -> Bounds {
    let beyond = (BEYOND * (to - from).length()).max(LEAST_BEYOND);
    Bounds {
        low: from.min(to),
        high: from.max(to),
    }
    .grown(beyond)
}

impl Tree {
    fn new(
        ground: &mut OpenGround,
        trip: &DrivableTrip,
        settings: &DrivableSettings,
        attempt: Attempt,
    ) -> Result<(Self, Attempt), DrivableProgress> {
        let vehicle = &trip.vehicle;
        let is_on_map = |place: DVec2| place.abs().max_element() < MAX_COORDINATE;
        let headings = trip.from.heading + trip.heading.unwrap_or(0.0) + trip.hitch;
        let is_near = (trip.to - trip.from.position).length() <= LONGEST_TRIP;
        if !(is_near && is_on_map(trip.from.position) && is_on_map(trip.to) && headings.is_finite())
        {
            return Err(DrivableProgress::TooFar);
        }
        let bounds = area(trip.from.position, trip.to);
        let surface = Surface::new(ground, trip.profile, trip.owner, bounds, vehicle);
        let start = Placement::of(trip.from);
        let room_of = |at: Combination, margin| surface.room_of(vehicle, at, margin);
        let from = Combination {
            vehicle: start,
            hitch: trip.hitch,
        };
        // At the destination, the trailer is straight.
        let room = |vehicle: Placement, margin| {
            let hitch = 0.0;
            room_of(Combination { vehicle, hitch }, margin)
        };
        let any_heading = |margin: f64| {
            let headings = (0..16).map(|number| f64::from(number) * TAU / 16.0);
            let poses = headings.map(|heading| {
                Placement::of(Pose {
                    position: trip.to,
                    heading,
                })
            });
            poses.filter_map(|at| room(at, margin)).next()
        };
        let at_goal = |margin: f64| match trip.heading {
            Some(heading) => room(
                Placement::of(Pose {
                    position: trip.to,
                    heading,
                }),
                margin,
            ),
            None => any_heading(margin),
        };
        if room_of(from, 0.0).is_none() {
            return Err(DrivableProgress::StartBlocked);
        }
        if at_goal(0.0).is_none() {
            return Err(DrivableProgress::GoalBlocked);
        }
        let [usual, least, tight] = settings.margins;
        let margins = [usual, least, tight, 0.0];
        let first = attempt.margin;
        // A clearance of 0 is used only if no other clearance is possible at the start or the destination.
        let last = margins.len() - 1;
        let is_meant = |at: usize| at < last || first == 0 || attempt.is_fine;
        let differs = |at: usize| at == 0 || margins[at] < margins[at - 1];
        let ends = (first..margins.len()).find_map(|at| {
            let rooms = room_of(from, margins[at]).zip(at_goal(margins[at]))?;
            let is_new = at == first && attempt.is_fine || differs(at);
            (is_new && is_meant(at)).then_some((at, rooms))
        });
        let (at, (room_at_start, room_at_goal)) = ends.ok_or(DrivableProgress::NoPath)?;
        let margin = margins[at];
        let attempt = Attempt {
            margin: at,
            is_fine: attempt.is_fine && at == first,
        };
        // The search begins at the end with less room, so that it leads from narrow space into open space. With a
        // trailer it begins at the start, because the hitch angle at the start decides where the trailer goes.
        let (direction, root, gear, room, target) = match trip.heading {
            Some(heading) if room_at_goal < room_at_start && vehicle.trailer.is_none() => {
                let goal = Pose {
                    position: trip.to,
                    heading,
                };
                let target = Target {
                    position: start.position,
                    heading: Some(start.heading),
                };
                let root = Placement::of(goal);
                (Direction::FromGoal, root, 0, room_at_goal, target)
            }
            heading => {
                let target = Target {
                    position: trip.to,
                    heading,
                };
                (
                    Direction::FromStart,
                    start,
                    trip.gear,
                    room_at_start,
                    target,
                )
            }
        };
        let centre_of = |position: DVec2, heading: Option<f64>| match heading {
            Some(heading) => Pose { position, heading }.point(vehicle.centre, 0.0),
            None => position,
        };
        let cell = |place: DVec2| surface.cell(place).ok_or(DrivableProgress::TooFar);
        let target_cell = cell(centre_of(target.position, target.heading))?;
        let estimate = Estimate::new(
            &surface,
            margin,
            target_cell,
            cell(root.point(vehicle.centre))?,
        );
        let mut tree = Self {
            surface,
            estimate,
            direction,
            target,
            margin,
            nodes: Vec::new(),
            states: States::new(),
            queue: BinaryHeap::new(),
            best: None,
            since_shot: u32::MAX,
            poses_expanded: 0,
            fineness: if attempt.is_fine { 2 } else { 1 },
            weight: settings.weight,
            hurries: 0,
            improves_until: None,
            gear_change: settings.gear_change,
            widest: vehicle.trailer.as_ref().map(DrivableTrailer::widest),
            is_unreachable: false,
        };
        let root = Combination {
            vehicle: root,
            hitch: trip.hitch,
        };
        let state = tree.state(&root, gear).ok_or(DrivableProgress::TooFar)?;
        tree.nodes.push(Node {
            at: root.vehicle,
            cost: 0.0,
            ahead: 0.0,
            piece: Arc {
                curvature: 0.0,
                length: 0.0,
            },
            room,
            hitch: root.hitch,
            parent: 0,
            state,
            gear,
            is_closed: false,
            is_refined: false,
        });
        tree.states.set(state, 0);
        tree.push(0.0, GearNode::own(0));
        Ok((tree, attempt))
    }

    /// State key of a placement; `None` outside the search area.
    #[inline]
    fn state(&self, whole: &Combination, gear: i8) -> Option<u64> {
        let at = &whole.vehicle;
        let cell = self.surface.cell(at.position)?;
        let headings = HEADINGS * self.fineness;
        let heading = (at.heading / TAU * f64::from(headings)).round() as i32;
        let heading = heading.rem_euclid(headings as i32) as u64;
        // Position in fractions of a cell.
        let fine = at.position * (f64::from(self.fineness) / self.surface.size.metres());
        let part = |coordinate: f64| (coordinate.floor() as i64).rem_euclid(self.fineness.into());
        let part = (part(fine.y) * i64::from(self.fineness) + part(fine.x)) as u64;
        let place = u64::from(cell) * u64::from(self.fineness * self.fineness) + part;
        let state = (place * u64::from(headings) + heading) * 2 + u64::from(gear < 0);
        let Some(widest) = self.widest else {
            return Some(state);
        };
        let hitches = HITCHES * self.fineness;
        let share = 0.5 * (whole.hitch / widest + 1.0);
        let hitch = (share * f64::from(hitches)).clamp(0.0, f64::from(hitches - 1));
        Some(state * u64::from(hitches) + hitch as u64)
    }

    /// Begins the search for a path that is cheaper than the first one. The estimate is then used without a weight,
    /// so that the search cannot overlook cheaper paths. `distance` is the distance between start and destination, m.
    fn improve(&mut self, distance: f64) {
        let (share, least) = match distance < SHORT_TRIP {
            true => (IMPROVING[0], LEAST_IMPROVING),
            false => (IMPROVING[1], 0),
        };
        let more = ((share * self.poses_expanded as f64) as u64).max(least);
        self.improves_until = Some(self.poses_expanded + more);
        self.hurries = HURRIES.len();
        self.weigh(1.0);
    }

    /// Raises the weight of the estimate.
    fn hurry(&mut self, weight: f64) {
        self.hurries += 1;
        self.weigh(weight);
    }

    /// Sets the weight of the estimate and reorders the queue.
    fn weigh(&mut self, weight: f64) {
        self.weight = weight;
        let entries = std::mem::take(&mut self.queue).into_vec();
        let change = |node: &Node| {
            if node.gear == 0 {
                0.0
            } else {
                self.gear_change
            }
        };
        let all: Vec<(f64, GearNode)> = entries
            .into_iter()
            .map(|Reverse(key)| {
                let entry = GearNode(u32::MAX - key as u32);
                let node = &self.nodes[entry.node() as usize];
                let change = if entry.is_other() { change(node) } else { 0.0 };
                (node.cost + change + weight * node.ahead, entry)
            })
            .collect();
        for (total, entry) in all {
            self.push(total, entry);
        }
    }

    fn push(&mut self, total: f64, entry: GearNode) {
        let key = (total * UNITS).min(f64::from(u32::MAX - 1)) as u64;
        // Among equal costs, the newest node comes first, because it leads to the target sooner.
        self.queue
            .push(Reverse(key << 32 | u64::from(u32::MAX - entry.0)));
    }

    /// Returns the number of expansions so far.
    fn work(&self) -> u64 {
        self.poses_expanded + self.estimate.expanded() / CELLS_PER_EXPANSION
    }
}

/// Queue entry of a node that is to be expanded in its own gear or in the other gear.
#[derive(Debug, Clone, Copy)]
struct GearNode(u32);

impl GearNode {
    fn own(node: u32) -> Self {
        Self(2 * node)
    }

    fn other(node: u32) -> Self {
        Self(2 * node + 1)
    }

    fn node(self) -> u32 {
        self.0 / 2
    }

    fn is_other(self) -> bool {
        self.0 % 2 == 1
    }
}

/// A gear, with the cost of engaging it, m.
#[derive(Debug, Clone, Copy)]
struct Engaged {
    gear: i8,
    change: f64,
}

/// Borrowed state of a search that is expanding nodes.
struct Expansion<'a> {
    tree: &'a mut Tree,
    ground: &'a mut OpenGround,
    trip: &'a DrivableTrip,
    settings: &'a DrivableSettings,
}

impl Expansion<'_> {
    fn until(&mut self, until: u64) -> DrivableProgress {
        if !self.is_connected() {
            return DrivableProgress::NoPath;
        }
        while self.tree.work() < until {
            if let Some((after, times)) = HURRIES.get(self.tree.hurries)
                && self.tree.poses_expanded >= *after
            {
                self.tree.hurry(times * self.settings.weight);
            }
            let Some(Reverse(key)) = self.tree.queue.pop() else {
                return match self.tree.best {
                    Some(_) => DrivableProgress::Found,
                    None => DrivableProgress::NoPath,
                };
            };
            let total = (key >> 32) as f64 / UNITS;
            if let Some(best) = &self.tree.best {
                let is_good = best.cost <= total * (1.0 + SLACK);
                // Curves of a vehicle with a trailer are simulated, which takes too long for a second search.
                let improves = self.trip.vehicle.trailer.is_none();
                match self.tree.improves_until {
                    None if is_good && improves => {
                        self.tree.queue.push(Reverse(key));
                        let distance = (self.trip.to - self.trip.from.position).length();
                        self.tree.improve(distance);
                        continue;
                    }
                    Some(until) if self.tree.poses_expanded >= until => {
                        return DrivableProgress::Found;
                    }
                    _ if is_good => return DrivableProgress::Found,
                    _ => {}
                }
            }
            let entry = GearNode(u32::MAX - key as u32);
            match entry.is_other() {
                false => self.visit(entry.node()),
                true => {
                    let gear = -self.tree.nodes[entry.node() as usize].gear;
                    self.tree.poses_expanded += 1;
                    self.expand(entry.node(), gear);
                }
            }
        }
        DrivableProgress::Searching
    }

    /// Whether a chain of cells connects the root with the target.
    fn is_connected(&mut self) -> bool {
        if self.tree.poses_expanded > 0 {
            return true;
        }
        let centre = self.tree.nodes[0].at.point(self.trip.vehicle.centre);
        let cell = self.tree.surface.cell(centre);
        let cost = cell.and_then(|cell| {
            let tree = &mut *self.tree;
            tree.estimate.cost(&mut tree.surface, self.ground, cell)
        });
        self.tree.is_unreachable = cost.is_none();
        cost.is_some()
    }

    fn visit(&mut self, number: u32) {
        let node = self.tree.nodes[number as usize];
        if node.is_closed || self.tree.states.get(node.state) != Some(number) {
            return;
        }
        let radius = self.trip.vehicle.radius();
        if node.ahead < ESTIMATED * radius && !node.is_refined && self.tree.target.heading.is_some()
        {
            let scale = f64::from(self.tree.surface.smallest_factor) / 16.0;
            let least = self.shots(&node).least() * scale;
            let kept = &mut self.tree.nodes[number as usize];
            kept.is_refined = true;
            if least > node.ahead {
                kept.ahead = least;
                let total = node.cost + self.tree.weight * least;
                self.tree.push(total, GearNode::own(number));
                return;
            }
        }
        self.tree.nodes[number as usize].is_closed = true;
        self.tree.poses_expanded += 1;
        self.try_shots(number);
        if node.gear == 0 {
            self.expand(number, 1);
            if self.trip.vehicle.reverses {
                self.expand(number, -1);
            }
            return;
        }
        self.expand(number, node.gear);
        if self.trip.vehicle.reverses || node.gear < 0 {
            let change = self.settings.gear_change;
            let total = node.cost + change + self.tree.weight * node.ahead;
            self.tree.push(total, GearNode::other(number));
        }
    }

    fn rates(&self, gear: i8) -> Rates {
        let after = match self.tree.direction {
            Direction::FromStart => 0,
            Direction::FromGoal => self.trip.gear,
        };
        Rates {
            settings: *self.settings,
            direction: self.tree.direction,
            before: gear,
            after,
            reverses: self.trip.vehicle.reverses,
        }
    }

    fn shots(&self, node: &Node) -> Shots {
        let radius = self.trip.vehicle.radius();
        Shots::new(&node.at, &self.tree.target, radius, &self.rates(node.gear))
    }

    /// Tries curves from a node to the target, unless curves from nearby nodes have been tried recently.
    fn try_shots(&mut self, number: u32) {
        let node = self.tree.nodes[number as usize];
        let radii = node.ahead / self.trip.vehicle.radius();
        let is_near = match self.trip.vehicle.trailer {
            Some(_) => node.ahead < NEAR_TOWING,
            None => radii < NEAR,
        };
        self.tree.since_shot = self.tree.since_shot.saturating_add(1);
        if !is_near && f64::from(self.tree.since_shot) < radii / RADII_PER_POSE {
            return;
        }
        self.tree.since_shot = 0;
        if self.trip.vehicle.trailer.is_some() && self.tree.target.heading.is_some() {
            self.try_towed_shots(number);
            return;
        }
        let shots = self.shots(&node);
        let most = if is_near { usize::MAX } else { 2 };
        for shot in shots.iter().take(most) {
            let least = self.least();
            if node.cost + shot.cost * f64::from(self.tree.surface.smallest_factor) / 16.0 >= least
            {
                break;
            }
            self.try_curve(number, shot.pieces());
        }
    }

    /// Cost of the best path so far; infinite before the first one.
    fn least(&self) -> f64 {
        let best = self.tree.best.as_ref();
        best.map_or(f64::INFINITY, |best| best.cost)
    }

    /// Tries curves from a node to the target for a vehicle with a trailer.
    fn try_towed_shots(&mut self, number: u32) {
        let Some(trailer) = &self.trip.vehicle.trailer else {
            return;
        };
        self.tree.poses_expanded += CURVES_TOWING;
        let shots = TowedShots {
            trip: self.trip,
            trailer,
            from: self.tree.nodes[number as usize].combination(),
        };
        for curve in shots.forwards() {
            self.try_curve(number, &curve);
        }
        let scale = f64::from(self.tree.surface.smallest_factor) / 16.0;
        let left = self.least() - self.tree.nodes[number as usize].cost;
        // Curves are simulated only if they may lead to a better path.
        for curve in shots.reverse(left / (scale * self.settings.reverse)) {
            self.try_curve(number, &curve);
        }
    }

    /// Combines the path to a node with a curve to the target. Keeps the result if the vehicle can
    /// drive it at lower cost than the best path so far.
    fn try_curve(&mut self, number: u32, curve: &[Arc]) {
        let node = self.tree.nodes[number as usize];
        let plain = curve.iter().map(PlainPiece::from);
        let scale = f64::from(self.tree.surface.smallest_factor) / 16.0;
        let least = self.least();
        if node.cost + scale * self.rates(node.gear).of(plain) >= least {
            return;
        }
        let Some(cost) = self.curve_cost(&node, curve) else {
            return;
        };
        if node.cost + cost < least {
            self.tree.best = Some(Best {
                cost: node.cost + cost,
                node: number,
                curve: curve.to_vec(),
            });
        }
    }

    /// Cost of a curve from a node to the target; `None` if the vehicle would collide, or if its trailer would not be
    /// straight at the end.
    fn curve_cost(&mut self, node: &Node, curve: &[Arc]) -> Option<f64> {
        let mut now = Roomy {
            at: node.combination(),
            room: node.room,
        };
        for piece in curve {
            now = self.swept(now, *piece)?;
        }
        let has_heading = self.tree.target.heading.is_some();
        if has_heading && now.at.hitch.abs() > self.trip.hitch_at_end {
            return None;
        }
        let mut at = node.at;
        let tree = &mut *self.tree;
        let mut costs = Vec::with_capacity(curve.len());
        for piece in curve {
            costs.push(PlainPiece {
                length: piece.length,
                plain: (tree.surface).cost(self.ground, &self.trip.vehicle, at, *piece),
            });
            at = at.moved(piece.curvature, piece.length);
        }
        Some(self.rates(node.gear).of(costs.into_iter()))
    }

    /// Returns the vehicle and its trailer at the end of a piece; `None` if they would collide,
    /// jackknife or leave the rectangle.
    fn swept(&self, from: Roomy, piece: Arc) -> Option<Roomy> {
        let Tree {
            surface, margin, ..
        } = &*self.tree;
        let vehicle = &self.trip.vehicle;
        match &vehicle.trailer {
            Some(trailer) => surface.sweep_towing(vehicle, trailer, *margin, from, piece),
            None => {
                let at = from.at.vehicle;
                let (vehicle, room) = surface.sweep(vehicle, *margin, at, from.room, piece)?;
                let at = Combination { vehicle, ..from.at };
                Some(Roomy { at, room })
            }
        }
    }

    fn expand(&mut self, number: u32, gear: i8) {
        let node = self.tree.nodes[number as usize];
        let vehicle = &self.trip.vehicle;
        let change = if node.gear != 0 && node.gear != gear {
            self.settings.gear_change
        } else {
            0.0
        };
        if let Some(trailer) = &vehicle.trailer {
            self.expand_towing(number, trailer, Engaged { gear, change });
            return;
        }
        let is_long = self.tree.fineness == 1
            && node.room > ROOM_FOR_LONG
            && node.ahead > FAR * vehicle.radius();
        let step = match is_long {
            true => LONG_STEP,
            false => SHORT_STEP * self.tree.surface.size.metres() / f64::from(self.tree.fineness),
        };
        for share in SHARES {
            let piece = Arc {
                curvature: share * vehicle.curvature,
                length: step * self.tree.direction.sign(gear),
            };
            self.reach(number, &node, piece, Engaged { gear, change });
        }
        if node.room < NARROW {
            self.shunt(number, &node, Engaged { gear, change });
        }
    }

    /// Adds the nodes one step ahead of a vehicle with a trailer. In reverse, it pushes the trailer
    /// straight or along a bend to either side, because reversing at a constant steering angle
    /// would only make the trailer jackknife.
    fn expand_towing(&mut self, number: u32, trailer: &DrivableTrailer, engaged: Engaged) {
        let node = self.tree.nodes[number as usize];
        let vehicle = &self.trip.vehicle;
        let [forwards, reverse] = STEP_TOWING.map(|step| step / f64::from(self.tree.fineness));
        if engaged.gear > 0 {
            for share in SHARES {
                let piece = Arc {
                    curvature: share * vehicle.curvature,
                    length: forwards,
                };
                self.reach(number, &node, piece, engaged);
            }
            return;
        }
        let bend = 1.0 / trailer.pushing_radius(vehicle);
        for curvature in [0.0, bend, -bend] {
            let along = Deviation {
                offset: 0.0,
                angle: 0.0,
                curvature,
            };
            let pushing = trailer.pushing(vehicle, node.hitch, along);
            let piece = Arc {
                curvature: pushing.clamp(-vehicle.curvature, vehicle.curvature),
                length: -reverse,
            };
            self.reach(number, &node, piece, engaged);
        }
    }

    /// Adds the nodes halfway to the next obstacle and just before it. In a narrow bay, a vehicle turns most if each
    /// move uses all the room.
    fn shunt(&mut self, number: u32, node: &Node, engaged: Engaged) {
        let vehicle = &self.trip.vehicle;
        let sign = self.tree.direction.sign(engaged.gear);
        for share in SHUNT_SHARES {
            let curvature = share * vehicle.curvature;
            let whole = Arc {
                curvature,
                length: sign * LONGEST_SHUNT * vehicle.radius(),
            };
            let Tree {
                surface, margin, ..
            } = &*self.tree;
            let free = surface.free_length(vehicle, *margin, node.at, node.room, whole);
            // Where no obstacle follows, the usual steps suffice.
            if free < LEAST_SHUNT || free >= whole.length.abs() {
                continue;
            }
            for length in [free, 0.5 * free] {
                let length = sign * length;
                let piece = Arc { curvature, length };
                self.reach(number, node, piece, engaged);
            }
        }
    }

    /// Adds the node at the end of a piece, unless its state was reached at equal or lower cost.
    fn reach(&mut self, number: u32, node: &Node, piece: Arc, engaged: Engaged) {
        let Engaged { gear, change } = engaged;
        let vehicle = &self.trip.vehicle;
        let tree = &mut *self.tree;
        let end = node.combination().moved(vehicle, piece);
        let Some(state) = tree.state(&end, gear) else {
            return;
        };
        let end = end.vehicle;
        let rate = if gear < 0 { self.settings.reverse } else { 1.0 };
        let known = tree
            .states
            .get(state)
            .map(|other| &tree.nodes[other as usize]);
        let least = node.cost + change + rate * piece.length.abs() * 0.5;
        let improves = tree.improves_until.is_some();
        // Cost below which the state is reached again.
        let limit = |other: &Node| match (other.is_closed, improves) {
            (false, _) => other.cost,
            (true, true) => other.cost - SAVING,
            (true, false) => f64::NEG_INFINITY,
        };
        if known.is_some_and(|other| limit(other) <= least) {
            return;
        }
        let plain = tree.surface.cost(self.ground, vehicle, node.at, piece);
        let cost = node.cost + change + rate * plain;
        if known.is_some_and(|other| limit(other) <= cost) {
            return;
        }
        let Some(cell) = tree.surface.cell(end.point(vehicle.centre)) else {
            return;
        };
        let from = Roomy {
            at: node.combination(),
            room: node.room,
        };
        let Some(Roomy { at, room }) = self.swept(from, piece) else {
            return;
        };
        let tree = &mut *self.tree;
        let ahead = tree.estimate.cost(&mut tree.surface, self.ground, cell);
        let Some(ahead) = ahead else { return };
        let new = tree.nodes.len() as u32;
        tree.nodes.push(Node {
            at: at.vehicle,
            hitch: at.hitch,
            cost,
            ahead,
            piece,
            room,
            parent: number,
            state,
            gear,
            is_closed: false,
            is_refined: false,
        });
        tree.states.set(state, new);
        tree.push(cost + tree.weight * ahead, GearNode::own(new));
    }

    /// Returns the best path after smoothing; `None` if no path has been found.
    fn path(&mut self) -> Option<DrivablePath> {
        let best = self.tree.best.clone()?;
        let mut pieces: Vec<DrivablePiece> = Vec::new();
        let mut at = best.node;
        while at != 0 {
            let node = &self.tree.nodes[at as usize];
            pieces.push(piece(node.piece));
            at = node.parent;
        }
        pieces.reverse();
        pieces.extend(best.curve.iter().map(|arc| piece(*arc)));
        if self.tree.direction == Direction::FromGoal {
            pieces.reverse();
            for piece in &mut pieces {
                piece.length = -piece.length;
            }
        }
        let path = DrivablePath {
            start: self.trip.from,
            pieces,
            cost: best.cost,
            margin: self.tree.margin,
            towed: self.trip.vehicle.trailer.map(|trailer| Towed {
                trailer,
                hitch: self.trip.hitch,
            }),
        };
        if path.towed.is_some() {
            // On a shortcut, the trailer would take a different course behind the vehicle.
            return Some(path.tidied());
        }
        let mut smoother = Smoother {
            surface: &mut self.tree.surface,
            ground: self.ground,
            vehicle: &self.trip.vehicle,
            settings: self.settings,
            margin: self.tree.margin,
            gear: self.trip.gear,
        };
        Some(smoother.smooth(path.tidied()))
    }
}

fn piece(arc: Arc) -> DrivablePiece {
    DrivablePiece {
        curvature: arc.curvature,
        length: arc.length,
    }
}
