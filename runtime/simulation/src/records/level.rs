//! What all know of the levels of dynamics.

use roadwright_scenario::DynamicsLevel;

/// Whether a level serves lanes only.
pub(crate) fn keeps_to_lanes(level: DynamicsLevel) -> bool {
    match level {
        DynamicsLevel::OneTrack
        | DynamicsLevel::DynamicOneTrack
        | DynamicsLevel::Rigid
        | DynamicsLevel::Sliding => false,
        DynamicsLevel::Lane => true,
    }
}
