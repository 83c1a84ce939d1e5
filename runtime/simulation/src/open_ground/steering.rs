//! Steering capabilities of drivers, which planners take into account.

use crate::route::SteeringResponse;
use crate::vehicle_type::VehicleType;
use roadwright_scenario::ModuleSetting;

/// Maximum number of drivers whose steering is remembered.
const MOST: usize = 256;

/// Steering capabilities of a driver.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Steering {
    /// Maximum curvature that the driver can steer, 1/m.
    pub(crate) tightest: f64,
    /// Maximum factor by which the sine of the angle to a waypoint may grow when the waypoint is
    /// moved farther away.
    pub(crate) sharpest: f64,
    /// Steering response of the driver to waypoints; `None` if it is unknown.
    pub(crate) response: Option<SteeringResponse>,
    /// Whether the driver can push a trailer in reverse.
    pub(crate) pushes_trailers: bool,
}

/// Controller and vehicle type, which determine the steering of a built-in controller.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SteeringKey<'a> {
    pub(crate) controller: &'a ModuleSetting,
    pub(crate) kind: &'a VehicleType,
}

/// Dimensions of a vehicle on which its steering depends.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Dimensions {
    length: f64,
    wheelbase: f64,
    max_steering: f64,
}

impl Dimensions {
    fn of(kind: &VehicleType) -> Self {
        Self {
            length: kind.length,
            wheelbase: kind.limits.wheelbase,
            max_steering: kind.limits.max_steering,
        }
    }
}

/// Steering of the built-in controllers that have been probed so far. The results are kept, because
/// probing takes longer than most plans.
#[derive(Default)]
pub(crate) struct KnownSteering(Vec<(ModuleSetting, Dimensions, Steering)>);

impl KnownSteering {
    /// Returns the steering of a controller in a vehicle. Calls `probe` if it is not known yet.
    pub(crate) fn get(
        &mut self,
        key: SteeringKey<'_>,
        probe: impl FnOnce() -> Steering,
    ) -> Steering {
        let dimensions = Dimensions::of(key.kind);
        let mut all = self.0.iter();
        let known =
            all.find(|(controller, of, _)| *of == dimensions && controller == key.controller);
        if let Some((.., steering)) = known {
            return *steering;
        }
        let steering = probe();
        if self.0.len() >= MOST {
            self.0.clear();
        }
        self.0.push((key.controller.clone(), dimensions, steering));
        steering
    }
}
