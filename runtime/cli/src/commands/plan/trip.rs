//! `roadwright plan FILE`: plans the path of a trip.

use crate::arguments::Simulate;
use crate::commands::{load, print_json, session_at};
use crate::outputs::{Inputs, Kind, Outputs, Place as OutputPlace};
use crate::{Outcome, progress, terminal};
use anyhow::{Context, bail};
use clap::Args;
use glam::DVec2;
use roadwright_agent::{GroundPlanner, GroundPlanning, GroundSearch, Slot};
use roadwright_geometry::unit;
use roadwright_render::{Picture, Trail, cells, map};
use roadwright_scenario::{Agent, AgentId, ModuleSetting, Place, Scenario, Stack, VehicleType};
use roadwright_simulation::{
    Snapshot, TripAnswer, TripEnd, TripFinder, TripPlan, TripQuestion, builtin_modules,
};
use serde::Serialize;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Margin around a trip in its picture, as a share of the size of the trip.
const FRAME: f64 = 0.15;
/// Minimum margin around a trip in its picture, m.
const LEAST_FRAME: f64 = 15.0;

/// Arguments that describe the trip and the output.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The scenario
    #[arg(required = true)]
    file: Option<PathBuf>,
    /// Start of the trip, in metres and radians: the middle of the rear axle, or the middle of the body if there
    /// is no heading [default: the position of --agent]
    #[arg(long, value_name = "X,Y[,HEADING]", allow_hyphen_values = true, value_parser = end_of, required_unless_present = "agent")]
    from: Option<TripEnd>,
    /// Destination of the trip [default: the destination of --agent]
    #[arg(long, value_name = "X,Y[,HEADING]", allow_hyphen_values = true, value_parser = end_of, required_unless_present = "agent")]
    to: Option<TripEnd>,
    /// Simulate this many seconds first, then plan around the vehicles and pushed obstacles at that time
    #[arg(long, value_name = "SECONDS")]
    at: Option<f64>,
    /// Plan for the vehicle of this agent, with its planners
    #[arg(long, value_name = "ID")]
    agent: Option<u32>,
    /// Planner for open ground [default: that of the agent, or hybrid_fuzzy_path]
    #[arg(long, value_name = "ID")]
    planner: Option<String>,
    /// Vehicle type [default: that of the agent, or the only one, or `car`]
    #[arg(long, value_name = "TYPE")]
    vehicle: Option<String>,
    /// Maximum number of cells that all searches may expand together
    #[arg(long, default_value_t = 4_000_000, value_parser = clap::value_parser!(u64).range(1..=1_000_000_000), value_name = "N")]
    most: u64,
    /// Draw the trip (PNG)
    #[arg(long, value_name = "FILE")]
    picture: Option<PathBuf>,
    /// Write the map cells around the trip, as a PNG or as text with one character per cell
    #[arg(long, value_name = "FILE")]
    cells: Option<PathBuf>,
    /// Print one JSON document and nothing else
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    simulate: Simulate,
}

/// Parses the start or destination of a trip.
fn end_of(text: &str) -> Result<TripEnd, String> {
    let numbers: Result<Vec<f64>, _> = text.split(',').map(|part| part.trim().parse()).collect();
    let (position, heading) = match numbers.as_deref() {
        Ok(&[x, y]) => (DVec2::new(x, y), None),
        Ok(&[x, y, heading]) => (DVec2::new(x, y), Some(heading)),
        _ => return Err("expected X,Y or X,Y,HEADING, such as -20,5,1.57".into()),
    };
    Ok(TripEnd { position, heading })
}

/// The document of `--json`.
#[derive(Debug, Serialize)]
struct Report {
    found: bool,
    /// Reason why there is no path, or why the search gave no answer.
    reason: Option<String>,
    planner: String,
    vehicle: String,
    legs: Vec<Leg>,
    /// Total length, m.
    length: f64,
    /// Driving time without waiting, s.
    time: f64,
    /// Total cost of the steps between cells.
    cost: u64,
    /// Number of cells expanded.
    expanded: u64,
    /// Poses of all legs: x and y in m, heading in rad.
    poses: Vec<[f64; 3]>,
    /// Gear at each pose: 1 forwards, -1 in reverse.
    gears: Vec<i8>,
}

