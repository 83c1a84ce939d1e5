//! `roadwright vehicle`: checks, shows and measures vehicle files.

mod plots;

use super::print_json;
use crate::Outcome;
use crate::outputs::{Inputs, Outputs};
use crate::terminal;
use anyhow::{Context, bail};
use clap::Subcommand;
use roadwright_scenario::vehicle_file::{
    EXTENSION, LARGEST, SHIPPED, VehicleFile, WheelShape, hash,
};
use roadwright_scenario::{DynamicsLevel, VehicleType};
use roadwright_vehicle::gait::{Bvh, Cycle, NamedJoint};
use roadwright_vehicle::proving::{Manoeuvre, prove, prove_and_plot};
use roadwright_vehicle::{DriveTrain, Sheet};
use serde_json::json;
use std::io::Write;
use std::path::{Path, PathBuf};

#[derive(Debug, Subcommand)]
pub(crate) enum VehicleVerb {
    /// List the shipped vehicles
    List {
        /// Print one JSON document and nothing else
        #[arg(long)]
        json: bool,
    },
    /// Show the dimensions, the supported levels of dynamics and the gears of a vehicle
    Show {
        /// Name of a shipped vehicle, `person`, or a file NAME.vehicle.json
        vehicle: String,
        /// Print the vehicle file itself
        #[arg(long)]
        json: bool,
    },
    /// Check a vehicle file, and show the levels of dynamics that it supports
    Check {
        /// The vehicle file, NAME.vehicle.json
        #[arg(required_unless_present = "schema")]
        vehicle: Option<String>,
        /// Print one JSON document and nothing else
        #[arg(long)]
        json: bool,
        /// Print the JSON Schema of vehicle files
        #[arg(long)]
        schema: bool,
    },
    /// Compute the gait of a character from a motion capture file, NAME.bvh, that contains one
    /// cycle of two steps
    Gait {
        /// The motion capture file, NAME.bvh
        recording: PathBuf,
        /// Joint of the recording for a role; roles are hips, left_foot, right_foot, left_shoulder
        /// and right_shoulder
        #[arg(long = "joint", value_name = "ROLE=NAME", value_parser = named_joint)]
        joints: Vec<NamedJoint>,
        /// Length of a unit of the recording, m [default: 1, or 0.01 if the hips are more than 10 units high]
        #[arg(long, value_name = "METRES", value_parser = positive)]
        scale: Option<f64>,
        /// Print the numbers as JSON, for the key `gaits` of a vehicle type
        #[arg(long)]
        json: bool,
    },
    /// Measure a vehicle on the proving ground; exit code 1 if it violates a limit
    Test {
        /// Name of a shipped vehicle, or a file NAME.vehicle.json
        vehicle: String,
        /// Print one JSON document and nothing else
        #[arg(long)]
        json: bool,
        /// Wheel model at level rigid, instead of the one in the file
        #[arg(long)]
        wheels: Option<WheelArgument>,
        /// Folder for plots of the manoeuvres, as pictures and tables
        #[arg(long, value_name = "DIR")]
        plots: Option<PathBuf>,
    },
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub(crate) enum WheelArgument {
    /// Rays along the springs
    Ray,
    /// Spheres with mass
    Sphere,
}

pub(crate) fn vehicle(verb: &VehicleVerb) -> anyhow::Result<Outcome> {
    match verb {
        VehicleVerb::List { json } => list(*json),
        VehicleVerb::Show { vehicle, json } => show(vehicle, *json),
        VehicleVerb::Check { schema: true, .. } => {
            write!(terminal::out(), "{}", VehicleFile::schema())?;
            Ok(Outcome::Fine)
        }
        VehicleVerb::Check { vehicle, json, .. } => {
            check(vehicle.as_deref().context("specify a vehicle file")?, *json)
        }
        VehicleVerb::Gait {
            recording,
            joints,
            scale,
            json,
        } => gait(recording, joints, *scale, *json),
        VehicleVerb::Test {
            vehicle,
            json,
            wheels,
            plots,
        } => test(vehicle, *wheels, *json, plots.as_deref()),
    }
}

/// Parses `ROLE=NAME`.
fn named_joint(text: &str) -> Result<NamedJoint, String> {
    let (role, joint) = text
        .split_once('=')
        .ok_or_else(|| format!("\"{text}\" has no \"=\"; expected ROLE=NAME"))?;
    Ok(NamedJoint {
        role: role.parse()?,
        joint: joint.to_owned(),
    })
}

fn positive(text: &str) -> Result<f64, String> {
    let value = text.parse::<f64>().ok();
    let value = value.filter(|value| (1e-6..=1e3).contains(value));
    value.ok_or_else(|| format!("\"{text}\" is not a length from 0.000001 to 1000 m"))
}

/// Maximum size of a recording, bytes. A recording of one cycle takes about ten thousand bytes.
const LARGEST_RECORDING: u64 = 16 << 20;

fn gait(
    path: &Path,
    joints: &[NamedJoint],
    scale: Option<f64>,
    json: bool,
) -> anyhow::Result<Outcome> {
    let shown = path.display();
    let text = roadwright_files::read_text(path, LARGEST_RECORDING)
        .with_context(|| format!("cannot read {shown}"))?;
    let bvh = Bvh::from_text(&text).with_context(|| format!("cannot use {shown}"))?;
    let frames = bvh
        .cycle_frames(joints, scale)
        .with_context(|| format!("cannot use {shown}"))?;
    let gait = Cycle::factored(&frames, bvh.frame_time)
        .and_then(|cycle| cycle.gait())
        .with_context(|| format!("cannot use {shown}"))?;
    if json {
        print_json(&gait.numbers())?;
        return Ok(Outcome::Fine);
    }
    let mut out = terminal::out();
    for (what, value, unit) in [
        ("speed", gait.speed, "m/s"),
        ("duration", gait.duration, "s"),
        ("stride", gait.stride(), "m"),
        ("duty", gait.duty, ""),
        ("half width", gait.half_width, "m"),
        ("lift", gait.lift, "m"),
        ("twist", gait.twist, "rad"),
    ] {
        writeln!(out, "{what:<12} {value:>8.3} {unit}")?;
    }
    Ok(Outcome::Fine)
}

/// Prints the vehicle type of a person, for the section `vehicle_types` of a scenario.
fn show_person(json: bool) -> anyhow::Result<Outcome> {
    let person = VehicleType::person();
    if json {
        print_json(&person)?;
        return Ok(Outcome::Fine);
    }
    let mut out = terminal::out();
    let (size, speed) = (person.length.get(), person.max_speed.get());
    writeln!(out, "{}: a character on foot\n", person.name)?;
    writeln!(out, "{:<16} {size:>10.2} m", "diameter")?;
    writeln!(out, "{:<16} {:>10.2} m", "height", person.height.get())?;
    writeln!(out, "{:<16} {speed:>10.2} m/s", "top speed")?;
    writeln!(out, "level {}: available", DynamicsLevel::Walker)?;
    Ok(Outcome::Fine)
}

/// Finds a shipped vehicle by name, or reads a vehicle file. Keys of the built-in vehicle types, which have
/// underscores instead of hyphens (`willys_mb`), are accepted as well.
pub(super) fn find(name: &str) -> anyhow::Result<VehicleFile> {
    let hyphenated = name.replace('_', "-");
    if let Some(shipped) = SHIPPED.iter().find(|shipped| shipped.name == hyphenated) {
        return VehicleFile::from_text(shipped.text).context("a shipped vehicle");
    }
    if !name.ends_with(EXTENSION) && !Path::new(name).exists() {
        let names: Vec<_> = SHIPPED.iter().map(|shipped| shipped.name).collect();
        bail!(
            "unknown vehicle \"{name}\"; specify a file NAME{EXTENSION}, or one of {}",
            names.join(", ")
        );
    }
    VehicleFile::load(Path::new(name)).context("cannot open the vehicle")
}

/// A vehicle with the hash of its file.
pub(super) struct FoundVehicle {
    /// Name of the shipped vehicle, or of the file without its extension.
    pub(super) name: String,
    pub(super) hash: String,
    pub(super) file: VehicleFile,
}

/// Name of the character for `vehicle show`.
const PERSON: &str = "person";

/// Finds a vehicle like [`find`], with its hash.
pub(super) fn find_with_text(name: &str) -> anyhow::Result<FoundVehicle> {
    let file = find(name)?;
    let hyphenated = name.replace('_', "-");
    let shipped = SHIPPED.iter().find(|shipped| shipped.name == hyphenated);
    if let Some(shipped) = shipped {
        return Ok(FoundVehicle {
            name: shipped.name.to_owned(),
            hash: hash(shipped.text),
            file,
        });
    }
    let text = roadwright_files::read_text(Path::new(name), LARGEST)
        .with_context(|| format!("cannot read {name}"))?;
    let stem = Path::new(name).file_name().unwrap_or_default();
    let stem = stem.to_string_lossy();
    Ok(FoundVehicle {
        name: stem.trim_end_matches(EXTENSION).to_owned(),
        hash: hash(&text),
        file,
    })
}

fn list(json: bool) -> anyhow::Result<Outcome> {
    let vehicles = SHIPPED
        .iter()
        .map(|shipped| Ok((shipped.name, find(shipped.name)?)))
        .collect::<anyhow::Result<Vec<_>>>()?;
    if json {
        let rows = vehicles.iter().map(|(id, vehicle)| {
            json!({"id": id, "name": vehicle.name, "levels": levels(vehicle),
                "mass": vehicle.mass(), "drive_train": DriveTrain::new(vehicle).is_some()})
        });
        print_json(&json!({"vehicles": rows.collect::<Vec<_>>()}))?;
        return Ok(Outcome::Fine);
    }
    let mut out = terminal::out();
    for (id, vehicle) in &vehicles {
        let (name, levels) = (&vehicle.name, levels(vehicle).join(", "));
        writeln!(out, "{id:<22} {name:<26} {levels}")?;
    }
    Ok(Outcome::Fine)
}

/// Returns the names of the levels that a vehicle supports.
fn levels(vehicle: &VehicleFile) -> Vec<&'static str> {
    let served = |level: &DynamicsLevel| vehicle.missing(*level).is_empty();
    let levels = DynamicsLevel::FOR_VEHICLES.into_iter().filter(served);
    levels.map(DynamicsLevel::name).collect()
}

