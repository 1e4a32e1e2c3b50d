//! The server's secrets, which generate, look up and encrypt recovery codes. A code is found by a keyed hash and stored
//! encrypted; neither it nor the key is ever written to the logs.

use std::fmt;

use chacha20poly1305::{Key, XChaCha20Poly1305, XNonce, aead::Aead};
use data_encoding::BASE64URL_NOPAD;
use domain::{
    catalog::KeyKind,
    code::{CODE_ALPHABET, RecoveryCode},
    id::{CodeHash, EventId, LedgerId, OrderSerial, ProjectId, WalletId, WalletKey},
    project_event::ProjectEvent,
    session::WalletSession,
    text::{ExternalUserId, IdempotencyKey},
    time::Timestamp,
};
use hmac::{Hmac, KeyInit as _, Mac as _};
use persistence::EventNumber;
use sha2::{Digest as _, Sha256};

use crate::ServerKeys;

/// One word a line, upper case, 4 to 6 letters.
static WORDS: &str = include_str!("words.txt");

const NONCE_BYTES: usize = 24;

/// The prefix of session tokens, so that secret scanners recognise them.
pub const SESSION_PREFIX: &str = "pay_ws_";

/// Encrypts small secrets for storage.
#[derive(Clone)]
pub struct Cipher {
    newest: XChaCha20Poly1305,
    /// Former ciphers, the latest first.
    earlier: Vec<XChaCha20Poly1305>,
}

impl fmt::Debug for Cipher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Cipher(..)")
    }
}

impl Cipher {
    /// Derives the keys for one purpose, `label`, from the server keys.
    pub fn new(server_keys: impl Into<ServerKeys>, label: &str) -> Self {
        let keys: ServerKeys = server_keys.into();
        let derived = |key| XChaCha20Poly1305::new(&Key::from(derive(key, label.as_bytes())));
        Self {
            newest: derived(keys.newest()),
            earlier: keys.all().rev().skip(1).map(derived).collect(),
        }
    }

    /// Encrypts bytes under a random nonce, which comes first in the result.
    #[must_use]
    pub fn seal(&self, plain: &[u8]) -> Box<[u8]> {
        let nonce: [u8; NONCE_BYTES] = rand::random();
        let sealed = self.newest.encrypt(&XNonce::from(nonce), plain);
        // Encrypting bytes in memory cannot fail; an empty result would not decrypt.
        let mut bytes = nonce.to_vec();
        bytes.extend(sealed.unwrap_or_default());
        bytes.into()
    }

    /// Decrypts what [`Cipher::cipher`] returned, also under a former key; `None` if it was sealed under a foreign one.
    pub fn open(&self, sealed: &[u8]) -> Option<Vec<u8>> {
        let (nonce, body) = sealed.split_at_checked(NONCE_BYTES)?;
        let nonce: [u8; NONCE_BYTES] = nonce.try_into().ok()?;
        std::iter::once(&self.newest)
            .chain(&self.earlier)
            .find_map(|key| key.decrypt(&XNonce::from(nonce), body).ok())
    }
}

/// The server's secrets, and the ids and hashes that are derived with them.
#[derive(Clone)]
pub struct Keyring {
    code_mac: Hmac<Sha256>,
    order_mac: Hmac<Sha256>,
    rotation_mac: Hmac<Sha256>,
    event_mac: Hmac<Sha256>,
    cipher: Cipher,
    session_cipher: Cipher,
    words: std::sync::Arc<[&'static str]>,
}

impl fmt::Debug for Keyring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Keyring(..)")
    }
}

impl Keyring {
    /// Derives all keys from the server keys. Sessions are sealed under the newest alone, because a leaked former key
    /// could forge them.
    pub fn new(server_keys: impl Into<ServerKeys>) -> Self {
        let keys: ServerKeys = server_keys.into();
        let (first, newest) = (keys.first(), keys.newest());
        Self {
            code_mac: mac(&derive(first, b"scrip/code-hash/1")),
            order_mac: mac(&derive(first, b"scrip/order/1")),
            rotation_mac: mac(&derive(newest, b"scrip/rotation/1")),
            event_mac: mac(&derive(first, b"scrip/event/1")),
            session_cipher: Cipher::new(newest, "scrip/session/1"),
            cipher: Cipher::new(keys, "scrip/code-seal/1"),
            words: WORDS.lines().collect(),
        }
    }

