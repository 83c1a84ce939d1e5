//! Channels: quantities of a vehicle that can be recorded.
//!
//! The same table is used for every recording of vehicles: `run --trace`, drives recorded in the editor, and
//! the clips of move trees. A row of such a recording has one cell for each channel, in the order of
//! [`CHANNELS`].

use crate::snapshot::VehicleRecord;
use roadwright_scenario::DynamicsLevel;
use std::fmt;

/// A quantity of a vehicle that can be recorded.
pub struct Channel {
    /// Name of the column, which ends in the unit.
    pub name: &'static str,
    /// Unit; empty for names and for numbers without a unit.
    pub unit: &'static str,
    /// Reference point on the vehicle.
    pub point: Point,
    /// Dynamics levels that model the quantity. At other levels, the cell is empty.
    pub levels: ChannelLevels,
    /// Meaning of the quantity, in one sentence.
    pub meaning: &'static str,
    /// Formats the content of the cell. The argument is the time in seconds.
    cell: fn(&VehicleRecord, f64) -> String,
}

/// Reference point of a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Point {
    /// The vehicle as a whole.
    Vehicle,
    /// The middle of the rear axle.
    RearAxle,
    /// The centre of gravity of the vehicle.
    CentreOfGravity,
    /// The front wheels.
    FrontWheels,
    /// Positions of the pedals and the steering wheel, as set by the driver.
    Controls,
}

impl Point {
    /// Name of the point, as shown to users.
    pub fn name(self) -> &'static str {
        match self {
            Self::Vehicle => "vehicle",
            Self::RearAxle => "middle of the rear axle",
            Self::CentreOfGravity => "centre of gravity",
            Self::FrontWheels => "front wheels",
            Self::Controls => "controls",
        }
    }
}

/// Levels of dynamics at which a channel has values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChannelLevels {
    /// All levels.
    All,
    /// Levels that steer: all except `lane`.
    Steered,
    /// Levels that model lateral tyre slip.
    Slipping,
}

impl ChannelLevels {
    /// Whether a level is included.
    pub fn contain(self, level: DynamicsLevel) -> bool {
        match self {
            Self::All => true,
            Self::Steered => level.traits().steers,
            Self::Slipping => level.traits().slips,
        }
    }
}

