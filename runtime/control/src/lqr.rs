//! The linear-quadratic regulator. Its steering takes all lateral errors and the curvature ahead
//! into account.

use crate::lateral::{
    COURSE_WEIGHT, Following, LateralModel, LateralWeights, OFFSET_WEIGHT, RATE_WEIGHT,
};
use crate::linear::{Batch, Gains, LinearError, Matrix, Recursion, Regulator};
use crate::speed_law::{self, SpeedLaw};
use crate::term;
use roadwright_agent::{
    Controller, Logic, Lookahead, ModuleEntry, ModuleInfo, PATH_PARTS, ParameterInfo, ParameterSet,
    PathInput, PathParts, Step,
};
use roadwright_geometry::math::atan;
use roadwright_plugin_api::{ControllerInput, ControllerOutput};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

static INFO: ModuleInfo = ModuleInfo {
    id: "lqr",
    name: "Linear-quadratic regulator",
    doc: "Steers by the optimal gains of a linear model of its vehicle, with a preview of the path's curvature.",
};

/// Parameter of the steering limits: angle to the path.
pub(crate) const APPROACH: ParameterInfo = ParameterInfo::number(
    "approach",
    "rad",
    (0.05, 1.2),
    0.3,
    "Maximum angle at which the vehicle returns to the path.",
);
/// Parameter of the steering limits: lateral acceleration.
pub(crate) const LATERAL_ACCELERATION: ParameterInfo = ParameterInfo::number(
    "lateral_acceleration",
    "m/s^2",
    (0.5, 15.0),
    4.0,
    "Maximum lateral acceleration that steering may cause.",
);

static PARAMETERS: [ParameterInfo; 15] = [
    ParameterInfo::choice(
        "solution",
        &["infinite horizon", "finite horizon", "batch"],
        "Method of computing the gains. With a finite horizon or a batch, the controller sees the \
         path only up to the horizon.",
    ),
    ParameterInfo::number(
        "horizon",
        "",
        (1.0, 200.0),
        60.0,
        "Number of steps in the finite horizon and in the batch; fractions are dropped.",
    ),
    ParameterInfo::number(
        "step",
        "s",
        (0.01, 0.2),
        0.04,
        "Time step of the model; the path is previewed 40 steps ahead.",
    ),
    OFFSET_WEIGHT,
    COURSE_WEIGHT,
    RATE_WEIGHT,
    ParameterInfo::number(
        "last_weight",
        "",
        (0.0, 1000.0),
        10.0,
        "Multiplier of the error weights at the end of a finite horizon.",
    ),
    APPROACH,
    LATERAL_ACCELERATION,
    speed_law::SPEED_GAIN,
    speed_law::GAP_GAIN,
    speed_law::CLOSING_GAIN,
    speed_law::HEADWAY,
    speed_law::BRAKING,
    speed_law::REACTION,
];

/// Minimum speed for which gains are computed, m/s. A stationary vehicle cannot be steered.
const SLOWEST: f64 = 1.0;
/// Step between the speeds for which gains are computed, m/s. Gains are interpolated in between.
const SPEED_STEP: f64 = 0.25;
/// Maximum number of gains in the cache. It is cleared when it is full.
const MOST_KEPT: usize = 4096;

/// Method that computes the gains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LqrSolution {
    /// Constant gain of the infinite horizon.
    Infinite,
    /// First gain of a finite horizon, by the Riccati recursion.
    Finite,
    /// First controls of the batch solution.
    Batch,
}

/// Design of a regulator: weights, step and solution.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LqrDesign {
    /// Method that computes the gains.
    pub solution: LqrSolution,
    /// Number of steps of a finite horizon.
    pub horizon: usize,
    /// Step of the model, s.
    pub step: f64,
    /// Weights of the cost.
    pub weights: LateralWeights,
}

impl Default for LqrDesign {
    fn default() -> Self {
        Self::new(&ParameterSet::new(&PARAMETERS))
    }
}

impl LqrDesign {
    /// Reads the parameters of `lqr` that a stack sets; the others have their defaults.
    pub fn of(parameters: &BTreeMap<String, f64>) -> Self {
        Self::new(&term::parameters(&PARAMETERS, parameters))
    }

