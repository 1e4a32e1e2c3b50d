//! Orders by when they were placed: all of a project, and those of each status, product and buyer. An entry has what
//! lists are filtered by and added up from, so that neither wakes a wallet.

use super::{
    keys::{OrderPosition, buyer_key, hash, joined, key_of, read_place, short},
    list_change::{ListedOrder, OrderSummary},
    spec::{Key, Value},
};
use crate::error::Error;
use domain::{
    Timestamp,
    id::{OrderSerial, PriceId, ProductId, ProjectId, WalletKey},
    text::Email,
    wallet::{Order, OrderStatus, Wallet},
};

/// Status, product, price, amount, refunds, currency.
const SUMMARY_BYTES: usize = 52;
/// Added to the status while its money is on its way.
const PROCESSING: u8 = 0x80;
/// Added to the status while a dispute of it waits for an answer.
const DISPUTED: u8 = 0x40;

/// An order in a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OrderRow {
    /// Its place in the list.
    pub position: OrderPosition,
    /// What else the list has of it.
    pub summary: OrderSummary,
}

/// What the orders of a list have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OrderGroup<'a> {
    All,
    Status(OrderStatus),
    Processing,
    Disputed,
    Product(ProductId),
    Buyer(&'a Email),
}

impl ListedOrder {
    /// An order as its wallet has it.
    pub(super) fn of(wallet: &Wallet, order: &Order) -> Self {
        let currency = order.terms.currency.as_bytes().first_chunk();
        let refunded_cents = match order.paid_at {
            Some(_) => order.reversal.refunded_cents,
            None => 0,
        };
        let email = order.email.as_ref();
        Self {
            placed_at: order.created_at,
            buyer: email.map(|email| buyer_key(wallet.project, email)),
            summary: OrderSummary {
                status: order.status(),
                processing: order.is_processing(),
                disputed: order
                    .reversal
                    .dispute
                    .is_some_and(|it| it.won.is_none() && it.respond_by.is_some()),
                product: order.terms.product,
                price: order.terms.price,
                amount_cents: order.amount_cents,
                refunded_cents,
                currency: currency.copied().unwrap_or(*b"XXX"),
            },
        }
    }

    pub(super) fn each_key(
        &self,
        project: ProjectId,
        serial: OrderSerial,
        each: &mut dyn FnMut(Key),
    ) {
        let summary = &self.summary;
        let groups = [
            OrderGroup::All,
            OrderGroup::Status(summary.status),
            OrderGroup::Product(summary.product),
        ];
        let processing = summary.processing.then_some(OrderGroup::Processing);
        let disputed = summary.disputed.then_some(OrderGroup::Disputed);
        let groups = groups.into_iter().chain(processing).chain(disputed);
        for group in groups.map(|group| group.hash(project)).chain(self.buyer) {
            each(key_of(&group, self.placed_at, serial));
        }
    }
}

impl OrderGroup<'_> {
    pub(crate) fn hash(self, project: ProjectId) -> [u8; 16] {
        match self {
            Self::All => hash(b"orders", project, ""),
            Self::Status(status) => {
                let name = STATUSES.get(status as usize).map_or("", |(_, name)| *name);
                hash(b"orders in", project, name)
            }
            Self::Processing => hash(b"orders in", project, "processing"),
            Self::Disputed => hash(b"orders in", project, "disputed"),
            Self::Product(product) => hash(b"orders of", project, &product.to_string()),
            Self::Buyer(email) => buyer_key(project, email),
        }
    }
}

impl OrderSummary {
    /// The currency's ISO 4217 code.
    pub fn currency(&self) -> &str {
        currency_code(&self.currency)
    }

    pub(super) fn write(&self, wallet: &WalletKey) -> Value {
        let processing = if self.processing { PROCESSING } else { 0 };
        let disputed = if self.disputed { DISPUTED } else { 0 };
        joined(&[
            &[self.status as u8 | processing | disputed],
            &self.product.0.to_be_bytes(),
            &self.price.0.to_be_bytes(),
            &self.amount_cents.to_be_bytes(),
            &self.refunded_cents.to_be_bytes(),
            &self.currency,
            &wallet.0,
        ])
    }

    fn read(value: &[u8]) -> Option<Self> {
        let (state, rest) = value.split_first()?;
        let (product, rest) = rest.split_first_chunk()?;
        let (price, rest) = rest.split_first_chunk()?;
        let (amount, rest) = rest.split_first_chunk()?;
        let (refunded, rest) = rest.split_first_chunk()?;
        let status = |status: &OrderStatus| *status as u8 == state & !(PROCESSING | DISPUTED);
        Some(Self {
            status: STATUSES.iter().map(|(status, _)| *status).find(status)?,
            processing: state & PROCESSING != 0,
            disputed: state & DISPUTED != 0,
            product: ProductId(u128::from_be_bytes(*product)),
            price: PriceId(u128::from_be_bytes(*price)),
            amount_cents: i64::from_be_bytes(*amount),
            refunded_cents: i64::from_be_bytes(*refunded),
            currency: *rest.first_chunk()?,
        })
    }
}

impl OrderRow {
    pub(crate) fn read(key: &[u8], value: &[u8]) -> Result<Self, Error> {
        let (summary, owner) = value.split_at_checked(SUMMARY_BYTES).ok_or_else(short)?;
        Ok(Self {
            position: read_place(key, owner)?,
            summary: OrderSummary::read(summary).ok_or_else(short)?,
        })
    }
}

pub(crate) fn currency_code(currency: &[u8; 3]) -> &str {
    str::from_utf8(currency).unwrap_or("XXX")
}

/// In the order of their numbers.
const STATUSES: [(OrderStatus, &str); 5] = [
    (OrderStatus::Pending, "pending"),
    (OrderStatus::Paid, "paid"),
    (OrderStatus::Failed, "failed"),
    (OrderStatus::Refunded, "refunded"),
    (OrderStatus::Expired, "expired"),
];

/// The first key of a group, or the first at an instant or later.
pub(crate) fn first_in(group: [u8; 16], from: Option<Timestamp>) -> Key {
    key_of(&group, from.unwrap_or(Timestamp(i64::MIN)), OrderSerial(0))
}
