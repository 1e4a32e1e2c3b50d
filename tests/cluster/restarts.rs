//! Processes that are restarted in turn, as for an upgrade.

use std::time::{Duration, Instant};

use crate::{
    checker::{Checker, print_times},
    client_sim::End,
    members::{Cluster, is_long},
};

/// Without service while the leader hands over: generous, since a busy machine is slow; the figure is printed.
const AWAY_WITHIN: Duration = Duration::from_secs(5);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn processes_are_restarted_in_turn_and_no_request_fails_for_good() {
    let mut cell = Cluster::start().await;
    let checker = Checker::start(&cell).await;
    let mut away = Vec::new();
    for round in 0..if is_long() { 20 } else { 1 } {
        let leader = cell.leader().await;
        let mut order: Vec<usize> = (0..cell.members.len()).filter(|at| *at != leader).collect();
        match round % 2 {
            0 => order.push(leader),
            _ => order.insert(0, leader),
        }
        for member in order {
            let led = cell.leader().await == member;
            // As a load balancer does after a notice: it is stopped once nothing is under way to it. What still is
            // there is to be finished.
            checker.avoid(&[member]);
            checker.goes_on().await;
            let started = Instant::now();
            let status = cell.members[member].terminate().await;
            assert!(status.success(), "{status}");
            let ended = started.elapsed();
            if led {
                away.push(checker.away(started).await);
                println!("the leader's end took {ended:?}");
            }
            checker.goes_on().await;
            println!(
                "longest time without an answer (led: {led}): {:?}",
                checker.longest_silence(started)
            );
            let failed: Vec<_> = checker
                .calls(started)
                .into_iter()
                .filter(|call| matches!(call.end, End::Broken | End::Refused))
                .collect();
            assert!(
                failed.is_empty(),
                "while {member} was restarted (led: {led}): {failed:?}"
            );
            cell.repair().await;
            checker.avoid(&[]);
            checker.goes_on().await;
        }
    }
    print_times("SIGTERM of the leader to the first answer", &mut away);
    assert!(away.iter().all(|time| *time < AWAY_WITHIN), "{away:?}");
    checker.finish(&mut cell).await;
}
