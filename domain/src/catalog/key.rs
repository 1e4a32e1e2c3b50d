//! API keys, which are stored by their hash. Drawing one takes randomness and is done elsewhere.

use serde::{Deserialize, Serialize};

use super::Refusal;
use crate::{
    id::{KeyId, ProjectId},
    time::Timestamp,
};

/// What a key may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KeyKind {
    /// May be used in browsers.
    Publishable,
    /// For servers only.
    Secret,
}

impl KeyKind {
    /// What keys of this kind start with.
    #[must_use]
    pub const fn prefix(self) -> &'static str {
        match self {
            Self::Publishable => "pay_pk_",
            Self::Secret => "pay_sk_",
        }
    }
}

/// An API key, stored by its hash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApiKey {
    /// The key's identifier, safe to show.
    pub id: KeyId,
    /// The project that it belongs to.
    pub project: ProjectId,
    /// What it may do.
    pub kind: KeyKind,
    /// SHA-256 of the whole key.
    pub hash: [u8; 32],
    /// The key itself if it is publishable, so that it can be shown again.
    pub public: Option<String>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it stopped working.
    pub revoked_at: Option<Timestamp>,
}

impl ApiKey {
    /// The document of a key that was just drawn. It contains the key itself only if that is publishable.
    #[must_use]
    pub fn new(
        (project, id): (ProjectId, KeyId),
        kind: KeyKind,
        (plain, hash): (&str, [u8; 32]),
        now: Timestamp,
    ) -> Self {
        Self {
            id,
            project,
            kind,
            hash,
            public: (kind == KeyKind::Publishable).then(|| plain.to_owned()),
            created_at: now,
            revoked_at: None,
        }
    }

    /// The key after it is revoked now; `None` if it is revoked already.
    #[must_use]
    pub fn revoke(&self, now: Timestamp) -> Option<Self> {
        let works = self.revoked_at.is_none();
        works.then(|| Self {
            revoked_at: Some(now),
            ..self.clone()
        })
    }

    /// Checks that only a publishable key is stored in the clear.
    pub(super) fn check(&self) -> Result<(), Refusal> {
        let fits = match (self.kind, &self.public) {
            (KeyKind::Publishable, Some(key)) => key.starts_with(self.kind.prefix()),
            (KeyKind::Publishable, None) => false,
            (KeyKind::Secret, public) => public.is_none(),
        };
        if fits {
            return Ok(());
        }
        let message = "A publishable key is stored in the clear, a secret key only as a hash.";
        Err(Refusal::invalid("key", message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(kind: KeyKind) -> ApiKey {
        let plain = format!("{}body", kind.prefix());
        ApiKey::new(
            (ProjectId(1), KeyId(2)),
            kind,
            (&plain, [3; 32]),
            Timestamp(4),
        )
    }

    #[test]
    fn only_a_publishable_key_is_kept_in_the_clear() {
        assert_eq!(drawn(KeyKind::Secret).public, None);
        let public = drawn(KeyKind::Publishable);
        assert_eq!(public.public.as_deref(), Some("pay_pk_body"));
        assert!(public.check().is_ok());
        let leaked = ApiKey {
            kind: KeyKind::Secret,
            ..public
        };
        assert!(leaked.check().is_err());
    }

    #[test]
    fn revoking_a_key_again_changes_nothing() {
        let revoked = drawn(KeyKind::Secret).revoke(Timestamp(5)).unwrap();
        assert_eq!(revoked.revoked_at, Some(Timestamp(5)));
        assert_eq!(revoked.revoke(Timestamp(6)), None);
    }
}
