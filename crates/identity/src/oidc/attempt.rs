//! A sign-in between its two steps, which the browser carries in a cookie, encrypted: good for ten minutes and once.

use std::collections::HashMap;

use actors::Cipher;
use data_encoding::BASE64URL_NOPAD;
use domain::Timestamp;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq as _;

use crate::oidc::Error;

/// How long the second step may take.
pub(crate) const ATTEMPT_SECONDS: i64 = 10 * 60;
/// The most attempts that are remembered as used. Past it, one that was used is only refused by the provider, which
/// takes no code twice.
const MAX_USED: usize = 4096;

/// What the second step needs of the first.
#[derive(Serialize, Deserialize)]
pub(crate) struct Attempt {
    pub(crate) state: String,
    pub(crate) nonce: String,
    pub(crate) verifier: String,
    pub(crate) next: Option<String>,
    pub(crate) until: i64,
}

/// Seals attempts, and remembers which were used.
pub(crate) struct Attempts {
    cipher: Cipher,
    used: Mutex<HashMap<String, Timestamp>>,
}

impl Attempts {
    pub(crate) fn new(cipher: Cipher) -> Self {
        Self {
            cipher,
            used: Mutex::default(),
        }
    }

    pub(crate) fn seal(&self, attempt: &Attempt) -> String {
        // Texts and numbers always become JSON.
        let json = serde_json::to_vec(attempt).unwrap_or_default();
        BASE64URL_NOPAD.encode(&self.cipher.seal(&json))
    }

    /// Uses up the attempt that a browser carries, if the provider's answer is to it.
    pub(crate) fn take(&self, sealed: &str, state: &str, now: Timestamp) -> Result<Attempt, Error> {
        let bytes = BASE64URL_NOPAD.decode(sealed.as_bytes()).ok();
        let plain = bytes.and_then(|bytes| self.cipher.open(&bytes));
        let plain = plain.ok_or(Error::NoAttempt)?;
        let attempt: Attempt = serde_json::from_slice(&plain).map_err(|_| Error::NoAttempt)?;
        let is_answer = bool::from(attempt.state.as_bytes().ct_eq(state.as_bytes()));
        if !is_answer || attempt.until <= now.0 {
            return Err(Error::NoAttempt);
        }
        let mut used = self.used.lock();
        used.retain(|_, until| *until > now);
        if used.len() >= MAX_USED {
            let oldest = used.iter().min_by_key(|(_, until)| **until);
            if let Some(oldest) = oldest.map(|(state, _)| state.clone()) {
                used.remove(&oldest);
            }
        }
        match used.insert(attempt.state.clone(), Timestamp(attempt.until)) {
            None => Ok(attempt),
            Some(_) => Err(Error::NoAttempt),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_800_000_000_000);

    fn attempt(state: String) -> Attempt {
        Attempt {
            state,
            nonce: "nonce".into(),
            verifier: "verifier".into(),
            next: None,
            until: NOW.plus_seconds(ATTEMPT_SECONDS).0,
        }
    }

    #[test]
    fn an_attempt_is_good_once_for_its_own_state_and_for_ten_minutes() {
        let attempts = Attempts::new(Cipher::new(&[7; 32], "test"));
        let sealed = attempts.seal(&attempt("a".into()));
        let is_good = |sealed: &str, state, now| attempts.take(sealed, state, now).is_ok();
        assert!(!is_good(&sealed, "b", NOW));
        assert!(!is_good(&sealed, "", NOW));
        assert!(!is_good("", "", NOW));
        assert!(!is_good(&sealed[1..], "a", NOW));
        let late = NOW.plus_seconds(ATTEMPT_SECONDS);
        assert!(!is_good(&sealed, "a", late));
        assert!(is_good(&sealed, "a", NOW));
        assert!(!is_good(&sealed, "a", NOW), "used");
        let other = Attempts::new(Cipher::new(&[8; 32], "test"));
        assert!(other.take(&sealed, "a", NOW).is_err(), "another key");
    }

    #[test]
    fn a_crowd_of_attempts_fills_no_memory() {
        let attempts = Attempts::new(Cipher::new(&[7; 32], "test"));
        for number in 0..MAX_USED + 100 {
            let state = number.to_string();
            let sealed = attempts.seal(&attempt(state.clone()));
            assert!(attempts.take(&sealed, &state, NOW).is_ok());
        }
        assert_eq!(attempts.used.lock().len(), MAX_USED);
    }
}
