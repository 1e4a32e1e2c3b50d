//! The clauses about orders and notes.

use std::collections::BTreeSet;

use domain::{
    Timestamp,
    id::{ProjectId, WalletKey},
    wallet::OrderKind,
};
use persistence::{Append, Journal, OrderPlace};

use super::{
    Subject,
    common::{
        commit, key,
        shop::{HOUR, checkout, created, email, expired, failed, id, note, paid, placed},
    },
};

const ONE: ProjectId = ProjectId(1);
const TWO: ProjectId = ProjectId(2);

fn serials(places: &[OrderPlace]) -> Vec<u128> {
    places.iter().map(|place| place.order.serial.0).collect()
}

fn newest(journal: &dyn Journal, project: ProjectId) -> Vec<u128> {
    serials(&journal.orders(project, None, usize::MAX).unwrap())
}

fn due(journal: &dyn Journal, project: ProjectId, until: i64) -> Vec<u128> {
    let due = journal.due(project, None, Timestamp(until), usize::MAX);
    serials(&due.unwrap())
}

fn buyers(journal: &dyn Journal, project: ProjectId, address: &str) -> BTreeSet<WalletKey> {
    let buyers = journal
        .buyers(project, &email(address), usize::MAX)
        .unwrap();
    assert!(buyers.is_sorted());
    buyers.into_iter().collect()
}

/// Looks at what is recovered and not folded, at what is folded, and at what is read again.
fn everywhere(subject: &mut dyn Subject, look: impl Fn(&dyn Journal)) {
    subject.reopen();
    look(&*subject.journal());
    subject.journal().settle().unwrap();
    look(&*subject.journal());
    subject.reopen();
    look(&*subject.journal());
}

pub(super) fn orders_are_listed_newest_first_each_in_its_project(subject: &mut dyn Subject) {
    let journal = subject.journal();
    commit(
        &*journal,
        &[created(1, ONE), created(2, TWO), created(3, ONE)],
    );
    commit(&*journal, &[placed(1, 2, 10, 7, OrderKind::Checkout, ONE)]);
    commit(&*journal, &[placed(2, 2, 11, 8, OrderKind::Checkout, TWO)]);
    // At the same instant the serial decides; a renewal's is no time.
    commit(&*journal, &[placed(3, 2, 12, 9, OrderKind::Checkout, ONE)]);
    commit(&*journal, &[placed(1, 3, 12, 4, OrderKind::Renewal, ONE)]);
    drop(journal);
    let look = |journal: &dyn Journal| {
        assert_eq!(newest(journal, ONE), [9, 4, 7]);
        assert_eq!(newest(journal, TWO), [8]);
        assert_eq!(newest(journal, ProjectId(3)), [0; 0]);
        let first = journal.orders(ONE, None, 1).unwrap();
        let place = OrderPlace {
            at: Timestamp(12),
            order: id(3, 9),
        };
        assert_eq!(first, [place]);
        let next = journal.orders(ONE, Some(place.place()), 2).unwrap();
        assert_eq!(serials(&next), [4, 7]);
        assert_eq!(journal.orders(ONE, None, 0).unwrap(), []);
    };
    everywhere(subject, look);
    // What happens to an order later does not move it.
    let journal = subject.journal();
    commit(&*journal, &[paid(1, 4, 20, 7, (ONE, 10), None)]);
    commit(&*journal, &[expired(3, 3, 20, 9, (ONE, 12))]);
    drop(journal);
    everywhere(subject, look);
}

