//! A builder that draws scenarios line by line.

use roadwright_geometry::fillet::{FilletOptions, fillet};
use roadwright_geometry::{DVec2, ReferenceLine};
use roadwright_scenario::operation::draw::{self, RoadStyle};
use roadwright_scenario::vehicle_file::{FileReference, VehicleFile, hash};
use roadwright_scenario::{
    About, Agent, AgentId, CrossSection, DrivingSide, Edit, Flow, FlowId, Forest, ForestId, Land,
    LandId, LandUse, LaneType, ModuleSetting, Node, NodeId, Obstacle, ObstacleId, Place, RoadClass,
    Scenario, Settings, Shape, Stack, VehicleType,
};
use std::path::PathBuf;
use std::sync::Arc;

/// A scenario that is being built. Every change goes through `Scenario::apply`.
pub(crate) struct Builder {
    pub(crate) scenario: Scenario,
}

impl Builder {
    pub(crate) fn new(name: &str, description: &str, side: DrivingSide) -> Self {
        let mut builder = Self {
            scenario: Scenario::new(name),
        };
        builder.apply(Edit::About(Box::new(About {
            name: name.into(),
            description: description.into(),
            driving_side: side,
            ..About::default()
        })));
        builder.judge_as_before();
        builder
    }

    /// Scores all stacks by `crash_and_speed`, the fitness of [Gerdelan 2011], so that scenarios that were
    /// shipped before the default fitness changed keep their results.
    fn judge_as_before(&mut self) {
        let stacks = self.scenario.stacks().clone();
        for (key, stack) in &stacks {
            self.stack(key, stack.clone());
        }
    }

    /// Scores all stacks by the default fitness.
    pub(crate) fn judge_by_default(&mut self) {
        let stacks = self.scenario.stacks().clone();
        for (key, stack) in &stacks {
            let judged = Stack {
                fitness: Stack::default().fitness,
                ..stack.clone()
            };
            self.apply(Edit::Stack(key.clone(), Some(Box::new(judged))));
        }
    }

    pub(crate) fn apply(&mut self, edit: Edit) {
        self.scenario
            .apply(edit)
            .expect("a shipped scenario is sound");
    }

    pub(crate) fn settings(&mut self, seed: u64, duration: f64) {
        self.apply(Edit::Settings(Settings {
            dt: 0.01.into(),
            seed,
            duration: duration.into(),
            ..Settings::default()
        }));
    }

    /// Draws a road through points, with bends rounded by up to `radius` metres.
    pub(crate) fn road(&mut self, points: &[(f64, f64)], radius: f64, style: &RoadStyle) {
        let points: Vec<_> = points.iter().map(|&p| DVec2::from(p)).collect();
        let options = FilletOptions { radius, miss: 1e3 };
        let line = fillet(&points, options).expect("distinct points");
        self.line(&line, style);
    }

    /// Draws a road along a reference line.
    pub(crate) fn line(&mut self, line: &ReferenceLine, style: &RoadStyle) {
        let edit = draw::road(&self.scenario, line, style).expect("a road that can be drawn");
        self.apply(edit);
    }

    /// The node nearest to a place.
    pub(crate) fn node_at(&self, at: DVec2) -> (NodeId, Node) {
        let nodes = self.scenario.network().nodes();
        let nearest = nodes.min_by(|a, b| {
            let distance = |node: &Node| (node.position() - at).length_squared();
            distance(a.1).total_cmp(&distance(b.1))
        });
        let (id, node) = nearest.expect("something has been drawn");
        (id, node.clone())
    }

