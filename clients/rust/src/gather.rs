//! Gathers calls: those that are made while requests are under way go together with the next one, as a batch. There is
//! no timer, so a lone call is sent at once. Calls of one wallet, or of one hold, are sent in their order, and each has
//! an answer, a deadline and retries of its own.
//!
//! A caller waits, and decides about retries, on its own runtime. A request is a task on the runtime of one of the callers, and
//! outlives that caller's future. With the runtime it ends, and who waits for it on another one tries again.

mod queues;
#[cfg(test)]
mod tests;

pub(crate) use self::queues::Item;
use self::queues::{Queues, Waiting};
use crate::{
    call::Call,
    error::{Error, ErrorKind},
    retry,
};
use api_types::ErrorBody;
use std::{
    future::Future,
    mem,
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::sync::{Notify, oneshot};

const MAX_ITEMS: usize = 1_000;
/// Half of what a server takes.
const MAX_BATCH_BYTES: usize = 512 * 1024;
/// Batches at a time.
const MAX_REQUESTS: usize = 2;
/// What all calls without an answer may take of the memory: some 50,000 plain ones.
const MAX_WAITING_BYTES: usize = 64 * 1024 * 1024;
/// What a call takes beside its text, roughly.
const CALL_BYTES: usize = 1024;
/// How long a server that has no batches is asked without them.
const SINGLES: Duration = Duration::from_secs(60);

pub(crate) type Outcome<T> = Result<T, ErrorKind>;

/// How the requests are made: one attempt each.
pub(crate) trait Endpoint: Send + Sync + 'static {
    /// What a caller gets.
    type Answer: Send + 'static;

    fn single(&self, call: &Call) -> impl Future<Output = Outcome<Self::Answer>> + Send;

    /// Sends these items; there is a result for each, in their order.
    fn batch(
        &self,
        items: &[&str],
    ) -> impl Future<Output = Outcome<Vec<Outcome<Self::Answer>>>> + Send;

    /// Makes a user's wallet, with as many attempts as it takes.
    fn open_wallet(&self, user: &str) -> impl Future<Output = Result<(), Error>> + Send;
}

pub(crate) struct Gatherer<E: Endpoint> {
    endpoint: E,
    retries: u32,
    timeout: Duration,
    queues: Mutex<Queues<E::Answer>>,
    /// Wakes one of the callers, to start requests that may be made.
    stalled: Notify,
    idle: Notify,
}

impl<E: Endpoint> Gatherer<E> {
    pub(crate) fn new(endpoint: E, retries: u32, timeout: Duration) -> Self {
        Self {
            endpoint,
            retries,
            timeout,
            queues: Mutex::new(Queues::new()),
            stalled: Notify::new(),
            idle: Notify::new(),
        }
    }

    fn queues(&self) -> MutexGuard<'_, Queues<E::Answer>> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether calls are gathered now.
    pub(crate) fn is_open(&self) -> bool {
        self.queues().is_open()
    }

    /// Gathers no more, and waits until all calls have their answers.
    pub(crate) async fn close(&self) {
        self.queues().is_closed = true;
        loop {
            let mut idle = pin!(self.idle.notified());
            idle.as_mut().enable();
            if self.queues().calls == 0 {
                return;
            }
            idle.await;
        }
    }

    /// Makes a call, with as many attempts as it takes.
    pub(crate) async fn call(self: &Arc<Self>, item: Item) -> Result<E::Answer, Error> {
        let item = Arc::new(item);
        let key = || item.single.key.clone();
        let mut pending = self.enter(&item).map_err(|kind| Error::new(kind, key()))?;
        let mut user = item.user.as_deref();
        let mut attempt = 0;
        loop {
            let kind = match pending.attempt().await {
                Ok(answer) => return Ok(answer),
                Err(kind) => kind,
            };
            if kind.code() == Some("wallet_not_found")
                && let Some(user) = user.take()
            {
                let opened = self.endpoint.open_wallet(user).await;
                opened.map_err(|error| error.keyed(key()))?;
                continue;
            }
            match retry::next(&kind, true, attempt, self.retries) {
                Some(pause) => tokio::time::sleep(pause).await,
                None => return Err(Error::new(kind, key())),
            }
            attempt = attempt.saturating_add(1);
        }
    }

