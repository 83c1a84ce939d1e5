//! Days of the week and times of day at which a rule applies.
//!
//! ```text
//!     Mo-Fr 07:00-09:30,16:00-18:30; Sa 10:00-12:00
//!     ----- ----------------------- ------------- the last group with a day decides for that day
//!     days  times
//! ```
//!
//! The notation is a subset of OpenStreetMap's opening hours (Key:opening_hours on the wiki): the
//! part that needs neither a calendar nor a place on Earth. It does not include public and school
//! holidays, dates, weeks and sunrise.

use crate::named::named;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

named! {
    /// Day of the week.
    #[derive(
        Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema,
    )]
    #[serde(rename_all = "snake_case")]
    pub enum Weekday {
        /// Monday.
        Monday = "monday",
        /// Tuesday.
        Tuesday = "tuesday",
        /// Wednesday, the default day of a scenario.
        #[default]
        Wednesday = "wednesday",
        /// Thursday.
        Thursday = "thursday",
        /// Friday.
        Friday = "friday",
        /// Saturday.
        Saturday = "saturday",
        /// Sunday.
        Sunday = "sunday",
    }
}

impl Weekday {
    /// Returns the previous day.
    fn before(self) -> Self {
        Self::ALL[(self as usize + 6) % 7]
    }
}

/// A time of the week.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moment {
    /// Day of the week.
    pub weekday: Weekday,
    /// Time of day, from 0 to less than 24 h.
    pub time_of_day: f64,
}

impl Default for Moment {
    fn default() -> Self {
        Self {
            weekday: Weekday::default(),
            time_of_day: 12.0,
        }
    }
}

/// Times of the week. In files, they are a string such as `Mo-Fr 07:00-09:00; Sa 10:00-12:00`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WeekTimes(Vec<Group>);

/// The entries of a rule between two semicolons.
type Group = Vec<Entry>;

/// Days of the week with the times that apply on them.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    /// Whether the entry names each day, from Monday to Sunday. If it names none, it applies to all days.
    days: [bool; 7],
    /// Times on these days. If there are none, the entry applies to whole days.
    spans: Vec<Span>,
    /// Whether the rule does not apply on these days (`off`).
    is_off: bool,
}

/// Start and end of a time span, in minutes after midnight. If the end is not later than the start,
/// it is on the next day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Span {
    from: u32,
    to: u32,
}

const DAY: u32 = 24 * 60;
const NAMES: [&str; 7] = ["Mo", "Tu", "We", "Th", "Fr", "Sa", "Su"];
/// Maximum length of the string, bytes.
const LONGEST: usize = 500;

impl WeekTimes {
    /// Whether the times contain a moment. Each span includes its start but not its end.
    pub fn contain(&self, moment: Moment) -> bool {
        let minutes = moment.time_of_day * 60.0;
        self.reach(moment.weekday, minutes)
            // A time span that began on the previous day.
            || self.reach(moment.weekday.before(), minutes + f64::from(DAY))
    }

    /// Whether a time span that starts on `day` contains a moment, given in minutes after the start
    /// of that day.
    fn reach(&self, day: Weekday, minutes: f64) -> bool {
        let of_day = |entry: &&Entry| entry.has(day);
        let mut groups = self.0.iter().rev();
        let Some(group) = groups.find(|group| group.iter().any(|entry| entry.has(day))) else {
            return false;
        };
        let mut entries = group.iter().filter(of_day);
        entries.any(|entry| !entry.is_off && entry.contains(minutes))
    }
}

impl Entry {
    const EMPTY: Self = Self {
        days: [false; 7],
        spans: Vec::new(),
        is_off: false,
    };

    fn names_all(&self) -> bool {
        self.days == [false; 7] || self.days == [true; 7]
    }

    fn has(&self, day: Weekday) -> bool {
        self.names_all() || self.days[day as usize]
    }

    fn contains(&self, minutes: f64) -> bool {
        if self.spans.is_empty() {
            return (0.0..f64::from(DAY)).contains(&minutes);
        }
        let inside = |span: &Span| {
            let end = span.to + if span.to <= span.from { DAY } else { 0 };
            (f64::from(span.from)..f64::from(end)).contains(&minutes)
        };
        self.spans.iter().any(inside)
    }
}

impl FromStr for WeekTimes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.len() > LONGEST {
            return Err(format!("more than {LONGEST} characters"));
        }
        if text.trim() == "24/7" {
            return Ok(Self(vec![vec![Entry {
                days: [true; 7],
                ..Entry::EMPTY
            }]]));
        }
        let groups = text.split(';').map(str::trim).filter(|g| !g.is_empty());
        let groups = groups.map(group).collect::<Result<Vec<Group>, String>>()?;
        match groups.is_empty() {
            true => Err("expected days or times".into()),
            false => Ok(Self(groups)),
        }
    }
}

