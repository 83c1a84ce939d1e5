//! `roadwright junction`: shows the rules of the junctions of a scenario.

use super::{load, print_json};
use crate::Outcome;
use crate::arguments::Junction as Arguments;
use crate::terminal;
use anyhow::Context;
use roadwright_scenario::junction::{
    ArmEnd, Conflicts, Crossing, Interval, Junction, LaneEnd, Layout, Meeting, RightOfWay, Signals,
    Turn, layout, signal_plans,
};
use roadwright_scenario::{
    Connection, ConnectionIndex, Control, JunctionIndex, NodeId, RoadEnd, RoadId, Scenario,
    SignalMode,
};
use roadwright_simulation::{AlleyWait, Ground, alley_waits, longest_wait_at};
use serde::Serialize;
use std::collections::BTreeSet;
use std::io::Write;

/// Report on a junction.
#[derive(Serialize)]
struct Report {
    node: u32,
    /// All nodes that belong to the junction.
    nodes: Vec<u32>,
    control: Control,
    /// Whether the control was set by the user or by imported data.
    decided: bool,
    arms: Vec<Arm>,
    /// Ring of a mini roundabout; connections follow it.
    #[serde(skip_serializing_if = "Option::is_none")]
    ring: Option<RingReport>,
    /// Pedestrian crossings over the arms of the junction.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    crossings: Vec<CrossingReport>,
    /// Connections. Included only in the report on a single junction.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    paths: Vec<Path>,
    #[serde(skip_serializing_if = "Option::is_none")]
    signals: Option<SignalReport>,
    /// Maximum waiting time, provided that the lanes beyond the junction drain, s. Included only in the
    /// report on a single junction.
    #[serde(skip_serializing_if = "Option::is_none")]
    bound: Option<f64>,
    /// Alleys on the roads of the junction. Included only in the report on a single junction.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    alleys: Vec<AlleyReport>,
}

/// A stretch of a road on which two vehicles do not fit side by side.
#[derive(Serialize)]
struct AlleyReport {
    road: u32,
    /// Start and end along the road, m.
    from: f64,
    to: f64,
    /// Maximum waiting time, provided that the lanes beyond the alley drain, s.
    bound: f64,
}

impl AlleyReport {
    fn of(wait: AlleyWait) -> Self {
        Self {
            road: wait.road.0,
            from: wait.span.0,
            to: wait.span.1,
            bound: wait.bound,
        }
    }
}

#[derive(Serialize)]
struct Arm {
    road: u32,
    end: &'static str,
    sign: &'static str,
    /// Position of the stop line, m along the road.
    stop_line: f64,
    /// Whether a car can wait between the stop line and the previous junction. If not, there is no
    /// stop line, and the signals and signs of the previous junction apply to both junctions.
    has_room: bool,
    /// Lanes that lead into the junction.
    lanes: Vec<i8>,
    /// Lanes whose stop line is set back to leave room for turning buses.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    set_back: Vec<SetBack>,
}

/// A lane whose stop line is set back.
#[derive(Serialize)]
struct SetBack {
    lane: i8,
    by: f64,
}

/// Ring of a mini roundabout; lengths in metres.
#[derive(Serialize)]
struct RingReport {
    /// Centre of the ring.
    centre: [f64; 2],
    /// Radius of the circle that vehicles follow.
    radius: f64,
    /// Radius of the painted island.
    island: f64,
}

/// A pedestrian crossing over an arm.
#[derive(Serialize)]
struct CrossingReport {
    road: u32,
    end: &'static str,
    /// Kind of crossing: `zebra`, or `signals` if pedestrians walk in some of the stages.
    kind: &'static str,
    /// Length from kerb to kerb, m.
    length: f64,
    width: f64,
    /// Number of refuge islands.
    islands: usize,
    /// Stages in which pedestrians walk. Included only in the report on a single junction.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    stages: Vec<u32>,
    /// Pedestrians per hour on each side, if set for this crossing.
    #[serde(skip_serializing_if = "Option::is_none")]
    people: Option<f64>,
}

/// A connection through the junction.
#[derive(Serialize)]
struct Path {
    from: Lane,
    to: Lane,
    turn: Turn,
    /// Length of the connection, m.
    length: f64,
    /// Minimum time gap that a vehicle needs in order to enter before another vehicle, s.
    critical_gap: f64,
    /// Connections that conflict with this one, by index in the list.
    meets: Vec<Met>,
    /// Other connections from the same lane.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    diverges: Vec<ConnectionIndex>,
}

