//! Who may address a wallet.

use domain::{id::CodeHash, text::ExternalUserId, wallet};
use serde::{Deserialize, Serialize};

use super::read::text;
use crate::contract::Error;

/// Numbered by the order in which they stand here.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum Owner<'a> {
    External(&'a str),
    Code { hash: [u8; 16], sealed: &'a [u8] },
    Order,
}

impl<'a> From<&'a wallet::Owner> for Owner<'a> {
    fn from(from: &'a wallet::Owner) -> Self {
        match from {
            wallet::Owner::External(user) => Self::External(user.as_str()),
            wallet::Owner::Code { hash, sealed } => Self::Code {
                hash: hash.0,
                sealed,
            },
            wallet::Owner::Order => Self::Order,
        }
    }
}

impl TryFrom<Owner<'_>> for wallet::Owner {
    type Error = Error;

    fn try_from(from: Owner<'_>) -> Result<Self, Error> {
        Ok(match from {
            Owner::External(user) => Self::External(text(user, ExternalUserId::new)?),
            Owner::Code { hash, sealed } => Self::Code {
                hash: CodeHash(hash),
                sealed: sealed.into(),
            },
            Owner::Order => Self::Order,
        })
    }
}
