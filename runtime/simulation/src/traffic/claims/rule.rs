//! What junctions decide by.

use super::request::{Need, Request, Scene};
use super::{Claims, Grant};

/// What comes of a request.
pub(super) enum Verdict {
    Granted,
    /// The route ends before it needs anything.
    NothingNeeded,
    /// There is no room beyond.
    NoRoom,
    /// Others go first.
    MustWait,
}

/// What a junction decides by.
struct JunctionState<'a> {
    inside: &'a [Grant],
    /// Connections that earlier requests wait for.
    pending: &'a [(u32, u32)],
}

impl Claims {
    /// All that a request needs is granted, or nothing.
    pub(super) fn decide(
        &self,
        request: &Request,
        needs: &[Need],
        pending: &[(u32, u32)],
        scene: &Scene<'_>,
    ) -> Verdict {
        if needs.is_empty() {
            return Verdict::NothingNeeded;
        }
        let has_room = needs.iter().enumerate().all(|(i, need)| {
            let is_last = i + 1 == needs.len();
            self.has_room(request, need, is_last, scene)
        });
        if !has_room {
            return Verdict::NoRoom;
        }
        // All or nothing. A vehicle that had the first junction of a chain and waited for the second would
        // stand in the first one and keep everybody out of it.
        let is_admitted = needs.iter().all(|need| {
            let junction = JunctionState {
                inside: &self.granted[need.junction as usize],
                pending,
            };
            admits(request, need, &junction, scene)
        });
        if is_admitted {
            Verdict::Granted
        } else {
            Verdict::MustWait
        }
    }

    /// Whether the vehicle would find room beyond a junction, so that it does not come to stand in it.
    ///
    /// Room is counted as if all that is there stood in a queue, bumper to bumper with a gap: their
    /// places and speeds now do not count, since they may all have to stop. A lane that is only passed,
    /// on the way to the next junction of a chain, must be empty.
    ///
    /// Example: an exit of 20 m, one car of 4.5 m that waits there, another that has been let in and
    /// has not passed yet. They take 2 * (4.5 + 2) = 13 m. A car fits, a bus of 10 m does not.
    fn has_room(&self, request: &Request, need: &Need, is_last: bool, scene: &Scene<'_>) -> bool {
        let agents = scene.agents;
        // Who is still in the junction or before it, and has been promised the same exit.
        let promised = self.granted[need.junction as usize].iter().filter(|grant| {
            grant.exit == need.exit
                && agents.progress[grant.agent as usize].at <= grant.at
                && !scene.is_behind(grant, request.agent)
        });
        // Who has been let into what lies beyond the exit drives on and leaves no queue behind.
        let queued = scene.index.on_lanelet(need.exit).iter().filter(|entry| {
            let agent = entry.agent as usize;
            agents.position[agent].lanelet != need.exit
                || agents.claim[agent].granted_to <= agents.progress[agent].at + 1
        });
        let taken: f64 = promised
            .map(|grant| grant.agent)
            .chain(queued.map(|entry| entry.agent))
            .filter(|&agent| agent != request.agent)
            .map(|agent| scene.space(agent))
            .sum();
        let length = scene.ground.length(need.exit);
        taken == 0.0 || (is_last && length - taken >= scene.space(request.agent))
    }
}

/// The rule of a junction: whether a vehicle may enter now. First come, first served: nobody on a
/// conflicting connection is inside or has asked before.
fn admits(request: &Request, need: &Need, junction: &JunctionState<'_>, scene: &Scene<'_>) -> bool {
    let conflicts = |path: u32| scene.ground.in_conflict(need.junction, need.path, path);
    // Conflicts are those of swept areas, computed once for each junction (`scenario/junction`).
    let mut inside = junction
        .inside
        .iter()
        .filter(|grant| grant.agent != request.agent && !scene.is_behind(grant, request.agent));
    let mut earlier = junction
        .pending
        .iter()
        .filter(|(number, _)| *number == need.junction);
    !inside.any(|grant| conflicts(grant.path)) && !earlier.any(|&(_, path)| conflicts(path))
}
