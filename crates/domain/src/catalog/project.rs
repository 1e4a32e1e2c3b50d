//! A project: a tenant and its settings.

use serde::{Deserialize, Serialize};

use super::{
    CheckoutChange, CheckoutSettings, MailChange, MailSettings, Origin, Refusal,
    rules::{self, MAX_NAME},
};
use crate::{id::ProjectId, time::Timestamp};

/// The most origins, so that any document fits one append of the log.
const MAX_ORIGINS: usize = 100;
/// The longest window of a limit: a leap year, in seconds.
const MAX_WINDOW_SECONDS: u32 = 366 * 24 * 3600;
const MAX_GRACE_DAYS: i64 = 365;
/// The largest number that every JSON parser reads exactly.
const MAX_APPROVAL: i64 = (1 << 53) - 1;

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

/// A limit of wallets created within a window of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CreationLimit {
    /// The most wallets within a window, at least 1.
    pub max: u32,
    /// The window's length in seconds, up to a leap year.
    pub window_seconds: u32,
}

/// What needs approval by a second person in the dashboard; `None` for no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ApprovalRules {
    /// Refunds of more than this, in the currency's minor unit, need approval.
    pub above_cents: Option<i64>,
    /// Grants of more credits than this need approval.
    pub above_credits: Option<i64>,
}

impl ApprovalRules {
    /// Nothing needs approval.
    pub const NONE: Self = Self {
        above_cents: None,
        above_credits: None,
    };
}

/// A tenant: wallets and a catalog of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the fields say what they are")]
pub struct Project {
    pub id: ProjectId,
    /// Its name, 1 to 200 characters.
    pub name: String,
    pub mode: Mode,
    /// Where a publishable key may redirect to, each as [`Origin`] writes it; empty for anywhere.
    pub allowed_origins: Vec<String>,
    /// Limit of new anonymous wallets in the project; `None`: no limit.
    pub wallet_creation_limit: Option<CreationLimit>,
    /// Limit of new anonymous wallets per client address; `None`: no limit.
    pub wallet_creation_limit_per_ip: Option<CreationLimit>,
    pub free_grants_for_code_wallets: bool,
    /// Days for which a past-due subscription keeps its features, 0 to 365.
    pub subscription_grace_days: u32,
    /// What the provider's checkout asks for besides the payment.
    pub checkout: CheckoutSettings,
    /// Which mails its customers get, and how they look.
    pub mails: MailSettings,
    /// What needs approval by a second person.
    pub approval: ApprovalRules,
    pub created_at: Timestamp,
    /// Whether it is archived: nothing is sold or spent, and lists omit it.
    pub archived: bool,
}

impl Project {
    /// A project with the documented defaults.
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
            mails: MailSettings::NONE,
            approval: ApprovalRules::NONE,
            created_at,
            archived: false,
        }
    }

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
        approval_rules(self.approval)?;
        self.mails.check()?;
        grace_days(self.subscription_grace_days)
    }
}

/// A request to create a project.
#[derive(Debug, Clone, Default)]
#[expect(missing_docs, reason = "the fields are those of Project")]
pub struct NewProject {
    pub name: String,
    pub mode: Mode,
}

impl NewProject {
    /// The new project, with the documented defaults.
    /// # Errors
    /// [`Refusal::Invalid`] for `name`.
    pub fn decide(self, id: ProjectId, now: Timestamp) -> Result<Project, Refusal> {
        rules::text("name", &self.name, MAX_NAME)?;
        Ok(Project::new(id, self.name, self.mode, now))
    }
}

/// A change of a project; `None` leaves a setting as it is, `Some(None)` clears it.
#[derive(Debug, Clone, Default)]
#[expect(missing_docs, reason = "the fields are those of Project")]
pub struct ProjectChange {
    pub name: Option<String>,
    pub mode: Option<Mode>,
    pub allowed_origins: Option<Vec<Origin>>,
    pub wallet_creation_limit: Option<Option<CreationLimit>>,
    pub wallet_creation_limit_per_ip: Option<Option<CreationLimit>>,
    pub free_grants_for_code_wallets: Option<bool>,
    pub subscription_grace_days: Option<u32>,
    pub checkout: CheckoutChange,
    pub mails: MailChange,
    pub approval_above_cents: Option<Option<i64>>,
    pub approval_above_credits: Option<Option<i64>>,
    pub archived: Option<bool>,
}

impl ProjectChange {
    /// Checks the change by itself.
    /// # Errors
    /// [`Refusal::Invalid`] for the first setting out of its bounds.
    pub fn check(&self) -> Result<(), Refusal> {
        rules::optional_text("name", self.name.as_deref(), MAX_NAME)?;
        origins_count(self.allowed_origins.as_ref().map_or(0, Vec::len))?;
        creation_limits(
            self.wallet_creation_limit.flatten(),
            self.wallet_creation_limit_per_ip.flatten(),
        )?;
        approval_rules(ApprovalRules {
            above_cents: self.approval_above_cents.flatten(),
            above_credits: self.approval_above_credits.flatten(),
        })?;
        self.subscription_grace_days.map_or(Ok(()), grace_days)
    }

    /// The project after the change. An origin that is listed twice is kept once.
    /// # Errors
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
            mails: self.mails.decide(project.mails)?,
            approval: ApprovalRules {
                above_cents: self
                    .approval_above_cents
                    .unwrap_or(project.approval.above_cents),
                above_credits: self
                    .approval_above_credits
                    .unwrap_or(project.approval.above_credits),
            },
            archived: self.archived.unwrap_or(project.archived),
            ..project
        })
    }
}

fn origins_count(count: usize) -> Result<(), Refusal> {
    let message = format!("A project allows at most {MAX_ORIGINS} origins.");
    rules::ensure(count <= MAX_ORIGINS, "allowedOrigins", message)
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

fn approval_rules(set: ApprovalRules) -> Result<(), Refusal> {
    for (param, above) in [
        ("approvalAboveCents", set.above_cents),
        ("approvalAboveCredits", set.above_credits),
    ] {
        if let Some(above) = above {
            rules::within(param, above, 0, MAX_APPROVAL)?;
        }
    }
    Ok(())
}

fn grace_days(days: u32) -> Result<(), Refusal> {
    rules::within("subscriptionGraceDays", days.into(), 0, MAX_GRACE_DAYS)
}
