//! The contract of `Journal`, clause by clause, against every implementation.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::panic,
    reason = "a panic in a test is a failed test, which is the point"
)]

mod common;
#[path = "conformance/orders.rs"]
mod orders;

use std::{
    sync::{Arc, mpsc},
    thread,
};

use common::{
    PATIENCE, Trouble, append, commit, created, created_with_code, granted, key, nth, options,
    project, rotated, version, waiter,
};
use domain::{
    history::{Lookup, Record},
    id::{CodeHash, WalletKey},
};
use orders::{
    a_list_goes_on_where_it_was_while_new_orders_arrive, an_order_is_found_by_its_checkout,
    buyers_are_found_by_the_address_they_paid_under,
    notes_keep_the_latest_form_until_they_are_forgotten,
    orders_are_due_until_they_are_paid_failed_or_expired,
    orders_are_listed_newest_first_each_in_its_project,
};
use persistence::{Error, Journal, MemoryJournal, Outcome, Refused, SledJournal, Step, Ticket};

/// An implementation under test.
trait Subject {
    fn journal(&self) -> Arc<dyn Journal>;
    /// Stops it and starts it again on what it kept.
    fn reopen(&mut self);
    /// Nothing becomes durable while held.
    fn hold(&self, holding: bool);
    /// The next write, or the one held back, fails.
    fn fail(&self);
}

struct OnSled {
    dir: tempfile::TempDir,
    trouble: Arc<Trouble>,
    journal: Option<Arc<SledJournal>>,
}

impl OnSled {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut new = Self {
            dir,
            trouble: Arc::default(),
            journal: None,
        };
        new.reopen();
        new
    }
}

impl Subject for OnSled {
    fn journal(&self) -> Arc<dyn Journal> {
        Arc::clone(self.journal.as_ref().unwrap()) as Arc<dyn Journal>
    }

    fn reopen(&mut self) {
        if let Some(journal) = self.journal.take() {
            journal.close().unwrap();
        }
        let journal = SledJournal::open(options(self.dir.path(), &self.trouble)).unwrap();
        self.journal = Some(Arc::new(journal));
    }

    fn hold(&self, holding: bool) {
        self.trouble.hold(holding);
    }

    fn fail(&self) {
        self.trouble.fail(Step::FlushFrames, 0);
        self.trouble.hold(false);
    }
}

struct InMemory(Arc<MemoryJournal>);

impl Subject for InMemory {
    fn journal(&self) -> Arc<dyn Journal> {
        Arc::clone(&self.0) as Arc<dyn Journal>
    }

    fn reopen(&mut self) {
        self.0.close().unwrap();
        self.0 = Arc::new(self.0.reopen().unwrap());
    }

    fn hold(&self, holding: bool) {
        if holding {
            self.0.hold()
        } else {
            self.0.release()
        }
    }

    fn fail(&self) {
        self.0.fail("for a test");
    }
}

/// Each clause becomes a test of each implementation.
macro_rules! conformance {
    ($($clause:ident),* $(,)?) => {
        mod sled_journal {
            $(#[test] fn $clause() { super::$clause(&mut super::OnSled::new()); })*
        }
        mod memory_journal {
            $(#[test] fn $clause() {
                let journal = std::sync::Arc::new(persistence::MemoryJournal::new());
                super::$clause(&mut super::InMemory(journal));
            })*
        }
    };
}

conformance!(
    tickets_count_appends_from_one,
    appending_does_not_wait_for_the_disk,
    answers_come_in_order_exactly_once,
    who_is_answered_already_sees_that_it_is_durable,
    a_callback_may_append,
    a_failure_is_for_good_and_everyone_waiting_hears_unknown,
    nothing_durable_is_lost_or_doubled_by_reopening,
    all_events_of_an_append_survive_together,
    an_append_without_events_is_a_barrier,
    settling_makes_everything_readable,
    a_history_finds_what_was_folded,
    codes_lead_to_wallets_before_and_after_folding,
    the_catalog_keeps_the_latest_form,
    orders_are_listed_newest_first_each_in_its_project,
    a_list_goes_on_where_it_was_while_new_orders_arrive,
    orders_are_due_until_they_are_paid_failed_or_expired,
    an_order_is_found_by_its_checkout,
    buyers_are_found_by_the_address_they_paid_under,
    notes_keep_the_latest_form_until_they_are_forgotten,
    what_is_not_there_is_not_found,
    closing_makes_everything_durable_and_takes_nothing_more,
);

