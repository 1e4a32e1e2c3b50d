//! The audit log: who changed what, when and from where, by the admin API and the dashboard. Notes in the journal hold
//! a page of entries each. A change is written before it is made, and its result afterwards; if the second step is
//! missing, the result is unknown until a later attempt or a proof resolves it. The log must never hold a secret,
//! nor grow without end, and one person's entries never replace another's.

use std::collections::{BTreeMap, BTreeSet};

use actors::{Handle, notes};
use domain::Timestamp;
use payments::failpoint;
use tokio::sync::Mutex;

use crate::{
    audit_entry::short,
    audit_failures::Failures,
    audit_pages::{PER_PAGE, Pages, last},
};
pub use crate::{
    audit_entry::{AuditEntry, ChangeOutcome, Proof},
    audit_pages::PageNote,
};

/// Entries of one person that are kept: more replace the oldest of their own, and nobody else's.
const PER_PERSON: usize = 50_000;
/// Seconds for which a page is kept after its last entry.
const KEPT_SECONDS: i64 = 366 * 24 * 3600;
/// A change that is being done.
#[derive(Debug)]
#[must_use = "the result has to be written"]
pub struct PendingEntry {
    page: u64,
    id: u64,
}

/// The log, with an index of its pages.
pub struct AuditLog {
    handle: Handle,
    pages: Mutex<Pages>,
    failures: Failures,
    per_person: usize,
}

impl AuditLog {
    /// Finds the pages that were recovered at start.
    /// # Errors
    /// [`notes::Error`] where one cannot be read.
    pub fn load(handle: Handle) -> Result<Self, notes::Error> {
        let mut pages = Pages::default();
        let mut before = None;
        for (number, entries) in notes::all::<PageNote>(&handle)? {
            // A page that another one follows was full, even if entries were removed from it since.
            if let Some(full) = before.replace(number) {
                pages.full.insert(full, last(&pages.entries));
            }
            for entry in &entries {
                pages.count(number, entry);
                pages.remember(number, entry);
            }
            (pages.current, pages.entries) = (number, entries);
        }
        pages.turn();
        Ok(Self {
            handle,
            pages: Mutex::new(pages),
            failures: Failures::default(),
            per_person: PER_PERSON,
        })
    }

    /// The log with another number of entries of one person that are kept.
    pub fn keeping(self, per_person: usize) -> Self {
        Self { per_person, ..self }
    }

    /// Adds an entry, and removes pages that are too old; returns once it is durable.
    /// # Errors
    /// [`actors::Error`] when nothing was added, or it is not known whether it was.
    pub async fn add(&self, entry: AuditEntry) -> Result<(), actors::Error> {
        let mut pages = self.pages.lock().await;
        self.push(&mut pages, entry).await
    }

    async fn push(&self, pages: &mut Pages, entry: AuditEntry) -> Result<(), actors::Error> {
        self.make_room(pages, &entry).await?;
        let now = Timestamp(entry.at);
        let mut entries = pages.entries.clone();
        entries.push(entry.clone());
        let mut append = vec![notes::put::<PageNote>(&pages.current, &entries)];
        let full = entries.len() >= PER_PAGE;
        let old = now.plus_seconds(-KEPT_SECONDS);
        let gone = pages.full.iter().take_while(|(_, last)| **last < old);
        let gone: Vec<_> = gone.map(|(number, _)| *number).collect();
        let gone = if full { gone } else { Vec::new() };
        append.extend(gone.iter().map(notes::forget::<PageNote>));
        notes::put_all(&self.handle, append).await?;
        gone.iter().for_each(|number| pages.forget(*number));
        pages.count(pages.current, &entry);
        pages.entries = entries;
        pages.turn();
        Ok(())
    }

    /// Removes the oldest entries of a person who has too many.
    async fn make_room(&self, pages: &mut Pages, next: &AuditEntry) -> Result<(), actors::Error> {
        let person = next.person();
        let excess = pages.excess(person, self.per_person);
        if excess.is_empty() {
            return Ok(());
        }
        // The books have all entries once they are folded.
        self.handle.fold_all().await?;
        for number in excess {
            let mut entries = match pages.beside.get(&number) {
                Some(entries) => entries.clone(),
                None => self.stored(number).await?,
            };
            entries.retain(|entry| entry.person() != person || entry.under_way.is_some());
            let note = match entries.is_empty() {
                true => notes::forget::<PageNote>(&number),
                false => notes::put::<PageNote>(&number, &entries),
            };
            self.handle.put_notes(vec![note]).await?;
            pages.leave(number, person);
            match entries.is_empty() {
                true => pages.forget(number),
                false => pages.keep(number, entries),
            }
        }
        Ok(())
    }

    /// The entries of a page as the books have them.
    async fn stored(&self, number: u64) -> Result<Vec<AuditEntry>, actors::Error> {
        let handle = self.handle.clone();
        let read = move || notes::one::<PageNote>(&handle, &number);
        let read = tokio::task::spawn_blocking(read).await;
        match read {
            Ok(Ok(entries)) => Ok(entries.unwrap_or_default()),
            Ok(Err(error)) => {
                tracing::error!(%error, "A page of the audit log cannot be read");
                Err(actors::Error::Unavailable)
            }
            Err(_) => Err(actors::Error::Unavailable),
        }
    }

    /// Writes that a change is about to be made; returns once that is durable.
    /// # Errors
    /// [`actors::Error`] when it was not written, or may not have been: the change must not be made then.
    pub async fn begin(&self, entry: AuditEntry) -> Result<PendingEntry, actors::Error> {
        let mut pages = self.pages.lock().await;
        pages.last_id += 1;
        let (page, id) = (pages.current, pages.last_id);
        let entry = AuditEntry {
            open: true,
            under_way: Some(id),
            ..entry
        };
        self.push(&mut pages, entry).await?;
        Ok(PendingEntry { page, id })
    }

