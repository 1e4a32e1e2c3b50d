//! The result of verifying a data directory.

use domain::catalog::Document;

use crate::{contract::StoredNote, error::Error};

/// The result of verifying a data directory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields say what they are")]
pub struct VerifyReport {
    pub wallets: u64,
    /// Where the log is in a database, which is not read: how far the books have it.
    pub log_elsewhere: Option<AppliedUpTo>,
    pub records: u64,
    /// Frames of the log that are not applied.
    pub frames: u64,
    pub pending_events: u64,
    pub index_keys: u64,
    /// Orders of wallets with nothing pending.
    pub orders: u64,
    /// The catalog, applied or not; `None`: it cannot be read. Its rules are not checked here.
    pub documents: Option<Vec<Document>>,
    /// Notes, applied or not; `None`: they cannot be read. Their contents are not checked here.
    pub notes: Option<Vec<StoredNote>>,
    /// Bytes that the data directory takes on the disk.
    pub disk_bytes: u64,
    pub project_events: u64,
    /// Keys and values of ledgers and wallets, without the index of old keys.
    pub ledger_bytes: u64,
    pub project_event_bytes: u64,
    /// Bytes of keys and values of usage.
    pub usage_bytes: u64,
    /// What is wrong, a plain sentence each; empty: nothing.
    pub problems: Vec<String>,
}

/// How far books have a log that is not read with them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AppliedUpTo {
    /// The last frame in them.
    pub lsn: u64,
    /// A checkpoint of the frames behind it may have been interrupted: then usage and look-ups cannot be compared with the
    /// ledgers, which the next start evens out.
    pub may_be_interrupted: bool,
}

impl VerifyReport {
    pub(super) fn problem(&mut self, error: &Error) {
        self.problems.push(error.to_string());
    }
}
