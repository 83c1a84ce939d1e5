//! Junctions for benchmarks, built in memory from straight legs that meet in the middle or at a ring.
//!
//! ```text
//!              leg 1
//!                |            Legs are drawn from outside to the middle and numbered
//!                v            counter-clockwise from the east. Flows begin and end
//!    leg 2 --->  o <--- leg 0   near the outer ends.
//!                ^
//!                |
//!              leg 3
//! ```

use super::arguments::{Hand, Kind};
use anyhow::Context;
use roadwright_geometry::{Pose, ReferenceLine, Segment, unit};
use roadwright_scenario::operation::draw::{self, RoadStyle};
use roadwright_scenario::{
    About, Agent, Control, CrossSection, DrivingSide, Edit, Flow, JunctionRules, Node, NodeId,
    Place, RoadClass, RoadId, Scenario, SignalMode, SignalPlan,
};
use std::f64::consts::{FRAC_PI_2, PI, TAU};

/// Distance between the ends of flows and the outer end of a leg, m. It leaves room for the rear of a bus.
const GATE: f64 = 12.0;
/// Width of a lane, m.
const LANE_WIDTH: f64 = 3.5;
/// Radius of a ring per leg, m. Rings are about as large as the single-lane roundabout of the
/// capacity formula.
const RADIUS_PER_LEG: f64 = 4.5;
/// Minimum radius of a ring, m.
const LEAST_RADIUS: f64 = 18.0;

/// Design of a junction.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plan {
    pub(super) kind: Kind,
    pub(super) legs: usize,
    pub(super) hand: Hand,
    /// Length of a leg, m.
    pub(super) length: f64,
    /// Speed limit, m/s.
    pub(super) speed_limit: f64,
}

/// A junction with its legs.
pub(super) struct Star {
    pub(super) scenario: Scenario,
    pub(super) plan: Plan,
    /// Roads of the legs, in the order of their numbers.
    pub(super) legs: Vec<RoadId>,
    /// Radius of the ring, m; 0 without one.
    radius: f64,
}

/// A place on a leg, given by its distance from the outer end, m.
#[derive(Clone, Copy)]
pub(super) struct StarPlace {
    pub(super) leg: usize,
    pub(super) s: f64,
    /// Whether the place is on a lane that leads towards the junction.
    pub(super) inward: bool,
}

impl Star {
    /// Builds the junction with its control.
    pub(super) fn new(plan: Plan) -> anyhow::Result<Self> {
        let mut star = Self {
            scenario: Scenario::new("bench"),
            plan,
            legs: Vec::new(),
            radius: 0.0,
        };
        let about = About {
            driving_side: star.side(),
            ..About::default()
        };
        star.apply(Edit::About(Box::new(about)))?;
        if plan.kind == Kind::Roundabout {
            star.radius = LEAST_RADIUS.max(RADIUS_PER_LEG * plan.legs as f64);
            star.draw_ring()?;
        }
        for leg in 0..plan.legs {
            star.draw_leg(leg)?;
        }
        if plan.kind != Kind::Roundabout {
            star.rule(star.rules())?;
        }
        Ok(star)
    }

    pub(super) fn apply(&mut self, edit: Edit) -> anyhow::Result<()> {
        let applied = self.scenario.apply(edit);
        applied.context("cannot build the junction of the benchmark")?;
        Ok(())
    }

    fn side(&self) -> DrivingSide {
        match self.plan.hand {
            Hand::Left => DrivingSide::Left,
            Hand::Right => DrivingSide::Right,
        }
    }

    /// Returns the direction of a leg, rad.
    fn bearing(&self, leg: usize) -> f64 {
        if self.plan.kind == Kind::Zipper {
            // Two roads that merge at a small angle into a third one, 0.35 rad (20 degrees) from
            // its axis.
            return [PI - 0.35, PI + 0.35, 0.0][leg.min(2)];
        }
        // Counter-clockwise from the east, like headings.
        TAU * leg as f64 / self.plan.legs as f64
    }

