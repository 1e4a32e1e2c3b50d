//! Payment providers of projects, and their sandboxes. A provider's secrets are encrypted before the domain's rules see
//! them, so that no document has them in the clear.

use actors::Cipher;
use domain::{
    Timestamp,
    catalog::{
        self, Account, AccountCheck, Ciphertext, Document, Project, ProjectChange, Provider,
        ProviderAccount, ProviderEpoch, Refusal, Sandbox, SandboxChange, SecretText, Stripe,
        StripeAccount,
    },
    id::ProjectId,
};
use secrecy::{ExposeSecret as _, SecretString};

use super::{CatalogStore, Error, store::find};

/// The payment provider to set for a project.
#[derive(Debug, Clone)]
pub enum ProviderChange {
    /// No provider: nothing can be bought any more.
    None,
    /// The built-in sandbox.
    Sandbox,
    /// A Stripe account. An omitted secret keeps its former value.
    Stripe {
        /// The account's API key.
        secret_key: Option<SecretString>,
        /// The secret that its webhooks are signed with.
        webhook_secret: Option<SecretString>,
    },
}

/// A [`ProviderChange`] whose secrets fit their bounds and are encrypted.
pub(super) struct SealedChange {
    change: catalog::ProviderChange,
    /// In the clear, to compare with a stored secret, because encrypting one text twice gives two results.
    webhook_secret: Option<SecretText>,
}

impl ProviderChange {
    /// Checks its secrets without the stored ones.
    /// # Errors
    /// [`Refusal::Invalid`] for the first secret out of its bounds; it never repeats what was sent.
    pub fn check(&self) -> Result<(), Refusal> {
        let Self::Stripe {
            secret_key,
            webhook_secret,
        } = self
        else {
            return Ok(());
        };
        let text = |secret: &SecretString| secret.expose_secret().to_owned();
        secret_key
            .as_ref()
            .map(text)
            .map(SecretText::key)
            .transpose()?;
        let webhook = webhook_secret.as_ref().map(text);
        webhook.map(SecretText::webhook).transpose().map(drop)
    }

    pub(super) fn seal(self, cipher: &Cipher) -> Result<SealedChange, Refusal> {
        let (secret_key, webhook_secret) = match self {
            Self::None => return Ok(SealedChange::bare(catalog::ProviderChange::None)),
            Self::Sandbox => return Ok(SealedChange::bare(catalog::ProviderChange::Sandbox)),
            Self::Stripe {
                secret_key,
                webhook_secret,
            } => (secret_key, webhook_secret),
        };
        let sealed = |secret: &SecretText| Ciphertext(cipher.seal(secret.as_str().as_bytes()));
        let text = |secret: SecretString| secret.expose_secret().to_owned();
        let secret_key = secret_key.map(|key| SecretText::key(text(key)));
        let webhook_secret = webhook_secret.map(|secret| SecretText::webhook(text(secret)));
        let (secret_key, webhook_secret) = (secret_key.transpose()?, webhook_secret.transpose()?);
        Ok(SealedChange {
            change: catalog::ProviderChange::Stripe {
                secret_key: secret_key.as_ref().map(sealed),
                webhook_secret: webhook_secret.as_ref().map(sealed),
            },
            webhook_secret,
        })
    }
}

impl SealedChange {
    const fn bare(change: catalog::ProviderChange) -> Self {
        Self {
            change,
            webhook_secret: None,
        }
    }

    pub(super) fn decide(
        self,
        project: ProjectId,
        current: Option<&Provider>,
        account_check: AccountCheck,
        cipher: &Cipher,
        now: Timestamp,
    ) -> Result<Provider, Refusal> {
        let secret = self.webhook_secret.as_ref().map(SecretText::as_str);
        let is_other =
            |stored: &Ciphertext| cipher.open(&stored.0).as_deref() != secret.map(str::as_bytes);
        self.change
            .decide(project, current, account_check, is_other, now)
    }
}

impl CatalogStore {
    /// Changes a project, and its payment provider if there is one to set.
    /// # Errors
    /// [`Refusal::Invalid`] when an input breaks a rule, [`Refusal::ProjectNotFound`], [`Error::Wallets`] when it
    /// cannot be logged.
    pub async fn update_project(
        &self,
        id: ProjectId,
        change: ProjectChange,
        provider: Option<ProviderChange>,
    ) -> Result<Project, Error> {
        let provider = provider.map(|provider| (provider, AccountCheck::default()));
        self.update(id, change, provider).await
    }

