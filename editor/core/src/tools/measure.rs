//! The measure tool, which measures distances and angles.

use super::{Effect, HandleShape, Mark, Pointer, Tone, Tool, ToolContext, ToolEvent, snap};
use roadwright_geometry::math::wrap_angle;
use roadwright_geometry::{DVec2, heading_of};

/// Measures a line of clicked or dragged points, which stays on the map until the next measurement.
#[derive(Default)]
pub(super) struct Measure {
    points: Vec<DVec2>,
    now: Option<DVec2>,
    press: Option<DVec2>,
    done: bool,
}

impl Measure {
    fn place(&mut self, at: DVec2) {
        // The measurement stays on the map until the next one.
        if self.done {
            self.points.clear();
            self.done = false;
        }
        self.points.push(at);
    }
}

impl Tool for Measure {
    fn event(&mut self, event: ToolEvent, context: &ToolContext<'_>) -> Vec<Effect> {
        let caught = |p: Pointer| snap(p.at, p.modifiers, context).at;
        match event {
            ToolEvent::Move(p) => self.now = Some(caught(p)),
            ToolEvent::Press(p) => self.press = Some(caught(p)),
            ToolEvent::Drag(p) => {
                // The first event of a drag measures from the press to the current position.
                if let Some(start) = self.press.take() {
                    self.done = true;
                    self.place(start);
                }
                self.now = Some(caught(p));
            }
            ToolEvent::Release(p) => {
                self.place(caught(p));
                self.done = true;
            }
            ToolEvent::Click(p) => self.place(caught(p)),
            ToolEvent::DoubleClick(_) | ToolEvent::Enter => self.done = true,
            ToolEvent::Backspace => {
                self.points.pop();
            }
            ToolEvent::Escape => {
                self.points.clear();
                self.done = false;
            }
            ToolEvent::Type(_) | ToolEvent::Layer => {}
        }
        // While the pointer only moves, the line stays.
        match event {
            ToolEvent::Move(_)
            | ToolEvent::Press(_)
            | ToolEvent::Drag(_)
            | ToolEvent::Type(_)
            | ToolEvent::Layer => Vec::new(),
            _ => vec![Effect::Measured(self.points.clone())],
        }
    }

    fn marks(&self, _: &ToolContext<'_>) -> Vec<Mark> {
        let mut points = self.points.clone();
        if !self.done {
            points.extend(self.now);
        }
        let mut marks = Vec::new();
        let mut total = 0.0;
        for (i, pair) in points.windows(2).enumerate() {
            let leg = pair[1] - pair[0];
            total += leg.length();
            let mut text = format!("{:.2} m", leg.length());
            // The angle to the previous leg, which the first leg does not have.
            if i > 0 {
                let turn = wrap_angle(heading_of(leg) - heading_of(pair[0] - points[i - 1]));
                text += &format!("  {:.1}°", turn.to_degrees());
            }
            marks.push(Mark::label(0.5 * (pair[0] + pair[1]), text, Tone::Guide));
        }
        if points.len() > 2
            && let Some(&last) = points.last()
        {
            marks.push(Mark::label(
                last,
                format!("total {total:.2} m"),
                Tone::Accent,
            ));
        }
        marks.extend(points.iter().map(|&at| Mark::Handle {
            at,
            shape: HandleShape::Circle,
            hot: false,
        }));
        if points.len() > 1 {
            marks.push(Mark::dashes(points, Tone::Accent));
        }
        marks
    }

    fn status(&self, _: &ToolContext<'_>) -> String {
        "Drag or click: measure. Double-click or Enter: finish. Esc: clear.".into()
    }

    fn is_busy(&self) -> bool {
        !self.points.is_empty() && !self.done
    }
}
