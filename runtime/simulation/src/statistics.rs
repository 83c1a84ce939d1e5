//! Statistics recorded during a run: a row for each second, and a row for each trip.

use crate::agents::Status;
use crate::records::Collision;
use crate::session::Observer;
use crate::world::World;
use glam::DVec2;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Time between two rows, in seconds of simulated time.
const PERIOD: f64 = 1.0;
/// Speed below which a vehicle counts as queued, m/s. Heat maps use the same value.
const STANDING: f64 = 1.0;

/// State of the run at the end of a full second.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct TimeRow {
    /// Simulated time, s.
    pub time: f64,
    /// Number of driving agents.
    pub driving: usize,
    /// Number of agents that wait for their departure or for a free place.
    pub waiting: usize,
    /// Number of agents that have arrived so far.
    pub arrived: usize,
    /// Number of agents refused so far because they have no route to their destination.
    pub refused: usize,
    /// Mean speed of the driving agents, m/s; 0 without driving agents.
    pub mean_speed: f64,
    /// Number of vehicles slower than 1 m/s.
    pub queue: usize,
    /// Number of contacts that have begun so far.
    pub contacts: usize,
    /// Number of module faults so far.
    pub faults: u64,
}

/// A trip that has ended. An agent that repeats its trip has several trips.
#[derive(Debug, Clone, PartialEq)]
pub struct Trip {
    /// Id of the agent.
    pub agent: u64,
    /// Stack of the agent.
    pub stack: String,
    /// Status at the end of the trip.
    pub status: Status,
    /// Time at which the agent spawned, s; 0 if it never spawned.
    pub started: f64,
    /// Time at which the trip ended, s.
    pub ended: f64,
    /// Distance driven, m.
    pub distance: f64,
    /// Time in queues, s, with a resolution of one second.
    pub standing: f64,
    /// Number of contacts during the trip.
    pub contacts: usize,
    /// Positions of the agent at the first and last full second of its drive, m; `None` if the drive was
    /// shorter or was not observed.
    pub places: Option<(DVec2, DVec2)>,
}

impl Trip {
    /// Returns the duration of the trip, s.
    pub fn seconds(&self) -> f64 {
        self.ended - self.started
    }

    /// Mean speed, m/s; 0 if the trip took no time.
    pub fn mean_speed(&self) -> f64 {
        if self.seconds() > 0.0 {
            self.distance / self.seconds()
        } else {
            0.0
        }
    }
}

/// Observations of a driving agent.
#[derive(Debug, Clone, Copy)]
struct Seen {
    first: DVec2,
    last: DVec2,
    standing: f64,
}

/// Records a row for each second, and a row for each finished trip. It is an observer of a
/// [`Session`](crate::Session), and [`begin`](Observer::begin) resets it.
#[derive(Debug, Clone, Default)]
pub struct Statistics {
    rows: Vec<TimeRow>,
    trips: Vec<Trip>,
    seen: BTreeMap<u64, Seen>,
    /// Number of contacts by agent.
    contacts: BTreeMap<u64, usize>,
    counted_contacts: usize,
}

/// Marks a moment of a run, so that [`Statistics`] can be reset to it. It stores only the numbers
/// of rows and trips, not their contents.
#[derive(Debug, Clone)]
pub struct StatisticsMark {
    rows: usize,
    trips: usize,
    seen: BTreeMap<u64, Seen>,
    contacts: BTreeMap<u64, usize>,
    counted_contacts: usize,
}

impl StatisticsMark {
    /// Approximate memory used, in bytes.
    pub fn bytes(&self) -> usize {
        let seen = self.seen.len() * (size_of::<u64>() + size_of::<Seen>());
        size_of::<Self>() + seen + self.contacts.len() * size_of::<(u64, usize)>()
    }
}

impl Statistics {
    /// Returns a mark of the current state.
    pub fn mark(&self) -> StatisticsMark {
        StatisticsMark {
            rows: self.rows.len(),
            trips: self.trips.len(),
            seen: self.seen.clone(),
            contacts: self.contacts.clone(),
            counted_contacts: self.counted_contacts,
        }
    }

    /// Returns the statistics as they were at an earlier moment of the same run.
    pub fn at(&self, mark: &StatisticsMark) -> Self {
        // If the mark belongs to another run, there may be fewer rows or trips.
        let (rows, trips) = (self.rows.len(), self.trips.len());
        Self {
            rows: self.rows[..mark.rows.min(rows)].to_vec(),
            trips: self.trips[..mark.trips.min(trips)].to_vec(),
            seen: mark.seen.clone(),
            contacts: mark.contacts.clone(),
            counted_contacts: mark.counted_contacts,
        }
    }

    /// A row for each second, oldest first.
    pub fn rows(&self) -> &[TimeRow] {
        &self.rows
    }

    /// Finished trips, in the order in which they ended.
    pub fn trips(&self) -> &[Trip] {
        &self.trips
    }

