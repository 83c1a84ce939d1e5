//! Inputs for the examination of a plugin.

use super::ROWS;
use crate::native::backend::{bytes_of, bytes_of_mut};
use crate::native::kind::{
    AsController, AsFitness, AsGroundPlanner, AsNeeds, AsNeedsPedals, AsPedals, AsPlanner,
    AsSignals, Kind,
};
use crate::native::logic::check_path;
use crate::native::roads::{FlatRoads, checked_route};
use roadwright_geometry::math::Stream;
use roadwright_plugin_api::abi::{LANELET_CONNECTION, NO_LANELET, RwLanelet, RwPoint};
use roadwright_plugin_api::{
    Conduct, ControllerInput, DriveInput, FitnessInput, GroundPlannerInput, GroundPlannerOutput,
    MotionInput, NOTHING, NeedsInput, NeedsPedalsInput, PedalsInput, PlanPose, PlannerInput,
    PlannerOutput, SignalInput, SignalMovement, SignalOutput, SignalStage,
};

/// Inputs for a kind of module.
pub(crate) trait Examined: Kind {
    /// Number of rows per call.
    const ROWS: usize = ROWS;
    /// Creates a typical row, as it occurs while driving.
    fn usual(random: &mut dyn FnMut(f64, f64) -> f64) -> Self::Input;
    /// Creates a row with extreme numbers.
    fn hard(pick: &mut dyn FnMut() -> f64) -> Self::Input;
    /// Describes what is wrong with an answer whose numbers are all in range; `None` if nothing is wrong.
    fn deep_flaw(_: &Self::Input, _: &Self::Output, _: &[u32]) -> Option<String> {
        None
    }
}

impl Examined for AsController {
    fn usual(random: &mut dyn FnMut(f64, f64) -> f64) -> ControllerInput {
        let maybe = |chance: f64, near: f64| if chance < 0.5 { near } else { NOTHING };
        let (a, b, c) = (random(0.0, 1.0), random(0.0, 1.0), random(0.0, 1.0));
        ControllerInput {
            speed: random(0.0, 30.0),
            road_speed: random(2.0, 30.0),
            wheelbase: random(2.0, 6.0),
            length: random(3.0, 12.0),
            waypoint_distance: random(1.0, 40.0),
            waypoint_angle: random(-1.0, 1.0),
            obstacle_distance: maybe(a, random(0.0, 28.0)),
            obstacle_angle: random(-1.2, 1.2),
            obstacle_closing_speed: random(-10.0, 30.0),
            leader_gap: maybe(b, random(0.0, 80.0)),
            leader_speed: random(0.0, 30.0),
            stop_distance: maybe(c, random(-1.0, 80.0)),
            lane_offset: random(-2.0, 2.0),
            heading_error: random(-0.5, 0.5),
            path_curvature: random(-0.1, 0.1),
            steering: random(-0.6, 0.6),
        }
    }

    fn hard(pick: &mut dyn FnMut() -> f64) -> ControllerInput {
        ControllerInput {
            speed: pick(),
            road_speed: pick(),
            wheelbase: pick(),
            length: pick(),
            waypoint_distance: pick(),
            waypoint_angle: pick(),
            obstacle_distance: pick(),
            obstacle_angle: pick(),
            obstacle_closing_speed: pick(),
            leader_gap: pick(),
            leader_speed: pick(),
            stop_distance: pick(),
            lane_offset: pick(),
            heading_error: pick(),
            path_curvature: pick(),
            steering: pick(),
        }
    }
}

impl Examined for AsPedals {
    fn usual(random: &mut dyn FnMut(f64, f64) -> f64) -> PedalsInput {
        let slope = random(-1.0, 1.0);
        let coasting = slope - random(0.05, 0.5);
        PedalsInput {
            seen: AsController::usual(random),
            drive: DriveInput {
                full_throttle: coasting + random(0.0, 4.0),
                coasting,
                full_brake: coasting - random(4.0, 9.0),
                grip: random(1.0, 11.0),
                slope,
                acceleration: random(-5.0, 3.0),
                throttle: random(0.0, 1.0),
                brake: random(0.0, 1.0),
                rpm: random(600.0, 4000.0),
                idle_rpm: 600.0,
                limit_rpm: 4000.0,
                gear: random(1.0, 4.0).floor(),
                gears: 3.0,
            },
        }
    }

