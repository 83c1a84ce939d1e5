//! Detects and counts overlapping bodies.

use crate::agents::{AgentsRef, ContactColumns};
use crate::clock::Clock;
use crate::dynamics::{Bodies, Dynamics};
use crate::records::AgentIndex;
use crate::route::Routes;
use crate::traffic::{Contact, Search, Shapes, Traffic, find};
use crate::vehicle_type::VehicleTypes;
use roadwright_ground::Ground;
use roadwright_scenario::DynamicsLevel;

/// Inputs of contact detection.
#[derive(Clone, Copy)]
pub(crate) struct CollideInputs<'a> {
    pub(crate) ground: &'a Ground,
    pub(crate) types: &'a VehicleTypes,
    pub(crate) routes: &'a Routes,
    pub(crate) dynamics: &'a Dynamics,
    /// Whether all pairs of bodies are compared as boxes. Otherwise, vehicles that follow their
    /// lanes are compared only by their order along the lanes.
    pub(crate) verify: bool,
}

/// Rebuilds the position index, and detects and counts the bodies that touch at the end of a step.
/// `contacts` is a reused buffer.
pub(crate) fn collide(
    clock: &Clock,
    scene: CollideInputs<'_>,
    helpers: Option<&rayon::ThreadPool>,
    traffic: &mut Traffic,
    agents: &mut ContactColumns<'_>,
    contacts: &mut Vec<Contact>,
) {
    let bodies = Bodies {
        ground: scene.ground,
        agents: agents.lent(),
        dynamics: scene.dynamics,
    };
    // Bodies have moved. The next step starts with this index.
    traffic.index.rebuild(&bodies, scene.types);
    // Bodies that follow their lanes are not compared as boxes, because their order along the lanes shows
    // which ones are close.
    let any_free = agents.count_of(DynamicsLevel::Lane) < agents.count();
    if any_free || scene.verify {
        let shapes = Shapes {
            bodies,
            types: scene.types,
            verify: scene.verify,
        };
        let Traffic {
            index, neighbours, ..
        } = traffic;
        neighbours.follow(shapes, index, helpers);
    } else {
        traffic.neighbours.forget();
    }
    let time = clock.end_of_step();
    let search = scene.search(agents.lent(), traffic);
    let of_body = |number, out: &mut Vec<Contact>| search.contacts(number, out);
    find(helpers, traffic.neighbours.len(), contacts, of_body);
    sort(contacts, agents.lent());
    traffic.contacts.take(time, contacts, agents);
    if agents.count_of(DynamicsLevel::Lane) == 0 || !clock.is_on_beat() {
        return;
    }
    let search = scene.search(agents.lent(), traffic);
    let in_order = |at, out: &mut Vec<Contact>| search.contacts_in_order(at, out);
    find(helpers, traffic.index.entries().len(), contacts, in_order);
    sort(contacts, agents.lent());
    traffic
        .contacts
        .take_in_order(time, contacts, clock.beat_steps(), agents);
}

impl<'a> CollideInputs<'a> {
    fn search<'s>(&self, agents: AgentsRef<'s>, traffic: &'s Traffic) -> Search<'s>
    where
        'a: 's,
    {
        Search {
            bodies: Bodies {
                ground: self.ground,
                agents,
                dynamics: self.dynamics,
            },
            types: self.types,
            routes: self.routes,
            index: &traffic.index,
            neighbours: &traffic.neighbours,
            verify: self.verify,
        }
    }
}

/// Sorts contacts by id and removes duplicate contacts of the same pair. The order in which
/// contacts are found depends on indices, but the collision log must not.
fn sort(contacts: &mut Vec<Contact>, agents: AgentsRef<'_>) {
    let id_of = |agent: AgentIndex| agents.identity[agent.index()].id;
    // Two vehicles that change lanes one behind the other may touch on both lanes. Only the deepest
    // contact is kept.
    contacts.sort_by_cached_key(|contact| (contact.order(id_of), contact.shallowness()));
    contacts.dedup_by_key(|contact| contact.order(id_of));
}