#[derive(Serialize)]
struct Lane {
    road: u32,
    lane: i8,
}

#[derive(Serialize)]
struct Met {
    path: ConnectionIndex,
    /// Kind of conflict: `merge`, `cross` or `graze`.
    kind: &'static str,
    gives_way: bool,
    /// Start of the conflict, m along this connection.
    from: f64,
    to: f64,
}

#[derive(Serialize)]
struct SignalReport {
    mode: SignalMode,
    /// Module that chooses the next stage; `mode` is its fallback.
    #[serde(skip_serializing_if = "Option::is_none")]
    controller: Option<String>,
    /// Nodes of all junctions with the same programme.
    nodes: Vec<u32>,
    /// Cycle and offset of fixed-time control, s.
    cycle: f64,
    offset: f64,
    stages: Vec<StageReport>,
}

#[derive(Serialize)]
struct StageReport {
    /// Connections with green, by index in the list.
    green: Vec<usize>,
    /// Connections among `green` that yield to the others, regardless of the rules of the junction.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    permitted: Vec<usize>,
    /// Green time under fixed-time control, s. For actuated control, `min` and `max` apply.
    time: f64,
    min: f64,
    max: f64,
    /// Duration of amber before the next stage, s.
    amber: f64,
    all_red: f64,
    /// Final part of `all_red`, in which red and amber are shown together, s.
    #[serde(skip_serializing_if = "is_zero")]
    red_amber: f64,
}

fn is_zero(value: &f64) -> bool {
    *value == 0.0
}

impl StageReport {
    /// Describes whether red and amber are shown together before green.
    fn shows_red_amber(&self) -> String {
        match self.red_amber {
            0.0 => String::new(),
            seconds => format!(" with amber in the last {seconds:.1} s"),
        }
    }
}

pub(crate) fn junction(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let scenario = load(&arguments.file)?;
    let layout = layout(scenario.network(), scenario.about());
    let Some(node) = arguments.node else {
        let crossings = layout.junctions.iter().filter(|j| j.is_ruled());
        let reports: Vec<_> = crossings
            .map(|j| Report::of(j, &scenario, &layout))
            .collect();
        if arguments.json {
            print_json(&reports)?;
        } else {
            let mut out = terminal::out();
            for report in &reports {
                writeln!(out, "{}", report.line())?;
            }
            writeln!(out, "{} junctions", reports.len())?;
        }
        return Ok(Outcome::Fine);
    };
    // Looked up by node, because a junction may have several nodes, any of which may be given.
    let index = layout.junction_of.get(&NodeId(node)).with_context(|| {
        format!(
            "no node {node} in {}; omit the node to list all junctions",
            arguments.file.display()
        )
    })?;
    let junction = &layout.junctions[*index];
    let signals = signals(&scenario, &layout, *index);
    // Lists of connections are converted back to a table, because crossings need it by stage and connection.
    let greens = signals.as_ref().map_or(Vec::new(), |signals| {
        let paths = 0..junction.paths.len();
        let is_green =
            |stage: &StageReport| paths.clone().map(|p| stage.green.contains(&p)).collect();
        signals.stages.iter().map(is_green).collect()
    });
    let ground = Ground::new(&scenario);
    let mut report = Report {
        crossings: crossings(junction, &greens),
        signals,
        bound: longest_wait_at(&ground, NodeId(node)),
        alleys: alleys(junction, &ground),
        ..Report::in_full(junction, &scenario, &layout)
    };
    report.mark_joining(&ground, JunctionIndex::from_index(*index));
    if arguments.json {
        print_json(&report)?;
    } else {
        report.print(&mut terminal::out())?;
    }
    Ok(Outcome::Fine)
}

