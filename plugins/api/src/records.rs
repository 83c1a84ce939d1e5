//! Input and output rows of batches.
//!
//! Records are `repr(C)` structures in SI units, mostly of doubles. The same bytes can be passed to a built-in
//! module, a compiled plugin or a script. Angles are in radians, positive to the left; distances are in metres.
//! If there is no leader, obstacle or stop, the distance is [`NOTHING`].

/// Distance that stands for "none", m. It is finite, so that arithmetic stays finite.
pub const NOTHING: f64 = 1.0e6;

/// Input of a controller for one agent.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ControllerInput {
    /// Speed of the agent, m/s.
    pub speed: f64,
    /// Speed allowed by the speed limit, by bends ahead and, on slippery ground, by the distance to
    /// the next stop, m/s.
    pub road_speed: f64,
    /// Wheelbase, m.
    pub wheelbase: f64,
    /// Overall length, m.
    pub length: f64,
    /// Distance from the middle of the rear axle to the next waypoint, m.
    pub waypoint_distance: f64,
    /// Angle to the next waypoint relative to the heading, rad.
    pub waypoint_angle: f64,
    /// Distance from the front to the closest point of the nearest obstacle ahead, m.
    pub obstacle_distance: f64,
    /// Angle to that point, relative to the heading, rad.
    pub obstacle_angle: f64,
    /// Closing speed of that obstacle, m/s.
    pub obstacle_closing_speed: f64,
    /// Bumper-to-bumper gap to the leader in the lane, m.
    pub leader_gap: f64,
    /// Speed of the leader, m/s.
    pub leader_speed: f64,
    /// Distance from the front to the point where the vehicle must stop, m. This is a stop line or the end of
    /// the route.
    pub stop_distance: f64,
    /// Lateral offset of the rear axle to the left of the lane's centre line, m.
    pub lane_offset: f64,
    /// Heading relative to the lane, rad.
    pub heading_error: f64,
    /// Curvature of the path at the waypoint, 1/m.
    pub path_curvature: f64,
    /// Angle of the front wheels, rad.
    pub steering: f64,
}

/// Motion of an agent's own vehicle. Since 1.3.
///
/// In C, these fields belong to `rw_controller_input` itself. While the vehicle reverses, [`ControllerInput`]
/// describes it as if it were turned around and drove forwards, but this record describes the vehicle itself.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct MotionInput {
    /// East (x) coordinate of the middle of the rear axle, m.
    pub x: f64,
    /// North (y) coordinate of the middle of the rear axle, m.
    pub y: f64,
    /// Height of the ground there, m.
    pub z: f64,
    /// Heading, counter-clockwise from east, rad.
    pub heading: f64,
    /// Pitch angle, rad; positive lowers the front.
    pub pitch: f64,
    /// Roll angle, rad; positive raises the left side.
    pub roll: f64,
    /// Speed of the rear axle to the left, m/s; 0 at levels without slip.
    pub lateral_speed: f64,
    /// Yaw rate, rad/s.
    pub yaw_rate: f64,
    /// Acceleration along the heading in the last step, m/s^2.
    pub acceleration: f64,
    /// Acceleration of the rear axle to the left, m/s^2.
    pub lateral_acceleration: f64,
    /// Acceleration of the last command, as the host has limited it, m/s^2.
    pub last_acceleration: f64,
    /// Steering angle of the last command, rad. It is mirrored while the vehicle reverses, like
    /// [`ControllerInput::steering`].
    pub last_steering: f64,
    /// Age of the values in the row, s.
    pub age: f64,
    /// Time until a command begins to act, s.
    pub delay: f64,
}

/// Index that stands for "none".
pub const NO_INDEX: u32 = u32::MAX;

/// Input of a controller that has requested more data than [`ControllerInput`]. Fields that it has
/// not requested are 0, except that `vehicle` and `object` are [`NO_INDEX`]. Since 1.3.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NeedsInput {
    /// Input of every controller.
    pub seen: ControllerInput,
    /// Motion of the vehicle.
    pub motion: MotionInput,
    /// Version of the route. While it stays the same, so does the origin of positions along the path.
    pub route_version: u64,
    /// Position of the rear axle along the path, m.
    pub path_s: f64,
    /// Index of the vehicle in the list of vehicles, or [`NO_INDEX`].
    pub vehicle: u32,
    /// Index of the first point of the path.
    pub path: u32,
    /// Number of points; 0 if no path is known.
    pub path_count: u32,
    /// Unused; always 0.
    pub reserved: u32,
    /// Index of the first entry of this row in the list of nearby objects. Since 1.4, like the
    /// following fields.
    pub near_first: u32,
    /// Number of nearby objects of this row.
    pub near_count: u32,
    /// 1 if there are more objects within the radius than the controller has requested, otherwise
    /// 0.
    pub near_more: u32,
    /// Index of the agent's own vehicle in the list of objects, or [`NO_INDEX`].
    pub object: u32,
}

