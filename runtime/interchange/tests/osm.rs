//! OpenStreetMap import of small made-up data, of real data of Dublin where available, and of damaged data.

use proptest::prelude::*;
use roadwright_geometry::math::{cos, sin};
use roadwright_interchange::osm::{
    Elements, GeoBox, ImportError, ImportOptions, ImportSummary, import, read,
};
use roadwright_scenario::check::{Code, check};
use roadwright_scenario::{
    Control, DrivingSide, Edit, LaneType, RestrictionKind, Road, RoadAccess, RoadClass, Scenario,
    Settings, VehicleClass, Weekday,
};
use roadwright_scenario::{LaneChange, RoadId, file, junction, lane_graph};

/// A crossroads in Dublin with a one-way arm, a forbidden turn and a footpath.
const CROSSROADS: &str = r#"<?xml version="1.0"?>
<osm version="0.6" generator="Overpass API 0.7.62">
  <node id="1" lat="53.3400" lon="-6.2620"/>
  <node id="2" lat="53.3400" lon="-6.2600"><tag k="highway" v="traffic_signals"/></node>
  <node id="3" lat="53.3400" lon="-6.2580"/>
  <node id="4" lat="53.3390" lon="-6.2600"/>
  <node id="5" lat="53.3410" lon="-6.2600"/>
  <node id="6" lat="53.3410" lon="-6.2590"/>
  <way id="10"><nd ref="1"/><nd ref="2"/><tag k="highway" v="secondary"/><tag k="name" v="West &amp; Co"/></way>
  <way id="11"><nd ref="2"/><nd ref="3"/><tag k="highway" v="secondary"/><tag k="lanes" v="4"/></way>
  <way id="12"><nd ref="4"/><nd ref="2"/><nd ref="5"/><tag k="highway" v="residential"/><tag k="oneway" v="yes"/></way>
  <way id="13"><nd ref="5"/><nd ref="6"/><tag k="highway" v="footway"/></way>
  <relation id="20"><member type="way" ref="10" role="from"/><member type="node" ref="2" role="via"/><member type="way" ref="11" role="to"/><tag k="type" v="restriction"/><tag k="restriction" v="no_straight_on"/></relation>
  <relation id="21"><member type="way" ref="10" role="from"/><tag k="type" v="restriction"/><tag k="restriction" v="no_left_turn"/></relation>
</osm>"#;

/// Returns the scenario and the summary of an import with the usual options.
pub(crate) fn imported(elements: &Elements) -> (Scenario, ImportSummary) {
    let options = ImportOptions {
        name: "test".into(),
        ..ImportOptions::default()
    };
    import(elements, &options).unwrap()
}

/// A street of four lanes each way with a vertex of 32 degrees.
const TIGHT: &str = r#"<osm>
  <node id="1" lat="53.3400" lon="-6.2620"/>
  <node id="2" lat="53.3400" lon="-6.2600"/>
  <node id="3" lat="53.34069" lon="-6.25816"/>
  <way id="10"><nd ref="1"/><nd ref="2"/><nd ref="3"/><tag k="highway" v="primary"/><tag k="lanes" v="8"/></way>
</osm>"#;

#[test]
fn bends_tighter_than_the_road_are_rounded_and_reported() {
    let (scenario, summary) = imported(&read(TIGHT.as_bytes()).unwrap());
    let road = scenario.network().roads().next().unwrap().1;
    let inner = road.edges(1.0).1;
    let radius = 1.0 / road.reference_line.max_curvature();
    assert!(
        inner > 10.0 && (radius - (inner + 1.0)).abs() < 1e-6,
        "{inner}, {radius}"
    );
    let told = summary.warnings.iter();
    let told: Vec<_> = told
        .filter(|warning| warning.reason.starts_with("bends too tight"))
        .map(|warning| (warning.count, warning.examples.clone()))
        .collect();
    assert_eq!(told, [(1, vec!["way 10".to_owned()])]);
    assert!(
        check(&scenario)
            .iter()
            .all(|finding| finding.code != Code::Kink)
    );
    // A gentle bend of two lanes is kept as it is.
    let narrow = TIGHT
        .replace("v=\"8\"", "v=\"2\"")
        .replace("53.34069", "53.3404");
    let (_, summary) = imported(&read(narrow.as_bytes()).unwrap());
    let mut told = summary.warnings.iter();
    assert!(told.all(|warning| !warning.reason.starts_with("bends")));
}

#[test]
fn a_crossroads_arrives_whole() {
    let (scenario, summary) = imported(&read(CROSSROADS.as_bytes()).unwrap());
    assert_eq!((summary.ways, summary.roads, summary.junctions), (3, 4, 1));
    assert_eq!((summary.signals, summary.restrictions), (1, 1));
    assert_eq!(summary.lanes, 2 + 4 + 1 + 1);
    assert_eq!(summary.driving_side, DrivingSide::Left);
    let (_, west) = scenario.network().roads().next().unwrap();
    assert_eq!(west.name, "West & Co");
    let one_way = scenario
        .network()
        .roads()
        .find(|(_, r)| r.lane_sections[0].lanes.len() == 1);
    assert!(
        one_way.unwrap().1.lane_sections[0].lanes[0].id > 0,
        "left-hand traffic keeps left"
    );
    let restricted = scenario
        .network()
        .nodes()
        .find(|(_, n)| !n.rules.restrictions.is_empty())
        .unwrap();
    assert_eq!(restricted.1.rules.restrictions[0].kind, RestrictionKind::No);
    assert_eq!(restricted.1.rules.control, Some(Control::Signals));
    let reasons: Vec<_> = summary.warnings.iter().map(|w| w.reason.as_str()).collect();
    assert!(reasons.iter().any(|r| r.contains("footway")), "{reasons:?}");
    assert!(reasons.iter().any(|r| r.contains("via")), "{reasons:?}");
    assert!(scenario.about().attribution.contains("OpenStreetMap"));
}

#[test]
fn only_data_of_openstreetmap_are_attributed_to_it() {
    let generator = r#" generator="Overpass API 0.7.62""#;
    let attribution = |head: &str, offset: i64| {
        let mut text = CROSSROADS.replace(generator, head);
        for id in 1..=6 {
            let moved = id + offset;
            text = text.replace(
                &format!("node id=\"{id}\""),
                &format!("node id=\"{moved}\""),
            );
            text = text.replace(&format!("nd ref=\"{id}\""), &format!("nd ref=\"{moved}\""));
        }
        imported(&read(text.as_bytes()).unwrap())
            .0
            .about()
            .attribution
            .clone()
    };
    let ours = "(c) OpenStreetMap contributors, ODbL 1.0";
    for head in [
        r#" generator="osmium/1.15.0""#,
        r#" generator="me" copyright="OpenStreetMap and contributors""#,
    ] {
        assert_eq!(attribution(head, 0), ours, "{head}");
    }
    for head in ["", r#" generator="hand-made; invented place""#] {
        assert_eq!(attribution(head, 0), "", "{head}");
        assert_eq!(attribution(head, 99_993), "", "ids below 100,000");
        // Extracts without an attribution still have the ids of the database.
        assert_eq!(attribution(head, 99_994), ours);
    }
    let file = [
        blob("OSMHeader", &field(4, b"DenseNodes")),
        blob("OSMData", &street(0)),
    ]
    .concat();
    assert_eq!(imported(&read(&file).unwrap()).0.about().attribution, ours);
}

