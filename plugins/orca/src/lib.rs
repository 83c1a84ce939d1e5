//! Optimal reciprocal collision avoidance for cars on open ground.
//!
//! Each vehicle considers the velocities of its neighbours. A velocity avoids them if there is no
//! collision for a few seconds, provided that each neighbour does its half of the avoidance
//! ([`velocity`]). Among these velocities, the vehicle chooses the one nearest to its preferred
//! velocity. A car cannot reach every velocity: it drives forwards, turns slowly, and accelerates
//! and brakes within limits. Its choice is therefore limited to headings that it reaches within
//! `TURN_TIME` and to speeds that it reaches within `SPEED_TIME`, and it then steers towards the
//! chosen heading. On lanes, the built-in module drives.

pub mod velocity;

use roadwright_plugin_sdk::math::{atan, atan2, cos, hypot, sin, tan};
use roadwright_plugin_sdk::prelude::*;
use velocity::{HalfPlane, Neighbour, Vector, avoiding, choose};

/// Lanelet of points off the lanes.
const NO_LANELET: u32 = u32::MAX;
/// Time within which a heading is reached, s.
const TURN_TIME: f64 = 0.7;
/// Time within which a higher speed is reached, s.
const SPEED_TIME: f64 = 0.5;
/// Time constant of the speed, s.
const RESPONSE: f64 = 0.35;
/// Largest lateral acceleration, m/s^2.
const LATERAL: f64 = 4.0;
/// Lower bound on the speed from which the reachable headings are computed, m/s.
const ROLLING: f64 = 2.0;
/// Largest angle between the heading and the preferred velocity, rad. A vehicle that has to turn
/// round drives a bend.
const SIDEWAYS: f64 = 1.2;
/// Deceleration at which a vehicle approaches its destination, m/s^2.
const ARRIVING: f64 = 1.5;
/// Distance before the destination at which a vehicle stops, m.
const ARRIVED: f64 = 4.0;
/// Distance to the destination below which a vehicle no longer keeps to the right, m.
const FINAL: f64 = 12.0;
/// Minimum closing speed at which a neighbour counts as approaching, m/s.
const COMING: f64 = 0.5;
/// Total weight of approaching neighbours at which the bias to the right is complete.
const CROWD: f64 = 3.0;
/// Time within which vehicles that are too close move apart, s.
const APART: f64 = 0.3;
/// Largest random change of the preferred direction, rad. It resolves encounters that look the same
/// to both vehicles.
const NOISE: f64 = 0.03;
/// Lookahead along the path for the preferred direction, m.
const DIRECTION: f64 = 10.0;

/// The controller and its parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct Orca {
    horizon: f64,
    margin: f64,
    keep_right: f64,
    radius: f64,
    planes: Vec<HalfPlane>,
    scratch: Vec<HalfPlane>,
}

impl Default for Orca {
    fn default() -> Self {
        Self {
            horizon: 2.5,
            margin: 0.4,
            keep_right: 0.6,
            radius: 30.0,
            planes: Vec::new(),
            scratch: Vec::new(),
        }
    }
}

impl Plugin for Orca {
    const INFO: PluginInfo = PluginInfo::new("com.example.orca", "ORCA", "1.0.0")
        .author("Roadwright")
        .doc(
            "Avoids other vehicles on open ground by optimal reciprocal collision avoidance, with \
             velocities that a car can drive.",
        );

    fn parameters(&mut self, list: &mut Parameters<'_>) {
        list.number("horizon", &mut self.horizon, 0.5..=10.0)
            .unit("s")
            .doc("Time horizon for avoiding other vehicles.");
        list.number("margin", &mut self.margin, 0.0..=5.0)
            .unit("m")
            .doc("Distance kept between the circles around two vehicles.");
        list.number("keep_right", &mut self.keep_right, -1.2..=1.2)
            .unit("rad")
            .doc("Angle by which a vehicle in a crowd veers to the right; negative to the left.");
        list.number("radius", &mut self.radius, 5.0..=100.0)
            .unit("m")
            .doc("Distance within which other vehicles are considered.");
    }
}

/// The agent's own vehicle.
struct Own {
    speed: f64,
    /// Velocity of the centre of the vehicle's box, in the vehicle's frame, m/s.
    velocity: Vector,
    /// Distance from the rear axle to the centre of the box, m.
    middle: f64,
    /// Radius of the circle around the box, m.
    radius: f64,
    /// Maximum curvature that the vehicle can drive, 1/m.
    bend: f64,
}

