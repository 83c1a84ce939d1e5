//! Marks of tools over the map, and other overlays such as grid, scale bar and problems.

use crate::camera::Camera;
use crate::live::LivePicture;
use crate::map_view::MapView;
use crate::theme::{self, GridLine, Theme};
use crate::tools::{HandleShape, Mark, Tone};
use egui::epaint::{PathShape, PathStroke};
use egui::{
    Align2, Color32, CornerRadius, FontId, Painter, Pos2, Rect, Shape, Stroke, StrokeKind, pos2,
    vec2,
};
use roadwright_geometry::{DVec2, Pose};
use roadwright_render::{bodies, signal};
use roadwright_scenario::Scenario;
use roadwright_scenario::junction::Light;
use roadwright_simulation::{ChainEnd, Ground, SignalHead, Snapshot, WaitChain};
use roadwright_training::experiment::DrivePath;

/// Width of the bar that shows a signal, m.
const SIGNAL_BAR: f64 = 0.7;
/// Extent of the bar to either side of the lane's centre, m.
const SIGNAL_SIDE: f64 = 1.3;
/// Maximum number of script marks per frame.
const MOST_SCRIPT_MARKS: usize = 300;
/// Minimum width of the heat map's legend, in points.
const LEGEND_WIDTH: f32 = 180.0;
/// Number of colour steps in the heat map's legend.
const LEGEND_STEPS: u16 = 36;

/// Drawing context of the overlays.
#[derive(Clone, Copy)]
pub(crate) struct Board<'a> {
    /// The painter of the map.
    pub(crate) painter: &'a Painter,
    /// The rectangle of the map.
    pub(crate) rect: Rect,
    /// The view of the world on the map.
    pub(crate) camera: &'a Camera,
    /// Colours of the theme in use.
    pub(crate) theme: Theme,
}

/// Whether the pointer is on a handle.
#[derive(Clone, Copy, PartialEq, Eq)]
enum HandleState {
    Still,
    Hot,
}

impl HandleState {
    fn of(hot: bool) -> Self {
        if hot { Self::Hot } else { Self::Still }
    }
}

