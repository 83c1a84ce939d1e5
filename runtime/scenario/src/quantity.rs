//! Quantities: which numbers the keys of a scenario may hold.
//!
//! Each quantity is a type with its range. Files are read through it, edits are held to it, and the
//! JSON Schema says it, so that the three cannot differ.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error};
use std::borrow::Cow;

/// Looks at the numbers of a value that does not come from a file.
pub(crate) trait Validate {
    /// What is wrong with the first key that is wrong, as `key: what`.
    fn validate(&self) -> Result<(), String>;
}

/// One end of a range.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Bound {
    /// The number itself belongs to the range.
    With(f64),
    /// It does not.
    Without(f64),
}

/// A range of numbers with its name.
pub(crate) trait Quantity {
    /// The name of the type.
    const NAME: &'static str;
    /// What was expected, as messages say it.
    const EXPECTED: &'static str;
    /// The least number.
    const LEAST: Bound;
    /// The largest number.
    const LARGEST: Bound;

    /// Refuses a number outside of the range; one that is no number is outside of all.
    fn check(value: f64) -> Result<f64, String> {
        // Written so that NaN fails: all comparisons with it are false.
        let above = match Self::LEAST {
            Bound::With(least) => value >= least,
            Bound::Without(least) => value > least,
        };
        let below = match Self::LARGEST {
            Bound::With(largest) => value <= largest,
            Bound::Without(largest) => value < largest,
        };
        if above && below {
            return Ok(value);
        }
        let expected = Self::EXPECTED;
        // A number of three hundred digits tells nobody anything.
        Err(if value.abs() < 1e15 {
            format!("{value} is out of range: expected {expected}")
        } else {
            format!("{value:e} is out of range: expected {expected}")
        })
    }

    /// The same for the value of a key that may be absent.
    fn check_if_given(value: Option<f64>) -> Result<(), String> {
        value.map_or(Ok(()), |value| Self::check(value).map(drop))
    }

    /// Reads one from a file.
    fn read<'de, D: Deserializer<'de>>(d: D) -> Result<f64, D::Error> {
        Self::check(f64::deserialize(d)?).map_err(D::Error::custom)
    }

    /// Reads one from a key that may be left out, and is there.
    fn read_if_given<'de, D: Deserializer<'de>>(d: D) -> Result<Option<f64>, D::Error> {
        Self::read(d).map(Some)
    }

    /// The range in the words of JSON Schema.
    fn schema() -> Schema {
        let mut schema = json_schema!({ "type": "number" });
        let (low, least) = match Self::LEAST {
            Bound::With(least) => ("minimum", least),
            Bound::Without(least) => ("exclusiveMinimum", least),
        };
        let (high, largest) = match Self::LARGEST {
            Bound::With(largest) => ("maximum", largest),
            Bound::Without(largest) => ("exclusiveMaximum", largest),
        };
        schema.insert(low.into(), least.into());
        schema.insert(high.into(), largest.into());
        schema
    }
}

macro_rules! quantities {
    ($($(#[$doc:meta])* $name:ident: $least:expr, $largest:expr, $expected:literal;)*) => {$(
        $(#[$doc])*
        pub(crate) struct $name;

        impl Quantity for $name {
            const NAME: &'static str = stringify!($name);
            const EXPECTED: &'static str = $expected;
            const LEAST: Bound = $least;
            const LARGEST: Bound = $largest;
        }

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                Self::NAME.into()
            }

            fn inline_schema() -> bool {
                true
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                Self::schema()
            }
        }
    )*};
}

use Bound::{With, Without};

const FARTHEST: f64 = roadwright_geometry::MAX_COORDINATE;
const LONGEST: f64 = roadwright_geometry::MAX_LENGTH;

