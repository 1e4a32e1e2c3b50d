//! API keys of a project: generating, changing, revoking. Only a key's SHA-256 is stored; a secret key is in the clear
//! once, in the response that returns it.

use std::fmt;

use domain::{
    Timestamp,
    catalog::{ApiKey, Document, KeyChange, NewKey, Refusal},
    id::{KeyId, ProjectId},
};
use sha2::{Digest, Sha256};

use super::{Catalog, CatalogStore, Error, new_id, store::find};

const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/// 32 characters of 62 carry 190 bits; a key needs at least 160.
const BODY_LENGTH: usize = 32;

/// A new API key.
#[derive(Clone)]
pub struct MintedKey {
    /// The key as it is stored: its SHA-256, and the text of a publishable key.
    pub key: ApiKey,
    /// The key's text, to be shown once.
    pub plain: String,
}

impl fmt::Debug for MintedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MintedKey")
            .field("id", &self.key.id)
            .finish_non_exhaustive()
    }
}

impl MintedKey {
    pub(super) fn draw(
        project: ProjectId,
        new: impl Into<NewKey>,
        now: Timestamp,
    ) -> Result<Self, Error> {
        let new = new.into();
        let plain = format!("{}{}", new.kind.prefix(), random_text(BODY_LENGTH)?);
        let drawn = (plain.as_str(), sha256(plain.as_bytes()));
        let key = new.decide((project, KeyId(new_id())), drawn, now)?;
        Ok(Self { key, plain })
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
            Ok((vec![Document::Key(minted.key.clone())], minted))
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
        self.change(move |catalog, now| {
            let key = change.decide(find_key(catalog, project, id)?, now)?;
            Ok((vec![Document::Key(key.clone())], key))
        })
        .await
    }

    /// Revokes an API key, effective with the next request. Revoking it again changes nothing.
    /// # Errors
    /// [`Refusal::ProjectNotFound`], [`Refusal::KeyNotFound`], [`Error::Wallets`] when it cannot be logged.
    pub async fn revoke_key(&self, project: ProjectId, id: KeyId) -> Result<ApiKey, Error> {
        self.change(move |catalog, now| {
            let key = find_key(catalog, project, id)?;
            match key.revoke(now) {
                Some(revoked) => Ok((vec![Document::Key(revoked.clone())], revoked)),
                None => Ok((Vec::new(), key.clone())),
            }
        })
        .await
    }
}

fn find_key(catalog: &Catalog, project: ProjectId, id: KeyId) -> Result<&ApiKey, Refusal> {
    let key = find(catalog, project)?.key(&id);
    key.ok_or(Refusal::KeyNotFound(id))
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
        assert_eq!(minted.key.hash, sha256(minted.plain.as_bytes()));
        let other = MintedKey::draw(ProjectId(1), KeyKind::Secret, Timestamp(0)).unwrap();
        assert_ne!(minted.plain, other.plain);
    }

    #[test]
    fn only_a_publishable_key_is_kept_in_the_clear() {
        let secret = MintedKey::draw(ProjectId(1), KeyKind::Secret, Timestamp(0)).unwrap();
        assert_eq!(secret.key.public, None);
        assert!(!format!("{secret:?}").contains(&secret.plain));
        let public = MintedKey::draw(ProjectId(1), KeyKind::Publishable, Timestamp(0)).unwrap();
        assert_eq!(public.key.public, Some(public.plain));
    }
}
