//! Overlays for a selected junction or road: turns as arrows, wait or go marks at lane ends, occupied and
//! free car lengths, and planned routes of vehicles.

use crate::marks::Board;
use crate::model::Model;
use crate::panels::zones;
use crate::theme;
use crate::tools::Tone;
use crate::tools::turns::FARTHEST;
use egui::epaint::{PathShape, PathStroke};
use egui::{Align2, Color32, Pos2, Shape, Stroke};
use roadwright_geometry::{DVec2, Pose};
use roadwright_scenario::junction::{ConnectingPath, Junction, Light, OutlineEdge};
use roadwright_scenario::{NodeId, ObjectId};
use roadwright_simulation::{JunctionInspection, LaneInspection, RoadInspection, Turning};

/// Largest scale at which radii of corners are shown, in metres per pixel.
const FARTHEST_RADIUS: f64 = 0.18;
/// Maximum distance between the curve of a turn and its drawn polyline, m.
const TOLERANCE: f64 = 0.05;
/// Distance between the wait and go marks and the end of a lane, m.
const BEFORE_END: f64 = 2.4;
/// Number of pieces of a drawn conflict zone.
const ZONE_PARTS: u16 = 12;
/// Share of a lane's width taken by the mark of a car length.
const CELL_SHARE: f64 = 0.62;
/// Gap between the marks of two car lengths, m.
const CELL_GAP: f64 = 0.9;

