//! Tests of paint on roads and of its positions.

use roadwright_geometry::{DVec2, ReferenceLine, polygon, unit};
use roadwright_render::{
    Bridges, Color, Painter, Pass, Picture, map, palette, roads_and_junctions, verges,
};
use roadwright_scenario::junction::{Junction, Turn, Turns, layout};
use roadwright_scenario::operation::draw::{self, RoadStyle};
use roadwright_scenario::*;

/// A line: its pass, points, width, dashes and colour.
type Line = (Pass, Vec<DVec2>, f64, Option<(f64, f64)>, Color);

/// A painter that records all shapes.
struct Notes {
    scale: f64,
    pass: Pass,
    polygons: Vec<(Pass, Vec<DVec2>, Color)>,
    lines: Vec<Line>,
}

impl Painter for Notes {
    fn scale(&self) -> f64 {
        self.scale
    }

    fn begin(&mut self, pass: Pass) {
        self.pass = pass;
    }

    fn polygon(&mut self, points: &[DVec2], color: Color) {
        self.polygons.push((self.pass, points.to_vec(), color));
    }

    fn area(&mut self, rings: &[&[DVec2]], color: Color) {
        if let Some(outline) = rings.first() {
            self.polygon(outline, color);
        }
    }

    fn soft_polygon(&mut self, points: &[DVec2], _: f64, color: Color) {
        self.polygon(points, color);
    }

    fn edge(&mut self, _: &[DVec2], _: f64, _: f32, _: Color) {}

    fn dashed_line(
        &mut self,
        points: &[DVec2],
        width: f64,
        _: f32,
        dash: Option<(f64, f64)>,
        color: Color,
    ) {
        self.lines
            .push((self.pass, points.to_vec(), width, dash, color));
    }

    fn circle(&mut self, _: DVec2, _: f64, _: f32, _: Color) {}
}

impl Notes {
    fn of(scenario: &Scenario, scale: f64) -> Self {
        let mut notes = Self {
            scale,
            pass: Pass::Ground,
            polygons: Vec::new(),
            lines: Vec::new(),
        };
        let layout = layout(scenario.network(), scenario.about().driving_side);
        let roads: Vec<RoadId> = scenario.network().roads().map(|(id, _)| id).collect();
        let junctions: Vec<&Junction> = layout.junctions.iter().map(|j| &**j).collect();
        roads_and_junctions(&mut notes, scenario, &layout, &roads, &junctions);
        notes
    }

    fn painted(&self) -> impl Iterator<Item = &Vec<DVec2>> {
        let marks = self.polygons.iter();
        let marks = marks.filter(|(pass, ..)| *pass == Pass::Marking);
        marks.map(|(_, points, _)| points)
    }

    fn marking_lines(&self) -> impl Iterator<Item = &Line> {
        self.lines
            .iter()
            .filter(|(pass, ..)| *pass == Pass::Marking)
    }
}

/// Creates straight roads of 80 m that meet in the middle.
fn star(bearings: &[f64], lanes: usize, width: f64, control: Option<Control>) -> Scenario {
    star_of(
        bearings,
        CrossSection::driving(lanes, lanes, width),
        control,
    )
}

/// Creates a junction of straight roads with the given bearings. Pavements are added on both sides of
/// `section`.
fn star_of(bearings: &[f64], section: CrossSection, control: Option<Control>) -> Scenario {
    let style = RoadStyle {
        name: String::new(),
        class: RoadClass::Collector,
        layer: 0,
        speed_limit: 50.0 / 3.6,
        section: section.with_border(LaneType::Sidewalk, 2.0),
    };
    let mut scenario = Scenario::new("star");
    for bearing in bearings {
        let far = unit(bearing.to_radians()) * 80.0;
        let line = ReferenceLine::straight(far, DVec2::ZERO).unwrap();
        let edit = draw::road(&scenario, &line, &style).unwrap();
        scenario.apply(edit).unwrap();
    }
    let network = scenario.network();
    let middle = network
        .nodes()
        .find(|(id, _)| network.ends_at(*id).len() > 2);
    let (id, node) = middle.map(|(id, node)| (id, node.clone())).unwrap();
    let rules = JunctionRules {
        control,
        major: vec![RoadId(1), RoadId(3)],
        ..JunctionRules::default()
    };
    let edit = Edit::Node(id, Some(Node { rules, ..node }));
    scenario.apply(edit).unwrap();
    scenario
}

