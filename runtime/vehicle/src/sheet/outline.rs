//! The outline of a vehicle for drawing to scale.

use super::Sheet;
use roadwright_scenario::vehicle_file::VehicleFile;

/// Positions of the parts of a vehicle at rest on level ground, in metres: ahead of the centre of its body,
/// to the left, and above the ground.
#[derive(Debug, Clone, PartialEq)]
pub struct Outline {
    /// Half the length and half the width of the hull.
    pub half: [f64; 2],
    /// Heights of the lower and upper edge of the hull.
    pub heights: [f64; 2],
    /// Centres of the wheels, in file order.
    pub wheels: Vec<[f64; 3]>,
    /// Whether each wheel steers.
    pub steers: Vec<bool>,
    /// Radius of the wheels.
    pub radius: f64,
    /// Height of the centre of gravity, if given in the file. In plan view, the centre of gravity
    /// is at the centre of the body.
    pub centre: Option<f64>,
    /// Whether the hull has springs.
    pub is_sprung: bool,
    /// Trailers in line behind the vehicle, from front to back.
    pub trailers: Vec<TrailerOutline>,
}

/// Positions of the parts of a trailer, in the frame of the towing vehicle.
#[derive(Debug, Clone, PartialEq)]
pub struct TrailerOutline {
    /// Front and rear end of the trailer's body, m ahead of the centre of the towing vehicle's
    /// body.
    pub ends: [f64; 2],
    /// Heights of the lower and upper edge of the trailer's body, m above the ground. Files specify
    /// only the upper edge.
    pub heights: [f64; 2],
    /// Position of the trailer's coupling, m ahead of the centre of the towing vehicle's body.
    pub coupling: f64,
    /// Positions of the trailer's axles, m ahead of the centre of the towing vehicle's body, from
    /// front to back.
    pub axles: Vec<f64>,
    /// Radius of the trailer's wheels, m.
    pub radius: f64,
    /// Half the trailer's width, m.
    pub half_width: f64,
}

impl From<&VehicleFile> for Outline {
    fn from(file: &VehicleFile) -> Self {
        let body = &file.body;
        let middle = body.ground_clearance + 0.5 * body.height;
        let places = file.wheels.positions.iter();
        let steers = (0u8..)
            .take(file.wheels.positions.len())
            .map(|number| file.steering.wheels.contains(&number));
        Self {
            half: [0.5 * body.length, 0.5 * body.width],
            heights: [
                body.ground_clearance.get(),
                body.ground_clearance + body.height,
            ],
            wheels: places.map(|&[x, y, z]| [x, y, middle + z]).collect(),
            steers: steers.collect(),
            radius: file.wheels.radius.get(),
            centre: body.centre_height.get(),
            is_sprung: file.suspension.is_some(),
            trailers: trailers(file),
        }
    }
}

/// Returns the outlines of a file's trailers, in line.
fn trailers(file: &VehicleFile) -> Vec<TrailerOutline> {
    let mut coupling = file.coupling().unwrap_or(-0.5 * file.body.length);
    let low = file.body.ground_clearance;
    let outlines = file.trailers.iter().map(|trailer| {
        let joined = coupling;
        coupling += trailer.next_coupling();
        let axles = trailer.axles().into_iter();
        let wheels = trailer.wheels.unwrap_or_default();
        TrailerOutline {
            ends: [joined + trailer.front, joined + trailer.rear()],
            // The lower edge is at the ground clearance of the towing vehicle, but not above half
            // the trailer's height.
            heights: [low.min(0.5 * trailer.height), trailer.height.get()],
            coupling: joined,
            axles: axles.map(|axle| joined + axle).collect(),
            radius: wheels.radius.unwrap_or(file.wheels.radius.get()),
            half_width: 0.5 * trailer.width,
        }
    });
    outlines.collect()
}

impl Outline {
    /// Returns the bounding box: the longitudinal range, the lateral range, and the height.
    pub fn extent(&self) -> ([f64; 2], [f64; 2], f64) {
        let mut ahead = [-self.half[0], self.half[0]];
        let mut left = [-self.half[1], self.half[1]];
        let mut top = self.heights[1];
        for [x, y, z] in &self.wheels {
            ahead = [ahead[0].min(x - self.radius), ahead[1].max(x + self.radius)];
            left = [left[0].min(*y), left[1].max(*y)];
            top = top.max(z + self.radius);
        }
        for trailer in &self.trailers {
            let [front, rear] = trailer.ends;
            ahead = [ahead[0].min(rear), ahead[1].max(front)];
            left = [
                left[0].min(-trailer.half_width),
                left[1].max(trailer.half_width),
            ];
            top = top.max(trailer.heights[1]);
        }
        (ahead, left, top.max(self.centre.unwrap_or(0.0)))
    }
}

impl Sheet<'_> {
    /// Returns the outline of the vehicle.
    pub fn outline(&self) -> Outline {
        Outline::from(self.file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive_train::tests::shipped;

    #[test]
    fn wheels_stand_on_the_ground_and_the_hull_above_it() {
        let outline = Outline::from(&shipped("willys-mb"));
        for [_, _, height] in &outline.wheels {
            assert!((height - outline.radius).abs() < 1e-9, "{outline:?}");
        }
        assert_eq!(outline.heights, [0.22, 1.59]);
        assert_eq!(outline.steers, [false, false, true, true]);
        let (ahead, left, top) = outline.extent();
        // The front wheels protrude from the hull.
        assert!(
            (ahead[1] - 1.76).abs() < 1e-9 && ahead[0] == -1.67,
            "{ahead:?}"
        );
        assert_eq!((left, top), ([-0.785, 0.785], 1.59));
        assert!(outline.trailers.is_empty());
    }

    #[test]
    fn trailers_stand_in_line_behind_what_tows_them() {
        let mut file = shipped("escort-caravan");
        let second = file.trailers[0].clone();
        file.trailers.push(second);
        let outline = Outline::from(&file);
        let [first, second] = &outline.trailers[..] else {
            panic!("{outline:?}");
        };
        let (kind, joined) = (&file.trailers[0], file.coupling().unwrap());
        assert_eq!(first.coupling, joined);
        assert!((first.ends[0] - joined - kind.front).abs() < 1e-12);
        assert!((first.ends[0] - first.ends[1] - kind.length).abs() < 1e-12);
        assert!((first.coupling - first.axles[0] - kind.coupling_to_axle).abs() < 1e-12);
        assert_eq!(
            (first.axles.len(), first.radius),
            (1, file.wheels.radius.get())
        );
        // The second trailer is coupled to the first at the same distance as the first is coupled to the car.
        assert!((second.coupling - joined - kind.next_coupling()).abs() < 1e-12);
        let (ahead, left, top) = outline.extent();
        assert_eq!(ahead[0], second.ends[1]);
        assert_eq!((left[1], top), (0.5 * kind.width, kind.height.get()));
    }

    #[test]
    fn a_trailer_stands_on_all_of_its_axles() {
        let file = shipped("semi-trailer-truck");
        let outline = Outline::from(&file);
        let trailer = &outline.trailers[0];
        let joined = file.coupling().unwrap();
        assert_eq!(
            trailer.axles,
            [-6.79, -8.1, -9.41].map(|axle| joined + axle)
        );
        assert_eq!(trailer.radius, 0.5);
    }
}
