//! Random but repeatable histories, and what they must come to, kept in memory.

mod shop;
mod totals;

use std::{
    collections::BTreeMap,
    ops::{Bound, RangeBounds},
    sync::atomic::Ordering,
};

use domain::{
    Amount, Timestamp,
    catalog::{Document, Mode, Project},
    history::{Reason, Record, RecordContent},
    id::{CodeHash, HoldId, ProductId, ProjectId, WalletId, WalletKey},
    project_event::{EventCollector, ProjectEvent},
    text::{ExternalUserId, Feature, IdempotencyKey, Meta},
    time::Period,
    wallet::{Applied, Change, Charged, Created, Event, Owner, Wallet},
};

use self::shop::Shop;
use super::overlaid::OverlaidBooks;
use crate::{
    books::{
        AppliedState,
        events::Events,
        verify::{listed::PendingEntries, report::VerifyReport},
    },
    contract::{Books, WalletName, WalletOrder, WalletPlace},
    format::append::{Append, LogEvent},
    frames::frame,
    lookups::{
        ListChange,
        list_change::{day, rank},
    },
    tuning::Tuning,
    usage::{Interval, Usage},
};

/// Sizes at which a few hundred events reach every tier.
pub(super) fn small() -> Tuning {
    Tuning {
        tail_bytes: 300,
        page_bytes: 700,
        inline_keys: 6,
        inline_spills: 4,
        keys_per_page: 16,
        keys_per_value: 17,
        fan_in: 3,
        keys_at_once: 60,
        pages_at_once: 2,
        snapshot_bytes: 700,
        part_bytes: 300,
        packed_bytes: 300,
        pending_bytes: 4000,
        changes_at_once: 12,
        filter_bytes: 1 << 20,
    }
}

/// [`small`], and a snapshot of a few lots is already stored in parts.
pub(super) fn in_parts() -> Tuning {
    Tuning {
        snapshot_bytes: 100,
        part_bytes: 50,
        ..small()
    }
}

pub(super) fn database() -> sled::Db {
    sled::Config::new()
        .temporary(true)
        .flush_every_ms(None)
        .open()
        .unwrap()
}

pub(super) struct Rng(pub(super) u64);

impl Rng {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }
}

pub(super) fn wallet_key(number: u64) -> WalletKey {
    let mut rng = Rng(number ^ 0xABCD);
    WalletKey((u128::from(rng.next()) << 64 | u128::from(rng.next())).to_be_bytes())
}

pub(super) type Wallets = BTreeMap<WalletKey, (Wallet, Vec<Record>)>;

/// Wallets, their records and the log that made them.
pub(super) struct World {
    pub(super) rng: Rng,
    pub(super) wallets: Wallets,
    pub(super) documents: BTreeMap<(u8, u128), Document>,
    pub(super) log: Vec<LogEvent>,
    serial: u64,
    /// With orders and notes.
    shop: Option<Shop>,
}

#[derive(Clone, Copy)]
pub(super) struct Part<'a> {
    before: u64,
    events: &'a [LogEvent],
}

impl<'a> Part<'a> {
    pub(super) const fn of(before: u64, events: &'a [LogEvent]) -> Self {
        Self { before, events }
    }

    /// As if each event had been an append, and a frame, of its own.
    pub(super) fn events(self) -> Events {
        let mut all = Events::default();
        for (lsn, event) in (self.before..).zip(self.events) {
            let mut payload = Vec::new();
            frame::push(&mut payload, &Append::one(event).unwrap());
            let mut bytes = Vec::new();
            let before = frame::FramePosition {
                lsn,
                ..frame::FramePosition::default()
            };
            frame::encode(&mut bytes, &before, &payload, 1).unwrap();
            all.push(bytes.into()).unwrap();
        }
        all
    }

    pub(super) fn chunks(self, most: usize) -> impl Iterator<Item = Self> {
        self.events
            .chunks(most)
            .scan(self.before, |before, events| {
                let part = Self {
                    before: *before,
                    events,
                };
                *before += events.len() as u64;
                Some(part)
            })
    }
}

