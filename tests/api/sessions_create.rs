//! `POST /sessions`: a token that opens one wallet.

use domain::catalog::{KeyKind, Mode};
use scrip::catalog::ProjectChange;
use serde_json::{Value, json};

use crate::{
    client::{Client, Reply},
    service::{NO_CODE, Service, assert_invalid, assert_refused},
};

const SESSIONS: &str = "/api/v1/sessions";

async fn ask(service: &Service, body: &Value) -> Reply {
    service.secret.post(SESSIONS, body).await
}

#[tokio::test]
async fn a_users_session_opens_the_users_wallet_which_it_makes() {
    let service = Service::start().await;
    let path = "/api/v1/wallets/external?externalUserId=ann";
    assert_refused(&service.secret.get(path).await, 404, "wallet_not_found");
    let created = ask(&service, &json!({"externalUserId": "ann"})).await;
    let created = created.expect(200);
    let token = created["token"].as_str().unwrap();
    let body = token.strip_prefix("pay_ws_").unwrap();
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    assert!(body.len() > 100 && body.bytes().all(is_plain), "{token}");
    assert_eq!(created["expiresAt"], "2026-11-18T12:06:40.000Z", "an hour");
    let session = Client::new(&service.base, token);
    let own = session.get("/api/v1/wallets/external").await.expect(200);
    assert_eq!(own, service.secret.get(path).await.expect(200));
    assert_eq!(session.get(path).await.expect(200), own, "or by name");
    service.grant("ann", 7).await;
    let page = session.get("/api/v1/wallets/external/ledger").await;
    assert_eq!(page.expect(200)["entries"][0]["delta"], 7);
}

#[tokio::test]
async fn a_codes_session_opens_the_codes_wallet() {
    let service = Service::start().await;
    let code = service.code().await;
    service.grant_code(&code, 7).await;
    let session = service.session(json!({"code": code.to_lowercase()})).await;
    let path = format!("/api/v1/wallets/{code}");
    let mut wallet = service.publishable.get(&path).await.expect(200);
    // A session is shown no code.
    wallet["code"] = json!("code");
    for own in ["/api/v1/wallets/code", &path, &path.to_lowercase()] {
        assert_eq!(session.get(own).await.expect(200), wallet, "{own}");
    }
    let page = session.get("/api/v1/wallets/code/ledger").await.expect(200);
    assert_eq!(page["entries"][0]["delta"], 7);
    let by_header = session.request(reqwest::Method::GET, "/api/v1/wallets/code");
    let by_header = by_header.header("X-Wallet-Code", &code);
    assert_eq!(Client::send(by_header).await.unwrap().expect(200), wallet);
    let unknown = ask(&service, &json!({"code": NO_CODE})).await;
    assert_refused(&unknown, 404, "wallet_not_found");
    let malformed = ask(&service, &json!({"code": "no code"})).await;
    assert_refused(&malformed, 404, "wallet_not_found");
}

#[tokio::test]
async fn a_session_ends_at_its_end() {
    let service = Service::start().await;
    let body = json!({"externalUserId": "ann", "expiresInSeconds": 60});
    let session = service.session(body).await;
    service.clock.advance_millis(59_999);
    session.get("/api/v1/me").await.expect(200);
    service.clock.advance_millis(1);
    for path in [
        "/api/v1/me",
        "/api/v1/products",
        "/api/v1/wallets/external",
        "/api/v1/usage",
    ] {
        let over = session.get(path).await;
        assert_refused(&over, 401, "session_expired");
        assert_eq!(over.headers["www-authenticate"], "Bearer");
    }
    let day = json!({"externalUserId": "ann", "expiresInSeconds": 86_400});
    let created = ask(&service, &day).await.expect(200);
    assert_eq!(created["expiresAt"], "2026-11-19T11:07:40.000Z");
}

#[tokio::test]
async fn what_is_not_a_session_is_refused() {
    let service = Service::start().await;
    for (body, param) in [
        (json!({"externalUserId": ""}), "externalUserId"),
        (
            json!({"externalUserId": "a", "expiresInSeconds": 0}),
            "expiresInSeconds",
        ),
        (
            json!({"externalUserId": "a", "expiresInSeconds": 86_401}),
            "expiresInSeconds",
        ),
        (json!({"externalUserId": "a", "can": []}), "can"),
        (
            json!({"externalUserId": "a", "can": ["read", "deduct"]}),
            "can[1]",
        ),
        (json!({"externalUserId": "a", "can": "read"}), "can"),
    ] {
        assert_invalid(&ask(&service, &body).await, param);
    }
    for body in [json!({}), json!({"externalUserId": "a", "code": NO_CODE})] {
        assert_refused(&ask(&service, &body).await, 400, "conflicting_wallet");
    }
    let request = json!({"externalUserId": "ann"});
    let reply = service.publishable.post(SESSIONS, &request).await;
    assert_refused(&reply, 403, "secret_key_required");
    let session = service.session(request.clone()).await;
    let reply = session.post(SESSIONS, &request).await;
    assert_refused(&reply, 403, "session_forbidden");
}