    /// The id of a project event: its number, so that ids sort in the log's order, and an unguessable half. That half
    /// depends on the event, so that after a restored backup another event with the same number gets another id.
    pub fn event(&self, number: EventNumber, project_event: &ProjectEvent) -> EventId {
        let mut mac = self.event_mac.clone();
        mac.update(&project_event.project.0.to_be_bytes());
        mac.update(&number.to_be_bytes());
        mac.update(&project_event.at.0.to_be_bytes());
        mac.update(&project_event.wallet.0.to_be_bytes());
        mac.update(&project_event.key.0);
        let half = first_half(&mac.finalize().into_bytes().into());
        let half = half.first_chunk::<8>().copied().unwrap_or_default();
        EventId((u128::from(number) << 64) | u128::from(u64::from_be_bytes(half)))
    }

    /// A new code: a word and 60 random bits.
    #[must_use]
    pub fn draw_code(&self) -> RecoveryCode {
        loop {
            // The code is always well-formed; the loop replaces an `unwrap`.
            if let Some(code) = self.spell(rand::random(), rand::random()) {
                return code;
            }
        }
    }

    /// The code that a rotation of `old` under `key` makes within an hour: repeatable without being stored, and
    /// unguessable without the server key. It differs by the kind of the caller's key, so that nobody with only the old
    /// code can repeat a server's rotation.
    #[must_use]
    pub fn rotated_code(
        &self,
        project: ProjectId,
        (old, by): (&RecoveryCode, KeyKind),
        key: &IdempotencyKey,
        hour: i64,
    ) -> Option<RecoveryCode> {
        // No code contains a colon or a space.
        let mut of = old.reveal().as_bytes().to_vec();
        of.extend(match by {
            KeyKind::Publishable => *b" publishable",
            KeyKind::Secret | KeyKind::Restricted => *b" by a server",
        });
        self.derived_code(project, &of, key, hour)
    }

    /// The same for a wallet not named by its code: its code after this many rotations.
    pub(crate) fn replaced_code(
        &self,
        project: ProjectId,
        (wallet, rotations): (&WalletKey, u32),
        key: &IdempotencyKey,
        hour: i64,
    ) -> Option<RecoveryCode> {
        // No code looks like this.
        let mut of = b"wallet ".to_vec();
        of.extend(wallet.0);
        of.extend(rotations.to_be_bytes());
        self.derived_code(project, &of, key, hour)
    }

    fn derived_code(
        &self,
        project: ProjectId,
        of: &[u8],
        key: &IdempotencyKey,
        hour: i64,
    ) -> Option<RecoveryCode> {
        let mut mac = self.rotation_mac.clone();
        mac.update(&project.0.to_be_bytes());
        mac.update(&hour.to_be_bytes());
        mac.update(of);
        mac.update(b":");
        mac.update(key.as_str().as_bytes());
        let random = u128::from_be_bytes(first_half(&mac.finalize().into_bytes().into()));
        let [word, bits] = [random >> 64, random & u128::from(u64::MAX)];
        self.spell(u64::try_from(word).ok()?, u64::try_from(bits).ok()?)
    }

    /// A code of a word and 60 bits of `bits`.
    fn spell(&self, word: u64, bits: u64) -> Option<RecoveryCode> {
        let words = u64::try_from(self.words.len()).ok()?;
        let word = usize::try_from(word.checked_rem(words)?).ok()?;
        let mut text = String::from(*self.words.get(word)?);
        for position in 0..12_u32 {
            if position.is_multiple_of(4) {
                text.push('-');
            }
            let digit = (bits >> (position * 5)) & 31;
            let digit = CODE_ALPHABET.get(usize::try_from(digit).ok()?)?;
            text.push(char::from(*digit));
        }
        RecoveryCode::parse(&text)
    }

    /// The keyed hash under which a project's code is looked up.
    pub fn code_hash(&self, project: ProjectId, code: &RecoveryCode) -> CodeHash {
        let mut mac = self.code_mac.clone();
        mac.update(&project.0.to_be_bytes());
        mac.update(code.reveal().as_bytes());
        CodeHash(first_half(&mac.finalize().into_bytes().into()))
    }

    /// Encrypts a code for storage.
    #[must_use]
    pub fn seal(&self, code: &RecoveryCode) -> Box<[u8]> {
        self.cipher.seal(code.reveal().as_bytes())
    }

    /// Decrypts a stored code; `None` if it was encrypted under another server key.
    pub fn unseal(&self, sealed: &[u8]) -> Option<RecoveryCode> {
        let plain = self.cipher.open(sealed)?;
        RecoveryCode::parse(std::str::from_utf8(&plain).ok()?)
    }

