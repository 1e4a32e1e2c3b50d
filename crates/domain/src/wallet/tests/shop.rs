//! Shorthands for what a buyer and the provider do to a wallet. Each returns whether it changed anything.

use std::collections::BTreeSet;

use super::{GOLD, driver::Driver};
use crate::{
    Quantity, Rejection, Timestamp,
    catalog::Interval,
    id::{CodeHash, OrderSerial, PriceId, ProductId},
    terms::Terms,
    text::{CheckoutId, CustomerId, Email, Feature, InvoiceId, PaymentId, SubscriptionId},
    wallet::{
        Change, Order, OrderKind, Reversal, Subscription, SubscriptionStatus,
        bill::{Bill, Pays},
        event::SubscriptionEvent,
        pay::{MintedCode, PaidCycle, Pay, Payment},
        place_order::PlaceOrder,
        purchase::{OrderReport, Purchase},
        switch::Proration,
        update_subscription::UpdateSubscription,
    },
};

/// The product that tiers belong to; they fill [`GOLD`].
pub(super) const CLUB: ProductId = ProductId(70);
pub(super) const DAY: i64 = 86_400;
pub(super) const MONTH: i64 = 30 * DAY;

/// 100 credits for 10.00, for good.
pub(super) fn pack() -> Terms {
    Terms {
        price: PriceId(1),
        product: GOLD,
        fills: GOLD,
        credits: 100,
        expire_after_days: None,
        rollover: false,
        repeatable: false,
        features: BTreeSet::new(),
        interval: Interval::OneTime,
        trial_days: None,
        trial_credits: 0,
        label: None,
        amount_cents: 1000,
        currency: "EUR".into(),
    }
}

/// A feature, bought once.
pub(super) fn unlock(slug: &str) -> Terms {
    Terms {
        credits: 0,
        features: features(&[slug]),
        ..pack()
    }
}

/// A monthly tier whose feature has its name.
pub(super) fn tier(name: &str, credits: i64) -> Terms {
    Terms {
        price: PriceId(credits.unsigned_abs().into()),
        product: CLUB,
        credits,
        features: features(&[name]),
        interval: Interval::Month,
        label: Some(name.into()),
        ..pack()
    }
}

pub(super) fn features(slugs: &[&str]) -> BTreeSet<Feature> {
    slugs
        .iter()
        .map(|slug| Feature::new(*slug).unwrap())
        .collect()
}

pub(super) fn placed(serial: u128, terms: Terms) -> PlaceOrder {
    PlaceOrder {
        order: OrderSerial(serial),
        terms,
        checkout: Some(CheckoutId::new(format!("cs_{serial}")).unwrap()),
        email: None,
        quantity: Quantity::ONE,
        metadata: crate::metadata::Metadata::default(),
        locale: None,
        names_code: false,
    }
}

pub(super) fn payment(serial: u128, amount_cents: i64) -> Payment {
    Payment {
        amount_cents,
        payment: Some(PaymentId::new(format!("pi_{serial}")).unwrap()),
        invoice: None,
        customer: Some(CustomerId::new("cus_ann").unwrap()),
        email: Some(Email::new("ann@example.org").unwrap()),
        receipt: crate::wallet::Receipt::default(),
    }
}

pub(super) fn paying(serial: u128, amount_cents: i64) -> Pay {
    Pay {
        order: OrderSerial(serial),
        kind: OrderKind::Checkout,
        missing_order: None,
        payment: payment(serial, amount_cents),
        billing: None,
        code: MintedCode {
            hash: CodeHash([5; 16]),
            sealed: Box::new([5, 5]),
        },
    }
}

pub(super) fn sub(number: u128) -> SubscriptionId {
    SubscriptionId::new(format!("sub_{number}")).unwrap()
}

/// A switch between two tiers, as the two lines of an invoice say it.
pub(super) fn switch(old: Terms, new: Terms, at: Timestamp, billing: &PaidCycle) -> Pays {
    let line = |terms, given_back| Proration {
        terms,
        quantity: Quantity::ONE,
        given_back,
        at,
        cycle_start: billing.cycle_start,
        cycle_end: billing.current_period_end,
    };
    Pays::Switches(vec![line(new, false), line(old, true)])
}

impl Driver {
    pub(super) fn order(&mut self, serial: u128, terms: Terms) -> Result<bool, Rejection> {
        self.purchase(Purchase::Place(placed(serial, terms)))
    }

