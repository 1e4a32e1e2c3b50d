//! The contracts of `Log` and `Books`, clause by clause, for all that implement them.

mod orders;
mod project_events;

use std::{
    path::Path,
    sync::{Arc, mpsc},
    thread,
};

use domain::{
    history::{Record, RecordKey},
    id::{CodeHash, WalletId, WalletKey},
};
pub(crate) use orders::{
    a_list_goes_on_where_it_was_while_new_orders_arrive, an_order_is_found_by_its_checkout,
    an_order_is_found_by_the_providers_names, buyers_are_found_by_the_address_they_paid_under,
    notes_keep_the_latest_form_until_they_are_forgotten,
    orders_are_due_until_they_are_paid_failed_or_expired,
    orders_are_listed_newest_first_each_in_its_project,
    subscriptions_are_found_by_when_their_periods_end, what_is_not_applied_is_laid_over_what_is,
};
use persistence::{
    Append, AppendRefusal, Backlog, Books, Error, Log, LogEvent, Note, Outcome, SledJournal, Step,
    Store, Ticket,
};
pub(crate) use project_events::{
    a_reader_misses_no_project_event,
    project_events_are_shown_in_the_logs_order_each_to_its_project,
    what_is_not_durable_is_not_reported,
};

use crate::common::{TIMEOUT, Trouble, WalletModel, append, commit, key, project, version, waiter};

/// An implementation under test.
pub(crate) trait Subject {
    fn store(&self) -> Store;
    /// Stops it and starts it again on what it kept.
    fn reopen(&mut self);
    /// Nothing becomes durable while held.
    fn hold(&self, holding: bool);
    /// Nothing is applied while held.
    fn hold_checkpoints(&self, holding: bool);
    /// The next write, or the one held back, fails.
    fn fail(&self);
}

/// Opens a journal in a directory.
type Open = Box<dyn Fn(&Path, &Arc<Trouble>) -> Arc<SledJournal>>;

/// A journal in a directory of its own.
pub(crate) struct InDirectory {
    dir: tempfile::TempDir,
    trouble: Arc<Trouble>,
    open: Open,
    journal: Option<Arc<SledJournal>>,
}

impl InDirectory {
    pub(crate) fn new(open: impl Fn(&Path, &Arc<Trouble>) -> Arc<SledJournal> + 'static) -> Self {
        let mut new = Self {
            dir: tempfile::tempdir().unwrap(),
            trouble: Arc::default(),
            open: Box::new(open),
            journal: None,
        };
        new.reopen();
        new
    }
}

impl Subject for InDirectory {
    fn store(&self) -> Store {
        Store::of(Arc::clone(self.journal.as_ref().unwrap()))
    }

    fn reopen(&mut self) {
        if let Some(journal) = self.journal.take() {
            journal.close().unwrap();
        }
        self.journal = Some((self.open)(self.dir.path(), &self.trouble));
    }

    fn hold(&self, holding: bool) {
        self.trouble.hold(holding);
    }

    fn hold_checkpoints(&self, holding: bool) {
        self.trouble.hold_step(Step::Checkpoint, holding);
    }

    fn fail(&self) {
        self.trouble.fail(Step::FlushFrames, 0);
        self.trouble.hold(false);
    }
}

