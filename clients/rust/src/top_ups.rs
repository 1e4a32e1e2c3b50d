//! Cards on file, and the automatic top-up that charges them.

use crate::{
    call::{Call, setters},
    client::Scrip,
    error::Error,
    wallets::Wallet,
};
use api_types::AutoTopUp;
use reqwest::Method;
use serde::{Deserialize, Serialize};

const AUTO_TOP_UP: &str = "auto-top-up";
const PAYMENT_METHOD: &str = "payment-method";

/// An automatic top-up to be switched on.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NewAutoTopUp {
    enabled: bool,
    price_id: String,
    threshold: u64,
    monthly_limit_cents: u64,
    consent: Consent,
    target: Option<u64>,
    quantity: Option<u32>,
    max_per_day: Option<u32>,
    charge_now: Option<bool>,
}

#[derive(Debug, Clone, Serialize)]
struct Consent {
    text: String,
}

impl NewAutoTopUp {
    /// Buys a price, `price_…`, when fewer credits than `threshold` can be spent, for at most `monthly_limit_cents` in a
    /// month. `consent` is the text that the buyer agreed to.
    pub fn new(
        price: impl Into<String>,
        threshold: u64,
        monthly_limit_cents: u64,
        consent: impl Into<String>,
    ) -> Self {
        Self {
            enabled: true,
            price_id: price.into(),
            threshold,
            monthly_limit_cents,
            consent: Consent {
                text: consent.into(),
            },
            target: None,
            quantity: None,
            max_per_day: None,
            charge_now: None,
        }
    }
}

setters! { NewAutoTopUp {
    /// Buys as many as bring what can be spent to this many credits.
    target(u64) -> target,
    /// Buys this many instead: one by default.
    quantity(u32) -> quantity,
    /// Sets the most attempts in a day: 3 by default.
    max_per_day(u32) -> max_per_day,
    /// Charges at once where less than the threshold can be spent already.
    charge_now(bool) -> charge_now,
} }

impl Scrip {
    /// Opens a page on which a user enters a card, which may then be charged without them; its URL.
    /// # Errors
    /// `redirect_not_allowed`, `provider_not_configured`, and the errors of any call.
    pub async fn set_up_payment_method(
        &self,
        wallet: &Wallet,
        return_url: &str,
    ) -> Result<String, Error> {
        #[derive(Deserialize)]
        struct Page {
            url: String,
        }
        let call = wallet.post(PAYMENT_METHOD).with("returnUrl", return_url);
        let Page { url } = self.call(call).await?;
        Ok(url)
    }

    /// Forgets a user's card, at the provider too. A wallet without one stays as it is.
    /// # Errors
    /// `wallet_not_found`, `provider_error`, and the errors of any call.
    pub async fn remove_payment_method(&self, wallet: &Wallet) -> Result<(), Error> {
        let call = Call {
            method: Method::DELETE,
            ..wallet.get(&[PAYMENT_METHOD])
        };
        self.call(call).await
    }

    /// Switches the automatic top-up on, or replaces it; `None` switches it off.
    /// # Errors
    /// `price_not_found`, `payment_method_required`, `wallet_not_found`, and the errors of any call.
    pub async fn set_auto_top_up(
        &self,
        wallet: &Wallet,
        top_up: Option<&NewAutoTopUp>,
    ) -> Result<AutoTopUp, Error> {
        let call = wallet.put(AUTO_TOP_UP);
        let call = match top_up {
            Some(top_up) => call.body(top_up)?,
            None => call.with("enabled", false),
        };
        self.call(call).await
    }

    /// Reads the automatic top-up, and where it stands.
    /// # Errors
    /// `wallet_not_found`, and the errors of any call.
    pub async fn read_auto_top_up(&self, wallet: &Wallet) -> Result<AutoTopUp, Error> {
        self.call(wallet.get(&[AUTO_TOP_UP])).await
    }

    /// Sets the address for mails about a user's wallet; `None`: to its last buyer.
    /// # Errors
    /// `invalid_request`, and the errors of any call.
    pub async fn update_wallet(&self, user: &str, email: Option<&str>) -> Result<(), Error> {
        let call = Call {
            method: Method::PATCH,
            ..Call::open_wallet(user).with("email", email)
        };
        let _: serde_json::Value = self.call(call).await?;
        Ok(())
    }
}
