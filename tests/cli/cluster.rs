//! `scrip cluster`: two processes over one log in a real database.

use std::process::{Command, Output};

use kit::{Instance, Launch, Server, deadline, launch::binary, tool};
use serde_json::{Value, json};
use tempfile::TempDir;

/// The exit code of a process that is to be restarted, as a follower.
const EXIT_RESTART: i32 = 75;

fn shared() -> (Launch, String) {
    let database = postgres_kit::shared();
    let name = database.create_database();
    let launch = Launch::default()
        .env("SCRIP_STORAGE_URL", database.url(&name))
        .env("SCRIP_SERVER_KEY", "07".repeat(32));
    (launch, name)
}

/// `scrip cluster` with words and a database.
fn cluster(database: &str, words: &[&str]) -> Command {
    let mut command = Command::new(binary());
    let url = postgres_kit::shared().url(database);
    command
        .arg("cluster")
        .args(words)
        .env("SCRIP_STORAGE_URL", url)
        .env("SCRIP_SERVER_KEY", "07".repeat(32))
        .env_remove("SCRIP_ADMIN_TOKEN");
    command
}

fn status(database: &str) -> Value {
    let output = cluster(database, &["status", "--json"]).output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap_or_default()
}

async fn shows(what: &str, database: &str, is_so: impl Fn(&Value) -> bool) {
    deadline::until(what, deadline::SOON, || {
        is_so(&status(database)).then_some(())
    })
    .await;
}

fn failed(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    super::errors(output)
}