impl NeedsInput {
    /// Returns the input of a controller that gets no data beyond its row.
    pub fn of(seen: ControllerInput) -> Self {
        Self {
            seen,
            motion: MotionInput::default(),
            route_version: 0,
            path_s: 0.0,
            vehicle: NO_INDEX,
            path: 0,
            path_count: 0,
            reserved: 0,
            near_first: 0,
            near_count: 0,
            near_more: 0,
            object: NO_INDEX,
        }
    }
}

impl Default for NeedsInput {
    fn default() -> Self {
        Self::of(ControllerInput::default())
    }
}

/// Input row of a controller that drives by pedals and has requested more data than
/// [`PedalsInput`].
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct NeedsPedalsInput {
    /// Input of every controller that has requested more data.
    pub needs: NeedsInput,
    /// Current capabilities of the vehicle.
    pub drive: DriveInput,
}

/// A vehicle type at a level of dynamics. Values that the level does not model are 0. Since 1.3.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct VehicleData {
    /// Overall length without trailers, m.
    pub length: f64,
    /// Width, m.
    pub width: f64,
    /// Height, m.
    pub height: f64,
    /// Wheelbase, m.
    pub wheelbase: f64,
    /// Distance from the rear axle to the front end, m.
    pub axle_to_front: f64,
    /// Distance from the rear axle to the rear end without trailers, m.
    pub axle_to_rear: f64,
    /// Mass, kg.
    pub mass: f64,
    /// Top speed, m/s.
    pub max_speed: f64,
    /// Maximum acceleration, m/s^2.
    pub max_acceleration: f64,
    /// Maximum deceleration, m/s^2, as a positive number.
    pub max_braking: f64,
    /// Maximum angle of the front wheels to either side, rad.
    pub max_steering: f64,
    /// Maximum steering rate of the front wheels, rad/s.
    pub max_steering_rate: f64,
    /// Dead time of the steering, s.
    pub steering_delay: f64,
    /// Time constant of the steering, s.
    pub steering_lag: f64,
    /// Dead time of the engine, s.
    pub drive_delay: f64,
    /// Time constant of the engine, s.
    pub drive_lag: f64,
    /// Dead time of the brakes, s.
    pub brake_delay: f64,
    /// Time constant of the brakes, s.
    pub brake_lag: f64,
    /// Index of the first trailer in the list of hitches.
    pub hitches: u32,
    /// Number of trailers.
    pub hitch_count: u32,
}

/// A trailer with its coupling. Since 1.3.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct HitchData {
    /// Position of the coupling, m ahead of the rear axle of the towing vehicle or, behind another
    /// trailer, of that trailer's coupling.
    pub coupling: f64,
    /// Distance from the coupling back to the trailer's axle, m.
    pub to_axle: f64,
    /// Position of the front end of the trailer, m ahead of the coupling.
    pub front: f64,
    /// Length of the trailer, m.
    pub length: f64,
    /// Width of the trailer, m.
    pub width: f64,
    /// Maximum angle to the vehicle in front, rad.
    pub max_angle: f64,
}

/// Flag of a point of a path: between two lanes.
pub const PATH_LANE_CHANGE: u32 = 1;
/// Flag of a point of a path: on a connection through a junction.
pub const PATH_CONNECTION: u32 = 2;
/// Flag of a point of a path: at or beyond the place where the rear axle has to stop now.
pub const PATH_STOP: u32 = 4;
/// Flag of a point of a path: to be driven backwards.
pub const PATH_REVERSE: u32 = 8;
/// Flag of a point of a path: beyond the destination, or beyond the end of this part of the path.
pub const PATH_END: u32 = 16;

/// A point of the path of the rear axle. Since 1.3.
///
/// Points lie at the multiples of the spacing that the controller has requested. As long as the
/// version of the route is the same, a point keeps its position, except for a requested lateral
/// offset and during lane changes.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct PathPoint {
    /// Position along the path, m.
    pub s: f64,
    /// East (x) coordinate, m.
    pub x: f64,
    /// North (y) coordinate, m.
    pub y: f64,
    /// Height of the ground, m.
    pub z: f64,
    /// Heading in the direction of travel, rad.
    pub heading: f64,
    /// Curvature, 1/m.
    pub curvature: f64,
    /// Slope of the path: height gained per metre along the path.
    pub grade: f64,
    /// Speed allowed by the limit and by bends, m/s.
    pub speed: f64,
    /// Free width from the point to the left edge of the lane, m. Off the lanes, it is half of the vehicle's
    /// width plus the clearance of the path.
    pub left: f64,
    /// Free width to the right, m.
    pub right: f64,
    /// Number of the lanelet, as planners see it; [`abi::NO_LANELET`](crate::abi::NO_LANELET) off the lanes.
    pub lanelet: u32,
    /// `PATH_*`, combined by bitwise or.
    pub flags: u32,
}

/// Kind of an object: a vehicle of an agent.
pub const OBJECT_VEHICLE: u32 = 1;
/// Kind of an object: a person on foot.
pub const OBJECT_PERSON: u32 = 2;
/// Kind of an object: a trailer.
pub const OBJECT_TRAILER: u32 = 3;
/// Kind of an object: an obstacle, such as a wall, a building or a cone.
pub const OBJECT_OBSTACLE: u32 = 4;
/// Kind of an object: a tree.
pub const OBJECT_TREE: u32 = 5;

