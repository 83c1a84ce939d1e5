//! All output of the program goes through this module, for two reasons.
//!
//! Names and texts come from untrusted files: scenarios, scripts, plugins, maps. A terminal obeys the control
//! characters in them: `ESC ] 0 ;` sets its title, and other sequences overwrite text on the screen. Control
//! characters are therefore written as JSON escapes, such as `\u001b`. Documents remain valid, because JSON
//! allows these escapes in any string and has no control characters outside of strings.
//!
//! A device can be full and a terminal can be closed. `eprintln!` would panic, but a message that cannot be
//! written must not end a run.

use std::borrow::Cow;
use std::fmt;
use std::io::{Result, StdoutLock, Write};

/// Writes a line to standard error, as `eprintln!` does; see [`say_line`].
macro_rules! say {
    ($($words:tt)*) => {
        $crate::terminal::say_line(format_args!($($words)*))
    };
}
pub(crate) use say;

/// Writes a line to standard error in a single call, so that lines of several threads do not mix. Errors are
/// ignored, because they could not be reported anywhere.
pub(crate) fn say_line(words: fmt::Arguments<'_>) {
    let line = format!("{words}\n");
    let _ = std::io::stderr().write_all(visible(&line).as_bytes());
}

/// Returns standard output, with control characters escaped.
pub(crate) fn out() -> Visible<StdoutLock<'static>> {
    Visible(std::io::stdout().lock())
}

/// The original standard output, for use after [`keep_stdout`] has redirected it to standard error.
#[cfg(unix)]
static KEPT: std::sync::OnceLock<std::os::fd::OwnedFd> = std::sync::OnceLock::new();

/// Reserves standard output for a document. From then on, everything else is printed to standard error.
#[cfg(unix)]
pub(crate) fn keep_stdout() -> Result<Box<dyn Write>> {
    use std::os::fd::AsFd;
    // The file descriptor is redirected, because a plugin prints with the C library and not with Rust's
    // writers.
    let kept = std::io::stdout().as_fd().try_clone_to_owned()?;
    rustix::stdio::dup2_stdout(std::io::stderr())?;
    let out = std::fs::File::from(kept.try_clone()?);
    let _ = KEPT.set(kept);
    Ok(Box::new(Visible(out)))
}

#[cfg(not(unix))]
pub(crate) fn keep_stdout() -> Result<Box<dyn Write>> {
    Ok(Box::new(out()))
}

/// Returns a copy of the standard output that [`keep_stdout`] has reserved.
#[cfg(unix)]
pub(crate) fn kept_stdout() -> Option<std::os::fd::OwnedFd> {
    KEPT.get()?.try_clone().ok()
}

#[cfg(not(unix))]
pub(crate) fn kept_stdout() -> Option<std::process::Stdio> {
    None
}

/// A writer that makes control characters visible. It expects complete characters, as written by `write!` and
/// `serde_json`, and replaces other bytes.
pub(crate) struct Visible<W>(pub(crate) W);

impl<W: Write> Write for Visible<W> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        self.0.write_all(visible(&text).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<()> {
        self.0.flush()
    }
}

/// Returns a string whose control characters are escaped, such as `\u001b`. Line breaks and tabs are kept,
/// because errors of scripts have several lines.
fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_obeyed) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_obeyed(c) {
            shown += &format!("\\u{:04x}", c as u32);
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

/// Whether a terminal obeys a character instead of showing it. This applies to control characters (U+009B has
/// the effect of `ESC [`) and to characters that change the direction of text.
fn is_obeyed(c: char) -> bool {
    let turns = matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    turns || (c.is_control() && c != '\n' && c != '\t')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_obeys_is_shown() {
        assert_eq!(visible("\u{1b}]0;x\u{7}"), "\\u001b]0;x\\u0007");
        assert_eq!(visible("\u{9b}2J\r\u{202e}"), "\\u009b2J\\u000d\\u202e");
        // Line breaks, tabs and the letters of all languages are kept, and the text is not copied.
        let plain = "Straße\t東京\n";
        assert!(matches!(visible(plain), Cow::Borrowed(text) if text == plain));
    }

    #[test]
    fn documents_stay_what_they_are() {
        let name = "a\u{1b}[31m\u{9b}\u{7f}\n";
        let mut bytes = Vec::new();
        serde_json::to_writer(Visible(&mut bytes), name).unwrap();
        assert!(bytes.iter().all(u8::is_ascii_graphic), "{bytes:?}");
        assert_eq!(serde_json::from_slice::<String>(&bytes).unwrap(), name);
    }
}
