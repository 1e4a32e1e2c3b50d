//! Wallets that buy, and notes; and every question about them, answered by looking at everything.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
};

use domain::{
    Quantity, Timestamp,
    catalog::Interval,
    id::{OrderId, OrderSerial, PriceId, ProductId, ProjectId, WalletKey},
    terms::Terms,
    text::{CardId, CheckoutId, CustomerId, Email, IdempotencyKey, PaymentId, SubscriptionId},
    top_up::{
        CardBrand, CardDigits, SavedCard, Suspension, TopUpChange, TopUpConsent, TopUpRule,
        TopUpSize,
    },
    wallet::{
        ArchivedOrder, Change, Currency, Dispute, DisputeReason, Instruction, InstructionRecord,
        InstructionStage, NamedSubscription, Order, OrderKind, OrderStatus, Reversal, Subscription,
        SubscriptionStatus,
        event::{OrderClosed, OrderPaid, OrderPlaced, SubscriptionChanged},
    },
};

use super::{World, wallet_key};
use crate::{
    OrderPosition, OrderRow, ProviderId, WalletName,
    contract::{Books, OrderFilter, OrderState},
    format::append::{LogEvent, Note},
};

type Notes = BTreeMap<Box<[u8]>, Box<[u8]>>;

#[derive(Default)]
pub(super) struct Shop {
    notes: Notes,
    /// Whether callers instruct the provider.
    instructs: bool,
    /// Whether years pass.
    is_slow: bool,
}

impl Shop {
    pub(super) fn of_a_desk() -> Self {
        Self {
            instructs: true,
            ..Self::default()
        }
    }

    pub(super) fn of_years() -> Self {
        Self {
            is_slow: true,
            ..Self::default()
        }
    }

    pub(super) const fn instant(&self, events: i64) -> i64 {
        // Several things happen at once.
        let at = events / 4;
        // At all times of the day.
        if self.is_slow {
            at * (11 * 24 + 7) * 3_600_000 + at * at
        } else {
            at
        }
    }
}

pub(super) fn project(key: WalletKey) -> ProjectId {
    ProjectId(1 + u128::from(key == wallet_key(0) || key == wallet_key(3)))
}

pub(super) fn products(project: ProjectId) -> [ProductId; 2] {
    [2, 3].map(|number| ProductId(project.0.wrapping_mul(2).wrapping_add(number)))
}

fn email(number: u64) -> Email {
    // A few addresses, in upper and lower case.
    let text = ["Jo@mail.example", "jo@MAIL.example", "ann@mail.example"];
    Email::new(text[number as usize % 3]).unwrap()
}

fn checkout(serial: u64) -> CheckoutId {
    CheckoutId::new(format!("cs_{serial}")).unwrap()
}

fn payment(order: OrderSerial) -> PaymentId {
    PaymentId::new(format!("pi_{}", order.0)).unwrap()
}

/// A few customers, each in several wallets.
fn customer(number: u64) -> CustomerId {
    CustomerId::new(format!("cus_{}", number % 3)).unwrap()
}

/// An instruction under one of a few keys, each of which changes its stage again and again.
fn instructed(number: u64) -> Change {
    let stages = [
        InstructionStage::Requested,
        InstructionStage::REFUSED,
        InstructionStage::Done,
    ];
    Change::Instructed(Box::new(InstructionRecord {
        key: IdempotencyKey::new(format!("k{}", number % 5)).unwrap(),
        instruction: Instruction::Cancel {
            subscription: SubscriptionId::new("sub_1").unwrap(),
            named: NamedSubscription::Of(ProductId(1)),
            at_period_end: number & 64 > 0,
        },
        stage: stages[(number >> 16) as usize % 3],
    }))
}

