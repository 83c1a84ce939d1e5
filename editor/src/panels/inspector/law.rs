//! The traffic rules of the selected junction. They are derived once per revision, because panels read them
//! every frame.

use crate::model::Model;
use egui::{Context, Id, Ui};
use roadwright_scenario::junction::{
    Conflicts, Junction, RightOfWay, SignalPlans, Signals, Turn, signal_plans,
};
use roadwright_scenario::{Control, NodeId};
use std::sync::Arc;

/// Distance beyond which junctions cannot share a programme, m. Signals within 40 m of each other
/// share a programme, but no chain of such signals is this long.
const NEAR: f64 = 300.0;

/// A junction with its conflicts, right of way and signals.
pub(in crate::panels) struct JunctionLaw {
    pub(in crate::panels) junction: Arc<Junction>,
    pub(super) conflicts: Conflicts,
    pub(super) right: RightOfWay,
    /// The signals in effect. They may be shared with neighbouring junctions.
    pub(in crate::panels) signals: Option<Signals>,
    /// Whether neighbours follow the same programme.
    pub(super) is_shared: bool,
}

/// Cached results with their revision and junction.
type Known = (u64, usize, Arc<JunctionLaw>);

/// Returns the rules of a node's junction; `None` until a scene contains it.
pub(in crate::panels) fn of(ui: &Ui, model: &Model, id: NodeId) -> Option<Arc<JunctionLaw>> {
    in_context(ui.ctx(), model, id)
}

/// Like `of`, but without access to widgets.
pub(super) fn in_context(context: &Context, model: &Model, id: NodeId) -> Option<Arc<JunctionLaw>> {
    let scene = &model.scene;
    let index = *scene.layout.junction_of.get(&id)?;
    let key = Id::unique("law of the selected junction");
    let known: Option<Known> = context.data(|data| data.get_temp(key));
    if let Some((revision, junction, law)) = known
        && (revision, junction) == (scene.revision, index)
    {
        return Some(law);
    }
    let law = Arc::new(derive(model, index));
    let known: Known = (scene.revision, index, law.clone());
    context.data_mut(|data| data.insert_temp(key, known));
    Some(law)
}

fn derive(model: &Model, index: usize) -> JunctionLaw {
    let junction = model.scene.layout.junctions[index].clone();
    let conflicts = Conflicts::of(&junction);
    let plans = plans_near(model, &[index]);
    let mut groups = plans.groups.iter();
    JunctionLaw {
        right: RightOfWay::of(&junction, &conflicts),
        signals: plans.signals[index].clone(),
        is_shared: groups.any(|group| group.len() > 1 && group.contains(&index)),
        conflicts,
        junction,
    }
}

/// Returns the signals of the given junctions. Other junctions are included only if they are near,
/// because they may share programmes.
pub(in crate::panels) fn plans_near(model: &Model, junctions: &[usize]) -> SignalPlans {
    let layout = &model.scene.layout;
    let has_signals =
        |other: &Junction| other.plan.mode.rules() && other.control == Control::Signals;
    let is_near = |other: &Junction| {
        let mut all = junctions.iter().map(|&index| &layout.junctions[index]);
        all.any(|own| has_signals(own) && (other.centre - own.centre).length() < NEAR)
    };
    // Indexed like the junctions of the layout. The given junctions are included, because their distance is
    // 0.
    let near: Vec<Option<Conflicts>> = layout
        .junctions
        .iter()
        .map(|other| (has_signals(other) && is_near(other)).then(|| Conflicts::of(other)))
        .collect();
    let none = Conflicts::default();
    signal_plans(
        model.scene.scenario.network(),
        layout,
        |i| Signals::of(&layout.junctions[i], near[i].as_ref()?),
        // Not used for the omitted junctions, because they have no signals here.
        |i| near[i].as_ref().unwrap_or(&none),
    )
}

/// Returns the name of a turn.
pub(super) fn turn_title(turn: Turn) -> &'static str {
    match turn {
        Turn::Left => "left",
        Turn::Straight => "straight",
        Turn::Right => "right",
        Turn::UTurn => "back",
    }
}
