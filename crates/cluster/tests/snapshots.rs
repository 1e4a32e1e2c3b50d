//! Copies of books whose log is elsewhere: what is made from them goes on with that log, wherever making it is
//! interrupted, and with anything in the directory before.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::cast_possible_wrap,
    clippy::panic,
    reason = "a panic in a test is a failed test, which is the point"
)]

#[path = "../../../persistence/tests/common/mod.rs"]
mod common;
#[path = "common/memory_rows.rs"]
mod memory_rows;

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use cluster::snapshots::{DatabaseRepository, SnapshotRows};
use common::{
    Trouble, crash_image,
    life::{Life, Seen, check},
    options,
    shared_log::{self, LoneConnection, SharedLog},
    world::world,
};
use domain::Timestamp;
use memory_rows::MemoryRows;
use parking_lot::Mutex;
use persistence::{
    Books, Error, Faults, Log, SledJournal, Step,
    backup::{
        self, BackupSummary, DirectoryRepository, MemberRestore, MemberSummary, Repository,
        Restore, SnapshotOrder, TransferProgress, discard, restore_member,
    },
    verify,
};

/// A journal whose log others may follow, and the snapshots beside the log.
struct Cell {
    folder: tempfile::TempDir,
    log: Arc<Mutex<SharedLog>>,
    rows: Arc<MemoryRows>,
    repository: DatabaseRepository,
    journal: SledJournal,
    life: Mutex<Life>,
}

impl Cell {
    fn open() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let log = Arc::<Mutex<SharedLog>>::default();
        let rows = Arc::new(MemoryRows::beside(&log));
        let mut options = options(&folder.path().join("data"), &Arc::default());
        options.backup_chunk_bytes = 4 << 10;
        let journal = SledJournal::open_over(options, Arc::new(connect(&log))).unwrap();
        Self {
            folder,
            repository: DatabaseRepository::new(Arc::clone(&rows) as Arc<dyn SnapshotRows>),
            log,
            rows,
            journal,
            life: Mutex::default(),
        }
    }

    fn live(&self, steps: u32) {
        for _ in 0..steps {
            self.life.lock().step(&self.journal);
        }
        self.journal.flush().unwrap();
    }

    fn seen(&self) -> Seen {
        self.life.lock().seen()
    }

    /// Makes a snapshot; each of its first chunks is followed by a checkpoint.
    fn snapshot(&self, name: &str) -> Result<BackupSummary, Error> {
        let kept = SnapshotOrder {
            name: name.into(),
            made_at: Timestamp(1),
            keep: Some(2),
        };
        self.journal.snapshot(&self.repository, &kept, &|moved| {
            if moved.chunks < 20 {
                self.live(1);
            }
            true
        })
    }

    /// A directory in this folder, with books made from a snapshot.
    fn join(&self, folder: &Path, trouble: Option<&Arc<Trouble>>) -> Result<MemberSummary, Error> {
        self.join_from(&self.repository, folder, trouble, &|_| true)
    }

    fn join_from(
        &self,
        repository: &dyn Repository,
        folder: &Path,
        trouble: Option<&Arc<Trouble>>,
        on_progress: &(dyn Fn(&TransferProgress) -> bool + Sync),
    ) -> Result<MemberSummary, Error> {
        let log = connect(&self.log);
        let needed = Mutex::new(None);
        let what = MemberRestore {
            repository,
            log: &log,
            on_needs: &|place| *needed.lock() = Some(place),
            name: None,
            dir: data(folder),
            allow_unsynced: false,
            faults: trouble.map(Into::into).unwrap_or_default(),
        };
        let said = |moved: &_| needed.lock().is_some() && on_progress(moved);
        restore_member(&what, &said)
    }

    fn open_at(&self, folder: &Path) -> Result<SledJournal, Error> {
        let options = options(&data(folder), &Arc::default());
        SledJournal::open_over(options, Arc::new(connect(&self.log)))
    }

    /// Checks that the books in this folder are the same as the journal's, at the same place in the log.
    fn is_level(&self, folder: &Path) {
        assert_eq!(verify(&data(folder)).unwrap().problems, [""; 0]);
        let member = self.open_at(folder).unwrap();
        member.flush().unwrap();
        check(&member, &self.seen(), &self.seen());
        let (own, others) = (world(&member), world(&self.journal));
        assert_eq!(own.len(), others.len());
        for (own, other) in own.iter().zip(&others) {
            assert_eq!(own, other);
        }
        let last = self.journal.last_project_event();
        assert_eq!(member.last_project_event(), last);
        member.close().unwrap();
    }
}

