//! Stored project events: in pages of one project each, in the order of their numbers, for thirty days
//! after they were recorded, however long before that they happened. A checkpoint adds to a project's
//! last page, and skips what that page already has.
//!
//! ```text
//! [u8;16]  project                    i64  when the newest of the page was recorded
//! u64      its first project event's number  for each: u64 number, u16 length, project event
//! ```

use domain::id::ProjectId;

use super::{
    events::EventBytes,
    store::{RecordSink, Store, damaged, io},
};
use crate::{
    contract::EventNumber,
    error::Error,
    format::{
        codec::{FORMAT, checked},
        decode_project_event,
        item::long,
    },
    log::project_events::NumberedEvent,
};

/// How long a project event is kept, in milliseconds.
const KEPT_MILLIS: i64 = 30 * 24 * 60 * 60 * 1000;

/// A page that project events are added to.
struct Page {
    first: EventNumber,
    last: EventNumber,
    newest: i64,
    bytes: Vec<u8>,
}

impl Page {
    const fn new(first: EventNumber) -> Self {
        Self {
            first,
            last: 0,
            newest: i64::MIN,
            bytes: Vec::new(),
        }
    }

    fn read(key: &[u8], value: &[u8]) -> Result<Self, Error> {
        let (newest, entries) = head(value)?;
        let mut page = Self {
            newest,
            bytes: entries.into(),
            ..Self::new(first(key)?)
        };
        for entry in each(entries) {
            page.last = entry?.0;
        }
        Ok(page)
    }

    fn push(&mut self, number: EventNumber, at: i64, project_event: &[u8]) -> Result<(), Error> {
        let length = u16::try_from(project_event.len());
        let length = length.map_err(|_| damaged("a project event is longer than 64 KiB".into()))?;
        self.bytes.extend_from_slice(&number.to_be_bytes());
        self.bytes.extend_from_slice(&length.to_be_bytes());
        self.bytes.extend_from_slice(project_event);
        self.newest = self.newest.max(at);
        self.last = number;
        Ok(())
    }

    fn put(&self, store: &Store, project: ProjectId) -> Result<(), Error> {
        let mut value = Vec::with_capacity(self.bytes.len() + 9);
        value.push(FORMAT);
        value.extend_from_slice(&self.newest.to_be_bytes());
        value.extend_from_slice(&self.bytes);
        store
            .writes
            .put(&store.project_events, key(project, self.first), value)
    }
}

/// Appends a checkpoint's events of one project to its last page, and begins new pages when that is full. What is stored
/// already is skipped. If any is new, removes the pages older than thirty days, never the last.
pub(super) fn add<'a>(
    store: &Store,
    project: ProjectId,
    project_events: impl Iterator<Item = EventBytes<'a>>,
) -> Result<(), Error> {
    let range = key(project, 0)..=key(project, EventNumber::MAX);
    let newest = store.project_events.range(range.clone()).next_back();
    let newest = newest.transpose().map_err(io)?;
    let stored = newest.map(|(key, value)| Page::read(&key, &value));
    let mut page = stored.transpose()?;
    let last_stored = page.as_ref().map_or(0, |page| page.last);
    let mut newest = i64::MIN;
    let mut added = false;
    for EventBytes { number, bytes, .. } in project_events {
        if number <= last_stored {
            continue;
        }
        let at = decode_project_event(project, bytes)?.recorded.0;
        let full = |page: &Page| {
            let with = page.bytes.len() + bytes.len();
            with > store.tuning.page_bytes
        };
        let mut open = match page.take() {
            Some(last) if full(&last) && !last.bytes.is_empty() => {
                last.put(store, project)?;
                Page::new(number)
            }
            Some(open) => open,
            None => Page::new(number),
        };
        open.push(number, at, bytes)?;
        newest = newest.max(at);
        added = true;
        page = Some(open);
    }
    if let Some(page) = page.filter(|_| added) {
        page.put(store, project)?;
    }
    if !added {
        return Ok(());
    }
    let too_old = newest.saturating_sub(KEPT_MILLIS);
    let last = store.project_events.range(range.clone()).next_back();
    let last = last.transpose().map_err(io)?.map(|(key, _)| key);
    for stored in store.project_events.range(range) {
        let (key, value) = stored.map_err(io)?;
        if head(&value)?.0 >= too_old || Some(&key) == last.as_ref() {
            break;
        }
        store.writes.remove(&store.project_events, key)?;
    }
    Ok(())
}

