//! The lane graph as flat arrays, for planners in plugins.

use roadwright_plugin_api::abi::{RwPoint, RwStrip, STRIP_BUS_ONLY, STRIP_CONNECTION};
use roadwright_plugin_api::{PlannerInput, PlannerOutput};
use roadwright_scenario::junction::Turn;
use roadwright_scenario::lane_graph::{LaneGraph, StripKind};

/// A lane graph as flat arrays.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct FlatRoads {
    pub(crate) strips: Vec<RwStrip>,
    pub(crate) successors: Vec<u32>,
    pub(crate) points: Vec<RwPoint>,
    /// Another number means other roads.
    pub(crate) version: u64,
}

impl FlatRoads {
    /// Lays out a graph. O(points).
    pub(crate) fn new(graph: &LaneGraph) -> Self {
        let mut flat = Self {
            version: graph.identity(),
            ..Self::default()
        };
        for strip in graph.strips() {
            let points = strip.line.points();
            let mut flags = 0;
            if strip.bus_only {
                flags |= STRIP_BUS_ONLY;
            }
            let mut turn = 0;
            if let StripKind::Connection { turn: way, .. } = strip.kind {
                flags |= STRIP_CONNECTION;
                turn = match way {
                    Turn::Left => 1,
                    Turn::Straight => 0,
                    Turn::Right => -1,
                    Turn::UTurn => 2,
                };
            }
            flat.strips.push(RwStrip {
                length: strip.length(),
                speed_limit: strip.speed_limit,
                width: strip.width,
                first_successor: flat.successors.len() as u32,
                successor_count: strip.successors.len() as u32,
                left: strip.left,
                right: strip.right,
                first_point: flat.points.len() as u32,
                point_count: points.len() as u32,
                flags,
                turn,
            });
            flat.successors.extend(&strip.successors);
            let points = points.iter().map(|p| RwPoint { x: p.x, y: p.y });
            flat.points.extend(points);
        }
        flat
    }
}

/// The strips of an answer, if they lead from the question's place to its goal.
pub(crate) fn checked_route<'a>(
    roads: &FlatRoads,
    input: &PlannerInput,
    output: &PlannerOutput,
    route: &'a [u32],
) -> Result<&'a [u32], String> {
    if output.count == 0 {
        return Ok(&[]);
    }
    if !(0.0..=1e9).contains(&output.travel_time) {
        return Err(format!(
            "planner gave a travel time of {} s",
            output.travel_time
        ));
    }
    let end = output.start.checked_add(output.count);
    let strips = end.and_then(|end| route.get(output.start as usize..end as usize));
    let Some(strips) = strips else {
        return Err("planner gave a route beyond its buffer".into());
    };
    if strips[0] != input.strip || strips[strips.len() - 1] != input.goal_strip {
        return Err(format!(
            "planner gave a route from strip {} to {}, asked for {} to {}",
            strips[0],
            strips[strips.len() - 1],
            input.strip,
            input.goal_strip
        ));
    }
    let count = roads.strips.len() as u32;
    if let Some(unknown) = strips.iter().find(|&&strip| strip >= count) {
        return Err(format!("planner gave strip {unknown}; there are {count}"));
    }
    let is_joined = |pair: &[u32]| {
        let from = &roads.strips[pair[0] as usize];
        let beside = from.left == pair[1] || from.right == pair[1];
        let first = from.first_successor as usize;
        let successors = &roads.successors[first..first + from.successor_count as usize];
        beside || successors.contains(&pair[1])
    };
    match strips.windows(2).find(|pair| !is_joined(pair)) {
        Some(gap) => Err(format!(
            "planner gave a route that jumps from strip {} to {}",
            gap[0], gap[1]
        )),
        None => Ok(strips),
    }
}
