//! The index of the audit log's pages: which exist, which are written to, whose entries they hold, and which changes have
//! an unknown outcome.

use std::collections::{BTreeMap, HashMap, VecDeque};

use domain::Timestamp;

use crate::audit_entry::AuditEntry;

/// Entries of a page; each new one writes its page again, which has to fit one append.
pub(crate) const PER_PAGE: usize = 20;
/// Changes of unknown outcome that are remembered until it is known.
const UNKNOWN: usize = 1000;

actors::note_kinds! {
    /// A page of the log, by its number.
    pub struct PageNote: 16, "page of the audit log", u64 => Vec<AuditEntry>;
}

/// The pages that there are, with the entries of those that are written to.
#[derive(Default)]
pub(crate) struct Pages {
    /// Full pages, oldest first, with the instants of their last entries.
    pub(crate) full: BTreeMap<u64, Timestamp>,
    pub(crate) current: u64,
    pub(crate) entries: Vec<AuditEntry>,
    /// Full pages with a change that is being done.
    pub(crate) beside: BTreeMap<u64, Vec<AuditEntry>>,
    pub(crate) last_id: u64,
    /// By person, how many entries they have on which page.
    pub(crate) shares: HashMap<String, BTreeMap<u64, usize>>,
    /// Changes of unknown outcome that a later attempt or a proof may resolve, oldest first, with their pages.
    pub(crate) unknown: VecDeque<(u64, AuditEntry)>,
}

impl Pages {
    /// Begins another page where this one is full.
    pub(crate) fn turn(&mut self) {
        if self.entries.len() < PER_PAGE {
            return;
        }
        let entries = std::mem::take(&mut self.entries);
        self.full.insert(self.current, last(&entries));
        let full = self.current;
        self.current += 1;
        self.keep(full, entries);
    }

    /// A page's entries, if they are in memory.
    pub(crate) fn known(&self, number: u64) -> Option<&Vec<AuditEntry>> {
        match number == self.current {
            true => Some(&self.entries),
            false => self.beside.get(&number),
        }
    }

    /// Keeps what a page has now, as far as it is written to.
    pub(crate) fn keep(&mut self, number: u64, entries: Vec<AuditEntry>) {
        if number == self.current {
            self.entries = entries;
        } else if entries.iter().any(|entry| entry.under_way.is_some()) {
            self.beside.insert(number, entries);
        } else {
            self.beside.remove(&number);
        }
    }

    pub(crate) fn count(&mut self, number: u64, entry: &AuditEntry) {
        let share = match self.shares.get_mut(entry.person()) {
            Some(share) => share,
            None => self.shares.entry(entry.person().to_owned()).or_default(),
        };
        let count = share.entry(number).or_default();
        *count += 1;
    }

    pub(crate) fn uncount(&mut self, number: u64, person: &str) {
        let count = self
            .shares
            .get_mut(person)
            .and_then(|it| it.get_mut(&number));
        let Some(count) = count else { return };
        *count = count.saturating_sub(1);
        if *count == 0 {
            self.leave(number, person);
        }
    }

    /// Forgets that a person has entries on a page.
    pub(crate) fn leave(&mut self, number: u64, person: &str) {
        let Some(share) = self.shares.get_mut(person) else {
            return;
        };
        share.remove(&number);
        if share.is_empty() {
            self.shares.remove(person);
        }
        let is_gone =
            |(page, entry): &(u64, AuditEntry)| *page == number && entry.person() == person;
        self.unknown.retain(|it| !is_gone(it));
    }

    pub(crate) fn forget(&mut self, number: u64) {
        self.full.remove(&number);
        self.beside.remove(&number);
        self.shares.retain(|_, share| {
            share.remove(&number);
            !share.is_empty()
        });
        self.unknown.retain(|(page, _)| *page != number);
    }

    /// Full pages, oldest first, with this person's entries beyond `kept`; none until there is a hundredth too many, since
    /// each removal folds the books and reads every page that is named here.
    pub(crate) fn excess(&self, person: &str, kept: usize) -> Vec<u64> {
        let Some(share) = self.shares.get(person) else {
            return Vec::new();
        };
        let most = kept.saturating_add(kept.div_euclid(100));
        if share.len() * PER_PAGE < most {
            return Vec::new();
        }
        let total: usize = share.values().sum();
        if total < most {
            return Vec::new();
        }
        let mut left = total;
        let oldest = share.iter().take_while(|(_, count)| {
            let goes = left > kept;
            left = left.saturating_sub(**count);
            goes
        });
        let oldest = oldest.map(|(number, _)| *number);
        oldest.filter(|number| *number != self.current).collect()
    }

    pub(crate) fn remember(&mut self, number: u64, entry: &AuditEntry) {
        if !entry.open || entry.retry_key.is_none() {
            return;
        }
        if self.unknown.len() >= UNKNOWN {
            self.unknown.pop_front();
        }
        self.unknown.push_back((number, entry.clone()));
    }
}

/// When a page's last entry was made; the epoch if it has none.
pub(crate) fn last(entries: &[AuditEntry]) -> Timestamp {
    Timestamp(entries.last().map_or(0, |last| last.at))
}
