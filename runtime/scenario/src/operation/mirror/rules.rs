//! Mirroring of the rules of a junction.

use super::{Reflection, lanes};
use crate::ids::{NodeId, RoadId};
use crate::junction_rules::{CornerRule, JunctionRules, LaneTurn, RoadLane, SignalPlan};
use crate::restriction::{Restriction, RestrictionKind, TimedRestriction};
use crate::road::RoadEnd;

/// Returns the rules of a node after mirroring, and whether all rules could be kept.
///
/// Rules name roads, which keep their ids. Turn rules between roads that keep their direction are
/// unchanged. For turn rules between reversed roads, "from" and "to" are swapped.
pub(super) fn mirrored(
    reflection: &Reflection<'_>,
    node: NodeId,
    rules: &JunctionRules,
) -> (JunctionRules, bool) {
    let arms = reflection.scenario.network().ends_at(node);
    let image = Image {
        reflection,
        node,
        // If only one end of a road is moved, the order of the arms changes.
        is_whole: arms.iter().all(|(id, _)| reflection.roads.contains(id)),
        has_turned: arms.iter().any(|(id, _)| reflection.turned.contains(id)),
    };
    let restrictions = rules.restrictions.iter();
    let mirrored = JunctionRules {
        restrictions: restrictions.filter_map(|r| image.restriction(r)).collect(),
        // If a road is reversed, a via restriction would apply to a different route.
        via_restrictions: match image.has_turned {
            true => Vec::new(),
            false => rules.via_restrictions.clone(),
        },
        timed_restrictions: {
            let all = rules.timed_restrictions.iter();
            all.filter_map(|rule| image.timed_restriction(rule))
                .collect()
        },
        turns: crate::junction_rules::TurnRules {
            add: image.turns(&rules.turns.add),
            remove: image.turns(&rules.turns.remove),
        },
        corners: image.corners(&rules.corners),
        plan: rules.plan.as_ref().map(|plan| image.plan(plan)),
        ..rules.clone()
    };
    let stages = |rules: &JunctionRules| rules.plan.as_ref().map_or(0, |plan| plan.stages.len());
    let count = |rules: &JunctionRules| {
        rules.restrictions.len()
            + rules.via_restrictions.len()
            + rules.timed_restrictions.len()
            + rules.turns.add.len()
            + rules.turns.remove.len()
            + rules.corners.len()
            + stages(rules)
    };
    let is_all = count(&mirrored) == count(rules);
    (mirrored, is_all)
}

/// A node after mirroring.
struct Image<'a> {
    reflection: &'a Reflection<'a>,
    node: NodeId,
    /// Whether all roads of the node are mirrored.
    is_whole: bool,
    /// Whether the direction of one of the node's roads is reversed.
    has_turned: bool,
}

impl Image<'_> {
    fn is_turned(&self, road: RoadId) -> bool {
        self.reflection.turned.contains(&road)
    }

    fn restriction(&self, rule: &Restriction) -> Option<Restriction> {
        if !self.is_turned(rule.from) && !self.is_turned(rule.to) {
            return Some(*rule);
        }
        // "Only into that road" would then restrict the traffic that comes out of the road.
        let is_kept = self.is_whole && rule.kind == RestrictionKind::No;
        is_kept.then_some(Restriction {
            kind: rule.kind,
            from: rule.to,
            to: rule.from,
        })
    }

    fn timed_restriction(&self, rule: &TimedRestriction) -> Option<TimedRestriction> {
        match rule.at_node() {
            Some(at_node) => {
                let Restriction { kind, from, to } = self.restriction(&at_node)?;
                Some(TimedRestriction {
                    kind,
                    from,
                    to,
                    ..rule.clone()
                })
            }
            None => (!self.has_turned).then(|| rule.clone()),
        }
    }

    fn turns(&self, turns: &[LaneTurn]) -> Vec<LaneTurn> {
        let mut turns: Vec<_> = turns.iter().filter_map(|turn| self.turn(*turn)).collect();
        turns.sort_unstable();
        turns
    }

    fn turn(&self, LaneTurn { from, to }: LaneTurn) -> Option<LaneTurn> {
        if !self.is_whole {
            let is_as_before = |at: RoadLane| !self.reflection.roads.contains(&at.road);
            return (is_as_before(from) && is_as_before(to)).then_some(LaneTurn { from, to });
        }
        let turned = |at: RoadLane| RoadLane {
            road: at.road,
            lane: -at.lane,
        };
        match (self.is_turned(from.road), self.is_turned(to.road)) {
            (true, true) => Some(LaneTurn {
                from: turned(to),
                to: turned(from),
            }),
            (false, false) => Some(LaneTurn {
                from: self.opposite(from),
                to: self.opposite(to),
            }),
            // The lane of the two-way road would have to belong to the other direction of that road.
            _ => None,
        }
    }

    /// Mirrors a lane of an arm: the leftmost lane of a direction becomes the rightmost lane of
    /// that direction.
    fn opposite(&self, at: RoadLane) -> RoadLane {
        let scenario = self.reflection.scenario;
        let Some(road) = scenario.network().road(at.road) else {
            return at;
        };
        let end = if road.from == self.node {
            RoadEnd::Start
        } else {
            RoadEnd::End
        };
        let s = match end {
            RoadEnd::Start => 0.0,
            RoadEnd::End => road.length(),
        };
        let side = scenario.about().driving_side;
        RoadLane {
            lane: lanes::opposite(road.section_at(s), at.lane, side),
            ..at
        }
    }

    /// Mirrors the rules of corners. A corner leads from a road to the next road counter-clockwise, which is
    /// the next road clockwise after mirroring.
    fn corners(&self, corners: &[CornerRule]) -> Vec<CornerRule> {
        let is_kept = |corner: &&CornerRule| {
            let mut roads = [corner.road, corner.next].into_iter();
            self.is_whole || !roads.any(|road| self.reflection.roads.contains(&road))
        };
        let mut corners: Vec<CornerRule> = corners.iter().filter(is_kept).copied().collect();
        if self.is_whole {
            for corner in &mut corners {
                (corner.road, corner.next) = (corner.next, corner.road);
            }
            corners.sort_unstable_by_key(|corner| (corner.road, corner.next));
        }
        corners
    }

    /// Mirrors a signal plan. Stages that give green to all traffic from a road are kept. Stages for single
    /// turns would give green to conflicting traffic, so the stages are derived from the lanes in this case.
    fn plan(&self, plan: &SignalPlan) -> SignalPlan {
        let mut movements = plan
            .stages
            .iter()
            .flat_map(|stage| stage.green.iter().chain(&stage.permitted));
        let is_kept = !self.has_turned && movements.all(|movement| movement.turns.is_empty());
        let mut plan = plan.clone();
        if !is_kept {
            plan.stages.clear();
        }
        plan
    }
}
