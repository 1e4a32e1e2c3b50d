//! Whose key or session it is.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Instant;

records! {
    /// Whose key or session it is.
    pub struct Identity {
        /// The project's identifier: `proj_…`
        pub project_id: String,
        /// The project's name.
        pub project: String,
        /// `credit_codes` or `external_users`
        #[cfg_attr(feature = "server", schema(example = "credit_codes"))]
        pub mode: String,
        /// `publishable`, `secret`, `restricted` or `session`
        #[cfg_attr(feature = "server", schema(example = "publishable"))]
        pub key_kind: String,
        /// The key's identifier: `key_…`; left out for a session.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub key_id: Option<String>,
        /// What a restricted key may do; left out for all others.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub can: Option<Vec<String>>,
        /// The session; left out for a key.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub session: Option<OwnSession>,
    }

    /// A session of a wallet.
    #[cfg_attr(feature = "server", schema(as = Session))]
    pub struct OwnSession {
        /// The caller's own id of the user; null where a recovery code opens the wallet.
        #[cfg_attr(feature = "server", schema(required = true))]
        pub external_user_id: Option<String>,
        /// What it may do: `read`, `checkout`, `portal`, `subscriptions`
        pub can: Vec<String>,
        /// When it ends.
        pub expires_at: Instant,
    }
}

/// A session, for the browser of the wallet's owner.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "server", derive(utoipa::ToSchema), schema(as = SessionToken))]
#[cfg_attr(not(feature = "server"), non_exhaustive)]
#[serde(rename_all = "camelCase")]
pub struct Session {
    /// The bearer token. It is shown here alone.
    #[cfg_attr(feature = "server", schema(example = "pay_ws_…"))]
    pub token: String,
    /// When it ends.
    pub expires_at: Instant,
}

// The token is a secret.
impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("expires_at", &self.expires_at)
            .finish_non_exhaustive()
    }
}
