//! Project events on their way from the log to their readers. A project event's number is its place in the log. So
//! numbers rise in the log's order, and a reader that goes on after a number misses no project event: none with a
//! smaller number becomes durable later.

use std::collections::{BTreeMap, VecDeque};

use domain::id::ProjectId;
use parking_lot::RwLock;

use crate::{
    contract::{
        EventNumber, OnEvents,
        event_number::{last_of, number},
    },
    error::Error,
    format::item::Item,
    frames::frame,
};

pub(crate) struct FramedEvent {
    pub(crate) project: ProjectId,
    pub(crate) number: EventNumber,
    pub(crate) bytes: Box<[u8]>,
}

pub(crate) fn of_frame(frame: &[u8]) -> Result<Vec<FramedEvent>, Error> {
    let read = frame::decode_checked(frame)?;
    let mut all = Vec::new();
    read.each_item(|item| {
        if let Item::ProjectEvent(project, bytes) = item {
            all.push(FramedEvent {
                project,
                number: number(read.lsn, frame::offset(frame, bytes)),
                bytes: bytes.into(),
            });
        }
        Ok(())
    })?;
    Ok(all)
}

#[derive(Default)]
pub(crate) struct PendingEvents(RwLock<PendingState>);

#[derive(Default)]
struct PendingState {
    by_project: BTreeMap<(ProjectId, EventNumber), Box<[u8]>>,
    /// All of them in the log's order.
    order: VecDeque<(EventNumber, ProjectId)>,
    listeners: Vec<OnEvents>,
}

impl PendingEvents {
    pub(crate) fn listen(&self, listener: OnEvents) {
        self.0.write().listeners.push(listener);
    }

    /// Adds project events that are durable now, and calls the listeners.
    pub(crate) fn publish(&self, project_events: Vec<FramedEvent>) {
        if project_events.is_empty() {
            return;
        }
        let mut waiting = self.0.write();
        for project_event in project_events {
            waiting
                .order
                .push_back((project_event.number, project_event.project));
            let key = (project_event.project, project_event.number);
            waiting.by_project.insert(key, project_event.bytes);
        }
        let listeners = waiting.listeners.clone();
        drop(waiting);
        listeners.iter().for_each(|listener| listener());
    }

    /// Removes project events up to this frame, which are stored now.
    pub(crate) fn applied(&self, lsn: u64) {
        let last = last_of(lsn);
        let applied = |waiting: &PendingState| waiting.order.front().is_some_and(|it| it.0 <= last);
        if !applied(&self.0.read()) {
            return;
        }
        let mut waiting = self.0.write();
        while applied(&waiting) {
            let Some((number, project)) = waiting.order.pop_front() else {
                return;
            };
            waiting.by_project.remove(&(project, number));
        }
    }

    /// At most `limit` project events of a project after a number: those that `stored` reads, and those
    /// that are not stored. Project events that are applied in the meantime stay here until this ends.
    pub(crate) fn merged(
        &self,
        project: ProjectId,
        after: EventNumber,
        limit: usize,
        stored: impl FnOnce() -> Result<Vec<NumberedEvent>, Error>,
    ) -> Result<Vec<NumberedEvent>, Error> {
        let waiting = self.0.read();
        let mut all = stored()?;
        let after = all.last().map_or(after, |(last, _)| *last);
        let from = (project, after.saturating_add(1));
        let pending = waiting.by_project.range(from..=(project, EventNumber::MAX));
        let room = limit.saturating_sub(all.len());
        all.extend(
            pending
                .take(room)
                .map(|((_, number), bytes)| (*number, bytes.clone())),
        );
        Ok(all)
    }
}

pub(crate) type NumberedEvent = (EventNumber, Box<[u8]>);
