//! Courses without lanes: `maze`, `office`, `obstacle-town` and `hill-country-drive`.
//!
//! Walls, houses, trees and terrain are the same for all seeds. The seed determines the number of drivers,
//! their starts and goals, and random shifts of loose objects such as crates and stones. A path leads from
//! each start to its goal. For every seed, at least one trip is at least one and a half times as long as the
//! straight line.

mod sites;

use super::draft::{Draft, Trip};
use super::{Course, Ends, Kind, track};
use roadwright_agent::{GroundPlanner, GroundPlanning};
use roadwright_geometry::math::Stream;
use roadwright_geometry::oriented_box::OrientedBox;
use roadwright_geometry::{DVec2, Pose};
use roadwright_scenario::{
    AgentId, Edit, ModuleSetting, Obstacle, Place, Scenario, Shape, Slot, Stack, VehicleType,
};
use roadwright_simulation::{
    TripAnswer, TripEnd, TripFinder, TripPlan, TripQuestion, builtin_modules,
};
use std::f64::consts::{FRAC_PI_2, PI};
use std::sync::Arc;

/// Time limit, s. Trips take a minute or two.
const TIME: f64 = 300.0;
/// Minimum ratio of path length to straight-line distance for the first trip of a seed.
const DETOUR: f64 = 1.5;
/// Maximum number of attempts to draw a trip.
const DRAWS: usize = 3_000;
/// Maximum number of cells that a search expands.
const MOST_CELLS: u64 = 1_000_000;

/// A place without lanes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Site {
    Maze,
    Office,
    ObstacleTown,
    HillCountry,
}

/// Parameters of the random draws at a site.
struct Drawing {
    /// Opposite corners of the area of starts and goals, m.
    area: [DVec2; 2],
    /// Minimum and maximum number of drivers.
    drivers: [usize; 2],
    /// Minimum straight-line distance between start and goal, m. The first value applies to the first trip,
    /// and the second value to all others.
    least: [f64; 2],
    /// Maximum straight-line distance between start and goal of the first trip, m.
    first: f64,
    /// Minimum distance between any two starts, and between any two goals, m.
    apart: f64,
    /// Minimum clearance around a vehicle at its start and its goal, m.
    margin: f64,
    /// Clearance on all sides of the vehicle for which a path from start to goal must exist, m. Drivers
    /// cannot steer through gaps that are hardly wider than their vehicles.
    room: f64,
    /// Maximum shift of loose objects along each axis, m.
    shift: f64,
    /// Whether vehicles start parallel to the axes.
    is_aligned: bool,
}

