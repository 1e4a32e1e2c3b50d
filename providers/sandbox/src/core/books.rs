//! All objects of one project's sandbox, and what of them is due when, in the hands of one request at a
//! time. Keeps note of what changed, so that it can be saved before anybody hears of it. Decides nothing.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::{
    ids::Ids,
    objects::{Event, Head, Listing, Note, Object, Request, Tables},
    refusal::{Refusal, Result},
    shape,
};

/// Something that is kept.
pub(crate) trait Kept: Object + Clone + Serialize + DeserializeOwned + 'static {
    /// What it calls itself.
    const NAME: &'static str;
    fn head(&self) -> &Head;
    fn table(tables: &Tables) -> &BTreeMap<String, Self>;
    fn table_mut(tables: &mut Tables) -> &mut BTreeMap<String, Self>;
    fn note(self) -> Note;
    /// As callers see it.
    fn view(&self, books: &Books) -> Value {
        // Texts and numbers alone: this cannot fail.
        let whole = serde_json::to_value(self).unwrap_or_default();
        let mut view = shape::visible(Self::NAME, whole);
        shape::set(&mut view, self.shown(books));
        shape::completed(view)
    }
}

/// Of one project.
const MAX_EVENTS: usize = 100_000;

/// The objects, with the instant of whoever works on them and a source of identifiers.
pub(crate) struct Books {
    tables: Tables,
    /// Numbers objects in the order in which they were made.
    last: u64,
    due: BTreeSet<(i64, String)>,
    stale: BTreeSet<(i64, String)>,
    outgoing: BTreeMap<u64, String>,
    /// By when they happened, then in the order of making.
    events: BTreeMap<(i64, u64), String>,
    changes: BTreeMap<String, Option<String>>,
    /// Events that are kept; the oldest make room. 0: nothing is told of.
    pub(crate) most_events: usize,
    pub(crate) listing: Listing,
    /// Where the pages are, such as `http://127.0.0.1:8787/sandbox/proj_...`.
    pub(crate) base: String,
    /// The project's clock, in seconds.
    pub(crate) now: i64,
    pub(crate) ids: Ids,
    /// What it is all done by.
    pub(crate) request: Request,
}

