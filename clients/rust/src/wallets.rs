//! Wallets: creating and reading them, their ledgers, recovery codes, features and portals.

use crate::{
    call::{Call, Head},
    client::Scrip,
    error::Error,
    pages::Pages,
    wallet_view::WalletView,
};
use api_types::{FrozenWallet, LedgerEntry};
use reqwest::Method;
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;

/// The address of a wallet: a user's id or a recovery code.
#[derive(Debug, Clone)]
pub struct Wallet(Address);

#[derive(Debug, Clone)]
enum Address {
    External(String),
    /// Anyone who has the code can spend the credits, so it is kept out of logs.
    Code(SecretString),
}

/// Which ledger entries to read; all by default.
#[derive(Debug, Clone, Default)]
pub struct LedgerFilter {
    /// Only those of this product.
    pub product_id: Option<String>,
    /// Only those with this reason, such as `deduction`.
    pub reason: Option<String>,
}

impl Wallet {
    /// The wallet of your own user. Needs a secret key.
    pub fn external(user: impl Into<String>) -> Self {
        Self(Address::External(user.into()))
    }

    /// The user that it belongs to; none where it is found by its code.
    pub(crate) fn user(&self) -> Option<&str> {
        match &self.0 {
            Address::External(user) => Some(user),
            _ => None,
        }
    }

    /// An anonymous wallet, by its recovery code.
    pub fn code(code: impl Into<String>) -> Self {
        Self(Address::Code(SecretString::from(code.into())))
    }

    /// The field of a body that names it.
    pub(crate) fn field(&self) -> (&'static str, &str) {
        match &self.0 {
            Address::External(user) => ("externalUserId", user.as_str()),
            Address::Code(code) => ("code", code.expose_secret()),
        }
    }

    /// Its name, the same for all spellings of a code.
    pub(crate) fn name(&self) -> String {
        match &self.0 {
            Address::External(user) => format!("user {user}"),
            Address::Code(code) => {
                let letters = code.expose_secret().chars();
                let letters = letters.filter(char::is_ascii_alphanumeric);
                let plain = letters.map(|letter| match letter.to_ascii_uppercase() {
                    'I' | 'L' => '1',
                    'O' => '0',
                    letter => letter,
                });
                format!("code {}", plain.collect::<String>())
            }
        }
    }

    /// A POST to this wallet's own path below `/wallets`.
    pub(crate) fn post(&self, verb: &str) -> Call {
        match &self.0 {
            Address::External(_) => Call::post(["wallets", "external", verb]).of(self),
            Address::Code(code) => Call::post(["wallets", code.expose_secret(), verb]),
        }
    }

    /// A PUT to this wallet's own path, which may be repeated.
    pub(crate) fn put(&self, what: &str) -> Call {
        Call {
            method: Method::PUT,
            ..self.post(what).repeatable()
        }
    }

    /// A GET of this wallet's own path below `/wallets`.
    pub(crate) fn get(&self, what: &[&str]) -> Call {
        match &self.0 {
            Address::External(user) => {
                let path = ["wallets", "external"].into_iter();
                Call::get(path.chain(what.iter().copied())).query("externalUserId", Some(user))
            }
            Address::Code(code) => {
                let path = ["wallets", code.expose_secret()].into_iter();
                Call::get(path.chain(what.iter().copied()))
            }
        }
    }
}

impl Scrip {
    /// Creates an anonymous wallet; its recovery code is only in the result.
    /// # Errors
    /// `wallet_creation_limit`, `anonymous_wallets_disabled`, and the errors of any call.
    pub async fn create_wallet(&self) -> Result<WalletView, Error> {
        self.call(Call::post(["wallets"])).await
    }

    /// Creates the wallet of your own user, or returns the existing one.
    /// # Errors
    /// `secret_key_required`, and the errors of any call.
    pub async fn open_wallet(&self, user: impl Into<String>) -> Result<WalletView, Error> {
        self.call(Call::open_wallet(&user.into())).await
    }

    /// Takes from a wallet, or sets aside in it. A user who has none gets one: it may begin with free credits.
    pub(crate) async fn spend<T: DeserializeOwned>(
        &self,
        wallet: &Wallet,
        call: Call,
    ) -> Result<(T, Head), Error> {
        match (self.http.answer(call.clone()).await, wallet.user()) {
            (Err(error), Some(user)) if error.code() == Some("wallet_not_found") => {
                self.open_wallet(user).await?;
                self.http.answer(call).await
            }
            (done, _) => done,
        }
    }

    /// Reads a wallet. Never creates one.
    /// # Errors
    /// `wallet_not_found`, and the errors of any call.
    pub async fn wallet(&self, wallet: &Wallet) -> Result<WalletView, Error> {
        self.call(wallet.get(&[])).await
    }

    /// A wallet's ledger, newest entry first.
    #[must_use]
    pub fn ledger(&self, wallet: &Wallet, filter: LedgerFilter) -> Pages<LedgerEntry> {
        let call = wallet
            .get(&["ledger"])
            .query("limit", Some(100))
            .query("productId", filter.product_id)
            .query("reason", filter.reason);
        Pages::new(self, call, "cursor")
    }

