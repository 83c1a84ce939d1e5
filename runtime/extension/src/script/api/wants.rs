//! Requests of a script for its agent: speed, stopping, signals to other drivers, lanes.

use super::Registrar;
use super::messages::{broadcast, letter};
use super::values::{Outcome, fail, number};
use crate::script::agent::Agent;
use crate::script::members::SIDES;
use rhai::{Dynamic, ImmutableString};
use roadwright_agent::{Effect, Indicator};
use roadwright_plugin_api::NOTHING;

/// Topic of the message that the horn sends.
pub(in crate::script) const HORN: &str = "horn";
/// Distance within which the horn is heard, m.
const HORN_REACH: f64 = 50.0;
/// Maximum lateral offset, m. It exceeds the width of any lane.
const FARTHEST_ASIDE: f64 = 20.0;

/// Registers the maximum speed and the factor on the speed limit.
pub(super) fn speed(api: &mut Registrar) {
    set!(
        api,
        "desired_speed",
        "agent.desired_speed = float",
        "Top speed, m/s; lasts until it is set again. A million means no limit.",
        |a: &mut Agent| a.content().wants.desired_speed,
        |a: &mut Agent, value: Dynamic| -> Outcome<()> {
            a.content().wants.desired_speed = number(&value)?.clamp(0.0, NOTHING);
            Ok(())
        }
    );
    set!(
        api,
        "speed_factor",
        "agent.speed_factor = float",
        "Desired speed as a multiple of the speed that the road allows, 0 to 2; lasts until it is set again.",
        |a: &mut Agent| a.content().wants.speed_factor,
        |a: &mut Agent, value: Dynamic| -> Outcome<()> {
            a.content().wants.speed_factor = number(&value)?.clamp(0.0, 2.0);
            Ok(())
        }
    );
}

/// Registers the functions for stopping, resuming, braking and leaving the road.
pub(super) fn standing(api: &mut Registrar) {
    call!(
        api,
        "stop",
        "agent.stop()",
        "Stops until resume() is called.",
        |a: &mut Agent| a.content().wants.is_stopped = true
    );
    call!(
        api,
        "resume",
        "agent.resume()",
        "Continues after stop(), wait() or brake(), and ends use_lane().",
        |a: &mut Agent| {
            let mut content = a.content();
            content.wants.is_stopped = false;
            content.wants.waits_until = f64::NEG_INFINITY;
            // This also ends `use_lane`, but wishes for a speed, a signal and a side remain.
            content.wants.use_lane = None;
            content.wants.braking = 0.0;
        }
    );
    call!(
        api,
        "brake",
        "agent.brake(deceleration: float)",
        "Brakes with at least this deceleration, m/s^2, within the vehicle's limits, until \
         resume() or brake(0).",
        |a: &mut Agent, braking: Dynamic| -> Outcome<()> {
            let braking = number(&braking)?;
            if braking < 0.0 {
                return fail(format!("brake: {braking} m/s^2 must not be negative"));
            }
            a.content().wants.braking = braking;
            Ok(())
        }
    );
    call!(
        api,
        "leave",
        "agent.leave()",
        "Removes the agent at once, wherever it is.",
        |a: &mut Agent| a.ask(Effect::Leave)
    );
}

/// Registers the functions for the indicators, the horn, and driving without a grant.
pub(super) fn signals(api: &mut Registrar) {
    set!(
        api,
        "indicator",
        "agent.indicator = string",
        "State of the indicators: \"left\", \"right\", \"hazard\" or \"off\"; lasts until it is set again.",
        |a: &mut Agent| -> ImmutableString { a.content().wants.indicator.name().into() },
        |a: &mut Agent, name: &str| -> Outcome<()> {
            let Some(indicator) = Indicator::from_name(name) else {
                let names = Indicator::ALL.map(Indicator::name).join(", ");
                return fail(format!(
                    "there is no indicator \"{name}\"; expected one of: {names}"
                ));
            };
            // Stored as a wish, which the script can read and which is saved, and as an effect, which sets
            // the lamps.
            a.content().wants.indicator = indicator;
            a.ask(Effect::Indicate(indicator));
            Ok(())
        }
    );
    call!(
        api,
        "ignore_law",
        "agent.ignore_law(ignores: bool)",
        "Sets whether the agent enters junctions without a grant: on red, past stop signs, without giving \
         way. The summary counts each violation; other vehicles keep clear.",
        |a: &mut Agent, ignores: bool| {
            // As for the indicator, the script reads the wish and the world applies the effect.
            a.content().wants.ignores_law = ignores;
            a.ask(Effect::IgnoreLaw(ignores));
        }
    );
    call!(
        api,
        "honk",
        "agent.honk()",
        "Sounds the horn: all agents within 50 m get a message with the topic \"horn\".",
        |a: &mut Agent| -> Outcome<()> {
            broadcast(a, HORN_REACH, letter(HORN, Dynamic::from(0.0))?);
            Ok(())
        }
    );
}

