//! Loose obstacles at their positions in a run. Moving ones are in a separate mesh, so that only this mesh is
//! rebuilt each frame.

use super::mesh::{Ink, Mesh};
use super::objects;
use crate::scene::Scene;
use roadwright_scenario::ObstacleId;
use roadwright_simulation::LooseRecord;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Number of frames without movement after which an obstacle counts as at rest: half a second at 60
/// Hz. A smaller number would rebuild the large mesh more often while posts rock; a larger number
/// would keep the small mesh large for longer.
const CALM: u32 = 30;

/// Loose obstacles at their positions in a run.
pub struct Pushed {
    scene: Arc<Scene>,
    ink: Ink,
    records: Vec<LooseRecord>,
    /// Moving obstacles, each with the number of frames since it last moved.
    moving: BTreeMap<ObstacleId, u32>,
    still: Arc<Mesh>,
    moved: Arc<Mesh>,
}

impl Pushed {
    /// Creates the meshes from the current positions, with all obstacles at rest.
    pub fn new(scene: Arc<Scene>, ink: Ink, records: &[LooseRecord]) -> Self {
        let mut pushed = Self {
            scene,
            ink,
            records: records.to_vec(),
            moving: BTreeMap::new(),
            still: Arc::default(),
            moved: Arc::default(),
        };
        pushed.still = pushed.mesh_of_still();
        pushed
    }

    /// Whether the meshes belong to this scene and use its colours.
    pub fn is_of(&self, scene: &Arc<Scene>, ink: Ink) -> bool {
        self.ink == ink && Arc::ptr_eq(&self.scene, scene)
    }

    /// Updates the obstacles to their current positions.
    pub fn follow(&mut self, records: &[LooseRecord]) {
        if self.records == records {
            return;
        }
        let changed = changed(&self.records, records);
        self.records = records.to_vec();
        for (id, calm) in &mut self.moving {
            *calm = if changed.contains(id) { 0 } else { *calm + 1 };
        }
        let count = self.moving.len();
        self.moving.retain(|_, calm| *calm <= CALM);
        let mut is_other = self.moving.len() < count;
        for id in changed {
            is_other |= self.moving.insert(id, 0).is_none();
        }
        if is_other {
            self.still = self.mesh_of_still();
        }
        self.moved = self.mesh_of_moving();
    }

    /// Returns two meshes: obstacles at rest, and moving obstacles.
    pub fn meshes(&self) -> Vec<Arc<Mesh>> {
        vec![self.still.clone(), self.moved.clone()]
    }

    fn mesh_of_still(&self) -> Arc<Mesh> {
        let scenario = &self.scene.scenario;
        let all = objects::all_loose(scenario);
        let still = all.filter(|(id, _)| !self.moving.contains_key(id));
        let records = self.records.iter();
        let records: Vec<LooseRecord> = records
            .filter(|record| !self.moving.contains_key(&record.obstacle))
            .cloned()
            .collect();
        let origin = objects::origin(scenario);
        Arc::new(objects::loose(origin, self.ink, still, &records))
    }

    fn mesh_of_moving(&self) -> Arc<Mesh> {
        let scenario = &self.scene.scenario;
        // Looked up by id, because searching is too slow in a town with a hundred thousand houses.
        let ids = self.moving.keys();
        let moving = ids.filter_map(|id| scenario.obstacles().get_key_value(id));
        let moving = moving.filter(|(_, obstacle)| obstacle.mass.is_some());
        let records = self.records.iter();
        let records: Vec<LooseRecord> = records
            .filter(|record| self.moving.contains_key(&record.obstacle))
            .cloned()
            .collect();
        // Relative to one of the obstacles, because finding the centre of a large world is slow.
        let first = records.first().and_then(|record| record.outline.first());
        let origin = first.copied().unwrap_or_default();
        Arc::new(objects::loose(origin, self.ink, moving, &records))
    }
}

