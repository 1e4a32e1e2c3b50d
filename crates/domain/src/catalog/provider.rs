//! The payment provider of a project, and its sandbox's settings. Secrets arrive here encrypted; they are decrypted
//! elsewhere.

use serde::{Deserialize, Serialize};
use std::fmt;

use super::{AccountCheck, ProviderAccount, ProviderEpoch, Refusal, rules};
use crate::{id::ProjectId, time::Timestamp};

/// How long a replaced webhook secret is still accepted: as long as the provider may sign with both.
pub(super) const ROTATION_SECONDS: i64 = 24 * 3600;
/// The most bytes of a secret, longer than Stripe's.
const MAX_SECRET: usize = 255;
/// The most secrets: the current one and those replaced within a day.
const MAX_WEBHOOK_SECRETS: usize = 4;
/// Ten years, in seconds.
const MAX_ADVANCE_SECONDS: i64 = 10 * 366 * 24 * 3600;
const MAX_DELAY_SECONDS: i64 = 7 * 24 * 3600;
const MAX_DUPLICATES: i64 = 10;

/// A secret, encrypted under the server key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ciphertext(pub Box<[u8]>);

/// A project's payment provider. One document for each project that ever had one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provider {
    /// The project that it belongs to.
    pub project: ProjectId,
    /// The provider that takes the money.
    pub account: Account,
    /// The sandbox's settings, kept while another provider is set, so that its clock never goes back.
    pub sandbox: Sandbox,
    /// The current provider epoch of a provider's account.
    pub epoch: ProviderEpoch,
}

/// Which provider takes a project's money.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Account {
    /// None: nothing can be bought.
    None,
    /// The sandbox, which is built in and moves no money.
    Sandbox,
    /// A Stripe account.
    Stripe(Stripe),
}

/// A Stripe account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stripe {
    /// Its API key.
    pub secret_key: Ciphertext,
    /// The secrets that its webhooks are signed with, the newest first.
    pub webhook_secrets: Vec<WebhookSecret>,
    /// Whether the key was tried and works.
    pub verified: bool,
}

/// A secret that webhooks are signed with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebhookSecret {
    /// The secret, encrypted.
    pub secret: Ciphertext,
    /// Until when it is accepted, by the machine's clock; `None` for the current one.
    pub until: Option<Timestamp>,
}

/// How a project's sandbox behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Sandbox {
    /// How far the project's clock was advanced, in milliseconds; 0 or more.
    pub ahead_millis: i64,
    /// Seconds before a webhook goes out.
    pub delay_seconds: u32,
    /// How many extra copies of each webhook go out.
    pub duplicates: u32,
    /// Whether webhooks go out in another order than their events happened.
    pub shuffle: bool,
}

impl Provider {
    /// Whether its key was tried and works; true for a provider without one.
    pub const fn is_verified(&self) -> bool {
        match &self.account {
            Account::None | Account::Sandbox => true,
            Account::Stripe(account) => account.verified,
        }
    }

    /// How far the project's clock is ahead of the machine's, in milliseconds; 0 without a sandbox.
    pub const fn ahead_millis(&self) -> i64 {
        match self.account {
            Account::Sandbox => self.sandbox.ahead_millis,
            Account::None | Account::Stripe(_) => 0,
        }
    }
}

/// A secret from an administrator: of bounded length, visible, and of the right kind.
#[derive(Clone)]
pub struct SecretText(String);

impl SecretText {
    /// A provider's API key.
    /// # Errors
    /// [`Refusal::Invalid`] for `provider.secretKey`; it never repeats what was sent.
    pub fn key(text: String) -> Result<Self, Refusal> {
        let secret = Self::visible("secretKey", text)?;
        let is_secret = ["sk_", "rk_"].iter().any(|it| secret.0.starts_with(it));
        let message = "secretKey begins with sk_ or rk_. Publishable keys begin with pk_.";
        rules::ensure(is_secret, "provider.secretKey", message).map(|()| secret)
    }

