//! What every repository promises, and what one that several processes share does besides.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a panic in a test is a failed test, which is the point"
)]

mod in_postgres;
#[path = "../../../tests/common/memory_rows.rs"]
mod memory_rows;
mod races;
#[path = "../../../../../persistence/tests/common/shared_log.rs"]
mod shared_log;

use std::{fs, path::PathBuf, sync::Arc};

use parking_lot::Mutex;
use persistence::{
    Error,
    backup::{DirectoryRepository, Manifest, Repository, from_hex},
};
use serde_json::json;

use in_postgres::InPostgres;
use memory_rows::MemoryRows;
use shared_log::SharedLog;

use crate::snapshots::{DatabaseRepository, SnapshotRows};

const HOUR: i64 = 3_600_000_000;

/// What a disk does to stored bytes.
type Damage<'a> = &'a dyn Fn(&mut Vec<u8>);

/// A repository, and what reaches behind it.
trait Behind {
    fn repository(&self) -> &dyn Repository;
    fn damage(&self, chunk: &str, change: Damage<'_>);
    fn damage_manifest(&self, name: &str);
    /// Lets enough time pass that a chunk which nobody names may go.
    fn wait(&self);
}

struct InDirectory {
    folder: tempfile::TempDir,
    repository: DirectoryRepository,
}

impl InDirectory {
    fn path(&self, chunk: &str) -> PathBuf {
        self.folder
            .path()
            .join("chunks")
            .join(&chunk[..2])
            .join(chunk)
    }
}

impl Behind for InDirectory {
    fn repository(&self) -> &dyn Repository {
        &self.repository
    }

    fn damage(&self, chunk: &str, change: Damage<'_>) {
        let mut bytes = fs::read(self.path(chunk)).unwrap();
        change(&mut bytes);
        fs::write(self.path(chunk), bytes).unwrap();
    }

    fn damage_manifest(&self, name: &str) {
        let path = self.folder.path().join(format!("backups/{name}.json"));
        fs::write(path, "{}").unwrap();
    }

    fn wait(&self) {}
}

/// Rows whose time passes when a test says so.
trait TestRows: SnapshotRows {
    fn pass(&self, micros: i64);
    /// Lets the log begin behind this frame.
    fn trim(&self, base: u64);
    /// Has the disk change what a chunk or, by its name, a manifest holds.
    fn damage(&self, name: &[u8], change: Damage<'_>);
}

impl TestRows for MemoryRows {
    fn pass(&self, micros: i64) {
        Self::pass(self, micros);
    }

    fn trim(&self, base: u64) {
        Self::trim(self, base);
    }

    fn damage(&self, name: &[u8], change: Damage<'_>) {
        Self::damage(self, name, change);
    }
}

struct InDatabase {
    rows: Arc<dyn TestRows>,
    repository: DatabaseRepository,
}

impl InDatabase {
    fn over(rows: Arc<dyn TestRows>) -> Self {
        let repository = DatabaseRepository::new(Arc::clone(&rows) as Arc<dyn SnapshotRows>);
        Self { rows, repository }
    }
}

impl Behind for InDatabase {
    fn repository(&self) -> &dyn Repository {
        &self.repository
    }

    fn damage(&self, chunk: &str, change: Damage<'_>) {
        self.rows.damage(&from_hex(chunk).unwrap(), change);
    }

    fn damage_manifest(&self, name: &str) {
        self.rows
            .damage(name.as_bytes(), &|bytes| *bytes = b"{}".to_vec());
    }

