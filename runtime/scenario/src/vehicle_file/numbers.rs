//! Reading of points and boxes, number by number.

use crate::quantity::{Offset, Quantity, Size};
use serde::de::{Deserialize, Deserializer, Error};

fn checked<Q: Quantity, E: Error>(numbers: [f64; 3]) -> Result<[f64; 3], E> {
    for number in numbers {
        Q::check(number).map_err(E::custom)?;
    }
    Ok(numbers)
}

/// Reads a place on a vehicle, m.
pub(super) fn point<'de, D: Deserializer<'de>>(d: D) -> Result<[f64; 3], D::Error> {
    checked::<Offset, _>(Deserialize::deserialize(d)?)
}

/// Reads places on a vehicle, m.
pub(super) fn points<'de, D: Deserializer<'de>>(d: D) -> Result<Vec<[f64; 3]>, D::Error> {
    let points = Vec::<[f64; 3]>::deserialize(d)?;
    points.into_iter().map(checked::<Offset, _>).collect()
}

/// Reads places along a vehicle, m.
pub(super) fn offsets<'de, D: Deserializer<'de>>(d: D) -> Result<Vec<f64>, D::Error> {
    let offsets = Vec::<f64>::deserialize(d)?;
    let checked = |offset: f64| Offset::check(offset).map_err(D::Error::custom);
    offsets.into_iter().map(checked).collect()
}

/// Reads length, width and height of a key that may be left out, and is there, m.
pub(super) fn size_if_given<'de, D>(d: D) -> Result<Option<[f64; 3]>, D::Error>
where
    D: Deserializer<'de>,
{
    checked::<Size, _>(Deserialize::deserialize(d)?).map(Some)
}
