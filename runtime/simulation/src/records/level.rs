//! Common properties of levels of dynamics.

use roadwright_scenario::DynamicsLevel;

/// Whether a level only works on lanes.
pub(crate) fn keeps_to_lanes(level: DynamicsLevel) -> bool {
    match level {
        DynamicsLevel::OneTrack
        | DynamicsLevel::DynamicOneTrack
        | DynamicsLevel::Rigid
        | DynamicsLevel::Sliding => false,
        DynamicsLevel::Lane => true,
    }
}
