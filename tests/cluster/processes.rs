//! Processes that die, freeze and are restarted in turn.

use std::time::{Duration, Instant};

use kit::{deadline, launch::ADMIN_TOKEN};
use rustix::process::Signal;
use serde_json::json;

use crate::{
    checker::{Checker, print_times},
    members::{Cluster, EXIT_RESTART, is_long},
};

/// For a fail-over, from the kill to the first answer.
const BACK_WITHIN: Duration = Duration::from_secs(10);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_leader_that_is_killed_is_replaced_within_seconds_and_nothing_is_lost() {
    let mut cell = Cluster::start().await;
    let checker = Checker::start(&cell).await;
    let mut away = Vec::new();
    for _ in 0..if is_long() { 20 } else { 3 } {
        let leader = cell.leader().await;
        let killed = Instant::now();
        cell.members[leader].kill().await;
        let time = checker.away(killed).await;
        assert!(time < BACK_WITHIN, "no answer for {time:?}");
        away.push(time);
        cell.repair().await;
        checker.goes_on().await;
    }
    print_times("SIGKILL of the leader to the first answer", &mut away);
    checker.finish(&mut cell).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_leader_that_was_frozen_shows_nothing_stale() {
    let mut cell = Cluster::start().await;
    let checker = Checker::start(&cell).await;
    let former = cell.leader().await;
    let frozen = Instant::now();
    cell.members[former].signal(Signal::STOP);
    let others_lead = deadline::answered("another leads", deadline::SOON, async || {
        let now = cell.leader().await;
        (now != former).then_some(())
    });
    others_lead.await;
    println!("SIGSTOP to the next leader: {:?}", frozen.elapsed());
    // Past its lease in any case, with answers that wait in its sockets.
    checker.goes_on().await;
    deadline::until("its clients have waited", deadline::SOON, || {
        (frozen.elapsed() > Duration::from_secs(8)).then_some(())
    })
    .await;
    cell.members[former].signal(Signal::CONT);
    let status = cell.members[former].ends().await;
    assert_eq!(status.code(), Some(EXIT_RESTART), "{status}");
    checker.goes_on().await;
    checker.finish(&mut cell).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_leader_whose_disk_is_full_hands_over_to_one_with_room() {
    let mut cell = Cluster::start().await;
    let full = cell.leader().await;
    assert!(cell.members[full].terminate().await.success());
    // More than any disk has.
    cell.members[full]
        .relaunch(|it| it.env("SCRIP_JOURNAL_MIN_FREE_BYTES", (1_u64 << 60).to_string()));
    cell.members[full].start().await;
    cell.is_ready(full).await;
    for member in (0..3).filter(|member| *member != full) {
        cell.members[member].kill().await;
    }
    // It leads where no other does, and accepts nothing.
    assert_eq!(cell.leader().await, full);
    let grant = json!({
        "externalUserId": "u", "productId": cell.project.product, "amount": 1, "idempotencyKey": "k",
    });
    let refused = cell.secret(full).post("/api/v1/credit", &grant).await;
    assert!(matches!(refused.status, 503 | 507), "{}", refused.status);
    let other = (full + 1) % 3;
    cell.members[other].start().await;
    let ended = cell.members[full].ends().await;
    assert_eq!(ended.code(), Some(EXIT_RESTART), "{ended}");
    assert_eq!(cell.leader().await, other);
    cell.client(other, ADMIN_TOKEN)
        .get("/readyz")
        .await
        .expect(200);
    cell.secret(other)
        .post("/api/v1/credit", &grant)
        .await
        .expect(200);
}
