//! Index of a driving agent.

use roadwright_scenario::index_type;

index_type! {
    /// Dense index of an agent while it drives, reused for another agent after it has left.
    ///
    /// Plain numbers cannot be used in its place:
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