impl World {
    /// Events of the log from some to others.
    pub(super) fn part(&self, range: impl RangeBounds<usize>) -> Part<'_> {
        let (start, end) = (range.start_bound().cloned(), range.end_bound().cloned());
        let events = &self.log[(start, end)];
        let before = match start {
            Bound::Included(start) => start,
            Bound::Excluded(start) => start + 1,
            Bound::Unbounded => 0,
        };
        Part {
            before: before as u64,
            events,
        }
    }

    pub(super) fn new(seed: u64) -> Self {
        Self {
            rng: Rng(seed),
            wallets: BTreeMap::new(),
            documents: BTreeMap::new(),
            log: Vec::new(),
            serial: 0,
            shop: None,
        }
    }

    /// Like a random one, of wallets that buy and two projects.
    pub(super) fn shop(seed: u64, wallets: u64, events: usize) -> Self {
        let mut world = Self::new(seed);
        world.shop = Some(Shop::default());
        world.fill(wallets, events);
        world
    }

    /// Like [`Self::shop`], with instructions to the provider, a key at a time.
    pub(super) fn desk(seed: u64, wallets: u64, events: usize) -> Self {
        let mut world = Self::new(seed);
        world.shop = Some(Shop::of_a_desk());
        world.fill(wallets, events);
        world
    }

    /// Like [`Self::shop`], over years.
    pub(super) fn years(seed: u64, wallets: u64, events: usize) -> Self {
        let mut world = Self::new(seed);
        world.shop = Some(Shop::of_years());
        world.fill(wallets, events);
        world
    }

    pub(super) fn random(seed: u64, wallets: u64, events: usize) -> Self {
        let mut world = Self::new(seed);
        world.fill(wallets, events);
        world
    }

    fn fill(&mut self, wallets: u64, events: usize) {
        while self.log.len() < events {
            if self.rng.below(40) == 0 {
                self.document();
                continue;
            }
            // Few wallets get most of the events.
            let number = self.rng.below(wallets).min(self.rng.below(wallets));
            let key = wallet_key(number);
            if self.shop.is_none() || self.rng.below(3) > 0 {
                self.step(key);
            } else if self.wallets.contains_key(&key) {
                self.buy(key);
            } else {
                self.note();
            }
        }
    }

    fn document(&mut self) {
        let id = ProjectId(u128::from(self.rng.below(3)));
        let name = format!("name {}", self.log.len());
        let project = Project::new(id, name, Mode::CreditCodes, Timestamp(0));
        let document = Document::Project(project);
        self.documents.insert(document.address(), document.clone());
        self.log.push(LogEvent::Catalog(document));
    }

    fn text(&mut self) -> String {
        self.serial += 1;
        format!("key-{}", self.serial)
    }

    /// A random event of a wallet, its creation if it is not there.
    pub(super) fn step(&mut self, key: WalletKey) {
        let Some((wallet, _)) = self.wallets.get(&key) else {
            return self.create(key);
        };
        let product = ProductId(u128::from(self.rng.next() % 2));
        let holds: Vec<HoldId> = wallet.holds().keys().copied().collect();
        let available = wallet.available(product);
        let code = matches!(wallet.owner, Owner::Code { .. });
        let hold = holds
            .get(self.rng.below(holds.len().max(1) as u64) as usize)
            .copied();
        // Its own product's credits, once nothing is left of what was set aside.
        let held = hold.and_then(|id| wallet.hold(&id));
        let drawable = held.is_some_and(|held| wallet.available(held.product) > 0);
        let name = self.text();
        let id = IdempotencyKey::new(name.as_str()).unwrap();
        let meta = (self.rng.below(4) == 0).then(|| Meta::new("{\"a\":1}").unwrap());
        let amount = Amount::new(1 + self.rng.below(9) as i64).unwrap();
        let number = self.rng.below(4);
        let change = match (self.rng.below(20), hold) {
            (0, _) if code => self.rotation(key),
            (1, _) => Change::FeatureGranted {
                feature: Feature::new(name).unwrap(),
            },
            (2, _) => Change::FreeGranted {
                product,
                credits: amount,
                period: Period::Daily,
                start: Timestamp(0),
                end: Timestamp(1 << 50),
            },
            (3 | 4, Some(hold)) => Change::HoldSettled {
                hold,
                amount: i64::from(number > 0).min(amount.get()),
                owed: 0,
                uncovered: 0,
                meta: None,
                rate: None,
                counted: None,
            },
            (5, Some(hold)) => Change::HoldReleased { hold },
            (6, Some(hold)) => Change::HoldExtended {
                hold,
                expires_at: Timestamp(1 << 51),
            },
            (7, Some(hold)) => Change::HoldExpired { hold },
            (19, Some(hold)) if drawable => Change::HoldDrawn {
                hold,
                amount: Amount::new(1).unwrap().get(),
                key: id,
                meta: None,
                rate: None,
                counted: None,
            },
            (18, _) => Change::Charged(Box::new(Charged {
                product,
                amount: amount.get() + available,
                charged: available,
                owed: if code { 0 } else { amount.get() },
                key: id,
                meta,
                lot: None,
                rate: None,
                counted: None,
                drawn_cost: domain::rate_card::Cost::default(),
            })),
            (8..=10, _) if available >= amount.get() => Change::HoldPlaced {
                hold: HoldId {
                    serial: u128::from(self.serial),
                    wallet: key,
                },
                product,
                amount: amount.get(),
                expires_at: Timestamp(1 << 50),
                key: id,
                meta,
                publishable: number % 2 == 1,
                rotations: 0,
                max_overrun: if code { 0 } else { number.cast_signed() },
                rate: None,
                counted: None,
            },
            _ if available >= amount.get() => Change::Deducted {
                product,
                amount: amount.get(),
                key: id,
                meta,
                rate: None,
                counted: None,
            },
            _ => {
                let amount = Amount::new(amount.get() * 5).unwrap();
                let expires_at = (number == 0).then(|| Timestamp((1 << 52) + self.serial as i64));
                Change::Granted {
                    product,
                    amount,
                    expires_at,
                    key: id,
                    meta,
                }
            }
        };
        self.push(key, change);
    }

    fn rotation(&mut self, key: WalletKey) -> Change {
        let former = match &self.wallets[&key].0.owner {
            Owner::Code { hash, .. } => Some(*hash),
            Owner::External(_) | Owner::Order => None,
        };
        // Sometimes back to the code it was created with.
        let hash = if self.rng.below(4) == 0 {
            CodeHash(key.0)
        } else {
            self.code()
        };
        Change::CodeRotated {
            hash,
            sealed: Box::new([1, 2, 3]),
            former,
        }
    }

    fn code(&mut self) -> CodeHash {
        CodeHash(u128::from(self.rng.next()).to_be_bytes())
    }

    fn create(&mut self, key: WalletKey) {
        let owner = match self.rng.below(3) {
            0 => Owner::External(ExternalUserId::new("someone").unwrap()),
            1 => Owner::Code {
                hash: CodeHash(key.0),
                sealed: Box::new([9]),
            },
            _ => Owner::Code {
                hash: self.code(),
                sealed: Box::new([9]),
            },
        };
        let created = Created {
            id: WalletId(u128::from_be_bytes(key.0)),
            project: match &self.shop {
                Some(_) => shop::project(key),
                None => ProjectId(1),
            },
            owner,
        };
        self.push(key, Change::Created(Box::new(created)));
    }

    pub(super) fn push(&mut self, key: WalletKey, change: Change) {
        let at = self.log.len() as i64;
        let at = self.shop.as_ref().map_or(at, |shop| shop.instant(at));
        self.push_at(key, Timestamp(at), change);
    }

    pub(super) fn push_at(&mut self, key: WalletKey, at: Timestamp, change: Change) {
        let event = Event { at, change };
        let mut watch = EventCollector::default();
        let applied = apply(&mut self.wallets, key, &event);
        let wallet = &self.wallets[&key].0;
        let (version, moved) = (wallet.version, ListChange::of(wallet, &applied));
        let record = applied.record.clone();
        watch.add(applied, wallet, &[]);
        let data = watch.end(wallet, event.at);
        let project_events = data
            .into_iter()
            .map(|data| data.of(wallet, event.at, event.at));
        let project_events: Vec<_> = project_events.map(LogEvent::ProjectEvent).collect();
        self.log.push(LogEvent::Wallet {
            key,
            version,
            event,
            record,
            moved,
        });
        if self.shop.is_some() {
            self.log.extend(project_events);
        }
    }

    /// This world as it was after the first events of its log.
    pub(super) fn before(&self, events: usize) -> Self {
        let mut world = Self::new(0);
        world.serial = self.serial;
        world.shop = self.shop.is_some().then(Shop::default);
        for log_event in &self.log[..events] {
            match log_event {
                LogEvent::Wallet { key, event, .. } => {
                    apply(&mut world.wallets, *key, event);
                }
                LogEvent::Catalog(document) => {
                    world.documents.insert(document.address(), document.clone());
                }
                LogEvent::Note(note) => world.keep(note),
                _ => {}
            }
        }
        world.log = self.log[..events].to_vec();
        world
    }

    /// A grant and so many deductions of one wallet, with keys of their own.
    pub(super) fn deductions(&mut self, key: WalletKey, count: usize) {
        if !self.wallets.contains_key(&key) {
            self.create(key);
        }
        let product = ProductId(1);
        let text = self.text();
        self.grant(key, &text);
        for _ in 0..count {
            let id = IdempotencyKey::new(self.text()).unwrap();
            let amount = Amount::new(1).unwrap();
            self.push(
                key,
                Change::Deducted {
                    product,
                    amount: amount.get(),
                    key: id,
                    meta: None,
                    rate: None,
                    counted: None,
                },
            );
        }
    }

    /// Sets one credit aside.
    pub(super) fn hold(&mut self, key: WalletKey) {
        let text = self.text();
        let hold = Change::HoldPlaced {
            hold: HoldId {
                serial: u128::from(self.serial),
                wallet: key,
            },
            product: ProductId(1),
            amount: Amount::new(1).unwrap().get(),
            expires_at: Timestamp(1 << 50),
            key: IdempotencyKey::new(text).unwrap(),
            meta: None,
            publishable: false,
            rotations: 0,
            max_overrun: 0,
            rate: None,
            counted: None,
        };
        self.push(key, hold);
    }

    pub(super) fn grant(&mut self, key: WalletKey, text: &str) {
        let grant = Change::Granted {
            product: ProductId(1),
            amount: Amount::new(1 << 32).unwrap(),
            expires_at: None,
            key: IdempotencyKey::new(text).unwrap(),
            meta: None,
        };
        self.push(key, grant);
    }

    fn check_project_events(&self, books: &dyn Books) {
        let mut by_project: BTreeMap<ProjectId, Vec<&ProjectEvent>> = BTreeMap::new();
        for log_event in &self.log {
            if let LogEvent::ProjectEvent(project_event) = log_event {
                by_project
                    .entry(project_event.project)
                    .or_default()
                    .push(project_event);
            }
        }
        for (project, expected) in by_project {
            let mut stored = Vec::new();
            let mut last = 0;
            loop {
                let some = books.project_events(project, last, 7).unwrap();
                let Some((number, _)) = some.last() else {
                    break;
                };
                last = *number;
                stored.extend(some.into_iter().map(|(_, project_event)| project_event));
            }
            assert_eq!(stored.iter().collect::<Vec<_>>(), expected, "{project}");
        }
    }

    pub(super) fn check_usage(&self, books: &dyn Books) {
        let mut used: BTreeMap<(ProductId, Interval, Timestamp), Usage> = BTreeMap::new();
        let wallets = self.wallets.iter();
        let records =
            wallets.flat_map(|(key, (_, records))| records.iter().map(move |it| (key, it)));
        for (key, record) in records {
            let Some(entry) = record.entry() else {
                continue;
            };
            for interval in Interval::ALL {
                let start = interval.span(record.at).unwrap().start;
                let usage = used.entry((entry.product, interval, start)).or_default();
                usage.add(entry);
                if matches!(entry.reason, Reason::Deduction | Reason::Purchase) {
                    usage.wallets.add(key);
                }
            }
        }
        // Orders count as they stand in their wallets or, once they have left them, in their last record.
        for (wallet, records) in self.wallets.values() {
            let mut orders = BTreeMap::new();
            for record in records {
                if let RecordContent::Order(archived) = &record.fact {
                    orders.insert(archived.serial, &archived.order);
                }
            }
            orders.extend(wallet.orders());
            for order in orders.into_values() {
                for interval in Interval::ALL {
                    let start = interval.span(order.created_at).unwrap().start;
                    let key = (order.terms.product, interval, start);
                    let sales = &mut used.entry(key).or_default().sales;
                    sales.add_order(&totals::summary(order));
                }
            }
        }
        let all = (Timestamp(i64::MIN), Timestamp(i64::MAX));
        for ((product, interval, start), expected) in used {
            let stored = books.usage(product, interval, all).unwrap();
            let found = stored.iter().find(|(at, _)| *at == start);
            assert_eq!(
                found.map(|(_, usage)| usage),
                Some(&expected),
                "{interval:?}"
            );
        }
    }

    /// Checks that every query of the applied state answers as this world would.
    pub(super) fn check(&self, overlaid: &OverlaidBooks) {
        let books: &dyn Books = overlaid;
        for (key, (wallet, records)) in &self.wallets {
            let stored = books.load(key).unwrap().unwrap();
            assert_eq!(stored.wallet, *wallet);
            check_history(&*stored.history, key, wallet.version, records);
            let place = WalletPlace {
                number: day(wallet.used_at),
                wallet: *key,
            };
            let lists = books.wallets(wallet.project, WalletOrder::LastUsed, None, usize::MAX);
            assert_eq!(
                lists.unwrap().contains(&place),
                wallet.owner != Owner::Order
            );
            for account in wallet.accounts() {
                let place = WalletPlace {
                    number: rank(account.available()).into(),
                    wallet: *key,
                };
                let order = WalletOrder::Balance(account.product);
                let listed = books.wallets(wallet.project, order, None, usize::MAX);
                let listed = listed.unwrap();
                let own = listed.iter().filter(|other| other.wallet == *key);
                assert!(own.eq([&place]), "{place:?} is not its only place");
            }
            if let Owner::External(user) = &wallet.owner {
                let shouted = user.as_str().to_uppercase();
                for prefix in ["", &shouted[..1], &shouted] {
                    let found = books
                        .wallets_of(wallet.project, WalletName::User(prefix), usize::MAX)
                        .unwrap();
                    assert!(found.contains(key), "{prefix}");
                }
            }
            if let Owner::Code { hash, .. } = &wallet.owner {
                let expected = (hash.0 != key.0).then_some(*key);
                assert_eq!(books.code(hash).unwrap(), expected);
            }
        }
        let former = self.log.iter().filter_map(|log_event| match log_event {
            LogEvent::Wallet { event, .. } => match &event.change {
                Change::CodeRotated { former, .. } => former.as_ref(),
                _ => None,
            },
            _ => None,
        });
        for code in former {
            let expected = self.wallets.iter().find(|(key, (wallet, _))| {
                code.0 != key.0 && matches!(&wallet.owner, Owner::Code { hash, .. } if hash == code)
            });
            let expected = expected.map(|(key, _)| *key);
            assert_eq!(
                books.code(code).unwrap(),
                expected,
                "a code that was replaced"
            );
            assert!(books.former_code(code).unwrap().is_some());
        }
        assert!(books.load(&WalletKey([0; 16])).unwrap().is_none());
        self.check_shop(books);
        self.check_notes(books);
        self.check_project_events(books);
        self.check_usage(books);
        let documents: Vec<Document> = self.documents.values().cloned().collect();
        assert_eq!(books.documents().unwrap(), documents);
        let report = verified(overlaid, &PendingEntries::new());
        assert_eq!(report.problems, [""; 0]);
        assert_eq!(report.wallets, self.wallets.len() as u64);
        let records = self
            .wallets
            .values()
            .map(|(_, records)| records.len() as u64);
        assert_eq!(report.records, records.sum::<u64>());
        let orders = self.wallets.values().map(|(wallet, _)| wallet.orders());
        assert_eq!(report.orders, orders.flatten().count() as u64);
    }
}

