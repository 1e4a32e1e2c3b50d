//! Passwords, as Argon2id hashes under a key that is derived from the server key: data without that key cannot be tried
//! out.
//!
//! A hash costs 19 MiB and tens of milliseconds, so that strangers must not have them made at will. Beside each hash
//! stands one byte of a keyed hash of the password; only what agrees with it is hashed. Of wrong passwords that is one
//! in 256, of right ones all: whatever others try, the right one is checked. For an account that does not exist the same
//! is done.

use argon2::{Algorithm, Argon2, Params, Version};
use data_encoding::BASE64_NOPAD;
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq as _;
use tokio::sync::Semaphore;

use crate::{Error, crypto::keyed};

/// The fewest characters of a password.
pub const MIN_PASSWORD: usize = 12;
/// The most bytes of a password.
const MAX_PASSWORD_BYTES: usize = 1024;
/// OWASP's second recommendation for Argon2id.
const MEMORY_KIB: u32 = 19 * 1024;
const PASSES: u32 = 2;
/// Hashes that are computed at once, each in its own memory.
const AT_ONCE: usize = 2;
/// The most that wait for their turn.
const MAX_WAITING: usize = 256;

/// A password's hash, as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PasswordHash {
    salt: String,
    hash: String,
    /// One byte of a keyed hash of the password.
    tag: u8,
    memory_kib: u32,
    passes: u32,
}

/// Hashes passwords, a few at a time.
pub(crate) struct Passwords {
    pepper: [u8; 32],
    tag_key: [u8; 32],
    turns: Semaphore,
    waiting: Semaphore,
}

impl Passwords {
    pub(crate) fn new(server_key: &[u8; 32]) -> Self {
        Self {
            pepper: keyed(server_key, &[b"scrip/password/1"]),
            tag_key: keyed(server_key, &[b"scrip/password-tag/1"]),
            turns: Semaphore::new(AT_ONCE),
            waiting: Semaphore::new(MAX_WAITING),
        }
    }

    /// Refuses a password that is too short or too long.
    pub(crate) fn fits(password: &str) -> Result<(), Error> {
        let message = match () {
            () if password.chars().count() < MIN_PASSWORD => "Use at least 12 characters.",
            () if password.len() > MAX_PASSWORD_BYTES => "Use at most 1,024 bytes.",
            () => return Ok(()),
        };
        let param = "password";
        Err(Error::Invalid { param, message })
    }

    /// The hash of a new password.
    ///
    /// # Errors
    ///
    /// The password does not fit; too many are being hashed; there is no memory.
    pub(crate) async fn hash(&self, password: &str) -> Result<PasswordHash, Error> {
        Self::fits(password)?;
        let salt = catalog::random_text(22)?;
        let hash = self.argon2(password, &salt, MEMORY_KIB, PASSES).await?;
        Ok(PasswordHash {
            hash: BASE64_NOPAD.encode(&hash),
            tag: self.tag(&salt, password),
            salt,
            memory_kib: MEMORY_KIB,
            passes: PASSES,
        })
    }

    /// Whether a password is the one that was hashed; `None` stands for an account without one, which takes as long.
    ///
    /// # Errors
    ///
    /// Too many are being hashed; there is no memory.
    pub(crate) async fn is(
        &self,
        stored: Option<&PasswordHash>,
        account: &str,
        password: &str,
    ) -> Result<bool, Error> {
        let [tag, ..] = keyed(&self.tag_key, &[b"none", account.as_bytes()]);
        let none = PasswordHash {
            salt: account.to_owned(),
            hash: String::new(),
            tag,
            memory_kib: MEMORY_KIB,
            passes: PASSES,
        };
        let known = stored.unwrap_or(&none);
        if password.len() > MAX_PASSWORD_BYTES || self.tag(&known.salt, password) != known.tag {
            return Ok(false);
        }
        let salt = match stored {
            Some(stored) => stored.salt.as_str(),
            // An account's name may be too short for a salt.
            None => "0123456789abcdefghijkl",
        };
        let hash = self.argon2(password, salt, known.memory_kib, known.passes);
        let hash = BASE64_NOPAD.encode(&hash.await?);
        Ok(hash.as_bytes().ct_eq(known.hash.as_bytes()).into())
    }

    fn tag(&self, salt: &str, password: &str) -> u8 {
        let [tag, ..] = keyed(&self.tag_key, &[salt.as_bytes(), password.as_bytes()]);
        tag
    }

    async fn argon2(
        &self,
        password: &str,
        salt: &str,
        memory_kib: u32,
        passes: u32,
    ) -> Result<[u8; 32], Error> {
        let _waits = self.waiting.try_acquire().map_err(|_| Error::Busy)?;
        let _turn = self.turns.acquire().await.map_err(|_| Error::Busy)?;
        let (password, salt, pepper) = (password.to_owned(), salt.to_owned(), self.pepper);
        let hashed = tokio::task::spawn_blocking(move || {
            let params = Params::new(memory_kib, passes, 1, Some(32))?;
            let (kind, version) = (Algorithm::Argon2id, Version::V0x13);
            let argon2 = Argon2::new_with_secret(&pepper, kind, version, params)?;
            let mut hash = [0; 32];
            argon2.hash_password_into(password.as_bytes(), salt.as_bytes(), &mut hash)?;
            Ok::<_, argon2::Error>(hash)
        });
        let hashed = hashed.await.map_err(|_| Error::Secret)?;
        hashed.map_err(|error| {
            tracing::error!(%error, "A password could not be hashed");
            Error::Secret
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_right_password_opens_and_no_other_and_not_under_another_server_key() {
        let passwords = Passwords::new(&[7; 32]);
        let hash = passwords.hash("correct horse battery").await.unwrap();
        let is = async |passwords: &Passwords, password: &str| {
            passwords.is(Some(&hash), "ann@example.com", password).await
        };
        assert_eq!(is(&passwords, "correct horse battery").await, Ok(true));
        for wrong in ["", "correct horse batterY", "correct horse battery "] {
            assert_eq!(is(&passwords, wrong).await, Ok(false), "{wrong}");
        }
        let other = Passwords::new(&[8; 32]);
        assert_eq!(is(&other, "correct horse battery").await, Ok(false));
        let again = passwords.hash("correct horse battery").await.unwrap();
        assert_ne!(again.hash, hash.hash, "salted");
        assert!(passwords.hash("too short").await.is_err());
    }

    #[tokio::test]
    async fn of_many_wrong_passwords_few_are_hashed_and_for_no_account_as_many() {
        let passwords = Passwords::new(&[7; 32]);
        let hash = passwords.hash("correct horse battery").await.unwrap();
        let hashed = |salt: &str, tag| {
            let tags = (0..10_000).map(|guess| passwords.tag(salt, &format!("guess {guess}")));
            tags.filter(|of| *of == tag).count()
        };
        let known = hashed(&hash.salt, hash.tag);
        assert!((10..100).contains(&known), "{known}");
        let [tag, ..] = keyed(&passwords.tag_key, &[b"none", b"bob@example.com"]);
        let unknown = hashed("bob@example.com", tag);
        assert!((10..100).contains(&unknown), "{unknown}");
        let nobody = passwords.is(None, "bob@example.com", "correct horse battery");
        assert_eq!(nobody.await, Ok(false));
    }
}
