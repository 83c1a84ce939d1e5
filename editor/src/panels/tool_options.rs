//! Options of the current tool.

use super::section_band::{self, BandLane};
use super::widgets::{choice, counted, named};
use crate::model::{Action, Dialog, Model, Purpose};
use crate::theme::Theme;
use crate::tools::{
    BayKind, BayOptions, LAYERS, ObstacleKind, PaintShape, RandomTripOptions, RoadPreset,
    StackChoice, TerrainMode, ToolKind, ToolOptions, new_paint_layer,
};
use egui::{ComboBox, DragValue, Response, Role, Slider, Ui, WidgetInfo};
use roadwright_scenario::{CrossSection, Edit, LandUse, Lane, LaneType, ObjectId, PaintId, Poly3};
use roadwright_simulation::PopulateFrom;

pub(super) fn ui(ui: &mut Ui, model: &Model, actions: &mut Vec<Action>) {
    let mut options = model.settings.tools.clone();
    ui.horizontal(|ui| {
        ui.set_min_height(26.0);
        // Otherwise a double-click on a name would select it as text.
        ui.style_mut().interaction.selectable_labels = false;
        ui.strong(model.tool.name());
        ui.separator();
        match model.tool {
            ToolKind::Select => select(ui, model),
            ToolKind::Road => road(ui, model, &mut options),
            ToolKind::Roundabout => layer(ui, &mut options),
            ToolKind::Obstacle => obstacle(ui, &mut options),
            ToolKind::Forest => forest(ui, &mut options),
            ToolKind::Paint => paint(ui, model, &mut options, actions),
            ToolKind::Land => {
                for usage in LandUse::ALL {
                    ui.selectable_value(&mut options.land, usage, usage.name());
                }
            }
            ToolKind::Place => bays(ui, &mut options.bays),
            ToolKind::Terrain => {
                terrain(ui, &mut options);
                if model.document.scenario().terrain().is_some()
                    && ui.button("Remove terrain").clicked()
                {
                    let edit = roadwright_scenario::Edit::Terrain(None);
                    actions.push(Action::Apply("Remove terrain".into(), edit));
                }
            }
            ToolKind::Vehicle => {
                agents(ui, model, &mut options);
                ui.separator();
                random_trips(ui, &mut options.random, actions);
            }
            ToolKind::Flow => {
                agents(ui, model, &mut options);
                drag(
                    ui,
                    "Vehicles per hour",
                    &mut options.rate_per_hour,
                    0.0..=10000.0,
                    5.0,
                );
            }
            ToolKind::Measure => {
                ui.label("Distances and angles between the points you click.");
            }
            ToolKind::Overlay => background(ui, model, actions),
        }
        if matches!(
            model.tool,
            ToolKind::Road | ToolKind::Roundabout | ToolKind::Measure | ToolKind::Obstacle
        ) {
            ui.separator();
            snapping(ui, &mut options);
        }
    });
    // Widgets change a copy; only differences are sent.
    if options != model.settings.tools {
        let mut settings = model.settings.clone();
        settings.tools = options;
        actions.push(Action::Settings(Box::new(settings)));
    }
}

fn drag(ui: &mut Ui, name: &str, value: &mut f64, range: std::ops::RangeInclusive<f64>, step: f64) {
    ui.label(name);
    let response = ui.add(
        DragValue::new(value)
            .range(range)
            .speed(step)
            .max_decimals(2),
    );
    named(&response, name);
}

/// Shows how many objects are selected. Their commands are in the bar beside the selection.
fn select(ui: &mut Ui, model: &Model) {
    ui.label(match model.selection.len() {
        0 => "Nothing is selected.".to_owned(),
        count => format!("{} selected.", counted(count, "object")),
    });
}

/// Shows the choice of bays that a drag of the place tool draws.
fn bays(ui: &mut Ui, bays: &mut BayOptions) {
    for kind in BayKind::ALL {
        ui.selectable_value(&mut bays.kind, kind, kind.name());
    }
    match bays.kind {
        BayKind::Single => {
            ui.label("Scripts refer to a place by its name.");
        }
        BayKind::Parallel => drag(ui, "Length (m)", &mut bays.length, 5.0..=30.0, 0.1),
        BayKind::Perpendicular => drag(ui, "Width (m)", &mut bays.width, 2.3..=10.0, 0.05),
        BayKind::Angled => {
            drag(ui, "Width (m)", &mut bays.width, 2.3..=10.0, 0.05);
            drag(ui, "Angle (°)", &mut bays.angle_deg, 20.0..=80.0, 1.0);
        }
    }
}