impl Board<'_> {
    pub(crate) fn at(&self, point: DVec2) -> Pos2 {
        self.camera.screen(self.rect, point)
    }

    pub(crate) fn points(&self, points: &[DVec2]) -> Vec<Pos2> {
        points.iter().map(|p| self.at(*p)).collect()
    }

    /// Draws a label on a plate, legible on any background.
    pub(crate) fn plate(&self, at: Pos2, anchor: Align2, text: &str, color: Color32) -> Rect {
        let font = FontId::proportional(12.5);
        let galley = self.painter.layout_no_wrap(text.to_owned(), font, color);
        let plate = anchor
            .anchor_size(at, galley.size())
            .expand2(vec2(5.0, 2.0));
        let plate = kept_inside(plate, self.rect, at);
        let rect = plate.shrink2(vec2(5.0, 2.0));
        self.painter
            .rect_filled(plate, CornerRadius::same(4), self.theme.halo());
        self.painter.galley(rect.min, galley, color);
        plate
    }

    /// Draws one frame around many selected objects, with their number.
    pub(crate) fn selection_frame(&self, low: DVec2, high: DVec2, count: usize) {
        let frame = Rect::from_two_pos(self.at(low), self.at(high)).expand(6.0);
        let accent = self.theme.tone(Tone::Accent);
        self.painter
            .rect_filled(frame, CornerRadius::same(4), accent.gamma_multiply(0.1));
        for (width, color) in [(5.0, self.theme.halo()), (2.2, accent)] {
            self.painter.rect_stroke(
                frame,
                CornerRadius::same(4),
                Stroke::new(width, color),
                StrokeKind::Middle,
            );
        }
        // Kept within the map, even if the frame is larger.
        let at = frame.intersect(self.rect.shrink(12.0)).left_top() + vec2(10.0, 10.0);
        let text = format!("{} objects selected", with_thousands(count));
        self.plate(at, Align2::LEFT_TOP, &text, self.theme.ink());
    }

    /// Draws the state of signals as a bar across each lane before its stop line.
    pub(crate) fn signals(&self, signals: &[SignalHead]) {
        // Bars that are too thin to be told apart are left out.
        let width = (SIGNAL_BAR / self.camera.scale) as f32;
        if width < 1.0 {
            return;
        }
        for signal in signals {
            // Slightly before the line, on the asphalt where vehicles wait, so that the line stays visible.
            let at = |side: f64| self.at(signal.stop_line.point(-0.4, side * SIGNAL_SIDE));
            let ends = [at(-1.0), at(1.0)];
            if !self.rect.expand(20.0).contains(ends[0]) {
                continue;
            }
            // A dark rim, so that the light stands out from the road in both themes.
            let rim = Stroke::new(width + 2.0, Color32::from_black_alpha(200));
            self.painter.line_segment(ends, rim);
            let light = Stroke::new(width, theme::light(signal.light));
            self.painter.line_segment(ends, light);
        }
    }

    /// Draws the lit lamps of signals above their heads.
    pub(crate) fn lamps(&self, lit: &[(Pose, Light)]) {
        let scale = 1.0 / self.camera.scale;
        let lamps = lit
            .iter()
            .flat_map(|&(head, light)| light.lamps().iter().map(move |&lamp| (head, lamp)));
        for (head, light) in lamps {
            let (at, radius) = signal::lamp(head, light, scale);
            let (at, radius) = (self.at(at), (radius * scale) as f32);
            let color = theme::light(light);
            if self.rect.expand(20.0).contains(at) {
                let glow = color.gamma_multiply(0.3);
                self.painter.circle_filled(at, 2.6 * radius, glow);
                self.painter
                    .circle_filled(at, (1.1 * radius).max(1.2), color);
            }
        }
    }

    /// Draws rigid bodies as the solver sees them.
    pub(crate) fn bodies(&self, scenario: &Scenario, ground: Option<&Ground>, snapshot: &Snapshot) {
        let stroke = PathStroke::new(1.3, self.theme.still_line());
        for line in ground.map_or(Vec::new(), |ground| bodies::stills(ground, snapshot)) {
            self.painter
                .add(PathShape::line(self.points(&line), stroke.clone()));
        }
        let stroke = PathStroke::new(1.3, self.theme.body_line());
        let view = self.camera.view(self.rect);
        for line in bodies::lines(scenario, snapshot, view, self.camera.scale) {
            self.painter
                .add(PathShape::line(self.points(&line), stroke.clone()));
        }
    }

    /// Draws the marks of scripts that are in view, up to a maximum number.
    pub(crate) fn script_marks(&self, marks: &[roadwright_simulation::Mark]) {
        let color = self.theme.tone(Tone::Accent);
        let places = marks.iter().map(|mark| (self.at(mark.at), mark));
        let seen = places.filter(|(at, _)| self.rect.contains(*at));
        for (at, mark) in seen.take(MOST_SCRIPT_MARKS) {
            self.painter.circle_filled(at, 2.5, color);
            let beside = at + vec2(6.0, -8.0);
            self.plate(beside, Align2::LEFT_BOTTOM, &mark.text, color);
        }
    }

    /// Draws the marks of a tool.
    pub(crate) fn marks(&self, marks: &[Mark]) {
        for mark in marks {
            self.mark(mark);
        }
        // Texts are drawn last, so that nothing covers them.
        for mark in marks {
            if let Mark::Label { at, text, tone } = mark {
                let place = self.at(*at) + vec2(14.0, -14.0);
                self.plate(place, Align2::LEFT_BOTTOM, text, self.theme.tone(*tone));
            }
        }
    }

    fn mark(&self, mark: &Mark) {
        match mark {
            Mark::Line {
                points,
                tone,
                dashed,
            } => {
                let stroke = Stroke::new(2.0, self.theme.tone(*tone));
                let points = self.points(points);
                if *dashed {
                    self.painter
                        .extend(Shape::dashed_line(&points, stroke, 7.0, 5.0));
                } else {
                    self.painter.line(points, stroke);
                }
            }
            Mark::Area { points, fill } => self.area(points, self.theme.fill(*fill)),
            Mark::Circle {
                centre,
                radius,
                tone,
            } => {
                let radius = (radius / self.camera.scale) as f32;
                let color = self.theme.tone(*tone);
                self.painter.circle(
                    self.at(*centre),
                    radius,
                    color.gamma_multiply(0.08),
                    Stroke::new(1.6, color),
                );
            }
            Mark::Handle { at, shape, hot } => {
                self.handle(self.at(*at), *shape, HandleState::of(*hot))
            }
            Mark::Label { .. } => {}
        }
    }

    /// Draws the paths of drives. Incomplete drives have the danger colour.
    pub(crate) fn drive_paths(&self, paths: &[DrivePath]) {
        for path in paths {
            let tone = if path.is_complete {
                Tone::Accent
            } else {
                Tone::Danger
            };
            let color = self.theme.tone(tone).gamma_multiply(0.75);
            let points = self.points(&path.points);
            if let Some(end) = points.last().filter(|_| !path.is_complete) {
                self.painter.circle_filled(*end, 3.0, color);
            }
            self.painter
                .add(Shape::line(points, Stroke::new(1.5, color)));
        }
    }

    /// Fills an area, given by its corners in m.
    pub(crate) fn area(&self, points: &[DVec2], fill: Color32) {
        let mut triangles: Vec<u32> = Vec::new();
        // Triangulated near the origin, because products of large coordinates would lose small differences.
        let origin = points.first().copied().unwrap_or_default();
        let corners = points.iter().map(|p| (*p - origin).to_array());
        earcut::Earcut::new().earcut(corners, &[], &mut triangles);
        let mut mesh = egui::Mesh::default();
        for point in points {
            mesh.colored_vertex(self.at(*point), fill);
        }
        // The corner indices stay valid on the screen.
        for corner in triangles.as_chunks::<3>().0 {
            mesh.add_triangle(corner[0], corner[1], corner[2]);
        }
        self.painter.add(Shape::mesh(mesh));
    }

    fn handle(&self, at: Pos2, shape: HandleShape, state: HandleState) {
        let hot = state == HandleState::Hot;
        let color = self.theme.tone(Tone::Accent);
        let stroke = Stroke::new(2.0, color);
        let fill = if hot { color } else { self.theme.handle() };
        let size = if hot { 6.5 } else { 5.0 };
        match shape {
            HandleShape::Square => {
                let square = Rect::from_center_size(at, vec2(2.0 * size, 2.0 * size));
                self.painter
                    .rect(square, 1.5, fill, stroke, StrokeKind::Middle);
            }
            HandleShape::Circle => {
                self.painter.circle(at, size, fill, stroke);
            }
            HandleShape::Plus => {
                self.painter.circle(at, size, fill, stroke);
                let ink = if hot { self.theme.handle() } else { color };
                for arm in [vec2(0.5 * size, 0.0), vec2(0.0, 0.5 * size)] {
                    let ends = [at - arm, at + arm];
                    self.painter.line_segment(ends, Stroke::new(1.5, ink));
                }
            }
            HandleShape::Diamond => {
                let d = size * 1.3;
                let corners = [(0.0, -d), (d, 0.0), (0.0, d), (-d, 0.0)];
                let points = corners.map(|(x, y)| at + vec2(x, y)).to_vec();
                self.painter
                    .add(Shape::convex_polygon(points, fill, stroke));
            }
            HandleShape::Flag => {
                let color = self.theme.tone(Tone::Danger);
                self.painter
                    .line_segment([at, at + vec2(0.0, -20.0)], Stroke::new(2.0, color));
                let flag = vec![
                    at + vec2(0.0, -20.0),
                    at + vec2(13.0, -15.5),
                    at + vec2(0.0, -11.0),
                ];
                self.painter
                    .add(Shape::convex_polygon(flag, color, Stroke::NONE));
                self.painter.circle(at, 3.5, fill, Stroke::new(2.0, color));
            }
        }
    }

    /// Draws the grid with a spacing in metres and an opacity of 0 to 1.
    pub(crate) fn grid(&self, spacing: f64, strength: f32) {
        let (low, high) = self.camera.view(self.rect);
        let lines =
            // Uses integers, because adding up the spacing would let lines drift.
            |from: f64, to: f64| (from / spacing).floor() as i64..=(to / spacing).ceil() as i64;
        for i in lines(low.x, high.x) {
            let x = self.at(DVec2::new(i as f64 * spacing, 0.0)).x;
            // Every tenth line is stronger, so that distances can be counted.
            let color = self.theme.grid(GridLine::of(i)).gamma_multiply(strength);
            self.painter
                .vline(x, self.rect.y_range(), Stroke::new(1.0, color));
        }
        for i in lines(low.y, high.y) {
            let y = self.at(DVec2::new(0.0, i as f64 * spacing)).y;
            let color = self.theme.grid(GridLine::of(i)).gamma_multiply(strength);
            self.painter
                .hline(self.rect.x_range(), y, Stroke::new(1.0, color));
        }
    }

    /// Shows that the map of a new document is being drawn, with its progress, 0 to 1.
    pub(crate) fn drawing(&self, progress: f32) {
        let text = format!("Drawing the map, {:.0} %", 100.0 * progress);
        let at = self.rect.center_top() + vec2(0.0, 18.0);
        self.plate(at, Align2::CENTER_TOP, &text, self.theme.ink());
    }

    /// Draws the scale bar with a round length.
    pub(crate) fn scale_bar(&self, note: &str) {
        // Length of 120 points in metres. The bar is at most that long, and at least two fifths as long.
        let target = 120.0 * self.camera.scale;
        let length = round_below(target);
        let width = (length / self.camera.scale) as f32;
        let left = self.rect.left_bottom() + vec2(14.0, -16.0);
        let text = round_length(length);
        let text = if note.is_empty() {
            text
        } else {
            format!("{text}   {note}")
        };
        self.plate(
            left + vec2(0.0, -6.0),
            Align2::LEFT_BOTTOM,
            &text,
            self.theme.ink(),
        );
        // A halo under the bar keeps it visible on asphalt.
        let halo = Stroke::new(5.0, self.theme.halo());
        let line = [left, left + vec2(width, 0.0)];
        self.painter.line_segment(line, halo);
        let stroke = Stroke::new(2.0, self.theme.ink());
        self.painter.line_segment(line, stroke);
        for x in [0.0, width] {
            let tick = left + vec2(x, 0.0);
            self.painter
                .line_segment([tick - vec2(0.0, 4.0), tick + vec2(0.0, 4.0)], stroke);
        }
    }

    /// Draws the legend of a heat map with its title and both ends of the scale.
    pub(crate) fn heat_legend(&self, [title, low, high]: &[String; 3]) {
        let font = FontId::proportional(12.5);
        let ink = self.theme.ink();
        let text = |text: &String| {
            let galley = self.painter.layout_no_wrap(text.clone(), font.clone(), ink);
            (galley.size().x, galley)
        };
        let [(title_width, title), (low_width, low), (high_width, high)] =
            [title, low, high].map(text);
        let width = LEGEND_WIDTH
            .max(title_width)
            .max(low_width + high_width + 16.0);
        let left = self.rect.left_top() + vec2(14.0, 14.0);
        let bar = Rect::from_min_size(left + vec2(0.0, 20.0), vec2(width, 10.0));
        let plate = Rect::from_min_max(left - vec2(6.0, 4.0), bar.max + vec2(6.0, 22.0));
        self.painter.rect_filled(plate, 4.0, self.theme.halo());
        self.painter.galley(left, title, ink);
        let mut mesh = egui::Mesh::default();
        let step = width / LEGEND_STEPS as f32;
        for i in 0..LEGEND_STEPS {
            // The first step has the colour of zero, and the last step that of the maximum.
            let share = f64::from(i) / f64::from(LEGEND_STEPS - 1);
            let at = pos2(bar.left() + step * i as f32, bar.top());
            let piece = Rect::from_min_size(at, vec2(step, bar.height()));
            mesh.add_colored_rect(piece, self.theme.heat(share));
        }
        self.painter.add(Shape::mesh(mesh));
        let below = bar.bottom() + 3.0;
        self.painter.galley(pos2(bar.left(), below), low, ink);
        let at = pos2(bar.right() - high_width, below);
        self.painter.galley(at, high, ink);
    }

    /// Draws the path of a vehicle.
    pub(crate) fn route(&self, points: &[DVec2]) {
        let color = self.theme.tone(Tone::Accent).gamma_multiply(0.55);
        let stroke = PathStroke::new(4.0, color);
        self.painter
            .add(PathShape::line(self.points(points), stroke));
    }

    /// Draws the intentions of the watched agent: its path, the point that it steers towards, and
    /// the obstacle ahead.
    pub(crate) fn inspection(&self, live: &LivePicture) {
        let Some(seen) = &live.inspection else { return };
        let accent = self.theme.tone(Tone::Accent);
        self.route(&seen.path);
        for goal in &seen.goals {
            self.handle(self.at(*goal), HandleShape::Flag, HandleState::Still);
        }
        let own = live
            .snapshot
            .vehicles
            .iter()
            .find(|vehicle| vehicle.agent == seen.agent);
        if let (Some(pursuit), Some(own)) = (seen.pursuit, own) {
            let color = self.theme.tone(Tone::Guide);
            let (from, to) = (self.at(own.pose.position), self.at(pursuit));
            self.painter
                .line_segment([from, to], Stroke::new(1.5, color));
            self.painter
                .circle(to, 5.0, self.theme.handle(), Stroke::new(2.0, color));
            self.painter.circle_filled(to, 1.8, color);
        }
        if let Some((from, to)) = seen.obstacle {
            let color = self.theme.tone(Tone::Danger);
            let (from, to) = (self.at(from), self.at(to));
            self.painter.extend(Shape::dashed_line(
                &[from, to],
                Stroke::new(2.0, color),
                5.0,
                3.0,
            ));
            self.painter.circle_filled(to, 4.0, color);
        }
        if let Some(chain) = &live.wait_chain {
            self.wait_chain(chain);
        }
        if let Some(own) = own {
            // At small scales, the ring is still large enough to be found.
            let radius = ((0.5 * own.length + 1.0) / self.camera.scale).max(11.0) as f32;
            self.painter.circle_stroke(
                self.at(own.body.position),
                radius,
                Stroke::new(2.0, accent),
            );
        }
    }

    /// Draws an arrow from each waiting vehicle to the vehicle that it waits for, and from the last one to
    /// the place where it has to stop. The arrows of a deadlock are red.
    fn wait_chain(&self, chain: &WaitChain) {
        let (waiting, locked) = (self.theme.tone(Tone::Guide), self.theme.tone(Tone::Danger));
        let ring = match chain.end {
            ChainEnd::Root => chain.links.len(),
            ChainEnd::Ring(first) => first,
        };
        for (number, link) in chain.links.iter().enumerate() {
            let next = match chain.links.get(number + 1) {
                Some(next) => Some(next.at),
                None if ring < chain.links.len() => Some(chain.links[ring].at),
                None => link.stop.as_ref().map(|stop| stop.at),
            };
            if let Some(next) = next {
                let color = if number >= ring { locked } else { waiting };
                self.arrow_between(link.at, next, color);
            }
        }
    }

    /// Draws an arrow from one place to another; only a dot if they are too close to each other.
    fn arrow_between(&self, from: DVec2, to: DVec2, color: Color32) {
        let (from, to) = (self.at(from), self.at(to));
        let along = to - from;
        if along.length() < ARROW_HEAD {
            self.painter.circle_filled(to, 0.5 * ARROW_HEAD, color);
            return;
        }
        let ahead = along.normalized();
        let neck = to - ahead * ARROW_HEAD;
        let aside = ahead.rot90() * (0.5 * ARROW_HEAD);
        // A light rim keeps the arrow visible on asphalt and on vehicles.
        for (color, wider) in [(self.theme.handle(), 2.5), (color, 0.0)] {
            self.painter
                .line_segment([from, neck], Stroke::new(3.0 + wider, color));
            let head = vec![to, neck + aside, neck - aside];
            let rim = Stroke::new(wider, color);
            self.painter.add(Shape::convex_polygon(head, color, rim));
        }
    }
}