/// A note that cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[error("a stored object of the sandbox cannot be read: {0}")]
pub(crate) struct Unreadable(#[from] serde_json::Error);

impl Books {
    pub(crate) fn new(base: String, now: i64, ids: Ids) -> Self {
        Self {
            tables: Tables::default(),
            last: 0,
            due: BTreeSet::new(),
            stale: BTreeSet::new(),
            outgoing: BTreeMap::new(),
            events: BTreeMap::new(),
            changes: BTreeMap::new(),
            most_events: MAX_EVENTS,
            listing: Listing::default(),
            base,
            now,
            ids,
            request: Request::default(),
        }
    }

    /// Takes what was saved.
    pub(crate) fn restore(&mut self, notes: &[(String, String)]) -> Result<(), Unreadable> {
        for (_, json) in notes {
            serde_json::from_str::<Note>(json)?.restore(self);
        }
        Ok(())
    }

    /// The first part of an object that is made now under this identifier.
    pub(crate) fn head_of(&mut self, id: String) -> Head {
        self.last = self.last.saturating_add(1);
        Head {
            id,
            n: self.last,
            created: self.now,
        }
    }

    /// The same under a new identifier.
    pub(crate) fn head(&mut self, prefix: &str) -> Head {
        let id = self.ids.usual(prefix);
        self.head_of(id)
    }

    /// The same for one that opens a page.
    pub(crate) fn secret_head(&mut self, prefix: &str) -> Head {
        let id = self.ids.secret(prefix);
        self.head_of(id)
    }

    pub(crate) fn get<T: Kept>(&self, id: &str) -> Option<&T> {
        T::table(&self.tables).get(id)
    }

    /// A copy to work on; [`put`](Self::put) makes it count.
    pub(crate) fn find<T: Kept>(&self, id: &str) -> Result<T> {
        let found = self.get::<T>(id).cloned();
        found.ok_or_else(|| Refusal::no_such(T::NAME, id))
    }

    /// The same of what a parameter names.
    pub(crate) fn named<T: Kept>(&self, id: &str, param: &str) -> Result<T> {
        self.find(id).map_err(|refusal| refusal.of_param(param))
    }

    pub(crate) fn all<T: Kept>(&self) -> impl Iterator<Item = &T> {
        T::table(&self.tables).values()
    }

    /// Those that pass, the newest first.
    pub(crate) fn newest<T: Kept>(&self, pass: impl Fn(&T) -> bool) -> Vec<&T> {
        let mut found: Vec<&T> = self.all::<T>().filter(|object| pass(object)).collect();
        found.sort_unstable_by_key(|object| std::cmp::Reverse(object.head().n));
        found
    }

    /// Copies of them to work on.
    pub(crate) fn copies<T: Kept>(&self, pass: impl Fn(&T) -> bool) -> Vec<T> {
        self.newest(pass).into_iter().cloned().collect()
    }

    /// The same as callers see them.
    pub(crate) fn views<T: Kept>(&self, pass: impl Fn(&T) -> bool) -> Vec<Value> {
        let found = self.newest(pass).into_iter();
        found.map(|object| object.view(self)).collect()
    }

    /// Keeps an object as it is now.
    pub(crate) fn put<T: Kept>(&mut self, object: T) {
        let text = object.clone().note().text();
        self.changes.insert(object.head().id.clone(), Some(text));
        self.keep(object);
    }

    /// The same; the object as it is kept.
    pub(crate) fn kept<T: Kept>(&mut self, object: T) -> T {
        self.put(object.clone());
        object
    }

    /// Keeps an object and notes that this happened to it.
    pub(crate) fn tell<T: Kept>(&mut self, kind: &str, object: &T) {
        self.put(object.clone());
        self.emit(kind, object);
    }

    /// Puts an object into its place, without noting that it changed.
    pub(super) fn keep<T: Kept>(&mut self, object: T) {
        let Head { id, n, created } = object.head().clone();
        self.last = self.last.max(n);
        self.unlist::<T>(&id);
        if let Some(at) = object.due() {
            self.due.insert((at, id.clone()));
        }
        if let Some(at) = object.forget_at() {
            self.stale.insert((at, id.clone()));
        }
        if object.is_outgoing() {
            self.outgoing.insert(n, id.clone());
        }
        if T::NAME == Event::NAME {
            // They are many, and asked for by their time.
            self.events.insert((created, n), id.clone());
        }
        T::table_mut(&mut self.tables).insert(id, object);
    }

    fn unlist<T: Kept>(&mut self, id: &str) {
        let Some(old) = T::table(&self.tables).get(id) else {
            return;
        };
        let (due, stale) = (old.due(), old.forget_at());
        let Head { n, created, .. } = *old.head();
        self.outgoing.remove(&n);
        if T::NAME == Event::NAME {
            self.events.remove(&(created, n));
        }
        if let Some(at) = due {
            self.due.remove(&(at, id.to_owned()));
        }
        if let Some(at) = stale {
            self.stale.remove(&(at, id.to_owned()));
        }
    }

    pub(crate) fn forget<T: Kept>(&mut self, id: &str) {
        self.unlist::<T>(id);
        T::table_mut(&mut self.tables).remove(id);
        self.changes.insert(id.to_owned(), None);
    }

    /// What happens next by itself.
    pub(crate) fn first_due(&self) -> Option<&(i64, String)> {
        self.due.first()
    }

    /// What may be forgotten first.
    pub(crate) fn first_stale(&self) -> Option<&(i64, String)> {
        self.stale.first()
    }

    /// The events on their way, in the order in which they happened.
    pub(crate) fn outgoing(&self) -> impl Iterator<Item = &str> {
        self.outgoing.values().map(String::as_str)
    }

    /// Events by when they happened.
    pub(crate) const fn events(&self) -> &BTreeMap<(i64, u64), String> {
        &self.events
    }

    /// Whatever has this identifier, as callers see it.
    pub(crate) fn view(&self, id: &str) -> Option<Value> {
        self.tables.view(id, self)
    }

    /// The same as it is kept.
    pub(crate) fn note(&self, id: &str) -> Option<Note> {
        self.tables.note(id)
    }

    /// Whether something is to be saved.
    pub(crate) fn is_changed(&self) -> bool {
        !self.changes.is_empty()
    }

    /// What is to be saved, once.
    pub(crate) fn take_changes(&mut self) -> Vec<(String, Option<String>)> {
        std::mem::take(&mut self.changes).into_iter().collect()
    }
}
