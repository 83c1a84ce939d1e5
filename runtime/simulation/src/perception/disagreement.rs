//! Disagreement between a driver off the lanes and its plan, including plans that the vehicle
//! cannot carry out ([Gerdelan 2011], section 6.2 and figure 6.5).

use super::View;
use crate::open_ground::{LeftPath, has_left};
use crate::records::AgentIndex;
use roadwright_geometry::Pose;
use roadwright_geometry::math::tan;
use roadwright_planning::open_ground::{Avoiding, Disagreement, Driving};

/// Maximum lateral acceleration that a vehicle is assumed to reach in a turn, m/s^2. It is twice
/// that of planned bends.
const LATERAL: f64 = 4.0;
/// A driver counts as steering around an obstacle if the curvature of the driven path exceeds this,
/// 1/m.
const STEERS_AROUND: f64 = 0.02;

impl View<'_> {
    /// Returns the reason why the driver of an agent disagrees with its planned path. `None` if it agrees, or
    /// if no path is planned.
    pub(crate) fn disagreement(&self, agent: AgentIndex) -> Option<Disagreement> {
        let planned = self.route(agent).planned_to(self.progress(agent).reached)?;
        let kind = self.vehicle_type(agent);
        let position = self.position(agent);
        let is_reversing = planned.path.is_reversing();
        // The pose faces the direction of travel.
        let pose = self.pose_ahead(agent, is_reversing);
        let place = LeftPath {
            kind,
            path: planned,
            heading: pose.heading,
            s: position.s,
            t: position.t,
        };
        if has_left(place) {
            return Some(Disagreement::LeftPath);
        }
        let speed = self.motion(agent).speed.abs();
        let sharpest = tan(kind.limits.max_steering) / kind.limits.wheelbase;
        let most = sharpest.min(LATERAL / (speed * speed).max(1e-6));
        let driving = Driving {
            pose,
            turning_radius: 1.0 / most.max(1e-6),
            avoiding: self.avoiding(agent, pose),
        };
        let target = self.target_on(agent, planned, pose, speed);
        driving.disagreement(target.position)
    }

    /// Returns the nearest obstacle ahead if the driver is steering around it. `None` in reverse,
    /// because drivers avoid obstacles only when driving forwards.
    fn avoiding(&self, agent: AgentIndex, pose: Pose) -> Option<Avoiding> {
        if self.is_reversing(agent) {
            return None;
        }
        let kind = self.vehicle_type(agent);
        let steering = self.bodies().steering(agent, kind);
        let curvature = tan(steering) / kind.limits.wheelbase;
        if curvature.abs() < STEERS_AROUND {
            return None;
        }
        let obstacle = self.standing_ahead(agent, pose)?;
        Some(Avoiding {
            obstacle,
            curvature,
        })
    }
}
