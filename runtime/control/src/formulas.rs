//! The laws of the built-in controllers, as text for the documentation.

use crate::PdGains;

/// Definition of the halting speed, shared by the laws of several controllers.
const HALTING: &str = "\
halting speed, m/s: the speed from which the vehicle can still stop 2 m behind the leader, which
may brake too, and 0.5 m before the point where it must stop; b = braking, r = reaction
    safe(gap, v_front) = max(0, sqrt((b r)^2 + v_front^2 + 2 b max(0, gap)) - b r)
    v_halt = min(safe(leader_gap - 2, leader_speed), safe(stop_distance - 0.5, 0))";

const PURSUIT_STEERING: &str = "\
steering, rad: the circle through the waypoint, tangent to the heading; on a lane the
waypoint lies on the circle that the lane follows in the next 2 m or 0.3 s, and on the
lane itself where that is tighter than the vehicle can drive
    steering = atan(wheelbase * 2 sin(waypoint_angle) / max(waypoint_distance, 0.5))";

/// Returns the law of a built-in controller as plain text; `None` for other modules.
pub fn formulas(id: &str) -> Option<String> {
    match id {
        "idm" => Some(idm()),
        "pursuit" => Some(pursuit()),
        "stanley" => Some(stanley()),
        "pd_follower" => Some(pd_follower()),
        "lqr" => Some(lqr()),
        "linear_mpc" => Some(linear_mpc()),
        "fuzzy_driver" => Some(fuzzy_driver()),
        "fuzzy_mechanic" => Some(fuzzy_mechanic()),
        "bay_parking" => Some(BAY_PARKING.into()),
        "pole_balance" => Some(POLE_BALANCE.into()),
        "constant_speed" => Some(format!("{CONSTANT_SPEED}\n{PURSUIT_STEERING}")),
        "trailer_backing" => Some(TRAILER_BACKING.into()),
        _ => None,
    }
}

const CONSTANT_SPEED: &str = "\
acceleration, m/s^2: vehicles and obstacles ahead are ignored
    acceleration = speed_gain (speed - v)
waypoint_distance is at most max(lookahead_distance, lookahead_time v)";

const POLE_BALANCE: &str = "\
acceleration, m/s^2: lean = heading_error, fall = path_curvature, place = lane_offset
    acceleration = lean_gain lean + fall_gain fall + place_gain place + speed_gain v
steering = 0";

const BAY_PARKING: &str = "\
x = stop_distance, y = lane_offset, h = heading_error, seen from the bay; v = speed
    room = |y| - radius (1 - cos h), or -|y| - radius (1 - cos h) if it is turned the wrong way
    forwards while room < margin, backwards while room >= -tolerance
forwards, straight on, along the road or out of the bay
    curvature = heading_gain (0 or +-90 degrees - h),  wanted = speed
backwards, along an arc that ends on the centre line of the bay
    heading   = min(acos(1 - |y| / radius), |y|) to the side of y
    curvature = 1 / radius to that side, where 0.3 m < |y| < radius, + heading_gain (h - heading)
    wanted    = -min(speed, sqrt(2 braking x))
acceleration = 3 (wanted - v), at most 2 m/s^2; steering = atan(wheelbase curvature)";

const TRAILER_BACKING: &str = "\
x = stop_distance, y = lane_offset, h = heading_error of the trailer, seen from the bay;
c = path_curvature, the hitch angle; v = speed
backwards
    heading   = line_gain y, at most 0.6 rad
    hitch     = drawbar heading_gain (h - heading), at most sharpest
    curvature = sin(c) / drawbar + hitch_gain (c - hitch)
    wanted    = -min(speed, sqrt(2 braking x))
forwards, if |c| > straighten, or if x < 2.5 m and the trailer is beside the line or askew, until
it is straight or the car is 9 m out
    curvature = -line_gain y - (h + c),  wanted = speed
acceleration = 3 (wanted - v), at most 2 m/s^2; steering = atan(wheelbase curvature)";

fn idm() -> String {
    format!(
        "\
acceleration, m/s^2: a = acceleration, b = braking, T = headway, v = speed; a wanted speed
of 0 means standstill
    wanted_gap(g0, v_front) = g0 + max(0, v T + v (v - v_front) / (2 sqrt(a b)))
    leader   = (wanted_gap(standstill_gap, leader_speed) / leader_gap)^2
    stop     = (wanted_gap(0.5, 0) / stop_distance)^2
    obstacle = (wanted_gap(standstill_gap, 0) / obstacle_distance)^2 if the obstacle is
               within 1.5 m of the straight line ahead, else 0
    free     = max(1 - (v / road_speed)^4, -b / a)
    acceleration = a max(free - max(leader, stop, obstacle), -20)
{PURSUIT_STEERING}"
    )
}

/// Speed law shared by `pursuit`, `stanley` and `lqr`.
const SPEED_LAW: &str = "\
acceleration, m/s^2: v = speed, T = headway
    allowed   = min(road_speed, v_halt)
    cruising  = speed_gain (allowed - v), four times that where allowed < v
    following = gap_gain (leader_gap - 2 - T v) + closing_gain (leader_speed - v)
    acceleration = min(cruising, following) if following < 0, else cruising";

fn pursuit() -> String {
    format!("{HALTING}\n{SPEED_LAW}\n{PURSUIT_STEERING}")
}

