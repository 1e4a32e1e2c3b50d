//! The URL of a database, which has a password in it.

use std::fmt;

use cluster::Origin;
use serde::{Deserialize, Deserializer, de::Error as _};

/// See the module. It is shown by nothing.
#[derive(Clone, PartialEq, Eq)]
pub struct DatabaseUrl(Box<str>);

impl DatabaseUrl {
    /// The URL, with its password.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DatabaseUrl(..)")
    }
}

/// An empty text stands for none. The error does not repeat the text.
pub(super) fn empty_is_none<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<DatabaseUrl>, D::Error> {
    let text = String::deserialize(from)?;
    match text.is_empty() {
        true => Ok(None),
        false
            if ["postgres://", "postgresql://"]
                .iter()
                .any(|scheme| text.starts_with(scheme)) =>
        {
            Ok(Some(DatabaseUrl(text.into())))
        }
        false => Err(D::Error::custom("storage.url begins with postgres://")),
    }
}

/// An empty text stands for no address.
pub(super) fn empty_origin_is_none<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<Origin>, D::Error> {
    let text = String::deserialize(from)?;
    match text.is_empty() {
        true => Ok(None),
        false => text
            .parse()
            .map(Some)
            .map_err(|error| D::Error::custom(format!("cluster.address: {error}"))),
    }
}
