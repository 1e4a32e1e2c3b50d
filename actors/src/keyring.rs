//! What only the server knows: how recovery codes are drawn, found and kept. A code is found by a
//! keyed hash and kept encrypted; neither it nor the key is ever logged.

use std::fmt;

use chacha20poly1305::{Key, XChaCha20Poly1305, XNonce, aead::Aead};
use domain::{
    code::{CODE_ALPHABET, Code},
    id::{CodeHash, EventId, LedgerId, OrderSerial, ProjectId, WalletId, WalletKey},
    notice::Notice,
    text::{ExternalUserId, IdempotencyKey},
    time::Timestamp,
};
use hmac::{Hmac, KeyInit as _, Mac as _};
use persistence::NoticeNumber;
use sha2::{Digest as _, Sha256};

/// One word a line, upper case, 4 to 6 letters.
static WORDS: &str = include_str!("words.txt");

const NONCE_BYTES: usize = 24;

/// Encrypts small secrets for storage.
#[derive(Clone)]
pub struct Seal(XChaCha20Poly1305);

impl fmt::Debug for Seal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seal(..)")
    }
}

impl Seal {
    /// Derives a key for one purpose, which `label` names, from the server key.
    #[must_use]
    pub fn new(server_key: &[u8; 32], label: &str) -> Self {
        let key = derive(server_key, label.as_bytes());
        Self(XChaCha20Poly1305::new(&Key::from(key)))
    }

    /// Encrypts.
    #[must_use]
    pub fn seal(&self, plain: &[u8]) -> Box<[u8]> {
        let nonce: [u8; NONCE_BYTES] = rand::random();
        let sealed = self.0.encrypt(&XNonce::from(nonce), plain);
        // Encrypting some bytes in memory has no way to fail; an empty seal opens to nothing.
        let mut bytes = nonce.to_vec();
        bytes.extend(sealed.unwrap_or_default());
        bytes.into()
    }

    /// Decrypts; `None` under another key.
    #[must_use]
    pub fn open(&self, sealed: &[u8]) -> Option<Vec<u8>> {
        let (nonce, body) = sealed.split_at_checked(NONCE_BYTES)?;
        let nonce: [u8; NONCE_BYTES] = nonce.try_into().ok()?;
        self.0.decrypt(&XNonce::from(nonce), body).ok()
    }
}

/// The server's secrets and the addresses made with them.
#[derive(Clone)]
pub struct Keyring {
    code_mac: Hmac<Sha256>,
    order_mac: Hmac<Sha256>,
    rotation_mac: Hmac<Sha256>,
    event_mac: Hmac<Sha256>,
    seal: Seal,
    words: std::sync::Arc<[&'static str]>,
}

impl fmt::Debug for Keyring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Keyring(..)")
    }
}

impl Keyring {
    /// Derives what is needed from the server key.
    #[must_use]
    pub fn new(server_key: &[u8; 32]) -> Self {
        let code_key = derive(server_key, b"scrip/code-hash/1");
        Self {
            code_mac: mac(&code_key),
            order_mac: mac(&derive(server_key, b"scrip/order/1")),
            rotation_mac: mac(&derive(server_key, b"scrip/rotation/1")),
            event_mac: mac(&derive(server_key, b"scrip/event/1")),
            seal: Seal::new(server_key, "scrip/code-seal/1"),
            words: WORDS.lines().collect(),
        }
    }

    /// What a notice is called: its number, so that names are in the log's order, and a half that cannot
    /// be guessed. It hangs on what the notice says, so that two histories that part after a backup was put
    /// back do not call different things alike.
    #[must_use]
    pub fn event(&self, number: NoticeNumber, notice: &Notice) -> EventId {
        let mut mac = self.event_mac.clone();
        mac.update(&notice.project.0.to_be_bytes());
        mac.update(&number.to_be_bytes());
        mac.update(&notice.at.0.to_be_bytes());
        mac.update(&notice.wallet.0.to_be_bytes());
        mac.update(&notice.key.0);
        let half = first_half(&mac.finalize().into_bytes().into());
        let half = half.first_chunk::<8>().copied().unwrap_or_default();
        EventId((u128::from(number) << 64) | u128::from(u64::from_be_bytes(half)))
    }

    /// Draws a code: a word and 60 random bits.
    #[must_use]
    pub fn draw_code(&self) -> Code {
        loop {
            // Always well-formed; the loop is there so that nothing has to be assumed.
            if let Some(code) = self.spell(rand::random(), rand::random()) {
                return code;
            }
        }
    }

