//! Whose use a limit is about, or for what.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use crate::{
    id::KeyId,
    text::{Member, TextError},
};

/// What a limit's scope names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum ScopeKind {
    /// All of the wallet.
    Wallet,
    /// The members who share it.
    Member,
    /// What it is used for: the note's `feature`.
    Feature,
    /// The keys that it is used with.
    Key,
}

/// Whose use counts together, or for what: `wallet`, `member:alice`, `member:*` (each), `feature:image`, `key:key_…`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LimitScope {
    /// What it names.
    pub kind: ScopeKind,
    /// The one it is about; `None`: each, or the wallet.
    pub name: Option<Box<str>>,
}

impl LimitScope {
    /// All of the wallet.
    pub const WALLET: Self = Self {
        kind: ScopeKind::Wallet,
        name: None,
    };
}

impl FromStr for LimitScope {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        let (kind, name) = match text.split_once(':') {
            None if text == "wallet" => return Ok(Self::WALLET),
            Some(("member", name)) => (ScopeKind::Member, name),
            Some(("feature", name)) => (ScopeKind::Feature, name),
            Some(("key", name)) => (ScopeKind::Key, name),
            _ => {
                let message = "A scope is wallet, or member:, feature: or key: with a name or *.";
                return Err(TextError(message));
            }
        };
        if name == "*" {
            return Ok(Self { kind, name: None });
        }
        match kind {
            ScopeKind::Key if name.parse::<KeyId>().is_err() => {
                return Err(TextError("A scope of a key names it by its id: key:key_…"));
            }
            _ => Member::new(name)?,
        };
        Ok(Self {
            kind,
            name: Some(name.into()),
        })
    }
}

impl fmt::Display for LimitScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            ScopeKind::Wallet => return f.write_str("wallet"),
            ScopeKind::Member => "member",
            ScopeKind::Feature => "feature",
            ScopeKind::Key => "key",
        };
        write!(f, "{kind}:{}", self.name.as_deref().unwrap_or("*"))
    }
}

impl Serialize for LimitScope {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for LimitScope {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text: Box<str> = Deserialize::deserialize(from)?;
        text.parse().map_err(D::Error::custom)
    }
}
