//! Controllers steer and accelerate.

use super::pivot::Pivot;
use crate::agents::ControlColumns;
use crate::clock::Clock;
use crate::dynamics::stride;
use crate::modules::{Due, Modules, Rota, Rows, Sharing, batches};
use crate::perception::{Look, Surroundings, View};
use crate::records::{AgentIndex, Order, Statistics};
use roadwright_agent::{Controller, Module, PathInput, Step};
use roadwright_plugin_api::{
    ControllerInput, ControllerOutput, NOTHING, PedalsInput, PedalsOutput,
};
use roadwright_scenario::lane_graph::{LaneletIndex, NO_LANELET};

/// What the stage keeps between steps.
#[derive(Default)]
pub(crate) struct Controlling {
    rota: Rota,
    asking: Asking,
}

impl Controlling {
    /// Bytes of the rows.
    pub(crate) fn bytes(&self) -> usize {
        self.asking.rows.bytes() + self.asking.pedals.bytes() + self.asking.paths.bytes()
    }
}

/// What is filled anew with each question.
#[derive(Default)]
struct Asking {
    rows: Rows<ControllerInput, ControllerOutput, Sample>,
    /// The same of those who drive by pedals.
    pedals: Rows<PedalsInput, PedalsOutput, Sample>,
    /// Rows of controllers that follow a path by a model of their vehicle.
    paths: Rows<PathInput, ControllerOutput, Sample>,
}

/// Who would have to brake harder than this to stand where it has to is held back, m/s^2. Controllers
/// that look ahead brake before.
const HELD_FROM: f64 = 5.0;
/// It is to stand so far before that place, m.
const HELD_BEFORE: f64 = 0.1;

/// Asks the controllers about the agents whose turn it is. Returns how many of them had to be held back
/// from driving over the place where they have to stand.
///
/// Who is of a level that holds a command for a stride is asked where his stride begins: what one says
/// within a stride would not be heard.
pub(crate) fn control(
    clock: &Clock,
    modules: &Modules,
    helpers: Option<&rayon::ThreadPool>,
    stage: &mut Controlling,
    surroundings: Surroundings<'_>,
    agents: &mut ControlColumns<'_>,
) -> u64 {
    let mut held = 0;
    let pool = &modules.pools.controller;
    let Controlling { rota, asking } = stage;
    rota.update_in_strides(pool, agents.census, |level| stride(level, clock.dt));
    for (number, instance) in pool.instances.iter().enumerate() {
        let module = instance.module();
        let asked = Asked {
            module,
            step: clock.moment(instance.rate),
            due: rota.due(number, clock.step),
        };
        held += asking.ask(helpers, asked, surroundings, agents);
        let (due, rate) = rota.due_in_strides(number, clock.step);
        let step = clock.moment(rate);
        let asked = Asked { module, step, due };
        held += asking.ask(helpers, asked, surroundings, agents);
    }
    held
}

/// A controller, when it is asked, and about which agents: by index and by id.
#[derive(Clone, Copy)]
struct Asked<'a> {
    module: &'a Module<dyn Controller>,
    step: Step<'a>,
    due: Due<'a>,
}

impl Asking {
    /// Asks a controller about agents in a step. Returns how many of them had to be held back.
    fn ask(
        &mut self,
        helpers: Option<&rayon::ThreadPool>,
        asked: Asked<'_>,
        surroundings: Surroundings<'_>,
        agents: &mut ControlColumns<'_>,
    ) -> u64 {
        // Batch by batch, while rows are in the cache: what is written of one batch (commands, who is held,
        // what is counted) is nothing that is perceived of the next.
        let by_pedals = asked.module.wants_pedals();
        let by_path = asked.module.path_parts().is_some();
        let sharing = Sharing {
            helpers,
            is_whole: asked.module.logic.asks_whole(),
        };
        let mut held = 0;
        for due in batches(sharing, asked.due) {
            let batch = Asked { due, ..asked };
            held += match (by_pedals, by_path) {
                (true, _) => ask_batch(&mut self.pedals, sharing, batch, surroundings, agents),
                (_, true) => ask_batch(&mut self.paths, sharing, batch, surroundings, agents),
                _ => ask_batch(&mut self.rows, sharing, batch, surroundings, agents),
            };
        }
        held
    }
}

