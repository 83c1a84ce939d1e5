//! What scripts can use. One list registers it and documents it.

use super::agent::{Agent, Mail, Memory, Other};
use super::budget::charge;
use super::compile::Parameters;
use super::members::SIDES;
use rhai::{Array, Dynamic, Engine, EvalAltResult, ImmutableString, Map, Position};
use roadwright_agent::{Datum, Effect, Indicator, Letter, Slot};
use roadwright_geometry::DVec2;
use roadwright_plugin_api::NOTHING;
use serde::Serialize;
use std::sync::OnceLock;

/// Entries of a message.
const MOST_DATA: usize = 16;
/// What effects count for, in operations: letters, routes, and modules of an agent's own.
const LETTER: u64 = 100;
const ROUTE: u64 = 500;
const MODULE: u64 = 300;

/// Looking along the way ahead, in operations.
const LOOK_AHEAD: u64 = 20;
/// Topic of the horn, and how far it is heard, m.
pub(super) const HORN: &str = "horn";
const HORN_REACH: f64 = 50.0;

/// What kind of thing an item of the interface is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ApiKind {
    /// A function that the script defines and the host calls.
    Event,
    /// A property that can be read.
    Property,
    /// A property that can also be set.
    Setting,
    /// A function of an object.
    Method,
    /// A function.
    Function,
}

/// An item of the interface of scripts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ApiItem {
    /// `agent`, `other`, `message`, `memory`, or empty.
    pub owner: &'static str,
    /// What kind of thing it is.
    pub kind: ApiKind,
    /// Its name.
    pub name: &'static str,
    /// How it is written, with the types.
    pub signature: &'static str,
    /// What it is, in one sentence, with its unit.
    pub doc: &'static str,
}

/// Registers and documents at the same time.
struct Registrar<'a> {
    engine: &'a mut Engine,
    items: Vec<ApiItem>,
    owner: &'static str,
}

impl Registrar<'_> {
    fn note(
        &mut self,
        kind: ApiKind,
        name: &'static str,
        signature: &'static str,
        doc: &'static str,
    ) {
        // Overloads are documented where they first come.
        let known = |item: &ApiItem| item.owner == self.owner && item.signature == signature;
        if !self.items.iter().any(known) {
            self.items.push(ApiItem {
                owner: self.owner,
                kind,
                name,
                signature,
                doc,
            });
        }
    }
}

macro_rules! get {
    ($api:ident, $name:literal, $signature:literal, $doc:literal, $get:expr) => {
        $api.engine.register_get($name, $get);
        $api.note(ApiKind::Property, $name, $signature, $doc);
    };
}

macro_rules! set {
    ($api:ident, $name:literal, $signature:literal, $doc:literal, $get:expr, $set:expr) => {
        $api.engine.register_get($name, $get);
        $api.engine.register_set($name, $set);
        $api.note(ApiKind::Setting, $name, $signature, $doc);
    };
}

macro_rules! call {
    ($api:ident, $name:literal, $signature:literal, $doc:literal, $call:expr) => {
        $api.engine.register_fn($name, $call);
        $api.note(ApiKind::Method, $name, $signature, $doc);
    };
}

type Outcome<T> = Result<T, Box<EvalAltResult>>;

fn fail<T>(message: String) -> Outcome<T> {
    Err(EvalAltResult::ErrorRuntime(message.into(), Position::NONE).into())
}

/// A number, whole or not.
fn number(value: &Dynamic) -> Outcome<f64> {
    if let Ok(number) = value.as_float() {
        return if number.is_finite() {
            Ok(number)
        } else {
            fail(format!("{number} is no usable number"))
        };
    }
    match value.as_int() {
        Ok(number) => Ok(number as f64),
        Err(found) => fail(format!("a number is needed here, not {found}")),
    }
}

/// An agent or its id.
fn id_of(value: &Dynamic) -> Outcome<i64> {
    if let Some(other) = value.read_lock::<Other>() {
        return Ok(other.facts.id as i64);
    }
    match value.as_int() {
        Ok(id) => Ok(id),
        Err(found) => fail(format!("an agent or its id is needed here, not {found}")),
    }
}

fn slot_of(name: &str) -> Outcome<Slot> {
    match Slot::from_name(name) {
        Some(slot) => Ok(slot),
        None => fail(format!(
            "\"{name}\" is no slot; there are {}",
            Slot::ALL.map(Slot::name).join(", ")
        )),
    }
}

fn turn_name(turn: f64) -> ImmutableString {
    match turn as i64 {
        1 => "left",
        -1 => "right",
        2 => "back",
        _ => "straight",
    }
    .into()
}

/// Registers everything that scripts can use; gives what it is.
pub(super) fn register(engine: &mut Engine, parameters: &Parameters) -> Vec<ApiItem> {
    engine.register_type_with_name::<Agent>("Agent");
    engine.register_type_with_name::<Other>("Other");
    engine.register_type_with_name::<Mail>("Message");
    engine.register_type_with_name::<Memory>("Memory");
    let mut api = Registrar {
        engine,
        items: Vec::new(),
        owner: "",
    };
    events(&mut api);
    functions(&mut api, parameters);
    api.owner = "agent";
    agent_state(&mut api);
    agent_road(&mut api);
    agent_wants(&mut api);
    agent_calls(&mut api);
    agent_messages(&mut api);
    api.owner = "other";
    other(&mut api);
    api.owner = "message";
    message(&mut api);
    api.items
}

