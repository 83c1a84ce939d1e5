//! Overlapping bodies are found and counted.

use crate::agents::Agents;
use crate::ground::Ground;
use crate::modules::SLICE;
use crate::traffic::{Contact, Search, Traffic};
use crate::vehicle_type::VehicleTypes;
use rayon::prelude::*;

/// Notes where everybody is now, and who touches whom at a time, s. `contacts` is scratch.
pub(crate) fn collide(
    time: f64,
    ground: &Ground,
    types: &VehicleTypes,
    helpers: Option<&rayon::ThreadPool>,
    traffic: &mut Traffic,
    agents: &mut Agents,
    contacts: &mut Vec<Contact>,
) {
    // Bodies have moved; the next step starts with this index.
    traffic.index.rebuild(agents, types);
    contacts.clear();
    let search = Search {
        agents,
        types,
        index: &traffic.index,
        ground,
    };
    let count = traffic.index.located.len();
    match helpers {
        None => (0..count).for_each(|number| search.contacts(number, contacts)),
        Some(helpers) => {
            let parts: Vec<Vec<Contact>> = helpers.install(|| {
                let slices = (0..count).into_par_iter().step_by(SLICE);
                let part = |first: usize| {
                    let mut part = Vec::new();
                    let numbers = first..(first + SLICE).min(count);
                    numbers.for_each(|number| search.contacts(number, &mut part));
                    part
                };
                slices.map(part).collect()
            });
            contacts.extend(parts.into_iter().flatten());
        }
    }
    contacts
        .sort_by_cached_key(|contact| contact.order(|agent| agents.identity[agent as usize].id));
    traffic.contacts.update(time, contacts, agents);
}
