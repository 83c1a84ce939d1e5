//! Turn restrictions that apply only at certain times, from `restriction:conditional` (Conditional
//! restrictions on the OpenStreetMap wiki).
//!
//! ```text
//!     restriction:conditional = no_left_turn @ (Mo-Fr 07:00-09:00; PH off)
//! ```

use super::elements::Tags;
use super::restrictions::kind_of_value;
use roadwright_scenario::{RestrictionKind, WeekTimes};

/// Warning about conditions such as `wet`, `weight>7.5`, dates, or holidays alone.
pub(super) const OTHER: &str =
    "turn restrictions with conditions other than days of the week and times (left out)";
/// Warning about holidays that are combined with days and times.
pub(super) const HOLIDAYS: &str = "holidays (PH, SH) in the times of turn restrictions (left out)";
/// Warning about times at which a restriction does not apply.
pub(super) const EXCEPTIONS: &str = "exceptions to turn restrictions at certain times (left out; the \
     restriction applies at all times)";

/// A restriction with its times.
#[derive(Debug, PartialEq)]
pub(super) struct Conditional {
    pub(super) kind: RestrictionKind,
    pub(super) times: WeekTimes,
    /// Whether rules about holidays were left out of the times.
    pub(super) had_holidays: bool,
}

/// Keys of conditional restrictions for cars, from the most specific to the most general.
const KEYS: [&str; 3] = [
    "restriction:motorcar:conditional",
    "restriction:motor_vehicle:conditional",
    "restriction:conditional",
];

/// Returns the value of a relation's conditional restriction; `None` if the relation has none.
pub(super) fn value(tags: &Tags) -> Option<&str> {
    let mut keys = KEYS.iter();
    keys.find_map(|key| tags.get(*key)).map(String::as_str)
}

/// Reads a conditional restriction. Returns each part, or the reason why it is left out.
pub(super) fn read(value: &str) -> Vec<Result<Conditional, &'static str>> {
    parts(value).iter().map(|part| conditional(part)).collect()
}

/// Splits a value at the semicolons outside of parentheses. A part without `@` continues the times of the
/// part before it.
fn parts(value: &str) -> Vec<String> {
    let mut parts: Vec<String> = vec![String::new()];
    let mut depth = 0;
    for letter in value.chars() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        match parts.last_mut() {
            Some(last) if letter != ';' || depth > 0 => last.push(letter),
            _ => parts.push(String::new()),
        }
    }
    let mut joined: Vec<String> = Vec::new();
    for part in parts {
        match joined.last_mut() {
            Some(last) if !part.contains('@') => {
                last.push(';');
                last.push_str(&part);
            }
            _ => joined.push(part),
        }
    }
    joined
}

fn conditional(part: &str) -> Result<Conditional, &'static str> {
    let (value, condition) = part.split_once('@').ok_or(OTHER)?;
    let kind = kind_of_value(value.trim())?;
    let condition = condition.trim().trim_end_matches(';').trim();
    let bare = condition
        .strip_prefix('(')
        .and_then(|text| text.strip_suffix(')'));
    let (times, had_holidays) = without_holidays(bare.unwrap_or(condition));
    let times = times.parse().map_err(|_| OTHER)?;
    Ok(Conditional {
        kind,
        times,
        had_holidays,
    })
}

/// Removes rules about public and school holidays from times, and returns whether there were any.
fn without_holidays(times: &str) -> (String, bool) {
    let is_holiday = |word: &str| matches!(word, "PH" | "SH");
    let mut had_holidays = false;
    let mut group = |group: &str| {
        let mut items: Vec<String> = Vec::new();
        for item in group.split(',') {
            let words: Vec<&str> = item.split_whitespace().collect();
            let others: Vec<&str> = words.iter().copied().filter(|w| !is_holiday(w)).collect();
            if others.len() == words.len() {
                items.push(others.join(" "));
                continue;
            }
            had_holidays = true;
            match others[..] {
                // `PH`, and `PH off` after other days.
                [] | ["off"] => {}
                // `Su,PH 10:00-12:00`: the times also apply to the days before `PH`.
                [_] if !items.is_empty() => items.push(others.join(" ")),
                // `PH 10:00-12:00` or `PH,Su 10:00-12:00`.
                _ if others[0].starts_with(char::is_alphabetic) => items.push(others.join(" ")),
                _ => return String::new(),
            }
        }
        items.join(",")
    };
    let groups: Vec<String> = times.split(';').map(&mut group).collect();
    (groups.join(";"), had_holidays)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a value and returns a description of each part: its kind, its times and whether
    /// holidays were left out.
    fn told(value: &str) -> Vec<Result<String, &'static str>> {
        let text = |part: Result<Conditional, &'static str>| -> Result<String, &'static str> {
            let Conditional {
                kind,
                times,
                had_holidays,
            } = part?;
            let holidays = if had_holidays {
                " without holidays"
            } else {
                ""
            };
            Ok(format!("{kind:?} {times}{holidays}"))
        };
        read(value).into_iter().map(text).collect()
    }

    #[test]
    fn days_and_times_are_read() {
        let cases = [
            ("no_left_turn @ (07:00-09:00)", "No 07:00-09:00"),
            (
                "no_left_turn@(Mo-Fr 07:00-09:00,16:00-18:00)",
                "No Mo-Fr 07:00-09:00,16:00-18:00",
            ),
            (
                "only_straight_on @ Mo-Fr 07:00-09:00",
                "Only Mo-Fr 07:00-09:00",
            ),
            (
                "no_u_turn @ Mo-Fr 07:00-09:00; Sa 10:00-12:00",
                "No Mo-Fr 07:00-09:00; Sa 10:00-12:00",
            ),
            (
                "no_u_turn @ (Mo-Fr 07:00-09:00; PH off)",
                "No Mo-Fr 07:00-09:00 without holidays",
            ),
            (
                "no_u_turn @ (Mo-Fr,PH 07:00-09:00)",
                "No Mo-Fr 07:00-09:00 without holidays",
            ),
            (
                "no_u_turn @ (PH,Su 07:00-09:00)",
                "No Su 07:00-09:00 without holidays",
            ),
        ];
        for (value, expected) in cases {
            assert_eq!(told(value), [Ok(expected.to_owned())], "{value}");
        }
        let two = told("no_left_turn @ (07:00-09:00); only_straight_on @ (Sa 10:00-12:00)");
        let expected = ["No 07:00-09:00", "Only Sa 10:00-12:00"];
        assert_eq!(two, expected.map(|text| Ok(text.to_owned())));
    }

    #[test]
    fn other_conditions_are_reported() {
        for value in [
            "no_left_turn @ (wet)",
            "no_left_turn @ (weight>7.5)",
            "no_left_turn @ (Mo-Fr 07:00-09:00 AND weight>7.5)",
            "no_left_turn @ (PH)",
            "no_left_turn @ (PH 10:00-12:00)",
            "no_left_turn @ (SH Mo-Fr 07:00-15:00, sunrise-sunset)",
            "no_left_turn @ (May-Sep 10:00-18:00)",
            "no_left_turn",
            "no_left_turn @",
            "no_left_turn @ (07:00-09:00",
            "",
        ] {
            assert_eq!(told(value), [Err(OTHER)], "{value}");
        }
        let unknown = told("none @ (07:00-09:00)");
        assert_eq!(unknown, [Err("turn restrictions with an unknown value")]);
        for odd in [")))@(((", ";;@;;", "@@", "(;)@"] {
            assert!(read(odd).iter().all(Result::is_err), "{odd}");
        }
    }
}
