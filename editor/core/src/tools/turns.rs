//! The arrows of the selected junction that are under the pointer. Each arrow stands for a
//! connection between two lanes, which can be explained.

use super::{Mark, Tone, ToolContext};
use roadwright_geometry::{DVec2, polygon};
use roadwright_scenario::ObjectId;
use roadwright_scenario::junction::{ConnectingPath, Junction, LaneEnd};

/// A connection from one lane into another.
pub type LaneTurn = (LaneEnd, LaneEnd);

/// Largest scale at which marks of junctions and roads are shown, in metres per pixel.
pub const FARTHEST: f64 = 0.6;
/// Pick distance of an arrow as a share of the normal pick distance. It is smaller because many arrows lie
/// side by side.
const REACH: f64 = 0.4;
/// Maximum pick distance of an arrow, m: half of a narrow lane.
const MOST: f64 = 1.2;
/// Maximum distance between the curve of a connection and its polyline, m.
const TOLERANCE: f64 = 0.05;

/// Returns the connections whose arrows are near a point, nearest first. Empty at the node itself,
/// so that the node can be grabbed there.
pub(super) fn turns_at(point: DVec2, context: &ToolContext<'_>) -> Vec<LaneTurn> {
    let Some((node, junction)) = shown(context) else {
        return Vec::new();
    };
    let under = context.pick(point, 0.6 * context.reach());
    if under.contains(&node) {
        return Vec::new();
    }
    let reach = (REACH * context.reach()).min(MOST);
    let paths = junction.paths.iter();
    let mut near: Vec<(f64, LaneTurn)> = paths
        .filter_map(|path| Some((distance(path, point)?, (path.from, path.to))))
        .filter(|(distance, _)| *distance < reach)
        .collect();
    near.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    near.into_iter().map(|(_, turn)| turn).collect()
}

/// Returns the mark of a connection under the pointer.
pub fn mark(turn: LaneTurn, context: &ToolContext<'_>) -> Option<Mark> {
    let (_, junction) = shown(context)?;
    let mut paths = junction.paths.iter();
    let path = paths.find(|path| (path.from, path.to) == turn)?;
    let points = path.curve.as_ref()?.sample(TOLERANCE, 0.0);
    Some(Mark::line(points, Tone::Hover))
}

/// Returns the selected junction; `None` if its arrows are not shown.
fn shown<'a>(context: &ToolContext<'a>) -> Option<(ObjectId, &'a Junction)> {
    let mut selection = context.selection.iter();
    let (Some(&object), None) = (selection.next(), selection.next()) else {
        return None;
    };
    let ObjectId::Node(id) = object else {
        return None;
    };
    let is_near = context.scale <= FARTHEST;
    let junction = context.scene.layout.junction_at(id).filter(|_| is_near)?;
    Some((object, junction))
}

fn distance(path: &ConnectingPath, point: DVec2) -> Option<f64> {
    let points = path.curve.as_ref()?.sample(TOLERANCE, 0.0);
    let pairs = points.windows(2);
    let distances = pairs.map(|pair| {
        let foot = polygon::closest_on_segment(pair[0], pair[1], point);
        (foot - point).length()
    });
    distances.reduce(f64::min)
}
