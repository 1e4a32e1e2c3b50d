//! What a project's own servers are told, as they read it: by asking, or as a webhook.

use actors::{Handle, Told};
use domain::{
    catalog::KeyKind,
    history::Reason,
    id::{OrderId, ProductId},
    notice::{News, Notice, SubscriptionFacts},
};
use serde::Serialize;
use utoipa::ToSchema;

use super::{Instant, Order, Subscription};
use crate::{
    catalog::ProjectCatalog,
    http::field::{EventType, ReasonText},
};

/// Something that happened.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Event {
    /// `evt_…`
    pub(crate) id: String,
    /// What kind of thing.
    #[serde(rename = "type")]
    #[schema(example = "order.paid")]
    kind: &'static str,
    /// When it happened.
    timestamp: Instant,
    data: Data,
}

/// The same as the body of a webhook; its identifier is in a header.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Message<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    timestamp: Instant,
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
    /// As it stands now, as a secret key reads it.
    #[schema(required = true)]
    order: Option<Box<Order>>,
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
    /// What the wallet unlocks now, of `features.changed`.
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
    /// Reads what there is to read of something that is to be told.
    ///
    /// # Errors
    ///
    /// [`actors::Error::Overloaded`] and [`actors::Error::Unavailable`]: it can be told later.
    pub(crate) async fn of(
        told: &Told,
        handle: &Handle,
        project: &ProjectCatalog,
    ) -> Result<Self, actors::Error> {
        let notice = &told.notice;
        Ok(Self {
            id: told.id.to_string(),
            kind: EventType::of(&notice.news).as_str(),
            timestamp: Instant(notice.at),
            data: data(notice, handle, project).await?,
        })
    }

    /// As the body of a webhook.
    pub(crate) const fn message(&self) -> Message<'_> {
        Message {
            kind: self.kind,
            timestamp: self.timestamp,
            data: &self.data,
        }
    }
}

async fn data(
    notice: &Notice,
    handle: &Handle,
    project: &ProjectCatalog,
) -> Result<Data, actors::Error> {
    let wallet = || WalletData {
        wallet_id: notice.wallet.to_string(),
        external_user_id: notice.user.as_ref().map(|user| user.as_str().to_owned()),
        ..WalletData::default()
    };
    let balance = |product: ProductId, balance| WalletData {
        product_id: Some(product.to_string()),
        balance: Some(balance),
        ..wallet()
    };
    let order_id = |serial| OrderId {
        serial,
        wallet: notice.key,
    };
    Ok(Data::Wallet(Box::new(match &notice.news {
        News::Order(_, serial) => {
            let order = handle.order(&project.scope, order_id(*serial)).await;
            let order = match order {
                Ok(order) => Some(Box::new(Order::of(&order, KeyKind::Secret))),
                Err(actors::Error::Rejected(_)) => None,
                Err(error) => return Err(error),
            };
            return Ok(Data::Order(OrderData { order }));
        }
        News::WalletCreated => wallet(),
        News::Subscription(_, facts) => WalletData {
            subscription: Some((&**facts).into()),
            ..wallet()
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
        News::Features { added, removed } => {
            let texts = |all: &[domain::text::Feature]| {
                let all = all.iter().map(|feature| feature.as_str().to_owned());
                Some(all.collect())
            };
            WalletData {
                features: Some(handle.features_of(&project.scope, notice.key).await?),
                added: texts(added),
                removed: texts(removed),
                ..wallet()
            }
        }
    })))
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
