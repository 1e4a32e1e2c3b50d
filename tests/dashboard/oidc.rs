//! Signing in by an identity provider: who comes in, and what none of its answers may do.

use std::collections::HashMap;

use kit::{
    Client,
    service::{ADMIN_TOKEN, Service},
};
use scrip::identity::{NewUser, Role, UserChange, UserState};
use serde_json::{Value, json};

use crate::{
    browser::{Browser, Page},
    identity_provider::{CLIENT, IdentityProvider, SECRET},
};

const BEGIN: &str = "/dashboard/sign-in/oidc";

async fn start() -> (Service, IdentityProvider) {
    start_with(|_| {}).await
}

async fn start_with(
    change: impl FnOnce(&mut scrip::config::Config),
) -> (Service, IdentityProvider) {
    let provider = IdentityProvider::start().await;
    let service = Service::with(|config| {
        change(config);
        config.oidc.issuer = provider.url.clone();
        config.oidc.client_id = CLIENT.into();
        config.oidc.client_secret = SECRET.into();
        config.oidc.name = "Example <ID>".into();
    })
    .await;
    (service, provider)
}

fn now(service: &Service) -> domain::Timestamp {
    use actors::clock::Clock as _;
    service.clock.now()
}

async fn invite(service: &Service, name: &str) -> domain::id::UserId {
    let new = NewUser {
        name: name.into(),
        email: format!("{}@example.com", name.to_lowercase()),
        role: Role::Support,
        projects: None,
        grant_limit_per_day: None,
        refund_limit_cents_per_day: None,
    };
    let invited = service.people().invite(new, now(service)).await;
    invited.unwrap().user.id
}

/// The claims about somebody that are in order.
fn claims(service: &Service, provider: &IdentityProvider, subject: &str, email: &str) -> Value {
    let seconds = now(service).0 / 1000;
    json!({
        "iss": provider.url, "aud": CLIENT, "sub": subject, "iat": seconds, "exp": seconds + 300,
        "email": email, "email_verified": true,
    })
}

/// Goes to the provider; returns what the service asks there.
async fn lead(
    browser: &mut Browser,
    provider: &IdentityProvider,
    path: &str,
) -> HashMap<String, String> {
    let page = browser.get(path).await;
    assert_eq!(page.status, 303, "{}", page.html);
    let url: url::Url = page.location().parse().unwrap();
    assert!(
        url.as_str()
            .starts_with(&format!("{}/authorize?", provider.url))
    );
    let asked: HashMap<_, _> = url.query_pairs().into_owned().collect();
    provider.expect(&asked["nonce"], &asked["code_challenge"]);
    browser.cookie = cookie(&page, "scrip_attempt");
    asked
}

/// A cookie that a page sets.
fn cookie(page: &Page, name: &str) -> Option<String> {
    let lines = page.headers.get_all("set-cookie").iter();
    let lines = lines.map(|line| line.to_str().unwrap());
    let mut set =
        lines.filter(|line| line.starts_with(&format!("{name}=")) && !line.contains("Max-Age=0"));
    set.next()
        .and_then(|line| line.split(';').next())
        .map(str::to_owned)
}

/// Comes back from the provider.
async fn back(browser: &mut Browser, query: &str) -> Page {
    let page = browser.get(&format!("{BEGIN}/callback?{query}")).await;
    if let Some(session) = cookie(&page, "scrip_dashboard") {
        browser.cookie = Some(session);
    }
    page
}

/// Signs in with these claims, in a browser of its own.
async fn signed_in(
    service: &Service,
    provider: &IdentityProvider,
    claims: Value,
) -> (Browser, Page) {
    provider.script.lock().claims = claims;
    let mut browser = Browser::new(&service.base);
    let asked = lead(&mut browser, provider, BEGIN).await;
    let page = back(&mut browser, &format!("code=c&state={}", asked["state"])).await;
    (browser, page)
}

#[tokio::test]
async fn a_token_is_as_old_as_the_machines_clock_says() {
    let (service, provider) = start().await;
    invite(&service, "Ann").await;
    // The service's own clock makes up for a jump of the machine's slowly, by which the provider dates.
    for ahead in [-3600, 3600] {
        service.clock.be_ahead(ahead * 1000);
        let mut dated = claims(&service, &provider, "ann-1", "ann@example.com");
        let (_, page) = signed_in(&service, &provider, dated.clone()).await;
        assert_eq!(page.status, 401, "{ahead}: {}", page.html);
        for name in ["iat", "exp"] {
            dated[name] = json!(dated[name].as_i64().unwrap() - ahead);
        }
        let (_, page) = signed_in(&service, &provider, dated).await;
        assert_eq!(page.status, 303, "{ahead}: {}", page.html);
        assert!(cookie(&page, "scrip_dashboard").is_some());
    }
}

