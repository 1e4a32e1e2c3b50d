//! What an identity provider's settings must be.

use super::*;

const WHOLE: [(&str, &str); 4] = [
    ("SCRIP_PUBLIC_URL", "https://pay.example"),
    ("SCRIP_OIDC_ISSUER", "https://id.example/realms/one"),
    ("SCRIP_OIDC_CLIENT_ID", "scrip"),
    ("SCRIP_OIDC_CLIENT_SECRET", "hunter2hunter2"),
];

#[test]
fn an_identity_provider_is_set_as_a_whole_and_its_secret_never_shown() {
    let config = merged("", &WHOLE, &Flags::default()).unwrap();
    assert!(config.oidc.is_set());
    assert_eq!(config.oidc.client_secret.reveal(), "hunter2hunter2");
    assert!(!format!("{config:?}").contains("hunter2"));
    assert!(!merged("", &[], &Flags::default()).unwrap().oidc.is_set());
    for without in 0..WHOLE.len() {
        let mut some = WHOLE.to_vec();
        some.remove(without);
        let why = refused("", &some);
        assert!(why.contains("oidc."), "{why}");
        assert!(!why.contains("hunter2"), "{why}");
    }
}

#[test]
fn an_issuer_is_reached_over_tls_or_on_this_machine() {
    let with = |issuer: &'static str| {
        let mut pairs = WHOLE.to_vec();
        pairs[1].1 = issuer;
        merged("", &pairs, &Flags::default())
    };
    for good in [
        "https://id.example",
        "https://id.example/",
        "http://127.0.0.1:3000",
        "http://localhost/x",
    ] {
        assert!(with(good).is_ok(), "{good}");
    }
    for bad in [
        "http://id.example",
        "id.example",
        "https://id.example?x",
        "https://a:b@id.example",
        "ftp://id.example",
    ] {
        assert!(with(bad).is_err(), "{bad}");
    }
}

#[test]
fn the_secret_may_be_in_a_file() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "hunter2hunter2\n").unwrap();
    let mut pairs = WHOLE.to_vec();
    pairs[3] = (
        "SCRIP_OIDC_CLIENT_SECRET_FILE",
        file.path().to_str().unwrap(),
    );
    let config = merged("", &pairs, &Flags::default()).unwrap();
    assert_eq!(config.oidc.client_secret.reveal(), "hunter2hunter2");
}