    /// The token of a session.
    pub fn seal_session(&self, session: &WalletSession) -> String {
        let sealed = self.session_cipher.seal(&session.encode());
        let mut token = String::from(SESSION_PREFIX);
        BASE64URL_NOPAD.encode_append(&sealed, &mut token);
        token
    }

    /// The session in a token, and the token's unique number; `None` if this server did not issue it. It may have
    /// ended.
    pub fn open_session(&self, token: &[u8]) -> Option<(WalletSession, u128)> {
        let sealed = token.strip_prefix(SESSION_PREFIX.as_bytes())?;
        let sealed = BASE64URL_NOPAD.decode(sealed).ok()?;
        let session = WalletSession::decode(&self.session_cipher.open(&sealed)?)?;
        // The nonce is unique to this token.
        let nonce = sealed.first_chunk().copied().map(u128::from_be_bytes)?;
        Some((session, nonce))
    }

    /// The order of a paid invoice, or of a payment that an operator assigns. Keyed, so that an invoice's id does not
    /// reveal its order; it contains the invoice's time, so that orders sort by time.
    pub(crate) fn renewal_order(
        &self,
        project: ProjectId,
        paid: &str,
        created: Timestamp,
    ) -> OrderSerial {
        let mut mac = self.order_mac.clone();
        mac.update(&project.0.to_be_bytes());
        mac.update(paid.as_bytes());
        let random = u128::from_be_bytes(first_half(&mac.finalize().into_bytes().into()));
        OrderSerial(timed(random, created))
    }
}

/// The key under which a user's wallet is stored. Not keyed, because it must be found without the server key; 128 bits
/// of SHA-256 do not collide by chance.
pub(crate) fn external_key(project: ProjectId, user: &ExternalUserId) -> WalletKey {
    let mut hash = Sha256::new();
    hash.update(b"ext/1");
    hash.update(project.0.to_be_bytes());
    hash.update(user.as_str().as_bytes());
    WalletKey(first_half(&hash.finalize().into()))
}

/// A ledger entry's id, derived rather than stored: it sorts by time, names the entry in its wallet's history, and is
/// unguessable without the wallet's id.
pub fn ledger_id((wallet, key): (WalletId, WalletKey), seq: u64, at: Timestamp) -> LedgerId {
    let mut hash = Sha256::new();
    hash.update(b"led/1");
    hash.update(wallet.0.to_be_bytes());
    hash.update(seq.to_be_bytes());
    let random = u128::from_be_bytes(first_half(&hash.finalize().into()));
    let number = (1 << LedgerId::NUMBER_BITS) - 1;
    let random = (random & !number) | (u128::from(seq) & number);
    LedgerId {
        serial: timed(random, at),
        wallet: key,
    }
}

/// The key of the wallet of an order that names no other wallet.
pub(crate) fn order_key(project: ProjectId, order: OrderSerial) -> WalletKey {
    let mut hash = Sha256::new();
    hash.update(b"ord/1");
    hash.update(project.0.to_be_bytes());
    hash.update(order.0.to_be_bytes());
    WalletKey(first_half(&hash.finalize().into()))
}

/// A UUID version 7 of random-looking bits and an instant.
fn timed(random: u128, at: Timestamp) -> u128 {
    let millis = u128::try_from(at.0.max(0)).unwrap_or(0) & 0xffff_ffff_ffff;
    let version_and_variant = (7 << 76) | (0b10 << 62);
    let free = random & 0x0fff_3fff_ffff_ffff_ffff;
    (millis << 80) | version_and_variant | free
}

fn derive(server_key: &[u8; 32], label: &[u8]) -> [u8; 32] {
    let mut mac = mac(server_key);
    mac.update(label);
    mac.finalize().into_bytes().into()
}

fn mac(key: &[u8; 32]) -> Hmac<Sha256> {
    let mut block = [0_u8; 64];
    // HMAC pads a short key with zeroes to the hash's block.
    block.split_at_mut(32).0.copy_from_slice(key);
    Hmac::new(&block.into())
}

fn first_half(hash: &[u8; 32]) -> [u8; 16] {
    let mut half = [0; 16];
    half.copy_from_slice(hash.split_at(16).0);
    half
}

#[cfg(test)]
mod tests {
    use domain::session::{Permissions, SessionOwner};

    use super::*;