impl Board<'_> {
    /// Draws the state of the selected junction or road.
    pub(crate) fn coordinator(&self, model: &Model) {
        if self.camera.scale > FARTHEST {
            return;
        }
        // Before the first step there are no vehicles and no decisions.
        let live = model.live.as_deref();
        let live = live.filter(|live| live.snapshot.step > 0);
        match model.single() {
            Some(ObjectId::Node(id)) => {
                if let Some(junction) = model.scene.layout.junction_at(id) {
                    self.turns(junction, live.and_then(|live| live.junction.as_ref()));
                    self.explained(model, id, junction);
                }
            }
            Some(ObjectId::Road(_)) => {
                if let Some(road) = live.and_then(|live| live.road.as_ref()) {
                    self.road(road);
                }
            }
            _ => {}
        }
    }

    /// Draws the turns of a junction, with unblocked ones on top, and the radii of its corners.
    fn turns(&self, junction: &Junction, now: Option<&JunctionInspection>) {
        let state = |path: &ConnectingPath| {
            let mut turns = now?.turns.iter();
            turns.find(|turning| (turning.from, turning.to) == (path.from, path.to))
        };
        let goes = |path: &&ConnectingPath| state(path).is_some_and(|turning| turning.goes);
        // Two lists, because shapes drawn later lie on top.
        let (free, others): (Vec<_>, Vec<_>) = junction.paths.iter().partition(goes);
        for path in others {
            let is_amber = state(path).is_some_and(|turning| turning.light == Some(Light::Amber));
            let color = match now {
                None => self.theme.tone(Tone::Accent),
                Some(_) if is_amber => theme::light(Light::Amber),
                Some(_) => self.theme.on_road(),
            };
            self.turn(path, color, if now.is_some() { 1.2 } else { 1.6 });
        }
        for path in free {
            self.turn(path, self.theme.go(), 2.2);
        }
        if let Some(now) = now {
            self.lane_ends(junction, &now.turns);
        }
        self.corners(junction);
    }

    /// Draws the explained connection and its conflicts. Conflicts in which the connection yields are drawn
    /// in the warning colour.
    fn explained(&self, model: &Model, id: NodeId, junction: &Junction) {
        let mut paths = junction.paths.iter();
        let Some(number) = paths.position(|path| Some((path.from, path.to)) == model.explained)
        else {
            return;
        };
        let path = &junction.paths[number];
        let accent = self.theme.tone(Tone::Accent);
        for (width, color) in [(6.0, self.theme.halo()), (3.0, accent)] {
            self.turn(path, color, width);
        }
        let Some(curve) = &path.curve else { return };
        for zone in zones(self.painter.ctx(), model, id, number) {
            let color = match zone.gives_way {
                true => self.theme.tone(Tone::Warning),
                false => self.theme.tone(Tone::Guide),
            };
            let length = zone.to - zone.from;
            let along =
                (0..=ZONE_PARTS).map(|i| zone.from + length * f64::from(i) / f64::from(ZONE_PARTS));
            let points: Vec<DVec2> = along.map(|s| curve.pose(s).position).collect();
            let stroke = PathStroke::new(
                if zone.gives_way { 7.0 } else { 5.0 },
                color.gamma_multiply(0.6),
            );
            self.painter
                .add(PathShape::line(self.points(&points), stroke));
        }
    }

    /// Draws a turn as an arrow.
    fn turn(&self, path: &ConnectingPath, color: Color32, width: f32) {
        let Some(curve) = &path.curve else { return };
        let points = self.points(&curve.sample(TOLERANCE, 0.0));
        let end = curve.end();
        // 1.3 m in the world, with limits so that it is visible at small scales and not too large
        // at large ones.
        let size = (1.3 / self.camera.scale).clamp(5.0, 10.0);
        let corner = |forward: f64, left: f64| {
            self.at(end.point(
                forward * size * self.camera.scale,
                left * size * self.camera.scale,
            ))
        };
        // The line ends inside the arrow head, whose tip is the end of the turn.
        self.painter
            .add(PathShape::line(points, PathStroke::new(width, color)));
        let head = vec![corner(0.3, 0.0), corner(-0.8, 0.5), corner(-0.8, -0.5)];
        self.painter
            .add(Shape::convex_polygon(head, color, Stroke::NONE));
    }

    /// Draws a wait or go mark at the end of each incoming lane.
    fn lane_ends(&self, junction: &Junction, turns: &[Turning]) {
        let mut shown = Vec::new();
        for path in &junction.paths {
            let Some(curve) = &path.curve else { continue };
            // Several turns begin at the same lane end, which is marked once.
            if shown.contains(&path.from) {
                continue;
            }
            shown.push(path.from);
            // The lane end is marked go if any of its turns is free.
            let goes = turns.iter().any(|t| t.from == path.from && t.goes);
            self.lane_end(curve.start(), goes);
        }
    }

    /// Draws a triangle for go or a bar for wait, in different colours.
    fn lane_end(&self, end: Pose, goes: bool) {
        let size = (1.0 / self.camera.scale).clamp(4.0, 9.0) * self.camera.scale;
        let at =
            |forward: f64, left: f64| self.at(end.point(forward * size - BEFORE_END, left * size));
        let rim = Stroke::new(1.5, self.theme.handle());
        let (points, color) = if goes {
            let triangle = vec![at(1.0, 0.0), at(-0.7, 0.9), at(-0.7, -0.9)];
            (triangle, self.theme.go())
        } else {
            let bar = vec![
                at(0.35, 1.0),
                at(0.35, -1.0),
                at(-0.35, -1.0),
                at(-0.35, 1.0),
            ];
            (bar, theme::light(Light::Red))
        };
        self.painter.add(Shape::convex_polygon(points, color, rim));
    }

    /// Draws the radii of the corners.
    fn corners(&self, junction: &Junction) {
        if self.camera.scale > FARTHEST_RADIUS {
            return;
        }
        for edge in junction.outline() {
            let OutlineEdge::Arc {
                from,
                to,
                centre,
                radius,
            } = *edge
            else {
                continue;
            };
            // No vehicle drives around the nose of a gore.
            let middle = 0.5 * (from + to) - centre;
            if radius < 1.0 || middle.length() < 1e-6 {
                continue;
            }
            let on_arc = centre + radius * middle.normalize();
            // The centre of a corner's arc lies beside the road, so a text on that side covers nothing.
            let outward = (centre - on_arc).normalize();
            let beside = self.at(on_arc + 14.0 * self.camera.scale * outward);
            let text = format!("R {radius:.1} m");
            self.plate(beside, Align2::CENTER_CENTER, &text, self.theme.quiet());
        }
    }

    /// Draws the lanes of a road: car lengths, lane ends, and the routes of vehicles.
    fn road(&self, road: &RoadInspection) {
        for lane in &road.lanes {
            self.cells(lane);
        }
        let stroke = PathStroke::new(1.6, self.theme.tone(Tone::Accent).gamma_multiply(0.7));
        for vehicle in road.lanes.iter().flat_map(|lane| &lane.vehicles) {
            self.painter
                .add(PathShape::line(self.points(&vehicle.path), stroke.clone()));
        }
        for vehicle in road.lanes.iter().flat_map(|lane| &lane.vehicles) {
            if let Some(stop) = &vehicle.stop {
                let rim = Stroke::new(1.5, self.theme.handle());
                let color = self.theme.tone(Tone::Warning);
                self.painter.circle(self.at(stop.at), 3.5, color, rim);
            }
        }
        for lane in road.lanes.iter().filter(|lane| lane.leads_to.is_some()) {
            self.lane_end(lane.end, lane.goes);
        }
    }

    fn cells(&self, lane: &LaneInspection) {
        let taken = self.theme.tone(Tone::Accent).gamma_multiply(0.45);
        let free = Stroke::new(1.0, self.theme.on_road().gamma_multiply(0.6));
        for cell in &lane.cells {
            let (half, side) = (
                // The gap makes a queue look like separate vehicles.
                0.5 * (cell.length - CELL_GAP),
                0.5 * CELL_SHARE * lane.width,
            );
            let at = |x: f64, y: f64| self.at(cell.middle.point(x * half, y * side));
            let corners: Vec<Pos2> =
                vec![at(1.0, 1.0), at(1.0, -1.0), at(-1.0, -1.0), at(-1.0, 1.0)];
            if !corners
                .iter()
                .any(|corner| self.rect.expand(20.0).contains(*corner))
            {
                continue;
            }
            let shape = match cell.occupant {
                Some(_) => Shape::convex_polygon(corners, taken, Stroke::NONE),
                None => Shape::closed_line(corners, free),
            };
            self.painter.add(shape);
        }
    }
}
