//! Edits that rename, copy, delete and reorder vehicle types and stacks.

use roadwright_scenario::{Agent, Edit, Flow, Scenario};

/// Longest name, in characters.
const LONGEST: usize = 60;

/// A kind of named entry that agents and flows use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A vehicle type.
    VehicleType,
    /// A stack of modules.
    Stack,
}

impl Kind {
    /// Returns the name of this kind in messages.
    pub fn word(self) -> &'static str {
        match self {
            Self::VehicleType => "vehicle type",
            Self::Stack => "stack",
        }
    }

    fn exists(self, scenario: &Scenario, key: &str) -> bool {
        match self {
            Self::VehicleType => scenario.vehicle_types().contains_key(key),
            Self::Stack => scenario.stacks().contains_key(key),
        }
    }

    /// Returns the edit that adds a copy of an entry under another name.
    fn put(self, scenario: &Scenario, key: &str, name: &str) -> Result<Edit, String> {
        let gone = || format!("The {} {key} no longer exists.", self.word());
        let name = name.to_owned();
        match self {
            Self::VehicleType => {
                let kind = scenario.vehicle_types().get(key).ok_or_else(gone)?;
                Ok(Edit::VehicleType(name, Some(Box::new(kind.clone()))))
            }
            Self::Stack => {
                let stack = scenario.stacks().get(key).ok_or_else(gone)?;
                Ok(Edit::Stack(name, Some(Box::new(stack.clone()))))
            }
        }
    }

    fn taken_out(self, key: &str) -> Edit {
        match self {
            Self::VehicleType => Edit::VehicleType(key.to_owned(), None),
            Self::Stack => Edit::Stack(key.to_owned(), None),
        }
    }

    fn of_agent(self, agent: &Agent) -> &str {
        match self {
            Self::VehicleType => &agent.vehicle,
            Self::Stack => &agent.stack,
        }
    }

    fn of_flow(self, flow: &Flow) -> &str {
        match self {
            Self::VehicleType => &flow.vehicle,
            Self::Stack => &flow.stack,
        }
    }

    /// Returns the edits that switch all users of `key` to `name`.
    fn moved(self, scenario: &Scenario, key: &str, name: &str) -> Vec<Edit> {
        let mut edits = Vec::new();
        for (id, agent) in scenario.agents() {
            if self.of_agent(agent) == key {
                let mut agent = agent.clone();
                match self {
                    Self::VehicleType => agent.vehicle = name.to_owned(),
                    Self::Stack => agent.stack = name.to_owned(),
                }
                edits.push(Edit::Agent(*id, Some(Box::new(agent))));
            }
        }
        for (id, flow) in scenario.flows() {
            if self.of_flow(flow) == key {
                let mut flow = flow.clone();
                match self {
                    Self::VehicleType => flow.vehicle = name.to_owned(),
                    Self::Stack => flow.stack = name.to_owned(),
                }
                edits.push(Edit::Flow(*id, Some(Box::new(flow))));
            }
        }
        if self == Self::VehicleType {
            for (id, layer) in scenario.paint() {
                let mut layer = layer.clone();
                if let Some(cost) = layer.vehicles.remove(key) {
                    layer.vehicles.insert(name.to_owned(), cost);
                    edits.push(Edit::Paint(*id, Some(Box::new(layer))));
                }
            }
        }
        edits
    }

    /// Returns all names, in the order of their list.
    pub fn listed(self, scenario: &Scenario) -> Vec<String> {
        match self {
            Self::VehicleType => names(scenario.listed_vehicle_types()),
            Self::Stack => names(scenario.listed_stacks()),
        }
    }

    /// Returns the edit that puts the list into this order; `None` if the list already has it.
    fn in_order(self, scenario: &Scenario, mut names: Vec<String>) -> Option<Edit> {
        // Alphabetical order needs no stored list. Files without a custom order stay unchanged, and new
        // entries are sorted in.
        if names.is_sorted() {
            names.clear();
        }
        let mut order = scenario.list_order().clone();
        match self {
            Self::VehicleType => order.vehicle_types = names,
            Self::Stack => order.stacks = names,
        }
        (order != *scenario.list_order()).then(|| Edit::Order(Box::new(order)))
    }

    /// Returns the edit that moves an entry to an index of its list, counted from 0 at the top. An index past
    /// the end means the end. `None` if the entry is already there or does not exist.
    pub fn brought(self, scenario: &Scenario, key: &str, place: usize) -> Option<Edit> {
        let mut names = self.listed(scenario);
        let now = names.iter().position(|known| known == key)?;
        let name = names.remove(now);
        names.insert(place.min(names.len()), name);
        self.in_order(scenario, names)
    }

    /// Returns the edit that sorts the list by name; `None` if it is sorted.
    pub fn sorted(self, scenario: &Scenario) -> Option<Edit> {
        self.in_order(scenario, Vec::new())
    }

    /// Returns the number of agents and flows that use an entry.
    pub fn users(self, scenario: &Scenario, key: &str) -> usize {
        let agents = scenario.agents().values();
        let flows = scenario.flows().values();
        agents.filter(|agent| self.of_agent(agent) == key).count()
            + flows.filter(|flow| self.of_flow(flow) == key).count()
    }

    /// Returns the edit that renames an entry and updates its users.
    ///
    /// # Errors
    /// If the name is empty, too long or taken.
    pub fn renamed(self, scenario: &Scenario, key: &str, name: &str) -> Result<Edit, String> {
        if name.is_empty() || name.chars().count() > LONGEST {
            return Err(format!("A name must have 1 to {LONGEST} characters."));
        }
        if self.exists(scenario, name) {
            return Err(format!("A {} called {name} already exists.", self.word()));
        }
        // The new entry is added first, then its users are switched, then the old entry is removed, so that
        // each edit is valid.
        let mut edits = vec![self.put(scenario, key, name)?];
        edits.extend(self.moved(scenario, key, name));
        edits.push(self.taken_out(key));
        // The renamed entry keeps its place.
        let mut names = self.listed(scenario);
        names
            .iter_mut()
            .filter(|known| *known == key)
            .for_each(|known| *known = name.to_owned());
        edits.extend(self.in_order(scenario, names));
        Ok(Edit::Batch(edits))
    }

    /// Returns the edit that adds a copy under a free name, after its original.
    ///
    /// # Errors
    /// If the entry does not exist.
    pub fn copied(self, scenario: &Scenario, key: &str) -> Result<Edit, String> {
        // Numbered from 2, because the original counts as the first.
        let mut names = (2..).map(|number| format!("{key}_{number}"));
        let free = names.find(|name| !self.exists(scenario, name));
        let free = free.unwrap_or_default();
        let put = self.put(scenario, key, &free)?;
        let mut names = self.listed(scenario);
        let place = names.iter().position(|known| known == key);
        names.insert(place.map_or(names.len(), |place| place + 1), free);
        Ok(with(put, self.in_order(scenario, names)))
    }

    /// Returns the edit that deletes an entry.
    ///
    /// # Errors
    /// If it is in use.
    pub fn deleted(self, scenario: &Scenario, key: &str) -> Result<Edit, String> {
        match self.users(scenario, key) {
            0 => {
                let mut names = self.listed(scenario);
                names.retain(|known| known != key);
                Ok(with(self.taken_out(key), self.in_order(scenario, names)))
            }
            users => Err(format!(
                "{key} is used by {users} agents and flows; give them another {} first.",
                self.word()
            )),
        }
    }
}

