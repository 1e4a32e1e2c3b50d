//! Sets a project's provider. Before anything changes it checks whether the key works, whether it belongs to the
//! account that the project sells through, and whether that account may be left.

use std::time::Duration;

use catalog::{ProjectCatalog, ProjectChange, ProviderChange};
use domain::{
    catalog::{Account, AccountCheck, ProviderAccount, Stripe, StripeAccount},
    id::ProjectId,
};
use payments::Error;
use secrecy::ExposeSecret as _;
use stripe::permissions::{self, PermissionNeed};

use super::accounts::{Accounts, livemode};

/// The longest time for all requests about a key: somebody waits for the answer.
const TIMEOUT: Duration = Duration::from_secs(20);
/// How many of the newest orders are searched for one with a checkout.
const MAX_ORDERS: usize = 50;

/// Why a provider was not set. Nothing was changed, except perhaps under a [`catalog::Error`].
#[derive(Debug, Clone, thiserror::Error)]
pub enum ChangeError {
    /// The key does not work, or may not do what it has to; in the provider's words.
    #[error("{0}")]
    Key(String),
    /// It is, or may be, another account or mode, and the project has orders.
    #[error("the project has orders at another provider, account or mode")]
    InUse,
    /// The catalog refuses it, or it could not be written.
    #[error(transparent)]
    Catalog(#[from] catalog::Error),
    /// The project's orders cannot be read, or a provider cannot be called.
    #[error(transparent)]
    Payments(#[from] Error),
}

/// The result of trying a key.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the variants say what they are")]
pub enum KeyCheck {
    Works {
        /// The account, where the key may read it.
        account: Option<StripeAccount>,
        /// Permissions that it lacks: some things will not be done.
        missing: Vec<String>,
    },
    Unreachable,
}

impl Accounts {
    /// Changes a project and its provider. With `force` it may leave a provider that it has orders at: pending orders
    /// and subscriptions there end.
    /// # Errors
    /// See [`ChangeError`].
    pub async fn change(
        &self,
        id: ProjectId,
        change: ProjectChange,
        provider: ProviderChange,
        force: bool,
    ) -> Result<(), ChangeError> {
        // Invalid settings are refused before the provider is called.
        change.check().map_err(catalog::Error::from)?;
        provider.check().map_err(catalog::Error::from)?;
        drop(self.catalog().project(id)?);
        let _turn = self.turn(id).await;
        let current = self.catalog().project(id)?;
        let found = self.find_out(&current, &provider).await?;
        if found.other && !force && self.has_orders(&current)? {
            return Err(ChangeError::InUse);
        }
        let former = stripe_of(&current).filter(|_| found.other).cloned();
        let set = self.catalog().set_provider(id, change, provider, found);
        set.await?;
        if let Some(former) = former {
            self.delete_former_endpoint(id, &former);
        }
        Ok(())
    }

    /// Checks a provider before it is set.
    async fn find_out(
        &self,
        current: &ProjectCatalog,
        new: &ProviderChange,
    ) -> Result<AccountCheck, ChangeError> {
        let former = current.epoch().account.as_ref();
        let ProviderChange::Stripe {
            secret_key: Some(key),
            ..
        } = new
        else {
            let sandbox = ProviderAccount::Sandbox;
            let other = matches!(new, ProviderChange::Sandbox)
                && former.is_some_and(|former| *former != sandbox);
            return Ok(AccountCheck {
                other,
                ..AccountCheck::default()
            });
        };
        let key = key.expose_secret();
        let (verified, account) = match self.try_key(key).await.map_err(ChangeError::Key)? {
            KeyCheck::Works { account, missing } => {
                if !missing.is_empty() {
                    let missing = missing.join(", ");
                    tracing::warn!(project = %current.project.id, missing, "A provider's key lacks permissions");
                }
                (true, account)
            }
            KeyCheck::Unreachable => (false, None),
        };
        let same = former.map(|former| former.is(&ProviderAccount::Stripe(account.clone())));
        let other = match same {
            None | Some(Some(true)) => false,
            Some(Some(false)) => true,
            Some(None) => !self.finds_the_newest_order(current, key).await?,
        };
        Ok(AccountCheck {
            verified,
            account,
            other,
        })
    }

    /// Tries a key of Stripe's.
    /// # Errors
    /// Why the key does not work, in Stripe's own words.
    pub async fn try_key(&self, key: &str) -> Result<KeyCheck, String> {
        let words = |error: Error| error.to_string();
        let client = self.client_of(key).map_err(words)?;
        let checks = async {
            let missing = match client.try_key().await {
                Ok(missing) => missing,
                // The answer may repeat the key, which must not be shown.
                Err(stripe::Error::Refused(refusal)) => {
                    return Err(refusal.to_string().replace(key, "…"));
                }
                Err(stripe::Error::Other(_)) => {
                    return Ok(KeyCheck::Unreachable);
                }
            };
            let sells = missing
                .iter()
                .all(|missing| missing.need != PermissionNeed::Sale);
            let message = missing
                .first()
                .map(|missing| missing.message.replace(key, "…"));
            let missing: Vec<String> = missing.into_iter().map(|it| it.permission).collect();
            if let Some(message) = message.filter(|_| !sells) {
                return Err(format!("it lacks {}: {message}", missing.join(", ")));
            }
            // A restricted key may lack this permission; then the newest order identifies the account.
            let id = client.account().await.ok();
            let account = id.zip(livemode(key));
            let account = account.map(|(id, livemode)| StripeAccount { id, livemode });
            Ok(KeyCheck::Works { account, missing })
        };
        let checked = tokio::time::timeout(TIMEOUT, checks).await;
        checked.unwrap_or(Ok(KeyCheck::Unreachable))
    }

    /// Stripe's page for a new restricted key with all needed permissions, in the mode of a project's key.
    pub fn key_link(&self, project: &ProjectCatalog) -> Option<String> {
        let key = self.key_of(stripe_of(project)?).ok()?;
        Some(permissions::link(livemode(&key) == Some(false)))
    }

    /// Tries the key of a project's provider; `None` if it needs none.
    /// # Errors
    /// As for [`Accounts::try_key`].
    pub async fn check(&self, project: &ProjectCatalog) -> Option<Result<KeyCheck, String>> {
        let account = stripe_of(project)?;
        Some(match self.key_of(account) {
            Ok(key) => self.try_key(&key).await,
            Err(error) => Err(error.to_string()),
        })
    }

    /// For an account whose name is not known: whether a key belongs to it. True for the key in use, and for one that
    /// can read the newest order's checkout; false where that cannot be found out.
    async fn finds_the_newest_order(
        &self,
        current: &ProjectCatalog,
        key: &str,
    ) -> Result<bool, ChangeError> {
        let known = stripe_of(current);
        if known.is_some_and(|known| self.is_key(known, key)) {
            return Ok(true);
        }
        let orders = self.handle().orders(
            &current.scope,
            actors::OrderFilter::default(),
            None,
            MAX_ORDERS,
        );
        let orders = orders.await.map_err(Error::from)?.orders;
        let checkout = orders.into_iter().find_map(|order| order.order.checkout);
        let Some(session) = checkout else {
            return Ok(false);
        };
        let client = self.client_of(key)?;
        let session = tokio::time::timeout(TIMEOUT, client.read(&session)).await;
        Ok(matches!(session, Ok(Ok(_))))
    }

    fn has_orders(&self, project: &ProjectCatalog) -> Result<bool, ChangeError> {
        let placed = self.handle().order_positions(&project.scope, None, 1);
        Ok(!placed.map_err(Error::from)?.is_empty())
    }

    /// Tries a key again that could not be tried when it was set.
    pub(super) async fn verify(
        &self,
        project: &ProjectCatalog,
        account: &Stripe,
    ) -> Result<(), payments_port::Error> {
        use payments_port::Error;
        let key = self.key_of(account).map_err(Error::unavailable)?;
        match self.try_key(&key).await.map_err(Error::Key)? {
            KeyCheck::Unreachable => Err(Error::unavailable("it cannot be reached")),
            KeyCheck::Works { account: named, .. } => {
                let known = self.catalog();
                let verified = known.mark_provider_verified(project.project.id, account, named);
                verified.await.map_err(Error::unavailable)
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
