//! The road tool, which draws roads: freehand by dragging, or point by point by clicking.

use super::snap::{angle_step, on_grid};
use super::stroke_layers::{StrokeLayers, layer_at};
use super::{
    Effect, HandleShape, Mark, Modifiers, Pointer, Tone, Tool, ToolContext, ToolEvent, join, ribbon,
};
use roadwright_geometry::alignment::Alignment;
use roadwright_geometry::stroke::{StrokeOptions, fit, resampled, smoothed};
use roadwright_geometry::{DVec2, ReferenceLine, heading_of, polygon, polyline, unit};
use roadwright_scenario::operation::draw::{self, Catch, LayeredStyle, StrokeEnd};
use std::ops::Range;

/// Number of freehand points that Backspace removes.
const BACKSPACE: usize = 12;

/// A stroke in progress.
enum Stroke {
    /// A road drawn by dragging.
    Freehand {
        /// Positions of the pointer in drawing order.
        points: Vec<DVec2>,
        /// Rule for joining the start.
        from: Catch,
        layers: StrokeLayers,
        modifiers: Modifiers,
        /// Nodes and roads that the ends would join on release.
        ends: [StrokeEnd; 2],
    },
    /// Points placed by clicks.
    Chain {
        points: Vec<DVec2>,
        from: Catch,
        layers: StrokeLayers,
    },
}

impl Stroke {
    fn layers(&self) -> &StrokeLayers {
        match self {
            Self::Freehand { layers, .. } | Self::Chain { layers, .. } => layers,
        }
    }

    fn points(&self) -> &[DVec2] {
        match self {
            Self::Freehand { points, .. } | Self::Chain { points, .. } => points,
        }
    }
}

/// The end that the road would have after a click at the pointer.
#[derive(Clone)]
struct Hover {
    /// Position of the next point, m. If the point joins something, this is the position of the joint.
    at: DVec2,
    /// Position of the pointer after snapping to the grid and to angle steps, m.
    placed: DVec2,
    /// Nodes and roads that the ends would join if the next point were the last one.
    ends: [StrokeEnd; 2],
    /// Layer of the next point.
    layer: i8,
}

impl Hover {
    fn is_joined(&self) -> bool {
        self.ends[1].is_joined()
    }
}

/// Draws a road from a freehand drag, or from points that are placed by clicks.
#[derive(Default)]
pub(super) struct RoadTool {
    press: Option<Pointer>,
    /// The last pointer event.
    pointer: Option<Pointer>,
    hover: Option<Hover>,
    stroke: Option<Stroke>,
    /// Label of the end at the pointer, which names the road that it would join, pass over or pass
    /// under.
    word: Option<String>,
    /// Typed text: a length, or an angle after `<`.
    typed: String,
}

impl RoadTool {
    fn start_freehand(&mut self, pointer: Pointer, context: &ToolContext<'_>) {
        let press = self.press.unwrap_or(pointer);
        let start = placed_at(press.at, press.modifiers, context);
        let from = join::catch(press.modifiers, context);
        let layers = StrokeLayers::from(start, from, context);
        self.stroke = Some(Stroke::Freehand {
            ends: join::ends(&[start], layers.ends(context), [from, from], context),
            points: vec![start],
            from,
            layers,
            modifiers: pointer.modifiers,
        });
    }

    /// Adds a pointer position. Moving back over the last stretch shortens the stroke.
    fn extend(&mut self, pointer: Pointer, context: &ToolContext<'_>) {
        let Some(Stroke::Freehand {
            points,
            layers,
            modifiers,
            ..
        }) = &mut self.stroke
        else {
            return;
        };
        *modifiers = pointer.modifiers;
        layers.follow(points.len() - 1, context);
        // Only the last two dozen points are compared, because a road may cross or run beside its
        // earlier parts. The newest four are left out, because they are always near the pointer.
        //
        //   o  o  o  o  o  o  o  o  o  o   pointer positions
        //             <----------  x      the pointer moves back: the points behind it are dropped
        let near = 5.0 * context.scale;
        let recent = points.len().saturating_sub(24)..points.len().saturating_sub(4);
        let back = recent.rev().find(|&i| {
            (points[i] - pointer.at).length() < near && turns_back(points, i, pointer.at)
        });
        match back {
            Some(i) => {
                points.truncate(i + 1);
                layers.shorten(points.len());
            }
            None if points.last() != Some(&pointer.at) => points.push(pointer.at),
            None => {}
        }
    }

