//! Slip lanes: traffic that turns to the near side bypasses the junction, around an island.
//!
//! ```text
//!        | |                  | |
//!   -----   -----        -----   --o--      The roads are cut before and beyond the junction, and a
//!   -----   -----        --o--  .-'--       lane leads from one cut to the other. Its traffic gives
//!        | |                '. /|           way at the end. The junction itself no longer offers
//!        | |                  o |           this turn.
//! ```

use super::draft::Draft;
use super::draw::{RoadStyle, road, split};
use super::{OperationError, without_turn};
use crate::edit::Edit;
use crate::ids::{NodeId, RoadId};
use crate::junction::{ArmEnd, ConnectingPath, Junction, Layout, layout, layout_after_edit};
use crate::junction_rules::Control;
use crate::lane_type::LaneType;
use crate::restriction::{Restriction, RestrictionKind};
use crate::road::{CrossSection, Road, RoadEnd};
use crate::scenario::Scenario;
use crate::turn::Turn;
use roadwright_geometry::math::wrap_angle;
use roadwright_geometry::{Pose, ReferenceLine};
use std::f64::consts::{FRAC_PI_4, PI};
use std::ops::RangeInclusive;

/// Range of angles between roads that leave room for an island, rad.
const ANGLES: RangeInclusive<f64> = FRAC_PI_4..=2.4;
/// Angle between a slip lane and each of its two roads where it leaves the one and meets the other,
/// rad. It is at most a third of the turn.
const LEAVING: f64 = 0.5;
/// Width of the lane, m. It lets buses turn.
const WIDTH: f64 = 4.5;
/// Distances from the stop lines at which the lane may begin and end, m. The smallest distance that
/// fits is used.
const BEYOND: [f64; 8] = [15.0, 20.0, 25.0, 30.0, 35.0, 40.0, 50.0, 60.0];
/// Minimum remaining length of the roads beyond the slip lane, and of the slip lane between its
/// ends, m.
const BEHIND: f64 = 5.0;
/// Maximum distance by which an existing cut may be closer to the stop line than required, m.
const SHORTER: f64 = 5.0;
/// Smallest radius of the bends at the ends of the slip lane, m.
const RADIUS: f64 = 10.0;
/// Maximum speed limit of a slip lane, m/s.
const FASTEST: f64 = 30.0 / 3.6;

/// Returns the edit that adds a slip lane for traffic that turns from one road to the near side into another.
///
/// Lays the network out: O(roads log roads).
///
/// # Errors
/// If there is no such turn, or no room for the lane between other objects.
pub fn slip_lane(
    scenario: &Scenario,
    node: NodeId,
    from: RoadId,
    to: RoadId,
) -> Result<Edit, OperationError> {
    let layout = layout(scenario.network(), scenario.about());
    let refused = OperationError::NoSlipLane(from, to);
    let junction = layout.junction_at(node).ok_or(refused.clone())?;
    let near = Turn::near(scenario.about().driving_side);
    let turns_so =
        |path: &ConnectingPath| (path.from.road, path.to.road, path.turn) == (from, to, near);
    let path = junction.paths.iter().find(|path| turns_so(path));
    let path = path.ok_or(refused.clone())?;
    let arm = |end: (RoadId, RoadEnd)| {
        let mut arms = junction.arms.iter();
        arms.find(|arm| (arm.road, arm.end) == end)
    };
    let arms = arm((from, path.from.end)).zip(arm((to, path.to.end)));
    let site = Site {
        scenario,
        layout: &layout,
        junction,
        node,
        arms: arms.ok_or(refused.clone())?,
    };
    let mut lanes = BEYOND.iter().filter_map(|&beyond| site.lane(beyond));
    lanes.next().ok_or(refused)
}

/// The junction and arms of a slip lane.
struct Site<'a> {
    scenario: &'a Scenario,
    layout: &'a Layout,
    junction: &'a Junction,
    node: NodeId,
    /// The arm that the slip lane leaves and the arm into which it leads.
    arms: (&'a ArmEnd, &'a ArmEnd),
}

