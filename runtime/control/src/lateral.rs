//! Lateral error dynamics: the deviation of a vehicle from a path as a linear system.

use crate::linear::{Cost, Matrix, Plant};
use roadwright_agent::{ParameterInfo, ParameterSet, PathInput, TyreInput};
use roadwright_geometry::math::{atan, tan};

/// Parameter for the weight of the lateral offset.
pub(crate) const OFFSET_WEIGHT: ParameterInfo = ParameterInfo::number(
    "offset_weight",
    "1/m^2",
    (0.001, 1000.0),
    10.0,
    "Weight of the squared offset.",
);
/// Parameter for the weight of the angle between the direction of motion and the path.
pub(crate) const COURSE_WEIGHT: ParameterInfo = ParameterInfo::number(
    "course_weight",
    "1/rad^2",
    (0.0, 1000.0),
    5.0,
    "Weight of the squared angle between motion and path.",
);
/// Parameter for the weight of the steering rate.
pub(crate) const RATE_WEIGHT: ParameterInfo = ParameterInfo::number(
    "rate_weight",
    "s^2/rad^2",
    (0.001, 1000.0),
    1.0,
    "Weight of the squared steering rate.",
);

/// Speed below which tyres are assumed to roll without slip, as in the dynamic one-track model,
/// m/s.
const ROLLING: f64 = 3.0;
/// Factors on the weights of offset and course for a pushed trailer. With the weights of a vehicle,
/// the trailer would swing to angles at which the linear model no longer holds, and the combination
/// would jackknife.
const PUSHED: [f64; 2] = [0.01, 0.4];

/// The body that follows the path, which determines the states of the model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Following {
    /// Vehicle without slip; state: offset, heading error, tangent of the steering angle.
    Rolling,
    /// Vehicle with linear tyres; state: offset, heading error, lateral speed of the rear axle, yaw rate,
    /// steering angle.
    Slipping(TyreInput),
    /// Trailer that a vehicle without slip pushes backwards; state: offset and heading error of the trailer,
    /// hitch angle, tangent of the steering angle.
    Pushed {
        /// Distance from the rear axle of the vehicle back to the coupling, m.
        coupling: f64,
        /// Distance from the coupling back to the axle of the trailer, m.
        to_axle: f64,
    },
}

/// Linear model of the lateral errors of a vehicle at a given speed. The last state represents the
/// steering, and its rate is the control. The curvature of the path is known in advance.
///
/// ```text
/// all       offset' = v heading + sideways
/// rolling   heading' = v tan(steering) / wheelbase - v curvature
/// slipping  heading' = yaw_rate - v curvature, and the linear single-track model for the other two
/// pushed    heading' = -(v hitch + coupling turn) / to_axle - v curvature, hitch' = turn - (trailer's turn),
///           turn = v tan(steering) / wheelbase
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LateralModel {
    /// Body that follows the path, with its model.
    pub following: Following,
    /// Wheelbase, m.
    pub wheelbase: f64,
    /// Speed in the direction of travel, m/s.
    pub speed: f64,
}

/// Weights of the lateral errors.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LateralWeights {
    /// Weight of the squared offset, 1/m^2.
    pub offset: f64,
    /// Weight of the squared angle between motion and path, 1/rad^2.
    pub course: f64,
    /// Weight of the squared steering rate, s^2/rad^2.
    pub rate: f64,
    /// Factor on the weights of the errors at the end of a finite horizon.
    pub last: f64,
}

impl LateralWeights {
    /// Reads the weights from the parameters of a module. The module must declare the parameters of
    /// all weights.
    pub(crate) fn new(parameters: &ParameterSet) -> Self {
        Self {
            offset: parameters.value("offset_weight"),
            course: parameters.value("course_weight"),
            rate: parameters.value("rate_weight"),
            last: parameters.value("last_weight"),
        }
    }
}

impl LateralModel {
    /// Returns the model of a vehicle at the given speed, m/s.
    pub fn of(input: &PathInput, speed: f64) -> Self {
        let following = match (input.towed, input.body.tyres) {
            (Some(towed), _) => Following::Pushed {
                coupling: towed.coupling,
                to_axle: towed.to_axle,
            },
            (None, Some(tyres)) if speed >= ROLLING => Following::Slipping(tyres),
            _ => Following::Rolling,
        };
        Self {
            following,
            wheelbase: input.seen.wheelbase,
            speed,
        }
    }

