//! Linear model predictive control: plans steering and acceleration within the limits of the vehicle.

use crate::lateral::{
    COURSE_WEIGHT, Following, LateralModel, LateralWeights, OFFSET_WEIGHT, RATE_WEIGHT,
};
use crate::linear::{Batch, Cost, LinearError, Matrix, Plant, QuadraticProgram, Regulator};
use crate::lqr::{
    APPROACH, LATERAL_ACCELERATION, Lqr, LqrDesign, LqrSolution, SteeringLimits, model_key,
};
use crate::speed_law::{self, SpeedLaw};
use roadwright_agent::{
    Controller, Failure, Logic, LogicState, Lookahead, ModuleEntry, ModuleInfo, ParameterInfo,
    ParameterSet, PathInput, PathParts, Step, StepBoundary, Swap,
};
use roadwright_plugin_api::{ControllerInput, ControllerOutput};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

static INFO: ModuleInfo = ModuleInfo {
    id: "linear_mpc",
    name: "Linear predictive control",
    doc: "Plans steering and acceleration with a linear model of its vehicle, within the vehicle's limits.",
};

static PARAMETERS: [ParameterInfo; 19] = [
    ParameterInfo::number(
        "rate",
        "Hz",
        (1.0, 100.0),
        20.0,
        "Planning rate; the plan is followed in between.",
    ),
    ParameterInfo::number(
        "horizon",
        "",
        (5.0, 40.0),
        30.0,
        "Number of steps in a plan; fractions are dropped.",
    ),
    ParameterInfo::number("step", "s", (0.01, 0.2), 0.05, "Time step of the model."),
    OFFSET_WEIGHT,
    COURSE_WEIGHT,
    RATE_WEIGHT,
    ParameterInfo::number(
        "last_weight",
        "",
        (0.0, 1000.0),
        10.0,
        "Multiplier of the error weights at the end of the plan.",
    ),
    ParameterInfo::number(
        "speed_weight",
        "s^2/m^2",
        (0.001, 1000.0),
        1.0,
        "Weight of the squared speed shortfall.",
    ),
    ParameterInfo::number(
        "acceleration_weight",
        "s^4/m^2",
        (0.001, 1000.0),
        1.0,
        "Weight of the squared acceleration.",
    ),
    APPROACH,
    LATERAL_ACCELERATION,
    ParameterInfo::number(
        "max_iterations",
        "",
        (1.0, 1000.0),
        200.0,
        "Maximum solver iterations, after which lqr takes over; fractions are dropped.",
    ),
    speed_law::SPEED_GAIN,
    speed_law::GAP_GAIN,
    speed_law::CLOSING_GAIN,
    speed_law::HEADWAY,
    speed_law::BRAKING,
    speed_law::REACTION,
    ParameterInfo::number(
        "slowest",
        "m/s",
        (0.25, 5.0),
        1.0,
        "Minimum speed of the model, because a stationary vehicle cannot be steered.",
    ),
];

/// Step between the speeds for which models are cached, m/s.
const SPEED_STEP: f64 = 0.1;
/// Maximum number of models in the cache. It is cleared when it is full.
const MOST_KEPT: usize = 256;
/// Minimum rate at which wheels steered beyond the limit are brought back to it, as a fraction of
/// the maximum steering rate.
const RETURN: f64 = 0.9;
/// Tolerance of the time at which the next plan is due, s.
const EARLY: f64 = 1e-9;

/// Linear MPC: plans steering rates and accelerations over a horizon with a quadratic program.
/// Without limits, its solution equals the batch solution of `lqr`. The vehicle follows a plan until the next plan is
/// due.
///
/// If a program has no solution, or needs more than the allowed iterations, `lqr` gives the answer instead,
/// clamped to the limits. The number of such answers is reported as a failure of the module.
#[derive(Default)]
pub struct LinearMpc {
    /// Plans by agent index.
    plans: Vec<Mutex<Option<Plan>>>,
    // Horizons by key. A horizon depends on its key alone, so it does not matter which agent computed it
    // first.
    kept: Mutex<BTreeMap<Vec<u64>, Arc<Horizon>>>,
    fallback: Lqr,
    unsolved: Mutex<u64>,
}

/// Plan of an agent.
#[derive(Debug, Clone, PartialEq)]
struct Plan {
    /// Time at which the plan was made, s.
    time: f64,
    /// Step of the model, s.
    step: f64,
    /// Steering at the time of the plan, in the unit of the model's steering state.
    wheels: f64,
    /// Steering rate in each step, in the unit of the model's steering state per second.
    rates: Vec<f64>,
    /// Acceleration in each step, m/s^2.
    accelerations: Vec<f64>,
}

