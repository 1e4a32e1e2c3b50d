//! Addresses as an attacker would write them, and as shops do.

use proptest::prelude::*;

use super::*;

const PARAM: &str = "successUrl";
const OPEN: &[&str] = &[];
const LIST: &[&str] = &["https://good.example", "http://localhost:3000"];

/// Reads and checks an address as a body's field does.
fn redirect(text: &str, kind: KeyKind, list: &[String]) -> Result<Redirect, Error> {
    let typed =
        RedirectUrl::from_text(text).ok_or_else(|| Error::invalid(PARAM, RedirectUrl::WANTED))?;
    typed.allowed(PARAM, kind, list)
}

/// The address that is handed on, or the refusal's code; the refusal always names the field.
fn read(text: &str, kind: KeyKind, list: &[&str]) -> Result<String, &'static str> {
    let list: Vec<String> = list.iter().map(|&entry| entry.to_owned()).collect();
    redirect(text, kind, &list)
        .map(Redirect::into_string)
        .map_err(|error| {
            assert_eq!(error.param(), Some(PARAM), "{text:?}");
            error.code().as_str()
        })
}

fn publishable(text: &str, list: &[&str]) -> Result<String, &'static str> {
    read(text, KeyKind::Publishable, list)
}

fn secret(text: &str) -> Result<String, &'static str> {
    read(text, KeyKind::Secret, LIST)
}

const REFUSED: Result<String, &str> = Err("redirect_not_allowed");
const INVALID: Result<String, &str> = Err("invalid_request");

#[test]
fn what_is_handed_on_is_what_was_checked() {
    for (text, handed_on) in [
        ("https://good.example", "https://good.example/"),
        ("HTTPS://GOOD.EXAMPLE/Thanks", "https://good.example/Thanks"),
        ("https://good.example:443/a", "https://good.example/a"),
        ("https://good.example:0443/a", "https://good.example/a"),
        ("https://good.example:/a", "https://good.example/a"),
        ("https://good%2Eexample/a", "https://good.example/a"),
        ("https://%67ood.example/a", "https://good.example/a"),
        ("https://good。example/a", "https://good.example/a"),
        ("https://ｇｏｏｄ.example/a", "https://good.example/a"),
        ("https://go\u{ad}od.example/a", "https://good.example/a"),
        (
            "https://good.example/a/../b?x=1#y",
            "https://good.example/b?x=1#y",
        ),
        (
            "https://good.example/?next=https://evil.example",
            "https://good.example/?next=https://evil.example",
        ),
        (
            "https://good.example//evil.example",
            "https://good.example//evil.example",
        ),
        (
            "https://good.example/@evil.example",
            "https://good.example/@evil.example",
        ),
        (
            "https://good.example?@evil.example",
            "https://good.example/?@evil.example",
        ),
        (
            "https://good.example#@evil.example",
            "https://good.example/#@evil.example",
        ),
        (
            "https://good.example/é?items[]=1&off=20%",
            "https://good.example/%C3%A9?items[]=1&off=20%",
        ),
        ("http://localhost:3000/a", "http://localhost:3000/a"),
    ] {
        assert_eq!(publishable(text, LIST), Ok(handed_on.to_owned()), "{text}");
        assert_eq!(secret(text), Ok(handed_on.to_owned()), "{text}");
    }
}

#[test]
fn an_address_off_the_list_is_not_allowed() {
    for text in [
        "https://evil.example/",
        "https://good.example./",
        "https://good.example..",
        "https://good.example:444/",
        "https://good.example:80",
        "http://good.example/",
        "http://good.example:443/",
        "https://good.example.evil.example/",
        "https://evil.example/https://good.example",
        "https://evil.example?https://good.example",
        "https://evil.example#https://good.example",
        "https://evil.example?.good.example",
        "https://evil.example#.good.example",
        "https://evilgood.example",
        "https://www.good.example",
        "https://good.exampl",
        "https://example",
        // A Cyrillic о.
        "https://g\u{43e}od.example",
        "https://xn--bcher-kva.example",
        "https://%65vil.example",
        "https://localhost:3000",
        "http://localhost",
        "http://localhost:3001",
        "http://127.0.0.1:3000",
        "https://{CHECKOUT_SESSION_ID}.good.example/",
        "https://good.example.{CHECKOUT_SESSION_ID}",
    ] {
        assert_eq!(publishable(text, LIST), REFUSED, "{text}");
    }
}