/// Flag of an object: its id is that of an agent.
pub const OBJECT_IS_AGENT: u32 = 1;
/// Flag of an object: it is a disc, and its length is the diameter.
pub const OBJECT_IS_ROUND: u32 = 2;

/// A body of the world. Since 1.4.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ObjectData {
    /// Id of the agent that owns the vehicle or body, or tows the trailer. An uncoupled trailer has
    /// the id of the agent that uncoupled it. Persons without an agent, obstacles and forests have
    /// separate numbers.
    pub id: u64,
    /// Kind of the object, `OBJECT_*`.
    pub kind: u32,
    /// `OBJECT_IS_*`, combined by bitwise or.
    pub flags: u32,
    /// East (x) coordinate of the middle of the object's box, m.
    pub x: f64,
    /// North (y) coordinate of the middle of the object's box, m.
    pub y: f64,
    /// Height of the object's lower end, m.
    pub z: f64,
    /// Heading of the box's length, rad.
    pub heading: f64,
    /// East (x) component of the velocity of the object's middle, m/s.
    pub velocity_x: f64,
    /// North (y) component of the velocity of the object's middle, m/s.
    pub velocity_y: f64,
    /// Length of the box, m.
    pub length: f64,
    /// Width of the box, m.
    pub width: f64,
    /// Height of the object, m.
    pub height: f64,
    /// Number of the body among those of the same kind and id. Trailers are counted from 1 at the
    /// front, trees within their forest, and the bodies of an obstacle from 0. An obstacle that is
    /// not convex is divided into convex bodies.
    pub part: u32,
    /// Index of the object's first corner in the list of outlines.
    pub outline: u32,
    /// Number of corners of the object's convex outline, counter-clockwise; 0 if the outline is the
    /// box, or if the object is a disc.
    pub outline_count: u32,
    /// Unused; always 0.
    pub reserved: u32,
}

/// Flag of a nearby object: it is the leader on the agent's route.
pub const NEAR_LEADER: u32 = 1;
/// Flag of a nearby object: it has priority over the agent where both routes meet in the next
/// junction.
pub const NEAR_HAS_PRIORITY: u32 = 2;
/// Flag of a nearby object: both agents are in the same group.
pub const NEAR_SAME_TEAM: u32 = 4;

/// Value of `lane` of a nearby object that stands for "none".
pub const LANE_UNKNOWN: i32 = 1000;

/// An object, as seen by one agent. Since 1.4.
///
/// Directions are relative to the agent's own vehicle. Positions refer to the middle of the
/// object's box.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct NearData {
    /// Distance from the box of the agent's vehicle to the object, m; 0 if they touch.
    pub distance: f64,
    /// Position ahead of the agent's rear axle, m.
    pub ahead: f64,
    /// Position to the left of the agent's rear axle, m.
    pub left: f64,
    /// Velocity relative to the agent's rear axle along the agent's heading, m/s.
    pub velocity_ahead: f64,
    /// Velocity relative to the agent's rear axle to the left, m/s.
    pub velocity_left: f64,
    /// Position along the agent's own path, from the rear axle, m; [`NOTHING`] without a path.
    pub path_distance: f64,
    /// Position to the left of the path, m; 0 without a path.
    pub path_offset: f64,
    /// Index in the list of objects.
    pub object: u32,
    /// Lane of a vehicle: number of lanes between it and the lane of the agent's route there,
    /// positive to the left. 0 is the route's lane, and [`LANE_UNKNOWN`] means that the vehicle is
    /// on no lane in the same direction.
    pub lane: i32,
    /// `NEAR_*`, combined by bitwise or.
    pub flags: u32,
    /// Unused; always 0.
    pub reserved: u32,
}

/// Output of a controller.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ControllerOutput {
    /// Acceleration, m/s^2; negative to brake.
    pub acceleration: f64,
    /// Angle of the front wheels, rad.
    pub steering: f64,
}

/// Current capabilities of a vehicle. A controller with pedals receives them in addition to its
/// [`ControllerInput`]. Accelerations are positive in the intended direction of travel.
///
/// [`DriveInput::acceleration`] and [`DriveInput::pedals`] assume that the acceleration is linear in the
/// pedal position. This is exact for a vehicle without an engine. With an engine, it holds at the current
/// speed and in the current gear.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct DriveInput {
    /// Acceleration that the engine can provide at full throttle in the current gear, m/s^2. The tyres may
    /// transmit less ([`DriveInput::grip`]). Drag, rolling resistance and slope are included.
    pub full_throttle: f64,
    /// Acceleration if no pedal is pressed, m/s^2.
    pub coasting: f64,
    /// Acceleration if the foot brake is fully pressed, m/s^2. It is less than [`DriveInput::coasting`].
    pub full_brake: f64,
    /// Largest acceleration that the tyres can transmit here, m/s^2; [`NOTHING`] if it is not limited.
    pub grip: f64,
    /// Acceleration due to gravity, m/s^2; negative uphill. It is included in the first three fields.
    pub slope: f64,
    /// Acceleration in the last step, m/s^2.
    pub acceleration: f64,
    /// Throttle in the last step, 0 to 1; 0 without an engine.
    pub throttle: f64,
    /// Foot brake in the last step, 0 to 1; 0 without an engine.
    pub brake: f64,
    /// Engine speed, rpm. Like the next two fields, it is 0 without an engine.
    pub rpm: f64,
    /// Idle speed of the engine, rpm. The clutch slips below it.
    pub idle_rpm: f64,
    /// Maximum speed of the engine, rpm.
    pub limit_rpm: f64,
    /// Current gear, where 1 is the first forward gear and -1 the reverse gear; 0 without a gearbox.
    pub gear: f64,
    /// Number of gears in the intended direction of travel; 0 without a gearbox.
    pub gears: f64,
}