/// Registers the property for the lane of the road to which the agent keeps.
pub(super) fn lane(api: &mut Registrar) {
    call!(
        api,
        "use_lane",
        "agent.use_lane(lane: int)",
        "Changes to the lane with this id as soon as there is a gap, and stays in it until resume() or until the route needs another lane. The lane must be on the same road and in the same direction.",
        |a: &mut Agent, lane: i64| -> Outcome<()> {
            match i8::try_from(lane) {
                // 0 is the reference line. The smallest number has no positive counterpart, so `abs` would
                // overflow.
                Ok(lane) if lane != 0 && lane != i8::MIN => {
                    a.content().wants.use_lane = Some(lane);
                    Ok(())
                }
                _ => fail(format!(
                    "use_lane: {lane} is not a lane id; expected -127 to -1 or 1 to 127"
                )),
            }
        }
    );
}

/// Registers the property for the lateral position within the lane.
pub(super) fn lane_offset(api: &mut Registrar) {
    set!(
        api,
        "lane_offset",
        "agent.lane_offset = float",
        "Target lateral offset from the centre line of its lane, m, positive to the left. It stays \
         in effect until it is set again. The agent moves over gradually, still follows its \
         leader, and stays in its lane and clear of vehicles beside it. It returns to the centre \
         before junctions and lane changes. The actual offset is agent.offset.",
        |a: &mut Agent| a.content().wants.lane_offset,
        |a: &mut Agent, value: Dynamic| -> Outcome<()> {
            a.content().wants.lane_offset = number(&value)?.clamp(-FARTHEST_ASIDE, FARTHEST_ASIDE);
            Ok(())
        }
    );
}

/// Registers the function for waiting, and the property that states whether the agent waits.
pub(super) fn waiting(api: &mut Registrar) {
    call!(
        api,
        "wait",
        "agent.wait(seconds: float)",
        "Stops for a time, s.",
        |a: &mut Agent, seconds: Dynamic| -> Outcome<()> {
            let seconds = number(&seconds)?;
            let mut content = a.content();
            // A point in time is stored and not the remaining time, so that nothing has to be counted down
            // and a restored run continues to wait.
            content.wants.waits_until = content.time + seconds.max(0.0);
            Ok(())
        }
    );
    properties! { api, agent: Agent;
        "is_waiting" -> "bool", "Whether the agent is stopped because of stop() or wait()."
            => {
                let content = agent.content();
                content.wants.is_stopped || content.time < content.wants.waits_until
            };
    }
}

/// Registers the functions and properties for lane changes.
pub(super) fn lane_changes(api: &mut Registrar) {
    call!(
        api,
        "prefer_lane",
        "agent.prefer_lane(side: string)",
        "Changes to the \"left\" or \"right\" lane whenever there is a gap and the route allows it; \"any\" cancels this.",
        |a: &mut Agent, side: &str| -> Outcome<()> {
            a.content().wants.lane = match side {
                // Positive to the left, like all sides and angles.
                "left" => 1.0,
                "right" => -1.0,
                "any" => 0.0,
                _ => {
                    let sides = SIDES.join(", ");
                    return fail(format!(
                        "there is no side \"{side}\"; expected one of: {sides}"
                    ));
                }
            };
            Ok(())
        }
    );
    call!(
        api,
        "overtake",
        "agent.overtake()",
        "For twelve seconds, changes to a neighbouring lane whenever a slower vehicle is close ahead.",
        |a: &mut Agent| {
            let mut content = a.content();
            content.wants.overtakes_until = content.time + 12.0;
        }
    );
}
