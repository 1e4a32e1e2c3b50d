//! Setting a project's provider: is the key of use, is it of the account that the project sells through
//! already, and may that be left? What is answered here is settled before anything is changed.

use std::time::Duration;

use catalog::{ProjectCatalog, ProjectChange, ProviderChange};
use domain::{
    catalog::{Account, Found, Holder, Stripe},
    id::ProjectId,
};
use payments::Error;
use secrecy::ExposeSecret as _;
use stripe::permissions::{self, Need};

use super::accounts::{Accounts, livemode};

/// For all that is asked about a key: somebody waits for it.
const PATIENCE: Duration = Duration::from_secs(20);
/// Orders among which the newest is looked for that has a checkout: renewals have none.
const NEWEST: usize = 50;

/// Why a provider was not set. Nothing was changed, except perhaps under a [`catalog::Error`].
#[derive(Debug, Clone, thiserror::Error)]
pub enum ChangeError {
    /// The key does not work, or may not do what it has to; in the provider's words.
    #[error("{0}")]
    Key(String),
    /// It is another account or mode, or nobody knows whether it is, and the project has orders.
    #[error("the project has orders at another provider, account or mode")]
    InUse,
    /// The catalog refuses it, or it could not be written.
    #[error(transparent)]
    Catalog(#[from] catalog::Error),
    /// The project's orders, or what it needs to ask a provider, cannot be had.
    #[error(transparent)]
    Payments(#[from] Error),
}

/// What came of trying a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tried {
    /// It works.
    Works {
        /// The account's name, where the key may read it.
        account: Option<String>,
        /// Permissions that it lacks: some things will not be done.
        missing: Vec<String>,
    },
    /// The provider cannot be asked now.
    Unreachable,
}

impl Accounts {
    /// Changes a project and its provider. With `force` it leaves one that it has orders at: what is
    /// open there ends here.
    ///
    /// # Errors
    ///
    /// See [`ChangeError`].
    pub async fn change(
        &self,
        id: ProjectId,
        change: ProjectChange,
        provider: ProviderChange,
        force: bool,
    ) -> Result<(), ChangeError> {
        // What is wrong by itself is said before anybody else is asked.
        change.check().map_err(catalog::Error::from)?;
        provider.check().map_err(catalog::Error::from)?;
        drop(self.catalog().project(id)?);
        let turn = self.turn(id);
        let _turn = turn.lock().await;
        let current = self.catalog().project(id)?;
        let found = self.find_out(&current, &provider).await?;
        if found.other && !force && self.has_orders(&current)? {
            return Err(ChangeError::InUse);
        }
        let former = stripe_of(&current).filter(|_| found.other).cloned();
        let set = self.catalog().set_provider(id, change, provider, found);
        set.await?;
        if let Some(former) = former {
            self.take_endpoint_away(id, &former);
        }
        Ok(())
    }

    /// What is to be known of a provider before it is set.
    async fn find_out(
        &self,
        current: &ProjectCatalog,
        new: &ProviderChange,
    ) -> Result<Found, ChangeError> {
        let holder = current.tenure().holder.as_ref();
        let key = match new {
            ProviderChange::None => return Ok(Found::default()),
            ProviderChange::Sandbox => {
                return Ok(Found {
                    other: holder.is_some_and(|holder| *holder != Holder::Sandbox),
                    ..Found::default()
                });
            }
            ProviderChange::Stripe { secret_key, .. } => match secret_key {
                Some(key) => key.expose_secret(),
                None => return Ok(Found::default()),
            },
        };
        let (verified, account) = match self.try_key(key).await.map_err(ChangeError::Key)? {
            Tried::Works { account, missing } => {
                if !missing.is_empty() {
                    let missing = missing.join(", ");
                    tracing::warn!(project = %current.project.id, missing, "A provider's key lacks permissions");
                }
                (true, account)
            }
            Tried::Unreachable => (false, None),
        };
        let mut found = Found {
            verified,
            account,
            livemode: livemode(key),
            other: false,
        };
        if let Some(holder) = holder {
            found.other = match holder.is(&found.holder()) {
                Some(same) => !same,
                None => !self.finds_the_newest_order(current, key).await?,
            };
        }
        Ok(found)
    }

