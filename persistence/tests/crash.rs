//! What is left when a step fails or the process dies between two of them: images of the data
//! directory, opened again. Power cuts are tested from outside, on the running server.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::panic,
    reason = "a panic in a test is a failed test, which is the point"
)]

mod common;

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use common::{
    TIMEOUT, Trouble, WalletModel, append, commit, crash_image, key, options, shop, version, waiter,
};
use domain::{
    Timestamp,
    id::{ProjectId, WalletKey},
    wallet::{OrderKind, Wallet},
};
use parking_lot::Mutex;
use persistence::{
    AppendRefusal, Awake, Backlog, Books, Error, InjectFault, Log, Options, Outcome, ProviderId,
    SledJournal, Step, Ticket, WalletName, verify,
};

const WALLETS: u64 = 3;

/// A journal whose chosen step will fail.
struct Doomed {
    dir: tempfile::TempDir,
    trouble: Arc<Trouble>,
    fatal: Arc<AtomicU32>,
    journal: SledJournal,
}

impl Doomed {
    fn open(change: impl FnOnce(&mut Options)) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let (trouble, fatal) = (Arc::<Trouble>::default(), Arc::<AtomicU32>::default());
        let mut options = options(dir.path(), &trouble);
        let count = Arc::clone(&fatal);
        options.on_fatal = Arc::new(move |_| {
            count.fetch_add(1, Ordering::AcqRel);
        });
        change(&mut options);
        let journal = SledJournal::open(options).unwrap();
        Self {
            dir,
            trouble,
            fatal,
            journal,
        }
    }

    /// Grants to wallets in turn, with a checkpoint now and then, until the journal fails; how many events
    /// of each wallet were acknowledged.
    fn run_until_failure(&self) -> [u64; WALLETS as usize] {
        let mut acknowledged = [0; WALLETS as usize];
        let mut model = WalletModel::default();
        for number in 1..=400_u64 {
            for wallet in 0..WALLETS {
                let (done, answers) = waiter();
                let next = append(&[model.next(wallet)]);
                match self.journal.append(next, Some(done)) {
                    Ok(_) => {}
                    Err(refused) => {
                        assert_eq!(refused, AppendRefusal::Poisoned);
                        return acknowledged;
                    }
                }
                match answers.recv_timeout(TIMEOUT).unwrap() {
                    Outcome::Durable => acknowledged[wallet as usize] = number,
                    Outcome::Unknown => return acknowledged,
                }
            }
            if number % 10 == 0 && self.journal.flush().is_err() {
                return acknowledged;
            }
        }
        // The watermark is written by the clock: wait for its turn.
        while self.journal.refusing().is_none() {
            std::thread::yield_now();
        }
        acknowledged
    }
}

#[test]
fn a_failure_of_any_step_loses_nothing_that_was_acknowledged() {
    for step in Step::ALL {
        for after in [0, 1, 7] {
            let doomed = Doomed::open(|_| {});
            // The watermark is written about once a second.
            let after = if step == Step::SyncWatermark {
                0
            } else {
                after
            };
            doomed.trouble.fail(step, after);
            let acknowledged = doomed.run_until_failure();
            assert!(doomed.journal.close().is_err(), "{step:?}");
            assert_eq!(
                doomed.fatal.load(Ordering::Acquire),
                1,
                "{step:?} after {after}"
            );

            let image = crash_image(doomed.dir.path());
            recovered(
                image.path(),
                acknowledged,
                &format!("{step:?} after {after}"),
            );
            if step == Step::SyncWatermark {
                break;
            }
        }
    }
}

