//! The reason why the watched vehicle is stationary: the chain of waiting vehicles up to its root.

use crate::model::Action;
use egui::{RichText, Ui};
use roadwright_simulation::{WaitChain, WaitLink, agent_name};

/// Maximum number of vehicles shown. The root is always shown.
const MOST: usize = 8;

/// Shows one line for each vehicle, from the watched one to the root, and names a deadlock.
pub(super) fn ui(ui: &mut Ui, chain: &WaitChain, actions: &mut Vec<Action>) {
    ui.add_space(4.0);
    ui.label(RichText::new("Why it is stopped").strong());
    let deadlocked = chain.deadlocked();
    if !deadlocked.is_empty() {
        let color = ui.visuals().error_fg_color;
        let count = deadlocked.len();
        ui.colored_label(
            color,
            format!("Deadlock: {count} vehicles wait for each other."),
        );
    }
    let (root, others) = match chain.links.split_last() {
        Some((root, others)) if others.len() >= MOST => (Some(root), &others[..MOST - 1]),
        _ => (None, &chain.links[..]),
    };
    for waiting in others {
        link(ui, waiting, actions);
    }
    if let Some(root) = root {
        let hidden = chain.links.len() - MOST;
        ui.label(RichText::new(format!("and {hidden} more, up to")).weak());
        link(ui, root, actions);
    }
}

fn link(ui: &mut Ui, link: &WaitLink, actions: &mut Vec<Action>) {
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        if ui.link(agent_name(link.agent)).clicked() {
            actions.push(Action::Watch(Some(link.agent)));
        }
        ui.label(sentence(link));
    });
}

/// Describes one vehicle, as the continuation of a sentence that begins with its name.
fn sentence(link: &WaitLink) -> String {
    let state = match link.since {
        Some(since) => format!("has been stationary since {}", super::past::clock(since)),
        None => format!("drives at {:.1} m/s", link.speed),
    };
    format!("{state} and {}.", link.why())
}

#[cfg(test)]
mod tests {
    use super::*;
    use roadwright_simulation::{StopReason, StopTarget};

    #[test]
    fn sentences_name_the_time_and_the_reason() {
        let mut waiting = WaitLink {
            agent: 3,
            at: roadwright_geometry::DVec2::ZERO,
            lane: None,
            speed: 0.0,
            since: Some(75.0),
            stop: Some(StopTarget {
                distance: 1.0,
                at: roadwright_geometry::DVec2::ZERO,
                reason: StopReason::Leader(4),
            }),
        };
        let text = sentence(&waiting);
        assert!(text.contains("1:15"), "{text}");
        assert!(
            text.ends_with("waits for the vehicle ahead (agent 4)."),
            "{text}"
        );
        (waiting.since, waiting.stop) = (None, None);
        let text = sentence(&waiting);
        assert_eq!(
            text,
            "drives at 0.0 m/s and is stopped by its controller alone."
        );
    }
}
