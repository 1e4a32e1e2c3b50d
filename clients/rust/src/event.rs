//! What happened in a project: each type of event with data of its own.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::types::{Order, Subscription};

/// An event, as the feed and webhooks deliver it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "SentEvent", into = "SentEvent")]
#[non_exhaustive]
pub struct Event {
    /// The event's id, `evt_…`, the same in every delivery. A webhook has it in a header, not in its body.
    pub id: String,
    /// The type as it was sent, such as `order.paid` or `wallet.balance_low`.
    pub kind: String,
    /// When it happened.
    pub timestamp: Timestamp,
    /// When it was recorded: later where a wallet was not touched for long. `None` from an older server.
    pub recorded_at: Option<Timestamp>,
    /// What it says, by its type.
    pub data: EventData,
}

/// What an event says, by its type.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", content = "data")]
#[non_exhaustive]
pub enum EventData {
    /// An order was paid.
    #[serde(rename = "order.paid")]
    OrderPaid(Box<OrderData>),
    /// An order's payment failed.
    #[serde(rename = "order.failed")]
    OrderFailed(Box<OrderData>),
    /// An order was not paid in time.
    #[serde(rename = "order.expired")]
    OrderExpired(Box<OrderData>),
    /// All of an order's money was refunded.
    #[serde(rename = "order.refunded")]
    OrderRefunded(Box<OrderData>),
    /// The buyer's bank opened a dispute or an inquiry.
    #[serde(rename = "order.disputed")]
    OrderDisputed(Box<DisputeData>),
    /// The dispute or inquiry was closed.
    #[serde(rename = "order.dispute_closed")]
    OrderDisputeClosed(Box<DisputeData>),
    /// A subscription began.
    #[serde(rename = "subscription.started")]
    SubscriptionStarted(Box<SubscriptionData>),
    /// A new cycle of a subscription was paid.
    #[serde(rename = "subscription.renewed")]
    SubscriptionRenewed(Box<SubscriptionData>),
    /// A subscription changed otherwise: its tier, or whether it is to end.
    #[serde(rename = "subscription.updated")]
    SubscriptionUpdated(Box<SubscriptionData>),
    /// A subscription's bill waits for the buyer.
    #[serde(rename = "subscription.past_due")]
    SubscriptionPastDue(Box<SubscriptionData>),
    /// A subscription is over.
    #[serde(rename = "subscription.canceled")]
    SubscriptionCanceled(Box<SubscriptionData>),
    /// A wallet was made.
    #[serde(rename = "wallet.created")]
    WalletCreated(WalletData),
    /// Credits came into a wallet.
    #[serde(rename = "wallet.credited")]
    WalletCredited(CreditedData),
    /// What can be spent fell to the product's `lowBalance` or below it.
    #[serde(rename = "wallet.balance_low")]
    WalletBalanceLow(BalanceData),
    /// What can be spent fell to nothing.
    #[serde(rename = "wallet.depleted")]
    WalletDepleted(BalanceData),
    /// A wallet that owed nothing came to owe credits.
    #[serde(rename = "wallet.owing")]
    WalletOwing(DebtData),
    /// A wallet no longer owes anything.
    #[serde(rename = "wallet.repaid")]
    WalletRepaid(DebtData),
    /// A wallet was frozen.
    #[serde(rename = "wallet.frozen")]
    WalletFrozen(WalletData),
    /// A frozen wallet can be used again.
    #[serde(rename = "wallet.thawed")]
    WalletThawed(WalletData),
    /// The features that a wallet unlocks changed.
    #[serde(rename = "features.changed")]
    FeaturesChanged(FeaturesData),
    /// A type that this client does not know, or tells in another way: the data as it was sent. Answer 2xx to it.
    #[serde(skip)]
    Other(Value),
}

/// The data of an order's events.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct OrderData {
    /// The order as it stood then, as a secret key reads it.
    pub order: Order,
}

/// The data of a dispute's events.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DisputeData {
    /// The order as it stood then, as a secret key reads it.
    pub order: Order,
    /// The dispute as it stood then.
    pub dispute: Dispute,
    /// Once it is closed: whether the money is back, or was never taken.
    pub won: Option<bool>,
}

/// A buyer's bank asks for an order's money back, or asks what the payment was for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Dispute {
    /// The disputed amount, in the minor unit of its own currency.
    pub amount_cents: i64,
    /// The currency as in ISO 4217, upper case.
    pub currency: String,
    /// The reason, in the provider's word.
    pub reason: String,
    /// Until when an answer is expected; `None`: none is.
    pub respond_by: Option<Timestamp>,
    /// Whether it is only an inquiry, for which the bank takes nothing.
    pub inquiry: bool,
    /// Once it is closed: whether the money is back, or was never taken.
    pub won: Option<bool>,
}