    /// Updates the joints at the ends of a freehand stroke.
    fn aim(&mut self, context: &ToolContext<'_>) {
        if let Some(Stroke::Freehand {
            points,
            from,
            layers,
            modifiers,
            ends,
        }) = &mut self.stroke
        {
            let catch = [*from, join::catch(*modifiers, context)];
            *ends = join::ends(points, layers.ends(context), catch, context);
            let end = ends[1].clone();
            self.word = self.word_for(&end, context);
        }
    }

    /// Updates the position of the next point and its joint.
    fn aim_next(&mut self, at: DVec2, modifiers: Modifiers, context: &ToolContext<'_>) {
        let hover = self.next_point(at, modifiers, context);
        let end = hover.ends[1].clone();
        self.hover = Some(hover);
        self.word = self.word_for(&end, context);
    }

    fn finish_freehand(&mut self, context: &ToolContext<'_>) -> Vec<Effect> {
        let Some(Stroke::Freehand {
            mut points,
            from,
            layers,
            modifiers,
            mut ends,
        }) = self.stroke.take()
        else {
            return Vec::new();
        };
        if let Some(&last) = points.last()
            && !ends[1].is_joined()
            && !modifiers.ctrl
            && let Some(grid) = on_grid(last, context)
        {
            // The grid point is appended and the last point is kept, so that the stroke stays as drawn.
            points.push(grid);
            let catch = [from, join::catch(modifiers, context)];
            ends = join::ends(&points, layers.ends(context), catch, context);
        }
        let options = StrokeOptions::at_scale(context.scale, context.options.min_radius());
        match fit(&draw::guided(&points, &ends), &options) {
            Ok(fit) => self.draw(&fit.line, &points, &layers, &ends, context),
            Err(_) => vec![Effect::Refuse("The stroke is too short for a road.".into())],
        }
    }

    /// Ends a road drawn point by point. `to` is the rule for joining its end.
    fn finish_chain(&mut self, to: Catch, context: &ToolContext<'_>) -> Vec<Effect> {
        self.typed.clear();
        let Some(Stroke::Chain {
            points,
            from,
            layers,
        }) = self.stroke.take()
        else {
            return Vec::new();
        };
        if points.len() < 2 {
            return Vec::new();
        }
        let ends = join::ends(&points, layers.placed_ends(), [from, to], context);
        let corners = draw::guided_corners(&points, &ends);
        let line = Alignment::polygon(&corners, context.options.corner_radius, 0.0)
            .and_then(|alignment| alignment.line());
        match line {
            Ok(line) => self.draw(&line, &points, &layers, &ends, context),
            Err(error) => vec![Effect::Refuse(format!(
                "This road cannot be built: {error}."
            ))],
        }
    }

    /// Draws the road along a line fitted to the points of a stroke.
    fn draw(
        &mut self,
        line: &ReferenceLine,
        points: &[DVec2],
        layers: &StrokeLayers,
        ends: &[StrokeEnd; 2],
        context: &ToolContext<'_>,
    ) -> Vec<Effect> {
        let layered = LayeredStyle {
            style: &context.options.road_style(layers.start()),
            changes: &layers.along(points, line),
        };
        match draw::layered_road(context.scenario, line, &layered, ends) {
            Ok(edit) => {
                let label = history_label(line, ends, context);
                vec![Effect::Apply(label, edit)]
            }
            Err(error) => vec![Effect::Refuse(format!(
                "This road cannot be built: {error}."
            ))],
        }
    }

