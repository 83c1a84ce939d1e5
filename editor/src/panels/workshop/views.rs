//! Side and rear views to scale. On the test track they show the current state of the vehicle.

use super::part;
use crate::model::Model;
use crate::theme::Theme;
use crate::tools::Tone;
use crate::workshop::Bench;
use crate::workshop::track::DRIVER;
use egui::{Align2, FontId, Painter, Pos2, Rect, Role, Sense, Stroke, Ui, WidgetInfo, pos2, vec2};
use roadwright_geometry::math::sin_cos;
use roadwright_vehicle::sheet::{Outline, TrailerOutline};

/// Margin around the views, in points.
const MARGIN: f32 = 10.0;
/// Gap between the views, in points.
const GAP: f32 = 26.0;
/// Maximum height of the picture, points.
const HEIGHT: f32 = 190.0;
/// Height reserved for text below the ground, points.
const WORDS: f32 = 18.0;
/// Width of tyres as a share of their radius. It is assumed, because files do not specify the width.
const TYRE: f64 = 0.45;
/// Free length of a drawn spring, as a multiple of the wheel's radius.
const SPRING: f64 = 1.3;
/// Number of turns of a drawn spring.
const TURNS: usize = 5;

/// Attitude of a vehicle.
#[derive(Debug, Clone, Default)]
struct Stance {
    /// Pitch angle, rad. Positive if the front is raised.
    pitch: f64,
    /// Roll angle, rad. Positive if the left side is raised.
    roll: f64,
    /// Compression of each spring from rest, m.
    travel: Vec<f64>,
    /// Load of each wheel, N; empty at rest.
    loads: Vec<f64>,
}

/// Returns the current attitude of the vehicle on the test track.
fn stance(model: &Model) -> Option<Stance> {
    model.workshop.track?;
    let live = model.live.as_ref()?;
    let agent = u64::from(DRIVER.0);
    let mut vehicles = live.snapshot.vehicles.iter();
    let attitude = vehicles.find(|vehicle| vehicle.agent == agent)?.attitude?;
    let seen = live.inspection.as_ref().filter(|seen| seen.agent == agent);
    let wheels = seen.and_then(|seen| seen.mechanics.as_ref());
    let wheels = wheels
        .map(|mechanics| &mechanics.wheels[..])
        .unwrap_or_default();
    Some(Stance {
        pitch: attitude.pitch,
        roll: attitude.roll,
        travel: wheels.iter().map(|wheel| wheel.travel).collect(),
        loads: wheels.iter().map(|wheel| wheel.load).collect(),
    })
}

pub(super) fn ui(ui: &mut Ui, model: &Model, bench: &Bench) {
    part(ui, "Side and rear");
    let outline = &bench.drawn.outline;
    let live = stance(model);
    let (ahead, left, top) = outline.extent();
    let (length, width) = (
        ahead[1] - ahead[0],
        left[1] - left[0] + 2.0 * TYRE * outline.radius,
    );
    let wide = ui.available_width();
    // Leaves some room, because a leaning hull is slightly higher than an upright one.
    let room = (wide - 2.0 * MARGIN - GAP) as f64;
    // Both views have the same scale in points per metre, which is the smaller of the scales that fit
    // the width and the height.
    let scale =
        (room / (length + width)).min((HEIGHT - WORDS - 2.0 * MARGIN) as f64 / (1.15 * top));
    let high = (1.15 * top * scale) as f32 + WORDS + 2.0 * MARGIN;
    let (response, painter) = ui.allocate_painter(vec2(wide, high), Sense::hover());
    let stance = live.clone().unwrap_or_default();
    let towed = match outline.trailers.len() {
        0 => String::new(),
        1 => ", with a trailer".to_owned(),
        count => format!(", with {count} trailers"),
    };
    let said = match &live {
        Some(stance) => format!(
            "Side view and rear view{towed}: pitch {:.1} degrees, roll {:.1} degrees",
            stance.pitch.to_degrees(),
            stance.roll.to_degrees()
        ),
        None => format!("Side view and rear view at rest{towed}"),
    };
    response.widget_info(move || WidgetInfo::labeled(Role::Label, true, &said));
    let rect = response.rect;
    painter.rect_filled(rect, 4.0, ui.visuals().faint_bg_color);
    let ground = rect.bottom() - WORDS - MARGIN;
    let whole = ((length + width) * scale) as f32 + GAP;
    let start = rect.left() + 0.5 * (rect.width() - whole).max(0.0);
    // Position of the vehicle's origin. Its rearmost point, which is below 0, is at the left edge.
    let side = start - (ahead[0] * scale) as f32;
    // The centre of the rear view, which is symmetric.
    let rear = start + (length * scale) as f32 + GAP + (0.5 * width * scale) as f32;
    let canvas = Views {
        theme: model.theme(),
        ink: ui.visuals().text_color(),
        painter: &painter,
        outline,
        stance: &stance,
        is_live: live.is_some(),
        scale,
        ground,
    };
    canvas.ground(rect);
    canvas.side(side);
    canvas.rear(rear);
    canvas.words(rect, side, rear);
}

