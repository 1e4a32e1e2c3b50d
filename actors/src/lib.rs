//! One actor per awake wallet over the journal, loaded on demand and evicted when idle. The outside sees one cloneable
//! [`Handle`], never a channel.
//!
//! No answer leaves before the state that it reveals is durable.

pub mod answer;
pub mod clock;
mod completions;
mod detached;
mod executor;
mod gate;
mod handle;
mod keyring;
pub mod notes;
mod options;
mod registry;
mod server_keys;
mod shares;
mod supervisor;
mod uniform_hasher;
mod wallet;
mod watches;

pub use answer::{
    Balance, ChargeAnswer, CommandResult, Error, ForgiveAnswer, HoldAnswer, LedgerLine, LedgerPage,
    LedgerQuery, LedgerSum, LedgerSums, ListedWallet, OrderAnswer, OrderPage, ReversalAnswer,
    ReversibleDeduction, Rotation, SearchResult, WalletListPage, WalletListPlace, WalletView,
};
pub use completions::{Sink, completions};
pub use detached::detached;
pub use handle::{
    Address, BatchAnswer, BoughtCode, EventRecord, Handle, HoldAccess, Scope, Stats, UsagePeriod,
    event_number,
};
pub use keyring::{Cipher, Keyring, SESSION_PREFIX, ledger_id};
pub use options::Options;
pub use persistence::{
    CurrencyTotals, OrderFilter, OrderState, OrderTotals, TopUpList, WalletOrder,
};
pub use server_keys::ServerKeys;
pub use shares::{HeldPlaces, Shares};
pub use uniform_hasher::UniformHasher;
pub use wallet::{
    AccountDetail, Charge, DoubledWallet, FeatureSource, MailContact, OpenAttempt,
    SubscriptionDetail, TopUpDetail, WalletDetail, WatchedView,
};
pub use watches::{MAX_WATCHERS_PER_WALLET, NotWatched, WalletWatcher};