impl DriveInput {
    /// Returns the acceleration for pedal positions from 0 to 1, m/s^2, unless the tyres slip.
    pub fn acceleration(&self, throttle: f64, brake: f64) -> f64 {
        let pushed = throttle * (self.full_throttle - self.coasting);
        let braked = brake * (self.coasting - self.full_brake);
        self.coasting + pushed - braked
    }

    /// Returns the throttle and the brake (0 to 1) that give an acceleration in m/s^2 or come closest to it.
    /// If the acceleration is not finite, returns full brake.
    pub fn pedals(&self, acceleration: f64) -> (f64, f64) {
        if !acceleration.is_finite() {
            return (0.0, 1.0);
        }
        // At its maximum speed an engine gives no torque. Full throttle then makes the gearbox shift up.
        let share = |wanted: f64, whole: f64| {
            if wanted < whole {
                (wanted / whole).max(0.0)
            } else {
                1.0
            }
        };
        let more = acceleration - self.coasting;
        if more > 0.0 {
            (share(more, self.full_throttle - self.coasting), 0.0)
        } else if more < 0.0 {
            (0.0, share(-more, self.coasting - self.full_brake))
        } else {
            (0.0, 0.0)
        }
    }
}

/// Input row of a controller that drives by pedals.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct PedalsInput {
    /// Input of every controller.
    pub seen: ControllerInput,
    /// Current capabilities of the vehicle.
    pub drive: DriveInput,
}

/// Output of a controller that drives by pedals.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct PedalsOutput {
    /// Throttle, 0 to 1, as a fraction of the torque that the engine can provide.
    pub throttle: f64,
    /// Foot brake, 0 to 1.
    pub brake: f64,
    /// Hand brake; applied if above 0.5.
    pub hand_brake: f64,
    /// Gear, where 1 is the first gear in the intended direction of travel; 0 leaves the choice to the
    /// gearbox.
    pub gear: f64,
    /// Angle of the front wheels, rad.
    pub steering: f64,
}

impl PedalsOutput {
    /// Converts an acceleration and a steering angle to pedals.
    pub fn of(command: ControllerOutput, drive: &DriveInput) -> Self {
        let (throttle, brake) = drive.pedals(command.acceleration);
        Self {
            throttle,
            brake,
            steering: command.steering,
            ..Self::default()
        }
    }
}

/// Input of a behaviour for one agent.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct BehaviourInput {
    /// Speed of the agent, m/s.
    pub speed: f64,
    /// Speed allowed by the road, m/s.
    pub road_speed: f64,
    /// Direction of the lane change that the route requires: 1 to the left, -1 to the right, 0 for none.
    pub lane_change_needed: f64,
    /// Distance to the end of the lane, m. If the agent still has to change to the goal's lane,
    /// this is the distance to the point beside the goal.
    pub lane_remaining: f64,
    /// Gap ahead in the target lane, m.
    pub target_gap_ahead: f64,
    /// Speed of the vehicle ahead in the target lane, m/s.
    pub target_speed_ahead: f64,
    /// Gap behind in the target lane, m.
    pub target_gap_behind: f64,
    /// Speed of the vehicle behind in the target lane, m/s.
    pub target_speed_behind: f64,
    /// Gap to the leader, m.
    pub leader_gap: f64,
    /// Speed of the leader, m/s.
    pub leader_speed: f64,
    /// Time for which the agent has been stationary, s.
    pub waiting: f64,
    /// Distance along the route to the next junction, m.
    pub junction_distance: f64,
    /// Direction of the route at that junction: 0 straight on, 1 left, -1 right, 2 U-turn.
    pub junction_turn: f64,
    /// Straight-line distance to the next goal, m.
    pub goal_distance: f64,
    /// 1 if there is a lane to the left to which the vehicle can change, otherwise 0.
    pub lane_left: f64,
    /// 1 if there is a lane to the right to which the vehicle can change, otherwise 0.
    pub lane_right: f64,
}

/// Output of a behaviour.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BehaviourOutput {
    /// Lane change to start now: 1 to the left, -1 to the right, 0 for none. A change that is not required by
    /// the route is made only if there is a gap and the goals can be reached from the other lane.
    pub lane_change: f64,
    /// Factor on the speed allowed by the road, 0 to 2.
    pub speed_factor: f64,
    /// Maximum speed, m/s; [`NOTHING`] for no limit other than that of the road.
    pub top_speed: f64,
}

impl Default for BehaviourOutput {
    fn default() -> Self {
        Self {
            lane_change: 0.0,
            speed_factor: 1.0,
            top_speed: NOTHING,
        }
    }
}