fn stanley() -> String {
    format!(
        "\
{HALTING}
{SPEED_LAW}
steering, rad: offset and heading error of the front axle, against the path beside it
    steering = -heading - atan(gain offset / (softening_speed + v))
limited by the lock and lateral_acceleration; in reverse, the same for an imaginary axle as far
behind the rear axle as the front axle is ahead of it"
    )
}

fn pd_follower() -> String {
    format!(
        "\
{HALTING}
with t = time_constant > 0: k_p = k_theta = 1 / 2t, k_v = k_omega = 2 / t
acceleration, m/s^2: v = speed
    wanted = min(road_speed, cruising_speed, v_halt), but at most
             slow_speed where |waypoint_angle| > turn_angle,
             k_p stop_distance where stop_distance < goal_distance
    acceleration = k_v (wanted - v)
steering, rad: omega = v tan(steering) / wheelbase, T = period of the controller
    omega    = omega + min(1, k_omega T) (k_theta waypoint_angle - omega), v |omega| <= 4 m/s^2
    steering = atan(wheelbase omega / v)
damping ratio = sqrt(k_omega / k_theta) / 2: {:.2} with the printed gains, 1 with a time constant",
        PdGains::PRINTED.damping_ratio()
    )
}

fn lqr() -> String {
    format!(
        "\
{HALTING}
{SPEED_LAW}
steering rate, rad/s: x = offset, heading, side slip and yaw rate at levels that have them, steering;
w(i) = mean curvature of the path in step i ahead; x(k+1) = A x(k) + B u(k) + E w(k)
    cost = sum of offset_weight offset^2 + course_weight course^2 + rate_weight u^2,
           course = heading + side slip: the angle between motion and path
    P = Q + A' P A - A' P B K,  K = (R + B' P B)^-1 B' P A
    u = -K x - (R + B' P B)^-1 B' sum of ((A - B K)')^i P E w(i)
the offset is limited so that the vehicle approaches the path at no more than the angle approach;
models and gains are interpolated between multiples of 0.25 m/s
steering = steering + u T, T = period of the controller, within lock and lateral_acceleration"
    )
}

fn linear_mpc() -> String {
    format!(
        "\
{HALTING}
steering rates u(k) and accelerations a(k) of the next steps, N = horizon, h = step; x, w and the
errors are those of lqr, which gives the same result without limits; v = speed
    minimise last_weight errors(N) + sum of errors(k) + rate_weight u(k)^2
             + speed_weight (v(k) - min(road_speed, v_halt))^2 + acceleration_weight a(k)^2
    x(k+1) = A x(k) + B u(k) + E w(k),  v(k+1) = v(k) + a(k) h
    |u(k)| <= steering rate, |steering(k)| <= lock and lateral_acceleration,
    -braking of the vehicle <= a(k) <= its acceleration
behind a pushed trailer the cost of all later steps replaces last_weight errors(N)
a plan is made `rate` times a second and followed in between; where the pursuit law brakes harder
than the plan, the pursuit law applies. Without a plan within max_iterations lqr steers in that step"
    )
}

fn fuzzy_driver() -> String {
    format!(
        "\
{HALTING}
The four rule tables (`roadwright controller show fuzzy_driver.route.speed` and so on) give
    share = route.speed(waypoint_distance, |waypoint_angle|)
    turn  = route_steering_gain * route.steer(waypoint_distance, |waypoint_angle|),
            to the side of the waypoint; 0 if it is straight ahead
and, if an obstacle is within the reach of their terms,
    share = min(share, avoid.speed(obstacle_distance, |obstacle_angle|))
    turn  = turn - avoid_steering_gain * avoid.steer(obstacle_distance, |obstacle_angle|),
            away from it; one straight ahead counts as on the right
acceleration, m/s^2, -50 to 50: v = speed
    commanded = share * min(road_speed, v_halt)
    acceleration = (commanded - v) / speed_time
steering, rad: the turn belongs to the commanded speed; below it the same curve is driven,
above it the same turn rate is kept
    steering = atan(wheelbase * turn * commanded / max(v, commanded, 0.1))
on a lane, the waypoint lies on the path with aim = 0, so that bends are cut, and with aim = 1 on
the circle that the path follows just ahead, as for idm and pursuit. In streets with turns of 5 m
radius, cars keep to their lanes with aim = 1, route_steering_gain 20 to 26,
lookahead_distance 6 to 7 and lookahead_time 0.5"
    )
}

fn fuzzy_mechanic() -> String {
    format!(
        "\
{HALTING}
Six rule tables give fractions of full brake, full throttle and steering lock; v = speed
    brake    = max(arrive_brake(distance, v), turn_brake(|angle|, v))              S2
    throttle = seek_throttle(|angle|, distance), but 0 if brake > throttle_cut     S1
    steer    = seek_steer(|angle|, v) to the side of the waypoint
and, with time = obstacle_distance / max(v, 0.1) to the nearest obstacle,          S3
    brake    = avoid_brake(|obstacle_angle|, time) and throttle = 0,
               if that is more than avoid_brake_cut
    steer    = avoid_steer(|obstacle_angle|, time) away from it,
               if that is more than avoid_steer_cut; straight ahead counts as on the right
acceleration, m/s^2: b = full_brake
    acceleration = min(throttle * full_throttle - brake * b,
                       (min(road_speed, v_halt) - v) / speed_time), at least -b
with pedals: throttle and brake are passed on at every level of dynamics; if they would accelerate
the vehicle more than (min(road_speed, v_halt) - v) / speed_time, the pedals for that acceleration
are used instead
steering, rad
    steering = steer * full_lock"
    )
}
