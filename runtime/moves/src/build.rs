//! Builds graphs automatically from clips: [Adam 2007], sections 3.4, 5.1 and 5.2.
//!
//! A *transition* leads from a frame of a clip to a similar frame of the same or another clip, and takes no
//! time. Clips are cut at transitions, and the stretches between cuts are the moves.

use crate::clips::ClipFile;
use crate::frame::{Frame, Weights, distance};
use crate::graph::{MoveEntry, MoveFile};
use crate::merge::merged;
use crate::placement::Placement;
use std::collections::{BTreeMap, BTreeSet};

/// Rules for finding transitions between similar frames and for pruning moves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BuildRules {
    /// Distance below which two frames count as similar.
    pub threshold: f64,
    /// Weights for computing the distance.
    pub weights: Weights,
    /// Number of frames of a clip that are skipped after a frame with a transition (figure 5.1).
    pub kc: u32,
    /// Number of frames of the other clip that are skipped after a similar frame was found (figure 5.2).
    pub ks: u32,
    /// Distance below which two moves between the same states count as duplicates, m; 0 keeps all moves.
    pub prune_distance: f64,
    /// Maximum difference in heading between duplicate moves, rad.
    pub prune_angle: f64,
    /// Maximum difference in duration between duplicate moves, frames. Their poses are compared at
    /// the same fraction of their durations.
    pub prune_frames: u32,
    /// Definition of the states.
    pub states: StateRule,
}

/// Definition of the states of a graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StateRule {
    /// Each frame at which a transition begins or ends is a state.
    #[default]
    Frames,
    /// Groups of similar frames are states. Clips are cut every `kc` frames or more, and all cut
    /// frames with similar motions are one state. `ks` is not used.
    Similar,
}

impl Default for BuildRules {
    fn default() -> Self {
        Self {
            threshold: 0.5,
            weights: Weights::default(),
            kc: 5,
            ks: 9,
            prune_distance: 0.25,
            prune_angle: 0.05,
            prune_frames: 0,
            states: StateRule::Frames,
        }
    }
}

/// Identifies a frame of a clip.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct FrameNumber {
    /// Index of the clip.
    pub clip: usize,
    /// Index of the frame.
    pub frame: usize,
}

/// A transition between similar frames.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Transition {
    /// Frame at which the first clip is left.
    pub from: FrameNumber,
    /// Frame at which the second clip is entered.
    pub to: FrameNumber,
    /// Distance between the two frames.
    pub distance: f64,
}

/// A move that was removed.
#[derive(Debug, Clone, PartialEq)]
pub struct Removed {
    /// The move that was removed.
    pub entry: MoveEntry,
    /// Reason for its removal.
    pub reason: RemovedBecause,
}

/// Reason why a move was removed.
#[derive(Debug, Clone, PartialEq)]
pub enum RemovedBecause {
    /// The move is nearly the same as another move between the same states. That move starts at
    /// frame `first` of `clip`.
    Like {
        /// Clip of the other move.
        clip: String,
        /// First frame of the other move.
        first: u32,
    },
    /// One of its states is outside the largest strongly connected component.
    NotConnected,
}

/// A graph built from clips, with the moves that were removed.
#[derive(Debug, Clone, PartialEq)]
pub struct Built {
    /// The graph after pruning.
    pub graph: MoveFile,
    /// Transitions found, in the order of their first frames.
    pub transitions: Vec<Transition>,
    /// Moves that were removed.
    pub removed: Vec<Removed>,
}

/// Finds transitions between clips.
pub fn transitions(clips: &ClipFile, rules: &BuildRules) -> Vec<Transition> {
    let mut all = Vec::new();
    for_each_transition(clips, rules, |found| all.push(found));
    all
}

fn for_each_transition(clips: &ClipFile, rules: &BuildRules, mut found: impl FnMut(Transition)) {
    for one in 0..clips.clips.len() {
        for other in 0..clips.clips.len() {
            between(clips, one, other, rules, &mut found);
        }
    }
}

/// Size of a graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GraphSize {
    /// Number of transitions.
    pub transitions: u64,
    /// Number of states, the nodes of the graph.
    pub states: u64,
    /// Number of moves, its edges.
    pub moves: u64,
}