    fn style(&self, forward: usize, backward: usize) -> RoadStyle {
        RoadStyle {
            name: String::new(),
            class: self.class(),
            layer: 0,
            speed_limit: self.plan.speed_limit,
            section: CrossSection::driving(forward, backward, LANE_WIDTH),
        }
    }

    /// Returns the road class, which determines the width of corners. Entries of roundabouts are
    /// wider.
    fn class(&self) -> RoadClass {
        match self.plan.kind {
            Kind::Roundabout => RoadClass::Arterial,
            _ => RoadClass::Collector,
        }
    }

    fn draw(&mut self, line: &ReferenceLine, style: &RoadStyle) -> anyhow::Result<RoadId> {
        let road = self.scenario.network().next_road_id();
        let edit = draw::road(&self.scenario, line, style)?;
        self.apply(edit)?;
        Ok(road)
    }

    fn draw_leg(&mut self, leg: usize) -> anyhow::Result<()> {
        let direction = unit(self.bearing(leg));
        // Roads are drawn from outside to inside, so their forward lanes lead to the junction.
        let outer = direction * (self.radius + self.plan.length);
        let line = ReferenceLine::straight(outer, direction * self.radius)?;
        let (forward, backward) = match (self.plan.kind, leg) {
            // Traffic on the third leg only leaves the junction, against the direction of its road.
            (Kind::Zipper, 2) => (0, 1),
            (Kind::Zipper, _) => (1, 0),
            _ => (1, 1),
        };
        let road = self.draw(&line, &self.style(forward, backward))?;
        self.legs.push(road);
        Ok(())
    }

    /// Draws the ring, counter-clockwise for right-hand traffic.
    fn draw_ring(&mut self) -> anyhow::Result<()> {
        let turn = match self.plan.hand {
            Hand::Right => 1.0,
            Hand::Left => -1.0,
        };
        let step = TAU / self.plan.legs as f64;
        for leg in 0..self.plan.legs {
            let angle = turn * step * leg as f64;
            let start = Pose {
                position: unit(angle) * self.radius,
                // A tangent is perpendicular to the radius.
                heading: angle + turn * FRAC_PI_2,
            };
            let bend = Segment::Arc {
                length: self.radius * step,
                curvature: turn / self.radius,
            };
            let line = ReferenceLine::new(start, vec![bend])?;
            self.draw(&line, &self.style(1, 0))?;
        }
        Ok(())
    }

    /// Returns the rules for this kind of junction. The first leg and the leg opposite to it have priority.
    fn rules(&self) -> JunctionRules {
        let kind = self.plan.kind;
        let has_majors = matches!(kind, Kind::Priority | Kind::Stop);
        let major = [0, self.plan.legs / 2].map(|leg| self.legs[leg]).to_vec();
        let mode = match kind {
            Kind::Actuated => SignalMode::Actuated,
            _ => SignalMode::Fixed,
        };
        let has_signals = matches!(kind, Kind::Signals | Kind::Actuated);
        JunctionRules {
            control: Some(kind.control()),
            major: if has_majors { major } else { Vec::new() },
            plan: has_signals.then(|| SignalPlan {
                mode,
                ..SignalPlan::default()
            }),
            ..JunctionRules::default()
        }
    }

    /// Sets the rules of the node in the middle.
    pub(super) fn rule(&mut self, rules: JunctionRules) -> anyhow::Result<()> {
        let (id, node) = self.middle().context("the legs do not meet")?;
        self.apply(Edit::Node(id, Some(Node { rules, ..node })))
    }

    fn middle(&self) -> Option<(NodeId, Node)> {
        let network = self.scenario.network();
        let mut nodes = network.nodes();
        // Outer ends have one road; only the middle has three or more.
        let (id, node) = nodes.find(|(id, _)| network.ends_at(*id).len() > 2)?;
        Some((id, node.clone()))
    }