fn events(api: &mut Registrar<'_>) {
    use ApiKind::Event;
    for (name, signature, doc) in [
        (
            "behave",
            "fn behave(agent)",
            "Called for every agent at the rate of its stack (4 Hz unless it says otherwise). Every script has it.",
        ),
        (
            "on_start",
            "fn on_start(agent)",
            "Called once, before the first behave.",
        ),
        (
            "on_arrive",
            "fn on_arrive(agent)",
            "Called at the last destination. Without a new destination or a wait the agent then leaves the road.",
        ),
        (
            "on_blocked",
            "fn on_blocked(agent)",
            "Called when the agent has been standing for ten seconds, and every ten seconds after that, unless it stands because the script wants it to.",
        ),
        (
            "on_message",
            "fn on_message(agent, message)",
            "Called for every message that has come since the last call.",
        ),
        (
            "on_near",
            "fn on_near(agent, other)",
            "Called for every agent that has come within 30 m since the last call.",
        ),
        (
            "on_collision",
            "fn on_collision(agent, other)",
            "Called for every collision that it has been in since the last call; other is () if that was no vehicle.",
        ),
        (
            "on_no_route",
            "fn on_no_route(agent)",
            "Called after a go_to to where no way leads. Without this handler an agent that has arrived then leaves the road.",
        ),
    ] {
        api.note(Event, name, signature, doc);
    }
}

fn functions(api: &mut Registrar<'_>, parameters: &Parameters) {
    use ApiKind::Function;
    let described = parameters.clone();
    api.engine.register_fn(
        "parameter",
        move |key: &str, default: Dynamic, min: Dynamic, max: Dynamic, unit: &str, doc: &str| {
            let (default, min, max) = (number(&default)?, number(&min)?, number(&max)?);
            described
                .add(key, (min, max), default, unit, doc)
                .or_else(fail)
        },
    );
    api.note(
        Function,
        "parameter",
        "parameter(key: string, default: float, min: float, max: float, unit: string, doc: string)",
        "At the top of a script: describes a parameter that stacks can set and the editor shows as a slider.",
    );
    api.engine
        .register_fn("distance", |x1: f64, y1: f64, x2: f64, y2: f64| {
            (DVec2::new(x1, y1) - DVec2::new(x2, y2)).length()
        });
    api.note(
        Function,
        "distance",
        "distance(x1: float, y1: float, x2: float, y2: float) -> float",
        "Distance between two places, m.",
    );
}

fn agent_state(api: &mut Registrar<'_>) {
    get!(
        api,
        "id",
        "agent.id -> int",
        "Its id.",
        |a: &mut Agent| a.content().id as i64
    );
    get!(
        api,
        "time",
        "agent.time -> float",
        "Simulation time, s.",
        |a: &mut Agent| a.content().time
    );
    get!(
        api,
        "time_of_day",
        "agent.time_of_day -> float",
        "Time of day in the scenario, h, from 0 to below 24.",
        |a: &mut Agent| {
            let content = a.content();
            content
                .scene
                .as_ref()
                .map_or(12.0, |scene| scene.time_of_day)
        }
    );
    get!(
        api,
        "speed",
        "agent.speed -> float",
        "Own speed, m/s.",
        |a: &mut Agent| a.content().input.speed
    );
    get!(
        api,
        "x",
        "agent.x -> float",
        "Place of the rear axle to the east, m.",
        |a: &mut Agent| a.place().x
    );
    get!(
        api,
        "y",
        "agent.y -> float",
        "Place of the rear axle to the north, m.",
        |a: &mut Agent| a.place().y
    );
    get!(
        api,
        "heading",
        "agent.heading -> float",
        "Heading counter-clockwise from east, rad.",
        |a: &mut Agent| a.content().facts.map_or(0.0, |facts| facts.heading)
    );
    get!(
        api,
        "length",
        "agent.length -> float",
        "Length of the vehicle, m.",
        |a: &mut Agent| a.content().facts.map_or(0.0, |facts| facts.length)
    );
    get!(
        api,
        "vehicle",
        "agent.vehicle -> string",
        "Name of its vehicle type.",
        |a: &mut Agent| own_name(a, |scene| &scene.vehicles, |facts| facts.vehicle)
    );
    get!(
        api,
        "stack",
        "agent.stack -> string",
        "Name of its stack.",
        |a: &mut Agent| own_name(a, |scene| &scene.stacks, |facts| facts.stack)
    );
    get!(
        api,
        "waiting",
        "agent.waiting -> float",
        "How long it has been standing, s.",
        |a: &mut Agent| a.content().input.waiting
    );
    get!(
        api,
        "collisions",
        "agent.collisions -> int",
        "How many collisions it has been in.",
        |a: &mut Agent| i64::from(a.content().collisions)
    );
    get!(
        api,
        "memory",
        "agent.memory -> Memory",
        "What it remembers by name: up to 64 numbers, truth values and texts, kept when the script is reloaded. A name without a value gives ().",
        |a: &mut Agent| a.memory()
    );
    api.engine.register_indexer_get_set(
        |m: &mut Memory, name: &str| m.get(name),
        |m: &mut Memory, name: &str, value: Dynamic| m.set(name, value).or_else(fail),
    );
}

