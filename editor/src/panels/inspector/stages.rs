//! Table of movements and signal stages. Clicks switch its cells.
//!
//! ```text
//!                   1   2
//!   road 1 left     v   -      # green   v green that yields (permitted)   - red
//!   road 1 straight #   -
//! ```

use super::law::{JunctionLaw, turn_title};
use super::timeline::{plan_edit, plan_with_stages, ruling_node};
use crate::model::{Action, Model};
use crate::theme::{self, Theme};
use crate::tools::Tone;
use egui::{Grid, Id, Rect, RichText, Role, Sense, Shape, Stroke, Ui, WidgetInfo, vec2};
use roadwright_scenario::junction::{Conflicts, ConnectingPath, Junction, Light, Signals, Turn};
use roadwright_scenario::{ConnectionIndex, Movement, NodeId, RoadId, SignalPlan};
use std::collections::{BTreeMap, BTreeSet};

/// Size of a cell of the table, points.
const CELL: (f32, f32) = (26.0, 20.0);

/// A movement: a road and a turn from it.
pub(super) type RoadTurn = (RoadId, Turn);

/// Right of way of a movement in a stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Right {
    Waits,
    /// Green, yielding to protected movements.
    Yields,
    Goes,
}

impl Right {
    fn title(self) -> &'static str {
        match self {
            Self::Waits => "red",
            Self::Yields => "permitted",
            Self::Goes => "green",
        }
    }

    /// Returns the rights that a click can switch to, in order of preference.
    fn next(self) -> [Self; 2] {
        match self {
            Self::Waits => [Self::Goes, Self::Yields],
            Self::Goes => [Self::Yields, Self::Waits],
            Self::Yields => [Self::Waits, Self::Goes],
        }
    }
}

/// Rights of all movements, by stage.
#[derive(Debug, Clone, PartialEq)]
struct Table {
    rows: BTreeMap<RoadTurn, Vec<Right>>,
}

impl Table {
    fn of(junction: &Junction, signals: &Signals) -> Self {
        let stages = signals.greens.len();
        let mut rows: BTreeMap<RoadTurn, Vec<Right>> = BTreeMap::new();
        for (number, path) in junction.paths.iter().enumerate() {
            let row = rows.entry((path.from.road, path.turn));
            let row = row.or_insert_with(|| vec![Right::Waits; stages]);
            for (stage, right) in row.iter_mut().enumerate() {
                // A green that yields is a separate right, between the other two.
                let own = match signals.greens[stage][number] {
                    false => Right::Waits,
                    true if signals.is_permitted(number, stage) => Right::Yields,
                    true => Right::Goes,
                };
                // Several lanes may have the same turn; the table shows the highest right of any of them.
                *right = own.max(*right);
            }
        }
        Self { rows }
    }

    /// Returns the movements that have the given right in a stage, in the form that plans use. If
    /// all turns of a road have this right, the turns are left out.
    fn movements(&self, stage: usize, right: Right) -> Vec<Movement> {
        let mut roads: BTreeMap<RoadId, (Vec<Turn>, usize)> = BTreeMap::new();
        for (&(road, turn), rights) in &self.rows {
            // Number of the road's turns that have the right, and number of all its turns.
            let (turns, all) = roads.entry(road).or_default();
            *all += 1;
            if rights[stage] == right {
                turns.push(turn);
            }
        }
        let meant = roads
            .into_iter()
            .filter(|(_, (turns, _))| !turns.is_empty());
        let movement = |(road, (turns, all)): (RoadId, (Vec<Turn>, usize))| Movement {
            road,
            // An empty list stands for all turns, including those of arms added later.
            turns: if turns.len() == all {
                Vec::new()
            } else {
                turns
            },
        };
        meant.map(movement).collect()
    }

    /// Returns the table with a different right for one movement in one stage.
    fn with(&self, row: RoadTurn, stage: usize, right: Right) -> Self {
        let mut table = self.clone();
        if let Some(rights) = table.rows.get_mut(&row) {
            rights[stage] = right;
        }
        table
    }

    fn put(&self, plan: &mut SignalPlan, stage: usize) {
        if let Some(given) = plan.stages.get_mut(stage) {
            given.green = self.movements(stage, Right::Goes);
            given.permitted = self.movements(stage, Right::Yields);
        }
    }
}

