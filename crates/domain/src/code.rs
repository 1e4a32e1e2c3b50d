//! Recovery codes: `WORD-XXXX-XXXX-XXXX`. This module parses typed codes; generating and hashing need randomness and a
//! key and happen elsewhere.

use std::fmt;

/// Crockford's base32 alphabet, without I, L, O and U.
pub const CODE_ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

const GROUPS: usize = 12;
/// The most bytes of a typed code, with separators.
const MAX_BYTES: usize = 128;

/// A well-formed recovery code in its normal form: upper case, I and L read as 1, O as 0 in the
/// groups after the word. It opens a wallet: never logged, so `Debug` hides it.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct RecoveryCode(Box<str>);

impl RecoveryCode {
    /// Parses a code as people write it: in any case, with look-alikes, with dashes, spaces, line ends or full stops
    /// anywhere. `None` if it is not code-shaped. The word is not checked: an unknown one opens nothing.
    pub fn parse(typed: &str) -> Option<Self> {
        if typed.len() > MAX_BYTES {
            return None;
        }
        let letters = folded(typed);
        let (word, rest) = letters.split_at_checked(letters.len().checked_sub(GROUPS)?)?;
        if !(4..=6).contains(&word.len()) || !word.bytes().all(|b| b.is_ascii_uppercase()) {
            return None;
        }
        let mut normal = word.to_owned();
        for (place, byte) in rest.bytes().enumerate() {
            if place.is_multiple_of(4) {
                normal.push('-');
            }
            normal.push(char::from(symbol(byte)?));
        }
        Some(Self(normal.into()))
    }

    /// The code itself, only for the response to its owner and for hashing.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

/// A typed code without separators, in one case.
pub fn folded(typed: &str) -> String {
    let letters = typed.chars().filter(|letter| !is_mark(*letter));
    letters.map(|letter| letter.to_ascii_uppercase()).collect()
}

/// Whether a character may separate a code's letters: any dash, full stop or invisible character.
fn is_mark(c: char) -> bool {
    c.is_whitespace()
        || matches!(
            c,
            '-' | '_' | '.' | '\u{ad}' | '\u{200b}'..='\u{200d}' | '\u{2010}'..='\u{2015}' | '\u{2043}'
                | '\u{2060}' | '\u{2212}' | '\u{3002}' | '\u{fe58}' | '\u{fe63}' | '\u{feff}' | '\u{ff0d}'
        )
}

fn symbol(byte: u8) -> Option<u8> {
    let folded = match byte {
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
            "Finish–5stw–ge34–t677.",
            "FINISH_5STW.GE34 - T677",
            "FINISH\u{2011}5STW\u{2212}GE34\u{2014}T677\u{200b}",
            "FINISH-5STW-\r\nGE34-T677\r\n",
            "\u{feff}F I N I S H — 5 S T W — G E 3 4 — T 6 7 7",
        ] {
            assert_eq!(RecoveryCode::parse(spelled), code, "{spelled}");
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
        let unreadable = "- OLIVE OLIVE-1234-5678 OLIVE-1234-5678-9ABC-DEFG OLI-1234-5678-9ABC \
            OLIVES1-1234-5678-9ABC OLIVE-123U-5678-9ABC ÖLIVE-1234-5678-9ABC user@5stw.ge34.t677 \
            fin1sh5stwge34t677 OLIVE/1234/5678/9ABC external";
        for typed in unreadable.split(' ').chain([""]) {
            assert_eq!(RecoveryCode::parse(typed), None, "{typed}");
        }
    }

    #[test]
    fn a_code_does_not_print_itself() {
        let code = RecoveryCode::parse("OLIVE-1234-5678-9ABC").unwrap();
        assert!(!format!("{code:?}").contains("OLIVE"));
    }
}