fn own_name(
    agent: &Agent,
    names: fn(&roadwright_agent::Scene) -> &Vec<String>,
    index: fn(&roadwright_agent::AgentFacts) -> u16,
) -> ImmutableString {
    let content = agent.content();
    let name = content.scene.as_ref().zip(content.facts);
    let name = name.and_then(|(scene, facts)| names(scene).get(index(&facts) as usize));
    name.map_or_else(ImmutableString::new, |name| name.as_str().into())
}

fn agent_road(api: &mut Registrar<'_>) {
    get!(
        api,
        "road",
        "agent.road -> int",
        "Id of the road that it is on; -1 in junctions and on open ground.",
        |a: &mut Agent| road_of(a.content().facts.as_ref())
    );
    get!(
        api,
        "lane",
        "agent.lane -> int",
        "Lane id on that road; 0 where there is none.",
        |a: &mut Agent| a.content().facts.map_or(0, |facts| i64::from(facts.lane))
    );
    get!(
        api,
        "s",
        "agent.s -> float",
        "Distance along its lane, m.",
        |a: &mut Agent| a.content().facts.map_or(0.0, |facts| facts.s)
    );
    get!(
        api,
        "road_speed",
        "agent.road_speed -> float",
        "Speed that limit and bends allow here, m/s.",
        |a: &mut Agent| a.content().input.road_speed
    );
    get!(
        api,
        "speed_limit",
        "agent.speed_limit -> float",
        "Speed limit of its lane, m/s.",
        |a: &mut Agent| a.content().facts.map_or(0.0, |facts| facts.speed_limit)
    );
    call!(
        api,
        "road_speed_within",
        "agent.road_speed_within(distance: float) -> float",
        "Lowest speed that limits and bends allow on its way within a distance, m/s; it looks 200 m ahead at most, and a million stands for a way that ends before.",
        |a: &mut Agent, distance: Dynamic| -> Outcome<f64> {
            charge(LOOK_AHEAD)?;
            Ok(a.road_speed_within(number(&distance)?))
        }
    );
    get!(
        api,
        "offset",
        "agent.offset -> float",
        "Distance to the left of its lane's middle, m.",
        |a: &mut Agent| a.content().facts.map_or(0.0, |facts| facts.t)
    );
    get!(
        api,
        "lane_remaining",
        "agent.lane_remaining -> float",
        "Distance to the end of the lane, m.",
        |a: &mut Agent| a.content().input.lane_remaining
    );
    get!(
        api,
        "has_lane_left",
        "agent.has_lane_left -> bool",
        "Whether there is a lane to the left that one can change to.",
        |a: &mut Agent| a.content().input.lane_left > 0.0
    );
    get!(
        api,
        "has_lane_right",
        "agent.has_lane_right -> bool",
        "Whether there is a lane to the right that one can change to.",
        |a: &mut Agent| a.content().input.lane_right > 0.0
    );
    get!(
        api,
        "leader",
        "agent.leader -> Other",
        "The vehicle ahead on its way, within 200 m; () if there is none.",
        |a: &mut Agent| other_of(a, |facts| facts.leader)
    );
    get!(
        api,
        "follower",
        "agent.follower -> Other",
        "The nearest vehicle behind whose way it is ahead on; () if there is none.",
        |a: &mut Agent| other_of(a, |facts| facts.follower)
    );
    get!(
        api,
        "leader_gap",
        "agent.leader_gap -> float",
        "Free space to the vehicle ahead in the lane, m; a million if there is none.",
        |a: &mut Agent| a.content().input.leader_gap
    );
    get!(
        api,
        "leader_speed",
        "agent.leader_speed -> float",
        "Speed of the vehicle ahead in the lane, m/s.",
        |a: &mut Agent| a.content().input.leader_speed
    );
    get!(
        api,
        "junction_distance",
        "agent.junction_distance -> float",
        "Distance to the next junction on the route, m; a million if there is none.",
        |a: &mut Agent| a.content().input.junction_distance
    );
    get!(
        api,
        "junction_turn",
        "agent.junction_turn -> string",
        "How the route leads through it: left, right, straight or back.",
        |a: &mut Agent| turn_name(a.content().input.junction_turn)
    );
    get!(
        api,
        "goal_distance",
        "agent.goal_distance -> float",
        "Straight distance to the next destination, m.",
        |a: &mut Agent| a.content().input.goal_distance
    );
    get!(
        api,
        "goal_x",
        "agent.goal_x -> float",
        "Place of the next destination to the east, m.",
        |a: &mut Agent| goal_of(a).x
    );
    get!(
        api,
        "goal_y",
        "agent.goal_y -> float",
        "Place of the next destination to the north, m.",
        |a: &mut Agent| goal_of(a).y
    );
}