fn tickets_count_appends_from_one(subject: &mut dyn Subject) {
    let journal = subject.journal();
    assert_eq!(
        (journal.durable(), journal.folded()),
        (Ticket(0), Ticket(0))
    );
    for number in 1..=3 {
        let ticket = journal.append(append(&[nth(1, number)]), None).unwrap();
        assert_eq!(ticket, Ticket(number));
    }
    assert_eq!(journal.refusing(), None);
}

fn appending_does_not_wait_for_the_disk(subject: &mut dyn Subject) {
    let journal = subject.journal();
    subject.hold(true);
    let (done, heard) = waiter();
    // Were this to wait, it would wait for ever: nothing moves until it is released.
    journal.append(append(&[created(1)]), Some(done)).unwrap();
    journal.append(append(&[granted(1, 2)]), None).unwrap();
    assert_eq!(journal.durable(), Ticket(0));
    assert_eq!(journal.backlog(), 2);
    assert!(heard.try_recv().is_err());
    subject.hold(false);
    assert_eq!(heard.recv_timeout(PATIENCE), Ok(Outcome::Durable));
    journal.settle().unwrap();
    assert_eq!(
        (journal.durable(), journal.folded()),
        (Ticket(2), Ticket(2))
    );
    assert_eq!(journal.backlog(), 0);
}

fn answers_come_in_order_exactly_once(subject: &mut dyn Subject) {
    const EACH: u64 = 2000;
    let journal = subject.journal();
    let (send, heard) = mpsc::channel();
    thread::scope(|scope| {
        for wallet in 0..4 {
            let (journal, send) = (Arc::clone(&journal), send.clone());
            scope.spawn(move || {
                for number in 1..=EACH {
                    let send = send.clone();
                    let done =
                        Box::new(move |outcome| send.send((wallet, number, outcome)).unwrap());
                    journal
                        .append(append(&[nth(wallet, number)]), Some(done))
                        .unwrap();
                }
            });
        }
    });
    drop(send);
    // Across threads nobody can say from outside which call came first; within one, anybody can.
    let mut last = [0; 4];
    for _ in 0..4 * EACH {
        let (wallet, number, outcome) = heard.recv_timeout(PATIENCE).unwrap();
        assert_eq!(outcome, Outcome::Durable);
        assert_eq!(number, last[wallet as usize] + 1, "wallet {wallet}");
        last[wallet as usize] = number;
    }
    assert!(
        heard.recv_timeout(PATIENCE).is_err(),
        "an answer came twice"
    );
    assert_eq!(journal.durable(), Ticket(4 * EACH));
}

fn who_is_answered_already_sees_that_it_is_durable(subject: &mut dyn Subject) {
    let journal = subject.journal();
    let (send, heard) = mpsc::channel();
    for number in 1..=500 {
        let (me, send) = (Arc::clone(&journal), send.clone());
        let done = Box::new(move |_| send.send((number, me.durable())).unwrap());
        journal
            .append(append(&[nth(1, number)]), Some(done))
            .unwrap();
    }
    for expected in 1..=500 {
        let (number, durable) = heard.recv_timeout(PATIENCE).unwrap();
        assert_eq!(number, expected);
        assert!(
            durable >= Ticket(number),
            "{durable:?} when {number} was answered"
        );
    }
}

fn a_callback_may_append(subject: &mut dyn Subject) {
    let journal = subject.journal();
    let (again, heard) = waiter();
    let me = Arc::clone(&journal);
    let done = Box::new(move |_| {
        me.append(append(&[granted(1, 2)]), Some(again)).unwrap();
    });
    journal.append(append(&[created(1)]), Some(done)).unwrap();
    assert_eq!(heard.recv_timeout(PATIENCE), Ok(Outcome::Durable));
}

