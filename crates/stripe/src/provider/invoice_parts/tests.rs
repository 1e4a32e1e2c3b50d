//! Bills of any sequence of changes to a subscription, as Stripe writes them: credits are in proportion to the money,
//! in any order of lines and reports.

#![allow(clippy::cast_possible_wrap, reason = "small numbers in a test")]

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
};

use domain::{
    catalog::Interval,
    id::{OrderId, OrderSerial, PriceId, ProductId, ProjectId, WalletId, WalletKey},
    terms::Terms,
    text::ExternalUserId,
    wallet::{
        Archive, Change, Created, Owner, Wallet, bill::Bill, pay::Payment, purchase::Purchase,
    },
};
use payments_port::{ObjectRef, PaidPart};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

const KEY: WalletKey = WalletKey([7; 16]);
const DAY: i64 = 24 * 3600;
const BEGUN: i64 = 1_780_272_000;

/// Price in cents and product of each of our prices, all of which bring a credit for two cents.
const PRICES: [(i64, u128); 4] = [(900, 1), (1900, 1), (4900, 1), (400, 2)];

fn terms(price: usize) -> Terms {
    let (amount_cents, product) = PRICES[price];
    Terms {
        price: PriceId(price as u128),
        product: ProductId(product),
        fills: ProductId(product),
        credits: amount_cents / 2,
        expire_after_days: None,
        rollover: false,
        features: BTreeSet::new(),
        interval: Interval::Month,
        trial_days: None,
        trial_credits: 0,
        repeatable: true,
        label: None,
        amount_cents,
        currency: "EUR".into(),
    }
}

struct Catalog;

impl Owners for Catalog {
    fn order_of(&self, _: &ObjectRef) -> Result<Option<OrderId>, payments_port::Error> {
        Ok(None)
    }

    fn terms(&self, price: PriceId) -> Option<Terms> {
        Some(terms(usize::try_from(price.0).unwrap()))
    }
}

#[derive(Debug, Clone)]
enum Action {
    /// The item that counts from the first one, its new price and seats.
    Change(usize, usize, u32),
    Add(usize, u32),
    Remove(usize),
    /// A trial that moves the cycle's end by so many days.
    Extend(i64),
    /// The next cycle begins.
    Renew,
}

#[derive(Debug, Clone, Copy)]
struct Seats {
    item: usize,
    price: usize,
    seats: u32,
    created: i64,
}

/// A subscription at Stripe.
struct Account {
    now: i64,
    cycle: (i64, i64),
    /// The instant that cycles are counted from, and the cycles since.
    anchor: (i64, i64),
    trial: Option<(i64, i64)>,
    items: Vec<Seats>,
    made: usize,
    pending: Vec<Value>,
    /// Every invoice, and the subscription as it was when it was read.
    invoices: Vec<(Value, Value)>,
    /// What was paid for each product, in cents.
    paid_for: BTreeMap<u128, i64>,
    lines: i64,
}

impl Account {
    fn new() -> Self {
        let mut account = Self {
            now: BEGUN,
            cycle: (BEGUN, months_after(BEGUN, 1)),
            anchor: (BEGUN, 1),
            trial: None,
            items: Vec::new(),
            made: 0,
            pending: Vec::new(),
            invoices: Vec::new(),
            paid_for: BTreeMap::new(),
            lines: 0,
        };
        account.put(0, 1);
        account
    }

    fn put(&mut self, price: usize, seats: u32) -> Seats {
        self.made += 1;
        let seats = Seats {
            item: self.made,
            price,
            seats,
            created: self.now,
        };
        self.items.push(seats);
        seats
    }

    fn line(of: Seats, amount: i64, period: (i64, i64), proration: bool) -> Value {
        json!({
            "amount": amount, "quantity": of.seats,
            "period": {"start": period.0, "end": period.1},
            "parent": {"subscription_item_details": {
                "proration": proration, "subscription_item": format!("si_{}", of.item),
            }},
            "pricing": {"price_details": {"price": format!("price_{}", of.price)}},
        })
    }

