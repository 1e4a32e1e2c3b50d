//! Sessions of the dashboard. Only the browser knows a session's name; a hash of it is stored, so that a session
//! outlives a restart. What a session may do is not part of it: it is looked up at each request.

use std::collections::HashMap;

use actors::{Handle, notes};
use catalog::{random_text, sha256};
use domain::{
    Timestamp,
    id::{ProjectId, SessionId, UserId},
};
use parking_lot::Mutex;
use persistence::Note;
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq as _;

use crate::{
    Authority, Error,
    session::{NewKey, Origin, SessionView, ValidSession},
};

/// The longest lifetime of a session.
pub const SESSION_SECONDS: i64 = 12 * 3600;
const IDLE_SECONDS: i64 = 2 * 3600;
/// How long another cell's answer about a session is cached.
const BORROWED_SECONDS: i64 = 10;
const LINK_SECONDS: i64 = 15 * 60;
/// Most sessions of a user at once, and of the administrator's token; one more ends the oldest.
const PER_USER: usize = 16;
/// Most sessions that are borrowed from another cell.
const BORROWED: usize = 1024;
/// Most sign-in links at once; one more ends the oldest.
const LINKS: usize = 8;
/// Base62 characters that carry 256 bits.
const NAME_LENGTH: usize = 43;
/// The most characters of a browser's name that are kept.
const MAX_BROWSER: usize = 200;
const REMOVED_AT_ONCE: usize = 200;

type Hash = [u8; 32];

/// All sessions and sign-in links.
pub struct Sessions {
    handle: Handle,
    open: Mutex<HashMap<SessionId, OpenSession>>,
    links: Mutex<Vec<(Hash, Timestamp)>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredSession {
    /// Its user; `None`: the administrator's token.
    user: Option<UserId>,
    origin: Origin,
    since: i64,
    until: i64,
}

actors::note_kinds! {
    /// A session, by the hash of its name.
    pub struct SessionNote: 33, "session", SessionId => StoredSession;
}

struct OpenSession {
    stored: StoredSession,
    seen: Timestamp,
    /// What its holder may do, if another cell answered that.
    borrowed: Option<Authority>,
    /// Keys that were just created, until a page shows them.
    keys: Vec<NewKey>,
}

impl OpenSession {
    const fn new(stored: StoredSession, seen: Timestamp) -> Self {
        Self {
            stored,
            seen,
            borrowed: None,
            keys: Vec::new(),
        }
    }

    fn is_over(&self, now: Timestamp) -> bool {
        self.stored.until <= now.0 || self.seen.plus_seconds(IDLE_SECONDS) <= now
    }
}

impl Sessions {
    /// Reads the sessions that were recovered at the start, which was now.
    pub(crate) fn load(handle: Handle, now: Timestamp) -> Result<Self, notes::Error> {
        let stored = notes::all::<SessionNote>(&handle)?.into_iter();
        let open = stored.map(|(id, stored)| (id, OpenSession::new(stored, now)));
        Ok(Self {
            open: Mutex::new(open.collect()),
            handle,
            links: Mutex::default(),
        })
    }

    /// Creates a link's secret, which signs in once within a quarter of an hour, as the administrator's token does.
    /// # Errors
    /// [`catalog::Error::Randomness`] when the system has no randomness.
    pub fn link(&self, now: Timestamp) -> Result<String, catalog::Error> {
        let secret = random_text(NAME_LENGTH)?;
        let mut links = self.links.lock();
        links.retain(|(_, until)| *until > now);
        if links.len() >= LINKS {
            links.remove(0);
        }
        links.push((sha256(secret.as_bytes()), now.plus_seconds(LINK_SECONDS)));
        Ok(secret)
    }

    /// Uses up a link; returns whether it was valid.
    pub fn take_link(&self, secret: &str, now: Timestamp) -> bool {
        let hash = sha256(secret.as_bytes());
        let mut links = self.links.lock();
        links.retain(|(_, until)| *until > now);
        let before = links.len();
        links.retain(|(known, _)| !bool::from(known.ct_eq(&hash)));
        links.len() < before
    }

    /// Begins a session of a user, or of the administrator's token, and returns its name, which only the browser keeps;
    /// once the session is durable.
    /// # Errors
    /// The system has no randomness; the session could not be logged.
    pub async fn begin(
        &self,
        user: Option<UserId>,
        origin: Origin,
        now: Timestamp,
    ) -> Result<String, Error> {
        let name = random_text(NAME_LENGTH)?;
        let until = now.plus_seconds(SESSION_SECONDS);
        let stored = StoredSession {
            user,
            origin: Origin {
                browser: origin.browser.chars().take(MAX_BROWSER).collect(),
                ..origin
            },
            since: now.0,
            until: until.0,
        };
        let gone = self.superseded(user, now);
        let forgotten = gone.iter().map(notes::forget::<SessionNote>);
        let begun = notes::put::<SessionNote>(&id_of(&name), &stored);
        let append = forgotten.chain([begun]).collect();
        self.handle.put_notes(append).await?;
        let mut open = self.open.lock();
        for gone in gone {
            open.remove(&gone);
        }
        open.insert(id_of(&name), OpenSession::new(stored, now));
        Ok(name)
    }

