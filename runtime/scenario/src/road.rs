//! Roads: reference lines with lane sections, as in OpenDRIVE.

use crate::access::RoadAccess;
use crate::defaults::{is_default, is_zero};
use crate::driving_side::DrivingSide;
use crate::ids::NodeId;
use crate::lane_type::LaneType;
use crate::named::named;
use crate::quantity::{Coefficient, Distance, OptionalQuantity, Quantity, Speed};
use crate::turn::Turns;
use roadwright_geometry::ReferenceLine;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The importance of a road, from motorway to footway.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum RoadClass {
    /// Footway or pedestrian street without cars.
    Path,
    /// Driveway, alley or parking aisle.
    Service,
    /// Street that gives access to houses.
    #[default]
    Residential,
    /// Street that collects traffic from residential streets.
    Collector,
    /// Main street through a town.
    Arterial,
    /// Slip road.
    Ramp,
    /// Road without crossing traffic.
    Motorway,
}

impl RoadClass {
    /// Returns the preferred radius of a kerb at a junction in a town, m.
    pub fn corner_radius(self) -> f64 {
        match self {
            Self::Path => 1.5,
            Self::Service => 3.0,
            Self::Residential => 4.5,
            Self::Collector => 6.0,
            Self::Arterial => 8.0,
            Self::Ramp | Self::Motorway => 25.0,
        }
    }

    /// Default speed limit, m/s.
    pub fn default_speed_limit(self) -> f64 {
        let kmh = match self {
            Self::Path => 6.0,
            Self::Service => 15.0,
            Self::Residential => 30.0,
            Self::Collector | Self::Arterial => 50.0,
            Self::Ramp => 60.0,
            Self::Motorway => 120.0,
        };
        kmh / 3.6
    }
}

/// Direction of a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LaneDirection {
    /// The usual direction on this side of the reference line, given the driving side (OpenDRIVE
    /// `standard`).
    #[default]
    Standard,
    /// The opposite direction (OpenDRIVE `reversed`): a contraflow lane.
    Reversed,
}

named! {
    /// Permitted lane changes from a lane to adjacent lanes of the same direction, as marked by the
    /// lines beside it.
    ///
    /// Sides are relative to the driver, so reversing a road does not change them. In OpenDRIVE,
    /// the line between two lanes has a `laneChange` of `both` if vehicles may change in either
    /// direction, `none` if they may change in neither, and `increase` or `decrease` if they may
    /// change in one.
    #[derive(
        Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema,
    )]
    #[serde(rename_all = "snake_case")]
    pub enum LaneChange {
        /// To either side.
        #[default]
        Both = "both",
        /// To the left only.
        Left = "left",
        /// To the right only.
        Right = "right",
        /// To neither side.
        None = "none",
    }
}

impl LaneChange {
    /// Returns the value for permitted changes to the left and to the right.
    pub fn of(left: bool, right: bool) -> Self {
        match (left, right) {
            (true, true) => Self::Both,
            (true, false) => Self::Left,
            (false, true) => Self::Right,
            (false, false) => Self::None,
        }
    }

    /// Whether vehicles may change to the left.
    pub fn to_left(self) -> bool {
        matches!(self, Self::Both | Self::Left)
    }

    /// Whether vehicles may change to the right.
    pub fn to_right(self) -> bool {
        matches!(self, Self::Both | Self::Right)
    }

    /// Returns the value with left and right swapped.
    pub fn mirrored(self) -> Self {
        Self::of(self.to_right(), self.to_left())
    }
}

/// A cubic polynomial over the distance ds from its start: a + b ds + c ds^2 + d ds^3.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Poly3 {
    /// Position from which the polynomial applies, m from the start of the road (for a lane offset)
    /// or of the section (for a width).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub s: Quantity<Distance>,
    /// Constant term, m.
    pub a: Quantity<Coefficient>,
    /// Linear term.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub b: Quantity<Coefficient>,
    /// Quadratic term, 1/m.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub c: Quantity<Coefficient>,
    /// Cubic term, 1/m^2.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub d: Quantity<Coefficient>,
}

