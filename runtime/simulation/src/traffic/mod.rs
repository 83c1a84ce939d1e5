//! Traffic: who is where, who may enter which junction, what signals show, who touches whom, who
//! stands.

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
use crate::ground::Ground;
use crate::route::Routes;
pub(crate) use accounts::AccountInputs;
pub(crate) use claims::{Claims, Detour, Given, Setting, StuckRing, space};
pub use claims::{Ticket, Waits, Why, longest_wait_at};
pub(crate) use contacts::{Contact, Contacts, Search};
pub(crate) use delays::Delays;
pub(crate) use encroachment::{Encroachment, EncroachmentInputs};
pub(crate) use find::find;
pub(crate) use index::{Index, LaneEntry};
pub(crate) use lanes::Lanes;
pub(crate) use neighbours::{Neighbours, Shapes};
pub use people::{NoCrossing, RADIUS as PERSON_RADIUS};
pub(crate) use people::{People, Roadside};
pub use signals::StagePhase;
pub(crate) use signals::{Shown, SignalStates, Wish as StageWish, look as look_at_signals};

/// What agents are to each other.
pub(crate) struct Traffic {
    /// Who is where.
    pub(crate) index: Index,
    /// Who could touch whom.
    pub(crate) neighbours: Neighbours,
    /// What junctions have granted.
    pub(crate) claims: Claims,
    /// What traffic signals show.
    pub(crate) signals: SignalStates,
    /// Who touches whom.
    pub(crate) contacts: Contacts,
    /// Where vehicles stand.
    pub(crate) delays: Delays,
    /// When places in junctions were left.
    pub(crate) encroachment: Encroachment,
    /// People on foot.
    pub(crate) people: People,
}

impl Traffic {
    /// Without any agents.
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

    /// What junctions decide by.
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
