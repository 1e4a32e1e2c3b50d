//! A wallet of either kind, as it is read.

use std::ops::{Deref, DerefMut};

use api_types::{Holdings, PaymentMethod};
use serde::{Deserialize, Serialize};

/// A wallet in its current state. What it holds is read from it directly: `wallet.balances`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct WalletView {
    /// The recovery code of an anonymous wallet. Anyone who has it can spend the credits.
    pub code: Option<String>,
    /// The id of an external wallet, `wal_…`.
    pub wallet_id: Option<String>,
    /// Your own user's id, for an external wallet.
    pub external_user_id: Option<String>,
    /// The card on file of an external wallet.
    pub payment_method: Option<PaymentMethod>,
    /// The address that was set for mails about an external wallet.
    pub email: Option<String>,
    /// What it holds.
    #[serde(flatten)]
    pub holdings: Holdings,
}

impl WalletView {
    /// Credits of a product that can be spent now; 0 if it has none.
    #[must_use]
    pub fn balance(&self, product: &str) -> i64 {
        let of = self.balances.iter().find(|it| it.product_id == product);
        of.map_or(0, |it| it.balance)
    }
}

impl Deref for WalletView {
    type Target = Holdings;

    fn deref(&self) -> &Holdings {
        &self.holdings
    }
}

impl DerefMut for WalletView {
    fn deref_mut(&mut self) -> &mut Holdings {
        &mut self.holdings
    }
}
