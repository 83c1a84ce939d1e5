//! Updates behaviours, which choose lanes and speeds, and collects the effects that they request.

use super::effects::Effecting;
use super::scene::Onlooking;
use crate::agents::Column;
use crate::dynamics::room_to_change_lane;
use crate::modules::{Due, Modules, Part, Rota, Rows, Sharing};
use crate::records::{AgentIndex, LaneSpot};
use crate::route::Travel;
use crate::traffic::Lanes;
use roadwright_agent::{Effects, Step, Surroundings};
use roadwright_plugin_api::{BehaviourInput, BehaviourOutput};
use roadwright_scenario::lane_graph::NO_LANELET;
use std::sync::Arc;

/// Distance that is reserved for each additional lane change, m.
const ROOM_FOR_ANOTHER: f64 = 15.0;

/// Buffers of the behaviour stage, reused between steps.
#[derive(Default)]
pub(crate) struct Behaving {
    rota: Rota,
    pub(crate) rows: Rows<BehaviourInput, BehaviourOutput>,
    /// Rows of the batch whose agents have to change lanes.
    changing: Vec<u32>,
}

/// Updates the behaviours that are due and carries out their requests.
pub(crate) fn behave(
    stage: &mut Behaving,
    helpers: Option<&rayon::ThreadPool>,
    world: &mut Effecting<'_>,
) {
    let step = world.clock.step;
    stage
        .rota
        .update(&world.modules.pools.behaviour, world.agents.census());
    world.tell_collisions();
    // Building a scene requires a pass over all agents. It is built once for all instances, and
    // only if a behaviour that sees other agents is due in this step.
    let looking = who_looks(&mut stage.rota, step, world.modules);
    let scene = (!looking.is_empty()).then(|| {
        let mail = world.messages.take_mail();
        let mut scene = world.onlooking().scene(mail, &looking);
        if wants_signals(&mut stage.rota, step, world.modules) {
            scene.signals = world.onlooking().signal_facts();
        }
        Arc::new(scene)
    });
    for number in 0..world.modules.pools.behaviour.instances.len() {
        let due = stage.rota.due(number, step);
        if due.is_empty() {
            continue;
        }
        // All agents of an instance are updated before anything changes, so that no agent's view depends on
        // the order of updates.
        let effects = ask(&mut stage.rows, helpers, world, number, due, scene.as_ref());
        let Due {
            indices: agents,
            ids,
        } = due;
        stage.changing.clear();
        for (row, (&agent, output)) in agents.iter().zip(&stage.rows.outputs).enumerate() {
            match output.lane_change == 0.0 {
                true => world.take_output(agent.into(), output),
                false => stage.changing.push(row as u32),
            }
        }
        // Lane changes are carried out in the order of ids, so that agent indices do not decide
        // which of two agents gets a gap.
        let changing = &mut stage.changing;
        changing.sort_unstable_by_key(|&row| ids[row as usize]);
        for &row in &*changing {
            let row = row as usize;
            world.take_output(agents[row].into(), &stage.rows.outputs[row]);
        }
        world.apply(effects);
    }
    if let Some(scene) = scene {
        let was_asked = |agent| stage.rota.is_due(agent, step);
        world
            .messages
            .drop_read(&scene, world.agents.census(), was_asked);
    }
}

/// Updates the behaviours of an instance and leaves their answers in the rows. Returns the
/// requested effects of each slice.
fn ask(
    rows: &mut Rows<BehaviourInput, BehaviourOutput>,
    helpers: Option<&rayon::ThreadPool>,
    world: &Effecting<'_>,
    instance: usize,
    due: Due<'_>,
    scene: Option<&Arc<Surroundings>>,
) -> Vec<Effects> {
    let instance = &world.modules.pools.behaviour.instances[instance];
    let (module, moment) = (instance.module(), world.clock.moment(instance.rate));
    let seen = world.surroundings().with(world.agents.lent());
    let only_changes_lanes = module.logic.only_changes_lanes();
    let sight = module.logic.lane_end_sight(&module.parameters);
    let sharing = Sharing {
        helpers,
        is_whole: module.logic.asks_whole(),
    };
    rows.ask(
        sharing,
        due,
        |agents| seen.warm_own(agents),
        |agent, _, ()| match only_changes_lanes {
            true => seen.lane_change_input(agent, sight),
            false => seen.behaviour_input(agent),
        },
        |Due { indices, ids }, rows| {
            let step = Step {
                indices,
                ids,
                ..moment
            };
            let mut effects = Effects::default();
            let (logic, parameters) = (&module.logic, &module.parameters);
            let Part {
                inputs, outputs, ..
            } = rows;
            logic.step(parameters, &step, scene, inputs, outputs, &mut effects);
            effects
        },
    )
}

/// Returns the agents that are due in this step and whose behaviours see other agents.
fn who_looks(rota: &mut Rota, step: u64, modules: &Modules) -> Vec<AgentIndex> {
    let mut all = Vec::new();
    for (number, instance) in modules.pools.behaviour.instances.iter().enumerate() {
        if instance.module().logic.wants_scene() {
            let due = rota.due(number, step).indices.iter();
            all.extend(due.copied().map(AgentIndex::new));
        }
    }
    all
}

