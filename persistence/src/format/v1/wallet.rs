//! A wallet's snapshot. What follows from the rest is not in it.

use std::{borrow::Cow, num::NonZeroU64};

use domain::{
    Timestamp,
    id::{OrderSerial, ProductId, ProjectId, WalletId, WalletKey},
    text::{CustomerId, Feature, IdempotencyKey, Meta},
    wallet::{self, AccountParts, CommerceParts, CycleTag, WalletParts},
};
use serde::{Deserialize, Serialize};

use super::{
    kind::{Period, Reason},
    order::{Order, Reversal},
    owner::Owner,
    read::{self, amount, hold_id, serial, some_text, text},
    subscription::Subscription,
};
use crate::contract::Error;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Wallet<'a> {
    key: [u8; 16],
    id: u128,
    project: u128,
    #[serde(borrow)]
    owner: Owner<'a>,
    created_at: i64,
    touched_at: i64,
    version: u64,
    records: u64,
    rotations: u32,
    accounts: Vec<Account>,
    holds: Vec<(read::Hold, Hold<'a>)>,
    features: Vec<&'a str>,
    commerce: Option<Commerce<'a>>,
}

impl<'a> From<&'a WalletParts<'_>> for Wallet<'a> {
    fn from(from: &'a WalletParts<'_>) -> Self {
        let WalletParts {
            key,
            id,
            project,
            owner,
            created_at,
            touched_at,
            version,
            records,
            rotations,
            accounts,
            holds,
            features,
            commerce,
        } = from;
        let holds = holds
            .iter()
            .map(|(id, hold)| (read::hold(*id), hold.into()));
        Self {
            key: key.0,
            id: id.0,
            project: project.0,
            owner: (&**owner).into(),
            created_at: created_at.0,
            touched_at: touched_at.0,
            version: *version,
            records: *records,
            rotations: *rotations,
            accounts: accounts.iter().map(Account::from).collect(),
            holds: holds.collect(),
            features: features.iter().map(Feature::as_str).collect(),
            commerce: commerce.as_ref().map(Commerce::from),
        }
    }
}

