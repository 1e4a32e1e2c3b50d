//! A wallet's name and a command, read from one body.

use super::*;
use crate::http::field::{KeyText, MetaObject, Object, Positive};

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Verb {
    amount: Positive,
    product_id: Option<ProductName>,
    idempotency_key: Option<KeyText>,
    meta: Option<MetaObject>,
}

impl MayNameProduct for Verb {
    fn names_product(&self) -> bool {
        self.product_id.is_some()
    }
}

fn read<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, String> {
    let read = serde_json::from_str(text);
    read.map(|Object(value)| value)
        .map_err(|error: serde_json::Error| error.to_string())
}

#[test]
fn a_user_is_read_beside_the_verb_wherever_it_stands() {
    for text in [
        r#"{"externalUserId":"ann","amount":3,"idempotencyKey":"k","meta":{"a":[1.50]}}"#,
        r#"{"amount":3,"future":{"externalUserId":"x"},"meta":{"a":[1.50]},"idempotencyKey":"k","externalUserId":"ann"}"#,
        r#"{"amount":3,"\u0065xternalUserId":"\u0061nn","idempotencyKey":"k","meta":{"a":[1.50]}}"#,
    ] {
        let ForUser { user, command } = read::<ForUser<Verb>>(text).unwrap();
        assert_eq!(user.as_str(), "ann");
        assert_eq!(command.amount.0.get(), 3);
        assert_eq!(command.idempotency_key.unwrap().0.as_str(), "k");
        assert_eq!(command.meta.unwrap().0.as_str(), r#"{"a":[1.50]}"#);
    }
}

#[test]
fn a_user_is_there_once() {
    let missing = read::<ForUser<Verb>>(r#"{"amount":3}"#).unwrap_err();
    assert!(
        missing.starts_with("missing field `externalUserId`"),
        "{missing}"
    );
    let twice = r#"{"externalUserId":"a","amount":3,"externalUserId":"a"}"#;
    let twice = read::<ForUser<Verb>>(twice).unwrap_err();
    assert!(
        twice.starts_with("duplicate field `externalUserId`"),
        "{twice}"
    );
    let null = read::<ForUser<Verb>>(r#"{"externalUserId":null,"amount":3}"#);
    assert!(null.is_err());
}

#[test]
fn either_is_one_of_two() {
    let split = |text| read::<ForWallet<Verb>>(text).unwrap().split();
    let (wallet, _) = split(r#"{"amount":1,"externalUserId":"a","code":null}"#).unwrap();
    assert!(matches!(wallet, Some(NamedWallet::User(_))));
    let (wallet, _) = split(r#"{"code":"FONDUE-75EV-E1Z8-FGYX","amount":1}"#).unwrap();
    assert!(matches!(wallet, Some(NamedWallet::Code(Ok(_)))));
    let (wallet, _) = split(r#"{"code":"x","amount":1}"#).unwrap();
    assert!(matches!(wallet, Some(NamedWallet::Code(Err(_)))));
    assert!(split(r#"{"amount":1}"#).unwrap().0.is_none());
    let both = split(r#"{"amount":1,"code":"x","externalUserId":"a"}"#);
    assert_eq!(both.unwrap_err().code(), ErrorCode::ConflictingWallet);
}

#[test]
fn a_product_may_have_to_be_named() {
    assert!(read::<WithProduct<Verb>>(r#"{"amount":1,"productId":"prod_x"}"#).is_ok());
    for text in [r#"{"amount":1}"#, r#"{"amount":1,"productId":null}"#] {
        let error = read::<WithProduct<Verb>>(text).unwrap_err();
        assert!(error.starts_with("missing field `productId`"), "{error}");
    }
}

#[test]
fn what_the_path_names_the_body_need_not() {
    let text = r#"{"amount":1,"externalUserId":7,"code":[]}"#;
    assert!(read::<Verb>(text).is_ok());
}
