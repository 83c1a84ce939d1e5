//! What traffic signals show, step by step.
//!
//! Junctions that follow one programme have one state. Fixed times are read off the clock. Signals
//! that go by demand keep a stage while vehicles with green come near, until somebody else has waited
//! for the longest green; then comes the next stage that somebody waits for, and stages that nobody
//! waits for are left out:
//!
//! ```text
//!   green ---- min ---- vehicles still come ---- gap, or max since others wait ---- amber ---- red ---- next
//! ```
//!
//! After an edit of the signals themselves all of them show amber, then red, and then begin.

use crate::clock::Clock;
use crate::ground::Ground;
use roadwright_scenario::SignalMode;
use roadwright_scenario::junction::{Light, Programme};
use serde::{Deserialize, Serialize};

/// Vehicles with green that come to the stop line within this keep it, s [HCM 2016, chapter 19: the
/// passage time of a detector].
const PASSAGE: f64 = 3.0;
/// So do those within this, however slow they are, m: they start from a queue.
const AT_LINE: f64 = 15.0;
/// Times are sums of steps.
const ROUNDING: f64 = 1e-9;

/// Part of a stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Phase {
    Green,
    Amber,
    AllRed,
    /// Amber for all, before what an edit has changed begins.
    ClosingAmber,
    /// Red for all after that.
    ClosingRed,
}

/// What one programme shows.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct State {
    stage: u32,
    /// The stage after it, once it ends.
    next: u32,
    phase: Phase,
    /// When the phase began, s.
    since: f64,
    /// Since when somebody waits for another stage, s.
    opposed: f64,
}

/// Part of a stage, as people see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StagePhase {
    /// Green for who is in the stage.
    Green,
    /// Amber for who loses green.
    Amber,
    /// Red for all.
    AllRed,
}

/// What one programme shows, for those who look into a junction.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shown {
    pub(crate) stage: usize,
    /// The stage after it; while there is green by demand, that is not known yet.
    pub(crate) next: usize,
    pub(crate) phase: StagePhase,
    /// Whether signals that an edit has changed close before they begin anew.
    pub(crate) is_closing: bool,
    /// When the phase began, s.
    pub(crate) since: f64,
    /// Since when somebody waits for another stage, s; infinite if nobody does.
    pub(crate) opposed: f64,
}

/// Who comes near a signal.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arrival {
    /// Junction and connection.
    pub(super) path: (u32, u32),
    /// From its front to the stop line, m.
    pub(super) distance: f64,
    /// m/s.
    pub(super) speed: f64,
    /// Whether it could drive if it had green.
    pub(super) has_room: bool,
}

/// Who wants what of one programme.
#[derive(Debug, Clone, Copy, Default)]
struct Demand {
    /// The stages that somebody waits for, one bit each.
    calls: u32,
    /// Whether somebody with green comes near.
    extends: bool,
}

/// What all signals show, in the order of the groups of [`Ground::signal_groups`].
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct SignalStates {
    states: Vec<State>,
    #[serde(skip)]
    demand: Vec<Demand>,
}

impl State {
    /// At the beginning of a world, or of a programme.
    fn begin(programme: &Programme, time: f64) -> Self {
        let mut state = Self {
            stage: 0,
            next: 0,
            phase: Phase::Green,
            since: time,
            opposed: f64::INFINITY,
        };
        if programme.mode == SignalMode::Fixed {
            state.read_off(programme, time);
        }
        state
    }

    fn closing(time: f64) -> Self {
        Self {
            stage: 0,
            next: 0,
            phase: Phase::ClosingAmber,
            since: time,
            opposed: f64::INFINITY,
        }
    }

    fn enter(&mut self, phase: Phase, time: f64) {
        (self.phase, self.since) = (phase, time);
    }

