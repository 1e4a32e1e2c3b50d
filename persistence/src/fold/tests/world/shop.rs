//! Wallets that buy, and notes; and every question about them, answered by looking at everything.

use std::{cmp::Reverse, collections::BTreeMap};

use domain::{
    Timestamp,
    catalog::Interval,
    id::{OrderId, OrderSerial, PriceId, ProductId, ProjectId, WalletKey},
    terms::Terms,
    text::{CheckoutId, Email},
    wallet::{
        Change, Order, OrderKind, OrderStatus, Reversal,
        event::{OrderPaid, OrderPlaced},
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

fn terms() -> Terms {
    Terms {
        price: PriceId(1),
        product: ProductId(1),
        fills: ProductId(1),
        credits: 5,
        expire_after_days: None,
        rollover: false,
        features: std::collections::BTreeSet::new(),
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
            .map(|(serial, order)| (serial, order.status(), order.paid_at.is_some()))
            .collect();
        let number = self.rng.next();
        let chosen = orders.get(self.rng.below(orders.len().max(1) as u64) as usize);
        let change = match (self.rng.below(6), chosen) {
            (0..=2, Some(&(order, _, false))) => {
                let email = number.is_multiple_of(2).then(|| email(number >> 8));
                Change::OrderPaid(Box::new(OrderPaid {
                    order,
                    amount_cents: 100,
                    credits: 5 * (number >> 60 & 1) as i64,
                    credits_expire_at: None,
                    payment: None,
                    invoice: None,
                    subscription: None,
                    customer: None,
                    email,
                }))
            }
            (3, Some(&(order, OrderStatus::Pending, _))) => Change::OrderFailed { order },
            (4, Some(&(order, OrderStatus::Pending, _))) => Change::OrderExpired { order },
            (5, Some(&(order, _, true))) => Change::OrderReversed {
                order,
                reversal: Reversal {
                    refunded_cents: 1,
                    ..Reversal::default()
                },
                credits: 0,
            },
            _ => self.placement(number),
        };
        self.push(key, change);
    }

    fn placement(&mut self, number: u64) -> Change {
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
            kind,
            terms: terms(),
            checkout: (!renewal).then(|| checkout(self.serial)),
            email: (number & 8 > 0).then(|| email(number >> 16)),
            expires_at: Timestamp(self.log.len() as i64 / 4 + (number >> 32) as i64 % 40),
        }))
    }

    fn orders(&self, project: ProjectId) -> impl Iterator<Item = (OrderId, &Order)> {
        let wallets = self.wallets.iter().map(|(key, (wallet, _))| (key, wallet));
        let wallets = wallets.filter(move |(_, wallet)| wallet.project == project);
        wallets.flat_map(|(&wallet, state)| {
            let orders = state.orders();
            orders.map(move |(serial, order)| (OrderId { serial, wallet }, order))
        })
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
                let wallets = self.wallets.iter().filter(|(_, (wallet, _))| {
                    wallet.project == project && wallet.paid_emails().any(same)
                });
                let buyers: Vec<_> = wallets.map(|(key, _)| *key).collect();
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
