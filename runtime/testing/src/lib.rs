//! Code shared by the tests of several crates. This crate is only a dev-dependency.
//!
//! Soak tests and tests with random cases run at a tenth of their length and with a fixed seed, so that the
//! whole suite takes little time. `.ci/nightly` runs them at full length (`ROADWRIGHT_SLOW=1`) with a random
//! seed that it prints (`ROADWRIGHT_SEED`).
//!
//! ```
//! // Both variables are unset in a usual run.
//! # if std::env::var_os("ROADWRIGHT_SLOW").is_none() {
//! assert_eq!(roadwright_testing::scaled(500), 50);
//! assert_eq!(roadwright_testing::scaled(7), 1);
//! # }
//! ```

mod city;
mod near_crossings;
mod split_roundabout;

pub use city::{CITY_RESTRICTIONS, CITY_SIGNALS, city};
pub use near_crossings::near_crossings;
pub use split_roundabout::{RingArm, SplitRoundabout, ring, small_ring};

use std::path::PathBuf;

/// Variable that makes soak tests and random tests run at full length if it has any value except `0`.
pub const SLOW: &str = "ROADWRIGHT_SLOW";
/// Variable with the seed of random tests, a whole number. If it is not set, each test has a fixed seed.
pub const SEED: &str = "ROADWRIGHT_SEED";
/// Variable with the folder of real data, such as extracts of OpenStreetMap in its subfolder `osm`.
pub const TEST_DATA: &str = "ROADWRIGHT_TEST_DATA";

/// Divisor by which long tests are shortened in an ordinary run.
const SHARE: u64 = 10;

/// Whether long tests run at full length.
#[must_use]
pub fn is_slow() -> bool {
    std::env::var_os(SLOW).is_some_and(|value| !value.is_empty() && value != "0")
}

/// Returns the number of cases, repetitions or seconds of a long test in this run: `whole`, or a
/// tenth of it (at least one) if long tests are shortened.
#[must_use]
pub fn scaled(whole: u64) -> u64 {
    if is_slow() {
        whole
    } else {
        (whole / SHARE).max(1)
    }
}

/// Returns the seed of a random test: the value of the environment variable if it is set, otherwise
/// `fixed`.
///
/// # Panics
///
/// If the variable is not a whole number.
#[must_use]
pub fn seed(fixed: u64) -> u64 {
    match std::env::var(SEED) {
        Ok(text) => match text.parse() {
            Ok(seed) => seed,
            Err(error) => panic!("{SEED} is {text:?}, which is not a valid seed: {error}"),
        },
        Err(_) => fixed,
    }
}

/// Returns the path of a file of real data in the folder named by the environment variable. Used by
/// tests marked `#[ignore = "set ROADWRIGHT_TEST_DATA"]`.
///
/// # Panics
///
/// If the variable is not set, or the file does not exist.
#[must_use]
pub fn data(file: &str) -> PathBuf {
    let Some(folder) = std::env::var_os(TEST_DATA) else {
        panic!("set {TEST_DATA} to the folder with {file}")
    };
    let path = PathBuf::from(folder).join(file);
    assert!(
        path.exists(),
        "{} is missing; {TEST_DATA} names its folder",
        path.display()
    );
    path
}

/// Returns the path of an example plugin's library. `name` is the name of its crate with
/// underscores.
///
/// The plugin is a dev-dependency of the test's crate, so cargo builds the library together with
/// the test and puts it next to the test program.
///
/// # Panics
///
/// If the library does not exist.
#[must_use]
pub fn plugin_library(name: &str) -> PathBuf {
    use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
    let mut path = std::env::current_exe().unwrap_or_default();
    path.set_file_name(format!("{DLL_PREFIX}{name}{DLL_SUFFIX}"));
    assert!(
        path.exists(),
        "{} is missing: add the plugin to the dev-dependencies of the test",
        path.display()
    );
    path
}
