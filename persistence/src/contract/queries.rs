//! What the books are asked: questions that the look-ups answer.

use domain::{
    id::{CodeHash, OrderId, OrderSerial, ProjectId, WalletId, WalletKey},
    text::Email,
    time::Timestamp,
};

use super::{books::Books, order_queries::OrderFilter};
use crate::{
    error::Error,
    lookups::{
        LookUp, LookUpRange, OrderPosition, ProviderId, joined,
        orders::{
            buyer_key, first_after, number, read_place, read_wallet_order, wallet, wallet_order_key,
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
        let orders = self.under(name.hash(project), limit)?;
        match name.billed(project).filter(|_| orders.is_empty()) {
            Some(billed) => self.under(billed, limit),
            None => Ok(orders),
        }
    }

    fn under(&self, name: [u8; 16], limit: usize) -> Result<Vec<OrderId>, Error> {
        let from = LookUpRange::From(joined(&[&name, &[0; 16]]));
        let entries = self.range(LookUp::ProviderIds, &from, limit)?;
        let same = entries.iter().take_while(|(key, _)| key.starts_with(&name));
        let orders = same.map(|(key, value)| {
            Ok(OrderId {
                serial: OrderSerial(number(Some(value))?),
                wallet: wallet(key)?,
            })
        });
        orders.collect()
    }

    /// The wallet that a code opens, if it is not the code that the wallet was created with.
    /// # Errors
    /// The books cannot be read.
    pub fn code(&self, code: &CodeHash) -> Result<Option<WalletKey>, Error> {
        let stored = self.find(LookUp::Codes, &code.0)?;
        stored.map(|value| wallet(&value)).transpose()
    }

    /// The key of the wallet with this identifier.
    /// # Errors
    /// The books cannot be read.
    pub fn wallet(&self, id: WalletId) -> Result<Option<WalletKey>, Error> {
        let stored = self.find(LookUp::Ids, &id.0.to_be_bytes())?;
        stored.map(|value| wallet(&value)).transpose()
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
        let entries = self.range(LookUp::WalletOrders, &range, limit)?;
        let own = entries
            .iter()
            .take_while(|(key, _)| key.starts_with(&wallet.0));
        own.map(|(key, _)| read_wallet_order(key)).collect()
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
        let from = first_after(project, after);
        let mut places = self.places(LookUp::Due, project, LookUpRange::From(from), limit)?;
        places.retain(|place| place.at <= until);
        Ok(places)
    }

    /// At most `limit` wallets of a project with an order that was paid under this address, by key. Case is ignored.
    /// Addresses are found by 128 bits of a hash, which do not collide by chance or by design.
    /// # Errors
    /// The books cannot be read.
    pub fn buyers(
        &self,
        project: ProjectId,
        email: &Email,
        limit: usize,
    ) -> Result<Vec<WalletKey>, Error> {
        let address = buyer_key(project, email);
        let from = LookUpRange::From(joined(&[&address, &[0; 16]]));
        let entries = self.range(LookUp::Buyers, &from, limit)?;
        let same = entries
            .iter()
            .take_while(|(key, _)| key.starts_with(&address));
        same.map(|(key, _)| wallet(key)).collect()
    }

    fn places(
        &self,
        look_up: LookUp,
        project: ProjectId,
        range: LookUpRange,
        limit: usize,
    ) -> Result<Vec<OrderPosition>, Error> {
        let entries = self.range(look_up, &range, limit)?;
        let project = project.0.to_be_bytes();
        let own = entries
            .iter()
            .take_while(|(key, _)| key.starts_with(&project));
        own.map(|(key, value)| read_place(key, value)).collect()
    }

    /// At most `limit` period ends of a project's subscriptions that are not over, at `until` or earlier, the soonest
    /// first: those strictly after the place `after`, or from the first. Fewer than `limit`: there are no more.
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
        let from = LookUpRange::From(first_after(project, after));
        let mut places = self.places(LookUp::Periods, project, from, limit)?;
        places.retain(|place| place.at <= until);
        let ends = places.into_iter().map(|place| PeriodEnd {
            at: place.at,
            tie: place.order.serial.0,
            wallet: place.order.wallet,
        });
        Ok(ends.collect())
    }
}
