//! Processes whose log is in a real database: books that cannot go on with it are rebuilt, those that it has lost
//! something of are not touched, and snapshots let it be trimmed.
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
#[path = "common/member.rs"]
mod member;
#[path = "members/split.rs"]
mod split;

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use cluster::postgres::{Followed, Follower, Member};
use common::{
    TIMEOUT, Trouble, append, crash_image,
    life::{Life, check},
    options, shop,
    world::world,
};
use member::{busy_member, lead, member};
use persistence::{Books, Error, Log, Options, Outcome, SledJournal, Step, verify::verify};
use postgres_kit::{shared, wait::until};

/// A database, and the data directories of the processes that share it.
struct Cell {
    folder: tempfile::TempDir,
    database: String,
    url: String,
    life: Life,
}

impl Cell {
    fn new() -> Self {
        let database = shared().create_database();
        Self {
            folder: tempfile::tempdir().unwrap(),
            url: shared().url(&database),
            database,
            life: Life::default(),
        }
    }

    fn dir(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn options(&self, name: &str) -> Options {
        self.options_with(name, &Arc::default())
    }

    /// Applies at once.
    fn options_with(&self, name: &str, trouble: &Arc<Trouble>) -> Options {
        let mut options = options(&self.dir(name), trouble);
        options.checkpoint_interval = Duration::ZERO;
        options.backup_chunk_bytes = 4 << 10;
        options
    }

    /// The first process, which brings data along: the log begins behind it.
    fn adopt(&mut self, name: &str, member: Member) -> Arc<SledJournal> {
        let alone = SledJournal::open(self.options(name)).unwrap();
        self.live(&alone, 20);
        alone.close().unwrap();
        drop(alone);
        lead(self.options(name), member)
    }

    fn live(&mut self, journal: &SledJournal, steps: u32) {
        for _ in 0..steps {
            self.life.step(journal);
        }
    }

    fn psql(&self, sql: &str) -> String {
        shared().psql_in(&self.database, sql)
    }

    fn number(&self, sql: &str) -> u64 {
        self.psql(sql).parse().unwrap_or(0)
    }

    fn base(&self) -> u64 {
        self.number("SELECT base_lsn FROM scrip.cell")
    }

    fn snapshots(&self) -> u64 {
        self.number("SELECT count(*) FROM scrip.snapshot")
    }

    /// Those whose makers are such.
    fn snapshots_by(&self, which: &str) -> u64 {
        self.number(&format!(
            "SELECT count(*) FROM scrip.snapshot s JOIN scrip.member m \
             ON right(s.name, 8) = left(m.incarnation::text, 8) WHERE {which}"
        ))
    }

    fn has_segment(&self, segment: u64) -> bool {
        self.psql(&format!(
            "SELECT to_regclass('scrip.log_0_{segment}') IS NOT NULL"
        )) == "t"
    }

    /// Goes on until the log's first segment is dropped.
    fn live_until_trimmed(&mut self, journal: &SledJournal) {
        until("the first segment is dropped", || {
            self.live(journal, 5);
            (!self.has_segment(0)).then_some(())
        });
    }
}

/// A process that follows beside the test.
struct Following {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Result<Followed, Error>>,
}

impl Following {
    fn begin(follower: Follower) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&stop);
        let thread = thread::spawn(move || follower.follow(&|| asked.load(Ordering::Acquire)));
        Self { stop, thread }
    }

    fn stop(self) -> Result<Followed, Error> {
        self.stop.store(true, Ordering::Release);
        self.thread.join().unwrap()
    }

    /// Its journal, once it leads.
    fn leads(self) -> Arc<SledJournal> {
        match self.thread.join().unwrap().unwrap() {
            Followed::Leads { journal, .. } => journal,
            other => panic!("{other:?}"),
        }
    }
}

/// Hands the log over to a process whose books must then be the same.
fn hand_over(cell: &mut Cell, from: &SledJournal, to: Following) -> Arc<SledJournal> {
    from.flush().unwrap();
    let before = world(from);
    from.close().unwrap();
    let journal = to.leads();
    let after = world(&journal);
    assert_eq!(before.len(), after.len());
    for (one, other) in before.iter().zip(&after) {
        assert_eq!(one, other);
    }
    check(&*journal, &cell.life.seen(), &cell.life.seen());
    cell.live(&journal, 3);
    journal
}

fn is_sound(dir: &Path) {
    assert_eq!(verify(dir).unwrap().problems, [""; 0]);
}

