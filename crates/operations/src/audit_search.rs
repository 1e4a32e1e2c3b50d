//! Finds entries of the audit log. Pages are left out by the days that they are of; those that remain are read one
//! after the other, the newest first, until there are enough.

use std::collections::BTreeMap;

use actors::{Handle, notes};
use domain::{Timestamp, id::ProjectId};

use crate::{
    audit::{AuditEntry, AuditLog},
    audit_pages::PageNote,
};

/// Which entries to find: all that agree with everything that is set.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// A part of who did it, in any case.
    pub who: Option<String>,
    pub project: Option<ProjectId>,
    pub kind: Option<String>,
    /// The first instant.
    pub from: Option<Timestamp>,
    /// The instant before which it was.
    pub to: Option<Timestamp>,
    /// A part of what was done, in any case.
    pub text: Option<String>,
}

/// A place in the log: the entries before it are older.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuditCursor {
    pub page: u64,
    pub place: usize,
}

impl AuditFilter {
    fn takes(&self, entry: &AuditEntry) -> bool {
        let has = |text: &str, part: &Option<String>| {
            let part = part.as_ref().map(|part| part.to_lowercase());
            part.is_none_or(|part| text.to_lowercase().contains(&part))
        };
        let at = Timestamp(entry.at);
        self.project
            .is_none_or(|project| entry.project == Some(project))
            && self.kind.as_ref().is_none_or(|kind| entry.kind == *kind)
            && self.from.is_none_or(|from| at >= from)
            && self.to.is_none_or(|to| at < to)
            && has(&entry.who, &self.who)
            && has(&format!("{} {}", entry.what, entry.from), &self.text)
    }
}

/// The pages to look through.
struct Search {
    handle: Handle,
    /// Numbers of pages, the newest first.
    numbers: Vec<u64>,
    /// Pages that are in memory.
    known: BTreeMap<u64, Vec<AuditEntry>>,
}

impl AuditLog {
    /// Some entries, the newest first, and where those before them begin if there are any.
    /// # Errors
    /// [`notes::Error`] where a page cannot be read.
    pub async fn search(
        &self,
        filter: AuditFilter,
        before: Option<AuditCursor>,
        limit: usize,
    ) -> Result<(Vec<AuditEntry>, Option<AuditCursor>), notes::Error> {
        let (pages, known) = self.known_pages().await;
        let mut numbers = Vec::new();
        // A page's entries are between the last entry of the page before it and its own last one.
        let mut last_before = None;
        for (number, last) in pages {
            let is_early = filter
                .to
                .zip(last_before)
                .is_some_and(|(to, before)| before >= to);
            let is_late = filter
                .from
                .zip(last)
                .is_some_and(|(from, last)| last < from);
            let is_read = before.is_some_and(|before| number > before.page);
            if !is_early && !is_late && !is_read {
                numbers.push(number);
            }
            last_before = last;
        }
        numbers.reverse();
        let handle = self.handle().clone();
        // The books do not have the newest entries until they are folded.
        let _ = handle.fold_all().await;
        let search = Search {
            handle,
            numbers,
            known,
        };
        let found = tokio::task::spawn_blocking(move || search.run(&filter, before, limit));
        found
            .await
            .map_err(|error| notes::Error::Store(persistence::Error::Io(error.to_string())))?
    }
}

impl Search {
    fn run(
        mut self,
        filter: &AuditFilter,
        before: Option<AuditCursor>,
        limit: usize,
    ) -> Result<(Vec<AuditEntry>, Option<AuditCursor>), notes::Error> {
        let mut found = Vec::new();
        let mut last = None;
        for number in self.numbers {
            let entries = match self.known.remove(&number) {
                Some(entries) => entries,
                None => notes::one::<PageNote>(&self.handle, &number)?.unwrap_or_default(),
            };
            for (place, entry) in entries.into_iter().enumerate().rev() {
                let is_read = before.is_some_and(|it| it.page == number && place >= it.place);
                if is_read || !filter.takes(&entry) {
                    continue;
                }
                if found.len() >= limit {
                    return Ok((found, last));
                }
                last = Some(AuditCursor {
                    page: number,
                    place,
                });
                found.push(entry);
            }
        }
        Ok((found, None))
    }
}