/// What a controller is asked of one agent: for a command, or for pedals.
trait Question: Default + Clone + Send + Sync {
    type Answer: Default + Clone + Send;

    fn perceive(seen: &View<'_>, agent: AgentIndex, look: Look) -> Self;

    /// The part that all controllers are told.
    fn common(&mut self) -> &mut ControllerInput;

    fn put(module: &Module<dyn Controller>, step: &Step<'_>, all: &[Self], to: &mut [Self::Answer]);

    fn order(&self, answer: &Self::Answer) -> Order;
}

impl Question for ControllerInput {
    type Answer = ControllerOutput;

    fn perceive(seen: &View<'_>, agent: AgentIndex, look: Look) -> Self {
        seen.allowed_input(agent, look)
    }

    fn common(&mut self) -> &mut ControllerInput {
        self
    }

    fn put(
        module: &Module<dyn Controller>,
        step: &Step<'_>,
        all: &[Self],
        to: &mut [Self::Answer],
    ) {
        module.step(step, all, to);
    }

    fn order(&self, answer: &Self::Answer) -> Order {
        (*answer).into()
    }
}

impl Question for PedalsInput {
    type Answer = PedalsOutput;

    fn perceive(seen: &View<'_>, agent: AgentIndex, look: Look) -> Self {
        Self {
            seen: seen.allowed_input(agent, look),
            drive: seen.drive(agent),
        }
    }

    fn common(&mut self) -> &mut ControllerInput {
        &mut self.seen
    }

    fn put(
        module: &Module<dyn Controller>,
        step: &Step<'_>,
        all: &[Self],
        to: &mut [Self::Answer],
    ) {
        module.drive(step, all, to);
    }

    fn order(&self, answer: &Self::Answer) -> Order {
        Order::of_pedals(answer, &self.drive)
    }
}

impl Question for PathInput {
    type Answer = ControllerOutput;

    fn perceive(seen: &View<'_>, agent: AgentIndex, look: Look) -> Self {
        seen.path_input(agent, look)
    }

    fn common(&mut self) -> &mut ControllerInput {
        &mut self.seen
    }

    fn put(
        module: &Module<dyn Controller>,
        step: &Step<'_>,
        all: &[Self],
        to: &mut [Self::Answer],
    ) {
        module.follow(step, all, to);
    }

    fn order(&self, answer: &Self::Answer) -> Order {
        (*answer).into()
    }
}

/// Asks a controller about a batch of agents. Returns how many of them had to be held back.
fn ask_batch<Q: Question>(
    rows: &mut Rows<Q, Q::Answer, Sample>,
    sharing: Sharing<'_>,
    Asked { module, step, due }: Asked<'_>,
    surroundings: Surroundings<'_>,
    agents: &mut ControlColumns<'_>,
) -> u64 {
    let (seen, look) = (surroundings.with(agents.lent()), Look::of(module));
    rows.ask(
        sharing,
        due,
        |agents| seen.warm(agents, look),
        |agent| Q::perceive(&seen, agent, look),
        |Due { indices, ids }, (inputs, outputs, samples)| {
            seen.sample_all(indices, inputs.iter_mut().map(Q::common), samples);
            let step = Step {
                indices,
                ids,
                ..step
            };
            Q::put(module, &step, inputs, outputs);
        },
    );
    let answers = rows.inputs.iter().zip(&rows.outputs);
    let orders = answers.map(|(question, answer)| question.order(answer));
    take_orders(due.indices, orders, &rows.notes, step.period, agents)
}

/// Takes the orders of controllers, and counts the moment that they were asked about. Returns how many
/// agents are held back that were not before.
fn take_orders(
    indices: &[u32],
    orders: impl Iterator<Item = Order>,
    samples: &[Sample],
    period: f64,
    agents: &mut ControlColumns<'_>,
) -> u64 {
    let mut newly_held = 0;
    for (&agent, (mut order, sample)) in indices.iter().zip(orders.zip(samples)) {
        let agent = AgentIndex::new(agent);
        if let Some(pivot) = sample.pivot {
            order = pivot.over(order);
        }
        // The behaviour's wish to brake holds whatever the controller thinks of it.
        let braking = agents.wish[agent.index()].braking;
        let wanted = order.command.acceleration.min(-braking);
        if braking > 0.0 && wanted != order.command.acceleration {
            order = order.with_acceleration(wanted);
        }
        let held = sample.stand.held(order.command.acceleration, period);
        let claim = &mut agents.claim[agent.index()];
        newly_held += u64::from(held.is_some() && !claim.is_held);
        claim.is_held = held.is_some();
        if let Some(acceleration) = held {
            order = order.with_acceleration(acceleration);
        }
        agents.give(agent.index(), order);
        agents.statistics[agent.index()].add(sample, period);
    }
    newly_held
}

/// A vehicle before the place where it has to stand.
#[derive(Debug, Clone, Copy, Default)]
struct Stand {
    /// m/s.
    speed: f64,
    /// How far it may drive, m.
    way: f64,
    /// It is held back if it would have to brake harder than this, m/s^2.
    firm: f64,
}

impl Stand {
    /// The acceleration that it gets instead of a wanted one, m/s^2, if after a period with that one it
    /// could not stop in time any more without braking hard.
    fn held(self, wanted: f64, period: f64) -> Option<f64> {
        let speed = self.speed + wanted * period;
        // The way of the period is driven at the mean of both speeds. After it, v^2 / 2 b must fit into
        // what is left.
        let way = self.way - 0.5 * (self.speed + speed) * period;
        let is_late = speed > 0.0 && (way <= 0.0 || speed * speed > 2.0 * self.firm * way);
        // Braking that is even from here to the place. At the place itself it would be without bounds.
        let braking = -self.speed * self.speed / (2.0 * self.way.max(0.05));
        is_late.then_some(braking.min(wanted))
    }
}

/// Time to collision, s, and headway, s, below which driving is risky ([Vogel 2003]; rules of thumb of
/// driving schools). A vehicle slower than the speed, m/s, has no headway.
const RISKY_TIME_TO_COLLISION: f64 = 3.0;
const RISKY_HEADWAY: f64 = 1.0;
const NO_HEADWAY: f64 = 1.0;
/// A vehicle this far from the middle of its lane, without changing it, counts as beside it, m:
/// about half of a lane of 3.25 m.
const BESIDE_LANE: f64 = 1.6;
/// Up to this share of what is allowed nobody is too fast, however that was rounded.
const KEEPS_TO: f64 = 1.0 - 1e-6;
/// Time above the limit counts from this share above it on: controllers that keep to it sway a little around it.
const ABOVE_LIMIT: f64 = 0.05;
/// Slower than this a vehicle stands as far as jerk is concerned, m/s.
const STANDING: f64 = 0.1;

/// What is counted of one moment of an agent's drive.
#[derive(Debug, Clone, Copy, Default)]
struct Sample {
    /// Speed that road, bends and vehicle allow, whatever the behaviour wishes, m/s.
    allowed: f64,
    acceleration: f64,
    stand: Stand,
    pivot: Option<Pivot>,
    stands: bool,
    collision_exposure: f64,
    tailgating: f64,
    time_lost: f64,
    speeding: f64,
    is_off_lane: bool,
    is_uninvited: bool,
    is_above_limit: bool,
}

impl View<'_> {
    /// What is counted of the moment for each row of a slice; applies the wishes of behaviours to them.
    fn sample_all<'r>(
        &self,
        indices: &[u32],
        rows: impl Iterator<Item = &'r mut ControllerInput>,
        samples: &mut [Sample],
    ) {
        for ((&agent, input), sample) in indices.iter().zip(rows).zip(samples) {
            let agent = AgentIndex::new(agent);
            *sample = Sample {
                stand: self.stand(agent, input),
                pivot: self.pivot(agent, input),
                ..self.sample(agent, input)
            };
        }
    }

