//! Trailers are let go and joined on again, between two steps or by a behaviour.
//!
//! A vehicle takes trailers of its own type, and those of another one whose couplings are as high.
//! What is let go stands from that moment on ([`crate::dynamics::StandingTrains`]); its vehicle is one of
//! the same type with fewer trailers from then on, so length, mass and tail are those of what it tows.

use crate::agents::Agents;
use crate::dynamics::{Bodies, Dynamics, FreeCoupling, MOST_ANGLE, REACH, StandingTrain};
use crate::ground::Ground;
use crate::records::AgentIndex;
use crate::vehicle_type::{LEVEL, VehicleTypes};
use roadwright_geometry::math::wrap_angle;
use thiserror::Error;

/// Couplings are opened and closed up to this speed, m/s: a walk.
const WALK: f64 = 1.4;

/// Why trailers cannot be let go or joined on.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum CouplingError {
    /// The agent is not there.
    #[error("agent {0} does not drive now")]
    NotDriving(u64),
    /// It is too fast.
    #[error(
        "the vehicle moves at {0:.1} m/s: stop it, or slow it down to a walk ({WALK} m/s), and try again"
    )]
    Moves(f64),
    /// It has no trailers.
    #[error("the vehicle tows nothing that could be let go")]
    TowsNothing,
    /// It has no such trailer.
    #[error(
        "the vehicle tows {towed}: there is no trailer {wanted} to let go, counted from 1 at the front"
    )]
    NoSuchTrailer {
        /// How many it tows.
        towed: usize,
        /// The trailer that was to be the first to go.
        wanted: u8,
    },
    /// All couplings are taken.
    #[error(
        "the vehicle has no free coupling: its file has none, or it tows all trailers that it describes"
    )]
    NoFreeCoupling,
    /// Nothing that fits has been let go.
    #[error("no trailer that fits the free coupling of the vehicle stands anywhere")]
    NothingFits,
    /// What stands at the coupling is too high or too low for it.
    #[error(
        "the trailer at the coupling is joined on at {theirs:.2} m above the ground, the vehicle tows at \
         {own:.2} m: they fit up to {LEVEL} m apart"
    )]
    OtherHeight {
        /// Of the vehicle's coupling, m.
        own: f64,
        /// Of the trailer's, m.
        theirs: f64,
    },
    /// What stands at the coupling belongs elsewhere.
    #[error(
        "the trailer at the coupling does not fit there: behind trailers goes what comes next in the \
         vehicle's file, and trailers of other vehicle types only to vehicles that tow nothing, and those \
         first that were joined to a vehicle"
    )]
    BelongsElsewhere,
    /// Nothing that fits is near.
    #[error(
        "the nearest trailer that fits stands {0:.2} m from the free coupling: back up to {REACH} m or less"
    )]
    TooFar(f64),
    /// What is near stands askew.
    #[error(
        "the trailer stands at {angle:.0} degrees to the vehicle: line up to {most:.0} degrees or less"
    )]
    Askew {
        /// Between both headings, degrees.
        angle: f64,
        /// The largest at which it can be joined on, degrees.
        most: f64,
    },
}

/// What is to be done with the trailers of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CouplingOrder {
    /// Let them go from this one on, counted from 1 at the front; only the last, if none is named.
    Uncouple(Option<u8>),
    /// Join on what stands at the free coupling.
    Couple,
}

/// The parts of the world that couplings change.
pub(crate) struct Couplings<'a> {
    pub(crate) ground: &'a Ground,
    pub(crate) types: &'a VehicleTypes,
    pub(crate) agents: &'a mut Agents,
    pub(crate) dynamics: &'a mut Dynamics,
}

impl Couplings<'_> {
    /// Lets the trailers of an agent go from one on, counted from 1; only the last, if that is not said.
    /// Returns how many go.
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
            // A file has eight trailers at most.
            first: kept as u8,
            states: states.split_off(kept),
            layers: self.ground.layers(&self.agents.position[agent.index()]),
        };
        self.dynamics.standing.add(standing);
        self.dynamics.trailers.forget(agent);
        self.dynamics.trailers.put(agent, states);
        self.set_towed(agent, kept);
        Ok(towed - kept)
    }

    /// Joins on what stands at the free coupling of an agent. Returns how many trailers those are.
    pub(crate) fn couple(&mut self, agent: AgentIndex) -> Result<usize, CouplingError> {
        self.check_speed(agent)?;
        let bodies = self.bodies();
        let free = bodies
            .free_coupling(agent, self.types)
            .ok_or(CouplingError::NoFreeCoupling)?;
        let layers = self.ground.layers(&self.agents.position[agent.index()]);
        let standing = self.dynamics.standing.iter();
        let reachable = standing.filter(|train| train.layers & layers != 0);
        let distance =
            |train: &StandingTrain| (train.coupling().position - free.pose.position).length();
        let fitting = reachable.filter_map(|train| Some((train, free.with(train)?)));
        // Of two that are equally near the one that was let go first.
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

    /// Why what stands within reach of a coupling does not fit; `None` if nothing does.
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