impl Site {
    pub(super) const ALL: [Self; 4] = [
        Self::Maze,
        Self::Office,
        Self::ObstacleTown,
        Self::HillCountry,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Maze => "maze",
            Self::Office => "office",
            Self::ObstacleTown => "obstacle-town",
            Self::HillCountry => "hill-country-drive",
        }
    }

    fn doc(self) -> &'static str {
        match self {
            Self::Maze => "One jeep drives through a maze of 6 m wide corridors; it has 5 minutes.",
            Self::Office => {
                "Up to three carts drive between the rooms of an office, through 1.2 m wide doors; \
                 they have 5 minutes."
            }
            Self::ObstacleTown => {
                "Two to four cars drive between houses, walls and crates; they have 5 minutes."
            }
            Self::HillCountry => {
                "Two to five jeeps cross a landscape of hills, woods, ponds and walls; they have 5 \
                 minutes."
            }
        }
    }

    fn vehicle(self) -> &'static str {
        match self {
            Self::Maze | Self::HillCountry => "willys_mb",
            Self::Office => "cart",
            Self::ObstacleTown => "car",
        }
    }

    fn world(self, seed: u64) -> Draft {
        match self {
            Self::Maze => sites::maze(seed, TIME),
            Self::Office => sites::office(seed, TIME),
            Self::ObstacleTown => sites::obstacle_town(seed, TIME),
            Self::HillCountry => sites::hill_country(seed, TIME),
        }
    }

    fn drawing(self) -> Drawing {
        let area = |edge: f64| [DVec2::splat(-0.5 * edge), DVec2::splat(0.5 * edge)];
        match self {
            Self::Maze => Drawing {
                area: [DVec2::ZERO, DVec2::splat(100.0)],
                drivers: [1, 1],
                least: [20.0, 20.0],
                first: 150.0,
                apart: 10.0,
                margin: 0.8,
                room: 0.0,
                shift: 0.0,
                is_aligned: true,
            },
            Self::Office => Drawing {
                area: [DVec2::ZERO, DVec2::splat(27.0)],
                drivers: [1, 3],
                least: [3.0, 8.0],
                first: 30.0,
                apart: 2.0,
                margin: 0.15,
                room: 0.15,
                shift: 0.2,
                is_aligned: false,
            },
            Self::ObstacleTown => Drawing {
                area: area(190.0),
                drivers: [2, 4],
                least: [20.0, 60.0],
                first: 60.0,
                apart: 15.0,
                margin: 0.8,
                room: 0.0,
                shift: 1.5,
                is_aligned: false,
            },
            Self::HillCountry => Drawing {
                area: area(300.0),
                drivers: [2, 5],
                least: [30.0, 100.0],
                first: 100.0,
                apart: 15.0,
                margin: 0.8,
                room: 0.0,
                shift: 2.0,
                is_aligned: false,
            },
        }
    }

    /// Returns the steering gain that lets the fuzzy driver follow the sharpest bends of the site's
    /// vehicle.
    fn steering_gain(self) -> f64 {
        match self {
            Self::Office => 50.0,
            Self::Maze | Self::ObstacleTown | Self::HillCountry => 8.0,
        }
    }

    /// Calibrates the rules of a fuzzy driver for the site's vehicle.
    fn calibrated(self, driver: ModuleSetting) -> ModuleSetting {
        match self {
            // A cart turns in less than its own length. With the gain for that, the printed rules would turn it
            // sharply towards waypoints almost straight ahead. All furniture beside its path is near, where the rules
            // would make the cart stop. It can stop so quickly that objects farther away do not matter.
            Self::Office => {
                let mut driver = driver
                    .with("rule_route_steer_narrow_medium", 0.0)
                    .with("rule_route_steer_narrow_far", 0.0)
                    .with("rule_route_steer_wide_far", 6.0);
                for angle in ["narrow", "mid", "wide"] {
                    for (distance, speed) in [("near", 4.0), ("medium", 5.0), ("far", 5.0)] {
                        let rule = format!("rule_avoid_speed_{angle}_{distance}");
                        driver = driver.with(&rule, speed);
                    }
                }
                driver
            }
            Self::Maze | Self::ObstacleTown | Self::HillCountry => driver,
        }
    }

    /// Returns the setting of the planner for open ground at this site; `None` for the default.
    fn planner(self) -> Option<ModuleSetting> {
        let planner = ModuleSetting::new("hybrid_fuzzy_path");
        match self {
            // At the default cell size, doors of 1.2 m would be closed.
            Self::Office => Some(
                planner
                    .with("cell", 0.2)
                    .with("tracking_margin", 0.1)
                    .with("clearance", 0.4)
                    .with("near", 0.5),
            ),
            // A single search reaches every place in the maze.
            Self::Maze => Some(planner.with("budget", 20_000.0)),
            Self::ObstacleTown | Self::HillCountry => None,
        }
    }
}

pub(super) fn course(site: Site) -> Course {
    Course {
        name: site.name().into(),
        doc: site.doc().into(),
        vehicle: site.vehicle(),
        driver: "fuzzy_driver",
        fitness: "safe_arrival",
        ends: Ends {
            contact: true,
            ..Ends::after(TIME)
        },
        kind: Kind::OpenGround(site),
    }
}

pub(super) fn draft(site: Site, seed: u64) -> Draft {
    let mut draft = site.world(seed);
    let drawing = site.drawing();
    shift_furniture(&mut draft, drawing.shift, seed);
    let vehicle = draft.scenario.vehicle_types()[site.vehicle()].clone();
    let mut trips = Trips {
        obstacles: draft.scenario.obstacles().values().cloned().collect(),
        finder: TripFinder::new(Arc::new(draft.scenario.clone()), None, None),
        planning: planning_of(site.planner()),
        vehicle,
        vehicle_type: site.vehicle(),
        drawing,
        drawn: Vec::new(),
    };
    trips.draw(&mut Stream::new(seed, "trips", 0));
    for Drawn { start, goal } in trips.drawn {
        draft.trip(Trip {
            start: Place::ground(start.position.x, start.position.y, start.heading),
            starts_by_middle: false,
            via: Vec::new(),
            destination: Place::ground(goal.x, goal.y, 0.0),
            speed: 0.0,
        });
    }
    draft
}