impl Report {
    fn of(junction: &Junction, scenario: &Scenario, layout: &Layout) -> Self {
        let network = scenario.network();
        let is_decided = |node: &NodeId| {
            let rules = network.node(*node).map(|node| &node.rules);
            rules.is_some_and(|rules| rules.control.is_some())
        };
        let set_back = match scenario.has_long_vehicles() {
            true => junction.setbacks(),
            false => junction.setbacks_of_cars(),
        };
        let arms = junction.arms.iter().map(|arm| {
            let own = set_back.iter();
            let own = own.filter(|(lane, _)| (lane.road, lane.end) == (arm.road, arm.end));
            let lanes = entering_lanes(scenario, arm);
            let by = |lane: &i8| {
                own.clone()
                    .find(|(own, _)| own.lane == *lane)
                    .map_or(0.0, |(_, by)| *by)
            };
            let least = lanes.iter().map(by).reduce(f64::min).unwrap_or(0.0);
            let room = layout.room_before(network, arm.road, arm.end);
            let length = network.road(arm.road).map_or(0.0, |road| road.length());
            let (end, stop_line) = match arm.end {
                RoadEnd::Start => ("start", arm.trim),
                // Distances are measured along the road, which runs towards the junction at its end.
                RoadEnd::End => ("end", length - arm.trim),
            };
            Arm {
                road: arm.road.0,
                end,
                sign: arm.sign.name(),
                stop_line,
                has_room: room.fits_car(least),
                lanes,
                set_back: own
                    .map(|&(lane, by)| SetBack {
                        lane: lane.lane,
                        by,
                    })
                    .collect(),
            }
        });
        Self {
            node: junction.nodes.first().map_or(0, |node| node.0),
            nodes: junction.nodes.iter().map(|node| node.0).collect(),
            control: junction.control,
            decided: junction.nodes.iter().any(is_decided),
            arms: arms.collect(),
            ring: junction.ring.map(|ring| RingReport {
                centre: ring.centre.into(),
                radius: ring.radius,
                island: ring.island,
            }),
            crossings: crossings(junction, &[]),
            paths: Vec::new(),
            signals: None,
            bound: None,
            alleys: Vec::new(),
        }
    }

    fn in_full(junction: &Junction, scenario: &Scenario, layout: &Layout) -> Self {
        let conflicts = Conflicts::of(junction);
        let right = RightOfWay::of(junction, &conflicts);
        let paths = junction.numbered_paths().map(|(number, path)| Path {
            from: lane(path.from),
            to: lane(path.to),
            turn: path.turn,
            length: path.curve.as_ref().map_or(0.0, |curve| curve.length()),
            critical_gap: right.critical_gap(number),
            meets: meetings(number, junction, &conflicts, &right),
            diverges: diverging(number, junction),
        });
        Self {
            paths: paths.collect(),
            ..Self::of(junction, scenario, layout)
        }
    }

    /// Marks that vehicles yield where an acceleration lane ends. `junction` is the index of the junction.
    fn mark_joining(&mut self, ground: &Ground, junction: JunctionIndex) {
        for (number, path) in self.paths.iter_mut().enumerate() {
            let connection = Connection::new(junction, ConnectionIndex::from_index(number));
            if ground.joins_by(connection) {
                path.meets.iter_mut().for_each(|met| met.gives_way = true);
            }
        }
    }

    /// Returns the report in one line.
    fn line(&self) -> String {
        let arms = self.arms.iter().map(|arm| match arm.sign {
            "none" => format!("{}", arm.road),
            sign => format!("{} {sign}", arm.road),
        });
        let arms: Vec<_> = arms.collect();
        let decided = if self.decided { " (decided)" } else { "" };
        format!(
            "node {}: {}{decided}; roads {}",
            self.node,
            self.control.name(),
            arms.join(", ")
        )
    }