/// Opens an image twice. Opening applies all of it.
fn recovered(dir: &std::path::Path, acknowledged: [u64; WALLETS as usize], what: &str) {
    let mut found = [0; WALLETS as usize];
    for round in 0..2 {
        let report = verify(dir).unwrap();
        assert_eq!(report.problems, [""; 0], "{what}");
        assert!(round == 0 || report.frames == 0, "{what}");
        let journal = SledJournal::open(options(dir, &Arc::default())).unwrap();
        assert_eq!(journal.backlog(), Backlog::default(), "{what}");
        for wallet in 0..WALLETS {
            let now = version(&journal, wallet);
            let least = acknowledged[wallet as usize];
            // One more was under way at most.
            assert!(
                (least..=least + 1).contains(&now),
                "{what}: {now} of {least}"
            );
            assert!(round == 0 || now == found[wallet as usize], "{what}");
            found[wallet as usize] = now;
        }
        journal.flush().unwrap();
        for wallet in 0..WALLETS {
            assert_eq!(version(&journal, wallet), found[wallet as usize], "{what}");
        }
        journal.close().unwrap();
    }
    // And it goes on from there.
    let journal = SledJournal::open(options(dir, &Arc::default())).unwrap();
    let next = WalletModel::of(&journal, [0]).next(0);
    assert_eq!(commit(&journal, &[next]).1, Outcome::Durable);
}

/// Places an order and pays every other one, with a note of it each time, until the journal fails;
/// how many orders were acknowledged.
fn sell_until_failure(doomed: &Doomed) -> u128 {
    let journal = &doomed.journal;
    let mut model = WalletModel::default();
    for order in 1..=300_u128 {
        let mut events = Vec::new();
        if order == 1 {
            events.push(model.opened(1, PROJECT));
        }
        let at = i64::try_from(order).unwrap();
        events.push(model.placed(1, at, order, OrderKind::Checkout));
        if order % 2 == 0 {
            let address = format!("{order}@mail.example");
            events.push(model.paid(1, at, order, Some(&address)));
        }
        events.push(shop::note("last", Some(&order.to_string())));
        let (done, answers) = waiter();
        if journal.append(append(&events), Some(done)).is_err() {
            return order - 1;
        }
        if answers.recv_timeout(TIMEOUT).unwrap() == Outcome::Unknown {
            return order - 1;
        }
        if order % 10 == 0 && journal.flush().is_err() {
            return order;
        }
    }
    while journal.refusing().is_none() {
        std::thread::yield_now();
    }
    300
}

/// Every order up to the last one is found in every way, and nothing else is; which is the last.
fn check_orders(journal: &dyn Books, acknowledged: u128) -> u128 {
    let places = journal.orders(PROJECT, None, usize::MAX).unwrap();
    let listed: Vec<_> = places.iter().map(|place| place.order.serial.0).collect();
    let last = listed.first().copied().unwrap_or(0);
    // One more was under way at most.
    assert!((acknowledged..=acknowledged + 1).contains(&last), "{last}");
    assert_eq!(listed, (1..=last).rev().collect::<Vec<_>>());
    let due = journal.due(PROJECT, None, Timestamp::NEVER, usize::MAX);
    let due: Vec<_> = due.unwrap().iter().map(|p| p.order.serial.0).collect();
    assert_eq!(due, (1..=last).step_by(2).collect::<Vec<_>>());
    for order in 1..=last + 1 {
        let checkout = shop::checkout(order);
        let found = journal
            .order_by_provider_id(PROJECT, ProviderId::Checkout(&checkout))
            .unwrap();
        assert_eq!(found, (order <= last).then(|| shop::id(1, order)));
        let address = shop::email(&format!("{order}@MAIL.example"));
        let buyers = journal
            .wallets_of(PROJECT, WalletName::Buyer(&address), 9)
            .unwrap();
        let paid = order <= last && order % 2 == 0;
        assert_eq!(buyers.len(), usize::from(paid));
    }
    let note = journal.notes(b"last").unwrap();
    let note = note.first().map(|(_, body)| body.to_vec());
    assert_eq!(note, (last > 0).then(|| last.to_string().into_bytes()));
    last
}

const PROJECT: ProjectId = ProjectId(7);