    /// Tries a key of Stripe's.
    ///
    /// # Errors
    ///
    /// In Stripe's own words, why the key is of no use.
    pub async fn try_key(&self, key: &str) -> Result<Tried, String> {
        let words = |error: Error| error.to_string();
        let client = self.client_of(key).map_err(words)?;
        let tried = async {
            let missing = match client.try_key().await {
                Ok(missing) => missing,
                // Whatever it is that answers, it must not have us repeat the key.
                Err(stripe::Error::Refused(refusal)) => {
                    return Err(refusal.to_string().replace(key, "…"));
                }
                Err(stripe::Error::Other(_)) => {
                    return Ok(Tried::Unreachable);
                }
            };
            let sells = missing.iter().all(|missing| missing.need != Need::Sale);
            let said = missing
                .first()
                .map(|missing| missing.said.replace(key, "…"));
            let missing: Vec<String> = missing.into_iter().map(|it| it.permission).collect();
            if let Some(said) = said.filter(|_| !sells) {
                return Err(format!("it lacks {}: {said}", missing.join(", ")));
            }
            // A restricted key may lack this permission: then the account is told by what is in it.
            let account = client.account().await.ok();
            Ok(Tried::Works { account, missing })
        };
        let tried = tokio::time::timeout(PATIENCE, tried).await;
        tried.unwrap_or(Ok(Tried::Unreachable))
    }

    /// Where a new restricted key with all that is needed is made, in the mode of a project's key.
    #[must_use]
    pub fn key_link(&self, project: &ProjectCatalog) -> Option<String> {
        let key = self.key_of(stripe_of(project)?).ok()?;
        Some(permissions::link(livemode(&key) == Some(false)))
    }

    /// Tries the key that a project's provider was set with; as [`Accounts::try_key`]. `None`: its
    /// provider is not called with a key of somebody's.
    pub async fn check(&self, project: &ProjectCatalog) -> Option<Result<Tried, String>> {
        let account = stripe_of(project)?;
        Some(match self.key_of(account) {
            Ok(key) => self.try_key(&key).await,
            Err(error) => Err(error.to_string()),
        })
    }

    /// Whether a key is of the account and mode that the project sells through, where neither says its
    /// name: it is the same one, or it finds the checkout of the newest order. Where that cannot be told,
    /// it counts as another.
    async fn finds_the_newest_order(
        &self,
        current: &ProjectCatalog,
        key: &str,
    ) -> Result<bool, ChangeError> {
        let known = stripe_of(current);
        if known.is_some_and(|known| self.is_key(known, key)) {
            return Ok(true);
        }
        let orders = self.handle().orders(&current.scope, None, NEWEST);
        let orders = orders.await.map_err(Error::from)?.orders;
        let checkout = orders.into_iter().find_map(|order| order.order.checkout);
        let Some(session) = checkout else {
            return Ok(false);
        };
        let client = self.client_of(key)?;
        let asked = tokio::time::timeout(PATIENCE, client.read(&session)).await;
        Ok(matches!(asked, Ok(Ok(_))))
    }

    fn has_orders(&self, project: &ProjectCatalog) -> Result<bool, ChangeError> {
        let placed = self.handle().placed(&project.scope, None, 1);
        Ok(!placed.map_err(Error::from)?.is_empty())
    }

    /// Tries the key of an account again that could not be reached when it was set.
    pub(super) async fn verify(
        &self,
        project: &ProjectCatalog,
        account: &Stripe,
    ) -> Result<(), port::Error> {
        let unavailable = |reason: String| port::Error::Unavailable {
            reason,
            retry_after_seconds: None,
        };
        let key = self.key_of(account);
        let key = key.map_err(|error| unavailable(error.to_string()))?;
        match self.try_key(&key).await.map_err(port::Error::Key)? {
            Tried::Unreachable => Err(unavailable("it cannot be reached".into())),
            Tried::Works { account: name, .. } => {
                let known = self.catalog();
                let verified = known.provider_verified(project.project.id, account, name);
                verified
                    .await
                    .map_err(|error| unavailable(error.to_string()))
            }
        }
    }
}

/// The Stripe account of a project that sells through one.
pub(super) fn stripe_of(project: &ProjectCatalog) -> Option<&Stripe> {
    match project.provider().map(|provider| &provider.account) {
        Some(Account::Stripe(account)) => Some(account),
        Some(Account::None | Account::Sandbox) | None => None,
    }
}
