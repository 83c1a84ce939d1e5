//! The paint of crossings.
//!
//! ```text
//!    kerb | # # # # # # | kerb      Bars of 0.5 m with gaps of 0.5 m, along the road.
//!         | # # # # # # |           Islands have no bars.
//! ```

use crate::marking::opacity;
use crate::painter::Painter;
use crate::palette::{MARKING, faded};
use roadwright_scenario::junction::{Crossing, Junction};

/// Width of a bar and of the gap beside it, m.
const BAR: f64 = 0.5;
/// Lane width that determines how the paint of crossings fades with the zoom, m.
const LANE: f64 = 3.25;
/// Draws the bars of all crossings of the given junctions.
pub(crate) fn zebras(painter: &mut impl Painter, junctions: &[&Junction]) {
    let alpha = opacity(painter.scale(), LANE);
    if alpha == 0.0 {
        return;
    }
    let color = faded(MARKING, 0.95 * alpha);
    for crossing in junctions.iter().flat_map(|junction| &junction.crossings) {
        for (from, to) in bars(crossing) {
            let half = 0.5 * crossing.width;
            let corners = [(-half, from), (half, from), (half, to), (-half, to)];
            let bar = corners.map(|(along, across)| crossing.right_kerb.point(along, across));
            painter.polygon(&bar, color);
        }
    }
}

/// Returns the positions of the bars of a crossing, m from the right kerb. Each stretch between islands has
/// as many bars as fit, and they are centred.
fn bars(crossing: &Crossing) -> Vec<(f64, f64)> {
    let stretches = crossing.stretches();
    let bars = stretches.flat_map(|stretch| {
        let length = stretch.to - stretch.from;
        let count = ((length - BAR) / (2.0 * BAR)).floor().max(0.0) as usize + 1;
        let taken = (2 * count - 1) as f64 * BAR;
        let first = stretch.from + 0.5 * (length - taken);
        (0..count).map(move |i| {
            let from = first + 2.0 * BAR * i as f64;
            (from, from + BAR)
        })
    });
    bars.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use roadwright_geometry::Pose;
    use roadwright_scenario::junction::Interval;
    use roadwright_scenario::{RoadEnd, RoadId};

    #[test]
    fn bars_fill_each_stretch_and_leave_islands_free() {
        let crossing = |length, islands| Crossing {
            road: RoadId(1),
            end: RoadEnd::Start,
            right_kerb: Pose::default(),
            length,
            width: 3.0,
            islands,
            covered: Vec::new(),
            people: None,
        };
        let plain = bars(&crossing(7.0, Vec::new()));
        assert_eq!(plain.len(), 7);
        assert!((plain[0].0 - 0.25).abs() < 1e-9 && (plain[6].1 - 6.75).abs() < 1e-9);
        let island = Interval { from: 3.5, to: 5.5 };
        let split = bars(&crossing(9.0, vec![island]));
        assert_eq!(split.len(), 8);
        assert!(split.iter().all(|bar| bar.1 <= 3.5 || bar.0 >= 5.5));
        // A stretch narrower than a bar has one bar in its middle.
        assert_eq!(bars(&crossing(0.3, Vec::new())).len(), 1);
    }
}
