//! Severity of messages to the user.

/// Severity of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// The request succeeded.
    Done,
    /// The request was refused.
    Refused,
    /// An error occurred.
    Failed,
}
