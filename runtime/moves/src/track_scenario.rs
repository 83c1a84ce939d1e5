//! Scenarios of tracks: walls as obstacles, cars as agents at constant speed, and a racer with a move tree.

use crate::body::Convex;
use crate::course::{CarLine, Course, LineEnd};
use crate::shipped::Loaded;
use crate::text::MoveFileError;
use roadwright_geometry::{DVec2, heading_of, left_of};
use roadwright_scenario::vehicle_file::{FileReference, SHIPPED, VehicleFile};
use roadwright_scenario::{
    About, Agent, AgentId, DynamicsLevel, Edit, EditError, ModuleSetting, MoveLibrary, Obstacle,
    ObstacleId, Place, Scenario, Shape, Stack, VehicleType,
};
use roadwright_vehicle::sliding::SlidingModel;
use std::sync::Arc;

/// Name of the vehicle that drives on the track.
const RACER: &str = "sliding-racer";
/// Key of the vehicle type, the stack and the agent that drives on the track.
const RACER_KEY: &str = "racer";
/// Key of the vehicle type and the stack of the other cars.
const CAR_KEY: &str = "track_car";
/// Thickness of walls, m.
const THICKNESS: f64 = 0.3;
/// Ends of two walls within this distance count as a common end, m.
const CLOSE: f64 = 1e-6;
/// Height of walls, m.
const WALL_HEIGHT: f64 = 1.0;
/// An agent has reached a goal on open ground within this distance of it, m. Goals of cars are
/// moved forward by this distance, so that the cars turn at the corners of their lines.
const GOAL_RADIUS: f64 = 6.0;
/// Time step, s. A frame of the shipped libraries lasts two steps.
const TIME_STEP: f64 = 0.02;
/// Planning horizon of the racer, frames.
const HORIZON: f64 = 200.0;
/// Maximum number of nodes in a plan of the racer.
const NODES: f64 = 5000.0;

/// The vehicle that drives on a track.
#[derive(Debug, Clone)]
pub struct Racer {
    /// Vehicle type of the racer.
    pub kind: VehicleType,
    /// Level of dynamics of the racer.
    pub level: DynamicsLevel,
    /// Ground planner of the racer.
    pub planner: ModuleSetting,
    /// Time step of the scenario, s.
    pub dt: f64,
}

impl Default for Racer {
    /// Returns the sliding racer, with the shipped library `large`.
    fn default() -> Self {
        Self {
            kind: racer(),
            level: DynamicsLevel::Sliding,
            planner: ModuleSetting::new("move_tree")
                .with("horizon", HORIZON)
                .with("nodes", NODES),
            dt: TIME_STEP,
        }
    }
}

impl Racer {
    /// Returns the sliding racer, with the shipped library `shunting`, for [`Yard`](crate::Yard)s.
    pub fn shunting() -> Self {
        let planner = ModuleSetting::new("move_tree")
            .with("library", SHUNTING)
            .with("horizon", SHUNTING_HORIZON)
            .with("nodes", SHUNTING_NODES)
            .with("heuristic", DETOURS);
        Self {
            planner,
            ..Self::default()
        }
    }

    /// Returns a vehicle with a custom library, at level `sliding` if its file has values for it,
    /// otherwise at `one_track`. `path` is the path of the vehicle file relative to the scenario.
    ///
    /// # Errors
    /// If the library cannot be read.
    pub fn with_library(
        vehicle: &VehicleFile,
        path: &str,
        library: MoveLibrary,
    ) -> Result<Self, MoveFileError> {
        let loaded = Loaded::from_texts(&library.moves, &library.clips)?;
        let period = 1.0 / loaded.library.rate();
        // Slightly less, because rounding could otherwise add a step.
        let steps = (period / TIME_STEP * (1.0 - 1e-9)).ceil();
        Ok(Self {
            kind: VehicleType {
                move_libraries: vec![library],
                ..of_file(vehicle, path)
            },
            level: match SlidingModel::of_file(vehicle) {
                Some(_) => DynamicsLevel::Sliding,
                None => DynamicsLevel::OneTrack,
            },
            planner: Self::default().planner.with("library", OF_VEHICLE),
            dt: period / steps,
        })
    }
}

/// Value of the planner's parameter `library` that selects the libraries of the vehicle type.
const OF_VEHICLE: f64 = 5.0;
/// Planning horizon of a racer that shunts, frames. With a horizon of 8 s, the turn in a narrow
/// passage takes longer than a plan, so the racer goes back and forth in front of it.
const SHUNTING_HORIZON: f64 = 400.0;
/// Maximum number of nodes in a plan of a racer that shunts.
const SHUNTING_NODES: f64 = 200_000.0;
/// Value that selects the library `shunting`.
const SHUNTING: f64 = 6.0;
/// Value of the planner's parameter `heuristic` that selects `detours`.
const DETOURS: f64 = 1.0;

