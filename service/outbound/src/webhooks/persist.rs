//! Writes how deliveries went and how far the log was read for an endpoint. Nothing is shown before it is
//! durable.

use domain::id::DeliveryId;

use super::{
    Error,
    delivery::{Delivery, Origin, Status},
    note::{self, DeliveryNote, Progress, ProgressNote, Replay, ResponseNote},
    worker::{CommandReply, EndpointWorker},
};

/// The cursor is written after this many deliveries.
const NOTED_EVERY: usize = 64;

impl EndpointWorker {
    /// The cursor that may be written, once all in `fresh` is durable.
    fn progress(&self) -> Progress {
        let read = self.reader.progress();
        // The last events of a replay may still wait when all of it was read.
        let unread = read.replay.map_or(u64::MAX, |replay| replay.cursor);
        let waits = self.queue.safe(Origin::Replay, unread);
        let replay = self.reader.replaying().filter(|_| waits < u64::MAX);
        Progress {
            cursor: self.queue.safe(Origin::Live, read.cursor),
            failing_since: self.failing_since.map(|since| since.0),
            replay: replay.map(|replay| Replay {
                cursor: waits,
                ..replay
            }),
        }
    }

    /// Notes what the written cursor has passed and only the delivery before it would have found after a crash:
    /// that one is over.
    fn note_passed(&mut self) {
        let now = self.context.handle.now();
        for (wallet, entry) in self.queue.note_passed(self.written.cursor) {
            let next_at = Some(now);
            let delivery = entry.delivery(wallet);
            let delivery = Delivery {
                next_at,
                ..delivery
            };
            self.fresh.insert(delivery.id, delivery);
        }
    }

    /// Makes all in `fresh` durable, then shows it. Returns whether all is durable.
    pub(super) async fn persist(&mut self) -> bool {
        if self.rests_until.is_some() {
            return false;
        }
        self.note_passed();
        let progress = self.progress();
        let goes_back = progress.cursor < self.written.cursor;
        let is_news = goes_back
            || progress.failing_since != self.written.failing_since
            || progress.replay != self.written.replay
            || (progress.cursor != self.written.cursor
                && (self.unwritten >= NOTED_EVERY
                    || (self.under_way.is_empty() && !self.fresh.is_empty())));
        if self.fresh.is_empty() && !is_news && self.replies.is_empty() {
            return true;
        }
        let mut fresh: Vec<_> = self.fresh.values().collect();
        // What finds others after a crash is durable before what was found is over.
        fresh.sort_by_key(|delivery| (delivery.status != Status::Pending, delivery.id));
        let mut append = Vec::new();
        if goes_back {
            let back = Progress {
                cursor: progress.cursor,
                ..self.written.clone()
            };
            append.push(notes::put::<ProgressNote>(&self.id, &back));
        }
        append.extend(fresh.into_iter().flat_map(|delivery| {
            let summary = self.summary.get(&delivery.id);
            let key = (self.id, delivery.id);
            let summary = summary.map(|summary| notes::put::<ResponseNote>(&key, summary));
            std::iter::once(notes::put::<DeliveryNote>(&key, delivery)).chain(summary)
        }));
        if is_news {
            append.push(notes::put::<ProgressNote>(&self.id, &progress));
        }
        if let Err(error) = self.put(append).await {
            tracing::warn!(%error, endpoint = %self.id, "The results of webhooks could not be written; trying again");
            self.rest();
            return false;
        }
        self.unwritten = self.unwritten.saturating_add(self.fresh.len());
        if progress.replay.is_none() {
            self.reader.replayed();
        }
        if is_news {
            self.written = progress;
            self.unwritten = 0;
        }
        self.summary.clear();
        let forgotten = {
            let mut delivery_log = self.shared.delivery_log.lock();
            for delivery in std::mem::take(&mut self.fresh).into_values() {
                delivery_log.put(delivery);
            }
            delivery_log.forget()
        };
        self.answer();
        let forgotten = forgotten.into_iter();
        let forgotten = forgotten.flat_map(|id| note::forget_delivery(self.id, id));
        if let Err(error) = self.put(forgotten.collect()).await {
            tracing::warn!(%error, endpoint = %self.id, "Old webhook deliveries could not be deleted");
        }
        true
    }

    fn answer(&mut self) {
        for reply in std::mem::take(&mut self.replies) {
            match reply {
                CommandReply::Again(id, reply) => {
                    let known = self.known(&id).ok_or(Error::UnknownDelivery);
                    drop(reply.send(known));
                }
                CommandReply::AllAgain(reply) => drop(reply.send(Ok(()))),
            }
        }
    }

    /// Appends notes in this order: a later one is never durable without the earlier ones.
    async fn put(&self, notes: Vec<persistence::Note>) -> Result<(), actors::Error> {
        notes::put_all(&self.context.handle, notes).await
    }

    /// Deletes all notes of a deleted endpoint.
    pub(super) async fn forget_all(&mut self) {
        let mut known: Vec<DeliveryId> = self.fresh.keys().copied().collect();
        known.extend(
            self.shared
                .delivery_log
                .lock()
                .all()
                .map(|delivery| delivery.id),
        );
        let known = known.into_iter();
        let forgotten = known.flat_map(|id| note::forget_delivery(self.id, id));
        let forgotten = forgotten.chain([notes::forget::<ProgressNote>(&self.id)]);
        if let Err(error) = self.put(forgotten.collect()).await {
            tracing::warn!(%error, endpoint = %self.id, "The deliveries of a deleted webhook endpoint could not be deleted; the next start tries again");
        }
    }
}
