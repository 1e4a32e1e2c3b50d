//! Reverses deductions: credits return to the lots that they came from, as if less had been deducted.
//!
//! What a deduction took forms a row: its lots in the order in which it took from them, then what it added to the debt.
//! Reversals give back from the end of the row. A hold's draws and settlement share one row.

use super::Decision;
use crate::{
    Rejection,
    amount::Amount,
    history::{DeductionRef, Reason, Record, RecordContent, Taker},
    id::{OrderSerial, ProductId},
    limit::Counted,
    text::{IdempotencyKey, Meta},
    time::{DAY_SECONDS, Timestamp},
    wallet::state::{
        Wallet,
        event::{Change, Event},
        reversed::DeductionReversed,
        taken::{NAMING_INTERVAL, TakenLot},
    },
};

/// A request to give back what a deduction took.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields say what they are")]
pub struct ReverseDeduction {
    /// The most to give back; `None` for all that is left.
    pub amount: Option<Amount>,
    pub key: IdempotencyKey,
    pub meta: Option<Meta>,
}

/// A deduction, read from the history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TracedDeduction {
    /// Its record in the ledger.
    pub record: DeductionRef,
    /// The product whose credits it took.
    pub product: ProductId,
    /// The caller's note of it.
    pub meta: Option<Meta>,
    /// Credits that it took and made owed.
    amount: i64,
    /// Where limits counted it.
    counted: Option<Box<Counted>>,
    /// The serial of the hold that it belongs to.
    hold: Option<u128>,
    /// Its row, unless it is a hold's.
    row: Row,
}

/// What was taken; see the module.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Row {
    lots: Vec<TakenLot>,
    owed: i64,
}

struct Left {
    row: Row,
    /// Credits from the end of the row that were given back.
    before: i64,
    /// Credits of this deduction that were given back.
    own: i64,
    /// Credits that can be given back yet.
    credits: i64,
}

/// What the history says of a deduction and its reversals, beyond its own record.
#[derive(Debug, Clone, Copy, Default)]
pub struct ReversalFacts<'a> {
    /// The record of the key's former use.
    pub prior: Option<&'a Record>,
    /// The record that closed the deduction's hold.
    pub closed: Option<&'a Record>,
    /// If that hold was released or expired: the record of a deduction under its key.
    pub late: Option<&'a Record>,
    /// The record of what was given back of the deduction so far.
    pub reversed: Option<&'a Record>,
    /// The record of what was given back of its hold.
    pub reversed_of_hold: Option<&'a Record>,
    /// Records of the orders that bought the lots: see [`orders`].
    pub orders: &'a [Record],
}

/// The range of record numbers that contains the one that names a deduction's lot.
pub const fn named_within(deduction: u64) -> std::ops::RangeInclusive<u64> {
    deduction.saturating_sub(NAMING_INTERVAL)..=deduction
}