fn planning_of(setting: Option<ModuleSetting>) -> GroundPlanning {
    let usual = || {
        Slot::GroundPlanner
            .module_if_absent()
            .map(ModuleSetting::new)
    };
    let setting = setting.or_else(usual).expect("the slot has a default");
    let registry = builtin_modules();
    let module = registry.module::<dyn GroundPlanner>("", Slot::GroundPlanner, &setting);
    let module = module.expect("a built-in planner");
    module.logic.planning(&module.parameters)
}

/// Shifts crates, stones and cabinets by up to `most` metres along each axis.
fn shift_furniture(draft: &mut Draft, most: f64, seed: u64) {
    let mut stream = Stream::new(seed, "shifts", 0);
    for (id, mut obstacle) in draft.scenario.obstacles().clone() {
        if !["crate", "stone", "cabinet"].contains(&obstacle.name.as_str()) {
            continue;
        }
        let by = DVec2::new(stream.next_in(-most, most), stream.next_in(-most, most));
        match &mut obstacle.shape {
            Shape::Box { x, y, .. } | Shape::Circle { x, y, .. } => {
                *x = (x.get() + by.x).into();
                *y = (y.get() + by.y).into();
            }
            Shape::Polygon { points } => points.iter_mut().for_each(|point| *point += by),
        }
        draft.apply(Edit::Obstacle(id, Some(Box::new(obstacle))));
    }
}

/// A random trip.
struct Drawn {
    start: Pose,
    goal: DVec2,
}

/// Draws the trips of a seed at random, one after another.
struct Trips {
    obstacles: Vec<Obstacle>,
    finder: TripFinder,
    planning: GroundPlanning,
    vehicle: VehicleType,
    vehicle_type: &'static str,
    drawing: Drawing,
    drawn: Vec<Drawn>,
}

impl Trips {
    fn draw(&mut self, stream: &mut Stream) {
        let [fewest, most] = self.drawing.drivers;
        let drivers = fewest + stream.next_index(most - fewest + 1);
        for _ in 0..DRAWS {
            if self.drawn.len() == drivers {
                return;
            }
            let drawn = self.draw_one(stream);
            if self.is_good(&drawn) {
                self.drawn.push(drawn);
            }
        }
    }

    fn draw_one(&self, stream: &mut Stream) -> Drawn {
        let heading = match self.drawing.is_aligned {
            true => FRAC_PI_2 * stream.next_index(4) as f64,
            false => stream.next_in(-PI, PI),
        };
        let start = self.anywhere(stream);
        Drawn {
            start: Pose::new(start.x, start.y, heading),
            goal: self.anywhere(stream),
        }
    }

    fn anywhere(&self, stream: &mut Stream) -> DVec2 {
        let [low, high] = self.drawing.area;
        DVec2::new(stream.next_in(low.x, high.x), stream.next_in(low.y, high.y))
    }

    fn is_good(&mut self, drawn: &Drawn) -> bool {
        let straight = (drawn.goal - drawn.start.position).length();
        let is_first = self.drawn.is_empty();
        let least = self.drawing.least[usize::from(!is_first)];
        if straight < least || (is_first && straight > self.drawing.first) {
            return false;
        }
        let apart = self.drawing.apart;
        let is_near = |other: &Drawn| {
            (other.start.position - drawn.start.position).length() < apart
                || (other.goal - drawn.goal).length() < apart
        };
        if self.drawn.iter().any(is_near) || !self.is_free(drawn) {
            return false;
        }
        let length = self.plan(drawn, 0.0).map(|plan| plan.length());
        length.is_some_and(|length| !is_first || length > DETOUR * straight)
            && (self.drawing.room <= 0.0 || self.plan(drawn, self.drawing.room).is_some())
    }

    /// Whether the body is free of obstacles at the start, and at the goal with any heading.
    fn is_free(&self, drawn: &Drawn) -> bool {
        let (vehicle, margin) = (&self.vehicle, self.drawing.margin);
        let middle = drawn.start.point(vehicle.body_centre(), 0.0);
        let pose = Pose::new(middle.x, middle.y, drawn.start.heading);
        let (length, width) = (vehicle.length.get(), vehicle.width.get());
        let at_start = OrientedBox::new(pose, length + 2.0 * margin, width + 2.0 * margin);
        let around = 0.5 * width + margin;
        let is_met = |obstacle: &Obstacle| {
            if obstacle.base.get() > vehicle.height.get() {
                return false;
            }
            let outline = obstacle.shape.outline();
            let goal = Pose::new(drawn.goal.x, drawn.goal.y, 0.0);
            let at_goal = OrientedBox::new(goal, 2.0 * around, 2.0 * around);
            [at_start, at_goal]
                .iter()
                .any(|body| body.polygon_penetration(&outline) > 0.0)
        };
        !self.obstacles.iter().any(is_met)
    }

