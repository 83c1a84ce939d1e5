//! Updates controllers, which steer and accelerate.

use super::exact_drive::ExactDrive;
use super::pivot::Pivot;
use crate::agents::{Census, ControlColumns};
use crate::clock::Clock;
use crate::dynamics::stride;
use crate::modules::{
    Column, ColumnPart, Columns, Due, Modules, Rota, Rows, Sharing, Splits, batches,
};
use crate::perception::{
    KeptPaths, Look, NeedsLists, ObjectList, ObjectScene, ObjectSources, RoomAhead, Surroundings,
    Used, View, Wanted,
};
use crate::records::{AgentIndex, Command, Order, Statistics};
use crate::traffic::{Claims, Setting};
use roadwright_agent::{Controller, Module, Needs, PathInput, Step, Views};
use roadwright_plugin_api::{
    ControllerInput, ControllerOutput, NOTHING, NearData, NeedsInput, NeedsPedalsInput, PathPoint,
    PedalsInput, PedalsOutput,
};
use roadwright_scenario::lane_graph::{LaneletIndex, NO_LANELET};

/// Buffers of the control stage, reused between steps.
#[derive(Default)]
pub(crate) struct Controlling {
    rota: Rota,
    asking: Asking,
    /// Objects of the world, for controllers that request the objects around them.
    objects: ObjectList,
    /// Points of paths, for controllers that request them.
    paths: KeptPaths,
}

/// Data for controllers that request the objects around them.
#[derive(Clone, Copy)]
pub(crate) struct Around<'a> {
    pub(crate) sources: ObjectSources<'a>,
    pub(crate) claims: &'a Claims,
    pub(crate) setting: Setting<'a>,
}

/// Requests of all controllers that need more than the standard row.
fn all_needs(modules: &Modules) -> impl Iterator<Item = Needs> {
    let instances = modules.pools.controller.instances.iter();
    instances.filter_map(|instance| instance.module().needs())
}

impl Controlling {
    /// Updates the schedule. Returns whether a controller that requests the objects around it is
    /// due in this step.
    pub(crate) fn prepare(&mut self, clock: &Clock, modules: &Modules, agents: Census<'_>) -> bool {
        let (pool, rota) = (&modules.pools.controller, &mut self.rota);
        rota.update_in_strides(pool, agents, |level| stride(level, clock.dt));
        let asks = |needs: Option<Needs>| needs.is_some_and(|needs| needs.near.is_some());
        let mut instances = pool.instances.iter().enumerate();
        instances.any(|(number, instance)| {
            asks(instance.module().needs()) && rota.has_due(number, clock.step)
        })
    }

    /// Memory used by the rows, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let asking = &self.asking;
        asking.rows.bytes()
            + asking.pedals.bytes()
            + asking.paths.bytes()
            + asking.needs.bytes()
            + asking.needs_pedals.bytes()
            + self.objects.bytes()
            + self.paths.bytes()
    }
}

/// Rows of controllers, refilled for each call.
#[derive(Default)]
struct Asking {
    rows: QuestionRows<ControllerInput>,
    /// Rows of controllers that command pedals.
    pedals: QuestionRows<PedalsInput>,
    /// Rows of controllers that use a model of their vehicle.
    paths: QuestionRows<PathInput>,
    /// Rows of controllers that request more than the standard row. `needs_pedals` is for
    /// controllers that command pedals.
    needs: QuestionRows<NeedsInput>,
    needs_pedals: QuestionRows<NeedsPedalsInput>,
}

/// If a vehicle would need more than this deceleration to stop where it has to, the host itself
/// brakes it, m/s^2. Controllers that look ahead brake earlier.
const HELD_FROM: f64 = 5.0;
/// The host relies on this fraction of a vehicle's maximum deceleration.
const SURE_BRAKING: f64 = 0.9;
/// The host stops the vehicle at this distance before a mandatory stop, m.
const HELD_BEFORE: f64 = 0.1;