#[test]
fn a_failure_of_any_step_leaves_every_order_found() {
    for step in Step::ALL {
        for after in [0, 2, 9] {
            if step == Step::SyncWatermark {
                continue;
            }
            let what = format!("{step:?} after {after}");
            // Also where a checkpoint ends because it is large.
            let doomed = Doomed::open(|options| options.checkpoint.bytes = 500);
            doomed.trouble.fail(step, after);
            let acknowledged = sell_until_failure(&doomed);
            assert!(doomed.journal.close().is_err(), "{what}");
            let image = crash_image(doomed.dir.path());
            let mut last = None;
            for _ in 0..2 {
                let report = verify(image.path()).unwrap();
                assert_eq!(report.problems, [""; 0], "{what}");
                let journal = SledJournal::open(options(image.path(), &Arc::default())).unwrap();
                let recovered = check_orders(&journal, acknowledged);
                assert_eq!(*last.get_or_insert(recovered), recovered, "{what}");
                journal.flush().unwrap();
                assert_eq!(check_orders(&journal, acknowledged), recovered, "{what}");
                journal.close().unwrap();
            }
            let report = verify(image.path()).unwrap();
            assert_eq!(u128::from(report.orders), last.unwrap(), "{what}");
        }
    }
}

/// One wallet in memory, and the ticket of its last append.
#[derive(Default)]
struct Shown(Mutex<Option<(Wallet, Ticket)>>);

impl Awake for Shown {
    fn show(&self, key: &WalletKey, look: &mut dyn FnMut(&Wallet, Ticket)) {
        if let Some((wallet, last)) = &*self.0.lock()
            && wallet.key == *key
        {
            look(wallet, *last);
        }
    }
}

/// A checkpoint of a wallet's first five events, while the wallet has lived through ten. Cut off after each of
/// the checkpoint's steps.
#[test]
fn a_checkpoint_that_takes_a_snapshot_from_a_wallet_ahead_of_it_may_end_anywhere() {
    for durable in [5, 10] {
        let Doomed {
            dir,
            trouble,
            journal,
            ..
        } = slow(Options::new("").backlog_limit);
        let (mut model, shown) = (WalletModel::default(), Arc::<Shown>::default());
        journal.follow(Arc::downgrade(&(Arc::clone(&shown) as Arc<dyn Awake>)));
        let mut some = |journal: &SledJournal| {
            for _ in 0..5 {
                journal.append(append(&[model.next(0)]), None).unwrap();
            }
            let wallet = model.wallet(0).clone();
            let last = Ticket(wallet.version);
            *shown.0.lock() = Some((wallet, last));
        };
        some(&journal);
        commit(&journal, &[]);
        trouble.hold_step(Step::Checkpoint, true);
        journal.checkpoint_soon();
        trouble.wait_held(Step::Checkpoint);
        // The checkpoint has its five events.
        trouble.hold_step(Step::InsertFrame, durable == 5);
        some(&journal);
        if durable == 10 {
            commit(&journal, &[]);
        }
        let steps = [
            Step::Checkpoint,
            Step::WriteMeta,
            Step::FlushCheckpoint,
            Step::SyncCheckpoint,
            Step::Forget,
            Step::DropFrame,
        ];
        for (step, next) in steps.iter().zip(steps.iter().skip(1)) {
            trouble.hold_step(*next, true);
            trouble.hold_step(*step, false);
            trouble.wait_held(*next);
            let what = format!("{durable} durable, before {next:?}");
            recovered_one(crash_image(dir.path()).path(), durable, &what);
        }
        trouble.hold_step(Step::DropFrame, false);
        while journal.applied() < Ticket(5) {
            std::thread::yield_now();
        }
        assert_eq!(
            version(&journal, 0),
            if durable == 10 { 10 } else { 5 },
            "as of its snapshot"
        );
        recovered_one(crash_image(dir.path()).path(), durable, "applied");
        trouble.hold_step(Step::InsertFrame, false);
        journal.flush().unwrap();
        assert_eq!(version(&journal, 0), 10);
        journal.close().unwrap();
        recovered_one(dir.path(), 10, "closed");
    }
}

