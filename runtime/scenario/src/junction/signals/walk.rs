//! When people on foot walk at signals.
//!
//! People cross an arm in the stages in which nobody who comes from that arm, and nobody who goes
//! straight on into it, has green. Who turns into it has green beside them and gives way to them. Such
//! a stage lasts long enough: for all who have come to step on the crossing, and for the last of them
//! to walk over it at 1.2 m/s ([HCM 2000], chapter 11).

use super::super::{ConnectingPath, Crossing, Junction, Turn};
use super::Programme;

/// How fast people walk, m/s ([HCM 2000], chapter 11: where at most a fifth of them are elderly).
pub const WALKING_SPEED: f64 = 1.2;
/// How long people with green step on a crossing, s; after that only while nobody wants to drive over it.
pub const WALK_WINDOW: f64 = 4.0;

impl Junction {
    /// The stages in which people walk over a crossing, one bit each, where `greens` says for each
    /// stage which paths have green. None where there is no such stage: there it is a zebra.
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

/// Whether a path turns into the road that is crossed: who drives it gives way to people.
fn turns_into(crossing: &Crossing, path: &ConnectingPath) -> bool {
    let comes_from_there = (path.from.road, path.from.end) == (crossing.road, crossing.end);
    !comes_from_there && path.turn != Turn::Straight
}

/// Makes the stages in which people walk long enough for them.
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
                // The shortest too: those who stepped on at the start walk as long, whoever ends
                // the stage.
                times.min = times.min.max(needed);
                times.max = times.max.max(needed);
            }
        }
    }
}