fn show(name: &str, json: bool) -> anyhow::Result<Outcome> {
    if name == PERSON {
        return show_person(json);
    }
    let vehicle = find(name)?;
    if json {
        print_json(&vehicle)?;
        return Ok(Outcome::Fine);
    }
    let kind = vehicle.vehicle_type();
    let mut out = terminal::out();
    writeln!(out, "{}\n{}\n", vehicle.name, vehicle.description)?;
    let rows = [
        ("length", kind.length.get(), "m"),
        ("width", kind.width.get(), "m"),
        ("height", kind.height.get(), "m"),
        ("wheelbase", kind.wheelbase.get(), "m"),
        ("mass", kind.mass.get(), "kg"),
        ("steering lock", kind.max_steering.get(), "rad"),
        ("turning radius", kind.min_turning_radius(), "m"),
    ];
    for (what, value, unit) in rows {
        writeln!(out, "{what:<16} {value:>10.2} {unit}")?;
    }
    if vehicle.suspension.is_some() {
        let shape = match vehicle.wheels.shape {
            WheelShape::Ray => "rays",
            WheelShape::Sphere => "spheres",
        };
        writeln!(out, "{:<16} {shape:>10}", "wheels")?;
    }
    for (number, trailer) in (1..).zip(&vehicle.trailers) {
        let what = format!("trailer {number}");
        let (length, axle, mass) = (trailer.length, trailer.coupling_to_axle, trailer.mass);
        writeln!(
            out,
            "{what:<16} {length:>10.2} m, {axle:.2} m from its coupling to its axle, {mass:.0} kg"
        )?;
    }
    for level in DynamicsLevel::FOR_VEHICLES {
        writeln!(out, "{}", level_line(&vehicle, level))?;
    }
    if let Some(train) = DriveTrain::new(&vehicle) {
        write_gears(&mut out, &train)?;
        writeln!(out, "top speed {:.2} m/s", train.top_speed())?;
    }
    Ok(Outcome::Fine)
}

