//! Ids like Stripe's: a prefix, then unguessable letters and digits, from a seed that is passed in so that tests know
//! them.

use std::collections::BTreeMap;

use sha2::{Digest as _, Sha256};

const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/// Characters of a usual id: some 142 bits.
const USUAL_CHARS: usize = 24;
/// Characters of an id that opens a page: some 345 bits, as long as Stripe's.
const SECRET_CHARS: usize = 58;

pub(crate) enum Ids {
    Drawn {
        seed: [u8; 32],
        drawn: u64,
    },
    /// Guessable numbers from 1 for each prefix, followed by this text; for tests.
    Counted(BTreeMap<String, u64>, String),
}

impl Ids {
    /// The seed must be random and used once.
    pub(crate) const fn new(seed: [u8; 32]) -> Self {
        Self::Drawn { seed, drawn: 0 }
    }

    pub(crate) fn usual(&mut self, prefix: &str) -> String {
        self.draw(prefix, USUAL_CHARS)
    }

    /// A secret id: anybody who knows it may open its page.
    pub(crate) fn secret(&mut self, prefix: &str) -> String {
        self.draw(prefix, SECRET_CHARS)
    }

    fn draw(&mut self, prefix: &str, chars: usize) -> String {
        let (seed, drawn) = match self {
            Self::Drawn { seed, drawn } => (seed, drawn),
            Self::Counted(counts, end) => {
                let count = counts.entry(prefix.to_owned()).or_default();
                *count += 1;
                return format!("{prefix}{count}{end}");
            }
        };
        let mut text = String::from(prefix);
        let length = prefix.len() + chars;
        while text.len() < length {
            *drawn += 1;
            let block = Sha256::new()
                .chain_update(*seed)
                .chain_update(drawn.to_be_bytes())
                .finalize();
            for byte in block {
                // Bytes past the last whole alphabet would favour its beginning.
                if byte < 248 && text.len() < length {
                    let letter = ALPHABET.get(usize::from(byte % 62)).copied();
                    text.push(char::from(letter.unwrap_or(b'0')));
                }
            }
        }
        text
    }
}

#[cfg(test)]
mod tests;
