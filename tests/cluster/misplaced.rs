//! Processes that do not belong where they are started, or have another clock.

use std::{fs, path::Path};

use kit::{deadline, ledger};
use serde_json::json;

use crate::{checker::Checker, members::Cluster};

/// Where Debian's `faketime` has its library.
const FAKETIME: &str = "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1";

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &target),
            false => drop(fs::copy(entry.path(), target).unwrap()),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_of_a_data_directory_is_one_more_process_and_nothing_is_doubled() {
    let mut cell = Cluster::start().await;
    let checker = Checker::start(&cell).await;
    let leader = cell.leader().await;
    // Both go on from what the leader knew when it died.
    cell.members[leader].kill().await;
    let mut twin = cell.further("twin");
    copy(cell.members[leader].data_dir(), twin.data_dir());
    twin.start().await;
    cell.members.push(twin);
    cell.repair().await;
    checker.goes_on().await;
    let leader = cell.leader().await;
    cell.members[leader].kill().await;
    checker.goes_on().await;
    checker.finish(&mut cell).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_with_another_server_key_is_refused_and_disturbs_no_other() {
    let mut cell = Cluster::start().await;
    let checker = Checker::start(&cell).await;
    let leader = cell.leader().await;
    let mut stranger = cell.further("stranger");
    stranger.relaunch(|launch| launch.env("SCRIP_SERVER_KEY", "ab".repeat(32)));
    let mut process = stranger.begin();
    let status = process.wait(deadline::SOON).await;
    let output = process.output().join("\n");
    assert!(!status.success() && status.code() != Some(75), "{status}");
    assert!(output.contains("server key"), "{output}");
    assert!(!output.contains(&"ab".repeat(32)), "{output}");
    checker.goes_on().await;
    assert_eq!(cell.leader().await, leader);
    checker.finish(&mut cell).await;
}

/// The instants of a ledger, oldest first, in seconds.
async fn instants(cell: &Cluster, member: usize, wallet: &str) -> Vec<i64> {
    let path = format!("/api/v1/wallets/external/ledger?externalUserId={wallet}&limit=100");
    let page = cell.secret(member).get(&path).await.expect(200);
    assert_eq!(
        ledger::page(&page).len(),
        page["entries"].as_array().unwrap().len()
    );
    let mut all: Vec<i64> = page["entries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| {
            let text = entry["createdAt"]
                .as_str()
                .unwrap_or_else(|| panic!("{entry}"));
            text.parse::<jiff::Timestamp>().unwrap().as_second()
        })
        .collect();
    all.reverse();
    all
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_leader_whose_clock_is_a_day_ahead_goes_on_from_the_time_before() {
    if !Path::new(FAKETIME).exists() {
        println!("skipped: install the Debian package faketime");
        return;
    }
    let mut cell = Cluster::start().await;
    let grant = |key: &str| {
        json!({
            "externalUserId": "u", "productId": cell.project.product, "amount": 1, "idempotencyKey": key,
        })
    };
    let grants = ["first", "second", "third"].map(grant);
    let path = "/api/v1/credit";
    cell.secret(0).post(path, &grants[0]).await.expect(200);
    let offset = "+1d";
    let leader = cell.leader().await;
    let follower = cell.other_than(leader);
    for member in (0..3).filter(|member| *member != leader) {
        assert!(cell.members[member].terminate().await.success());
    }
    cell.members[follower].relaunch(|launch| {
        launch
            .env("LD_PRELOAD", FAKETIME)
            .env("FAKETIME", offset)
            .env("FAKETIME_DONT_FAKE_MONOTONIC", "1")
    });
    cell.members[follower].start().await;
    cell.is_ready(follower).await;
    cell.members[leader].kill().await;
    assert_eq!(cell.leader().await, follower);
    cell.secret(follower)
        .post(path, &grants[1])
        .await
        .expect(200);
    // Nor does its successor, whose clock is right, take a day from it.
    for member in (0..3).filter(|member| *member != follower) {
        cell.members[member].start().await;
        cell.is_ready(member).await;
    }
    cell.members[follower].kill().await;
    let next = cell.leader().await;
    cell.secret(next).post(path, &grants[2]).await.expect(200);
    let at = instants(&cell, next, "u").await;
    assert_eq!(at.len(), 3, "{at:?}");
    let steps: Vec<i64> = at.windows(2).map(|two| two[1] - two[0]).collect();
    assert!(
        steps.iter().all(|step| (0..60).contains(step)),
        "{offset}: {steps:?}"
    );
    cell.repair().await;
    cell.stop_and_verify().await;
}
