//! The linear single-track model: side slip and yaw rate at a given speed.

use super::SingleTrack;

/// State of the linear single-track model, at the centre of gravity.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct LinearState {
    /// Speed, m/s. Must be positive, because the model divides by it.
    pub speed: f64,
    /// Side slip angle between the body and its velocity, rad, positive if the vehicle drifts to the left.
    pub side_slip: f64,
    /// Yaw rate, rad/s.
    pub yaw_rate: f64,
}

/// Rates of change of the state.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinearRates {
    /// Rate of the side slip angle, rad/s.
    pub side_slip: f64,
    /// Yaw acceleration, rad/s^2.
    pub yaw_rate: f64,
}

impl LinearState {
    /// Returns the rates of the two-state bicycle model with cornering stiffness and acceleration-dependent
    /// axle loads ([CommonRoad models 2020], section 5, equation of the single-track model).
    ///
    /// `steering` is the angle of the front wheels in rad, and `acceleration` is in m/s^2.
    pub fn rates(&self, model: &SingleTrack, steering: f64, acceleration: f64) -> LinearRates {
        let &SingleTrack {
            mass,
            yaw_inertia,
            front,
            rear,
            stiffness,
            ..
        } = model;
        let [front_load, rear_load] = model.axle_loads(acceleration);
        let (turned, speed) = (self.yaw_rate / self.speed, self.speed);
        // For small slip angles, the sines equal the angles, and the speed along the body equals the speed.
        let front_force = stiffness[0] * front_load * (steering - self.side_slip - front * turned);
        let rear_force = stiffness[1] * rear_load * (rear * turned - self.side_slip);
        LinearRates {
            side_slip: (front_force + rear_force) / (mass * speed) - self.yaw_rate,
            yaw_rate: (front * front_force - rear * rear_force) / yaw_inertia,
        }
    }

    /// Returns the steady state of a stable vehicle on a circle.
    pub fn steady(model: &SingleTrack, speed: f64, steering: f64) -> Self {
        let understeer = model.understeer_gradient();
        let yaw_rate = speed * steering / (model.wheelbase() + understeer * speed * speed);
        // The rear axle bears its share of the lateral force.
        let rear_slip = speed * yaw_rate / (super::GRAVITY * model.stiffness[1]);
        Self {
            speed,
            side_slip: model.rear * yaw_rate / speed - rear_slip,
            yaw_rate,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dynamic::tests::bmw_320i;

    /// Reproduces the unit test `test_st` of `test_derivatives.py` in commonroad-vehicle-models
    /// 3.0.2, for vehicle 2. Its steering acts without delay, and its acceleration is limited to
    /// 11.5 m/s^2 x 7.319 / v.
    #[test]
    fn derivatives_are_those_that_commonroad_publishes() {
        let state = LinearState {
            speed: 15.721_623_633_429_012,
            side_slip: 0.003_301_217_061_029_8,
            yaw_rate: 0.052_900_105_665_403_8,
        };
        let rates = state.rates(
            &bmw_320i(),
            0.019_754_524_855_961_7,
            5.353_677_327_641_392_5,
        );
        assert!(
            (rates.yaw_rate - 0.643_558_939_774_866).abs() < 1e-12,
            "{rates:?}"
        );
        assert!(
            (rates.side_slip - 0.031_329_797_164_129).abs() < 1e-12,
            "{rates:?}"
        );
    }

    #[test]
    fn the_steady_state_stays() {
        for speed in [3.0, 12.0, 30.0] {
            let steady = LinearState::steady(&bmw_320i(), speed, 0.02);
            let rates = steady.rates(&bmw_320i(), 0.02, 0.0);
            assert!(
                rates.side_slip.abs() < 1e-12 && rates.yaw_rate.abs() < 1e-12,
                "{speed}"
            );
            // With another steering angle, the state is not steady.
            assert!(steady.rates(&bmw_320i(), 0.03, 0.0).yaw_rate.abs() > 0.1);
        }
    }
}
