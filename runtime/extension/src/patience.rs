//! Waiting for a child process, but not for ever.

use crate::native_now;
use std::io::Read;
use std::process::{Child, Output};
use std::thread::JoinHandle;
use std::time::Duration;

/// How often a child is looked at.
const LOOK: Duration = Duration::from_millis(2);

/// Waits for a child and what it prints; one that takes too long is ended, which its status tells.
///
/// # Errors
/// If the child is lost.
pub(crate) fn wait_for(mut child: Child, patience: Duration) -> std::io::Result<Output> {
    // Read while it runs: a full pipe would hold it up.
    let stdout = child.stdout.take().map(collect);
    let stderr = child.stderr.take().map(collect);
    let began = native_now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if began.elapsed() > patience {
            child.kill()?;
            break child.wait()?;
        }
        std::thread::sleep(LOOK);
    };
    let text = |reader: Option<JoinHandle<Vec<u8>>>| {
        let text = reader.and_then(|reader| reader.join().ok());
        text.unwrap_or_default()
    };
    Ok(Output {
        status,
        stdout: text(stdout),
        stderr: text(stderr),
    })
}

fn collect(mut pipe: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // What was read before an error is what there is.
        let _ = pipe.read_to_end(&mut bytes);
        bytes
    })
}
