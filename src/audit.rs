//! Who changed what, when and from where, through the administration and the dashboard: notes in the
//! journal, a page of entries each. What is about to be done is written before it is done, and what came of it
//! afterwards: an entry that was never ended says that nobody knows. It must never hold a secret, nor grow
//! without end.

mod around;

use std::collections::{BTreeMap, VecDeque};

use actors::Handle;
use domain::Timestamp;
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;

pub use self::around::Deed;
pub(crate) use self::around::{ADMINISTRATOR, deeds, intend, writes};
use notes::NoteKind;

/// Entries of a page; each new one writes its page again, which has to fit one append.
const PER_PAGE: usize = 20;
/// Pages that are kept: 100,000 entries.
const PAGES: usize = 5000;
/// For how long a page is kept behind its last entry.
const KEPT_SECONDS: i64 = 366 * 24 * 3600;
/// What somebody typed is cut to so many characters.
const LONGEST: usize = 300;

/// Something that was done, or was to be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// When, in milliseconds.
    pub at: i64,
    /// Who: a session of the dashboard, or the administrator's token.
    pub who: String,
    /// What. Until it is done, which request asks for it.
    pub what: String,
    /// From which address.
    pub from: String,
    /// Whether it is not known yet what came of it; for good, where the process ended meanwhile.
    #[serde(default, skip_serializing_if = "is_done")]
    pub open: bool,
    /// Names what is being done now.
    #[serde(skip)]
    pub under_way: Option<u64>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes it so")]
const fn is_done(open: &bool) -> bool {
    !*open
}

impl Entry {
    /// Something that was done.
    #[must_use]
    pub fn done(at: Timestamp, who: String, what: &str, from: String) -> Self {
        Self {
            at: at.0,
            who,
            what: short(what),
            from,
            open: false,
            under_way: None,
        }
    }
}

fn short(what: &str) -> String {
    what.chars().take(LONGEST).collect()
}

/// Something that is being done.
#[derive(Debug)]
#[must_use = "what came of it has to be written"]
pub struct Intent {
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
    type Body = Vec<Entry>;
}

/// The log.
pub struct AuditLog {
    handle: Handle,
    pages: Mutex<Pages>,
}

/// Which pages there are, and those that are written to.
#[derive(Default)]
struct Pages {
    /// Full ones, oldest first, with the instants of their last entries.
    full: VecDeque<(u64, Timestamp)>,
    current: u64,
    entries: Vec<Entry>,
    /// Full ones with something that is being done.
    beside: BTreeMap<u64, Vec<Entry>>,
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
            // One that another follows is full, also where what came to nothing was taken out of it.
            if let Some(full) = before.replace(number) {
                pages.full.push_back((full, last(&pages.entries)));
            }
            (pages.current, pages.entries) = (number, entries);
        }
        pages.turn();
        Ok(Self {
            handle,
            pages: Mutex::new(pages),
        })
    }

    /// Adds an entry; returns once it is durable. What is too old goes.
    ///
    /// # Errors
    ///
    /// As of logging a note: nothing was added, or it is not known.
    pub async fn add(&self, entry: Entry) -> Result<(), actors::Error> {
        let mut pages = self.pages.lock().await;
        self.push(&mut pages, entry).await
    }

    async fn push(&self, pages: &mut Pages, entry: Entry) -> Result<(), actors::Error> {
        let now = Timestamp(entry.at);
        let mut entries = pages.entries.clone();
        entries.push(entry);
        let mut append = vec![notes::put::<PageNote>(&pages.current, &entries)];
        let full = entries.len() >= PER_PAGE;
        let old = now.plus_seconds(-KEPT_SECONDS);
        let excess = pages.full.len().saturating_add(1).saturating_sub(PAGES);
        let gone = pages.full.iter().enumerate();
        let gone = gone
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

    /// Writes what is about to be done; returns once it is durable.
    ///
    /// # Errors
    ///
    /// As of logging a note: then it must not be done.
    pub async fn begin(&self, entry: Entry) -> Result<Intent, actors::Error> {
        let mut pages = self.pages.lock().await;
        pages.last_id = pages.last_id.saturating_add(1);
        let (page, id) = (pages.current, pages.last_id);
        let entry = Entry {
            open: true,
            under_way: Some(id),
            ..entry
        };
        self.push(&mut pages, entry).await?;
        Ok(Intent { page, id })
    }

    /// Writes what was done, or with `None` that nothing was: then the entry goes.
    ///
    /// # Errors
    ///
    /// As of logging a note: then it stays an entry of which nobody knows.
    pub async fn end(&self, intent: Intent, what: Option<&str>) -> Result<(), actors::Error> {
        self.change(intent, true, |entry| {
            let what = what?;
            Some(Entry {
                what: short(what),
                open: false,
                under_way: None,
                ..entry
            })
        })
        .await
    }

    /// That nobody will tell what came of it.
    pub async fn interrupted(&self, intent: Intent) {
        let stays = |entry| {
            Some(Entry {
                under_way: None,
                ..entry
            })
        };
        // What is stored says so already.
        let _ = self.change(intent, false, stays).await;
    }

    async fn change(
        &self,
        Intent { page: number, id }: Intent,
        writes: bool,
        change: impl FnOnce(Entry) -> Option<Entry>,
    ) -> Result<(), actors::Error> {
        let mut pages = self.pages.lock().await;
        let mut entries = match number == pages.current {
            true => pages.entries.clone(),
            false => pages.beside.get(&number).cloned().unwrap_or_default(),
        };
        let known = entries.iter().position(|it| it.under_way == Some(id));
        // A page that was forgotten meanwhile.
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

    /// Entries of a page, newest first, and the number of the page before it. The first to ask for is the
    /// current one, with `None`.
    ///
    /// # Errors
    ///
    /// [`notes::Error`] where the page cannot be read.
    pub async fn page(
        &self,
        number: Option<u64>,
    ) -> Result<(Vec<Entry>, Option<u64>), notes::Error> {
        let pages = self.pages.lock().await;
        let number = number.unwrap_or(pages.current);
        let known = match number == pages.current {
            true => Some(pages.entries.clone()),
            false => pages.beside.get(&number).cloned(),
        };
        let older = pages.full.iter().rev().map(|(number, _)| *number);
        let older = older.clone().find(|older| *older < number);
        drop(pages);
        let mut entries = match known {
            Some(entries) => entries,
            None => self.stored(number).await?,
        };
        entries.reverse();
        Ok((entries, older))
    }

    async fn stored(&self, number: u64) -> Result<Vec<Entry>, notes::Error> {
        let handle = self.handle.clone();
        // What was logged a moment ago is read as well.
        let _ = handle.fold_all().await;
        let found = tokio::task::spawn_blocking(move || notes::one::<PageNote>(&handle, &number));
        let found = found
            .await
            .map_err(|error| notes::Error::Store(persistence::Error::Io(error.to_string())))?;
        Ok(found?.unwrap_or_default())
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

/// When a page's last entry was made; long ago, where nothing is left of it.
fn last(entries: &[Entry]) -> Timestamp {
    Timestamp(entries.last().map_or(0, |last| last.at))
}
