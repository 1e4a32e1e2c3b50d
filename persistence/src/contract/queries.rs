//! What the books are asked: questions that the look-ups answer.

use domain::{
    id::{CodeHash, OrderId, OrderSerial, ProductId, ProjectId, WalletId, WalletKey},
    text::Email,
    time::Timestamp,
};

use super::{books::Books, order_queries::OrderFilter};
use crate::{
    error::Error,
    lookups::{
        LookUp, LookUpRange, OrderPosition, ProviderId, TopUpList,
        keys::{
            buyer_key, day_key, day_of, first_after, number, rank_key, rank_of, read_place,
            user_prefix, wallet, wallet_order_key,
        },
    },
};

/// The end of a subscription's period in a project's list of them, which is in order of `(at, tie)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PeriodEnd {
    /// When the period ends.
    pub at: Timestamp,
    /// Tells ends at the same instant apart: a hash of the subscription.
    pub tie: u128,
    /// The wallet that has the subscription.
    pub wallet: WalletKey,
}

impl PeriodEnd {
    /// The cursor for the next page.
    pub const fn place(&self) -> (Timestamp, u128) {
        (self.at, self.tie)
    }
}

/// A wallet's place in a list: its day or its rank, and its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct WalletPlace {
    /// The day of its last use, counted from the epoch; or the coarse rank of its balance, in the order of balances.
    /// Higher ones come first.
    pub number: i32,
    /// The wallet. Within a day or a rank, higher ones come first.
    pub wallet: WalletKey,
}

/// What wallets are listed by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WalletOrder {
    /// By the day of their last use, the last one first.
    LastUsed,
    /// By their balance of a product, roughly, the largest first.
    Balance(ProductId),
}