impl TryFrom<Wallet<'_>> for wallet::Wallet {
    type Error = Error;

    fn try_from(from: Wallet<'_>) -> Result<Self, Error> {
        let accounts = from.accounts.into_iter().map(AccountParts::from);
        let holds = from.holds.into_iter();
        let holds = holds.map(|(id, hold)| Ok((hold_id(id), hold.try_into()?)));
        let features = from.features.into_iter();
        let features = features.map(|slug| text(slug, Feature::new));
        let parts = WalletParts {
            key: WalletKey(from.key),
            id: WalletId(from.id),
            project: ProjectId(from.project),
            owner: Cow::Owned(from.owner.try_into()?),
            created_at: Timestamp(from.created_at),
            touched_at: Timestamp(from.touched_at),
            version: from.version,
            records: from.records,
            rotations: from.rotations,
            accounts: accounts.collect(),
            holds: Cow::Owned(holds.collect::<Result<_, Error>>()?),
            features: Cow::Owned(features.collect::<Result<_, Error>>()?),
            commerce: from.commerce.map(CommerceParts::try_from).transpose()?,
        };
        Self::from_parts(parts).map_err(read::broken)
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Account {
    product: u128,
    balance: i64,
    held: i64,
    free: Option<FreeMark>,
    lots: Vec<Lot>,
    next_lot: u64,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct FreeMark {
    period: Period,
    start: i64,
    end: i64,
}

impl From<&AccountParts> for Account {
    fn from(from: &AccountParts) -> Self {
        let AccountParts {
            product,
            balance,
            held,
            free,
            lots,
            next_lot,
        } = from;
        let mark = |wallet::FreeMark { period, start, end }| FreeMark {
            period: Period::from(period),
            start: start.0,
            end: end.0,
        };
        Self {
            product: product.0,
            balance: *balance,
            held: *held,
            free: free.map(mark),
            lots: lots.iter().map(Lot::from).collect(),
            next_lot: *next_lot,
        }
    }
}

impl From<Account> for AccountParts {
    fn from(from: Account) -> Self {
        let mark = |FreeMark { period, start, end }| wallet::FreeMark {
            period: period.into(),
            start: Timestamp(start),
            end: Timestamp(end),
        };
        Self {
            product: ProductId(from.product),
            balance: from.balance,
            held: from.held,
            free: from.free.map(mark),
            lots: from.lots.into_iter().map(wallet::Lot::from).collect(),
            next_lot: from.next_lot,
        }
    }
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Lot {
    number: u64,
    source: Reason,
    left: i64,
    held: i64,
    expires_at: i64,
    order: Option<u128>,
    cycle: Option<NonZeroU64>,
}

impl From<&wallet::Lot> for Lot {
    fn from(from: &wallet::Lot) -> Self {
        let wallet::Lot {
            number,
            source,
            left,
            held,
            expires_at,
            order,
            cycle,
        } = from;
        Self {
            number: *number,
            source: (*source).into(),
            left: *left,
            held: *held,
            expires_at: expires_at.0,
            order: order.map(|OrderSerial(order)| order),
            cycle: cycle.map(CycleTag::get),
        }
    }
}

impl From<Lot> for wallet::Lot {
    fn from(from: Lot) -> Self {
        Self {
            number: from.number,
            source: from.source.into(),
            left: from.left,
            held: from.held,
            expires_at: Timestamp(from.expires_at),
            order: serial(from.order),
            cycle: from.cycle.map(CycleTag::new),
        }
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Hold<'a> {
    product: u128,
    amount: i64,
    /// Lot and credits.
    pins: Vec<(u64, i64)>,
    expires_at: i64,
    key: &'a str,
    meta: Option<&'a str>,
    publishable: bool,
}

impl<'a> From<&'a wallet::Hold> for Hold<'a> {
    fn from(from: &'a wallet::Hold) -> Self {
        let wallet::Hold {
            product,
            amount,
            pins,
            expires_at,
            key,
            meta,
            publishable,
        } = from;
        Self {
            product: product.0,
            amount: amount.get(),
            pins: pins.clone(),
            expires_at: expires_at.0,
            key: key.as_str(),
            meta: meta.as_ref().map(Meta::as_str),
            publishable: *publishable,
        }
    }
}

impl TryFrom<Hold<'_>> for wallet::Hold {
    type Error = Error;

    fn try_from(from: Hold<'_>) -> Result<Self, Error> {
        Ok(Self {
            product: ProductId(from.product),
            amount: amount(from.amount)?,
            pins: from.pins,
            expires_at: Timestamp(from.expires_at),
            key: text(from.key, IdempotencyKey::new)?,
            meta: some_text(from.meta, Meta::new)?,
            publishable: from.publishable,
        })
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Commerce<'a> {
    customer: Option<&'a str>,
    #[serde(borrow)]
    orders: Vec<(u128, Order<'a>)>,
    subscriptions: Vec<Subscription<'a>>,
    early: Vec<(u128, Reversal)>,
    unlocked: Vec<(&'a str, u64)>,
}

impl<'a> From<&'a CommerceParts<'_>> for Commerce<'a> {
    fn from(from: &'a CommerceParts<'_>) -> Self {
        let CommerceParts {
            customer,
            orders,
            subscriptions,
            early,
            unlocked,
        } = from;
        let orders = orders
            .iter()
            .map(|(serial, order)| (serial.0, order.into()));
        let early = early.iter();
        let early = early.map(|(serial, reversal)| (serial.0, (*reversal).into()));
        let unlocked = unlocked.iter();
        Self {
            customer: (**customer).as_ref().map(CustomerId::as_str),
            orders: orders.collect(),
            subscriptions: subscriptions.iter().map(Subscription::from).collect(),
            early: early.collect(),
            unlocked: unlocked
                .map(|(feature, count)| (feature.as_str(), *count))
                .collect(),
        }
    }
}

impl TryFrom<Commerce<'_>> for CommerceParts<'static> {
    type Error = Error;

    fn try_from(from: Commerce<'_>) -> Result<Self, Error> {
        let orders = from.orders.into_iter();
        let orders = orders.map(|(serial, order)| Ok((OrderSerial(serial), order.try_into()?)));
        let subscriptions = from.subscriptions.into_iter();
        let subscriptions = subscriptions.map(wallet::Subscription::try_from);
        let early = from.early.into_iter();
        let early = early.map(|(serial, reversal)| Ok((OrderSerial(serial), reversal.try_into()?)));
        let unlocked = from.unlocked.into_iter();
        let unlocked = unlocked.map(|(slug, count)| Ok((text(slug, Feature::new)?, count)));
        Ok(Self {
            customer: Cow::Owned(some_text(from.customer, CustomerId::new)?),
            orders: Cow::Owned(orders.collect::<Result<_, Error>>()?),
            subscriptions: Cow::Owned(subscriptions.collect::<Result<_, Error>>()?),
            early: Cow::Owned(early.collect::<Result<_, Error>>()?),
            unlocked: Cow::Owned(unlocked.collect::<Result<_, Error>>()?),
        })
    }
}
