//! Rules for the order, ids and widths of the lanes of a road, and for the ranges of their numbers.

use crate::quantity::{Validate, at, check_keys, inside};
use crate::road::{LaneSection, Poly3, Road};

/// Checks conditions that every road must satisfy before its lanes can be evaluated.
pub(crate) fn check_lanes(road: &Road) -> Result<(), &'static str> {
    let sections = &road.lane_sections;
    if sections.first().is_none_or(|section| section.s != 0.0) {
        return Err("the first lane section must start at s = 0");
    }
    if sections.windows(2).any(|pair| pair[1].s <= pair[0].s) {
        return Err("lane sections must be listed by ascending s");
    }
    if sections
        .last()
        .is_some_and(|section| section.s >= road.length())
    {
        return Err("a lane section starts beyond the end of the road");
    }
    sections.iter().try_for_each(check_ids)?;
    for (index, section) in sections.iter().enumerate() {
        let length = road.section_end(index) - section.s;
        for lane in &section.lanes {
            if lane.width.is_empty() {
                return Err("a lane must have at least one width");
            }
            check_polynomials(&lane.width, length, 0.0..=MAX_LANE_WIDTH)?;
        }
    }
    check_polynomials(&road.lane_offset, road.length(), -MAX_OFFSET..=MAX_OFFSET)
}

fn check_ids(section: &LaneSection) -> Result<(), &'static str> {
    let lanes = &section.lanes;
    if lanes.iter().any(|lane| lane.id == 0) {
        return Err("lane 0 is the reference line and cannot be listed");
    }
    if lanes.windows(2).any(|pair| pair[1].id >= pair[0].id) {
        return Err("lanes must be listed by descending id, each once");
    }
    if lanes.iter().any(|lane| lane.id.unsigned_abs() > MAX_LANES) {
        return Err("lane ids must be from -100 to 100");
    }
    Ok(())
}

/// Largest absolute value of a lane id.
const MAX_LANES: u8 = 100;
/// Maximum width of a lane, m.
const MAX_LANE_WIDTH: f64 = 100.0;
/// Largest lateral shift of lane 0, m.
const MAX_OFFSET: f64 = 1000.0;

/// Checks that polynomials are listed in ascending order from 0 and stay within a range over the given
/// length.
fn check_polynomials(
    list: &[Poly3],
    length: f64,
    range: std::ops::RangeInclusive<f64>,
) -> Result<(), &'static str> {
    if list.first().is_some_and(|poly| poly.s != 0.0) {
        return Err("the first width or lane offset must start at s = 0");
    }
    if list.windows(2).any(|pair| pair[1].s <= pair[0].s) {
        return Err("widths and lane offsets must be listed by ascending s");
    }
    for (i, poly) in list.iter().enumerate() {
        let end = list
            .get(i + 1)
            .map_or(length, |next| next.s.get())
            .max(poly.s.get());
        // A cubic is checked at nine positions rather than at its true extrema. This is sufficient
        // to detect absurd files, because a dip between two samples is small for realistic widths.
        let place = |k: i32| poly.s + (end - poly.s) * f64::from(k) / 8.0;
        // The tolerance is needed because a lane may narrow to zero, and rounding may make its
        // width slightly negative.
        let inside = |value: f64| value >= range.start() - 1e-3 && value <= *range.end();
        if !(0..=8).all(|k| inside(poly.value(place(k)))) {
            return Err(
                "a lane's width is not between 0 and 100 m, or the lane offset is not between \
                 -1000 and 1000 m",
            );
        }
    }
    Ok(())
}

impl Validate for Poly3 {
    fn validate(&self) -> Result<(), String> {
        check_keys!(self => s, a, b, c, d)
    }
}

impl Validate for Road {
    fn validate(&self) -> Result<(), String> {
        check_keys!(self => speed_limit)?;
        let mut offset = self.lane_offset.iter();
        offset.try_for_each(|poly| at("lane_offset", poly.validate()))?;
        for section in &self.lane_sections {
            inside("lane_sections", check_keys!(section => s))?;
            for lane in &section.lanes {
                check_keys!(lane => speed_limit)?;
                let mut width = lane.width.iter();
                width.try_for_each(|poly| at("width", poly.validate()))?;
            }
        }
        Ok(())
    }
}
