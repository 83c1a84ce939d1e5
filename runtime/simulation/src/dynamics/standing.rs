//! Uncoupled trailers, which stand where they were left, with their brakes on.

use super::Bodies;
use crate::records::{AgentIndex, are_short_counts};
use crate::snapshot::{StandingTrailer, TrailerRecord};
use crate::vehicle_type::{LEVEL, VehicleTypes};
use roadwright_geometry::Pose;
use roadwright_geometry::math::wrap_angle;
use roadwright_geometry::oriented_box::OrientedBox;
use roadwright_vehicle::trailer::{Hitched, TrailerState};
use serde::{Deserialize, Serialize};

/// A coupling engages only within this distance, m.
pub(crate) const REACH: f64 = 0.5;
/// A coupling engages only within this angle, rad: 45 degrees, or less if the trailer cannot turn
/// that far.
pub(crate) const MOST_ANGLE: f64 = std::f64::consts::FRAC_PI_4;

/// Trailers that were uncoupled together and are still joined to each other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct StandingTrain {
    /// Number of the train, starting at 1.
    pub(crate) number: u32,
    /// Id of the agent that uncoupled them.
    pub(crate) agent: u64,
    /// Number of the trailers' vehicle type, in the variant that tows all of its trailers.
    pub(crate) vehicle_type: u16,
    /// Index of the first uncoupled trailer among the trailers of that type.
    pub(crate) first: u8,
    /// States from front to back.
    pub(crate) states: Vec<TrailerState>,
    /// Road layers that the trailers are on.
    pub(crate) layers: u32,
}

/// All uncoupled trailers.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct StandingTrains {
    /// Number of trains uncoupled so far.
    let_go: u32,
    /// Uncoupled trains, sorted by number.
    trains: Vec<StandingTrain>,
}

/// The free coupling of a vehicle, or of its last trailer.
pub(crate) struct FreeCoupling<'a> {
    /// Place of the coupling, with the heading of the body that it belongs to.
    pub(crate) pose: Pose,
    /// Number of the vehicle's type.
    number: u16,
    /// Number of trailers towed.
    pub(crate) towed: usize,
    types: &'a VehicleTypes,
}

impl FreeCoupling<'_> {
    /// Returns the vehicle type that results from coupling an uncoupled train; `None` if the train
    /// does not fit.
    ///
    /// The next trailer in the vehicle's own file always fits. A trailer of another type fits only
    /// directly behind the towing vehicle. It must be the first trailer in its own vehicle file,
    /// and its coupling must have the same height.
    pub(crate) fn with(&self, train: &StandingTrain) -> Option<u16> {
        let types = self.types;
        let is_next = types.trailers_of(self.number) == train.vehicle_type
            && usize::from(train.first) == self.towed;
        let is_strange = self.towed == 0 && train.first == 0;
        let towed = self.towed + train.states.len();
        (is_next || is_strange)
            .then(|| types.towing_of(self.number, train.vehicle_type, towed))
            .flatten()
    }

    /// Heights above the ground of this coupling and the coupling of an uncoupled train, m. `None` if the
    /// heights match or a coupling is missing.
    pub(crate) fn heights_apart(&self, train: &StandingTrain) -> Option<(f64, f64)> {
        let heights = [self.number, train.vehicle_type].map(|n| self.types.coupling_height(n));
        let (own, theirs) = heights[0].zip(heights[1])?;
        ((own - theirs).abs() > LEVEL).then_some((own, theirs))
    }
}

impl StandingTrain {
    /// The trailers with their states, from front to back.
    fn trailers<'a>(
        &'a self,
        types: &'a VehicleTypes,
    ) -> impl Iterator<Item = (&'a Hitched, &'a TrailerState)> {
        let all = types.train(self.vehicle_type).trailers();
        all.iter().skip(usize::from(self.first)).zip(&self.states)
    }

    /// Footprints from front to back, each with its trailer.
    pub(crate) fn bodies<'a>(
        &'a self,
        types: &'a VehicleTypes,
    ) -> impl Iterator<Item = (&'a Hitched, OrientedBox)> {
        self.trailers(types).map(|(trailer, state)| {
            let body = body(trailer, state);
            (
                trailer,
                OrientedBox::new(body, trailer.length, trailer.width),
            )
        })
    }

    /// Pose of the train's front coupling.
    pub(crate) fn coupling(&self) -> Pose {
        let first = self.states.first().copied().unwrap_or_default();
        Pose {
            position: first.coupling,
            heading: first.heading,
        }
    }

    /// Front trailer of the train; `None` if the vehicle type no longer has it.
    pub(crate) fn head<'a>(&self, types: &'a VehicleTypes) -> Option<&'a Hitched> {
        let all = types.train(self.vehicle_type).trailers();
        all.get(usize::from(self.first))
    }

    /// Whether the train stands behind a matching coupling, so that a vehicle may back up to it or
    /// drive away from it. The drawbar may then reach below the towing vehicle without counting as
    /// a contact.
    pub(crate) fn is_lined_up(&self, free: &FreeCoupling<'_>) -> bool {
        let own = self.coupling();
        let apart = free.pose.position - own.position;
        let (along, across) = (apart.dot(own.forward()), apart.perp_dot(own.forward()));
        let width = self.head(free.types).map_or(0.0, |head| head.width);
        free.with(self).is_some()
            && along > -REACH
            && across.abs() < 0.5 * width
            && wrap_angle(own.heading - free.pose.heading).abs() < MOST_ANGLE
    }

    /// Whether the train refers to existing trailers of its vehicle type and has valid states.
    fn is_sound(&self, types: &VehicleTypes) -> bool {
        let is_whole = usize::from(self.vehicle_type) < types.names.len();
        let last = usize::from(self.first) + self.states.len();
        is_whole
            && !self.states.is_empty()
            && last <= types.train(self.vehicle_type).trailers().len()
            && self.states.iter().all(TrailerState::is_sound)
    }
}

