//! Recovery codes: `WORD-XXXX-XXXX-XXXX`. This module reads what a person typed; drawing a code
//! and hashing it need randomness and a key and happen elsewhere.

use std::fmt;

/// Crockford's base32 alphabet, without I, L, O and U.
pub const CODE_ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/// A well-formed recovery code in its normal form: upper case, I and L read as 1, O as 0 in the
/// groups after the word. It opens a wallet: never logged, so `Debug` hides it.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct RecoveryCode(Box<str>);

impl RecoveryCode {
    /// Reads a code as typed: any case, look-alikes folded. `None` when it is not code-shaped.
    /// The word is not looked up: an unknown one simply opens nothing.
    #[must_use]
    pub fn parse(typed: &str) -> Option<Self> {
        // The longest code has 6 + 3 * 5 characters; longer input is not worth a copy.
        if typed.len() > 21 {
            return None;
        }
        let mut normal = String::with_capacity(typed.len());
        let mut groups = typed.split('-');
        let word = groups.next()?;
        if !(4..=6).contains(&word.len()) || !word.bytes().all(|b| b.is_ascii_alphabetic()) {
            return None;
        }
        normal.extend(word.bytes().map(|b| char::from(b.to_ascii_uppercase())));
        for _ in 0..3 {
            let group = groups.next()?;
            if group.len() != 4 {
                return None;
            }
            normal.push('-');
            for byte in group.bytes() {
                normal.push(char::from(symbol(byte)?));
            }
        }
        if groups.next().is_some() {
            None
        } else {
            Some(Self(normal.into()))
        }
    }

    /// Reads a code as a person may pass it on: with spaces or other marks where hyphens belong, or with none.
    #[must_use]
    pub fn parse_spelled(typed: &str) -> Option<Self> {
        if typed.len() > 64 {
            return None;
        }
        let mut letters: String = typed.chars().filter(char::is_ascii_alphanumeric).collect();
        let is_mark =
            |c: char| c.is_ascii_alphanumeric() || c.is_whitespace() || "-–—_.".contains(c);
        let word = letters.len().checked_sub(12)?;
        if !typed.chars().all(is_mark) {
            return None;
        }
        for place in [8, 4, 0] {
            letters.insert(word.saturating_add(place), '-');
        }
        Self::parse(&letters)
    }

    /// The code itself. For the answer to its owner and for hashing; for nothing else.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

fn symbol(byte: u8) -> Option<u8> {
    let folded = match byte.to_ascii_uppercase() {
        b'I' | b'L' => b'1',
        b'O' => b'0',
        other => other,
    };
    CODE_ALPHABET.contains(&folded).then_some(folded)
}

impl fmt::Debug for RecoveryCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Code(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_read_however_it_is_spelled() {
        let code = RecoveryCode::parse("FINISH-5STW-GE34-T677");
        assert!(code.is_some());
        for spelled in [
            "finish 5stw ge34 t677",
            " finish5stwge34t677 ",
            "Finish–5stw–ge34–t677",
            "FINISH_5STW.GE34 - T677",
        ] {
            assert_eq!(RecoveryCode::parse_spelled(spelled), code, "{spelled}");
        }
        for other in [
            "",
            "finish",
            "finish 5stw ge34",
            "user@5stw.ge34.t677",
            "fin1sh5stwge34t677",
        ] {
            assert_eq!(RecoveryCode::parse_spelled(other), None, "{other}");
        }
    }

    #[test]
    fn what_people_type_is_read_as_meant() {
        let code = RecoveryCode::parse("olive-1io0-abcd-wxyz").unwrap();
        assert_eq!(code.reveal(), "OLIVE-1100-ABCD-WXYZ");
        assert_eq!(
            RecoveryCode::parse("OLIVE-LIOo-aBcD-WXYZ"),
            RecoveryCode::parse("olive-1100-abcd-wxyz")
        );
    }

    #[test]
    fn anything_else_is_not_a_code() {
        for typed in [
            "",
            "-",
            "OLIVE",
            "OLIVE-1234-5678",
            "OLIVE-1234-5678-9ABC-DEFG",
            "OLI-1234-5678-9ABC",
            "OLIVES1-1234-5678-9ABC",
            "OLIVE-123U-5678-9ABC",
            "OLIVE-12345-678-9ABC",
            "ÖLIVE-1234-5678-9ABC",
            "OLIVE_1234_5678_9ABC",
            "external",
        ] {
            assert_eq!(RecoveryCode::parse(typed), None, "{typed}");
        }
    }

    #[test]
    fn a_code_does_not_print_itself() {
        let code = RecoveryCode::parse("OLIVE-1234-5678-9ABC").unwrap();
        assert!(!format!("{code:?}").contains("OLIVE"));
    }
}
