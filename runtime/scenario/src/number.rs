//! Numbers in files: each key says which values it takes, and a wrong one is refused in place.

use serde::de::{Deserialize, Deserializer, Error};

macro_rules! checked_number {
    ($(#[$doc:meta] $name:ident, $expected:literal, $test:expr;)*) => {$(
        #[$doc]
        pub(crate) fn $name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
            let value = f64::deserialize(deserializer)?;
            let test: fn(f64) -> bool = $test;
            if test(value) {
                Ok(value)
            } else {
                let expected = $expected;
                // A number of three hundred digits tells nobody anything.
                Err(D::Error::custom(if value.abs() < 1e15 {
                    format!("{value} is out of range: expected {expected}")
                } else {
                    format!("{value:e} is out of range: expected {expected}")
                }))
            }
        }
    )*};
}

checked_number! {
    /// A coordinate, m.
    coordinate, "metres within +-10,000,000", |v| v.abs() <= roadwright_geometry::MAX_COORDINATE;
    /// A distance along a road, m.
    distance, "0 to 10,000,000 m", |v| (0.0..=roadwright_geometry::MAX_LENGTH).contains(&v);
    /// An angle, rad.
    angle, "an angle in radians within +-100", |v| v.abs() <= 100.0;
    /// A size, m.
    size, "more than 0 and at most 10,000 m", |v| v > 0.0 && v <= 1e4;
    /// A speed, m/s.
    speed, "more than 0 and at most 150 m/s", |v| v > 0.0 && v <= 150.0;
    /// A speed that may be zero, m/s.
    speed_or_zero, "0 to 150 m/s", |v| (0.0..=150.0).contains(&v);
    /// An acceleration, m/s^2.
    acceleration, "more than 0 and at most 50 m/s^2", |v| v > 0.0 && v <= 50.0;
    /// A mass, kg.
    mass, "more than 0 and at most 1,000,000 kg", |v| v > 0.0 && v <= 1e6;
    /// A steering lock, rad.
    steering, "more than 0 and at most 1.55 rad", |v| v > 0.0 && v <= 1.55;
    /// A time of day, h.
    time_of_day, "0 to 24 h", |v| (0.0..24.0).contains(&v);
    /// A time step, s.
    time_step, "0.0001 to 1 s", |v| (1e-4..=1.0).contains(&v);
    /// A duration, s.
    duration, "0 to 10,000,000 s", |v| (0.0..=1e7).contains(&v);
    /// A rate, Hz.
    rate, "more than 0 and at most 1000 Hz", |v| v > 0.0 && v <= 1000.0;
    /// Vehicles per hour.
    per_hour, "0 to 100,000 vehicles per hour", |v| (0.0..=1e5).contains(&v);
    /// Trees per hectare.
    per_hectare, "0 to 100,000 trees per hectare", |v| (0.0..=1e5).contains(&v);
    /// A latitude, degrees.
    latitude, "-90 to 90 degrees", |v| (-90.0..=90.0).contains(&v);
    /// A longitude, degrees.
    longitude, "-180 to 180 degrees", |v| (-180.0..=180.0).contains(&v);
    /// A polynomial coefficient.
    coefficient, "a coefficient within +-1,000,000", |v| v.abs() <= 1e6;
}

/// An optional speed, m/s.
pub(crate) fn optional_speed<'de, D: Deserializer<'de>>(d: D) -> Result<Option<f64>, D::Error> {
    speed(d).map(Some)
}

/// An optional angle, rad.
pub(crate) fn optional_angle<'de, D: Deserializer<'de>>(d: D) -> Result<Option<f64>, D::Error> {
    angle(d).map(Some)
}

/// An optional mass, kg.
pub(crate) fn optional_mass<'de, D: Deserializer<'de>>(d: D) -> Result<Option<f64>, D::Error> {
    mass(d).map(Some)
}

/// A list of points, m.
pub(crate) fn points<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<glam::DVec2>, D::Error> {
    let points = Vec::<[f64; 2]>::deserialize(deserializer)?;
    let fits = |v: f64| v.abs() <= roadwright_geometry::MAX_COORDINATE;
    if let Some(index) = points.iter().position(|p| !(fits(p[0]) && fits(p[1]))) {
        return Err(D::Error::custom(format!(
            "point {index} is out of range: expected metres within +-10,000,000"
        )));
    }
    if points.len() < 3 {
        return Err(D::Error::custom(format!(
            "{} points given: expected at least 3",
            points.len()
        )));
    }
    Ok(points.into_iter().map(glam::DVec2::from).collect())
}
