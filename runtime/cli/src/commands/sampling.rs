//! Verification by sample: runs part of a file again, and states what could be hidden in the rest.

use crate::progress;
use anyhow::bail;
use clap::Args;
use roadwright_training::experiment::{draw, enough_rows, escape_chance, tenth};
use serde::Serialize;
use std::io::Write;

/// Time budget for verification, s. A file that takes longer is verified by a sample.
const PATIENCE: f64 = 30.0;

/// Options for the size of the sample.
#[derive(Debug, Clone, Args)]
pub(crate) struct SampleFlags {
    /// Run everything again, regardless of how long it takes
    #[arg(long)]
    pub(crate) all: bool,
    /// Repeat the draw of an earlier verification [default: drawn by the system, and printed]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Number of items to run again [default: all if possible within 30 s; otherwise as many as possible in
    /// that time, but enough that a forged tenth is missed with a probability of at most 5 %]
    #[arg(long, value_name = "N", conflicts_with = "all", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) rows: Option<u64>,
}

/// Result of a verification by sample.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Sampling {
    /// Seed of the draw.
    pub(crate) seed: u64,
    /// Number of items run again.
    pub(crate) run_again: usize,
    /// Total number of items.
    pub(crate) of: usize,
    /// Probability that a single forged item is not in the sample, 0 to 1.
    pub(crate) single_escapes: f64,
    /// Probability that the sample misses all forged items if a tenth are forged, 0 to 1.
    pub(crate) tenth_escapes: f64,
    /// Estimated time for running all items again, based on the first items, s.
    #[serde(skip)]
    estimate: f64,
}

/// The items to draw a sample from, and how they are run.
pub(crate) struct Plan {
    /// Number of items.
    pub(crate) count: usize,
    /// Number of concurrent runs.
    pub(crate) at_once: usize,
    /// Whether to hide the progress.
    pub(crate) is_quiet: bool,
}

/// Runs the items with the given indices again. Returns whether to continue.
type RunAgain<'a> = dyn FnMut(&[usize]) -> anyhow::Result<bool> + 'a;

impl Plan {
    /// Draws the sample and runs it. The first items are used to estimate the time for all. Returns the
    /// indices of the items that were run, in ascending order.
    pub(crate) fn work_through(
        &self,
        flags: &SampleFlags,
        run_again: &mut RunAgain<'_>,
    ) -> anyhow::Result<(Sampling, Vec<usize>)> {
        let count = self.count;
        let seed = match flags.seed {
            Some(seed) => seed,
            None => random_seed()?,
        };
        let order = draw(count, seed);
        let asked = flags
            .rows
            .map(|rows| usize::try_from(rows).unwrap_or(count));
        if let Some(asked) = asked.filter(|&asked| asked > count) {
            bail!("--rows {asked}: the file has only {count} rows");
        }
        let mut wanted = if flags.all { Some(count) } else { asked };
        let bar = progress::bar(count as u64, self.is_quiet);
        let begun = progress::now();
        let (mut done, mut estimate) = (0, 0.0);
        while done < wanted.unwrap_or(count) {
            let next = (done + self.at_once.max(1)).min(wanted.unwrap_or(count));
            let goes_on = run_again(&order[done..next])?;
            done = next;
            let seconds = begun.elapsed().as_secs_f64();
            estimate = seconds * count as f64 / done as f64;
            let decided = *wanted.get_or_insert_with(|| {
                if estimate <= PATIENCE {
                    return count;
                }
                let affordable = (PATIENCE / seconds * done as f64) as usize;
                affordable.max(enough_rows(count)).min(count)
            });
            bar.set_length(decided as u64);
            bar.set_position(done as u64);
            if !goes_on {
                break;
            }
        }
        bar.finish_and_clear();
        let mut rows = order[..done].to_vec();
        rows.sort_unstable();
        let sampling = Sampling {
            seed,
            run_again: done,
            of: count,
            single_escapes: escape_chance(count, 1, done),
            tenth_escapes: escape_chance(count, tenth(count), done),
            estimate,
        };
        Ok((sampling, rows))
    }
}

