//! What the rest of Scrip may rely on, of any log and any books. Nothing here assumes
//! that the log is local: an append may be durable, refused or of unknown outcome, and only that.
//!
//! The **log** is one order of appends. The **books** are state applied from it: wallets with their
//! histories, the catalog, notes, look-ups.

mod backup;
mod books;
pub(crate) mod event_number;
pub mod latency;
mod log;
mod order_queries;
mod order_totals;
mod queries;

use std::sync::Arc;

pub use backup::{BackUp, BackupSummary, BesideFile, OnProgress, SnapshotOrder, TransferProgress};
pub use books::{Awake, Books, History, LoadedWallet, StoredNote};
pub use event_number::{EventNumber, OnEvents};
pub use log::{Backlog, Log, OnOutcome};
pub use order_queries::{OrderFilter, OrderState};
pub use order_totals::{BestSellers, CurrencyTotals, OrderTotals, Takings};
pub use queries::{PeriodEnd, WalletName, WalletOrder, WalletPlace};

/// The log and the books of one data directory.
#[derive(Clone)]
pub struct Store {
    /// The log that every change goes through.
    pub log: Arc<dyn Log>,
    /// The state that is applied from the log.
    pub books: Arc<dyn Books>,
}

impl Store {
    /// A store whose log and books are one object.
    pub fn of<T: Log + Books>(both: Arc<T>) -> Self {
        Self {
            log: Arc::clone(&both) as Arc<dyn Log>,
            books: both,
        }
    }
}