    /// Writes in words what is about to be done, how that can be proved, and the key that all attempts share; returns
    /// once that is durable.
    /// # Errors
    /// [`actors::Error`] when it was not written, or may not have been: the change must not be made then.
    pub async fn announce(
        &self,
        intent: &PendingEntry,
        what: &str,
        proof: Option<Proof>,
        retry_key: Option<String>,
    ) -> Result<(), actors::Error> {
        let mut pages = self.pages.lock().await;
        let announced = |entry: AuditEntry| AuditEntry {
            what: short(what),
            proof,
            retry_key: retry_key.or(entry.retry_key),
            ..entry
        };
        self.change(&mut pages, intent, true, |entry| Some(announced(entry)))
            .await
            .map(drop)
    }

    /// Writes the outcome of a change. If it was done, so were the earlier attempts at it whose outcome was unknown.
    /// # Errors
    /// [`actors::Error`] when it was not written, or may not have been: the result stays unknown then.
    pub async fn end(
        &self,
        intent: PendingEntry,
        outcome: ChangeOutcome<'_>,
    ) -> Result<(), actors::Error> {
        failpoint::reached("audit.end");
        let mut pages = self.pages.lock().await;
        let is_unknown = outcome == ChangeOutcome::Unknown;
        let ended = |entry| match outcome {
            ChangeOutcome::Done(what) => Some(AuditEntry {
                what: short(what),
                open: false,
                proof: None,
                under_way: None,
                ..entry
            }),
            ChangeOutcome::DoneBefore | ChangeOutcome::Nothing => None,
            ChangeOutcome::Unknown => Some(AuditEntry {
                under_way: None,
                ..entry
            }),
        };
        // An unknown outcome is already in the stored entry.
        let ended = self.change(&mut pages, &intent, !is_unknown, ended).await?;
        let Some(ended) = ended else { return Ok(()) };
        match outcome {
            ChangeOutcome::Unknown => pages.remember(
                intent.page,
                &AuditEntry {
                    under_way: None,
                    ..ended
                },
            ),
            ChangeOutcome::Done(_) | ChangeOutcome::DoneBefore => {
                if let Some(retry_key) = &ended.retry_key {
                    self.found_done(&mut pages, retry_key).await?;
                }
            }
            ChangeOutcome::Nothing => {}
        }
        Ok(())
    }

    /// Whether an attempt with this key has an unknown outcome.
    pub async fn is_unknown(&self, retry_key: &str) -> bool {
        let pages = self.pages.lock().await;
        let mut unknown = pages.unknown.iter();
        unknown.any(|(_, entry)| entry.retry_key.as_deref() == Some(retry_key))
    }

    /// The changes of unknown outcome that can be proved to have been done.
    pub(crate) async fn unproved(&self) -> Vec<AuditEntry> {
        let pages = self.pages.lock().await;
        let unknown = pages.unknown.iter().map(|(_, entry)| entry);
        unknown
            .filter(|entry| entry.proof.is_some())
            .cloned()
            .collect()
    }

    /// Writes that a change whose outcome was unknown was done.
    /// # Errors
    /// [`actors::Error`] when it was not written, or may not have been.
    pub(crate) async fn proved(&self, retry_key: &str) -> Result<(), actors::Error> {
        let mut pages = self.pages.lock().await;
        self.found_done(&mut pages, retry_key).await
    }

    async fn found_done(&self, pages: &mut Pages, retry_key: &str) -> Result<(), actors::Error> {
        let is_same = |entry: &AuditEntry| {
            entry.open && entry.under_way.is_none() && entry.retry_key.as_deref() == Some(retry_key)
        };
        let same = pages.unknown.iter().filter(|(_, entry)| is_same(entry));
        let numbers: BTreeSet<u64> = same.map(|(number, _)| *number).collect();
        for number in numbers {
            let mut entries = match pages.known(number) {
                Some(entries) => entries.clone(),
                None => {
                    self.handle.fold_all().await?;
                    self.stored(number).await?
                }
            };
            for entry in entries.iter_mut().filter(|entry| is_same(entry)) {
                let what = std::mem::take(&mut entry.what);
                entry.what = short(&format!("{what}: done, which was not known at first"));
                (entry.open, entry.proof) = (false, None);
            }
            let note = notes::put::<PageNote>(&number, &entries);
            self.handle.put_notes(vec![note]).await?;
            pages.keep(number, entries);
            let is_known = |(page, entry): &(u64, AuditEntry)| *page == number && is_same(entry);
            pages.unknown.retain(|it| !is_known(it));
        }
        Ok(())
    }

    /// Changes an entry that is under way, or removes it; returns it as it was before.
    async fn change(
        &self,
        pages: &mut Pages,
        PendingEntry { page: number, id }: &PendingEntry,
        writes: bool,
        change: impl FnOnce(AuditEntry) -> Option<AuditEntry>,
    ) -> Result<Option<AuditEntry>, actors::Error> {
        let mut entries = pages.known(*number).cloned().unwrap_or_default();
        let known = entries.iter().position(|it| it.under_way == Some(*id));
        // The page was removed since.
        let Some(place) = known else { return Ok(None) };
        let before = entries.remove(place);
        let changed = change(before.clone());
        let is_removed = changed.is_none();
        changed
            .into_iter()
            .for_each(|entry| entries.insert(place, entry));
        if writes {
            let note = notes::put::<PageNote>(number, &entries);
            self.handle.put_notes(vec![note]).await?;
        }
        if is_removed {
            pages.uncount(*number, before.person());
        }
        pages.keep(*number, entries);
        Ok(Some(before))
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

#[cfg(test)]
mod tests;
