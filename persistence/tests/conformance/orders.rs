//! The clauses about orders and notes.

use std::collections::BTreeSet;

use domain::{
    Timestamp,
    id::{OrderId, ProjectId, WalletKey},
    text::{CustomerId, InvoiceId, PaymentId, SubscriptionId},
    wallet::OrderKind,
};
use persistence::{Append, Books, OrderPosition, PeriodEnd, ProviderId, WalletName};

use super::{Subject, everywhere};
use crate::common::{
    WalletModel, append, commit, key,
    shop::{HOUR, checkout, email, id, note},
};

const ONE: ProjectId = ProjectId(1);
const TWO: ProjectId = ProjectId(2);

fn serials(places: &[OrderPosition]) -> Vec<u128> {
    places.iter().map(|place| place.order.serial.0).collect()
}

fn newest(books: &dyn Books, project: ProjectId) -> Vec<u128> {
    serials(&books.orders(project, None, usize::MAX).unwrap())
}

fn due(books: &dyn Books, project: ProjectId, until: i64) -> Vec<u128> {
    let due = books.due(project, None, Timestamp(until), usize::MAX);
    serials(&due.unwrap())
}

fn buyers(books: &dyn Books, project: ProjectId, address: &str) -> BTreeSet<WalletKey> {
    let buyers = books
        .wallets_of(project, WalletName::Buyer(&email(address)), usize::MAX)
        .unwrap();
    assert!(buyers.is_sorted());
    buyers.into_iter().collect()
}

pub(crate) fn orders_are_listed_newest_first_each_in_its_project(subject: &mut dyn Subject) {
    let mut model = WalletModel::default();
    let appends = [
        vec![
            model.opened(1, ONE),
            model.opened(2, TWO),
            model.opened(3, ONE),
        ],
        vec![model.placed(1, 10, 7, OrderKind::Checkout)],
        vec![model.placed(2, 11, 8, OrderKind::Checkout)],
        // At the same instant the serial decides; a renewal's is no time.
        vec![model.placed(3, 12, 9, OrderKind::Checkout)],
        vec![model.placed(1, 12, 4, OrderKind::Renewal)],
    ];
    let look = |books: &dyn Books| {
        assert_eq!(newest(books, ONE), [9, 4, 7]);
        assert_eq!(newest(books, TWO), [8]);
        assert_eq!(newest(books, ProjectId(3)), [0; 0]);
        let first = books.orders(ONE, None, 1).unwrap();
        let place = OrderPosition {
            at: Timestamp(12),
            order: id(3, 9),
        };
        assert_eq!(first, [place]);
        let next = books.orders(ONE, Some(place.place()), 2).unwrap();
        assert_eq!(serials(&next), [4, 7]);
        assert_eq!(books.orders(ONE, None, 0).unwrap(), []);
    };
    everywhere(subject, &appends, look);
    // What happens to an order later does not move it.
    let later = [
        vec![model.paid(1, 20, 7, None)],
        vec![model.expired(3, 20, 9)],
    ];
    everywhere(subject, &later, look);
}

pub(crate) fn a_list_goes_on_where_it_was_while_new_orders_arrive(subject: &mut dyn Subject) {
    let mut model = WalletModel::default();
    commit(&*subject.store().log, &[model.opened(1, ONE)]);
    let mut last = 0;
    let mut place_some = |subject: &dyn Subject| {
        let store = subject.store();
        for _ in 0..100 {
            last += 1;
            let at = i64::try_from(last).unwrap();
            let placed = model.placed(1, at, last, OrderKind::Checkout);
            store.log.append(append(&[placed]), None).unwrap();
        }
    };
    place_some(subject);
    subject.reopen();
    let mut listed = Vec::new();
    let mut before = None;
    for round in 0..10 {
        let store = subject.store();
        let page = store.books.orders(ONE, before, 10).unwrap();
        before = page.last().map(OrderPosition::place);
        listed.extend(serials(&page));
        match round {
            1 => subject.hold(true),
            2 => place_some(subject),
            3 => subject.hold(false),
            4 => store.books.flush().unwrap(),
            6 => place_some(subject),
            7 => {
                drop(store);
                subject.reopen();
            }
            _ => {}
        }
    }
    assert_eq!(listed, (1..=100).rev().collect::<Vec<_>>());
    let books = subject.store().books;
    assert_eq!(books.orders(ONE, before, 10).unwrap(), []);
    assert_eq!(newest(&*books, ONE).len(), 300);
}