pub(super) fn ui(
    ui: &mut Ui,
    model: &Model,
    id: NodeId,
    law: &JunctionLaw,
    signals: &Signals,
    actions: &mut Vec<Action>,
) {
    let node = ruling_node(model, law, id);
    let table = Table::of(&law.junction, signals);
    let key = Id::unique("what was refused about stages");
    let mut clicked = None;
    ui.add_space(4.0);
    ui.label(RichText::new("Movements by stage").strong());
    Grid::new("movements by stage")
        .spacing(vec2(6.0, 2.0))
        .show(ui, |ui| {
            ui.label("");
            for stage in 1..=signals.greens.len() {
                ui.label(RichText::new(format!("  {stage}")).weak());
            }
            ui.end_row();
            for (&row, rights) in &table.rows {
                ui.label(row_title(row));
                for (stage, &right) in rights.iter().enumerate() {
                    if cell(ui, model.theme(), row, stage, right) {
                        clicked = Some((row, stage, right));
                    }
                }
                ui.end_row();
            }
        });
    ui.label(RichText::new("Click: green (disc), permitted (triangle, yields), red.").weak());
    if let Some((row, stage, right)) = clicked {
        // The plan needs explicit stages before they can be changed.
        let plan = plan_with_stages(law, signals);
        let (plan, refused) = switched(law, &plan, &table, row, stage, right);
        if let Some(edit) = plan.and_then(|plan| plan_edit(model, node, plan)) {
            let label = format!("Switch {} in stage {} of {node}", row_title(row), stage + 1);
            actions.push(Action::Apply(label, edit));
        }
        // An empty list is stored as well, which clears the refusal of the previous click.
        ui.data_mut(|data| data.insert_temp(key, (node, refused)));
    }
    let refused: Option<(NodeId, Vec<String>)> = ui.data(|data| data.get_temp(key));
    let refused = refused.filter(|(of, _)| *of == node);
    for text in refused.into_iter().flat_map(|(_, texts)| texts) {
        let color = model.theme().tone(Tone::Warning);
        ui.label(RichText::new(text).color(color));
    }
}

/// Returns the name of a movement.
pub(super) fn row_title(row: RoadTurn) -> String {
    let (road, turn) = row;
    format!("{road} {}", turn_title(turn))
}

/// Finds a movement that would never have green without this stage.
pub(super) fn goes_nowhere_without(
    junction: &Junction,
    signals: &Signals,
    stage: usize,
) -> Option<RoadTurn> {
    let table = Table::of(junction, signals);
    let mut rows = table.rows.into_iter();
    let only_there = |rights: &[Right]| {
        let mut others = rights.iter().enumerate().filter(|(at, _)| *at != stage);
        rights[stage] != Right::Waits && others.all(|(_, right)| *right == Right::Waits)
    };
    rows.find(|(_, rights)| only_there(rights))
        .map(|(row, _)| row)
}

/// Draws a cell of the table with a different shape and colour for each right. Returns whether it was
/// clicked.
fn cell(ui: &mut Ui, theme: Theme, row: RoadTurn, stage: usize, right: Right) -> bool {
    let (rect, response) = ui.allocate_exact_size(CELL.into(), Sense::click());
    let name = format!(
        "{} in stage {}: {}",
        row_title(row),
        stage + 1,
        right.title()
    );
    let label = name.clone();
    response.widget_info(move || WidgetInfo::labeled(Role::Button, true, &label));
    let visuals = ui.style().interact(&response);
    ui.painter().rect_filled(rect, 3.0, visuals.weak_bg_fill);
    let (centre, green) = (rect.center(), theme.go());
    match right {
        Right::Waits => {
            let bar = Rect::from_center_size(centre, vec2(10.0, 2.5));
            let red = theme::light(Light::Red);
            ui.painter().rect_filled(bar, 1.0, red);
        }
        Right::Goes => {
            ui.painter().circle_filled(centre, 6.0, green);
        }
        Right::Yields => {
            let corners = [(-6.5, -5.0), (6.5, -5.0), (0.0, 6.5)];
            let corners = corners.map(|(x, y)| centre + vec2(x, y)).to_vec();
            let rim = Stroke::new(1.8, green);
            let fill = green.gamma_multiply(0.25);
            ui.painter().add(Shape::convex_polygon(corners, fill, rim));
        }
    }
    response.on_hover_text(name).clicked()
}

