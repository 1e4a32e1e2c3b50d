//! Reads the log for one endpoint: what is new, and beside it a part that is to be sent again.

use std::collections::{HashMap, HashSet};

use actors::{Handle, Told, event_number};
use catalog::ProjectCatalog;
use domain::{
    Timestamp,
    catalog::Endpoint,
    id::{EventId, WalletKey},
};
use persistence::NoticeNumber;

use super::{
    delivery::Origin,
    new_id,
    note::{Progress, Replay},
    queue::Entry,
};
use crate::http::field::EventType;

/// Events that are read at once.
const PAGE: usize = 128;

/// What is to be sent, with the wallet that it is of.
type Entries = Vec<(WalletKey, Entry)>;

/// See the module.
#[derive(Debug)]
pub(super) struct Reader {
    cursor: NoticeNumber,
    /// All of the log was read, as far as is known.
    at_end: bool,
    replay: Option<Replay>,
    /// Beyond the cursor an earlier process dealt with these.
    known: HashSet<EventId>,
    lost: Option<Lost>,
}

/// What an earlier process read and did not note: it waited behind one of its wallet that has a note.
#[derive(Debug)]
struct Lost {
    from: NoticeNumber,
    to: NoticeNumber,
    /// The notes' numbers.
    behind: HashMap<WalletKey, NoticeNumber>,
}

impl Reader {
    /// Goes on where an earlier process was.
    pub(super) fn new(
        progress: &Progress,
        behind: HashMap<WalletKey, NoticeNumber>,
        known: HashSet<EventId>,
    ) -> Self {
        let from = behind.values().copied().min();
        let lost = from.filter(|from| *from < progress.cursor);
        Self {
            cursor: progress.cursor,
            at_end: false,
            replay: progress.replay,
            known,
            lost: lost.map(|from| Lost {
                from,
                to: progress.cursor,
                behind,
            }),
        }
    }

    /// Something was logged since.
    pub(super) const fn there_is_more(&mut self) {
        self.at_end = false;
    }

    /// Whether there is nothing to read now.
    pub(super) const fn is_done(&self) -> bool {
        self.at_end && self.replay.is_none() && self.lost.is_none()
    }

    /// This part of the log is to be sent again, with what of an earlier such part is not read yet.
    pub(super) fn replay(&mut self, more: Replay) {
        let before = self.replay.unwrap_or(more);
        self.replay = Some(Replay {
            cursor: more.cursor.min(before.cursor),
            end: more.end.max(before.end),
            since: more.since.min(before.since),
        });
    }

    /// How far it read.
    pub(super) fn progress(&self) -> Progress {
        // What is not found again yet must be found by the next process.
        let lost = self.lost.as_ref().map(|lost| lost.from);
        Progress {
            cursor: lost.map_or(self.cursor, |from| from.min(self.cursor)),
            failing_since: None,
            replay: self.replay,
        }
    }

    /// Reads on; `None`: there is nothing now.
    ///
    /// # Errors
    ///
    /// [`actors::Error::Unavailable`]: the log cannot be read.
    pub(super) async fn next(
        &mut self,
        handle: &Handle,
        project: &ProjectCatalog,
        endpoint: &Endpoint,
    ) -> Result<Option<Entries>, actors::Error> {
        let wanted = |told: &Told| {
            let kind = EventType::of(&told.notice.news);
            endpoint.wants(kind.as_str())
        };
        if let Some(lost) = &mut self.lost {
            let page = handle.told(&project.scope, lost.from, PAGE).await?;
            let is_over = page.len() < PAGE;
            let last = page.last().map_or(lost.to, |told| event_number(told.id));
            let found = page.into_iter().filter(|told| {
                let number = event_number(told.id);
                let behind = lost.behind.get(&told.notice.key);
                number <= lost.to && behind.is_some_and(|note| number > *note) && wanted(told)
            });
            let found = found.map(|told| entry(told, Origin::Live)).collect();
            lost.from = last;
            if is_over || last >= lost.to {
                self.lost = None;
            }
            return Ok(Some(found));
        }
        if !self.at_end {
            let page = handle.told(&project.scope, self.cursor, PAGE).await?;
            self.at_end = page.len() < PAGE;
            if let Some(last) = page.last() {
                self.cursor = event_number(last.id);
            }
            let known = &mut self.known;
            let new = page.into_iter().filter(|told| !known.remove(&told.id));
            let found = new.filter(wanted);
            return Ok(Some(found.map(|told| entry(told, Origin::Live)).collect()));
        }
        let Some(replay) = &mut self.replay else {
            return Ok(None);
        };
        let page = handle.told(&project.scope, replay.cursor, PAGE).await?;
        let last = page.last().map(|told| event_number(told.id));
        let is_over = page.len() < PAGE || last.is_none_or(|last| last >= replay.end);
        let (end, since) = (replay.end, Timestamp(replay.since));
        let found = page.into_iter().filter(|told| {
            event_number(told.id) <= end && told.notice.is_since(since) && wanted(told)
        });
        let found = found.map(|told| entry(told, Origin::Replay)).collect();
        match last.filter(|_| !is_over) {
            Some(last) => replay.cursor = last,
            None => self.replay = None,
        }
        Ok(Some(found))
    }
}

fn entry(told: Told, origin: Origin) -> (WalletKey, Entry) {
    let wallet = told.notice.key;
    let entry = Entry {
        delivery: new_id(),
        event: told.id,
        kind: EventType::of(&told.notice.news),
        origin,
        noted: false,
        by_hand: false,
        unread: 0,
        told: Some(Box::new(told)),
    };
    (wallet, entry)
}