pub(super) fn a_list_goes_on_where_it_was_while_new_orders_arrive(subject: &mut dyn Subject) {
    let journal = subject.journal();
    commit(&*journal, &[created(1, ONE)]);
    let mut last = 0;
    let mut place_some = |journal: &dyn Journal| {
        for _ in 0..100 {
            last += 1;
            let at = i64::try_from(last).unwrap();
            let version = u64::try_from(last).unwrap() + 1;
            commit(
                journal,
                &[placed(1, version, at, last, OrderKind::Checkout, ONE)],
            );
        }
    };
    place_some(&*journal);
    drop(journal);
    subject.reopen();
    let mut listed = Vec::new();
    let mut before = None;
    for round in 0..10 {
        let journal = subject.journal();
        let page = journal.orders(ONE, before, 10).unwrap();
        before = page.last().map(OrderPlace::place);
        listed.extend(serials(&page));
        match round {
            2 => place_some(&*journal),
            4 => journal.settle().unwrap(),
            6 => place_some(&*journal),
            7 => {
                drop(journal);
                subject.reopen();
            }
            _ => {}
        }
    }
    assert_eq!(listed, (1..=100).rev().collect::<Vec<_>>());
    let rest = subject.journal().orders(ONE, before, 10).unwrap();
    assert_eq!(rest, []);
    assert_eq!(newest(&*subject.journal(), ONE).len(), 300);
}

pub(super) fn orders_are_due_until_they_are_paid_failed_or_expired(subject: &mut dyn Subject) {
    let journal = subject.journal();
    commit(&*journal, &[created(1, ONE), created(2, TWO)]);
    for order in 1..=5_u8 {
        let (version, at) = (u64::from(order) + 1, i64::from(order));
        let order = u128::from(order);
        commit(
            &*journal,
            &[placed(1, version, at, order, OrderKind::Checkout, ONE)],
        );
    }
    commit(&*journal, &[placed(2, 2, 3, 6, OrderKind::Checkout, TWO)]);
    // Paid at once: never seen pending.
    let renewal = [
        placed(1, 7, 6, 7, OrderKind::Renewal, ONE),
        paid(1, 8, 6, 7, (ONE, 6), None),
    ];
    commit(&*journal, &renewal);
    drop(journal);
    everywhere(subject, |journal| {
        assert_eq!(due(journal, ONE, i64::MAX), [1, 2, 3, 4, 5]);
        assert_eq!(due(journal, ONE, HOUR + 3), [1, 2, 3], "up to and with");
        assert_eq!(due(journal, ONE, HOUR), [0; 0]);
        assert_eq!(due(journal, TWO, i64::MAX), [6]);
        let first = journal.due(ONE, None, Timestamp(i64::MAX), 2).unwrap();
        assert_eq!(first[0].at, Timestamp(HOUR + 1));
        assert_eq!(first[0].order, id(1, 1));
        let after = Some(first[1].place());
        let next = journal.due(ONE, after, Timestamp(HOUR + 4), 9).unwrap();
        assert_eq!(serials(&next), [3, 4], "strictly after");
    });
    let journal = subject.journal();
    commit(&*journal, &[paid(1, 9, 10, 2, (ONE, 2), None)]);
    commit(&*journal, &[failed(1, 10, 10, 3, (ONE, 3))]);
    commit(
        &*journal,
        &[
            expired(1, 11, HOUR + 1, 1, (ONE, 1)),
            paid(1, 12, HOUR + 1, 1, (ONE, 1), None),
        ],
    );
    drop(journal);
    everywhere(subject, |journal| {
        assert_eq!(due(journal, ONE, i64::MAX), [4, 5]);
        assert_eq!(newest(journal, ONE), [7, 5, 4, 3, 2, 1], "still listed");
    });
}

pub(super) fn an_order_is_found_by_its_checkout(subject: &mut dyn Subject) {
    let journal = subject.journal();
    commit(&*journal, &[created(1, ONE), created(2, TWO)]);
    commit(&*journal, &[placed(1, 2, 10, 7, OrderKind::Checkout, ONE)]);
    commit(&*journal, &[placed(2, 2, 10, 8, OrderKind::Checkout, TWO)]);
    commit(&*journal, &[placed(1, 3, 10, 9, OrderKind::Renewal, ONE)]);
    drop(journal);
    everywhere(subject, |journal| {
        let find = |project, order| journal.checkout(project, &checkout(order)).unwrap();
        assert_eq!(find(ONE, 7), Some(id(1, 7)));
        assert_eq!(find(TWO, 8), Some(id(2, 8)));
        assert_eq!(find(TWO, 7), None, "another project's");
        assert_eq!(find(ONE, 9), None, "a renewal has none");
        assert_eq!(find(ONE, 10), None);
    });
}

