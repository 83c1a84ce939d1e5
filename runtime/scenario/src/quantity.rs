//! Quantities: numbers with the range that a key of a file allows.
//!
//! A field of a file is a [`Quantity`] of some [`Kind`], such as `Quantity<Size>`. The kind defines
//! the allowed values. Because file reading, edit checks and the JSON Schema all use the kind, they
//! always agree. In memory, a quantity can be used like its value and may be out of range, which is
//! detected when an edit is applied ([`Scenario::apply`](crate::Scenario::apply)).

use glam::DVec2;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, DeserializeOwned, Deserializer, Error};
use serde::ser::{Serialize, Serializer};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;
use std::iter::Sum;
use std::marker::PhantomData;
use std::ops::{Add, AddAssign, Deref, DerefMut, Div, Mul, MulAssign, Neg, Sub, SubAssign};

/// Check for values that were not read from a file.
pub(crate) trait Validate {
    /// Returns the first error, as `key: problem`.
    fn validate(&self) -> Result<(), String>;
}

/// A value read from a file. Its type carries the range that its key allows.
///
/// A quantity dereferences to its value. Numbers can be used directly in arithmetic and comparisons.
#[derive(Clone, Copy, Default)]
pub struct Quantity<K, T = f64>(T, PhantomData<K>);

/// An optional value read from a file. Its type carries the range that its key allows.
///
/// It dereferences to the option. In a file, `null` is an error, because a key without a value has
/// to be left out.
#[derive(Clone, Copy)]
pub struct OptionalQuantity<K, T = f64>(Option<T>, PhantomData<K>);

/// The range of values that a key allows.
pub trait Kind<T> {
    /// Rejects a value that the key does not allow.
    ///
    /// # Errors
    /// If the value is not allowed. The error states the problem and what was expected.
    fn check(value: &T) -> Result<(), String>;

    /// Reads a value without checking its range.
    ///
    /// # Errors
    /// If the deserializer fails.
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error>;

    /// Returns the allowed values as JSON Schema.
    fn schema(generator: &mut SchemaGenerator) -> Schema;
}

/// One end of a range.
#[derive(Debug, Clone, Copy)]
pub enum Bound {
    /// The number is part of the range.
    With(f64),
    /// The number is not part of the range.
    Without(f64),
}

/// A named range of numbers. It is the [`Kind`] of a single number, or of several numbers with the same
/// range.
pub trait Range {
    /// Name of the type.
    const NAME: &'static str;
    /// Description of the expected values, for messages.
    const EXPECTED: &'static str;
    /// The lower end.
    const LEAST: Bound;
    /// The upper end.
    const LARGEST: Bound;

    /// Rejects a number outside the range. NaN is outside every range.
    ///
    /// # Errors
    /// If the number is outside the range. The error states the number and what was expected.
    fn check_number(value: f64) -> Result<(), String> {
        // Written so that NaN is rejected: all comparisons with NaN are false.
        let above = match Self::LEAST {
            Bound::With(least) => value >= least,
            Bound::Without(least) => value > least,
        };
        let below = match Self::LARGEST {
            Bound::With(largest) => value <= largest,
            Bound::Without(largest) => value < largest,
        };
        if above && below {
            return Ok(());
        }
        let expected = Self::EXPECTED;
        // A very long number would not help the reader.
        Err(if value.abs() < 1e15 {
            format!("{value} is out of range: expected {expected}")
        } else {
            format!("{value:e} is out of range: expected {expected}")
        })
    }