async fn figures(base: &str, token: &str) -> (u16, String) {
    let client = kit::client::plain_http().get(format!("{base}/metrics"));
    let answer = client.bearer_auth(token).send().await.unwrap();
    (answer.status().as_u16(), answer.text().await.unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_log_is_handed_over_to_a_follower_and_metrics_show_the_leader() {
    let (launch, database) = shared();
    let mut first = Server::launch(launch.clone()).await;
    first.grant("ann", 10, "g").await;
    let alone = first.command(&["api", "hand-over"]).output().unwrap();
    let refused = failed(&alone);
    assert!(
        refused.contains("No standby process is available"),
        "{refused}"
    );

    let folder = TempDir::new().unwrap();
    let second = Instance::start(&launch, &folder.path().join("data")).await;
    shows("both are seen", &database, |seen| {
        let members = seen["members"].as_array();
        members.is_some_and(|members| members.len() == 2) && !seen["leader"].is_null()
    })
    .await;
    let seen = status(&database);
    assert_eq!(seen["leader"]["address"], *first.instance().base());
    let problems = seen["problems"].to_string();
    assert!(!problems.contains("Nobody"), "{problems}");
    let table = tool::run(&mut cluster(&database, &["status"]));
    for shown in [first.instance().base(), second.base(), "leads", "follows"] {
        assert!(table.contains(shown), "no {shown} in {table}");
    }
    assert_eq!(figures(second.base(), "a-token-that-is-wrong").await.0, 401);
    let (_, followers) = figures(second.base(), kit::launch::ADMIN_TOKEN).await;
    assert!(followers.contains("scrip_cluster_leads 0\n"), "{followers}");
    let leaders = deadline::answered("its figures show both", deadline::SOON, async || {
        let all = first.figures().await;
        all.contains("scrip_cluster_members 2\n").then_some(all)
    })
    .await;
    assert!(leaders.contains("scrip_cluster_leads 1\n"), "{leaders}");
    assert!(leaders.contains("scrip_wallets_awake "), "{leaders}");

    // By way of the follower.
    let mut asked = Command::new(binary());
    asked
        .args(["api", "hand-over", "--url", second.base()])
        .env("SCRIP_ADMIN_TOKEN", kit::launch::ADMIN_TOKEN);
    tool::run(&mut asked);
    let ended = first.instance_mut().wait().await;
    assert_eq!(ended.code(), Some(EXIT_RESTART), "{ended}");
    let secret = first.secret().to_owned();
    let spend = json!({"externalUserId": "ann", "amount": 4, "idempotencyKey": "d"});
    let spent = second.client(&secret);
    let spent = spent.post("/api/v1/wallets/external/deduct", &spend).await;
    assert_eq!(spent.expect(200)["balance"], 6);
    shows("the other leads", &database, |seen| {
        seen["leader"]["address"] == *second.base()
    })
    .await;
    let (_, leaders) = figures(second.base(), kit::launch::ADMIN_TOKEN).await;
    assert!(leaders.contains("scrip_cluster_leads 1\n"), "{leaders}");
    assert!(second.terminate().await.success());
    shows("nobody leads", &database, |seen| seen["leader"].is_null()).await;
    let text = tool::run(&mut cluster(&database, &["status"]));
    assert!(text.contains("Nobody leads"), "{text}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_log_that_was_taken_along_goes_on_in_the_directory_alone() {
    let (launch, database) = shared();
    let mut first = Server::launch(launch.clone()).await;
    first.grant("ann", 10, "g").await;
    let folder = TempDir::new().unwrap();
    let others = folder.path().join("data");
    let second = Instance::start(&launch, &others).await;
    first.crash().await;
    let leave = || {
        let mut leave = cluster(&database, &["leave", "--data-dir"]);
        leave.arg(first.data_dir());
        leave.env("SCRIP_ADMIN_TOKEN", kit::launch::ADMIN_TOKEN);
        leave
    };
    let refused = failed(&leave().output().unwrap());
    assert!(refused.contains("another process still leads"), "{refused}");
    assert!(second.terminate().await.success());

    let membership = std::fs::read(first.data_dir().join("cluster.json")).unwrap();
    let text = tool::run(&mut leave());
    assert!(text.contains("remove storage.url"), "{text}");
    // As if it had been killed before the last step.
    std::fs::write(first.data_dir().join("cluster.json"), membership).unwrap();
    let mut alone = launch.serve(first.data_dir());
    let refused = failed(&alone.output().unwrap());
    assert!(refused.contains("scrip cluster leave"), "{refused}");
    tool::run(&mut leave());
    // Who followed learns where the log is.
    let refused = failed(&launch.serve(&others).output().unwrap());
    assert!(refused.contains("taken out of the database"), "{refused}");

    let alone = Launch::default().env("SCRIP_SERVER_KEY", "07".repeat(32));
    first.start_as(&alone).await;
    assert_eq!(first.balance("ann").await.balance, 10);
    // The key was used before the log moved.
    first.grant("ann", 10, "g").await;
    assert_eq!(first.balance("ann").await.balance, 10);
    first.terminate().await;
    first.verify();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_format_is_raised_once_nobody_is_too_old_for_it() {
    let (launch, database) = shared();
    let none = failed(&cluster(&database, &["finalize"]).output().unwrap());
    assert!(none.contains("no cluster yet"), "{none}");
    let server = Server::launch(launch).await;
    shows("it is seen", &database, |seen| !seen["leader"].is_null()).await;
    let finalize = || cluster(&database, &["finalize"]);
    let text = tool::run(&mut finalize());
    assert!(text.contains("nothing to do"), "{text}");
    let older = |table: &str| {
        let sql = format!("UPDATE scrip.{table} SET format = 0");
        postgres_kit::shared().psql_in(&database, &sql);
    };
    older("meta");
    older("member");
    let refused = failed(&finalize().output().unwrap());
    assert!(refused.contains("older version"), "{refused}");
    assert!(refused.contains(server.instance().base()), "{refused}");
    postgres_kit::shared().psql_in(&database, "UPDATE scrip.member SET format = 1");
    let text = tool::run(&mut finalize());
    assert!(text.contains("format 1 from now on"), "{text}");
    assert_eq!(status(&database)["format"], 1);
}
