//! Processes that share a log in a real database, at the level of their journals, with a proxy between each and the
//! database: who leads, what is reported, and what becomes of commits whose answers are lost.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::panic,
    dead_code,
    reason = "a panic in a test is a failed test, which is the point"
)]

#[path = "../../../persistence/tests/common/mod.rs"]
mod common;
#[path = "common/member.rs"]
mod member;

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};

use cluster::postgres::{Followed, Follower, Member};
use common::{TIMEOUT, WalletModel, append, commit, version, waiter};
use member::{database, lead, member};
use parking_lot::Mutex;
use persistence::{AppendRefusal, Books, Error, Log, Options, Outcome, SledJournal, Ticket};
use postgres_kit::{Postgres, Proxy};

/// A process: its directory, and its way to the database.
struct Process {
    dir: tempfile::TempDir,
    proxy: Proxy,
    url: String,
    /// Why its log failed for good.
    failed: Arc<Mutex<Option<Error>>>,
}

impl Process {
    fn of(server: &Postgres, name: &str) -> Self {
        let proxy = Proxy::to(server.address());
        Self {
            dir: tempfile::tempdir().unwrap(),
            url: server.url_through(&proxy, name),
            proxy,
            failed: Arc::default(),
        }
    }

    fn options(&self) -> Options {
        let mut options = common::options(self.dir.path(), &Arc::default());
        options.faults = persistence::Faults::default();
        let failed = Arc::clone(&self.failed);
        options.on_fatal = Arc::new(move |why| *failed.lock() = Some(why.clone()));
        options
    }

    fn member(&self) -> Member {
        // Snapshots soon: who joins a log that began behind a directory needs one.
        Member {
            snapshot_every: Some(Duration::from_secs(3600)),
            ..member(&self.url)
        }
    }

    fn lead(&self) -> Arc<SledJournal> {
        lead(self.options(), self.member())
    }

    /// Follows on a thread of its own; what it comes to is sent.
    fn follow(&self) -> Following {
        let follower = Follower::join(self.options(), self.member()).unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let (send, comes_to) = mpsc::channel();
        let asked = Arc::clone(&stop);
        thread::spawn(move || {
            let followed = follower.follow(&|| asked.load(Ordering::Acquire));
            let _ = send.send(followed);
        });
        Following { comes_to, stop }
    }
}

struct Following {
    comes_to: mpsc::Receiver<Result<Followed, Error>>,
    stop: Arc<AtomicBool>,
}

impl Following {
    fn leads(&self) -> Arc<SledJournal> {
        match self.comes_to.recv_timeout(TIMEOUT).unwrap().unwrap() {
            Followed::Leads { journal, .. } => journal,
            other => panic!("{other:?}"),
        }
    }

    fn stop(self) {
        self.stop.store(true, Ordering::Release);
        let ended = self.comes_to.recv_timeout(TIMEOUT).unwrap();
        assert!(matches!(ended, Ok(Followed::Stopped)), "{ended:?}");
    }
}

