//! Common properties of levels of dynamics.

use roadwright_scenario::DynamicsLevel;

/// Whether bodies at a level can drive only on lanes.
#[inline]
pub(crate) fn keeps_to_lanes(level: DynamicsLevel) -> bool {
    level.traits().keeps_to_lanes
}