#[test]
fn a_new_process_has_the_books_of_a_log_whose_beginning_is_gone() {
    let mut cell = Cell::new();
    let first = lead(cell.options("a"), busy_member(&cell.url));
    cell.live_until_trimmed(&first);
    let second = Follower::join(cell.options("b"), busy_member(&cell.url)).unwrap();
    let second = hand_over(&mut cell, &first, Following::begin(second));
    second.close().unwrap();
    is_sound(&cell.dir("b"));
    assert!(cell.dir("b").join("cluster.json").exists());
    // The one that led comes back: its books go on.
    let first = lead(cell.options("a"), busy_member(&cell.url));
    check(&*first, &cell.life.seen(), &cell.life.seen());
}

#[test]
fn snapshots_may_be_in_a_directory_that_all_processes_reach() {
    let mut cell = Cell::new();
    let shared = cell.dir("shared");
    let with_files = |cell: &Cell| Member {
        snapshots: Some(shared.clone()),
        ..busy_member(&cell.url)
    };
    let first = lead(cell.options("a"), with_files(&cell));
    cell.live_until_trimmed(&first);
    let in_database = "SELECT count(*) FROM scrip.chunk WHERE octet_length(bytes) > 64";
    assert_eq!(cell.number(in_database), 0);
    assert!(cell.number("SELECT count(*) FROM scrip.chunk") > 0);

    let refused = Follower::join(cell.options("b"), busy_member(&cell.url));
    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains("storage.snapshots"), "{refused}");
    let second = Follower::join(cell.options("c"), with_files(&cell)).unwrap();
    let second = hand_over(&mut cell, &first, Following::begin(second));
    second.close().unwrap();
    is_sound(&cell.dir("c"));
}

#[test]
fn a_process_that_slept_while_the_log_was_trimmed_gets_new_books() {
    let mut cell = Cell::new();
    let first = lead(cell.options("a"), busy_member(&cell.url));
    cell.live(&first, 3);
    let second = Follower::join(cell.options("b"), busy_member(&cell.url)).unwrap();
    drop(Following::begin(second).stop().unwrap());
    // As if it had been away for longer than anybody waits for it.
    until("it is forgotten and the log trimmed", || {
        cell.psql("DELETE FROM scrip.member WHERE NOT leads");
        cell.live(&first, 5);
        (!cell.has_segment(0)).then_some(())
    });
    let second = Follower::join(cell.options("b"), busy_member(&cell.url)).unwrap();
    hand_over(&mut cell, &first, Following::begin(second));
}

#[test]
fn the_log_is_not_trimmed_past_a_process_whose_books_are_being_made() {
    let mut cell = Cell::new();
    let first = cell.adopt("a", busy_member(&cell.url));
    until("a snapshot", || (cell.snapshots() > 0).then_some(()));
    let trouble = Arc::new(Trouble::default());
    trouble.hold_step(Step::RestoreChunk, true);
    let (joining, mut member) = (cell.options_with("b", &trouble), busy_member(&cell.url));
    member.snapshot_every = None;
    let second = thread::spawn(move || Follower::join(joining, member));
    trouble.wait_held(Step::RestoreChunk);
    // Not the one that leads, which has followed before.
    let needs = || {
        cell.number(
            "SELECT folded_lsn FROM scrip.member WHERE NOT leads AND folded_lsn > 0 \
             AND EXISTS (SELECT 1 FROM scrip.member WHERE leads)",
        )
    };
    let needs = until("it says what it needs", || {
        Some(needs()).filter(|it| *it > 0)
    });
    until("the log is trimmed as far as that", || {
        cell.live(&first, 5);
        let least = "SELECT min(folded_lsn) FROM scrip.snapshot";
        (cell.base() == needs && cell.number(least) > needs + 200).then_some(())
    });
    assert_eq!(cell.base(), needs);
    trouble.hold_step(Step::RestoreChunk, false);
    let second = Following::begin(second.join().unwrap().unwrap());
    until("the log is trimmed further", || {
        cell.live(&first, 5);
        (cell.base() > needs).then_some(())
    });
    hand_over(&mut cell, &first, second);
}

#[test]
fn a_damaged_chunk_is_named_and_no_books_are_put_in_place() {
    let mut cell = Cell::new();
    let first = cell.adopt("a", busy_member(&cell.url));
    until("a snapshot", || (cell.snapshots() > 0).then_some(()));
    // The process stays, its snapshots end: each would write the chunk again.
    first.close().unwrap();
    let sound = "CREATE TABLE sound AS SELECT name, bytes FROM scrip.chunk";
    cell.psql(sound);
    cell.psql("UPDATE scrip.chunk SET bytes = substring(bytes FOR 9)");
    let refused = Follower::join(cell.options("b"), member(&cell.url)).unwrap_err();
    assert!(matches!(refused, Error::Damaged(_)), "{refused}");
    let names = cell.psql("SELECT encode(name, 'hex') FROM scrip.chunk");
    let refused = refused.to_string();
    assert!(
        names.lines().any(|name| refused.contains(name)),
        "{refused}"
    );
    assert!(!cell.dir("b").join("sled").exists());
    // Nobody takes what is there for books, and the way out is not `scrip restore`.
    fs::create_dir(cell.dir("b").join("sled")).unwrap();
    let alone = verify(&cell.dir("b")).unwrap_err().to_string();
    assert!(alone.contains("not finished"), "{alone}");
    assert!(!alone.contains("scrip restore"), "{alone}");
    fs::remove_dir(cell.dir("b").join("sled")).unwrap();
    cell.psql("UPDATE scrip.chunk c SET bytes = s.bytes FROM sound s WHERE s.name = c.name");
    let second = lead(cell.options("b"), member(&cell.url));
    check(&*second, &cell.life.seen(), &cell.life.seen());
}