    /// As [`Self::update_project`], with the result of checking the provider.
    /// # Errors
    /// As for [`Self::update_project`].
    pub async fn set_provider(
        &self,
        id: ProjectId,
        change: ProjectChange,
        provider: ProviderChange,
        account_check: AccountCheck,
    ) -> Result<Project, Error> {
        self.update(id, change, Some((provider, account_check)))
            .await
    }

    async fn update(
        &self,
        id: ProjectId,
        change: ProjectChange,
        provider: Option<(ProviderChange, AccountCheck)>,
    ) -> Result<Project, Error> {
        change.check()?;
        let cipher = self.shared.cipher.clone();
        let handle = self.shared.handle.clone();
        let provider = provider.map(|(provider, account_check)| {
            Ok::<_, Refusal>((provider.seal(&cipher)?, account_check))
        });
        let provider = provider.transpose()?;
        self.change(move |catalog, now| {
            let current = find(catalog, id)?;
            let mut project = change.decide(&current.project)?;
            project.mails.begin_after(handle.last_event_number());
            let mut documents = vec![Document::Project(project.clone())];
            if let Some((provider, account_check)) = provider {
                let provider =
                    provider.decide(id, current.provider(), account_check, &cipher, now)?;
                documents.push(Document::Provider(provider));
            }
            Ok((documents, project))
        })
        .await
    }

    /// Adds a webhook secret to a project's Stripe account, if `epoch` is still its provider's.
    /// # Errors
    /// [`Refusal::Invalid`] when an input breaks a rule, [`Refusal::ProjectNotFound`], [`Error::Wallets`] when it
    /// cannot be logged.
    pub async fn add_webhook_secret(
        &self,
        project: ProjectId,
        epoch: u32,
        secret: SecretString,
    ) -> Result<(), Error> {
        let change = ProviderChange::Stripe {
            secret_key: None,
            webhook_secret: Some(secret),
        };
        let cipher = self.shared.cipher.clone();
        let change = change.seal(&cipher)?;
        self.change_provider(project, move |current, now| {
            let same = current.epoch.number == epoch;
            if !same || !matches!(current.account, Account::Stripe(_)) {
                return Ok(None);
            }
            let account_check = AccountCheck::default();
            let changed = change.decide(project, Some(current), account_check, &cipher, now);
            changed.map(Some)
        })
        .await
    }

    /// Marks a Stripe account as verified, unless its key changed since `checked`, and stores which account it is if that
    /// could be read.
    /// # Errors
    /// [`Refusal::ProjectNotFound`], [`Error::Wallets`] when it cannot be logged.
    pub async fn mark_provider_verified(
        &self,
        project: ProjectId,
        checked: &Stripe,
        account: Option<StripeAccount>,
    ) -> Result<(), Error> {
        let checked_key = checked.secret_key.clone();
        self.change_provider(project, move |current, _| {
            let Account::Stripe(stripe) = &current.account else {
                return Ok(None);
            };
            let same = stripe.secret_key == checked_key && !stripe.verified;
            let mut epoch = current.epoch.clone();
            // A known account stays: only somebody who sets a key may begin another epoch.
            if epoch.account == Some(ProviderAccount::Stripe(None)) {
                epoch.account = Some(ProviderAccount::Stripe(account));
            }
            Ok(same.then(|| Provider {
                account: Account::Stripe(Stripe {
                    verified: true,
                    ..stripe.clone()
                }),
                epoch,
                ..current.clone()
            }))
        })
        .await
    }

    /// Stores that everything begun before the provider's `epoch` has ended.
    /// # Errors
    /// [`Refusal::ProjectNotFound`], [`Error::Wallets`] when it cannot be logged.
    pub async fn finish_leaving_provider(
        &self,
        project: ProjectId,
        epoch: u32,
    ) -> Result<(), Error> {
        self.change_provider(project, move |current, _| {
            let leaving = current.epoch.number == epoch && current.epoch.leaving;
            Ok(leaving.then(|| Provider {
                epoch: ProviderEpoch {
                    leaving: false,
                    ..current.epoch.clone()
                },
                ..current.clone()
            }))
        })
        .await
    }

    /// Changes a project's provider, if it ever had one. `change` returns `None` to leave it as it is.
    async fn change_provider(
        &self,
        project: ProjectId,
        change: impl FnOnce(&Provider, Timestamp) -> Result<Option<Provider>, Refusal> + Send + 'static,
    ) -> Result<(), Error> {
        self.change(move |catalog, now| {
            let current = find(catalog, project)?.provider();
            let changed = current.map(|current| change(current, now)).transpose()?;
            let documents = changed.flatten().map(Document::Provider);
            Ok((documents.into_iter().collect(), ()))
        })
        .await
    }

