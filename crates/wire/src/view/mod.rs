//! What callers see of products, wallets, ledgers, holds and orders.

mod deducted;
mod event;
mod found;
mod hold;
mod instant;
mod ledger;
mod order;
mod product;
mod wallet;

pub use deducted::Deducted;
pub use event::{Event, Events};
pub use found::{ListedOrders, ListedWallet, SearchResult, Wallets};
pub use hold::{DrawnHold, Hold, PlacedHold};
pub use instant::{Day, Instant};
pub use ledger::Ledger;
pub use order::{Order, Orders};
pub use product::{Price, Product};
pub use wallet::{CodeWallet, ExternalWallet, Holdings, OpenInvoice, Subscription, Wallet};
