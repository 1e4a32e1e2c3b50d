//! Errors of users, sessions and approvals.

/// Why a change was refused or failed. Nothing was changed, except perhaps under [`Error::Log`].
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Error {
    /// A field cannot be taken.
    #[error("{param}: {message}")]
    Invalid {
        /// The field as the API names it.
        param: &'static str,
        /// What is wrong with it, in a sentence.
        message: &'static str,
    },
    /// There is no such user.
    #[error("no such user")]
    UserNotFound,
    /// Another user has this e-mail address.
    #[error("another user has this e-mail address")]
    EmailTaken,
    /// Another user is bound to this identity.
    #[error("another user is bound to this identity")]
    IdentityTaken,
    /// There are as many users as there may be.
    #[error("there are too many users")]
    TooManyUsers,
    /// The user was changed since it was read.
    #[error("changed since it was read")]
    ChangedMeanwhile,
    /// The invitation was used, has expired or never existed.
    #[error("the invitation is not valid")]
    NoInvitation,
    /// The code of the second factor is wrong or was used before.
    #[error("the code is wrong or was used before")]
    WrongCode,
    /// It is more than they may give today.
    #[error("at most {left} more may be given today")]
    DailyLimitExceeded {
        /// The rest of the limit: credits, or an amount in the currency's minor unit.
        left: i64,
    },
    /// It was answered, has expired or never existed.
    #[error("no such request")]
    ApprovalNotFound,
    /// Somebody else is answering the request.
    #[error("the request is being answered")]
    ApprovalInProgress,
    /// Too many requests of the project are pending.
    #[error("too many requests are pending")]
    TooManyApprovals,
    /// Too many sign-ins are being checked.
    #[error("too many sign-ins are being checked")]
    Busy,
    /// The operating system gave no random bytes, or a secret could not be opened.
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
