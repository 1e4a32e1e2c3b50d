//! The audit log: who changed what, when and from where, by the admin API and the dashboard. Notes in the journal hold
//! a page of entries each. A change is written before it is made, and its result afterwards; if the second step is
//! missing, the result is unknown. The log must never hold a secret, nor grow without end.

use std::collections::{BTreeMap, VecDeque};

use actors::Handle;
use domain::{Timestamp, id::ProjectId};
use notes::NoteKind;
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;

use crate::audit_failures::Failures;

/// Entries of a page; each new one writes its page again, which has to fit one append.
const PER_PAGE: usize = 20;
/// Pages that are kept: 100,000 entries.
const PAGES: usize = 5000;
/// Seconds for which a page is kept after its last entry.
const KEPT_SECONDS: i64 = 366 * 24 * 3600;
/// The longest text of an entry, in characters; a longer one is cut.
const LONGEST: usize = 600;

/// A change that was done, or was about to be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditEntry {
    /// When, in milliseconds.
    pub at: i64,
    /// Who: a session of the dashboard, or the administrator's token.
    pub who: String,
    /// What was done; before that, the request.
    pub what: String,
    /// The client's address.
    pub from: String,
    /// The project that it was about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<ProjectId>,
    /// The kind of deed, such as `keys` or `people`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub kind: String,
    /// Whether the result is not known yet. It never will be if the process ended meanwhile.
    #[serde(default, skip_serializing_if = "is_done")]
    pub open: bool,
    /// The number of the change while it is being done.
    #[serde(skip)]
    pub under_way: Option<u64>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes it so")]
const fn is_done(open: &bool) -> bool {
    !*open
}

impl AuditEntry {
    /// The entry of a change that was done.
    #[must_use]
    pub fn done(at: Timestamp, who: String, what: &str, from: String) -> Self {
        Self {
            at: at.0,
            who,
            what: short(what),
            from,
            project: None,
            kind: String::new(),
            open: false,
            under_way: None,
        }
    }

    /// The entry with the project and the kind of deed that it is about.
    #[must_use]
    pub fn about(self, project: Option<ProjectId>, kind: &str) -> Self {
        Self {
            project,
            kind: kind.to_owned(),
            ..self
        }
    }
}

fn short(what: &str) -> String {
    what.chars().take(LONGEST).collect()
}

/// A change that is being done.
#[derive(Debug)]
#[must_use = "the result has to be written"]
pub struct PendingEntry {
    page: u64,
    id: u64,
}

/// A page of the log, by its number.
#[derive(Debug)]
pub struct PageNote;

impl NoteKind for PageNote {
    const NUMBER: u8 = 16;
    const NAME: &'static str = "page of the audit log";
    type Key = u64;
    type Body = Vec<AuditEntry>;
}

/// The log, with what is known of its pages.
pub struct AuditLog {
    handle: Handle,
    pages: Mutex<Pages>,
    failures: Failures,
}

/// The pages that there are, with the entries of those that are written to.
#[derive(Default)]
struct Pages {
    /// Full pages, oldest first, with the instants of their last entries.
    full: VecDeque<(u64, Timestamp)>,
    current: u64,
    entries: Vec<AuditEntry>,
    /// Full pages with a change that is being done.
    beside: BTreeMap<u64, Vec<AuditEntry>>,
    last_id: u64,
}

impl std::fmt::Debug for AuditLog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AuditLog").finish_non_exhaustive()
    }
}

impl AuditLog {
    /// Finds the pages that were recovered at start.
    ///
    /// # Errors
    ///
    /// [`notes::Error`] where one cannot be read.
    pub fn load(handle: Handle) -> Result<Self, notes::Error> {
        let mut pages = Pages::default();
        let mut before = None;
        for (number, entries) in notes::all::<PageNote>(&handle)? {
            // A page that another one follows was full, even if entries of changes that were not made were removed
            // from it since.
            if let Some(full) = before.replace(number) {
                pages.full.push_back((full, last(&pages.entries)));
            }
            (pages.current, pages.entries) = (number, entries);
        }
        pages.turn();
        Ok(Self {
            handle,
            pages: Mutex::new(pages),
            failures: Failures::default(),
        })
    }

    /// Adds an entry, and removes pages that are too old; returns once it is durable.
    ///
    /// # Errors
    ///
    /// [`actors::Error`] when nothing was added, or it is not known whether it was.
    pub async fn add(&self, entry: AuditEntry) -> Result<(), actors::Error> {
        let mut pages = self.pages.lock().await;
        self.push(&mut pages, entry).await
    }

