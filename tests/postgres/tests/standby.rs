//! Standbys follow, hold up commits, and take over.
#![allow(
    clippy::unwrap_used,
    reason = "a panic in a test is a failed test, which is the point"
)]

use std::thread;

use postgres_kit::{Postgres, wait::until};

#[test]
fn a_commit_waits_for_a_synchronous_standby_which_has_it_once_promoted() {
    let primary = Postgres::start();
    primary.psql("CREATE TABLE kept (n int)");
    let standby = primary.add_standby(true);
    let sql = "SELECT application_name, sync_state FROM pg_stat_replication";
    assert_eq!(primary.psql(sql), "standby_1|sync");

    standby.freeze();
    thread::scope(|scope| {
        let commit = scope.spawn(|| primary.psql("INSERT INTO kept VALUES (1)"));
        let waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
        until("the commit waits", || {
            (primary.psql(waiting) == "1").then_some(())
        });
        assert!(!commit.is_finished());
        standby.thaw();
        commit.join().unwrap();
    });

    let follower = primary.add_standby(false);
    let sql = "SELECT sync_state FROM pg_stat_replication ORDER BY application_name";
    assert_eq!(primary.psql(sql), "sync\nasync");
    assert!(follower.try_psql("postgres", "DELETE FROM kept").is_err());

    primary.kill();
    standby.promote();
    standby.psql("INSERT INTO kept VALUES (2)");
    assert_eq!(standby.psql("SELECT sum(n) FROM kept"), "3");
}
