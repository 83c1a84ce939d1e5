//! Roll of a vehicle in a bend, and the lateral acceleration at which it tips over.

use super::Sheet;
use crate::dynamic::GRAVITY;
use crate::rigid::RigidModel;
use roadwright_geometry::math::{atan, sin_cos};

/// Number of roll angles that are evaluated.
const ANGLES: u32 = 200;
/// Maximum roll angle that is evaluated, as a multiple of the angle at which an inner wheel hangs
/// free. The hull tips over before reaching this angle.
const BEYOND: f64 = 2.0;
/// Number of bisection steps in the search for the height of the hull.
const HALVINGS: u32 = 40;

/// Roll angle as a function of lateral acceleration on level ground.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RollCurve {
    /// Points up to the limit. Each has a lateral acceleration (m/s^2) and a roll angle (rad).
    pub points: Vec<[f64; 2]>,
    /// Lateral acceleration at which the vehicle tips over if its tyres have enough grip, m/s^2. It is less
    /// than g T / 2 h, the value for rigid springs, because a leaning hull shifts its weight outwards.
    pub tips_at: f64,
}

impl RigidModel {
    /// Computes the roll angle in a steady bend. At each angle, the springs determine the height of
    /// the hull, inner wheels lift when they are unloaded, and the moment of springs and bars gives
    /// the lateral acceleration. The initial slope is [`roll_gradient`](Self::roll_gradient).
    pub fn roll_curve(&self) -> RollCurve {
        let steepest = atan(self.tip_acceleration() / GRAVITY);
        // Without springs, a leaning hull has no equilibrium.
        if !self.wheels.iter().all(|wheel| wheel.spring > 0.0) || steepest <= 0.0 {
            return RollCurve {
                points: Vec::new(),
                tips_at: self.tip_acceleration(),
            };
        }
        let hanging = (0..self.wheels.len())
            .filter(|wheel| self.wheels[*wheel].contact.y != 0.0)
            .map(|wheel| self.static_sag(wheel) / self.wheels[wheel].contact.y.abs());
        let steepest = steepest.min(BEYOND * hanging.fold(0.0, f64::max));
        let mut curve = RollCurve::default();
        for part in 0..=ANGLES {
            let angle = steepest * f64::from(part) / f64::from(ANGLES);
            let acceleration = self.acceleration_at(angle);
            // If a larger angle requires less acceleration, the vehicle tips over on its own.
            if part > 0 && acceleration <= curve.tips_at {
                break;
            }
            curve.tips_at = acceleration.max(0.0);
            curve.points.push([acceleration, angle]);
        }
        curve
    }

    /// Steady lateral acceleration at a roll angle, m/s^2.
    fn acceleration_at(&self, angle: f64) -> f64 {
        let (sin, cos) = sin_cos(angle);
        let slope = sin / cos;
        let weight = self.mass * GRAVITY;
        let loads = |lift: f64| self.leaning_loads(slope, lift);
        // The search is between the heights at which the springs hang free and at which they are fully
        // compressed.
        let widest = self.wheels.iter().map(|wheel| wheel.contact.y.abs());
        let reach = slope * widest.fold(0.0, f64::max);
        let sags = (0..self.wheels.len()).map(|wheel| self.static_sag(wheel));
        // At the lower limit, even the outermost wheel has lost its static sag and carries no load.
        // At the upper limit, each wheel carries at least its static load.
        let (mut low, mut high) = (-reach - sags.fold(0.0, f64::max), reach);
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            if loads(middle).iter().sum::<f64>() < weight {
                low = middle;
            } else {
                high = middle;
            }
        }
        let wheels = self.wheels.iter().zip(loads(high));
        let righting: f64 = wheels.map(|(wheel, load)| load * wheel.contact.y).sum();
        let lever = self.mass * self.height;
        // Moments about the centre of the track: m h (a cos + g sin) is balanced by the loads.
        (righting - lever * GRAVITY * sin) / (lever * cos)
    }

    /// Returns the wheel loads of a hull that leans to the left with slope `slope` and is lowered
    /// by `lift` metres.
    fn leaning_loads(&self, slope: f64, lift: f64) -> Vec<f64> {
        let pressed: Vec<f64> = self
            .wheels
            .iter()
            .map(|wheel| lift + slope * wheel.contact.y)
            .collect();
        let loads = self.wheels.iter().enumerate().map(|(number, wheel)| {
            let Some(partner) = wheel.partner else {
                let give = 1.0 + wheel.spring * self.tyre_give(number);
                return (wheel.load + wheel.spring * pressed[number] / give).max(0.0);
            };
            let pair = [number, partner].map(|wheel| pressed[wheel]);
            let load = |number, pair| wheel.load + self.pair_load(number, pair);
            if load(partner, [pair[1], pair[0]]) >= 0.0 {
                return load(number, pair).max(0.0);
            }
            // The other wheel is in the air, hanging on the bar until the end of its spring travel.
            let stiffness = wheel.spring + self.anti_sway;
            let hanging = self.anti_sway * pair[1].max(self.wheels[partner].longest());
            let more = (stiffness * pair[0] - hanging) / (1.0 + stiffness * self.tyre_give(number));
            (wheel.load + more).max(0.0)
        });
        loads.collect()
    }

    /// Returns the load of a wheel minus its static load, N. The array contains the distances by
    /// which the hull is lowered above the wheel and above its partner, m. The springs, bar and
    /// tyres of an axle respond to the mean of both distances and to the lean.
    fn pair_load(&self, number: usize, [here, there]: [f64; 2]) -> f64 {
        let part = |stiffness: f64, travel: f64| {
            stiffness * travel / (1.0 + stiffness * self.tyre_give(number))
        };
        let spring = self.wheels[number].spring;
        0.5 * part(spring, here + there) + 0.5 * part(spring + 2.0 * self.anti_sway, here - there)
    }
}