fn recovered_one(dir: &std::path::Path, expected: u64, what: &str) {
    for _ in 0..2 {
        assert_eq!(verify(dir).unwrap().problems, [""; 0], "{what}");
        let journal = SledJournal::open(options(dir, &Arc::default())).unwrap();
        assert_eq!(version(&journal, 0), expected, "{what}");
        let stored = journal.load(&key(0)).unwrap().unwrap();
        assert_eq!(stored.history.applied(), expected, "{what}");
        let records = stored.history.before(u64::MAX, 100).unwrap();
        assert_eq!(records.len() as u64, expected - 1, "{what}");
        journal.close().unwrap();
    }
}

#[test]
fn a_process_that_dies_loses_nothing_that_was_acknowledged() {
    let alive = Doomed::open(|options| options.checkpoint_interval = Duration::from_millis(5));
    let mut model = WalletModel::default();
    let mut expected = 0;
    for _ in 0..10 {
        for _ in 0..25 {
            expected += 1;
            for wallet in 0..WALLETS {
                commit(&alive.journal, &[model.next(wallet)]);
            }
        }
        // The checkpointer may be anywhere; a copy is not one moment, so it must rest.
        alive.journal.flush().unwrap();
        expected += 1;
        for wallet in 0..WALLETS {
            let next = append(&[model.next(wallet)]);
            alive.journal.append(next, None).unwrap();
        }
        commit(&alive.journal, &[]);
    }
    alive.journal.flush().unwrap();
    let image = crash_image(alive.dir.path());
    recovered(image.path(), [expected; WALLETS as usize], "killed");
}

#[test]
fn a_group_larger_than_a_frame_is_several_frames_in_order() {
    let journal = Doomed::open(|options| options.checkpoint_interval = Duration::from_secs(3600));
    let mut model = WalletModel::default();
    journal.trouble.hold(true);
    for _ in 1..=2000 {
        for wallet in 0..WALLETS {
            let next = append(&[model.next(wallet)]);
            journal.journal.append(next, None).unwrap();
        }
    }
    journal.trouble.hold(false);
    assert_eq!(commit(&journal.journal, &[]).1, Outcome::Durable);
    journal.journal.close().unwrap();
    drop(journal.journal);
    let report = verify(journal.dir.path()).unwrap();
    assert_eq!((report.problems.len(), report.pending_events), (0, 6000));
    assert!(
        report.frames > 3 && report.frames < 20,
        "{} frames",
        report.frames
    );
    assert_eq!(
        std::fs::read_dir(journal.dir.path().join("sled/blobs"))
            .unwrap()
            .count(),
        0
    );
    recovered(journal.dir.path(), [2000; WALLETS as usize], "large groups");
}

/// A store that checkpoints only when it is asked to.
fn slow(limit: Backlog) -> Doomed {
    Doomed::open(|options| {
        options.backlog_limit = limit;
        options.checkpoint_interval = Duration::from_secs(3600);
    })
}

#[test]
fn a_backlog_is_refused_and_taken_again_after_checkpointing() {
    let mut model = WalletModel::default();
    let limit = Backlog {
        events: 10,
        bytes: u64::MAX,
    };
    let journal = &slow(limit).journal;
    for _ in 1..=9 {
        journal.append(append(&[model.next(0)]), None).unwrap();
        assert_eq!(journal.refusing(), None);
    }
    journal.append(append(&[model.next(0)]), None).unwrap();
    assert_eq!(journal.refusing(), Some(AppendRefusal::Backlog));
    assert_eq!(journal.backlog().events, 10);
    // An append that was allowed before is still taken.
    journal.append(append(&[model.next(0)]), None).unwrap();
    assert_eq!(journal.backlog().events, 11);
    journal.flush().unwrap();
    assert_eq!(
        (journal.refusing(), journal.backlog()),
        (None, Backlog::default())
    );
    assert_eq!(commit(journal, &[model.next(0)]).1, Outcome::Durable);
}

