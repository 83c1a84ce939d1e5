//! Ribbons of roads that are being drawn or that the map does not show yet.

use super::{Fill, Mark};
use roadwright_geometry::{DVec2, polyline};
use roadwright_scenario::{CrossSection, DrivingSide, Poly3, Road};

/// Longest mitre, in half widths.
const MITRE: f64 = 2.0;
/// Spacing of the points along the lanes of a road, m.
const SPACING: f64 = 2.0;
/// Maximum number of points along the lanes of a section.
const MOST_POINTS: f64 = 1000.0;

/// Returns the marks for the lanes of a cross-section along a polyline.
pub fn ribbon(points: &[DVec2], section: &CrossSection, side: DrivingSide) -> Vec<Mark> {
    if points.len() < 2 {
        return Vec::new();
    }
    let normals = polyline::mitres(points, MITRE);
    let offset = |t: f64| -> Vec<DVec2> {
        let shifted = points.iter().zip(&normals);
        shifted.map(|(p, n)| *p + t * *n).collect()
    };
    let (lane_offset, lanes) = section.lanes(side);
    let base = Poly3::value_in(&lane_offset, 0.0);
    let width = |lane: &roadwright_scenario::Lane| Poly3::value_in(&lane.width, 0.0);
    let left: f64 = lanes.lanes.iter().filter(|l| l.id > 0).map(width).sum();
    // From left to right, in the order of the section.
    let mut t = base + left;
    lanes
        .lanes
        .iter()
        .map(|lane| {
            let (from, to) = (t, t - width(lane));
            t = to;
            let mut area = offset(from);
            area.extend(offset(to).into_iter().rev());
            Mark::Area {
                points: area,
                fill: Fill::Lane(lane.kind),
            }
        })
        .collect()
}

/// Returns the marks for the lanes of a road.
pub fn road_ribbon(road: &Road) -> Vec<Mark> {
    let mut marks = Vec::new();
    for (index, section) in road.lane_sections.iter().enumerate() {
        let (from, to) = (section.s.get(), road.section_end(index));
        let count = ((to - from) / SPACING).ceil().clamp(1.0, MOST_POINTS);
        let places = (0..=count as u32).map(|i| from + (to - from) * f64::from(i) / count);
        let bands: Vec<_> = places.map(|s| (s, road.lane_bands(section, s))).collect();
        for (i, lane) in section.lanes.iter().enumerate() {
            let edge = |side: f64| {
                let bands = bands.iter();
                bands.map(move |(s, bands)| {
                    let band = &bands[i];
                    let t = band.centre + 0.5 * side * band.width;
                    road.reference_line.point(*s, t)
                })
            };
            let mut points: Vec<DVec2> = edge(1.0).collect();
            points.extend(edge(-1.0).rev());
            marks.push(Mark::Area {
                points,
                fill: Fill::Lane(lane.kind),
            });
        }
    }
    marks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_lie_side_by_side() {
        let points = [DVec2::ZERO, DVec2::new(100.0, 0.0)];
        let marks = ribbon(
            &points,
            &CrossSection::driving(2, 1, 3.0),
            DrivingSide::Right,
        );
        let extent: Vec<(f64, f64)> = marks
            .iter()
            .map(|mark| match mark {
                Mark::Area { points, .. } => (points[0].y, points[3].y),
                _ => unreachable!("ribbons are areas"),
            })
            .collect();
        assert_eq!(extent, [(3.0, 0.0), (0.0, -3.0), (-3.0, -6.0)]);
    }
}
