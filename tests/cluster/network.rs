//! Networks that fail in part: the leader cut off from the database, processes from each other, answers lost.

use std::time::{Duration, Instant};

use kit::{Client, deadline, launch::ADMIN_TOKEN};
use reqwest::Method;
use serde_json::json;

use crate::{
    checker::Checker,
    members::{Cluster, EXIT_RESTART, is_long},
};

/// For a fail-over, from the loss to the first answer.
const BACK_WITHIN: Duration = Duration::from_secs(15);
const ASKED_FOR: Duration = Duration::from_secs(20);

/// Waits until another than the former leader answers; the former may still say that it leads.
async fn another_leads(cell: &Cluster, former: usize) -> usize {
    deadline::answered("another process leads", deadline::SOON, async || {
        for member in (0..cell.members.len()).filter(|member| *member != former) {
            if cell.says(member, "/leaderz").await {
                return Some(member);
            }
        }
        None
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_leader_that_loses_the_database_is_replaced_and_shows_nothing_old() {
    let mut cell = Cluster::start().await;
    for refuses in [false, true] {
        let checker = Checker::start(&cell).await;
        let former = cell.leader().await;
        // Its clients still reach it.
        let lost = Instant::now();
        if refuses {
            cell.members[former].database.refuse(true);
            cell.members[former].database.cut();
        } else {
            cell.members[former].database.blackhole(true);
        }
        let next = another_leads(&cell, former).await;
        println!(
            "the leader without a database (refuses: {refuses}) to the next: {:?}",
            lost.elapsed()
        );
        // Not all of them: the former leader answers its clients "unknown" only after some seconds.
        let away = checker.away(lost).await;
        assert!(away < BACK_WITHIN, "no answer for {away:?}");
        former_tells_no_old_news(&cell, former, next).await;
        cell.members[former].database.blackhole(false);
        cell.members[former].database.refuse(false);
        let status = cell.members[former].ends().await;
        assert_eq!(status.code(), Some(EXIT_RESTART), "{status}");
        checker.judge(&mut cell).await;
    }
    cell.stop_and_verify().await;
}

/// What was changed at the next leader is not denied by the former one, which cannot know of it.
async fn former_tells_no_old_news(cell: &Cluster, former: usize, next: usize) {
    let admin = cell.client(next, ADMIN_TOKEN);
    let newcomer = format!("newcomer-{former}");
    let body = json!({
        "externalUserId": newcomer, "productId": cell.project.product, "amount": 5, "idempotencyKey": "new",
    });
    cell.secret(next)
        .post("/api/v1/credit", &body)
        .await
        .expect(200);
    let keys = format!("/api/admin/v1/projects/{}/keys", cell.project.id);
    let key = admin.post(&keys, &json!({"kind": "secret"})).await;
    assert!(
        matches!(key.status, 200 | 201),
        "{} {}",
        key.status,
        key.body
    );
    let key = key.body["key"].as_str().unwrap().to_owned();
    let project = admin
        .post("/api/admin/v1/projects", &json!({"name": "Later"}))
        .await;
    project.expect(201);
    let ask = async |client: Client, path: &str| {
        let call = client.request(Method::GET, path).timeout(ASKED_FOR);
        Client::send(call)
            .await
            .ok()
            .map(|reply| (reply.status, reply.body))
    };
    let wallet = &*format!("/api/v1/wallets/external?externalUserId={newcomer}");
    let ledger = &*format!("/api/v1/wallets/external/ledger?externalUserId={newcomer}");
    for (client, path) in [
        (cell.secret(former), wallet),
        (cell.secret(former), ledger),
        (cell.client(former, &key), wallet),
        (cell.client(former, ADMIN_TOKEN), "/api/admin/v1/projects"),
        (cell.secret(former), "/api/v1/events?limit=100"),
        (cell.secret(former), "/api/v1/me"),
    ] {
        let answer = ask(client, path).await;
        assert!(
            answer.as_ref().is_none_or(|(status, _)| *status == 503),
            "who leads no more answers {path}: {answer:?}"
        );
    }
    assert!(
        !cell.says(former, "/leaderz").await,
        "a proxy would still send it everything"
    );
    assert!(
        !cell.says(former, "/readyz").await,
        "a proxy would still send it something"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_follower_is_cut_off_from_the_leader_or_from_the_database_and_comes_back() {
    let mut cell = Cluster::start().await;
    let checker = Checker::start(&cell).await;
    let leader = cell.leader().await;
    let follower = cell.other_than(leader);
    // From the database, not from the leader: it still passes requests on.
    cell.members[follower].database.blackhole(true);
    let cut = Instant::now();
    deadline::answered("it was cut off for a while", deadline::SOON, async || {
        checker.goes_on().await;
        (cut.elapsed() > Duration::from_secs(6)).then_some(())
    })
    .await;
    assert_eq!(cell.leader().await, leader, "no other could lead");
    cell.members[follower].database.blackhole(false);
    checker.goes_on().await;
    // From the leader, not from the database: it can pass nothing on, and may not lead.
    for refuses in [true, false] {
        match refuses {
            true => cell.members[leader].door.refuse(true),
            false => cell.members[leader].door.blackhole(true),
        }
        cell.members[leader].door.cut();
        let cut = Instant::now();
        deadline::answered("it was cut off for a while", deadline::SOON, async || {
            let reply = cell.secret(leader).get("/api/v1/me").await;
            assert_eq!(reply.status, 200, "the leader itself answers");
            (cut.elapsed() > Duration::from_secs(4)).then_some(())
        })
        .await;
        assert!(cell.says(leader, "/leaderz").await, "it was not replaced");
        cell.members[leader].door.refuse(false);
        cell.members[leader].door.blackhole(false);
        checker.goes_on().await;
    }
    assert_eq!(cell.leader().await, leader);
    checker.finish(&mut cell).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commits_and_answers_that_are_lost_on_their_way_are_done_once() {
    let mut cell = Cluster::start().await;
    let checker = Checker::start(&cell).await;
    for round in 0..if is_long() { 60 } else { 10 } {
        let leader = cell.leader().await;
        let (database, door) = (&cell.members[leader].database, &cell.members[leader].door);
        match round % 5 {
            0 => database.lose_next_answer_with(b"INSERT 0 "),
            1 => database.lose_next_request(),
            2 => door.lose_next_answer(),
            3 => door.lose_next_request(),
            _ => {
                let ended = cell.postgres.psql(&format!(
                    "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = '{}'",
                    cell.name
                ));
                assert_ne!(ended, "0");
            }
        }
        checker.goes_on().await;
    }
    checker.finish(&mut cell).await;
}
