//! A stored change as the domain's.

use domain::{
    Timestamp,
    id::{CodeHash, OrderSerial, ProductId, ProjectId, WalletId},
    text::{Feature, IdempotencyKey, Meta, SubscriptionId},
    wallet::{self, event},
};

use super::{
    super::read::{amount, hold_id, instant, some_text, text},
    Change,
};
use crate::contract::Error;

impl TryFrom<Change<'_>> for wallet::Change {
    type Error = Error;

    #[expect(
        clippy::too_many_lines,
        reason = "one arm for each change, and no more"
    )]
    fn try_from(from: Change<'_>) -> Result<Self, Error> {
        Ok(match from {
            Change::Created { id, project, owner } => Self::Created(Box::new(wallet::Created {
                id: WalletId(id),
                project: ProjectId(project),
                owner: owner.try_into()?,
            })),
            Change::CodeRotated {
                hash,
                sealed,
                former,
            } => Self::CodeRotated {
                hash: CodeHash(hash),
                sealed: sealed.into(),
                former: former.map(CodeHash),
            },
            Change::FreeGranted {
                product,
                credits,
                period,
                start,
                end,
            } => Self::FreeGranted {
                product: ProductId(product),
                credits: amount(credits)?,
                period: period.into(),
                start: Timestamp(start),
                end: Timestamp(end),
            },
            Change::LotExpired {
                product,
                lot,
                amount: credits,
            } => Self::LotExpired {
                product: ProductId(product),
                lot,
                amount: amount(credits)?,
            },
            Change::Granted {
                product,
                amount: credits,
                expires_at,
                key,
                meta,
            } => Self::Granted {
                product: ProductId(product),
                amount: amount(credits)?,
                expires_at: instant(expires_at),
                key: text(key, IdempotencyKey::new)?,
                meta: some_text(meta, Meta::new)?,
            },
            Change::Deducted {
                product,
                amount: credits,
                key,
                meta,
            } => Self::Deducted {
                product: ProductId(product),
                amount: amount(credits)?,
                key: text(key, IdempotencyKey::new)?,
                meta: some_text(meta, Meta::new)?,
            },
            Change::HoldPlaced {
                hold,
                product,
                amount: credits,
                expires_at,
                key,
                meta,
                publishable,
            } => Self::HoldPlaced {
                hold: hold_id(hold),
                product: ProductId(product),
                amount: amount(credits)?,
                expires_at: Timestamp(expires_at),
                key: text(key, IdempotencyKey::new)?,
                meta: some_text(meta, Meta::new)?,
                publishable,
            },
            Change::HoldExtended { hold, expires_at } => Self::HoldExtended {
                hold: hold_id(hold),
                expires_at: Timestamp(expires_at),
            },
            Change::HoldSettled { hold, amount } => Self::HoldSettled {
                hold: hold_id(hold),
                amount,
            },
            Change::HoldReleased { hold } => Self::HoldReleased {
                hold: hold_id(hold),
            },
            Change::HoldExpired { hold } => Self::HoldExpired {
                hold: hold_id(hold),
            },
            Change::FeatureGranted { feature } => Self::FeatureGranted {
                feature: text(feature, Feature::new)?,
            },
            Change::FeatureRevoked { feature } => Self::FeatureRevoked {
                feature: text(feature, Feature::new)?,
            },
            Change::OrderPlaced(placed) => Self::OrderPlaced(Box::new((*placed).try_into()?)),
            Change::OrderPaid(paid) => Self::OrderPaid(Box::new((*paid).try_into()?)),
            Change::OrderFailed(closed) => Self::OrderFailed(closed.into()),
            Change::OrderExpired(closed) => Self::OrderExpired(closed.into()),
            Change::OrderProcessing { order, on_its_way } => Self::OrderProcessing {
                order: OrderSerial(order),
                on_its_way,
            },
            Change::OrderReversed {
                order,
                reversal,
                credits,
            } => Self::OrderReversed {
                order: OrderSerial(order),
                reversal: reversal.try_into()?,
                credits,
            },
            Change::SubscriptionChanged(changed) => {
                Self::SubscriptionChanged(Box::new(event::SubscriptionChanged {
                    project: ProjectId(changed.project),
                    former_end: instant(changed.former_end),
                    news: changed.news.map(event::SubscriptionNews::from),
                    subscription: changed.subscription.try_into()?,
                }))
            }
            Change::SubscriptionGone { subscription } => Self::SubscriptionGone {
                subscription: text(subscription, SubscriptionId::new)?,
            },
            Change::CycleEnded {
                subscription,
                ends_at,
            } => Self::CycleEnded {
                subscription: text(subscription, SubscriptionId::new)?,
                ends_at: Timestamp(ends_at),
            },
            Change::OrderArchived { order } => Self::OrderArchived {
                order: OrderSerial(order),
            },
            Change::OrderRecalled(archived) => {
                Self::OrderRecalled(Box::new((*archived).try_into()?))
            }
            Change::Instructed(instructed) => Self::Instructed(Box::new((*instructed).try_into()?)),
        })
    }
}