/// Counts the states, moves and transitions of the graph in which each frame with a transition is a
/// state, before pruning. The graph itself is not built, because it may be large.
pub fn unpruned_size(clips: &ClipFile, rules: &BuildRules) -> GraphSize {
    let empty = || clips.clips.iter().map(|clip| vec![0u64; clip.frames.len()]);
    // For each frame, the number of transitions that end there, and whether the clip is cut there.
    let (mut ends, mut cuts): (Vec<_>, Vec<_>) = (empty().collect(), empty().collect());
    for_each_transition(clips, rules, |found| {
        ends[found.to.clip][found.to.frame] += 1;
        for cut in [found.from, found.to] {
            cuts[cut.clip][cut.frame] = 1;
        }
    });
    let sum = |counts: &[u64]| counts.iter().sum::<u64>();
    // Nothing follows the last cut of a clip.
    let last = |cuts: &[u64]| cuts.iter().rposition(|&cut| cut == 1).unwrap_or(0);
    let moves = cuts.iter().zip(&ends).map(|(cuts, ends)| {
        let last = last(cuts);
        sum(&cuts[..last]) + sum(&ends[..last])
    });
    GraphSize {
        transitions: ends.iter().map(|ends| sum(ends)).sum(),
        states: cuts.iter().map(|cuts| sum(cuts)).sum(),
        moves: moves.sum(),
    }
}

/// Finds transitions from a clip to another clip or to itself.
fn between(
    clips: &ClipFile,
    one: usize,
    other: usize,
    rules: &BuildRules,
    found: &mut impl FnMut(Transition),
) {
    let (left, entered) = (&clips.clips[one].frames, &clips.clips[other].frames);
    let mut frame = 1;
    while frame < left.len() {
        let ends = similar(&left[frame], entered, rules, |to| {
            // A frame is always similar to itself and its neighbours.
            one == other && to.abs_diff(frame) <= rules.ks as usize
        });
        for &(to, apart) in &ends {
            found(Transition {
                from: FrameNumber { clip: one, frame },
                to: FrameNumber {
                    clip: other,
                    frame: to,
                },
                distance: apart,
            });
        }
        frame += if ends.is_empty() {
            1
        } else {
            1 + rules.kc as usize
        };
    }
}

/// Finds frames similar to a given frame: the most similar frame of each run of similar frames.
/// `ks` frames are skipped after it.
fn similar(
    frame: &Frame,
    entered: &[Frame],
    rules: &BuildRules,
    is_excluded: impl Fn(usize) -> bool,
) -> Vec<(usize, f64)> {
    let mut found = Vec::new();
    let apart = |to: usize| distance(frame, &entered[to], &rules.weights);
    // The last frame is left out, because no frame follows it.
    let last = entered.len() - 1;
    let is_similar = |to: usize| to < last && !is_excluded(to) && apart(to) < rules.threshold;
    let mut to = 0;
    while to < last {
        if !is_similar(to) {
            to += 1;
            continue;
        }
        let mut best = to;
        let mut next = to + 1;
        while is_similar(next) {
            if apart(next) < apart(best) {
                best = next;
            }
            next += 1;
        }
        found.push((best, apart(best)));
        to = next.max(best + 1 + rules.ks as usize);
    }
    found
}

/// Builds a graph from clips. `file` is the name of the clip file in the same folder.
pub fn build(clips: &ClipFile, file: &str, rules: &BuildRules) -> Built {
    let (entries, transitions) = match rules.states {
        StateRule::Frames => {
            let transitions = transitions(clips, rules);
            (stretches(clips, &transitions), transitions)
        }
        StateRule::Similar => {
            let merged = merged(clips, rules);
            (merged.entries, merged.transitions)
        }
    };
    let (entries, mut removed) = pruned(clips, entries, rules);
    let (entries, unconnected) = connected(entries);
    removed.extend(unconnected);
    let names: BTreeSet<&String> = entries
        .iter()
        .flat_map(|one| [&one.from, &one.to])
        .collect();
    let states: Vec<String> = names.into_iter().cloned().collect();
    let graph = MoveFile {
        clips: file.to_owned(),
        clips_hash: clips.hash(),
        threshold: Some(rules.threshold),
        start: slowest(clips, &entries).unwrap_or_default(),
        states,
        moves: entries,
    };
    Built {
        graph,
        transitions,
        removed,
    }
}

/// Returns the state whose frame has the lowest speed; `None` if there are no moves.
fn slowest(clips: &ClipFile, entries: &[MoveEntry]) -> Option<String> {
    let speed = |one: &&MoveEntry| {
        let clip = clips.clip(&one.clip);
        clip.map_or(f64::MAX, |clip| {
            clip.frames[one.first as usize].forward.abs()
        })
    };
    let slowest = entries.iter().min_by(|a, b| speed(a).total_cmp(&speed(b)));
    slowest.map(|one| one.from.clone())
}

fn state_name(clips: &ClipFile, at: FrameNumber) -> String {
    format!("{} @{}", clips.clips[at.clip].name, at.frame)
}

