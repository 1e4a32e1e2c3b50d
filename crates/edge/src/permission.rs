//! Permissions as types, by which a handler's signature says what its caller has to be allowed; and how the refusals of
//! [`people`] are answered.

use domain::id::ProjectId;
use identity::{Authority, Denial, Privilege};
use wire::{Error, ErrorCode};

/// A permission as a type.
pub trait Needs: Send + Sync {
    /// The same permission as a value.
    const PRIVILEGE: Privilege;
}

macro_rules! needs {
    ($($(#[$doc:meta])* $name:ident;)*) => { $(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy)]
        pub struct $name;

        impl Needs for $name {
            const PRIVILEGE: Privilege = Privilege::$name;
        }
    )* };
}

needs! {
    /// To read what is no secret.
    Read;
    /// To help customers: grants, deductions, refunds, recovery codes.
    Support;
    /// To change a project: its catalog, keys, webhooks and settings.
    Manage;
    /// To decide about the service: users, projects, payment providers, backups, the cluster.
    Own;
}

/// Lets somebody go on who may do what needs the permission `P`.
/// # Errors
/// `project_not_found` where the project does not exist for them, `role_forbidden` where their role does not allow it.
pub fn allow<P: Needs>(authority: &Authority, project: Option<ProjectId>) -> Result<(), Error> {
    let allowed = authority.check(P::PRIVILEGE, project);
    allowed.map_err(|refusal| {
        Error::new(match refusal {
            Denial::NoSuchProject => ErrorCode::ProjectNotFound,
            Denial::Role => ErrorCode::RoleForbidden,
        })
    })
}

/// The answer to a change of people that was refused.
#[must_use]
pub fn refused(error: identity::Error) -> Error {
    use identity::Error as People;
    match error {
        People::Invalid { param, message } => Error::invalid(param, message),
        People::UserNotFound => Error::new(ErrorCode::UserNotFound),
        People::EmailTaken => Error::about("email", ErrorCode::EmailTaken),
        People::IdentityTaken => Error::about("identity", ErrorCode::IdentityTaken),
        People::ApprovalNotFound => Error::new(ErrorCode::ApprovalNotFound),
        People::ApprovalInProgress => Error::new(ErrorCode::ApprovalInProgress),
        People::TooManyApprovals => Error::new(ErrorCode::TooManyApprovals),
        People::TooManyUsers => Error::new(ErrorCode::TooManyUsers),
        People::ChangedMeanwhile => Error::new(ErrorCode::ChangedMeanwhile),
        People::NoInvitation => Error::new(ErrorCode::InvitationNotFound),
        People::WrongCode => Error::invalid("code", "This code is not valid."),
        People::DailyLimitExceeded { left } => {
            let message = format!("Daily limit exceeded: {left} is left today.");
            Error::new(ErrorCode::DailyLimitExceeded).saying(message)
        }
        People::Busy | People::Log(actors::Error::Overloaded) => Error::new(ErrorCode::Overloaded),
        People::Secret => Error::new(ErrorCode::InternalError),
        People::Log(_) => Error::new(ErrorCode::Unavailable),
    }
}