    /// The code that a rotation of `old` under `key` draws within an hour: always the same, and not to
    /// be guessed without the server key. So nothing needs to be kept to answer it again.
    #[must_use]
    pub fn rotated_code(
        &self,
        project: ProjectId,
        old: &Code,
        key: &IdempotencyKey,
        hour: i64,
    ) -> Option<Code> {
        let mut mac = self.rotation_mac.clone();
        mac.update(&project.0.to_be_bytes());
        mac.update(&hour.to_be_bytes());
        // Codes are all of one alphabet, without a colon.
        mac.update(old.reveal().as_bytes());
        mac.update(b":");
        mac.update(key.as_str().as_bytes());
        let random = u128::from_be_bytes(first_half(&mac.finalize().into_bytes().into()));
        let [word, bits] = [random >> 64, random & u128::from(u64::MAX)];
        self.spell(u64::try_from(word).ok()?, u64::try_from(bits).ok()?)
    }

    /// A word, and 60 of `bits`.
    fn spell(&self, word: u64, bits: u64) -> Option<Code> {
        let words = u64::try_from(self.words.len()).ok()?;
        let word = usize::try_from(word.checked_rem(words)?).ok()?;
        let mut text = String::from(*self.words.get(word)?);
        for position in 0..12_u32 {
            if position.is_multiple_of(4) {
                text.push('-');
            }
            let digit = (bits >> position.saturating_mul(5)) & 31;
            let digit = CODE_ALPHABET.get(usize::try_from(digit).ok()?)?;
            text.push(char::from(*digit));
        }
        Code::parse(&text)
    }

    /// How a code is found within a project.
    #[must_use]
    pub fn code_hash(&self, project: ProjectId, code: &Code) -> CodeHash {
        let mut mac = self.code_mac.clone();
        mac.update(&project.0.to_be_bytes());
        mac.update(code.reveal().as_bytes());
        CodeHash(first_half(&mac.finalize().into_bytes().into()))
    }

    /// Encrypts a code for storage.
    #[must_use]
    pub fn seal(&self, code: &Code) -> Box<[u8]> {
        self.seal.seal(code.reveal().as_bytes())
    }

    /// Decrypts a stored code; `None` under another server key.
    #[must_use]
    pub fn unseal(&self, sealed: &[u8]) -> Option<Code> {
        let plain = self.seal.open(sealed)?;
        Code::parse(std::str::from_utf8(&plain).ok()?)
    }

    /// The order that a paid invoice makes, or a payment that somebody assigns. Keyed, so that nobody who knows an invoice can name its
    /// order; the invoice's time is in it, so that orders sort by time.
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

/// Where a user's wallet is stored. Not keyed: it must be found again without the server key, and
/// 128 bits of SHA-256 leave nothing to collide by chance.
#[must_use]
pub(crate) fn external_key(project: ProjectId, user: &ExternalUserId) -> WalletKey {
    let mut hash = Sha256::new();
    hash.update(b"ext/1");
    hash.update(project.0.to_be_bytes());
    hash.update(user.as_str().as_bytes());
    WalletKey(first_half(&hash.finalize().into()))
}

/// A ledger entry's identifier, derived so that it need not be stored: sortable by time, and not
/// to be guessed without the wallet's own unguessable identifier.
#[must_use]
pub fn ledger_id(wallet: WalletId, seq: u64, at: Timestamp) -> LedgerId {
    let mut hash = Sha256::new();
    hash.update(b"led/1");
    hash.update(wallet.0.to_be_bytes());
    hash.update(seq.to_be_bytes());
    let random = u128::from_be_bytes(first_half(&hash.finalize().into()));
    LedgerId(timed(random, at))
}

/// Where the wallet is stored that an order of no other wallet fills.
#[must_use]
pub(crate) fn order_key(project: ProjectId, order: OrderSerial) -> WalletKey {
    let mut hash = Sha256::new();
    hash.update(b"ord/1");
    hash.update(project.0.to_be_bytes());
    hash.update(order.0.to_be_bytes());
    WalletKey(first_half(&hash.finalize().into()))
}

/// A UUID version 7 out of bits that look random, and an instant.
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
    // HMAC pads a short key with zeroes to the hash's block: the same as passing it as it is.
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
        let id = ledger_id(WalletId(9), 3, Timestamp(1000));
        assert_eq!(id, ledger_id(WalletId(9), 3, Timestamp(1000)));
        assert_ne!(id, ledger_id(WalletId(9), 4, Timestamp(1000)));
        assert!(id < ledger_id(WalletId(1), 1, Timestamp(1001)));
    }
}