/// Parses a group such as `Mo,We-Fr 07:00-09:00,16:00-18:00, Sa 10:00-12:00`.
fn group(text: &str) -> Result<Group, String> {
    let mut entries: Group = Vec::new();
    for item in text.split(',') {
        for (place, word) in item.split_whitespace().enumerate() {
            let is_day = word.starts_with(char::is_alphabetic) && word != "off";
            if is_day {
                let days = days(word)?;
                let is_new = entries
                    .last()
                    .is_none_or(|last| !last.spans.is_empty() || last.is_off);
                if is_new {
                    entries.push(Entry::EMPTY);
                } else if place > 0 {
                    return Err(format!("\"{text}\": expected a comma before {word}"));
                }
                if let Some(last) = entries.last_mut() {
                    (0..7).for_each(|day| last.days[day] |= days[day]);
                }
                continue;
            }
            if entries.is_empty() {
                entries.push(Entry::EMPTY);
            }
            let Some(last) = entries.last_mut() else {
                continue;
            };
            match word {
                "off" if last.spans.is_empty() && last.days != [false; 7] => last.is_off = true,
                _ if last.is_off => {
                    return Err(format!("\"{text}\": unexpected times after \"off\""));
                }
                _ => last.spans.push(span(word)?),
            }
        }
    }
    match entries.is_empty() {
        true => Err(format!("\"{text}\": expected days or times")),
        false => Ok(entries),
    }
}

/// Parses days such as `Mo` or `Fr-Su`.
fn days(word: &str) -> Result<[bool; 7], String> {
    let day = |name: &str| {
        let place = NAMES.iter().position(|one| *one == name);
        place.ok_or_else(|| format!("\"{word}\": expected days such as Mo or Mo-Fr"))
    };
    let (first, last) = match word.split_once('-') {
        Some((first, last)) => (day(first)?, day(last)?),
        None => (day(word)?, day(word)?),
    };
    let mut days = [false; 7];
    let count = (last + 7 - first) % 7;
    (0..=count).for_each(|step| days[(first + step) % 7] = true);
    Ok(days)
}

/// Parses a time span such as `07:00-09:00`.
fn span(word: &str) -> Result<Span, String> {
    let wrong = || format!("\"{word}\": expected times such as 07:00-09:00");
    let minutes = |text: &str| -> Option<u32> {
        let (hour, minute) = text.split_once(':')?;
        let is_number = |part: &str| part.len() <= 2 && part.bytes().all(|b| b.is_ascii_digit());
        if !is_number(hour) || !is_number(minute) || minute.len() != 2 {
            return None;
        }
        let (hour, minute): (u32, u32) = (hour.parse().ok()?, minute.parse().ok()?);
        (minute < 60 && hour * 60 + minute <= DAY).then_some(hour * 60 + minute)
    };
    let (from, to) = word.split_once('-').ok_or_else(wrong)?;
    let (from, to) = (
        minutes(from).ok_or_else(wrong)?,
        minutes(to).ok_or_else(wrong)?,
    );
    match from < DAY {
        true => Ok(Span { from, to }),
        false => Err(wrong()),
    }
}

impl fmt::Display for WeekTimes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let groups: Vec<String> = self.0.iter().map(|group| group_text(group)).collect();
        f.write_str(&groups.join("; "))
    }
}

fn group_text(group: &[Entry]) -> String {
    let entry = |(place, entry): (usize, &Entry)| {
        let time = |minutes: u32| format!("{:02}:{:02}", minutes / 60, minutes % 60);
        let spans = entry.spans.iter();
        let spans: Vec<String> = spans
            .map(|span| format!("{}-{}", time(span.from), time(span.to)))
            .collect();
        // The days may be omitted only in the first entry. In later entries, the times would be
        // read as times of the previous entry.
        let is_implied = entry.names_all() && place == 0 && !spans.is_empty();
        let days = match is_implied {
            true => String::new(),
            false => days_text(entry),
        };
        let times = match entry.is_off {
            true => "off".to_owned(),
            false => spans.join(","),
        };
        format!("{days} {times}").trim().to_owned()
    };
    let entries: Vec<String> = group.iter().enumerate().map(entry).collect();
    entries.join(", ")
}

fn days_text(entry: &Entry) -> String {
    if entry.names_all() {
        return "Mo-Su".into();
    }
    let mut runs: Vec<String> = Vec::new();
    let mut day = 0;
    while day < 7 {
        let count = entry.days[day..].iter().take_while(|named| **named).count();
        match count {
            0 => {}
            1 => runs.push(NAMES[day].into()),
            _ => runs.push(format!("{}-{}", NAMES[day], NAMES[day + count - 1])),
        }
        day += count.max(1);
    }
    runs.join(",")
}

