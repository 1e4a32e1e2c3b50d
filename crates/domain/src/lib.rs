//! Scrip's rules, pure: what a wallet is, which commands it takes, what each one changes or why it is refused. Nothing
//! here reads a clock, draws a random number or touches a disk; time, identifiers and earlier records are passed in.
//!
//! A command is decided by a plain function over a borrowed [`wallet::Wallet`]; the state changes
//! only in [`wallet::Wallet::apply`], so that replaying the events gives the same wallet.

pub mod amount;
pub mod catalog;
pub mod code;
pub mod history;
pub mod id;
pub(crate) mod ledger;
pub mod limit;
pub mod metadata;
pub mod money;
pub mod project_event;
pub mod rate_card;
pub mod rejection;
pub mod session;
pub mod terms;
pub mod text;
pub mod time;
pub mod top_up;
pub mod wallet;

pub use amount::{Amount, MAX_CREDITS, Quantity};
pub use rejection::Rejection;
pub use time::Timestamp;