    /// Freezes a wallet's credits, with a reason that refusals give; reads, grants, refunds
    /// and payments under way go on.
    /// # Errors
    /// `secret_key_required`, `wallet_not_found`, and the errors of any call.
    pub async fn freeze(
        &self,
        wallet: &Wallet,
        reason: Option<&str>,
    ) -> Result<FrozenWallet, Error> {
        let call = Call::post(["wallets", "freeze"]).of(wallet);
        let call = call.with("frozen", true).with("reason", reason);
        self.call(call.repeatable()).await
    }

    /// Lets a frozen wallet be used again.
    /// # Errors
    /// As [`Scrip::freeze`].
    pub async fn thaw(&self, wallet: &Wallet) -> Result<FrozenWallet, Error> {
        let call = Call::post(["wallets", "freeze"]).of(wallet);
        self.call(call.with("frozen", false).repeatable()).await
    }

    /// Replaces an anonymous wallet's recovery code; the old code no longer works, and holds that were placed
    /// with a publishable key are released. For a day the same idempotency key returns the same new code.
    /// # Errors
    /// `wallet_not_found`, and the errors of any call; [`crate::ErrorKind::Misused`] for an external wallet,
    /// which has no code.
    pub async fn rotate_code(
        &self,
        wallet: &Wallet,
        idempotency_key: Option<String>,
    ) -> Result<String, Error> {
        #[derive(Deserialize)]
        struct Rotated {
            code: String,
        }
        let Address::Code(code) = &wallet.0 else {
            return Err(Error::misused("an external wallet has no code"));
        };
        let mut call = Call::post(["wallets", code.expose_secret(), "rotate"]);
        if let Some(key) = idempotency_key {
            call = call.with("idempotencyKey", key);
        }
        let rotated: Rotated = self.call(call.keyed()).await?;
        Ok(rotated.code)
    }

    /// Mails the codes of paid anonymous wallets to their buyer. The response does not say whether there are
    /// any.
    /// # Errors
    /// The errors of any call.
    pub async fn recover(&self, email: impl Into<String>) -> Result<(), Error> {
        let call = Call::post(["wallets", "recover"]).with("email", email.into());
        let _nothing: Option<Value> = self.call(call).await?;
        Ok(())
    }

    /// Grants a feature by hand; returns all of the wallet's features.
    /// # Errors
    /// `secret_key_required`, `wallet_not_found`, and the errors of any call.
    pub async fn grant_feature(
        &self,
        wallet: &Wallet,
        feature: impl Into<String>,
    ) -> Result<Vec<String>, Error> {
        self.set_feature(wallet, feature.into(), "grant").await
    }

    /// Revokes a feature granted by hand, but none that was bought; returns all of the wallet's features.
    /// # Errors
    /// The errors of [`Scrip::grant_feature`].
    pub async fn revoke_feature(
        &self,
        wallet: &Wallet,
        feature: impl Into<String>,
    ) -> Result<Vec<String>, Error> {
        self.set_feature(wallet, feature.into(), "revoke").await
    }

    async fn set_feature(
        &self,
        wallet: &Wallet,
        feature: String,
        action: &str,
    ) -> Result<Vec<String>, Error> {
        #[derive(Deserialize)]
        struct Features {
            features: Vec<String>,
        }
        let call = Call::post(["features"]).of(wallet);
        let call = call.with("feature", feature).with("action", action);
        let now: Features = self.call(call.repeatable()).await?;
        Ok(now.features)
    }

    /// The address of the provider's page where the buyer manages invoices, payment methods and subscriptions.
    /// # Errors
    /// `no_purchase`, `provider_not_configured`, `provider_error`, and the errors of any call.
    pub async fn portal(
        &self,
        wallet: &Wallet,
        return_url: impl Into<String>,
    ) -> Result<String, Error> {
        self.open_portal(wallet, None, return_url.into()).await
    }

    /// The same for the customer of one of the wallet's subscriptions, by its id.
    /// # Errors
    /// `subscription_not_found`, and the errors of [`Scrip::portal`].
    pub async fn portal_of(
        &self,
        wallet: &Wallet,
        subscription_id: impl Into<String>,
        return_url: impl Into<String>,
    ) -> Result<String, Error> {
        let subscription = Some(subscription_id.into());
        self.open_portal(wallet, subscription, return_url.into())
            .await
    }

    async fn open_portal(
        &self,
        wallet: &Wallet,
        subscription: Option<String>,
        back: String,
    ) -> Result<String, Error> {
        #[derive(Deserialize)]
        struct Portal {
            url: String,
        }
        let call = match &wallet.0 {
            Address::External(_) => wallet
                .post("portal")
                .with("returnUrl", back)
                .with("subscriptionId", subscription),
            Address::Code(_) => wallet
                .get(&["portal"])
                .query("returnUrl", Some(back))
                .query("subscriptionId", subscription),
        };
        let portal: Portal = self.call(call).await?;
        Ok(portal.url)
    }
}
