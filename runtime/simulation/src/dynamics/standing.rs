//! Trailers that nobody tows: they stand where they were let go, with their brakes on.

use super::Bodies;
use crate::records::{AgentIndex, are_short_counts};
use crate::snapshot::{StandingTrailer, TrailerRecord};
use crate::vehicle_type::{LEVEL, VehicleTypes};
use roadwright_geometry::Pose;
use roadwright_geometry::math::wrap_angle;
use roadwright_geometry::oriented_box::OrientedBox;
use roadwright_vehicle::trailer::{Hitched, TrailerState};
use serde::{Deserialize, Serialize};

/// A coupling takes what stands so close to it, m.
pub(crate) const REACH: f64 = 0.5;
/// And at such an angle, rad, where the lock of the trailer allows as much: 45 degrees.
pub(crate) const MOST_ANGLE: f64 = std::f64::consts::FRAC_PI_4;

/// Trailers that were let go together, and are joined to each other still.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct StandingTrain {
    /// Which it is, from 1 on.
    pub(crate) number: u32,
    /// The id of the agent that let them go.
    pub(crate) agent: u64,
    /// The vehicle type, with all its trailers, that they belong to.
    pub(crate) vehicle_type: u16,
    /// The place of the first one in the train of that type, from 0 on.
    pub(crate) first: u8,
    /// From front to back.
    pub(crate) states: Vec<TrailerState>,
    /// The layers of roads on which they stand.
    pub(crate) layers: u32,
}

/// All that stand.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct StandingTrains {
    /// How many have been let go so far.
    let_go: u32,
    /// By their numbers.
    trains: Vec<StandingTrain>,
}

/// The free coupling of a vehicle, or of its last trailer.
pub(crate) struct FreeCoupling<'a> {
    /// Where it is; its heading is that of the body that it is on.
    pub(crate) pose: Pose,
    /// The type of the vehicle.
    number: u16,
    /// How many it tows.
    pub(crate) towed: usize,
    types: &'a VehicleTypes,
}

impl FreeCoupling<'_> {
    /// The number of its vehicle type with trailers that stand; `None` if they do not fit.
    ///
    /// What comes next in its file does. So do the trailers of another type at the coupling of the vehicle
    /// itself, if they were joined to a vehicle and their coupling is as high.
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

    /// How high above the ground it and the coupling of trailers that stand are, m, if they are too far
    /// apart to fit.
    pub(crate) fn heights_apart(&self, train: &StandingTrain) -> Option<(f64, f64)> {
        let heights = [self.number, train.vehicle_type].map(|n| self.types.coupling_height(n));
        let (own, theirs) = heights[0].zip(heights[1])?;
        ((own - theirs).abs() > LEVEL).then_some((own, theirs))
    }
}

impl StandingTrain {
    /// The trailers, with their states, from front to back.
    fn trailers<'a>(
        &'a self,
        types: &'a VehicleTypes,
    ) -> impl Iterator<Item = (&'a Hitched, &'a TrailerState)> {
        let all = types.train(self.vehicle_type).trailers();
        all.iter().skip(usize::from(self.first)).zip(&self.states)
    }

    /// What they cover, from front to back, each with its trailer.
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

    /// Where its first trailer can be joined on.
    pub(crate) fn coupling(&self) -> Pose {
        let first = self.states.first().copied().unwrap_or_default();
        Pose {
            position: first.coupling,
            heading: first.heading,
        }
    }

    /// Its first trailer.
    pub(crate) fn head<'a>(&self, types: &'a VehicleTypes) -> Option<&'a Hitched> {
        let all = types.train(self.vehicle_type).trailers();
        all.get(usize::from(self.first))
    }

    /// Whether it lies behind a coupling that it fits, so that one may back up to it or drive off: its
    /// drawbar may reach below what tows it then, which is no contact.
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

    /// Whether its numbers are those of trailers that a type has.
    fn is_sound(&self, types: &VehicleTypes) -> bool {
        let is_whole = usize::from(self.vehicle_type) < types.names.len();
        let last = usize::from(self.first) + self.states.len();
        is_whole
            && !self.states.is_empty()
            && last <= types.train(self.vehicle_type).trailers().len()
            && self.states.iter().all(TrailerState::is_sound)
    }
}

/// The middle of the body of a trailer.
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

    /// Whether nobody has let anything go so far.
    pub(crate) fn is_untouched(&self) -> bool {
        self.let_go == 0
    }

    /// By their numbers.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &StandingTrain> {
        self.trains.iter()
    }

    /// What all of them cover, and the layers of roads on which they stand.
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

    /// Lets trailers stand; their number is given here. Returns it.
    pub(crate) fn add(&mut self, train: StandingTrain) -> u32 {
        self.let_go += 1;
        let number = self.let_go;
        self.trains.push(StandingTrain { number, ..train });
        number
    }

    /// Takes those of a number away.
    pub(crate) fn take(&mut self, number: u32) -> Option<StandingTrain> {
        let at = self.trains.iter().position(|one| one.number == number)?;
        Some(self.trains.remove(at))
    }

    /// Takes over other vehicle types, whose numbers follow from those of before. Returns how many go
    /// because their type has no such trailers any more.
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

    /// Whether those of a save are trailers of these types.
    pub(crate) fn fit(&self, types: &VehicleTypes) -> bool {
        let numbers = self.trains.iter().map(|train| train.number);
        are_short_counts([self.let_go])
            && numbers.is_sorted_by(|a, b| a < b)
            && self
                .trains
                .iter()
                .all(|train| (1..=self.let_go).contains(&train.number) && train.is_sound(types))
    }

    /// As snapshots have them.
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

    /// Bytes of all.
    pub(crate) fn bytes(&self) -> usize {
        let states = self
            .trains
            .iter()
            .map(|train| size_of_val(&train.states[..]));
        size_of_val(&self.trains[..]) + states.sum::<usize>()
    }
}

impl Bodies<'_> {
    /// The coupling of an agent's vehicle, or of its last trailer, that has nothing joined to it;
    /// `None` if it tows all that its file describes, or has none.
    pub(crate) fn free_coupling<'t>(
        &self,
        agent: AgentIndex,
        types: &'t VehicleTypes,
    ) -> Option<FreeCoupling<'t>> {
        let number = self.agents.identity[agent.index()].vehicle_type;
        let train = types.train(number);
        let towed = train.trailers().len();
        let all = types.train(types.trailers_of(number)).trailers();
        // Behind its trailers there is a coupling if the file has a further one.
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

    /// Whether trailers that stand are those that an agent has just let go of, or backs up to.
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