    /// Where times are fixed.
    fn read_off(&mut self, programme: &Programme, time: f64) {
        let (stage, within) = programme.stage_at(time);
        let next = programme.next(stage);
        let green = programme.stages[stage].green;
        let amber = green + programme.intergreen(stage, next).amber;
        let phase = match within {
            _ if within < green => Phase::Green,
            _ if within < amber => Phase::Amber,
            _ => Phase::AllRed,
        };
        if (self.stage, self.phase) != (stage as u32, phase) {
            self.enter(phase, time);
        }
        (self.stage, self.next) = (stage as u32, next as u32);
    }

    /// What it shows at a time, s, after what it has shown and who has come.
    fn go_on(&mut self, programme: &Programme, demand: Demand, time: f64) {
        let lasts = |duration: f64| time - self.since + ROUNDING < duration;
        let intergreen = programme.intergreen(self.stage as usize, self.next as usize);
        let closing = programme.longest_intergreen();
        match self.phase {
            Phase::ClosingAmber if lasts(closing.amber) => {}
            Phase::ClosingAmber => self.enter(Phase::ClosingRed, time),
            Phase::ClosingRed if lasts(closing.all_red) => {}
            Phase::ClosingRed => *self = Self::begin(programme, time),
            _ if programme.mode == SignalMode::Fixed => self.read_off(programme, time),
            Phase::Green => {
                if let Some(next) = self.wanted(programme, demand, time) {
                    self.next = next;
                    self.enter(Phase::Amber, time);
                }
            }
            Phase::Amber if lasts(intergreen.amber) => {}
            Phase::Amber => self.enter(Phase::AllRed, time),
            Phase::AllRed if lasts(intergreen.all_red) => {}
            Phase::AllRed => {
                self.stage = self.next;
                self.opposed = f64::INFINITY;
                self.enter(Phase::Green, time);
            }
        }
    }

    /// The stage that is to come, if the green of this one is to end.
    fn wanted(&mut self, programme: &Programme, demand: Demand, time: f64) -> Option<u32> {
        let others = demand.calls & !(1 << self.stage);
        if others == 0 {
            self.opposed = f64::INFINITY;
            return None;
        }
        self.opposed = self.opposed.min(time);
        let times = programme.stages[self.stage as usize];
        let is_short = time - self.since + ROUNDING < times.min;
        let is_long = time - self.opposed.max(self.since) + ROUNDING >= times.max;
        if is_short || (demand.extends && !is_long) {
            return None;
        }
        let count = programme.stages.len() as u32;
        let mut following = (1..count).map(|i| (self.stage + i) % count);
        following.find(|stage| others & (1 << stage) != 0)
    }
}

impl SignalStates {
    /// At the beginning of a world.
    pub(crate) fn new(ground: &Ground) -> Self {
        let programmes = ground.programmes();
        Self {
            states: programmes.map(|p| State::begin(p, 0.0)).collect(),
            demand: Vec::new(),
        }
    }

    /// Whether there is a state for each programme of a ground, of stages that it has.
    pub(crate) fn fit(&self, ground: &Ground) -> bool {
        let count = ground.programmes().count();
        let mut pairs = self.states.iter().zip(ground.programmes());
        self.states.len() == count
            && pairs.all(|(state, programme)| {
                let stages = programme.stages.len() as u32;
                state.stage < stages && state.next < stages
            })
    }

    /// Takes over what was shown on other ground; what has changed closes first.
    pub(crate) fn take_over(&mut self, before: &Ground, after: &Ground, time: f64) {
        let states = (0..after.programmes().count()).map(|group| {
            let same = before.group_like(after, group);
            same.map_or(State::closing(time), |old| self.states[old])
        });
        self.states = states.collect();
    }

    /// What they show in the next step, after who has come in this one.
    pub(super) fn update(&mut self, clock: &Clock, ground: &Ground, arrivals: &[Arrival]) {
        let mut demand = std::mem::take(&mut self.demand);
        demand.clear();
        demand.resize(self.states.len(), Demand::default());
        for arrival in arrivals {
            self.count(ground, arrival, &mut demand);
        }
        let time = (clock.step + 1) as f64 * clock.dt;
        for ((state, programme), &demand) in
            self.states.iter_mut().zip(ground.programmes()).zip(&demand)
        {
            state.go_on(programme, demand, time);
        }
        self.demand = demand;
    }

