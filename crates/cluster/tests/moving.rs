//! An installation that moves into a database and out of it, and is killed on its way: the same again finishes it, and
//! nothing that was acknowledged is lost.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::cast_possible_wrap,
    clippy::panic,
    dead_code,
    reason = "a panic in a test is a failed test, which is the point"
)]

#[path = "../../../persistence/tests/common/mod.rs"]
mod common;
#[path = "common/member.rs"]
mod member;

use std::{fs, path::Path, sync::Arc};

use cluster::postgres::{Followed, Follower};
use common::{Trouble, WalletModel, commit, crash_image, options, version};
use member::{database, lead, member};
use persistence::{Log, Membership, Outcome, SledJournal, Step, verify};

/// Events of the one wallet.
const EVENTS: u64 = 6;

/// Steps of applying and writing.
const STEPS: [Step; 6] = [
    Step::InsertFrame,
    Step::FlushFrames,
    Step::Checkpoint,
    Step::WriteMeta,
    Step::FlushCheckpoint,
    Step::SyncCheckpoint,
];
/// How often each of them succeeds before it fails.
const CUTS: u32 = 2;

fn fill(journal: &SledJournal) {
    let mut model = WalletModel::default();
    for _ in 0..EVENTS {
        assert_eq!(commit(journal, &[model.next(1)]).1, Outcome::Durable);
    }
}

/// What a directory has by itself.
fn is_whole(dir: &Path) {
    let alone = SledJournal::open(options(dir, &Arc::default())).unwrap();
    assert_eq!(version(&alone, 1), EVENTS);
    alone.close().unwrap();
    drop(alone);
    assert_eq!(verify(dir).unwrap().problems, Vec::<String>::new());
}

/// As `scrip cluster leave` does.
fn leave(dir: &Path, url: &str) {
    let follower = Follower::join(options(dir, &Arc::default()), member(url)).unwrap();
    match follower.follow(&|| false).unwrap() {
        Followed::Leads { journal, .. } => journal.leave().unwrap(),
        Followed::Taken { is_own: true } => Membership::remove(dir).unwrap(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn moving_out_that_is_cut_off_anywhere_is_finished_by_the_same_again() {
    for step in STEPS {
        let (url, trouble) = (database(), Arc::new(Trouble::default()));
        let dir = tempfile::tempdir().unwrap();
        let leader = lead(options(dir.path(), &trouble), member(&url));
        fill(&leader);
        trouble.fail(step, 0);
        leader.leave().unwrap_err();
        let image = crash_image(dir.path());
        leave(image.path(), &url);
        is_whole(image.path());
    }
}

#[test]
fn moving_in_that_is_cut_off_anywhere_is_finished_by_the_same_again() {
    for step in STEPS {
        for cuts in 0..CUTS {
            let (url, trouble) = (database(), Arc::new(Trouble::default()));
            let dir = tempfile::tempdir().unwrap();
            let alone = SledJournal::open(options(dir.path(), &Arc::default())).unwrap();
            fill(&alone);
            alone.close().unwrap();
            drop(alone);
            trouble.fail(step, cuts);
            let joined = Follower::join(options(dir.path(), &trouble), member(&url));
            let image = crash_image(dir.path());
            let is_over = joined.is_ok();
            drop(joined);
            let leader = lead(options(image.path(), &Arc::default()), member(&url));
            assert_eq!(version(&*leader, 1), EVENTS, "{step:?} after {cuts}");
            leader.close().unwrap();
            if is_over {
                break;
            }
        }
    }
}

#[test]
fn a_directory_whose_log_was_made_and_that_did_not_note_it_yet_is_still_the_one() {
    let (url, dir) = (database(), tempfile::tempdir().unwrap());
    let alone = SledJournal::open(options(dir.path(), &Arc::default())).unwrap();
    fill(&alone);
    alone.close().unwrap();
    drop(alone);
    let follower = Follower::join(options(dir.path(), &Arc::default()), member(&url)).unwrap();
    assert!(matches!(
        follower.follow(&|| true).unwrap(),
        Followed::Stopped
    ));
    fs::remove_file(dir.path().join("cluster.json")).unwrap();
    let leader = lead(options(dir.path(), &Arc::default()), member(&url));
    assert_eq!(version(&*leader, 1), EVENTS);
    leader.close().unwrap();
}