fn road(ui: &mut Ui, model: &Model, options: &mut ToolOptions) {
    preset_choice(ui, model.theme(), options);
    let chosen = options.chosen();
    ui.label(format!("{:.0} km/h", chosen.speed_limit * 3.6));
    if let Some(ObjectId::Road(id)) = model.single()
        && ui
            .button("Save as preset")
            .on_hover_text("Add the cross-section of the selected road to the list.")
            .clicked()
    {
        keep_preset(model, id, options);
    }
    if options.presets.len() > 1
        && ui
            .small_button("Forget preset")
            .on_hover_text("Remove the selected cross-section from the list.")
            .clicked()
    {
        let at = options.preset.min(options.presets.len() - 1);
        options.presets.remove(at);
        // The selected preset was removed, so its index may no longer exist.
        options.preset = 0;
    }
    ui.separator();
    drag(
        ui,
        "Corner radius, m",
        &mut options.corner_radius,
        2.0..=1000.0,
        0.5,
    );
    layer(ui, options);
}

/// Shows the list of presets, each with its cross-section as a small drawing.
fn preset_choice(ui: &mut Ui, theme: Theme, options: &mut ToolOptions) {
    let chosen = options.chosen();
    section_picture(ui, theme, &chosen.section);
    let mut picked = None;
    let combo = egui::ComboBox::from_id_salt("Cross-section")
        .selected_text(&chosen.name)
        .width(170.0)
        .height(PRESET_LIST_HEIGHT)
        .show_ui(ui, |ui| {
            for (index, preset) in options.presets.iter().enumerate() {
                ui.horizontal(|ui| {
                    let picture = section_picture(ui, theme, &preset.section);
                    let row = ui.selectable_label(index == options.preset, &preset.name);
                    if row.clicked() || picture.clicked() {
                        picked = Some(index);
                        ui.close();
                    }
                });
            }
        });
    let name = format!("Cross-section: {}", chosen.name);
    combo
        .response
        .widget_info(|| WidgetInfo::labeled(Role::ComboBox, true, &name));
    if let Some(picked) = picked {
        options.preset = picked;
    }
}

/// Maximum height of the list of presets, points.
const PRESET_LIST_HEIGHT: f32 = 420.0;
/// Size of the drawing of a cross-section, points.
const SECTION_SIZE: egui::Vec2 = egui::vec2(76.0, 18.0);
/// Scale of the drawing of a cross-section, points per metre. Wide roads are drawn smaller.
const SECTION_SCALE: f32 = 4.0;

/// Draws a cross-section seen from above in the direction of the road, with the lanes of the
/// opposite direction on the left.
fn section_picture(ui: &mut Ui, theme: Theme, section: &CrossSection) -> Response {
    let (rect, response) = ui.allocate_exact_size(SECTION_SIZE, egui::Sense::click());
    let backward = section.backward.iter().rev().map(|lane| (lane, false));
    let forward = section.forward.iter().map(|lane| (lane, true));
    let band = |((kind, width), is_forward): (&(LaneType, f64), bool)| BandLane {
        kind: *kind,
        width: *width as f32,
        is_forward,
    };
    let lanes: Vec<BandLane> = backward.chain(forward).map(band).collect();
    let places = section_band::places(&lanes, rect, SECTION_SCALE);
    section_band::paint(ui, theme, &lanes, &places);
    response
}

fn layer(ui: &mut Ui, options: &mut ToolOptions) {
    ui.label("Layer");
    let shown = options
        .layer
        .map_or_else(|| "automatic".to_owned(), |layer| layer.to_string());
    let choice = ComboBox::from_id_salt("layer")
        .selected_text(shown)
        .width(90.0);
    let response = choice.show_ui(ui, |ui| {
        ui.selectable_value(&mut options.layer, None, "automatic");
        for layer in LAYERS.rev() {
            ui.selectable_value(&mut options.layer, Some(layer), layer.to_string());
        }
    });
    let hint = "Layer of the next stroke. Automatic: the layer of the road where the stroke \
                begins, otherwise 0. Page Up and Page Down change it while you draw.";
    named(&response.response.on_hover_text(hint), "Layer");
}

