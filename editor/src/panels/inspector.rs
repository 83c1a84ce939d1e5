//! Every property of the selected object, with units and ranges.

use super::lanes;
use super::widgets::{Number, change, choice, empty, heading, level_title, text};
use crate::model::{Action, Model};
use egui::{Grid, Ui};
use roadwright_geometry::DVec2;
use roadwright_scenario::{
    Agent, AgentId, DynamicsLevel, Edit, Flow, FlowId, Forest, ForestId, Node, NodeId, ObjectId,
    Obstacle, ObstacleId, Place, PointOfInterest, PointOfInterestId, Road, RoadClass, RoadId,
    Shape,
};

pub(super) fn ui(ui: &mut Ui, model: &Model, actions: &mut Vec<Action>) {
    let scenario = model.document.scenario();
    match model.single() {
        None if model.selection.is_empty() => {
            empty(
                ui,
                "Select something on the map to see and change its properties.",
            );
        }
        None => {
            heading(ui, &format!("{} objects", model.selection.len()));
            ui.label("Move, turn, copy or delete them together.");
        }
        Some(ObjectId::Node(id)) => {
            if let Some(node) = scenario.network().node(id) {
                self::node(ui, model, id, node, actions);
            }
        }
        Some(ObjectId::Road(id)) => {
            if let Some(road) = scenario.network().road(id) {
                self::road(ui, id, road, actions);
                lanes::ui(ui, model, id, road, actions);
            }
        }
        Some(ObjectId::Obstacle(id)) => {
            if let Some(obstacle) = scenario.obstacles().get(&id) {
                self::obstacle(ui, id, obstacle, actions);
            }
        }
        Some(ObjectId::Forest(id)) => {
            if let Some(forest) = scenario.forests().get(&id) {
                self::forest(ui, id, forest, actions);
            }
        }
        Some(ObjectId::PointOfInterest(id)) => {
            if let Some(point) = scenario.points_of_interest().get(&id) {
                self::point_of_interest(ui, id, point, actions);
            }
        }
        Some(ObjectId::Agent(id)) => {
            if let Some(agent) = scenario.agents().get(&id) {
                self::agent(ui, model, id, agent, actions);
            }
        }
        Some(ObjectId::Flow(id)) => {
            if let Some(flow) = scenario.flows().get(&id) {
                self::flow(ui, model, id, flow, actions);
            }
        }
    }
    problems_of_selection(ui, model);
}

/// What the check says about the selected object, where it is edited.
fn problems_of_selection(ui: &mut Ui, model: &Model) {
    let Some(object) = model.single() else { return };
    let color = model.theme().tone(crate::tools::Tone::Warning);
    for finding in model
        .findings
        .1
        .iter()
        .filter(|f| f.object == object)
        .take(5)
    {
        ui.add_space(4.0);
        ui.label(egui::RichText::new(&finding.message).color(color).small());
    }
}

fn row<'a>(
    name: &'a str,
    value: f64,
    range: std::ops::RangeInclusive<f64>,
    unit: &'a str,
    step: f64,
    hint: &'a str,
) -> Number<'a> {
    Number {
        name,
        value,
        range,
        unit,
        step,
        hint,
    }
}

const EXTENT: std::ops::RangeInclusive<f64> = -1e7..=1e7;

