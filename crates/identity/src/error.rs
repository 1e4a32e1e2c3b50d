//! Errors of users, sessions and approvals.

/// Why a change was refused or failed. Nothing was changed, except perhaps under [`Error::Log`].
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Error {
    #[error("{param}: {message}")]
    Invalid {
        /// The field as the API names it.
        param: &'static str,
        /// What is wrong with it, in a sentence.
        message: &'static str,
    },
    #[error("no such user")]
    UserNotFound,
    #[error("another user has this e-mail address")]
    EmailTaken,
    #[error("another user is bound to this identity")]
    IdentityTaken,
    #[error("there are too many users")]
    TooManyUsers,
    #[error("changed since it was read")]
    ChangedMeanwhile,
    #[error("the invitation is not valid")]
    NoInvitation,
    #[error("the code is wrong or was used before")]
    WrongCode,
    #[error("at most {left} more may be given today")]
    DailyLimitExceeded {
        /// The rest of the limit: credits, or an amount in the currency's minor unit.
        left: i64,
    },
    #[error("no such request")]
    ApprovalNotFound,
    #[error("the request is being answered")]
    ApprovalInProgress,
    #[error("too many requests are pending")]
    TooManyApprovals,
    #[error("too many sign-ins are being checked")]
    Busy,
    #[error("a secret could not be made or opened")]
    Secret,
    /// The change was refused by the log, or may not have been logged.
    #[error(transparent)]
    Log(#[from] actors::Error),
}

impl From<catalog::Error> for Error {
    fn from(_: catalog::Error) -> Self {
        Self::Secret
    }
}