    fn count(&self, ground: &Ground, arrival: &Arrival, demand: &mut [Demand]) {
        let (junction, path) = arrival.path;
        let Some((group, signals)) = ground.signals(junction) else {
            return;
        };
        let (state, demand) = (&self.states[group], &mut demand[group]);
        let has_green = signals.greens[state.stage as usize][path as usize];
        if has_green && state.phase == Phase::Green {
            let reach = AT_LINE.max(PASSAGE * arrival.speed);
            demand.extends |= arrival.has_room && arrival.distance <= reach;
        } else {
            for (stage, green) in signals.greens.iter().enumerate() {
                demand.calls |= u32::from(green[path as usize]) << stage;
            }
        }
    }

    /// What the signal of a path shows; green where there is none.
    pub(crate) fn light(&self, ground: &Ground, (junction, path): (u32, u32)) -> Light {
        let Some((group, signals)) = ground.signals(junction) else {
            return Light::Green;
        };
        let state = &self.states[group];
        let (stage, next) = (state.stage as usize, state.next as usize);
        let light = |ending, is_amber| signals.light_in(path as usize, stage, ending, is_amber);
        match state.phase {
            Phase::Green => light(None, false),
            Phase::Amber => light(Some(next), true),
            Phase::AllRed => light(Some(next), false),
            Phase::ClosingAmber => Light::Amber,
            Phase::ClosingRed => Light::Red,
        }
    }

    /// What the signals of a junction show; `None` where there are none.
    pub(crate) fn shown(&self, ground: &Ground, junction: u32) -> Option<Shown> {
        let (group, _) = ground.signals(junction)?;
        let state = &self.states[group];
        Some(Shown {
            stage: state.stage as usize,
            next: state.next as usize,
            phase: match state.phase {
                Phase::Green => StagePhase::Green,
                Phase::Amber | Phase::ClosingAmber => StagePhase::Amber,
                Phase::AllRed | Phase::ClosingRed => StagePhase::AllRed,
            },
            is_closing: matches!(state.phase, Phase::ClosingAmber | Phase::ClosingRed),
            since: state.since,
            opposed: state.opposed,
        })
    }

    /// How long the signals of a junction have shown a stage, s; 0 while it ends, and where there are
    /// none.
    pub(super) fn time_in_stage(&self, ground: &Ground, junction: u32, time: f64) -> f64 {
        let Some((group, _)) = ground.signals(junction) else {
            return 0.0;
        };
        let state = &self.states[group];
        if state.phase == Phase::Green {
            time - state.since
        } else {
            0.0
        }
    }

    /// The stage of each programme, for hashes.
    pub(crate) fn hashed(&self) -> impl Serialize + '_ {
        &self.states
    }
}

#[cfg(test)]
mod tests {
    use super::{Arrival, SignalStates};
    use crate::ground::Ground;
    use crate::testing::{Stand, clock};
    use glam::DVec2;
    use roadwright_scenario::junction::Light;
    use roadwright_scenario::{Control, JunctionRules, SignalMode, SignalPlan};

    /// A crossing whose signals go by demand, and the paths straight across from west and from south.
    fn crossing() -> (Stand, [(u32, u32); 2]) {
        let stand = Stand::crossing_of(&JunctionRules {
            control: Some(Control::Signals),
            plan: Some(SignalPlan {
                mode: SignalMode::Actuated,
                ..SignalPlan::default()
            }),
            ..JunctionRules::default()
        });
        let path = |direction| {
            let across = stand.straight(direction)[1];
            stand.ground.contested(across).expect("it has signals")
        };
        let paths = [path(DVec2::X), path(DVec2::Y)];
        (stand, paths)
    }

    fn arrival(path: (u32, u32), distance: f64, has_room: bool) -> Arrival {
        Arrival {
            path,
            distance,
            speed: 10.0,
            has_room,
        }
    }