impl Plan {
    /// Returns the steering at `time` (s), in the unit of the model's steering state.
    fn wheels(&self, time: f64) -> f64 {
        let mut left = (time - self.time).max(0.0);
        let mut wheels = self.wheels;
        for rate in &self.rates {
            let part = left.min(self.step);
            wheels += rate * part;
            left -= part;
        }
        wheels
    }

    /// Acceleration at the given time, m/s^2.
    fn acceleration(&self, time: f64) -> f64 {
        let at = ((time - self.time).max(0.0) / self.step) as usize;
        self.accelerations[at.min(self.accelerations.len() - 1)]
    }

    /// Appends the plan's numbers to a save.
    fn write(&self, index: usize, bytes: &mut Vec<u8>) {
        bytes.extend((index as u64).to_le_bytes());
        bytes.extend((self.rates.len() as u64).to_le_bytes());
        let numbers = [self.time, self.step, self.wheels];
        let numbers = numbers.iter().chain(&self.rates).chain(&self.accelerations);
        numbers.for_each(|number| bytes.extend(number.to_le_bytes()));
    }
}

/// Reader of a saved plan.
struct Words<'a>(&'a [u8]);

impl Words<'_> {
    fn next(&mut self) -> Option<[u8; 8]> {
        let (word, rest) = self.0.split_first_chunk::<8>()?;
        self.0 = rest;
        Some(*word)
    }

    fn number(&mut self) -> Option<f64> {
        let number = f64::from_le_bytes(self.next()?);
        number.is_finite().then_some(number)
    }

    fn numbers(&mut self, count: usize) -> Option<Vec<f64>> {
        (0..count).map(|_| self.number()).collect()
    }

    /// Reads the next plan with the index of its agent; `None` if the bytes are damaged.
    fn plan(&mut self) -> Option<SavedPlan> {
        let index = u64::from_le_bytes(self.next()?);
        let count = u64::from_le_bytes(self.next()?) as usize;
        // The largest horizon that the parameter allows.
        if !(1..=40).contains(&count) {
            return None;
        }
        let plan = Plan {
            time: self.number()?,
            step: self.number().filter(|step| *step > 0.0)?,
            wheels: self.number()?,
            rates: self.numbers(count)?,
            accelerations: self.numbers(count)?,
        };
        Some(SavedPlan {
            index: usize::try_from(index).ok()?,
            plan,
        })
    }
}

/// A plan from a save, with the index of its agent.
struct SavedPlan {
    index: usize,
    plan: Plan,
}

/// Parameter values of `linear_mpc` for one batch.
struct Design {
    rate: f64,
    horizon: usize,
    step: f64,
    weights: LateralWeights,
    speed_weight: f64,
    acceleration_weight: f64,
    limits: SteeringLimits,
    max_iterations: u32,
    slowest: f64,
}

impl Design {
    fn new(parameters: &ParameterSet) -> Self {
        Self {
            rate: parameters.value("rate"),
            horizon: parameters.value("horizon") as usize,
            step: parameters.value("step"),
            weights: LateralWeights::new(parameters),
            speed_weight: parameters.value("speed_weight"),
            acceleration_weight: parameters.value("acceleration_weight"),
            limits: SteeringLimits::new(parameters),
            max_iterations: parameters.value("max_iterations") as u32,
            slowest: parameters.value("slowest"),
        }
    }

    fn regulator(&self) -> LqrDesign {
        LqrDesign {
            solution: LqrSolution::Finite,
            horizon: self.horizon,
            step: self.step,
            weights: self.weights,
        }
    }

    /// Returns the model of the speed, which is its only state. The control is the acceleration.
    fn speed_plant(&self) -> Plant {
        Plant {
            state: Matrix::identity(1),
            control: Matrix::identity(1).scaled(self.step),
            known: Matrix::zeros(1, 1),
        }
    }

    fn speed_cost(&self) -> Cost {
        let state = Matrix::identity(1).scaled(self.speed_weight * self.step);
        Cost {
            last: state.clone(),
            state,
            control: Matrix::identity(1).scaled(self.acceleration_weight * self.step),
        }
    }
}

