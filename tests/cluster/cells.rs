//! Several cells: some projects move to a log of their own under load.

use std::{process::Command, time::Instant};

use kit::{
    Client, Project, deadline,
    launch::{ADMIN_TOKEN, binary},
    tool,
};
use serde_json::{Value, json};

use crate::{
    checker::{Checker, print_times},
    members::{Cluster, is_long},
};

const PROJECTS: &str = "/api/admin/v1/projects";

/// Two more processes that wait to become a cell.
pub(crate) async fn waiting(cluster: &mut Cluster, cell: i16) {
    for number in 0..2 {
        let mut member = cluster.further(&format!("cell-{cell}-{number}"));
        member.joins(cell);
        member.start().await;
        cluster.members.push(member);
    }
}

/// `scrip api split-cell` through one of the processes, as soon as those that wait have read the log.
pub(crate) async fn split(
    cluster: &Cluster,
    through: usize,
    to: i16,
    projects: &[&str],
) -> Instant {
    deadline::until("the cell is split", deadline::SOON, || {
        let mut command = Command::new(binary());
        let to = to.to_string();
        command
            .args([
                "api",
                "split-cell",
                "--url",
                &cluster.members[through].base(),
                "--to",
                &to,
            ])
            .args(projects.iter().flat_map(|id| ["--projects", *id]))
            .env("SCRIP_ADMIN_TOKEN", ADMIN_TOKEN);
        let began = Instant::now();
        let output = command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            output.status.success() || text.contains("waits to become"),
            "{text}"
        );
        output.status.success().then_some(began)
    })
    .await
}

/// The names of the projects as one process lists them.
async fn listed(admin: &Client) -> Vec<String> {
    let all = admin.get(PROJECTS).await.expect(200);
    let all = all["projects"].as_array().unwrap().iter();
    all.map(|project| project["id"].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cell_is_split_under_load_and_both_go_on_and_fail_over_by_themselves() {
    let mut cluster = Cluster::start().await;
    let second = Project::create(&cluster.client(1, ADMIN_TOKEN)).await;
    waiting(&mut cluster, 1).await;
    let stays = Checker::start(&cluster).await;
    let goes = Checker::of(&cluster, &second).await;
    let reply = split(&cluster, 1, 1, &[&second.id]).await;
    let mut away = [stays.away(reply).await, goes.away(reply).await];
    cluster.repair().await;
    stays.goes_on().await;
    goes.goes_on().await;
    print_times("split to the first answer", &mut away);
    println!(
        "longest silence: stays {:?}, goes {:?}",
        stays.longest_silence(reply),
        goes.longest_silence(reply)
    );

    for member in 0..cluster.members.len() {
        let admin = cluster.client(member, ADMIN_TOKEN);
        let mut both = vec![cluster.project.id.clone(), second.id.clone()];
        both.sort();
        assert_eq!(listed(&admin).await, both);
        for project in &both {
            let page = admin
                .get(&format!("{PROJECTS}/{project}"))
                .await
                .expect(200);
            assert_eq!(page["id"], **project);
        }
        let stranger = cluster.client(member, "pay_sk_nobodyhasthiskeynobodyhasthiskey");
        let refused = stranger.get("/api/v1/me").await;
        assert_eq!((refused.status, refused.code()), (401, "invalid_api_key"));
        // A key that was made a moment ago by way of another process is known to all.
        let path = format!("{PROJECTS}/{}/keys", second.id);
        let new_key = admin
            .post(&path, &json!({"kind": "secret"}))
            .await
            .expect(201);
        let key = new_key["key"].as_str().unwrap();
        let other = (member + 1) % cluster.members.len();
        let me = cluster
            .client(other, key)
            .get("/api/v1/me")
            .await
            .expect(200);
        assert_eq!(me["projectId"], *second.id);
    }

    for cell in [1, 0] {
        for _ in 0..if is_long() { 10 } else { 1 } {
            let leader = cluster.leader_of(cell).await;
            cluster.members[leader].kill().await;
            let since = Instant::now();
            stays.away(since).await;
            goes.away(since).await;
            cluster.repair().await;
        }
    }
    goes.judge(&mut cluster).await;
    stays.finish(&mut cluster).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn projects_that_were_not_split_are_named_and_each_cells_state_is_shown() {
    let mut cluster = Cluster::start().await;
    let (first, second) = (cluster.project.id.clone(), {
        let admin = cluster.client(0, ADMIN_TOKEN);
        Project::create(&admin).await
    });
    let admin = cluster.client(0, ADMIN_TOKEN);
    let path = "/api/admin/v1/cluster/split";
    let refused = async |body: Value| {
        let reply = admin.post(path, &body).await;
        (
            reply.status,
            reply.body["message"]
                .as_str()
                .unwrap_or_default()
                .to_owned(),
        )
    };
    let (status, why) = refused(json!({"to": 1, "projects": [second.id]})).await;
    assert_eq!(status, 409);
    assert!(
        why.contains("No process waits to become this cell"),
        "{why}"
    );
    let (status, why) =
        refused(json!({"to": 1, "projects": ["proj_00000000000000000000000009"]})).await;
    assert_eq!(status, 404, "{why}");
    assert_eq!(
        refused(json!({"to": 0, "projects": [second.id]})).await.0,
        400
    );
    assert_eq!(refused(json!({"to": 1, "projects": []})).await.0, 400);

    waiting(&mut cluster, 1).await;
    split(&cluster, 2, 1, &[&second.id]).await;
    cluster.repair().await;
    let (status, why) = refused(json!({"to": 1, "projects": [first]})).await;
    assert_eq!((status, &*why), (409, "There is such a cell already."));
    let state = |cell: &str| {
        let mut command = Command::new(binary());
        let url = cluster.postgres.url(&cluster.name);
        command
            .args(["cluster", "status", "--json", "--cell", cell])
            .env("SCRIP_STORAGE_URL", url);
        serde_json::from_str::<Value>(&tool::run(&mut command)).unwrap()
    };
    for cell in [0, 1] {
        let leader = cluster.leader_of(cell).await;
        let door = format!("http://{}", cluster.members[leader].door.address());
        deadline::until("the state shows who leads", deadline::SOON, || {
            let shown = state(&cell.to_string());
            let is_right =
                shown["leader"]["address"] == *door && shown["cells"][0]["leader"].is_string();
            is_right.then_some(())
        })
        .await;
    }
    cluster.stop_and_verify().await;
}
