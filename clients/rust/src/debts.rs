//! Debts: what a wallet may owe, and forgiving it.

use crate::{call::Call, client::Scrip, error::Error};
use api_types::{DebtState, Forgiven};
use serde::Serialize;

/// A debt to forgive.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Forgive {
    /// The product whose credits are owed.
    pub product_id: String,
    /// The most to forgive; all of it by default.
    pub amount: Option<u64>,
    /// Why it is forgiven, at most 500 characters.
    pub note: String,
    /// The idempotency key. A new one is used by default.
    pub idempotency_key: Option<String>,
}

impl Forgive {
    /// Forgives all that is owed of a product.
    pub fn all(product: impl Into<String>, note: impl Into<String>) -> Self {
        Self {
            product_id: product.into(),
            amount: None,
            note: note.into(),
            idempotency_key: None,
        }
    }
}

impl Scrip {
    /// Sets how much of a product your own user may owe, in place of the product's limit; `None`: the product's
    /// again. A limit creates the user's wallet.
    /// # Errors
    /// `secret_key_required`, `product_not_found`, `wallet_not_found` for `None`, and the errors of any call.
    pub async fn set_debt_limit(
        &self,
        user: &str,
        product: &str,
        limit: Option<u64>,
    ) -> Result<DebtState, Error> {
        let call = Call::post(["wallets", "external", "debt-limit"])
            .with("externalUserId", user)
            .with("productId", product)
            .with("debtLimit", limit);
        self.call(call.repeatable()).await
    }

    /// Forgives what your own user owes; nothing becomes a credit.
    /// # Errors
    /// `secret_key_required`, `wallet_not_found`, `product_not_found`, `idempotency_key_reused`, and the errors of
    /// any call.
    pub async fn forgive(&self, user: &str, forgive: Forgive) -> Result<Forgiven, Error> {
        let call = Call::post(["wallets", "external", "forgive"]).with("externalUserId", user);
        self.call(call.body(&forgive)?.keyed()).await
    }
}