fn goal_of(agent: &Agent) -> DVec2 {
    let content = agent.content();
    let facts = content.facts;
    let goal = facts.and_then(|facts| facts.goal);
    goal.unwrap_or_else(|| facts.map_or(DVec2::ZERO, |facts| facts.position))
}

fn road_of(facts: Option<&roadwright_agent::AgentFacts>) -> i64 {
    let road = facts.and_then(|facts| facts.road);
    road.map_or(-1, |road| i64::from(road.0))
}

fn agent_wants(api: &mut Registrar<'_>) {
    set!(
        api,
        "desired_speed",
        "agent.desired_speed = float",
        "Highest speed, m/s; it stays so until it is set again. A million stands for no wish.",
        |a: &mut Agent| a.content().wants.desired_speed,
        |a: &mut Agent, value: Dynamic| -> Outcome<()> {
            a.content().wants.desired_speed = number(&value)?.clamp(0.0, NOTHING);
            Ok(())
        }
    );
    set!(
        api,
        "speed_factor",
        "agent.speed_factor = float",
        "Factor on the speed that the road allows, 0 to 2; it stays so until it is set again.",
        |a: &mut Agent| a.content().wants.speed_factor,
        |a: &mut Agent, value: Dynamic| -> Outcome<()> {
            a.content().wants.speed_factor = number(&value)?.clamp(0.0, 2.0);
            Ok(())
        }
    );
    call!(
        api,
        "stop",
        "agent.stop()",
        "Stands until resume() is called.",
        |a: &mut Agent| a.content().wants.is_stopped = true
    );
    call!(
        api,
        "resume",
        "agent.resume()",
        "Goes on after stop(), wait() or brake(), and keeps to no lane any more.",
        |a: &mut Agent| {
            let mut content = a.content();
            content.wants.is_stopped = false;
            content.wants.waits_until = f64::NEG_INFINITY;
            content.wants.use_lane = None;
            content.wants.braking = 0.0;
        }
    );
    call!(
        api,
        "brake",
        "agent.brake(deceleration: float)",
        "Brakes at least this hard, m/s^2, as far as the vehicle can, until resume() or brake(0).",
        |a: &mut Agent, braking: Dynamic| -> Outcome<()> {
            let braking = number(&braking)?;
            if braking < 0.0 {
                return fail(format!("brake: {braking} m/s^2 is below 0"));
            }
            a.content().wants.braking = braking;
            Ok(())
        }
    );
    call!(
        api,
        "leave",
        "agent.leave()",
        "Leaves the road at once, wherever it is.",
        |a: &mut Agent| a.ask(Effect::Leave)
    );
    set!(
        api,
        "indicator",
        "agent.indicator = string",
        "How it signals: \"left\", \"right\", \"hazard\" or \"off\"; it stays so until it is set again.",
        |a: &mut Agent| -> ImmutableString { a.content().wants.indicator.name().into() },
        |a: &mut Agent, name: &str| -> Outcome<()> {
            let Some(indicator) = Indicator::from_name(name) else {
                let names = Indicator::ALL.map(Indicator::name).join(", ");
                return fail(format!("\"{name}\" is no way to signal; there are {names}"));
            };
            a.content().wants.indicator = indicator;
            a.ask(Effect::Indicate(indicator));
            Ok(())
        }
    );
    call!(
        api,
        "honk",
        "agent.honk()",
        "Sounds the horn: everybody within 50 m gets a message with the topic \"horn\".",
        |a: &mut Agent| -> Outcome<()> {
            broadcast(a, HORN_REACH, letter(HORN, Dynamic::from(0.0))?);
            Ok(())
        }
    );
    call!(
        api,
        "use_lane",
        "agent.use_lane(lane: int)",
        "Changes to a lane of its road, by id and in its direction, whenever there is room, and keeps to it until resume() or until the route needs another one.",
        |a: &mut Agent, lane: i64| -> Outcome<()> {
            match i8::try_from(lane) {
                Ok(lane) if lane != 0 && lane != i8::MIN => {
                    a.content().wants.use_lane = Some(lane);
                    Ok(())
                }
                _ => fail(format!(
                    "use_lane: {lane} is no lane; ids are -127 to -1 and 1 to 127"
                )),
            }
        }
    );
    call!(
        api,
        "drive_path",
        "agent.drive_path(points: array)",
        "Drives along places [x, y, speed], in m and m/s, over lanes and ground alike; traffic rules are not looked at meanwhile. At the end it has arrived; go_to() takes it back onto the lane that is close.",
        |a: &mut Agent, points: Array| -> Outcome<()> {
            charge(ROUTE + points.len() as u64)?;
            a.drive_path(Effect::DrivePath(path_of(&points)?));
            Ok(())
        }
    );
    call!(
        api,
        "pull_over",
        "agent.pull_over(offset: float, within: float)",
        "Drives beside its lane, so far to the left of its middle (below 0: to the right, as to the kerb), m, within a distance, m, and stands there. At the end it has arrived; go_to() takes it back.",
        |a: &mut Agent, offset: Dynamic, within: Dynamic| -> Outcome<()> {
            let swerve = swerve(&offset, &within, 0.0, false)?;
            charge(ROUTE)?;
            a.drive_path(swerve);
            Ok(())
        }
    );
    call!(
        api,
        "park",
        "agent.park(x: float, y: float, heading: float)",
        "Drives into a bay near by and stands there, its middle at a place, m, with a heading, rad: forwards if the bend is not too tight for it, else backwards from farther on along its lane. Then it has arrived; go_to() takes it out again, backwards if no lane leads on. Between two others it needs about 12 m for a car.",
        |a: &mut Agent, x: Dynamic, y: Dynamic, heading: Dynamic| -> Outcome<()> {
            charge(ROUTE)?;
            let place = DVec2::new(number(&x)?, number(&y)?);
            a.drive_path(Effect::Park(place, number(&heading)?));
            Ok(())
        }
    );
    call!(
        api,
        "park",
        "agent.park(place: array)",
        "The same with a place that has a heading.",
        |a: &mut Agent, place: Array| -> Outcome<()> {
            charge(ROUTE)?;
            let [x, y, heading] = place.as_slice() else {
                return fail("park: this place has no heading; a bay is [x, y, heading]".into());
            };
            let middle = DVec2::new(number(x)?, number(y)?);
            a.drive_path(Effect::Park(middle, number(heading)?));
            Ok(())
        }
    );
    call!(
        api,
        "pass",
        "agent.pass(offset: float, within: float, along: float)",
        "Passes what stands: drives so far to the left of its lane's middle (below 0: to the right), m, over a distance, m, gets there and back within another one, and then goes on to its destinations. Who comes is not looked at.",
        |a: &mut Agent, offset: Dynamic, within: Dynamic, along: Dynamic| -> Outcome<()> {
            let swerve = swerve(&offset, &within, number(&along)?, true)?;
            charge(ROUTE)?;
            a.drive_path(swerve);
            Ok(())
        }
    );
    call!(
        api,
        "add_vehicle",
        "agent.add_vehicle(vehicle: string, stack: string, x: float, y: float, goal_x: float, goal_y: float)",
        "Lets another vehicle appear at the lane nearest to a place, m, and drive to another one; 100,000 in a run at most.",
        |a: &mut Agent,
         vehicle: &str,
         stack: &str,
         x: Dynamic,
         y: Dynamic,
         goal_x: Dynamic,
         goal_y: Dynamic|
         -> Outcome<()> {
            charge(ROUTE)?;
            a.ask(Effect::Spawn {
                vehicle: short(vehicle),
                stack: short(stack),
                from: DVec2::new(number(&x)?, number(&y)?),
                to: DVec2::new(number(&goal_x)?, number(&goal_y)?),
            });
            Ok(())
        }
    );
    call!(
        api,
        "random_place",
        "agent.random_place() -> array",
        "A random place [x, y] in the middle of a lane, m.",
        |a: &mut Agent| -> Array {
            let place = a.random_place();
            vec![place.x.into(), place.y.into()]
        }
    );
    call!(
        api,
        "place",
        "agent.place(name: string) -> array",
        "Where the point of interest with this name is, or else the middle of the street: [x, y] in m, or [x, y, heading] if it says how one stands there.",
        |a: &mut Agent, name: &str| -> Outcome<Array> {
            let place = a.place_named(name).or_else(fail)?;
            let at = [place.position.x, place.position.y];
            let numbers = at.into_iter().chain(place.heading);
            Ok(numbers.map(Dynamic::from).collect())
        }
    );
    call!(
        api,
        "is_within",
        "agent.is_within(x: float, y: float, radius: float) -> bool",
        "Whether it is within a distance of a place, m.",
        |a: &mut Agent, x: Dynamic, y: Dynamic, radius: Dynamic| -> Outcome<bool> {
            let place = DVec2::new(number(&x)?, number(&y)?);
            Ok((a.place() - place).length() <= number(&radius)?)
        }
    );
    call!(
        api,
        "once",
        "agent.once(name: string, condition: bool) -> bool",
        "Whether a condition holds for the first time under this name; 64 names at most.",
        |a: &mut Agent, name: &str, holds: bool| a.once(name, holds).or_else(fail)
    );
    call!(
        api,
        "every",
        "agent.every(name: string, seconds: float) -> bool",
        "Whether so much time has passed since this was true last under this name; true the first time; 64 names at most.",
        |a: &mut Agent, name: &str, seconds: Dynamic| -> Outcome<bool> {
            a.every(name, number(&seconds)?).or_else(fail)
        }
    );
    call!(
        api,
        "join",
        "agent.join(group: string)",
        "Becomes a member of a group, such as \"taxi\"; there are 256 groups at most.",
        |a: &mut Agent, group: &str| a.ask(Effect::Join(short(group)))
    );
    call!(
        api,
        "quit",
        "agent.quit(group: string)",
        "Is a member of a group no more; who leaves the road is in none.",
        |a: &mut Agent, group: &str| a.ask(Effect::Quit(short(group)))
    );
    call!(
        api,
        "members",
        "agent.members(group: string) -> array",
        "The other members of a group in the order of their ids, 64 at most.",
        |a: &mut Agent, group: &str| -> Outcome<Array> {
            let members = a.members(group);
            charge(members.len() as u64)?;
            Ok(members.into_iter().map(Dynamic::from).collect())
        }
    );
    call!(
        api,
        "wait",
        "agent.wait(seconds: float)",
        "Stands for a time, s.",
        |a: &mut Agent, seconds: Dynamic| -> Outcome<()> {
            let seconds = number(&seconds)?;
            let mut content = a.content();
            content.wants.waits_until = content.time + seconds.max(0.0);
            Ok(())
        }
    );
    get!(
        api,
        "is_waiting",
        "agent.is_waiting -> bool",
        "Whether it stands because of stop() or wait().",
        |a: &mut Agent| {
            let content = a.content();
            content.wants.is_stopped || content.time < content.wants.waits_until
        }
    );
    call!(
        api,
        "prefer_lane",
        "agent.prefer_lane(side: string)",
        "Changes to the \"left\" or \"right\" lane whenever there is room and the route allows it; \"any\" ends that.",
        |a: &mut Agent, side: &str| -> Outcome<()> {
            a.content().wants.lane = match side {
                "left" => 1.0,
                "right" => -1.0,
                "any" => 0.0,
                _ => {
                    let sides = SIDES.join(", ");
                    return fail(format!("\"{side}\" is no side; there are {sides}"));
                }
            };
            Ok(())
        }
    );
    call!(
        api,
        "overtake",
        "agent.overtake()",
        "For twelve seconds, changes to the lane beside whenever a slower vehicle is close ahead.",
        |a: &mut Agent| {
            let mut content = a.content();
            content.wants.overtakes_until = content.time + 12.0;
        }
    );
}

