//! Secrets that a server was given never appear: neither in responses, nor in its log at any level, nor in the
//! message with which it refuses to start.

use std::{
    process::Output,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use kit::{
    Launch, Server, deadline,
    smtp::{Behaviour, MailServer},
};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
};

const KEY: &str = "sk_test_hushAAAA1111";
const WEBHOOK: &str = "whsec_hushBBBB2222";
const PASSWORD: &str = "hushCCCC3333";

fn assert_hushed(what: &str) {
    for secret in [KEY, WEBHOOK, PASSWORD] {
        assert!(!what.contains(secret), "{secret} in {what}");
    }
}

/// A provider that refuses everything, with a message that repeats the whole request. Once set to accept the
/// key, it does, and refuses only the requests made with it.
async fn gossip(takes_the_key: Arc<AtomicBool>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = vec![0; 64 * 1024];
            let read = stream.read(&mut request).await.unwrap_or(0);
            let asked = String::from_utf8_lossy(&request[..read]).into_owned();
            let tried = ["?limit=1 ", "permission-check/", "/scrip_permission_check"];
            let tried = tried.iter().any(|mark| asked.contains(mark));
            let takes = tried && takes_the_key.load(Ordering::Relaxed);
            let error = json!({"error": {
                "type": "invalid_request_error", "code": "api_key_expired", "param": asked,
                "message": format!("Expired API key provided in {asked}"),
            }});
            let (status, body) = match takes {
                true => ("200 OK", json!({"object": "list", "data": []}).to_string()),
                false => ("401 Unauthorized", error.to_string()),
            };
            let answer = format!(
                "HTTP/1.1 {status}\r\nContent-Type: application/json\r\n\
                 Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
                body.len()
            );
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    });
    format!("http://{address}")
}

#[tokio::test]
async fn a_providers_and_a_mail_servers_secrets_are_shown_nowhere() {
    let catcher = MailServer::start(&[Behaviour::Refuse("535 5.7.8 No")]).await;
    let smtp = catcher
        .url()
        .replace("smtp://", &format!("smtp://me:{PASSWORD}@"));
    let takes_the_key = Arc::new(AtomicBool::new(false));
    let launch = Launch::default()
        .env("SCRIP_LOG", "trace")
        .env(
            "SCRIP_STRIPE_API_BASE",
            gossip(Arc::clone(&takes_the_key)).await,
        )
        .env("SCRIP_MAIL_SMTP_URL", smtp);
    let server = Server::launch(launch).await;
    let admin = server.admin();
    let price = server.add_price(5).await;

    // A purchase, so that there is a mail to be sent.
    server.set_provider(&json!({"kind": "sandbox"})).await;
    let buy = json!({"priceId": price, "customerEmail": "ann@mail.example"});
    let checkout = server.client().post("/api/v1/checkout", &buy).await;
    let url = checkout.expect(200)["url"].as_str().unwrap().to_owned();
    let pay = url.strip_prefix(server.instance().base()).unwrap();
    let paid = admin.post(&format!("{pay}/pay"), &json!({})).await;
    paid.expect(200);
    let email = json!({"email": "ann@mail.example"});
    let response = server
        .client()
        .post("/api/v1/wallets/recover", &email)
        .await;
    assert_eq!(response.status, 202);
    deadline::until("an attempt to send a mail", deadline::SOON, || {
        (catcher.connections() > 0).then_some(())
    })
    .await;

    let provider =
        json!({"kind": "stripe", "force": true, "secretKey": KEY, "webhookSecret": WEBHOOK});
    for body in [
        json!({"provider": {"kind": "stripe", "secretKey": [KEY], "webhookSecret": WEBHOOK}}),
        json!({"provider": {"kind": KEY}}),
        json!({"provider": format!("{KEY}{WEBHOOK}")}),
        json!({"provider": {"kind": "stripe", "secretKey": format!("{KEY}\n"), "webhookSecret": WEBHOOK}}),
        json!({"provider": {"kind": "stripe", "secretKey": KEY, "webhookSecret": format!("{WEBHOOK} ")}}),
        json!({"provider": provider}),
    ] {
        let reply = admin.patch(&server.project_path(), &body).await;
        assert_eq!(reply.status, 400);
        assert_hushed(&format!("{:?} {}", reply.headers, reply.body));
    }
    takes_the_key.store(true, Ordering::Relaxed);
    let set = json!({ "provider": provider });
    admin.patch(&server.project_path(), &set).await.expect(200);
    let reply = server.client().post("/api/v1/checkout", &buy).await;
    assert!(reply.status >= 400, "{}", reply.body);
    assert_hushed(&format!("{:?} {}", reply.headers, reply.body));
    let page = admin.get(&server.project_path()).await.expect(200);
    assert_hushed(&page.to_string());
    let log = server.instance().output();
    assert!(log.iter().any(|line| line.contains("DEBUG")), "{log:?}");
    assert_hushed(&log.join("\n"));
}