    /// Returns the range as JSON Schema.
    fn number_schema() -> Schema {
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

/// Numbers that share one range.
pub trait Numbers: DeserializeOwned {
    /// Rejects the first number that is out of range.
    ///
    /// # Errors
    /// If a number is out of range. The error describes the first such number.
    fn check_each<R: Range>(&self) -> Result<(), String>;

    /// Returns the numbers as JSON Schema.
    fn schema<R: Range>(generator: &mut SchemaGenerator) -> Schema;
}

impl Numbers for f64 {
    fn check_each<R: Range>(&self) -> Result<(), String> {
        R::check_number(*self)
    }

    fn schema<R: Range>(_: &mut SchemaGenerator) -> Schema {
        R::number_schema()
    }
}

impl Numbers for [f64; 3] {
    fn check_each<R: Range>(&self) -> Result<(), String> {
        self.iter().try_for_each(|number| R::check_number(*number))
    }

    fn schema<R: Range>(generator: &mut SchemaGenerator) -> Schema {
        <[Quantity<R>; 3]>::json_schema(generator)
    }
}

impl<T: Numbers> Numbers for Vec<T>
where
    Self: DeserializeOwned,
{
    fn check_each<R: Range>(&self) -> Result<(), String> {
        self.iter().try_for_each(Numbers::check_each::<R>)
    }

    fn schema<R: Range>(generator: &mut SchemaGenerator) -> Schema {
        Vec::<Quantity<R, T>>::json_schema(generator)
    }
}

impl<R: Range, T: Numbers> Kind<T> for R {
    fn check(value: &T) -> Result<(), String> {
        value.check_each::<R>()
    }

    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
        T::deserialize(deserializer)
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        T::schema::<R>(generator)
    }
}

impl<K, T> Quantity<K, T> {
    /// Creates a quantity with this value, whether or not it is in range.
    pub const fn new(value: T) -> Self {
        Self(value, PhantomData)
    }

    /// Rejects a value that the key does not allow.
    ///
    /// # Errors
    /// If the value is not allowed. The error states the problem and what was expected.
    pub fn check(&self) -> Result<(), String>
    where
        K: Kind<T>,
    {
        K::check(&self.0)
    }

    /// Returns the value.
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl<K, T: Copy> Quantity<K, T> {
    /// Returns the value.
    #[inline]
    pub const fn get(self) -> T {
        self.0
    }
}

impl<K, T> OptionalQuantity<K, T> {
    /// No value.
    pub const NONE: Self = Self(None, PhantomData);

    /// Creates a quantity with this value, whether or not it is in range.
    pub const fn new(value: Option<T>) -> Self {
        Self(value, PhantomData)
    }

    /// Rejects a value that the key does not allow.
    ///
    /// # Errors
    /// If the value is not allowed. The error states the problem and what was expected.
    pub fn check(&self) -> Result<(), String>
    where
        K: Kind<T>,
    {
        self.0.as_ref().map_or(Ok(()), K::check)
    }
}

impl<K, T: Copy> OptionalQuantity<K, T> {
    /// Returns the value, if there is one.
    #[inline]
    pub const fn get(self) -> Option<T> {
        self.0
    }
}

impl<K, T> From<T> for Quantity<K, T> {
    #[inline]
    fn from(value: T) -> Self {
        Self(value, PhantomData)
    }
}

impl<K, T> From<Option<T>> for OptionalQuantity<K, T> {
    #[inline]
    fn from(value: Option<T>) -> Self {
        Self(value, PhantomData)
    }
}

impl<K> From<Quantity<K>> for f64 {
    #[inline]
    fn from(quantity: Quantity<K>) -> Self {
        quantity.0
    }
}

impl<K, T> Default for OptionalQuantity<K, T> {
    fn default() -> Self {
        Self::NONE
    }
}

/// Implements the traits that both quantity types inherit from their values.
macro_rules! holds {
    ($name:ident, $value:ty) => {
        impl<K, T> Deref for $name<K, T> {
            type Target = $value;

            #[inline]
            fn deref(&self) -> &$value {
                &self.0
            }
        }

        impl<K, T> DerefMut for $name<K, T> {
            #[inline]
            fn deref_mut(&mut self) -> &mut $value {
                &mut self.0
            }
        }

        impl<K, T: fmt::Debug> fmt::Debug for $name<K, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl<K, T: PartialEq> PartialEq for $name<K, T> {
            #[inline]
            fn eq(&self, other: &Self) -> bool {
                self.0 == other.0
            }
        }

        impl<K, T: PartialEq> PartialEq<$value> for $name<K, T> {
            #[inline]
            fn eq(&self, other: &$value) -> bool {
                self.0 == *other
            }
        }

        impl<K, T: Serialize> Serialize for $name<K, T> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                self.0.serialize(serializer)
            }
        }
    };
}

holds!(Quantity, T);
holds!(OptionalQuantity, Option<T>);

impl<'de, T, K: Kind<T>> Deserialize<'de> for Quantity<K, T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = K::read(deserializer)?;
        K::check(&value).map_err(D::Error::custom)?;
        Ok(Self::new(value))
    }
}

