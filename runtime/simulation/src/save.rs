//! Saving a world at a step boundary, and going on from there.
//!
//! A save is a set of named parts, each with a version, so that a new part touches no other. It
//! holds all that is carried from step to step; what is derived (indices, grids, landmarks) is made
//! again. The ground is not in it: a world is restored on the ground of its scenario, which must be
//! equal.
//!
//! A save may be damaged or made by hand. Each part is read for itself, then all indices from one part
//! into another are checked in one place ([`World::check_indices`]) before anything uses them; a save
//! that points nowhere is an error and never a panic.

use crate::agents::{Accounts, Agents, Finished, Identity};
use crate::clock::Clock;
use crate::demand::{Departures, FlowProgress};
use crate::dynamics::{Bodies, Dynamics, StandingTrains};
use crate::ground::Ground;
use crate::hands::Hands;
use crate::messages::{Groups, Log};
use crate::modules::{SavedInstance, SavedMembership, SavedSwap};
use crate::options::{RunOptions, SimulationError};
use crate::route::Routes;
use crate::stages::company::MOST_SPAWNED;
use crate::summary::{ReplanCounts, SwapRecord};
use crate::traffic::{Claims, Contacts, Delays, Encroachment, People, SignalStates};
use crate::world::World;
use roadwright_agent::{Message, Registry};
use roadwright_scenario::Scenario;
use roadwright_vehicle::PedalCommand;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;
use thiserror::Error;

/// Begins every save.
const FORMAT: &str = "roadwright.world";
/// Version of the frame around the parts.
const VERSION: u16 = 1;
/// Version of the parts; 2: agents have levels of dynamics; 8: rings of full lanes are counted, and rigid
/// bodies are a level; 9: wheels turn, trailers are towed, a level slides, and tickets know where their
/// holders stand; 11: lanes can be too steep; 12: wheels can be spheres; 14: alleys
/// are driven in turns; 15: junctions decide on the beat, and bodies roll within their strides; 16, 17: what the
/// level of lanes keeps is in single precision.
const PART_VERSION: u16 = 17;

/// Why a world cannot be saved or restored.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum SaveError {
    /// Modules keep something that they cannot give.
    #[error(
        "cannot save: {} can neither save state nor declares to have none; run with \
         --allow-inexact to let it start fresh when the world is restored",
        .0.join(", ")
    )]
    Modules(Vec<String>),
    /// An edit waits until junctions are empty, and a save holds no scenarios.
    #[error(
        "cannot save: an edit waits until {0} junctions are empty; take steps until it has entered, \
         30 s at most"
    )]
    EditWaits(usize),
    /// The bytes are not a save, or damaged.
    #[error("not a saved world: {0}")]
    Damaged(String),
    /// The save is newer than the program.
    #[error("the saved world needs a newer version: part \"{part}\" has version {version}")]
    Newer {
        /// Name of the part.
        part: String,
        /// Its version.
        version: u16,
    },
    /// The save is older than what the program reads.
    #[error(
        "the saved world was written by an older version: part \"{part}\" has version {version}; \
         run the scenario from its start"
    )]
    Older {
        /// Name of the part.
        part: String,
        /// Its version.
        version: u16,
    },
    /// The save belongs to other roads or obstacles.
    #[error("the saved world belongs to other roads or obstacles than this scenario has")]
    OtherGround,
    /// The scenario or the options do not fit.
    #[error(transparent)]
    Simulation(#[from] SimulationError),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Part {
    version: u16,
    bytes: Vec<u8>,
}

/// A world at a step boundary, as bytes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SavedWorld {
    format: String,
    version: u16,
    program: String,
    ground: u64,
    /// Modules whose state is not in the save.
    inexact: Vec<String>,
    parts: BTreeMap<String, Part>,
}

/// A checksum over the bytes of a save.
fn checksum(bytes: &[u8]) -> u64 {
    twox_hash::XxHash3_64::oneshot(bytes)
}

/// The modules among `saved` that could not give their state.
fn unsaved(saved: &[SavedInstance]) -> Vec<String> {
    let modules = saved
        .iter()
        .flat_map(|one| one.modules.iter().map(|module| (&one.slot, module)));
    modules
        .filter(|(_, module)| module.state.is_none())
        .map(|(slot, module)| format!("{slot} {}", module.id))
        .collect()
}

/// What the clock part and counters hold.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Counters {
    clock: Clock,
    agent_updates: u64,
    replans: ReplanCounts,
}