/// A top-up that waits, or is suspended.
fn top_up(place: i64, terms: Terms) -> Vec<TopUpChange> {
    let card = SavedCard {
        customer: customer(0),
        id: CardId::new("pm_1").unwrap(),
        brand: CardBrand::new("visa").unwrap(),
        last4: CardDigits::new("4242").unwrap(),
        exp_month: 12,
        exp_year: 2031,
        saved_at: Timestamp(1),
    };
    let rule = TopUpRule {
        terms: Terms {
            amount_cents: 100,
            interval: Interval::OneTime,
            ..terms
        },
        threshold: 5,
        size: TopUpSize::Quantity(Quantity::ONE),
        monthly_limit_cents: 100,
        max_per_day: 1,
        consent: TopUpConsent {
            text: "Yes.".into(),
            at: Timestamp(1),
        },
    };
    let mut changes = vec![
        TopUpChange::CardSaved(card),
        TopUpChange::Set(Some(Box::new(rule))),
    ];
    let waits = |at| TopUpChange::Waits(Some(Timestamp(at)));
    match place % 3 {
        0 => changes.push(waits(300 + place)),
        1 => changes.extend([waits(300), waits(400)]),
        _ => changes.push(TopUpChange::Suspended(Suspension::Declined)),
    }
    changes
}

/// A part or all of it is refunded, or it is disputed.
fn reversal(number: u64) -> Reversal {
    let dispute = Dispute {
        opened_at: Timestamp(0),
        amount_cents: 100,
        currency: Currency::new("EUR").unwrap(),
        reason: DisputeReason::named("other"),
        respond_by: (number & 8 > 0).then_some(Timestamp(1 << 50)),
        inquiry: true,
        won: (number & 16 > 0).then_some(true),
    };
    Reversal {
        refunded_cents: [1, 40, 100][number as usize % 3],
        dispute: (number & 4 > 0).then_some(dispute),
        ..Reversal::default()
    }
}

/// Two products at three prices, one of them in dollars.
fn terms(project: ProjectId, number: u64) -> Terms {
    let product = products(project)[number as usize % 2];
    let price = number / 2 % 3;
    Terms {
        price: PriceId(product.0.wrapping_mul(10) + u128::from(price)),
        product,
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
        currency: if price == 2 { "USD" } else { "EUR" }.into(),
    }
}

impl World {
    pub(super) fn note(&mut self) {
        let key: Box<[u8]> = [b'n', self.rng.below(8) as u8].into();
        let body = (self.rng.below(3) > 0).then(|| Box::from(self.serial.to_be_bytes()));
        self.serial += 1;
        let note = Note { key, body };
        self.keep(&note);
        self.log.push(LogEvent::Note(note));
    }

    pub(super) fn keep(&mut self, Note { key, body }: &Note) {
        let notes = &mut self.shop.as_mut().unwrap().notes;
        match body {
            Some(body) => notes.insert(key.clone(), body.clone()),
            None => notes.remove(key),
        };
    }

    /// Something happens to an order of this wallet.
    pub(super) fn buy(&mut self, key: WalletKey) {
        let wallet = &self.wallets[&key].0;
        let orders: Vec<_> = wallet
            .orders()
            .map(|(serial, order)| (serial, order.clone()))
            .collect();
        let number = self.rng.next();
        let project = wallet.project;
        let chosen = orders.get(self.rng.below(orders.len().max(1) as u64) as usize);
        let chosen = chosen.map(|(serial, order)| {
            let closed = OrderClosed {
                order: *serial,
                project,
                expires_at: order.expires_at,
            };
            let pending = order.status() == OrderStatus::Pending;
            (
                closed,
                pending,
                order.paid_at.is_some(),
                (order.kind, order.email.clone()),
            )
        });
        let kinds = 6 + u64::from(self.shop.as_ref().is_some_and(|shop| shop.instructs));
        let change = match (self.rng.below(kinds), chosen) {
            (0..=2, Some((order, _, false, (kind, known)))) => {
                let email = number.is_multiple_of(2).then(|| email(number >> 8));
                Change::OrderPaid(Box::new(OrderPaid {
                    order: order.order,
                    project,
                    kind,
                    expires_at: order.expires_at,
                    amount_cents: 98 + number.cast_signed() % 3,
                    credits: 5 * (number >> 60 & 1) as i64,
                    credits_expire_at: None,
                    payment: Some(payment(order.order)),
                    invoice: None,
                    subscription: None,
                    customer: Some(customer(number >> 16)),
                    email: email.or(known),
                    receipt: domain::wallet::Receipt::default(),
                }))
            }
            (3, Some((order, true, ..))) if number & 1 > 0 => Change::OrderFailed(order),
            (3, Some((order, ..))) => Change::OrderProcessing {
                order: order.order,
                on_its_way: number & 6 > 0,
            },
            (4, Some((order, true, ..))) => Change::OrderExpired(order),
            (5, Some((OrderClosed { order, .. }, _, true, _))) => Change::OrderReversed {
                order,
                reversal: reversal(number),
                credits: 0,
            },
            (6, _) => instructed(number),
            _ => self.placement(project, number),
        };
        self.push(key, change);
    }

