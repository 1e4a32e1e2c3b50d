//! Notices as they are stored: in the order of their numbers, a project's in pages of its own, and no
//! longer than thirty days after they were recorded, however long before that they happened. A fold adds to a project's last page; what that has already is skipped.
//!
//! ```text
//! [u8;16]  project                    i64  when the newest of the page was recorded
//! u64      its first notice's number  for each: u64 number, u16 length, notice
//! ```

use domain::id::ProjectId;

use super::{
    copied::Take,
    events::Lies,
    store::{Store, damaged, io},
};
use crate::{
    codec::{FORMAT, checked},
    contract::Error,
    format::{decode_notice, item::long},
    notices::{NoticeNumber, Numbered},
};

/// How long a notice is kept, in milliseconds.
const KEPT_MILLIS: i64 = 30 * 24 * 60 * 60 * 1000;

/// A page that is added to.
struct Page {
    first: NoticeNumber,
    last: NoticeNumber,
    newest: i64,
    bytes: Vec<u8>,
}

impl Page {
    const fn new(first: NoticeNumber) -> Self {
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

    fn push(&mut self, number: NoticeNumber, at: i64, notice: &[u8]) {
        let length = u16::try_from(notice.len()).unwrap_or(u16::MAX);
        self.bytes.extend_from_slice(&number.to_be_bytes());
        self.bytes.extend_from_slice(&length.to_be_bytes());
        self.bytes.extend_from_slice(notice);
        self.newest = self.newest.max(at);
        self.last = number;
    }

    fn put(&self, store: &Store, project: ProjectId) -> Result<(), Error> {
        let mut value = Vec::with_capacity(self.bytes.len().saturating_add(9));
        value.push(FORMAT);
        value.extend_from_slice(&self.newest.to_be_bytes());
        value.extend_from_slice(&self.bytes);
        store.put(&store.notices, key(project, self.first), value)
    }
}

/// Adds a fold's notices of one project, in the order of their numbers.
pub(super) fn add<'a>(
    store: &Store,
    project: ProjectId,
    notices: impl Iterator<Item = Lies<'a>>,
) -> Result<(), Error> {
    let range = key(project, 0)..=key(project, NoticeNumber::MAX);
    let stored = store.notices.range(range.clone()).next_back();
    let stored = stored.transpose().map_err(io)?;
    let stored = stored.map(|(key, value)| Page::read(&key, &value));
    let mut page = stored.transpose()?;
    let known = page.as_ref().map_or(0, |page| page.last);
    let mut newest = i64::MIN;
    let mut added = false;
    for Lies { number, bytes, .. } in notices {
        if number <= known {
            continue;
        }
        let at = decode_notice(project, bytes)?.recorded.0;
        let full = |page: &Page| {
            let with = page.bytes.len().saturating_add(bytes.len());
            with > store.tuning.page_bytes
        };
        let mut open = match page.take() {
            Some(full_one) if full(&full_one) && !full_one.bytes.is_empty() => {
                full_one.put(store, project)?;
                Page::new(number)
            }
            Some(open) => open,
            None => Page::new(number),
        };
        open.push(number, at, bytes);
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
    let last = store.notices.range(range.clone()).next_back();
    let last = last.transpose().map_err(io)?.map(|(key, _)| key);
    for stored in store.notices.range(range) {
        let (key, value) = stored.map_err(io)?;
        if head(&value)?.0 >= too_old || Some(&key) == last.as_ref() {
            break;
        }
        store.remove(&store.notices, key)?;
    }
    Ok(())
}

/// At most `limit` notices of a project behind this number.
pub(crate) fn after(
    store: &Store,
    project: ProjectId,
    after: NoticeNumber,
    limit: usize,
) -> Result<Vec<Numbered>, Error> {
    let mut all = Vec::new();
    // The page that has the number, or the last before it.
    let to_it = key(project, 0)..=key(project, after);
    let before = store.notices.range(to_it).next_back();
    let before = before.transpose().map_err(io)?;
    let behind = key(project, after.saturating_add(1))..=key(project, NoticeNumber::MAX);
    let pages = before
        .map(Ok)
        .into_iter()
        .chain(store.notices.range(behind));
    for page in pages {
        let (_, value) = page.map_err(io)?;
        for entry in each(head(&value)?.1) {
            let (number, notice) = entry?;
            if all.len() >= limit {
                return Ok(all);
            }
            if number > after {
                all.push((number, notice.into()));
            }
        }
    }
    Ok(all)
}

/// Gives every notice up to this number, by project and in order, under both.
pub(super) fn each_up_to(
    store: &Store,
    last: NoticeNumber,
    take: &mut Take<'_>,
) -> Result<(), Error> {
    for page in &store.notices {
        let (page, value) = page.map_err(io)?;
        let project = project(&page)?;
        for entry in each(head(&value)?.1) {
            let (number, notice) = entry?;
            if number <= last {
                take(&key(project, number), notice)?;
            }
        }
    }
    Ok(())
}

/// What a notice was given under.
pub(super) fn read_copied(key: &[u8]) -> Result<(ProjectId, NoticeNumber), Error> {
    Ok((project(key)?, first(key)?))
}

/// Holds every page against its key and its neighbours.
pub(super) fn verify(store: &Store, problems: &mut Vec<String>) -> Result<u64, Error> {
    let mut count = 0_u64;
    let mut before = (0, 0);
    for page in &store.notices {
        let (key, value) = page.map_err(io)?;
        let project = project(&key)?;
        let wrong = |what: &str| format!("notices of {project}, page {}: {what}", value.len());
        let (newest, entries) = head(&value)?;
        let mut latest = i64::MIN;
        for (place, entry) in each(entries).enumerate() {
            let (number, notice) = entry?;
            latest = latest.max(decode_notice(project, notice)?.recorded.0);
            if place == 0 && number != first(&key)? {
                problems.push(wrong("it is kept under another number than its first"));
            }
            if before >= (project.0, number) {
                problems.push(wrong("it is not in order"));
            }
            before = (project.0, number);
            count = count.saturating_add(1);
        }
        if latest != newest {
            problems.push(wrong("its newest notice is of another time"));
        }
    }
    Ok(count)
}

fn key(project: ProjectId, first: NoticeNumber) -> [u8; 24] {
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

fn first(key: &[u8]) -> Result<NoticeNumber, Error> {
    let first = key.last_chunk::<8>().ok_or_else(short)?;
    Ok(u64::from_be_bytes(*first))
}

fn head(value: &[u8]) -> Result<(i64, &[u8]), Error> {
    let rest = checked(value, "a page of notices")?;
    let (newest, entries) = rest.split_first_chunk::<8>().ok_or_else(short)?;
    Ok((i64::from_be_bytes(*newest), entries))
}

fn each(entries: &[u8]) -> impl Iterator<Item = Result<(NoticeNumber, &[u8]), Error>> {
    let mut rest = entries;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let split = rest.split_first_chunk::<8>();
        let split = split.and_then(|(number, rest)| Some((number, long(rest)?)));
        let Some((number, (notice, after))) = split else {
            rest = &[];
            return Some(Err(short()));
        };
        rest = after;
        Some(Ok((u64::from_be_bytes(*number), notice)))
    })
}

fn short() -> Error {
    damaged("a page of notices is cut short".into())
}
