//! Vertical extents of obstacles and vehicles, which determine the obstacles that a vehicle can hit.

use crate::objects::Obstacle;
use crate::vehicle_file::Trailer;
use crate::vehicle_type::VehicleType;

/// A vertical range above the ground.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VerticalSpan {
    /// Lower edge, m.
    pub low: f64,
    /// Top, m. If the top is not above the lower edge, the span is empty.
    pub high: f64,
}

impl VerticalSpan {
    /// Whether a vehicle of the given span can hit an obstacle of this span. A vehicle drives over obstacles
    /// that are no higher than its ground clearance, and passes underneath obstacles that begin at or above
    /// its height.
    #[inline]
    pub fn is_met_by(self, vehicle: Self) -> bool {
        self.high > vehicle.low && self.low < vehicle.high && self.low < self.high
    }

    /// Whether two spans overlap.
    pub fn overlaps(self, other: Self) -> bool {
        self.low < other.high && other.low < self.high
    }

    /// Returns the smallest span that contains both spans.
    pub fn joined(self, other: Self) -> Self {
        Self {
            low: self.low.min(other.low),
            high: self.high.max(other.high),
        }
    }
}

impl Obstacle {
    /// Vertical extent of the obstacle.
    pub fn vertical_span(&self) -> VerticalSpan {
        VerticalSpan {
            low: self.base.get(),
            high: self.height.get(),
        }
    }

    /// Whether the obstacle is above the ground and does not touch it.
    pub fn hangs(&self) -> bool {
        self.base > 0.0
    }
}

impl VehicleType {
    /// Default ground clearance of vehicles and trailers as a fraction of their height.
    pub const COMMON_CLEARANCE: f64 = 0.12;

    /// Ground clearance of the vehicle, m: the value in its file, or 0.12 of the vehicle's height. The
    /// vehicle can drive over obstacles lower than this.
    pub fn ground_clearance(&self) -> f64 {
        let file = self.file.as_ref();
        let of_file = file.map(|file| file.vehicle.body.ground_clearance.get());
        of_file.unwrap_or(Self::COMMON_CLEARANCE * self.height)
    }

    /// Returns the range of heights from the ground clearance to the top of the vehicle, without
    /// its trailers.
    pub fn vertical_span(&self) -> VerticalSpan {
        VerticalSpan {
            low: self.ground_clearance(),
            high: self.height.get(),
        }
    }

    /// Returns the spans of the vehicle's trailers, from front to back.
    pub fn trailer_spans(&self) -> impl Iterator<Item = VerticalSpan> {
        let trailers = self.file.iter().flat_map(|file| &file.vehicle.trailers);
        trailers.map(Trailer::vertical_span)
    }

    /// Returns the range of heights from the lowest ground clearance to the highest top among the
    /// vehicle and its trailers.
    pub fn whole_span(&self) -> VerticalSpan {
        self.trailer_spans()
            .fold(self.vertical_span(), VerticalSpan::joined)
    }
}

impl Trailer {
    /// Ground clearance of the trailer, m: the value in its file, or 0.12 of the trailer's height. The
    /// trailer passes over obstacles lower than this.
    pub fn clearance(&self) -> f64 {
        let common = VehicleType::COMMON_CLEARANCE * self.height;
        self.ground_clearance.get().unwrap_or(common)
    }

    /// Returns the range of heights from the ground clearance to the top of the trailer.
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
        // Obstacles above the vehicle: at or above the vehicle's height, and just below it.
        assert!(!span(2.5, 3.0).is_met_by(jeep));
        assert!(!span(1.8, 3.0).is_met_by(jeep));
        assert!(span(1.79, 3.0).is_met_by(jeep));
        // Obstacles below the vehicle: at its ground clearance, and just above it.
        assert!(!span(0.0, 0.2).is_met_by(jeep));
        assert!(span(0.0, 0.21).is_met_by(jeep));
        // An empty span.
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
