//! The description and settings of the scenario, and lists of its objects.

use super::PanelFrame;
use super::property::{Choice, Property, Subject, TextProperty};
use super::widgets::heading;
use super::{groups, kinds};
use crate::model::{Action, Model};
use crate::object_menu;
use egui::{Grid, Ui};
use roadwright_scenario::operation::Objects;
use roadwright_scenario::{About, DrivingSide, DynamicsLevel, Edit, ObjectId, Settings};
use std::ops::RangeInclusive;

/// Maximum number of objects of a kind listed.
const MOST: usize = 200;

pub(super) fn ui(ui: &mut Ui, frame: PanelFrame<'_>) {
    let PanelFrame {
        model,
        memory,
        actions,
    } = frame;
    let filter = &mut memory.objects_filter;
    about(ui, model, actions);
    settings(ui, model, actions);
    heading(ui, "Objects");
    let edit = egui::TextEdit::singleline(filter)
        .hint_text("filter by name or number")
        .desired_width(f32::INFINITY);
    let response = ui.add(edit);
    response
        .widget_info(|| egui::WidgetInfo::labeled(egui::Role::TextInput, true, "Filter objects"));
    lists(ui, model, filter, actions);
    kinds::ui(ui, model, actions);
}

/// History label shared by all fields, so that filling in several of them is a single step.
const ABOUT_LABEL: &str = "Describe scenario";

const ABOUT: [TextProperty<About>; 4] = [
    TextProperty {
        name: "Name",
        label: ABOUT_LABEL,
        hint: "",
        wraps: false,
        get: |about| &about.name,
        set: |about, name| about.name = name,
    },
    TextProperty {
        name: "Description",
        label: ABOUT_LABEL,
        hint: "",
        wraps: true,
        get: |about| &about.description,
        set: |about, description| about.description = description,
    },
    TextProperty {
        name: "Attribution",
        label: ABOUT_LABEL,
        hint: "Source of the data.",
        wraps: true,
        get: |about| &about.attribution,
        set: |about, attribution| about.attribution = attribution,
    },
    TextProperty {
        name: "Country",
        label: ABOUT_LABEL,
        hint: "Country code, such as US.",
        wraps: false,
        get: |about| &about.country,
        // Files contain two capital letters.
        set: |about, country| about.country = country.trim().to_uppercase(),
    },
];

const SIDE: Choice<About, DrivingSide> = Choice {
    title: "Driving side",
    name: "Driving side",
    label: "Change driving side",
    hint: "",
    get: |about| &about.driving_side,
    set: |about, side| about.driving_side = side,
};

fn about(ui: &mut Ui, model: &Model, actions: &mut Vec<Action>) {
    heading(ui, "About");
    let mut subject = Subject {
        name: String::new(),
        object: model.document.scenario().about(),
        edit: &|about| Edit::About(Box::new(about)),
        actions,
    };
    Grid::new("about").num_columns(2).show(ui, |ui| {
        subject.texts(ui, &ABOUT);
        let sides = [
            (DrivingSide::Right, "right".to_owned()),
            (DrivingSide::Left, "left".to_owned()),
        ];
        subject.choose(ui, &SIDE, &sides);
    });
}

const SETTINGS: [Property<Settings>; 4] = [
    Property {
        name: "Time step",
        label: "Change time step",
        unit: "s",
        range: 1e-4..=1.0,
        step: 0.001,
        hint: "Simulated time per step.",
        get: |settings| Some(settings.dt.get()),
        set: |settings, dt| settings.dt = dt.into(),
    },
    Property {
        name: "Duration",
        label: "Change duration",
        unit: "s",
        range: 0.0..=1e7,
        step: 1.0,
        hint: "Simulated time of a run.",
        get: |settings| Some(settings.duration.get()),
        set: |settings, duration| settings.duration = duration.into(),
    },
    Property {
        name: "Seed",
        label: "Change seed",
        unit: "",
        // Beyond 2^53 a double cannot represent every integer.
        range: 0.0..=9e15,
        step: 1.0,
        hint: "Seed of the random numbers of the run.",
        get: |settings| Some(settings.seed as f64),
        set: |settings, seed| settings.seed = seed as u64,
    },
    Property {
        name: "Time of day",
        label: "Change time of day",
        unit: "h",
        range: 0.0..=23.999,
        step: 0.05,
        hint: "Time of day at the start of a run, for scripts.",
        get: |settings| Some(settings.time_of_day.get()),
        set: |settings, time| settings.time_of_day = time.into(),
    },
];

