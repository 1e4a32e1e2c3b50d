//! What is written about an endpoint, and in which order. A crash may leave any beginning of it: from each the next
//! process sends every event that was not accepted, and none again of which it is written that it was.

use std::collections::BTreeMap;

use domain::{Timestamp, id::DeliveryId};
use persistence::EventNumber;

use super::{
    delivery::{Delivery, Status},
    note::Progress,
    queue::Queue,
};

/// The cursor is written after this many deliveries.
const NOTED_EVERY: usize = 64;

/// One note of what happened to a delivery, or of how far the events are read.
#[derive(Debug)]
pub(super) enum Write<'a> {
    Progress(Progress),
    Delivery(&'a Delivery),
}

/// Notes what the written cursor has passed and only the delivery before it would have found after a crash:
/// that one is over.
pub(super) fn note_passed(
    queue: &mut Queue,
    cursor: EventNumber,
    fresh: &mut BTreeMap<DeliveryId, Delivery>,
    now: Timestamp,
) {
    for (wallet, entry) in queue.note_passed(cursor) {
        let delivery = Delivery {
            next_at: Some(now),
            ..entry.delivery(wallet)
        };
        fresh.insert(delivery.id, delivery);
    }
}

/// Whether the progress has to be written, `unwritten` deliveries after the last time. `rests`: there are deliveries to
/// write, and nothing is under way.
pub(super) fn is_news(
    written: &Progress,
    progress: &Progress,
    unwritten: usize,
    rests: bool,
) -> bool {
    progress.cursor < written.cursor
        || progress.failing_since != written.failing_since
        || progress.replay != written.replay
        || (progress.cursor != written.cursor && (unwritten >= NOTED_EVERY || rests))
}

/// The notes in their order: what finds others after a crash is durable before what was found is over.
pub(super) fn in_order<'a>(
    written: &Progress,
    progress: &Progress,
    is_news: bool,
    fresh: impl Iterator<Item = &'a Delivery>,
) -> Vec<Write<'a>> {
    let mut fresh: Vec<_> = fresh.collect();
    fresh.sort_by_key(|delivery| (delivery.status != Status::Pending, delivery.id));
    let goes_back = progress.cursor < written.cursor;
    let back = goes_back.then(|| Progress {
        cursor: progress.cursor,
        ..written.clone()
    });
    let news = is_news.then(|| progress.clone());
    let back = back.into_iter().map(Write::Progress);
    let news = news.into_iter().map(Write::Progress);
    back.chain(fresh.into_iter().map(Write::Delivery))
        .chain(news)
        .collect()
}

#[cfg(test)]
mod tests;