    #[test]
    fn a_code_is_drawn_found_and_kept() {
        let keyring = Keyring::new(&[7; 32]);
        let code = keyring.draw_code();
        assert_ne!(code, keyring.draw_code());
        let sealed = keyring.seal(&code);
        assert_eq!(keyring.unseal(&sealed), Some(code.clone()));
        assert_eq!(Keyring::new(&[8; 32]).unseal(&sealed), None);
        let (one, two) = (ProjectId(1), ProjectId(2));
        assert_eq!(keyring.code_hash(one, &code), keyring.code_hash(one, &code));
        assert_ne!(keyring.code_hash(one, &code), keyring.code_hash(two, &code));
    }

    #[test]
    fn a_key_that_was_replaced_still_opens_codes_and_makes_nothing_new() {
        let (old, new) = (
            Keyring::new(&[7; 32]),
            ServerKeys::new([7; 32], vec![[8; 32]]),
        );
        let replaced = Keyring::new(&new);
        let (code, project) = (old.draw_code(), ProjectId(1));
        assert_eq!(
            old.code_hash(project, &code),
            replaced.code_hash(project, &code)
        );
        assert_eq!(replaced.unseal(&old.seal(&code)), Some(code.clone()));
        let sealed = replaced.seal(&code);
        assert_eq!(replaced.unseal(&sealed), Some(code.clone()));
        assert_eq!(old.unseal(&sealed), None);
        let session = WalletSession {
            project,
            wallet: WalletKey([2; 16]),
            epoch: 3,
            can: Permissions::ALL,
            expires_at: Timestamp(4),
            owner: SessionOwner::User(ExternalUserId::new("ann").unwrap()),
        };
        let forged = old.seal_session(&session);
        assert_eq!(replaced.open_session(forged.as_bytes()), None);
        let key = IdempotencyKey::new("k").unwrap();
        let rotated = |keys: &Keyring, by| keys.rotated_code(project, (&code, by), &key, 1);
        let (public, server) = (KeyKind::Publishable, KeyKind::Secret);
        assert_ne!(rotated(&old, server), rotated(&replaced, server));
        assert_ne!(rotated(&old, server), rotated(&old, public));
    }

    #[test]
    fn a_session_is_opened_by_the_server_that_sealed_it_alone() {
        let keyring = Keyring::new(&[7; 32]);
        let session = WalletSession {
            project: ProjectId(1),
            wallet: WalletKey([2; 16]),
            epoch: 3,
            can: Permissions::ALL,
            expires_at: Timestamp(4),
            owner: SessionOwner::User(ExternalUserId::new("ann").unwrap()),
        };
        let token = keyring.seal_session(&session);
        let (opened, number) = keyring.open_session(token.as_bytes()).unwrap();
        assert_eq!(opened, session);
        let other = keyring.seal_session(&session);
        assert_ne!(keyring.open_session(other.as_bytes()).unwrap().1, number);
        let foreign = Keyring::new(&[8; 32]);
        assert_eq!(foreign.open_session(token.as_bytes()), None);
        // A code sealed for the disk is no session.
        let code = keyring.seal(&keyring.draw_code());
        let forged = format!("pay_ws_{}", BASE64URL_NOPAD.encode(&code));
        assert_eq!(keyring.open_session(forged.as_bytes()), None);
        for place in 0..token.len() {
            let mut changed = token.clone().into_bytes();
            changed[place] = if changed[place] == b'A' { b'B' } else { b'A' };
            assert_eq!(keyring.open_session(&changed), None, "{place}");
        }
        for short in 0..token.len() {
            assert_eq!(keyring.open_session(&token.as_bytes()[..short]), None);
        }
    }

    #[test]
    fn the_word_list_is_as_promised() {
        let words: Vec<_> = WORDS.lines().collect();
        assert!(words.len() >= 1024);
        assert!(
            words.windows(2).all(|pair| pair[0] < pair[1]),
            "sorted, no word twice"
        );
        for word in words {
            assert!((4..=6).contains(&word.len()), "{word}");
            assert!(word.bytes().all(|byte| byte.is_ascii_uppercase()), "{word}");
        }
    }

    #[test]
    fn ledger_ids_are_stable_and_sort_by_time() {
        let key = WalletKey([7; 16]);
        let of = |wallet, seq, at| ledger_id((WalletId(wallet), key), seq, Timestamp(at));
        let id = of(9, 3, 1000);
        assert_eq!((id, id.number(), id.wallet), (of(9, 3, 1000), 3, key));
        assert_ne!(id, of(9, 4, 1000));
        assert_ne!(id, of(8, 3, 1000), "it cannot be made up");
        assert!(id < of(1, 1, 1001));
        let last = (1 << LedgerId::NUMBER_BITS) - 1;
        assert_eq!(of(9, last, 1000).number(), last);
    }
}
