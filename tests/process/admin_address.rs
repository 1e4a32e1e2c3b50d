//! The dashboard and the admin API at an address of their own.

use kit::{Client, Instance, Launch, launch::ADMIN_TOKEN, process::listening};

/// A process' main address and that of its administrators.
async fn start(launch: &Launch, data: &std::path::Path) -> (kit::process::Process, String, String) {
    let mut process = Instance::begin(launch, data);
    let admin = process.wait_for_line("the administrators' address", |line| {
        let (_, address) = line.split_once("dashboard and admin API are at ")?;
        Some(address.to_owned())
    });
    let admin = admin.await;
    let main = process.wait_for_line("the address", listening).await;
    (process, main, admin)
}

async fn status(base: &str, path: &str, accept: &str) -> u16 {
    let client = Client::new(base, ADMIN_TOKEN);
    let request = client.request(reqwest::Method::GET, path);
    let answer = request.header("accept", accept).send().await.unwrap();
    answer.status().as_u16()
}

async fn is_there_and_nowhere_else(main: &str, admin: &str) {
    for path in [
        "/api/admin/v1/projects",
        "/api/admin/v1/openapi.json",
        "/dashboard",
        "/dashboard/sign-in",
        "/",
    ] {
        assert_eq!(status(main, path, "text/html").await, 404, "{path}");
        assert_ne!(status(admin, path, "text/html").await, 404, "{path}");
    }
    // No other method shows that there is something.
    let nothing = Client::new(main, ADMIN_TOKEN);
    for (method, path) in [
        ("DELETE", "/api/admin/v1/projects"),
        ("PUT", "/dashboard/sign-in"),
        ("OPTIONS", "/dashboard"),
        ("POST", "/"),
    ] {
        let request = nothing.request(method.parse().unwrap(), path);
        let answer = request.send().await.unwrap();
        assert_eq!(answer.status(), 404, "{method} {path}");
        assert_eq!(answer.headers().get("allow"), None, "{method} {path}");
    }
    // What a proxy claims changes nothing.
    for header in ["scrip-forwarded", "x-forwarded-for"] {
        let client = Client::new(main, ADMIN_TOKEN);
        let call = client.request(reqwest::Method::GET, "/api/admin/v1/projects");
        let call = call.header(header, "127.0.0.1").send().await.unwrap();
        assert_eq!(call.status(), 404, "{header}");
    }
    for (path, expected) in [("/healthz", 200), ("/api/v1/me", 401), ("/docs", 200)] {
        assert_eq!(status(main, path, "*/*").await, expected, "{path}");
    }
    // Programs are not led on.
    assert_eq!(status(admin, "/", "*/*").await, 404);
    let mut command = std::process::Command::new(kit::launch::binary());
    command
        .args(["api", "list-projects", "--url", admin])
        .env("SCRIP_ADMIN_TOKEN", ADMIN_TOKEN);
    kit::tool::run(&mut command);
}

#[tokio::test]
async fn they_are_not_at_the_public_one_then() {
    let folder = tempfile::tempdir().unwrap();
    let launch = Launch::default().env("SCRIP_ADMIN_LISTEN", "127.0.0.1:0");
    let (mut process, main, admin) = start(&launch, &folder.path().join("data")).await;
    is_there_and_nowhere_else(&main, &admin).await;
    process.terminate();
    assert!(process.wait(kit::deadline::SOON).await.success());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nor_where_another_process_of_a_cluster_passes_requests_on() {
    let database = postgres_kit::shared();
    let url = database.url(&database.create_database());
    let folder = tempfile::tempdir().unwrap();
    let launch = Launch::default()
        .env("SCRIP_ADMIN_LISTEN", "127.0.0.1:0")
        .env("SCRIP_STORAGE_URL", url)
        .env("SCRIP_SERVER_KEY", "07".repeat(32));
    let (_leader, main, admin) = start(&launch, &folder.path().join("one")).await;
    let leads = Client::new(&main, "");
    kit::deadline::answered("a leader", kit::deadline::SOON, async || {
        (leads.get("/leaderz").await.status == 200).then_some(())
    })
    .await;
    is_there_and_nowhere_else(&main, &admin).await;
    let (_follower, main, admin) = start(&launch, &folder.path().join("two")).await;
    is_there_and_nowhere_else(&main, &admin).await;
}
