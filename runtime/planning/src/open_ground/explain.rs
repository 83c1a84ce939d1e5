//! Explanation of plans: the cost of a path, layer by layer, and the cells that a search expands.

use super::cell::{Cell, CellSize};
use super::cost::{PLAIN, Rules, clamp_factor};
use super::goal_costs::GoalCosts;
use super::ground::{OpenGround, ProfileId};
use super::hybrid::{HybridPath, HybridPlan, Trip};
use super::item::Owner;
use super::profile::{Layer, Profile};
use super::raster::TileKey;
use super::shape::{Bounds, Shape, Teardrop};
use roadwright_geometry::DVec2;

/// Cost of a path over cells, split by layer.
///
/// The costs of the layers are exact integers. Together with `plain` they add up to `cost`, except where a
/// factor is clamped to the smallest or largest one.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PathCosts {
    /// Cost of all steps of the path.
    pub cost: u64,
    /// Cost that the same steps would have on plain ground.
    pub plain: u64,
    /// Cost that each layer adds or subtracts. Layers without an effect are left out.
    pub layers: Vec<LayerCost>,
    /// Number of blocked cells on the path.
    pub blocked: u32,
}

/// Contribution of a layer to the cost of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LayerCost {
    /// Layer whose cost this is.
    pub layer: Layer,
    /// Contribution of the layer; negative where the layer makes cells cheaper.
    pub cost: i64,
}

/// A plan, and the cells that its search has expanded.
#[derive(Debug, Clone, PartialEq)]
pub struct ExplainedPlan {
    /// The plan.
    pub plan: HybridPlan,
    /// The expanded cells, in order.
    pub expanded: Vec<Cell>,
}

impl HybridPath {
    /// Returns the plan that [`plan_with`](Self::plan_with) would make with the current memory, and the cells that
    /// its search expands. The memory stays unchanged.
    pub fn explain(
        &mut self,
        ground: &mut OpenGround,
        trip: &Trip,
        costs: Option<&GoalCosts>,
    ) -> ExplainedPlan {
        self.run_and_list(ground, trip, costs)
    }
}

impl CellSize {
    /// Returns the cells along a polyline, each a neighbour of the previous one. Points outside the
    /// world are left out.
    pub fn cells_along(self, points: &[DVec2]) -> Vec<Cell> {
        let mut cells: Vec<Cell> = Vec::new();
        for next in points.iter().filter_map(|point| self.cell_of(*point)) {
            let Some(&last) = cells.last() else {
                cells.push(next);
                continue;
            };
            let (x, y) = (next.x - last.x, next.y - last.y);
            let steps = x.abs().max(y.abs());
            let share = |whole: i32, step: i32| {
                // Rounded to the nearest cell, so that the line is not biased to either side.
                let twice = 2 * i64::from(whole) * i64::from(step) + i64::from(steps);
                twice.div_euclid(2 * i64::from(steps)) as i32
            };
            cells.extend(
                (1..=steps).map(|step| Cell::new(last.x + share(x, step), last.y + share(y, step))),
            );
        }
        cells
    }
}

impl OpenGround {
    /// Computes the cost of a path over cells, layer by layer. The owner's items are ignored. O(cells + items
    /// near them) for each layer.
    pub fn path_costs(
        &self,
        profile: ProfileId,
        owner: Option<Owner>,
        cells: &[Cell],
        rules: Rules,
    ) -> PathCosts {
        let profile = self.profile(profile);
        let Some(area) = extent(cells, profile.cell) else {
            return PathCosts::default();
        };
        let area = area.grown(profile.reach());
        let all = self.sums_along(profile, cells, area, &|item_owner, _| item_owner != owner);
        let steps: Vec<u64> = cells
            .windows(2)
            .map(|pair| {
                let is_diagonal = pair[0].x != pair[1].x && pair[0].y != pair[1].y;
                match is_diagonal {
                    true => rules.costs.diagonal(),
                    false => rules.costs.straight(),
                }
            })
            .collect();
        let weighed = |values: &dyn Fn(usize) -> i64| -> i64 {
            let step = |(at, step): (usize, &u64)| *step as i64 * (values(at) + values(at + 1));
            steps.iter().enumerate().map(step).sum()
        };
        let cost =
            weighed(&|at| i64::from(clamp_factor(PLAIN.saturating_add(all.costs[at])))) as u64;
        let plain = weighed(&|_| i64::from(PLAIN)) as u64;
        let layers = Layer::ALL.into_iter().filter_map(|layer| {
            let alone = self.sums_along(profile, cells, area, &|item_owner, own| {
                item_owner != owner && own == layer
            });
            let cost = weighed(&|at| i64::from(alone.costs[at]));
            (cost != 0).then_some(LayerCost { layer, cost })
        });
        PathCosts {
            cost,
            plain,
            layers: layers.collect(),
            blocked: all.blocked,
        }
    }

