//! The drive train from the engine to the road: torque curve, clutch, gearbox, resistance and
//! brakes.
//!
//! It follows equations 11.1 to 11.8 of [Gerdelan 2011]. The engine turns with the wheels, `rpm = v
//! / r x gear x final drive x 60 / 2 pi`. Below the first point of its curve, it idles at that
//! point and the **clutch** slips. Torques are divided by the wheel radius to get forces, because
//! equation 11.8 as printed mixes N and N m. A closed throttle gives no torque, and the moving mass
//! consists of body and wheels.
//!
//! The [`Driver`] is the actuator stage: it converts a requested acceleration to throttle, brake
//! and gear, within the capabilities of the vehicle at its current speed. Everything is in f64 and
//! independent of the dynamics level.

mod curve;
mod driver;
mod reading;
mod run;
mod shifting;

pub use curve::TorqueCurve;
pub use driver::{DriveState, Driver, PedalCommand, Pedals};
pub use reading::DriveReading;
pub use run::{Energy, StraightRun};
pub use shifting::Shifting;

use crate::dynamic::GRAVITY;
use roadwright_geometry::math::{asin, atan};
use roadwright_scenario::vehicle_file::{Gearbox, VehicleFile};
use std::f64::consts::TAU;

/// A gear: its ratio including the final drive, and the distribution of its force over the wheels.
#[derive(Debug, Clone, PartialEq)]
pub struct Gear {
    /// Name of the gear.
    pub name: String,
    /// Engine revolutions per wheel revolution; negative for reverse gears.
    pub ratio: f64,
    /// Fraction of the gear's force on the front axle, 0 to 1.
    pub front: f64,
    /// Number of driven wheels, counted from the start of the vehicle's list of wheels.
    pub wheels: u8,
}

/// The drive train of a vehicle.
#[derive(Debug, Clone, PartialEq)]
pub struct DriveTrain {
    /// Mass of body, wheels and trailers, kg.
    pub mass: f64,
    /// Fraction of the mass that belongs to the vehicle itself, without trailers, 0 to 1.
    pub own_share: f64,
    /// Radius of the wheels, m.
    pub radius: f64,
    /// Torque curve of the engine.
    pub curve: TorqueCurve,
    /// Forward gears, from the highest ratio to the lowest; at least one.
    pub gears: Vec<Gear>,
    /// Reverse gear, if there is one.
    pub reverse: Option<Gear>,
    /// Fraction of the torque that reaches the wheels, 0 to 1.
    pub efficiency: f64,
    /// Engine speed at which the gearbox shifts up, rpm.
    pub up_rpm: f64,
    /// Engine speed at which the gearbox shifts down, rpm.
    pub down_rpm: f64,
    /// Total force of the foot brakes, N.
    pub foot_brake: f64,
    /// Drag divided by the square of the speed, N s^2/m^2 (equation 11.4).
    pub drag: f64,
    /// Rolling resistance divided by the speed, N s/m (equation 11.5).
    pub rolling: f64,
    /// Fraction of the weight on the rear axle at rest, 0 to 1.
    pub rear_load: f64,
    /// Friction coefficient of the tyres; infinite if the file has none.
    pub friction: f64,
}

impl DriveTrain {
    /// Creates the drive train of a vehicle file; `None` if the file lacks any of its parts.
    pub fn new(file: &VehicleFile) -> Option<Self> {
        let (engine, gearbox) = (file.engine.as_ref()?, file.gearbox.as_ref()?);
        let (brakes, resistance) = (file.brakes.as_ref()?, file.resistance.as_ref()?);
        let wheels = file.wheels.positions.len() as f64;
        let (front, rear) = file.axles();
        let mut gears = all_gears(file, gearbox);
        let backwards = gears.iter().position(|gear| gear.ratio < 0.0);
        // The first reverse gear is used and any others are dropped. The remaining gears are the
        // forward gears.
        let reverse = backwards.map(|number| gears.remove(number));
        gears.retain(|gear| gear.ratio > 0.0);
        Some(Self {
            mass: file.mass() + file.towed_mass(),
            own_share: file.mass() / (file.mass() + file.towed_mass()),
            radius: file.wheels.radius.get(),
            curve: TorqueCurve::from(engine),
            gears,
            reverse,
            efficiency: gearbox.efficiency.get(),
            up_rpm: gearbox.up_rpm.get(),
            down_rpm: gearbox.down_rpm.get(),
            // Trailers are assumed to brake as hard as the towing vehicle.
            foot_brake: brakes.foot * wheels * (1.0 + file.towed_mass() / file.mass()),
            drag: 0.5 * resistance.air_density * resistance.drag * resistance.area,
            rolling: resistance.rolling.get(),
            // Axle positions are in m ahead of the centre of mass, so the position of the rear axle
            // is negative. The rear load is the lever arm of the front axle divided by the
            // wheelbase.
            rear_load: front / (front - rear),
            friction: file.wheels.friction.unwrap_or(f64::INFINITY),
        })
    }