    /// Adds subscriptions to each wallet, one that was renewed and one that is over.
    pub(in super::super) fn with_subscriptions(mut self) -> Self {
        let wallets: Vec<WalletKey> = self.wallets.keys().copied().collect();
        for (place, key) in wallets.into_iter().enumerate() {
            for (number, end) in [(1, Some(100)), (2, Some(100)), (1, Some(200)), (2, None)] {
                let end = end.map(|end| end + place as i64);
                let change = self.subscription(key, number, end);
                self.push(key, change);
            }
            for change in top_up(place as i64, terms(project(key), 0)) {
                self.push(key, Change::TopUp(Box::new(change)));
            }
        }
        self
    }

    /// As the rules have it, settled orders leave their wallets; some come back once, are refunded, and leave again.
    pub(in super::super) fn with_archives(mut self) -> Self {
        let wallets: Vec<WalletKey> = self.wallets.keys().copied().collect();
        for key in wallets {
            let settled = self.wallets[&key].0.orders();
            let settled = settled.filter(|(_, order)| order.status() != OrderStatus::Pending);
            let settled: Vec<_> = settled
                .map(|(serial, order)| (serial, order.clone()))
                .collect();
            for (place, (order, stood)) in settled.into_iter().enumerate() {
                self.push(key, Change::OrderArchived { order });
                if place % 3 > 0 {
                    continue;
                }
                let recalled = ArchivedOrder {
                    serial: order,
                    order: stood,
                };
                self.push(key, Change::OrderRecalled(Box::new(recalled)));
                let reversal = Reversal {
                    refunded_cents: 40 + 60 * (place % 2) as i64,
                    ..Reversal::default()
                };
                let credits = 0;
                self.push(
                    key,
                    Change::OrderReversed {
                        order,
                        reversal,
                        credits,
                    },
                );
                self.push(key, Change::OrderArchived { order });
            }
        }
        self
    }

    /// A subscription whose period ends at `end`, or which is over.
    fn subscription(&self, key: WalletKey, number: u64, end: Option<i64>) -> Change {
        let wallet = &self.wallets[&key].0;
        let id = SubscriptionId::new(format!("sub_{number}")).unwrap();
        let known = wallet.subscription(&id);
        let former_end = known.map(|known| known.current_period_end);
        let ends = end.map(Timestamp).or(former_end).unwrap();
        let subscription = Subscription {
            id,
            customer: None,
            paid_tier: terms(wallet.project, number),
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
            order: Some(OrderSerial(1)),
            reversed: false,
            steps: Vec::new(),
            reported_at: Timestamp(0),
            cycles_ended: 0,
            cycle_ended_at: None,
        };
        Change::SubscriptionChanged(Box::new(SubscriptionChanged {
            project: wallet.project,
            former_end,
            subscription_event: None,
            subscription,
        }))
    }