impl Poly3 {
    /// Creates a constant polynomial.
    pub fn constant(a: f64) -> Self {
        Self {
            a: a.into(),
            ..Self::default()
        }
    }

    /// Creates a smooth step by `height` over `length` from its start: h (3 u^2 - 2 u^3) with u = s
    /// / length.
    pub fn smooth_step(height: f64, length: f64) -> Self {
        Self {
            c: (3.0 * height / length.powi(2)).into(),
            d: (-2.0 * height / length.powi(3)).into(),
            ..Self::default()
        }
    }

    /// Returns the value of the polynomial at `s`.
    pub fn value(&self, s: f64) -> f64 {
        let ds = s - self.s;
        self.a + ds * (self.b + ds * (self.c + ds * self.d))
    }

    /// Returns the value at `s` of a list of polynomials, each of which applies until the next one
    /// begins; 0 for an empty list.
    pub fn value_in(list: &[Self], s: f64) -> f64 {
        // At a border, the later polynomial applies. Before the start of the first polynomial,
        // which is at 0, the first polynomial applies, because rounding may make s slightly
        // negative.
        let index = list.partition_point(|poly| poly.s <= s);
        list.get(index.saturating_sub(1))
            .map_or(0.0, |poly| poly.value(s))
    }

    /// Returns the polynomial with its origin moved to `s`.
    pub fn rebased(&self, s: f64) -> Self {
        let ds = s - self.s;
        Self {
            s: 0.0.into(),
            a: self.value(s).into(),
            // Taylor coefficients at s: the first derivative, half of the second, and a sixth of the third.
            b: (self.b + ds * (2.0 * self.c + 3.0 * self.d * ds)).into(),
            c: (self.c + 3.0 * self.d * ds).into(),
            d: self.d,
        }
    }
}

/// One lane of a lane section.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Lane {
    /// OpenDRIVE lane id: negative to the right of the reference line, positive to the left, never 0.
    pub id: i8,
    /// Type of the lane.
    #[serde(rename = "type")]
    pub kind: LaneType,
    /// Width by distance from the start of the section, m.
    #[schemars(length(min = 1))]
    pub width: Vec<Poly3>,
    /// Driving direction.
    #[serde(default, skip_serializing_if = "is_default")]
    pub direction: LaneDirection,
    /// Speed limit of the lane if it differs from that of the road, m/s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speed_limit: OptionalQuantity<Speed>,
    /// The turns that vehicles may make at the junction ahead, shown as arrows on the lane. By default, they are
    /// derived from the turning rules. If a road has several lane sections, those of the last section before
    /// the junction apply.
    #[serde(default, skip_serializing_if = "is_default")]
    pub turns: Turns,
    /// Permitted lane changes.
    #[serde(default, skip_serializing_if = "is_default")]
    pub lane_change: LaneChange,
}

impl Lane {
    /// Creates a lane of constant width, m.
    pub fn new(id: i8, kind: LaneType, width: f64) -> Self {
        Self {
            id,
            kind,
            width: vec![Poly3::constant(width)],
            direction: LaneDirection::Standard,
            speed_limit: None.into(),
            turns: Turns::NONE,
            lane_change: LaneChange::Both,
        }
    }

    /// Whether the lane is driven in the direction of increasing s.
    pub fn is_forward(&self, side: DrivingSide) -> bool {
        //                      lane 1 (left of the line)   lane -1 (right of it)
        // right-hand traffic   against s                   along s
        // left-hand traffic    along s                     against s
        //
        // `reversed` inverts the result.
        let right_of_line = self.id < 0;
        let standard = (side == DrivingSide::Right) == right_of_line;
        standard != (self.direction == LaneDirection::Reversed)
    }
}

