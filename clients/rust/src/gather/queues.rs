//! Which calls go together, and when.

use super::{CALL_BYTES, MAX_BATCH_BYTES, MAX_ITEMS, MAX_REQUESTS, Outcome, SINGLES};
use crate::{
    call::Call,
    error::{Error, ErrorKind},
    wallets::Wallet,
};
use serde_json::{Map, Value};
use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    slice,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};
use tokio::{sync::oneshot, time::Instant};

/// A longer call goes by itself.
const MAX_ITEM_BYTES: usize = 16 * 1024;

/// A call that may go with others.
pub(crate) struct Item {
    /// As it goes by itself.
    pub(super) single: Call,
    /// As it goes in a batch.
    pub(super) text: String,
    pub(super) user: Option<String>,
    /// The wallet or the hold whose calls keep their order.
    pub(super) line: Arc<str>,
    goes_alone: AtomicBool,
}

/// A call that is to be sent, or under way.
pub(super) struct Waiting<T> {
    pub(super) item: Arc<Item>,
    pub(super) order: u64,
    /// Closed once nobody waits.
    pub(super) answer: oneshot::Sender<Outcome<T>>,
}

/// The calls of one wallet, or of one hold, that are not under way, by their order.
struct Queue<T> {
    calls: BTreeMap<u64, Waiting<T>>,
    /// What they wait for: a request with calls of this line, and calls that failed and may come again.
    blocks: usize,
    is_ready: bool,
}

pub(super) struct Queues<T> {
    queues: HashMap<Arc<str>, Queue<T>>,
    /// The wallets whose calls may be sent, in the order in which they became so, but first those whose first call goes
    /// by itself. Those that are blocked or empty by now are passed over.
    ready: VecDeque<Arc<str>>,
    /// Batches under way.
    pub(super) requests: usize,
    /// Calls without an answer, and the memory that they take.
    pub(super) calls: usize,
    pub(super) bytes: usize,
    pub(super) order: u64,
    /// Less than the maximum behind a proxy that takes less.
    batch_bytes: usize,
    singles_until: Option<Instant>,
    pub(super) is_closed: bool,
}

impl Item {
    /// A call about a wallet.
    /// # Errors
    /// [`ErrorKind::Misused`] where it is no JSON.
    pub(crate) fn of_wallet(wallet: &Wallet, single: Call) -> Result<Self, Error> {
        let (name, value) = wallet.field();
        let listed = single.clone().with(name, value);
        Self::new(wallet.name(), wallet.user(), single, &listed.body)
    }

    /// A charge of a hold.
    /// # Errors
    /// [`ErrorKind::Misused`] where it is no JSON.
    pub(crate) fn of_hold(hold: &str, keep_open: bool, single: Call) -> Result<Self, Error> {
        let listed = single.clone().with("holdId", hold);
        let listed = match keep_open {
            true => listed.with("keepOpen", true),
            false => listed,
        };
        Self::new(format!("hold {hold}"), None, single, &listed.body)
    }

    fn new(
        line: String,
        user: Option<&str>,
        single: Call,
        fields: &Map<String, Value>,
    ) -> Result<Self, Error> {
        let text = serde_json::to_string(fields);
        let text = text.map_err(|error| Error::misused(error.to_string()))?;
        let goes_alone = text.len() > MAX_ITEM_BYTES || !is_well_formed(fields);
        Ok(Self {
            single,
            text,
            user: user.map(str::to_owned),
            line: line.into(),
            goes_alone: goes_alone.into(),
        })
    }

    /// The memory that it takes, roughly: its text is kept in two forms.
    pub(super) fn bytes(&self) -> usize {
        self.text.len().saturating_mul(2).saturating_add(CALL_BYTES)
    }
}

/// Whether a batch would not be refused for it.
fn is_well_formed(fields: &Map<String, Value>) -> bool {
    let is_fine = |(name, value): (&String, &Value)| match value {
        Value::String(text) => {
            let is_short = text.chars().count() < 256;
            !text.is_empty() && is_short && !text.chars().any(char::is_control)
        }
        // A settlement may cost nothing.
        Value::Number(number) => {
            let least = u64::from(!fields.contains_key("holdId"));
            number
                .as_u64()
                .is_some_and(|n| (least..1 << 53).contains(&n))
        }
        _ => name != "meta" || value.is_object(),
    };
    fields.iter().all(is_fine) && (!fields.contains_key("code") || fields.contains_key("productId"))
}

impl<T> Queues<T> {
    pub(super) fn new() -> Self {
        Self {
            queues: HashMap::new(),
            ready: VecDeque::new(),
            requests: 0,
            calls: 0,
            bytes: 0,
            order: 0,
            batch_bytes: MAX_BATCH_BYTES,
            singles_until: None,
            is_closed: false,
        }
    }

    /// Whether calls are gathered now.
    pub(super) fn is_open(&self) -> bool {
        !self.is_closed && !self.is_without_batches()
    }

    fn is_without_batches(&self) -> bool {
        let is_over = |until| Instant::now() >= until;
        !self.singles_until.is_none_or(is_over)
    }

    fn goes_alone(&self, item: &Item) -> bool {
        item.goes_alone.load(Ordering::Relaxed) || self.is_without_batches()
    }