#[tokio::test]
async fn who_was_invited_comes_in_by_a_verified_address_and_by_their_subject_from_then_on() {
    let (service, provider) = start().await;
    let ann = invite(&service, "Ann").await;
    let mut browser = Browser::new(&service.base);
    let page = browser.get("/dashboard/account").await;
    let page = browser.get(page.location()).await;
    page.shows("Sign in with <bdi>Example &lt;ID&gt;</bdi>");
    let path = page
        .between("class=\"button primary\" href=\"", "\"")
        .to_owned();
    provider.script.lock().claims = claims(&service, &provider, "ann-1", "ANN@example.COM");
    let asked = lead(&mut browser, &provider, &path).await;
    let callback = format!("{}{BEGIN}/callback", service.base);
    for (name, value) in [
        ("response_type", "code"),
        ("client_id", CLIENT),
        ("redirect_uri", &callback),
        ("code_challenge_method", "S256"),
        ("scope", "openid email"),
    ] {
        assert_eq!(asked[name], value, "{name}");
    }
    let page = back(&mut browser, &format!("code=c&state={}", asked["state"])).await;
    assert_eq!(
        (page.status, page.location()),
        (303, "/dashboard/account"),
        "{}",
        page.html
    );
    browser
        .get("/dashboard/account")
        .await
        .shows("<bdi>Ann</bdi>")
        .shows("support");
    let user = service.people().user(ann).unwrap();
    assert_eq!(user.state(), UserState::Active);
    assert_eq!(user.identity.as_ref().unwrap().subject, "ann-1");

    // Her address at the provider changed: it is she all the same, and nothing but her subject is asked for.
    let moved = claims(&service, &provider, "ann-1", "new@example.com");
    let (_, page) = signed_in(&service, &provider, moved).await;
    assert_eq!(page.status, 303);
    // Somebody else has her address there now.
    let other = || claims(&service, &provider, "bob-2", "ann@example.com");
    let (_, page) = signed_in(&service, &provider, other()).await;
    assert_eq!(page.status, 403);
    page.shows("belongs to another person");
    assert_eq!(cookie(&page, "scrip_dashboard"), None);

    let owner = Browser::signed_in(&service).await;
    let path = format!("/dashboard/people/{ann}");
    owner.get(&path).await.shows("ann-1");
    assert_eq!(
        service.people().sessions.list(now(&service)).len(),
        3,
        "hers are listed"
    );
    let log = owner.get("/dashboard/audit").await;
    log.shows("is bound to subject ann-1 of")
        .shows("A sign-in failed");
    let page = owner
        .submit(&format!("{path}/identity"), &[("confirmed", "on")])
        .await;
    page.shows("The first sign-in by").lacks("ann-1");
    let (_, page) = signed_in(&service, &provider, other()).await;
    assert_eq!(page.status, 303, "unbound, the next one is bound");
    owner
        .submit(&format!("{path}/identity"), &[("confirmed", "on")])
        .await;
    owner
        .submit(
            &format!("{path}/identity"),
            &[("subject", "ann-9"), ("confirmed", "on")],
        )
        .await
        .shows("ann-9");
    let (_, page) = signed_in(&service, &provider, other()).await;
    assert_eq!(page.status, 403);
    // Without access, by either way.
    let kept_out = UserChange {
        disabled: Some(true),
        ..UserChange::default()
    };
    service.people().change(ann, kept_out, None).await.unwrap();
    let bound = claims(&service, &provider, "ann-9", "ann@example.com");
    let (_, page) = signed_in(&service, &provider, bound).await;
    assert_eq!(page.status, 403);
}

#[tokio::test]
async fn nobody_comes_in_without_an_invitation_and_a_verified_address() {
    let (service, provider) = start().await;
    invite(&service, "Ann").await;
    let stranger = claims(&service, &provider, "eve", "eve@example.com");
    let (_, page) = signed_in(&service, &provider, stranger).await;
    assert_eq!(page.status, 403);
    page.shows("Nobody with this e-mail address was invited");
    let unverified = |how: Value| {
        let mut claims = claims(&service, &provider, "eve", "ann@example.com");
        claims["email_verified"] = how;
        claims
    };
    for how in [json!(false), Value::Null] {
        let (_, page) = signed_in(&service, &provider, unverified(how)).await;
        assert_eq!(page.status, 403);
        page.shows("has not verified");
    }
    for similar in [
        "ann@example.com ",
        "ann+1@example.com",
        "ann@example.com.evil.example",
        "xann@example.com",
    ] {
        let claims = claims(&service, &provider, "eve", similar);
        let (_, page) = signed_in(&service, &provider, claims).await;
        assert_ne!(page.status, 303, "{similar}");
    }
    assert_eq!(service.people().users().len(), 1, "no account is made");
    assert!(service.people().users()[0].identity.is_none());

    // A token without an address: the provider's endpoint has it, for the same person alone.
    let without = || {
        let mut claims = claims(&service, &provider, "ann-1", "");
        claims.as_object_mut().unwrap().remove("email");
        claims
    };
    let says = |subject: &str, verified: bool| json!({"sub": subject, "email": "ann@example.com", "email_verified": verified});
    for (person, status) in [
        (says("eve", true), 401),
        (says("ann-1", false), 403),
        (says("ann-1", true), 303),
    ] {
        provider.script.lock().person = Some(person);
        let (_, page) = signed_in(&service, &provider, without()).await;
        assert_eq!(page.status, status, "{}", page.html);
    }
}