/// Updates the controllers that are due. Returns the number of agents that the host had to brake
/// before a place where they have to stop.
///
/// If a level holds a command for a stride, its agents are updated at the start of their strides,
/// because commands within a stride would be ignored. The stage must have been prepared in this
/// step. `around` is given if a controller that requests the objects around it is due. The index of
/// bodies must then be up to date.
pub(crate) fn control(
    clock: &Clock,
    modules: &Modules,
    helpers: Option<&rayon::ThreadPool>,
    stage: &mut Controlling,
    surroundings: Surroundings<'_>,
    around: Option<Around<'_>>,
    agents: &mut ControlColumns<'_>,
) -> u64 {
    let mut held = 0;
    let pool = &modules.pools.controller;
    let Controlling {
        rota,
        asking,
        objects,
        paths,
    } = stage;
    if all_needs(modules).any(|needs| needs.path.is_some()) {
        paths.set_capacity(agents.position.len());
    }
    if let Some(around) = around {
        let trees = all_needs(modules).any(|needs| needs.near.is_some_and(|near| near.trees));
        let seen = surroundings.with(agents.lent());
        objects.renew(&seen, around.sources, trees);
    }
    let scene = around.map(|around| ObjectScene {
        list: objects,
        claims: around.claims,
        setting: around.setting,
    });
    for (number, instance) in pool.instances.iter().enumerate() {
        let module = instance.module();
        let needs = module.needs();
        let wanted = needs.as_ref().map(|needs| Wanted {
            needs,
            paths,
            scene,
        });
        let asked = Asked {
            module,
            step: clock.moment(instance.rate),
            due: rota.due(number, clock.step),
            wanted,
        };
        held += asking.ask(helpers, asked, surroundings, agents);
        let (due, rate) = rota.due_in_strides(number, clock.step);
        let step = clock.moment(rate);
        let asked = Asked {
            module,
            step,
            due,
            wanted,
        };
        held += asking.ask(helpers, asked, surroundings, agents);
    }
    held
}

/// An update of a controller: the controller, the time, and the agents by index and by id.
#[derive(Clone, Copy)]
struct Asked<'a> {
    module: &'a Module<dyn Controller>,
    step: Step<'a>,
    due: Due<'a>,
    /// Data that the controller requests in addition to its rows.
    wanted: Option<Wanted<'a>>,
}

impl Asking {
    /// Updates a controller for several agents. Returns the number of agents that the host had to brake.
    fn ask(
        &mut self,
        helpers: Option<&rayon::ThreadPool>,
        asked: Asked<'_>,
        surroundings: Surroundings<'_>,
        agents: &mut ControlColumns<'_>,
    ) -> u64 {
        // On levels with strides, no agent is due in most steps.
        if asked.due.indices.is_empty() {
            return 0;
        }
        // Batches are processed one after another, so that rows stay in the cache. The results of a
        // batch (commands, held agents, statistics) do not affect what the next batch perceives.
        let by_pedals = asked.module.wants_pedals();
        let by_path = asked.module.path_parts().is_some();
        if let Some(wanted) = asked.wanted {
            let rows = match by_pedals {
                true => &mut self.needs_pedals.columns,
                false => &mut self.needs.columns,
            };
            rows.set_room(wanted.needs);
        }
        let sharing = Sharing {
            helpers,
            is_whole: asked.module.logic.asks_whole(),
        };
        let mut held = 0;
        for due in batches(sharing, asked.due) {
            let batch = Asked { due, ..asked };
            held += match (batch.wanted.is_some(), by_pedals, by_path) {
                (true, true, _) => {
                    ask_batch(&mut self.needs_pedals, sharing, batch, surroundings, agents)
                }
                (true, false, _) => {
                    ask_batch(&mut self.needs, sharing, batch, surroundings, agents)
                }
                (_, true, _) => ask_batch(&mut self.pedals, sharing, batch, surroundings, agents),
                (_, _, true) => ask_batch(&mut self.paths, sharing, batch, surroundings, agents),
                _ => ask_batch(&mut self.rows, sharing, batch, surroundings, agents),
            };
        }
        held
    }
}

/// A controller, with the data for filling in its rows.
#[derive(Clone, Copy)]
struct Perceiving<'a> {
    module: &'a Module<dyn Controller>,
    seen: View<'a>,
    look: Look,
    /// Data requested in addition to rows, with the last commands of all agents.
    wanted: Option<Wanted<'a>>,
    commands: &'a [Command],
}