#[test]
fn books_that_the_database_has_lost_acknowledged_frames_of_are_not_touched() {
    let mut cell = Cell::new();
    let first = lead(cell.options("a"), member(&cell.url));
    cell.live(&first, 10);
    first.close().unwrap();
    drop(first);
    let (dir, before) = (
        cell.dir("a"),
        cell.number("SELECT max(lsn) FROM scrip.log_0_0"),
    );
    cell.psql(&format!(
        "CREATE TABLE lost AS SELECT * FROM scrip.log_0_0 WHERE lsn > {};
         DELETE FROM scrip.log_0_0 WHERE lsn > {0}",
        before - 4
    ));
    let refused = Follower::join(cell.options("a"), member(&cell.url)).unwrap_err();
    assert!(refused.to_string().contains("lost frames"), "{refused}");
    assert!(dir.join("sled").exists() && !dir.join("restoring").exists());
    cell.psql("INSERT INTO scrip.log_0_0 SELECT * FROM lost");
    let first = lead(cell.options("a"), member(&cell.url));
    check(&*first, &cell.life.seen(), &cell.life.seen());
}

/// The last frame that was reported as durable to a process, as its directory says: the later of two slots.
fn watermark(dir: &Path) -> u64 {
    let bytes = fs::read(dir.join("watermark")).unwrap();
    let slots = [0, 4096].map(|at| bytes[at + 8..at + 16].try_into().unwrap());
    slots.map(u64::from_be_bytes).into_iter().max().unwrap()
}

/// A follower may read a frame that a standby which then takes over has not.
fn is_rebuilt(brings_data: bool, is_running: bool) {
    let mut cell = Cell::new();
    let snapshots = Member {
        snapshot_every: Some(Duration::ZERO),
        ..member(&cell.url)
    };
    if brings_data {
        let first = cell.adopt("a", snapshots);
        until("a snapshot", || (cell.snapshots() > 0).then_some(()));
        first.close().unwrap();
    }
    let first = lead(cell.options("a"), member(&cell.url));
    cell.live(&first, 5);
    let sound = cell.life.seen();
    let mark = cell.number("SELECT max(lsn) FROM scrip.log_0_0");
    let second = Follower::join(cell.options("b"), member(&cell.url)).unwrap();
    let second = Following::begin(second);
    cell.live(&first, 5);
    until("the follower has applied what will be lost", || {
        let applied = cell.number("SELECT max(folded_lsn) FROM scrip.member WHERE NOT leads");
        (applied > mark).then_some(())
    });
    until("the leader has noted a later frame", || {
        (watermark(&cell.dir("a")) > mark).then_some(())
    });
    // Under a lock: what a fail-over loses is the end of the log, and nothing is added behind it in that time.
    let lose = format!("LOCK TABLE scrip.log_0_0; DELETE FROM scrip.log_0_0 WHERE lsn > {mark}");
    if is_running {
        cell.psql(&lose);
        let ended = second.thread.join().unwrap();
        assert!(matches!(ended, Err(Error::Fenced(_))), "{ended:?}");
        let _lost = first.close();
    } else {
        drop(second.stop().unwrap());
        first.close().unwrap();
        cell.psql(&lose);
    }
    drop(first);
    // A log that has failed keeps its directory locked until its process ends.
    let left = crash_image(&cell.dir("a"));
    let left = options(left.path(), &Arc::default());
    let refused = Follower::join(left, member(&cell.url)).unwrap_err();
    assert!(refused.to_string().contains("lost frames"), "{refused}");
    let node = || fs::read(cell.dir("b").join("cluster.json")).unwrap();
    let before = node();
    let second = lead(cell.options("b"), member(&cell.url));
    check(&*second, &sound, &sound);
    assert_eq!(node(), before, "it is the same member");
    second.close().unwrap();
    is_sound(&cell.dir("b"));
}

#[test]
fn books_ahead_of_the_log_are_read_again_from_the_first_frame() {
    is_rebuilt(false, false);
}

#[test]
fn books_ahead_of_the_log_are_rebuilt_from_a_snapshot() {
    is_rebuilt(true, false);
}

