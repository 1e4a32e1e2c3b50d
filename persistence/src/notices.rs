//! Notices on their way from the log to whoever tells them. Each has a number: where it lies in the log.
//! So they are in the log's order, one after the other for each project, and nobody who reads on from a
//! number misses one: none with a smaller number becomes durable later.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

use domain::id::ProjectId;
use parking_lot::RwLock;

use crate::{
    contract::Error,
    format::item::{self, Item},
    frame,
};

/// Where a notice lies in the log: its frame, and its place in that.
pub type NoticeNumber = u64;

/// Told that there are new notices. Must not wait for anything.
pub type OnNotices = Arc<dyn Fn() + Send + Sync>;

/// Bits of a place in a frame: frames are shorter than 64 KiB.
const PLACE_BITS: u32 = 16;
const _: () = assert!(frame::MAX_BYTES < 1 << PLACE_BITS);

/// The number of what lies in this frame, so far from its start.
pub(crate) fn number(lsn: u64, start: usize) -> NoticeNumber {
    let start = u64::try_from(start).unwrap_or(u64::MAX);
    lsn.saturating_mul(1 << PLACE_BITS).saturating_add(start)
}

/// The last number that a notice of this frame may have.
pub(crate) fn last_of(lsn: u64) -> NoticeNumber {
    number(lsn, (1 << PLACE_BITS) - 1)
}

/// A notice as it lies in a frame.
pub(crate) struct Lying {
    pub(crate) project: ProjectId,
    pub(crate) number: NoticeNumber,
    pub(crate) bytes: Box<[u8]>,
}

/// All of a frame's notices.
pub(crate) fn of_frame(frame: &[u8]) -> Result<Vec<Lying>, Error> {
    let read = frame::decode_checked(frame)?;
    let mut all = Vec::new();
    read.each_append(|append, _| {
        let mut rest = append;
        while !rest.is_empty() {
            let (item, after) = item::split(rest)?;
            rest = after;
            if let Item::Notice(project, notice) = item {
                let start = notice.as_ptr().addr().wrapping_sub(frame.as_ptr().addr());
                all.push(Lying {
                    project,
                    number: number(read.lsn, start),
                    bytes: notice.into(),
                });
            }
        }
        Ok(())
    })?;
    Ok(all)
}

/// What is durable and not folded yet.
#[derive(Default)]
pub(crate) struct Fresh(RwLock<Waiting>);

#[derive(Default)]
struct Waiting {
    by_project: BTreeMap<(ProjectId, NoticeNumber), Box<[u8]>>,
    /// In the log's order.
    order: VecDeque<(NoticeNumber, ProjectId)>,
    listeners: Vec<OnNotices>,
}

impl Fresh {
    /// From now on this is told.
    pub(crate) fn listen(&self, listener: OnNotices) {
        self.0.write().listeners.push(listener);
    }

    /// These are durable, and not folded.
    pub(crate) fn publish(&self, notices: Vec<Lying>) {
        if notices.is_empty() {
            return;
        }
        let mut waiting = self.0.write();
        for notice in notices {
            waiting.order.push_back((notice.number, notice.project));
            let key = (notice.project, notice.number);
            waiting.by_project.insert(key, notice.bytes);
        }
        let listeners = waiting.listeners.clone();
        drop(waiting);
        listeners.iter().for_each(|told| told());
    }

    /// What is stored has all up to this frame.
    pub(crate) fn folded(&self, lsn: u64) {
        let last = last_of(lsn);
        let folded = |waiting: &Waiting| waiting.order.front().is_some_and(|it| it.0 <= last);
        if !folded(&self.0.read()) {
            return;
        }
        let mut waiting = self.0.write();
        while folded(&waiting) {
            let Some((number, project)) = waiting.order.pop_front() else {
                return;
            };
            waiting.by_project.remove(&(project, number));
        }
    }

    /// At most `limit` notices of a project behind a number: those that `stored` reads, and what is
    /// not stored. What is folded meanwhile stays here until this is over.
    pub(crate) fn over(
        &self,
        project: ProjectId,
        after: NoticeNumber,
        limit: usize,
        stored: impl FnOnce() -> Result<Vec<Numbered>, Error>,
    ) -> Result<Vec<Numbered>, Error> {
        let waiting = self.0.read();
        let mut all = stored()?;
        let after = all.last().map_or(after, |(last, _)| *last);
        let from = (project, after.saturating_add(1));
        let fresh = waiting
            .by_project
            .range(from..=(project, NoticeNumber::MAX));
        let room = limit.saturating_sub(all.len());
        all.extend(
            fresh
                .take(room)
                .map(|((_, number), bytes)| (*number, bytes.clone())),
        );
        Ok(all)
    }
}

/// A notice's number, and what it says.
pub(crate) type Numbered = (NoticeNumber, Box<[u8]>);
