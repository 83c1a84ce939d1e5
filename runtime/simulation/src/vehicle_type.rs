//! Vehicle types, prepared for simulation.

mod vehicle_records;

pub(crate) use vehicle_records::VehicleRecords;

use crate::records::{LanePosition, RigidShape};
use crate::slope_cost::climbable_cost;
use glam::DVec2;
use roadwright_geometry::Pose;
use roadwright_geometry::math::tan;
use roadwright_geometry::oriented_box::OrientedBox;
use roadwright_ground::{COUNTED_ON, Ground};
use roadwright_planning::open_ground::{Body as GroundBody, Effect, Layer, LayerEffect};
use roadwright_scenario::junction::Body;
use roadwright_scenario::{
    BodyKind, DynamicsLevel, MoveLibrary, OffRoad, VehicleClass, VerticalSpan,
};
use roadwright_vehicle::dynamic::GRAVITY;
use roadwright_vehicle::gait::GaitTable;
use roadwright_vehicle::rigid::RigidModel;
use roadwright_vehicle::sliding::SlidingModel;
use roadwright_vehicle::trailer::Train;
use roadwright_vehicle::{DriveTrain, OneTrackLimits, SingleTrack};
use std::sync::Arc;

/// Curvature limit of normal driving, as a fraction of the curvature at full lock. The rest is a
/// reserve for returning to the lane within a bend. For a car, the limit is a radius of 4.3 m.
const EASE: f64 = 0.9;
/// Distances off the lanes are defined for vehicles of this length, m. They are reduced in
/// proportion for shorter vehicles.
const USUAL_LENGTH: f64 = 3.0;
/// Minimum factor for the distances of short vehicles.
const LEAST_SCALE: f64 = 0.2;

/// A vehicle type, prepared for simulation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct VehicleType {
    /// Length of the vehicle without trailers, m.
    pub(crate) length: f64,
    /// Length of the vehicle with its trailers in line, m.
    pub(crate) whole_length: f64,
    /// Whether the vehicle has trailers.
    pub(crate) tows: bool,
    /// Whether the vehicle runs on tracks.
    pub(crate) has_tracks: bool,
    /// Whether the body is the disc of a character, whose footprint does not depend on the heading.
    pub(crate) is_disc: bool,
    /// Overall width, m.
    pub(crate) width: f64,
    /// Distance from the rear axle to the rear end, m. If the vehicle has trailers, to the rear end
    /// of the last one.
    pub(crate) rear_overhang: f64,
    /// Distance from the rear axle to the front end, m.
    pub(crate) front: f64,
    /// Distance from the rear axle to the centre of the body, m.
    pub(crate) body_centre: f64,
    /// Radius of the circle around the centre that encloses the body, m.
    pub(crate) radius: f64,
    /// Vehicle class, which determines the reserved lanes that may be used.
    pub(crate) class: VehicleClass,
    /// Fraction of the vehicle's wheels that the hand brake acts on, 0 to 1.
    pub(crate) held: f64,
    pub(crate) limits: OneTrackLimits,
    /// Maximum curvature in normal driving, 1/m.
    pub(crate) tightest_bend: f64,
    pub(crate) single_track: SingleTrack,
    pub(crate) sliding: SlidingModel,
}

impl From<&roadwright_scenario::VehicleType> for VehicleType {
    fn from(described: &roadwright_scenario::VehicleType) -> Self {
        let size = glam::DVec2::new(described.length.get(), described.width.get());
        let limits = OneTrackLimits::from(described);
        let train = train(described);
        // A train extends farthest behind the rear axle when it is straight.
        let rear_overhang = described.rear_overhang.max(train.tail());
        let whole_length = if train.is_empty() {
            described.length.get()
        } else {
            described.front() + rear_overhang
        };
        Self {
            length: described.length.get(),
            whole_length,
            tows: !train.is_empty(),
            has_tracks: (described.file.as_ref()).is_some_and(|file| file.vehicle.tracks.is_some()),
            is_disc: described.body == BodyKind::Character,
            width: described.width.get(),
            rear_overhang,
            front: described.front(),
            body_centre: described.body_centre(),
            radius: 0.5 * size.length(),
            class: described.class(),
            held: held(described),
            tightest_bend: EASE * tan(limits.max_steering) / limits.wheelbase,
            limits,
            single_track: SingleTrack::from(described),
            sliding: SlidingModel::from(described),
        }
    }
}

