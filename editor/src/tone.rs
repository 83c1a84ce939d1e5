//! Severity of messages to the user.

/// Severity of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// Success.
    Done,
    /// The request was refused.
    Refused,
    /// An error.
    Failed,
}
