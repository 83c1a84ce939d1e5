use super::*;
use roadwright_agent::Module;
use roadwright_agent::{BodyInput, PATH_PARTS};
use roadwright_geometry::math::{sin_cos, tan};
use roadwright_plugin_api::NOTHING;

/// A car without slip at 8 m/s, `along` metres along a path whose curvature is a function of the distance.
struct Car {
    along: f64,
    offset: f64,
    heading: f64,
    wheels: f64,
    rate: f64,
}

const SPEED: f64 = 8.0;
const WHEELBASE: f64 = 2.7;

impl Car {
    fn input(&self, curvature: &dyn Fn(f64) -> f64, part: f64) -> PathInput {
        let ahead = |at: usize| {
            let from = self.along + at as f64 * part;
            let inner = (0..10).map(|k| curvature(from + (f64::from(k) + 0.5) * 0.1 * part));
            inner.sum::<f64>() / 10.0
        };
        PathInput {
            seen: ControllerInput {
                speed: SPEED,
                road_speed: SPEED,
                wheelbase: WHEELBASE,
                steering: self.wheels,
                leader_gap: NOTHING,
                stop_distance: NOTHING,
                obstacle_distance: NOTHING,
                ..ControllerInput::default()
            },
            offset: self.offset,
            heading_error: self.heading,
            curvature: std::array::from_fn(ahead),
            body: BodyInput {
                steering_rate: self.rate,
                ..BodyInput::CAR
            },
            ..PathInput::default()
        }
    }

    fn advance(&mut self, curvature: &dyn Fn(f64) -> f64, wanted: f64, dt: f64) {
        self.wheels += (wanted - self.wheels).clamp(-self.rate * dt, self.rate * dt);
        let (sin, cos) = sin_cos(self.heading);
        let bend = curvature(self.along);
        let along = SPEED * cos / (1.0 - bend * self.offset);
        self.along += along * dt;
        self.offset += SPEED * sin * dt;
        self.heading += (SPEED * tan(self.wheels) / WHEELBASE - bend * along) * dt;
    }
}

fn straight(_: f64) -> f64 {
    0.0
}

/// A lane change of 3.5 m within 15 m that starts at 20 m.
fn lane_change(along: f64) -> f64 {
    let t = (along - 20.0) / 15.0;
    if (0.0..1.0).contains(&t) {
        3.5 / 225.0 * (60.0 * t - 180.0 * t * t + 120.0 * t * t * t)
    } else {
        0.0
    }
}

fn module() -> Module<dyn Controller> {
    let mut module = LinearMpc::entry().make();
    boundary(&mut module, &[0]);
    module
}

fn boundary(module: &mut Module<dyn Controller>, added: &[u32]) {
    let moment = StepBoundary {
        step: 0,
        time: 0.0,
        capacity: 1,
        added,
        removed: &[],
    };
    let Module {
        parameters, logic, ..
    } = module;
    assert_eq!(logic.at_step_boundary(parameters, &moment), None);
}

fn ask(
    module: &Module<dyn Controller>,
    input: PathInput,
    time: f64,
    period: f64,
) -> ControllerOutput {
    let mut outputs = [ControllerOutput::default()];
    let step = Step {
        time,
        period,
        indices: &[0],
        ids: &[7],
        ..Step::default()
    };
    module.follow(&step, &[input], &mut outputs);
    outputs[0]
}

/// Root mean square of the offset over a lane change that begins 0.5 m beside the path.
fn deviation(module: &Module<dyn Controller>, part: f64) -> f64 {
    let dt = 0.01;
    let mut car = Car {
        along: 0.0,
        offset: 0.5,
        heading: 0.0,
        wheels: 0.0,
        rate: 0.3,
    };
    let (mut squared, mut steps, mut command) = (0.0, 0u32, ControllerOutput::default());
    while car.along < 60.0 {
        if steps.is_multiple_of(3) {
            let input = car.input(&lane_change, part);
            command = ask(module, input, f64::from(steps) * dt, 3.0 * dt);
        }
        car.advance(&lane_change, command.steering, dt);
        squared += car.offset * car.offset;
        steps += 1;
    }
    (squared / f64::from(steps)).sqrt()
}