    /// Returns the next point of a chain or, without a chain, the point where a road would start.
    fn next_point(&self, pointer: DVec2, modifiers: Modifiers, context: &ToolContext<'_>) -> Hover {
        let to = join::catch(modifiers, context);
        let (points, from, layers) = match &self.stroke {
            Some(Stroke::Chain {
                points,
                from,
                layers,
            }) => (points.as_slice(), *from, Some(layers)),
            _ => (&[][..], to, None),
        };
        let hover = |placed: DVec2, to: Catch| {
            let corners: Vec<DVec2> = points.iter().copied().chain([placed]).collect();
            let layers = match layers {
                Some(layers) => layers.ends(context),
                None => [layer_at(placed, to, context); 2],
            };
            let ends = join::ends(&corners, layers, [from, to], context);
            Hover {
                at: ends[1].at,
                placed,
                ends,
                layer: layers[1],
            }
        };
        let at_pointer = hover(pointer, to);
        let Some(&last) = points.last() else {
            let placed = placed_at(pointer, modifiers, context);
            return match placed == pointer {
                true => at_pointer,
                false => hover(placed, to),
            };
        };
        // Angles are relative to the previous leg, and to east for the first leg.
        let reference = match points.len() {
            0 | 1 => 0.0,
            n => heading_of(last - points[n - 2]),
        };
        let (length, angle) = self.typed_values();
        if length.is_some() || angle.is_some() {
            let heading = match angle {
                // Positive to the left, like all angles.
                Some(degrees) => reference + degrees.to_radians(),
                None => heading_of(at_pointer.at - last),
            };
            let length = length.unwrap_or((at_pointer.at - last).length());
            // Typed values are exact, so they override snapping and the point joins no road.
            return hover(last + length * unit(heading), Catch::NOTHING);
        }
        if at_pointer.is_joined() || modifiers.ctrl {
            return at_pointer;
        }
        let angles = context.options.snap.angles;
        match on_grid(pointer, context) {
            Some(grid) => hover(grid, to),
            None if angles => hover(angle_step(last, pointer, reference), to),
            None => at_pointer,
        }
    }

    /// Returns the typed length in metres, and the typed angle in degrees relative to the previous
    /// leg.
    fn typed_values(&self) -> (Option<f64>, Option<f64>) {
        let (length, angle) = match self.typed.split_once('<') {
            Some((length, angle)) => (length, angle),
            None => (self.typed.as_str(), ""),
        };
        let length = length.parse().ok().filter(|l| (0.1..1e5).contains(l));
        (length, angle.parse().ok())
    }

    fn place(&mut self, pointer: Pointer, context: &ToolContext<'_>) -> Vec<Effect> {
        let next = self.next_point(pointer.at, pointer.modifiers, context);
        self.typed.clear();
        let to = join::catch(pointer.modifiers, context);
        match &mut self.stroke {
            Some(Stroke::Chain { points, layers, .. }) => {
                // The second click of a double-click also arrives here and must not add a point.
                let least = (6.0 * context.scale).max(0.5);
                let far = points
                    .last()
                    .is_none_or(|last| (*last - next.at).length() > least);
                if far {
                    layers.follow(points.len() - 1, context);
                    points.push(next.placed);
                }
                // Joining a node or road ends the new road there.
                if next.is_joined() && points.len() > 1 && far {
                    return self.finish_chain(to, context);
                }
            }
            _ => {
                self.stroke = Some(Stroke::Chain {
                    points: vec![next.placed],
                    from: to,
                    layers: StrokeLayers::from(next.placed, to, context),
                })
            }
        }
        Vec::new()
    }