impl VehicleType {
    /// Factor that shortens distances off the lanes for a short vehicle.
    pub(crate) fn scale(&self) -> f64 {
        (self.length / USUAL_LENGTH).clamp(LEAST_SCALE, 1.0)
    }

    /// Factor that shortens the reaction distances of a short vehicle off the lanes. It is 1 for
    /// characters, because these distances are defined for bodies of their size.
    pub(crate) fn reaction_scale(&self) -> f64 {
        match self.is_disc {
            true => 1.0,
            false => self.scale(),
        }
    }

    /// Maximum acceleration or deceleration that the tyres allow on dry asphalt, m/s^2.
    #[inline]
    pub(crate) fn hardest(&self) -> f64 {
        self.single_track.friction * GRAVITY
    }

    /// Deceleration on a lane that others may expect of this vehicle, m/s^2. It is `dry`, or less
    /// if the ground is known to be slippery.
    #[inline]
    pub(crate) fn expected_braking(
        &self,
        dry: f64,
        ground: &Ground,
        position: &LanePosition,
    ) -> f64 {
        if !ground.is_grip_known() || !position.is_on_lane() {
            return dry;
        }
        let place = ground.line(position.lanelet).position(position.s);
        let grip = ground.grip_on(place, ground.layers(position.lanelet));
        dry.min(COUNTED_ON * grip * self.hardest())
    }

    /// Whether the vehicle counts as a bus or lorry in junctions, because it swings out in bends.
    #[inline]
    pub(crate) fn is_long(&self) -> bool {
        // Conflicts in junctions are computed for a car of this size. If a vehicle is larger in any
        // dimension, the conflicts of long vehicles are used.
        let body = Body {
            width: self.width,
            front: self.front,
            rear: self.rear_overhang,
        };
        self.tows || body.exceeds_car()
    }

    /// Returns the bounding circle of the vehicle with its trailers in line: its centre (m ahead of
    /// the rear axle) and its radius (m).
    #[inline]
    pub(crate) fn hull_circle(&self) -> (f64, f64) {
        if !self.tows {
            return (self.body_centre, self.radius);
        }
        let size = DVec2::new(self.whole_length, self.width);
        (0.5 * (self.front - self.rear_overhang), 0.5 * size.length())
    }

    /// Footprint of the vehicle with its trailers in line when its rear axle is at `pose`.
    pub(crate) fn in_line(&self, pose: Pose) -> OrientedBox {
        if !self.tows {
            return self.covered(pose);
        }
        let centre = Pose {
            position: pose.point(self.hull_circle().0, 0.0),
            ..pose
        };
        OrientedBox::new(centre, self.whole_length, self.width)
    }

    /// Footprint of the body when its rear axle is at `pose`.
    pub(crate) fn covered(&self, pose: Pose) -> OrientedBox {
        self.footprint(pose.point(self.body_centre, 0.0), pose.heading)
    }

    /// Footprint of the body when its centre is at `middle`, in metres. The footprint of a character is the
    /// axis-aligned square around its disc, so that turning causes no contact.
    #[inline]
    pub(crate) fn footprint(&self, middle: DVec2, heading: f64) -> OrientedBox {
        let centre = Pose {
            position: middle,
            heading: if self.is_disc { 0.0 } else { heading },
        };
        OrientedBox::new(centre, self.length, self.width)
    }
}

