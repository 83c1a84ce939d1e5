//! The obstacle tool, which places obstacles.

use super::corners::{Corners, counter_clockwise};
use super::snap::snap_to_grid;
use super::{Effect, Fill, Mark, ObstacleKind, Pointer, Tone, Tool, ToolContext, ToolEvent};
use roadwright_geometry::{DVec2, heading_of, polygon};
use roadwright_scenario::operation::Objects;
use roadwright_scenario::{Edit, ObjectId, Obstacle, Shape};

/// Size of an obstacle placed by a click, m.
const DEFAULT_SIZE: f64 = 2.0;
/// Smallest size that a drag produces, m.
const LEAST_SIZE: f64 = 0.2;

/// Adds an obstacle with a drag or a click, or a polygon with a click for each corner.
#[derive(Default)]
pub(super) struct ObstacleTool {
    press: Option<DVec2>,
    /// End of the drag, and whether Shift is held, which aligns the box with the drag.
    now: Option<(DVec2, bool)>,
    corners: Corners,
    hover: Option<DVec2>,
}

impl ObstacleTool {
    /// Returns the shape that a drag from the press to the current position of the pointer draws.
    fn shape(&self, kind: ObstacleKind) -> Option<Shape> {
        let (start, (now, turned)) = (self.press?, self.now?);
        let diagonal = now - start;
        if diagonal.length() < LEAST_SIZE {
            return None;
        }
        match kind {
            ObstacleKind::Circle => Some(Shape::Circle {
                x: start.x.into(),
                y: start.y.into(),
                radius: diagonal.length().into(),
            }),
            ObstacleKind::Box if turned => {
                // The drag draws the centre line, which gives direction and length.
                let middle = 0.5 * (start + now);
                Some(Shape::Box {
                    x: middle.x.into(),
                    y: middle.y.into(),
                    heading: heading_of(diagonal).into(),
                    length: diagonal.length().into(),
                    width: ((0.5 * diagonal.length()).max(LEAST_SIZE)).into(),
                })
            }
            ObstacleKind::Box => {
                let middle = 0.5 * (start + now);
                Some(Shape::Box {
                    x: middle.x.into(),
                    y: middle.y.into(),
                    heading: 0.0.into(),
                    length: diagonal.x.abs().max(LEAST_SIZE).into(),
                    width: diagonal.y.abs().max(LEAST_SIZE).into(),
                })
            }
            ObstacleKind::Polygon => None,
        }
    }

    fn add(shape: Shape, context: &ToolContext<'_>) -> Vec<Effect> {
        let options = context.options.obstacle;
        let id = context.scenario.next_obstacle_id();
        let obstacle = Obstacle {
            name: String::new(),
            shape,
            base: 0.0.into(),
            height: options.height.into(),
            mass: options.loose.then_some(options.mass).into(),
        };
        let edit = Edit::Obstacle(id, Some(Box::new(obstacle)));
        vec![
            Effect::Apply("Place obstacle".into(), edit),
            Effect::Select(Objects::from([ObjectId::Obstacle(id)])),
        ]
    }

    fn finish_polygon(&mut self, context: &ToolContext<'_>) -> Vec<Effect> {
        let points = self.corners.take();
        if points.len() < 3 {
            return vec![Effect::Refuse(
                "A polygon needs at least three corners.".into(),
            )];
        }
        if !polygon::is_simple(&points) {
            return vec![Effect::Refuse(
                "The edges of a polygon must not cross.".into(),
            )];
        }
        let points = counter_clockwise(points);
        Self::add(
            Shape::Polygon {
                points: points.into(),
            },
            context,
        )
    }

    fn click(&mut self, p: Pointer, context: &ToolContext<'_>) -> Vec<Effect> {
        let at = snap_to_grid(p, context);
        match context.options.obstacle.kind {
            ObstacleKind::Polygon => {
                if self.corners.click(at, context.reach()) {
                    return self.finish_polygon(context);
                }
                Vec::new()
            }
            ObstacleKind::Circle => Self::add(
                Shape::Circle {
                    x: at.x.into(),
                    y: at.y.into(),
                    radius: (0.5 * DEFAULT_SIZE).into(),
                },
                context,
            ),
            ObstacleKind::Box => Self::add(
                Shape::Box {
                    x: at.x.into(),
                    y: at.y.into(),
                    heading: 0.0.into(),
                    length: DEFAULT_SIZE.into(),
                    width: DEFAULT_SIZE.into(),
                },
                context,
            ),
        }
    }
}

impl Tool for ObstacleTool {
    fn event(&mut self, event: ToolEvent, context: &ToolContext<'_>) -> Vec<Effect> {
        let kind = context.options.obstacle.kind;
        match event {
            ToolEvent::Move(p) => self.hover = Some(snap_to_grid(p, context)),
            ToolEvent::Press(p) => self.press = Some(snap_to_grid(p, context)),
            ToolEvent::Drag(p) => {
                self.now = Some((snap_to_grid(p, context), p.modifiers.shift));
                self.hover = self.now.map(|now| now.0);
            }
            ToolEvent::Release(p) => {
                self.now = Some((snap_to_grid(p, context), p.modifiers.shift));
                let shape = self.shape(kind);
                self.now = None;
                return match (shape, kind) {
                    (Some(shape), _) => Self::add(shape, context),
                    // A drag places a corner at its end, because the pointer often slips while clicking.
                    (None, ObstacleKind::Polygon) => self.click(p, context),
                    // A shorter drag is accidental and places nothing.
                    (None, _) => Vec::new(),
                };
            }
            ToolEvent::Click(p) => return self.click(p, context),
            ToolEvent::DoubleClick(_) | ToolEvent::Enter if !self.corners.is_empty() => {
                return self.finish_polygon(context);
            }
            ToolEvent::Backspace => self.corners.take_back(),
            ToolEvent::Escape => {
                self.corners.clear();
                self.now = None;
            }
            ToolEvent::DoubleClick(_)
            | ToolEvent::Enter
            | ToolEvent::Type(_)
            | ToolEvent::Layer => {}
        }
        Vec::new()
    }

    fn marks(&self, context: &ToolContext<'_>) -> Vec<Mark> {
        let mut marks = Vec::new();
        if let Some(shape) = self.shape(context.options.obstacle.kind) {
            let text = match shape {
                Shape::Circle { radius, .. } => format!("radius {radius:.1} m"),
                Shape::Box { length, width, .. } => format!("{length:.1} m x {width:.1} m"),
                Shape::Polygon { .. } => String::new(),
            };
            let outline = shape.outline();
            marks.push(Mark::label(
                self.now.map_or(outline[0], |now| now.0),
                text,
                Tone::Accent,
            ));
            marks.push(Mark::Area {
                points: outline,
                fill: Fill::Tint(Tone::Accent),
            });
        }
        if !self.corners.is_empty() {
            let mut line = self.corners.line();
            line.extend(self.hover);
            marks.push(Mark::line(line, Tone::Accent));
            marks.extend(self.corners.marks());
        }
        marks
    }

    fn status(&self, context: &ToolContext<'_>) -> String {
        match context.options.obstacle.kind {
            ObstacleKind::Box => {
                "Drag: box from corner to corner; Shift+drag: box along the drag. Click: small box."
                    .into()
            }
            ObstacleKind::Circle => "Drag: circle from its centre. Click: small circle.".into(),
            ObstacleKind::Polygon => {
                "Click: add corners. First corner, double-click or Enter: finish.".into()
            }
        }
    }

    fn is_busy(&self) -> bool {
        self.now.is_some() || !self.corners.is_empty()
    }
}