const DYNAMICS: Choice<Settings, DynamicsLevel> = Choice {
    title: "Dynamics",
    name: "Dynamics",
    label: "Change dynamics",
    hint: "Default vehicle dynamics for agents and flows.",
    get: |settings| &settings.dynamics,
    set: |settings, level| settings.dynamics = level,
};

/// Range of grip allowed in files.
const GRIP_RANGE: RangeInclusive<f64> = 0.01..=1.5;

/// Grip on each kind of ground, as a share of the tyre friction on dry asphalt.
const GRIP: [Property<Settings>; 8] = [
    Property {
        name: "Grip: open ground",
        label: "Change {name}",
        unit: "",
        range: GRIP_RANGE,
        step: 0.01,
        hint: "Grip off the roads, relative to dry asphalt: for example grass 0.6, sand 0.5, snow 0.3, ice 0.15.",
        get: |settings| Some(settings.grip.open_ground.get()),
        set: |settings, grip| settings.grip.open_ground = grip.into(),
    },
    Property {
        name: "Grip: footways",
        label: "Change {name}",
        unit: "",
        range: GRIP_RANGE,
        step: 0.01,
        hint: "Grip on footways.",
        get: |settings| Some(settings.grip.path.get()),
        set: |settings, grip| settings.grip.path = grip.into(),
    },
    Property {
        name: "Grip: service roads",
        label: "Change {name}",
        unit: "",
        range: GRIP_RANGE,
        step: 0.01,
        hint: "Grip on service roads, for example 0.7 for gravel.",
        get: |settings| Some(settings.grip.service.get()),
        set: |settings, grip| settings.grip.service = grip.into(),
    },
    Property {
        name: "Grip: residential streets",
        label: "Change {name}",
        unit: "",
        range: GRIP_RANGE,
        step: 0.01,
        hint: "Grip on residential streets, for example 0.7 for wet asphalt.",
        get: |settings| Some(settings.grip.residential.get()),
        set: |settings, grip| settings.grip.residential = grip.into(),
    },
    Property {
        name: "Grip: collector roads",
        label: "Change {name}",
        unit: "",
        range: GRIP_RANGE,
        step: 0.01,
        hint: "Grip on collector roads.",
        get: |settings| Some(settings.grip.collector.get()),
        set: |settings, grip| settings.grip.collector = grip.into(),
    },
    Property {
        name: "Grip: arterial roads",
        label: "Change {name}",
        unit: "",
        range: GRIP_RANGE,
        step: 0.01,
        hint: "Grip on arterial roads.",
        get: |settings| Some(settings.grip.arterial.get()),
        set: |settings, grip| settings.grip.arterial = grip.into(),
    },
    Property {
        name: "Grip: slip roads",
        label: "Change {name}",
        unit: "",
        range: GRIP_RANGE,
        step: 0.01,
        hint: "Grip on slip roads.",
        get: |settings| Some(settings.grip.ramp.get()),
        set: |settings, grip| settings.grip.ramp = grip.into(),
    },
    Property {
        name: "Grip: motorways",
        label: "Change {name}",
        unit: "",
        range: GRIP_RANGE,
        step: 0.01,
        hint: "Grip on motorways.",
        get: |settings| Some(settings.grip.motorway.get()),
        set: |settings, grip| settings.grip.motorway = grip.into(),
    },
];

const SEES_GRIP: Choice<Settings, bool> = Choice {
    title: "Drivers",
    name: "Drivers and grip",
    label: "Change grip perception",
    hint: "Whether drivers adapt their speed to the grip ahead, or drive as if on dry asphalt \
           (black ice).",
    get: |settings| &settings.grip.hidden,
    set: |settings, hidden| settings.grip.hidden = hidden,
};

const SLOPES: Choice<Settings, bool> = Choice {
    title: "Slopes",
    name: "Slopes",
    label: "Change slopes",
    hint: "Whether slopes of the terrain affect vehicles at all levels of dynamics.",
    get: |settings| &settings.slopes,
    set: |settings, slopes| settings.slopes = slopes,
};