    /// The rest of the cycle, charged or given back.
    fn prorate(&mut self, of: Seats, given_back: bool) {
        let whole = self.cycle.1 - self.cycle.0;
        let left = self.cycle.1 - self.now;
        let sign = if given_back { -1 } else { 1 };
        let cents = PRICES[of.price].0 * i64::from(of.seats) * left;
        let amount = sign * (2 * cents + whole) / (2 * whole);
        self.pending
            .push(Self::line(of, amount, (self.now, self.cycle.1), true));
    }

    fn carry_out(&mut self, action: &Action, at_once: bool) {
        match *action {
            Action::Change(item, price, seats) => {
                let place = item % self.items.len();
                let old = self.items[place];
                // Items keep to their product, and Stripe refuses two of one price.
                let other = self
                    .items
                    .iter()
                    .any(|it| it.item != old.item && it.price == price);
                if PRICES[price].1 != PRICES[old.price].1
                    || other
                    || (price, seats) == (old.price, old.seats)
                {
                    return;
                }
                let new = Seats {
                    price,
                    seats,
                    ..old
                };
                self.items[place] = new;
                self.prorate(old, true);
                self.prorate(new, false);
            }
            Action::Add(price, seats) => {
                if self.items.iter().any(|it| it.price == price) {
                    return;
                }
                let new = self.put(price, seats);
                self.prorate(new, false);
            }
            Action::Remove(item) => {
                let place = item % self.items.len();
                if place == 0 {
                    return;
                }
                let old = self.items.remove(place);
                self.prorate(old, true);
            }
            Action::Extend(days) => return self.extend(days),
            Action::Renew => return self.renew(),
        }
        if at_once {
            self.bill_changes();
        }
    }

    /// Sums of what waits, by item.
    fn due(&self) -> BTreeMap<String, i64> {
        let mut due = BTreeMap::new();
        for line in &self.pending {
            *due.entry(item_of(line)).or_default() += line["amount"].as_i64().unwrap();
        }
        due
    }

    /// Bills what waits, unless an item's changes give back more than they cost: those wait for the next cycle.
    fn bill_changes(&mut self) {
        if self.due().values().all(|due| *due >= 0) {
            let lines = std::mem::take(&mut self.pending);
            self.write("subscription_update", lines, false);
        }
    }

    fn renew(&mut self) {
        self.now = self.cycle.1;
        self.anchor.1 += 1;
        self.cycle = (self.now, months_after(self.anchor.0, self.anchor.1));
        let mut lines = std::mem::take(&mut self.pending);
        for of in self.items.clone() {
            let amount = PRICES[of.price].0 * i64::from(of.seats);
            lines.push(Self::line(of, amount, self.cycle, false));
        }
        self.write("subscription_cycle", lines, false);
    }

    /// Gives back the rest of the cycle, and postpones the next one by a trial that costs nothing.
    fn extend(&mut self, days: i64) {
        if !self.pending.is_empty() {
            return;
        }
        for of in self.items.clone() {
            self.prorate(of, true);
        }
        let mut lines = std::mem::take(&mut self.pending);
        let end = self.cycle.1 + days * DAY;
        for of in self.items.clone() {
            lines.push(Self::line(of, 0, (self.now, end), false));
        }
        self.trial = Some((self.now, end));
        self.write("subscription_update", lines, true);
        self.cycle.1 = end;
        self.anchor = (end, 0);
        // Nobody changes a trial here: the next cycle begins at its end.
        self.renew();
    }

