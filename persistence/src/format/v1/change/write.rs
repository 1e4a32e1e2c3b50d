//! A change as it is stored.

use domain::{
    id::CodeHash,
    text::Meta,
    wallet::{self, event},
};

use super::{
    super::{
        kind::News,
        read::{hold, millis},
    },
    Change, SubscriptionChanged,
};

impl<'a> From<&'a wallet::Change> for Change<'a> {
    #[expect(
        clippy::too_many_lines,
        reason = "one arm for each change, and no more"
    )]
    fn from(from: &'a wallet::Change) -> Self {
        use wallet::Change as Domain;
        match from {
            Domain::Created(created) => {
                let wallet::Created { id, project, owner } = &**created;
                Self::Created {
                    id: id.0,
                    project: project.0,
                    owner: owner.into(),
                }
            }
            Domain::CodeRotated {
                hash,
                sealed,
                former,
            } => Self::CodeRotated {
                hash: hash.0,
                sealed,
                former: former.map(|CodeHash(former)| former),
            },
            Domain::FreeGranted {
                product,
                credits,
                period,
                start,
                end,
            } => Self::FreeGranted {
                product: product.0,
                credits: credits.get(),
                period: (*period).into(),
                start: start.0,
                end: end.0,
            },
            Domain::LotExpired {
                product,
                lot,
                amount,
            } => Self::LotExpired {
                product: product.0,
                lot: *lot,
                amount: amount.get(),
            },
            Domain::Granted {
                product,
                amount,
                expires_at,
                key,
                meta,
            } => Self::Granted {
                product: product.0,
                amount: amount.get(),
                expires_at: millis(*expires_at),
                key: key.as_str(),
                meta: meta.as_ref().map(Meta::as_str),
            },
            Domain::Deducted {
                product,
                amount,
                key,
                meta,
            } => Self::Deducted {
                product: product.0,
                amount: amount.get(),
                key: key.as_str(),
                meta: meta.as_ref().map(Meta::as_str),
            },
            Domain::HoldPlaced {
                hold: id,
                product,
                amount,
                expires_at,
                key,
                meta,
                publishable,
            } => Self::HoldPlaced {
                hold: hold(*id),
                product: product.0,
                amount: amount.get(),
                expires_at: expires_at.0,
                key: key.as_str(),
                meta: meta.as_ref().map(Meta::as_str),
                publishable: *publishable,
            },
            Domain::HoldExtended {
                hold: id,
                expires_at,
            } => Self::HoldExtended {
                hold: hold(*id),
                expires_at: expires_at.0,
            },
            Domain::HoldSettled { hold: id, amount } => Self::HoldSettled {
                hold: hold(*id),
                amount: *amount,
            },
            Domain::HoldReleased { hold: id } => Self::HoldReleased { hold: hold(*id) },
            Domain::HoldExpired { hold: id } => Self::HoldExpired { hold: hold(*id) },
            Domain::FeatureGranted { feature } => Self::FeatureGranted {
                feature: feature.as_str(),
            },
            Domain::FeatureRevoked { feature } => Self::FeatureRevoked {
                feature: feature.as_str(),
            },
            Domain::OrderPlaced(placed) => Self::OrderPlaced(Box::new((&**placed).into())),
            Domain::OrderPaid(paid) => Self::OrderPaid(Box::new((&**paid).into())),
            Domain::OrderFailed(closed) => Self::OrderFailed((*closed).into()),
            Domain::OrderExpired(closed) => Self::OrderExpired((*closed).into()),
            Domain::OrderProcessing { order, on_its_way } => Self::OrderProcessing {
                order: order.0,
                on_its_way: *on_its_way,
            },
            Domain::OrderReversed {
                order,
                reversal,
                credits,
            } => Self::OrderReversed {
                order: order.0,
                reversal: (*reversal).into(),
                credits: *credits,
            },
            Domain::SubscriptionChanged(changed) => {
                let event::SubscriptionChanged {
                    project,
                    former_end,
                    news,
                    subscription,
                } = &**changed;
                Self::SubscriptionChanged(Box::new(SubscriptionChanged {
                    project: project.0,
                    former_end: millis(*former_end),
                    news: news.map(News::from),
                    subscription: subscription.into(),
                }))
            }
            Domain::SubscriptionGone { subscription } => Self::SubscriptionGone {
                subscription: subscription.as_str(),
            },
            Domain::CycleEnded {
                subscription,
                ends_at,
            } => Self::CycleEnded {
                subscription: subscription.as_str(),
                ends_at: ends_at.0,
            },
            Domain::OrderArchived { order } => Self::OrderArchived { order: order.0 },
            Domain::OrderRecalled(archived) => Self::OrderRecalled(Box::new((&**archived).into())),
            Domain::Instructed(instructed) => Self::Instructed(Box::new((&**instructed).into())),
        }
    }
}
