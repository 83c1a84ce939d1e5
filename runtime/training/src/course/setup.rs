//! What can be chosen about a course.

use roadwright_scenario::{DynamicsLevel, ModuleSetting, Stack};

/// Who drives a course, with what. The default is what the course says.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Setup {
    /// Key of the vehicle type of all drivers.
    pub vehicle: Option<String>,
    /// With which model bodies move.
    pub dynamics: Option<DynamicsLevel>,
    /// Time step, s.
    pub dt: Option<f64>,
    /// The drivers. Where there are fewer than agents, each gets as many as the others (one more or
    /// less), which ones is drawn at random from the seed.
    pub drivers: Vec<Stack>,
    /// How drives are rated; the first one is the fitness of the drive.
    pub fitness: Option<Vec<ModuleSetting>>,
}

impl Setup {
    /// A setup with one driver.
    pub fn with_driver(driver: Stack) -> Self {
        Self {
            drivers: vec![driver],
            ..Self::default()
        }
    }
}
