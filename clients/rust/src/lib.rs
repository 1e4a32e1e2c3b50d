#![doc = include_str!("../README.md")]

mod batches;
mod call;
mod client;
mod credits;
mod debts;
mod error;
mod events;
mod gather;
mod holds;
mod orders;
mod pages;
mod retry;
mod reversals;
mod sessions;
mod wallet_view;
mod wallets;
#[cfg(feature = "webhooks")]
mod webhooks;

#[cfg(feature = "webhooks")]
pub use self::webhooks::{Unverified, WebhookVerifier};
pub use self::{
    batches::{Charge, Charged},
    client::{Builder, Scrip},
    credits::{BatchItem, Credit, Deduct, OnShortfall},
    debts::Forgive,
    error::{Error, ErrorKind},
    events::{Interval, UsageQuery},
    holds::{Draw, PlaceHold, Settle, Spent},
    orders::{Cancel, NamedSubscription, NewCheckout, Refund},
    pages::Pages,
    reversals::ReverseDeduction,
    sessions::NewSession,
    wallet_view::WalletView,
    wallets::{LedgerFilter, Wallet},
};
pub use api_types::{
    Balance, Bucket, Checkout, Credited, DebtState, Deducted, DrawnHold, ErrorBody, FeatureUse,
    Forgiven, FreeGrant, FrozenWallet, Hold, Holdings, Identity, Instant, LedgerEntry, NextExpiry,
    OpenInvoice, Order, OwnSession, Payment, PlacedHold, Price, Product, Reversed, Session,
    Subscription,
    event::{
        BalanceData, CreditedData, DebtData, Dispute, DisputeData, Event, EventData, FeaturesData,
        OrderData, SubscriptionData, WalletData,
    },
};