#[test]
fn without_active_limits_it_is_the_finite_horizon_of_the_regulator() {
    let design = Design::new(&LinearMpc::entry().make().parameters);
    let speeds = SpeedLaw::new(&LinearMpc::entry().make().parameters);
    let mpc = LinearMpc::default();
    for [offset, heading, wheels, bend] in [[0.02, 0.01, 0.0, 0.0], [-0.05, 0.0, 0.03, 0.012]] {
        let car = Car {
            along: 0.0,
            offset,
            heading,
            wheels,
            rate: 0.9,
        };
        let input = car.input(&|_| bend, design.step * SPEED);
        let model = LateralModel::of(&input, SPEED);
        let gains = design.regulator().gains(&model).unwrap();
        let rate = gains.controls(&model.state(&input), &input.curvature)[0];
        let plan = mpc.plan(&design, &speeds, &input, 0.0).unwrap();
        let difference = plan.rates[0] - rate;
        assert!(difference.abs() < 1e-6, "{} {rate}", plan.rates[0]);
    }
}

#[test]
fn a_plan_keeps_the_limits() {
    let mpc = LinearMpc::default();
    let parameters = LinearMpc::entry().make().parameters;
    let (design, speeds) = (Design::new(&parameters), SpeedLaw::new(&parameters));
    let mut car = Car {
        along: 15.0,
        offset: 0.5,
        heading: 0.1,
        wheels: 0.1,
        rate: 0.3,
    };
    let mut input = car.input(&lane_change, design.step * SPEED);
    input.seen.road_speed = 30.0;
    let plan = mpc.plan(&design, &speeds, &input, 0.0).unwrap();
    assert!(
        plan.rates.iter().any(|rate| rate.abs() > 0.299),
        "a limit is active"
    );
    assert!(plan.rates.iter().all(|rate| rate.abs() <= 0.3 + 1e-6));
    assert!(
        plan.accelerations
            .iter()
            .all(|a| (-8.0 - 1e-6..=3.0 + 1e-6).contains(a))
    );
    assert!(plan.accelerations[0] > 2.9, "{:?}", plan.accelerations);
    let model = LateralModel::of(&input, SPEED);
    let largest = model.wheels(design.limits.largest(&input));
    for k in 0..design.horizon {
        assert!(plan.wheels(k as f64 * design.step).abs() <= largest + 1e-6);
    }
    // Wheels beyond the limit are brought back nearly as fast as they can turn.
    car.wheels = 0.5;
    let input = car.input(&straight, design.step * SPEED);
    let plan = mpc.plan(&design, &speeds, &input, 0.0).unwrap();
    assert!(plan.rates[0] < -0.26, "{:?}", plan.rates);
}

#[test]
fn in_a_sharp_lane_change_it_leaves_the_path_less_than_the_clamped_regulator() {
    let planned = deviation(&module(), 0.05 * SPEED);
    let regulated = deviation(&Lqr::entry().make(), 0.04 * SPEED);
    assert!(
        planned < 0.4 * regulated,
        "{planned} m, and {regulated} m with lqr"
    );
}

#[test]
fn a_saved_plan_is_resumed_and_a_damaged_one_refused() {
    let car = Car {
        along: 15.0,
        offset: 0.5,
        heading: 0.0,
        wheels: 0.0,
        rate: 0.3,
    };
    let input = car.input(&lane_change, 0.05 * SPEED);
    let (first, mut second) = (module(), module());
    ask(&first, input, 1.0, 0.03);
    let LogicState::Bytes(bytes) = first.logic.save_state() else {
        panic!("it has a state");
    };
    second.logic.load_state(&bytes).unwrap();
    // Between two plans, the answer follows from the plan and not from the current input.
    let later = PathInput {
        offset: -0.5,
        ..input
    };
    let resumed = ask(&second, later, 1.03, 0.03);
    assert_eq!(resumed, ask(&first, later, 1.03, 0.03));
    assert_ne!(resumed, ask(&module(), later, 1.03, 0.03));
    assert_eq!(second.logic.save_state(), LogicState::Bytes(bytes.clone()));
    for damaged in [&bytes[1..], &bytes[..bytes.len() - 8], &[0xff; 16][..]] {
        assert!(second.logic.load_state(damaged).is_err());
    }
    // An agent that is new at the index has no plan.
    boundary(&mut second, &[0]);
    assert_eq!(second.logic.save_state(), LogicState::Bytes(Vec::new()));
}

#[test]
fn without_a_solution_the_regulator_steers_and_it_is_reported() {
    let mut module = module();
    module.parameters.set("max_iterations", 1.0).unwrap();
    let car = Car {
        along: 15.0,
        offset: 0.5,
        heading: 0.0,
        wheels: 0.0,
        rate: 0.3,
    };
    let input = car.input(&lane_change, 0.05 * SPEED);
    let output = ask(&module, input, 0.0, 0.03);
    // The steering changes no faster than the wheels can turn.
    assert!(
        output.steering.abs() <= 0.3 * 0.03 * 1.1 && output.steering != 0.0,
        "{output:?}"
    );
    let failure = module.logic.take_failure().unwrap();
    assert_eq!(failure.answers, 1);
    assert!(failure.reason.contains("lqr steered"), "{failure:?}");
    assert_eq!(module.logic.failure(), None);
}

