//! Overlays of open ground: painted layers, and the planning data of the watched vehicle. These are
//! the costs of cells, the forecasts, the vehicle's plan, and the search that found the plan.

use crate::live::{LivePicture, PathNotice};
use crate::map_view::MapView;
use crate::marks::Board;
use crate::settings::GroundView;
use crate::tools::Tone;
use egui::{Align2, Mesh, Pos2, Rect, Shape, Stroke, Vec2, pos2, vec2};
use roadwright_geometry::oriented_box::OrientedBox;
use roadwright_geometry::{DVec2, Pose};
use roadwright_scenario::{CellBlock, PaintCost, PaintLayer, Scenario};
use roadwright_simulation::{
    CellFactors, GroundInspection, PLAIN_FACTOR, PlannedPose, SearchOrder, VehicleRecord,
};

/// Maximum number of runs of painted cells that are drawn. More would be indistinguishable.
const MOST_RUNS: usize = 30_000;
/// Opacity of painted cells, 0 to 1.
const PAINT_OPACITY: f32 = 0.28;
/// Maximum number of vehicles with a sign.
const MOST_SIGNS: usize = 200;
/// Distance from the planned path within which the pointer shows the vehicle's footprint on the
/// path, points.
const HOVERS: f64 = 12.0;
/// Cost above which all cells have the same, strongest colour, in doublings of the cost of plain
/// ground.
const MOST_DOUBLINGS: f64 = 6.0;

