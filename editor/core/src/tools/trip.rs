//! Input of a trip from its start to its destination, shared by the tools for vehicles and flows.

use super::bays::{bay_at, is_in_bay, stack_for_bay};
use super::handles::place_of;
use super::{
    DrawnTrip, Effect, Fill, HandleShape, LaneRule, Mark, Pointer, StackChoice, Tone, ToolContext,
    ToolEvent, TripGround,
};
use roadwright_geometry::{DVec2, heading_of};
use roadwright_scenario::{LanePlace, Place};

/// A trip being drawn by one drag or two clicks.
#[derive(Default)]
pub(super) struct Trip {
    press: Option<DVec2>,
    /// The start, once placed.
    start: Option<DVec2>,
    now: Option<DVec2>,
    by_clicks: bool,
    lanes: LaneRule,
}

/// The placed ends of a trip.
#[derive(Clone, Copy)]
pub(super) struct Ends {
    /// Position of the start, m.
    pub(super) from: DVec2,
    /// Position of the destination, m.
    pub(super) to: DVec2,
    pub(super) lanes: LaneRule,
}

/// Progress of a trip being drawn.
pub(super) enum Progress {
    /// Not started, or in progress.
    Open,
    /// The start has been clicked.
    Started(DVec2),
    /// Start and destination have been placed.
    Done(Ends),
    /// The user has cancelled the trip.
    Escaped,
}

impl Trip {
    pub(super) fn event(&mut self, event: ToolEvent) -> Progress {
        if let ToolEvent::Move(pointer)
        | ToolEvent::Drag(pointer)
        | ToolEvent::Release(pointer)
        | ToolEvent::Click(pointer) = event
        {
            self.lanes = LaneRule::of(pointer.modifiers);
        }
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
            ToolEvent::DoubleClick(_)
            | ToolEvent::Enter
            | ToolEvent::Type(_)
            | ToolEvent::Layer => Progress::Open,
        }
    }

    fn finish(&mut self, at: DVec2) -> Progress {
        // Taken, so that the next press starts a new trip.
        let start = self.start.take();
        self.by_clicks = false;
        // Shows the placed trip instead of the start of the next one until the pointer moves.
        self.now = None;
        match start {
            Some(from) => Progress::Done(Ends {
                from,
                to: at,
                lanes: self.lanes,
            }),
            None => Progress::Open,
        }
    }

    pub(super) fn is_busy(&self) -> bool {
        self.start.is_some()
    }

    /// Returns the trip that a release would add; `None` if the start has not been placed or the
    /// stack does not exist.
    pub(super) fn drawn(&self, context: &ToolContext<'_>) -> Option<DrawnTrip> {
        let ends = Ends {
            from: self.start?,
            to: self.now?,
            lanes: self.lanes,
        };
        ends.trip(context).ok()
    }

    pub(super) fn waits_for_destination(&self) -> bool {
        self.by_clicks
    }

    pub(super) fn marks(&self, context: &ToolContext<'_>) -> Vec<Mark> {
        let mut marks = Vec::new();
        let caught = |point: DVec2, end: TripEnd| match bay_at(point, context.scenario) {
            Some((name, parked)) => (parked.position, format!("in {name}")),
            None => match lane_point(point, end, context) {
                Some(on_lane) => (on_lane, "on a lane".to_owned()),
                None => (point, "on open ground".to_owned()),
            },
        };
        let ends = match self.start {
            Some(start) => [
                Some((start, TripEnd::Start)),
                self.now.map(|now| (now, TripEnd::Destination)),
            ],
            None => [self.now.map(|now| (now, TripEnd::Start)), None],
        };
        let lanes = ends
            .into_iter()
            .flatten()
            .filter_map(|(at, end)| lane_of(at, end, context));
        marks.extend(lanes.filter_map(|lane| lane_strip(&lane, context)));
        if let Some(start) = self.start {
            let (from, _) = caught(start, TripEnd::Start);
            marks.push(Mark::Circle {
                centre: from,
                radius: (9.0 * context.scale).max(2.5),
                tone: Tone::Accent,
            });
            if let Some(now) = self.now {
                let (to, word) = caught(now, TripEnd::Destination);
                marks.push(Mark::dashes(vec![from, to], Tone::Accent));
                marks.push(Mark::Handle {
                    at: to,
                    shape: HandleShape::Flag,
                    hot: true,
                });
                let distance = (to - from).length();
                let (start, goal) = places(start, now, context);
                let stack = stack_label(&[start, goal], context);
                let text = format!("destination {word}\n{distance:.0} m away\n{}", stack.text);
                marks.push(Mark::label(to, text, stack.tone));
            }
        } else if let Some(now) = self.now {
            let (at, word) = caught(now, TripEnd::Start);
            marks.push(Mark::Circle {
                centre: at,
                radius: (9.0 * context.scale).max(2.5),
                tone: Tone::Hover,
            });
            let (start, _) = places(now, now + DVec2::X, context);
            let stack = stack_label(&[start], context);
            let text = format!("start {word}\n{}", stack.text);
            marks.push(Mark::label(at, text, stack.tone));
        }
        marks
    }
}

/// Length of the highlighted lane on either side of a place, m.
const STRIP_REACH: f64 = 15.0;
/// Distance between the points of a highlighted lane, m.
const STRIP_SPACING: f64 = 1.5;

