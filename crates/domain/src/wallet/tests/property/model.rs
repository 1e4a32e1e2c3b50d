//! The naive model: what the rules should come to, played with single coins. It shares only vocabulary with the rules.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::{
    balances::ModelCoins,
    calendar,
    debts::{ModelDebts, ModelRow},
    instructions::ModelInstructions,
    orders::ModelPurchases,
};
use crate::{
    MAX_CREDITS, Rejection,
    history::{HoldStatus, Reason},
    id::ProductId,
    text::FreezeReason,
    time::Period,
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ModelHold {
    pub(super) key: String,
    pub(super) product: ProductId,
    pub(super) amount: i64,
    pub(super) end: i64,
    pub(super) status: HoldStatus,
    pub(super) settled: i64,
    pub(super) drawn: i64,
    pub(super) overrun: i64,
    pub(super) owed: i64,
    pub(super) uncovered: i64,
    /// What it was charged, once it is closed.
    pub(super) row: ModelRow,
}

/// A ledger line; neighbouring expiries of one instant count as one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LedgerRow {
    pub(super) at: i64,
    pub(super) reason: Reason,
    pub(super) delta: i64,
    pub(super) key: Option<String>,
    pub(super) order: Option<u128>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Outcome {
    Applied,
    Unchanged,
    /// The product or hold of the former use.
    Replayed(u128),
    Refused(Rejection),
    /// How a cost was met, in credits: of the product, now or before, late or not.
    Met {
        product: ProductId,
        charged: i64,
        owed: i64,
        uncovered: i64,
        now: bool,
        late: bool,
    },
    /// What was forgiven before, in credits.
    Forgiven(i64),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Operation {
    Grant,
    Hold,
    Draw,
}

pub(super) struct Model {
    pub(super) now: i64,
    pub(super) touched: i64,
    /// The credits of one coin.
    pub(super) worth: i64,
    pub(super) products: Vec<ProductId>,
    pub(super) free_grants: BTreeMap<ProductId, (i64, Period)>,
    pub(super) holds: BTreeMap<u128, ModelHold>,
    pub(super) features: BTreeSet<String>,
    pub(super) frozen: bool,
    pub(super) ledgers: HashMap<ProductId, Vec<LedgerRow>>,
    pub(super) coins: ModelCoins,
    pub(super) purchases: ModelPurchases,
    pub(super) instructions: ModelInstructions,
    last_free: HashMap<ProductId, i64>,
    pub(super) debts: ModelDebts,
    used_keys: HashMap<(Operation, String), (ProductId, i64, u128)>,
}

impl Model {
    pub(super) fn new(now: i64, worth: i64) -> Self {
        Self {
            now,
            touched: now,
            worth,
            products: vec![],
            free_grants: BTreeMap::new(),
            holds: BTreeMap::new(),
            features: BTreeSet::new(),
            frozen: false,
            ledgers: HashMap::new(),
            coins: ModelCoins::default(),
            purchases: ModelPurchases::default(),
            instructions: ModelInstructions::default(),
            last_free: HashMap::new(),
            debts: ModelDebts::default(),
            used_keys: HashMap::new(),
        }
    }

    /// Walks through every instant up to now at which something ends, then grants what is due.
    pub(super) fn touch(&mut self) {
        let mut instants = self.coins.ends();
        instants.extend(self.holds.values().map(|hold| hold.end));
        instants.extend(self.purchases.orders.values().map(|order| order.end));
        instants.retain(|&instant| instant <= self.now);
        for instant in instants {
            let open = |hold: &ModelHold| hold.status == HoldStatus::Open && hold.end == instant;
            let ended: Vec<u128> = self
                .holds
                .iter()
                .filter(|(_, h)| open(h))
                .map(|(&serial, _)| serial)
                .collect();
            for serial in ended {
                self.date(instant);
                self.close(serial, HoldStatus::Expired);
            }
            self.expire_coins(instant);
            if self.expire_orders(instant) {
                self.date(instant);
            }
        }
        for (product, (coins, period)) in self.free_grants.clone() {
            let (start, end) = calendar::span(period, self.now);
            let given = self
                .last_free
                .get(&product)
                .is_some_and(|&last| last >= start);
            let fitting = coins.min(self.room(product));
            if !given && fitting > 0 {
                self.last_free.insert(product, start);
                self.date(self.now);
                let rest = self.debts.pay(product, fitting);
                self.coins.grant(product, Reason::FreeGrant, rest, end);
                self.write(product, Reason::FreeGrant, fitting, None);
            }
        }
    }

    pub(super) fn expire_coins(&mut self, instant: i64) {
        for product in self.products.clone() {
            let expired = self.coins.expire(product, instant);
            if expired > 0 {
                self.date(instant);
                self.write(product, Reason::Expiry, -expired, None);
            }
        }
    }

    pub(super) fn credit(
        &mut self,
        product: ProductId,
        coins: i64,
        end: i64,
        key: &str,
    ) -> Outcome {
        self.touch();
        if let Some(outcome) = self.used(Operation::Grant, key, Some(product), coins) {
            return outcome;
        }
        if end <= self.now {
            return Outcome::Refused(Rejection::ExpiryPast);
        }
        if coins > self.room(product) {
            return Outcome::Refused(Rejection::BalanceLimit);
        }
        self.date(self.now);
        let rest = self.debts.pay(product, coins);
        self.coins.grant(product, Reason::Manual, rest, end);
        self.write(product, Reason::Manual, coins, Some(key));
        self.use_up(Operation::Grant, key, product, coins, product.0)
    }

    pub(super) fn place(
        &mut self,
        serial: u128,
        product: Option<ProductId>,
        coins: i64,
        end: i64,
        key: &str,
        overrun: i64,
    ) -> Outcome {
        self.touch();
        if let Some(outcome) = self.used(Operation::Hold, key, product, coins) {
            return outcome;
        }
        let product = match self.payer(product, coins) {
            Ok(product) => product,
            Err(refusal) => return Outcome::Refused(refusal),
        };
        let available = self.unreserved(product).max(0);
        if overrun > available {
            return Outcome::Refused(Rejection::NoCredit {
                product,
                balance: self.coins.count(product, None) * self.worth,
                requested: overrun * self.worth,
                available: available * self.worth,
            });
        }
        self.date(self.now);
        self.coins.hold(product, serial, coins);
        let status = HoldStatus::Open;
        let (key_kept, amount) = (key.to_owned(), coins);
        let hold = ModelHold {
            key: key_kept,
            product,
            amount,
            end,
            status,
            settled: 0,
            drawn: 0,
            overrun,
            owed: 0,
            uncovered: 0,
            row: ModelRow::default(),
        };
        self.holds.insert(serial, hold);
        self.use_up(Operation::Hold, key, product, coins, serial)
    }

    pub(super) fn release(&mut self, serial: u128) -> Outcome {
        self.touch();
        match self.holds.get(&serial).map(|hold| hold.status) {
            None => Outcome::Refused(Rejection::HoldNotFound),
            Some(HoldStatus::Released) => Outcome::Replayed(serial),
            Some(HoldStatus::Open) => {
                self.date(self.now);
                self.close(serial, HoldStatus::Released);
                Outcome::Applied
            }
            Some(_) => Outcome::Refused(Rejection::HoldClosed),
        }
    }

    pub(super) fn extend(&mut self, serial: u128, end: i64) -> Outcome {
        self.touch();
        let Some(hold) = self.holds.get_mut(&serial) else {
            return Outcome::Refused(Rejection::HoldNotFound);
        };
        if hold.status != HoldStatus::Open {
            return Outcome::Refused(Rejection::HoldClosed);
        }
        if end <= hold.end {
            return Outcome::Replayed(serial);
        }
        hold.end = end;
        self.date(self.now);
        Outcome::Applied
    }

    pub(super) fn set_feature(&mut self, slug: &str, grant: bool) -> bool {
        self.touch();
        let changed = if grant {
            self.features.insert(slug.to_owned())
        } else {
            self.features.remove(slug)
        };
        if changed {
            self.date(self.now);
        }
        changed
    }

    pub(super) fn set_frozen(&mut self, frozen: bool) -> bool {
        self.touch();
        let changed = self.frozen != frozen;
        self.frozen = frozen;
        if changed {
            self.date(self.now);
        }
        changed
    }

    /// The refusal of a frozen wallet.
    pub(super) fn not_frozen(&self) -> Result<(), Rejection> {
        if self.frozen {
            return Err(Rejection::Frozen {
                reason: FreezeReason::new("why").ok(),
            });
        }
        Ok(())
    }

    pub(super) fn used(
        &self,
        operation: Operation,
        key: &str,
        product: Option<ProductId>,
        coins: i64,
    ) -> Option<Outcome> {
        let &(former, amount, about) = self.used_keys.get(&(operation, key.to_owned()))?;
        let same = product.is_none_or(|product| product == former) && amount == coins;
        let refused = Outcome::Refused(Rejection::KeyReused);
        Some(if same {
            Outcome::Replayed(about)
        } else {
            refused
        })
    }

    pub(super) fn use_up(
        &mut self,
        operation: Operation,
        key: &str,
        product: ProductId,
        coins: i64,
        about: u128,
    ) -> Outcome {
        self.used_keys
            .insert((operation, key.to_owned()), (product, coins, about));
        Outcome::Applied
    }

    pub(super) fn named(&self, product: Option<ProductId>) -> Result<ProductId, Rejection> {
        match (product, self.products.as_slice()) {
            (Some(product), _) | (None, &[product]) => Ok(product),
            (None, _) => Err(Rejection::ProductRequired),
        }
    }

    fn payer(&self, product: Option<ProductId>, coins: i64) -> Result<ProductId, Rejection> {
        let product = self.named(product)?;
        self.not_frozen()?;
        let balance = self.coins.count(product, None);
        if coins <= balance {
            return Ok(product);
        }
        Err(self.short(product, coins, coins))
    }

    /// The refusal where so many coins are needed of the balance.
    pub(super) fn short(&self, product: ProductId, needed: i64, requested: i64) -> Rejection {
        let balance = self.coins.count(product, None);
        Rejection::Insufficient {
            product,
            balance: balance * self.worth,
            requested: requested * self.worth,
            shortfall: (needed - balance) * self.worth,
        }
    }

    pub(super) fn room(&self, product: ProductId) -> i64 {
        MAX_CREDITS / self.worth - self.coins.total(product) + self.debts.owed(product)
    }

    pub(super) fn date(&mut self, instant: i64) {
        self.touched = self.touched.max(instant);
    }

    pub(super) fn write(
        &mut self,
        product: ProductId,
        reason: Reason,
        coins: i64,
        key: Option<&str>,
    ) {
        let key = key.map(str::to_owned);
        self.write_line(product, reason, coins, key, None);
    }

    pub(super) fn write_for(&mut self, product: ProductId, why: Reason, coins: i64, order: u128) {
        self.write_line(product, why, coins, None, Some(order));
    }

    fn write_line(
        &mut self,
        product: ProductId,
        reason: Reason,
        coins: i64,
        key: Option<String>,
        order: Option<u128>,
    ) {
        let line = LedgerRow {
            at: self.touched,
            reason,
            delta: coins * self.worth,
            key,
            order,
        };
        push_line(self.ledgers.entry(product).or_default(), line);
    }
}

/// Adds a line, or adds to the one before when both are expiries of one instant.
pub(super) fn push_line(ledger: &mut Vec<LedgerRow>, line: LedgerRow) {
    match ledger.last_mut() {
        Some(last)
            if line.reason == Reason::Expiry
                && (last.reason, last.at) == (line.reason, line.at) =>
        {
            last.delta += line.delta;
        }
        _ => ledger.push(line),
    }
}