    /// Names of the elements of the state vector.
    pub fn states(&self) -> &'static [&'static str] {
        match self.following {
            Following::Rolling => &["offset", "heading", "tan_steering"],
            Following::Slipping(_) => &["offset", "heading", "sideways", "yaw_rate", "steering"],
            Following::Pushed { .. } => &["offset", "heading", "hitch", "tan_steering"],
        }
    }

    /// Returns the state vector of a vehicle.
    pub fn state(&self, input: &PathInput) -> Vec<f64> {
        let wheels = self.wheels(input.seen.steering);
        match (self.following, input.towed) {
            (Following::Slipping(_), _) => vec![
                input.offset,
                input.heading_error,
                input.sideways,
                input.yaw_rate,
                wheels,
            ],
            (Following::Pushed { .. }, Some(towed)) => {
                vec![towed.offset, towed.heading_error, towed.hitch, wheels]
            }
            _ => vec![input.offset, input.heading_error, wheels],
        }
    }

    /// Returns the last element of the state vector for the wheel angle `steering`, rad.
    pub fn wheels(&self, steering: f64) -> f64 {
        match self.following {
            Following::Slipping(_) => steering,
            // The turn rate is linear in the tangent, so bends of any radius are followed exactly.
            _ => tan(steering),
        }
    }

    /// Returns the wheel angle for the value `wheels` of the last state, rad.
    pub fn steering(&self, wheels: f64) -> f64 {
        match self.following {
            Following::Slipping(_) => wheels,
            _ => atan(wheels),
        }
    }

    /// Returns the matrix of the linear model, with a row for the rate of each state. Its columns are the
    /// states, followed by the steering rate and the curvature.
    pub fn rates(&self) -> Matrix {
        let v = self.speed;
        let turn = v / self.wheelbase;
        match self.following {
            Following::Rolling => Matrix::from_rows(&[
                [0.0, v, 0.0, 0.0, 0.0],
                [0.0, 0.0, turn, 0.0, -v],
                [0.0, 0.0, 0.0, 1.0, 0.0],
            ]),
            Following::Slipping(tyres) => slipping(&tyres, v),
            Following::Pushed { coupling, to_axle } => {
                // In reverse, with the hitch angle from trailer to vehicle: the coupling turns the trailer
                // by -(v hitch + coupling turn) / to_axle.
                let (by_hitch, by_turn) = (-v / to_axle, -coupling * turn / to_axle);
                Matrix::from_rows(&[
                    [0.0, v, 0.0, 0.0, 0.0, 0.0],
                    [0.0, 0.0, by_hitch, by_turn, 0.0, -v],
                    [0.0, 0.0, -by_hitch, turn - by_turn, 0.0, 0.0],
                    [0.0, 0.0, 0.0, 0.0, 1.0, 0.0],
                ])
            }
        }
    }

    /// Returns the model in discrete time, for steps of `step` seconds during which steering rate and
    /// curvature are constant.
    pub fn plant(&self, step: f64) -> Plant {
        let rates = self.rates();
        let states = rates.rows();
        let mut whole = Matrix::zeros(states + 2, states + 2);
        whole.put([0, 0], &rates.scaled(step));
        let whole = whole.exponential();
        Plant {
            state: whole.block([0, 0], [states, states]),
            control: whole.block([0, states], [states, 1]),
            known: whole.block([0, states + 1], [states, 1]),
        }
    }

    /// Returns the cost of errors in discrete time, for steps of `step` seconds.
    pub fn cost(&self, weights: &LateralWeights, step: f64) -> Cost {
        let states = self.states().len();
        let mut state = Matrix::zeros(states, states);
        let [offset, course_weight] = match self.following {
            Following::Pushed { .. } => [PUSHED[0] * weights.offset, PUSHED[1] * weights.course],
            _ => [weights.offset, weights.course],
        };
        state[[0, 0]] = offset;
        // Only the offset and the angle between motion and path have weights. Heading error, slip
        // and hitch angle are not zero in a steady bend, so weights on them would pull the vehicle
        // off its path.
        let mut course = Matrix::zeros(states, 1);
        course[[1, 0]] = 1.0;
        if let Following::Slipping(_) = self.following {
            course[[2, 0]] = 1.0 / self.speed;
        }
        let course = &course * &course.transposed();
        let state = (&state + &course.scaled(course_weight)).scaled(step);
        Cost {
            last: state.scaled(weights.last),
            state,
            control: Matrix::identity(1).scaled(weights.rate * step),
        }
    }
}

/// Returns the rates of the states of a vehicle with linear tyres. The lateral speed is that of its rear
/// axle.
fn slipping(tyres: &TyreInput, v: f64) -> Matrix {
    let &TyreInput {
        mass,
        yaw_inertia,
        front,
        rear,
        front_stiffness,
        rear_stiffness,
    } = tyres;
    // In reverse both positions are negative, and wheels turned to the left in the direction of travel point
    // to the right of the body.
    let hand = 1.0f64.copysign(front);
    // Forces of the axles: columns for lateral speed of the rear axle, yaw rate and steering.
    let steered = [-1.0 / v, -(front + rear) / v, hand].map(|k| front_stiffness * k);
    let fixed = [-1.0 / v, 0.0, 0.0].map(|k| rear_stiffness * k);
    let mut result = Matrix::zeros(5, 7);
    result[[0, 1]] = v;
    result[[0, 2]] = 1.0;
    result[[1, 3]] = 1.0;
    result[[1, 6]] = -v;
    result[[4, 5]] = 1.0;
    for column in 0..3 {
        let turn = (front * steered[column] - rear * fixed[column]) / yaw_inertia;
        let across = (steered[column] + fixed[column]) / mass;
        result[[2, column + 2]] = across - rear * turn;
        result[[3, column + 2]] = turn;
    }
    result[[2, 3]] -= v;
    result
}