/// Input of a planner: a request for a route. The host numbers the lanelets (lanes and connections).
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct PlannerInput {
    /// Current lanelet of the agent.
    pub lanelet: u32,
    /// Lanelet of the destination.
    pub goal_lanelet: u32,
    /// Distance along the lanelet, m.
    pub s: f64,
    /// Distance of the destination along its lanelet, m.
    pub goal_s: f64,
    /// 1 if the vehicle may use bus lanes, otherwise 0.
    pub bus: u32,
    /// 1 if the vehicle may change lanes on the first lanelet, otherwise 0.
    pub may_change_first: u32,
}

/// Output of a planner: a range of the shared route buffer.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct PlannerOutput {
    /// Index of the first entry.
    pub start: u32,
    /// Number of lanelets including the first one; 0 if there is no route.
    pub count: u32,
    /// Expected travel time, s.
    pub travel_time: f64,
}

/// Input of a fitness. It describes the drive of an agent so far.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct FitnessInput {
    /// Mean squared penetration of obstacles and vehicles, m^2.
    pub crash_rating: f64,
    /// Mean speed, m/s.
    pub mean_speed: f64,
    /// Mean speed allowed by road, bends and vehicle, m/s. It does not depend on the requests of behaviours.
    pub mean_road_speed: f64,
    /// Distance driven, m.
    pub distance: f64,
    /// Time driven, s.
    pub time: f64,
    /// Mean squared longitudinal acceleration, (m/s^2)^2.
    pub mean_squared_acceleration: f64,
    /// Mean squared longitudinal jerk, (m/s^3)^2.
    pub mean_squared_jerk: f64,
    /// Mean squared lateral acceleration, (m/s^2)^2.
    pub mean_squared_lateral_acceleration: f64,
    /// Closeness to other vehicles, time lost, and rules broken. Since 1.2.
    pub conduct: Conduct,
}

/// Conduct of an agent during a drive: how close it came to other vehicles, how much time it lost, and which
/// rules it broke. The default is a drive without fault: all fields are 0, except that the post-encroachment
/// time is [`NOTHING`].
///
/// In C, these fields belong to `rw_fitness_input` itself.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Conduct {
    /// Mean shortfall of the time to collision with the leader below 3 s, as a fraction from 0 to 1.
    pub collision_exposure: f64,
    /// Mean shortfall of the headway to the leader below 1 s, as a fraction from 0 to 1.
    pub tailgating: f64,
    /// Minimum post-encroachment time: the time from another vehicle leaving a spot in a junction until this
    /// agent reaches the spot, s. It is recorded only if a fitness of the run needs it.
    pub least_post_encroachment: f64,
    /// Fraction of time lost, compared with driving as fast as road, bends and vehicle allow.
    pub time_lost: f64,
    /// Mean excess over the speed limit, as a fraction of the limit.
    pub speeding: f64,
    /// Fraction of time spent outside the agent's lane.
    pub off_lane: f64,
    /// Fraction of time spent in junctions without a grant.
    pub uninvited: f64,
    /// Fraction of time spent more than 5 % above the speed limit or, on open ground, above the allowed
    /// speed.
    pub above_limit: f64,
    /// Depth of penetration into obstacles and other vehicles, integrated over time, m s.
    pub overlap: f64,
    /// 1 if the agent has arrived at its last goal, otherwise 0.
    pub has_arrived: f64,
    /// Straight-line distance from the centre of the body to the last goal, m. Like all fields below, it is 0
    /// unless a fitness of the run needs these fields.
    pub goal_distance: f64,
    /// Number of collisions. A body that is touched again after contact was lost is counted twice.
    pub collisions: f64,
    /// Time integral of half the squared speed, m^2/s: the kinetic energy per unit mass.
    pub kinetic_energy: f64,
    /// Mean penetration divided by the length of the section, averaged over the completed route
    /// sections between goals.
    pub segment_crash: f64,
    /// Fraction by which the speed falls short of the allowed speed, averaged over the completed
    /// route sections between goals.
    pub segment_time_lost: f64,
    /// Number of changes between driving forwards and backwards. This field and the next one are recorded
    /// only on manoeuvring courses and are 0 elsewhere.
    pub shunts: f64,
    /// Mean angle of a balanced load from the vertical, rad.
    pub mean_lean: f64,
    /// Root mean square of the lateral offset of the rear axle from the centre line of its lane or path, m.
    /// The first 10 s after the agent's departure are left out.
    pub path_error: f64,
    /// Mean speed, m/s, without the first 10 s after the agent's departure.
    pub settled_speed: f64,
}

impl Conduct {
    /// Whether the agent has arrived at its last goal.
    pub fn has_arrived(&self) -> bool {
        self.has_arrived > 0.0
    }
}

