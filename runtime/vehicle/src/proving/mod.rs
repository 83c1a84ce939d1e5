//! The proving ground: manoeuvres that measure a vehicle and compare the results with the values in
//! its file.
//!
//! Straight drives use only the drive train ([`crate::drive_train::StraightRun`]). Bends use the
//! dynamic one-track model with that drive train, or with the file's `performance` if it has none.
//! Side slopes, tipping over, bumps, steps and gaps use the rigid-body model. For files without a
//! suspension, manoeuvres that need one are skipped and reported.

mod bends;
mod cones;
mod grounds;
mod plot;
mod rigid;
mod straight;
mod track;
mod trailers;

pub use plot::{Look, Mark, MarkAxis, Plot, Series};

use crate::sheet::Sheet as Subject;
use plot::Recorder;
use roadwright_scenario::vehicle_file::VehicleFile;
use serde::Serialize;
use thiserror::Error;

/// All manoeuvres, in the order of reports.
pub const MANOEUVRES: [&str; 18] = [
    "acceleration",
    "top_speed",
    "coast_down",
    "braking",
    "circle_50",
    "circle_100",
    "step_steer",
    "double_lane_change",
    "iso_3888_2",
    "side_slope",
    "grade",
    "tip_over",
    "half_round",
    "step_climb",
    "gap",
    "jackknife",
    "pivot_turn",
    "rest_on_slope",
];

/// Relation between a value and its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// The value must not be lower.
    Min,
    /// The value must not be higher.
    Max,
    /// The value must be close to the limit, within [`Manoeuvre::tolerance`].
    Near,
}

/// Result of a manoeuvre.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Manoeuvre {
    /// Name, one of [`MANOEUVRES`].
    pub name: &'static str,
    /// Whether the manoeuvre applies to the vehicle.
    pub applies: bool,
    /// Measured value.
    pub value: Option<f64>,
    /// Unit of value and limit.
    pub unit: &'static str,
    /// Relation between the value and the limit.
    pub bound: Bound,
    /// Limit, either computed from the vehicle's values or taken from `limits` in its file.
    pub limit: Option<f64>,
    /// Tolerance of [`Bound::Near`], as a fraction of the limit.
    pub tolerance: f64,
    /// Whether the value satisfies the limit; `None` if the manoeuvre does not apply or has no limit.
    pub pass: Option<bool>,
    /// Description of the measurement, or the reason why the manoeuvre does not apply.
    pub note: String,
}

impl Manoeuvre {
    /// Text that describes the limit; empty without a limit.
    pub fn limit_text(&self) -> String {
        self.limit
            .map_or_else(String::new, |limit| match self.bound {
                Bound::Min => format!(">= {limit:.3}"),
                Bound::Max => format!("<= {limit:.3}"),
                Bound::Near => format!("{limit:.3} +- {} %", 100.0 * self.tolerance),
            })
    }

    /// Returns the title of the plot.
    fn title(&self, vehicle: &str) -> String {
        let value = self.value.map_or_else(
            || "no value".to_owned(),
            |value| match value.abs() {
                small if small > 0.0 && small < 1e-3 => format!("{value:.1e} {}", self.unit),
                _ => format!("{value:.3} {}", self.unit),
            },
        );
        match self.limit_text() {
            none if none.is_empty() => format!("{vehicle}: {}, {value}", self.name),
            limit => format!("{vehicle}: {}, {value} (limit {limit})", self.name),
        }
    }
}

/// Reason why a vehicle cannot be tested.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ProvingError {
    /// The file has a limit for an unknown manoeuvre.
    #[error("limits.{0}: unknown manoeuvre; expected one of: {all}", all = MANOEUVRES.join(", "))]
    UnknownManoeuvre(String),
}

/// Measured value of a manoeuvre, and its limit computed from the vehicle's values.
struct Measured {
    value: f64,
    limit: Option<f64>,
    bound: Bound,
    tolerance: f64,
    /// Whether all other conditions are satisfied, for example equal results with other time steps.
    sound: bool,
    note: String,
}

impl Measured {
    /// Creates a measured value that has to be close to a closed-form limit.
    fn near(value: f64, limit: f64, tolerance: f64, note: impl Into<String>) -> Self {
        Self {
            value,
            limit: Some(limit),
            bound: Bound::Near,
            tolerance,
            sound: true,
            note: note.into(),
        }
    }
}