/// All channels, in the order of the columns of a trace. New channels are added at the end, because programs
/// may read columns by number.
pub const CHANNELS: [Channel; 18] = [
    Channel {
        name: "time_s",
        unit: "s",
        point: Point::Vehicle,
        levels: ChannelLevels::All,
        meaning: "Simulated time.",
        cell: |_, time| format!("{time:.3}"),
    },
    Channel {
        name: "agent",
        unit: "",
        point: Point::Vehicle,
        levels: ChannelLevels::All,
        meaning: "Id of the agent.",
        cell: |vehicle, _| vehicle.agent.to_string(),
    },
    Channel {
        name: "x_m",
        unit: "m",
        point: Point::RearAxle,
        levels: ChannelLevels::All,
        meaning: "x coordinate (easting).",
        cell: |vehicle, _| format!("{:.4}", vehicle.pose.position.x),
    },
    Channel {
        name: "y_m",
        unit: "m",
        point: Point::RearAxle,
        levels: ChannelLevels::All,
        meaning: "y coordinate (northing).",
        cell: |vehicle, _| format!("{:.4}", vehicle.pose.position.y),
    },
    Channel {
        name: "heading_rad",
        unit: "rad",
        point: Point::Vehicle,
        levels: ChannelLevels::All,
        meaning: "Heading, counter-clockwise from east.",
        cell: |vehicle, _| format!("{:.5}", vehicle.pose.heading),
    },
    Channel {
        name: "speed_mps",
        unit: "m/s",
        point: Point::RearAxle,
        levels: ChannelLevels::All,
        meaning: "Speed along the vehicle, negative in reverse.",
        cell: |vehicle, _| format!("{:.4}", vehicle.speed),
    },
    Channel {
        name: "acceleration_mps2",
        unit: "m/s^2",
        point: Point::Controls,
        levels: ChannelLevels::All,
        meaning: "Commanded acceleration in the intended direction of travel.",
        cell: |vehicle, _| format!("{:.4}", vehicle.acceleration),
    },
    Channel {
        name: "steering_rad",
        unit: "rad",
        point: Point::FrontWheels,
        levels: ChannelLevels::All,
        meaning: "Angle of the front wheels, positive to the left.",
        cell: |vehicle, _| format!("{:.5}", vehicle.steering),
    },
    Channel {
        name: "road",
        unit: "",
        point: Point::Vehicle,
        levels: ChannelLevels::All,
        meaning: "Id of the road that the vehicle follows; empty off the roads.",
        cell: |vehicle, _| {
            let road = vehicle.lane.map(|(road, _)| road.0.to_string());
            road.unwrap_or_default()
        },
    },
    Channel {
        name: "lane",
        unit: "",
        point: Point::Vehicle,
        levels: ChannelLevels::All,
        meaning: "Id of the lane that the vehicle follows; empty off the roads.",
        cell: |vehicle, _| {
            let lane = vehicle.lane.map(|(_, lane)| lane.to_string());
            lane.unwrap_or_default()
        },
    },
    Channel {
        name: "s_m",
        unit: "m",
        point: Point::RearAxle,
        levels: ChannelLevels::All,
        meaning: "Distance along the lanelet that the vehicle follows.",
        cell: |vehicle, _| format!("{:.3}", vehicle.s),
    },
    Channel {
        name: "t_m",
        unit: "m",
        point: Point::RearAxle,
        levels: ChannelLevels::All,
        meaning: "Lateral offset from the centre line of that lanelet, positive to the left.",
        cell: |vehicle, _| format!("{:.3}", vehicle.t),
    },
    Channel {
        name: "sideways_mps",
        unit: "m/s",
        point: Point::CentreOfGravity,
        levels: ChannelLevels::Slipping,
        meaning: "Lateral speed, positive to the left.",
        cell: |vehicle, _| number(vehicle.sideways, 4),
    },
    Channel {
        name: "yaw_rate_radps",
        unit: "rad/s",
        point: Point::Vehicle,
        levels: ChannelLevels::All,
        meaning: "Yaw rate of the model, positive to the left.",
        cell: |vehicle, _| number(vehicle.yaw_rate, 5),
    },
    Channel {
        name: "throttle",
        unit: "",
        point: Point::Controls,
        levels: ChannelLevels::All,
        meaning: "Throttle pedal, 0 to 1; empty while an acceleration is commanded.",
        cell: |vehicle, _| number(vehicle.pedals.map(|pedals| pedals.throttle), 4),
    },
    Channel {
        name: "brake",
        unit: "",
        point: Point::Controls,
        levels: ChannelLevels::All,
        meaning: "Brake pedal, 0 to 1; empty while an acceleration is commanded.",
        cell: |vehicle, _| number(vehicle.pedals.map(|pedals| pedals.brake), 4),
    },
    Channel {
        name: "steering_command_rad",
        unit: "rad",
        point: Point::Controls,
        levels: ChannelLevels::Steered,
        meaning: "Commanded angle of the front wheels, positive to the left.",
        cell: |vehicle, _| number(vehicle.steering_command, 5),
    },
    Channel {
        name: "reversing",
        unit: "",
        point: Point::Controls,
        levels: ChannelLevels::Steered,
        meaning: "1 if the vehicle is intended to drive in reverse, otherwise 0.",
        cell: |vehicle, _| {
            let engaged = vehicle.is_reversing.map(|is| u8::from(is).to_string());
            engaged.unwrap_or_default()
        },
    },
];

/// Formats a number with the given number of decimal places. Returns an empty string for `None`.
fn number(value: Option<f64>, digits: usize) -> String {
    value.map_or(String::new(), |value| format!("{value:.digits$}"))
}

/// Titles of the columns of a trace.
pub fn trace_columns() -> [&'static str; CHANNELS.len()] {
    CHANNELS.each_ref().map(|channel| channel.name)
}

impl VehicleRecord {
    /// Returns the trace row of this vehicle. `time` is in s.
    pub fn trace_row(&self, time: f64) -> [String; CHANNELS.len()] {
        CHANNELS
            .each_ref()
            .map(|channel| (channel.cell)(self, time))
    }
}

/// A rate at which a run cannot be recorded.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UnusableRate {
    rate_hz: f64,
    dt: f64,
}

impl fmt::Display for UnusableRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rate_hz, dt } = self;
        write!(
            f,
            "cannot record {rate_hz} rows a second: with a time step of {dt} s, the rate must be \
             above 0 and at most {:.6}",
            1.0 / dt
        )
    }
}

impl std::error::Error for UnusableRate {}

/// Schedule of the rows of a trace: one before the first step, and then one in the first step at or
/// after the end of each period.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TraceRate {
    rate_hz: f64,
    dt: f64,
}

impl TraceRate {
    /// Default number of rows per second.
    pub const DEFAULT_HZ: f64 = 10.0;

