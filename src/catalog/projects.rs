//! Making and changing a project.

use domain::{
    Timestamp,
    catalog::{CreationLimit, Mode, Project},
    id::ProjectId,
};

use super::{Error, new_id, rules};

/// Characters of a name.
pub(super) const MAX_NAME: usize = 200;
/// Seconds in a leap year: the longest window of a limit.
const MAX_WINDOW_SECONDS: u32 = 366 * 24 * 3600;
const MAX_GRACE_DAYS: i64 = 365;

/// A project to make.
#[derive(Debug, Clone, Default)]
pub struct NewProject {
    /// 1 to 200 characters.
    pub name: String,
    /// How its wallets are addressed.
    pub mode: Mode,
}

impl NewProject {
    pub(super) fn decide(self, now: Timestamp) -> Result<Project, Error> {
        rules::text("name", &self.name, MAX_NAME)?;
        Ok(Project::new(ProjectId(new_id()), self.name, self.mode, now))
    }
}

/// What to change of a project; `None` leaves it, `Some(None)` clears it.
#[derive(Debug, Clone, Default)]
pub struct ProjectChange {
    /// 1 to 200 characters.
    pub name: Option<String>,
    /// How its wallets are addressed.
    pub mode: Option<Mode>,
    /// Origins that a publishable key may redirect to.
    pub allowed_origins: Option<Vec<String>>,
    /// Anonymous wallets per project.
    pub wallet_creation_limit: Option<Option<CreationLimit>>,
    /// Anonymous wallets per client address.
    pub wallet_creation_limit_per_ip: Option<Option<CreationLimit>>,
    /// Whether anonymous wallets get free grants.
    pub free_grants_for_code_wallets: Option<bool>,
    /// 0 to 365.
    pub subscription_grace_days: Option<u32>,
}

impl ProjectChange {
    pub(super) fn decide(self, mut project: Project) -> Result<Project, Error> {
        if let Some(name) = self.name {
            rules::text("name", &name, MAX_NAME)?;
            project.name = name;
        }
        if let Some(origins) = self.allowed_origins {
            project.allowed_origins = rules::origins(&origins)?;
        }
        if let Some(limit) = self.wallet_creation_limit {
            project.wallet_creation_limit = checked("walletCreationLimit", limit)?;
        }
        if let Some(limit) = self.wallet_creation_limit_per_ip {
            project.wallet_creation_limit_per_ip = checked("walletCreationLimitPerIp", limit)?;
        }
        if let Some(days) = self.subscription_grace_days {
            rules::within("subscriptionGraceDays", days.into(), 0, MAX_GRACE_DAYS)?;
            project.subscription_grace_days = days;
        }
        project.mode = self.mode.unwrap_or(project.mode);
        project.free_grants_for_code_wallets = self
            .free_grants_for_code_wallets
            .unwrap_or(project.free_grants_for_code_wallets);
        Ok(project)
    }
}

fn checked(param: &str, limit: Option<CreationLimit>) -> Result<Option<CreationLimit>, Error> {
    if let Some(CreationLimit {
        max,
        window_seconds,
    }) = limit
    {
        rules::within(&format!("{param}.max"), max.into(), 1, u32::MAX.into())?;
        let longest = MAX_WINDOW_SECONDS.into();
        rules::within(
            &format!("{param}.windowSeconds"),
            window_seconds.into(),
            1,
            longest,
        )?;
    }
    Ok(limit)
}
