//! How an identity provider is asked.

use std::fmt;

use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Deserializer};

/// How an identity provider is asked; nobody signs in by one where no issuer is named.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OidcSettings {
    /// The provider's address, exactly as its discovery document has it; empty: none.
    pub issuer: String,
    /// The name of this service at the provider.
    pub client_id: String,
    pub client_secret: ClientSecret,
    /// What the button calls the provider; empty: by its host name.
    pub name: String,
}

/// A secret between this service and the provider, which nothing shows.
#[derive(Clone)]
pub struct ClientSecret(SecretString);

impl ClientSecret {
    /// Whether none is set.
    pub fn is_empty(&self) -> bool {
        self.reveal().is_empty()
    }

    /// The secret, for the provider alone.
    pub fn reveal(&self) -> &str {
        self.0.expose_secret()
    }
}

impl fmt::Debug for ClientSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ClientSecret(..)")
    }
}

impl PartialEq for ClientSecret {
    fn eq(&self, other: &Self) -> bool {
        self.reveal() == other.reveal()
    }
}

impl Eq for ClientSecret {}

impl From<&str> for ClientSecret {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl<'de> Deserialize<'de> for ClientSecret {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Ok(Self(String::deserialize(from)?.into()))
    }
}

impl OidcSettings {
    /// Whether a provider is named.
    pub fn is_set(&self) -> bool {
        !self.issuer.is_empty()
    }
}