impl TracedDeduction {
    /// Reads a deduction from its record and earlier ones, newest first; `None` if the first of them is no deduction or
    /// none names its lot.
    pub fn of<'a>(newest_first: impl IntoIterator<Item = &'a Record>) -> Option<Self> {
        let mut records = newest_first.into_iter();
        let record = records.next()?;
        let entry = record.entry()?;
        if entry.reason != Reason::Deduction {
            return None;
        }
        let amount = entry.delta.saturating_neg();
        let (hold, row) = match &record.fact {
            RecordContent::HoldDrawn(hold, _) => (Some(hold.serial), Row::default()),
            RecordContent::HoldSettled(hold, ..) => (Some(hold.id.serial), Row::default()),
            RecordContent::Charged(charge, _, lots) => {
                let (lots, owed) = (lots.clone(), charge.owed);
                (None, Row { lots, owed })
            }
            RecordContent::Deducted(_, lots) => {
                let (lots, owed) = (lots.clone(), 0);
                (None, Row { lots, owed })
            }
            // What stayed below a credit was taken from no lot.
            _ if amount == 0 => (None, Row::default()),
            _ => {
                let named = records.find_map(|record| match &record.fact {
                    RecordContent::Deducted(it, lots) if it.product == entry.product => lots.last(),
                    _ => None,
                });
                let credits = amount;
                let lots = vec![TakenLot { credits, ..*named? }];
                (None, Row { lots, owed: 0 })
            }
        };
        Some(Self {
            record: DeductionRef {
                seq: record.seq,
                at: record.at,
            },
            product: entry.product,
            meta: entry.meta.clone(),
            amount,
            counted: entry.counted.clone(),
            hold,
            row,
        })
    }

    /// Whether earlier records are needed to read this record's deduction.
    pub fn needs_former(record: &Record) -> bool {
        matches!(&record.fact, RecordContent::Entry(entry) if entry.reason == Reason::Deduction)
    }

    /// Credits that it took and made owed.
    pub const fn credits(&self) -> i64 {
        self.amount
    }

    /// How much of it can be given back yet.
    /// # Errors
    /// [`Rejection::HoldOpen`]
    pub fn reversible(&self, facts: &ReversalFacts<'_>) -> Result<i64, Rejection> {
        Ok(self.left(facts)?.credits)
    }

    fn left(&self, facts: &ReversalFacts<'_>) -> Result<Left, Rejection> {
        let own = in_all(facts.reversed);
        let (row, before) = match self.hold {
            None => (self.row.clone(), own),
            Some(_) => {
                let row = facts.closed.and_then(row_of).ok_or(Rejection::HoldOpen)?;
                let late = facts.late.and_then(Record::entry);
                let late = late.map_or(0, |entry| entry.delta.max(0));
                (row, in_all(facts.reversed_of_hold).saturating_add(late))
            }
        };
        let credits = row.sum().saturating_sub(before);
        let credits = credits.min(self.amount.saturating_sub(own)).max(0);
        Ok(Left {
            row,
            before,
            own,
            credits,
        })
    }

    /// The serial of the hold that it belongs to.
    pub const fn hold(&self) -> Option<u128> {
        self.hold
    }

    /// The orders that bought the lots that it, or its hold, took from.
    #[must_use]
    pub fn orders(&self, closed: Option<&Record>) -> Vec<OrderSerial> {
        let of_hold = self.hold.and_then(|_| row_of(closed?));
        let row = of_hold.as_ref().unwrap_or(&self.row);
        let mut orders: Vec<_> = row.lots.iter().filter_map(|lot| lot.order).collect();
        orders.dedup();
        orders
    }
}

fn row_of(closed: &Record) -> Option<Row> {
    match &closed.fact {
        RecordContent::HoldSettled(hold, _, lots) => Some(Row {
            lots: lots.clone(),
            owed: hold.owed,
        }),
        RecordContent::HoldEnded(ended) => Some(Row {
            lots: ended.lots.clone(),
            owed: 0,
        }),
        _ => None,
    }
}

impl Row {
    fn sum(&self) -> i64 {
        let lots = self.lots.iter().map(|lot| lot.credits);
        lots.fold(self.owed, i64::saturating_add)
    }

    /// The last `credits` of the row before its last `skipped` ones: the owed part, and its lots.
    fn part(&self, skipped: i64, credits: i64) -> Self {
        let (mut skip, mut rest) = (skipped, credits);
        let mut take = |of: i64| {
            let gone = of.min(skip);
            skip = skip.saturating_sub(gone);
            let taken = of.saturating_sub(gone).min(rest);
            rest = rest.saturating_sub(taken);
            taken
        };
        let owed = take(self.owed);
        let lots = self.lots.iter().rev().map(|lot| TakenLot {
            credits: take(lot.credits),
            ..*lot
        });
        let lots = lots.filter(|lot| lot.credits > 0).collect();
        Self { lots, owed }
    }
}

fn in_all(record: Option<&Record>) -> i64 {
    match record.map(|record| &record.fact) {
        Some(RecordContent::ReversedInAll(_, credits)) => credits.get(),
        _ => 0,
    }
}

