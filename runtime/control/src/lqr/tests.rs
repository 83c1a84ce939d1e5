use super::*;
use roadwright_agent::{BodyInput, TowedInput, TyreInput};
use roadwright_geometry::math::{atan2, sin_cos, tan, wrap_angle};

/// A car with the tyres of the dynamic one-track model, in a direction of travel.
fn tyres(direction: f64) -> TyreInput {
    let (mass, front, rear) = (1300.0, 1.35, 1.35);
    let stiffness = 21.92 * 0.5 * mass * 9.81;
    TyreInput {
        mass,
        yaw_inertia: mass * front * rear,
        front: direction * front,
        rear: direction * rear,
        front_stiffness: stiffness,
        rear_stiffness: stiffness,
    }
}

fn at_speed(following: Following, speed: f64) -> LateralModel {
    LateralModel {
        following,
        wheelbase: 2.7,
        speed,
    }
}

fn all(speed: f64) -> Vec<LateralModel> {
    let pushed = Following::Pushed {
        coupling: 0.9,
        to_axle: 3.5,
    };
    let slipping = [1.0, -1.0].map(|direction| Following::Slipping(tyres(direction)));
    let kinds = [Following::Rolling, pushed, slipping[0], slipping[1]];
    kinds.map(|following| at_speed(following, speed)).to_vec()
}

#[test]
fn a_circle_costs_nothing_once_it_is_driven() {
    // On a circle the steering no longer changes, so the vehicle follows it without an offset.
    for model in all(5.0) {
        let design = LqrDesign::default();
        let plant = model.plant(design.step);
        let gains = design.gains(&model).unwrap();
        let ahead = [0.02; PATH_PARTS];
        let mut state = Matrix::zeros(model.states().len(), 1);
        for _ in 0..2000 {
            let control = gains.controls(state.values(), &ahead)[0];
            let forced = &plant.control.scaled(control) + &plant.known.scaled(0.02);
            state = &(&plant.state * &state) + &forced;
        }
        assert!(state[[0, 0]].abs() < 1e-6, "{model:?}: {state:?}");
        let driven = model.steering(state.values()[state.rows() - 1]);
        let tangent = tan(driven) / 2.7;
        // A pushed trailer on a circle of 50 m, with its vehicle on another one.
        let tolerance = if model.states().len() == 4 {
            1e-3
        } else {
            1e-4
        };
        assert!((tangent - 0.02).abs() < tolerance, "{model:?}: {tangent}");
    }
}

#[test]
fn all_solutions_agree_on_long_horizons() {
    for model in all(3.0) {
        let [infinite, finite, batch] = [
            LqrSolution::Infinite,
            LqrSolution::Finite,
            LqrSolution::Batch,
        ]
        .map(|solution| {
            let design = LqrDesign {
                solution,
                horizon: 200,
                ..LqrDesign::default()
            };
            design.gains(&model).unwrap()
        });
        let scale = infinite.state.largest();
        // 200 steps are 8 s; a pushed trailer takes longer to settle.
        let is_pushed = matches!(model.following, Following::Pushed { .. });
        let settled = if is_pushed { 0.02 } else { 1e-3 };
        let difference = (&infinite.state - &finite.state).largest();
        assert!(
            difference < settled * scale,
            "{model:?}: {difference} of {scale}"
        );
        assert!(
            (&finite.state - &batch.state).largest() < 1e-5 * scale,
            "{model:?}"
        );
        assert!(
            (&finite.known - &batch.known).largest() < 1e-5 * scale,
            "{model:?}"
        );
    }
}

#[test]
fn a_vehicle_that_stands_cannot_be_stabilised() {
    let refused = LqrDesign::default()
        .gains(&at_speed(Following::Rolling, 0.0))
        .unwrap_err();
    assert_eq!(refused, LinearError::NotStabilisable);
    assert!(refused.to_string().contains("is not stabilisable"));
}

#[test]
fn slipping_backwards_turns_as_rolling_does() {
    // At a low speed tyres hardly slip: the steady turn rate is v steering / wheelbase in both directions.
    for direction in [1.0, -1.0] {
        let plant = at_speed(Following::Slipping(tyres(direction)), 3.0).plant(0.04);
        let mut state = Matrix::column(&[0.0, 0.0, 0.0, 0.0, 0.05]);
        for _ in 0..500 {
            state = &plant.state * &state;
            state[[0, 0]] = 0.0;
            state[[1, 0]] = 0.0;
        }
        let expected = 3.0 * 0.05 / 2.7;
        assert!(
            (state[[3, 0]] - expected).abs() < 0.02 * expected,
            "{state:?}"
        );
    }
}

/// A vehicle without slip and its trailer, which it can push along a straight line or a circle.
struct Drive {
    curvature: f64,
    place: [f64; 2],
    heading: f64,
    trailer: f64,
    wheels: f64,
}

const COUPLING: f64 = 0.9;
const TO_AXLE: f64 = 3.5;