#[test]
fn a_backlog_of_few_large_events_is_refused_too() {
    let limit = Backlog {
        events: u64::MAX,
        bytes: 100_000,
    };
    let journal = &slow(limit).journal;
    let note = |number: u32| shop::note(&format!("{number}"), Some(&"x".repeat(30_000)));
    for number in 0..4 {
        assert_eq!(journal.refusing(), None);
        journal.append(append(&[note(number)]), None).unwrap();
    }
    assert_eq!(journal.refusing(), Some(AppendRefusal::Backlog));
    journal.append(append(&[note(4)]), None).unwrap();
    let behind = journal.backlog();
    assert!(
        behind.events == 5 && (150_000..151_000).contains(&behind.bytes),
        "{behind:?}"
    );
    journal.flush().unwrap();
    assert_eq!(
        (journal.refusing(), journal.backlog()),
        (None, Backlog::default())
    );
    assert_eq!(journal.notes(b"").unwrap().len(), 5);
}

#[test]
fn a_disk_that_stalls_is_noticed_by_what_waits_for_it() {
    let stalled = Doomed::open(|options| options.queue_bytes = 50_000);
    let (journal, trouble) = (&stalled.journal, &stalled.trouble);
    let note = |number: u32| shop::note(&format!("{number}"), Some(&"x".repeat(20_000)));
    trouble.hold(true);
    // This one is on its way to the disk, and no longer in the queue.
    journal.append(append(&[note(0)]), None).unwrap();
    trouble.wait_held(Step::FlushFrames);
    for number in 1..=3 {
        assert_eq!(journal.refusing(), None);
        journal.append(append(&[note(number)]), None).unwrap();
    }
    assert_eq!(journal.refusing(), Some(AppendRefusal::Backlog));
    // An append that was allowed before is still taken, and answered like all others.
    let (done, answers) = waiter();
    journal.append(append(&[note(4)]), Some(done)).unwrap();
    assert!(answers.try_recv().is_err());
    trouble.hold(false);
    assert_eq!(answers.recv_timeout(TIMEOUT), Ok(Outcome::Durable));
    assert_eq!(journal.refusing(), None);
    journal.flush().unwrap();
    assert_eq!(journal.notes(b"").unwrap().len(), 5);
}

#[test]
fn a_disk_that_is_nearly_full_refuses_writes_and_still_reads() {
    let mut model = WalletModel::default();
    let dir = tempfile::tempdir().unwrap();
    let journal = SledJournal::open(options(dir.path(), &Arc::default())).unwrap();
    commit(&journal, &[model.next(0)]);
    drop(journal);
    let mut tight = options(dir.path(), &Arc::default());
    tight.min_free_bytes = u64::MAX;
    let journal = SledJournal::open(tight).unwrap();
    assert_eq!(journal.refusing(), Some(AppendRefusal::DiskFull));
    assert_eq!(version(&journal, 0), 1);
    // An append that was decided before is still taken.
    assert_eq!(commit(&journal, &[model.next(0)]).1, Outcome::Durable);
    journal.flush().unwrap();
    assert_eq!(version(&journal, 0), 2);
}

/// Fails at a step, and keeps what a crash would leave there.
struct CutOff {
    step: Step,
    after: AtomicU32,
    dir: std::path::PathBuf,
    left: Mutex<Option<tempfile::TempDir>>,
}

impl InjectFault for CutOff {
    fn before(&self, step: Step) -> Result<(), String> {
        if step != self.step || self.after.fetch_sub(1, Ordering::AcqRel) > 0 {
            return Ok(());
        }
        *self.left.lock() = Some(crash_image(&self.dir));
        Err("cut off for a test".into())
    }
}

