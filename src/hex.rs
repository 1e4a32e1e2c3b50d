//! Bytes as hexadecimal digits, and back.

/// In lower case.
pub(crate) fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Exactly 64 digits, in either case, and nothing else.
pub(crate) fn from_hex(text: &[u8]) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    if text.len() != 64 {
        return None;
    }
    for (slot, pair) in bytes.iter_mut().zip(text.chunks_exact(2)) {
        // `from_str_radix` would take a sign.
        let digits = Some(pair).filter(|pair| pair.iter().all(u8::is_ascii_hexdigit))?;
        *slot = u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hex_is_read_strictly() {
        let bytes = [0xa5; 32];
        assert_eq!(from_hex(to_hex(&bytes).as_bytes()), Some(bytes));
        assert_eq!(from_hex("+1".repeat(32).as_bytes()), None);
        assert_eq!(from_hex("0".repeat(63).as_bytes()), None);
        assert_eq!(from_hex("é".repeat(32).as_bytes()), None);
    }
}