/// A stretch of road with a constant set of lanes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LaneSection {
    /// Start of the section, m from the start of the road.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub s: Quantity<Distance>,
    /// The lanes, by descending id (left to right).
    pub lanes: Vec<Lane>,
}

/// A road between two nodes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Road {
    /// Node at s = 0.
    pub from: NodeId,
    /// Node at the end.
    pub to: NodeId,
    /// Street name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Class of the road, which expresses its importance.
    #[serde(default)]
    pub class: RoadClass,
    /// Layer: 0 for the ground, 1 for a bridge above it, -1 for a tunnel below.
    #[serde(default, skip_serializing_if = "is_default")]
    pub layer: i8,
    /// Access to the road. Through traffic uses only roads that are open to all.
    #[serde(default, skip_serializing_if = "is_default")]
    pub access: RoadAccess,
    /// Speed limit, m/s.
    pub speed_limit: Quantity<Speed>,
    /// The line along which s is measured, and t across it. It runs from node to node. The parts
    /// inside junctions belong to the junctions.
    pub reference_line: ReferenceLine,
    /// Lateral shift of lane 0 relative to the reference line, m to the left.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lane_offset: Vec<Poly3>,
    /// Lane sections in ascending order of s. The first one starts at 0.
    #[schemars(length(min = 1))]
    pub lane_sections: Vec<LaneSection>,
}

/// One end of a road.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum RoadEnd {
    /// At s = 0.
    Start,
    /// At s = length.
    End,
}

impl RoadEnd {
    /// Returns the other end.
    pub fn opposite(self) -> Self {
        match self {
            Self::Start => Self::End,
            Self::End => Self::Start,
        }
    }
}

/// Lateral position and width of a lane at some distance along the road.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LaneBand {
    /// Lateral position of the lane's centre, m to the left of the reference line.
    pub centre: f64,
    /// Width, m.
    pub width: f64,
}

impl Road {
    /// Length of the reference line, m.
    pub fn length(&self) -> f64 {
        self.reference_line.length()
    }

    /// Returns the node at an end.
    pub fn node_at(&self, end: RoadEnd) -> NodeId {
        match end {
            RoadEnd::Start => self.from,
            RoadEnd::End => self.to,
        }
    }

    /// Returns the index of the lane section that contains `s`.
    pub fn section_index(&self, s: f64) -> usize {
        self.lane_sections
            .partition_point(|section| section.s <= s)
            .saturating_sub(1)
    }

    /// Returns the lane section that contains `s`.
    pub fn section_at(&self, s: f64) -> &LaneSection {
        &self.lane_sections[self.section_index(s)]
    }

    /// Returns the end of a lane section, m from the start of the road.
    pub fn section_end(&self, index: usize) -> f64 {
        self.lane_sections
            .get(index + 1)
            .map_or(self.length(), |next| next.s.get())
    }

    /// Returns the positions and widths of the lanes of a section at distance `s`, in the order of
    /// the section.
    pub fn lane_bands(&self, section: &LaneSection, s: f64) -> Vec<LaneBand> {
        // Lanes are stacked outwards from lane 0, which the lane offset shifts relative to the reference
        // line:
        //
        //   lane   2      1    |   -1      -2          with offset 0 and widths of 3 m:
        //       |------|-------0-------|-------|       centres 4.5, 1.5, -1.5, -4.5
        let offset = Poly3::value_in(&self.lane_offset, s);
        let width = |lane: &Lane| Poly3::value_in(&lane.width, s - section.s).max(0.0);
        section
            .lanes
            .iter()
            .map(|lane| {
                // Lanes between this one and the reference line, on the same side.
                let inner: f64 = section
                    .lanes
                    .iter()
                    .filter(|o| o.id.signum() == lane.id.signum() && o.id.abs() < lane.id.abs())
                    .map(&width)
                    .sum();
                let own = width(lane);
                LaneBand {
                    centre: offset + f64::from(lane.id.signum()) * (inner + 0.5 * own),
                    width: own,
                }
            })
            .collect()
    }