const CROSS: [f64; 4] = [0.0, 90.0, 180.0, 270.0];

#[test]
fn arrows_stand_only_where_lanes_lead_to_different_places() {
    let single = Notes::of(&star(&CROSS, 1, 3.25, Some(Control::AllWayStop)), 20.0);
    assert_eq!(
        single.painted().count(),
        0,
        "one lane each: nothing to choose"
    );
    let double = Notes::of(&star(&CROSS, 2, 3.25, Some(Control::AllWayStop)), 20.0);
    // Four approaches with two lanes each, two arrows per lane, and two heads per arrow (straight on and to
    // one side).
    assert_eq!(double.painted().count(), 4 * 2 * 2 * 2);
    for head in double.painted() {
        let at = head[0].length();
        assert!(at < 45.0, "within 20 m of the line: {at}");
    }
    assert_eq!(
        Notes::of(&star(&CROSS, 2, 3.25, None), 2.5)
            .painted()
            .count(),
        0
    );
}

#[test]
fn lines_across_the_road_follow_the_signs() {
    let stop_lines = |notes: &Notes| notes.marking_lines().filter(|line| line.2 == 0.4).count();
    let signals = Notes::of(&star(&CROSS, 1, 3.25, Some(Control::Signals)), 20.0);
    // The painted shapes are the signal heads, one for each stop line.
    assert_eq!((stop_lines(&signals), signals.painted().count()), (4, 4));
    let stop = Notes::of(&star(&CROSS, 1, 3.25, Some(Control::Stop)), 20.0);
    assert_eq!((stop_lines(&stop), stop.painted().count()), (2, 0));
    let give_way = Notes::of(&star(&CROSS, 1, 3.25, Some(Control::Priority)), 20.0);
    // Three triangles on each of two lanes, which point at the traffic that yields.
    assert_eq!((stop_lines(&give_way), give_way.painted().count()), (0, 6));
    for triangle in give_way.painted() {
        assert!(triangle[1].length() > triangle[0].length().max(triangle[2].length()));
    }
    // The last 20 m of the lines before a stop line are solid, including the line between the directions.
    let solid = |notes: &Notes| {
        let long = |line: &&Line| line.2 == 0.12 && line.3.is_none();
        notes.marking_lines().filter(long).count()
    };
    assert_eq!(solid(&signals), 4 * 2);
    assert_eq!(solid(&give_way), 0);
}

#[test]
fn lines_that_must_not_be_crossed_are_solid_on_that_side() {
    let lined = |changes: [LaneChange; 2]| {
        let mut scenario = star(&CROSS, 2, 3.25, None);
        let id = RoadId(1);
        let mut road = scenario.network().road(id).unwrap().clone();
        let mut lanes = road.lane_sections[0].lanes.iter_mut();
        for (lane, change) in [-1, -2].into_iter().zip(changes) {
            let own = lanes.find(|own| own.id == lane).unwrap();
            own.lane_change = change;
        }
        scenario
            .apply(Edit::Road(id, Some(Box::new(road))))
            .unwrap();
        let notes = Notes::of(&scenario, 20.0);
        let lines: Vec<bool> = notes
            .marking_lines()
            .filter(|line| line.2 == 0.12)
            .map(|line| line.3.is_none())
            .collect();
        let solid = lines.iter().filter(|solid| **solid).count();
        (solid, lines.len() - solid)
    };
    let (both, none) = (LaneChange::Both, LaneChange::None);
    let (solid, dashed) = lined([both, both]);
    assert_eq!(lined([none, none]), (solid + 1, dashed - 1));
    // A broken line beside a solid one, for either side from which crossing is permitted.
    assert_eq!(lined([none, both]), (solid + 1, dashed));
    assert_eq!(lined([both, LaneChange::Right]), (solid + 1, dashed));
    // A change onto the pavement is impossible, so permitting it has no effect.
    assert_eq!(lined([both, LaneChange::Left]), (solid, dashed));
}