/// Adds the lanes of a road to the presets.
fn keep_preset(model: &Model, id: roadwright_scenario::RoadId, options: &mut ToolOptions) {
    let scenario = model.document.scenario();
    let Some(road) = scenario.network().road(id) else {
        return;
    };
    let side = scenario.about().driving_side;
    let mut lanes: Vec<_> = road.section_at(0.0).lanes.iter().collect();
    // Ids count outwards from the reference line on both sides.
    lanes.sort_by_key(|lane| lane.id.abs());
    // Lanes driven along the road come first, from the middle outwards, then those against it.
    let right_first = side == roadwright_scenario::DrivingSide::Right;
    let (along, against): (Vec<_>, Vec<_>) = lanes
        .into_iter()
        .partition(|lane| (lane.id < 0) == right_first);
    let widths = |lanes: Vec<&Lane>| -> Vec<_> {
        let lanes = lanes.into_iter();
        lanes
            .map(|lane| (lane.kind, Poly3::value_in(&lane.width, 0.0)))
            .collect()
    };
    let name = if road.name.is_empty() {
        format!("Same as {id}")
    } else {
        format!("Same as {}", road.name)
    };
    options.presets.push(RoadPreset {
        name,
        class: road.class,
        speed_limit: road.speed_limit.get(),
        section: roadwright_scenario::CrossSection {
            forward: widths(along),
            backward: widths(against),
        },
    });
    // The new preset is selected immediately.
    options.preset = options.presets.len() - 1;
}

fn snapping(ui: &mut Ui, options: &mut ToolOptions) {
    ui.label("Snap to");
    let snap = &mut options.snap;
    ui.toggle_value(&mut snap.nodes, "ends");
    ui.toggle_value(&mut snap.roads, "roads");
    ui.toggle_value(&mut snap.angles, "angles");
    ui.toggle_value(&mut snap.grid, "grid");
}

fn obstacle(ui: &mut Ui, options: &mut ToolOptions) {
    let obstacle = &mut options.obstacle;
    for (kind, name) in [
        (ObstacleKind::Box, "Box"),
        (ObstacleKind::Circle, "Circle"),
        (ObstacleKind::Polygon, "Polygon"),
    ] {
        ui.selectable_value(&mut obstacle.kind, kind, name);
    }
    ui.separator();
    drag(ui, "Height, m", &mut obstacle.height, 0.1..=500.0, 0.1);
    ui.checkbox(&mut obstacle.loose, "can be pushed");
    if obstacle.loose {
        drag(ui, "Mass, kg", &mut obstacle.mass, 0.1..=1e5, 1.0);
    }
}

fn forest(ui: &mut Ui, options: &mut ToolOptions) {
    let forest = &mut options.forest;
    ui.selectable_value(&mut forest.erase, false, "Paint");
    ui.selectable_value(&mut forest.erase, true, "Erase");
    ui.separator();
    slider(ui, "Brush, m", &mut forest.radius, 1.0..=200.0);
    drag(
        ui,
        "Trees per hectare",
        &mut forest.density,
        1.0..=5000.0,
        5.0,
    );
    drag(ui, "Spacing, m", &mut forest.spacing, 0.5..=50.0, 0.1);
    // The field holds a real number, which is exact for integers up to a million.
    let mut seed = forest.seed as f64;
    drag(ui, "Seed", &mut seed, 0.0..=1e6, 0.2);
    forest.seed = seed.max(0.0) as u64;
}

/// Shows the brush settings and the layer to paint on. Costs are in the inspector.
fn paint(ui: &mut Ui, model: &Model, options: &mut ToolOptions, actions: &mut Vec<Action>) {
    let scenario = model.document.scenario();
    let brush = &mut options.paint;
    ui.selectable_value(&mut brush.erase, false, "Paint");
    ui.selectable_value(&mut brush.erase, true, "Erase");
    ui.separator();
    ui.selectable_value(&mut brush.shape, PaintShape::Brush, "With brush");
    ui.selectable_value(&mut brush.shape, PaintShape::Outline, "By outline");
    ui.separator();
    if brush.shape == PaintShape::Brush {
        slider(ui, "Brush, m", &mut brush.radius, 0.5..=200.0);
        ui.separator();
    }
    let names: Vec<(PaintId, String)> = scenario
        .paint()
        .iter()
        .map(|(&id, layer)| (id, layer.name.clone()))
        .collect();
    if let Some(shown) = brush.chosen(scenario)
        && let Some(chosen) = choice(ui, "Painted layer", &shown, &names)
    {
        brush.layer = Some(chosen);
    }
    let hint = "Add a layer with its own costs.";
    if ui.button("New layer").on_hover_text(hint).clicked() {
        let (id, layer) = (scenario.next_paint_id(), new_paint_layer(scenario));
        let edit = Edit::Paint(id, Some(Box::new(layer)));
        actions.push(Action::Apply("New painted layer".into(), edit));
        (brush.layer, brush.erase) = (Some(id), false);
    }
    ui.label("Set the costs in the Inspector.");
}