    fn new(parameters: &ParameterSet) -> Self {
        Self {
            solution: match parameters.value("solution") as u32 {
                0 => LqrSolution::Infinite,
                1 => LqrSolution::Finite,
                _ => LqrSolution::Batch,
            },
            horizon: parameters.value("horizon") as usize,
            step: parameters.value("step"),
            weights: LateralWeights::new(parameters),
        }
    }

    /// Returns the gains for a model.
    ///
    /// # Errors
    /// If the model cannot be stabilised, or if the horizon is not valid for the solution.
    pub fn gains(&self, model: &LateralModel) -> Result<Gains, LinearError> {
        let plant = model.plant(self.step);
        let cost = model.cost(&self.weights, self.step);
        let gains = match self.solution {
            LqrSolution::Infinite => {
                return Ok(Regulator::solve(&plant, &cost)?.gains(&plant, PATH_PARTS));
            }
            LqrSolution::Finite => Recursion::solve(&plant, &cost, self.horizon)?.first,
            LqrSolution::Batch => Batch::new(&plant, &cost, self.horizon)?.first()?,
        };
        Ok(seen_alone(gains))
    }
}

/// Adds up the gains so that there is one for each visible part of the path. Beyond these parts,
/// the curvature of the last part is assumed to continue.
fn seen_alone(gains: Gains) -> Gains {
    let mut known = Matrix::zeros(1, PATH_PARTS);
    for (at, &gain) in gains.known.row(0).iter().enumerate() {
        known[[0, at.min(PATH_PARTS - 1)]] += gain;
    }
    Gains { known, ..gains }
}

/// Steers by u = -K x + sum of F(i) curvature(i) (Pollithy). Here, x contains the errors of a
/// linear model of the vehicle at its level, and u is the steering rate. The speeds are those of
/// `pursuit`.
///
/// Errors that would need steeper approaches, faster steering or sharper bends than allowed are
/// clamped, so the control is no longer optimal far from the path.
#[derive(Default)]
pub struct Lqr {
    // Each gain depends on its key alone, so it does not matter which agent computed it first.
    kept: Mutex<BTreeMap<Vec<u64>, Arc<Gains>>>,
}

/// Steering limits that apply in addition to the vehicle's own limits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SteeringLimits {
    /// Maximum angle at which the vehicle returns to the path, rad.
    pub(crate) approach: f64,
    /// Maximum lateral acceleration, m/s^2.
    pub(crate) lateral_acceleration: f64,
}

impl SteeringLimits {
    /// Reads the limits from the parameters of a module. The module must declare the parameters of
    /// both limits.
    pub(crate) fn new(parameters: &ParameterSet) -> Self {
        Self {
            approach: parameters.value("approach"),
            lateral_acceleration: parameters.value("lateral_acceleration"),
        }
    }

    /// Returns the maximum steering angle of a vehicle at its current speed, rad.
    pub(crate) fn largest(&self, input: &PathInput) -> f64 {
        let ControllerInput {
            speed, wheelbase, ..
        } = input.seen;
        let across = atan(wheelbase * self.lateral_acceleration / (speed * speed).max(0.1));
        across.min(input.body.max_steering)
    }
}

impl Lqr {
    /// Returns the registry entry of the module.
    pub fn entry() -> ModuleEntry<dyn Controller> {
        ModuleEntry::<dyn Controller>::new(INFO, &PARAMETERS, || Box::new(Self::default()))
    }

    /// Returns the gains for a model, from the cache if possible. The speed of the model must be a
    /// multiple of `SPEED_STEP`.
    fn gains_at(&self, design: &LqrDesign, model: &LateralModel) -> Arc<Gains> {
        let key = model_key(design, model);
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(gains) = kept.get(&key) {
            return gains.clone();
        }
        let gains = design.gains(model).or_else(|_| {
            // Near the limit of what can be stabilised, a long horizon has nearly the same gains.
            let finite = LqrDesign {
                solution: LqrSolution::Finite,
                horizon: 400,
                ..*design
            };
            finite.gains(model)
        });
        let gains = Arc::new(gains.unwrap_or_else(|_| Gains {
            state: Matrix::zeros(1, model.states().len()),
            known: Matrix::zeros(1, PATH_PARTS),
        }));
        if kept.len() >= MOST_KEPT {
            kept.clear();
        }
        kept.insert(key, gains.clone());
        gains
    }