/// Input row of a controller for one agent. The answer is a command or pedal positions.
trait Question: Default + Clone + Send + Sync {
    type Answer: Default + Clone + Send;
    /// Lists that the row refers to.
    type Lists: Columns;

    /// Fills in a row. `row` is its number within the slice.
    fn perceive(
        asked: &Perceiving<'_>,
        agent: AgentIndex,
        row: usize,
        lists: &mut Lists<'_, Self>,
    ) -> Self;

    /// The inputs that all controllers receive.
    fn common(&mut self) -> &mut ControllerInput;

    fn put(
        asked: &Perceiving<'_>,
        step: &Step<'_>,
        all: &mut [Self],
        lists: &Lists<'_, Self>,
        to: &mut [Self::Answer],
    );

    fn order(&self, answer: &Self::Answer) -> Order;
}

/// Lists that the rows of a slice refer to.
type Lists<'a, Q> = <<Q as Question>::Lists as Columns>::Part<'a>;

impl Question for ControllerInput {
    type Answer = ControllerOutput;
    type Lists = ();

    fn perceive(asked: &Perceiving<'_>, agent: AgentIndex, _: usize, _lists: &mut ()) -> Self {
        asked.seen.allowed_input(agent, asked.look)
    }

    fn common(&mut self) -> &mut ControllerInput {
        self
    }

    fn put(
        asked: &Perceiving<'_>,
        step: &Step<'_>,
        all: &mut [Self],
        _lists: &(),
        to: &mut [Self::Answer],
    ) {
        asked.module.step(step, all, to);
    }

    fn order(&self, answer: &Self::Answer) -> Order {
        (*answer).into()
    }
}

impl Question for PedalsInput {
    type Answer = PedalsOutput;
    type Lists = ();

    fn perceive(asked: &Perceiving<'_>, agent: AgentIndex, _: usize, _lists: &mut ()) -> Self {
        Self {
            seen: asked.seen.allowed_input(agent, asked.look),
            drive: asked.seen.drive(agent),
        }
    }

    fn common(&mut self) -> &mut ControllerInput {
        &mut self.seen
    }

    fn put(
        asked: &Perceiving<'_>,
        step: &Step<'_>,
        all: &mut [Self],
        _lists: &(),
        to: &mut [Self::Answer],
    ) {
        asked.module.drive(step, all, to);
    }

    fn order(&self, answer: &Self::Answer) -> Order {
        Order::of_pedals(answer, &self.drive)
    }
}

impl Question for PathInput {
    type Answer = ControllerOutput;
    type Lists = ();

    fn perceive(asked: &Perceiving<'_>, agent: AgentIndex, _: usize, _lists: &mut ()) -> Self {
        asked.seen.path_input(agent, asked.look)
    }

    fn common(&mut self) -> &mut ControllerInput {
        &mut self.seen
    }

    fn put(
        asked: &Perceiving<'_>,
        step: &Step<'_>,
        all: &mut [Self],
        _lists: &(),
        to: &mut [Self::Answer],
    ) {
        asked.module.follow(step, all, to);
    }

    fn order(&self, answer: &Self::Answer) -> Order {
        (*answer).into()
    }
}

/// Lists of all rows: points of paths, and nearby objects. A row that has requested neither has
/// room for one element, which stays zero.
#[derive(Default)]
struct NeedsColumns {
    points: Column<PathPoint>,
    near: Column<NearData>,
    used: Column<Used>,
}

/// Elements of [`NeedsColumns`] that belong to some rows.
struct NeedsPart<'a> {
    points: ColumnPart<'a, PathPoint>,
    near: ColumnPart<'a, NearData>,
    used: ColumnPart<'a, Used>,
}

impl Columns for NeedsColumns {
    type Part<'a> = NeedsPart<'a>;

    fn bytes(&self) -> usize {
        self.points.bytes() + self.near.bytes() + self.used.bytes()
    }

    fn first(&mut self, rows: usize) -> NeedsPart<'_> {
        NeedsPart {
            points: self.points.first(rows),
            near: self.near.first(rows),
            used: self.used.first(rows),
        }
    }
}

impl Splits for NeedsPart<'_> {
    fn split_off(&mut self, rows: usize) -> Self {
        Self {
            points: self.points.split_off(rows),
            near: self.near.split_off(rows),
            used: self.used.split_off(rows),
        }
    }
}