#[test]
fn the_centre_line_of_the_major_road_runs_on_through_a_t() {
    let through = |bearings: &[f64]| {
        let notes = Notes::of(&star(bearings, 1, 3.25, Some(Control::Priority)), 20.0);
        let at_the_node = |line: &[DVec2]| {
            line.windows(2).any(|pair| {
                polygon::closest_on_segment(pair[0], pair[1], DVec2::ZERO).length() < 0.1
            })
        };
        notes
            .marking_lines()
            .filter(|line| at_the_node(&line.1))
            .count()
    };
    assert_eq!(through(&[0.0, 270.0, 180.0]), 1);
    assert_eq!(through(&CROSS), 0);
}

#[test]
fn cycle_lanes_lead_through_junctions() {
    let painted = |bearings: &[f64], control: Control| {
        let section = CrossSection::driving(1, 1, 3.25).with_border(LaneType::Biking, 1.6);
        let notes = Notes::of(&star_of(bearings, section, Some(control)), 20.0);
        // Within the cuts of the arms, there is only paint that leads through the junction.
        let leads = |points: &[DVec2]| points.iter().all(|point| point.length() < 16.0);
        let surfaces = notes.polygons.iter();
        let surfaces = surfaces.filter(|(pass, points, _)| *pass == Pass::Lane && leads(points));
        let strengths: Vec<f32> = surfaces.map(|(.., color)| color.alpha()).collect();
        let lines = |width: f64, dash: Option<(f64, f64)>| {
            let alike = |line: &&Line| (line.2, line.3) == (width, dash) && leads(&line.1);
            notes.marking_lines().filter(alike).count()
        };
        let squares = lines(0.4, Some((0.4, 0.4)));
        let blocks = lines(0.3, Some((0.5, 0.5)));
        (strengths, squares, blocks, lines(0.15, None))
    };
    // Other traffic crosses all four cycle lanes, so they have squares beside them and a weaker colour.
    let (strengths, squares, blocks, solid) = painted(&CROSS, Control::Signals);
    assert_eq!((strengths.len(), squares, blocks, solid), (4, 8, 0, 0));
    assert!(strengths.iter().all(|strength| *strength < 0.6));
    // On the far side of a T-junction no traffic enters, so the cycle lane continues there.
    let (strengths, squares, blocks, solid) = painted(&[0.0, 270.0, 180.0], Control::Priority);
    assert_eq!((strengths.len(), squares, blocks, solid), (2, 0, 2, 1));
    assert_eq!(
        strengths
            .iter()
            .filter(|strength| **strength == 1.0)
            .count(),
        1
    );
}

#[test]
fn bus_lanes_have_their_word_for_who_drives_there() {
    let section = CrossSection::driving(1, 1, 3.25).with_border(LaneType::Bus, 3.25);
    let notes = Notes::of(&star_of(&CROSS, section, None), 20.0);
    let strokes = notes.marking_lines().filter(|line| line.2 == 0.16);
    let strokes: Vec<&Vec<DVec2>> = strokes.map(|line| &line.1).collect();
    // A word in each direction on four arms: two strokes of a B, one of a U, one of an S.
    assert_eq!(strokes.len(), 4 * 2 * 4);
    // On the eastern arm, traffic towards the junction keeps to the north and looks west, so the B is in the
    // south.
    let middle = |points: &[DVec2]| points.iter().sum::<DVec2>() / points.len() as f64;
    let inward = strokes.iter().map(|stroke| middle(stroke));
    let mut inward: Vec<DVec2> = inward.filter(|at| at.x > 20.0 && at.y > 0.0).collect();
    assert_eq!(inward.len(), 4);
    let first = inward.remove(0);
    assert!(
        inward[1..].iter().all(|other| other.y > first.y),
        "{first} {inward:?}"
    );
}