impl SavedWorld {
    /// The bytes of a file: the save, and a checksum of it.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = postcard::to_allocvec(self).expect("plain state can be written");
        bytes.extend_from_slice(&checksum(&bytes).to_le_bytes());
        bytes
    }

    /// Reads the bytes of a file.
    ///
    /// # Errors
    /// If they are not a save, or one of a newer version.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, SaveError> {
        let damaged = |what: &str| SaveError::Damaged(what.into());
        let (bytes, sum) = bytes.split_last_chunk().ok_or(damaged("it is too short"))?;
        // The checksum comes first: what is read afterwards was written as it is by some version.
        if checksum(bytes) != u64::from_le_bytes(*sum) {
            return Err(damaged("its checksum differs"));
        }
        let saved: Self =
            postcard::from_bytes(bytes).map_err(|error| SaveError::Damaged(error.to_string()))?;
        if saved.format != FORMAT {
            return Err(SaveError::Damaged("it begins otherwise".into()));
        }
        if saved.version > VERSION {
            return Err(SaveError::Newer {
                part: "frame".into(),
                version: saved.version,
            });
        }
        Ok(saved)
    }

    /// Bytes that it takes.
    pub fn bytes(&self) -> usize {
        self.parts.values().map(|part| part.bytes.len()).sum()
    }

    /// Modules that start fresh when the world is restored, because they cannot save what they keep.
    pub fn inexact(&self) -> &[String] {
        &self.inexact
    }

    fn put(&mut self, name: &str, part: &impl Serialize) {
        let bytes = postcard::to_allocvec(part).expect("plain state can be written");
        let part = Part {
            version: PART_VERSION,
            bytes,
        };
        self.parts.insert(name.into(), part);
    }

    fn get<T: DeserializeOwned>(&self, name: &str) -> Result<T, SaveError> {
        let missing = || SaveError::Damaged(format!("part \"{name}\" is missing"));
        let part = self.parts.get(name).ok_or_else(missing)?;
        let version = part.version;
        // No part is read in an older form: numbers in it may mean something else.
        match version.cmp(&PART_VERSION) {
            Ordering::Less => Err(SaveError::Older {
                part: name.into(),
                version,
            }),
            Ordering::Greater => Err(SaveError::Newer {
                part: name.into(),
                version,
            }),
            Ordering::Equal => postcard::from_bytes(&part.bytes)
                .map_err(|error| SaveError::Damaged(format!("part \"{name}\": {error}"))),
        }
    }
}

impl World {
    /// Modules that can neither save what they keep nor declare that they keep nothing.
    pub fn unsaved_modules(&self) -> Vec<String> {
        unsaved(&self.modules.saved())
    }

    /// All that is carried from step to step, to go on from later. O(agents ever seen).
    ///
    /// # Errors
    /// If a module neither saves its state nor declares that it has none, unless `allow_inexact`; or while
    /// an edit waits ([`World::closing_nodes`]).
    pub fn save(&self, allow_inexact: bool) -> Result<SavedWorld, SaveError> {
        if self.waiting.is_some() {
            return Err(SaveError::EditWaits(self.traffic.claims.changing().len()));
        }
        // Asked before anything is written: a world that cannot be saved is left as it is.
        let modules = self.modules.saved();
        let inexact = unsaved(&modules);
        if !inexact.is_empty() && !allow_inexact {
            return Err(SaveError::Modules(inexact));
        }
        let mut saved = SavedWorld {
            format: FORMAT.into(),
            version: VERSION,
            program: env!("CARGO_PKG_VERSION").into(),
            ground: self.ground.hash(),
            inexact,
            parts: BTreeMap::new(),
        };
        saved.put(
            "counters",
            &Counters {
                clock: self.clock,
                agent_updates: self.agent_updates,
                replans: self.replans,
            },
        );
        saved.put("agents", &self.agents);
        saved.put("accounts", &self.agents.accounts);
        saved.put("pedals", &self.agents.pedals);
        saved.put("routes", &self.routes);
        saved.put("dynamics", &self.dynamics);
        saved.put("standing", &self.dynamics.standing);
        saved.put("departures", &self.demand.departures);
        saved.put("population", &self.demand.population);
        let flows = self.demand.flows.iter().map(|flow| flow.progress().clone());
        let flows: (Vec<FlowProgress>, &Vec<FlowProgress>) =
            (flows.collect(), &self.demand.retired_flows);
        saved.put("flows", &flows);
        saved.put("claims", &self.traffic.claims);
        saved.put("signals", &self.traffic.signals);
        saved.put("contacts", &self.traffic.contacts);
        saved.put("delays", &self.traffic.delays);
        saved.put("encroachment", &self.traffic.encroachment);
        saved.put("people", &self.traffic.people);
        saved.put("hands", &self.hands);
        saved.put("mail", &self.messages.mail);
        saved.put("groups", &*self.messages.groups);
        saved.put("told_collisions", &self.messages.told_collisions);
        saved.put("spawned", &self.demand.spawned);
        saved.put("log", &self.messages.log);
        saved.put("finished", &self.finished);
        saved.put("modules", &modules);
        saved.put("membership", &self.modules.saved_membership());
        let swaps = self.modules.swaps.iter();
        saved.put("swaps", &swaps.map(SavedSwap::from).collect::<Vec<_>>());
        Ok(saved)
    }

