//! Processes that die, freeze and are restarted in turn.

use std::time::{Duration, Instant};

use kit::deadline;
use rustix::process::Signal;

use crate::{
    checker::{Checker, print_times},
    members::{Cluster, START_ANEW, is_long},
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
        cell.mend().await;
        checker.goes_on().await;
    }
    print_times("SIGKILL of the leader to the first answer", &mut away);
    checker.finish(&mut cell).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_leader_that_was_frozen_tells_nobody_what_is_no_longer_so() {
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
    assert_eq!(status.code(), Some(START_ANEW), "{status}");
    checker.goes_on().await;
    checker.finish(&mut cell).await;
}