    async fn push(&self, pages: &mut Pages, entry: AuditEntry) -> Result<(), actors::Error> {
        let now = Timestamp(entry.at);
        let mut entries = pages.entries.clone();
        entries.push(entry);
        let mut append = vec![notes::put::<PageNote>(&pages.current, &entries)];
        let full = entries.len() >= PER_PAGE;
        let old = now.plus_seconds(-KEPT_SECONDS);
        let excess = pages.full.len().saturating_add(1).saturating_sub(PAGES);
        let gone = pages
            .full
            .iter()
            .enumerate()
            .take_while(|(place, (_, last))| full && (*place < excess || *last < old))
            .count();
        let old = pages.full.iter().take(gone);
        append.extend(old.map(|(number, _)| notes::forget::<PageNote>(number)));
        self.handle.put_notes(append).await?;
        for (number, _) in pages.full.drain(..gone).collect::<Vec<_>>() {
            pages.beside.remove(&number);
        }
        pages.entries = entries;
        pages.turn();
        Ok(())
    }

    /// Writes that a change is about to be made; returns once that is durable.
    ///
    /// # Errors
    ///
    /// [`actors::Error`] when it was not written, or may not have been: the change must not be made then.
    pub async fn begin(&self, entry: AuditEntry) -> Result<PendingEntry, actors::Error> {
        let mut pages = self.pages.lock().await;
        pages.last_id = pages.last_id.saturating_add(1);
        let (page, id) = (pages.current, pages.last_id);
        let entry = AuditEntry {
            open: true,
            under_way: Some(id),
            ..entry
        };
        self.push(&mut pages, entry).await?;
        Ok(PendingEntry { page, id })
    }

    /// Writes the result of a change; `None`: it was not made, and the entry is removed.
    ///
    /// # Errors
    ///
    /// [`actors::Error`] when it was not written, or may not have been: the result stays unknown then.
    pub async fn end(&self, intent: PendingEntry, what: Option<&str>) -> Result<(), actors::Error> {
        self.change(intent, true, |entry| {
            let what = what?;
            Some(AuditEntry {
                what: short(what),
                open: false,
                under_way: None,
                ..entry
            })
        })
        .await
    }

    /// Notes that the result of a change will never be known, because its handler panicked.
    pub async fn interrupted(&self, intent: PendingEntry) {
        let stays = |entry| {
            Some(AuditEntry {
                under_way: None,
                ..entry
            })
        };
        // The stored entry says already that its result is not known.
        let _ = self.change(intent, false, stays).await;
    }

    async fn change(
        &self,
        PendingEntry { page: number, id }: PendingEntry,
        writes: bool,
        change: impl FnOnce(AuditEntry) -> Option<AuditEntry>,
    ) -> Result<(), actors::Error> {
        let mut pages = self.pages.lock().await;
        let mut entries = match number == pages.current {
            true => pages.entries.clone(),
            false => pages.beside.get(&number).cloned().unwrap_or_default(),
        };
        let known = entries.iter().position(|it| it.under_way == Some(id));
        // The page was removed meanwhile.
        let Some(place) = known else { return Ok(()) };
        let changed = change(entries.remove(place));
        changed
            .into_iter()
            .for_each(|entry| entries.insert(place, entry));
        if writes {
            let note = notes::put::<PageNote>(&number, &entries);
            self.handle.put_notes(vec![note]).await?;
        }
        if number == pages.current {
            pages.entries = entries;
        } else if entries.iter().any(|entry| entry.under_way.is_some()) {
            pages.beside.insert(number, entries);
        } else {
            pages.beside.remove(&number);
        }
        Ok(())
    }

    pub(crate) const fn handle(&self) -> &Handle {
        &self.handle
    }

    pub(crate) const fn failures(&self) -> &Failures {
        &self.failures
    }

    /// The numbers of all pages, the oldest first, each with the instant of its last entry if it is full; and those
    /// that are in memory.
    pub(crate) async fn known_pages(
        &self,
    ) -> (
        Vec<(u64, Option<Timestamp>)>,
        BTreeMap<u64, Vec<AuditEntry>>,
    ) {
        let pages = self.pages.lock().await;
        let full = pages
            .full
            .iter()
            .map(|(number, last)| (*number, Some(*last)));
        let numbers = full.chain([(pages.current, None)]).collect();
        let mut known = pages.beside.clone();
        known.insert(pages.current, pages.entries.clone());
        (numbers, known)
    }
}

impl Pages {
    /// Begins another page where this one is full.
    fn turn(&mut self) {
        if self.entries.len() < PER_PAGE {
            return;
        }
        let entries = std::mem::take(&mut self.entries);
        self.full.push_back((self.current, last(&entries)));
        if entries.iter().any(|entry| entry.under_way.is_some()) {
            self.beside.insert(self.current, entries);
        }
        self.current = self.current.saturating_add(1);
    }
}

/// When a page's last entry was made; the epoch if it has none.
fn last(entries: &[AuditEntry]) -> Timestamp {
    Timestamp(entries.last().map_or(0, |last| last.at))
}