/// Length of the head of an arrow between waiting vehicles, points.
const ARROW_HEAD: f32 = 10.0;

/// Formats a number with commas between thousands.
fn with_thousands(count: usize) -> String {
    let digits = count.to_string();
    let comma = |(i, digit): (usize, char)| {
        let is_first_of_three = i > 0 && (digits.len() - i).is_multiple_of(3);
        is_first_of_three.then_some(',').into_iter().chain([digit])
    };
    digits.chars().enumerate().flat_map(comma).collect()
}

/// Formats a round length in kilometres, metres or centimetres.
pub(crate) fn round_length(length: f64) -> String {
    if length >= 1000.0 {
        format!("{:.0} km", length / 1000.0)
    } else if length >= 1.0 {
        format!("{length:.0} m")
    } else {
        format!("{:.0} cm", 100.0 * length)
    }
}

/// Returns the largest round number (1, 2 or 5 times a power of ten) up to `value`.
fn round_below(value: f64) -> f64 {
    let mut decade = 1e-3;
    // Starts at a millimetre, which is enough because the closest zoom needs 0.24 m.
    while 10.0 * decade <= value {
        decade *= 10.0;
    }
    let fits = [5.0, 2.0].into_iter().map(|step| step * decade);
    fits.into_iter()
        .find(|round| *round <= value)
        .unwrap_or(decade)
}