    /// Returns the schedule for a rate in Hz, in a world with steps of `dt` seconds.
    ///
    /// # Errors
    /// If the rate is 0, negative, or higher than 1 / dt.
    pub fn new(rate_hz: f64, dt: f64) -> Result<Self, UnusableRate> {
        // 50 Hz fits steps of 0.02 s, although 50 * 0.02 may be rounded up.
        let fits = rate_hz > 0.0 && rate_hz * dt <= 1.0 + 1e-9;
        fits.then_some(Self { rate_hz, dt })
            .ok_or(UnusableRate { rate_hz, dt })
    }

    /// Returns the schedule for the default rate. If a step is longer than the period of this rate,
    /// every step is recorded.
    pub fn default_of(dt: f64) -> Self {
        Self {
            rate_hz: Self::DEFAULT_HZ,
            dt,
        }
    }

    /// Whether a row is due after `steps` steps.
    pub fn is_due(&self, steps: u64) -> bool {
        // Counted from the start and not from the previous row: with dt = 0.03 s, rows are at 0.12, 0.21 and
        // 0.30 s and do not drift. The small addend compensates for 0.3 / 0.1 = 2.9999999999999996.
        let periods = |steps: u64| (steps as f64 * self.dt * self.rate_hz + 1e-9).floor();
        steps == 0 || periods(steps) > periods(steps - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_earlier_versions_come_first_and_have_unique_names() {
        let columns = trace_columns();
        let before = [
            "time_s",
            "agent",
            "x_m",
            "y_m",
            "heading_rad",
            "speed_mps",
            "acceleration_mps2",
            "steering_rad",
            "road",
            "lane",
            "s_m",
            "t_m",
        ];
        assert_eq!(columns[..before.len()], before);
        let mut sorted = columns.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted.len(), columns.len());
    }

    #[test]
    fn missing_values_are_empty_cells() {
        let row = VehicleRecord::default().trace_row(0.0);
        assert!(row[12..].iter().all(String::is_empty), "{row:?}");
        let skidding = VehicleRecord {
            sideways: Some(-1.25),
            yaw_rate: Some(0.5),
            steering_command: Some(-0.1),
            is_reversing: Some(true),
            ..VehicleRecord::default()
        };
        let row = skidding.trace_row(0.0);
        assert_eq!(row[12..], ["-1.2500", "0.50000", "", "", "-0.10000", "1"]);
    }

    #[test]
    fn the_page_about_results_lists_all_channels() {
        let page = include_str!("../../../docs/results.md");
        for channel in &CHANNELS {
            let Channel {
                name,
                unit,
                point,
                levels,
                meaning,
                ..
            } = channel;
            let having = DynamicsLevel::ALL.into_iter();
            let having = having.filter(|level| levels.contain(*level));
            let levels = match levels {
                ChannelLevels::All => "all".to_owned(),
                ChannelLevels::Steered => "all but `lane`".to_owned(),
                ChannelLevels::Slipping => having
                    .map(|level| format!("`{level}`"))
                    .collect::<Vec<_>>()
                    .join(", "),
            };
            let row = format!(
                "| `{name}` | {unit} | {} | {levels} | {meaning} |",
                point.name()
            );
            let row = row.replace("|  |", "| |");
            assert!(page.contains(&row), "{row}");
        }
    }

    #[test]
    fn rates_have_bounds() {
        for rate in [0.0, -1.0, f64::NAN, f64::INFINITY, 50.1] {
            assert!(TraceRate::new(rate, 0.02).is_err(), "{rate}");
        }
        for (rate, dt) in [
            (50.0, 0.02),
            (30.0, 1.0 / 30.0),
            (100.0, 0.01),
            (1e-3, 0.02),
        ] {
            assert!(TraceRate::new(rate, dt).is_ok(), "{rate} {dt}");
        }
        let words = TraceRate::new(60.0, 0.02).unwrap_err().to_string();
        assert!(
            words.contains("60 rows") && words.contains("at most 50"),
            "{words}"
        );
    }

    #[test]
    fn rows_do_not_drift() {
        let due = |rate: f64, dt: f64, steps: u64| {
            let rate = TraceRate::new(rate, dt).unwrap();
            (0..steps)
                .filter(|&step| rate.is_due(step))
                .collect::<Vec<_>>()
        };
        assert_eq!(due(10.0, 0.03, 11), [0, 4, 7, 10]);
        assert_eq!(due(25.0, 0.02, 9), [0, 2, 4, 6, 8]);
        assert_eq!(due(50.0, 0.02, 4), [0, 1, 2, 3]);
        // In a million steps, there are as many rows as periods.
        assert_eq!(due(25.0, 0.01, 1_000_001).len(), 250_001);
    }
}