fn a_failure_is_for_good_and_everyone_waiting_hears_unknown(subject: &mut dyn Subject) {
    let journal = subject.journal();
    assert_eq!(commit(&*journal, &[created(1)]).1, Outcome::Durable);
    let durable = journal.durable();
    subject.hold(true);
    let (send, heard) = mpsc::channel();
    for number in 2..=50 {
        let send = send.clone();
        let done = Box::new(move |outcome| send.send((number, outcome)).unwrap());
        journal
            .append(append(&[granted(1, number)]), Some(done))
            .unwrap();
    }
    subject.fail();
    for number in 2..=50 {
        assert_eq!(heard.recv_timeout(PATIENCE), Ok((number, Outcome::Unknown)));
    }
    let refused = journal.append(append(&[granted(1, 51)]), None);
    assert_eq!(refused, Err(Refused::Poisoned));
    assert_eq!(journal.refusing(), Some(Refused::Poisoned));
    assert_eq!(journal.durable(), durable);
    assert!(matches!(journal.settle(), Err(Error::Io(_))));
    assert!(journal.close().is_err());
    assert_eq!(
        journal.append(append(&[granted(1, 51)]), None),
        Err(Refused::Poisoned)
    );
}

fn nothing_durable_is_lost_or_doubled_by_reopening(subject: &mut dyn Subject) {
    let mut expected = 0;
    for round in 0..6 {
        let journal = subject.journal();
        assert_eq!(version(&*journal, 1), expected);
        for _ in 0..20 {
            expected += 1;
            assert_eq!(commit(&*journal, &[nth(1, expected)]).1, Outcome::Durable);
        }
        // Some rounds leave everything unfolded, some nothing.
        if round % 2 == 1 {
            journal.settle().unwrap();
            assert_eq!(version(&*journal, 1), expected);
        }
        drop(journal);
        subject.reopen();
    }
    let journal = subject.journal();
    assert_eq!(version(&*journal, 1), expected);
    assert_eq!(journal.durable(), Ticket(0), "tickets start anew");
    journal.settle().unwrap();
    assert_eq!((version(&*journal, 1), journal.backlog()), (expected, 0));
}

fn all_events_of_an_append_survive_together(subject: &mut dyn Subject) {
    let journal = subject.journal();
    let both: Vec<_> = (1..=300)
        .flat_map(|number| [nth(1, number), nth(2, number)])
        .collect();
    for together in both.chunks(60) {
        assert_eq!(commit(&*journal, together).1, Outcome::Durable);
    }
    drop(journal);
    subject.reopen();
    let journal = subject.journal();
    assert_eq!((version(&*journal, 1), version(&*journal, 2)), (300, 300));
}

fn an_append_without_events_is_a_barrier(subject: &mut dyn Subject) {
    let journal = subject.journal();
    journal.append(append(&[created(1)]), None).unwrap();
    let (ticket, outcome) = commit(&*journal, &[]);
    assert_eq!((ticket, outcome), (Ticket(1), Outcome::Durable));
    assert!(journal.durable() >= ticket);
    journal.settle().unwrap();
    assert_eq!(journal.folded(), ticket);
}

fn settling_makes_everything_readable(subject: &mut dyn Subject) {
    let journal = subject.journal();
    for wallet in 1..=100 {
        journal
            .append(append(&[created(wallet), granted(wallet, 2)]), None)
            .unwrap();
    }
    journal.settle().unwrap();
    assert_eq!(journal.folded(), Ticket(100));
    for wallet in 1..=100 {
        assert_eq!(version(&*journal, wallet), 2);
    }
    // Nothing to do is settled at once.
    journal.settle().unwrap();
}