/// Pose of the centre of a trailer's body.
fn body(trailer: &Hitched, state: &TrailerState) -> Pose {
    let coupling = Pose {
        position: state.coupling,
        heading: state.heading,
    };
    Pose {
        position: coupling.point(trailer.middle(), 0.0),
        ..coupling
    }
}

impl StandingTrains {
    pub(crate) fn is_empty(&self) -> bool {
        self.trains.is_empty()
    }

    /// Whether nothing has been uncoupled so far.
    pub(crate) fn is_untouched(&self) -> bool {
        self.let_go == 0
    }

    /// All trains, sorted by number.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &StandingTrain> {
        self.trains.iter()
    }

    /// Returns the footprints of all trailers, with the road layers that they are on.
    pub(crate) fn footprints<'a>(
        &'a self,
        types: &'a VehicleTypes,
    ) -> impl Iterator<Item = (OrientedBox, u32)> + 'a {
        let of_train = |train: &'a StandingTrain| {
            let bodies = train.bodies(types);
            bodies.map(|(_, body)| (body, train.layers))
        };
        self.trains.iter().flat_map(of_train)
    }

    /// Adds uncoupled trailers and returns the number assigned to them.
    pub(crate) fn add(&mut self, train: StandingTrain) -> u32 {
        self.let_go += 1;
        let number = self.let_go;
        self.trains.push(StandingTrain { number, ..train });
        number
    }

    /// Removes the train with the given number.
    pub(crate) fn take(&mut self, number: u32) -> Option<StandingTrain> {
        let at = self.trains.iter().position(|one| one.number == number)?;
        Some(self.trains.remove(at))
    }

    /// Applies changed vehicle types. `moved` maps old type numbers to new ones. Returns the number
    /// of trains that were removed because their type no longer has such trailers.
    pub(crate) fn take_types(&mut self, moved: &[Option<u16>], types: &VehicleTypes) -> usize {
        let before = self.trains.len();
        self.trains.retain_mut(|train| {
            let new = moved
                .get(usize::from(train.vehicle_type))
                .copied()
                .flatten();
            train.vehicle_type = new.unwrap_or(u16::MAX);
            new.is_some() && train.is_sound(types)
        });
        before - self.trains.len()
    }

    /// Whether the saved uncoupled trailers are valid for these vehicle types.
    pub(crate) fn fit(&self, types: &VehicleTypes) -> bool {
        let numbers = self.trains.iter().map(|train| train.number);
        are_short_counts([self.let_go])
            && numbers.is_sorted_by(|a, b| a < b)
            && self
                .trains
                .iter()
                .all(|train| (1..=self.let_go).contains(&train.number) && train.is_sound(types))
    }

    /// Returns records of all uncoupled trailers for snapshots.
    pub(crate) fn records(&self, types: &VehicleTypes) -> Vec<StandingTrailer> {
        let of_train = |train: &StandingTrain| {
            let numbers = train.first + 1..;
            let trailers = numbers.zip(train.trailers(types));
            let mut ahead = train.coupling().heading;
            let records = trailers.map(|(number, (trailer, state))| {
                let angle = wrap_angle(state.heading - ahead);
                ahead = state.heading;
                let trailer = TrailerRecord {
                    agent: train.agent,
                    number,
                    body: body(trailer, state),
                    length: trailer.length,
                    width: trailer.width,
                    coupling: state.coupling,
                    angle,
                    attitude: None,
                };
                StandingTrailer {
                    train: train.number,
                    trailer,
                }
            });
            records.collect::<Vec<_>>()
        };
        self.trains.iter().flat_map(of_train).collect()
    }

    /// Memory used, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let states = self
            .trains
            .iter()
            .map(|train| size_of_val(&train.states[..]));
        size_of_val(&self.trains[..]) + states.sum::<usize>()
    }
}

impl Bodies<'_> {
    /// Free coupling of an agent's vehicle or of its last trailer. `None` if the vehicle tows all
    /// trailers in its file, or has no coupling.
    pub(crate) fn free_coupling<'t>(
        &self,
        agent: AgentIndex,
        types: &'t VehicleTypes,
    ) -> Option<FreeCoupling<'t>> {
        let number = self.agents.identity[agent.index()].vehicle_type;
        let train = types.train(number);
        let towed = train.trailers().len();
        let all = types.train(types.trailers_of(number)).trailers();
        // Behind the towed trailers, there is a free coupling if the file has another trailer.
        let coupling = match towed {
            0 => types.coupling(number)?,
            _ => all.get(towed)?.coupling,
        };
        let pose = self.pose(agent);
        let couplings = train.couplings(&self.towed(agent, pose, train), pose);
        let ahead = couplings.last().copied().unwrap_or(pose);
        Some(FreeCoupling {
            pose: Pose {
                position: ahead.point(coupling, 0.0),
                ..ahead
            },
            number,
            towed,
            types,
        })
    }

    /// Whether an agent has just uncoupled a train of trailers, or is backing up to it.
    pub(crate) fn lines_up_with(
        &self,
        agent: AgentIndex,
        train: &StandingTrain,
        types: &VehicleTypes,
    ) -> bool {
        let free = self.free_coupling(agent, types);
        free.is_some_and(|free| train.is_lined_up(&free))
    }
}
