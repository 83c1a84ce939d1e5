//! Uncoupling and coupling of trailers, between two steps or at the request of a behaviour.
//!
//! A vehicle can couple its own trailers, and trailers of another vehicle type if both couplings
//! have the same height. Trailers that have been uncoupled stand still
//! ([`crate::dynamics::StandingTrains`]). The towing vehicle switches to the variant of its type
//! for the trailers that it still tows, so that its length, mass and rear overhang match.

use crate::agents::Agents;
use crate::dynamics::{Bodies, Dynamics, FreeCoupling, MOST_ANGLE, REACH, StandingTrain};
use crate::records::AgentIndex;
use crate::vehicle_type::{LEVEL, VehicleTypes};
use roadwright_geometry::math::wrap_angle;
use roadwright_ground::Ground;
use thiserror::Error;

/// Maximum speed for uncoupling and coupling trailers, m/s. This is walking speed.
const WALK: f64 = 1.4;

/// Reason why trailers cannot be uncoupled or coupled.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum CouplingError {
    /// The agent is not driving.
    #[error("agent {0} is not driving")]
    NotDriving(u64),
    /// The vehicle is too fast.
    #[error(
        "the vehicle is moving at {0:.1} m/s; slow down to walking speed ({WALK} m/s) or stop, \
         then try again"
    )]
    Moves(f64),
    /// The vehicle has no trailers.
    #[error("the vehicle tows no trailers")]
    TowsNothing,
    /// The vehicle has no trailer with the requested number.
    #[error(
        "there is no trailer {wanted} to uncouple, because the vehicle tows {towed} (numbered from \
         1 at the front)"
    )]
    NoSuchTrailer {
        /// Number of trailers that the vehicle tows.
        towed: usize,
        /// Number of the first trailer to be uncoupled.
        wanted: u8,
    },
    /// The vehicle has no free coupling.
    #[error(
        "the vehicle has no free coupling, because its file describes none or it tows all its trailers"
    )]
    NoFreeCoupling,
    /// No uncoupled trailer fits the coupling.
    #[error("no uncoupled trailer fits the free coupling of the vehicle")]
    NothingFits,
    /// The coupling of the nearby trailer is too high or too low.
    #[error(
        "the coupling of the trailer is {theirs:.2} m above the ground and that of the vehicle {own:.2} m; \
         they may differ by at most {LEVEL} m"
    )]
    OtherHeight {
        /// Height of the vehicle's coupling, m.
        own: f64,
        /// Height of the trailer's coupling, m.
        theirs: f64,
    },
    /// The nearby trailer does not fit this coupling.
    #[error(
        "the trailer does not fit this coupling; behind other trailers, only the next trailer of \
         the vehicle file fits; a trailer of another vehicle type fits only a vehicle that tows \
         nothing, and only if it is the first trailer in its own vehicle file"
    )]
    BelongsElsewhere,
    /// The trailers that fit are too far away.
    #[error(
        "the nearest trailer that fits is {0:.2} m from the free coupling; back up to within {REACH} m of it"
    )]
    TooFar(f64),
    /// The nearby trailer is at too large an angle.
    #[error(
        "the trailer is at an angle of {angle:.0} degrees to the vehicle; align to within \
         {most:.0} degrees"
    )]
    Askew {
        /// Angle between the two headings, degrees.
        angle: f64,
        /// Largest angle for coupling trailers, degrees.
        most: f64,
    },
}

/// An order to uncouple or couple the trailers of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CouplingOrder {
    /// Uncouple this trailer and all trailers behind it. Trailers are counted from 1 at the front.
    /// `None` uncouples only the last trailer.
    Uncouple(Option<u8>),
    /// Couple the trailers that stand at the free coupling.
    Couple,
}

/// Borrowed parts of the world that uncoupling and coupling change.
pub(crate) struct Couplings<'a> {
    pub(crate) ground: &'a Ground,
    pub(crate) types: &'a VehicleTypes,
    pub(crate) agents: &'a mut Agents,
    pub(crate) dynamics: &'a mut Dynamics,
}

