//! `roadwright plugin records`: prints the records of the binary interface.

use crate::Outcome;
use crate::commands::print_json;
use crate::terminal;
use roadwright_plugin_api::abi::{ABI_MAJOR, ABI_MINOR};
use roadwright_plugin_api::description::{Field, RECORDS, Record};
use serde_json::{Value, json};
use std::io::Write;

/// Prints every record of the binary interface.
pub(super) fn records(as_json: bool) -> anyhow::Result<Outcome> {
    if as_json {
        let records: Vec<Value> = RECORDS.iter().map(record).collect();
        print_json(&json!({"interface": version(ABI_MINOR), "records": records}))?;
        return Ok(Outcome::Fine);
    }
    let mut out = terminal::out();
    for record in RECORDS {
        let (size, since) = (record.size, version(record.since));
        writeln!(out, "{} ({size} bytes, since {since})", record.name)?;
        for field in record.fields {
            let kind = match field.count {
                1 => field.kind.to_owned(),
                count => format!("{}[{count}]", field.kind),
            };
            // A field as old as its record needs no version.
            let since = match field.since == record.since {
                true => String::new(),
                false => version(field.since),
            };
            let (offset, name, unit) = (field.offset, field.name, field.unit);
            let line = format!("{offset:>6}  {kind:<24} {name:<34} {unit:<10} {since}");
            writeln!(out, "{}", line.trim_end())?;
        }
    }
    Ok(Outcome::Fine)
}

fn version(minor: u16) -> String {
    format!("{ABI_MAJOR}.{minor}")
}

fn record(record: &Record) -> Value {
    let fields: Vec<Value> = record.fields.iter().map(field).collect();
    json!({
        "name": record.name,
        "size": record.size,
        "since": version(record.since),
        "fields": fields,
    })
}

fn field(field: &Field) -> Value {
    json!({
        "name": field.name,
        "type": field.kind,
        "count": field.count,
        "offset": field.offset,
        "size": field.size,
        "unit": field.unit,
        "since": version(field.since),
    })
}
