//! A plugin with every known kind of misbehaviour, used for tests of the host.
//!
//! The parameter `mode` chooses the misbehaviour in a run. Where parameters cannot be passed, as with
//! `roadwright plugin check`, the environment variable `RW_CHAOS` chooses it. The variable accepts the same
//! words, and also those of the module `evil`, whose misbehaviour occurs before parameters exist, late, or at
//! the binary interface.
#![allow(clippy::disallowed_methods, reason = "it misbehaves on purpose")]

mod ends;
mod evil;

use evil::is_evil;
use roadwright_plugin_sdk::prelude::*;

/// Kinds of misbehaviour, indexed by the value of `mode`.
pub const MODES: [&str; 19] = [
    "nothing",
    "panic",
    "nan",
    "infinite",
    "huge",
    "always the same",
    "some nan",
    "null",
    "stack overflow",
    "endless loop",
    "exit",
    "much memory",
    "log flood",
    "slow",
    "leaked thread",
    "panic in drop",
    "order dependent",
    "out of range",
    // The last kind gives valid numbers, because a check tries the ends of the range.
    "wild steering",
];

/// The plugin.
pub struct Chaos {
    mode: usize,
    host: Option<Host>,
    calls: u64,
    time: f64,
    /// Number of rows in this batch so far.
    row: u64,
    /// Creation time, ns.
    made: u64,
    state: PerAgent<f64>,
    /// State that is left out of saves.
    hidden: PerAgent<f64>,
}

impl Default for Chaos {
    fn default() -> Self {
        assert!(!is_evil("create"), "create panics on request");
        let chosen = MODES.iter().position(|mode| is_evil(mode));
        Self {
            mode: chosen.unwrap_or(0),
            host: None,
            calls: 0,
            time: 0.0,
            row: 0,
            made: evil::nanoseconds(),
            state: PerAgent::default(),
            hidden: PerAgent::default(),
        }
    }
}

impl Drop for Chaos {
    fn drop(&mut self) {
        assert!(
            MODES[self.mode] != "panic in drop",
            "drop panics on request"
        );
    }
}

impl Plugin for Chaos {
    const INFO: PluginInfo = PluginInfo::new("org.roadwright.chaos", "Chaos", "1.0.0")
        .doc("Does everything wrong, one thing at a time.")
        .keeps_state();

    fn parameters(&mut self, list: &mut Parameters<'_>) {
        list.choice("mode", &mut self.mode, &MODES)
            .doc("Kind of misbehaviour.");
    }

    fn start(&mut self, host: &Host) {
        self.host = Some(*host);
        match evil::word() {
            "start null" => null(),
            "start exit" => std::process::exit(0),
            "start hang" => hang(),
            _ => {}
        }
    }

    fn agents_changed(&mut self, change: &AgentsChanged<'_>) {
        self.state.agents_changed(change);
    }

    fn save(&self) -> Option<(u32, Vec<u8>)> {
        let bytes = self.state.states().iter().flat_map(|s| s.to_le_bytes());
        Some((1, bytes.collect()))
    }

    fn load(&mut self, schema: u32, bytes: &[u8]) -> Result<(), String> {
        if schema != 1 || !bytes.len().is_multiple_of(8) {
            return Err(format!("schema {schema} with {} bytes", bytes.len()));
        }
        let states = bytes.chunks_exact(8).map(|chunk| {
            let chunk = chunk.try_into().expect("eight bytes");
            f64::from_le_bytes(chunk)
        });
        self.state.set_states(states.collect());
        Ok(())
    }
}

#[expect(unsafe_code, reason = "it crashes on purpose")]
fn null() {
    // SAFETY: none: this is the crash that the host has to survive.
    unsafe { std::ptr::null_mut::<u64>().write_volatile(1) };
}

fn overflow(depth: u64) -> u64 {
    let room = std::hint::black_box([depth; 64]);
    if depth == u64::MAX {
        return 0;
    }
    overflow(depth + 1) + room[(depth % 64) as usize]
}

fn hang() {
    loop {
        std::hint::black_box(0);
    }
}

impl Controller for Chaos {
    fn begin(&mut self, step: &StepInfo) {
        self.calls += 1;
        (self.time, self.row) = (step.time, 0);
        self.begin_evil();
        match MODES[self.mode] {
            "null" => null(),
            "stack overflow" => {
                std::hint::black_box(overflow(0));
            }
            "endless loop" => hang(),
            "exit" => std::process::exit(0),
            "much memory" => {
                std::hint::black_box(vec![1u8; 1 << 26]);
            }
            "log flood" => {
                if let Some(host) = &self.host {
                    (0..10_000).for_each(|_| host.log(1, "so much to tell"));
                }
            }
            "slow" => std::thread::sleep(std::time::Duration::from_millis(2)),
            "leaked thread" => {
                std::thread::spawn(hang_gently);
            }
            _ => {}
        }
    }

    fn control(&mut self, agent: &Agent, input: &ControllerInput, output: &mut ControllerOutput) {
        // A filtered speed, which is state that has to survive a reload.
        let filtered = self.state.of(agent);
        *filtered += 0.1 * (input.speed - *filtered);
        let gap = input.leader_gap.min(input.stop_distance);
        let safe = (4.0 * (gap - 3.0).max(0.0)).sqrt();
        output.acceleration = (2.0 * (input.road_speed.min(safe) - input.speed)).clamp(-8.0, 1.5)
            - 0.01 * (input.speed - *filtered);
        let curvature = 2.0 * input.waypoint_angle / input.waypoint_distance.max(0.5);
        output.steering = (input.wheelbase * curvature).clamp(-0.6, 0.6);
        match MODES[self.mode] {
            "panic" if agent.index % 2 == 1 => {
                let rows: Vec<u8> = Vec::new();
                output.steering = f64::from(rows[agent.index as usize]);
            }
            "nan" => output.acceleration = f64::NAN,
            "infinite" => output.steering = f64::INFINITY,
            "huge" => output.acceleration = 1e300,
            "always the same" => *output = ControllerOutput::default(),
            "out of range" => output.steering = 3.0,
            // One row in a thousand, which is not enough for the plugin to be taken out of service.
            "some nan" if agent.seed % 1000 == 7 => output.acceleration = f64::NAN,
            "order dependent" => output.acceleration += 1e-9 * self.calls as f64,
            "wild steering" => {
                let is_left = ((0.7 * self.time) as u64).is_multiple_of(2);
                output.steering = if is_left { 0.6 } else { -0.6 };
            }
            _ => {}
        }
        self.control_evil(agent, input, output);
        self.row += 1;
    }
}

fn hang_gently() {
    std::thread::sleep(std::time::Duration::from_secs(3600));
}