/// Writes a table of the gears. Each gear is used up to the speed at which the gearbox shifts to the next
/// one. Reverse and the top gear are used up to the engine's limit.
fn write_gears(out: &mut dyn Write, train: &DriveTrain) -> std::io::Result<()> {
    let limit = train.curve.limit_rpm();
    writeln!(
        out,
        "\ngear     ratio  up to, m/s   at rpm  force at rest, N"
    )?;
    let (top, lower) = match train.gears.split_last() {
        Some((top, lower)) => (Some(top), lower),
        None => (None, &[][..]),
    };
    let reverse = train.reverse.iter().map(|gear| (gear, limit));
    let lower = lower.iter().map(|gear| (gear, train.up_rpm));
    let top = top.map(|gear| (gear, limit));
    for (gear, rpm) in reverse.chain(lower).chain(top) {
        let (speed, force) = (train.speed(gear, rpm), train.full_force(gear, 0.0));
        let (name, ratio) = (&gear.name, gear.ratio);
        writeln!(
            out,
            "{name:<5} {ratio:>8.3} {speed:>11.2} {rpm:>8.0} {force:>17.0}"
        )?;
    }
    Ok(())
}

fn level_line(vehicle: &VehicleFile, level: DynamicsLevel) -> String {
    let missing = vehicle.missing(level);
    if missing.is_empty() {
        format!("level {level}: available")
    } else {
        format!(
            "level {level}: unavailable, because the file has no {}",
            missing.join(", ")
        )
    }
}

