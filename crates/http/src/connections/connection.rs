//! One connection from its first byte to its end: until the client leaves, or makes us wait for too
//! long, or the server stops.

use std::{
    pin::{Pin, pin},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
    time::Duration,
};

use hyper_util::server::graceful::GracefulConnection;
use parking_lot::Mutex;
use pin_project_lite::pin_project;
use tokio::{
    sync::watch,
    time::{Instant, sleep},
};

/// How long a request may still take to arrive once the server stops: its head, and its body.
pub(super) const AT_THE_STOP: Duration = Duration::from_secs(1);
/// And how long its client may take to take an answer, at any speed: no other is served until then.
const TAKEN_AT_THE_STOP: Duration = Duration::from_secs(5);

/// Since when a connection waits for its client.
#[derive(Debug)]
pub(super) struct IdleTracker(Mutex<Since>);

#[derive(Debug, Clone, Copy)]
struct Since {
    /// To send the head of a request; `None` while a request is handled.
    idle: Option<Instant>,
    /// To take what is written; `None` while it does.
    stalled: Option<Instant>,
}

/// How long the client may take.
#[derive(Debug, Clone, Copy)]
pub(super) struct Timeouts {
    /// To send the head of its next request.
    pub(super) idle: Duration,
    /// To take what is written to it.
    pub(super) stalled: Duration,
    /// To take an answer of known length as a whole.
    pub(super) taken: Duration,
}

impl IdleTracker {
    /// Waits for the first request, from now on.
    pub(super) fn new() -> Self {
        Self(Mutex::new(Since {
            idle: Some(Instant::now()),
            stalled: None,
        }))
    }

    /// A request has come.
    pub(super) fn ends(&self) {
        self.0.lock().idle = None;
    }

    /// The request was answered.
    pub(super) fn begins(&self) {
        self.0.lock().idle = Some(Instant::now());
    }

    /// What the client owes, it owes from now on.
    fn restarts(&self) {
        let mut since = self.0.lock();
        since.idle = since.idle.map(|_| Instant::now());
    }

    /// The client does not take what is written.
    pub(super) fn stalls(&self) {
        self.0.lock().stalled = Some(Instant::now());
    }

    /// The client took all that was written.
    pub(super) fn flows(&self) {
        self.0.lock().stalled = None;
    }

    /// How long the client has left. Where nothing waits for it yet, that is the whole limit: a
    /// wait may begin at any time.
    fn left(&self, timeouts: Timeouts) -> Duration {
        let Since { idle, stalled } = *self.0.lock();
        let left = |since: Option<Instant>, limit: Duration| {
            limit.saturating_sub(since.map_or(Duration::ZERO, |since| since.elapsed()))
        };
        // While it takes an answer it owes no request.
        let owed = match stalled {
            Some(_) => timeouts.taken,
            None => timeouts.idle,
        };
        left(idle, owed).min(left(stalled, timeouts.stalled))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CloseReason {
    /// The server stops: requests in flight are finished.
    Stopping,
    Idle,
}

/// Runs a connection to its end. `stop` changes when the server stops.
pub(super) async fn run<C: GracefulConnection>(
    connection: C,
    waiting: &IdleTracker,
    timeouts: Timeouts,
    stop: watch::Receiver<bool>,
) -> Result<(), C::Error> {
    let mut connection = pin!(connection);
    let why = tokio::select! {
        biased;
        ended = &mut connection => return ended,
        why = SideTask::new(end(waiting, timeouts, stop)) => why,
    };
    match why {
        CloseReason::Stopping => {
            connection.as_mut().graceful_shutdown();
            // A channel that never changes: a client that does not act is still cut off.
            let (_never, stop) = watch::channel(false);
            waiting.restarts();
            let timeouts = Timeouts {
                idle: timeouts.idle.min(AT_THE_STOP),
                stalled: timeouts.stalled.min(TAKEN_AT_THE_STOP),
                taken: TAKEN_AT_THE_STOP,
            };
            tokio::select! {
                ended = connection => ended,
                _ = end(waiting, timeouts, stop) => Ok(()),
            }
        }
        CloseReason::Idle => {
            tracing::debug!("A connection was cut off: its client did not send or take anything");
            Ok(())
        }
    }
}

/// Waits for a reason to end. There is one timer for the whole connection, put off when it fires:
/// arming one for each request costs more than reading its head.
async fn end(
    waiting: &IdleTracker,
    timeouts: Timeouts,
    mut stop: watch::Receiver<bool>,
) -> CloseReason {
    let mut timer = pin!(sleep(waiting.left(timeouts)));
    loop {
        tokio::select! {
            // The sender is dropped when the server is gone: that is a stop, too.
            _ = stop.wait_for(|stopping| *stopping) => return CloseReason::Stopping,
            () = &mut timer => {
                let left = waiting.left(timeouts);
                if left.is_zero() {
                    return CloseReason::Idle;
                }
                timer.set(sleep(left));
            }
        }
    }
}

pin_project! {
    /// A future that shares a task with a busy one. It is polled only when it was woken itself: when the task was
    /// woken for the other one, this costs no more than a check of a flag.
    struct SideTask<F> {
        #[pin]
        future: F,
        flag: Option<Arc<WakeFlag>>,
    }
}

/// Wakes the task, and notes that it was for this future.
struct WakeFlag {
    woken: AtomicBool,
    task: Waker,
}

impl Wake for WakeFlag {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.woken.store(true, Ordering::Release);
        self.task.wake_by_ref();
    }
}

impl<F> SideTask<F> {
    const fn new(future: F) -> Self {
        Self { future, flag: None }
    }
}

impl<F: Future> Future for SideTask<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        let flag = this.flag.take();
        let flag = flag.filter(|flag| flag.task.will_wake(cx.waker()));
        // A new flag begins as set: the future has to be polled once to register it.
        let flag = this.flag.insert(flag.unwrap_or_else(|| {
            Arc::new(WakeFlag {
                woken: AtomicBool::new(true),
                task: cx.waker().clone(),
            })
        }));
        if !flag.woken.load(Ordering::Acquire) {
            return Poll::Pending;
        }
        flag.woken.store(false, Ordering::Release);
        let waker = Waker::from(Arc::clone(flag));
        this.future.poll(&mut Context::from_waker(&waker))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(60);
    const TIMEOUT: Timeouts = Timeouts {
        idle: LIMIT,
        stalled: Duration::from_secs(20),
        taken: Duration::MAX,
    };

