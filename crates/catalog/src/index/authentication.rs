//! API keys as requests find them.

use std::{collections::BTreeSet, sync::Arc};

use domain::{
    Timestamp,
    catalog::{Ability, KeyKind},
    id::KeyId,
};

use super::{Catalog, ProjectCatalog};
use crate::{
    key_hash::KeyHash,
    key_uses::{KeyUses, LastUse},
};

#[derive(Debug, Clone)]
pub(super) struct KnownKey {
    pub(super) opens: Authenticated,
    pub(super) expires_at: Option<Timestamp>,
    pub(super) last_use: Arc<LastUse>,
}

/// What an API key gives access to.
#[derive(Debug, Clone)]
pub struct Authenticated {
    /// The key's project, as of the catalog that it was found in.
    pub project: Arc<ProjectCatalog>,
    /// The API key's identifier.
    pub key: KeyId,
    /// Publishable or secret. A restricted key is treated as a secret one that needs an ability for each route.
    pub kind: KeyKind,
    /// What a restricted key may do; `None` for the others, whose kind says it.
    pub can: Option<Arc<BTreeSet<Ability>>>,
}

impl Authenticated {
    /// Whether the key may do this, as far as its abilities decide.
    pub fn may(&self, ability: Ability) -> bool {
        self.can.as_ref().is_none_or(|can| can.contains(&ability))
    }
}

impl Catalog {
    /// The cell of the project of the key with this SHA-256, as far as this log knows.
    pub fn cell_of_key(&self, sha256: &[u8; 32]) -> Option<i16> {
        match self.keys.contains_key(&KeyHash(*sha256)) {
            true => Some(self.cell),
            false => self.elsewhere.key(sha256),
        }
    }

    /// The SHA-256 of each key that is not revoked.
    pub fn key_hashes(&self) -> impl Iterator<Item = [u8; 32]> {
        self.keys.keys().map(|KeyHash(hash)| *hash)
    }

    /// The key with this SHA-256, unless it is unknown, revoked or past its end. One look-up.
    pub fn authenticate(&self, key_sha256: &[u8; 32], now: Timestamp) -> Option<Authenticated> {
        self.working_key(key_sha256, now)
            .map(|known| known.opens.clone())
    }

    /// As [`Self::authenticate`], and notes that the key was used.
    pub(crate) fn authenticate_use(
        &self,
        key_sha256: &[u8; 32],
        now: Timestamp,
        uses: &KeyUses,
    ) -> Option<Authenticated> {
        let known = self.working_key(key_sha256, now)?;
        uses.note(known.opens.key, &known.last_use, now);
        Some(known.opens.clone())
    }

    fn working_key(&self, key_sha256: &[u8; 32], now: Timestamp) -> Option<&KnownKey> {
        let known = self.keys.get(&KeyHash(*key_sha256))?;
        let ended = known.expires_at.is_some_and(|end| end <= now);
        (!ended).then_some(known)
    }

    pub(crate) fn last_uses(&self) -> impl Iterator<Item = (KeyId, &LastUse)> {
        let keys = self.projects.values().flat_map(|project| &project.keys);
        keys.map(|(id, (_, last_use))| (*id, last_use.as_ref()))
    }
}
