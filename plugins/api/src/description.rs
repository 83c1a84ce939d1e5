//! Description of every record of the binary interface: fields, types, offsets, units and first versions.
//! `roadwright plugin records --json` prints this description. Offsets and types come from the records
//! themselves.

use crate::abi::{
    RwApi, RwBatch, RwControllerExtension, RwHost, RwLanelet, RwNeeds, RwNeedsExtension,
    RwParamInfo, RwParameter, RwParametersExtension, RwPedalsExtension, RwPluginInfo, RwPoint,
    RwRoads, RwView,
};
use crate::records::{
    ControllerOutput, DriveInput, FitnessInput, FitnessOutput, GridData, GroundPlannerInput,
    GroundPlannerOutput, HitchData, NearData, NeedsInput, ObjectData, PathPoint, PedalsOutput,
    PlanPose, PlannerInput, PlannerOutput, SIGNAL_MOVEMENTS, SIGNAL_STAGES, SignalInput,
    SignalMovement, SignalOutput, SignalStage, VehicleData,
};
use core::mem::offset_of;

/// A record of the binary interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    /// Name of the record in C.
    pub name: &'static str,
    /// Size of the record, bytes.
    pub size: usize,
    /// Minor version in which the record appeared.
    pub since: u16,
    /// Fields in the order of their offsets.
    pub fields: &'static [Field],
}

/// A field of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// Name of the field in C.
    pub name: &'static str,
    /// Type: `f64`, `f32`, `u8` to `u64`, `i32`, `text` (UTF-8, padded with zeros), `pointer`, `function`, or
    /// the name of another record.
    pub kind: &'static str,
    /// Number of elements or, for a text, number of bytes.
    pub count: usize,
    /// Distance from the start of the record, bytes.
    pub offset: usize,
    /// Size of all elements, bytes.
    pub size: usize,
    /// Unit; empty for numbers without a unit.
    pub unit: &'static str,
    /// Minor version in which the field appeared.
    pub since: u16,
}

/// A type that fields of a record can have.
trait Typed {
    /// Name of the type.
    const KIND: &'static str;
    /// Number of elements.
    const COUNT: usize = 1;
}

macro_rules! typed {
    ($($type:ty, $kind:literal, $count:expr;)*) => {
        $(impl Typed for $type {
            const KIND: &'static str = $kind;
            const COUNT: usize = $count;
        })*
    };
}

typed! {
    f64, "f64", 1;
    u16, "u16", 1;
    u32, "u32", 1;
    u64, "u64", 1;
    i32, "i32", 1;
    [SignalStage; SIGNAL_STAGES], "rw_signal_stage", SIGNAL_STAGES;
    [SignalMovement; SIGNAL_MOVEMENTS], "rw_signal_movement", SIGNAL_MOVEMENTS;
}

impl<const N: usize> Typed for [u8; N] {
    const KIND: &'static str = "text";
    const COUNT: usize = N;
}

impl<T> Typed for *const T {
    const KIND: &'static str = "pointer";
}

impl<T> Typed for *mut T {
    const KIND: &'static str = "pointer";
}

// The only options in records are functions.
impl<T> Typed for Option<T> {
    const KIND: &'static str = "function";
}

/// Returns the description of a field. The first argument is used only to infer the type of the field.
const fn field<R, T: Typed>(
    _: fn(&R) -> &T,
    name: &'static str,
    offset: usize,
    unit: &'static str,
    since: u16,
) -> Field {
    Field {
        name,
        kind: T::KIND,
        count: T::COUNT,
        offset,
        size: size_of::<T>(),
        unit,
        since,
    }
}

macro_rules! record {
    ($name:literal, $type:ty, since $since:literal,
     [$($field:literal = $($path:ident).+, $unit:literal, $first:literal;)*]) => {
        Record {
            name: $name,
            size: size_of::<$type>(),
            since: $since,
            fields: &[$(field(
                |record: &$type| &record.$($path).+,
                $field,
                offset_of!($type, $($path).+),
                $unit,
                $first,
            )),*],
        }
    };
}

