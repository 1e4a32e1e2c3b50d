//! API keys, stored by their hash. Generating one needs randomness and is done elsewhere.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{
    Ability, Refusal,
    rules::{MAX_NAME, ensure, optional_text},
};
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
    /// For servers only, and for what its abilities open.
    Restricted,
}

impl KeyKind {
    /// What keys of this kind start with.
    pub const fn prefix(self) -> &'static str {
        match self {
            Self::Publishable => "pay_pk_",
            Self::Secret => "pay_sk_",
            Self::Restricted => "pay_rk_",
        }
    }
}

impl KeyKind {
    /// Its name in sentences.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Publishable => "publishable key",
            Self::Secret => "secret key",
            Self::Restricted => "restricted key",
        }
    }
}

/// Characters that are shown of a key's body at each end.
const VISIBLE_CHARS: usize = 4;

/// An API key, stored by its hash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the fields say what they are")]
pub struct ApiKey {
    pub id: KeyId,
    pub project: ProjectId,
    pub kind: KeyKind,
    /// What a restricted key may do; of the others empty.
    pub can: BTreeSet<Ability>,
    pub name: Option<String>,
    /// How it starts: its prefix and four characters.
    pub first: String,
    pub last: String,
    /// SHA-256 of the whole key.
    pub hash: [u8; 32],
    /// The key itself if it is publishable, so that it can be shown again.
    pub public: Option<String>,
    pub created_at: Timestamp,
    /// When it expires; `None` if it works until it is revoked.
    pub expires_at: Option<Timestamp>,
    pub revoked_at: Option<Timestamp>,
}

/// A key to make.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the fields are those of ApiKey")]
pub struct NewKey {
    pub kind: KeyKind,
    pub can: BTreeSet<Ability>,
    pub name: Option<String>,
    /// When it expires.
    pub expires_at: Option<Timestamp>,
}

/// A change of a key; `None` leaves a field as it is.
#[derive(Debug, Clone, Default)]
#[expect(missing_docs, reason = "the fields are those of ApiKey")]
pub struct KeyChange {
    pub name: Option<Option<String>>,
    /// When it expires.
    pub expires_at: Option<Option<Timestamp>>,
}

impl From<KeyKind> for NewKey {
    /// A key without a name that works until it is revoked.
    fn from(kind: KeyKind) -> Self {
        Self {
            kind,
            can: BTreeSet::new(),
            name: None,
            expires_at: None,
        }
    }
}

impl NewKey {
    /// The document of a new key. It contains the key itself only if that is publishable.
    /// # Errors
    /// [`Refusal::Invalid`] for the first input that breaks a rule.
    pub fn decide(
        self,
        (project, id): (ProjectId, KeyId),
        (plain, hash): (&str, [u8; 32]),
        now: Timestamp,
    ) -> Result<ApiKey, Refusal> {
        check_end(self.expires_at, now)?;
        let first = self.kind.prefix().len().saturating_add(VISIBLE_CHARS);
        let last = plain.len().saturating_sub(VISIBLE_CHARS);
        let key = ApiKey {
            id,
            project,
            kind: self.kind,
            can: self.can,
            name: self.name,
            first: plain.get(..first).unwrap_or_default().to_owned(),
            last: plain.get(last..).unwrap_or_default().to_owned(),
            hash,
            public: (self.kind == KeyKind::Publishable).then(|| plain.to_owned()),
            created_at: now,
            expires_at: self.expires_at,
            revoked_at: None,
        };
        key.check()?;
        Ok(key)
    }
}

impl KeyChange {
    /// The key after the change. Moving the end of an expired key makes it work again.
    /// # Errors
    /// [`Refusal::Invalid`] for the first input that breaks a rule.
    pub fn decide(self, old: &ApiKey, now: Timestamp) -> Result<ApiKey, Refusal> {
        // A form sends the stored value again.
        if let Some(end) = self.expires_at.filter(|end| *end != old.expires_at) {
            check_end(end, now)?;
        }
        let key = ApiKey {
            name: self.name.unwrap_or_else(|| old.name.clone()),
            expires_at: self.expires_at.unwrap_or(old.expires_at),
            ..old.clone()
        };
        key.check()?;
        Ok(key)
    }
}

fn check_end(end: Option<Timestamp>, now: Timestamp) -> Result<(), Refusal> {
    let message = "expiresAt has passed: to end a key now, revoke it.";
    ensure(end.is_none_or(|end| end > now), "expiresAt", message)
}

impl ApiKey {
    /// The key's display name: its identifier, and its name if it has one.
    pub fn title(&self) -> String {
        match &self.name {
            Some(name) => format!("{} “{name}”", self.id),
            None => self.id.to_string(),
        }
    }

