//! Views and curves of a vehicle, computed when its values change instead of every frame.

use roadwright_scenario::DynamicsLevel;
use roadwright_scenario::vehicle_file::VehicleFile;
use roadwright_vehicle::Sheet;
use roadwright_vehicle::sheet::{EnginePoint, Fact, Outline, RollCurve, Traction};

/// Duration of the plotted hull response to a step in the ground, s.
pub(crate) const STEP_SECONDS: f64 = 2.0;

/// Views and curves of a vehicle.
#[derive(Debug, Clone)]
pub struct Drawn {
    /// Key figures of the vehicle.
    pub facts: Vec<Fact>,
    /// Torque and power at full throttle; empty without a drive train.
    pub engine: Vec<EnginePoint>,
    /// Forces against speed; `None` without a drive train.
    pub traction: Option<Traction>,
    /// Response of the hull to a step in the ground below a front wheel and below a rear wheel; `None`
    /// without springs.
    pub steps: Option<[Vec<[f64; 2]>; 2]>,
    /// Roll angle against lateral acceleration; `None` without springs.
    pub roll: Option<RollCurve>,
    /// Parts of the vehicle to scale.
    pub outline: Outline,
    /// The most detailed level of dynamics that the vehicle supports.
    pub level: DynamicsLevel,
    /// Names of missing data for the rigid level.
    pub missing: Vec<&'static str>,
    /// Whether the vehicle is too stiff for its mass to be simulated as a rigid body.
    pub is_too_stiff: bool,
    /// Values of `performance` that the drive train cannot reach.
    pub findings: Vec<String>,
}

impl Drawn {
    /// Computes the views and curves of a vehicle file.
    pub fn of(file: &VehicleFile) -> Self {
        let sheet = Sheet::of(file);
        Self {
            facts: sheet.facts(),
            engine: sheet.engine_curve(),
            traction: sheet.traction_curves(),
            steps: sheet.step_responses(STEP_SECONDS),
            roll: sheet.roll_curve(),
            outline: sheet.outline(),
            level: sheet.thickest_level(),
            missing: file.missing(DynamicsLevel::Rigid),
            is_too_stiff: sheet.is_too_stiff(),
            findings: sheet.contradictions(),
        }
    }
}
