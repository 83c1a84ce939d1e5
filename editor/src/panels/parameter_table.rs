//! Tables of numbers among the parameters of a module, as grids.

use super::widgets::named;
use egui::{CollapsingHeader, DragValue, Grid, Response, ScrollArea, Ui};
use roadwright_agent::{ParameterInfo, ParameterTable, TableCell};

/// Maximum number of cells of a table that is shown unfolded.
const FEW: usize = 64;
/// Maximum height of a table, points. A higher table scrolls.
const TALL: f32 = 260.0;

/// A cell that the user is changing.
pub(super) struct TouchedCell<'a> {
    /// Description of the cell's parameter.
    pub(super) info: &'a ParameterInfo,
    /// Current value of the cell.
    pub(super) value: f64,
    /// Response of the number field that shows the cell.
    pub(super) response: Response,
}

/// Separates parameters with their own rows from the cells of each table.
pub(super) fn without_tables(
    parameters: &[ParameterInfo],
) -> (Vec<&ParameterInfo>, Vec<&[ParameterInfo]>) {
    let (mut plain, mut tables) = (Vec::new(), Vec::new());
    let mut index = 0;
    while let Some(info) = parameters.get(index) {
        let own = &parameters[index..(index + info.span()).min(parameters.len())];
        match info.cell {
            Some(_) => tables.push(own),
            None => plain.push(info),
        }
        index += own.len();
    }
    (plain, tables)
}

/// Returns the number of parameters, where a table counts as one.
pub(super) fn count(parameters: &[ParameterInfo]) -> usize {
    let is_first = |cell: TableCell| cell.is_first();
    let whole = parameters
        .iter()
        .filter(|info| info.cell.is_none_or(is_first));
    whole.count()
}

/// Shows a table as a grid with names of rows and columns. `owner` is the object to which it belongs. Returns
/// the cells that are being changed.
pub(super) fn table<'a>(
    ui: &mut Ui,
    owner: &str,
    cells: &'a [ParameterInfo],
    value: impl Fn(&ParameterInfo) -> f64,
) -> Vec<TouchedCell<'a>> {
    let mut touched = Vec::new();
    let Some(TableCell { table, .. }) = cells.first().and_then(|info| info.cell) else {
        return touched;
    };
    CollapsingHeader::new(format!("{}: {}", table.key, table.shape()))
        .id_salt(("table", owner, table.key))
        .default_open(cells.len() <= FEW)
        .show(ui, |ui| {
            ui.label(egui::RichText::new(cells[0].doc).weak().small());
            // A short table scrolls with the panel.
            ScrollArea::new([true, cells.len() > FEW])
                .id_salt(("scrolled table", owner, table.key))
                .max_height(TALL)
                .show(ui, |ui| {
                    Grid::new(("cells", owner, table.key))
                        .striped(true)
                        .show(ui, |ui| {
                            heading(ui, table);
                            for (row, cells) in cells.chunks(table.columns as usize).enumerate() {
                                ui.label(name(table.row_names, row));
                                for info in cells {
                                    touched.extend(field(ui, owner, info, value(info)));
                                }
                                ui.end_row();
                            }
                        });
                });
        });
    touched
}

/// Shows the names of the columns.
fn heading(ui: &mut Ui, table: &ParameterTable) {
    ui.label("");
    for column in 0..table.columns as usize {
        ui.label(name(table.column_names, column));
    }
    ui.end_row();
}

/// Returns the name of a row or column, or its number if it has no name.
fn name(names: &[&str], index: usize) -> String {
    names
        .get(index)
        .map_or_else(|| index.to_string(), |name| (*name).to_owned())
}

fn field<'a>(
    ui: &mut Ui,
    owner: &str,
    info: &'a ParameterInfo,
    mut value: f64,
) -> Option<TouchedCell<'a>> {
    let drag = DragValue::new(&mut value)
        .range(info.min..=info.max)
        // Dragging by 500 points covers the whole range, as for single numbers.
        .speed((info.max - info.min) / 500.0)
        .max_decimals(6)
        // A file may contain a value outside the range; showing it must not change it.
        .clamp_existing_to_range(false);
    let hint = format!("{}: {} to {} {}", info.key, info.min, info.max, info.unit);
    let response = ui.add(drag).on_hover_text(hint);
    named(&response, &format!("{} of {owner}", info.key));
    let is_touched = response.changed() || response.drag_stopped() || response.lost_focus();
    is_touched.then_some(TouchedCell {
        info,
        value,
        response,
    })
}