impl Drive {
    /// Offset and heading error of a point with a direction of travel, relative to a path that begins at the
    /// origin along the x axis.
    fn errors(&self, place: [f64; 2], heading: f64) -> [f64; 2] {
        if self.curvature == 0.0 {
            return [place[1], wrap_angle(heading)];
        }
        // A bend to the right is the mirror image of one to the left.
        let (side, radius) = (self.curvature.signum(), 1.0 / self.curvature.abs());
        let [x, y] = [place[0], side * place[1] - radius];
        let along = atan2(x, -y);
        let offset = radius - (x * x + y * y).sqrt();
        [side * offset, wrap_angle(heading - side * along)]
    }

    /// Centre of the trailer's axle.
    fn axle(&self) -> [f64; 2] {
        let ((sin, cos), (sin_t, cos_t)) = (sin_cos(self.heading), sin_cos(self.trailer));
        [
            self.place[0] - COUPLING * cos - TO_AXLE * cos_t,
            self.place[1] - COUPLING * sin - TO_AXLE * sin_t,
        ]
    }

    fn input(&self, speed: f64, pushes: bool) -> PathInput {
        // While the trailer is pushed, the direction of travel is opposite to the heading.
        let back = if pushes { std::f64::consts::PI } else { 0.0 };
        let [offset, heading_error] = self.errors(self.place, self.heading + back);
        let hand = if pushes { -1.0 } else { 1.0 };
        let towed = pushes.then(|| {
            let [offset, heading_error] = self.errors(self.axle(), self.trailer + back);
            TowedInput {
                coupling: COUPLING,
                to_axle: TO_AXLE,
                hitch: wrap_angle(self.heading - self.trailer),
                offset,
                heading_error,
            }
        });
        PathInput {
            seen: ControllerInput {
                speed,
                road_speed: speed,
                wheelbase: 2.7,
                steering: hand * self.wheels,
                leader_gap: 1e6,
                stop_distance: 1e6,
                obstacle_distance: 1e6,
                ..ControllerInput::default()
            },
            offset,
            heading_error,
            curvature: [self.curvature; PATH_PARTS],
            body: BodyInput {
                steering_rate: 0.9,
                ..BodyInput::CAR
            },
            towed,
            ..PathInput::default()
        }
    }

    /// Drives a step and turns the wheels as far as their rate allows.
    fn advance(&mut self, speed: f64, wanted: f64, dt: f64) {
        self.wheels += (wanted - self.wheels).clamp(-0.9 * dt, 0.9 * dt);
        let turn = speed * tan(self.wheels) / 2.7;
        let hitch = sin_cos(self.heading - self.trailer);
        self.trailer += dt * (speed * hitch.0 - COUPLING * turn * hitch.1) / TO_AXLE;
        let (sin, cos) = sin_cos(self.heading + 0.5 * dt * turn);
        self.place = [
            self.place[0] + speed * dt * cos,
            self.place[1] + speed * dt * sin,
        ];
        self.heading += dt * turn;
    }
}

/// Follows a path from an offset and a heading, with a module that has its default parameters.
fn followed(mut drive: Drive, speed: f64, pushes: bool, seconds: f64) -> Drive {
    let (dt, module) = (0.02, Lqr::entry().make());
    let hand = if pushes { -1.0 } else { 1.0 };
    for _ in 0..(seconds / dt) as u32 {
        let mut outputs = [ControllerOutput::default()];
        let step = Step {
            period: dt,
            ..Step::default()
        };
        module.follow(&step, &[drive.input(speed, pushes)], &mut outputs);
        drive.advance(hand * speed, hand * outputs[0].steering, dt);
        let hitch = wrap_angle(drive.heading - drive.trailer);
        assert!(!pushes || hitch.abs() < 1.2, "jackknifed at {hitch} rad");
    }
    drive
}

#[test]
fn a_vehicle_returns_to_its_path_forwards_and_in_reverse() {
    for curvature in [0.0, 0.04, -0.04] {
        for [offset, heading] in [[2.5, 0.2], [-4.0, 0.0], [0.5, -0.5]] {
            let drive = Drive {
                curvature,
                place: [0.0, offset],
                heading,
                trailer: heading,
                wheels: 0.0,
            };
            let end = followed(drive, 8.0, false, 12.0);
            let [offset, heading] = end.errors(end.place, end.heading);
            assert!(
                offset.abs() < 0.005 && heading.abs() < 0.005,
                "{curvature}: {offset} {heading}"
            );
        }
    }
}

#[test]
fn a_trailer_is_pushed_along_a_line_and_around_a_bend() {
    let back = std::f64::consts::PI;
    for curvature in [0.0, 0.04, -0.04] {
        for [offset, heading, hitch] in [[2.5, 0.25, 0.15], [-2.5, 0.25, -0.15], [1.0, -0.25, 0.15]]
        {
            let trailer = back + heading;
            let drive = Drive {
                curvature,
                place: [4.4, offset],
                heading: trailer + hitch,
                trailer,
                wheels: 0.0,
            };
            let end = followed(drive, 1.2, true, 30.0);
            let [offset, heading] = end.errors(end.axle(), end.trailer + back);
            assert!(
                offset.abs() < 0.05 && heading.abs() < 0.03,
                "{curvature}: {offset} {heading}"
            );
        }
    }
}
