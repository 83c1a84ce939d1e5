//! Rows of parking bays along a kerb or over open ground, and vehicles in them.
//!
//! ```text
//!   parallel               perpendicular          angled
//!   -> traffic             -> traffic             -> traffic
//!   ____________________   ____________________   ____________________  edge
//!   |  > |  > |  > |       | v | v | v | v |       \ v \ v \ v \ v \
//! ```

use super::options::{BayKind, BayOptions};
use super::{Fill, Mark, Tone, ToolContext};
use roadwright_geometry::math::{cos, sin};
use roadwright_geometry::oriented_box::OrientedBox;
use roadwright_geometry::projection::Projector;
use roadwright_geometry::{DVec2, Pose, heading_of, polyline};
use roadwright_scenario::{
    BAY, Edit, LaneType, ModuleSetting, Place, PointOfInterest, PointOfInterestId, Road, RoadId,
    Scenario, Slot, Stack,
};
use std::f64::consts::FRAC_PI_2;

/// Maximum number of bays in a row.
const MOST: usize = 500;
/// Distance between the points of a kerb, m.
const SPACING: f64 = 0.5;
/// Distance between a bay's outline and the edge beside it, m.
const GAP: f64 = 0.1;
/// Maximum distance between a point and a road's line for which the road's kerb is searched, m.
const REACH: f64 = 40.0;
/// Distance from a kerb within which a press snaps to it at any scale, m.
const CATCHES: f64 = 2.0;
/// Prefix of the names of bays in rows.
const NAME: &str = "Bay ";
/// Key of the stack added for parking vehicles.
const PARKING: &str = "parking";

/// The kerb of a road.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Kerb {
    road: RoadId,
    is_left: bool,
}

/// The edge beside a row of bays, in the direction of the drag.
struct Edge {
    points: Vec<DVec2>,
    /// 1 if the bays are on the left of the edge, -1 if they are on its right.
    side: f64,
    /// 1 if the traffic beside the edge drives in the direction of the edge, -1 if it drives against it.
    travel: f64,
}

/// A row of bays being drawn.
pub(super) struct Row {
    /// Poses of the parked vehicles, at the middle of each vehicle.
    pub(super) bays: Vec<Pose>,
    /// Whether the row lies along a kerb.
    pub(super) is_at_kerb: bool,
}

/// Returns the lateral position of the carriageway's edge on one side of a road at `s`, m. Also
/// returns whether the traffic beside the edge drives in the direction of increasing s. `None` if
/// the road has no carriageway.
fn kerb_of(road: &Road, is_left: bool, s: f64, scenario: &Scenario) -> Option<(f64, bool)> {
    let section = road.section_at(s);
    let lanes = section.lanes.iter().zip(road.lane_bands(section, s));
    let driven = lanes.filter(|(lane, _)| lane.kind.is_drivable() || lane.kind == LaneType::Biking);
    let side = if is_left { 1.0 } else { -1.0 };
    let edges = driven.map(|(lane, band)| {
        let is_forward = lane.is_forward(scenario.about().driving_side);
        (band.centre + side * 0.5 * band.width, is_forward)
    });
    edges.max_by(|a, b| (side * a.0).total_cmp(&(side * b.0)))
}

/// Returns the kerb near a point.
pub(super) fn kerb_at(point: DVec2, context: &ToolContext<'_>) -> Option<Kerb> {
    let (id, s, on) = context.scene.nearest_on_road(point, REACH)?;
    let road = context.scenario.network().road(id)?;
    let left = road.reference_line.pose(s).left();
    let t = (point - on).dot(left);
    let kerbs = [true, false].into_iter().filter_map(|is_left| {
        let (edge, _) = kerb_of(road, is_left, s, context.scenario)?;
        Some(((t - edge).abs(), Kerb { road: id, is_left }))
    });
    let (distance, kerb) = kerbs.min_by(|a, b| a.0.total_cmp(&b.0))?;
    let past_end = (point - on - t * left).length();
    (distance.max(past_end) <= context.reach().max(CATCHES)).then_some(kerb)
}