/// Returns the obstacles whose position changed, including those that returned to their place in
/// the scenario.
fn changed(before: &[LooseRecord], now: &[LooseRecord]) -> BTreeSet<ObstacleId> {
    let by_id = |records: &'_ [LooseRecord]| -> BTreeMap<ObstacleId, usize> {
        let ids = records.iter().enumerate();
        ids.map(|(i, record)| (record.obstacle, i)).collect()
    };
    let (old, new) = (by_id(before), by_id(now));
    let ids = old.keys().chain(new.keys());
    ids.filter(|id| {
        let was = old.get(id).map(|i| &before[*i]);
        let is = new.get(id).map(|i| &now[*i]);
        was != is
    })
    .copied()
    .collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;
    use roadwright_geometry::DVec2;
    use roadwright_scenario::{Scenario, file};
    use roadwright_simulation::{RunOptions, Session, World, builtin_modules};
    use std::path::Path;
    use std::time::{Duration, Instant};

    fn shipped(name: &str) -> Scenario {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
        file::load(&folder.join(format!("{name}.scenario.json"))).unwrap()
    }

    fn scene(scenario: Scenario) -> Arc<Scene> {
        Arc::new(Scene::new(Arc::new(scenario), 0))
    }

    fn loose(scenario: &Scenario, ink: Ink, pushed: &[LooseRecord]) -> Mesh {
        let origin = objects::origin(scenario);
        objects::loose(origin, ink, objects::all_loose(scenario), pushed)
    }

    #[test]
    fn what_has_been_pushed_is_drawn_where_it_lies() {
        let scenario = shipped("obstacle-field");
        let as_it_was = loose(&scenario, Ink::Light, &[]);
        let (id, post) = scenario.obstacles().iter().next().unwrap();
        let outline = post.shape.outline();
        let record = |by: DVec2| LooseRecord {
            obstacle: *id,
            outline: outline.iter().map(|point| point + by).collect(),
            tilt: 0.0,
        };
        let there = loose(&scenario, Ink::Light, &[record(DVec2::new(3.0, 0.0))]);
        assert_ne!(there.vertices, as_it_was.vertices);
        assert_eq!(there.vertices.len(), as_it_was.vertices.len());
        // A deleted obstacle has no position.
        let gone = LooseRecord {
            obstacle: ObstacleId(999_999),
            ..record(DVec2::ZERO)
        };
        let again = loose(&scenario, Ink::Light, &[gone]);
        assert_eq!(again.vertices, as_it_was.vertices);
    }

    /// Returns the corners of meshes in world coordinates, in millimetres, with their colours.
    fn corners(meshes: &[Arc<Mesh>]) -> Vec<(i64, i64, u32)> {
        let of_mesh = |mesh: &Arc<Mesh>| {
            let origin = mesh.origin;
            let place = |axis: f64, word: u32| (axis + f64::from(f32::from_bits(word))) * 1e3;
            let corner = move |vertex: &crate::map::mesh::Vertex| {
                let (x, y) = (place(origin.x, vertex[0]), place(origin.y, vertex[1]));
                (x.round() as i64, y.round() as i64, vertex[4])
            };
            mesh.vertices.iter().map(corner).collect::<Vec<_>>()
        };
        let mut all: Vec<_> = meshes.iter().flat_map(of_mesh).collect();
        all.sort_unstable();
        all
    }

    #[test]
    fn those_that_move_and_those_that_lie_still_are_all_of_them_at_every_moment() {
        let scene = scene(shipped("obstacle-field"));
        let scenario = scene.scenario.clone();
        let posts: Vec<_> = objects::all_loose(&scenario).take(6).collect();
        let record = |post: usize, by: f64| LooseRecord {
            obstacle: *posts[post].0,
            // In whole centimetres, so that rounding at a millimetre border does not make meshes differ.
            outline: posts[post]
                .1
                .shape
                .outline()
                .iter()
                .map(|p| ((p + DVec2::splat(by)) * 100.0).round() / 100.0)
                .collect(),
            tilt: 0.0,
        };
        let mut pushed = Pushed::new(scene.clone(), Ink::Light, &[record(0, 1.0)]);
        let mut still_made = 0;
        for step in 0..200 {
            let by = 1.0 + 0.25 * f64::from(step);
            // The first obstacle rests from the start, the second keeps moving, and the third arrives, rests,
            // and returns to its place in the scenario.
            let mut records = vec![record(0, 1.0), record(1, by)];
            if (20..150).contains(&step) {
                records.push(record(2, by.min(9.0)));
            }
            let before = pushed.still.id;
            pushed.follow(&records);
            still_made += u32::from(pushed.still.id != before);
            let whole = Arc::new(loose(&scenario, Ink::Light, &records));
            let (parts, whole) = (corners(&pushed.meshes()), corners(&[whole]));
            assert_eq!(parts.len(), whole.len(), "{step}");
            let far = |a: i64, b: i64| (a - b).abs() > 1;
            let wrong = parts
                .iter()
                .zip(&whole)
                .filter(|(a, b)| far(a.0, b.0) || a.2 != b.2);
            assert!(wrong.count() * 100 < parts.len(), "{step}");
            assert!(pushed.moving.len() < 3, "{step}: {:?}", pushed.moving);
        }
        // Rebuilt when the second and the third obstacle start moving, and when the third rests, returns, and
        // rests there.
        assert_eq!(still_made, 5);
        // Nothing is rebuilt while all obstacles are at rest.
        let ids = pushed
            .meshes()
            .iter()
            .map(|mesh| mesh.id)
            .collect::<Vec<_>>();
        let records = pushed.records.clone();
        pushed.follow(&records);
        let again: Vec<u64> = pushed.meshes().iter().map(|mesh| mesh.id).collect();
        assert_eq!(ids, again);
    }

    /// Times for rebuilding everything, and for rebuilding moving obstacles.
    #[derive(Default)]
    struct Times {
        all: Vec<Duration>,
        moving: Vec<Duration>,
    }

    impl Times {
        #[allow(clippy::disallowed_methods, reason = "the test measures time")]
        fn measure(&mut self, pushed: &mut Pushed, records: &[LooseRecord]) {
            let scenario = pushed.scene.scenario.clone();
            let start = Instant::now();
            let whole = loose(&scenario, Ink::Light, records);
            self.all.push(start.elapsed());
            assert!(!whole.vertices.is_empty());
            let start = Instant::now();
            pushed.follow(records);
            self.moving.push(start.elapsed());
        }

        fn tell(mut self, what: &str) {
            println!("{what}, {} pictures, mean, median, p99", self.all.len());
            for (name, times) in [("all", &mut self.all), ("moving ones", &mut self.moving)] {
                times.sort_unstable();
                let sum: Duration = times.iter().sum();
                let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
                let mean = sum / times.len() as u32;
                println!("  {name}: {mean:?} {:?} {:?}", at(0.5), at(0.99));
            }
        }
    }

    #[test]
    #[ignore = "measures"]
    fn how_long_meshes_of_pushed_obstacles_take() {
        // A bus drives through a field of posts.
        let hills = scene(shipped("hill-country"));
        let world = World::new(&hills.scenario, &builtin_modules(), &RunOptions::default());
        let mut session = Session::new(world.unwrap());
        let mut pushed = Pushed::new(hills.clone(), Ink::Light, &[]);
        let (mut times, mut due) = (Times::default(), 0.0);
        while session.world().time() < 30.0 {
            session.step(&mut []);
            let records = session.world().snapshot().loose;
            if session.world().time() >= due && records != pushed.records {
                due = session.world().time() + 1.0 / 60.0;
                times.measure(&mut pushed, &records);
            }
        }
        times.tell("hill-country, 12 loose obstacles");
        // A third of the many posts have been pushed, and five at a time are moving.
        let field = scene(shipped("obstacle-field"));
        let scenario = field.scenario.clone();
        let posts: Vec<_> = objects::all_loose(&scenario).collect();
        let record = |post: usize, by: f64| LooseRecord {
            obstacle: *posts[post].0,
            outline: posts[post]
                .1
                .shape
                .outline()
                .iter()
                .map(|p| p + by)
                .collect(),
            tilt: 0.0,
        };
        let mut pushed = Pushed::new(field.clone(), Ink::Light, &[]);
        let mut times = Times::default();
        for picture in 0..1200_usize {
            let first = picture / 60 * 5 % (posts.len() / 3);
            let by = |post: usize| match post.checked_sub(first) {
                Some(0..5) => 0.01 * picture as f64,
                _ => 1.0,
            };
            let records: Vec<_> = (0..posts.len() / 3).map(|i| record(i, by(i))).collect();
            times.measure(&mut pushed, &records);
        }
        times.tell(&format!("obstacle-field, {} loose obstacles", posts.len()));
    }
}