/// Returns the roads that yield at node 2 of a crossing. Ways 1 and 2 form the west-east road, and ways 3 and
/// 4 the north-south road, each with the given tags. A node before it on way 1 has the tag `highway=SIGN`.
fn yielding(west_east: &str, north_south: &str, sign: &str) -> Vec<u32> {
    let tagged = |value: &str| {
        let tags = value.split(' ').map(|pair| pair.split_once('=').unwrap());
        let tags = tags.map(|(k, v)| format!(r#"<tag k="{k}" v="{v}"/>"#));
        tags.collect::<String>()
    };
    let (a, b) = (tagged(west_east), tagged(north_south));
    let text = format!(
        r#"<osm><node id="1" lat="53.34" lon="-6.262"/><node id="2" lat="53.34" lon="-6.26"/>
  <node id="3" lat="53.34" lon="-6.258"/><node id="4" lat="53.339" lon="-6.26"/>
  <node id="5" lat="53.341" lon="-6.26"/>
  <node id="6" lat="53.34" lon="-6.2602"><tag k="highway" v="{sign}"/></node>
  <way id="1"><nd ref="1"/><nd ref="6"/><nd ref="2"/>{a}</way><way id="2"><nd ref="2"/><nd ref="3"/>{a}</way>
  <way id="3"><nd ref="4"/><nd ref="2"/>{b}</way><way id="4"><nd ref="2"/><nd ref="5"/>{b}</way></osm>"#
    );
    let (scenario, _) = imported(&read(text.as_bytes()).unwrap());
    let layout = junction::layout(scenario.network(), scenario.about());
    let junction = layout.junctions.iter().find(|j| j.is_crossing()).unwrap();
    let arms = junction
        .arms
        .iter()
        .filter(|arm| arm.sign == junction::Sign::Yield);
    let mut roads: Vec<u32> = arms.map(|arm| arm.road.0).collect();
    roads.sort_unstable();
    roads
}

#[test]
fn the_higher_of_two_main_streets_goes_first() {
    let signs = |a: &str, b: &str| yielding(a, b, "");
    assert_eq!(signs("highway=primary", "highway=secondary"), [3, 4]);
    assert_eq!(signs("highway=secondary", "highway=trunk"), [1, 2]);
    assert_eq!(
        signs("highway=primary oneway=yes", "highway=secondary"),
        [3, 4]
    );
    // For equal ranks and for other classes, the rules of junctions determine priority.
    assert_eq!(signs("highway=primary", "highway=primary"), [0; 0]);
    assert_eq!(signs("highway=secondary", "highway=tertiary"), [3, 4]);
    // A sign overrides the ranks.
    let signed = yielding("highway=primary", "highway=secondary", "give_way");
    assert_eq!(signed, [1]);
}

#[test]
fn junctions_that_become_one_are_told() {
    // Two streets end at a third street, `apart` millionths of a degree apart.
    let town = |apart: u32| {
        let east = f64::from(apart) * 1e-6;
        let node =
            |id: u32, lat: f64, lon: f64| format!(r#"<node id="{id}" lat="{lat}" lon="{lon}"/>"#);
        let street = |id: u32, nodes: &[u32]| {
            let nodes: String = nodes
                .iter()
                .map(|n| format!(r#"<nd ref="{n}"/>"#))
                .collect();
            format!(r#"<way id="{id}">{nodes}<tag k="highway" v="residential"/></way>"#)
        };
        let nodes = [
            node(1, 53.34, -6.262),
            node(2, 53.34, -6.26),
            node(3, 53.34, -6.26 + east),
            node(4, 53.34, -6.258),
            node(5, 53.341, -6.26),
            node(6, 53.339, -6.26 + east),
        ];
        let streets = [
            street(10, &[1, 2, 3, 4]),
            street(11, &[2, 5]),
            street(12, &[3, 6]),
        ];
        format!("<osm>{}{}</osm>", nodes.concat(), streets.concat())
    };
    let told = |apart: u32| {
        let (_, summary) = imported(&read(town(apart).as_bytes()).unwrap());
        let mut warnings = summary.warnings.into_iter();
        warnings.find(|warning| warning.reason.contains("junctions merged"))
    };
    let warning = told(60).expect("4 m apart");
    assert_eq!((warning.count, warning.examples.len()), (1, 1));
    let place = warning.places[0].unwrap();
    assert!(place.length() < 200.0, "{place}");
    // At a distance of 53 m, they are two junctions.
    assert_eq!(told(800), None);
}

/// Imports a one-way street of five ways, 200 m each, with side streets between them. `tags` are the tags of
/// the ways, whose ids are 1 to 5.
fn street_of(tags: [&[(&str, &str)]; 5], side: DrivingSide) -> (Scenario, ImportSummary) {
    let mut text = String::from("<osm>");
    for place in 0..6 {
        let lon = -6.26 + 0.003 * f64::from(place);
        text += &format!(r#"<node id="{}" lat="53.34" lon="{lon}"/>"#, place + 1);
        text += &format!(r#"<node id="{}" lat="53.341" lon="{lon}"/>"#, place + 11);
    }
    for (place, tags) in (1..).zip(tags) {
        let next = place + 1;
        text += &format!(r#"<way id="{place}"><nd ref="{place}"/><nd ref="{next}"/>"#);
        text += r#"<tag k="highway" v="primary"/><tag k="oneway" v="yes"/>"#;
        for (key, value) in tags {
            text += &format!(r#"<tag k="{key}" v="{value}"/>"#);
        }
        text += &format!(
            r#"</way><way id="{}"><nd ref="{next}"/><nd ref="{}"/>"#,
            place + 10,
            next + 10
        );
        text += r#"<tag k="highway" v="residential"/></way>"#;
    }
    let options = ImportOptions {
        name: "street".into(),
        driving_side: Some(side),
        ..ImportOptions::default()
    };
    import(&read((text + "</osm>").as_bytes()).unwrap(), &options).unwrap()
}

/// Returns the lanes of the roads of a class, by road, from left to right.
fn lane_kinds(scenario: &Scenario, class: RoadClass) -> Vec<Vec<LaneType>> {
    let roads = scenario.network().roads().filter(|(_, r)| r.class == class);
    let kinds = |road: &Road| {
        let lanes = road.lane_sections[0].lanes.iter();
        lanes.map(|lane| lane.kind).collect()
    };
    roads.map(|(_, road)| kinds(road)).collect()
}

#[test]
fn bus_lanes_in_every_spelling_arrive() {
    let lanes = ("lanes", "2");
    let tags: [&[(&str, &str)]; 5] = [
        &[
            lanes,
            ("bus:lanes", "|designated"),
            ("vehicle:lanes", "|no"),
        ],
        &[
            lanes,
            ("access:lanes", "yes|no"),
            ("bus:lanes", "yes|designated"),
        ],
        &[lanes, ("lanes:psv", "1")],
        &[lanes, ("busway:right", "lane")],
        &[lanes, ("psv:lanes", "yes|designated")],
    ];
    let (scenario, summary) = street_of(tags, DrivingSide::Right);
    let expected = vec![LaneType::Driving, LaneType::Bus];
    assert_eq!(
        lane_kinds(&scenario, RoadClass::Arterial),
        vec![expected; 5]
    );
    assert_eq!(summary.warnings, []);
    // `lanes:psv` refers to the lane at the kerb, and the other spellings name the right lane.
    let (scenario, _) = street_of(tags, DrivingSide::Left);
    let kinds = lane_kinds(&scenario, RoadClass::Arterial);
    let left: Vec<bool> = kinds
        .iter()
        .map(|lanes| lanes[0] == LaneType::Bus)
        .collect();
    assert_eq!(left, [false, false, true, false, false]);
}

#[test]
fn arrows_and_lanes_that_differ_are_reported_with_their_ways() {
    let tags: [&[(&str, &str)]; 5] = [
        &[("lanes", "1"), ("turn:lanes", "left|right")],
        &[("lanes", "3"), ("turn:lanes", "left|right")],
        &[
            ("lanes", "2"),
            ("bus:lanes", "||designated"),
            ("change:lanes", "|"),
        ],
        &[("lanes", "2"), ("busway", "perhaps")],
        &[("lanes", "2"), ("lanes:both_ways", "1")],
    ];
    let (scenario, summary) = street_of(tags, DrivingSide::Right);
    let kinds = lane_kinds(&scenario, RoadClass::Arterial);
    let counts: Vec<usize> = kinds.iter().map(Vec::len).collect();
    assert_eq!(counts, [2, 3, 2, 2, 2]);
    let ways = |part: &str| {
        let mut warnings = summary.warnings.iter();
        let found = warnings.find(|warning| warning.reason.contains(part));
        found
            .map(|warning| warning.examples.join(", "))
            .unwrap_or_default()
    };
    assert_eq!(ways("lane counts that contradict"), "way 1, way 2, way 3");
    assert_eq!(ways("arrows (turn:lanes)"), "way 2");
    assert_eq!(ways("bus lanes (bus:lanes"), "way 3");
    assert_eq!(ways("bus lanes (busway)"), "way 4");
    assert_eq!(ways("centre turn lanes of one-way"), "way 5");
}

/// Returns the OSM data of two carriageways and a cross street. The carriageways are `apart`
/// degrees of latitude apart.
fn carriageways(apart: f64, relations: &str) -> String {
    let far = 53.34 - apart;
    let one_way = r#"<tag k="highway" v="secondary"/><tag k="oneway" v="yes"/>"#;
    format!(
        r#"<osm version="0.6">
  <node id="1" lat="53.34" lon="-6.2640"/><node id="2" lat="53.34" lon="-6.2620"/>
  <node id="3" lat="53.34" lon="-6.2600"/><node id="4" lat="{far}" lon="-6.2640"/>
  <node id="5" lat="{far}" lon="-6.2620"/><node id="6" lat="{far}" lon="-6.2600"/>
  <way id="10"><nd ref="1"/><nd ref="2"/>{one_way}<tag k="lanes" v="2"/><tag k="change:lanes" v="no|yes"/></way>
  <way id="11"><nd ref="2"/><nd ref="3"/>{one_way}<tag k="lanes" v="2"/><tag k="change:lanes" v="no|no|no"/></way>
  <way id="12"><nd ref="2"/><nd ref="5"/><tag k="highway" v="secondary"/></way>
  <way id="13"><nd ref="6"/><nd ref="5"/>{one_way}</way>
  <way id="14"><nd ref="5"/><nd ref="4"/>{one_way}</way>
  {relations}
</osm>"#
    )
}

/// Creates a street whose two carriageways of two lanes each diverge from a node. `first` and
/// `second` determine the distance between them after 100 m and after 200 m. `kind` is added to
/// their OSM tags.
fn parting(first: f64, second: f64, kind: &str) -> Scenario {
    let degrees = |metres: f64| metres / 111_195.0;
    let (latitude, east) = (53.34, 100.0 / 66_400.0);
    let node = |id: u32, steps: f64, north: f64| {
        format!(
            r#"<node id="{id}" lat="{}" lon="{}"/>"#,
            latitude + degrees(north),
            -6.26 + steps * east
        )
    };
    let places = [
        node(1, 0.0, 0.0),
        node(2, 1.0, 0.0),
        node(3, 2.0, 0.5 * first),
        node(4, 3.0, 0.5 * second),
        node(5, 2.0, -0.5 * first),
        node(6, 3.0, -0.5 * second),
    ];
    let one_way = format!(
        r#"<tag k="highway" v="secondary"/><tag k="oneway" v="yes"/><tag k="lanes" v="2"/>{kind}"#
    );
    // Ireland drives on the left, so eastbound traffic is in the north.
    let text = format!(
        r#"<osm version="0.6">{}
  <way id="10"><nd ref="1"/><nd ref="2"/><tag k="highway" v="secondary"/><tag k="lanes" v="4"/></way>
  <way id="11"><nd ref="2"/><nd ref="3"/><nd ref="4"/>{one_way}</way>
  <way id="12"><nd ref="6"/><nd ref="5"/><nd ref="2"/>{one_way}</way>
</osm>"#,
        places.concat()
    );
    let elements = read(text.as_bytes()).unwrap();
    import(&elements, &ImportOptions::default()).unwrap().0
}

/// Returns the smallest distance between the lanes of the two carriageways, measured along the
/// first one, m. It is negative where they overlap.
fn between(scenario: &Scenario) -> f64 {
    let road = |id| scenario.network().road(RoadId(id)).unwrap();
    let (out, back) = (road(2), road(3));
    let inner = |road: &roadwright_scenario::Road, s| road.reference_line.point(s, road.edges(s).0);
    let places = |road: &roadwright_scenario::Road| -> Vec<_> {
        let count = (road.length() * 2.0) as usize;
        (0..=count)
            .map(|i| inner(road, (0.5 * f64::from(i as u32)).min(road.length())))
            .collect()
    };
    // Distance in y from the northern edge of one carriageway to the southern edge of the other.
    let others = places(back);
    let gap = |p: &roadwright_geometry::DVec2| {
        let to = |q: &&roadwright_geometry::DVec2| (q.x - p.x).abs();
        let beside = others
            .iter()
            .min_by(|a, b| to(a).total_cmp(&to(b)))
            .unwrap();
        p.y - beside.y
    };
    places(out).iter().map(gap).fold(f64::INFINITY, f64::min)
}

#[test]
fn carriageways_that_lie_too_close_keep_to_their_own_side() {
    for apart in [(6.0, 6.0), (4.0, 8.0), (10.0, 5.0), (14.0, 14.0)] {
        let scenario = parting(apart.0, apart.1, "");
        // Where the carriageways diverge they may touch, as the lanes of the road do.
        assert!(
            between(&scenario) > -1e-3,
            "{apart:?}: {}",
            between(&scenario)
        );
        let road = |id| scenario.network().road(RoadId(id)).unwrap();
        // Where the carriageways diverge, their lanes continue those of the road, whose line is between them.
        let (whole, out) = (road(1), road(2));
        let outer = (whole.edges(whole.length()).1, out.edges(0.0).1);
        assert!((outer.0 - outer.1).abs() < 0.3, "{apart:?}: {outer:?}");
        // The lanes do not swerve anywhere.
        let edges: Vec<f64> = (0..400).map(|i| out.edges(0.5 * f64::from(i)).1).collect();
        assert!(
            edges.windows(2).all(|pair| (pair[1] - pair[0]).abs() < 0.1),
            "{apart:?}"
        );
    }
    // Parts of a ring are not moved, so they overlap.
    let ring = parting(6.0, 6.0, r#"<tag k="junction" v="circular"/>"#);
    assert!(between(&ring) < -0.5, "{}", between(&ring));
    // Where there is enough room, no lane is moved.
    let far = parting(40.0, 40.0, "");
    let road = far.network().road(RoadId(2)).unwrap();
    let (right, left) = road.edges(road.length());
    assert!((right + left).abs() < 1e-9);
}

#[test]
fn carriageways_of_a_thousand_kilometres_are_parted_in_no_time() {
    // The carriageways are 4 m apart. Comparing all pairs of points along them took minutes.
    let text = r#"<osm version="0.6">
  <node id="1" lat="45.0" lon="10.00006"/><node id="2" lat="54.0" lon="10.00006"/>
  <node id="3" lat="45.0" lon="10.0"/><node id="4" lat="54.0" lon="10.0"/>
  <way id="10"><nd ref="1"/><nd ref="2"/><tag k="highway" v="primary"/><tag k="oneway" v="yes"/><tag k="lanes" v="2"/></way>
  <way id="11"><nd ref="4"/><nd ref="3"/><tag k="highway" v="primary"/><tag k="oneway" v="yes"/><tag k="lanes" v="2"/></way>
</osm>"#;
    let elements = read(text.as_bytes()).unwrap();
    let (scenario, summary) = import(&elements, &ImportOptions::default()).unwrap();
    assert!(summary.road_km > 2000.0, "{}", summary.road_km);
    for (_, road) in scenario.network().roads() {
        let (right, left) = road.edges(0.5 * road.length());
        assert!((right + left).abs() > 0.1, "{right} {left}");
    }
}

#[test]
fn restrictions_by_way_of_ways_and_lines_between_lanes_arrive() {
    let relation = |id: u32, from: u32, via: u32, to: u32| {
        format!(
            r#"<relation id="{id}"><member type="way" ref="{from}" role="from"/><member type="way" ref="{via}" role="via"/><member type="way" ref="{to}" role="to"/><tag k="type" v="restriction"/><tag k="restriction" v="no_u_turn"/></relation>"#
        )
    };
    {
        // About 100 m, in degrees of latitude.
        let apart = 0.0009;
        let turns_back = |scenario: &Scenario| {
            let layout = junction::layout(scenario.network(), scenario.about());
            let graph = lane_graph::LaneGraph::new(scenario, &layout);
            let (_, ids) = graph.lanes_of(RoadId(1)).next().unwrap();
            let lanes: Vec<_> = graph.lanes_of(RoadId(1)).map(|(_, ids)| ids[0]).collect();
            assert_eq!(ids.len(), 1);
            let mut open: Vec<_> = lanes
                .iter()
                .map(|&id| (id, graph.followed_on(id)))
                .collect();
            while let Some((id, followed)) = open.pop() {
                if graph.lanelet(id).road() == Some(RoadId(5)) {
                    return true;
                }
                for &next in graph.successors(id) {
                    let after = graph.followed_onto(&followed, id, next);
                    open.extend(after.map(|after| (next, after)));
                }
            }
            false
        };
        let (scenario, summary) = imported(&read(carriageways(apart, "").as_bytes()).unwrap());
        assert!(turns_back(&scenario) && summary.via_restrictions == 0);
        // One valid relation, one with a missing way, and one between ways that do not meet.
        let relations =
            relation(20, 10, 12, 14) + &relation(21, 10, 99, 14) + &relation(22, 13, 11, 10);
        let text = carriageways(apart, &relations);
        let (scenario, summary) = imported(&read(text.as_bytes()).unwrap());
        assert_eq!((summary.via_restrictions, summary.restrictions), (1, 0));
        assert!(!turns_back(&scenario), "{apart}");
        let reasons: Vec<_> = summary.warnings.iter().map(|w| w.reason.as_str()).collect();
        for part in [
            "via ways that are not imported",
            "via ways that do not meet",
            "change:lanes",
        ] {
            assert!(
                reasons.iter().any(|r| r.contains(part)),
                "{part}: {reasons:?}"
            );
        }
        // Dublin drives on the left, so the left lane of the one-way street is the one beside the line.
        assert_eq!(summary.lane_changes, 1);
        let road = scenario.network().road(RoadId(1)).unwrap();
        let lanes = &road.lane_sections[0].lanes;
        assert_eq!(lanes[0].lane_change, LaneChange::None);
        assert_eq!(lanes[1].lane_change, LaneChange::Both);
    }
}

#[test]
fn restrictions_at_times_follow_the_clock_of_the_scenario() {
    let relation = |id: u32, key: &str, value: &str, via: &str| {
        format!(
            r#"<relation id="{id}"><member type="way" ref="10" role="from"/>{via}<member type="way" ref="11" role="to"/><tag k="type" v="restriction"/><tag k="{key}" v="{value}"/></relation>"#
        )
    };
    let node = r#"<member type="node" ref="2" role="via"/>"#;
    let conditional = |id, value| relation(id, "restriction:conditional", value, node);
    let text = |relations: &str| {
        let end = CROSSROADS.find("<relation").unwrap();
        format!("{}{relations}</osm>", &CROSSROADS[..end])
    };
    let relations = conditional(20, "no_straight_on @ (Mo-Fr 07:00-09:00; PH off)")
        + &conditional(21, "no_straight_on @ (wet)")
        + &relation(22, "restriction:hgv", "no_straight_on", node);
    let (mut scenario, summary) = imported(&read(text(&relations).as_bytes()).unwrap());
    assert_eq!((summary.restrictions, summary.timed_restrictions), (0, 1));
    let told = |part: &str| {
        let mut warnings = summary.warnings.iter();
        let found = warnings.find(|warning| warning.reason.contains(part));
        found.map(|warning| warning.examples.join(", "))
    };
    assert_eq!(told("conditions other than").unwrap(), "relation 21");
    assert_eq!(told("holidays").unwrap(), "relation 20");
    assert_eq!(told("only to some vehicles").unwrap(), "relation 22");
    // The restriction is stored with its times, and applies depending on the time.
    let again = file::from_text(&file::to_text(&scenario)).unwrap();
    assert_eq!(again, scenario);
    let crosses = |scenario: &Scenario| {
        let layout = junction::layout(scenario.network(), scenario.about());
        let mut paths = layout.junctions.iter().flat_map(|junction| &junction.paths);
        paths.any(|path| (path.from.road, path.to.road) == (RoadId(1), RoadId(2)))
    };
    assert!(crosses(&scenario), "noon");
    let before = scenario.clone();
    for (weekday, hour, expected) in [
        (Weekday::Wednesday, 8.0, false),
        (Weekday::Saturday, 8.0, true),
        (Weekday::Monday, 9.0, true),
        (Weekday::Monday, 7.0, false),
    ] {
        let settings = Settings {
            weekday,
            time_of_day: hour.into(),
            ..scenario.settings()
        };
        let undo = scenario.apply(Edit::Settings(settings)).unwrap();
        assert_eq!(crosses(&scenario), expected, "{weekday:?} {hour}");
        let old = junction::layout(before.network(), before.about());
        let (network, about) = (scenario.network(), scenario.about());
        let edited = junction::layout_after_edit(before.network(), &old, network, about);
        assert!(edited == junction::layout(network, about));
        scenario.apply(undo).unwrap();
        assert!(crosses(&scenario));
    }
    // A restriction without times always applies, and restrictions with via ways may have times as well.
    let both = relation(20, "restriction", "no_straight_on", node).replace(
        "</relation>",
        r#"<tag k="restriction:conditional" v="none @ (Su)"/></relation>"#,
    );
    let (scenario, summary) = imported(&read(text(&both).as_bytes()).unwrap());
    assert!(!crosses(&scenario));
    assert!(
        summary
            .warnings
            .iter()
            .any(|w| w.reason.contains("exceptions"))
    );
    let via = relation(
        20,
        "restriction",
        "no_u_turn",
        r#"<member type="way" ref="12" role="via"/>"#,
    )
    .replace(
        "k=\"restriction\" v=\"no_u_turn\"",
        r#"k="restriction:conditional" v="no_u_turn @ (07:00-09:00)""#,
    )
    .replace("ref=\"11\"", "ref=\"14\"");
    let text = carriageways(0.0009, &via);
    let (_, summary) = imported(&read(text.as_bytes()).unwrap());
    assert_eq!(
        (summary.timed_restrictions, summary.via_restrictions),
        (1, 0)
    );
}

#[test]
fn a_box_cuts_roads_at_its_edge() {
    let elements = read(CROSSROADS.as_bytes()).unwrap();
    let clip = GeoBox {
        west: -6.2610,
        south: 53.3395,
        east: -6.2590,
        north: 53.3405,
    };
    let options = ImportOptions {
        clip: Some(clip),
        ..ImportOptions::default()
    };
    let (_, summary) = import(&elements, &options).unwrap();
    let (_, whole) = imported(&elements);
    assert_eq!(summary.roads, 4);
    assert!(
        (summary.road_km - 0.5 * whole.road_km).abs() < 0.01,
        "{}",
        summary.road_km
    );
    let away = GeoBox {
        west: 0.0,
        south: 0.0,
        east: 1.0,
        north: 1.0,
    };
    let options = ImportOptions {
        clip: Some(away),
        ..ImportOptions::default()
    };
    let error = import(&elements, &options).unwrap_err().to_string();
    assert!(error.contains("inside the box"), "{error}");
}

#[test]
fn foreign_and_damaged_files_are_clear_errors() {
    let error = |text: &str| read(text.as_bytes()).unwrap_err().to_string();
    assert!(error("").contains("the file is empty"));
    assert!(error("<!DOCTYPE html><html><body>404</body></html>").contains("root <html>"));
    assert!(error("{\"type\": \"FeatureCollection\"}").contains("not OpenStreetMap data"));
    assert!(error("<gpx></gpx>").contains("root <gpx>"));
    let half = &CROSSROADS[..CROSSROADS.len() / 2];
    assert!(error(half).contains("line"), "{}", error(half));
    let no_lat = CROSSROADS.replace("lat=\"53.3390\"", "lat=\"north\"");
    assert!(
        error(&no_lat).contains("(line 6): lat=\"north\" is not a number"),
        "{}",
        error(&no_lat)
    );
    let far = CROSSROADS.replace("lat=\"53.3390\"", "lat=\"1e308\"");
    assert!(
        error(&far).contains("latitude 1e308") || error(&far).contains("latitude 1000"),
        "{}",
        error(&far)
    );
    let empty = read(b"<osm version=\"0.6\"></osm>").unwrap();
    let no_roads = import(&empty, &ImportOptions::default()).unwrap_err();
    assert!(matches!(no_roads, ImportError::NoRoads(_)));
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = read(&bytes);
    }

    #[test]
    fn damaged_xml_is_read_or_refused(at in 0usize..2000, byte in any::<u8>(), cut in 0usize..2000) {
        let mut bytes = CROSSROADS.as_bytes().to_vec();
        let index = at % bytes.len();
        bytes[index] = byte;
        bytes.truncate(1 + cut % bytes.len());
        if let Ok(elements) = read(&bytes) {
            let _ = import(&elements, &ImportOptions::default());
        }
    }
}

/// Encodes a field with bytes of a protobuf message.
fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    [
        vec![number << 3 | 2],
        varint(bytes.len() as u64),
        bytes.to_vec(),
    ]
    .concat()
}

fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value > 127 {
        bytes.push(value as u8 | 128);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

/// Encodes a blob of a PBF file, compressed with zlib.
fn blob(kind: &str, content: &[u8]) -> Vec<u8> {
    use std::io::Write;
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(content).unwrap();
    let body = field(3, &encoder.finish().unwrap());
    let size = [vec![3 << 3], varint(body.len() as u64)].concat();
    let header = [field(1, kind.as_bytes()), size].concat();
    [(header.len() as u32).to_be_bytes().to_vec(), header, body].concat()
}

/// Encodes a block with a street of two nodes, followed by `repeats` empty groups.
fn street(repeats: usize) -> Vec<u8> {
    let strings = [&b""[..], b"highway", b"residential"]
        .map(|text| field(1, text))
        .concat();
    // Dense nodes 1 and 2 (differences folded to unsigned), 1 degree north, 0.001 degrees apart.
    let latitudes = [varint(20_000_000), varint(20_000)].concat();
    let longitudes = [varint(20_000_000), varint(0)].concat();
    let dense = [
        field(1, &[2, 2]),
        field(8, &latitudes),
        field(9, &longitudes),
    ]
    .concat();
    let way = [
        vec![1 << 3, 7],
        field(2, &[1]),
        field(3, &[2]),
        field(8, &[2, 2]),
    ]
    .concat();
    let groups = [field(2, &field(2, &dense)), field(2, &field(3, &way))].concat();
    [field(1, &strings), groups, field(2, &[]).repeat(repeats)].concat()
}

#[test]
fn a_pbf_made_by_hand_is_read() {
    let file = [
        blob("OSMHeader", &field(4, b"DenseNodes")),
        blob("OSMData", &street(0)),
    ]
    .concat();
    let (_, summary) = imported(&read(&file).unwrap());
    assert_eq!(summary.roads, 1);
    assert!(
        (summary.road_km - 0.1112).abs() < 1e-3,
        "{}",
        summary.road_km
    );
}

#[test]
fn features_that_change_the_meaning_are_refused_by_name() {
    for feature in ["HistoricalInformation", "Martian"] {
        let header = blob("OSMHeader", &field(4, feature.as_bytes()));
        let file = [header, blob("OSMData", &street(0))].concat();
        let error = read(&file).unwrap_err().to_string();
        assert!(
            error.contains(feature) && error.contains("not supported"),
            "{error}"
        );
    }
}

#[test]
fn small_files_that_unpack_to_millions_are_refused() {
    let header = blob("OSMHeader", &[]);
    // Twenty million nodes at one position in 20 KB.
    let zeros = vec![0; 10_000_000];
    let dense = [field(1, &zeros), field(8, &zeros), field(9, &zeros)].concat();
    let nodes = blob("OSMData", &field(2, &field(2, &dense)));
    // One way with fifteen million nodes.
    let way = field(3, &field(8, &vec![2; 15_000_000]));
    let refs = blob("OSMData", &[field(1, &[]), field(2, &way)].concat());
    // A block beyond the format's limit.
    let large = blob("OSMData", &vec![0; 40_000_000]);
    for (bomb, reason) in [
        (nodes, "far more elements"),
        (refs, "far more"),
        (large, "32 MiB"),
    ] {
        assert!(bomb.len() < 100_000);
        let error = read(&[header.clone(), bomb].concat())
            .unwrap_err()
            .to_string();
        assert!(error.contains(reason), "{error}");
    }
    // Empty groups do not count towards the limit.
    let groups = [header, blob("OSMData", &street(10_000_000))].concat();
    assert_eq!(read(&groups).unwrap().ways.len(), 1);
}

#[test]
fn a_road_too_many_at_a_node_is_left_out_and_told() {
    let mut text =
        String::from("<osm version=\"0.6\"><node id=\"1\" lat=\"53.34\" lon=\"-6.26\"/>");
    for i in 0..40 {
        let angle = f64::from(i) / 40.0 * std::f64::consts::TAU;
        let (lat, lon) = (53.34 + 0.01 * sin(angle), -6.26 + 0.01 * cos(angle));
        text += &format!("<node id=\"{}\" lat=\"{lat}\" lon=\"{lon}\"/>", i + 2);
        text += &format!(
            "<way id=\"{}\"><nd ref=\"1\"/><nd ref=\"{}\"/><tag k=\"highway\" v=\"residential\"/></way>",
            100 + i,
            i + 2
        );
    }
    let (_, summary) = imported(&read((text + "</osm>").as_bytes()).unwrap());
    assert_eq!(summary.roads, 32);
    let warning = summary
        .warnings
        .iter()
        .find(|w| w.reason.contains("already has 32 road ends"))
        .unwrap();
    assert_eq!(
        (warning.count, warning.examples[0].as_str()),
        (8, "way 132")
    );
}

#[test]
fn streets_across_the_antimeridian_stay_together() {
    let text = CROSSROADS
        .replace("lat=\"53.3", "lat=\"-16.8")
        .replace("lon=\"-6.2620\"", "lon=\"179.9990\"")
        .replace("lon=\"-6.2600\"", "lon=\"-179.9990\"")
        .replace("lon=\"-6.2580\"", "lon=\"-179.9970\"")
        .replace("lon=\"-6.2590\"", "lon=\"-179.9980\"");
    let elements = read(text.as_bytes()).unwrap();
    let (scenario, summary) = imported(&elements);
    assert_eq!((summary.roads, summary.junctions), (4, 1));
    assert_eq!(summary.driving_side, DrivingSide::Left, "Fiji");
    assert!(summary.road_km < 1.0, "{}", summary.road_km);
    let origin = scenario.about().origin.unwrap();
    assert!(origin.longitude_deg.abs() > 179.9 && origin.longitude_deg.abs() <= 180.0);
    // A box across the antimeridian contains everything.
    let options = ImportOptions {
        clip: Some(GeoBox {
            west: 179.9,
            south: -17.0,
            east: -179.9985,
            north: -16.0,
        }),
        ..ImportOptions::default()
    };
    let (_, cut) = import(&elements, &options).unwrap();
    assert!(cut.road_km < summary.road_km && cut.roads >= 2, "{cut:?}");
}

/// Imports a crossing of two streets with a sign 15 m before it, on the approach from the south (way 12 runs
/// from south to north). Returns the resulting control and the number of major roads.
fn ruled_by(sign: &str, at_junction: &str) -> (Option<Control>, usize, ImportSummary) {
    let text = format!(
        r#"<?xml version="1.0"?><osm version="0.6">
  <node id="1" lat="53.3400" lon="-6.2620"/>
  <node id="2" lat="53.3400" lon="-6.2600">{at_junction}</node>
  <node id="3" lat="53.3400" lon="-6.2580"/>
  <node id="4" lat="53.3390" lon="-6.2600"/>
  <node id="5" lat="53.3410" lon="-6.2600"/>
  <node id="7" lat="53.33987" lon="-6.2600">{sign}</node>
  <way id="10"><nd ref="1"/><nd ref="2"/><nd ref="3"/><tag k="highway" v="residential"/></way>
  <way id="12"><nd ref="4"/><nd ref="7"/><nd ref="2"/><nd ref="5"/><tag k="highway" v="residential"/></way>
</osm>"#
    );
    let (scenario, summary) = imported(&read(text.as_bytes()).unwrap());
    let mut nodes = scenario.network().nodes();
    let (_, middle) = nodes
        .find(|(id, _)| scenario.network().ends_at(*id).len() == 4)
        .unwrap();
    (middle.rules.control, middle.rules.major.len(), summary)
}

#[test]
fn signs_and_signals_are_for_the_junction_ahead_of_them() {
    let tags = |pairs: &[(&str, &str)]| -> String {
        let tag = |(key, value): &(&str, &str)| format!("<tag k=\"{key}\" v=\"{value}\"/>");
        pairs.iter().map(tag).collect()
    };
    let ahead = ("direction", "forward");
    // (tags before the junction, tags on it; the control, the number of major roads)
    let cases: [(&[_], &[_], _, _); 8] = [
        (&[], &[], None, 0),
        (
            &[("highway", "give_way"), ahead],
            &[],
            Some(Control::Priority),
            3,
        ),
        (&[("highway", "stop"), ahead], &[], Some(Control::Stop), 3),
        (&[("highway", "stop")], &[], Some(Control::Stop), 3),
        // A sign with the direction against the way applies to traffic that leaves the junction, so it
        // applies to no approach here.
        (
            &[("highway", "stop"), ("direction", "backward")],
            &[],
            None,
            0,
        ),
        (
            &[],
            &[("highway", "stop"), ("stop", "all")],
            Some(Control::AllWayStop),
            0,
        ),
        // A sign on the junction itself does not state which approach it applies to.
        (&[], &[("highway", "stop")], None, 0),
        (
            &[("highway", "traffic_signals"), ahead],
            &[],
            Some(Control::Signals),
            0,
        ),
    ];
    for (before, on, control, first) in cases {
        let (found, majors, summary) = ruled_by(&tags(before), &tags(on));
        assert_eq!((found, majors), (control, first), "{before:?} {on:?}");
        let signs = usize::from(matches!(
            control,
            Some(Control::Priority | Control::Stop | Control::AllWayStop)
        ));
        assert_eq!(summary.signs, signs, "{before:?} {on:?}");
    }
    // Signals for traffic that leaves the junction form a separate crossing 15 m beyond the junction.
    let away = tags(&[
        ("highway", "traffic_signals"),
        ("traffic_signals:direction", "backward"),
    ]);
    let (control, _, summary) = ruled_by(&away, "");
    assert_eq!(
        (control, summary.signals, summary.controllers),
        (None, 1, 1)
    );
}

#[test]
fn a_box_that_does_not_cross_the_antimeridian_takes_the_data_as_they_are() {
    // One stray node in Fiji and one in Alaska. The data span nearly the whole globe, and would be narrower
    // if they continued beyond 180 degrees.
    let stray = "<node id=\"901\" lat=\"-16.8\" lon=\"179.99\"/>\
                 <node id=\"902\" lat=\"53.3\" lon=\"-179.99\"/></osm>";
    let text = CROSSROADS
        .replace("lon=\"-6.2", "lon=\"-176.2")
        .replace("</osm>", stray);
    let elements = read(text.as_bytes()).unwrap();
    let options = |west: f64, east: f64| ImportOptions {
        clip: Some(GeoBox {
            west,
            south: -80.0,
            east,
            north: 80.0,
        }),
        ..ImportOptions::default()
    };
    let (_, alone) = imported(&read(CROSSROADS.as_bytes()).unwrap());
    for (west, east) in [(-177.0, -176.0), (-180.0, 180.0)] {
        let (_, summary) = import(&elements, &options(west, east)).unwrap();
        assert_eq!(summary.roads, alone.roads, "{west} to {east}");
    }
}

/// A public street with a yard behind a gate, a customers' car park, and a tram along the street.
const YARD: &str = r#"<?xml version="1.0"?>
<osm version="0.6">
  <node id="1" lat="53.3400" lon="-6.2620"/>
  <node id="2" lat="53.3400" lon="-6.2600"/>
  <node id="3" lat="53.3400" lon="-6.2580"/>
  <node id="4" lat="53.3390" lon="-6.2600"/>
  <node id="5" lat="53.3410" lon="-6.2600"/>
  <node id="6" lat="53.3420" lon="-6.2600"/>
  <node id="7" lat="53.34002" lon="-6.2615"/>
  <node id="8" lat="53.34002" lon="-6.2590"/>
  <node id="9" lat="53.3395" lon="-6.2610"/>
  <node id="10" lat="53.3405" lon="-6.2610"/>
  <way id="10"><nd ref="1"/><nd ref="2"/><nd ref="3"/><tag k="highway" v="secondary"/></way>
  <way id="11"><nd ref="2"/><nd ref="4"/><tag k="highway" v="service"/><tag k="access" v="private"/></way>
  <way id="12"><nd ref="2"/><nd ref="5"/><tag k="highway" v="service"/><tag k="access" v="private"/><tag k="motor_vehicle" v="customers"/></way>
  <way id="13"><nd ref="5"/><nd ref="6"/><tag k="highway" v="service"/><tag k="access" v="no"/></way>
  <way id="14"><nd ref="7"/><nd ref="8"/><tag k="railway" v="tram"/></way>
  <way id="15"><nd ref="9"/><nd ref="10"/><tag k="railway" v="tram"/></way>
</osm>"#;

#[test]
fn access_tags_become_access_and_trams_in_streets_are_told() {
    let (scenario, summary) = imported(&read(YARD.as_bytes()).unwrap());
    let accesses: Vec<_> = scenario.network().roads().map(|(_, r)| r.access).collect();
    assert_eq!(
        accesses,
        [
            RoadAccess::All,
            RoadAccess::All,
            RoadAccess::Private,
            RoadAccess::Customers
        ]
    );
    let counts: Vec<_> = summary.access.iter().map(|(a, (n, _))| (*a, *n)).collect();
    assert_eq!(
        counts,
        [
            (RoadAccess::All, 2),
            (RoadAccess::Customers, 1),
            (RoadAccess::Private, 1)
        ]
    );
    let (_, km) = summary.access[&RoadAccess::Private];
    assert!((km - 0.111).abs() < 0.002, "{km}");
    // The way with access=no is reported and not built.
    let told = |text: &str| {
        let warning = summary.warnings.iter().find(|w| w.reason.contains(text));
        warning.map(|w| (w.count, w.examples.clone()))
    };
    assert_eq!(told("access tags"), Some((1, vec!["way 13".into()])));
    // The tram that crosses the street shares it only briefly.
    assert_eq!(told("tram"), Some((1, vec!["way 14".into()])));
}

/// A street of 600 m with a side street in its middle. From west to east it has an unmarked crossing, a
/// crossing far from the junction, one 13 m before the junction, one on the junction, and one 20 m beyond it.
const CROSSINGS: &str = r#"<osm version="0.6">
  <node id="1" lat="53.3400" lon="-6.2650"/>
  <node id="2" lat="53.3400" lon="-6.2640"><tag k="highway" v="crossing"/><tag k="crossing" v="unmarked"/></node>
  <node id="3" lat="53.3400" lon="-6.2620"><tag k="highway" v="crossing"/><tag k="crossing" v="zebra"/></node>
  <node id="4" lat="53.3400" lon="-6.2602"><tag k="highway" v="crossing"/></node>
  <node id="5" lat="53.3400" lon="-6.2600"><tag k="highway" v="crossing"/></node>
  <node id="6" lat="53.3400" lon="-6.2597"><tag k="highway" v="crossing"/><tag k="crossing" v="marked"/></node>
  <node id="7" lat="53.3400" lon="-6.2550"/>
  <node id="8" lat="53.3390" lon="-6.2600"/>
  <way id="10"><nd ref="1"/><nd ref="2"/><nd ref="3"/><nd ref="4"/><nd ref="5"/><nd ref="6"/><nd ref="7"/><tag k="highway" v="tertiary"/></way>
  <way id="11"><nd ref="8"/><nd ref="5"/><tag k="highway" v="residential"/></way>
</osm>"#;

#[test]
fn crossings_are_those_of_arms_or_stand_alone() {
    let (scenario, summary) = imported(&read(CROSSINGS.as_bytes()).unwrap());
    // The crossing on the junction does not state which arm it belongs to.
    assert_eq!((summary.crossings, summary.crossings_unassigned), (3, 1));
    let network = scenario.network();
    let mut found: Vec<(usize, usize)> = Vec::new();
    for (id, node) in network.nodes() {
        let over = &node.rules.crossings;
        if over.is_empty() {
            continue;
        }
        let ends: Vec<_> = network
            .ends_at(id)
            .into_iter()
            .map(|(road, _)| road)
            .collect();
        assert!(over.iter().all(|rule| ends.contains(&rule.road)));
        found.push((ends.len(), over.len()));
    }
    found.sort_unstable();
    assert_eq!(found, [(2, 1), (3, 2)]);
    // All of them are built.
    let layout = roadwright_scenario::junction::layout(network, scenario.about().driving_side);
    let built: usize = layout.junctions.iter().map(|j| j.crossings.len()).sum();
    assert_eq!(built, 3);
    assert!(
        check(&scenario)
            .iter()
            .all(|f| f.code != Code::NoRoomForCrossing)
    );
    // Without the tags, there is no crossing.
    let plain = CROSSINGS
        .replace("v=\"crossing\"", "v=\"milestone\"")
        .replace("k=\"crossing\"", "k=\"note\"");
    let (plain, summary) = imported(&read(plain.as_bytes()).unwrap());
    assert_eq!((summary.crossings, summary.crossings_unassigned), (0, 0));
    let nodes = plain.network().nodes();
    assert!(
        nodes
            .into_iter()
            .all(|(_, node)| node.rules.crossings.is_empty())
    );
}

/// Returns the OSM data of a mini roundabout where four streets meet in Dublin, another one in the
/// middle of a street, and the ring of a small roundabout with three arms, drawn with eight nodes
/// 12 m from its middle.
fn mini_roundabouts(direction: &str) -> String {
    let mini = format!(
        "<tag k=\"highway\" v=\"mini_roundabout\"/><tag k=\"direction\" v=\"{direction}\"/>"
    );
    let mut text = format!(
        "<osm version=\"0.6\">
  <node id=\"1\" lat=\"53.3400\" lon=\"-6.2650\"/>
  <node id=\"2\" lat=\"53.3400\" lon=\"-6.2625\">{mini}</node>
  <node id=\"3\" lat=\"53.3400\" lon=\"-6.2600\">{mini}</node>
  <node id=\"4\" lat=\"53.3400\" lon=\"-6.2560\"/>
  <node id=\"5\" lat=\"53.3385\" lon=\"-6.2600\"/>
  <node id=\"6\" lat=\"53.3415\" lon=\"-6.2600\"/>"
    );
    // A degree of latitude is 111,195 m. At this latitude, a degree of longitude is 0.5972 of that.
    let middle = (53.3500f64, -6.2600f64);
    let at = |angle: f64, radius: f64| {
        let degree = 111_195.0;
        let north = middle.0 + radius * sin(angle) / degree;
        (north, middle.1 + radius * cos(angle) / (degree * 0.5972))
    };
    let eighth = std::f64::consts::FRAC_PI_4;
    for i in 0..8 {
        // Clockwise: Ireland drives on the left.
        let (lat, lon) = at(-eighth * f64::from(i), 12.0);
        text += &format!(
            "<node id=\"{}\" lat=\"{lat:.8}\" lon=\"{lon:.8}\"/>",
            100 + i
        );
    }
    for (i, from) in [0, 3, 6].into_iter().enumerate() {
        let (lat, lon) = at(-eighth * f64::from(from), 100.0);
        text += &format!(
            "<node id=\"{}\" lat=\"{lat:.8}\" lon=\"{lon:.8}\"/>",
            200 + i
        );
        text += &format!(
            "<way id=\"{}\"><nd ref=\"{}\"/><nd ref=\"{}\"/><tag k=\"highway\" v=\"residential\"/></way>",
            20 + i,
            200 + i,
            100 + from
        );
    }
    text += "<way id=\"10\"><nd ref=\"1\"/><nd ref=\"2\"/><nd ref=\"3\"/><nd ref=\"4\"/><tag k=\"highway\" v=\"residential\"/></way>";
    text += "<way id=\"11\"><nd ref=\"5\"/><nd ref=\"3\"/><nd ref=\"6\"/><tag k=\"highway\" v=\"residential\"/></way>";
    text += "<way id=\"12\">";
    for i in 0..=8 {
        text += &format!("<nd ref=\"{}\"/>", 100 + i % 8);
    }
    text + "<tag k=\"highway\" v=\"residential\"/><tag k=\"junction\" v=\"roundabout\"/></way></osm>"
}

#[test]
fn a_mini_roundabout_is_a_node_with_ways_around_its_island() {
    let (scenario, summary) = imported(&read(mini_roundabouts("clockwise").as_bytes()).unwrap());
    assert_eq!(summary.mini_roundabouts, 1);
    let told = |summary: &ImportSummary, what: &str| {
        let mut warnings = summary.warnings.iter();
        warnings.any(|warning| warning.reason.contains(what) && warning.count == 1)
    };
    assert!(told(&summary, "fewer than three roads"));
    assert!(!told(&summary, "contradicts the driving side"));
    let layout = junction::layout(scenario.network(), scenario.about());
    let mut minis = layout.junctions.iter();
    let mini = minis
        .find(|j| j.control == Control::MiniRoundabout)
        .unwrap();
    let ring = mini.ring.expect("there is room");
    assert!(
        (12..=16).contains(&mini.paths.len()),
        "from each street into each"
    );
    for path in &mini.paths {
        let points = path.curve.as_ref().unwrap().sample(0.05, 0.0);
        let nearest = points.iter().map(|p| (*p - ring.centre).length());
        assert!(nearest.fold(f64::INFINITY, f64::min) > ring.island + 0.9);
    }
    // The direction is the opposite of what the country uses: the driving side takes precedence, with a
    // warning.
    let (other, summary) = imported(&read(mini_roundabouts("anticlockwise").as_bytes()).unwrap());
    assert_eq!(other.network(), scenario.network());
    assert!(told(&summary, "contradicts the driving side"));
}

#[test]
fn nobody_drives_over_the_island_of_a_small_roundabout() {
    let (scenario, _) = imported(&read(mini_roundabouts("clockwise").as_bytes()).unwrap());
    let layout = junction::layout(scenario.network(), scenario.about());
    let ring: Vec<RoadId> = layout.rings.iter().copied().collect();
    assert!(ring.len() >= 3, "{ring:?}");
    let nodes = ring.iter().map(|id| {
        let road = scenario.network().road(*id).unwrap();
        scenario.network().node(road.from).unwrap().position()
    });
    let nodes: Vec<_> = nodes.collect();
    // The arms are at 0, 3 and 6 eighths of the circle, so their mean is not the middle. The circle through
    // them gives the middle.
    let middle = circle_through(nodes[0], nodes[1], nodes[2]);
    assert!((nodes[0] - middle).length() > 11.0);
    let graph = lane_graph::LaneGraph::new(&scenario, &layout);
    let mut near = 0;
    for lanelet in graph.indices() {
        for point in graph.line(lanelet).points() {
            let distance = (point - middle).length();
            assert!(distance > 8.0, "{distance} m from the middle of the island");
            near += usize::from(distance < 16.0);
        }
    }
    assert!(near > 20, "some drive around it");
}

fn circle_through(
    a: roadwright_geometry::DVec2,
    b: roadwright_geometry::DVec2,
    c: roadwright_geometry::DVec2,
) -> roadwright_geometry::DVec2 {
    let (b, c) = (b - a, c - a);
    let cross = 2.0 * b.perp_dot(c);
    let (bb, cc) = (b.length_squared(), c.length_squared());
    a + roadwright_geometry::DVec2::new(c.y * bb - b.y * cc, b.x * cc - c.x * bb) / cross
}

/// Returns the OSM data of a street of 120 m from a main street to its end, with a tag at the end.
fn street_with_an_end(tag: &str) -> String {
    format!(
        "<osm version=\"0.6\">
  <node id=\"1\" lat=\"53.3400\" lon=\"-6.2650\"/>
  <node id=\"2\" lat=\"53.3400\" lon=\"-6.2600\"/>
  <node id=\"3\" lat=\"53.3400\" lon=\"-6.2560\"/>
  <node id=\"4\" lat=\"53.3411\" lon=\"-6.2600\"><tag k=\"highway\" v=\"{tag}\"/></node>
  <way id=\"10\"><nd ref=\"1\"/><nd ref=\"2\"/><nd ref=\"3\"/><tag k=\"highway\" v=\"secondary\"/></way>
  <way id=\"11\"><nd ref=\"2\"/><nd ref=\"4\"/><tag k=\"highway\" v=\"residential\"/></way>
</osm>"
    )
}

#[test]
fn cars_turn_around_at_a_turning_circle_at_the_end_of_a_street() {
    // At the end of the road, and at its start if the way is drawn from there.
    let reversed = |text: &str| {
        text.replace(
            "<nd ref=\"2\"/><nd ref=\"4\"/>",
            "<nd ref=\"4\"/><nd ref=\"2\"/>",
        )
    };
    for (tag, circles) in [
        ("turning_circle", 1),
        ("turning_loop", 1),
        ("street_lamp", 0),
    ] {
        let text = street_with_an_end(tag);
        for text in [reversed(&text), text] {
            let (scenario, summary) = imported(&read(text.as_bytes()).unwrap());
            assert_eq!(summary.turning_circles, circles, "{tag}");
            let layout = junction::layout(scenario.network(), scenario.about());
            let graph = lane_graph::LaneGraph::new(&scenario, &layout);
            let u_turns = graph.numbered().filter(|(_, one)| {
                let lane_graph::LaneletKind::Connection { turn, .. } = one.kind else {
                    return false;
                };
                turn == junction::Turn::UTurn
            });
            assert_eq!(u_turns.count(), circles, "{tag}");
            // The lanes into the street lead out of it again, or it is a trap.
            let street = scenario.network().roads().last().unwrap().0;
            let of_street = graph.numbered();
            let of_street = of_street.filter(|(_, one)| one.road() == Some(street));
            let lanes: Vec<_> = of_street.map(|(id, _)| id).collect();
            let reached = lanes.iter().map(|&start| {
                let reached = graph.reachable_from(start, VehicleClass::Car);
                lanes.iter().filter(|id| reached[id.index()]).count()
            });
            let (most, all) = (reached.max(), 2 * (1 + circles));
            assert_eq!(
                (most, lanes.len()),
                (Some(if circles == 1 { 4 } else { 1 }), all),
                "{tag}"
            );
            let findings = check(&scenario);
            assert!(
                findings.iter().all(|finding| finding.code == Code::NoBuses),
                "{findings:?}"
            );
        }
    }
    // On a short street there is no room for it.
    let short = street_with_an_end("turning_circle").replace("53.3411", "53.34015");
    let (_, summary) = imported(&read(short.as_bytes()).unwrap());
    assert_eq!(summary.turning_circles, 0);
}