    fn hard(pick: &mut dyn FnMut() -> f64) -> PedalsInput {
        PedalsInput {
            seen: AsController::hard(pick),
            drive: DriveInput {
                full_throttle: pick(),
                coasting: pick(),
                full_brake: pick(),
                grip: pick(),
                slope: pick(),
                acceleration: pick(),
                throttle: pick(),
                brake: pick(),
                rpm: pick(),
                idle_rpm: pick(),
                limit_rpm: pick(),
                gear: pick(),
                gears: pick(),
            },
        }
    }
}

impl Examined for AsNeeds {
    fn usual(random: &mut dyn FnMut(f64, f64) -> f64) -> NeedsInput {
        let path_s = random(0.0, 0.1);
        NeedsInput {
            motion: MotionInput {
                x: path_s + random(-0.1, 0.1),
                y: random(-1.0, 1.0),
                heading: random(-0.3, 0.3),
                pitch: random(-0.05, 0.05),
                yaw_rate: random(-0.3, 0.3),
                acceleration: random(-5.0, 3.0),
                lateral_acceleration: random(-4.0, 4.0),
                last_acceleration: random(-5.0, 3.0),
                last_steering: random(-0.6, 0.6),
                ..MotionInput::default()
            },
            route_version: random(1.0, 1000.0) as u64,
            path_s,
            // Index of the road.
            path: random(0.0, 8.0) as u32,
            ..NeedsInput::of(AsController::usual(random))
        }
    }

    fn hard(pick: &mut dyn FnMut() -> f64) -> NeedsInput {
        NeedsInput {
            motion: MotionInput {
                x: pick(),
                y: pick(),
                z: pick(),
                heading: pick(),
                pitch: pick(),
                roll: pick(),
                lateral_speed: pick(),
                yaw_rate: pick(),
                acceleration: pick(),
                lateral_acceleration: pick(),
                last_acceleration: pick(),
                last_steering: pick(),
                age: pick(),
                delay: pick(),
            },
            path_s: pick(),
            path: pick() as u32 % 8,
            ..NeedsInput::of(AsController::hard(pick))
        }
    }
}

impl Examined for AsNeedsPedals {
    fn usual(random: &mut dyn FnMut(f64, f64) -> f64) -> NeedsPedalsInput {
        let PedalsInput { seen, drive } = AsPedals::usual(random);
        let needs = NeedsInput {
            seen,
            ..AsNeeds::usual(random)
        };
        NeedsPedalsInput { needs, drive }
    }

    fn hard(pick: &mut dyn FnMut() -> f64) -> NeedsPedalsInput {
        NeedsPedalsInput {
            needs: AsNeeds::hard(pick),
            drive: AsPedals::hard(pick).drive,
        }
    }
}

impl Examined for AsFitness {
    fn usual(random: &mut dyn FnMut(f64, f64) -> f64) -> FitnessInput {
        FitnessInput {
            crash_rating: random(0.0, 1.0),
            mean_speed: random(0.0, 30.0),
            mean_road_speed: random(1.0, 30.0),
            distance: random(0.0, 10_000.0),
            time: random(0.1, 1000.0),
            mean_squared_acceleration: random(0.0, 5.0),
            mean_squared_jerk: random(0.0, 100.0),
            mean_squared_lateral_acceleration: random(0.0, 5.0),
            conduct: Conduct {
                collision_exposure: random(0.0, 1.0),
                tailgating: random(0.0, 1.0),
                least_post_encroachment: random(0.0, 10.0),
                time_lost: random(0.0, 1.0),
                speeding: random(0.0, 0.5),
                off_lane: random(0.0, 1.0),
                uninvited: random(0.0, 1.0),
                above_limit: random(0.0, 1.0),
                overlap: random(0.0, 5.0),
                has_arrived: random(0.0, 2.0).floor(),
                goal_distance: random(0.0, 500.0),
                collisions: random(0.0, 4.0).floor(),
                kinetic_energy: random(0.0, 10_000.0),
                segment_crash: random(0.0, 1.0),
                segment_time_lost: random(0.0, 1.0),
                shunts: random(0.0, 6.0).floor(),
                mean_lean: random(0.0, 1.0),
                path_error: random(0.0, 2.0),
                settled_speed: random(0.0, 30.0),
            },
        }
    }

