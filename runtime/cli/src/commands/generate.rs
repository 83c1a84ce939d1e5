//! `roadwright generate`: scenarios generated from a seed.

use super::{moves, print_json, vehicle};
use crate::outputs::{Inputs, Kind, Outputs};
use crate::{Outcome, terminal};
use anyhow::{Context, bail};
use clap::{Args, Subcommand, ValueEnum};
use roadwright_moves::{Corridor, Course, Racer, Ring, Track, Traffic, Yard};
use roadwright_scenario::{MoveLibrary, Scenario, file};
use serde_json::json;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Largest change of direction between two stretches, rad.
const SHARPEST: f64 = 1.2;
/// Number of lines of cars side by side.
const LINES: u32 = 2;
/// Distance from the lines of cars to the walls, m.
const MARGIN: f64 = 2.5;

/// Commands that generate scenarios.
#[derive(Debug, Subcommand)]
pub(crate) enum GenerateVerb {
    /// A track between walls, on which a racer plans with a move tree
    Track(GenerateTrack),
}

#[derive(Debug, Args)]
#[command(
    after_help = "The same arguments give the same scenario. Cars drive along the track at \
constant speed, regardless of other vehicles. A track with --laps is closed."
)]
pub(crate) struct GenerateTrack {
    /// The scenario to write, NAME.scenario.json
    #[arg(long)]
    pub(crate) out: PathBuf,
    /// Create one of the tracks of [Adam 2007] or a tight place instead; on tracks, the seed determines the start and
    /// the positions of the cars
    #[arg(
        long,
        value_enum,
        conflicts_with_all = ["length", "corners", "sharpness", "width", "cars", "car_speed", "laps"]
    )]
    pub(crate) track: Option<TrackArgument>,
    /// Length of the centre line, m
    #[arg(long, default_value_t = 600.0, value_name = "M", value_parser = length)]
    pub(crate) length: f64,
    /// Number of corners; a closed track has at least 3
    #[arg(long, default_value_t = 8, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=200))]
    pub(crate) corners: u32,
    /// Largest angle between a stretch and the axis of the track, rad
    #[arg(long, default_value_t = 0.8, value_name = "RAD", value_parser = sharpness)]
    pub(crate) sharpness: f64,
    /// Distance between the walls, m
    #[arg(long, default_value_t = 16.0, value_name = "M", value_parser = width)]
    pub(crate) width: f64,
    /// Number of cars between start and finish; only on a straight track (--corners 0)
    #[arg(long, default_value_t = 0, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=1000))]
    pub(crate) cars: u32,
    /// Speed of the cars, m/s
    #[arg(long, default_value_t = 3.0, value_name = "MPS", value_parser = car_speed)]
    pub(crate) car_speed: f64,
    /// Make a closed track and drive this many laps
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..=50),
        conflicts_with_all = ["cars", "car_speed"]
    )]
    pub(crate) laps: Option<u32>,
    /// Seed of the shape, the start and the cars
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Vehicle that drives: a shipped vehicle, or a file NAME.vehicle.json; needs --library
    #[arg(long, requires = "library")]
    pub(crate) vehicle: Option<String>,
    /// Library of moves for the planner of --vehicle (NAME.moves.json, in the scenario's folder or
    /// below)
    #[arg(long, value_name = "FILE")]
    pub(crate) library: Option<PathBuf>,
    /// Duration of the run, s
    #[arg(long, default_value_t = 180.0, value_name = "S", value_parser = seconds)]
    pub(crate) seconds: f64,
    /// Print one JSON document and nothing else
    #[arg(long)]
    pub(crate) json: bool,
    /// Print errors only
    #[arg(long)]
    pub(crate) quiet: bool,
}

/// A track of [Adam 2007].
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TrackArgument {
    /// A long straight with cars (figure 4.2)
    LongStraight,
    /// Corners of various angles (figure 4.3)
    Cornered,
    /// Corners of various angles, with slow cars
    CorneredCars,
    /// Long straights and sharp corners (figure 4.5)
    SharpCorners,
    /// Normal corners, a sharp one, and cars in a large centre (figure 4.6)
    Final,
    /// Normal corners, a sharp one, and twice as many cars in a large centre
    FinalDense,
    /// A dead end too narrow for turning round, for moves in reverse (section 5.7)
    DeadEnd,
    /// A right angle in a passage so narrow that a vehicle has to reverse in it (section 5.7)
    NarrowTurn,
}

impl TrackArgument {
    /// Returns the tight place; `None` for the other tracks.
    fn yard(self) -> Option<Yard> {
        match self {
            Self::DeadEnd => Some(Yard::DeadEnd),
            Self::NarrowTurn => Some(Yard::NarrowTurn),
            _ => None,
        }
    }

    fn course(self) -> Course {
        match self {
            Self::LongStraight => Track::LongStraight.course(),
            Self::Cornered => Track::Cornered.course(),
            Self::CorneredCars => Track::CorneredCars.course(),
            Self::SharpCorners => Track::SharpCorners.course(),
            Self::Final => Track::Final.course(),
            Self::FinalDense => Track::FinalDense.course(),
            Self::DeadEnd => Yard::DeadEnd.course(),
            Self::NarrowTurn => Yard::NarrowTurn.course(),
        }
    }
}

