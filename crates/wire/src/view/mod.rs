//! What callers see of products, wallets, ledgers, holds and orders: records of [`api_types`] made of what the domain has.

mod event;
mod found;
mod instant;
mod ledger;
mod limit;
mod order;
mod product;
mod rate_card;
mod spending;
mod top_up;
mod wallet;
mod word;

pub use api_types::{
    CodeWallet, Deducted, DrawnHold, ExternalWallet, FrozenWallet, Hold, Holdings, Instant,
    OpenInvoice, Order, PlacedHold, Price, Product, Subscription,
    event::{Event, Message},
};
pub use event::{Events, event};
pub use found::{ListedOrders, ListedWallet, SearchResult, Wallets};
pub use instant::{Day, instant};
pub use ledger::Ledger;
pub use limit::{limit, limit_state};
pub use order::{Orders, PublicOrder, full_order, order};
pub use product::{admin_price, admin_product, price, prices_covering, product};
pub use rate_card::rate_card;
pub use spending::{deducted, drawn_hold, hold, placed_hold};
pub use top_up::auto_top_up;
pub use wallet::{Wallet, external_wallet, frozen_wallet, holdings, open_invoice, subscription};
pub use word::word;