/// Some entries are applied and some are not, wherever a page begins and whichever way it goes.
pub(crate) fn what_is_not_applied_is_laid_over_what_is(subject: &mut dyn Subject) {
    let mut model = WalletModel::default();
    let store = subject.store();
    commit(&*store.log, &[model.opened(1, ONE)]);
    let place = |model: &mut WalletModel, order: u128| {
        let at = i64::try_from(order).unwrap();
        append(&[model.placed(1, at, order, OrderKind::Checkout)])
    };
    for order in (0..60).step_by(2) {
        store.log.append(place(&mut model, order), None).unwrap();
    }
    store.books.flush().unwrap();
    subject.hold_checkpoints(true);
    subject.hold(true);
    // In between, before and after; and some that are applied are taken out of what is due.
    for order in (1..70).step_by(2) {
        store.log.append(place(&mut model, order), None).unwrap();
    }
    for order in (0..60).step_by(3) {
        let paid = model.paid(1, 100, order, None);
        store.log.append(append(&[paid]), None).unwrap();
    }
    let mut placed: Vec<u128> = (0..60).chain((61..70).step_by(2)).collect();
    let pending: Vec<u128> = placed
        .iter()
        .copied()
        .filter(|o| *o >= 60 || o % 3 > 0)
        .collect();
    placed.reverse();
    for _ in ["appended", "applied"] {
        for limit in [1, 7, 1000] {
            let (mut listed, mut before) = (Vec::new(), None);
            let (mut waiting, mut after) = (Vec::new(), None);
            for _ in 0..=70 / limit {
                let page = store.books.orders(ONE, before, limit).unwrap();
                before = page.last().map(OrderPosition::place).or(before);
                listed.extend(serials(&page));
                let page = store
                    .books
                    .due(ONE, after, Timestamp::NEVER, limit)
                    .unwrap();
                after = page.last().map(OrderPosition::place).or(after);
                waiting.extend(serials(&page));
            }
            assert_eq!(listed, placed, "{limit} at a time");
            assert_eq!(waiting, pending, "{limit} at a time");
        }
        subject.hold(false);
        subject.hold_checkpoints(false);
        store.books.flush().unwrap();
    }
}

pub(crate) fn subscriptions_are_found_by_when_their_periods_end(subject: &mut dyn Subject) {
    let mut model = WalletModel::default();
    let appends = vec![
        vec![
            model.opened(1, ONE),
            model.opened(2, TWO),
            model.opened(3, ONE),
        ],
        vec![
            model.subscribed(1, 1, 1, Some(100)),
            model.subscribed(1, 1, 2, Some(300)),
        ],
        vec![
            model.subscribed(2, 2, 3, Some(100)),
            model.subscribed(3, 2, 4, Some(200)),
        ],
        // The next period of the first one; the same again; and the second one is over.
        vec![
            model.subscribed(1, 3, 1, Some(250)),
            model.subscribed(1, 4, 1, Some(250)),
        ],
        vec![model.subscribed(1, 5, 2, None)],
    ];
    let look = |books: &dyn Books| {
        let ends = |project, after, until, limit| {
            let found = books
                .periods(project, after, Timestamp(until), limit)
                .unwrap();
            let found = found.into_iter().map(|end| (end.at.0, end.wallet));
            found.collect::<Vec<_>>()
        };
        let all = [(200, key(3)), (250, key(1))];
        assert_eq!(ends(ONE, None, i64::MAX, 9), all);
        assert_eq!(ends(ONE, None, 249, 9), all[..1]);
        assert_eq!(ends(ONE, None, i64::MAX, 1), all[..1]);
        assert_eq!(ends(TWO, None, i64::MAX, 9), [(100, key(2))]);
        let first = books.periods(ONE, None, Timestamp::NEVER, 1).unwrap();
        let after = first.last().map(PeriodEnd::place);
        assert_eq!(ends(ONE, after, i64::MAX, 9), all[1..]);
    };
    everywhere(subject, &appends, look);
}

