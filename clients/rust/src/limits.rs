//! Limits: how much may be used of a wallet, by whom, for what, in which time.

use crate::{call::setters, client::Scrip, error::Error, wallets::Wallet};
use api_types::{LimitState, Limits};
use serde::Serialize;

/// A limit to be set.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NewLimit {
    scope: String,
    amount: u64,
    window: String,
    unit: Option<String>,
    time_zone: Option<String>,
    product_id: Option<String>,
    alerts_at: Option<Vec<u8>>,
}

impl NewLimit {
    /// At most `amount` in each `window` (`hour`, `day`, `week`, `month`, `year` or `lifetime`), for a scope: `wallet`,
    /// `member:alice`, `member:*` (each), `feature:image`, `feature:*`, `key:key_…` or `key:*`.
    pub fn new(scope: impl Into<String>, amount: u64, window: impl Into<String>) -> Self {
        Self {
            scope: scope.into(),
            amount,
            window: window.into(),
            unit: None,
            time_zone: None,
            product_id: None,
            alerts_at: None,
        }
    }
}

setters! { NewLimit {
    /// Sets what is counted: `credits` by default, or `operations`.
    unit(impl Into<String>) -> unit,
    /// Sets where its calendar is, such as `Europe/Berlin`: UTC by default.
    time_zone(impl Into<String>) -> time_zone,
    /// Sets the product whose credits count: all by default.
    product(impl Into<String>) -> product_id,
    /// Sets at which percentages to alert, at most five.
    alerts_at(Vec<u8>) -> alerts_at,
} }

impl Scrip {
    /// Replaces a wallet's own limits; none removes them. Returns those in force. A user without a wallet gets one.
    /// # Errors
    /// `secret_key_required`, `wallet_not_found`, `product_not_found`, and the errors of any call.
    pub async fn set_limits(
        &self,
        wallet: &Wallet,
        limits: &[NewLimit],
    ) -> Result<Vec<LimitState>, Error> {
        #[derive(Serialize)]
        struct Request<'a> {
            limits: &'a [NewLimit],
        }
        let call = wallet.put("limits").body(&Request { limits })?;
        let Limits { limits, .. } = self.call(call).await?;
        Ok(limits)
    }

    /// Reads the limits in force; with a member, what that member used where a limit is about each.
    /// # Errors
    /// `wallet_not_found`, and the errors of any call.
    pub async fn limits(
        &self,
        wallet: &Wallet,
        member: Option<&str>,
    ) -> Result<Vec<LimitState>, Error> {
        let call = wallet.get(&["limits"]).query("member", member);
        let Limits { limits, .. } = self.call(call).await?;
        Ok(limits)
    }
}
