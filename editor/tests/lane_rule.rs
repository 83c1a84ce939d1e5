//! Draws random flows. Each must take the lanes that a search over all pairs of lanes finds.

use roadwright_editor::route_source::RouteSource;
use roadwright_editor::scene::Scene;
use roadwright_editor::tools::{
    Effect, Modifiers, Pointer, ToolContext, ToolEvent, ToolKind, ToolOptions,
};
use roadwright_geometry::DVec2;
use roadwright_geometry::math::Stream;
use roadwright_scenario::file::from_text;
use roadwright_scenario::operation::Objects;
use roadwright_scenario::{Edit, Flow, LanePlace, Place, Scenario};
use roadwright_simulation::RouteFinder;
use roadwright_testing::{scaled, seed};
use std::path::Path;
use std::sync::Arc;

/// Number of flows in a nightly run.
const FLOWS: u64 = 1_000;
const SCENARIOS: [&str; 4] = ["crossroads", "old-town", "signal-corridor", "roundabouts"];
const SCALE: f64 = 0.2;
/// Time by which a route between the lanes under the pointer may be longer than the quickest route,
/// s.
const ON_PURPOSE: f64 = 20.0;

struct Map {
    scenario: Arc<Scenario>,
    scene: Scene,
    options: ToolOptions,
    routes: RouteSource,
    finder: RouteFinder,
}

/// A method of drawing a flow.
struct Drag {
    from: DVec2,
    to: DVec2,
    modifiers: Modifiers,
}

impl Map {
    fn new(name: &str) -> Self {
        let scenarios = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios");
        let text =
            std::fs::read_to_string(scenarios.join(format!("{name}.scenario.json"))).unwrap();
        let scenario = Arc::new(from_text(&text).unwrap());
        Self {
            scene: Scene::new(scenario.clone(), 0),
            options: ToolOptions::default(),
            routes: RouteSource::default(),
            finder: RouteFinder::new(scenario.clone()),
            scenario,
        }
    }

    /// Returns a random point on a drivable lane.
    fn point(&self, stream: &mut Stream) -> DVec2 {
        let roads: Vec<_> = self.scenario.network().roads().collect();
        loop {
            let (_, road) = roads[stream.next_index(roads.len())];
            let s = stream.next_in(0.0, road.length());
            let lanes = &road.section_at(s).lanes;
            let lane = &lanes[stream.next_index(lanes.len())];
            if !lane.kind.is_drivable() {
                continue;
            }
            let band = road.lane_band(lane.id, s).unwrap();
            let t = band.centre + stream.next_in(-0.4, 0.4) * band.width;
            return road.reference_line.point(s, t);
        }
    }

    fn draw(&self, drag: &Drag) -> Option<Flow> {
        let context = ToolContext {
            scenario: &self.scenario,
            scene: &self.scene,
            selection: &Objects::new(),
            options: &self.options,
            scale: SCALE,
            routes: &self.routes,
            taken: &[],
        };
        let pointer = |at: DVec2| Pointer {
            at,
            modifiers: drag.modifiers,
        };
        let mut tool = ToolKind::Flow.tool();
        tool.event(ToolEvent::Press(pointer(drag.from)), &context);
        tool.event(ToolEvent::Drag(pointer(drag.to)), &context);
        let effects = tool.event(ToolEvent::Release(pointer(drag.to)), &context);
        effects.into_iter().find_map(|effect| match effect {
            Effect::Apply(_, Edit::Flow(_, Some(flow))) => Some(*flow),
            _ => None,
        })
    }

    /// Returns the drivable lanes of the road under a point, starting with the lane under the
    /// point.
    fn lanes(&self, point: DVec2) -> Vec<LanePlace> {
        let own = self.scene.lane_at(point, 3.0 * SCALE).unwrap();
        let road = self.scenario.network().road(own.road).unwrap();
        let lanes = road.section_at(own.s.get()).lanes.iter();
        let others = lanes.filter(|lane| lane.kind.is_drivable() && lane.id != own.lane);
        let others = others.map(|lane| LanePlace {
            lane: lane.id,
            ..own
        });
        std::iter::once(own).chain(others).collect()
    }

    /// Returns the travel time of a flow between lanes; `None` if there is no route.
    fn time(&self, flow: &Flow, origin: LanePlace, destination: LanePlace) -> Option<f64> {
        let flow = Flow {
            origin: Place::Lane(origin),
            destination: Place::Lane(destination),
            ..flow.clone()
        };
        let stops = [flow.origin, flow.destination];
        let is_possible = self.finder.problem(&flow.vehicle, &stops).is_none();
        let route = self.finder.route_of_flow(&flow).filter(|_| is_possible)?;
        Some(route.time)
    }
}

#[test]
fn a_flow_takes_the_quickest_pair_of_lanes_unless_those_under_the_pointer_are_nearly_as_quick() {
    let mut stream = Stream::new(seed(20), "lane rule", 0);
    let maps: Vec<Map> = SCENARIOS.into_iter().map(Map::new).collect();
    let (mut moved, mut kept, mut without) = (0, 0, 0);
    for number in 0..scaled(FLOWS) {
        let map = &maps[number as usize % maps.len()];
        let drag = Drag {
            from: map.point(&mut stream),
            to: map.point(&mut stream),
            modifiers: Modifiers::default(),
        };
        let flow = map.draw(&drag).unwrap();
        let (starts, ends) = (map.lanes(drag.from), map.lanes(drag.to));
        let pairs = starts
            .iter()
            .flat_map(|&a| ends.iter().map(move |&b| (a, b)));
        let times = pairs.filter_map(|(a, b)| map.time(&flow, a, b));
        let quickest = times.fold(f64::INFINITY, f64::min);
        let pointed = [starts[0], ends[0]];
        let taken = [flow.origin, flow.destination].map(|place| match place {
            Place::Lane(at) => at,
            Place::Ground(_) => panic!("{place:?} is off the lanes"),
        });
        let told = format!("flow {number} from {} to {}: {taken:?}", drag.from, drag.to);
        if quickest == f64::INFINITY {
            assert_eq!(taken, pointed, "{told}");
            without += 1;
            continue;
        }
        let time = map.time(&flow, taken[0], taken[1]).unwrap_or(f64::INFINITY);
        let own = map.time(&flow, pointed[0], pointed[1]);
        if own.is_some_and(|own| own <= quickest + ON_PURPOSE) {
            assert_eq!(taken, pointed, "{told}");
            kept += 1;
        } else {
            assert!(
                (time - quickest).abs() < 1e-9,
                "{told} takes {time} s, not {quickest} s"
            );
            moved += 1;
        }
        // Alt keeps the lanes under the pointer.
        let drag = Drag {
            modifiers: Modifiers {
                alt: true,
                ..Modifiers::default()
            },
            ..drag
        };
        let flow = map.draw(&drag).unwrap();
        assert_eq!(
            [flow.origin, flow.destination],
            pointed.map(Place::Lane),
            "{told}"
        );
    }
    // Positive control: all cases occur.
    assert!(
        moved > 10 && kept > 10,
        "{moved} moved, {kept} kept, {without} without a route"
    );
}