fn check(path: &str, json: bool) -> anyhow::Result<Outcome> {
    let vehicle = VehicleFile::load(Path::new(path)).context("cannot open the vehicle")?;
    let findings = Sheet::of(&vehicle).contradictions();
    if json {
        let levels = DynamicsLevel::FOR_VEHICLES
            .map(|level| json!({"level": level.name(), "missing": vehicle.missing(level)}));
        print_json(&json!({"vehicle": vehicle.name, "levels": levels, "findings": findings}))?;
    } else {
        let mut out = terminal::out();
        for level in DynamicsLevel::FOR_VEHICLES {
            writeln!(out, "{}", level_line(&vehicle, level))?;
        }
        for finding in &findings {
            writeln!(out, "{finding}")?;
        }
        if findings.is_empty() {
            writeln!(out, "no problems found")?;
        }
    }
    Ok(Outcome::of(findings.is_empty()))
}

fn test(
    name: &str,
    wheels: Option<WheelArgument>,
    json: bool,
    folder: Option<&Path>,
) -> anyhow::Result<Outcome> {
    let mut vehicle = find(name)?;
    if let Some(wheels) = wheels {
        vehicle.wheels.shape = match wheels {
            WheelArgument::Ray => WheelShape::Ray,
            WheelArgument::Sphere => WheelShape::Sphere,
        };
    }
    let (manoeuvres, written) = match folder {
        Some(folder) => {
            // An unwritable path is detected now, not after the last manoeuvre.
            let read = Inputs::none().file("the vehicle", Path::new(name));
            let mut outputs = Outputs::of(read);
            outputs.folder("--plots", folder)?;
            let (manoeuvres, drawn) = prove_and_plot(&vehicle)?;
            (manoeuvres, plots::write(drawn, &mut outputs, folder)?)
        }
        None => (prove(&vehicle)?, Vec::new()),
    };
    if json {
        let text = serde_json::to_string(&manoeuvres).context("manoeuvres can be serialized")?;
        print_json(&json!({
            "vehicle": vehicle.name, "manoeuvres": manoeuvres, "hash": hash(&text),
        }))?;
    } else {
        print_table(&vehicle.name, &manoeuvres)?;
    }
    if let Some(folder) = folder {
        plots::tell(&written, folder, json)?;
    }
    let fails = manoeuvres.iter().any(|one| one.pass == Some(false));
    Ok(Outcome::of(!fails))
}

fn print_table(name: &str, manoeuvres: &[Manoeuvre]) -> anyhow::Result<()> {
    let mut out = terminal::out();
    writeln!(out, "{name}\n")?;
    for one in manoeuvres {
        let Some(value) = one.value else {
            writeln!(out, "-    {:<20} {}", one.name, one.note)?;
            continue;
        };
        let verdict = match one.pass {
            Some(true) => "pass",
            Some(false) => "FAIL",
            None => "-",
        };
        let limit = one.limit_text();
        writeln!(
            out,
            "{verdict:<4} {:<20} {value:>9.3} {:<6} {limit:<18} {}",
            one.name, one.unit, one.note
        )?;
    }
    Ok(())
}
