//! Requests of controllers for data in addition to their rows (extension `roadwright.needs/1`), and such data
//! for trials.

use super::backend::Fault;
use roadwright_agent::{ModuleKind, Needs, PathNeeds, Views};
use roadwright_geometry::math::{cos, sin};
use roadwright_plugin_api::abi::{NEED_MOTION, NEED_PATH, NEED_VEHICLES, NEEDS_EXTENSION, RwNeeds};
use roadwright_plugin_api::{MotionInput, NO_INDEX, NeedsInput, PathPoint, VehicleData};

/// Groups of data that a controller can request, with their names.
const GROUPS: [(u64, &str); 3] = [
    (NEED_MOTION, "RW_NEED_MOTION"),
    (NEED_VEHICLES, "RW_NEED_VEHICLES"),
    (NEED_PATH, "RW_NEED_PATH"),
];
/// Maximum number of points of a path.
const MOST_POINTS: u32 = 1000;
/// Maximum length of a path ahead, in metres or in seconds.
const FARTHEST: f64 = 1000.0;
const LONGEST: f64 = 60.0;
/// Smallest and largest distance between the points of a path, m.
const SPACINGS: (f64, f64) = (0.1, 50.0);

/// Empty needs, to be filled in by a plugin.
pub(crate) const NOTHING_NEEDED: RwNeeds = RwNeeds {
    size: size_of::<RwNeeds>() as u32,
    path_most: 0,
    groups: 0,
    path_distance: 0.0,
    path_time: 0.0,
    path_spacing: 0.0,
};

/// Checks the request of a plugin of the given kind.
pub(crate) fn checked(raw: &RwNeeds, kind: ModuleKind) -> Result<Needs, Fault> {
    let refused = |what: String| {
        Fault::fatal(format!(
            "it requests {what} through {NEEDS_EXTENSION}; correct the request in its function `needs`"
        ))
    };
    let known = GROUPS.iter().fold(0, |bits, (bit, _)| bits | bit);
    let unknown = raw.groups & !known;
    if unknown != 0 {
        let bits = (0..64).filter(|bit| (unknown >> bit) & 1 == 1);
        let bits: Vec<String> = bits.map(|bit| (1u64 << bit).to_string()).collect();
        let known: Vec<String> = GROUPS
            .iter()
            .map(|(bit, name)| format!("{name} ({bit})"))
            .collect();
        return Err(Fault::fatal(format!(
            "it requests the groups {} through {NEEDS_EXTENSION}, but this version knows only {}; update Roadwright or \
             build the plugin with this version's header",
            bits.join(", "),
            known.join(", ")
        )));
    }
    if kind != ModuleKind::Controller {
        let asked = GROUPS.iter().filter(|(bit, _)| raw.groups & bit != 0);
        let names: Vec<&str> = asked.map(|(_, name)| *name).collect();
        if !names.is_empty() {
            return Err(refused(format!(
                "{}, which only controllers get,",
                names.join(" and ")
            )));
        }
    }
    let path = (raw.groups & NEED_PATH != 0).then_some(PathNeeds {
        distance: raw.path_distance,
        time: raw.path_time,
        spacing: raw.path_spacing,
        most: raw.path_most,
    });
    if let Some(path) = &path {
        let numbers = [
            ("path_distance", path.distance, (0.0, FARTHEST)),
            ("path_time", path.time, (0.0, LONGEST)),
            ("path_spacing", path.spacing, SPACINGS),
            (
                "path_most",
                f64::from(path.most),
                (2.0, f64::from(MOST_POINTS)),
            ),
        ];
        for (name, value, (low, high)) in numbers {
            // NaN is in no range.
            if !(low..=high).contains(&value) {
                return Err(refused(format!(
                    "RW_NEED_PATH with {name} = {value}, which is outside {low} to {high}"
                )));
            }
        }
    }
    Ok(Needs {
        motion: raw.groups & NEED_MOTION != 0,
        vehicles: raw.groups & NEED_VEHICLES != 0,
        path,
    })
}

/// Number of roads in lists for trials.
const ROADS: usize = 8;

/// Lists for trials and examinations: a car, and roads with different bends.
pub(crate) struct TrialViews {
    needs: Needs,
    vehicles: Vec<VehicleData>,
    path: Vec<PathPoint>,
    /// Number of points of a road.
    count: u32,
}