fn connect(log: &Arc<Mutex<SharedLog>>) -> LoneConnection {
    LoneConnection::new(log, 3, Faults::default())
}

fn data(folder: &Path) -> PathBuf {
    folder.join("member")
}

/// The files in a data directory beside its books.
const BESIDE: [&str; 4] = [
    "server.key",
    "server.key.check",
    "admin-token.sha256",
    "mail",
];

fn put_beside(folder: &Path) {
    fs::create_dir_all(data(folder).join("mail")).unwrap();
    for name in &BESIDE[..3] {
        fs::write(data(folder).join(name), name).unwrap();
    }
    fs::write(data(folder).join("mail/sent"), "mail").unwrap();
}

fn is_beside(folder: &Path, what: &str) {
    for name in &BESIDE[..3] {
        let path = data(folder).join(name);
        assert_eq!(fs::read(path).unwrap(), name.as_bytes(), "{what}");
    }
    let mail = fs::read(data(folder).join("mail/sent")).unwrap();
    assert_eq!(mail, b"mail", "{what}");
}

fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).unwrap();
    let mut names: Vec<_> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort_unstable();
    names
}

#[test]
fn a_member_that_is_made_while_others_go_on_has_the_same_books() {
    let cell = Cell::open();
    cell.live(60);
    let made = cell.snapshot("a").unwrap();
    assert!(made.moved.chunks > 50, "{made:?}");
    cell.live(20);
    let folder = tempfile::tempdir().unwrap();
    put_beside(folder.path());
    let joined = cell.join(folder.path(), None).unwrap();
    assert_eq!(joined.name, "a");
    assert_eq!(joined.report.unwrap().problems, [""; 0]);
    is_beside(folder.path(), "restored");
    cell.is_level(folder.path());
    // It is there to stay, and nothing of the restore is.
    let mut left = names(&data(folder.path()));
    left.retain(|name| !BESIDE.contains(&name.as_str()));
    assert_eq!(left, ["lock", "sled", "watermark"]);
    let again = cell.join(folder.path(), None).unwrap_err();
    assert!(again.to_string().contains("nothing is overwritten"));
    // What follows has the numbers that it has for the others.
    cell.live(3);
    cell.is_level(folder.path());
}

#[test]
fn a_member_that_is_made_of_idle_books_has_them() {
    let cell = Cell::open();
    let folder = tempfile::tempdir().unwrap();
    let none = cell.join(folder.path(), None).unwrap_err();
    assert!(none.to_string().contains("no snapshot yet"), "{none}");
    cell.live(5);
    for name in ["a", "b", "c"] {
        let kept = SnapshotOrder {
            name: name.into(),
            made_at: Timestamp(1),
            keep: Some(2),
        };
        cell.journal
            .snapshot(&cell.repository, &kept, &|_| true)
            .unwrap();
    }
    assert_eq!(cell.repository.manifests().unwrap(), ["b", "c"]);
    cell.join(folder.path(), None).unwrap();
    cell.is_level(folder.path());
}

#[test]
fn making_a_member_that_ends_at_any_step_is_served_to_nobody_and_goes_on() {
    let cell = Cell::open();
    cell.live(20);
    cell.snapshot("a").unwrap();
    for step in Step::RESTORE.into_iter().chain([Step::RestoreFrame]) {
        for times in [0, 1, 2, 7] {
            let what = format!("{step:?} after {times}");
            let folder = tempfile::tempdir().unwrap();
            put_beside(folder.path());
            let trouble = Arc::<Trouble>::default();
            trouble.fail(step, times);
            let ended = cell.join(folder.path(), Some(&trouble));
            if ended.is_ok() {
                assert!(times > 0, "{what}");
                cell.is_level(folder.path());
                continue;
            }
            // As a killed process leaves it.
            let image = crash_image(folder.path());
            assert!(cell.open_at(image.path()).is_err(), "{what}: served");
            assert!(verify(&data(image.path())).is_err(), "{what}");
            let kept = Restore {
                from: kept_elsewhere(&cell, image.path()),
                name: None,
                dir: data(image.path()),
                allow_unsynced: false,
                faults: Faults::default(),
            };
            assert!(backup::restore(&kept, &|_| true).is_err(), "{what}");
            cell.join(image.path(), None).unwrap();
            is_beside(image.path(), &what);
            cell.is_level(image.path());
        }
    }
}

