//! Signatures of Standard Webhooks 1.0.

use data_encoding::BASE64;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

/// What a delivery's header says: a signature for each secret in force, so that a receiver may know the
/// old one or the new.
pub(super) fn header(secrets: &[Vec<u8>], id: &str, seconds: i64, body: &[u8]) -> String {
    let signed = secrets.iter().filter_map(|secret| {
        // HMAC takes a key of any length.
        let mut mac = Hmac::<Sha256>::new_from_slice(secret).ok()?;
        mac.update(format!("{id}.{seconds}.").as_bytes());
        mac.update(body);
        Some(format!(
            "v1,{}",
            BASE64.encode(&mac.finalize().into_bytes())
        ))
    });
    signed.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_the_standards_libraries_is_signed_as_theirs() {
        let secret = BASE64.decode(b"MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let (id, body) = ("msg_p5jXN8AQM9LWM0D4loKWxJek", br#"{"test": 2432232314}"#);
        let signed = header(&[secret.clone()], id, 1_614_265_330, body);
        assert_eq!(signed, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
        let both = header(&[vec![1; 32], secret], id, 1_614_265_330, body);
        assert_eq!(both.split(' ').count(), 2);
        assert!(both.ends_with(&signed));
    }
}