impl TrialViews {
    pub(crate) fn new(needs: Needs) -> Self {
        let mut all = Self {
            needs,
            vehicles: Vec::new(),
            path: Vec::new(),
            count: 0,
        };
        if needs.vehicles {
            all.vehicles.push(VehicleData {
                length: 4.5,
                width: 1.8,
                height: 1.5,
                wheelbase: 2.7,
                axle_to_front: 3.6,
                axle_to_rear: 0.9,
                max_speed: 50.0,
                max_acceleration: 3.0,
                max_braking: 8.0,
                max_steering: 0.6,
                max_steering_rate: 0.9,
                ..VehicleData::default()
            });
        }
        if let Some(wanted) = &needs.path {
            all.count = wanted.points(30.0) as u32;
            for road in 0..ROADS {
                // The first road is straight; the others bend to either side.
                let curvature = [0.0, 0.01, -0.01, 0.03, -0.03, 0.08, -0.08, 0.002][road];
                all.path
                    .extend(arc(curvature, wanted.spacing, all.count as usize));
            }
        }
        all
    }

    pub(crate) fn views(&self) -> Views<'_> {
        Views {
            vehicles: &self.vehicles,
            hitches: &[],
            vehicles_version: 1,
            path: &self.path,
        }
    }

    /// Makes a row refer to a road, and omits the data that were not requested.
    pub(crate) fn place(&self, input: &mut NeedsInput, road: u32) {
        if !self.needs.motion {
            input.motion = MotionInput::default();
        }
        input.vehicle = NO_INDEX;
        if let Some(vehicle) = self.vehicles.first() {
            input.vehicle = 0;
            (input.seen.wheelbase, input.seen.length) = (vehicle.wheelbase, vehicle.length);
        }
        input.path_count = self.count;
        if self.needs.path.is_some() {
            input.path = road % ROADS as u32 * self.count;
        } else {
            (input.path, input.path_s, input.route_version) = (0, 0.0, 0);
        }
    }
}

/// Points of a road that starts at the origin to the east with a constant curvature, 1/m.
fn arc(curvature: f64, spacing: f64, count: usize) -> impl Iterator<Item = PathPoint> {
    (0..count).map(move |number| {
        let s = number as f64 * spacing;
        let heading = curvature * s;
        let (x, y) = match curvature == 0.0 {
            true => (s, 0.0),
            false => (sin(heading) / curvature, (1.0 - cos(heading)) / curvature),
        };
        PathPoint {
            s,
            x,
            y,
            heading,
            curvature,
            speed: 13.0,
            left: 1.75,
            right: 1.75,
            ..PathPoint::default()
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(groups: u64) -> RwNeeds {
        RwNeeds {
            groups,
            path_most: 50,
            path_distance: 20.0,
            path_spacing: 0.5,
            ..NOTHING_NEEDED
        }
    }

    #[test]
    fn groups_that_are_not_known_or_make_no_sense_are_refused_by_name() {
        let controller = ModuleKind::Controller;
        assert!(checked(&asked(7), controller).is_ok());
        assert_eq!(
            checked(&asked(0), ModuleKind::Fitness),
            Ok(Needs::default())
        );
        let said = |raw: &RwNeeds, kind| checked(raw, kind).map_err(|fault| fault.message);
        let unknown = said(&asked(1 | 8 | 32), controller).unwrap_err();
        assert!(
            unknown.contains("the groups 8, 32 by roadwright.needs/1"),
            "{unknown}"
        );
        assert!(unknown.contains("RW_NEED_PATH (4)"), "{unknown}");
        let planner = said(&asked(6), ModuleKind::Planner).unwrap_err();
        assert!(
            planner.contains("RW_NEED_VEHICLES and RW_NEED_PATH, which only controllers get"),
            "{planner}"
        );
        for (raw, what) in [
            (
                RwNeeds {
                    path_most: 1,
                    ..asked(4)
                },
                "path_most = 1",
            ),
            (
                RwNeeds {
                    path_most: u32::MAX,
                    ..asked(4)
                },
                "path_most",
            ),
            (
                RwNeeds {
                    path_spacing: 0.0,
                    ..asked(4)
                },
                "path_spacing = 0",
            ),
            (
                RwNeeds {
                    path_spacing: f64::NAN,
                    ..asked(4)
                },
                "path_spacing = NaN",
            ),
            (
                RwNeeds {
                    path_distance: 1e300,
                    ..asked(4)
                },
                "path_distance",
            ),
            (
                RwNeeds {
                    path_time: -1.0,
                    ..asked(4)
                },
                "path_time = -1",
            ),
        ] {
            let why = said(&raw, controller).unwrap_err();
            assert!(why.contains(what), "{why}");
            // Without the path these numbers have no meaning.
            assert!(checked(&RwNeeds { groups: 3, ..raw }, controller).is_ok());
        }
    }
}
