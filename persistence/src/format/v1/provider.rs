//! A project's payment provider; its secrets are encrypted.

use domain::{catalog, id::ProjectId};
use serde::{Deserialize, Serialize};

use super::read::{instant, millis};

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Provider<'a> {
    project: u128,
    #[serde(borrow)]
    account: Account<'a>,
    sandbox: Sandbox,
    #[serde(borrow)]
    tenure: Tenure<'a>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Tenure<'a> {
    number: u32,
    #[serde(borrow)]
    holder: Option<Holder<'a>>,
    leaving: bool,
}

/// Numbered by the order in which they stand here.
#[derive(Debug, Clone, Serialize, Deserialize)]
enum Holder<'a> {
    Sandbox,
    Stripe {
        account: Option<&'a str>,
        livemode: Option<bool>,
    },
}

/// Numbered by the order in which they stand here.
#[derive(Debug, Clone, Serialize, Deserialize)]
enum Account<'a> {
    None,
    Sandbox,
    Stripe {
        secret_key: &'a [u8],
        #[serde(borrow)]
        webhook_secrets: Vec<WebhookSecret<'a>>,
        verified: bool,
    },
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct WebhookSecret<'a> {
    secret: &'a [u8],
    until: Option<i64>,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Sandbox {
    ahead_millis: i64,
    delay_seconds: u32,
    duplicates: u32,
    shuffle: bool,
}

impl<'a> From<&'a catalog::Provider> for Provider<'a> {
    fn from(from: &'a catalog::Provider) -> Self {
        let catalog::Provider {
            project,
            account,
            sandbox,
            tenure,
        } = from;
        let catalog::Sandbox {
            ahead_millis,
            delay_seconds,
            duplicates,
            shuffle,
        } = *sandbox;
        Self {
            project: project.0,
            account: account.into(),
            sandbox: Sandbox {
                ahead_millis,
                delay_seconds,
                duplicates,
                shuffle,
            },
            tenure: tenure.into(),
        }
    }
}

impl From<Provider<'_>> for catalog::Provider {
    fn from(from: Provider<'_>) -> Self {
        let Sandbox {
            ahead_millis,
            delay_seconds,
            duplicates,
            shuffle,
        } = from.sandbox;
        Self {
            project: ProjectId(from.project),
            account: from.account.into(),
            sandbox: catalog::Sandbox {
                ahead_millis,
                delay_seconds,
                duplicates,
                shuffle,
            },
            tenure: from.tenure.into(),
        }
    }
}

impl<'a> From<&'a catalog::Tenure> for Tenure<'a> {
    fn from(from: &'a catalog::Tenure) -> Self {
        let catalog::Tenure {
            number,
            holder,
            leaving,
        } = from;
        let holder = holder.as_ref().map(|holder| match holder {
            catalog::Holder::Sandbox => Holder::Sandbox,
            catalog::Holder::Stripe { account, livemode } => Holder::Stripe {
                account: account.as_deref(),
                livemode: *livemode,
            },
        });
        Self {
            number: *number,
            holder,
            leaving: *leaving,
        }
    }
}

impl From<Tenure<'_>> for catalog::Tenure {
    fn from(from: Tenure<'_>) -> Self {
        let holder = from.holder.map(|holder| match holder {
            Holder::Sandbox => catalog::Holder::Sandbox,
            Holder::Stripe { account, livemode } => catalog::Holder::Stripe {
                account: account.map(str::to_owned),
                livemode,
            },
        });
        Self {
            number: from.number,
            holder,
            leaving: from.leaving,
        }
    }
}

impl<'a> From<&'a catalog::Account> for Account<'a> {
    fn from(from: &'a catalog::Account) -> Self {
        match from {
            catalog::Account::None => Self::None,
            catalog::Account::Sandbox => Self::Sandbox,
            catalog::Account::Stripe(catalog::Stripe {
                secret_key,
                webhook_secrets,
                verified,
            }) => Self::Stripe {
                secret_key: &secret_key.0,
                webhook_secrets: webhook_secrets.iter().map(WebhookSecret::from).collect(),
                verified: *verified,
            },
        }
    }
}

impl From<Account<'_>> for catalog::Account {
    fn from(from: Account<'_>) -> Self {
        match from {
            Account::None => Self::None,
            Account::Sandbox => Self::Sandbox,
            Account::Stripe {
                secret_key,
                webhook_secrets,
                verified,
            } => Self::Stripe(catalog::Stripe {
                secret_key: catalog::Sealed(secret_key.into()),
                webhook_secrets: webhook_secrets
                    .into_iter()
                    .map(catalog::WebhookSecret::from)
                    .collect(),
                verified,
            }),
        }
    }
}

impl<'a> From<&'a catalog::WebhookSecret> for WebhookSecret<'a> {
    fn from(from: &'a catalog::WebhookSecret) -> Self {
        let catalog::WebhookSecret { secret, until } = from;
        Self {
            secret: &secret.0,
            until: millis(*until),
        }
    }
}

impl From<WebhookSecret<'_>> for catalog::WebhookSecret {
    fn from(from: WebhookSecret<'_>) -> Self {
        Self {
            secret: catalog::Sealed(from.secret.into()),
            until: instant(from.until),
        }
    }
}