#[test]
fn guide_lines_lead_who_turns_across_at_signals() {
    let lines = |control: Control, turns: Turns| {
        let mut scenario = star(&CROSS, 2, 3.25, Some(control));
        let mut road = scenario.network().road(RoadId(1)).unwrap().clone();
        let mut lanes = road.lane_sections[0].lanes.iter_mut();
        lanes.find(|lane| lane.id == -1).unwrap().turns = turns;
        let edit = Edit::Road(RoadId(1), Some(Box::new(road)));
        scenario.apply(edit).unwrap();
        let notes = Notes::of(&scenario, 20.0);
        let guides = notes
            .marking_lines()
            .filter(|line| line.3 == Some((1.0, 1.0)));
        guides.count()
    };
    let left = Turns::NONE.with(Turn::Left);
    assert_eq!(lines(Control::Signals, left), 1);
    // A lane that also leads elsewhere has no guide line, and neither does a lane whose drivers yield.
    assert_eq!(lines(Control::Signals, left.with(Turn::Straight)), 0);
    assert_eq!(lines(Control::Priority, left), 0);
}

#[test]
fn paint_fades_with_the_width_of_a_lane_in_pixels() {
    let scenario = star(&CROSS, 1, 3.25, None);
    let strongest = |scale: f64| {
        let notes = Notes::of(&scenario, scale);
        let alphas = notes.marking_lines().map(|line| line.4.alpha());
        alphas.fold(0.0f32, f32::max)
    };
    // Paint is invisible at four pixels and opaque at seven.
    assert_eq!(strongest(1.2), 0.0);
    let (some, more, all) = (strongest(1.5), strongest(1.9), strongest(2.2));
    assert!(0.0 < some && some < more && more < all && all > 0.9);
    assert_eq!(strongest(20.0), all);
}

#[test]
fn kerbs_lie_between_pavement_and_carriageway() {
    let notes = Notes::of(&star(&CROSS, 1, 3.25, None), 20.0);
    let kerbs: Vec<_> = notes
        .lines
        .iter()
        .filter(|line| line.0 == Pass::Kerb)
        .collect();
    assert!(kerbs.len() >= 4 * 2 + 4);
    let areas = |pass: Pass| -> Vec<&Vec<DVec2>> {
        let own = notes.polygons.iter().filter(|polygon| polygon.0 == pass);
        own.map(|polygon| &polygon.1).collect()
    };
    let near = |areas: &[&Vec<DVec2>], point: DVec2| {
        areas
            .iter()
            .any(|area| polygon::distance(area, point) < 0.01)
    };
    let (pavements, surfaces) = (areas(Pass::Pavement), areas(Pass::Surface));
    for point in kerbs.iter().flat_map(|line| &line.1) {
        assert!(
            near(&pavements, *point) && near(&surfaces, *point),
            "{point}"
        );
    }
}

#[test]
fn no_hairline_shows_between_roads_and_junctions() {
    // The road is too narrow for a centre line, so the whole carriageway is asphalt.
    let scenario = star(&[20.0, 115.0, 200.0, 290.0], 1, 2.6, None);
    let (low, high) = (DVec2::new(-16.03, -12.01), DVec2::new(15.97, 11.99));
    let picture = Picture {
        size: (1200, 900),
        view: Some((low, high)),
        ..Picture::default()
    };
    let png = map(&scenario, None, &picture).unwrap();
    let pixels = tiny_skia::Pixmap::decode_png(&png).unwrap();
    let scale = 1200.0 / (high.x - low.x);
    let asphalt = palette::rgb(palette::ASPHALT).to_color_u8();
    let mut seen = 0;
    for (index, pixel) in pixels.pixels().iter().enumerate() {
        let (x, y) = ((index % 1200) as f64 + 0.5, (index / 1200) as f64 + 0.5);
        let point = DVec2::new(low.x + x / scale, high.y - y / scale);
        let is_inside = [20.0f64, 115.0, 200.0, 290.0].iter().any(|bearing| {
            let along = unit(bearing.to_radians());
            point.dot(along) > 0.0 && point.perp_dot(along).abs() < 2.6 - 0.1
        });
        // The title, the scale and the names are in the corners.
        if !is_inside || x < 330.0 && !(150.0..700.0).contains(&y) {
            continue;
        }
        seen += 1;
        let near = |a: u8, b: u8| a.abs_diff(b) <= 1;
        assert!(
            near(pixel.red(), asphalt.red()) && near(pixel.blue(), asphalt.blue()),
            "{point}: {pixel:?}"
        );
    }
    assert!(seen > 100_000, "{seen} pixels of carriageway");
}

