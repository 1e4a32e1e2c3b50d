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
    },
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct WebhookSecret<'a> {
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
            }) => Self::Stripe {
                secret_key: &secret_key.0,
                webhook_secrets: webhook_secrets.iter().map(WebhookSecret::from).collect(),
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
            } => Self::Stripe(catalog::Stripe {
                secret_key: catalog::Sealed(secret_key.into()),
                webhook_secrets: webhook_secrets
                    .into_iter()
                    .map(catalog::WebhookSecret::from)
                    .collect(),
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
