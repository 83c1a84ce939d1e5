//! Heights between which obstacles and vehicles lie, and which obstacles a vehicle meets.

use crate::objects::Obstacle;
use crate::vehicle_file::Trailer;
use crate::vehicle_type::VehicleType;

/// Lower edge and top above the ground below them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VerticalSpan {
    /// Lower edge, m.
    pub low: f64,
    /// Top, m. Nothing is between a lower edge and a top that is not above it.
    pub high: f64,
}

impl VerticalSpan {
    /// Whether a vehicle collides with an obstacle of this span. An obstacle that ends at the vehicle's ground
    /// clearance is driven over, and one that begins at its height is passed underneath.
    #[inline]
    pub fn is_met_by(self, vehicle: Self) -> bool {
        self.high > vehicle.low && self.low < vehicle.high && self.low < self.high
    }

    /// Whether two spans share any height.
    pub fn overlaps(self, other: Self) -> bool {
        self.low < other.high && other.low < self.high
    }

    /// The span from the lower of two lower edges to the higher of two tops.
    pub fn joined(self, other: Self) -> Self {
        Self {
            low: self.low.min(other.low),
            high: self.high.max(other.high),
        }
    }
}

impl Obstacle {
    /// Heights between which the obstacle is.
    pub fn vertical_span(&self) -> VerticalSpan {
        VerticalSpan {
            low: self.base.get(),
            high: self.height.get(),
        }
    }

    /// Whether there is nothing below the obstacle.
    pub fn hangs(&self) -> bool {
        self.base > 0.0
    }
}

impl VehicleType {
    /// Default ground clearance of vehicles and trailers as a fraction of their height.
    pub const COMMON_CLEARANCE: f64 = 0.12;

    /// Height below which the vehicle drives over things, m: that of its file, or 0.12 of its height.
    pub fn ground_clearance(&self) -> f64 {
        let file = self.file.as_ref();
        let of_file = file.map(|file| file.vehicle.body.ground_clearance.get());
        of_file.unwrap_or(Self::COMMON_CLEARANCE * self.height)
    }

    /// Heights from the ground clearance to the top of the vehicle, without its trailers.
    pub fn vertical_span(&self) -> VerticalSpan {
        VerticalSpan {
            low: self.ground_clearance(),
            high: self.height.get(),
        }
    }

    /// The spans of its trailers, from the front.
    pub fn trailer_spans(&self) -> impl Iterator<Item = VerticalSpan> {
        let trailers = self.file.iter().flat_map(|file| &file.vehicle.trailers);
        trailers.map(Trailer::vertical_span)
    }

    /// Heights from the lowest ground clearance to the highest top of the vehicle and its trailers.
    pub fn whole_span(&self) -> VerticalSpan {
        self.trailer_spans()
            .fold(self.vertical_span(), VerticalSpan::joined)
    }
}

impl Trailer {
    /// Height below which the trailer is driven over things, m: that of its file, or 0.12 of its height.
    pub fn clearance(&self) -> f64 {
        let common = VehicleType::COMMON_CLEARANCE * self.height;
        self.ground_clearance.get().unwrap_or(common)
    }

    /// Heights from the ground clearance to the top of the trailer.
    pub fn vertical_span(&self) -> VerticalSpan {
        VerticalSpan {
            low: self.clearance(),
            high: self.height.get(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(low: f64, high: f64) -> VerticalSpan {
        VerticalSpan { low, high }
    }

    #[test]
    fn what_only_touches_a_vehicle_is_not_met() {
        let jeep = span(0.2, 1.8);
        // Above, up to its height, and from just below it.
        assert!(!span(2.5, 3.0).is_met_by(jeep));
        assert!(!span(1.8, 3.0).is_met_by(jeep));
        assert!(span(1.79, 3.0).is_met_by(jeep));
        // Below, up to its clearance, and just above it.
        assert!(!span(0.0, 0.2).is_met_by(jeep));
        assert!(span(0.0, 0.21).is_met_by(jeep));
        // Nothing at all.
        assert!(!span(1.0, 1.0).is_met_by(jeep));
        assert!(!span(1.5, 1.0).is_met_by(jeep));
    }

    #[test]
    fn the_tallest_of_vehicle_and_trailers_counts() {
        let joined = span(0.2, 1.8).joined(span(0.5, 3.0));
        assert_eq!(joined, span(0.2, 3.0));
        assert!(span(2.5, 3.5).is_met_by(joined));
    }
}