/// At most `limit` project events of a project after this number.
pub(crate) fn after(
    store: &Store,
    project: ProjectId,
    after: EventNumber,
    limit: usize,
) -> Result<Vec<NumberedEvent>, Error> {
    let mut all = Vec::new();
    // The page that has the number, or the last before it.
    let to_it = key(project, 0)..=key(project, after);
    let before = store.project_events.range(to_it).next_back();
    let before = before.transpose().map_err(io)?;
    let behind = key(project, after.saturating_add(1))..=key(project, EventNumber::MAX);
    let pages = before
        .map(Ok)
        .into_iter()
        .chain(store.project_events.range(behind));
    for page in pages {
        let (_, value) = page.map_err(io)?;
        for entry in each(head(&value)?.1) {
            let (number, project_event) = entry?;
            if all.len() >= limit {
                return Ok(all);
            }
            if number > after {
                all.push((number, project_event.into()));
            }
        }
    }
    Ok(all)
}

/// Calls `take` with every project event up to `last`, in order, under its project and number.
pub(super) fn each_up_to(
    store: &Store,
    last: EventNumber,
    take: &mut RecordSink<'_>,
) -> Result<(), Error> {
    for page in &store.project_events {
        let (page, value) = page.map_err(io)?;
        let project = project(&page)?;
        for entry in each(head(&value)?.1) {
            let (number, project_event) = entry?;
            if number <= last {
                take(&key(project, number), project_event)?;
            }
        }
    }
    Ok(())
}

pub(super) fn read_copied(key: &[u8]) -> Result<(ProjectId, EventNumber), Error> {
    Ok((project(key)?, first(key)?))
}

/// Checks every page against its key and its neighbours; returns the number of project events.
pub(super) fn verify(store: &Store, problems: &mut Vec<String>) -> Result<u64, Error> {
    let mut count = 0_u64;
    let mut before = (0, 0);
    for page in &store.project_events {
        let (key, value) = page.map_err(io)?;
        let project = project(&key)?;
        let page = first(&key)?;
        let wrong = |what: &str| format!("project events of {project}, page {page}: {what}");
        let (newest, entries) = head(&value)?;
        let mut latest = i64::MIN;
        for (place, entry) in each(entries).enumerate() {
            let (number, project_event) = entry?;
            latest = latest.max(decode_project_event(project, project_event)?.recorded.0);
            if place == 0 && number != page {
                problems.push(wrong("it is stored under another number than its first"));
            }
            if before >= (project.0, number) {
                problems.push(wrong("it is out of order"));
            }
            before = (project.0, number);
            count += 1;
        }
        if latest != newest {
            problems.push(wrong(
                "its newest project event was recorded at another time",
            ));
        }
    }
    Ok(count)
}

fn key(project: ProjectId, first: EventNumber) -> [u8; 24] {
    let mut key = [0; 24];
    let (head, tail) = key.split_at_mut(16);
    head.copy_from_slice(&project.0.to_be_bytes());
    tail.copy_from_slice(&first.to_be_bytes());
    key
}

fn project(key: &[u8]) -> Result<ProjectId, Error> {
    let project = key.first_chunk::<16>().ok_or_else(short)?;
    Ok(ProjectId(u128::from_be_bytes(*project)))
}

fn first(key: &[u8]) -> Result<EventNumber, Error> {
    let first = key.last_chunk::<8>().ok_or_else(short)?;
    Ok(u64::from_be_bytes(*first))
}

fn head(value: &[u8]) -> Result<(i64, &[u8]), Error> {
    let rest = checked(value, "a page of project events")?;
    let (newest, entries) = rest.split_first_chunk::<8>().ok_or_else(short)?;
    Ok((i64::from_be_bytes(*newest), entries))
}

fn each(entries: &[u8]) -> impl Iterator<Item = Result<(EventNumber, &[u8]), Error>> {
    let mut rest = entries;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let split = rest.split_first_chunk::<8>();
        let split = split.and_then(|(number, rest)| Some((number, long(rest)?)));
        let Some((number, (project_event, after))) = split else {
            rest = &[];
            return Some(Err(short()));
        };
        rest = after;
        Some(Ok((u64::from_be_bytes(*number), project_event)))
    })
}

fn short() -> Error {
    damaged("a page of project events is cut short".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_whose_length_does_not_fit_is_refused_and_not_cut() {
        let mut page = Page::new(1);
        let event = vec![7; usize::from(u16::MAX) + 1];
        assert!(matches!(page.push(1, 0, &event), Err(Error::Damaged(_))));
        assert!(page.bytes.is_empty());
        page.push(2, 0, &event[1..]).unwrap();
        let stored: Result<Vec<_>, Error> = each(&page.bytes).collect();
        assert_eq!(stored.unwrap(), [(2, &event[1..])]);
    }
}