    /// Engine speed with the clutch closed, rpm.
    pub fn rpm(&self, gear: &Gear, speed: f64) -> f64 {
        speed / self.radius * gear.ratio * 60.0 / TAU
    }

    /// Speed along the body at a given engine speed, m/s.
    pub fn speed(&self, gear: &Gear, rpm: f64) -> f64 {
        rpm * TAU / 60.0 / gear.ratio * self.radius
    }

    /// Force of the wheels on the ground at full throttle, N; negative in reverse. This is equation 11.2,
    /// divided by the wheel radius. While the engine idles and the clutch slips, the torque is that of the
    /// first point of the curve.
    pub fn full_force(&self, gear: &Gear, speed: f64) -> f64 {
        let torque = self.curve.torque(self.rpm(gear, speed).max(0.0));
        torque * gear.ratio * self.efficiency / self.radius
    }

    /// Sum of drag and rolling resistance (equations 11.3 to 11.5), N. At least 0.
    pub fn resistance(&self, speed: f64) -> f64 {
        self.drag * speed * speed + self.rolling * speed.abs()
    }

    /// Acceleration at full throttle on level ground, without slip and with the clutch closed, m/s^2. This is
    /// equation 11.8 times the number of driven wheels, divided by wheel radius and mass.
    pub fn full_acceleration(&self, gear: &Gear, speed: f64) -> f64 {
        (self.full_force(gear, speed) - self.resistance(speed)) / self.mass
    }

    /// Maximum acceleration on level ground over all gears and engine speeds, m/s^2.
    pub fn hardest_acceleration(&self) -> f64 {
        let (idle, limit) = (self.curve.idle_rpm(), self.curve.limit_rpm());
        // Sampled rather than solved, because the curve may have any shape between its points.
        let speeds = (0..=200).map(|part| idle + f64::from(part) / 200.0 * (limit - idle));
        let pulls = speeds.flat_map(|rpm| {
            let gears = self.gears.iter();
            gears.map(move |gear| self.full_acceleration(gear, self.speed(gear, rpm)))
        });
        pulls.fold(0.0, f64::max)
    }

    /// Maximum force that the tyres of a gear's driven wheels can transmit at rest. `load` is the
    /// total load. The result has the same unit as the load: N, or a fraction of the vehicle's
    /// weight.
    pub fn traction(&self, gear: &Gear, load: f64) -> f64 {
        // A gear that drives wheels on both axles uses the grip under the whole weight.
        let share = if gear.front == 0.0 {
            self.rear_load
        } else if gear.front == 1.0 {
            1.0 - self.rear_load
        } else {
            1.0
        };
        // The weight of trailers rests on their own wheels.
        self.friction * load * share * self.own_share
    }

    /// Maximum acceleration that the engine and driven wheels provide in the best gear, less drag and rolling
    /// resistance, m/s^2. `along` is the speed in the direction of travel, m/s. `load` is the fraction of the
    /// weight that acts perpendicular to the ground. `grip` is a factor on tyre friction. A vehicle without a
    /// reverse gear uses the forward gears.
    pub fn strongest(&self, along: f64, is_reversing: bool, load: f64, grip: f64) -> f64 {
        let gears = match &self.reverse {
            Some(reverse) if is_reversing => std::slice::from_ref(reverse),
            _ => &self.gears[..],
        };
        let weight = self.mass * GRAVITY * load * grip;
        let force = |gear: &Gear| {
            let speed = along.max(0.0).copysign(gear.ratio);
            self.full_force(gear, speed)
                .abs()
                .min(self.traction(gear, weight))
        };
        let best = gears.iter().map(force).fold(0.0, f64::max);
        ((best - self.resistance(along)) / self.mass).max(0.0)
    }

    /// Maximum deceleration that the brakes and the grip allow, m/s^2.
    pub fn hardest_braking(&self) -> f64 {
        (self.foot_brake / self.mass).min(self.friction * GRAVITY)
    }

    /// Top speed on level ground, m/s. In some gear, either full throttle balances the resistance at this
    /// speed, or the engine reaches its rev limit.
    pub fn top_speed(&self) -> f64 {
        let top = self.gears.iter().map(|gear| {
            let limit = self.speed(gear, self.curve.limit_rpm());
            if self.full_acceleration(gear, limit) >= 0.0 {
                return limit;
            }
            // In this range, force minus resistance decreases with speed, so the interval is
            // bisected.
            let (mut low, mut high) = (0.0, limit);
            for _ in 0..60 {
                let middle = 0.5 * (low + high);
                if self.full_acceleration(gear, middle) > 0.0 {
                    low = middle;
                } else {
                    high = middle;
                }
            }
            low
        });
        top.fold(0.0, f64::max)
    }

