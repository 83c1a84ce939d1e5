//! Uncoupling and coupling of trailers, by behaviours during a step and by users between steps.

use super::effects::Effecting;
use crate::coupling::{CouplingError, Couplings};
use crate::dynamics::Bodies;
use crate::records::AgentIndex;

impl Effecting<'_> {
    /// Uncouples trailers for a behaviour and logs the result.
    pub(super) fn uncouple_or_complain(&mut self, agent: AgentIndex, from: Option<u8>) {
        match self.uncouple(agent, from) {
            Ok(count) => self.tell(agent, format!("uncoupled {count}, which {}", stand(count))),
            Err(why) => self.complain(agent, format!("uncouple: {why}")),
        }
    }

    /// Couples trailers for a behaviour and logs the result.
    pub(super) fn couple_or_complain(&mut self, agent: AgentIndex) {
        match self.couple(agent) {
            Ok(count) => self.tell(agent, format!("coupled {count}")),
            Err(why) => self.complain(agent, format!("couple: {why}")),
        }
    }

    /// Uncouples the trailers of an agent from number `from` to the last, and returns their number.
    /// With `None`, only the last trailer is uncoupled.
    pub(crate) fn uncouple(
        &mut self,
        agent: AgentIndex,
        from: Option<u8>,
    ) -> Result<usize, CouplingError> {
        let count = self.couplings().uncouple(agent, from)?;
        self.find_all();
        Ok(count)
    }

    /// Couples the trailers that are within reach of an agent's free coupling. Returns their number.
    pub(crate) fn couple(&mut self, agent: AgentIndex) -> Result<usize, CouplingError> {
        let count = self.couplings().couple(agent)?;
        self.find_all();
        Ok(count)
    }

    fn couplings(&mut self) -> Couplings<'_> {
        Couplings {
            ground: self.ground,
            types: self.types,
            agents: self.agents,
            dynamics: self.dynamics,
        }
    }

    /// Updates the position index. This is needed because agents may have been removed or moved onto or off a
    /// lane between steps.
    pub(crate) fn find_all(&mut self) {
        let bodies = Bodies {
            ground: self.ground,
            agents: self.agents.lent(),
            dynamics: self.dynamics,
        };
        self.traffic.index.rebuild(&bodies, self.types);
    }
}

fn stand(count: usize) -> &'static str {
    if count == 1 {
        "is parked with its brakes on"
    } else {
        "are parked with their brakes on"
    }
}