#[test]
fn what_is_hidden_is_not_in_the_picture() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../scenarios/figure-eight.scenario.json"
    );
    let scenario = file::load(path.as_ref()).unwrap();
    let drawn = |hidden: &[MapPart]| {
        let picture = Picture {
            size: (400, 300),
            furnished: false,
            hidden: hidden.iter().copied().collect(),
            ..Picture::default()
        };
        let png = map(&scenario, None, &picture).unwrap();
        tiny_skia::Pixmap::decode_png(&png).unwrap()
    };
    let whole = drawn(&[]);
    let differing = |other: &tiny_skia::Pixmap| {
        let pixels = whole.pixels().iter().zip(other.pixels());
        pixels.filter(|(a, b)| a != b).count()
    };
    // The bridge alone, the ground below it alone, and both.
    let layers = layers(&scenario);
    let single: Vec<usize> = layers
        .iter()
        .map(|layer| differing(&drawn(&[MapPart::Layer(*layer)])))
        .collect();
    let all = differing(&drawn(&[MapPart::Roads]));
    assert!(single.iter().all(|count| *count > 100), "{single:?}");
    assert!(single.iter().all(|count| *count < all), "{single:?} {all}");
    let every: Vec<MapPart> = layers.iter().map(|layer| MapPart::Layer(*layer)).collect();
    assert_eq!(differing(&drawn(&every)), all);
    // Control: hiding something that does not exist changes nothing.
    assert_eq!(differing(&drawn(&[MapPart::Layer(99), MapPart::Land])), 0);
    // Without roads, only the ground remains.
    let bare = drawn(&MapPart::KINDS);
    let first = bare.pixels()[0];
    assert!(bare.pixels().iter().all(|pixel| *pixel == first));
}

#[test]
fn land_beyond_the_roads_does_not_enlarge_the_picture() {
    let alone = star(&[0.0, 90.0, 180.0], 1, 3.0, None);
    let field = |radius: f64, low: DVec2| {
        let corners = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)];
        let outline = corners.map(|(x, y)| low + radius * DVec2::new(x, y));
        Land {
            name: String::new(),
            usage: LandUse::Grass,
            outline: outline.to_vec().into(),
            holes: Vec::new().into(),
        }
    };
    let with = |scenario: &Scenario, land: Land| {
        let mut scenario = scenario.clone();
        let edit = Edit::Land(LandId(1), Some(Box::new(land)));
        scenario.apply(edit).unwrap();
        scenario
    };
    let drawn = |scenario: &Scenario| {
        let picture = Picture {
            size: (400, 300),
            ..Picture::default()
        };
        map(scenario, None, &picture).unwrap()
    };
    let far = with(&alone, field(9000.0, DVec2::new(3000.0, 3000.0)));
    assert_eq!(far.frame(), alone.frame());
    assert_ne!(far.bounds(), alone.bounds());
    assert!(drawn(&far) == drawn(&alone));
    // Land below the roads is still painted. Without roads, the land determines the part of the world that is
    // shown.
    let below = with(&alone, field(50.0, DVec2::ZERO));
    assert!(drawn(&below) != drawn(&alone));
    let bare = with(&Scenario::new("bare"), field(50.0, DVec2::ZERO));
    assert_eq!(bare.frame(), Some((DVec2::ZERO, DVec2::splat(50.0))));
}

