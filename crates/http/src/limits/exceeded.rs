//! The refusal for a caller who is over a limit.

/// A refusal by a limit, with the figures for its headers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LimitExceeded {
    /// How many the limit allows.
    pub limit: u32,
    /// Whole seconds until it allows one more, at least 1.
    pub retry_after_seconds: u32,
    /// Whole seconds until it allows all of them again.
    pub reset_seconds: u32,
}
