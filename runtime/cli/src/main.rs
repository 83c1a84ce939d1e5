//! The program `roadwright`.

mod agent_times;
mod arguments;
mod commands;
mod extensions;
mod outputs;
mod progress;
mod supervisor;
mod terminal;
mod watchdog;
mod worker;

use arguments::{Arguments, Verb};
use clap::Parser;
use std::process::ExitCode;

/// Allocator of the program. Each step reads data scattered over some hundred MB. With pages of 4
/// KiB, translating addresses takes as long as reading the data. Therefore this allocator requests
/// pages of 2 MiB where they are available. The system's allocator does so only if an environment
/// variable is set.
#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Outcome of a command that ran.
enum Outcome {
    /// The command finished and found no problem.
    Fine,
    /// The command finished and found a problem.
    Findings,
}

impl Outcome {
    /// Returns the outcome of a finished command: success, or a problem that it found.
    fn of(is_fine: bool) -> Self {
        if is_fine { Self::Fine } else { Self::Findings }
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if let Some(place) = &arguments.worker {
        worker::begin(place);
    }
    let outcome = match arguments.verb {
        None => commands::edit_or_run(),
        Some(Verb::Edit { file }) => commands::edit(file),
        Some(Verb::Run(run)) => commands::run(&run),
        Some(Verb::Check(check)) => commands::check(&check),
        Some(Verb::Junction(junction)) => commands::junction(&junction),
        Some(Verb::Bench { verb }) => commands::bench(&verb),
        Some(Verb::Train(train)) => commands::train(&train),
        Some(Verb::Compare(compare)) => commands::compare(&compare),
        Some(Verb::Plan(arguments)) => commands::plan(&arguments),
        Some(Verb::Import(import)) => commands::import(&import),
        Some(Verb::Pack(pack)) => commands::pack(&pack),
        Some(Verb::Unpack(unpack)) => commands::unpack(&unpack),
        Some(Verb::Render(render)) => commands::render(&render),
        Some(Verb::Controller(controller)) => commands::controller(&controller),
        Some(Verb::Vehicle { verb }) => commands::vehicle(&verb),
        Some(Verb::Moves { verb }) => commands::moves(&verb),
        Some(Verb::Generate { verb }) => commands::generate(&verb),
        Some(Verb::Plugin { verb }) => commands::plugin(&verb),
        Some(Verb::Script { verb }) => commands::script(&verb),
        Some(Verb::PluginHost { arguments }) => {
            return ExitCode::from(commands::plugin_host(&arguments) as u8);
        }
        Some(Verb::Completions { shell }) => commands::completions(shell),
    };
    let code = exit_code(outcome);
    // Whatever the outcome, part of the work was not done if a signal stopped it.
    worker::finish(progress::exit_code().unwrap_or(code))
}

/// Returns the exit code for an outcome. Prints the error if there is one, except a closed pipe.
fn exit_code(outcome: anyhow::Result<Outcome>) -> u8 {
    match outcome {
        Ok(Outcome::Fine) => 0,
        Ok(Outcome::Findings) => 1,
        Err(error) if is_closed_pipe(&error) => 0,
        Err(error) => {
            terminal::say!("error: {error:#}");
            // 1 is reserved for commands that finished and found a problem.
            2
        }
    }
}

/// Whether the error is a closed pipe, as in `roadwright ... | head`, which does not count as an error.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let io = cause.downcast_ref::<std::io::Error>();
        io.is_some_and(|io| io.kind() == std::io::ErrorKind::BrokenPipe)
    })
}
