//! Signing in and out.

use kit::service::{ADMIN_TOKEN, Service, header_of};

use crate::browser::Browser;

#[tokio::test]
async fn the_administrators_token_opens_a_session_and_signing_out_ends_it() {
    let service = Service::start().await;
    let mut browser = Browser::new(&service.base);
    let page = browser.get("/dashboard").await;
    assert_eq!((page.status, page.location()), (303, "/dashboard/sign-in"));
    let page = browser.get("/dashboard/sign-in").await;
    page.shows("Administrator token");
    let page = browser.sign_in(&[("token", ADMIN_TOKEN)]).await;
    assert_eq!((page.status, page.location()), (303, "/dashboard"));
    let cookie = page.headers["set-cookie"].to_str().unwrap();
    let rest = "; Path=/; HttpOnly; SameSite=Lax; Max-Age=43200";
    assert!(
        cookie.starts_with("scrip_dashboard=") && cookie.ends_with(rest),
        "{cookie}"
    );
    assert!(!cookie.contains(ADMIN_TOKEN));
    browser
        .get("/dashboard")
        .await
        .shows("Projects")
        .shows("Demo");

    let page = browser.post("/dashboard/sign-out", &[]).await;
    assert_eq!((page.status, page.location()), (303, "/dashboard/sign-in"));
    let gone: Vec<_> = page.headers.get_all("set-cookie").iter().collect();
    assert_eq!(gone.len(), 2, "by both names");
    let over =
        |cookie: &&reqwest::header::HeaderValue| cookie.to_str().unwrap().contains("Max-Age=0");
    assert!(gone.iter().all(over), "{gone:?}");
    // A cookie that somebody kept is no longer valid.
    let page = browser.get("/dashboard").await;
    assert_eq!((page.status, page.location()), (303, "/dashboard/sign-in"));
}

#[tokio::test]
async fn a_link_signs_in_once_and_only_by_a_press() {
    let service = Service::start().await;
    let link = service.link();
    let path = format!("/dashboard/sign-in?link={link}");
    // A program that prefetches the link does not use it up.
    for _ in 0..3 {
        let page = Browser::new(&service.base).get(&path).await;
        assert!(!page.headers.contains_key("set-cookie"));
        assert_eq!(page.value("link"), Some(link.as_str()));
    }
    let mut browser = Browser::new(&service.base);
    assert_eq!(browser.sign_in(&[("link", &link)]).await.status, 303);
    assert_eq!(browser.get("/dashboard").await.status, 200);
    let page = Browser::new(&service.base)
        .sign_in(&[("link", &link)])
        .await;
    assert_eq!(page.status, 401);
    page.shows("used before");
    let late = service.link();
    service.clock.advance_millis(15 * 60 * 1000);
    let page = Browser::new(&service.base)
        .sign_in(&[("link", &late)])
        .await;
    assert_eq!(page.status, 401);
}

#[tokio::test]
async fn guessing_is_shut_out_together_with_the_admin_api_and_a_right_one_never_is() {
    let service = Service::start().await;
    let mut browser = Browser::new(&service.base);
    for _ in 0..20 {
        let page = browser.sign_in(&[("token", "a guess at a token")]).await;
        assert_eq!(page.status, 401);
        page.shows("not the administrator").lacks("a guess at");
    }
    let link = service.link();
    for guess in [("token", "another guess"), ("link", "a guess at a link")] {
        let page = browser.sign_in(&[guess]).await;
        assert_eq!(page.status, 429, "{guess:?}");
        assert!(header_of(&page.headers, "retry-after").is_some());
    }
    let path = "/api/admin/v1/projects";
    let asks = async |token: &str| {
        let bearer = format!("Bearer {token}");
        let reply = service.with_authorization(reqwest::Method::GET, path, Some(&bearer));
        reply.await.status
    };
    assert_eq!(asks("a guess").await, 429, "the same doors, the same count");
    // The right token is accepted, also from that address.
    assert_eq!(asks(ADMIN_TOKEN).await, 200);
    for right in [("token", ADMIN_TOKEN), ("link", &link)] {
        assert_eq!(browser.sign_in(&[right]).await.status, 303, "{right:?}");
    }
    service.clock.advance_millis(900_001);
    let page = browser.sign_in(&[("token", "another guess")]).await;
    assert_eq!(page.status, 401);
}

#[tokio::test]
async fn a_token_is_taken_where_nobody_listens() {
    let service = Service::start().await;
    let browser = Browser::new(&service.base);
    let form = [("token", ADMIN_TOKEN)];
    let from = |origin: &'static str, host: &'static str| {
        let (browser, form) = (&browser, &form);
        async move {
            let headers = [("origin", origin), ("host", host)];
            browser
                .post_as_it_is("/dashboard/sign-in", form, &headers)
                .await
        }
    };
    let page = from("http://pay.example", "pay.example").await;
    assert_eq!(page.status, 403);
    page.shows("Not over plain HTTP");
    let page = from("https://pay.example", "pay.example").await;
    let cookie = page.headers["set-cookie"].to_str().unwrap();
    assert!(cookie.starts_with("__Host-scrip_dashboard="), "{cookie}");
    assert!(
        cookie.ends_with("; Secure") && cookie.contains("; Path=/;"),
        "{cookie}"
    );
    let page = from("https://evil.example", "pay.example").await;
    assert_eq!(page.status, 403);
    page.shows("Not sent from this dashboard");
}

#[tokio::test]
async fn every_page_is_kept_from_others() {
    let service = Service::start().await;
    let browser = Browser::signed_in(&service).await;
    let project = format!("/dashboard/projects/{}", service.project.id);
    let pages = [
        "/dashboard/sign-in".to_owned(),
        "/dashboard".to_owned(),
        "/dashboard/nothing".to_owned(),
        "/dashboard/audit".to_owned(),
        format!("{project}/catalog"),
    ];
    for path in &pages {
        let page = browser.get(path).await;
        let header =
            |name| header_of(&page.headers, name).unwrap_or_else(|| panic!("{path}: {name}"));
        let policy = header("content-security-policy");
        assert!(policy.starts_with("default-src 'none'; script-src 'self'; style-src 'self';"));
        assert!(!policy.contains("unsafe") && policy.contains("frame-ancestors 'none'"));
        assert_eq!(header("x-frame-options"), "DENY");
        assert_eq!(header("cache-control"), "no-store");
        assert_eq!(header("referrer-policy"), "same-origin");
        assert_eq!(header("x-content-type-options"), "nosniff");
        assert_eq!(header("content-type"), "text/html; charset=utf-8");
        for inline in [
            "<style",
            "style=",
            "onclick",
            "javascript:",
            "//cdn",
            "https://unpkg",
        ] {
            page.lacks(inline);
        }
    }
    assert_eq!(browser.get("/dashboard/nothing").await.status, 404);
    let page = browser.get("/dashboard").await;
    let script = page.between("script src=\"", "\"").to_owned();
    let asset = browser.get(&script).await;
    assert_eq!(
        header_of(&asset.headers, "content-type"),
        Some("text/javascript; charset=utf-8")
    );
    assert!(
        header_of(&asset.headers, "cache-control")
            .unwrap()
            .contains("immutable")
    );
}