impl Sheet<'_> {
    /// Returns the roll curve; `None` if the file has no springs.
    pub fn roll_curve(&self) -> Option<RollCurve> {
        self.rigid.as_ref().map(RigidModel::roll_curve)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;
    use crate::drive_train::tests::shipped;
    use crate::proving::prove;

    fn model(name: &str) -> RigidModel {
        RigidModel::of_file(&shipped(name)).unwrap()
    }

    #[test]
    fn it_begins_as_the_roll_gradient_says() {
        for name in ["willys-mb", "enviro-400", "soapbox-kart", "articulated-bus"] {
            let model = model(name);
            let curve = model.roll_curve();
            let [acceleration, angle] = curve.points[4];
            let gradient = angle / acceleration;
            let ratio = gradient / model.roll_gradient();
            assert!((ratio - 1.0).abs() < 0.01, "{name}: {ratio}");
        }
    }

    #[test]
    fn it_ends_where_the_tilt_table_tips_the_vehicle() {
        for name in ["willys-mb", "enviro-400", "t-28"] {
            let file = shipped(name);
            let all = prove(&file).unwrap();
            let measured = all.iter().find(|one| one.name == "tip_over").unwrap();
            let tips_at = model(name).roll_curve().tips_at;
            let ratio = tips_at / measured.value.unwrap();
            // The table also reduces the load perpendicular to it, so the springs are slightly less
            // loaded.
            assert!((ratio - 1.0).abs() < 0.08, "{name}: {ratio}");
            assert!(tips_at < model(name).tip_acceleration(), "{name}");
        }
    }

    #[test]
    fn stiffer_bars_lean_less_and_a_higher_load_tips_earlier() {
        let jeep = model("willys-mb");
        let mut stiff = jeep.clone();
        stiff.anti_sway *= 4.0;
        let lean = |model: &RigidModel| {
            let [acceleration, angle] = model.roll_curve().points[10];
            angle / acceleration
        };
        assert!(lean(&stiff) < lean(&jeep));
        let mut file = shipped("willys-mb");
        file.body.centre_height = Some(1.3).into();
        let high = RigidModel::of_file(&file).unwrap();
        assert!(high.roll_curve().tips_at < jeep.roll_curve().tips_at);
    }

    #[test]
    fn what_cannot_stand_has_no_curve() {
        let mut jeep = model("willys-mb");
        jeep.wheels[0].spring = 0.0;
        assert_eq!(jeep.roll_curve().points, Vec::<[f64; 2]>::new());
        // With very soft springs, the vehicle falls over on its own.
        let mut soft = model("willys-mb");
        soft.anti_sway = 0.0;
        for wheel in &mut soft.wheels {
            wheel.spring = 100.0;
        }
        let curve = soft.roll_curve();
        assert!(curve.tips_at < 0.1 && curve.points.len() < 3, "{curve:?}");
    }
}