/// Outline and heights of a vehicle type. Width and height are the maximum over the vehicle and its
/// trailers, because the trailers follow the vehicle's path.
pub fn body_of(vehicle: &roadwright_scenario::VehicleType) -> GroundBody {
    let file = vehicle.file.as_ref().map(|file| &file.vehicle);
    let trailers = file.map_or(&[][..], |file| &file.trailers);
    let widths = trailers.iter().map(|trailer| trailer.width.get());
    let span = vehicle.whole_span();
    GroundBody {
        length: vehicle.length.get(),
        width: widths.fold(vehicle.width.get(), f64::max),
        height: span.high,
        ground_clearance: span.low,
    }
}

/// Returns the effects of cost layers on a vehicle type that differ from the default.
///
/// Slopes cost more for vehicles with less acceleration, and much more if a vehicle cannot climb them. Tracks
/// halve the cost of slippery ground and water.
pub fn effects_of(vehicle: &roadwright_scenario::VehicleType) -> Vec<LayerEffect> {
    /// Slopes have their default cost for vehicles with this acceleration, m/s^2: that of a
    /// mid-size car.
    const COMMON_ACCELERATION: f64 = 2.6;
    /// Minimum cost of a slope, in thousandths of the default.
    const LEAST: f64 = 250.0;
    /// Maximum cost of a slope, in thousandths of the default.
    const MOST: f64 = 4000.0;
    let slopes = (1000.0 * COMMON_ACCELERATION / vehicle.max_acceleration).round();
    let mut effects = vec![LayerEffect {
        layer: Layer::Slope,
        effect: Effect::SlowsUpTo {
            thousandths: slopes.clamp(LEAST, MOST) as i32,
            limit: climbable_cost(vehicle.max_acceleration.get()),
        },
    }];
    if vehicle.body == BodyKind::Character {
        // Characters plan around each other separately (`open_ground/walking.rs`).
        effects.push(LayerEffect {
            layer: Layer::Characters,
            effect: Effect::Nothing,
        });
    }
    let file = vehicle.file.as_ref();
    if file.is_some_and(|file| file.vehicle.tracks.is_some()) {
        let halved = |layer| LayerEffect {
            layer,
            effect: Effect::Slows(500),
        };
        effects.extend([Layer::Grip, Layer::Water].map(halved));
    }
    effects
}

/// Maximum height difference of two couplings that fit together, m. It is less than the difference
/// between a tow ball and a fifth wheel.
pub(crate) const LEVEL: f64 = 0.15;
/// Maximum number of combinations of a vehicle type with the trailers of another type.
const MOST_STRANGERS: usize = 1000;

/// A variant of a vehicle type with other trailers than in its file: either fewer, because some
/// have been uncoupled, or trailers of another type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Part {
    /// Number of the same type with all its trailers.
    whole: u16,
    /// Number of the type that the trailers belong to, usually the same type.
    of: u16,
    /// Number of towed trailers, counted from the front.
    towed: u8,
}

/// Coupling on the vehicle itself.
#[derive(Debug, Clone, Copy, PartialEq)]
struct OwnCoupling {
    /// Distance of the coupling ahead of the rear axle, m.
    ahead: f64,
    /// Height of the coupling above the ground, m.
    height: f64,
}

impl OwnCoupling {
    fn of(described: &roadwright_scenario::VehicleType) -> Option<Self> {
        let file = &described.file.as_ref()?.vehicle;
        let (_, rear) = file.axles();
        Some(Self {
            ahead: file.coupling()? - rear,
            height: file.coupling_height()?,
        })
    }

    fn fits(&self, other: &Self) -> bool {
        (self.height - other.height).abs() <= LEVEL
    }
}

/// Vertical extents of a vehicle and its trailers.
#[derive(Debug, Clone)]
struct Spans {
    own: VerticalSpan,
    trailers: Vec<VerticalSpan>,
    whole: VerticalSpan,
}

