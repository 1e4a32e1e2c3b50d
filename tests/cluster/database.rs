//! A database that restarts, dies, freezes or has no connection to spare.

use std::time::{Duration, Instant};

use kit::deadline;
use tokio::task::spawn_blocking;

use crate::{
    checker::{Checker, print_times},
    members::{Cluster, is_long},
};

/// From the database's return to the first answer.
const BACK_WITHIN: Duration = Duration::from_secs(15);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_is_restarted_or_killed_has_lost_nothing() {
    let mut cell = Cluster::start().await;
    let checker = Checker::start(&cell).await;
    let mut away = Vec::new();
    for round in 0..if is_long() { 20 } else { 2 } {
        let postgres = std::sync::Arc::clone(&cell.postgres);
        let again = spawn_blocking(move || {
            match round % 2 {
                0 => postgres.kill(),
                _ => postgres.stop(),
            }
            postgres.start_again();
            Instant::now()
        });
        let again = again.await.unwrap();
        away.push(checker.away(again).await);
        checker.goes_on().await;
        cell.repair().await;
    }
    print_times("the database is back to the first answer", &mut away);
    assert!(away.iter().all(|time| *time < BACK_WITHIN), "{away:?}");
    checker.finish(&mut cell).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_is_frozen_or_full_of_connections_is_waited_for() {
    let mut cell = Cluster::start().await;
    let checker = Checker::start(&cell).await;
    let postgres = std::sync::Arc::clone(&cell.postgres);
    let frozen = Instant::now();
    spawn_blocking(move || postgres.freeze()).await.unwrap();
    deadline::until("it was frozen for long", deadline::SOON, || {
        (frozen.elapsed() > Duration::from_secs(15)).then_some(())
    })
    .await;
    let postgres = std::sync::Arc::clone(&cell.postgres);
    spawn_blocking(move || postgres.thaw()).await.unwrap();
    let thawed = Instant::now();
    println!(
        "the database thaws to the first answer: {:?}",
        checker.away(thawed).await
    );
    assert!(thawed.elapsed() < BACK_WITHIN, "{:?}", thawed.elapsed());
    cell.repair().await;
    checker.goes_on().await;

    // Only superusers get a connection, and all open ones end.
    cell.postgres
        .psql(&format!("ALTER DATABASE {} CONNECTION LIMIT 0", cell.name));
    cell.postgres.psql(&format!(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{}'",
        cell.name
    ));
    let full = Instant::now();
    deadline::until("it had no connections for a while", deadline::SOON, || {
        (full.elapsed() > Duration::from_secs(4)).then_some(())
    })
    .await;
    cell.postgres
        .psql(&format!("ALTER DATABASE {} CONNECTION LIMIT -1", cell.name));
    let again = Instant::now();
    println!(
        "connections are free again to the first answer: {:?}",
        checker.away(again).await
    );
    assert!(again.elapsed() < BACK_WITHIN, "{:?}", again.elapsed());
    cell.repair().await;
    checker.finish(&mut cell).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_without_room_refuses_each_commit_and_is_waited_for() {
    let mut cell = Cluster::start().await;
    let checker = Checker::start(&cell).await;
    // As a tablespace without room answers: 53100, and nothing is written.
    cell.postgres.psql_in(
        &cell.name,
        "CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS \
         $$ BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$; \
         CREATE TRIGGER no_room BEFORE INSERT ON scrip.log_0_0 EXECUTE FUNCTION no_room()",
    );
    let full = Instant::now();
    deadline::until("it had no room for a while", deadline::SOON, || {
        (full.elapsed() > Duration::from_secs(4)).then_some(())
    })
    .await;
    cell.postgres
        .psql_in(&cell.name, "DROP TRIGGER no_room ON scrip.log_0_0");
    let again = Instant::now();
    println!(
        "there is room again to the first answer: {:?}",
        checker.away(again).await
    );
    assert!(again.elapsed() < BACK_WITHIN, "{:?}", again.elapsed());
    cell.repair().await;
    checker.finish(&mut cell).await;
}
