//! Wallets that buy, and notes; and every question about them, answered by looking at everything.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
};

use domain::{
    Timestamp,
    catalog::Interval,
    history::Record,
    id::{OrderId, OrderSerial, PriceId, ProductId, ProjectId, WalletKey},
    terms::Terms,
    text::{CheckoutId, Email},
    wallet::{
        ArchivedOrder, Change, Order, OrderKind, OrderStatus, Reversal,
        event::{OrderClosed, OrderPaid, OrderPlaced},
    },
};

use super::{World, wallet_key};
use crate::{
    OrderPlace,
    codec::{Logged, Note},
    fold::{Folded, orders::Changes},
};

type Notes = BTreeMap<Box<[u8]>, Box<[u8]>>;

#[derive(Default)]
pub(super) struct Shop {
    notes: Notes,
}

/// Half of the wallets are another project's.
pub(super) fn project(key: WalletKey) -> ProjectId {
    ProjectId(1 + u128::from(key == wallet_key(0) || key == wallet_key(3)))
}

fn email(number: u64) -> Email {
    // The same few, in capitals or not.
    let text = ["Jo@mail.example", "jo@MAIL.example", "ann@mail.example"];
    Email::new(text[number as usize % 3]).unwrap()
}

fn checkout(serial: u64) -> CheckoutId {
    CheckoutId::new(format!("cs_{serial}")).unwrap()
}

