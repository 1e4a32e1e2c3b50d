//! A user, as stored, and changes of one.

use domain::{
    id::{ProjectId, UserId},
    text::Email,
};
use serde::{Deserialize, Serialize};

use crate::{Authority, BoundIdentity, Error, Holder, ProjectScope, Role, password::PasswordHash};

const MAX_NAME: usize = 200;
const MAX_PROJECTS: usize = 100;

/// Somebody who works with the dashboard.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct User {
    pub id: UserId,
    pub name: String,
    /// Their e-mail address, by which they sign in.
    pub email: String,
    pub role: Role,
    pub projects: ProjectScope,
    /// The most credits that they may grant in a day; `None`: no limit.
    pub grant_limit_per_day: Option<i64>,
    /// The most that they may refund in a day, in the currencies' minor units; `None`: no limit.
    pub refund_limit_cents_per_day: Option<i64>,
    /// Whether their access was removed.
    pub disabled: bool,
    /// When they were invited, in milliseconds.
    pub created_at: i64,
    /// Who they are at an identity provider, by which they can sign in.
    pub identity: Option<BoundIdentity>,
    /// Rises with each change of what is above.
    pub version: u64,
    pub(crate) password: Option<PasswordHash>,
    pub(crate) second_factor: Option<SecondFactor>,
    pub(crate) invitation: Option<Invitation>,
}

/// What is stored of a second factor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SecondFactor {
    /// The secret, encrypted under the server key.
    pub(crate) sealed: String,
    /// The step of the last code that was used.
    pub(crate) used: Option<i64>,
    /// Hashes of the recovery codes that were not used.
    pub(crate) recovery: Vec<String>,
}

/// A link that was sent to a user, by which a password is set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Invitation {
    /// SHA-256 of its secret, in hexadecimal digits.
    pub(crate) hash: String,
    /// Until when it is valid, in milliseconds.
    pub(crate) until: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UserState {
    /// They have neither set a password nor signed in by an identity provider yet.
    Invited,
    Active,
    /// Their access was removed.
    Disabled,
}

impl UserState {
    /// Its name as the admin API has it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Invited => "invited",
            Self::Active => "active",
            Self::Disabled => "disabled",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewUser {
    pub name: String,
    pub email: String,
    pub role: Role,
    /// Where they may do it; `None`: everywhere.
    pub projects: Option<Vec<ProjectId>>,
    /// The most credits that they may grant in a day.
    pub grant_limit_per_day: Option<i64>,
    pub refund_limit_cents_per_day: Option<i64>,
}

/// What to change of a user; `None` leaves it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UserChange {
    pub name: Option<String>,
    pub email: Option<String>,
    pub role: Option<Role>,
    /// Where they may do it; `Some(None)`: everywhere.
    pub projects: Option<Option<Vec<ProjectId>>>,
    /// The most credits that they may grant in a day.
    pub grant_limit_per_day: Option<Option<i64>>,
    pub refund_limit_cents_per_day: Option<Option<i64>>,
    /// Whether their access was removed.
    pub disabled: Option<bool>,
    /// Who they are at an identity provider; `Some(None)`: nobody.
    pub identity: Option<Option<BoundIdentity>>,
}

impl User {
    pub const fn state(&self) -> UserState {
        match (self.disabled, &self.password, &self.identity) {
            (true, ..) => UserState::Disabled,
            (false, None, None) => UserState::Invited,
            (false, ..) => UserState::Active,
        }
    }

    /// What they may do; `None`: their access was removed.
    pub fn authority(&self) -> Option<Authority> {
        (!self.disabled).then(|| Authority {
            holder: Holder::User {
                id: self.id,
                name: self.name.clone(),
            },
            role: self.role,
            projects: self.projects.clone(),
            grant_limit_per_day: self.grant_limit_per_day,
            refund_limit_cents_per_day: self.refund_limit_cents_per_day,
        })
    }

    /// The user with a change.
    /// # Errors
    /// [`Error::Invalid`], about the first field that cannot be taken.
    pub(crate) fn changed(&self, change: UserChange) -> Result<Self, Error> {
        let changed = Self {
            name: change
                .name
                .map_or_else(|| self.name.clone(), |name| name.trim().to_owned()),
            email: change
                .email
                .map_or_else(|| self.email.clone(), |email| address(&email)),
            role: change.role.unwrap_or(self.role),
            projects: match change.projects {
                Some(projects) => scope(projects)?,
                None => self.projects.clone(),
            },
            grant_limit_per_day: change
                .grant_limit_per_day
                .unwrap_or(self.grant_limit_per_day),
            refund_limit_cents_per_day: change
                .refund_limit_cents_per_day
                .unwrap_or(self.refund_limit_cents_per_day),
            disabled: change.disabled.unwrap_or(self.disabled),
            identity: change.identity.unwrap_or_else(|| self.identity.clone()),
            version: self.version.saturating_add(1),
            ..self.clone()
        };
        changed.checked()
    }

    /// A user as invited.
    /// # Errors
    /// As for [`Self::changed`].
    pub(crate) fn new(id: UserId, new: NewUser, now: i64) -> Result<Self, Error> {
        let user = Self {
            id,
            name: new.name.trim().to_owned(),
            email: address(&new.email),
            role: new.role,
            projects: scope(new.projects)?,
            grant_limit_per_day: new.grant_limit_per_day,
            refund_limit_cents_per_day: new.refund_limit_cents_per_day,
            disabled: false,
            created_at: now,
            identity: None,
            version: 1,
            password: None,
            second_factor: None,
            invitation: None,
        };
        user.checked()
    }

    /// An owner works with all projects.
    fn checked(mut self) -> Result<Self, Error> {
        if self.role == Role::Owner {
            self.projects = ProjectScope::All;
        }
        let invalid = |param, message| Err(Error::Invalid { param, message });
        let name = self.name.as_str();
        if name.is_empty() || name.chars().count() > MAX_NAME || name.chars().any(char::is_control)
        {
            return invalid("name", "This must be a line of 1 to 200 characters.");
        }
        if Email::new(self.email.as_str()).is_err() {
            return invalid("email", "This must be an e-mail address.");
        }
        for (param, limit) in [
            ("grantLimitPerDay", self.grant_limit_per_day),
            ("refundLimitCentsPerDay", self.refund_limit_cents_per_day),
        ] {
            if limit.is_some_and(|limit| limit < 0) {
                return invalid(param, "This must be 0 or more.");
            }
        }
        if let Some(identity) = &self.identity {
            identity.check()?;
        }
        Ok(self)
    }
}

/// An e-mail address as it is stored and compared.
pub(crate) fn address(email: &str) -> String {
    email.trim().to_ascii_lowercase()
}

/// Those of an owner, who works with all projects, are within bounds, too.
fn scope(projects: Option<Vec<ProjectId>>) -> Result<ProjectScope, Error> {
    let Some(some) = projects else {
        return Ok(ProjectScope::All);
    };
    if some.is_empty() || some.len() > MAX_PROJECTS {
        return Err(Error::Invalid {
            param: "projects",
            message: "Name 1 to 100 projects, or leave it out for all.",
        });
    }
    Ok(ProjectScope::Some(some.into_iter().collect()))
}

actors::note_kinds! {
    /// A user, by their identifier.
    pub struct UserNote: 32, "user", UserId => User, |id, user| user.id == *id;
}
