//! Reasons why vehicles are stationary: their mandatory stops, the vehicles that they wait for, and
//! the chains that waiting vehicles form.
//!
//! A chain leads from one vehicle to the vehicle that it waits for, and so on. It ends at a root,
//! which waits for no other stationary vehicle, or leads back to one of its own members. Such a
//! ring is a deadlock. The reasons are the results of perception and junctions in the last step.
//! Nothing is decided again here.
//!
//! | file | contents |
//! | --- | --- |
//! | `stop.rs` | the place where one vehicle has to stop, and the reason |
//! | `chain.rs` | chains of waiting vehicles, with their roots and rings |
//! | `counts.rs` | the number of vehicles that were stationary for longer than a minute, by cause |

mod chain;
mod counts;
mod stop;

pub use chain::{ChainEnd, WaitChain, WaitLink};
pub(crate) use counts::StandingCounts;
pub use stop::{StopReason, StopTarget};

use crate::clock::Clock;
use crate::hands::Hands;
use crate::modules::Modules;
use crate::open_ground::GroundPlans;
use crate::perception::View;
use crate::records::AgentIndex;
use crate::traffic::{Claims, Setting};
use glam::DVec2;

/// Borrowed parts of the world that explain why a vehicle is stationary. They are read between two
/// steps.
#[derive(Clone, Copy)]
pub(crate) struct Standing<'a> {
    pub(crate) clock: &'a Clock,
    pub(crate) view: View<'a>,
    pub(crate) setting: Setting<'a>,
    pub(crate) claims: &'a Claims,
    pub(crate) modules: &'a Modules,
    pub(crate) hands: &'a Hands,
    pub(crate) ground_plans: &'a GroundPlans,
}

impl Standing<'_> {
    fn id(&self, agent: AgentIndex) -> u64 {
        self.view.agents.identity[agent.index()].id
    }

    /// Position of the front of an agent's vehicle, m.
    fn front(&self, agent: AgentIndex) -> DVec2 {
        let kind = self.view.agents.identity[agent.index()].vehicle_type;
        let front = self.view.types.get(kind).front;
        self.view.bodies().pose(agent).point(front, 0.0)
    }

    /// Time since an agent has stopped, s; 0 while it drives.
    fn time_of(&self, agent: AgentIndex) -> f64 {
        self.view.agents.progress[agent.index()].standing
    }
}