impl Spans {
    fn of(described: &roadwright_scenario::VehicleType) -> Self {
        Self {
            own: described.vertical_span(),
            trailers: described.trailer_spans().collect(),
            whole: described.whole_span(),
        }
    }
}

/// Vehicle types of a scenario.
///
/// A type with trailers has additional numbers, which come after those of all types of the
/// scenario: for the type without its last trailer, without its last two trailers, and so on.
/// Everything that depends on the towed trailers, such as length, mass and rear overhang, follows
/// from this number at every dynamics level. A type that can tow the trailers of another type also
/// has numbers for towing one of these trailers, two of them, and so on.
#[derive(Debug, Clone, Default)]
pub(crate) struct VehicleTypes {
    /// Names of the scenario's types, by number. Types with fewer trailers have no names.
    pub(crate) names: Arc<Vec<String>>,
    /// Keys of the types in scenarios, regardless of trailers.
    keys: Vec<Arc<str>>,
    /// Type and towed trailers of each type number.
    parts: Vec<Part>,
    /// For each type, the coupling of the vehicle itself; `None` if the vehicle has no coupling.
    couplings: Vec<Option<OwnCoupling>>,
    types: Vec<VehicleType>,
    /// Drive trains, for vehicle files that have one.
    drive_trains: Vec<Option<DriveTrain>>,
    /// Keys that each level needs but the vehicle file lacks.
    missing: Vec<[Vec<&'static str>; DynamicsLevel::ALL.len()]>,
    /// Rigid-body models of the types, with defaults for values that the files lack.
    rigid: Vec<RigidModel>,
    /// Shapes of the rigid bodies, for snapshots.
    rigid_shapes: Vec<Arc<RigidShape>>,
    /// Trailers of each type.
    trains: Vec<Train>,
    /// Outlines and heights on maps of open ground.
    ground_bodies: Vec<GroundBody>,
    /// Effects of cost layers on maps of open ground.
    ground_effects: Vec<Arc<[LayerEffect]>>,
    /// Conditions under which each type leaves the lanes. They are not part of the hash, because
    /// they only matter for planning trips.
    off_road: Vec<OffRoad>,
    /// Kind of body of each type.
    bodies: Vec<BodyKind>,
    /// Gaits of each type; `None` for vehicles.
    gaits: Vec<Option<Arc<GaitTable>>>,
    /// Libraries of recorded moves of each type. They are not part of the hash, because saves name the
    /// libraries that are in use.
    move_libraries: Vec<Vec<MoveLibrary>>,
    /// Vertical extents of the vehicles and their trailers.
    spans: Vec<Spans>,
    /// Whether any type has trailers.
    pub(crate) has_trailers: bool,
    /// Whether stop lines are set back, because there are buses or lorries.
    pub(crate) sets_lines_back: bool,
    /// Maximum distance from the rear axle to the rear end over all types, m.
    pub(crate) largest_overhang: f64,
    /// Minimum update rate of the dynamics levels that model forces, Hz.
    pub(crate) physics_rate_hz: f64,
    /// Records of all types, for controllers that request vehicle data. They are derived data.
    pub(crate) records: Arc<VehicleRecords>,
}

impl VehicleTypes {
    /// Key of a type in the scenario, regardless of its trailers.
    pub(crate) fn key(&self, number: u16) -> &Arc<str> {
        &self.keys[number as usize]
    }

    /// Description of each type number: the name of the type, and the trailers that it tows.
    pub(crate) fn numbering(&self) -> Vec<String> {
        let parts = self.parts.iter().map(|part| format!("{part:?}"));
        self.names.iter().cloned().chain(parts).collect()
    }

    /// Hash of all properties of types except their names.
    pub(crate) fn hash(&self) -> u64 {
        let bodies = (&self.types, &self.rigid, &self.trains);
        let all = (bodies, &self.drive_trains, self.physics_rate_hz);
        crate::hash::of_words([all].into_iter())
    }