impl Sampling {
    /// Prints how many items were run again, why no more of them were run, and what could be hidden
    /// in the rest.
    ///
    /// `things` is the name of the items, such as "rows".
    pub(crate) fn print(
        &self,
        out: &mut dyn Write,
        what: &str,
        things: &str,
    ) -> std::io::Result<()> {
        let Self {
            seed,
            run_again,
            of,
            single_escapes,
            tenth_escapes,
            estimate,
        } = self;
        writeln!(out, "{what}: {run_again} of {of} {things} repeated")?;
        if run_again == of {
            return Ok(());
        }
        writeln!(
            out,
            "drawn with --seed {seed} --rows {run_again}; all would take about {estimate:.0} s (--all runs them)"
        )?;
        writeln!(
            out,
            "probability that a single forged item escapes detection: {}; that none is detected if a tenth \
             are forged: {}",
            percent(*single_escapes),
            percent(*tenth_escapes)
        )
    }
}

/// Formats a probability in percent. Small probabilities are written as powers of ten.
fn percent(chance: f64) -> String {
    let percent = 100.0 * chance;
    if chance == 0.0 || percent >= 0.1 {
        format!("{percent:.1} %")
    } else {
        format!("{percent:.1e} %")
    }
}

/// Returns a seed from the system's random source, which a forger cannot predict.
fn random_seed() -> anyhow::Result<u64> {
    let seed = getrandom::u32().map_err(|error| {
        anyhow::anyhow!("the system provides no random numbers ({error}); use --seed")
    })?;
    Ok(u64::from(seed))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flags(seed: Option<u64>, rows: Option<u64>) -> SampleFlags {
        SampleFlags {
            all: false,
            seed,
            rows,
        }
    }

    fn plan(count: usize) -> Plan {
        Plan {
            count,
            at_once: 2,
            is_quiet: true,
        }
    }

    #[test]
    fn what_takes_no_time_is_run_whole_and_a_draw_is_repeated() {
        let mut seen = Vec::new();
        let all = plan(30).work_through(&flags(None, None), &mut |rows| {
            seen.extend_from_slice(rows);
            Ok(true)
        });
        let (sampling, rows) = all.unwrap();
        assert_eq!(rows, (0..30).collect::<Vec<_>>());
        assert_eq!((sampling.run_again, sampling.single_escapes), (30, 0.0));
        seen.sort_unstable();
        assert_eq!(seen, rows, "each once");
        let some = |seed| {
            let flags = flags(Some(seed), Some(7));
            plan(30).work_through(&flags, &mut |_| Ok(true)).unwrap()
        };
        assert_eq!(some(5).1, some(5).1);
        assert_ne!(some(5).1, some(6).1);
        assert_eq!((some(5).1.len(), some(5).0.seed), (7, 5));
        let error = plan(3).work_through(&flags(None, Some(4)), &mut |_| Ok(true));
        assert!(
            error
                .unwrap_err()
                .to_string()
                .contains("the file has only 3")
        );
    }

    #[test]
    fn what_takes_long_is_sampled_and_says_what_may_escape() {
        // 20 ms a row: 3,000 of them would take a minute.
        let mut ran = 0;
        let sampled = plan(3000).work_through(&flags(Some(1), None), &mut |rows| {
            // Only the first item is slow, so that the test need not wait for the others.
            if ran == 0 {
                std::thread::sleep(std::time::Duration::from_millis(40));
            }
            ran += rows.len();
            Ok(true)
        });
        let (sampling, rows) = sampled.unwrap();
        assert_eq!((rows.len(), ran), (sampling.run_again, sampling.run_again));
        assert!((28..3000).contains(&rows.len()), "{}", rows.len());
        assert!(sampling.single_escapes > 0.0 && sampling.tenth_escapes <= 0.05);
        let mut text = Vec::new();
        sampling.print(&mut text, "x", "rows").unwrap();
        let text = String::from_utf8(text).unwrap();
        for expected in [
            "--seed 1",
            "a single forged item escapes detection: ",
            "if a tenth are forged",
        ] {
            assert!(text.contains(expected), "{text}");
        }
    }
}