/// Cuts all clips into moves: along each clip, and after each transition.
fn stretches(clips: &ClipFile, transitions: &[Transition]) -> Vec<MoveEntry> {
    let mut cuts: BTreeSet<FrameNumber> = BTreeSet::new();
    for one in transitions {
        cuts.extend([one.from, one.to]);
    }
    let mut entries = Vec::new();
    let after = |at: FrameNumber| {
        let end = FrameNumber {
            clip: at.clip + 1,
            frame: 0,
        };
        cuts.range(at..end).find(|&&cut| cut != at).copied()
    };
    let mut add = |from: FrameNumber, begin: FrameNumber| {
        // The rest of a clip after its last cut is dropped, because it leads to no state.
        if let Some(end) = after(begin) {
            entries.push(MoveEntry {
                clip: clips.clips[begin.clip].name.clone(),
                first: begin.frame as u32,
                last: end.frame as u32,
                from: state_name(clips, from),
                to: state_name(clips, end),
            });
        }
    };
    for &cut in &cuts {
        add(cut, cut);
    }
    for one in transitions {
        add(one.from, one.to);
    }
    entries
}

/// Removes moves that are nearly the same as an earlier move between the same states. Returns the remaining
/// and the removed moves.
fn pruned(
    clips: &ClipFile,
    entries: Vec<MoveEntry>,
    rules: &BuildRules,
) -> (Vec<MoveEntry>, Vec<Removed>) {
    let mut kept: Vec<MoveEntry> = Vec::new();
    let mut by_ends: BTreeMap<[String; 2], Vec<usize>> = BTreeMap::new();
    let mut removed = Vec::new();
    for entry in entries {
        let same = by_ends
            .entry([entry.from.clone(), entry.to.clone()])
            .or_default();
        let like = same
            .iter()
            .find(|&&other| stays_within(clips, &kept[other], &entry, rules));
        if let Some(&other) = like {
            let RemovedBy { clip, first } = RemovedBy::of(&kept[other]);
            removed.push(Removed {
                entry,
                reason: RemovedBecause::Like { clip, first },
            });
            continue;
        }
        same.push(kept.len());
        kept.push(entry);
    }
    (kept, removed)
}

struct RemovedBy {
    clip: String,
    first: u32,
}

impl RemovedBy {
    fn of(entry: &MoveEntry) -> Self {
        Self {
            clip: entry.clip.clone(),
            first: entry.first,
        }
    }
}

/// Whether two moves of nearly equal duration stay close to each other in every frame.
fn stays_within(clips: &ClipFile, one: &MoveEntry, other: &MoveEntry, rules: &BuildRules) -> bool {
    let durations = [one, other].map(|entry| entry.last - entry.first);
    if rules.prune_distance <= 0.0 || durations[0].abs_diff(durations[1]) > rules.prune_frames {
        return false;
    }
    let places = |entry: &MoveEntry| -> Vec<Placement> {
        let Some(clip) = clips.clip(&entry.clip) else {
            return Vec::new();
        };
        let frames = &clip.frames[entry.first as usize..=entry.last as usize];
        let first = frames[0].placement();
        let relative = frames
            .iter()
            .map(|frame| first.relative(&frame.placement()));
        relative.collect()
    };
    let (one, other) = (places(one), places(other));
    // The frame of the other move at the same fraction of its duration.
    let [whole, others] = durations.map(|frames| frames.max(1) as usize);
    let partner = |frame: usize| (frame * others + whole / 2) / whole;
    one.iter().enumerate().all(|(frame, a)| {
        let Some(b) = other.get(partner(frame)) else {
            return false;
        };
        let far = (a.position - b.position).length();
        // Chord of the angle between the two directions.
        let turned = (a.forward - b.forward).length();
        far <= rules.prune_distance && turned <= rules.prune_angle
    })
}

