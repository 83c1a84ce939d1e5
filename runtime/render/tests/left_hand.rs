//! Checks that all paint and the positions of signal heads in left-hand traffic mirror those in
//! right-hand traffic.

use roadwright_geometry::{DVec2, Pose, ReferenceLine, Segment, unit};
use roadwright_render::palette::{MEDIAN, SIDEWALK, rgb};
use roadwright_render::{Color, Painter, Pass, roads_and_junctions, signal};
use roadwright_scenario::junction::{Junction, Layout, layout};
use roadwright_scenario::operation::draw::{self, RoadStyle};
use roadwright_scenario::*;
use std::f64::consts::{FRAC_PI_2, PI, TAU};

/// Distance above which two shapes count as different, m.
const SAME: f64 = 1e-6;

/// A painted shape: its pass, colour, width, dashes (none for areas), and points.
#[derive(Debug, Clone)]
struct Shape {
    pass: Pass,
    color: [f32; 4],
    line: Option<(f64, Option<(f64, f64)>)>,
    points: Vec<DVec2>,
}

fn parts(color: Color) -> [f32; 4] {
    [color.red(), color.green(), color.blue(), color.alpha()]
}

/// A painter that records all shapes.
struct Notes {
    pass: Pass,
    shapes: Vec<Shape>,
}

impl Notes {
    fn add(
        &mut self,
        line: Option<(f64, Option<(f64, f64)>)>,
        points: impl IntoIterator<Item = DVec2>,
        color: Color,
    ) {
        self.shapes.push(Shape {
            pass: self.pass,
            color: parts(color),
            line,
            points: points.into_iter().collect(),
        });
    }
}

impl Painter for Notes {
    fn scale(&self) -> f64 {
        20.0
    }

    fn begin(&mut self, pass: Pass) {
        self.pass = pass;
    }

    fn polygon(&mut self, points: &[DVec2], color: Color) {
        self.add(None, points.to_vec(), color);
    }

    fn area(&mut self, rings: &[&[DVec2]], color: Color) {
        self.add(None, rings.iter().copied().flatten().copied(), color);
    }

    fn soft_polygon(&mut self, points: &[DVec2], _: f64, color: Color) {
        self.polygon(points, color);
    }

    // Edges are closed, as areas are.
    fn edge(&mut self, points: &[DVec2], _: f64, _: f32, color: Color) {
        self.add(None, points.to_vec(), color);
    }

    fn dashed_line(
        &mut self,
        points: &[DVec2],
        width: f64,
        _: f32,
        dash: Option<(f64, f64)>,
        color: Color,
    ) {
        self.add(Some((width, dash)), points.to_vec(), color);
    }

    fn circle(&mut self, at: DVec2, radius: f64, _: f32, color: Color) {
        self.add(Some((radius, None)), [at], color);
    }
}

/// A town for either driving side. In right-hand traffic it is drawn as specified, and in left-hand traffic
/// it is mirrored about the y axis.
struct Town {
    scenario: Scenario,
    side: DrivingSide,
}

impl Town {
    fn new(side: DrivingSide) -> Self {
        let mut scenario = Scenario::new("town");
        let about = About {
            driving_side: side,
            ..scenario.about().clone()
        };
        scenario.apply(Edit::About(Box::new(about))).unwrap();
        Self { scenario, side }
    }

    /// Returns 1 in right-hand traffic, and -1 in left-hand traffic.
    fn turn(&self) -> f64 {
        match self.side {
            DrivingSide::Right => 1.0,
            DrivingSide::Left => -1.0,
        }
    }

    fn place(&self, at: DVec2) -> DVec2 {
        DVec2::new(self.turn() * at.x, at.y)
    }

    fn road(&mut self, from: DVec2, to: DVec2, style: &RoadStyle) {
        let line = ReferenceLine::straight(self.place(from), self.place(to)).unwrap();
        self.line(&line, style);
    }

    fn line(&mut self, line: &ReferenceLine, style: &RoadStyle) {
        let edit = draw::road(&self.scenario, line, style).unwrap();
        self.scenario.apply(edit).unwrap();
    }

    /// Sets the rules of the node with the most roads.
    fn rule(&mut self, rules: JunctionRules) {
        let network = self.scenario.network();
        let most = network
            .nodes()
            .max_by_key(|(id, _)| (network.ends_at(*id).len(), std::cmp::Reverse(*id)));
        let (id, node) = most.map(|(id, node)| (id, node.clone())).unwrap();
        let edit = Edit::Node(id, Some(Node { rules, ..node }));
        self.scenario.apply(edit).unwrap();
    }