/// An object around the vehicle.
struct Seen<'a> {
    near: &'a NearData,
    object: &'a ObjectData,
    outline: List<'a, RwPoint>,
}

impl ModelController for Orca {
    const NEAR: bool = true;

    fn path(&self) -> Option<PathNeeds> {
        Some(PathNeeds {
            distance: 30.0,
            time: 0.0,
            spacing: 2.0,
            most: 18,
        })
    }

    fn near(&self) -> Option<NearNeeds> {
        Some(NearNeeds {
            radius: self.radius,
            most: 24,
            trees: true,
        })
    }

    fn control(
        &mut self,
        agent: &Agent,
        input: &NeedsInput,
        ahead: &Ahead<'_>,
    ) -> Option<ControllerOutput> {
        let (first, vehicle) = (ahead.path.get(0)?, ahead.vehicle?);
        // On lanes, and backwards, the built-in module drives.
        if first.lanelet != NO_LANELET || first.flags & PATH_REVERSE != 0 {
            return None;
        }
        let middle = 0.5 * (vehicle.axle_to_front - vehicle.axle_to_rear);
        let own = Own {
            speed: input.seen.speed,
            velocity: Vector::new(
                input.seen.speed,
                input.motion.lateral_speed + input.motion.yaw_rate * middle,
            ),
            middle,
            radius: 0.5 * hypot(vehicle.length, vehicle.width),
            bend: tan(vehicle.max_steering) / vehicle.wheelbase,
        };
        self.planes.clear();
        let reach = self.limit_to_car(&own, vehicle);
        let hard = self.planes.len();
        let crowd = self.avoid_all(input, &own, ahead);
        let wanted = self.preferred(agent, input, ahead, crowd);
        let most = input.seen.road_speed.max(own.speed);
        let chosen = choose(&self.planes, hard, most, wanted, &mut self.scratch);
        Some(drive(chosen, &own, vehicle, reach))
    }
}

impl Orca {
    /// Adds half-planes that limit the velocity to what the vehicle can drive. Returns the largest
    /// change of heading within `TURN_TIME`, rad.
    fn limit_to_car(&mut self, own: &Own, vehicle: &VehicleData) -> f64 {
        let speed = own.speed.max(ROLLING);
        let turn = (speed * own.bend).min(LATERAL / speed);
        let reach = (turn * TURN_TIME).min(SIDEWAYS);
        let zero = Vector::default();
        let side = |along: Vector, point: Vector| HalfPlane { point, along };
        let fastest = Vector::new(own.speed + vehicle.max_acceleration * SPEED_TIME, 0.0);
        self.planes.extend([
            side(Vector::new(-cos(reach), -sin(reach)), zero),
            side(Vector::new(cos(reach), -sin(reach)), zero),
            side(Vector::new(0.0, 1.0), fastest),
        ]);
        reach
    }

    /// Adds the half-planes of velocities that avoid nearby objects. Returns the degree of crowding
    /// by approaching agents, 0 to 1.
    fn avoid_all(&mut self, input: &NeedsInput, own: &Own, ahead: &Ahead<'_>) -> f64 {
        let mut crowd = 0.0;
        for near in ahead.near.iter() {
            let Some(object) = ahead.object(near) else {
                continue;
            };
            let seen = Seen {
                near,
                object,
                outline: ahead.outline(object),
            };
            let other = self.neighbour(input, own, seen);
            let distance = hypot(other.position.x, other.position.y).max(0.1);
            let apart = Vector::new(
                own.velocity.x - other.velocity.x,
                own.velocity.y - other.velocity.y,
            );
            let closing = (apart.x * other.position.x + apart.y * other.position.y) / distance;
            if closing > COMING && object.flags & OBJECT_IS_AGENT != 0 {
                crowd += (1.0 - distance / self.radius).max(0.0);
            }
            let plane = avoiding(own.velocity, &other, self.horizon, APART);
            self.planes.push(plane);
        }
        (crowd / CROWD).min(1.0)
    }

