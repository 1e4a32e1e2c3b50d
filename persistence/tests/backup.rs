//! Backups of a running journal, and restoring them: with any events logged and applied while one is made, interrupted
//! anywhere, and with any damage to its files.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::cast_possible_wrap,
    clippy::panic,
    reason = "a panic in a test is a failed test, which is the point"
)]

mod common;

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use common::{
    Trouble, WalletModel, crash_image,
    life::{Life, Seen, check, hot},
    options,
};
use domain::Timestamp;
use parking_lot::Mutex;
use persistence::{
    Books, Error, Faults, Log, SledJournal, Step,
    backup::{self, BackUp, BackupSummary, Restore, TransferProgress},
    verify,
};

/// A journal with a life in it, and a directory for its backups.
struct Service {
    folder: tempfile::TempDir,
    trouble: Arc<Trouble>,
    journal: SledJournal,
    life: Mutex<Life>,
}

impl Service {
    fn open() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let trouble = Arc::<Trouble>::default();
        let mut options = options(&folder.path().join("data"), &trouble);
        options.backup_chunk_bytes = 4 << 10;
        let journal = SledJournal::open(options).unwrap();
        Self {
            folder,
            trouble,
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

    fn to(&self) -> PathBuf {
        self.folder.path().join("backups")
    }

    fn what(&self, number: u32) -> BackUp {
        BackUp {
            to: self.to(),
            name: format!("backup-{number}"),
            made_at: Timestamp(number.into()),
            owner: "this".into(),
            files: vec![("server.key.check".into(), b"abc".to_vec())],
            keep: None,
        }
    }

    fn back_up(&self, number: u32) -> Result<BackupSummary, Error> {
        self.journal.back_up(&self.what(number), &|_| true)
    }

    /// Puts a backup back into a new directory, and reads all of it.
    fn restores(&self, name: Option<&str>, before: &Seen, after: &Seen) {
        let folder = tempfile::tempdir().unwrap();
        let restore = restore_to(&self.to(), folder.path(), name);
        let restored = backup::restore(&restore, &|_| true).unwrap();
        assert!(restored.report.is_some_and(|it| it.problems.is_empty()));
        is_whole(&restore.dir, before, after);
    }
}

fn restore_to(from: &Path, folder: &Path, name: Option<&str>) -> Restore {
    Restore {
        from: from.into(),
        name: name.map(Into::into),
        dir: folder.join("restored"),
        allow_unsynced: false,
        faults: Faults::default(),
    }
}

/// Checks that a restored directory is sound, complete and can go on.
fn is_whole(dir: &Path, before: &Seen, after: &Seen) {
    assert_eq!(verify(dir).unwrap().problems, [""; 0]);
    assert_eq!(fs::read(dir.join("server.key.check")).unwrap(), b"abc");
    let journal = SledJournal::open(options(dir, &Arc::default())).unwrap();
    check(&journal, before, after);
    let last = journal.last_project_event();
    let next = common::shop::note("new", Some("it goes on"));
    common::commit(&journal, &[next]);
    assert!(journal.last_project_event() > last);
    journal.close().unwrap();
    assert_eq!(verify(dir).unwrap().problems, [""; 0]);
}

/// Enough steps for what later checkpoints left in the copy to conflict.
fn lives_on(dir: &Path) {
    let journal = SledJournal::open(options(dir, &Arc::default())).unwrap();
    let mut model = WalletModel::of(&journal, hot());
    for _ in 0..100 {
        for wallet in hot() {
            let more: Vec<_> = (0..30).map(|_| model.next(wallet)).collect();
            common::commit(&journal, &more);
        }
        journal.flush().unwrap();
    }
    for wallet in hot() {
        let stored = journal.load(&common::key(wallet)).unwrap().unwrap();
        let all = stored.history.before(u64::MAX, usize::MAX).unwrap();
        assert!(!all.is_empty());
    }
    journal.close().unwrap();
    assert_eq!(verify(dir).unwrap().problems, [""; 0]);
}

/// At each chunk there are checkpoints between what was copied and what follows.
#[test]
fn a_copy_of_books_that_are_applied_all_the_while_is_made_whole() {
    let service = Service::open();
    (0..80).for_each(|_| service.live(1));
    let before = service.seen();
    let chunks = AtomicU64::new(0);
    let made = service.journal.back_up(&service.what(1), &|moved| {
        chunks.store(moved.chunks, Ordering::Relaxed);
        // A copy that followed what is added behind it would not end.
        let steps = service.life.lock().steps;
        if steps < 300 || (steps < 400 && moved.chunks.is_multiple_of(4)) {
            service.live(1);
            service.live(1);
        }
        true
    });
    let made = made.unwrap();
    assert!(made.moved.chunks > 50, "{made:?}");
    assert_eq!(made.moved.chunks, chunks.load(Ordering::Relaxed));
    let after = service.seen();
    let folder = tempfile::tempdir().unwrap();
    let restore = restore_to(&service.to(), folder.path(), None);
    backup::restore(&restore, &|_| true).unwrap();
    is_whole(&restore.dir, &before, &after);
    lives_on(&restore.dir);
    // What was held back for it is forgotten.
    service.live(3);
    while service.journal.kept_for_backup() > 0 {
        std::thread::yield_now();
    }
    service.journal.close().unwrap();
    let report = verify(&service.folder.path().join("data")).unwrap();
    assert_eq!(report.problems, [""; 0]);
    assert_eq!(report.frames, 0);
}

#[test]
fn a_later_backup_writes_what_changed_and_an_older_one_stays_as_it_was() {
    let service = Service::open();
    service.live(200);
    let first_seen = service.seen();
    let first = service.back_up(1).unwrap().moved;
    assert_eq!(first.new_chunks, first.chunks);
    // Nothing happened since: nothing is written.
    let again = service.back_up(2).unwrap().moved;
    assert_eq!((again.new_chunks, again.new_bytes), (0, 0), "{again:?}");
    assert_eq!(again.bytes, first.bytes);
    service.live(1);
    let later = service.back_up(3).unwrap().moved;
    assert!(later.new_bytes * 2 < first.new_bytes, "{later:?} {first:?}");
    service.restores(Some("backup-1"), &first_seen, &first_seen);
    service.restores(None, &service.seen(), &service.seen());
    let newest = backup::newest(&service.to()).unwrap().unwrap();
    assert_eq!((newest.name.as_str(), newest.made_at.0), ("backup-3", 3));
}

#[test]
fn a_backup_that_ends_at_any_step_counts_for_nothing_and_the_next_one_succeeds() {
    for step in Step::BACKUP {
        for after in [0, 3] {
            let what = format!("{step:?} after {after}");
            let service = Service::open();
            service.live(20);
            let first = service.seen();
            service.back_up(1).unwrap();
            service.live(20);
            service.trouble.fail(step, after);
            let mut later = service.what(2);
            later.keep = Some(1);
            let failed = service.journal.back_up(&later, &|_| true);
            service.trouble.fail(Step::Checkpoint, u32::MAX);
            let has_it = step == Step::RemoveOld;
            let ended = failed.is_err();
            // Some steps come only once or twice.
            assert!(ended || after > 0, "{what}");
            if ended {
                let newest = backup::newest(&service.to()).unwrap().unwrap();
                let name = if has_it { "backup-2" } else { "backup-1" };
                assert_eq!(newest.name, name, "{what}");
                if !has_it {
                    service.restores(None, &first, &first);
                }
            }
            service.live(1);
            let mut next = service.what(3);
            next.keep = Some(1);
            service.journal.back_up(&next, &|_| true).unwrap();
            service.restores(None, &service.seen(), &service.seen());
            // Nothing but the last one is left.
            assert_eq!(
                names(&service.to().join("backups")),
                ["backup-3.json"],
                "{what}"
            );
            assert_eq!(names(&service.to().join("partial")), [""; 0], "{what}");
        }
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort_unstable();
    names
}

fn chunks(to: &Path) -> Vec<PathBuf> {
    let folders = names(&to.join("chunks")).into_iter();
    let folders = folders.map(|name| to.join("chunks").join(name));
    folders
        .flat_map(|folder| {
            let names = names(&folder);
            names.into_iter().map(move |name| folder.join(name))
        })
        .collect()
}

#[test]
fn a_flipped_bit_in_any_chunk_is_named_and_nothing_is_put_in_place() {
    let service = Service::open();
    service.live(30);
    service.back_up(1).unwrap();
    let manifest = service.to().join("backups/backup-1.json");
    let all = chunks(&service.to());
    assert!(all.len() > 20, "{}", all.len());
    for (number, path) in all.iter().chain([&manifest]).enumerate() {
        let sound = fs::read(path).unwrap();
        let mut bad = sound.clone();
        // A bit that the compression does not use changes nothing of what the chunk holds.
        let holds = |bytes: &[u8]| zstd::bulk::decompress(bytes, 16 << 20).ok();
        for place in (0..bad.len()).cycle().skip(number * 31 % bad.len()) {
            bad[place] ^= 1 << (number % 8);
            if *path == manifest || holds(&bad) != holds(&sound) {
                break;
            }
            bad[place] = sound[place];
        }
        fs::write(path, &bad).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let restore = restore_to(&service.to(), folder.path(), None);
        let refused = backup::restore(&restore, &|_| true)
            .unwrap_err()
            .to_string();
        let name = path.file_name().unwrap().to_str().unwrap();
        assert!(refused.contains(name), "{name}: {refused}");
        assert!(!restore.dir.join("sled").exists(), "{name}");
        if restore.dir.join("restoring").exists() {
            let opened = SledJournal::open(options(&restore.dir, &Arc::default()));
            assert!(opened.is_err(), "{name}: served");
        }
        // The same restore goes on once the chunk is sound again.
        fs::write(path, &sound).unwrap();
        if number % 8 == 0 && path != &manifest {
            backup::restore(&restore, &|_| true).unwrap();
            is_whole(&restore.dir, &service.seen(), &service.seen());
        }
    }
    // A chunk that went bad is written again by the next backup that names it.
    fs::write(&all[5], b"nonsense").unwrap();
    assert_eq!(service.back_up(2).unwrap().moved.new_chunks, 1);
    service.restores(None, &service.seen(), &service.seen());
}

#[test]
fn a_restore_that_ends_at_any_step_is_served_to_nobody_and_goes_on() {
    let service = Service::open();
    service.live(30);
    let before = service.seen();
    service
        .journal
        .back_up(&service.what(1), &|_| {
            service.live(1);
            true
        })
        .unwrap();
    let after = service.seen();
    for step in Step::RESTORE {
        for times in [0, 1, 2, 7] {
            let what = format!("{step:?} after {times}");
            let folder = tempfile::tempdir().unwrap();
            let trouble = Arc::<Trouble>::default();
            trouble.fail(step, times);
            let mut restore = restore_to(&service.to(), folder.path(), None);
            restore.faults = (&trouble).into();
            let ended = backup::restore(&restore, &|_| true);
            if ended.is_ok() {
                assert!(times > 0, "{what}");
                is_whole(&restore.dir, &before, &after);
                continue;
            }
            // As a killed process leaves it.
            let image = crash_image(folder.path());
            let mut restore = restore_to(&service.to(), image.path(), None);
            let opened = SledJournal::open(options(&restore.dir, &Arc::default()));
            let Err(refused) = opened else {
                panic!("{what}: served");
            };
            assert!(refused.to_string().contains("restore"), "{what}: {refused}");
            assert!(verify(&restore.dir).is_err(), "{what}");
            restore.faults = Faults::default();
            backup::restore(&restore, &|_| true).unwrap();
            is_whole(&restore.dir, &before, &after);
            // And again it is refused: there is something now.
            let refused = backup::restore(&restore, &|_| true).unwrap_err();
            assert!(refused.to_string().contains("nothing is overwritten"));
        }
    }
}

/// Everything is in its place by then: the directory opens, and what is left does no harm.
#[test]
fn a_restore_that_ends_while_it_tidies_up_is_whole() {
    let service = Service::open();
    service.live(5);
    service.back_up(1).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let trouble = Arc::<Trouble>::default();
    trouble.fail(Step::RestoreTidy, 0);
    let mut restore = restore_to(&service.to(), folder.path(), None);
    restore.faults = (&trouble).into();
    assert!(backup::restore(&restore, &|_| true).is_err());
    assert!(restore.dir.join("restoring.over").exists());
    is_whole(&restore.dir, &service.seen(), &service.seen());
    // The disk is lost once more.
    for name in ["sled", "watermark", "server.key.check"] {
        let path = restore.dir.join(name);
        match path.is_dir() {
            true => fs::remove_dir_all(path).unwrap(),
            false => fs::remove_file(path).unwrap(),
        }
    }
    restore.faults = Faults::default();
    backup::restore(&restore, &|_| true).unwrap();
    is_whole(&restore.dir, &service.seen(), &service.seen());
    assert!(!restore.dir.join("restoring.over").exists());
}

#[test]
fn only_so_many_backups_are_kept_and_their_chunks() {
    let service = Service::open();
    let mut seen = Vec::new();
    for number in 1..=5 {
        service.live(20);
        seen.push(service.seen());
        let mut what = service.what(number);
        what.keep = Some(2);
        let made = service.journal.back_up(&what, &|_| true).unwrap();
        assert_eq!(made.removed_backups, u64::from(number > 2));
        assert_eq!(made.removed_chunks > 0, number > 2);
    }
    service.restores(Some("backup-4"), &seen[3], &seen[3]);
    service.restores(Some("backup-5"), &seen[4], &seen[4]);
    let folder = tempfile::tempdir().unwrap();
    let restore = restore_to(&service.to(), folder.path(), Some("backup-3"));
    assert!(backup::restore(&restore, &|_| true).is_err());
    // A manifest that cannot be read may name any chunk: none goes.
    fs::write(service.to().join("backups/backup-4.json"), "{}").unwrap();
    let chunks_before = chunks(&service.to()).len();
    service.live(1);
    let made = service.back_up(6).unwrap();
    assert_eq!(made.removed_chunks, 0);
    assert!(chunks(&service.to()).len() > chunks_before);
}

#[test]
fn a_backup_that_is_stopped_holds_nothing_back() {
    let service = Service::open();
    service.live(20);
    let stopped = service
        .journal
        .back_up(&service.what(1), &|moved: &TransferProgress| {
            service.live(1);
            moved.chunks < 5
        });
    assert!(stopped.is_err());
    service.live(1);
    while service.journal.kept_for_backup() > 0 {
        std::thread::yield_now();
    }
    assert_eq!(backup::newest(&service.to()).unwrap(), None);
    service.journal.close().unwrap();
    let report = verify(&service.folder.path().join("data")).unwrap();
    assert_eq!(report.problems, [""; 0]);
}

#[test]
fn nothing_of_others_is_written_over_or_added_to() {
    let service = Service::open();
    service.live(1);
    let refused = |what: &BackUp| {
        let refused = service.journal.back_up(what, &|_| true).unwrap_err();
        refused.to_string()
    };
    let mut what = service.what(1);
    what.to = service.folder.path().join("data/backups/deep");
    assert!(refused(&what).contains("is in the data directory"));
    what.to = service.folder.path().join("photos");
    fs::create_dir(&what.to).unwrap();
    fs::write(what.to.join("cat.png"), "").unwrap();
    assert!(refused(&what).contains("holds other files"));
    service.back_up(1).unwrap();
    assert!(refused(&service.what(1)).contains("exists"));
    let mut others = service.what(2);
    others.owner = "that".into();
    assert!(refused(&others).contains("of other data"));
    for name in ["", "../x", "a/b", "a.json"] {
        let mut odd = service.what(3);
        odd.name = name.into();
        assert!(refused(&odd).contains("cannot be called"), "{name}");
    }
}

/// Two at a time would remove what the other still needs.
#[test]
fn a_second_backup_is_refused_while_one_is_made() {
    let service = Service::open();
    service.live(1);
    let second = Mutex::new(Vec::new());
    service
        .journal
        .back_up(&service.what(1), &|_| {
            let mut other = service.what(2);
            other.to = service.folder.path().join("elsewhere");
            for what in [service.what(2), other] {
                let refused = service.journal.back_up(&what, &|_| true);
                second.lock().push(refused.unwrap_err().to_string());
            }
            true
        })
        .unwrap();
    let second = second.into_inner();
    assert!(second.iter().any(|it| it.contains("in use")), "{second:?}");
    assert!(
        second.iter().any(|it| it.contains("another backup")),
        "{second:?}"
    );
    service.back_up(3).unwrap();
}