    /// The secret that a provider signs its webhooks with.
    /// # Errors
    /// [`Refusal::Invalid`] for `provider.webhookSecret`; it never repeats what was sent.
    pub fn webhook(text: String) -> Result<Self, Refusal> {
        Self::visible("webhookSecret", text)
    }

    fn visible(name: &str, text: String) -> Result<Self, Refusal> {
        let is_visible = text.bytes().all(|byte| byte.is_ascii_graphic());
        let fits = is_visible && (1..=MAX_SECRET).contains(&text.len());
        let message = format!("{name} has 1 to {MAX_SECRET} visible characters.");
        rules::ensure(fits, &format!("provider.{name}"), message).map(|()| Self(text))
    }

    /// The secret itself.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for SecretText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretText(..)")
    }
}

/// A provider to set.
#[derive(Debug, Clone)]
pub enum ProviderChange {
    /// None: nothing can be bought any more.
    None,
    /// The sandbox, which is built in.
    Sandbox,
    /// A Stripe account. An omitted secret stays unchanged.
    Stripe {
        /// Its API key.
        secret_key: Option<Ciphertext>,
        /// The secret that its webhooks are signed with.
        webhook_secret: Option<Ciphertext>,
    },
}

impl ProviderChange {
    /// The provider after the change. `is_other` tells whether a stored webhook secret differs from the new one:
    /// setting the same one again replaces nothing.
    /// # Errors
    /// [`Refusal::Invalid`] for a Stripe account without a secret key, neither a new nor a stored one.
    pub fn decide(
        self,
        project: ProjectId,
        current: Option<&Provider>,
        account_check: AccountCheck,
        is_other: impl Fn(&Ciphertext) -> bool,
        now: Timestamp,
    ) -> Result<Provider, Refusal> {
        let former = current.map(|current| current.epoch.clone());
        let former = former.unwrap_or_default();
        let set = match &self {
            // The account stays, because it may be set again before any other.
            Self::None
            | Self::Stripe {
                secret_key: None, ..
            } => None,
            Self::Sandbox => Some(ProviderAccount::Sandbox),
            Self::Stripe { .. } => Some(ProviderAccount::Stripe(account_check.account)),
        };
        let epoch = former.next(set, account_check.other);
        let account = match self {
            Self::None => Account::None,
            Self::Sandbox => Account::Sandbox,
            Self::Stripe {
                secret_key,
                webhook_secret,
            } => {
                let same_account = match current.map(|current| &current.account) {
                    Some(Account::Stripe(stripe)) if !account_check.other => Some(stripe),
                    _ => None,
                };
                let verified = match (&secret_key, same_account) {
                    (None, Some(stripe)) => stripe.verified,
                    _ => account_check.verified,
                };
                let key =
                    secret_key.or_else(|| same_account.map(|stripe| stripe.secret_key.clone()));
                let stored_secrets = same_account
                    .map(|stripe| stripe.webhook_secrets.clone())
                    .unwrap_or_default();
                // Without one, events are read from the account's event list.
                let webhook_secrets = match webhook_secret {
                    Some(secret) => rotate(stored_secrets, secret, is_other, now),
                    None => stored_secrets,
                };
                Account::Stripe(Stripe {
                    secret_key: key.ok_or_else(|| missing("secretKey"))?,
                    webhook_secrets,
                    verified,
                })
            }
        };
        Ok(Provider {
            project,
            account,
            epoch,
            sandbox: current.map(|current| current.sandbox).unwrap_or_default(),
        })
    }
}

fn missing(name: &str) -> Refusal {
    Refusal::invalid(format!("provider.{name}"), format!("{name} is missing."))
}