/// Makes each of these clauses a test.
macro_rules! tests {
    ($subject:expr; $($clause:ident),* $(,)?) => {
        $(#[test] fn $clause() { crate::clauses::$clause(&mut $subject); })*
    };
}

/// Makes every clause a test of a subject.
macro_rules! conformance {
    ($subject:expr) => {
        tests!($subject;
                tickets_count_appends_from_one,
                appending_does_not_wait_for_the_disk,
                answers_come_in_order_exactly_once,
                who_is_answered_already_sees_that_it_is_durable,
                what_is_durable_is_vouched_for_and_nothing_else,
                a_callback_may_append,
                a_failure_is_for_good_and_everyone_waiting_gets_unknown,
                nothing_durable_is_lost_or_doubled_by_reopening,
                all_events_of_an_append_survive_together,
                an_append_without_events_is_a_barrier,
                flushing_makes_everything_readable,
                a_history_finds_what_was_applied,
                codes_lead_to_wallets_from_the_moment_they_are_appended,
                wallets_are_found_by_what_callers_call_them,
                opening_checkpoints_everything,
                a_history_follows_the_checkpoints,
                an_append_that_is_too_large_is_not_one,
                the_catalog_keeps_the_latest_form,
                orders_are_listed_newest_first_each_in_its_project,
                a_list_goes_on_where_it_was_while_new_orders_arrive,
                orders_are_due_until_they_are_paid_failed_or_expired,
                subscriptions_are_found_by_when_their_periods_end,
                an_order_is_found_by_its_checkout,
                an_order_is_found_by_the_providers_names,
                buyers_are_found_by_the_address_they_paid_under,
                what_is_not_applied_is_laid_over_what_is,
                notes_keep_the_latest_form_until_they_are_forgotten,
                project_events_are_shown_in_the_logs_order_each_to_its_project,
                what_is_not_durable_is_not_reported,
                a_reader_misses_no_project_event,
                what_is_not_there_is_not_found,
                closing_makes_everything_durable_and_takes_nothing_more,
        );
    };
}

pub(crate) fn tickets_count_appends_from_one(subject: &mut dyn Subject) {
    let mut model = WalletModel::default();
    let store = subject.store();
    assert_eq!(
        (store.log.durable(), store.books.applied()),
        (Ticket(0), Ticket(0))
    );
    for number in 1..=3 {
        let ticket = store.log.append(append(&[model.next(1)]), None).unwrap();
        assert_eq!(ticket, Ticket(number));
    }
    assert_eq!(store.log.refusing(), None);
}

pub(crate) fn appending_does_not_wait_for_the_disk(subject: &mut dyn Subject) {
    let mut model = WalletModel::default();
    let store = subject.store();
    subject.hold(true);
    let (done, answers) = waiter();
    // Were this to wait, it would wait for ever: nothing moves until it is released.
    store
        .log
        .append(append(&[model.created(1)]), Some(done))
        .unwrap();
    store.log.append(append(&[model.granted(1)]), None).unwrap();
    assert_eq!(store.log.durable(), Ticket(0));
    assert_eq!(store.log.backlog().events, 2);
    assert!(answers.try_recv().is_err());
    subject.hold(false);
    assert_eq!(answers.recv_timeout(TIMEOUT), Ok(Outcome::Durable));
    store.books.flush().unwrap();
    assert_eq!(
        (store.log.durable(), store.books.applied()),
        (Ticket(2), Ticket(2))
    );
    assert_eq!(store.log.backlog(), Backlog::default());
}

pub(crate) fn answers_come_in_order_exactly_once(subject: &mut dyn Subject) {
    const EACH: u64 = 2000;
    let store = subject.store();
    let (send, answers) = mpsc::channel();
    thread::scope(|scope| {
        for wallet in 0..4 {
            let (log, send) = (Arc::clone(&store.log), send.clone());
            scope.spawn(move || {
                let mut model = WalletModel::default();
                for number in 1..=EACH {
                    let send = send.clone();
                    let done =
                        Box::new(move |outcome| send.send((wallet, number, outcome)).unwrap());
                    log.append(append(&[model.next(wallet)]), Some(done))
                        .unwrap();
                }
            });
        }
    });
    drop(send);
    // Across threads nobody can say from outside which call came first; within one, anybody can.
    let mut last = [0; 4];
    for _ in 0..4 * EACH {
        let (wallet, number, outcome) = answers.recv_timeout(TIMEOUT).unwrap();
        assert_eq!(outcome, Outcome::Durable);
        assert_eq!(number, last[wallet as usize] + 1, "wallet {wallet}");
        last[wallet as usize] = number;
    }
    assert!(
        answers.recv_timeout(TIMEOUT).is_err(),
        "an answer came twice"
    );
    assert_eq!(store.log.durable(), Ticket(4 * EACH));
}

pub(crate) fn who_is_answered_already_sees_that_it_is_durable(subject: &mut dyn Subject) {
    let mut model = WalletModel::default();
    let store = subject.store();
    let (send, answers) = mpsc::channel();
    for number in 1..=500 {
        let (me, send) = (Arc::clone(&store.log), send.clone());
        let done = Box::new(move |_| send.send((number, me.durable())).unwrap());
        store
            .log
            .append(append(&[model.next(1)]), Some(done))
            .unwrap();
    }
    for expected in 1..=500 {
        let (number, durable) = answers.recv_timeout(TIMEOUT).unwrap();
        assert_eq!(number, expected);
        assert!(
            durable >= Ticket(number),
            "{durable:?} when {number} was answered"
        );
    }
}

pub(crate) fn what_is_durable_is_vouched_for_and_nothing_else(subject: &mut dyn Subject) {
    let mut model = WalletModel::default();
    let store = subject.store();
    let (first, _) = commit(&*store.log, &[model.created(1)]);
    subject.hold(true);
    let event = append(&[model.granted(1)]);
    let second = store.log.append(event, None).unwrap();
    assert!(store.log.leads());
    assert!(store.log.can_serve_reads(first));
    assert!(!store.log.can_serve_reads(second));
    subject.hold(false);
    assert_eq!(commit(&*store.log, &[]).1, Outcome::Durable);
    assert!(store.log.can_serve_reads(second));
}

pub(crate) fn a_callback_may_append(subject: &mut dyn Subject) {
    let mut model = WalletModel::default();
    let store = subject.store();
    let (again, answers) = waiter();
    let me = Arc::clone(&store.log);
    let (created, granted) = (model.created(1), model.granted(1));
    let done = Box::new(move |_| {
        me.append(append(&[granted]), Some(again)).unwrap();
    });
    store.log.append(append(&[created]), Some(done)).unwrap();
    assert_eq!(answers.recv_timeout(TIMEOUT), Ok(Outcome::Durable));
}

pub(crate) fn a_failure_is_for_good_and_everyone_waiting_gets_unknown(subject: &mut dyn Subject) {
    let mut model = WalletModel::default();
    let store = subject.store();
    assert_eq!(commit(&*store.log, &[model.created(1)]).1, Outcome::Durable);
    let durable = store.log.durable();
    subject.hold(true);
    let (send, answers) = mpsc::channel();
    for number in 2..=50 {
        let send = send.clone();
        let done = Box::new(move |outcome| send.send((number, outcome)).unwrap());
        store
            .log
            .append(append(&[model.granted(1)]), Some(done))
            .unwrap();
    }
    subject.fail();
    for number in 2..=50 {
        assert_eq!(
            answers.recv_timeout(TIMEOUT),
            Ok((number, Outcome::Unknown))
        );
    }
    let refused = store.log.append(append(&[model.granted(1)]), None);
    assert_eq!(refused, Err(AppendRefusal::Poisoned));
    assert_eq!(store.log.refusing(), Some(AppendRefusal::Poisoned));
    assert_eq!(store.log.durable(), durable);
    assert!(matches!(store.books.flush(), Err(Error::Io(_))));
    assert!(store.log.close().is_err());
    assert_eq!(
        store.log.append(append(&[model.granted(1)]), None),
        Err(AppendRefusal::Poisoned)
    );
}

pub(crate) fn nothing_durable_is_lost_or_doubled_by_reopening(subject: &mut dyn Subject) {
    let mut model = WalletModel::default();
    let mut expected = 0;
    for round in 0..6 {
        let store = subject.store();
        assert_eq!(version(&*store.books, 1), expected);
        for _ in 0..20 {
            expected += 1;
            assert_eq!(commit(&*store.log, &[model.next(1)]).1, Outcome::Durable);
        }
        // Some rounds leave everything pending, some nothing.
        if round % 2 == 1 {
            store.books.flush().unwrap();
            assert_eq!(version(&*store.books, 1), expected);
        }
        drop(store);
        subject.reopen();
    }
    let store = subject.store();
    assert_eq!(version(&*store.books, 1), expected);
    assert_eq!(store.log.durable(), Ticket(0), "tickets start again");
    store.books.flush().unwrap();
    assert_eq!(version(&*store.books, 1), expected);
    assert_eq!(store.log.backlog(), Backlog::default());
}

pub(crate) fn all_events_of_an_append_survive_together(subject: &mut dyn Subject) {
    let mut model = WalletModel::default();
    let store = subject.store();
    let both: Vec<_> = (1..=300)
        .flat_map(|_| [model.next(1), model.next(2)])
        .collect();
    for together in both.chunks(60) {
        assert_eq!(commit(&*store.log, together).1, Outcome::Durable);
    }
    drop(store);
    subject.reopen();
    let store = subject.store();
    assert_eq!(
        (version(&*store.books, 1), version(&*store.books, 2)),
        (300, 300)
    );
}

pub(crate) fn an_append_without_events_is_a_barrier(subject: &mut dyn Subject) {
    let mut model = WalletModel::default();
    let store = subject.store();
    store.log.append(append(&[model.created(1)]), None).unwrap();
    let (ticket, outcome) = commit(&*store.log, &[]);
    assert_eq!((ticket, outcome), (Ticket(1), Outcome::Durable));
    assert!(store.log.durable() >= ticket);
    store.books.flush().unwrap();
    assert_eq!(store.books.applied(), ticket);
}

pub(crate) fn flushing_makes_everything_readable(subject: &mut dyn Subject) {
    let mut model = WalletModel::default();
    let store = subject.store();
    for wallet in 1..=100 {
        store
            .log
            .append(
                append(&[model.created(wallet), model.granted(wallet)]),
                None,
            )
            .unwrap();
    }
    store.books.flush().unwrap();
    assert_eq!(store.books.applied(), Ticket(100));
    for wallet in 1..=100 {
        assert_eq!(version(&*store.books, wallet), 2);
    }
    // Nothing to do is settled at once.
    store.books.flush().unwrap();
}

pub(crate) fn a_history_finds_what_was_applied(subject: &mut dyn Subject) {
    let mut model = WalletModel::default();
    let store = subject.store();
    let history = store.books.new_history(&key(1));
    assert_eq!(history.applied(), 0);
    for _ in 1..=200 {
        store.log.append(append(&[model.next(1)]), None).unwrap();
    }
    store.books.flush().unwrap();
    let find = |text: &str| {
        let hash = RecordKey::Grant(text).hash(&key(1));
        let same = |record: &Record| record.lookup() == Some(RecordKey::Grant(text));
        history.find(hash, &same).unwrap().map(|record| record.seq)
    };
    assert_eq!(find("grant-1"), None);
    assert_eq!(history.applied(), 200);
    // A record has its event's number; the creation left none.
    assert_eq!(find("grant-2"), Some(2));
    assert_eq!(find("grant-200"), Some(200));
    assert_eq!(find("grant-201"), None);
    // Another key with the same hash is another key.
    let hash = RecordKey::Grant("grant-2").hash(&key(1));
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
    assert_eq!(seen, (2..=200).rev().collect::<Vec<_>>());
}

/// Appends, and looks at what is taken in and not durable, at what is durable and not applied, at what
/// is applied, and at what is there after a restart.
fn everywhere(subject: &mut dyn Subject, appends: &[Vec<LogEvent>], look: impl Fn(&dyn Books)) {
    let store = subject.store();
    subject.hold_checkpoints(true);
    subject.hold(true);
    let durable = store.log.durable();
    for events in appends {
        store.log.append(append(events), None).unwrap();
    }
    look(&*store.books);
    assert_eq!(store.log.durable(), durable);
    subject.hold(false);
    assert_eq!(commit(&*store.log, &[]).1, Outcome::Durable);
    look(&*store.books);
    assert!(appends.is_empty() || store.books.applied() < store.log.durable());
    subject.hold_checkpoints(false);
    store.books.flush().unwrap();
    look(&*store.books);
    drop(store);
    subject.reopen();
    look(&*subject.store().books);
}

pub(crate) fn wallets_are_found_by_what_callers_call_them(subject: &mut dyn Subject) {
    let mut model = WalletModel::default();
    let own = CodeHash(key(2).0);
    let appends = [
        vec![model.created(1)],
        vec![model.created_with_code(2, own)],
        // Its place keeps its name, also under another code.
        vec![model.rotated(2, CodeHash([9; 16]))],
    ];
    everywhere(subject, &appends, |books| {
        for wallet in [1, 2] {
            let found = books.wallet(WalletId(wallet.into())).unwrap();
            assert_eq!(found, Some(key(wallet)));
        }
        assert_eq!(books.wallet(WalletId(3)).unwrap(), None);
    });
}

pub(crate) fn codes_lead_to_wallets_from_the_moment_they_are_appended(subject: &mut dyn Subject) {
    let (own, first, second) = (CodeHash(key(1).0), CodeHash([8; 16]), CodeHash([9; 16]));
    let mut model = WalletModel::default();
    let appends = [
        vec![model.created_with_code(1, own), model.rotated(1, first)],
        vec![model.created_with_code(2, second)],
    ];
    everywhere(subject, &appends, |books| {
        assert_eq!(books.code(&first).unwrap(), Some(key(1)));
        assert_eq!(books.code(&second).unwrap(), Some(key(2)));
        assert_eq!(
            books.code(&own).unwrap(),
            None,
            "its wallet's own key says where it is"
        );
        assert_eq!(books.code(&CodeHash([7; 16])).unwrap(), None);
    });
    // Replaced by another, and by the one before.
    let third = CodeHash([10; 16]);
    let replaced = [vec![model.rotated(1, third)], vec![model.rotated(2, own)]];
    everywhere(subject, &replaced, |books| {
        assert_eq!(books.code(&first).unwrap(), None, "it was replaced");
        assert_eq!(books.code(&third).unwrap(), Some(key(1)));
        assert_eq!(books.code(&second).unwrap(), None);
        assert_eq!(books.code(&own).unwrap(), Some(key(2)));
    });
    everywhere(subject, &[vec![model.rotated(1, first)]], |books| {
        assert_eq!(books.code(&first).unwrap(), Some(key(1)), "put again");
        assert_eq!(books.code(&third).unwrap(), None);
    });
    // Taken out and put again within what is not applied.
    let there_and_back = vec![model.rotated(1, third), model.rotated(1, first)];
    let again = [vec![model.rotated(2, second)], there_and_back];
    everywhere(subject, &again, |books| {
        assert_eq!(books.code(&first).unwrap(), Some(key(1)));
        assert_eq!(books.code(&second).unwrap(), Some(key(2)));
        assert_eq!(books.code(&third).unwrap(), None);
        assert_eq!(books.code(&own).unwrap(), None);
    });
}

pub(crate) fn the_catalog_keeps_the_latest_form(subject: &mut dyn Subject) {
    let put = |store: &Store, id, name: &str| {
        commit(&*store.log, &[LogEvent::Catalog(project(id, name))]);
    };
    let store = subject.store();
    put(&store, 1, "one");
    put(&store, 2, "two");
    store.books.flush().unwrap();
    put(&store, 1, "one, renamed");
    drop(store);
    subject.reopen();
    let store = subject.store();
    for _ in ["recovered", "applied"] {
        let mut documents = store.books.documents().unwrap();
        documents.sort_by_key(domain::catalog::Document::address);
        assert_eq!(documents, [project(1, "one, renamed"), project(2, "two")]);
        store.books.flush().unwrap();
    }
    put(&store, 1, "one, again");
    store.books.flush().unwrap();
    let documents = store.books.documents().unwrap();
    assert!(documents.contains(&project(1, "one, again")));
}

pub(crate) fn opening_checkpoints_everything(subject: &mut dyn Subject) {
    let mut model = WalletModel::default();
    let store = subject.store();
    subject.hold_checkpoints(true);
    for _ in 0..500 {
        let events = [model.next(1), model.next(2)];
        store.log.append(append(&events), None).unwrap();
    }
    commit(&*store.log, &[LogEvent::Catalog(project(1, "one"))]);
    assert_eq!(store.log.backlog().events, 1001);
    // Before a caller settles there is nothing.
    assert_eq!(
        (version(&*store.books, 1), store.books.applied()),
        (0, Ticket(0))
    );
    subject.hold_checkpoints(false);
    drop(store);
    subject.reopen();
    let store = subject.store();
    assert_eq!(store.log.backlog(), Backlog::default());
    assert_eq!(
        (version(&*store.books, 1), version(&*store.books, 2)),
        (500, 500)
    );
    assert_eq!(store.books.documents().unwrap(), [project(1, "one")]);
    let stored = store.books.load(&key(1)).unwrap().unwrap();
    assert_eq!(
        (stored.history.applied(), stored.wallet),
        (500, model.wallet(1).clone())
    );
}

/// One history, asked again and again: what it has only grows, and nothing of it is lost on the way.
pub(crate) fn a_history_follows_the_checkpoints(subject: &mut dyn Subject) {
    let mut model = WalletModel::default();
    let store = subject.store();
    let history = store.books.new_history(&key(1));
    let find = |version: u64| {
        let text = format!("grant-{version}");
        let lookup = RecordKey::Grant(&text);
        let same = |record: &Record| record.lookup() == Some(lookup);
        let found = history.find(lookup.hash(&key(1)), &same).unwrap();
        found.map(|record| record.seq)
    };
    for round in 1..=20 {
        for _ in 0..50 {
            store.log.append(append(&[model.next(1)]), None).unwrap();
        }
        store.books.flush().unwrap();
        let last = round * 50;
        assert_eq!(history.applied(), last);
        for version in [2, last / 2, last - 1, last] {
            assert_eq!(find(version), Some(version));
        }
        assert_eq!(find(last + 1), None);
        let newest = history.before(u64::MAX, 3).unwrap();
        let newest: Vec<_> = newest.iter().map(|record| record.seq).collect();
        assert_eq!(newest, [last, last - 1, last - 2]);
    }
}

pub(crate) fn an_append_that_is_too_large_is_not_one(subject: &mut dyn Subject) {
    let note = |key: &str, bytes| {
        LogEvent::Note(Note {
            key: key.as_bytes().into(),
            body: Some(vec![7; bytes].into()),
        })
    };
    let mut large = Append::default();
    large.push(&note("a", Note::MAX_BODY_BYTES)).unwrap();
    assert!(large.push(&note("b", Append::MAX_BYTES)).is_err());
    assert!(large.push(&note("b", 24 * 1024)).is_err());
    // As large as can be.
    let room = Append::MAX_BYTES - append(&[note("a", 32 * 1024), note("b", 0)]).bytes().len();
    let full = append(&[note("a", 32 * 1024), note("b", room)]);
    assert_eq!(full.bytes().len(), Append::MAX_BYTES);
    let store = subject.store();
    store.log.append(full, None).unwrap();
    store.books.flush().unwrap();
    let notes = store.books.notes(b"").unwrap();
    let sizes: Vec<_> = notes.iter().map(|(_, body)| body.len()).collect();
    assert_eq!(sizes, [32 * 1024, room]);
}

pub(crate) fn what_is_not_there_is_not_found(subject: &mut dyn Subject) {
    let store = subject.store();
    assert!(store.books.load(&WalletKey([1; 16])).unwrap().is_none());
    assert!(store.books.documents().unwrap().is_empty());
    store.books.flush().unwrap();
    let history = store.books.new_history(&WalletKey([1; 16]));
    assert_eq!(history.before(u64::MAX, 10).unwrap(), []);
    assert_eq!(history.find(0, &|_| true).unwrap(), None);
}

pub(crate) fn closing_makes_everything_durable_and_takes_nothing_more(subject: &mut dyn Subject) {
    let mut model = WalletModel::default();
    let store = subject.store();
    let mut waiting = Vec::new();
    for _ in 1..=100 {
        let (done, answers) = waiter();
        store
            .log
            .append(append(&[model.next(1)]), Some(done))
            .unwrap();
        waiting.push(answers);
    }
    store.log.close().unwrap();
    for answers in waiting {
        assert_eq!(answers.try_recv(), Ok(Outcome::Durable));
    }
    assert_eq!(
        store.log.append(append(&[model.next(1)]), None),
        Err(AppendRefusal::Closed)
    );
    assert_eq!(store.log.refusing(), Some(AppendRefusal::Closed));
    store.log.close().unwrap();
    drop(store);
    subject.reopen();
    assert_eq!(version(&*subject.store().books, 1), 100);
}