fn number(text: &str, least: f64, most: f64, unit: &str) -> Result<f64, String> {
    let value = text.parse().ok();
    let value = value.filter(|value| (least..=most).contains(value));
    value.ok_or_else(|| format!("expected {least} to {most} {unit}"))
}

fn length(text: &str) -> Result<f64, String> {
    number(text, 50.0, 20_000.0, "m")
}

fn sharpness(text: &str) -> Result<f64, String> {
    number(text, 0.0, SHARPEST, "rad")
}

fn width(text: &str) -> Result<f64, String> {
    number(text, 6.0, 100.0, "m")
}

fn car_speed(text: &str) -> Result<f64, String> {
    number(text, 0.5, 30.0, "m/s")
}

fn seconds(text: &str) -> Result<f64, String> {
    number(text, 1.0, 3600.0, "s")
}

pub(crate) fn generate(verb: &GenerateVerb) -> anyhow::Result<Outcome> {
    match verb {
        GenerateVerb::Track(arguments) => track(arguments),
    }
}

fn track(arguments: &GenerateTrack) -> anyhow::Result<Outcome> {
    let mut outputs = Outputs::of(Inputs::none());
    if arguments.json {
        outputs.prints("--json");
    } else if !arguments.quiet {
        outputs.prints("the summary (--quiet leaves it out)");
    }
    let place = outputs.file("--out", &arguments.out, Kind::Scenario)?;
    outputs.try_out(&place)?;
    let (course, description) = course(arguments)?;
    let scenario = course
        .scenario(&description, &racer(arguments)?)
        .context("the track does not fit into a scenario")?;
    let text = file::text_at(&scenario, &arguments.out);
    outputs.write(&place, text.as_bytes())?;
    outputs.commit()?;
    if arguments.json {
        print_json(&json!({
            "name": scenario.about().name,
            "walls": scenario.obstacles().len(),
            "cars": cars(&scenario),
            "goals": course.goals.len(),
        }))?;
    } else if !arguments.quiet {
        writeln!(
            terminal::out(),
            "{}: {} walls, {} trips of cars\nrun it with: roadwright run {}",
            scenario.about().name,
            scenario.obstacles().len(),
            cars(&scenario),
            arguments.out.display()
        )?;
    }
    Ok(Outcome::Fine)
}

/// Returns the vehicle that drives on the track.
fn racer(arguments: &GenerateTrack) -> anyhow::Result<Racer> {
    let Some(path) = &arguments.library else {
        let yard = arguments.track.and_then(TrackArgument::yard);
        return Ok(yard.map_or_else(Racer::default, |_| Racer::shunting()));
    };
    let folder = arguments.out.parent().unwrap_or(Path::new(""));
    let below = path.strip_prefix(folder).ok().and_then(Path::to_str);
    let below = below.filter(|below| !below.starts_with("..") && !below.starts_with('/'));
    let Some(below) = below else {
        bail!(
            "--library: {} is not in or below the folder of --out; copy it and its clips there",
            path.display()
        );
    };
    let opened = moves::open(path)?;
    let library = MoveLibrary::new(
        &below.replace('\\', "/"),
        &opened.graph.to_text(),
        &opened.clips.to_text(),
    );
    let name = arguments.vehicle.as_deref();
    let name = name.unwrap_or(&opened.clips.vehicle.name);
    let found = vehicle::find_with_text(name)
        .context("use --vehicle to choose the vehicle that was recorded")?;
    let path = format!("vehicles/{}.vehicle.json", found.name);
    Racer::with_library(&found.file, &path, library).context("the library cannot be used")
}

/// Returns the number of agents besides the racer.
fn cars(scenario: &Scenario) -> usize {
    scenario.agents().len() - 1
}

/// Creates the requested course. Also returns a description of it.
fn course(arguments: &GenerateTrack) -> anyhow::Result<(Course, String)> {
    let GenerateTrack {
        length,
        corners,
        sharpness,
        width,
        seed,
        seconds,
        ..
    } = *arguments;
    if let Some(track) = arguments.track {
        let course = track.course();
        if track.yard().is_some() {
            let description = "A tight spot that a vehicle can leave only by reversing.";
            return Ok((course, description.to_owned()));
        }
        let description = format!("The track {} of [Adam 2007], start {seed}.", course.name);
        return Ok((course.with_seed(seed), description));
    }
    if let Some(laps) = arguments.laps {
        if corners < 3 {
            bail!("--corners: a closed track needs at least 3");
        }
        let ring = Ring {
            length,
            corners,
            sharpness,
            width,
            laps,
            seed,
        };
        if let Some(why) = ring.misfit() {
            bail!("{why}");
        }
        let description = format!("A closed track with {corners} corners, seed {seed}.");
        return Ok((ring.course("ring", seconds), description));
    }
    if arguments.cars > 0 && corners > 0 {
        bail!("--cars: cars only drive on straight tracks; use --corners 0");
    }
    let corridor = Corridor {
        length,
        corners,
        sharpness,
        width,
        seed,
    };
    if let Some(why) = corridor.misfit() {
        bail!("{why}");
    }
    let traffic = Traffic {
        count: arguments.cars,
        lines: LINES,
        margin: MARGIN,
        speed: arguments.car_speed,
        tilt: 0.0,
    };
    let traffic = (arguments.cars > 0).then_some(&traffic);
    let course = corridor.course("track", traffic, seconds).with_seed(seed);
    let description = format!("A track with {corners} corners, seed {seed}.");
    Ok((course, description))
}
