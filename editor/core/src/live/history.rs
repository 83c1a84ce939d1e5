//! The last minutes of a run, for the timeline: contacts, arrivals, and the lights of signals.

use roadwright_geometry::DVec2;
use roadwright_recording::{LONGEST_REWIND, ObservedRun};
use roadwright_scenario::junction::Light;
use roadwright_scenario::{NodeId, RoadId};
use roadwright_simulation::{Party, Status, World};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// Interval between two samples of the lights, in seconds of simulated time. Signal controllers decide at the
/// same interval.
const TICK: f64 = 0.2;
/// Margin for the comparison of times, s. Times are sums of time steps.
const TINY: f64 = 1e-9;

/// A contact or an arrival.
#[derive(Debug, Clone, PartialEq)]
pub struct RunEvent {
    /// Simulated time of the event, s.
    pub time: f64,
    /// Place of the event, m; `None` if it is unknown.
    pub place: Option<DVec2>,
    /// Id of the agent.
    pub agent: u64,
    /// Counterpart of the agent in a contact; `None` for arrivals.
    pub with: Option<Party>,
}

/// Number of contacts, number of finished trips, time of the last contact and time of the last
/// arrival, s. Two equal values mean that no event was added or removed between them.
type Counted = (usize, usize, Option<f64>, Option<f64>);

/// Contacts and arrivals in the period that can be rewound, each oldest first. They always include
/// the newest ones, even while an earlier moment of the run is shown.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunEvents {
    /// Contacts of agents in the period, oldest first.
    pub contacts: Vec<RunEvent>,
    /// Arrivals of agents in the period, oldest first.
    pub arrivals: Vec<RunEvent>,
    counted: Counted,
}

impl RunEvents {
    /// Returns the events since `from`, in seconds. Returns `self` unchanged if nothing has happened since it
    /// was made.
    pub(super) fn grown(self: &Arc<Self>, run: &ObservedRun, from: f64) -> Arc<Self> {
        let (contacts, trips) = (run.world().collisions(), run.statistics.trips());
        let counted = (
            contacts.len(),
            trips.len(),
            contacts.last().map(|contact| contact.time),
            trips.last().map(|trip| trip.ended),
        );
        if self.counted == counted {
            return self.clone();
        }
        // Both lists are sorted by time and can span the whole run.
        let contacts = contacts.iter().rev().take_while(|c| c.time >= from);
        let contacts = contacts.map(|contact| RunEvent {
            time: contact.time,
            place: Some(DVec2::new(contact.x, contact.y)),
            agent: contact.agent,
            with: Some(contact.with),
        });
        let trips = trips.iter().rev().take_while(|trip| trip.ended >= from);
        let arrived = trips.filter(|trip| trip.status == Status::Arrived);
        let arrivals = arrived.map(|trip| RunEvent {
            time: trip.ended,
            place: trip.places.map(|(_, last)| last),
            agent: trip.agent,
            with: None,
        });
        let oldest_first = |mut events: Vec<RunEvent>| {
            events.reverse();
            events
        };
        Arc::new(Self {
            contacts: oldest_first(contacts.collect()),
            arrivals: oldest_first(arrivals.collect()),
            counted,
        })
    }
}

/// A change of the light of a signal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LightChange {
    /// Simulated time in seconds, with a resolution of 0.2 s.
    pub time: f64,
    /// The light from that time on.
    pub light: Light,
}

/// Lights that a lane's signal has shown over the last minutes.
#[derive(Debug, Clone, PartialEq)]
pub struct LaneLights {
    /// The road that the lane belongs to.
    pub road: RoadId,
    /// Id of the lane in its road.
    pub lane: i8,
    /// Driving direction at the stop line, rad counter-clockwise from east.
    pub heading: f64,
    /// The changes, oldest first. The first one may be older than the period that can be rewound.
    pub changes: Vec<LightChange>,
    /// Time at which the signal was removed, s; `None` if it still exists.
    pub ended: Option<f64>,
}

/// Lights of the signals of the inspected junction.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct JunctionLights {
    /// The lanes, in the order of roads and lanes.
    pub lanes: Vec<LaneLights>,
    /// Smallest node id of the junction, and the revision of the record from which the lanes were
    /// taken.
    source: (Option<NodeId>, u64),
}

/// Key of a signal: smallest node id of its junction, road and lane.
type SignalKey = (NodeId, RoadId, i8);

/// Record of the lights of a signal.
struct SignalRecord {
    heading: f64,
    changes: VecDeque<LightChange>,
    /// Time of the last sample, s.
    seen: f64,
    ended: Option<f64>,
}

/// Record of all signals' lights over the last minutes of a run.
#[derive(Default)]
pub(super) struct SignalHistory {
    signals: BTreeMap<SignalKey, SignalRecord>,
    /// Time of the next sample, s.
    due: f64,
    /// Number of changes made to this record.
    revision: u64,
}

impl SignalHistory {
    /// Samples the lights of a world if a sample is due. Called after each step.
    pub(super) fn watch(&mut self, world: &World) {
        let now = world.time();
        if now < self.due - TINY {
            return;
        }
        self.due = now + TICK;
        for head in world.signals() {
            let key = (head.node, head.road, head.lane);
            let record = self.signals.entry(key).or_insert_with(|| SignalRecord {
                heading: head.stop_line.heading,
                changes: VecDeque::new(),
                seen: now,
                ended: None,
            });
            record.seen = now;
            let comes_back = record.ended.take().is_some();
            let last = record.changes.back().map(|change| change.light);
            if comes_back || last != Some(head.light) {
                self.revision += 1;
                record.changes.push_back(LightChange {
                    time: now,
                    light: head.light,
                });
            }
            record.drop_older_than(now - LONGEST_REWIND);
        }
        let revision = &mut self.revision;
        self.signals.retain(|_, record| {
            if record.seen < now && record.ended.is_none() {
                record.ended = Some(record.seen);
                *revision += 1;
            }
            record.seen >= now - LONGEST_REWIND
        });
    }

    /// Forgets everything after a time in seconds, because the run continues from there.
    pub(super) fn cut_after(&mut self, time: f64) {
        self.signals.retain(|_, record| {
            record.changes.retain(|change| change.time <= time + TINY);
            record.seen = record.seen.min(time);
            record.ended = record.ended.filter(|ended| *ended <= time);
            !record.changes.is_empty()
        });
        self.due = time;
        self.revision += 1;
    }

    /// Forgets the lights of all signals.
    pub(super) fn clear(&mut self) {
        self.signals.clear();
        self.due = 0.0;
        self.revision += 1;
    }

    /// Returns the lights of a junction, given by its smallest node id. Returns `before` unchanged if no
    /// light has changed since.
    pub(super) fn of(
        &self,
        node: Option<NodeId>,
        before: &Arc<JunctionLights>,
    ) -> Arc<JunctionLights> {
        let source = (node, self.revision);
        if before.source == source {
            return before.clone();
        }
        let own = self
            .signals
            .iter()
            .filter(|((at, ..), _)| Some(*at) == node);
        let lanes = own.map(|(&(_, road, lane), record)| LaneLights {
            road,
            lane,
            heading: record.heading,
            changes: record.changes.iter().copied().collect(),
            ended: record.ended,
        });
        Arc::new(JunctionLights {
            lanes: lanes.collect(),
            source,
        })
    }
}

impl SignalRecord {
    /// Drops changes before a time in seconds, except the last one, which gives the light at that
    /// time.
    fn drop_older_than(&mut self, time: f64) {
        while self
            .changes
            .get(1)
            .is_some_and(|second| second.time <= time)
        {
            self.changes.pop_front();
        }
    }
}
