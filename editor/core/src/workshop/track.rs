//! The test track: a scenario with one vehicle, either on level ground with cones or on ground with
//! bumps and a ramp.

use super::Ground;
use roadwright_geometry::math::{cos, sin};
use roadwright_geometry::{DVec2, HeightField};
use roadwright_scenario::vehicle_file::{FileReference, VehicleFile};
use roadwright_scenario::{
    About, Agent, AgentId, Edit, EditError, Obstacle, ObstacleId, Place, Scenario, Settings, Shape,
    Stack, VehicleType,
};
use roadwright_vehicle::Sheet;
use std::f64::consts::{PI, TAU};
use std::sync::Arc;

/// The agent under manual control.
pub const DRIVER: AgentId = AgentId(1);
/// Name of both the vehicle type and the stack.
const KEY: &str = "test";
/// Time step, s. It is small enough to show the springs at work.
const DT: f64 = 0.01;
/// Position at which the vehicle starts, m.
const START: f64 = -20.0;
/// Position of a goal that is too far away to reach, m.
const FAR: f64 = 5000.0;
/// Number of cones in the slalom.
const CONES: u32 = 9;
/// Distance between the cones of the slalom, m.
const CONE_DISTANCE: f64 = 18.0;
/// Mass of a cone, kg.
const CONE_MASS: f64 = 4.0;
/// Sample spacing of the bumpy ground, m.
const SPACING: f64 = 0.5;

/// Returns the test track with a vehicle on it, at the most detailed level that the vehicle supports.
///
/// # Errors
/// If a scenario cannot contain the vehicle.
pub fn scenario(file: &VehicleFile, ground: Ground) -> Result<Scenario, EditError> {
    let mut scenario = Scenario::new("Test track");
    let level = Sheet::of(file).thickest_level();
    scenario.apply(Edit::About(Box::new(About {
        name: format!("Test track of {}", file.name),
        ..scenario.about().clone()
    })))?;
    scenario.apply(Edit::Settings(Settings {
        dt: DT.into(),
        duration: 3600.0.into(),
        dynamics: level,
        ..scenario.settings()
    }))?;
    let kind = VehicleType {
        file: Some(Arc::new(FileReference {
            path: format!("vehicles/{KEY}.vehicle.json"),
            hash: String::new(),
            was: None,
            vehicle: file.clone(),
        })),
        ..file.vehicle_type()
    };
    scenario.apply(Edit::VehicleType(KEY.into(), Some(Box::new(kind))))?;
    let stack = Stack::with_controller("pursuit");
    scenario.apply(Edit::Stack(KEY.into(), Some(Box::new(stack))))?;
    if ground == Ground::Bumpy {
        let terrain = bumps().map(Box::new);
        scenario.apply(Edit::Terrain(terrain))?;
    }
    cones(&mut scenario, ground)?;
    let agent = Agent {
        name: file.name.clone(),
        vehicle: KEY.into(),
        stack: KEY.into(),
        dynamics: None,
        start: Place::ground(START, 0.0, 0.0),
        via: Vec::new(),
        destination: Some(Place::ground(FAR, 0.0, 0.0)),
        depart: 0.0.into(),
        repeat: None.into(),
        speed: 0.0.into(),
    };
    scenario.apply(Edit::Agent(DRIVER, Some(Box::new(agent))))?;
    Ok(scenario)
}

/// Adds the cones. On level ground they form a slalom ahead and a circle with a radius of 25 m beside it;
/// on bumpy ground, they form gates before the ridges, the waves and the ramp.
fn cones(scenario: &mut Scenario, ground: Ground) -> Result<(), EditError> {
    let gates = [(0.0, 0.0), (85.0, 0.0), (15.0, 32.0)];
    let gates = gates
        .iter()
        .flat_map(|(x, y)| [-4.0, 4.0].map(|side| DVec2::new(*x, y + side)));
    let slalom = (0..CONES).map(|number| DVec2::new(15.0 + CONE_DISTANCE * f64::from(number), 0.0));
    let circle = (0..16).map(|number| {
        let angle = TAU * f64::from(number) / 16.0;
        DVec2::new(60.0 + 25.0 * cos(angle), 55.0 + 25.0 * sin(angle))
    });
    let places: Vec<DVec2> = match ground {
        Ground::Flat => slalom.chain(circle).collect(),
        Ground::Bumpy => gates.collect(),
    };
    for (number, place) in (1..).zip(places) {
        let cone = Obstacle {
            name: "cone".into(),
            shape: Shape::Circle {
                x: place.x.into(),
                y: place.y.into(),
                radius: 0.2.into(),
            },
            base: 0.0.into(),
            height: 0.7.into(),
            mass: Some(CONE_MASS).into(),
        };
        scenario.apply(Edit::Obstacle(ObstacleId(number), Some(Box::new(cone))))?;
    }
    Ok(())
}

/// Creates terrain with ridges of 10 cm, followed by waves that lift one side after the other. A
/// ramp of 20 % is beside them.
fn bumps() -> Option<HeightField> {
    let (low, high) = (DVec2::new(-40.0, -20.0), DVec2::new(180.0, 45.0));
    let level = HeightField::level(low, high, SPACING).ok()?;
    let heights = (0..level.rows() * level.columns())
        .map(|sample| height(level.position(sample % level.columns(), sample / level.columns())))
        .collect();
    level.with_heights(heights).ok()
}

fn height(place: DVec2) -> f64 {
    let DVec2 { x, y } = place;
    if y > 20.0 {
        // The ramp rises to 6 m over 30 m.
        return 0.2 * (x - 20.0).clamp(0.0, 30.0);
    }
    if (5.0..80.0).contains(&x) {
        // Ridges are 10 m apart and a metre wide.
        let along = (x - 5.0) % 10.0;
        return if along < 1.0 {
            0.1 * sin(PI * along)
        } else {
            0.0
        };
    }
    if (90.0..170.0).contains(&x) {
        let wave = sin(TAU * (x - 90.0) / 8.0);
        // The waves lift one side after the other. They fade to 0 in the middle, so that no step separates
        // the two sides.
        return 0.12 * wave * if y > 0.0 { 1.0 } else { -1.0 } * (y.abs() / 1.5).min(1.0);
    }
    0.0
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;
    use roadwright_scenario::check::check;
    use roadwright_scenario::vehicle_file::SHIPPED;

    #[test]
    fn every_shipped_vehicle_has_a_track_without_faults() {
        for shipped in SHIPPED {
            let file = VehicleFile::from_text(shipped.text).unwrap();
            for ground in Ground::ALL {
                let track = scenario(&file, ground).unwrap();
                assert_eq!(check(&track), Vec::new(), "{}", shipped.name);
            }
        }
    }

    #[test]
    fn the_bumpy_ground_begins_level_and_is_bumpy_ahead() {
        assert_eq!(height(DVec2::new(START, 0.0)), 0.0);
        let ahead = (0..1000).map(|number| height(DVec2::new(0.2 * f64::from(number), 0.7)));
        let highest = ahead.fold(0.0, f64::max);
        assert!((0.05..0.2).contains(&highest), "{highest}");
        assert_eq!(height(DVec2::new(50.0, 40.0)), 6.0);
    }
}
