//! Courses `park-parallel`, `park-perpendicular` and `park-trailer`: a car parks in a bay beside a street, in a real
//! world.
//!
//! ```text
//!   ____________________________   kerb
//!                       <-car
//!     car->                        street of 7 m
//!         ______     ______
//!        | car  |bay| car  |       bay of 6.5 m beside a kerb
//!   _____|______|___|______|____
//! ```
//!
//! Kerbs are obstacles, so a vehicle that crosses a kerb touches an obstacle. The side of the street with the
//! bay, the lane and direction from which the car arrives, its start, and the positions of the two parked
//! cars are random. In a perpendicular bay, the direction that the car has to face is also random.
//!
//! In `park-trailer`, a car with a caravan backs into a bay between two hedges at right angles to a yard. Side,
//! direction and start are random.

use super::draft::{Draft, Trip};
use super::manoeuvre::parking::a_box;
use super::{Course, Ends, Kind};
use roadwright_geometry::math::{Stream, wrap_angle};
use roadwright_geometry::{DVec2, Pose};
use roadwright_scenario::vehicle_file::{FileReference, SHIPPED, VehicleFile, hash};
use roadwright_scenario::{Edit, Place, VehicleType};
use std::f64::consts::{FRAC_PI_2, PI};
use std::sync::Arc;

/// Width of the yard from which a trailer is backed into its bay, m.
const YARD: f64 = 16.0;
/// Length of the yard, m.
const YARD_LENGTH: f64 = 90.0;
/// Width and depth of the bay for a car with its trailer, m.
const LONG_BAY: (f64, f64) = (3.4, 12.0);
/// Distance of the trailer's rear end from the end of its bay, m.
const FROM_END: f64 = 0.6;
/// Vehicle type of the car with a caravan.
const CARAVAN: &str = "escort_caravan";
/// Time limit, s.
const TIME: f64 = 90.0;
/// Length of the street, m.
const STREET: f64 = 70.0;
/// Width of the street beside the bays, m.
const WIDTH: f64 = 7.0;
/// Width of the aisle beside perpendicular bays, m.
const AISLE: f64 = 6.5;
/// Distance between the bumpers of the cars beside a parallel bay, m.
const GAP: f64 = 6.5;
/// Width of perpendicular bays, m.
const BAY_WIDTH: f64 = 2.5;
/// Depth of perpendicular bays, m.
const BAY_DEPTH: f64 = 5.0;
/// Length and width of parked cars, m.
const OTHER: (f64, f64) = (4.5, 1.8);
/// Distance of parked cars from the kerb, m.
const FROM_KERB: f64 = 0.3;
/// Maximum deviation of parked cars from their positions, m.
const OTHERS_OFF: f64 = 0.1;
/// Maximum deviation of parked cars in heading, rad.
const OTHERS_ASKEW: f64 = 0.03;
/// Height of kerbs, m. It is more than the ground clearance of a car.
const KERB: f64 = 0.3;
/// Thickness of kerbs, m.
const THICKNESS: f64 = 0.5;

/// Orientation of a bay relative to its street.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bay {
    Parallel,
    Perpendicular,
    Trailer,
}

/// Maximum deviations of a vehicle that counts as parked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Parked {
    /// Maximum distance of the rear axle from its target position, m.
    pub(crate) distance: f64,
    /// Maximum difference from the target heading, rad.
    pub(crate) angle: f64,
    /// Speed below which the vehicle counts as stationary, m/s.
    pub(crate) speed: f64,
}

/// The maximum deviations that the courses accept.
const PARKED: Parked = Parked {
    distance: 0.2,
    angle: 5.0 * PI / 180.0,
    speed: 0.05,
};

impl Bay {
    pub(super) const ALL: [Self; 3] = [Self::Parallel, Self::Perpendicular, Self::Trailer];

    /// Name of the course.
    fn name(self) -> &'static str {
        match self {
            Self::Parallel => "park-parallel",
            Self::Perpendicular => "park-perpendicular",
            Self::Trailer => "park-trailer",
        }
    }
}