#[test]
fn without_a_list_any_https_and_loopback_will_do() {
    for text in [
        "https://anywhere.example/",
        "https://anywhere.example:8443/",
        "https://10.0.0.1/",
        "http://localhost/",
        "http://localhost:5173/a?b",
        "http://shop.localhost:80",
        "http://127.0.0.1:3000/",
        "http://127.9.9.9/",
        "http://127.1/",
        "http://2130706433/",
        "http://[::1]:3000/",
        "http://[0:0:0:0:0:0:0:1]/",
    ] {
        assert!(publishable(text, OPEN).is_ok(), "{text}");
    }
    for text in [
        "http://anywhere.example/",
        "http://10.0.0.1/",
        "http://0.0.0.0/",
        "http://128.0.0.1/",
        "http://localhost./",
        "http://notlocalhost/",
        "http://localhost.evil.example/",
        "http://127.0.0.1.evil.example/",
        "http://[::2]/",
        "http://[::ffff:127.0.0.1]/",
    ] {
        assert_eq!(publishable(text, OPEN), REFUSED, "{text}");
        assert!(secret(text).is_ok(), "{text}");
    }
}

#[test]
fn another_scheme_is_not_allowed_or_with_a_secret_key_invalid() {
    for text in [
        "javascript:alert(1)",
        "JavaScript:alert(1)//https://good.example",
        "javascript://good.example/%0aalert(1)",
        "data:text/html,<script>alert(1)</script>",
        "data:text/html;base64,PHNjcmlwdD4=",
        "vbscript:msgbox(1)",
        "blob:https://good.example/1",
        "view-source:https://good.example/",
        "ftp://good.example/",
        "file:///etc/passwd",
        "ws://good.example/",
        "wss://good.example/",
        "intent://good.example/#Intent;scheme=https;end",
        "shop-app://thanks",
        "mailto:ann@good.example",
    ] {
        assert_eq!(publishable(text, LIST), REFUSED, "{text}");
        assert_eq!(publishable(text, OPEN), REFUSED, "{text}");
        assert_eq!(secret(text), INVALID, "{text}");
    }
}

#[test]
fn what_readers_disagree_about_is_invalid_for_every_key() {
    let long = format!("https://good.example/{}", "a".repeat(2048));
    let long_when_written = format!("https://good.example/{}", "é".repeat(400));
    for text in [
        "",
        " ",
        "good.example",
        "/thanks",
        "thanks",
        "?a",
        "#a",
        "//evil",
        "//good.example/",
        "\\\\evil",
        "\\\\good.example\\",
        "/\\good.example",
        "https:evil",
        "https:good.example",
        "https:/good.example",
        "https:///good.example",
        "https:////good.example",
        "https:/\\evil",
        "https:\\\\good.example",
        "https://good.example\\@evil.example",
        "https://good.example\\.evil.example",
        "https://evil.example\\.good.example",
        "https://good.example/a\\b",
        "https://",
        "https://:443/",
        "https://?",
        "https://good.example:{CHECKOUT_SESSION_ID}/",
        "https://good.example%00.evil.example/",
        "https://good.example%09/",
        "https://good.example%23.evil.example/",
        "https://good.example%5C.evil.example/",
        "https://good.example%2F.evil.example/",
        "https://good.example:65536/",
        "https://good.example:-1/",
        "https://good.example:4 43/",
        "https://good example/",
        "https://[::1/",
        "https://[good.example]/",
        "https://1.2.3.256/",
        "https://xn--/",
        " https://good.example/",
        "https://good.example/ ",
        "\u{a0}https://good.example/",
        "https://good.example/\u{2028}",
        "\thttps://good.example/",
        "ht\ttps://good.example/",
        "https:/\t/good.example/",
        "https://good.\nexample/",
        "https://good.example/\r\nSet-Cookie: a=b",
        "https://good.example/\0",
        "https://good.example\0.evil.example",
        "https://good.example\u{7f}/",
        "\u{1}javascript:alert(1)",
        "java\nscript:alert(1)",
        "https://good.example/{CHECKOUT_SESSION_ID}/../a",
        &long,
        &long_when_written,
    ] {
        assert_eq!(publishable(text, LIST), INVALID, "{text:?}");
        assert_eq!(publishable(text, OPEN), INVALID, "{text:?}");
        assert_eq!(secret(text), INVALID, "{text:?}");
    }
}

