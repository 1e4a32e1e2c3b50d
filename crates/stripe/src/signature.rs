//! The signature of a webhook, `Stripe-Signature: t=<seconds>,v1=<hex>[,v1=<hex>...]`: HMAC-SHA256
//! over `<t>.<raw body>`. Checked over the bytes as they came, before anything is parsed.

use std::fmt;

use data_encoding::{HEXLOWER, HEXLOWER_PERMISSIVE};
use domain::time::Timestamp;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use subtle::{Choice, ConstantTimeEq as _};

pub const HEADER: &str = "stripe-signature";
/// How far the header's time may be from ours, before or after.
pub const TOLERANCE_SECONDS: i64 = 300;
/// A header with two signatures has some 160 bytes. A longer one is rejected, which also bounds the comparisons.
const MAX_HEADER_BYTES: usize = 1024;

/// A secret that webhooks are signed with. Never printed.
#[derive(Clone)]
pub struct SigningSecret(Hmac<Sha256>);

impl SigningSecret {
    /// Takes the whole text including `whsec_`, as Stripe does. `None` if it is empty, since anybody could sign with
    /// that.
    pub fn new(text: &str) -> Option<Self> {
        if text.is_empty() {
            return None;
        }
        Hmac::new_from_slice(text.as_bytes()).ok().map(Self)
    }

    fn mac(&self, time: &[u8], body: &[u8]) -> [u8; 32] {
        let mut mac = self.0.clone();
        mac.update(time);
        mac.update(b".");
        mac.update(body);
        mac.finalize().into_bytes().into()
    }
}

impl fmt::Debug for SigningSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SigningSecret(..)")
    }
}

/// Why a webhook's signature is rejected; does not help to forge one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The header is malformed.
    #[error("the signature header is malformed")]
    Malformed,
    /// No signature matches a secret and this body.
    #[error("no signature matches")]
    Mismatch,
    /// Signed, but too long ago or ahead of our clock.
    #[error("the signature's time is more than 300 seconds from now")]
    Time,
}

/// Whether a header is well-formed with a signature. Checked before the body is read.
pub fn is_one(header: &[u8]) -> bool {
    parse(header).is_some_and(|parsed| !parsed.signatures.is_empty())
}

/// Checks a header against a body. Any of `secrets` matches, so that one can be replaced without losing events.
/// # Errors
/// [`Error::Malformed`], [`Error::Mismatch`], or, only where the signature is valid, [`Error::Time`].
pub fn verify(
    header: &[u8],
    body: &[u8],
    secrets: &[SigningSecret],
    now: Timestamp,
) -> Result<(), Error> {
    let SignatureHeader {
        time,
        seconds,
        signatures,
    } = parse(header).ok_or(Error::Malformed)?;
    let mut matches = Choice::from(0);
    for secret in secrets {
        let ours = secret.mac(time, body);
        // No early exit: the duration must not reveal the secret.
        for theirs in &signatures {
            matches |= ours.ct_eq(theirs);
        }
    }
    if !bool::from(matches) {
        return Err(Error::Mismatch);
    }
    let apart = now.0.div_euclid(1000).abs_diff(seconds);
    if apart > TOLERANCE_SECONDS.unsigned_abs() {
        return Err(Error::Time);
    }
    Ok(())
}

/// The signature header for a body that is sent now.
pub fn sign(secret: &SigningSecret, body: &[u8], now: Timestamp) -> String {
    let time = now.0.div_euclid(1000).to_string();
    let mac = secret.mac(time.as_bytes(), body);
    format!("t={time},v1={}", HEXLOWER.encode(&mac))
}

struct SignatureHeader<'a> {
    /// The signed text is the one sent.
    time: &'a [u8],
    seconds: i64,
    signatures: Vec<[u8; 32]>,
}

fn parse(header: &[u8]) -> Option<SignatureHeader<'_>> {
    if header.len() > MAX_HEADER_BYTES {
        return None;
    }
    let mut time = None;
    let mut signatures = Vec::new();
    for item in header.split(|&byte| byte == b',') {
        if let Some(value) = item.strip_prefix(b"t=") {
            // With two times the signed one would be ambiguous.
            if time.replace(value).is_some() {
                return None;
            }
        } else if let Some(hex) = item.strip_prefix(b"v1=") {
            // An invalid signature cannot match; another one may.
            let bytes = HEXLOWER_PERMISSIVE.decode(hex).ok();
            signatures.extend(bytes.and_then(|bytes| <[u8; 32]>::try_from(bytes).ok()));
        }
        // Other schemes (`v0` comes with test events) are ignored.
    }
    let time = time?;
    let seconds = Some(time)
        // `parse` would accept a sign.
        .filter(|time| time.iter().all(u8::is_ascii_digit))
        .and_then(|time| std::str::from_utf8(time).ok()?.parse().ok())?;
    Some(SignatureHeader {
        time,
        seconds,
        signatures,
    })
}

#[cfg(test)]
mod tests;