#[test]
fn painted_medians_have_lines_and_are_never_raised() {
    let notes = |kind: LaneType| {
        let half = || vec![(kind, 1.6), (LaneType::Driving, 3.25)];
        let section = CrossSection {
            forward: half(),
            backward: half(),
        };
        Notes::of(&star_of(&[0.0, 90.0, 180.0], section, None), 10.0)
    };
    let raised = |notes: &Notes| {
        let mut polygons = notes.polygons.iter();
        polygons.any(|(_, _, color)| *color == palette::rgb(palette::MEDIAN))
    };
    let (flat, kerbed) = (notes(LaneType::PaintedMedian), notes(LaneType::Median));
    assert!(raised(&kerbed) && !raised(&flat));
    // A solid line runs along each side of the median, 1.6 m from its middle.
    for side in [1.6, -1.6] {
        let beside = |line: &&Line| line.1.iter().all(|p| (p.y - side).abs() < 0.05);
        let mut lines = flat.marking_lines().filter(beside);
        assert!(lines.any(|line| line.3.is_none()));
    }
}

/// Creates two streets with pavements that cross, and a roundabout over their crossing, as users
/// draw them.
fn drawn_roundabout(radius: f64, side: DrivingSide) -> Scenario {
    let mut scenario = Scenario::new("roundabout");
    let mut about = scenario.about().clone();
    about.driving_side = side;
    scenario.apply(Edit::About(Box::new(about))).unwrap();
    let style = RoadStyle {
        name: String::new(),
        class: RoadClass::Collector,
        layer: 0,
        speed_limit: 50.0 / 3.6,
        section: CrossSection::driving(1, 1, 3.25).with_border(LaneType::Sidewalk, 2.0),
    };
    for (from, to) in [(DVec2::NEG_X, DVec2::X), (DVec2::NEG_Y, DVec2::Y)] {
        let line = ReferenceLine::straight(80.0 * from, 80.0 * to).unwrap();
        let edit = draw::road(&scenario, &line, &style).unwrap();
        scenario.apply(edit).unwrap();
    }
    let edit = draw::roundabout(&scenario, DVec2::ZERO, radius, 0).unwrap();
    scenario.apply(edit).unwrap();
    scenario
}

#[test]
fn roundabouts_have_triangles_and_dashes_on_their_rim() {
    for side in [DrivingSide::Right, DrivingSide::Left] {
        let scenario = drawn_roundabout(15.0, side);
        let notes = Notes::of(&scenario, 18.0);
        let rim = 15.0 + 0.5 * draw::ring_section(15.0).forward[0].1;
        let triangles = notes.painted().filter(|points| points.len() == 3);
        let mut of_arms = [0; 4];
        for triangle in triangles {
            let [from, tip, to] = triangle[..] else {
                panic!("{triangle:?}");
            };
            assert!((from.length() - rim).abs() < 0.02 && (to.length() - rim).abs() < 0.02);
            assert!((tip.length() - rim - 0.7).abs() < 0.02, "{}", tip.length());
            // Traffic enters behind the middle of the arm, in the driving direction of the ring.
            let arm = [DVec2::X, DVec2::Y, DVec2::NEG_X, DVec2::NEG_Y];
            let nearest = (0..4).max_by(|a, b| tip.dot(arm[*a]).total_cmp(&tip.dot(arm[*b])));
            let nearest = nearest.unwrap();
            let behind = side.around() * arm[nearest].perp_dot(tip);
            assert!((0.3..8.5).contains(&behind), "{behind}");
            of_arms[nearest] += 1;
        }
        assert!(
            of_arms.iter().all(|count| (3..=6).contains(count)),
            "{of_arms:?}"
        );
        let exits = notes.marking_lines().filter(|(_, points, _, dash, _)| {
            *dash == Some((0.5, 0.5)) && points.iter().all(|p| (p.length() - rim).abs() < 0.02)
        });
        assert_eq!(exits.count(), 4);
    }
}

