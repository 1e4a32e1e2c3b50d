//! The clauses about project events.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use domain::{
    Timestamp,
    history::Reason,
    id::{ProductId, ProjectId, WalletId},
    project_event::{EventData, ProjectEvent},
};
use persistence::{Books, LogEvent};

use super::Subject;
use crate::common::{WalletModel, append, commit, key, waiter};

const ONE: ProjectId = ProjectId(1);
const TWO: ProjectId = ProjectId(2);

fn credited(project: ProjectId, delta: i64) -> LogEvent {
    LogEvent::ProjectEvent(ProjectEvent {
        project,
        at: Timestamp(1000 + delta),
        recorded: Timestamp(1000 + delta),
        key: key(1),
        wallet: WalletId(1),
        user: None,
        data: EventData::Credited {
            product: ProductId(1),
            delta,
            reason: Reason::Manual,
            order: None,
            balance: delta,
        },
    })
}

fn deltas(books: &dyn Books, project: ProjectId, after: u64, limit: usize) -> (Vec<i64>, u64) {
    let found = books.project_events(project, after, limit).unwrap();
    assert!(found.is_sorted_by(|(one, _), (other, _)| one < other));
    let last = found.last().map_or(after, |(number, _)| *number);
    let delta = |project_event: &ProjectEvent| match project_event.data {
        EventData::Credited { delta, .. } => delta,
        _ => 0,
    };
    (found.iter().map(|(_, it)| delta(it)).collect(), last)
}

pub(crate) fn project_events_are_shown_in_the_logs_order_each_to_its_project(
    subject: &mut dyn Subject,
) {
    let mut model = WalletModel::default();
    let appends = [
        vec![model.created(1), credited(ONE, 1), credited(TWO, 2)],
        vec![credited(ONE, 3)],
        vec![model.created(2), credited(TWO, 4), credited(ONE, 5)],
    ];
    let look = |books: &dyn Books| {
        assert_eq!(deltas(books, ONE, 0, 10).0, [1, 3, 5]);
        assert_eq!(deltas(books, TWO, 0, 10).0, [2, 4]);
        assert_eq!(deltas(books, ProjectId(3), 0, 10).0, [0; 0]);
        assert!(deltas(books, ONE, 0, 10).1 <= books.last_project_event());
    };
    let store = subject.store();
    subject.hold_checkpoints(true);
    for events in &appends {
        commit(&*store.log, events);
    }
    look(&*store.books);
    subject.hold_checkpoints(false);
    store.books.flush().unwrap();
    look(&*store.books);
    drop(store);
    subject.reopen();
    look(&*subject.store().books);
}

pub(crate) fn a_reader_misses_no_project_event(subject: &mut dyn Subject) {
    let store = subject.store();
    let (mut seen, mut last) = (Vec::new(), 0);
    let mut read = |limit| {
        let (some, to) = deltas(&*store.books, ONE, last, limit);
        last = to;
        seen.extend(some);
    };
    for delta in 1..=40 {
        commit(&*store.log, &[credited(ONE, delta), credited(TWO, delta)]);
        if delta % 10 == 5 {
            store.books.flush().unwrap();
        }
        if delta % 7 == 0 {
            read(3);
        }
    }
    read(100);
    assert_eq!(seen, (1..=40).collect::<Vec<_>>());
}

pub(crate) fn what_is_not_durable_is_not_reported(subject: &mut dyn Subject) {
    let store = subject.store();
    let reported = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&reported);
    store.books.on_project_events(Arc::new(move || {
        count.fetch_add(1, Ordering::AcqRel);
    }));
    commit(&*store.log, &[credited(ONE, 1)]);
    assert_eq!(reported.load(Ordering::Acquire), 1);
    let before = store.books.last_project_event();
    subject.hold(true);
    let (done, outcome) = waiter();
    store
        .log
        .append(append(&[credited(ONE, 2)]), Some(done))
        .unwrap();
    assert_eq!(deltas(&*store.books, ONE, 0, 10).0, [1]);
    assert_eq!(store.books.last_project_event(), before);
    subject.hold(false);
    outcome.recv().unwrap();
    assert_eq!(reported.load(Ordering::Acquire), 2);
    assert_eq!(deltas(&*store.books, ONE, before, 10).0, [2]);
}
