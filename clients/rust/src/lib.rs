#![doc = include_str!("../README.md")]

mod call;
mod client;
mod credits;
mod error;
mod events;
mod holds;
mod orders;
mod pages;
mod retry;
mod sessions;
mod types;
mod wallets;
#[cfg(feature = "webhooks")]
mod webhooks;

#[cfg(feature = "webhooks")]
pub use self::webhooks::{Unverified, WebhookVerifier};
pub use self::{
    client::{Builder, Scrip},
    credits::{BatchItem, Credit, Deduct},
    error::{Error, ErrorKind, Refusal},
    events::{Interval, UsageQuery},
    holds::{PlaceHold, Spent},
    orders::{Cancel, NewCheckout, Refund},
    pages::Pages,
    sessions::NewSession,
    types::{
        Balance, Bucket, Checkout, Credited, Deducted, Event, FeatureUse, FreeGrant, Hold,
        Identity, LedgerEntry, NextExpiry, OpenInvoice, Order, OwnSession, Payment, PlacedHold,
        Price, Product, Session, Subscription, WalletView,
    },
    wallets::{LedgerFilter, Wallet},
};