    /// Returns the preview of the road as a polyline, with the label at its end.
    fn preview(&self, context: &ToolContext<'_>) -> Option<(Vec<DVec2>, String, Tone)> {
        match self.stroke.as_ref()? {
            Stroke::Freehand { points, ends, .. } => {
                // Only the spacing is used, which does not depend on the radius.
                let options = StrokeOptions::at_scale(context.scale, 1.0);
                // Lines, arcs and clothoids are fitted only at the end, because fitting at every
                // pointer movement would be too slow. The smoothed points approximate the final
                // road.
                let points = draw::guided(points, ends);
                let line = smoothed(&resampled(&points, options.spacing));
                let n = line.len();
                let length = polyline::length(&line);
                let heading = match n {
                    0 | 1 => 0.0,
                    // Measured over several points, because consecutive points are too uneven for a bearing.
                    _ => heading_of(line[n - 1] - line[n.saturating_sub(4).min(n - 2)]),
                };
                let mut text = format!("{length:.1} m\n{:.0}°", bearing(heading));
                if let Some(word) = &self.word {
                    text = format!("{length:.1} m  {:.0}°\n{word}", bearing(heading));
                }
                Some((line, self.with_layer(text, context), Tone::Accent))
            }
            Stroke::Chain { points, .. } => {
                let hover = self.hover.as_ref()?;
                let mut corners = points.clone();
                // The start moves to its joint, whose position depends on the direction of the
                // first leg.
                if let Some(first) = corners.first_mut() {
                    *first = hover.ends[0].at;
                }
                let last = *corners.last()?;
                let leg = hover.at - last;
                // Two identical points have no tangent.
                if leg.length() > 0.1 {
                    corners.push(hover.at);
                }
                let radius = context.options.corner_radius;
                let alignment = Alignment::polygon(&corners, radius, 0.0).ok()?;
                let line = alignment.line().ok()?;
                let tightest = alignment
                    .points()
                    .iter()
                    .map(|p| p.curvature())
                    .fold(0.0, f64::max);
                let mut text = format!("{:.1} m  {:.0}°", leg.length(), bearing(heading_of(leg)));
                let mut tone = Tone::Accent;
                if tightest > 0.0 {
                    text += &format!("\nR {:.0} m", 1.0 / tightest);
                }
                if tightest > 1.0 / context.options.min_radius() {
                    tone = Tone::Warning;
                    text += &format!(" < {:.0} m: tight", context.options.min_radius());
                }
                if let Some(word) = &self.word {
                    text += &format!("\n{word}");
                }
                if !self.typed.is_empty() {
                    text += &format!("\n> {}", self.typed);
                }
                // Sampled at a fifth of a screen point, so that the polyline looks like a curve.
                let points = line.sample(0.2 * context.scale.max(0.05), 0.0);
                Some((points, self.with_layer(text, context), tone))
            }
        }
    }

    /// Returns the layer at the pointer.
    fn layer_now(&self, context: &ToolContext<'_>) -> i8 {
        let hovered = || self.hover.as_ref().map_or(0, |hover| hover.layer);
        let stroke = self.stroke.as_ref();
        stroke.map_or_else(
            || context.options.layer.unwrap_or_else(hovered),
            |stroke| stroke.layers().at_pointer(context),
        )
    }

    /// Adds the layer to the label at the pointer, except for the ground layer.
    fn with_layer(&self, text: String, context: &ToolContext<'_>) -> String {
        match self.layer_now(context) {
            0 => text,
            layer => format!("{text}\nLayer {layer}"),
        }
    }

    /// Describes the joint of an end, or the road that it passes over or under.
    fn word_for(&self, end: &StrokeEnd, context: &ToolContext<'_>) -> Option<String> {
        join::word(end, context.scenario).or_else(|| {
            let modifiers = self.pointer.map_or(Modifiers::default(), |p| p.modifiers);
            let catch = join::catch(modifiers, context);
            join::passing_word(end, self.layer_now(context), catch, context)
        })
    }

    /// Updates the joints after a change of layer while the pointer stays still.
    fn change_layer(&mut self, context: &ToolContext<'_>) {
        let Some(pointer) = self.pointer else { return };
        match &self.stroke {
            Some(Stroke::Freehand { .. }) => self.aim(context),
            _ => self.aim_next(pointer.at, pointer.modifiers, context),
        }
    }