pub(super) fn course(bay: Bay) -> Course {
    let (vehicle, doc) = match bay {
        Bay::Parallel => (
            "car",
            "A car parks beside a kerb between two cars that are 6.5 m apart, from either side of the street; it \
             has 90 s.",
        ),
        Bay::Perpendicular => (
            "car",
            "A car parks in a 2.5 x 5 m bay at right angles to a 6.5 m aisle, forwards or in \
             reverse; it has 90 s.",
        ),
        Bay::Trailer => (
            CARAVAN,
            "A car backs its caravan into a 3.4 x 12 m bay at right angles to a 16 m yard; it has \
             90 s.",
        ),
    };
    Course {
        name: bay.name().into(),
        doc: doc.into(),
        vehicle,
        driver: "lqr",
        fitness: "safe_arrival",
        ends: Ends {
            contact: true,
            ..Ends::after(TIME)
        },
        kind: Kind::Bay(bay),
    }
}

impl Course {
    /// Returns the maximum deviations of a parked vehicle; `None` if the course does not end in a
    /// bay.
    pub(crate) fn parked(&self) -> Option<Parked> {
        matches!(self.kind, Kind::Bay(_)).then_some(PARKED)
    }

    /// Whether drivers have to park in a bay of a real world: `park-parallel`, `park-perpendicular` and `park-trailer`.
    pub fn is_in_bay(&self) -> bool {
        self.parked().is_some()
    }
}

pub(super) fn draft(bay: Bay, seed: u64) -> Draft {
    let name = bay.name();
    let width = match bay {
        Bay::Parallel => WIDTH,
        Bay::Perpendicular => AISLE,
        Bay::Trailer => return trailer_draft(seed),
    };
    let mut draft = Draft::new(name, seed, TIME);
    let mut stream = Stream::new(seed, name, 0);
    let mirror = match stream.next_unit() < 0.5 {
        true => -1.0,
        false => 1.0,
    };
    let place = |pose: Pose| Pose {
        position: mirrored(pose.position, mirror),
        heading: wrap_angle(mirror * pose.heading),
    };
    // The street is along x with its middle at y = 0, and the bay is at negative y.
    let edge = -0.5 * width;
    let depth = match bay {
        Bay::Parallel => OTHER.1 + 2.0 * FROM_KERB,
        _ => BAY_DEPTH,
    };
    let (across, beside, heading) = match bay {
        Bay::Parallel => (edge - 0.5 * depth, GAP + OTHER.0, 0.0),
        _ => (edge - 0.5 * depth, 2.0 * BAY_WIDTH, FRAC_PI_2),
    };
    for side in [-0.5, 0.5] {
        let mut off = |most: f64| stream.next_in(-most, most);
        let along = match bay {
            // Deviations never make the gap shorter than its nominal length.
            Bay::Parallel => side * (beside + off(OTHERS_OFF).abs()),
            _ => side * beside + off(OTHERS_OFF),
        };
        let turned = heading + off(OTHERS_ASKEW);
        let at = place(Pose::new(along, across + off(OTHERS_OFF), turned));
        let (length, width) = OTHER;
        let shape = a_box(at.position.x, at.position.y, at.heading, length, width);
        draft.obstacle("parked car", shape, 1.5);
    }
    for y in [
        edge - depth - 0.5 * THICKNESS,
        0.5 * width + 0.5 * THICKNESS,
    ] {
        let at = place(Pose::new(0.0, y, 0.0));
        let shape = a_box(at.position.x, at.position.y, 0.0, STREET, THICKNESS);
        draft.obstacle("kerb", shape, KERB);
    }
    let direction = match stream.next_unit() < 0.5 {
        true => 1.0,
        false => -1.0,
    };
    let start = place(Pose::new(
        -direction * stream.next_in(8.0, 16.0),
        -direction * 0.25 * width + stream.next_in(-0.3, 0.3),
        0.5 * (1.0 - direction) * PI + stream.next_in(-0.05, 0.05),
    ));
    let faces = match bay {
        Bay::Parallel => 0.0,
        _ if stream.next_unit() < 0.5 => FRAC_PI_2,
        _ => -FRAC_PI_2,
    };
    let body = place(Pose::new(0.0, across, faces));
    let axle = body.point(-VehicleType::car().body_centre(), 0.0);
    draft.trip(Trip {
        start: Place::ground(start.position.x, start.position.y, start.heading),
        starts_by_middle: true,
        via: Vec::new(),
        destination: Place::ground(axle.x, axle.y, body.heading),
        speed: 0.0,
    });
    draft
}