    pub(super) fn pay_with(&mut self, pay: Pay) -> Result<bool, Rejection> {
        self.purchase(Purchase::Pay(Box::new(pay)))
    }

    pub(super) fn pay(&mut self, serial: u128, amount_cents: i64) -> Result<bool, Rejection> {
        self.pay_with(paying(serial, amount_cents))
    }

    /// Places an order and pays its price.
    pub(super) fn buy(&mut self, serial: u128, terms: Terms) {
        let price = terms.amount_cents;
        assert_eq!(self.order(serial, terms), Ok(true));
        assert_eq!(self.pay(serial, price), Ok(true));
    }

    /// Pays for the first cycle, a month.
    pub(super) fn pay_subscription(&mut self, serial: u128, number: u128) -> bool {
        let billing = Some(self.billing(number));
        let price = self.placed_order(serial).terms.amount_cents;
        let pay = Pay {
            billing,
            ..paying(serial, price)
        };
        self.pay_with(pay).unwrap()
    }

    pub(super) fn subscribe(&mut self, serial: u128, number: u128, terms: Terms) {
        assert_eq!(self.order(serial, terms), Ok(true));
        assert!(self.pay_subscription(serial, number));
    }

    pub(super) fn renewal(&self, serial: u128, number: u128, terms: Terms) -> Bill {
        Bill {
            order: OrderSerial(serial),
            is_add_on: false,
            pays: Pays::Cycle,
            payment: payment(serial, terms.amount_cents),
            terms: Some(terms),
            quantity: Quantity::ONE,
            billing: self.billing(number),
        }
    }

    pub(super) fn renew_with(&mut self, renewal: Bill) -> bool {
        self.purchase(Purchase::Bill(Box::new(renewal))).unwrap()
    }

    /// Pays another month from now on.
    pub(super) fn renew(&mut self, serial: u128, number: u128, terms: Terms) -> bool {
        self.renew_with(self.renewal(serial, number, terms))
    }

    /// A report that says nothing new.
    pub(super) fn report(&self, number: u128) -> UpdateSubscription {
        let existing = self.subscription(number);
        UpdateSubscription {
            subscription: existing.id.clone(),
            first: None,
            terms: None,
            status: existing.status,
            open_invoice: existing.open_invoice.clone(),
            collection_paused: existing.collection_paused,
            current_period_end: existing.current_period_end,
            cancel_at_period_end: existing.cancel_at_period_end,
            grace_days: 7,
            reported_at: self.now,
        }
    }

    pub(super) fn update(&mut self, report: UpdateSubscription) -> bool {
        self.purchase(Purchase::Update(Box::new(report))).unwrap()
    }

    pub(super) fn set_status(&mut self, number: u128, status: SubscriptionStatus) -> bool {
        self.update(UpdateSubscription {
            status,
            ..self.report(number)
        })
    }

    /// The provider reports that it bills another tier from now on.
    pub(super) fn name_tier(&mut self, number: u128, terms: Terms) -> bool {
        self.update(UpdateSubscription {
            terms: Some(terms),
            ..self.report(number)
        })
    }

    /// A switch from one tier to another, now, in the cycle that is known.
    pub(super) fn switching(
        &self,
        serial: u128,
        number: u128,
        (old, terms): (Terms, Terms),
    ) -> Bill {
        let existing = self.subscription(number);
        let billing = PaidCycle {
            cycle_start: existing.cycle_start,
            current_period_end: existing.cycle_end,
            ..self.billing(number)
        };
        Bill {
            order: OrderSerial(serial),
            is_add_on: false,
            pays: switch(old, terms.clone(), self.now, &billing),
            payment: payment(serial, 700),
            terms: Some(terms),
            quantity: Quantity::ONE,
            billing,
        }
    }

    pub(super) fn switch_with(&mut self, switch: Bill) -> bool {
        self.purchase(Purchase::Bill(Box::new(switch))).unwrap()
    }

    /// Pays a switch from the tier in force to another, which the provider then reports.
    pub(super) fn switch(&mut self, serial: u128, number: u128, terms: Terms) -> bool {
        let old = self.subscription(number).tier().clone();
        let switch = self.switching(serial, number, (old, terms.clone()));
        let paid = self.switch_with(switch);
        self.name_tier(number, terms);
        paid
    }

    pub(super) fn process(&mut self, serial: u128) -> Result<bool, Rejection> {
        self.purchase(Purchase::Report(
            OrderSerial(serial),
            OrderReport::Processing,
        ))
    }