    /// A new call, the last of its line.
    fn enter(self: &Arc<Self>, item: &Arc<Item>) -> Outcome<PendingCall<E>> {
        let mut queues = self.queues();
        let bytes = queues.bytes.saturating_add(item.bytes());
        if bytes > MAX_WAITING_BYTES {
            let message = "Too many calls wait for an answer.";
            let overloaded = ErrorBody::new("overloaded", message, 503);
            return Err(ErrorKind::Refused(Box::new(overloaded)));
        }
        queues.bytes = bytes;
        queues.calls = queues.calls.saturating_add(1);
        queues.order = queues.order.saturating_add(1);
        Ok(PendingCall {
            gatherer: Arc::clone(self),
            item: Arc::clone(item),
            order: queues.order,
            answer: None,
            blocks: false,
            is_done: false,
        })
    }

    /// Starts the requests that may be made.
    fn flush(self: &Arc<Self>) {
        loop {
            let mut queues = self.queues();
            let Some(is_alone) = queues.work() else {
                return;
            };
            let calls = match is_alone {
                true => queues.take(true),
                false => Vec::new(),
            };
            queues.requests = queues.requests.saturating_add(usize::from(!is_alone));
            drop(queues);
            let gatherer = Arc::clone(self);
            let request = Request {
                gatherer,
                calls,
                is_alone,
            };
            tokio::spawn(request.run());
            if !is_alone {
                // It takes what there is, and goes on from there.
                return;
            }
        }
    }

    /// Has the calls of a request know what came of it.
    fn finish(&self, calls: Vec<Waiting<E::Answer>>, outcome: Outcome<Vec<Outcome<E::Answer>>>) {
        let mut queues = self.queues();
        let mut lines: Vec<_> = calls.iter().map(|it| Arc::clone(&it.item.line)).collect();
        lines.dedup();
        match outcome {
            Err(refusal) if calls.len() > 1 && queues.learn(&refusal, &calls) => {
                let waiting = calls.into_iter().filter(|call| !call.answer.is_closed());
                waiting.for_each(|call| queues.put(call));
            }
            outcome => {
                let failed =
                    |failure: ErrorKind| calls.iter().map(|_| Err(failure.clone())).collect();
                let results: Vec<_> = outcome.unwrap_or_else(failed);
                for (Waiting { item, answer, .. }, result) in calls.into_iter().zip(results) {
                    let is_done = result.is_ok();
                    // Those that were withdrawn have ended by themselves.
                    match answer.send(result) {
                        Ok(()) if is_done => self.end(&mut queues, &item),
                        Ok(()) => queues.block(&item.line),
                        Err(_) => {}
                    }
                }
            }
        }
        lines.iter().for_each(|line| queues.unblock(line));
    }

    fn end(&self, queues: &mut Queues<E::Answer>, item: &Item) {
        queues.bytes = queues.bytes.saturating_sub(item.bytes());
        queues.calls = queues.calls.saturating_sub(1);
        if queues.calls == 0 {
            self.idle.notify_waiters();
        }
    }
}

/// A task that sends a call by itself, or one batch after the other.
struct Request<E: Endpoint> {
    gatherer: Arc<Gatherer<E>>,
    calls: Vec<Waiting<E::Answer>>,
    is_alone: bool,
}

impl<E: Endpoint> Request<E> {
    async fn run(mut self) {
        loop {
            if !self.is_alone {
                // After the callers whose turn it is, so that they go along.
                tokio::task::yield_now().await;
                self.calls = self.gatherer.queues().take(false);
            }
            if self.calls.is_empty() {
                return;
            }
            self.gatherer.flush();
            let outcome = self.send().await;
            self.gatherer.finish(mem::take(&mut self.calls), outcome);
            if self.is_alone {
                return self.gatherer.flush();
            }
        }
    }