fn settings(ui: &mut Ui, model: &Model, actions: &mut Vec<Action>) {
    heading(ui, "Simulation");
    let mut subject = Subject {
        name: String::new(),
        object: &model.document.scenario().settings(),
        edit: &Edit::Settings,
        actions,
    };
    Grid::new("settings").num_columns(2).show(ui, |ui| {
        subject.numbers(ui, &SETTINGS);
        let levels =
            DynamicsLevel::FOR_VEHICLES.map(|level| (level, level.traits().title.to_owned()));
        subject.choose(ui, &DYNAMICS, &levels);
    });
    egui::CollapsingHeader::new("Grip of the ground").show(ui, |ui| {
        Grid::new("grip").num_columns(2).show(ui, |ui| {
            subject.numbers(ui, &GRIP);
            let seen = [
                (false, "see the grip".to_owned()),
                (true, "ignore the grip".to_owned()),
            ];
            subject.choose(ui, &SEES_GRIP, &seen);
            let slopes = [
                (true, "affect all vehicles".to_owned()),
                (false, "rigid bodies only".to_owned()),
            ];
            subject.choose(ui, &SLOPES, &slopes);
        });
    });
}

fn lists(ui: &mut Ui, model: &Model, filter: &str, actions: &mut Vec<Action>) {
    let scenario = model.document.scenario();
    let roads: Vec<(ObjectId, String)> = scenario
        .network()
        .roads()
        .map(|(id, road)| (ObjectId::Road(id), road.name.clone()))
        .collect();
    let agents = scenario.agents().iter();
    let agents = agents.map(|(id, agent)| {
        (
            ObjectId::Agent(*id),
            format!("{} {}", agent.vehicle, agent.name),
        )
    });
    let flows = scenario.flows().iter();
    let flows =
        flows.map(|(id, flow)| (ObjectId::Flow(*id), format!("{:.0}/h", flow.rate_per_hour)));
    let obstacles = scenario.obstacles().iter();
    let obstacles = obstacles.map(|(id, o)| (ObjectId::Obstacle(*id), o.name.clone()));
    let forests = scenario.forests().keys();
    let forests = forests.map(|id| (ObjectId::Forest(*id), String::new()));
    let land = scenario.land().iter();
    let land = land.map(|(id, land)| {
        let text = format!("{} {}", land.usage.name(), land.name);
        (ObjectId::Land(*id), text)
    });
    let points = scenario.points_of_interest().iter();
    let points = points.map(|(id, point)| (ObjectId::PointOfInterest(*id), point.name.clone()));
    groups::ui(ui, model, filter, actions);
    list(ui, model, "Roads", filter, roads, actions);
    list(ui, model, "Agents", filter, agents.collect(), actions);
    list(ui, model, "Flows", filter, flows.collect(), actions);
    list(ui, model, "Obstacles", filter, obstacles.collect(), actions);
    list(ui, model, "Forests", filter, forests.collect(), actions);
    list(ui, model, "Land", filter, land.collect(), actions);
    let title = "Points of interest";
    list(ui, model, title, filter, points.collect(), actions);
}

fn list(
    ui: &mut Ui,
    model: &Model,
    title: &str,
    filter: &str,
    all: Vec<(ObjectId, String)>,
    actions: &mut Vec<Action>,
) {
    if all.is_empty() {
        return;
    }
    let filter = filter.to_lowercase();
    let fits = |(id, name): &&(ObjectId, String)| {
        filter.is_empty() || format!("{id} {name}").to_lowercase().contains(&filter)
    };
    // All matches are counted although only some are listed, because the title shows their number.
    let count = all.iter().filter(fits).count();
    let is_hidden = |id: ObjectId| {
        let options = &model.settings.tools;
        options.is_hidden(model.document.scenario(), id)
    };
    let is_all_hidden =
        !model.settings.tools.hidden.is_empty() && all.iter().all(|(id, _)| is_hidden(*id));
    let note = if is_all_hidden { ", hidden" } else { "" };
    egui::CollapsingHeader::new(format!("{title} ({count}){note}"))
        .id_salt(title)
        .show(ui, |ui| {
            for (id, name) in all.iter().filter(fits).take(MOST) {
                let text = if is_hidden(*id) && !is_all_hidden {
                    format!("{id}  {name} (hidden)")
                } else {
                    format!("{id}  {name}")
                };
                let row = ui.selectable_label(model.selection.contains(id), text);
                // A right click on part of a selection applies to all of it.
                if row.secondary_clicked() && !model.selection.contains(id) {
                    actions.push(Action::Select(Objects::from([*id])));
                }
                row.context_menu(|ui| object_menu::in_list(ui, model, actions));
                if row.clicked() {
                    actions.push(Action::Select(Objects::from([*id])));
                    if let Some((low, high)) = model.scene.bounds_of(*id) {
                        actions.push(Action::Jump(low, high));
                    }
                }
            }
            if count > MOST {
                ui.label(format!("and {} more (use the filter)", count - MOST));
            }
        });
}
