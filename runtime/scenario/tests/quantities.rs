//! Checks, key by key, that edits, files and the schema reject numbers that are out of range.

use roadwright_geometry::DVec2;
use roadwright_scenario::{
    About, Agent, AgentId, Edit, Flow, FlowId, Forest, ForestId, GeoOrigin, Land, LandId, LandUse,
    MAX_LAND_CORNERS, Node, NodeId, Obstacle, ObstacleId, Place, PointOfInterest,
    PointOfInterestId, Scenario, Settings, Shape, Stack, VehicleType, file,
};
use serde_json::Value;

/// The key that the message has to name, and an edit with one invalid number.
type Wrong = (&'static str, Edit);

fn vehicle(change: fn(&mut VehicleType)) -> Edit {
    let mut vehicle = VehicleType::car();
    change(&mut vehicle);
    Edit::VehicleType("car".into(), Some(Box::new(vehicle)))
}

fn agent(change: fn(&mut Agent)) -> Edit {
    let mut agent = Agent {
        name: String::new(),
        vehicle: "car".into(),
        stack: "idm".into(),
        dynamics: None,
        start: Place::ground(0.0, 0.0, 0.0),
        via: Vec::new(),
        destination: None,
        depart: 0.0.into(),
        repeat: None.into(),
        speed: 0.0.into(),
    };
    change(&mut agent);
    Edit::Agent(AgentId(1), Some(Box::new(agent)))
}

fn flow(change: fn(&mut Flow)) -> Edit {
    let mut flow = Flow {
        vehicle: "car".into(),
        stack: "idm".into(),
        dynamics: None,
        origin: Place::ground(0.0, 0.0, 0.0),
        destination: Place::ground(9.0, 0.0, 0.0),
        rate_per_hour: 60.0.into(),
        begin: 0.0.into(),
        end: 60.0.into(),
    };
    change(&mut flow);
    Edit::Flow(FlowId(1), Some(Box::new(flow)))
}

fn forest(change: fn(&mut Forest)) -> Edit {
    let mut forest = Forest {
        area: vec![DVec2::ZERO, DVec2::X, DVec2::Y].into(),
        density: 100.0.into(),
        spacing: 2.0.into(),
        trunk_radius: 0.2.into(),
        seed: 0,
    };
    change(&mut forest);
    Edit::Forest(ForestId(1), Some(Box::new(forest)))
}

fn land(change: fn(&mut Land)) -> Edit {
    let mut land = Land {
        name: "pond".into(),
        usage: LandUse::Water,
        outline: vec![DVec2::ZERO, DVec2::X, DVec2::Y].into(),
        holes: vec![vec![DVec2::ZERO, DVec2::X, DVec2::Y]].into(),
    };
    change(&mut land);
    Edit::Land(LandId(1), Some(Box::new(land)))
}

fn obstacle(change: fn(&mut Obstacle)) -> Edit {
    let mut obstacle = Obstacle {
        name: String::new(),
        shape: Shape::Circle {
            x: 0.0.into(),
            y: 0.0.into(),
            radius: 1.0.into(),
        },
        base: 0.0.into(),
        height: 1.0.into(),
        mass: None.into(),
    };
    change(&mut obstacle);
    Edit::Obstacle(ObstacleId(1), Some(Box::new(obstacle)))
}

fn point(change: fn(&mut PointOfInterest)) -> Edit {
    let mut point = PointOfInterest {
        name: "bay".into(),
        x: 0.0.into(),
        y: 0.0.into(),
        heading: None.into(),
    };
    change(&mut point);
    Edit::PointOfInterest(PointOfInterestId(1), Some(Box::new(point)))
}

fn settings(change: fn(&mut Settings)) -> Edit {
    let mut settings = Settings::default();
    change(&mut settings);
    Edit::Settings(settings)
}

fn origin(latitude_deg: f64, longitude_deg: f64) -> Edit {
    Edit::About(Box::new(About {
        origin: Some(GeoOrigin {
            latitude_deg: latitude_deg.into(),
            longitude_deg: longitude_deg.into(),
        }),
        ..About::default()
    }))
}

/// Returns invalid values for each number in the schema, grouped by the definition that contains
/// the number.
fn wrong_numbers() -> Vec<(&'static str, Vec<Wrong>)> {
    let node = |x, y| Edit::Node(NodeId(1), Some(Node::at(DVec2::new(x, y))));
    let nan = f64::NAN;
    vec![
        (
            "VehicleType",
            vec![
                ("length", vehicle(|v| v.length = 0.0.into())),
                ("width", vehicle(|v| v.width = (-1.0).into())),
                ("height", vehicle(|v| v.height = 1e5.into())),
                ("wheelbase", vehicle(|v| v.wheelbase = 0.0.into())),
                (
                    "rear_overhang",
                    vehicle(|v| v.rear_overhang = f64::NAN.into()),
                ),
                ("mass", vehicle(|v| v.mass = 2e6.into())),
                ("max_speed", vehicle(|v| v.max_speed = 1e9.into())),
                (
                    "max_acceleration",
                    vehicle(|v| v.max_acceleration = 0.0.into()),
                ),
                ("max_braking", vehicle(|v| v.max_braking = (-8.0).into())),
                ("max_steering", vehicle(|v| v.max_steering = 3.0.into())),
                ("steering_rate", vehicle(|v| v.steering_rate = 51.0.into())),
            ],
        ),
        ("Node", vec![("x", node(nan, 0.0)), ("y", node(0.0, 1e9))]),
        (
            "Agent",
            vec![
                ("depart", agent(|a| a.depart = (-1.0).into())),
                ("repeat", agent(|a| a.repeat = Some(-1.0).into())),
                ("speed", agent(|a| a.speed = 151.0.into())),
            ],
        ),
        (
            "GroundPlace",
            vec![
                ("x", agent(|a| a.start = Place::ground(1e12, 0.0, 0.0))),
                ("y", agent(|a| a.via = vec![Place::ground(0.0, -1e12, 0.0)])),
                (
                    "heading",
                    agent(|a| a.destination = Some(Place::ground(0.0, 0.0, 1e3))),
                ),
            ],
        ),
        (
            "LanePlace",
            vec![(
                "s",
                flow(|f| f.origin = Place::lane(roadwright_scenario::RoadId(1), -1, -0.1)),
            )],
        ),
        (
            "Flow",
            vec![
                ("rate_per_hour", flow(|f| f.rate_per_hour = 1e6.into())),
                ("begin", flow(|f| f.begin = (-1.0).into())),
                ("end", flow(|f| f.end = f64::INFINITY.into())),
            ],
        ),
        (
            "Forest",
            vec![
                ("area", forest(|f| f.area[1].x = f64::NAN)),
                ("density", forest(|f| f.density = (-1.0).into())),
                ("spacing", forest(|f| f.spacing = 0.0.into())),
                ("trunk_radius", forest(|f| f.trunk_radius = 0.0.into())),
            ],
        ),
        (
            "Land",
            vec![
                ("outline", land(|l| l.outline[1].x = f64::NAN)),
                ("holes", land(|l| l.holes[0][2].y = 1e9)),
            ],
        ),
        (
            "Obstacle",
            vec![
                ("base", obstacle(|o| o.base = (-1.0).into())),
                ("height", obstacle(|o| o.height = 0.0.into())),
                ("mass", obstacle(|o| o.mass = Some(0.0).into())),
            ],
        ),
        (
            "PointOfInterest",
            vec![
                ("x", point(|p| p.x = f64::NAN.into())),
                ("y", point(|p| p.y = 1e8.into())),
                ("heading", point(|p| p.heading = Some(101.0).into())),
            ],
        ),
        (
            "Settings",
            vec![
                ("dt", settings(|s| s.dt = 0.0.into())),
                ("duration", settings(|s| s.duration = (-1.0).into())),
                ("time_of_day", settings(|s| s.time_of_day = 24.0.into())),
                ("pedestrians", settings(|s| s.pedestrians = f64::NAN.into())),
                (
                    "physics_rate_hz",
                    settings(|s| s.physics_rate_hz = f64::NAN.into()),
                ),
            ],
        ),
        (
            "GroundGrip",
            vec![
                (
                    "open_ground",
                    settings(|s| s.grip.open_ground = f64::NAN.into()),
                ),
                ("path", settings(|s| s.grip.path = 0.0.into())),
                ("service", settings(|s| s.grip.service = 1.6.into())),
                (
                    "residential",
                    settings(|s| s.grip.residential = (-0.5).into()),
                ),
                (
                    "collector",
                    settings(|s| s.grip.collector = f64::INFINITY.into()),
                ),
                ("arterial", settings(|s| s.grip.arterial = (-0.0).into())),
                ("ramp", settings(|s| s.grip.ramp = 1e300.into())),
                ("motorway", settings(|s| s.grip.motorway = f64::MIN.into())),
            ],
        ),
        (
            "GeoOrigin",
            vec![
                ("latitude_deg", origin(91.0, 0.0)),
                ("longitude_deg", origin(0.0, -181.0)),
            ],
        ),
    ]
}

/// Returns the keys of a record whose numbers have a range in the schema.
fn ranged_keys(schema: &Value, definition: &str) -> Vec<String> {
    let properties = &schema["$defs"][definition]["properties"];
    let has_range = |value: &Value| {
        let text = value.to_string();
        text.contains("inimum") && text.contains("aximum")
    };
    let keys = properties.as_object().unwrap().iter();
    // Integer types with a fixed number of bits have an inherent range.
    keys.filter(|(_, value)| has_range(value) && !value.to_string().contains("integer"))
        .map(|(key, _)| key.clone())
        .collect()
}

#[test]
fn edits_refuse_every_number_out_of_range_by_its_key() {
    let schema: Value = serde_json::from_str(&file::schema()).unwrap();
    for (definition, wrong) in wrong_numbers() {
        let mut named: Vec<_> = wrong.iter().map(|(key, _)| (*key).to_owned()).collect();
        named.sort();
        let mut ranged = ranged_keys(&schema, definition);
        ranged.sort();
        assert_eq!(
            named, ranged,
            "{definition}: each ranged key has a row here"
        );
        for (key, edit) in wrong {
            let mut scenario = Scenario::new("test");
            let before = scenario.clone();
            let error = scenario.apply(edit).unwrap_err().to_string();
            assert!(
                error.contains(&format!("{key}: ")),
                "{definition}.{key}: {error}"
            );
            assert_eq!(scenario, before);
        }
    }
}

#[test]
fn good_numbers_pass() {
    let mut scenario = Scenario::new("test");
    for edit in [
        vehicle(|_| {}),
        agent(|_| {}),
        flow(|_| {}),
        forest(|_| {}),
        land(|_| {}),
        land(|l| l.outline.resize(MAX_LAND_CORNERS - 3, DVec2::X)),
        obstacle(|_| {}),
        point(|_| {}),
        settings(|_| {}),
        origin(53.0, -6.0),
    ] {
        scenario.apply(edit).unwrap();
    }
    assert_eq!(
        file::from_text(&file::to_text(&scenario)).unwrap(),
        scenario
    );
}

#[test]
fn land_of_too_few_or_too_many_corners_is_refused() {
    for (wrong, why) in [
        (land(|l| l.outline.truncate(2)), "outline: 2 points"),
        (land(|l| l.holes[0].clear()), "holes: hole 0: 0 points"),
        (
            land(|l| l.outline.resize(MAX_LAND_CORNERS - 2, DVec2::X)),
            "exceed the limit of 20000",
        ),
    ] {
        let error = Scenario::new("test").apply(wrong).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
}

#[test]
fn parameters_that_are_no_numbers_are_refused() {
    let mut stack = Stack::with_controller("idm");
    stack.controller.parameters.insert("gap".into(), f64::NAN);
    let edit = Edit::Stack("idm".into(), Some(Box::new(stack)));
    let error = Scenario::new("test").apply(edit).unwrap_err().to_string();
    assert!(error.contains("parameters.gap"), "{error}");
}

#[test]
fn the_schema_knows_format_version_and_lists() {
    let schema: Value = serde_json::from_str(&file::schema()).unwrap();
    assert_eq!(
        schema["properties"]["format"]["const"],
        "roadwright-scenario"
    );
    assert_eq!(schema["properties"]["version"]["maximum"], file::VERSION);
    let road = &schema["$defs"]["Road"]["properties"];
    assert_eq!(road["lane_sections"]["minItems"], 1);
    assert_eq!(
        schema["$defs"]["Lane"]["properties"]["width"]["minItems"],
        1
    );
    let area = &schema["$defs"]["Forest"]["properties"]["area"];
    assert_eq!(area["minItems"], 3);
}
