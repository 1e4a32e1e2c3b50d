//! Where everything is kept: the log that all of it goes through, and the books that are folded from
//! it. The only crate that names sled; `codec.rs` is the only file that names bincode.

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
mod kept;
pub mod latency;
mod lock;
mod logged;
pub mod lookups;
pub mod memory;
mod notices;
mod options;
mod progress;
mod queue;
mod recovery;
mod rounds;
mod shared;
mod space;
mod store;
pub mod usage;
pub mod verify;
mod watermark;

pub use contract::{
    Awake, Backlog, Books, Done, Error, History, KeptNote, Log, Outcome, Refused, Store, Stored,
    Ticket,
};
pub use fold::Reader;
pub use format::entry::Entry;
pub use format::record_bytes;
pub use lock::is_in_use;
pub use logged::{Append, Logged, Note};
pub use lookups::{Called, OrderPlace, PeriodEnd};
pub use memory::MemoryJournal;
pub use notices::{NoticeNumber, OnNotices};
pub use options::{Completions, Faults, OnFatal, Options, Step};
pub use store::SledJournal;
pub use verify::verify;

/// Whether writes of this process can be made to survive a power cut. Takes a call of the kernel away from
/// it for good, as opening a store does.
///
/// # Errors
///
/// [`Error::Unusable`] where they cannot; says what to do.
pub fn check_syncs() -> Result<(), Error> {
    guard::install()
}