    /// Converts an object to a disc in the vehicle's own frame, whose origin is the middle of the
    /// vehicle's box.
    fn neighbour(&self, input: &NeedsInput, own: &Own, seen: Seen<'_>) -> Neighbour {
        let Seen {
            near,
            object,
            outline,
        } = seen;
        let velocity = Vector::new(
            near.velocity_ahead + own.speed,
            near.velocity_left + input.motion.lateral_speed,
        );
        let is_agent = object.flags & OBJECT_IS_AGENT != 0;
        let radius = match object.flags & OBJECT_IS_ROUND != 0 {
            true => 0.5 * object.length,
            false => 0.5 * hypot(object.length, object.width),
        };
        if outline.is_empty() {
            return Neighbour {
                position: Vector::new(near.ahead - own.middle, near.left),
                velocity,
                radius: own.radius + radius + self.margin,
                // Other agents do the other half of the avoidance.
                share: if is_agent { 0.5 } else { 1.0 },
            };
        }
        // For a wall, only the nearest point matters.
        let heading = (cos(input.motion.heading), sin(input.motion.heading));
        let (x, y) = (
            input.motion.x + own.middle * heading.0,
            input.motion.y + own.middle * heading.1,
        );
        let (px, py) = nearest_point(outline, x, y);
        let (dx, dy) = (px - x, py - y);
        Neighbour {
            position: Vector::new(
                dx * heading.0 + dy * heading.1,
                dy * heading.0 - dx * heading.1,
            ),
            velocity,
            radius: own.radius + self.margin,
            share: 1.0,
        }
    }

    /// Returns the preferred velocity of the vehicle in its own frame: along its path, to the right
    /// of it in a crowd, and slower before its destination.
    fn preferred(
        &self,
        agent: &Agent,
        input: &NeedsInput,
        ahead: &Ahead<'_>,
        crowd: f64,
    ) -> Vector {
        let path = || ahead.path.iter();
        let target = path().find(|point| point.s >= input.path_s + DIRECTION);
        let target = target.or(path().last());
        let end = path().find(|point| point.flags & PATH_END != 0);
        let left = end.map_or(NOTHING, |point| point.s - input.path_s);
        let motion = &input.motion;
        let mut angle = target.map_or(0.0, |point| {
            turn(atan2(point.y - motion.y, point.x - motion.x) - motion.heading)
        });
        if left > FINAL {
            let noise = (agent.seed >> 11) as f64 / (1u64 << 53) as f64 - 0.5;
            angle -= self.keep_right * crowd + 2.0 * NOISE * noise;
        }
        let angle = angle.clamp(-SIDEWAYS, SIDEWAYS);
        let arriving = (2.0 * ARRIVING * (left - ARRIVED).max(0.5)).sqrt();
        let speed = input.seen.road_speed.min(arriving) * (1.0 - 0.5 * angle.abs() / SIDEWAYS);
        Vector::new(speed * cos(angle), speed * sin(angle))
    }
}

/// Returns the acceleration and steering angle that bring a car to a velocity in its own frame.
/// `reach` is the change of its heading within [`TURN_TIME`], rad.
fn drive(chosen: Vector, own: &Own, vehicle: &VehicleData, reach: f64) -> ControllerOutput {
    let speed = hypot(chosen.x, chosen.y);
    let angle = match speed > 0.05 {
        true => atan2(chosen.y, chosen.x).clamp(-reach, reach),
        false => 0.0,
    };
    let acceleration = (speed - own.speed) / RESPONSE;
    let bend = angle / (TURN_TIME * own.speed.max(1.0));
    let most = own.bend.min(LATERAL / (own.speed * own.speed).max(0.1));
    ControllerOutput {
        acceleration: acceleration.clamp(-vehicle.max_braking, vehicle.max_acceleration),
        steering: atan(vehicle.wheelbase * bend.clamp(-most, most)),
    }
}

/// Returns the point of a convex outline that is nearest to a position.
fn nearest_point(outline: List<'_, RwPoint>, x: f64, y: f64) -> (f64, f64) {
    let count = outline.len();
    let corner = |number: usize| outline.get(number % count).copied().unwrap_or_default();
    let mut best = (f64::INFINITY, (x, y));
    for number in 0..count {
        let (a, b) = (corner(number), corner(number + 1));
        let (ex, ey) = (b.x - a.x, b.y - a.y);
        let along = ((x - a.x) * ex + (y - a.y) * ey) / (ex * ex + ey * ey).max(1e-9);
        let along = along.clamp(0.0, 1.0);
        let place = (a.x + along * ex, a.y + along * ey);
        let distance = hypot(place.0 - x, place.1 - y);
        if distance < best.0 {
            best = (distance, place);
        }
    }
    best.1
}

