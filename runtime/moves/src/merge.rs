//! States of similar frames, for graphs of long drives.
//!
//! If every frame with a transition is a separate state, ten minutes of driving make hundreds of
//! thousands of moves, because each lap resembles every other one. Frames with similar motions can
//! be left by the same moves, so here they are one state: all of its frames are within half of the
//! threshold of its first frame, and so within the threshold of each other. Moves with the same
//! ends are then frequent, and pruning leaves few of them.

use crate::build::{BuildRules, FrameNumber, Transition};
use crate::clips::ClipFile;
use crate::frame::{Frame, distance};
use crate::graph::MoveEntry;

/// Moves between states of similar frames.
pub(crate) struct Merged {
    pub(crate) entries: Vec<MoveEntry>,
    /// A transition from each cut to the first frame of its state; none if the cut is that frame.
    pub(crate) transitions: Vec<Transition>,
}

/// A frame at which a clip is cut, and its state.
struct Cut {
    frame: usize,
    /// First frame of the state.
    state: FrameNumber,
    /// Distance between both frames.
    distance: f64,
}

/// Cuts clips into moves of `kc` + 1 to 2 `kc` + 1 frames. The frame of this range that is most similar to a state
/// becomes the next cut. If no frame is similar to a state, the first one begins a new state.
pub(crate) fn merged(clips: &ClipFile, rules: &BuildRules) -> Merged {
    let mut states: Vec<FrameNumber> = Vec::new();
    let mut merged = Merged {
        entries: Vec::new(),
        transitions: Vec::new(),
    };
    let step = rules.kc as usize + 1;
    for (number, clip) in clips.clips.iter().enumerate() {
        let mut last: Option<Cut> = None;
        let mut frame = 0;
        while frame < clip.frames.len() {
            let window = frame..clip.frames.len().min(frame + step);
            let cut = similar(clips, rules, &states, &clip.frames, window).unwrap_or_else(|| {
                let state = FrameNumber {
                    clip: number,
                    frame,
                };
                states.push(state);
                Cut {
                    frame,
                    state,
                    distance: 0.0,
                }
            });
            if let Some(last) = last {
                merged.entries.push(MoveEntry {
                    clip: clip.name.clone(),
                    first: last.frame as u32,
                    last: cut.frame as u32,
                    from: name(clips, last.state),
                    to: name(clips, cut.state),
                });
            }
            let from = FrameNumber {
                clip: number,
                frame: cut.frame,
            };
            if from != cut.state {
                merged.transitions.push(Transition {
                    from,
                    to: cut.state,
                    distance: cut.distance,
                });
            }
            frame = cut.frame + step;
            last = Some(cut);
        }
    }
    merged
}

/// Returns the frame of a window that is most similar to a state; `None` if none is similar to any.
fn similar(
    clips: &ClipFile,
    rules: &BuildRules,
    states: &[FrameNumber],
    frames: &[Frame],
    window: std::ops::Range<usize>,
) -> Option<Cut> {
    let mut best: Option<Cut> = None;
    for frame in window {
        for &state in states {
            let first = &clips.clips[state.clip].frames[state.frame];
            let apart = distance(&frames[frame], first, &rules.weights);
            let least = best
                .as_ref()
                .map_or(0.5 * rules.threshold, |one| one.distance);
            if apart < least {
                best = Some(Cut {
                    frame,
                    state,
                    distance: apart,
                });
            }
        }
    }
    best
}

fn name(clips: &ClipFile, at: FrameNumber) -> String {
    format!("{} @{}", clips.clips[at.clip].name, at.frame)
}