/// Returns the plate, moved so that it lies inside the map and its text is legible. A plate whose
/// anchor point `at` is outside the map is not moved, nor is one that is larger than the map.
fn kept_inside(plate: Rect, map: Rect, at: Pos2) -> Rect {
    let room = map.shrink(2.0);
    if !map.contains(at) || plate.width() > room.width() || plate.height() > room.height() {
        return plate;
    }
    let into = |low: f32, high: f32, least: f32, most: f32| {
        (most - high).min(0.0) + (least - low).max(0.0)
    };
    plate.translate(vec2(
        into(plate.left(), plate.right(), room.left(), room.right()),
        into(plate.top(), plate.bottom(), room.top(), room.bottom()),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_told_apart() {
        let texts = [0, 999, 1_000, 10_240, 1_234_567].map(with_thousands);
        assert_eq!(texts, ["0", "999", "1,000", "10,240", "1,234,567"]);
    }

    #[test]
    fn scale_bars_are_round() {
        for (value, round) in [(7.3, 5.0), (2.0, 2.0), (190.0, 100.0), (0.6, 0.5)] {
            assert!((round_below(value) - round).abs() < 1e-9 * round, "{value}");
        }
    }

    #[test]
    fn plates_near_the_edge_of_the_map_are_moved_into_it() {
        let map = Rect::from_min_max(Pos2::new(100.0, 50.0), Pos2::new(500.0, 450.0));
        let plate = |x: f32, y: f32| Rect::from_min_size(Pos2::new(x, y), vec2(80.0, 20.0));
        for (x, y, expected) in [
            (200.0, 200.0, (200.0, 200.0)),
            (450.0, 200.0, (418.0, 200.0)),
            (60.0, 440.0, (102.0, 428.0)),
            (300.0, 40.0, (300.0, 52.0)),
        ] {
            let moved = kept_inside(plate(x, y), map, Pos2::new(300.0, 300.0));
            assert_eq!(moved, plate(expected.0, expected.1));
        }
        // The anchor point of the plate is outside the map.
        let beyond = plate(495.0, 200.0);
        assert_eq!(kept_inside(beyond, map, Pos2::new(510.0, 210.0)), beyond);
    }
}
