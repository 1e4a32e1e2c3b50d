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
mod limits;
mod orders;
mod pages;
mod rate_cards;
mod retry;
mod reversals;
mod sessions;
mod top_ups;
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
    limits::NewLimit,
    orders::{Cancel, NamedSubscription, NewCheckout, Refund},
    pages::Pages,
    rate_cards::Metered,
    reversals::ReverseDeduction,
    sessions::NewSession,
    top_ups::NewAutoTopUp,
    wallet_view::WalletView,
    wallets::{LedgerFilter, Wallet},
};
pub use api_types::{
    AutoTopUp, Balance, Bucket, Checkout, Consent, Credited, DebtState, Deducted, DrawnHold,
    ErrorBody, Estimate, EstimateLine, FeatureUse, Forgiven, FreeGrant, FrozenWallet, Hold,
    Holdings, Identity, Instant, LedgerEntry, Limit, LimitState, NextExpiry, OpenInvoice, Order,
    OwnSession, Payment, PaymentMethod, PlacedHold, Price, PriceTier, Product, Rate, RateCard,
    RatedUse, Reversed, Session, Subscription, UsageGroup,
    event::{
        BalanceData, CreditedData, DebtData, Dispute, DisputeData, Event, EventData, FeaturesData,
        LimitData, OrderData, SubscriptionData, TopUpActionData, TopUpData, TopUpFailedData,
        TopUpSuspendedData, WalletData,
    },
};