    fn placement(&mut self, project: ProjectId, number: u64) -> Change {
        self.serial += 1;
        let renewal = number.is_multiple_of(4);
        let kind = if renewal {
            OrderKind::Renewal
        } else {
            OrderKind::Checkout
        };
        // Serials do not follow the time everywhere: a renewal's is a hash.
        let serial = u128::from(self.serial) | u128::from(self.rng.next()) << 64;
        Change::OrderPlaced(Box::new(OrderPlaced {
            order: OrderSerial(serial),
            project,
            kind,
            terms: terms(project, number >> 40),
            checkout: (!renewal).then(|| checkout(self.serial)),
            email: (number & 8 > 0).then(|| email(number >> 16)),
            expires_at: Timestamp(self.log.len() as i64 / 4 + (number >> 32) as i64 % 40),
            quantity: Quantity::ONE,
            metadata: domain::metadata::Metadata::default(),
            locale: None,
            names_code: false,
            rotations: 0,
        }))
    }

    pub(super) fn orders(&self, project: ProjectId) -> impl Iterator<Item = (OrderId, &Order)> {
        let wallets = self.wallets.iter().map(|(key, (wallet, _))| (key, wallet));
        let wallets = wallets.filter(move |(_, wallet)| wallet.project == project);
        wallets.flat_map(|(&wallet, state)| {
            let orders = state.orders();
            orders.map(move |(serial, order)| (OrderId { serial, wallet }, order))
        })
    }

    /// Every question about orders and buyers.
    pub(in super::super) fn check_shop(&self, books: &dyn Books) {
        for project in [0, 1, 2, 3, u128::MAX].map(ProjectId) {
            let place = |at, order| OrderPosition { at, order };
            let mut newest: Vec<_> = self
                .orders(project)
                .map(|(id, order)| place(order.created_at, id))
                .collect();
            newest.sort_by_key(|place| Reverse(place.place()));
            let mut listed = Vec::new();
            while listed.len() < newest.len() {
                let before = listed.last().map(OrderPosition::place);
                let page = books.orders(project, before, 7).unwrap();
                assert!(!page.is_empty() && page.len() <= 7);
                listed.extend(page);
            }
            assert_eq!(listed, newest);
            let end = newest.last().map(OrderPosition::place);
            let rest = books.orders(project, end.or(Some((Timestamp(0), OrderSerial(0)))), 7);
            assert_eq!(rest.unwrap(), []);
            self.check_due(books, project);
            self.check_filters(books, project);
            for (id, order) in self.orders(project) {
                let Some(checkout) = &order.checkout else {
                    continue;
                };
                let name = ProviderId::Checkout(checkout);
                assert_eq!(books.order_by_provider_id(project, name).unwrap(), Some(id));
                let other = ProjectId(project.0 ^ 3);
                assert_eq!(books.order_by_provider_id(other, name).unwrap(), None);
            }
            for (id, order) in self.orders(project) {
                let payment = payment(id.serial);
                let found = books
                    .order_by_provider_id(project, ProviderId::Payment(&payment))
                    .unwrap();
                assert_eq!(found, order.paid_at.map(|_| id));
            }
            for customer in (0..3).map(customer) {
                let paid = self.orders(project);
                let paid = paid.filter(|(_, order)| order.customer.as_ref() == Some(&customer));
                let wallets: BTreeSet<_> = paid.map(|(id, _)| id.wallet).collect();
                let name = ProviderId::Customer(&customer);
                let found = books
                    .orders_by_provider_id(project, name, usize::MAX)
                    .unwrap();
                let found: Vec<_> = found.iter().map(|order| order.wallet).collect();
                assert!(found.iter().eq(&wallets));
            }
            for email in (0..3).map(email) {
                let same = |other: &Email| other.as_str().eq_ignore_ascii_case(email.as_str());
                let wallets = self.wallets.iter().filter(|(_, (wallet, _))| {
                    let paid = wallet.orders().filter(|(_, order)| order.paid_at.is_some());
                    let mut emails = paid.filter_map(|(_, order)| order.email.as_ref());
                    wallet.project == project && emails.any(same)
                });
                let buyers: Vec<_> = wallets.map(|(key, _)| *key).collect();
                let found = books
                    .wallets_of(project, WalletName::Buyer(&email), usize::MAX)
                    .unwrap();
                assert_eq!(found, buyers);
                let first = books
                    .wallets_of(project, WalletName::Buyer(&email), 1)
                    .unwrap();
                assert_eq!(first, buyers[..buyers.len().min(1)]);
            }
        }
    }

