//! Makes clips from traces, the tables that `roadwright run --trace` writes.

use crate::clips::Clip;
use crate::frame::{Frame, FrameCommand, Gear, HeldPedals};
use roadwright_geometry::Pose;
use roadwright_geometry::math::wrap_angle;

/// Maximum difference between the periods of evenly spaced rows, s. It allows for times rounded to three decimals.
const UNEVEN: f64 = 1.1e-3;

/// Rows of one vehicle.
#[derive(Debug, Clone, PartialEq)]
pub struct Recording {
    /// Id of the agent.
    pub agent: u64,
    /// Time of the first row, s.
    pub begin: f64,
    /// Sample rate, Hz.
    pub rate: f64,
    /// A frame for each row.
    pub frames: Vec<Frame>,
}

/// Reason why clips cannot be made from a table.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RecordError {
    /// A column is missing.
    #[error("the table has no column \"{0}\"; create the table with `roadwright run --trace`")]
    Column(&'static str),
    /// A cell is not a number.
    #[error("line {line}, column \"{column}\": \"{cell}\" is not a number")]
    Cell {
        /// Line number, from 1.
        line: usize,
        /// Name of the column.
        column: &'static str,
        /// Text in the cell.
        cell: String,
    },
    /// The requested agent is not in the table, or the table has several agents and none was requested.
    #[error("choose one of the agents in the table: {}", list(known))]
    Agent {
        /// Agents of the table.
        known: Vec<u64>,
    },
    /// An agent has fewer than two rows.
    #[error("agent {0} has fewer than two rows")]
    Short(u64),
    /// Rows are not evenly spaced.
    #[error(
        "rows are not evenly spaced: {period:.3} s apart at first, but {other:.3} s at {time:.3} s; \
         record with a --trace-rate whose period is a multiple of the time step"
    )]
    Uneven {
        /// Time between the first rows, s.
        period: f64,
        /// Deviating time between two rows, s.
        other: f64,
        /// Time of the second of these rows, s.
        time: f64,
    },
    /// The requested time range is not within the drive, or is too short.
    #[error(
        "{from} to {to} s is too short or outside the drive, which lasts from {begin:.3} to {end:.3} s"
    )]
    Outside {
        /// Requested start, s.
        from: f64,
        /// Requested end, s.
        to: f64,
        /// Start of the drive, s.
        begin: f64,
        /// End of the drive, s.
        end: f64,
    },
}

fn list(agents: &[u64]) -> String {
    let first: Vec<String> = agents.iter().take(20).map(u64::to_string).collect();
    first.join(", ")
}

/// Columns that a trace must have.
const NEEDED: [&str; 8] = [
    "time_s",
    "agent",
    "x_m",
    "y_m",
    "heading_rad",
    "speed_mps",
    "acceleration_mps2",
    "steering_rad",
];
/// Columns that older traces do not have. Their cells may be empty.
const OPTIONAL: [&str; 6] = [
    "sideways_mps",
    "yaw_rate_radps",
    "throttle",
    "brake",
    "steering_command_rad",
    "reversing",
];

/// A row of the requested agent.
struct TraceRow {
    needed: [f64; NEEDED.len()],
    optional: [Option<f64>; OPTIONAL.len()],
}

impl Recording {
    /// Reads the rows of the given agent, or of the only agent in the table if `agent` is `None`. Traces of
    /// earlier versions have no columns for slip and controls, so yaw rates are computed from the headings.
    /// `centre` is the distance from the rear axle to the centre of gravity, m, for levels without side slip.
    ///
    /// # Errors
    /// If the table is not a trace or does not contain the agent, or its rows are not evenly spaced.
    pub fn of_trace(text: &str, agent: Option<u64>, centre: f64) -> Result<Self, RecordError> {
        let mut lines = text.lines();
        let titles: Vec<&str> = lines.next().unwrap_or("").split(',').collect();
        let place = |name: &str| titles.iter().position(|title| *title == name);
        let mut needed = [0; NEEDED.len()];
        for (place_of, name) in needed.iter_mut().zip(NEEDED) {
            *place_of = place(name).ok_or(RecordError::Column(name))?;
        }
        let optional = OPTIONAL.map(place);
        let mut rows: Vec<TraceRow> = Vec::new();
        let mut known: Vec<u64> = Vec::new();
        for (number, line) in (2..).zip(lines) {
            let cells: Vec<&str> = line.split(',').collect();
            let cell = |place: usize| cells.get(place).copied().unwrap_or("");
            let own = number_of(cell(needed[1]), number, NEEDED[1])? as u64;
            if let Err(at) = known.binary_search(&own) {
                known.insert(at, own);
            }
            if agent.is_some_and(|agent| agent != own) {
                continue;
            }
            let mut row = TraceRow {
                needed: [0.0; NEEDED.len()],
                optional: [None; OPTIONAL.len()],
            };
            for i in 0..NEEDED.len() {
                row.needed[i] = number_of(cell(needed[i]), number, NEEDED[i])?;
            }
            for i in 0..OPTIONAL.len() {
                let text = optional[i].map_or("", cell);
                if !text.is_empty() {
                    row.optional[i] = Some(number_of(text, number, OPTIONAL[i])?);
                }
            }
            rows.push(row);
        }
        let agent = match agent {
            Some(agent) if known.contains(&agent) => agent,
            None if known.len() == 1 => known[0],
            _ => return Err(RecordError::Agent { known }),
        };
        Self::of_rows(agent, &rows, centre)
    }

