//! Contacts and arrivals as dots with labels. Dots that would overlap are merged into one dot with
//! a count.

use super::Axis;
use super::past::clock;
use crate::live::RunEvent;
use crate::panels::widgets::counted;
use egui::{Color32, CursorIcon, FontId, Rect, Role, Sense, Stroke, Ui, WidgetInfo, pos2, vec2};
use roadwright_simulation::{Party, agent_name};

/// Width of an axis section whose events are merged into one dot, points.
const PART: f32 = 24.0;
/// Minimum distance between two dots, points.
const APART: f32 = 11.0;
/// Radius of the dot of one event, points.
const RADIUS: f32 = 4.0;
/// Height of the dot of several events, points.
const HEIGHT: f32 = 15.0;
/// Maximum number of events that the hint of a dot lists.
const LISTED: usize = 8;

/// A row of dots.
pub(super) struct Dots<'a> {
    pub(super) axis: &'a Axis,
    pub(super) row: Rect,
    /// Noun for an event of this row.
    pub(super) thing: &'static str,
    pub(super) color: Color32,
    /// The events, oldest first.
    pub(super) events: &'a [RunEvent],
}

/// Events that share a dot.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Cluster {
    /// Index of the first event.
    first: usize,
    count: usize,
    x: f32,
}

impl Cluster {
    fn events<'a>(&self, all: &'a [RunEvent]) -> &'a [RunEvent] {
        &all[self.first..self.first + self.count]
    }
}

impl<'a> Dots<'a> {
    /// Draws the dots. Returns the first event of the clicked dot.
    pub(super) fn show(&self, ui: &Ui) -> Option<&'a RunEvent> {
        let clusters = self.clusters();
        let mut clicked = None;
        for (i, cluster) in clusters.iter().enumerate() {
            let next = clusters.get(i + 1).map(|next| next.x - 0.5 * PART);
            let end = next.unwrap_or(self.row.right());
            if self.dot(ui, cluster, end) {
                clicked = self.events.get(cluster.first);
            }
        }
        clicked
    }

    /// Groups the events. The axis is divided into parts at fixed times, so that a group does not change while
    /// the axis moves.
    fn clusters(&self) -> Vec<Cluster> {
        let seconds = f64::from(PART) * self.axis.seconds_a_point();
        let begin = self
            .events
            .partition_point(|event| event.time < self.axis.from);
        let mut clusters: Vec<Cluster> = Vec::new();
        let mut last_part = i64::MIN;
        for (number, event) in self.events.iter().enumerate().skip(begin) {
            let part = (event.time / seconds).floor() as i64;
            match clusters.last_mut().filter(|_| part == last_part) {
                Some(cluster) => cluster.count += 1,
                None => clusters.push(Cluster {
                    first: number,
                    count: 1,
                    x: 0.0,
                }),
            }
            last_part = part;
        }
        for cluster in &mut clusters {
            let events = cluster.events(self.events);
            let (first, last) = (events[0].time, events[events.len() - 1].time);
            cluster.x = self.axis.x(0.5 * (first + last));
        }
        self.joined(clusters)
    }

    /// Merges neighbours that would overlap.
    fn joined(&self, clusters: Vec<Cluster>) -> Vec<Cluster> {
        let mut joined: Vec<Cluster> = Vec::with_capacity(clusters.len());
        for cluster in clusters {
            match joined.last_mut() {
                Some(last) if cluster.x - last.x < APART => {
                    last.count += cluster.count;
                    last.x = 0.5 * (last.x + cluster.x);
                }
                _ => joined.push(cluster),
            }
        }
        joined
    }

    /// Draws a dot and its label, which has room up to `end`. Returns whether it was clicked.
    fn dot(&self, ui: &Ui, cluster: &Cluster, end: f32) -> bool {
        let events = cluster.events(self.events);
        let first = &events[0];
        let at = pos2(cluster.x, self.row.center().y);
        let painter = ui.painter().with_clip_rect(self.row.expand(1.0));
        let font = FontId::proportional(11.0);
        let number = (cluster.count > 1).then(|| {
            let text = cluster.count.to_string();
            painter.layout_no_wrap(text, font.clone(), contrast(self.color))
        });
        let width = number
            .as_ref()
            .map_or(2.0 * RADIUS, |number| (number.size().x + 8.0).max(HEIGHT));
        let area = Rect::from_center_size(at, vec2(width.max(12.0), self.row.height()));
        let id = ui
            .scope_id()
            .with((self.thing, first.time.to_bits(), first.agent));
        let response = ui.interact(area.intersect(self.row), id, Sense::click());
        response.widget_info(|| WidgetInfo::labeled(Role::Button, true, title(self.thing, events)));
        if response.hovered() {
            ui.ctx().set_cursor_icon(CursorIcon::PointingHand);
        }
        let rim = if response.hovered() {
            Stroke::new(1.5, ui.visuals().text_color())
        } else {
            Stroke::NONE
        };
        match number {
            Some(number) => {
                let plate = Rect::from_center_size(at, vec2(width, HEIGHT));
                painter.rect(
                    plate,
                    0.5 * HEIGHT,
                    self.color,
                    rim,
                    egui::StrokeKind::Outside,
                );
                let corner = at - 0.5 * number.size();
                painter.galley(corner, number, Color32::PLACEHOLDER);
            }
            None => {
                painter.circle(at, RADIUS, self.color, rim);
                let words = painter.layout_no_wrap(words(first), font, ui.visuals().text_color());
                let left = at.x + RADIUS + 4.0;
                if left + words.size().x <= end {
                    let corner = pos2(left, at.y - 0.5 * words.size().y);
                    painter.galley(corner, words, Color32::PLACEHOLDER);
                }
            }
        }
        response
            .on_hover_ui(|ui| hint(ui, self.thing, events))
            .clicked()
    }
}

