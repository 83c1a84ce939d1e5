//! Cuts lane sections, and opens additional lanes on a stretch of a road.

use crate::road::{Lane, LaneSection, Poly3, Road, RoadEnd};

/// Returns the part of a lane section between two distances along its road. `origin` is the start of the new
/// road.
pub(super) fn section_part(
    section: &LaneSection,
    start: f64,
    end: f64,
    origin: f64,
) -> LaneSection {
    let cut = |lane: &Lane| Lane {
        // Positions of widths are measured from the start of the section, not of the road.
        width: cut_polynomials(&lane.width, start - section.s, end - section.s),
        ..lane.clone()
    };
    LaneSection {
        s: (start - origin).into(),
        lanes: section.lanes.iter().map(cut).collect(),
    }
}

/// Returns the polynomials that apply between two distances, with their positions measured from the first
/// distance.
pub(super) fn cut_polynomials(list: &[Poly3], from: f64, to: f64) -> Vec<Poly3> {
    // The polynomial that applies at `from` starts before it and is rebased to `from`. For later polynomials,
    // only the start is shifted.
    let first = list
        .partition_point(|poly| poly.s <= from)
        .saturating_sub(1);
    list.iter()
        .skip(first)
        .take_while(|poly| poly.s < to)
        .map(|poly| {
            if poly.s <= from {
                poly.rebased(from)
            } else {
                Poly3 {
                    s: (poly.s - from).into(),
                    ..*poly
                }
            }
        })
        .collect()
}

/// Replaces the lanes on a stretch of a road within one section.
///
/// ```text
///     |---------- one section ----------|      becomes     |------|-- lanes --|------|
///            from           to
/// ```
pub(super) fn replace_lanes(road: &mut Road, from: f64, to: f64, lanes: Vec<Lane>) {
    // Looked up at the middle of the stretch, because a section border may be at either end.
    let place = road.section_index(0.5 * (from + to));
    let (end, plain) = (road.section_end(place), road.lane_sections[place].clone());
    let rest = |from: f64, to: f64| (to - from > 1e-6).then(|| section_part(&plain, from, to, 0.0));
    let parts = [
        rest(plain.s.get(), from),
        Some(LaneSection {
            s: from.into(),
            lanes,
        }),
        rest(to, end),
    ];
    road.lane_sections
        .splice(place..=place, parts.into_iter().flatten());
}

/// Returns the stretch of a road from the node at one of its ends up to a distance in metres; `None` if the
/// stretch is not inside one lane section, or if less than `behind` metres of road would remain beyond it.
pub(super) fn beside_node(
    road: &Road,
    end: RoadEnd,
    reach: f64,
    behind: f64,
) -> Option<(f64, f64)> {
    let length = road.length();
    let (from, to) = match end {
        RoadEnd::Start => (0.0, reach),
        RoadEnd::End => (length - reach, length),
    };
    let is_one_section = || road.section_index(from) == road.section_index(to);
    (length >= reach + behind && is_one_section()).then_some((from, to))
}

/// Returns the width of a lane near the node at one end of a road. The lane has its full width over
/// `full` metres, and then tapers to zero.
pub(super) fn width_beside_node(width: f64, full: f64, taper: f64, end: RoadEnd) -> Vec<Poly3> {
    match end {
        RoadEnd::Start => {
            let closes = Poly3 {
                s: full.into(),
                a: width.into(),
                ..Poly3::smooth_step(-width, taper)
            };
            vec![Poly3::constant(width), closes]
        }
        RoadEnd::End => {
            let opened = Poly3 {
                s: taper.into(),
                ..Poly3::constant(width)
            };
            vec![Poly3::smooth_step(width, taper), opened]
        }
    }
}