struct Views<'a> {
    theme: Theme,
    ink: egui::Color32,
    painter: &'a Painter,
    outline: &'a Outline,
    stance: &'a Stance,
    is_live: bool,
    /// Scale of the views, points per metre.
    scale: f64,
    /// Vertical screen position of the ground.
    ground: f32,
}

impl Views<'_> {
    /// Returns the height of the point about which the hull rotates, m. The point is the centre of
    /// mass, or the middle of the hull.
    fn pivot(&self) -> f64 {
        let [low, high] = self.outline.heights;
        self.outline.centre.unwrap_or(0.5 * (low + high))
    }

    /// Returns the screen position of a point, given by its lateral offset and height in metres.
    /// `angle` rotates the vehicle; a positive angle raises its right side.
    fn place(&self, middle: f32, angle: f64, beside: f64, height: f64) -> Pos2 {
        let (sin, cos) = sin_cos(angle);
        let above = height - self.pivot();
        let (x, z) = (
            // A rotation about the pivot. It is counter-clockwise for a positive angle, which raises the
            // right side.
            beside * cos - above * sin,
            beside * sin + above * cos + self.pivot(),
        );
        pos2(
            middle + (x * self.scale) as f32,
            // Heights grow upwards, but screen coordinates grow downwards.
            self.ground - (z * self.scale) as f32,
        )
    }

    fn line(&self, width: f32, tone: Tone) -> Stroke {
        Stroke::new(width, self.theme.tone(tone))
    }

    fn ground(&self, rect: Rect) {
        // On the track, the ground is drawn at each wheel instead.
        if !self.is_live {
            let y = self.ground;
            let ends = [pos2(rect.left(), y), pos2(rect.right(), y)];
            self.painter
                .line_segment(ends, Stroke::new(1.5, self.theme.quiet()));
        }
    }

    fn hull(&self, middle: f32, angle: f64, half: f64) {
        let [low, high] = self.outline.heights;
        let corners = [(-half, low), (half, low), (half, high), (-half, high)];
        let corners = corners.map(|(x, z)| self.place(middle, angle, x, z));
        let fill = self.theme.tone(Tone::Accent).gamma_multiply(0.18);
        let shape =
            egui::Shape::convex_polygon(corners.to_vec(), fill, self.line(1.5, Tone::Accent));
        self.painter.add(shape);
    }

    /// Returns the upward travel of a wheel from rest, m.
    fn travel(&self, wheel: usize) -> f64 {
        self.stance.travel.get(wheel).copied().unwrap_or(0.0)
    }

    fn side(&self, middle: f32) {
        let angle = self.stance.pitch;
        self.hull(middle, angle, self.outline.half[0]);
        for (number, [x, y, z]) in self.outline.wheels.iter().enumerate() {
            // The wheels of the right side hide the others.
            if *y > 0.0 && self.outline.wheels.len() > 3 {
                continue;
            }
            let hub = self.place(middle, angle, *x, z + self.travel(number));
            let radius = (self.outline.radius * self.scale) as f32;
            self.painter
                .circle(hub, radius, self.theme.ground(), Stroke::new(2.0, self.ink));
            self.painter.circle_filled(hub, 2.5, self.ink);
            self.contact(number, hub, radius);
            self.spring(middle, angle, *x, number);
        }
        self.centre(middle, angle);
        for trailer in &self.outline.trailers {
            self.trailer(middle, trailer);
        }
    }

    /// Draws a trailer in line with the vehicle. It stays level regardless of the hull's attitude, because it
    /// is kinematic.
    fn trailer(&self, middle: f32, trailer: &TrailerOutline) {
        let at = |x: f64, z: f64| {
            pos2(
                middle + (x * self.scale) as f32,
                self.ground - (z * self.scale) as f32,
            )
        };
        let ([front, rear], [low, high]) = (trailer.ends, trailer.heights);
        let corners = vec![
            at(rear, low),
            at(front, low),
            at(front, high),
            at(rear, high),
        ];
        let fill = self.theme.tone(Tone::Accent).gamma_multiply(0.1);
        let shape = egui::Shape::convex_polygon(corners, fill, self.line(1.5, Tone::Accent));
        self.painter.add(shape);
        // The drawbar, and the coupling at its end.
        let radius = self.outline.radius;
        let (joint, foot) = (at(trailer.coupling, radius), at(front, radius));
        self.painter
            .line_segment([joint, foot], Stroke::new(2.0, self.ink));
        self.painter.circle_filled(joint, 3.0, self.ink);
        let wheel = (trailer.radius * self.scale) as f32;
        for &axle in &trailer.axles {
            let hub = at(axle, trailer.radius);
            self.painter
                .circle(hub, wheel, self.theme.ground(), Stroke::new(2.0, self.ink));
            self.painter.circle_filled(hub, 2.5, self.ink);
        }
    }

    fn rear(&self, middle: f32) {
        // Seen from behind, left is still left, so the sign of the roll is reversed.
        let angle = -self.stance.roll;
        self.hull(middle, angle, self.outline.half[1]);
        let half = (0.5 * TYRE * self.outline.radius * self.scale) as f32;
        let radius = (self.outline.radius * self.scale) as f32;
        let rearmost = self.outline.wheels.iter().map(|place| place[0]);
        let rearmost = rearmost.fold(f64::INFINITY, f64::min);
        let mut hubs = Vec::new();
        for (number, [x, y, z]) in self.outline.wheels.iter().enumerate() {
            // Only the rear axle is drawn; wheels of the same axle may differ by rounding.
            if *x > rearmost + 0.05 {
                continue;
            }
            let hub = self.place(middle, angle, -y, z + self.travel(number));
            let tyre = Rect::from_center_size(hub, 2.0 * vec2(half, radius));
            self.painter.rect(
                tyre,
                2.0,
                self.theme.ground(),
                Stroke::new(2.0, self.ink),
                egui::StrokeKind::Inside,
            );
            self.contact(number, hub, radius);
            // Drawn slightly inside the wheel, which would otherwise hide it.
            self.spring(middle, angle, -y * 0.8, number);
            hubs.push(hub);
        }
        if let [first, .., last] = hubs[..] {
            self.painter
                .line_segment([first, last], Stroke::new(2.0, self.ink));
        }
        self.centre(middle, angle);
    }

    /// Draws the ground below a moving wheel, in red while the wheel is in the air.
    fn contact(&self, wheel: usize, hub: Pos2, radius: f32) {
        let Some(load) = self.stance.loads.get(wheel) else {
            return;
        };
        let color = if *load > 0.0 {
            self.theme.quiet()
        } else {
            self.theme.tone(Tone::Danger)
        };
        let below = hub + vec2(0.0, radius + 1.0);
        let half = vec2(0.8 * radius, 0.0);
        self.painter
            .line_segment([below - half, below + half], Stroke::new(2.0, color));
    }

    /// Draws a spring from the hub to the hull, shorter when it is compressed.
    fn spring(&self, middle: f32, angle: f64, beside: f64, wheel: usize) {
        if !self.outline.is_sprung {
            return;
        }
        let hub = self.outline.wheels[wheel][2];
        // The top stays at the hull and the foot rises with the wheel, so the line shortens when compressed.
        let foot = hub + self.travel(wheel);
        let top = hub + SPRING * self.outline.radius;
        let half = 0.18 * self.outline.radius;
        let points = (0..=2 * TURNS).map(|part| {
            let share = part as f64 / (2 * TURNS) as f64;
            let side = match part {
                0 => 0.0,
                // Both ends are on the axis, with a zigzag between them.
                part if part == 2 * TURNS => 0.0,
                part if part % 2 == 0 => -half,
                _ => half,
            };
            self.place(middle, angle, beside + side, foot + share * (top - foot))
        });
        let line = egui::Shape::line(points.collect(), self.line(1.5, Tone::Guide));
        self.painter.add(line);
    }

    /// Draws the centre of mass as a disc with two dark quadrants.
    fn centre(&self, middle: f32, angle: f64) {
        let Some(height) = self.outline.centre else {
            return;
        };
        let at = self.place(middle, angle, 0.0, height);
        self.painter
            .circle(at, 5.0, self.theme.ground(), Stroke::new(1.5, self.ink));
        for ends in [
            [vec2(-5.0, 0.0), vec2(5.0, 0.0)],
            [vec2(0.0, -5.0), vec2(0.0, 5.0)],
        ] {
            self.painter
                .line_segment(ends.map(|end| at + end), Stroke::new(1.5, self.ink));
        }
    }

    fn words(&self, rect: Rect, side: f32, rear: f32) {
        let y = rect.bottom() - 3.0;
        let say = |x: f32, text: String| {
            let font = FontId::proportional(11.0);
            self.painter.text(
                pos2(x, y),
                Align2::CENTER_BOTTOM,
                text,
                font,
                self.theme.quiet(),
            );
        };
        let [length, width] = self.outline.half.map(|half| 2.0 * half);
        // At a small scale there is no room for both texts.
        let (side_text, rear_text) = if self.is_live {
            let (pitch, roll) = (
                self.stance.pitch.to_degrees(),
                self.stance.roll.to_degrees(),
            );
            (format!("pitch {pitch:+.1}°"), format!("roll {roll:+.1}°"))
        } else {
            let (ahead, _, _) = self.outline.extent();
            let side = if self.outline.trailers.is_empty() {
                format!("{length:.2} m")
            } else {
                format!("{length:.2} m, {:.2} m in line", ahead[1] - ahead[0])
            };
            (side, format!("{width:.2} m"))
        };
        say(side, side_text);
        say(rear, rear_text);
    }
}
