//! What a project's own servers are told.

use domain::{
    Timestamp,
    id::{OrderSerial, PriceId, ProductId, ProjectId, WalletId, WalletKey},
    notice,
    text::{ExternalUserId, Feature},
};
use serde::{Deserialize, Serialize};

use super::{
    kind::{self, OrderNews, Reason, SubscriptionStatus},
    order::Order,
    read::{serial, some_text, text},
    subscription::OpenInvoice,
};
use crate::contract::Error;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Notice<'a> {
    at: i64,
    recorded: i64,
    key: [u8; 16],
    wallet: u128,
    user: Option<&'a str>,
    #[serde(borrow)]
    news: News<'a>,
}

/// Numbered by the order in which they stand here.
#[derive(Debug, Clone, Serialize, Deserialize)]
enum News<'a> {
    WalletCreated,
    Order(OrderNews, #[serde(borrow)] Box<OrderFacts<'a>>),
    Subscription(kind::News, #[serde(borrow)] SubscriptionFacts<'a>),
    Credited {
        product: u128,
        delta: i64,
        reason: Reason,
        order: Option<u128>,
        balance: i64,
    },
    BalanceLow {
        product: u128,
        balance: i64,
    },
    Depleted {
        product: u128,
    },
    Features {
        features: Option<Vec<&'a str>>,
        added: Vec<&'a str>,
        removed: Vec<&'a str>,
    },
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct OrderFacts<'a> {
    serial: u128,
    #[serde(borrow)]
    order: Order<'a>,
    balance: i64,
    code: Option<&'a [u8]>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct SubscriptionFacts<'a> {
    product: u128,
    price: u128,
    label: Option<&'a str>,
    status: SubscriptionStatus,
    current_period_end: i64,
    cancel_at_period_end: bool,
    open_invoice: Option<OpenInvoice<'a>>,
    collection_paused: bool,
}

impl<'a> From<&'a notice::Notice> for Notice<'a> {
    fn from(from: &'a notice::Notice) -> Self {
        let notice::Notice {
            project: _,
            at: Timestamp(at),
            recorded: Timestamp(recorded),
            key: WalletKey(key),
            wallet: WalletId(wallet),
            user,
            news,
        } = from;
        Self {
            at: *at,
            recorded: *recorded,
            key: *key,
            wallet: *wallet,
            user: user.as_ref().map(ExternalUserId::as_str),
            news: news.into(),
        }
    }
}

impl Notice<'_> {
    pub(super) fn read(self, project: ProjectId) -> Result<notice::Notice, Error> {
        Ok(notice::Notice {
            project,
            at: Timestamp(self.at),
            recorded: Timestamp(self.recorded),
            key: WalletKey(self.key),
            wallet: WalletId(self.wallet),
            user: some_text(self.user, ExternalUserId::new)?,
            news: self.news.try_into()?,
        })
    }
}

impl<'a> From<&'a notice::News> for News<'a> {
    fn from(from: &'a notice::News) -> Self {
        match from {
            notice::News::WalletCreated => Self::WalletCreated,
            notice::News::Order(news, facts) => {
                Self::Order((*news).into(), Box::new((&**facts).into()))
            }
            notice::News::Subscription(news, facts) => {
                Self::Subscription((*news).into(), (&**facts).into())
            }
            notice::News::Credited {
                product,
                delta,
                reason,
                order,
                balance,
            } => Self::Credited {
                product: product.0,
                delta: *delta,
                reason: (*reason).into(),
                order: order.map(|OrderSerial(order)| order),
                balance: *balance,
            },
            notice::News::BalanceLow { product, balance } => Self::BalanceLow {
                product: product.0,
                balance: *balance,
            },
            notice::News::Depleted { product } => Self::Depleted { product: product.0 },
            notice::News::Features {
                features,
                added,
                removed,
            } => Self::Features {
                features: features.as_deref().map(slugs),
                added: slugs(added),
                removed: slugs(removed),
            },
        }
    }
}

impl TryFrom<News<'_>> for notice::News {
    type Error = Error;

    fn try_from(from: News<'_>) -> Result<Self, Error> {
        let features = |slugs: Vec<&str>| -> Result<Vec<Feature>, Error> {
            let slugs = slugs.into_iter();
            slugs.map(|slug| text(slug, Feature::new)).collect()
        };
        Ok(match from {
            News::WalletCreated => Self::WalletCreated,
            News::Order(news, facts) => Self::Order(news.into(), Box::new((*facts).try_into()?)),
            News::Subscription(news, facts) => {
                Self::Subscription(news.into(), Box::new(facts.try_into()?))
            }
            News::Credited {
                product,
                delta,
                reason,
                order,
                balance,
            } => Self::Credited {
                product: ProductId(product),
                delta,
                reason: reason.into(),
                order: serial(order),
                balance,
            },
            News::BalanceLow { product, balance } => Self::BalanceLow {
                product: ProductId(product),
                balance,
            },
            News::Depleted { product } => Self::Depleted {
                product: ProductId(product),
            },
            News::Features {
                features: all,
                added,
                removed,
            } => Self::Features {
                features: all.map(features).transpose()?,
                added: features(added)?,
                removed: features(removed)?,
            },
        })
    }
}

fn slugs(features: &[Feature]) -> Vec<&str> {
    features.iter().map(Feature::as_str).collect()
}

impl<'a> From<&'a notice::OrderFacts> for OrderFacts<'a> {
    fn from(from: &'a notice::OrderFacts) -> Self {
        let notice::OrderFacts {
            serial: OrderSerial(serial),
            order,
            balance,
            code,
        } = from;
        Self {
            serial: *serial,
            order: order.into(),
            balance: *balance,
            code: code.as_deref(),
        }
    }
}

impl TryFrom<OrderFacts<'_>> for notice::OrderFacts {
    type Error = Error;

    fn try_from(from: OrderFacts<'_>) -> Result<Self, Error> {
        Ok(Self {
            serial: OrderSerial(from.serial),
            order: from.order.try_into()?,
            balance: from.balance,
            code: from.code.map(Box::from),
        })
    }
}

impl<'a> From<&'a notice::SubscriptionFacts> for SubscriptionFacts<'a> {
    fn from(from: &'a notice::SubscriptionFacts) -> Self {
        let notice::SubscriptionFacts {
            product: ProductId(product),
            price: PriceId(price),
            label,
            status,
            current_period_end,
            cancel_at_period_end,
            open_invoice,
            collection_paused,
        } = from;
        Self {
            product: *product,
            price: *price,
            label: label.as_deref(),
            status: (*status).into(),
            current_period_end: current_period_end.0,
            cancel_at_period_end: *cancel_at_period_end,
            open_invoice: open_invoice.as_deref().map(OpenInvoice::from),
            collection_paused: *collection_paused,
        }
    }
}

impl TryFrom<SubscriptionFacts<'_>> for notice::SubscriptionFacts {
    type Error = Error;

    fn try_from(from: SubscriptionFacts<'_>) -> Result<Self, Error> {
        Ok(Self {
            product: ProductId(from.product),
            price: PriceId(from.price),
            label: from.label.map(Box::from),
            status: from.status.into(),
            current_period_end: Timestamp(from.current_period_end),
            cancel_at_period_end: from.cancel_at_period_end,
            open_invoice: from.open_invoice.map(OpenInvoice::read).transpose()?,
            collection_paused: from.collection_paused,
        })
    }
}
