//! `roadwright completions`: prints shell completions.

use crate::Outcome;
use crate::arguments::Arguments;
use clap::CommandFactory;

pub(crate) fn completions(shell: clap_complete::Shell) -> anyhow::Result<Outcome> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "roadwright", &mut script);
    std::io::Write::write_all(&mut std::io::stdout().lock(), &script)?;
    Ok(Outcome::Fine)
}