/// Returns the mark that highlights the part of a lane on which a trip would begin, stop or end;
/// `None` if the lane does not exist.
pub(super) fn lane_strip(place: &LanePlace, context: &ToolContext<'_>) -> Option<Mark> {
    let road = context.scenario.network().road(place.road)?;
    let from = (place.s - STRIP_REACH).max(0.0);
    let to = (place.s + STRIP_REACH).min(road.length());
    let count = ((to - from) / STRIP_SPACING).ceil().max(1.0) as u32;
    let places = (0..=count).map(|i| from + (to - from) * f64::from(i) / f64::from(count));
    let (mut left, mut right) = (Vec::new(), Vec::new());
    for s in places {
        // The lane may end within this distance.
        let Some(band) = road.lane_band(place.lane, s) else {
            continue;
        };
        let side = |t: f64| road.reference_line.point(s, band.centre + t * band.width);
        left.push(side(0.5));
        right.push(side(-0.5));
    }
    right.reverse();
    left.append(&mut right);
    Some(Mark::Area {
        points: left,
        fill: Fill::Tint(Tone::Accent),
    })
}

/// An end of a trip.
#[derive(Clone, Copy)]
enum TripEnd {
    Start,
    Destination,
}

/// Returns the lane for one end of the trip: the chosen lane, or the lane under the point if none
/// has been chosen. `None` in a bay and on open ground.
fn lane_of(point: DVec2, end: TripEnd, context: &ToolContext<'_>) -> Option<LanePlace> {
    if bay_at(point, context.scenario).is_some() {
        return None;
    }
    let own = context.scene.lane_at(point, 0.3 * context.reach())?;
    let taken = match end {
        TripEnd::Start => context.taken.first(),
        TripEnd::Destination => context.taken.last(),
    };
    Some(on_taken_lane(own, taken))
}

/// Moves a place to the taken lane if both are on the same road.
pub(super) fn on_taken_lane(own: LanePlace, taken: Option<&Place>) -> LanePlace {
    match taken {
        Some(Place::Lane(taken)) if taken.road == own.road => LanePlace {
            lane: taken.lane,
            ..own
        },
        _ => own,
    }
}

fn lane_point(point: DVec2, end: TripEnd, context: &ToolContext<'_>) -> Option<DVec2> {
    let lane = lane_of(point, end, context)?;
    Some(context.scenario.pose_of(&Place::Lane(lane))?.position)
}

impl Ends {
    /// Returns the trip between the ends, with the tool's vehicle type and stack.
    ///
    /// # Errors
    /// A refusal, if the scenario does not contain the chosen stack.
    pub(super) fn trip(&self, context: &ToolContext<'_>) -> Result<DrawnTrip, Vec<Effect>> {
        let (start, destination) = places(self.from, self.to, context);
        Ok(DrawnTrip {
            vehicle: context.options.vehicle.clone(),
            stack: stack_for(&[start, destination], context)?,
            stops: vec![
                self.lanes.stop(start, self.from),
                self.lanes.stop(destination, self.to),
            ],
            pointer: self.to,
        })
    }

    /// Returns the finished trip, on the lanes that suit it best.
    ///
    /// # Errors
    /// A refusal, if the scenario does not contain the chosen stack.
    pub(super) fn finished(&self, context: &ToolContext<'_>) -> Result<FinishedTrip, Vec<Effect>> {
        let trip = self.trip(context)?;
        let [start, destination] = trip.places(context)[..] else {
            return Err(Vec::new());
        };
        Ok(FinishedTrip {
            stack: trip.stack,
            start,
            destination,
        })
    }
}

/// A trip with both ends placed.
pub(super) struct FinishedTrip {
    /// Key of the stack.
    pub(super) stack: String,
    pub(super) start: Place,
    pub(super) destination: Place,
}

/// Returns start and destination as places. On open ground, the start faces the destination.
pub(super) fn places(from: DVec2, to: DVec2, context: &ToolContext<'_>) -> (Place, Place) {
    let heading = heading_of(to - from);
    // Both ends get this heading, because a goal on open ground also has a heading.
    let ground = Place::ground(from.x, from.y, heading);
    let vehicle = &context.options.vehicle;
    let start = place_of(vehicle, from, &ground, context.scenario, context);
    let goal = place_of(vehicle, to, &ground, context.scenario, context);
    (start, goal)
}

/// Returns the stack for a new trip between places.
///
/// # Errors
/// A refusal, if the scenario does not contain the chosen stack.
pub(super) fn stack_for(
    places: &[Place],
    context: &ToolContext<'_>,
) -> Result<String, Vec<Effect>> {
    let choice = &context.options.stack;
    let key = choice.key(context.scenario, TripGround::of(places));
    key.map_err(|key| missing("stack", &key))
}

/// The line in a trip's label that names the stack.
struct StackLabel {
    text: String,
    tone: Tone,
}

fn stack_label(places: &[Place], context: &ToolContext<'_>) -> StackLabel {
    let choice = &context.options.stack;
    let ground = TripGround::of(places);
    let label = |text: String, tone| StackLabel { text, tone };
    let key = match choice.key(context.scenario, ground) {
        Ok(key) => key,
        Err(key) => return label(format!("there is no stack \"{key}\""), Tone::Danger),
    };
    let vehicle = &context.options.vehicle;
    let parks = |place: &Place| is_in_bay(place, vehicle, context.scenario);
    if *choice == StackChoice::Automatic && places.get(1).is_some_and(parks) {
        let (key, _) = stack_for_bay(&key, context.scenario);
        return label(format!("stack {key} (automatic)"), Tone::Guide);
    }
    let stack = context.scenario.stacks().get(&key);
    let is_blind = stack.is_some_and(|stack| !stack.steers_around_obstacles());
    if ground == TripGround::OpenGround && is_blind {
        let text = format!("stack {key} does not steer around obstacles");
        return label(text, Tone::Warning);
    }
    match choice {
        StackChoice::Automatic => label(format!("stack {key} (automatic)"), Tone::Guide),
        StackChoice::Chosen(_) => label(format!("stack {key}"), Tone::Guide),
    }
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
