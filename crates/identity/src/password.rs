//! Passwords, as Argon2id hashes under a key that is derived from the server key: data without that key cannot be tried
//! out. Nothing else is stored of a password by which a guess could be dismissed sooner than by its hash: who steals the
//! data with the key that is stored beside it must pay for each guess.
//!
//! A hash costs 19 MiB and tens of milliseconds, so that strangers must not have them made at will: few are made at once,
//! and a bounded number waits, of one caller only a few. Browsers in which somebody signed in before, or that have an
//! invitation, wait apart from all others, so that strangers cannot keep their password from being checked. For an account that does not exist the same is done.

use std::collections::HashMap;

use argon2::{Algorithm, Argon2, Params, Version};
use data_encoding::BASE64_NOPAD;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq as _;
use tokio::sync::Semaphore;

use crate::{Error, crypto::keyed};

/// The fewest characters of a password.
pub const MIN_PASSWORD: usize = 12;
const MAX_PASSWORD_BYTES: usize = 1024;
/// OWASP's second recommendation for Argon2id.
const MEMORY_KIB: u32 = 19 * 1024;
const PASSES: u32 = 2;
/// Hashes that are computed at once in each of the two queues, each in its own memory.
const AT_ONCE: usize = 2;
/// The most in each queue.
const MAX_WAITING: usize = 256;
/// The same of one caller.
const MAX_WAITING_OF_ONE: u32 = 4;

/// A password's hash, as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PasswordHash {
    salt: String,
    hash: String,
    memory_kib: u32,
    passes: u32,
}

/// The owner of a place in the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Queued {
    /// A browser in which this user signed in before (see [`People::knows_browser`](crate::People::knows_browser)), or
    /// that has their invitation.
    Known(u64),
    /// Anybody else, by a number for their address.
    Stranger(u64),
}

/// Hashes passwords, a few at a time.
pub(crate) struct Passwords {
    pepper: [u8; 32],
    known: Queue,
    strangers: Queue,
}

struct Queue {
    turns: Semaphore,
    waiting: Semaphore,
    /// How many wait of each caller.
    callers: Mutex<HashMap<u64, u32>>,
}

/// A caller's place in a queue, free again when dropped.
struct QueuePlace<'q>(&'q Queue, u64);

impl Queue {
    fn new() -> Self {
        Self {
            turns: Semaphore::new(AT_ONCE),
            waiting: Semaphore::new(MAX_WAITING),
            callers: Mutex::default(),
        }
    }

    fn place(&self, caller: u64) -> Result<QueuePlace<'_>, Error> {
        let mut callers = self.callers.lock();
        let of_one = callers.entry(caller).or_default();
        if *of_one >= MAX_WAITING_OF_ONE {
            return Err(Error::Busy);
        }
        *of_one = of_one.saturating_add(1);
        Ok(QueuePlace(self, caller))
    }
}

impl Drop for QueuePlace<'_> {
    fn drop(&mut self) {
        let mut callers = self.0.callers.lock();
        if let Some(of_one) = callers.get_mut(&self.1) {
            *of_one = of_one.saturating_sub(1);
            if *of_one == 0 {
                callers.remove(&self.1);
            }
        }
    }
}