    /// Makes the request, unless nobody waits for it any more.
    async fn send(&mut self) -> Outcome<Vec<Outcome<E::Answer>>> {
        let (endpoint, calls) = (&self.gatherer.endpoint, &mut self.calls);
        let items: Vec<_> = calls.iter().map(|call| Arc::clone(&call.item)).collect();
        let nobody_waits = async {
            for call in calls {
                call.answer.closed().await;
            }
        };
        let sent = async {
            match items.as_slice() {
                [only] => Ok(vec![endpoint.single(&only.single).await]),
                items => {
                    let texts: Vec<_> = items.iter().map(|item| item.text.as_str()).collect();
                    endpoint.batch(&texts).await
                }
            }
        };
        tokio::select! {
            outcome = sent => outcome,
            () = nobody_waits => Err(interrupted()),
        }
    }
}

fn interrupted() -> ErrorKind {
    ErrorKind::unanswered("the request was interrupted")
}

impl<E: Endpoint> Drop for Request<E> {
    fn drop(&mut self) {
        let calls = mem::take(&mut self.calls);
        self.gatherer.finish(calls, Err(interrupted()));
        let mut queues = self.gatherer.queues();
        if !self.is_alone {
            queues.requests = queues.requests.saturating_sub(1);
        }
        if queues.work().is_some() {
            self.gatherer.stalled.notify_one();
        }
    }
}

/// A call in the hands of its caller, until there is an answer.
struct PendingCall<E: Endpoint> {
    gatherer: Arc<Gatherer<E>>,
    item: Arc<Item>,
    order: u64,
    answer: Option<oneshot::Receiver<Outcome<E::Answer>>>,
    /// Whether those behind it wait until it comes again: its last attempt failed.
    blocks: bool,
    is_done: bool,
}

impl<E: Endpoint> PendingCall<E> {
    async fn attempt(&mut self) -> Outcome<E::Answer> {
        let gatherer = Arc::clone(&self.gatherer);
        let (answer, receiver) = oneshot::channel();
        let receiver = self.answer.insert(receiver);
        {
            let (item, order) = (Arc::clone(&self.item), self.order);
            let mut queues = gatherer.queues();
            queues.put(Waiting {
                item,
                order,
                answer,
            });
            match mem::take(&mut self.blocks) {
                true => queues.unblock(&self.item.line),
                false => queues.offer(&self.item.line),
            }
        }
        gatherer.flush();
        let mut deadline = pin!(tokio::time::sleep(gatherer.timeout));
        let received = loop {
            tokio::select! {
                biased;
                received = &mut *receiver => break received.ok(),
                () = gatherer.stalled.notified() => gatherer.flush(),
                () = &mut deadline => break None,
            }
        };
        let answer = self.answer.take();
        let outcome = received.unwrap_or_else(|| {
            let mut queues = gatherer.queues();
            let outcome = queues.withdraw(&self.item, self.order, answer);
            outcome.unwrap_or_else(|| {
                queues.block(&self.item.line);
                let timeout = gatherer.timeout;
                Err(ErrorKind::unanswered(format!("none within {timeout:?}")))
            })
        });
        self.is_done = outcome.is_ok();
        self.blocks = !self.is_done;
        outcome
    }
}

impl<E: Endpoint> Drop for PendingCall<E> {
    fn drop(&mut self) {
        if self.is_done {
            return;
        }
        let (gatherer, item) = (&self.gatherer, &self.item);
        let mut queues = gatherer.queues();
        let blocks = match queues.withdraw(item, self.order, self.answer.take()) {
            Some(Ok(_)) => return,
            Some(Err(_)) => true,
            None => self.blocks,
        };
        gatherer.end(&mut queues, item);
        match blocks {
            true => queues.unblock(&item.line),
            false => queues.offer(&item.line),
        }
        if queues.work().is_some() {
            gatherer.stalled.notify_one();
        }
    }
}
