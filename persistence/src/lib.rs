//! Storage: the log that every change goes through, and the books that are applied from it. The only
//! crate that names sled; `format/codec.rs` is the only file that names bincode.

pub mod backup;
mod books;
pub mod contract;
mod error;
mod faults;
pub mod files;
mod format;
pub mod frames;
#[cfg(test)]
#[path = "tests/golden/mod.rs"]
mod golden_tests;
mod index;
mod journal;
mod log;
pub mod lookups;
mod membership;
#[cfg(feature = "test-util")]
#[path = "tests/memory/mod.rs"]
mod memory;
mod options;
pub mod private_file;
mod sled_error;
mod tuning;
pub mod usage;

pub use books::{
    Reader,
    verify::{self, verify},
};
pub use contract::{
    Awake, Backlog, BestSellers, Books, CurrencyTotals, EventNumber, History, LoadedWallet, Log,
    OnEvents, OnOutcome, OrderFilter, OrderState, OrderTotals, PeriodEnd, Store, StoredNote,
    Takings, WalletName, WalletOrder, WalletPlace, latency,
};
pub use error::{AppendRefusal, Error, Outcome, Ticket};
#[cfg(feature = "test-util")]
pub use faults::InjectFault;
pub use faults::{Faults, Step};
pub use format::{
    append::{Append, EntryBuilder, LogEvent, Note},
    entry::Entry,
    leadership::{Heartbeat, Resignation, Split, TermStart},
    record_bytes,
};
pub use journal::{DirectoryPosition, SledJournal, went_elsewhere};
pub use log::{
    lock::{Directory, is_in_use},
    rounds::StopSignal,
};
pub use lookups::{
    ListChange, OrderPosition, OrderRow, OrderSummary, ProviderId, TopUpList, case_folded,
};
pub use membership::Membership;
#[cfg(feature = "test-util")]
pub use memory::MemoryJournal;
pub use options::{Completions, OnFatal, Options};

/// Checks that writes of this process can be made to survive a power cut. Denies the process `sync_file_range` for
/// good, as opening a store does.
/// # Errors
/// [`Error::Unusable`] when they cannot; says what to do.
pub fn check_syncs() -> Result<(), Error> {
    log::guard::install()
}