    #[tokio::test(start_paused = true)]
    async fn a_client_that_says_nothing_is_cut_off_at_the_limit() {
        let (begun, waiting) = (Instant::now(), IdleTracker::new());
        let (_stop, stopping) = watch::channel(false);
        assert_eq!(end(&waiting, TIMEOUT, stopping).await, CloseReason::Idle);
        assert_eq!(begun.elapsed().as_secs(), 60);
    }

    #[tokio::test(start_paused = true)]
    async fn the_limit_counts_from_the_latest_answer() {
        let (begun, waiting) = (Instant::now(), IdleTracker::new());
        let (_stop, stopping) = watch::channel(false);
        let client = async {
            sleep(Duration::from_secs(50)).await;
            waiting.ends();
            // However long an answer takes, that is not the client's doing.
            sleep(Duration::from_secs(500)).await;
            waiting.begins();
        };
        let (end, ()) = tokio::join!(end(&waiting, TIMEOUT, stopping), client);
        assert_eq!(end, CloseReason::Idle);
        assert_eq!(begun.elapsed().as_secs(), 50 + 500 + 60);
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_reads_nothing_is_cut_off() {
        let (begun, waiting) = (Instant::now(), IdleTracker::new());
        let (_stop, stopping) = watch::channel(false);
        let client = async {
            // A client that recovers is left alone.
            waiting.stalls();
            sleep(Duration::from_secs(19)).await;
            waiting.flows();
            sleep(Duration::from_secs(6)).await;
            waiting.stalls();
            for _ in 0..50 {
                sleep(Duration::from_secs(1)).await;
                waiting.ends();
                waiting.begins();
            }
        };
        let ended = async {
            let end = end(&waiting, TIMEOUT, stopping).await;
            (end, begun.elapsed().as_secs())
        };
        let (ended, ()) = tokio::join!(ended, client);
        assert_eq!(ended, (CloseReason::Idle, 19 + 6 + 20));
    }

    #[tokio::test(start_paused = true)]
    async fn what_stands_beside_is_polled_for_its_own_sake_only() {
        let polls = std::cell::Cell::new(0);
        let mut timer = pin!(sleep(LIMIT));
        let counted = std::future::poll_fn(|cx| {
            polls.set(polls.get() + 1);
            timer.as_mut().poll(cx)
        });
        let busy = async {
            for _ in 0..100 {
                tokio::task::yield_now().await;
            }
            std::future::pending::<()>().await;
        };
        tokio::select! {
            biased;
            () = busy => unreachable!(),
            () = SideTask::new(counted) => {}
        }
        // To arm the timer, and when it fired.
        assert_eq!(polls.get(), 2);
    }
}
