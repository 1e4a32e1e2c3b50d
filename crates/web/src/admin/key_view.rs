//! API keys as the administrator sees them.

use std::collections::BTreeSet;

use api_types::schema::{KeyAbility, KeyKind};
use catalog::{MintedKey, ProjectCatalog};
use domain::catalog::{self as documents, Ability, ApiKey};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use wire::view::{Day, instant};

/// An API key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Key {
    /// Its identifier, safe to show.
    #[schema(example = "key_01jd3v8q6pf6r9x3v1m2k4c5d7")]
    pub id: String,
    /// What it may do.
    #[schema(value_type = KeyKind)]
    pub kind: documents::KeyKind,
    /// What a restricted key may do; null: it is of another kind.
    #[schema(value_type = Option<Vec<KeyAbility>>)]
    pub can: Option<BTreeSet<Ability>>,
    /// What its owners call it; null: nothing.
    pub name: Option<String>,
    /// How it starts: its prefix and four characters.
    #[schema(example = "pay_sk_aTb9")]
    pub first: String,
    /// Its last four characters.
    #[schema(example = "7xYz")]
    pub last: String,
    /// The key itself. A secret one is shown once, when it is made; then null.
    pub key: Option<String>,
    /// The UTC day on which it was last used, `YYYY-MM-DD`; null: it never was.
    #[schema(example = "2027-12-31")]
    pub last_used_on: Option<String>,
    /// When it was made.
    pub created_at: String,
    /// From when on it does not work any more; null: it works until it is revoked.
    pub expires_at: Option<String>,
    /// When it was revoked; null: it was not.
    pub revoked_at: Option<String>,
}

/// All keys of a project.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub(super) struct Keys {
    /// Oldest first, revoked ones too.
    pub keys: Vec<Key>,
}

impl From<&ApiKey> for Key {
    /// A key without its last use.
    fn from(key: &ApiKey) -> Self {
        let instant = |at| instant(at).to_string();
        Self {
            id: key.id.to_string(),
            kind: key.kind,
            can: Some(key.can.clone()).filter(|can| !can.is_empty()),
            name: key.name.clone(),
            first: key.first.clone(),
            last: key.last.clone(),
            key: key.public.clone(),
            last_used_on: None,
            created_at: instant(key.created_at),
            expires_at: key.expires_at.map(instant),
            revoked_at: key.revoked_at.map(instant),
        }
    }
}

impl Key {
    /// A key with its last use, as far as the catalog knows it.
    pub(super) fn of(key: &ApiKey, catalog: &ProjectCatalog) -> Self {
        let last_used = catalog.key_last_used(&key.id);
        Self {
            last_used_on: last_used.map(|day| Day(day).to_string()),
            ..Self::from(key)
        }
    }
}

impl From<MintedKey> for Key {
    fn from(minted: MintedKey) -> Self {
        Self {
            key: Some(minted.plain),
            ..Self::from(&minted.stored)
        }
    }
}
