//! Land: the surface of the ground beside and below roads. It is drawn on the map and does not affect
//! driving.

use crate::quantity::{Area, Holes, Quantity, Validate, check_keys};
use glam::DVec2;
use roadwright_geometry::polygon;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Use or cover of an area of land.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum LandUse {
    /// Ground with homes, between streets and houses.
    Residential,
    /// Ground with shops, offices, factories and schools.
    Commercial,
    /// Squares, yards, car parks and platforms.
    Paved,
    /// Sand, gravel and bare earth.
    Sand,
    /// Lawns, meadows and fields.
    Grass,
    /// Parks and gardens.
    Park,
    /// Ground below trees. The trees themselves are forests.
    Wood,
    /// Playing fields, courts and tracks.
    Pitch,
    /// Rivers, lakes, basins and the sea.
    Water,
}

impl LandUse {
    /// All uses in drawing order. Where areas overlap, later uses cover earlier ones.
    pub const ALL: [Self; 9] = [
        Self::Residential,
        Self::Commercial,
        Self::Grass,
        Self::Park,
        Self::Wood,
        Self::Sand,
        Self::Paved,
        Self::Pitch,
        Self::Water,
    ];

    /// Name in files, such as `park`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Residential => "residential",
            Self::Commercial => "commercial",
            Self::Paved => "paved",
            Self::Sand => "sand",
            Self::Grass => "grass",
            Self::Park => "park",
            Self::Wood => "wood",
            Self::Pitch => "pitch",
            Self::Water => "water",
        }
    }

    /// Drawing order where areas overlap. Higher ranks cover lower ones.
    pub fn rank(self) -> usize {
        let place = Self::ALL.iter().position(|other| *other == self);
        place.unwrap_or_default()
    }
}

/// An area of land: an outline with holes, and its use.
///
/// Land is on the ground, below all roads. It does not affect driving: it changes neither the grip,
/// nor the controllers, nor where pedestrians walk.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Land {
    /// Name, such as that of a park or a river.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Use or cover of the area.
    #[serde(rename = "use")]
    pub usage: LandUse,
    /// Corners of the outline in order, m. There are at least 3, and at most 20,000 including those
    /// of holes.
    pub outline: Area,
    /// Holes in the area, such as islands in a lake. Each is given by its corners in order, m.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub holes: Quantity<Holes, Vec<Vec<DVec2>>>,
}

/// Maximum number of corners of one area. Drawing time grows faster than this number.
pub const MAX_LAND_CORNERS: usize = 20_000;
/// Maximum number of corners of all painted areas together.
pub(crate) const MAX_PAINTED_CORNERS: usize = 4_000_000;

impl Land {
    /// Returns the outline and the holes.
    pub fn rings(&self) -> impl Iterator<Item = &Vec<DVec2>> {
        std::iter::once(&*self.outline).chain(&*self.holes)
    }

    /// Returns all rings, as mutable references.
    pub fn rings_mut(&mut self) -> impl Iterator<Item = &mut Vec<DVec2>> {
        std::iter::once(&mut *self.outline).chain(&mut *self.holes)
    }

    /// Returns the number of corners, including those of holes.
    pub fn corners(&self) -> usize {
        self.rings().map(Vec::len).sum()
    }

    /// Area without the holes, m^2.
    pub fn area(&self) -> f64 {
        let of = |ring: &Vec<DVec2>| polygon::signed_area(ring).abs();
        (of(&self.outline) - self.holes.iter().map(of).sum::<f64>()).max(0.0)
    }

    /// Whether a point is inside the area but in none of its holes.
    pub fn contains(&self, point: DVec2) -> bool {
        polygon::contains(&self.outline, point)
            && !self.holes.iter().any(|hole| polygon::contains(hole, point))
    }
}

impl Validate for Land {
    fn validate(&self) -> Result<(), String> {
        check_keys!(self => outline, holes)?;
        let corners = self.corners();
        if corners > MAX_LAND_CORNERS {
            return Err(format!(
                "outline: {corners} corners, including those of its holes, exceed the limit of \
                 {MAX_LAND_CORNERS}; split it into several areas"
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn square(half: f64) -> Vec<DVec2> {
        [(-half, -half), (half, -half), (half, half), (-half, half)]
            .map(DVec2::from)
            .to_vec()
    }

    #[test]
    fn a_hole_is_not_part_of_the_land() {
        let lake = Land {
            name: String::new(),
            usage: LandUse::Water,
            outline: square(10.0).into(),
            holes: vec![square(2.0)].into(),
        };
        assert_eq!(lake.area(), 400.0 - 16.0);
        assert!(lake.contains(DVec2::new(5.0, 5.0)));
        assert!(!lake.contains(DVec2::new(1.0, 1.0)));
        assert!(!lake.contains(DVec2::new(11.0, 0.0)));
    }

    #[test]
    fn every_use_has_a_word_of_its_own_and_a_place_in_the_order() {
        let mut names = LandUse::ALL.map(LandUse::name).to_vec();
        for (rank, usage) in LandUse::ALL.into_iter().enumerate() {
            assert_eq!(usage.rank(), rank);
            let text = serde_json::to_string(&usage).unwrap_or_default();
            assert_eq!(text, format!("\"{}\"", usage.name()));
        }
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), LandUse::ALL.len());
        assert!(LandUse::Water.rank() > LandUse::Park.rank());
    }
}