/// What wallets are found by. Case is ignored.
#[derive(Debug, Clone, Copy)]
pub enum WalletName<'a> {
    /// The address under which an order was paid; by the wallets' keys. Addresses are found by 128 bits of a hash, which
    /// do not collide by chance or by design.
    Buyer(&'a Email),
    /// The beginning of their user's identifier; by that. Only the first bytes of an identifier are compared: whether the
    /// rest fits, the wallet knows.
    User(&'a str),
}

impl dyn Books + '_ {
    /// The order of this identifier; if several wallets have one, any of them: see [`Self::orders_by_provider_id`].
    /// # Errors
    /// The books cannot be read.
    pub fn order_by_provider_id(
        &self,
        project: ProjectId,
        name: ProviderId<'_>,
    ) -> Result<Option<OrderId>, Error> {
        Ok(self.orders_by_provider_id(project, name, 1)?.pop())
    }

    /// The orders of this identifier, at most `limit` and one a wallet.
    /// # Errors
    /// The books cannot be read.
    pub fn orders_by_provider_id(
        &self,
        project: ProjectId,
        name: ProviderId<'_>,
        limit: usize,
    ) -> Result<Vec<OrderId>, Error> {
        let under = |name: [u8; 16]| {
            self.under(LookUp::ProviderIds, &name, limit, |key, value| {
                Ok(OrderId {
                    serial: OrderSerial(number(Some(value))?),
                    wallet: wallet(key)?,
                })
            })
        };
        let orders = under(name.hash(project))?;
        match name.billed(project).filter(|_| orders.is_empty()) {
            Some(billed) => under(billed),
            None => Ok(orders),
        }
    }

    /// At most `limit` entries whose keys begin with `prefix`, in order.
    fn under<T>(
        &self,
        look_up: LookUp,
        prefix: &[u8],
        limit: usize,
        read: impl Fn(&[u8], &[u8]) -> Result<T, Error>,
    ) -> Result<Vec<T>, Error> {
        self.within(look_up, look_up.from(prefix), prefix, limit, read)
    }

    /// At most `limit` entries of a range, as long as their keys begin with `prefix`.
    fn within<T>(
        &self,
        look_up: LookUp,
        range: LookUpRange,
        prefix: &[u8],
        limit: usize,
        read: impl Fn(&[u8], &[u8]) -> Result<T, Error>,
    ) -> Result<Vec<T>, Error> {
        let entries = self.range(look_up, &range, limit)?;
        let same = entries.iter();
        let same = same.take_while(|(key, _)| key.starts_with(prefix));
        same.map(|(key, value)| read(key, value)).collect()
    }

    fn wallet_under(&self, look_up: LookUp, key: &[u8]) -> Result<Option<WalletKey>, Error> {
        let stored = self.find(look_up, key)?;
        stored.map(|value| wallet(&value)).transpose()
    }

    /// The wallet that a code opens, if it is not the code that the wallet was created with.
    /// # Errors
    /// The books cannot be read.
    pub fn code(&self, code: &CodeHash) -> Result<Option<WalletKey>, Error> {
        self.wallet_under(LookUp::Codes, &code.0)
    }

    /// The wallet that this code opened before it was replaced.
    /// # Errors
    /// The books cannot be read.
    pub fn former_code(&self, code: &CodeHash) -> Result<Option<WalletKey>, Error> {
        self.wallet_under(LookUp::FormerCodes, &code.0)
    }

    /// The key of the wallet with this identifier.
    /// # Errors
    /// The books cannot be read.
    pub fn wallet(&self, id: WalletId) -> Result<Option<WalletKey>, Error> {
        self.wallet_under(LookUp::Ids, &id.0.to_be_bytes())
    }

    /// At most `limit` orders of a project, checkouts and renewals alike, the newest first: those strictly before the
    /// place `before`, or the newest of all. Fewer than `limit`: there are no more. A page that is asked for with the
    /// last place of the page before it continues that one, however many orders were placed since.
    /// # Errors
    /// The books cannot be read.
    pub fn orders(
        &self,
        project: ProjectId,
        before: Option<(Timestamp, OrderSerial)>,
        limit: usize,
    ) -> Result<Vec<OrderPosition>, Error> {
        let all = OrderFilter::default();
        let rows = self.filtered_orders(project, &all, before, limit)?;
        Ok(rows.iter().map(|row| row.position).collect())
    }

    /// At most `limit` orders of a wallet, paged as those of a project are.
    /// # Errors
    /// The books cannot be read.
    pub fn wallet_orders(
        &self,
        wallet: WalletKey,
        before: Option<(Timestamp, OrderSerial)>,
        limit: usize,
    ) -> Result<Vec<OrderPosition>, Error> {
        let (at, serial) = before.unwrap_or((Timestamp::NEVER, OrderSerial(u128::MAX)));
        let range = LookUpRange::Before(wallet_order_key(wallet, at, serial));
        self.within(LookUp::WalletOrders, range, &wallet.0, limit, |key, _| {
            read_place(key, &wallet.0)
        })
    }

    /// At most `limit` pending orders of a project that expire at `until` or earlier, the soonest first: those
    /// strictly after the place `after`, or from the first. Fewer than `limit`: there are no more.
    /// # Errors
    /// The books cannot be read.
    pub fn due(
        &self,
        project: ProjectId,
        after: Option<(Timestamp, OrderSerial)>,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<OrderPosition>, Error> {
        self.places(LookUp::Due, project, after, until, limit)
    }

    /// At most `limit` period ends of a project's subscriptions that are not over, listed as pending orders are.
    /// # Errors
    /// The books cannot be read.
    pub fn periods(
        &self,
        project: ProjectId,
        after: Option<(Timestamp, u128)>,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<PeriodEnd>, Error> {
        let after = after.map(|(at, tie)| (at, OrderSerial(tie)));
        let places = self.places(LookUp::Periods, project, after, until, limit)?;
        let ends = places.into_iter().map(|place| PeriodEnd {
            at: place.at,
            tie: place.order.serial.0,
            wallet: place.order.wallet,
        });
        Ok(ends.collect())
    }

    /// At most `limit` wallets of a project whose automatic top-up is in a list by `until`, the soonest first: those
    /// strictly after the place `after`, or from the first. Fewer than `limit`: there are no more.
    /// # Errors
    /// The books cannot be read.
    pub fn top_ups(
        &self,
        project: ProjectId,
        list: TopUpList,
        after: Option<(Timestamp, WalletKey)>,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<(Timestamp, WalletKey)>, Error> {
        let list = ProjectId(u128::from_be_bytes(list.of(project)));
        let after = after.map(|(at, key)| (at, OrderSerial(u128::from_be_bytes(key.0))));
        let places = self.places(LookUp::TopUps, list, after, until, limit)?;
        let wallets = places
            .into_iter()
            .map(|place| (place.at, place.order.wallet));
        Ok(wallets.collect())
    }

    fn places(
        &self,
        look_up: LookUp,
        project: ProjectId,
        after: Option<(Timestamp, OrderSerial)>,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<OrderPosition>, Error> {
        let from = LookUpRange::From(first_after(project, after));
        let project = project.0.to_be_bytes();
        let mut places = self.within(look_up, from, &project, limit, |key, value| {
            read_place(key, if value.is_empty() { key } else { value })
        })?;
        places.retain(|place| place.at <= until);
        Ok(places)
    }

    /// At most `limit` wallets of a project that are found by this, in its order.
    /// # Errors
    /// The books cannot be read.
    pub fn wallets_of(
        &self,
        project: ProjectId,
        name: WalletName<'_>,
        limit: usize,
    ) -> Result<Vec<WalletKey>, Error> {
        let (look_up, prefix) = match name {
            WalletName::Buyer(email) => (LookUp::Buyers, buyer_key(project, email).into()),
            WalletName::User(text) => (LookUp::Users, user_prefix(project, text)),
        };
        self.under(look_up, &prefix, limit, |key, _| wallet(key))
    }

    /// At most `limit` wallets of a list, strictly after the place `after`, or from the first. Fewer than `limit`: there
    /// are no more.
    /// # Errors
    /// The books cannot be read.
    pub fn wallets(
        &self,
        project: ProjectId,
        order: WalletOrder,
        after: Option<WalletPlace>,
        limit: usize,
    ) -> Result<Vec<WalletPlace>, Error> {
        let last = WalletKey([u8::MAX; 16]);
        let (number, after) = after.map_or((i32::MAX, last), |it| (it.number, it.wallet));
        let (look_up, key, of) = match order {
            WalletOrder::LastUsed => {
                let key = day_key(project, number, &after);
                (LookUp::LastUsed, key, project.0)
            }
            WalletOrder::Balance(product) => {
                let rank = u8::try_from(number).unwrap_or(u8::MAX);
                let key = rank_key(product, rank, &after);
                (LookUp::Balances, key, product.0)
            }
        };
        let range = LookUpRange::Before(key);
        self.within(look_up, range, &of.to_be_bytes(), limit, |key, _| {
            let number = match order {
                WalletOrder::LastUsed => day_of(key),
                WalletOrder::Balance(_) => rank_of(key).map(i32::from),
            };
            Ok(WalletPlace {
                number: number.unwrap_or(0),
                wallet: wallet(key)?,
            })
        })
    }
}