fn agent_calls(api: &mut Registrar<'_>) {
    call!(
        api,
        "go_to",
        "agent.go_to(x: float, y: float)",
        "Drives to the lane nearest to a place, m, instead of its destination; from the end of a path by the lane that is close. Where no way leads, on_no_route is called.",
        |a: &mut Agent, x: Dynamic, y: Dynamic| -> Outcome<()> {
            charge(ROUTE)?;
            a.go_to(number(&x)?, number(&y)?);
            Ok(())
        }
    );
    call!(
        api,
        "go_to",
        "agent.go_to(place: array)",
        "The same with a place [x, y], such as agent.place() gives.",
        |a: &mut Agent, place: Array| -> Outcome<()> {
            charge(ROUTE)?;
            let [x, y, ..] = place.as_slice() else {
                return fail("go_to: a place is an array [x, y]".into());
            };
            a.go_to(number(x)?, number(y)?);
            Ok(())
        }
    );
    call!(
        api,
        "follow",
        "agent.follow(other)",
        "Drives to where another agent is, given by itself or its id, wherever it goes.",
        |a: &mut Agent, other: Dynamic| -> Outcome<()> {
            a.follow(id_of(&other)?);
            Ok(())
        }
    );
    call!(
        api,
        "flee",
        "agent.flee(other)",
        "Drives along the roads that lead away from another agent, given by itself or its id.",
        |a: &mut Agent, other: Dynamic| -> Outcome<()> {
            a.flee(id_of(&other)?);
            Ok(())
        }
    );
    call!(
        api,
        "nearby",
        "agent.nearby(radius: float) -> array",
        "Others within a distance, m, the nearest first, 64 at most.",
        |a: &mut Agent, radius: Dynamic| -> Outcome<Array> {
            let (others, work) = a.nearby(number(&radius)?);
            charge(work)?;
            Ok(others.into_iter().map(Dynamic::from).collect())
        }
    );
    call!(
        api,
        "find",
        "agent.find(id: int) -> Other",
        "Another agent that drives, by its id; () if there is none.",
        |a: &mut Agent, id: i64| a.find(id).map_or(Dynamic::UNIT, Dynamic::from)
    );
    call!(
        api,
        "rand",
        "agent.rand() -> float",
        "A random number from 0 to 1 that depends on run, agent and step only.",
        |a: &mut Agent| a.random()
    );
    call!(
        api,
        "rand",
        "agent.rand(low: float, high: float) -> float",
        "A random number of a range.",
        |a: &mut Agent, low: Dynamic, high: Dynamic| -> Outcome<f64> {
            let (low, high) = (number(&low)?, number(&high)?);
            Ok(low + (high - low) * a.random())
        }
    );
    call!(
        api,
        "parameter",
        "agent.parameter(key: string) -> float",
        "The value of a parameter that the script describes.",
        |a: &mut Agent, key: &str| -> Outcome<f64> {
            let content = a.content();
            let found = content.parameters.iter().find(|(known, _)| *known == key);
            match found {
                Some((_, value)) => Ok(*value),
                None => fail(format!("no parameter is called \"{key}\"")),
            }
        }
    );
    call!(
        api,
        "set_parameter",
        "agent.set_parameter(slot: string, key: string, value: float)",
        "Sets a parameter of its planner, controller or fitness, for this agent alone.",
        |a: &mut Agent, slot: &str, key: &str, value: Dynamic| -> Outcome<()> {
            let slot = slot_of(slot)?;
            if slot == Slot::Behaviour {
                return fail("a script does not set its own parameters; its stack does".into());
            }
            charge(MODULE)?;
            a.ask(Effect::SetParameter {
                slot,
                key: key.into(),
                value: number(&value)?,
            });
            Ok(())
        }
    );
    call!(
        api,
        "use_module",
        "agent.use_module(slot: string, id: string)",
        "Uses another module in a slot, for this agent alone; another behaviour begins with an empty memory.",
        |a: &mut Agent, slot: &str, id: &str| -> Outcome<()> {
            charge(MODULE)?;
            a.ask(Effect::UseModule {
                slot: slot_of(slot)?,
                module: id.into(),
            });
            Ok(())
        }
    );
}

