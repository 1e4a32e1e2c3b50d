//! Events as a project's own servers read them: from the feed, or as a webhook.

use actors::{EventRecord, Handle};
use domain::{
    catalog::KeyKind,
    history::Reason,
    id::{OrderId, ProductId},
    project_event::{EventData, OrderEvent, ProjectEvent},
    text::Feature,
    wallet,
};
use serde::Serialize;
use utoipa::ToSchema;

use super::{Instant, Order, Subscription};
use crate::field::{EventType, ReasonText};

/// Something that happened. Its content was fixed then: it is the same whenever and however it is read.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Event {
    /// The event's identifier: `evt_…`
    pub id: String,
    /// The type of the event.
    #[serde(rename = "type")]
    #[schema(example = "order.paid")]
    kind: &'static str,
    /// When it happened, by the project's clock.
    timestamp: Instant,
    /// When it was recorded, by the server's clock: events are in this order, and kept for 30 days from then.
    /// Much later than `timestamp` where a wallet was not touched for long, and its credits expired in that time,
    /// say.
    recorded_at: Instant,
    data: Data,
}

/// An event as the body of a webhook; its identifier is in a header.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Message<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    timestamp: Instant,
    recorded_at: Instant,
    data: &'a Data,
}

/// What the event is about.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
enum Data {
    Order(OrderData),
    Wallet(Box<WalletData>),
}

/// The data of an order's events.
#[derive(Debug, Serialize, ToSchema)]
struct OrderData {
    /// The order as it stood then, as a secret key reads it.
    order: Box<Order>,
    /// The dispute, with `order.disputed` and `order.dispute_closed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    dispute: Option<Dispute>,
    /// With `order.dispute_closed`: whether the money is back, or was never taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    won: Option<bool>,
}

/// A buyer's bank asks for an order's money back, or asks what the payment was for.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Dispute {
    /// The disputed amount, in the minor unit of its own currency.
    amount_cents: i64,
    /// ISO 4217, in capitals.
    currency: String,
    /// The reason, in the provider's word.
    #[schema(example = "fraudulent")]
    reason: &'static str,
    /// Until when an answer is expected; null: none is.
    #[schema(required = true)]
    respond_by: Option<Instant>,
    /// Whether it is only an inquiry, for which the bank takes nothing.
    inquiry: bool,
    /// Once it is closed: whether the money is back, or was never taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    won: Option<bool>,
}

impl From<wallet::Dispute> for Dispute {
    fn from(dispute: wallet::Dispute) -> Self {
        Self {
            amount_cents: dispute.amount_cents,
            currency: dispute.currency.to_string(),
            reason: dispute.reason.as_str(),
            respond_by: dispute.respond_by.map(Instant),
            inquiry: dispute.inquiry,
            won: dispute.won,
        }
    }
}

/// The data of all other events. Fields that do not belong to an event's type are left out.
#[derive(Debug, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct WalletData {
    /// The wallet's identifier: `wal_…`
    wallet_id: String,
    /// The project's own user, for an external wallet; otherwise null.
    external_user_id: Option<String>,
    /// The subscription, with a subscription's events.
    #[serde(skip_serializing_if = "Option::is_none")]
    subscription: Option<Subscription>,
    /// The product whose credits they are, with `wallet.credited`, `wallet.balance_low`, `wallet.depleted`,
    /// `wallet.owing` and `wallet.repaid`.
    #[serde(skip_serializing_if = "Option::is_none")]
    product_id: Option<String>,
    /// Credits that could be spent then, with the same events.
    #[serde(skip_serializing_if = "Option::is_none")]
    balance: Option<i64>,
    /// Credits that were owed then, with `wallet.owing` and `wallet.repaid`.
    #[serde(skip_serializing_if = "Option::is_none")]
    owed: Option<i64>,
    /// Credits that came, with `wallet.credited`.
    #[serde(skip_serializing_if = "Option::is_none")]
    delta: Option<i64>,
    /// Why they came.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<ReasonText>)]
    reason: Option<Reason>,
    /// The order behind them.
    #[serde(skip_serializing_if = "Option::is_none")]
    order_id: Option<String>,
    /// Why the wallet is frozen, with `wallet.frozen`, if a reason was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    frozen_reason: Option<String>,
    /// All features that the wallet unlocks after it, with `features.changed`; left out where they
    /// are more than 12 KiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    features: Option<Vec<String>>,
    /// Features that it did not unlock before.
    #[serde(skip_serializing_if = "Option::is_none")]
    added: Option<Vec<String>>,
    /// Features that it does not unlock any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    removed: Option<Vec<String>>,
}