    /// A world that goes on exactly where a saved one was, and notes on modules that could not. One
    /// save restores any number of worlds.
    ///
    /// `scenario`, `modules` and `options` are those of the saved run; its seed and time step are
    /// in the save. A module of another build starts fresh, which is noted: that is a branch.
    ///
    /// # Errors
    /// If the save is damaged or of a newer version, the ground is another one, or as
    /// [`World::new`].
    pub fn restore(
        ground: Arc<Ground>,
        scenario: &Scenario,
        modules: &Registry,
        options: &RunOptions,
        saved: &SavedWorld,
    ) -> Result<(Self, Vec<String>), SaveError> {
        if saved.ground != ground.hash() {
            return Err(SaveError::OtherGround);
        }
        let counters: Counters = saved.get("counters")?;
        let options = RunOptions {
            dt: Some(counters.clock.dt),
            seed: Some(counters.clock.seed),
            time_of_day: Some(counters.clock.begins_at),
            // Random trips are among those who wait or drive.
            populate: 0,
            ..options.clone()
        };
        let mut world = Self::on_ground(ground, scenario, modules, &options)?;
        world.clock = counters.clock;
        world.agent_updates = counters.agent_updates;
        world.replans = counters.replans;
        world.restore_agents(saved)?;
        world.restore_demand(saved)?;
        // Worlds that were saved before this was kept do not know.
        if saved.parts.contains_key("population") {
            world.demand.population = saved.get("population")?;
        }
        world.restore_traffic(saved)?;
        world.restore_messages(saved)?;
        // Worlds that were saved before people could drive have none.
        if saved.parts.contains_key("hands") {
            world.hands = saved.get::<Hands>("hands")?;
        }
        let instances: Vec<SavedInstance> = saved.get("modules")?;
        world.modules.restore_instances(&instances)?;
        // Everything is there, and nothing has been looked up yet: indices of a damaged save are
        // found here, before they are used.
        world.check_indices()?;
        world.messages.count();
        world.dynamics.rigid.find_displaced(&world.ground);
        let notes = world.restore_modules(saved, &instances)?;
        let bodies = Bodies {
            ground: &world.ground,
            agents: &world.agents,
            dynamics: &world.dynamics,
        };
        world.traffic.index.rebuild(&bodies, &world.types);
        Ok((world, notes))
    }

    fn restore_agents(&mut self, saved: &SavedWorld) -> Result<(), SaveError> {
        let mut agents: Agents = saved.get("agents")?;
        agents.index_ids();
        // Worlds that were saved before accounts were kept have none.
        if saved.parts.contains_key("accounts") {
            agents.accounts = saved.get::<Accounts>("accounts")?;
        }
        // Worlds that were saved before controllers could press pedals have none.
        if saved.parts.contains_key("pedals") {
            let pedals: Vec<Option<PedalCommand>> = saved.get("pedals")?;
            agents.pedals = pedals
                .into_iter()
                .map(|held| held.map(PedalCommand::checked))
                .collect();
        }
        let mut routes: Routes = saved.get("routes")?;
        routes.index_hashes();
        (self.agents, self.routes) = (agents, routes);
        self.dynamics = saved.get::<Dynamics>("dynamics")?;
        // Worlds that were saved before trailers could be let go have none that stand.
        if saved.parts.contains_key("standing") {
            self.dynamics.standing = saved.get::<StandingTrains>("standing")?;
        }
        self.finished = saved.get::<Finished>("finished")?;
        Ok(())
    }