/// Returns the plan after the user clicks a movement in a stage, and why each preferred right was
/// refused. `None` if no other right is possible.
fn switched(
    law: &JunctionLaw,
    plan: &SignalPlan,
    table: &Table,
    row: RoadTurn,
    stage: usize,
    right: Right,
) -> (Option<SignalPlan>, Vec<String>) {
    let mut refused = Vec::new();
    for next in right.next() {
        let table = table.with(row, stage, next);
        let mut plan = plan.clone();
        table.put(&mut plan, stage);
        // Checked on the resulting plan, not on the current one.
        match refusal(law, &plan, &table, row, stage, next) {
            None => return (Some(plan), refused),
            Some(why) => refused.push(why),
        }
    }
    (None, refused)
}

/// Returns the reason why a plan with a switched movement is invalid.
fn refusal(
    law: &JunctionLaw,
    plan: &SignalPlan,
    table: &Table,
    row: RoadTurn,
    stage: usize,
    right: Right,
) -> Option<String> {
    let (name, number) = (row_title(row), stage + 1);
    // Checked before the conflicts, because the table itself shows the missing green.
    if table.rows[&row].iter().all(|right| *right == Right::Waits) {
        return Some(format!(
            "{name} cannot be red in stage {number}: it would never get green. Give it green in another \
             stage first."
        ));
    }
    if table
        .rows
        .values()
        .all(|rights| rights[stage] == Right::Waits)
    {
        return Some(format!(
            "{name} cannot be red in stage {number}: the stage would be empty. Add other movements first."
        ));
    }
    let met = meets(&law.junction, &law.conflicts, plan, row, stage);
    (!met.is_empty()).then(|| {
        let others: Vec<String> = met.into_iter().map(row_title).collect();
        let right = right.title();
        format!(
            "{name} cannot be {right} in stage {number}: it conflicts with {}, and neither would yield.",
            others.join(", ")
        )
    })
}

/// Returns the movements that would conflict with a movement in a stage, because neither of the two
/// yields.
fn meets(
    junction: &Junction,
    conflicts: &Conflicts,
    plan: &SignalPlan,
    row: RoadTurn,
    stage: usize,
) -> BTreeSet<RoadTurn> {
    // Uses the signals of the resulting plan, because the rights of individual connections derive from it.
    let planned = Junction {
        plan: plan.clone(),
        ..junction.clone()
    };
    let Some(signals) = Signals::of(&planned, conflicts) else {
        return BTreeSet::new();
    };
    let row_of = |path: ConnectionIndex| {
        let path: &ConnectingPath = &junction.paths[path.index()];
        (path.from.road, path.turn)
    };
    let pairs = signals.unsettled(&planned, conflicts, stage);
    let pairs = pairs.into_iter().map(|(a, b)| (row_of(a), row_of(b)));
    pairs
        .filter_map(|(a, b)| match (a == row, b == row) {
            // Only pairs that include the switched movement count, because this click does not affect other
            // conflicts.
            (true, _) => Some(b),
            (_, true) => Some(a),
            _ => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use Right::{Goes, Waits, Yields};

    fn table(rights: [[Right; 2]; 3]) -> Table {
        let turns = [Turn::Left, Turn::Straight, Turn::Right];
        let rows = turns.into_iter().zip(rights);
        Table {
            rows: rows
                .map(|(turn, rights)| ((RoadId(1), turn), rights.to_vec()))
                .collect(),
        }
    }

    fn turns(movements: &[Movement]) -> Vec<&[Turn]> {
        movements.iter().map(|m| m.turns.as_slice()).collect()
    }

    #[test]
    fn a_table_is_told_as_movements_of_roads() {
        let all = table([[Goes, Waits]; 3]);
        // If all turns of a road have the right, they need no list; if none has it, the road needs no entry.
        assert_eq!(turns(&all.movements(0, Goes)), [&[] as &[Turn]]);
        assert!(all.movements(1, Goes).is_empty() && all.movements(0, Yields).is_empty());
        let left = all.with((RoadId(1), Turn::Left), 0, Yields);
        assert_eq!(turns(&left.movements(0, Yields)), [&[Turn::Left]]);
        let green = left.movements(0, Goes);
        assert_eq!(green.len(), 1);
        assert!(green[0].includes(RoadId(1), Turn::Right));
        assert!(!green[0].includes(RoadId(1), Turn::Left));
        assert_eq!(left.with((RoadId(1), Turn::Left), 0, Goes), all);
    }

    #[test]
    fn a_click_goes_round() {
        for right in [Waits, Goes, Yields] {
            let [first, second] = right.next();
            assert!(first != right && second != right && first != second);
            assert_eq!(first.next()[0], second);
        }
    }
}