    /// The key revoked now; `None` if it is revoked already.
    #[must_use]
    pub fn revoke(&self, now: Timestamp) -> Option<Self> {
        let works = self.revoked_at.is_none();
        works.then(|| Self {
            revoked_at: Some(now),
            ..self.clone()
        })
    }

    /// Checks its name, that only a publishable key is stored in the clear, and that only a restricted one has abilities.
    pub(super) fn check(&self) -> Result<(), Refusal> {
        optional_text("name", self.name.as_deref(), MAX_NAME)?;
        let fits = match (self.kind, &self.public) {
            (KeyKind::Publishable, Some(key)) => key.starts_with(self.kind.prefix()),
            (KeyKind::Publishable, None) => false,
            (KeyKind::Secret | KeyKind::Restricted, public) => public.is_none(),
        };
        let fits_can = (self.kind == KeyKind::Restricted) != self.can.is_empty();
        let message = "A restricted key, and no other, names at least one thing that it can do.";
        ensure(fits_can, "can", message)?;
        let message = "A publishable key is stored in the clear, a secret key only as a hash.";
        ensure(fits, "key", message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(4);

    fn made(new: NewKey) -> Result<ApiKey, Refusal> {
        let plain = format!("{}aTb9body7xYz", new.kind.prefix());
        new.decide((ProjectId(1), KeyId(2)), (&plain, [3; 32]), NOW)
    }

    fn drawn(kind: KeyKind) -> ApiKey {
        made(kind.into()).unwrap()
    }

    #[test]
    fn only_a_publishable_key_is_kept_in_the_clear() {
        assert_eq!(drawn(KeyKind::Secret).public, None);
        let public = drawn(KeyKind::Publishable);
        assert_eq!(public.public.as_deref(), Some("pay_pk_aTb9body7xYz"));
        assert!(public.check().is_ok());
        let leaked = ApiKey {
            kind: KeyKind::Secret,
            ..public
        };
        assert!(leaked.check().is_err());
    }

    #[test]
    fn a_restricted_key_and_no_other_has_abilities() {
        let can = |kind: KeyKind, can: &[Ability]| {
            let can = can.iter().copied().collect();
            made(NewKey { can, ..kind.into() })
        };
        assert!(can(KeyKind::Restricted, &[]).is_err());
        assert!(can(KeyKind::Secret, &[Ability::Read]).is_err());
        assert!(can(KeyKind::Publishable, &[Ability::Read]).is_err());
        let key = can(KeyKind::Restricted, &[Ability::Read]).unwrap();
        assert_eq!((key.first.as_str(), key.public), ("pay_rk_aTb9", None));
    }

    #[test]
    fn a_key_is_recognised_by_its_ends() {
        let key = drawn(KeyKind::Secret);
        assert_eq!(
            (key.first.as_str(), key.last.as_str()),
            ("pay_sk_aTb9", "7xYz")
        );
    }

    #[test]
    fn a_key_ends_later_than_now_and_an_end_that_stays_may_have_passed() {
        let ending = |end| NewKey {
            expires_at: Some(Timestamp(end)),
            ..KeyKind::Secret.into()
        };
        assert!(made(ending(4)).is_err());
        let key = made(ending(5)).unwrap();
        assert_eq!(key.expires_at, Some(Timestamp(5)));
        let change = |end: Option<i64>| KeyChange {
            expires_at: Some(end.map(Timestamp)),
            ..KeyChange::default()
        };
        let late = Timestamp(6);
        assert!(change(Some(6)).decide(&key, late).is_err());
        assert_eq!(change(Some(5)).decide(&key, late), Ok(key.clone()));
        assert_eq!(change(None).decide(&key, late).unwrap().expires_at, None);
    }

    #[test]
    fn a_name_has_letters_or_is_none() {
        let named = |name: &str| NewKey {
            name: Some(name.into()),
            ..KeyKind::Secret.into()
        };
        assert!(made(named(" ")).is_err());
        assert_eq!(
            made(named("Worker")).unwrap().title(),
            format!("{} “Worker”", KeyId(2))
        );
        assert_eq!(drawn(KeyKind::Secret).title(), KeyId(2).to_string());
    }

    #[test]
    fn revoking_a_key_again_changes_nothing() {
        let revoked = drawn(KeyKind::Secret).revoke(Timestamp(5)).unwrap();
        assert_eq!(revoked.revoked_at, Some(Timestamp(5)));
        assert_eq!(revoked.revoke(Timestamp(6)), None);
    }
}