/// A point where a road has been cut.
struct Cut {
    /// The part of the road next to the junction.
    inner: RoadId,
    outer: RoadId,
    node: NodeId,
    /// Pose on the line of the road, facing away from the junction.
    pose: Pose,
}

impl Site<'_> {
    /// Returns the edit for a lane that begins and ends `beyond` metres from the stop lines; `None` if this
    /// lane does not fit.
    fn lane(&self, beyond: f64) -> Option<Edit> {
        let mut draft = Draft::of(self.scenario);
        let from = self.cut(&mut draft, self.arms.0, beyond)?;
        let to = self.cut(&mut draft, self.arms.1, beyond)?;
        let slip = draft.now().network().next_road_id();
        let style = style(draft.now(), &from)?;
        let drawn = road(draft.now(), &line(&from, &to)?, &style).ok()?;
        draft.apply(drawn).ok()?;
        // The lane must not join other roads that may be between the two cuts.
        let drawn = draft.now().network().road(slip)?;
        if (drawn.from, drawn.to) != (from.node, to.node) {
            return None;
        }
        draft.apply(rules(draft.now(), slip, &from, &to)?).ok()?;
        let laid_out = self.layout_after(draft.now());
        let junction = laid_out.junction_at(self.node)?;
        let turn = without_turn(draft.now(), junction, self.node, from.inner, to.inner)?;
        draft.apply(turn).ok()?;
        let fits = self.fits(draft.now(), slip, &from, &to);
        fits.then(|| draft.edit())
    }

    /// Cuts a road beyond its stop line. If the road is too short for this because it has already
    /// been cut for another slip lane, returns its far end. `None` if neither is possible.
    fn cut(&self, draft: &mut Draft, arm: &ArmEnd, beyond: f64) -> Option<Cut> {
        let network = draft.now().network();
        let road = network.road(arm.road)?;
        let away = arm.trim + beyond;
        if road.length() - away < BEHIND {
            return self.far_end(road, arm, beyond);
        }
        let (s, turned) = match arm.end {
            RoadEnd::Start => (away, 0.0),
            RoadEnd::End => (road.length() - away, PI),
        };
        let pose = road.reference_line.pose(s);
        let (node, new) = (network.next_node_id(), network.next_road_id());
        let cut = split(draft.now(), arm.road, s).ok()?;
        draft.apply(cut).ok()?;
        let (inner, outer) = match arm.end {
            RoadEnd::Start => (arm.road, new),
            RoadEnd::End => (new, arm.road),
        };
        Some(Cut {
            inner,
            outer,
            node,
            pose: Pose {
                heading: pose.heading + turned,
                ..pose
            },
        })
    }

    /// Returns the far end of a road if another road continues there and the end is about `beyond`
    /// metres past the stop line; `None` otherwise.
    fn far_end(&self, road: &Road, arm: &ArmEnd, beyond: f64) -> Option<Cut> {
        if road.length() - arm.trim < beyond - SHORTER {
            return None;
        }
        let (node, pose) = match arm.end {
            RoadEnd::Start => (road.to, road.reference_line.end()),
            RoadEnd::End => (road.from, road.reference_line.reversed().end()),
        };
        let junction = self.layout.junction_at(node)?;
        let mut paths = junction.paths.iter();
        let ahead = paths.find(|path| (path.from.road, path.turn) == (arm.road, Turn::Straight))?;
        let network = self.scenario.network();
        // All other roads at the node must be slip lanes that begin or end here, and the node must have no
        // other rules.
        let is_slip = |end: &ArmEnd| {
            let sections = network.road(end.road).map(|road| &road.lane_sections);
            sections.is_some_and(|all| all.iter().all(|section| section.lanes.len() == 1))
        };
        let mut arms = junction.arms.iter();
        let rules = &network.node(node)?.rules;
        let is_cut = arms.all(|end| [arm.road, ahead.to.road].contains(&end.road) || is_slip(end))
            && matches!(rules.control, None | Some(Control::Priority))
            && rules.plan.is_none();
        if !is_cut {
            return None;
        }
        Some(Cut {
            inner: arm.road,
            outer: ahead.to.road,
            node,
            pose,
        })
    }

    fn layout_after(&self, after: &Scenario) -> Layout {
        layout_after_edit(
            self.scenario.network(),
            self.layout,
            after.network(),
            self.scenario.about(),
        )
    }

    /// Whether the edit has the intended effect: the junction loses only this turn, and the slip
    /// lane is long enough and has no tight bends.
    fn fits(&self, after: &Scenario, slip: RoadId, from: &Cut, to: &Cut) -> bool {
        let layout = self.layout_after(after);
        let at = |node: NodeId| layout.junction_at(node);
        let is_clean = |node: NodeId| {
            at(node)
                .is_some_and(|junction| junction.nodes.len() == 1 && junction.flags().is_empty())
        };
        let leads = |node: NodeId, roads: (RoadId, RoadId)| {
            let paths = at(node).into_iter().flat_map(|junction| &junction.paths);
            let mut roads = paths.filter(|path| (path.from.road, path.to.road) == roads);
            roads.any(|path| path.min_radius() >= RADIUS)
        };
        let is_as_before = at(self.node).is_some_and(|junction| {
            junction.nodes == self.junction.nodes
                && junction.flags().len() <= self.junction.flags().len()
        });
        let rest = after.network().road(slip).and_then(|road| {
            let (start, end) = layout.remaining(slip, road)?;
            Some(end - start)
        });
        let is_taken_out = at(self.node).is_some_and(|junction| {
            let mut paths = junction.paths.iter();
            !paths.any(|path| (path.from.road, path.to.road) == (from.inner, to.inner))
        });
        is_as_before
            && is_taken_out
            && is_clean(from.node)
            && is_clean(to.node)
            && leads(from.node, (from.outer, slip))
            && leads(to.node, (slip, to.outer))
            && rest.is_some_and(|rest| rest >= BEHIND)
    }
}