/// Keeps the largest strongly connected component of the graph. Returns the remaining and the removed moves.
fn connected(entries: Vec<MoveEntry>) -> (Vec<MoveEntry>, Vec<Removed>) {
    let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
    for one in &entries {
        for state in [&one.from, &one.to] {
            let next = numbers.len();
            numbers.entry(state.as_str()).or_insert(next);
        }
    }
    let mut next = vec![Vec::new(); numbers.len()];
    for one in &entries {
        next[numbers[one.from.as_str()]].push(numbers[one.to.as_str()]);
    }
    let parts = strong_parts(&next);
    let mut sizes: BTreeMap<usize, usize> = BTreeMap::new();
    for &part in &parts {
        *sizes.entry(part).or_default() += 1;
    }
    let largest = sizes
        .iter()
        .max_by_key(|&(&part, &size)| (size, std::cmp::Reverse(part)))
        .map(|(&part, _)| part);
    let stays: Vec<bool> = entries
        .iter()
        .map(|one| {
            let ends = [&one.from, &one.to];
            ends.iter()
                .all(|state| Some(parts[numbers[state.as_str()]]) == largest)
        })
        .collect();
    let (mut kept, mut removed) = (Vec::new(), Vec::new());
    for (entry, stays) in entries.into_iter().zip(stays) {
        if stays {
            kept.push(entry);
        } else {
            removed.push(Removed {
                entry,
                reason: RemovedBecause::NotConnected,
            });
        }
    }
    (kept, removed)
}

