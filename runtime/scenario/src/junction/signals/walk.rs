//! Signal stages in which pedestrians cross.
//!
//! Pedestrians cross an arm in stages that give green neither to traffic from that arm nor to
//! traffic that goes straight on into it. Vehicles that turn into the arm have green at the same
//! time and yield to pedestrians. Such a stage lasts long enough for all waiting pedestrians to
//! step onto the crossing and for the last of them to walk across it at 1.2 m/s ([HCM 2000],
//! chapter 11).

use super::super::{ConnectingPath, Crossing, Junction, Turn};
use super::Programme;

/// Walking speed of pedestrians, m/s ([HCM 2000], chapter 11: if at most a fifth of them are elderly).
pub const WALKING_SPEED: f64 = 1.2;
/// Time after the start of green during which pedestrians step onto a crossing, s. Later, they step
/// onto it only if no vehicle is approaching.
pub const WALK_WINDOW: f64 = 4.0;

impl Junction {
    /// Returns the stages in which pedestrians can walk over a crossing, as a bit mask. `greens`
    /// contains the paths with green in each stage. A crossing without such a stage is a zebra
    /// crossing.
    pub fn walk_stages(&self, crossing: &Crossing, greens: &[Vec<bool>]) -> u32 {
        let is_walk = |green: &Vec<bool>| {
            let mut covered = crossing.covered.iter();
            covered.all(|covered| {
                let path = covered.path.index();
                !green[path] || turns_into(crossing, &self.paths[path])
            })
        };
        let stages = (0u32..).zip(greens).filter(|(_, green)| is_walk(green));
        stages.fold(0, |bits, (stage, _)| bits | 1 << stage)
    }
}

/// Whether a path turns into the crossed road, so that its traffic yields to pedestrians.
fn turns_into(crossing: &Crossing, path: &ConnectingPath) -> bool {
    let comes_from_there = (path.from.road, path.from.end) == (crossing.road, crossing.end);
    !comes_from_there && path.turn != Turn::Straight
}

/// Lengthens the stages in which pedestrians walk to give them enough time to cross.
pub(in crate::junction) fn lengthen(
    programme: &mut Programme,
    greens: &[Vec<bool>],
    junction: &Junction,
) {
    for crossing in &junction.crossings {
        let needed = WALK_WINDOW + crossing.longest_stretch() / WALKING_SPEED;
        let stages = junction.walk_stages(crossing, greens);
        for (number, times) in programme.stages.iter_mut().enumerate() {
            if stages & (1 << number) != 0 {
                times.green = times.green.max(needed);
                // The minimum green is also lengthened, because pedestrians who step on at the start need
                // this time even if the stage ends early.
                times.min = times.min.max(needed);
                times.max = times.max.max(needed);
            }
        }
    }
}
