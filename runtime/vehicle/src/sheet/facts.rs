//! Key figures of a vehicle, one per row.

use super::Sheet;
use crate::dynamic::GRAVITY;

/// A key figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fact {
    /// Name of the figure, for display.
    pub name: &'static str,
    /// Value, in the given unit.
    pub value: f64,
    /// Unit; empty for ratios.
    pub unit: &'static str,
}

impl Sheet<'_> {
    /// Returns the key figures. Figures that apply to every vehicle come first, followed by figures
    /// of the tyres, drive train and springs if the file describes these parts.
    pub fn facts(&self) -> Vec<Fact> {
        let kind = self.file.vehicle_type();
        let mut facts = Vec::new();
        let mut add = |name, value: f64, unit| {
            // Without brakes, there is no deceleration figure, and without friction, there is no
            // grip figure.
            if value.is_finite() {
                facts.push(Fact { name, value, unit });
            }
        };
        add("Mass", kind.mass.get(), "kg");
        add("Length", kind.length.get(), "m");
        add("Width", kind.width.get(), "m");
        add("Height", kind.height.get(), "m");
        add("Wheelbase", kind.wheelbase.get(), "m");
        add("Turning radius", kind.min_turning_radius(), "m");
        if let Some(model) = &self.model {
            let [front, _] = model.axle_loads(0.0);
            let share = 100.0 * front / (model.mass * GRAVITY);
            add("Weight in front", share, "%");
            add("Centre of mass", model.height, "m");
            add("Grip", model.friction * GRAVITY, "m/s²");
        }
        if let Some(train) = &self.train {
            add("Power", 1e-3 * train.most_power(), "kW");
            add("Torque", train.most_torque(), "N m");
            add("Top speed", train.top_speed(), "m/s");
            add("Acceleration", train.hardest_acceleration(), "m/s²");
            add("Braking", train.hardest_braking(), "m/s²");
            add("Grade", train.limiting_grade(), "rad");
        }
        if let Some(body) = &self.rigid {
            let [front, rear] = body.quarter_cars();
            add("Spring, front", front.frequency(), "Hz");
            add("Spring, rear", rear.frequency(), "Hz");
            add("Damping, front", front.damping_ratio(), "");
            add("Damping, rear", rear.damping_ratio(), "");
            let lean = body.roll_gradient().to_degrees();
            add("Roll", lean, "° s²/m");
            add("Tips over at", body.roll_curve().tips_at, "m/s²");
        }
        facts
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;
    use crate::drive_train::tests::shipped;

    #[test]
    fn a_vehicle_has_the_numbers_that_its_file_can_say() {
        let value = |name: &str, fact: &str| {
            let file = shipped(name);
            let facts = Sheet::of(&file).facts();
            let found = facts.into_iter().find(|one| one.name == fact);
            found.map(|one| one.value)
        };
        assert_eq!(value("willys-mb", "Mass"), Some(1040.0));
        assert!((value("willys-mb", "Top speed").unwrap() - 31.9).abs() < 0.1);
        // The centre of gravity is half a metre behind the centre of the axles.
        assert!((value("willys-mb", "Weight in front").unwrap() - 44.9).abs() < 0.1);
        assert_eq!(value("ford-escort", "Top speed"), None);
        assert!(value("ford-escort", "Grip").is_some());
        assert_eq!(value("semi-trailer-tractor", "Grip"), None);
    }
}