fn node(ui: &mut Ui, model: &Model, id: NodeId, node: &Node, actions: &mut Vec<Action>) {
    heading(ui, &id.to_string());
    let scenario = model.document.scenario();
    let ends = scenario.network().ends_at(id);
    Grid::new("node").num_columns(2).show(ui, |ui| {
        let (x, at_x) = row("x", node.x, EXTENT, "m", 0.1, "East of the origin.").ui(ui);
        let (y, at_y) = row("y", node.y, EXTENT, "m", 0.1, "North of the origin.").ui(ui);
        // From how it was before the drag: each state of it bends the roads anew.
        let base = model.document.base();
        let start = base
            .network()
            .node(id)
            .map_or(node.position(), Node::position);
        let to = DVec2::new(x, y) - start;
        for response in [at_x, at_y] {
            let objects = std::iter::once(ObjectId::Node(id)).collect();
            let motion = roadwright_scenario::operation::Motion::shift(to);
            if let Ok(edit) = roadwright_scenario::operation::moved(base, &objects, &motion) {
                change(&response, &format!("Move {id}"), || edit, actions);
            }
        }
    });
    let mut signals = node.signals;
    if ui.checkbox(&mut signals, "Traffic signals").changed() {
        let node = Node {
            signals,
            ..node.clone()
        };
        actions.push(Action::Apply(
            "Change signals".into(),
            Edit::Node(id, Some(node)),
        ));
    }
    ui.label(format!("{} road ends meet here.", ends.len()));
    if !node.restrictions.is_empty() {
        heading(ui, "Turn restrictions");
        for (i, restriction) in node.restrictions.iter().enumerate() {
            ui.horizontal(|ui| {
                ui.label(format!(
                    "{:?} from {} to {}",
                    restriction.kind, restriction.from, restriction.to
                ));
                if ui.small_button("Remove").clicked() {
                    let mut node = node.clone();
                    node.restrictions.remove(i);
                    actions.push(Action::Apply(
                        "Remove restriction".into(),
                        Edit::Node(id, Some(node)),
                    ));
                }
            });
        }
    }
    forbid(ui, id, node, &ends, actions);
}

/// Forbids a turn between two of the roads that meet.
fn forbid(
    ui: &mut Ui,
    id: NodeId,
    node: &Node,
    ends: &[(RoadId, roadwright_scenario::RoadEnd)],
    actions: &mut Vec<Action>,
) {
    if ends.len() < 2 {
        return;
    }
    ui.menu_button("Forbid a turn…", |ui| {
        for (from, _) in ends {
            ui.menu_button(format!("from {from}"), |ui| {
                for (to, _) in ends.iter().filter(|(to, _)| to != from) {
                    if ui.button(format!("to {to}")).clicked() {
                        let mut node = node.clone();
                        node.restrictions.push(roadwright_scenario::Restriction {
                            kind: roadwright_scenario::RestrictionKind::No,
                            from: *from,
                            to: *to,
                        });
                        actions.push(Action::Apply(
                            "Forbid turn".into(),
                            Edit::Node(id, Some(node)),
                        ));
                        ui.close();
                    }
                }
            });
        }
    });
}

fn road(ui: &mut Ui, id: RoadId, road: &Road, actions: &mut Vec<Action>) {
    heading(ui, &id.to_string());
    let edit = |road: Road| Edit::Road(id, Some(Box::new(road)));
    Grid::new("road").num_columns(2).show(ui, |ui| {
        let (name, response) = text(ui, "Name", &road.name, "street name");
        let renamed = || {
            edit(Road {
                name,
                ..road.clone()
            })
        };
        change(&response, &format!("Name {id}"), renamed, actions);
        ui.label("Class");
        let classes = [
            RoadClass::Path,
            RoadClass::Service,
            RoadClass::Residential,
            RoadClass::Collector,
            RoadClass::Arterial,
            RoadClass::Ramp,
            RoadClass::Motorway,
        ]
        .map(|class| (class, format!("{class:?}")));
        if let Some(class) = choice(ui, "Class", &road.class, &classes) {
            let changed = edit(Road {
                class,
                ..road.clone()
            });
            actions.push(Action::Apply(format!("Class of {id}"), changed));
        }
        ui.end_row();
        let hint = "Speed limit where a lane has none of its own.";
        let kmh = 3.6 * road.speed_limit;
        let (kmh, response) = row("Speed limit", kmh, 1.0..=540.0, "km/h", 1.0, hint).ui(ui);
        let limited = || {
            edit(Road {
                speed_limit: kmh / 3.6,
                ..road.clone()
            })
        };
        change(&response, &format!("Speed limit of {id}"), limited, actions);
        let hint = "0 on the ground, 1 a bridge above it, -1 a tunnel below.";
        let layer = f64::from(road.layer);
        let (layer, response) = row("Layer", layer, -5.0..=5.0, "", 1.0, hint).ui(ui);
        let moved = || {
            edit(Road {
                layer: layer.round() as i8,
                ..road.clone()
            })
        };
        change(&response, &format!("Layer of {id}"), moved, actions);
        ui.label("Length");
        ui.label(format!("{:.2} m", road.length()));
        ui.end_row();
        ui.label("Shape");
        ui.label(format!("{} segments", road.reference_line.segments().len()));
        ui.end_row();
        let tightest = road.reference_line.max_curvature();
        ui.label("Tightest radius");
        ui.label(if tightest > 1e-9 {
            format!("{:.1} m", 1.0 / tightest)
        } else {
            "straight".into()
        });
        ui.end_row();
    });
}