#[test]
fn opening_that_is_cut_off_anywhere_is_mended_by_opening_again() {
    // Many frames, and several checkpoints of them.
    let closed = tempfile::tempdir().unwrap();
    let mut pending = options(closed.path(), &Arc::default());
    pending.checkpoint_interval = Duration::from_secs(3600);
    let journal = SledJournal::open(pending).unwrap();
    let mut model = WalletModel::default();
    for _ in 0..8 {
        for wallet in 0..WALLETS {
            commit(&journal, &[model.next(wallet), shop::note("n", Some("x"))]);
        }
    }
    journal.close().unwrap();
    drop(journal);
    assert_eq!(verify(closed.path()).unwrap().frames, 24);
    let steps = [
        Step::Checkpoint,
        Step::WriteMeta,
        Step::FlushCheckpoint,
        Step::SyncCheckpoint,
        Step::Forget,
        Step::DropFrame,
    ];
    for step in steps {
        let mut cuts = 0;
        loop {
            let what = format!("opening: {step:?} after {cuts}");
            let image = crash_image(closed.path());
            let cut = Arc::new(CutOff {
                step,
                after: cuts.into(),
                dir: image.path().to_path_buf(),
                left: Mutex::default(),
            });
            let mut failing = options(image.path(), &Arc::default());
            failing.checkpoint.bytes = 500;
            failing.faults = (&cut).into();
            let opened = SledJournal::open(failing);
            let Some(left) = cut.left.lock().take() else {
                assert!(opened.is_ok(), "{what}");
                break;
            };
            assert!(matches!(opened.err(), Some(Error::Io(_))), "{what}");
            // What was on the disk then, and what is there now: the store that failed is not let go
            // of before the process ends, for that would write once more.
            recovered(left.path(), [8; WALLETS as usize], &what);
            let after = crash_image(image.path());
            recovered(after.path(), [8; WALLETS as usize], &what);
            cuts += 1;
        }
        let least = if step == Step::DropFrame { 24 } else { 4 };
        assert!(cuts >= least, "{step:?}: {cuts}");
    }
}

/// A closed store of a wallet; its events are not applied.
fn closed() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let mut pending = options(dir.path(), &Arc::default());
    pending.checkpoint_interval = Duration::from_secs(3600);
    let journal = SledJournal::open(pending).unwrap();
    let mut model = WalletModel::default();
    for _ in 1..=2000 {
        journal.append(append(&[model.next(0)]), None).unwrap();
    }
    commit(&journal, &[]);
    journal.close().unwrap();
    drop(journal);
    // A closed store is free at once.
    drop(verify(dir.path()).unwrap());
    dir
}

fn refusal(dir: &std::path::Path) -> Error {
    SledJournal::open(options(dir, &Arc::default()))
        .err()
        .expect("refuses to start")
}

/// Each opening has sled write a snapshot of where its log stands. It takes one that was not finished
/// for the newest there is, and would not open again.
#[test]
fn a_snapshot_that_an_opening_began_to_write_is_no_harm_however_far_it_came() {
    let dir = closed();
    let sled = dir.path().join("sled");
    let written = std::fs::read_dir(&sled)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| {
            path.file_name()
                .unwrap()
                .to_str()
                .unwrap()
                .starts_with("snap.")
        })
        .map(|path| std::fs::read(path).unwrap())
        .expect("the openings before wrote one");
    for length in [0, 5, 13, written.len() / 2, written.len() - 1] {
        let image = crash_image(dir.path());
        let unfinished = image.path().join("sled/snap.00000000026DF66E.generating");
        std::fs::write(&unfinished, &written[..length]).unwrap();
        let journal = SledJournal::open(options(image.path(), &Arc::default()));
        let journal = journal.unwrap_or_else(|error| panic!("{length} bytes of it: {error}"));
        let next = WalletModel::of(&journal, [0]).next(0);
        assert_eq!(commit(&journal, &[next]).1, Outcome::Durable);
        journal.close().unwrap();
        assert_eq!(verify(image.path()).unwrap().problems, [""; 0]);
    }
}