    /// Converts a place on a leg to a place on the leg's road.
    pub(super) fn place(&self, place: StarPlace) -> Place {
        let StarPlace { leg, s, inward } = place;
        // Lanes in the direction of the road are on the driving side, so their ids are negative in right-hand
        // traffic.
        let along = match self.plan.hand {
            Hand::Right => -1,
            Hand::Left => 1,
        };
        let lane = if inward { along } else { -along };
        Place::lane(self.legs[leg], lane, s)
    }

    /// Adds a flow from one leg to another.
    pub(super) fn flow(
        &mut self,
        from: usize,
        to: usize,
        vehicle: &str,
        rate_per_hour: f64,
    ) -> anyhow::Result<()> {
        let origin = StarPlace {
            leg: from,
            s: GATE,
            inward: true,
        };
        let destination = StarPlace {
            leg: to,
            s: GATE,
            inward: false,
        };
        let flow = Flow {
            vehicle: vehicle.into(),
            stack: "idm".into(),
            origin: self.place(origin),
            destination: self.place(destination),
            rate_per_hour: rate_per_hour.into(),
            begin: 0.0.into(),
            // Longer than any run.
            end: 1e7.into(),
            dynamics: None,
        };
        let id = self.scenario.next_flow_id();
        self.apply(Edit::Flow(id, Some(Box::new(flow))))
    }

    /// Adds a vehicle that spawns at `depart` seconds with `speed` in m/s. Places on a leg are
    /// given in metres from its outer end.
    pub(super) fn vehicle(
        &mut self,
        start: StarPlace,
        destination: StarPlace,
        vehicle: &str,
        depart: f64,
        speed: f64,
    ) -> anyhow::Result<()> {
        let agent = Agent {
            name: String::new(),
            vehicle: vehicle.into(),
            stack: "idm".into(),
            dynamics: None,
            start: self.place(start),
            via: Vec::new(),
            destination: Some(self.place(destination)),
            depart: depart.into(),
            repeat: None.into(),
            speed: speed.into(),
        };
        let id = self.scenario.next_agent_id();
        self.apply(Edit::Agent(id, Some(Box::new(agent))))
    }

    /// Returns whether vehicles arrive on a leg, and whether vehicles may leave by it.
    pub(super) fn leads(&self, leg: usize) -> (bool, bool) {
        let is_zipper = self.plan.kind == Kind::Zipper;
        (!is_zipper || leg < 2, !is_zipper || leg == 2)
    }

    /// Returns the fraction of vehicles from one leg that go to another. Six tenths go to the opposite leg if
    /// there is one, and the rest are distributed evenly.
    pub(super) fn share(&self, from: usize, to: usize) -> f64 {
        let legs = self.plan.legs;
        if from == to || !self.leads(from).0 || !self.leads(to).1 {
            return 0.0;
        }
        if self.plan.kind == Kind::Zipper {
            return 1.0;
        }
        let others = (legs - 1) as f64;
        if legs % 2 == 1 {
            return 1.0 / others;
        }
        if (from + legs / 2) % legs == to {
            0.6
        } else {
            // The other legs share the rest.
            0.4 / (others - 1.0)
        }
    }

    /// Returns the leg `steps` legs after `leg`, in the driving direction around the middle.
    pub(super) fn round(&self, leg: usize, steps: usize) -> usize {
        let legs = self.plan.legs;
        match self.plan.hand {
            Hand::Right => (leg + steps) % legs,
            // Counted backwards. Whole turns are added first, so that the result is not negative.
            Hand::Left => (leg + legs * steps - steps) % legs,
        }
    }
}

impl Kind {
    /// Returns the control for this kind of junction.
    pub(super) fn control(self) -> Control {
        match self {
            Self::Uncontrolled => Control::Uncontrolled,
            Self::Priority => Control::Priority,
            Self::Stop => Control::Stop,
            Self::AllWayStop => Control::AllWayStop,
            Self::Signals | Self::Actuated => Control::Signals,
            Self::Roundabout => Control::Roundabout,
            Self::MiniRoundabout => Control::MiniRoundabout,
            Self::Zipper => Control::Zipper,
        }
    }
}
