//! The projects' accounts at payment providers: a client for each, and the secrets of its webhooks. The sandbox is
//! called like Stripe, at another address.

use std::sync::{Arc, OnceLock};

use ::sandbox::Sandbox;
use actors::{Handle, ServerKeys, notes};
use async_trait::async_trait;
use catalog::{CatalogStore, ProjectCatalog};
use data_encoding::HEXLOWER;
use domain::{
    Timestamp,
    catalog::{Account, Stripe},
    id::ProjectId,
    wallet::ProviderKind,
};
use hmac::{Hmac, KeyInit as _, Mac as _};
use parking_lot::Mutex;
use payments::{Error, NamedLock, NamedLocks, Providers};
use payments_port::Provider;
use sha2::Sha256;
use stripe::{Api, PriceCache, SecretKey, Stripe as StripeAccount, signature::SigningSecret};
use subtle::ConstantTimeEq as _;
use url::Url;

use super::{change::stripe_of, object_ids::StoredObjectIds};

/// The addresses of this server and of Stripe.
#[derive(Debug, Clone)]
pub struct ProviderEnvironment {
    /// Where people and providers reach this server, without a slash at its end.
    pub public_url: String,
    /// Where this server reaches itself, without a slash at its end.
    pub own_url: String,
    /// The base address of Stripe's API.
    pub stripe_api: Url,
    /// Whether no provider is called, not even the built-in one.
    pub offline: bool,
    /// Background requests a second to one account at Stripe; 0 for its mode's default.
    pub stripe_per_second: u32,
}

/// All projects' accounts at payment providers.
pub struct Accounts {
    handle: Handle,
    catalog: Arc<CatalogStore>,
    place: ProviderEnvironment,
    sandbox_mac: Hmac<Sha256>,
    /// Made at the first call, so that a server without providers needs no certificate authorities.
    stripe: Mutex<Option<Api>>,
    loopback: Mutex<Option<Api>>,
    shared: Arc<PriceCache>,
    /// The built-in provider; each round it does what is due.
    sandbox: OnceLock<Sandbox>,
    /// Locks for one change of a project's provider at a time, because what was checked before a change may not hold
    /// after it.
    changing: NamedLocks,
}

/// The keys of a sandbox's account.
#[expect(missing_docs, reason = "the fields say what they are")]
pub struct SandboxKeys {
    pub secret_key: String,
    pub webhook_secret: String,
}

impl Accounts {
    /// The accounts of all projects in the catalog.
    /// # Errors
    /// [`notes::Error`] where the names of objects at providers cannot be read.
    pub fn new(
        handle: &Handle,
        catalog: Arc<CatalogStore>,
        place: ProviderEnvironment,
        server_keys: &ServerKeys,
    ) -> Result<Self, notes::Error> {
        // HMAC takes a key of any length.
        let sandbox_mac = Hmac::new_from_slice(server_keys.newest())
            .unwrap_or_else(|_| Hmac::new(&Default::default()));
        Ok(Self {
            handle: handle.clone(),
            catalog,
            place,
            sandbox_mac,
            stripe: Mutex::new(None),
            loopback: Mutex::new(None),
            shared: Arc::new(PriceCache::new(Arc::new(StoredObjectIds::new(
                handle.clone(),
            )?))),
            sandbox: OnceLock::new(),
            changing: NamedLocks::default(),
        })
    }

    /// The addresses of this server and of Stripe.
    pub const fn place(&self) -> &ProviderEnvironment {
        &self.place
    }

    /// The catalog of all projects.
    pub fn catalog(&self) -> &CatalogStore {
        &self.catalog
    }

    /// The address that a project's webhooks have to be sent to.
    pub fn webhook_url(&self, project: ProjectId) -> String {
        format!("{}/webhooks/stripe/{project}", self.place.public_url)
    }

    /// The base address of a project's sandbox, for its client.
    pub fn sandbox_api(&self, project: ProjectId) -> String {
        format!("{}/sandbox/{project}", self.place.public_url)
    }

    /// The keys of a project's sandbox: derived, so that they are the same at every start.
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

    pub(super) const fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Waits until nobody else changes this project's provider.
    pub(super) async fn turn(&self, project: ProjectId) -> NamedLock {
        self.changing.take(&project.to_string()).await
    }

    pub(super) fn key_of(&self, account: &Stripe) -> Result<String, Error> {
        let key = self.catalog.open_secret(&account.secret_key);
        key.ok_or(Error::Defect("a provider's key cannot be decrypted"))
    }

    fn stripe_api(&self) -> Result<Api, Error> {
        if self.place.offline {
            return Err(Error::Offline);
        }
        let ProviderEnvironment {
            stripe_api: base,
            stripe_per_second,
            ..
        } = &self.place;
        let set_up = || Ok(Api::new(base.clone())?.paced(*stripe_per_second));
        api(&self.stripe, set_up)
    }