quantities! {
    /// A coordinate, m.
    Coordinate: With(-FARTHEST), With(FARTHEST), "metres within +-10,000,000";
    /// A distance along a road, m.
    Distance: With(0.0), With(LONGEST), "0 to 10,000,000 m";
    /// An angle, rad.
    Angle: With(-100.0), With(100.0), "an angle in radians within +-100";
    /// A size, m.
    Size: Without(0.0), With(1e4), "more than 0 and at most 10,000 m";
    /// A speed, m/s.
    Speed: Without(0.0), With(150.0), "more than 0 and at most 150 m/s";
    /// A speed that may be zero, m/s.
    SpeedOrZero: With(0.0), With(150.0), "0 to 150 m/s";
    /// An acceleration, m/s^2, or the rate of a steering angle, rad/s.
    Acceleration: Without(0.0), With(50.0), "more than 0 and at most 50 m/s^2";
    /// A mass, kg.
    Mass: Without(0.0), With(1e6), "more than 0 and at most 1,000,000 kg";
    /// A steering lock, rad.
    SteeringLock: Without(0.0), With(1.55), "more than 0 and at most 1.55 rad";
    /// A time of day, h.
    TimeOfDay: With(0.0), Without(24.0), "0 to 24 h";
    /// A time step, s.
    TimeStep: With(1e-4), With(1.0), "0.0001 to 1 s";
    /// A duration or a time from the start of a run, s.
    Duration: With(0.0), With(1e7), "0 to 10,000,000 s";
    /// The time of a stage of traffic signals, or of all of them, s.
    Cycle: With(1.0), With(600.0), "1 to 600 s";
    /// Amber or red between two stages of traffic signals, s.
    Clearance: With(0.0), With(30.0), "0 to 30 s";
    /// Red and amber together before green, s.
    RedAmber: With(0.0), With(5.0), "0 to 5 s";
    /// How often a module is asked, Hz.
    Rate: Without(0.0), With(1000.0), "more than 0 and at most 1000 Hz";
    /// How often forces are computed, Hz.
    PhysicsRate: With(10.0), With(10_000.0), "10 to 10,000 Hz";
    /// How fast an engine turns, rpm.
    Rpm: Without(0.0), With(1e5), "more than 0 and at most 100,000 rpm";
    /// A torque, N m.
    Torque: With(0.0), With(1e6), "0 to 1,000,000 N m";
    /// A force, N, or a torque of a motor, N m.
    Force: With(0.0), With(1e8), "0 to 100,000,000 N";
    /// The ratio of a gear, negative backwards.
    GearRatio: With(-1e3), With(1e3), "a ratio within +-1,000";
    /// The ratio of a final drive.
    FinalDrive: Without(0.0), With(1e3), "more than 0 and at most 1,000";
    /// A share of a whole.
    Share: With(0.0), With(1.0), "0 to 1";
    /// A coefficient of friction.
    Friction: Without(0.0), With(5.0), "more than 0 and at most 5";
    /// Grip of a ground as a share of the friction of tyres on dry asphalt.
    GripShare: Without(0.0), With(1.5), "more than 0 and at most 1.5";
    /// Cornering stiffness over load, 1/rad.
    CorneringStiffness: Without(0.0), With(200.0), "more than 0 and at most 200 per rad";
    /// A spring rate, N/m, or a damping rate, N s/m.
    SpringRate: With(0.0), With(1e9), "0 to 1,000,000,000 N/m";
    /// Stiffness of a tyre, N/m.
    TyreRate: With(1e3), With(1e9), "1,000 to 1,000,000,000 N/m";
    /// A moment of inertia, kg m^2.
    Inertia: Without(0.0), With(1e9), "more than 0 and at most 1,000,000,000 kg m^2";
    /// A place on a vehicle, m.
    Offset: With(-1e3), With(1e3), "metres within +-1,000";
    /// The density of the air, kg/m^3.
    Density: With(0.0), With(10.0), "0 to 10 kg/m^3";
    /// A drag coefficient.
    Drag: With(0.0), With(10.0), "0 to 10";
    /// Vehicles per hour.
    PerHour: With(0.0), With(1e5), "0 to 100,000 vehicles per hour";
    /// People on foot per hour.
    PeoplePerHour: With(0.0), With(3600.0), "0 to 3600 people per hour";
    /// The width of a crossing for people on foot, m.
    CrossingWidth: With(2.0), With(20.0), "2 to 20 m";
    /// The radius of a corner of a junction, m.
    CornerRadius: With(0.5), With(100.0), "0.5 to 100 m";
    /// Trees per hectare.
    PerHectare: With(0.0), With(1e5), "0 to 100,000 trees per hectare";
    /// A latitude, degrees.
    Latitude: With(-90.0), With(90.0), "-90 to 90 degrees";
    /// A longitude, degrees.
    Longitude: With(-180.0), With(180.0), "-180 to 180 degrees";
    /// A coefficient of a polynomial.
    Coefficient: With(-1e6), With(1e6), "a coefficient within +-1,000,000";
}

/// The corners of an area, m: at least three.
pub(crate) struct Corners;

impl Corners {
    /// Refuses points out of range and areas of fewer than three.
    pub(crate) fn check(points: &[glam::DVec2]) -> Result<(), String> {
        let fits = |v: f64| Coordinate::check(v).is_ok();
        if let Some(index) = points.iter().position(|p| !(fits(p.x) && fits(p.y))) {
            return Err(format!(
                "point {index} is out of range: expected {}",
                Coordinate::EXPECTED
            ));
        }
        if points.len() < 3 {
            return Err(format!(
                "{} points given: expected at least 3",
                points.len()
            ));
        }
        Ok(())
    }

    /// Reads them from a file.
    pub(crate) fn read<'de, D: Deserializer<'de>>(d: D) -> Result<Vec<glam::DVec2>, D::Error> {
        let points = Vec::<[f64; 2]>::deserialize(d)?;
        let points: Vec<_> = points.into_iter().map(glam::DVec2::from).collect();
        Self::check(&points).map_err(D::Error::custom)?;
        Ok(points)
    }
}

impl JsonSchema for Corners {
    fn schema_name() -> Cow<'static, str> {
        "Corners".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let coordinate = Coordinate::schema();
        json_schema!({
            "type": "array",
            "minItems": 3,
            "items": { "type": "array", "items": coordinate, "minItems": 2, "maxItems": 2 }
        })
    }
}

/// Puts the key before what is wrong with its value.
pub(crate) fn at<T>(key: &str, result: Result<T, String>) -> Result<(), String> {
    result.map(drop).map_err(|why| format!("{key}: {why}"))
}