impl Kerb {
    /// Returns the edge of the kerb between its nearest points to `from` and `to`, directed from
    /// the first to the second.
    fn edge(self, from: DVec2, to: DVec2, scenario: &Scenario) -> Option<Edge> {
        let road = scenario.network().road(self.road)?;
        let line = &road.reference_line;
        let projector = Projector::new(line.clone());
        let [from, to] = [from, to].map(|point| projector.closest(point).s);
        let kerb = |s: f64| kerb_of(road, self.is_left, s, scenario);
        let steps = ((to - from).abs() / SPACING).ceil().max(1.0) as u32;
        let at = |step: u32| from + (to - from) * f64::from(step) / f64::from(steps);
        let points = (0..=steps).filter_map(|step| {
            let s = at(step);
            Some(line.point(s, kerb(s)?.0))
        });
        let along = if to < from { -1.0 } else { 1.0 };
        let (_, is_forward) = kerb(from)?;
        Some(Edge {
            points: points.collect(),
            side: if self.is_left { along } else { -along },
            travel: if is_forward { along } else { -along },
        })
    }
}

impl Row {
    /// Returns the row for a drag between two points. Over open ground, the bays lie on the left of
    /// the drag, or on its right if `is_right`.
    pub(super) fn drawn(
        kerb: Option<Kerb>,
        ends: [DVec2; 2],
        is_right: bool,
        context: &ToolContext<'_>,
    ) -> Option<Self> {
        let [from, to] = ends;
        let at_kerb = kerb.and_then(|kerb| kerb.edge(from, to, context.scenario));
        let is_at_kerb = at_kerb.is_some();
        let edge = at_kerb.unwrap_or(Edge {
            points: vec![from, to],
            side: if is_right { -1.0 } else { 1.0 },
            travel: 1.0,
        });
        let bays = edge.bays(&context.options.bays);
        (!bays.is_empty()).then_some(Self { bays, is_at_kerb })
    }

    /// Returns the marks of the row, and a label at the pointer.
    pub(super) fn marks(&self, pointer: DVec2) -> Vec<Mark> {
        let area = |bay: &Pose| Mark::Area {
            points: OrientedBox::new(*bay, BAY.0, BAY.1).corners().to_vec(),
            fill: Fill::Tint(Tone::Accent),
        };
        // An arrow shows which way vehicles face.
        let arrow = |bay: &Pose| {
            let points = [(0.9, 0.7), (1.7, 0.0), (0.9, -0.7)];
            Mark::line(points.map(|(x, y)| bay.point(x, y)).to_vec(), Tone::Accent)
        };
        let mut marks: Vec<Mark> = self.bays.iter().map(area).collect();
        marks.extend(self.bays.iter().map(arrow));
        let count = match self.bays.len() {
            1 => "1 bay".into(),
            count => format!("{count} bays"),
        };
        let ground = match self.is_at_kerb {
            true => "along the kerb",
            false => "on open ground",
        };
        marks.push(Mark::label(
            pointer,
            format!("{count}\n{ground}"),
            Tone::Accent,
        ));
        marks
    }

    /// Returns the edit that adds the bays, and the ids of the bays.
    pub(super) fn edit(&self, scenario: &Scenario) -> (Edit, Vec<PointOfInterestId>) {
        let points = scenario.points_of_interest().values();
        let numbers = points.filter_map(|point| point.name.strip_prefix(NAME)?.parse::<u32>().ok());
        let first = numbers.max().unwrap_or(0).saturating_add(1);
        let id = scenario.next_point_of_interest_id().0;
        let bays = self.bays.iter().zip(0u32..).map(|(bay, at)| {
            let point = PointOfInterest {
                name: format!("{NAME}{}", first.saturating_add(at)),
                x: bay.position.x.into(),
                y: bay.position.y.into(),
                heading: Some(bay.heading).into(),
            };
            (PointOfInterestId(id + at), point)
        });
        let bays: Vec<_> = bays.collect();
        let ids = bays.iter().map(|(id, _)| *id).collect();
        let edits = bays.into_iter();
        let edits = edits.map(|(id, bay)| Edit::PointOfInterest(id, Some(Box::new(bay))));
        (Edit::Batch(edits.collect()), ids)
    }
}

impl Edge {
    /// Returns the poses of the vehicles in the bays that fit along the edge; at least one.
    fn bays(&self, options: &BayOptions) -> Vec<Pose> {
        let (half_length, half_width) = (0.5 * BAY.0, 0.5 * BAY.1);
        // Angle between the edge and a parked vehicle, distance between two bays, and distance of their middles from
        // the edge.
        let (angle, pitch) = match options.kind {
            BayKind::Single => return Vec::new(),
            BayKind::Parallel => (0.0, options.length),
            BayKind::Perpendicular => (FRAC_PI_2, options.width),
            BayKind::Angled => {
                let angle = options.angle_deg.clamp(1.0, 90.0).to_radians();
                (angle, options.width / sin(angle))
            }
        };
        let across = half_length * sin(angle) + half_width * cos(angle) + GAP;
        let length = polyline::length(&self.points);
        let count = ((length + 1e-6) / pitch).floor().clamp(1.0, MOST as f64) as u32;
        let bay = |number: u32| {
            let at = (f64::from(number) + 0.5) * pitch;
            let along = along(&self.points, at)?;
            let outwards = self.side * along.left();
            let ahead = self.travel * along.forward();
            Some(Pose {
                position: along.position + across * outwards,
                heading: heading_of(cos(angle) * ahead + sin(angle) * outwards),
            })
        };
        (0..count).filter_map(bay).collect()
    }
}

