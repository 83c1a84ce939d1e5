//! The surface of a junction: outline, borders and islands. The simulation does not need it, so
//! each part is computed when it is first drawn or checked.

use super::arm::{Arm, FarEnd};
use super::border::{self, Border};
use super::direct::{self, Gore};
use super::outline::{self, Outline, OutlineEdge};
use super::splitter::{self, Splitter};
use super::traffic_islands::{CutArm, traffic_islands};
use super::{Flag, Junction};
use crate::junction_rules::Control;
use crate::road::Road;
use glam::DVec2;
use std::sync::{Arc, OnceLock};

/// The parts of the surface other than the outline.
#[derive(Debug, Clone, PartialEq, Default)]
struct Beside {
    borders: Vec<Border>,
    gores: Vec<Gore>,
    splitters: Vec<Splitter>,
    islands: Vec<Vec<DVec2>>,
}

/// A surface whose parts are computed on first use, and the roads that are needed for this.
#[derive(Debug, Clone, Default)]
pub struct LazySurface {
    /// The roads of the arms, in the order of the arms.
    arms: Vec<SurfaceArm>,
    /// Whether the outline is only a hull.
    is_degraded: OnceLock<bool>,
    outline: OnceLock<Outline>,
    beside: OnceLock<Beside>,
}

#[derive(Debug, Clone)]
struct SurfaceArm {
    road: Arc<Road>,
    far_end: FarEnd,
}

impl LazySurface {
    /// Returns the surface between arms that are given in the order of the junction.
    pub(super) fn between(arms: &[Arm<'_>]) -> Self {
        let arm = |arm: &Arm<'_>| SurfaceArm {
            road: arm.shared_road(),
            far_end: arm.far_end(),
        };
        Self {
            arms: arms.iter().map(arm).collect(),
            is_degraded: OnceLock::new(),
            outline: OnceLock::new(),
            beside: OnceLock::new(),
        }
    }
}

impl Junction {
    /// Outline of the carriageway, counter-clockwise; empty if a road merely continues as another.
    /// On first use, O(paths × points of the outline), like the other parts of the surface.
    pub fn outline(&self) -> &[OutlineEdge] {
        &self.whole_outline().edges
    }

    /// Returns the lanes of connections that extend outside the outline, each counter-clockwise, m.
    /// They are also part of the carriageway.
    pub fn strips(&self) -> &[Vec<DVec2>] {
        &self.whole_outline().strips
    }

    /// Returns the kerb and pavement after each arm, towards the next one counter-clockwise; empty
    /// if there is no outline, or if the outline is only a hull.
    pub fn borders(&self) -> &[Border] {
        &self.beside().borders
    }

    /// Returns the paved areas between roads that diverge at a small angle. Only direct junctions
    /// have them.
    pub fn gores(&self) -> &[Gore] {
        &self.beside().gores
    }

    /// Returns the splitter islands between entry and exit of the arms, in the order of the arms.
    /// Only roundabouts have them.
    pub fn splitters(&self) -> &[Splitter] {
        &self.beside().splitters
    }

    /// Islands between the paths of a junction that was merged from several nodes, each counter-clockwise, m.
    pub fn traffic_islands(&self) -> &[Vec<DVec2>] {
        &self.beside().islands
    }

    /// Returns the problems found while building the junction and its surface, in a fixed order.
    pub fn flags(&self) -> Vec<Flag> {
        let degraded = self.is_degraded().then_some(Flag::Degraded);
        let mut flags: Vec<Flag> = degraded.into_iter().collect();
        flags.extend(&self.early_flags);
        flags.sort_unstable();
        flags
    }

    /// Computes the parts of the surface that are still missing.
    pub(super) fn make_surface(&self) {
        self.whole_outline();
        self.beside();
    }

    /// Whether the outline is only a hull.
    pub(super) fn is_degraded(&self) -> bool {
        *self.surface.is_degraded.get_or_init(|| {
            let known = self.surface.outline.get();
            known.map_or_else(
                || {
                    let (arms, trims) = self.cut_arms();
                    outline::is_degraded(&arms, &trims, &self.corners)
                },
                |outline| outline.degraded,
            )
        })
    }

    fn whole_outline(&self) -> &Outline {
        self.surface.outline.get_or_init(|| {
            let (arms, trims) = self.cut_arms();
            outline::outline(&arms, &trims, &self.corners, &self.paths)
        })
    }

    fn beside(&self) -> &Beside {
        self.surface.beside.get_or_init(|| {
            let (arms, trims) = self.cut_arms();
            let splitters = match self.control {
                Control::Roundabout | Control::MiniRoundabout => {
                    // At a mini roundabout, vehicles may drive over the whole surface.
                    let may_raise = self.control == Control::Roundabout;
                    splitter::splitters(&arms, &trims, self.side, &self.paths, may_raise)
                }
                _ => Vec::new(),
            };
            let is_plate = self.nodes.len() > 1 && splitters.is_empty() && !self.is_degraded();
            let islands = match is_plate {
                true => {
                    let cut = arms.iter().zip(&trims);
                    let cut = cut.map(|(arm, &trim)| CutArm { arm, trim });
                    traffic_islands(&self.polygon(), cut, &self.paths, &self.crossings)
                }
                false => Vec::new(),
            };
            Beside {
                borders: border::borders(&arms, &trims, &self.whole_outline().sides),
                gores: match self.is_direct {
                    true => direct::gores(&arms),
                    false => Vec::new(),
                },
                splitters,
                islands,
            }
        })
    }

    /// Returns the arms with their trims, m.
    fn cut_arms(&self) -> (Vec<Arm<'_>>, Vec<f64>) {
        let ends = self.arms.iter().zip(&self.surface.arms);
        let arms = ends.map(|(end, SurfaceArm { road, far_end })| {
            Arm::of_shared(end.road, road, end.end).with_far_end(*far_end)
        });
        let trims = self.arms.iter().map(|arm| arm.trim);
        (arms.collect(), trims.collect())
    }
}

impl PartialEq for Junction {
    fn eq(&self, other: &Self) -> bool {
        let Self {
            nodes,
            centre,
            arms,
            corners,
            is_direct,
            paths,
            ring,
            crossings,
            control,
            plan,
            side,
            law,
            early_flags,
            surface: _,
        } = self;
        let is_same_place = *nodes == other.nodes && *centre == other.centre;
        let are_same_arms = *arms == other.arms && *corners == other.corners;
        let is_same_traffic = (*is_direct, *paths == other.paths) == (other.is_direct, true)
            && *ring == other.ring
            && *crossings == other.crossings;
        let is_same_rule = *control == other.control
            && *plan == other.plan
            && (*side, *law) == (other.side, other.law);
        is_same_place
            && are_same_arms
            && is_same_traffic
            && is_same_rule
            && *early_flags == other.early_flags
            && self.whole_outline() == other.whole_outline()
            && self.beside() == other.beside()
    }
}