#[test]
fn the_placeholder_stays_as_it_was_sent() {
    for (text, handed_on) in [
        (
            "https://good.example/ok?s={CHECKOUT_SESSION_ID}",
            "https://good.example/ok?s={CHECKOUT_SESSION_ID}",
        ),
        (
            "https://GOOD.example/ü/{CHECKOUT_SESSION_ID}#{CHECKOUT_SESSION_ID}",
            "https://good.example/%C3%BC/{CHECKOUT_SESSION_ID}#{CHECKOUT_SESSION_ID}",
        ),
        (
            "https://good.example/?scripcheckout={CHECKOUT_SESSION_ID}&ScripCheckoutX=1",
            "https://good.example/?scripcheckout={CHECKOUT_SESSION_ID}&ScripCheckoutX=1",
        ),
        // Only the placeholder itself is not percent-encoded.
        (
            "https://good.example/{checkout_session_id}",
            "https://good.example/%7Bcheckout_session_id%7D",
        ),
    ] {
        assert_eq!(publishable(text, LIST), Ok(handed_on.to_owned()), "{text}");
    }
}

#[test]
fn the_placeholder_may_not_choose_the_host() {
    for text in [
        "https://{CHECKOUT_SESSION_ID}/",
        "https://{CHECKOUT_SESSION_ID}.example/",
        "https://good.{CHECKOUT_SESSION_ID}",
    ] {
        assert_eq!(publishable(text, OPEN), INVALID, "{text}");
        assert_eq!(secret(text), INVALID, "{text}");
    }
}

#[test]
fn a_refusal_does_not_repeat_the_address() {
    let text = "https://evil.example/?token=secret";
    let list = ["https://good.example".to_owned()];
    let error = redirect(text, KeyKind::Publishable, &list).unwrap_err();
    assert!(!format!("{error:?}").contains("secret"));
}

/// Pieces that have fooled parsers, in any order.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "https",
        "http",
        "HTTPS",
        ":",
        "/",
        "//",
        "\\",
        "@",
        ".",
        "..",
        "?",
        "#",
        "%2e",
        "%2F",
        "%00",
        "%40",
        "good",
        "example",
        "good.example",
        "evil.example",
        "localhost",
        ":443",
        ":3000",
        "127.0.0.1",
        "[::1]",
        "[",
        "]",
        "{",
        "}",
        PLACEHOLDER,
        "scripcheckout",
        "x",
        " ",
        "\t",
        "\n",
        "\0",
        "ß",
        "。",
        "\u{ad}",
        "\u{200d}",
        "ｇ",
        "xn--",
        "javascript:",
        "a=b",
        "&",
    ]);
    prop::collection::vec(piece, 0..12).prop_map(|parts| parts.concat())
}

fn addresses() -> impl Strategy<Value = String> {
    prop_oneof![
        pieces(),
        pieces().prop_map(|tail| format!("https://{tail}")),
        pieces().prop_map(|tail| format!("https://good.example{tail}")),
        pieces().prop_map(|tail| format!("http://localhost:3000/{tail}")),
        ".{0,40}".prop_map(|tail| format!("https://good.example{tail}")),
        any::<String>(),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn what_is_accepted_opens_an_origin_of_the_list(text in addresses()) {
        if let Ok(handed_on) = publishable(&text, LIST) {
            let opened = Url::parse(&handed_on.replace(PLACEHOLDER, "cs_test_x")).unwrap();
            let origin = opened.origin().ascii_serialization();
            prop_assert!(LIST.contains(&origin.as_str()), "{text:?} opens {origin}");
            // The placeholders are those that were sent, and reading it again changes nothing.
            prop_assert_eq!(text.matches(PLACEHOLDER).count(), handed_on.matches(PLACEHOLDER).count());
            prop_assert!(handed_on.is_ascii() && handed_on.len() <= MAX_LENGTH);
            prop_assert_eq!(publishable(&handed_on, LIST), Ok(handed_on.clone()));
        }
    }

    #[test]
    fn what_is_accepted_without_a_list_is_https_or_stays_on_the_machine(text in addresses()) {
        if let Ok(handed_on) = publishable(&text, OPEN) {
            let opened = Url::parse(&handed_on.replace(PLACEHOLDER, "cs_test_x")).unwrap();
            prop_assert!(opened.scheme() == "https" || (opened.scheme() == "http" && is_loopback(&opened)));
            prop_assert_eq!(opened.username(), "");
        }
    }
}

#[test]
fn user_information_is_never_taken_for_the_host() {
    for text in [
        "https://good.example@evil.example",
        "https://evil.example@good.example",
        "https://good.example:443@evil.example",
        "https://good.example%2F@evil.example",
        "https://good.example%40evil.example@evil.example",
        "https://a:b@good.example/",
    ] {
        assert_eq!(publishable(text, LIST), REFUSED, "{text}");
        assert_eq!(publishable(text, OPEN), REFUSED, "{text}");
        assert!(secret(text).is_ok(), "{text}");
    }
    let placeholder = "https://{CHECKOUT_SESSION_ID}@good.example/";
    assert_eq!(publishable(placeholder, LIST), REFUSED);
    assert_eq!(secret(placeholder), INVALID);
}