    /// Returns the position and width of a lane at distance `s`; `None` if the section at this
    /// distance has no such lane.
    pub fn lane_band(&self, lane: i8, s: f64) -> Option<LaneBand> {
        let section = self.section_at(s);
        let index = section.lanes.iter().position(|l| l.id == lane)?;
        Some(self.lane_bands(section, s)[index])
    }

    /// Returns the lane with the given id at distance `s`; `None` if there is none.
    pub fn lane(&self, lane: i8, s: f64) -> Option<&Lane> {
        self.section_at(s).lanes.iter().find(|l| l.id == lane)
    }

    /// Returns the lateral positions of the right and the left edge at distance `s`, m to the left
    /// of the reference line.
    pub fn edges(&self, s: f64) -> (f64, f64) {
        let section = self.section_at(s);
        let offset = Poly3::value_in(&self.lane_offset, s);
        self.lane_bands(section, s)
            .iter()
            .fold((offset, offset), |(right, left), band| {
                let half = 0.5 * band.width;
                (right.min(band.centre - half), left.max(band.centre + half))
            })
    }

    /// Returns the maximum distance of an edge from the reference line, measured just after the
    /// start of each section, m. At least 1, so that a road without width can be found.
    pub fn reach(&self) -> f64 {
        let sections = self.lane_sections.iter();
        let edges = sections.map(|section| self.edges(section.s + 1e-6));
        edges.fold(1.0, |reach: f64, (right, left)| reach.max(left).max(-right))
    }

    /// Returns the lateral positions of the right and the left edge of the carriageway at distance
    /// `s`, m to the left of the reference line. The carriageway is everything between the
    /// outermost lanes that are not sidewalks, or the whole road if it has only sidewalks.
    pub fn carriageway(&self, s: f64) -> (f64, f64) {
        let section = self.section_at(s);
        let bands = self.lane_bands(section, s);
        let lanes = section.lanes.iter().zip(&bands);
        let extent = lanes
            .filter(|(lane, _)| lane.kind != LaneType::Sidewalk)
            .map(|(_, band)| {
                let half = 0.5 * band.width;
                (band.centre - half, band.centre + half)
            })
            .reduce(|all, lane| (all.0.min(lane.0), all.1.max(lane.1)));
        extent.unwrap_or_else(|| self.edges(s))
    }

    /// Returns the number of drivable lanes at `s` in the direction of increasing s.
    pub fn lanes_forward(&self, s: f64, side: DrivingSide) -> usize {
        self.lanes_driven(s, |lane| lane.is_forward(side))
    }

    /// Returns the number of drivable lanes at `s` against the direction of increasing s.
    pub fn lanes_backward(&self, s: f64, side: DrivingSide) -> usize {
        self.lanes_driven(s, |lane| !lane.is_forward(side))
    }

    fn lanes_driven(&self, s: f64, has_direction: impl Fn(&Lane) -> bool) -> usize {
        self.section_at(s)
            .lanes
            .iter()
            .filter(|lane| lane.kind.is_drivable() && has_direction(lane))
            .count()
    }

    /// Whether any lane carries motor vehicles.
    pub fn is_drivable(&self) -> bool {
        self.lane_sections
            .iter()
            .any(|section| section.lanes.iter().any(|lane| lane.kind.is_drivable()))
    }
}

/// The lanes of a new road by direction. Each lane has a type and a width in metres.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CrossSection {
    /// Lanes in the direction of the road, from the middle of the road outwards.
    pub forward: Vec<(LaneType, f64)>,
    /// Lanes in the opposite direction, from the middle of the road outwards.
    pub backward: Vec<(LaneType, f64)>,
}

impl CrossSection {
    /// Creates a cross-section with driving lanes only: `forward` and `backward` lanes of `width`
    /// metres each.
    pub fn driving(forward: usize, backward: usize, width: f64) -> Self {
        Self {
            forward: vec![(LaneType::Driving, width); forward],
            backward: vec![(LaneType::Driving, width); backward],
        }
    }

