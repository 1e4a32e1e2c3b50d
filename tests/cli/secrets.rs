//! `scrip admin-token replace` and `scrip server-key replace`.

use std::fs;

use kit::{Client, Launch, Server, deadline, tool};
use serde_json::json;

/// A code that a purchase minted, and the path of its order.
async fn bought(server: &Server) -> (String, String) {
    let price = server.add_price(5).await;
    server.set_provider(&json!({"kind": "sandbox"})).await;
    let buy = json!({"priceId": price});
    let checkout = server.client().post("/api/v1/checkout", &buy).await;
    let checkout = checkout.expect(200);
    let url = checkout["url"].as_str().unwrap();
    let pay = url.strip_prefix(server.instance().base()).unwrap();
    let paid = server.admin().post(&format!("{pay}/pay"), &json!({})).await;
    paid.expect(200);
    let order = format!(
        "/api/v1/orders/{}",
        checkout["checkoutId"].as_str().unwrap()
    );
    let client = server.client();
    let code = deadline::answered("the code", deadline::SOON, async || {
        let order = client.get(&order).await;
        order.body["code"].as_str().map(str::to_owned)
    });
    (code.await, order)
}

#[tokio::test]
async fn a_replaced_server_key_reads_older_secrets_and_ends_sessions() {
    let mut server = Server::start().await;
    let (code, order) = bought(&server).await;
    let body = json!({"externalUserId": "ann"});
    let session_reply = server.client().post("/api/v1/sessions", &body).await;
    let token = session_reply.expect(200)["token"]
        .as_str()
        .unwrap()
        .to_owned();
    let replace = |server: &Server| {
        let launch = server.launch_settings();
        let mut command = launch.command("server-key", server.data_dir());
        command.arg("replace");
        command
    };
    let running = replace(&server).output().unwrap();
    assert!(!running.status.success(), "a server is using it");
    assert!(server.terminate().await.success());
    let key = server.data_dir().join("server.key");
    let former = fs::read_to_string(&key).unwrap();
    tool::run(&mut replace(&server));
    server.start_again().await;

    let session = server.instance().client(&token).get("/api/v1/me").await;
    assert_eq!(session.code(), "invalid_api_key");
    let order_view = server.client().get(&order).await.expect(200);
    assert_eq!(order_view["code"], code.as_str());
    let wallet = format!("/api/v1/wallets/{code}");
    server.browser().get(&wallet).await.expect(200);
    let (newer, _) = bought(&server).await;
    assert_ne!(newer, code);

    // The former key alone, as from a copy of before, is refused by name.
    assert!(server.terminate().await.success());
    let both = fs::read_to_string(&key).unwrap();
    fs::write(&key, former).unwrap();
    let mut serve = server.launch_settings().serve(server.data_dir());
    let output = serve.output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("the server key was replaced"), "{text}");
    fs::write(&key, both).unwrap();
    server.verify();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cluster_knows_that_its_server_key_was_replaced() {
    let database = postgres_kit::Postgres::start();
    let url = database.url(&database.create_database());
    let [former, newest] = ["07", "08"].map(|digits| digits.repeat(32));
    let launch = |key: &str| {
        Launch::default()
            .env("SCRIP_STORAGE_URL", &url)
            .env("SCRIP_SERVER_KEY", key)
    };
    let mut server = Server::launch(launch(&former)).await;
    assert!(server.terminate().await.success());
    let both = format!("{former},{newest}");
    server.start_as(&launch(&both)).await;
    for (key, why) in [
        (
            &former,
            "was replaced, and this process has only the former",
        ),
        (&newest, "another one than the cluster's"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let output = launch(key).serve(&folder.path().join("data")).output();
        let text = String::from_utf8_lossy(&output.unwrap().stderr).into_owned();
        assert!(text.contains(why), "{text}");
    }
}

#[tokio::test]
async fn a_replaced_administrators_token_is_the_only_one_from_the_next_start_on() {
    let mut server = Server::start().await;
    assert!(server.terminate().await.success());
    let own = Launch::default().without_token();
    let file = server.data_dir().join("admin-token");
    let mut tokens = Vec::new();
    for _ in 0..2 {
        let mut command = own.command("admin-token", server.data_dir());
        tool::run(command.arg("replace"));
        tokens.push(fs::read_to_string(&file).unwrap().trim().to_owned());
    }
    server.start_as(&own).await;
    let mut answers = Vec::new();
    for token in &tokens {
        let client = Client::new(server.instance().base(), token);
        answers.push(client.get("/api/admin/v1/projects").await.status);
    }
    assert_eq!(answers, [401, 200]);
    // One from the environment is replaced there.
    let mut command = Launch::default().command("admin-token", server.data_dir());
    let output = command.arg("replace").output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("comes from SCRIP_ADMIN_TOKEN"), "{text}");
}