/// Quadratic forms over a horizon, with the rows of their limits.
struct Horizon {
    lateral: Batch,
    steering: QuadraticProgram,
    speed: Batch,
    acceleration: QuadraticProgram,
    /// Heading gain divided by offset gain, at the first step of the horizon, m/rad.
    heading_per_offset: f64,
    /// Whether the curvature beyond the horizon is a state.
    sees_beyond: bool,
}

impl Horizon {
    fn new(design: &Design, model: &LateralModel) -> Result<Self, LinearError> {
        let (steps, step) = (design.horizon, design.step);
        let (mut plant, mut cost) = (model.plant(step), model.cost(&design.weights, step));
        let sees_beyond = matches!(model.following, Following::Pushed { .. });
        if sees_beyond {
            (plant, cost) = endless(&plant, &cost)?;
        }
        let lateral = Batch::new(&plant, &cost, steps)?;
        let speed = Batch::new(&design.speed_plant(), &design.speed_cost(), steps)?;
        let gains = lateral.first()?.state;
        let steering = QuadraticProgram::new(&lateral.quadratic, steering_rows(steps, step));
        let acceleration =
            QuadraticProgram::new(&speed.quadratic, both_ways(&Matrix::identity(steps)));
        Ok(Self {
            heading_per_offset: (gains[[0, 1]] / gains[[0, 0]]).abs(),
            steering: steering.ok_or(LinearError::Weights)?,
            acceleration: acceleration.ok_or(LinearError::Weights)?,
            lateral,
            speed,
            sees_beyond,
        })
    }

    /// Returns the linear term of the QP objective (in the steering rates) for a model state.
    fn steering_pull(&self, mut state: Vec<f64>, curvature: &[f64]) -> Matrix {
        if self.sees_beyond {
            let last = curvature.get(self.lateral.steps() - 1);
            state.push(last.or(curvature.last()).copied().unwrap_or(0.0));
        }
        self.lateral.linear(&state, curvature)
    }

    /// Returns the linear term of the QP objective (in the accelerations) for a speed deficit, m/s.
    fn speed_pull(&self, missing: f64) -> Matrix {
        // The state is the excess over the desired speed.
        self.speed.linear(&[-missing], &[])
    }
}

/// Replaces the cost at the end of a horizon by the cost of all later steps. The last curvature is
/// assumed to continue, and becomes the last state.
///
/// This is needed for a pushed trailer, which settles long after the horizon of other vehicles.
fn endless(plant: &Plant, cost: &Cost) -> Result<(Plant, Cost), LinearError> {
    let regulator = Regulator::solve(plant, cost)?;
    let beyond = regulator.beyond(plant);
    let states = plant.state.rows();
    let with_curvature = |matrix: &Matrix, columns: usize| {
        let mut larger = Matrix::zeros(states + 1, columns);
        larger.put([0, 0], matrix);
        larger
    };
    let mut state = with_curvature(&plant.state, states + 1);
    state[[states, states]] = 1.0;
    let mut last = with_curvature(&regulator.cost, states + 1);
    last.put([0, states], &beyond);
    last.put([states, 0], &beyond.transposed());
    let longer = Plant {
        state,
        control: with_curvature(&plant.control, 1),
        known: with_curvature(&plant.known, 1),
    };
    let cost = Cost {
        state: with_curvature(&cost.state, states + 1),
        control: cost.control.clone(),
        last,
    };
    Ok((longer, cost))
}

/// Returns the constraint rows for the steering rates and for the steering after each step.
fn steering_rows(steps: usize, step: f64) -> Matrix {
    let mut rows = Matrix::zeros(2 * steps, steps);
    for k in 0..steps {
        rows[[k, k]] = 1.0;
        for before in 0..=k {
            rows[[steps + k, before]] = step;
        }
    }
    both_ways(&rows)
}

/// Returns the constraint rows for upper limits, followed by those for lower limits.
fn both_ways(rows: &Matrix) -> Matrix {
    let mut both = Matrix::zeros(2 * rows.rows(), rows.columns());
    both.put([0, 0], rows);
    both.put([rows.rows(), 0], &rows.scaled(-1.0));
    both
}

/// Limits that a plan must not exceed.
struct PlanLimits {
    /// Largest steering, in the unit of the model's steering state.
    wheels: f64,
    /// Steering at the beginning of the plan.
    begin: f64,
    /// Largest steering rate, in the unit of the model's steering state per second.
    rate: f64,
    /// Maximum acceleration, m/s^2.
    max_acceleration: f64,
    /// Maximum deceleration, m/s^2.
    max_braking: f64,
}

