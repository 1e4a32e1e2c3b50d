//! What is not written yet about an endpoint, and in which order it is written. A crash may leave any beginning of
//! it: from each the next process sends every event that was not accepted, and none again of which it is written
//! that it was.

use std::collections::BTreeMap;

use actors::notes;
use domain::{
    Timestamp,
    id::{DeliveryId, EndpointId},
};
use persistence::Note;

use super::{
    delivery::{Delivery, Status},
    note::{DeliveryNote, Progress, ProgressNote, ResponseNote},
    queue::Queue,
    summary::ResponseSummary,
};

/// The cursor is written after this many deliveries.
const NOTED_EVERY: usize = 64;

/// The results of one endpoint's attempts that are not durable yet and therefore not shown.
#[derive(Default)]
pub(super) struct Results {
    deliveries: BTreeMap<DeliveryId, Delivery>,
    responses: BTreeMap<DeliveryId, ResponseSummary>,
    written: Progress,
    /// Deliveries that were written since the progress was.
    since_progress: usize,
}

/// One note of what happened to a delivery, or of how far the events are read.
pub(super) enum Write<'a> {
    Progress(Progress),
    Delivery(&'a Delivery, Option<&'a ResponseSummary>),
}

impl Write<'_> {
    pub(super) fn notes(self, endpoint: EndpointId) -> impl Iterator<Item = Note> {
        let (first, response) = match self {
            Self::Progress(progress) => (notes::put::<ProgressNote>(&endpoint, &progress), None),
            Self::Delivery(delivery, response) => {
                let key = (endpoint, delivery.id);
                let response = response.map(|it| notes::put::<ResponseNote>(&key, it));
                (notes::put::<DeliveryNote>(&key, delivery), response)
            }
        };
        std::iter::once(first).chain(response)
    }
}

impl Results {
    /// None since this was written.
    pub(super) fn since(written: Progress) -> Self {
        Self {
            written,
            ..Self::default()
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.deliveries.is_empty()
    }

    pub(super) fn delivery(&self, id: &DeliveryId) -> Option<&Delivery> {
        self.deliveries.get(id)
    }

    pub(super) fn ids(&self) -> impl Iterator<Item = DeliveryId> {
        self.deliveries.keys().copied()
    }

    pub(super) fn put(&mut self, delivery: Delivery) {
        self.deliveries.insert(delivery.id, delivery);
    }

    pub(super) fn put_response(&mut self, id: DeliveryId, response: ResponseSummary) {
        self.responses.insert(id, response);
    }

    /// Notes what the written cursor has passed and only the delivery before it would have found after a crash:
    /// that one is over.
    pub(super) fn note_passed(&mut self, queue: &mut Queue, now: Timestamp) {
        for (wallet, entry) in queue.note_passed(self.written.cursor) {
            self.put(Delivery {
                next_at: Some(now),
                ..entry.delivery(wallet)
            });
        }
    }

    /// The progress, where it has to be written. `idle`: nothing is in flight.
    pub(super) fn news(&self, progress: Progress, idle: bool) -> Option<Progress> {
        let rests = idle && !self.is_empty();
        let is_news = progress.cursor < self.written.cursor
            || progress.failing_since != self.written.failing_since
            || progress.replay != self.written.replay
            || (progress.cursor != self.written.cursor
                && (self.since_progress >= NOTED_EVERY || rests));
        is_news.then_some(progress)
    }

    /// The notes in their order: what finds others after a crash is durable before what was found is over.
    pub(super) fn writes(&self, news: Option<&Progress>) -> Vec<Write<'_>> {
        let mut deliveries: Vec<_> = self.deliveries.values().collect();
        deliveries.sort_by_key(|delivery| (delivery.status != Status::Pending, delivery.id));
        let back = news.filter(|news| news.cursor < self.written.cursor);
        let back = back.map(|news| Progress {
            cursor: news.cursor,
            ..self.written.clone()
        });
        let deliveries = deliveries.into_iter();
        let deliveries = deliveries.map(|it| Write::Delivery(it, self.responses.get(&it.id)));
        let news = news.cloned().map(Write::Progress);
        let back = back.into_iter().map(Write::Progress);
        back.chain(deliveries).chain(news).collect()
    }

    /// Takes the deliveries, which are durable now, as is this progress.
    pub(super) fn take_written(
        &mut self,
        news: Option<Progress>,
    ) -> impl Iterator<Item = Delivery> {
        self.since_progress = self.since_progress.saturating_add(self.deliveries.len());
        if let Some(news) = news {
            self.written = news;
            self.since_progress = 0;
        }
        self.responses.clear();
        std::mem::take(&mut self.deliveries).into_values()
    }
}

#[cfg(test)]
mod tests;
