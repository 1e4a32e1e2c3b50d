//! What a project's own servers are told, as they read it: by asking, or as a webhook.

use actors::{Handle, Told};
use domain::{
    catalog::KeyKind,
    history::Reason,
    id::{OrderId, ProductId},
    notice::{News, Notice, OrderNews, SubscriptionFacts},
    text::Feature,
    wallet,
};
use serde::Serialize;
use utoipa::ToSchema;

use super::{Instant, Order, Subscription};
use crate::http::field::{EventType, ReasonText};

/// Something that happened. What it says was fixed then: it is the same whenever and however it is read.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Event {
    /// `evt_…`
    pub(crate) id: String,
    /// What kind of thing.
    #[serde(rename = "type")]
    #[schema(example = "order.paid")]
    kind: &'static str,
    /// When it happened, by the project's clock.
    timestamp: Instant,
    /// When it was recorded, by the server's clock: events are in this order, and kept for 30 days from then. Much
    /// later than `timestamp` where a wallet was not touched for long, whose credits expired meanwhile, say.
    recorded_at: Instant,
    data: Data,
}

/// The same as the body of a webhook; its identifier is in a header.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Message<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    timestamp: Instant,
    recorded_at: Instant,
    data: &'a Data,
}

/// What it is about.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
enum Data {
    Order(OrderData),
    Wallet(Box<WalletData>),
}

/// Of an order's events.
#[derive(Debug, Serialize, ToSchema)]
struct OrderData {
    /// As it stood, as a secret key reads it.
    order: Box<Order>,
    /// Of `order.disputed` and `order.dispute_closed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    dispute: Option<Dispute>,
    /// Of `order.dispute_closed`: whether the money is back, or was never taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    won: Option<bool>,
}

/// A buyer's bank asks for an order's money back, or what it was for.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Dispute {
    /// What is asked back, in the minor unit of its own currency.
    amount_cents: i64,
    /// ISO 4217, in capitals.
    currency: String,
    /// Why, in the provider's word.
    #[schema(example = "fraudulent")]
    reason: &'static str,
    /// Until when an answer is waited for; null: none is.
    #[schema(required = true)]
    respond_by: Option<Instant>,
    /// Whether the bank only asks, and takes nothing.
    inquiry: bool,
    /// Of one that is closed: whether the money is back, or was never taken.
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

/// Of all others'. What does not belong to an event's kind is left out.
#[derive(Debug, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct WalletData {
    /// `wal_…`
    wallet_id: String,
    /// The caller's own user, of an external wallet; else null.
    external_user_id: Option<String>,
    /// Of a subscription's events.
    #[serde(skip_serializing_if = "Option::is_none")]
    subscription: Option<Subscription>,
    /// Whose credits, of `wallet.credited`, `wallet.balance_low` and `wallet.depleted`.
    #[serde(skip_serializing_if = "Option::is_none")]
    product_id: Option<String>,
    /// Credits that could be spent then, of the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    balance: Option<i64>,
    /// Credits that came, of `wallet.credited`.
    #[serde(skip_serializing_if = "Option::is_none")]
    delta: Option<i64>,
    /// Why they came.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<ReasonText>)]
    reason: Option<Reason>,
    /// The order behind them.
    #[serde(skip_serializing_if = "Option::is_none")]
    order_id: Option<String>,
    /// What the wallet unlocked since, of `features.changed`; left out where that is more than 12 KiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    features: Option<Vec<String>>,
    /// What it did not unlock before.
    #[serde(skip_serializing_if = "Option::is_none")]
    added: Option<Vec<String>>,
    /// What it does not unlock any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    removed: Option<Vec<String>>,
}

impl Event {
    pub(crate) fn of(told: &Told, handle: &Handle) -> Self {
        let notice = &told.notice;
        Self {
            id: told.id.to_string(),
            kind: EventType::of(&notice.news).as_str(),
            timestamp: Instant(notice.at),
            recorded_at: Instant(notice.recorded),
            data: data(notice, handle),
        }
    }

    /// As the body of a webhook.
    pub(crate) const fn message(&self) -> Message<'_> {
        Message {
            kind: self.kind,
            timestamp: self.timestamp,
            recorded_at: self.recorded_at,
            data: &self.data,
        }
    }
}

fn data(notice: &Notice, handle: &Handle) -> Data {
    let of_wallet = || WalletData {
        wallet_id: notice.wallet.to_string(),
        external_user_id: notice.user.as_ref().map(|user| user.as_str().to_owned()),
        ..WalletData::default()
    };
    let balance = |product: ProductId, balance| WalletData {
        product_id: Some(product.to_string()),
        balance: Some(balance),
        ..of_wallet()
    };
    let order_id = |serial| OrderId {
        serial,
        wallet: notice.key,
    };
    let texts = |all: &[Feature]| {
        let all = all.iter().map(|feature| feature.as_str().to_owned());
        Some(all.collect())
    };
    Data::Wallet(Box::new(match &notice.news {
        News::Order(news, facts) => {
            let tells = matches!(news, OrderNews::Disputed | OrderNews::DisputeClosed);
            let dispute = facts.order.reversal.dispute.filter(|_| tells);
            let order = Order::of(&handle.order_told(notice, facts), KeyKind::Secret);
            return Data::Order(OrderData {
                order: Box::new(order),
                dispute: dispute.map(Into::into),
                won: dispute.and_then(|dispute| dispute.won),
            });
        }
        News::WalletCreated => of_wallet(),
        News::Subscription(_, facts) => WalletData {
            subscription: Some((&**facts).into()),
            ..of_wallet()
        },
        News::Credited {
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
        News::BalanceLow {
            product,
            balance: left,
        } => balance(*product, *left),
        News::Depleted { product } => balance(*product, 0),
        News::Features {
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

impl From<&SubscriptionFacts> for Subscription {
    fn from(facts: &SubscriptionFacts) -> Self {
        Self::from(&actors::Subscription {
            product: facts.product,
            price: facts.price,
            label: facts.label.clone(),
            status: facts.status,
            current_period_end: facts.current_period_end,
            cancel_at_period_end: facts.cancel_at_period_end,
            open_invoice: facts.open_invoice.clone(),
            collection_paused: facts.collection_paused,
        })
    }
}

/// Events, oldest first.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Events {
    pub(crate) events: Vec<Event>,
    /// Pass as `after` for what comes next: the last event's identifier, or `after` as it was given.
    pub(crate) next_cursor: Option<String>,
}
