//! A project's payment provider and its sandbox, as an administrator sets them.

use kit::Server;
use serde_json::{Value, json};

use crate::{assert_invalid, get, patch, post, project};

async fn set(server: &Server, provider: Value) -> kit::Reply {
    patch(
        &server.admin(),
        &project(server),
        &json!({"provider": provider}),
    )
    .await
}

#[tokio::test]
async fn secrets_go_in_and_never_come_out() {
    let mut server = Server::start().await;
    let path = project(&server);
    assert!(get(&server.admin(), &path).await.expect(200)["provider"].is_null());
    let stripe =
        json!({"kind": "stripe", "secretKey": "sk_test_hush", "webhookSecret": "whsec_hush"});
    let answer = set(&server, stripe).await.expect(200);
    let id = &server.project().id;
    assert_eq!(answer["provider"]["kind"], "stripe");
    let hook = answer["provider"]["webhookUrl"].as_str().unwrap();
    assert!(hook.ends_with(&format!("/webhooks/stripe/{id}")), "{hook}");
    let reply = get(&server.admin(), &path).await.expect(200).to_string();
    assert!(
        !reply.contains("hush") && !answer.to_string().contains("hush"),
        "{reply}"
    );
    // One of the two secrets may be replaced.
    set(
        &server,
        json!({"kind": "stripe", "webhookSecret": "whsec_new"}),
    )
    .await
    .expect(200);
    server.restart().await;
    assert_eq!(
        get(&server.admin(), &path).await.expect(200)["provider"]["kind"],
        "stripe"
    );
    let log = server.instance().output().join("\n");
    assert!(!log.contains("hush"), "{log}");
    let status = server.terminate().await;
    assert!(status.success());
    for file in walk(server.data_dir()) {
        let bytes = std::fs::read(&file).unwrap();
        let found = bytes.windows(4).any(|window| window == b"hush");
        assert!(!found, "a secret in the clear in {}", file.display());
    }
}

fn walk(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(walk(&path));
        } else {
            files.push(path);
        }
    }
    files
}

#[tokio::test]
async fn a_provider_can_be_taken_away() {
    let server = Server::start().await;
    set(&server, json!({"kind": "sandbox"})).await.expect(200);
    let answer = set(&server, Value::Null).await.expect(200);
    assert!(answer["provider"].is_null());
}

#[tokio::test]
async fn what_is_wrong_with_a_provider_is_named() {
    let server = Server::start().await;
    let good = json!({"kind": "stripe", "secretKey": "sk_1", "webhookSecret": "whsec_1"});
    let with = |name: &str, value: Value| {
        let mut provider = good.clone();
        provider[name] = value;
        provider
    };
    for (provider, param) in [
        (json!("sandbox"), "provider"),
        (json!({}), "provider.kind"),
        (json!({"kind": "paypal"}), "provider.kind"),
        (
            json!({"kind": "stripe", "webhookSecret": "whsec_1"}),
            "provider.secretKey",
        ),
        (with("secretKey", json!("pk_1")), "provider.secretKey"),
        (with("secretKey", json!("sk 1")), "provider.secretKey"),
        (
            with("secretKey", json!("s".repeat(256))),
            "provider.secretKey",
        ),
        (with("webhookSecret", json!("")), "provider.webhookSecret"),
    ] {
        let reply = set(&server, provider).await;
        assert_invalid(&reply, param);
        assert!(!reply.body.to_string().contains("whsec_1"));
    }
}

#[tokio::test]
async fn what_is_no_secret_is_a_mistake_also_where_the_sandbox_needs_none() {
    let server = Server::start().await;
    for name in ["secretKey", "webhookSecret"] {
        let reply = set(&server, json!({"kind": "sandbox", name: "two words"})).await;
        assert_invalid(&reply, &format!("provider.{name}"));
    }
    set(
        &server,
        json!({"kind": "sandbox", "secretKey": "sk_test_x"}),
    )
    .await
    .expect(200);
}

#[tokio::test]
async fn the_sandbox_is_set_and_its_clock_only_goes_on() {
    let mut server = Server::start().await;
    let sandbox = format!("{}/sandbox", project(&server));
    let advance = format!("{sandbox}/advance");
    let admin = server.admin();
    for reply in [
        get(&admin, &sandbox).await,
        patch(&admin, &sandbox, &json!({"shuffle": true})).await,
        post(&admin, &advance, &json!({"seconds": 1})).await,
    ] {
        assert_eq!(
            (reply.status, reply.code()),
            (409, "provider_not_configured")
        );
    }
    set(&server, json!({"kind": "sandbox"})).await.expect(200);
    let fresh = get(&admin, &sandbox).await.expect(200);
    assert_eq!(
        (
            &fresh["delaySeconds"],
            &fresh["duplicates"],
            &fresh["shuffle"]
        ),
        (&json!(0), &json!(0), &json!(false))
    );
    let change = json!({"delaySeconds": 60, "duplicates": true, "shuffle": true});
    let changed = patch(&admin, &sandbox, &change).await.expect(200);
    assert_eq!(
        (&changed["delaySeconds"], &changed["duplicates"]),
        (&json!(60), &json!(1))
    );
    for (change, param) in [
        (json!({"delaySeconds": -1}), "delaySeconds"),
        (json!({"delaySeconds": 604_801}), "delaySeconds"),
        (json!({"duplicates": 11}), "duplicates"),
        (json!({"shuffle": null}), "shuffle"),
    ] {
        assert_invalid(&patch(&admin, &sandbox, &change).await, param);
    }
    for seconds in [json!(0), json!(-5), json!(1e12), json!("1")] {
        assert_invalid(
            &post(&admin, &advance, &json!({"seconds": seconds})).await,
            "seconds",
        );
    }
    assert_invalid(&post(&admin, &advance, &json!({})).await, "seconds");
    let moved = post(&admin, &advance, &json!({"seconds": 86_400}))
        .await
        .expect(200);
    let day = |now: &Value| now["now"].as_str().unwrap()[..10].to_owned();
    assert!(day(&moved) > day(&fresh));
    server.restart().await;
    let after = get(&server.admin(), &sandbox).await.expect(200);
    assert!(after["now"].as_str() >= moved["now"].as_str(), "{after}");
    assert_eq!(after["delaySeconds"], 60);
    // The sandbox's clock stays where it is while another provider is set.
    set(&server, Value::Null).await.expect(200);
    set(&server, json!({"kind": "sandbox"})).await.expect(200);
    let back = get(&server.admin(), &sandbox).await.expect(200);
    assert!(back["now"].as_str() >= moved["now"].as_str(), "{back}");
}

#[tokio::test]
async fn a_sandbox_in_service_is_named_at_the_start() {
    let mut server = Server::start().await;
    let quiet = server.instance().output().join("\n");
    assert!(!quiet.contains("sandbox"), "{quiet}");
    set(&server, json!({"kind": "sandbox"})).await.expect(200);
    server.restart().await;
    let log = server.instance().output().join("\n");
    assert!(
        log.contains(&server.project().id) && log.contains("sandbox"),
        "{log}"
    );
}