    fn print(&self, out: &mut impl Write) -> std::io::Result<()> {
        writeln!(out, "{}", self.line())?;
        for arm in &self.arms {
            if !arm.has_room {
                writeln!(
                    out,
                    "  road {} {}: no room to wait; the signals and signs of the previous junction apply",
                    arm.road, arm.end
                )?;
                continue;
            }
            writeln!(
                out,
                "  road {} {}: stop line at s = {:.2} m on lanes {:?}, sign: {}",
                arm.road, arm.end, arm.stop_line, arm.lanes, arm.sign
            )?;
            for SetBack { lane, by } in &arm.set_back {
                writeln!(
                    out,
                    "    the stop line of lane {lane} is {by:.2} m farther back, for turning buses"
                )?;
            }
        }
        if let Some(ring) = &self.ring {
            writeln!(
                out,
                "  ring centred at ({:.2}, {:.2}), radius {:.2} m; painted island of radius {:.2} m",
                ring.centre[0], ring.centre[1], ring.radius, ring.island
            )?;
        }
        for crossing in &self.crossings {
            crossing.print(out)?;
        }
        for (number, path) in self.paths.iter().enumerate() {
            writeln!(
                out,
                "  path {number}: road {} lane {} to road {} lane {}, {}, {:.1} m",
                path.from.road,
                path.from.lane,
                path.to.road,
                path.to.lane,
                turn(path.turn),
                path.length
            )?;
            for met in &path.meets {
                let verb = if met.gives_way {
                    "gives way to"
                } else {
                    "meets"
                };
                writeln!(
                    out,
                    "    {verb} path {} from {:.1} to {:.1} m ({})",
                    met.path, met.from, met.to, met.kind
                )?;
            }
        }
        if let Some(signals) = &self.signals {
            signals.print(out)?;
        }
        if let Some(bound) = self.bound {
            writeln!(
                out,
                "  no vehicle waits longer than {bound:.0} s if the lanes beyond the junction drain"
            )?;
        }
        for AlleyReport {
            road,
            from,
            to,
            bound,
        } in &self.alleys
        {
            writeln!(
                out,
                "  road {road} is an alley from {from:.0} to {to:.0} m: no vehicle waits longer than {bound:.0} s \
                 if the lanes beyond it drain"
            )?;
        }
        Ok(())
    }
}

/// Returns the alleys on the roads of a junction, by road and position.
fn alleys(junction: &Junction, ground: &Ground) -> Vec<AlleyReport> {
    let roads: BTreeSet<RoadId> = junction.arms.iter().map(|arm| arm.road).collect();
    let waits = roads.into_iter().flat_map(|road| alley_waits(ground, road));
    waits.map(AlleyReport::of).collect()
}

/// Returns the lanes of an arm that lead into its junction.
fn entering_lanes(scenario: &Scenario, end: &ArmEnd) -> Vec<i8> {
    let side = scenario.about().driving_side;
    let Some(road) = scenario.network().road(end.road) else {
        return Vec::new();
    };
    let lanes = roadwright_scenario::junction::Arm::new(end.road, road, end.end);
    let lanes = lanes.entering_lanes(end.trim, side);
    lanes.iter().map(|lane| lane.id).collect()
}

/// Returns the crossings of a junction. `greens` contains for each stage which connections have green.
fn crossings(junction: &Junction, greens: &[Vec<bool>]) -> Vec<CrossingReport> {
    let report = |crossing: &Crossing| {
        let stages = junction.walk_stages(crossing, greens);
        let rules = junction.control == Control::Signals && junction.plan.mode.rules();
        // Signals that are flashing or off control nothing, and a crossing that gets no stage is a zebra. In
        // the list of all junctions, stages are not computed, so any signals count.
        let is_zebra = !rules || (!greens.is_empty() && stages == 0);
        CrossingReport {
            road: crossing.road.0,
            end: match crossing.end {
                RoadEnd::Start => "start",
                RoadEnd::End => "end",
            },
            kind: if is_zebra { "zebra" } else { "signals" },
            length: crossing.length,
            width: crossing.width,
            islands: crossing.islands.len(),
            // The mask has one bit per stage, and there are at most 32 stages.
            stages: (0..32).filter(|stage| stages & (1 << stage) != 0).collect(),
            people: crossing.people,
        }
    };
    junction.crossings.iter().map(report).collect()
}

impl CrossingReport {
    fn print(&self, out: &mut impl Write) -> std::io::Result<()> {
        let Self {
            road,
            end,
            kind,
            length,
            width,
            ..
        } = self;
        write!(
            out,
            "  crossing over road {road} {end}: {kind}, {length:.2} m from kerb to kerb, {width:.2} m wide"
        )?;
        match self.islands {
            0 => {}
            1 => write!(out, ", an island")?,
            islands => write!(out, ", {islands} islands")?,
        }
        if !self.stages.is_empty() {
            write!(out, ", pedestrians walk in stages {:?}", self.stages)?;
        }
        if let Some(people) = self.people {
            write!(out, ", {people} people/h per side")?;
        }
        writeln!(out)
    }
}

