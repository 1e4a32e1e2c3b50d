//! Which bodies are accepted, and how the others are refused.

use wire::field::{KeyText, MetaObject, Positive};

use super::*;

#[derive(Debug, Deserialize)]
struct Request {
    amount: Option<Positive>,
    name: Option<KeyText>,
    meta: Option<MetaObject>,
    #[serde(default)]
    items: Vec<Object<Item>>,
}

#[derive(Debug, Deserialize)]
struct Item {
    #[serde(rename = "amount")]
    _amount: Option<Positive>,
    #[serde(rename = "name")]
    _name: Option<KeyText>,
}

fn refused(body: &str) -> (Option<String>, String) {
    let error = parse::<Request>(body.as_bytes()).expect_err(body);
    assert_eq!(error.code(), ErrorCode::InvalidRequest);
    let body = serde_json::to_value(error.body(None)).unwrap();
    (
        error.param().map(Into::into),
        body["message"].as_str().unwrap().to_owned(),
    )
}

#[test]
fn a_field_in_another_spelling_is_named() {
    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Named {
        #[serde(rename = "externalUserId")]
        _user: String,
        #[serde(default, rename = "items")]
        _items: Vec<Object<Named>>,
    }
    let message = |body: &str| {
        parse::<Named>(body.as_bytes())
            .unwrap_err()
            .message()
            .to_owned()
    };
    let top = message(r#"{"external_user_id":"ann"}"#);
    assert!(top.ends_with("the body has external_user_id."), "{top}");
    let inside = message(r#"{"externalUserId":"ann","items":[{"ExternalUserID":"ann"}]}"#);
    assert!(
        inside.starts_with("items[0].externalUserId is missing.")
            && inside.contains("ExternalUserID"),
        "{inside}"
    );
    assert_eq!(message(r#"{"user":"ann"}"#), "externalUserId is missing.");
}

fn param(body: &str) -> Option<String> {
    refused(body).0
}

#[test]
fn a_good_body_is_read_and_unknown_fields_are_ignored() {
    let body = br#"{"future":[{"deep":[1.5]}],"amount":7,"name":"J\u00e9","meta":{"a": 1}}"#;
    let request: Request = parse(body).unwrap();
    assert!(request.items.is_empty());
    assert_eq!(request.amount.unwrap().0.get(), 7);
    assert_eq!(request.name.unwrap().0.as_str(), "Jé");
    assert_eq!(request.meta.unwrap().0.as_str(), r#"{"a":1}"#);
}

fn unread(body: &str) -> Option<String> {
    let json = Body {
        bytes: body.to_owned().into(),
        strict: true,
    };
    let read = json.parse::<Request>();
    read.err()
        .map(|error| error.param().unwrap_or_default().to_owned())
}

#[test]
fn a_caller_may_have_unknown_fields_refused_at_any_depth() {
    let good = r#"{"amount":7,"name":"J","meta":{"any": {"thing": [1.5]}},"items":[{"amount":1}]}"#;
    assert_eq!(unread(good), None);
    for (body, path) in [
        (r#"{"amuont":7}"#, "amuont"),
        (
            r#"{"items":[{"amount":1},{"nmae":"x","y":1}]}"#,
            "items[1].nmae",
        ),
        (r#"{"b":{"c":1},"a":1}"#, "b"),
        (r#"{"amount":0,"amuont":7}"#, "amount"),
    ] {
        assert_eq!(unread(body).as_deref(), Some(path), "{body}");
    }
}

#[test]
fn amounts_are_positive_json_integers_within_two_to_the_53() {
    for good in ["1", "9007199254740991"] {
        assert!(
            parse::<Request>(format!("{{\"amount\":{good}}}").as_bytes()).is_ok(),
            "{good}"
        );
    }
    for bad in [
        "0",
        "-1",
        "-0",
        "1.0",
        "1.5",
        "1e3",
        "1E0",
        "\"1\"",
        "true",
        "[1]",
        "{}",
        "9007199254740992",
        "9223372036854775808",
        "18446744073709551616",
        "1e999",
        "99999999999999999999999999",
    ] {
        assert_eq!(
            param(&format!("{{\"amount\":{bad}}}")).as_deref(),
            Some("amount"),
            "{bad}"
        );
    }
}

#[test]
fn a_fault_in_an_item_is_named_by_its_path() {
    let body = r#"{"items":[{"amount":1},{"amount":2},{},{"amount":"4"}]}"#;
    assert_eq!(param(body).as_deref(), Some("items[3].amount"));
    assert_eq!(param(r#"{"items":[[1,"x"]]}"#).as_deref(), Some("items[0]"));
    assert_eq!(param(r#"{"items":7}"#).as_deref(), Some("items"));
    assert_eq!(
        param(r#"{"items":[{"amount":1,"amount":1}]}"#).as_deref(),
        Some("items[0].amount")
    );
}

#[test]
fn anything_but_one_object_is_refused_as_a_whole() {
    for body in [
        "",
        " ",
        "null",
        "7",
        "\"x\"",
        "[]",
        "[1,\"x\",null,[]]",
        "{",
        "{\"amount\":1",
        "{}{}",
        "{} x",
        "{'amount':1}",
        "{\"amount\":01}",
        "{\"amount\":NaN}",
        "\u{feff}{}",
        "{\"a\":1,}",
    ] {
        assert_eq!(param(body), None, "{body}");
    }
    assert!(parse::<Request>(b"{\"name\":\"\xff\"}").is_err());
}

#[test]
fn a_field_that_is_there_twice_is_refused() {
    assert_eq!(
        param(r#"{"amount":1,"amount":1}"#).as_deref(),
        Some("amount")
    );
}

#[test]
fn texts_are_texts_without_lone_surrogates() {
    for bad in [
        "1",
        "null1",
        "{}",
        r#""\ud800""#,
        r#""\ud800x""#,
        r#""\udc00""#,
    ] {
        assert!(
            parse::<Request>(format!("{{\"name\":{bad}}}").as_bytes()).is_err(),
            "{bad}"
        );
    }
    assert_eq!(param(r#"{"name":7}"#).as_deref(), Some("name"));
    assert_eq!(param(r#"{"name":"\ud800"}"#).as_deref(), Some("name"));
    let request: Request = parse(br#"{"name":"\ud83d\ude00"}"#).unwrap();
    assert_eq!(request.name.unwrap().0.as_str(), "😀");
}

#[test]
fn deep_nesting_is_no_danger() {
    let deep = "[".repeat(60_000);
    assert!(parse::<Request>(format!("{{\"x\":{deep}").as_bytes()).is_err());
    assert!(parse::<Request>(deep.as_bytes()).is_err());
    assert!(parse::<Request>(format!("{{\"amount\":{deep}").as_bytes()).is_err());
}

#[test]
fn what_was_sent_is_never_repeated() {
    for body in [
        r#"{"amount":"OLIVE-1234-5678-9ABC"}"#,
        r#"{"items":"OLIVE-1234-5678-9ABC"}"#,
        r#"{"amount":"x, expected OLIVE-1234"}"#,
        r#""OLIVE-1234-5678-9ABC""#,
        "OLIVE-1234-5678-9ABC",
    ] {
        let (_, message) = refused(body);
        assert!(!message.contains("OLIVE"), "{message}");
    }
}

#[test]
fn the_message_says_what_was_expected() {
    let (_, message) = refused(r#"{"amount":1.5}"#);
    assert_eq!(
        message,
        "amount has to be a whole number from 1 to 9007199254740991."
    );
}

#[test]
fn only_json_is_json() {
    let with = |value: &str| {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, value.parse().unwrap());
        is_of(&headers, "application/json")
    };
    for good in [
        "application/json",
        "Application/JSON; charset=utf-8",
        "application/json;x=y",
    ] {
        assert!(with(good), "{good}");
    }
    for bad in [
        "text/plain",
        "application/jsonx",
        "application/x-www-form-urlencoded",
        "",
    ] {
        assert!(!with(bad), "{bad}");
    }
    assert!(!is_of(&HeaderMap::new(), "application/json"));
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Price {
    #[serde(rename = "amountCents")]
    _amount_cents: Option<i64>,
    #[serde(rename = "features")]
    _features: Option<Vec<String>>,
    #[serde(rename = "limit")]
    _limit: Option<Object<Limit>>,
}

#[derive(Debug, Deserialize)]
struct Limit {
    #[serde(rename = "max")]
    _max: Option<u32>,
}

#[test]
fn what_is_expected_is_said_in_plain_words() {
    for (body, param, expected) in [
        (r#"{"amountCents":1.5}"#, "amountCents", "a whole number"),
        (
            r#"{"amountCents":"pay_sk_x"}"#,
            "amountCents",
            "a whole number",
        ),
        (r#"{"features":["a",7]}"#, "features[1]", "a string"),
        (r#"{"features":7}"#, "features", "a list"),
        (r#"{"limit":[7]}"#, "limit", "an object"),
        (
            r#"{"limit":{"max":-1}}"#,
            "limit.max",
            "a whole number from 0 to 4294967295",
        ),
    ] {
        let error = parse::<Price>(body.as_bytes()).expect_err(body);
        assert_eq!(error.param(), Some(param), "{body}");
        let said = serde_json::to_value(error.body(None)).unwrap();
        assert_eq!(
            said["message"],
            format!("{param} has to be {expected}."),
            "{body}"
        );
        assert!(!format!("{error:?}").contains("pay_sk"), "{error:?}");
    }
}