    fn look(&mut self, world: &World) {
        let snapshot = world.snapshot();
        let mut speeds = 0.0;
        let mut queue = 0;
        for vehicle in &snapshot.vehicles {
            let place = vehicle.body.position;
            let is_standing = vehicle.speed.abs() < STANDING;
            speeds += vehicle.speed.abs();
            queue += usize::from(is_standing);
            let seen = self.seen.entry(vehicle.agent).or_insert(Seen {
                first: place,
                last: place,
                standing: 0.0,
            });
            seen.last = place;
            seen.standing += if is_standing { PERIOD } else { 0.0 };
        }
        let counts = world.counts();
        self.rows.push(TimeRow {
            time: world.time(),
            driving: counts.active,
            waiting: counts.waiting,
            arrived: counts.arrived,
            refused: counts.refused,
            mean_speed: speeds / (snapshot.vehicles.len().max(1) as f64),
            queue,
            contacts: world.collisions().len(),
            faults: world.faults().values().sum(),
        });
    }

    fn take_contacts(&mut self, world: &World) {
        let all = world.collisions();
        for collision in all.get(self.counted_contacts..).unwrap_or_default() {
            self.count(collision);
        }
        self.counted_contacts = all.len();
    }

    /// Counts a contact. A contact between two vehicles is reported once, under the smaller id, and is
    /// counted for both.
    fn count(&mut self, collision: &Collision) {
        for agent in std::iter::once(collision.agent).chain(collision.with.agent()) {
            *self.contacts.entry(agent).or_default() += 1;
        }
    }

    fn take_trips(&mut self, world: &World) {
        for drive in world.finished().skip(self.trips.len()) {
            let seen = self.seen.remove(&drive.id);
            self.trips.push(Trip {
                agent: drive.id,
                stack: drive.stack.to_owned(),
                status: drive.status,
                started: drive.started,
                ended: drive.ended,
                distance: drive.distance,
                standing: seen.map_or(0.0, |seen| seen.standing),
                contacts: self.contacts.remove(&drive.id).unwrap_or(0),
                places: seen.map(|seen| (seen.first, seen.last)),
            });
        }
    }
}

impl Observer for Statistics {
    fn begin(&mut self, world: &World) {
        *self = Self::default();
        self.take_contacts(world);
        self.take_trips(world);
        self.look(world);
    }

    fn after_step(&mut self, world: &World) {
        // Counted from the start and not from the previous row, so that rows do not drift if a
        // second is not a whole number of steps.
        let seconds = |steps: u64| (steps as f64 * world.dt() / PERIOD + 1e-9).floor();
        let is_due = seconds(world.steps()) > seconds(world.steps() - 1);
        // Otherwise, the last trips of a run that ends within a second would be missing.
        if is_due || world.is_over() {
            // Contacts are taken first, because trips include the contacts of their agents.
            self.take_contacts(world);
            if is_due {
                self.look(world);
            }
            self.take_trips(world);
        }
    }
}

/// Rows as CSV with a header and units.
pub fn time_rows_as_csv(rows: &[TimeRow]) -> String {
    let mut text = String::from(
        "time_s,driving,waiting,arrived,refused,mean_speed_mps,queue,contacts,faults\n",
    );
    for row in rows {
        let TimeRow {
            time,
            driving,
            waiting,
            arrived,
            refused,
            mean_speed,
            queue,
            contacts,
            faults,
        } = row;
        let written = writeln!(
            text,
            "{time:.3},{driving},{waiting},{arrived},{refused},{mean_speed:.4},{queue},{contacts},{faults}"
        );
        written.expect("writing to a String cannot fail");
    }
    text
}

/// Trips as CSV with a header and units. Unknown positions are empty.
pub fn trips_as_csv(trips: &[Trip]) -> String {
    let mut text = String::from(
        "agent,stack,status,started_s,ended_s,seconds_s,distance_m,mean_speed_mps,standing_s,\
         contacts,first_x_m,first_y_m,last_x_m,last_y_m\n",
    );
    for trip in trips {
        let status = format!("{:?}", trip.status).to_lowercase();
        let places = trip.places.map_or(",,,".to_owned(), |(first, last)| {
            format!("{:.2},{:.2},{:.2},{:.2}", first.x, first.y, last.x, last.y)
        });
        let written = writeln!(
            text,
            "{},{},{status},{:.3},{:.3},{:.3},{:.3},{:.4},{:.0},{},{places}",
            trip.agent,
            quoted(&trip.stack),
            trip.started,
            trip.ended,
            trip.seconds(),
            trip.distance,
            trip.mean_speed(),
            trip.standing,
            trip.contacts,
        );
        written.expect("writing to a String cannot fail");
    }
    text
}

/// A field of a table, quoted if it contains separators.
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::Party;

    #[test]
    fn a_contact_is_one_of_both_vehicles() {
        let mut statistics = Statistics::default();
        for with in [Party::Agent(7), Party::Obstacle(7)] {
            statistics.count(&Collision {
                agent: 3,
                with,
                time: 0.0,
                depth: 0.1,
                x: 0.0,
                y: 0.0,
            });
        }
        assert_eq!(statistics.contacts, [(3, 2), (7, 1)].into());
    }

    #[test]
    fn names_of_stacks_cannot_break_a_table() {
        assert_eq!(quoted("idm"), "idm");
        assert_eq!(quoted("a,\"b\""), "\"a,\"\"b\"\"\"");
    }
}