impl Default for Conduct {
    fn default() -> Self {
        Self {
            collision_exposure: 0.0,
            tailgating: 0.0,
            least_post_encroachment: NOTHING,
            time_lost: 0.0,
            speeding: 0.0,
            off_lane: 0.0,
            uninvited: 0.0,
            above_limit: 0.0,
            overlap: 0.0,
            has_arrived: 0.0,
            goal_distance: 0.0,
            collisions: 0.0,
            kinetic_energy: 0.0,
            segment_crash: 0.0,
            segment_time_lost: 0.0,
            shunts: 0.0,
            mean_lean: 0.0,
            path_error: 0.0,
            settled_speed: 0.0,
        }
    }
}

/// Output of a fitness. Lower is better, unless the module declares otherwise.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct FitnessOutput {
    /// Score of the drive.
    pub score: f64,
}

/// Maximum number of stages in a [`SignalInput`]. No programme has more.
pub const SIGNAL_STAGES: usize = 32;
/// Maximum number of movements in a [`SignalInput`]. If there are more, movements from the roads with the
/// largest ids are left out.
pub const SIGNAL_MOVEMENTS: usize = 48;

/// A stage of a signal programme.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SignalStage {
    /// Fixed green time, s.
    pub green: f64,
    /// Minimum green, s. The host enforces it.
    pub min: f64,
    /// Maximum green under actuated control while other traffic waits, s.
    pub max: f64,
    /// Longest time that a vehicle with green in this stage has been waiting, s.
    pub longest_wait: f64,
    /// Number of vehicles served by this stage that are stopped or crawling within 150 m of the stop line.
    pub queue: u32,
    /// Number of vehicles with green in this stage that have passed the detectors since the current stage
    /// began.
    pub arrivals: u32,
    /// 1 if the stage has been requested or traffic is waiting for it, otherwise 0.
    pub is_called: u32,
    /// Unused; always 0.
    pub reserved: u32,
}

/// A movement: the vehicles that arrive on the same road and make the same turn.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SignalMovement {
    /// Id of the road on which the vehicles arrive.
    pub road: u32,
    /// Direction of the vehicles at the junction: 0 straight on, 1 left, -1 right, 2 U-turn.
    pub turn: i32,
    /// Bit mask of the stages in which the movement has green. Bit 0 stands for the first stage.
    pub stages: u32,
    /// Number of vehicles that are stopped or crawling within 150 m of the stop line.
    pub queue: u32,
    /// Number of vehicles that have passed the detectors since the current stage began.
    pub arrivals: u32,
    /// Unused; always 0.
    pub reserved: u32,
    /// Longest time that a vehicle in the queue of the movement has been waiting, s.
    pub longest_wait: f64,
}

/// Input of a signal controller for the signals of a programme, during a stage that may end. It is larger
/// than the rows of agents, but there is only one per second and programme.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SignalInput {
    /// Smallest node id of the signals.
    pub node: u32,
    /// Current stage, from 0.
    pub stage: u32,
    /// Stage that the fixed-time plan would show now, or to which it would be changing.
    pub planned: u32,
    /// Number of stages.
    pub stage_count: u32,
    /// Number of movements.
    pub movement_count: u32,
    /// 1 if vehicles with green are approaching, otherwise 0.
    pub is_extended: u32,
    /// Time since the current stage began, s.
    pub elapsed: f64,
    /// Time for which other traffic has been waiting for another stage, s; -1 if none is waiting.
    pub opposed_for: f64,
    /// The stages. Entries beyond [`SignalInput::stage_count`] are zero.
    pub stages: [SignalStage; SIGNAL_STAGES],
    /// The movements by road and turn. Entries beyond [`SignalInput::movement_count`] are zero.
    pub movements: [SignalMovement; SIGNAL_MOVEMENTS],
}

impl Default for SignalInput {
    fn default() -> Self {
        Self {
            node: 0,
            stage: 0,
            planned: 0,
            stage_count: 0,
            movement_count: 0,
            is_extended: 0,
            elapsed: 0.0,
            opposed_for: -1.0,
            stages: [SignalStage::default(); SIGNAL_STAGES],
            movements: [SignalMovement::default(); SIGNAL_MOVEMENTS],
        }
    }
}

impl SignalInput {
    /// Returns the stages in use.
    pub fn stages(&self) -> &[SignalStage] {
        &self.stages[..(self.stage_count as usize).min(SIGNAL_STAGES)]
    }

    /// Returns the movements in use.
    pub fn movements(&self) -> &[SignalMovement] {
        &self.movements[..(self.movement_count as usize).min(SIGNAL_MOVEMENTS)]
    }
}

/// Output of a signal controller.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignalOutput {
    /// Next stage. The current stage stays if this is [`KEEP_STAGE`] or the number of the current stage.
    pub next: i32,
    /// Unused; always 0.
    pub reserved: u32,
}

/// Value of [`SignalOutput::next`] that keeps the current stage.
pub const KEEP_STAGE: i32 = -1;

impl Default for SignalOutput {
    fn default() -> Self {
        Self {
            next: KEEP_STAGE,
            reserved: 0,
        }
    }
}

