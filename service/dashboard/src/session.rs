//! Dashboard sessions. Only the browser knows a session's name: the server keeps hashes, in memory, so that a
//! restart ends all sessions. Nothing is written to disk.

use std::collections::HashMap;

use axum::response::Response;
use catalog::{Error, random_text, sha256};
use data_encoding::HEXLOWER;
use domain::Timestamp;
use edge::audit::AuditedAction;
use limits::Client;
use parking_lot::Mutex;
use subtle::ConstantTimeEq as _;

/// Lifetime of a session.
pub(super) const SESSION_SECONDS: i64 = 12 * 3600;
/// How long another cell's word for a session counts.
const BORROWED_SECONDS: i64 = 10;
/// Lifetime of a sign-in link.
const LINK_SECONDS: i64 = 15 * 60;
/// Most sessions at once; one more ends the oldest.
const SESSIONS: usize = 64;
/// Most sign-in links at once; one more ends the oldest.
const LINKS: usize = 8;
/// Base62 characters that carry 256 bits.
const NAME_LENGTH: usize = 43;

type Hash = [u8; 32];

/// All sessions and sign-in links.
#[derive(Default)]
pub struct Sessions {
    open: Mutex<HashMap<Hash, Session>>,
    links: Mutex<Vec<(Hash, Timestamp)>>,
}

struct Session {
    until: Timestamp,
    place: SessionBinding,
    /// Keys that were just created, until a page shows them.
    keys: Vec<NewKey>,
}

/// A key to be shown once: its label and the key.
pub(super) type NewKey = (&'static str, String);

/// The client and host a session belongs to: it is not valid elsewhere, so that a stolen one is of little use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SessionBinding {
    /// The browser's address.
    pub(super) client: Client,
    /// The host name it used for this server.
    pub(super) host: String,
}

/// A valid session.
#[derive(Debug, Clone)]
pub(super) struct ValidSession {
    session: Hash,
    form: Hash,
}

impl std::fmt::Debug for Sessions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sessions").finish_non_exhaustive()
    }
}

impl Sessions {
    /// Creates a link's secret, which signs in once within a quarter of an hour.
    ///
    /// # Errors
    ///
    /// [`Error::Randomness`] when the system has no randomness.
    pub fn link(&self, now: Timestamp) -> Result<String, Error> {
        let secret = random_text(NAME_LENGTH)?;
        let mut links = self.links.lock();
        links.retain(|(_, until)| *until > now);
        if links.len() >= LINKS {
            links.remove(0);
        }
        links.push((hash(&secret), now.plus_seconds(LINK_SECONDS)));
        Ok(secret)
    }

    /// Uses up a link; returns whether it was valid.
    pub(super) fn take_link(&self, secret: &str, now: Timestamp) -> bool {
        let hash = hash(secret);
        let mut links = self.links.lock();
        links.retain(|(_, until)| *until > now);
        let before = links.len();
        links.retain(|(known, _)| !bool::from(known.ct_eq(&hash)));
        links.len() < before
    }

    /// Begins a session and returns its name, which only the browser keeps.
    pub(super) fn begin(&self, place: SessionBinding, now: Timestamp) -> Result<String, Error> {
        let name = random_text(NAME_LENGTH)?;
        self.open(&name, place, now.plus_seconds(SESSION_SECONDS), now);
        Ok(name)
    }

    fn open(&self, name: &str, place: SessionBinding, until: Timestamp, now: Timestamp) {
        let mut open = self.open.lock();
        let former = open.remove(&hash(name));
        open.retain(|_, session| session.until > now);
        if open.len() >= SESSIONS {
            let oldest = open.iter().min_by_key(|(_, session)| session.until);
            if let Some(oldest) = oldest.map(|(hash, _)| *hash) {
                open.remove(&oldest);
            }
        }
        let keys = former.map(|former| former.keys).unwrap_or_default();
        open.insert(hash(name), Session { until, place, keys });
    }

    /// The session of this name, if it is valid at this place and time.
    pub(super) fn find(
        &self,
        name: &str,
        place: &SessionBinding,
        now: Timestamp,
    ) -> Option<ValidSession> {
        let hash = hash(name);
        let open = self.open.lock();
        let session = open.get(&hash)?;
        let good = session.until > now && session.place == *place;
        good.then(|| ValidSession {
            session: hash,
            form: sha256(format!("scrip/dashboard/form/1:{name}").as_bytes()),
        })
    }

    /// The session of this name, begun in another cell, which has just said that it is valid here: that is believed for
    /// some seconds.
    pub(super) fn borrow(
        &self,
        name: &str,
        place: &SessionBinding,
        now: Timestamp,
    ) -> Option<ValidSession> {
        self.open(name, place.clone(), now.plus_seconds(BORROWED_SECONDS), now);
        self.find(name, place, now)
    }

    /// Ends a session.
    pub(super) fn end(&self, signed: &ValidSession) {
        self.open.lock().remove(&signed.session);
    }

    /// Keeps keys until the next page shows them, and drops others that were never shown.
    pub(super) fn keep_keys(&self, signed: &ValidSession, keys: Vec<NewKey>) {
        if let Some(session) = self.open.lock().get_mut(&signed.session) {
            session.keys = keys;
        }
    }