fn wait_until(what: &str, condition: impl Fn() -> bool) {
    let started = Instant::now();
    while !condition() {
        assert!(started.elapsed() < TIMEOUT, "never: {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

fn shared() -> (&'static Postgres, String) {
    let server = postgres_kit::shared();
    (server, server.create_database())
}

#[test]
fn a_leader_that_is_cut_off_is_replaced_and_answers_nothing_when_it_comes_back() {
    let (server, name) = shared();
    let (first, second) = (Process::of(server, &name), Process::of(server, &name));
    let leader = first.lead();
    let following = second.follow();
    let mut model = WalletModel::default();
    let mut last = Ticket(0);
    for _ in 0..20 {
        let (ticket, outcome) = commit(&*leader, &[model.next(1)]);
        assert_eq!(outcome, Outcome::Durable);
        last = ticket;
    }
    assert!(leader.can_serve_reads(last) && leader.leads());

    first.proxy.blackhole(true);
    // Taken in before it is known that it reaches nobody.
    let (done, answers) = waiter();
    leader.append(append(&[model.next(1)]), Some(done)).unwrap();
    let next = following.leads();
    assert!(
        !leader.can_serve_reads(last),
        "it could show what is no longer so"
    );
    assert_eq!(version(&*next, 1), 20);
    let mut others = WalletModel::of(&*next, [1]);
    assert_eq!(commit(&*next, &[others.next(1)]).1, Outcome::Durable);

    first.proxy.blackhole(false);
    assert_eq!(answers.recv_timeout(TIMEOUT).unwrap(), Outcome::Unknown);
    wait_until("it learns that it is fenced", || {
        first.failed.lock().is_some()
    });
    let why = first.failed.lock().clone();
    assert!(matches!(why, Some(Error::Fenced(_))), "{why:?}");
    assert_eq!(leader.refusing(), Some(AppendRefusal::Fenced));
    assert!(!leader.leads() && !leader.can_serve_reads(last));
    next.flush().unwrap();
    assert_eq!(version(&*next, 1), 21);
}

#[test]
fn a_leader_that_stops_in_order_is_followed_at_once() {
    let (server, name) = shared();
    let (first, second) = (Process::of(server, &name), Process::of(server, &name));
    let leader = first.lead();
    let following = second.follow();
    let mut model = WalletModel::default();
    assert_eq!(commit(&*leader, &[model.next(1)]).1, Outcome::Durable);
    let stopped = Instant::now();
    leader.close().unwrap();
    let next = following.leads();
    let away = stopped.elapsed();
    assert!(away < Duration::from_secs(3), "it waited for {away:?}");
    assert_eq!(version(&*next, 1), 1);
}

/// Each thread appends to a wallet of its own while `trouble` is made; everything becomes durable, once.
fn nothing_is_lost_or_doubled(server: &Postgres, name: &str, trouble: impl Fn(&Process, u32)) {
    let process = Process::of(server, name);
    let leader = process.lead();
    let stop = AtomicBool::new(false);
    let answered: Vec<AtomicU64> = (0..16).map(|_| AtomicU64::new(0)).collect();
    let durable: Vec<u64> = thread::scope(|scope| {
        let writers: Vec<_> = (1..=16_u64)
            .zip(&answered)
            .map(|(wallet, answered)| {
                let (leader, stop, failed) = (&leader, &stop, &process.failed);
                scope.spawn(move || {
                    let mut model = WalletModel::default();
                    let mut durable = 0;
                    while !stop.load(Ordering::Acquire) {
                        if leader.refusing().is_some() {
                            thread::sleep(Duration::from_millis(1));
                            continue;
                        }
                        let (_, outcome) = commit(&**leader, &[model.next(wallet)]);
                        // Unknown: it took too long to say. It is done all the same, unless the log failed.
                        let why = failed.lock().clone();
                        assert!(outcome == Outcome::Durable || why.is_none(), "{why:?}");
                        durable += 1;
                        answered.store(durable, Ordering::Release);
                    }
                    durable
                })
            })
            .collect();
        for round in 0..12 {
            trouble(&process, round);
            thread::sleep(Duration::from_millis(150));
        }
        wait_until("everybody is answered again", || {
            answered
                .iter()
                .all(|durable| durable.load(Ordering::Acquire) > 10)
        });
        stop.store(true, Ordering::Release);
        writers
            .into_iter()
            .map(|writer| writer.join().unwrap())
            .collect()
    });
    leader.flush().unwrap();
    for (wallet, durable) in (1..).zip(&durable) {
        assert_eq!(version(&*leader, wallet), *durable);
    }
    leader.close().unwrap();
    drop(leader);
    // Another makes the same of the log.
    let other = Process::of(server, name);
    let again = other.lead();
    for (wallet, durable) in (1..).zip(&durable) {
        assert_eq!(version(&*again, wallet), *durable);
    }
}

#[test]
fn commits_whose_answers_are_lost_are_found_to_be_in() {
    let (server, name) = shared();
    nothing_is_lost_or_doubled(server, &name, |process, _| {
        process.proxy.lose_next_answer_with(b"INSERT 0 ");
    });
}

#[test]
fn commits_that_never_arrived_are_made_again() {
    let (server, name) = shared();
    nothing_is_lost_or_doubled(server, &name, |process, round| match round % 3 {
        0 => process.proxy.lose_next_request(),
        1 => process.proxy.cut(),
        _ => process.proxy.lose_next_answer_with(b"INSERT 0 "),
    });
}

#[test]
fn a_database_that_ends_its_sessions_is_asked_again() {
    let (server, name) = shared();
    nothing_is_lost_or_doubled(server, &name, |_, _| {
        server.psql(&format!(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"
        ));
    });
}

#[test]
fn a_database_that_is_killed_and_starts_again_has_lost_nothing() {
    let server = Postgres::start();
    let name = server.create_database();
    let rounds = |_: &Process, round: u32| {
        if round % 4 == 1 {
            server.kill();
            server.start_again();
        }
    };
    nothing_is_lost_or_doubled(&server, &name, rounds);
}

#[test]
fn callers_are_answered_within_seconds_and_what_they_asked_for_is_done_once_the_database_is_back() {
    let (server, name) = shared();
    let process = Process::of(server, &name);
    let leader = process.lead();
    let mut model = WalletModel::default();
    assert_eq!(commit(&*leader, &[model.next(1)]).1, Outcome::Durable);
    process.proxy.refuse(true);
    process.proxy.cut();
    let (done, answers) = waiter();
    leader.append(append(&[model.next(1)]), Some(done)).unwrap();
    wait_until("it refuses before anything is done", || {
        leader.refusing() == Some(AppendRefusal::Unreachable)
    });
    let (done, _) = waiter();
    let read = leader.append(append(&[]), Some(done));
    assert_eq!(read.unwrap_err(), AppendRefusal::Unreachable);
    let asked = Instant::now();
    assert_eq!(answers.recv_timeout(TIMEOUT).unwrap(), Outcome::Unknown);
    assert!(
        asked.elapsed() < Duration::from_secs(15),
        "{:?}",
        asked.elapsed()
    );
    process.proxy.refuse(false);
    wait_until("it goes on", || leader.refusing().is_none());
    assert_eq!(commit(&*leader, &[model.next(1)]).1, Outcome::Durable);
    leader.flush().unwrap();
    assert_eq!(version(&*leader, 1), 3);
}

#[test]
fn a_commit_that_was_not_waited_for_is_not_called_durable() {
    let server = Postgres::start();
    let standby = server.add_standby(true);
    let name = server.create_database();
    let process = Process::of(&server, &name);
    let leader = process.lead();
    let mut model = WalletModel::default();
    assert_eq!(commit(&*leader, &[model.next(1)]).1, Outcome::Durable);
    standby.freeze();
    let (done, answers) = waiter();
    leader.append(append(&[model.next(1)]), Some(done)).unwrap();
    wait_until("the commit waits for the standby", || {
        let waiting =
            server.psql("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'");
        waiting.trim() != "0"
    });
    // It is committed here, and the server says so, behind a warning.
    server.psql(&format!(
        "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE datname = '{name}' AND wait_event = 'SyncRep'"
    ));
    let early = answers.recv_timeout(Duration::from_secs(2));
    assert!(
        early.is_err(),
        "reported {early:?} before the standby had it"
    );
    standby.thaw();
    assert_eq!(answers.recv_timeout(TIMEOUT).unwrap(), Outcome::Durable);
    leader.flush().unwrap();
    assert_eq!(version(&*leader, 1), 2);
}

#[test]
fn a_database_that_has_lost_what_it_acknowledged_is_named_and_refused() {
    let (server, name) = shared();
    let process = Process::of(server, &name);
    let leader = process.lead();
    let mut model = WalletModel::default();
    for _ in 0..5 {
        assert_eq!(commit(&*leader, &[model.next(1)]).1, Outcome::Durable);
    }
    leader.close().unwrap();
    drop(leader);
    server.psql_in(&name, "DELETE FROM scrip.log_0_0 WHERE lsn > 3");
    let refused = Follower::join(process.options(), process.member()).unwrap_err();
    let words = refused.to_string();
    assert!(matches!(refused, Error::Unusable(_)), "{words}");
    assert!(
        words.contains("was acknowledged") && words.contains("frame 3"),
        "{words}"
    );
}

#[test]
fn an_installation_moves_in_and_out_with_its_directory_and_numbers() {
    let (server, name) = shared();
    let process = Process::of(server, &name);
    let mut model = WalletModel::default();
    let alone = SledJournal::open(process.options()).unwrap();
    for _ in 0..7 {
        assert_eq!(commit(&alone, &[model.next(1)]).1, Outcome::Durable);
    }
    let before = alone.last_project_event();
    alone.close().unwrap();
    drop(alone);

    let leader = process.lead();
    assert_eq!(version(&*leader, 1), 7);
    assert!(leader.last_project_event() > before, "numbers went back");
    assert_eq!(commit(&*leader, &[model.next(1)]).1, Outcome::Durable);
    leader.close().unwrap();
    drop(leader);

    // Its own log has ended where the shared one began.
    let refused = SledJournal::open(process.options())
        .err()
        .unwrap()
        .to_string();
    assert!(refused.contains("scrip cluster leave"), "{refused}");
    let leader = process.lead();
    let other = Process::of(server, &name);
    let following = other.follow();
    leader.leave().unwrap();
    drop(leader);
    let alone = SledJournal::open(process.options()).unwrap();
    assert_eq!(version(&alone, 1), 8);
    assert_eq!(commit(&alone, &[model.next(1)]).1, Outcome::Durable);
    alone.flush().unwrap();
    assert_eq!(version(&alone, 1), 9);

    // Nobody goes on with what it left.
    let ended = following.comes_to.recv_timeout(TIMEOUT).unwrap();
    assert!(
        matches!(ended, Ok(Followed::Taken { is_own: false })),
        "{ended:?}"
    );
}

#[test]
fn a_directory_and_a_database_that_do_not_belong_together_are_kept_apart() {
    let (server, name) = shared();
    let process = Process::of(server, &name);
    let mut model = WalletModel::default();
    let leader = process.lead();
    assert_eq!(commit(&*leader, &[model.next(1)]).1, Outcome::Durable);
    leader.close().unwrap();
    drop(leader);
    let refused =
        |options: Options, member: Member| Follower::join(options, member).unwrap_err().to_string();

    let elsewhere = member(&database());
    let words = refused(process.options(), elsewhere);
    assert!(words.contains("storage.url"), "{words}");

    let own = Process::of(server, &name);
    let alone = SledJournal::open(own.options()).unwrap();
    assert_eq!(
        commit(&alone, &[WalletModel::default().next(5)]).1,
        Outcome::Durable
    );
    alone.close().unwrap();
    drop(alone);
    let words = refused(own.options(), own.member());
    assert!(words.contains("data of its own"), "{words}");

    let new = Process::of(server, &name);
    let words = refused(
        new.options(),
        Member {
            key_check: Arc::new(|_| Ok(vec![8])),
            ..new.member()
        },
    );
    assert!(words.contains("server key"), "{words}");
}

#[test]
fn a_server_that_would_lose_what_it_acknowledges_is_refused() {
    let server = Postgres::start();
    let name = server.create_database();
    server.set("full_page_writes", "off");
    let process = Process::of(&server, &name);
    let words = Follower::join(process.options(), process.member())
        .unwrap_err()
        .to_string();
    assert!(words.contains("full_page_writes"), "{words}");
}