    /// Adds an outer lane on each side that has lanes.
    pub fn with_border(mut self, kind: LaneType, width: f64) -> Self {
        self.forward.push((kind, width));
        self.backward.push((kind, width));
        self
    }

    /// Converts the cross-section to a lane offset and a lane section.
    ///
    /// A one-way road is centred on its reference line. On a two-way road, the line runs between
    /// the two directions.
    pub fn lanes(&self, side: DrivingSide) -> (Vec<Poly3>, LaneSection) {
        // Traffic along the road keeps to the driving side, so in right-hand traffic its lanes have
        // negative ids.
        let sign: i8 = if side == DrivingSide::Right { -1 } else { 1 };
        let numbered = |list: &[(LaneType, f64)], sign: i8| {
            list.iter()
                .zip(1i8..)
                .map(move |(&(kind, width), i)| Lane::new(sign * i, kind, width))
                .collect::<Vec<_>>()
        };
        let mut lanes = numbered(&self.forward, sign);
        lanes.extend(numbered(&self.backward, -sign));
        lanes.sort_by_key(|lane| -lane.id);
        let drivable = |list: &[(LaneType, f64)]| list.iter().any(|(kind, _)| kind.is_drivable());
        let total = |list: &[(LaneType, f64)]| list.iter().map(|(_, width)| width).sum::<f64>();
        let two_way = drivable(&self.forward) && drivable(&self.backward);
        // On a one-way road in right-hand traffic, two lanes of 3 m are lanes -1 and -2, which extend from 0
        // to -6 m. An offset of +3 m moves them to 3 to -3 m. Sidewalks and parking lanes do not make a road
        // two-way.
        let offset = if two_way {
            0.0
        } else {
            0.5 * f64::from(sign) * (total(&self.backward) - total(&self.forward))
        };
        let lane_offset = if offset == 0.0 {
            vec![]
        } else {
            vec![Poly3::constant(offset)]
        };
        (
            lane_offset,
            LaneSection {
                s: 0.0.into(),
                lanes,
            },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DVec2;

    fn road(section: CrossSection, side: DrivingSide) -> Road {
        let (lane_offset, lanes) = section.lanes(side);
        Road {
            from: NodeId(0),
            to: NodeId(1),
            name: String::new(),
            class: RoadClass::Residential,
            layer: 0,
            access: RoadAccess::All,
            speed_limit: 10.0.into(),
            reference_line: ReferenceLine::straight(DVec2::ZERO, DVec2::new(100.0, 0.0)).unwrap(),
            lane_offset,
            lane_sections: vec![lanes],
        }
    }

    #[test]
    fn right_hand_lanes_lie_right_of_their_direction() {
        let road = road(CrossSection::driving(1, 1, 3.0), DrivingSide::Right);
        assert_eq!(road.lane_band(-1, 5.0).unwrap().centre, -1.5);
        assert!(road.lane(-1, 5.0).unwrap().is_forward(DrivingSide::Right));
        assert!(!road.lane(1, 5.0).unwrap().is_forward(DrivingSide::Right));
        assert_eq!(road.edges(5.0), (-3.0, 3.0));
    }

    #[test]
    fn a_one_way_road_is_centred_on_its_line_on_either_side() {
        for side in [DrivingSide::Left, DrivingSide::Right] {
            let road = road(CrossSection::driving(2, 0, 3.0), side);
            assert_eq!(road.edges(5.0), (-3.0, 3.0), "{side:?}");
            assert_eq!(road.lanes_forward(5.0, side), 2);
        }
    }

    #[test]
    fn a_rebased_polynomial_has_the_same_values() {
        let poly = Poly3 {
            s: 5.0.into(),
            a: 1.0.into(),
            b: 0.2.into(),
            c: (-0.03).into(),
            d: 0.001.into(),
        };
        let later = poly.rebased(12.0);
        assert!((later.value(3.0) - poly.value(15.0)).abs() < 1e-12);
    }
}