impl Passwords {
    pub(crate) fn new(server_key: &[u8; 32]) -> Self {
        Self {
            pepper: keyed(server_key, &[b"scrip/password/1"]),
            known: Queue::new(),
            strangers: Queue::new(),
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
    /// # Errors
    /// The password does not fit; too many are being hashed; there is no memory.
    pub(crate) async fn hash(&self, password: &str, who: Queued) -> Result<PasswordHash, Error> {
        Self::fits(password)?;
        let new = PasswordHash {
            salt: catalog::random_text(22)?,
            hash: String::new(),
            memory_kib: MEMORY_KIB,
            passes: PASSES,
        };
        let hash = self.argon2(password, &new, who).await?;
        Ok(PasswordHash { hash, ..new })
    }

    /// Whether a password is the one that was hashed; `None` is an account without one, which takes as long.
    /// # Errors
    /// Too many are being hashed; there is no memory.
    pub(crate) async fn is(
        &self,
        stored: Option<&PasswordHash>,
        password: &str,
        who: Queued,
    ) -> Result<bool, Error> {
        let none = PasswordHash {
            salt: "0123456789abcdefghijkl".into(),
            hash: String::new(),
            memory_kib: MEMORY_KIB,
            passes: PASSES,
        };
        let known = stored.unwrap_or(&none);
        if password.len() > MAX_PASSWORD_BYTES {
            return Ok(false);
        }
        let hash = self.argon2(password, known, who).await?;
        Ok(hash.as_bytes().ct_eq(known.hash.as_bytes()).into())
    }

    /// The hash of a password with the salt and at the cost of another hash.
    async fn argon2(
        &self,
        password: &str,
        like: &PasswordHash,
        who: Queued,
    ) -> Result<String, Error> {
        let (queue, caller) = match who {
            Queued::Known(caller) => (&self.known, caller),
            Queued::Stranger(caller) => (&self.strangers, caller),
        };
        let _waits = queue.waiting.try_acquire().map_err(|_| Error::Busy)?;
        let _place = queue.place(caller)?;
        let _turn = queue.turns.acquire().await.map_err(|_| Error::Busy)?;
        let (password, like, pepper) = (password.to_owned(), like.clone(), self.pepper);
        let hashed = tokio::task::spawn_blocking(move || {
            let params = Params::new(like.memory_kib, like.passes, 1, Some(32))?;
            let (kind, version) = (Algorithm::Argon2id, Version::V0x13);
            let argon2 = Argon2::new_with_secret(&pepper, kind, version, params)?;
            let mut hash = [0; 32];
            argon2.hash_password_into(password.as_bytes(), like.salt.as_bytes(), &mut hash)?;
            Ok::<_, argon2::Error>(BASE64_NOPAD.encode(&hash))
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
    use std::{sync::Arc, time::Instant};

    use super::*;

    const HERE: Queued = Queued::Stranger(0);

    #[tokio::test]
    async fn the_right_password_opens_and_no_other_and_not_under_another_server_key() {
        let passwords = Passwords::new(&[7; 32]);
        let hash = passwords.hash("correct horse battery", HERE).await.unwrap();
        let is = async |passwords: &Passwords, password: &str| {
            passwords.is(Some(&hash), password, HERE).await
        };
        assert_eq!(is(&passwords, "correct horse battery").await, Ok(true));
        for wrong in ["", "correct horse batterY", "correct horse battery "] {
            assert_eq!(is(&passwords, wrong).await, Ok(false), "{wrong}");
        }
        let other = Passwords::new(&[8; 32]);
        assert_eq!(is(&other, "correct horse battery").await, Ok(false));
        let again = passwords.hash("correct horse battery", HERE).await.unwrap();
        assert_ne!(again.hash, hash.hash, "salted");
        assert!(passwords.hash("too short", HERE).await.is_err());
        let nobody = passwords.is(None, "correct horse battery", HERE).await;
        assert_eq!(nobody, Ok(false));
    }

    #[tokio::test]
    async fn a_wrong_password_costs_what_the_right_one_does_and_for_no_account_the_same() {
        let passwords = Passwords::new(&[7; 32]);
        let hash = passwords.hash("correct horse battery", HERE).await.unwrap();
        let cases = [
            (Some(&hash), "correct horse battery"),
            (Some(&hash), "wrong horse battery"),
            (None, "correct horse battery"),
        ];
        // The fastest of each, taken in turn until they agree: what else the machine does only adds.
        let mut fastest = [u128::MAX; 3];
        for _ in 0..100 {
            for ((stored, password), fastest) in cases.iter().zip(&mut fastest) {
                let begun = Instant::now();
                passwords.is(*stored, password, HERE).await.unwrap();
                *fastest = (*fastest).min(begun.elapsed().as_micros());
            }
            let least = fastest.iter().min().unwrap();
            if fastest.iter().all(|it| *it < least * 2) {
                return;
            }
        }
        panic!("{fastest:?} microseconds");
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn however_many_strangers_wait_they_are_bounded_and_somebody_known_gets_in() {
        let passwords = Arc::new(Passwords::new(&[7; 32]));
        let hash = passwords.hash("correct horse battery", HERE).await.unwrap();
        let mut crowd = tokio::task::JoinSet::new();
        for number in 0..10_000 {
            let (passwords, hash) = (Arc::clone(&passwords), hash.clone());
            // A few thousand addresses.
            let who = Queued::Stranger(number % 3000);
            crowd.spawn(async move { passwords.is(Some(&hash), "a wrong guess", who).await });
        }
        let known = passwords.is(Some(&hash), "correct horse battery", Queued::Known(1));
        assert_eq!(known.await, Ok(true));
        assert!(passwords.strangers.callers.lock().len() <= MAX_WAITING);
        let answers = crowd.join_all().await;
        let refused = answers.iter().filter(|it| **it == Err(Error::Busy)).count();
        assert!(refused > 5000, "{refused} were refused");
        assert!(!answers.contains(&Ok(true)));
        assert!(passwords.strangers.callers.lock().is_empty());
        let stranger = passwords.is(Some(&hash), "correct horse battery", HERE);
        assert_eq!(stranger.await, Ok(true), "the queue is free again");
    }

    #[tokio::test]
    async fn one_caller_fills_no_queue() {
        let queue = Queue::new();
        let places: Vec<_> = (0..10).map(|_| queue.place(1)).collect();
        assert_eq!(places.iter().filter(|place| place.is_ok()).count(), 4);
        assert!(queue.place(2).is_ok());
        drop(places);
        assert!(queue.place(1).is_ok());
        assert!(queue.callers.lock().is_empty());
    }
}
