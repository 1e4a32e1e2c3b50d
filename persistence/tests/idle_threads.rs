//! What a group commit wakes of sled's pool, on a process of its own: the pool is the process'. A sled that has
//! another pool, or wakes it otherwise, fails here.
#![allow(
    clippy::unwrap_used,
    clippy::cast_possible_wrap,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that cannot go on has to stop"
)]

mod common;

use std::{collections::BTreeMap, fs};

use common::WalletModel;
use persistence::{Options, Outcome, SledJournal};

const COMMITS: u64 = 200;

/// How often each thread of sled's pool gave up the processor of its own accord, by thread.
fn switches() -> BTreeMap<String, u64> {
    let threads = fs::read_dir("/proc/self/task").unwrap();
    let threads = threads.filter_map(|thread| {
        let folder = thread.ok()?.path();
        let name = fs::read_to_string(folder.join("comm")).ok()?;
        let status = fs::read_to_string(folder.join("status")).ok()?;
        let count = status
            .lines()
            .find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"))?;
        Some((name.trim().to_owned(), count.trim().parse().ok()?))
    });
    threads
        .filter(|(name, _)| name.starts_with("sled-io"))
        .collect()
}

/// How many threads of the pool were woken by more than every other one of some group commits.
fn woken_by_commits(occupy_idle_threads: bool) -> usize {
    let directory = tempfile::tempdir().unwrap();
    let journal = SledJournal::open(Options {
        occupy_idle_threads,
        ..Options::new(directory.path())
    })
    .unwrap();
    let mut model = WalletModel::default();
    let commit = |event| {
        let (_, outcome) = common::commit(&journal, &[event]);
        assert_eq!(outcome, Outcome::Durable);
    };
    commit(model.created(1));
    let before = switches();
    for _ in 0..COMMITS {
        commit(model.granted(1));
    }
    let woken = |(name, count): (&String, &u64)| {
        count - before.get(name).copied().unwrap_or_default() > COMMITS / 2
            && before.contains_key(name)
    };
    switches().iter().filter(|it| woken((it.0, it.1))).count()
}

#[test]
fn a_group_commit_wakes_at_most_one_thread_that_finds_nothing_to_do() {
    assert!(
        woken_by_commits(false) > 2,
        "sled wakes few by itself: occupying them is needless"
    );
    let woken = woken_by_commits(true);
    assert!((1..=2).contains(&woken), "{woken} threads were woken");
    // Given back when the store is closed: the next one of this process has them all.
    assert!(woken_by_commits(false) > 2, "they are still occupied");
}