impl Event {
    /// An event as the log has it.
    pub fn of(record: &EventRecord, handle: &Handle) -> Self {
        let project_event = &record.project_event;
        Self {
            id: record.id.to_string(),
            kind: EventType::of(&project_event.data).as_str(),
            timestamp: Instant(project_event.at),
            recorded_at: Instant(project_event.recorded),
            data: data(project_event, handle),
        }
    }

    /// The event as the body of a webhook.
    pub const fn message(&self) -> Message<'_> {
        Message {
            kind: self.kind,
            timestamp: self.timestamp,
            recorded_at: self.recorded_at,
            data: &self.data,
        }
    }
}

fn data(project_event: &ProjectEvent, handle: &Handle) -> Data {
    let of_wallet = || WalletData {
        wallet_id: project_event.wallet.to_string(),
        external_user_id: project_event
            .user
            .as_ref()
            .map(|user| user.as_str().to_owned()),
        ..WalletData::default()
    };
    let balance = |product: ProductId, balance| WalletData {
        product_id: Some(product.to_string()),
        balance: Some(balance),
        ..of_wallet()
    };
    let order_id = |serial| OrderId {
        serial,
        wallet: project_event.key,
    };
    let texts = |all: &[Feature]| {
        let all = all.iter().map(|feature| feature.as_str().to_owned());
        Some(all.collect())
    };
    Data::Wallet(Box::new(match &project_event.data {
        EventData::Order(data, facts) => {
            let tells = matches!(data, OrderEvent::Disputed | OrderEvent::DisputeClosed);
            let dispute = facts.order.reversal.dispute.filter(|_| tells);
            let order = Order::of(
                &handle.order_of_event(project_event, facts),
                KeyKind::Secret,
            );
            return Data::Order(OrderData {
                order: Box::new(order),
                dispute: dispute.map(Into::into),
                won: dispute.and_then(|dispute| dispute.won),
            });
        }
        EventData::WalletCreated | EventData::Unfrozen => of_wallet(),
        EventData::Frozen { reason } => WalletData {
            frozen_reason: reason.as_ref().map(|it| it.as_str().to_owned()),
            ..of_wallet()
        },
        EventData::Subscription(_, facts) => WalletData {
            subscription: Some((&**facts).into()),
            ..of_wallet()
        },
        EventData::Credited {
            product,
            delta,
            reason,
            order,
            balance: left,
        } => WalletData {
            delta: Some(*delta),
            reason: Some(*reason),
            order_id: order.map(|serial| order_id(serial).to_string()),
            ..balance(*product, *left)
        },
        EventData::BalanceLow {
            product,
            balance: left,
        } => balance(*product, *left),
        EventData::Depleted { product } => balance(*product, 0),
        EventData::Owing {
            product,
            balance: left,
            owed,
        } => WalletData {
            owed: Some(*owed),
            ..balance(*product, *left)
        },
        EventData::Repaid {
            product,
            balance: left,
        } => WalletData {
            owed: Some(0),
            ..balance(*product, *left)
        },
        EventData::Features {
            features,
            added,
            removed,
        } => WalletData {
            features: features.as_deref().and_then(texts),
            added: texts(added),
            removed: texts(removed),
            ..of_wallet()
        },
    }))
}

/// Events, oldest first.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Events {
    events: Vec<Event>,
    /// Pass as `after` for what comes next: the last event's identifier, or `after` as it was given.
    next_cursor: Option<String>,
}

impl Events {
    /// A page of events, and the event after which the next page begins.
    #[must_use]
    pub const fn new(events: Vec<Event>, next_cursor: Option<String>) -> Self {
        Self {
            events,
            next_cursor,
        }
    }
}
