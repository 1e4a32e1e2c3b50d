//! Who may address a wallet.

use serde::{Deserialize, Serialize};

use crate::{id::CodeHash, text::ExternalUserId};

/// Who may address a wallet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Owner {
    /// The caller's own user, with a secret key.
    External(ExternalUserId),
    /// The holder of the recovery code.
    Code {
        /// The keyed hash by which the code is found.
        hash: CodeHash,
        /// The code, encrypted under the server key.
        sealed: Box<[u8]>,
    },
    /// Nobody yet: an order without a wallet waits here for its payment, which mints a code.
    Order,
}