/// Returns black or white, whichever is more legible on the given colour.
fn contrast(color: Color32) -> Color32 {
    if color.intensity() > 0.55 {
        Color32::BLACK
    } else {
        Color32::WHITE
    }
}

/// Returns the names of the agents in an event.
fn words(event: &RunEvent) -> String {
    let agent = agent_name(event.agent);
    match event.with {
        Some(with) => format!("{agent} and {}", party(with)),
        None => agent,
    }
}

fn party(party: Party) -> String {
    match party {
        Party::Agent(id) => agent_name(id),
        Party::Obstacle(id) => format!("obstacle {id}"),
        Party::Trailer(number) => format!("trailer {number}"),
        Party::Tree { .. } => "a tree".to_owned(),
    }
}

/// Describes a dot in one sentence.
fn title(thing: &str, events: &[RunEvent]) -> String {
    let (first, last) = (&events[0], &events[events.len() - 1]);
    let what = counted(events.len(), thing);
    if events.len() == 1 {
        format!("{what} at {}: {}", clock(first.time), words(first))
    } else {
        format!("{what} from {} to {}", clock(first.time), clock(last.time))
    }
}

fn hint(ui: &mut Ui, thing: &str, events: &[RunEvent]) {
    ui.label(title(thing, events));
    if events.len() > 1 {
        for event in events.iter().take(LISTED) {
            ui.label(format!("{}  {}", clock(event.time), words(event)));
        }
        if events.len() > LISTED {
            ui.label(format!("and {} more", events.len() - LISTED));
        }
    }
    ui.weak(if events.len() > 1 {
        "Click to go to the first event."
    } else {
        "Click to go to this event."
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::Timeline;

    fn clusters(times: &[f64], to: f64) -> Vec<Cluster> {
        let timeline = Timeline {
            from: (to - 300.0).max(0.0),
            to,
            ..Timeline::default()
        };
        let plot = Rect::from_min_size(pos2(0.0, 0.0), vec2(660.0, 100.0));
        let axis = Axis::new(&timeline, plot);
        let event = |(i, time): (usize, &f64)| RunEvent {
            time: *time,
            place: None,
            agent: i as u64,
            with: None,
        };
        let events: Vec<RunEvent> = times.iter().enumerate().map(event).collect();
        let dots = Dots {
            axis: &axis,
            row: plot,
            thing: "arrival",
            color: Color32::BLACK,
            events: &events,
        };
        dots.clusters()
    }

    #[test]
    fn dots_do_not_overlap_and_none_is_lost() {
        let times: Vec<f64> = (0..20_000).map(|i| 0.015 * f64::from(i)).collect();
        for to in [60.0, 300.0] {
            let shown: Vec<f64> = times.iter().copied().filter(|time| *time <= to).collect();
            let clusters = clusters(&shown, to);
            let sum: usize = clusters.iter().map(|cluster| cluster.count).sum();
            assert_eq!(sum, shown.len());
            assert!(clusters.len() <= 30, "{}", clusters.len());
            for pair in clusters.windows(2) {
                assert!(pair[1].x - pair[0].x >= APART - 1e-3);
            }
        }
    }

    #[test]
    fn single_events_stay_where_they_are_and_old_ones_leave() {
        let found = clusters(&[5.0, 40.0, 41.0, 290.0], 320.0);
        let counts: Vec<usize> = found.iter().map(|cluster| cluster.count).collect();
        assert_eq!(counts, [2, 1]);
        assert_eq!(found[0].first, 1);
        // 330 s on 660 points, from 20 s on.
        assert!((found[1].x - 540.0).abs() < 0.1, "{found:?}");
    }

    #[test]
    fn a_dot_says_what_happened() {
        let event = |time, with| RunEvent {
            time,
            place: None,
            agent: 3,
            with,
        };
        let hit = event(62.5, Some(Party::Tree { forest: 1, tree: 2 }));
        assert_eq!(
            title("contact", &[hit]),
            "1 contact at 01:02.5: agent 3 and a tree"
        );
        let two = [event(1.0, None), event(2.0, None)];
        assert_eq!(title("arrival", &two), "2 arrivals from 00:01.0 to 00:02.0");
    }
}