impl<'de, T, K: Kind<T>> Deserialize<'de> for OptionalQuantity<K, T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Quantity(value, kind) = Quantity::deserialize(deserializer)?;
        Ok(Self(Some(value), kind))
    }
}

impl<T, K: Kind<T>> JsonSchema for Quantity<K, T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        // This name is never visible, because the schema is inlined wherever it is used.
        "Quantity".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        K::schema(generator)
    }
}

impl<T, K: Kind<T>> JsonSchema for OptionalQuantity<K, T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "OptionalQuantity".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Option::<Quantity<K, T>>::json_schema(generator)
    }
}

impl<K> fmt::Display for Quantity<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<K> PartialOrd for Quantity<K> {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.0.partial_cmp(&other.0)
    }
}

impl<K> PartialOrd<f64> for Quantity<K> {
    #[inline]
    fn partial_cmp(&self, other: &f64) -> Option<Ordering> {
        self.0.partial_cmp(other)
    }
}

impl<K> PartialEq<Quantity<K>> for f64 {
    #[inline]
    fn eq(&self, other: &Quantity<K>) -> bool {
        *self == other.0
    }
}

impl<K> PartialOrd<Quantity<K>> for f64 {
    #[inline]
    fn partial_cmp(&self, other: &Quantity<K>) -> Option<Ordering> {
        self.partial_cmp(&other.0)
    }
}

impl<K, T> FromIterator<T> for Quantity<K, Vec<T>> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        Self::new(values.into_iter().collect())
    }
}

impl<'a, K, T> IntoIterator for &'a Quantity<K, Vec<T>> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<K> Sum<Quantity<K>> for f64 {
    fn sum<I: Iterator<Item = Quantity<K>>>(quantities: I) -> Self {
        quantities.map(Quantity::get).sum()
    }
}

impl<K> Mul<DVec2> for Quantity<K> {
    type Output = DVec2;

    #[inline]
    fn mul(self, vector: DVec2) -> DVec2 {
        self.0 * vector
    }
}

impl<K> Neg for Quantity<K> {
    type Output = f64;

    #[inline]
    fn neg(self) -> f64 {
        -self.0
    }
}

/// Implements arithmetic with numbers and other quantities. The results are plain numbers.
macro_rules! computes {
    ($($operation:ident $method:ident $sign:tt;)*) => {$(
        impl<K> $operation<f64> for Quantity<K> {
            type Output = f64;

            #[inline]
            fn $method(self, other: f64) -> f64 {
                self.0 $sign other
            }
        }

        impl<K> $operation<Quantity<K>> for f64 {
            type Output = f64;

            #[inline]
            fn $method(self, other: Quantity<K>) -> f64 {
                self $sign other.0
            }
        }

        impl<K, L> $operation<Quantity<L>> for Quantity<K> {
            type Output = f64;

            #[inline]
            fn $method(self, other: Quantity<L>) -> f64 {
                self.0 $sign other.0
            }
        }
    )*};
}

computes! {
    Add add +;
    Sub sub -;
    Mul mul *;
    Div div /;
}

macro_rules! changes {
    ($($operation:ident $method:ident $sign:tt;)*) => {$(
        impl<K> $operation<f64> for Quantity<K> {
            #[inline]
            fn $method(&mut self, other: f64) {
                self.0 $sign other;
            }
        }

        impl<K> $operation<Quantity<K>> for f64 {
            #[inline]
            fn $method(&mut self, other: Quantity<K>) {
                *self $sign other.0;
            }
        }
    )*};
}

changes! {
    AddAssign add_assign +=;
    SubAssign sub_assign -=;
    MulAssign mul_assign *=;
}