impl Course {
    /// Converts the course to a scenario. The racer starts where the course starts, and drives to
    /// the goals of the course. Bodies of cars point in the direction in which they drive, whatever
    /// their tilt on the course.
    ///
    /// # Errors
    /// If a number is out of the range of scenarios, such as a corridor of a thousand kilometres.
    pub fn scenario(&self, description: &str, racer: &Racer) -> Result<Scenario, EditError> {
        let mut scenario = Scenario::new(&self.name);
        let about = About {
            description: description.to_owned(),
            ..scenario.about().clone()
        };
        let mut settings = scenario.settings();
        settings.dt = racer.dt.into();
        settings.duration = self.seconds.into();
        settings.dynamics = DynamicsLevel::OneTrack;
        let stack = Stack {
            ground_planner: Some(racer.planner.clone()),
            ..Stack::with_controller("idm")
        };
        for edit in [
            Edit::About(Box::new(about)),
            Edit::Settings(settings),
            Edit::VehicleType(RACER_KEY.into(), Some(Box::new(racer.kind.clone()))),
            Edit::Stack(RACER_KEY.into(), Some(Box::new(stack))),
        ] {
            scenario.apply(edit)?;
        }
        // A wall behind the start would block the cars that come from there.
        let is_entrance = |wall: &Convex| {
            let mut lines = self.cars.iter().map(|car| car.line[0]);
            lines.any(|begin| wall.meets(&Convex::line(begin, begin)))
        };
        let walls = self.walls.iter().filter(|wall| !is_entrance(wall));
        for (number, wall) in (1..).zip(walls) {
            let corners = wall.corners();
            let obstacle = self.wall(corners[0], corners[corners.len() - 1]);
            scenario.apply(Edit::Obstacle(ObstacleId(number), Some(Box::new(obstacle))))?;
        }
        self.add_cars(&mut scenario)?;
        let mut goals: Vec<Place> = self.goals.iter().map(|&goal| place(goal, 0.0)).collect();
        let destination = goals.pop();
        let agent = Agent {
            name: RACER_KEY.into(),
            vehicle: RACER_KEY.into(),
            stack: RACER_KEY.into(),
            start: place(self.start.position, self.start.heading),
            via: goals,
            destination,
            depart: 0.0.into(),
            speed: 0.0.into(),
            dynamics: Some(racer.level),
            repeat: None.into(),
        };
        scenario.apply(Edit::Agent(AgentId(1), Some(Box::new(agent))))?;
        Ok(scenario)
    }

    /// Creates a wall along a line, on the side that is away from the track.
    fn wall(&self, from: DVec2, to: DVec2) -> Obstacle {
        let along = (to - from).normalize_or(DVec2::X);
        let middle = 0.5 * (from + to);
        let towards = self.nearest_on_centre(middle) - middle;
        let outwards = match left_of(along).dot(towards) > 0.0 {
            true => -left_of(along),
            false => left_of(along),
        };
        // Two walls would overlap where the track turns towards them.
        let overlap = self.overlap(along, outwards, to);
        let centre = middle + outwards * (0.5 * THICKNESS) - along * (0.5 * overlap);
        Obstacle {
            name: "wall".into(),
            shape: Shape::Box {
                x: centre.x.into(),
                y: centre.y.into(),
                heading: heading_of(along).into(),
                length: ((to - from).length() - overlap).into(),
                width: THICKNESS.into(),
            },
            base: 0.0.into(),
            height: WALL_HEIGHT.into(),
            mass: None.into(),
        }
    }

    /// Length of the overlap between the end of a wall and the next wall, m. `along` is the
    /// direction of the wall and `outwards` the side on which it is thick.
    fn overlap(&self, along: DVec2, outwards: DVec2, end: DVec2) -> f64 {
        let next = self.walls.iter().find_map(|wall| {
            let corners = wall.corners();
            let is_next = (corners[0] - end).length() < CLOSE;
            is_next.then(|| (corners[corners.len() - 1] - corners[0]).normalize_or(along))
        });
        let next = next.filter(|next| next.dot(outwards) > CLOSE);
        // The tangent of half the angle between both walls.
        next.map_or(0.0, |next| {
            THICKNESS * next.dot(outwards) / (1.0 + next.dot(along)).max(CLOSE)
        })
    }

    /// Returns the point of the centre line that is nearest to a position.
    fn nearest_on_centre(&self, place: DVec2) -> DVec2 {
        let points = self.centre.windows(2).map(|pair| {
            let along = pair[1] - pair[0];
            let share = (place - pair[0]).dot(along) / along.length_squared();
            pair[0] + along * share.clamp(0.0, 1.0)
        });
        let near = |a: &DVec2, b: &DVec2| {
            let [a, b] = [a, b].map(|point| (*point - place).length_squared());
            a.total_cmp(&b)
        };
        points.min_by(near).unwrap_or(place)
    }

