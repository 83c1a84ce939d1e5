//! Names of streets and of points of interest.

use crate::canvas::Canvas;
use glam::DVec2;
use roadwright_scenario::Scenario;
use roadwright_scenario::junction::Layout;

/// Fewer pixels per metre show no names.
const MIN_SCALE: f64 = 1.6;

/// Names of points of interest, beside them.
pub(crate) fn places(canvas: &mut Canvas, scenario: &Scenario) {
    if canvas.scale < MIN_SCALE {
        return;
    }
    let mut written: Vec<(f32, f32, f32)> = Vec::new();
    for point in scenario.points_of_interest().values() {
        let (x, y) = canvas.pixel(point.position());
        let mark = (crate::reach_of_mark(point) * canvas.scale) as f32;
        let beside = x + (mark + 4.0).max(8.0);
        let (size, ink) = (11.0, crate::palette::INK);
        let width = crate::text::width(&point.name, size);
        // No name over another one.
        let is_taken = written.iter().any(|&(from, other_y, length)| {
            beside < from + length && from < beside + width && (y - other_y).abs() < 14.0
        });
        if is_taken {
            continue;
        }
        written.push((beside, y, width));
        canvas.text(
            &point.name,
            beside,
            y + 4.0,
            size,
            crate::text::Align::Left,
            ink,
        );
    }
}

/// Street names along their roads, each name where its longest stretch is.
pub(crate) fn streets(canvas: &mut Canvas, scenario: &Scenario, layout: &Layout) {
    if canvas.scale < MIN_SCALE {
        return;
    }
    // A street is many roads of one name, cut at every junction: one name is enough. In the order of
    // names, so that it does not depend on ids which of two that collide is written.
    let mut longest: std::collections::BTreeMap<&str, (f64, DVec2)> =
        std::collections::BTreeMap::new();
    for (id, road) in scenario
        .network()
        .roads()
        .filter(|(_, road)| !road.name.is_empty())
    {
        let Some((from, to)) = layout.remaining(id, road) else {
            continue;
        };
        let middle = road.reference_line.pose(0.5 * (from + to)).position;
        let known = longest.entry(&road.name).or_insert((0.0, middle));
        if to - from > known.0 {
            *known = (to - from, middle);
        }
    }
    let mut written: Vec<(f32, f32, f32)> = Vec::new();
    for (name, (length, middle)) in longest {
        let width = crate::text::width(name, 11.0);
        let (x, y) = canvas.pixel(middle);
        // No name over another one.
        let taken = written.iter().any(|&(other_x, other_y, other_width)| {
            (x - other_x).abs() < 0.5 * (width + other_width) + 6.0 && (y - other_y).abs() < 16.0
        });
        if width < 1.2 * (length * canvas.scale) as f32 && !taken {
            written.push((x, y, width));
            canvas.text(
                name,
                x,
                y + 4.0,
                11.0,
                crate::text::Align::Centre,
                crate::palette::INK,
            );
        }
    }
}