    /// Steepest grade on which the vehicle can start, rad. It is limited by the force from rest in
    /// the lowest gear and by the grip of the driven wheels: at this grade, the smaller of the two
    /// equals the component of the weight along the slope.
    pub fn limiting_grade(&self) -> f64 {
        let gear = &self.gears[0];
        let weight = self.mass * GRAVITY;
        let by_force = asin((self.full_force(gear, 0.0) / weight).min(1.0));
        // On a grade, the load decreases with the cosine, and the component of the weight along the
        // slope increases with the sine. The grip under unit load is therefore the tangent of the
        // steepest grade.
        by_force.min(atan(self.traction(gear, 1.0)))
    }
}

/// Returns all gears of a vehicle, each with its distribution of force.
fn all_gears(file: &VehicleFile, gearbox: &Gearbox) -> Vec<Gear> {
    let steered = &file.steering.wheels;
    let gears = gearbox.gears.iter().map(|gear| {
        // Wheels are driven in the order of their numbers. If four wheels are driven, two of them
        // are on the rear axle.
        let front = (0..gear.wheels)
            .filter(|number| steered.contains(number))
            .count();
        Gear {
            name: gear.name.clone(),
            ratio: gear.ratio * gearbox.final_drive,
            front: front as f64 / f64::from(gear.wheels),
            wheels: gear.wheels,
        }
    });
    gears.collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
pub(crate) mod tests {
    use super::*;
    use std::path::PathBuf;

    pub(crate) fn shipped(name: &str) -> VehicleFile {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/vehicles");
        VehicleFile::load(&folder.join(format!("{name}.vehicle.json"))).unwrap()
    }

    pub(crate) fn willys() -> DriveTrain {
        DriveTrain::new(&shipped("willys-mb")).unwrap()
    }

    pub(crate) fn enviro() -> DriveTrain {
        DriveTrain::new(&shipped("enviro-400")).unwrap()
    }

    /// Evaluates equation 11.8 of [Gerdelan 2011] with the values of table B.3, in second gear at
    /// 9.8 m/s.
    #[test]
    fn acceleration_is_that_of_equation_11_8() {
        let (train, speed, n) = (willys(), 9.8, 4.0);
        let f = speed / 0.41 * 1.551 * 5.38 * 60.0 / TAU;
        assert!(f > 600.0 && f < 2000.0);
        let engine = 119.31 + (f - 600.0) * (143.72 - 119.31) / (2000.0 - 600.0);
        let resistance = 18.0 * speed + 0.5 * 1.2 * speed * speed * 0.55 * 0.80;
        let wheel = (engine * 1.551 * 5.38 * 0.7 - resistance * 0.41) / n;
        let acceleration = n * wheel / 0.41 / 1040.0;
        assert!((train.full_acceleration(&train.gears[1], speed) - acceleration).abs() < 1e-6);
        // The straight drive on the proving ground gives the same value.
        let mut run = StraightRun::new(&train, speed, 0.0);
        run.shifting.gear = 1;
        let pedals = Pedals {
            throttle: 1.0,
            brake: 0.0,
        };
        run.step(pedals, 1e-6);
        assert!(
            (run.acceleration - acceleration).abs() < 1e-6,
            "{}",
            run.acceleration
        );
        let push = train.push(&run.shifting, pedals, speed);
        assert!((push.drive - push.resistance - acceleration).abs() < 1e-6);
    }

    #[test]
    fn top_speeds_are_those_of_revs() {
        // The top speed of both vehicles is limited by engine speed: 4000 and 2600 rpm in the
        // highest gear.
        let top = |rpm: f64, radius: f64| rpm / 60.0 * TAU * radius / 5.38;
        assert!((willys().top_speed() / top(4000.0, 0.41) - 1.0).abs() < 1e-9);
        assert!((enviro().top_speed() / top(2600.0, 0.55) - 1.0).abs() < 1e-9);
        // With the drag of a barn door, the top speed is limited by power.
        let barn = DriveTrain {
            drag: 5.0,
            ..willys()
        };
        assert!(barn.top_speed() < 0.8 * willys().top_speed());
    }

    #[test]
    fn half_a_drive_train_is_none() {
        let mut file = shipped("willys-mb");
        file.brakes = None;
        assert_eq!(DriveTrain::new(&file), None);
        let level = roadwright_scenario::DynamicsLevel::DynamicOneTrack;
        assert_eq!(file.missing(level), ["brakes"]);
    }
}
