//! The background queue of mails: bounded in how many are in progress and how many are sent at once; each is
//! tried a few times. A mail that waits for its retry blocks no other.

use std::{sync::Arc, time::Duration};

use parking_lot::Mutex;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch},
    task::{JoinHandle, JoinSet},
};

use super::{Post, error::Error, message::Mail};

/// The handle to the queue; the worker task holds the other end.
pub(super) struct Queue {
    // Bounded by `places`.
    mails: mpsc::UnboundedSender<(Mail, OwnedSemaphorePermit)>,
    stop: watch::Sender<bool>,
    worker: Mutex<Option<JoinHandle<()>>>,
    /// A mail has one from when it is accepted until it is sent or has failed, however that ends.
    places: Arc<Semaphore>,
    max: usize,
}

impl Queue {
    pub(super) fn start(post: Arc<Post>) -> Self {
        let (mails, waiting) = mpsc::unbounded_channel();
        let (stop, stopping) = watch::channel(false);
        let max = post.options.queue;
        Self {
            mails,
            stop,
            worker: Mutex::new(Some(tokio::spawn(work(post, waiting, stopping)))),
            places: Arc::new(Semaphore::new(max)),
            max,
        }
    }

    pub(super) fn push(&self, mail: Mail) -> bool {
        let place = self.expect();
        let taken = place.is_some_and(|place| self.mails.send((mail, place)).is_ok());
        if !taken {
            tracing::warn!("A mail was dropped: too many are waiting, or the service is stopping");
        }
        taken
    }

    pub(super) fn expect(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.places).try_acquire_owned().ok()
    }

    pub(super) fn under_way(&self) -> usize {
        self.max.saturating_sub(self.places.available_permits())
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

async fn work(
    post: Arc<Post>,
    mut waiting: mpsc::UnboundedReceiver<(Mail, OwnedSemaphorePermit)>,
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
                Some((mail, place)) => {
                    let (post, turns) = (Arc::clone(&post), Arc::clone(&turns));
                    running.spawn(deliver(post, turns, mail, place, for_each.clone()));
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
    _place: OwnedSemaphorePermit,
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