    /// The sessions that end with a new one: those that are over, and the oldest of a user who has too many.
    fn superseded(&self, user: Option<UserId>, now: Timestamp) -> Vec<SessionId> {
        let open = self.open.lock();
        let stored = || {
            open.iter()
                .filter(|(_, session)| session.borrowed.is_none())
        };
        let over = stored().filter(|(_, session)| session.is_over(now));
        let mut gone: Vec<_> = over.map(|(id, _)| *id).take(REMOVED_AT_ONCE).collect();
        let own = stored().filter(|(_, it)| !it.is_over(now) && it.stored.user == user);
        let mut own: Vec<_> = own.map(|(id, it)| (it.stored.since, *id)).collect();
        own.sort_unstable();
        let excess = own.len().saturating_add(1).saturating_sub(PER_USER);
        gone.extend(own.into_iter().take(excess).map(|(_, id)| id));
        gone
    }

    /// The session of this name, if it is valid under this host name now.
    pub fn find(&self, name: &str, host: &str, now: Timestamp) -> Option<ValidSession> {
        let id = id_of(name);
        let mut open = self.open.lock();
        let session = open.get_mut(&id)?;
        if session.is_over(now) || session.stored.origin.host != host {
            return None;
        }
        session.seen = session.seen.max(now);
        let (user, borrowed) = (session.stored.user, session.borrowed.clone());
        Some(ValidSession::new(id, name, user, borrowed))
    }

    /// A session that another cell has just confirmed, with what its holder may do: cached for some seconds.
    pub fn borrow(
        &self,
        name: &str,
        host: &str,
        authority: Authority,
        now: Timestamp,
    ) -> Option<ValidSession> {
        let mut open = self.open.lock();
        let former = open.remove(&id_of(name));
        let borrowed = open.values().filter(|it| it.borrowed.is_some()).count();
        if borrowed >= BORROWED {
            open.retain(|_, session| session.borrowed.is_none());
        }
        let stored = StoredSession {
            user: authority.user(),
            origin: Origin {
                host: host.to_owned(),
                address: String::new(),
                browser: String::new(),
            },
            since: now.0,
            until: now.plus_seconds(BORROWED_SECONDS).0,
        };
        let session = OpenSession {
            borrowed: Some(authority),
            keys: former.map(|former| former.keys).unwrap_or_default(),
            ..OpenSession::new(stored, now)
        };
        open.insert(id_of(name), session);
        drop(open);
        self.find(name, host, now)
    }

    /// All sessions that are valid now, the last begun first.
    pub fn list(&self, now: Timestamp) -> Vec<SessionView> {
        let open = self.open.lock();
        let valid = open
            .iter()
            .filter(|(_, it)| it.borrowed.is_none() && !it.is_over(now));
        let view = |(id, session): (&SessionId, &OpenSession)| SessionView {
            id: *id,
            user: session.stored.user,
            origin: session.stored.origin.clone(),
            since: Timestamp(session.stored.since),
            seen: Timestamp(
                session
                    .seen
                    .0
                    .saturating_sub(session.seen.0.rem_euclid(60_000)),
            ),
            until: Timestamp(session.stored.until),
        };
        let mut all: Vec<_> = valid.map(view).collect();
        all.sort_by_key(|session| std::cmp::Reverse((session.since, session.id)));
        all
    }

    /// Ends sessions, once that is durable.
    /// # Errors
    /// It could not be logged.
    pub async fn end(&self, ids: &[SessionId]) -> Result<(), Error> {
        let ended = ids.iter().map(notes::forget::<SessionNote>);
        notes::put_all(&self.handle, ended).await?;
        self.forget(ids);
        Ok(())
    }

    pub(crate) fn forget(&self, ids: &[SessionId]) {
        let mut open = self.open.lock();
        for id in ids {
            open.remove(id);
        }
    }

    /// The stored sessions of a user, with the notes that end them.
    pub(crate) fn of(&self, user: UserId) -> (Vec<SessionId>, Vec<Note>) {
        let open = self.open.lock();
        let own = open.iter().filter(|(_, it)| it.stored.user == Some(user));
        let ids: Vec<_> = own.map(|(id, _)| *id).collect();
        let ended = ids.iter().map(notes::forget::<SessionNote>).collect();
        (ids, ended)
    }

    /// Keeps keys until a page of their project shows them, and drops others that were never shown.
    pub fn keep_keys(&self, session: &ValidSession, keys: Vec<NewKey>) {
        if let Some(session) = self.open.lock().get_mut(&session.id) {
            session.keys = keys;
        }
    }

    /// Takes the new keys of a project, to show them once.
    pub fn take_keys(&self, session: &ValidSession, project: ProjectId) -> Vec<NewKey> {
        let mut open = self.open.lock();
        let Some(session) = open.get_mut(&session.id) else {
            return Vec::new();
        };
        let keys = std::mem::take(&mut session.keys);
        let (shown, kept) = keys.into_iter().partition(|key| key.project == project);
        session.keys = kept;
        shown
    }
}

/// Half of the hash of a session's name, which is random.
fn id_of(name: &str) -> SessionId {
    let hash = sha256(name.as_bytes());
    let half = hash.first_chunk().copied().unwrap_or_default();
    SessionId(u128::from_be_bytes(half))
}
