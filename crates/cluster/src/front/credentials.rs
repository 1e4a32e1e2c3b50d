//! In whose name a request takes places. Whose a credential is, the process that leads says once, and it is remembered
//! here; until then a request is a stranger's, also if it claims more, and all strangers share one part.

use std::{
    collections::HashMap,
    hash::{BuildHasher as _, RandomState},
    net::IpAddr,
    sync::Arc,
};

use actors::{HeldPlaces, Shares};
use axum::http::{HeaderMap, HeaderValue, header};
use domain::id::ProjectId;
use parking_lot::Mutex;

/// Credentials that are remembered: some megabytes of them.
const REMEMBERED: usize = 50_000;

/// Places, shared by project and client.
pub(super) type Places = Shares<Option<ProjectId>>;
/// Those that a request holds.
pub(super) type Held = HeldPlaces<Option<ProjectId>>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CredentialOwner {
    pub project: ProjectId,
    /// Whether it is for the project's own servers, which are no clients of it.
    pub is_server: bool,
}

/// Finds whose the credential in a request's headers is; `None`: it has none that counts.
pub(super) type FindOwner = Arc<dyn Fn(&HeaderMap) -> Option<CredentialOwner> + Send + Sync>;

impl CredentialOwner {
    pub(super) fn header(self) -> Option<HeaderValue> {
        let kind = if self.is_server { "server" } else { "client" };
        HeaderValue::try_from(format!("{} {kind}", self.project)).ok()
    }

    fn read(value: &HeaderValue) -> Option<Self> {
        let (project, kind) = value.to_str().ok()?.split_once(' ')?;
        Some(Self {
            project: project.parse().ok()?,
            is_server: kind == "server",
        })
    }
}

/// In whose name places are taken: of a project, or of those who have shown no credential; and of a client.
#[derive(Debug, Clone, Copy)]
pub(super) struct Holder {
    project: Option<ProjectId>,
    client: Option<IpAddr>,
}

impl Holder {
    /// No place yet.
    pub(super) fn share(self, places: &Places) -> Held {
        places.share(self.project, self.client)
    }

    /// One place; `None`: the project or client holds its share.
    pub(super) fn take(self, places: &Places) -> Option<Held> {
        places.take(self.project, self.client)
    }
}

/// The credentials that leaders know, without the credentials.
#[derive(Debug, Default)]
pub(super) struct Credentials {
    known: Mutex<HashMap<u64, CredentialOwner>>,
    hasher: RandomState,
}

impl Credentials {
    /// In whose name a request with these headers takes places.
    pub(super) fn holder(&self, headers: &HeaderMap, client: IpAddr) -> Holder {
        let owner = self.owner(headers);
        let is_server = owner.is_some_and(|owner| owner.is_server);
        Holder {
            project: owner.map(|owner| owner.project),
            client: (!is_server).then_some(client),
        }
    }

    /// Whether a leader is to say whose its credential is.
    pub(super) fn is_new(&self, headers: &HeaderMap) -> bool {
        headers.contains_key(header::AUTHORIZATION) && self.owner(headers).is_none()
    }

    /// Remembers what a leader says of the credential in a request's headers.
    pub(super) fn hear(&self, headers: &HeaderMap, said: &HeaderValue) {
        let (Some(credential), Some(owner)) =
            (self.credential(headers), CredentialOwner::read(said))
        else {
            return;
        };
        let mut known = self.known.lock();
        // Any one: whose it is, its next request finds out.
        let surplus = known.keys().next().copied();
        if known.len() >= REMEMBERED
            && !known.contains_key(&credential)
            && let Some(surplus) = surplus
        {
            known.remove(&surplus);
        }
        known.insert(credential, owner);
    }

    fn owner(&self, headers: &HeaderMap) -> Option<CredentialOwner> {
        let credential = self.credential(headers)?;
        self.known.lock().get(&credential).copied()
    }

    fn credential(&self, headers: &HeaderMap) -> Option<u64> {
        let value = headers.get(header::AUTHORIZATION)?;
        Some(self.hasher.hash_one(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_leader_says_of_a_credential_is_read_as_it_was_written() {
        for is_server in [true, false] {
            let project = ProjectId(7);
            let owner = CredentialOwner { project, is_server };
            assert_eq!(CredentialOwner::read(&owner.header().unwrap()), Some(owner));
        }
        assert_eq!(CredentialOwner::read(&HeaderValue::from_static("?")), None);
    }

    #[test]
    fn so_many_credentials_are_remembered() {
        let credentials = Credentials::default();
        let owner = CredentialOwner {
            project: ProjectId(7),
            is_server: false,
        };
        let mut headers = HeaderMap::new();
        for number in 0..=REMEMBERED {
            headers.insert(header::AUTHORIZATION, number.into());
            assert!(credentials.is_new(&headers));
            credentials.hear(&headers, &owner.header().unwrap());
            assert!(!credentials.is_new(&headers));
        }
        let remembered = || credentials.known.lock().len();
        assert_eq!(remembered(), REMEMBERED);
        // What is known already takes no other's place.
        credentials.hear(&headers, &owner.header().unwrap());
        assert_eq!(remembered(), REMEMBERED);
    }
}