impl PlanLimits {
    /// Returns the bounds of the rows returned by [`steering_rows`].
    fn steering(&self, steps: usize, step: f64) -> Vec<f64> {
        let mut bounds = Vec::with_capacity(4 * steps);
        for sign in [1.0, -1.0] {
            bounds.extend(std::iter::repeat_n(self.rate, steps));
            // Wheels beyond the limit are given time to return, at less than their full rate, so
            // that two limits never meet in a single point.
            bounds.extend((1..=steps).map(|k| {
                let back = sign * self.begin - RETURN * self.rate * step * k as f64;
                self.wheels.max(back) - sign * self.begin
            }));
        }
        bounds
    }

    /// Returns the largest acceleration of each step, followed by the largest deceleration of each
    /// step, m/s^2.
    fn acceleration(&self, steps: usize) -> Vec<f64> {
        let (up, down) = (self.max_acceleration, self.max_braking);
        let bounds = std::iter::repeat_n(up, steps);
        bounds.chain(std::iter::repeat_n(down, steps)).collect()
    }
}

/// Locks a mutex, even if another thread has panicked, because a panic leaves no partial changes here.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl LinearMpc {
    /// Returns the registry entry of the module.
    pub fn entry() -> ModuleEntry<dyn Controller> {
        ModuleEntry::<dyn Controller>::new(INFO, &PARAMETERS, || Box::new(Self::default()))
    }

    /// Returns the horizon for a model, from the cache if possible; `None` if the weights have no minimum.
    fn horizon(&self, design: &Design, model: &LateralModel) -> Option<Arc<Horizon>> {
        let mut key = model_key(&design.regulator(), model);
        key.extend([
            design.speed_weight.to_bits(),
            design.acceleration_weight.to_bits(),
        ]);
        let mut kept = lock(&self.kept);
        if let Some(horizon) = kept.get(&key) {
            return Some(horizon.clone());
        }
        let horizon = Arc::new(Horizon::new(design, model).ok()?);
        if kept.len() >= MOST_KEPT {
            kept.clear();
        }
        kept.insert(key, horizon.clone());
        Some(horizon)
    }

    /// Creates a plan for a vehicle at `time`, s. Returns `None` if there is no solution.
    fn plan(
        &self,
        design: &Design,
        speeds: &SpeedLaw,
        input: &PathInput,
        time: f64,
    ) -> Option<Plan> {
        let model = Self::model(design, input);
        let horizon = self.horizon(design, &model)?;
        let mut state = model.state(input);
        let widest = design.limits.approach * horizon.heading_per_offset;
        state[0] = state[0].clamp(-widest, widest);
        let limits = PlanLimits {
            wheels: model.wheels(design.limits.largest(input)),
            begin: model.wheels(input.seen.steering),
            rate: input.body.steering_rate,
            max_acceleration: input.body.max_acceleration,
            max_braking: input.body.max_braking,
        };
        let missing = speeds.allowed(&input.seen) - input.seen.speed;
        let (steps, most) = (design.horizon, design.max_iterations);
        let pull = horizon.steering_pull(state, &input.curvature);
        let bounds = limits.steering(steps, design.step);
        let rates = horizon.steering.minimum(pull.values(), &bounds, most);
        let pull = horizon.speed_pull(missing);
        let bounds = limits.acceleration(steps);
        let accelerations = horizon.acceleration.minimum(pull.values(), &bounds, most);
        Some(Plan {
            time,
            step: design.step,
            wheels: limits.begin,
            rates: rates.ok()?,
            accelerations: accelerations.ok()?,
        })
    }

    /// Returns the model of a vehicle at the nearest speed for which horizons are kept.
    fn model(design: &Design, input: &PathInput) -> LateralModel {
        let speed = input.seen.speed.max(design.slowest);
        LateralModel::of(input, (speed / SPEED_STEP).round() * SPEED_STEP)
    }

    /// Returns the command for one vehicle. `kept` holds its plan between calls, if plans are kept.
    fn command(
        &self,
        design: &Design,
        speeds: &SpeedLaw,
        input: &PathInput,
        step: &Step<'_>,
        kept: Option<&Mutex<Option<Plan>>>,
    ) -> ControllerOutput {
        let mut own = None;
        let mut kept = kept.map(lock);
        let slot = kept.as_deref_mut().unwrap_or(&mut own);
        let is_due = |plan: &Plan| {
            step.time < plan.time || step.time - plan.time >= 1.0 / design.rate - EARLY
        };
        if slot.as_ref().is_none_or(is_due) {
            *slot = self.plan(design, speeds, input, step.time);
        }
        let law = speeds.acceleration(&input.seen);
        let Some(plan) = slot.as_ref() else {
            *lock(&self.unsolved) += 1;
            return ControllerOutput {
                acceleration: law,
                steering: self.fallback.command(
                    &design.regulator(),
                    &design.limits,
                    input,
                    step.period,
                ),
            };
        };
        let model = Self::model(design, input);
        let planned = plan.acceleration(step.time);
        let largest = design.limits.largest(input);
        ControllerOutput {
            // Braking for a leader or a stop does not wait for the next plan.
            acceleration: if law < 0.0 { planned.min(law) } else { planned },
            steering: model
                .steering(plan.wheels(step.time + step.period))
                .clamp(-largest, largest),
        }
    }

    /// Returns the number of answers that `lqr` gave because no plan was found, as a failure; `None` if there
    /// are none.
    fn unsolved(&self) -> Option<Failure> {
        let answers = *lock(&self.unsolved);
        (answers > 0).then(|| Failure {
            answers,
            reason:
                "the solver found no plan within its limits and iterations; lqr steered instead"
                    .into(),
            ..Failure::default()
        })
    }
}

