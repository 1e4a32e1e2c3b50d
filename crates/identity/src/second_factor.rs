//! The second factor: time-based codes as authenticator apps show them (RFC 6238: SHA-1, six digits, thirty seconds),
//! and recovery codes for when the device is lost. A code is good once.

use data_encoding::{BASE32_NOPAD, HEXLOWER};
use domain::Timestamp;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha1::Sha1;
use subtle::ConstantTimeEq as _;

use crate::Error;

pub const CODE_DIGITS: usize = 6;
const STEP_MILLIS: i64 = 30_000;
const SLACK: i64 = 1;
const SECRET_BYTES: usize = 20;
const RECOVERY_CODES: usize = 10;
/// Base62 characters that carry 95 bits.
const RECOVERY_CODE_LENGTH: usize = 16;

/// A secret that a server and an authenticator app share.
#[derive(Clone, Copy)]
pub struct TotpSecret([u8; SECRET_BYTES]);

impl std::fmt::Debug for TotpSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("TotpSecret(..)")
    }
}

impl TotpSecret {
    /// Draws a secret.
    /// # Errors
    /// The system has no random bytes.
    pub fn draw() -> Result<Self, Error> {
        // Hashed, so that the bytes are uniform.
        let drawn = catalog::sha256(catalog::random_text(43)?.as_bytes());
        drawn.first_chunk().copied().map(Self).ok_or(Error::Secret)
    }

    /// Reads a secret as [`Self::text`] writes it.
    pub fn read(text: &str) -> Option<Self> {
        let bytes = BASE32_NOPAD.decode(text.as_bytes()).ok()?;
        bytes.try_into().ok().map(Self)
    }

    /// The secret as people type it into an authenticator app.
    pub fn text(&self) -> String {
        BASE32_NOPAD.encode(&self.0)
    }

    /// The address that authenticator apps read.
    pub fn address(&self, account: &str) -> String {
        let account: String = account.bytes().map(escaped).collect();
        format!(
            "otpauth://totp/Scrip:{account}?secret={}&issuer=Scrip",
            self.text()
        )
    }

    fn code(&self, step: i64) -> String {
        let mut block = [0_u8; 64];
        block.split_at_mut(SECRET_BYTES).0.copy_from_slice(&self.0);
        let mut mac = Hmac::<Sha1>::new(&block.into());
        mac.update(&step.to_be_bytes());
        let hash: [u8; 20] = mac.finalize().into_bytes().into();
        let offset = usize::from(hash.last().copied().unwrap_or_default() & 15);
        let four = hash.get(offset..).and_then(|rest| rest.first_chunk::<4>());
        let number = u32::from_be_bytes(four.copied().unwrap_or_default()) & 0x7fff_ffff;
        format!("{:06}", number % 1_000_000)
    }

    /// The code that an authenticator app shows at an instant.
    pub fn code_at(&self, now: Timestamp) -> String {
        self.code(now.0.div_euclid(STEP_MILLIS))
    }

    /// The step that a code is of, if it is a good one now and later than the last one that was used.
    pub(crate) fn step_of(&self, code: &str, used: Option<i64>, now: Timestamp) -> Option<i64> {
        let current = now.0.div_euclid(STEP_MILLIS);
        let steps = current.saturating_sub(SLACK)..=current.saturating_add(SLACK);
        let digits: String = code.chars().filter(|c| !c.is_whitespace()).collect();
        let unused = steps.filter(|step| used.is_none_or(|used| *step > used));
        let mut good =
            unused.filter(|step| self.code(*step).as_bytes().ct_eq(digits.as_bytes()).into());
        good.next()
    }
}

fn escaped(byte: u8) -> String {
    match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
            char::from(byte).to_string()
        }
        _ => format!("%{byte:02X}"),
    }
}

/// New recovery codes, which are shown once.
#[derive(Clone)]
pub struct RecoveryCodes(pub Vec<String>);

impl std::fmt::Debug for RecoveryCodes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("RecoveryCodes(..)")
    }
}

impl RecoveryCodes {
    pub(crate) fn draw() -> Result<Self, Error> {
        let drawn = (0..RECOVERY_CODES).map(|_| catalog::random_text(RECOVERY_CODE_LENGTH));
        Ok(Self(drawn.collect::<Result<_, _>>()?))
    }

    /// What is stored of them. They are random, so that a plain hash gives none away.
    pub(crate) fn hashes(&self) -> Vec<String> {
        self.0.iter().map(|code| hash_of(code)).collect()
    }
}

/// What is stored of a recovery code.
pub(crate) fn hash_of(code: &str) -> String {
    HEXLOWER.encode(&catalog::sha256(code.trim().as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_those_of_rfc_6238() {
        let secret = TotpSecret(*b"12345678901234567890");
        for (seconds, code) in [
            (59, "287082"),
            (1_111_111_109, "081804"),
            (1_111_111_111, "050471"),
            (1_234_567_890, "005924"),
            (2_000_000_000, "279037"),
        ] {
            assert_eq!(secret.code_at(Timestamp(seconds * 1000)), code, "{seconds}");
        }
    }

    #[test]
    fn a_code_is_good_for_a_step_around_now_and_once() {
        let secret = TotpSecret::draw().unwrap();
        let read = TotpSecret::read(&secret.text()).unwrap();
        let now = Timestamp(1_800_000_000_000);
        let at = |seconds| now.plus_seconds(seconds);
        let code = read.code_at(now);
        let step = secret.step_of(&code, None, now).unwrap();
        for seconds in [-30, 0, 30, 59] {
            assert_eq!(secret.step_of(&code, None, at(seconds)), Some(step));
        }
        for seconds in [-31, 60] {
            assert_eq!(secret.step_of(&code, None, at(seconds)), None, "{seconds}");
        }
        assert_eq!(secret.step_of(&code, Some(step), now), None, "used");
        let earlier = secret.code_at(at(-30));
        assert_eq!(secret.step_of(&earlier, Some(step), now), None);
        assert_eq!(secret.step_of("", None, now), None);
        let spaced = format!(" {} {}", &code[..3], &code[3..]);
        assert_eq!(secret.step_of(&spaced, None, now), Some(step));
    }
}