/// A leg in the document of `--json`.
#[derive(Debug, Serialize)]
struct Leg {
    kind: &'static str,
    length: f64,
    time: f64,
    /// Indices in the document's `poses` of the leg's first and last pose.
    first_pose: usize,
    last_pose: usize,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let file = arguments
        .file
        .as_deref()
        .context("specify a scenario file")?;
    let scenario = load(file)?;
    let agent = agent_of(&scenario, arguments.agent)?;
    let planner = planner_of(&scenario, arguments, agent)?;
    let (name, vehicle) = vehicle_of(&scenario, arguments, agent)?;
    let inputs = Inputs::none().scenario(file, &scenario);
    let flags = &arguments.simulate;
    let mut outputs = Outputs::of(inputs.extensions(&flags.extensions, Some(file)));
    if arguments.json {
        outputs.prints("the document of --json");
    }
    let picture = claim(
        &mut outputs,
        "--picture",
        arguments.picture.as_deref(),
        Kind::Picture,
    )?;
    let kind = if is_png(arguments.cells.as_deref()) {
        Kind::Picture
    } else {
        Kind::Cells
    };
    let map_file = claim(&mut outputs, "--cells", arguments.cells.as_deref(), kind)?;
    let snapshot = snapshot_of(arguments, file, &scenario)?;
    let question = TripQuestion {
        vehicle,
        vehicle_type: name,
        stack: agent.map_or("", |agent| &agent.stack),
        from: start_of(arguments, &scenario, agent, snapshot.as_ref())?,
        to: goal_of(arguments, &scenario, agent)?,
        planning: planner.planning,
        most: arguments.most,
    };
    progress::catch_interrupt();
    let except = arguments.agent.map(u64::from);
    let shared = Arc::new(scenario.clone());
    let mut finder = TripFinder::new(shared, snapshot.as_ref(), except);
    let answer = finder.answer(&question, || !progress::interrupted());
    if progress::interrupted() {
        bail!("interrupted");
    }
    let report = Report {
        planner: planner.name,
        vehicle: name.to_owned(),
        ..Report::of(&answer, finder.expanded())
    };
    if let Some(place) = picture {
        let drawn = draw(&scenario, snapshot.as_ref(), &question, &answer);
        outputs.write(&place, &drawn.context("cannot draw the trip")?)?;
    }
    if let Some(place) = map_file {
        let around = finder.map_around(&question, &answer);
        let around = around.context("--cells: the trip is not on the map")?;
        let bytes = if is_png(arguments.cells.as_deref()) {
            let color = |column, row| around.color(column, row);
            cells(around.columns(), around.rows(), color).context("cannot draw the cells")?
        } else {
            around.text().into_bytes()
        };
        outputs.write(&place, &bytes)?;
    }
    outputs.commit()?;
    if arguments.json {
        print_json(&report)?;
    } else {
        print(&report)?;
    }
    Ok(Outcome::of(report.found))
}

fn is_png(path: Option<&Path>) -> bool {
    let ending = path.and_then(Path::extension);
    ending.is_some_and(|ending| ending.eq_ignore_ascii_case("png"))
}

fn claim(
    outputs: &mut Outputs,
    asks: &str,
    path: Option<&Path>,
    kind: Kind,
) -> anyhow::Result<Option<OutputPlace>> {
    let Some(path) = path else { return Ok(None) };
    let place = outputs.file(asks, path, kind)?;
    // The output paths are checked before the search, which may take a long time.
    outputs.try_out(&place)?;
    Ok(Some(place))
}

fn agent_of(scenario: &Scenario, id: Option<u32>) -> anyhow::Result<Option<&Agent>> {
    let Some(id) = id else { return Ok(None) };
    let agent = scenario.agents().get(&AgentId(id));
    agent
        .map(Some)
        .with_context(|| format!("--agent {id}: the scenario has no such agent"))
}

fn vehicle_of<'a>(
    scenario: &'a Scenario,
    arguments: &'a Arguments,
    agent: Option<&'a Agent>,
) -> anyhow::Result<(&'a str, &'a VehicleType)> {
    let types = scenario.vehicle_types();
    let named = arguments.vehicle.as_deref();
    let named = named.or(agent.map(|agent| agent.vehicle.as_str()));
    let single = || types.keys().next().filter(|_| types.len() == 1);
    let usual = || types.contains_key("car").then_some("car");
    let known = || types.keys().cloned().collect::<Vec<_>>().join(", ");
    let Some(name) = named.or(single().map(String::as_str)).or(usual()) else {
        bail!(
            "specify the vehicle type with --vehicle; expected one of: {}",
            known()
        );
    };
    let kind = types.get(name).with_context(|| {
        format!(
            "--vehicle {name}: unknown vehicle type; expected one of: {}",
            known()
        )
    })?;
    Ok((name, kind))
}

