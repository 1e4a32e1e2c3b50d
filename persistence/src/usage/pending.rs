//! Sales of appends that are not applied yet, added to those that are stored: totals agree with lists of orders, which
//! show what is logged at once.
//!
//! A stored record says up to which frame it counts. A checkpoint says before it writes anything how far it goes: a record
//! that has come to its last frame counts all changes up to its last ticket, any other none of those that are here.
//! A reader may come between any two steps:
//!
//! - *A checkpoint begins or ends*: it waits for the reader, who holds the lock from before he reads a record until he has
//!   added what is here.
//! - *A checkpoint has written some records*: each record tells for itself. One that the checkpoint leaves as it was has changes
//!   that come to nothing together.
//! - *An append has no ticket yet*: nothing of it is in the log, and it counts as pending. Its ticket is set within the
//!   queue's lock, before the log's thread can see it: no checkpoint writes a change that has none.
//! - *A checkpoint has ended, and the next has not begun*: changes up to its ticket are gone, so that it does not matter
//!   whether a record has come to its last frame.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use domain::{Timestamp, id::ProductId};
use parking_lot::RwLock;

use super::{Interval, Usage, sales::SalesChange};
use crate::{error::Error, lookups::overlay::UNASSIGNED_TICKET};

#[derive(Default)]
pub(crate) struct PendingSales(RwLock<State>);

#[derive(Default)]
struct State {
    /// By product and when the order was placed.
    sold: BTreeMap<(ProductId, Timestamp), Vec<PendingChange>>,
    /// How far the checkpoint goes that is under way, or went that was last.
    checkpoint: CheckpointEnd,
}

struct PendingChange {
    change: SalesChange,
    ticket: Arc<AtomicU64>,
}

impl PendingChange {
    fn ticket(&self) -> u64 {
        self.ticket.load(Ordering::Acquire)
    }
}

/// The last frame of a checkpoint, and the last ticket in it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CheckpointEnd {
    pub(crate) lsn: u64,
    pub(crate) ticket: u64,
}

/// Where an append's ticket goes, once it has one.
#[must_use]
pub(crate) struct TicketSlot(Option<Arc<AtomicU64>>);

impl TicketSlot {
    /// Sets the ticket. Before a checkpoint can reach it.
    pub(crate) fn set(&self, ticket: u64) {
        if let Some(slot) = &self.0 {
            slot.store(ticket, Ordering::Release);
        }
    }
}

/// Usage of an interval as it is stored: its first instant, the last frame that is counted, and the usage.
pub(crate) type StoredPeriod = (Timestamp, u64, Usage);

impl PendingSales {
    /// Adds what an append is about to change.
    pub(crate) fn add(&self, sold: &[SalesChange]) -> TicketSlot {
        if sold.is_empty() {
            return TicketSlot(None);
        }
        let ticket = Arc::new(AtomicU64::new(UNASSIGNED_TICKET));
        let mut state = self.0.write();
        for change in sold {
            let key = (change.product, change.placed_at);
            state.sold.entry(key).or_default().push(PendingChange {
                change: *change,
                ticket: Arc::clone(&ticket),
            });
        }
        TicketSlot(Some(ticket))
    }

    /// Says how far a checkpoint goes, before it writes anything. [`Self::applied`] was called for the last one.
    pub(crate) fn begin_checkpoint(&self, checkpoint: CheckpointEnd) {
        self.0.write().checkpoint = checkpoint;
    }

    /// Removes changes up to this ticket, which all stored records count now.
    pub(crate) fn applied(&self, ticket: u64) {
        if self.0.read().sold.is_empty() {
            return;
        }
        self.0.write().sold.retain(|_, changes| {
            changes.retain(|change| change.ticket() > ticket);
            !changes.is_empty()
        });
    }

    /// The usage that `stored` reads, of intervals of a product that begin within a range of time, with these sales.
    pub(crate) fn merged(
        &self,
        (product, interval): (ProductId, Interval),
        (from, to): (Timestamp, Timestamp),
        stored: impl FnOnce() -> Result<Vec<StoredPeriod>, Error>,
    ) -> Result<Vec<(Timestamp, Usage)>, Error> {
        if from >= to {
            return Ok(Vec::new());
        }
        let state = self.0.read();
        let stored = stored()?.into_iter();
        let mut periods: BTreeMap<_, _> = stored
            .map(|(start, through, usage)| (start, (through, usage)))
            .collect();
        let last = (product, Timestamp(i64::MAX));
        let mut span = None;
        for ((_, at), changes) in state.sold.range((product, from)..=last) {
            if span.is_none_or(|span: domain::time::Span| *at >= span.end) {
                span = interval.span(*at);
            }
            let Some(start) = span.map(|span| span.start).filter(|it| *it >= from) else {
                continue;
            };
            if start >= to {
                break;
            }
            let (through, usage) = periods.entry(start).or_default();
            let has_come_to_end = *through >= state.checkpoint.lsn;
            let counted = if has_come_to_end {
                state.checkpoint.ticket
            } else {
                0
            };
            let pending = changes.iter().filter(|change| change.ticket() > counted);
            pending.for_each(|pending| usage.sales.change(&pending.change));
        }
        let periods = periods.into_iter();
        Ok(periods.map(|(at, (_, usage))| (at, usage)).collect())
    }
}