/// All records of the binary interface: first the rows of each kind of module, then the structures around them.
pub static RECORDS: &[Record] = &[
    record!("rw_controller_input", NeedsInput, since 0, [
        "speed" = seen.speed, "m/s", 0;
        "road_speed" = seen.road_speed, "m/s", 0;
        "wheelbase" = seen.wheelbase, "m", 0;
        "length" = seen.length, "m", 0;
        "waypoint_distance" = seen.waypoint_distance, "m", 0;
        "waypoint_angle" = seen.waypoint_angle, "rad", 0;
        "obstacle_distance" = seen.obstacle_distance, "m", 0;
        "obstacle_angle" = seen.obstacle_angle, "rad", 0;
        "obstacle_closing_speed" = seen.obstacle_closing_speed, "m/s", 0;
        "leader_gap" = seen.leader_gap, "m", 0;
        "leader_speed" = seen.leader_speed, "m/s", 0;
        "stop_distance" = seen.stop_distance, "m", 0;
        "lane_offset" = seen.lane_offset, "m", 0;
        "heading_error" = seen.heading_error, "rad", 0;
        "path_curvature" = seen.path_curvature, "1/m", 0;
        "steering" = seen.steering, "rad", 0;
        "x" = motion.x, "m", 3;
        "y" = motion.y, "m", 3;
        "z" = motion.z, "m", 3;
        "heading" = motion.heading, "rad", 3;
        "pitch" = motion.pitch, "rad", 3;
        "roll" = motion.roll, "rad", 3;
        "lateral_speed" = motion.lateral_speed, "m/s", 3;
        "yaw_rate" = motion.yaw_rate, "rad/s", 3;
        "acceleration" = motion.acceleration, "m/s^2", 3;
        "lateral_acceleration" = motion.lateral_acceleration, "m/s^2", 3;
        "last_acceleration" = motion.last_acceleration, "m/s^2", 3;
        "last_steering" = motion.last_steering, "rad", 3;
        "age" = motion.age, "s", 3;
        "delay" = motion.delay, "s", 3;
        "route_version" = route_version, "", 3;
        "path_s" = path_s, "m", 3;
        "vehicle" = vehicle, "", 3;
        "path" = path, "", 3;
        "path_count" = path_count, "", 3;
        "reserved" = reserved, "", 3;
        "near_first" = near_first, "", 4;
        "near_count" = near_count, "", 4;
        "near_more" = near_more, "", 4;
        "object" = object, "", 4;
    ]),
    record!("rw_controller_output", ControllerOutput, since 0, [
        "acceleration" = acceleration, "m/s^2", 0;
        "steering" = steering, "rad", 0;
    ]),
    record!("rw_drive_input", DriveInput, since 0, [
        "full_throttle" = full_throttle, "m/s^2", 0;
        "coasting" = coasting, "m/s^2", 0;
        "full_brake" = full_brake, "m/s^2", 0;
        "grip" = grip, "m/s^2", 0;
        "slope" = slope, "m/s^2", 0;
        "acceleration" = acceleration, "m/s^2", 0;
        "throttle" = throttle, "", 0;
        "brake" = brake, "", 0;
        "rpm" = rpm, "1/min", 0;
        "idle_rpm" = idle_rpm, "1/min", 0;
        "limit_rpm" = limit_rpm, "1/min", 0;
        "gear" = gear, "", 0;
        "gears" = gears, "", 0;
    ]),
    record!("rw_pedals_output", PedalsOutput, since 0, [
        "throttle" = throttle, "", 0;
        "brake" = brake, "", 0;
        "hand_brake" = hand_brake, "", 0;
        "gear" = gear, "", 0;
        "steering" = steering, "rad", 0;
    ]),
    record!("rw_planner_input", PlannerInput, since 0, [
        "lanelet" = lanelet, "", 0;
        "goal_lanelet" = goal_lanelet, "", 0;
        "s" = s, "m", 0;
        "goal_s" = goal_s, "m", 0;
        "bus" = bus, "", 0;
        "may_change_first" = may_change_first, "", 0;
    ]),
    record!("rw_planner_output", PlannerOutput, since 0, [
        "start" = start, "", 0;
        "count" = count, "", 0;
        "travel_time" = travel_time, "s", 0;
    ]),
    record!("rw_fitness_input", FitnessInput, since 0, [
        "crash_rating" = crash_rating, "m^2", 0;
        "mean_speed" = mean_speed, "m/s", 0;
        "mean_road_speed" = mean_road_speed, "m/s", 0;
        "distance" = distance, "m", 0;
        "time" = time, "s", 0;
        "mean_squared_acceleration" = mean_squared_acceleration, "(m/s^2)^2", 0;
        "mean_squared_jerk" = mean_squared_jerk, "(m/s^3)^2", 0;
        "mean_squared_lateral_acceleration" = mean_squared_lateral_acceleration, "(m/s^2)^2", 0;
        "collision_exposure" = conduct.collision_exposure, "", 2;
        "tailgating" = conduct.tailgating, "", 2;
        "least_post_encroachment" = conduct.least_post_encroachment, "s", 2;
        "time_lost" = conduct.time_lost, "", 2;
        "speeding" = conduct.speeding, "", 2;
        "off_lane" = conduct.off_lane, "", 2;
        "uninvited" = conduct.uninvited, "", 2;
        "above_limit" = conduct.above_limit, "", 2;
        "overlap" = conduct.overlap, "m s", 2;
        "has_arrived" = conduct.has_arrived, "", 2;
        "goal_distance" = conduct.goal_distance, "m", 2;
        "collisions" = conduct.collisions, "", 2;
        "kinetic_energy" = conduct.kinetic_energy, "m^2/s", 2;
        "segment_crash" = conduct.segment_crash, "", 2;
        "segment_time_lost" = conduct.segment_time_lost, "", 2;
        "shunts" = conduct.shunts, "", 2;
        "mean_lean" = conduct.mean_lean, "rad", 2;
        "path_error" = conduct.path_error, "m", 2;
        "settled_speed" = conduct.settled_speed, "m/s", 2;
    ]),
    record!("rw_fitness_output", FitnessOutput, since 0, [
        "score" = score, "", 0;
    ]),
    record!("rw_signal_stage", SignalStage, since 1, [
        "green" = green, "s", 1;
        "min" = min, "s", 1;
        "max" = max, "s", 1;
        "longest_wait" = longest_wait, "s", 1;
        "queue" = queue, "", 1;
        "arrivals" = arrivals, "", 1;
        "is_called" = is_called, "", 1;
        "reserved" = reserved, "", 1;
    ]),
    record!("rw_signal_movement", SignalMovement, since 1, [
        "road" = road, "", 1;
        "turn" = turn, "", 1;
        "stages" = stages, "", 1;
        "queue" = queue, "", 1;
        "arrivals" = arrivals, "", 1;
        "reserved" = reserved, "", 1;
        "longest_wait" = longest_wait, "s", 1;
    ]),
    record!("rw_signal_input", SignalInput, since 1, [
        "node" = node, "", 1;
        "stage" = stage, "", 1;
        "planned" = planned, "", 1;
        "stage_count" = stage_count, "", 1;
        "movement_count" = movement_count, "", 1;
        "is_extended" = is_extended, "", 1;
        "elapsed" = elapsed, "s", 1;
        "opposed_for" = opposed_for, "s", 1;
        "stages" = stages, "", 1;
        "movements" = movements, "", 1;
    ]),
    record!("rw_signal_output", SignalOutput, since 1, [
        "next" = next, "", 1;
        "reserved" = reserved, "", 1;
    ]),
    record!("rw_ground_planner_input", GroundPlannerInput, since 5, [
        "start_x" = start_x, "m", 5;
        "start_y" = start_y, "m", 5;
        "start_heading" = start_heading, "rad", 5;
        "speed" = speed, "m/s", 5;
        "goal_x" = goal_x, "m", 5;
        "goal_y" = goal_y, "m", 5;
        "goal_heading" = goal_heading, "rad", 5;
        "goal_distance" = goal_distance, "m", 5;
        "goal_turn" = goal_turn, "rad", 5;
        "min_x" = min_x, "m", 5;
        "min_y" = min_y, "m", 5;
        "max_x" = max_x, "m", 5;
        "max_y" = max_y, "m", 5;
        "curvature" = curvature, "1/m", 5;
        "clearance" = clearance, "m", 5;
        "least_clearance" = least_clearance, "m", 5;
        "reverse" = reverse, "", 5;
        "gear_change" = gear_change, "m", 5;
        "search" = search, "", 5;
        "expanded" = expanded, "", 5;
        "budget" = budget, "", 5;
        "start_gear" = start_gear, "", 5;
        "flags" = flags, "", 5;
        "vehicle" = vehicle, "", 5;
        "hitch_first" = hitch_first, "", 5;
        "hitch_count" = hitch_count, "", 5;
        "near_first" = near_first, "", 5;
        "near_count" = near_count, "", 5;
        "near_more" = near_more, "", 5;
        "object" = object, "", 5;
        "grid" = grid, "", 5;
    ]),
    record!("rw_ground_planner_output", GroundPlannerOutput, since 5, [
        "cost" = cost, "m", 5;
        "expanded" = expanded, "", 5;
        "start" = start, "", 5;
        "count" = count, "", 5;
        "reason" = reason, "", 5;
        "reserved" = reserved, "", 5;
    ]),
    record!("rw_plan_pose", PlanPose, since 5, [
        "x" = x, "m", 5;
        "y" = y, "m", 5;
        "heading" = heading, "rad", 5;
        "speed" = speed, "m/s", 5;
        "time" = time, "s", 5;
        "gear" = gear, "", 5;
        "reserved" = reserved, "", 5;
    ]),
    record!("rw_lanelet", RwLanelet, since 0, [
        "length" = length, "m", 0;
        "speed_limit" = speed_limit, "m/s", 0;
        "width" = width, "m", 0;
        "first_successor" = first_successor, "", 0;
        "successor_count" = successor_count, "", 0;
        "left" = left, "", 0;
        "right" = right, "", 0;
        "first_point" = first_point, "", 0;
        "point_count" = point_count, "", 0;
        "flags" = flags, "", 0;
        "turn" = turn, "", 0;
    ]),
    record!("rw_point", RwPoint, since 0, [
        "x" = x, "m", 0;
        "y" = y, "m", 0;
    ]),
    record!("rw_roads", RwRoads, since 0, [
        "size" = size, "bytes", 0;
        "lanelet_count" = lanelet_count, "", 0;
        "successor_count" = successor_count, "", 0;
        "point_count" = point_count, "", 0;
        "version" = version, "", 0;
        "lanelets" = lanelets, "", 0;
        "successors" = successors, "", 0;
        "points" = points, "", 0;
        "delays" = delays, "s", 0;
    ]),
    record!("rw_view", RwView, since 3, [
        "data" = data, "", 3;
        "count" = count, "", 3;
        "stride" = stride, "bytes", 3;
        "version" = version, "", 3;
    ]),
    record!("rw_vehicle", VehicleData, since 3, [
        "length" = length, "m", 3;
        "width" = width, "m", 3;
        "height" = height, "m", 3;
        "wheelbase" = wheelbase, "m", 3;
        "axle_to_front" = axle_to_front, "m", 3;
        "axle_to_rear" = axle_to_rear, "m", 3;
        "mass" = mass, "kg", 3;
        "max_speed" = max_speed, "m/s", 3;
        "max_acceleration" = max_acceleration, "m/s^2", 3;
        "max_braking" = max_braking, "m/s^2", 3;
        "max_steering" = max_steering, "rad", 3;
        "max_steering_rate" = max_steering_rate, "rad/s", 3;
        "steering_delay" = steering_delay, "s", 3;
        "steering_lag" = steering_lag, "s", 3;
        "drive_delay" = drive_delay, "s", 3;
        "drive_lag" = drive_lag, "s", 3;
        "brake_delay" = brake_delay, "s", 3;
        "brake_lag" = brake_lag, "s", 3;
        "hitches" = hitches, "", 3;
        "hitch_count" = hitch_count, "", 3;
    ]),
    record!("rw_hitch", HitchData, since 3, [
        "coupling" = coupling, "m", 3;
        "to_axle" = to_axle, "m", 3;
        "front" = front, "m", 3;
        "length" = length, "m", 3;
        "width" = width, "m", 3;
        "max_angle" = max_angle, "rad", 3;
    ]),
    record!("rw_path_point", PathPoint, since 3, [
        "s" = s, "m", 3;
        "x" = x, "m", 3;
        "y" = y, "m", 3;
        "z" = z, "m", 3;
        "heading" = heading, "rad", 3;
        "curvature" = curvature, "1/m", 3;
        "grade" = grade, "", 3;
        "speed" = speed, "m/s", 3;
        "left" = left, "m", 3;
        "right" = right, "m", 3;
        "lanelet" = lanelet, "", 3;
        "flags" = flags, "", 3;
    ]),
    record!("rw_object", ObjectData, since 4, [
        "id" = id, "", 4;
        "kind" = kind, "", 4;
        "flags" = flags, "", 4;
        "x" = x, "m", 4;
        "y" = y, "m", 4;
        "z" = z, "m", 4;
        "heading" = heading, "rad", 4;
        "velocity_x" = velocity_x, "m/s", 4;
        "velocity_y" = velocity_y, "m/s", 4;
        "length" = length, "m", 4;
        "width" = width, "m", 4;
        "height" = height, "m", 4;
        "part" = part, "", 4;
        "outline" = outline, "", 4;
        "outline_count" = outline_count, "", 4;
        "reserved" = reserved, "", 4;
    ]),
    record!("rw_near", NearData, since 4, [
        "distance" = distance, "m", 4;
        "ahead" = ahead, "m", 4;
        "left" = left, "m", 4;
        "velocity_ahead" = velocity_ahead, "m/s", 4;
        "velocity_left" = velocity_left, "m/s", 4;
        "path_distance" = path_distance, "m", 4;
        "path_offset" = path_offset, "m", 4;
        "object" = object, "", 4;
        "lane" = lane, "", 4;
        "flags" = flags, "", 4;
        "reserved" = reserved, "", 4;
    ]),
    record!("rw_grid", GridData, since 5, [
        "x" = x, "m", 5;
        "y" = y, "m", 5;
        "cell" = cell, "m", 5;
        "version" = version, "", 5;
        "columns" = columns, "", 5;
        "rows" = rows, "", 5;
        "first" = first, "", 5;
        "plain" = plain, "", 5;
    ]),
    record!("rw_batch", RwBatch, since 0, [
        "size" = size, "bytes", 0;
        "count" = count, "", 0;
        "step" = step, "", 0;
        "time" = time, "s", 0;
        "period" = period, "s", 0;
        "agent_ids" = agent_ids, "", 0;
        "agent_indices" = agent_indices, "", 0;
        "seeds" = seeds, "", 0;
        "inputs" = inputs, "", 0;
        "outputs" = outputs, "", 0;
        "input_stride" = input_stride, "bytes", 0;
        "output_stride" = output_stride, "bytes", 0;
        "status" = status, "", 0;
        "roads" = roads, "", 0;
        "route" = route, "", 0;
        "route_capacity" = route_capacity, "", 0;
        "route_length" = route_length, "", 0;
        "views" = views, "", 3;
        "view_count" = view_count, "", 3;
        "view_stride" = view_stride, "bytes", 3;
        "poses" = poses, "", 5;
        "pose_capacity" = pose_capacity, "", 5;
        "pose_length" = pose_length, "", 5;
    ]),
    record!("rw_plugin_info", RwPluginInfo, since 0, [
        "magic" = magic, "", 0;
        "info_size" = info_size, "bytes", 0;
        "abi_major" = abi_major, "", 0;
        "abi_minor" = abi_minor, "", 0;
        "min_host_minor" = min_host_minor, "", 0;
        "reserved" = reserved, "", 0;
        "kinds" = kinds, "", 0;
        "caps" = caps, "", 0;
        "row_schema" = row_schema, "", 0;
        "name" = name, "", 0;
        "id" = id, "", 0;
        "version" = version, "", 0;
        "author" = author, "", 0;
        "language" = language, "", 0;
        "build_id" = build_id, "", 0;
        "doc" = doc, "", 0;
    ]),
    record!("rw_param_info", RwParamInfo, since 0, [
        "key" = key, "", 0;
        "label" = label, "", 0;
        "group" = group, "", 0;
        "unit" = unit, "", 0;
        "kind" = kind, "", 0;
        "flags" = flags, "", 0;
        "min" = min, "", 0;
        "max" = max, "", 0;
        "default_value" = default, "", 0;
        "step" = step, "", 0;
        "doc" = doc, "", 0;
        "choices" = choices, "", 0;
    ]),
    record!("rw_host", RwHost, since 0, [
        "size" = size, "bytes", 0;
        "abi_major" = abi_major, "", 0;
        "abi_minor" = abi_minor, "", 0;
        "ctx" = ctx, "", 0;
        "version" = version, "", 0;
        "version_length" = version_length, "bytes", 0;
        "log" = log, "", 0;
        "cancelled" = cancelled, "", 0;
        "get_extension" = get_extension, "", 0;
    ]),
    record!("rw_api", RwApi, since 0, [
        "size" = size, "bytes", 0;
        "reserved" = reserved, "", 0;
        "create" = create, "", 0;
        "destroy" = destroy, "", 0;
        "step" = step, "", 0;
        "agents_changed" = agents_changed, "", 0;
        "param_count" = param_count, "", 0;
        "param_info" = param_info, "", 0;
        "param_get" = param_get, "", 0;
        "param_set" = param_set, "", 0;
        "state_save" = state_save, "", 0;
        "state_load" = state_load, "", 0;
        "last_error" = last_error, "", 0;
        "get_extension" = get_extension, "", 0;
    ]),
    record!("rw_controller_extension", RwControllerExtension, since 0, [
        "size" = size, "bytes", 0;
        "reserved" = reserved, "", 0;
        "lookahead" = lookahead, "", 0;
    ]),
    record!("rw_pedals_extension", RwPedalsExtension, since 0, [
        "size" = size, "bytes", 0;
        "reserved" = reserved, "", 0;
        "step" = step, "", 0;
    ]),
    record!("rw_parameter", RwParameter, since 2, [
        "size" = size, "bytes", 2;
        "kind" = kind, "", 2;
        "flags" = flags, "", 2;
        "choices" = choices, "", 2;
        "rows" = rows, "", 2;
        "columns" = columns, "", 2;
        "min" = min, "", 2;
        "max" = max, "", 2;
        "key" = key, "", 2;
        "unit" = unit, "", 2;
    ]),
    record!("rw_parameters_extension", RwParametersExtension, since 2, [
        "size" = size, "bytes", 2;
        "reserved" = reserved, "", 2;
        "count" = count, "", 2;
        "info" = info, "", 2;
        "text" = text, "", 2;
        "defaults" = defaults, "", 2;
        "get" = get, "", 2;
        "set" = set, "", 2;
    ]),
    record!("rw_needs", RwNeeds, since 3, [
        "size" = size, "bytes", 3;
        "path_most" = path_most, "", 3;
        "groups" = groups, "", 3;
        "path_distance" = path_distance, "m", 3;
        "path_time" = path_time, "s", 3;
        "path_spacing" = path_spacing, "m", 3;
        "near_radius" = near_radius, "m", 4;
        "near_most" = near_most, "", 4;
        "reserved" = reserved, "", 4;
        "grid_cell" = grid_cell, "m", 5;
    ]),
    record!("rw_needs_extension", RwNeedsExtension, since 3, [
        "size" = size, "bytes", 3;
        "reserved" = reserved, "", 3;
        "needs" = needs, "", 3;
    ]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_follow_each_other_without_gaps() {
        for record in RECORDS {
            let mut end = 0;
            for field in record.fields {
                // Numbers are aligned to their size, which leaves at most seven bytes.
                let gap = field.offset - end;
                assert!(gap < 8, "{}.{}", record.name, field.name);
                assert_eq!(field.offset % (field.size / field.count).min(8), 0);
                assert!(
                    field.since >= record.since,
                    "{}.{}",
                    record.name,
                    field.name
                );
                end = field.offset + field.size;
            }
            assert!(record.size - end < 8, "{}", record.name);
        }
    }
}