/// Returns the equivalent angle between -pi and pi.
fn turn(angle: f64) -> f64 {
    use std::f64::consts::TAU;
    angle - (angle / TAU).round() * TAU
}

export_plugin!(Orca: ModelController);

#[cfg(test)]
mod tests {
    use super::*;

    const CAR: VehicleData = VehicleData {
        length: 4.5,
        width: 1.8,
        height: 1.5,
        wheelbase: 2.7,
        axle_to_front: 3.6,
        axle_to_rear: 0.9,
        mass: 0.0,
        max_speed: 50.0,
        max_acceleration: 2.6,
        max_braking: 8.0,
        max_steering: 0.6,
        max_steering_rate: 0.9,
        steering_delay: 0.0,
        steering_lag: 0.0,
        drive_delay: 0.0,
        drive_lag: 0.0,
        brake_delay: 0.0,
        brake_lag: 0.0,
        hitches: 0,
        hitch_count: 0,
    };
    const AGENT: Agent = Agent {
        id: 1,
        index: 0,
        seed: 1 << 63,
    };

    /// Points of a straight path to the east, off the lanes.
    fn path() -> Vec<PathPoint> {
        let point = |number: u32| PathPoint {
            s: 2.0 * f64::from(number),
            x: 2.0 * f64::from(number),
            lanelet: NO_LANELET,
            ..PathPoint::default()
        };
        (0..18).map(point).collect()
    }

    fn asked(speed: f64, objects: &[ObjectData], near: &[NearData]) -> Option<ControllerOutput> {
        let path = path();
        let input = NeedsInput {
            seen: ControllerInput {
                speed,
                road_speed: 8.0,
                ..ControllerInput::default()
            },
            ..NeedsInput::default()
        };
        let ahead = Ahead {
            near: List::of(near),
            objects: List::of(objects),
            ..Ahead::new(&CAR, &path)
        };
        Orca::default().control(&AGENT, &input, &ahead)
    }

    /// Returns a car whose middle is `distance` metres ahead, with the given velocity relative to
    /// the agent.
    fn ahead(distance: f64, velocity: f64) -> ([ObjectData; 1], [NearData; 1]) {
        let object = ObjectData {
            flags: OBJECT_IS_AGENT,
            kind: OBJECT_VEHICLE,
            length: 4.5,
            width: 1.8,
            ..ObjectData::default()
        };
        let near = NearData {
            ahead: distance,
            velocity_ahead: velocity,
            ..NearData::default()
        };
        ([object], [near])
    }

    #[test]
    fn alone_it_drives_along_its_path() {
        let output = asked(5.0, &[], &[]).unwrap();
        assert_eq!(output.acceleration, CAR.max_acceleration);
        assert!(output.steering.abs() < 0.02, "{output:?}");
        assert!(asked(8.0, &[], &[]).unwrap().acceleration.abs() < 0.1);
    }

    #[test]
    fn it_bears_to_the_right_of_oncoming_cars_and_brakes_for_standing_ones() {
        let (objects, near) = ahead(25.0, -16.0);
        let output = asked(8.0, &objects, &near).unwrap();
        assert!(output.steering < -0.02, "{output:?}");
        let (objects, near) = ahead(8.0, -8.0);
        let output = asked(8.0, &objects, &near).unwrap();
        assert!(output.acceleration < -3.0, "{output:?}");
        // A vehicle that drives away as fast needs no reaction.
        let (objects, near) = ahead(8.0, 0.0);
        assert!(asked(8.0, &objects, &near).unwrap().acceleration > -0.1);
    }

    #[test]
    fn walls_are_avoided_at_their_nearest_point() {
        let corners = [(0.0, 2.0), (10.0, 2.0), (10.0, 3.0), (0.0, 3.0)];
        let corners = corners.map(|(x, y)| RwPoint { x, y });
        assert_eq!(nearest_point(List::of(&corners), 4.0, 0.0), (4.0, 2.0));
        assert_eq!(nearest_point(List::of(&corners), -3.0, 0.0), (0.0, 2.0));
    }

    #[test]
    fn on_lanes_the_built_in_module_drives() {
        let lane = [PathPoint::default(); 3];
        let ahead = Ahead::new(&CAR, &lane);
        let mut orca = Orca::default();
        assert_eq!(orca.control(&AGENT, &NeedsInput::default(), &ahead), None);
        let nothing = Ahead::NOTHING;
        assert_eq!(orca.control(&AGENT, &NeedsInput::default(), &nothing), None);
    }
}