impl Board<'_> {
    /// Draws the painted layers.
    pub(crate) fn painted_ground(&self, scenario: &Scenario) {
        for layer in scenario.paint().values() {
            self.paint_layer(layer);
        }
    }

    fn paint_layer(&self, layer: &PaintLayer) {
        let cell = layer.cell.get();
        let (low, high) = self.camera.view(self.rect);
        let at = |point: DVec2| (point / cell).floor().to_array().map(|at| at as i32);
        let view = CellBlock {
            low: at(low),
            high: at(high),
        };
        let color = self.theme.tone(match layer.cost {
            PaintCost::Blocks => Tone::Danger,
            PaintCost::Adds(amount) if amount < 0 => Tone::Guide,
            PaintCost::Adds(_) => Tone::Warning,
        });
        let color = color.gamma_multiply(PAINT_OPACITY);
        let mut mesh = Mesh::default();
        for (row, run) in layer.painted().runs_in(view).take(MOST_RUNS) {
            let corner = |x: f64, y: f64| self.at(DVec2::new(x, y) * cell);
            let (west, east) = (f64::from(run.first), f64::from(run.last) + 1.0);
            let south = f64::from(row);
            let rect = Rect::from_two_pos(corner(west, south), corner(east, south + 1.0));
            mesh.add_colored_rect(rect, color);
        }
        self.painter.add(Shape::mesh(mesh));
    }

    /// Draws the planning data of the watched vehicle, below roads and vehicles.
    pub(crate) fn planning_ground(&self, view: GroundView, seen: &GroundInspection) {
        if view.costs
            && let Some(cells) = &seen.cells
        {
            self.cell_factors(cells);
        }
        if view.forecasts {
            let color = self.theme.tone(Tone::Warning);
            for outline in &seen.forecasts {
                let points = self.points(outline);
                let stroke = Stroke::new(1.5, color);
                let fill = color.gamma_multiply(0.2);
                self.painter
                    .add(Shape::convex_polygon(points, fill, stroke));
            }
        }
        if view.search
            && let Some(search) = &seen.search
        {
            self.search_order(search, view.shown_cells(search.expanded.len()));
        }
    }

    /// Draws the cells that cost more or less than plain ground: blocked ones dark, expensive ones
    /// red, cheap ones green.
    fn cell_factors(&self, cells: &CellFactors) {
        let mut mesh = Mesh::default();
        let blocked = self.theme.ink().gamma_multiply(0.45);
        let mut at = cells.factors.iter();
        for row in 0..cells.rows {
            for column in 0..cells.columns {
                let Some(&factor) = at.next() else {
                    break;
                };
                if factor == PLAIN_FACTOR {
                    continue;
                }
                let color = match factor {
                    0 => blocked,
                    factor if factor < PLAIN_FACTOR => {
                        self.theme.tone(Tone::Guide).gamma_multiply(0.3)
                    }
                    factor => {
                        let doublings = (f64::from(factor) / f64::from(PLAIN_FACTOR)).log2();
                        let share = (doublings / MOST_DOUBLINGS).clamp(0.0, 1.0);
                        let opacity = 0.12 + 0.5 * share;
                        self.theme.tone(Tone::Danger).gamma_multiply(opacity as f32)
                    }
                };
                let low = cells.origin + DVec2::new(f64::from(column), f64::from(row)) * cells.cell;
                mesh.add_colored_rect(self.square(low, cells.cell), color);
            }
        }
        self.painter.add(Shape::mesh(mesh));
    }

    /// Draws the first cells that a search has expanded, in colours from light to strong, and its
    /// path once all cells are shown.
    fn search_order(&self, search: &SearchOrder, shown: usize) {
        let accent = self.theme.tone(Tone::Accent);
        let mut mesh = Mesh::default();
        let half = DVec2::splat(0.5 * search.cell);
        for (number, centre) in search.expanded.iter().take(shown).enumerate() {
            let share = number as f32 / search.expanded.len().max(1) as f32;
            let color = accent.gamma_multiply(0.12 + 0.4 * share);
            mesh.add_colored_rect(self.square(*centre - half, search.cell), color);
        }
        self.painter.add(Shape::mesh(mesh));
        let last = shown.checked_sub(1).and_then(|at| search.expanded.get(at));
        if let Some(last) = last {
            let rect = self.square(*last - half, search.cell);
            let stroke = Stroke::new(2.0, self.theme.tone(Tone::Warning));
            self.painter
                .rect_stroke(rect, 0.0, stroke, egui::StrokeKind::Middle);
        }
        if shown == search.expanded.len() && search.path.len() > 1 {
            let stroke = Stroke::new(2.0, accent);
            self.painter
                .add(Shape::line(self.points(&search.path), stroke));
        }
    }

    /// Converts a square of the world to a screen rectangle. The square is given by its
    /// south-western corner and its edge length, m.
    fn square(&self, low: DVec2, edge: f64) -> Rect {
        Rect::from_two_pos(self.at(low), self.at(low + DVec2::splat(edge)))
    }

    /// Draws a cross and the reason at vehicles that have no path, and three dots at vehicles that are still
    /// searching for one.
    pub(crate) fn path_signs(&self, notices: &[PathNotice]) {
        let seen = notices.iter().map(|notice| (self.at(notice.at), notice));
        let seen = seen.filter(|(at, _)| self.rect.expand(20.0).contains(*at));
        for (at, notice) in seen.take(MOST_SIGNS) {
            let ink = self.theme.handle();
            let tone = match notice.reason {
                Some(_) => Tone::Danger,
                None => Tone::Warning,
            };
            let color = self.theme.tone(tone);
            let above = pos2(at.x, at.y - 20.0);
            self.painter
                .circle(above, 9.0, color, Stroke::new(1.5, ink));
            let Some(reason) = &notice.reason else {
                for x in [-4.0, 0.0, 4.0] {
                    let dot = pos2(above.x + x, above.y);
                    self.painter.circle_filled(dot, 1.5, ink);
                }
                continue;
            };
            for side in [-1.0, 1.0] {
                let arm = vec2(3.5, 3.5 * side);
                let stroke = Stroke::new(2.2, ink);
                self.painter
                    .line_segment([above - arm, above + arm], stroke);
            }
            let beside = above + vec2(14.0, 0.0);
            let text = format!("no path: {reason}");
            self.plate(beside, Align2::LEFT_CENTER, &text, color);
        }
    }

    /// Marks where the watched vehicle plans to drive in reverse or to change direction, and draws its
    /// footprint at the point of the planned path under the pointer.
    pub(crate) fn planned_poses(&self, live: &LivePicture, pointer: Option<DVec2>) {
        let Some(seen) = &live.planning else {
            return;
        };
        let Some(own) = live.snapshot.vehicle(seen.agent) else {
            return;
        };
        let warning = self.theme.tone(Tone::Warning);
        let runs = seen.poses.chunk_by(|a, b| a.gear == b.gear);
        for run in runs.clone().filter(|run| run[0].gear < 0) {
            let points: Vec<DVec2> = run.iter().map(|at| at.pose.position).collect();
            let stroke = Stroke::new(2.5, warning);
            let line = self.points(&points);
            self.painter
                .extend(Shape::dashed_line(&line, stroke, 6.0, 4.0));
        }
        for run in runs.skip(1) {
            let at = self.at(run[0].pose.position);
            let stroke = Stroke::new(2.0, warning);
            self.painter.circle(at, 5.0, self.theme.handle(), stroke);
        }
        if let Some(pointer) = pointer {
            self.footprint(&seen.poses, own, pointer);
        }
    }

    /// Draws the footprint of a vehicle at the pose of a path that is nearest to the pointer.
    fn footprint(&self, poses: &[PlannedPose], own: &VehicleRecord, pointer: DVec2) {
        let distance = |at: &PlannedPose| (at.pose.position - pointer).length();
        let numbered = poses.iter().enumerate();
        let nearest = numbered.min_by(|a, b| distance(a.1).total_cmp(&distance(b.1)));
        let reach = HOVERS * self.camera.scale;
        let Some((number, at)) = nearest.filter(|(_, at)| distance(at) <= reach) else {
            return;
        };
        let centre = (own.body.position - own.pose.position).dot(own.pose.forward());
        let middle = Pose {
            position: at.pose.point(centre, 0.0),
            ..at.pose
        };
        let outline = OrientedBox::new(middle, own.length, own.width).corners();
        let accent = self.theme.tone(Tone::Accent);
        let fill = accent.gamma_multiply(0.2);
        let stroke = Stroke::new(1.5, accent);
        self.painter
            .add(Shape::convex_polygon(self.points(&outline), fill, stroke));
        let changes = |poses: &[PlannedPose]| {
            let pairs = poses.windows(2);
            pairs.filter(|pair| pair[0].gear != pair[1].gear).count()
        };
        let ahead: f64 = poses[..=number]
            .windows(2)
            .map(|pair| (pair[1].pose.position - pair[0].pose.position).length())
            .sum();
        let gear = if at.gear < 0 {
            "in reverse"
        } else {
            "forwards"
        };
        let (before, all) = (changes(&poses[..=number]), changes(poses));
        let text = format!("{ahead:.1} m ahead, {gear}, {before} of {all} gear changes made");
        let beside = self.at(at.pose.position) + vec2(14.0, -14.0);
        self.plate(beside, Align2::LEFT_BOTTOM, &text, accent);
    }

    /// Draws a dashed ring around the watched vehicle while it deviates from its plan.
    pub(crate) fn disagreement(&self, live: &LivePicture) {
        let Some(seen) = live
            .planning
            .as_ref()
            .filter(|seen| seen.disagreement.is_some())
        else {
            return;
        };
        let Some(own) = live.snapshot.vehicle(seen.agent) else {
            return;
        };
        let radius = ((0.5 * own.length + 2.0) / self.camera.scale).max(16.0) as f32;
        let middle = self.at(own.body.position);
        let ring: Vec<Pos2> = (0..=48)
            .map(|step| {
                let angle = std::f32::consts::TAU * step as f32 / 48.0;
                middle + radius * Vec2::angled(angle)
            })
            .collect();
        let stroke = Stroke::new(2.0, self.theme.tone(Tone::Warning));
        self.painter
            .extend(Shape::dashed_line(&ring, stroke, 5.0, 4.0));
    }
}
