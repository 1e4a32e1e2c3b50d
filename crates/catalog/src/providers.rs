//! Encrypts a provider's secrets before the domain's rules see them, so that no document has them in the clear.

use actors::Cipher;
use domain::{
    Timestamp,
    catalog::{self, AccountCheck, Ciphertext, Provider, Refusal, SecretText},
    id::ProjectId,
};
use secrecy::{ExposeSecret as _, SecretString};

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

#[cfg(test)]
mod tests {
    use domain::catalog::Account;

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
