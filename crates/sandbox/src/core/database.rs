//! All objects of one project's sandbox, and when each is due, for one request at a time. Records changes, so that they
//! are saved before the response. Decides nothing.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::{
    ids::Ids,
    objects::{Head, Listing, Note, Object, Request, Tables},
    refusal::{Refusal, Result},
    shape,
};

pub(crate) trait StoredObject:
    Object + Clone + Serialize + DeserializeOwned + 'static
{
    /// Stripe's name of the kind, in the field `object`.
    const NAME: &'static str;
    fn head(&self) -> &Head;
    fn table(tables: &Tables) -> &BTreeMap<String, Self>;
    fn table_mut(tables: &mut Tables) -> &mut BTreeMap<String, Self>;
    fn note(self) -> Note;
    fn view(&self, db: &Database) -> Value {
        // Texts and numbers always become JSON.
        let whole = serde_json::to_value(self).unwrap_or_default();
        let mut view = shape::visible(Self::NAME, whole);
        shape::set(&mut view, self.shown(db));
        shape::completed(view)
    }
}

const MAX_EVENTS: usize = 100_000;

pub(crate) struct Database {
    tables: Tables,
    /// Number of the newest object, counted in the order of creation.
    last: u64,
    due: BTreeSet<(i64, String)>,
    stale: BTreeSet<(i64, String)>,
    outgoing: BTreeMap<u64, String>,
    changes: BTreeMap<String, Option<String>>,
    /// The most events; the oldest make room. 0 for none.
    pub(crate) most_events: usize,
    pub(crate) listing: Listing,
    /// Seconds after which payments, as bank debits, fail; 0 for cards.
    pub(crate) debit_seconds: i64,
    /// Base URL of the pages, for example `http://127.0.0.1:8787/sandbox/proj_...`.
    pub(crate) base: String,
    /// The project's clock, in seconds.
    pub(crate) now: i64,
    pub(crate) ids: Ids,
    /// The request that causes changes.
    pub(crate) request: Request,
}

#[derive(Debug, thiserror::Error)]
#[error("a stored object of the sandbox cannot be read: {0}")]
pub(crate) struct Unreadable(#[from] serde_json::Error);

impl Database {
    pub(crate) fn new(base: String, now: i64, ids: Ids) -> Self {
        Self {
            tables: Tables::default(),
            last: 0,
            due: BTreeSet::new(),
            stale: BTreeSet::new(),
            outgoing: BTreeMap::new(),
            changes: BTreeMap::new(),
            most_events: MAX_EVENTS,
            listing: Listing::default(),
            debit_seconds: 0,
            base,
            now,
            ids,
            request: Request::default(),
        }
    }

    pub(crate) fn restore(&mut self, notes: &[(String, String)]) -> Result<(), Unreadable> {
        for (_, json) in notes {
            serde_json::from_str::<Note>(json)?.restore(self);
        }
        Ok(())
    }

    pub(crate) fn head_of(&mut self, id: String) -> Head {
        self.last += 1;
        Head {
            id,
            n: self.last,
            created: self.now,
        }
    }

    pub(crate) fn head(&mut self, prefix: &str) -> Head {
        let id = self.ids.usual(prefix);
        self.head_of(id)
    }

    /// The same with an unguessable id, which opens a page.
    pub(crate) fn secret_head(&mut self, prefix: &str) -> Head {
        let id = self.ids.secret(prefix);
        self.head_of(id)
    }

    pub(crate) fn get<T: StoredObject>(&self, id: &str) -> Option<&T> {
        T::table(&self.tables).get(id)
    }

    /// A copy to work on; [`put`](Self::put) stores it.
    pub(crate) fn find<T: StoredObject>(&self, id: &str) -> Result<T> {
        let object = self.get::<T>(id).cloned();
        object.ok_or_else(|| Refusal::no_such(T::NAME, id))
    }

    pub(crate) fn named<T: StoredObject>(&self, id: &str, param: &str) -> Result<T> {
        self.find(id).map_err(|refusal| refusal.of_param(param))
    }

    pub(crate) fn all<T: StoredObject>(&self) -> impl Iterator<Item = &T> {
        T::table(&self.tables).values()
    }

    pub(crate) fn count<T: StoredObject>(&self) -> usize {
        T::table(&self.tables).len()
    }

    /// The matching objects, newest first.
    pub(crate) fn newest<T: StoredObject>(&self, pass: impl Fn(&T) -> bool) -> Vec<&T> {
        let mut objects: Vec<&T> = self.all::<T>().filter(|object| pass(object)).collect();
        objects.sort_unstable_by_key(|object| std::cmp::Reverse(object.head().n));
        objects
    }

    pub(crate) fn copies<T: StoredObject>(&self, pass: impl Fn(&T) -> bool) -> Vec<T> {
        self.newest(pass).into_iter().cloned().collect()
    }

    pub(crate) fn views<T: StoredObject>(&self, pass: impl Fn(&T) -> bool) -> Vec<Value> {
        let objects = self.newest(pass).into_iter();
        objects.map(|object| object.view(self)).collect()
    }

    pub(crate) fn put<T: StoredObject>(&mut self, object: T) {
        let text = object.clone().note().text();
        self.changes.insert(object.head().id.clone(), Some(text));
        self.insert(object);
    }

    pub(crate) fn stored<T: StoredObject>(&mut self, object: T) -> T {
        self.put(object.clone());
        object
    }

    pub(crate) fn put_and_emit<T: StoredObject>(&mut self, kind: &str, object: &T) {
        self.put(object.clone());
        self.emit(kind, object);
    }

    /// Puts an object into its table and the indexes, without recording a change.
    pub(super) fn insert<T: StoredObject>(&mut self, object: T) {
        let Head { id, n, .. } = object.head().clone();
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
        T::table_mut(&mut self.tables).insert(id, object);
    }

    fn unlist<T: StoredObject>(&mut self, id: &str) {
        let Some(old) = T::table(&self.tables).get(id) else {
            return;
        };
        let (due, stale) = (old.due(), old.forget_at());
        let n = old.head().n;
        self.outgoing.remove(&n);
        if let Some(at) = due {
            self.due.remove(&(at, id.to_owned()));
        }
        if let Some(at) = stale {
            self.stale.remove(&(at, id.to_owned()));
        }
    }

    pub(crate) fn forget<T: StoredObject>(&mut self, id: &str) {
        self.unlist::<T>(id);
        T::table_mut(&mut self.tables).remove(id);
        self.changes.insert(id.to_owned(), None);
    }

    pub(crate) fn first_due(&self) -> Option<&(i64, String)> {
        self.due.first()
    }

    pub(crate) fn first_stale(&self) -> Option<&(i64, String)> {
        self.stale.first()
    }

    /// Undelivered events, oldest first.
    pub(crate) fn outgoing(&self) -> impl Iterator<Item = &str> {
        self.outgoing.values().map(String::as_str)
    }

    pub(crate) fn view(&self, id: &str) -> Option<Value> {
        self.tables.view(id, self)
    }

    #[cfg(feature = "test-util")]
    pub(crate) fn note(&self, id: &str) -> Option<Note> {
        self.tables.note(id)
    }

    pub(crate) fn is_changed(&self) -> bool {
        !self.changes.is_empty()
    }

    pub(crate) fn take_changes(&mut self) -> Vec<(String, Option<String>)> {
        std::mem::take(&mut self.changes).into_iter().collect()
    }
}
