//! Whose money goes where: a project's settings as something that can be called, and the secrets
//! that its webhooks are checked with. The sandbox is called like Stripe, at another address.

use std::sync::Arc;

use data_encoding::HEXLOWER;
use domain::{
    Timestamp,
    catalog::{Account, Stripe},
    id::ProjectId,
};
use hmac::{Hmac, KeyInit as _, Mac as _};
use parking_lot::Mutex;
use sha2::Sha256;
use url::Url;

use super::Error;
use crate::{
    catalog::{CatalogStore, ProjectCatalog},
    provider::{
        signature::SigningSecret,
        stripe::{Api, Client, SecretKey},
    },
};

/// Where things are.
#[derive(Debug, Clone)]
pub struct Place {
    /// Where people and providers reach this server, without a slash at its end.
    pub public_url: String,
    /// Where this server reaches itself, likewise.
    pub own_url: String,
    /// Stripe's API.
    pub stripe_api: Url,
}

/// All projects' accounts.
pub struct Accounts {
    catalog: Arc<CatalogStore>,
    place: Place,
    sandbox_mac: Hmac<Sha256>,
    /// Set up with the first call, so that a server without providers needs no certificate
    /// authorities.
    stripe: Mutex<Option<Api>>,
    loopback: Mutex<Option<Api>>,
}

/// What a sandbox account is called and signs with.
pub struct SandboxKeys {
    /// Its API key.
    pub secret_key: String,
    /// What its webhooks are signed with.
    pub webhook_secret: String,
}

impl Accounts {
    pub(super) fn new(catalog: Arc<CatalogStore>, place: Place, server_key: &[u8; 32]) -> Self {
        // HMAC takes a key of any length.
        let sandbox_mac =
            Hmac::new_from_slice(server_key).unwrap_or_else(|_| Hmac::new(&Default::default()));
        Self {
            catalog,
            place,
            sandbox_mac,
            stripe: Mutex::new(None),
            loopback: Mutex::new(None),
        }
    }

    /// Where things are.
    #[must_use]
    pub const fn place(&self) -> &Place {
        &self.place
    }

    /// The catalog.
    #[must_use]
    pub fn catalog(&self) -> &CatalogStore {
        &self.catalog
    }

    /// Where a project's webhooks are to be sent.
    #[must_use]
    pub fn webhook_url(&self, project: ProjectId) -> String {
        format!("{}/webhooks/stripe/{project}", self.place.public_url)
    }

    /// Where a project's sandbox is, for its client.
    #[must_use]
    pub fn sandbox_api(&self, project: ProjectId) -> String {
        format!("{}/sandbox/{project}", self.place.public_url)
    }

    /// The keys of a project's sandbox: derived, so that they are the same at every start.
    #[must_use]
    pub fn sandbox_keys(&self, project: ProjectId) -> SandboxKeys {
        let derived = |label: &[u8]| {
            let mut mac = self.sandbox_mac.clone();
            mac.update(b"scrip/sandbox/1");
            mac.update(label);
            mac.update(&project.0.to_be_bytes());
            HEXLOWER.encode(&mac.finalize().into_bytes())
        };
        SandboxKeys {
            secret_key: format!("sk_sandbox_{}", derived(b"key")),
            webhook_secret: format!("whsec_{}", derived(b"webhook")),
        }
    }

    /// Calls to a project's provider.
    pub(super) fn client(&self, project: &ProjectCatalog) -> Result<Client, Error> {
        let id = project.project.id;
        match project.provider().map(|provider| &provider.account) {
            None | Some(Account::None) => Err(Error::NotConfigured),
            Some(Account::Sandbox) => {
                let base = format!("{}/sandbox/{id}", self.place.own_url);
                let base: Url = base.parse().map_err(|_| Error::Defect("no own address"))?;
                let api = api(&self.loopback, &base)?.at(base);
                Ok(api.client(secret(&self.sandbox_keys(id).secret_key)?))
            }
            Some(Account::Stripe(account)) => {
                let api = api(&self.stripe, &self.place.stripe_api)?;
                let key = self.catalog.open_secret(&account.secret_key);
                let key = key.ok_or(Error::Defect("a provider's key cannot be decrypted"))?;
                Ok(api.client(secret(&key)?))
            }
        }
    }

    /// What a project's webhooks may be signed with now; none without a provider.
    pub(super) fn signing_secrets(
        &self,
        project: &ProjectCatalog,
        now: Timestamp,
    ) -> Vec<SigningSecret> {
        match project.provider().map(|provider| &provider.account) {
            None | Some(Account::None) => Vec::new(),
            Some(Account::Sandbox) => {
                let keys = self.sandbox_keys(project.project.id);
                SigningSecret::new(&keys.webhook_secret)
                    .into_iter()
                    .collect()
            }
            Some(Account::Stripe(account)) => self.accepted(account, now),
        }
    }

    fn accepted(&self, account: &Stripe, now: Timestamp) -> Vec<SigningSecret> {
        let known = account.webhook_secrets.iter();
        let valid = known.filter(|known| known.until.is_none_or(|until| now < until));
        let texts = valid.filter_map(|known| self.catalog.open_secret(&known.secret));
        texts.filter_map(|text| SigningSecret::new(&text)).collect()
    }
}

fn api(slot: &Mutex<Option<Api>>, base: &Url) -> Result<Api, Error> {
    let mut slot = slot.lock();
    if let Some(api) = &*slot {
        return Ok(api.clone());
    }
    let api = Api::new(base.clone())?;
    *slot = Some(api.clone());
    Ok(api)
}

fn secret(text: &str) -> Result<SecretKey, Error> {
    SecretKey::new(text).ok_or(Error::Defect("a provider's key is no key"))
}