fn names<V>(listed: Vec<(&String, V)>) -> Vec<String> {
    listed.into_iter().map(|(name, _)| name.clone()).collect()
}

/// Combines an edit with an optional second one.
fn with(edit: Edit, more: Option<Edit>) -> Edit {
    match more {
        Some(more) => Edit::Batch(vec![edit, more]),
        None => edit,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;

    #[test]
    fn names_go_with_their_users_and_deleting_asks_for_none() {
        for kind in [Kind::VehicleType, Kind::Stack] {
            let mut scenario = crate::shipped::ALL[0].scenario();
            let agent = scenario.agents().values().next().unwrap().clone();
            let key = kind.of_agent(&agent).to_owned();
            let users = kind.users(&scenario, &key);
            assert!(users > 0);
            assert!(kind.deleted(&scenario, &key).is_err());
            let before = scenario.clone();
            let edit = kind.renamed(&scenario, &key, "other").unwrap();
            let undo = scenario.apply(edit).unwrap();
            assert_eq!(kind.users(&scenario, "other"), users);
            assert!(!kind.exists(&scenario, &key));
            scenario.apply(undo).unwrap();
            assert_eq!(scenario, before);
            // Copying twice gives two names.
            for _ in 0..2 {
                let copy = kind.copied(&scenario, &key).unwrap();
                scenario.apply(copy).unwrap();
            }
            assert!(kind.exists(&scenario, &format!("{key}_2")));
            assert!(kind.exists(&scenario, &format!("{key}_3")));
            let delete = kind.deleted(&scenario, &format!("{key}_2")).unwrap();
            scenario.apply(delete).unwrap();
            for name in ["", &key, &"x".repeat(61)] {
                assert!(kind.renamed(&scenario, &key, name).is_err(), "{name}");
            }
            assert!(kind.copied(&scenario, "gone").is_err());
        }
    }

    #[test]
    fn the_order_of_a_list_is_kept_by_all_that_is_done_to_it() {
        for kind in [Kind::VehicleType, Kind::Stack] {
            let mut scenario = Scenario::new("order");
            let by_name = kind.listed(&scenario);
            let take = |scenario: &mut Scenario, edit: Edit| scenario.apply(edit).unwrap();
            assert_eq!(kind.brought(&scenario, &by_name[1], 1), None);
            assert_eq!(kind.brought(&scenario, "gone", 1), None);
            let before = scenario.clone();
            let last = kind.brought(&scenario, &by_name[2], 0).unwrap();
            let undo = take(&mut scenario, last.clone());
            let [a, b, c] = [0, 1, 2].map(|i| by_name[i].as_str());
            assert_eq!(kind.listed(&scenario), [c, a, b]);
            take(&mut scenario, undo);
            assert_eq!(scenario, before);
            take(&mut scenario, last);
            // A new name in the old place, a copy after its original, and no trace of deleted entries.
            let renamed = kind.renamed(&scenario, a, "zebra").unwrap();
            take(&mut scenario, renamed);
            let copied = kind.copied(&scenario, c).unwrap();
            take(&mut scenario, copied);
            let copy = format!("{c}_2");
            assert_eq!(kind.listed(&scenario), [c, &copy, "zebra", b]);
            let before = scenario.clone();
            let deleted = kind.deleted(&scenario, "zebra").unwrap();
            let undo = take(&mut scenario, deleted);
            assert_eq!(kind.listed(&scenario), [c, &copy, b]);
            take(&mut scenario, undo);
            assert_eq!(scenario, before);
            // Once sorted, the scenario stores no order.
            let sorted = kind.sorted(&scenario).unwrap();
            take(&mut scenario, sorted);
            assert!(kind.listed(&scenario).is_sorted());
            assert!(scenario.list_order().is_by_name());
            assert_eq!(kind.sorted(&scenario), None);
            // A copy that follows its original in alphabetical order needs no stored order either.
            let copied = kind.copied(&scenario, b).unwrap();
            take(&mut scenario, copied);
            assert!(scenario.list_order().is_by_name());
        }
    }
}
