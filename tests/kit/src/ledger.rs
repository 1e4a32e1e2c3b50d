//! Reads an external wallet: its view and every page of its ledger.

use crate::client::Client;
use serde_json::Value;

/// A ledger entry, with the fields that the books check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The entry's id, `led_…`.
    pub id: String,
    /// The change, in credits.
    pub delta: i64,
    /// The reason, such as `deduction`.
    pub reason: String,
    /// The idempotency key of the operation.
    pub key: Option<String>,
    /// The balance after it, held credits included.
    pub balance_after: i64,
}

/// Spendable and held credits of one product.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Balance {
    /// Credits that can be spent.
    pub balance: i64,
    /// What open holds have set aside.
    pub held: i64,
}

/// Entries per request: the most that the API allows.
const PAGE: usize = 100;

/// All entries of an external wallet, newest first; `None` where there is no such wallet.
/// `wallet` must need no escaping in a URL.
pub async fn entries(client: &Client, wallet: &str) -> Option<Vec<Entry>> {
    let path = format!("/api/v1/wallets/external/ledger?externalUserId={wallet}&limit={PAGE}");
    let mut all = Vec::new();
    let mut cursor = String::new();
    loop {
        let reply = client.get(&format!("{path}{cursor}")).await;
        if reply.status == 404 && reply.code() == "wallet_not_found" {
            return None;
        }
        let body = reply.expect(200);
        all.extend(page(&body));
        match body["nextCursor"].as_str() {
            Some(next) => cursor = format!("&cursor={}", escape(next)),
            None => return Some(all),
        }
    }
}

/// The entries in one page of a ledger.
pub fn page(body: &Value) -> Vec<Entry> {
    let list = body["entries"]
        .as_array()
        .unwrap_or_else(|| panic!("no `entries` in {body}"));
    list.iter().map(entry).collect()
}

fn entry(body: &Value) -> Entry {
    let number = |field: &str| {
        body[field]
            .as_i64()
            .unwrap_or_else(|| panic!("no integer `{field}` in {body}"))
    };
    let text = |field: &str| body[field].as_str().map(str::to_owned);
    Entry {
        id: text("id").unwrap_or_else(|| panic!("no `id` in {body}")),
        delta: number("delta"),
        reason: text("reason").unwrap_or_else(|| panic!("no `reason` in {body}")),
        key: text("idempotencyKey"),
        balance_after: number("balanceAfter"),
    }
}

/// The balance of one product in an external wallet; `None` where there is no such wallet.
pub async fn balance(client: &Client, wallet: &str, product: &str) -> Option<Balance> {
    let reply = client
        .get(&format!("/api/v1/wallets/external?externalUserId={wallet}"))
        .await;
    if reply.status == 404 && reply.code() == "wallet_not_found" {
        return None;
    }
    let body = reply.expect(200);
    let balances = body["balances"].as_array().cloned().unwrap_or_default();
    let line = balances.iter().find(|line| line["productId"] == product);
    Some(line.map_or_else(Balance::default, |line| {
        Balance {
            balance: line["balance"]
                .as_i64()
                .unwrap_or_else(|| panic!("no `balance` in {line}")),
            // Omitted when it is zero.
            held: line["held"].as_i64().unwrap_or_default(),
        }
    }))
}

/// Percent-encodes a cursor, which is opaque and may contain anything.
fn escape(text: &str) -> String {
    text.bytes().fold(String::new(), |mut escaped, byte| {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            escaped.push(char::from(byte));
        } else {
            escaped.push_str(&format!("%{byte:02X}"));
        }
        escaped
    })
}