fn slider(ui: &mut Ui, name: &str, value: &mut f64, range: std::ops::RangeInclusive<f64>) {
    ui.label(name);
    let response = ui.add(Slider::new(value, range).logarithmic(true).max_decimals(2));
    named(&response, name);
}

fn terrain(ui: &mut Ui, options: &mut ToolOptions) {
    let terrain = &mut options.terrain;
    for (mode, name) in [
        (TerrainMode::Raise, "Raise"),
        (TerrainMode::Lower, "Lower"),
        (TerrainMode::Smooth, "Smooth"),
        (TerrainMode::Flatten, "Flatten"),
    ] {
        ui.selectable_value(&mut terrain.mode, mode, name);
    }
    ui.separator();
    slider(ui, "Brush, m", &mut terrain.radius, 2.0..=500.0);
    slider(ui, "Strength", &mut terrain.strength, 0.05..=10.0);
    ui.label("Falloff");
    let response = ui.add(Slider::new(&mut terrain.falloff, 0.0..=1.0).max_decimals(2));
    named(&response, "Falloff");
}

fn agents(ui: &mut Ui, model: &Model, options: &mut ToolOptions) {
    let scenario = model.document.scenario();
    let types = super::kinds::vehicle_types(scenario);
    let automatic = (StackChoice::Automatic, "automatic".to_owned());
    let stacks = super::kinds::stacks(scenario).into_iter();
    let stacks = stacks.map(|(key, name)| (StackChoice::Chosen(key), name));
    let stacks: Vec<_> = std::iter::once(automatic).chain(stacks).collect();
    ui.label("Vehicle");
    if let Some(chosen) = choice(ui, "Vehicle type", &options.vehicle, &types) {
        options.vehicle = chosen;
    }
    ui.label("Stack");
    if let Some(chosen) = choice(ui, "Stack", &options.stack, &stacks) {
        options.stack = chosen;
    }
}

/// Shows the options of random trips, and the button that adds them.
fn random_trips(ui: &mut Ui, options: &mut RandomTripOptions, actions: &mut Vec<Action>) {
    ui.label("Random trips");
    let count = DragValue::new(&mut options.count)
        .range(1..=2000)
        .speed(0.2);
    named(&ui.add(count), "Random trips");
    let name = |from: PopulateFrom| match from {
        PopulateFrom::Both => "through and internal",
        PopulateFrom::Inside => "inside",
        PopulateFrom::Edges => "through",
    };
    egui::ComboBox::from_id_salt("random trips")
        .selected_text(name(options.from))
        .show_ui(ui, |ui| {
            for from in [
                PopulateFrom::Both,
                PopulateFrom::Inside,
                PopulateFrom::Edges,
            ] {
                ui.selectable_value(&mut options.from, from, name(from));
            }
        });
    let hint = "Each vehicle restarts five seconds after arrival.";
    ui.checkbox(&mut options.repeats, "repeat")
        .on_hover_text(hint);
    let hint = "Add vehicles of this type and stack with random trips.";
    if ui.button("Add").on_hover_text(hint).clicked() {
        actions.push(Action::AddRandomTrips);
    }
}

fn background(ui: &mut Ui, model: &Model, actions: &mut Vec<Action>) {
    if ui.button("Choose picture…").clicked() {
        actions.push(Action::Show(Dialog::Path {
            purpose: Purpose::Background,
            text: String::new(),
            then: None,
        }));
    }
    let Some(background) = &model.background else {
        ui.label("A picture (PNG, JPEG) to trace over.");
        return;
    };
    ui.label("Opacity");
    let mut opacity = background.opacity;
    let response = ui.add(Slider::new(&mut opacity, 0.05..=1.0).max_decimals(2));
    named(&response, "Opacity");
    if response.changed() {
        actions.push(Action::FadeBackground(opacity));
    }
    let width = background.size().x;
    // Shown as a width but applied as a factor, so that the picture keeps its proportions.
    let mut wanted = width;
    drag(ui, "Width, m", &mut wanted, 1.0..=1e6, 1.0);
    // The size is stored in metres per pixel, so the width has a rounding error.
    if (wanted - width).abs() > 1e-9 {
        actions.push(Action::ScaleBackground(wanted / width));
    }
    if ui.button("Remove picture").clicked() {
        actions.push(Action::DropBackground);
    }
}