/// Returns the signals of a junction, including adjacent junctions with the same programme.
fn signals(scenario: &Scenario, layout: &Layout, junction: usize) -> Option<SignalReport> {
    let junctions = layout.junctions.iter();
    // Computed for all junctions, because only then is it known which of them share a programme.
    let conflicts: Vec<_> = junctions.map(|junction| Conflicts::of(junction)).collect();
    let own = |i: usize| Signals::of(&layout.junctions[i], &conflicts[i]);
    let plans = signal_plans(scenario.network(), layout, own, |i| &conflicts[i]);
    let group = plans
        .groups
        .iter()
        .find(|group| group.contains(&junction))?;
    let members = group.iter().map(|&member| &layout.junctions[member]);
    let nodes = members.flat_map(|member| member.nodes.iter().map(|node| node.0));
    let report = SignalReport::of(plans.signals[junction].as_ref()?, nodes.collect());
    Some(report)
}

impl SignalReport {
    fn of(signals: &Signals, nodes: Vec<u32>) -> Self {
        let programme = &signals.programme;
        let stages = (0..programme.stages.len()).map(|stage| {
            let (green, times) = (&signals.greens[stage], programme.stages[stage]);
            let intergreen = programme.intergreen(stage, programme.next(stage));
            StageReport {
                green: (0..green.len()).filter(|&path| green[path]).collect(),
                permitted: (0..green.len())
                    .filter(|&path| signals.is_permitted(path, stage))
                    .collect(),
                time: times.green,
                min: times.min,
                max: times.max,
                amber: intergreen.amber,
                all_red: intergreen.all_red,
                red_amber: intergreen.red_amber,
            }
        });
        Self {
            mode: programme.mode,
            controller: programme.controller.as_ref().map(|own| own.module.clone()),
            nodes,
            cycle: programme.cycle(),
            offset: programme.offset,
            stages: stages.collect(),
        }
    }

    fn print(&self, out: &mut impl Write) -> std::io::Result<()> {
        let is_fixed = self.mode == SignalMode::Fixed;
        if is_fixed {
            let (cycle, offset) = (self.cycle, self.offset);
            writeln!(out, "  signals: cycle {cycle:.1} s, offset {offset:.1} s")?;
        } else {
            let mode = self.mode.name();
            let by = self.controller.as_deref().unwrap_or(mode);
            writeln!(out, "  signals: {by}")?;
        }
        if self.nodes.len() > 1 {
            writeln!(out, "    one programme for nodes {:?}", self.nodes)?;
        }
        for (number, stage) in self.stages.iter().enumerate() {
            let green = if is_fixed {
                format!("{:.1} s", stage.time)
            } else {
                format!("{:.1} to {:.1} s", stage.min, stage.max)
            };
            writeln!(
                out,
                "    stage {number}: green {green}, amber {:.1} s, all red {:.1} s{}; paths {:?}",
                stage.amber,
                stage.all_red,
                stage.shows_red_amber(),
                stage.green
            )?;
            if !stage.permitted.is_empty() {
                writeln!(
                    out,
                    "      give way to the other movements: {:?}",
                    stage.permitted
                )?;
            }
        }
        Ok(())
    }
}

fn meetings(
    path: ConnectionIndex,
    junction: &Junction,
    conflicts: &Conflicts,
    right: &RightOfWay,
) -> Vec<Met> {
    let paths = &junction.paths;
    let meeting = |other: ConnectionIndex| {
        let (Interval { from, to }, _) = conflicts.between(path, other)?;
        let kind = Meeting::of(&paths[path.index()], &paths[other.index()]);
        Some(Met {
            path: other,
            kind: kind.name(),
            gives_way: right.gives_way(path, other),
            from,
            to,
        })
    };
    ConnectionIndex::up_to(paths.len())
        .filter_map(meeting)
        .collect()
}

/// Returns the other connections that begin in the same lane.
fn diverging(path: ConnectionIndex, junction: &Junction) -> Vec<ConnectionIndex> {
    let from = junction.paths[path.index()].from;
    let others = junction.numbered_paths();
    let others = others.filter(|(other, one)| *other != path && one.from == from);
    others.map(|(other, _)| other).collect()
}

fn lane(end: LaneEnd) -> Lane {
    Lane {
        road: end.road.0,
        lane: end.lane,
    }
}

fn turn(turn: Turn) -> &'static str {
    match turn {
        Turn::Left => "left",
        Turn::Straight => "straight",
        Turn::Right => "right",
        Turn::UTurn => "back",
    }
}