impl Logic for LinearMpc {
    fn save_state(&self) -> LogicState {
        let mut bytes = Vec::new();
        for (index, plan) in self.plans.iter().enumerate() {
            if let Some(plan) = &*lock(plan) {
                plan.write(index, &mut bytes);
            }
        }
        LogicState::Bytes(bytes)
    }

    fn load_state(&mut self, bytes: &[u8]) -> Result<(), String> {
        let mut words = Words(bytes);
        let mut plans: BTreeMap<usize, Plan> = BTreeMap::new();
        while !words.0.is_empty() {
            let saved = words.plan().ok_or("a saved plan is damaged")?;
            if saved.index >= self.plans.len() {
                return Err("a saved plan does not belong to any agent".into());
            }
            plans.insert(saved.index, saved.plan);
        }
        for (index, slot) in self.plans.iter_mut().enumerate() {
            *slot = Mutex::new(plans.remove(&index));
        }
        Ok(())
    }

    fn failure(&self) -> Option<Failure> {
        self.unsolved()
    }

    fn take_failure(&mut self) -> Option<Failure> {
        let failure = self.unsolved();
        *lock(&self.unsolved) = 0;
        failure
    }

    fn has_step_boundary(&self) -> bool {
        true
    }

    fn at_step_boundary(
        &mut self,
        _: &mut ParameterSet,
        moment: &StepBoundary<'_>,
    ) -> Option<Swap> {
        self.plans
            .resize_with(moment.capacity as usize, Mutex::default);
        for &index in moment.added.iter().chain(moment.removed) {
            if let Some(plan) = self.plans.get_mut(index as usize) {
                *plan = Mutex::default();
            }
        }
        None
    }
}

impl Controller for LinearMpc {
    fn step(
        &self,
        parameters: &ParameterSet,
        step: &Step<'_>,
        inputs: &[ControllerInput],
        outputs: &mut [ControllerOutput],
    ) {
        let inputs: Vec<PathInput> = inputs.iter().copied().map(PathInput::of_waypoint).collect();
        self.follow(parameters, step, &inputs, outputs);
    }

    fn follow(
        &self,
        parameters: &ParameterSet,
        step: &Step<'_>,
        inputs: &[PathInput],
        outputs: &mut [ControllerOutput],
    ) {
        let (design, speeds) = (Design::new(parameters), SpeedLaw::new(parameters));
        for (row, (input, output)) in inputs.iter().zip(outputs).enumerate() {
            let index = step.indices.get(row).map(|&index| index as usize);
            let kept = index.and_then(|index| self.plans.get(index));
            *output = self.command(&design, &speeds, input, step, kept);
        }
    }

    fn pushes_trailers(&self) -> bool {
        true
    }

    fn path_parts(&self, parameters: &ParameterSet) -> Option<PathParts> {
        Some(PathParts {
            time: parameters.value("step"),
            slowest: parameters.value("slowest"),
        })
    }

    fn lookahead(&self, _: &ParameterSet) -> Lookahead {
        Lookahead {
            time: 0.6,
            distance: 4.5,
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests;
