//! The tables of move trees as parts of `bench reproduce`.

use super::{MeasuredRow, measure, statements};
use crate::commands::bench::arguments::{Collisions, MoveTrees as Arguments};
use roadwright_moves::Table;
use roadwright_training::genetic::study::Statement;

/// A table of [Adam 2007], driven from several starts.
pub(in crate::commands::bench) struct ReproducedTable {
    /// Number of the table in the source.
    pub(in crate::commands::bench) number: &'static str,
    /// A line of text for each row.
    pub(in crate::commands::bench) rows: Vec<String>,
    pub(in crate::commands::bench) statements: Vec<Statement>,
}

/// Drives all tables from a number of starts. The result contains no computing times, so that it
/// does not depend on the number of threads.
pub(in crate::commands::bench) fn tables(starts: u32) -> anyhow::Result<Vec<ReproducedTable>> {
    let arguments = Arguments {
        table: None,
        row: None,
        starts,
        source_sweep: false,
        collisions: Collisions::default(),
        first_leaf: false,
        detours: false,
        replayed: false,
        free_ground: None,
        threads: None,
        json: false,
    };
    let mut rows = Vec::new();
    for table in Table::ALL {
        for (number, row) in (1u32..).zip(table.rows().chain(table.controls())) {
            rows.push(measure(row, number, &arguments)?);
        }
    }
    // All rows are checked together, because some statements compare two tables.
    let stated = statements::of(&rows);
    let table = |table: Table| {
        let own = rows.iter().filter(|row| row.table == table.number());
        let stated = stated.iter().filter(|one| one.table == table.number());
        ReproducedTable {
            number: table.number(),
            rows: own.map(words).collect(),
            statements: stated
                .map(|one| Statement {
                    says: one.statement.to_owned(),
                    holds: one.holds,
                    found: format!("from {starts} starts (see the rows)"),
                })
                .collect(),
        }
    };
    Ok(Table::ALL.map(table).into_iter().collect())
}

/// Describes a row in one line of text.
fn words(row: &MeasuredRow) -> String {
    let limit = row.limit.map_or("no printed limit".to_owned(), |limit| {
        format!("{limit} nodes")
    });
    format!(
        "{} on {}, {} frames, {limit}: {} crash, {} arrive, {} survive; median {:.1} s (quartiles {:.1} to {:.1}), \
         {:.0} nodes per plan; source: {}",
        row.tree,
        row.track,
        row.frames,
        row.crashed,
        row.arrived,
        row.survived,
        row.median_s,
        row.quartiles_s[0],
        row.quartiles_s[1],
        row.nodes_per_plan,
        row.source
    )
}
