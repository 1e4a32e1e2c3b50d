//! The background queue of mails: bounded in how many are in progress and how many are sent at once; each is
//! tried a few times. A mail that waits for its retry blocks no other.

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

use super::{Post, error::Error, message::Mail};

/// The handle to the queue; the worker task holds the other end.
pub(super) struct Queue {
    // Bounded by `max` in `under_way`.
    mails: mpsc::UnboundedSender<(Mail, InProgress)>,
    stop: watch::Sender<bool>,
    worker: Mutex<Option<JoinHandle<()>>>,
    under_way: Arc<AtomicUsize>,
    max: usize,
}

/// A reserved place in the queue for a mail that may follow.
#[must_use = "it counts for as long as it is held"]
pub struct MailReservation(#[allow(dead_code, reason = "it is dropped")] InProgress);

/// Counts a mail from when it is accepted until it is sent or has failed, however that ends.
struct InProgress(Arc<AtomicUsize>);

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
        let taken = InProgress::count(&self.under_way, self.max)
            .is_some_and(|under_way| self.mails.send((mail, under_way)).is_ok());
        if !taken {
            tracing::warn!("A mail was dropped: too many are waiting, or the service is stopping");
        }
        taken
    }

    pub(super) fn expect(&self) -> Option<MailReservation> {
        InProgress::count(&self.under_way, self.max).map(MailReservation)
    }

    /// Mails accepted and not yet sent or failed.
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
            tracing::warn!(lost, "Mails were not sent before the shutdown");
        }
    }
}

impl InProgress {
    fn count(counter: &Arc<AtomicUsize>, max: usize) -> Option<Self> {
        counter
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |number| {
                (number < max).then(|| number.saturating_add(1))
            })
            .ok()
            .map(|_| Self(Arc::clone(counter)))
    }
}

impl Drop for InProgress {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

async fn work(
    post: Arc<Post>,
    mut waiting: mpsc::UnboundedReceiver<(Mail, InProgress)>,
    mut stopping: watch::Receiver<bool>,
) {
    let for_each = stopping.clone();
    let turns = Arc::new(Semaphore::new(post.options.at_once.max(1)));
    let mut running = JoinSet::new();
    let mut open = true;
    loop {
        // The runtime reports a panic of one mail; the others go on.
        while running.try_join_next().is_some() {}
        tokio::select! {
            biased;
            // If the sender is gone as well, it also stops.
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
    _under_way: InProgress,
    mut stopping: watch::Receiver<bool>,
) {
    if let Err(error) = attempts(&post, &turns, &mail, &mut stopping).await {
        tracing::warn!(%error, "A mail could not be sent, and is not tried again");
    }
}

/// Makes one attempt more than there are pauses; a shutdown makes the next attempt the last.
async fn attempts(
    post: &Post,
    turns: &Semaphore,
    mail: &Mail,
    stopping: &mut watch::Receiver<bool>,
) -> Result<(), Error> {
    let message = post.compose(mail)?;
    let attempt = async || {
        // The semaphore is never closed; without a permit the mail would be sent all the same.
        let _turn = turns.acquire().await;
        post.attempt(&message).await
    };
    for pause in &post.options.pauses {
        match attempt().await {
            Err(error) if error.is_transient() => {
                tracing::info!(%error, "A mail could not be sent and will be tried again");
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