fn obstacle(ui: &mut Ui, id: ObstacleId, obstacle: &Obstacle, actions: &mut Vec<Action>) {
    heading(ui, &id.to_string());
    let edit = |obstacle: Obstacle| Edit::Obstacle(id, Some(Box::new(obstacle)));
    Grid::new("obstacle").num_columns(2).show(ui, |ui| {
        let (name, response) = text(ui, "Name", &obstacle.name, "");
        let renamed = || {
            edit(Obstacle {
                name,
                ..obstacle.clone()
            })
        };
        change(&response, &format!("Name {id}"), renamed, actions);
        for (label, response, shape) in shape_rows(ui, &obstacle.shape) {
            let shaped = || {
                edit(Obstacle {
                    shape,
                    ..obstacle.clone()
                })
            };
            change(&response, &format!("{label} of {id}"), shaped, actions);
        }
        let (height, response) = row(
            "Height",
            obstacle.height,
            0.01..=1e4,
            "m",
            0.1,
            "Above the ground.",
        )
        .ui(ui);
        let raised = || {
            edit(Obstacle {
                height,
                ..obstacle.clone()
            })
        };
        change(&response, &format!("Height of {id}"), raised, actions);
        if let Some(mass) = obstacle.mass {
            let (mass, response) = row(
                "Mass",
                mass,
                0.01..=1e6,
                "kg",
                1.0,
                "Of what can be pushed.",
            )
            .ui(ui);
            let weighed = || {
                edit(Obstacle {
                    mass: Some(mass),
                    ..obstacle.clone()
                })
            };
            change(&response, &format!("Mass of {id}"), weighed, actions);
        }
    });
    let mut loose = obstacle.mass.is_some();
    if ui.checkbox(&mut loose, "Can be pushed").changed() {
        let mass = loose.then_some(80.0);
        let changed = edit(Obstacle {
            mass,
            ..obstacle.clone()
        });
        actions.push(Action::Apply(format!("Loosen {id}"), changed));
    }
}

fn shape_rows(ui: &mut Ui, shape: &Shape) -> Vec<(&'static str, egui::Response, Shape)> {
    let mut rows = Vec::new();
    let mut add = |label, (value, response): (f64, egui::Response), make: &dyn Fn(f64) -> Shape| {
        rows.push((label, response, make(value)));
    };
    match *shape {
        Shape::Circle { x, y, radius } => {
            add("x", row("x", x, EXTENT, "m", 0.1, "Centre.").ui(ui), &|x| {
                Shape::Circle { x, y, radius }
            });
            add("y", row("y", y, EXTENT, "m", 0.1, "Centre.").ui(ui), &|y| {
                Shape::Circle { x, y, radius }
            });
            add(
                "Radius",
                row("Radius", radius, 0.01..=1e4, "m", 0.05, "").ui(ui),
                &|radius| Shape::Circle { x, y, radius },
            );
        }
        Shape::Box {
            x,
            y,
            heading,
            length,
            width,
        } => {
            let make = |x, y, heading, length, width| Shape::Box {
                x,
                y,
                heading,
                length,
                width,
            };
            add("x", row("x", x, EXTENT, "m", 0.1, "Centre.").ui(ui), &|v| {
                make(v, y, heading, length, width)
            });
            add("y", row("y", y, EXTENT, "m", 0.1, "Centre.").ui(ui), &|v| {
                make(x, v, heading, length, width)
            });
            let degrees = heading.to_degrees();
            let turn = row(
                "Heading",
                degrees,
                -360.0..=360.0,
                "°",
                1.0,
                "Of its length, counter-clockwise from east.",
            );
            add("Heading", turn.ui(ui), &|v| {
                make(x, y, v.to_radians(), length, width)
            });
            add(
                "Length",
                row("Length", length, 0.01..=1e4, "m", 0.1, "").ui(ui),
                &|v| make(x, y, heading, v, width),
            );
            add(
                "Width",
                row("Width", width, 0.01..=1e4, "m", 0.1, "").ui(ui),
                &|v| make(x, y, heading, length, v),
            );
        }
        Shape::Polygon { ref points } => {
            ui.label("Corners");
            ui.label(points.len().to_string());
            ui.end_row();
        }
    }
    rows
}

