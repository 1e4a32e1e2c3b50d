//! Writes how deliveries went and how far the log was read for an endpoint. Nothing is shown before it is
//! durable.

use actors::notes;
use domain::id::DeliveryId;

use super::{
    Error,
    delivery::Origin,
    note::{self, DeliveryNote, Progress, ProgressNote, Replay, ResponseNote},
    worker::{CommandReply, EndpointWorker},
    writes::{self, Write},
};

impl EndpointWorker {
    /// The cursor that may be written, once all in `fresh` is durable.
    fn progress(&self) -> Progress {
        let read = self.reader.progress();
        let replay = self.reader.replaying().and_then(|replay| {
            // The last events of a replay may still wait when all of it was read.
            let unread = read.replay.map_or(u64::MAX, |replay| replay.cursor);
            let cursor = self.queue.safe(Origin::Replay, unread);
            (cursor < u64::MAX).then_some(Replay { cursor, ..replay })
        });
        Progress {
            cursor: self.queue.safe(Origin::Live, read.cursor),
            failing_since: self.failing_since.map(|since| since.0),
            replay,
        }
    }

    /// Makes all in `fresh` durable, then shows it. Returns whether all is durable.
    pub(super) async fn persist(&mut self) -> bool {
        if self.rests_until.is_some() {
            return false;
        }
        let now = self.context.handle.now();
        writes::note_passed(&mut self.queue, self.written.cursor, &mut self.fresh, now);
        let progress = self.progress();
        let rests = self.under_way.is_empty() && !self.fresh.is_empty();
        let is_news = writes::is_news(&self.written, &progress, self.unwritten, rests);
        if self.fresh.is_empty() && !is_news && self.replies.is_empty() {
            return true;
        }
        let writes = writes::in_order(&self.written, &progress, is_news, self.fresh.values());
        let append = writes.into_iter().flat_map(|write| match write {
            Write::Progress(progress) => vec![notes::put::<ProgressNote>(&self.id, &progress)],
            Write::Delivery(delivery) => {
                let summary = self.summary.get(&delivery.id);
                let key = (self.id, delivery.id);
                let summary = summary.map(|summary| notes::put::<ResponseNote>(&key, summary));
                let delivery = notes::put::<DeliveryNote>(&key, delivery);
                std::iter::once(delivery).chain(summary).collect()
            }
        });
        let append = append.collect();
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
