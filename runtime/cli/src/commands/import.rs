//! `roadwright import`: creates a scenario from OpenStreetMap data.

use super::print_json;
use crate::Outcome;
use crate::arguments::{DriveOn, Import};
use crate::outputs::{Inputs, Kind, Outputs};
use crate::terminal;
use anyhow::{Context, bail};
use roadwright_interchange::osm::{
    GeoBox, ImportOptions, ImportSummary, import as build, read_file,
};
use roadwright_scenario::{DrivingSide, RoadAccess, file};
use serde_json::json;
use std::io::Write;
use std::path::Path;

pub(crate) fn import(arguments: &Import) -> anyhow::Result<Outcome> {
    let options = ImportOptions {
        name: name_of(&arguments.file),
        clip: arguments.clip.as_deref().map(geo_box).transpose()?,
        driving_side: match arguments.drive_on {
            DriveOn::Auto => None,
            DriveOn::Left => Some(DrivingSide::Left),
            DriveOn::Right => Some(DrivingSide::Right),
        },
        country: arguments.country.as_deref().map(str::to_uppercase),
        roads_only: arguments.roads_only,
    };
    let cannot = || format!("cannot import {}", arguments.file.display());
    let mut outputs = Outputs::of(Inputs::none().file("the map", &arguments.file));
    if arguments.json {
        outputs.prints("--json");
    } else if !arguments.quiet {
        outputs.prints("the summary (--quiet leaves it out)");
    }
    let place = outputs.file("--out", &arguments.out, Kind::Scenario)?;
    // Checked before the map is read, which may cover a whole country.
    outputs.try_out(&place)?;
    let elements = read_file(&arguments.file).with_context(cannot)?;
    let (scenario, summary) = build(&elements, &options).with_context(cannot)?;
    let written = file::text_at(&scenario, &arguments.out);
    outputs.write(&place, written.as_bytes())?;
    outputs.commit()?;
    if arguments.json {
        print_json(&document(&summary))?;
    } else if !arguments.quiet {
        write!(terminal::out(), "{}", text(&summary))?;
    }
    Ok(Outcome::Fine)
}

fn name_of(path: &Path) -> String {
    let name = path
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    // Extracts are named town.osm or town.osm.pbf.
    let name = name.trim_end_matches(".pbf").trim_end_matches(".osm");
    name.to_owned()
}

fn geo_box(values: &[f64]) -> anyhow::Result<GeoBox> {
    let &[west, south, east, north] = values else {
        bail!("--box needs four numbers: WEST,SOUTH,EAST,NORTH");
    };
    // If a box crosses the 180° meridian, its west is in the eastern hemisphere.
    let across = west > east && west > 0.0 && east < 0.0;
    let on_earth = west.abs() <= 180.0 && east.abs() <= 180.0 && south >= -90.0 && north <= 90.0;
    if !((west < east || across) && south < north && on_earth) {
        bail!(
            "--box {west},{south},{east},{north}: WEST < EAST and SOUTH < NORTH are required, in degrees"
        );
    }
    Ok(GeoBox {
        west,
        south,
        east,
        north,
    })
}

fn side(summary: &ImportSummary) -> &'static str {
    match summary.driving_side {
        DrivingSide::Left => "left",
        DrivingSide::Right => "right",
    }
}

fn document(summary: &ImportSummary) -> serde_json::Value {
    let warnings: Vec<_> = summary
        .warnings
        .iter()
        .map(|w| json!({"reason": w.reason, "count": w.count, "examples": w.examples}))
        .collect();
    let roads = summary.access.iter();
    let access: serde_json::Map<_, _> = roads
        .map(|(access, (roads, km))| (access.name().into(), json!({"roads": roads, "km": km})))
        .collect();
    let moved = summary.moved_carriageways.iter();
    let moved: Vec<_> = moved
        .map(|moved| json!({"way": moved.way, "road": moved.road.0, "by": moved.by}))
        .collect();
    json!({
        "ways": summary.ways,
        "roads": summary.roads,
        "junctions": summary.junctions,
        "lanes": summary.lanes,
        "road_km": summary.road_km,
        "lane_km": summary.lane_km,
        "signals": summary.signals,
        "controllers": summary.controllers,
        "signals_unassigned": summary.signals_unassigned,
        "signs": summary.signs,
        "mini_roundabouts": summary.mini_roundabouts,
        "turning_circles": summary.turning_circles,
        "crossings": summary.crossings,
        "crossings_unassigned": summary.crossings_unassigned,
        "restrictions": summary.restrictions,
        "via_restrictions": summary.via_restrictions,
        "timed_restrictions": summary.timed_restrictions,
        "turn_lanes": summary.turn_lanes,
        "lane_changes": summary.lane_changes,
        "buildings": summary.buildings,
        "land": summary.land,
        "access": access,
        "moved_carriageways": moved,
        "driving_side": side(summary),
        "country": summary.country,
        "warnings": warnings,
    })
}

fn text(summary: &ImportSummary) -> String {
    let mut text = format!(
        "ways             {}\nroads            {}, {:.2} km\nlanes            {}, {:.2} km\n\
         junctions        {}\nsignals          {}, of {} junctions and crossings\nsigns            {}\ncrossings        {}\nrestrictions     {}, {} via ways, {} timed\nturn lanes       {}\nlane changes     {} lanes with restrictions\nbuildings        {}\nland             {} areas\ntraffic          {}-hand\ncountry          {}\n",
        summary.ways,
        summary.roads,
        summary.road_km,
        summary.lanes,
        summary.lane_km,
        summary.junctions,
        summary.signals,
        summary.controllers,
        summary.signs,
        summary.crossings,
        summary.restrictions,
        summary.via_restrictions,
        summary.timed_restrictions,
        summary.turn_lanes,
        summary.lane_changes,
        summary.buildings,
        summary.land,
        side(summary),
        if summary.country.is_empty() {
            "none"
        } else {
            &summary.country
        },
    );
    for (access, (roads, km)) in &summary.access {
        if *access != RoadAccess::All {
            let name = format!("access={}", access.name());
            text += &format!("{name:<16} {roads} roads, {km:.2} km\n");
        }
    }
    if !summary.warnings.is_empty() {
        text += "left out or changed:\n";
    }
    for warning in &summary.warnings {
        text += &format!(
            "  {:>5}  {} (e.g. {})\n",
            warning.count,
            warning.reason,
            warning.examples.join(", ")
        );
    }
    text
}