    /// Returns the steering rate that the law requests, rad/s. For models without slip, this is the
    /// rate of the tangent of the steering angle.
    fn rate(&self, design: &LqrDesign, limits: &SteeringLimits, input: &PathInput) -> f64 {
        let speed = input.seen.speed.max(SLOWEST);
        let below = (speed / SPEED_STEP).floor();
        let share = speed / SPEED_STEP - below;
        // Gains of models with different states cannot be interpolated, so those of the higher speed are
        // used.
        let ends = [below, below + 1.0].map(|at| LateralModel::of(input, at * SPEED_STEP));
        let is_alike = ends[0].states().len() == ends[1].states().len();
        let shares = match is_alike {
            true => [1.0 - share, share],
            false => [0.0, 1.0],
        };
        let rates = ends.iter().zip(shares).filter(|(_, share)| *share > 0.0);
        let rates = rates.map(|(model, share)| {
            let gains = self.gains_at(design, model);
            share * requested(&gains, limits, &model.state(input), &input.curvature)
        });
        rates.sum()
    }

    /// Returns the steering angle for a vehicle that gets its next command after `period` seconds.
    pub(crate) fn command(
        &self,
        design: &LqrDesign,
        limits: &SteeringLimits,
        input: &PathInput,
        period: f64,
    ) -> f64 {
        let model = LateralModel::of(input, input.seen.speed.max(SLOWEST));
        let most = input.body.steering_rate;
        let rate = self.rate(design, limits, input).clamp(-most, most);
        let wheels = model.wheels(input.seen.steering) + rate * period;
        let largest = limits.largest(input);
        model.steering(wheels).clamp(-largest, largest)
    }
}

/// Returns the control for a state. The lateral offset is clamped so that the vehicle approaches the path at
/// no more than the maximum angle.
fn requested(gains: &Gains, limits: &SteeringLimits, state: &[f64], ahead: &[f64]) -> f64 {
    let (by_offset, by_heading) = (gains.state[[0, 0]].abs(), gains.state[[0, 1]].abs());
    let mut state = state.to_vec();
    if by_offset > 0.0 {
        let widest = limits.approach * by_heading / by_offset;
        state[0] = state[0].clamp(-widest, widest);
    }
    gains.controls(&state, ahead)[0]
}

/// Returns the numbers that determine the gains. They form the key of the cache.
pub(crate) fn model_key(design: &LqrDesign, model: &LateralModel) -> Vec<u64> {
    let weights = &design.weights;
    let mut numbers = vec![
        design.step,
        weights.offset,
        weights.course,
        weights.rate,
        weights.last,
        model.wheelbase,
        model.speed,
    ];
    match model.following {
        Following::Rolling => {}
        Following::Slipping(tyres) => numbers.extend([
            tyres.mass,
            tyres.yaw_inertia,
            tyres.front,
            tyres.rear,
            tyres.front_stiffness,
            tyres.rear_stiffness,
        ]),
        Following::Pushed { coupling, to_axle } => numbers.extend([coupling, to_axle]),
    }
    let kind = [design.solution as u64, design.horizon as u64];
    kind.into_iter()
        .chain(numbers.into_iter().map(f64::to_bits))
        .collect()
}

impl Logic for Lqr {}

impl Controller for Lqr {
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
        let (design, limits) = (LqrDesign::new(parameters), SteeringLimits::new(parameters));
        let speeds = SpeedLaw::new(parameters);
        for (input, output) in inputs.iter().zip(outputs) {
            *output = ControllerOutput {
                acceleration: speeds.acceleration(&input.seen),
                steering: self.command(&design, &limits, input, step.period),
            };
        }
    }

    fn pushes_trailers(&self) -> bool {
        true
    }

    fn path_parts(&self, parameters: &ParameterSet) -> Option<PathParts> {
        Some(PathParts {
            time: parameters.value("step"),
            slowest: SLOWEST,
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
