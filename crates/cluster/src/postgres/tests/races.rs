//! Processes that add and remove snapshots of one cell at the same time: with anything between two statements of one of
//! them, a snapshot that counts is complete.

use std::{collections::VecDeque, sync::Arc};

use parking_lot::Mutex;
use persistence::{Error, backup::Repository, frames::FramePosition};
use proptest::prelude::*;

use super::{TestRows, in_postgres::InPostgres, manifest, memory_rows::MemoryRows};
use crate::snapshots::{ChunkName, DatabaseRepository, NewSnapshot, SnapshotAdded, SnapshotRows};

const MINUTE: i64 = 60_000_000;

/// What one process does.
#[derive(Debug, Clone)]
enum Act {
    /// Copies these chunks, and then lets the snapshot count.
    Snapshot(Vec<u8>),
    RemoveOldest,
    Sweep,
    /// So many minutes pass.
    Pass(i64),
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        3 => prop::collection::vec(0..6_u8, 1..4).prop_map(Act::Snapshot),
        2 => Just(Act::RemoveOldest),
        3 => Just(Act::Sweep),
        2 => (1..600_i64).prop_map(Act::Pass),
    ]
}

/// Rows to which others come between two statements.
struct Interrupted {
    rows: Arc<dyn TestRows>,
    /// How much the others do before each of the next statements.
    others: Mutex<VecDeque<Vec<Act>>>,
}

impl Interrupted {
    fn rows(&self) -> &dyn TestRows {
        let next = self.others.lock().pop_front();
        let repository = DatabaseRepository::new(Arc::clone(&self.rows) as Arc<dyn SnapshotRows>);
        next.iter()
            .flatten()
            .for_each(|act| run(&repository, &*self.rows, act, "b"));
        &*self.rows
    }
}

impl SnapshotRows for Interrupted {
    fn now(&self) -> Result<i64, Error> {
        self.rows().now()
    }

    fn use_chunk(&self, name: &ChunkName) -> Result<bool, Error> {
        self.rows().use_chunk(name)
    }

    fn put_chunk(&self, name: &ChunkName, bytes: &[u8]) -> Result<(), Error> {
        self.rows().put_chunk(name, bytes)
    }

    fn chunk(&self, name: &ChunkName) -> Result<Option<Vec<u8>>, Error> {
        self.rows().chunk(name)
    }

    fn add_snapshot(&self, snapshot: &NewSnapshot<'_>) -> Result<SnapshotAdded, Error> {
        self.rows().add_snapshot(snapshot)
    }

    fn snapshots(&self) -> Result<Vec<(String, FramePosition)>, Error> {
        self.rows().snapshots()
    }

    fn manifest(&self, name: &str) -> Result<Option<Vec<u8>>, Error> {
        self.rows().manifest(name)
    }

    fn remove_snapshot(&self, name: &str) -> Result<(), Error> {
        self.rows().remove_snapshot(name)
    }

    fn chunks_unused_since(&self, moment: i64) -> Result<Vec<ChunkName>, Error> {
        self.rows().chunks_unused_since(moment)
    }

    fn remove_chunks(&self, names: &[ChunkName], moment: i64) -> Result<u64, Error> {
        self.rows().remove_chunks(names, moment)
    }
}

/// Some of it may be refused, or find nothing.
fn run(repository: &dyn Repository, rows: &dyn TestRows, act: &Act, who: &str) {
    match act {
        Act::Snapshot(contents) => {
            let put = contents.iter().map(|content| repository.put(&[*content]));
            let Ok(put) = put.collect::<Result<Vec<_>, _>>() else {
                return;
            };
            let names: Vec<_> = put.iter().map(|put| put.name.as_str()).collect();
            let name = format!("{who}-{:06}", repository.manifests().unwrap().len());
            let _refused = repository.put_manifest(&name, &manifest(&names));
        }
        Act::RemoveOldest => {
            if let Some(oldest) = repository.manifests().unwrap().first() {
                repository.remove(oldest).unwrap();
            }
        }
        Act::Sweep => {
            repository.sweep().unwrap_or_default();
        }
        Act::Pass(minutes) => rows.pass(minutes * MINUTE),
    }
}

/// One process acts, and others come between its statements: what a snapshot that counts names is there throughout.
fn stays_whole(
    rows: Arc<dyn TestRows>,
    acts: &[Act],
    others: Vec<Vec<Act>>,
) -> Result<(), TestCaseError> {
    let interrupted = Interrupted {
        rows: Arc::clone(&rows),
        others: Mutex::new(others.into()),
    };
    let repository = DatabaseRepository::new(Arc::new(interrupted));
    for act in acts {
        run(&repository, &*rows, act, "a");
        let quiet = DatabaseRepository::new(Arc::clone(&rows) as Arc<dyn SnapshotRows>);
        for chunk in persistence::backup::named(&quiet).unwrap().unwrap() {
            prop_assert!(quiet.get(&chunk).is_ok(), "{chunk} is gone");
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn a_snapshot_that_counts_is_whole_in_any_race(
        acts in prop::collection::vec(act(), 1..12),
        others in prop::collection::vec(prop::collection::vec(act(), 0..4), 0..60),
    ) {
        stays_whole(Arc::new(MemoryRows::beside(&Arc::default())), &acts, others)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 40, ..ProptestConfig::with_cases(16) })]

    #[test]
    fn a_snapshot_in_a_database_that_counts_is_whole_in_any_race(
        acts in prop::collection::vec(act(), 1..12),
        others in prop::collection::vec(prop::collection::vec(act(), 0..4), 0..60),
    ) {
        stays_whole(Arc::new(InPostgres::new()), &acts, others)?;
    }
}