#[tokio::test]
async fn a_sessions_token_is_shown_to_its_caller_alone() {
    let server = Server::launch(Launch::default().env("SCRIP_LOG", "trace")).await;
    let request = json!({"externalUserId": "ann"});
    let session_reply = server.client().post("/api/v1/sessions", &request).await;
    let session_reply = session_reply.expect(200);
    let token = session_reply["token"].as_str().unwrap();
    let session = server.instance().client(token);
    for (path, status) in [
        ("/api/v1/me", 200),
        ("/api/v1/wallets/external", 200),
        ("/api/v1/wallets/external?externalUserId=bob", 403),
        ("/api/v1/events", 403),
        ("/api/v1/nothing", 404),
    ] {
        let reply = session.get(path).await;
        assert_eq!(reply.status, status, "{path}: {}", reply.body);
        let text = format!("{:?} {}", reply.headers, reply.body);
        assert!(!text.contains(token), "{text}");
    }
    // Nor where it was put into the wrong setting.
    for path in [
        format!("/api/v1/wallets/{token}"),
        format!("/api/v1/wallets/{token}/stream"),
        format!("/api/v1/me?token={token}"),
        format!("/api/v1/holds/{token}/draw"),
        format!("/dashboard/{token}"),
        format!("/docs/{token}"),
        format!("/{token}"),
    ] {
        let reply = server.browser().get(&path).await;
        assert!(!reply.body.to_string().contains(token), "{}", reply.body);
    }
    let path = "/api/v1/wallets/external/stream";
    let mut stream = kit::events::Events::open(&session, path)
        .await
        .ok()
        .unwrap();
    stream.event().await.unwrap();
    let damaged = token[..token.len() - 1].to_owned();
    let reply = server.instance().client(&damaged).get("/api/v1/me").await;
    assert_eq!(reply.status, 401);
    let revoked = server
        .client()
        .post("/api/v1/sessions/revoke", &request)
        .await;
    revoked.expect(200);
    assert_eq!(session.get("/api/v1/me").await.status, 401);
    let output = server.instance().output();
    assert!(
        output.iter().any(|line| line.contains("DEBUG")),
        "{output:?}"
    );
    let text = output.join("\n");
    // Not a part of it either.
    let body = token.strip_prefix("pay_ws_").unwrap();
    for part in [&body[..24], &body[body.len() - 24..], "pay_ws_"] {
        assert!(!text.contains(part), "{part} in {text}");
    }
}

#[tokio::test]
async fn a_server_and_its_commands_take_secrets_from_files() {
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, text: &str| {
        let file = folder.path().join(name);
        std::fs::write(&file, format!("{text}\n")).unwrap();
        file
    };
    let token = put("token", kit::launch::ADMIN_TOKEN);
    let launch = Launch::default()
        .without_token()
        .env("SCRIP_ADMIN_TOKEN_FILE", &token)
        .env("SCRIP_SERVER_KEY_FILE", put("key", &"07".repeat(32)))
        .env(
            "SCRIP_METRICS_TOKEN_FILE",
            put("metrics", "metrics-token-0001"),
        );
    let server = Server::launch(launch).await;
    assert!(!server.data_dir().join("server.key").exists());
    let scraper = server.instance().client("metrics-token-0001");
    assert_eq!(scraper.get("/metrics").await.status, 200);
    let list = || {
        let mut command = server.command(&["api", "list-projects"]);
        command.env_remove("SCRIP_ADMIN_TOKEN");
        command
    };
    assert!(!list().output().unwrap().status.success());
    kit::tool::run(list().arg("--token-file").arg(&token));
    kit::tool::run(list().env("SCRIP_ADMIN_TOKEN_FILE", &token));
    let both = list()
        .env("SCRIP_ADMIN_TOKEN", kit::launch::ADMIN_TOKEN)
        .env("SCRIP_ADMIN_TOKEN_FILE", &token)
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&both.stderr).into_owned();
    assert!(!both.status.success());
    assert!(
        printed.contains("SCRIP_ADMIN_TOKEN and SCRIP_ADMIN_TOKEN_FILE"),
        "{printed}"
    );
}

fn refused(config: &str) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("scrip.toml");
    std::fs::write(&file, config).unwrap();
    let mut command = Launch::default().serve(&folder.path().join("data"));
    let output = command.arg("--config").arg(&file).output().unwrap();
    assert!(!output.status.success(), "{config}");
    output
}

#[test]
fn a_configuration_that_is_refused_is_not_shown() {
    let url = format!("smtps://me:{PASSWORD}@mail.example");
    for config in [
        format!("[mail]\nsmtp_url = \"{url}"),
        format!("[mail]\nsmtp_url = {url}"),
        format!("[mail]\nsmtp_url = [\"{url}\"]"),
        format!("[mail]\nsmtp_url = \"{url}?tls=perhaps\""),
        format!("[mail]\nsmtp_url = \"smtp://me:{PASSWORD}@mail.example\""),
        format!("[mail]\nsmtp_url = \"{url}\"\n= broken"),
        format!("[mail]\nsmtp_url = \"{url}\" trailing"),
    ] {
        let output = refused(&config);
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(!text.is_empty());
        assert_hushed(&text);
    }
    let text = refused(&format!("[http]\nworkers = 1\n[mail]\nsmtp_url = \"{url}"));
    let text = String::from_utf8_lossy(&text.stderr).into_owned();
    assert!(text.contains("line 4"), "{text}");
}