    /// Adds vehicle types from shipped files, each given by key and file.
    pub(crate) fn vehicles<'n>(&mut self, types: impl IntoIterator<Item = (&'n str, &'n str)>) {
        for (key, file) in types {
            let kind = Box::new(from_file(file));
            self.apply(Edit::VehicleType(key.into(), Some(kind)));
        }
    }

    /// Adds a stack. A stack with the default fitness function gets `crash_and_speed` instead.
    pub(crate) fn stack(&mut self, key: &str, stack: Stack) {
        let fitness = match stack.fitness == Stack::default().fitness {
            true => ModuleSetting::new("crash_and_speed").into(),
            false => stack.fitness.clone(),
        };
        let stack = Stack { fitness, ..stack };
        self.apply(Edit::Stack(key.into(), Some(Box::new(stack))));
    }

    pub(crate) fn building(&mut self, name: &str, corners: &[(f64, f64)], height: f64) {
        let points = corners.iter().map(|&p| DVec2::from(p)).collect();
        self.obstacle(Obstacle {
            name: name.into(),
            shape: Shape::Polygon { points },
            base: 0.0.into(),
            height: height.into(),
            mass: None.into(),
        });
    }

    pub(crate) fn obstacle(&mut self, obstacle: Obstacle) {
        let id = self.scenario.obstacles().len() as u32 + 1;
        self.apply(Edit::Obstacle(ObstacleId(id), Some(Box::new(obstacle))));
    }

    pub(crate) fn land(&mut self, usage: LandUse, name: &str, corners: &[(f64, f64)]) {
        let id = self.scenario.land().len() as u32 + 1;
        let land = Land {
            name: name.into(),
            usage,
            outline: corners.iter().map(|&p| DVec2::from(p)).collect(),
            holes: Vec::new().into(),
        };
        self.apply(Edit::Land(LandId(id), Some(Box::new(land))));
    }

    pub(crate) fn forest(&mut self, area: &[(f64, f64)], density: f64, spacing: f64, seed: u64) {
        let id = self.scenario.forests().len() as u32 + 1;
        let forest = Forest {
            area: area.iter().map(|&p| DVec2::from(p)).collect(),
            density: density.into(),
            spacing: spacing.into(),
            trunk_radius: 0.25.into(),
            seed,
        };
        self.apply(Edit::Forest(ForestId(id), Some(Box::new(forest))));
    }

    pub(crate) fn agent(&mut self, agent: Agent) {
        let id = self.scenario.agents().len() as u32 + 1;
        self.apply(Edit::Agent(AgentId(id), Some(Box::new(agent))));
    }

    pub(crate) fn flow(&mut self, flow: Flow) {
        let id = self.scenario.flows().len() as u32 + 1;
        self.apply(Edit::Flow(FlowId(id), Some(Box::new(flow))));
    }
}

/// Returns the trip of a vehicle between two places.
pub(crate) fn trip(
    vehicle: &str,
    stack: &str,
    start: Place,
    destination: Place,
    depart: f64,
) -> Agent {
    Agent {
        name: String::new(),
        vehicle: vehicle.into(),
        stack: stack.into(),
        dynamics: None,
        start,
        via: Vec::new(),
        destination: Some(destination),
        depart: depart.into(),
        repeat: None.into(),
        speed: 0.0.into(),
    }
}

pub(crate) fn style(name: &str, class: RoadClass, kmh: f64, section: CrossSection) -> RoadStyle {
    RoadStyle {
        name: name.into(),
        class,
        layer: 0,
        speed_limit: (kmh / 3.6 * 100.0_f64).round() / 100.0,
        section,
    }
}

/// A two-way street with sidewalks.
pub(crate) fn street(name: &str) -> RoadStyle {
    let section = CrossSection::driving(1, 1, 3.25).with_border(LaneType::Sidewalk, 2.0);
    style(name, RoadClass::Residential, 40.0, section)
}

/// A one-way street with sidewalks.
pub(crate) fn one_way(name: &str, lanes: usize) -> RoadStyle {
    let section = CrossSection::driving(lanes, 0, 3.25).with_border(LaneType::Sidewalk, 2.0);
    style(name, RoadClass::Collector, 40.0, section)
}

/// A main street with two lanes in each direction.
pub(crate) fn avenue(name: &str) -> RoadStyle {
    let section = CrossSection::driving(2, 2, 3.25).with_border(LaneType::Sidewalk, 2.5);
    style(name, RoadClass::Arterial, 50.0, section)
}

/// A one-way street of two lanes with an additional bus lane.
pub(crate) fn bus_street(name: &str) -> RoadStyle {
    let mut section = CrossSection::driving(2, 0, 3.25);
    section.forward.push((LaneType::Bus, 3.25));
    section = section.with_border(LaneType::Sidewalk, 2.5);
    style(name, RoadClass::Collector, 40.0, section)
}

/// A narrow one-way alley.
pub(crate) fn alley(name: &str) -> RoadStyle {
    style(
        name,
        RoadClass::Service,
        20.0,
        CrossSection::driving(1, 0, 3.0),
    )
}

/// A pedestrian street.
pub(crate) fn footway(name: &str) -> RoadStyle {
    let section = CrossSection {
        forward: vec![(LaneType::Sidewalk, 3.0)],
        backward: vec![(LaneType::Sidewalk, 3.0)],
    };
    style(name, RoadClass::Path, 6.0, section)
}

/// Returns an agent with the given name.
pub(crate) fn named(name: &str, agent: Agent) -> Agent {
    Agent {
        name: name.into(),
        ..agent
    }
}

/// A vehicle type from a shipped file.
fn from_file(name: &str) -> VehicleType {
    let path = format!("vehicles/{name}.vehicle.json");
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let text = std::fs::read_to_string(folder.join(&path)).expect("a vehicle that ships");
    let vehicle = VehicleFile::from_text(&text).expect("a shipped vehicle is sound");
    VehicleType {
        file: Some(Arc::new(FileReference {
            path,
            hash: hash(&text),
            was: None,
            vehicle: vehicle.clone(),
        })),
        ..vehicle.vehicle_type()
    }
}
