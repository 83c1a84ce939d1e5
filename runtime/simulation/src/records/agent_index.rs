//! The index of an agent that drives.

use roadwright_scenario::index_type;

index_type! {
    /// Dense index of an agent while it drives, used again for another one after it has left.
    ///
    /// A number that stands for something else is not one:
    ///
    /// ```compile_fail,E0308
    /// use roadwright_simulation::AgentIndex;
    ///
    /// fn grant(agent: AgentIndex, ticket: u32) {}
    ///
    /// grant(3, AgentIndex::new(7));
    /// ```
    AgentIndex;
}
