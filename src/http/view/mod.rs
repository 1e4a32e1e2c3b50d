//! What callers see of products, wallets, ledgers, holds and orders.

mod deducted;
mod event;
mod hold;
mod instant;
mod ledger;
mod order;
mod product;
mod wallet;

pub(crate) use deducted::Deducted;
pub(crate) use event::{Event, Events};
pub(crate) use hold::{Hold, PlacedHold};
pub(crate) use instant::Instant;
pub(crate) use ledger::Ledger;
pub(crate) use order::{Order, Orders};
pub(crate) use product::{Price, Product};
pub(crate) use wallet::{CodeWallet, ExternalWallet, Holdings, Subscription, Wallet, Wallets};
