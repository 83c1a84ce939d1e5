//! Junctions on the ring of a roundabout where several other roads meet the ring.
//!
//! ```text
//!       ring ^  .---> exit      Right-hand traffic passes from the ring below to the ring above.
//!            | /                From the entry, vehicles may leave only by arms that the ring
//!    island  +<---- entry       passes later. To reach an earlier arm, they drive around the
//!            | \                island, because they would otherwise cross the ring against its
//!       ring ^  '---> earlier   direction.
//! ```

use super::Site;
use super::arm::Arm;

/// Order of the arms at a junction on a ring, between the ring road that arrives and the one that
/// leaves.
pub(super) struct RingNode {
    /// Position of each arm in the order in which the ring passes the arms. The ring road that
    /// leads to the junction has position 0.
    positions: Vec<usize>,
    /// Index of the arm in which the ring continues.
    pub(super) goes_on: usize,
}

impl RingNode {
    /// Returns the order of the arms, which are given counter-clockwise; `None` if the junction is not on a
    /// ring.
    pub(super) fn of(site: &Site<'_>, arms: &[Arm<'_>], trims: &[f64]) -> Option<Self> {
        let ring = |i: &usize| (site.is_ring)(arms[*i].road_id);
        let only = |leads: &dyn Fn(usize) -> bool| {
            let mut found = (0..arms.len()).filter(ring).filter(|&i| leads(i));
            found.next().filter(|_| found.next().is_none())
        };
        let comes = only(&|i| !arms[i].entering_lanes(trims[i], site.side).is_empty())?;
        let goes_on = only(&|i| !arms[i].leaving_lanes(trims[i], site.side).is_empty())?;
        let count = arms.len();
        let position = |i: usize| match site.side.around() > 0.0 {
            true => (i + count - comes) % count,
            false => (comes + count - i) % count,
        };
        Some(Self {
            positions: (0..count).map(position).collect(),
            goes_on,
        })
    }

    /// Whether an arm is outside the ring.
    pub(super) fn is_outside(&self, arm: usize) -> bool {
        (1..self.positions[self.goes_on]).contains(&self.positions[arm])
    }

    /// Whether a path from one arm into another would lead against the direction of the ring. Both arms are
    /// outside the ring.
    pub(super) fn is_against_ring(&self, from: usize, to: usize) -> bool {
        let is_earlier = self.positions[to] < self.positions[from];
        is_earlier && self.is_outside(from) && self.is_outside(to)
    }
}