impl NeedsColumns {
    /// Reserves as much room for each row as the controller requests.
    fn set_room(&mut self, needs: &Needs) {
        let points = needs.path.map_or(1, |path| path.most as usize);
        let near = needs.near.map_or(1, |near| near.most as usize);
        if (points, near) != (self.points.stride(), self.near.stride()) {
            self.points.clear(points);
            self.near.clear(near);
            self.used.clear(1);
        }
    }
}

impl Perceiving<'_> {
    fn needs_input(
        &self,
        wanted: Wanted<'_>,
        agent: AgentIndex,
        row: usize,
        lists: &mut NeedsPart<'_>,
    ) -> NeedsInput {
        let last = self.commands[agent.index()];
        let lists = NeedsLists {
            points: lists.points.row(row),
            near: lists.near.row(row),
            used: &mut lists.used.row(row)[0],
        };
        self.seen.needs_input(agent, self.look, wanted, last, lists)
    }

    /// Returns the lists that the rows of a slice or batch refer to.
    fn views<'v>(&'v self, wanted: Wanted<'v>, lists: &'v NeedsPart<'_>) -> Views<'v> {
        let needs = wanted.needs;
        let records = &*self.seen.types.records;
        let mut views = Views {
            vehicles_version: records.version,
            ..Views::default()
        };
        if needs.vehicles {
            (views.vehicles, views.hitches) = (&records.vehicles, &records.hitches);
        }
        if needs.path.is_some() {
            views.path = lists.points.elements;
        }
        if let (Some(near), Some(scene)) = (&needs.near, wanted.scene) {
            views.near = lists.near.elements;
            views.objects = scene.list.seen(near);
        }
        views
    }
}

/// Sets the positions of each row's elements in the lists.
fn number<'a>(needs: &Needs, rows: impl Iterator<Item = &'a mut NeedsInput>) {
    for (number, input) in (0u32..).zip(rows) {
        if let Some(path) = &needs.path {
            input.path = number * path.most;
        }
        if let Some(near) = &needs.near {
            input.near_first = number * near.most;
        }
    }
}

impl Question for NeedsInput {
    type Answer = ControllerOutput;
    type Lists = NeedsColumns;

    fn perceive(
        asked: &Perceiving<'_>,
        agent: AgentIndex,
        row: usize,
        lists: &mut NeedsPart<'_>,
    ) -> Self {
        match asked.wanted {
            Some(wanted) => asked.needs_input(wanted, agent, row, lists),
            None => Self::of(asked.seen.allowed_input(agent, asked.look)),
        }
    }

    fn common(&mut self) -> &mut ControllerInput {
        &mut self.seen
    }

    fn put(
        asked: &Perceiving<'_>,
        step: &Step<'_>,
        all: &mut [Self],
        lists: &NeedsPart<'_>,
        to: &mut [Self::Answer],
    ) {
        let Some(wanted) = asked.wanted else {
            return;
        };
        number(wanted.needs, all.iter_mut());
        let views = asked.views(wanted, lists);
        asked.module.step_with_views(step, &views, all, to);
    }

    fn order(&self, answer: &Self::Answer) -> Order {
        (*answer).into()
    }
}

impl Question for NeedsPedalsInput {
    type Answer = PedalsOutput;
    type Lists = NeedsColumns;

    fn perceive(
        asked: &Perceiving<'_>,
        agent: AgentIndex,
        row: usize,
        lists: &mut NeedsPart<'_>,
    ) -> Self {
        Self {
            needs: NeedsInput::perceive(asked, agent, row, lists),
            drive: asked.seen.drive(agent),
        }
    }

    fn common(&mut self) -> &mut ControllerInput {
        &mut self.needs.seen
    }

    fn put(
        asked: &Perceiving<'_>,
        step: &Step<'_>,
        all: &mut [Self],
        lists: &NeedsPart<'_>,
        to: &mut [Self::Answer],
    ) {
        let Some(wanted) = asked.wanted else {
            return;
        };
        number(wanted.needs, all.iter_mut().map(|row| &mut row.needs));
        let views = asked.views(wanted, lists);
        asked.module.drive_with_views(step, &views, all, to);
    }

