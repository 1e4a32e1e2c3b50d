//! A request that is built once: all requests have the same length, so that only the digits of wallets and keys
//! are rewritten.

use std::ops::Range;

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

/// A text that the body of every good response contains, and how often.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Expected {
    pub(crate) text: &'static str,
    pub(crate) times: usize,
}

/// A request as text, with placeholders for wallets and keys.
#[derive(Debug, Clone)]
pub(crate) struct Template {
    path: String,
    bearer: String,
    before: &'static str,
    item: String,
    after: &'static str,
    count: usize,
    expected: &'static str,
}

impl Template {
    /// A request with one item. In `body`, `{w}` is replaced by the user and `{k}` by the key.
    pub(crate) fn single(path: &str, bearer: &str, body: String, expected: &'static str) -> Self {
        let (path, bearer) = (path.into(), bearer.into());
        Self {
            path,
            bearer,
            before: "",
            item: body,
            after: "",
            count: 1,
            expected,
        }
    }

    /// A batch of `count` items.
    pub(crate) fn batch(
        path: &str,
        bearer: &str,
        item: String,
        count: usize,
        expected: &'static str,
    ) -> Self {
        let (path, bearer) = (path.into(), bearer.into());
        Self {
            path,
            bearer,
            before: "{\"items\":[",
            item,
            after: "]}",
            count,
            expected,
        }
    }

    /// Items in a request.
    pub(crate) const fn items(&self) -> u64 {
        self.count as u64
    }

    /// The request's bytes, with keys that no other load and no other thread uses.
    pub(super) fn for_thread(&self, run: u64, thread: usize) -> Request {
        let mut body = String::from(self.before);
        for item in 0..self.count {
            if item > 0 {
                body.push(',');
            }
            let key = format!(
                "k{run:0RUN_DIGITS$x}_{thread}_{item:03x}_{}",
                "?".repeat(KEY_DIGITS)
            );
            let wallet = format!("user_{}", "#".repeat(WALLET_DIGITS));
            body.push_str(&self.item.replace("{w}", &wallet).replace("{k}", &key));
        }
        body.push_str(self.after);
        let text = format!(
            "POST {} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            self.path,
            self.bearer,
            body.len(),
        );
        let expected = Expected {
            text: self.expected,
            times: self.count,
        };
        Request {
            wallets: places(&text, "#", WALLET_DIGITS),
            keys: places(&text, "?", KEY_DIGITS),
            bytes: text.into_bytes(),
            expected,
        }
    }
}

/// The places in a text where a sign is repeated `length` times.
fn places(text: &str, sign: &str, length: usize) -> Vec<Range<usize>> {
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
    /// Writes the wallets, and the request's number into its keys.
    pub(super) fn fill(&mut self, number: u64, mut wallet: impl FnMut() -> u64) -> &[u8] {
        for place in &self.wallets {
            write_digits(self.bytes.get_mut(place.clone()), wallet(), 10);
        }
        for place in &self.keys {
            write_digits(self.bytes.get_mut(place.clone()), number, 16);
        }
        &self.bytes
    }
}

fn write_digits(place: Option<&mut [u8]>, number: u64, base: u64) {
    let mut rest = number;
    for digit in place.into_iter().flatten().rev() {
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
        let item = r#"{"externalUserId":"{w}","idempotencyKey":"{k}"}"#.to_owned();
        let template = Template::batch("/path", "key", item, 2, "\"deducted\":true");
        let mut request = template.for_thread(0xabc, 1);
        let mut wallets = [7_u64, 1_234_567].into_iter();
        let text = String::from_utf8(request.fill(0x1f, || wallets.next().unwrap()).to_vec());
        let text = text.unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(&format!("Content-Length: {}", body.len())));
        let body: serde_json::Value = serde_json::from_str(body).unwrap();
        assert_eq!(body["items"][0]["externalUserId"], user(7));
        assert_eq!(body["items"][1]["externalUserId"], user(1_234_567));
        assert_eq!(
            body["items"][0]["idempotencyKey"],
            "k0000000000abc_1_000_000000001f"
        );
        assert_eq!(
            body["items"][1]["idempotencyKey"],
            "k0000000000abc_1_001_000000001f"
        );
    }
}