fn agent_messages(api: &mut Registrar<'_>) {
    call!(
        api,
        "send",
        "agent.send(other, topic: string, value)",
        "Tells another agent something, with a number or a map of up to 16 numbers and texts; it hears it the next time it is asked.",
        |a: &mut Agent, other: Dynamic, topic: &str, value: Dynamic| -> Outcome<()> {
            send(a, &other, letter(topic, value)?)
        }
    );
    call!(
        api,
        "send",
        "agent.send(other, topic: string)",
        "The same without a number.",
        |a: &mut Agent, other: Dynamic, topic: &str| {
            send(a, &other, letter(topic, Dynamic::from(0.0))?)
        }
    );
    call!(
        api,
        "send_group",
        "agent.send_group(group: string, topic: string, value)",
        "Tells all other members of a group something, with a number or a map.",
        |a: &mut Agent, group: &str, topic: &str, value: Dynamic| -> Outcome<()> {
            a.ask(Effect::SendGroup {
                group: short(group),
                letter: letter(topic, value)?,
            });
            Ok(())
        }
    );
    call!(
        api,
        "broadcast",
        "agent.broadcast(radius: float, topic: string, value)",
        "Tells everybody within a distance, m, something, with a number or a map.",
        |a: &mut Agent, radius: Dynamic, topic: &str, value: Dynamic| -> Outcome<()> {
            broadcast(a, number(&radius)?, letter(topic, value)?);
            Ok(())
        }
    );
    call!(
        api,
        "broadcast",
        "agent.broadcast(radius: float, topic: string)",
        "The same without a number.",
        |a: &mut Agent, radius: Dynamic, topic: &str| -> Outcome<()> {
            broadcast(a, number(&radius)?, letter(topic, Dynamic::from(0.0))?);
            Ok(())
        }
    );
    call!(
        api,
        "log",
        "agent.log(text)",
        "Writes a line to the run's log.",
        |a: &mut Agent, text: Dynamic| a.ask(Effect::Log(short(&text.to_string())))
    );
    call!(
        api,
        "mark",
        "agent.mark(text: string)",
        "Shows a text at the agent for a second.",
        |a: &mut Agent, text: &str| a.ask(Effect::Mark {
            at: None,
            text: short(text)
        })
    );
    call!(
        api,
        "mark",
        "agent.mark(x: float, y: float, text: string)",
        "Shows a text at a place for a second.",
        |a: &mut Agent, x: Dynamic, y: Dynamic, text: &str| -> Outcome<()> {
            a.ask(Effect::Mark {
                at: Some(DVec2::new(number(&x)?, number(&y)?)),
                text: short(text),
            });
            Ok(())
        }
    );
}