    fn queue(&mut self, line: &Arc<str>) -> &mut Queue<T> {
        self.queues
            .entry(Arc::clone(line))
            .or_insert_with(|| Queue {
                calls: BTreeMap::new(),
                blocks: 0,
                is_ready: false,
            })
    }

    pub(super) fn put(&mut self, call: Waiting<T>) {
        let line = Arc::clone(&call.item.line);
        self.queue(&line).calls.insert(call.order, call);
    }

    /// The outcome of a call for which nobody waits any more; none where there is none yet, and then it is not sent if
    /// it was not.
    pub(super) fn withdraw(
        &mut self,
        item: &Item,
        order: u64,
        answer: Option<oneshot::Receiver<Outcome<T>>>,
    ) -> Option<Outcome<T>> {
        let mut answer = answer?;
        answer.close();
        let outcome = answer.try_recv().ok();
        if outcome.is_none() {
            self.queue(&item.line).calls.remove(&order);
        }
        outcome
    }

    pub(super) fn block(&mut self, line: &Arc<str>) {
        let queue = self.queue(line);
        queue.blocks = queue.blocks.saturating_add(1);
    }

    pub(super) fn unblock(&mut self, line: &Arc<str>) {
        let queue = self.queue(line);
        queue.blocks = queue.blocks.saturating_sub(1);
        self.offer(line);
    }

    /// Has a queue's calls sent, if they wait for nothing.
    pub(super) fn offer(&mut self, line: &Arc<str>) {
        let queue = self.queue(line);
        if queue.blocks > 0 || queue.is_ready {
            return;
        }
        let Some(first) = queue.calls.values().next() else {
            self.queues.remove(line);
            return;
        };
        let item = Arc::clone(&first.item);
        queue.is_ready = true;
        match self.goes_alone(&item) {
            true => self.ready.push_front(Arc::clone(line)),
            false => self.ready.push_back(Arc::clone(line)),
        }
    }

    /// The wallet whose calls are the next to be sent, and whether the first of them goes by itself.
    fn first_ready(&mut self) -> Option<(Arc<str>, bool)> {
        loop {
            let line = Arc::clone(self.ready.front()?);
            let queue = self.queue(&line);
            let first = queue.calls.values().next().filter(|_| queue.blocks == 0);
            if let Some(item) = first.map(|call| Arc::clone(&call.item)) {
                return Some((line, self.goes_alone(&item)));
            }
            queue.is_ready = false;
            self.ready.pop_front();
            self.offer(&line);
        }
    }

    /// Whether a request may be made, and if so, whether it is that of a call that goes by itself.
    pub(super) fn work(&mut self) -> Option<bool> {
        let (_, is_alone) = self.first_ready()?;
        (is_alone || self.requests < MAX_REQUESTS).then_some(is_alone)
    }

    /// As much of what may be sent as a batch has room for, or a call that goes by itself.
    pub(super) fn take(&mut self, alone: bool) -> Vec<Waiting<T>> {
        let mut taken: Vec<Waiting<T>> = Vec::new();
        let mut bytes: usize = 0;
        let (max_items, max_bytes) = (if alone { 1 } else { MAX_ITEMS }, self.batch_bytes);
        while taken.len() < max_items
            && let Some((line, is_alone)) = self.first_ready()
            && is_alone == alone
        {
            let before = taken.len();
            let queue = self.queue(&line);
            while taken.len() < max_items
                && let Some(first) = queue.calls.first_entry()
            {
                let item = &first.get().item;
                bytes = bytes.saturating_add(item.text.len());
                let is_fit = taken.is_empty() || bytes <= max_bytes;
                if !is_fit || (!alone && item.goes_alone.load(Ordering::Relaxed)) {
                    break;
                }
                taken.push(first.remove());
            }
            if taken.len() == before {
                break;
            }
            queue.blocks = 1;
            queue.is_ready = false;
            self.ready.pop_front();
        }
        taken
    }

    /// Takes note of what the refusal of a whole batch says about its calls: they are sent again, under their keys, and
    /// lose no attempt. Returns whether it says anything.
    pub(super) fn learn(&mut self, refusal: &ErrorKind, calls: &[Waiting<T>]) -> bool {
        match refusal.status() {
            413 => self.batch_bytes = calls.iter().map(|it| it.item.text.len()).sum::<usize>() / 2,
            404 | 405 => self.singles_until = Instant::now().checked_add(SINGLES),
            400 => {
                // The one at fault is asked about by itself, and its refusal is what a lone call gets.
                let at = match refusal {
                    ErrorKind::Refused(refusal) => refusal.param.as_deref().and_then(item_of),
                    _ => None,
                };
                let named = at.and_then(|at| calls.get(at)).map(slice::from_ref);
                for call in named.unwrap_or(calls) {
                    call.item.goes_alone.store(true, Ordering::Relaxed);
                }
            }
            _ => return false,
        }
        true
    }
}

/// The index in a path such as `items[3].amount`.
fn item_of(param: &str) -> Option<usize> {
    let (at, _) = param.strip_prefix("items[")?.split_once(']')?;
    at.parse().ok()
}