#[test]
fn a_second_server_on_the_same_directory_is_refused() {
    let open = Doomed::open(|_| {});
    let error = refusal(open.dir.path());
    assert!(
        error.to_string().contains("another Scrip is using"),
        "{error}"
    );
    assert!(matches!(verify(open.dir.path()), Err(Error::Unusable(_))));
}

#[test]
fn an_older_database_beside_a_newer_watermark_is_refused() {
    let dir = closed();
    let old = crash_image(dir.path());
    let journal = SledJournal::open(options(dir.path(), &Arc::default())).unwrap();
    let next = WalletModel::of(&journal, [0]).next(0);
    commit(&journal, &[next]);
    journal.close().unwrap();
    drop(journal);
    std::fs::copy(dir.path().join("watermark"), old.path().join("watermark")).unwrap();
    let error = refusal(old.path());
    assert!(error.to_string().contains("its end was lost"), "{error}");
    assert!(verify(old.path()).unwrap().problems[0].contains("its end was lost"));

    std::fs::remove_dir_all(old.path().join("sled")).unwrap();
    assert!(refusal(old.path()).to_string().contains("is missing"));
}

#[test]
fn a_missing_watermark_is_refused() {
    let dir = closed();
    std::fs::remove_file(dir.path().join("watermark")).unwrap();
    let error = refusal(dir.path());
    assert!(error.to_string().contains("watermark"), "{error}");
}

#[test]
fn a_value_in_a_file_of_its_own_is_refused() {
    let dir = closed();
    std::fs::write(dir.path().join("sled/blobs/17"), b"x").unwrap();
    assert!(refusal(dir.path()).to_string().contains("blobs"));
}

#[test]
fn a_creation_that_was_cut_short_is_started_over() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(dir.path().join("sled.new/blobs")).unwrap();
    std::fs::write(dir.path().join("sled.new/db"), b"half").unwrap();
    let journal = SledJournal::open(options(dir.path(), &Arc::default())).unwrap();
    assert_eq!(
        commit(&journal, &[WalletModel::default().next(0)]).1,
        Outcome::Durable
    );
    assert!(!dir.path().join("sled.new").exists());
}

/// Wherever a bit flips, opening or verifying says so or nothing was lost: never a panic, never other books.
#[test]
fn a_flipped_bit_is_an_error_or_harmless() {
    let dir = closed();
    let length = std::fs::metadata(dir.path().join("sled/db")).unwrap().len();
    let mut refused = 0;
    for part in 0..24 {
        let image = crash_image(dir.path());
        let path = image.path().join("sled/db");
        let mut bytes = std::fs::read(&path).unwrap();
        let used = bytes.iter().rposition(|byte| *byte != 0).unwrap_or(0);
        assert!(used > 0 && length > 0);
        bytes[used * part / 24 + 11] ^= 0x10;
        std::fs::write(&path, bytes).unwrap();
        match SledJournal::open(options(image.path(), &Arc::default())) {
            Ok(journal) => assert_eq!(version(&journal, 0), 2000, "part {part}"),
            Err(Error::Damaged(_) | Error::Unusable(_) | Error::Io(_)) => refused += 1,
            Err(other) => panic!("part {part}: {other}"),
        }
    }
    assert!(refused > 0, "no flip was noticed");
}

#[test]
fn a_callback_that_holds_the_last_reference_closes_cleanly() {
    let dir = tempfile::tempdir().unwrap();
    let trouble = Arc::<Trouble>::default();
    let journal = Arc::new(SledJournal::open(options(dir.path(), &trouble)).unwrap());
    trouble.hold(true);
    let (done, answers) = waiter();
    let last = Arc::clone(&journal);
    let done = Box::new(move |outcome| {
        drop(last);
        done(outcome);
    });
    journal
        .append(append(&[WalletModel::default().next(0)]), Some(done))
        .unwrap();
    drop(journal);
    trouble.hold(false);
    assert_eq!(answers.recv_timeout(TIMEOUT), Ok(Outcome::Durable));
}