/// At most 200 characters of a text.
fn short(text: &str) -> String {
    text.chars().take(200).collect()
}

/// What is told: a number, or a map of numbers and texts.
fn letter(topic: &str, value: Dynamic) -> Outcome<Letter> {
    // Those of the host begin with one.
    if topic.chars().any(char::is_control) {
        return fail("a topic has no control characters".into());
    }
    charge(LETTER)?;
    let mut letter = Letter {
        topic: short(topic),
        ..Letter::default()
    };
    let Some(map) = value.read_lock::<Map>() else {
        letter.value = number(&value)?;
        return Ok(letter);
    };
    if map.len() > MOST_DATA {
        return fail(format!(
            "a message has at most {MOST_DATA} entries, not {}",
            map.len()
        ));
    }
    for (key, value) in map.iter() {
        let datum = match value.clone().into_string() {
            Ok(text) => Datum::Text(short(&text)),
            Err(_) => Datum::Number(number(value)?),
        };
        letter.data.insert(short(key), datum);
    }
    Ok(letter)
}

fn send(agent: &Agent, to: &Dynamic, letter: Letter) -> Outcome<()> {
    agent.ask(Effect::Send {
        to: id_of(to)? as u64,
        letter,
    });
    Ok(())
}

fn broadcast(agent: &Agent, radius: f64, letter: Letter) {
    agent.ask(Effect::Broadcast {
        radius: radius.clamp(0.0, 2000.0),
        letter,
    });
}

/// Places and speeds of a path.
fn path_of(points: &Array) -> Outcome<Vec<(DVec2, f64)>> {
    let point = |point: &Dynamic| -> Outcome<(DVec2, f64)> {
        let parts = point.read_lock::<Array>();
        match parts.as_deref().map(Vec::as_slice) {
            Some([x, y, speed]) => Ok((DVec2::new(number(x)?, number(y)?), number(speed)?)),
            _ => fail("drive_path: a point is an array [x, y, speed]".into()),
        }
    };
    points.iter().map(point).collect()
}