    fn layout(&self) -> Layout {
        layout(self.scenario.network(), self.scenario.about())
    }

    fn painted(&self) -> Vec<Shape> {
        let layout = self.layout();
        let roads: Vec<RoadId> = self.scenario.network().roads().map(|(id, _)| id).collect();
        let junctions: Vec<&Junction> = layout.junctions.iter().map(|j| &**j).collect();
        let mut notes = Notes {
            pass: Pass::Ground,
            shapes: Vec::new(),
        };
        roads_and_junctions(&mut notes, &self.scenario, &layout, &roads, &junctions);
        notes.shapes
    }

    /// Returns the positions of the signal heads, each with its road and the number of lanes.
    fn heads(&self) -> Vec<(RoadId, usize, Pose)> {
        let layout = self.layout();
        let heads = layout
            .junctions
            .iter()
            .flat_map(|junction| signal::heads(&self.scenario, &layout, junction));
        let mut heads: Vec<_> = heads
            .map(|heads| (heads.road, heads.lanes.len(), heads.first))
            .collect();
        // Arms are sorted counter-clockwise, so their order is reversed in the mirror image.
        heads.sort_by_key(|(road, ..)| *road);
        heads
    }
}

fn style(section: CrossSection) -> RoadStyle {
    RoadStyle {
        name: String::new(),
        class: RoadClass::Collector,
        layer: 0,
        speed_limit: 50.0 / 3.6,
        section: section.with_border(LaneType::Sidewalk, 2.0),
    }
}

/// Creates four roads that meet at odd angles, with the given number of lanes in each direction.
fn star(side: DrivingSide, lanes: usize, control: Control, has_crossings: bool) -> Town {
    let mut town = Town::new(side);
    let style = style(CrossSection::driving(lanes, lanes, 3.25));
    for bearing in [0.0_f64, 75.0, 170.0, 280.0] {
        town.road(unit(bearing.to_radians()) * 90.0, DVec2::ZERO, &style);
    }
    let crossed = [RoadId(1), RoadId(2)];
    town.rule(JunctionRules {
        control: Some(control),
        major: vec![RoadId(1), RoadId(3)],
        crossings: match has_crossings {
            true => crossed.map(CrossingRule::over).to_vec(),
            false => Vec::new(),
        },
        ..JunctionRules::default()
    });
    town
}

/// Creates a ring of one-way roads with three arms, and a one-way street that leads to the ring.
fn roundabout(side: DrivingSide) -> Town {
    let mut town = Town::new(side);
    let (radius, arms) = (22.0, 4);
    let step = TAU / f64::from(arms);
    let ring = style(CrossSection::driving(1, 0, 5.0));
    let turn = town.turn();
    for i in 0..arms {
        let angle = step * f64::from(i);
        let start = Pose {
            position: town.place(unit(angle) * radius),
            heading: match side {
                DrivingSide::Right => angle + FRAC_PI_2,
                DrivingSide::Left => PI - (angle + FRAC_PI_2),
            },
        };
        let bend = Segment::Arc {
            length: radius * step,
            curvature: turn / radius,
        };
        town.line(&ReferenceLine::new(start, vec![bend]).unwrap(), &ring);
    }
    for i in 0..arms {
        let lanes = usize::from(i != 3);
        let arm = style(CrossSection::driving(1, lanes, 3.5));
        let out = unit(step * f64::from(i));
        town.road(out * (radius + 90.0), out * radius, &arm);
    }
    town
}

/// Creates streets that widen towards a roundabout, one of them with a pedestrian crossing.
fn flared(side: DrivingSide) -> Town {
    let mut town = Town::new(side);
    let arm = style(CrossSection::driving(1, 1, 3.35));
    for i in 0..4 {
        town.road(unit(FRAC_PI_2 * f64::from(i)) * 100.0, DVec2::ZERO, &arm);
    }
    let ring = draw::roundabout(&town.scenario, DVec2::ZERO, 14.1, 0).unwrap();
    town.scenario.apply(ring).unwrap();
    let street = RoadId(1);
    let node = town.scenario.network().road(street).unwrap().to;
    let mut crossed = town.scenario.network().node(node).unwrap().clone();
    crossed.rules.crossings = vec![CrossingRule::over(street)];
    town.scenario
        .apply(Edit::Node(node, Some(crossed)))
        .unwrap();
    town
}