    pub(super) fn stripe_client(&self, account: &Stripe) -> Result<stripe::Client, Error> {
        let api = self.stripe_api()?;
        Ok(api.client(secret(&self.key_of(account)?)?))
    }

    pub(super) fn client_of(&self, key: &str) -> Result<stripe::Client, Error> {
        let api = self.stripe_api()?;
        Ok(api.client(secret(key)?))
    }

    /// Whether an account is called with this key.
    pub(super) fn is_key(&self, account: &Stripe, key: &str) -> bool {
        let known = self.key_of(account);
        known.is_ok_and(|known| known.as_bytes().ct_eq(key.as_bytes()).into())
    }

    /// Sets the built-in provider, once it has started.
    pub(super) fn set_sandbox(&self, sandbox: Sandbox) {
        drop(self.sandbox.set(sandbox));
    }

    fn sandbox_provider(&self, id: ProjectId) -> Result<Arc<dyn Provider>, Error> {
        let base = format!("{}/sandbox/{id}", self.place.own_url);
        let base: Url = base.parse().map_err(|_| Error::Defect("bad own address"))?;
        let keys = self.sandbox_keys(id);
        let client = api(&self.loopback, || Api::new(base.clone()))?
            .at(base)
            .client(secret(&keys.secret_key)?);
        let secrets = SigningSecret::new(&keys.webhook_secret).into_iter();
        let shared = Arc::clone(&self.shared);
        let account = StripeAccount::new(
            id,
            client,
            secrets.collect(),
            (ProviderKind::Sandbox, Some(false)),
            shared,
        );
        Ok(Arc::new(account))
    }

    fn real(&self, id: ProjectId, account: &Stripe) -> Result<Arc<dyn Provider>, Error> {
        let key = self.key_of(account)?;
        let client = self.stripe_client(account)?;
        // By the machine's clock, since Stripe signs by real time.
        let secrets = self.accepted(account, self.handle.wall());
        let shared = Arc::clone(&self.shared);
        let account = StripeAccount::new(
            id,
            client,
            secrets,
            (ProviderKind::Stripe, livemode(&key)),
            shared,
        );
        Ok(Arc::new(account))
    }

    fn accepted(&self, account: &Stripe, now: Timestamp) -> Vec<SigningSecret> {
        let known = account.webhook_secrets.iter();
        let valid = known.filter(|known| known.until.is_none_or(|until| now < until));
        let texts = valid.filter_map(|known| self.catalog.open_secret(&known.secret));
        texts.filter_map(|text| SigningSecret::new(&text)).collect()
    }
}

#[async_trait]
impl Providers for Accounts {
    fn of(&self, project: &ProjectCatalog) -> Result<Arc<dyn Provider>, Error> {
        let id = project.project.id;
        if self.place.offline {
            return Err(Error::Offline);
        }
        if project.epoch().leaving {
            return Err(Error::Changing);
        }
        match project.provider().map(|provider| &provider.account) {
            None | Some(Account::None) => Err(Error::NotConfigured),
            Some(Account::Sandbox) => self.sandbox_provider(id),
            Some(Account::Stripe(account)) => self.real(id, account),
        }
    }

    fn public_url(&self) -> &str {
        &self.place.public_url
    }

    async fn tick(&self, project: &ProjectCatalog) -> payments_port::Result<()> {
        if let Some(account) = stripe_of(project).filter(|account| !account.verified) {
            return self.verify(project, account).await;
        }
        let Some(sandbox) = self.sandbox.get().filter(|_| project.sandbox().is_some()) else {
            return Ok(());
        };
        let done = sandbox.run_due(project.project.id).await;
        done.map_err(payments_port::Error::unavailable)
    }

    async fn forget(&self, project: ProjectId) -> payments_port::Result<()> {
        self.shared.forget(project).await
    }
}

/// Whether a key moves real money; `None` if its text does not tell.
pub(super) fn livemode(key: &str) -> Option<bool> {
    if key.contains("_live_") {
        Some(true)
    } else if key.contains("_test_") {
        Some(false)
    } else {
        None
    }
}

fn api(
    slot: &Mutex<Option<Api>>,
    set_up: impl FnOnce() -> Result<Api, stripe::Error>,
) -> Result<Api, Error> {
    let mut slot = slot.lock();
    if let Some(api) = &*slot {
        return Ok(api.clone());
    }
    let api = set_up().map_err(payments_port::Error::from)?;
    *slot = Some(api.clone());
    Ok(api)
}

fn secret(text: &str) -> Result<SecretKey, Error> {
    SecretKey::new(text).ok_or(Error::Defect("a provider's key is malformed"))
}
