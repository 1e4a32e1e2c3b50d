//! Reads the log for one endpoint: new events, and a part of the log that is to be sent again.

use std::collections::{HashMap, HashSet};

use actors::{EventRecord, Handle, event_number};
use catalog::ProjectCatalog;
use domain::{
    Timestamp,
    catalog::Endpoint,
    id::{EventId, WalletKey},
};
use persistence::EventNumber;
use wire::field::EventType;

use super::{
    delivery::{Delivery, Origin, new_id},
    note::{Progress, Replay},
    queue::{Queue, QueuedDelivery},
};

/// Events read per page.
pub(super) const PAGE: usize = 128;

/// Events to be sent, with their wallets.
type Entries = Vec<(WalletKey, QueuedDelivery)>;

/// The positions in the log of one endpoint.
#[derive(Debug)]
pub(super) struct Reader {
    cursor: EventNumber,
    /// Whether the log was read to its end, as far as is known.
    at_end: bool,
    /// What is unread of the part that is to be sent again.
    replay: Option<Replay>,
    /// All of that part, until each of its events was sent or has a note.
    replaying: Option<Replay>,
    /// Events that an earlier process has noted, from where this one reads.
    known: HashSet<EventId>,
    lost: Option<Lost>,
}

/// Events that an earlier process read without noting them: they waited behind one that has a note.
#[derive(Debug)]
struct Lost {
    from: EventNumber,
    to: EventNumber,
    /// Each wallet with the number of its noted event.
    behind: HashMap<WalletKey, EventNumber>,
}

impl Reader {
    /// Continues where an earlier process stopped, with its deliveries and those of them that wait.
    pub(super) fn resumed<'a>(
        progress: &Progress,
        deliveries: impl Iterator<Item = &'a Delivery>,
        queue: &Queue,
    ) -> Self {
        let behind = queue.parked();
        let lost = behind.values().copied().min();
        let lost = lost.filter(|from| *from < progress.cursor);
        let from = lost.unwrap_or(progress.cursor);
        let known = deliveries.filter(|it| it.origin == Origin::Live && it.number() > from);
        Self {
            cursor: progress.cursor,
            at_end: false,
            replay: progress.replay,
            replaying: progress.replay,
            known: known.map(|delivery| delivery.event).collect(),
            lost: lost.map(|from| Lost {
                from,
                to: progress.cursor,
                behind,
            }),
        }
    }

    /// Says that events were logged since.
    pub(super) const fn has_new_events(&mut self) {
        self.at_end = false;
    }

    /// Whether there is nothing to read at present.
    pub(super) const fn is_done(&self) -> bool {
        self.at_end && self.replay.is_none() && self.lost.is_none()
    }

    /// Sends this part of the log again, merged with what is unread of an earlier such part.
    pub(super) fn replay(&mut self, more: Replay) {
        let unread = self.replay.unwrap_or(more);
        let before = self.replaying.unwrap_or(more);
        let all = Replay {
            cursor: more.cursor.min(unread.cursor),
            end: more.end.max(before.end),
            since: more.since.min(before.since),
        };
        self.replay = Some(all);
        self.replaying = Some(all);
    }

    /// Says that each event of that part was sent or has a note.
    pub(super) const fn replayed(&mut self) {
        self.replaying = None;
    }

    /// The progress that may be written once all results are: it passes nothing that only this queue knows of.
    pub(super) fn progress(&self, queue: &Queue, failing_since: Option<Timestamp>) -> Progress {
        // Events that are not found again yet must be found by the next process.
        let lost = self
            .lost
            .as_ref()
            .map_or(EventNumber::MAX, |lost| lost.from);
        let replay = self.replaying.and_then(|replay| {
            // The last events of a replay may still wait when all of it was read.
            let unread = self.replay.map_or(EventNumber::MAX, |replay| replay.cursor);
            let cursor = queue.safe(Origin::Replay, unread);
            (cursor < EventNumber::MAX).then_some(Replay { cursor, ..replay })
        });
        Progress {
            cursor: queue.safe(Origin::Live, self.cursor.min(lost)),
            failing_since: failing_since.map(|since| since.0),
            replay,
        }
    }

    /// Reads on until the queue is full or there is nothing to read at present.
    /// # Errors
    /// [`actors::Error::Unavailable`]: the log cannot be read.
    pub(super) async fn fill(
        &mut self,
        queue: &mut Queue,
        handle: &Handle,
        project: &ProjectCatalog,
        endpoint: &Endpoint,
    ) -> Result<(), actors::Error> {
        let now = handle.now();
        while queue.has_room(now) {
            let Some(from) = self.position() else { break };
            let page = handle.events_from(&project.scope, from, PAGE).await?;
            let wanted = |record: &EventRecord| {
                endpoint.wants(EventType::of(&record.project_event.data).as_str())
            };
            for (wallet, entry) in self.take(page, wanted) {
                queue.push(wallet, entry, now);
            }
        }
        Ok(())
    }

    /// Where the next page begins; `None`: there is nothing to read at present.
    pub(super) fn position(&self) -> Option<EventNumber> {
        match (&self.lost, &self.replay) {
            (Some(lost), _) => Some(lost.from),
            (None, _) if !self.at_end => Some(self.cursor),
            (None, replay) => replay.map(|replay| replay.cursor),
        }
    }

    /// What is to be sent of the page that begins at [`Self::position`].
    pub(super) fn take(
        &mut self,
        page: Vec<EventRecord>,
        wanted: impl Fn(&EventRecord) -> bool,
    ) -> Entries {
        let known = &mut self.known;
        let is_last = page.len() < PAGE;
        let last = page.last().map(|record| event_number(record.id));
        if let Some(lost) = &mut self.lost {
            let last = last.unwrap_or(lost.to);
            let found = page.into_iter().filter(|record| {
                let number = event_number(record.id);
                let behind = lost.behind.get(&record.project_event.key);
                let is_lost = number <= lost.to && behind.is_some_and(|note| number > *note);
                is_lost && !known.remove(&record.id) && wanted(record)
            });
            let found = found.map(|record| entry(record, Origin::Live)).collect();
            lost.from = last;
            if is_last || last >= lost.to {
                self.lost = None;
            }
            return found;
        }
        if !self.at_end {
            self.at_end = is_last;
            self.cursor = last.unwrap_or(self.cursor);
            let new = page.into_iter().filter(|record| !known.remove(&record.id));
            let found = new.filter(wanted);
            return found.map(|record| entry(record, Origin::Live)).collect();
        }
        let Some(replay) = &mut self.replay else {
            return Vec::new();
        };
        let is_over = is_last || last.is_none_or(|last| last >= replay.end);
        let (end, since) = (replay.end, Timestamp(replay.since));
        let found = page.into_iter().filter(|record| {
            event_number(record.id) <= end && record.project_event.is_since(since) && wanted(record)
        });
        let found = found.map(|record| entry(record, Origin::Replay)).collect();
        match last.filter(|_| !is_over) {
            Some(last) => replay.cursor = last,
            None => self.replay = None,
        }
        found
    }
}

fn entry(record: EventRecord, origin: Origin) -> (WalletKey, QueuedDelivery) {
    let wallet = record.project_event.key;
    let entry = QueuedDelivery {
        delivery: new_id(),
        event: record.id,
        kind: EventType::of(&record.project_event.data),
        origin,
        noted: false,
        by_hand: false,
        unread: 0,
        record: Some(Box::new(record)),
    };
    (wallet, entry)
}