fn swerve(offset: &Dynamic, within: &Dynamic, along: f64, comes_back: bool) -> Outcome<Effect> {
    let (offset, within) = (number(offset)?, number(within)?);
    if offset.abs() > 20.0 || !(2.0..=200.0).contains(&within) || !(0.0..=500.0).contains(&along) {
        return fail(
            "an offset is -20 to 20 m, reached within 2 to 200 m and kept over 0 to 500 m".into(),
        );
    }
    Ok(Effect::Swerve {
        offset,
        within,
        along,
        comes_back,
    })
}

fn other_of(agent: &Agent, id: fn(&roadwright_agent::AgentFacts) -> Option<u64>) -> Dynamic {
    let id = agent.content().facts.as_ref().and_then(id);
    let other = id.and_then(|id| agent.find(id as i64));
    other.map_or(Dynamic::UNIT, Dynamic::from)
}

fn other(api: &mut Registrar<'_>) {
    get!(
        api,
        "id",
        "other.id -> int",
        "Its id.",
        |o: &mut Other| o.facts.id as i64
    );
    get!(
        api,
        "x",
        "other.x -> float",
        "Place of its rear axle to the east, m.",
        |o: &mut Other| o.facts.position.x
    );
    get!(
        api,
        "y",
        "other.y -> float",
        "Place of its rear axle to the north, m.",
        |o: &mut Other| o.facts.position.y
    );
    get!(
        api,
        "heading",
        "other.heading -> float",
        "Its heading, rad.",
        |o: &mut Other| o.facts.heading
    );
    get!(
        api,
        "speed",
        "other.speed -> float",
        "Its speed, m/s.",
        |o: &mut Other| o.facts.speed
    );
    get!(
        api,
        "length",
        "other.length -> float",
        "Its length, m.",
        |o: &mut Other| o.facts.length
    );
    get!(
        api,
        "distance",
        "other.distance -> float",
        "How far away it is, m.",
        |o: &mut Other| o.distance
    );
    get!(
        api,
        "angle",
        "other.angle -> float",
        "Where it is against the own heading, rad, positive to the left.",
        |o: &mut Other| o.angle
    );
    get!(
        api,
        "vehicle",
        "other.vehicle -> string",
        "Name of its vehicle type.",
        |o: &mut Other| o.vehicle.clone()
    );
    get!(
        api,
        "stack",
        "other.stack -> string",
        "Name of its stack.",
        |o: &mut Other| o.stack.clone()
    );
    get!(
        api,
        "road",
        "other.road -> int",
        "Id of the road that it is on; -1 in junctions and on open ground.",
        |o: &mut Other| road_of(Some(&o.facts))
    );
    get!(
        api,
        "offset",
        "other.offset -> float",
        "Its distance to the left of its lane's middle, m.",
        |o: &mut Other| o.facts.t
    );
    get!(
        api,
        "indicator",
        "other.indicator -> string",
        "How it signals: left, right, hazard or off.",
        |o: &mut Other| -> ImmutableString { o.facts.indicator.name().into() }
    );
    get!(
        api,
        "lane",
        "other.lane -> int",
        "Its lane id; 0 where there is none.",
        |o: &mut Other| i64::from(o.facts.lane)
    );
}

fn message(api: &mut Registrar<'_>) {
    get!(
        api,
        "from",
        "message.from -> int",
        "Id of the sender.",
        |m: &mut Mail| m.from
    );
    get!(
        api,
        "topic",
        "message.topic -> string",
        "What it is about.",
        |m: &mut Mail| m.topic.clone()
    );
    get!(
        api,
        "value",
        "message.value -> float",
        "The number that goes with it.",
        |m: &mut Mail| m.value
    );
    get!(
        api,
        "data",
        "message.data -> map",
        "What else goes with it, by name.",
        |m: &mut Mail| -> Map {
            let entries = m.data.iter().map(|(key, datum)| {
                let value = match datum {
                    Datum::Number(number) => Dynamic::from(*number),
                    Datum::Text(text) => Dynamic::from(text.clone()),
                };
                (key.as_str().into(), value)
            });
            entries.collect()
        }
    );
}

/// Everything that scripts can use. Made once for the process.
pub fn api() -> &'static [ApiItem] {
    static ITEMS: OnceLock<Vec<ApiItem>> = OnceLock::new();
    ITEMS.get_or_init(|| register(&mut Engine::new_raw(), &Parameters::default()))
}

/// The same as a page of documentation.
pub fn api_markdown() -> String {
    let mut page = String::from(
        "# What scripts can use\n\n\
         Made by `roadwright script api --markdown`.\n\
         Units are metres, seconds and radians; angles are positive to the left.\n\
         Beside this there are Rhai's own operators, arithmetic, texts, arrays and object maps.\n",
    );
    for (owner, title) in [
        ("", "Functions of the script, and for all"),
        ("agent", "agent"),
        ("other", "other: another agent"),
        ("message", "message"),
    ] {
        page += &format!("\n## {title}\n\n| | |\n| --- | --- |\n");
        for item in api().iter().filter(|item| item.owner == owner) {
            page += &format!("| `{}` | {} |\n", item.signature, item.doc);
        }
    }
    page
}