    fn hard(pick: &mut dyn FnMut() -> f64) -> FitnessInput {
        FitnessInput {
            crash_rating: pick(),
            mean_speed: pick(),
            mean_road_speed: pick(),
            distance: pick(),
            time: pick(),
            mean_squared_acceleration: pick(),
            mean_squared_jerk: pick(),
            mean_squared_lateral_acceleration: pick(),
            conduct: Conduct {
                collision_exposure: pick(),
                tailgating: pick(),
                least_post_encroachment: pick(),
                time_lost: pick(),
                speeding: pick(),
                off_lane: pick(),
                uninvited: pick(),
                above_limit: pick(),
                overlap: pick(),
                has_arrived: pick(),
                goal_distance: pick(),
                collisions: pick(),
                kinetic_energy: pick(),
                segment_crash: pick(),
                segment_time_lost: pick(),
                shunts: pick(),
                mean_lean: pick(),
                path_error: pick(),
                settled_speed: pick(),
            },
        }
    }
}

impl Examined for AsPlanner {
    fn usual(random: &mut dyn FnMut(f64, f64) -> f64) -> PlannerInput {
        let lanelets = grid_roads().lanelets.len() as f64;
        PlannerInput {
            lanelet: random(0.0, lanelets) as u32,
            goal_lanelet: random(0.0, lanelets) as u32,
            s: random(0.0, 90.0),
            goal_s: random(0.0, 90.0),
            bus: 0,
            may_change_first: 1,
        }
    }

    fn hard(pick: &mut dyn FnMut() -> f64) -> PlannerInput {
        // Routes to lanelets that do not exist are never requested.
        PlannerInput {
            s: pick(),
            goal_s: pick(),
            ..PlannerInput::default()
        }
    }

    fn deep_flaw(input: &PlannerInput, output: &PlannerOutput, route: &[u32]) -> Option<String> {
        if output.count == 0 {
            return Some(format!(
                "no route from lanelet {} at {:.0} m to lanelet {} at {:.0} m, although one exists",
                input.lanelet, input.s, input.goal_lanelet, input.goal_s
            ));
        }
        checked_route(&grid_roads(), input, output, route).err()
    }
}

impl Examined for AsGroundPlanner {
    // Each row is a search.
    const ROWS: usize = 2;

    fn usual(random: &mut dyn FnMut(f64, f64) -> f64) -> GroundPlannerInput {
        let neutral = Self::neutral();
        GroundPlannerInput {
            start_y: random(-10.0, 10.0),
            start_heading: random(-3.0, 3.0),
            goal_y: random(-10.0, 10.0),
            search: random(1.0, 1000.0) as u64,
            ..neutral
        }
    }

    fn hard(pick: &mut dyn FnMut() -> f64) -> GroundPlannerInput {
        // Positions lie within the world, and limits are positive.
        let within = |value: f64| value.clamp(-1e7, 1e7);
        let positive = |value: f64| value.abs().clamp(1e-3, 1e3);
        GroundPlannerInput {
            start_x: within(pick()),
            start_y: within(pick()),
            start_heading: within(pick()),
            speed: pick(),
            goal_x: within(pick()),
            goal_y: within(pick()),
            goal_heading: within(pick()),
            curvature: positive(pick()),
            clearance: positive(pick()),
            ..Self::neutral()
        }
    }

    fn deep_flaw(
        input: &GroundPlannerInput,
        output: &GroundPlannerOutput,
        words: &[u32],
    ) -> Option<String> {
        if output.count == 0 {
            return None;
        }
        let mut path = vec![PlanPose::default(); words.len() * 4 / size_of::<PlanPose>()];
        bytes_of_mut(&mut path).copy_from_slice(bytes_of(words));
        check_path(input, &path).err()
    }
}

impl Examined for AsSignals {
    const ROWS: usize = Self::ALWAYS as usize;

