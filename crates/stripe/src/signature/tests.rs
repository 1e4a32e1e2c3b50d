//! Which signatures are accepted, and which are not.

use proptest::prelude::*;

use super::*;

const NOW: Timestamp = Timestamp(1_754_000_000_123);
const SECONDS: i64 = 1_754_000_000;
const BODY: &[u8] = br#"{"id":"evt_1","type":"checkout.session.completed"}"#;

// Made with `printf '1754000000.%s' "$BODY" | openssl dgst -sha256 -hmac whsec_one`.
const KNOWN: &str =
    "t=1754000000,v1=32a7c419c8b6c1f20fd889b6e6aef052cdffa299e3590d0058e0731b9b777ee4";

fn secret(text: &str) -> SigningSecret {
    SigningSecret::new(text).unwrap()
}

fn check(header: &str) -> Result<(), Error> {
    verify(header.as_bytes(), BODY, &[secret("whsec_one")], NOW)
}

fn at(seconds: i64) -> Timestamp {
    Timestamp(0).plus_seconds(seconds)
}

fn signed() -> String {
    sign(&secret("whsec_one"), BODY, NOW)
}

fn v1() -> String {
    signed().split_once(",v1=").unwrap().1.to_owned()
}

#[test]
fn the_scheme_is_stripes_own() {
    assert_eq!(signed(), KNOWN);
    assert_eq!(check(KNOWN), Ok(()));
}

#[test]
fn a_header_is_believed_or_not() {
    let v1 = v1();
    let forged = "0".repeat(64);
    let upper = v1.to_uppercase();
    let table = [
        (format!("t={SECONDS},v1={v1}"), Ok(())),
        (format!("v1={v1},t={SECONDS}"), Ok(())),
        (format!("t={SECONDS},v1={upper}"), Ok(())),
        (format!("t={SECONDS},v1={forged},v1={v1}"), Ok(())),
        (format!("t={SECONDS},v1={v1},v1={forged}"), Ok(())),
        (format!("t={SECONDS},v1=short,v1={v1}"), Ok(())),
        (format!("t={SECONDS},v1={v1},v0={forged},x,,="), Ok(())),
        (format!("t={SECONDS},v1={forged}"), Err(Error::Mismatch)),
        (format!("t={SECONDS},v0={v1}"), Err(Error::Mismatch)),
        (
            format!("t={SECONDS},v1={}", &v1[..63]),
            Err(Error::Mismatch),
        ),
        (format!("t={SECONDS},v1={v1}0"), Err(Error::Mismatch)),
        (
            format!("t={SECONDS},v1=+{}", &v1[1..]),
            Err(Error::Mismatch),
        ),
        (format!("t={SECONDS},v1="), Err(Error::Mismatch)),
        (format!("t={SECONDS}, v1={v1}"), Err(Error::Mismatch)),
        (format!("t={SECONDS}"), Err(Error::Mismatch)),
        // The time is part of what is signed, digit by digit.
        (format!("t={},v1={v1}", SECONDS + 1), Err(Error::Mismatch)),
        (format!("t=0{SECONDS},v1={v1}"), Err(Error::Mismatch)),
        (
            format!("t={SECONDS},t={SECONDS},v1={v1}"),
            Err(Error::Malformed),
        ),
        (format!("t={SECONDS},v1={v1},t=1"), Err(Error::Malformed)),
        (format!("t=+{SECONDS},v1={v1}"), Err(Error::Malformed)),
        (format!("t=-{SECONDS},v1={v1}"), Err(Error::Malformed)),
        (format!("t=,v1={v1}"), Err(Error::Malformed)),
        (format!("t=now,v1={v1}"), Err(Error::Malformed)),
        (
            format!("t={SECONDS}000000000000,v1={v1}"),
            Err(Error::Malformed),
        ),
        (format!("v1={v1}"), Err(Error::Malformed)),
        (format!("T={SECONDS},V1={v1}"), Err(Error::Malformed)),
        (String::new(), Err(Error::Malformed)),
        (",,,".into(), Err(Error::Malformed)),
    ];
    for (header, expected) in table {
        assert_eq!(check(&header), expected, "{header}");
    }
}