    fn order(&self, answer: &Self::Answer) -> Order {
        Order::of_pedals(answer, &self.drive)
    }
}

/// Rows of a controller, with the lists that they refer to.
type QuestionRows<Q> = Rows<Q, <Q as Question>::Answer, Sample, <Q as Question>::Lists>;

/// Updates a controller for a batch of agents. Returns the number of agents that the host had to brake.
fn ask_batch<Q: Question>(
    rows: &mut QuestionRows<Q>,
    sharing: Sharing<'_>,
    asked: Asked<'_>,
    surroundings: Surroundings<'_>,
    agents: &mut ControlColumns<'_>,
) -> u64 {
    let Asked {
        module, step, due, ..
    } = asked;
    let seen = surroundings.with(agents.lent());
    let perceiving = Perceiving {
        module,
        seen,
        look: Look::of(module),
        wanted: asked.wanted,
        commands: &*agents.command,
    };
    rows.ask(
        sharing,
        due,
        |agents| seen.warm(agents, perceiving.look),
        |agent, row, lists| Q::perceive(&perceiving, agent, row, lists),
        |Due { indices, ids }, rows| {
            let common = rows.inputs.iter_mut().map(Q::common);
            seen.sample_all(indices, common, rows.notes);
            let step = Step {
                indices,
                ids,
                ..step
            };
            Q::put(&perceiving, &step, rows.inputs, &rows.columns, rows.outputs);
        },
    );
    let answers = rows.inputs.iter().zip(&rows.outputs);
    let orders = answers.map(|(question, answer)| question.order(answer));
    take_orders(due.indices, orders, &rows.notes, step.period, agents)
}

/// Applies the orders of controllers and adds the samples to the statistics. Returns the number of
/// agents that the host has started to brake.
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
        if let Some(exact) = sample.exact {
            order = exact.over(order, period);
        }
        // The behaviour's wish to brake overrides the controller.
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
        if let Some(guard) = sample.guard
            && let Some(acceleration) = guard.braking(order.command.acceleration, period)
        {
            order = order.with_acceleration(acceleration);
            order.command.steering = guard.steering.unwrap_or(order.command.steering);
        }
        agents.give(agent.index(), order);
        agents.statistics[agent.index()].add(sample, period);
    }
    newly_held
}

/// A vehicle that approaches a place where it has to stop.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Stand {
    /// Speed, m/s.
    pub(super) speed: f64,
    /// Distance to the place where it has to stop, m.
    pub(super) distance: f64,
    /// Deceleration above which the host brakes the vehicle, m/s^2.
    pub(super) firm: f64,
}

/// Emergency braking on a planned path.
#[derive(Debug, Clone, Copy)]
struct Guard {
    /// The place before which the vehicle has to stop.
    stand: Stand,
    /// Wheel angle while the host brakes, rad; `None` if the controller steers.
    steering: Option<f64>,
}

impl Guard {
    /// Returns the acceleration that replaces `wanted`, m/s^2; `None` if the host does not brake. A moving vehicle is
    /// braked firmly, because there is no distance to spare.
    fn braking(&self, wanted: f64, period: f64) -> Option<f64> {
        let Stand { speed, firm, .. } = self.stand;
        let held = self.stand.held(wanted, period)?;
        Some(if speed > 0.0 { held.min(-firm) } else { held })
    }
}

impl Stand {
    /// Returns the acceleration that replaces `wanted`, m/s^2. `None` if the vehicle can accelerate
    /// by `wanted` for `period` seconds without having to brake hard afterwards.
    pub(super) fn held(self, wanted: f64, period: f64) -> Option<f64> {
        let speed = self.speed + wanted * period;
        // During the period, the vehicle drives at the mean of both speeds. Afterwards v^2 / 2 b must fit
        // into the remaining distance.
        let distance = self.distance - 0.5 * (self.speed + speed) * period;
        let is_late =
            speed > 0.0 && (distance <= 0.0 || speed * speed > 2.0 * self.firm * distance);
        // Constant deceleration from here to the place. The distance is limited, because the
        // deceleration would become infinite at the place itself.
        let braking = -self.speed * self.speed / (2.0 * self.distance.max(0.05));
        is_late.then_some(braking.min(wanted))
    }
}