fn forest(ui: &mut Ui, id: ForestId, forest: &Forest, actions: &mut Vec<Action>) {
    heading(ui, &id.to_string());
    let edit = |forest: Forest| Edit::Forest(id, Some(Box::new(forest)));
    Grid::new("forest").num_columns(2).show(ui, |ui| {
        let rows = [
            row(
                "Density",
                forest.density,
                0.0..=1e5,
                "/ha",
                5.0,
                "Trees per hectare before the spacing thins them.",
            ),
            row(
                "Spacing",
                forest.spacing,
                0.2..=1e4,
                "m",
                0.1,
                "Least distance between trunks.",
            ),
            row(
                "Trunk radius",
                forest.trunk_radius,
                0.01..=10.0,
                "m",
                0.01,
                "",
            ),
            row(
                "Seed",
                forest.seed as f64,
                0.0..=9e15,
                "",
                1.0,
                "Which of the possible forests it is.",
            ),
        ];
        for (i, number) in rows.into_iter().enumerate() {
            let name = number.name;
            let (value, response) = number.ui(ui);
            let changed = || {
                let mut forest = forest.clone();
                match i {
                    0 => forest.density = value,
                    1 => forest.spacing = value,
                    2 => forest.trunk_radius = value,
                    _ => forest.seed = value as u64,
                }
                edit(forest)
            };
            change(&response, &format!("{name} of {id}"), changed, actions);
        }
        let area = roadwright_geometry::polygon::signed_area(&forest.area).abs();
        ui.label("Area");
        ui.label(format!("{:.2} ha", area / 1e4));
        ui.end_row();
    });
}

fn point_of_interest(
    ui: &mut Ui,
    id: PointOfInterestId,
    point: &PointOfInterest,
    actions: &mut Vec<Action>,
) {
    heading(ui, &id.to_string());
    let edit = |point: PointOfInterest| Edit::PointOfInterest(id, Some(Box::new(point)));
    Grid::new("point of interest")
        .num_columns(2)
        .show(ui, |ui| {
            let (name, response) = text(ui, "Name", &point.name, "what scripts call it");
            let named = || {
                edit(PointOfInterest {
                    name,
                    ..point.clone()
                })
            };
            change(&response, &format!("Name of {id}"), named, actions);
            let mut bay = point.heading.is_some();
            ui.label("Bay")
                .on_hover_text("Whether a vehicle stands here with a certain heading.");
            if ui.checkbox(&mut bay, "").changed() {
                let changed = PointOfInterest {
                    heading: bay.then_some(0.0),
                    ..point.clone()
                };
                actions.push(Action::Apply(format!("Bay at {id}"), edit(changed)));
            }
            ui.end_row();
            let mut rows = vec![
                row("x", point.x, EXTENT, "m", 0.1, "East of the origin."),
                row("y", point.y, EXTENT, "m", 0.1, "North of the origin."),
            ];
            let degrees = point.heading.map(f64::to_degrees);
            rows.extend(degrees.map(|heading| {
                let hint = "Where the nose points, counter-clockwise from east.";
                row("Heading", heading, -360.0..=360.0, "\u{b0}", 1.0, hint)
            }));
            for (i, number) in rows.into_iter().enumerate() {
                let name = number.name;
                let (value, response) = number.ui(ui);
                let changed = || {
                    let mut point = point.clone();
                    match i {
                        0 => point.x = value,
                        1 => point.y = value,
                        _ => point.heading = Some(value.to_radians()),
                    }
                    edit(point)
                };
                change(&response, &format!("{name} of {id}"), changed, actions);
            }
        });
    let call = if point.heading.is_some() {
        "park"
    } else {
        "go_to"
    };
    ui.add_space(4.0);
    ui.label(
        egui::RichText::new(format!("agent.{call}(agent.place(\"{}\"));", point.name)).monospace(),
    )
    .on_hover_text("How a script drives here.");
}