/// Whether any behaviour that is due reads signals.
fn wants_signals(rota: &mut Rota, step: u64, modules: &Modules) -> bool {
    let mut instances = modules.pools.behaviour.instances.iter().enumerate();
    instances.any(|(number, instance)| {
        instance.module().logic.wants_signals() && !rota.due(number, step).is_empty()
    })
}

impl Effecting<'_> {
    /// Borrows the data of the world that behaviours can read.
    fn onlooking(&self) -> Onlooking<'_> {
        Onlooking {
            clock: self.clock,
            view: self.surroundings().with(self.agents.lent()),
            modules: self.modules,
            messages: self.messages,
            signals: &self.traffic.signals,
        }
    }

    /// Applies the output of a behaviour: its requests to the controller, and a lane change that
    /// begins now.
    fn take_output(&mut self, agent: AgentIndex, output: &BehaviourOutput) {
        let index = agent.index();
        let mut wish = self.agents.wish[index];
        // A request to brake lasts only until the next update, even if that comes from another
        // behaviour. Most other requests stay until a finite value replaces them.
        wish.braking = 0.0;
        // A requested lateral offset also lasts only until the next update.
        wish.lane_offset = 0.0;
        if output.speed_factor.is_finite() {
            wish.speed_factor = output.speed_factor.clamp(0.0, 2.0);
        }
        if output.top_speed.is_finite() {
            wish.top_speed = output.top_speed.max(0.0);
        }
        self.agents.wish.put(index, wish);
        self.agents.progress[index].note_free();
        if output.lane_change != 0.0 {
            self.begin_lane_change(agent, output.lane_change > 0.0);
        }
    }

    /// Whether a vehicle can change to the given position on the adjacent lane: there is a gap, and
    /// its space has not been promised to other vehicles. Records a refusal because of a promise.
    /// Otherwise, the vehicle behind would wait to let this one in, while this one waits for the
    /// promised vehicles.
    fn has_room_to_change(&mut self, agent: AgentIndex, beside: LaneSpot, room: f64) -> bool {
        let lanes = Lanes {
            ground: self.ground,
            types: self.types,
            index: &self.traffic.index,
            agents: self.agents.lent(),
        };
        let own = &self.agents.position[agent.index()];
        let own = LaneSpot {
            lanelet: own.lanelet,
            s: own.s,
        };
        let places = [own, beside];
        let has_way = |&place: &LaneSpot| lanes.has_room_to_get_over(agent, place, room);
        let leaves = |&place: &LaneSpot| {
            self.traffic
                .claims
                .grants
                .leaves_promised(lanes, agent, place)
        };
        if !places.iter().all(has_way) {
            return false;
        }
        let is_free = places.iter().all(leaves);
        let progress = &mut self.agents.progress[agent.index()];
        match is_free {
            true => progress.note_free(),
            false => progress.note_kept(),
        }
        is_free
    }

    /// Begins a lane change if it is possible now. Otherwise, nothing happens, and the behaviour
    /// requests the lane change again in its next update.
    fn begin_lane_change(&mut self, agent: AgentIndex, to_left: bool) {
        let index = agent.index();
        // Only one lane change is made at a time.
        let position = self.agents.position[index];
        if !position.may_change_lane() {
            return;
        }
        let lanelet = self.ground.lanelet(position.lanelet);
        let target = if to_left { lanelet.left } else { lanelet.right };
        let graph = self.ground.graph();
        let progress = &self.agents.progress[index];
        let route = self.routes.get(progress.route);
        let next = route.lanelet(progress.at + 1);
        // Between two lanes that both end, a vehicle could neither drive on nor change lanes again.
        let more = route
            .lane_changes_from(progress.at, graph)
            .saturating_sub(1);
        let room = room_to_change_lane(self.agents.identity[index].level)
            + f64::from(more) * ROOM_FOR_ANOTHER;
        if target == NO_LANELET || lanelet.length() - position.s < room {
            return;
        }
        // In a bend, adjacent lanes differ in length. The adjacent position is at the same fraction of both
        // lengths.
        let spot = LaneSpot {
            lanelet: target,
            s: position.s / lanelet.length() * self.ground.length(target),
        };
        if !self.has_room_to_change(agent, spot, lanelet.length() - position.s) {
            return;
        }
        // If the lane change is not part of the route, the vehicle needs another route, and space.
        if next != Some(target) && !self.lead_through(agent, target) {
            return;
        }
        // From now on, the body is on the new lane, far from its centre line. It also stays visible
        // on the old lane until it has left that lane completely (`advance.rs`).
        let line = self.ground.graph().line(target);
        let guess = position.s / lanelet.length() * line.length();
        let pose = self.bodies().pose(agent);
        let (s, t) = line.project(pose.position, guess);
        let (progress, position) = (
            &mut self.agents.progress[index],
            &mut self.agents.position[index],
        );
        Travel::change_lane(progress, position, target, s, t);
    }
}