    /// Plans a trip with a clearance of `room` on all sides of the vehicle, m.
    fn plan(&mut self, drawn: &Drawn, room: f64) -> Option<TripPlan> {
        let width = self.vehicle.width.get() + 2.0 * room;
        let vehicle = VehicleType {
            width: width.into(),
            ..self.vehicle.clone()
        };
        let of = Traveller {
            vehicle: &vehicle,
            vehicle_type: self.vehicle_type,
            stack: "",
            planning: self.planning,
        };
        of.plan(&mut self.finder, drawn)
    }
}

/// The vehicle and planners of a trip.
struct Traveller<'a> {
    vehicle: &'a VehicleType,
    vehicle_type: &'a str,
    stack: &'a str,
    planning: GroundPlanning,
}

impl Traveller<'_> {
    /// Plans a trip with any heading at its goal; `None` if no path is found.
    fn plan(&self, finder: &mut TripFinder, drawn: &Drawn) -> Option<TripPlan> {
        let question = TripQuestion {
            vehicle: self.vehicle,
            vehicle_type: self.vehicle_type,
            stack: self.stack,
            from: TripEnd {
                position: drawn.start.position,
                heading: Some(drawn.start.heading),
            },
            to: TripEnd {
                position: drawn.goal,
                heading: None,
            },
            planning: self.planning,
            most: MOST_CELLS,
        };
        match finder.answer(&question, || true) {
            TripAnswer::Found(plan) => Some(plan),
            TripAnswer::NoPath(_) | TripAnswer::Undecided => None,
        }
    }
}

impl Course {
    /// Whether this is one of the courses with paths between walls: `maze`, `office`,
    /// `obstacle-town` and `hill-country-drive`.
    pub fn is_on_open_ground(&self) -> bool {
        matches!(self.kind, Kind::OpenGround(_))
    }

    /// Returns the time that each agent would need without other traffic, s. It assumes the shortest path
    /// over the map and the speed of the agent's vehicle type. Agents without a destination or without a path
    /// are left out.
    ///
    /// Uses the course's own planner for open ground if it has one, otherwise the default planner.
    pub fn free_times(&self, scenario: &Scenario) -> Vec<(AgentId, f64)> {
        let planning = planning_of(self.ground_planner());
        let mut finder = TripFinder::new(Arc::new(scenario.clone()), None, None);
        let agents = scenario.agents().iter();
        let times = agents.filter_map(|(&id, agent)| {
            let vehicle = scenario.vehicle_types().get(&agent.vehicle)?;
            let trip = Drawn {
                start: scenario.pose_of(&agent.start)?,
                goal: scenario.pose_of(agent.destination.as_ref()?)?.position,
            };
            let of = Traveller {
                vehicle,
                vehicle_type: &agent.vehicle,
                stack: &agent.stack,
                planning,
            };
            let plan = of.plan(&mut finder, &trip)?;
            Some((id, plan.time()))
        });
        times.collect()
    }

    /// Returns the stack of the course's drivers, unless a setup names another one.
    pub(super) fn driver_stack(&self) -> Stack {
        let stack = Stack::with_controller(self.driver);
        match self.kind {
            // With its default gain, the driver's turning radius is 25 m, too large for the space between
            // walls.
            Kind::OpenGround(site) => Stack {
                controller: site.calibrated(
                    ModuleSetting::new(self.driver)
                        .with("avoid_steering_gain", 2.5)
                        .with("route_steering_gain", site.steering_gain()),
                ),
                ..stack
            },
            Kind::Track(_) => Stack {
                ground_planner: self.ground_planner(),
                ..stack
            },
            _ => stack,
        }
    }

    /// Returns the planner for open ground of the course's drivers, unless a setup names another
    /// one. `None` for the default.
    pub(super) fn ground_planner(&self) -> Option<ModuleSetting> {
        match self.kind {
            Kind::OpenGround(site) => site.planner(),
            Kind::Bay(_) => Some(ModuleSetting::new("drivable_path").with("arrive", 1.0)),
            Kind::Track(_) => Some(track::planner()),
            _ if self.is_without_planner() => Some(ModuleSetting::new("straight")),
            _ => None,
        }
    }
}