impl Couplings<'_> {
    /// Uncouples the trailers of an agent and returns their number. `from` is the first of them,
    /// counted from 1 at the front; `None` uncouples only the last one.
    pub(crate) fn uncouple(
        &mut self,
        agent: AgentIndex,
        from: Option<u8>,
    ) -> Result<usize, CouplingError> {
        self.check_speed(agent)?;
        let number = self.agents.identity[agent.index()].vehicle_type;
        let train = self.types.train(number);
        let towed = train.trailers().len();
        if towed == 0 {
            return Err(CouplingError::TowsNothing);
        }
        let kept = match from {
            None => towed - 1,
            Some(wanted) if (1..=towed).contains(&usize::from(wanted)) => usize::from(wanted) - 1,
            Some(wanted) => return Err(CouplingError::NoSuchTrailer { towed, wanted }),
        };
        let bodies = self.bodies();
        let mut states = bodies.towed(agent, bodies.pose(agent), train);
        let standing = StandingTrain {
            number: 0,
            agent: self.agents.identity[agent.index()].id,
            vehicle_type: self.types.trailers_of(number),
            // A vehicle file has at most eight trailers.
            first: kept as u8,
            states: states.split_off(kept),
            layers: (self.ground).layers(self.agents.position[agent.index()].lanelet),
        };
        self.dynamics.standing.add(standing);
        self.dynamics.trailers.forget(agent);
        self.dynamics.trailers.put(agent, states);
        self.set_towed(agent, kept);
        Ok(towed - kept)
    }

    /// Couples the trailers that stand at the free coupling of an agent, and returns their number.
    pub(crate) fn couple(&mut self, agent: AgentIndex) -> Result<usize, CouplingError> {
        self.check_speed(agent)?;
        let bodies = self.bodies();
        let free = bodies
            .free_coupling(agent, self.types)
            .ok_or(CouplingError::NoFreeCoupling)?;
        let layers = (self.ground).layers(self.agents.position[agent.index()].lanelet);
        let standing = self.dynamics.standing.iter();
        let reachable = standing.filter(|train| train.layers & layers != 0);
        let distance =
            |train: &StandingTrain| (train.coupling().position - free.pose.position).length();
        let fitting = reachable.filter_map(|train| Some((train, free.with(train)?)));
        // If several are equally near, the train that was uncoupled first is used.
        let nearest = fitting.min_by(|(a, _), (b, _)| distance(a).total_cmp(&distance(b)));
        let misfit = || self.misfit(&free, layers);
        let (nearest, joined) = match nearest {
            Some(found) if distance(found.0) <= REACH => found,
            Some((train, _)) => {
                return Err(misfit().unwrap_or(CouplingError::TooFar(distance(train))));
            }
            None => return Err(misfit().unwrap_or(CouplingError::NothingFits)),
        };
        let angle = wrap_angle(nearest.coupling().heading - free.pose.heading).abs();
        let lock = nearest.head(self.types).map_or(0.0, |head| head.lock);
        let most = MOST_ANGLE.min(lock);
        if angle > most {
            return Err(CouplingError::Askew {
                angle: angle.to_degrees(),
                most: most.to_degrees(),
            });
        }
        let (number, towed) = (nearest.number, free.towed);
        let train = self
            .types
            .train(self.agents.identity[agent.index()].vehicle_type);
        let mut states = bodies.towed(agent, bodies.pose(agent), train);
        if let Some(taken) = self.dynamics.standing.take(number) {
            states.extend(taken.states);
        }
        let count = states.len() - towed;
        self.agents.identity[agent.index()].vehicle_type = joined;
        self.dynamics.trailers.forget(agent);
        self.dynamics.trailers.put(agent, states);
        Ok(count)
    }

    /// Returns the reason why no trailer within reach fits a coupling; `None` if there is no
    /// trailer within reach.
    fn misfit(&self, free: &FreeCoupling<'_>, layers: u32) -> Option<CouplingError> {
        let is_there = |train: &&StandingTrain| {
            let apart = train.coupling().position - free.pose.position;
            train.layers & layers != 0 && apart.length() <= REACH && free.with(train).is_none()
        };
        let train = self.dynamics.standing.iter().find(is_there)?;
        Some(match free.heights_apart(train) {
            Some((own, theirs)) => CouplingError::OtherHeight { own, theirs },
            None => CouplingError::BelongsElsewhere,
        })
    }

    fn check_speed(&self, agent: AgentIndex) -> Result<(), CouplingError> {
        let speed = self.agents.motion[agent.index()].speed.abs();
        if speed > WALK {
            return Err(CouplingError::Moves(speed));
        }
        Ok(())
    }

    fn set_towed(&mut self, agent: AgentIndex, towed: usize) {
        let who = &mut self.agents.identity[agent.index()];
        who.vehicle_type = self.types.towing(who.vehicle_type, towed);
    }

    fn bodies(&self) -> Bodies<'_> {
        Bodies {
            ground: self.ground,
            agents: self.agents.lent(),
            dynamics: self.dynamics,
        }
    }
}