    /// Adds the cars that are on the track at the start, and the cars that appear at the beginnings of their
    /// lines later.
    fn add_cars(&self, scenario: &mut Scenario) -> Result<(), EditError> {
        let Some(first) = self.cars.first() else {
            return Ok(());
        };
        let kind = car(first.size);
        scenario.apply(Edit::VehicleType(
            CAR_KEY.into(),
            Some(Box::new(kind.clone())),
        ))?;
        let controller = ModuleSetting::new("constant_speed").with("speed", first.speed);
        let stack = Stack {
            controller,
            ground_planner: Some(ModuleSetting::new("straight")),
            ..Stack::with_controller("idm")
        };
        scenario.apply(Edit::Stack(CAR_KEY.into(), Some(Box::new(stack))))?;
        let mut number = 2;
        for car in &self.cars {
            for departure in car.departures(self.seconds) {
                let agent = departure.agent(car, &kind, number);
                scenario.apply(Edit::Agent(AgentId(number), Some(Box::new(agent))))?;
                number += 1;
            }
        }
        Ok(())
    }
}

/// A drive of a car along its line.
struct Departure {
    /// Start of the drive, s.
    time: f64,
    /// Distance along the line at the start, m.
    along: f64,
}

impl CarLine {
    /// Returns the drives of the car within `seconds`. The first one starts at the car's initial
    /// position, and each of the others starts at the beginning of the line, when the car jumps
    /// back there.
    fn departures(&self, seconds: f64) -> Vec<Departure> {
        if !self.is_present(0.0) {
            return Vec::new();
        }
        let length = self.length();
        let along = self.phase.rem_euclid(length);
        let mut departures = vec![Departure { time: 0.0, along }];
        if self.speed > 0.0 && self.end == LineEnd::Returns {
            let mut time = (length - along) / self.speed;
            while time < seconds {
                departures.push(Departure { time, along: 0.0 });
                time += length / self.speed;
            }
        }
        departures
    }
}

impl Departure {
    fn agent(&self, car: &CarLine, kind: &VehicleType, number: u32) -> Agent {
        let mut left = self.along;
        let mut piece = 0;
        let length = |piece: usize| (car.line[piece + 1] - car.line[piece]).length();
        while piece + 2 < car.line.len() && left >= length(piece) {
            left -= length(piece);
            piece += 1;
        }
        let direction = |piece: usize| (car.line[piece + 1] - car.line[piece]).normalize();
        let centre = car.line[piece] + direction(piece) * left;
        // The position of an agent is the position of its rear axle.
        let start = centre - direction(piece) * kind.body_centre();
        let mut goals: Vec<Place> = (piece..car.line.len() - 1)
            .map(|piece| {
                let corner = car.line[piece + 1] + direction(piece) * GOAL_RADIUS;
                place(corner, 0.0)
            })
            .collect();
        let destination = goals.pop();
        Agent {
            name: format!("car {}", number - 1),
            vehicle: CAR_KEY.into(),
            stack: CAR_KEY.into(),
            start: place(start, heading_of(direction(piece))),
            via: goals,
            destination,
            depart: self.time.into(),
            speed: car.speed.into(),
            dynamics: None,
            repeat: None.into(),
        }
    }
}

fn place(position: DVec2, heading: f64) -> Place {
    Place::ground(position.x, position.y, heading)
}

/// Returns the sliding racer, with its file.
fn racer() -> VehicleType {
    let shipped = SHIPPED.iter().find(|one| one.name == RACER);
    let shipped = shipped.expect("the sliding racer ships with the program");
    let vehicle = VehicleFile::from_text(shipped.text).expect("shipped vehicles are valid");
    of_file(&vehicle, shipped.path)
}

/// Returns the vehicle type of a file with the given path.
fn of_file(vehicle: &VehicleFile, path: &str) -> VehicleType {
    VehicleType {
        file: Some(Arc::new(FileReference {
            path: path.to_owned(),
            hash: String::new(),
            was: None,
            vehicle: vehicle.clone(),
        })),
        ..vehicle.vehicle_type()
    }
}

/// Returns a car on the track. `size` is its length and width, m.
fn car(size: DVec2) -> VehicleType {
    VehicleType {
        name: "Track car".into(),
        length: size.x.into(),
        width: size.y.into(),
        wheelbase: (0.6 * size.x).into(),
        rear_overhang: (0.2 * size.x).into(),
        ..VehicleType::car()
    }
}