    pub(crate) fn new(scenario: &roadwright_scenario::Scenario) -> Self {
        // All lists are sorted by name, so the number of a type is its index in each list.
        let names: Vec<String> = scenario.vehicle_types().keys().cloned().collect();
        let (described, parts) = with_parts(scenario);
        let key = |part: &Part| Arc::from(names[usize::from(part.whole)].as_str());
        let keys = parts.iter().map(key).collect();
        let types: Vec<VehicleType> = described.iter().map(VehicleType::from).collect();
        let rigid: Vec<RigidModel> = described.iter().map(RigidModel::from).collect();
        let shapes = rigid.iter().map(RigidShape::of).map(Arc::new);
        let overhangs = types.iter().map(|kind| kind.rear_overhang);
        let mut all = Self {
            sets_lines_back: scenario.has_long_vehicles(),
            largest_overhang: overhangs.fold(0.0, f64::max),
            has_trailers: types.iter().any(|kind| kind.tows),
            trains: described.iter().map(train).collect(),
            ground_bodies: described.iter().map(body_of).collect(),
            ground_effects: described
                .iter()
                .map(|kind| effects_of(kind).into())
                .collect(),
            off_road: described.iter().map(|kind| kind.off_road).collect(),
            bodies: described.iter().map(|kind| kind.body).collect(),
            gaits: described.iter().map(gaits_of).collect(),
            move_libraries: (described.iter())
                .map(|kind| kind.move_libraries.clone())
                .collect(),
            spans: described.iter().map(Spans::of).collect(),
            couplings: described.iter().map(OwnCoupling::of).collect(),
            drive_trains: described.iter().map(drive_train).collect(),
            missing: described.iter().map(missing).collect(),
            rigid_shapes: shapes.collect(),
            rigid,
            keys,
            names: Arc::new(names),
            parts,
            types,
            physics_rate_hz: scenario.settings().physics_rate_hz.get(),
            records: Arc::default(),
        };
        all.records = Arc::new(VehicleRecords::of(&all));
        all
    }

    /// Libraries of recorded moves of a type.
    pub(crate) fn move_libraries(&self, number: u16) -> &[MoveLibrary] {
        &self.move_libraries[number as usize]
    }

    /// All libraries of recorded moves.
    pub(crate) fn all_move_libraries(&self) -> impl Iterator<Item = &MoveLibrary> {
        self.move_libraries.iter().flatten()
    }

    /// Drive train of a vehicle type.
    #[inline]
    pub(crate) fn drive_train(&self, number: u16) -> Option<&DriveTrain> {
        self.drive_trains[number as usize].as_ref()
    }

    /// Keys that a level needs but the file of a type lacks.
    pub(crate) fn missing(&self, number: u16, level: DynamicsLevel) -> &[&'static str] {
        &self.missing[number as usize][level as usize]
    }

    /// Rigid-body model of a type.
    #[inline]
    pub(crate) fn rigid(&self, number: u16) -> &RigidModel {
        &self.rigid[number as usize]
    }

    /// Shape of a vehicle type in the rigid-body solver.
    pub(crate) fn rigid_shape(&self, number: u16) -> &Arc<RigidShape> {
        &self.rigid_shapes[number as usize]
    }

    /// Outline and heights of a vehicle type on maps of open ground.
    pub(crate) fn ground_body(&self, number: u16) -> GroundBody {
        self.ground_bodies[number as usize]
    }

    /// Effects of cost layers of open ground on a type.
    pub(crate) fn ground_effects(&self, number: u16) -> &Arc<[LayerEffect]> {
        &self.ground_effects[number as usize]
    }

    /// Conditions under which a type leaves the lanes.
    pub(crate) fn off_road(&self, number: u16) -> OffRoad {
        self.off_road[number as usize]
    }

    /// Gaits of a type; `None` for vehicles.
    pub(crate) fn gaits(&self, number: u16) -> Option<&GaitTable> {
        self.gaits[number as usize].as_deref()
    }