/// Time to collision below which driving counts as risky, s ([Vogel 2003] and rules of thumb from
/// driving schools).
const RISKY_TIME_TO_COLLISION: f64 = 3.0;
/// Time headway below which driving counts as risky, s.
const RISKY_HEADWAY: f64 = 1.0;
/// Speed below which no headway is computed, m/s.
const NO_HEADWAY: f64 = 1.0;
/// A vehicle that is not changing lanes counts as off the lane if it is farther than this from the
/// lane's centre line, m: about half of a lane of 3.25 m.
const BESIDE_LANE: f64 = 1.6;
/// Up to this fraction of the allowed speed, a vehicle certainly keeps to the speed limit, which
/// then need not be looked up. The fraction is slightly below 1 because of rounding errors.
const KEEPS_TO: f64 = 1.0 - 1e-6;
/// A vehicle counts as speeding if it exceeds the limit by more than this fraction. Controllers
/// that keep to the limit oscillate slightly around it.
const ABOVE_LIMIT: f64 = 0.05;
/// Speed below which a vehicle counts as stationary in the computation of jerk, m/s.
const STANDING: f64 = 0.1;

/// Values of an agent's drive at the time of a controller update, for its statistics.
#[derive(Debug, Clone, Copy, Default)]
struct Sample {
    /// Speed allowed by road, bends and vehicle, m/s. It does not depend on the behaviour's
    /// request.
    allowed: f64,
    acceleration: f64,
    stand: Stand,
    /// Place on a planned path where a vehicle has to stop because it would touch something beyond
    /// it.
    guard: Option<Guard>,
    pivot: Option<Pivot>,
    exact: Option<ExactDrive>,
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
    /// Takes the samples of the rows of a slice. Also applies the requests of behaviours to the
    /// rows.
    fn sample_all<'r>(
        &self,
        indices: &[u32],
        rows: impl Iterator<Item = &'r mut ControllerInput>,
        samples: &mut [Sample],
    ) {
        for ((&agent, input), sample) in indices.iter().zip(rows).zip(samples) {
            let agent = AgentIndex::new(agent);
            let stand = self.stand(agent, input);
            *sample = Sample {
                stand,
                guard: self.guard(agent, input, stand),
                pivot: self.pivot(agent, input),
                exact: self.exact_drive(agent, input),
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
            distance: input.stop_distance - HELD_BEFORE,
            firm: kind.expected_braking(HELD_FROM, self.ground, position),
        }
    }

    /// Returns the place where an agent on a planned path has to stop because it would otherwise
    /// touch something. `stand` is the agent's stop on its route.
    fn guard(&self, agent: AgentIndex, input: &ControllerInput, stand: Stand) -> Option<Guard> {
        let kind = self
            .types
            .get(self.agents.identity[agent.index()].vehicle_type);
        let firm = stand.firm.min(SURE_BRAKING * kind.limits.max_braking);
        let RoomAhead { distance, steering } = self.room_on_path(agent, input, firm)?;
        Some(Guard {
            stand: Stand {
                distance,
                firm,
                ..stand
            },
            steering,
        })
    }

    /// Returns the fraction by which a speed exceeds the speed limit of a lanelet; 0 below the
    /// limit. `allowed` is the allowed speed, m/s.
    fn speeding(&self, lanelet: LaneletIndex, speed: f64, allowed: f64) -> f64 {
        // The allowed speed never exceeds the limit, except by rounding to single precision. A vehicle that
        // keeps to the allowed speed keeps to the limit, so the limit need not be looked up.
        if speed <= allowed * KEEPS_TO {
            return 0.0;
        }
        (speed / self.ground.lanelet(lanelet).speed_limit - 1.0).max(0.0)
    }

    /// Applies the request of the agent's behaviour to a row. Returns the sample.
    ///
    /// The sampled speed is the speed that the road allows before the request is applied, so that a
    /// behaviour that chooses to drive slowly loses time.
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
            // There are no signs on open ground, so the allowed speed is used as the limit.
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
        // Spawning, starting and stopping change the acceleration within one step regardless of the driver,
        // so no jerk is counted there. A jerk needs two samples, so the first sample has none.
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
