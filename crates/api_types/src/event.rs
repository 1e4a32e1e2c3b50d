//! What happened in a project: each type of event with data of its own.

use serde::{Deserialize, Serialize, Serializer, ser::SerializeStruct as _};
use serde_json::{Value, json};

use crate::{Instant, LimitState, Order, Subscription};

/// Something that happened. Its content was fixed then: it is the same whenever and however it is read.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "SentEvent")]
#[cfg_attr(feature = "server", derive(utoipa::ToSchema))]
#[cfg_attr(not(feature = "server"), non_exhaustive)]
pub struct Event {
    /// The event's identifier: `evt_…`. It is the same in every delivery; a webhook has it in a header.
    pub id: String,
    /// The type of the event.
    #[cfg_attr(feature = "server", schema(rename = "type", example = "order.paid"))]
    pub kind: String,
    /// When it happened, by the project's clock.
    pub timestamp: Instant,
    /// When it was recorded, by the server's clock: events are in this order, and kept for 30 days from then.
    /// Much later than `timestamp` where a wallet was not touched for long, and its credits expired in that time,
    /// say.
    #[cfg_attr(feature = "server", schema(rename = "recordedAt", value_type = Instant))]
    pub recorded_at: Option<Instant>,
    /// What it says, by its type.
    #[cfg_attr(feature = "server", schema(value_type = crate::schema::Data))]
    pub data: EventData,
}

/// An event as the body of a webhook; its identifier is in a header.
#[derive(Debug, Clone, Copy)]
pub struct Message<'a>(pub &'a Event);

