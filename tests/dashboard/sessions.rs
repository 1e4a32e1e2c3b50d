//! Where and how long a session is valid.

use kit::service::Service;
use reqwest::Method;

use crate::browser::Browser;

const NAME: [(&str, &str); 2] = [("name", "Mine"), ("mode", "credit_codes")];

#[tokio::test]
async fn a_session_ends_after_half_a_day() {
    let service = Service::start().await;
    let browser = Browser::signed_in(&service).await;
    for _ in 0..11 {
        service.clock.advance_millis(3_600_000);
        assert_eq!(browser.get("/dashboard").await.status, 200);
    }
    service.clock.advance_millis(3_600_000 - 1);
    let token = browser.token().await;
    service.clock.advance_millis(1);
    assert_eq!(browser.get("/dashboard").await.status, 303);
    let form = [NAME[0], NAME[1], ("formToken", token.as_str())];
    let page = browser.post_as_it_is("/dashboard", &form, &[]).await;
    assert_eq!((page.status, page.location()), (303, "/dashboard/sign-in"));
    assert_eq!(service.catalog.current().projects().count(), 1);
}

#[tokio::test]
async fn made_up_and_foreign_cookies_open_nothing() {
    let service = Service::start().await;
    let mut browser = Browser::signed_in(&service).await;
    let good = browser.cookie.clone().unwrap();
    for cookie in [
        "scrip_dashboard=".to_owned(),
        "scrip_dashboard=guess".to_owned(),
        format!("{good}x"),
        good.replace("scrip_dashboard", "other"),
        format!("__Host-scrip_dashboard=guess; {good}"),
    ] {
        browser.cookie = Some(cookie.clone());
        assert_eq!(browser.get("/dashboard").await.status, 303, "{cookie}");
    }
    browser.cookie = Some(format!("a=b; {good}"));
    assert_eq!(browser.get("/dashboard").await.status, 200);
    // Another server's session, and this one under another host name.
    let other = Service::start().await;
    let mut stranger = Browser::new(&other.base);
    stranger.cookie = Some(good.clone());
    assert_eq!(stranger.get("/dashboard").await.status, 303);
    let url = format!("{}/dashboard", service.base);
    let request = kit::client::unled_http().request(Method::GET, url);
    let page = browser.send(request, &[("host", "localhost:1")]).await;
    assert_eq!(page.status, 303);
}

#[tokio::test]
async fn a_session_goes_on_when_the_address_changes() {
    let service = Service::with(|config| {
        config.trusted_proxies = vec!["127.0.0.0/8".parse().unwrap()];
    })
    .await;
    let browser = Browser::signed_in(&service).await;
    let url = format!("{}/dashboard", service.base);
    let request = kit::client::unled_http().get(url);
    let page = browser.send(request, &[("x-forwarded-for", "203.0.113.9")]);
    assert_eq!(page.await.status, 200);
}

#[tokio::test]
async fn a_session_outlives_a_restart_and_ends_when_nobody_uses_it() {
    let service = Service::start().await;
    let browser = Browser::signed_in(&service).await;
    let service = service.again(|_| {}).await;
    let mut again = Browser::new(&service.base);
    let host = service.base.replace("http://", "");
    let known = browser.base.replace("http://", "");
    again.cookie = browser.cookie.clone();
    let opens = async |host: &str| {
        let url = format!("{}/dashboard", service.base);
        let request = kit::client::unled_http().get(url);
        again.send(request, &[("host", host)]).await.status
    };
    assert_eq!(opens(&host).await, 303, "it is of another port");
    assert_eq!(opens(&known).await, 200);
    for _ in 0..5 {
        service.clock.advance_millis(2 * 3_600_000 - 1);
        assert_eq!(opens(&known).await, 200);
    }
    service.clock.advance_millis(2 * 3_600_000);
    assert_eq!(opens(&known).await, 303);
}

#[tokio::test]
async fn forms_of_other_sites_and_other_sessions_change_nothing() {
    let service = Service::start().await;
    let browser = Browser::signed_in(&service).await;
    let other = Browser::signed_in(&service).await;
    let (own, foreign) = (browser.token().await, other.token().await);
    assert_ne!(own, foreign);
    let base = service.base.clone();
    let attempts: [(&str, &[(&str, &str)]); 7] = [
        ("", &[("origin", &base)]),
        (&foreign, &[("origin", &base)]),
        (&own, &[("origin", "https://evil.example")]),
        (&own, &[("origin", "null")]),
        (&own, &[("sec-fetch-site", "cross-site")]),
        (&own, &[("sec-fetch-site", "same-site"), ("origin", &base)]),
        (&own, &[("sec-fetch-site", "none")]),
    ];
    for (token, headers) in attempts {
        let form = [NAME[0], NAME[1], ("formToken", token)];
        let page = browser.post_as_it_is("/dashboard", &form, headers).await;
        assert_eq!(page.status, 403, "{headers:?}");
        page.shows("Nothing was changed");
    }
    assert_eq!(service.catalog.current().projects().count(), 1);
    let form = [NAME[0], NAME[1], ("formToken", own.as_str())];
    let page = browser.post_as_it_is("/dashboard", &form, &[("sec-fetch-site", "same-origin")]);
    assert_eq!(page.await.status, 303);
    assert_eq!(service.catalog.current().projects().count(), 2);
}

#[tokio::test]
async fn a_form_is_a_small_urlencoded_one() {
    let service = Service::start().await;
    let browser = Browser::signed_in(&service).await;
    let url = format!("{}/dashboard", service.base);
    let request = kit::client::unled_http().post(&url);
    let json = request.json(&serde_json::json!({"name": "x"}));
    assert_eq!(browser.send(json, &[]).await.status, 415);
    let large = "x".repeat(70_000);
    let page = browser.post("/dashboard", &[("name", &large)]).await;
    assert_eq!(page.status, 413);
    page.shows("too large");
}
