//! The path ahead and the state of the vehicle, for controllers that use a model of their vehicle.

use super::open_ground::curvature_ahead;
use super::{Look, View};
use crate::dynamics::{Level, of_level};
use crate::records::AgentIndex;
use crate::route::{GroundPath, PlannedPath};
use crate::vehicle_type::{VehicleType, train};
use roadwright_agent::{BodyInput, PATH_PARTS, PathInput, TowedInput, TyreInput};
use roadwright_control::LateralModel;
use roadwright_geometry::Pose;
use roadwright_geometry::centre_line::CentreLine;
use roadwright_geometry::math::wrap_angle;
use roadwright_plugin_api::ControllerInput;
use roadwright_scenario::DynamicsLevel;
use std::f64::consts::PI;

impl View<'_> {
    /// Input of a controller that uses a model of its vehicle, before the request of the behaviour
    /// is applied.
    pub(crate) fn path_input(&self, agent: AgentIndex, look: Look) -> PathInput {
        let seen = self.allowed_input(agent, look);
        let is_reversing = self.is_reversing(agent);
        let direction = if is_reversing { -1.0 } else { 1.0 };
        let [sideways, yaw_rate] = self.bodies().slip(agent, self.vehicle_type(agent));
        let mut input = PathInput {
            offset: seen.lane_offset,
            heading_error: seen.heading_error,
            sideways: direction * sideways,
            yaw_rate,
            body: self.body_input(agent, direction),
            curvature: [0.0; PATH_PARTS],
            ..PathInput::of_waypoint(seen)
        };
        let Some(part) = look.parts.map(|parts| parts.length(seen.speed)) else {
            return input;
        };
        let (route, reached) = (self.route(agent), self.progress(agent).reached);
        if self.position(agent).is_on_lane() {
            self.see_lane(agent, part, &mut input);
        } else if let Some(path) = route.path_to(reached) {
            let s = self.position(agent).s;
            let planned = route.planned_to(reached);
            let pushed = planned.and_then(|planned| self.pushed(agent, planned));
            let (path, from) = match pushed {
                Some(pushed) if is_reversing => {
                    input.towed = Some(pushed.towed);
                    (pushed.path, pushed.from)
                }
                _ => {
                    input.towed = self.towed(agent, path).filter(|_| is_reversing);
                    let ahead = input
                        .towed
                        .map_or(0.0, |towed| towed.coupling + towed.to_axle);
                    (path, s + ahead)
                }
            };
            let exact = route.exact_to(reached);
            input.exact_curvature =
                exact.map(|(planned, _)| curvature_ahead(&planned.path, s, seen.speed));
            input.curvature = match exact {
                // A vehicle that has to stop exactly at the end of the path keeps steering until the end.
                Some(_) => std::array::from_fn(|at| {
                    let begins = from + at as f64 * part;
                    path.curvature(begins, begins + part)
                }),
                None => curvatures(path.line(), from, part),
            };
        } else {
            // Without a path, the vehicle drives straight towards its goal.
            input.heading_error = -seen.waypoint_angle;
        }
        input
    }

    /// Fills in the curvatures of the lanes ahead, one for each part of `part` metres.
    fn see_lane(&self, agent: AgentIndex, part: f64, input: &mut PathInput) {
        let position = self.position(agent);
        let mut before = self.ground.line(position.lanelet).heading(position.s);
        let reach = (PATH_PARTS as f64 - 0.5) * part;
        for (to, pose) in input
            .curvature
            .iter_mut()
            .zip(self.poses_ahead(agent, part, reach))
        {
            *to = wrap_angle(pose.heading - before) / part;
            before = pose.heading;
        }
    }

    /// Limits and tyres of an agent's vehicle. `direction` is -1 in reverse.
    fn body_input(&self, agent: AgentIndex, direction: f64) -> BodyInput {
        let kind = self.vehicle_type(agent);
        let limits = &kind.limits;
        BodyInput {
            max_steering: limits.max_steering,
            steering_rate: limits.steering_rate,
            max_acceleration: limits.max_acceleration,
            max_braking: limits.max_braking,
            tyres: tyres(kind, self.level(agent), direction),
        }
    }

    /// Returns the trailer that an agent pushes along a planned path for the trailer's axle, and
    /// this path; `None` if the agent's plan contains no path for a trailer.
    fn pushed<'b>(&self, agent: AgentIndex, planned: &'b PlannedPath) -> Option<Pushed<'b>> {
        let path = planned.towed.as_ref()?;
        let length = planned.path.line().length().max(1e-3);
        // Vehicle and trailer cover the same fractions of their paths at the same time.
        let guess = path.line().length() * self.position(agent).s / length;
        let (towed, from) = self.towed_at(agent, path, guess)?;
        Some(Pushed { towed, path, from })
    }

    /// Returns the first trailer of an agent that follows a path in reverse. `path` is the path of
    /// the vehicle. Ahead of the vehicle, the trailer follows this path as well.
    fn towed(&self, agent: AgentIndex, path: &GroundPath) -> Option<TowedInput> {
        let train = (self.types).train(self.agents.identity[agent.index()].vehicle_type);
        let hitched = train.trailers().first()?;
        let ahead = hitched.to_axle - hitched.coupling;
        let guess = self.position(agent).s + ahead;
        self.towed_at(agent, path, guess).map(|(towed, _)| towed)
    }

    /// Returns the first trailer of an agent, and the position of its axle on a path, m. The search
    /// for the position starts at `guess`.
    fn towed_at(
        &self,
        agent: AgentIndex,
        path: &GroundPath,
        guess: f64,
    ) -> Option<(TowedInput, f64)> {
        let train = self
            .types
            .train(self.agents.identity[agent.index()].vehicle_type);
        let hitched = train.trailers().first()?;
        let pose = self.pose(agent);
        let state = self
            .dynamics
            .trailers
            .of(agent)
            .and_then(|states| states.first());
        let heading = state.map_or(pose.heading, |state| state.heading);
        let coupling = Pose {
            position: pose.point(hitched.coupling, 0.0),
            heading,
        };
        let axle = coupling.point(-hitched.to_axle, 0.0);
        let (s, t) = path.line().project(axle, guess);
        let along = path.line().heading(s);
        let towed = TowedInput {
            coupling: -hitched.coupling,
            to_axle: hitched.to_axle,
            hitch: wrap_angle(pose.heading - heading),
            offset: t,
            heading_error: wrap_angle(heading + PI - along),
        };
        Some((towed, s))
    }
}

