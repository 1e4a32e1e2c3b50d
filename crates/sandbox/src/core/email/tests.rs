use super::*;

#[test]
fn what_stripe_would_not_take_is_not_taken() {
    for good in ["a@b.co", "ann.lee+x@mail.example", "o'neil@a-b.example.com"] {
        assert!(is_email(good), "{good}");
    }
    for bad in [
        "",
        "ann",
        "ann@",
        "@b.example",
        "ann@localhost",
        "ann lee@b.example",
        "a@b@c.example",
        "a..b@c.example",
        ".a@c.example",
        "a.@c.example",
        "a@-b.example",
        "a@b..example",
        "a@b.e",
        "a@1.2.3.4",
        "\u{e4}nn@b.example",
        "ann@m\u{fc}ller.example",
        "a@b.example ",
    ] {
        assert!(!is_email(bad), "{bad}");
    }
    assert!(!is_email(&format!("{}@b.example", "a".repeat(65))));
}