pub(in super::super) fn terms() -> Terms {
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

impl World {
    pub(super) fn note(&mut self) {
        let key: Box<[u8]> = [b'n', self.rng.below(8) as u8].into();
        let body = (self.rng.below(3) > 0).then(|| Box::from(self.serial.to_be_bytes()));
        self.serial += 1;
        let notes = &mut self.shop.as_mut().unwrap().notes;
        match body.clone() {
            Some(body) => notes.insert(key.clone(), body),
            None => notes.remove(&key),
        };
        self.log.push(Logged::Note(Note { key, body }));
    }

    /// Something happens to an order of this wallet.
    pub(super) fn buy(&mut self, key: WalletKey) {
        let wallet = &self.wallets[&key].0;
        let orders: Vec<_> = wallet
            .orders()
            .map(|(order, state)| {
                (
                    order,
                    state.status(),
                    state.paid_at.is_some(),
                    state.clone(),
                )
            })
            .collect();
        let number = self.rng.next();
        let chosen = orders.get(self.rng.below(orders.len().max(1) as u64) as usize);
        let project = wallet.project;
        let closed = |order, state: &Order| OrderClosed {
            order,
            project,
            expires_at: state.expires_at,
        };
        let change = match (self.rng.below(9), chosen) {
            (0..=2, Some(&(order, _, false, ref state))) => {
                let told = number.is_multiple_of(2).then(|| email(number >> 8));
                Change::OrderPaid(Box::new(OrderPaid {
                    order,
                    project,
                    expires_at: state.expires_at,
                    amount_cents: 100,
                    credits: 5 * (number >> 60 & 1) as i64,
                    credits_expire_at: None,
                    payment: None,
                    invoice: None,
                    subscription: None,
                    customer: None,
                    email: told.or(state.email.clone()),
                }))
            }
            (3, Some(&(order, OrderStatus::Pending, _, ref state))) => {
                Change::OrderFailed(closed(order, state))
            }
            (4, Some(&(order, OrderStatus::Pending, _, ref state))) => {
                Change::OrderExpired(closed(order, state))
            }
            (6..=7, Some(&(order, status, ..))) if status != OrderStatus::Pending => {
                Change::OrderArchived { order }
            }
            (8, _) if let Some(archived) = self.archived(key, number) => {
                Change::OrderRecalled(Box::new(archived))
            }
            (5, Some(&(order, _, true, _))) => Change::OrderReversed {
                order,
                reversal: Reversal {
                    refunded_cents: 1,
                    ..Reversal::default()
                },
                credits: 0,
            },
            _ => self.placement(project, number),
        };
        self.push(key, change);
    }

    /// Some archived order, as it was archived last.
    fn archived(&self, key: WalletKey, number: u64) -> Option<ArchivedOrder> {
        let (wallet, records) = &self.wallets[&key];
        let archived = records.iter().filter_map(Record::order);
        let latest: BTreeMap<_, _> = archived.map(|order| (order.serial, order)).collect();
        let away = latest
            .values()
            .filter(|order| wallet.order(order.serial).is_none());
        let away: Vec<_> = away.collect();
        away.get((number >> 3) as usize % away.len().max(1))
            .map(|order| (**order).clone())
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
            terms: terms(),
            checkout: (!renewal).then(|| checkout(self.serial)),
            email: (number & 8 > 0).then(|| email(number >> 16)),
            expires_at: Timestamp(self.log.len() as i64 / 4 + (number >> 32) as i64 % 40),
        }))
    }

    /// Also those that are archived.
    pub(super) fn all_orders(&self) -> BTreeMap<OrderId, (ProjectId, &Order)> {
        let all = self.wallets.iter().flat_map(|(&wallet, (state, records))| {
            let archived = records.iter().filter_map(Record::order);
            let archived = archived.map(|archived| (archived.serial, &archived.order));
            let orders = archived.chain(state.orders());
            orders.map(move |(serial, order)| (OrderId { serial, wallet }, (state.project, order)))
        });
        all.collect()
    }

    fn orders(&self, project: ProjectId) -> impl Iterator<Item = (OrderId, &Order)> {
        let all = self.all_orders().into_iter();
        let own = all.filter(move |(_, (of, _))| *of == project);
        own.map(|(id, (_, order))| (id, order))
    }

    /// With `over` as what was recovered and is not folded.
    pub(in super::super) fn check_shop(&self, folded: &Folded, over: &Changes) {
        let Some(shop) = &self.shop else { return };
        for project in [0, 1, 2, 3, u128::MAX].map(ProjectId) {
            let place = |at, order| OrderPlace { at, order };
            let mut newest: Vec<_> = self
                .orders(project)
                .map(|(id, order)| place(order.created_at, id))
                .collect();
            newest.sort_by_key(|place| Reverse(place.place()));
            let mut listed = Vec::new();
            while listed.len() < newest.len() {
                let before = listed.last().map(OrderPlace::place);
                let page = folded.orders(over, project, before, 7).unwrap();
                assert!(!page.is_empty() && page.len() <= 7);
                listed.extend(page);
            }
            assert_eq!(listed, newest);
            let end = newest.last().map(OrderPlace::place);
            let rest = folded.orders(
                over,
                project,
                end.or(Some((Timestamp(0), OrderSerial(0)))),
                7,
            );
            assert_eq!(rest.unwrap(), []);
            self.check_due(folded, over, project);
            for (id, order) in self.orders(project) {
                let Some(checkout) = &order.checkout else {
                    continue;
                };
                let found = folded.checkout(over, project, checkout).unwrap();
                assert_eq!(found, Some(id));
                let other = ProjectId(project.0 ^ 3);
                assert_eq!(folded.checkout(over, other, checkout).unwrap(), None);
            }
            for email in (0..3).map(email) {
                let same = |other: &Email| other.as_str().eq_ignore_ascii_case(email.as_str());
                let paid = self.orders(project).filter(|(_, order)| {
                    order.paid_at.is_some() && order.email.as_ref().is_some_and(same)
                });
                let buyers: BTreeSet<_> = paid.map(|(id, _)| id.wallet).collect();
                let buyers: Vec<_> = buyers.into_iter().collect();
                let found = folded.buyers(over, project, &email, usize::MAX).unwrap();
                assert_eq!(found, buyers);
                let first = folded.buyers(over, project, &email, 1).unwrap();
                assert_eq!(first, buyers[..buyers.len().min(1)]);
            }
        }
        if over.len() == 0 {
            let kept: Notes = folded.notes(b"n").unwrap().into_iter().collect();
            assert_eq!(kept, shop.notes);
            assert_eq!(folded.notes(b"o").unwrap(), []);
        }
    }

    fn check_due(&self, folded: &Folded, over: &Changes, project: ProjectId) {
        let pending = self
            .orders(project)
            .filter(|(_, order)| order.status() == OrderStatus::Pending);
        let mut due: Vec<_> = pending
            .map(|(order, state)| OrderPlace {
                at: state.expires_at,
                order,
            })
            .collect();
        due.sort_by_key(OrderPlace::place);
        let all = folded.due(over, project, None, Timestamp::NEVER, usize::MAX);
        assert_eq!(all.unwrap(), due);
        let middle = due.len() / 2;
        if let Some(place) = due.get(middle) {
            let after = folded.due(over, project, Some(place.place()), Timestamp::NEVER, 3);
            let rest = &due[middle + 1..];
            assert_eq!(after.unwrap(), rest[..rest.len().min(3)]);
            let until = folded.due(over, project, None, place.at, usize::MAX);
            let early = due.iter().filter(|other| other.at <= place.at);
            assert!(until.unwrap().iter().eq(early));
        }
    }
}