fn a_history_finds_what_was_folded(subject: &mut dyn Subject) {
    let journal = subject.journal();
    let history = journal.new_history(&key(1));
    assert_eq!(history.folded(), 0);
    for number in 1..=200 {
        journal.append(append(&[nth(1, number)]), None).unwrap();
    }
    journal.settle().unwrap();
    let find = |text: &str| {
        let hash = Lookup::Grant(text).hash(&key(1));
        let same = |record: &Record| record.lookup() == Some(Lookup::Grant(text));
        history.find(hash, &same).unwrap().map(|record| record.seq)
    };
    assert_eq!(history.folded(), 199);
    assert_eq!(find("grant-2"), Some(1));
    assert_eq!(find("grant-200"), Some(199));
    assert_eq!(find("grant-201"), None);
    // Another key with the same hash is another key.
    let hash = Lookup::Grant("grant-2").hash(&key(1));
    assert_eq!(history.find(hash, &|_| false).unwrap(), None);

    let mut seen = Vec::new();
    let mut below = u64::MAX;
    loop {
        let page = history.before(below, 30).unwrap();
        assert!(page.len() <= 30);
        let Some(oldest) = page.last() else { break };
        below = oldest.seq;
        seen.extend(page.iter().map(|record| record.seq));
    }
    assert_eq!(seen, (1..=199).rev().collect::<Vec<_>>());
}

fn codes_lead_to_wallets_before_and_after_folding(subject: &mut dyn Subject) {
    let (own, first, second) = (CodeHash(key(1).0), CodeHash([8; 16]), CodeHash([9; 16]));
    let journal = subject.journal();
    commit(
        &*journal,
        &[created_with_code(1, own), rotated(1, 2, first)],
    );
    commit(&*journal, &[created_with_code(2, second)]);
    drop(journal);
    subject.reopen();
    let journal = subject.journal();
    for _ in ["recovered", "folded"] {
        assert_eq!(journal.alias(&first).unwrap(), Some(key(1)));
        assert_eq!(journal.alias(&second).unwrap(), Some(key(2)));
        assert_eq!(journal.alias(&CodeHash([7; 16])).unwrap(), None);
        journal.settle().unwrap();
    }
}

fn the_catalog_keeps_the_latest_form(subject: &mut dyn Subject) {
    let put = |journal: &dyn Journal, id, name: &str| {
        commit(journal, &[persistence::Logged::Catalog(project(id, name))]);
    };
    let journal = subject.journal();
    put(&*journal, 1, "one");
    put(&*journal, 2, "two");
    journal.settle().unwrap();
    put(&*journal, 1, "one, renamed");
    drop(journal);
    subject.reopen();
    let journal = subject.journal();
    for _ in ["recovered", "folded"] {
        let mut documents = journal.documents().unwrap();
        documents.sort_by_key(domain::catalog::Document::address);
        assert_eq!(documents, [project(1, "one, renamed"), project(2, "two")]);
        journal.settle().unwrap();
    }
    put(&*journal, 1, "one, again");
    journal.settle().unwrap();
    assert!(
        journal
            .documents()
            .unwrap()
            .contains(&project(1, "one, again"))
    );
}

fn what_is_not_there_is_not_found(subject: &mut dyn Subject) {
    let journal = subject.journal();
    assert!(journal.load(&WalletKey([1; 16])).unwrap().is_none());
    assert!(journal.documents().unwrap().is_empty());
    journal.settle().unwrap();
    let history = journal.new_history(&WalletKey([1; 16]));
    assert_eq!(history.before(u64::MAX, 10).unwrap(), []);
    assert_eq!(history.find(0, &|_| true).unwrap(), None);
}

fn closing_makes_everything_durable_and_takes_nothing_more(subject: &mut dyn Subject) {
    let journal = subject.journal();
    let mut waiting = Vec::new();
    for number in 1..=100 {
        let (done, heard) = waiter();
        journal
            .append(append(&[nth(1, number)]), Some(done))
            .unwrap();
        waiting.push(heard);
    }
    journal.close().unwrap();
    for heard in waiting {
        assert_eq!(heard.try_recv(), Ok(Outcome::Durable));
    }
    assert_eq!(
        journal.append(append(&[nth(1, 101)]), None),
        Err(Refused::Closed)
    );
    assert_eq!(journal.refusing(), Some(Refused::Closed));
    journal.close().unwrap();
    drop(journal);
    subject.reopen();
    assert_eq!(version(&*subject.journal(), 1), 100);
}
