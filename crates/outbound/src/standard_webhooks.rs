//! Signs deliveries as in Standard Webhooks 1.0: HMAC-SHA256 over `<id>.<seconds>.<body>`. Written by hand,
//! as it is one line with the `hmac` crate that is a dependency already.

use data_encoding::BASE64;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

/// Header with the delivery's event id.
pub const ID: &str = "webhook-id";
/// Header with the second in which it is sent, since the epoch.
pub const TIMESTAMP: &str = "webhook-timestamp";
/// Header with the signatures.
pub const SIGNATURE: &str = "webhook-signature";

const PREFIX: &str = "whsec_";
/// Lengths of a secret in bytes that the standard allows.
const LENGTHS: std::ops::RangeInclusive<usize> = 24..=64;

/// A secret that signs deliveries. Never printed.
#[derive(Clone)]
pub struct Secret(Hmac<Sha256>);

impl Secret {
    /// Reads `whsec_…`; `None` if the text is not a secret.
    pub fn parse(text: &str) -> Option<Self> {
        Self::of(&BASE64.decode(text.strip_prefix(PREFIX)?.as_bytes()).ok()?)
    }

    /// Makes a secret of bytes; `None` if the standard does not allow their length.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        let fits = LENGTHS.contains(&bytes.len());
        fits.then(|| Hmac::new_from_slice(bytes).ok().map(Self))?
    }

    /// The text form `whsec_…` of a secret's bytes.
    pub fn text(bytes: &[u8; 24]) -> String {
        format!("{PREFIX}{}", BASE64.encode(bytes))
    }

    /// The signature of a delivery, `v1,…`.
    pub fn sign(&self, id: &str, seconds: i64, body: &[u8]) -> String {
        let mut mac = self.0.clone();
        mac.update(format!("{id}.{seconds}.").as_bytes());
        mac.update(body);
        format!("v1,{}", BASE64.encode(&mac.finalize().into_bytes()))
    }
}

/// The value of the signature header: one signature for each secret in force, so that a receiver may know
/// the old secret or the new one.
pub fn signatures(secrets: &[Vec<u8>], id: &str, seconds: i64, body: &[u8]) -> String {
    let secrets = secrets.iter().filter_map(|bytes| Secret::of(bytes));
    let signed = secrets.map(|secret| secret.sign(id, seconds, body));
    signed.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_standards_own_example_is_signed_as_it_says() {
        let secret = Secret::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let id = "msg_p5jXN8AQM9LWM0D4loKWxJek";
        let signed = secret.sign(id, 1_614_265_330, br#"{"test": 2432232314}"#);
        assert_eq!(signed, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn a_secret_is_as_long_as_the_standard_says() {
        let text = Secret::text(&[7; 24]);
        assert!(Secret::parse(&text).is_some());
        for bad in ["", "whsec_", "whsec_AAAA", "whsec_not base64", &text[6..]] {
            assert!(Secret::parse(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn both_of_two_secrets_sign() {
        let secrets = [vec![1; 32], vec![2; 24]];
        let one = |bytes: &[u8]| Secret::of(bytes).unwrap().sign("evt_1", 7, b"{}");
        let both = signatures(&secrets, "evt_1", 7, b"{}");
        assert_eq!(both, format!("{} {}", one(&secrets[0]), one(&secrets[1])));
    }
}
