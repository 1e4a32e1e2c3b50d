#![doc = include_str!("../README.md")]

mod call;
mod client;
mod credits;
mod debts;
mod error;
mod event;
mod events;
mod holds;
mod orders;
mod pages;
mod retry;
mod reversals;
mod sessions;
mod types;
mod wallets;
#[cfg(feature = "webhooks")]
mod webhooks;

#[cfg(feature = "webhooks")]
pub use self::webhooks::{Unverified, WebhookVerifier};
pub use self::{
    client::{Builder, Scrip},
    credits::{BatchItem, Credit, Deduct, OnShortfall},
    debts::Forgive,
    error::{Error, ErrorKind, Refusal},
    event::{
        BalanceData, CreditedData, DebtData, Dispute, DisputeData, Event, EventData, FeaturesData,
        OrderData, SubscriptionData, WalletData,
    },
    events::{Interval, UsageQuery},
    holds::{Draw, PlaceHold, Settle, Spent},
    orders::{Cancel, NamedSubscription, NewCheckout, Refund},
    pages::Pages,
    reversals::ReverseDeduction,
    sessions::NewSession,
    types::{
        Balance, Bucket, Checkout, Credited, DebtState, Deducted, DrawnHold, FeatureUse, Forgiven,
        FreeGrant, FrozenWallet, Hold, Identity, LedgerEntry, NextExpiry, OpenInvoice, Order,
        OwnSession, Payment, PlacedHold, Price, Product, Reversed, Session, Subscription,
        WalletView,
    },
    wallets::{LedgerFilter, Wallet},
};