/// The planner for open ground: its id and parameters.
struct Planner {
    name: String,
    planning: GroundPlanning,
}

fn planner_of(
    scenario: &Scenario,
    arguments: &Arguments,
    agent: Option<&Agent>,
) -> anyhow::Result<Planner> {
    let stack = agent.and_then(|agent| scenario.stacks().get(&agent.stack));
    let own = stack.map_or(&[][..], |stack: &Stack| stack.settings(Slot::GroundPlanner));
    let setting = match &arguments.planner {
        // The parameters in the stack belong to the stack's own module, so another module gets its defaults.
        Some(id) => {
            let same = own.iter().find(|setting| setting.module == *id);
            same.cloned().unwrap_or_else(|| ModuleSetting::new(id))
        }
        None => {
            let usual = Slot::GroundPlanner.module_if_absent();
            let usual = usual.map(ModuleSetting::new);
            let setting = own.first().cloned().or(usual);
            setting.context("the stack has no ground planner; choose one with --planner")?
        }
    };
    let stack = agent.map_or("", |agent| &agent.stack);
    let registry = builtin_modules();
    let module = registry.module::<dyn GroundPlanner>(stack, Slot::GroundPlanner, &setting);
    let module = module.context("cannot plan")?;
    let planning = module.logic.planning(&module.parameters);
    if matches!(planning.search, GroundSearch::MoveTree(_)) {
        bail!(
            "{} plans only while driving, so it has no path before a run; choose another planner \
             with --planner",
            setting.module
        );
    }
    Ok(Planner {
        name: setting.module.clone(),
        planning,
    })
}

fn snapshot_of(
    arguments: &Arguments,
    file: &Path,
    scenario: &Scenario,
) -> anyhow::Result<Option<Snapshot>> {
    let flags = &arguments.simulate;
    let Some(at) = arguments.at else {
        let has_others = flags.seed.is_some()
            || flags.dt.is_some()
            || flags.threads != 1
            || flags.populate > 0
            || !flags.modules.is_empty();
        if has_others {
            bail!("the options for running the scenario have no effect without --at SECONDS");
        }
        return Ok(None);
    };
    let session = session_at(file, scenario, flags, at)?;
    Ok(Some(session.world().snapshot()))
}

fn start_of(
    arguments: &Arguments,
    scenario: &Scenario,
    agent: Option<&Agent>,
    snapshot: Option<&Snapshot>,
) -> anyhow::Result<TripEnd> {
    if let Some(from) = arguments.from {
        return Ok(from);
    }
    let (Some(agent), Some(id)) = (agent, arguments.agent) else {
        bail!("specify --from or --agent");
    };
    let pose = match snapshot {
        Some(snapshot) => {
            let vehicle = snapshot.vehicle(u64::from(id));
            let vehicle = vehicle.with_context(|| {
                format!(
                    "--agent {id} is not driving at {:.2} s; set --from",
                    snapshot.time
                )
            })?;
            vehicle.pose
        }
        None => scenario
            .pose_of(&agent.start)
            .with_context(|| format!("--agent {id}: its start is not on the map"))?,
    };
    Ok(TripEnd {
        position: pose.position,
        heading: Some(pose.heading),
    })
}

fn goal_of(
    arguments: &Arguments,
    scenario: &Scenario,
    agent: Option<&Agent>,
) -> anyhow::Result<TripEnd> {
    if let Some(to) = arguments.to {
        return Ok(to);
    }
    let destination = agent.and_then(|agent| agent.destination);
    let destination = destination.context("the agent has no destination; set --to")?;
    let pose = scenario.pose_of(&destination);
    let pose = pose.context("the destination of the agent is not on the map; set --to")?;
    Ok(TripEnd {
        position: pose.position,
        // An agent may arrive on open ground with any heading.
        heading: match destination {
            Place::Lane(_) => Some(pose.heading),
            Place::Ground(_) => None,
        },
    })
}