    /// Steps of 0.1 s until a path shows a light, with who comes at each step; `None` if it never does.
    fn steps_until(
        (states, ground): (&mut SignalStates, &Ground),
        (path, light): ((u32, u32), Light),
        comes: impl Fn(u64) -> Vec<Arrival>,
    ) -> Option<u64> {
        (0..2000).find(|&step| {
            states.update(&clock(step), ground, &comes(step));
            states.light(ground, path) == light
        })
    }

    #[test]
    fn by_demand_a_stage_stays_until_somebody_waits_for_another() {
        let (stand, [east, north]) = crossing();
        let begins = || SignalStates::new(&stand.ground);
        let ground = &*stand.ground;
        let of_north = (north, Light::Green);
        // Nobody waits: it stays, whoever comes with green.
        assert_eq!(
            steps_until((&mut begins(), ground), of_north, |_| vec![]),
            None
        );
        let busy = |_| vec![arrival(east, 10.0, true)];
        assert_eq!(steps_until((&mut begins(), ground), of_north, busy), None);
        // Somebody waits, and nobody comes with green: after the shortest green of 6 s, amber and red.
        let waits = |_| vec![arrival(north, 0.0, true)];
        let steps = steps_until((&mut begins(), ground), of_north, waits);
        assert!((90..=130).contains(&steps.unwrap()), "{steps:?}");
        // Others come all the time: after the longest green of 50 s.
        let both = |_| vec![arrival(north, 0.0, true), arrival(east, 10.0, true)];
        let steps = steps_until((&mut begins(), ground), of_north, both);
        assert!((530..=580).contains(&steps.unwrap()), "{steps:?}");
        // Those who are 4 s away, or have no room beyond, do not count.
        for other in [arrival(east, 40.0, true), arrival(east, 5.0, false)] {
            let both = |_| vec![arrival(north, 0.0, true), other];
            let steps = steps_until((&mut begins(), ground), of_north, both);
            assert!((90..=130).contains(&steps.unwrap()), "{steps:?}");
        }
        // Who loses green has amber, then red, before the other one has green.
        let mut states = begins();
        let amber = steps_until((&mut states, ground), (east, Light::Amber), waits).unwrap();
        assert!((59..=61).contains(&amber), "{amber}");
        let light_at = |states: &mut SignalStates, step| {
            states.update(&clock(step), ground, &[]);
            states.light(ground, east)
        };
        let after: Vec<Light> = (amber + 1..amber + 40)
            .map(|s| light_at(&mut states, s))
            .collect();
        let red = after.iter().position(|light| *light == Light::Red);
        assert!((29..=35).contains(&red.unwrap()), "{after:?}");
    }

    #[test]
    fn what_an_edit_changes_closes_with_amber_and_red() {
        let (stand, [east, north]) = crossing();
        let mut states = SignalStates::new(&stand.ground);
        states.update(&clock(0), &stand.ground, &[]);
        assert_eq!(states.light(&stand.ground, east), Light::Green);
        // The same signals go on.
        let (same, _) = crossing();
        states.take_over(&stand.ground, &same.ground, 0.1);
        assert_eq!(states.light(&same.ground, east), Light::Green);
        // Others do not.
        let other = Stand::crossing_of(&JunctionRules {
            control: Some(Control::Signals),
            ..JunctionRules::default()
        });
        states.take_over(&same.ground, &other.ground, 0.1);
        let lights =
            |states: &SignalStates| [east, north].map(|path| states.light(&other.ground, path));
        assert_eq!(lights(&states), [Light::Amber; 2]);
        let mut seen = vec![lights(&states)];
        for step in 1..200 {
            states.update(&clock(step), &other.ground, &[]);
            if seen.last() != Some(&lights(&states)) {
                seen.push(lights(&states));
            }
        }
        assert_eq!(seen[1], [Light::Red; 2]);
        assert_eq!(seen[2], [Light::Green, Light::Red]);
    }
}