#[test]
fn small_islands_have_an_apron_of_setts() {
    let areas = |radius: f64| {
        let notes = Notes::of(&drawn_roundabout(radius, DrivingSide::Right), 18.0);
        let area = |color: u32| {
            let own = notes.polygons.iter();
            let own = own.filter(|(pass, _, c)| *pass == Pass::Ground && *c == palette::rgb(color));
            own.map(|(_, points, _)| polygon::signed_area(points).abs())
                .fold(0.0, f64::max)
        };
        (area(palette::APRON), area(palette::MEDIAN))
    };
    let of_circle = |radius: f64| std::f64::consts::PI * radius * radius;
    for (radius, apron) in [(15.0, 2.4), (9.0, 0.3 * 6.1)] {
        let inner = radius - 0.5 * draw::ring_section(radius).forward[0].1;
        let (whole, lawn) = areas(radius);
        assert!((whole / of_circle(inner) - 1.0).abs() < 0.01, "{whole}");
        assert!(
            (lawn / of_circle(inner - apron) - 1.0).abs() < 0.01,
            "{lawn}"
        );
    }
    let (apron, lawn) = areas(30.0);
    assert_eq!(apron, 0.0);
    assert!(lawn > of_circle(27.0));
}

/// Records the verges of a scenario.
fn verges_of(scenario: &Scenario) -> Notes {
    let layout = layout(scenario.network(), scenario.about().driving_side);
    let mut notes = Notes {
        scale: 10.0,
        pass: Pass::Ground,
        polygons: Vec::new(),
        lines: Vec::new(),
    };
    let roads: Vec<RoadId> = scenario.network().roads().map(|(id, _)| id).collect();
    let bridges = Bridges::of(scenario, &layout);
    let junctions: Vec<&Junction> = layout.junctions.iter().map(|j| &**j).collect();
    verges(&mut notes, scenario, &layout, &bridges, &roads, &junctions);
    notes
}

/// Creates a straight road from west to east.
fn straight_road(class: RoadClass, speed: f64, section: CrossSection) -> Scenario {
    let mut scenario = Scenario::new("road");
    let line = ReferenceLine::straight(DVec2::ZERO, DVec2::new(300.0, 0.0)).unwrap();
    let style = RoadStyle {
        name: String::new(),
        class,
        layer: 0,
        speed_limit: speed / 3.6,
        section,
    };
    let edit = draw::road(&scenario, &line, &style).unwrap();
    scenario.apply(edit).unwrap();
    scenario
}

#[test]
fn fast_roads_have_verges_and_motorways_a_rail() {
    let town = straight_road(
        RoadClass::Collector,
        50.0,
        CrossSection::driving(1, 1, 3.25),
    );
    assert!(verges_of(&town).polygons.is_empty());
    let paved = CrossSection::driving(1, 1, 3.25).with_border(LaneType::Sidewalk, 2.0);
    let paved = straight_road(RoadClass::Arterial, 80.0, paved);
    assert!(verges_of(&paved).polygons.is_empty());
    let rural = straight_road(RoadClass::Arterial, 80.0, CrossSection::driving(1, 1, 3.5));
    let notes = verges_of(&rural);
    let reach = |notes: &Notes, color: u32| {
        let own = notes
            .polygons
            .iter()
            .filter(|(.., c)| *c == palette::rgb(color));
        let all: Vec<f64> = own
            .flat_map(|(_, points, _)| points.iter().map(|p| p.y))
            .collect();
        (
            all.iter().copied().fold(f64::INFINITY, f64::min),
            all.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        )
    };
    let (low, high) = reach(&notes, palette::SAND);
    assert!(
        (low + 5.0).abs() < 1e-6 && (high - 5.0).abs() < 1e-6,
        "{low} {high}"
    );
    assert!(notes.lines.is_empty());
    // In right-hand traffic, the inner edge of a carriageway to the east is its northern one.
    let motorway = straight_road(RoadClass::Motorway, 120.0, CrossSection::driving(3, 0, 3.5));
    let (_, road) = motorway.network().roads().next().unwrap();
    let (right, left) = road.carriageway(100.0);
    let notes = verges_of(&motorway);
    // Beside the outer edge, a hard shoulder of 2.5 m, and 1.5 m of earth beyond it.
    assert!((reach(&notes, palette::HARD_SHOULDER).0 - (right - 2.5)).abs() < 1e-6);
    assert!((reach(&notes, palette::SAND).0 - (right - 4.0)).abs() < 1e-6);
    assert!((reach(&notes, palette::MEDIAN).1 - (left + 2.0)).abs() < 1e-6);
    let rails: Vec<f64> = notes
        .lines
        .iter()
        .flat_map(|line| line.1.iter().map(|p| p.y))
        .collect();
    assert!(!rails.is_empty() && rails.iter().all(|y| (y - left - 0.65).abs() < 1e-6));
}