    fn write(&mut self, reason: &str, lines: Vec<Value>, is_trial: bool) {
        let sum: i64 = lines
            .iter()
            .map(|line| line["amount"].as_i64().unwrap())
            .sum();
        if !is_trial {
            self.count(&lines);
        }
        self.lines += lines.len() as i64;
        let id = format!("in_{}", self.invoices.len());
        let invoice = json!({
            "id": id, "object": "invoice", "status": "paid", "billing_reason": reason,
            // Every other bill has a discount, which is not taken off its lines.
            "amount_paid": sum.max(0) / (1 + self.invoices.len() as i64 % 2), "currency": "eur", "created": self.now,
            "lines": {"data": lines, "has_more": false},
        });
        let there = self.there();
        self.invoices.push((invoice, there));
    }

    /// What the lines of each item cost together, if anything; a whole cycle by itself.
    fn count(&mut self, lines: &[Value]) {
        let mut sums: BTreeMap<(String, bool), (u128, i64)> = BTreeMap::new();
        for line in lines {
            let price = line["pricing"]["price_details"]["price"].as_str().unwrap();
            let (_, product) = PRICES[price["price_".len()..].parse::<usize>().unwrap()];
            let is_cycle = line["parent"]["subscription_item_details"]["proration"] == false;
            let sum = sums
                .entry((item_of(line), is_cycle))
                .or_insert((product, 0));
            sum.1 += line["amount"].as_i64().unwrap();
        }
        for (product, cents) in sums.into_values() {
            *self.paid_for.entry(product).or_default() += cents.max(0);
        }
    }

    fn there(&self) -> Value {
        let items = self.items.iter().map(|of| {
            json!({
                "id": format!("si_{}", of.item), "created": of.created, "quantity": of.seats,
                "current_period_start": self.cycle.0, "current_period_end": self.cycle.1,
                "price": {"id": format!("price_{}", of.price), "product": "prod_1",
                          "recurring": {"interval": "month"}},
            })
        });
        json!({
            "id": "sub_1", "object": "subscription", "customer": "cus_1", "status": "active",
            "billing_cycle_anchor": self.anchor.0, "trial_start": self.trial.map(|trial| trial.0), "trial_end": self.trial.map(|trial| trial.1),
            "items": {"data": items.collect::<Vec<_>>()},
        })
    }
}

fn months_after(start: i64, months: i64) -> i64 {
    let start = jiff::Timestamp::from_second(start).unwrap();
    let end = start.to_zoned(jiff::tz::TimeZone::UTC) + jiff::Span::new().months(months);
    end.timestamp().as_second()
}

fn item_of(line: &Value) -> String {
    let item = &line["parent"]["subscription_item_details"]["subscription_item"];
    item.as_str().unwrap().to_owned()
}

/// The parts of an invoice, as the adapter reads it beside a subscription.
fn parts(invoice: &Value, there: &Value) -> Vec<PaidPart> {
    let invoice: Invoice = serde_json::from_value(invoice.clone()).unwrap();
    let there: Subscription = serde_json::from_value(there.clone()).unwrap();
    let price = |name: &str| PriceId(name["price_".len()..].parse().unwrap());
    let own = invoice.lines().iter().map(|line| OwnLine {
        line,
        price: price(line.price().unwrap().as_str()),
    });
    let reading = Reading::new(&there, &invoice, own.collect(), &Catalog);
    let items = there.items().iter();
    let item = items.min_by_key(|item| item.created);
    let tier = Tier {
        item,
        price: item.map(|item| price(item.price.id.as_str())),
    };
    let parts = reading.paid_parts(&tier).unwrap();
    if !parts.is_empty() {
        let all = reading.part_amounts();
        let sum: i64 = all.iter().map(|part| part.amount_cents).sum();
        assert_eq!(sum, invoice.amount_paid, "the parts are the whole");
        for part in parts.iter().filter(|part| part.amount_cents > 0) {
            let same = all.iter().find(|of| of.part == part.part).unwrap();
            assert_eq!(same.amount_cents, part.amount_cents);
        }
    }
    parts
}

/// A buyer's wallet: each order is made once.
struct Buyer {
    wallet: Wallet,
    granted: BTreeMap<u128, i64>,
    orders: Vec<String>,
}

