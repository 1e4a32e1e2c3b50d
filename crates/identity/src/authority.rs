//! What each role allows, and in which projects.

use std::collections::BTreeSet;

use domain::id::{ProjectId, UserId};
use serde::{Deserialize, Serialize};

/// What somebody is to the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Everything, in all projects.
    Owner,
    /// Everything within the projects but their payment providers.
    Operator,
    /// Helps customers: sees everything of the projects, grants, refunds, replaces codes.
    Support,
    /// Reads, but neither codes nor secrets.
    Viewer,
}

/// What a request needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Privilege {
    /// To read what is no secret.
    Read,
    /// To help customers: grants, deductions, refunds, recovery codes.
    Support,
    /// To change a project: its catalog, keys, webhooks and settings.
    Manage,
    /// To decide about the service: users, projects, payment providers, backups, the cluster.
    Own,
}

impl Role {
    /// All roles, from the one with the most permissions to the one with the fewest.
    pub const ALL: [Self; 4] = [Self::Owner, Self::Operator, Self::Support, Self::Viewer];

    /// Its name as the admin API has it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Owner => "owner",
            Self::Operator => "operator",
            Self::Support => "support",
            Self::Viewer => "viewer",
        }
    }

    /// The widest permission that it has; all narrower ones go with it.
    const fn widest(self) -> Privilege {
        match self {
            Self::Owner => Privilege::Own,
            Self::Operator => Privilege::Manage,
            Self::Support => Privilege::Support,
            Self::Viewer => Privilege::Read,
        }
    }
}

/// The projects that somebody works with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ProjectScope {
    /// All, also those made later.
    All,
    /// These alone: others do not exist for them.
    Some(BTreeSet<ProjectId>),
}

impl ProjectScope {
    pub fn includes(&self, project: ProjectId) -> bool {
        match self {
            Self::All => true,
            Self::Some(some) => some.contains(&project),
        }
    }
}

/// Who makes a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Holder {
    Administrator,
    User {
        /// The identifier of the user.
        id: UserId,
        /// What the user is called.
        name: String,
    },
}

/// Who makes a request, and what they may do. Looked up at each request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Authority {
    pub holder: Holder,
    pub role: Role,
    pub projects: ProjectScope,
    /// The most credits that they may grant in a day.
    pub grant_limit_per_day: Option<i64>,
    /// The most that they may refund in a day, in the currencies' minor units.
    pub refund_limit_cents_per_day: Option<i64>,
}

/// Why somebody may not do something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Denial {
    /// The project does not exist for them.
    NoSuchProject,
    Role,
}

impl Authority {
    /// That of the administrator's token: everything.
    pub const fn administrator() -> Self {
        Self {
            holder: Holder::Administrator,
            role: Role::Owner,
            projects: ProjectScope::All,
            grant_limit_per_day: None,
            refund_limit_cents_per_day: None,
        }
    }

    /// Decides whether they may do what needs this permission, in a project or beside all. Beside all projects, those
    /// who work with some of them alone may read.
    /// # Errors
    /// They may not.
    pub fn check(&self, permission: Privilege, project: Option<ProjectId>) -> Result<(), Denial> {
        if project.is_some_and(|project| !self.projects.includes(project)) {
            return Err(Denial::NoSuchProject);
        }
        let is_beside = project.is_none() && self.projects != ProjectScope::All;
        let widest = match is_beside {
            true => Privilege::Read,
            false => self.role.widest(),
        };
        match permission <= widest {
            true => Ok(()),
            false => Err(Denial::Role),
        }
    }

    /// Whether they may do what needs this permission, as [`Self::check`] decides.
    pub fn may(&self, permission: Privilege, project: Option<ProjectId>) -> bool {
        self.check(permission, project).is_ok()
    }

    /// What the audit log calls them.
    pub fn name(&self) -> String {
        match &self.holder {
            Holder::Administrator => "administrator's token".into(),
            Holder::User { id, name } => format!("{name} ({id})"),
        }
    }

    /// What pages call them.
    pub fn label(&self) -> &str {
        match &self.holder {
            Holder::Administrator => "Administrator",
            Holder::User { name, .. } => name,
        }
    }

    /// The user, unless it is the administrator's token.
    pub const fn user(&self) -> Option<UserId> {
        match &self.holder {
            Holder::Administrator => None,
            Holder::User { id, .. } => Some(*id),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: ProjectId = ProjectId(1);
    const ELSEWHERE: ProjectId = ProjectId(2);

    fn authority(role: Role, projects: ProjectScope) -> Authority {
        Authority {
            role,
            projects,
            ..Authority::administrator()
        }
    }

    #[test]
    fn each_role_may_do_what_the_table_says() {
        use Privilege::{Manage, Own, Read, Support};
        let table = [
            (Role::Owner, [true, true, true, true]),
            (Role::Operator, [true, true, true, false]),
            (Role::Support, [true, true, false, false]),
            (Role::Viewer, [true, false, false, false]),
        ];
        for (role, expected) in table {
            let someone = authority(role, ProjectScope::All);
            for place in [None, Some(HERE)] {
                let may = [Read, Support, Manage, Own].map(|needed| someone.may(needed, place));
                assert_eq!(may, expected, "{role:?} {place:?}");
            }
        }
        assert_eq!(table.map(|(role, _)| role), Role::ALL);
    }

    #[test]
    fn another_project_does_not_exist_and_beside_all_of_them_one_may_only_read() {
        let only = || ProjectScope::Some([HERE].into());
        for role in Role::ALL {
            let someone = authority(role, only());
            for needed in [Privilege::Read, Privilege::Support, Privilege::Own] {
                let refused = someone.check(needed, Some(ELSEWHERE));
                assert_eq!(refused, Err(Denial::NoSuchProject), "{role:?} {needed:?}");
            }
            assert_eq!(someone.check(Privilege::Read, Some(HERE)), Ok(()));
            assert_eq!(someone.check(Privilege::Read, None), Ok(()));
            assert_eq!(someone.check(Privilege::Support, None), Err(Denial::Role));
        }
        let operator = authority(Role::Operator, only());
        assert!(operator.may(Privilege::Manage, Some(HERE)));
    }
}