    fn usual(random: &mut dyn FnMut(f64, f64) -> f64) -> SignalInput {
        let stages = random(2.0, 6.0).floor() as u32;
        let stage = random(0.0, f64::from(stages)).floor() as u32;
        let mut input = SignalInput {
            node: random(1.0, 1000.0).floor() as u32,
            stage,
            planned: random(0.0, f64::from(stages)).floor() as u32,
            stage_count: stages,
            movement_count: 2 * stages,
            is_extended: random(0.0, 2.0).floor() as u32,
            elapsed: random(6.0, 60.0),
            opposed_for: random(-1.0, 60.0).max(-1.0),
            ..SignalInput::default()
        };
        for number in 0..stages as usize {
            input.stages[number] = SignalStage {
                green: random(10.0, 40.0),
                min: 6.0,
                max: 50.0,
                longest_wait: random(0.0, 90.0),
                queue: random(0.0, 20.0) as u32,
                arrivals: random(0.0, 20.0) as u32,
                is_called: random(0.0, 2.0) as u32,
                reserved: 0,
            };
        }
        for number in 0..2 * stages {
            input.movements[number as usize] = SignalMovement {
                road: 1 + number / 2,
                turn: -((number % 2) as i32),
                stages: 1 << (number / 2),
                queue: random(0.0, 20.0) as u32,
                arrivals: random(0.0, 20.0) as u32,
                longest_wait: random(0.0, 90.0),
                reserved: 0,
            };
        }
        input
    }

    fn hard(pick: &mut dyn FnMut() -> f64) -> SignalInput {
        // Counts are valid, and numbers of vehicles are clamped.
        let mut input = SignalInput {
            elapsed: pick(),
            opposed_for: pick(),
            ..AsSignals::neutral()
        };
        for stage in &mut input.stages[..2] {
            *stage = SignalStage {
                green: pick(),
                min: pick(),
                max: pick(),
                longest_wait: pick(),
                queue: pick() as u32,
                arrivals: pick() as u32,
                is_called: pick() as u32,
                reserved: 0,
            };
        }
        input
    }

    fn deep_flaw(input: &SignalInput, output: &SignalOutput, _: &[u32]) -> Option<String> {
        let count = input.stage_count;
        let is_there = output.next < count as i32;
        (!is_there).then(|| format!("stage {} of signals with {count} stages", output.next))
    }
}

/// Creates a two-lane ring of eight blocks, in which every lanelet can be reached from any other.
pub(super) fn grid_roads() -> FlatRoads {
    const BLOCKS: u32 = 8;
    let mut roads = FlatRoads {
        version: 2,
        ..FlatRoads::default()
    };
    // Each block consists of the outer lane, the inner lane, and the connections after them,
    // numbered in this order. These are the first two blocks; the last block leads back to the
    // first:
    //
    //     1 ====== 3 ---> 5 ====== 7 --->   inner lanes
    //     0 ====== 2 ---> 4 ====== 6 --->   outer lanes
    for block in 0..BLOCKS {
        for part in 0..4 {
            let is_connection = part >= 2;
            let next = if is_connection {
                4 * ((block + 1) % BLOCKS) + part - 2
            } else {
                4 * block + part + 2
            };
            let beside = match part {
                0 => (4 * block + 1, NO_LANELET),
                1 => (NO_LANELET, 4 * block),
                _ => (NO_LANELET, NO_LANELET),
            };
            let (x, length) = (
                f64::from(block) * 120.0,
                if is_connection { 20.0 } else { 100.0 },
            );
            roads.lanelets.push(RwLanelet {
                length,
                speed_limit: 13.9,
                width: 3.5,
                first_successor: roads.successors.len() as u32,
                successor_count: 1,
                left: beside.0,
                right: beside.1,
                first_point: roads.points.len() as u32,
                point_count: 2,
                flags: if is_connection { LANELET_CONNECTION } else { 0 },
                turn: 0,
            });
            roads.successors.push(next);
            let y = f64::from(part % 2) * 3.5;
            roads.points.push(RwPoint { x, y });
            roads.points.push(RwPoint { x: x + length, y });
        }
    }
    roads
}

pub(super) fn usual_rows<K: Examined>(step: u64) -> Vec<(u32, K::Input)> {
    let mut random = Stream::new(step, "rows", 0);
    let row = |slot: u32| (slot, K::usual(&mut |low, high| random.next_in(low, high)));
    (0..K::ROWS as u32).map(row).collect()
}
