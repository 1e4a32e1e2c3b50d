//! Who takes a project's money, as the administrator set it. Secrets are here only in encrypted form.

use serde::{Deserialize, Serialize};

use crate::{id::ProjectId, time::Timestamp};

/// A secret, encrypted under the server key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sealed(pub Box<[u8]>);

/// A project's payment provider. One document for each project that ever had one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provider {
    /// Whose.
    pub project: ProjectId,
    /// Which one takes the money.
    pub account: Account,
    /// How the sandbox behaves. Kept while another provider is set, so that its clock never goes back.
    pub sandbox: Sandbox,
}

/// Which provider takes a project's money.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Account {
    /// None: nothing can be bought.
    None,
    /// The one that is built in and moves no money.
    Sandbox,
    /// A Stripe account.
    Stripe(Stripe),
}

/// A Stripe account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stripe {
    /// Its API key.
    pub secret_key: Sealed,
    /// What its webhooks are signed with, the newest first.
    pub webhook_secrets: Vec<WebhookSecret>,
}

/// A secret that webhooks are signed with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebhookSecret {
    /// The secret.
    pub secret: Sealed,
    /// Until when it is accepted, by the machine's clock; `None`: it is the current one.
    pub until: Option<Timestamp>,
}

/// How a project's sandbox behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Sandbox {
    /// How far the project's clock was moved on, in milliseconds; 0 or more.
    pub ahead_millis: i64,
    /// Seconds before a webhook goes out.
    pub delay_seconds: u32,
    /// How many times more each webhook goes out.
    pub duplicates: u32,
    /// Whether webhooks go out in another order than things happened.
    pub shuffle: bool,
}

impl Provider {
    /// How far the project's clock is ahead of the machine's, in milliseconds: only the sandbox has a
    /// clock of its own.
    #[must_use]
    pub const fn ahead_millis(&self) -> i64 {
        match self.account {
            Account::Sandbox => self.sandbox.ahead_millis,
            Account::None | Account::Stripe(_) => 0,
        }
    }
}