/// Keys with the names that are shown for them.
type Choices = Vec<(String, String)>;

/// Vehicle types and stacks to choose from.
fn kinds(model: &Model) -> (Choices, Choices) {
    let scenario = model.document.scenario();
    let types = scenario.vehicle_types().iter();
    let stacks = scenario.stacks().keys();
    (
        types.map(|(k, v)| (k.clone(), v.name.clone())).collect(),
        stacks.map(|k| (k.clone(), k.clone())).collect(),
    )
}

fn place_text(place: &Place) -> String {
    match place {
        Place::Lane(at) => format!("{}, lane {}, {:.1} m", at.road, at.lane, at.s),
        Place::Ground(at) => format!("ground at {:.1}, {:.1}", at.x, at.y),
    }
}

fn agent(ui: &mut Ui, model: &Model, id: AgentId, agent: &Agent, actions: &mut Vec<Action>) {
    heading(ui, &id.to_string());
    let edit = |agent: Agent| Edit::Agent(id, Some(Box::new(agent)));
    let (types, stacks) = kinds(model);
    Grid::new("agent").num_columns(2).show(ui, |ui| {
        let (name, response) = text(ui, "Name", &agent.name, "");
        let renamed = || {
            edit(Agent {
                name,
                ..agent.clone()
            })
        };
        change(&response, &format!("Name {id}"), renamed, actions);
        ui.label("Vehicle");
        if let Some(vehicle) = choice(ui, "Vehicle", &agent.vehicle, &types) {
            let changed = edit(Agent {
                vehicle,
                ..agent.clone()
            });
            actions.push(Action::Apply(format!("Vehicle of {id}"), changed));
        }
        ui.end_row();
        ui.label("Stack");
        if let Some(stack) = choice(ui, "Stack of agent", &agent.stack, &stacks) {
            let changed = edit(Agent {
                stack,
                ..agent.clone()
            });
            actions.push(Action::Apply(format!("Stack of {id}"), changed));
        }
        ui.end_row();
        if let Some(dynamics) = level(ui, model, agent.dynamics) {
            let changed = edit(Agent {
                dynamics,
                ..agent.clone()
            });
            actions.push(Action::Apply(format!("Dynamics of {id}"), changed));
        }
        let (depart, response) = row(
            "Departs at",
            agent.depart,
            0.0..=1e7,
            "s",
            0.5,
            "When it appears.",
        )
        .ui(ui);
        let later = || {
            edit(Agent {
                depart,
                ..agent.clone()
            })
        };
        change(&response, &format!("Departure of {id}"), later, actions);
        let (speed, response) = row(
            "Start speed",
            agent.speed,
            0.0..=150.0,
            "m/s",
            0.2,
            "When it appears.",
        )
        .ui(ui);
        let faster = || {
            edit(Agent {
                speed,
                ..agent.clone()
            })
        };
        change(&response, &format!("Start speed of {id}"), faster, actions);
        ui.label("Start");
        ui.label(place_text(&agent.start));
        ui.end_row();
        for via in &agent.via {
            ui.label("Via");
            ui.label(place_text(via));
            ui.end_row();
        }
        ui.label("Destination");
        match &agent.destination {
            Some(place) => ui.label(place_text(place)),
            None => ui.colored_label(
                model.theme().tone(crate::tools::Tone::Warning),
                "none: it will not drive",
            ),
        };
        ui.end_row();
        if let Place::Ground(ground) = agent.start {
            let degrees = ground.heading.to_degrees();
            let number = row(
                "Heading",
                degrees,
                -360.0..=360.0,
                "°",
                1.0,
                "Counter-clockwise from east.",
            );
            let (degrees, response) = number.ui(ui);
            let turned = || {
                let start = Place::ground(ground.x, ground.y, degrees.to_radians());
                edit(Agent {
                    start,
                    ..agent.clone()
                })
            };
            change(&response, &format!("Turn {id}"), turned, actions);
        }
    });
    ui.horizontal(|ui| {
        if agent.destination.is_some()
            && ui
                .button("Destination becomes way-point")
                .on_hover_text("Then drag out a new destination.")
                .clicked()
        {
            let mut changed = agent.clone();
            changed.via.extend(changed.destination);
            actions.push(Action::Apply(
                format!("Add way-point to {id}"),
                edit(changed),
            ));
        }
        if !agent.via.is_empty() && ui.button("Clear way-points").clicked() {
            let changed = Agent {
                via: Vec::new(),
                ..agent.clone()
            };
            actions.push(Action::Apply(
                format!("Clear way-points of {id}"),
                edit(changed),
            ));
        }
    });
}

