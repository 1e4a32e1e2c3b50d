//! An identity at a provider, as a user is bound to it.

use serde::{Deserialize, Serialize};

use crate::Error;

/// The most characters of an issuer's address.
const MAX_ISSUER: usize = 512;
/// The most characters of a subject, as OpenID Connect has it.
const MAX_SUBJECT: usize = 255;

/// Who a user is at an identity provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BoundIdentity {
    /// The provider's address.
    pub issuer: String,
    /// Its name for the user, which it gives to nobody else.
    pub subject: String,
}

impl BoundIdentity {
    /// Refuses what no provider sends.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let is_line = |text: &str, most| {
            !text.trim().is_empty()
                && text.chars().count() <= most
                && !text.chars().any(char::is_control)
        };
        match is_line(&self.issuer, MAX_ISSUER) && is_line(&self.subject, MAX_SUBJECT) {
            true => Ok(()),
            false => Err(Error::Invalid {
                param: "identity",
                message: "These must be the provider's address and its subject, a line each.",
            }),
        }
    }
}