    fn stand(&self, agent: AgentIndex, input: &ControllerInput) -> Stand {
        let position = &self.agents.position[agent.index()];
        let kind = self
            .types
            .get(self.agents.identity[agent.index()].vehicle_type);
        Stand {
            speed: input.speed,
            way: input.stop_distance - HELD_BEFORE,
            firm: self.ground.expected_braking(HELD_FROM, position, kind),
        }
    }

    /// By what share of the speed limit of a lanelet a speed is above it, where a speed, m/s, is allowed.
    fn speeding(&self, lanelet: LaneletIndex, speed: f64, allowed: f64) -> f64 {
        // Never more is allowed than the limit, but for the rounding to single precision: who keeps to
        // that keeps to the limit, which need not be looked up.
        if speed <= allowed * KEEPS_TO {
            return 0.0;
        }
        (speed / self.ground.lanelet(lanelet).speed_limit - 1.0).max(0.0)
    }

    /// Applies the wish of the agent's behaviour to a row. Returns what is counted of the moment.
    ///
    /// The counted speed is the one that the road allows, before the wish: a behaviour that wants to
    /// be slow loses time by it, and a speed of its own is no excuse.
    fn sample(&self, agent: AgentIndex, input: &mut ControllerInput) -> Sample {
        let allowed = self.apply_wish(agent, input);
        let speed = input.speed;
        let missing = |is: f64, wanted: f64| (1.0 - is / wanted).clamp(0.0, 1.0);
        let has_leader = input.leader_gap < NOTHING;
        let closing = speed - input.leader_speed;
        let position = &self.agents.position[agent.index()];
        let mut sample = Sample {
            allowed,
            acceleration: self.agents.motion[agent.index()].acceleration,
            stands: speed < STANDING,
            time_lost: if allowed > 0.0 {
                missing(speed, allowed)
            } else {
                0.0
            },
            ..Sample::default()
        };
        if has_leader && closing > 0.0 {
            sample.collision_exposure =
                missing(input.leader_gap / closing, RISKY_TIME_TO_COLLISION);
        }
        if has_leader && speed > NO_HEADWAY {
            sample.tailgating = missing(input.leader_gap / speed, RISKY_HEADWAY);
        }
        if position.is_on_lane() {
            sample.speeding = self.speeding(position.lanelet, speed, allowed);
            sample.is_above_limit = sample.speeding > ABOVE_LIMIT;
            sample.is_off_lane = position.leaving == NO_LANELET && position.t.abs() > BESIDE_LANE;
            let granted_to = self.agents.claim[agent.index()].granted_to;
            let at = self.agents.progress[agent.index()].at;
            sample.is_uninvited =
                granted_to <= at && self.ground.contested(position.lanelet).is_some();
        } else {
            // No sign stands on open ground: the limit is what is allowed there.
            sample.is_above_limit = speed > allowed.max(STANDING) * (1.0 + ABOVE_LIMIT);
        }
        sample
    }
}

impl Statistics {
    fn add(&mut self, sample: &Sample, period: f64) {
        self.road_speed_sum += sample.allowed;
        self.collision_exposure += sample.collision_exposure as f32;
        self.tailgating += sample.tailgating as f32;
        self.time_lost += sample.time_lost as f32;
        self.speeding += sample.speeding as f32;
        self.off_lane += u32::from(sample.is_off_lane);
        self.uninvited += u32::from(sample.is_uninvited);
        self.above_limit += u32::from(sample.is_above_limit);
        // Appearing, setting out and coming to rest change the acceleration in one step, whatever the
        // driver does: no jerk is counted there. Two samples give one jerk, so the first has none.
        let before = f64::from(self.sampled_acceleration);
        if self.samples > 1 && before.is_finite() && !sample.stands {
            let jerk = (sample.acceleration - before) / period;
            self.squared_jerk += jerk * jerk;
        }
        self.sampled_acceleration = match sample.stands {
            true => f32::INFINITY,
            false => sample.acceleration as f32,
        };
        self.samples += 1;
    }
}
