//! Appends a little of everything that is stored, step by step.

use domain::{
    Timestamp,
    history::Reason,
    id::{CodeHash, ProductId, ProjectId, WalletId},
    project_event::{EventData, ProjectEvent},
    wallet::OrderKind,
};
use persistence::{Books, LogEvent, Outcome, ProviderId, SledJournal};

use super::{WalletModel, commit, key, project, shop, version};

/// Wallets that are granted to; the first one most of all.
pub(crate) const WALLETS: u64 = 40;
/// Project events at a step: few, then so many that a page is full after a few steps.
const fn project_events_of(step: i64) -> i64 {
    if step <= 80 { 8 } else { 100 }
}

/// A wallet that buys.
const BUYER: u64 = 1000;
/// The first of those with codes.
const CODES: u64 = 2000;
pub(crate) const PROJECT: ProjectId = ProjectId(7);

#[derive(Default)]
pub(crate) struct Life {
    model: WalletModel,
    pub(crate) steps: u128,
}

/// What was acknowledged by some moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Seen {
    versions: Vec<u64>,
    orders: u128,
    documents: usize,
}

impl Life {
    /// Appends another step; all of it is durable then.
    pub(crate) fn step(&mut self, journal: &SledJournal) {
        self.steps += 1;
        let (step, model) = (self.steps, &mut self.model);
        let number = u64::try_from(step).unwrap();
        let at = i64::try_from(step).unwrap();
        let mut events = Vec::new();
        if step == 1 {
            events.push(model.opened(BUYER, PROJECT));
        }
        for wallet in [number % WALLETS, number * 7 % WALLETS] {
            events.push(model.next(wallet));
        }
        for hot in hot() {
            events.extend((0..30).map(|_| model.next(hot)));
        }
        events.push(model.placed(BUYER, at, step, OrderKind::Checkout));
        match step % 3 {
            0 => events.push(model.paid(BUYER, at, step, Some("buyer@mail.example"))),
            1 => events.push(model.expired(BUYER, at, step)),
            _ => {}
        }
        let hash = |of: u64| CodeHash(key(of + 77).0);
        let code = CODES + number % 5;
        match number <= 5 {
            true => events.push(model.created_with_code(code, hash(number))),
            false => events.push(model.rotated(code, hash(number))),
        }
        events.push(shop::note("last", Some(&step.to_string())));
        let some = format!("some-{}", number % 9);
        events.push(shop::note(&some, (step % 2 == 0).then_some("here")));
        events.push(LogEvent::Catalog(project(
            step % 4,
            &format!("name {step}"),
        )));
        for delta in 0..project_events_of(at) {
            events.push(credited(at, delta));
        }
        assert_eq!(commit(journal, &events).1, Outcome::Durable);
    }

    /// What must be there from now on.
    pub(crate) fn seen(&self) -> Seen {
        let version = |wallet| self.model.version(wallet);
        Seen {
            versions: (0..WALLETS).map(version).collect(),
            orders: self.steps,
            documents: usize::try_from(self.steps.min(4)).unwrap(),
        }
    }
}

/// Wallets in which most happens: of all, those that are stored first and last.
pub(crate) fn hot() -> [u64; 2] {
    let last = (0..WALLETS).max_by_key(|wallet| key(*wallet));
    [0, last.unwrap()]
}

/// Reads it all back: at least what was seen before, at most what was seen after, and each thing found in every way.
pub(crate) fn check(journal: &dyn Books, before: &Seen, after: &Seen) {
    for (wallet, least) in (0..).zip(&before.versions) {
        let now = version(journal, wallet);
        let most = after.versions[usize::try_from(wallet).unwrap()];
        assert!((*least..=most).contains(&now), "{wallet}: {now}");
    }
    let places = journal.orders(PROJECT, None, usize::MAX).unwrap();
    let orders: Vec<_> = places.iter().map(|place| place.order.serial.0).collect();
    let last = orders.first().copied().unwrap_or(0);
    assert!((before.orders..=after.orders).contains(&last), "{last}");
    assert_eq!(orders, (1..=last).rev().collect::<Vec<_>>());
    let due = journal.due(PROJECT, None, Timestamp::NEVER, usize::MAX);
    let due: Vec<_> = due.unwrap().iter().map(|it| it.order.serial.0).collect();
    assert_eq!(due, (2..=last).step_by(3).collect::<Vec<_>>());
    for order in 1..=last {
        let checkout = shop::checkout(order);
        let found = journal
            .order_by_provider_id(PROJECT, ProviderId::Checkout(&checkout))
            .unwrap();
        assert_eq!(found, Some(shop::id(BUYER, order)));
    }
    let note = journal.notes(b"last").unwrap();
    let note = note.first().map(|(_, body)| body.to_vec());
    assert_eq!(note, (last > 0).then(|| last.to_string().into_bytes()));
    let project_events = journal.project_events(PROJECT, 0, usize::MAX).unwrap();
    let shown: Vec<_> = project_events
        .iter()
        .map(|(_, project_event)| project_event.at.0)
        .collect();
    let each = (1..=i64::try_from(last).unwrap())
        .flat_map(|step| (0..project_events_of(step)).map(move |_| step));
    assert_eq!(shown, each.collect::<Vec<_>>(), "each project event once");
    assert!(journal.documents().unwrap().len() >= before.documents);
}

fn credited(at: i64, delta: i64) -> LogEvent {
    LogEvent::ProjectEvent(ProjectEvent {
        project: PROJECT,
        at: Timestamp(at),
        recorded: Timestamp(at),
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