/// The same books in a directory of backups.
fn kept_elsewhere(cell: &Cell, folder: &Path) -> PathBuf {
    let to = folder.join("elsewhere");
    let repository = DirectoryRepository::open_or_make(&to, "this").unwrap();
    let kept = SnapshotOrder {
        name: "a".into(),
        made_at: Timestamp(1),
        keep: None,
    };
    cell.journal
        .snapshot(&repository, &kept, &|_| true)
        .unwrap();
    to
}

#[test]
fn a_snapshot_without_its_log_is_no_backup() {
    let cell = Cell::open();
    cell.live(2);
    let folder = tempfile::tempdir().unwrap();
    let kept = Restore {
        from: kept_elsewhere(&cell, folder.path()),
        name: None,
        dir: folder.path().join("restored"),
        allow_unsynced: false,
        faults: Faults::default(),
    };
    let refused = backup::restore(&kept, &|_| true).unwrap_err();
    assert!(refused.to_string().contains("has no frames"), "{refused}");
    assert!(!kept.dir.exists());
}

/// One goes on under the same numbers, the other far behind them.
#[test]
fn a_restore_and_the_books_of_a_member_are_never_mixed() {
    let cell = Cell::open();
    cell.live(20);
    let to = cell.folder.path().join("backups");
    let what = backup::BackUp {
        to: to.clone(),
        name: "a".into(),
        made_at: Timestamp(1),
        owner: "this".into(),
        files: vec![("server.key.check".into(), b"abc".to_vec())],
        keep: None,
    };
    let made = cell.journal.back_up(&what, &|_| {
        cell.live(1);
        true
    });
    made.unwrap();
    let restore = |folder: &Path, trouble: Option<&Arc<Trouble>>| {
        let what = Restore {
            from: to.clone(),
            name: None,
            dir: data(folder),
            allow_unsynced: false,
            faults: trouble.map(Into::into).unwrap_or_default(),
        };
        backup::restore(&what, &|_| true)
    };
    let join = |folder: &Path, trouble: Option<&Arc<Trouble>>| {
        let repository = DirectoryRepository::open_to_read(&to).unwrap();
        cell.join_from(&repository, folder, trouble, &|_| true)
    };
    for step in [Step::RestoreChunk, Step::RestoreMove] {
        let trouble = Arc::<Trouble>::default();
        trouble.fail(step, 1);
        let folder = tempfile::tempdir().unwrap();
        assert!(join(folder.path(), Some(&trouble)).is_err());
        let restored = restore(folder.path(), None);
        assert_eq!(restored.is_err(), step == Step::RestoreMove);
        match restored {
            Err(refused) => {
                assert!(
                    refused.to_string().contains("unfinished books"),
                    "{refused}"
                );
                join(folder.path(), None).unwrap();
                assert!(!data(folder.path()).join("server.key.check").exists());
                cell.is_level(folder.path());
            }
            Ok(_) => {
                let plain = options(&data(folder.path()), &Arc::default());
                let plain = SledJournal::open(plain).unwrap();
                let last = cell.journal.last_project_event();
                assert!(plain.last_project_event() > last << 8);
            }
        }
        let folder = tempfile::tempdir().unwrap();
        trouble.fail(step, 1);
        assert!(restore(folder.path(), Some(&trouble)).is_err());
        let joined = join(folder.path(), None);
        assert_eq!(joined.is_err(), step == Step::RestoreMove);
        match joined {
            Err(refused) => {
                assert!(
                    refused.to_string().contains("unfinished restore"),
                    "{refused}"
                );
                restore(folder.path(), None).unwrap();
            }
            Ok(_) => cell.is_level(folder.path()),
        }
    }
}

