//! Differences in traffic law between countries.

use crate::driving_side::DrivingSide;

/// Countries and territories in which vehicles may turn to the near side at a red light after a
/// stop, unless a sign forbids it (ISO 3166-1). In the United States, each state has such a law
/// because federal law requires it ([USC 42-6322]). In Canada, the provinces have such laws, for
/// example Ontario ([HTA], section 144 (19)) and Quebec ([SAAQ]).
const TURN_ON_RED: [&str; 4] = ["CA", "GU", "PR", "US"];
/// Countries in which streets of equal rank meet at an all-way stop, instead of giving priority to the near
/// side ([MUTCD 2009], section 2B.07). In Canada, cities do so in practice, but we know of no law.
const ALL_WAY_STOP: [&str; 4] = ["CA", "GU", "PR", "US"];

/// Countries whose signals show red and amber together before green (ISO 3166-1), and the duration of this
/// phase, s. It is one second in Germany ([VwV-StVO], to section 37: never more than two) and Poland
/// ([PL 2003]). It is two seconds in Denmark ([DK 426], section 238) and Great Britain ([TSM 6]). Guernsey,
/// Jersey and the Isle of Man use British signals. The laws of Austria ([StVO 1960], section 38), Switzerland
/// ([SSV], article 68), Finland ([FI 1011], section 22), Norway ([Skiltforskriften], signal 1080) and Sweden
/// ([VMF], SIG2) prescribe red and amber, but we found no duration in these laws, so one second is assumed.
const RED_AMBER: [(&str, f64); 12] = [
    ("AT", 1.0),
    ("CH", 1.0),
    ("DE", 1.0),
    ("DK", 2.0),
    ("FI", 1.0),
    ("GB", 2.0),
    ("GG", 2.0),
    ("IM", 2.0),
    ("JE", 2.0),
    ("NO", 1.0),
    ("PL", 1.0),
    ("SE", 1.0),
];

/// Traffic law, as far as it differs between countries. The default is the Vienna Convention
/// ([Vienna 1968]): no turn on red, and priority for traffic from the near side at junctions of
/// equal roads.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct RoadLaw {
    /// Whether vehicles may turn to the near side at a red light after a stop, provided that they yield to
    /// all traffic with green.
    pub turn_on_red: bool,
    /// Whether streets of equal rank, from residential streets upwards, meet at all-way stops. Otherwise
    /// traffic from the near side has priority.
    pub all_way_stop: bool,
    /// Duration of red and amber together before green, s; 0 if signals do not show it.
    pub red_amber: f64,
}

impl RoadLaw {
    /// Returns the law of a country by its ISO 3166-1 alpha-2 code. Unknown codes and an empty code give the
    /// default.
    pub fn of(country: &str) -> Self {
        Self {
            turn_on_red: TURN_ON_RED.contains(&country),
            all_way_stop: ALL_WAY_STOP.contains(&country),
            red_amber: RED_AMBER
                .iter()
                .find(|(code, _)| *code == country)
                .map_or(0.0, |(_, seconds)| *seconds),
        }
    }
}

/// Driving side and traffic law of a country.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Custom {
    /// The driving side.
    pub side: DrivingSide,
    /// The law.
    pub law: RoadLaw,
}

impl From<DrivingSide> for Custom {
    /// Combines a driving side with the default law.
    fn from(side: DrivingSide) -> Self {
        Self {
            side,
            law: RoadLaw::default(),
        }
    }
}

/// Checks that a country code consists of two capital letters or is empty. An empty code means that
/// no country is given.
pub(crate) fn check_code(code: &str) -> Result<(), String> {
    let is_code = code.len() == 2 && code.bytes().all(|b| b.is_ascii_uppercase());
    if code.is_empty() || is_code {
        return Ok(());
    }
    let shown: String = code.chars().take(20).collect();
    Err(format!(
        "{shown:?} is not a country code; use two capital letters of ISO 3166-1, such as \"US\""
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_two_capital_letters_or_nothing() {
        for code in ["", "US", "IE", "ZZ"] {
            assert_eq!(check_code(code), Ok(()), "{code}");
        }
        let long = "A".repeat(100_000);
        for code in ["us", "USA", "U", "Ü", "U1", " US", "\u{0}\u{0}", &long] {
            let error = check_code(code).unwrap_err();
            assert!(error.len() < 300 && error.contains("ISO 3166-1"), "{error}");
        }
    }

    #[test]
    fn only_named_countries_differ_from_the_convention() {
        for other in ["", "FR", "IE", "ES", "IT", "NL", "BE", "ZZ", "us", "gb"] {
            assert_eq!(RoadLaw::of(other), RoadLaw::default(), "{other}");
        }
        assert!(RoadLaw::of("US").turn_on_red && RoadLaw::of("CA").all_way_stop);
        assert_eq!(RoadLaw::of("US").red_amber, 0.0);
        for (code, seconds) in [("DE", 1.0), ("PL", 1.0), ("GB", 2.0), ("DK", 2.0)] {
            let law = RoadLaw::of(code);
            assert_eq!(law.red_amber, seconds, "{code}");
            assert!(!law.turn_on_red && !law.all_way_stop, "{code}");
        }
    }
}
