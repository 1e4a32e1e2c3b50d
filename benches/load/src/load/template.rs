//! A request that is built once: all requests have the same length, so that only the digits of wallets and keys
//! are rewritten.

use std::ops::Range;

use memchr::memmem;

use crate::error::{Error, Result};

/// Decimal digits of a wallet's number.
const WALLET_DIGITS: usize = 7;
/// Hexadecimal digits of a request's number.
const KEY_DIGITS: usize = 10;
/// Hexadecimal digits of a load's number, which is microseconds since 1970: enough until 2112.
const RUN_DIGITS: usize = 13;

/// The external user id of a wallet.
pub(crate) fn user(wallet: u64) -> String {
    format!("user_{wallet:0WALLET_DIGITS$}")
}

/// A text that the body of a good response contains, and how often.
#[derive(Debug, Clone, Copy)]
pub(super) struct Expected {
    text: &'static str,
    times: usize,
}

impl Expected {
    pub(super) fn check(&self, status: u16, body: &[u8]) -> Result<()> {
        let found = memmem::find_iter(body, self.text);
        let count = found.take(self.times + 1).count();
        if status == 200 && count == self.times {
            return Ok(());
        }
        let excerpt = String::from_utf8_lossy(body.get(..body.len().min(400)).unwrap_or_default());
        Err(Error(format!(
            "a bad response: status {status}, `{}` {count} times instead of {}: {excerpt}",
            self.text, self.times
        )))
    }
}

/// A request as text, with placeholders for wallets and keys.
#[derive(Debug, Clone)]
pub(crate) struct Template {
    pub(crate) path: &'static str,
    pub(crate) bearer: String,
    /// The body, or an item of the batch: `{w}` is the user, `{k}` the key.
    pub(crate) item: String,
    /// How many items a batch has; `None`: the request is no batch.
    pub(crate) batch: Option<usize>,
    /// A text that a good response contains once for each item.
    pub(crate) expected: &'static str,
}

impl Template {
    pub(crate) fn items(&self) -> u64 {
        self.batch.unwrap_or(1) as u64
    }

    /// The request's bytes, with keys that no other load uses.
    pub(super) fn request(&self, run: u64) -> Request {
        let wallet = format!("user_{}", "#".repeat(WALLET_DIGITS));
        let item = |number: usize| {
            let digits = "?".repeat(KEY_DIGITS);
            let key = format!("k{run:0RUN_DIGITS$x}_{number:05x}_{digits}");
            self.item.replace("{w}", &wallet).replace("{k}", &key)
        };
        let body = match self.batch {
            None => item(0),
            Some(count) => {
                let items: Vec<String> = (0..count).map(item).collect();
                format!("{{\"items\":[{}]}}", items.join(","))
            }
        };
        let text = format!(
            "POST {} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            self.path,
            self.bearer,
            body.len(),
        );
        Request {
            wallets: positions(&text, "#", WALLET_DIGITS),
            keys: positions(&text, "?", KEY_DIGITS),
            bytes: text.into_bytes(),
            expected: Expected {
                text: self.expected,
                times: self.batch.unwrap_or(1),
            },
        }
    }
}

/// The positions in a text where a sign is repeated `length` times.
fn positions(text: &str, sign: &str, length: usize) -> Vec<Range<usize>> {
    text.match_indices(&sign.repeat(length))
        .map(|(at, found)| at..at + found.len())
        .collect()
}

/// A template's bytes, and where they change.
pub(super) struct Request {
    bytes: Vec<u8>,
    wallets: Vec<Range<usize>>,
    keys: Vec<Range<usize>>,
    pub(super) expected: Expected,
}

impl Request {
    /// Writes each item's wallet, and the request's number into its keys.
    pub(super) fn fill(&mut self, number: u64, wallet: impl Fn(u64) -> u64) -> &[u8] {
        for (item, position) in (0..).zip(&self.wallets) {
            write_digits(self.bytes.get_mut(position.clone()), wallet(item), 10);
        }
        for position in &self.keys {
            write_digits(self.bytes.get_mut(position.clone()), number, 16);
        }
        &self.bytes
    }
}

fn write_digits(digits: Option<&mut [u8]>, number: u64, base: u64) {
    let mut rest = number;
    for digit in digits.into_iter().flatten().rev() {
        let value = (rest % base) as u8;
        *digit = if value < 10 {
            b'0' + value
        } else {
            b'a' - 10 + value
        };
        rest /= base;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filled_request_is_valid_and_its_keys_are_unique() {
        let template = Template {
            path: "/path",
            bearer: "key".into(),
            item: r#"{"externalUserId":"{w}","idempotencyKey":"{k}"}"#.into(),
            batch: Some(2),
            expected: "\"deducted\":true",
        };
        let mut request = template.request(0xabc);
        let text = request.fill(0x1f, |item| 7 + item * 1_000_000).to_vec();
        let text = String::from_utf8(text).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(&format!("Content-Length: {}", body.len())));
        let body: serde_json::Value = serde_json::from_str(body).unwrap();
        assert_eq!(body["items"][0]["externalUserId"], user(7));
        assert_eq!(body["items"][1]["externalUserId"], user(1_000_007));
        let key = |item: usize| body["items"][item]["idempotencyKey"].as_str().unwrap();
        assert_eq!(key(0), "k0000000000abc_00000_000000001f");
        assert_eq!(key(1), "k0000000000abc_00001_000000001f");
    }

    #[test]
    fn a_response_is_good_if_it_says_so_for_each_item() {
        let expected = Expected {
            text: "\"deducted\":true",
            times: 2,
        };
        let (one, two) = (b"\"deducted\":true", b"\"deducted\":true,\"deducted\":true");
        assert!(expected.check(200, two).is_ok());
        assert!(expected.check(402, two).is_err());
        let error = expected.check(200, one).unwrap_err().to_string();
        assert!(error.contains("1 times instead of 2"), "{error}");
    }
}
