//! Statistics with error bars: means with confidence intervals, differences, and confidence sequences, which
//! remain valid under monitoring.
//!
//! Methods and their conditions:
//!
//! | method | estimates | valid |
//! | --- | --- | --- |
//! | [`student_t`] | a mean | if the number of values is fixed in advance and values are about normal or many |
//! | [`wilson`] | a fraction of trials | if the number of trials is fixed in advance |
//! | [`Bootstrap::percentile`], [`Bootstrap::bca`] | any statistic | if the number of values is fixed in advance; many values |
//! | [`AsymptoticSequence`] | a mean | at every number of values that is not below the planned one, monitored or not; many values |
//! | [`BettingSequence`] | a mean of values in 0 to 1 | at every number of values, monitored or not |
//!
//! All methods give bit-identical results on every machine.

mod accumulated;
mod bootstrap;
mod compare;
mod distributions;
mod intervals;
mod moments;
mod sequences;

pub use accumulated::{Accumulated, accumulate, separation};
pub use bootstrap::Bootstrap;
pub use compare::{Paired, holm, paired};
pub use distributions::{normal_cdf, normal_quantile, student_t_cdf, student_t_quantile};
pub use intervals::{Interval, Method, student_t, wilson};
pub use moments::{Moments, five_numbers, interquartile_mean};
pub use sequences::{AsymptoticSequence, BettingSequence};

#[cfg(test)]
mod coverage;