#[tokio::test]
async fn a_token_that_proves_nothing_lets_nobody_in() {
    let (service, provider) = start().await;
    invite(&service, "Ann").await;
    let good = claims(&service, &provider, "ann-1", "ann@example.com");
    let seconds = now(&service).0 / 1000;
    let with = |name: &str, value: Value| {
        let mut claims = good.clone();
        claims[name] = value;
        claims
    };
    for (what, claims) in [
        ("another sign-in", with("nonce", "another".into())),
        ("no nonce", with("nonce", Value::Null)),
        ("another client", with("aud", "another".into())),
        (
            "another client, too",
            with("aud", json!([CLIENT, "another"])),
        ),
        ("another issuer", with("iss", "https://evil.example".into())),
        ("expired", with("exp", json!(seconds))),
        ("of tomorrow", with("iat", json!(seconds + 86_400))),
    ] {
        let (_, page) = signed_in(&service, &provider, claims).await;
        assert_eq!(page.status, 401, "{what}");
        page.shows("answer is not valid");
        assert_eq!(cookie(&page, "scrip_dashboard"), None, "{what}");
    }
    let header = provider.script.lock().header.clone();
    for (what, header, forged, unsigned) in [
        ("another key", header.clone(), true, false),
        ("no signature", header.clone(), false, true),
        ("alg none", json!({"alg": "none"}), false, true),
        ("a shared secret", json!({"alg": "HS256"}), false, false),
        (
            "another algorithm",
            json!({"alg": "RS256", "kid": "1"}),
            false,
            false,
        ),
        (
            "an unknown key",
            json!({"alg": "EdDSA", "kid": "7"}),
            false,
            false,
        ),
    ] {
        {
            let mut script = provider.script.lock();
            (script.header, script.forged, script.unsigned) = (header, forged, unsigned);
        }
        let (_, page) = signed_in(&service, &provider, good.clone()).await;
        assert_eq!(page.status, 401, "{what}");
        assert_eq!(cookie(&page, "scrip_dashboard"), None, "{what}");
    }
    assert!(service.people().users()[0].identity.is_none());
    {
        let mut script = provider.script.lock();
        (script.header, script.forged, script.unsigned) = (header, false, false);
    }
    // The provider has another key since: it is read, but not at each try of a stranger.
    service.clock.advance_millis(60_000);
    provider.rotate();
    let (_, page) = signed_in(&service, &provider, good).await;
    assert_eq!(page.status, 303, "{}", page.html);
    assert!(provider.script.lock().discoveries <= 3);
}

#[tokio::test]
async fn an_answer_counts_once_in_the_browser_that_asked_and_for_ten_minutes() {
    let (service, provider) = start().await;
    invite(&service, "Ann").await;
    let good = || claims(&service, &provider, "ann-1", "ann@example.com");
    let (_, page) = signed_in(&service, &provider, good()).await;
    assert_eq!(page.status, 303);

    let mut browser = Browser::new(&service.base);
    let asked = lead(&mut browser, &provider, BEGIN).await;
    let query = format!("code=c&state={}", asked["state"]);
    let attempt = browser.cookie.clone();
    let exchanges = provider.script.lock().exchanges;
    // A browser that is led to another one's answer.
    let mut other = Browser::new(&service.base);
    assert_eq!(back(&mut other, &query).await.status, 401);
    lead(&mut other, &provider, BEGIN).await;
    assert_eq!(back(&mut other, &query).await.status, 401);
    assert_eq!(back(&mut browser, "code=c&state=").await.status, 401);
    assert_eq!(back(&mut browser, "code=c").await.status, 401);
    assert_eq!(
        provider.script.lock().exchanges,
        exchanges,
        "no code is tried"
    );
    provider.expect(&asked["nonce"], &asked["code_challenge"]);
    assert_eq!(back(&mut browser, &query).await.status, 303);
    browser.cookie = attempt;
    let page = back(&mut browser, &query).await;
    assert_eq!(page.status, 401, "used");
    page.shows("Begin again");

    let asked = lead(&mut browser, &provider, BEGIN).await;
    let page = back(
        &mut browser,
        &format!("error=access_denied&state={}", asked["state"]),
    )
    .await;
    assert_eq!(page.status, 401);
    page.shows("did not let you in");
    let asked = lead(&mut browser, &provider, BEGIN).await;
    let query = format!("code=c&state={}&iss=https://evil.example", asked["state"]);
    assert_eq!(back(&mut browser, &query).await.status, 401, "mixed up");
    let asked = lead(&mut browser, &provider, BEGIN).await;
    service.clock.advance_millis(10 * 60_000);
    let query = format!("code=c&state={}", asked["state"]);
    assert_eq!(back(&mut browser, &query).await.status, 401, "late");
    // Not where it is not set up.
    let without = Service::start().await;
    let browser = Browser::new(&without.base);
    assert_eq!(browser.get(BEGIN).await.status, 404);
    browser.get("/dashboard/sign-in").await.lacks(BEGIN);
}