/// Returns the pose on a polyline at a distance from its start, m. Beyond its end, the last segment
/// is extended.
fn along(points: &[DVec2], distance: f64) -> Option<Pose> {
    let mut left = distance;
    let pieces = points.windows(2).filter(|pair| pair[0] != pair[1]);
    let mut last = None;
    for pair in pieces {
        let piece = pair[1] - pair[0];
        let pose = |at: f64| Pose {
            position: pair[0] + at * piece.normalize(),
            heading: heading_of(piece),
        };
        if left <= piece.length() {
            return Some(pose(left));
        }
        last = Some(pose(left));
        left -= piece.length();
    }
    last
}

/// Returns the name of the bay under a point, and the pose of the middle of a vehicle parked in it.
pub(super) fn bay_at(point: DVec2, scenario: &Scenario) -> Option<(&str, Pose)> {
    let points = scenario.points_of_interest().values();
    let mut bays = points.filter_map(|one| Some((one, one.bay()?, one.parked()?)));
    let (bay, _, parked) = bays.find(|(_, outline, _)| outline.closest_point(point) == point)?;
    Some((bay.name.as_str(), parked))
}

/// Returns the place of a vehicle parked in the bay under a point.
pub(super) fn place_in_bay(point: DVec2, vehicle: &str, scenario: &Scenario) -> Option<Place> {
    let (_, parked) = bay_at(point, scenario)?;
    let kind = scenario.vehicle_types().get(vehicle)?;
    // Places on open ground refer to the rear axle.
    let axle = parked.point(-kind.body_centre(), 0.0);
    Some(Place::ground(axle.x, axle.y, parked.heading))
}

/// Whether a vehicle at a place is parked in a bay.
pub(super) fn is_in_bay(place: &Place, vehicle: &str, scenario: &Scenario) -> bool {
    let kind = scenario.vehicle_types().get(vehicle);
    let pose = scenario.pose_of(place);
    let (Place::Ground(_), Some(kind), Some(axle)) = (place, kind, pose) else {
        return false;
    };
    bay_at(axle.point(kind.body_centre(), 0.0), scenario).is_some()
}

/// Whether the ground planner of a stack makes vehicles arrive with the heading of their
/// destination.
fn parks(stack: &Stack) -> bool {
    let planners = stack.settings(Slot::GroundPlanner);
    planners.iter().any(|setting| {
        setting.module == "drivable_path"
            && setting
                .parameters
                .get("arrive")
                .is_some_and(|arrive| *arrive > 0.5)
    })
}

/// Returns the stack for a vehicle whose destination is a bay: its own stack if that stack can
/// park, otherwise a stack for parking. The edit adds the stack for parking if the scenario does
/// not have it.
pub(super) fn stack_for_bay(own: &str, scenario: &Scenario) -> (String, Option<Edit>) {
    let stacks = scenario.stacks();
    if stacks.get(own).is_some_and(parks) {
        return (own.to_owned(), None);
    }
    let usual = Stack::default();
    let known = scenario.listed_stacks().into_iter().find(|(_, stack)| {
        // A stack with another behaviour may be intended for another purpose.
        parks(stack) && stack.behaviour.module == usual.behaviour.module
    });
    if let Some((key, _)) = known {
        return (key.clone(), None);
    }
    let numbered = (2u32..).map(|number| format!("{PARKING}_{number}"));
    let mut keys = std::iter::once(PARKING.to_owned()).chain(numbered);
    let key = keys
        .find(|key| !stacks.contains_key(key))
        .unwrap_or_default();
    let stack = Stack {
        ground_planner: Some(ModuleSetting::new("drivable_path").with("arrive", 1.0)),
        ..Stack::with_controller("lqr")
    };
    let edit = Edit::Stack(key.clone(), Some(Box::new(stack)));
    (key, Some(edit))
}