#[test]
fn the_path_is_seen_as_far_as_the_longest_horizon() {
    let horizon = PARAMETERS
        .iter()
        .find(|parameter| parameter.key == "horizon")
        .unwrap();
    assert_eq!(horizon.max, PATH_PARTS as f64);
}

/// Gains of a horizon's first steering rate for the state alone.
fn first_gains(horizon: &Horizon) -> Vec<f64> {
    horizon.lateral.first().unwrap().state.row(0).to_vec()
}

#[test]
fn a_pushed_trailer_is_planned_as_if_the_horizon_had_no_end() {
    let pushed = LateralModel {
        following: Following::Pushed {
            coupling: 0.9,
            to_axle: 3.5,
        },
        wheelbase: WHEELBASE,
        speed: 1.2,
    };
    let design = Design::new(&LinearMpc::entry().make().parameters);
    let endless = LqrDesign {
        solution: LqrSolution::Infinite,
        ..design.regulator()
    };
    let gains = endless.gains(&pushed).unwrap();
    let horizon = Horizon::new(&design, &pushed).unwrap();
    for (own, expected) in first_gains(&horizon).iter().zip(gains.state.row(0)) {
        assert!(
            (own - expected).abs() < 1e-6 * gains.state.largest(),
            "{own} {expected}"
        );
    }
    // A bend that continues beyond the horizon is taken into account as well.
    let state = [0.1, 0.02, -0.05, 0.03];
    let ahead = [0.04; PATH_PARTS];
    let pull = horizon.steering_pull(state.to_vec(), &ahead);
    let free = horizon.steering.free_minimum(pull.values());
    let expected = gains.controls(&state, &ahead)[0];
    assert!((free[0] - expected).abs() < 1e-6, "{} {expected}", free[0]);
}

/// Mean time of a step for 100 vehicles, s. They drive the lane change, each starting at a
/// different time.
#[allow(
    clippy::disallowed_methods,
    reason = "no result depends on the measured time"
)]
fn time_of_a_step(module: &Module<dyn Controller>, part: f64) -> f64 {
    let (dt, count) = (0.01, 100u32);
    let mut cars: Vec<Car> = (0..count)
        .map(|number| Car {
            along: 0.2 * f64::from(number),
            offset: 0.5,
            heading: 0.0,
            wheels: 0.0,
            rate: 0.3,
        })
        .collect();
    let indices: Vec<u32> = (0..count).collect();
    let ids: Vec<u64> = (0..u64::from(count)).collect();
    let (mut spent, steps) = (0.0, 400u32);
    for number in 0..steps {
        let inputs = cars.iter().map(|car| car.input(&lane_change, part));
        let inputs: Vec<PathInput> = inputs.collect();
        let mut outputs = vec![ControllerOutput::default(); inputs.len()];
        let step = Step {
            time: f64::from(number) * dt,
            period: dt,
            indices: &indices,
            ids: &ids,
            ..Step::default()
        };
        let begin = std::time::Instant::now();
        module.follow(&step, &inputs, &mut outputs);
        spent += begin.elapsed().as_secs_f64();
        for (car, output) in cars.iter_mut().zip(&outputs) {
            car.advance(&lane_change, output.steering, dt);
        }
    }
    spent / f64::from(steps)
}

#[test]
#[ignore = "prints the figures quoted in the documentation"]
fn the_lane_change_is_measured() {
    let (own, lqr) = (module(), Lqr::entry().make());
    println!("rms of linear_mpc {:.4} m", deviation(&own, 0.05 * SPEED));
    println!("rms of lqr {:.4} m", deviation(&lqr, 0.04 * SPEED));
    let mut many = LinearMpc::entry().make();
    let added: Vec<u32> = (0..100).collect();
    let moment = StepBoundary {
        step: 0,
        time: 0.0,
        capacity: 100,
        added: &added,
        removed: &[],
    };
    assert_eq!(
        many.logic.at_step_boundary(&mut many.parameters, &moment),
        None
    );
    println!(
        "100 vehicles a step: {:.6} s",
        time_of_a_step(&many, 0.05 * SPEED)
    );
    println!(
        "the same with lqr: {:.6} s",
        time_of_a_step(&lqr, 0.04 * SPEED)
    );
}