/// Returns the index of each node's strongly connected component, by Kosaraju's algorithm without
/// recursion.
fn strong_parts(next: &[Vec<usize>]) -> Vec<usize> {
    let count = next.len();
    let mut order = Vec::with_capacity(count);
    let mut seen = vec![false; count];
    for root in 0..count {
        if seen[root] {
            continue;
        }
        seen[root] = true;
        let mut stack = vec![(root, 0)];
        while let Some((node, edge)) = stack.pop() {
            match next[node].get(edge) {
                Some(&to) => {
                    stack.push((node, edge + 1));
                    if !seen[to] {
                        seen[to] = true;
                        stack.push((to, 0));
                    }
                }
                None => order.push(node),
            }
        }
    }
    let mut before = vec![Vec::new(); count];
    for (node, nexts) in next.iter().enumerate() {
        for &to in nexts {
            before[to].push(node);
        }
    }
    let mut parts = vec![usize::MAX; count];
    let mut part = 0;
    for &root in order.iter().rev() {
        if parts[root] != usize::MAX {
            continue;
        }
        parts[root] = part;
        let mut stack = vec![root];
        while let Some(node) = stack.pop() {
            for &to in &before[node] {
                if parts[to] == usize::MAX {
                    parts[to] = part;
                    stack.push(to);
                }
            }
        }
        part += 1;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clips::Clip;
    use crate::clips::file_of_car as file;
    use roadwright_geometry::Pose;

    /// Returns a clip that drives east, with a speed for each frame.
    fn clip(name: &str, speeds: &[f64]) -> Clip {
        let mut x = 0.0;
        let frames = speeds.iter().map(|&forward| {
            let pose = Pose::new(x, 0.0, 0.0);
            x += 0.04 * forward;
            Frame {
                pose,
                forward,
                ..Frame::default()
            }
        });
        Clip {
            name: name.to_owned(),
            frames: frames.collect(),
        }
    }

    fn ramp(from: f64, to: f64, frames: usize) -> Vec<f64> {
        let share = |i: usize| i as f64 / (frames - 1) as f64;
        (0..frames).map(|i| from + (to - from) * share(i)).collect()
    }

    #[test]
    fn the_best_of_a_run_is_taken_and_kc_and_ks_thin_out() {
        // With 1 m/s per frame and a threshold of 2.5, five frames are similar to each frame, and the most
        // similar one is equal to it.
        let clips = file(vec![
            clip("up", &ramp(10.0, 30.0, 21)),
            clip("down", &ramp(30.0, 10.0, 21)),
        ]);
        let rules = BuildRules {
            threshold: 2.5,
            kc: 5,
            ks: 9,
            ..BuildRules::default()
        };
        let found = transitions(&clips, &rules);
        let up_down: Vec<&Transition> = found
            .iter()
            .filter(|one| one.from.clip == 0 && one.to.clip == 1)
            .collect();
        assert!(
            up_down
                .iter()
                .all(|one| one.from.frame + one.to.frame == 20 && one.distance < 1e-9)
        );
        let frames: Vec<usize> = up_down.iter().map(|one| one.from.frame).collect();
        assert_eq!(frames, [1, 7, 13, 19]);
        // Without thinning, every frame has its own transition.
        let dense = BuildRules {
            kc: 0,
            ks: 0,
            ..rules
        };
        let dense = transitions(&clips, &dense);
        assert!(
            dense.len() > 3 * found.len(),
            "{} {}",
            dense.len(),
            found.len()
        );
    }

    #[test]
    fn a_long_stretch_at_constant_speed_gets_few_transitions() {
        let clips = file(vec![clip("a", &[20.0; 100]), clip("b", &[20.0; 100])]);
        let sparse = transitions(&clips, &BuildRules::default());
        // At most one transition for each run in the other clip, and two in the clip itself.
        assert!(sparse.len() <= 6 * 17, "{}", sparse.len());
    }

    #[test]
    fn sizes_are_those_of_the_graph_before_pruning() {
        let loops = [ramp(10.0, 20.0, 50), ramp(20.0, 10.0, 50)].concat();
        let clips = file(vec![clip("one", &loops), clip("two", &ramp(8.0, 22.0, 90))]);
        for (kc, ks) in [(5, 9), (0, 9), (5, 0), (0, 0)] {
            let rules = BuildRules {
                kc,
                ks,
                ..BuildRules::default()
            };
            let found = transitions(&clips, &rules);
            let entries = stretches(&clips, &found);
            let cuts: BTreeSet<FrameNumber> =
                found.iter().flat_map(|one| [one.from, one.to]).collect();
            let size = GraphSize {
                transitions: found.len() as u64,
                states: cuts.len() as u64,
                moves: entries.len() as u64,
            };
            assert_eq!(unpruned_size(&clips, &rules), size);
            assert!(size.moves > 10, "{size:?}");
        }
    }

    #[test]
    fn similar_frames_are_one_state_and_moves_of_nearly_equal_duration_are_pruned() {
        // Three laps, each of which gains and loses speed; the last one a little faster.
        let lap = |top: f64| [ramp(10.0, top, 60), ramp(top, 10.0, 60)].concat();
        let laps = [lap(20.0), lap(20.0), lap(20.5)].concat();
        let clips = file(vec![clip("laps", &laps)]);
        let rules = BuildRules {
            kc: 9,
            states: StateRule::Similar,
            ..BuildRules::default()
        };
        let built = build(&clips, "test.clips.json", &rules);
        let library = built
            .graph
            .library(&clips, crate::sweep::SweepKind::Exact)
            .unwrap();
        assert!(built.graph.bad_seams(&library).is_empty());
        for one in &built.graph.moves {
            assert!((10..=19).contains(&(one.last - one.first)), "{one:?}");
        }
        // Far fewer states than cuts, and a second lap adds little.
        assert!(built.graph.states.len() < 24, "{:?}", built.graph.states);
        let frames = BuildRules {
            states: StateRule::Frames,
            ..rules
        };
        let many = build(&clips, "test.clips.json", &frames);
        assert!(many.graph.states.len() > 2 * built.graph.states.len());
        let lenient = BuildRules {
            prune_frames: 3,
            prune_distance: 3.0,
            ..rules
        };
        let fewer = build(&clips, "test.clips.json", &lenient);
        assert!(fewer.graph.moves.len() < built.graph.moves.len());
    }

    #[test]
    fn only_the_largest_connected_part_stays_and_the_rest_is_listed() {
        // Both clips drive a loop of speeds. The speeds of the third clip are outside this range.
        let loops = [ramp(10.0, 20.0, 50), ramp(20.0, 10.0, 50)].concat();
        let clips = file(vec![
            clip("one", &loops),
            clip("two", &loops),
            clip("other", &ramp(30.0, 45.0, 40)),
        ]);
        let built = build(&clips, "test.clips.json", &BuildRules::default());
        assert!(!built.graph.moves.is_empty());
        assert!(built.graph.moves.iter().all(|one| one.clip != "other"));
        let library = built
            .graph
            .library(&clips, crate::sweep::SweepKind::Exact)
            .unwrap();
        assert!(built.graph.bad_seams(&library).is_empty());
        for removed in &built.removed {
            assert!(
                !built.graph.moves.contains(&removed.entry),
                "{:?}",
                removed.entry
            );
        }
        // At least one move leaves every state.
        for state in &built.graph.states {
            assert!(built.graph.moves.iter().any(|one| one.from == *state));
            assert!(built.graph.moves.iter().any(|one| one.to == *state));
        }
        // Pruning states a reason for each removed move.
        let unpruned = BuildRules {
            prune_distance: 0.0,
            ..BuildRules::default()
        };
        let all = build(&clips, "test.clips.json", &unpruned);
        assert!(all.graph.moves.len() >= built.graph.moves.len());
    }

    #[test]
    fn strong_parts_are_those_of_a_known_graph() {
        // 0 -> 1 -> 2 -> 0, 2 -> 3 <-> 4, 5 alone.
        let next = vec![vec![1], vec![2], vec![0, 3], vec![4], vec![3], vec![]];
        let parts = strong_parts(&next);
        assert!(parts[0] == parts[1] && parts[1] == parts[2]);
        assert_eq!(parts[3], parts[4]);
        assert!(parts[0] != parts[3] && parts[3] != parts[5] && parts[0] != parts[5]);
    }
}
