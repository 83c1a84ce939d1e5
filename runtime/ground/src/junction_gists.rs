//! Compact lists of the data about junctions and connections that each step needs. The full rules
//! and signals are large, so reading them would cause cache misses.

use super::roads::JunctionLaw;
use roadwright_scenario::junction::{Between, Layout, Light, Sign, SignalPlans, Signals};
use roadwright_scenario::{Connection, ConnectionIndex, Control, JunctionIndex};
use std::sync::{Arc, OnceLock};

/// Value that means "no signal group".
const NO_GROUP: u32 = u32::MAX;

/// Compact data of all junctions and their connections. The connections are in one list, ordered by
/// junction.
pub(super) struct JunctionGists {
    junctions: Vec<JunctionGist>,
    /// Compact data of each connection, collected when a vehicle first approaches the connection.
    paths: Vec<OnceLock<ConnectionGist>>,
}

/// Data of a junction that each step needs for approaching vehicles.
#[derive(Debug)]
pub(super) struct JunctionGist {
    /// Longest time between two greens of the same signal stage, s; infinite without signals.
    pub(super) longest_cycle: f64,
    /// Index of the junction's first connection.
    first: u32,
    group: u32,
    pub(super) control: Control,
    /// Whether any of the junction's connections yields to another one. Computed on first use.
    has_order: OnceLock<bool>,
    /// Whether right of way matters at this junction.
    pub(super) is_ruled: bool,
}

/// Data of a connection that each step needs.
#[derive(Debug, Clone, Copy)]
pub struct ConnectionGist {
    /// Distance between the connection's stop line and the junction if no buses use the connection,
    /// m.
    pub(super) setback: f32,
    /// Stages in which the connection has green, as a bit mask; 0 without signals.
    pub stages: u32,
    /// Stages in which the connection has green but yields to other traffic with green, whatever
    /// the geometry.
    permitted: u32,
    /// The sign that faces traffic on this connection.
    pub sign: Sign,
    /// Whether vehicles on the connection may turn at a red light.
    pub may_turn_on_red: bool,
    /// Whether vehicles from a queue enter the connection at intervals of the follow-up time.
    pub has_follow_up: bool,
    /// Whether the connection yields to any other connection.
    pub gives_way_to_any: bool,
}

impl JunctionGists {
    /// Collects the compact data of all junctions. O(connections).
    pub(super) fn new(layout: &Layout, laws: &[Arc<JunctionLaw>], plans: &SignalPlans) -> Self {
        let (mut junctions, mut count) = (Vec::new(), 0);
        let signals = plans.signals.iter().zip(plans.group_of());
        for ((junction, law), (signals, group)) in layout.junctions.iter().zip(laws).zip(signals) {
            junctions.push(JunctionGist {
                longest_cycle: signals
                    .as_ref()
                    .map_or(f64::INFINITY, |signals| signals.programme.longest_cycle()),
                first: count,
                group: group.map_or(NO_GROUP, |group| group as u32),
                control: law.control(),
                has_order: OnceLock::new(),
                is_ruled: junction.is_ruled(),
            });
            count += law.path_count() as u32;
        }
        Self {
            junctions,
            paths: (0..count).map(|_| OnceLock::new()).collect(),
        }
    }

    #[inline]
    pub(super) fn junction(&self, junction: JunctionIndex) -> &JunctionGist {
        &self.junctions[junction.index()]
    }

    #[inline]
    pub(super) fn path(
        &self,
        connection: Connection,
        make: impl FnOnce() -> ConnectionGist,
    ) -> &ConnectionGist {
        let (junction, path) = (connection.junction, connection.number);
        self.paths[self.junction(junction).first as usize + path.index()].get_or_init(make)
    }
}

impl JunctionGist {
    /// Signal group of the junction; `None` without signals.
    #[inline]
    pub(super) fn group(&self) -> Option<usize> {
        (self.group != NO_GROUP).then_some(self.group as usize)
    }

    /// Whether the control of this junction depends on approaching vehicles.
    #[inline]
    pub(super) fn looks_out(&self, has_order: impl FnOnce() -> bool) -> bool {
        self.group().is_some() || *self.has_order.get_or_init(has_order)
    }
}

impl ConnectionGist {
    /// Collects the compact data of a connection. O(stages).
    pub(super) fn of(law: &JunctionLaw, signals: Option<&Signals>, path: ConnectionIndex) -> Self {
        let right = law.right_of_way();
        let bits = |is_in: &dyn Fn(&Signals, usize) -> bool| {
            signals.map_or(0, |signals| {
                let stages = 0..signals.greens.len();
                let stages = stages.filter(|&stage| is_in(signals, stage));
                stages.fold(0, |bits, stage| bits | 1u32 << stage)
            })
        };
        Self {
            setback: law.setback_of_cars(path),
            stages: bits(&|signals, stage| signals.greens[stage][path.index()]),
            permitted: bits(&|signals, stage| signals.is_permitted(path.index(), stage)),
            sign: right.sign(path),
            may_turn_on_red: right.may_turn_on_red(path),
            has_follow_up: right.follow_up(path) > 0.0,
            gives_way_to_any: right.gives_way_to_any(path),
        }
    }

    /// Whether the signal of the connection is green in a stage.
    #[inline]
    pub fn has_green(&self, stage: u32) -> bool {
        self.stages & 1 << stage != 0
    }

    /// Whether green in a stage is permissive, which means that traffic on the connection yields to
    /// other traffic with green.
    #[inline]
    pub fn is_permitted(&self, stage: u32) -> bool {
        self.permitted & 1 << stage != 0
    }

    /// Returns the state of the connection's signal in a stage. While the stage is ending, `change`
    /// contains the next stage and the phase of the change.
    #[inline]
    pub fn light_in(&self, stage: u32, change: Option<(u32, Between)>) -> Light {
        let change = change.map(|(next, between)| (self.has_green(next), between));
        Light::of(self.has_green(stage), change)
    }
}