/// The data of a subscription's events.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SubscriptionData {
    /// The wallet's id, `wal_…`.
    pub wallet_id: String,
    /// Your own user's id, for an external wallet.
    pub external_user_id: Option<String>,
    /// The subscription as it was then.
    pub subscription: Subscription,
}

/// Whose wallet it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct WalletData {
    /// The wallet's id, `wal_…`.
    pub wallet_id: String,
    /// Your own user's id, for an external wallet.
    pub external_user_id: Option<String>,
}

/// Credits that came.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CreditedData {
    /// The wallet's id, `wal_…`.
    pub wallet_id: String,
    /// Your own user's id, for an external wallet.
    pub external_user_id: Option<String>,
    /// The product of the credits.
    pub product_id: String,
    /// Credits that could be spent then.
    pub balance: i64,
    /// Credits that came, those that paid a debt included.
    pub delta: i64,
    /// Why they came: `purchase`, `manual`, `free_grant`, …
    pub reason: String,
    /// The order behind them.
    pub order_id: Option<String>,
}

/// What can be spent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct BalanceData {
    /// The wallet's id, `wal_…`.
    pub wallet_id: String,
    /// Your own user's id, for an external wallet.
    pub external_user_id: Option<String>,
    /// The product of the credits.
    pub product_id: String,
    /// Credits that could be spent then.
    pub balance: i64,
}

/// What is owed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct DebtData {
    /// The wallet's id, `wal_…`.
    pub wallet_id: String,
    /// Your own user's id, for an external wallet.
    pub external_user_id: Option<String>,
    /// The product of the credits.
    pub product_id: String,
    /// Credits that could be spent then.
    pub balance: i64,
    /// Credits that were owed then.
    pub owed: i64,
}

/// What a wallet unlocks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct FeaturesData {
    /// The wallet's id, `wal_…`.
    pub wallet_id: String,
    /// Your own user's id, for an external wallet.
    pub external_user_id: Option<String>,
    /// All features that it unlocks after it; `None` where they are more than 12 KiB.
    pub features: Option<Vec<String>>,
    /// Features that it did not unlock before.
    pub added: Vec<String>,
    /// Features that it does not unlock any more.
    pub removed: Vec<String>,
}

/// An event as it is sent.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct SentEvent {
    #[serde(default)]
    id: String,
    #[serde(rename = "type")]
    kind: String,
    timestamp: Timestamp,
    recorded_at: Option<Timestamp>,
    data: Value,
}

impl From<SentEvent> for Event {
    fn from(sent: SentEvent) -> Self {
        let SentEvent {
            id,
            kind,
            timestamp,
            recorded_at,
            data,
        } = sent;
        let tagged = json!({ "type": kind, "data": data });
        Self {
            id,
            kind,
            timestamp,
            recorded_at,
            data: EventData::deserialize(tagged).unwrap_or(EventData::Other(data)),
        }
    }
}

impl From<Event> for SentEvent {
    fn from(event: Event) -> Self {
        let data = match event.data {
            EventData::Other(data) => data,
            known => {
                // Texts, numbers and lists of them: writing them cannot fail.
                let mut tagged = serde_json::to_value(known).unwrap_or_default();
                tagged.get_mut("data").map(Value::take).unwrap_or_default()
            }
        };
        Self {
            id: event.id,
            kind: event.kind,
            timestamp: event.timestamp,
            recorded_at: event.recorded_at,
            data,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a panic in a test is a failed test")]

    use super::*;

    fn event(kind: &str, data: Value) -> Event {
        let sent = json!({
            "id": "evt_1", "type": kind, "timestamp": "2026-11-18T11:06:40.000Z",
            "recordedAt": "2026-11-18T11:06:40.000Z", "data": data,
        });
        serde_json::from_value(sent).unwrap()
    }

    #[test]
    fn an_event_is_read_by_its_type_and_written_as_it_came() {
        let owing = json!({
            "walletId": "wal_1", "externalUserId": "ann", "productId": "prod_1", "balance": 0,
            "owed": 5,
        });
        let read = event("wallet.owing", owing.clone());
        let EventData::WalletOwing(data) = &read.data else {
            panic!("{read:?}");
        };
        assert_eq!(
            (data.owed, data.external_user_id.as_deref()),
            (5, Some("ann"))
        );
        let written = serde_json::to_value(&read).unwrap();
        assert_eq!(written.get("data"), Some(&owing));
        assert_eq!(serde_json::from_value::<Event>(written).unwrap(), read);
    }

    #[test]
    fn what_a_newer_server_tells_is_kept_as_it_was_sent() {
        let data = json!({ "walletId": "wal_1", "mood": "good" });
        for kind in ["wallet.pleased", "wallet.owing"] {
            let read = event(kind, data.clone());
            assert_eq!(
                (read.kind.as_str(), &read.data),
                (kind, &EventData::Other(data.clone()))
            );
            let written = serde_json::to_value(&read).unwrap();
            assert_eq!(written.get("data"), Some(&data));
        }
    }
}