    /// Kind of body of a type.
    pub(crate) fn body(&self, number: u16) -> BodyKind {
        self.bodies[number as usize]
    }

    /// Trailers of a vehicle type.
    #[inline]
    pub(crate) fn train(&self, number: u16) -> &Train {
        &self.trains[number as usize]
    }

    /// Vertical extent of a part of a vehicle. Part 0 is the vehicle without its trailers, and part
    /// 1 the first trailer.
    #[inline]
    pub(crate) fn span(&self, number: u16, part: u8) -> VerticalSpan {
        let spans = &self.spans[number as usize];
        match usize::from(part).checked_sub(1) {
            None => spans.own,
            Some(trailer) => spans.trailers.get(trailer).copied().unwrap_or(spans.whole),
        }
    }

    /// Vertical extent of a type with its trailers.
    #[inline]
    pub(crate) fn whole_span(&self, number: u16) -> VerticalSpan {
        self.spans[number as usize].whole
    }

    /// Number of types, including those with fewer trailers.
    pub(crate) fn count(&self) -> usize {
        self.types.len()
    }

    /// Number of a type with all its trailers.
    pub(crate) fn whole(&self, number: u16) -> u16 {
        self.parts[number as usize].whole
    }

    /// Number of the type that the trailers of a type belong to; its own number if it tows none.
    pub(crate) fn trailers_of(&self, number: u16) -> u16 {
        self.parts[number as usize].of
    }

    /// Number of the variant of a type that tows the first `towed` of the type's own trailers, or
    /// all of them if it has fewer.
    pub(crate) fn towing(&self, number: u16, towed: usize) -> u16 {
        let of = self.trailers_of(number);
        self.towing_of(number, of, towed)
            .unwrap_or(self.whole(number))
    }

    /// Number of the variant of a type that tows the first `towed` trailers of another type; `None`
    /// if they do not fit.
    pub(crate) fn towing_of(&self, number: u16, of: u16, towed: usize) -> Option<u16> {
        let whole = self.whole(number);
        // Without trailers, the result is the type itself, regardless of the type of the trailers.
        let of = if towed == 0 { whole } else { of };
        let wanted =
            |part: &Part| (part.whole, part.of, usize::from(part.towed)) == (whole, of, towed);
        let at = self.parts.iter().position(wanted)?;
        Some(at as u16)
    }

    /// Position of the vehicle's own coupling, m ahead of its rear axle.
    pub(crate) fn coupling(&self, number: u16) -> Option<f64> {
        self.couplings[number as usize].map(|own| own.ahead)
    }

    /// Height of the coupling of a vehicle or trailer above the ground, m.
    pub(crate) fn coupling_height(&self, number: u16) -> Option<f64> {
        self.couplings[number as usize].map(|own| own.height)
    }