fn style(after: &Scenario, from: &Cut) -> Option<RoadStyle> {
    let road = after.network().road(from.inner)?;
    Some(RoadStyle {
        name: String::new(),
        class: road.class,
        layer: road.layer,
        speed_limit: road.speed_limit.min(FASTEST),
        section: CrossSection {
            forward: vec![(LaneType::Driving, WIDTH)],
            backward: Vec::new(),
        },
    })
}

/// Returns the line of a slip lane from one cut to the other; `None` if the angle between the roads
/// is not suitable.
fn line(from: &Cut, to: &Cut) -> Option<ReferenceLine> {
    let driven = wrap_angle(from.pose.heading + PI);
    let turn = wrap_angle(to.pose.heading - driven);
    if !ANGLES.contains(&turn.abs()) {
        return None;
    }
    let leaving = LEAVING.min(turn.abs() / 3.0) * turn.signum();
    let start = Pose {
        heading: driven + leaving,
        ..from.pose
    };
    let end = Pose {
        heading: to.pose.heading - leaving,
        ..to.pose
    };
    ReferenceLine::join(start, end).ok()
}

/// Returns the edit that sets the rules at both ends of a slip lane. Its traffic yields. It can be
/// entered only from the road that it leaves, and it leads only into the road at its end.
fn rules(after: &Scenario, slip: RoadId, from: &Cut, to: &Cut) -> Option<Edit> {
    let network = after.network();
    let never = |from, to| Restriction {
        kind: RestrictionKind::No,
        from,
        to,
    };
    let others = |cut: &Cut| {
        let ends = network.ends_at(cut.node).into_iter();
        let others = ends.map(|(road, _)| road);
        let known = [cut.outer, slip];
        others.filter(move |road| !known.contains(road))
    };
    let mut start = network.node(from.node)?.clone();
    let into = others(from).map(|road| never(road, slip));
    start.rules.restrictions.extend(into);
    let mut end = network.node(to.node)?.clone();
    let out = others(to).map(|road| never(slip, road));
    end.rules.restrictions.extend(out);
    end.rules.control = Some(Control::Priority);
    end.rules.major = vec![to.inner, to.outer];
    end.rules.major.sort_unstable();
    Some(Edit::Batch(vec![
        Edit::Node(from.node, Some(start)),
        Edit::Node(to.node, Some(end)),
    ]))
}
