//! Storage: the log that every change goes through, and the books that are folded from it. The only
//! crate that names sled; `codec.rs` is the only file that names bincode.

pub mod backup;
mod checkpoint;
mod codec;
mod commit;
pub mod contract;
mod database;
mod fold;
mod format;
mod frame;
#[cfg(test)]
mod golden_tests;
mod guard;
mod index;
pub mod latency;
mod lock;
mod log_event;
pub mod lookups;
pub mod memory;
mod options;
mod progress;
mod project_events;
mod queue;
mod recovery;
mod retention;
mod rounds;
mod shared;
mod space;
mod store;
pub mod usage;
pub mod verify;
mod watermark;

pub use contract::{
    AppendRefusal, Awake, Backlog, Books, Error, History, LoadedWallet, Log, OnOutcome, Outcome,
    Store, StoredNote, Ticket,
};
pub use fold::Reader;
pub use format::entry::Entry;
pub use format::record_bytes;
pub use lock::is_in_use;
pub use log_event::{Append, LogEvent, Note};
pub use lookups::{Called, OrderPosition, PeriodEnd};
pub use memory::MemoryJournal;
pub use options::{Completions, Faults, OnFatal, Options, Step};
pub use project_events::{EventNumber, OnEvents};
pub use store::SledJournal;
pub use verify::verify;

/// Checks that writes of this process can be made to survive a power cut. Denies the process `sync_file_range` for
/// good, as opening a store does.
///
/// # Errors
///
/// [`Error::Unusable`] when they cannot; says what to do.
pub fn check_syncs() -> Result<(), Error> {
    guard::install()
}