/// A trailer that is pushed along a path planned for its axle.
struct Pushed<'a> {
    towed: TowedInput,
    path: &'a GroundPath,
    /// Position of the axle on the path, m.
    from: f64,
}

/// Linear tyre model of a vehicle in its direction of travel, on levels with side slip.
fn tyres(kind: &VehicleType, level: DynamicsLevel, direction: f64) -> Option<TyreInput> {
    of_level!(level, L => L::tyres(kind, direction))
}

/// Returns the mean curvature (1/m) of each part of a path beyond position `from` (m). Beyond the end of the
/// path, curvatures are 0.
fn curvatures(line: CentreLine<'_>, from: f64, part: f64) -> [f64; PATH_PARTS] {
    let heading = |s: f64| line.heading(s.clamp(0.0, line.length()));
    let mut before = heading(from);
    std::array::from_fn(|at| {
        let now = heading(from + (at + 1) as f64 * part);
        let turned = wrap_angle(now - before);
        before = now;
        turned / part
    })
}

/// Direction in which a vehicle drives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Travel {
    /// Front first.
    Forwards,
    /// Rear first. If there is a trailer, it leads.
    Backwards,
}

/// Returns the linear model that `lqr` and related controllers use to steer a vehicle of the given
/// type. It depends on the level of dynamics and on the speed in m/s.
pub fn lateral_model(
    described: &roadwright_scenario::VehicleType,
    level: DynamicsLevel,
    travel: Travel,
    speed: f64,
) -> LateralModel {
    let kind = VehicleType::from(described);
    let direction = match travel {
        Travel::Forwards => 1.0,
        Travel::Backwards => -1.0,
    };
    let seen = ControllerInput {
        speed,
        wheelbase: kind.limits.wheelbase,
        ..ControllerInput::default()
    };
    let train = train(described);
    let towed = train.trailers().first().map(|hitched| TowedInput {
        coupling: -hitched.coupling,
        to_axle: hitched.to_axle,
        hitch: 0.0,
        offset: 0.0,
        heading_error: 0.0,
    });
    let input = PathInput {
        body: BodyInput {
            tyres: tyres(&kind, level, direction),
            ..BodyInput::CAR
        },
        towed: towed.filter(|_| travel == Travel::Backwards),
        ..PathInput::of_waypoint(seen)
    };
    LateralModel::of(&input, speed)
}