#[test]
fn hard_shoulders_narrow_towards_slip_roads() {
    let mut scenario = straight_road(RoadClass::Motorway, 120.0, CrossSection::driving(3, 0, 3.5));
    let (_, road) = scenario.network().roads().next().unwrap();
    let (right, _) = road.carriageway(100.0);
    let end = road.reference_line.end().position;
    let line = ReferenceLine::straight(end, end + DVec2::new(100.0, 0.0)).unwrap();
    let style = RoadStyle {
        name: String::new(),
        class: RoadClass::Ramp,
        layer: 0,
        speed_limit: 80.0 / 3.6,
        section: CrossSection::driving(1, 0, 3.5),
    };
    let ramp = draw::road(&scenario, &line, &style).unwrap();
    scenario.apply(ramp).unwrap();
    let notes = verges_of(&scenario);
    let own = notes.polygons.iter();
    let own = own.filter(|(.., color)| *color == palette::rgb(palette::HARD_SHOULDER));
    let points: Vec<DVec2> = own.flat_map(|(_, points, _)| points.clone()).collect();
    let last = points.iter().map(|p| p.x).fold(f64::NEG_INFINITY, f64::max);
    let outermost = |from: f64, to: f64| {
        let near = points.iter().filter(|p| (from..=to).contains(&p.x));
        near.map(|p| p.y).fold(f64::INFINITY, f64::min)
    };
    assert!((outermost(last - 1e-6, last) - right).abs() < 1e-6);
    assert!((outermost(0.0, last - 29.0) - (right - 2.5)).abs() < 1e-6);
}

#[test]
fn embankments_lead_to_bridges_over_roads() {
    let mut scenario = straight_road(
        RoadClass::Collector,
        50.0,
        CrossSection::driving(1, 1, 3.25),
    );
    assert!(verges_of(&scenario).polygons.is_empty());
    let line = ReferenceLine::straight(DVec2::new(150.0, -50.0), DVec2::new(150.0, 150.0)).unwrap();
    let style = RoadStyle {
        name: String::new(),
        class: RoadClass::Collector,
        layer: 1,
        speed_limit: 50.0 / 3.6,
        section: CrossSection::driving(1, 1, 3.25),
    };
    let edit = draw::road(&scenario, &line, &style).unwrap();
    scenario.apply(edit).unwrap();
    let notes = verges_of(&scenario);
    // Two slopes at either end of the deck.
    assert_eq!(notes.polygons.len(), 4);
    let reach = |points: &[DVec2]| {
        points
            .iter()
            .map(|p| (p.x - 150.0).abs())
            .fold(0.0, f64::max)
    };
    for (_, slope, _) in &notes.polygons {
        // The slope of an embankment that is five metres high, beside a road 6.5 m wide.
        assert!((reach(slope) - 11.25).abs() < 1e-6, "{}", reach(slope));
        let ends = slope.iter().map(|p| p.y.abs());
        let (near, far) = ends.fold((f64::INFINITY, 0.0_f64), |(a, b), y| (a.min(y), b.max(y)));
        assert!((near - 13.25).abs() < 0.1, "{near}");
        // To the south the road ends before the embankment would be flat.
        assert!(
            far < 76.0 && (far - 75.75).abs().min((far - 50.0).abs()) < 3.0,
            "{far}"
        );
    }
    assert!(notes.lines.len() > 40);
}
