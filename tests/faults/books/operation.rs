//! The operations the fault tests send: each one HTTP request, and what it must leave in a ledger.

use serde_json::{Value, json};

/// One request. Keys are unique over a whole test.
#[derive(Debug, Clone)]
pub(crate) enum Operation {
    Grant(Item),
    Deduct(Item),
    Batch(Vec<Item>),
    Hold(Item),
    /// Settles the hold of an earlier operation. It has no key of its own; its amount is unique in its wallet
    /// and serves as one.
    Settle {
        hold: usize,
        wallet: String,
        amount: i64,
    },
    /// Reads the newest entries of a ledger: what a response shows must stay.
    Read {
        wallet: String,
    },
}

/// One movement of credits, in the direction of the operation it is in.
#[derive(Debug, Clone)]
pub(crate) struct Item {
    pub(crate) wallet: String,
    pub(crate) amount: i64,
    pub(crate) key: String,
    /// Bytes of padding in its `meta`, to fill disks with.
    pub(crate) padding: usize,
}

/// The ledger entry an operation must leave, once.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Mark {
    pub(crate) wallet: String,
    pub(crate) delta: i64,
    /// The entry's idempotency key; `None` where wallet and delta alone identify it.
    pub(crate) key: Option<String>,
}

impl Operation {
    /// Path below the base address, and the body of a POST; a GET has none.
    pub(crate) fn request(&self, product: &str, hold_id: Option<&str>) -> (String, Option<Value>) {
        let post = |path: &str, body| (format!("/api/v1{path}"), Some(body));
        // Half of what has a batch of its own goes as one of one item.
        let alone_or_in_batch = |path: &str, batch: &str, amount: i64, body: Value| match amount % 2
        {
            0 => post(batch, json!({ "items": [body] })),
            _ => post(path, body),
        };
        match self {
            Self::Grant(item) => {
                alone_or_in_batch("/credit", "/credit/batch", item.amount, item.body(product))
            }
            Self::Deduct(item) => post("/wallets/external/deduct", item.body(product)),
            Self::Batch(items) => {
                let items: Vec<_> = items.iter().map(|item| item.body(product)).collect();
                post("/deductions/batch", json!({ "items": items }))
            }
            Self::Hold(item) => {
                let mut body = item.body(product);
                // Longer than any test, so that none expires.
                body["expiresInSeconds"] = json!(86_400);
                alone_or_in_batch("/wallets/external/holds", "/holds/batch", item.amount, body)
            }
            Self::Settle { amount, .. } => {
                let id = hold_id.expect("a hold is settled only after its answer");
                let path = format!("/holds/{id}/settle");
                let body = json!({ "holdId": id, "amount": amount });
                alone_or_in_batch(&path, "/settlements/batch", *amount, body)
            }
            Self::Read { wallet } => {
                let query = format!("externalUserId={wallet}&limit=10");
                (format!("/api/v1/wallets/external/ledger?{query}"), None)
            }
        }
    }

    /// The idempotency keys in the request.
    pub(crate) fn keys(&self) -> Vec<&str> {
        match self {
            Self::Grant(item) | Self::Deduct(item) | Self::Hold(item) => vec![&item.key],
            Self::Batch(items) => items.iter().map(|item| item.key.as_str()).collect(),
            Self::Settle { .. } | Self::Read { .. } => vec![],
        }
    }

    /// The ledger entries it must leave. A hold leaves none.
    pub(crate) fn marks(&self) -> Vec<Mark> {
        match self {
            Self::Grant(item) => vec![item.mark(item.amount)],
            Self::Deduct(item) => vec![item.mark(-item.amount)],
            Self::Batch(items) => items.iter().map(|item| item.mark(-item.amount)).collect(),
            Self::Settle { wallet, amount, .. } => {
                vec![Mark {
                    wallet: wallet.clone(),
                    delta: -amount,
                    key: None,
                }]
            }
            Self::Hold(_) | Self::Read { .. } => vec![],
        }
    }

    /// Whether it changes anything.
    pub(crate) fn writes(&self) -> bool {
        !matches!(self, Self::Read { .. })
    }
}

impl Item {
    fn body(&self, product: &str) -> Value {
        let mut body = json!({
            "externalUserId": self.wallet, "productId": product, "amount": self.amount,
            "idempotencyKey": self.key,
        });
        if self.padding > 0 {
            body["meta"] = json!({ "padding": "p".repeat(self.padding) });
        }
        body
    }

    fn mark(&self, delta: i64) -> Mark {
        Mark {
            wallet: self.wallet.clone(),
            delta,
            key: Some(self.key.clone()),
        }
    }
}
