//! Traffic: the positions of agents, their claims at junctions, signals, contacts, delays and pedestrians.

mod accounts;
mod claims;
mod contacts;
mod delays;
mod encroachment;
mod find;
mod index;
mod lane_room;
mod lanes;
mod neighbours;
mod people;
mod signals;

use crate::clock::Clock;
use crate::fixed::Fixed;
use crate::route::Routes;
pub(crate) use accounts::{AccountInputs, GoalInputs};
#[cfg(test)]
pub(crate) use claims::SwitchedOff;
pub use claims::{AlleyWait, Ticket, Waits, Why, alley_waits, longest_wait_at};
pub(crate) use claims::{
    Claims, Detour, Given, Next, RouteConnection, Setting, StuckRing, along, space,
};
pub(crate) use contacts::{Contact, Contacts, Search};
pub(crate) use delays::Delays;
pub(crate) use encroachment::{Encroachment, EncroachmentInputs};
pub(crate) use find::find;
pub(crate) use index::{Index, LaneEntry};
pub(crate) use lanes::Lanes;
pub(crate) use neighbours::{Neighbours, Shapes};
pub use people::{NoCrossing, RADIUS as PERSON_RADIUS};
pub(crate) use people::{People, Roadside};
use roadwright_ground::Ground;
pub use signals::StagePhase;
pub(crate) use signals::{Shown, SignalStates, Wish as StageWish, look as look_at_signals};

/// State of the interactions between agents.
pub(crate) struct Traffic {
    /// Positions of agents.
    pub(crate) index: Index,
    /// Pairs of bodies that could touch each other.
    pub(crate) neighbours: Neighbours,
    /// Grants of junctions.
    pub(crate) claims: Claims,
    /// State of traffic signals.
    pub(crate) signals: SignalStates,
    /// Contacts between bodies.
    pub(crate) contacts: Contacts,
    /// Expected delays caused by stationary vehicles.
    pub(crate) delays: Delays,
    /// Times at which vehicles left conflicts in junctions.
    pub(crate) encroachment: Encroachment,
    /// Pedestrians.
    pub(crate) people: People,
}

impl Traffic {
    /// Creates the traffic state without agents.
    pub(crate) fn new(ground: &Ground) -> Self {
        let lanelets = ground.graph().lanelets().len();
        Self {
            index: Index::new(lanelets),
            neighbours: Neighbours::default(),
            claims: Claims::new(ground.junction_count()),
            signals: SignalStates::new(ground),
            contacts: Contacts::default(),
            delays: Delays::new(lanelets),
            encroachment: Encroachment::default(),
            people: People::default(),
        }
    }

    /// Borrows the inputs of decisions at junctions.
    pub(crate) fn setting<'a>(
        &'a self,
        clock: &Clock,
        Fixed { ground, types }: Fixed<'a>,
        routes: &'a Routes,
    ) -> Setting<'a> {
        Setting {
            ground,
            types,
            routes,
            index: &self.index,
            signals: &self.signals,
            people: &self.people,
            step: clock.step,
            dt: clock.dt,
            period: clock.beat_period(),
        }
    }
}