impl Buyer {
    fn new() -> Self {
        let created = Created {
            id: WalletId(7),
            project: ProjectId(7),
            owner: Owner::External(ExternalUserId::new("ann").unwrap()),
        };
        Self {
            wallet: Wallet::born(KEY, instant(BEGUN), created),
            granted: BTreeMap::new(),
            orders: Vec::new(),
        }
    }

    fn hear(&mut self, invoice: &str, part: PaidPart) {
        let name = format!("{invoice}/{:?}", part.part);
        if self.orders.contains(&name) {
            return;
        }
        self.orders.push(name);
        let terms = part.price.map(|price| Catalog.terms(price).unwrap());
        let fills = terms.as_ref().unwrap().fills;
        let bill = Bill {
            order: OrderSerial(self.orders.len() as u128),
            pays: part.pays.unwrap(),
            is_add_on: part.is_add_on,
            terms,
            quantity: part.quantity,
            payment: Payment {
                amount_cents: part.amount_cents,
                payment: None,
                invoice: None,
                customer: None,
                email: None,
                receipt: domain::wallet::Receipt::default(),
            },
            billing: part.billing,
        };
        let now = instant(BEGUN + 400 * DAY);
        let command = Purchase::Bill(Box::new(bill));
        let events = self
            .wallet
            .purchase(command, Archive::default(), now)
            .unwrap();
        for event in events {
            if let Change::OrderPaid(paid) = &event.change {
                *self.granted.entry(fills.0).or_default() += paid.credits;
            }
            self.wallet.apply(event).unwrap();
        }
    }
}

fn action() -> impl Strategy<Value = (Action, bool, i64)> {
    let action = prop_oneof![
        4 => (0..3_usize, 0..4_usize, 1..4_u32).prop_map(|(item, price, seats)| Action::Change(item, price, seats)),
        2 => (1..4_usize, 1..3_u32).prop_map(|(price, seats)| Action::Add(price, seats)),
        1 => (1..3_usize).prop_map(Action::Remove),
        1 => (1..20_i64).prop_map(Action::Extend),
        2 => Just(Action::Renew),
    ];
    (action, any::<bool>(), 0..9_i64)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]
    #[test]
    fn credits_are_in_proportion_to_the_money(
        actions in prop::collection::vec(action(), 1..12),
        order in any::<u64>(),
    ) {
        let mut account = Account::new();
        for (action, at_once, days) in &actions {
            account.now = (account.now + days * DAY + 3600).min(account.cycle.1 - 1);
            account.carry_out(action, *at_once);
        }
        account.renew();
        let mut state = order | 1;
        let mut shuffled = |length: usize| {
            let mut places: Vec<usize> = (0..length).collect();
            for place in (1..length).rev() {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                places.swap(place, (state >> 33) as usize % (place + 1));
            }
            places
        };
        // Each bill is reported when it is paid, and all of them again at the end, in any order.
        let last = account.there();
        let buyer = RefCell::new(Buyer::new());
        let mut reports = Vec::new();
        for (invoice, there) in &account.invoices {
            let mut invoice = invoice.clone();
            let lines = invoice["lines"]["data"].as_array().unwrap().clone();
            let places = shuffled(lines.len());
            invoice["lines"]["data"] = places.iter().map(|&place| lines[place].clone()).collect();
            reports.push((invoice, there.clone()));
        }
        for place in shuffled(reports.len()) {
            let (invoice, there) = &reports[place];
            for subscription in [there, &last] {
                for part in parts(invoice, subscription) {
                    buyer.borrow_mut().hear(invoice["id"].as_str().unwrap(), part);
                }
            }
        }
        let buyer = buyer.into_inner();
        for (product, cents) in &account.paid_for {
            let came = buyer.granted.get(product).copied().unwrap_or(0);
            // Each line is rounded to a cent, and its credits to the nearest.
            prop_assert!(
                (came - cents / 2).abs() <= account.lines + 1,
                "product {product}: {came} credits came, {cents} cents were paid"
            );
        }
    }
}