fn apply(wallets: &mut Wallets, key: WalletKey, event: &Event) -> Applied {
    let (mut state, records) = wallets.remove(&key).unzip();
    let (_, applied) = Wallet::replay(&mut state, key, event.clone()).unwrap();
    let mut records = records.unwrap_or_default();
    records.extend(applied.record.clone());
    wallets.insert(key, (state.unwrap(), records));
    applied
}

pub(super) fn verified(applied: &AppliedState, pending: &PendingEntries) -> VerifyReport {
    let mut report = VerifyReport::default();
    crate::books::verify::stored::verify(applied.store(), pending, &mut report).unwrap();
    report
}

/// The history of a wallet of this version with these records.
pub(super) fn check_history(
    history: &dyn crate::History,
    key: &WalletKey,
    version: u64,
    records: &[Record],
) {
    assert_eq!(history.applied(), version);
    // Of several under one key the last one counts.
    let keyed = records.iter().filter_map(|record| {
        let lookup = record.lookup()?;
        Some((lookup.hash(key), (lookup, record)))
    });
    for (hash, (lookup, record)) in keyed.collect::<BTreeMap<_, _>>() {
        let found = history.find(hash, &|found| found.lookup() == Some(lookup));
        assert_eq!(found.unwrap().as_ref(), Some(record));
        let other = history.find(hash, &|_| false).unwrap();
        assert_eq!(other, None, "a hash alone is no match");
    }
    let mut rng = Rng(records.len() as u64);
    for _ in 0..50 {
        assert_eq!(history.find(rng.next(), &|_| true).unwrap(), None);
    }
    let mut back = history.before(u64::MAX, usize::MAX).unwrap();
    back.reverse();
    assert_eq!(back, records);
    for _ in 0..3 {
        let seq = rng.below(version + 2);
        let page = history.before(seq, 3).unwrap();
        let older = records.iter().rev().filter(|record| record.seq < seq);
        assert!(page.iter().eq(older.take(3)));
    }
}

pub(super) fn fail_after_writes(applied: &AppliedState, writes: i64) {
    applied
        .store()
        .writes
        .fail_after
        .0
        .store(writes, Ordering::Relaxed);
}
