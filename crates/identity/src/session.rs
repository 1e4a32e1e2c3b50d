//! A session, as requests and lists see it.

use catalog::sha256;
use data_encoding::HEXLOWER;
use domain::{
    Timestamp,
    id::{ProjectId, SessionId, UserId},
};
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq as _;

use crate::Authority;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The host name that the browser used for this server. The session is not valid under another.
    pub host: String,
    /// The client's address, which may change.
    pub address: String,
    /// What the browser calls itself.
    pub browser: String,
}

/// A key to be shown once, on a page of its project.
#[derive(Clone)]
pub struct NewKey {
    pub project: ProjectId,
    pub label: &'static str,
    /// The key itself, a secret.
    pub plain: String,
}

#[derive(Debug, Clone)]
pub struct ValidSession {
    /// Its name cannot be derived from it.
    pub id: SessionId,
    /// `None`: it is of the administrator's token.
    pub user: Option<UserId>,
    /// What its holder may do, if another cell answered that.
    pub borrowed: Option<Authority>,
    form: [u8; 32],
}

/// A session, as people see it in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionView {
    pub id: SessionId,
    /// Whose it is; `None`: of the administrator's token.
    pub user: Option<UserId>,
    pub origin: Origin,
    pub since: Timestamp,
    /// When it was last used, by the minute; after a restart, at least the restart.
    pub seen: Timestamp,
    /// When it ends at the latest.
    pub until: Timestamp,
}

impl ValidSession {
    pub(crate) fn new(
        id: SessionId,
        name: &str,
        user: Option<UserId>,
        borrowed: Option<Authority>,
    ) -> Self {
        Self {
            id,
            user,
            borrowed,
            form: sha256(format!("scrip/dashboard/form/1:{name}").as_bytes()),
        }
    }

    /// The token in every form of this session, which other sites cannot know.
    pub fn form_token(&self) -> String {
        HEXLOWER.encode(&self.form)
    }

    /// Whether a form's token is this session's.
    pub fn sent(&self, token: &str) -> bool {
        token.as_bytes().ct_eq(self.form_token().as_bytes()).into()
    }
}