    fn restore_traffic(&mut self, saved: &SavedWorld) -> Result<(), SaveError> {
        self.traffic.claims = saved.get::<Claims>("claims")?;
        self.traffic.signals = saved.get::<SignalStates>("signals")?;
        self.traffic.contacts = saved.get::<Contacts>("contacts")?;
        self.traffic.delays = saved.get::<Delays>("delays")?;
        self.traffic.encroachment = saved.get::<Encroachment>("encroachment")?;
        // Worlds that were saved before there were people have none.
        if saved.parts.contains_key("people") {
            self.traffic.people = saved.get::<People>("people")?;
        }
        Ok(())
    }

    fn restore_messages(&mut self, saved: &SavedWorld) -> Result<(), SaveError> {
        self.messages.mail = saved.get::<Vec<Message>>("mail")?;
        self.messages.groups = Arc::new(saved.get::<Groups>("groups")?);
        self.messages.told_collisions = saved.get::<usize>("told_collisions")?;
        self.messages.log = saved.get::<Log>("log")?;
        Ok(())
    }

    /// Gives modules what they kept. Returns notes on those that start fresh.
    fn restore_modules(
        &mut self,
        saved: &SavedWorld,
        instances: &[SavedInstance],
    ) -> Result<Vec<String>, SaveError> {
        let told: SavedMembership = saved.get("membership")?;
        let (clock, agents) = (&self.clock, &mut self.agents);
        let mut notes = self.modules.restore_states(clock, agents, instances, told);
        let program = env!("CARGO_PKG_VERSION");
        if saved.program != program {
            notes.push(format!(
                "saved by version {}, this is {program}",
                saved.program
            ));
        }
        let swaps: Vec<SavedSwap> = saved.get("swaps")?;
        self.modules.swaps = swaps.into_iter().map(SwapRecord::from).collect();
        Ok(notes)
    }

    fn restore_demand(&mut self, saved: &SavedWorld) -> Result<(), SaveError> {
        self.demand.departures = saved.get::<Departures>("departures")?;
        self.demand.spawned = saved.get::<u64>("spawned")?;
        let (flows, retired): (Vec<FlowProgress>, Vec<FlowProgress>) = saved.get("flows")?;
        self.demand.retired_flows = retired;
        // By id and not by place: each flow goes on where that of its id was.
        for flow in &mut self.demand.flows {
            let before = flows.iter().find(|before| before.id == flow.progress().id);
            if let Some(before) = before
                && !flow.resume(before.clone())
            {
                return Err(SaveError::Damaged("a flow never ends".into()));
            }
        }
        Ok(())
    }

    /// Whether all that a damaged save may point at is there.
    fn check_indices(&self) -> Result<(), SaveError> {
        let lanelets = self.ground.graph().lanelets().len();
        let capacity = self.agents.capacity();
        let has_kind = |vehicle_type: u16, stack: u16| {
            (vehicle_type as usize) < self.types.names.len()
                && (stack as usize) < self.modules.stacks.len()
        };
        let knows = |agent: usize, who: &Identity| {
            (who.vehicle_type as usize) < self.types.count()
                && has_kind(self.types.whole(who.vehicle_type), who.stack)
                && self.modules.pools.have(who.modules)
                && self.dynamics.holds(who.level, agent)
                && self
                    .dynamics
                    .rigid
                    .fits(agent, self.types.rigid(who.vehicle_type))
                && self
                    .dynamics
                    .trailers
                    .fit(agent as u32, self.types.train(who.vehicle_type))
        };
        let receives = |message: &Message| (message.to as usize) < capacity;
        let checks = [
            ("a lanelet", self.traffic.delays.0.len() == lanelets),
            ("an added vehicle", self.demand.spawned <= MOST_SPAWNED),
            (
                "a junction",
                self.traffic.claims.fits(&self.ground, capacity),
            ),
            (
                "a loose obstacle",
                self.dynamics.rigid.loose_fit(&self.ground),
            ),
            ("a trailer", self.dynamics.standing.fit(&self.types)),
            ("a signal", self.traffic.signals.fit(&self.ground)),
            ("a person", self.traffic.people.fits(&self.ground)),
            ("a route", self.routes.are_sound(lanelets)),
            (
                "an agent",
                self.agents.are_sound(lanelets, &self.routes, knows),
            ),
            ("a message", self.messages.mail.iter().all(receives)),
            (
                "a departure",
                self.demand.departures.iter().all(|departure| {
                    has_kind(departure.vehicle_type, departure.stack)
                        && departure.keeps_to(lanelets)
                }),
            ),
        ];
        match checks.into_iter().find(|(_, is_sound)| !is_sound) {
            Some((what, _)) => Err(SaveError::Damaged(format!("{what} points nowhere"))),
            None => Ok(()),
        }
    }
}