    /// Sums the contributions of items near the given cells. Only items whose layer and owner are accepted
    /// are included. Items without an owner are always accepted by the test for owners.
    fn sums_along(
        &self,
        profile: &Profile,
        cells: &[Cell],
        area: Bounds,
        is_wanted: &dyn Fn(Option<Owner>, Layer) -> bool,
    ) -> Sums {
        let mut alone = OpenGround::new();
        let id = alone.add_profile(profile.clone());
        for item in self.live_items_near(area) {
            // Items without an owner get an artificial one, because a reader without an owner would not see
            // them.
            let owner = item.owner.or(Some(Owner(u64::MAX)));
            if is_wanted(owner, item.layer) && item.shape.bounds().meets(&area) {
                // Cannot fail, because the item was already on a map.
                let _ = alone.insert(item.clone());
            }
        }
        let mut sums = Sums {
            costs: Vec::with_capacity(cells.len()),
            blocked: 0,
        };
        for &cell in cells {
            let at = TileKey::position(cell);
            let tile = alone.tile(id, TileKey::of(cell));
            let moving = tile.moving.as_ref();
            let cost = tile.standing.costs[at];
            let cost = cost.wrapping_add(moving.map_or(0, |sums| sums.costs[at]));
            let blocks =
                tile.standing.blocks[at] > 0 || moving.is_some_and(|sums| sums.blocks[at] > 0);
            sums.costs.push(cost);
            sums.blocked += u32::from(blocks);
        }
        sums
    }

    /// Returns the forecasts of moving bodies that overlap an area, except those of an owner.
    pub fn forecasts(&self, area: Bounds, owner: Option<Owner>) -> Vec<Teardrop> {
        let items = self.live_items_near(area);
        let others = items.filter(|item| item.owner.is_none() || item.owner != owner);
        let drops = others.filter_map(|item| match &item.shape {
            Shape::Teardrop(drop) if item.shape.bounds().meets(&area) => Some(*drop),
            _ => None,
        });
        drops.collect()
    }
}

/// Sums of single cells, in the order of a path.
struct Sums {
    costs: Vec<i32>,
    blocked: u32,
}

fn extent(cells: &[Cell], size: CellSize) -> Option<Bounds> {
    let centres: Vec<DVec2> = cells.iter().map(|cell| size.centre(*cell)).collect();
    let low = centres.iter().copied().reduce(DVec2::min)?;
    let high = centres.iter().copied().reduce(DVec2::max)?;
    Some(Bounds { low, high }.grown(size.metres()))
}

impl Teardrop {
    /// Returns the outline as a polygon, counter-clockwise from the tip.
    pub fn outline(&self) -> Vec<DVec2> {
        const ROUND: u32 = 10;
        const ALONG: u32 = 10;
        let side = |sign: f64| {
            (0..ALONG).map(move |step| {
                // Starts at the tip. The half-width is proportional to the square root of the fraction that
                // remains behind the tip.
                let left = f64::from(step) / f64::from(ALONG);
                let half = self.half_width * left.sqrt();
                self.pose.point(self.length * (1.0 - left), sign * half)
            })
        };
        let behind = (0..=ROUND).map(|step| {
            let angle = std::f64::consts::FRAC_PI_2
                + std::f64::consts::PI * f64::from(step) / f64::from(ROUND);
            let around = self.half_width * roadwright_geometry::unit(angle);
            self.pose.point(around.x, around.y)
        });
        let right: Vec<DVec2> = side(-1.0).skip(1).collect();
        side(1.0)
            .chain(behind)
            .chain(right.into_iter().rev())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Answer, Body, HybridParameters, Inquiry, Item, Mobility, Role, Spot, WALL};
    use super::*;
    use roadwright_agent::GroundSearch;
    use roadwright_geometry::Pose;
    use roadwright_geometry::oriented_box::OrientedBox;

    const JEEP: Body = Body {
        length: 3.34,
        width: 1.57,
        height: 1.59,
        ground_clearance: 0.2,
    };

    fn area(x: f64, y: f64, size: DVec2) -> Shape {
        Shape::Box(OrientedBox::new(Pose::new(x, y, 0.0), size.x, size.y))
    }

    /// Returns a wall with water and a slope around it, a stationary vehicle that belongs to the
    /// agent, and a moving vehicle.
    fn scene() -> (OpenGround, Trip) {
        let mut ground = OpenGround::new();
        let wall = area(0.0, 0.0, DVec2::new(2.0, 24.0));
        let teardrop = Teardrop {
            pose: Pose::new(14.0, 10.0, 0.3),
            length: 12.0,
            half_width: 0.8,
        };
        for item in [
            Item::obstacle(wall, WALL),
            Item::area(area(0.0, -20.0, DVec2::new(90.0, 14.0)), Layer::Water, 90),
            Item::area(area(5.0, 16.0, DVec2::new(60.0, 20.0)), Layer::Slope, 8),
            Item::area(area(20.0, 16.0, DVec2::new(9.0, 20.0)), Layer::Roads, -6),
            Item {
                shape: Shape::Teardrop(teardrop),
                role: Role::Forecast(64),
                layer: Layer::Forecast,
                mobility: Mobility::Moves,
                owner: Some(Owner(2)),
            },
            Item {
                owner: Some(Owner(1)),
                ..Item::obstacle(area(-30.0, 0.0, DVec2::new(3.0, 2.0)), WALL)
            },
        ] {
            ground.insert(item).unwrap();
        }
        let profile = ground.add_profile(Profile::new(JEEP, CellSize::WAY_POINTS));
        let trip = Trip {
            profile,
            owner: Some(Owner(1)),
            from: Spot::at(Pose::new(-30.0, 0.0, 0.0)),
            to: Spot::anyhow(DVec2::new(33.0, 3.0)),
        };
        (ground, trip)
    }

