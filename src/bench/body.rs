//! The bodies of the load as the real endpoints read them: borrowed texts, the note left as text.
//! Their own types are theirs alone; these check less, so that what a real request checks counts
//! as its cost.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// A deduction, single or of a batch.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Deduct<'a> {
    #[serde(borrow)]
    external_user_id: Option<Text<'a>>,
    #[serde(borrow)]
    product_id: Option<Text<'a>>,
    amount: i64,
    #[serde(borrow)]
    idempotency_key: Text<'a>,
    #[serde(borrow)]
    meta: Option<&'a RawValue>,
}

/// A text, borrowed unless it has escapes.
#[derive(Debug, Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

/// A batch of deductions.
#[derive(Debug, Deserialize)]
pub struct Batch<'a> {
    #[serde(borrow)]
    items: Vec<Deduct<'a>>,
}

/// What a deduction is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Answer {
    balance: i64,
    deducted: bool,
}

/// What a batch is answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Answers {
    results: Vec<Answer>,
}

impl Deduct<'_> {
    /// An answer as the real one's; `None` for what it would refuse.
    #[must_use]
    pub fn answer(&self) -> Option<Answer> {
        std::hint::black_box(self.meta);
        let named = |text: &Option<Text<'_>>| text.as_ref().is_none_or(|t| !t.0.is_empty());
        let sound = self.amount > 0
            && !self.idempotency_key.0.is_empty()
            && named(&self.external_user_id)
            && named(&self.product_id);
        sound.then(|| Answer {
            balance: 1_000_000 - self.amount,
            deducted: true,
        })
    }
}

impl Batch<'_> {
    /// An answer as the real one's; `None` for what it would refuse.
    #[must_use]
    pub fn answer(&self) -> Option<Answers> {
        let results: Option<Vec<Answer>> = self.items.iter().map(Deduct::answer).collect();
        results.map(|results| Answers { results })
    }
}

/// A body of one deduction, as the load sends it.
#[must_use]
pub fn deduct_json(product: &str, user: &str, key: &str) -> String {
    format!(
        r#"{{"externalUserId":"{user}","productId":"{product}","amount":1,"idempotencyKey":"{key}","meta":{{"feature":"image"}}}}"#
    )
}

/// An item of a batch, as the load sends it.
#[must_use]
pub fn item_json(product: &str, user: &str, key: &str) -> String {
    format!(
        r#"{{"externalUserId":"{user}","productId":"{product}","amount":1,"idempotencyKey":"{key}"}}"#
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_load_sends_is_answered() {
        let text = deduct_json("prod_1", "user_1", "k1");
        let body: Deduct<'_> = serde_json::from_str(&text).unwrap();
        assert_eq!(
            body.answer(),
            Some(Answer {
                balance: 999_999,
                deducted: true
            })
        );
        let text = format!("{{\"items\":[{}]}}", item_json("prod_1", "user_1", "k1"));
        let body: Batch<'_> = serde_json::from_str(&text).unwrap();
        assert_eq!(body.answer().map(|answers| answers.results.len()), Some(1));
    }
}