#[test]
fn a_process_whose_log_went_another_way_ends_and_rebuilds_its_books() {
    is_rebuilt(false, true);
}

#[test]
fn a_follower_makes_the_snapshots_where_there_is_one() {
    let mut cell = Cell::new();
    let first = cell.adopt("a", busy_member(&cell.url));
    until("the leader makes one alone", || {
        (cell.snapshots_by("m.leads") > 0).then_some(())
    });
    let second = Follower::join(cell.options("b"), busy_member(&cell.url)).unwrap();
    let second = Following::begin(second);
    until("both that are kept are the follower's", || {
        cell.live(&first, 1);
        let by_both = (
            cell.snapshots_by("NOT m.leads"),
            cell.snapshots_by("m.leads"),
        );
        (by_both == (2, 0)).then_some(())
    });
    let second = hand_over(&mut cell, &first, second);
    until("it goes on with that when it leads", || {
        cell.live(&second, 1);
        let own = "s.folded_lsn > (SELECT opened_lsn FROM scrip.cell) AND m.leads";
        (cell.snapshots_by(own) > 0).then_some(())
    });
}

#[test]
fn frames_that_are_sent_together_across_a_border_are_all_there() {
    const CALLERS: u64 = 16;
    let cell = Cell::new();
    let first = lead(cell.options("a"), busy_member(&cell.url));
    let border = |at: u64| {
        format!(
            "SELECT count(*) FROM scrip.log_0_{} a, scrip.log_0_{at} b \
             WHERE a.lsn = b.lsn - 1 AND a.xmin = b.xmin",
            at - 1
        )
    };
    // Each fills most of a frame, so that a batch is several.
    let body = "x".repeat(30_000);
    let (send, answers) = mpsc::channel();
    let crossed = AtomicBool::new(false);
    thread::scope(|scope| {
        for caller in 0..CALLERS {
            let (log, send, body, crossed) = (&first, send.clone(), &body, &crossed);
            scope.spawn(move || {
                for number in 0_u64.. {
                    if number > 10 && crossed.load(Ordering::Acquire) {
                        return send.send((caller, number, None)).unwrap();
                    }
                    let (done, outcome) = common::waiter();
                    let note = shop::note(&format!("{caller}"), Some(&format!("{number} {body}")));
                    log.append(append(&[note]), Some(done)).unwrap();
                    let outcome = outcome.recv_timeout(TIMEOUT).unwrap();
                    send.send((caller, number, Some(outcome))).unwrap();
                }
            });
        }
        until("a group is in two segments", || {
            let head = cell.number("SELECT max(head_lsn) FROM scrip.member");
            let mut borders = 1..=head / 64;
            borders.any(|at| cell.number(&border(at)) > 0).then_some(())
        });
        crossed.store(true, Ordering::Release);
    });
    drop(send);
    let mut last = std::collections::BTreeMap::new();
    for (caller, number, outcome) in answers {
        if let Some(outcome) = outcome {
            assert_eq!(outcome, Outcome::Durable);
            last.insert(caller, number);
        }
    }
    first.flush().unwrap();
    first.close().unwrap();
    drop(first);
    // A reader of the log from its first frame on finds all of it.
    let second = lead(cell.options("b"), member(&cell.url));
    for (caller, number) in last {
        let note = second.notes(format!("{caller}").as_bytes()).unwrap();
        let own = note
            .iter()
            .find(|(key, _)| **key == *format!("{caller}").as_bytes());
        assert!(own.unwrap().1.starts_with(format!("{number} ").as_bytes()));
    }
}

#[test]
fn a_members_books_are_verified_without_its_log() {
    let mut cell = Cell::new();
    let trouble = Arc::new(Trouble::default());
    let first = lead(cell.options_with("a", &trouble), member(&cell.url));
    cell.live(&first, 10);
    first.flush().unwrap();
    let applied = cell.number("SELECT max(lsn) FROM scrip.log_0_0");
    // What follows stays in the log alone.
    trouble.hold_step(Step::Checkpoint, true);
    cell.live(&first, 10);
    trouble.wait_held(Step::Checkpoint);
    // The log goes on with heartbeats: two later, it is known to be durable past what the books have.
    for _ in 0..2 {
        let watermark = || fs::read(cell.dir("a").join("watermark")).unwrap();
        let before = watermark();
        until("the watermark moves", || {
            (watermark() != before).then_some(())
        });
    }
    let crashed = crash_image(&cell.dir("a"));
    trouble.hold_step(Step::Checkpoint, false);
    first.close().unwrap();
    let report = verify(crashed.path()).unwrap();
    assert_eq!(report.problems, [""; 0]);
    let up_to = report.log_elsewhere.unwrap().lsn;
    assert!(up_to > 0 && up_to <= applied, "{up_to}");
    assert_eq!((report.frames, report.pending_events), (0, 0));
}