impl Wallet {
    /// Decides how much of a deduction is given back, and to which lots. It pays a debt first. A replay returns what
    /// was given back then.
    /// # Errors
    /// [`Rejection::KeyReused`], [`Rejection::HoldOpen`], [`Rejection::AlreadyReversed`] or
    /// [`Rejection::BalanceLimit`].
    pub fn reverse_deduction(
        &self,
        command: ReverseDeduction,
        deduction: &TracedDeduction,
        facts: ReversalFacts<'_>,
        now: Timestamp,
    ) -> Result<Decision<i64, (i64, Vec<Event>)>, Rejection> {
        let ReverseDeduction {
            amount: requested,
            key,
            meta,
        } = command;
        if let Some(RecordContent::Reversed(former, asked, entry)) =
            facts.prior.map(|prior| &prior.fact)
        {
            return if *former == deduction.record && *asked == requested {
                Ok(Decision::Replay(entry.delta))
            } else {
                Err(Rejection::KeyReused)
            };
        }
        let Left {
            row,
            before,
            own,
            credits: left,
        } = deduction.left(&facts)?;
        let amount = Amount::new(requested.map_or(left, Amount::get));
        let amount = amount.filter(|amount| amount.get() <= left);
        let amount = amount.ok_or(Rejection::AlreadyReversed { reversible: left })?;
        let product = deduction.product;
        if self.room(product) < amount.get() {
            return Err(Rejection::BalanceLimit);
        }
        let paid = self.owed(product).min(amount.get());
        let rest = amount.get().saturating_sub(paid);
        let part = row.part(before.saturating_add(paid), rest);
        let owed = (part.owed > 0).then(|| TakenLot::new(part.owed, Timestamp::NEVER));
        let lots = part.lots.into_iter();
        let at = self.date(now);
        let lots = lots.map(|lot| self.target(product, lot, facts.orders, at));
        let lots = owed.into_iter().chain(lots).collect();
        let is_whole = before.saturating_add(amount.get()) == row.sum();
        let counted = deduction.counted.clone().map(|counted| {
            Box::new(Counted {
                is_operation: counted.is_operation && is_whole,
                ..*counted
            })
        });
        let reversed = Change::DeductionReversed(Box::new(DeductionReversed {
            deduction: deduction.record,
            product,
            requested,
            amount,
            key,
            meta,
            lots,
            counted,
        }));
        let count = |of: Taker, before: i64| {
            let credits = Amount::new(before.saturating_add(amount.get()));
            credits.map(|credits| Change::ReversedInAll { of, credits })
        };
        let of_hold = deduction.hold;
        let of_hold =
            of_hold.and_then(|hold| count(Taker::Hold(hold), in_all(facts.reversed_of_hold)));
        let changes = [
            Some(reversed),
            count(Taker::Deduction(deduction.record.seq), own),
            of_hold,
        ];
        let events = changes.into_iter().flatten();
        let events = events.map(|change| Event { at, change }).collect();
        Ok(Decision::Accept((amount.get(), events)))
    }

    /// The lot that credits return to: theirs or a copy of it. After its end, one that lasts a day.
    fn target(
        &self,
        product: ProductId,
        lot: TakenLot,
        orders: &[Record],
        now: Timestamp,
    ) -> TakenLot {
        let is_its = |record: &&Record| record.order().map(|it| it.serial) == lot.order;
        let order = orders.iter().find(is_its);
        match self.end_of_taken(product, &lot, order, now) {
            end if end > now => TakenLot {
                expires_at: end,
                ..lot
            },
            _ => TakenLot::new(lot.credits, now.plus_seconds(DAY_SECONDS)),
        }
    }

    /// When credits end that were taken from a lot: with what is left of it, or as those of its archived order do.
    pub(super) fn end_of_taken(
        &self,
        product: ProductId,
        lot: &TakenLot,
        order: Option<&Record>,
        now: Timestamp,
    ) -> Timestamp {
        let account = self.account(product);
        let left = account.and_then(|account| account.end_of(lot.number));
        left.unwrap_or_else(|| {
            let archived = order.and_then(Record::order);
            let recalled = archived.map(|archived| self.recall(&archived.order, now));
            recalled.map_or(lot.expires_at, |order| {
                lot.expires_at.min(order.credits_end)
            })
        })
    }
}