#[test]
fn a_damaged_chunk_is_named_and_nothing_is_put_in_place() {
    let cell = Cell::open();
    cell.live(5);
    cell.snapshot("a").unwrap();
    let all = cell.rows.chunks();
    for (number, name) in all.iter().enumerate().step_by(3) {
        let folder = tempfile::tempdir().unwrap();
        let sound = cell.rows.chunk(name).unwrap().unwrap();
        cell.rows
            .damage(name, |bytes| bytes.truncate(bytes.len() / 2));
        let refused = cell.join(folder.path(), None).unwrap_err().to_string();
        let hex: String = name.iter().map(|byte| format!("{byte:02x}")).collect();
        assert!(refused.contains(&hex), "{hex}: {refused}");
        assert!(!data(folder.path()).join("sled").exists(), "{hex}");
        assert!(cell.open_at(folder.path()).is_err(), "{hex}: served");
        cell.rows.put_chunk(name, &sound).unwrap();
        if number % 9 == 0 {
            cell.join(folder.path(), None).unwrap();
            cell.is_level(folder.path());
        }
    }
    // A manifest as well.
    cell.rows.damage(b"a", |bytes| bytes[9] ^= 1);
    let folder = tempfile::tempdir().unwrap();
    let refused = cell.join(folder.path(), None).unwrap_err().to_string();
    assert!(refused.contains("manifest a"), "{refused}");
}

/// Its chunks may be swept before it is done.
#[test]
fn a_member_whose_snapshot_is_gone_begins_with_the_newest() {
    let cell = Cell::open();
    cell.live(20);
    cell.snapshot("a").unwrap();
    for step in [
        Step::RestoreChunk,
        Step::RestoreCheckpoint,
        Step::RestoreMove,
    ] {
        let folder = tempfile::tempdir().unwrap();
        put_beside(folder.path());
        let first = cell.repository.manifests().unwrap().pop().unwrap();
        let trouble = Arc::<Trouble>::default();
        trouble.fail(step, 1);
        if step == Step::RestoreCheckpoint {
            trouble.fail(step, 0);
        }
        assert!(cell.join(folder.path(), Some(&trouble)).is_err());
        cell.snapshot(&format!("{first}b")).unwrap();
        cell.snapshot(&format!("{first}c")).unwrap();
        assert!(!cell.repository.manifests().unwrap().contains(&first));
        // Emptying what was begun is interrupted too.
        for at in [Step::DiscardMark, Step::DiscardRemove] {
            trouble.fail(at, 0);
            let again = cell.join(folder.path(), Some(&trouble));
            assert_eq!(again.is_ok(), step == Step::RestoreMove, "{step:?}");
            if again.is_ok() {
                break;
            }
            assert!(cell.open_at(folder.path()).is_err(), "{step:?}: served");
        }
        if step != Step::RestoreMove {
            let joined = cell.join(folder.path(), None).unwrap();
            assert_eq!(joined.name, format!("{first}c"));
        }
        is_beside(folder.path(), "restored");
        cell.is_level(folder.path());
    }
}

#[test]
fn a_member_goes_on_with_what_it_began_while_that_is_of_use() {
    let cell = Cell::open();
    cell.live(20);
    cell.snapshot("a").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let stopped = cell.join_from(&cell.repository, folder.path(), None, &|moved| {
        moved.chunks < 9
    });
    assert!(stopped.is_err());
    cell.snapshot("b").unwrap();
    assert_eq!(cell.join(folder.path(), None).unwrap().name, "a");
    cell.is_level(folder.path());
}

#[test]
fn a_snapshot_of_books_that_the_log_has_lost_is_refused() {
    let cell = Cell::open();
    cell.live(5);
    cell.log.lock().replicate();
    cell.live(1);
    let kept = SnapshotOrder {
        name: "a".into(),
        made_at: Timestamp(1),
        keep: None,
    };
    let made = cell.journal.snapshot(&cell.repository, &kept, &|moved| {
        if moved.chunks == 5 {
            cell.log.lock().fail_over();
        }
        true
    });
    let refused = made.unwrap_err().to_string();
    assert!(refused.contains("does not have the frames"), "{refused}");
    assert_eq!(cell.repository.manifests().unwrap(), [""; 0]);
}

#[test]
fn a_log_that_ends_before_what_a_snapshot_has_is_refused() {
    let cell = Cell::open();
    cell.live(5);
    cell.log.lock().replicate();
    cell.snapshot("a").unwrap();
    cell.log.lock().fail_over();
    let folder = tempfile::tempdir().unwrap();
    let refused = cell.join(folder.path(), None).unwrap_err();
    assert!(matches!(refused, Error::Damaged(_)), "{refused}");
    assert!(
        refused.to_string().contains("the log at frame"),
        "{refused}"
    );
    assert!(cell.open_at(folder.path()).is_err());
}