/// Creates a car with a caravan in a yard, and the bay into which it has to back.
fn trailer_draft(seed: u64) -> Draft {
    let mut draft = Draft::new(Bay::Trailer.name(), seed, TIME);
    let mut stream = Stream::new(seed, Bay::Trailer.name(), 0);
    let mut sign = || if stream.next_unit() < 0.5 { -1.0 } else { 1.0 };
    let (mirror, direction) = (sign(), sign());
    let place = |pose: Pose| Pose {
        position: mirrored(pose.position, mirror),
        heading: wrap_angle(mirror * pose.heading),
    };
    // The yard leads along x, its edge is y = 0, and the bay lies at negative y.
    let (width, depth) = LONG_BAY;
    let beside = 0.5 * (YARD_LENGTH - width);
    let hedges = [
        [0.0, YARD + 0.5 * THICKNESS, YARD_LENGTH, THICKNESS],
        [
            0.0,
            -depth - 0.5 * THICKNESS,
            width + 2.0 * THICKNESS,
            THICKNESS,
        ],
        [-0.5 * (width + THICKNESS), -0.5 * depth, THICKNESS, depth],
        [0.5 * (width + THICKNESS), -0.5 * depth, THICKNESS, depth],
        [-0.5 * (width + beside), -0.5 * THICKNESS, beside, THICKNESS],
        [0.5 * (width + beside), -0.5 * THICKNESS, beside, THICKNESS],
    ];
    for [x, y, length, width] in hedges {
        let at = place(Pose::new(x, y, 0.0));
        let shape = a_box(at.position.x, at.position.y, 0.0, length, width);
        draft.obstacle("hedge", shape, 1.5);
    }
    let start = place(Pose::new(
        -direction * stream.next_in(4.0, 16.0),
        0.5 * YARD + stream.next_in(-1.5, 1.5),
        0.5 * (1.0 - direction) * PI + stream.next_in(-0.1, 0.1),
    ));
    let (caravan, behind) = caravan();
    draft.apply(Edit::VehicleType(CARAVAN.into(), Some(Box::new(caravan))));
    let parked = place(Pose::new(0.0, FROM_END + behind - depth, FRAC_PI_2));
    draft.trip(Trip {
        start: Place::ground(start.position.x, start.position.y, start.heading),
        starts_by_middle: true,
        via: Vec::new(),
        destination: Place::ground(parked.position.x, parked.position.y, parked.heading),
        speed: 0.0,
    });
    draft
}

/// Returns the shipped car with a caravan, and the distance from its rear axle to the rear end of the caravan, m.
fn caravan() -> (VehicleType, f64) {
    let shipped = SHIPPED.iter().find(|one| one.name == "escort-caravan");
    let shipped = shipped.expect("the car with a caravan ships with the program");
    let file = VehicleFile::from_text(shipped.text).expect("shipped vehicles are valid");
    let (_, rear) = file.axles();
    let trailers = file.trailers.iter();
    let behind = trailers.map(|trailer| trailer.length - trailer.front);
    let behind = rear - file.coupling().unwrap_or(rear) + behind.fold(0.0, f64::max);
    let kind = VehicleType {
        file: Some(Arc::new(FileReference {
            path: shipped.path.into(),
            hash: hash(shipped.text),
            was: None,
            vehicle: file.clone(),
        })),
        ..file.vehicle_type()
    };
    (kind, behind)
}

/// Mirrors a position in the x axis if `mirror` is -1.
fn mirrored(position: DVec2, mirror: f64) -> DVec2 {
    DVec2::new(position.x, mirror * position.y)
}