impl Report {
    /// Returns the report on an answer, without the names of the planner and the vehicle.
    fn of(answer: &TripAnswer, expanded: u64) -> Self {
        let reason = match answer {
            TripAnswer::Found(_) => None,
            TripAnswer::NoPath(reason) => Some(reason.clone()),
            TripAnswer::Undecided => Some(format!(
                "the search did not finish within {expanded} cells; allow more with --most"
            )),
        };
        let nothing = TripPlan {
            legs: Vec::new(),
            cost: 0,
        };
        let plan = match answer {
            TripAnswer::Found(plan) => plan,
            TripAnswer::NoPath(_) | TripAnswer::Undecided => &nothing,
        };
        let (mut poses, mut gears) = (Vec::new(), Vec::new());
        let legs = plan.legs.iter().map(|leg| {
            let first_pose = poses.len();
            let own = leg.poses.iter();
            poses.extend(own.map(|pose| [pose.position.x, pose.position.y, pose.heading]));
            gears.extend(&leg.gears);
            gears.resize(poses.len(), 1);
            Leg {
                kind: leg.kind.name(),
                length: leg.length,
                time: leg.time,
                first_pose,
                last_pose: poses.len().saturating_sub(1),
            }
        });
        Self {
            found: reason.is_none(),
            reason,
            planner: String::new(),
            vehicle: String::new(),
            legs: legs.collect(),
            length: plan.length(),
            time: plan.time(),
            cost: plan.cost,
            expanded,
            poses,
            gears,
        }
    }
}

fn print(report: &Report) -> anyhow::Result<()> {
    let mut out = terminal::out();
    if let Some(reason) = &report.reason {
        writeln!(out, "no path   {reason}")?;
        writeln!(out, "expanded  {} cells", report.expanded)?;
        return Ok(());
    }
    writeln!(out, "planner   {}", report.planner)?;
    for leg in &report.legs {
        writeln!(
            out,
            "leg       {}, {:.1} m, {:.1} s",
            leg.kind, leg.length, leg.time
        )?;
    }
    writeln!(out, "length    {:.1} m", report.length)?;
    writeln!(out, "time      {:.1} s", report.time)?;
    writeln!(out, "cost      {}", report.cost)?;
    writeln!(out, "expanded  {} cells", report.expanded)?;
    for ([x, y, heading], gear) in report.poses.iter().zip(&report.gears) {
        let reverse = if *gear < 0 { " reverse" } else { "" };
        writeln!(out, "pose      {x:.2},{y:.2},{heading:.3}{reverse}")?;
    }
    Ok(())
}

/// Draws the trip on the map of the scenario.
fn draw(
    scenario: &Scenario,
    snapshot: Option<&Snapshot>,
    question: &TripQuestion<'_>,
    answer: &TripAnswer,
) -> anyhow::Result<Vec<u8>> {
    let ends = [question.from, question.to].map(|end| end.position);
    let mut points = Vec::new();
    if let TripAnswer::Found(plan) = answer {
        let poses = plan.legs.iter().flat_map(|leg| &leg.poses);
        points.extend(poses.map(|pose| pose.position));
    }
    let all = || points.iter().copied().chain(ends);
    let far = roadwright_geometry::MAX_COORDINATE;
    if !all().all(|point| point.abs().max_element() <= far) {
        bail!("start or goal is not within 10,000 km of the origin");
    }
    let low = all().fold(DVec2::INFINITY, DVec2::min);
    let high = all().fold(DVec2::NEG_INFINITY, DVec2::max);
    let frame = DVec2::splat((FRAME * (high - low).max_element()).max(LEAST_FRAME));
    let ring = |middle: DVec2| -> Vec<DVec2> {
        let corner = |step: u32| middle + 0.3 * frame.x.min(8.0) * unit(f64::from(step) * 0.3);
        (0..=21).map(corner).collect()
    };
    let trail = |points: Vec<DVec2>, color: u32, label: &str| Trail {
        points,
        width: 0.8,
        color,
        label: label.into(),
    };
    let mut trails = vec![
        trail(ring(ends[0]), 0x0b_3d_91, "start"),
        trail(ring(ends[1]), 0x1a_7f_37, "goal"),
    ];
    let detail = match answer {
        TripAnswer::Found(plan) => {
            trails.insert(0, trail(points, 0xd9_3a_1e, "path"));
            format!("{:.1} m, {:.1} s", plan.length(), plan.time())
        }
        TripAnswer::NoPath(reason) => format!("no path: {reason}"),
        TripAnswer::Undecided => "not decided".into(),
    };
    let picture = Picture {
        view: Some((low - frame, high + frame)),
        trails,
        detail: Some(detail),
        ..Picture::default()
    };
    Ok(map(scenario, snapshot, &picture)?)
}