    pub(super) fn fail(&mut self, serial: u128) -> Result<bool, Rejection> {
        self.purchase(Purchase::Report(OrderSerial(serial), OrderReport::Failed))
    }

    pub(super) fn expire(&mut self, serial: u128) -> Result<bool, Rejection> {
        self.purchase(Purchase::Report(OrderSerial(serial), OrderReport::Expired))
    }

    /// Reports what is refunded and disputed of an order's payment now.
    pub(super) fn reverse(&mut self, serial: u128, refunded: i64, disputed: i64) -> bool {
        let reversal = self.reversal(refunded, disputed);
        self.reverse_with(serial, reversal).unwrap()
    }

    pub(super) fn reverse_with(
        &mut self,
        serial: u128,
        reversal: Reversal,
    ) -> Result<bool, Rejection> {
        self.purchase(Purchase::Reverse(OrderSerial(serial), reversal))
    }

    /// A reversal as the provider would report it now.
    pub(super) fn reversal(&self, refunded_cents: i64, disputed_cents: i64) -> Reversal {
        Reversal {
            refunded_cents,
            disputed_cents,
            dispute: None,
            as_of: self.now,
        }
    }

    pub(super) fn refund(&mut self, serial: u128, cents: i64) -> bool {
        let existing = self.known_reversal(serial);
        self.reverse(serial, cents, existing.disputed_cents)
    }

    pub(super) fn dispute(&mut self, serial: u128, cents: i64) -> bool {
        let existing = self.known_reversal(serial);
        self.reverse(serial, existing.refunded_cents, cents)
    }

    fn known_reversal(&self, serial: u128) -> Reversal {
        let serial = OrderSerial(serial);
        let orders = self.orders();
        let early = || self.wallet.commerce.as_ref()?.early.get(&serial).copied();
        let existing = orders.get(&serial).map(|order| order.reversal);
        existing.or_else(early).unwrap_or_default()
    }

    pub(super) fn placed_order(&self, serial: u128) -> &Order {
        let serial = OrderSerial(serial);
        let archived = || self.archived_order(serial).map(|archived| &archived.order);
        self.wallet.order(serial).or_else(archived).unwrap()
    }

    /// A subscription as it is, or was when it left the wallet.
    pub(super) fn subscription(&self, number: u128) -> &Subscription {
        let id = sub(number);
        let changes = self
            .events
            .iter()
            .rev()
            .find_map(|event| match &event.change {
                Change::SubscriptionChanged(changes) if changes.subscription.id == id => {
                    Some(&changes.subscription)
                }
                _ => None,
            });
        self.wallet.subscription(&id).or(changes).unwrap()
    }

    pub(super) fn gold(&self) -> i64 {
        self.wallet.available(GOLD)
    }

    /// The credits that an order still has.
    pub(super) fn left_of(&self, serial: u128) -> i64 {
        let lots = self.wallet.accounts().iter().flat_map(|a| a.lots());
        let own = lots.filter(|lot| lot.order == Some(OrderSerial(serial)));
        own.map(|lot| lot.left).sum()
    }

    pub(super) fn billing(&self, number: u128) -> PaidCycle {
        PaidCycle {
            subscription: sub(number),
            invoice: Some(InvoiceId::new(format!("in_{}", self.now.0)).unwrap()),
            cycle_start: self.now,
            current_period_end: self.after_seconds(MONTH),
            trial: false,
            after_end: false,
            paused: false,
            reported_at: self.now,
        }
    }
}

pub(super) fn paid_at(order: &Order) -> (crate::wallet::OrderStatus, Option<Timestamp>) {
    (order.status(), order.paid_at)
}

pub(super) fn basic() -> Terms {
    tier("basic", 100)
}

/// Subscribed to the basic tier by order 1.
pub(super) fn subscribed() -> Driver {
    subscribed_to(basic())
}

pub(super) fn subscribed_to(terms: Terms) -> Driver {
    let mut driver = Driver::new();
    driver.subscribe(1, 1, terms);
    driver
}

pub(super) fn unlocked(driver: &Driver) -> Vec<&str> {
    driver.wallet.features(driver.now)
}

/// What project events say about subscriptions, in order.
pub(super) fn subscription_event(driver: &Driver) -> Vec<Option<SubscriptionEvent>> {
    let changes = driver
        .events
        .iter()
        .filter_map(|event| match &event.change {
            Change::SubscriptionChanged(changed) => Some(changed.subscription_event),
            _ => None,
        });
    changes.collect()
}