    /// Type with the given number.
    #[inline]
    pub(crate) fn get(&self, number: u16) -> &VehicleType {
        &self.types[number as usize]
    }
}

/// Types of a scenario, followed by their variants with fewer or other trailers.
fn with_parts(
    scenario: &roadwright_scenario::Scenario,
) -> (Vec<roadwright_scenario::VehicleType>, Vec<Part>) {
    let trailers = |kind: &roadwright_scenario::VehicleType| {
        let file = kind.file.as_ref();
        file.map_or(0, |file| file.vehicle.trailers.len())
    };
    let part = |(whole, towed): (usize, usize)| Part {
        whole: whole as u16,
        of: whole as u16,
        // A vehicle file has at most eight trailers.
        towed: towed as u8,
    };
    let mut all: Vec<_> = scenario.vehicle_types().values().cloned().collect();
    let mut parts: Vec<Part> = (all.iter().map(trailers).enumerate()).map(part).collect();
    for whole in 0..all.len() {
        for towed in 0..trailers(&all[whole]) {
            let shorter = with_trailers(&all[whole], towed);
            all.push(shorter);
            parts.push(part((whole, towed)));
        }
    }
    let own = scenario.vehicle_types().len();
    for other in strangers(&all[..own]) {
        let whole = &all[usize::from(other.whole)];
        let trailers = &all[usize::from(other.of)];
        let strange = with_trailers_of(whole, trailers, usize::from(other.towed));
        all.push(strange);
        parts.push(other);
    }
    (all, parts)
}

/// Combinations of a type with the trailers of another type. The couplings of both must have the
/// same height.
fn strangers(types: &[roadwright_scenario::VehicleType]) -> Vec<Part> {
    let couplings: Vec<_> = types.iter().map(OwnCoupling::of).collect();
    let mut parts = Vec::new();
    for (of, towed) in types.iter().enumerate() {
        let trailers = towed.file.as_ref();
        let trailers = trailers.map_or(0, |file| file.vehicle.trailers.len());
        for (whole, own) in couplings.iter().enumerate() {
            let fits = own.zip(couplings[of]).is_some_and(|(a, b)| a.fits(&b));
            if fits && whole != of {
                parts.extend((1..=trailers).map(|towed| Part {
                    whole: whole as u16,
                    of: of as u16,
                    towed: towed as u8,
                }));
            }
        }
        if parts.len() > MOST_STRANGERS {
            break;
        }
    }
    parts.truncate(MOST_STRANGERS);
    parts
}

/// Returns a copy of the type with the first trailers of another type.
fn with_trailers_of(
    described: &roadwright_scenario::VehicleType,
    other: &roadwright_scenario::VehicleType,
    towed: usize,
) -> roadwright_scenario::VehicleType {
    let mut strange = described.clone();
    strange.file = strange.file.map(|file| {
        let mut file = (*file).clone();
        let theirs = other.file.as_ref().map(|file| &file.vehicle.trailers[..]);
        let theirs = theirs.unwrap_or_default().iter().take(towed);
        file.vehicle.trailers = theirs.cloned().collect();
        Arc::new(file)
    });
    strange
}

/// Returns a copy of the type with only its first `towed` trailers.
fn with_trailers(
    described: &roadwright_scenario::VehicleType,
    towed: usize,
) -> roadwright_scenario::VehicleType {
    let mut shorter = described.clone();
    shorter.file = shorter.file.map(|file| {
        let mut file = (*file).clone();
        file.vehicle.trailers.truncate(towed);
        Arc::new(file)
    });
    shorter
}

/// Gaits of a character.
fn gaits_of(described: &roadwright_scenario::VehicleType) -> Option<Arc<GaitTable>> {
    match described.body {
        BodyKind::Vehicle => None,
        BodyKind::Character => Some(Arc::new(GaitTable::from(described))),
    }
}

/// Fraction of the wheels that the hand brake acts on; one half if the file does not state it.
fn held(described: &roadwright_scenario::VehicleType) -> f64 {
    let Some(file) = &described.file else {
        return 0.5;
    };
    let brakes = file.vehicle.brakes.as_ref();
    let held = brakes.map_or(0, |brakes| brakes.hand_wheels.len());
    held as f64 / file.vehicle.wheels.positions.len().max(1) as f64
}

pub(crate) fn train(described: &roadwright_scenario::VehicleType) -> Train {
    let file = described.file.as_ref();
    file.map(|file| Train::of_file(&file.vehicle))
        .unwrap_or_default()
}

fn drive_train(described: &roadwright_scenario::VehicleType) -> Option<DriveTrain> {
    described
        .file
        .as_ref()
        .and_then(|file| DriveTrain::new(&file.vehicle))
}

/// Keys that each level needs but the file lacks.
fn missing(
    described: &roadwright_scenario::VehicleType,
) -> [Vec<&'static str>; DynamicsLevel::ALL.len()] {
    let file = described.file.as_ref();
    DynamicsLevel::ALL.map(|level| {
        file.map(|file| file.vehicle.missing(level))
            .unwrap_or_default()
    })
}
