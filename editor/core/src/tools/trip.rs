//! Drawing a trip from a start to a destination, as used for vehicles and flows.

use super::handles::place_at;
use super::{Effect, HandleShape, Mark, Pointer, Tone, ToolContext, ToolEvent};
use roadwright_geometry::{DVec2, heading_of};
use roadwright_scenario::Place;

/// A trip being drawn by one drag or two clicks.
#[derive(Default)]
pub(super) struct Trip {
    press: Option<DVec2>,
    /// The start, once placed.
    start: Option<DVec2>,
    now: Option<DVec2>,
    by_clicks: bool,
}

/// Progress of a trip being drawn.
pub(super) enum Progress {
    /// Not started, or in progress.
    Open,
    /// The start has been clicked.
    Started(DVec2),
    /// Start and destination have been placed.
    Done(DVec2, DVec2),
    /// The user has cancelled the trip.
    Escaped,
}

impl Trip {
    pub(super) fn event(&mut self, event: ToolEvent) -> Progress {
        match event {
            ToolEvent::Move(Pointer { at, .. }) => {
                self.now = Some(at);
                Progress::Open
            }
            ToolEvent::Press(Pointer { at, .. }) => {
                self.press = Some(at);
                Progress::Open
            }
            ToolEvent::Drag(Pointer { at, .. }) => {
                // Uses the position of the press, because the first drag event comes a few points later.
                if self.start.is_none() {
                    self.start = self.press;
                }
                self.now = Some(at);
                Progress::Open
            }
            ToolEvent::Release(Pointer { at, .. }) => self.finish(at),
            ToolEvent::Click(Pointer { at, .. }) if self.start.is_some() => self.finish(at),
            ToolEvent::Click(Pointer { at, .. }) => {
                self.start = Some(at);
                self.by_clicks = true;
                Progress::Started(at)
            }
            ToolEvent::Escape | ToolEvent::Backspace => {
                // Escape cancels only the trip and leaves the objects under the pointer unchanged.
                let busy = self.is_busy();
                *self = Self {
                    now: self.now,
                    ..Self::default()
                };
                if busy {
                    Progress::Escaped
                } else {
                    Progress::Open
                }
            }
            ToolEvent::DoubleClick(_) | ToolEvent::Enter | ToolEvent::Type(_) => Progress::Open,
        }
    }

    fn finish(&mut self, at: DVec2) -> Progress {
        // Taken, so that the next press starts a new trip.
        let start = self.start.take();
        self.by_clicks = false;
        // Shows the placed trip instead of the start of the next one until the pointer moves.
        self.now = None;
        match start {
            Some(start) => Progress::Done(start, at),
            None => Progress::Open,
        }
    }

    pub(super) fn is_busy(&self) -> bool {
        self.start.is_some()
    }

    pub(super) fn waits_for_destination(&self) -> bool {
        self.by_clicks
    }

    pub(super) fn marks(&self, context: &ToolContext<'_>) -> Vec<Mark> {
        let mut marks = Vec::new();
        let caught = |point: DVec2| match lane_point(point, context) {
            Some(on_lane) => (on_lane, "on a lane"),
            None => (point, "on open ground"),
        };
        if let Some(start) = self.start {
            let (from, _) = caught(start);
            marks.push(Mark::Circle {
                centre: from,
                radius: (9.0 * context.scale).max(2.5),
                tone: Tone::Accent,
            });
            if let Some(now) = self.now {
                let (to, word) = caught(now);
                marks.push(Mark::dashes(vec![from, to], Tone::Accent));
                marks.push(Mark::Handle {
                    at: to,
                    shape: HandleShape::Flag,
                    hot: true,
                });
                let distance = (to - from).length();
                let text = format!("destination {word}\n{distance:.0} m away");
                marks.push(Mark::label(to, text, Tone::Guide));
            }
        } else if let Some(now) = self.now {
            let (at, word) = caught(now);
            marks.push(Mark::Circle {
                centre: at,
                radius: (9.0 * context.scale).max(2.5),
                tone: Tone::Hover,
            });
            marks.push(Mark::label(at, format!("start {word}"), Tone::Guide));
        }
        marks
    }
}

fn lane_point(point: DVec2, context: &ToolContext<'_>) -> Option<DVec2> {
    let lane = context.scene.lane_at(point, 0.3 * context.reach())?;
    Some(context.scenario.pose_of(&Place::Lane(lane))?.position)
}

/// Returns start and destination as places. On open ground, the start faces the destination.
pub(super) fn places(from: DVec2, to: DVec2, context: &ToolContext<'_>) -> (Place, Place) {
    let heading = heading_of(to - from);
    // Both ends get this heading, because a goal on open ground has one as well.
    let ground = Place::ground(from.x, from.y, heading);
    let start = place_at(from, &ground, context.scenario, context);
    let goal = place_at(to, &ground, context.scenario, context);
    (start, goal)
}

/// Describes the location of a place for the history: the street, or open ground.
pub(super) fn whereabouts(place: &Place, context: &ToolContext<'_>) -> String {
    match place {
        Place::Lane(at) => super::join::name(at.road, context.scenario),
        Place::Ground(_) => "open ground".into(),
    }
}

/// Returns the message for a vehicle type or stack that this scenario does not have.
pub(super) fn missing(what: &str, key: &str) -> Vec<Effect> {
    vec![Effect::Refuse(format!(
        "This scenario has no {what} \"{key}\"; choose another one in the tool bar."
    ))]
}