macro_rules! ranges {
    ($($(#[$doc:meta])* $name:ident: $least:expr, $largest:expr, $expected:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, Default)]
        pub struct $name;

        impl Range for $name {
            const NAME: &'static str = stringify!($name);
            const EXPECTED: &'static str = $expected;
            const LEAST: Bound = $least;
            const LARGEST: Bound = $largest;
        }
    )*};
}

use Bound::{With, Without};

const FARTHEST: f64 = roadwright_geometry::MAX_COORDINATE;
const LONGEST: f64 = roadwright_geometry::MAX_LENGTH;

ranges! {
    /// A coordinate, m.
    Coordinate: With(-FARTHEST), With(FARTHEST), "-10,000,000 to 10,000,000 m";
    /// A distance along a road, m.
    Distance: With(0.0), With(LONGEST), "0 to 10,000,000 m";
    /// An angle, rad.
    Angle: With(-100.0), With(100.0), "-100 to 100 rad";
    /// A size, m.
    Size: Without(0.0), With(1e4), "more than 0 and at most 10,000 m";
    /// Duration of a cycle of two steps, s.
    GaitCycle: With(0.2), With(5.0), "0.2 to 5 s";
    /// A distance between feet, or the height of a foot, m.
    StepSize: With(0.0), With(1.0), "0 to 1 m";
    /// A height above the ground, m.
    HeightAboveGround: With(0.0), With(1e4), "0 to 10,000 m";
    /// A speed, m/s.
    Speed: Without(0.0), With(150.0), "more than 0 and at most 150 m/s";
    /// A speed that may be zero, m/s.
    SpeedOrZero: With(0.0), With(150.0), "0 to 150 m/s";
    /// An acceleration (m/s^2), or the rate of change of a steering angle (rad/s).
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
    /// The duration of a stage of traffic signals or of a whole cycle, s.
    Cycle: With(1.0), With(600.0), "1 to 600 s";
    /// Duration of amber or of all-red between two stages of traffic signals, s.
    Clearance: With(0.0), With(30.0), "0 to 30 s";
    /// Duration of red and amber together before green, s.
    RedAmber: With(0.0), With(5.0), "0 to 5 s";
    /// Call rate of a module, Hz.
    Rate: Without(0.0), With(1000.0), "more than 0 and at most 1000 Hz";
    /// Update rate of the computation of forces, Hz.
    PhysicsRate: With(10.0), With(10_000.0), "10 to 10,000 Hz";
    /// Engine speed, rpm.
    Rpm: Without(0.0), With(1e5), "more than 0 and at most 100,000 rpm";
    /// A torque, N m.
    Torque: With(0.0), With(1e6), "0 to 1,000,000 N m";
    /// A force (N), or the torque of a motor (N m).
    Force: With(0.0), With(1e8), "0 to 100,000,000 N";
    /// The ratio of a gear. It is negative for reverse.
    GearRatio: With(-1e3), With(1e3), "-1,000 to 1,000";
    /// The ratio of a final drive.
    FinalDrive: Without(0.0), With(1e3), "more than 0 and at most 1,000";
    /// A fraction of a whole.
    Share: With(0.0), With(1.0), "0 to 1";
    /// A coefficient of friction.
    Friction: Without(0.0), With(5.0), "more than 0 and at most 5";
    /// Grip of the ground relative to the tyre friction on dry asphalt.
    GripShare: Without(0.0), With(1.5), "more than 0 and at most 1.5";
    /// Cornering stiffness divided by load, 1/rad.
    CorneringStiffness: Without(0.0), With(200.0), "more than 0 and at most 200 per rad";
    /// A spring rate (N/m) or a damping rate (N s/m).
    SpringRate: With(0.0), With(1e9), "0 to 1,000,000,000 N/m";
    /// Stiffness of a tyre, N/m.
    TyreRate: With(1e3), With(1e9), "1,000 to 1,000,000,000 N/m";
    /// A moment of inertia, kg m^2.
    Inertia: Without(0.0), With(1e9), "more than 0 and at most 1,000,000,000 kg m^2";
    /// A position on a vehicle, m.
    Offset: With(-1e3), With(1e3), "-1,000 to 1,000 m";
    /// The density of the air, kg/m^3.
    Density: With(0.0), With(10.0), "0 to 10 kg/m^3";
    /// A drag coefficient.
    Drag: With(0.0), With(10.0), "0 to 10";
    /// Vehicles per hour.
    PerHour: With(0.0), With(1e5), "0 to 100,000 vehicles per hour";
    /// Pedestrians per hour.
    PeoplePerHour: With(0.0), With(3600.0), "0 to 3600 people per hour";
    /// The width of a pedestrian crossing, m.
    CrossingWidth: With(2.0), With(20.0), "2 to 20 m";
    /// The radius of a corner of a junction, m.
    CornerRadius: With(0.5), With(100.0), "0.5 to 100 m";
    /// Trees per hectare.
    PerHectare: With(0.0), With(1e5), "0 to 100,000 trees per hectare";
    /// A latitude, degrees.
    Latitude: With(-90.0), With(90.0), "-90 to 90 degrees";
    /// A longitude, degrees.
    Longitude: With(-180.0), With(180.0), "-180 to 180 degrees";
    /// The edge length of cells of painted ground, m.
    PaintCell: With(0.1), With(64.0), "0.1 to 64 m";
    /// A coefficient of a polynomial.
    Coefficient: With(-1e6), With(1e6), "-1,000,000 to 1,000,000";
}

/// The corners of an area, m. There are at least three.
#[derive(Debug, Clone, Copy, Default)]
pub struct Corners;

/// An area, given by its corners, m.
pub type Area = Quantity<Corners, Vec<DVec2>>;

impl Kind<Vec<DVec2>> for Corners {
    fn check(points: &Vec<DVec2>) -> Result<(), String> {
        let fits = |v: f64| Coordinate::check_number(v).is_ok();
        if let Some(index) = points.iter().position(|p| !(fits(p.x) && fits(p.y))) {
            return Err(format!(
                "point {index} is out of range: expected {}",
                Coordinate::EXPECTED
            ));
        }
        if points.len() < 3 {
            return Err(format!(
                "{} points are too few; expected at least 3",
                points.len()
            ));
        }
        Ok(())
    }

    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<DVec2>, D::Error> {
        let points = Vec::<[f64; 2]>::deserialize(deserializer)?;
        Ok(points.into_iter().map(DVec2::from).collect())
    }

    fn schema(_: &mut SchemaGenerator) -> Schema {
        let coordinate = Coordinate::number_schema();
        json_schema!({
            "type": "array",
            "minItems": 3,
            "items": { "type": "array", "items": coordinate, "minItems": 2, "maxItems": 2 }
        })
    }
}

/// Holes in an area.
#[derive(Debug, Clone, Copy, Default)]
pub struct Holes;

impl Kind<Vec<Vec<DVec2>>> for Holes {
    fn check(holes: &Vec<Vec<DVec2>>) -> Result<(), String> {
        holes.iter().enumerate().try_for_each(|(index, hole)| {
            Corners::check(hole).map_err(|why| format!("hole {index}: {why}"))
        })
    }

    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Vec<DVec2>>, D::Error> {
        let holes = Vec::<Vec<[f64; 2]>>::deserialize(deserializer)?;
        let points = |hole: Vec<[f64; 2]>| hole.into_iter().map(DVec2::from).collect();
        Ok(holes.into_iter().map(points).collect())
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        Vec::<Area>::json_schema(generator)
    }
}

/// Torque of an engine by its speed, as pairs of rpm and N m.
#[derive(Debug, Clone, Copy, Default)]
pub struct TorqueCurve;

impl Kind<Vec<(f64, f64)>> for TorqueCurve {
    fn check(points: &Vec<(f64, f64)>) -> Result<(), String> {
        if points.is_empty() {
            return Err("the curve has no points; give at least one pair of rpm and N m".into());
        }
        for (number, &(rpm, torque)) in points.iter().enumerate() {
            let point = |why| format!("point {number}: {why}");
            Rpm::check_number(rpm).map_err(point)?;
            Torque::check_number(torque).map_err(point)?;
        }
        let back = points.windows(2).position(|pair| pair[1].0 <= pair[0].0);
        match back {
            Some(number) => Err(format!(
                "point {} does not have a higher rpm than point {number}; list the points by \
                 ascending rpm",
                number + 1
            )),
            None => Ok(()),
        }
    }

    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<(f64, f64)>, D::Error> {
        Deserialize::deserialize(deserializer)
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        Vec::<(Quantity<Rpm>, Quantity<Torque>)>::json_schema(generator)
    }
}

/// Prefixes an error with the key of its value.
pub(crate) fn at(key: &str, result: Result<(), String>) -> Result<(), String> {
    result.map_err(|why| format!("{key}: {why}"))
}

/// Prefixes an error inside an object with the key of the object.
pub(crate) fn inside(key: &str, result: Result<(), String>) -> Result<(), String> {
    result.map_err(|why| format!("{key}.{why}"))
}

/// Checks the fields with the given names, which are also their keys.
macro_rules! check_keys {
    ($of:expr => $($key:ident),+ $(,)?) => {
        Ok(())$(.and_then(|()| $crate::quantity::at(stringify!($key), $of.$key.check())))+
    };
}

pub(crate) use check_keys;
