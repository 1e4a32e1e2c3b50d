//! The rows of snapshots in a real database, for the tests of what is built on them: time passes when they say so.

use std::{
    sync::atomic::{AtomicI64, Ordering},
    thread,
};

use persistence::{Error, frames::FramePosition};
use postgres_kit::{Postgres, wait::until};

use super::TestRows;
use crate::{
    postgres::{Server, schema, segments::Segments, snapshots::PostgresRows},
    snapshots::{ChunkName, NewSnapshot, SnapshotAdded, SnapshotRows},
};

/// See the module.
pub(crate) struct InPostgres {
    rows: PostgresRows,
    server: &'static Postgres,
    database: String,
    /// How much has passed by tests' word: what is stored is moved back by it, and what is shown forth.
    passed: AtomicI64,
}

impl InPostgres {
    /// A log without frames, in a database of its own.
    pub(crate) fn new() -> Self {
        Self::on(postgres_kit::shared())
    }

    fn on(postgres: &'static Postgres) -> Self {
        let database = postgres.create_database();
        let server = Server::parse(&postgres.url(&database)).unwrap();
        let segments = Segments::new(0, 14);
        server.wait(async {
            let mut connection = server.connect().await.unwrap();
            let made = schema::make(&mut connection, segments, FramePosition::default(), b"k");
            made.await.unwrap();
        });
        Self {
            rows: PostgresRows::new(server, segments, None),
            server: postgres,
            database,
            passed: AtomicI64::default(),
        }
    }

    fn passed(&self) -> i64 {
        self.passed.load(Ordering::Relaxed)
    }

    fn psql(&self, sql: &str) -> String {
        self.server.psql_in(&self.database, sql)
    }
}

impl TestRows for InPostgres {
    fn pass(&self, micros: i64) {
        self.passed.fetch_add(micros, Ordering::Relaxed);
        self.psql(&format!(
            "UPDATE scrip.chunk SET used_at = used_at - {micros} * interval '1 microsecond'"
        ));
    }

    fn trim(&self, base: u64) {
        self.psql(&format!("UPDATE scrip.cell SET base_lsn = {base}"));
    }

    fn damage(&self, name: &[u8], change: &dyn Fn(&mut Vec<u8>)) {
        if let Ok(name) = name.try_into() {
            let mut bytes = self.rows.chunk(name).unwrap().unwrap();
            change(&mut bytes);
            return self.rows.put_chunk(name, &bytes).unwrap();
        }
        let name = String::from_utf8_lossy(name);
        let mut bytes = self.rows.manifest(&name).unwrap().unwrap();
        change(&mut bytes);
        let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        self.psql(&format!(
            "UPDATE scrip.snapshot SET manifest = decode('{digits}', 'hex') WHERE name = '{name}'"
        ));
    }
}

impl SnapshotRows for InPostgres {
    fn now(&self) -> Result<i64, Error> {
        Ok(self.rows.now()? + self.passed())
    }

    fn use_chunk(&self, name: &ChunkName) -> Result<bool, Error> {
        self.rows.use_chunk(name)
    }

    fn put_chunk(&self, name: &ChunkName, bytes: &[u8]) -> Result<(), Error> {
        self.rows.put_chunk(name, bytes)
    }

    fn chunk(&self, name: &ChunkName) -> Result<Option<Vec<u8>>, Error> {
        self.rows.chunk(name)
    }

    fn add_snapshot(&self, snapshot: &NewSnapshot<'_>) -> Result<SnapshotAdded, Error> {
        self.rows.add_snapshot(snapshot)
    }

    fn snapshots(&self) -> Result<Vec<(String, FramePosition)>, Error> {
        self.rows.snapshots()
    }

    fn manifest(&self, name: &str) -> Result<Option<Vec<u8>>, Error> {
        self.rows.manifest(name)
    }

    fn remove_snapshot(&self, name: &str) -> Result<(), Error> {
        self.rows.remove_snapshot(name)
    }

    fn chunks_unused_since(&self, moment: i64) -> Result<Vec<ChunkName>, Error> {
        self.rows.chunks_unused_since(moment - self.passed())
    }

    fn remove_chunks(&self, names: &[ChunkName], moment: i64) -> Result<u64, Error> {
        self.rows.remove_chunks(names, moment - self.passed())
    }
}

const SNAPSHOT: NewSnapshot<'_> = NewSnapshot {
    name: "a",
    applied: FramePosition {
        lsn: 0,
        hash: [0; 32],
    },
    head: FramePosition {
        lsn: 0,
        hash: [0; 32],
    },
    manifest: b"manifest",
    chunks: &[],
};

#[test]
fn a_snapshot_that_is_added_while_the_log_is_trimmed_past_it_does_not_count() {
    let cell = InPostgres::new();
    // Trims, and ends once somebody waits for that.
    let trim = "DO $$ BEGIN UPDATE scrip.cell SET base_lsn = 5; \
                LOOP PERFORM pg_stat_clear_snapshot(); \
                EXIT WHEN EXISTS (SELECT 1 FROM pg_stat_activity \
                WHERE wait_event_type = 'Lock' AND datname = current_database()); \
                PERFORM pg_sleep(0.01); END LOOP; END $$";
    thread::scope(|scope| {
        scope.spawn(|| cell.psql(trim));
        until("the log is being trimmed", || {
            let begun =
                cell.psql("SELECT count(*) FROM pg_locks WHERE relation = 'scrip.cell'::regclass");
            (begun != "0").then_some(())
        });
        assert_eq!(
            cell.add_snapshot(&SNAPSHOT).unwrap(),
            SnapshotAdded::Trimmed
        );
    });
    assert_eq!(cell.snapshots().unwrap(), []);
}

#[test]
fn a_snapshot_that_a_standby_has_not_confirmed_is_not_said_to_be_there() {
    let server = Box::leak(Box::new(Postgres::start()));
    let cell = InPostgres::on(server);
    server.set("synchronous_standby_names", "gone");
    thread::scope(|scope| {
        let adding = scope.spawn(|| cell.add_snapshot(&SNAPSHOT));
        until("it waits for the standby, for ever", || {
            let ended = cell.psql(
                "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'",
            );
            (ended == "t").then_some(())
        });
        let refused = adding.join().unwrap().unwrap_err();
        assert!(refused.to_string().contains("warned"), "{refused}");
    });
    // It is there all the same, and on a new connection that is said.
    server.set("synchronous_standby_names", "");
    assert_eq!(
        cell.add_snapshot(&SNAPSHOT).unwrap(),
        SnapshotAdded::NameTaken
    );
}