    fn crossings(&self, line: &[DVec2], context: &ToolContext<'_>) -> Vec<DVec2> {
        let Some((low, high)) = polygon::bounds(line) else {
            return Vec::new();
        };
        let Some(stroke) = &self.stroke else {
            return Vec::new();
        };
        let all = context.scene.roads.iter();
        let near = all.filter(|road| !(road.low.cmpgt(high).any() || road.high.cmplt(low).any()));
        // A road passes over or below the roads of other layers.
        let pointer = match (stroke, &self.hover) {
            (Stroke::Chain { .. }, Some(hover)) => hover.at,
            _ => stroke.points().last().copied().unwrap_or_default(),
        };
        let shares = stroke.layers().shares(stroke.points(), pointer, context);
        let whole = polyline::length(line).max(1e-9);
        let mut before = 0.0;
        let layers = line.windows(2).map(|leg| {
            let length = (leg[1] - leg[0]).length();
            let share = (before + 0.5 * length) / whole;
            before += length;
            let layer = shares.iter().rev().find(|(from, _)| *from <= share);
            layer.map_or(0, |(_, layer)| *layer)
        });
        let layers: Vec<i8> = layers.collect();
        let pieces = pieces(line);
        let mut found = Vec::new();
        for road in near {
            let is_near = |(low, high): (DVec2, DVec2)| {
                !(road.low.cmpgt(high).any() || road.high.cmplt(low).any())
            };
            let pieces = pieces.iter().filter(|piece| is_near(piece.limits));
            for leg in pieces.flat_map(|piece| piece.legs.clone()) {
                let (from, to) = (line[leg], line[leg + 1]);
                if layers[leg] != road.road.layer || !is_near((from.min(to), from.max(to))) {
                    continue;
                }
                for b in road.line.windows(2) {
                    if polygon::segments_cross(from, to, b[0], b[1]) {
                        found.push(0.5 * (from + to));
                    }
                }
            }
            // A stroke along a road crosses it many times, and the marks are only a hint.
            if found.len() > 64 {
                break;
            }
        }
        found
    }
}

/// A section of a line.
struct Piece {
    /// Indices of its legs. Leg `n` begins at point `n` of the line.
    legs: Range<usize>,
    /// Lower and upper corners of its bounding box, m.
    limits: (DVec2, DVec2),
}

/// Divides a line into at most 64 pieces of at least 8 legs each, so that roads far from the line
/// can be ruled out without looking at every leg.
fn pieces(line: &[DVec2]) -> Vec<Piece> {
    let legs = line.len().saturating_sub(1);
    let size = legs.div_ceil(64).max(8);
    let starts = (0..legs).step_by(size);
    let piece = |start: usize| {
        let legs = start..(start + size).min(legs);
        let limits = polygon::bounds(&line[start..=legs.end])?;
        Some(Piece { legs, limits })
    };
    starts.filter_map(piece).collect()
}

/// Returns the label of the history step that draws a road: its length, and the roads that it joins.
fn history_label(line: &ReferenceLine, ends: &[StrokeEnd; 2], context: &ToolContext<'_>) -> String {
    let mut label = format!("Draw road, {:.0} m", line.length());
    for (word, end) in ["from", "to"].into_iter().zip(ends) {
        if let Some(name) = join::joined_name(end, context.scenario) {
            label += &format!(" {word} {name}");
        }
    }
    label
}

/// Returns the position of a point after snapping. It snaps to the grid if that is enabled and the
/// point does not join anything.
fn placed_at(point: DVec2, modifiers: Modifiers, context: &ToolContext<'_>) -> DVec2 {
    let catch = join::catch(modifiers, context);
    let layer = layer_at(point, catch, context);
    let [end, _] = join::ends(&[point], [layer; 2], [catch, catch], context);
    let grid = on_grid(point, context).filter(|_| !end.is_joined() && !modifiers.ctrl);
    grid.unwrap_or(point)
}

