//! Mails on their way in the background: so many are under way, so many of them tried at once, each
//! a few times. A mail that waits for its next attempt is in nobody's way.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use parking_lot::Mutex;
use tokio::{
    sync::{Semaphore, mpsc, watch},
    task::{JoinHandle, JoinSet},
};

use super::{Error, Mail, Post};

/// The near end.
pub(super) struct Queue {
    // Bounded by what may be under way.
    mails: mpsc::UnboundedSender<(Mail, UnderWay)>,
    stop: watch::Sender<bool>,
    worker: Mutex<Option<JoinHandle<()>>>,
    under_way: Arc<AtomicUsize>,
    max: usize,
}

/// A mail that may come.
#[must_use = "it counts for as long as it is held"]
pub struct Expected(#[allow(dead_code, reason = "it is dropped")] UnderWay);

/// Counts a mail from when it is taken on until it is sent or given up, however that ends.
struct UnderWay(Arc<AtomicUsize>);

impl Queue {
    pub(super) fn start(post: Arc<Post>) -> Self {
        let (mails, waiting) = mpsc::unbounded_channel();
        let (stop, stopping) = watch::channel(false);
        let max = post.options.queue;
        Self {
            mails,
            stop,
            worker: Mutex::new(Some(tokio::spawn(work(post, waiting, stopping)))),
            under_way: Arc::default(),
            max,
        }
    }

    pub(super) fn push(&self, mail: Mail) -> bool {
        let taken = UnderWay::count(&self.under_way, self.max)
            .is_some_and(|under_way| self.mails.send((mail, under_way)).is_ok());
        if !taken {
            tracing::warn!("a mail was dropped: too many are waiting, or the service is stopping");
        }
        taken
    }

    pub(super) fn expect(&self) -> Option<Expected> {
        UnderWay::count(&self.under_way, self.max).map(Expected)
    }

    /// Mails taken on and not yet sent or given up.
    pub(super) fn under_way(&self) -> usize {
        self.under_way.load(Ordering::Acquire)
    }

    pub(super) async fn shut_down(&self, grace: Duration) {
        self.stop.send_replace(true);
        let Some(mut worker) = self.worker.lock().take() else {
            return;
        };
        if tokio::time::timeout(grace, &mut worker).await.is_err() {
            let lost = self.under_way();
            worker.abort();
            tracing::warn!(lost, "mails were not sent before the end");
        }
    }
}

impl UnderWay {
    fn count(counter: &Arc<AtomicUsize>, max: usize) -> Option<Self> {
        counter
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |number| {
                (number < max).then(|| number.saturating_add(1))
            })
            .ok()
            .map(|_| Self(Arc::clone(counter)))
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

async fn work(
    post: Arc<Post>,
    mut waiting: mpsc::UnboundedReceiver<(Mail, UnderWay)>,
    mut stopping: watch::Receiver<bool>,
) {
    let for_each = stopping.clone();
    let turns = Arc::new(Semaphore::new(post.options.at_once.max(1)));
    let mut running = JoinSet::new();
    let mut open = true;
    loop {
        // A panic in one is the runtime's to report; the others go on.
        while running.try_join_next().is_some() {}
        tokio::select! {
            biased;
            // Whoever could have stopped it may be gone as well.
            _ = stopping.wait_for(|stop| *stop), if open => {
                open = false;
                waiting.close();
            }
            mail = waiting.recv() => match mail {
                Some((mail, under_way)) => {
                    let (post, turns) = (Arc::clone(&post), Arc::clone(&turns));
                    running.spawn(deliver(post, turns, mail, under_way, for_each.clone()));
                }
                None => break,
            },
        }
    }
    while running.join_next().await.is_some() {}
}

async fn deliver(
    post: Arc<Post>,
    turns: Arc<Semaphore>,
    mail: Mail,
    _under_way: UnderWay,
    mut stopping: watch::Receiver<bool>,
) {
    if let Err(error) = attempts(&post, &turns, &mail, &mut stopping).await {
        tracing::warn!(%error, "a mail was given up");
    }
}

/// One attempt more than there are pauses; the service's end makes the next one the last.
async fn attempts(
    post: &Post,
    turns: &Semaphore,
    mail: &Mail,
    stopping: &mut watch::Receiver<bool>,
) -> Result<(), Error> {
    let message = post.compose(mail)?;
    let attempt = async || {
        // Never closed: without a turn it would be tried all the same.
        let _turn = turns.acquire().await;
        post.attempt(&message).await
    };
    for pause in &post.options.pauses {
        match attempt().await {
            Err(error) if error.is_transient() => {
                tracing::info!(%error, "a mail is tried again later");
            }
            done => return done,
        }
        let stopped = stopping.wait_for(|stop| *stop);
        if tokio::time::timeout(*pause, stopped).await.is_ok() {
            break;
        }
    }
    attempt().await
}
