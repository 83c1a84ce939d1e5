//! The map of a running world: the fixed items, and all bodies that are currently on the ground.

use super::FixedItems;
use super::fixed_items::ItemSource;
use super::walking::Pedestrian;
use crate::dynamics::Bodies;
use crate::records::AgentIndex;
use crate::vehicle_type::VehicleTypes;
use roadwright_geometry::DVec2;
use roadwright_geometry::oriented_box::OrientedBox;
use roadwright_ground::Ground;
use roadwright_planning::open_ground::{
    Heights, Item, ItemId, Layer, Mobility, OpenGround, Owner, Role, Shape, Teardrop,
};
use roadwright_scenario::{BodyKind, DynamicsLevel};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A stopped vehicle counts as stationary after this time, s. Verdicts on reachability include
/// stationary vehicles.
const STANDS_AFTER: f64 = 5.0;
/// Speed below which a body blocks the cells under it, m/s. Faster bodies soon leave them.
const SLOW: f64 = 0.5;
/// Bodies farther than this from every planning agent are not added to the map, m.
const REACH: f64 = 150.0;
/// Cost added to a cell below a moving body. The cost decreases to zero along the forecast path.
const FORECAST_COST: i32 = 64;

/// Key of a moving item: a body or an uncoupled trailer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Mobile {
    /// A body of an agent, given by the id of the agent and the number of the body: 0 for the vehicle.
    Body(u64, u8),
    /// An uncoupled trailer, given by the number of its train and by its position in the train.
    Trailer(u32, u8),
}

/// The map of open ground of a world. It is derived data, which a restored world rebuilds.
pub(crate) struct LiveMap {
    pub(crate) map: OpenGround,
    ground: Arc<Ground>,
    fixed: BTreeMap<ItemSource, Vec<Placed>>,
    mobile: BTreeMap<Mobile, Placed>,
}

/// An item, and its id on the map.
struct Placed {
    item: Item,
    /// Id of the item; `None` if the map rejects it.
    id: Option<ItemId>,
}

/// Contents of the map that change from step to step.
pub(crate) struct OnGround<'a> {
    pub(crate) bodies: Bodies<'a>,
    pub(crate) types: &'a VehicleTypes,
    /// Agents that plan over open ground.
    pub(crate) planning: &'a [AgentIndex],
    /// Duration of the motion forecasts of bodies, s.
    pub(crate) forecast: f64,
}

impl OnGround<'_> {
    /// Characters that are walking, from west to east.
    pub(super) fn pedestrians(&self) -> Vec<Pedestrian> {
        let agents = self.bodies.agents;
        if agents.count_of(DynamicsLevel::Walker) == 0 {
            return Vec::new();
        }
        let on_foot = agents
            .driving()
            .filter(|agent| agents.identity[agent.index()].level == DynamicsLevel::Walker);
        let mut all: Vec<Pedestrian> = on_foot
            .map(|agent| {
                let who = &agents.identity[agent.index()];
                Pedestrian {
                    id: who.id,
                    place: self.bodies.pose(agent).position,
                    radius: self.types.get(who.vehicle_type).radius,
                }
            })
            .collect();
        all.sort_unstable_by(|a, b| a.place.x.total_cmp(&b.place.x).then(a.id.cmp(&b.id)));
        all
    }
}

impl LiveMap {
    pub(crate) fn new(ground: &Arc<Ground>) -> Self {
        let mut live = Self {
            map: OpenGround::new(),
            ground: ground.clone(),
            fixed: BTreeMap::new(),
            mobile: BTreeMap::new(),
        };
        live.take_fixed();
        live
    }

    /// Updates the map to the current state of a world. An item that was added, removed or changed
    /// affects only its own tiles.
    pub(crate) fn update(&mut self, ground: &Arc<Ground>, shown: &OnGround<'_>) {
        if !Arc::ptr_eq(&self.ground, ground) {
            self.ground = ground.clone();
            self.take_fixed();
        }
        self.move_loose(shown);
        self.take_mobile(mobile_items(shown));
    }

    /// Replaces the fixed items by those of a new ground.
    fn take_fixed(&mut self) {
        let new = FixedItems::of(&self.ground).0;
        let gone: Vec<ItemSource> = self
            .fixed
            .iter()
            .filter(|(source, placed)| !is_same(placed, new.get(source)))
            .map(|(source, _)| *source)
            .collect();
        for source in gone {
            for placed in self.fixed.remove(&source).unwrap_or_default() {
                self.lift(placed.id);
            }
        }
        for (source, items) in new {
            if !self.fixed.contains_key(&source) {
                let placed = items.into_iter().map(|item| self.place(item));
                let placed = placed.collect();
                self.fixed.insert(source, placed);
            }
        }
    }