/// At each step: nothing is served, the files beside the books stay, and others are made in their place.
#[test]
fn books_that_are_discarded_are_not_taken_for_a_new_directory() {
    let cell = Cell::open();
    cell.live(20);
    cell.snapshot("a").unwrap();
    let begun = tempfile::tempdir().unwrap();
    put_beside(begun.path());
    cell.join(begun.path(), None).unwrap();
    cell.live(3);
    // Half restored, half moved to its place, and whole.
    let mut before = vec![crash_image(begun.path())];
    for step in [Step::RestoreChunk, Step::RestoreMove] {
        let folder = tempfile::tempdir().unwrap();
        put_beside(folder.path());
        let trouble = Arc::<Trouble>::default();
        trouble.fail(step, 1);
        assert!(cell.join(folder.path(), Some(&trouble)).is_err());
        before.push(crash_image(folder.path()));
    }
    for (start, folder) in before.iter().enumerate() {
        for step in Step::DISCARD {
            for times in 0..4 {
                let what = format!("{start}: {step:?} after {times}");
                let image = crash_image(folder.path());
                let trouble = Arc::<Trouble>::default();
                trouble.fail(step, times);
                let ended = discard(&data(image.path()), &(&trouble).into());
                let image = crash_image(image.path());
                let unmarked = step == Step::DiscardMark && start == 0 && times < 2;
                let opened = cell.open_at(image.path());
                assert_eq!(opened.is_ok(), unmarked, "{what}");
                if let Ok(whole) = opened {
                    whole.close().unwrap();
                }
                if ended.is_err() && times % 2 == 0 {
                    discard(&data(image.path()), &Faults::default()).unwrap();
                    let left = names(&data(image.path()));
                    let left: Vec<_> = left
                        .iter()
                        .filter(|name| !BESIDE.contains(&name.as_str()))
                        .collect();
                    assert_eq!(left, ["lock", "restoring"], "{what}");
                    assert!(cell.open_at(image.path()).is_err(), "{what}: served");
                }
                is_beside(image.path(), &what);
                if !(unmarked && times == 1) {
                    cell.join(image.path(), None).unwrap();
                    is_beside(image.path(), &what);
                }
                cell.is_level(image.path());
            }
        }
    }
}

#[test]
fn a_store_half_of_whose_files_are_gone_is_discarded_all_the_same() {
    let cell = Cell::open();
    cell.live(5);
    cell.snapshot("a").unwrap();
    let folder = tempfile::tempdir().unwrap();
    cell.join(folder.path(), None).unwrap();
    let trouble = Arc::<Trouble>::default();
    trouble.fail(Step::DiscardRemove, 0);
    assert!(discard(&data(folder.path()), &(&trouble).into()).is_err());
    fs::remove_file(data(folder.path()).join("sled/conf")).unwrap();
    assert!(cell.open_at(folder.path()).is_err());
    cell.join(folder.path(), None).unwrap();
    cell.is_level(folder.path());
}

#[test]
fn books_in_use_and_an_unfinished_backup_are_not_discarded() {
    let cell = Cell::open();
    cell.live(2);
    let own = cell.folder.path().join("data");
    let refused = discard(&own, &Faults::default()).unwrap_err().to_string();
    assert!(refused.contains("another Scrip is using"), "{refused}");
    let folder = tempfile::tempdir().unwrap();
    let plain = SledJournal::open(options(&folder.path().join("data"), &Arc::default())).unwrap();
    Life::default().step(&plain);
    let to = folder.path().join("backups");
    let what = backup::BackUp {
        to: to.clone(),
        name: "a".into(),
        made_at: Timestamp(1),
        owner: "this".into(),
        files: Vec::new(),
        keep: None,
    };
    plain.back_up(&what, &|_| true).unwrap();
    let kept = Restore {
        from: to,
        name: None,
        dir: data(folder.path()),
        allow_unsynced: false,
        faults: Faults::default(),
    };
    let stopped = backup::restore(&kept, &|_| false);
    assert!(stopped.is_err());
    let refused = discard(&kept.dir, &Faults::default())
        .unwrap_err()
        .to_string();
    assert!(refused.contains("is not finished"), "{refused}");
    backup::restore(&kept, &|_| true).unwrap();
}