/// The new secret, then the former ones with an end within a day.
pub(super) fn rotate(
    former: Vec<WebhookSecret>,
    secret: Ciphertext,
    is_other: impl Fn(&Ciphertext) -> bool,
    now: Timestamp,
) -> Vec<WebhookSecret> {
    let end = now.plus_seconds(ROTATION_SECONDS);
    let older = former.into_iter().filter_map(|former| {
        let until = former.until.unwrap_or(end);
        (until > now && is_other(&former.secret)).then_some(WebhookSecret {
            until: Some(until),
            ..former
        })
    });
    let current = WebhookSecret {
        secret,
        until: None,
    };
    std::iter::once(current)
        .chain(older)
        .take(MAX_WEBHOOK_SECRETS)
        .collect()
}

/// A change of a sandbox; `None` leaves a setting as it is.
#[derive(Debug, Clone, Copy, Default)]
pub struct SandboxChange {
    /// Seconds before a webhook goes out, 0 to a week.
    pub delay_seconds: Option<i64>,
    /// How many extra copies of each webhook go out, 0 to 10.
    pub duplicates: Option<i64>,
    /// Whether webhooks go out in another order than their events happened.
    pub shuffle: Option<bool>,
}

impl SandboxChange {
    /// The sandbox after the change.
    /// # Errors
    /// [`Refusal::Invalid`] for the first number out of its bounds.
    pub fn decide(self, old: Sandbox) -> Result<Sandbox, Refusal> {
        let mut sandbox = old;
        if let Some(seconds) = self.delay_seconds {
            sandbox.delay_seconds = rules::bounded("delaySeconds", seconds, 0, MAX_DELAY_SECONDS)?;
        }
        if let Some(copies) = self.duplicates {
            sandbox.duplicates = rules::bounded("duplicates", copies, 0, MAX_DUPLICATES)?;
        }
        sandbox.shuffle = self.shuffle.unwrap_or(sandbox.shuffle);
        Ok(sandbox)
    }

    /// Checks the change by itself.
    /// # Errors
    /// As [`decide`](Self::decide).
    pub fn check(self) -> Result<(), Refusal> {
        self.decide(Sandbox::default()).map(drop)
    }
}

/// How far to advance a sandbox's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Advance(i64);

impl Advance {
    /// Takes 1 second to ten years.
    /// # Errors
    /// [`Refusal::Invalid`] for `seconds`.
    pub fn new(seconds: i64) -> Result<Self, Refusal> {
        rules::within("seconds", seconds, 1, MAX_ADVANCE_SECONDS)?;
        Ok(Self(seconds))
    }

    /// The advance in seconds.
    pub const fn seconds(self) -> i64 {
        self.0
    }
}

impl Sandbox {
    /// The sandbox with its clock this far ahead of the machine's; it never goes back. A distance rather than an
    /// instant, because the machine's clock goes on.
    #[must_use]
    pub fn with_clock_ahead(self, ahead_millis: i64) -> Self {
        Self {
            ahead_millis: ahead_millis.max(self.ahead_millis),
            ..self
        }
    }
}

impl Provider {
    pub(super) fn check(&self) -> Result<(), Refusal> {
        let sandbox = &self.sandbox;
        rules::whole("aheadMillis", sandbox.ahead_millis)?;
        let delay = sandbox.delay_seconds.into();
        rules::within("delaySeconds", delay, 0, MAX_DELAY_SECONDS)?;
        rules::within("duplicates", sandbox.duplicates.into(), 0, MAX_DUPLICATES)?;
        let Account::Stripe(account) = &self.account else {
            return Ok(());
        };
        check_secrets("webhookSecrets", &account.webhook_secrets)
    }
}

/// Checks that there are few enough, and that all but the newest have an end.
pub(super) fn check_secrets(param: &str, secrets: &[WebhookSecret]) -> Result<(), Refusal> {
    let count = i64::try_from(secrets.len()).unwrap_or(i64::MAX);
    let maximum = i64::try_from(MAX_WEBHOOK_SECRETS).unwrap_or(i64::MAX);
    rules::within(param, count, 0, maximum)?;
    let ends = secrets.iter().skip(1).all(|secret| secret.until.is_some());
    let message = "Only the newest webhook secret can be without an end.";
    rules::ensure(ends, param, message)
}
