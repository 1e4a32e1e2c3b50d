//! A project's orders, filtered by what lists have of them: no wallet is woken.

use domain::{
    Timestamp,
    id::{OrderSerial, ProductId, ProjectId},
    text::Email,
    wallet::OrderStatus,
};

use super::books::Books;
use crate::{
    error::Error,
    lookups::{
        LookUp, LookUpRange, OrderRow,
        keys::key_of,
        order_lists::{OrderGroup, first_in},
    },
    usage::SalesCell,
};

/// Entries that are read at once: what is appended at the same time waits for no more than these.
pub(super) const AT_ONCE: usize = 1024;

/// Which orders to list. Empty: all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OrderFilter {
    /// Only those in this state.
    pub state: Option<OrderState>,
    /// Only those that buy this product.
    pub product: Option<ProductId>,
    /// Only those of the buyer with this address; case is ignored.
    pub email: Option<Email>,
    /// Only those placed then or later.
    pub from: Option<Timestamp>,
    /// Only those placed before.
    pub to: Option<Timestamp>,
    /// Only those of at least this amount, in the minor unit of their currency.
    pub min_cents: Option<i64>,
    /// Only those of at most this amount.
    pub max_cents: Option<i64>,
}

/// A state that orders are filtered by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OrderState {
    /// They have this status.
    Is(OrderStatus),
    /// Their money is on its way.
    Processing,
    /// They are disputed, and the bank awaits an answer.
    Disputed,
}

impl OrderState {
    /// Whether the orders that are counted in this cell are in this state.
    pub(super) fn has(self, cell: &SalesCell) -> bool {
        match self {
            Self::Is(status) => cell.status == status,
            Self::Processing => cell.processing,
            Self::Disputed => cell.disputed,
        }
    }
}

impl OrderFilter {
    /// The smallest list that has all that are wanted: that of a buyer, of a state that few orders are in, of a product.
    const fn group(&self) -> OrderGroup<'_> {
        match (&self.email, self.state, self.product) {
            (Some(email), ..) => OrderGroup::Buyer(email),
            (None, Some(OrderState::Processing), _) => OrderGroup::Processing,
            (None, Some(OrderState::Disputed), _) => OrderGroup::Disputed,
            (None, Some(OrderState::Is(OrderStatus::Paid)), Some(product)) => {
                OrderGroup::Product(product)
            }
            (None, Some(OrderState::Is(status)), _) => OrderGroup::Status(status),
            (None, None, Some(product)) => OrderGroup::Product(product),
            (None, None, None) => OrderGroup::All,
        }
    }

    /// Whether it asks for what sums are not kept by: a buyer, or an amount.
    pub(super) const fn is_by_order(&self) -> bool {
        self.email.is_some() || self.min_cents.is_some() || self.max_cents.is_some()
    }

    /// Whether an order of its list is wanted.
    fn fits(&self, row: &OrderRow) -> bool {
        let summary = &row.summary;
        let cell = SalesCell::of(summary);
        self.state.is_none_or(|state| state.has(&cell))
            && self.product.is_none_or(|it| summary.product == it)
            && self.min_cents.is_none_or(|it| summary.amount_cents >= it)
            && self.max_cents.is_none_or(|it| summary.amount_cents <= it)
    }
}

impl dyn Books + '_ {
    /// At most `limit` orders of a project, the newest first: those strictly before the place `before`, or the newest
    /// of all. Fewer than `limit`: there are no more. The next page is asked for with the last one's place.
    /// # Errors
    /// The books cannot be read.
    pub fn filtered_orders(
        &self,
        project: ProjectId,
        filter: &OrderFilter,
        before: Option<(Timestamp, OrderSerial)>,
        limit: usize,
    ) -> Result<Vec<OrderRow>, Error> {
        let mut found = Vec::new();
        if limit > 0 {
            // A page of all orders needs no more than it has.
            let at_once = limit.saturating_add(1).clamp(16, AT_ONCE);
            self.each_order(project, filter, before, at_once, &mut |row| {
                found.push(row);
                found.len() < limit
            })?;
        }
        Ok(found)
    }

    /// Calls `each` with all orders that are wanted, the newest first, until it returns false.
    pub(super) fn each_order(
        &self,
        project: ProjectId,
        filter: &OrderFilter,
        before: Option<(Timestamp, OrderSerial)>,
        at_once: usize,
        each: &mut dyn FnMut(OrderRow) -> bool,
    ) -> Result<(), Error> {
        let group = filter.group().hash(project);
        let end = filter.to.map(|to| (to, OrderSerial(0)));
        let (at, serial) = [before, end]
            .into_iter()
            .flatten()
            .min()
            .unwrap_or((Timestamp::NEVER, OrderSerial(u128::MAX)));
        let first = first_in(group, filter.from);
        let mut key = key_of(&group, at, serial);
        let mut at_once = at_once;
        loop {
            let range = LookUpRange::Before(key);
            let entries = self.range(LookUp::Orders, &range, at_once)?;
            let is_last = entries.len() < at_once;
            at_once = AT_ONCE;
            for (key, value) in entries.iter() {
                if *key < *first {
                    return Ok(());
                }
                let row = OrderRow::read(key, value)?;
                if filter.fits(&row) && !each(row) {
                    return Ok(());
                }
            }
            match entries.iter().next_back() {
                Some((last, _)) if !is_last => key = last.into(),
                _ => return Ok(()),
            }
        }
    }
}