pub(crate) fn orders_are_due_until_they_are_paid_failed_or_expired(subject: &mut dyn Subject) {
    let mut model = WalletModel::default();
    let mut appends = vec![vec![model.opened(1, ONE), model.opened(2, TWO)]];
    for order in 1..=5_u8 {
        let (at, order) = (i64::from(order), u128::from(order));
        appends.push(vec![model.placed(1, at, order, OrderKind::Checkout)]);
    }
    appends.push(vec![model.placed(2, 3, 6, OrderKind::Checkout)]);
    // Paid at once: never seen pending.
    appends.push(vec![
        model.placed(1, 6, 7, OrderKind::Renewal),
        model.paid(1, 6, 7, None),
    ]);
    everywhere(subject, &appends, |books| {
        assert_eq!(due(books, ONE, i64::MAX), [1, 2, 3, 4, 5]);
        assert_eq!(due(books, ONE, HOUR + 3), [1, 2, 3], "up to and with");
        assert_eq!(due(books, ONE, HOUR), [0; 0]);
        assert_eq!(due(books, TWO, i64::MAX), [6]);
        let first = books.due(ONE, None, Timestamp(i64::MAX), 2).unwrap();
        assert_eq!(first[0].at, Timestamp(HOUR + 1));
        assert_eq!(first[0].order, id(1, 1));
        let after = Some(first[1].place());
        let next = books.due(ONE, after, Timestamp(HOUR + 4), 9).unwrap();
        assert_eq!(serials(&next), [3, 4], "strictly after");
    });
    let ended = [
        vec![model.paid(1, 10, 2, None)],
        vec![model.failed(1, 10, 3)],
        vec![
            model.expired(1, HOUR + 1, 1),
            model.paid(1, HOUR + 1, 1, None),
        ],
    ];
    everywhere(subject, &ended, |books| {
        assert_eq!(due(books, ONE, i64::MAX), [4, 5]);
        assert_eq!(newest(books, ONE), [7, 5, 4, 3, 2, 1], "still listed");
    });
}

pub(crate) fn an_order_is_found_by_its_checkout(subject: &mut dyn Subject) {
    let mut model = WalletModel::default();
    let appends = [
        vec![model.opened(1, ONE), model.opened(2, TWO)],
        vec![model.placed(1, 10, 7, OrderKind::Checkout)],
        vec![model.placed(2, 10, 8, OrderKind::Checkout)],
        vec![model.placed(1, 10, 9, OrderKind::Renewal)],
    ];
    everywhere(subject, &appends, |books| {
        let find = |project, order| {
            let checkout = checkout(order);
            books
                .order_by_provider_id(project, ProviderId::Checkout(&checkout))
                .unwrap()
        };
        assert_eq!(find(ONE, 7), Some(id(1, 7)));
        assert_eq!(find(TWO, 8), Some(id(2, 8)));
        assert_eq!(find(TWO, 7), None, "another project's");
        assert_eq!(find(ONE, 9), None, "a renewal has none");
        assert_eq!(find(ONE, 10), None);
    });
}

fn find(books: &dyn Books, project: ProjectId, name: ProviderId<'_>) -> Option<OrderId> {
    books.order_by_provider_id(project, name).unwrap()
}

pub(crate) fn an_order_is_found_by_the_providers_names(subject: &mut dyn Subject) {
    let mut model = WalletModel::default();
    let payment = |order: u128| PaymentId::new(format!("pi_{order}")).unwrap();
    let invoice = |order: u128| InvoiceId::new(format!("in_{order}")).unwrap();
    let subscription = |number: u128| SubscriptionId::new(format!("sub_{number}")).unwrap();
    let customer = CustomerId::new("cus_1").unwrap();
    let mut appends = vec![vec![model.opened(1, ONE), model.opened(2, ONE)]];
    for (wallet, order, kind, number) in [
        // Its renewal is reported first.
        (1, 8, OrderKind::Renewal, 5),
        (1, 7, OrderKind::Checkout, 5),
        (1, 9, OrderKind::Switch, 5),
        // It began elsewhere.
        (2, 10, OrderKind::Renewal, 6),
    ] {
        appends.push(vec![
            model.placed(wallet, 10, order, kind),
            model.billed(wallet, 10, order, number),
        ]);
    }
    // Not paid.
    appends.push(vec![model.placed(2, 11, 11, OrderKind::Checkout)]);
    everywhere(subject, &appends, |books| {
        for (wallet, order) in [(1, 7), (1, 8), (1, 9), (2, 10)] {
            let (payment, invoice) = (payment(order), invoice(order));
            for name in [ProviderId::Payment(&payment), ProviderId::Invoice(&invoice)] {
                assert_eq!(find(books, ONE, name), Some(id(wallet, order)));
                assert_eq!(find(books, TWO, name), None, "another project's");
            }
        }
        assert_eq!(find(books, ONE, ProviderId::Payment(&payment(11))), None);
        let begun = find(books, ONE, ProviderId::Subscription(&subscription(5)));
        assert_eq!(begun, Some(id(1, 7)), "the order that began it");
        let elsewhere = find(books, ONE, ProviderId::Subscription(&subscription(6)));
        assert_eq!(elsewhere, Some(id(2, 10)));
        assert_eq!(
            find(books, ONE, ProviderId::Subscription(&subscription(7))),
            None
        );
        let name = ProviderId::Customer(&customer);
        let all = |limit| books.orders_by_provider_id(ONE, name, limit).unwrap();
        let wallets = BTreeSet::from_iter(all(9).iter().map(|order| order.wallet));
        assert_eq!(wallets, BTreeSet::from([key(1), key(2)]));
        assert_eq!(all(1).len(), 1);
    });
}