    /// Every note is kept in its latest form.
    pub(in super::super) fn check_notes(&self, books: &dyn Books) {
        if let Some(shop) = &self.shop {
            let kept: Notes = books.notes(b"n").unwrap().into_iter().collect();
            assert_eq!(kept, shop.notes);
            assert_eq!(books.notes(b"o").unwrap(), []);
        }
    }

    /// Orders by what they are filtered by, in pages, and their totals.
    fn check_filters(&self, books: &dyn Books, project: ProjectId) {
        let filter = OrderFilter::default;
        let is = |status| Some(OrderState::Is(status));
        let filters = [
            filter(),
            OrderFilter {
                state: is(OrderStatus::Pending),
                ..filter()
            },
            OrderFilter {
                state: is(OrderStatus::Paid),
                product: Some(ProductId(1)),
                ..filter()
            },
            OrderFilter {
                state: is(OrderStatus::Refunded),
                max_cents: Some(99),
                ..filter()
            },
            OrderFilter {
                state: is(OrderStatus::Failed),
                min_cents: Some(100),
                ..filter()
            },
            OrderFilter {
                state: Some(OrderState::Processing),
                ..filter()
            },
            OrderFilter {
                product: Some(ProductId(2)),
                ..filter()
            },
            OrderFilter {
                email: Some(email(1)),
                ..filter()
            },
            OrderFilter {
                email: Some(email(2)),
                state: is(OrderStatus::Expired),
                ..filter()
            },
            OrderFilter {
                from: Some(Timestamp(20)),
                to: Some(Timestamp(90)),
                ..filter()
            },
        ];
        for filter in filters {
            let mut wanted: Vec<_> = self.wanted(project, &filter).collect();
            wanted.sort_by_key(|(id, order)| Reverse((order.created_at, id.serial)));
            let mut listed: Vec<OrderRow> = Vec::new();
            loop {
                let before = listed.last().map(|row| row.position.place());
                let page = books.filtered_orders(project, &filter, before, 3).unwrap();
                let is_last = page.len() < 3;
                listed.extend(page);
                if is_last {
                    break;
                }
            }
            let rows = listed.iter().map(|row| row.position.order);
            assert!(rows.eq(wanted.iter().map(|(id, _)| *id)), "{filter:?}");
            self.check_totals_of(books, project, &filter);
            // A page together with the totals, from the newest on, from the middle and from the end.
            let products = products(project);
            let totals = books.order_totals(project, &products, &filter).unwrap();
            for first in [0, listed.len() / 2, listed.len()] {
                let before = first.checked_sub(1).and_then(|last| listed.get(last));
                let before = before.map(|row| row.position.place());
                let found = books.orders_and_totals(project, &products, &filter, before, 3);
                let page: Vec<_> = listed.iter().skip(first).take(3).copied().collect();
                assert_eq!(found.unwrap(), (page, totals.clone()), "{filter:?}");
            }
        }
    }

    fn check_due(&self, books: &dyn Books, project: ProjectId) {
        let pending = self
            .orders(project)
            .filter(|(_, order)| order.status() == OrderStatus::Pending);
        let mut due: Vec<_> = pending
            .map(|(order, state)| OrderPosition {
                at: state.expires_at,
                order,
            })
            .collect();
        due.sort_by_key(OrderPosition::place);
        let all = books.due(project, None, Timestamp::NEVER, usize::MAX);
        assert_eq!(all.unwrap(), due);
        let middle = due.len() / 2;
        if let Some(place) = due.get(middle) {
            let after = books.due(project, Some(place.place()), Timestamp::NEVER, 3);
            let rest = &due[middle + 1..];
            assert_eq!(after.unwrap(), rest[..rest.len().min(3)]);
            let until = books.due(project, None, place.at, usize::MAX);
            let early = due.iter().filter(|other| other.at <= place.at);
            assert!(until.unwrap().iter().eq(early));
        }
    }
}
