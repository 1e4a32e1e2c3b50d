//! The error for stored data that breaks the rules.

/// An event does not fit the state it is applied to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the books are damaged: {0}")]
pub struct Corrupt(pub &'static str);