/// Request to a ground planner for a path between two poses of a vehicle's rear axle. Since 1.5.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct GroundPlannerInput {
    /// East (x) coordinate of the start, m.
    pub start_x: f64,
    /// North (y) coordinate of the start, m.
    pub start_y: f64,
    /// Heading at the start, counter-clockwise from east, rad.
    pub start_heading: f64,
    /// Current speed of the vehicle, negative in reverse, m/s.
    pub speed: f64,
    /// East (x) coordinate of the goal, m.
    pub goal_x: f64,
    /// North (y) coordinate of the goal, m.
    pub goal_y: f64,
    /// Heading at the goal, rad; 0 with [`GROUND_ANY_HEADING`](crate::abi::GROUND_ANY_HEADING).
    pub goal_heading: f64,
    /// Maximum distance between the end of a path and the goal, m.
    pub goal_distance: f64,
    /// Maximum difference between the heading at the end of a path and the heading at the goal,
    /// rad; pi for any heading.
    pub goal_turn: f64,
    /// Western edge of the area that must contain the path, m.
    pub min_x: f64,
    /// Southern edge of the area, m.
    pub min_y: f64,
    /// Eastern edge of the area, m.
    pub max_x: f64,
    /// Northern edge of the area, m.
    pub max_y: f64,
    /// Maximum curvature that vehicle and driver can follow, 1/m.
    pub curvature: f64,
    /// Usual clearance beside the vehicle, m. The vehicle drives slowly where the clearance is less
    /// than 1.7 times this value.
    pub clearance: f64,
    /// Clearance for start and goal where there is no space for the usual clearance, m.
    pub least_clearance: f64,
    /// Cost of driving in reverse, as a multiple of the cost of driving forwards.
    pub reverse: f64,
    /// Cost of a change between forwards and reverse, m of driving forwards.
    pub gear_change: f64,
    /// Number of the search. It stays the same while a search continues. Each search of an agent
    /// has a different number.
    pub search: u64,
    /// Number of expansions that the planner has reported for this search so far.
    pub expanded: u64,
    /// Number of expansions that the planner may make in this call.
    pub budget: u64,
    /// Gear at the start: 1 forwards, -1 in reverse, 0 if either gear can be engaged at no cost.
    pub start_gear: i32,
    /// `GROUND_*`, combined by bitwise or.
    pub flags: u32,
    /// Index of the vehicle in the list of vehicles, or [`NO_INDEX`].
    pub vehicle: u32,
    /// Index of the first hitch angle of the vehicle in the list of hitch angles.
    pub hitch_first: u32,
    /// Number of hitch angles.
    pub hitch_count: u32,
    /// Index of the first entry of this row in the list of nearby objects.
    pub near_first: u32,
    /// Number of nearby objects of this row.
    pub near_count: u32,
    /// 1 if there are more objects within the radius than the planner has requested, otherwise 0.
    pub near_more: u32,
    /// Index of the agent's own vehicle in the list of objects, or [`NO_INDEX`].
    pub object: u32,
    /// Index of the map in the list of maps, or [`NO_INDEX`].
    pub grid: u32,
}

/// Answer of a ground planner. Since 1.5.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct GroundPlannerOutput {
    /// Cost of the path, in m of driving forwards on plain ground.
    pub cost: f64,
    /// Number of expansions of this search so far, including earlier calls.
    pub expanded: u64,
    /// First pose in the buffer of poses.
    pub start: u32,
    /// Number of poses; 0 if there is no path.
    pub count: u32,
    /// Reason why there is no path, `NO_PATH_*`.
    pub reason: u32,
    /// Unused; always 0.
    pub reserved: u32,
}

/// A pose of a path that a ground planner has found. Since 1.5.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct PlanPose {
    /// East (x) coordinate of the rear axle, m.
    pub x: f64,
    /// North (y) coordinate of the rear axle, m.
    pub y: f64,
    /// Heading of the vehicle, also in reverse, rad.
    pub heading: f64,
    /// Maximum speed here, m/s, not negative; [`NOTHING`] leaves it to the host.
    pub speed: f64,
    /// Time since the start of the path, s; [`NOTHING`] if the planner does not specify it. Between
    /// two poses, the vehicle does not drive faster than their times imply.
    pub time: f64,
    /// Gear in which the vehicle drives to this pose: 1 forwards, -1 in reverse. Not used for the first pose.
    pub gear: i32,
    /// Unused; always 0.
    pub reserved: u32,
}

/// Map of the cost of driving, for ground planners. Since 1.5.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct GridData {
    /// East (x) coordinate of the south-western corner of the first cell, m.
    pub x: f64,
    /// North (y) coordinate of the south-western corner of the first cell, m.
    pub y: f64,
    /// Size of the cells, m.
    pub cell: f64,
    /// Version; changes whenever the contents change.
    pub version: u64,
    /// Number of columns of the map.
    pub columns: u32,
    /// Number of rows of the map.
    pub rows: u32,
    /// First cell in the list of cells. They follow row by row, from the south-west.
    pub first: u32,
    /// Value of a cell of plain ground. The relative cost of driving over a cell is its value
    /// divided by this one. A value of 0 means blocked.
    pub plain: u32,
}

/// Size of a row of [`FitnessInput`] for plugins of versions 1.0 and 1.1, bytes. These rows end before
/// [`FitnessInput::conduct`].
pub const OLD_FITNESS_INPUT: usize = 64;