/// Whether two shapes are equal. Areas may start at any point and have either winding, and lines may have
/// either direction.
fn is_same(a: &Shape, b: &Shape) -> bool {
    let is_near = |p: DVec2, q: DVec2| (p - q).length() < SAME;
    let kind = (a.pass, a.color, a.line) == (b.pass, b.color, b.line);
    if !kind || a.points.len() != b.points.len() {
        return false;
    }
    if a.line.is_none() {
        return a
            .points
            .iter()
            .all(|&p| b.points.iter().any(|&q| is_near(p, q)));
    }
    let forward = a.points.iter().zip(&b.points).all(|(&p, &q)| is_near(p, q));
    let back = b.points.iter().rev();
    forward || a.points.iter().zip(back).all(|(&p, &q)| is_near(p, q))
}

/// Compares all paint in left-hand traffic with the mirror image of the paint in right-hand traffic. Returns
/// the numbers of areas and lines.
fn assert_mirrored(what: &str, draw: impl Fn(DrivingSide) -> Town) -> (usize, usize) {
    let [right, left] = [DrivingSide::Right, DrivingSide::Left].map(draw);
    let (wanted, mut found) = (right.painted(), left.painted());
    assert_eq!(wanted.len(), found.len(), "{what}");
    let marks = |shape: &&Shape| shape.pass == Pass::Marking;
    let areas = wanted.iter().filter(marks).filter(|s| s.line.is_none());
    let (areas, all) = (areas.count(), wanted.iter().filter(marks).count());
    for mut shape in wanted {
        shape.points.iter_mut().for_each(|p| p.x = -p.x);
        let at = found.iter().position(|other| is_same(&shape, other));
        let at = at.unwrap_or_else(|| panic!("{what}: nothing is the image of {shape:?}"));
        found.swap_remove(at);
    }
    let (wanted, found) = (right.heads(), left.heads());
    assert_eq!(wanted.len(), found.len(), "{what}");
    for ((road, lanes, head), (other, count, image)) in wanted.into_iter().zip(found) {
        assert_eq!((road, lanes), (other, count), "{what}");
        let at = DVec2::new(-head.position.x, head.position.y);
        assert!((image.position - at).length() < SAME, "{what}: {head:?}");
        let turn = unit(image.heading) - unit(PI - head.heading);
        assert!(turn.length() < SAME, "{what}: {head:?}");
    }
    (areas, all - areas)
}

#[test]
fn stop_lines_triangles_and_arrows_lie_in_the_mirror() {
    for (control, lanes, crossings) in [
        (Control::Stop, 1, false),
        (Control::Priority, 1, true),
        (Control::Priority, 2, false),
        (Control::AllWayStop, 2, true),
    ] {
        let what = format!("{control:?} {lanes}");
        let (areas, lines) = assert_mirrored(&what, |side| star(side, lanes, control, crossings));
        assert!(lines > 0, "{what}");
        // Every control except a plain stop has triangles, arrows or bars.
        assert!(areas > 0 || control == Control::Stop, "{what}");
    }
}

#[test]
fn heads_of_signals_stand_in_the_mirror() {
    for lanes in [1, 2, 3] {
        let draw = |side| star(side, lanes, Control::Signals, lanes == 2);
        assert_mirrored(&format!("signals {lanes}"), draw);
        assert_eq!(draw(DrivingSide::Left).heads().len(), 4);
    }
    // The heads are on the drivers' left.
    let town = star(DrivingSide::Left, 1, Control::Signals, false);
    for (_, _, head) in town.heads() {
        assert!(head.to_local(DVec2::ZERO).y < -1.0, "{head:?}");
    }
}

#[test]
fn mini_roundabouts_are_painted_in_the_mirror() {
    let draw = |side| star(side, 1, Control::MiniRoundabout, false);
    let (areas, _) = assert_mirrored("mini", draw);
    assert!(
        areas > 4,
        "an island and its arrows, and triangles: {areas}"
    );
}

#[test]
fn roundabouts_and_one_way_streets_are_painted_in_the_mirror() {
    let (areas, _) = assert_mirrored("ring", roundabout);
    assert!(areas > 3, "triangles, splitter islands and arrows: {areas}");
}

#[test]
fn flares_islands_and_refuges_are_painted_in_the_mirror() {
    assert_mirrored("flares", flared);
    let shapes = flared(DrivingSide::Right).painted();
    let count = |hex: u32| {
        let areas = shapes.iter().filter(|shape| shape.line.is_none());
        let lanes = areas.filter(|shape| shape.pass == Pass::Lane);
        lanes.filter(|shape| shape.color == parts(rgb(hex))).count()
    };
    // A median before each junction, the island in which it continues, and one refuge on the crossing.
    assert_eq!((count(MEDIAN), count(SIDEWALK)), (8, 1));
}
