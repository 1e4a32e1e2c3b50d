use super::*;

#[test]
fn forms_may_lead_to_the_shop_and_nowhere_else() {
    assert_eq!(
        origin("https://shop.example:8443/a?b"),
        Some("https://shop.example:8443".into())
    );
    assert_eq!(origin("http://[::1]:3000/"), None);
    assert_eq!(origin("javascript:alert(1)"), None);
    let page = Page::new(
        "x",
        &html! {},
        ["https://shop.example/done", "https://a.b; script-src *"],
    );
    let answer = page.answer(StatusCode::OK);
    let policy = answer.headers()["content-security-policy"]
        .to_str()
        .unwrap();
    assert!(
        policy.ends_with("form-action 'self' https://shop.example"),
        "{policy}"
    );
}
