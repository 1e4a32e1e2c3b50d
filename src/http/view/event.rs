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
    Wallet(WalletData),
}

/// Of an order's events.
#[derive(Debug, Serialize, ToSchema)]
struct OrderData {
    /// As it stands now, as a secret key reads it.
    order: Option<Box<Order>>,
}

/// Of all others'.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct WalletData {
    /// `wal_…`
    wallet_id: String,
    /// The caller's own user, of an external wallet; else null.
    external_user_id: Option<String>,
    #[serde(flatten)]
    news: NewsData,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
enum NewsData {
    Subscription(SubscriptionData),
    Balance(BalanceData),
    Features(FeaturesData),
    Created {},
}

#[derive(Debug, Serialize, ToSchema)]
struct SubscriptionData {
    subscription: Subscription,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct BalanceData {
    product_id: String,
    /// Credits that could be spent then.
    balance: i64,
    /// Credits that came.
    #[serde(skip_serializing_if = "Option::is_none")]
    delta: Option<i64>,
    /// Why they came.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<ReasonText>)]
    reason: Option<Reason>,
    /// The order behind them.
    #[serde(skip_serializing_if = "Option::is_none")]
    order_id: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
struct FeaturesData {
    /// What the wallet unlocks now.
    features: Vec<String>,
    /// What it did not unlock before.
    added: Vec<String>,
    /// What it does not unlock any more.
    removed: Vec<String>,
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
    let balance = |product: ProductId, balance| BalanceData {
        product_id: product.to_string(),
        balance,
        delta: None,
        reason: None,
        order_id: None,
    };
    let order_id = |serial| OrderId {
        serial,
        wallet: notice.key,
    };
    let news = match &notice.news {
        News::Order(_, serial) => {
            let order = handle.order(&project.scope, order_id(*serial)).await;
            let order = match order {
                Ok(order) => Some(Box::new(Order::of(&order, KeyKind::Secret))),
                Err(actors::Error::Rejected(_)) => None,
                Err(error) => return Err(error),
            };
            return Ok(Data::Order(OrderData { order }));
        }
        News::WalletCreated => NewsData::Created {},
        News::Subscription(_, facts) => NewsData::Subscription(SubscriptionData {
            subscription: (&**facts).into(),
        }),
        News::Credited {
            product,
            delta,
            reason,
            order,
            balance: left,
        } => NewsData::Balance(BalanceData {
            delta: Some(*delta),
            reason: Some(*reason),
            order_id: order.map(|serial| order_id(serial).to_string()),
            ..balance(*product, *left)
        }),
        News::BalanceLow {
            product,
            balance: left,
        } => NewsData::Balance(balance(*product, *left)),
        News::Depleted { product } => NewsData::Balance(balance(*product, 0)),
        News::Features { added, removed } => {
            let texts = |all: &[domain::text::Feature]| {
                let all = all.iter().map(|feature| feature.as_str().to_owned());
                all.collect()
            };
            NewsData::Features(FeaturesData {
                features: handle.features_of(&project.scope, notice.key).await?,
                added: texts(added),
                removed: texts(removed),
            })
        }
    };
    Ok(Data::Wallet(WalletData {
        wallet_id: notice.wallet.to_string(),
        external_user_id: notice.user.as_ref().map(|user| user.as_str().to_owned()),
        news,
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