    /// Changes how a project's sandbox delivers webhooks.
    /// # Errors
    /// [`Refusal::Invalid`] when an input breaks a rule, [`Refusal::ProjectNotFound`], [`Refusal::NoSandbox`],
    /// [`Error::Wallets`] when it cannot be logged.
    pub async fn update_sandbox(
        &self,
        project: ProjectId,
        change: SandboxChange,
    ) -> Result<Sandbox, Error> {
        change.check()?;
        self.change_sandbox(project, move |sandbox, _| change.decide(sandbox))
            .await
    }

    /// Moves a sandbox's clock to `ahead_millis` ahead of the server's; it never goes back.
    /// # Errors
    /// [`Refusal::ProjectNotFound`], [`Refusal::NoSandbox`], [`Error::Wallets`] when it cannot be logged.
    pub async fn advance_sandbox(
        &self,
        project: ProjectId,
        ahead_millis: i64,
    ) -> Result<Sandbox, Error> {
        self.change_sandbox(project, move |sandbox, _| {
            Ok(sandbox.with_clock_ahead(ahead_millis))
        })
        .await
    }

    async fn change_sandbox(
        &self,
        project: ProjectId,
        change: impl FnOnce(Sandbox, Timestamp) -> Result<Sandbox, Refusal> + Send + 'static,
    ) -> Result<Sandbox, Error> {
        self.change(move |catalog, now| {
            let catalog = find(catalog, project)?;
            let sandbox = catalog.sandbox().ok_or(Refusal::NoSandbox)?;
            let sandbox = change(sandbox, now)?;
            let provider = catalog.provider().map(|provider| Provider {
                sandbox,
                ..provider.clone()
            });
            let provider = provider.map(Document::Provider);
            Ok((provider.into_iter().collect(), sandbox))
        })
        .await
    }

    /// Decrypts a secret of a provider's account; `None` if it was encrypted under another server key.
    pub fn open_secret(&self, secret: &Ciphertext) -> Option<String> {
        String::from_utf8(self.shared.cipher.open(&secret.0)?).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_800_000_000_000);

    fn cipher() -> Cipher {
        Cipher::new(&[1; 32], "test")
    }

    fn stripe(secret_key: Option<&str>, webhook_secret: Option<&str>) -> ProviderChange {
        ProviderChange::Stripe {
            secret_key: secret_key.map(Into::into),
            webhook_secret: webhook_secret.map(Into::into),
        }
    }

    fn set(change: ProviderChange, current: Option<&Provider>) -> Provider {
        let change = change.seal(&cipher()).unwrap();
        let found = AccountCheck::default();
        change
            .decide(ProjectId(1), current, found, &cipher(), NOW)
            .unwrap()
    }

    fn secrets(provider: &Provider) -> Vec<String> {
        let Account::Stripe(account) = &provider.account else {
            panic!("not Stripe")
        };
        let known = account.webhook_secrets.iter();
        known
            .map(|known| String::from_utf8(cipher().open(&known.secret.0).unwrap()).unwrap())
            .collect()
    }

    #[test]
    fn the_same_webhook_secret_again_is_no_replacement() {
        let first = set(stripe(Some("sk_test_1"), Some("whsec_a")), None);
        let second = set(stripe(None, Some("whsec_b")), Some(&first));
        assert_eq!(secrets(&second), ["whsec_b", "whsec_a"]);
        let again = set(stripe(None, Some("whsec_b")), Some(&second));
        assert_eq!(secrets(&again), ["whsec_b", "whsec_a"]);
    }

    #[test]
    fn secrets_are_kept_encrypted_and_never_printed() {
        let change = stripe(Some("sk_test_hush"), Some("whsec_hush"));
        assert!(!format!("{change:?}").contains("hush"));
        let provider = set(change, None);
        assert!(!format!("{provider:?}").contains("hush"));
        let Account::Stripe(account) = &provider.account else {
            panic!("a Stripe account was set")
        };
        let webhooks = account.webhook_secrets.iter().map(|known| &known.secret);
        for Ciphertext(kept) in webhooks.chain([&account.secret_key]) {
            assert!(!kept.windows(4).any(|part| part == b"hush"));
        }
    }

    #[test]
    fn a_secret_out_of_its_bounds_is_refused_before_it_is_sealed() {
        let Err(Refusal::Invalid { param, .. }) = stripe(Some("pk_1"), None).seal(&cipher()) else {
            panic!("a publishable key is no secret one")
        };
        assert_eq!(param, "provider.secretKey");
    }
}