    fn of_rows(agent: u64, rows: &[TraceRow], centre: f64) -> Result<Self, RecordError> {
        let [first, second, ..] = rows else {
            return Err(RecordError::Short(agent));
        };
        let time = |row: &TraceRow| row.needed[0];
        let period = time(second) - time(first);
        for pair in rows.windows(2) {
            let other = time(&pair[1]) - time(&pair[0]);
            // The condition is negated, so that NaN is rejected.
            if !((other - period).abs() <= UNEVEN && other > 0.0) {
                return Err(RecordError::Uneven {
                    period,
                    other,
                    time: time(&pair[1]),
                });
            }
        }
        let periods = (rows.len() - 1) as f64;
        // Times are rounded to milliseconds, so the mean period is more accurate.
        let mean = (time(&rows[rows.len() - 1]) - time(first)) / periods;
        let rate = (1.0 / mean * 1e3).round() / 1e3;
        let frames = (0..rows.len()).map(|i| frame_of(rows, i, rate, centre));
        Ok(Self {
            agent,
            begin: time(first),
            rate,
            frames: frames.collect(),
        })
    }

    /// Returns the frames between two times, s, where they were driven.
    ///
    /// # Errors
    /// If the times are not within the drive, or there are fewer than two frames.
    pub fn stretch(&self, from: f64, to: f64) -> Result<&[Frame], RecordError> {
        let end = self.begin + (self.frames.len() - 1) as f64 / self.rate;
        let frame = |time: f64| ((time - self.begin) * self.rate).round();
        let (first, last) = (frame(from), frame(to));
        let is_inside = first >= 0.0 && last > first && last < self.frames.len() as f64;
        if !is_inside {
            return Err(RecordError::Outside {
                from,
                to,
                begin: self.begin,
                end,
            });
        }
        Ok(&self.frames[first as usize..=last as usize])
    }

    /// Returns the rows between two times, s, as a clip that begins at the origin and faces east.
    ///
    /// # Errors
    /// If the times are not within the drive, or the clip has fewer than two frames.
    pub fn clip(&self, name: &str, from: f64, to: f64) -> Result<Clip, RecordError> {
        let frames = self.stretch(from, to)?;
        let origin = frames[0].placement();
        let begin = frames[0].pose.heading;
        let moved = frames.iter().map(|frame| Frame {
            pose: Pose {
                position: origin.to_local(frame.pose.position),
                heading: wrap_angle(frame.pose.heading - begin),
            },
            ..*frame
        });
        Ok(Clip {
            name: name.to_owned(),
            frames: moved.map(|frame| crate::clips::rounded(&frame)).collect(),
        })
    }

    /// Time of the last row, s.
    pub fn end(&self) -> f64 {
        self.begin + (self.frames.len() - 1) as f64 / self.rate
    }
}

fn number_of(cell: &str, line: usize, column: &'static str) -> Result<f64, RecordError> {
    let value: Option<f64> = cell.parse().ok().filter(|value: &f64| value.is_finite());
    value.ok_or_else(|| RecordError::Cell {
        line,
        column,
        cell: cell.chars().take(40).collect(),
    })
}