/// Converts a heading to a compass bearing: degrees clockwise from north.
fn bearing(heading: f64) -> f64 {
    (90.0 - heading.to_degrees()).rem_euclid(360.0)
}

fn turns_back(points: &[DVec2], i: usize, to: DVec2) -> bool {
    let Some(&last) = points.last() else {
        return false;
    };
    let forward = last - points[i];
    // Whether the line turns back towards that point.
    forward.dot(to - last) < 0.0 && i + 4 < points.len()
}

/// Maximum number of typed characters; longer text would not fit into the status line.
const MOST_TYPED: usize = 16;

impl RoadTool {
    fn drag(&mut self, pointer: Pointer, context: &ToolContext<'_>) {
        match &self.stroke {
            // Dragging while placing points moves the next point.
            Some(Stroke::Chain { .. }) => {
                self.aim_next(pointer.at, pointer.modifiers, context);
            }
            Some(Stroke::Freehand { .. }) => {
                self.extend(pointer, context);
                self.aim(context);
            }
            None => {
                self.start_freehand(pointer, context);
                self.extend(pointer, context);
                self.aim(context);
            }
        }
    }

    fn release(&mut self, pointer: Pointer, context: &ToolContext<'_>) -> Vec<Effect> {
        match self.stroke {
            Some(Stroke::Freehand { .. }) => {
                self.extend(pointer, context);
                self.aim(context);
                self.finish_freehand(context)
            }
            _ => self.place(pointer, context),
        }
    }

    /// Handles Enter, which places the typed point or ends the chain.
    fn enter(&mut self, context: &ToolContext<'_>) -> Vec<Effect> {
        if self.typed.is_empty() {
            return self.finish_chain(Catch::NOTHING, context);
        }
        let Some(hover) = self.hover.clone() else {
            return Vec::new();
        };
        let pointer = Pointer {
            at: hover.at,
            modifiers: Modifiers::default(),
        };
        self.place(pointer, context)
    }

    /// Removes the last typed character or, if there is none, the last points of the stroke. A stroke without
    /// points is cancelled.
    fn backspace(&mut self) {
        if self.typed.pop().is_some() {
            return;
        }
        match &mut self.stroke {
            Some(Stroke::Chain { points, layers, .. }) if points.len() > 1 => {
                points.pop();
                layers.shorten(points.len());
            }
            Some(Stroke::Freehand { points, layers, .. }) if points.len() > BACKSPACE => {
                points.truncate(points.len() - BACKSPACE);
                layers.shorten(points.len());
            }
            _ => self.stroke = None,
        }
    }

    /// Handles a typed character of a length, an angle or both, such as `75`, `<30` or `75<30`.
    fn take_letter(&mut self, c: char, context: &ToolContext<'_>) {
        let in_chain = matches!(self.stroke, Some(Stroke::Chain { .. }));
        let is_number = c.is_ascii_digit() || ".<-".contains(c);
        if !in_chain || !is_number || self.typed.len() >= MOST_TYPED {
            return;
        }
        self.typed.push(c);
        if let Some(hover) = &self.hover {
            self.aim_next(hover.placed, Modifiers::default(), context);
        }
    }
}

impl Tool for RoadTool {
    fn event(&mut self, event: ToolEvent, context: &ToolContext<'_>) -> Vec<Effect> {
        self.pointer = event.pointer().or(self.pointer);
        match event {
            ToolEvent::Move(pointer) => {
                self.aim_next(pointer.at, pointer.modifiers, context);
            }
            ToolEvent::Press(pointer) => self.press = Some(pointer),
            ToolEvent::Drag(pointer) => self.drag(pointer, context),
            ToolEvent::Release(pointer) => return self.release(pointer, context),
            ToolEvent::Click(pointer) => return self.place(pointer, context),
            ToolEvent::DoubleClick(_) => return self.finish_chain(Catch::NOTHING, context),
            ToolEvent::Enter => return self.enter(context),
            ToolEvent::Backspace => self.backspace(),
            ToolEvent::Escape => {
                self.stroke = None;
                self.typed.clear();
            }
            ToolEvent::Type(c) => self.take_letter(c, context),
            ToolEvent::Layer => self.change_layer(context),
        }
        Vec::new()
    }