    /// Takes the keys that wait to be shown.
    pub(super) fn take_keys(&self, signed: &ValidSession) -> Vec<NewKey> {
        let mut open = self.open.lock();
        let session = open.get_mut(&signed.session);
        session
            .map(|session| std::mem::take(&mut session.keys))
            .unwrap_or_default()
    }
}

impl ValidSession {
    /// The token in every form of this session, which other sites cannot know.
    pub(super) fn form_token(&self) -> String {
        HEXLOWER.encode(&self.form)
    }

    /// Whether a form's token is this session's.
    pub(super) fn sent(&self, token: &str) -> bool {
        token.as_bytes().ct_eq(self.form_token().as_bytes()).into()
    }

    /// A name for the session in logs, from which its secret name cannot be derived.
    pub(super) fn name_in_log(&self) -> String {
        let hash = sha256(&self.session);
        let short = HEXLOWER.encode(hash.first_chunk::<4>().unwrap_or(&[0; 4]));
        format!("session {short}")
    }

    /// Adds an entry for the audit log to the response of a form that changed something.
    pub(super) fn audited(&self, mut response: Response, what: impl Into<String>) -> Response {
        response.extensions_mut().insert(AuditedAction {
            who: self.name_in_log(),
            what: what.into(),
        });
        response
    }
}

fn hash(secret: &str) -> Hash {
    sha256(secret.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_800_000_000_000);

    fn place() -> SessionBinding {
        SessionBinding {
            client: Client::ANY,
            host: "localhost:8787".into(),
        }
    }

    #[test]
    fn there_are_never_more_than_so_many_and_the_oldest_goes() {
        let sessions = Sessions::default();
        let first = sessions.begin(place(), NOW).unwrap();
        for later in 1..SESSIONS {
            let later = NOW.plus_seconds(i64::try_from(later).unwrap());
            sessions.begin(place(), later).unwrap();
        }
        assert!(sessions.find(&first, &place(), NOW).is_some());
        let last = sessions.begin(place(), NOW.plus_seconds(100)).unwrap();
        assert!(sessions.find(&first, &place(), NOW).is_none());
        assert!(sessions.find(&last, &place(), NOW).is_some());
        assert_eq!(sessions.open.lock().len(), SESSIONS);
    }

    #[test]
    fn a_session_is_good_for_half_a_day_and_where_it_was_begun() {
        let sessions = Sessions::default();
        let name = sessions.begin(place(), NOW).unwrap();
        let at = |seconds| NOW.plus_seconds(seconds);
        let last = at(SESSION_SECONDS - 1);
        assert!(sessions.find(&name, &place(), last).is_some());
        let over = at(SESSION_SECONDS);
        assert!(sessions.find(&name, &place(), over).is_none());
        let elsewhere = SessionBinding {
            host: "evil.example".into(),
            ..place()
        };
        assert!(sessions.find(&name, &elsewhere, NOW).is_none());
        let other = SessionBinding {
            client: Client::V6(1),
            ..place()
        };
        assert!(sessions.find(&name, &other, NOW).is_none());
        let signed = sessions.find(&name, &place(), NOW).unwrap();
        sessions.keep_keys(&signed, vec![("Secret key", "pay_sk_x".into())]);
        assert_eq!(sessions.take_keys(&signed).len(), 1);
        assert_eq!(sessions.take_keys(&signed).len(), 0);
        sessions.end(&signed);
        assert!(sessions.find(&name, &place(), NOW).is_none());
    }

    #[test]
    fn a_session_of_another_cell_is_good_for_some_seconds_and_keeps_its_keys_when_it_is_borrowed_again()
     {
        let sessions = Sessions::default();
        let at = |seconds| NOW.plus_seconds(seconds);
        let signed = sessions.borrow("abc", &place(), NOW).unwrap();
        sessions.keep_keys(&signed, vec![("Secret key", "pay_sk_x".into())]);
        assert!(
            sessions
                .find("abc", &place(), at(BORROWED_SECONDS - 1))
                .is_some()
        );
        assert!(
            sessions
                .find("abc", &place(), at(BORROWED_SECONDS))
                .is_none()
        );
        let again = sessions
            .borrow("abc", &place(), at(BORROWED_SECONDS))
            .unwrap();
        assert_eq!(sessions.take_keys(&again).len(), 1);
        for other in 0..2 * SESSIONS {
            assert!(sessions.borrow(&other.to_string(), &place(), NOW).is_some());
        }
        assert_eq!(sessions.open.lock().len(), SESSIONS);
    }

    #[test]
    fn a_form_is_of_its_session_alone() {
        let sessions = Sessions::default();
        let mut signed = [(); 2].map(|()| {
            let name = sessions.begin(place(), NOW).unwrap();
            sessions.find(&name, &place(), NOW).unwrap()
        });
        let [one, other] = &mut signed;
        assert!(one.sent(&one.form_token()));
        assert!(!one.sent(&other.form_token()) && !one.sent(""));
    }

    #[test]
    fn a_link_works_once_and_not_for_long() {
        let sessions = Sessions::default();
        let (one, other) = (sessions.link(NOW).unwrap(), sessions.link(NOW).unwrap());
        assert!(!sessions.take_link("", NOW));
        assert!(sessions.take_link(&one, NOW));
        assert!(!sessions.take_link(&one, NOW));
        let over = NOW.plus_seconds(LINK_SECONDS);
        assert!(!sessions.take_link(&other, over));
    }
}