fn frame_of(rows: &[TraceRow], i: usize, rate: f64, centre: f64) -> Frame {
    let [_, _, x, y, heading, forward, acceleration, wheels] = rows[i].needed;
    let [sideways, yaw_rate, throttle, brake, steering, reversing] = rows[i].optional;
    let yaw_rate = yaw_rate.unwrap_or_else(|| {
        let [before, after] = [i.saturating_sub(1), (i + 1).min(rows.len() - 1)];
        let turned = wrap_angle(rows[after].needed[4] - rows[before].needed[4]);
        turned * rate / (after - before) as f64
    });
    Frame {
        pose: Pose::new(x, y, heading),
        forward,
        // Without slip at the rear axle, rotation moves the centre of gravity sideways.
        sideways: sideways.unwrap_or(centre * yaw_rate),
        yaw_rate,
        wheels,
        command: FrameCommand {
            steering: steering.unwrap_or(wheels),
            acceleration,
            pedals: throttle
                .zip(brake)
                .map(|(throttle, brake)| HeldPedals { throttle, brake }),
            gear: if reversing == Some(1.0) {
                Gear::Reverse
            } else {
                Gear::Forwards
            },
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = "time_s,agent,x_m,y_m,heading_rad,speed_mps,acceleration_mps2,steering_rad,road,lane,s_m,t_m\n\
        0.100,7,1.0,2.0,0.5,10.0,0.0,0.1,,,0.0,0.0\n\
        0.200,7,2.0,2.5,0.6,10.0,0.0,0.1,,,0.0,0.0\n\
        0.300,7,3.0,3.0,0.7,10.0,0.0,0.1,,,0.0,0.0\n";

    #[test]
    fn traces_of_earlier_versions_are_read() {
        let recording = Recording::of_trace(OLD, None, 1.5).unwrap();
        assert_eq!((recording.agent, recording.rate), (7, 10.0));
        let frame = recording.frames[1];
        assert!((frame.yaw_rate - 1.0).abs() < 1e-9);
        assert!((frame.sideways - 1.5).abs() < 1e-9);
        assert_eq!(frame.command.steering, 0.1);
        let clip = recording.clip("a", 0.1, 0.3).unwrap();
        assert_eq!(clip.frames[0].pose, Pose::new(0.0, 0.0, 0.0));
        assert_eq!(clip.frames.len(), 3);
    }

    #[test]
    fn uneven_rows_and_wrong_tables_are_refused_with_the_reason() {
        let uneven = OLD.replace("0.300,7", "0.360,7");
        let error = Recording::of_trace(&uneven, None, 0.0).unwrap_err();
        assert!(error.to_string().contains("evenly spaced"), "{error}");
        let error = Recording::of_trace(&OLD.replace("x_m", "x"), None, 0.0).unwrap_err();
        assert_eq!(error, RecordError::Column("x_m"));
        let error = Recording::of_trace(&OLD.replace("2.5", "NaN"), None, 0.0).unwrap_err();
        assert!(error.to_string().contains("line 3"), "{error}");
        let error = Recording::of_trace(OLD, Some(8), 0.0).unwrap_err();
        assert_eq!(error, RecordError::Agent { known: vec![7] });
        let recording = Recording::of_trace(OLD, None, 0.0).unwrap();
        for [from, to] in [[0.0, 0.3], [0.1, 0.4], [0.2, 0.2], [f64::NAN, 0.3]] {
            assert!(recording.clip("a", from, to).is_err(), "{from} {to}");
        }
    }

    #[test]
    fn newer_columns_are_used() {
        let text = "time_s,agent,x_m,y_m,heading_rad,speed_mps,acceleration_mps2,steering_rad,road,lane,s_m,t_m,\
            sideways_mps,yaw_rate_radps,throttle,brake,steering_command_rad,reversing\n\
            0.000,1,0,0,0,10,0,0.1,,,0,0,-2.5,0.75,0.5,0.0,0.2,0\n\
            0.040,1,0.4,0,0,10,0,0.1,,,0,0,-2.5,0.75,,,0.2,1\n";
        let recording = Recording::of_trace(text, None, 1.0).unwrap();
        assert_eq!(recording.rate, 25.0);
        let [first, second] = [recording.frames[0], recording.frames[1]];
        assert_eq!((first.sideways, first.yaw_rate), (-2.5, 0.75));
        assert_eq!(first.command.steering, 0.2);
        let pedals = HeldPedals {
            throttle: 0.5,
            brake: 0.0,
        };
        assert_eq!(first.command.pedals, Some(pedals));
        assert_eq!(second.command.pedals, None);
        assert_eq!(second.command.gear, Gear::Reverse);
    }
}
