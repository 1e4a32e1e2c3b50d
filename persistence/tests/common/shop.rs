//! Wallets that buy, and notes.

use std::collections::BTreeSet;

use domain::{
    Timestamp,
    catalog::Interval,
    id::{OrderId, OrderSerial, PriceId, ProductId, ProjectId, WalletId},
    terms::Terms,
    text::{CheckoutId, Email, ExternalUserId},
    wallet::{
        Change, Created, Event, OrderKind, Owner,
        event::{OrderClosed, OrderPaid, OrderPlaced},
    },
};
use persistence::{Logged, Note};

use super::key;

/// For how long an order is pending, in milliseconds.
pub(crate) const HOUR: i64 = 3_600_000;

fn logged(wallet: u64, version: u64, at: i64, change: Change) -> Logged {
    Logged::Wallet {
        key: key(wallet),
        version,
        event: Event {
            at: Timestamp(at),
            change,
        },
    }
}

pub(crate) fn created(wallet: u64, project: ProjectId) -> Logged {
    let created = Created {
        id: WalletId(wallet.into()),
        project,
        owner: Owner::External(ExternalUserId::new("someone").unwrap()),
    };
    logged(wallet, 1, 0, Change::Created(Box::new(created)))
}

/// An order whose serial is its number, with a checkout session of that number if it is no renewal.
pub(crate) fn placed(
    wallet: u64,
    version: u64,
    at: i64,
    order: u128,
    kind: OrderKind,
    project: ProjectId,
) -> Logged {
    let checkout = (kind == OrderKind::Checkout).then(|| checkout(order));
    let change = OrderPlaced {
        order: OrderSerial(order),
        project,
        kind,
        terms: terms(),
        checkout,
        email: Some(email(FIRST)),
        expires_at: Timestamp(at + HOUR),
    };
    logged(wallet, version, at, Change::OrderPlaced(Box::new(change)))
}

/// The address under which orders are placed.
const FIRST: &str = "first@mail.example";

/// In which project an order was placed, and when.
pub(crate) type From = (ProjectId, i64);

fn terms() -> Terms {
    Terms {
        price: PriceId(1),
        product: ProductId(1),
        fills: ProductId(1),
        credits: 5,
        expire_after_days: None,
        rollover: false,
        features: BTreeSet::new(),
        interval: Interval::OneTime,
        label: None,
        amount_cents: 100,
        currency: "EUR".into(),
    }
}

pub(crate) fn paid(
    wallet: u64,
    version: u64,
    at: i64,
    order: u128,
    (project, placed_at): From,
    address: Option<&str>,
) -> Logged {
    let change = OrderPaid {
        order: OrderSerial(order),
        project,
        expires_at: Timestamp(placed_at + HOUR),
        amount_cents: 100,
        credits: 5,
        credits_expire_at: None,
        payment: None,
        invoice: None,
        subscription: None,
        customer: None,
        email: Some(email(address.unwrap_or(FIRST))),
    };
    logged(wallet, version, at, Change::OrderPaid(Box::new(change)))
}

pub(crate) fn expired(wallet: u64, version: u64, at: i64, order: u128, from: From) -> Logged {
    let change = Change::OrderExpired(closed(order, from));
    logged(wallet, version, at, change)
}

pub(crate) fn failed(wallet: u64, version: u64, at: i64, order: u128, from: From) -> Logged {
    let change = Change::OrderFailed(closed(order, from));
    logged(wallet, version, at, change)
}

fn closed(order: u128, (project, placed_at): From) -> OrderClosed {
    OrderClosed {
        order: OrderSerial(order),
        project,
        expires_at: Timestamp(placed_at + HOUR),
    }
}

pub(crate) fn email(text: &str) -> Email {
    Email::new(text).unwrap()
}

pub(crate) fn checkout(order: u128) -> CheckoutId {
    CheckoutId::new(format!("cs_{order}")).unwrap()
}

pub(crate) fn id(wallet: u64, order: u128) -> OrderId {
    OrderId {
        serial: OrderSerial(order),
        wallet: key(wallet),
    }
}

pub(crate) fn note(key: &str, body: Option<&str>) -> Logged {
    Logged::Note(Note {
        key: key.as_bytes().into(),
        body: body.map(|body| body.as_bytes().into()),
    })
}