pub(crate) fn buyers_are_found_by_the_address_they_paid_under(subject: &mut dyn Subject) {
    let mut model = WalletModel::default();
    let mut appends = Vec::new();
    for (wallet, project) in [(1, ONE), (2, ONE), (3, TWO), (4, ONE)] {
        let opened = model.opened(wallet, project);
        let placed = model.placed(wallet, 10, wallet.into(), OrderKind::Checkout);
        appends.push(vec![opened, placed]);
    }
    everywhere(subject, &appends, |books| {
        assert!(buyers(books, ONE, "first@mail.example").is_empty());
    });
    // One paid under the address that the order had, one under another, one not at all.
    let paid = [
        vec![model.paid(1, 11, 1, None)],
        vec![model.paid(2, 11, 2, Some("Other@Mail.example"))],
        vec![model.paid(3, 11, 3, Some("other@mail.example"))],
        vec![
            model.placed(2, 12, 9, OrderKind::Renewal),
            model.paid(2, 12, 9, None),
        ],
    ];
    everywhere(subject, &paid, |books| {
        let both = BTreeSet::from([key(1), key(2)]);
        assert_eq!(buyers(books, ONE, "FIRST@mail.example"), both);
        let other = BTreeSet::from([key(2)]);
        assert_eq!(buyers(books, ONE, "other@mail.example"), other);
        let elsewhere = BTreeSet::from([key(3)]);
        assert_eq!(buyers(books, TWO, "OTHER@MAIL.EXAMPLE"), elsewhere);
        assert!(buyers(books, TWO, "first@mail.example").is_empty());
        let one = books
            .wallets_of(ONE, WalletName::Buyer(&email("first@mail.example")), 1)
            .unwrap();
        assert_eq!(one, [*both.first().unwrap()]);
    });
}

/// Looks at what is applied, and at what is there after a restart.
fn flushed(subject: &mut dyn Subject, look: impl Fn(&dyn Books)) {
    subject.store().books.flush().unwrap();
    look(&*subject.store().books);
    for _ in 0..2 {
        subject.reopen();
        look(&*subject.store().books);
    }
}

pub(crate) fn notes_keep_the_latest_form_until_they_are_forgotten(subject: &mut dyn Subject) {
    let kept = |books: &dyn Books, prefix: &str| -> Vec<(String, String)> {
        let text = |bytes: Box<[u8]>| String::from_utf8(bytes.into()).unwrap();
        let notes = books.notes(prefix.as_bytes()).unwrap().into_iter();
        notes.map(|(key, body)| (text(key), text(body))).collect()
    };
    let pair = |key: &str, body: &str| (key.to_owned(), body.to_owned());
    let mut model = WalletModel::default();
    let log = subject.store().log;
    commit(&*log, &[note("a/2", Some("two")), note("a/1", Some("one"))]);
    commit(&*log, &[note("b/1", Some("")), model.opened(1, ONE)]);
    drop(log);
    flushed(subject, |books| {
        assert_eq!(kept(books, "a/"), [pair("a/1", "one"), pair("a/2", "two")]);
        assert_eq!(kept(books, "b"), [pair("b/1", "")]);
        assert_eq!(kept(books, "").len(), 3);
        assert_eq!(kept(books, "c"), []);
    });
    let log = subject.store().log;
    let again = [
        note("a/1", None),
        note("a/1", Some("again")),
        note("a/3", None),
    ];
    commit(&*log, &again);
    commit(&*log, &[note("b/1", Some("x")), note("b/1", None)]);
    drop(log);
    // What was not applied when the process ended is after opening.
    subject.reopen();
    flushed(subject, |books| {
        assert_eq!(
            kept(books, "a/"),
            [pair("a/1", "again"), pair("a/2", "two")]
        );
        assert_eq!(kept(books, "b"), []);
        assert_eq!(newest(books, ONE), [0; 0]);
    });
    // What is too long is not taken, and the append is as it was before.
    let mut append = Append::default();
    append
        .push(&note(&"k".repeat(255), Some(&"b".repeat(32 * 1024))))
        .unwrap();
    let before = append.bytes().len();
    assert!(append.push(&note(&"k".repeat(256), None)).is_err());
    let long = "b".repeat(32 * 1024 + 1);
    assert!(append.push(&note("k", Some(&long))).is_err());
    assert_eq!((append.bytes().len(), append.events()), (before, 1));
}