impl Serialize for WeekTimes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for WeekTimes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for WeekTimes {
    fn schema_name() -> Cow<'static, str> {
        "WeekTimes".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({
            "description": "Days of the week and times of day, such as `Mo-Fr 07:00-09:00,16:00-18:00; Sa \
                            10:00-12:00`.",
            "type": "string",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(weekday: Weekday, time_of_day: f64) -> Moment {
        Moment {
            weekday,
            time_of_day,
        }
    }

    #[test]
    fn times_apply_from_their_begin_until_before_their_end() {
        use Weekday::{Friday, Monday, Saturday, Sunday, Wednesday};
        let cases = [
            ("07:00-09:00", Sunday, 7.0, true),
            ("07:00-09:00", Sunday, 9.0, false),
            ("Mo-Fr 07:00-09:30", Friday, 9.49, true),
            ("Mo-Fr 07:00-09:30", Friday, 9.5, false),
            ("Mo-Fr 07:00-09:30", Saturday, 8.0, false),
            ("Mo-Fr 07:00-09:00,16:00-18:00", Wednesday, 17.0, true),
            ("Mo,We-Fr 07:00-09:00, Sa 10:00-12:00", Wednesday, 8.0, true),
            ("Mo,We-Fr 07:00-09:00, Sa 10:00-12:00", Saturday, 11.0, true),
            ("Mo,We-Fr 07:00-09:00, Sa 10:00-12:00", Saturday, 8.0, false),
            ("Sa-Mo", Monday, 23.9, true),
            ("Sa-Mo", Wednesday, 12.0, false),
            ("24/7", Sunday, 0.0, true),
            // Time spans that extend over midnight, one of them from Sunday to Monday.
            ("Su 22:00-06:00", Monday, 5.9, true),
            ("Su 22:00-06:00", Monday, 22.0, false),
            ("Su 22:00-24:00", Monday, 0.0, false),
            // The last group that names a day decides for that day.
            ("Mo-Su 07:00-19:00; Su off", Sunday, 12.0, false),
            ("Mo-Su 07:00-19:00; Sa 10:00-12:00", Saturday, 15.0, false),
            ("Mo-Su 07:00-19:00; Sa 10:00-12:00", Friday, 15.0, true),
        ];
        for (text, day, hour, expected) in cases {
            let times: WeekTimes = text.parse().unwrap();
            assert_eq!(
                times.contain(at(day, hour)),
                expected,
                "{text} {day:?} {hour}"
            );
        }
    }

    #[test]
    fn other_conditions_are_errors() {
        for text in [
            "",
            ";",
            "wet",
            "PH 07:00-09:00",
            "Mo-PH",
            "SH",
            "sunrise-sunset",
            "Jan-Mar",
            "7-9",
            "07:60-08:00",
            "25:00-26:00",
            "24:00-25:00",
            "07:00",
            "07:00-09:00 Mo Tu",
            "Mo Tu 07:00-09:00",
            "weight>7.5",
            "off",
            "Mo 07:00-09:00 off",
            "Mo off 07:00-09:00",
            "week 1-10",
            "07:00-09:00+",
            "Mo-Fr-Su",
            "-1:00-02:00",
            "M\u{f6}-Fr",
        ] {
            assert!(text.parse::<WeekTimes>().is_err(), "{text}");
        }
        assert!("Mo,".repeat(400).parse::<WeekTimes>().is_err());
    }

    proptest! {
        #[test]
        fn texts_are_read_as_they_are_written(
            groups in proptest::collection::vec(
                proptest::collection::vec(
                    (any::<[bool; 7]>(), proptest::collection::vec((0..DAY, 0..=DAY), 0..3)),
                    1..3,
                ),
                1..4,
            ),
            day in 0..7_usize,
            hour in 0.0..24.0,
        ) {
            let entry = |(days, spans): &([bool; 7], Vec<(u32, u32)>)| Entry {
                days: if *days == [false; 7] { [true; 7] } else { *days },
                spans: spans.iter().map(|&(from, to)| Span { from, to }).collect(),
                is_off: false,
            };
            let groups = groups.iter().map(|group| group.iter().map(entry).collect());
            let mut groups: Vec<Group> = groups.collect();
            // Days without times come last, because the parser would otherwise give them the times of the
            // next entry.
            for group in &mut groups {
                group.sort_by_key(|entry| entry.spans.is_empty());
                if group.iter().filter(|entry| entry.spans.is_empty()).count() > 1 {
                    group.pop();
                }
            }
            let times = WeekTimes(groups);
            let again: WeekTimes = times.to_string().parse().unwrap();
            prop_assert_eq!(again.to_string(), times.to_string());
            let moment = at(Weekday::ALL[day], hour);
            prop_assert_eq!(again.contain(moment), times.contain(moment), "{}", times);
        }

        #[test]
        fn no_text_panics(text in "[MoTuFrSaPH0-9:;, -]{0,40}") {
            let _ = text.parse::<WeekTimes>();
        }
    }
}