/// Declares the data of each type of event.
macro_rules! event_data {
    ($($(#[$doc:meta])* $kind:literal $variant:ident($data:ty),)+) => {
        /// What an event says, by its type.
        #[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
        #[serde(tag = "type", content = "data")]
        #[cfg_attr(not(feature = "server"), non_exhaustive)]
        pub enum EventData {
            $($(#[$doc])* #[serde(rename = $kind)] $variant($data),)+
            /// A type that this release does not know, or tells in another way: the data as it was sent. Answer 2xx
            /// to it.
            #[serde(skip)]
            Other(Value),
        }

        /// The data alone: its type is beside it.
        impl Serialize for EventData {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    $(Self::$variant(data) => data.serialize(serializer),)+
                    Self::Other(data) => data.serialize(serializer),
                }
            }
        }
    };
}

event_data! {
    /// An order was paid.
    "order.paid" OrderPaid(Box<OrderData>),
    /// An order's payment failed.
    "order.failed" OrderFailed(Box<OrderData>),
    /// An order was not paid in time.
    "order.expired" OrderExpired(Box<OrderData>),
    /// All of an order's money was refunded.
    "order.refunded" OrderRefunded(Box<OrderData>),
    /// The buyer's bank opened a dispute or an inquiry.
    "order.disputed" OrderDisputed(Box<DisputeData>),
    /// The dispute or inquiry was closed.
    "order.dispute_closed" OrderDisputeClosed(Box<DisputeData>),
    /// A subscription began.
    "subscription.started" SubscriptionStarted(Box<SubscriptionData>),
    /// A new cycle of a subscription was paid.
    "subscription.renewed" SubscriptionRenewed(Box<SubscriptionData>),
    /// A subscription changed otherwise: its tier, or whether it is to end.
    "subscription.updated" SubscriptionUpdated(Box<SubscriptionData>),
    /// A subscription's bill waits for the buyer.
    "subscription.past_due" SubscriptionPastDue(Box<SubscriptionData>),
    /// A subscription is over.
    "subscription.canceled" SubscriptionCanceled(Box<SubscriptionData>),
    /// A wallet was made.
    "wallet.created" WalletCreated(WalletData),
    /// Credits came into a wallet.
    "wallet.credited" WalletCredited(CreditedData),
    /// What can be spent fell to the product's `lowBalance` or below it.
    "wallet.balance_low" WalletBalanceLow(BalanceData),
    /// What can be spent fell to nothing.
    "wallet.depleted" WalletDepleted(BalanceData),
    /// A wallet that owed nothing came to owe credits.
    "wallet.owing" WalletOwing(DebtData),
    /// A wallet no longer owes anything.
    "wallet.repaid" WalletRepaid(DebtData),
    /// A wallet was frozen.
    "wallet.frozen" WalletFrozen(WalletData),
    /// A frozen wallet can be used again.
    "wallet.thawed" WalletThawed(WalletData),
    /// What was used passed a threshold of a limit.
    "limit.alert" LimitAlert(Box<LimitData>),
    /// A limit refused a use for the first time in its window.
    "limit.reached" LimitReached(Box<LimitData>),
    /// An automatic top-up was paid.
    "top_up.succeeded" TopUpSucceeded(TopUpData),
    /// An attempt to top up failed.
    "top_up.failed" TopUpFailed(TopUpFailedData),
    /// Automatic top-ups are suspended.
    "top_up.suspended" TopUpSuspended(TopUpSuspendedData),
    /// The bank wants the buyer, who can pay on a page.
    "top_up.action_required" TopUpActionRequired(TopUpActionData),
    /// The features that a wallet unlocks changed.
    "features.changed" FeaturesChanged(FeaturesData),
}

records! {
    /// The data of an order's events.
    pub struct OrderData {
        /// The order as it stood then, as a secret key reads it.
        pub order: Order,
    }

    /// The data of `top_up.succeeded`.
    pub struct TopUpData {
        /// The wallet's id, `wal_…`.
        pub wallet_id: String,
        /// Your own user's id.
        pub external_user_id: Option<String>,
        /// The order that was paid.
        pub order_id: String,
        /// What was charged, in the currency's minor unit.
        pub amount_cents: i64,
        /// ISO 4217, in capitals.
        pub currency: String,
        /// The product whose credits came.
        pub product_id: String,
        /// How many credits came.
        pub credits: i64,
        /// Credits that could be spent then.
        pub balance: i64,
    }

    /// The data of `top_up.failed`.
    pub struct TopUpFailedData {
        /// The wallet's id, `wal_…`.
        pub wallet_id: String,
        /// Your own user's id.
        pub external_user_id: Option<String>,
        /// The order that was not paid.
        pub order_id: String,
        /// The provider's word for the decline, such as `insufficient_funds`; `price_changed` or `never_charged` where
        /// no card was charged.
        pub reason: String,
        /// Whether it is tried again by itself.
        pub retryable: bool,
        /// When, at the earliest.
        pub next_attempt_at: Option<Instant>,
    }

    /// The data of `top_up.suspended`.
    pub struct TopUpSuspendedData {
        /// The wallet's id, `wal_…`.
        pub wallet_id: String,
        /// Your own user's id.
        pub external_user_id: Option<String>,
        /// Why: `declined`, `card_unusable`, `disputed`, `price_changed` or `card_missing`.
        pub reason: String,
    }

    /// The data of `top_up.action_required`.
    pub struct TopUpActionData {
        /// The wallet's id, `wal_…`.
        pub wallet_id: String,
        /// Your own user's id.
        pub external_user_id: Option<String>,
        /// The order that the page pays.
        pub order_id: String,
        /// The page on which the buyer pays.
        pub url: String,
    }

    /// The data of a limit's events.
    pub struct LimitData {
        /// The wallet's id, `wal_…`.
        pub wallet_id: String,
        /// Your own user's id, for an external wallet.
        pub external_user_id: Option<String>,
        /// The limit, with what its window counted then.
        pub limit: LimitState,
        /// The percentage of the amount that was passed; with `limit.alert`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub percent: Option<u8>,
        /// The member whose use it was, if it was one's.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub member: Option<String>,
    }

    /// The data of a dispute's events.
    pub struct DisputeData {
        /// The order as it stood then, as a secret key reads it.
        pub order: Order,
        /// The dispute as it stood then.
        pub dispute: Dispute,
        /// Once it is closed: whether the money is back, or was never taken.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub won: Option<bool>,
    }

    /// A buyer's bank asks for an order's money back, or asks what the payment was for.
    pub struct Dispute {
        /// The disputed amount, in the minor unit of its own currency.
        pub amount_cents: i64,
        /// The currency as in ISO 4217, upper case.
        pub currency: String,
        /// The reason, in the provider's word.
        #[cfg_attr(feature = "server", schema(example = "fraudulent"))]
        pub reason: String,
        /// Until when an answer is expected; null: none is.
        #[cfg_attr(feature = "server", schema(required = true))]
        pub respond_by: Option<Instant>,
        /// Whether it is only an inquiry, for which the bank takes nothing.
        pub inquiry: bool,
        /// Once it is closed: whether the money is back, or was never taken.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub won: Option<bool>,
    }

    /// The data of a subscription's events.
    pub struct SubscriptionData {
        /// The wallet's id, `wal_…`.
        pub wallet_id: String,
        /// Your own user's id, for an external wallet.
        pub external_user_id: Option<String>,
        /// The subscription as it was then.
        pub subscription: Subscription,
    }

    /// Whose wallet it is.
    #[cfg_attr(feature = "server", schema(as = WalletNames))]
    pub struct WalletData {
        /// The wallet's id, `wal_…`.
        pub wallet_id: String,
        /// Your own user's id, for an external wallet.
        pub external_user_id: Option<String>,
        /// Why it is frozen, with `wallet.frozen`, if a reason was given.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub frozen_reason: Option<String>,
    }

    /// Credits that came.
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
        #[serde(skip_serializing_if = "Option::is_none")]
        pub order_id: Option<String>,
    }

    /// What can be spent.
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
    pub struct FeaturesData {
        /// The wallet's id, `wal_…`.
        pub wallet_id: String,
        /// Your own user's id, for an external wallet.
        pub external_user_id: Option<String>,
        /// All features that it unlocks after it; `None` where they are more than 12 KiB.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub features: Option<Vec<String>>,
        /// Features that it did not unlock before.
        pub added: Vec<String>,
        /// Features that it does not unlock any more.
        pub removed: Vec<String>,
    }
}

/// An event as it is sent.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SentEvent {
    #[serde(default)]
    id: String,
    #[serde(rename = "type")]
    kind: String,
    timestamp: Instant,
    recorded_at: Option<Instant>,
    data: Value,
}

impl From<SentEvent> for Event {
    fn from(sent: SentEvent) -> Self {
        let tagged = json!({ "type": sent.kind, "data": sent.data });
        Self {
            id: sent.id,
            kind: sent.kind,
            timestamp: sent.timestamp,
            recorded_at: sent.recorded_at,
            data: EventData::deserialize(tagged).unwrap_or(EventData::Other(sent.data)),
        }
    }
}

impl Serialize for Event {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Named<'a> {
            id: &'a str,
            #[serde(flatten)]
            message: Message<'a>,
        }
        let (id, message) = (&*self.id, Message(self));
        Named { id, message }.serialize(serializer)
    }
}

impl Serialize for Message<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(event) = self;
        let mut message = serializer.serialize_struct("Message", 4)?;
        message.serialize_field("type", &event.kind)?;
        message.serialize_field("timestamp", &event.timestamp)?;
        message.serialize_field("recordedAt", &event.recorded_at)?;
        message.serialize_field("data", &event.data)?;
        message.end()
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