#[test]
fn five_minutes_either_way_are_tolerated() {
    let one = [secret("whsec_one")];
    for (apart, expected) in [
        (-301, Err(Error::Time)),
        (-300, Ok(())),
        (0, Ok(())),
        (300, Ok(())),
        (301, Err(Error::Time)),
    ] {
        let header = sign(&one[0], BODY, at(SECONDS + apart));
        assert_eq!(
            verify(header.as_bytes(), BODY, &one, NOW),
            expected,
            "{apart}"
        );
    }
    let header = sign(&one[0], BODY, at(0));
    assert_eq!(verify(header.as_bytes(), BODY, &one, NOW), Err(Error::Time));
}

#[test]
fn a_stale_forgery_is_called_a_forgery() {
    let header = format!("t=1,v1={}", "0".repeat(64));
    assert_eq!(check(&header), Err(Error::Mismatch));
}

#[test]
fn any_of_several_secrets_will_do_and_none_will_not() {
    let (old, new) = (secret("whsec_old"), secret("whsec_new"));
    let both = [old.clone(), new.clone()];
    for signer in [&old, &new] {
        let header = sign(signer, BODY, NOW);
        assert_eq!(verify(header.as_bytes(), BODY, &both, NOW), Ok(()));
    }
    let header = sign(&old, BODY, NOW);
    let alone = [new];
    assert_eq!(
        verify(header.as_bytes(), BODY, &alone, NOW),
        Err(Error::Mismatch)
    );
    assert_eq!(
        verify(header.as_bytes(), BODY, &[], NOW),
        Err(Error::Mismatch)
    );
}

#[test]
fn a_huge_header_is_not_looked_at() {
    let good = signed();
    let padded = |bytes: usize| format!("{good},v0={}", "a".repeat(bytes - good.len() - 4));
    assert_eq!(padded(MAX_HEADER_BYTES).len(), MAX_HEADER_BYTES);
    assert_eq!(check(&padded(MAX_HEADER_BYTES)), Ok(()));
    assert_eq!(check(&padded(MAX_HEADER_BYTES + 1)), Err(Error::Malformed));
    assert_eq!(check(&padded(1 << 20)), Err(Error::Malformed));
}

#[test]
fn an_empty_body_can_be_signed_and_an_empty_secret_cannot_sign() {
    let one = [secret("whsec_one")];
    let header = sign(&one[0], b"", NOW);
    assert_eq!(verify(header.as_bytes(), b"", &one, NOW), Ok(()));
    assert_eq!(
        verify(header.as_bytes(), b" ", &one, NOW),
        Err(Error::Mismatch)
    );
    assert!(SigningSecret::new("").is_none());
}

#[test]
fn a_secret_is_not_printed() {
    assert_eq!(format!("{:?}", secret("whsec_one")), "SigningSecret(..)");
}

proptest! {
    #[test]
    fn what_was_signed_is_believed_and_one_changed_bit_is_not(
        key in "[!-~]{1,80}",
        body in proptest::collection::vec(any::<u8>(), 1..600),
        seconds in 0_i64..4_000_000_000,
        place in any::<proptest::sample::Index>(),
        bit in 0_u8..8,
    ) {
        let one = [secret(&key)];
        let header = sign(&one[0], &body, at(seconds));
        prop_assert_eq!(verify(header.as_bytes(), &body, &one, at(seconds)), Ok(()));
        let mut other = body.clone();
        other[place.index(body.len())] ^= 1 << bit;
        prop_assert_eq!(
            verify(header.as_bytes(), &other, &one, at(seconds)),
            Err(Error::Mismatch)
        );
    }

    #[test]
    fn nothing_but_a_signature_is_believed(header in proptest::collection::vec(any::<u8>(), 0..300)) {
        prop_assert!(verify(&header, BODY, &[secret("whsec_one")], NOW).is_err());
    }
}
