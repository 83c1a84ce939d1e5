//! Move trees on the map: the ghost of a clip, and the route, clip, error and tree of the watched vehicle.

use crate::live::LivePicture;
use crate::marks::Board;
use crate::moves::{BenchClip, ClipSource, MoveView};
use crate::tools::Tone;
use egui::{Align2, Color32, Shape, Stroke};
use roadwright_geometry::DVec2;
use roadwright_simulation::{InspectedMove, MoveInspection, WatchedTree};

/// Number of frames between two bodies of a ghost.
const GHOST_FRAMES: usize = 10;
/// Maximum number of bodies of a ghost.
const MOST_GHOSTS: usize = 120;
/// Distance between the vehicle and its clip above which the error is drawn, m.
const VISIBLE_ERROR: f64 = 0.02;

impl Board<'_> {
    /// Draws the ghost of a clip at the place where it was driven.
    pub(crate) fn clip_ghost(&self, clip: &BenchClip, source: &ClipSource) {
        let color = self.theme.tone(Tone::Guide);
        let step = (clip.kept().len() / MOST_GHOSTS).max(GHOST_FRAMES);
        let path: Vec<DVec2> = clip.ghost(1).map(|place| place.position).collect();
        for place in clip.ghost(step) {
            let outline = self.points(&source.body.corners(&place));
            let fill = color.gamma_multiply(0.12);
            let stroke = Stroke::new(1.2, color.gamma_multiply(0.7));
            self.painter
                .add(Shape::convex_polygon(outline, fill, stroke));
        }
        let stroke = Stroke::new(2.0, color);
        self.painter.add(Shape::line(self.points(&path), stroke));
    }

    /// Draws the move tree of the watched vehicle.
    pub(crate) fn moves(&self, live: &LivePicture, view: MoveView) {
        let Some(seen) = &live.moves else { return };
        if let Some(tree) = seen.tree.as_ref().filter(|_| view.tree) {
            self.route_tree(tree, view.branches.unwrap_or(usize::MAX));
        }
        if view.route {
            self.planned_moves(seen);
            if let Some(current) = &seen.current {
                self.clip_now(live, seen, current);
            }
        }
    }

    /// Draws branches in the order in which they were tested: blocked ones red, untested ones faint.
    fn route_tree(&self, tree: &WatchedTree, most: usize) {
        let color = |is_blocked: Option<bool>| match is_blocked {
            Some(false) => self.theme.tone(Tone::Accent).gamma_multiply(0.5),
            Some(true) => self.theme.tone(Tone::Danger).gamma_multiply(0.5),
            None => self.theme.quiet().gamma_multiply(0.3),
        };
        // From the last branch to the first, so that tested branches are above the others.
        for branch in tree.branches.iter().take(most).rev() {
            let stroke = Stroke::new(1.0, color(branch.is_blocked));
            self.painter
                .add(Shape::line(self.points(&branch.points), stroke));
        }
    }

    /// Draws the rest of the current move and the moves planned after it.
    fn planned_moves(&self, seen: &MoveInspection) {
        if seen.route.len() > 1 {
            let stroke = Stroke::new(3.0, self.theme.tone(Tone::Warning));
            self.painter
                .add(Shape::line(self.points(&seen.route), stroke));
        }
    }

    /// Draws the body at the clip's current frame, and the distance of the vehicle from it.
    fn clip_now(&self, live: &LivePicture, seen: &MoveInspection, current: &InspectedMove) {
        let color = self.theme.tone(Tone::Warning);
        let outline = self.points(&current.outline);
        let stroke = Stroke::new(1.5, color);
        self.painter
            .add(Shape::convex_polygon(outline, Color32::TRANSPARENT, stroke));
        let Some(own) = live.snapshot.vehicle(seen.agent) else {
            return;
        };
        if current.distance > VISIBLE_ERROR {
            let ends = [current.pose.position, own.pose.position].map(|point| self.at(point));
            let stroke = Stroke::new(2.0, self.theme.tone(Tone::Danger));
            self.painter.line_segment(ends, stroke);
        }
        let at = self.at(own.body.position) + egui::vec2(16.0, 16.0);
        let text = format!(
            "{}: {:.2} m, {:.1}°",
            current.name,
            current.distance,
            current.heading.to_degrees().abs()
        );
        self.plate(at, Align2::LEFT_TOP, &text, color);
    }
}