/// Drives all manoeuvres.
///
/// # Errors
/// If the file has a limit for an unknown manoeuvre.
pub fn prove(file: &VehicleFile) -> Result<Vec<Manoeuvre>, ProvingError> {
    prove_while(file, |_| true)
}

/// Drives the manoeuvres one after another. Each result is passed to `goes_on`, which returns whether to
/// continue.
///
/// # Errors
/// As [`prove`].
pub fn prove_while(
    file: &VehicleFile,
    mut goes_on: impl FnMut(&Manoeuvre) -> bool,
) -> Result<Vec<Manoeuvre>, ProvingError> {
    drive_all(file, |_| Recorder::off(), |one, _| goes_on(one))
}

/// Drives all manoeuvres, and records a plot of each manoeuvre that applies. The values equal those of
/// [`prove`].
///
/// # Errors
/// As [`prove`].
pub fn prove_and_plot(file: &VehicleFile) -> Result<(Vec<Manoeuvre>, Vec<Plot>), ProvingError> {
    let mut plots = Vec::new();
    let manoeuvres = drive_all(file, Recorder::on, |_, plot| {
        plots.extend(plot);
        true
    })?;
    Ok((manoeuvres, plots))
}

/// Drives manoeuvres, each with its own recorder, until the callback ends the series.
fn drive_all(
    file: &VehicleFile,
    recorder: impl Fn(&'static str) -> Recorder,
    mut goes_on: impl FnMut(&Manoeuvre, Option<Plot>) -> bool,
) -> Result<Vec<Manoeuvre>, ProvingError> {
    let is_known = |name: &str| MANOEUVRES.contains(&name);
    if let Some(name) = file.limits.keys().find(|name| !is_known(name)) {
        return Err(ProvingError::UnknownManoeuvre(name.clone()));
    }
    let subject = Subject::of(file);
    let mut done = Vec::new();
    for name in MANOEUVRES {
        let mut recorder = recorder(name);
        let one = subject.drive(name, &mut recorder);
        let plot = recorder.finish(|| one.title(&file.name));
        let goes_on = goes_on(&one, plot);
        done.push(one);
        if !goes_on {
            break;
        }
    }
    Ok(done)
}

/// Maximum mass of vehicles for which the ISO 3888 courses are intended, kg.
const LIGHT: f64 = 3500.0;

/// Reason why a manoeuvre that needs an engine does not apply.
const NO_ENGINE: &str = "the file has no drive train";
/// Reason why a manoeuvre that needs tyres does not apply.
const NO_TYRES: &str = "the file does not specify tyre slip";
/// Reason why a manoeuvre for light vehicles does not apply.
const NO_CAR: &str = "the course is for vehicles up to 3.5 t";
/// Reason why a manoeuvre for rigid bodies does not apply.
const NO_SPRINGS: &str = "the file lacks data needed for rigid bodies";
/// Reason why a manoeuvre is not driven with very stiff springs or tyres.
const TOO_STIFF: &str = "springs or tyres are too stiff for the mass: the drive would take hours";

impl Subject<'_> {
    fn drive(&self, name: &'static str, recorder: &mut Recorder) -> Manoeuvre {
        let (unit, measured) = self.measure(name, recorder);
        let given = self.file.limits.get(name).copied();
        match measured {
            Ok(measured) => {
                // Without brakes, the limit is an infinite distance, which does not count as a
                // limit. A limit in the file takes precedence over the computed limit.
                let limit = given.or(measured.limit).filter(|limit| limit.is_finite());
                let is_value = measured.value.is_finite();
                let keeps = |limit: f64| match measured.bound {
                    Bound::Min => measured.value >= limit,
                    Bound::Max => measured.value <= limit,
                    Bound::Near => (measured.value - limit).abs() <= measured.tolerance * limit,
                };
                Manoeuvre {
                    name,
                    applies: true,
                    value: is_value.then_some(measured.value),
                    unit,
                    bound: measured.bound,
                    limit,
                    tolerance: measured.tolerance,
                    pass: limit.map(|limit| is_value && measured.sound && keeps(limit)),
                    note: measured.note,
                }
            }
            Err(why) => Manoeuvre {
                name,
                applies: false,
                value: None,
                unit,
                bound: Bound::Near,
                limit: given,
                tolerance: 0.0,
                pass: None,
                note: why.into(),
            },
        }
    }

    /// Returns the unit of a manoeuvre, and its result or the reason why it does not apply.
    fn measure(
        &self,
        name: &str,
        recorder: &mut Recorder,
    ) -> (&'static str, Result<Measured, &'static str>) {
        let train = self.train.as_ref().ok_or(NO_ENGINE);
        let model = self.model.as_ref().ok_or(NO_TYRES);
        let light = if self.file.mass() > LIGHT {
            Err(NO_CAR)
        } else {
            model
        };
        match name {
            "acceleration" => (
                "s",
                train.map(|train| straight::acceleration(train, recorder)),
            ),
            "top_speed" => (
                "m/s",
                train.map(|train| straight::top_speed(train, recorder)),
            ),
            "coast_down" => (
                "s",
                train.map(|train| straight::coast_down(train, recorder)),
            ),
            "braking" => (
                "m",
                model.map(|model| bends::braking(self, model, recorder)),
            ),
            "circle_50" => (
                "m/s",
                model.map(|model| bends::circle(self, model, 50.0, recorder)),
            ),
            "circle_100" => (
                "m/s",
                model.map(|model| bends::circle(self, model, 100.0, recorder)),
            ),
            "step_steer" => (
                "rad/s",
                model.map(|model| bends::step_steer(self, model, recorder)),
            ),
            "double_lane_change" => {
                let course = cones::iso_3888_1(self.file.body.width.get());
                (
                    "m/s",
                    light.map(|model| cones::run(self, model, &course, recorder)),
                )
            }
            "iso_3888_2" => {
                let course = cones::iso_3888_2(self.file.body.width.get());
                (
                    "m/s",
                    light.map(|model| cones::run(self, model, &course, recorder)),
                )
            }
            "side_slope" if self.rigid.is_none() => {
                let closed = |model| straight::side_slope(self.file, model, recorder);
                ("rad", model.map(closed))
            }
            "grade" => ("rad", train.map(|train| straight::grade(train, recorder))),
            "jackknife" => ("m", trailers::jackknife(self, recorder)),
            _ => self.measure_body(name, recorder),
        }
    }

    /// Measures a manoeuvre that needs a three-dimensional body.
    fn measure_body(
        &self,
        name: &str,
        recorder: &mut Recorder,
    ) -> (&'static str, Result<Measured, &'static str>) {
        let body = self.rigid.as_ref().ok_or(NO_SPRINGS);
        let body = body.and_then(|body| {
            if body.is_too_stiff() {
                Err(TOO_STIFF)
            } else {
                Ok(body)
            }
        });
        match name {
            "side_slope" => ("rad", body.map(|body| rigid::side_slope(body, recorder))),
            "tip_over" => ("m/s^2", body.map(|body| rigid::tip_over(body, recorder))),
            "half_round" => ("m/s", body.map(|body| rigid::half_round(body, recorder))),
            "rest_on_slope" => (
                "m",
                body.and_then(|body| rigid::rest_on_slope(body, recorder)),
            ),
            "step_climb" => ("m", body.map(|body| rigid::step_climb(body, recorder))),
            "gap" => ("m", body.map(|body| rigid::gap(body, recorder))),
            _ => (
                "rad/s",
                body.and_then(|body| rigid::pivot_turn(body, recorder)),
            ),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;
    use crate::drive_train::tests::shipped;
    use roadwright_scenario::vehicle_file::WheelShape;

    fn report(name: &str) -> Vec<Manoeuvre> {
        prove(&shipped(name)).unwrap()
    }

    #[test]
    fn shipped_vehicles_keep_to_what_their_numbers_say() {
        for name in [
            "willys-mb",
            "enviro-400",
            "ford-escort",
            "bmw-320i",
            "vw-vanagon",
            "escort-caravan",
            "semi-trailer-truck",
            "articulated-bus",
            "soapbox-kart",
            "t-28",
        ] {
            for one in report(name) {
                println!(
                    "{name} {} {:?} {:?} {}",
                    one.name, one.value, one.limit, one.note
                );
                assert_ne!(one.pass, Some(false), "{name}: {one:?}");
            }
        }
    }

    /// Vehicles with the other kind of wheels also agree with the closed-form limits.
    #[test]
    fn other_wheels_keep_to_them_as_well() {
        for (name, shape) in [
            ("willys-mb", WheelShape::Sphere),
            ("enviro-400", WheelShape::Sphere),
            ("articulated-bus", WheelShape::Sphere),
            ("soapbox-kart", WheelShape::Sphere),
            ("t-28", WheelShape::Ray),
        ] {
            let mut file = shipped(name);
            assert_ne!(file.wheels.shape, shape, "{name}");
            file.wheels.shape = shape;
            for one in prove(&file).unwrap() {
                assert_ne!(one.pass, Some(false), "{name}: {one:?}");
            }
        }
    }

    #[test]
    fn every_manoeuvre_ends_however_slow_the_vehicle_is() {
        // The steps are counted, because the elapsed time depends on the load of the machine. The
        // maximum is 600 s in steps of 0.02 s, for each of twelve speeds.
        let most = 12 * 30_000 + 100_000;
        for (name, speed) in [
            ("willys-mb", 1e-9),
            ("willys-mb", 1e-300),
            ("willys-mb", 1.0),
        ] {
            let mut file = shipped(name);
            file.performance.max_speed = speed.into();
            let before = rigid::STEPS.get();
            let all = prove(&file).unwrap();
            assert_eq!(all.len(), MANOEUVRES.len());
            let steps = rigid::STEPS.get() - before;
            assert!(steps < most, "{name} at {speed} m/s: {steps} steps");
            let over = all.iter().find(|one| one.name == "half_round").unwrap();
            assert_eq!(over.note.contains("not tested"), speed < 0.1, "{over:?}");
        }
    }

    #[test]
    fn what_a_vehicle_cannot_be_asked_is_not_judged() {
        let applies = |name: &str| {
            let all = report(name).into_iter();
            let names = all.filter(|one| one.applies).map(|one| one.name);
            names.collect::<Vec<_>>()
        };
        assert_eq!(applies("semi-trailer-tractor"), Vec::<&str>::new());
        // The Escort has tyres but no engine.
        let escort = applies("ford-escort");
        assert!(
            escort.contains(&"circle_50") && !escort.contains(&"top_speed"),
            "{escort:?}"
        );
        assert_eq!(applies("willys-mb").len(), 16);
        // The bus is not a passenger car.
        assert_eq!(applies("enviro-400").len(), 14);
    }

    #[test]
    fn trailers_jackknife_in_reverse_where_the_closed_form_says() {
        let driven = |name: &str| {
            let mut all = report(name).into_iter();
            all.find(|one| one.name == "jackknife").unwrap()
        };
        for (name, to_axle) in [("escort-caravan", 4.0), ("semi-trailer-truck", 8.1)] {
            let one = driven(name);
            // ln(tan 30 / tan 2.5)
            let exact = to_axle * roadwright_geometry::math::ln(0.577_350_27 / 0.043_660_94);
            assert_eq!(
                (one.applies, one.pass, one.unit),
                (true, Some(true), "m"),
                "{name}"
            );
            assert!((one.value.unwrap() / exact - 1.0).abs() < 0.02, "{one:?}");
        }
        // The joint of the bus is limited to 52 degrees, and the tractor has no joint without its
        // trailer.
        for name in ["articulated-bus", "semi-trailer-tractor"] {
            assert!(!driven(name).applies, "{name}");
        }
    }

    #[test]
    fn a_manoeuvre_notices_a_vehicle_that_is_not_what_it_says() {
        // On ice, the circle is driven more slowly, and a limit for dry ground is not reached.
        let mut jeep = shipped("willys-mb");
        let circle = |jeep: &VehicleFile| {
            let all = prove(jeep).unwrap();
            all.into_iter().find(|one| one.name == "circle_50").unwrap()
        };
        let dry = circle(&jeep);
        jeep.limits.insert("circle_50".into(), dry.value.unwrap());
        jeep.wheels.friction = Some(0.15).into();
        let ice = circle(&jeep);
        assert_eq!((dry.pass, ice.pass), (Some(true), Some(false)));
        // The speed is proportional to the square root of the grip.
        let ratio = ice.value.unwrap() / dry.value.unwrap();
        assert!(
            (ratio / (0.15f64 / 0.5).sqrt() - 1.0).abs() < 0.1,
            "{ratio}"
        );
    }

    #[test]
    fn who_does_not_go_on_gets_what_was_driven_until_then() {
        let (jeep, mut seen) = (shipped("willys-mb"), Vec::new());
        let done = prove_while(&jeep, |one| {
            seen.push(one.name);
            seen.len() < 3
        });
        let done = done.unwrap();
        assert_eq!(seen, MANOEUVRES[..3]);
        assert_eq!(done[..], report("willys-mb")[..3]);
    }

    #[test]
    fn only_known_manoeuvres_have_limits() {
        let mut jeep = shipped("willys-mb");
        jeep.limits.insert("loop".into(), 1.0);
        let error = prove(&jeep).unwrap_err();
        assert!(error.to_string().contains("limits.loop"));
    }
}