    /// Moves the items of loose obstacles to the current positions of the obstacles.
    fn move_loose(&mut self, shown: &OnGround<'_>) {
        let obstacles = self.ground.obstacles();
        for (number, shape) in shown.bodies.dynamics.rigid.displaced().shapes() {
            let Some(kind) = obstacles.loose(number) else {
                continue;
            };
            let source = ItemSource::Obstacle(kind.id);
            let Some(placed) = self.fixed.get_mut(&source).and_then(|all| all.first_mut()) else {
                continue;
            };
            let item = Item {
                shape,
                ..placed.item.clone()
            };
            exchange(&mut self.map, placed, item);
        }
    }

    fn take_mobile(&mut self, new: BTreeMap<Mobile, Item>) {
        let gone: Vec<Mobile> = self
            .mobile
            .keys()
            .filter(|key| !new.contains_key(key))
            .copied()
            .collect();
        for key in gone {
            if let Some(placed) = self.mobile.remove(&key) {
                self.lift(placed.id);
            }
        }
        for (key, item) in new {
            match self.mobile.get_mut(&key) {
                Some(placed) => exchange(&mut self.map, placed, item),
                None => {
                    let placed = self.place(item);
                    self.mobile.insert(key, placed);
                }
            }
        }
    }

    fn place(&mut self, item: Item) -> Placed {
        Placed {
            id: self.map.insert(item.clone()).ok(),
            item,
        }
    }

    fn lift(&mut self, id: Option<ItemId>) {
        if let Some(id) = id {
            self.map.remove(id);
        }
    }
}

fn is_same(placed: &[Placed], items: Option<&Vec<Item>>) -> bool {
    items.is_some_and(|items| placed.iter().map(|placed| &placed.item).eq(items))
}

/// Replaces an item by another one.
fn exchange(map: &mut OpenGround, placed: &mut Placed, item: Item) {
    if placed.item == item {
        return;
    }
    let is_kept = placed
        .id
        .is_some_and(|id| map.replace(id, item.clone()).is_ok());
    if !is_kept {
        if let Some(id) = placed.id {
            map.remove(id);
        }
        placed.id = map.insert(item.clone()).ok();
    }
    placed.item = item;
}

/// Vehicles and trailers near agents that plan.
fn mobile_items(shown: &OnGround<'_>) -> BTreeMap<Mobile, Item> {
    let mut items = BTreeMap::new();
    let (bodies, types) = (&shown.bodies, shown.types);
    let planning = shown.planning.iter();
    let mut places: Vec<DVec2> = planning.map(|&agent| bodies.pose(agent).position).collect();
    // Sorted from west to east, so that each body is compared only with agents at about the same
    // easting.
    places.sort_unstable_by(|a, b| a.x.total_cmp(&b.x));
    let is_near = |place: DVec2| {
        let from = places.partition_point(|own| own.x < place.x - REACH);
        let abreast = places[from..]
            .iter()
            .take_while(|own| own.x <= place.x + REACH);
        let mut abreast = abreast.map(|own| (*own - place).length_squared());
        abreast.any(|squared| squared < REACH * REACH)
    };
    for agent in bodies.agents.driving() {
        let pose = bodies.pose(agent);
        if !is_near(pose.position) {
            continue;
        }
        let who = &bodies.agents.identity[agent.index()];
        let motion = Moving {
            owner: who.id,
            speed: bodies.agents.motion[agent.index()].speed,
            stands: bodies.agents.progress[agent.index()].standing >= STANDS_AFTER,
            height: types.ground_body(who.vehicle_type).height,
            forecast: shown.forecast,
            layer: (types.body(who.vehicle_type) == BodyKind::Character)
                .then_some(Layer::Characters),
        };
        let trailers = types.train(who.vehicle_type).trailers().len() as u8;
        for part in 0..=trailers {
            let body = bodies.body(agent, part, types);
            items.insert(Mobile::Body(who.id, part), motion.item(&body));
        }
    }
    for train in bodies.dynamics.standing.iter() {
        for ((_, body), place) in train.bodies(types).zip(0..) {
            if is_near(body.centre) {
                let item = Item {
                    layer: Layer::Standing,
                    ..Item::obstacle(Shape::Box(body), Heights::up_to(TRAILER_HEIGHT))
                };
                items.insert(Mobile::Trailer(train.number, place), item);
            }
        }
    }
    items
}

/// Height of uncoupled trailers, m. No vehicle passes over or under them.
const TRAILER_HEIGHT: f64 = 3.0;