pub(super) fn buyers_are_found_by_the_address_they_paid_under(subject: &mut dyn Subject) {
    let journal = subject.journal();
    for (wallet, project) in [(1, ONE), (2, ONE), (3, TWO), (4, ONE)] {
        let placed = placed(wallet, 2, 10, wallet.into(), OrderKind::Checkout, project);
        commit(&*journal, &[created(wallet, project), placed]);
    }
    drop(journal);
    everywhere(subject, |journal| {
        assert!(buyers(journal, ONE, "first@mail.example").is_empty());
    });
    let journal = subject.journal();
    // One paid under the address that the order had, one under another, one not at all.
    commit(&*journal, &[paid(1, 3, 11, 1, (ONE, 10), None)]);
    commit(
        &*journal,
        &[paid(2, 3, 11, 2, (ONE, 10), Some("Other@Mail.example"))],
    );
    commit(
        &*journal,
        &[paid(3, 3, 11, 3, (TWO, 10), Some("other@mail.example"))],
    );
    commit(
        &*journal,
        &[
            placed(2, 4, 12, 9, OrderKind::Renewal, ONE),
            paid(2, 5, 12, 9, (ONE, 12), None),
        ],
    );
    drop(journal);
    everywhere(subject, |journal| {
        let both = BTreeSet::from([key(1), key(2)]);
        assert_eq!(buyers(journal, ONE, "FIRST@mail.example"), both);
        let other = BTreeSet::from([key(2)]);
        assert_eq!(buyers(journal, ONE, "other@mail.example"), other);
        let elsewhere = BTreeSet::from([key(3)]);
        assert_eq!(buyers(journal, TWO, "OTHER@MAIL.EXAMPLE"), elsewhere);
        assert!(buyers(journal, TWO, "first@mail.example").is_empty());
        let one = journal
            .buyers(ONE, &email("first@mail.example"), 1)
            .unwrap();
        assert_eq!(one, [*both.first().unwrap()]);
    });
}

pub(super) fn notes_keep_the_latest_form_until_they_are_forgotten(subject: &mut dyn Subject) {
    let kept = |journal: &dyn Journal, prefix: &str| -> Vec<(String, String)> {
        let text = |bytes: Box<[u8]>| String::from_utf8(bytes.into()).unwrap();
        let notes = journal.notes(prefix.as_bytes()).unwrap().into_iter();
        notes.map(|(key, body)| (text(key), text(body))).collect()
    };
    let pair = |key: &str, body: &str| (key.to_owned(), body.to_owned());
    let journal = subject.journal();
    commit(
        &*journal,
        &[note("a/2", Some("two")), note("a/1", Some("one"))],
    );
    commit(&*journal, &[note("b/1", Some("")), created(1, ONE)]);
    drop(journal);
    everywhere(subject, |journal| {
        assert_eq!(
            kept(journal, "a/"),
            [pair("a/1", "one"), pair("a/2", "two")]
        );
        assert_eq!(kept(journal, "b"), [pair("b/1", "")]);
        assert_eq!(kept(journal, "").len(), 3);
        assert_eq!(kept(journal, "c"), []);
    });
    let journal = subject.journal();
    let again = [
        note("a/1", None),
        note("a/1", Some("again")),
        note("a/3", None),
    ];
    commit(&*journal, &again);
    commit(&*journal, &[note("b/1", Some("x")), note("b/1", None)]);
    drop(journal);
    everywhere(subject, |journal| {
        assert_eq!(
            kept(journal, "a/"),
            [pair("a/1", "again"), pair("a/2", "two")]
        );
        assert_eq!(kept(journal, "b"), []);
        assert_eq!(newest(journal, ONE), [0; 0]);
    });
    // What is too long is not taken, and the append is as it was before.
    let mut append = Append::default();
    append
        .push(&note(&"k".repeat(255), Some(&"b".repeat(32 * 1024))))
        .unwrap();
    let before = append.bytes().len();
    assert!(append.push(&note(&"k".repeat(256), None)).is_err());
    assert!(
        append
            .push(&note("k", Some(&"b".repeat(32 * 1024 + 1))))
            .is_err()
    );
    assert_eq!((append.bytes().len(), append.events()), (before, 1));
}
