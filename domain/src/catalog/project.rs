//! A project: a tenant and its settings.

use serde::{Deserialize, Serialize};

use super::{
    CheckoutChange, CheckoutSettings, Origin, Refusal,
    rules::{self, MAX_NAME},
};
use crate::{id::ProjectId, time::Timestamp};

/// So that any document fits one append of the log.
const MAX_ORIGINS: usize = 100;
/// Seconds in a leap year: the longest window of a limit.
const MAX_WINDOW_SECONDS: u32 = 366 * 24 * 3600;
const MAX_GRACE_DAYS: i64 = 365;

/// How a project's wallets are addressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Anonymous code wallets, and external ones.
    #[default]
    CreditCodes,
    /// External wallets only.
    ExternalUsers,
}

/// So many in so long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CreationLimit {
    /// Wallets, at least 1.
    pub max: u32,
    /// Seconds, 1 to those of a leap year.
    pub window_seconds: u32,
}

/// A tenant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Project {
    /// Its identifier.
    pub id: ProjectId,
    /// Its name, 1 to 200 characters.
    pub name: String,
    /// How its wallets are addressed.
    pub mode: Mode,
    /// Where a publishable key may redirect to, each as [`Origin`] writes it; empty: anywhere.
    pub allowed_origins: Vec<String>,
    /// Anonymous wallets per project; `None`: no limit.
    pub wallet_creation_limit: Option<CreationLimit>,
    /// Anonymous wallets per client address; `None`: no limit.
    pub wallet_creation_limit_per_ip: Option<CreationLimit>,
    /// Whether anonymous wallets get free grants.
    pub free_grants_for_code_wallets: bool,
    /// Days for which a past-due subscription keeps its features, 0 to 365.
    pub subscription_grace_days: u32,
    /// What the provider's checkout asks for beside the money.
    pub checkout: CheckoutSettings,
    /// When it was made.
    pub created_at: Timestamp,
}

impl Project {
    /// A project with the documented defaults.
    #[must_use]
    pub const fn new(id: ProjectId, name: String, mode: Mode, created_at: Timestamp) -> Self {
        Self {
            id,
            name,
            mode,
            allowed_origins: Vec::new(),
            wallet_creation_limit: Some(CreationLimit {
                max: 1000,
                window_seconds: 3600,
            }),
            wallet_creation_limit_per_ip: Some(CreationLimit {
                max: 100,
                window_seconds: 3600,
            }),
            free_grants_for_code_wallets: true,
            subscription_grace_days: 7,
            checkout: CheckoutSettings::NONE,
            created_at,
        }
    }

    /// Holds its settings against the rules.
    pub(super) fn check(&self) -> Result<(), Refusal> {
        rules::text("name", &self.name, MAX_NAME)?;
        origins_count(self.allowed_origins.len())?;
        let mut origins = self.allowed_origins.iter();
        if let Some(at) = origins.position(|text| Origin::new(text).is_none()) {
            return Err(Origin::refusal(at));
        }
        creation_limits(
            self.wallet_creation_limit,
            self.wallet_creation_limit_per_ip,
        )?;
        grace_days(self.subscription_grace_days)
    }
}

/// A project to make.
#[derive(Debug, Clone, Default)]
pub struct NewProject {
    /// 1 to 200 characters.
    pub name: String,
    /// How its wallets are addressed.
    pub mode: Mode,
}

impl NewProject {
    /// The project with the documented defaults.
    ///
    /// # Errors
    ///
    /// [`Refusal::Invalid`] for `name`.
    pub fn decide(self, id: ProjectId, now: Timestamp) -> Result<Project, Refusal> {
        rules::text("name", &self.name, MAX_NAME)?;
        Ok(Project::new(id, self.name, self.mode, now))
    }
}

/// What to change of a project; `None` leaves it, `Some(None)` clears it.
#[derive(Debug, Clone, Default)]
pub struct ProjectChange {
    /// 1 to 200 characters.
    pub name: Option<String>,
    /// How its wallets are addressed.
    pub mode: Option<Mode>,
    /// Where a publishable key may redirect to; at most 100, and none: anywhere.
    pub allowed_origins: Option<Vec<Origin>>,
    /// Anonymous wallets per project.
    pub wallet_creation_limit: Option<Option<CreationLimit>>,
    /// Anonymous wallets per client address.
    pub wallet_creation_limit_per_ip: Option<Option<CreationLimit>>,
    /// Whether anonymous wallets get free grants.
    pub free_grants_for_code_wallets: Option<bool>,
    /// 0 to 365.
    pub subscription_grace_days: Option<u32>,
    /// What the provider's checkout asks for beside the money.
    pub checkout: CheckoutChange,
}

impl ProjectChange {
    /// What is wrong with it whatever project it is for.
    ///
    /// # Errors
    ///
    /// [`Refusal::Invalid`] for the first setting out of its bounds.
    pub fn check(&self) -> Result<(), Refusal> {
        rules::optional_text("name", self.name.as_deref(), MAX_NAME)?;
        origins_count(self.allowed_origins.as_ref().map_or(0, Vec::len))?;
        creation_limits(
            self.wallet_creation_limit.flatten(),
            self.wallet_creation_limit_per_ip.flatten(),
        )?;
        self.subscription_grace_days.map_or(Ok(()), grace_days)
    }

    /// The project as it will be. An origin that is there twice is kept once.
    ///
    /// # Errors
    ///
    /// As [`check`](Self::check).
    pub fn decide(self, old: &Project) -> Result<Project, Refusal> {
        self.check()?;
        let mut project = old.clone();
        if let Some(origins) = self.allowed_origins {
            project.allowed_origins.clear();
            for origin in origins {
                let origin = origin.as_str().to_owned();
                if !project.allowed_origins.contains(&origin) {
                    project.allowed_origins.push(origin);
                }
            }
        }
        Ok(Project {
            name: self.name.unwrap_or(project.name),
            mode: self.mode.unwrap_or(project.mode),
            wallet_creation_limit: self
                .wallet_creation_limit
                .unwrap_or(project.wallet_creation_limit),
            wallet_creation_limit_per_ip: self
                .wallet_creation_limit_per_ip
                .unwrap_or(project.wallet_creation_limit_per_ip),
            free_grants_for_code_wallets: self
                .free_grants_for_code_wallets
                .unwrap_or(project.free_grants_for_code_wallets),
            subscription_grace_days: self
                .subscription_grace_days
                .unwrap_or(project.subscription_grace_days),
            checkout: self.checkout.decide(project.checkout),
            ..project
        })
    }
}

fn origins_count(count: usize) -> Result<(), Refusal> {
    if count <= MAX_ORIGINS {
        return Ok(());
    }
    let message = format!("A project allows at most {MAX_ORIGINS} origins.");
    Err(Refusal::invalid("allowedOrigins", message))
}

fn creation_limits(
    project: Option<CreationLimit>,
    per_ip: Option<CreationLimit>,
) -> Result<(), Refusal> {
    for (param, limit) in [
        ("walletCreationLimit", project),
        ("walletCreationLimitPerIp", per_ip),
    ] {
        let Some(limit) = limit else { continue };
        let (max, window) = (limit.max.into(), limit.window_seconds.into());
        rules::within(&format!("{param}.max"), max, 1, u32::MAX.into())?;
        let longest = MAX_WINDOW_SECONDS.into();
        rules::within(&format!("{param}.windowSeconds"), window, 1, longest)?;
    }
    Ok(())
}

fn grace_days(days: u32) -> Result<(), Refusal> {
    rules::within("subscriptionGraceDays", days.into(), 0, MAX_GRACE_DAYS)
}