#[tokio::test]
async fn a_provider_that_is_not_fit_is_a_sentence_on_the_page_and_not_asked_at_each_try() {
    let (service, provider) = start().await;
    let browser = Browser::new(&service.base);
    provider.script.lock().issuer = Some("https://evil.example".into());
    for _ in 0..3 {
        let page = browser.get(BEGIN).await;
        assert_eq!(page.status, 503);
        page.shows("cannot be asked now").lacks("evil.example");
    }
    assert_eq!(provider.script.lock().discoveries, 1);
    service.clock.advance_millis(11_000);
    provider.script.lock().issuer = None;
    provider.script.lock().padding = 1 << 20;
    assert_eq!(browser.get(BEGIN).await.status, 503, "too large");
    service.clock.advance_millis(11_000);
    provider.script.lock().padding = 0;
    assert_eq!(browser.get(BEGIN).await.status, 303);
}

#[tokio::test]
async fn an_administrator_binds_and_unbinds_over_the_admin_api() {
    let (service, provider) = start().await;
    let (ann, bob) = (invite(&service, "Ann").await, invite(&service, "Bob").await);
    let path = |id| format!("/api/admin/v1/users/{id}");
    let admin = Client::new(&service.base, ADMIN_TOKEN);
    let identity = json!({"issuer": provider.url, "subject": "ann-1"});
    let bound = admin
        .patch(&path(ann), &json!({"identity": identity}))
        .await
        .expect(200);
    assert_eq!(
        (&bound["identity"], &bound["status"]),
        (&identity, &json!("active"))
    );
    let taken = admin
        .patch(&path(bob), &json!({"identity": identity}))
        .await;
    assert_eq!(taken.expect(409)["code"], "identity_taken");
    let (_, page) = signed_in(
        &service,
        &provider,
        claims(&service, &provider, "ann-1", "x@example.com"),
    )
    .await;
    assert_eq!(page.status, 303);
    let unbound = admin
        .patch(&path(ann), &json!({"identity": null}))
        .await
        .expect(200);
    assert_eq!(
        (&unbound["identity"], &unbound["status"]),
        (&Value::Null, &json!("invited"))
    );
    let (_, page) = signed_in(
        &service,
        &provider,
        claims(&service, &provider, "ann-1", "x@example.com"),
    )
    .await;
    assert_eq!(page.status, 403);
}

#[tokio::test]
async fn answers_that_fail_are_bounded_before_the_provider_is_asked_and_keep_nobody_else_out() {
    let (service, provider) = start_with(|config| {
        config.trusted_proxies = vec!["127.0.0.0/8".parse().unwrap()];
    })
    .await;
    invite(&service, "Ann").await;
    provider.script.lock().claims = json!({});
    let stranger = Browser::new(&service.base);
    let http = kit::client::unled_http();
    let ask = async |path: &str, cookie: &str| {
        let url = format!("{}{path}", service.base);
        let from = [("x-forwarded-for", "203.0.113.1"), ("cookie", cookie)];
        stranger.send(http.get(url), &from).await
    };
    let mut statuses = Vec::new();
    for _ in 0..25 {
        let page = ask(BEGIN, "").await;
        let begun = cookie(&page, "scrip_attempt").unwrap();
        let url: url::Url = page.location().parse().unwrap();
        let state = url.query_pairs().find(|(name, _)| name == "state");
        let path = format!("{BEGIN}/callback?code=bogus&state={}", state.unwrap().1);
        statuses.push(ask(&path, &begun).await.status);
    }
    assert_eq!(provider.script.lock().exchanges, 20, "{statuses:?}");
    assert!(statuses[20..].iter().all(|status| *status == 429));
    let known = claims(&service, &provider, "ann-1", "ann@example.com");
    let (_, page) = signed_in(&service, &provider, known).await;
    assert_eq!(page.status, 303, "{}", page.html);
}