    #[test]
    fn shares_of_layers_add_up_to_the_cost_that_the_search_has_found() {
        let (mut ground, trip) = scene();
        for rules in [Rules::default(), Rules::MOVING_AI] {
            let inquiry = Inquiry {
                trip,
                search: GroundSearch::Whole { is_guided: true },
                rules,
                most: 100_000,
            };
            let Answer::Found(found) = ground.answer(&inquiry, || true).answer else {
                panic!("no path");
            };
            let costs = ground.path_costs(trip.profile, trip.owner, &found.path.cells, rules);
            assert_eq!(costs.cost, found.path.cost);
            assert_eq!(costs.blocked, 0);
            let layers: i64 = costs.layers.iter().map(|share| share.cost).sum();
            assert_eq!(costs.plain as i64 + layers, costs.cost as i64);
            let of = |layer| costs.layers.iter().find(|share| share.layer == layer);
            assert!(of(Layer::Slope).unwrap().cost > 0);
            assert!(of(Layer::Obstacles).unwrap().cost > 0);
            // The path avoids the water, and the agent's own vehicle does not block it.
            assert_eq!(of(Layer::Water), None);
        }
        // A straight line leads through the wall.
        let line = CellSize::WAY_POINTS.cells_along(&[trip.from.position, trip.to.position]);
        let costs = ground.path_costs(trip.profile, trip.owner, &line, Rules::default());
        assert!(costs.blocked >= 2, "{costs:?}");
        // For a reader without an owner, the stationary vehicle also blocks cells.
        let others = ground.path_costs(trip.profile, None, &line, Rules::default());
        assert!(others.blocked > costs.blocked);
        assert_eq!(
            ground.path_costs(trip.profile, None, &[], Rules::default()),
            PathCosts::default()
        );
    }

    #[test]
    fn cells_along_a_line_are_neighbours_and_lie_below_it() {
        let points = [
            DVec2::new(0.2, 0.3),
            DVec2::new(-17.5, 9.4),
            DVec2::new(-17.4, 9.3),
            DVec2::new(3.0, -40.0),
        ];
        let size = CellSize::HEADINGS;
        let cells = size.cells_along(&points);
        assert_eq!(cells.first(), size.cell_of(points[0]).as_ref());
        assert_eq!(cells.last(), size.cell_of(points[3]).as_ref());
        for pair in cells.windows(2) {
            let away = pair[0].distance(pair[1]);
            assert_eq!(away.columns.max(away.rows), 1);
        }
        for cell in &cells {
            let centre = size.centre(*cell);
            let near = points.windows(2).map(|pair| {
                roadwright_geometry::polygon::closest_on_segment(pair[0], pair[1], centre)
            });
            let distance = near.map(|on| (on - centre).length()).fold(9.0, f64::min);
            assert!(distance < 1.5 * size.metres(), "{distance}");
        }
        assert!(size.cells_along(&[DVec2::splat(f64::NAN)]).is_empty());
    }

    #[test]
    fn an_explained_plan_is_the_plan_that_would_be_made_and_teaches_nothing() {
        let (mut ground, trip) = scene();
        let mut planner = HybridPath::new(HybridParameters {
            budget: 150,
            ..HybridParameters::default()
        });
        for now in 0..4 {
            let explained = planner.explain(&mut ground, &trip, None);
            let before = planner.memory().clone();
            assert!(planner.explain(&mut ground, &trip, None) == explained);
            assert!(planner.memory().knows_as_much_as(&before));
            assert!(explained.expanded.len() <= 150);
            let start = CellSize::WAY_POINTS.cell_of(trip.from.position).unwrap();
            assert_eq!(explained.expanded.first(), Some(&start));
            let mut once = explained.expanded.clone();
            once.sort_unstable();
            once.dedup();
            assert_eq!(once.len(), explained.expanded.len());
            let plan = planner.plan(&mut ground, &trip, f64::from(now));
            assert_eq!(plan.path, explained.plan.path);
        }
    }

    #[test]
    fn the_outline_of_a_forecast_is_where_its_share_falls_to_nothing() {
        let drop = Teardrop {
            pose: Pose::new(3.0, -2.0, 2.0),
            length: 15.0,
            half_width: 0.9,
        };
        let outline = drop.outline();
        assert!(roadwright_geometry::polygon::signed_area(&outline) > 0.0);
        let middle = drop.pose.point(2.0, 0.0);
        for corner in &outline {
            let inside = middle + 0.97 * (*corner - middle);
            let beyond = middle + 1.05 * (*corner - middle);
            assert!(drop.share(inside, 0.0) > 0.0, "{corner}");
            assert_eq!(drop.share(beyond, 0.0), 0.0, "{corner}");
        }
    }
}
