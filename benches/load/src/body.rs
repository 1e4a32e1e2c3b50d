//! The bodies of the load, as a plain axum handler reads them: owned strings, metadata parsed into a tree,
//! minimal checks. The real endpoints have their own types.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A deduction, alone or in a batch.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Deduct {
    external_user_id: Option<String>,
    product_id: Option<String>,
    amount: i64,
    idempotency_key: String,
    meta: Option<Value>,
}

/// A batch of deductions.
#[derive(Debug, Deserialize)]
pub(crate) struct Batch {
    items: Vec<Deduct>,
}

/// The response to a deduction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct Answer {
    balance: i64,
    deducted: bool,
}

/// The response to a batch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Answers {
    results: Vec<Answer>,
}

impl Deduct {
    /// The response that the real server would give; `None` for what it would refuse.
    #[must_use]
    pub(crate) fn answer(&self) -> Option<Answer> {
        std::hint::black_box(&self.meta);
        let is_given = |text: &Option<String>| text.as_ref().is_none_or(|t| !t.is_empty());
        let sound = self.amount > 0
            && !self.idempotency_key.is_empty()
            && is_given(&self.external_user_id)
            && is_given(&self.product_id);
        sound.then(|| Answer {
            balance: 1_000_000 - self.amount,
            deducted: true,
        })
    }
}

impl Batch {
    /// The response that the real server would give; `None` for what it would refuse.
    #[must_use]
    pub(crate) fn answer(&self) -> Option<Answers> {
        let results: Option<Vec<Answer>> = self.items.iter().map(Deduct::answer).collect();
        results.map(|results| Answers { results })
    }
}

/// The body of one deduction, as the load sends it.
#[must_use]
pub(crate) fn deduct_json(product: &str, user: &str, key: &str) -> String {
    format!(
        r#"{{"externalUserId":"{user}","productId":"{product}","amount":1,"idempotencyKey":"{key}","meta":{{"feature":"image"}}}}"#
    )
}

/// One item of a batch, as the load sends it.
#[must_use]
pub(crate) fn item_json(product: &str, user: &str, key: &str) -> String {
    format!(
        r#"{{"externalUserId":"{user}","productId":"{product}","amount":1,"idempotencyKey":"{key}"}}"#
    )
}
