//! Index of a driving agent.

use roadwright_scenario::index_type;

index_type! {
    /// Dense index of a driving agent. It is reused after the agent has left.
    ///
    /// Plain integers are not accepted in its place:
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
