//! Grants and deducts credits, each once per idempotency key.

use crate::{
    call::{Call, setters},
    client::Scrip,
    error::Error,
    gather::Item,
    rate_cards::{Cost, Metered},
    wallets::Wallet,
};
use api_types::{Credited, Deducted, ErrorBody};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

/// A grant of credits.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Credit {
    product_id: String,
    amount: u64,
    idempotency_key: Option<String>,
    expires_at: Option<Timestamp>,
    meta: Option<Value>,
}

/// A deduction of credits.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Deduct {
    product_id: Option<String>,
    #[serde(flatten)]
    cost: Cost,
    idempotency_key: Option<String>,
    meta: Option<Value>,
    on_shortfall: Option<OnShortfall>,
    member: Option<String>,
}

/// What becomes of a cost that the balance does not cover.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OnShortfall {
    /// Nothing is charged: `insufficient_credits`.
    Refuse,
    /// What can be spent is charged, and the rest is written off.
    Drain,
    /// What can be spent is charged, and the rest is owed as far as the limit of debt allows.
    Owe,
}

/// One deduction of a batch.
#[derive(Debug, Clone)]
pub struct BatchItem {
    /// The wallet to deduct from.
    pub wallet: Wallet,
    /// The deduction itself.
    pub deduct: Deduct,
}

impl Credit {
    /// Grants `amount` credits of a product that never expire.
    pub fn new(product: impl Into<String>, amount: u64) -> Self {
        Self {
            product_id: product.into(),
            amount,
            idempotency_key: None,
            expires_at: None,
            meta: None,
        }
    }
}

setters! { Credit {
    /// Sets the idempotency key: a repetition with the same key grants nothing. A new one is used by default.
    key(impl Into<String>) -> idempotency_key,
    /// Sets when unused credits expire.
    expires_at(Timestamp) -> expires_at,
    /// Sets a note for the ledger: a JSON object of at most 4 KiB.
    meta(Value) -> meta,
} }

impl Deduct {
    /// Deducts `amount` credits of the project's only product with credits.
    #[must_use]
    pub fn new(amount: u64) -> Self {
        Self {
            product_id: None,
            cost: Cost::Credits { amount },
            idempotency_key: None,
            meta: None,
            on_shortfall: None,
            member: None,
        }
    }

    /// Deducts what was used costs by its rate card.
    #[must_use]
    pub fn of(used: Metered) -> Self {
        Self {
            cost: Cost::Metered(used),
            ..Self::new(0)
        }
    }
}

setters! { Deduct {
    /// Sets what becomes of the amount where the balance does not cover it: refused by default.
    on_shortfall(OnShortfall) -> on_shortfall,
    /// Sets which of those who share the wallet uses them: limits count it.
    member(impl Into<String>) -> member,
    /// Sets the product: required where a project has several, and for anonymous wallets.
    product(impl Into<String>) -> product_id,
    /// Sets the idempotency key: a repetition with the same key deducts nothing. A new one is used by default.
    key(impl Into<String>) -> idempotency_key,
    /// Sets a note for the ledger: a JSON object of at most 4 KiB. Its `feature` divides usage.
    meta(Value) -> meta,
} }

impl Scrip {
    /// Grants credits. A user without a wallet gets one.
    /// # Errors
    /// `secret_key_required`, `wallet_not_found`, `product_not_found`, `idempotency_key_reused`,
    /// `balance_limit`, `too_many_lots`, and the errors of any call.
    pub async fn credit(&self, wallet: &Wallet, credit: Credit) -> Result<Credited, Error> {
        let call = Call::post(["credit"]).of(wallet).body(&credit)?.keyed();
        match &self.gatherers {
            Some(of) if of.grants.is_open() => of.grants.call(Item::of_wallet(wallet, call)?).await,
            _ => self.call(call).await,
        }
    }

    /// Deducts credits, all of them or none; with [`Deduct::on_shortfall`] as many as there are.
    /// # Errors
    /// `insufficient_credits` (the refusal says how many are missing and which prices would cover them),
    /// `limit_exceeded` (it says which limit, and when that resets), `too_many_scopes`,
    /// `wallet_not_found`, `product_required`, `idempotency_key_reused`, and the errors of any call.
    pub async fn deduct(&self, wallet: &Wallet, deduct: Deduct) -> Result<Deducted, Error> {
        let is_key_new = deduct.idempotency_key.is_none();
        let call = wallet.post("deduct").body(&deduct)?.keyed();
        let done = match &self.gatherers {
            Some(of) if of.deductions.is_open() => {
                of.deductions.call(Item::of_wallet(wallet, call)?).await?
            }
            _ => self.spend(wallet, call).await?.0,
        };
        Ok(own(done, is_key_new))
    }

    /// Deducts credits from up to 1,000 wallets, each independently; returns the results in order. Several
    /// deductions from one wallet are made in order.
    /// # Errors
    /// `invalid_request` names a malformed item, and then nothing is deducted; the errors of any call.
    pub async fn deduct_batch(
        &self,
        items: Vec<BatchItem>,
    ) -> Result<Vec<Result<Deducted, Box<ErrorBody>>>, Error> {
        let is_key_new = |item: &BatchItem| item.deduct.idempotency_key.is_none();
        let new_keys: Vec<_> = items.iter().map(is_key_new).collect();
        let items = items.iter().map(|BatchItem { wallet, deduct }| {
            // An item is what a deduction by itself would send.
            let item = Call::post(["deductions"]).of(wallet).body(deduct)?;
            Ok(item.keyed().body)
        });
        let items = items.collect::<Result<_, Error>>()?;
        let results = self.batch("deductions", items).await?;
        let results = results.into_iter().zip(new_keys);
        let results = results.map(|(result, is_key_new)| Ok(own(result?, is_key_new)));
        Ok(results.collect())
    }
}

/// An answer under a key that was made for its call: where it is a repeat, this call did it before.
fn own(mut done: Deducted, is_key_new: bool) -> Deducted {
    let is_anything = |charged: i64| charged.saturating_add(done.owed.unwrap_or(0)) > 0;
    done.deducted |= is_key_new && done.charged.is_none_or(is_anything);
    done
}
