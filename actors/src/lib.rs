//! Wallets at work: one actor per awake wallet over the journal, woken on demand and put to sleep
//! when idle. The outside sees one cloneable [`Handle`], never a channel.
//!
//! Nobody is answered before what they are told is durable.

pub mod answer;
pub mod clock;
mod completions;
mod gate;
mod handle;
mod keyring;
mod options;
mod registry;
mod supervisor;
mod turnstile;
mod wallet;

pub use answer::{
    Applied, Balance, Error, HoldAnswer, LedgerLine, LedgerPage, LedgerQuery, OrderAnswer,
    OrderPage, Rotation, Subscription, WalletView,
};
pub use completions::{Sink, completions};
pub use handle::{
    Address, BoughtCode, Clue, Draft, Found, Handle, HoldAccess, NewHold, Paid, Scope, Stats, Told,
    Used, event_number,
};
pub use keyring::{Keyring, Seal, ledger_id};
pub use options::Options;
pub use wallet::{
    Access, Inside, Instructable, InstructionKind, Left, Purse, Refunding, SubscriptionInside,
};