/// The row for a level of dynamics; `None` unless another one was chosen.
fn level(ui: &mut Ui, model: &Model, own: Option<DynamicsLevel>) -> Option<Option<DynamicsLevel>> {
    ui.label("Dynamics")
        .on_hover_text("With which model the body moves.");
    let settings = level_title(model.document.scenario().settings().dynamics);
    let mut all = vec![(None, format!("As in settings: {settings}"))];
    all.extend(DynamicsLevel::ALL.map(|level| (Some(level), level_title(level).to_owned())));
    let chosen = choice(ui, "Dynamics", &own, &all);
    ui.end_row();
    chosen
}

fn flow(ui: &mut Ui, model: &Model, id: FlowId, flow: &Flow, actions: &mut Vec<Action>) {
    heading(ui, &id.to_string());
    let edit = |flow: Flow| Edit::Flow(id, Some(Box::new(flow)));
    let (types, stacks) = kinds(model);
    Grid::new("flow").num_columns(2).show(ui, |ui| {
        ui.label("Vehicle");
        if let Some(vehicle) = choice(ui, "Vehicle of flow", &flow.vehicle, &types) {
            let changed = edit(Flow {
                vehicle,
                ..flow.clone()
            });
            actions.push(Action::Apply(format!("Vehicle of {id}"), changed));
        }
        ui.end_row();
        ui.label("Stack");
        if let Some(stack) = choice(ui, "Stack of flow", &flow.stack, &stacks) {
            let changed = edit(Flow {
                stack,
                ..flow.clone()
            });
            actions.push(Action::Apply(format!("Stack of {id}"), changed));
        }
        ui.end_row();
        if let Some(dynamics) = level(ui, model, flow.dynamics) {
            let changed = edit(Flow {
                dynamics,
                ..flow.clone()
            });
            actions.push(Action::Apply(format!("Dynamics of {id}"), changed));
        }
        let rows = [
            row(
                "Rate",
                flow.rate_per_hour,
                0.0..=1e5,
                "/h",
                5.0,
                "Vehicles per hour, on average.",
            ),
            row(
                "From",
                flow.begin,
                0.0..=1e7,
                "s",
                1.0,
                "When the first may appear.",
            ),
            row(
                "Until",
                flow.end,
                0.0..=1e7,
                "s",
                1.0,
                "When the last may appear.",
            ),
        ];
        for (i, number) in rows.into_iter().enumerate() {
            let name = number.name;
            let (value, response) = number.ui(ui);
            let changed = || {
                let mut flow = flow.clone();
                match i {
                    0 => flow.rate_per_hour = value,
                    1 => flow.begin = value,
                    _ => flow.end = value,
                }
                edit(flow)
            };
            change(&response, &format!("{name} of {id}"), changed, actions);
        }
        ui.label("Origin");
        ui.label(place_text(&flow.origin));
        ui.end_row();
        ui.label("Destination");
        ui.label(place_text(&flow.destination));
        ui.end_row();
    });
}
