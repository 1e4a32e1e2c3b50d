//! API keys of a project: generating, changing, revoking. Only a key's SHA-256 is stored; a secret key is in the clear
//! once, in the response that returns it.

use std::fmt;

use domain::{
    Timestamp,
    catalog::{ApiKey, Document, KeyChange, NewKey, Refusal},
    id::{KeyId, ProjectId},
};
use sha2::{Digest, Sha256};

use super::{CatalogStore, Error, ProjectCatalog, new_id, store::find};

const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/// 32 characters of 62 carry 190 bits; a key needs at least 160.
const BODY_LENGTH: usize = 32;

/// A document with its new secret in the clear, which is to be shown once.
#[derive(Clone)]
pub struct Minted<D> {
    /// The document as it is stored: the hash of a key and the text of a publishable one, or an encrypted secret.
    pub stored: D,
    /// The secret in the clear.
    pub plain: String,
}

impl<D> fmt::Debug for Minted<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Minted").finish_non_exhaustive()
    }
}

/// A new API key.
pub type MintedKey = Minted<ApiKey>;

impl MintedKey {
    pub(super) fn draw(
        project: ProjectId,
        new: impl Into<NewKey>,
        now: Timestamp,
    ) -> Result<Self, Error> {
        let new = new.into();
        let plain = format!("{}{}", new.kind.prefix(), random_text(BODY_LENGTH)?);
        let drawn = (plain.as_str(), sha256(plain.as_bytes()));
        let stored = new.decide((project, KeyId(new_id())), drawn, now)?;
        Ok(Self { stored, plain })
    }
}

impl CatalogStore {
    /// Adds an API key to a project.
    /// # Errors
    /// [`Refusal::Invalid`] when an input breaks a rule, [`Refusal::ProjectNotFound`], [`Error::Randomness`],
    /// [`Error::Wallets`] when it cannot be logged.
    pub async fn create_key(
        &self,
        project: ProjectId,
        new: impl Into<NewKey>,
    ) -> Result<MintedKey, Error> {
        let new = new.into();
        self.change(move |catalog, now| {
            let minted = MintedKey::draw(project, new, now)?;
            find(catalog, project)?;
            Ok((vec![Document::Key(minted.stored.clone())], minted))
        })
        .await
    }

    /// Changes an API key's name or end, effective with the next request.
    /// # Errors
    /// [`Refusal::Invalid`] when an input breaks a rule, [`Refusal::ProjectNotFound`], [`Refusal::KeyNotFound`],
    /// [`Error::Wallets`] when it cannot be logged.
    pub async fn update_key(
        &self,
        project: ProjectId,
        id: KeyId,
        change: KeyChange,
    ) -> Result<ApiKey, Error> {
        self.replace(project, Document::Key, known(id), move |old, now| {
            change.decide(old, now)
        })
        .await
    }

    /// Revokes an API key, effective with the next request. Revoking it again changes nothing.
    /// # Errors
    /// [`Refusal::ProjectNotFound`], [`Refusal::KeyNotFound`], [`Error::Wallets`] when it cannot be logged.
    pub async fn revoke_key(&self, project: ProjectId, id: KeyId) -> Result<ApiKey, Error> {
        let revoke = |old: &ApiKey, now| Ok(old.revoke(now).unwrap_or_else(|| old.clone()));
        self.replace(project, Document::Key, known(id), revoke)
            .await
    }
}

fn known(id: KeyId) -> impl FnOnce(&ProjectCatalog) -> Result<&ApiKey, Refusal> {
    move |catalog| catalog.key(&id).ok_or(Refusal::KeyNotFound(id))
}

/// The hash by which a key is stored and found.
pub fn sha256(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

/// `length` random Base62 characters, each equally likely.
/// # Errors
/// [`Error::Randomness`] when the operating system gives no random bytes.
pub fn random_text(length: usize) -> Result<String, Error> {
    let mut text = String::with_capacity(length);
    let mut bytes = [0_u8; 64];
    while text.len() < length {
        getrandom::fill(&mut bytes).map_err(|error| Error::Randomness(error.to_string()))?;
        // 248 is the last multiple of 62 in a byte: larger bytes would favour some characters.
        let fair = bytes.iter().filter(|byte| **byte < 248);
        let drawn = fair.filter_map(|byte| ALPHABET.get(usize::from(byte % 62)));
        text.extend(
            drawn
                .take(length.saturating_sub(text.len()))
                .map(|byte| char::from(*byte)),
        );
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use domain::catalog::KeyKind;

    use super::*;

    #[test]
    fn a_key_has_its_prefix_and_enough_random_characters() {
        let minted = MintedKey::draw(ProjectId(1), KeyKind::Secret, Timestamp(0)).unwrap();
        let body = minted.plain.strip_prefix("pay_sk_").unwrap();
        assert!(body.len() >= 27 && body.bytes().all(|byte| byte.is_ascii_alphanumeric()));
        assert_eq!(minted.stored.hash, sha256(minted.plain.as_bytes()));
        let other = MintedKey::draw(ProjectId(1), KeyKind::Secret, Timestamp(0)).unwrap();
        assert_ne!(minted.plain, other.plain);
    }

    #[test]
    fn only_a_publishable_key_is_kept_in_the_clear() {
        let secret = MintedKey::draw(ProjectId(1), KeyKind::Secret, Timestamp(0)).unwrap();
        assert_eq!(secret.stored.public, None);
        assert!(!format!("{secret:?}").contains(&secret.plain));
        let public = MintedKey::draw(ProjectId(1), KeyKind::Publishable, Timestamp(0)).unwrap();
        assert_eq!(public.stored.public, Some(public.plain));
    }
}