    fn wait(&self) {
        self.rows.pass(7 * HOUR);
    }
}

fn each(test: impl Fn(&dyn Behind)) {
    let folder = tempfile::tempdir().unwrap();
    let repository = DirectoryRepository::open_or_make(folder.path(), "this").unwrap();
    test(&InDirectory { folder, repository });
    each_database(|database| test(database));
}

fn each_database(test: impl Fn(&InDatabase)) {
    let log = Arc::<Mutex<SharedLog>>::default();
    test(&InDatabase::over(Arc::new(MemoryRows::beside(&log))));
    test(&InDatabase::over(Arc::new(InPostgres::new())));
}

/// A manifest that names these chunks.
fn manifest(chunks: &[&str]) -> Manifest {
    manifest_at(0, chunks)
}

/// The same of books that may be applied up to a frame.
fn manifest_at(head: u64, chunks: &[&str]) -> Manifest {
    let frame = |lsn| json!({ "lsn": lsn, "sha256": "0".repeat(64) });
    let manifest = json!({
        "format": 1, "version": "1", "madeAt": 1, "folded": frame(0), "fold": 1, "head": frame(head),
        "sections": [{ "name": "wallets", "records": 1, "bytes": 1, "chunks": chunks }],
    });
    serde_json::from_value(manifest).unwrap()
}

fn put(repository: &dyn Repository, content: &[u8]) -> String {
    repository.put(content).unwrap().name
}

fn damaged(error: Error, name: &str) {
    assert!(matches!(error, Error::Damaged(_)), "{error}");
    assert!(error.to_string().contains(name), "{error}");
}

#[test]
fn a_chunk_is_read_back_and_written_once() {
    each(|behind| {
        let repository = behind.repository();
        let first = repository.put(b"one").unwrap();
        assert!(first.written > 0);
        let again = repository.put(b"one").unwrap();
        assert_eq!((&again.name, again.written), (&first.name, 0));
        assert_eq!(repository.get(&first.name).unwrap(), b"one");
    });
}

#[test]
fn a_chunk_that_is_missing_or_damaged_is_named_and_written_again() {
    each(|behind| {
        let repository = behind.repository();
        let name = put(repository, b"one");
        let other = put(repository, b"another");
        let others = repository.read_chunk(&other).unwrap().unwrap();
        let missing = "ab".repeat(32);
        damaged(repository.get(&missing).unwrap_err(), &missing);
        // Cut short, nonsense, and a sound chunk that is not this one.
        let changes: [Damage<'_>; 3] = [
            &|bytes| bytes.truncate(5),
            &|bytes| *bytes = b"nonsense".to_vec(),
            &|bytes| bytes.clone_from(&others),
        ];
        for change in changes {
            behind.damage(&name, change);
            damaged(repository.get(&name).unwrap_err(), &name);
            assert!(repository.put(b"one").unwrap().written > 0);
            assert_eq!(repository.get(&name).unwrap(), b"one");
        }
    });
}

#[test]
fn a_backup_exists_once_its_manifest_does_and_until_that_is_removed() {
    each(|behind| {
        let repository = behind.repository();
        let chunk = put(repository, b"one");
        repository.sync().unwrap();
        assert_eq!(repository.manifests().unwrap(), [""; 0]);
        assert!(matches!(repository.manifest("b"), Err(Error::Unusable(_))));
        let one = manifest(&[&chunk]);
        repository.put_manifest("b", &one).unwrap();
        repository.put_manifest("a", &one).unwrap();
        assert_eq!(repository.manifests().unwrap(), ["a", "b"]);
        assert_eq!(repository.manifest("b").unwrap(), one);
        assert!(repository.put_manifest("b", &one).is_err(), "written over");
        repository.remove("b").unwrap();
        assert_eq!(repository.manifests().unwrap(), ["a"]);
        behind.damage_manifest("a");
        damaged(repository.manifest("a").unwrap_err(), "a");
    });
}

#[test]
fn chunks_go_once_no_manifest_names_them() {
    each(|behind| {
        let repository = behind.repository();
        let [one, both, two] = [&b"one"[..], b"both", b"two"].map(|it| put(repository, it));
        repository
            .put_manifest("a", &manifest(&[&one, &both]))
            .unwrap();
        repository
            .put_manifest("b", &manifest(&[&both, &two]))
            .unwrap();
        behind.wait();
        assert_eq!(repository.sweep().unwrap(), 0);
        repository.remove("a").unwrap();
        assert_eq!(repository.sweep().unwrap(), 1);
        damaged(repository.get(&one).unwrap_err(), &one);
        assert_eq!(repository.get(&both).unwrap(), b"both");
        // A manifest that cannot be read may name any chunk.
        let left = put(repository, b"left");
        behind.damage_manifest("b");
        behind.wait();
        assert_eq!(repository.sweep().unwrap(), 0);
        assert_eq!(repository.get(&left).unwrap(), b"left");
    });
}

#[test]
fn what_another_process_is_writing_or_uses_again_is_not_swept() {
    each_database(|InDatabase { rows, repository }| {
        let other = DatabaseRepository::new(Arc::clone(rows) as Arc<dyn SnapshotRows>);
        let old = put(&other, b"old");
        other.put_manifest("a", &manifest(&[&old])).unwrap();
        rows.pass(24 * HOUR);
        // While one copies, the other removes the snapshot that had a chunk of it.
        let chunks = [put(repository, b"old"), put(repository, b"new")];
        other.remove("a").unwrap();
        rows.pass(4 * HOUR);
        assert_eq!(other.sweep().unwrap(), 0);
        let new = manifest(&chunks.each_ref().map(String::as_str));
        repository.put_manifest("b", &new).unwrap();
        rows.pass(24 * HOUR);
        assert_eq!(other.sweep().unwrap(), 0);
        assert_eq!(repository.get(&chunks[0]).unwrap(), b"old");
    });
}

#[test]
fn a_snapshot_whose_chunks_were_swept_meanwhile_does_not_count() {
    each_database(|InDatabase { rows, repository }| {
        let chunk = put(repository, b"one");
        // The process stood still for a night.
        rows.pass(9 * HOUR);
        assert_eq!(repository.sweep().unwrap(), 1);
        let refused = repository
            .put_manifest("a", &manifest(&[&chunk]))
            .unwrap_err();
        assert!(refused.to_string().contains("were removed"), "{refused}");
        assert_eq!(repository.manifests().unwrap(), [""; 0]);
    });
}

/// Between what a sweep reads and what it removes.
#[test]
fn a_snapshot_that_is_added_during_a_sweep_stays_whole() {
    each_database(|InDatabase { rows, repository }| {
        let chunk = put(repository, b"one");
        rows.pass(9 * HOUR);
        let moment = rows.now().unwrap() - 6 * HOUR;
        let unused = rows.chunks_unused_since(moment).unwrap();
        assert_eq!(unused.len(), 1);
        repository.put_manifest("a", &manifest(&[&chunk])).unwrap();
        assert_eq!(rows.remove_chunks(&unused, moment).unwrap(), 0);
        assert_eq!(repository.get(&chunk).unwrap(), b"one");
    });
}

#[test]
fn a_snapshot_that_the_log_does_not_lead_on_from_does_not_count() {
    each_database(|InDatabase { rows, repository }| {
        let refused = |manifest: &Manifest| {
            let refused = repository.put_manifest("a", manifest).unwrap_err();
            assert_eq!(repository.manifests().unwrap(), [""; 0]);
            refused.to_string()
        };
        assert!(refused(&manifest_at(9, &[])).contains("does not have the frames"));
        rows.trim(5);
        assert!(refused(&manifest(&[])).contains("trimmed past it"));
    });
}