/// Motion and height of a body that is added to the map as an item.
struct Moving {
    owner: u64,
    speed: f64,
    stands: bool,
    height: f64,
    forecast: f64,
    /// Layer of a character; `None` for a vehicle.
    layer: Option<Layer>,
}

impl Moving {
    fn item(&self, body: &OrientedBox) -> Item {
        let owner = Some(Owner(self.owner));
        if self.speed.abs() < SLOW {
            return Item {
                layer: self.layer.unwrap_or(Layer::Standing),
                mobility: match self.stands {
                    true => Mobility::Stands,
                    false => Mobility::Moves,
                },
                owner,
                ..Item::obstacle(Shape::Box(*body), Heights::up_to(self.height))
            };
        }
        let ahead = roadwright_geometry::heading_of(body.forward * self.speed);
        let drop = Teardrop {
            pose: roadwright_geometry::Pose {
                position: body.centre,
                heading: ahead,
            },
            length: body.half_length + self.speed.abs() * self.forecast,
            half_width: body.half_width,
        };
        Item {
            shape: Shape::Teardrop(drop),
            role: Role::Forecast(FORECAST_COST),
            layer: self.layer.unwrap_or(Layer::Forecast),
            mobility: Mobility::Moves,
            owner,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::open_ground::profile_of;
    use roadwright_planning::open_ground::{Cell, CellSize, Profile, ProfileId, Reading};
    use roadwright_scenario::{Edit, PaintCost, PaintId, PaintLayer, Scenario, VehicleType};

    fn profiles(map: &mut OpenGround) -> [ProfileId; 2] {
        ["car", "tank"].map(|key| {
            map.add_profile(Profile {
                vehicle_type: Some(key.into()),
                ..profile_of(&VehicleType::car(), CellSize::WAY_POINTS)
            })
        })
    }

    /// Pseudorandom numbers below a limit. The sequence is the same in each run.
    struct Draws(u64);

    impl Draws {
        fn below(&mut self, limit: u64) -> u64 {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (self.0 >> 33) % limit
        }

        fn place(&mut self) -> DVec2 {
            DVec2::new(self.below(160) as f64, self.below(160) as f64) - 80.0
        }
    }

    /// Paints a stroke in one of two layers, changes a cost, or deletes a layer.
    fn repaint(scenario: &mut Scenario, draws: &mut Draws) {
        let id = PaintId(1 + draws.below(2) as u32);
        let mut layer = scenario
            .paint()
            .get(&id)
            .cloned()
            .unwrap_or(PaintLayer::new("", PaintCost::Adds(9)));
        let costs = [PaintCost::Adds(-6), PaintCost::Adds(40), PaintCost::Blocks];
        let stretch = [draws.place(), draws.place()];
        let radius = 1.0 + draws.below(12) as f64;
        match draws.below(8) {
            0 => layer.cost = costs[draws.below(3) as usize],
            1 => {
                let cost = costs[draws.below(3) as usize];
                layer.vehicles.insert("tank".into(), cost);
            }
            2 if scenario.paint().contains_key(&id) => {
                scenario.apply(Edit::Paint(id, None)).unwrap();
                return;
            }
            3 | 4 => layer.erase(stretch, radius),
            _ => layer.paint(stretch, radius),
        }
        let edit = Edit::Paint(id, Some(Box::new(layer)));
        scenario.apply(edit).unwrap();
    }

    #[test]
    fn the_map_after_random_strokes_equals_one_from_nothing() {
        let mut draws = Draws(42);
        let mut scenario = Scenario::new("paint");
        let mut ground = Ground::new(&scenario);
        let mut live = LiveMap::new(&ground);
        let ids = profiles(&mut live.map);
        for round in 0..60 {
            let before = scenario.clone();
            repaint(&mut scenario, &mut draws);
            ground = ground.after_edit(&before, &scenario);
            live.ground = ground.clone();
            live.take_fixed();
            // Some tiles are read in between, so that they are cached when the paint changes.
            let read = Cell::new(draws.below(160) as i32 - 80, draws.below(160) as i32 - 80);
            live.map.factor(ids[0], read, Reading::Everything);
            if round % 6 != 5 {
                continue;
            }
            let mut new = LiveMap::new(&Ground::new(&scenario));
            let fresh = profiles(&mut new.map);
            for (kept, made) in ids.into_iter().zip(fresh) {
                assert_eq!(
                    live.map.smallest_factor(kept),
                    new.map.smallest_factor(made)
                );
                for cell in (-100..100).flat_map(|y| (-100..100).map(move |x| Cell::new(x, y))) {
                    assert_eq!(
                        live.map.factor(kept, cell, Reading::Everything),
                        new.map.factor(made, cell, Reading::Everything),
                        "{round} {cell:?}"
                    );
                }
            }
        }
    }
}