/// Size, bytes, of a row of [`NeedsInput`] for plugins of 1.3. These rows end before [`NeedsInput::near_first`].
pub const OLD_NEEDS_INPUT: usize = 272;

// Compiled plugins rely on these sizes and on the order of fields in a row.
const _: () = {
    use core::mem::offset_of;
    assert!(size_of::<ControllerInput>() == 128);
    /// The same record in C.
    type RwControllerInput = NeedsInput;
    assert!(size_of::<RwControllerInput>() == 288);
    assert!(offset_of!(RwControllerInput, motion.x) == 128);
    assert!(offset_of!(RwControllerInput, motion.delay) == 232);
    assert!(offset_of!(RwControllerInput, path_count) == 264);
    assert!(offset_of!(RwControllerInput, near_first) == OLD_NEEDS_INPUT);
    assert!(offset_of!(RwControllerInput, near_first) == 272);
    assert!(size_of::<NeedsPedalsInput>() == 392);
    type RwObject = ObjectData;
    assert!(size_of::<RwObject>() == 104);
    assert!(offset_of!(RwObject, part) == 88);
    type RwNear = NearData;
    assert!(size_of::<RwNear>() == 72);
    assert!(offset_of!(RwNear, object) == 56);
    type RwVehicle = VehicleData;
    assert!(size_of::<RwVehicle>() == 152);
    assert!(offset_of!(RwVehicle, hitches) == 144);
    type RwHitch = HitchData;
    assert!(size_of::<RwHitch>() == 48);
    type RwPathPoint = PathPoint;
    assert!(size_of::<RwPathPoint>() == 88);
    assert!(offset_of!(RwPathPoint, lanelet) == 80);
    assert!(size_of::<ControllerOutput>() == 16);
    assert!(size_of::<DriveInput>() == 104);
    assert!(offset_of!(DriveInput, gears) == 96);
    assert!(size_of::<PedalsInput>() == 232);
    assert!(size_of::<PedalsOutput>() == 40);
    assert!(size_of::<BehaviourInput>() == 128);
    assert!(size_of::<PlannerInput>() == 32);
    assert!(size_of::<PlannerOutput>() == 16);
    assert!(size_of::<FitnessInput>() == 216);
    assert!(offset_of!(FitnessInput, conduct) == OLD_FITNESS_INPUT);
    assert!(offset_of!(FitnessInput, conduct.collision_exposure) == 64);
    assert!(offset_of!(FitnessInput, conduct.settled_speed) == 208);
    assert!(size_of::<FitnessOutput>() == 8);
    assert!(size_of::<SignalStage>() == 48);
    assert!(size_of::<SignalMovement>() == 32);
    assert!(offset_of!(SignalInput, stages) == 40);
    assert!(offset_of!(SignalInput, movements) == 1576);
    assert!(size_of::<SignalInput>() == 3112);
    assert!(size_of::<SignalOutput>() == 8);
    assert!(size_of::<GroundPlannerInput>() == 208);
    assert!(offset_of!(GroundPlannerInput, search) == 144);
    assert!(offset_of!(GroundPlannerInput, start_gear) == 168);
    assert!(offset_of!(GroundPlannerInput, grid) == 204);
    assert!(size_of::<GroundPlannerOutput>() == 32);
    assert!(offset_of!(GroundPlannerOutput, reason) == 24);
    type RwPlanPose = PlanPose;
    assert!(size_of::<RwPlanPose>() == 48);
    assert!(offset_of!(RwPlanPose, gear) == 40);
    type RwGrid = GridData;
    assert!(size_of::<RwGrid>() == 48);
    assert!(offset_of!(RwGrid, columns) == 32);
};

#[cfg(test)]
mod tests {
    use super::*;

    fn drive() -> DriveInput {
        DriveInput {
            full_throttle: 2.0,
            coasting: -0.5,
            full_brake: -8.0,
            ..DriveInput::default()
        }
    }

    #[test]
    fn pedals_and_accelerations_are_two_words_for_one_thing() {
        for part in 0..=100 {
            let wanted = -8.0 + 10.0 * f64::from(part) / 100.0;
            let (throttle, brake) = drive().pedals(wanted);
            assert!((0.0..=1.0).contains(&throttle) && (0.0..=1.0).contains(&brake));
            assert!(throttle == 0.0 || brake == 0.0, "{throttle} {brake}");
            let given = drive().acceleration(throttle, brake);
            assert!((given - wanted).abs() < 1e-12, "{wanted} {given}");
        }
        assert_eq!(drive().pedals(-0.5), (0.0, 0.0));
        assert_eq!(drive().pedals(50.0), (1.0, 0.0));
        assert_eq!(drive().pedals(-50.0), (0.0, 1.0));
    }

    #[test]
    fn what_is_no_number_is_the_whole_brake() {
        for wanted in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(drive().pedals(wanted), (0.0, 1.0));
        }
        // At the engine's speed limit the throttle has no effect, and a vehicle without brakes cannot brake.
        let spent = DriveInput {
            full_throttle: -0.5,
            full_brake: -0.5,
            ..drive()
        };
        assert_eq!(spent.pedals(1.0), (1.0, 0.0));
        assert_eq!(spent.pedals(-1.0), (0.0, 1.0));
    }
}
