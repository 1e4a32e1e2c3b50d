//! Wallets that buy, and notes.

use std::collections::BTreeSet;

use domain::{
    Timestamp,
    catalog::Interval,
    id::{OrderId, OrderSerial, PriceId, ProductId, ProjectId},
    terms::Terms,
    text::{CheckoutId, CustomerId, Email, ExternalUserId, InvoiceId, PaymentId, SubscriptionId},
    wallet::{
        Change, OrderKind, Owner, Subscription, SubscriptionStatus,
        event::{OrderClosed, OrderPaid, OrderPlaced, SubscriptionChanged},
    },
};
use persistence::{LogEvent, Note};

use super::{WalletModel, key};

/// For how long an order is pending, in milliseconds.
pub(crate) const HOUR: i64 = 3_600_000;

impl WalletModel {
    pub(crate) fn opened(&mut self, wallet: u64, project: ProjectId) -> LogEvent {
        let owner = Owner::External(ExternalUserId::new("someone").unwrap());
        self.creation(wallet, project, owner)
    }

    /// An order whose serial is its number, with a checkout session of that number if it is no renewal.
    pub(crate) fn placed(
        &mut self,
        wallet: u64,
        at: i64,
        order: u128,
        kind: OrderKind,
    ) -> LogEvent {
        let checkout = (kind == OrderKind::Checkout).then(|| checkout(order));
        let change = OrderPlaced {
            order: OrderSerial(order),
            project: self.wallet(wallet).project,
            kind,
            terms: terms(),
            checkout,
            email: Some(email("first@mail.example")),
            expires_at: Timestamp(at + HOUR),
            quantity: domain::Quantity::ONE,
            metadata: domain::metadata::Metadata::default(),
            locale: None,
            names_code: false,
            rotations: 0,
        };
        self.event(wallet, at, Change::OrderPlaced(Box::new(change)))
    }

    /// Under an address, or under the one that the order was placed with.
    pub(crate) fn paid(
        &mut self,
        wallet: u64,
        at: i64,
        order: u128,
        address: Option<&str>,
    ) -> LogEvent {
        let mut change = self.payment(wallet, order);
        change.email = address.map(email).or(change.email);
        self.event(wallet, at, Change::OrderPaid(Box::new(change)))
    }

    /// The same, of a subscription of this number, with all names that a provider gives.
    pub(crate) fn billed(&mut self, wallet: u64, at: i64, order: u128, number: u128) -> LogEvent {
        let change = OrderPaid {
            payment: PaymentId::new(format!("pi_{order}")).ok(),
            invoice: InvoiceId::new(format!("in_{order}")).ok(),
            subscription: SubscriptionId::new(format!("sub_{number}")).ok(),
            customer: CustomerId::new("cus_1").ok(),
            ..self.payment(wallet, order)
        };
        self.event(wallet, at, Change::OrderPaid(Box::new(change)))
    }

    fn payment(&self, wallet: u64, order: u128) -> OrderPaid {
        let closed = self.closed(wallet, order);
        let known = self.wallet(wallet).order(closed.order).unwrap();
        OrderPaid {
            order: closed.order,
            project: closed.project,
            kind: known.kind,
            expires_at: closed.expires_at,
            amount_cents: 100,
            credits: 5,
            credits_expire_at: None,
            payment: None,
            invoice: None,
            subscription: None,
            customer: None,
            email: known.email.clone(),
            receipt: domain::wallet::Receipt::default(),
        }
    }

    pub(crate) fn expired(&mut self, wallet: u64, at: i64, order: u128) -> LogEvent {
        let closed = self.closed(wallet, order);
        self.event(wallet, at, Change::OrderExpired(closed))
    }

    pub(crate) fn failed(&mut self, wallet: u64, at: i64, order: u128) -> LogEvent {
        let closed = self.closed(wallet, order);
        self.event(wallet, at, Change::OrderFailed(closed))
    }

    /// A subscription of this number whose period ends then, or which is over.
    pub(crate) fn subscribed(
        &mut self,
        wallet: u64,
        at: i64,
        number: u128,
        end: Option<i64>,
    ) -> LogEvent {
        let id = SubscriptionId::new(format!("sub_{number}")).unwrap();
        let state = self.wallet(wallet);
        let known = state.subscription(&id);
        let former_end = known.map(|known| known.current_period_end);
        let ends = end.map(Timestamp).or(former_end).unwrap();
        let subscription = Subscription {
            id,
            customer: None,
            paid_tier: terms(),
            tier_switch: None,
            reported_tier: None,
            status: match end {
                Some(_) => SubscriptionStatus::Active,
                None => SubscriptionStatus::Canceled,
            },
            open_invoice: None,
            collection_paused: false,
            cycle_start: Timestamp(0),
            cycle_end: ends,
            current_period_end: ends,
            cancel_at_period_end: false,
            past_due_since: None,
            grace_ends_at: None,
            order: None,
            reversed: false,
            steps: Vec::new(),
            reported_at: Timestamp(0),
            cycles_ended: 0,
            cycle_ended_at: None,
        };
        let changed = SubscriptionChanged {
            project: state.project,
            former_end,
            subscription_event: None,
            subscription,
        };
        self.event(wallet, at, Change::SubscriptionChanged(Box::new(changed)))
    }

    fn closed(&self, wallet: u64, order: u128) -> OrderClosed {
        let (wallet, order) = (self.wallet(wallet), OrderSerial(order));
        OrderClosed {
            order,
            project: wallet.project,
            expires_at: wallet.order(order).unwrap().expires_at,
        }
    }
}

fn terms() -> Terms {
    Terms {
        price: PriceId(1),
        product: ProductId(1),
        fills: ProductId(1),
        credits: 5,
        expire_after_days: None,
        rollover: false,
        repeatable: false,
        features: BTreeSet::new(),
        interval: Interval::OneTime,
        trial_days: None,
        trial_credits: 0,
        label: None,
        amount_cents: 100,
        currency: "EUR".into(),
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

pub(crate) fn note(key: &str, body: Option<&str>) -> LogEvent {
    LogEvent::Note(Note {
        key: key.as_bytes().into(),
        body: body.map(|body| body.as_bytes().into()),
    })
}