    fn layer(&self, context: &ToolContext<'_>) -> Option<i8> {
        Some(self.layer_now(context))
    }

    fn marks(&self, context: &ToolContext<'_>) -> Vec<Mark> {
        let mut marks = Vec::new();
        if let Some((line, text, tone)) = self.preview(context) {
            let side = context.scenario.about().driving_side;
            marks.extend(ribbon(&line, &context.options.chosen().section, side));
            marks.extend(
                self.crossings(&line, context)
                    .into_iter()
                    .map(|at| Mark::Handle {
                        at,
                        shape: HandleShape::Diamond,
                        hot: true,
                    }),
            );
            if let Some(&end) = line.last() {
                marks.push(Mark::line(line, tone));
                marks.push(Mark::label(end, text, tone));
            }
        }
        if let Some(Stroke::Chain { points, .. }) = &self.stroke {
            let mut legs = points.clone();
            legs.extend(self.hover.as_ref().map(|hover| hover.at));
            marks.push(Mark::dashes(legs, Tone::Guide));
            marks.extend(points.iter().map(|&at| Mark::Handle {
                at,
                shape: HandleShape::Square,
                hot: false,
            }));
        }
        if let Some(stroke) = &self.stroke {
            marks.extend(stroke.layers().marks(stroke.points()));
        }
        let target = match (&self.stroke, &self.hover) {
            (Some(Stroke::Freehand { ends, .. }), _) => {
                Some(&ends[1]).filter(|end| end.is_joined())
            }
            (_, Some(hover)) => Some(&hover.ends[1]),
            (_, None) => None,
        };
        if let Some(target) = target {
            marks.push(Mark::Handle {
                at: target.at,
                shape: HandleShape::Circle,
                hot: target.is_joined(),
            });
            if self.stroke.is_none() {
                let word = self.word.clone().unwrap_or_default();
                let text = self.with_layer(word, context);
                let text = text.trim_start();
                if !text.is_empty() {
                    marks.push(Mark::label(target.at, text, Tone::Guide));
                }
            }
        }
        marks
    }

    fn status(&self, context: &ToolContext<'_>) -> String {
        let tolerance = StrokeOptions::at_scale(context.scale, 1.0).tolerance;
        match &self.stroke {
            None => format!(
                "Drag: draw freehand (to {tolerance:.1} m). Click: add points. Ends join the roads under them unless Ctrl is held. Page Up, Page Down: layer (now {}).",
                self.layer_now(context)
            ),
            Some(Stroke::Freehand { .. }) => {
                "Release: build the road. Drag back: shorten. Page Up, Page Down: layer. Esc: cancel.".into()
            }
            Some(Stroke::Chain { .. }) => {
                "Click: next point. Type a length, or <angle. Double-click or Enter: finish. Backspace: \
                 remove last point. Esc: cancel.".into()
            }
        }
    }

    fn is_busy(&self) -> bool {
        self.stroke.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_have_every_leg_once_within_their_boxes() {
        for count in [0, 1, 2, 9, 10, 512, 513, 514, 20_000] {
            let point = |number: u32| DVec2::new(f64::from(number), f64::from(number % 7));
            let line: Vec<DVec2> = (0..count).map(point).collect();
            let pieces = pieces(&line);
            assert!(pieces.len() <= 64);
            let legs: Vec<usize> = pieces.iter().flat_map(|piece| piece.legs.clone()).collect();
            assert!(legs.into_iter().eq(0..line.len().saturating_sub(1)));
            for piece in pieces {
                let (low, high) = piece.limits;
                let points = &line[piece.legs.start..=piece.legs.end];
                assert!(
                    points
                        .iter()
                        .all(|at| at.cmpge(low).all() && at.cmple(high).all())
                );
            }
        }
    }
}