#[tokio::test]
async fn a_token_that_was_not_made_here_is_no_key() {
    let service = Service::start().await;
    let session = service.session(json!({"externalUserId": "ann"})).await;
    let token = session.key();
    let mut changed = token.to_owned();
    changed.replace_range(60..61, if &token[60..61] == "A" { "B" } else { "A" });
    let elsewhere = actors::Keyring::new(&[8; 32]).seal_session(&domain::session::WalletSession {
        project: service.project.id,
        wallet: domain::id::WalletKey([1; 16]),
        epoch: 0,
        can: domain::session::Permissions::ALL,
        expires_at: domain::Timestamp::NEVER,
        owner: domain::session::SessionOwner::User(
            domain::text::ExternalUserId::new("ann").unwrap(),
        ),
    });
    let long = format!("pay_ws_{}", "A".repeat(4000));
    for wrong in [
        "pay_ws_",
        "pay_ws_x",
        &changed,
        &token[..90],
        &elsewhere,
        &long,
    ] {
        let reply = Client::new(&service.base, wrong).get("/api/v1/me").await;
        assert_refused(&reply, 401, "invalid_api_key");
    }
}

#[tokio::test]
async fn a_session_is_limited_as_a_publishable_key_each_by_itself() {
    let service = Service::start().await;
    let body = json!({"externalUserId": "ann"});
    let (one, other) = (
        service.session(body.clone()).await,
        service.session(body).await,
    );
    for left in (0..30).rev() {
        let reply = one.get("/api/v1/me").await;
        assert_eq!(reply.headers["ratelimit-limit"], "30");
        assert_eq!(
            reply.headers["ratelimit-remaining"],
            left.to_string().as_str()
        );
        reply.expect(200);
    }
    let refused = one.get("/api/v1/me").await;
    assert_refused(&refused, 429, "rate_limited");
    assert_eq!(refused.headers["retry-after"], "1");
    other.get("/api/v1/me").await.expect(200);
    service.publishable.get("/api/v1/me").await.expect(200);
}

#[tokio::test]
async fn a_project_of_users_alone_has_sessions() {
    let service = Service::start().await;
    service
        .set(ProjectChange {
            mode: Some(Mode::ExternalUsers),
            ..ProjectChange::default()
        })
        .await;
    let session = service.session(json!({"externalUserId": "ann"})).await;
    let me = session.get("/api/v1/me").await.expect(200);
    assert_eq!(
        (&me["mode"], &me["keyKind"]),
        (&json!("external_users"), &json!("session"))
    );
    let stranger = service.stranger(KeyKind::Secret).await;
    let theirs = json!({"externalUserId": "ann"});
    let theirs = stranger.post(SESSIONS, &theirs).await.expect(200);
    let theirs = Client::new(&service.base, theirs["token"].as_str().unwrap());
    service.grant("ann", 5).await;
    let wallet = theirs.get("/api/v1/wallets/external").await.expect(200);
    assert_eq!(wallet["balances"], json!([]), "the other project's ann");
}

#[tokio::test]
async fn too_many_wrong_codes_from_an_address_keep_no_session_out() {
    let service = Service::start().await;
    let code = service.code().await;
    let session = service.session(json!({"code": code})).await;
    for number in 0..21 {
        let guess = format!("/api/v1/wallets/OLIVE-0000-0000-00{number:02}");
        service.clock.advance_millis(1000);
        service.publishable.get(&guess).await;
    }
    let path = format!("/api/v1/wallets/{code}");
    let kept_out = service.publishable.get(&path).await;
    assert_refused(&kept_out, 429, "too_many_invalid_codes");
    session.get("/api/v1/wallets/code").await.expect(200);
    session.get(&path).await.expect(200);
    // Nor can a session try codes.
    let other = service.code().await;
    for tried in [other.as_str(), NO_CODE, "no-code"] {
        let reply = session.get(&format!("/api/v1/wallets/{tried}")).await;
        assert_refused(&reply, 403, "session_forbidden");
    }
}

#[tokio::test]
async fn a_session_goes_on_after_a_restart() {
    let service = Service::start().await;
    let session = service.session(json!({"externalUserId": "ann"})).await;
    let revoked = service.session(json!({"externalUserId": "bob"})).await;
    let body = json!({"externalUserId": "bob"});
    let reply = service.secret.post("/api/v1/sessions/revoke", &body).await;
    reply.expect(200);
    let again = service.again(|_| {}).await;
    session
        .at(&again.base)
        .get("/api/v1/wallets/external")
        .await
        .expect(200);
    let over = revoked.at(&again.base).get("/api/v1/me").await;
    assert_refused(&over, 401, "session_expired");
}
